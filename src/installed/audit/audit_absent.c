/* Switches that are not there. The names of a tier share a word ("IBLEAF", "spine"); the numbers behind it are
 * coordinates, and where they fill nearly all of a grid, what is left out is absent. Where they fill less of it, or the
 * first or the last is missing, ports tell: those that the switches beside it leave free on the boxes that they share;
 * and blocks, of which one has an upper switch less than the others. */
#include "audit_internal.h"

#include "../structure/box_names.h"

#include <ctype.h>

#define AXES      FAB_NAME_NUMBERS
#define NONE      FAB_NETWORK_NONE
#define NEARLY    0.9 /* of the grid, by names alone */
#define SOME      0.5 /* of the grid, where ports tell as well */
#define MOST_GRID (1U << 20)

typedef struct coordinates {
    uint32_t node;
    const char *label;
    fab_box_name name;
} coordinates;

/* Switches of a tier of one role. */
typedef struct grid {
    uint32_t tier;
    const coordinates *switches; /* by number */
    const char *prefix;          /* before the role, where all have the same; NULL */
    uint32_t n, axes, runs;      /* runs: the axis whose numbers are counted: boards of a box, else the last */
    uint64_t *value[AXES];       /* [axis]: those that occur, ascending */
    uint32_t n_values[AXES], cells;
    uint8_t *there; /* [cells] */
    double capacity_bps;
    uint32_t cables, least, most; /* of a peer in the middle; and of all */
} grid;

static int by_role(const void *x, const void *y) {
    const coordinates *a = x;
    const coordinates *b = y;
    int order = fab_box_role_compare(&a->name, &b->name);
    if (order != 0 || a->name.n != b->name.n) {
        return order != 0 ? order : FAB_ORDER(a->name.n, b->name.n);
    }
    for (uint32_t i = 0; i < a->name.n; i++) {
        FAB_ORDER_BY(a->name.at[i], b->name.at[i]);
    }
    return FAB_ORDER(a->node, b->node);
}

/* What stands before the role first. */
FAB_ORDER_KEYS(by_kind, coordinates, FAB_ORDER(a->name.before, b->name.before), by_role(a, b));

/* What stands before the role first, with its numbers: "c1-leaf2" is of cell 1. */
static int by_place(const void *x, const void *y) {
    const coordinates *a = x;
    const coordinates *b = y;
    size_t n = (size_t)(a->name.role - a->label);
    size_t m = (size_t)(b->name.role - b->label);
    int order = memcmp(a->label, b->label, n < m ? n : m);
    return order != 0 ? order : n != m ? FAB_ORDER(n, m) : by_role(x, y);
}

static uint32_t index_of(const grid *g, uint32_t axis, uint64_t value) {
    const uint64_t *found = bsearch(&value, g->value[axis], g->n_values[axis], sizeof value, fab_order_u64);
    return found != NULL ? (uint32_t)(found - g->value[axis]) : 0; /* it is one of them */
}

static bool is_boards(const grid *g) {
    return g->switches[0].name.is_board;
}

/* Whether one number counts its switches. */
static bool has_one_axis(const grid *g) {
    return g->axes == 1 || (is_boards(g) && g->axes == 2 && g->n_values[1] == 1);
}

/* Values of an axis; of the only one, and of boards, all between the least and the largest. */
static fab_status find_values(grid *g, uint32_t axis, fab_error *err) {
    FAB_PASS(FAB_NEW(g->value[axis], g->n, err));
    FAB_FILL(g->value[axis], g->n, g->switches[fab_at].name.at[axis]);
    qsort(g->value[axis], g->n, sizeof *g->value[axis], fab_order_u64);
    uint32_t n = 0;
    FAB_KEEP(g->value[axis], n, i, g->n, n == 0 || g->value[axis][i] != g->value[axis][n - 1], g->value[axis][i]);
    g->n_values[axis] = n;
    uint64_t least = g->value[axis][0];
    uint64_t span = g->value[axis][n - 1] - least + 1;
    if ((g->axes == 1 || (is_boards(g) && axis == 0)) && span > n && span < 2 * (uint64_t)n) {
        free(g->value[axis]);
        g->value[axis] = NULL;
        FAB_PASS(FAB_NEW(g->value[axis], span, err));
        FAB_FILL(g->value[axis], span, least + fab_at);
        g->n_values[axis] = (uint32_t)span;
    }
    return FAB_OK;
}

