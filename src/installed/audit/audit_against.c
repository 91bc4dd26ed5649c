/* An installed network against a plan, cable by cable. Boxes are the same where their labels are. */
#include "audit_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    auditor a;
    const fab_network *plan;
    const fab_shape *plan_shape;
    uint32_t *there;     /* [plan nodes]: the same box in the installed network, or FAB_NETWORK_NONE */
    uint32_t *meant;     /* [nodes as installed]: in the plan */
    uint8_t *found;      /* [cables as installed]: it is in the plan, or named in a finding */
    double *planned_bps; /* [cables as installed]: by the plan; 0: it does not say, or has another cable */
} comparison;

typedef struct labelled {
    const char *label;
    uint32_t node;
} labelled;

static int audit_against_by_label(const void *x, const void *y) {
    const labelled *a = x;
    const labelled *b = y;
    int differ = strcmp(a->label, b->label);
    return differ != 0 ? differ : FAB_ORDER(a->node, b->node);
}

/* Sorted labels of what can be planned. */
static fab_status sort_labels(const fab_network *net, labelled **out, uint32_t *out_n, fab_error *err) {
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(*out, (size_t)net->n_nodes + 1, err));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        if (net->nodes[v].kind != FAB_NETWORK_SERVICE) {
            (*out)[n++] = (labelled){net->nodes[v].label, v};
        }
    }
    qsort(*out, n, sizeof **out, audit_against_by_label);
    *out_n = n;
    return FAB_OK;
}

