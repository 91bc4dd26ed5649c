/* Traffic of the collectives that flight recorders have, over the ranks where a log of NCCL places them; where the log
 * has rings, over those. */
#include "flight.h"
#include "collectives/collectives.h"
#include "nccl_log.h"

#include "fab/units.h"

/* Collectives of one kind of a group; or what one rank of it sends to another. */
typedef struct flight_kind {
    uint32_t group, from, to; /* places in the group; FAB_NONE of a collective */
    uint8_t operation;
    uint64_t executions;
    double bytes; /* of all of them */
} flight_kind;

typedef struct flight_reader {
    fab_flight *flight;
    const fab_fabric *f;
    fab_traffic *traffic;
    flight_kind *kinds;
    bool *is_put; /* [kinds] */
    size_t n_kinds, kind_capacity;
    uint64_t n_other;
} flight_reader;
FAB_FREES(flight_reader_release, flight_reader, kinds, is_put);

/* --- places ------------------------------------------------------------------------------------------------------- */

fab_status fab_nccl_place(const fab_nccl_log *log, fab_ranks *out, fab_error *err) {
    const fab_nccl_comm *widest = &log->comms[0];
    for (size_t c = 1; c < log->n_comms; c++) {
        widest = log->comms[c].n > widest->n ? &log->comms[c] : widest;
    }
    FAB_PASS(FAB_NEW(out->gpu, widest->n, err));
    FAB_PASS(FAB_NEW(out->of_gpu, fab_n_gpus(log->f), err));
    out->n = widest->n;
    memset(out->of_gpu, 0xff, fab_n_gpus(log->f) * sizeof *out->of_gpu);
    for (uint32_t i = 0; i < widest->n; i++) {
        out->gpu[i] = log->members[widest->first + i].gpu;
        out->of_gpu[out->gpu[i]] = i;
    }
    return FAB_OK;
}

/* As many ranks as the dumps and their groups name. */
static uint32_t count_ranks(const fab_flight *flight) {
    uint32_t n = 0;
    for (size_t i = 0; i < flight->n_members; i++) {
        n = flight->members[i] >= n ? flight->members[i] + 1 : n;
    }
    for (size_t i = 0; i < flight->n_ranks; i++) {
        n = flight->ranks[i] >= n ? flight->ranks[i] + 1 : n;
    }
    return n;
}

static fab_status assume_places(const flight_reader *r, const char *path, fab_error *err) {
    fab_ranks *out = &r->traffic->logged;
    uint32_t n = count_ranks(r->flight);
    FAB_REFUSE_IF(n > fab_n_gpus(r->f), err, FAB_EINPUT, path,
                  "the dumps are of %" PRIu32 " ranks, and the fabric has %u GPUs", n, fab_n_gpus(r->f));
    FAB_PASS(FAB_NEW(out->gpu, n, err));
    FAB_PASS(FAB_NEW(out->of_gpu, fab_n_gpus(r->f), err));
    out->n = n;
    out->is_assumed = true;
    FAB_FILL(out->of_gpu, fab_n_gpus(r->f), fab_at < n ? (uint32_t)fab_at : FAB_NONE);
    FAB_FILL(out->gpu, n, (uint32_t)fab_at);
    return FAB_OK;
}

/* --- what moves --------------------------------------------------------------------------------------------------- */

FAB_ORDER_KEYS(kind_order, flight_kind, FAB_ORDER(a->group, b->group), FAB_ORDER(a->operation, b->operation),
               FAB_ORDER(a->from, b->from), FAB_ORDER(a->to, b->to));

