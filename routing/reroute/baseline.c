/* A phase on the healthy fabric: routes, loads, and who crosses which link. */
#include "baseline.h"
#include "fab/ranked.h"

#include <float.h>

#define MOST_PATHS (UINT32_C(1) << 31)
#define CACHE_LINE 64

_Static_assert(sizeof(fab_path_record) == CACHE_LINE, "a record is a cache line");

/* From a route back to where it enters and leaves the network. */
static void find_record(const fab_baseline *b, uint32_t path, fab_path_record *out, fab_hop_key *key) {
    const fab_fabric *f = b->fabric;
    const fab_link_id *link = b->routes.link + b->routes.path_first[path];
    uint32_t n = (uint32_t)(b->routes.path_first[path + 1] - b->routes.path_first[path]);
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t tail = n;
    out->column = FAB_NONE;
    out->n = (uint16_t)n;
    memcpy(out->link, link, (n <= FAB_RECORD_LINKS ? n : 0) * sizeof *link);
    FAB_FIRST(head, n, fab_class_of(f, link[head])->kind == FAB_LINK_ACCESS);
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
    out->column = b->router->next_hops->leaf_index[fab_tail(f, down) - base];
    key->src_nic = fab_tail(f, up) - f->first[FAB_NODE_NIC];
    key->dst_nic = fab_head(f, down) - f->first[FAB_NODE_NIC];
    key->destination = out->column * b->router->port_stride + f->port[down] - 1;
}

/* Which value modulo engines look at, switch by switch. */
static fab_status find_choices(fab_baseline *b, fab_error *err) {
    const fab_next_hops *t = b->router->next_hops;
    FAB_PASS(FAB_NEW(b->leaf, t->n_leaves, err));
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        b->leaf[leaf] = (fab_leaf_way){.chunk_of = t->chunk_of + (size_t)(leaf / FAB_CHUNK_LEAVES) * t->n_switches,
                                       .word = (uint16_t)(leaf % FAB_CHUNK_LEAVES / 2),
                                       .bit = (uint16_t)(leaf % 2 * 16),
                                       .at = t->leaf_node[leaf] - b->fabric->first[FAB_NODE_SWITCH]};
    }
    if (!b->router->is_modulo_healthy) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(b->choice, t->n_switches, err));
    b->has_few_values = true;
    for (uint32_t v = 0; v < t->n_switches; v++) {
        uint8_t tier = b->router->switch_tier[v];
        b->choice[v] = (fab_choice){.first_exit = t->out_first[v] - t->out_first[0],
                                    .first_group = t->group_at[v],
                                    .slot = b->router->modulo_slot[tier],
                                    .shift = b->router->modulo_shift[tier]};
        b->has_few_values = b->has_few_values && b->choice[v].slot < FAB_RECORD_VALUES;
    }
    return FAB_OK;
}

static fab_status find_records(fab_baseline *b, fab_error *err) {
    FAB_PASS(fab_allocate((size_t)b->n_paths + 1, CACHE_LINE, &b->record_memory, err));
    FAB_PASS(FAB_NEW(b->key, b->n_paths, err));
    size_t beyond = (size_t)((uintptr_t)b->record_memory % CACHE_LINE);
    b->record = (fab_path_record *)(void *)((char *)b->record_memory + (beyond > 0 ? CACHE_LINE - beyond : 0));
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        fab_flow about = fab_phase_flow(b->request.phase, flow);
        uint32_t first = b->routes.flow_first[flow];
        for (uint32_t path = first; path < b->routes.flow_first[flow + 1]; path++) {
            b->record[path].flow = flow;
            b->record[path].part_bps = b->part[flow];
            b->key[path] =
                (fab_hop_key){.ordinal = about.ordinal, .queue_pair = (path - first) / b->router->ports.nics_per_gpu};
            find_record(b, path, &b->record[path], &b->key[path]);
            b->most_links = b->record[path].n > b->most_links ? b->record[path].n : b->most_links;
        }
    }
    if (b->router->engine->begin != NULL) {
        b->router->engine->begin(b->router, b->request.seed, b->key, b->n_paths);
    }
    for (uint32_t path = 0; path < b->n_paths; path++) {
        memcpy(b->record[path].value, b->key[path].value, sizeof b->record[path].value);
    }
    return FAB_OK;
}

