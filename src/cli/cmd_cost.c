#include "cli.h"

#include "fab/analysis.h"

static fab_status measure(const cli_options *options, const char *text, fab_fabric_result *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design design;
    fab_fabric *graph = NULL;
    FAB_TRY(cli_read_design(options, text, &design, err));
    FAB_TRY(cli_measure_fabric(&design, out, &graph, err));
done:
    fab_fabric_free(graph); /* one graph at a time in memory */
    return status;
}

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_result result = {0};
    FAB_TRY(cli_check_out(options, err));
    FAB_TRY(cli_result_init(options, FAB_COMMAND_COST, options->operands.n, &result, err));
    for (size_t i = 0; i < result.n_fabrics; i++) {
        fab_fabric_result *fabric = &result.fabrics[i];
        FAB_TRY(measure(options, options->operands.items[i], fabric, err));
        double baseline_usd = result.fabrics[0].cost.total_usd;
        fabric->reduction_ratio = i > 0 && baseline_usd > 0 ? 1 - fabric->cost.total_usd / baseline_usd : 0;
    }
    FAB_TRY(cli_report(options, &result, out, err));
done:
    fab_result_release(&result);
    return status;
}

static const char *const EXAMPLES[] = {
    "fabriscope cost rail-spine:gpus=32768,domain=256 rail-only:gpus=32768,domain=256",
    "fabriscope cost --prices rail-only-2023 rail-spine:gpus=32768,domain=256 rail-only:gpus=32768,domain=256",
    "fabriscope cost clos:gpus=4096 clos:gpus=4096,taper=2 clos:gpus=4096,taper=7 --json", NULL};

static const cli_option *const OPTIONS[] = {&cli_option_prices,
                                            &cli_option_set,
                                            &cli_option_out,
                                            &cli_option_force,
                                            &cli_option_format,
                                            &cli_option_json,
                                            &cli_option_color,
                                            &cli_option_quiet,
                                            &cli_option_seed,
                                            &cli_option_threads,
                                            NULL};

const cli_command cli_command_cost = {
    .name = "cost",
    .operands = "DESIGN...",
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .summary = "bill of materials, price and power; several designs side by side",
    .details = "The first design is the baseline of the others' reduction.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .run = run,
};
