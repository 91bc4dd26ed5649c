/* Which changes are tried: engines, options of ecmp, rank orders; and what a change makes of a configuration. */
#include "advise_internal.h"

#include "fab/design.h"

#define N_DIMENSIONS 4

/* --- engines as text ---------------------------------------------------------------------------------------------- */

static bool is_ecmp(const char *engine) {
    return strcmp(engine, "ecmp") == 0 || strncmp(engine, "ecmp,", 5) == 0;
}

/* The option's item in the text, behind its comma; NULL where it is not given. */
static const char *find_item(const char *engine, const char *key, size_t key_length) {
    const char *found = NULL; /* of several the last one holds */
    for (const char *item = strchr(engine, ','); item != NULL; item = strchr(item, ',')) {
        item++;
        if (strncmp(item, key, key_length) == 0 && item[key_length] == '=') {
            found = item;
        }
    }
    return found;
}

bool advise_engine_option(const char *engine, const char *key, char *out, size_t size) {
    const char *item = find_item(engine, key, strlen(key));
    if (item == NULL) {
        return false;
    }
    item += strlen(key) + 1;
    (void)snprintf(out, size, "%.*s", (int)strcspn(item, ","), item);
    return true;
}

/* Takes `key` out of the text, as often as it is there. */
static void remove_option(char *engine, const char *key, size_t key_length) {
    for (const char *item = find_item(engine, key, key_length); item != NULL;
         item = find_item(engine, key, key_length)) {
        size_t at = (size_t)(item - engine) - 1;
        size_t n = 1 + strcspn(item, ",");
        memmove(engine + at, engine + at + n, strlen(engine + at + n) + 1);
    }
}

/* Lays "key=value,..." over the options; false where the text gets too long. */
static bool set_options(const char *options, char *engine, size_t size) {
    for (const char *item = options; *item != '\0';) {
        size_t n = strcspn(item, ",");
        remove_option(engine, item, strcspn(item, "="));
        size_t used = strlen(engine);
        if (used + 1 + n >= size) {
            return false;
        }
        (void)snprintf(engine + used, size - used, ",%.*s", (int)n, item);
        item += n + (item[n] == ',' ? 1 : 0);
    }
    return true;
}

bool advise_apply(const advise_change *change, const advise_config *config, bool engine_taken, bool engine_replaced,
                  advise_config *out) {
    *out = *config;
    if (change->order[0] != '\0') {
        FAB_FORMAT(out->order, "%s", change->order);
    }
    if (change->servers[0] != '\0') {
        FAB_FORMAT(out->servers, "%s", change->servers);
    }
    out->in_order = change->in_order || out->in_order;
    const advise_packets *packets = &change->packets;
    out->packets.xoff_bytes = packets->xoff_bytes > 0 ? packets->xoff_bytes : out->packets.xoff_bytes;
    out->packets.queue_bytes = packets->queue_bytes > 0 ? packets->queue_bytes : out->packets.queue_bytes;
    out->packets.balancing = packets->balancing != NULL ? packets->balancing : out->packets.balancing;
    out->packets.priority = packets->priority != NULL ? packets->priority : out->packets.priority;
    out->packets.sprays = packets->sprays || out->packets.sprays;
    if (!change->sets_engine) {
        return true;
    }
    if (engine_replaced || (engine_taken && change->replaces)) {
        return false;
    }
    if (change->replaces || !is_ecmp(out->engine)) {
        FAB_FORMAT(out->engine, "%s", change->replaces ? change->engine : "ecmp");
    }
    return change->replaces || set_options(change->engine, out->engine, sizeof out->engine);
}

bool advise_is_offered(const advise_change *change, const fab_fabric_spec *fabric, const fab_trunks *trunks) {
    const bool is_hash = change->sets_engine && !change->replaces;
    const bool is_weighted = strstr(change->engine, "weights=capacity") != NULL;
    if (is_weighted && (trunks == NULL || !trunks->differ || (is_hash && !trunks->rates_differ))) {
        return false;
    }
    const bool is_by_flow = strncmp(change->engine, "pinned", 6) == 0 || strstr(change->engine, "=flow") != NULL;
    return fabric->subnet == FAB_SUBNET_NONE || !(is_hash || is_by_flow);
}

/* --- changes of the engine ---------------------------------------------------------------------------------------- */

static fab_status changes_add(advise_list *list, const advise_change *change, fab_error *err) {
    return FAB_APPEND(list->items, list->n, list->capacity, err, *change);
}

static fab_status add_engine(advise_list *list, fab_advice_kind kind, bool replaces, const char *engine,
                             fab_error *err) {
    advise_change change = {.kind = kind, .sets_engine = true, .replaces = replaces};
    FAB_FORMAT(change.engine, "%s", engine);
    change.needs_switch_support = kind == FAB_ADVICE_ADAPTIVE || strncmp(engine, "weights=", 8) == 0;
    return changes_add(list, &change, err);
}

