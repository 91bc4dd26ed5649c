/*
 * Synthetic patterns over the GPUs `gpus=A-B` of a fabric, all by default. One file for all: each is a few lines.
 * A pattern is a row of PATTERNS: its name, the keys it takes, and a function that adds flows.
 */
#include "traffic_internal.h"

#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/str.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FLOWS (UINT64_C(64) << 20)

/* What the keys say. GPU numbers are those of the fabric until the pattern counts from `first`. */
typedef struct pattern {
    const char *text; /* as given, for messages */
    const fab_fabric *fabric;
    uint64_t seed;
    uint64_t bytes;
    uint64_t first, last;           /* gpus= */
    uint64_t from_first, from_last; /* from=, FAB_NONE when not given */
    uint64_t by, to, fanin;         /* FAB_NONE when not given */
    double fraction;
    char note[64]; /* for the summary */
    char seen[64]; /* keys so far, each between blanks */
} pattern;

static uint32_t n_of(const pattern *p) {
    return (uint32_t)(p->last - p->first + 1);
}

static void add(const pattern *p, fab_phase_builder *builder, uint32_t i, uint32_t j, uint32_t comm) {
    fab_phase_add(builder, (uint32_t)p->first + i, (uint32_t)p->first + j, p->bytes, comm);
}

/* The numbers 0 ... n - 1 in random order; another stream gives an independent one. */
static fab_status random_order(const pattern *p, uint64_t stream, uint32_t n, uint32_t **out, fab_error *err) {
    uint32_t *order = NULL;
    fab_status status = FAB_NEW(order, n, err);
    if (status != FAB_OK) {
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
    }
    fab_rng rng = fab_rng_make(p->seed, stream);
    fab_rng_shuffle(&rng, order, n);
    *out = order;
    return FAB_OK;
}

/* --- the patterns ---------------------------------------------------------------------------------------------------
 */

static fab_status make_permutation(pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t *to = NULL;
    uint32_t n = n_of(p);
    fab_status status = random_order(p, 0, n, &to, err);
    uint32_t fixed = 0;
    for (uint32_t i = 0; i < n && status == FAB_OK; i++) {
        if (to[i] == i) {
            fixed++;
        } else {
            add(p, builder, i, to[i], (uint32_t)builder->phase.n_flows);
        }
    }
    if (fixed > 0) {
        (void)snprintf(p->note, sizeof p->note, " (%" PRIu32 " drawn to themselves send nothing)", fixed);
    }
    builder->phase.n_comms = (uint32_t)builder->phase.n_flows;
    free(to);
    return status;
}

static fab_status make_shift(pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t n = n_of(p);
    uint64_t from = p->from_first == FAB_NONE ? p->first : p->from_first;
    uint64_t until = p->from_first == FAB_NONE ? p->last : p->from_last;
    if (p->by == FAB_NONE) {
        return fab_fail(err, FAB_EINPUT, p->text, "pattern 'shift' needs the distance: by=N, such as by=8");
    }
    if (p->by % n == 0) {
        return fab_fail(err, FAB_EINPUT, p->text, "by=%" PRIu64 " over %" PRIu32 " GPUs sends every GPU to itself",
                        p->by, n);
    }
    if (from < p->first || until > p->last) {
        return fab_fail(err, FAB_EINPUT, p->text,
                        "from=%" PRIu64 "-%" PRIu64 " is outside the GPUs %" PRIu64 "-%" PRIu64 " of the pattern", from,
                        until, p->first, p->last);
    }
    for (uint64_t gpu = from; gpu <= until; gpu++) {
        uint64_t i = gpu - p->first;
        add(p, builder, (uint32_t)i, (uint32_t)((i + p->by % n) % n), (uint32_t)builder->phase.n_flows);
    }
    (void)snprintf(p->note, sizeof p->note, " by %" PRIu64, p->by);
    builder->phase.n_comms = (uint32_t)builder->phase.n_flows;
    return FAB_OK;
}

static fab_status make_ring(pattern *p, fab_phase_builder *builder, fab_error *err) {
    (void)err;
    uint32_t n = n_of(p);
    for (uint32_t i = 0; i < n; i++) {
        add(p, builder, i, (i + 1) % n, 0);
    }
    return FAB_OK;
}

