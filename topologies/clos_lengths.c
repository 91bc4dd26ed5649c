/* Lengths of the cables of a folded Clos on its floor plan, without its graph: as the graph has them (fab_floor_apply),
 * which is checked at every build. Cables between the same two racks are counted together. */
#include "clos_plan.h"
#include "floor_place.h"

#define MOST_LENGTHS 32           /* more than there are standard lengths */
#define TOO_LONG     MOST_LENGTHS /* in place of one */

/* Cables of one boundary, by length: [walk.length_m]. */
typedef struct tally {
    uint64_t count[MOST_LENGTHS + 1];
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
    fab_racks racks;
    fab_floor_shape shape;
    run *runs; /* those of a leaf behind each other */
    size_t n_runs, runs_capacity;
    uint64_t n_alike;    /* leaves that stand above the same racks: those of the NICs of a server, by rail or rails that
                            share them */
    uint32_t *first_run; /* [set of such leaves], and one more */
    uint32_t first_of_tier[FAB_MAX_TIERS + 2];
    double length_m[MOST_LENGTHS]; /* in the order in which they are met */
    uint8_t n_lengths;
    uint8_t *length_of;  /* [halls, rows and places between two racks]: 1 + number of the length; 0: not met */
    size_t rows, places; /* most that racks lie apart, and one more */
} walk;

static uint32_t between(uint32_t a, uint32_t b) {
    return a > b ? a - b : b - a;
}

static fab_status open_lengths(walk *w, fab_error *err) {
    fab_rack most = {0, 0, 0};
    FAB_EACH(const fab_rack, r, w->floor->rack, w->floor->n_server_racks + w->floor->n_network_racks) {
        most.hall = r->hall > most.hall ? r->hall : most.hall;
        most.row = r->row > most.row ? r->row : most.row;
        most.place = r->place > most.place ? r->place : most.place;
    }
    w->rows = (size_t)most.row + 1;
    w->places = (size_t)most.place + 1;
    return FAB_NEW(w->length_of, ((size_t)most.hall + 1) * w->rows * w->places, err);
}

static uint8_t find_length(walk *w, const fab_rack *a, const fab_rack *b) {
    const double length_m = fab_floor_cable_m(&w->spec->floor, a, b);
    uint8_t i = 0;
    while (i < w->n_lengths && w->length_m[i] != length_m) {
        i++;
    }
    if (length_m <= 0 || i == MOST_LENGTHS) {
        return TOO_LONG;
    }
    if (i == w->n_lengths) {
        w->length_m[w->n_lengths++] = length_m;
    }
    return i;
}

static void tally_add(walk *w, tally *t, uint32_t rack_a, uint32_t rack_b, uint64_t count) {
    const fab_rack *a = &w->floor->rack[rack_a];
    const fab_rack *b = &w->floor->rack[rack_b];
    uint8_t *known = &w->length_of[(between(a->hall, b->hall) * w->rows + between(a->row, b->row)) * w->places +
                                   between(a->place, b->place)];
    if (*known == 0) {
        *known = (uint8_t)(1 + find_length(w, a, b));
    }
    t->count[*known - 1] += count;
}

/* --- which racks stand below a leaf ------------------------------------------------------------------------------- */

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t first_server_of(const fab_racks *racks, uint32_t rack) {
    const uint64_t fewer = racks->n_full > 0 && rack > racks->n_full ? rack - racks->n_full : 0;
    return (uint64_t)rack * racks->servers_per_rack - fewer;
}

/* A leaf of a plane by its set, and the set of a leaf: leaves of a network, one network behind the other. */
static uint64_t leaf_of_set(const walk *w, uint64_t set, uint64_t i) {
    const uint64_t blocks = w->plan->tier[1].blocks;
    return w->plan->attach.n_columns > 1 ? set * w->n_alike + i
                                         : (set / blocks * w->n_alike + i) * blocks + set % blocks;
}

