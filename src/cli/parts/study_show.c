/* `study show`: what the scenarios of a gathered store say together, or all of them as CSV. */
#include "cli.h"

#include "fab/study_results.h"

const cli_option cli_option_top = {"top", "N", "parts and scenarios to name; default 10, at most 1000",
                                   CLI_COUNT(top, 1, FAB_STUDY_TOP_MOST)};
const cli_option cli_option_variant = {
    "variant", "K", "details of the K-th engine and policy, as the report numbers them; default: the fastest",
    CLI_COUNT(variant, 1, 1000000)};

/* --- rows --------------------------------------------------------------------------------------------------------- */

static bool wants_rows(const cli_options *options) {
    return options->format != NULL && strcmp(options->format, "csv") == 0 && options->table == NULL;
}

static fab_status write_rows(const void *context, FILE *out, fab_error *err) {
    return fab_study_write_csv(context, out, err);
}

/* Name of the rows under --out; NULL: too long. */
static const char *rows_path(const cli_options *options, char *out, size_t size) {
    int n = snprintf(out, size, "%s/" CLI_ROWS_NAME, options->out);
    return n > 0 && (size_t)n < size ? out : NULL;
}

static fab_status check_rows_path(const cli_options *options, fab_error *err) {
    char path[4096];
    if (options->out == NULL) {
        return FAB_OK;
    }
    CLI_REFUSE_IF(rows_path(options, path, sizeof path) == NULL, err, "option --out: the folder's name is too long");
    return cli_check_out_file(options, path, err);
}

static fab_status save_rows(const cli_options *options, const fab_study_results *results, fab_error *err) {
    char path[4096];
    if (options->out != NULL && rows_path(options, path, sizeof path) != NULL) {
        FAB_PASS(fab_save_file(path, cli_may_replace_out(options), write_rows, results, err));
    }
    return FAB_OK;
}

typedef struct certified {
    const cli_options *options;
    const fab_study_results *results;
    const fab_study_summary *summary;
} certified;

static fab_status certify_study(const void *context, FILE *out, fab_error *err) {
    const certified *c = context;
    return fab_study_certify(c->options->store, c->results, c->summary, FAB_VERSION, c->options->max_memory, out, err);
}

/* --- report ------------------------------------------------------------------------------------------------------- */

/* Impact as graphs show it: what a loss wins back is no impact. */
static void clamp(double *impact, size_t n) {
    for (size_t i = 0; impact != NULL && i < n; i++) {
        impact[i] = impact[i] < 0 ? 0 : impact[i];
    }
}

static fab_overlay overlay_of(const fab_study_summary *summary, const fab_fabric *fabric) {
    const fab_study_variant *shown = &summary->variants[summary->shown];
    clamp(shown->cable_impact, fabric->n_cables);
    clamp(shown->node_impact, fabric->n_nodes);
    return (fab_overlay){.criticality = shown->cable_impact,
                         .node_criticality = shown->node_impact,
                         .criticality_of = summary->criterion};
}

static fab_status choose_variant(const cli_options *options, fab_study_summary *summary, fab_error *err) {
    CLI_REFUSE_IF(options->variant > summary->n_variants, err, "option --variant: %" PRIu64 " of a study with %zu",
                  options->variant, summary->n_variants);
    summary->shown = options->variant > 0 ? (size_t)options->variant - 1 : summary->shown;
    return FAB_OK;
}

/* Rows take the place of the report on standard output. */
static fab_status show_print(const cli_options *options, const fab_study_results *results, const fab_result *result,
                             FILE *out, fab_error *err) {
    if (!wants_rows(options)) {
        return cli_report(options, result, out, err);
    }
    FAB_PASS(fab_study_write_csv(results, out, err));
    return cli_write_reports(options, result, err);
}

static fab_status show_report(const cli_options *options, const fab_study_results *results, FILE *out, fab_error *err) {
    const fab_plan *plan = fab_study_results_plan(results);
    FAB_OWNS(fab_study_summary_free_owned) fab_study_summary *summary = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    fab_overlay overlay = {.criticality = NULL};
    FAB_PASS(
        fab_study_summarise(results, options->top > 0 ? (size_t)options->top : FAB_STUDY_TOP, true, &summary, err));
    FAB_PASS(choose_variant(options, summary, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_STUDY, 1, &result, err));
    const fab_design *design = fab_study_results_design(results);
    FAB_PASS(fab_fabric_measure(design, &result.fabrics[0], &graph, err));
    FAB_FORMAT(result.fabrics[0].digest, "%s", plan->digest); /* as planned */
    overlay = overlay_of(summary, graph);
    result.graph = graph;
    result.overlay = overlay.criticality != NULL ? &overlay : NULL;
    result.study = summary;
    result.seed = plan->seed;
    result.n_seeds = summary->n_seeds > 1 ? summary->n_seeds : 1;
    FAB_FORMAT(result.traffic, "%s", summary->traffic);
    FAB_PASS(fab_find_warnings(&result, err));
    FAB_PASS(design->n_jobs > 0 ? fab_warn_of_gpu(&result, &design->jobs[0], &design->fabric, err) : FAB_OK);
    const certified what = {options, results, summary};
    FAB_PASS(cli_certify_with(options, certify_study, &what, err));
    return show_print(options, results, &result, out, err);
}

fab_status cli_check_study_show(const cli_options *options, fab_error *err) {
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_exports(options, err));
    FAB_PASS(check_rows_path(options, err));
    return cli_check_new_file(options, options->certificate, err);
}

static fab_status show_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(fab_study_results_close_owned) fab_study_results *results = NULL;
    FAB_PASS(cli_needs(options->command, options->store != NULL, "--store DIR", err));
    FAB_PASS(cli_check_study_show(options, err));
    FAB_PASS(fab_study_results_open(options->store, &results, err));
    if (wants_rows(options) && options->out == NULL && options->exports.n == 0 && options->certificate == NULL) {
        FAB_PASS(fab_study_write_csv(results, out, err));
        return FAB_OK;
    }
    FAB_PASS(show_report(options, results, out, err));
    return save_rows(options, results, err);
}

const cli_command cli_command_study_show = {
    .name = "study show",
    CLI_OPERANDS("", 0, 0),
    .summary = "what the scenarios say together: how bad it is, and what has the highest impact",
    .details =
        "Distribution of slowdowns, scenarios in which the job stops, parts and links by the impact of their "
        "loss, policies against each other, goodput of histories with its parts. Impact is the part of "
        "the job's speed that is lost. --format csv prints every scenario, as --out does into " CLI_ROWS_NAME "; "
        "graphs have the impact of every link and node as their attribute criticality. The store can also be "
        "asked in SQL: src/doc/study-store.md.",
    CLI_EXAMPLES("fabriscope study show --store every-link", "fabriscope study show --store every-link --top 25 --json",
                 "fabriscope study show --store every-link --format csv",
                 "fabriscope study show --store every-link --export impact.graphml --out report"),
    CLI_OPTIONS(&cli_option_store, &cli_option_top, &cli_option_variant, &cli_option_format, &cli_option_table,
                &cli_option_json, &cli_option_out, &cli_option_export, &cli_option_view, &cli_option_picture,
                &cli_option_certificate, &cli_option_force, &cli_option_color, &cli_option_conventions,
                &cli_option_quiet),
    .run = show_run,
};
