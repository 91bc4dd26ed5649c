/* Closed forms of what a replay takes at its peak, from what it allocates: bytes by node, cable, link, flow, path and
 * hop. Each names the arrays that it stands for. tests/cli/estimates.py compares them with what runs take.
 *
 * Where a count is not known before the work is done, the formula takes its bound: every path as long as the tiers
 * allow, every array as large as doubling may leave it. */
#include "fab/replay_memory.h"
#include "fab/design.h"
#include "context/context_parts.h"
#include "measure/measure_rates.h"

#define LEAVES_PER_WORD 64.0
#define SHARDS          8.0 /* of a phase that is routed in chunks */
#define CHUNK_PATHS     65536.0

#define DEMAND_LINK 24.0 /* rate, bytes, spray of a phase */
#define DEMAND_PART 48.0 /* of a flow: its pair, that pair, the sort */
#define RUN_LINK    32.0 /* loads, hot links, counts, values that are folded */
#define FLOW_LISTED 20.0 /* source, destination, bytes, communicator */
#define FLOW_RUN    28.0 /* rate, volume, limit; first path */
#define PATH_SOLVED 52.0 /* first hop, bits, weight, rate, end, bottleneck, latency */
#define LINK_PAUSED 53.0 /* latency, pauses, causes; roots while they are looked for */
#define PATH_PLACED 20.0 /* of engines that take all flows at once */
#define PAIR_FOLDED 64.0 /* worst, shares, hops and latencies of a pair under a split */
#define GROUP_USED  49.0
#define ITEM_BYTES  32 /* of the list of draws, which doubles, and a value that is sorted */
#define ROUTE_BYTES 64
#define SHARE_BYTES 12.0 /* link and share */

static double fixed_bytes(const fab_replay_sizes *s) {
    return fab_graph_bytes(s) + fab_next_hops_bytes(s) + fab_dags_bytes(s);
}

