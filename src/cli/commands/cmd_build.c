#include "cli.h"

#include "fab/patch.h"
#include "fab/prices.h"

static bool is_stdout(const char *path) {
    return strcmp(path, "-") == 0;
}

/* Before anything is computed: a name that is taken. */
static fab_status check_patch(const cli_options *options, fab_error *err) {
    const char *path = options->patch;
    if (path == NULL || !is_stdout(path)) {
        return cli_check_new_file(options, path, err);
    }
    CLI_REFUSE_IF(options->format != NULL, err, "option --patch -: the plan and --format both want standard output");
    return FAB_OK;
}

static fab_status write_plan(const void *patch, FILE *out, fab_error *err) {
    return fab_patch_write(patch, out, err);
}

static fab_status write_patch(const cli_options *options, const fab_design *design, const fab_fabric_result *fabric,
                              const fab_fabric *graph, FILE *out, fab_error *err) {
    FAB_OWNS(fab_floor_free_owned) fab_floor *floor = NULL;
    FAB_OWNED_NEW(fab_prices, prices, 1, err);
    FAB_PASS(fab_prices_read(design->prices, prices, err));
    FAB_PASS(fab_floor_is_said(&fabric->spec) ? fab_floor_make(&fabric->spec, graph, &floor, err) : FAB_OK);
    fab_patch patch = {.spec = &fabric->spec, .fabric = graph, .floor = floor, .prices = prices};
    if (is_stdout(options->patch)) {
        FAB_PASS(fab_patch_write(&patch, out, err));
        return FAB_OK;
    }
    FAB_PASS(fab_save_file(options->patch, options->force, write_plan, &patch, err));
    cli_tell(options, "%s cables written to %s%s", FAB_SAY_COUNT(fabric->counts.cables), options->patch,
             floor == NULL ? "; racks are empty: the design says nothing of them" : "");
    return FAB_OK;
}

static const cli_option OPTION_VERIFY = {
    "verify", NULL, "have igraph confirm connectivity and bisection; says what it found on stderr", CLI_FLAG(verify)};

/* A second opinion on the graph, from a library that knows nothing of how it was built. */
static fab_status verify(const fab_fabric_result *fabric, const fab_fabric *graph, fab_error *err) {
    fab_graph_facts facts = {0};
    FAB_PASS(fab_graph_check(graph, &facts, err));
    FAB_REFUSE_IF(facts.components != 1, err, FAB_EUNREACHABLE, NULL,
                  "the fabric falls into %u parts that cannot reach each other", facts.components);
    /* igraph adds up in doubles */
    FAB_REFUSE_IF(fabs(facts.bisection_bps - fabric->bisection_bps) > 1e-9 * fabric->bisection_bps, err, FAB_EINTERNAL,
                  NULL, "igraph cuts %.17g bit/s, the report says %.17g", facts.bisection_bps, fabric->bisection_bps);
    (void)fprintf(stderr,
                  "fabriscope: igraph agrees: connected, %u network%s, diameter %u cables between switches, the same "
                  "bisection\n",
                  facts.network_components, facts.network_components == 1 ? "" : "s", facts.diameter);
    return FAB_OK;
}

/* A plan on stdout takes the place of the report there. */
static fab_status build_report(const cli_options *options, const fab_result *result, FILE *out, fab_error *err) {
    if (options->patch == NULL || !is_stdout(options->patch)) {
        return cli_report(options, result, out, err);
    }
    return cli_write_reports(options, result, err);
}

static fab_status build_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    FAB_OWNS(cli_failed_release) cli_failed failed = {.floor = NULL};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_exports(options, err));
    FAB_PASS(check_patch(options, err));
    FAB_PASS(cli_open_design(options, options->operands.items[0], &design, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_BUILD, 1, &result, err));
    FAB_PASS(fab_fabric_measure(design, &result.fabrics[0], &graph, err));
    FAB_PASS(fab_view_check(graph, options->view, err));
    result.graph = graph;
    result.engine = design->n_engines == 1 ? &design->engines[0] : NULL;
    FAB_PASS(cli_mark_failed(options, &result, &failed, err));
    FAB_PASS(options->verify ? verify(&result.fabrics[0], graph, err) : FAB_OK);
    FAB_PASS(options->patch != NULL ? write_patch(options, design, &result.fabrics[0], graph, out, err) : FAB_OK);
    FAB_PASS(fab_find_warnings(&result, err));
    return build_report(options, &result, out, err);
}

static const cli_option OPTION_PATCH = {
    "patch", "FILE", "also write the patch plan as CSV: rack, device, port of both ends of every cable; - is stdout",
    CLI_TEXT(patch), .names = "file"};

const cli_command cli_command_build = {
    .name = "build",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "the fabric: counts, bisection, cost, export",
    .details = "Builds the fabric, checks the graph against the closed form of its family, and reports what it is "
               "made of. --format graphml prints the graph itself, --format ibnet the same as a file that ibsim "
               "loads and InfiniBand tools read; cables, ptm, slurm-tree, slurm-block, slurm-yaml, containerlab, "
               "netbox-csv, topograph, kueue, and for switches sonic and frr hand it to other tools (`list formats`). "
               "Racks and lengths in the patch plan come from the "
               "floor of the design (--set floor.rack-power=40kW); without one the racks are empty.",
    CLI_EXAMPLES("fabriscope build preset:llama3-24k-roce", "fabriscope build fat-tree:k=8 --format graphml",
                 "fabriscope build fat-tree:k=8 --fail leaf-3 --fail spine-9*0.5 --export failed.svg",
                 "fabriscope build fat-tree:k=8 --format ibnet",
                 "fabriscope build rail-spine:gpus=1024 --format slurm-tree > topology.conf",
                 "fabriscope build rail-spine:gpus=1024,taper=2 --out fabric",
                 "fabriscope build clos:gpus=256,floor.rack-power=20.4kW --patch plan.csv"),
    CLI_OPTIONS(&OPTION_VERIFY, &cli_option_set, &OPTION_PATCH, &cli_option_failed, &cli_option_seed,
                &cli_option_prices, &cli_option_threads, CLI_GRAPH_OPTIONS, CLI_REPORT_OPTIONS),
    .run = build_run,
};
