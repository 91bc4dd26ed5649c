/* Lengths of the cables of a folded Clos on its floor plan, without its graph: as the graph has them (fab_floor_apply),
 * which is checked at every build. Cables between the same two racks are counted together. */
#include "clos_plan.h"
#include "floor_place.h"
#include "fab/memory.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LENGTHS 32 /* more than there are standard lengths */

/* Cables of one boundary, by length. */
typedef struct tally {
    double length_m[MOST_LENGTHS];
    uint64_t count[MOST_LENGTHS];
    size_t n;
    bool is_too_long;
} tally;

/* Neighbouring NICs of a leaf whose servers share a rack. */
typedef struct run {
    uint32_t rack, n_nics;
} run;

typedef struct walk {
    const fab_fabric_spec *spec;
    const fab_clos_plan *plan;
    uint64_t copies, leaves; /* networks times planes; leaves of all networks of one plane */
    fab_floor *floor;
    fab_floor_shape shape;
    run *runs;           /* those of a leaf behind each other */
    uint32_t *first_run; /* [leaf], and one more */
    uint32_t *rack_of;   /* [server] */
    uint32_t *leaf_of;   /* [server]: the leaf of a NIC of it, from 1 */
    uint32_t first_of_tier[FAB_MAX_TIERS + 2];
} walk;

static void tally_add(tally *t, const fab_floor_spec *spec, const fab_rack *a, const fab_rack *b, uint64_t count) {
    double length_m = fab_floor_cable_m(spec, a, b);
    size_t i = t->n;
    while (i > 0 && t->length_m[i - 1] > length_m) {
        i--;
    }
    if (i > 0 && t->length_m[i - 1] == length_m) {
        t->count[i - 1] += count;
        return;
    }
    t->is_too_long |= length_m <= 0 || t->n == MOST_LENGTHS;
    if (!t->is_too_long) {
        memmove(&t->length_m[i + 1], &t->length_m[i], (t->n - i) * sizeof t->length_m[0]);
        memmove(&t->count[i + 1], &t->count[i], (t->n - i) * sizeof t->count[0]);
        t->length_m[i] = length_m;
        t->count[i] = count;
        t->n++;
    }
}

/* --- which racks stand below a leaf ------------------------------------------------------------------------------- */

/* A NIC of server `server` at leaf `leaf` of a plane. */
static void add_nic(walk *w, uint32_t leaf, uint64_t server, uint32_t *n_runs) {
    uint32_t rack = w->rack_of[server];
    if (*n_runs == w->first_run[leaf] || w->runs[*n_runs - 1].rack != rack) {
        w->runs[(*n_runs)++] = (run){rack, 0};
    }
    w->runs[*n_runs - 1].n_nics++;
    w->shape.servers_share_leaves &= w->leaf_of[server] == 0 || w->leaf_of[server] == leaf + 1;
    w->leaf_of[server] = leaf + 1;
}

/* The NICs of a leaf, in the order of their ports: as fab_clos_build() hangs them. */
static void add_leaf(walk *w, uint64_t network, uint64_t leaf, uint32_t *n_runs) {
    const fab_clos_plan *plan = w->plan;
    const fab_clos_attach *attach = &plan->attach;
    const fab_ends *ends = &plan->ends;
    const uint64_t nics = w->spec->nics_per_server;
    const uint64_t step = attach->by_rail ? ends->rails / nics : 0; /* servers of a unit */
    const bool shares = attach->n_columns == 1;                     /* rails share the network, one behind the other */
    uint64_t first = leaf / attach->n_columns * plan->tier[1].down;
    uint64_t last = first + plan->tier[1].down;
    last = last < attach->column_ports ? last : attach->column_ports;
    uint64_t rail = !shares ? leaf % attach->n_columns : network * attach->rails_per_network + first / ends->units;
    uint64_t unit = shares ? first % ends->units : first;
    uint64_t server = attach->by_rail ? unit * step + rail / nics : first / nics;
    uint64_t nic = first % nics;
    uint32_t at = (uint32_t)(network * plan->tier[1].blocks + leaf);
    w->first_run[at] = *n_runs;
    for (uint64_t i = first; i < last; i++) {
        if (server < ends->servers && (!attach->by_rail || rail < ends->rails)) {
            add_nic(w, at, server, n_runs);
        }
        if (!attach->by_rail) {
            nic = nic + 1 == nics ? 0 : nic + 1;
            server += nic == 0;
        } else if (shares && ++unit == ends->units) {
            unit = 0;
            server = ++rail / nics;
        } else {
            server += step;
        }
    }
    w->first_run[at + 1] = *n_runs;
}

