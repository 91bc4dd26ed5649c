/* The bisection of a folded Clos in closed form.
 *
 * All switches at the top of one block are alike: exchanging switch j and k in every block of a level, and with them
 * their groups above, maps the network onto itself and moves no NIC. A maximum flow can therefore be averaged over such
 * exchanges, and the network may be folded: one node per block, with the capacity of all its uplinks together. What is
 * left is a tree, and its minimum cut is found from the leaves up: for every block, the least that must be cut below it
 * when its top stays on the side of the sources, and when it does not. */
#include "clos_plan.h"

/* NICs of a leaf in the first and in the second half of the servers; later the cuts of a block. */
typedef struct side {
    double source, sink;
} side;

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Adds NICs of one half, which stand at positions first ... last - 1 of a column, to its leaves. */
static void add_range(const fab_clos_plan *plan, uint64_t column, uint64_t first, uint64_t last, bool is_source,
                      side *leaf) {
    uint64_t down = plan->tier[1].down;
    while (first < last) {
        uint64_t group = first / down;
        uint64_t end = at_most(last, (group + 1) * down);
        side *to = &leaf[group * plan->attach.n_columns + column];
        *(is_source ? &to->source : &to->sink) += (double)(end - first);
        first = end;
    }
}

/* Units whose NIC number `rail` lies below `limit`. */
static uint64_t units_below(const fab_clos_plan *plan, uint64_t rail, uint64_t limit) {
    return limit > rail ? (limit - rail + plan->ends.rails - 1) / plan->ends.rails : 0;
}

static void fill_leaves(const fab_fabric_spec *spec, const fab_clos_plan *plan, uint64_t network, side *leaf) {
    const fab_clos_attach *attach = &plan->attach;
    uint64_t half = plan->ends.servers / 2 * spec->nics_per_server;
    if (!attach->by_rail) {
        add_range(plan, 0, 0, half, true, leaf);
        add_range(plan, 0, half, plan->ends.nics, false, leaf);
        return;
    }
    uint64_t last_rail = at_most(plan->ends.rails, (network + 1) * attach->rails_per_network);
    for (uint64_t rail = network * attach->rails_per_network; rail < last_rail; rail++) {
        uint64_t column = attach->n_columns > 1 ? rail : 0;
        uint64_t base = attach->n_columns > 1 ? 0 : rail % attach->rails_per_network * plan->ends.units;
        uint64_t middle = base + units_below(plan, rail, half);
        add_range(plan, column, base, middle, true, leaf);
        add_range(plan, column, middle, base + units_below(plan, rail, plan->ends.nics), false, leaf);
    }
}

/* Minimum cut of one network. `block` holds the NICs of every leaf and is used up. */
static double clos_tree_cut(const fab_clos_plan *plan, side *block) {
    for (uint64_t i = 0; i < plan->tier[1].blocks; i++) {
        side nics = block[i];
        block[i].source = nics.sink * plan->tier[1].down_bps; /* on the side of the sources: cut off the sinks */
        block[i].sink = nics.source * plan->tier[1].down_bps;
    }
    for (uint32_t t = 2; t <= plan->n_tiers; t++) {
        const fab_clos_tier *below = &plan->tier[t - 1];
        double up_bps = (double)(below->block_switches * below->up) * below->up_bps;
        for (uint64_t i = 0; i < plan->tier[t].blocks; i++) {
            side sum = {0, 0};
            uint64_t last = at_most((i + 1) * plan->tier[t].children, below->blocks);
            for (uint64_t child = i * plan->tier[t].children; child < last; child++) {
                sum.source += fmin(block[child].source, block[child].sink + up_bps);
                sum.sink += fmin(block[child].sink, block[child].source + up_bps);
            }
            block[i] = sum; /* its children stand at i or behind */
        }
    }
    FAB_SUM(double, total, i, plan->tier[plan->n_tiers].blocks, fmin(block[i].source, block[i].sink));
    return total;
}

fab_status fab_clos_tree(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_tree *out, fab_error *err) {
    fab_tree tree = {.n_tiers = plan->n_tiers};
    size_t n_leaves = (size_t)plan->tier[1].blocks;
    FAB_REFUSE_IF(plan->spares.n > 0 || plan->spares.dropped > 0, err, FAB_EUNSUPPORTED, NULL,
                  "spare servers for which leaves give up uplinks: no closed form of the bisection");
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        const fab_clos_tier *tier = &plan->tier[t];
        tree.tier[t - 1] = (fab_tree_tier){tier->down, tier->up, tier->parents, tier->blocks, tier->block_switches};
    }
    FAB_OWNED_NEW(side, block, n_leaves, err);
    for (uint64_t network = 0; network < plan->attach.n_networks; network++) {
        memset(block, 0, n_leaves * sizeof *block);
        fill_leaves(spec, plan, network, block);
        tree.bisection_bps += clos_tree_cut(plan, block) * (double)plan->ends.planes;
    }
    *out = tree;
    return FAB_OK;
}

fab_status fab_topology_tree(fab_fabric_spec *spec, fab_counts *out_counts, fab_tree *out, fab_error *err) {
    const fab_family *family = fab_family_find(spec->family);
    FAB_REFUSE_IF(family == NULL || family->tree == NULL, err, family == NULL ? FAB_EINPUT : FAB_EUNSUPPORTED, NULL,
                  "%s %s", family == NULL ? "unknown family" : "not a tree of tiers:", spec->family);
    return family->tree(spec, out_counts, out, err);
}
