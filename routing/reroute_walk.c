/* A path under a mask: one by one, or many a hop at a time. */
#include "baseline.h"
#include "engines.h"
#include "fab/memory.h"
#include "hash_group.h"
#include "legs.h"

#include <string.h>

#define MOST_AT_ONCE 16 /* members of a group that are gone, by formula */

static uint32_t modulo(uint32_t value, uint32_t count) {
    return (count & (count - 1)) == 0 ? value & (count - 1) : value % count;
}

static uint32_t value_at(const fab_baseline *b, uint32_t v, uint32_t path) {
    const fab_router *router = b->router;
    uint32_t tier = router->switch_tier[v];
    uint32_t slot = router->plain_slot[tier];
    return (slot == 0 ? b->trip[path].value : b->key[path].value[slot]) >> router->plain_shift[tier];
}

/* Place in a group, at a switch where something is gone, by what is left of it. FAB_NONE where the rule does not apply.
 */
static inline uint32_t pick_left(const fab_reroute *r, uint32_t v, uint32_t column, uint32_t value,
                                 const fab_next_hop_list *list) {
    const fab_masked_hops *m = r->hops;
    const fab_removed *removed = fab_removed_of(m, v);
    const bool is_listed = m->n_removed[v] <= FAB_LISTED;
    const uint32_t n_looks = is_listed ? m->n_removed[v] : list->count;
    uint32_t gone[MOST_AT_ONCE];
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_looks; i++) {
        uint32_t at = FAB_NONE;
        if (is_listed) {
            at =
                fab_removes(m, &removed[i], column) ? fab_position(list->slot, list->count, removed[i].slot) : FAB_NONE;
        } else {
            at = fab_hop_is_gone(m, v, list->slot[i], column) ? i : FAB_NONE;
        }
        if (at != FAB_NONE) {
            if (n == MOST_AT_ONCE) {
                return FAB_NONE;
            }
            gone[n++] = at;
        }
    }
    if (n == list->count) {
        return FAB_NONE;
    }
    uint32_t index = 0;
    if (r->b->router->resilient) { /* hash_group.c, for equal weights */
        uint32_t bucket = value % (list->count * FAB_RESILIENT_BUCKETS);
        uint32_t owner = bucket % list->count;
        bool is_gone = false;
        for (uint32_t i = 0; i < n; i++) {
            is_gone = is_gone || gone[i] == owner;
        }
        if (!is_gone) {
            return owner;
        }
        index = (bucket / list->count + owner) % (list->count - n);
    } else {
        index = modulo(value, list->count - n);
    }
    for (uint32_t i = 0; i < n && index >= gone[i]; i++) {
        index++;
    }
    return index;
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
    *out_found = false;
    for (uint32_t v = src; v != dst;) {
        fab_link_id link = FAB_NONE;
        if (old != NULL && !is_gone(r, *old, column)) {
            link = *old++;
        } else {
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

fab_status fab_reroute_part(fab_reroute *r, const fab_flow_part *part, uint32_t plane, uint32_t n_planes, size_t *n,
                            fab_error *err) {
    fab_status status = FAB_OK;
    const fab_router *router = r->b->router;
    const fab_fabric *f = r->b->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const size_t first = *n;
    for (uint32_t i = 0; i < n_planes; i++) {
        fab_legs legs = {0};
        bool found = false;
        FAB_TRY(fab_legs_of(f, &router->ports, part->src, part->dst, part->nic, (plane + i) % f->n_planes, &legs, err));
        if (!all_alive(r, legs.head, legs.n_head) || !all_alive(r, legs.tail, legs.n_tail)) {
            continue;
        }
        FAB_TRY(append(r, n, legs.head, legs.n_head, err));
        if (legs.in_domain) {
            goto done;
        }
        uint32_t column = router->next_hops->leaf_index[legs.dst_leaf - base];
        fab_hop_key key = {.src_nic = legs.src_nic,
                           .dst_nic = legs.dst_nic,
                           .ordinal = part->ordinal,
                           .queue_pair = part->queue_pair,
                           .destination = column * router->port_stride + legs.dst_port - 1};
        if (router->engine->begin != NULL) {
            router->engine->begin(router, r->b->request.seed, &key, 1);
        }
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

/* The same queue pair in another plane, those behind its own in turn. */
static fab_status try_planes(fab_reroute *r, uint32_t path, size_t *n, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_trip *trip = &b->trip[path];
    const fab_flow flow = fab_phase_flow(b->request.phase, trip->flow);
    const fab_flow_part part = {.src = flow.src,
                                .dst = flow.dst,
                                .ordinal = flow.ordinal,
                                .queue_pair = b->key[path].queue_pair,
                                .nic = (path - b->routes.flow_first[trip->flow]) % b->router->ports.nics_per_gpu};
    return fab_reroute_part(r, &part, b->fabric->switch_plane[trip->src] + 1U, b->fabric->n_planes - 1, n, err);
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

/* --- many --------------------------------------------------------------------------------------------------------- */

/* Those that go on. */
static uint32_t start(fab_reroute *r, const uint32_t *path, uint32_t n, uint32_t *list) {
    fab_lanes *l = r->lanes;
    uint32_t n_left = 0;
    for (uint32_t i = 0; i < n; i++) {
        const fab_trip *trip = &r->b->trip[path[i]];
        l->at[i] = trip->src;
        l->n_hops[i] = 0;
        l->old[i] = r->b->routes.link + trip->first + trip->n_head;
        l->alone[i] = trip->column == FAB_NONE || r->cuts_legs;
        list[n_left] = i;
        n_left += !l->alone[i] && trip->src != trip->dst;
    }
    return n_left;
}

/* Where a path is still the old one, and nothing is gone at the switch, or resilient hashing keeps the member. */
static bool keeps(fab_reroute *r, uint32_t i, uint32_t column) {
    const fab_link_id *old = r->lanes->old[i];
    if (old == NULL) {
        return false;
    }
    return r->b->on_loss == FAB_LOSS_RESILIENT ? !is_gone(r, *old, column) : r->hops->n_removed[r->lanes->at[i]] == 0;
}

/* One hop of the lanes in the list. */
static void step(fab_reroute *r, const uint32_t *path, const uint32_t *list, uint32_t n) {
    fab_lanes *l = r->lanes;
    fab_masked_hops *m = r->hops;
    const fab_next_hops *t = m->t;
    const bool is_known = r->b->router->is_plain || r->masked.healthy == t; /* how groups shrink */
    uint32_t asks[FAB_LANES];
    uint32_t n_asks = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        uint32_t column = r->b->trip[path[i]].column;
        if (keeps(r, i, column)) {
            l->hop[i][l->n_hops[i]] = *l->old[i]++;
            l->next[i] = FAB_NONE;
            continue;
        }
        l->old[i] = NULL;
        l->group[i] = fab_next_hops_group(t, l->at[i], column);
        asks[n_asks++] = i;
    }
    for (uint32_t k = 0; k < n_asks; k++) {
        __builtin_prefetch(&t->group[t->group_at[l->at[asks[k]]] + l->group[asks[k]] - 1]);
    }
    for (uint32_t k = 0; k < n_asks; k++) {
        uint32_t i = asks[k];
        uint32_t v = l->at[i];
        uint32_t column = r->b->trip[path[i]].column;
        uint32_t at = FAB_NONE;
        fab_next_hop_list hops = {0};
        if (l->group[i] != 0) {
            fab_next_hop_group group = t->group[t->group_at[v] + l->group[i] - 1];
            uint32_t value = value_at(r->b, v, path[i]);
            hops = (fab_next_hop_list){t->out_link + t->out_first[v], t->slot + group.first, group.count};
            at = fab_n_removed(m, v) == 0 ? modulo(value, group.count)
                 : is_known               ? pick_left(r, v, column, value, &hops)
                                          : FAB_NONE;
        }
        l->next[i] = FAB_NONE;
        if (at == FAB_NONE) {
            l->hop[i][l->n_hops[i]] = next_any(r, v, column, &r->b->key[path[i]]);
        } else {
            l->hop[i][l->n_hops[i]] = fab_next_hop(&hops, at);
            l->next[i] = m->index->head[t->out_first[v] - m->first_link + hops.slot[at]];
        }
    }
}

fab_status fab_reroute_paths(fab_reroute *r, const uint32_t *path, uint32_t n, size_t *n_links, size_t *first,
                             fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    fab_lanes *l = r->lanes;
    uint32_t list[FAB_LANES];
    uint32_t n_left = start(r, path, n, list);
    while (n_left > 0) {
        uint32_t kept = 0;
        step(r, path, list, n_left);
        for (uint32_t k = 0; k < n_left; k++) {
            uint32_t i = list[k];
            fab_link_id link = l->hop[i][l->n_hops[i]++];
            l->alone[i] = link == FAB_NONE || l->n_hops[i] == FAB_LANE_HOPS;
            l->at[i] = l->next[i] != FAB_NONE ? l->next[i]
                       : link == FAB_NONE     ? l->at[i]
                                              : fab_head(b->fabric, link) - r->hops->base;
            list[kept] = i;
            kept += !l->alone[i] && l->at[i] != b->trip[path[i]].dst;
        }
        n_left = kept;
    }
    FAB_TRY(FAB_GROW(r->link, r->link_capacity, *n_links + (size_t)n * (FAB_LANE_HOPS + 2 * FAB_LEG_LINKS), err));
    for (uint32_t i = 0; i < n; i++) {
        const fab_trip *trip = &b->trip[path[i]];
        first[i] = *n_links;
        if (l->alone[i]) {
            FAB_TRY(fab_reroute_path(r, path[i], n_links, err));
            FAB_TRY(
                FAB_GROW(r->link, r->link_capacity, *n_links + (size_t)n * (FAB_LANE_HOPS + 2 * FAB_LEG_LINKS), err));
            continue;
        }
        const fab_link_id *old = b->routes.link + trip->first;
        fab_link_id *out = r->link + *n_links;
        for (uint32_t k = 0; k < trip->n_head; k++) {
            *out++ = old[k];
        }
        for (uint32_t k = 0; k < l->n_hops[i]; k++) {
            *out++ = l->hop[i][k];
        }
        for (uint32_t k = trip->n - trip->n_tail; k < trip->n; k++) {
            *out++ = old[k];
        }
        *n_links = (size_t)(out - r->link);
    }
    first[n] = *n_links;
done:
    return status;
}
