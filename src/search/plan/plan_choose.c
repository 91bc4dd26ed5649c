/* Plans that nobody asked for: of a job that says nothing, and of one that says too much. */
#include "plan_internal.h"

#include "fab/analysis.h"
#include "fab/best_run.h"
#include "fab/job_sharing.h"

#define MOST_BATCH_UNASKED  1000000 /* sequences: of more every schedule is too long to try many */
#define MOST_ROUTED_TO_BEAT 32000

static bool is_wanted(const fab_job_spec *job) {
    return fab_job_plan_open(job) != 0 || fab_job_plan_is_left(job);
}

bool fab_plan_is_wanted(const fab_design *design, const char *traffic) {
    FAB_ANY(any, job, design->n_jobs, is_wanted(&design->jobs[job]));
    return (any || design->n_jobs == 0) && strncmp(traffic, "job", 3) == 0;
}

fab_status plan_give_job(fab_design *design, fab_error *err) {
    if (design->n_jobs == 0) {
        FAB_PASS(fab_design_default_job(&design->jobs[0], err));
        design->jobs[0].is_default = true;
        design->n_jobs = 1;
    }
    return FAB_OK;
}

/* The search; of a design without a job the largest model that fits. `err` is not NULL. */
static fab_status search_model(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err) {
    fab_plan_request tried = *request;
    bool is_default = request->design->n_jobs == 0 || request->design->jobs[0].is_default;
    fab_status status = fab_plan_search(&tried, out, err);
    while (status == FAB_ENOSOLUTION && is_default) {
        const char *smaller = NULL;
        fab_job_space *space = NULL;
        fab_error failed = {.code = FAB_OK}; /* err has why nothing fits */
        if (fab_job_space_new(tried.design, tried.fabric, &space, &failed) != FAB_OK) {
            *err = failed;
            return failed.code;
        }
        smaller = fab_model_smaller(fab_job_space_model(space)->name);
        fab_job_space_free(space);
        if (smaller == NULL) {
            break;
        }
        *err = (fab_error){.code = FAB_OK};
        tried.design = design;
        FAB_FORMAT(design->jobs[0].model, "%s", smaller);
        status = fab_plan_search(&tried, out, err);
    }
    return status;
}

/* The plan of request->like, where one was chosen and the job that is alone in `design` has as many GPUs. */
static fab_status take_plan(const fab_plan_request *request, fab_design *design, bool *out, fab_error *err) {
    const fab_job_spec *like = request->like;
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    *out = like != NULL && like->plan_chosen && fab_job_space_new(design, request->fabric, &space, NULL) == FAB_OK &&
           fab_job_space_gpus(space) == like->tp * like->cp * like->pp * like->dp;
    if (!*out) {
        return FAB_OK;
    }
    FAB_PASS(plan_give_job(design, err));
    fab_job_plan plan = fab_job_plan_of(like);
    plan.order = design->jobs[0].order_given ? 0 : plan.order;
    fab_job_plan_apply(space, &plan, &design->jobs[0]);
    design->jobs[0].plan_is_short = like->plan_is_short;
    return FAB_OK;
}

/* Of a job that is alone in its design. */
static fab_status choose_alone(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    fab_plan_request within = *request;
    within.draws_leaders = true;
    within.n_orders = 2;
    fab_error why = {.code = FAB_OK};
    bool asked = request->design->n_jobs > 0 && fab_job_plan_open(&request->design->jobs[0]) != 0;
    within.most_routed = asked ? 0 : request->most_routed > 0 ? request->most_routed : FAB_PLAN_SHORT;
    bool is_taken = false;
    FAB_PASS(take_plan(request, design, &is_taken, err));
    FAB_PASS(plan_give_job(design, err));
    if (is_taken || (!asked && design->jobs[0].batch > MOST_BATCH_UNASKED)) {
        return FAB_OK;
    }
    fab_status status = search_model(&within, design, &plans, &why);
    if (!asked && status == FAB_EUNSUPPORTED) { /* nothing of it has a time: sizes by their rules do as well */
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &why));
    FAB_PASS(out != NULL ? fab_plan_beside(request, plans, err) : FAB_OK);
    FAB_PASS(fab_job_space_new(design, request->fabric, &space, err));
    fab_job_plan_apply(space, &plans->plans[0].plan, &design->jobs[0]);
    design->jobs[0].plan_is_short = !plans->is_proven;
    if (out != NULL) {
        *out = plans;
        plans = NULL;
    }
    return FAB_OK;
}

/* --- several jobs ------------------------------------------------------------------------------------------------- */

/* Jobs of a design, one after the other. */
typedef struct job_progress {
    const fab_plan_request *of;
    size_t job, n;
} job_progress;

static void tell_job(void *context, double done, size_t total) {
    const job_progress *p = context;
    p->of->progress(p->of->progress_context, (double)p->job + (total > 0 ? done / (double)total : 0), p->n);
}

