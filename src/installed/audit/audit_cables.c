/* Cables by themselves: their speed, who reports them, and what the file says twice. */
#include "audit_internal.h"

#include <string.h>

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

static fab_status look_at_speed(auditor *a, uint32_t cable, double usual, fab_error *err) {
    const fab_network_cable *c = &a->net->cables[cable];
    double meant = is_planned(a, cable) ? a->planned_bps[cable] : usual;
    fab_finding f = fab_audit_finding(a, FAB_FINDING_SPEED, &c->end[0], &c->end[1]);
    f.damage_bps = meant > c->rate_bps ? meant - c->rate_bps : 0;
    f.line = c->end[0].line != 0 ? c->end[0].line : c->end[1].line;
    f.work = work_on_speed(c->rate_bps, meant);
    if (c->rate_bps == meant) {
        return FAB_OK;
    }
    FAB_PASS(fab_audit_text(a, &f.text, err, "runs at %g Gb/s, %s at %g Gb/s", c->rate_bps / 1e9,
                            is_planned(a, cable) ? "planned" : "its peers", meant / 1e9));
    return fab_audit_add(a, &f, err);
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
                         .damage_bps = r.planned_bps > r.bps ? r.n * (r.planned_bps - r.bps) : 0,
                         .cables = r.n,
                         .work = "Look at the ports' settings, and at the kind of cables and transceivers; if this is "
                                 "how it is meant, put it into the plan."};
        FAB_PASS(fab_audit_text(a, &f.text, err, "all %u cables below tier %u (%s) run at %g Gb/s, planned at %g Gb/s",
                                (unsigned)r.n, (unsigned)t, t == 1 ? "of hosts" : "between switches", r.bps / 1e9,
                                r.planned_bps / 1e9));
        FAB_PASS(fab_audit_add(a, &f, err));
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
    return fab_audit_add(a, &f, err);
}

fab_status fab_audit_cables(auditor *a, fab_error *err) {
    double usual[FAB_AUDIT_BOUNDARIES + 1];
    boundary_rates rates[FAB_AUDIT_BOUNDARIES + 1] = {{0}};
    for (uint32_t t = 0; t <= FAB_AUDIT_BOUNDARIES; t++) {
        usual[t] = t > 0 && t <= a->shape->n_tiers ? a->usual_bps[t] : 0;
        if (t > 0 && a->planned_bps != NULL) {
            FAB_PASS(look_at_boundary(a, t, &rates[t], err));
        }
    }
    for (uint32_t cable = 0; cable < a->net->n_cables; cable++) {
        const fab_network_cable *c = &a->net->cables[cable];
        uint32_t t = fab_audit_boundary_of(a, cable);
        bool is_told = t <= FAB_AUDIT_BOUNDARIES && rates[t].is_uniform && is_planned(a, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES && c->rate_bps > 0 && !is_told) {
            FAB_PASS(look_at_speed(a, cable, usual[t], err));
        }
        if (a->net->reports_both_ends && (c->end[0].line == 0 || c->end[1].line == 0)) {
            FAB_PASS(look_at_ends(a, cable, err));
        }
    }
    for (uint32_t i = 0; i < a->net->n_notes; i++) {
        const fab_finding f = {.kind = FAB_FINDING_CONTRADICTION,
                               .text = a->net->notes[i].text,
                               .work = "Read the fabric again; if it stays, look at both boxes.",
                               .line = a->net->notes[i].line};
        FAB_PASS(fab_audit_add(a, &f, err));
    }
    return FAB_OK;
}
