/* Groups of plans that differ in chunks and sharing alone. */
#include "plan_internal.h"

fab_status plan_each(plan_search *s, const plan_node *group, plan_visit *visit, fab_error *err) {
    fab_zero zero[4];
    size_t n_zeros = fab_job_space_zeros(s->space, &group->plan, zero);
    fab_job_plan plan = group->plan;
    uint64_t microbatches = 0;
    for (size_t i = 0; i < n_zeros; i++) {
        plan.zero = zero[i];
        for (plan.interleave = 0;
             (plan.interleave = fab_job_space_next_interleave(s->space, &plan, plan.interleave)) > 0;) {
            FAB_PASS(fab_job_space_take(s->space, &plan, &microbatches) != NULL ? visit(s, group, &plan, err) : FAB_OK);
        }
    }
    return FAB_OK;
}

static fab_status count_plan(plan_search *s, const plan_node *group, const fab_job_plan *plan,
                             FAB_UNUSED fab_error *err) {
    plan_node *counted = (plan_node *)group;
    counted->plan.zero = counted->n == 0 ? plan->zero : counted->plan.zero; /* who shares may not do without */
    counted->n++;
    s->found->n_plans++;
    return FAB_OK;
}

static fab_status add_group(plan_search *s, plan_node *group, fab_error *err) {
    FAB_PASS(plan_each(s, group, count_plan, err));
    if (group->n == 0) {
        return FAB_OK;
    }
    group->plan.interleave = 1;
    FAB_PASS(plan_bound(&s->network, &group->plan, PLAN_FLOOR, FAB_BOUND_STAGE, &group->bound_s, err));
    group->group = s->n_groups;
    return FAB_APPEND(s->groups, s->n_groups, s->group_capacity, err, *group);
}

static fab_status list_groups(plan_search *s, fab_error *err) {
    uint64_t microbatch[FAB_PLAN_MICROBATCHES];
    fab_recompute recompute[3];
    const size_t n_microbatches = fab_job_space_microbatches(s->space, microbatch);
    const size_t n_recomputes = fab_job_space_recomputes(s->space, recompute);
    const fab_job_plan *shapes = fab_job_space_shapes(s->space, &s->n_shapes);
    for (uint32_t i = 0; i < s->n_shapes; i++) {
        bool sequence[2];
        const size_t n_sequences = fab_job_space_sequences(s->space, &shapes[i], sequence);
        for (size_t k = 0; k < n_microbatches * n_recomputes * n_sequences; k++) {
            plan_node group = {.state = IS_GROUP, .shape = i, .plan = shapes[i]};
            fab_zero zero[4];
            group.plan.sequence_parallel = sequence[k % n_sequences];
            group.plan.microbatch = microbatch[k / n_sequences / n_recomputes];
            group.plan.recompute = recompute[k / n_sequences % n_recomputes];
            (void)fab_job_space_zeros(s->space, &group.plan, zero);
            group.plan.zero = zero[0];
            FAB_PASS(add_group(s, &group, err));
        }
    }
    return FAB_OK;
}

fab_status plan_share_groups(plan_search *s, fab_plan_kept *kept, fab_error *err) {
    if (kept == NULL || kept->n_groups == 0) {
        FAB_PASS(list_groups(s, err));
        return kept != NULL ? plan_keep_groups(kept, &s->network.rates, s->groups, s->n_groups, err) : FAB_OK;
    }
    FAB_PASS(plan_kept_check(kept, &s->network.rates, err));
    (void)fab_job_space_shapes(s->space, &s->n_shapes);
    FAB_PASS(FAB_GROW(s->groups, s->group_capacity, kept->n_groups, err));
    memcpy(s->groups, kept->group, kept->n_groups * sizeof *s->groups);
    s->n_groups = kept->n_groups;
    s->least = kept->least;
    s->leanest = kept->leanest;
    for (size_t i = 0; i < s->n_groups; i++) {
        s->found->n_plans += s->groups[i].n;
    }
    return FAB_OK;
}
