/* Slurm's lists of names: read, folded again, and read again they are the same. */
#include "fuzz.h"
#include "fab/host_list.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 20000 /* looked at: a short list may name millions */

typedef struct names {
    char *name[MOST_NAMES];
    uint32_t n;
} names;

static fab_status visit(void *context, const char *name, size_t n, fab_error *err) {
    names *all = context;
    fuzz_check(n > 0 && n < 256 && strlen(name) >= n, "a name of %zu bytes", n);
    fuzz_check(memchr(name, '\0', n) == NULL, "a name with a zero byte");
    if (all->n == MOST_NAMES) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "enough");
    }
    char *copy = malloc(n + 1);
    fuzz_check(copy != NULL, "no memory");
    memcpy(copy, name, n);
    copy[n] = '\0';
    all->name[all->n++] = copy;
    return FAB_OK;
}

static void forget(names *all) {
    for (uint32_t i = 0; i < all->n; i++) {
        free(all->name[i]);
    }
    all->n = 0;
}

static bool is_folded_name(const char *name) { /* what would be read as a list is not written by anybody */
    return strpbrk(name, "[],") == NULL;
}

static void fold(const names *all) {
    static names again;
    fab_str text = FAB_STR_INIT;
    fab_error err = {0};
    for (uint32_t i = 0; i < all->n; i++) {
        if (!is_folded_name(all->name[i])) {
            return;
        }
    }
    fab_host_list_fold(&text, (const char *const *)all->name, all->n);
    fuzz_check(!text.failed, "no memory");
    fuzz_check(fab_host_list_each(text.data, text.length, "list:1", visit, &again, &err) == FAB_OK, "'%.200s': %s",
               text.data, err.text);
    fuzz_check(again.n == all->n, "'%.200s': %u names, then %u", text.data, all->n, again.n);
    for (uint32_t i = 0; i < all->n; i++) {
        fuzz_check(strcmp(all->name[i], again.name[i]) == 0, "'%s', then '%s'", all->name[i], again.name[i]);
    }
    forget(&again);
    fab_str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static names all;
    fab_error err = {0};
    char *text = fuzz_text(data, size);
    if (fuzz_accepts(fab_host_list_each(text, strlen(text), "list:1", visit, &all, &err), &err)) {
        fuzz_check(all.n > 0, "a list of no names is accepted");
        fold(&all);
    }
    forget(&all);
    free(text);
    return 0;
}
