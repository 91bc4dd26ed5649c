#include "sweep_internal.h"

#include "fab/design.h"

#include <string.h>

static const char OF_TRAFFIC[] = "traffic.";

bool fab_sweep_is_of_traffic(const char *path) {
    return strncmp(path, OF_TRAFFIC, sizeof OF_TRAFFIC - 1) == 0;
}

/* Whether `word`, n characters of "key=value", is replaced by some path. */
static bool is_varied(const fab_sweep_request *r, const char *word, size_t n) {
    for (size_t k = 0; k < r->n_paths; k++) {
        const char *key = r->path[k] + sizeof OF_TRAFFIC - 1;
        if (fab_sweep_is_of_traffic(r->path[k]) && strcspn(word, "=,") == strlen(key) && strlen(key) < n &&
            strncmp(word, key, strlen(key)) == 0) {
            return true;
        }
    }
    return false;
}

fab_status fab_sweep_traffic(const fab_sweep_request *r, const fab_design *design, const char *const *value,
                             fab_str *out, fab_error *err) {
    bool is_pattern = strncmp(r->traffic, "pattern:", 8) == 0;
    for (const char *word = r->traffic; *word != '\0';) {
        size_t n = strcspn(word, ",");
        if (value == NULL || !is_pattern || !is_varied(r, word, n)) {
            fab_str_printf(out, "%s%.*s", word > r->traffic ? "," : "", (int)n, word);
        }
        word += n + (word[n] == ',');
    }
    for (size_t k = 0; value != NULL && k < r->n_paths; k++) {
        if (fab_sweep_is_of_traffic(r->path[k])) {
            fab_str_printf(out, ",%s=%s", r->path[k] + sizeof OF_TRAFFIC - 1, value[k]);
        }
    }
    if (r->places_pattern && design->n_jobs > 0) { /* a pattern whose placement is varied takes it from the job */
        fab_str_printf(out, ",placement=%s", fab_placements[design->jobs[0].placement]);
    }
    return fab_str_status(out, err);
}
