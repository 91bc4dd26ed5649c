/* Routes and loads under a mask.
 *
 * Who is touched follows from what switches have lost. A path over a dead link is. Where hashing goes by what is left
 * of a group, so are all paths through a group that has lost a member: those over the links of the group towards the
 * leaves concerned, or, where the switches are no transit, all paths to the leaf, which begin there. Paths that are
 * looked at for nothing keep their route. */
#include "baseline.h"
#include "fab/memory.h"
#include "legs.h"
#include "engines.h"

#include <stdlib.h>
#include <string.h>

#define MOST_AT_ONCE 16 /* members of a group that are gone, by formula */

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
    FAB_TRY(FAB_NEW(r->load, n_links, err));
    FAB_TRY(FAB_NEW(r->path_stamp, b->n_paths, err));
    FAB_TRY(FAB_NEW(r->link_stamp, n_links, err));
    FAB_TRY(FAB_NEW(r->flow_stamp, b->n_flows, err));
    FAB_TRY(FAB_NEW(r->path, b->n_paths, err));
    FAB_TRY(FAB_NEW(r->path_first, (size_t)b->n_paths + 1, err));
    FAB_TRY(FAB_NEW(r->changed, n_links, err));
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
    free(r->load);
    free(r->path_stamp);
    free(r->link_stamp);
    free(r->flow_stamp);
    free(r->path);
    free(r->path_first);
    free(r->link);
    free(r->changed);
    free(r->disconnected);
    free(r->changed_leaf);
    free(r->whole_leaf);
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
    const fab_removed *removed = fab_removed_of(m, v);
    for (uint32_t g = t->group_first[v]; g < t->group_first[v + 1]; g++) {
        fab_next_hop_list list = fab_next_hops_of_group(t, v, g);
        bool hit = false;
        for (uint32_t i = 0; i < m->n_removed[v] && !hit; i++) {
            hit = removed[i].row == FAB_NONE && fab_position(list.slot, list.count, removed[i].slot) != FAB_NONE;
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
    const fab_removed *removed = fab_removed_of(m, v);
    uint32_t last = 0;
    uint64_t any = 0;
    memset(r->changed_leaf, 0, m->n_words * sizeof *r->changed_leaf);
    for (uint32_t i = 0; i < m->n_removed[v]; i++) {
        for (uint32_t w = 0; removed[i].row != FAB_NONE && w < m->n_words; w++) {
            r->changed_leaf[w] |= m->row[(size_t)removed[i].row * m->n_words + w] & ~r->whole_leaf[w];
            any |= r->changed_leaf[w];
        }
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

/* --- a path ------------------------------------------------------------------------------------------------------- */

static uint32_t modulo(uint32_t value, uint32_t count) {
    return (count & (count - 1)) == 0 ? value & (count - 1) : value % count;
}

/* The next hop of a plain engine: the value modulo what is left of the group. False where the rule does not apply. */
static inline bool next_plain(const fab_reroute *r, uint32_t v, uint32_t column, const fab_hop_key *key,
                              fab_link_id *out) {
    const fab_masked_hops *m = r->hops;
    const fab_router *router = r->b->router;
    uint32_t tier = router->switch_tier[v];
    uint32_t value = key->value[router->plain_slot[tier]] >> router->plain_shift[tier];
    fab_next_hop_list list = fab_next_hops_get(m->t, v, column);
    const fab_removed *removed = fab_removed_of(m, v);
    uint32_t gone[MOST_AT_ONCE];
    uint32_t n = 0;
    if (list.count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < m->n_removed[v]; i++) {
        if (!fab_removes(m, &removed[i], column)) {
            continue;
        }
        uint32_t at = fab_position(list.slot, list.count, removed[i].slot);
        if (at != FAB_NONE) {
            if (n == MOST_AT_ONCE) {
                return false;
            }
            gone[n++] = at;
        }
    }
    if (n == list.count) {
        return false;
    }
    uint32_t index = modulo(value, list.count - n);
    for (uint32_t i = 0; i < n && index >= gone[i]; i++) {
        index++;
    }
    *out = fab_next_hop(&list, index);
    return true;
}

static fab_link_id next_any(fab_reroute *r, uint32_t v, uint32_t column, const fab_hop_key *key) {
    const fab_router *router = &r->masked;
    uint32_t base = r->b->fabric->first[FAB_NODE_SWITCH];
    fab_hop hop = {.node = v + base, .leaf = column, .tier = router->switch_tier[v]};
    if (router->engine->next != NULL) {
        return router->engine->next(router, v + base, key);
    }
    hop.next = fab_masked_hops_get(r->hops, v, column);
    hop.count = hop.next.count;
    if (hop.count == 0) {
        return FAB_NONE;
    }
    return fab_next_hop(&hop.next, hop.count == 1 ? 0 : router->engine->pick(router, r->b->request.seed, &hop, key));
}

static bool is_gone(const fab_reroute *r, fab_link_id link, uint32_t column) {
    return fab_mask_link_is_dead(r->mask, link) ||
           fab_has_lost(r->hops, fab_head(r->b->fabric, link) - r->b->fabric->first[FAB_NODE_SWITCH], column);
}

/* Links between switches. `old`: those of the path before, of which resilient hashing keeps what it can; NULL: none.
 * False if there is no way; what was written is then of no meaning. */
static fab_status walk(fab_reroute *r, uint32_t src, uint32_t dst, uint32_t column, const fab_hop_key *key,
                       const fab_link_id *old, size_t *n, bool *out_found, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = r->b->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    bool plain = r->b->router->is_plain;
    *out_found = false;
    for (uint32_t v = src; v != dst;) {
        fab_link_id link = FAB_NONE;
        if (old != NULL && !is_gone(r, *old, column)) {
            link = *old++;
        } else if (!plain || !next_plain(r, v, column, key, &link)) {
            old = NULL;
            link = next_any(r, v, column, key);
        }
        if (link == FAB_NONE) {
            goto done;
        }
        if (*n >= r->link_capacity) {
            FAB_TRY(FAB_GROW(r->link, r->link_capacity, *n + 1, err));
        }
        r->link[(*n)++] = link;
        v = fab_head(f, link) - base;
    }
    *out_found = true;
done:
    return status;
}

static bool all_alive(const fab_reroute *r, const fab_link_id *link, uint32_t n) {
    bool alive = true;
    for (uint32_t i = 0; i < n; i++) {
        alive = alive && !fab_mask_link_is_dead(r->mask, link[i]);
    }
    return alive;
}

static fab_status append(fab_reroute *r, size_t *n, const fab_link_id *link, uint32_t count, fab_error *err) {
    fab_status status = FAB_OK;
    if (*n + count > r->link_capacity) {
        FAB_TRY(FAB_GROW(r->link, r->link_capacity, *n + count, err));
    }
    for (uint32_t i = 0; i < count; i++) {
        r->link[(*n)++] = link[i];
    }
done:
    return status;
}

/* The same queue pair in another plane, those behind its own in turn. */
static fab_status try_planes(fab_reroute *r, uint32_t path, size_t *n, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    const fab_fabric *f = b->fabric;
    const fab_trip *trip = &b->trip[path];
    const fab_flow flow = fab_phase_flow(b->request.phase, trip->flow);
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const size_t first = *n;
    uint32_t nic = (path - b->routes.flow_first[trip->flow]) % b->router->ports.nics_per_gpu;
    uint32_t own = f->switch_plane[trip->src];
    for (uint32_t i = 1; i < f->n_planes; i++) {
        fab_legs legs = {0};
        fab_hop_key key = b->key[path];
        bool found = false;
        FAB_TRY(fab_legs_of(f, &b->router->ports, flow.src, flow.dst, nic, (own + i) % f->n_planes, &legs, err));
        if (!all_alive(r, legs.head, legs.n_head) || !all_alive(r, legs.tail, legs.n_tail)) {
            continue;
        }
        uint32_t column = b->router->next_hops->leaf_index[legs.dst_leaf - base];
        key.destination = column * b->router->port_stride + legs.dst_port - 1;
        if (b->router->engine->begin != NULL) {
            b->router->engine->begin(b->router, b->request.seed, &key, 1);
        }
        FAB_TRY(append(r, n, legs.head, legs.n_head, err));
        FAB_TRY(walk(r, legs.src_leaf - base, legs.dst_leaf - base, column, &key, NULL, n, &found, err));
        if (found) {
            FAB_TRY(append(r, n, legs.tail, legs.n_tail, err));
            goto done;
        }
        *n = first;
    }
done:
    return status;
}

fab_status fab_reroute_path(fab_reroute *r, uint32_t path, size_t *n_links, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    const fab_trip *trip = &b->trip[path];
    const fab_link_id *old = b->routes.link + b->routes.path_first[path];
    const fab_link_id *end = b->routes.link + b->routes.path_first[path + 1];
    const size_t first = *n_links;
    bool found = false;
    if (trip->column == FAB_NONE) {
        return all_alive(r, old, (uint32_t)(end - old)) ? append(r, n_links, old, (uint32_t)(end - old), err) : FAB_OK;
    }
    if (!r->cuts_legs || (all_alive(r, old, trip->n_head) && all_alive(r, end - trip->n_tail, trip->n_tail))) {
        const fab_link_id *keep = b->on_loss == FAB_LOSS_RESILIENT ? old + trip->n_head : NULL;
        FAB_TRY(append(r, n_links, old, trip->n_head, err));
        FAB_TRY(walk(r, trip->src, trip->dst, trip->column, &b->key[path], keep, n_links, &found, err));
    }
    if (found) {
        FAB_TRY(append(r, n_links, end - trip->n_tail, trip->n_tail, err));
    } else {
        *n_links = first;
        FAB_TRY(try_planes(r, path, n_links, err));
    }
done:
    return status;
}

/* --- loads -------------------------------------------------------------------------------------------------------- */

static void add_load(fab_reroute *r, fab_link_id link, double amount) {
    if (r->link_stamp[link] != r->stamp) {
        r->link_stamp[link] = r->stamp;
        r->changed[r->n_changed++] = link;
    }
    r->load[link] += amount;
}

void fab_reroute_lose(fab_reroute *r, uint32_t flow, double part_bps) {
    r->lost_bps += part_bps;
    if (r->flow_stamp[flow] != r->stamp) {
        r->flow_stamp[flow] = r->stamp;
        r->disconnected[r->n_disconnected++] = flow;
    }
}

/* From the old route of a path to the new one: what both begin and end with stays. */
static void move(fab_reroute *r, uint32_t path, const fab_link_id *to, size_t n_to) {
    const fab_baseline *b = r->b;
    const fab_link_id *from = b->routes.link + b->routes.path_first[path];
    size_t n_from = b->routes.path_first[path + 1] - b->routes.path_first[path];
    double part = b->part[b->trip[path].flow];
    bool is_lost = n_to == 0;
    while (n_from > 0 && n_to > 0 && *from == *to) {
        from++;
        to++;
        n_from--;
        n_to--;
    }
    while (n_from > 0 && n_to > 0 && from[n_from - 1] == to[n_to - 1]) {
        n_from--;
        n_to--;
    }
    for (size_t i = 0; i < n_from; i++) {
        add_load(r, from[i], -part);
    }
    for (size_t i = 0; i < n_to; i++) {
        add_load(r, to[i], part);
    }
    if (is_lost) {
        fab_reroute_lose(r, b->trip[path].flow, part);
    } else {
        r->n_moved += n_from + n_to > 0;
    }
}

/* What is left of sums that should have come to nothing. */
static void clean_loads(fab_reroute *r) {
    for (uint32_t i = 0; i < r->n_changed; i++) {
        fab_link_id link = r->changed[i];
        double before = r->b->load[link];
        if (r->mask->left[link] == 0 || (r->load[link] < 1e-12 * before && before > 0)) {
            r->load[link] = 0;
        }
    }
}

static double ratio_of(const fab_reroute *r, fab_link_id link) {
    double left = r->mask->left[link];
    return left > 0 ? r->load[link] * r->b->per_bps[link] / left : 0;
}

static void consider(const fab_reroute *r, fab_link_id link, fab_rerouted *out) {
    double ratio = ratio_of(r, link);
    if (r->b->per_bps[link] > 0 &&
        (ratio > out->worst_ratio || (ratio == out->worst_ratio && link < out->worst_link))) {
        out->worst_ratio = ratio;
        out->worst_link = link;
    }
}

static void find_worst(const fab_reroute *r, bool in_full, fab_rerouted *out) {
    const fab_baseline *b = r->b;
    out->worst_ratio = -1;
    out->worst_link = FAB_NONE;
    for (uint32_t i = 0; i < r->n_changed && !in_full; i++) {
        consider(r, r->changed[i], out);
    }
    for (uint32_t i = 0; i < b->n_order; i++) {
        if (in_full || r->link_stamp[b->order[i]] != r->stamp) {
            consider(r, b->order[i], out);
            if (!in_full) { /* the fullest of those that are as they were, the lowest of equal ones */
                return;
            }
        }
    }
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static void restore(fab_reroute *r) {
    if (r->is_dirty) {
        memcpy(r->load, r->b->load, r->b->fabric->n_links * sizeof *r->load);
    }
    for (uint32_t i = 0; i < r->n_changed && !r->is_dirty; i++) {
        r->load[r->changed[i]] = r->b->load[r->changed[i]];
    }
    if (++r->stamp == 0) { /* after 2^32 calls */
        memset(r->path_stamp, 0, r->b->n_paths * sizeof *r->path_stamp);
        memset(r->link_stamp, 0, r->b->fabric->n_links * sizeof *r->link_stamp);
        memset(r->flow_stamp, 0, r->b->n_flows * sizeof *r->flow_stamp);
        r->stamp = 1;
    }
    r->n_touched = 0;
    r->n_moved = 0;
    r->n_changed = 0;
    r->n_disconnected = 0;
    r->lost_bps = 0;
    r->path_first[0] = 0;
    r->cuts_legs = false;
}

static fab_status route_touched(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_touched; i++) {
        r->path_first[i] = n;
        if (on_loss != FAB_LOSS_NONE) {
            FAB_TRY(fab_reroute_path(r, r->path[i], &n, err));
        }
        move(r, r->path[i], r->link + r->path_first[i], n - r->path_first[i]);
    }
    r->path_first[r->n_touched] = n;
    clean_loads(r);
done:
    return status;
}

fab_status fab_reroute_apply(fab_reroute *r, const fab_mask *mask, fab_reroute_when when, fab_rerouted *out,
                             fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    fab_on_loss on_loss = when == FAB_WHEN_FAILED ? FAB_LOSS_NONE : b->on_loss;
    bool any_dead = false;
    restore(r);
    r->is_dirty = true; /* until all has gone well */
    r->mask = mask;
    for (uint32_t i = 0; i < mask->n_links; i++) {
        fab_link_id link = mask->link[i];
        add_load(r, link, 0);
        any_dead = any_dead || mask->left[link] == 0;
        r->cuts_legs =
            r->cuts_legs || (mask->left[link] == 0 && fab_class_of(b->fabric, link)->kind != FAB_LINK_FABRIC);
    }
    bool in_full = on_loss == FAB_LOSS_RECONVERGE && any_dead;
    if (b->router->splits && on_loss == FAB_LOSS_NONE && any_dead) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "engine %s splits flows: what a link that dies takes along is not known",
                 b->router->engine->name);
    }
    if (in_full) {
        FAB_TRY(fab_reroute_in_full(r, err));
    } else if (on_loss != FAB_LOSS_RECONVERGE) {
        if (on_loss != FAB_LOSS_NONE) {
            FAB_TRY(fab_masked_hops_set(r->hops, mask, err));
        }
        collect(r, on_loss);
        FAB_TRY(route_touched(r, on_loss, err));
    }
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
                          .changed = r->changed};
    find_worst(r, in_full, out);
done:
    return status;
}