/* Collectives as the lowest rank of a group has them, sends as each has them; equal ones together. */
static fab_status flight_list_kinds(flight_reader *r, fab_error *err) {
    const fab_flight *f = r->flight;
    size_t n = 0;
    FAB_OWNED_NEW(uint32_t, teller, f->n_groups, err); /* [groups] */
    memset(teller, 0xff, f->n_groups * sizeof *teller);
    FAB_EACH(const fab_flight_entry, e, f->entries, f->n_entries) {
        teller[e->group] = e->rank < teller[e->group] ? e->rank : teller[e->group];
    }
    FAB_EACH(const fab_flight_entry, e, f->entries, f->n_entries) {
        const fab_flight_group *g = &f->groups[e->group];
        flight_kind made = {
            .group = e->group, .from = FAB_NONE, .to = FAB_NONE, .operation = e->operation, .executions = 1};
        if (e->operation == FAB_FLIGHT_SEND && e->peer < g->n) {
            made.to = e->peer;
            for (made.from = 0; made.from < g->n && f->members[g->first + made.from] != e->rank; made.from++) {
            }
        } else if (e->rank != teller[e->group] || e->operation >= FAB_FLIGHT_SEND || g->n < 2) {
            r->n_other += e->operation == FAB_FLIGHT_OTHER && e->bytes > 0 && e->rank == teller[e->group];
            continue;
        }
        made.bytes = e->bytes;
        FAB_PASS(FAB_APPEND(r->kinds, r->n_kinds, r->kind_capacity, err, made));
    }
    FAB_SORT(r->kinds, r->n_kinds, kind_order);
    for (size_t i = 0; i < r->n_kinds; i++) {
        if (n > 0 && kind_order(&r->kinds[n - 1], &r->kinds[i]) == 0) {
            r->kinds[n - 1].executions++;
            r->kinds[n - 1].bytes += r->kinds[i].bytes;
        } else {
            r->kinds[n++] = r->kinds[i];
        }
    }
    r->n_kinds = n;
    return FAB_OK;
}

static bool goes_with(const flight_reader *r, const flight_kind *a, const flight_kind *b) {
    const fab_flight_group *g = &r->flight->groups[a->group];
    const fab_flight_group *h = &r->flight->groups[b->group];
    return a->from == FAB_NONE && b->from == FAB_NONE && a->operation == b->operation && g->n == h->n &&
           strcmp(g->about, h->about) == 0;
}

/* "mesh-dp-all-reduce"; with -2, -3 where groups of another size are called the same. */
static void name_phase(const flight_reader *r, const flight_kind *kind, char *out) {
    size_t n_same = 1;
    char base[FAB_NAME_SIZE];
    FAB_FORMAT(base, "%.40s-%s", r->flight->groups[kind->group].about,
               fab_operation_name((fab_operation)kind->operation));
    (void)snprintf(out, FAB_NAME_SIZE, "%s", base);
    for (size_t i = 0; i < r->traffic->n_phases; i++) {
        if (strcmp(r->traffic->phases[i].name, out) == 0) {
            (void)snprintf(out, FAB_NAME_SIZE, "%.50s-%zu", base, ++n_same);
            i = SIZE_MAX; /* from the first one again */
        }
    }
}

/* All groups of the kind at `first` that have its name and size, in one phase. */
static fab_status put_collective(flight_reader *r, size_t first, fab_error *err) {
    const fab_flight *f = r->flight;
    uint32_t n = f->groups[r->kinds[first].group].n;
    char name[FAB_NAME_SIZE];
    fab_collective_set set = {.where = "flight recorders",
                              .fabric = r->f,
                              .operation = (fab_operation)r->kinds[first].operation,
                              .name = name,
                              .r = n};
    for (size_t i = first; i < r->n_kinds; i++) {
        set.n_comms += goes_with(r, &r->kinds[first], &r->kinds[i]);
    }
    FAB_OWNED_NEW(uint32_t, members, (size_t)n * set.n_comms, err);
    FAB_OWNED_NEW(double, bytes, set.n_comms, err);
    uint32_t comm = 0;
    for (size_t i = first; i < r->n_kinds; i++) {
        const flight_kind *k = &r->kinds[i];
        if (!goes_with(r, &r->kinds[first], k)) {
            continue;
        }
        for (uint32_t m = 0; m < n; m++) {
            members[(size_t)comm * n + m] = r->traffic->logged.gpu[f->members[f->groups[k->group].first + m]];
        }
        r->is_put[i] = true;
        bytes[comm++] = k->bytes;
        set.executions = k->executions > set.executions ? k->executions : set.executions;
    }
    name_phase(r, &r->kinds[first], name);
    set.members = members;
    set.bytes = bytes;
    return fab_collective_add(
        &set, fab_algorithm_find(set.operation, set.operation == FAB_ALL_TO_ALL ? "mesh" : "ring"), r->traffic, err);
}

static fab_status put_sends(flight_reader *r, fab_error *err) {
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder builder = {.capacity = 0};
    const uint32_t *gpu = r->traffic->logged.gpu;
    FAB_PASS(fab_phase_open(&builder, "send", "send-recv", r->n_kinds + 1, err));
    FAB_EACH(const flight_kind, k, r->kinds, r->n_kinds) {
        const uint32_t *members = r->flight->members + r->flight->groups[k->group].first;
        if (k->from != FAB_NONE && k->from < r->flight->groups[k->group].n && members[k->from] != members[k->to]) {
            fab_phase_add(&builder, gpu[members[k->from]], gpu[members[k->to]], (uint64_t)(k->bytes + 0.5), 0);
        }
    }
    if (builder.phase.n_flows > 0) {
        FAB_PASS(fab_phase_sort(&builder.phase, fab_n_gpus(r->f), err));
        FAB_PASS(fab_traffic_reserve(r->traffic, 1, err));
        fab_traffic_take(r->traffic, &builder);
    }
    return FAB_OK;
}

