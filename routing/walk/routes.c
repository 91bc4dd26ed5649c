/* Walks every flow of a phase, hop by hop, through the next-hop tables; the engine decides at each switch. */
#include "engines/engines.h"
#include "fab/rng.h"
#include "walk.h"

FAB_RELEASES(fab_routes_release, fab_routes, flow_first, path_first, link, group, part);

static fab_status routes_append(fab_routes *routes, size_t *n, const fab_link_id *links, uint32_t count,
                                fab_error *err) {
    FAB_PASS(FAB_GROW(routes->link, routes->link_capacity, *n + count, err));
    for (uint32_t i = 0; i < count; i++) {
        routes->link[(*n)++] = links[i];
    }
    return FAB_OK;
}

/* Routes being written: paths wait in the walk until it is full. */
typedef struct writer {
    const fab_router *router;
    uint64_t seed;
    fab_routes *routes;
    size_t n_paths, n_links; /* written */
    fab_walk walk;
} writer;

/* What is left of a path longer than a walk holds. Every minimal hop comes one nearer to the leaf, and own tables have
 * no loop, so it ends. */
static fab_status write_rest(writer *w, uint32_t i, fab_error *err) {
    const fab_fabric *f = w->router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    for (fab_node_id v = w->walk.at[i] + base; v != w->walk.target[i] + base;) {
        fab_link_id link = fab_router_next(w->router, w->seed, v, w->walk.leaf[i], &w->walk.key[i]);
        FAB_RETURN_IF(link == FAB_NONE, fab_walk_unreachable(&w->walk, w->router, i, err));
        FAB_PASS(routes_append(w->routes, &w->n_links, &link, 1, err));
        v = fab_head(f, link);
    }
    return FAB_OK;
}

/* Links between switches of paths that have ended. What is too much is written over: no need to count each. */
static void write_hops(writer *w) {
    const fab_walk *walk = &w->walk;
    size_t *path_first = w->routes->path_first + w->n_paths;
    fab_link_id *link = w->routes->link;
    uint32_t *group = w->routes->group;
    size_t n = w->n_links;
    for (uint32_t i = 0; i < walk->n; i++) {
        path_first[i] = n;
        for (uint32_t k = 0; k < walk->n_steps; k++) {
            link[n + k] = walk->hop[k][i];
        }
        n += walk->n_hops[i];
    }
    for (uint32_t i = 0; i < walk->n && group != NULL; i++) {
        for (uint32_t k = 0; k < walk->n_steps; k++) {
            group[path_first[i] + k] = walk->group[k][i];
        }
    }
    w->n_paths += walk->n;
    w->n_links = n;
}

static fab_status write_paths(writer *w, fab_error *err) {
    fab_routes *routes = w->routes;
    const fab_walk *walk = &w->walk;
    bool segments = !routes->between_switches;
    for (uint32_t i = 0; i < walk->n; i++) {
        routes->path_first[w->n_paths++] = w->n_links;
        if (segments) {
            FAB_PASS(routes_append(routes, &w->n_links, walk->segments[i].head, walk->segments[i].n_head, err));
        }
        FAB_PASS(FAB_GROW(routes->link, routes->link_capacity, w->n_links + walk->n_hops[i], err)); /* after rests */
        for (uint32_t k = 0; k < walk->n_hops[i]; k++) {
            routes->link[w->n_links++] = walk->hop[k][i];
        }
        FAB_PASS(walk->at[i] != walk->target[i] ? write_rest(w, i, err) : FAB_OK);
        if (segments) {
            FAB_PASS(routes_append(routes, &w->n_links, walk->segments[i].tail, walk->segments[i].n_tail, err));
        }
    }
    return FAB_OK;
}

static fab_status routes_flush(writer *w, fab_error *err) {
    fab_routes *routes = w->routes;
    fab_walk *walk = &w->walk;
    const size_t n = walk->n;
    walk->wants_groups = routes->group != NULL;
    fab_walk_begin(walk, w->router, w->seed);
    FAB_PASS(fab_walk_run(walk, w->router, w->seed, err));
    FAB_PASS(FAB_GROW(routes->path_first, routes->path_capacity, w->n_paths + n + 1, err));
    FAB_PASS(
        FAB_GROW(routes->link, routes->link_capacity, w->n_links + n * (FAB_WALK_HOPS + 2 * FAB_SEGMENT_LINKS), err));
    if (routes->group != NULL) {
        FAB_PASS(FAB_GROW(routes->group, routes->group_capacity, w->n_links + n * FAB_WALK_HOPS, err));
    }
    if (routes->between_switches && walk->n_left == 0) {
        write_hops(w);
    } else {
        FAB_PASS(write_paths(w, err));
    }
    routes->path_first[w->n_paths] = w->n_links;
    walk->n = 0;
    return FAB_OK;
}

