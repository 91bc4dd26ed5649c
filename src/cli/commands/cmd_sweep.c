#include "cli.h"

static fab_status sweep_run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    cli_vary vary[FAB_SWEEP_PATHS] = {{.n_values = 0}};
    FAB_TRY(cli_needs(options->command, options->n_vary > 0, "--vary path=v1,v2,... (list fields)", err));
    for (size_t i = 0; i < options->n_vary; i++) {
        FAB_TRY(cli_vary_parse(options->vary[i], &vary[i], err));
    }
    FAB_TRY(cli_sweep_and_report(options, vary, options->n_vary, FAB_COMMAND_SWEEP, out, err));
done:
    for (size_t i = 0; i < FAB_SWEEP_PATHS; i++) {
        cli_vary_release(&vary[i]);
    }
    return status;
}

const cli_command cli_command_sweep = {
    .name = "sweep",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "one or two parameters over a range: times, cost, Pareto front",
    .details =
        "Builds, prices and replays the design at every value. Shows phase times, iteration time and dollars per "
        "token under every engine, how many flows cross each tier boundary, and which points nothing beats in "
        "both cost and time. taper.1 is the boundary of leaf and spine. A value that holds commas: separate the "
        "values by '|' instead. A point that cannot be built is listed with the reason. Where paths are drawn figures "
        "are means of "
        "eight seeds, unless there are too many flows or --seeds says how many. With --scenarios also what "
        "failures leave at each value: what a key of failures.* is worth.",
    CLI_EXAMPLES(
        "fabriscope sweep preset:llama3-24k-roce --vary taper.2=1,2,4,7 --engine ecmp,qp=16 --engine spray",
        "fabriscope sweep rail-spine:gpus=1024 --vary taper.1=1,2,2.8,4,7 --vary nic=200Gb/s,400Gb/s --engine spray",
        "fabriscope sweep rail-spine:gpus=512 --vary fabric.family=rail-spine,rail-only --traffic pattern:all-to-all",
        "fabriscope sweep clos:gpus=256,radix=32 --vary engine=ecmp,ecmp,qp=16,spray --json",
        "fabriscope sweep clos:gpus=64,spares=1 --vary failures.spare-join=0s,10min,1h --scenarios time:30d@50"),
    CLI_OPTIONS(&cli_option_vary, &cli_option_set, &cli_option_job, &cli_option_traffic, &cli_option_transport,
                &cli_option_histories, &cli_option_history_policy, CLI_REPLAY_OPTIONS, CLI_REPORT_OPTIONS),
    .run = sweep_run,
};