static fab_status add_ecmp(const advisor *a, advise_list *list, fab_error *err) {
    static const struct {
        const char *options;
        fab_advice_kind kind;
        uint32_t tiers; /* of switches that it needs to mean anything */
    } CHANGES[] = {
        {"qp=2", FAB_ADVICE_QUEUE_PAIRS, 1},
        {"qp=4", FAB_ADVICE_QUEUE_PAIRS, 1},
        {"qp=8", FAB_ADVICE_QUEUE_PAIRS, 1},
        {"qp=16", FAB_ADVICE_QUEUE_PAIRS, 1},
        {"qp=32", FAB_ADVICE_QUEUE_PAIRS, 1},
        {"offset=0/8/16/24", FAB_ADVICE_HASHING, 2},
        {"hash=crc32/crc16", FAB_ADVICE_HASHING, 2},
        {"hash=crc32/crc32c", FAB_ADVICE_HASHING, 2},
        {"hash=crc32/crc32c/crc32k", FAB_ADVICE_HASHING, 3},
        {"qp=4,fields=5tuple+dqp", FAB_ADVICE_HASHING, 1},
        {"qp=16,fields=5tuple+dqp", FAB_ADVICE_HASHING, 1},
        {"weights=capacity", FAB_ADVICE_HASHING, 2},
    };
    const uint64_t pairs = fab_label_pairs(a->at_base.label); /* of which fewer are no remedy */
    if (!is_ecmp(a->base.engine)) {
        FAB_PASS(add_engine(list, FAB_ADVICE_HASHING, false, "", err)); /* ecmp itself */
    }
    for (size_t i = 0; i < FAB_N_OF(CHANGES); i++) {
        const bool has_fewer =
            strncmp(CHANGES[i].options, "qp=", 3) == 0 && strtoull(CHANGES[i].options + 3, NULL, 10) < pairs;
        if (a->what->fabric->n_tiers >= CHANGES[i].tiers && !has_fewer) {
            FAB_PASS(add_engine(list, CHANGES[i].kind, false, CHANGES[i].options, err));
        }
    }
    return FAB_OK;
}

/* In the order of what they ask for, as the first of those that tie is named: paths of flows, tables of all switches,
 * switches that can do it. */
static fab_status add_other_engines(advise_list *list, fab_error *err) {
    static const struct {
        fab_advice_kind kind;
        const char *engine;
    } ENGINES[] = {
        {FAB_ADVICE_PINNING, "pinned,slices=2"},
        {FAB_ADVICE_PINNING, "pinned,slices=4"},
        {FAB_ADVICE_PINNING, "pinned,slices=8"},
        {FAB_ADVICE_PINNING, "dmodk"},
        {FAB_ADVICE_ADAPTIVE, "adaptive,granularity=flow"},
        {FAB_ADVICE_ADAPTIVE, "adaptive,granularity=flowlet"},
        {FAB_ADVICE_ADAPTIVE, "adaptive,granularity=packet"},
        {FAB_ADVICE_ADAPTIVE, "spray"},
        {FAB_ADVICE_ADAPTIVE, "spray,weights=capacity"},
    };
    for (size_t i = 0; i < FAB_N_OF(ENGINES); i++) {
        FAB_PASS(add_engine(list, ENGINES[i].kind, true, ENGINES[i].engine, err));
    }
    return FAB_OK;
}

/* Lossless queues: priorities of their own, of receivers and of communicators. */
static fab_status add_priorities(const advisor *a, advise_list *list, fab_error *err) {
    const fab_transport_spec *t = &a->what->design->fabric.transport;
    bool is_lossless = t->kind == FAB_TRANSPORT_PFC || t->kind == FAB_TRANSPORT_DCQCN;
    FAB_ANY(has_some, i, a->traffic->n_phases, a->traffic->phases[i].n_comms > 1); /* communicators */
    const struct {
        bool is_tried;
        fab_priority priority;
        const char *name;
    } WAYS[] = {{true, FAB_PRIORITY_RECEIVER, "receiver"}, {has_some, FAB_PRIORITY_COMMUNICATOR, "communicator"}};
    for (size_t i = 0; is_lossless && i < FAB_N_OF(WAYS); i++) {
        const advise_change change = {
            .kind = FAB_ADVICE_PRIORITIES, .needs_switch_support = true, .packets.priority = WAYS[i].name};
        FAB_PASS(WAYS[i].is_tried && t->priority != WAYS[i].priority ? changes_add(list, &change, err) : FAB_OK);
    }
    return FAB_OK;
}

/* Lossless queues: switches whose ports hold more before they stop who sends, and networks that spray and trim. */
static fab_status add_buffers(const advisor *a, advise_list *list, fab_error *err) {
    static const double TIMES[] = {4, 16};
    const fab_transport_spec *t = &a->what->design->fabric.transport;
    bool is_lossless = t->kind == FAB_TRANSPORT_PFC || t->kind == FAB_TRANSPORT_DCQCN;
    for (size_t i = 0; is_lossless && i < FAB_N_OF(TIMES); i++) {
        const advise_change change = {
            .kind = FAB_ADVICE_BUFFERS, .needs_switch_support = true, .packets.xoff_bytes = TIMES[i] * t->xoff_bytes};
        FAB_PASS(changes_add(list, &change, err));
    }
    advise_change other = {
        .kind = FAB_ADVICE_ADAPTIVE, .needs_switch_support = true, .sets_engine = true, .packets.sprays = true};
    FAB_FORMAT(other.engine, "qp=%" PRIu64, t->entropies);
    return is_lossless ? changes_add(list, &other, err) : FAB_OK;
}