typedef struct peer {
    double bps;
    uint32_t cables;
} peer;

FAB_ORDER_TWO(by_cables, peer, cables, bps);

/* What a switch of the tier has: the cables of the peer in the middle, of an even number the larger one. */
static fab_status find_capacity(const auditor *a, grid *g, fab_error *err) {
    FAB_OWNED_NEW(peer, peers, g->n, err);
    for (uint32_t i = 0; i < g->n; i++) {
        for (uint32_t k = a->shape->first[g->switches[i].node]; k < a->shape->first[g->switches[i].node + 1]; k++) {
            uint32_t cable = a->shape->side[k] >> 1;
            if (fab_audit_boundary_of(a, cable) > 0) {
                peers[i].bps += a->net->cables[cable].rate_bps;
                peers[i].cables++;
            }
        }
    }
    qsort(peers, g->n, sizeof *peers, by_cables);
    g->capacity_bps = peers[g->n / 2].bps;
    g->cables = peers[g->n / 2].cables;
    g->least = peers[0].cables;
    g->most = peers[g->n - 1].cables;
    return FAB_OK;
}

/* --- what is absent ----------------------------------------------------------------------------------------------- */

static void put_name(const grid *g, const uint64_t *at, char *out, size_t size) {
    const fab_box_name *like = &g->switches[0].name;
    const char *separator = like->role[like->n_role] == '_' ? "_" : "-";
    size_t n = 0;
    if (g->prefix != NULL) {
        n = (size_t)snprintf(out, size, "%.*s", (int)(like->role - g->prefix < 64 ? like->role - g->prefix : 64),
                             g->prefix);
    }
    n += (size_t)snprintf(out + n, size - n, "%.*s", (int)(like->n_role < 40 ? like->n_role : 40), like->role);
    for (uint32_t axis = 0; axis < g->axes && n < size; axis++) {
        bool joined = axis == 0 && isdigit((unsigned char)like->role[like->n_role]);
        n += (size_t)snprintf(out + n, size - n, "%s%0*" PRIu64,
                              joined           ? ""
                              : like->is_board ? "/U"
                                               : separator,
                              like->width[axis], at[axis]);
    }
}

static bool is_there(const auditor *a, const char *name) {
    FAB_FIRST(v, a->net->n_nodes, strcmp(a->net->nodes[v].label, name) == 0);
    return v < a->net->n_nodes;
}

/* None, where another tier has a switch of this name: numbers that run through all tiers leave none out. */
static fab_status add_absent(auditor *a, const grid *g, const char *name, const char *why, double confidence,
                             const absent_switch *s, fab_error *err) {
    fab_audit *out = a->out;
    fab_finding f = {.kind = FAB_FINDING_ABSENT_SWITCH,
                     .confidence = confidence,
                     .node = name,
                     .text = why,
                     .damage_bps = g->capacity_bps,
                     .cables = g->cables};
    char range[32] = "";
    if (is_there(a, name)) {
        return FAB_OK;
    }
    if (g->least < g->most) {
        FAB_FORMAT(range, "%u to ", (unsigned)g->least);
    }
    FAB_PASS(fab_audit_text(a, &f.work, err, "Install %s, or switch it on; the %u others of its role have %s%u cables.",
                            name, (unsigned)g->n, range, (unsigned)g->most));
    FAB_PASS(fab_audit_add(a, &f, err));
    FAB_PASS(FAB_GROW(a->absent, a->absent_capacity, (size_t)out->n_absent + 1, err));
    a->lacks_leaf = a->lacks_leaf || s->tier == 1;
    if (s->tier == 1 && out->n_absent_leaves++ == 0) {
        out->absent_leaf = a->net->n_nodes + out->n_absent;
    }
    a->absent[out->n_absent] = *s;
    a->absent[out->n_absent++].name = out->findings[out->n_findings - 1].node;
    return FAB_OK;
}

