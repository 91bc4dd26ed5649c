#include "cli.h"

static fab_status run_design(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(cli_session_release) cli_session session = {.options = NULL};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_exports(options, err));
    FAB_PASS(cli_check_new_file(options, options->certificate, err));
    FAB_PASS(cli_session_open(options, FAB_COMMAND_RUN, "job", &session, err));
    return cli_session_report(&session, out, err);
}

const cli_command cli_command_run = {
    .name = "run",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "everything: fabric, cost, the job's phases under every engine",
    .details = "Builds the fabric, prices it, replays one iteration of the design's training job phase by phase under "
               "every engine, and reports loads, collisions and what tapering (oversubscription) does to each phase. "
               "With several seeds "
               "every figure that depends on the seed is a distribution. "
               "Of a design with several jobs the first is reported in full; then the phases that contend (the job's "
               "key contends) start together, and the report tells each job's slowdown and the links that they share.",
    CLI_EXAMPLES("fabriscope run preset:llama3-24k-roce",
                 "fabriscope run preset:llama3-24k-roce --seeds 5 --out report",
                 "fabriscope run preset:llama3-24k-roce --export fabric.svg --export pods.graphml --view pod",
                 "fabriscope run preset:llama3-24k-roce --timeline iteration.trace",
                 "fabriscope run rail-spine:gpus=1024,taper=2 --job tp=8,pp=4 --engine ecmp,qp=16 --engine dmodk"),
    CLI_OPTIONS(&cli_option_interference, &cli_option_degrade, &cli_option_fail, &cli_option_policies, &cli_option_set,
                &cli_option_job, &cli_option_transport, CLI_REPLAY_OPTIONS, CLI_GRAPH_OPTIONS, &cli_option_timeline,
                &cli_option_certificate, CLI_REPORT_OPTIONS),
    .run = run_design,
};
