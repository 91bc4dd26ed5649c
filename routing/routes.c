/* Walks every flow of a phase, hop by hop, through the next-hop tables; the engine decides at each switch. */
#include "engines.h"
#include "fab/memory.h"
#include "fab/rng.h"
#include "legs.h"

#include <stdlib.h>

void fab_routes_release(fab_routes *routes) {
    free(routes->flow_first);
    free(routes->path_first);
    free(routes->link);
    *routes = (fab_routes){0};
}

static fab_status append(fab_routes *routes, size_t *n, const fab_link_id *links, uint32_t count, fab_error *err) {
    fab_status status = FAB_GROW(routes->link, routes->link_capacity, *n + count, err);
    for (uint32_t i = 0; status == FAB_OK && i < count; i++) {
        routes->link[(*n)++] = links[i];
    }
    return status;
}

static fab_status unreachable(const fab_fabric *f, const fab_legs *legs, fab_error *err) {
    char a[32];
    char b[32];
    return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from nic-%u on %s to nic-%u on %s", legs->src_nic,
                    fab_node_name(f, legs->src_leaf, a), legs->dst_nic, fab_node_name(f, legs->dst_leaf, b));
}

fab_link_id fab_router_next(const fab_router *router, uint64_t seed, fab_node_id v, uint32_t leaf,
                            const fab_hop_key *key) {
    const fab_fabric *f = router->fabric;
    if (router->engine->next != NULL) {
        return router->engine->next(router, v, key);
    }
    fab_hop hop = {.node = v, .leaf = leaf};
    hop.next = fab_next_hops_get(router->next_hops, v - f->first[FAB_NODE_SWITCH], leaf, &hop.count);
    if (hop.count == 0) {
        return FAB_NONE;
    }
    hop.tier = fab_tier_of(f, v);
    return hop.next[hop.count == 1 ? 0 : router->engine->pick(router, seed, &hop, key)];
}

/* Switch to switch. Every minimal hop comes one nearer to the leaf, and own tables have no loop, so the walk ends. */
static fab_status walk(const fab_router *router, uint64_t seed, const fab_legs *legs, fab_hop_key *key,
                       fab_routes *routes, size_t *n, fab_error *err) {
    const fab_fabric *f = router->fabric;
    const fab_next_hops *t = router->next_hops;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t leaf = t->leaf_index[legs->dst_leaf - base];
    key->destination = leaf * router->port_stride + legs->dst_port - 1;
    if (router->engine->begin != NULL && legs->src_leaf != legs->dst_leaf) {
        router->engine->begin(router, seed, key);
    }
    for (fab_node_id v = legs->src_leaf; v != legs->dst_leaf;) {
        fab_link_id link = fab_router_next(router, seed, v, leaf, key);
        if (link == FAB_NONE) {
            return unreachable(f, legs, err);
        }
        fab_status status = append(routes, n, &link, 1, err);
        if (status != FAB_OK) {
            return status;
        }
        v = fab_head(f, link);
    }
    return FAB_OK;
}

static fab_status route_path(const fab_router *router, const fab_flow *flow, uint32_t path, uint64_t seed,
                             fab_routes *routes, size_t *n, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_ports *ports = &router->ports;
    fab_legs legs = {0};
    fab_hop_key key = {.ordinal = flow->ordinal, .queue_pair = path / ports->nics_per_gpu};
    uint32_t plane = 0;
    if (ports->n_planes > 1) { /* queue pairs take the planes in turn, from one drawn per flow */
        uint64_t draw =
            fab_draw(router->engine->seeded ? seed : 0, (uint64_t)flow->src << 32 | flow->dst, flow->ordinal);
        plane = (fab_scale32((uint32_t)(draw >> 32), ports->n_planes) + key.queue_pair) % ports->n_planes;
    }
    FAB_TRY(fab_legs_of(router->fabric, ports, flow->src, flow->dst, path % ports->nics_per_gpu, plane, &legs, err));
    FAB_TRY(append(routes, n, legs.head, legs.n_head, err));
    if (!legs.in_domain) {
        key.src_nic = legs.src_nic;
        key.dst_nic = legs.dst_nic;
        FAB_TRY(walk(router, seed, &legs, &key, routes, n, err));
        FAB_TRY(append(routes, n, legs.tail, legs.n_tail, err));
    }
done:
    return status;
}

