/* route --advise: what changes buy. */
#include "cli.h"

#include "fab/advise.h"

#define MAX_BUDGET 1000000

const cli_option cli_option_advise = {"advise", NULL,
                                      "also evaluate what can be changed (queue pairs, hashing, pinning, rank order, "
                                      "servers) and say what each change buys; "
                                      "the base is the first engine; at least 8 seeds",
                                      CLI_FLAG(advise.on)};

const cli_option cli_option_advise_budget = {
    "advise-budget", "N",
    "placements that --advise may try; default 200, or fewer where one takes long; 0 leaves the servers as they are",
    CLI_COUNT(advise.budget, 0, MAX_BUDGET)};

fab_status cli_advise_begin(const cli_options *options, fab_replay *replay, fab_error *err) {
    CLI_REFUSE_IF(!options->advise.on && cli_is_given(options, &cli_option_advise_budget), err,
                  "option --advise-budget needs --advise");
    if (!options->advise.on) {
        return FAB_OK;
    }
    replay->n_seeds = replay->n_seeds > FAB_ADVISE_MIN_SEEDS ? replay->n_seeds : FAB_ADVISE_MIN_SEEDS;
    return FAB_OK;
}

fab_status cli_advise(const cli_options *options, const fab_replay *base, fab_result *result, fab_advice **out,
                      fab_error *err) {
    if (!options->advise.on) {
        return FAB_OK;
    }
    FAB_OWNS(fab_str_release) fab_str command = FAB_STR_INIT;
    cli_write_command(options, "route", options->operands.items[0], &command);
    if (result->plans != NULL) { /* another engine would have another */
        char plan[192];
        fab_str_printf(&command, " --job %s", fab_job_plan_text(&result->plans->plans[0].plan, plan));
    }
    fab_str_printf(&command, " --seeds %" PRIu64, base->n_seeds);
    FAB_PASS(fab_str_status(&command, err));
    const fab_advise_request request = {.context = base->context,
                                        .n_seeds = base->n_seeds,
                                        .n_threads = base->n_threads,
                                        .has_budget = cli_is_given(options, &cli_option_advise_budget),
                                        .budget = options->advise.budget,
                                        .command = command.data,
                                        .progress = base->progress,
                                        .progress_context = base->progress_context};
    FAB_PASS(fab_advise(&request, out, err));
    result->advice = *out;
    result->n_over_limit = (*out)->n_over_limit;
    return FAB_OK;
}
