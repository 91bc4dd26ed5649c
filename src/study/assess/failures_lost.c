/* Who is on a server that is lost, as text, and where they go. */
#include "assess_internal.h"

fab_status failures_name_ranks(const fab_fabric *f, const fab_traffic *traffic, uint32_t server, fab_lost_server *out,
                               fab_error *err) {
    size_t n = 0;
    FAB_OWNED_NEW(uint32_t, ranks, f->gpus_per_server, err);
    for (uint32_t k = 0; k < f->gpus_per_server; k++) {
        uint32_t gpu = server * f->gpus_per_server + k;
        uint32_t rank = gpu >= fab_n_gpus(f)           ? FAB_NONE
                        : traffic->rank_of_gpu != NULL ? traffic->rank_of_gpu[gpu]
                                                       : gpu;
        if (rank != FAB_NONE) {
            ranks[n++] = rank;
        }
    }
    qsort(ranks, n, sizeof *ranks, fab_order_u32);
    out->server = server;
    (void)fab_server_name(f, server, out->name);
    out->n_ranks = n;
    if (fab_write_ranges(out->ranks, sizeof out->ranks - strlen(",..."), ranks, n, ',') < n) {
        fab_append(out->ranks, sizeof out->ranks, ",...");
    }
    return FAB_OK;
}

static bool is_lost(const fab_relocation *found, uint32_t server) {
    FAB_ANY(lost, i, found->n_lost, found->lost[i] == server);
    return lost;
}

fab_status failures_copy_moves(const fab_relocation *found, fab_failed_policy *out, fab_error *err) {
    FAB_PASS(FAB_NEW(out->moves, found->n_moves, err));
    FAB_PASS(FAB_NEW(out->unplaced, found->n_unplaced, err));
    for (; out->n_moves < found->n_moves; out->n_moves++) {
        const fab_move *move = &found->moves[out->n_moves];
        out->moves[out->n_moves] = (fab_rank_move){move->from, move->to, !is_lost(found, move->from)};
    }
    for (; out->n_unplaced < found->n_unplaced; out->n_unplaced++) {
        out->unplaced[out->n_unplaced] = found->unplaced[out->n_unplaced];
    }
    return FAB_OK;
}

static const fab_failed_policy *policy_of(const fab_failed_engine *engine, const fab_policy *policies, size_t n,
                                          fab_policy policy) {
    FAB_FIRST(i, n, policies[i] == policy);
    return i < n ? &engine->policies[i] : NULL;
}

void failures_find_saving(const fab_failures *x, const fab_policy *policies, fab_failed_engine *out) {
    const fab_failed_policy *first = policy_of(out, policies, x->n_policies, FAB_POLICY_FIRST_SPARE);
    const fab_failed_policy *aware = policy_of(out, policies, x->n_policies, FAB_POLICY_COLLISION_AWARE);
    if (first == NULL || aware == NULL || !first->is_possible || !aware->is_possible || x->n_lost == 0) {
        return;
    }
    const fab_failed_phase *a = &first->state.sum;
    const fab_failed_phase *b = &aware->state.sum;
    out->has_saving = a->n_disconnected >= b->n_disconnected;
    out->saved_collisions = a->n_collisions > b->n_collisions ? a->n_collisions - b->n_collisions : 0;
    out->first_ratio = a->worst_ratio;
    out->aware_ratio = b->worst_ratio;
}

FAB_FREES_AFTER(fab_failures_free, fab_failures, x) {
    FAB_EACH(fab_failed_engine, engine, x->engines, x->n_engines) {
        for (size_t i = 0; i < x->n_policies && engine->policies != NULL; i++) {
            FAB_FREE_ALL(engine->policies[i].moves, engine->policies[i].unplaced, engine->policies[i].state.phases);
        }
        FAB_FREE_ALL(engine->healthy.phases, engine->policies);
    }
    FAB_FREE_ALL(x->residual, x->dead_node, x->failed, x->lost, x->phases, x->left_out, x->engines);
}

bool failures_move_alike(const fab_failed_policy *a, const fab_failed_policy *b) {
    bool is_same = a->is_possible == b->is_possible && a->n_moves == b->n_moves && a->n_unplaced == b->n_unplaced &&
                   (a->n_unplaced == 0 || memcmp(a->unplaced, b->unplaced, a->n_unplaced * sizeof *a->unplaced) == 0);
    for (size_t i = 0; is_same && i < a->n_moves; i++) {
        is_same = a->moves[i].from == b->moves[i].from && a->moves[i].to == b->moves[i].to;
    }
    return is_same;
}

void failures_add_phase(const fab_failed_phase *phase, fab_failed_phase *sum) {
    sum->n_disconnected += phase->n_disconnected;
    if (phase->worst_ratio > sum->worst_ratio) {
        sum->worst_ratio = phase->worst_ratio;
        memcpy(sum->worst_link, phase->worst_link, sizeof sum->worst_link);
    }
}
