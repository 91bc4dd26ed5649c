/* Cables by themselves: their speed, who reports them, and what the file says twice. Speeds are compared within one
 * kind of device: hosts of one kind of name, switches of one role and tier. A box all of whose cables run at another
 * rate than those of its kind may be of another type: one alone is told, several are one. */
#include "audit_internal.h"

#include "../structure/box_names.h"

#include "fab/rng.h"

#define NONE FAB_NETWORK_NONE

/* Rates of the cables of a boundary that the plan has as well. */
typedef struct boundary_rates {
    double bps, planned_bps; /* of the first */
    uint32_t n;
    bool is_uniform; /* all run at the same rate, and are planned at the same */
} boundary_rates;

static bool is_planned(const auditor *a, uint32_t cable) {
    return a->planned_bps != NULL && a->planned_bps[cable] > 0 && a->net->cables[cable].rate_bps > 0;
}

static const char *work_on_speed(double bps, double meant_bps) {
    return bps < meant_bps ? "Clean or replace cable and transceivers, and look at the ports' settings."
                           : "Check whether this port is meant to be faster than its peers.";
}

/* --- kinds of cables ---------------------------------------------------------------------------------------------- */

typedef struct kind_of_cable {
    uint64_t kind;
    double bps;
    uint32_t cable;
} kind_of_cable;

FAB_ORDER_THREE(by_kind, kind_of_cable, kind, bps, cable);

/* Of the box at an end: its tier, and the role or the pattern of its name. */
static uint64_t kind_of_box(const auditor *a, uint32_t v) {
    const fab_network_node *node = &a->net->nodes[v];
    if (fab_network_is_host(a->net, v)) {
        return fab_name_pattern(node->host != NULL ? node->host : node->label);
    }
    uint64_t hash = a->shape->tier[v];
    fab_box_name name = fab_box_name_of(node->label);
    for (size_t i = 0; i < name.n_role; i++) {
        hash = fab_mix64(hash ^ (unsigned char)name.role[i]);
    }
    return fab_mix64(hash);
}

/* Whether all cables of a box that are of the boundary, several, have this rate: it is of another type. */
static bool is_type(const auditor *a, uint32_t v, uint32_t boundary, double bps) {
    uint32_t server = a->shape->server[v];
    uint32_t n = 0;
    for (uint32_t w = server != FAB_NETWORK_NONE ? 0 : v; w < (server != FAB_NETWORK_NONE ? a->net->n_nodes : v + 1);
         w++) {
        if (w != v && a->shape->server[w] != server) {
            continue;
        }
        for (uint32_t k = a->shape->first[w]; k < a->shape->first[w + 1]; k++) {
            uint32_t cable = a->shape->side[k] >> 1;
            if (fab_audit_boundary_of(a, cable) == boundary && a->net->cables[cable].rate_bps != bps) {
                return false;
            }
            n += fab_audit_boundary_of(a, cable) == boundary;
        }
    }
    return n > 2;
}

/* One box alone whose cables of a kind all run at another rate: of another type, or its ports are set so. NONE: there
 * are several such boxes. A server stands for its adapters. */
static uint32_t only_box(const auditor *a, const kind_of_cable *list, uint32_t n, uint32_t boundary) {
    uint32_t found = NONE;
    for (int i = 0; i < 2 && found == NONE; i++) {
        uint32_t first = a->net->cables[list[0].cable].end[i].node;
        bool same = is_type(a, first, boundary, list[0].bps);
        for (uint32_t k = 1; k < n && same; k++) {
            uint32_t v = a->net->cables[list[k].cable].end[i].node;
            same = v == first || (a->shape->server[v] != NONE && a->shape->server[v] == a->shape->server[first]);
        }
        found = same ? first : NONE;
    }
    return found;
}

static fab_status tell_box(auditor *a, const kind_of_cable *list, uint32_t n, double usual_bps, fab_error *err) {
    const fab_network_cable *c = &a->net->cables[list[0].cable];
    uint32_t box = only_box(a, list, n, fab_audit_boundary_of(a, list[0].cable));
    if (box == NONE) {
        return FAB_OK;
    }
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_SPEED, box, NONE);
    if (a->shape->server[box] != NONE) {
        f.node = a->shape->server_name[a->shape->server[box]];
        f.guid = 0;
    }
    f.confidence = 0.5;
    f.cables = n;
    f.damage_bps = usual_bps > list[0].bps ? n * (usual_bps - list[0].bps) : 0;
    f.line = c->end[0].line != 0 ? c->end[0].line : c->end[1].line;
    for (uint32_t i = 0; i < n; i++) {
        a->out->meant_bps[list[i].cable] = usual_bps;
    }
    return fab_audit_tell(a, &f, err,
                          "all %u cables of this box run at %g Gb/s, those of its peers at %g Gb/s" FAB_AUDIT_WORK
                          "See whether %s is of another type; if not, look at the settings of its ports.",
                          n, list[0].bps / 1e9, usual_bps / 1e9, f.node);
}

