/* Beside the best plan: whether one that leaves less memory free is faster, and, of GPUs in a number that sizes do not
 * divide well, whether the job is faster on fewer of its servers. */
#include "fab/analysis.h"
#include "fab/plan_run.h"
#include "fab/verdict.h"

#define USUAL_FACTOR 7     /* sizes of usual plans have no prime factor above it */
#define MOST_IDLE    4     /* servers that are left out one by one */
#define MOST_ROUTED  32000 /* GPUs times plans, for each number that is tried */
#define LEAST_GAIN   0.01  /* for which GPUs are left idle */

static uint64_t largest_factor(uint64_t n) {
    uint64_t largest = 1;
    for (uint64_t factor = 2; factor * factor <= n; factor++) {
        for (; n % factor == 0; n /= factor) {
            largest = factor;
        }
    }
    return n > largest ? n : largest;
}

/* The largest number of servers below `most` whose GPUs are a multiple of `step` and have usual factors; 0: none. */
static uint32_t fewer_servers(uint32_t most, uint32_t gpus_per_server, uint32_t step) {
    for (uint32_t n = most - 1; n > most / 2; n--) {
        const uint64_t gpus = (uint64_t)n * gpus_per_server;
        if (gpus % step == 0 && largest_factor(gpus) <= USUAL_FACTOR) {
            return n;
        }
    }
    return 0;
}

/* Where one search has means and the other has none, both by the first seed. */
static double tokens_per_s(const fab_plans *plans, bool by_means) {
    const fab_planned *best = &plans->plans[0];
    return (double)plans->batch * (double)plans->seq / (by_means ? fab_planned_s(best) : best->iteration.time_s);
}

/* "leave GPUs idle: on 944 of 952 the job does x1.05 the tokens (means of 8 seeds): --job n-servers=118,..." */
void fab_fewer_advise(fab_fewer *io, uint64_t gpus, uint64_t batch, bool is_drawn) {
    char text[192];
    io->advice[0] = '\0';
    if (io->gpus < gpus) {
        fab_append(io->advice, sizeof io->advice, "leave GPUs idle: on %s of %s", FAB_SAY_COUNT(io->gpus),
                   FAB_SAY_COUNT(gpus));
        if (io->batch != batch) {
            fab_append(io->advice, sizeof io->advice, ", with batch %s in place of %s,", FAB_SAY_COUNT(io->batch),
                       FAB_SAY_COUNT(batch));
        }
    } else {
        fab_append(io->advice, sizeof io->advice, "another batch: with %s", FAB_SAY_COUNT(io->batch));
    }
    fab_append(io->advice, sizeof io->advice, " the job does x%.3g the tokens", io->gain);
    if (io->draws > 0) {
        fab_append(io->advice, sizeof io->advice, " (means of %" PRIu64 " seeds)", io->draws);
    } else if (is_drawn) {
        fab_append(io->advice, sizeof io->advice, " (first seed alone)");
    }
    io->job[0] = '\0';
    if (io->gpus < gpus) {
        fab_append(io->job, sizeof io->job, "n-servers=%" PRIu32 ",", io->servers);
    }
    if (io->gpus == gpus || io->names_batch) {
        fab_append(io->job, sizeof io->job, "batch=%" PRIu64 ",", io->batch);
    }
    fab_append(io->job, sizeof io->job, "%s", fab_job_plan_text(&io->plan, text));
    fab_append(io->advice, sizeof io->advice, ": --job %s", io->job);
}

/* The job on so many servers, or with another batch: kept where it does more tokens than all that was tried, and than
 * the best plan by more than LEAST_GAIN and what seeds leave open; on all servers a twentieth less than on fewer does,
 * for nothing is idle then. Bounds leave out what cannot. */
static fab_status try_beside(fab_plan_request *request, fab_plans *plans, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    const fab_job_spec *job = &request->design->jobs[0];
    if ((request->is_late != NULL && request->is_late(request->late_context)) ||
        fab_job_space_new(request->design, request->fabric, &space, NULL) != FAB_OK) {
        return FAB_OK;
    }
    const double handicap = job->n_servers > 0 ? 1 : 1 + FAB_VERDICT_PLAN;
    const double least_gain = fmax(1 + LEAST_GAIN, plans->fewer.gain / handicap);
    request->below_s =
        (double)fab_job_space_model(space)->batch / (double)plans->batch * fab_planned_s(&plans->plans[0]) / least_gain;
    FAB_PASS(fab_plan_try(request, &found, err));
    if (found == NULL || found->n_plans_listed == 0) {
        return FAB_OK;
    }
    const bool by_means = found->draws > 0 && plans->draws > 0;
    const double gain = tokens_per_s(found, by_means) / tokens_per_s(plans, by_means);
    const double chance = by_means ? fab_pairs_ci95(&found->plans[0].seeds, NULL, &plans->plans[0].seeds, NULL) : 0;
    if (gain > fmax(least_gain, 1 + chance)) {
        fab_fewer *best = &plans->fewer;
        *best = (fab_fewer){.servers = (uint32_t)(found->gpus / request->fabric->gpus_per_server),
                            .gpus = found->gpus,
                            .batch = found->batch,
                            .gain = gain,
                            .draws = by_means ? found->draws : 0,
                            .plan = found->plans[0].plan,
                            .names_batch = plans->batch_given && found->batch != plans->batch};
        fab_fewer_advise(best, plans->gpus, plans->batch, plans->is_drawn);
    }
    return FAB_OK;
}