/* The block of the switches that stand beside it: of those that differ from it in one coordinate alone, the next ones.
 * Where they are in different blocks, that of the two which has too few. */
static uint32_t block_beside(const auditor *a, const grid *g, const uint64_t *at, uint32_t tier, bool above) {
    const audit_boundary *b = tier > 0 && tier < a->n_tiers ? &a->boundary[tier] : NULL;
    uint32_t found = NONE;
    bool is_clear = true;
    for (uint32_t i = 0; b != NULL && b->of != NULL && i < g->n; i++) {
        uint32_t differ = 0;
        uint64_t distance = 0;
        for (uint32_t axis = 0; axis < g->axes; axis++) {
            uint64_t other = g->switches[i].name.at[axis];
            differ += other != at[axis];
            distance = other != at[axis] ? (other > at[axis] ? other - at[axis] : at[axis] - other) : distance;
        }
        uint32_t block = b->of[g->switches[i].node];
        bool is_near = differ == 1 && (g->axes > 1 || distance == 1);
        if (!is_near || block == NONE) {
            continue;
        }
        if (found != NONE && block != found) {
            bool lacks_new = !above && b->usual_upper > 0 && b->block[block].n_upper < b->usual_upper;
            bool lacks_old = !above && b->usual_upper > 0 && b->block[found].n_upper < b->usual_upper;
            is_clear = is_clear && lacks_new != lacks_old;
            found = lacks_new && !lacks_old ? block : found;
        } else {
            found = block;
        }
    }
    return is_clear ? found : NONE;
}

/* A switch of these coordinates that stands beside `near`. */
static absent_switch place(const auditor *a, const grid *g, const uint64_t *at, uint32_t near) {
    return (absent_switch){.tier = g->tier,
                           .near = near,
                           .block_above = block_beside(a, g, at, g->tier, true),
                           .block_below = block_beside(a, g, at, g->tier - 1, false)};
}

/* Switches of the tier below without a cable upwards, where at least half have one; else 0. What they were joined to is
 * not there. */
static uint32_t n_orphans(const auditor *a, uint32_t tier) {
    uint32_t n = 0;
    uint32_t n_joined = 0;
    for (uint32_t i = tier > 1 ? a->tier_first[tier - 1] : 0; tier > 1 && i < a->tier_first[tier]; i++) {
        n++;
        n_joined += a->boundary[tier - 1].of != NULL && a->boundary[tier - 1].of[a->in_tier[i]] != NONE;
    }
    return n_joined >= 0.5 * n ? n - n_joined : 0;
}

/* Whether a switch beside another would join those without a cable upwards: as many as that one has below it. */
static bool would_join(const auditor *a, const grid *g, uint32_t beside) {
    const audit_boundary *b = g->tier > 1 ? &a->boundary[g->tier - 1] : NULL;
    uint32_t block = b != NULL && b->of != NULL ? b->of[beside] : NONE;
    for (uint32_t i = 0; i < a->out->n_absent; i++) {
        block = a->absent[i].tier == g->tier ? NONE : block;
    }
    return block != NONE && b->block[block].n_upper == 1 && n_orphans(a, g->tier) == b->block[block].n_lower;
}

/* Whether ports, or blocks, say that something is missing between two switches that stand beside a gap. */
static bool is_told(const auditor *a, const grid *g, const uint64_t *at) {
    uint32_t before = NONE;
    uint32_t behind = NONE;
    for (uint32_t i = 0; i < g->n; i++) {
        FAB_ALL(same, axis, g->axes, axis == g->runs || g->switches[i].name.at[axis] == at[axis]);
        if (same && g->switches[i].name.at[g->runs] < at[g->runs]) {
            before = g->switches[i].node;
        } else if (same && behind == NONE) {
            behind = g->switches[i].node;
        }
    }
    if (before == NONE || behind == NONE) {
        return false;
    }
    if (n_orphans(a, g->tier) > 0) {
        return true;
    }
    const audit_boundary *below = g->tier > 1 ? &a->boundary[g->tier - 1] : NULL;
    uint32_t block = below != NULL ? block_beside(a, g, at, g->tier - 1, false) : NONE;
    return fab_audit_slots_lack(a, before, behind) || fab_audit_ports_are_free(a, before, behind) ||
           (block != NONE && below->usual_upper > 0 && below->block[block].n_upper < below->usual_upper);
}