/* ORCS: a random half is paired with the other half at random, both directions at once. An odd GPU is left out. */
static fab_status make_bisection(pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t *order = NULL;
    uint32_t n = n_of(p);
    fab_status status = random_order(p, 0, n, &order, err);
    for (uint32_t i = 0; i < n / 2 && status == FAB_OK; i++) {
        add(p, builder, order[i], order[n / 2 + i], i);
        add(p, builder, order[n / 2 + i], order[i], i);
    }
    if (n % 2 == 1) {
        (void)snprintf(p->note, sizeof p->note, " (odd number: one is left out)");
    }
    builder->phase.n_comms = n / 2;
    free(order);
    return status;
}

static fab_status make_all_to_all(pattern *p, fab_phase_builder *builder, fab_error *err) {
    (void)err;
    uint32_t n = n_of(p);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            if (i != j) {
                add(p, builder, i, j, 0);
            }
        }
    }
    return FAB_OK;
}

/* Number within the pattern of the GPU named by to=. */
static fab_status target(pattern *p, uint32_t *out, fab_error *err) {
    uint64_t to = p->to == FAB_NONE ? p->first : p->to;
    if (to < p->first || to > p->last) {
        return fab_fail(err, FAB_EINPUT, p->text,
                        "to=%" PRIu64 " is outside the GPUs %" PRIu64 "-%" PRIu64 " of the pattern", to, p->first,
                        p->last);
    }
    *out = (uint32_t)(to - p->first);
    return FAB_OK;
}

/* The senders are the GPUs that follow the receiver, cyclically. */
static fab_status make_incast(pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t to = 0;
    uint32_t n = n_of(p);
    fab_status status = target(p, &to, err);
    uint64_t fanin = p->fanin == FAB_NONE ? n - 1 : p->fanin;
    if (status == FAB_OK && (fanin < 1 || fanin > n - 1)) {
        status = fab_fail(err, FAB_EINPUT, p->text, "fanin=%" PRIu64 " is outside 1 to %" PRIu32 ", the other GPUs",
                          fanin, n - 1);
    }
    for (uint32_t i = 1; status == FAB_OK && i <= fanin; i++) {
        add(p, builder, (uint32_t)(((uint64_t)to + i) % n), to, 0);
    }
    (void)snprintf(p->note, sizeof p->note, " to gpu-%" PRIu64, p->first + to);
    return status;
}

