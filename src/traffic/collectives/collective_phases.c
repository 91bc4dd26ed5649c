/*
 * Phases of the collectives of several communicators at once. Steps with the same peers are one phase, whose flows
 * carry the bytes of all these steps; flows of one pair of GPUs in one communicator and phase are one flow.
 */
#include "collectives.h"

typedef struct record {
    uint32_t part, from, to; /* ranks */
    double bytes;
} record;

/* Adds flows to one builder for each part. */
typedef struct flow_sink {
    fab_sink base;
    const fab_collective *c;
    fab_phase_builder *builders;
    uint32_t id;
    record *records; /* of a communicator whose edges are merged */
    size_t n_records, capacity;
    fab_status status;
    fab_error *err;
} flow_sink;

static void collective_add_flow(flow_sink *s, uint32_t part, uint32_t from, uint32_t to, double bytes) {
    fab_phase_builder *builder = &s->builders[part];
    if (builder->phase.n_flows >= builder->capacity && s->status == FAB_OK) {
        if (builder->phase.n_flows >= FAB_MAX_LISTED_FLOWS) {
            s->status = fab_fail(s->err, FAB_EUNSUPPORTED, NULL,
                                 "%s has more than %" PRIu64 " flows in a phase; choose fewer GPUs",
                                 s->c->algorithm->name, FAB_MAX_LISTED_FLOWS);
        } else {
            s->status = fab_phase_reserve(builder, builder->phase.n_flows + 1, s->err);
        }
    }
    if (s->status == FAB_OK) {
        fab_phase_add(builder, s->c->members[from], s->c->members[to], (uint64_t)(bytes + 0.5), s->id);
    }
}

static void take_edge(fab_sink *sink, const fab_edge *edge) {
    flow_sink *s = (flow_sink *)sink;
    if (!s->c->algorithm->rules->merges) {
        collective_add_flow(s, edge->part, edge->from, edge->to, edge->bytes);
        return;
    }
    if (s->status == FAB_OK) {
        s->status = FAB_APPEND(s->records, s->n_records, s->capacity, s->err,
                               (record){edge->part, edge->from, edge->to, edge->bytes});
    }
}

static void take_ring(fab_sink *sink, uint32_t part, double bytes) {
    flow_sink *s = (flow_sink *)sink;
    fab_phase_builder *builder = &s->builders[part];
    if (s->status == FAB_OK) {
        s->status = fab_phase_reserve(builder, builder->phase.n_flows + fab_ring_max_flows(s->c->r), s->err);
    }
    if (s->status == FAB_OK) {
        fab_ring_emit(s->c->layout, s->c->members, s->c->r, (uint64_t)(bytes + 0.5), s->id, builder);
    }
}

FAB_ORDER_KEYS(collective_compare, record, FAB_ORDER(a->part, b->part), FAB_ORDER(a->from, b->from),
               FAB_ORDER(a->to, b->to));

/* Edges of one pair in one part carry equal bytes, so that their order does not matter. */
static void merge_records(flow_sink *s) {
    FAB_SORT(s->records, s->n_records, collective_compare);
    for (size_t i = 0; i < s->n_records;) {
        record sum = s->records[i];
        for (i++; i < s->n_records && collective_compare(&s->records[i], &sum) == 0; i++) {
            sum.bytes += s->records[i].bytes;
        }
        collective_add_flow(s, sum.part, sum.from, sum.to, sum.bytes);
    }
    s->n_records = 0;
}

/* One group whose GPUs follow one another needs no list. */
static bool is_in_a_row(const fab_collective_set *set) {
    for (uint32_t i = 1; i < set->r; i++) {
        if (set->members[i] != set->members[0] + i) {
            return false;
        }
    }
    return set->n_comms == 1;
}

static fab_status check_mesh(const fab_collective_set *set, const fab_algorithm *algorithm, fab_error *err) {
    uint64_t n = (uint64_t)set->n_comms * set->r * (set->r - 1);
    FAB_REFUSE_IF(algorithm->rules == &fab_rules_mesh && !is_in_a_row(set) && n > FAB_MAX_LISTED_FLOWS, err,
                  FAB_EUNSUPPORTED, set->where,
                  "a mesh in %" PRIu32 " groups of %" PRIu32 " ranks has %" PRIu64 " flows, above the limit of %" PRIu64
                  "; choose fewer GPUs with gpus=A-B, or one block of them",
                  set->n_comms, set->r, n, FAB_MAX_LISTED_FLOWS);
    uint64_t steps = (uint64_t)set->n_comms * set->r * (set->r - 1);
    FAB_REFUSE_IF(algorithm->rules == &fab_rules_shifted && steps > FAB_MAX_LISTED_FLOWS, err, FAB_EUNSUPPORTED,
                  set->where,
                  "shifts in %" PRIu32 " groups of %" PRIu32 " ranks have %" PRIu64
                  " flows, above the limit of %" PRIu64 "; choose fewer GPUs, or algorithm=mesh",
                  set->n_comms, set->r, steps, FAB_MAX_LISTED_FLOWS);
    return FAB_OK;
}

