/* A design as a fabric with its counts, bisection and cost: what every command begins with. */
#include "fab/prices.h"
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/next_hops.h"

/* "design.xml:14:9", "--set", "pattern:ring" and the like say where a value was typed; "leaf 7" does not. */
static bool says_where_typed(const char *where) {
    const char *colon = strrchr(where, ':');
    return strncmp(where, "--", 2) == 0 || strncmp(where, "pattern:", 8) == 0 || strncmp(where, "job:", 4) == 0 ||
           (colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1));
}

bool fab_is_refusal(fab_status status) {
    return status == FAB_EINPUT || status == FAB_EUNSUPPORTED || status == FAB_ELIMIT || status == FAB_EUNREACHABLE ||
           status == FAB_ENOSOLUTION;
}

fab_status fab_unless_refused(fab_error *err, fab_status status, const fab_error *why) {
    return fab_is_refusal(status) ? FAB_OK : fab_fail_as(err, status, why);
}

fab_status fab_blame_design(const fab_design *design, fab_status status, fab_error *err) {
    if (fab_is_refusal(status) && err != NULL && !says_where_typed(err->where)) {
        char part[sizeof err->where];
        FAB_FORMAT(part, "%s", err->where);
        FAB_FORMAT(err->where, "%.120s%s%.60s", design->fabric.where, part[0] != '\0' ? ": " : "", part);
    }
    return status;
}

/* Switches, cables and cost of a fabric in closed form. False: it cannot be built or priced so. */
static bool spares_price(fab_fabric_spec spec, const fab_prices *prices, fab_counts *counts, fab_cost *cost) {
    return fab_topology_predict(&spec, counts, NULL) == FAB_OK &&
           fab_cost_of(&spec, counts, prices, cost, NULL) == FAB_OK;
}

fab_status fab_spares_measure(const fab_fabric_spec *spec, const fab_prices *prices, fab_spares *out, fab_error *err) {
    FAB_OWNED fab_counts *counts = NULL;
    FAB_OWNED fab_cost *cost = NULL;
    fab_fabric_spec other = *spec;
    *out = (fab_spares){.servers = spec->spares};
    if (spec->spares == 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(3, err, counts, cost));
    other.spares = 0;
    out->is_known = spares_price(*spec, prices, &counts[0], &cost[0]) &&
                    spares_price(other, prices, &counts[1], &cost[1]) && counts[0].switches >= counts[1].switches;
    if (out->is_known) {
        out->more_switches = counts[0].switches - counts[1].switches;
        out->more_tiers = counts[0].tiers - counts[1].tiers;
        out->more_usd = cost[0].total_usd - cost[1].total_usd;
        out->leaf_taper = counts[0].built_taper[0];
    }
    other = *spec;
    other.full_spares = true;
    if (out->is_known && spares_price(other, prices, &counts[2], &cost[2])) {
        out->is_shared = counts[2].switches > counts[0].switches && counts[0].built_taper[0] > counts[2].built_taper[0];
        out->full_switches = counts[2].switches;
        out->full_tiers = counts[2].tiers;
        out->full_usd = cost[2].total_usd - cost[0].total_usd;
    }
    out->is_told = out->is_known && (out->is_shared || out->more_switches > 0);
    return FAB_OK;
}

#define NEAR_SIZE  20 /* one part in so many of the GPUs, and of the dollars of each */
#define MOST_SIZES 64 /* that are tried on each side */

/* Keeps a fabric that costs least per GPU so far, less in all than `counts` and `total_usd`, and takes fewer switches.
 */
static fab_status try_near(const fab_fabric_spec *near, const fab_counts *counts, const fab_prices *prices,
                           double total_usd, uint64_t n, fab_near_size *out, fab_error *err) {
    FAB_OWNED_NEW(fab_counts, other, 1, err);
    FAB_OWNED_NEW(fab_cost, cost, 1, err);
    if (spares_price(*near, prices, other, cost) && cost->total_usd < total_usd && other->switches < counts->switches) {
        const double saved_ratio = 1 - cost->total_usd / (double)near->gpus * (double)counts->gpus / total_usd;
        if (saved_ratio > fmax(out->saved_ratio, 1.0 / NEAR_SIZE)) {
            *out = (fab_near_size){.n = n,
                                   .fewer_switches = counts->switches - other->switches,
                                   .saved_usd = total_usd - cost->total_usd,
                                   .saved_ratio = saved_ratio};
        }
    }
    return FAB_OK;
}

fab_status fab_near_size_find(const fab_fabric_spec *spec, const fab_counts *counts, const fab_prices *prices,
                              double total_usd, fab_near_size *size, fab_near_size *rails, fab_error *err) {
    const uint64_t unit = spec->domain > spec->gpus_per_server ? spec->domain : spec->gpus_per_server;
    const uint64_t n_units = unit > 0 ? spec->gpus / NEAR_SIZE / unit : 0;
    const uint64_t step = unit * (n_units / MOST_SIZES + 1);
    const bool is_chosen = strcmp(spec->family, "installed") != 0 && spec->k == 0 && spec->xgft.height == 0;
    *size = *rails = (fab_near_size){.n = 0};
    if (!is_chosen || counts->wiring != FAB_WIRING_TREE || counts->tiers < 2 || n_units == 0) {
        return FAB_OK;
    }
    fab_fabric_spec near = *spec;
    const uint64_t least = spec->gpus - n_units * unit;
    for (near.gpus = least + (spec->gpus - least) % step; near.gpus <= spec->gpus + n_units * unit; near.gpus += step) {
        FAB_PASS(try_near(&near, counts, prices, total_usd, near.gpus, size, err));
    }
    const fab_rails is = fab_topology_rails(spec);
    near = *spec;
    for (uint64_t shared = is.shared + 1; shared <= is.n && spec->rails_per_switch == 0; shared++) {
        near.rails_per_switch = shared; /* those that do not divide the rails are refused */
        FAB_PASS(try_near(&near, counts, prices, total_usd, shared, rails, err));
    }
    return FAB_OK;
}

