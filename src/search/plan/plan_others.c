/* Plans that were found elsewhere: another design may run them, and this one be faster by them than by what its own
 * search found. */
#include "plan_internal.h"

#include "fab/analysis.h"

bool fab_plan_is_same(const fab_job_plan *a, const fab_job_plan *b) {
    return a->tp == b->tp && a->cp == b->cp && a->pp == b->pp && a->dp == b->dp && a->ep == b->ep &&
           a->interleave == b->interleave && a->microbatch == b->microbatch && a->recompute == b->recompute &&
           a->zero == b->zero && a->sequence_parallel == b->sequence_parallel && a->order == b->order;
}

void fab_plan_list_release(fab_plan_list *list) {
    free(list->plan);
    *list = (fab_plan_list){.n = 0};
}

fab_status fab_plan_list_add(fab_plan_list *list, const fab_job_plan *plan, bool *is_new, fab_error *err) {
    FAB_FIRST(i, list->n, fab_plan_is_same(&list->plan[i], plan));
    if (is_new != NULL) {
        *is_new = i == list->n;
    }
    return i < list->n ? FAB_OK : FAB_APPEND(list->plan, list->n, list->capacity, err, *plan);
}

/* Whether a space has these sizes, and the value of each other key. */
static bool has_keys(const fab_job_space *space, const fab_job_plan *plan) {
    uint64_t microbatch[FAB_PLAN_MICROBATCHES];
    fab_recompute recompute[3];
    fab_zero zero[4];
    bool sequence[2];
    size_t n = 0;
    const fab_job_plan *shapes = fab_job_space_shapes(space, &n);
    size_t has[5] = {0};
    for (size_t i = 0; i < n; i++) {
        has[0] += shapes[i].tp == plan->tp && shapes[i].cp == plan->cp && shapes[i].pp == plan->pp &&
                  shapes[i].dp == plan->dp && shapes[i].ep == plan->ep;
    }
    for (size_t i = fab_job_space_microbatches(space, microbatch); i > 0; i--) {
        has[1] += microbatch[i - 1] == plan->microbatch;
    }
    for (size_t i = fab_job_space_recomputes(space, recompute); i > 0; i--) {
        has[2] += recompute[i - 1] == plan->recompute;
    }
    for (size_t i = fab_job_space_zeros(space, plan, zero); i > 0; i--) {
        has[3] += zero[i - 1] == plan->zero;
    }
    for (size_t i = fab_job_space_sequences(space, plan, sequence); i > 0; i--) {
        has[4] += sequence[i - 1] == plan->sequence_parallel;
    }
    return has[0] > 0 && has[1] > 0 && has[2] > 0 && has[3] > 0 && has[4] > 0 &&
           fab_job_space_next_interleave(space, plan, plan->interleave - 1) == plan->interleave;
}

fab_status fab_plan_set(const fab_design *design, const fab_fabric *fabric, const fab_job_plan *plan, const char *model,
                        fab_design *planned, bool *out_fits, fab_error *err) {
    FAB_OWNS(fab_job_space_free_owned) fab_job_space *space = NULL;
    uint64_t microbatches = 0;
    fab_job_memory memory;
    *planned = *design;
    FAB_PASS(plan_give_job(planned, err));
    fab_job_spec *job = &planned->jobs[0];
    if (job->model[0] == '\0') {
        FAB_FORMAT(job->model, "%s", model);
    }
    FAB_PASS(fab_job_space_new(planned, fabric, &space, err));
    *out_fits = (plan->order == 0 || !job->order_given) && has_keys(space, plan) &&
                fab_job_space_take(space, plan, &microbatches) != NULL;
    if (*out_fits) {
        fab_job_space_memory(space, &memory);
        *out_fits = memory.total_bytes <= fab_job_space_room(space);
        fab_job_plan_apply(space, plan, job);
        job->plan_is_tried = true;
    }
    return FAB_OK;
}

fab_status fab_plan_time(const fab_plan_request *request, const fab_job_plan *plan, const char *model,
                         fab_design *planned, fab_plans **out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *found = NULL;
    fab_plan_request within = *request;
    bool fits = false;
    *out = NULL;
    FAB_PASS(fab_plan_set(request->design, request->fabric, plan, model, planned, &fits, err));
    within.design = planned;
    within.n_orders = 1;
    within.progress = NULL;
    FAB_PASS(fits ? fab_plan_try(&within, &found, err) : FAB_OK);
    if (found == NULL || found->n_plans_listed == 0) {
        return FAB_OK;
    }
    found->plans[0].plan = *plan; /* with its order */
    return FAB_GIVE(*out, found);
}
