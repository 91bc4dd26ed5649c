/* adaptive: switches look at loads and not at header fields. See src/doc/adr/0020-adaptive.md.
 *
 * Every queue pair is cut into equal parts (flows, flowlets or packets, by granularity), and the parts of all flows
 * arrive one after the other in an order that the seed draws. A part takes at every switch the next hop with the least
 * utilisation, itself included: of its own ports (view=local), or the largest over the rest of the best minimal path
 * behind that port (view=downstream; equal ones by the own port). Equal ones are told apart by a draw of seed, part and
 * link. What was placed stays: it is the state that a flow finds, and no optimum.
 *
 * Parts go round the NICs and planes of a flow. Those of a NIC in a plane that has no way left go round the others. */
#include "adaptive.h"
#include "demand/demand.h"
#include "engines.h"
#include "fab/rng.h"
#include "walk/host_segments.h"

#define MOST_PATHS   (UINT64_C(1) << 24) /* each is placed and kept on its own */
#define ORDER_STREAM 0x616461U           /* of the arrivals */

/* Options, as in the table. */
enum { ADAPTIVE_GRANULARITY, ADAPTIVE_VIEW, ADAPTIVE_QP, ADAPTIVE_PARTS, ADAPTIVE_WINDOW, ADAPTIVE_QUEUEING };
enum { BY_PACKET = 2 }; /* of the granularities */

static bool looks_downstream(const fab_router *router) {
    return router->option[ADAPTIVE_VIEW].number == 1;
}

/* Options about putting packets in order say something about granularity=packet alone. */
static fab_status check_reordering(const fab_router *router, fab_error *err) {
    const fab_engine_option *options = router->engine->options;
    for (size_t i = ADAPTIVE_WINDOW; i <= ADAPTIVE_QUEUEING; i++) {
        FAB_REFUSE_IF(!router->facts.reorders && router->option[i].given, err, FAB_EINPUT, NULL,
                      "option %s needs granularity=packet; under granularity=%s packets "
                      "stay in order",
                      options[i].key, router->option[ADAPTIVE_GRANULARITY].text);
    }
    return FAB_OK;
}

static fab_status adaptive_prepare(fab_router *router, fab_error *err) {
    static const uint64_t PARTS[] = {1, 8, 64}; /* that stand for a granularity */
    const uint64_t granularity = router->option[ADAPTIVE_GRANULARITY].number;
    const uint64_t asked = router->option[ADAPTIVE_PARTS].number;
    uint64_t parts = asked > 0 ? asked : PARTS[granularity];
    FAB_REFUSE_IF(parts * router->queue_pairs > MOST_PATHS / router->ports.n_planes / router->ports.nics_per_gpu, err,
                  FAB_EUNSUPPORTED, NULL,
                  "%" PRIu32 " queue pairs in %" PRIu64 " parts exceed the limit of %" PRIu64 " paths",
                  router->queue_pairs, parts, MOST_PATHS);
    router->queue_pairs *= (uint32_t)parts;
    router->facts.reorders = granularity == BY_PACKET;
    return check_reordering(router, err);
}

/* --- what arrives ------------------------------------------------------------------------------------------------- */

static void release_placing(placing *p) {
    for (uint32_t hop = 0; p->chosen != NULL && hop < p->most_hops; hop++) {
        free(p->chosen[hop]);
    }
    FAB_FREE_ALL(p->ports, p->records, p->ends, p->is_lost, p->record_of, p->order, p->chosen, p->place, p->prospects,
                 p->at, p->queue, p->queue_first, p->first_at, p->is_choice, p->tied.link, p->tied.own);
}

