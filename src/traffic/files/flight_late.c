/*
 * Who is late, from dumps of flight recorders. Ranks of a collective leave it together, so that who was in it for the
 * shortest time has entered it last: times within one rank are compared and no clocks. A rank may be late because
 * another of its server keeps it waiting; groups within a server tell who of them it is.
 */
#include "flight.h"

#include "fab/collective.h"

#define FEWEST 3 /* collectives of a group that say something of a rank */

/* How much later than the others one rank has entered one collective. */
typedef struct lateness {
    uint32_t rank, group;
    double s;
} lateness;

typedef struct late_reader {
    fab_flight *flight;
    const fab_fabric *fabric;
    fab_ranks *ranks;
    uint8_t *is_wide; /* [groups]: of several servers */
    double *span_s;   /* [ranks]: from its first entry to its last */
    double *times;    /* [2 * entries of a collective] */
    lateness *all;
    size_t n, times_capacity, all_capacity, stuck_capacity;
} late_reader;
FAB_FREES(late_reader_release, late_reader, is_wide, span_s, times, all);

static bool may_wait(const fab_flight_entry *e) {
    return !e->is_peer_to_peer && e->operation != FAB_FLIGHT_SEND;
}

/* Time in the collective: by events of the GPU, else as the watchdog has seen start and end, else from its creation. */
static double time_within(const fab_flight_entry *e, int source) {
    return source == 0 ? e->duration_s : source == 1 ? e->done_s - e->started_s : e->done_s - e->created_s;
}

/* Entries [first, first + n) of one collective. */
static fab_status compare_entries(late_reader *r, const fab_flight_entry *e, size_t n, fab_error *err) {
    int source = 0;
    if (n < 2 || !may_wait(e)) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(r->times, r->times_capacity, 2 * n, err));
    double *own = r->times;
    double *sorted = r->times + n;
    for (; source < 3; source++) {
        size_t known = 0;
        for (; known < n; known++) {
            own[known] = time_within(&e[known], source);
            if (!e[known].is_done || !(own[known] >= 0)) {
                break;
            }
        }
        if (known == n) {
            break;
        }
    }
    if (source == 3) {
        return FAB_OK;
    }
    memcpy(sorted, own, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, fab_order_double);
    FAB_PASS(FAB_GROW(r->all, r->all_capacity, r->n + n, err));
    for (size_t i = 0; i < n; i++) {
        /* the median of the others: ranks above and below its own place */
        size_t m = n - 1;
        bool is_low = own[i] <= sorted[m / 2];
        bool is_high = own[i] > sorted[(m - 1) / 2];
        double upper = sorted[m / 2 + (is_low ? 1 : 0)];
        double lower = sorted[(m - 1) / 2 + (is_high ? 0 : 1)];
        r->all[r->n++] = (lateness){.rank = e[i].rank, .group = e[i].group, .s = (upper + lower) / 2 - own[i]};
    }
    return FAB_OK;
}

FAB_ORDER_THREE(lateness_order, lateness, rank, group, s);

/* Of every rank what it is late by in the group where that is most, of either kind. */
static void sum_up(late_reader *r) {
    FAB_SORT(r->all, r->n, lateness_order);
    for (size_t first = 0, behind = 0; first < r->n; first = behind) {
        const lateness *l = &r->all[first];
        double sum = 0;
        for (behind = first; behind < r->n && r->all[behind].rank == l->rank && r->all[behind].group == l->group;
             behind++) {
            sum += r->all[behind].s;
        }
        double *most = (r->is_wide[l->group] ? r->ranks->across_ratio : r->ranks->inside_ratio) + l->rank;
        double ratio = sum / r->span_s[l->rank];
        if (behind - first >= FEWEST && isfinite(ratio) && !(*most >= ratio)) {
            bool is_most = !(fmax(r->ranks->across_ratio[l->rank], r->ranks->inside_ratio[l->rank]) > ratio);
            *most = ratio;
            r->ranks->late_s[l->rank] = is_most ? sum / (double)(behind - first) : r->ranks->late_s[l->rank];
        }
    }
}

static fab_status measure_spans(late_reader *r, fab_error *err) {
    FAB_OWNED_NEW(double, first, r->ranks->n, err);
    for (uint32_t i = 0; i < r->ranks->n; i++) {
        first[i] = r->span_s[i] = NAN;
    }
    FAB_EACH(const fab_flight_entry, e, r->flight->entries, r->flight->n_entries) {
        first[e->rank] = fmin(first[e->rank], e->created_s); /* fmin() and fmax() pass over NAN */
        r->span_s[e->rank] = fmax(r->span_s[e->rank], fmax(e->created_s, e->done_s));
    }
    for (uint32_t i = 0; i < r->ranks->n; i++) {
        r->span_s[i] -= first[i];
    }
    return FAB_OK;
}

