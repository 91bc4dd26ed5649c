/* Closed forms of what a replay keeps at its peak. They count what grows; constants are bytes of the structures, so
 * that the sum stays a little below what a run was seen to take. What they miss ends when an allocation fails. */
#include "replay_memory.h"
#include "fab/memory.h"
#include "measure.h"

#include <math.h>
#include <stdio.h>

#define LEAVES_PER_WORD  64.0
#define LEAVES_PER_BLOCK 512.0 /* of the search for next hops */
#define LINK_DOUBLES     10.0  /* loads, bytes, spray, capacities, legs, ... */
#define FLOW_BYTES       96.0  /* ends, bytes, rate, weight, finish, pair */
#define PATH_BYTES       32.0
#define HOP_BYTES        16.0 /* link and group; what the solver adds */
#define SHARED_BYTES     16.0 /* link class and share of a flow under a split */

/* Switches that a NIC is plugged into. */
static double count_leaves(const fab_fabric *f) {
    double n = 0;
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS) {
                n++;
                break;
            }
        }
    }
    return n;
}

static double tables_bytes(const fab_fabric *f) {
    double switches = fab_n_switches(f);
    double leaves = count_leaves(f);
    double rows = switches * (ceil(leaves / LEAVES_PER_WORD) + ceil(leaves / LEAVES_PER_BLOCK)) * sizeof(uint32_t);
    double reach = leaves * leaves / LEAVES_PER_WORD * sizeof(uint64_t);
    double entries = leaves * leaves / LEAVES_PER_WORD * 16; /* of leaves alone: others may be alike */
    double links = (double)f->n_links * (LINK_DOUBLES * sizeof(double) + 2 * sizeof(uint32_t));
    double cables = (double)f->n_cables * 22 + (double)f->n_nodes * sizeof(uint32_t);
    return rows + reach + entries + links + cables;
}

static fab_status check(const fab_replay *replay, double bytes, const char *more, fab_error *err) {
    char gpus[32];
    char what[160];
    (void)snprintf(what, sizeof what, "routing on %s GPUs%s", fab_format_count(gpus, fab_n_gpus(replay->fabric)), more);
    return fab_memory_check(what, bytes, replay->design->fabric.max_bytes, err);
}

fab_status fab_replay_check_tables(const fab_replay *replay, fab_error *err) {
    return check(replay, tables_bytes(replay->fabric), "", err);
}

/* Of a phase under a router; what is not listed or not kept whole takes nothing that grows. */
static double phase_bytes(const fab_fabric *f, const fab_phase *phase, const fab_router *router) {
    double flows = phase->all.n > 0 ? 0 : (double)phase->n_flows;
    double hops = 2.0 * f->n_tiers + 2; /* up and down, and in and out of the servers */
    double n_paths = (double)phase->n_flows * fab_paths_per_flow(router);
    if (router->engine->split != NULL) {
        return flows * (FLOW_BYTES + hops * SHARED_BYTES);
    }
    return flows * FLOW_BYTES + (n_paths <= (double)FAB_WHOLE_PATHS ? n_paths * (PATH_BYTES + hops * HOP_BYTES) : 0);
}

fab_status fab_replay_check_paths(const fab_replay *replay, const fab_traffic *traffic, const fab_router *routers,
                                  fab_error *err) {
    double most = 0;
    uint64_t n_flows = 0;
    char more[96];
    char flows[32];
    for (size_t p = 0; p < traffic->n_phases; p++) {
        for (size_t e = 0; e < replay->n_engines; e++) {
            double bytes = phase_bytes(replay->fabric, &traffic->phases[p], &routers[e]);
            n_flows = bytes > most ? traffic->phases[p].n_flows : n_flows;
            most = fmax(most, bytes);
        }
    }
    (void)snprintf(more, sizeof more, " with the paths of %s flows", fab_format_count(flows, n_flows));
    return check(replay, tables_bytes(replay->fabric) + most, more, err);
}
