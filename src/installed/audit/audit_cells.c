/* Cables between cells (Dragonfly+): cells are blocks of the boundary below, and where nearly every switch has as many
 * cables to every other cell, one that has one less to a cell and one more to another has a cable that is crossed. */
#include "audit_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <stdlib.h>

#define NONE FAB_NETWORK_NONE

/* Cables of a switch to another cell. */
typedef struct reach {
    uint32_t node, cell, n;
} reach;

/* A switch that has one cable less to a cell than it should, and one more to another. */
typedef struct crossing {
    uint32_t node, lacks, has; /* cells */
    bool is_told;
} crossing;

typedef struct cells {
    auditor *a;
    uint32_t tier;
    const uint32_t *of; /* [n_nodes] */
    uint32_t n_cells;
    reach *reach;
    crossing *list;
    uint32_t n_reach, n, usual;
    double confidence;
} cells;

static int by_node_and_cell(const void *x, const void *y) {
    const reach *a = x;
    const reach *b = y;
    FAB_ORDER_BY(a->node, b->node);
    return FAB_ORDER(a->cell, b->cell);
}

static bool is_between(const cells *s, uint32_t cable) {
    const fab_network_end *end = s->a->net->cables[cable].end;
    bool is_here = true;
    for (int k = 0; k < 2; k++) {
        uint32_t v = end[k].node;
        is_here = is_here && fab_audit_is_switch(s->a, v) && s->a->shape->tier[v] == s->tier && s->of[v] != NONE;
    }
    return is_here && s->of[end[0].node] != s->of[end[1].node];
}

static fab_status count_cables(cells *s, fab_error *err) {
    const fab_network *net = s->a->net;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(s->reach, 2 * (size_t)net->n_cables, err));
    for (uint32_t c = 0; c < net->n_cables; c++) {
        for (int k = 0; k < 2 && is_between(s, c); k++) {
            s->reach[s->n_reach++] = (reach){net->cables[c].end[k].node, s->of[net->cables[c].end[k ^ 1].node], 1};
        }
    }
    if (s->n_reach > 0) {
        qsort(s->reach, s->n_reach, sizeof *s->reach, by_node_and_cell);
    }
    for (uint32_t i = 0; i < s->n_reach; i++) {
        if (n > 0 && by_node_and_cell(&s->reach[n - 1], &s->reach[i]) == 0) {
            s->reach[n - 1].n++;
        } else {
            s->reach[n++] = s->reach[i];
        }
    }
    s->n_reach = n;
    return FAB_OK;
}

/* Cables that nearly every switch has to every other cell; 0: there is no such rule. */
static void find_usual(cells *s) {
    const auditor *a = s->a;
    uint64_t n_pairs = (uint64_t)(a->tier_first[s->tier + 1] - a->tier_first[s->tier]) * (s->n_cells - 1);
    uint32_t votes = 0;
    uint64_t same = 0;
    for (uint32_t i = 0; i < s->n_reach; i++) {
        s->usual = votes == 0 ? s->reach[i].n : s->usual;
        votes += s->reach[i].n == s->usual ? 1 : UINT32_MAX;
    }
    for (uint32_t i = 0; i < s->n_reach; i++) {
        same += s->reach[i].n == s->usual;
    }
    s->usual = (double)same >= FAB_AUDIT_NEARLY * (double)n_pairs ? s->usual : 0;
    s->confidence = fab_audit_confidence((double)same, (double)n_pairs);
}

/* Of the reaches [first, behind) of one switch. */
static void look_at_switch(cells *s, uint32_t first, uint32_t behind) {
    crossing found = {.node = s->reach[first].node, .lacks = NONE, .has = NONE};
    uint32_t n_less = 0;
    uint32_t n_more = 0;
    uint32_t at = first;
    for (uint32_t cell = 0; cell < s->n_cells; cell++) {
        uint32_t n = 0;
        if (at < behind && s->reach[at].cell == cell) {
            n = s->reach[at++].n;
        }
        if (cell != s->of[found.node] && n != s->usual) {
            n_less += n + 1 == s->usual ? 1 : 0;
            n_more += n == s->usual + 1 ? 1 : 0;
            found.lacks = n < s->usual ? cell : found.lacks;
            found.has = n > s->usual ? cell : found.has;
        }
    }
    if (n_less == 1 && n_more == 1) {
        s->list[s->n++] = found;
    }
}

