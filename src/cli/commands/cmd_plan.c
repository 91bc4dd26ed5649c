#include "cli.h"

#define LISTED 5

#define SEARCHED 0.7 /* of --max-time: the rest is for a plan on its way, and the report */

static bool is_late(const void *context) {
    const double *deadline_s = context;
    return cli_now_s() > *deadline_s;
}

static fab_status plan_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    cli_progress progress = {.unit = "plans"};
    const double deadline_s = cli_now_s() + SEARCHED * options->max_time_s;
    fab_plan_request request = {.seed = options->seed,
                                .n_threads = (size_t)options->n_threads,
                                .n_best = LISTED,
                                .wants_front = true,
                                .n_orders = FAB_N_RANK_ORDERS,
                                .draws_leaders = true,
                                .is_late = options->max_time_s > 0 ? is_late : NULL,
                                .late_context = &deadline_s,
                                .progress = cli_progress_step,
                                .progress_context = &progress};
    cli_keep_freed_memory();
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_open_design(options, options->operands.items[0], &design, err));
    FAB_PASS(fab_design_set_job(design, 0, "plan", "auto", "plan", err)); /* all that nobody gave is chosen */
    FAB_PASS(cli_result_init(options, FAB_COMMAND_PLAN, 1, &result, err));
    FAB_PASS(fab_fabric_measure(design, &result.fabrics[0], &graph, err));
    request.design = design;
    request.fabric = graph;
    cli_limits_end_time(); /* the search ends itself, and what was found is to be printed */
    cli_progress_start(&progress, options);
    progress.hint = options->max_time_s > 0 ? NULL : " (--max-time 60s prints the best so far)";
    fab_status status = cli_progress_end(&progress, fab_plan_search(&request, &plans, err));
    FAB_PASS(fab_blame_design(design, status, err));
    FAB_PASS(fab_plan_beside(&request, plans, err));
    result.graph = graph;
    result.plans = plans;
    const cli_shown shown = {
        .design = options->operands.items[0], .plan = &plans->plans[0].plan, .n_seeds = plans->draws};
    FAB_PASS(cli_see(options, &shown, &result, err));
    FAB_PASS(fab_find_warnings(&result, err));
    FAB_PASS(cli_report(options, &result, out, err));
    if (!plans->is_proven && request.is_late != NULL && is_late(&deadline_s)) {
        char least[48] = "under orders of the ranks that were not searched";
        if (plans->lower_bound_s < plans->plans[0].iteration.time_s) {
            FAB_FORMAT(least, "%.4g s at least", plans->lower_bound_s);
        }
        return fab_fail(err, FAB_ETIME, "plan",
                        "the time of --max-time is up: this is the best so far, and others may take less, %s", least);
    }
    return FAB_OK;
}

const cli_command cli_command_plan = {
    .name = "plan",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "how to run a model on this fabric: the fastest sizes that fit, and the proof that nothing is faster",
    .details = "Searches every tp, cp, pp, dp, ep, interleave, microbatch, recompute and zero that --job does not give "
               "for the shortest iteration under the first engine that fits the memory of a GPU. Lower bounds leave "
               "most plans out; the report counts them and has the least bound. Lists the best plans of other sizes "
               "with what takes their time, and the fastest within less and less memory. The keys of the best are to "
               "be typed as they are; run, sweep, compare and mix choose them themselves with --job plan=auto.",
    CLI_EXAMPLES(
        "fabriscope plan clos:gpus=1024 --job model=llama3-70b --engine spray",
        "fabriscope plan rail-spine:gpus=512 --job model=mixtral-8x7b,tp=4",
        "fabriscope plan preset:llama3-24k-roce --job model=llama3-405b,gpus=16384,sequence-parallel=yes --json"),
    CLI_OPTIONS(&cli_option_set, &cli_option_job, &cli_option_transport, &cli_option_engine, &cli_option_seed,
                &cli_option_prices, &cli_option_threads, CLI_REPORT_OPTIONS),
    .run = plan_run,
};