/* --- one run ------------------------------------------------------------------------------------------------------ */

/* What is the same for every part. */
typedef struct run {
    const fab_collective_set *set;
    const fab_algorithm *algorithm;
    uint32_t number, n_parts;
    double sum; /* of S over the communicators, all executions */
    double most;
} run;

static void name_phase(const run *r, uint32_t part, char *out) {
    const char *base = r->set->name != NULL ? r->set->name : r->algorithm->name;
    /* Every step of these has peers of its own, so that even a single one has a number. */
    bool numbered = r->n_parts > 1 || r->algorithm->rules == &fab_rules_exchange ||
                    r->algorithm->rules == &fab_rules_shifted || r->algorithm->rules == &fab_rules_binomial;
    if (numbered && (r->n_parts > 1 || r->set->name == NULL)) {
        (void)snprintf(out, FAB_NAME_SIZE, "%.48s-%" PRIu32, base, part + 1);
    } else {
        (void)snprintf(out, FAB_NAME_SIZE, "%s", base);
    }
}

static fab_status open_part(const run *r, const fab_collective *c, uint32_t part, fab_phase_builder *builder,
                            fab_error *err) {
    const fab_collective_set *set = r->set;
    char name[FAB_NAME_SIZE];
    fab_part shape = {.copied = 0};
    r->algorithm->rules->part(c, part, &shape);
    name_phase(r, part, name);
    FAB_REFUSE_IF(shape.copies * r->sum > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT, set->where,
                  "phase '%s' carries %.4g bytes, above the limit of %.2g", name, shape.copies * r->sum,
                  FAB_PHASE_MAX_BYTES);
    if (r->algorithm->rules == &fab_rules_mesh && is_in_a_row(set)) {
        *builder = fab_phase_of_all(name, fab_operation_name(set->operation), set->members[0], set->r,
                                    (uint64_t)(set->bytes[0] / set->r + 0.5));
    } else {
        uint64_t n = r->algorithm->rules == &fab_rules_mesh ? (uint64_t)set->n_comms * set->r * (set->r - 1) : 0;
        FAB_PASS(fab_phase_open(builder, name, fab_operation_name(set->operation), n, err));
    }
    fab_phase *phase = &builder->phase;
    phase->n_comms = set->n_comms;
    phase->first_comm = set->id != NULL ? set->id[0] : 0;
    phase->steps = shape.steps;
    phase->executions = set->executions;
    phase->expected_bytes = shape.copies * r->sum;
    phase->run = r->number;
    phase->ranks = set->r;
    phase->copied_bytes = shape.copied * r->most;
    phase->copy_bps = set->library != NULL ? set->library->copy_bps : 0;
    phase->result_bytes = r->most / (double)set->executions;
    phase->alternative = set->alternative;
    FAB_FORMAT(phase->algorithm, "%s", r->algorithm->name);
    int n = snprintf(phase->formula, sizeof phase->formula, "%s, x %" PRIu32 " ranks", shape.text, set->r);
    if (set->n_comms > 1 && n > 0 && (size_t)n < sizeof phase->formula) {
        (void)snprintf(phase->formula + n, sizeof phase->formula - (size_t)n, " x %" PRIu32 " groups", set->n_comms);
    }
    return FAB_OK;
}

static fab_status init_communicator(const fab_collective_set *set, const fab_algorithm *algorithm, fab_layout *layout,
                                    uint32_t i, fab_collective *out, fab_error *err) {
    const fab_communicator communicator = {
        .members = set->members + (size_t)i * set->r, .n = set->r, .bytes = set->bytes[i], .channels = set->channels};
    fab_layout_set(layout, communicator.members, set->r);
    fab_error why = {.code = FAB_OK};
    fab_status status = fab_collective_init(algorithm, layout, &communicator, out, &why);
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, set->where, "%s", why.text);
}

static fab_status take_parts(const run *r, fab_phase_builder *builders, fab_traffic *traffic, fab_error *err) {
    FAB_PASS(fab_traffic_reserve(traffic, r->n_parts, err));
    for (uint32_t part = 0; part < r->n_parts; part++) {
        FAB_PASS(r->set->by_source ? fab_phase_sort(&builders[part].phase, fab_n_gpus(r->set->fabric), err) : FAB_OK);
        FAB_PASS(fab_phase_check(&builders[part].phase, err));
    }
    for (uint32_t part = 0; part < r->n_parts; part++) {
        fab_traffic_take(traffic, &builders[part]);
    }
    return FAB_OK;
}

