#include "fab/explanation.h"
#include "explain_walk.h"

static void walk_decision(walk *w, const fab_fabric *f, const fab_decision *d) {
    char name[FAB_LINK_NAME_SIZE];
    row(w);
    string(w, "switch", fab_node_name(f, d->node, name));
    string(w, "link", fab_link_name(f, d->link, name));
    integer(w, "link_id", d->link);
    if (d->count > 0) { /* a table holds the link itself */
        integer(w, "next_hops", d->count);
        integer(w, "index", d->index);
    }
    text(w, "reason", d->reason);
    end(w);
}

static void walk_flow(walk *w, const fab_fabric *f, const fab_met_flow *flow) {
    object(w, NULL);
    integer(w, "flow", flow->flow);
    integer(w, "src_gpu", flow->src_gpu);
    integer(w, "dst_gpu", flow->dst_gpu);
    integer(w, "src_rank", flow->src_rank);
    integer(w, "dst_rank", flow->dst_rank);
    text(w, "comm", flow->comm_name);
    number(w, "offered_bps", flow->rate_bps);
    number(w, "share", flow->share);
    array(w, "paths", "path");
    for (size_t p = 0; p < flow->n_paths; p++) {
        const fab_met_path *path = &flow->path[p];
        object(w, NULL);
        integer(w, "queue_pair", path->queue_pair);
        integer(w, "plane", path->plane);
        array(w, "decisions", "decision");
        for (size_t i = 0; i < path->n_decisions; i++) {
            walk_decision(w, f, &path->decision[i]);
        }
        end(w);
        end(w);
    }
    end(w);
    end(w);
}

static void walk_choice(walk *w, const fab_link_choice *choice) {
    if (choice->next_hops == 0) {
        return;
    }
    object(w, "choice");
    integer(w, "flows", choice->flows);
    integer(w, "paths", choice->paths);
    integer(w, "next_hops", choice->next_hops);
    integer(w, "used", choice->used);
    number(w, "ideal_used", choice->ideal_used);
    integer(w, "paths_here", choice->paths_here);
    if (choice->values_here > 0) {
        integer(w, "values_here", choice->values_here);
    }
    end(w);
}

static void walk_met_phase(walk *w, const fab_fabric *f, const fab_met_phase *phase) {
    object(w, NULL);
    string(w, "name", phase->name);
    string(w, "collective", phase->collective);
    integer(w, "n_flows", phase->n_flows);
    integer(w, "communicators", phase->n_comms);
    number(w, "load_bps", phase->load_bps);
    number(w, "utilisation_ratio", phase->utilisation);
    number(w, "taper_factor", phase->taper_factor);
    number(w, "hash_factor", phase->hash_factor);
    walk_choice(w, &phase->choice);
    array(w, "flows", "flow");
    for (size_t i = 0; i < phase->n_flows; i++) {
        walk_flow(w, f, &phase->flow[i]);
    }
    end(w);
    end(w);
}

void fab_walk_explanation(walk *w, const fab_explanation *e) {
    const fab_link_class *link_class = fab_class_of(e->fabric, e->link);
    object(w, "explain");
    string(w, "link", e->name);
    integer(w, "link_id", e->link);
    string(w, "boundary", fab_boundary_name(e->fabric->wiring, link_class->tier));
    integer(w, "tier", link_class->tier);
    string(w, "direction", fab_direction_name(e->fabric->wiring, link_class->tier, fab_is_up(e->link)));
    number(w, "capacity_bps", e->capacity_bps);
    string(w, "engine", e->engine);
    text(w, "options", e->label);
    if (e->n_rounds > 1) {
        integer(w, "rounds", e->n_rounds);
    }
    array(w, "phases", "phase");
    for (size_t i = 0; i < e->n_phases; i++) {
        walk_met_phase(w, e->fabric, &e->phase[i]);
    }
    end(w);
    end(w);
}
