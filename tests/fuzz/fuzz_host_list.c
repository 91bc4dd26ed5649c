/* Slurm's lists of names. */
#include "fuzz.h"
#include "host_list.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 20000 /* looked at: a short list may name millions */

static fab_status visit(void *context, const char *name, size_t n, fab_error *err) {
    uint32_t *n_names = context;
    fuzz_check(n > 0 && n < 256 && strlen(name) >= n, "a name of %zu bytes", n);
    fuzz_check(memchr(name, '\0', n) == NULL, "a name with a zero byte");
    return ++*n_names < MOST_NAMES ? FAB_OK : fab_fail(err, FAB_EUNSUPPORTED, NULL, "enough");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t n_names = 0;
    fab_error err = {0};
    char *text = fuzz_text(data, size);
    if (fuzz_accepts(fab_host_list_each(text, strlen(text), "list:1", visit, &n_names, &err), &err)) {
        fuzz_check(n_names > 0, "a list of no names is accepted");
    }
    free(text);
    return 0;
}
