/* Routes and loads under a mask.
 *
 * Who is touched follows from what switches have lost. A path over a dead link is. Where hashing goes by what is left
 * of a group, so are all paths through a group that has lost a member: those over the links of the group towards the
 * leaves concerned, or, where the switches are no transit, all paths to the leaf, which begin there. Paths that are
 * looked at for nothing keep their route. */
#include "baseline.h"
#include "fab/memory.h"

#include <stdlib.h>
#include <string.h>

fab_status fab_reroute_new(const fab_baseline *b, fab_reroute **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_reroute *r = NULL;
    size_t n_links = b->fabric->n_links;
    size_t n_words = ((size_t)b->router->next_hops->n_leaves + 63) / 64;
    FAB_TRY(FAB_NEW(r, 1, err));
    r->b = b;
    r->masked = *b->router;
    r->masked.healthy = b->router->healthy != NULL ? b->router->healthy : b->router->next_hops;
    FAB_TRY(fab_masked_hops_new(&b->index, &r->hops, err));
    FAB_TRY(FAB_NEW(r->lanes, 1, err));
    FAB_TRY(FAB_NEW(r->load, n_links, err));
    FAB_TRY(FAB_NEW(r->path_stamp, b->n_paths, err));
    FAB_TRY(FAB_NEW(r->flow_stamp, b->n_flows, err));
    FAB_TRY(FAB_GROW(r->path, r->path_capacity, (size_t)b->n_paths + 1, err));
    FAB_TRY(FAB_GROW(r->path_first, r->first_capacity, (size_t)b->n_paths + 1, err));
    FAB_TRY(FAB_NEW(r->disconnected, b->n_flows, err));
    FAB_TRY(FAB_NEW(r->changed_leaf, n_words, err));
    FAB_TRY(FAB_NEW(r->whole_leaf, n_words, err));
    r->is_dirty = true;
    *out = r;
    r = NULL;
done:
    fab_reroute_free(r);
    return status;
}

void fab_reroute_free(fab_reroute *r) {
    if (r == NULL) {
        return;
    }
    fab_masked_hops_free(r->hops);
    fab_routes_release(&r->routes);
    free(r->lanes);
    free(r->load);
    free(r->path_stamp);
    free(r->flow_stamp);
    free(r->path);
    free(r->path_first);
    free(r->link);
    free(r->changed);
    free(r->disconnected);
    free(r->changed_leaf);
    free(r->whole_leaf);
    fab_moving_free(r->moving);
    free(r);
}

/* --- who is touched ----------------------------------------------------------------------------------------------- */

static void touch(fab_reroute *r, uint32_t path) {
    if (r->path_stamp[path] != r->stamp) {
        r->path_stamp[path] = r->stamp;
        r->path[r->n_touched++] = path;
    }
}

static void touch_link(fab_reroute *r, fab_link_id link) {
    const fab_baseline *b = r->b;
    for (size_t i = b->first[link]; i < b->first[link + 1]; i++) {
        touch(r, b->crossing[i].path);
    }
}

/* Paths through groups of a switch that have a dead member. */
static void touch_seed(fab_reroute *r, uint32_t v) {
    const fab_masked_hops *m = r->hops;
    const fab_next_hops *t = m->t;
    for (uint32_t g = t->group_first[v]; g < t->group_first[v + 1]; g++) {
        fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
        bool hit = false;
        for (uint32_t i = 0; i < list.count && !hit; i++) {
            hit = fab_mask_link_is_dead(r->mask, fab_next_hop(&list, i));
        }
        for (uint32_t i = 0; hit && i < list.count; i++) {
            touch_link(r, fab_next_hop(&list, i));
        }
    }
}

static bool has_leaf(const uint64_t *set, uint32_t leaf) {
    return (set[leaf / 64] >> (leaf % 64) & 1) != 0;
}