static uint64_t set_of_leaf(const walk *w, uint64_t leaf) {
    const uint64_t blocks = w->plan->tier[1].blocks;
    return w->plan->attach.n_columns > 1 ? leaf / w->n_alike : leaf / blocks / w->n_alike * blocks + leaf % blocks;
}

static uint64_t count_alike(const walk *w) {
    const fab_clos_attach *attach = &w->plan->attach;
    const uint64_t nics = w->spec->nics_per_server;
    const uint64_t n_rails = attach->n_columns > 1 ? 1 : attach->rails_per_network;
    const bool are_apart = attach->n_columns > 1 ? attach->n_columns == w->plan->ends.rails : nics % n_rails == 0;
    return attach->by_rail && are_apart && w->plan->ends.rails % nics == 0 && w->plan->spares.n == 0 ? nics / n_rails
                                                                                                     : 1;
}

static fab_status add_run(walk *w, uint64_t set, uint32_t rack, uint64_t n_nics, fab_error *err) {
    if (w->n_runs == w->first_run[set] || w->runs[w->n_runs - 1].rack != rack) {
        FAB_PASS(FAB_APPEND(w->runs, w->n_runs, w->runs_capacity, err, (run){rack, 0}));
    }
    w->runs[w->n_runs - 1].n_nics += (uint32_t)n_nics;
    return FAB_OK;
}

/* The NICs of a leaf, in the order of their ports: as fab_clos_build() hangs them. */
static fab_status add_leaf(walk *w, uint64_t set, fab_error *err) {
    const fab_clos_plan *plan = w->plan;
    const fab_clos_attach *attach = &plan->attach;
    const fab_ends *ends = &plan->ends;
    const uint64_t nics = w->spec->nics_per_server;
    const uint64_t network = leaf_of_set(w, set, 0) / plan->tier[1].blocks;
    const uint64_t leaf = leaf_of_set(w, set, 0) % plan->tier[1].blocks;
    const uint64_t step = attach->by_rail ? ends->rails / nics : 0; /* servers of a unit */
    const bool shares = attach->by_rail && attach->n_columns == 1;  /* rails share the network, one behind the other */
    const uint64_t first = leaf / attach->n_columns * plan->tier[1].down;
    const uint64_t last = smaller(first + plan->tier[1].down, attach->column_ports);
    w->first_run[set] = (uint32_t)w->n_runs;
    for (uint64_t i = first; i < last;) { /* rail by rail, and in it those in the same rack at once */
        const uint64_t rail = shares ? network * attach->rails_per_network + i / ends->units : leaf % attach->n_columns;
        const uint64_t unit = shares ? i % ends->units : i;
        const uint64_t end_of_rail = shares ? smaller(last, i + ends->units - unit) : last;
        uint64_t server = attach->by_rail ? unit * step + rail / nics : i / nics;
        uint32_t rack = fab_racks_of_server(&w->racks, (uint32_t)server);
        while (i < end_of_rail && server < ends->servers && (!attach->by_rail || rail < ends->rails)) {
            const uint64_t end = smaller(first_server_of(&w->racks, rack + 1), ends->servers);
            const uint64_t n =
                smaller(end_of_rail - i, attach->by_rail ? fab_ceil_div(end - server, step) : end * nics - i);
            FAB_PASS(add_run(w, set, rack, n, err));
            i += n;
            server = attach->by_rail ? server + n * step : end;
            do {
                rack++;
            } while (first_server_of(&w->racks, rack + 1) <= server);
        }
        i = end_of_rail;
    }
    w->first_run[set + 1] = (uint32_t)w->n_runs;
    return FAB_OK;
}

static uint64_t leaf_of_nic(const fab_clos_plan *plan, uint32_t nic) {
    uint64_t network = 0;
    uint64_t leaf = 0;
    uint64_t port = 0;
    fab_clos_locate(plan, nic, &network, &leaf, &port);
    return network * plan->tier[1].blocks + leaf;
}

