/* How a job is best run: `plan`. */
#include "fab/plans.h"
#include "field_rows.h"
#include "field_tables.h"

#define PLANS "0075-plans.md"

#define T fab_job_plan
GIVES(uint64_t, plan_zero, (uint64_t)(here->zero - FAB_ZERO_0));

static const fab_field JOB_PLAN[] = {
    FIELD(tp, "Tensor-parallel size."),
    FIELD(cp, "Context-parallel size."),
    FIELD(pp, "Pipeline-parallel size: the number of stages."),
    FIELD(dp, "Data-parallel size: the number of replicas."),
    FIELD(ep, "Expert-parallel size; it divides dp x cp."),
    FIELD(interleave, "Chunks of layers per GPU."),
    FIELD(microbatch, "Sequences of a microbatch."),
    NAMED_OF(recompute, recompute, fab_recomputes, 3, "Activations that are computed again."),
    COUNT_BY(zero, plan_zero, "What copies share: 1 states of the optimizer, 2 gradients too, 3 weights too."),
    NAMED_OF(order, order, fab_rank_orders, FAB_N_RANK_ORDERS,
             "Of the dimensions on the ranks, innermost first, where a search takes another than tp-cp-pp-dp.",
             IF(order)),
};
const fab_fields fab_job_plan_fields = TABLE("job_plan", JOB_PLAN, PLANS);

#undef T
#define T fab_planned
static const fab_field PLANNED[] = {
    GROUP(plan, &fab_job_plan_fields),
    FIGURE_OF(time_s, iteration.time_s, "s", "Time of an iteration: that of `run` with these keys."),
    FIGURE_OF(mean_s, draws_s.mean, "s", "Mean over `draws` seeds of a plan that may be the fastest.", FILLED),
    FIGURE_OF(ci95_s, draws_s.ci95, "s", "Half width of its 95 % interval.", IF(draws_s.mean)),
    FIELD_OF(estimated_ratio, iteration.estimated_ratio,
             "Phases whose hash is estimated take at most this part longer, but in one draw in a thousand.", FILLED),
    FIGURE(memory_bytes, "byte", "What the job keeps on its fullest GPU."),
    FIELD(slower_ratio, "By how much it is slower than the best.", SIGNED,
          .formula = "mean_s, else time_s, / the same of the best - 1"),
    FIGURE_OF(compute_s, iteration.compute_s, "s", "Computation alone on the busiest pipeline stage."),
    FIGURE_OF(bubble_s, iteration.bubble_s, "s", "That stage idle though transfers cost nothing."),
    FIGURE_OF(exposed_tp_s, iteration.exposed_tp_s, "s", "Tensor-parallel exchanges that computation does not hide."),
    FIGURE_OF(exposed_cp_s, iteration.exposed_cp_s, "s", "The same of context parallelism."),
    FIGURE_OF(exposed_ep_s, iteration.exposed_ep_s, "s", "The same of expert parallelism."),
    FIGURE_OF(exposed_pp_s, iteration.exposed_pp_s, "s", "The same of pipeline parallelism."),
    FIGURE_OF(exposed_dp_s, iteration.exposed_dp_s, "s", "The same of data parallelism."),
    FIGURE_OF(optimizer_s, iteration.optimizer_s, "s", "Optimizer of the slowest stage."),
    FIGURE_OF(tokens_per_s, iteration.tokens_per_s, "1/s", "Tokens of the whole job per second."),
    FIELD_OF(mfu_ratio, iteration.mfu_ratio, "Model FLOPs over the peak of the job's precision."),
};
static const fab_fields PLAN = TABLE("planned", PLANNED, PLANS);

#undef T
#define T fab_plans
static const fab_field SEARCHED[] = {
    FIELD(engine, "The engine that the plans are for, with its options."),
    FIELD(model, "Name of the model."),
    FIELD(gpus, "GPUs of the job."),
    FIELD(batch, "Sequences per iteration, the same for all plans."),
    FIGURE(lower_bound_s, "s",
           "Under the first seed no plan of the orders that were searched that was not evaluated takes less; at least "
           "the least time_s, or a thousandth below where other orders are searched."),
    FIELD(draws, "Seeds whose means order the first plans, where the engine draws paths.", FILLED),
    FIELD_OF(fewer_servers, fewer.servers,
             "On so many of the servers, or on all with another batch, the job is faster.", FILLED),
    FIELD_OF(fewer_gpus, fewer.gpus, "GPUs of these.", FILLED),
    FIELD_OF(fewer_gain_ratio, fewer.gain, "Tokens per second there, over those on all.", FILLED),
    FIELD_OF(fewer_job, fewer.job, "What runs the job so, as --job takes it.", FILLED),
    FIELD(order, "The order of the dimensions, innermost first, where another than tp-cp-pp-dp is faster.", FILLED),
    FIGURE(usual_order_s, "s", "Time of the best plan in the order tp-cp-pp-dp.", FILLED),
    FIELD_OF(orders, n_orders,
             "Other orders of the dimensions that were searched, all with tp innermost: the counts have theirs.",
             FILLED),
    FIELD_OF(networks, n_networks,
             "Plans whose phases were routed, for a bound or for their time; again for each draw."),
    FIELD(is_proven,
          "Whether the search went to its end: nothing of the space is faster. Else the bound says how far."),
    FIELD_OF(sizes, n_sizes, "Combinations of tp, cp, pp, dp and ep."),
    FIELD_OF(space, n_plans, "Plans of the space.", .formula = "evaluated + unfit + bounded + untimed"),
    FIELD_OF(evaluated, n_evaluated, "Plans that were evaluated."),
    FIELD_OF(unfit, n_unfit,
             "Plans that were found to need more of the GPU's memory than memory-headroom leaves; what a bound rules "
             "out is not looked at."),
    FIELD_OF(bounded, n_bounded, "Plans whose lower bound is not below what was found."),
    FIELD_OF(untimed, n_untimed, "Plans that have no time."),
    FIELD(untimed_note, "Why these have none.", FILLED),
    FIELD_OF(unlisted, n_unlisted,
             "Sizes that may have a place in the list behind the best: only a simulation of more paths than one takes "
             "tells their time.",
             FILLED, .source = "0124-places-behind-the-best.md"),
    FIGURE_OF(unlisted_least_s, unlisted_s, "s", "Under the first seed none of these takes less.", FILLED),
    LIST(plans, "plan", plans, n_plans_listed, &PLAN,
         "The fastest plan of its sizes each, fastest first; before all others those with means."),
    LIST(front, "plan", front, n_front, &PLAN,
         "The fastest plans within less and less memory; each has at most seven tenths of the one before.", FILLED),
    LIST(tight, "plan", tight, n_tight, &PLAN,
         "A plan that is faster, in memory that memory-headroom keeps free; slower_ratio is below 0.", FILLED),
};
const fab_fields fab_plan_fields =
    TABLE("plan", SEARCHED, PLANS,
          .definition = "The ways in which the job runs fastest, and the proof that nothing of the space is faster.");