static fab_status count_paths(const fab_router *router, const fab_phase *phase, size_t *out, fab_error *err) {
    uint64_t n_paths = phase->n_flows;
    uint32_t per_flow = router->facts.paths_per_flow;
    for (uint64_t i = 0; i < phase->n_flows && n_paths <= MOST_PATHS; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        n_paths += fab_in_domain(router->fabric, &router->ports, flow.src, flow.dst) ? 0 : per_flow - 1;
    }
    *out = n_paths;
    return n_paths <= MOST_PATHS ? FAB_OK
                                 : fab_fail(err, FAB_EUNSUPPORTED, NULL,
                                            "%s: %" PRIu64 " flows of %" PRIu32 " parts exceed the %" PRIu64
                                            " paths that engine adaptive "
                                            "places one by one; give fewer parts or use spray",
                                            phase->name, phase->n_flows, per_flow, MOST_PATHS);
}

/* Returns the size of the largest group. */
static uint32_t mark_choices(placing *p) {
    uint32_t most = 1;
    const fab_next_hops *t = p->router->next_hops;
    for (uint32_t v = 0; v < t->n_switches; v++) {
        for (uint32_t number = t->group_first[v]; number < t->group_first[v + 1]; number++) {
            fab_next_hop_list next = fab_next_hops_of_group(t, v, number);
            for (uint32_t i = 0; i < next.count && next.count > 1; i++) {
                p->is_choice[fab_next_hop(&next, i)] = 1;
            }
            most = next.count > most ? next.count : most;
        }
    }
    return most;
}

static fab_status init_placing(placing *p, const fab_phase *phase, fab_error *err) {
    const fab_fabric *f = p->router->fabric;
    const size_t per_flow = (size_t)p->router->ports.n_planes * p->router->ports.nics_per_gpu;
    p->n_records = per_flow * phase->n_flows;
    FAB_PASS(count_paths(p->router, phase, &p->n_paths, err));
    FAB_PASS(FAB_NEW(p->ports, f->n_links, err));
    FAB_PASS(FAB_NEW(p->records, p->n_records, err));
    FAB_PASS(FAB_NEW(p->is_lost, per_flow, err));
    FAB_PASS(FAB_NEW(p->order, p->n_paths, err));
    if (per_flow > 1 || p->n_paths < phase->n_flows * p->router->facts.paths_per_flow) {
        FAB_PASS(FAB_NEW(p->record_of, p->n_paths, err));
    }
    if (looks_downstream(p->router)) {
        FAB_PASS(FAB_NEW(p->prospects, fab_n_switches(f), err));
    } else {
        FAB_PASS(FAB_NEW(p->at, p->n_paths, err));
        FAB_PASS(FAB_NEW(p->queue, p->n_paths, err));
        FAB_PASS(FAB_NEW(p->queue_first, (size_t)fab_n_switches(f) + 2, err));
        FAB_PASS(FAB_NEW(p->first_at, p->n_records, err));
    }
    FAB_PASS(FAB_NEW(p->is_choice, f->n_links, err));
    const uint32_t most = mark_choices(p);
    FAB_PASS(FAB_NEW_ALL(most, err, p->tied.link, p->tied.own));
    for (fab_link_id link = 0; link < f->n_links; link++) {
        p->ports[link].per_bps = 1 / fab_class_of(f, link)->capacity_bps;
    }
    FAB_FILL(p->order, p->n_paths, (uint32_t)fab_at);
    fab_rng rng = fab_rng_make(p->seed, ORDER_STREAM);
    fab_rng_shuffle(&rng, p->order, p->n_paths);
    return FAB_OK;
}

/* Cables between two leaves, the same on all minimal paths; FAB_NONE where there is no way. */
static uint32_t count_hops(const fab_router *router, const record *t) {
    uint32_t n = 0;
    for (uint32_t v = t->src; v != t->dst; n++) {
        fab_next_hop_list next = fab_next_hops_look(router->next_hops, v, column_of(router, t));
        if (next.count == 0) {
            return FAB_NONE;
        }
        v = fab_head(router->fabric, fab_next_hop(&next, 0)) - router->fabric->first[FAB_NODE_SWITCH];
    }
    return n;
}

/* Returns where the next link goes. */
static size_t copy_links(fab_link_id *links, size_t at, const fab_link_id *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        links[at++] = from[i];
    }
    return at;
}