/* Sprayed packets: queues of a quarter and of four times the bytes, and the other way to choose paths. A queue of a
 * bandwidth-delay product has hundreds of kilobytes. */
static fab_status add_spraying(const advisor *a, advise_list *list, fab_error *err) {
    const fab_transport_spec *t = &a->what->design->fabric.transport;
    double queue = t->queue_bytes;
    const double bytes[] = {queue > 0 ? queue / 4 : 1e5, queue > 0 ? 4 * queue : 1e6};
    if (t->kind != FAB_TRANSPORT_SPRAY_ACK) {
        return FAB_OK;
    }
    for (size_t i = 0; i < 2; i++) {
        const advise_change change = {
            .kind = FAB_ADVICE_BUFFERS, .needs_switch_support = true, .packets.queue_bytes = bytes[i]};
        FAB_PASS(changes_add(list, &change, err));
    }
    const advise_change other = {.kind = FAB_ADVICE_HASHING,
                                 .packets.balancing = t->balancing == FAB_BALANCING_BITMAP ? "oblivious" : "bitmap"};
    return changes_add(list, &other, err);
}

/* --- rank orders -------------------------------------------------------------------------------------------------- */

/* The dimensions of more than one rank, in the order of the text: two orders with the same ones place alike. */
static void shorten(const fab_job_spec *job, const char *order, char out[3 * N_DIMENSIONS + 1]) {
    const struct {
        const char *name;
        uint64_t size;
    } DIMENSIONS[N_DIMENSIONS] = {{"tp", job->tp}, {"cp", job->cp}, {"pp", job->pp}, {"dp", job->dp}};
    out[0] = '\0';
    for (const char *at = order; strlen(at) >= 2; at += at[2] == '-' ? 3 : 2) {
        for (int d = 0; d < N_DIMENSIONS; d++) {
            if (strncmp(at, DIMENSIONS[d].name, 2) == 0 && DIMENSIONS[d].size > 1) {
                size_t n = strlen(out);
                (void)snprintf(out + n, 3 * N_DIMENSIONS + 1 - n, "%.2s-", at);
            }
        }
    }
}

/* Number i < 24 of the orders of four dimensions: by the place of each among those that are left. */
static void order_text(int i, char *out, size_t size) {
    static const char *const NAMES[N_DIMENSIONS] = {"tp", "cp", "pp", "dp"};
    bool taken[N_DIMENSIONS] = {false};
    out[0] = '\0';
    for (int residual = N_DIMENSIONS, group = 24; residual > 0; residual--) {
        group /= residual;
        int nth = i / group;
        i %= group;
        int d = 0;
        for (; taken[d] || nth > 0; d++) {
            nth -= taken[d] ? 0 : 1;
        }
        taken[d] = true;
        size_t n = strlen(out);
        (void)snprintf(out + n, size - n, "%s%s", n > 0 ? "-" : "", NAMES[d]);
    }
}

static fab_status add_orders(advisor *a, advise_list *list, fab_error *err) {
    char seen[25][3 * N_DIMENSIONS + 1];
    int n_seen = 1;
    shorten(&a->traffic->job, a->traffic->job.order, seen[0]);
    for (int i = 0; i < 48; i++) {
        advise_change change = {.kind = FAB_ADVICE_RANK_ORDER};
        order_text(i % 24, change.order, sizeof change.order);
        /* of several ways to write an order, the one with cp behind tp, as in the default */
        bool is_usual = i >= 24 || strstr(change.order, "tp-cp") != NULL;
        shorten(&a->traffic->job, change.order, seen[n_seen]);
        FAB_ANY(is_seen, k, n_seen, strcmp(seen[k], seen[n_seen]) == 0);
        if (is_usual && !is_seen) {
            n_seen++;
            FAB_PASS(changes_add(list, &change, err));
        }
    }
    if (n_seen == 1) {
        FAB_FORMAT(a->advice->order_note, "rank order: no other one places the job differently");
    }
    return FAB_OK;
}

fab_status advise_list_changes(advisor *a, advise_list *list, fab_error *err) {
    FAB_PASS(add_ecmp(a, list, err));
    FAB_PASS(add_other_engines(list, err));
    FAB_PASS(add_buffers(a, list, err));
    FAB_PASS(add_priorities(a, list, err));
    FAB_PASS(add_spraying(a, list, err));
    size_t n = 0;
    fab_trunks trunks;
    FAB_PASS(fab_compare_trunks(a->what->fabric, &trunks, err));
    FAB_EACH(const advise_change, change, list->items, list->n) {
        if (advise_is_offered(change, &a->what->design->fabric, &trunks)) {
            list->items[n++] = *change;
        }
    }
    list->n = n;
    return a->is_whole_job ? add_orders(a, list, err) : FAB_OK;
}