/* The same where spares hang behind the leaves of others: a run for every NIC. */
static fab_status add_nics_apart(walk *w, fab_error *err) {
    const fab_clos_plan *plan = w->plan;
    FAB_OWNED_NEW(uint32_t, next, w->leaves, err);
    fab_status status = FAB_GROW(w->runs, w->runs_capacity, plan->ends.nics, err);
    for (int pass = 0; status == FAB_OK && pass < 2; pass++) { /* how many a leaf has, then which */
        for (uint32_t nic = 0; nic < plan->ends.nics; nic++) {
            const uint64_t at = leaf_of_nic(plan, nic);
            if (pass == 0) {
                w->first_run[at + 1]++;
                continue;
            }
            const uint64_t server = nic / w->spec->nics_per_server;
            w->runs[next[at]++] = (run){fab_racks_of_server(&w->racks, (uint32_t)server), 1};
        }
        for (uint64_t leaf = 0; pass == 0 && leaf < w->leaves; leaf++) {
            next[leaf] = w->first_run[leaf];
            w->first_run[leaf + 1] += w->first_run[leaf];
        }
    }
    return status;
}

/* Whether the NICs of a server share a leaf, in every plane. */
static bool servers_share_leaves(const walk *w) {
    const fab_clos_plan *plan = w->plan;
    const uint64_t nics = w->spec->nics_per_server;
    if (!plan->attach.by_rail && plan->spares.n == 0) {
        return plan->tier[1].down % nics == 0 || plan->tier[1].down >= plan->attach.column_ports;
    }
    for (uint32_t nic = 0; nics > 1 && nic < plan->ends.nics; nic++) {
        if (nic % nics != 0 && leaf_of_nic(plan, nic) != leaf_of_nic(plan, nic - 1)) {
            return false;
        }
    }
    return true;
}

