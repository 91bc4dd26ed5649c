#include "cli.h"

/* Every way to choose and order servers that the job's key `placement` has. */
static const char PLACEMENTS[] = "job.placement=order,packed,scattered,random";

static fab_status place_run(const cli_options *options, FILE *out, fab_error *err) {
    cli_vary vary = {.n_values = 0};
    fab_status status = cli_vary_parse(PLACEMENTS, &vary, err);
    if (status == FAB_OK) {
        status = cli_sweep_and_report(options, &vary, 1, FAB_COMMAND_PLACE, out, err);
    }
    cli_vary_release(&vary);
    return status;
}

static const char *const EXAMPLES[] = {
    "fabriscope place clos:gpus=1024,radix=16,taper=1/4 --engine spray --job tp=8,pp=4",
    "fabriscope place preset:llama3-24k-roce --job n-servers=512,dp=32 --engine ecmp,qp=16 --engine spray", NULL};

static const cli_option *const OPTIONS[] = {&cli_option_set,    &cli_option_job,    &cli_option_traffic,
                                            CLI_REPLAY_OPTIONS, CLI_REPORT_OPTIONS, NULL};

const cli_command cli_command_place = {
    .name = "place",
    .operands = "DESIGN",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the job on the same fabric under every placement: edges that cross, times",
    .details =
        "Compares the servers in their order, packed into the fewest pods (pod-aligned), scattered over the pods "
        "in turn, and drawn at random. All of them are rail-aligned: server by server, rank r of a server on "
        "its GPU r.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .tells_usage = true,
    .run = place_run,
};
