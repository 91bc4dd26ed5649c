/* What an iteration of the job puts on every link, and which draw of the engine the measured loads are of. */
#include "observe_internal.h"

#include "fab/parallel.h"

#define FITS      0.75 /* part of the links between switches that must be as a draw has them */
#define AS_DRAWN  0.02 /* so far apart they are as drawn; spreads above that are taken into account */
#define FEW_LINKS 8

typedef struct draw_run {
    const observation *o;
    fab_workspace **workers;
} draw_run;

/* Phases are in the network one after the other: what they put on a link adds up. */
static fab_status draw_once(void *context, size_t draw, size_t worker, fab_error *err) {
    const draw_run *run = context;
    const observation *o = run->o;
    const fab_needs needs = {.what = FAB_NEED_FIGURES};
    double *sum = o->drawn + draw * o->fabric->n_links;
    if (run->workers[worker] == NULL) {
        FAB_PASS(fab_workspace_new(o->request->context, &run->workers[worker], err));
    }
    for (size_t p = 0; p < o->traffic->n_phases; p++) {
        const fab_case at = {.phase = p, .draw = draw};
        fab_evaluated found;
        FAB_PASS(fab_evaluate(run->workers[worker], &at, &needs, &found, err));
        for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
            sum[l] += found.bytes[l];
        }
    }
    return FAB_OK;
}

static fab_status draw_all(observation *o, fab_error *err) {
    fab_status status = FAB_OK;
    draw_run run = {.o = o};
    size_t n_threads = o->request->n_threads > 0 ? o->request->n_threads : 1;
    FAB_TRY(FAB_NEW(o->drawn, o->out->draws * o->fabric->n_links, err));
    FAB_TRY(fab_allocate(n_threads, sizeof(fab_workspace *), &run.workers, err));
    FAB_TRY(fab_parallel_for((size_t)o->out->draws, n_threads, draw_once, &run, err));
done:
    FAB_FREE_EACH(fab_workspace_free, run.workers, n_threads);
    free(run.workers);
    return status;
}

/* Iterations by the links whose bytes no switch decides on: those of adapters. */
static fab_status find_scale(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    double *ratios = NULL;
    size_t n = 0;
    FAB_PASS(FAB_NEW(ratios, f->n_links, err));
    FAB_SUM(size_t, n_used, l, f->n_links, fab_is_network(fab_class_of(f, l)) && o->drawn[l] > 0);
    for (int all = 0; all < 2 && n == 0; all++) {
        for (fab_link_id l = 0; l < f->n_links; l++) {
            bool counts = fab_is_network(fab_class_of(f, l)) && (all == 1 || observe_is_access(f, l));
            if (counts && o->drawn[l] > 0 && o->measured[l] >= 0) {
                ratios[n++] = o->measured[l] / o->drawn[l];
            }
        }
    }
    o->scale = observe_median(ratios, n);
    free(ratios);
    FAB_REFUSE_IF(!(o->scale > 0) && o->out->reset_ports > 0, err, FAB_EINPUT, o->out->after,
                  "the counters run backwards, of %zu ports, the first %s, and no other port that the job uses "
                  "is known: is the order of the snapshots right, the earlier one first?",
                  (size_t)o->out->reset_ports, o->out->first_reset);
    FAB_REFUSE_IF(n == 0, err, FAB_EINPUT, o->out->after,
                  "none of the %zu links that the job uses has a port in both snapshots: they have %zu links of the "
                  "fabric",
                  n_used, (size_t)o->out->measured_links);
    return o->scale > 0 ? FAB_OK
                        : fab_fail(err, FAB_EINPUT, o->out->after,
                                   "most ports that the job uses have sent and received nothing since the first "
                                   "snapshot");
}

/* Part of the measured links between switches that carry what a draw says. */
static double fit_of(const observation *o, const double *drawn, double tolerance) {
    uint64_t n = 0;
    uint64_t n_fit = 0;
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        if (fab_class_of(o->fabric, l)->kind != FAB_LINK_FABRIC || !(o->measured[l] >= 0)) {
            continue;
        }
        double should = o->scale * drawn[l];
        if (should > 0) {
            n++;
            n_fit += fabs(o->measured[l] / should - 1) <= tolerance;
        }
    }
    return n > 0 ? (double)n_fit / (double)n : 1;
}

/* How far links of adapters are from what they should carry: the noise of this pair. */
static fab_status find_tolerance(const observation *o, double *out, fab_error *err) {
    const fab_fabric *f = o->fabric;
    size_t n = 0;
    FAB_OWNED_NEW(double, deviations, f->n_links, err);
    FAB_KEEP(deviations, n, l, f->n_links, observe_is_access(f, l) && o->drawn[l] > 0 && o->measured[l] >= 0,
             o->measured[l] / (o->scale * o->drawn[l]) - 1);
    double spread = n >= FEW_LINKS ? observe_spread(deviations, n) : 0;
    *out = 4 * spread > AS_DRAWN ? 4 * spread : AS_DRAWN;
    return FAB_OK;
}

fab_status observe_predict(observation *o, fab_error *err) {
    double tolerance = 0;
    fab_observed *out = o->out;
    for (size_t p = 0; p < o->traffic->n_phases; p++) {
        FAB_REFUSE_IF(o->traffic->phases[p].alternative, err, FAB_EUNSUPPORTED, "--traffic",
                      "its phases are ways to do the same, side by side; counters are of one of them");
    }
    FAB_PASS(draw_all(o, err));
    FAB_PASS(find_scale(o, err));
    FAB_PASS(find_tolerance(o, &tolerance, err));
    out->fitting_ratio = -1;
    for (uint64_t d = 0; d < out->draws; d++) {
        double fit = fit_of(o, o->drawn + d * o->fabric->n_links, tolerance);
        if (fit > out->fitting_ratio) {
            out->fitting_ratio = fit;
            out->fitting_draw = d;
        }
    }
    out->fits = out->fitting_ratio >= FITS;
    o->predicted = o->drawn + (out->fits ? out->fitting_draw : 0) * o->fabric->n_links;
    out->iterations = o->scale;
    out->iteration_s = out->interval_s / o->scale;
    return FAB_OK;
}