fab_status fab_collective_add(const fab_collective_set *set, const fab_algorithm *algorithm, fab_traffic *traffic,
                              fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(fab_layout_release) fab_layout layout = {.slot = NULL};
    fab_phase_builder *builders = NULL;
    fab_collective c;
    run r = {.set = set, .algorithm = algorithm};
    flow_sink sink = {.base = {take_edge, take_ring}, .c = &c, .err = err};
    FAB_TRY(check_mesh(set, algorithm, err));
    FAB_TRY(fab_layout_init(&layout, set->fabric, set->r, err));
    layout.library = set->library;
    FAB_TRY(init_communicator(set, algorithm, &layout, 0, &c, err));
    r.n_parts = fab_collective_parts(&c);
    r.number = traffic->n_phases > 0 ? traffic->phases[traffic->n_phases - 1].run + 1 : 0;
    for (uint32_t i = 0; i < set->n_comms; i++) {
        r.sum += set->bytes[i];
        r.most = set->bytes[i] > r.most ? set->bytes[i] : r.most;
    }
    FAB_TRY(FAB_NEW(builders, r.n_parts, err));
    for (uint32_t part = 0; part < r.n_parts; part++) {
        FAB_TRY(open_part(&r, &c, part, &builders[part], err));
    }
    sink.builders = builders;
    for (uint32_t i = 0; i < set->n_comms; i++) {
        FAB_TRY(init_communicator(set, algorithm, &layout, i, &c, err));
        FAB_FAIL_IF(fab_collective_parts(&c) != r.n_parts, err, FAB_EINPUT, set->where,
                    "%s needs communicators that scale-up domains hold alike: number %" PRIu32
                    " has other phases than the first; choose algorithm=ring",
                    algorithm->name, i);
        sink.id = set->id != NULL ? set->id[i] : i;
        if (builders[0].phase.all.n == 0) { /* else nothing is listed */
            algorithm->rules->emit(&c, &sink.base);
        }
        merge_records(&sink);
        FAB_TRY(sink.status);
    }
    FAB_TRY(take_parts(&r, builders, traffic, err));
done:
    for (uint32_t part = 0; builders != NULL && part < r.n_parts; part++) {
        fab_phase_release(&builders[part].phase);
    }
    FAB_FREE_ALL(builders, sink.records);
    return status;
}

/* --- several algorithms ------------------------------------------------------------------------------------------- */

/* Defined for all communicators of the set? */
static fab_status check_set(const fab_collective_set *set, const fab_algorithm *algorithm, fab_layout *layout,
                            fab_error *err) {
    FAB_PASS(check_mesh(set, algorithm, err));
    for (uint32_t i = 0; i < set->n_comms; i++) {
        fab_collective c;
        FAB_PASS(init_communicator(set, algorithm, layout, i, &c, err));
    }
    return FAB_OK;
}

fab_status fab_collective_list(const fab_collective_set *set, const fab_algorithm **out, size_t *out_n,
                               char *out_excluded, size_t excluded_size, fab_error *err) {
    FAB_OWNS(fab_layout_release) fab_layout layout = {.slot = NULL};
    size_t n = 0;
    FAB_PASS(fab_layout_init(&layout, set->fabric, set->r, err));
    layout.library = set->library;
    out_excluded[0] = '\0';
    for (const fab_algorithm *a = fab_algorithms; a->name != NULL; a++) {
        if (a->operation != set->operation) {
            continue;
        }
        fab_error why = {.code = FAB_OK};
        fab_status one = check_set(set, a, &layout, &why);
        if (one == FAB_OK) {
            out[n++] = a;
        } else if (one != FAB_EINPUT && one != FAB_EUNSUPPORTED) {
            return fab_fail(err, one, why.where, "%s", why.text);
        } else {
            fab_append(out_excluded, excluded_size, "%s%s", out_excluded[0] != '\0' ? ", " : "", a->name);
        }
    }
    *out_n = n;
    return FAB_OK;
}

fab_status fab_collective_try(const fab_collective_set *set, const fab_algorithm *algorithm, fab_traffic *traffic,
                              bool *out_added, char *out_excluded, size_t excluded_size, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    fab_status status = fab_collective_add(set, algorithm, traffic, &why);
    *out_added = status == FAB_OK;
    if (status == FAB_EINPUT || status == FAB_EUNSUPPORTED) {
        fab_append(out_excluded, excluded_size, "%s%s", out_excluded[0] != '\0' ? ", " : "", algorithm->name);
        return FAB_OK;
    }
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, why.where, "%s", why.text);
}
