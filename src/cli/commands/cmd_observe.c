#include "cli.h"

#include "fab/observe.h"

#define DRAWS 16 /* of an engine that draws, unless --seeds asks for more */

static const cli_option OPTION_COUNTERS = {"counters", "A B",
                                           "two snapshots, the earlier one first, or one since counters were cleared: "
                                           "a file each, or a folder with a file for "
                                           "each box",
                                           CLI_LIST(counters), .names = "snapshot"};

static const cli_option OPTION_INTERVAL = {
    "interval", "TIME", "between the snapshots, where they do not say it: 10s; without it there are no rates",
    CLI_QUANTITY(interval_s, FAB_UNIT_TIME)};

/* `--counters A B`: the second one is read as an operand, behind the design. */
static fab_status find_snapshots(const cli_options *options, const char **out, fab_error *err) {
    const cli_list *given = &options->counters;
    size_t n_behind = options->operands.n - 1;
    CLI_REFUSE_IF(
        given->n == 0 || given->n + n_behind > 2, err,
        "option --counters: two snapshots are wanted (--counters A B), or one since they were cleared; there are %zu",
        given->n + n_behind);
    if (given->n + n_behind == 1) {
        out[1] = given->items[0];
        return FAB_OK;
    }
    out[0] = given->items[0];
    out[1] = given->n > 1 ? given->items[1] : options->operands.items[1];
    return FAB_OK;
}

static fab_status observe_open(cli_session *s, fab_error *err) {
    const cli_options *options = s->options;
    FAB_PASS(
        cli_session_open(options, FAB_COMMAND_OBSERVE, options->traffic != NULL ? options->traffic : "job", s, err));
    CLI_REFUSE_IF(s->design->n_engines > 1, err, "option --engine: the network has one; there are %zu",
                  s->design->n_engines);
    FAB_PASS(cli_session_build(s, err));
    FAB_PASS(fab_fabric_measure(s->design, &s->result.fabrics[0], &s->graph, err));
    s->result.graph = s->graph;
    return cli_session_choose_chunks(s, err);
}

static fab_status observe_run(const cli_options *options, FILE *out, fab_error *err) {
    const char *paths[2] = {NULL, NULL};
    FAB_OWNS(fab_counters_free_owned) fab_counters *before = NULL;
    FAB_OWNS(fab_counters_free_owned) fab_counters *after = NULL;
    FAB_OWNS(fab_observed_free_owned) fab_observed *observed = NULL;
    FAB_OWNS(cli_session_release) cli_session session = {.options = options};
    FAB_PASS(find_snapshots(options, paths, err));
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(paths[0] != NULL ? fab_counters_read(paths[0], NULL, &before, err) : FAB_OK);
    FAB_PASS(fab_counters_read(paths[1], NULL, &after, err));
    FAB_PASS(observe_open(&session, err));
    const fab_observe_request request = {.context = session.context,
                                         .before = before,
                                         .after = after,
                                         .before_path = paths[0],
                                         .after_path = paths[1],
                                         .n_draws = options->n_seeds > 1 ? options->n_seeds : DRAWS,
                                         .interval_s = options->interval_s > 0 ? options->interval_s : (double)NAN,
                                         .n_threads = (size_t)options->n_threads};
    FAB_PASS(fab_observe(&request, &observed, err));
    session.result.observed = observed;
    return cli_report(options, &session.result, out, err);
}

const cli_command cli_command_observe = {
    .name = "observe",
    CLI_OPERANDS("DESIGN", 1, 2),
    .summary = "what ports have counted, over what the job should do: slow links, late hosts",
    .details =
        "Subtracts two snapshots of counters (perfquery -x, ibdiagnet, exporters of Prometheus, SONiC, gNMI, sysfs, a "
        "list), lays them over what an iteration of the job puts on every link, and finds what deviates: links that "
        "carry less, hosts that send less, ends that disagree, counters of errors that move, each with its evidence. "
        "Imbalance that the hash of the engine draws is told from imbalance that it does not. Says the smallest "
        "deviation that this pair can show.",
    CLI_EXAMPLES(
        "fabriscope observe design.xml --counters before.prom after.prom",
        "fabriscope observe rail-spine:gpus=4096 --counters monday/ tuesday/ --engine spray --job model=llama3-70b",
        "fabriscope observe design.xml --counters a.txt b.txt --interval 10s --json"),
    CLI_OPTIONS(&OPTION_COUNTERS, &OPTION_INTERVAL, &cli_option_set, &cli_option_job, &cli_option_traffic,
                &cli_option_engine, &cli_option_seeds, &cli_option_seed, &cli_option_prices, &cli_option_threads,
                CLI_REPORT_OPTIONS),
    .run = observe_run,
};