/* The same where spares hang behind the leaves of others: a run for every NIC. */
static fab_status add_nics_apart(walk *w, fab_error *err) {
    const fab_clos_plan *plan = w->plan;
    uint32_t *next = NULL;
    FAB_PASS(FAB_NEW(next, w->leaves, err));
    for (int pass = 0; pass < 2; pass++) { /* how many a leaf has, then which */
        for (uint32_t nic = 0; nic < plan->ends.nics; nic++) {
            uint64_t network = 0;
            uint64_t leaf = 0;
            uint64_t port = 0;
            fab_clos_locate(plan, nic, &network, &leaf, &port);
            uint32_t at = (uint32_t)(network * plan->tier[1].blocks + leaf);
            if (pass == 0) {
                w->first_run[at + 1]++;
                continue;
            }
            uint64_t server = nic / w->spec->nics_per_server;
            w->runs[next[at]++] = (run){w->rack_of[server], 1};
            w->shape.servers_share_leaves &= w->leaf_of[server] == 0 || w->leaf_of[server] == at + 1;
            w->leaf_of[server] = at + 1;
        }
        for (uint64_t leaf = 0; pass == 0 && leaf < w->leaves; leaf++) {
            next[leaf] = w->first_run[leaf];
            w->first_run[leaf + 1] += w->first_run[leaf];
        }
    }
    free(next);
    return FAB_OK;
}

static fab_status add_leaves(walk *w, fab_error *err) {
    const fab_racks racks = {.servers_per_rack = w->floor->servers_per_rack, .n_full = w->floor->n_full};
    uint32_t n_runs = 0;
    FAB_PASS(FAB_NEW(w->runs, w->plan->ends.nics, err));
    FAB_PASS(FAB_NEW(w->first_run, w->leaves + 1, err));
    FAB_PASS(FAB_NEW(w->leaf_of, w->plan->ends.servers, err));
    FAB_PASS(FAB_NEW(w->rack_of, w->plan->ends.servers, err));
    for (uint32_t server = 0; server < w->plan->ends.servers; server++) {
        w->rack_of[server] = fab_racks_of_server(&racks, server);
    }
    w->shape.servers_share_leaves = true;
    if (w->plan->spares.n > 0) {
        return add_nics_apart(w, err);
    }
    for (uint64_t network = 0; network < w->plan->attach.n_networks; network++) {
        for (uint64_t leaf = 0; leaf < w->plan->tier[1].blocks; leaf++) {
            add_leaf(w, network, leaf, &n_runs);
        }
    }
    return FAB_OK;
}

/* --- where switches stand ----------------------------------------------------------------------------------------- */

static uint32_t switch_at(const walk *w, uint32_t t, uint64_t copy, uint64_t block, uint64_t j) {
    const fab_clos_tier *tier = &w->plan->tier[t];
    return w->first_of_tier[t] + (uint32_t)((copy * tier->blocks + block) * tier->block_switches + j);
}

static void widen(fab_floor_shape *shape, uint32_t i, uint32_t low, uint32_t high) {
    shape->low[i] = low < shape->low[i] ? low : shape->low[i];
    shape->high[i] = high > shape->high[i] ? high : shape->high[i];
}

/* Cables between a leaf and a spine of its block: fewer than usual where leaves gave up uplinks for spares. */
static uint64_t cables_to_spine(const fab_clos_plan *plan, uint64_t leaf, uint64_t spine) {
    const fab_clos_tier *tier = &plan->tier[1];
    uint64_t n = 0;
    if (plan->spares.n > 0) {
        uint64_t up = fab_clos_leaf_up(plan, leaf / plan->attach.n_columns);
        return up > spine ? fab_ceil_div(up - spine, tier->parents) : 0;
    }
    for (uint64_t cable = 0; cable < tier->trunk; cable++) {
        uint64_t before = 0;
        n += !fab_clos_is_dropped(plan, leaf, cable, spine, &before);
    }
    return n;
}

static bool gives_up_uplinks(const fab_clos_plan *plan) {
    return plan->spares.n > 0 || plan->spares.dropped > 0;
}