/* The same job with no memory to be kept free. */
static fab_status find_tight(const fab_plan_request *request, fab_plans *plans, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
    fab_plan_request within = *request;
    const double best_s = fab_planned_s(&plans->plans[0]);
    if ((request->is_late != NULL && request->is_late(request->late_context)) || plans->n_unfit == 0 ||
        !(plans->room_bytes < plans->capacity_bytes)) {
        return FAB_OK;
    }
    within.below_s = best_s * (1 - FAB_VERDICT_LITTLE);
    FAB_PASS(fab_plan_try(&within, &found, err));
    if (found != NULL && found->n_plans_listed > 0 && fab_planned_s(&found->plans[0]) < within.below_s) {
        plans->tight = found->plans;
        plans->n_tight = 1;
        plans->tight[0].slower_ratio = fab_planned_s(&plans->tight[0]) / best_s - 1;
        found->plans = NULL;
    }
    return FAB_OK;
}

fab_status fab_plan_beside(const fab_plan_request *request, fab_plans *plans, fab_error *err) {
    static const uint32_t STEPS[] = {8, 32, 128};
    FAB_OWNED fab_design *design = NULL;
    fab_plan_request within = *request;
    const uint32_t gpus_per_server = request->fabric->gpus_per_server;
    const uint32_t n_all = (uint32_t)plans->gpus / gpus_per_server;
    uint32_t last = n_all;
    const fab_job_spec *job = request->design->n_jobs > 0 ? &request->design->jobs[0] : NULL;
    const bool is_given =
        job != NULL && (job->gpus > 0 || job->n_servers > 0 || job->servers.length > 0 || job->dp > 0);
    FAB_PASS(FAB_NEW(design, 1, err));
    *design = *request->design;
    if (design->n_jobs == 0) {
        FAB_PASS(fab_design_default_job(&design->jobs[0], err));
        design->n_jobs = 1;
    }
    FAB_FORMAT(design->jobs[0].model, "%s", plans->model);
    const uint32_t order = plans->plans[0].plan.order;
    if (order > 0) { /* that of the plans that are listed */
        FAB_FORMAT(design->jobs[0].order, "%s", fab_rank_orders[order]);
    }
    within.design = design;
    within.n_best = 0;
    within.wants_front = false;
    within.draws_leaders = true;
    within.progress = NULL;
    within.most_routed = MOST_ROUTED;
    const double headroom = design->jobs[0].memory_headroom;
    design->jobs[0].memory_headroom = 0;
    FAB_PASS(find_tight(&within, plans, err));
    design->jobs[0].memory_headroom = headroom;
    if (is_given || n_all < 2 || plans->gpus % gpus_per_server != 0) {
        return FAB_OK;
    }
    const bool is_usual = largest_factor(plans->gpus) <= USUAL_FACTOR;
    within.n_orders = is_usual ? request->n_orders : FAB_N_RANK_ORDERS; /* those of fewer gain little */
    const bool goes_along = plans->batch_given && largest_factor(plans->batch) > USUAL_FACTOR; /* chosen for all GPUs */
    for (uint32_t i = 0; i < MOST_IDLE + (is_usual ? 0 : FAB_N_OF(STEPS)); i++) {
        const uint32_t n = i < MOST_IDLE ? n_all - 1 - i : fewer_servers(last, gpus_per_server, STEPS[i - MOST_IDLE]);
        if (n > n_all / 2 && n < last) {
            const uint64_t share = plans->batch * n / n_all; /* as much for each server */
            design->jobs[0].n_servers = last = n;
            design->jobs[0].batch =
                goes_along && largest_factor(share) <= USUAL_FACTOR ? share : request->design->jobs[0].batch;
            FAB_PASS(try_beside(&within, plans, err));
        }
    }
    const uint32_t dividing = plans->batch_given && plans->batch < plans->gpus
                                  ? fewer_servers(n_all, gpus_per_server, (uint32_t)plans->batch)
                                  : 0;
    design->jobs[0].batch = goes_along ? plans->batch : design->jobs[0].batch;
    if (dividing > 0 && dividing != plans->fewer.servers) { /* of which each replica has as many sequences */
        design->jobs[0].n_servers = dividing;
        FAB_PASS(try_beside(&within, plans, err));
    }
    const uint64_t batch = plans->fewer.servers > 0 ? plans->fewer.batch * n_all / plans->fewer.servers : plans->batch;
    if (!plans->batch_given && batch != plans->batch && plans->fewer.batch * n_all == batch * plans->fewer.servers) {
        design->jobs[0].n_servers = 0;
        design->jobs[0].batch = batch; /* as much for each server */
        FAB_PASS(try_beside(&within, plans, err));
    }
    return FAB_OK;
}
