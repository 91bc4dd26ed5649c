#include "cli.h"

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    return cli_replay_and_report(options, FAB_COMMAND_ROUTE, options->traffic != NULL ? options->traffic : "job", out,
                                 err);
}

static const char *const EXAMPLES[] = {
    "fabriscope route fat-tree:k=8 --traffic pattern:shift,by=4 --engine ecmp --engine dmodk",
    "fabriscope route preset:llama3-24k-roce --traffic job:dp-rs --engine ecmp,qp=1 --engine ecmp,qp=16",
    "fabriscope route fat-tree:k=16 --traffic pattern:permutation "
    "--engine ecmp,qp=16,hash=crc32/crc16,fields=5tuple+dqp",
    "fabriscope route clos:gpus=512,radix=32 --traffic pattern:bisection --seeds 100 --json", NULL};

static const cli_option *const OPTIONS[] = {
    &cli_option_traffic, &cli_option_engine, &cli_option_seeds, &cli_option_seed,    &cli_option_set,
    &cli_option_job,     &cli_option_prices, &cli_option_out,   &cli_option_force,   &cli_option_format,
    &cli_option_json,    &cli_option_color,  &cli_option_quiet, &cli_option_threads, NULL};

const cli_command cli_command_route = {
    .name = "route",
    .operands = "DESIGN",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "one phase, pattern or matrix under one or more engines",
    .details = "Routes traffic over the fabric and reports the loads of the links, which of them collide, and the "
               "flows that meet on the worst ones.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .tells_usage = true,
    .run = run,
};
