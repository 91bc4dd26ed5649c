/* The object `audit`: what is wrong with an installed fabric. */
#include "result_fields.h"

#include "fab/audit.h"

static void walk_finding(walk *w, const fab_finding *f) {
    row(w);
    string(w, "finding", fab_finding_kinds[f->kind]);
    number(w, "damage_bps", f->damage_bps);
    integer(w, "cables", f->cables);
    text(w, "node", f->node);
    text(w, "port", f->port);
    text(w, "other_node", f->other);
    text(w, "other_port", f->other_port);
    if (f->line > 0) {
        integer(w, "line", f->line);
    }
    string(w, "what", f->text);
    string(w, "work", f->work);
    end(w);
}

static void walk_bisection(walk *w, const fab_audit_bisection *b) {
    if (b->is_known) {
        number(w, "bisection_bps", b->present_bps);
    }
    if (b->knows_planned) {
        number(w, "planned_bisection_bps", b->planned_bps);
    }
    if (b->is_known && b->knows_planned) {
        number(w, "lost_bisection_bps", fab_audit_bisection_lost(b));
        number(w, "lost_bisection_ratio", b->planned_bps > 0 ? fab_audit_bisection_lost(b) / b->planned_bps : 0);
    }
    text(w, "bisection_unknown", b->why);
}

void fab_walk_audit(walk *w, const fab_audit *audit) {
    object(w, "audit");
    integer(w, "hosts", audit->n_servers);
    integer(w, "adapters", audit->n_hosts);
    integer(w, "switches", audit->n_switches);
    integer(w, "aggregation_nodes", audit->n_services);
    boolean(w, "rails", audit->has_rails);
    walk_bisection(w, &audit->bisection);
    array(w, "boundaries", "boundary");
    for (uint32_t i = 0; i < audit->n_boundaries; i++) {
        row(w);
        string(w, "boundary", fab_boundary_name(FAB_WIRING_TREE, audit->boundary[i].tier));
        integer(w, "tier", audit->boundary[i].tier);
        integer(w, "planned_cables", audit->boundary[i].planned);
        integer(w, "present_cables", audit->boundary[i].present);
        end(w);
    }
    end(w);
    array(w, "findings", "finding");
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        walk_finding(w, &audit->findings[i]);
    }
    end(w);
    end(w);
}