static fab_status match(comparison *c, fab_error *err) {
    fab_status status = FAB_OK;
    labelled *here = NULL;
    labelled *planned = NULL;
    uint32_t n_here = 0;
    uint32_t n_planned = 0;
    uint32_t n_same = 0;
    FAB_TRY(FAB_NEW(c->there, (size_t)c->plan->n_nodes + 1, err));
    FAB_TRY(FAB_NEW(c->meant, (size_t)c->a.net->n_nodes + 1, err));
    FAB_TRY(FAB_NEW(c->found, (size_t)c->a.net->n_cables + 1, err));
    FAB_TRY(FAB_NEW(c->planned_bps, (size_t)c->a.net->n_cables + 1, err));
    c->a.planned_bps = c->planned_bps;
    FAB_TRY(sort_labels(c->a.net, &here, &n_here, err));
    FAB_TRY(sort_labels(c->plan, &planned, &n_planned, err));
    memset(c->there, 0xff, c->plan->n_nodes * sizeof *c->there);
    memset(c->meant, 0xff, c->a.net->n_nodes * sizeof *c->meant);
    for (uint32_t i = 0, k = 0; i < n_here && k < n_planned;) {
        int differ = strcmp(here[i].label, planned[k].label);
        if (differ == 0) {
            c->there[planned[k].node] = here[i].node;
            c->meant[here[i].node] = planned[k].node;
            n_same++;
        }
        i += differ <= 0;
        k += differ >= 0;
    }
    if (2 * n_same < n_planned) {
        FAB_FAIL(err, FAB_EINPUT, c->a.net->path,
                 "only %u of the %u boxes of the plan have their names here (the plan has '%.40s', here is '%.40s'): "
                 "a comparison needs the same names",
                 (unsigned)n_same, (unsigned)n_planned, n_planned > 0 ? planned[0].label : "nothing",
                 n_here > 0 ? here[0].label : "nothing");
    }
done:
    FAB_FREE_ALL(here, planned);
    return status;
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

static fab_status look_at_boxes(comparison *c, fab_error *err) {
    for (uint32_t v = 0; v < c->plan->n_nodes; v++) {
        const fab_network_node *node = &c->plan->nodes[v];
        if (c->there[v] != FAB_NETWORK_NONE || node->kind == FAB_NETWORK_SERVICE) {
            continue;
        }
        fab_finding f = {.kind =
                             node->kind == FAB_NETWORK_SWITCH ? FAB_FINDING_ABSENT_SWITCH : FAB_FINDING_MISSING_PORT,
                         .confidence = 1,
                         .guid = node->guid,
                         .node = node->label,
                         .text = "is planned and not there"};
        for (uint32_t k = c->plan_shape->first[v]; k < c->plan_shape->first[v + 1]; k++) {
            f.damage_bps += c->plan->cables[c->plan_shape->side[k] >> 1].rate_bps;
            f.cables++;
        }
        FAB_PASS(fab_audit_text(&c->a, &f.work, err, "Install %s, or switch it on, and plug its %u cable%s.",
                                node->label, (unsigned)f.cables, f.cables == 1 ? "" : "s"));
        FAB_PASS(fab_audit_add(&c->a, &f, err));
    }
    return FAB_OK;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

static bool same_port(const char *x, const char *y) {
    return x == NULL || y == NULL || strcmp(x, y) == 0;
}

/* A cable end at a port of a box of the installed network, that no planned cable has claimed; FAB_NETWORK_NONE. `far`:
 * the box at the other end, or FAB_NETWORK_NONE for any. */
static uint32_t find_side(const comparison *c, uint32_t node, const char *port, uint32_t far, const char *far_port) {
    const fab_shape *s = c->a.shape;
    for (uint32_t k = s->first[node]; k < s->first[node + 1]; k++) {
        uint32_t side = s->side[k];
        bool fits = far == FAB_NETWORK_NONE || (fab_network_far(c->a.net, side)->node == far &&
                                                same_port(fab_network_far(c->a.net, side)->port, far_port));
        if (c->found[side >> 1] == 0 && fits && same_port(fab_network_near(c->a.net, side)->port, port)) {
            return side;
        }
    }
    return FAB_NETWORK_NONE;
}

static fab_status report_missing(comparison *c, uint32_t cable, fab_error *err) {
    const fab_network_cable *p = &c->plan->cables[cable];
    const auditor planned = {.net = c->plan};
    fab_finding f = fab_audit_finding(&planned, FAB_FINDING_MISSING_CABLE, &p->end[0], &p->end[1]);
    f.damage_bps = p->rate_bps;
    f.text = "this cable is planned and not there";
    FAB_PASS(fab_audit_text(&c->a, &f.work, err, "Plug a cable from %s:%s to %s:%s.", f.node, f.port, f.other,
                            f.other_port));
    return fab_audit_add(&c->a, &f, err);
}

/* `side`: what is plugged in at end i of a planned cable instead. */
static fab_status report_miswired(comparison *c, uint32_t cable, uint32_t i, uint32_t side, fab_error *err) {
    const fab_network_cable *p = &c->plan->cables[cable];
    const fab_network_end *far = fab_network_far(c->a.net, side);
    fab_finding f = {.kind = FAB_FINDING_MISWIRED,
                     .confidence = 1,
                     .damage_bps = p->rate_bps,
                     .cables = 1,
                     .node = c->plan->nodes[p->end[i].node].label,
                     .port = fab_audit_port(&p->end[i]),
                     .other = fab_audit_label(&c->a, far->node),
                     .other_port = fab_audit_port(far),
                     .line = fab_network_near(c->a.net, side)->line};
    FAB_PASS(fab_audit_text(&c->a, &f.text, err, "leads to %s:%s instead of %s:%s", f.other, f.other_port,
                            c->plan->nodes[p->end[i ^ 1].node].label, fab_audit_port(&p->end[i ^ 1])));
    FAB_PASS(fab_audit_text(&c->a, &f.work, err, "Move the far end from %s:%s to %s:%s.", f.other, f.other_port,
                            c->plan->nodes[p->end[i ^ 1].node].label, fab_audit_port(&p->end[i ^ 1])));
    FAB_PASS(fab_audit_add(&c->a, &f, err));
    c->found[side >> 1] = 1;
    return FAB_OK;
}

static bool is_planned(const comparison *c, uint32_t cable) {
    const fab_network_cable *p = &c->plan->cables[cable];
    return c->there[p->end[0].node] != FAB_NETWORK_NONE && c->there[p->end[1].node] != FAB_NETWORK_NONE;
}

static fab_status look_at_cables(comparison *c, fab_error *err) {
    fab_status status = FAB_OK;
    uint8_t *done_with = NULL;
    FAB_TRY(FAB_NEW(done_with, (size_t)c->plan->n_cables + 1, err));
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) { /* what is as planned, first */
        const fab_network_cable *p = &c->plan->cables[cable];
        if (is_planned(c, cable)) {
            uint32_t side =
                find_side(c, c->there[p->end[0].node], p->end[0].port, c->there[p->end[1].node], p->end[1].port);
            done_with[cable] = side != FAB_NETWORK_NONE;
            if (side != FAB_NETWORK_NONE) {
                c->found[side >> 1] = 1;
                c->planned_bps[side >> 1] = p->rate_bps;
            }
        }
    }
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        const fab_network_cable *p = &c->plan->cables[cable];
        uint32_t side = FAB_NETWORK_NONE;
        uint32_t i = 0;
        for (; done_with[cable] == 0 && side == FAB_NETWORK_NONE && i < 2; i++) { /* an end that leads elsewhere */
            uint32_t node = c->there[p->end[i].node];
            side = node != FAB_NETWORK_NONE && p->end[i].port != NULL
                       ? find_side(c, node, p->end[i].port, FAB_NETWORK_NONE, NULL)
                       : FAB_NETWORK_NONE;
        }
        if (side != FAB_NETWORK_NONE) {
            FAB_TRY(report_miswired(c, cable, i - 1, side, err));
        } else if (done_with[cable] == 0 && is_planned(c, cable)) {
            FAB_TRY(report_missing(c, cable, err));
        }
    }
done:
    free(done_with);
    return status;
}