/* Every port of a NIC carries its share: as many queue pairs on each plane. */
uint32_t fab_paths_per_flow(const fab_router *router) {
    uint32_t planes = router->ports.n_planes;
    return (router->queue_pairs + planes - 1) / planes * planes * router->ports.nics_per_gpu;
}

fab_status fab_route_flows(const fab_router *router, const fab_phase *phase, uint64_t first, uint32_t n_flows,
                           const double *rate, uint64_t seed, fab_routes *routes, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = router->fabric;
    uint32_t paths_per_flow = fab_paths_per_flow(router);
    size_t n_paths = 0;
    size_t n_links = 0;
    routes->n_flows = 0;
    if (router->splits) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%s splits what switches hold: no flow has a path of its own",
                 router->label);
    }
    if (router->engine->route != NULL) {
        return router->engine->route(router, phase, rate, seed, routes, err);
    }
    FAB_TRY(FAB_GROW(routes->flow_first, routes->flow_capacity, (size_t)n_flows + 1, err));
    for (uint32_t i = 0; i < n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, first + i);
        bool in_domain =
            router->ports.gpu_scaleup[flow.src] != FAB_NONE && fab_domain_of(f, flow.src) == fab_domain_of(f, flow.dst);
        size_t count = in_domain ? 1 : paths_per_flow; /* queue pairs differ only where switches choose */
        routes->flow_first[i] = (uint32_t)n_paths;
        if (n_paths + count > UINT32_MAX) {
            FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%u flows of %u queue pairs exceed the limit of %u paths", n_flows,
                     paths_per_flow, UINT32_MAX);
        }
        FAB_TRY(FAB_GROW(routes->path_first, routes->path_capacity, n_paths + count + 1, err));
        for (size_t path = 0; path < count; path++) {
            routes->path_first[n_paths++] = n_links;
            FAB_TRY(route_path(router, &flow, (uint32_t)path, seed, routes, &n_links, err));
        }
    }
    FAB_TRY(FAB_GROW(routes->path_first, routes->path_capacity, n_paths + 1, err));
    routes->flow_first[n_flows] = (uint32_t)n_paths;
    routes->path_first[n_paths] = n_links;
    routes->n_flows = n_flows;
done:
    return status;
}

fab_status fab_routes_of_round(const fab_routes *all, uint32_t round, uint32_t n_rounds, fab_routes *out,
                               fab_error *err) {
    fab_status status = FAB_OK;
    size_t n_paths = 0;
    size_t n_links = 0;
    out->n_flows = 0;
    FAB_TRY(FAB_GROW(out->flow_first, out->flow_capacity, (size_t)all->n_flows + 1, err));
    for (uint32_t flow = 0; flow < all->n_flows; flow++) {
        size_t first = all->flow_first[flow];
        size_t count = all->flow_first[flow + 1] - first;
        if (count >= n_rounds) { /* the paths of a queue pair, one for each NIC, follow one another */
            count /= n_rounds;
            first += count * round;
        }
        out->flow_first[flow] = (uint32_t)n_paths;
        FAB_TRY(FAB_GROW(out->path_first, out->path_capacity, n_paths + count + 1, err));
        for (size_t path = first; path < first + count; path++) {
            out->path_first[n_paths++] = n_links;
            FAB_TRY(append(out, &n_links, all->link + all->path_first[path],
                           (uint32_t)(all->path_first[path + 1] - all->path_first[path]), err));
        }
    }
    FAB_TRY(FAB_GROW(out->path_first, out->path_capacity, n_paths + 1, err));
    out->flow_first[all->n_flows] = (uint32_t)n_paths;
    out->path_first[n_paths] = n_links;
    out->n_flows = all->n_flows;
done:
    return status;
}
