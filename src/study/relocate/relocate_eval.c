/* What a change of places does to the loads. */
#include "relocate_views.h"

int relocate_compare(const relocate_score *x, const relocate_score *y) {
    const int64_t by[][2] = {{x->n_cut, y->n_cut}, {x->is_late, y->is_late}, {x->n_collisions, y->n_collisions},
                             {x->worst, y->worst}, {x->excess, y->excess},   {x->n_healthy, y->n_healthy}};
    for (size_t i = 0; i < FAB_N_OF(by); i++) {
        FAB_ORDER_BY(by[i][0], by[i][1]);
    }
    return 0;
}

double relocate_view_worst(const relocate_eval *e, const relocate_view *v) {
    double worst = 0;
    for (size_t k = 0; k < v->n_raised; k++) {
        worst = fmax(worst, ratio_at(e, v->raised[k], relocate_view_load(v, v->raised[k])));
    }
    for (size_t k = 0; k < v->n_touched; k++) {
        worst = fmax(worst, ratio_at(e, v->touched[k], relocate_view_load(v, v->touched[k])));
    }
    FAB_FIRST(i, v->n_top, v->is_raised[v->top[i].link] == 0 && v->link_stamp[v->top[i].link] != v->stamp);
    if (i < v->n_top) {
        return fmax(worst, v->top[i].ratio);
    }
    for (fab_link_id link = 0; link < e->f->n_links; link++) {
        worst = fmax(worst, ratio_at(e, link, relocate_view_load(v, link)));
    }
    return worst;
}

/* --- changes, flow by flow ---------------------------------------------------------------------------------------- */

/* Flows of the servers that change, each once, whose ends are both somewhere. */
fab_status relocate_view_list(relocate_eval *e, relocate_view *v, const relocate_change *changes, size_t n,
                              size_t *out_n, fab_error *err) {
    const fab_phase *phase = fab_baseline_what(v->baseline)->phase;
    size_t n_listed = 0;
    if (++v->flow_mark == 0) { /* after 2^32 lists */
        memset(v->flow_stamp, 0, (size_t)phase->n_flows * sizeof *v->flow_stamp);
        v->flow_mark = 1;
    }
    for (size_t i = 0; i < n; i++) {
        for (uint32_t gpu = first_gpu(e, changes[i].server); gpu < end_gpu(e, changes[i].server); gpu++) {
            size_t n_flows = 0;
            const uint32_t *flow = fab_baseline_flows_of(v->baseline, gpu, &n_flows);
            FAB_PASS(FAB_GROW(e->flow, e->flow_capacity, n_listed + n_flows, err));
            for (size_t k = 0; k < n_flows && e->new_gpu[gpu] != FAB_NONE; k++) {
                fab_flow about = fab_phase_flow(phase, flow[k]);
                if (v->flow_stamp[flow[k]] != v->flow_mark && e->new_gpu[about.src] != FAB_NONE &&
                    e->new_gpu[about.dst] != FAB_NONE) {
                    v->flow_stamp[flow[k]] = v->flow_mark;
                    e->flow[n_listed++] = flow[k];
                }
            }
        }
    }
    *out_n = n_listed;
    return FAB_OK;
}

static fab_status touch(relocate_view *v, fab_link_id link, fab_error *err) {
    FAB_PASS(FAB_GROW(v->touched, v->touched_capacity, v->n_touched + 1, err));
    FAB_PASS(FAB_GROW(v->before, v->before_capacity, v->n_touched + 1, err));
    v->link_stamp[link] = v->stamp;
    v->touched[v->n_touched] = link;
    v->before[v->n_touched++] = v->more[link];
    return FAB_OK;
}