/* Switches that split evenly over next hops fill the trunk that lacks a cable first. */
fab_status fab_compare_trunks(const fab_fabric *f, fab_trunks *out, fab_error *err) {
    FAB_OWNED double *trunk_bps = NULL;
    FAB_PASS(fab_trunk_capacities(f, NULL, &trunk_bps, err));
    *out = (fab_trunks){.differ = false};
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; fab_is_tree(f) && v < f->n_nodes; v++) {
        double first_bps[2] = {0, 0}; /* of a trunk, of a cable */
        FAB_EACH_LINK(f, v, link) {
            const fab_link_class *k = fab_class_of(f, link);
            if (k->kind == FAB_LINK_FABRIC && fab_tier_of(f, fab_head(f, link)) > fab_tier_of(f, v)) {
                first_bps[0] = first_bps[0] > 0 ? first_bps[0] : trunk_bps[link];
                first_bps[1] = first_bps[1] > 0 ? first_bps[1] : k->capacity_bps;
                out->differ = out->differ || trunk_bps[link] != first_bps[0];
                out->rates_differ = out->rates_differ || k->capacity_bps != first_bps[1];
            }
        }
    }
    return FAB_OK;
}

/* Builds out->spec unless *graph is there, and fills counts, cost and bisection. */
static fab_status measure_network(const fab_prices *prices, fab_fabric_result *out, fab_fabric **out_graph,
                                  fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *built = NULL;
    fab_trunks trunks;
    FAB_PASS(*out_graph == NULL ? fab_topology_build(&out->spec, &built, &out->counts, err) : FAB_OK);
    const fab_fabric *graph = built != NULL ? built : *out_graph;
    FAB_PASS(fab_cost_of(&out->spec, &out->counts, prices, &out->cost, err));
    FAB_PASS(fab_spares_measure(&out->spec, prices, &out->spares, err));
    FAB_PASS(fab_near_size_find(&out->spec, &out->counts, prices, out->cost.total_usd, &out->near_size,
                                &out->near_rails, err));
    FAB_PASS(fab_compare_trunks(graph, &trunks, err));
    out->trunks_differ = trunks.differ;
    FAB_PASS(fab_bisection(graph, &out->bisection_bps, err));
    fab_cost_set_bisection(&out->cost, out->bisection_bps);
    out->bisection_ratio = fab_bisection_ratio(&out->spec, &out->counts, out->bisection_bps);
    out->scaleup_bisection_bps = fab_scaleup_bisection(&out->spec, &out->counts);
    FAB_FORMAT(out->family, "%s", out->spec.family);
    *out_graph = built != NULL ? built : *out_graph;
    built = NULL;
    return FAB_OK;
}

static fab_status measure_front_end(const fab_design *design, const fab_prices *prices, fab_fabric_result *out,
                                    fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_PASS(FAB_NEW(out->front_end, 1, err));
    fab_design_front_end(design, out->counts.servers, &out->front_end->spec);
    FAB_FORMAT(out->front_end->name, "front-end");
    const fab_status status = measure_network(prices, out->front_end, &graph, err);
    if (status == FAB_EINPUT && err != NULL && !says_where_typed(err->where)) {
        FAB_FORMAT(err->where, "%s", design->front_end.where);
    }
    return status;
}

fab_status fab_fabric_name(const fab_design *design, fab_fabric_result *out, fab_error *err) {
    bool is_named = strcmp(design->name, design->fabric.family) != 0; /* a one-line form is its own best name */
    FAB_FORMAT(out->name, "%.*s", (int)sizeof out->name - 1, is_named ? design->name : design->origin);
    FAB_FORMAT(out->source, "%s", design->source);
    return fab_design_digest(design, out->digest, err);
}

fab_status fab_fabric_measure(const fab_design *design, fab_fabric_result *out, fab_fabric **graph, fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric *network = *graph;
    fab_prices prices = {0};
    status = fab_prices_read(design->prices, &prices, err); /* before the graph: cheaper errors first */
    if (status == FAB_EINPUT && err != NULL && err->where[0] == '\0') {
        FAB_FORMAT(err->where, "%s", design->prices_where);
    }
    FAB_TRY(status);
    prices.convention = design->convention != FAB_CONVENTION_OF_BOOK ? design->convention : prices.convention;
    if (network == NULL) {
        out->spec = design->fabric;
    }
    FAB_TRY(measure_network(&prices, out, &network, err));
    FAB_TRY(design->has_front_end ? measure_front_end(design, &prices, out, err) : FAB_OK);
    FAB_TRY(fab_fabric_name(design, out, err));
    *graph = network;
done:
    fab_blame_design(design, status, err);
    if (network != *graph) {
        fab_fabric_free(network);
    }
    return status;
}
