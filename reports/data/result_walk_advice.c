/* The object `advice`: what changes buy. */
#include "fab/advice.h"
#include "fab/site.h"
#include "fab/fabric.h"
#include "result_fields.h"

static const char *const KINDS[FAB_ADVICE_N_KINDS] = {
    [FAB_ADVICE_QUEUE_PAIRS] = "queue-pairs", [FAB_ADVICE_HASHING] = "hashing",
    [FAB_ADVICE_PINNING] = "pinning",         [FAB_ADVICE_ADAPTIVE] = "adaptive",
    [FAB_ADVICE_RANK_ORDER] = "rank-order",   [FAB_ADVICE_PLACEMENT] = "placement"};

static const char *const VERDICTS[] = {[FAB_ADVICE_FASTER] = "faster",
                                       [FAB_ADVICE_SLOWER] = "slower",
                                       [FAB_ADVICE_UNCLEAR] = "unclear",
                                       [FAB_ADVICE_IMPOSSIBLE] = "impossible"};

static void walk_figures(walk *w, const fab_advice_figures *f) {
    number(w, "time_s", f->time_s);
    number(w, "max_collision_factor", f->max_collision_factor);
    number(w, "collided_flows", f->collided_flows);
}

static void walk_gain(walk *w, const fab_advice_gain *g) {
    number(w, "gain_s", g->gain_s);
    number(w, "gain_ci95_s", g->ci95_s);
    number(w, "gain_ratio", g->ratio);
}

static void walk_row(walk *w, const fab_advice_row *r) {
    row(w);
    string(w, "kind", KINDS[r->kind]);
    string(w, "change", r->change);
    boolean(w, "needs_switch_support", r->needs_switch_support);
    string(w, "verdict", VERDICTS[r->gain.verdict]);
    if (r->gain.verdict == FAB_ADVICE_IMPOSSIBLE) {
        string(w, "reason", r->reason);
    } else {
        walk_figures(w, &r->figures);
        walk_gain(w, &r->gain);
    }
    end(w);
}

static void walk_best(walk *w, const fab_advice_best *b) {
    if (b->n_changes == 0) {
        return;
    }
    const char *kinds[FAB_ADVICE_CHANGES + 1] = {NULL};
    for (size_t i = 0; i < b->n_changes; i++) {
        kinds[i] = KINDS[b->kinds[i]];
    }
    object(w, "best");
    string(w, "change", b->change);
    string(w, "command", b->command);
    walk_figures(w, &b->figures);
    walk_gain(w, &b->gain);
    string(w, "check_verdict", VERDICTS[b->check.verdict]);
    number(w, "check_gain_s", b->check.gain_s);
    number(w, "check_gain_ci95_s", b->check.ci95_s);
    number(w, "check_gain_ratio", b->check.ratio);
    if (w->emit != NULL) {
        w->emit->strings(w->self, "kinds", "kind", kinds, b->n_changes);
    }
    end(w);
}

void fab_walk_advice(walk *w, const fab_advice *a) {
    object(w, "advice");
    integer(w, "seed", a->seed);
    integer(w, "seeds", a->n_seeds);
    integer(w, "evaluated", a->n_evaluated);
    integer(w, "placements", a->n_placements);
    integer(w, "placement_budget", a->budget);
    text(w, "order_note", a->order_note);
    text(w, "placement_note", a->placement_note);
    object(w, "base");
    string(w, "engine", a->engine);
    walk_figures(w, &a->base);
    end(w);
    array(w, "candidates", "candidate");
    for (size_t i = 0; i < a->n_rows; i++) {
        walk_row(w, &a->rows[i]);
    }
    end(w);
    walk_best(w, &a->best);
    end(w);
}