static double dependencies_bytes(const fab_replay_sizes *s) {
    return s->n_links * 2 * sizeof(uint32_t) + s->turn_words * sizeof(uint64_t) + s->n_switches * 12;
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

/* Links of the paths of a pair under a split: one of each class of links in a tree, all inside of a box in a torus. */
static double links_of_split(const fab_replay *replay, const fab_fabric *f) {
    const fab_torus *torus = &fab_context_what(replay->context)->design->fabric.torus;
    double n = 2.0 * f->n_tiers + (fab_is_tree(f) ? 2 : 4);
    if (f->wiring != FAB_WIRING_TORUS) {
        return n;
    }
    n = torus->n_dimensions;
    for (uint32_t i = 0; i < torus->n_dimensions; i++) {
        n *= (double)torus->size[i] / 4 + 1; /* the mean distance, forward and reverse being the same */
    }
    return n + 4;
}

/* Cables of a path between two NICs: up and down; over the diameter of another graph, on average half of it. */
double fab_path_links(const fab_design *design, const fab_fabric *f) {
    const fab_torus *torus = &design->fabric.torus;
    double n = 2.0 * f->n_tiers + 2 + (f->forwards_in_domain ? 2 : 0);
    for (uint32_t i = 0; f->wiring == FAB_WIRING_TORUS && i < torus->n_dimensions; i++) {
        n += (double)torus->size[i] / 4;
    }
    return f->wiring == FAB_WIRING_DRAGONFLY || f->wiring == FAB_WIRING_GRAPH ? n + 3 : n;
}

/* Flows that stay in a scale-up domain have one path of two links. */
static double count_in_domain(const fab_fabric *f, const fab_phase *phase) {
    uint64_t n = 0;
    for (uint64_t i = 0; phase->all.n == 0 && f->gpus_per_domain > 0 && i < phase->n_flows; i++) {
        n += phase->src[i] / f->gpus_per_domain == phase->dst[i] / f->gpus_per_domain;
    }
    return (double)n;
}

double fab_packets_bytes(const fab_transport_spec *spec, double n_paths, double n_senders, double n_links,
                         double n_hops) {
    fab_senders senders;
    const fab_lossless transport = fab_lossless_of(spec, &senders);
    return spec->kind == FAB_TRANSPORT_FLUID
               ? 0
               : fab_lossless_bytes(&transport, n_paths, n_links, n_hops, n_senders) + n_links * LINK_PAUSED;
}

/* Solver, and simulation where flows end one after the other. */
static double rates_bytes(const fab_replay *replay, const fab_phase *phase, uint32_t n_planes,
                          const fab_sharing_size *size) {
    double bytes = size->n_flows * PATH_SOLVED + size->n_links * sizeof(double);
    double solved = fab_max_min_bytes(size);
    double n_senders = fmin(size->n_flows, (double)phase->n_flows * n_planes);
    double sent = fab_packets_bytes(&fab_context_what(replay->context)->design->fabric.transport, size->n_flows,
                                    n_senders, size->n_links, size->n_entries);
    bytes += size->n_flows > FAB_MANY_PATHS ? fmax(solved, sent) : solved + sent;
    bool is_even = true; /* else rates change while flows end */
    (void)fab_phase_largest(phase, &is_even);
    return !replay->rates ? 0 : is_even ? bytes : bytes + fab_fluid_bytes(size);
}

/* Next hops that were used, and dependencies; of the first draw alone. */
static double detail_bytes(const fab_replay_sizes *s, const fab_router *router) {
    const fab_next_hops *t = fab_router_next_hops(router);
    double n_groups = fab_next_hops_n_groups(t);
    double members = s->n_links * 2; /* mostly one group of all uplinks, and one of each downlink */
    return n_groups * GROUP_USED + fmax(members, n_groups) + dependencies_bytes(s);
}

/* A chunk at a time, on shards that each add up their own. */
static double chunks_bytes(const fab_replay_sizes *s, const fab_router *router, double n_hops) {
    double shard = s->n_links * 3 * sizeof(double) + detail_bytes(s, router);
    double chunk = 1.25 * CHUNK_PATHS * (FLOW_RUN + n_hops * 2 * sizeof(uint32_t));
    return SHARDS * (shard + chunk);
}

/* Different minimal paths between two leaves, at most: in a tree a path makes one choice per boundary and direction. */
static double count_different(const fab_fabric *f, const fab_router *router) {
    const fab_next_hops *t = fab_router_next_hops(router);
    double most[FAB_FABRIC_TIERS + 2][2] = {{0}};
    double n = 1;
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        for (uint32_t group = fab_next_hops_first_group(t, v); group < fab_next_hops_first_group(t, v + 1); group++) {
            const fab_next_hop_list next = fab_next_hops_members(t, v, group);
            const fab_link_id link = fab_next_hop(&next, 0);
            double *at = &most[fab_class_of(f, link)->tier][fab_is_up(link)];
            *at = fmax(*at, next.count);
        }
    }
    for (size_t tier = 0; tier < FAB_FABRIC_TIERS + 2; tier++) {
        n *= fmax(most[tier][0], 1) * fmax(most[tier][1], 1);
    }
    return fab_is_tree(f) && fab_router_facts_of(router)->is_minimal ? n : INFINITY;
}

static double paths_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase,
                          const fab_router *router) {
    double flows = (double)phase->n_flows;
    double in_domain = count_in_domain(s->fabric, phase);
    double across = (flows - in_domain) * fab_router_facts_of(router)->paths_per_flow;
    double paths = in_domain + across;
    double hops = fab_path_links(fab_context_what(replay->context)->design, s->fabric);
    double all_hops = across * hops + in_domain * 2;
    if (!fab_router_facts_of(router)->takes_phases && fab_router_facts_of(router)->n_rounds == 1 &&
        flows * fab_router_facts_of(router)->paths_per_flow > (double)FAB_KEPT_PATHS) {
        return chunks_bytes(s, router, hops);
    }
    const bool is_fluid = fab_context_what(replay->context)->design->fabric.transport.kind == FAB_TRANSPORT_FLUID;
    double merged = 1; /* as many of all paths, where equal ones are one */
    if (fab_router_facts_of(router)->takes_phases && is_fluid) {
        merged = fmin(1, count_different(s->fabric, router) / fab_router_facts_of(router)->paths_per_flow);
    }
    fab_sharing_size size = {.n_flows = in_domain + across * merged,
                             .n_links = s->n_links,
                             .n_entries = all_hops * merged,
                             .limits = fab_router_facts_of(router)->reorders};
    bool by_groups = !fab_router_facts_of(router)->takes_phases &&
                     !fab_router_facts_of(router)->has_tables; /* these are noted, too */
    double routed = fab_grown(paths) * sizeof(uint64_t) + (by_groups ? 2 : 1) * fab_grown(all_hops) * sizeof(uint32_t);
    double placed = fab_router_facts_of(router)->takes_phases ? paths * PATH_PLACED : 0;
    return flows * FLOW_RUN + routed + placed + rates_bytes(replay, phase, s->fabric->n_planes, &size);
}