/* The rate that each cable's kind has; 0: its kind has no rule, or the box is of another type. */
static fab_status find_usual(auditor *a, double *usual, double *confidence, fab_error *err) {
    uint32_t n = 0;
    FAB_OWNED_NEW(kind_of_cable, list, (size_t)a->net->n_cables + 1, err);
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        const fab_network_end *end = a->net->cables[c].end;
        uint32_t t = fab_audit_boundary_of(a, c);
        bool sideways = t == 0 && fab_audit_is_switch(a, end[0].node) && fab_audit_is_switch(a, end[1].node);
        if ((t > 0 || sideways) && a->net->cables[c].rate_bps > 0) {
            uint64_t kind = kind_of_box(a, end[0].node) + kind_of_box(a, end[1].node) + fab_mix64(t);
            list[n++] = (kind_of_cable){kind, a->net->cables[c].rate_bps, c};
        }
    }
    qsort(list, n, sizeof *list, by_kind);
    for (uint32_t i = 0, next = 0; i < n; i = next) {
        uint32_t most = 0;
        double best = 0;
        for (next = i; next < n && list[next].kind == list[i].kind;) {
            uint32_t run = next;
            while (next < n && list[next].kind == list[i].kind && list[next].bps == list[run].bps) {
                next++;
            }
            best = next - run > most ? list[run].bps : best;
            most = next - run > most ? next - run : most;
        }
        for (uint32_t k = i; k < next && next - i > 2 && most >= FAB_AUDIT_NEARLY * (next - i); k++) {
            const fab_network_end *end = a->net->cables[list[k].cable].end;
            uint32_t t = fab_audit_boundary_of(a, list[k].cable);
            bool other = list[k].bps != best &&
                         (is_type(a, end[0].node, t, list[k].bps) || is_type(a, end[1].node, t, list[k].bps));
            usual[list[k].cable] = other ? 0 : best;
            confidence[list[k].cable] = fab_audit_confidence(most, next - i);
        }
        for (uint32_t k = i, end = i; k < next; k = end) {
            for (end = k + 1; end < next && list[end].bps == list[k].bps; end++) {
            }
            bool is_other = list[k].bps != best && next - i > 2 && most >= FAB_AUDIT_NEARLY * (next - i);
            FAB_PASS(is_other ? tell_box(a, list + k, end - k, best, err) : FAB_OK);
        }
    }
    return FAB_OK;
}

/* --- speed -------------------------------------------------------------------------------------------------------- */

static fab_status look_at_speed(auditor *a, uint32_t cable, double usual, double confidence, fab_error *err) {
    const fab_network_cable *c = &a->net->cables[cable];
    double meant = is_planned(a, cable) ? a->planned_bps[cable] : usual;
    fab_finding f = fab_audit_finding(a, FAB_FINDING_SPEED, &c->end[0], &c->end[1]);
    f.confidence = is_planned(a, cable) ? 1 : confidence;
    f.damage_bps = meant > c->rate_bps ? meant - c->rate_bps : 0;
    f.line = c->end[0].line != 0 ? c->end[0].line : c->end[1].line;
    f.work = work_on_speed(c->rate_bps, meant);
    if (fab_shape_is_inside(a->shape, c)) {
        fab_audit_make_inside(&f);
    }
    if (c->rate_bps == meant || meant <= 0) {
        return FAB_OK;
    }
    a->out->meant_bps[cable] = meant;
    return fab_audit_tell(a, &f, err, "runs at %g Gb/s, %s at %g Gb/s", c->rate_bps / 1e9,
                          is_planned(a, cable) ? "planned" : "its peers", meant / 1e9);
}

