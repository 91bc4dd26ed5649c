/* Phases as an evaluation sees them, and how it begins: what is left once the flows of lost servers are lifted. */
#include "relocate_views.h"

static void count_healthy(const relocate_eval *e, relocate_view *v) {
    const double *load = fab_baseline_load(v->baseline);
    uint32_t n = 0;
    const fab_link_id *link = fab_baseline_fullest(v->baseline, &n);
    for (uint32_t i = 0; i < n && load[link[i]] * e->per_bps[link[i]] > RELOCATE_COLLIDED; i++) {
        count(&v->healthy, load[link[i]] * e->per_bps[link[i]], 1);
    }
}

FAB_ORDER_KEYS(fullest_first, full_link, FAB_ORDER(b->ratio, a->ratio), FAB_ORDER(a->link, b->link));

/* Keeps the fullest of what it is offered. */
static void offer_top(relocate_view *v, full_link x) {
    if (v->n_top == FULLEST) {
        qsort(v->top, v->n_top, sizeof *v->top, fullest_first);
        v->n_top = FULLEST / 2;
    }
    v->top[v->n_top++] = x;
}

/* A link that the mask or the lift has changed: once. */
static void count_change(relocate_eval *e, relocate_view *v, fab_link_id link) {
    if (v->link_stamp[link] == v->stamp || e->per_bps[link] == 0) {
        return;
    }
    v->link_stamp[link] = v->stamp;
    double ratio = ratio_at(e, link, v->rest[link]);
    count(&v->now, fab_baseline_load(v->baseline)[link] * e->per_bps[link], -1);
    count(&v->now, ratio, 1);
    offer_top(v, (full_link){ratio, link});
}

/* Without the lost servers: what the lift has changed, and the fullest of the others. */
static void count_rest(relocate_eval *e, relocate_view *v, const fab_rerouted *out) {
    uint32_t n = 0;
    const fab_link_id *link = fab_baseline_fullest(v->baseline, &n);
    next_stamp(e, v);
    v->now = v->healthy;
    v->n_top = 0;
    for (size_t i = 0; i < out->n_changed; i++) {
        count_change(e, v, out->changed[i]);
    }
    for (uint32_t i = 0; i < e->mask->n_links; i++) {
        count_change(e, v, e->mask->link[i]);
    }
    for (uint32_t i = 0, k = 0; i < n && k < FULLEST / 2; i++) {
        if (v->link_stamp[link[i]] != v->stamp) {
            offer_top(v, (full_link){v->rest[link[i]] * e->per_bps[link[i]], link[i]});
            k++;
        }
    }
    qsort(v->top, v->n_top, sizeof *v->top, fullest_first);
    v->n_top = v->n_top < FULLEST / 2 ? v->n_top : FULLEST / 2; /* of these nothing was thrown away that is fuller */
    for (uint32_t i = 0; i < out->n_touched; i++) {
        v->now.n_cut += out->path_first[i] == out->path_first[i + 1];
    }
}