/* No parts or groups may be left from another engine. Paths longer than a walk holds are finished without groups. */
static fab_status routes_start(const fab_router *router, fab_routes *routes, fab_error *err) {
    routes->n_flows = 0;
    free(routes->part);
    routes->part = NULL;
    routes->part_capacity = 0;
    if (!routes->wants_groups || !routes->between_switches || !router->is_modulo || !fab_is_tree(router->fabric)) {
        free(routes->group);
        routes->group = NULL;
        routes->group_capacity = 0;
        return FAB_OK;
    }
    return FAB_GROW(routes->group, routes->group_capacity, 1, err);
}

uint32_t fab_plane_of(const fab_router *router, const fab_flow *flow, uint32_t queue_pair, uint64_t seed) {
    uint32_t n_planes = router->ports.n_planes;
    if (n_planes == 1) {
        return 0;
    }
    uint64_t draw = fab_draw(router->engine->seeded ? seed : 0, (uint64_t)flow->src << 32 | flow->dst, flow->ordinal);
    return (fab_scale32((uint32_t)(draw >> 32), n_planes) + queue_pair) % n_planes;
}

/* Rows of an all-to-all between GPUs with one port each: nothing has to be looked up but where they are plugged in. */
static fab_status add_rows(writer *w, const fab_phase *phase, uint64_t first, uint32_t n_flows, fab_error *err) {
    const fab_port_end *end = w->router->end + phase->all.first;
    const uint32_t n = phase->all.n;
    const uint32_t n_queue_pairs = w->router->queue_pairs;
    uint32_t from = (uint32_t)(first / (n - 1));
    uint32_t to = (uint32_t)(first % (n - 1));
    size_t n_paths = 0;
    to += to >= from;
    for (uint32_t i = 0; i < n_flows; from++, to = 0) {
        const fab_port_end *source = &end[from];
        for (; to < n && i < n_flows; to++) {
            if (to == from) {
                continue;
            }
            bool in_domain = source->domain == end[to].domain;
            uint32_t count = in_domain ? 1 : n_queue_pairs;
            w->routes->flow_first[i++] = (uint32_t)n_paths;
            n_paths += count;
            for (uint32_t qp = 0; qp < count; qp++) {
                fab_walk_add_ends(&w->walk, source, in_domain ? source : &end[to], 0, qp);
                FAB_PASS(w->walk.n == FAB_WALK_PATHS ? routes_flush(w, err) : FAB_OK);
            }
        }
    }
    FAB_PASS(routes_flush(w, err));
    w->routes->flow_first[n_flows] = (uint32_t)n_paths;
    w->routes->n_flows = n_flows;
    return FAB_OK;
}

/* Of two GPUs with one port each, in different domains. */
static void add_simple(writer *w, const fab_flow *flow, uint32_t queue_pair) {
    const fab_port_end *from = &w->router->end[flow->src];
    const fab_port_end *to = &w->router->end[flow->dst];
    fab_host_segments *segments = &w->walk.segments[w->walk.n];
    segments->in_domain = false;
    segments->n_head = 2;
    segments->head[0] = from->pcie;
    segments->head[1] = from->up;
    segments->n_tail = 2;
    segments->tail[0] = to->up ^ 1U;
    segments->tail[1] = to->pcie ^ 1U;
    fab_walk_add_ends(&w->walk, from, to, flow->ordinal, queue_pair);
}

static fab_status add_any(writer *w, const fab_flow *flow, uint32_t path, fab_error *err) {
    const fab_ports *ports = &w->router->ports;
    fab_host_segments segments = {0};
    fab_hop_key key = {.ordinal = flow->ordinal, .queue_pair = path / ports->nics_per_gpu};
    uint32_t plane = fab_plane_of(w->router, flow, key.queue_pair, w->seed);
    FAB_PASS(fab_host_segments_of(w->router->fabric, ports, flow->src, flow->dst, path % ports->nics_per_gpu, plane,
                                  &segments, err));
    key.src_nic = segments.src_nic;
    key.dst_nic = segments.dst_nic;
    fab_walk_add(&w->walk, w->router, &segments, &key);
    return FAB_OK;
}

static fab_status routes_add_path(writer *w, const fab_flow *flow, uint32_t path, fab_error *err) {
    const fab_port_end *end = w->router->end;
    fab_status status = FAB_OK;
    if (end != NULL && end[flow->src].domain != end[flow->dst].domain) {
        add_simple(w, flow, path);
    } else {
        status = add_any(w, flow, path, err);
    }
    return status == FAB_OK && w->walk.n == FAB_WALK_PATHS ? routes_flush(w, err) : status;
}

