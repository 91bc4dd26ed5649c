#include "cli.h"

#include "fab/analysis.h"

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design design;
    fab_fabric *graph = NULL;
    fab_result result = {0};
    FAB_TRY(cli_check_out(options, err));
    FAB_TRY(cli_read_design(options, options->operands.items[0], &design, err));
    FAB_TRY(cli_result_init(options, FAB_COMMAND_BUILD, 1, &result, err));
    FAB_TRY(cli_measure_fabric(&design, &result.fabrics[0], &graph, err));
    result.graph = graph;
    FAB_TRY(cli_report(options, &result, out, err));
done:
    fab_result_release(&result);
    fab_fabric_free(graph);
    return status;
}

static const char *const EXAMPLES[] = {"fabriscope build preset:llama3-24k-roce",
                                       "fabriscope build fat-tree:k=8 --format graphml",
                                       "fabriscope build rail-spine:gpus=1024,taper=2 --out fabric", NULL};

static const cli_option *const OPTIONS[] = {&cli_option_set,
                                            &cli_option_prices,
                                            &cli_option_out,
                                            &cli_option_force,
                                            &cli_option_format,
                                            &cli_option_json,
                                            &cli_option_color,
                                            &cli_option_quiet,
                                            &cli_option_seed,
                                            &cli_option_threads,
                                            NULL};

const cli_command cli_command_build = {
    .name = "build",
    .operands = "DESIGN",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the fabric: counts, bisection, cost, export",
    .details = "Builds the fabric, checks the graph against the closed form of its family, and reports what it is "
               "made of. --format graphml prints the graph itself.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .run = run,
};
