/* Walks many paths a hop at a time through the next-hop tables; the engine decides at each switch. */
#include "walk.h"
#include "engines/engines.h"

fab_status fab_walk_unreachable(const fab_walk *walk, const fab_router *router, uint32_t i, fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    return fab_no_route(f, walk->key[i].src_nic, walk->from[i] + base, walk->key[i].dst_nic, walk->target[i] + base,
                        err);
}

fab_link_id fab_router_next(const fab_router *router, uint64_t seed, fab_node_id v, uint32_t leaf,
                            const fab_hop_key *key) {
    const fab_fabric *f = router->fabric;
    if (router->engine->next != NULL) {
        return router->engine->next(router, v, key);
    }
    uint32_t index = v - f->first[FAB_NODE_SWITCH];
    fab_hop hop = {.node = v, .leaf = leaf, .tier = router->switch_tier[index]};
    hop.next = fab_next_hops_look(router->next_hops, index, leaf);
    hop.count = hop.next.count;
    if (hop.count == 0) {
        return FAB_NONE;
    }
    return fab_next_hop(&hop.next, hop.count == 1 ? 0 : router->engine->pick(router, seed, &hop, key));
}

void fab_walk_add(fab_walk *walk, const fab_router *router, const fab_host_segments *segments, const fab_hop_key *key) {
    uint32_t base = router->fabric->first[FAB_NODE_SWITCH];
    uint32_t i = walk->n++;
    walk->segments[i] = *segments;
    walk->key[i] = *key;
    if (segments->in_domain) {
        walk->key[i] = (fab_hop_key){0};
        walk->at[i] = 0;
        walk->target[i] = 0;
        walk->leaf[i] = 0;
        return;
    }
    walk->at[i] = segments->src_leaf - base;
    walk->from[i] = walk->at[i];
    walk->target[i] = segments->dst_leaf - base;
    walk->leaf[i] = router->next_hops->leaf_index[walk->target[i]];
    walk->key[i].destination = walk->leaf[i] * router->port_stride + segments->dst_port - 1;
}

void fab_walk_begin(fab_walk *walk, const fab_router *router, uint64_t seed) {
    if (router->engine->begin != NULL) {
        router->engine->begin(router, seed, walk->key, walk->n);
    }
    for (uint32_t slot = 0; slot < router->n_values; slot++) {
        for (uint32_t i = 0; i < walk->n; i++) {
            walk->value[slot * FAB_WALK_PATHS + i] = walk->key[i].value[slot];
        }
    }
}

#define STEP_COUNT ((1U << FAB_STEP_COUNT_BITS) - 1)

static inline uint32_t modulo(uint32_t value, uint32_t count) {
    return (count & (count - 1)) == 0 ? value & (count - 1) : value % count;
}

/* Value that selects among the next hops of path i at a switch. */
static inline uint32_t value_at(const fab_walk *walk, uint32_t groups, uint32_t i) {
    return walk->value[(groups >> 5 & 7) * FAB_WALK_PATHS + i] >> (groups & 31);
}

/* One hop of every path, by the formula of modulo engines. Returns how many go on, FAB_NONE where one has no next hop.
 * Each pass reads what the one before has asked the memory for. */
static uint32_t step_modulo(fab_walk *walk, const fab_router *router, uint32_t hop) {
    const fab_next_hops *t = router->next_hops;
    uint32_t list[FAB_WALK_PATHS]; /* those that go on */
    const uint32_t *group[FAB_WALK_PATHS];
    const fab_step *step[FAB_WALK_PATHS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        list[n] = i;
        n += walk->at[i] != walk->target[i];
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        uint32_t number = fab_next_hops_group(t, walk->at[i], walk->leaf[i]);
        if (number == 0) {
            walk->lost = i;
            return FAB_NONE;
        }
        group[k] = &router->step_group[(router->step_switch[walk->at[i]].groups >> 8) + number - 1];
        walk->group[hop][i] = number;
        __builtin_prefetch(group[k]);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        fab_step_switch at = router->step_switch[walk->at[i]];
        uint32_t count = *group[k] & STEP_COUNT;
        uint32_t chosen = modulo(value_at(walk, at.groups, i), count);
        step[k] = router->step + at.first_step + router->step_slot[(*group[k] >> FAB_STEP_COUNT_BITS) + chosen];
        __builtin_prefetch(step[k]);
    }
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        walk->hop[hop][i] = step[k]->link;
        walk->n_hops[i] = hop + 1;
        walk->at[i] = step[k]->head;
        left += step[k]->head != walk->target[i];
    }
    return left;
}

#ifdef FAB_GATHERS
static uint32_t first_lost(const fab_walk *walk, const fab_next_hops *t) {
    uint32_t i = 0;
    while (walk->at[i] == walk->target[i] || fab_next_hops_group(t, walk->at[i], walk->leaf[i]) != 0) {
        i++;
    }
    return i;
}

/* The same by vectors. They gather from signed places only, and only where nothing is stored that might be the table:
 * hence the arrays. Paths that have ended are looked up as well, at places that exist. */
