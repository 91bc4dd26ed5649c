#define _DEFAULT_SOURCE /* for madvise */ // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#include "solver_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

fab_status solver_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err) {
    if (need <= *capacity) {
        return FAB_OK;
    }
    void *block = NULL;
    size_t wanted = need + need / 4 + 16;
    if (wanted < need || wanted > (SIZE_MAX - HUGE_PAGE) / size) {
        return fab_fail(err, FAB_ENOMEM, NULL, "%zu elements of %zu bytes exceed the address space", need, size);
    }
    memcpy(&block, array, sizeof block);
    free(block);
    block = NULL;
    *capacity = 0;
    memcpy(array, &block, sizeof block);
    if (wanted * size < HUGE_PAGE) {
        block = malloc(wanted * size);
    } else if (posix_memalign(&block, HUGE_PAGE, wanted * size) != 0) {
        block = NULL;
    }
    if (block == NULL) {
        return fab_fail(err, FAB_ENOMEM, NULL, "cannot allocate %zu bytes", wanted * size);
    }
#ifdef MADV_HUGEPAGE
    if (wanted * size >= HUGE_PAGE) {
        (void)madvise(block, wanted * size, MADV_HUGEPAGE); /* a hint: without it everything works, more slowly */
    }
#endif
    memcpy(array, &block, sizeof block);
    *capacity = wanted;
    return FAB_OK;
}
