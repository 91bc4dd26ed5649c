/* Everything again under a mask, of engines whose choices depend on all of the traffic or all of the fabric: over next
 * hops that are built anew, for the flows that still have a way. */
#include "baseline.h"
#include "fab/memory.h"
#include "fab/split.h"
#include "walk/host_segments.h"

#include <stdlib.h>
#include <string.h>

/* A phase without some of its flows, and its rates. */
typedef struct rest {
    fab_phase phase;
    uint32_t n_flows;
    uint32_t *flow; /* shape [n_flows]: in the whole phase */
    double *rate;
} rest;

static void rest_release(rest *s) {
    FAB_FREE_ALL(s->phase.src, s->phase.dst, s->phase.bytes, s->phase.comm, s->phase.ordinal, s->flow, s->rate);
}

static fab_status rest_init(const fab_baseline_request *what, const uint8_t *gone, rest *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_phase *whole = what->phase;
    const size_t n_flows = (size_t)whole->n_flows;
    rest s = {.phase = *whole};
    s.phase.all = (fab_all_to_all){0};
    s.phase.src = s.phase.dst = s.phase.comm = s.phase.ordinal = NULL;
    s.phase.bytes = NULL;
    s.phase.total_bytes = 0;
    FAB_TRY(FAB_NEW(s.phase.src, n_flows, err));
    FAB_TRY(FAB_NEW(s.phase.dst, n_flows, err));
    FAB_TRY(FAB_NEW(s.phase.bytes, n_flows, err));
    FAB_TRY(FAB_NEW(s.phase.comm, n_flows, err));
    FAB_TRY(FAB_NEW(s.phase.ordinal, n_flows, err));
    FAB_TRY(FAB_NEW(s.flow, n_flows, err));
    FAB_TRY(FAB_NEW(s.rate, n_flows, err));
    for (uint32_t i = 0; i < n_flows; i++) {
        if (gone != NULL && gone[i] != 0) {
            continue;
        }
        fab_flow flow = fab_phase_flow(whole, i);
        uint32_t at = s.n_flows++;
        s.phase.src[at] = flow.src;
        s.phase.dst[at] = flow.dst;
        s.phase.bytes[at] = flow.bytes;
        s.phase.comm[at] = flow.comm;
        s.phase.ordinal[at] = flow.ordinal;
        s.phase.total_bytes += flow.bytes;
        s.flow[at] = i;
        s.rate[at] = fab_offer_rate(what->offer, whole, i);
    }
    s.phase.n_flows = s.n_flows;
    *out = s;
    s = (rest){0};
done:
    rest_release(&s);
    return status;
}

fab_status fab_baseline_split(const fab_baseline_request *what, const uint8_t *gone, double *load, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_router *router = what->router;
    const fab_fabric *f = router->fabric;
    rest s = {0};
    fab_demand demand = {0};
    fab_split split = {0};
    fab_dag *own = NULL;
    const fab_dag *dag = router->groups.dag != NULL ? router->groups.dag : what->dag;
    FAB_TRY(rest_init(what, gone, &s, err));
    fab_offer offer = *what->offer;
    offer.rate = s.rate;
    FAB_TRY(fab_demand_init(f, &router->ports, router->next_hops, &s.phase, &offer, &demand, err));
    if (dag == NULL) {
        FAB_TRY(fab_dag_new(f, router->next_hops, &own, err));
        dag = own;
    }
    FAB_TRY(router->engine->split(router, dag, &demand, NULL, &split, err));
    memcpy(load, demand.segment_rate, f->n_links * sizeof *load);
    FAB_TRY(fab_split_load(dag, &split, &demand, demand.rate, load, err));
done:
    fab_dag_free(own);
    fab_split_release(&split);
    fab_demand_release(&demand);
    rest_release(&s);
    return status;
}