/* Where every cable of a boundary departs from the plan in the same way, that is one finding and not thousands. */
static fab_status look_at_boundary(auditor *a, uint32_t t, boundary_rates *rates, fab_error *err) {
    boundary_rates r = {.is_uniform = true};
    for (uint32_t cable = 0; cable < a->net->n_cables; cable++) {
        double bps = a->net->cables[cable].rate_bps;
        if (!is_planned(a, cable) || fab_audit_boundary_of(a, cable) != t) {
            continue;
        }
        r.bps = r.n == 0 ? bps : r.bps;
        r.planned_bps = r.n == 0 ? a->planned_bps[cable] : r.planned_bps;
        r.is_uniform = r.is_uniform && bps == r.bps && a->planned_bps[cable] == r.planned_bps;
        r.n++;
    }
    r.is_uniform = r.is_uniform && r.n > 1 && r.bps != r.planned_bps;
    if (r.is_uniform) {
        fab_finding f = {.kind = FAB_FINDING_SPEED,
                         .confidence = 1,
                         .damage_bps = r.planned_bps > r.bps ? r.n * (r.planned_bps - r.bps) : 0,
                         .cables = r.n,
                         .work = "Look at the ports' settings, and at the kind of cables and transceivers; if this is "
                                 "how it is meant, put it into the plan."};
        FAB_PASS(fab_audit_tell(a, &f, err, "all %u cables below tier %u (%s) run at %g Gb/s, planned at %g Gb/s",
                                (unsigned)r.n, (unsigned)t, t == 1 ? "of hosts" : "between switches", r.bps / 1e9,
                                r.planned_bps / 1e9));
    }
    *rates = r;
    return FAB_OK;
}

static fab_status look_at_ends(auditor *a, uint32_t cable, fab_error *err) {
    const fab_network_cable *c = &a->net->cables[cable];
    uint32_t says = c->end[0].line != 0 ? 0 : 1;
    const fab_network_end *here = &c->end[says];
    fab_finding f = fab_audit_finding(a, FAB_FINDING_ONE_SIDED, &c->end[says ^ 1], here);
    f.damage_bps = c->rate_bps;
    f.line = here->line;
    f.text = "the other end alone reports this cable";
    f.work = "Look at both ports: the end that is silent may be down, or be another box.";
    if (fab_shape_is_inside(a->shape, c)) {
        fab_audit_make_inside(&f);
    }
    return fab_audit_add(a, &f, err);
}

static bool has_note(const fab_network *net, const char *text) {
    FAB_ANY(found, i, net->n_notes, strcmp(net->notes[i].text, text) == 0);
    return found;
}

fab_status fab_audit_cables(auditor *a, fab_error *err) {
    FAB_OWNED double *usual = NULL;
    FAB_OWNED double *confidence = NULL;
    boundary_rates rates[FAB_AUDIT_BOUNDARIES + 1] = {{0}};
    FAB_PASS(FAB_NEW_ALL((size_t)a->net->n_cables + 1, err, usual, confidence, a->out->meant_bps));
    for (uint32_t t = 1; t <= FAB_AUDIT_BOUNDARIES && a->planned_bps != NULL; t++) {
        FAB_PASS(look_at_boundary(a, t, &rates[t], err));
    }
    if (a->planned_bps == NULL && a->shape->n_tiers <= FAB_AUDIT_TIERS) {
        FAB_PASS(find_usual(a, usual, confidence, err));
    }
    for (uint32_t cable = 0; cable < a->net->n_cables; cable++) {
        const fab_network_cable *c = &a->net->cables[cable];
        uint32_t t = fab_audit_boundary_of(a, cable);
        bool is_told = t <= FAB_AUDIT_BOUNDARIES && rates[t].is_uniform && is_planned(a, cable);
        FAB_PASS(c->rate_bps > 0 && !is_told ? look_at_speed(a, cable, usual[cable], confidence[cable], err) : FAB_OK);
        bool is_meant = a->is_meant_one_sided != NULL && a->is_meant_one_sided[cable];
        for (int i = 0; i < 2; i++) { /* told once for all of them */
            is_meant = is_meant || (c->end[i].line == 0 && a->net->nodes[c->end[i].node].lacks_record);
        }
        if (a->net->reports_both_ends && (c->end[0].line == 0 || c->end[1].line == 0) && !is_meant) {
            FAB_PASS(look_at_ends(a, cable, err));
        }
    }
    for (uint32_t i = 0; i < a->net->n_notes; i++) {
        if (a->plan != NULL && has_note(a->plan, a->net->notes[i].text)) {
            continue;
        }
        const fab_finding f = {.kind = FAB_FINDING_CONTRADICTION,
                               .confidence = 1,
                               .text = a->net->notes[i].text,
                               .work = "Read the fabric again; if it stays, look at both boxes.",
                               .line = a->net->notes[i].line};
        FAB_PASS(fab_audit_add(a, &f, err));
    }
    return FAB_OK;
}