/* Record number i of a flow: queue pairs go round the planes, and each uses all NICs. */
static fab_status find_record(placing *p, const fab_flow *flow, uint32_t i, record *out, fab_error *err) {
    const fab_router *router = p->router;
    const fab_ports *ports = &router->ports;
    uint32_t base = router->fabric->first[FAB_NODE_SWITCH];
    uint32_t plane = fab_plane_of(router, flow, i / ports->nics_per_gpu, p->seed);
    fab_host_segments ends;
    FAB_PASS(
        fab_host_segments_of(router->fabric, ports, flow->src, flow->dst, i % ports->nics_per_gpu, plane, &ends, err));
    out->is_found = true;
    if (!ends.in_domain) {
        out->src = ends.src_leaf - base;
        out->dst = ends.dst_leaf - base;
        const uint32_t n_hops = count_hops(router, out);
        if (n_hops == FAB_NONE) {
            return fab_no_route(router->fabric, ends.src_nic, ends.src_leaf, ends.dst_nic, ends.dst_leaf, err);
        }
        p->most_hops = n_hops > p->most_hops ? n_hops : p->most_hops;
    }
    out->end = (uint32_t)p->n_ends;
    out->n_head = (uint8_t)ends.n_head;
    out->n_tail = (uint8_t)ends.n_tail;
    FAB_PASS(FAB_GROW(p->ends, p->end_capacity, p->n_ends + 2 * (size_t)FAB_SEGMENT_LINKS, err));
    p->n_ends = copy_links(p->ends, p->n_ends, ends.head, ends.n_head);
    p->n_ends = copy_links(p->ends, p->n_ends, ends.tail, ends.n_tail);
    return FAB_OK;
}

/* For every record of a flow whether it has a way; false where all have. */
static bool find_lost(const fab_router *router, const fab_flow *flow, uint64_t seed, uint32_t n, uint8_t *is_lost) {
    const uint32_t nics = router->ports.nics_per_gpu;
    const fab_demand_source source = {.fabric = router->fabric,
                                      .ports = &router->ports,
                                      .next_hops = router->next_hops,
                                      .dead_link = router->dead_link};
    bool some = false;
    for (uint32_t i = 0; i < n && router->dead_link != NULL; i++) {
        is_lost[i] = !fab_part_has_way(&source, flow, i % nics, fab_plane_of(router, flow, i / nics, seed));
        some = some || is_lost[i] != 0;
    }
    return some;
}

/* The record that path `k` of a flow takes: its own, or those that are left in turn, other planes of its NIC first. */
static uint32_t record_left(const fab_router *router, const uint8_t *is_lost, uint32_t n, uint32_t k) {
    const uint32_t nics = router->ports.nics_per_gpu;
    const uint32_t planes = router->ports.n_planes;
    const uint32_t own = k % n;
    FAB_SUM(uint32_t, left, i, n, is_lost[i] == 0);
    uint32_t skip = left > 0 ? k / n % left : 0;
    for (uint32_t step = 1; is_lost[own] != 0 && step < n; step++) {
        uint32_t at = (own / nics + step % planes) % planes * nics + (own + step / planes) % nics;
        if (is_lost[at] == 0 && skip-- == 0) {
            return at;
        }
    }
    return own; /* of a flow that is cut off whoever asks is told so */
}