/* Puts listed flows on, or takes them off, as they are now. */
fab_status relocate_view_shift(relocate_eval *e, relocate_view *v, size_t n_flows, int sign, fab_error *err) {
    fab_walked walked;
    FAB_PASS(fab_reroute_walk(v->reroute, e->flow, n_flows, e->new_gpu, &walked, err));
    for (size_t i = 0; i < walked.n_paths; i++) {
        const double part = sign * walked.part_bps[i];
        v->now.n_cut += walked.first[i] == walked.first[i + 1] ? sign : 0;
        for (size_t k = walked.first[i]; k < walked.first[i + 1]; k++) {
            fab_link_id link = walked.link[k];
            if (e->per_bps[link] == 0) {
                continue;
            }
            FAB_PASS(v->link_stamp[link] != v->stamp ? touch(v, link, err) : FAB_OK);
            v->more[link] += part;
        }
    }
    return FAB_OK;
}

/* Flows of the servers. */
static fab_status shift(relocate_eval *e, relocate_view *v, const relocate_change *changes, size_t n, int sign,
                        fab_error *err) {
    size_t n_flows = 0;
    FAB_PASS(relocate_view_list(e, v, changes, n, &n_flows, err));
    return relocate_view_shift(e, v, n_flows, sign, err);
}

static void count_touched(relocate_eval *e, relocate_view *v) {
    for (size_t i = 0; i < v->n_touched; i++) {
        fab_link_id link = v->touched[i];
        count(&v->now, ratio_at(e, link, v->rest[link] + v->before[i]), -1);
        count(&v->now, ratio_at(e, link, relocate_view_load(v, link)), 1);
    }
}

/* --- where everybody is ------------------------------------------------------------------------------------------- */

void relocate_view_put(relocate_eval *e, uint32_t server, uint32_t to) {
    if (e->is_away[server] == 0) {
        e->is_away[server] = 1;
        e->away[e->n_away++] = server;
    }
    e->at[server] = to;
    for (uint32_t gpu = first_gpu(e, server); gpu < end_gpu(e, server); gpu++) {
        if ((e->r->gpu[gpu] & RELOCATE_RANK) != 0) {
            e->new_gpu[gpu] = to == FAB_NONE ? FAB_NONE : first_gpu(e, to) + (gpu - first_gpu(e, server));
        }
    }
}

static uint32_t count_healthy(const relocate_eval *e) {
    FAB_SUM(uint32_t, n, i, e->n_away, e->at[e->away[i]] != e->away[i] && e->is_lost[e->away[i]] == 0);
    return n;
}

void relocate_eval_list_healthy(const relocate_eval *e, fab_move *moves, size_t *n) {
    FAB_KEEP(moves, *n, server, e->f->n_servers, e->at[server] != server && e->is_lost[server] == 0,
             (fab_move){server, e->at[server]});
}

/* --- in full ------------------------------------------------------------------------------------------------------ */

static fab_status route_in_full(relocate_eval *e, relocate_view *v, tally *out, double *out_worst, fab_error *err) {
    fab_status status = FAB_OK;
    fab_rerouted r;
    size_t n = 0;
    tally t = {0};
    for (uint32_t i = 0; i < e->n_away; i++) {
        for (uint32_t gpu = first_gpu(e, e->away[i]); gpu < end_gpu(e, e->away[i]); gpu++) {
            e->still_gpu[gpu] = e->new_gpu[gpu] == FAB_NONE ? gpu : e->new_gpu[gpu];
            if (e->still_gpu[gpu] != gpu) {
                e->gpus[n++] = gpu;
            }
        }
    }
    qsort(e->gpus, n, sizeof *e->gpus, fab_order_u32);
    FAB_TRY(fab_reroute_migrated(v->reroute, e->mask, e->gpus, n, e->still_gpu, &r, err));
    t.n_cut = r.n_disconnected;
    for (fab_link_id link = 0; link < e->f->n_links; link++) {
        count(&t, ratio_at(e, link, r.load[link]), 1);
    }
    *out = t;
    *out_worst = r.worst_ratio;
done:
    for (size_t i = 0; i < n; i++) {
        e->still_gpu[e->gpus[i]] = e->gpus[i];
    }
    return status;
}