static fab_status report_gaps(auditor *a, const grid *g, uint32_t n_present, fab_error *err) {
    for (uint32_t cell = 0; cell < g->cells; cell++) {
        uint64_t at[AXES] = {0};
        char name[128];
        const char *why = NULL;
        for (uint32_t axis = g->axes, rest = cell; axis-- > 0; rest /= g->n_values[axis]) {
            at[axis] = g->value[axis][rest % g->n_values[axis]];
        }
        bool is_slot = is_boards(g) && g->switches[0].name.role[0] == 'L'; /* which may be empty */
        if (g->there[cell] != 0 || ((is_slot || n_present < NEARLY * g->cells) && !is_told(a, g, at))) {
            continue;
        }
        absent_switch s = place(a, g, at, g->switches[0].node);
        put_name(g, at, name, sizeof name);
        FAB_PASS(fab_audit_text(a, &why, err, "there is no %s, though %u of its %u peers are there", name,
                                (unsigned)g->n, (unsigned)g->cells));
        FAB_PASS(add_absent(a, g, name, why, fab_audit_confidence(g->n, g->cells), &s, err));
    }
    return FAB_OK;
}

/* The one before the first: other roles count from a smaller number, and its ports are free. */
static fab_status look_before_first(auditor *a, const grid *g, uint64_t from, fab_error *err) {
    uint64_t at[AXES] = {g->switches[0].name.at[0], g->switches[0].name.at[1]};
    char name[128];
    uint32_t first = g->switches[0].node;
    bool slots = at[0] > 0 && has_one_axis(g) && fab_audit_slots_lack(a, NONE, first);
    from = is_boards(g) ? 1 : from;
    if (!has_one_axis(g) || g->n < 2 ||
        !(slots || (at[0] > from && (fab_audit_ports_are_free(a, NONE, first) || would_join(a, g, first))))) {
        return FAB_OK;
    }
    at[0]--;
    absent_switch s = place(a, g, at, first);
    put_name(g, at, name, sizeof name);
    return add_absent(a, g, name, "its peers leave its ports free, and other switches are counted from its number",
                      fab_audit_confidence(g->n, g->n + 1.0), &s, err);
}

static uint32_t n_absent_in(const auditor *a, uint32_t tier, uint32_t block) {
    FAB_SUM(uint32_t, n, i, a->out->n_absent,
            a->absent[i].tier == tier && (a->absent[i].block_below == block || a->absent[i].block_below == NONE));
    return n;
}

/* The one behind the last: its block has an upper switch less than others, and no gap tells which. */
static fab_status look_behind_last(auditor *a, const grid *g, fab_error *err) {
    const coordinates *last = &g->switches[g->n - 1];
    const audit_boundary *b = g->tier > 1 ? &a->boundary[g->tier - 1] : NULL;
    uint32_t block = b != NULL && b->of != NULL ? b->of[last->node] : NONE;
    uint64_t at[AXES] = {0};
    char name[128];
    const char *why = NULL;
    bool joins = has_one_axis(g) && would_join(a, g, last->node);
    bool lacks = block != NONE && b->usual_upper > 0 &&
                 b->block[block].n_upper + 1 == b->usual_upper - n_absent_in(a, g->tier, block);
    if (!has_one_axis(g) || !(joins || lacks)) {
        return FAB_OK;
    }
    at[0] = last->name.at[0] + 1;
    at[1] = last->name.at[1];
    absent_switch s = place(a, g, at, last->node);
    put_name(g, at, name, sizeof name);
    FAB_PASS(joins ? fab_audit_text(a, &why, err,
                                    "%u switches below have no cable upwards, as many as its peers have below",
                                    (unsigned)n_orphans(a, g->tier))
                   : fab_audit_text(a, &why, err, "the switches below have %u switches above them, their peers %u",
                                    (unsigned)b->block[block].n_upper, (unsigned)b->usual_upper));
    return add_absent(a, g, name, why, fab_audit_confidence(b->n_blocks - 1.0, b->n_blocks), &s, err);
}

