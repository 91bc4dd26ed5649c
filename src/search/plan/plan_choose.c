/* Plans that nobody asked for: of a job that says nothing, and of one that says too much. */
#include "plan_internal.h"

#include "fab/analysis.h"
#include "fab/memory.h"

#include <math.h>

#define MOST_BATCH_UNASKED  1000000 /* sequences: of more every schedule is too long to try many */
#define MOST_ROUTED_TO_BEAT 32000

bool fab_plan_is_wanted(const fab_design *design, const char *traffic) {
    bool asked = design->n_jobs > 0 && fab_job_plan_open(&design->jobs[0]) != 0;
    bool left = design->n_jobs == 0 || (design->n_jobs == 1 && fab_job_plan_is_left(&design->jobs[0]));
    return (asked || left) && strncmp(traffic, "job", 3) == 0;
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
        (void)snprintf(design->jobs[0].model, sizeof design->jobs[0].model, "%s", smaller);
        status = fab_plan_search(&tried, out, err);
    }
    return status;
}

fab_status fab_plan_choose(const fab_plan_request *request, fab_design *design, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    fab_plan_request within = *request;
    within.draws_leaders = true;
    within.n_orders = 2;
    fab_error why = {.code = FAB_OK};
    bool asked = request->design->n_jobs > 0 && fab_job_plan_open(&request->design->jobs[0]) != 0;
    if (!asked) {
        within.most_routed = PLAN_SHORT;
    }
    if (design->n_jobs == 0) {
        FAB_PASS(fab_design_default_job(&design->jobs[0], err));
        design->jobs[0].is_default = true;
        design->n_jobs = 1;
    }
    if (!asked && design->jobs[0].batch > MOST_BATCH_UNASKED) {
        return FAB_OK;
    }
    fab_status status = search_model(&within, design, &plans, &why);
    if (!asked && status == FAB_EUNSUPPORTED) { /* nothing of it has a time: sizes by their rules do as well */
        return FAB_OK;
    }
    FAB_REFUSE_IF(status != FAB_OK, err, status, why.where, "%s", why.text);
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

fab_status fab_plan_settle(fab_design *design, const char *traffic, const fab_job_spec *like, uint64_t seed,
                           size_t n_threads, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    fab_fabric_spec spec = design->fabric;
    if (!fab_plan_is_wanted(design, traffic)) {
        return FAB_OK;
    }
    FAB_PASS(fab_topology_build(&spec, &fabric, NULL, err));
    if (like != NULL && like->plan_chosen && fab_job_space_new(design, fabric, &space, NULL) == FAB_OK &&
        fab_job_space_gpus(space) == like->tp * like->cp * like->pp * like->dp) {
        const fab_job_plan plan = {like->tp,
                                   like->cp,
                                   like->pp,
                                   like->dp,
                                   like->ep,
                                   like->interleave,
                                   like->microbatch,
                                   like->recompute,
                                   like->zero,
                                   like->sequence_parallel,
                                   0};
        if (design->n_jobs == 0) {
            FAB_PASS(fab_design_default_job(&design->jobs[0], err));
            design->n_jobs = 1;
        }
        if (!design->jobs[0].order_given) {
            (void)snprintf(design->jobs[0].order, sizeof design->jobs[0].order, "%s", like->order);
        }
        fab_job_plan_apply(space, &plan, &design->jobs[0]);
        design->jobs[0].plan_is_short = like->plan_is_short;
        return FAB_OK;
    }
    const fab_plan_request request = {.design = design, .fabric = fabric, .seed = seed, .n_threads = n_threads};
    return fab_plan_choose(&request, design, NULL, err);
}

fab_status fab_plan_beat(const fab_plan_request *request, const fab_job_spec *job, size_t engine, fab_plans **out,
                         fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    fab_plan_request within = *request;
    if (job->batch > MOST_BATCH_UNASKED) {
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
    return plan_search_beside(&within, out, err);
}
