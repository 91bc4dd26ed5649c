/* Cables by themselves: their speed, who reports them, and what the file says twice. */
#include "audit_internal.h"

#include <string.h>

static fab_status look_at_speed(auditor *a, uint32_t cable, double usual, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_site_cable *c = &a->site->cables[cable];
    fab_finding f = {.kind = FAB_FINDING_SPEED,
                     .damage_bps = usual > c->rate_bps ? usual - c->rate_bps : 0,
                     .cables = 1,
                     .node = fab_audit_label(a, c->end[0].node),
                     .port = fab_audit_port(&c->end[0]),
                     .other = fab_audit_label(a, c->end[1].node),
                     .other_port = fab_audit_port(&c->end[1]),
                     .line = c->end[0].line != 0 ? c->end[0].line : c->end[1].line};
    FAB_TRY(fab_audit_text(a, &f.text, err, "runs at %g Gb/s, its peers at %g Gb/s", c->rate_bps / 1e9, usual / 1e9));
    f.work = c->rate_bps < usual ? "Clean or replace cable and transceivers, and look at the ports' settings."
                                 : "Check whether this port is meant to be faster than its peers.";
    FAB_TRY(fab_audit_add(a, &f, err));
done:
    return status;
}

static fab_status look_at_ends(auditor *a, uint32_t cable, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_site_cable *c = &a->site->cables[cable];
    uint32_t says = c->end[0].line != 0 ? 0 : 1;
    const fab_site_end *here = &c->end[says];
    const fab_site_end *there = &c->end[says ^ 1];
    fab_finding f = {.kind = FAB_FINDING_ONE_SIDED,
                     .damage_bps = c->rate_bps,
                     .cables = 1,
                     .node = fab_audit_label(a, there->node),
                     .port = fab_audit_port(there),
                     .other = fab_audit_label(a, here->node),
                     .other_port = fab_audit_port(here),
                     .line = here->line,
                     .work = "Look at both ports: the end that is silent may be down, or be another box."};
    FAB_TRY(fab_audit_text(a, &f.text, err, "the other end alone reports this cable (line %zu)", here->line));
    FAB_TRY(fab_audit_add(a, &f, err));
done:
    return status;
}

fab_status fab_audit_cables(auditor *a, fab_error *err) {
    fab_status status = FAB_OK;
    double usual[FAB_AUDIT_BOUNDARIES + 1];
    for (uint32_t t = 0; t <= FAB_AUDIT_BOUNDARIES; t++) {
        usual[t] = t > 0 && t <= a->shape->n_tiers ? fab_audit_usual_rate(a, t) : 0;
    }
    for (uint32_t cable = 0; cable < a->site->n_cables; cable++) {
        const fab_site_cable *c = &a->site->cables[cable];
        uint32_t t = fab_audit_boundary_of(a, cable);
        if (t > 0 && t <= FAB_AUDIT_BOUNDARIES && c->rate_bps > 0 && c->rate_bps != usual[t]) {
            FAB_TRY(look_at_speed(a, cable, usual[t], err));
        }
        if (a->site->reports_both_ends && (c->end[0].line == 0 || c->end[1].line == 0)) {
            FAB_TRY(look_at_ends(a, cable, err));
        }
    }
    for (uint32_t i = 0; i < a->site->n_notes; i++) {
        const fab_finding f = {.kind = FAB_FINDING_CONTRADICTION,
                               .text = a->site->notes[i].text,
                               .work = "Read the fabric again; if it stays, look at both boxes.",
                               .line = a->site->notes[i].line};
        FAB_TRY(fab_audit_add(a, &f, err));
    }
done:
    return status;
}
