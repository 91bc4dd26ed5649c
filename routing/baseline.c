/* A phase on the whole fabric: routes, loads, and who crosses which link. */
#include "baseline.h"
#include "fab/memory.h"
#include "fab/split.h"

#include <stdlib.h>

#define MOST_PATHS (UINT32_C(1) << 31)

static bool is_network(const fab_fabric *f, fab_link_id link) {
    fab_link_kind kind = fab_class_of(f, link)->kind;
    return kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC;
}

/* From a route back to where it enters and leaves the network. */
static void find_trip(const fab_baseline *b, uint32_t path, fab_trip *out, fab_hop_key *key) {
    const fab_fabric *f = b->fabric;
    const fab_link_id *link = b->routes.link + b->routes.path_first[path];
    uint32_t n = (uint32_t)(b->routes.path_first[path + 1] - b->routes.path_first[path]);
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t head = 0;
    uint32_t tail = n;
    out->column = FAB_NONE;
    out->first = b->routes.path_first[path];
    out->n = (uint16_t)n;
    while (head < n && fab_class_of(f, link[head])->kind != FAB_LINK_ACCESS) {
        head++;
    }
    if (head == n) {
        return;
    }
    while (fab_class_of(f, link[tail - 1])->kind != FAB_LINK_ACCESS) {
        tail--;
    }
    fab_link_id up = link[head];
    fab_link_id down = link[tail - 1];
    out->n_head = (uint8_t)(head + 1);
    out->n_tail = (uint8_t)(n - tail + 1);
    out->src = fab_head(f, up) - base;
    out->dst = fab_tail(f, down) - base;
    out->column = b->router->next_hops->leaf_index[out->dst];
    key->src_nic = fab_tail(f, up) - f->first[FAB_NODE_NIC];
    key->dst_nic = fab_head(f, down) - f->first[FAB_NODE_NIC];
    key->destination = out->column * b->router->port_stride + f->port[down] - 1;
}

static fab_status find_trips(fab_baseline *b, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(b->trip, b->n_paths, err));
    FAB_TRY(FAB_NEW(b->key, b->n_paths, err));
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        fab_flow about = fab_phase_flow(b->request.phase, flow);
        uint32_t first = b->routes.flow_first[flow];
        for (uint32_t path = first; path < b->routes.flow_first[flow + 1]; path++) {
            b->trip[path].flow = flow;
            b->key[path] =
                (fab_hop_key){.ordinal = about.ordinal, .queue_pair = (path - first) / b->router->ports.nics_per_gpu};
            find_trip(b, path, &b->trip[path], &b->key[path]);
        }
    }
    if (b->router->engine->begin != NULL) {
        b->router->engine->begin(b->router, b->request.seed, b->key, b->n_paths);
    }
    for (uint32_t path = 0; path < b->n_paths; path++) {
        b->trip[path].value = b->key[path].value[0];
    }
done:
    return status;
}

static fab_status index_links(fab_baseline *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_routes *r = &b->routes;
    uint32_t n_links = b->fabric->n_links;
    uint32_t n_leaves = b->router->next_hops->n_leaves;
    FAB_TRY(FAB_NEW(b->first, (size_t)n_links + 2, err));
    FAB_TRY(FAB_NEW(b->crossing, r->path_first[b->n_paths], err));
    FAB_TRY(FAB_NEW(b->to_first, (size_t)n_leaves + 2, err));
    FAB_TRY(FAB_NEW(b->to, b->n_paths, err));
    for (size_t i = 0; i < r->path_first[b->n_paths]; i++) { /* places are shifted by two while they are filled */
        b->first[r->link[i] + 2]++;
    }
    for (uint32_t l = 0; l < n_links; l++) {
        b->first[l + 2] += b->first[l + 1];
    }
    for (uint32_t path = 0; path < b->n_paths; path++) {
        uint32_t column = b->trip[path].column;
        for (size_t i = r->path_first[path]; i < r->path_first[path + 1]; i++) {
            b->crossing[b->first[r->link[i] + 1]++] = (fab_crossing){path, column};
        }
        if (column != FAB_NONE) {
            b->to_first[column + 2]++;
        }
    }
    for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
        b->to_first[leaf + 2] += b->to_first[leaf + 1];
    }
    for (uint32_t path = 0; path < b->n_paths; path++) {
        if (b->trip[path].column != FAB_NONE) {
            b->to[b->to_first[b->trip[path].column + 1]++] = path;
        }
    }
done:
    return status;
}

