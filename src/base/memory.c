#include "fab/base.h"

fab_status fab_allocate(size_t n, size_t size, void *out, fab_error *err) {
    FAB_REFUSE_IF(size != 0 && n > SIZE_MAX / size, err, FAB_ENOMEM, NULL,
                  "%zu elements of %zu bytes exceed the address space", n, size);
    void *block = calloc(n != 0 ? n : 1, size != 0 ? size : 1);
    FAB_REFUSE_IF(block == NULL, err, FAB_ENOMEM, NULL, "cannot allocate %zu bytes", n * size);
    memcpy(out, &block, sizeof block);
    return FAB_OK;
}

fab_status fab_allocate_each(size_t n, const fab_new_array *arrays, size_t n_arrays, fab_error *err) {
    for (size_t i = 0; i < n_arrays; i++) {
        FAB_PASS(fab_allocate(n, arrays[i].size, arrays[i].out, err));
    }
    return FAB_OK;
}

fab_status fab_grow(void *array, size_t *capacity, size_t need, size_t size, fab_error *err) {
    if (need <= *capacity) {
        return FAB_OK;
    }
    size_t wanted = *capacity < 16 ? 16 : *capacity;
    while (wanted < need) {
        FAB_REFUSE_IF(wanted > SIZE_MAX / 2, err, FAB_ENOMEM, NULL, "%zu elements exceed the address space", need);
        wanted *= 2;
    }
    FAB_REFUSE_IF(wanted > SIZE_MAX / size, err, FAB_ENOMEM, NULL, "%zu elements of %zu bytes exceed the address space",
                  wanted, size);
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    block = realloc(block, wanted * size);
    if (block == NULL) {
        return fab_fail(err, FAB_ENOMEM, NULL, "cannot allocate %zu bytes", wanted * size);
    }
    memcpy(array, &block, sizeof block);
    *capacity = wanted;
    return FAB_OK;
}

void fab_free_each(void *const *blocks, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(blocks[i]);
    }
}

void fab_shrink(void *array, size_t n, size_t size) {
    void *block = NULL;
    memcpy(&block, array, sizeof block);
    void *smaller = n > 0 ? realloc(block, n * size) : NULL;
    if (smaller != NULL) {
        memcpy(array, &smaller, sizeof smaller);
    }
}

double fab_grown(double n) {
    return n > 16 ? exp2(ceil(log2(n))) : 16;
}

char *fab_strdup(const char *text, fab_error *err) {
    char *copy = NULL;
    size_t n = strlen(text) + 1;
    if (FAB_NEW(copy, n, err) == FAB_OK && copy != NULL) {
        memcpy(copy, text, n);
    }
    return copy;
}
