#include "network_internal.h"

#include "fab/choices.h"

#include <fnmatch.h>

#define EXCLUDE "exclude"
#define CABLES  "cables"
#define PATTERN 256

/* The first is of every format, the others are of lists of cables. */
static const char *const KEYS[] = {EXCLUDE, "a-node", "a-port", "z-node", "z-port", "rate", "length"};

#define N_KEYS (FAB_N_OF(KEYS))

bool fab_network_format_is(const fab_network_format *f, const char *format) {
    size_t n = strcspn(format, ",");
    return strlen(f->name) == n && strncmp(f->name, format, n) == 0;
}

/* The next "key=value" behind `at`, which is at a comma or the end; NULL: there is none. */
static const char *option_of(const char *at, size_t *out_key, size_t *out_n) {
    if (*at != ',') {
        return NULL;
    }
    *out_key = strcspn(at + 1, "=,");
    const char *value = at + 1 + *out_key;
    value += *value == '=' ? 1 : 0;
    *out_n = strcspn(value, ",");
    return value;
}

const char *fab_network_format_value(const char *format, const char *key, size_t again, size_t *out_n) {
    size_t n_key = 0;
    const char *at = format + strcspn(format, ",");
    for (const char *value; (value = option_of(at, &n_key, out_n)) != NULL; at = value + *out_n) {
        if (n_key == strlen(key) && strncmp(at + 1, key, n_key) == 0 && again-- == 0) {
            return value;
        }
    }
    return NULL;
}

fab_status fab_network_format_check(const char *format, size_t *out_n, fab_error *err) {
    size_t n_key = 0;
    size_t n = 0;
    size_t n_name = strcspn(format, ",");
    bool is_list = n_name == strlen(CABLES) && strncmp(format, CABLES, n_name) == 0;
    const char *at = format + n_name;
    for (const char *value; (value = option_of(at, &n_key, &n)) != NULL; at = value + n) {
        char word[64];
        FAB_FORMAT(word, "%.*s", (int)(n_key < 60 ? n_key : 60), at + 1);
        FAB_FIRST(k, N_KEYS, strcmp(KEYS[k], word) == 0);
        if (k == N_KEYS) {
            fab_choices near = fab_choices_of(word);
            for (size_t i = 0; i < N_KEYS; i++) {
                fab_choices_offer(&near, KEYS[i]);
            }
            return fab_fail(err, FAB_EINPUT, NULL, "format '%.80s' has no key '%s'%s", format, word,
                            fab_choices_hint(&near));
        }
        FAB_REFUSE_IF(n == 0 || n >= PATTERN, err, FAB_EINPUT, NULL,
                      "format '%.80s': '%s' has no value of up to 255 bytes", format, word);
        FAB_REFUSE_IF(k > 0 && !is_list, err, FAB_EINPUT, NULL, "format '%.80s': columns (%s) are of format " CABLES,
                      format, word);
    }
    if (out_n != NULL) {
        *out_n = n_name;
    }
    return FAB_OK;
}

static bool fits(const char *pattern, const char *text) {
    return text != NULL && fnmatch(pattern, text, 0) == 0;
}

fab_status fab_network_exclude(fab_network *net, const char *format, fab_error *err) {
    uint64_t n_dropped = 0;
    size_t n = 0;
    const char *value = fab_network_format_value(format, EXCLUDE, 0, &n);
    if (value == NULL) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(bool, drop, (size_t)net->n_nodes + 1, err);
    for (size_t again = 0; value != NULL; value = fab_network_format_value(format, EXCLUDE, ++again, &n)) {
        char pattern[PATTERN];
        bool is_there = false;
        FAB_FORMAT(pattern, "%.*s", (int)n, value);
        for (uint32_t i = 0; i < net->n_nodes; i++) {
            const fab_network_node *node = &net->nodes[i];
            bool is_named = fits(pattern, node->name) || fits(pattern, node->label) || fits(pattern, node->host);
            is_there = is_there || is_named;
            n_dropped += is_named && !drop[i] ? 1 : 0;
            drop[i] = drop[i] || is_named;
        }
        FAB_REFUSE_IF(!is_there, err, FAB_EINPUT, net->path,
                      "format: " EXCLUDE "=%.120s: no box of '%.160s' is called so", pattern, net->path);
    }
    FAB_PASS(fab_network_drop_nodes(net, drop, err));
    net->n_left_out += n_dropped;
    net->left_out = net->left_out == NULL ? "boxes that exclude names"
                                          : "what is said of this format, and boxes that exclude names";
    return FAB_OK;
}