/* Paths to leaves that a switch has lost, if somebody begins behind it. */
static void touch_leaves(fab_reroute *r, uint32_t v) {
    const fab_baseline *b = r->b;
    const fab_masked_hops *m = r->hops;
    if (b->index.transit[v] == 0 || b->index.feeds_ends[v] == 0) {
        return;
    }
    for (uint32_t w = 0; w < m->n_words; w++) {
        uint64_t rest = m->row[(size_t)m->row_of[v] * m->n_words + w] & ~r->whole_leaf[w];
        r->whole_leaf[w] |= rest;
        for (; rest != 0; rest &= rest - 1) {
            uint32_t leaf = w * 64 + (uint32_t)__builtin_ctzll(rest);
            for (size_t i = b->to_first[leaf]; i < b->to_first[leaf + 1]; i++) {
                touch(r, b->to[i]);
            }
        }
    }
}

/* Paths through a switch on the way whose next hops have lost leaves. */
static void touch_transit(fab_reroute *r, uint32_t v) {
    const fab_baseline *b = r->b;
    const fab_masked_hops *m = r->hops;
    const uint32_t *head = m->index->head + (m->f->out_first[m->base + v] - m->first_link);
    const uint32_t n = m->f->out_first[m->base + v + 1] - m->f->out_first[m->base + v];
    uint32_t last = 0;
    uint32_t before = FAB_NONE;
    uint64_t any = 0;
    memset(r->changed_leaf, 0, m->n_words * sizeof *r->changed_leaf);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = m->row_of[head[i]];
        for (uint32_t w = 0; row != before && row != FAB_NONE && w < m->n_words; w++) {
            r->changed_leaf[w] |= m->row[(size_t)row * m->n_words + w] & ~r->whole_leaf[w];
            any |= r->changed_leaf[w];
        }
        before = row;
    }
    for (uint32_t w = 0; any != 0 && w < m->n_words; w++) {
        for (uint64_t rest = r->changed_leaf[w]; rest != 0; rest &= rest - 1) {
            uint32_t leaf = w * 64 + (uint32_t)__builtin_ctzll(rest);
            uint32_t group = fab_next_hops_group(m->t, v, leaf);
            if (group == 0 || group == last) {
                continue;
            }
            last = group;
            fab_next_hop_list list = fab_next_hops_get(m->t, v, leaf);
            for (uint32_t k = 0; k < list.count; k++) {
                fab_link_id link = fab_next_hop(&list, k);
                for (size_t i = b->first[link]; i < b->first[link + 1]; i++) {
                    if (has_leaf(r->changed_leaf, b->crossing[i].column)) {
                        touch(r, b->crossing[i].path);
                    }
                }
            }
        }
    }
}

