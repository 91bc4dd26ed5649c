/* Goodput of a job, history by history, without a store. */
#include "fab/goodput_run.h"
#include "study_scene.h"

#include "fab/design.h"
#include "fab/parallel.h"

#define PARTS 8 /* after which it is looked whether the mean can still reach what is asked for */

typedef struct goodput_run {
    study_worker *workers;
    size_t n_variants, n_policies;
    size_t n_draws;
    size_t first;      /* history of the part */
    fab_outcome *rows; /* [history][variant] */
} goodput_run;

bool fab_goodput_has_time(const char *scenarios) {
    return strncmp(scenarios, "time:", 5) == 0;
}

static fab_status assess_history(void *context, size_t item, size_t worker, fab_error *err) {
    const goodput_run *run = context;
    const uint32_t *component = NULL;
    size_t n = 0;
    item += run->first;
    return study_worker_assess(&run->workers[worker], item, &run->rows[item * run->n_variants], &component, &n, err);
}

/* From the means of the draws. */
static void parts_of_draws(const goodput_run *run, const double *sample, size_t n_histories, fab_parts *out) {
    double means[FAB_ASSESS_DRAWS];
    for (size_t k = 0; k < run->n_draws; k++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = k; i < n_histories; i += run->n_draws, n++) {
            sum += sample[i];
        }
        means[k] = sum / (double)n;
    }
    fab_parts_of(means, run->n_draws, out);
}

/* Of one of the policies, engine by engine. Where one history is not known, the mean is not. */
static fab_status goodput_gather(const goodput_run *run, size_t n_histories, size_t policy, fab_stat *out,
                                 fab_parts *parts, fab_error *err) {
    FAB_OWNED_NEW(double, sample, n_histories, err);
    for (size_t v = policy; v < run->n_variants; v += run->n_policies, out++, parts++) {
        bool is_known = true;
        for (size_t i = 0; i < n_histories; i++) {
            sample[i] = run->rows[i * run->n_variants + v].goodput;
            is_known = is_known && !isnan(sample[i]);
        }
        *out = (fab_stat){.mean = NAN};
        if (is_known) {
            if (run->n_draws > 1) {
                parts_of_draws(run, sample, n_histories, parts);
            } else {
                fab_parts_of(sample, n_histories, parts);
            }
            fab_stat_of(sample, n_histories, out); /* which sorts them */
            out->ci95 = run->n_draws > 1 ? parts->ci95_ratio * out->mean : out->ci95;
        }
    }
    return FAB_OK;
}

/* Whether no engine's mean reaches `least`, if all histories from `end` on leave all of the time. */
static bool is_short(const goodput_run *run, size_t end, size_t n_histories, double least) {
    bool is_it = least > 0;
    for (size_t v = run->n_policies - 1; is_it && v < run->n_variants; v += run->n_policies) {
        double most = (double)(n_histories - end);
        for (size_t i = 0; i < end; i++) {
            most += run->rows[i * run->n_variants + v].goodput;
        }
        is_it = !(most >= least * (double)n_histories); /* nor where one is not known */
    }
    return is_it;
}

static fab_status goodput_assess(const fab_goodput_request *q, study_scene *scene, goodput_run *run, bool *out_is_short,
                                 fab_error *err) {
    fab_status status = FAB_OK;
    const size_t n_histories = (size_t)fab_scenarios_count(scene->scenarios);
    size_t n = 0;
    FAB_TRY(study_scene_settle(scene, err));
    FAB_TRY(FAB_NEW(run->workers, q->n_threads, err));
    for (; n < q->n_threads; n++) {
        FAB_TRY(study_worker_init(scene, &run->workers[n], err));
    }
    const size_t n_parts = q->least > 0 ? PARTS : 1; /* threads wait for each other after each */
    for (size_t part = 0; part < n_parts && !*out_is_short; part++) {
        run->first = n_histories * part / n_parts;
        const size_t end = n_histories * (part + 1) / n_parts;
        FAB_TRY(fab_parallel_for(end - run->first, q->n_threads, assess_history, run, err));
        *out_is_short = is_short(run, end, n_histories, q->least);
    }
done:
    FAB_RELEASE_EACH(study_worker_release, run->workers, n);
    free(run->workers);
    return status;
}

fab_status fab_goodput_find(const fab_goodput_request *q, fab_goodput *out, fab_error *err) {
    FAB_OWNS(study_scene_release) study_scene scene = {.fabric = NULL};
    goodput_run run = {.workers = NULL};
    bool is_short_of = false;
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
    run.n_policies = scene.request.n_policies;
    FAB_PASS(goodput_assess(q, &scene, &run, &is_short_of, err));
    if (is_short_of) {
        *out = (fab_goodput){.is_short = true};
        return FAB_OK;
    }
    /* Those of a study: the best that fits is the last; where no server is idle, none does what first-spare does. */
    const size_t last = scene.request.n_policies - 1;
    const fab_policy fitting = scene.request.policies[last];
    fab_goodput found = {.policy = fitting == FAB_POLICY_NONE && last == 0 ? FAB_POLICY_FIRST_SPARE : fitting};
    found.policy = q->policy != FAB_POLICY_FITTING ? q->policy : found.policy;
    FAB_PASS(goodput_gather(&run, n_histories, last, found.taken, found.taken_parts, err));
    if (last > 0 && fitting == FAB_POLICY_SHRINK) {
        FAB_PASS(goodput_gather(&run, n_histories, last - 1, found.waiting, found.waiting_parts, err));
    }
    *out = found;
    return FAB_OK;
}
