/* Routes and loads under a mask.
 *
 * Who is touched follows from what switches have lost. A path over a dead link is. Where hashing goes by what is left
 * of a group, so are all paths through a group that has lost a member: those over the links of the group towards the
 * leaves concerned, or, where the switches are no transit, all paths to the leaf, which begin there. Paths that are
 * looked at for nothing keep their route. */
#include "baseline.h"

fab_status fab_reroute_new(const fab_baseline *b, fab_reroute **out, fab_error *err) {
    size_t n_links = b->fabric->n_links;
    size_t n_words = ((size_t)b->router->next_hops->n_leaves + 63) / 64;
    FAB_OWNS_NEW(fab_reroute_free_owned, fab_reroute, r, 1, err);
    r->b = b;
    r->masked = *b->router;
    r->masked.healthy = b->router->healthy != NULL ? b->router->healthy : b->router->next_hops;
    FAB_PASS(fab_masked_hops_new(b->index, &r->hops, err));
    FAB_PASS(FAB_NEW(r->walkers, FAB_REROUTE_PATHS, err));
    FAB_PASS(FAB_NEW(r->load, n_links + 1, err));
    FAB_PASS(FAB_NEW(r->flow_stamp, b->n_flows, err));
    FAB_PASS(FAB_NEW(r->from, b->n_paths, err));
    FAB_PASS(FAB_GROW(r->path, r->path_capacity, (size_t)b->n_paths + 1, err));
    FAB_PASS(FAB_GROW(r->path_first, r->first_capacity, (size_t)b->n_paths + 1, err));
    FAB_PASS(FAB_NEW(r->disconnected, b->n_flows, err));
    FAB_PASS(FAB_NEW_ALL(n_words, err, r->changed_leaf, r->whole_leaf));
    r->is_dirty = true;
    return FAB_GIVE(*out, r);
}

FAB_FREES_AFTER(fab_reroute_free, fab_reroute, r) {
    fab_masked_hops_free(r->hops);
    fab_routes_release(&r->routes);
    FAB_FREE_ALL(r->walkers, r->aside, r->load, r->flow_stamp, r->path, r->from, r->path_first, r->link, r->swap,
                 r->swap_bps, r->changed, r->disconnected, r->changed_leaf, r->whole_leaf);
    fab_migration_free(r->migration);
}

static double ratio_of(const fab_reroute *r, fab_link_id link) {
    double residual = r->mask->residual[link];
    return residual > 0 ? r->load[link] * fab_per_bps(r->b, link) / residual : 0;
}

/* Of those that were not added to: no fuller than before, so that the fullest of before come first. */
static void find_worst(fab_reroute *r, bool in_full) {
    const fab_baseline *b = r->b;
    for (uint32_t i = 0; i < r->mask->n_links; i++) {
        if (fab_per_bps(b, r->mask->link[i]) > 0) {
            fab_reroute_consider(r, r->mask->link[i], ratio_of(r, r->mask->link[i]));
        }
    }
    for (uint32_t i = 0; i < b->n_order; i++) {
        fab_link_id link = b->order[i];
        if (!in_full && b->order_ratio[i] < r->worst_ratio) {
            return;
        }
        fab_reroute_consider(r, link, ratio_of(r, link));
        if (!in_full && r->load[link] == b->load[link] && r->mask->residual[link] == 1) {
            return; /* all behind it are no fuller */
        }
    }
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static void reroute_restore(fab_reroute *r) {
    const fab_baseline *b = r->b;
    if (r->is_dirty) {
        memcpy(r->load, b->load, b->fabric->n_links * sizeof *r->load);
        memset(r->from, FAB_UNTOUCHED, b->n_paths);
    } else {
        fab_reroute_restore(r);
    }
    if (++r->stamp == 0) { /* after 2^32 calls */
        memset(r->flow_stamp, 0, b->n_flows * sizeof *r->flow_stamp);
        r->stamp = 1;
    }
    r->what = b->request;
    r->part = b->part;
    r->flow_first = b->routes.flow_first;
    r->n_touched = 0;
    r->n_moved = 0;
    r->n_changed = 0;
    r->n_swaps = 0;
    r->has_halves = false;
    r->goes_reverse = b->is_exact;
    r->asks_any_leaf = fab_n_ways(b->router) > 1; /* where a GPU may turn to another plane or NIC */
    r->worst_ratio = -1;
    r->worst_link = FAB_NONE;
    r->n_disconnected = 0;
    r->lost_bps = 0;
    r->path_first[0] = 0;
    r->cuts_segments = false;
}

static void fetch_records(const fab_reroute *r, uint32_t first) {
    for (uint32_t i = first; i < r->n_touched && i < first + FAB_REROUTE_PATHS; i++) {
        __builtin_prefetch(&r->b->record[r->path[i]]);
    }
}

static fab_status route_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    const fab_router *router = r->b->router;
    const bool at_once = on_loss != FAB_LOSS_NONE && router->is_modulo_healthy && r->b->has_few_values &&
                         (!router->resilient || r->masked.healthy == router->next_hops);
    size_t n = 0;
    fetch_records(r, 0);
    for (uint32_t i = 0; i < r->n_touched; i += FAB_REROUTE_PATHS) {
        uint32_t residual = r->n_touched - i;
        uint32_t count = residual < FAB_REROUTE_PATHS ? residual : FAB_REROUTE_PATHS;
        fetch_records(r, i + FAB_REROUTE_PATHS);
        FAB_PASS(at_once ? fab_reroute_paths(r, r->path + i, count, &n, r->path_first + i, err) : FAB_OK);
        for (uint32_t k = i; k < i + count && !at_once; k++) {
            uint32_t from = 0;
            (void)fab_reroute_take(r, r->path[k], &from);
            r->path_first[k] = n;
            FAB_PASS(on_loss != FAB_LOSS_NONE ? fab_reroute_path(r, r->path[k], from, &n, err) : FAB_OK);
            FAB_PASS(fab_reroute_shift(r, r->path[k], r->link + r->path_first[k], n - r->path_first[k], err));
        }
        r->path_first[i + count] = n;
    }
    return fab_reroute_move(r, err);
}