/* Where leaves gave up uplinks, a spine may lack some of them. */
static void span_switch(walk *w, uint32_t t, uint64_t copy, uint64_t block, uint64_t j) {
    const fab_clos_tier *tier = &w->plan->tier[t];
    const fab_clos_tier *below = &w->plan->tier[t - 1];
    uint32_t at = switch_at(w, t, copy, block, j);
    uint64_t last = (block + 1) * tier->children;
    last = last < below->blocks ? last : below->blocks;
    w->shape.low[at] = UINT32_MAX;
    for (uint64_t child = block * tier->children; child < last; child++) {
        if (t > 2 || cables_to_spine(w->plan, child, j) > 0) {
            uint32_t lower = switch_at(w, t - 1, copy, child, j / below->parents);
            widen(&w->shape, at, w->shape.low[lower], w->shape.high[lower]);
        }
    }
    if (w->shape.low[at] == UINT32_MAX) {
        widen(&w->shape, at, 0, w->floor->n_server_racks - 1);
    }
}

/* All switches of a block stand above the same racks. */
static void span_block(walk *w, uint32_t t, uint64_t copy, uint64_t block) {
    const fab_clos_tier *tier = &w->plan->tier[t];
    if (t > 1 && gives_up_uplinks(w->plan)) {
        for (uint64_t j = 0; j < tier->block_switches; j++) {
            span_switch(w, t, copy, block, j);
        }
        return;
    }
    fab_floor_shape *shape = &w->shape;
    uint32_t at = switch_at(w, t, copy, block, 0);
    shape->low[at] = UINT32_MAX;
    if (t == 1) {
        uint64_t leaf = copy % w->plan->attach.n_networks * tier->blocks + block;
        for (uint32_t i = w->first_run[leaf]; i < w->first_run[leaf + 1]; i++) {
            widen(shape, at, w->runs[i].rack, w->runs[i].rack);
        }
    } else {
        uint64_t last = (block + 1) * tier->children;
        last = last < w->plan->tier[t - 1].blocks ? last : w->plan->tier[t - 1].blocks;
        for (uint64_t child = block * tier->children; child < last; child++) {
            uint32_t below = switch_at(w, t - 1, copy, child, 0);
            widen(shape, at, shape->low[below], shape->high[below]);
        }
    }
    if (shape->low[at] == UINT32_MAX) { /* nothing below */
        widen(shape, at, 0, w->floor->n_server_racks - 1);
    }
    for (uint64_t j = 1; j < tier->block_switches; j++) {
        shape->low[at + j] = shape->low[at];
        shape->high[at + j] = shape->high[at];
    }
}

static fab_status place(walk *w, fab_error *err) {
    const fab_clos_plan *plan = w->plan;
    uint32_t n = 0;
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        w->first_of_tier[t] = n;
        n += (uint32_t)(w->copies * plan->tier[t].blocks * plan->tier[t].block_switches);
    }
    w->shape.n_switches = n;
    w->shape.n_leaves = (uint32_t)(w->copies * plan->tier[1].blocks);
    FAB_PASS(FAB_NEW(w->shape.low, n, err));
    FAB_PASS(FAB_NEW(w->shape.high, n, err));
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        for (uint64_t copy = 0; copy < w->copies; copy++) {
            for (uint64_t block = 0; block < plan->tier[t].blocks; block++) {
                span_block(w, t, copy, block);
            }
        }
    }
    return fab_floor_place(&w->spec->floor, &w->shape, w->floor, err);
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

static const fab_rack *rack_of_switch(const walk *w, uint32_t i) {
    return &w->floor->rack[w->floor->switch_rack[i]];
}

static void count_access(const walk *w, tally *t) {
    for (uint64_t plane = 0; plane < w->plan->ends.planes; plane++) {
        for (uint64_t leaf = 0; leaf < w->leaves; leaf++) {
            const fab_rack *at = rack_of_switch(w, w->first_of_tier[1] + (uint32_t)(plane * w->leaves + leaf));
            for (uint32_t i = w->first_run[leaf]; i < w->first_run[leaf + 1]; i++) {
                tally_add(t, &w->spec->floor, &w->floor->rack[w->runs[i].rack], at, w->runs[i].n_nics);
            }
        }
    }
}

/* `n_lower` switches of rack `lower`, each with its uplinks to the parents from `first` on. */
static void count_uplinks_of(const walk *w, const fab_clos_tier *below, const fab_rack *lower, uint64_t n_lower,
                             uint32_t first, tally *t) {
    for (uint32_t i = 0; i < below->parents;) {
        uint32_t rack = w->floor->switch_rack[first + i];
        uint32_t end = i + 1;
        while (end < below->parents && w->floor->switch_rack[first + end] == rack) {
            end++;
        }
        tally_add(t, &w->spec->floor, lower, &w->floor->rack[rack], n_lower * (end - i) * below->trunk);
        i = end;
    }
}

