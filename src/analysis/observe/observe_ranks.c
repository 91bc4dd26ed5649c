/* Ranks: those of a suspect by their numbers, and those that flight recorders show to be late or stuck. */
#include "observe_internal.h"

/* --- their numbers ------------------------------------------------------------------------------------------------ */

/* "8-15,40" of the GPUs [first, first + n) */
static void list_ranks(const observation *o, uint32_t first, uint32_t n, char *out, size_t size) {
    const uint32_t *logged = o->traffic->logged.of_gpu;
    const uint32_t *rank = logged != NULL ? logged : o->traffic->rank_of_gpu;
    for (uint32_t i = 0; rank != NULL && i < n;) {
        uint32_t behind = i + 1;
        if (rank[first + i] == FAB_NONE) {
            i++;
            continue;
        }
        while (behind < n && rank[first + behind] == rank[first + behind - 1] + 1) {
            behind++;
        }
        fab_append(out, size, "%s%" PRIu32, out[0] != '\0' ? "," : "", rank[first + i]);
        if (behind > i + 1) {
            fab_append(out, size, "-%" PRIu32, rank[first + behind - 1]);
        }
        i = behind;
    }
}

void observe_name_ranks(const observation *o, fab_suspect *s) {
    const fab_fabric *f = o->fabric;
    if (s->ranks[0] != '\0') {
        return;
    }
    if (s->server != FAB_NONE) {
        list_ranks(o, s->server * f->gpus_per_server, f->gpus_per_server, s->ranks, sizeof s->ranks);
    } else if (s->link != FAB_NONE && observe_is_access(f, s->link)) {
        fab_node_id nic = fab_is_up(s->link) ? fab_tail(f, s->link) : fab_head(f, s->link);
        uint32_t first = observe_server(f, s->link) * f->gpus_per_server;
        for (uint32_t gpu = first; gpu < first + f->gpus_per_server; gpu++) {
            uint32_t first_nic = 0;
            uint32_t n_nics = fab_nics_of_gpu(f, gpu, &first_nic);
            uint32_t own = nic - f->first[FAB_NODE_NIC];
            if (own >= first_nic && own < first_nic + n_nics) {
                list_ranks(o, gpu, 1, s->ranks, sizeof s->ranks);
            }
        }
    }
    if (s->ranks[0] != '\0') {
        bool is_one = strpbrk(s->ranks, ",-") == NULL;
        fab_append(s->evidence, sizeof s->evidence, "; rank%s %s %s %s%s", is_one ? "" : "s", s->ranks,
                   is_one ? "runs" : "run", s->server != FAB_NONE ? "on it" : "behind it",
                   o->traffic->logged.is_assumed ? " if rank r is on GPU r" : "");
    }
}

/* --- late ranks --------------------------------------------------------------------------------------------------- */

/* From which ratio on one of `n` is late. */
static double limit_of(const double *ratio, uint32_t n, double *numbers, double *out_spread) {
    size_t n_known = 0;
    FAB_KEEP(numbers, n_known, i, n, isfinite(ratio[i]), ratio[i]);
    *out_spread = observe_spread(numbers, n_known);
    return observe_limit(*out_spread, observe_sure((uint64_t)n_known + 1));
}

static void add_rank(observation *o, uint32_t rank, double ratio, double spread) {
    const fab_ranks *r = &o->traffic->logged;
    const fab_fabric *f = o->fabric;
    char server[FAB_NODE_NAME_SIZE];
    fab_suspect *s = observe_add(o, FAB_SUSPECT_RANK);
    if (s == NULL) {
        return;
    }
    s->server = fab_server_of(f, r->gpu[rank]);
    s->deviation = -ratio;
    s->score = ratio / fmax(spread, FAB_OBSERVE_LEAST / 8);
    FAB_FORMAT(s->ranks, "%" PRIu32, rank);
    FAB_FORMAT(s->name, "rank %" PRIu32 " (GPU %" PRIu32 " of %.80s%s)", rank, r->gpu[rank] % f->gpus_per_server,
               fab_server_name(f, s->server, server), r->is_assumed ? ", assumed" : "");
    fab_append(s->evidence, sizeof s->evidence,
               "flight recorders: others of its groups wait %.2f %% of the time for it, %.3g ms in a collective (%.1f "
               "times what ranks spread by)",
               100 * ratio, 1e3 * r->late_s[rank], s->score);
}