static fab_status look_for_more(comparison *c, fab_error *err) {
    for (uint32_t cable = 0; cable < c->a.net->n_cables; cable++) {
        const fab_network_cable *p = &c->a.net->cables[cable];
        if (c->found[cable] != 0 || fab_audit_boundary_of(&c->a, cable) == 0) {
            continue;
        }
        fab_finding f = fab_audit_finding(&c->a, FAB_FINDING_EXTRA_CABLE, &p->end[0], &p->end[1]);
        f.text = "this cable is not planned";
        f.work = "Remove it, or put it into the plan.";
        f.line = p->end[0].line != 0 ? p->end[0].line : p->end[1].line;
        FAB_PASS(fab_audit_add(&c->a, &f, err));
    }
    return FAB_OK;
}

static void audit_against_count_boundaries(comparison *c) {
    const auditor planned = {.shape = c->plan_shape, .net = c->plan};
    for (uint32_t cable = 0; cable < c->plan->n_cables; cable++) {
        uint32_t t = fab_audit_boundary_of(&planned, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES) {
            c->a.out->n_boundaries = t > c->a.out->n_boundaries ? t : c->a.out->n_boundaries;
            c->a.out->boundary[t - 1].tier = t;
            c->a.out->boundary[t - 1].planned++;
        }
    }
    for (uint32_t cable = 0; cable < c->a.net->n_cables; cable++) {
        uint32_t t = fab_audit_boundary_of(&c->a, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES && c->found[cable] != 0) {
            c->a.out->boundary[t - 1].present++;
        }
    }
}

fab_status fab_audit_against(const fab_shape *shape, const fab_shape *plan, fab_audit **out, fab_error *err) {
    fab_status status = FAB_OK;
    comparison c = {.a = {.shape = shape, .net = shape->net}, .plan = plan->net, .plan_shape = plan};
    FAB_TRY(fab_audit_open(&c.a, err));
    FAB_TRY(match(&c, err));
    FAB_TRY(look_at_boxes(&c, err));
    FAB_TRY(look_at_cables(&c, err));
    audit_against_count_boundaries(&c);
    FAB_TRY(look_for_more(&c, err));
    FAB_TRY(fab_audit_cables(&c.a, err));
    FAB_TRY(fab_audit_cuts(&c.a, err));
    memset(c.a.ruled, true, c.a.net->n_cables); /* the plan speaks of all of them */
    FAB_TRY(fab_audit_cover(&c.a, err));
    fab_audit_sort(c.a.out);
    *out = c.a.out;
    c.a.out = NULL;
done:
    fab_audit_close(&c.a);
    fab_audit_free(c.a.out);
    FAB_FREE_ALL(c.there, c.meant, c.found, c.planned_bps);
    return status;
}
