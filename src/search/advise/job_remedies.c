/* What all jobs on a fabric gain together by a change for which nothing is bought: what moves no job first. */
#include "advise_internal.h"
#include "fab/contend.h"
#include "fab/design.h"

typedef struct job_trial {
    const fab_replay *base;
    const fab_result *first;
    fab_contention *c;
    fab_design *changed; /* of the trial under way */
    fab_engine_spec engine;
} job_trial;

static double job_s(const fab_contended_phase *job, bool by_chance) {
    const bool contends = job->alone_s.mean > 0; /* else it takes as long as alone */
    return !contends ? job->iteration_alone_s : by_chance ? fab_contended_now_s(job) : fab_contended_s(job, true);
}

static void remedy_count(const fab_contention *c, const fab_contention *found, fab_job_remedy *out) {
    const fab_contention_engine *before = &c->engines[c->remedied];
    const fab_contention_engine *after = found->engines;
    double gpus = 0;
    out->by_chance = before->has_expected && (after->has_expected || after->n_contending < 2);
    for (size_t job = 0; job < c->n_jobs; job++) {
        const double before_s = job_s(&before->jobs[job], out->by_chance);
        const double after_s = job_s(&after->jobs[job], out->by_chance);
        out->saved[job] = before_s > 0 && after_s > 0 ? 1 - after_s / before_s : 0;
        if (fab_contended_counts(before, job)) {
            gpus += c->jobs[job].n_gpus;
            out->saved_ratio += c->jobs[job].n_gpus * out->saved[job];
            out->n_faster += out->saved[job] > FAB_VERDICT_LITTLE;
            out->n_slower += out->saved[job] < -FAB_VERDICT_LITTLE;
        }
    }
    out->saved_ratio /= gpus > 0 ? gpus : 1;
}

/* All jobs under the engine and the design of the trial. */
static fab_status remedy_run(const job_trial *t, fab_job_remedy *out, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_contention_free_owned) fab_contention *found = NULL;
    const fab_context_request what = {.base = t->base->context,
                                      .design = t->changed,
                                      .traffic = "job",
                                      .engines = &t->engine,
                                      .n_engines = 1,
                                      .seed = fab_context_what(t->base->context)->seed};
    FAB_OWNS(fab_result_release_rest)
    fab_result first = {.command = t->first->command, .fabrics = t->first->fabrics, .n_fabrics = t->first->n_fabrics};
    FAB_PASS(fab_context_new(&what, &context, err));
    const fab_replay replay = {
        .context = context, .n_seeds = t->base->n_seeds, .n_threads = t->base->n_threads, .rates = true};
    FAB_PASS(fab_replay_run(&replay, &first, err));
    FAB_PASS(fab_contend(&replay, &first, FAB_CONTEND_CHANCE, &found, err));
    FAB_PASS(FAB_NEW(out->saved, t->c->n_jobs, err));
    remedy_count(t->c, found, out);
    return FAB_OK;
}

/* What the fabric or a job refuses is no remedy. */
static fab_status remedy_try(const job_trial *t, const char *what, bool is_engine, bool needs_switch_support,
                             fab_error *err) {
    fab_error why = {0};
    fab_job_remedy remedy = {.is_engine = is_engine, .needs_switch_support = needs_switch_support};
    FAB_FORMAT(remedy.what, "%s", what);
    fab_status status = remedy_run(t, &remedy, &why);
    if (status == FAB_OK) {
        t->c->remedies[t->c->n_remedies++] = remedy;
    }
    return fab_unless_refused(err, status, &why);
}

/* Whether jobs have servers of their choice; `changed` gives each as many, one job after the other. */
static bool order_servers(const job_trial *t) {
    bool any = false;
    for (size_t job = 0; job < t->c->n_jobs; job++) {
        fab_job_spec *spec = &t->changed->jobs[job];
        any = any || spec->servers.length > 0 || spec->placement != FAB_PLACEMENT_ORDER;
        spec->servers.length = 0;
        spec->n_servers = t->c->jobs[job].n_servers;
        spec->placement = FAB_PLACEMENT_ORDER;
    }
    return any;
}

static fab_status try_engines(job_trial *t, fab_error *err) {
    static const advise_change CHANGES[] = {
        {.sets_engine = true, .engine = "qp=16"},
        {.sets_engine = true, .engine = "spray", .replaces = true, .needs_switch_support = true}};
    const fab_context_request *what = fab_context_what(t->base->context);
    advise_config base = {.order = ""};
    FAB_FORMAT(base.engine, "%s", t->engine.text);
    for (size_t i = 0; i < FAB_N_OF(CHANGES); i++) {
        advise_config config;
        if ((fab_label_pairs(base.engine) >= FAB_VERDICT_MOST_PAIRS && !CHANGES[i].replaces) ||
            !advise_is_offered(&CHANGES[i], &what->design->fabric, NULL) ||
            !advise_apply(&CHANGES[i], &base, false, false, &config)) {
            continue;
        }
        FAB_ANY(is_given, e, what->n_engines, strcmp(what->engines[e].text, config.engine) == 0);
        if (!is_given) {
            FAB_FORMAT(t->engine.text, "%s", config.engine);
            FAB_PASS(remedy_try(t, config.engine, true, CHANGES[i].needs_switch_support, err));
        }
    }
    return FAB_OK;
}

static uint64_t count_flows(const fab_contention *c) {
    uint64_t n = 0;
    for (size_t job = 0; job < c->n_jobs; job++) {
        for (size_t p = 0; p < c->jobs[job].n_phases; p++) {
            n += c->jobs[job].network_flows[p];
        }
    }
    return n;
}

fab_status fab_job_remedies_try(const fab_replay *base, const fab_result *first, size_t place, size_t engine,
                                fab_contention *contention, fab_error *err) {
    const fab_context_request *what = fab_context_what(base->context);
    const uint64_t n_flows = count_flows(contention) * base->n_seeds;
    job_trial t = {.base = base, .first = first, .c = contention, .engine = what->engines[place]};
    FAB_OWNS_MEMBERS(t.changed);
    contention->remedied = engine;
    contention->has_tried = true;
    const bool is_lost =
        fab_contention_lost_ratio(&contention->engines[engine]) > FAB_VERDICT_LITTLE; /* to each other */
    if (contention->n_remedies > 0) {
        return FAB_OK; /* they are known */
    }
    if (n_flows > FAB_JOB_REMEDY_FLOWS || what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID) {
        contention->n_untried = is_lost ? n_flows : 0;
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(t.changed, 1, err));
    fab_design_copy(what->design, t.changed);
    FAB_PASS(try_engines(&t, err));
    t.engine = what->engines[place];
    return is_lost && order_servers(&t) ? remedy_try(&t, "in order", false, false, err) : FAB_OK;
}
