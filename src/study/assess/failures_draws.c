/* One set of failures under several seeds of paths: times are means, all else is of the first. */

#include "assess_internal.h"

/* A part of a state more; of what is not known under a seed there is no mean. */
static void add_state(const fab_failures *f, const fab_failed_state *more, double part, fab_failed_state *mean) {
    mean->time_s += more->time_s * part;
    for (size_t p = 0; p < f->n_phases && mean->phases != NULL; p++) {
        mean->phases[p].time_s += (more->phases != NULL ? more->phases[p].time_s : (double)NAN) * part;
    }
}

/* What a failure adds under a seed, and its square until all are known. */
static void add_draw(const fab_failures *more, fab_failures *mean) {
    const double part = 1 / (double)mean->n_seeds;
    const bool is_first = more == mean;
    for (size_t e = 0; e < mean->n_engines; e++) {
        fab_failed_engine *to = &mean->engines[e];
        const fab_failed_engine *from = &more->engines[e];
        for (size_t i = 0; i < mean->n_policies && to->policies != NULL && from->policies != NULL; i++) {
            const double added_s = from->policies[i].state.time_s - from->healthy.time_s;
            to->policies[i].added_ci95_s += added_s * added_s;
            add_state(mean, &from->policies[i].state, is_first ? part - 1 : part, &to->policies[i].state);
        }
        add_state(mean, &from->healthy, is_first ? part - 1 : part, &to->healthy);
    }
}

static void end_draws(fab_failures *mean) {
    const double n = (double)mean->n_seeds;
    for (size_t e = 0; e < mean->n_engines; e++) {
        for (size_t i = 0; i < mean->n_policies && mean->engines[e].policies != NULL; i++) {
            fab_failed_policy *p = &mean->engines[e].policies[i];
            const double added_s = p->state.time_s - mean->engines[e].healthy.time_s;
            const double squares = fmax(p->added_ci95_s / n - added_s * added_s, 0);
            p->added_ci95_s = mean->n_seeds > 1 ? fab_student_t(mean->n_seeds - 1) * sqrt(squares / (n - 1)) : 0;
        }
    }
}

fab_status fab_failures_run(const fab_failures_request *request, fab_failures **out, fab_error *err) {
    FAB_OWNS(fab_failures_free_owned) fab_failures *mean = NULL;
    const fab_traffic *traffic = NULL;
    uint64_t n = 1;
    bool is_drawn = false;
    FAB_PASS(failures_run_draw(request, request->context, &mean, err));
    FAB_PASS(fab_assess_draws(request->context, 1, 2, true, &n, &is_drawn, err));
    FAB_PASS(fab_context_traffic(request->context, &traffic, err));
    /* ranks of another draw would be lost with other parts */
    mean->n_seeds = is_drawn && !traffic->depends_on_seed && request->n_seeds > 1 ? request->n_seeds : 1;
    add_draw(mean, mean);
    for (uint64_t k = 1; k < mean->n_seeds; k++) {
        const fab_context_request drawn = {.base = request->context, .draw = k};
        FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
        FAB_OWNS(fab_failures_free_owned) fab_failures *more = NULL;
        FAB_PASS(fab_context_new(&drawn, &context, err));
        FAB_PASS(failures_run_draw(request, context, &more, err));
        add_draw(more, mean);
    }
    end_draws(mean);
    return FAB_GIVE(*out, mean);
}