static fab_status put_all(flight_reader *r, const char *path, fab_error *err) {
    for (size_t i = 0; i < r->n_kinds; i++) {
        if (r->kinds[i].from == FAB_NONE && !r->is_put[i] && r->kinds[i].bytes >= 1) {
            FAB_PASS(put_collective(r, i, err));
        }
    }
    FAB_PASS(put_sends(r, err));
    return r->traffic->n_phases > 0 ? FAB_OK
                                    : fab_fail(err, FAB_EINPUT, path, "nothing moves between the ranks of these dumps");
}

/* Bytes that go over every edge of the rings of these GPUs, a communicator of the log. */
static double flight_edge_bytes(void *context, const fab_nccl_member *members, uint32_t n) {
    flight_reader *r = context;
    double sum = 0;
    for (size_t i = 0; i < r->n_kinds; i++) {
        const flight_kind *k = &r->kinds[i];
        const fab_flight_group *g = &r->flight->groups[k->group];
        double share = k->from == FAB_NONE ? fab_ring_share((fab_operation)k->operation, n) : 0;
        bool is_same = g->n == n && share > 0 && !r->is_put[i]; /* of two with the same ranks the first one's */
        for (uint32_t m = 0; is_same && m < n; m++) {
            is_same = r->traffic->logged.gpu[r->flight->members[g->first + m]] == members[m].gpu;
        }
        sum += is_same ? k->bytes * share : 0;
        r->is_put[i] = r->is_put[i] || is_same;
    }
    return sum;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static void flight_summarise(const flight_reader *r, const char *path) {
    fab_traffic *t = r->traffic;
    FAB_SUM(double, bytes, i, t->n_phases, (double)t->phases[i].total_bytes);
    FAB_FORMAT(t->summary, "flight recorders %.60s: %zu of %" PRIu32 " ranks, %zu process group%s, %s%s",
               fab_traffic_file_name(path), r->flight->n_ranks, t->logged.n, r->flight->n_groups,
               r->flight->n_groups == 1 ? "" : "s", FAB_SAY(bytes, FAB_UNIT_BYTES),
               t->logged.is_assumed ? "; assumed: rank r runs on GPU r (a log of NCCL beside the dumps says where)"
                                    : ", places and rings of ranks by the log of NCCL");
    if (r->n_other > 0) {
        size_t n = strlen(t->summary);
        (void)snprintf(t->summary + n, sizeof t->summary - n, "; %" PRIu64 " collectives of other kinds are left out",
                       r->n_other);
    }
}

fab_status fab_flight_traffic(fab_flight *flight, fab_text *log_text, const fab_fabric *fabric, fab_traffic *traffic,
                              fab_error *err) {
    FAB_OWNS(fab_nccl_log_release) fab_nccl_log log = {.in = log_text, .f = fabric};
    FAB_OWNS(flight_reader_release) flight_reader r = {.flight = flight, .f = fabric, .traffic = traffic};
    bool has_log = log_text->file.length > 0;
    if (has_log) {
        FAB_PASS(fab_nccl_log_read(&log, err));
        FAB_PASS(fab_nccl_place(&log, &traffic->logged, err));
        FAB_REFUSE_IF(traffic->logged.n != count_ranks(flight), err, FAB_EINPUT, log_text->path,
                      "the widest communicator of the log has %" PRIu32 " ranks, the dumps are of %" PRIu32,
                      traffic->logged.n, count_ranks(flight));
    } else {
        FAB_PASS(assume_places(&r, log_text->path, err));
    }
    FAB_PASS(fab_flight_find_late(flight, fabric, &traffic->logged, err));
    FAB_PASS(flight_list_kinds(&r, err));
    FAB_PASS(FAB_NEW(r.is_put, r.n_kinds, err));
    if (log.n_notes > 0) {
        FAB_PASS(fab_nccl_traffic(&log, flight_edge_bytes, &r, traffic, err));
    }
    if (log.n_calls == 0 || traffic->n_phases == 0) { /* else the log has all of it */
        FAB_PASS(put_all(&r, log_text->path, err));
        flight_summarise(&r, log_text->path);
    }
    return FAB_OK;
}
