/* Several kinds of job on several fabrics. */
#include "fab/mix_run.h"

#include "fab/design.h"

#define SAME 1e-9

const fab_mix_unit fab_mix_units[FAB_MIX_JOBS] = {[FAB_JOB_TRAINING] = {"training", "tokens", "1e9 tokens", 1e9},
                                                  [FAB_JOB_RANKING] = {"ranking", "samples", "1e6 samples", 1e6},
                                                  [FAB_JOB_SERVING] = {"serving", "tokens", "1e6 tokens", 1e6}};

FAB_FREES_AFTER(fab_mix_free, fab_mix, mix) {
    for (size_t i = 0; mix->designs != NULL && i < mix->n_designs; i++) {
        for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
            fab_sweep_point_release(&mix->designs[i].job[j]);
        }
        free(mix->designs[i].engines);
    }
    FAB_FREE_ALL(mix->designs);
}

/* --- replays ------------------------------------------------------------------------------------------------------ */

static fab_status run_job(const fab_mix_request *r, size_t i, size_t job, fab_design *design, fab_sweep_point *out,
                          fab_error *inner, fab_error *err) {
    const fab_sweep_request request = {.traffic = "job",
                                       .seed = r->seed,
                                       .n_seeds = r->n_seeds,
                                       .n_threads = r->n_threads,
                                       .n_before = i * r->n_jobs + job,
                                       .n_all = r->n_designs * r->n_jobs,
                                       .progress = r->progress,
                                       .progress_context = r->progress_context};
    *inner = (fab_error){.code = FAB_OK};
    fab_status status = r->read(r->read_context, i, r->kinds[job], design, inner);
    status = status == FAB_OK ? fab_sweep_evaluate(&request, design, out, inner) : status;
    return fab_sweep_keep_error(status, inner, out, err);
}

/* --- comparison --------------------------------------------------------------------------------------------------- */

static bool all_built(const fab_mix_design *d) {
    FAB_ALL(built, j, d->n_jobs, d->job[j].is_built);
    return built;
}

/* The summary of a job ends where remarks begin, which may speak of the fabric. */
static size_t summary_length(const fab_sweep_point *p) {
    return strcspn(p->traffic, ";");
}

/* Whether the model and the number of GPUs are the same: "MODEL: ... on N GPUs, ...". */
static bool same_model(const fab_sweep_point *p, const fab_sweep_point *q) {
    const char *p_gpus = strstr(p->traffic, " on ");
    const char *q_gpus = strstr(q->traffic, " on ");
    const char *p_end = strstr(p->traffic, " GPUs, ");
    return p_gpus != NULL && q_gpus != NULL && p_end != NULL && p_end > p_gpus &&
           strncmp(p->traffic, q->traffic, strcspn(p->traffic, ":") + 1) == 0 &&
           strncmp(p_gpus, q_gpus, (size_t)(p_end - p_gpus) + 1) == 0;
}

/* The same work: otherwise times say nothing about fabrics. */
static fab_status check_alike(const fab_mix *mix, const fab_mix_design *a, const fab_mix_design *b, fab_error *err) {
    for (size_t j = 0; j < mix->n_jobs; j++) {
        const fab_sweep_point *p = &a->job[j];
        const fab_sweep_point *q = &b->job[j];
        size_t n = summary_length(p);
        if (p->engines[0].has_plan && q->engines[0].has_plan && p->tokens == q->tokens &&
            same_model(p, q)) { /* each runs it in its own way */
            continue;
        }
        FAB_REFUSE_IF(summary_length(q) != n || strncmp(p->traffic, q->traffic, n) != 0, err, FAB_EINPUT, b->name,
                      "its %s job is '%.*s', and that of the first design '%.*s': only the same jobs compare",
                      fab_mix_units[mix->kind[j]].job, (int)summary_length(q), q->traffic, (int)n, p->traffic);
        FAB_REFUSE_IF(p->n_engines != q->n_engines, err, FAB_EINPUT, b->name,
                      "has %zu engines and the first design %zu: give --engine", q->n_engines, p->n_engines);
    }
    return FAB_OK;
}

static fab_status pair_up(fab_mix *mix, fab_error *err) {
    const fab_mix_design *first = NULL;
    FAB_EACH(fab_mix_design, d, mix->designs, mix->n_designs) {
        if (!all_built(d)) {
            continue;
        }
        first = first == NULL ? d : first;
        FAB_PASS(check_alike(mix, first, d, err));
        FAB_PASS(FAB_NEW(d->engines, d->job[0].n_engines, err));
        d->n_engines = d->job[0].n_engines;
        mix->n_compared++;
    }
    return FAB_OK;
}

static double least_time(const fab_mix *mix, size_t e, size_t job) {
    double least_s = INFINITY;
    FAB_EACH(const fab_mix_design, d, mix->designs, mix->n_designs) {
        if (e < d->n_engines && d->engines[e].has_time) {
            least_s = fmin(least_s, d->job[job].engines[e].time_s);
        }
    }
    return least_s;
}

/* Networks alone where a design has no cost of ownership: one yardstick for all. */
static bool all_owned(const fab_mix *mix) {
    FAB_EACH(const fab_mix_design, d, mix->designs, mix->n_designs) {
        if (d->n_engines > 0 && !(d->job[0].ownership.years > 0)) {
            return false;
        }
    }
    return true;
}