FAB_GATHERING static uint32_t step_vectors(fab_walk *walk, const fab_router *router, uint32_t hop) {
    const fab_next_hops *t = router->next_hops;
    const int32_t n = (int32_t)walk->n;
    const int32_t n_switches = (int32_t)t->n_switches;
    const int32_t *at = (const int32_t *)walk->at;
    const int32_t *leaf = (const int32_t *)walk->leaf;
    const int32_t *chunk_of = (const int32_t *)t->chunk_of;
    const int32_t *slot = (const int32_t *)router->step_slot;
    uint32_t number[FAB_WALK_PATHS]; /* of the group within the switch, from 1; 0: none */
    int32_t first[FAB_WALK_PATHS];   /* of the group */
    int32_t count[FAB_WALK_PATHS];
    int32_t first_step[FAB_WALK_PATHS];
    uint32_t value[FAB_WALK_PATHS];
    uint32_t link[FAB_WALK_PATHS];
    uint32_t head[FAB_WALK_PATHS];
    uint32_t n_lost = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = at[i];
        int32_t chunk = chunk_of[leaf[i] / FAB_CHUNK_LEAVES * n_switches + v];
        uint32_t pair = t->chunk[chunk * FAB_CHUNK_WORDS + leaf[i] % FAB_CHUNK_LEAVES / 2];
        uint32_t own = pair >> (leaf[i] % 2 * 16) & UINT16_MAX;
        int32_t mask = own == 0 ? 0 : -1;
        int32_t groups = (int32_t)router->step_switch[v].groups;
        uint32_t group = router->step_group[(((groups >> 8 & 0xffffff) + (int32_t)own - 1) & mask)];
        n_lost += own == 0 && at[i] != (int32_t)walk->target[i];
        number[i] = own;
        first[i] = (int32_t)(group >> FAB_STEP_COUNT_BITS);
        count[i] = (int32_t)(group & STEP_COUNT);
        first_step[i] = (int32_t)router->step_switch[v].first_step & mask;
        value[i] = walk->value[(groups >> 5 & 7) * FAB_WALK_PATHS + i] >> (groups & 31);
    }
    if (n_lost > 0) {
        walk->lost = first_lost(walk, t);
        return FAB_NONE;
    }
    if (router->divides) { /* the quotient of doubles differs from the next integer by 1 / count or more: exact */
        for (int32_t i = 0; i < n; i++) {
            value[i] -= (uint32_t)((double)value[i] / count[i]) * (uint32_t)count[i];
        }
    } else {
        for (int32_t i = 0; i < n; i++) {
            value[i] &= (uint32_t)count[i] - 1;
        }
    }
    int32_t place[FAB_WALK_PATHS];
    for (int32_t i = 0; i < n; i++) {
        place[i] = first_step[i] + slot[first[i] + (int32_t)value[i]];
    }
    for (int32_t i = 0; i < n; i++) {
        __builtin_prefetch(&router->step[place[i]]);
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t step = place[i];
        link[i] = router->step[step].link;
        head[i] = router->step[step].head;
    }
    uint32_t left = 0;
    for (int32_t i = 0; i < n; i++) {
        uint32_t goes_on = walk->at[i] != walk->target[i];
        walk->hop[hop][i] = link[i];
        walk->group[hop][i] = number[i];
        walk->n_hops[i] += goes_on;
        walk->at[i] = goes_on ? head[i] : walk->at[i];
        left += walk->at[i] != walk->target[i];
    }
    return left;
}
#endif

static uint32_t step_any(fab_walk *walk, const fab_router *router, uint64_t seed, uint32_t hop) {
    const fab_fabric *f = router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t left = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        if (walk->at[i] == walk->target[i]) {
            continue;
        }
        fab_link_id link = fab_router_next(router, seed, walk->at[i] + base, walk->leaf[i], &walk->key[i]);
        if (link == FAB_NONE) {
            walk->lost = i;
            return FAB_NONE;
        }
        walk->hop[hop][i] = link;
        walk->n_hops[i] = hop + 1;
        walk->at[i] = fab_head(f, link) - base;
        left += walk->at[i] != walk->target[i];
    }
    return left;
}

/* Whether a path ends on the leaf where it begins, which does not know its destination. */
static bool is_refused_at_once(const fab_walk *walk, const fab_router *router, uint32_t i) {
    const fab_hop_key *key = &walk->key[i];
    return router->unreached != NULL && walk->at[i] == walk->target[i] && key->src_nic != key->dst_nic &&
           router->unreached[key->destination] != 0;
}

static uint32_t walk_step(fab_walk *walk, const fab_router *router, uint64_t seed, uint32_t hop) {
    uint32_t left = 0;
    uint32_t at[FAB_WALK_PATHS] = {0};
    if (!router->is_modulo) {
        return step_any(walk, router, seed, hop);
    }
    if (walk->wants_groups) {
        memcpy(at, walk->at, sizeof at);
    }
#ifdef FAB_GATHERS
    left = router->gathers ? step_vectors(walk, router, hop) : step_modulo(walk, router, hop);
#else
    left = step_modulo(walk, router, hop);
#endif
    for (uint32_t i = 0; walk->wants_groups && left != FAB_NONE && i < walk->n;
         i++) { /* numbers among those of all switches */
        walk->group[hop][i] += router->next_hops->group_first[at[i]] - 1;
    }
    return left;
}

fab_status fab_walk_run(fab_walk *walk, const fab_router *router, uint64_t seed, fab_error *err) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        walk->n_hops[i] = 0;
        left += walk->at[i] != walk->target[i];
        FAB_RETURN_IF(is_refused_at_once(walk, router, i), fab_walk_unreachable(walk, router, i, err));
    }
    walk->n_steps = 0;
    while (left > 0 && left != FAB_NONE && walk->n_steps < FAB_WALK_HOPS) { /* all have begun together */
        uint32_t hop = walk->n_steps++;
        left = walk_step(walk, router, seed, hop);
    }
    walk->n_left = left;
    return left != FAB_NONE ? FAB_OK : fab_walk_unreachable(walk, router, walk->lost, err);
}
