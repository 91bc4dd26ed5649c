/* The object `failures`: what has failed, where ranks go, and what the phases then ask of the network. */
#include "fab/failures.h"
#include "result_fields.h"

static void names(walk *w, const char *key, const char *item, const char (*list)[FAB_NAME_SIZE], size_t n) {
    array(w, key, item);
    for (size_t i = 0; i < n; i++) {
        row(w);
        string(w, "name", list[i]);
        end(w);
    }
    end(w);
}

static void walk_figures(walk *w, const fab_failed_phase *p) {
    integer(w, "disconnected_flows", p->n_disconnected);
    integer(w, "collisions", p->n_collisions);
    number(w, "worst_ratio", p->worst_ratio);
    text(w, "worst_link", p->worst_link);
}

/* What is not known is left out. */
static void walk_time(walk *w, const fab_failed_state *state, const fab_failed_state *whole) {
    if (isfinite(state->time_s)) {
        number(w, "time_s", state->time_s);
        if (whole != NULL && whole->time_s > 0) {
            number(w, "slowdown_ratio", state->time_s / whole->time_s);
        }
    }
}

static void walk_phases(walk *w, const fab_failures *f, const fab_failed_state *state) {
    array(w, "phases", "phase");
    for (size_t p = 0; p < f->n_phases; p++) {
        row(w);
        string(w, "phase", f->phases[p]);
        walk_figures(w, &state->phases[p]);
        end(w);
    }
    end(w);
}

static void walk_policy(walk *w, const fab_failures *f, const fab_failed_state *whole, const fab_failed_policy *p) {
    object(w, NULL);
    string(w, "policy", p->policy);
    boolean(w, "possible", p->is_possible);
    walk_figures(w, &p->state.sum);
    walk_time(w, &p->state, whole);
    if (p->n_tried > 0) {
        integer(w, "placements_tried", p->n_tried);
        boolean(w, "optimal", p->is_optimal);
    }
    array(w, "moves", "move");
    for (size_t i = 0; i < p->n_moves; i++) {
        row(w);
        integer(w, "from_server", p->moves[i].from);
        integer(w, "to_server", p->moves[i].to);
        boolean(w, "healthy", p->moves[i].is_healthy);
        end(w);
    }
    end(w);
    array(w, "unplaced", "server");
    for (size_t i = 0; i < p->n_unplaced; i++) {
        row(w);
        integer(w, "server", p->unplaced[i]);
        end(w);
    }
    end(w);
    walk_phases(w, f, &p->state);
    end(w);
}

static void walk_engine(walk *w, const fab_failures *f, const fab_failed_engine *e) {
    object(w, NULL);
    string(w, "engine", e->label);
    text(w, "note", e->note);
    if (e->has_saving) {
        integer(w, "saved_collisions", e->saved_collisions);
        number(w, "first_spare_worst_ratio", e->first_ratio);
        number(w, "collision_aware_worst_ratio", e->aware_ratio);
    }
    object(w, "whole");
    walk_figures(w, &e->whole.sum);
    walk_time(w, &e->whole, NULL);
    walk_phases(w, f, &e->whole);
    end(w);
    array(w, "policies", "policy");
    for (size_t i = 0; i < f->n_policies && e->note[0] == '\0'; i++) {
        walk_policy(w, f, &e->whole, &e->policies[i]);
    }
    end(w);
    end(w);
}

void fab_walk_failures(walk *w, const fab_failures *f) {
    object(w, "failures");
    integer(w, "spares", f->n_spares);
    integer(w, "seed", f->seed);
    boolean(w, "of_iteration", f->iterates);
    array(w, "failed", "component");
    for (size_t i = 0; i < f->n_failed; i++) {
        row(w);
        string(w, "name", f->failed[i]);
        end(w);
    }
    end(w);
    array(w, "lost", "server");
    for (size_t i = 0; i < f->n_lost; i++) {
        row(w);
        integer(w, "server", f->lost[i].server);
        integer(w, "n_ranks", f->lost[i].n_ranks);
        string(w, "ranks", f->lost[i].ranks);
        end(w);
    }
    end(w);
    names(w, "phases_left_out", "phase", (const char(*)[FAB_NAME_SIZE])f->left_out, f->n_left_out);
    array(w, "engines", "engine");
    for (size_t e = 0; e < f->n_engines; e++) {
        walk_engine(w, f, &f->engines[e]);
    }
    end(w);
    end(w);
}