static double cost_of(const fab_mix *mix, const fab_mix_design *d) {
    return mix->by_ownership ? d->job[0].ownership.total_usd : d->job[0].total_usd;
}

/* In the job's own units, and per dollar that its part of the cluster costs over the years. */
static void measure_units(const fab_mix *mix, const fab_mix_design *d, size_t e, size_t j) {
    const fab_sweep_point *p = &d->job[j];
    fab_mix_engine *engine = &d->engines[e];
    const double usd = mix->by_ownership ? p->ownership.total_usd * p->gpu_ratio : 0;
    engine->rate[j] = p->engines[e].time_s > 0 ? p->work / p->engines[e].time_s : 0;
    engine->per_usd[j] = usd > 0 ? engine->rate[j] * p->ownership.years * FAB_SECONDS_PER_YEAR / usd : 0;
}

static void mark_least(const fab_mix *mix, size_t e, size_t j) {
    double most = 0;
    FAB_EACH(const fab_mix_design, d, mix->designs, mix->n_designs) {
        most = e < d->n_engines && d->engines[e].has_time ? fmax(most, d->engines[e].per_usd[j]) : most;
    }
    FAB_EACH(const fab_mix_design, d, mix->designs, mix->n_designs) {
        if (e < d->n_engines && d->engines[e].has_time) {
            d->engines[e].is_least[j] = most > 0 && d->engines[e].per_usd[j] >= most * (1 - SAME);
        }
    }
}

static void mix_compare_engine(const fab_mix *mix, const fab_mix_design *d, size_t e) {
    fab_mix_engine *engine = &d->engines[e];
    engine->speed = 1;
    engine->serves_all = true;
    for (size_t j = 0; j < mix->n_jobs; j++) {
        double time_s = d->job[j].engines[e].time_s;
        engine->slowdown[j] = time_s > 0 ? time_s / least_time(mix, e, j) : 1;
        const bool is_overloaded = fab_sweep_is_overloaded(&d->job[j].engines[e]);
        engine->is_overloaded = engine->is_overloaded || is_overloaded;
        engine->serves_all = engine->serves_all && !is_overloaded && engine->slowdown[j] <= FAB_MIX_SERVES;
        engine->speed *= pow(engine->slowdown[j], -mix->share[j]);
        measure_units(mix, d, e, j);
    }
    engine->speed_per_usd = cost_of(mix, d) > 0 ? engine->speed / cost_of(mix, d) : 0;
}

static void mix_compare(fab_mix *mix, size_t e) {
    double most = 0;
    FAB_EACH(fab_mix_design, d, mix->designs, mix->n_designs) {
        for (size_t j = 0; e < d->n_engines && j < mix->n_jobs; j++) {
            d->engines[e].has_time = (j == 0 || d->engines[e].has_time) && d->job[j].engines[e].has_time;
        }
    }
    FAB_EACH(fab_mix_design, d, mix->designs, mix->n_designs) {
        if (e < d->n_engines && d->engines[e].has_time) {
            mix_compare_engine(mix, d, e);
            most = fmax(most, d->engines[e].speed_per_usd);
        }
    }
    FAB_EACH(fab_mix_design, d, mix->designs, mix->n_designs) {
        if (e < d->n_engines && d->engines[e].has_time && most > 0) {
            d->engines[e].speed_per_usd /= most;
            d->engines[e].is_best = d->engines[e].speed_per_usd >= 1 - SAME;
        }
    }
    for (size_t j = 0; j < mix->n_jobs; j++) {
        mark_least(mix, e, j);
    }
}

fab_status fab_mix_run(const fab_mix_request *request, fab_mix **out, fab_error *err) {
    FAB_OWNS(fab_mix_free_owned) fab_mix *mix = NULL;
    FAB_OWNED fab_design *design = NULL;
    fab_error first = {.code = FAB_OK};
    FAB_PASS(FAB_NEW_ALL(1, err, mix, design));
    FAB_PASS(FAB_NEW(mix->designs, request->n_designs, err));
    mix->n_designs = request->n_designs;
    mix->n_jobs = request->n_jobs;
    for (size_t j = 0; j < mix->n_jobs; j++) {
        mix->kind[j] = request->kinds[j];
        mix->share[j] = j == 0 ? request->share : (1 - request->share) / (double)(mix->n_jobs - 1);
    }
    for (size_t i = 0; i < mix->n_designs; i++) {
        FAB_FORMAT(mix->designs[i].name, "%s", request->names[i]);
        mix->designs[i].n_jobs = mix->n_jobs;
        for (size_t j = 0; j < mix->n_jobs; j++) {
            fab_error inner;
            FAB_PASS(run_job(request, i, j, design, &mix->designs[i].job[j], &inner, err));
            mix->n_over_limit += mix->designs[i].job[j].over_limit;
            first = first.code == FAB_OK ? inner : first;
        }
    }
    FAB_PASS(pair_up(mix, err));
    if (mix->n_compared == 0) {
        if (err != NULL) {
            *err = first;
        }
        return first.code;
    }
    mix->by_ownership = all_owned(mix);
    for (size_t e = 0; e < FAB_MAX_ENGINES; e++) {
        mix_compare(mix, e);
    }
    return FAB_GIVE(*out, mix);
}