/* Cables above leaves that gave up some of them for spares. */
static void count_fewer_uplinks(const walk *w, tally *sum) {
    const fab_clos_tier *leaf = &w->plan->tier[1];
    for (uint64_t copy = 0; copy < w->copies; copy++) {
        for (uint64_t block = 0; block < leaf->blocks; block++) {
            const fab_rack *lower = rack_of_switch(w, switch_at(w, 1, copy, block, 0));
            for (uint64_t spine = 0; spine < leaf->parents; spine++) {
                uint32_t upper = switch_at(w, 2, copy, block / w->plan->tier[2].children, spine);
                tally_add(sum, &w->spec->floor, lower, rack_of_switch(w, upper),
                          cables_to_spine(w->plan, block, spine));
            }
        }
    }
}

/* Cables between tiers t - 1 and t, switch j of every block behind one another: neighbours often share rack and
 * parents. */
static void count_uplinks(const walk *w, uint32_t t, tally *sum) {
    const fab_clos_tier *below = &w->plan->tier[t - 1];
    const fab_clos_tier *above = &w->plan->tier[t];
    for (uint64_t copy = 0; copy < w->copies; copy++) {
        for (uint64_t j = 0; j < below->block_switches; j++) {
            const fab_rack *last = NULL;
            uint32_t last_parent = 0;
            uint64_t n = 0;
            uint32_t lower_at = switch_at(w, t - 1, copy, 0, j);
            uint32_t parent = switch_at(w, t, copy, 0, j * below->parents);
            for (uint64_t block = 0, child = 0; block < below->blocks; block++) {
                const fab_rack *lower = rack_of_switch(w, lower_at);
                if (n > 0 && (lower != last || parent != last_parent)) {
                    count_uplinks_of(w, below, last, n, last_parent, sum);
                    n = 0;
                }
                last = lower;
                last_parent = parent;
                n++;
                lower_at += (uint32_t)below->block_switches;
                if (++child == above->children) {
                    child = 0;
                    parent += (uint32_t)above->block_switches;
                }
            }
            count_uplinks_of(w, below, last, n, last_parent, sum);
        }
    }
}

static fab_status count_lengths(const walk *w, fab_counts *c, fab_error *err) {
    c->n_kinds = 0;
    for (uint32_t t = 1; t <= w->plan->n_tiers; t++) {
        tally sum = {.n = 0};
        if (!fab_floor_decides(w->spec, t)) {
            sum = (tally){{fab_tier_length_m(w->spec, t)}, {c->cables_by_tier[t - 1]}, 1, false};
        } else if (t == 1) {
            count_access(w, &sum);
        } else if (t == 2 && gives_up_uplinks(w->plan)) {
            count_fewer_uplinks(w, &sum);
        } else {
            count_uplinks(w, t, &sum);
        }
        if (sum.is_too_long) {
            return fab_fail(err, FAB_EINPUT, "floor", "a cable is longer than any that is made");
        }
        for (size_t i = 0; i < sum.n; i++) {
            if (sum.count[i] > 0) {
                c->kinds[c->n_kinds++] = (fab_cable_kind){t, w->plan->tier[t].down_bps, sum.length_m[i], sum.count[i]};
            }
        }
    }
    c->knows_lengths = true;
    return FAB_OK;
}

fab_status fab_clos_lengths(const fab_fabric_spec *spec, const fab_clos_plan *plan, fab_counts *counts,
                            fab_error *err) {
    fab_status status = FAB_OK;
    walk w = {.spec = spec,
              .plan = plan,
              .copies = plan->attach.n_networks * plan->ends.planes,
              .leaves = plan->attach.n_networks * plan->tier[1].blocks};
    bool decides = false;
    for (uint32_t t = 1; t <= plan->n_tiers; t++) {
        decides = decides || fab_floor_decides(spec, t);
    }
    if (!decides || counts->nics > UINT32_MAX / 4 || counts->switches > UINT32_MAX / 4) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(w.floor, 1, err));
    FAB_TRY(fab_floor_size(&spec->floor, (uint32_t)plan->ends.servers, w.floor, err));
    FAB_TRY(add_leaves(&w, err));
    FAB_TRY(place(&w, err));
    FAB_TRY(count_lengths(&w, counts, err));
    counts->floor.server_racks = w.floor->n_server_racks;
    counts->floor.network_racks = w.floor->n_network_racks;
    counts->floor.racks = counts->floor.server_racks + counts->floor.network_racks;
done:
    fab_floor_free(w.floor);
    FAB_FREE_ALL(w.shape.low, w.shape.high, w.runs, w.first_run, w.leaf_of, w.rack_of);
    return status;
}
