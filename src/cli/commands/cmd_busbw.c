#include "cli.h"

#include "fab/busbw_run.h"

static const char *const COLLECTIVES[] = {"all-reduce", "all-gather", "reduce-scatter",
                                          "all-to-all", "broadcast",  NULL}; /* of fab_operation */

/* "nccl", "best", or one of fab_nccl_algorithms. */
static const char *const ALGORITHMS[] = {"nccl", "best",      "ring", "tree", "collnet",
                                         "nvls", "nvls-tree", "pat",  "p2p",  NULL};
enum { AS_NCCL, BEST, FIRST_ALGORITHM };

static const cli_option OPTION_COLLECTIVE = {
    "collective", "NAME", "all-reduce (default), all-gather, reduce-scatter, all-to-all or broadcast",
    CLI_CHOICE(busbw.collective, COLLECTIVES)};
static const cli_option OPTION_ALGORITHM = {
    "algorithm", "NAME",
    "what NCCL would choose: nccl (default); best: the fastest; or ring, tree, collnet, nvls, nvls-tree, pat, p2p",
    CLI_CHOICE(busbw.algorithm, ALGORITHMS)};
static const cli_option OPTION_RANKS = {"ranks", "N",
                                        "GPUs that take part, the first ones; default those of --measured, or all",
                                        CLI_COUNT(busbw.ranks, 2, UINT32_MAX)};
static const cli_option OPTION_BYTES = {"bytes", "SIZE", "this size alone, 1GiB; default 32 KiB to 16 GiB",
                                        CLI_QUANTITY(busbw.bytes, FAB_UNIT_BYTES)};
static const cli_option OPTION_MEASURED = {
    "measured", "FILE",
    "what nccl-tests printed: shown beside, and compared size by size; may have lines of NCCL_DEBUG",
    CLI_TEXT(busbw.measured), .names = "file"};
static const cli_option OPTION_TOLERANCE = {
    "tolerance", "RATIO",
    "end with exit code 1 where a measured bandwidth falls short by more than this part, 0.1 for 10 %; default 0.05 "
    "from 1 GiB, 0.15 from 1 MiB, 0.3 below",
    CLI_QUANTITY(tolerance, FAB_UNIT_RATIO)};

static fab_status check_options(const cli_options *options, fab_error *err) {
    CLI_REFUSE_IF(options->tolerance > 0 && options->busbw.measured == NULL, err,
                  "option --tolerance: there is nothing to compare without --measured");
    CLI_REFUSE_IF(options->busbw.bytes > 0 && options->busbw.measured != NULL, err,
                  "option --bytes: the sizes are those of --measured");
    return options->tolerance < 1 ? FAB_OK
                                  : cli_misused(err, "option --tolerance: %g is not below 1", options->tolerance);
}

static fab_busbw_request request_of(const cli_options *options, const fab_context *context,
                                    const fab_nccl_tests *measured) {
    const unsigned algorithm = options->busbw.algorithm;
    return (fab_busbw_request){.context = context,
                               .operation = (fab_operation)options->busbw.collective,
                               .choice = algorithm == BEST ? FAB_NCCL_BEST : FAB_NCCL_AS_NCCL,
                               .only = algorithm < FIRST_ALGORITHM ? FAB_NCCL_N_ALGORITHMS
                                                                   : (fab_nccl_algorithm)(algorithm - FIRST_ALGORITHM),
                               .ranks = options->busbw.ranks,
                               .measured = options->busbw.measured != NULL ? measured : NULL,
                               .tolerance = options->tolerance,
                               .bytes = options->busbw.bytes,
                               .n_threads = (size_t)options->n_threads,
                               .n_seeds = options->n_seeds};
}

static fab_status busbw_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_nccl_tests_release) fab_nccl_tests measured = {.path = NULL};
    FAB_OWNS(fab_busbw_free_owned) fab_busbw *busbw = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    FAB_PASS(check_options(options, err));
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(options->busbw.measured != NULL ? fab_nccl_tests_read(options->busbw.measured, &measured, err) : FAB_OK);
    FAB_PASS(cli_open_design(options, options->operands.items[0], &design, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_BUSBW, 1, &result, err));
    FAB_PASS(fab_fabric_measure(design, &result.fabrics[0], &graph, err));
    /* each algorithm brings its own traffic */
    const fab_context_request what = fab_context_of(design, graph, "pattern:ring", options->seed);
    FAB_PASS(fab_context_new(&what, &context, err));
    const fab_busbw_request request = request_of(options, context, &measured);
    FAB_PASS(fab_blame_design(design, fab_busbw_run(&request, &busbw, err), err));
    result.graph = graph;
    result.busbw = busbw;
    FAB_PASS(fab_find_warnings(&result, err));
    FAB_PASS(design->n_jobs > 0 ? fab_warn_of_gpu(&result, &design->jobs[0], &design->fabric, err) : FAB_OK);
    FAB_PASS(cli_report(options, &result, out, err));
    FAB_REFUSE_IF(busbw->n_short > 0, err, FAB_ETHRESHOLD, busbw->measured,
                  "%" PRIu64 " of %zu sizes fall short of what this fabric should give", busbw->n_short, busbw->n_rows);
    return FAB_OK;
}

const cli_command cli_command_busbw = {
    .name = "busbw",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "what nccl-tests should print here, size by size, beside what they printed",
    .details = "Time, algorithm and bus bandwidth of a collective from 32 KiB to 16 GiB, by the algorithm and protocol "
               "that NCCL would choose, and what bounds them. What leaves the scale-up domains is replayed on this "
               "fabric under each engine, so that collisions count. With --measured it is an acceptance test: sizes "
               "that fall short are marked, and the exit code is 1.",
    CLI_EXAMPLES(
        "fabriscope busbw preset:dgx-h100-superpod", "fabriscope busbw preset:gh200-nvl256 --collective all-gather",
        "fabriscope busbw clos:gpus=64,radix=16 --job gpu=h200-141gb --algorithm best --engine ecmp --engine spray",
        "fabriscope busbw clos:gpus=8 --job gpu=h200-141gb --measured all_reduce_perf.log --tolerance 0.1"),
    CLI_OPTIONS(&OPTION_COLLECTIVE, &OPTION_ALGORITHM, &OPTION_RANKS, &OPTION_BYTES, &OPTION_MEASURED,
                &OPTION_TOLERANCE, &cli_option_set, &cli_option_job, &cli_option_engine, &cli_option_seeds,
                &cli_option_seed, &cli_option_threads, CLI_REPORT_OPTIONS),
    .run = busbw_run,
};
