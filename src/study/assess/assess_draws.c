/* Several draws of the paths: how many, and what is said of all of them. A study that goes by one says what its luck
 * is. */
#include "assess_internal.h"

#include "fab/study_summary.h"
#include "fab/verdict.h"

/* Paths (flows times queue pairs) times seeds of a point, and of all: of more a point is one draw, and says so. */
#define MOST_OF_POINT (1U << 22)
#define MOST_OF_ALL   (1U << 24)
#define MOST_OF_SETS  (UINT64_C(1) << 28) /* sets follow from the healthy fabric, and look at what is near alone */
#define MOST_OF_STUDY (1U << 19)          /* beyond it half as many: each takes the memory of an assessment */

/* Most paths of a flow under an engine that draws; 0: none does. One that is refused says so when it replays. */
static uint64_t most_paths(const fab_context *context) {
    uint64_t most = 0;
    for (size_t e = 0; e < fab_context_what(context)->n_engines; e++) {
        const fab_router *router = NULL;
        if (fab_context_router(context, e, &router, NULL) == FAB_OK) {
            const fab_router_facts *facts = fab_router_facts_of(router);
            most = facts->is_seeded && facts->paths_per_flow > most ? facts->paths_per_flow : most;
        }
    }
    return most;
}

static fab_status count_paths(const fab_context *context, uint64_t *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    const uint64_t paths = most_paths(context);
    *out = 0;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    for (size_t p = 0; p < traffic->n_phases; p++) {
        *out += traffic->phases[p].n_flows * (paths > 0 ? paths : 1);
    }
    return FAB_OK;
}

fab_status fab_unasked_seeds(const fab_context *context, uint64_t n_points, uint64_t *out, fab_error *err) {
    const uint64_t most = MOST_OF_ALL / n_points < MOST_OF_POINT ? MOST_OF_ALL / n_points : MOST_OF_POINT;
    FAB_PASS(count_paths(context, out, err));
    *out = *out <= most / FAB_VERDICT_SEEDS ? FAB_VERDICT_SEEDS : 1;
    return FAB_OK;
}

fab_status fab_assess_draws(const fab_context *context, uint64_t asked, uint64_t n_scenarios, bool histories,
                            uint64_t *out, bool *out_is_drawn, fab_error *err) {
    const fab_traffic *traffic = NULL;
    uint64_t paths = 0;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    *out = asked;
    *out_is_drawn = most_paths(context) > 0 || traffic->depends_on_seed;
    if (!*out_is_drawn || n_scenarios == 0 || (traffic->depends_on_seed && !histories)) {
        *out = 1; /* ranks of another draw are lost with other parts */
        return FAB_OK;
    }
    if (asked == 0) {
        FAB_PASS(fab_unasked_seeds(context, 1, out, err));
        FAB_PASS(count_paths(context, &paths, err));
        *out = paths * *out > MOST_OF_STUDY ? (*out + 1) / 2 : *out;
        *out = !histories && paths * *out > MOST_OF_SETS / n_scenarios ? 1 : *out;
    }
    const uint64_t most = histories ? n_scenarios / 2 : FAB_ASSESS_DRAWS; /* each draw has two histories at least */
    *out = *out < most ? *out : most;
    *out = *out < 1 ? 1 : *out < FAB_ASSESS_DRAWS ? *out : FAB_ASSESS_DRAWS;
    return FAB_OK;
}

fab_status fab_assessment_pool(fab_assessment *const *draw, size_t n, fab_error *err) {
    const size_t n_variants = fab_assessment_variants(draw[0]);
    for (size_t k = 0; k < n && n > 1; k++) {
        draw[k]->request.rates = draw[0]->request.rates;
        FAB_PASS(draw[k]->pace == NULL ? FAB_NEW(draw[k]->pace, n_variants, err) : FAB_OK);
    }
    for (size_t v = 0; v < n_variants && n > 1; v++) {
        FAB_SUM(double, speed, k, n, 1 / draw[k]->healthy[v].time_s / (double)n);
        for (size_t k = 0; k < n; k++) {
            const double pace = 1 / draw[k]->healthy[v].time_s / speed;
            draw[k]->pace[v] = isfinite(pace) ? pace : 1; /* times may not be known, or 0 */
        }
    }
    return FAB_OK;
}

/* A figure under every draw. */
typedef struct drawn_figure {
    double more[FAB_ASSESS_DRAWS]; /* than on the healthy fabric */
    double sum, healthy;
    size_t n;
} drawn_figure;

static void drawn_add(drawn_figure *f, double value, double healthy) {
    f->more[f->n++] = value - healthy;
    f->sum += value;
    f->healthy += healthy;
}

/* Half width of an interval that chance leaves as seldom when there are so many sets, in that of one, about. */
static double drawn_widening(size_t n_draws, uint64_t n_sets) {
    const double most = n_draws > 1 ? FAB_CLEAR_ERRORS / fab_student_t(n_draws - 1) : 1;
    return fmax(1, fmin(most, 1 + log10((double)n_sets) / 2));
}

/* Whether seeds tell its difference to the healthy fabric from none. Sorts. */
static bool drawn_is_told(drawn_figure *f, uint64_t n_sets) {
    fab_stat stat;
    fab_stat_of(f->more, f->n, &stat);
    return fabs(stat.mean) > drawn_widening(f->n, n_sets) * stat.ci95;
}

/* Of the draws of a set under a variant. Counts are rounded means. */
static fab_outcome drawn_mean(fab_assessment *const *draw, const fab_outcome *of_draw, size_t n, size_t variant,
                              uint64_t n_sets) {
    const size_t n_variants = fab_assessment_variants(draw[0]);
    const double each = 1 / (double)n;
    double count[3] = {0.5, 0.5, 0.5};
    drawn_figure time = {.n = 0};
    drawn_figure ratio = {.n = 0};
    fab_outcome out = of_draw[variant];
    out.lost_ratio = 0;
    for (size_t k = 0; k < n; k++) {
        const fab_outcome *o = &of_draw[k * n_variants + variant];
        const fab_outcome *healthy = &draw[k]->healthy[variant];
        if (o->state != FAB_OUTCOME_RUNS) {
            return *o; /* which paths are lost is drawn as well: the job may stop */
        }
        drawn_add(&time, o->time_s, healthy->time_s);
        drawn_add(&ratio, o->worst_ratio, healthy->worst_ratio);
        count[0] += o->n_disconnected * each;
        count[1] += o->n_moved * each;
        count[2] += o->n_collisions * each;
        out.lost_ratio += o->lost_ratio * each;
        out.worst_link = o->worst_link == out.worst_link ? out.worst_link : FAB_NONE;
    }
    out.n_disconnected = (uint32_t)count[0];
    out.n_moved = (uint32_t)count[1];
    out.n_collisions = (uint32_t)count[2];
    out.worst_ratio = (!isnan(time.sum) || drawn_is_told(&ratio, n_sets) ? ratio.sum : ratio.healthy) * each;
    out.slowdown = isnan(time.sum) ? (double)NAN : time.healthy > 0 ? time.sum / time.healthy : 1;
    out.time_s = (isnan(time.sum) || drawn_is_told(&time, n_sets) ? time.sum : time.healthy) * each;
    return out;
}

void fab_assessment_mean(fab_assessment *const *draw, const fab_outcome *of_draw, size_t n, uint64_t n_sets,
                         fab_outcome *out) {
    FAB_FILL(out, fab_assessment_variants(draw[0]), drawn_mean(draw, of_draw, n, fab_at, n_sets));
}
