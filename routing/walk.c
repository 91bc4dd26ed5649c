/* Walks many paths a hop at a time through the next-hop tables; the engine decides at each switch. */
#include "walk.h"
#include "engines.h"

fab_status fab_walk_unreachable(const fab_walk *walk, const fab_router *router, uint32_t i, fab_error *err) {
    char a[32];
    char b[32];
    const fab_fabric *f = router->fabric;
    uint32_t src = walk->key[i].src_nic;
    fab_node_id from = fab_head(f, router->ports.nic_access[(size_t)src * router->ports.n_planes]);
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from nic-%u on %s to nic-%u on %s", src,
                    fab_node_name(f, from, a), walk->key[i].dst_nic,
                    fab_node_name(f, walk->target[i] + f->first[FAB_NODE_SWITCH], b));
}

fab_link_id fab_router_next(const fab_router *router, uint64_t seed, fab_node_id v, uint32_t leaf,
                            const fab_hop_key *key) {
    const fab_fabric *f = router->fabric;
    if (router->engine->next != NULL) {
        return router->engine->next(router, v, key);
    }
    uint32_t index = v - f->first[FAB_NODE_SWITCH];
    fab_hop hop = {.node = v, .leaf = leaf, .tier = router->switch_tier[index]};
    hop.next = fab_next_hops_get(router->next_hops, index, leaf, &hop.count);
    if (hop.count == 0) {
        return FAB_NONE;
    }
    return hop.next[hop.count == 1 ? 0 : router->engine->pick(router, seed, &hop, key)];
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
        return;
    }
    walk->key[i] = *key;
    walk->at[i] = legs->src_leaf - base;
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
 * next hop. */
static uint32_t step_plain(fab_walk *walk, const fab_router *router, uint32_t *list, uint32_t n) {
    const fab_next_hops *t = router->next_hops;
    uint32_t left = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = list[k];
        uint32_t v = walk->at[i];
        uint32_t group = fab_next_hops_group(t, v, walk->leaf[i]);
        if (group == 0) {
            walk->lost = i;
            return FAB_NONE;
        }
        uint32_t tier = router->switch_tier[v];
        uint32_t entry = t->group_first[v] + group - 1;
        uint32_t first = t->group_link[entry];
        uint32_t value = walk->key[i].value[router->plain_slot[tier]] >> router->plain_shift[tier];
        uint32_t member = first + modulo(value, t->group_link[entry + 1] - first);
        fab_link_id link = t->member[member];
        uint32_t next = router->member_head[member];
        walk->group[i][walk->n_hops[i]] = entry;
        walk->hop[i][walk->n_hops[i]++] = link;
        walk->at[i] = next;
        list[left] = i;
        left += next != walk->target[i] && walk->n_hops[i] < FAB_WALK_HOPS;
    }
    return left;
}

static uint32_t step_any(fab_walk *walk, const fab_router *router, uint64_t seed, uint32_t *list, uint32_t n) {
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
        walk->hop[i][walk->n_hops[i]++] = link;
        walk->at[i] = fab_head(f, link) - base;
        list[left] = i;
        left += walk->at[i] != walk->target[i] && walk->n_hops[i] < FAB_WALK_HOPS;
    }
    return left;
}

fab_status fab_walk_run(fab_walk *walk, const fab_router *router, uint64_t seed, fab_error *err) {
    uint32_t list[FAB_WALK_PATHS];
    uint32_t left = 0;
    for (uint32_t i = 0; i < walk->n; i++) {
        list[left] = i;
        left += walk->at[i] != walk->target[i];
    }
    while (left > 0 && left != FAB_NONE) {
        left = router->is_plain ? step_plain(walk, router, list, left) : step_any(walk, router, seed, list, left);
    }
    return left == 0 ? FAB_OK : fab_walk_unreachable(walk, router, walk->lost, err);
}