/* --- a score ------------------------------------------------------------------------------------------------------ */

static void add_score(const relocate_view *v, const tally *t, double worst, relocate_score *score) {
    double excess = t->excess * v->weight;
    int64_t steps = worst < 1e9 ? (int64_t)llround(worst / RELOCATE_STEP) : INT64_MAX;
    score->n_cut += (uint32_t)t->n_cut * v->weight;
    score->n_collisions += (uint32_t)t->n_collisions * v->weight;
    score->worst = steps > score->worst ? steps : score->worst;
    score->drain_s += v->unit_s * v->weight * fmax(worst, 1);
    score->excess += excess < 1e8 ? (int64_t)llround(excess / RELOCATE_STEP) : INT64_C(100000000000000000);
}

static fab_status eval_make(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                            fab_error *err) {
    relocate_score score = {0};
    FAB_EACH(relocate_view, v, e->views, e->n_views) {
        if (v->is_separable) {
            next_stamp(e, v);
            v->n_touched = 0;
            v->kept = v->now;
            FAB_PASS(shift(e, v, changes, n, -1, err));
        }
    }
    for (size_t i = 0; i < n; i++) {
        e->kept_at[i] = e->at[changes[i].server];
        relocate_view_put(e, changes[i].server, changes[i].to);
    }
    FAB_EACH(relocate_view, v, e->views, e->n_views) {
        if (v->is_separable) {
            FAB_PASS(shift(e, v, changes, n, 1, err));
            count_touched(e, v);
            add_score(v, &v->now, relocate_view_worst(e, v), &score);
        } else {
            tally t = {0};
            double worst = 0;
            FAB_PASS(route_in_full(e, v, &t, &worst, err));
            add_score(v, &t, worst, &score);
        }
    }
    score.n_healthy = count_healthy(e);
    score.is_late = score.drain_s > e->allowed_s * (1 + RELOCATE_STEP);
    *out = score;
    return FAB_OK;
}

void relocate_view_undo(relocate_eval *e, const relocate_change *changes, size_t n) {
    FAB_EACH(relocate_view, v, e->views, e->n_views) {
        for (size_t k = 0; k < v->n_touched; k++) {
            v->more[v->touched[k]] = v->before[k];
        }
        v->n_touched = 0;
        v->now = v->kept;
    }
    for (size_t i = n; i-- > 0;) {
        relocate_view_put(e, changes[i].server, e->kept_at[i]);
    }
}

fab_status relocate_eval_try(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             relocate_look *look, void *context, fab_error *err) {
    FAB_PASS(eval_make(e, changes, n, out, err));
    for (size_t i = 0; i < e->n_views && look != NULL; i++) {
        const relocate_view *v = &e->views[i];
        for (size_t k = 0; k < v->n_touched; k++) {
            look(context, i, v->touched[k], v->more[v->touched[k]] - v->before[k]);
        }
    }
    relocate_view_undo(e, changes, n);
    return FAB_OK;
}

fab_status relocate_eval_set(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             fab_error *err) {
    FAB_PASS(eval_make(e, changes, n, out, err));
    FAB_EACH(relocate_view, v, e->views, e->n_views) {
        FAB_PASS(FAB_GROW(v->raised, v->raised_capacity, v->n_raised + v->n_touched, err));
        for (size_t k = 0; k < v->n_touched; k++) {
            if (v->is_raised[v->touched[k]] == 0) {
                v->is_raised[v->touched[k]] = 1;
                v->raised[v->n_raised++] = v->touched[k];
            }
        }
        v->n_touched = 0;
    }
    return FAB_OK;
}

double relocate_eval_residual(const relocate_eval *e, fab_link_id link) {
    return e->per_bps[link] > 0 ? e->mask->residual[link] / e->per_bps[link] : 0;
}