/* A host that counters have found is told once. */
static void add_late_server(observation *o, uint32_t server, double ratio, double spread) {
    fab_suspect *s = NULL;
    for (uint32_t i = 0; i < o->out->n_suspects; i++) {
        if (o->out->suspects[i].kind == FAB_SUSPECT_HOST && o->out->suspects[i].server == server) {
            s = &o->out->suspects[i];
        }
    }
    if (s == NULL) {
        s = observe_add(o, FAB_SUSPECT_HOST);
        if (s == NULL) {
            return;
        }
        s->server = server;
        s->deviation = -ratio;
        s->score = ratio / fmax(spread, FAB_OBSERVE_LEAST / 8);
    }
    (void)fab_server_name(o->fabric, server, s->name);
    fab_append(s->evidence, sizeof s->evidence, "%sflight recorders: others wait %.2f %% of the time for its ranks",
               s->evidence[0] != '\0' ? "; " : "", 100 * ratio);
}

/* What others wait for each server: the median over its ranks, where it has several. */
static void find_server_waits(const observation *o, double *server, double *numbers) {
    const fab_ranks *r = &o->traffic->logged;
    const fab_fabric *f = o->fabric;
    for (uint32_t v = 0; v < f->n_servers; v++) {
        size_t n = 0;
        for (uint32_t gpu = v * f->gpus_per_server; gpu < (v + 1) * f->gpus_per_server && gpu < fab_n_gpus(f); gpu++) {
            if (r->of_gpu[gpu] != FAB_NONE && isfinite(r->across_ratio[r->of_gpu[gpu]])) {
                numbers[n++] = r->across_ratio[r->of_gpu[gpu]];
            }
        }
        server[v] = n > 1 ? observe_median(numbers, n) : NAN;
    }
}

static void add_stuck(observation *o) {
    const fab_ranks *r = &o->traffic->logged;
    FAB_EACH(const fab_stuck_rank, stuck, r->stuck, r->n_stuck) {
        char server[FAB_NODE_NAME_SIZE];
        fab_suspect *s = observe_add(o, FAB_SUSPECT_STUCK);
        if (s == NULL) {
            continue;
        }
        s->server = fab_server_of(o->fabric, r->gpu[stuck->rank]);
        s->score = stuck->waiting;
        FAB_FORMAT(s->ranks, "%" PRIu32, stuck->rank);
        FAB_FORMAT(s->name, "rank %" PRIu32 " (GPU %" PRIu32 " of %.80s%s)", stuck->rank,
                   r->gpu[stuck->rank] % o->fabric->gpus_per_server, fab_server_name(o->fabric, s->server, server),
                   r->is_assumed ? ", assumed" : "");
        fab_append(s->evidence, sizeof s->evidence,
                   "flight recorders: it has not entered %s %" PRIu64 " of group %s, in which %" PRIu32 " of %" PRIu32
                   " ranks wait; or its dump was written before",
                   stuck->collective, stuck->sequence, stuck->group, stuck->waiting, stuck->members);
    }
}

fab_status observe_ranks(observation *o, fab_error *err) {
    const fab_ranks *r = &o->traffic->logged;
    const fab_fabric *f = o->fabric;
    FAB_OWNED double *server = NULL; /* [servers] */
    FAB_OWNED bool *is_told = NULL;  /* [servers]: by one of its ranks */
    double spread[2] = {0, 0};
    if (r->n_dumps == 0) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, numbers, (size_t)fab_n_gpus(f) + f->n_servers, err); /* [GPUs] */
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, server, is_told));
    const double limit[] = {limit_of(r->inside_ratio, r->n, numbers, &spread[0]),
                            limit_of(r->across_ratio, r->n, numbers, &spread[1])};
    for (uint32_t rank = 0; rank < r->n; rank++) {
        /* Peers of a late rank in other servers leave its collectives late, and are late inside their servers for
         * that; peers in its server wait for it, and are late outside. Late in both is the rank alone. */
        bool is_wide = isfinite(r->across_ratio[rank]);
        double ratio = fmin(r->inside_ratio[rank], r->across_ratio[rank]); /* fmin() passes over NAN */
        if (ratio > limit[is_wide]) {
            add_rank(o, rank, ratio, spread[is_wide]);
            is_told[fab_server_of(f, r->gpu[rank])] = true;
        }
    }
    find_server_waits(o, server, numbers);
    double least = limit_of(server, f->n_servers, numbers, &spread[0]);
    for (uint32_t v = 0; v < f->n_servers; v++) {
        if (server[v] > least && !is_told[v]) {
            add_late_server(o, v, server[v], spread[0]);
        }
    }
    add_stuck(o);
    return FAB_OK;
}