static fab_status index_links(fab_baseline *b, fab_error *err) {
    const fab_routes *r = &b->routes;
    const uint32_t n_links = b->fabric->n_links;
    const uint32_t *place = b->index->place;
    FAB_PASS(FAB_NEW(b->first, (size_t)n_links + 2, err));
    FAB_PASS(FAB_NEW(b->crossing, r->path_first[b->n_paths], err));
    for (size_t i = 0; i < r->path_first[b->n_paths]; i++) { /* places are shifted by two while they are filled */
        b->first[place[r->link[i]] + 2]++;
    }
    FAB_ADD_UP(b->first + 1, n_links);
    for (uint32_t path = 0; path < b->n_paths; path++) {
        uint32_t column = b->record[path].column != FAB_NONE ? b->record[path].column : FAB_NO_COLUMN;
        uint32_t n = (uint32_t)(r->path_first[path + 1] - r->path_first[path]);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = (i < FAB_LAST_PLACE ? i : FAB_LAST_PLACE) << 24 | column;
            b->crossing[b->first[place[r->link[r->path_first[path] + i]] + 1]++] = (fab_crossing){path, at};
        }
    }
    return FAB_OK;
}

static fab_status index_leaves(fab_baseline *b, fab_error *err) {
    const uint32_t n_leaves = b->router->next_hops->n_leaves;
    FAB_PASS(FAB_NEW(b->to_first, (size_t)n_leaves + 2, err));
    FAB_PASS(FAB_NEW(b->to, b->n_paths, err));
    FAB_OWNED_NEW(uint32_t, column, b->n_paths, err);
    FAB_FILL(column, b->n_paths, b->record[fab_at].column);
    fab_sort_by_key(column, NULL, b->n_paths, n_leaves, b->to_first, b->to);
    return FAB_OK;
}

/* Whether sums of rates of paths round nowhere: all are multiples of a power of two, and all of them together are no
 * more than 2^53 of it. */
static bool sums_are_exact(const fab_baseline *b) {
    int unit = DBL_MAX_EXP; /* its exponent */
    double sum = 0;
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        if (b->part[flow] > 0) {
            int exponent = 0;
            uint64_t digits = (uint64_t)ldexp(frexp(b->part[flow], &exponent), DBL_MANT_DIG);
            int lowest = exponent - DBL_MANT_DIG + __builtin_ctzll(digits);
            unit = lowest < unit ? lowest : unit;
        }
        sum += b->part[flow] * (b->routes.flow_first[flow + 1] - b->routes.flow_first[flow]);
    }
    return sum * 1.0001 <= ldexp(1, unit + DBL_MANT_DIG);
}

static fab_status route(fab_baseline *b, fab_error *err) {
    const fab_baseline_request *q = &b->request;
    FAB_OWNED_NEW(double, rate, b->n_flows, err);
    FAB_FILL(rate, b->n_flows, fab_offer_rate(q->offer, q->phase, fab_at));
    FAB_PASS(fab_route_flows(b->router, q->phase, 0, b->n_flows, rate, q->seed, &b->routes, err));
    b->n_paths = b->routes.flow_first[b->n_flows];
    FAB_REFUSE_IF(b->n_paths >= MOST_PATHS, err, FAB_EUNSUPPORTED, NULL, "%u paths exceed the limit of %u", b->n_paths,
                  MOST_PATHS);
    for (uint32_t flow = 0; flow < b->n_flows; flow++) {
        uint32_t first = b->routes.flow_first[flow];
        uint32_t last = b->routes.flow_first[flow + 1];
        b->part[flow] = last > first ? rate[flow] / (last - first) : 0;
        for (size_t i = b->routes.path_first[first]; i < b->routes.path_first[last]; i++) {
            b->load[b->routes.link[i]] += b->part[flow];
        }
    }
    b->is_exact = sums_are_exact(b);
    FAB_PASS(find_choices(b, err));
    FAB_PASS(find_records(b, err));
    FAB_PASS(index_links(b, err));
    return index_leaves(b, err);
}