static void send_home(relocate_eval *e) {
    for (uint32_t i = 0; i < e->n_away; i++) {
        uint32_t server = e->away[i];
        e->is_away[server] = 0;
        e->is_lost[server] = 0;
        e->at[server] = server;
        for (uint32_t gpu = first_gpu(e, server); gpu < end_gpu(e, server); gpu++) {
            e->new_gpu[gpu] = gpu;
        }
    }
    e->n_away = 0;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static fab_status start_view(relocate_eval *e, relocate_view *v, size_t n_gpus, fab_error *err) {
    fab_rerouted out;
    for (size_t k = 0; k < v->n_raised; k++) {
        v->more[v->raised[k]] = 0;
        v->is_raised[v->raised[k]] = 0;
    }
    v->n_raised = 0;
    v->n_touched = 0;
    if (v->is_separable) {
        FAB_PASS(fab_reroute_lift(v->reroute, e->mask, e->gpus, n_gpus, &out, err));
        v->rest = out.load;
        count_rest(e, v, &out);
    }
    return FAB_OK;
}

fab_status relocate_eval_start(relocate_eval *e, fab_error *err) {
    const fab_relocator *r = e->r;
    size_t n = 0;
    send_home(e);
    e->allowed_s = INFINITY;
    e->mask = r->mask;
    for (uint32_t i = 0; i < r->n_lost; i++) {
        relocate_view_put(e, r->lost[i], FAB_NONE);
        e->is_lost[r->lost[i]] = 1;
        for (uint32_t gpu = first_gpu(e, r->lost[i]); gpu < end_gpu(e, r->lost[i]); gpu++) {
            if ((r->gpu[gpu] & RELOCATE_RANK) != 0) {
                e->gpus[n++] = gpu;
            }
        }
    }
    for (size_t i = 0; i < e->n_views; i++) {
        FAB_PASS(start_view(e, &e->views[i], n, err));
    }
    return FAB_OK;
}

/* Of the fullest NIC. */
static double time_of_nics(const fab_baseline_request *what) {
    FAB_MOST(double, most, nic, fab_n_of(fab_router_fabric(what->router), FAB_NODE_NIC),
             fmax(what->offer->sent[nic], what->offer->received[nic]));
    return 8 * most / what->offer->line_bps;
}

static fab_status view_init(relocate_eval *e, relocate_view *v, bool is_local, fab_error *err) {
    const size_t n_links = e->f->n_links;
    const fab_baseline_request *what = fab_baseline_what(v->baseline);
    FAB_PASS(fab_reroute_new(v->baseline, &v->reroute, err));
    v->is_separable = is_local && fab_baseline_is_separable(v->baseline);
    count_healthy(e, v);
    v->unit_s = time_of_nics(what);
    if (!v->is_separable) {
        double n_paths = (double)what->phase->n_flows * fab_router_facts_of(what->router)->paths_per_flow;
        e->work += (double)n_links + 16 * n_paths;
        e->is_separable = false;
        return FAB_OK;
    }
    e->work += 16.0 * (double)what->phase->n_flows * fab_router_facts_of(what->router)->paths_per_flow /
               (e->f->n_servers + 1.0);
    FAB_PASS(FAB_NEW_ALL(n_links, err, v->more, v->is_raised, v->link_stamp));
    return FAB_NEW(v->flow_stamp, (size_t)what->phase->n_flows, err);
}

/* Ranks move with all that share their NICs and scale-up domain. */
static bool servers_are_alike(const fab_fabric *f) {
    return fab_n_gpus(f) % f->gpus_per_server == 0 && f->gpus_per_server % f->gpus_per_domain == 0;
}

/* Whether any flow of a phase crosses the network, now or after a move. */
static bool is_seen(const fab_relocator *r, const fab_baseline *phase) {
    uint32_t n = 0;
    const fab_link_id *link = phase != NULL ? fab_baseline_fullest(phase, &n) : NULL;
    return n > 0 && (fab_baseline_load(phase)[link[0]] > 0 || !servers_are_alike(r->f));
}

static relocate_view *find_view(relocate_eval *e, const fab_baseline *phase) {
    FAB_FIRST(i, e->n_views, e->views[i].baseline == phase);
    return i < e->n_views ? &e->views[i] : NULL;
}

fab_status relocate_eval_new(const fab_relocator *r, relocate_eval **out, fab_error *err) {
    const fab_fabric *f = r->f;
    FAB_OWNS_NEW(relocate_eval_free_owned, relocate_eval, e, 1, err);
    e->r = r;
    e->f = f;
    e->is_separable = true;
    FAB_PASS(FAB_NEW(e->per_bps, f->n_links, err));
    FAB_PASS(FAB_NEW_ALL(f->n_servers, err, e->at, e->away, e->is_away, e->is_lost, e->kept_at));
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, e->new_gpu, e->still_gpu, e->gpus));
    FAB_PASS(FAB_NEW(e->views, r->request.n_phases, err));
    for (fab_link_id link = 0; link < f->n_links; link++) {
        const fab_link_class *about = fab_class_of(f, link);
        bool counts = about->kind == FAB_LINK_ACCESS || about->kind == FAB_LINK_FABRIC;
        e->per_bps[link] = counts ? 1 / about->capacity_bps : 0;
    }
    FAB_FILL(e->at, f->n_servers, (uint32_t)fab_at);
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        e->new_gpu[gpu] = e->still_gpu[gpu] = gpu;
    }
    for (size_t p = 0; p < r->request.n_phases; p++) {
        relocate_view *known = find_view(e, r->request.phases[p]);
        if (known != NULL) {
            known->weight++;
        } else if (is_seen(r, r->request.phases[p])) {
            relocate_view *v = &e->views[e->n_views++];
            v->weight = 1;
            v->baseline = r->request.phases[p];
            FAB_PASS(view_init(e, v, servers_are_alike(f), err));
        }
    }
    return FAB_GIVE(*out, e);
}

FAB_FREES_AFTER(relocate_eval_free, relocate_eval, e) {
    FAB_EACH(relocate_view, v, e->views, e->n_views) {
        fab_reroute_free(v->reroute);
        FAB_FREE_ALL(v->more, v->is_raised, v->raised, v->link_stamp, v->touched, v->before, v->flow_stamp);
    }
    FAB_FREE_ALL(e->views, e->per_bps, e->at, e->new_gpu, e->still_gpu, e->gpus, e->away, e->is_away, e->is_lost,
                 e->flow, e->kept_at);
}