static fab_status route(fab_baseline *b, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline_request *q = &b->request;
    double *rate = NULL;
    FAB_TRY(FAB_NEW(rate, b->n_flows, err));
    for (uint32_t i = 0; i < b->n_flows; i++) {
        rate[i] = fab_offer_rate(q->offer, q->phase, i);
    }
    FAB_TRY(fab_route_flows(b->router, q->phase, 0, b->n_flows, rate, q->seed, &b->routes, err));
    b->n_paths = b->routes.flow_first[b->n_flows];
    if (b->n_paths >= MOST_PATHS) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%u paths exceed the limit of %u", b->n_paths, MOST_PATHS);
    }
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        uint32_t first = b->routes.flow_first[flow];
        uint32_t last = b->routes.flow_first[flow + 1];
        b->part[flow] = last > first ? rate[flow] / (last - first) : 0;
        for (size_t i = b->routes.path_first[first]; i < b->routes.path_first[last]; i++) {
            b->load[b->routes.link[i]] += b->part[flow];
        }
    }
    FAB_TRY(find_trips(b, err));
    FAB_TRY(index_links(b, err));
done:
    free(rate);
    return status;
}

typedef struct ranked {
    double ratio;
    fab_link_id link;
} ranked;

static int by_ratio(const void *a, const void *b) {
    const ranked *x = a;
    const ranked *y = b;
    if (x->ratio != y->ratio) {
        return x->ratio > y->ratio ? -1 : 1;
    }
    return x->link < y->link ? -1 : 1;
}

static fab_status rank_links(fab_baseline *b, fab_error *err) {
    fab_status status = FAB_OK;
    ranked *list = NULL;
    FAB_TRY(FAB_NEW(list, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(b->order, b->fabric->n_links, err));
    FAB_TRY(FAB_NEW(b->order_ratio, b->fabric->n_links, err));
    for (uint32_t l = 0; l < b->fabric->n_links; l++) {
        if (is_network(b->fabric, l)) {
            b->per_bps[l] = 1 / fab_class_of(b->fabric, l)->capacity_bps;
            list[b->n_order++] = (ranked){b->load[l] * b->per_bps[l], l};
        }
    }
    qsort(list, b->n_order, sizeof *list, by_ratio);
    for (uint32_t i = 0; i < b->n_order; i++) {
        b->order[i] = list[i].link;
        b->order_ratio[i] = list[i].ratio;
    }
done:
    free(list);
    return status;
}

fab_status fab_baseline_new(const fab_baseline_request *request, fab_baseline **out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_baseline *b = NULL;
    const fab_fabric *f = request->router->fabric;
    if (request->phase->n_flows >= MOST_PATHS) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%llu flows exceed the limit of %u",
                 (unsigned long long)request->phase->n_flows, MOST_PATHS);
    }
    FAB_TRY(FAB_NEW(b, 1, err));
    b->request = *request;
    b->router = request->router;
    b->fabric = f;
    b->on_loss = fab_router_on_loss(request->router);
    b->n_flows = (uint32_t)request->phase->n_flows;
    FAB_TRY(FAB_NEW(b->part, b->n_flows, err));
    FAB_TRY(FAB_NEW(b->load, f->n_links, err));
    FAB_TRY(FAB_NEW(b->per_bps, f->n_links, err));
    FAB_TRY(fab_hops_index_init(f, b->router->next_hops, &b->index, err));
    if (b->router->splits) {
        for (uint32_t flow = 0; flow < b->n_flows; flow++) {
            b->part[flow] = fab_offer_rate(request->offer, request->phase, flow);
        }
        FAB_TRY(fab_baseline_split(request, NULL, b->load, err));
    } else {
        FAB_TRY(route(b, err));
    }
    FAB_TRY(rank_links(b, err));
    FAB_TRY(fab_gpu_flows_init(request->phase, fab_n_gpus(f), &b->gpu_flows, err));
    *out = b;
    b = NULL;
done:
    fab_baseline_free(b);
    return status;
}

void fab_baseline_free(fab_baseline *b) {
    if (b == NULL) {
        return;
    }
    fab_hops_index_release(&b->index);
    fab_routes_release(&b->routes);
    free(b->part);
    free(b->trip);
    free(b->key);
    free(b->first);
    free(b->crossing);
    free(b->to_first);
    free(b->to);
    free(b->load);
    free(b->per_bps);
    free(b->order);
    free(b->order_ratio);
    fab_gpu_flows_release(&b->gpu_flows);
    free(b);
}

const fab_routes *fab_baseline_routes(const fab_baseline *b) {
    return &b->routes;
}

const double *fab_baseline_load(const fab_baseline *b) {
    return b->load;
}
