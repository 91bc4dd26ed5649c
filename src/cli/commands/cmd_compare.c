#include "cli.h"

static fab_status compare_run(const cli_options *options, FILE *out, fab_error *err) {
    cli_vary designs = {
        .path = "design", .values = options->operands.items, .n_values = options->operands.n, .are_designs = true};
    FAB_PASS(cli_check_exports(options, err));
    return cli_sweep_and_report(options, &designs, 1, FAB_COMMAND_COMPARE, out, err);
}

const cli_command cli_command_compare = {
    .name = "compare",
    CLI_OPERANDS("DESIGN DESIGN...", 2, FAB_SWEEP_POINTS),
    .summary = "designs side by side under one job: cost, power, speed, dollars per token; which is best, and what "
               "would turn it",
    .details = "Builds and prices every design and replays the same job on each. Says which costs the least per token, "
               "GPU hours, network and energy together, by what margin, how much cheaper the next one's network would "
               "have to be to draw level, and what differs between the designs. Beside it the total cost of ownership: "
               "GPUs, servers, racks, network and energy over the years of the price book. Designs that name no model "
               "have the "
               "same: the smallest of their defaults. With --scenarios failures are in it: goodput, and dollars per "
               "token that was not computed in vain. --set and --job hold for all. Patterns are compared by time.",
    CLI_EXAMPLES(
        "fabriscope compare rail-spine:gpus=512 rail-only:gpus=512 clos:gpus=512,taper=2 --job model=llama3-70b",
        "fabriscope compare clos:gpus=1024 clos:gpus=1024,taper=3 --engine ecmp,qp=16 --engine spray --out comparison",
        "fabriscope compare clos:gpus=1024 clos:gpus=1024,taper=3 --export slide.png",
        "fabriscope compare clos:gpus=256,spares=1 clos:gpus=256 --scenarios time:30d@100"),
    CLI_OPTIONS(&cli_option_set, &cli_option_job, &cli_option_traffic, &cli_option_transport, &cli_option_histories,
                &cli_option_history_policy, CLI_REPLAY_OPTIONS, &cli_option_export, CLI_REPORT_OPTIONS),
    .run = compare_run,
};