static void collect(fab_reroute *r, fab_on_loss on_loss) {
    const fab_masked_hops *m = r->hops;
    for (uint32_t i = 0; i < r->mask->n_links; i++) {
        if (r->mask->left[r->mask->link[i]] == 0) {
            touch_link(r, r->mask->link[i]);
        }
    }
    if (on_loss == FAB_LOSS_NONE || on_loss == FAB_LOSS_RESILIENT) {
        return;
    }
    memset(r->whole_leaf, 0, m->n_words * sizeof *r->whole_leaf);
    for (uint32_t i = 0; i < m->n_seeds; i++) {
        touch_seed(r, m->touched[i]);
    }
    for (uint32_t i = 0; i < m->n_lost; i++) {
        touch_leaves(r, m->lost[i]);
    }
    for (uint32_t i = 0; i < m->n_touched; i++) {
        if (r->b->index.transit[m->touched[i]] != 0) {
            touch_transit(r, m->touched[i]);
        }
    }
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

void fab_reroute_lose(fab_reroute *r, uint32_t flow, double part_bps) {
    r->lost_bps += part_bps;
    if (r->flow_stamp[flow] != r->stamp) {
        r->flow_stamp[flow] = r->stamp;
        r->disconnected[r->n_disconnected++] = flow;
    }
}

static double ratio_of(const fab_reroute *r, fab_link_id link) {
    double left = r->mask->left[link];
    return left > 0 ? r->load[link] * r->b->per_bps[link] / left : 0;
}

/* What a path and its route have in common stays: the part before the switches and the part behind, mostly. */
typedef struct stretch {
    const fab_link_id *from, *to;
    uint32_t n_from, n_to;
    double part;
} stretch;

static inline stretch stretch_of(const fab_reroute *r, uint32_t i) {
    const fab_trip *trip = &r->b->trip[r->path[i]];
    stretch s = {.from = r->b->routes.link + trip->first,
                 .to = r->link + r->path_first[i],
                 .n_from = trip->n,
                 .n_to = (uint32_t)(r->path_first[i + 1] - r->path_first[i]),
                 .part = r->b->part[trip->flow]};
    if (s.n_to > 0 && trip->column != FAB_NONE && s.from[trip->n_head - 1] == s.to[trip->n_head - 1]) {
        s.from += trip->n_head;
        s.to += trip->n_head;
        s.n_from -= trip->n_head + trip->n_tail;
        s.n_to -= trip->n_head + trip->n_tail;
    }
    return s;
}

static bool is_same(const stretch *s) {
    uint32_t differ = s->n_from ^ s->n_to;
    for (uint32_t k = 0; differ == 0 && k < s->n_from; k++) {
        differ = s->from[k] ^ s->to[k];
    }
    return differ == 0;
}

/* Old routes are taken off first: then a load that is being added to only grows, and the last value of the fullest link
 * is the largest ever seen. Leaves out links that are slow, which are few. */
static fab_status move_loads(fab_reroute *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    double *load = r->load;
    size_t n = r->n_changed; /* some are off already */
    for (uint32_t i = 0; i < r->n_touched; i++) {
        stretch s = stretch_of(r, i);
        if (is_same(&s)) {
            continue;
        }
        FAB_TRY(FAB_GROW(r->changed, r->changed_capacity, n + s.n_from + s.n_to, err));
        for (uint32_t k = 0; k < s.n_from; k++) {
            load[s.from[k]] -= s.part;
            r->changed[n++] = s.from[k];
        }
        r->n_changed = n;
    }
    for (size_t i = 0; i < n; i++) { /* what is left of sums that should have come to nothing */
        fab_link_id link = r->changed[i];
        load[link] = load[link] < 1e-12 * b->load[link] ? 0 : load[link];
    }
    for (uint32_t i = 0; i < r->n_touched; i++) {
        stretch s = stretch_of(r, i);
        if (is_same(&s)) {
            continue;
        }
        FAB_TRY(FAB_GROW(r->changed, r->changed_capacity, n + s.n_to, err));
        for (uint32_t k = 0; k < s.n_to; k++) {
            load[s.to[k]] += s.part;
            r->changed[n++] = s.to[k];
            fab_reroute_consider(r, s.to[k], load[s.to[k]] * b->per_bps[s.to[k]]);
        }
        if (r->path_first[i + 1] == r->path_first[i]) {
            fab_reroute_lose(r, b->trip[r->path[i]].flow, s.part);
        } else {
            r->n_moved++;
        }
        r->n_changed = n;
    }
done:
    return status;
}

/* Of those that were not added to: no fuller than before, so that the fullest of before come first. */
static void find_worst(fab_reroute *r, bool in_full) {
    const fab_baseline *b = r->b;
    for (uint32_t i = 0; i < r->mask->n_links; i++) {
        if (b->per_bps[r->mask->link[i]] > 0) {
            fab_reroute_consider(r, r->mask->link[i], ratio_of(r, r->mask->link[i]));
        }
    }
    for (uint32_t i = 0; i < b->n_order; i++) {
        fab_link_id link = b->order[i];
        if (!in_full && b->order_ratio[i] < r->worst_ratio) {
            return;
        }
        fab_reroute_consider(r, link, ratio_of(r, link));
        if (!in_full && r->load[link] == b->load[link] && r->mask->left[link] == 1) {
            return; /* all behind it are no fuller */
        }
    }
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static void restore(fab_reroute *r) {
    if (r->is_dirty) {
        memcpy(r->load, r->b->load, r->b->fabric->n_links * sizeof *r->load);
    }
    for (size_t i = 0; i < r->n_changed && !r->is_dirty; i++) {
        r->load[r->changed[i]] = r->b->load[r->changed[i]];
    }
    if (++r->stamp == 0) { /* after 2^32 calls */
        memset(r->path_stamp, 0, r->b->n_paths * sizeof *r->path_stamp);
        memset(r->flow_stamp, 0, r->b->n_flows * sizeof *r->flow_stamp);
        r->stamp = 1;
    }
    r->what = r->b->request;
    r->part = r->b->part;
    r->flow_first = r->b->routes.flow_first;
    r->n_touched = 0;
    r->n_moved = 0;
    r->n_changed = 0;
    r->worst_ratio = -1;
    r->worst_link = FAB_NONE;
    r->n_disconnected = 0;
    r->lost_bps = 0;
    r->path_first[0] = 0;
    r->cuts_legs = false;
}

static fab_status route_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    const bool is_routed = on_loss != FAB_LOSS_NONE;
    const bool at_once = is_routed && b->router->is_plain_whole;
    size_t n = 0;
    fab_fetch_trips(b, r->path, r->n_touched < 2 * FAB_LANES ? r->n_touched : 2 * FAB_LANES);
    fab_fetch_routes(b, r->path, r->n_touched < FAB_LANES ? r->n_touched : FAB_LANES);
    for (uint32_t i = 0; i < r->n_touched; i += FAB_LANES) {
        uint32_t left = r->n_touched - i;
        uint32_t count = left < FAB_LANES ? left : FAB_LANES;
        if (left > 2 * FAB_LANES) {
            uint32_t ahead = left - 2 * FAB_LANES;
            fab_fetch_trips(b, &r->path[i + 2 * FAB_LANES], ahead < FAB_LANES ? ahead : FAB_LANES);
        }
        if (left > FAB_LANES) {
            uint32_t ahead = left - FAB_LANES;
            fab_fetch_routes(b, &r->path[i + FAB_LANES], ahead < FAB_LANES ? ahead : FAB_LANES);
        }
        if (at_once) {
            FAB_TRY(fab_reroute_paths(r, r->path + i, count, &n, r->path_first + i, err));
        }
        for (uint32_t k = i; k < i + count && !at_once; k++) {
            r->path_first[k] = n;
            if (is_routed) {
                FAB_TRY(fab_reroute_path(r, r->path[k], &n, err));
            }
            r->path_first[k + 1] = n;
        }
    }
    r->path_first[r->n_touched] = n;
    FAB_TRY(move_loads(r, err));
done:
    return status;
}

fab_status fab_reroute_begin(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_reroute_plan *out,
                             fab_error *err) {
    const fab_baseline *b = r->b;
    fab_reroute_plan plan = {.on_loss = when == FAB_WHEN_FAILED ? FAB_LOSS_NONE : b->on_loss};
    restore(r);
    r->is_dirty = true; /* until all has gone well */
    r->mask = mask;
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        plan.any_dead = plan.any_dead || mask->left[link] == 0;
        r->cuts_legs =
            r->cuts_legs || (mask->left[link] == 0 && fab_class_of(b->fabric, link)->kind != FAB_LINK_FABRIC);
    }
    if (b->router->splits && plan.on_loss == FAB_LOSS_NONE && plan.any_dead) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                        "engine %s splits flows: what a link that dies takes along is not known",
                        b->router->engine->name);
    }
    *out = plan;
    return FAB_OK;
}

