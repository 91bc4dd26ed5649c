#include "cli.h"

/* Every way to choose and order servers that the job's key `placement` has. */
static const char PLACEMENTS[] = "job.placement=order,packed,scattered,random";

static fab_status place_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(cli_vary_release) cli_vary vary = {.n_values = 0};
    FAB_PASS(cli_vary_parse(PLACEMENTS, &vary, err));
    return cli_sweep_and_report(options, &vary, 1, FAB_COMMAND_PLACE, out, err);
}

static const cli_option BUDGET = {"budget", "N",
                                  "placements that the search evaluates under an engine; default 400, or fewer where "
                                  "one takes long",
                                  CLI_COUNT(advise.budget, 1, FAB_PLACE_MAX_BUDGET)};

const cli_command cli_command_place = {
    .name = "place",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "the best and the worst placement of a job or a pattern, beside the named ones",
    .details =
        "Compares the servers in their order, packed into the fewest pods or leaf groups (where there are no pods), "
        "scattered over them in turn, and drawn at random. All of them are rail-aligned: server by server, rank r of "
        "a server on its GPU r. Then it searches for the servers, and their order, with the least and the most time: "
        "all placements that differ where the budget allows (proven), else by exchanging servers from several starts.",
    CLI_EXAMPLES(
        "fabriscope place clos:gpus=1024,radix=16,taper=1/4 --engine spray --job tp=8,pp=4",
        "fabriscope place clos:gpus=32,gpus-per-server=2,radix=16,taper=3 --traffic pattern:shift,by=12 --engine spray",
        "fabriscope place preset:dgx-h100-superpod --job n-servers=64,dp=64 --engine ecmp,qp=16 --engine spray"),
    CLI_OPTIONS(&cli_option_set, &cli_option_job, &cli_option_traffic, &BUDGET, CLI_REPLAY_OPTIONS, CLI_REPORT_OPTIONS),
    .run = place_run,
};