/* Pairs of leaves that a phase has something for; of an all-to-all all of them. */
static double pairs_of(const fab_replay_sizes *s, const fab_phase *phase) {
    double most = s->n_leaves * s->n_leaves;
    return phase->all.n > 0 ? most : fmin(most, (double)phase->n_flows * s->fabric->n_planes);
}

/* A share for every leaf and link, where the linear program may be small enough to be solved. */
static double shares_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase) {
    double shares = s->n_leaves * s->n_links;
    double columns = pairs_of(s, phase) * (links_of_split(replay, s->fabric) / (2.0 * s->fabric->n_tiers + 4));
    return columns <= FAB_BOUND_LP_COLUMNS && shares <= FAB_BOUND_LP_SHARES ? shares * sizeof(double) : 0;
}

static double split_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase) {
    double pairs = pairs_of(s, phase);
    double bytes = pairs * PAIR_FOLDED + s->n_switches * 2 * LEAVES_PER_WORD * sizeof(double);
    double flows = phase->n_flows <= FAB_MOST_LISTED ? (double)phase->n_flows : 0; /* else by the fullest link */
    double n_links = links_of_split(replay, s->fabric);
    fab_sharing_size size = {
        .n_flows = flows, .n_links = s->n_links, .n_entries = flows * n_links, .shares = true, .limits = true};
    if (flows == 0 || !replay->rates) {
        return bytes;
    }
    double listed = fab_grown(pairs * n_links) + fab_grown(flows * n_links);
    return bytes + listed * SHARE_BYTES + flows * FLOW_RUN + rates_bytes(replay, phase, s->fabric->n_planes, &size);
}

/* One draw under way. */
static double run_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase,
                        const fab_router *router) {
    double bytes = s->n_links * RUN_LINK;
    bytes += fab_router_facts_of(router)->is_by_demand ? shares_bytes(replay, s, phase) : 0;
    return bytes + (fab_router_facts_of(router)->splits ? split_bytes(replay, s, phase)
                                                        : paths_bytes(replay, s, phase, router));
}

/* What is prepared for a phase. */
static double prepared_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase) {
    double parts = phase->all.n > 0 ? pairs_of(s, phase) : (double)phase->n_flows * s->fabric->n_planes;
    double bound = replay->bound ? shares_bytes(replay, s, phase) : 0;
    return bound + s->n_links * DEMAND_LINK + parts * DEMAND_PART +
           (double)fab_n_of(s->fabric, FAB_NODE_NIC) * 2 * sizeof(double);
}

fab_draw_bytes fab_replay_draw_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase,
                                     const fab_router *router) {
    return (fab_draw_bytes){.run = run_bytes(replay, s, phase, router), .prepared = prepared_bytes(replay, s, phase)};
}

/* --- results ------------------------------------------------------------------------------------------------------ */

/* Figures of every draw, and what reports show of the links. */
static double results_bytes(const fab_replay *replay, const fab_replay_sizes *s, const fab_phase *phase,
                            bool is_drawn) {
    double draws = is_drawn ? (double)replay->n_seeds : 1;
    double kept = fmin(draws, (double)replay->keep_seeds);
    size_t per_draw = sizeof(fab_figures) + ITEM_BYTES + (replay->keep_draws ? sizeof(fab_seed_figures) : 0);
    double bytes = draws * (double)per_draw + dependencies_bytes(s) + kept * s->n_links * sizeof(float);
    /* Of phases that share the network, every thread may have the loads of a draw. */
    double shared = fmin(draws, (double)replay->n_threads + 1);
    bool sends_packets = fab_context_what(replay->context)->design->fabric.transport.kind != FAB_TRANSPORT_FLUID;
    bytes += (shared + (replay->keep_loads ? 2 : 0) + (sends_packets ? 1 : 0)) * s->n_links * sizeof(double);
    if (replay->keep_flows && phase->all.n == 0) {
        size_t per_flow = sizeof(fab_flow_rate) + (replay->keep_routes ? ROUTE_BYTES : 0);
        bytes += (double)phase->n_flows * (double)per_flow;
    }
    return bytes;
}

/* A flow of 16 queue pairs, routed and given its rate while an engine is tried: measured up to 8,192 flows. */
#define TRIAL_BYTES 8192

