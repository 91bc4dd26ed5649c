/* Gaps in the numbers of switches. The names of a tier share a word ("IBLEAF", "spine"); the numbers behind it are
 * coordinates, and where they fill nearly all of a grid, what is left out is absent. */
#include "audit_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AXES      FAB_AUDIT_AXES
#define NEARLY    0.9 /* of the grid */
#define MOST_GRID (1U << 20)

typedef struct coordinates {
    uint32_t node, n;
    uint64_t at[AXES];
    int width[AXES]; /* digits, with leading zeros */
} coordinates;

/* The longest run of letters that ends before a digit or a separator and a digit: the role. */
static const char *role_of(const char *label, size_t *out_n) {
    const char *best = NULL;
    size_t most = 2; /* "A09" is a place, not a role */
    for (const char *c = label; *c != '\0';) {
        size_t n = 0;
        while (isalpha((unsigned char)c[n])) {
            n++;
        }
        const char *behind = c + n;
        behind += *behind == '-' || *behind == '_' ? 1 : 0;
        if (n > most && isdigit((unsigned char)*behind)) {
            most = n;
            best = c;
        }
        c += n > 0 ? n : 1;
    }
    *out_n = best != NULL ? most : 0;
    return best;
}

/* Numbers behind the role, joined by - or _. */
static bool read_coordinates(const char *label, const char *role, size_t n_role, coordinates *out) {
    size_t n = 0;
    const char *at = role_of(label, &n);
    if (at == NULL || n != n_role || strncmp(at, role, n) != 0) {
        return false;
    }
    at += n;
    out->n = 0;
    while (out->n < AXES) {
        at += *at == '-' || *at == '_' ? 1 : 0;
        char *end = NULL;
        if (!isdigit((unsigned char)*at)) {
            break;
        }
        out->at[out->n] = strtoul(at, &end, 10);
        out->width[out->n++] = (int)(end - at);
        at = end;
        if (*at != '-' && *at != '_') {
            break;
        }
    }
    return out->n > 0;
}

typedef struct grid {
    coordinates *switches;
    uint32_t n, axes;
    uint64_t *value[AXES]; /* [axis]: those that occur, ascending */
    uint32_t n_values[AXES], cells;
    uint8_t *there; /* [cells] */
    double capacity_bps;
    uint32_t cables;
} grid;

static uint32_t audit_names_index_of(const grid *g, uint32_t axis, uint64_t value) {
    const uint64_t *values = g->value[axis];
    const uint64_t *found = bsearch(&value, values, g->n_values[axis], sizeof value, fab_order_u64);
    return found != NULL ? (uint32_t)(found - values) : 0; /* it is one of them */
}

/* Values of an axis; of the only one all between the least and the largest. */
static fab_status find_values(grid *g, uint32_t axis, fab_error *err) {
    FAB_PASS(FAB_NEW(g->value[axis], g->n, err));
    for (uint32_t i = 0; i < g->n; i++) {
        g->value[axis][i] = g->switches[i].at[axis];
    }
    qsort(g->value[axis], g->n, sizeof *g->value[axis], fab_order_u64);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (n == 0 || g->value[axis][i] != g->value[axis][n - 1]) {
            g->value[axis][n++] = g->value[axis][i];
        }
    }
    g->n_values[axis] = n;
    uint64_t least = g->value[axis][0];
    uint64_t span = g->value[axis][n - 1] - least + 1;
    if (g->axes == 1 && span > n && span < 2 * (uint64_t)n) {
        free(g->value[axis]);
        g->value[axis] = NULL;
        FAB_PASS(FAB_NEW(g->value[axis], span, err));
        for (uint64_t i = 0; i < span; i++) {
            g->value[axis][i] = least + i;
        }
        g->n_values[axis] = (uint32_t)span;
    }
    return FAB_OK;
}

/* What a switch of the tier has: the most cables of one of its peers. */
static void find_capacity(const auditor *a, grid *g) {
    for (uint32_t i = 0; i < g->n; i++) {
        double sum = 0;
        uint32_t n = 0;
        for (uint32_t k = a->shape->first[g->switches[i].node]; k < a->shape->first[g->switches[i].node + 1]; k++) {
            uint32_t cable = a->shape->side[k] >> 1;
            if (fab_audit_boundary_of(a, cable) > 0) {
                sum += a->net->cables[cable].rate_bps;
                n++;
            }
        }
        if (sum > g->capacity_bps || (sum == g->capacity_bps && n > g->cables)) {
            g->capacity_bps = sum;
            g->cables = n;
        }
    }
}