static fab_status look_at_grid(auditor *a, grid *g, uint64_t from, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t cells = 1;
    uint32_t n_present = 0;
    for (uint32_t axis = 0; axis < g->axes; axis++) {
        FAB_TRY(find_values(g, axis, err));
        cells *= g->n_values[axis];
        if (cells > MOST_GRID) {
            goto done;
        }
    }
    g->cells = (uint32_t)cells;
    FAB_TRY(FAB_NEW(g->there, g->cells, err));
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t cell = 0;
        for (uint32_t axis = 0; axis < g->axes; axis++) {
            cell = cell * g->n_values[axis] + index_of(g, axis, g->switches[i].name.at[axis]);
        }
        n_present += g->there[cell] == 0;
        g->there[cell] = 1;
    }
    if (n_present < g->n || n_present < SOME * g->cells) { /* equal numbers, or no grid */
        goto done;
    }
    FAB_TRY(find_capacity(a, g, err));
    FAB_TRY(report_gaps(a, g, n_present, err));
    FAB_TRY(look_before_first(a, g, from, err));
    FAB_TRY(look_behind_last(a, g, err));
done:
    for (uint32_t axis = 0; axis < AXES; axis++) {
        free(g->value[axis]);
    }
    free(g->there);
    return status;
}

/* --- tiers -------------------------------------------------------------------------------------------------------- */

/* The least number of any role of one number. */
static uint64_t first_number(const auditor *a) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = a->tier_first[1]; i < a->tier_first[a->n_tiers + 1]; i++) {
        fab_box_name name = fab_box_name_of(a->net->nodes[a->in_tier[i]].label);
        least = name.role != NULL && name.n == 1 && name.at[0] < least ? name.at[0] : least;
    }
    return least;
}

static bool has_collision(const coordinates *all, uint32_t n) {
    FAB_ANY_IN(collides, i, 1, n, memcmp(all[i].name.at, all[i - 1].name.at, sizeof all[i].name.at) == 0);
    return collides;
}

static bool has_same_place(const coordinates *a, const coordinates *b) {
    size_t n = (size_t)(a->name.role - a->label);
    return n == (size_t)(b->name.role - b->label) && memcmp(a->label, b->label, n) == 0;
}

/* Switches of one role; where several have the same numbers, what stands before it tells them apart: its letters, or,
 * where that is not enough, its numbers. */