fab_status fab_replay_trial_flows(const fab_replay *replay, uint64_t *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    const fab_fabric *f = fab_context_what(replay->context)->fabric;
    uint64_t n = 0;
    FAB_PASS(fab_context_traffic(replay->context, &traffic, err));
    for (size_t p = 0; p < traffic->n_phases; p++) {
        const fab_phase *phase = &traffic->phases[p];
        size_t like = p;
        FAB_PASS(fab_context_duplicate(replay->context, p, &like, err));
        bool is_in_domain = phase->all.n == 0 && count_in_domain(f, phase) >= (double)phase->n_flows;
        n += like != p || is_in_domain ? 0 : phase->n_flows * replay->n_seeds;
    }
    *out = n;
    return FAB_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

typedef struct total {
    double traffic, prepared_phases, results, most_run, sum_runs, most_detail, n_details, n_items;
    uint64_t n_flows; /* of the run that takes most */
    bool is_placed;   /* its engine looks at all of them at once */
} total;

static void memory_add_item(const fab_replay *replay, const fab_replay_sizes *s, const fab_traffic *traffic,
                            const fab_phase *phase, const fab_router *router, total *t) {
    bool is_drawn = traffic->depends_on_seed || fab_router_facts_of(router)->is_seeded;
    double bytes = run_bytes(replay, s, phase, router);
    double draws = is_drawn ? (double)replay->n_seeds : 1;
    t->results += results_bytes(replay, s, phase, is_drawn);
    t->n_flows = bytes > t->most_run ? phase->n_flows : t->n_flows;
    t->is_placed = bytes > t->most_run ? fab_router_facts_of(router)->takes_phases : t->is_placed;
    t->most_run = fmax(t->most_run, bytes);
    t->sum_runs += bytes * draws;
    t->most_detail = fmax(t->most_detail, !fab_router_facts_of(router)->splits ? detail_bytes(s, router) : 0);
    t->n_details++;
    t->n_items += draws;
}

/* Of every worker, the largest run that it may come by; where draws have traffic of their own, this as well. */
static double workers_bytes(const fab_replay *replay, const fab_traffic *traffic, const total *t) {
    double n = fmin((double)replay->n_threads, t->n_items);
    double own = traffic->depends_on_seed && replay->n_seeds > 1 ? t->traffic + t->prepared_phases : 0;
    return fmin(n * t->most_run, t->sum_runs) + fmin(n, t->n_details) * t->most_detail + n * own;
}

fab_status fab_replay_check_tables(const fab_replay *replay, fab_error *err) {
    const fab_replay_sizes *s = NULL;
    fab_status status = fab_context_sizes(replay->context, &s, err);
    return status == FAB_OK ? fab_context_check(fab_context_what(replay->context), fixed_bytes(s), "", err) : status;
}

fab_status fab_replay_check_routers(const fab_replay *replay, fab_error *err) {
    const fab_context_request *what = fab_context_what(replay->context);
    const fab_replay_sizes *s = NULL;
    fab_status status = fab_context_sizes(replay->context, &s, err);
    return status == FAB_OK ? fab_context_check(what, fixed_bytes(s) + fab_routers_bytes(what, s),
                                                " with the tables of the engines", err)
                            : status;
}

fab_status fab_replay_check_paths(const fab_replay *replay, fab_error *err) {
    const fab_context *context = replay->context;
    const fab_context_request *what = fab_context_what(context);
    const fab_replay_sizes *s = NULL;
    const fab_traffic *traffic = NULL;
    const fab_router *router = NULL;
    total t = {0};
    char more[160];
    FAB_PASS(fab_context_sizes(context, &s, err));
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_EACH(const fab_phase, phase, traffic->phases, traffic->n_phases) {
        t.traffic += phase->all.n > 0 ? 0 : fab_grown((double)phase->n_flows) * FLOW_LISTED;
        t.prepared_phases += prepared_bytes(replay, s, phase);
        for (size_t e = 0; e < what->n_engines; e++) {
            FAB_PASS(fab_context_router(context, e, &router, err));
            memory_add_item(replay, s, traffic, phase, router, &t);
        }
    }
    double bytes = fixed_bytes(s) + fab_routers_bytes(what, s) + t.traffic + t.prepared_phases + t.results +
                   workers_bytes(replay, traffic, &t) + (double)replay->trial_flows * TRIAL_BYTES;
    FAB_FORMAT(more, " with the paths of %s flows%s", FAB_SAY_COUNT(t.n_flows),
               t.is_placed ? ", which this engine places at once: write spray or ecmp" : "");
    return fab_context_check(what, bytes, more, err);
}
