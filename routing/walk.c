/* Walks many paths a hop at a time through the next-hop tables; the engine decides at each switch. */
#include "walk.h"
#include "engines.h"

fab_status fab_no_route(const fab_fabric *f, uint32_t src_nic, fab_node_id src_leaf, uint32_t dst_nic,
                        fab_node_id dst_leaf, fab_error *err) {
    char a[32];
    char b[32];
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from nic-%u on %s to nic-%u on %s", src_nic,
                    fab_node_name(f, src_leaf, a), dst_nic, fab_node_name(f, dst_leaf, b));
}

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
    hop.next = fab_next_hops_get(router->next_hops, index, leaf);
    hop.count = hop.next.count;
    if (hop.count == 0) {
        return FAB_NONE;
    }
    return fab_next_hop(&hop.next, hop.count == 1 ? 0 : router->engine->pick(router, seed, &hop, key));
}

void fab_walk_add(fab_walk *walk, const fab_router *router, uint64_t seed, const fab_legs *legs,
                  const fab_hop_key *key) {
    uint32_t base = router->fabric->first[FAB_NODE_SWITCH];
    uint32_t i = walk->n++;
    walk->legs[i] = *legs;
    walk->n_hops[i] = 0;
    if (legs->in_domain) {
        walk->at[i] = 0;
        walk->target[i] = 0;
        walk->key[i] = (fab_hop_key){0};
        return;
    }
    walk->key[i] = *key;
    walk->at[i] = legs->src_leaf - base;
    walk->from[i] = walk->at[i];
    walk->target[i] = legs->dst_leaf - base;
    walk->leaf[i] = router->next_hops->leaf_index[walk->target[i]];
    walk->key[i].destination = walk->leaf[i] * router->port_stride + legs->dst_port - 1;
    if (router->engine->begin != NULL && legs->src_leaf != legs->dst_leaf) {
        router->engine->begin(router, seed, &walk->key[i]);
    }
}

static inline uint32_t modulo(uint32_t value, uint32_t count) {
    return (count & (count - 1)) == 0 ? value & (count - 1) : value % count;
}

/* One hop of every path in `list`, by the formula of plain engines. Returns how many go on, FAB_NONE where one has no
 * next hop. Each pass reads what the one before has asked the memory for. */
static uint32_t step_plain(fab_walk *walk, const fab_router *router, uint32_t hop, uint32_t *list, uint32_t n) {
    const fab_next_hops *t = router->next_hops;
    uint32_t group_of[FAB_WALK_PATHS]; /* from 0 */
    const fab_step *step[FAB_WALK_PATHS];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        uint32_t group = fab_next_hops_group(t, walk->at[i], walk->leaf[i]);
        if (group == 0) {
            walk->lost = i;
            return FAB_NONE;
        }
        group_of[k] = group - 1;
        __builtin_prefetch(&t->group[router->step_switch[walk->at[i]].group_at + group - 1]);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        const fab_step_switch *at = &router->step_switch[walk->at[i]];
        fab_next_hop_group group = t->group[at->group_at + group_of[k]];
        uint32_t value = walk->key[i].value[at->value] >> at->shift;
        uint32_t slot = t->slot[group.first + modulo(value, group.count)];
        step[k] = router->step + at->first_step + slot;
        __builtin_prefetch(step[k]);
        walk->group[hop][i] = at->group_first + group_of[k];
    }
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        fab_step to = *step[k];
        walk->hop[hop][i] = to.link;
        walk->n_hops[i] = hop + 1;
        walk->at[i] = to.head;
        list[left] = i;
        left += to.head != walk->target[i];
    }
    return left;
}

static uint32_t step_any(fab_walk *walk, const fab_router *router, uint64_t seed, uint32_t hop, uint32_t *list,
                         uint32_t n) {
    const fab_fabric *f = router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        fab_link_id link = fab_router_next(router, seed, walk->at[i] + base, walk->leaf[i], &walk->key[i]);
        if (link == FAB_NONE) {
            walk->lost = i;
            return FAB_NONE;
        }
        walk->hop[hop][i] = link;
        walk->n_hops[i] = hop + 1;
        walk->at[i] = fab_head(f, link) - base;
        list[left] = i;
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

fab_status fab_walk_run(fab_walk *walk, const fab_router *router, uint64_t seed, fab_error *err) {
    uint32_t list[FAB_WALK_PATHS];
    uint32_t left = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        list[left] = i;
        left += walk->at[i] != walk->target[i];
        if (is_refused_at_once(walk, router, i)) {
            return fab_walk_unreachable(walk, router, i, err);
        }
    }
    for (uint32_t hop = 0; left > 0 && left != FAB_NONE && hop < FAB_WALK_HOPS; hop++) { /* all have begun together */
        left = router->is_plain ? step_plain(walk, router, hop, list, left)
                                : step_any(walk, router, seed, hop, list, left);
    }
    return left != FAB_NONE ? FAB_OK : fab_walk_unreachable(walk, router, walk->lost, err);
}