static fab_status audit_names_report(auditor *a, const grid *g, uint32_t cell, const char *role, size_t n_role,
                                     fab_error *err) {
    char name[128];
    const char *separator = role[n_role] == '_' ? "_" : "-";
    size_t n = (size_t)snprintf(name, sizeof name, "%.*s", (int)(n_role < 64 ? n_role : 64), role);
    uint32_t stride = g->cells;
    for (uint32_t axis = 0; axis < g->axes; axis++) {
        stride /= g->n_values[axis];
        uint64_t value = g->value[axis][cell / stride % g->n_values[axis]];
        bool joined = axis == 0 && isdigit((unsigned char)role[n_role]);
        n += (size_t)snprintf(name + n, sizeof name - n, "%.*s%0*" PRIu64, joined ? 0 : 1, separator,
                              g->switches[0].width[axis], value);
    }
    fab_finding f = {
        .kind = FAB_FINDING_ABSENT_SWITCH, .node = name, .damage_bps = g->capacity_bps, .cables = g->cables};
    FAB_PASS(fab_audit_text(a, &f.text, err, "there is no %s, though %u of its %u peers are there", name,
                            (unsigned)g->n, (unsigned)g->cells));
    FAB_PASS(fab_audit_text(a, &f.work, err, "Install %s, or switch it on; its peers have %u cables.", name,
                            (unsigned)f.cables));
    return fab_audit_add(a, &f, err);
}

/* The absent switch of a cell with its peers, for what it would be joined to; after its report. */
static fab_status remember(auditor *a, const grid *g, uint32_t cell, uint32_t tier, fab_error *err) {
    fab_audit *out = a->out;
    uint32_t at[AXES] = {0};
    for (uint32_t axis = g->axes, rest = cell; axis-- > 0; rest /= g->n_values[axis]) {
        at[axis] = rest % g->n_values[axis];
    }
    absent_switch s = {.name = out->findings[out->n_findings - 1].node, .tier = tier, .block = FAB_NETWORK_NONE};
    for (uint32_t axis = 0; axis < AXES; axis++) {
        s.first[axis] = a->n_peers;
        for (uint32_t i = 0; axis < g->axes && i < g->n; i++) {
            bool same = true;
            for (uint32_t other = 0; other < g->axes; other++) {
                same = same && (other == axis || g->switches[i].at[other] == g->value[other][at[other]]);
            }
            if (same) {
                FAB_PASS(FAB_GROW(a->peer, a->peer_capacity, (size_t)a->n_peers + 1, err));
                a->peer[a->n_peers++] = g->switches[i].node;
            }
        }
    }
    s.first[AXES] = a->n_peers;
    FAB_PASS(FAB_GROW(a->absent, a->absent_capacity, (size_t)out->n_absent + 1, err));
    if (tier == 1 && out->n_absent_leaves++ == 0) {
        out->absent_leaf = a->net->n_nodes + out->n_absent;
    }
    a->absent[out->n_absent++] = s;
    return FAB_OK;
}

static fab_status look_at_grid(auditor *a, grid *g, uint32_t tier, const char *role, size_t n_role, fab_error *err) {
    uint64_t cells = 1;
    for (uint32_t axis = 0; axis < g->axes; axis++) {
        FAB_PASS(find_values(g, axis, err));
        cells *= g->n_values[axis];
        if (cells > MOST_GRID) {
            return FAB_OK;
        }
    }
    g->cells = (uint32_t)cells;
    FAB_PASS(FAB_NEW(g->there, g->cells, err));
    uint32_t n_present = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t cell = 0;
        for (uint32_t axis = 0; axis < g->axes; axis++) {
            cell = cell * g->n_values[axis] + audit_names_index_of(g, axis, g->switches[i].at[axis]);
        }
        n_present += g->there[cell] == 0;
        g->there[cell] = 1;
    }
    if (n_present < g->n || n_present < NEARLY * g->cells) { /* equal numbers, or no grid */
        return FAB_OK;
    }
    find_capacity(a, g);
    for (uint32_t cell = 0; cell < g->cells; cell++) {
        if (g->there[cell] == 0) {
            FAB_PASS(audit_names_report(a, g, cell, role, n_role, err));
            FAB_PASS(remember(a, g, cell, tier, err));
        }
    }
    return FAB_OK;
}

static fab_status look_at_tier(auditor *a, uint32_t tier, fab_error *err) {
    fab_status status = FAB_OK;
    grid g = {.n = 0};
    const char *role = NULL;
    size_t n_role = 0;
    FAB_TRY(FAB_NEW(g.switches, a->tier_first[tier + 1] - a->tier_first[tier], err));
    for (uint32_t i = a->tier_first[tier]; i < a->tier_first[tier + 1]; i++) {
        uint32_t v = a->in_tier[i];
        if (role == NULL) {
            role = role_of(fab_audit_label(a, v), &n_role);
        }
        coordinates *c = &g.switches[g.n];
        c->node = v;
        if (role == NULL || !read_coordinates(fab_audit_label(a, v), role, n_role, c) ||
            (g.n > 0 && c->n != g.switches[0].n)) {
            goto done; /* names of no common form tell nothing */
        }
        g.n++;
    }
    if (g.n > 1 && role != NULL) {
        g.axes = g.switches[0].n;
        FAB_TRY(look_at_grid(a, &g, tier, role, n_role, err));
    }
done:
    for (uint32_t axis = 0; axis < AXES; axis++) {
        free(g.value[axis]);
    }
    FAB_FREE_ALL(g.there, g.switches);
    return status;
}

fab_status fab_audit_names(auditor *a, fab_error *err) {
    for (uint32_t tier = 1; tier <= a->shape->n_tiers; tier++) {
        FAB_PASS(look_at_tier(a, tier, err));
    }
    return FAB_OK;
}