fab_status fab_reroute_begin(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_reroute_plan *out,
                             fab_error *err) {
    const fab_baseline *b = r->b;
    fab_reroute_plan plan = {.on_loss = when == FAB_WHEN_FAILED ? FAB_LOSS_NONE : b->on_loss};
    reroute_restore(r);
    r->is_dirty = true; /* until all has gone well */
    r->mask = mask;
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        plan.any_dead = plan.any_dead || mask->residual[link] == 0;
        r->cuts_segments =
            r->cuts_segments || (mask->residual[link] == 0 && fab_class_of(b->fabric, link)->kind != FAB_LINK_FABRIC);
    }
    FAB_REFUSE_IF(b->router->facts.splits && plan.on_loss == FAB_LOSS_NONE && plan.any_dead, err, FAB_EUNSUPPORTED,
                  NULL, "engine %s splits flows: what a link that dies takes along is not known",
                  b->router->engine->name);
    *out = plan;
    return FAB_OK;
}

fab_status fab_reroute_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    FAB_PASS(fab_reroute_touch(r, on_loss, err));
    return route_touched(r, on_loss, err);
}

fab_status fab_reroute_end(fab_reroute *r, fab_on_loss on_loss, bool in_full, fab_rerouted *out, fab_error *err) {
    FAB_PASS(fab_reroute_list_changed(r, err));
    find_worst(r, in_full);
    r->is_dirty = in_full;
    *out = (fab_rerouted){.on_loss = on_loss,
                          .in_full = in_full,
                          .n_touched = r->n_touched,
                          .n_moved = r->n_moved,
                          .path = r->path,
                          .path_first = r->path_first,
                          .link = r->link,
                          .n_disconnected = r->n_disconnected,
                          .disconnected = r->disconnected,
                          .lost_bps = r->lost_bps,
                          .load = r->load,
                          .n_changed = in_full ? 0 : r->n_changed,
                          .changed = r->has_halves ? r->changed : r->swap,
                          .worst_ratio = r->worst_ratio,
                          .worst_link = r->worst_link};
    return FAB_OK;
}

fab_status fab_reroute_apply(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_rerouted *out,
                             fab_error *err) {
    fab_reroute_plan plan = {0};
    FAB_PASS(fab_reroute_begin(r, mask, when, &plan, err));
    bool in_full = plan.on_loss == FAB_LOSS_RECONVERGE && plan.any_dead;
    if (in_full) {
        FAB_PASS(fab_reroute_in_full(r, err));
    } else if (plan.on_loss != FAB_LOSS_RECONVERGE) {
        FAB_PASS(fab_reroute_touched(r, plan.on_loss, err));
    }
    return fab_reroute_end(r, plan.on_loss, in_full, out, err);
}
