
#include "top/top_app.h"

static fab_status run_top(const cli_options *options, FILE *out, fab_error *err) {
    CLI_REFUSE_IF(!cli_has_terminal(), err,
                  "command top needs a terminal for input and output; without one, 'fabriscope run %.200s --fail "
                  "COMPONENT' tells what a failure does",
                  options->operands.items[0]);
    CLI_REFUSE_IF(strcmp(options->operands.items[0], "-") == 0, err,
                  "command top: keys come from standard input: give the design as a file");
    return top_screen_run(options, out, err);
}

const cli_command cli_command_top = {
    .name = "top",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "in the terminal: from phases to links to flows; parts break, seconds change",
    .details =
        "Opens the job of the design on the whole terminal. Phases lead to their links by load, a link to the flows on "
        "it with their rates and bottlenecks. Keys kill, slow and repair cables, switches and servers, turn to the "
        "next engine, seed and policy, and take changes back; times and collisions stand beside those of the "
        "healthy fabric at once. '?' lists the keys. At the end the command line is printed with which run "
        "reports the state that was left.",
    CLI_EXAMPLES("fabriscope top clos:gpus=1024,taper=2,spares=2",
                 "fabriscope top preset:llama3-24k-roce --fail leaf-3 --policy first-spare"),
    CLI_OPTIONS(&cli_option_fail, &cli_option_policies, &cli_option_set, &cli_option_job, &cli_option_transport,
                &cli_option_engine, &cli_option_seed, &cli_option_prices, &cli_option_threads, &cli_option_color,
                &cli_option_quiet),
    .run = run_top,
    .hides_usage = true,
};
