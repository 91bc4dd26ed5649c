/* Goodput of a job, history by history, without a store. */
#include "fab/goodput_run.h"
#include "study_scene.h"

#include "fab/design.h"
#include "fab/memory.h"
#include "fab/parallel.h"

#include <math.h>

typedef struct goodput_run {
    study_worker *workers;
    size_t n_variants, n_policies;
    size_t n_draws;
    fab_outcome *rows; /* [history][variant] */
} goodput_run;

bool fab_goodput_has_time(const char *scenarios) {
    return strncmp(scenarios, "time:", 5) == 0;
}

static fab_status assess_history(void *context, size_t item, size_t worker, fab_error *err) {
    const goodput_run *run = context;
    const uint32_t *component = NULL;
    size_t n = 0;
    return study_worker_assess(&run->workers[worker], item, &run->rows[item * run->n_variants], &component, &n, err);
}

/* Half width of the interval of the mean, from the means of the draws. */
static double spread_of_draws(const goodput_run *run, const double *sample, size_t n_histories) {
    double means[FAB_ASSESS_DRAWS];
    fab_stat stat;
    for (size_t k = 0; k < run->n_draws; k++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = k; i < n_histories; i += run->n_draws, n++) {
            sum += sample[i];
        }
        means[k] = sum / (double)n;
    }
    fab_stat_of(means, run->n_draws, &stat);
    return stat.ci95;
}

/* Of one of the policies, engine by engine. Where one history is not known, the mean is not. */
static fab_status goodput_gather(const goodput_run *run, size_t n_histories, size_t policy, fab_stat *out,
                                 fab_error *err) {
    FAB_OWNED double *sample = NULL;
    FAB_PASS(FAB_NEW(sample, n_histories, err));
    for (size_t v = policy; v < run->n_variants; v += run->n_policies, out++) {
        bool is_known = true;
        for (size_t i = 0; i < n_histories; i++) {
            sample[i] = run->rows[i * run->n_variants + v].goodput;
            is_known = is_known && !isnan(sample[i]);
        }
        *out = (fab_stat){.mean = NAN};
        if (is_known) {
            const double spread = run->n_draws > 1 ? spread_of_draws(run, sample, n_histories) : 0;
            fab_stat_of(sample, n_histories, out); /* which sorts them */
            out->ci95 = run->n_draws > 1 ? spread : out->ci95;
        }
    }
    return FAB_OK;
}

static fab_status goodput_assess(const fab_goodput_request *q, study_scene *scene, goodput_run *run, fab_error *err) {
    fab_status status = FAB_OK;
    const size_t n_histories = (size_t)fab_scenarios_count(scene->scenarios);
    size_t n = 0;
    FAB_TRY(study_scene_settle(scene, err));
    FAB_TRY(FAB_NEW(run->workers, q->n_threads, err));
    for (; n < q->n_threads; n++) {
        FAB_TRY(study_worker_init(scene, &run->workers[n], err));
    }
    FAB_TRY(fab_parallel_for(n_histories, q->n_threads, assess_history, run, err));
done:
    FAB_RELEASE_EACH(study_worker_release, run->workers, n);
    free(run->workers);
    return status;
}

fab_status fab_goodput_find(const fab_goodput_request *q, fab_goodput *out, fab_error *err) {
    FAB_OWNS(study_scene_release) study_scene scene = {.fabric = NULL};
    goodput_run run = {.workers = NULL};
    FAB_OWNS_MEMBERS(run.rows);
    const fab_context_request what = fab_context_of(q->design, NULL, q->traffic, q->seed);
    const fab_assessment_request request = {.policies = &q->policy,
                                            .n_policies = q->policy != FAB_POLICY_FITTING,
                                            .n_threads = q->n_threads,
                                            .n_draws = q->n_draws > 0 ? q->n_draws : 1,
                                            .times = true,
                                            .rates = fab_failure_rates_of(&q->design->failures)};
    FAB_REFUSE_IF(!fab_goodput_has_time(q->scenarios), err, FAB_EINPUT, NULL,
                  "'%.60s' has no time; goodput is of histories", q->scenarios);
    FAB_PASS(study_scene_init(&what, &request, q->scenarios, q->seed, &scene, err));
    const size_t n_histories = (size_t)fab_scenarios_count(scene.scenarios);
    run.n_variants = fab_assessment_variants(scene.assessment);
    run.n_draws = scene.n_draws;
    FAB_PASS(FAB_NEW(run.rows, n_histories * run.n_variants, err));
    FAB_PASS(goodput_assess(q, &scene, &run, err));
    /* Those of a study: the best that fits is the last; where no server is idle, none does what first-spare does. */
    const size_t last = scene.request.n_policies - 1;
    const fab_policy fitting = scene.request.policies[last];
    fab_goodput found = {.policy = fitting == FAB_POLICY_NONE && last == 0 ? FAB_POLICY_FIRST_SPARE : fitting};
    found.policy = q->policy != FAB_POLICY_FITTING ? q->policy : found.policy;
    run.n_policies = last + 1;
    FAB_PASS(goodput_gather(&run, n_histories, last, found.taken, err));
    if (last > 0 && fitting == FAB_POLICY_SHRINK) {
        FAB_PASS(goodput_gather(&run, n_histories, last - 1, found.waiting, err));
    }
    *out = found;
    return FAB_OK;
}