/* Whether a part of a flow still has a way. */
static bool has_way(const fab_reroute *r, const fab_next_hops *t, const fab_flow *flow, uint32_t nic, uint32_t plane) {
    const fab_fabric *f = r->b->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    fab_host_segments segments = {0};
    if (fab_host_segments_of(f, &r->b->router->ports, flow->src, flow->dst, nic, plane, &segments, NULL) != FAB_OK) {
        return false;
    }
    for (uint32_t i = 0; i < segments.n_head; i++) {
        if (fab_mask_link_is_dead(r->mask, segments.head[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < segments.n_tail; i++) {
        if (fab_mask_link_is_dead(r->mask, segments.tail[i])) {
            return false;
        }
    }
    return segments.in_domain || segments.src_leaf == segments.dst_leaf ||
           fab_next_hops_group(t, segments.src_leaf - base, t->leaf_index[segments.dst_leaf - base]) != 0;
}

/* Flows that have lost a part. In a fabric of several planes a NIC would use the others, and these engines do not know
 * how. */
static fab_status find_gone(fab_reroute *r, const fab_next_hops *t, uint8_t *gone, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_ports *ports = &b->router->ports;
    for (uint32_t i = 0; i < b->n_flows; i++) {
        fab_flow flow = fab_phase_flow(r->what.phase, i);
        for (uint32_t nic = 0; nic < ports->nics_per_gpu; nic++) {
            uint32_t n = 0;
            for (uint32_t plane = 0; plane < ports->n_planes; plane++) {
                n += has_way(r, t, &flow, nic, plane);
            }
            if (n > 0 && n < ports->n_planes) {
                return fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                "gpu-%u reaches gpu-%u in %u of %u planes; engine %s spreads flows over all of them",
                                flow.src, flow.dst, n, ports->n_planes, b->router->engine->name);
            }
            gone[i] |= n == 0;
        }
        if (gone[i] != 0) {
            uint32_t n_paths = b->router->splits ? 1 : r->flow_first[i + 1] - r->flow_first[i];
            fab_reroute_lose(r, i, r->part[i] * n_paths);
        }
    }
    return FAB_OK;
}

fab_status fab_reroute_list(fab_reroute *r, uint32_t flow, uint32_t path, size_t end, fab_error *err) {
    const fab_routes *before = &r->b->routes;
    const fab_link_id *link = r->link + r->path_first[r->n_touched];
    const size_t n = end - r->path_first[r->n_touched];
    const size_t *first = before->path_first;
    for (size_t i = 0; i < n; i++) {
        r->load[link[i]] += r->part[flow];
    }
    FAB_PASS(FAB_GROW(r->path, r->path_capacity, (size_t)r->n_touched + 1, err));
    FAB_PASS(FAB_GROW(r->path_first, r->first_capacity, (size_t)r->n_touched + 2, err));
    if (n > 0) {
        r->n_moved += r->flow_first != before->flow_first || n != first[path + 1] - first[path] ||
                      memcmp(before->link + first[path], link, n * sizeof *link) != 0;
    }
    r->path[r->n_touched++] = path;
    r->path_first[r->n_touched] = end;
    return FAB_OK;
}

/* Of an engine that routes whole phases. */
static fab_status route_phase(fab_reroute *r, const fab_router *router, const uint8_t *gone, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    rest s = {0};
    uint32_t at = 0;
    FAB_TRY(rest_init(&r->what, gone, &s, err));
    FAB_TRY(fab_route_flows(router, &s.phase, 0, s.n_flows, s.rate, r->what.seed, &r->routes, err));
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            size_t from = gone[flow] == 0 ? r->routes.flow_first[at] + (path - r->flow_first[flow]) : 0;
            size_t n = gone[flow] == 0 ? r->routes.path_first[from + 1] - r->routes.path_first[from] : 0;
            size_t first = r->path_first[r->n_touched];
            FAB_TRY(FAB_GROW(r->link, r->link_capacity, first + n + 1, err));
            if (n > 0) {
                memcpy(r->link + first, r->routes.link + r->routes.path_first[from], n * sizeof *r->link);
            }
            FAB_TRY(fab_reroute_list(r, flow, path, first + n, err));
        }
        at += gone[flow] == 0;
    }
done:
    rest_release(&s);
    return status;
}

static fab_status full_walk_all(fab_reroute *r, fab_error *err) {
    const fab_baseline *b = r->b;
    size_t n = 0;
    for (uint32_t path = 0; path < b->n_paths; path++) {
        uint32_t flow = b->record[path].flow;
        size_t first = n;
        FAB_PASS(fab_reroute_path(r, path, 0, &n, err));
        if (n == first) {
            fab_reroute_lose(r, flow, r->part[flow]);
        }
        FAB_PASS(fab_reroute_list(r, flow, path, n, err));
    }
    return FAB_OK;
}

/* Of an engine that makes tables of its own. */
static fab_status route_by_tables(fab_reroute *r, const fab_router *router, fab_error *err) {
    fab_status status = FAB_OK;
    fab_router kept = r->masked;
    r->masked = *router;
    r->masked.state = NULL;
    FAB_TRY(fab_allocate(1, router->engine->state_size, &r->masked.state, err));
    FAB_TRY(router->engine->prepare(&r->masked, err));
    FAB_TRY(r->what.phase == r->b->request.phase ? full_walk_all(r, err) : fab_migration_walk_all(r, err));
done:
    if (r->masked.state != NULL) {
        router->engine->release(&r->masked);
        free(r->masked.state);
    }
    r->masked = kept;
    return status;
}

fab_status fab_reroute_in_full(fab_reroute *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    const fab_engine *engine = b->router->engine;
    fab_next_hops *t = NULL;
    uint8_t *gone = NULL;
    fab_router router = *b->router; /* owns nothing */
    FAB_TRY(fab_next_hops_new(b->fabric, r->mask->dead_link, &t, err));
    router.next_hops = t;
    router.minimal = t;
    fab_baseline_request what = r->what;
    what.router = &router;
    what.dag = NULL;
    memset(r->load, 0, b->fabric->n_links * sizeof *r->load);
    r->path_first[0] = 0;
    if (engine->next != NULL && !router.splits) {
        FAB_TRY(route_by_tables(r, &router, err));
        goto done;
    }
    FAB_TRY(FAB_NEW(gone, b->n_flows, err));
    FAB_TRY(find_gone(r, t, gone, err));
    if (router.splits) {
        FAB_TRY(fab_baseline_split(&what, gone, r->load, err));
    } else if (engine->route != NULL) {
        FAB_TRY(route_phase(r, &router, gone, err));
    } else {
        FAB_FAIL(err, FAB_EINTERNAL, NULL, "engine %s reconverges, and does not say how", engine->name);
    }
done:
    free(gone);
    fab_next_hops_free(t);
    return status;
}