/* --- stuck -------------------------------------------------------------------------------------------------------- */

/* The last collective of a group that some rank waits in: members whose recorder has nothing of it yet. */
static fab_status find_stuck(late_reader *r, const fab_flight_entry *e, size_t n, const uint8_t *waits,
                             const uint8_t *has_dump, uint8_t *is_in, fab_error *err) {
    const fab_flight_group *g = &r->flight->groups[e->group];
    const uint32_t *members = r->flight->members + g->first;
    size_t n_waiting = 0;
    if (!may_wait(e)) {
        return FAB_OK;
    }
    for (size_t i = 0; i < n; i++) {
        n_waiting += e[i].is_done ? 0 : 1;
        is_in[e[i].rank] = 1;
    }
    for (uint32_t i = 0; i < g->n && n_waiting > 0; i++) {
        /* one that waits elsewhere is kept by others itself */
        if (has_dump[members[i]] && !is_in[members[i]] && !waits[members[i]]) {
            fab_stuck_rank made = {
                .rank = members[i], .waiting = (uint32_t)n, .members = g->n, .sequence = e->sequence};
            FAB_FORMAT(made.collective, "%.60s",
                       e->operation < FAB_N_OPERATIONS ? fab_operation_name((fab_operation)e->operation)
                                                       : "collective");
            FAB_FORMAT(made.group, "%.30s %.30s", g->name, g->about);
            FAB_PASS(FAB_APPEND(r->ranks->stuck, r->ranks->n_stuck, r->stuck_capacity, err, made));
        }
    }
    for (size_t i = 0; i < n; i++) {
        is_in[e[i].rank] = 0;
    }
    return FAB_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static fab_status each_collective(late_reader *r, fab_error *err) {
    const fab_flight *f = r->flight;
    FAB_OWNED_NEW(uint8_t, waits, r->ranks->n, err);
    FAB_OWNED_NEW(uint8_t, has_dump, r->ranks->n, err);
    FAB_OWNED_NEW(uint8_t, is_in, r->ranks->n, err);
    for (size_t i = 0; i < f->n_ranks; i++) {
        has_dump[f->ranks[i]] = 1;
    }
    for (size_t i = 0; i < f->n_entries; i++) {
        waits[f->entries[i].rank] |= !f->entries[i].is_done;
    }
    for (size_t first = 0, behind = 0; first < f->n_entries; first = behind) {
        const fab_flight_entry *e = &f->entries[first];
        for (behind = first;
             behind < f->n_entries && f->entries[behind].group == e->group &&
             f->entries[behind].is_peer_to_peer == e->is_peer_to_peer && f->entries[behind].sequence == e->sequence;
             behind++) {
        }
        FAB_PASS(compare_entries(r, e, behind - first, err));
        FAB_PASS(find_stuck(r, e, behind - first, waits, has_dump, is_in, err));
    }
    return FAB_OK;
}

fab_status fab_flight_find_late(fab_flight *flight, const fab_fabric *fabric, fab_ranks *ranks, fab_error *err) {
    FAB_OWNS(late_reader_release) late_reader r = {.flight = flight, .fabric = fabric, .ranks = ranks};
    FAB_PASS(FAB_NEW(r.is_wide, flight->n_groups, err));
    FAB_PASS(FAB_NEW_ALL(ranks->n, err, r.span_s, ranks->inside_ratio, ranks->across_ratio, ranks->late_s));
    for (uint32_t i = 0; i < ranks->n; i++) {
        ranks->inside_ratio[i] = ranks->across_ratio[i] = ranks->late_s[i] = NAN;
    }
    for (size_t g = 0; g < flight->n_groups; g++) {
        const uint32_t *members = flight->members + flight->groups[g].first;
        for (uint32_t i = 1; i < flight->groups[g].n; i++) {
            r.is_wide[g] |=
                fab_server_of(fabric, ranks->gpu[members[i]]) != fab_server_of(fabric, ranks->gpu[members[0]]);
        }
    }
    ranks->n_dumps = (uint32_t)flight->n_ranks;
    fab_flight_sort(flight);
    FAB_PASS(measure_spans(&r, err));
    FAB_PASS(each_collective(&r, err));
    sum_up(&r);
    return FAB_OK;
}