/* Records of flow `i`, and which of them its paths take. */
static fab_status adaptive_add_flow(placing *p, const fab_phase *phase, uint32_t i, double rate, fab_routes *routes,
                                    fab_error *err) {
    fab_flow flow = fab_phase_flow(phase, i);
    bool in_domain = fab_in_domain(p->router->fabric, &p->router->ports, flow.src, flow.dst);
    uint32_t most = p->router->ports.n_planes * p->router->ports.nics_per_gpu;
    uint32_t n_records = in_domain ? 1 : most;
    uint32_t n_paths = in_domain ? 1 : p->router->facts.paths_per_flow;
    uint32_t path = routes->flow_first[i];
    const bool has_lost = n_records > 1 && find_lost(p->router, &flow, p->seed, n_records, p->is_lost);
    for (uint32_t k = 0; k < n_paths; k++, path++) {
        const uint32_t at = has_lost ? record_left(p->router, p->is_lost, n_records, k) : k % n_records;
        record *its = &p->records[(size_t)most * i + at];
        if (!its->is_found) {
            its->part_bps = rate / n_paths;
            FAB_PASS(find_record(p, &flow, at, its, err));
        }
        its->n_parts++;
        if (p->record_of != NULL) {
            p->record_of[path] = most * i + at;
        }
    }
    routes->flow_first[i + 1] = path;
    return FAB_OK;
}

static fab_status add_flows(placing *p, const fab_phase *phase, const double *rate, fab_routes *routes,
                            fab_error *err) {
    FAB_OWNS(fab_offer_release) fab_offer offer = {0};
    FAB_PASS(rate == NULL ? fab_offer_init(p->router->fabric, &p->router->ports, phase, &offer, err) : FAB_OK);
    FAB_PASS(FAB_GROW(routes->flow_first, routes->flow_capacity, phase->n_flows + 1, err));
    routes->flow_first[0] = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        FAB_PASS(
            adaptive_add_flow(p, phase, i, rate != NULL ? rate[i] : fab_offer_rate(&offer, phase, i), routes, err));
    }
    return p->most_hops > 0 ? FAB_NEW(p->chosen, p->most_hops, err) : FAB_OK;
}

/* --- the paths ---------------------------------------------------------------------------------------------------- */

static bool is_same_path(const placing *p, uint32_t a, uint32_t b) {
    bool is_same = p->record_of == NULL || p->record_of[a] == p->record_of[b];
    for (uint32_t hop = 0; hop < p->n_chosen && is_same; hop++) {
        is_same = p->chosen[hop][a] == p->chosen[hop][b];
    }
    return is_same;
}