fab_status fab_reroute_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    fab_status status = FAB_OK;
    if (on_loss != FAB_LOSS_NONE) {
        FAB_TRY(fab_masked_hops_find(r->hops, r->mask, on_loss == FAB_LOSS_RESILIENT, err));
    }
    collect(r, on_loss);
    FAB_TRY(route_touched(r, on_loss, err));
done:
    return status;
}

void fab_reroute_end(fab_reroute *r, fab_on_loss on_loss, bool in_full, fab_rerouted *out) {
    r->is_dirty = in_full;
    find_worst(r, in_full);
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
                          .changed = r->changed,
                          .worst_ratio = r->worst_ratio,
                          .worst_link = r->worst_link};
}

fab_status fab_reroute_apply(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_rerouted *out,
                             fab_error *err) {
    fab_status status = FAB_OK;
    fab_reroute_plan plan;
    FAB_TRY(fab_reroute_begin(r, mask, when, &plan, err));
    bool in_full = plan.on_loss == FAB_LOSS_RECONVERGE && plan.any_dead;
    if (in_full) {
        FAB_TRY(fab_reroute_in_full(r, err));
    } else if (plan.on_loss != FAB_LOSS_RECONVERGE) {
        FAB_TRY(fab_reroute_touched(r, plan.on_loss, err));
    }
    fab_reroute_end(r, plan.on_loss, in_full, out);
done:
    return status;
}