static fab_status rank_links(fab_baseline *b, fab_error *err) {
    FAB_OWNED fab_ranked *list = NULL;
    bool differs = false;
    FAB_PASS(FAB_NEW_ALL(b->fabric->n_links, err, list, b->order, b->order_ratio));
    for (uint16_t i = 0; i < b->fabric->n_classes; i++) {
        const fab_link_class *about = &b->fabric->classes[i];
        bool counts = fab_is_network(about);
        b->per_bps[i] = counts ? 1 / about->capacity_bps : 0;
        if (counts) {
            differs = differs || (b->same_per_bps > 0 && b->same_per_bps != b->per_bps[i]);
            b->same_per_bps = b->per_bps[i];
        }
    }
    b->same_per_bps = differs ? 0 : b->same_per_bps;
    FAB_KEEP(list, b->n_order, l, b->fabric->n_links, fab_per_bps(b, l) > 0,
             (fab_ranked){b->load[l] * fab_per_bps(b, l), l});
    FAB_PASS(fab_ranked_sort(list, b->n_order, err));
    for (uint32_t i = 0; i < b->n_order; i++) {
        b->order[i] = list[i].item;
        b->order_ratio[i] = list[i].value;
    }
    return FAB_OK;
}

/* Of fewer than 2^32 flows. */
static fab_status index_gpus(const fab_phase *phase, uint32_t n_gpus, fab_gpu_flows *x, fab_error *err) {
    FAB_PASS(FAB_NEW(x->first, (size_t)n_gpus + 2, err));
    FAB_PASS(FAB_NEW(x->flow, 2 * (size_t)phase->n_flows, err));
    for (uint64_t i = 0; i < phase->n_flows; i++) { /* places are shifted by two while they are filled */
        fab_flow flow = fab_phase_flow(phase, i);
        x->first[flow.src + 2]++;
        x->first[flow.dst + 2]++;
    }
    FAB_ADD_UP(x->first + 1, n_gpus);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        x->flow[x->first[flow.src + 1]++] = (uint32_t)i;
        x->flow[x->first[flow.dst + 1]++] = (uint32_t)i;
    }
    return FAB_OK;
}

fab_status fab_baseline_new(const fab_baseline_request *request, fab_baseline **out, fab_error *err) {
    const fab_fabric *f = request->router->fabric;
    FAB_REFUSE_IF(request->phase->n_flows >= MOST_PATHS, err, FAB_EUNSUPPORTED, NULL,
                  "%llu flows exceed the limit of %u", (unsigned long long)request->phase->n_flows, MOST_PATHS);
    FAB_REFUSE_IF(request->router->next_hops->n_leaves >= FAB_NO_COLUMN, err, FAB_EUNSUPPORTED, NULL,
                  "%u leaves exceed the limit of %u", request->router->next_hops->n_leaves, FAB_NO_COLUMN - 1);
    FAB_OWNS_NEW(fab_baseline_free_owned, fab_baseline, b, 1, err);
    b->request = *request;
    b->router = request->router;
    b->fabric = f;
    b->on_loss = request->router->facts.on_loss;
    b->n_flows = (uint32_t)request->phase->n_flows;
    FAB_PASS(FAB_NEW(b->part, b->n_flows, err));
    FAB_PASS(FAB_NEW(b->load, f->n_links, err));
    FAB_PASS(FAB_NEW(b->per_bps, f->n_classes, err));
    b->index = request->index;
    if (b->index == NULL) {
        FAB_PASS(fab_hops_index_init(f, b->router->next_hops, &b->own_index, err));
        b->index = &b->own_index;
    }
    if (b->router->facts.splits) {
        FAB_FILL(b->part, b->n_flows, fab_offer_rate(request->offer, request->phase, fab_at));
        FAB_PASS(fab_baseline_split(request, NULL, NULL, b->load, err));
    } else {
        FAB_PASS(route(b, err));
    }
    FAB_PASS(rank_links(b, err));
    FAB_PASS(index_gpus(request->phase, fab_n_gpus(f), &b->gpu_flows, err));
    return FAB_GIVE(*out, b);
}

FAB_FREES_AFTER(fab_baseline_free, fab_baseline, b) {
    fab_hops_index_release(&b->own_index);
    fab_routes_release(&b->routes);
    FAB_FREE_ALL(b->part, b->record_memory, b->key, b->choice, b->leaf, b->first, b->crossing, b->to_first, b->to,
                 b->load, b->per_bps, b->order, b->order_ratio, b->gpu_flows.first, b->gpu_flows.flow);
}

const fab_routes *fab_baseline_routes(const fab_baseline *b) {
    return &b->routes;
}

const double *fab_baseline_load(const fab_baseline *b) {
    return b->load;
}