/* The one of paths first ... n - 1 that part `i` takes as well, or n, which it is the first to take. */
static uint32_t find_path(placing *p, uint32_t i, uint32_t first, uint32_t n) {
    uint64_t hash = 0;
    for (uint32_t hop = 0; hop < p->n_chosen; hop++) {
        hash = (hash ^ p->chosen[hop][i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    uint32_t at = (uint32_t)(hash >> 40) & p->mask;
    for (; p->place[at] > first; at = (at + 1) & p->mask) {
        if (is_same_path(p, p->order[p->place[at] - 1], i)) {
            return p->place[at] - 1;
        }
    }
    p->order[n] = i;
    p->place[at] = n + 1;
    return n;
}

static fab_status write_path(const placing *p, uint32_t i, uint32_t n, fab_routes *routes, fab_error *err) {
    const record *its = record_of(p, i);
    size_t end = routes->path_first[n];
    FAB_PASS(FAB_GROW(routes->link, routes->link_capacity, end + p->most_hops + 2 * (size_t)FAB_SEGMENT_LINKS, err));
    end = copy_links(routes->link, end, p->ends + its->end, its->n_head);
    for (uint32_t v = its->src, hop = 0; v != its->dst; hop++) {
        const fab_next_hop_list next = fab_next_hops_look(p->router->next_hops, v, column_of(p->router, its));
        routes->link[end] = next.count > 1 ? p->chosen[hop][i] : fab_next_hop(&next, 0);
        v = switch_behind(p, routes->link[end++]);
    }
    routes->path_first[n + 1] = copy_links(routes->link, end, p->ends + its->end + its->n_head, its->n_tail);
    return FAB_OK;
}

/* Of equal paths of a flow one is written, with the parts of all, where the caller merges them. */
static fab_status adaptive_write(placing *p, fab_routes *routes, uint32_t n_flows, fab_error *err) {
    const bool merges = routes->merges && p->n_paths > n_flows;
    for (p->mask = 1; p->mask < 2 * p->router->facts.paths_per_flow;) {
        p->mask = 2 * p->mask + 1;
    }
    while (p->n_chosen < p->most_hops && p->chosen[p->n_chosen] != NULL) {
        p->n_chosen++;
    }
    FAB_PASS(FAB_NEW(p->place, (size_t)p->mask + 1, err));
    FAB_PASS(FAB_GROW(routes->path_first, routes->path_capacity, p->n_paths + 1, err));
    FAB_PASS(merges ? FAB_GROW(routes->part, routes->part_capacity, p->n_paths, err) : FAB_OK);
    routes->path_first[0] = 0;
    for (uint32_t flow = 0, i = 0, n = 0; flow < n_flows; flow++) {
        const uint32_t first = n;
        const uint32_t last = routes->flow_first[flow + 1];
        const double n_parts = last - i;
        const record *its = record_of(p, i);
        const uint32_t step = merges && p->record_of == NULL && its->src == its->dst ? last - i : 1; /* no choice */
        for (; i < last; i += step) {
            const uint32_t path = merges ? find_path(p, i, first, n) : n;
            FAB_PASS(path == n ? write_path(p, i, n, routes, err) : FAB_OK);
            if (merges) {
                routes->part[path] = path == n ? step : routes->part[path] + step;
            }
            n += path == n;
        }
        for (uint32_t path = first; path < n && merges; path++) {
            routes->part[path] /= n_parts;
        }
        routes->flow_first[flow + 1] = n;
    }
    routes->n_flows = n_flows;
    return FAB_OK;
}

/* Complexity: O(parts * next hops on a path), with view=downstream O(parts * links on all minimal paths). */
static fab_status route(const fab_router *router, const fab_phase *phase, const double *rate, uint64_t seed,
                        fab_routes *routes, fab_error *err) {
    FAB_OWNS(release_placing) placing p = {.router = router, .seed = seed, .seed_key = fab_mix64(seed)};
    routes->n_flows = 0;
    FAB_PASS(init_placing(&p, phase, err));
    FAB_PASS(add_flows(&p, phase, rate, routes, err));
    FAB_PASS(looks_downstream(router) ? fab_adaptive_place_by_paths(&p, err) : fab_adaptive_place_by_ports(&p, err));
    return adaptive_write(&p, routes, (uint32_t)phase->n_flows, err);
}

static const fab_engine_option OPTIONS[] = {
    [ADAPTIVE_GRANULARITY] = {"granularity", "packet",
                              "what is placed on its own: flow (a queue pair in 1 part), flowlet (8) or packet (64, "
                              "which arrive out of order)",
                              false, .kind = FAB_OPTION_CHOICE, .choices = "flow flowlet packet"},
    [ADAPTIVE_VIEW] = {"view", "local",
                       "what a switch sees: local (its own ports) or downstream (the largest utilisation on the rest "
                       "of the path)",
                       false, .kind = FAB_OPTION_CHOICE, .choices = "local downstream"},
    [ADAPTIVE_QP] = {"qp", "1", "queue pairs per flow", true, .kind = FAB_OPTION_QUEUE_PAIRS},
    [ADAPTIVE_PARTS] = {"parts", "auto", "of a queue pair, of equal size; auto: by granularity", true,
                        .kind = FAB_OPTION_COUNT, .choices = "auto"},
    [ADAPTIVE_WINDOW] = {"window", "1MiB",
                         "granularity=packet: what a receiver holds per flow to put packets in order (an assumption)",
                         true, .kind = FAB_OPTION_WINDOW},
    [ADAPTIVE_QUEUEING] = {"queueing", "5us",
                           "granularity=packet: allowance for queues in the round trip that the window must cover",
                           true, .kind = FAB_OPTION_QUEUEING},
    FAB_TABLES_OPTION,
    {.key = NULL},
};

const fab_engine fab_engine_adaptive = {
    .name = "adaptive",
    .summary = "each flow, flowlet or packet takes the least loaded minimal path",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .seeded = true,
    .prepare = adaptive_prepare,
    .route = route,
};