/* One cable of v into the cell of w, if any to w itself. */
static const fab_network_cable *cable_between(const cells *s, uint32_t v, uint32_t w, uint32_t cell) {
    const fab_shape *shape = s->a->shape;
    const fab_network_cable *found = NULL;
    for (uint32_t i = shape->first[v]; i < shape->first[v + 1]; i++) {
        uint32_t far = fab_network_far(s->a->net, shape->side[i])->node;
        if (far == w || (w == NONE && s->of[far] == cell)) {
            found = &s->a->net->cables[shape->side[i] >> 1];
        }
    }
    return found;
}

static fab_status report(cells *s, const crossing *one, const crossing *two, fab_error *err) {
    auditor *a = s->a;
    const fab_network_cable *cable = cable_between(s, one->node, two->node, NONE);
    const fab_network_cable *near = cable != NULL ? cable : cable_between(s, one->node, NONE, one->has);
    fab_finding f = {.kind = FAB_FINDING_CROSSED,
                     .confidence = s->confidence,
                     .cables = cable != NULL ? 1 : 2,
                     .damage_bps = near->rate_bps,
                     .node = fab_audit_label(a, one->node),
                     .guid = a->net->nodes[one->node].guid,
                     .other = fab_audit_label(a, two->node),
                     .other_guid = a->net->nodes[two->node].guid,
                     .line = near->end[0].line != 0 ? near->end[0].line : near->end[1].line};
    const char *lacks =
        fab_audit_label(a, a->boundary[s->tier - 1].member[a->boundary[s->tier - 1].block[one->lacks].first_upper]);
    if (cable != NULL) {
        uint32_t k = cable->end[0].node == one->node ? 0 : 1;
        f.port = fab_audit_port(&cable->end[k]);
        f.other_port = fab_audit_port(&cable->end[k ^ 1]);
        FAB_PASS(fab_audit_text(a, &f.text, err,
                                "this cable leads to a cell that both switches have %u cable%s to beside; %s lacks one "
                                "to the cell of %s",
                                (unsigned)s->usual, s->usual == 1 ? "" : "s", f.node, lacks));
        FAB_PASS(fab_audit_text(a, &f.work, err,
                                "Exchange its end with that of a cable which is crossed with it: %s "
                                "belongs on the cell of %s.",
                                f.node, lacks));
    } else {
        FAB_PASS(fab_audit_text(a, &f.text, err,
                                "their cables to two cells are crossed: %s lacks one to the cell of %s, %s has one too "
                                "many",
                                f.node, lacks, f.other));
        FAB_PASS(fab_audit_text(a, &f.work, err, "Exchange the ends of the two at %s and %s.", f.node, f.other));
    }
    return fab_audit_add(a, &f, err);
}

static fab_status report_crossings(cells *s, fab_error *err) {
    for (int pass = 0; pass < 2; pass++) { /* a cable between two of them, then two of a cell */
        for (uint32_t i = 0; i < s->n; i++) {
            for (uint32_t k = i + 1; k < s->n; k++) {
                crossing *one = &s->list[i];
                crossing *two = &s->list[k];
                bool joins = one->has == s->of[two->node] && two->has == s->of[one->node] &&
                             cable_between(s, one->node, two->node, NONE) != NULL;
                bool is_pair = s->of[one->node] == s->of[two->node] && one->has == two->lacks && one->lacks == two->has;
                if (!one->is_told && !two->is_told && (pass == 0 ? joins : is_pair)) {
                    one->is_told = two->is_told = true;
                    FAB_PASS(report(s, one, two, err));
                }
            }
        }
    }
    return FAB_OK;
}

fab_status fab_audit_cells(auditor *a, uint32_t tier, fab_error *err) {
    fab_status status = FAB_OK;
    cells s = {.a = a, .tier = tier};
    if (tier < 2 || a->boundary[tier - 1].n_blocks < 3) {
        return FAB_OK;
    }
    s.of = a->boundary[tier - 1].of;
    s.n_cells = a->boundary[tier - 1].n_blocks;
    FAB_TRY(count_cables(&s, err));
    find_usual(&s);
    FAB_TRY(FAB_NEW(s.list, s.n_reach, err));
    for (uint32_t first = 0, behind = 0; s.usual > 0 && first < s.n_reach; first = behind) {
        for (behind = first; behind < s.n_reach && s.reach[behind].node == s.reach[first].node; behind++) {
        }
        look_at_switch(&s, first, behind);
    }
    FAB_TRY(report_crossings(&s, err));
done:
    FAB_FREE_ALL(s.reach, s.list);
    return status;
}
