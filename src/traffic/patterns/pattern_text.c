/* Reads "NAME,key=value,..." of a pattern. */
#include "patterns.h"

#include "fab/choices.h"
#include "fab/units.h"

#define COMMON_KEYS "bytes gpus placement servers" /* of every pattern */

/* "A-B" or "A", GPUs of the fabric. */
static fab_status parse_range(const char *value, uint32_t n_gpus, uint64_t *out_first, uint64_t *out_last,
                              fab_error *err) {
    char first[24];
    size_t n = strcspn(value, "-");
    const char *last = value[n] == '-' ? value + n + 1 : value;
    FAB_FORMAT(first, "%.*s", (int)(n < sizeof first ? n : sizeof first - 1), value);
    uint64_t a = 0;
    uint64_t b = 0;
    FAB_PASS(fab_count_parse(first, 0, n_gpus - 1, &a, err));
    FAB_PASS(fab_count_parse(last, 0, n_gpus - 1, &b, err));
    FAB_REFUSE_IF(a > b, err, FAB_EINPUT, NULL, "'%.60s' runs backwards", value);
    *out_first = a;
    *out_last = b;
    return FAB_OK;
}

static fab_status parse_amount(const char *value, uint64_t *out, fab_error *err) {
    double bytes = 0;
    FAB_PASS(fab_quantity_parse(value, FAB_UNIT_BYTES, &bytes, err));
    FAB_REFUSE_IF(!(bytes >= 1 && bytes <= 9007199254740992.0), err, FAB_EINPUT, NULL,
                  "'%.60s' is outside 1B to 9007TB", value);
    *out = (uint64_t)(bytes + 0.5);
    return FAB_OK;
}

static fab_status parse_fraction(const char *value, double *out, fab_error *err) {
    double fraction = 0;
    FAB_PASS(fab_quantity_parse(value, FAB_UNIT_RATIO, &fraction, err));
    FAB_REFUSE_IF(fraction > 1, err, FAB_EINPUT, NULL, "'%.60s' is above 1", value);
    *out = fraction;
    return FAB_OK;
}

/* Number of `value` among the words, which end with NULL. */
static fab_status parse_word(const char *value, const char *const *words, uint32_t *out, fab_error *err) {
    char known[64] = "";
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], value) == 0) {
            *out = i;
            return FAB_OK;
        }
        fab_append(known, sizeof known, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "'%.60s' is none of %s", value, known);
}

static fab_status set_algorithm(fab_pattern *p, const char *value, fab_error *err) {
    bool known = strcmp(value, "auto") == 0 || strcmp(value, "nccl") == 0 || strcmp(value, "all") == 0;
    /* whoever replays has put the algorithm in its place */
    FAB_REFUSE_IF(strcmp(value, "best") == 0, err, FAB_EUNSUPPORTED, NULL,
                  "best is found by replays, of run, route, sweep, compare, mix and optimize; choose auto or nccl");
    if (!known && fab_algorithm_find(p->operation, value) == NULL) {
        char names[128];
        fab_pattern_algorithms(p->operation, names, sizeof names);
        return fab_fail(err, FAB_EINPUT, NULL, "'%.60s' is none of %s", value, names);
    }
    FAB_FORMAT(p->algorithm, "%s", value);
    return FAB_OK;
}

static fab_status set_collective(fab_pattern *p, const char *key, const char *value, fab_error *err) {
    static const char *const WAYS[] = {"stride", "block", NULL};
    uint32_t word = 0;
    if (strcmp(key, "groups") == 0) {
        return fab_count_parse(value, 1, fab_n_gpus(p->fabric), &p->groups, err);
    }
    if (strcmp(key, "comm") == 0) {
        return fab_count_parse(value, 0, FAB_NONE - 1, &p->comm, err);
    }
    if (strcmp(key, "channels") == 0) {
        return fab_count_parse(value, 1, fab_n_gpus(p->fabric), &p->channels, err);
    }
    if (strcmp(key, "algorithm") == 0) {
        return set_algorithm(p, value, err);
    }
    FAB_PASS(parse_word(value, WAYS, &word, err));
    p->by_block = word == 1;
    return FAB_OK;
}

/* "0-15+20": '+' in place of the commas of a job's list. */
static fab_status set_servers(fab_pattern *p, const char *value, fab_error *err) {
    FAB_REFUSE_IF(value[0] == '\0' || strlen(value) >= sizeof p->servers, err, FAB_EINPUT, NULL,
                  "a list has 1 to %zu characters", sizeof p->servers - 1);
    FAB_FORMAT(p->servers, "%s", value);
    for (char *at = strchr(p->servers, '+'); at != NULL; at = strchr(at, '+')) {
        *at = ',';
    }
    return FAB_OK;
}