/* `alone` has the job on its servers; its plan goes to `job`, which keeps its place. */
static fab_status choose_job(const fab_plan_request *request, fab_design *alone, fab_job_spec *job, fab_plans **out,
                             fab_error *err) {
    fab_error why = {.code = FAB_OK};
    fab_status status = choose_alone(request, alone, out, &why);
    FAB_REFUSE_IF(status != FAB_OK, err, status, job->where, "job '%s': %s", job->id, why.text);
    const fab_job_spec before = *job;
    *job = alone->jobs[0];
    job->servers = before.servers;
    job->storage_servers = before.storage_servers;
    job->gpus = before.gpus;
    job->n_servers = before.n_servers;
    return FAB_OK;
}

static fab_status choose_each(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err) {
    job_progress progress = {.of = request, .n = request->is_of_first ? 1 : design->n_jobs};
    fab_plan_request within = *request;
    within.progress = request->progress != NULL ? tell_job : NULL;
    within.progress_context = &progress;
    FAB_OWNED_NEW(fab_design, placed, 1, err);
    FAB_OWNED_NEW(fab_design, alone, 1, err);
    FAB_OWNED_NEW(size_t, first, design->n_jobs, err);
    FAB_PASS(fab_jobs_place(design, request->fabric, placed, err));
    FAB_PASS(fab_jobs_alike(placed, request->fabric, first, err));
    within.design = alone;
    for (size_t job = 0; job < progress.n; job++) {
        progress.job = job;
        if (is_wanted(&placed->jobs[job])) {
            fab_design_copy_alone(placed, job, alone);
            within.like = first[job] < job ? &design->jobs[first[job]] : job == 0 ? request->like : NULL;
            FAB_PASS(choose_job(&within, alone, &design->jobs[job], job == 0 ? out : NULL, err));
        }
    }
    return FAB_OK;
}

fab_status fab_plan_choose(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err) {
    return design->n_jobs > 1 ? choose_each(request, design, out, err) : choose_alone(request, design, out, err);
}

/* One plan for all engines, which is that of each. */
static fab_status settle_alike(const fab_plan_request *request, const char *traffic, fab_design *design,
                               fab_error *err) {
    FAB_OWNS(fab_choice_list_release) fab_choice_list choices = {.n = 0};
    char plans[384] = "";
    FAB_PASS(fab_choose_each(request, traffic, design->n_engines, &choices, err));
    FAB_EACH(const fab_choice, choice, choices.at, choices.n) {
        char plan[192] = "as it is";
        if (choice->plans[0] != NULL) {
            (void)fab_job_plan_text(&choice->plans[0]->plans[0].plan, plan);
        }
        fab_append(plans, sizeof plans, "%s%.24s %s", choice > choices.at ? "; " : "", choice->design->engines[0].text,
                   plan);
    }
    FAB_REFUSE_IF(choices.n > 1, err, FAB_EUNSUPPORTED, "--engine",
                  "these engines have unlike fastest plans, and here one is for all: give one --engine, or --job with "
                  "the plan for all: %s",
                  plans);
    *design = *choices.at[0].design;
    return FAB_OK;
}

fab_status fab_plan_settle(fab_design *design, const char *traffic, const fab_job_spec *like, uint64_t seed,
                           size_t n_threads, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    fab_fabric_spec spec = design->fabric;
    if (!fab_plan_is_wanted(design, traffic)) {
        return FAB_OK;
    }
    FAB_PASS(fab_topology_build(&spec, &fabric, NULL, err));
    const fab_plan_request request = {
        .design = design, .fabric = fabric, .seed = seed, .n_threads = n_threads, .is_of_first = true, .like = like};
    return settle_alike(&request, traffic, design, err);
}

fab_status fab_plan_beat(const fab_plan_request *request, const fab_job_spec *job, size_t engine, double time_s,
                         fab_better *out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    fab_plan_request within = *request;
    if (request->design->n_jobs != 1 || job->kind != FAB_JOB_TRAINING || job->plan_chosen ||
        job->batch > MOST_BATCH_UNASKED || request->design->fabric.transport.kind != FAB_TRANSPORT_FLUID) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(design, 1, err));
    *design = *request->design;
    fab_job_spec *open = &design->jobs[0];
    open->tp = open->cp = open->pp = open->dp = open->ep = 0;
    open->interleave = open->microbatch = 1;
    open->plan = FAB_PLAN_AUTO;
    open->plan_given = open->plan_asked = 0;
    open->stage_layers[0] = '\0';
    open->batch = job->batch;
    design->engines[0] = design->engines[engine];
    within.design = design;
    within.most_routed = MOST_ROUTED_TO_BEAT;
    within.n_orders = 2;
    within.draws_leaders = true; /* one draw of many plans is below any mean */
    within.below_s = time_s * (1 - FAB_VERDICT_PLAN);
    FAB_PASS(fab_plan_try(&within, &plans, err));
    const fab_planned *best = plans != NULL && plans->n_plans_listed > 0 ? &plans->plans[0] : NULL;
    if (best != NULL && fab_planned_s(best) < within.below_s) {
        *out = (fab_better){.time_s = fab_planned_s(best), .draws = best->draws_s.mean > 0 ? plans->draws : 0};
        (void)fab_job_plan_text(&best->plan, out->keys);
        fab_append(out->keys, sizeof out->keys, ",batch=%" PRIu64, job->batch); /* else that of its sizes */
    }
    return FAB_OK;
}