fab_status fab_route_flows(const fab_router *router, const fab_phase *phase, uint64_t first, uint32_t n_flows,
                           const double *rate, uint64_t seed, fab_routes *routes, fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t paths_per_flow = router->facts.paths_per_flow;
    const uint32_t n_known = routes->n_known;
    writer w = {.router = router, .seed = seed, .routes = routes};
    routes->n_known = 0;
    FAB_PASS(routes_start(router, routes, err));
    FAB_REFUSE_IF(router->facts.splits, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s splits flows at every switch: a flow has no routes of its own", router->engine->name);
    FAB_PASS(fab_ports_check(f, &router->ports, phase, err));
    if (router->engine->route != NULL) {
        FAB_REFUSE_IF(routes->between_switches, err, FAB_EUNSUPPORTED, NULL,
                      "engine %s places whole paths: its routes are not kept between switches alone",
                      router->engine->name);
        return router->engine->route(router, phase, rate, seed, routes, err);
    }
    FAB_PASS(FAB_GROW(routes->flow_first, routes->flow_capacity, (size_t)n_flows + 1, err));
    if (fab_all_is_plain(&phase->all) && routes->between_switches && router->end != NULL) {
        return add_rows(&w, phase, first, n_flows, err);
    }
    size_t n_paths = n_known > 0 ? routes->flow_first[n_known] : 0;
    w.n_paths = n_paths;
    w.n_links = n_known > 0 ? routes->path_first[n_paths] : 0;
    for (uint32_t i = n_known; i < n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, first + i);
        bool in_domain = router->end != NULL ? router->end[flow.src].domain == router->end[flow.dst].domain
                                             : fab_in_domain(f, &router->ports, flow.src, flow.dst);
        size_t count = in_domain ? 1 : paths_per_flow; /* queue pairs differ only where switches choose */
        routes->flow_first[i] = (uint32_t)n_paths;
        n_paths += count;
        FAB_REFUSE_IF(n_paths > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                      "%u flows of %u queue pairs exceed the limit of %u paths", n_flows, paths_per_flow, UINT32_MAX);
        for (size_t path = 0; path < count; path++) {
            FAB_PASS(routes_add_path(&w, &flow, (uint32_t)path, err));
        }
    }
    FAB_PASS(routes_flush(&w, err));
    routes->flow_first[n_flows] = (uint32_t)n_paths;
    routes->n_flows = n_flows;
    return FAB_OK;
}

/* Some NIC of a leaf that sends to `dst_nic`, for the message where it cannot; `dst_nic` where there is no other. */
static uint32_t sender_on(const fab_fabric *f, fab_node_id leaf, uint32_t dst_nic) {
    FAB_EACH_LINK(f, leaf, link) {
        uint32_t nic = fab_head(f, link) - f->first[FAB_NODE_NIC];
        if (nic != dst_nic && fab_class_of(f, link)->kind == FAB_LINK_ACCESS) {
            return nic;
        }
    }
    return dst_nic;
}

fab_status fab_route_to_ports(const fab_router *router, uint32_t n, const fab_node_id *src_leaf,
                              const uint32_t *dst_nic, fab_routes *routes, fab_error *err) {
    const fab_fabric *f = router->fabric;
    writer w = {.router = router, .routes = routes};
    routes->between_switches = true;
    FAB_PASS(routes_start(router, routes, err));
    FAB_PASS(FAB_GROW(routes->flow_first, routes->flow_capacity, (size_t)n + 1, err));
    for (uint32_t i = 0; i < n; i++) {
        fab_link_id down = router->ports.nic_access[(size_t)dst_nic[i] * router->ports.n_planes] ^ 1U;
        const fab_host_segments segments = {
            .src_leaf = src_leaf[i], .dst_leaf = fab_tail(f, down), .dst_port = f->port[down], .dst_nic = dst_nic[i]};
        const fab_hop_key key = {.src_nic = sender_on(f, src_leaf[i], dst_nic[i]), .dst_nic = dst_nic[i]};
        routes->flow_first[i] = i;
        fab_walk_add(&w.walk, router, &segments, &key);
        FAB_PASS(w.walk.n == FAB_WALK_PATHS ? routes_flush(&w, err) : FAB_OK);
    }
    FAB_PASS(routes_flush(&w, err));
    routes->flow_first[n] = n;
    routes->n_flows = n;
    return FAB_OK;
}

fab_status fab_routes_of_round(const fab_routes *all, uint32_t round, uint32_t n_rounds, fab_routes *out,
                               fab_error *err) {
    size_t n_paths = 0;
    size_t n_links = 0;
    out->n_flows = 0;
    FAB_PASS(FAB_GROW(out->flow_first, out->flow_capacity, (size_t)all->n_flows + 1, err));
    for (uint32_t flow = 0; flow < all->n_flows; flow++) {
        size_t first = all->flow_first[flow];
        size_t count = all->flow_first[flow + 1] - first;
        if (count >= n_rounds) { /* the paths of a queue pair, one for each NIC, follow one another */
            count /= n_rounds;
            first += count * round;
        }
        out->flow_first[flow] = (uint32_t)n_paths;
        FAB_PASS(FAB_GROW(out->path_first, out->path_capacity, n_paths + count + 1, err));
        for (size_t path = first; path < first + count; path++) {
            out->path_first[n_paths++] = n_links;
            FAB_PASS(routes_append(out, &n_links, all->link + all->path_first[path],
                                   (uint32_t)(all->path_first[path + 1] - all->path_first[path]), err));
        }
    }
    FAB_PASS(FAB_GROW(out->path_first, out->path_capacity, n_paths + 1, err));
    out->flow_first[all->n_flows] = (uint32_t)n_paths;
    out->path_first[n_paths] = n_links;
    out->n_flows = all->n_flows;
    return FAB_OK;
}