static fab_status set_value(fab_pattern *p, const char *key, const char *value, fab_error *err) {
    uint32_t word = 0;
    uint32_t n_gpus = fab_n_gpus(p->fabric);
    if (strcmp(key, "bytes") == 0) {
        return parse_amount(value, &p->bytes, err);
    }
    if (strcmp(key, "gpus") == 0) {
        return parse_range(value, n_gpus, &p->first, &p->last, err);
    }
    if (strcmp(key, "servers") == 0) {
        return set_servers(p, value, err);
    }
    if (strcmp(key, "placement") == 0) {
        FAB_PASS(parse_word(value, fab_placements, &word, err));
        p->placement = (fab_placement)word;
        return FAB_OK;
    }
    if (strcmp(key, "from") == 0) {
        return parse_range(value, n_gpus, &p->from_first, &p->from_last, err);
    }
    if (strcmp(key, "fraction") == 0) {
        return parse_fraction(value, &p->fraction, err);
    }
    if (strcmp(key, "to") == 0) {
        return fab_count_parse(value, 0, n_gpus - 1, &p->to, err);
    }
    if (strcmp(key, "by") == 0) {
        return fab_count_parse(value, 0, FAB_NONE - 1, &p->by, err);
    }
    if (strcmp(key, "fanin") == 0) {
        return fab_count_parse(value, 0, FAB_NONE - 1, &p->fanin, err);
    }
    return set_collective(p, key, value, err);
}

static fab_status unknown_key(const fab_pattern *p, size_t which, const char *key, fab_error *err) {
    char keys[160];
    FAB_FORMAT(keys, "%s" COMMON_KEYS, fab_pattern_rows[which].keys);
    fab_choices near = fab_choices_of(key);
    for (char *at = keys; *at != '\0';) {
        size_t blanks = strspn(at, " ");
        size_t n = strcspn(at + blanks, " ");
        char name[32];
        FAB_FORMAT(name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at + blanks);
        fab_choices_offer(&near, name);
        at += blanks + n;
    }
    return fab_fail(err, FAB_EINPUT, p->text, "pattern '%s' has no key '%.40s'%s allowed:%s" COMMON_KEYS,
                    fab_patterns[which].name, key, near.best[0] != '\0' ? fab_choices_hint(&near) : ";",
                    fab_pattern_rows[which].keys);
}

/* Sets one `key=value`; a value error gets the key in front. */
static fab_status set_item(fab_pattern *p, size_t which, const char *key, const char *value, fab_error *err) {
    char padded[40];
    FAB_FORMAT(padded, " %.36s ", key);
    bool known = strstr(" " COMMON_KEYS " ", padded) != NULL || strstr(fab_pattern_rows[which].keys, padded) != NULL;
    FAB_RETURN_IF(!known || strchr(key, ' ') != NULL, unknown_key(p, which, key, err));
    FAB_REFUSE_IF(value == NULL, err, FAB_EINPUT, p->text, "key '%.40s' has no value; write %.40s=VALUE", key, key);
    FAB_REFUSE_IF(strstr(p->seen, padded) != NULL, err, FAB_EINPUT, p->text, "key '%s' is given twice", key);
    fab_append(p->seen, sizeof p->seen, "%s", padded);
    fab_error inner = {.code = FAB_OK};
    FAB_REFUSE_IF(set_value(p, key, value, &inner) != FAB_OK, err, inner.code, p->text, "%s: %s", key, inner.text);
    return FAB_OK;
}

static fab_status unknown_pattern(const char *text, const char *name, fab_error *err) {
    fab_choices near = fab_choices_of(name);
    for (const fab_pattern_info *info = fab_patterns; info->name != NULL; info++) {
        fab_choices_offer(&near, info->name);
    }
    return fab_fail(err, FAB_EINPUT, text, "there is no pattern '%.40s'%s", name, fab_choices_list(&near, "known:"));
}

fab_status fab_pattern_parse(char *list, fab_pattern *p, size_t *out_which, fab_error *err) {
    char *rest = strchr(list, ',');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    size_t which = 0;
    while (fab_patterns[which].name != NULL && strcmp(fab_patterns[which].name, list) != 0) {
        which++;
    }
    FAB_RETURN_IF(fab_patterns[which].name == NULL, unknown_pattern(p->text, list, err));
    p->operation = fab_pattern_rows[which].operation;
    FAB_FORMAT(p->algorithm, "%s", p->operation == FAB_ALL_TO_ALL ? "mesh" : "ring");
    while (rest != NULL) {
        char *key = rest;
        rest = strchr(key, ',');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        char *value = strchr(key, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        FAB_PASS(set_item(p, which, key, value, err));
    }
    *out_which = which;
    return FAB_OK;
}