static fab_status look_at_role(auditor *a, coordinates *all, uint32_t n, uint32_t tier, uint64_t from, fab_error *err) {
    bool collides = has_collision(all, n);
    bool by_number = false;
    if (n < 2 || all[0].name.role == NULL || all[0].name.n == 0) {
        return FAB_OK;
    }
    if (collides) {
        qsort(all, n, sizeof *all, by_kind);
        FAB_EACH_RUN(uint32_t, i, next, n, all[next].name.before == all[i].name.before) {
            by_number = by_number || has_collision(all + i, next - i);
        }
    }
    if (by_number) {
        qsort(all, n, sizeof *all, by_place);
    }
    FAB_EACH_RUN(uint32_t, i, next, n,
                 !collides ||
                     (by_number ? has_same_place(&all[next], &all[i]) : all[next].name.before == all[i].name.before)) {
        bool is_plain = strcspn(all[i].label, "0123456789") >= (size_t)(all[i].name.role - all[i].label);
        grid g = {.tier = tier,
                  .switches = all + i,
                  .n = next - i,
                  .axes = all[i].name.n,
                  .runs = all[i].name.is_board ? 0 : all[i].name.n - 1,
                  .prefix = (collides && (by_number || is_plain)) || all[i].name.is_board ? all[i].label : NULL};
        FAB_PASS(g.n > 1 ? look_at_grid(a, &g, from, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status look_at_tier(auditor *a, uint32_t tier, uint64_t from, fab_error *err) {
    uint32_t n = a->tier_first[tier + 1] - a->tier_first[tier];
    FAB_OWNED_NEW(coordinates, all, (size_t)n + 1, err);
    for (uint32_t i = 0; i < n; i++) {
        all[i].node = a->in_tier[a->tier_first[tier] + i];
        all[i].label = a->net->nodes[all[i].node].label;
        all[i].name = fab_box_name_of(all[i].label);
    }
    qsort(all, n, sizeof *all, by_role);
    FAB_EACH_RUN(uint32_t, i, next, n,
                 all[next].name.n == all[i].name.n && fab_box_role_compare(&all[next].name, &all[i].name) == 0) {
        FAB_PASS(look_at_role(a, all + i, next - i, tier, from, err));
    }
    return FAB_OK;
}

fab_status fab_audit_next_name(auditor *a, uint32_t node, uint64_t step, const char **out, fab_error *err) {
    coordinates one = {.node = node};
    char name[128];
    one.name = fab_box_name_of(a->net->nodes[node].label);
    grid g = {.switches = &one, .n = 1, .axes = one.name.n};
    if (one.name.role == NULL || one.name.n == 0) {
        return fab_audit_text(a, out, err, "one beside %s", fab_audit_label(a, node));
    }
    one.name.at[one.name.n - 1] += step;
    put_name(&g, one.name.at, name, sizeof name);
    return fab_audit_text(a, out, err, "%s", name);
}

/* Trunks that an absent switch would have: to all switches of the other tier of its blocks. */
static fab_status add_lacks(auditor *a, uint32_t index, fab_error *err) {
    const absent_switch *s = &a->absent[index];
    bool is_placed = false;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t tier = side == 0 ? s->tier : s->tier - 1;
        uint32_t block = side == 0 ? s->block_above : s->block_below;
        const audit_boundary *b = tier > 0 && tier < a->n_tiers ? &a->boundary[tier] : NULL;
        const audit_block *k = b != NULL && block != NONE ? &b->block[block] : NULL;
        uint32_t n = k == NULL ? 0 : side == 0 ? k->n_upper : k->n_lower;
        is_placed = is_placed || k != NULL;
        if (b != NULL && b->n_blocks > 0 && (k == NULL || k->usual == 0)) {
            a->out->unplaced = a->out->unplaced == NULL ? s->name : a->out->unplaced;
        }
        for (uint32_t i = 0; i < n && k->usual > 0; i++) {
            const fab_audit_lack lack = {
                .node = {b->member[(side == 0 ? k->first_upper : k->first_lower) + i], a->net->n_nodes + index},
                .cables = k->usual,
                .rate_bps = a->usual_bps[tier + 1]};
            FAB_PASS(fab_audit_add_lack(a, &lack, err));
        }
        for (uint32_t i = 0; i < index && k != NULL; i++) { /* to absent ones that are placed */
            bool joined = side == 0 ? a->absent[i].tier == s->tier + 1 && a->absent[i].block_below == block
                                    : a->absent[i].tier + 1 == s->tier && a->absent[i].block_above == block;
            const fab_audit_lack lack = {.node = {a->net->n_nodes + i, a->net->n_nodes + index},
                                         .cables = k->usual,
                                         .rate_bps = a->usual_bps[tier + 1]};
            if (joined) {
                FAB_PASS(fab_audit_add_lack(a, &lack, err));
            }
        }
    }
    if (!is_placed && a->out->unplaced == NULL) {
        a->out->unplaced = s->name;
    }
    return FAB_OK;
}

fab_status fab_audit_absent(auditor *a, fab_error *err) {
    uint64_t from = first_number(a);
    for (uint32_t tier = 1; tier <= a->n_tiers; tier++) {
        FAB_PASS(look_at_tier(a, tier, from, err));
    }
    for (uint32_t i = 0; i < a->out->n_absent; i++) {
        FAB_PASS(add_lacks(a, i, err));
    }
    return FAB_OK;
}