static fab_status add_leaves(walk *w, fab_error *err) {
    w->racks = (fab_racks){.servers_per_rack = w->floor->servers_per_rack, .n_full = w->floor->n_full};
    FAB_PASS(FAB_NEW(w->first_run, w->leaves + 1, err));
    w->shape.servers_share_leaves = servers_share_leaves(w);
    w->n_alike = count_alike(w);
    if (w->plan->spares.n > 0) {
        return add_nics_apart(w, err);
    }
    for (uint64_t set = 0; set < w->leaves / w->n_alike; set++) {
        FAB_PASS(add_leaf(w, set, err));
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
        const uint64_t set = set_of_leaf(w, copy % w->plan->attach.n_networks * tier->blocks + block);
        for (uint32_t i = w->first_run[set]; i < w->first_run[set + 1]; i++) {
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
    FAB_PASS(FAB_NEW_ALL(n, err, w->shape.low, w->shape.high));
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

/* Leaves of a set that stand in the same rack are counted together. */
static void count_access(walk *w, tally *t) {
    for (uint64_t copy = 0; copy < w->plan->ends.planes; copy++) {
        const uint32_t *rack = &w->floor->switch_rack[w->first_of_tier[1] + copy * w->leaves];
        for (uint64_t set = 0; set < w->leaves / w->n_alike; set++) {
            for (uint64_t i = 0, n = 0; i < w->n_alike; i += n) {
                const uint32_t at = rack[leaf_of_set(w, set, i)];
                for (n = 1; i + n < w->n_alike && rack[leaf_of_set(w, set, i + n)] == at; n++) {
                }
                for (uint32_t k = w->first_run[set]; k < w->first_run[set + 1]; k++) {
                    tally_add(w, t, w->runs[k].rack, at, n * w->runs[k].n_nics);
                }
            }
        }
    }
}

/* `n_lower` switches of rack `lower`, each with its uplinks to the parents from `first` on. */
static void count_uplinks_of(walk *w, const fab_clos_tier *below, uint32_t lower, uint64_t n_lower, uint32_t first,
                             tally *t) {
    for (uint32_t i = 0; i < below->parents;) {
        uint32_t rack = w->floor->switch_rack[first + i];
        uint32_t end = i + 1;
        while (end < below->parents && w->floor->switch_rack[first + end] == rack) {
            end++;
        }
        tally_add(w, t, lower, rack, n_lower * (end - i) * below->trunk);
        i = end;
    }
}

/* Cables above leaves that gave up some of them for spares. */
static void count_fewer_uplinks(walk *w, tally *sum) {
    const fab_clos_tier *leaf = &w->plan->tier[1];
    for (uint64_t copy = 0; copy < w->copies; copy++) {
        for (uint64_t block = 0; block < leaf->blocks; block++) {
            uint32_t lower = w->floor->switch_rack[switch_at(w, 1, copy, block, 0)];
            for (uint64_t spine = 0; spine < leaf->parents; spine++) {
                uint32_t upper = switch_at(w, 2, copy, block / w->plan->tier[2].children, spine);
                tally_add(w, sum, lower, w->floor->switch_rack[upper], cables_to_spine(w->plan, block, spine));
            }
        }
    }
}

/* Cables between tiers t - 1 and t, switch j of every block behind one another: neighbours often share rack and
 * parents. */
static void count_uplinks(walk *w, uint32_t t, tally *sum) {
    const fab_clos_tier *below = &w->plan->tier[t - 1];
    const fab_clos_tier *above = &w->plan->tier[t];
    for (uint64_t copy = 0; copy < w->copies; copy++) {
        for (uint64_t j = 0; j < below->block_switches; j++) {
            uint32_t last = 0;
            uint32_t last_parent = 0;
            uint64_t n = 0;
            uint32_t lower_at = switch_at(w, t - 1, copy, 0, j);
            uint32_t parent = switch_at(w, t, copy, 0, j * below->parents);
            for (uint64_t block = 0, child = 0; block < below->blocks; block++) {
                uint32_t lower = w->floor->switch_rack[lower_at];
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

/* The next length of those that have cables, from the shortest on; TOO_LONG: none. */
static uint8_t next_length(const walk *w, const tally *t, double longer_than_m) {
    uint8_t next = TOO_LONG;
    for (uint8_t i = 0; i < w->n_lengths; i++) {
        if (t->count[i] > 0 && w->length_m[i] > longer_than_m &&
            (next == TOO_LONG || w->length_m[i] < w->length_m[next])) {
            next = i;
        }
    }
    return next;
}

static fab_status count_lengths(walk *w, fab_counts *c, fab_error *err) {
    c->n_kinds = 0;
    FAB_PASS(open_lengths(w, err));
    for (uint32_t t = 1; t <= w->plan->n_tiers; t++) {
        const double cable_bps = w->plan->tier[t].down_bps;
        tally sum = {{0}};
        if (!fab_floor_decides(w->spec, t)) {
            if (c->cables_by_tier[t - 1] > 0) {
                c->kinds[c->n_kinds++] =
                    (fab_cable_kind){t, cable_bps, fab_tier_length_m(w->spec, t), c->cables_by_tier[t - 1]};
            }
        } else if (t == 1) {
            count_access(w, &sum);
        } else if (t == 2 && gives_up_uplinks(w->plan)) {
            count_fewer_uplinks(w, &sum);
        } else {
            count_uplinks(w, t, &sum);
        }
        FAB_REFUSE_IF(sum.count[TOO_LONG] > 0, err, FAB_EINPUT, "floor", "a cable is longer than any that is made");
        for (uint8_t i = next_length(w, &sum, 0); i != TOO_LONG; i = next_length(w, &sum, w->length_m[i])) {
            c->kinds[c->n_kinds++] = (fab_cable_kind){t, cable_bps, w->length_m[i], sum.count[i]};
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
    FAB_FREE_ALL(w.shape.low, w.shape.high, w.runs, w.first_run, w.length_of);
    return status;
}
