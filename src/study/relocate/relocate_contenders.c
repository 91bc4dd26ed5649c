/* Who talks to whom, and who shares links that collide with whom. */
#include "relocate_views.h"

static uint32_t server_of(const relocate_eval *e, uint32_t gpu) {
    return fab_server_of(e->f, gpu);
}

bool relocate_eval_talk(const relocate_eval *e, uint32_t a, uint32_t b) {
    FAB_EACH(const relocate_view, v, e->views, e->n_views) {
        const fab_phase *phase = fab_baseline_what(v->baseline)->phase;
        for (uint32_t gpu = first_gpu(e, a); gpu < end_gpu(e, a); gpu++) {
            size_t n = 0;
            const uint32_t *flow = fab_baseline_flows_of(v->baseline, gpu, &n);
            for (size_t k = 0; k < n; k++) {
                fab_flow about = fab_phase_flow(phase, flow[k]);
                if (server_of(e, about.src) == b || server_of(e, about.dst) == b) {
                    return true;
                }
            }
        }
    }
    return false;
}

fab_status relocate_eval_between(relocate_eval *e, const relocate_change *changes, bool *is_cut, relocate_look *look,
                                 void *context, fab_error *err) {
    fab_status status = FAB_OK;
    *is_cut = false;
    for (size_t i = 0; i < 2; i++) {
        e->kept_at[i] = e->at[changes[i].server];
        relocate_view_put(e, changes[i].server, changes[i].to);
    }
    for (size_t i = 0; i < e->n_views; i++) {
        relocate_view *v = &e->views[i];
        const fab_phase *phase = fab_baseline_what(v->baseline)->phase;
        size_t n_flows = 0;
        size_t n = 0;
        next_stamp(e, v);
        v->n_touched = 0;
        v->kept = v->now;
        FAB_TRY(relocate_view_list(e, v, changes, 1, &n_flows, err));
        for (size_t k = 0; k < n_flows; k++) {
            fab_flow about = fab_phase_flow(phase, e->flow[k]);
            if (server_of(e, about.src) == changes[1].server || server_of(e, about.dst) == changes[1].server) {
                e->flow[n++] = e->flow[k];
            }
        }
        FAB_TRY(relocate_view_shift(e, v, n, 1, err));
        *is_cut = *is_cut || v->now.n_cut > v->kept.n_cut;
        for (size_t k = 0; k < v->n_touched; k++) {
            look(context, i, v->touched[k], v->more[v->touched[k]] - v->before[k]);
        }
    }
done:
    relocate_view_undo(e, changes, 2);
    return status;
}

static void count_contender(const relocate_eval *e, uint32_t gpu, uint32_t *n_shared_paths) {
    uint32_t server = server_of(e, gpu);
    n_shared_paths[server] += e->is_lost[server] == 0 && (e->r->gpu[gpu] & RELOCATE_RANK) != 0;
}

static void count_contenders(const relocate_eval *e, const relocate_view *v, const uint8_t *is_contended,
                             uint32_t *n_shared_paths) {
    const fab_routes *routes = fab_baseline_routes(v->baseline);
    const fab_phase *phase = fab_baseline_what(v->baseline)->phase;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t n = 0;
        for (uint32_t path = routes->flow_first[i]; path < routes->flow_first[i + 1]; path++) {
            FAB_ANY_IN(shares, k, routes->path_first[path], routes->path_first[path + 1],
                       is_contended[routes->link[k]] != 0);
            n += shares;
        }
        if (n > 0) {
            fab_flow flow = fab_phase_flow(phase, i);
            count_contender(e, flow.src, n_shared_paths);
            count_contender(e, flow.dst, n_shared_paths);
        }
    }
}

fab_status relocate_eval_contend(const relocate_eval *e, uint32_t *n_shared_paths, fab_error *err) {
    memset(n_shared_paths, 0, e->f->n_servers * sizeof *n_shared_paths);
    FAB_OWNED_NEW(uint8_t, is_contended, e->f->n_links, err);
    for (size_t i = 0; i < e->n_views && e->is_separable; i++) {
        const relocate_view *v = &e->views[i];
        uint32_t n = 0;
        for (size_t k = 0; k < v->n_raised; k++) {
            fab_link_id link = v->raised[k];
            is_contended[link] =
                v->more[link] > 0 && ratio_at(e, link, relocate_view_load(v, link)) > RELOCATE_COLLIDED;
            n += is_contended[link];
        }
        if (n > 0) {
            count_contenders(e, v, is_contended, n_shared_paths);
        }
        for (size_t k = 0; k < v->n_raised; k++) {
            is_contended[v->raised[k]] = 0;
        }
    }
    for (uint32_t server = 0; server < e->f->n_servers && !e->is_separable; server++) {
        n_shared_paths[server] = e->r->is_working[server] != 0 && e->is_lost[server] == 0;
    }
    return FAB_OK;
}