/* A random permutation in which a random part of the senders is sent to one GPU instead. */
static fab_status make_hotspot(pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t *dst = NULL;
    uint32_t *senders = NULL;
    uint32_t to = 0;
    uint32_t n = n_of(p);
    fab_status status = FAB_OK;
    FAB_TRY(target(p, &to, err));
    FAB_TRY(random_order(p, 0, n, &dst, err));
    FAB_TRY(random_order(p, 1, n, &senders, err));
    uint32_t wanted = (uint32_t)(p->fraction * (n - 1) + 0.5);
    wanted = wanted < 1 ? 1 : wanted;
    for (uint32_t i = 0, hot = 0; hot < wanted; i++) {
        if (senders[i] != to) {
            dst[senders[i]] = to;
            hot++;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (dst[i] != i) {
            add(p, builder, i, dst[i], 0);
        }
    }
    (void)snprintf(p->note, sizeof p->note, ", %" PRIu32 " of them to gpu-%" PRIu64, wanted, p->first + to);
done:
    free(dst);
    free(senders);
    return status;
}

/* --- the table ------------------------------------------------------------------------------------------------------
 */

typedef fab_status make_pattern(pattern *p, fab_phase_builder *builder, fab_error *err);

const fab_pattern_info fab_patterns[] = {
    {"permutation", "every GPU sends to one other, drawn at random; GPUs drawn to themselves send nothing"},
    {"shift", "GPU i sends to i + by (by=N), all of them or those of from=A-B"},
    {"ring", "GPU i sends to i + 1"},
    {"bisection", "GPUs halved and paired at random (ORCS), both directions at once"},
    {"all-to-all", "every GPU sends to every other"},
    {"incast", "all GPUs, or fanin=N of them, send to one (to=GPU)"},
    {"hotspot", "a random permutation, but fraction= (default 0.1) of the GPUs send to one (to=GPU)"},
    {NULL, NULL},
};

/* In the order of fab_patterns. */
static const struct {
    const char *keys; /* beyond bytes and gpus, each with a blank before and behind */
    bool random;
    make_pattern *make;
} PATTERNS[] = {
    {" ", true, make_permutation},         {" by from ", false, make_shift}, {" ", false, make_ring},
    {" ", true, make_bisection},           {" ", false, make_all_to_all},    {" to fanin ", false, make_incast},
    {" to fraction ", true, make_hotspot},
};

/* --- the text -------------------------------------------------------------------------------------------------------
 */

/* "A-B" or "A", GPUs of the fabric. */
static fab_status parse_range(const char *value, uint32_t n_gpus, uint64_t *out_first, uint64_t *out_last,
                              fab_error *err) {
    char first[24];
    size_t n = strcspn(value, "-");
    const char *last = value[n] == '-' ? value + n + 1 : value;
    (void)snprintf(first, sizeof first, "%.*s", (int)(n < sizeof first ? n : sizeof first - 1), value);
    uint64_t a = 0;
    uint64_t b = 0;
    fab_status status = fab_count_parse(first, 0, n_gpus - 1, &a, err);
    if (status == FAB_OK) {
        status = fab_count_parse(last, 0, n_gpus - 1, &b, err);
    }
    if (status == FAB_OK && a > b) {
        status = fab_fail(err, FAB_EINPUT, NULL, "'%.60s' runs backwards", value);
    }
    if (status == FAB_OK) {
        *out_first = a;
        *out_last = b;
    }
    return status;
}

static fab_status parse_amount(const char *value, uint64_t *out, fab_error *err) {
    double bytes = 0;
    fab_status status = fab_quantity_parse(value, FAB_UNIT_BYTES, &bytes, err);
    if (status == FAB_OK && !(bytes >= 1 && bytes <= 9007199254740992.0)) {
        status = fab_fail(err, FAB_EINPUT, NULL, "'%.60s' is outside 1B to 9PB", value);
    }
    if (status == FAB_OK) {
        *out = (uint64_t)(bytes + 0.5);
    }
    return status;
}

static fab_status parse_fraction(const char *value, double *out, fab_error *err) {
    double fraction = 0;
    fab_status status = fab_quantity_parse(value, FAB_UNIT_RATIO, &fraction, err);
    if (status == FAB_OK && fraction > 1) {
        status = fab_fail(err, FAB_EINPUT, NULL, "'%.60s' is above 1", value);
    }
    if (status == FAB_OK) {
        *out = fraction;
    }
    return status;
}

static fab_status set_value(pattern *p, const char *key, const char *value, fab_error *err) {
    uint32_t n_gpus = fab_n_gpus(p->fabric);
    if (strcmp(key, "bytes") == 0) {
        return parse_amount(value, &p->bytes, err);
    }
    if (strcmp(key, "gpus") == 0) {
        return parse_range(value, n_gpus, &p->first, &p->last, err);
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
    return fab_count_parse(value, 0, UINT32_MAX - 1, strcmp(key, "by") == 0 ? &p->by : &p->fanin, err);
}

/* Sets one `key=value`; a value error gets the key in front. */
static fab_status set_item(pattern *p, size_t which, const char *key, const char *value, fab_error *err) {
    char padded[40];
    (void)snprintf(padded, sizeof padded, " %.36s ", key);
    bool known = strcmp(key, "bytes") == 0 || strcmp(key, "gpus") == 0;
    if (!known && (strchr(key, ' ') != NULL || strstr(PATTERNS[which].keys, padded) == NULL)) {
        return fab_fail(err, FAB_EINPUT, p->text, "pattern '%s' has no key '%.40s'; allowed:%sbytes gpus",
                        fab_patterns[which].name, key, PATTERNS[which].keys);
    }
    if (value == NULL) {
        return fab_fail(err, FAB_EINPUT, p->text, "key '%.40s' has no value; write %.40s=VALUE", key, key);
    }
    if (strstr(p->seen, padded) != NULL) {
        return fab_fail(err, FAB_EINPUT, p->text, "key '%s' is given twice", key);
    }
    size_t used = strlen(p->seen);
    (void)snprintf(p->seen + used, sizeof p->seen - used, "%s", padded);
    fab_error inner = {.code = FAB_OK};
    if (set_value(p, key, value, &inner) != FAB_OK) {
        return fab_fail(err, inner.code, p->text, "%s: %s", key, inner.text);
    }
    return FAB_OK;
}

static fab_status unknown_pattern(const char *text, const char *name, fab_error *err) {
    char names[160] = "";
    for (const fab_pattern_info *info = fab_patterns; info->name != NULL; info++) {
        size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", info->name);
    }
    return fab_fail(err, FAB_EINPUT, text, "there is no pattern '%.40s'; known: %s", name, names);
}

/* Splits "NAME,key=value,..." in place. */
static fab_status parse(char *list, pattern *p, size_t *out_which, fab_error *err) {
    char *rest = strchr(list, ',');
    if (rest != NULL) {
        *rest++ = '\0';
    }
    size_t which = 0;
    while (fab_patterns[which].name != NULL && strcmp(fab_patterns[which].name, list) != 0) {
        which++;
    }
    if (fab_patterns[which].name == NULL) {
        return unknown_pattern(p->text, list, err);
    }
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
        fab_status status = set_item(p, which, key, value, err);
        if (status != FAB_OK) {
            return status;
        }
    }
    *out_which = which;
    return FAB_OK;
}

/* Checks the size of the pattern and returns the most flows it can have. */
static fab_status count_flows(const pattern *p, size_t which, uint64_t *out, fab_error *err) {
    uint64_t n = n_of(p);
    uint64_t flows = PATTERNS[which].make == make_all_to_all ? n * (n - 1) : n;
    if (n < 2) {
        return fab_fail(err, FAB_EINPUT, p->text, "pattern '%s' needs at least 2 GPUs, not %" PRIu64,
                        fab_patterns[which].name, n);
    }
    if (flows > MAX_FLOWS) {
        return fab_fail(err, FAB_EUNSUPPORTED, p->text,
                        "pattern '%s' over %" PRIu64 " GPUs has %" PRIu64 " flows, above the limit of %" PRIu64
                        "; choose fewer GPUs with gpus=A-B",
                        fab_patterns[which].name, n, flows, MAX_FLOWS);
    }
    if ((double)flows * (double)p->bytes > FAB_PHASE_MAX_BYTES) {
        return fab_fail(err, FAB_EINPUT, p->text,
                        "%" PRIu64 " flows of %" PRIu64 " bytes are above the limit of %.2g bytes in a phase", flows,
                        p->bytes, FAB_PHASE_MAX_BYTES);
    }
    *out = flows;
    return FAB_OK;
}

static void summarize(const pattern *p, const fab_phase *phase, fab_traffic *traffic) {
    char gpus[32];
    char flows[32];
    char amount[40];
    (void)snprintf(traffic->summary, sizeof traffic->summary, "%s over %s GPUs: %s flow%s of %s%s", phase->name,
                   fab_format_count(gpus, n_of(p)), fab_format_count(flows, phase->n_flows),
                   phase->n_flows == 1 ? "" : "s", fab_quantity_format(amount, (double)p->bytes, FAB_UNIT_BYTES),
                   p->note);
}

fab_status fab_pattern_make(const char *text, const fab_fabric *fabric, uint64_t seed, fab_traffic *traffic,
                            fab_error *err) {
    fab_status status = FAB_OK;
    fab_phase_builder builder = {.capacity = 0};
    char *list = NULL;
    size_t which = 0;
    uint64_t capacity = 0;
    pattern p = {.text = text,
                 .fabric = fabric,
                 .seed = seed,
                 .bytes = 1000000,
                 .last = fab_n_gpus(fabric) - 1,
                 .from_first = FAB_NONE,
                 .from_last = FAB_NONE,
                 .by = FAB_NONE,
                 .to = FAB_NONE,
                 .fanin = FAB_NONE,
                 .fraction = 0.1};
    if (fab_n_gpus(fabric) == 0) {
        FAB_FAIL(err, FAB_EINPUT, text, "the fabric has no GPU");
    }
    list = fab_strdup(text + strlen("pattern:"), err);
    if (list == NULL) {
        status = FAB_ENOMEM;
        goto done;
    }
    FAB_TRY(parse(list, &p, &which, err));
    FAB_TRY(count_flows(&p, which, &capacity, err));
    FAB_TRY(fab_phase_open(&builder, fab_patterns[which].name, fab_patterns[which].name, capacity, err));
    FAB_TRY(PATTERNS[which].make(&p, &builder, err));
    FAB_TRY(FAB_NEW(traffic->phases, 1, err));
    summarize(&p, &builder.phase, traffic);
    traffic->depends_on_seed = PATTERNS[which].random;
    fab_traffic_take(traffic, &builder);
done:
    free(list);
    fab_phase_release(&builder.phase);
    return status;
}
