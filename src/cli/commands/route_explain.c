/* route --explain: who meets on a link, and why. */
#include "cli.h"

#include "fab/design.h"
#include "fab/explanation.h"
#include "fab/fabric_parse.h"
#include "fab/topologies.h"

#include <stdlib.h>
#include <string.h>

fab_status cli_check_explain(const cli_options *options, fab_error *err) {
    if (options->dump != NULL || options->out != NULL || options->bound || options->advise.on ||
        options->advise.has_budget || options->weak_parts.n > 0 || options->failed_parts.n > 0 ||
        options->exports.n > 0 || (options->format != NULL && fab_report_format_find(options->format)->shows_graph)) {
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "option --explain takes the place of the report: it goes with none of --dump, --out, --export, "
                        "--bound, --advise, --degrade, --fail and formats of graphs");
    }
    if (options->n_seeds > 1) {
        return fab_fail(err, FAB_EUSAGE, NULL, "option --explain shows one draw: give --seed, not --seeds");
    }
    return FAB_OK;
}

static fab_status find_link(const cli_options *options, const fab_fabric *graph, fab_link_id *out, fab_error *err) {
    fab_error inner = {0};
    fab_status status = fab_link_parse(graph, options->explain, out, &inner);
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, "--explain", "%s", inner.text);
}

/* The fabric without cost and bisection, which nobody asks for here. */
static fab_status build(const fab_design *design, fab_fabric_result *out, fab_fabric **out_graph, fab_error *err) {
    out->spec = design->fabric;
    fab_status status = fab_topology_build(&out->spec, out_graph, &out->counts, err);
    fab_blame_design(design, status, err);
    (void)snprintf(out->family, sizeof out->family, "%s", out->spec.family);
    return status == FAB_OK ? fab_fabric_name(design, out, err) : status;
}

fab_status cli_explain(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design *design = NULL;
    fab_fabric *graph = NULL;
    fab_result result = {0};
    fab_explanation explanation = {0};
    fab_link_id link = FAB_NONE;
    FAB_TRY(cli_open_design(options, options->operands.items[0], &design, err));
    if (design->n_engines != 1) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "option --explain is about one engine; there are %zu: give one --engine",
                 design->n_engines);
    }
    FAB_TRY(cli_result_init(options, FAB_COMMAND_ROUTE, 1, &result, err));
    FAB_TRY(build(design, &result.fabrics[0], &graph, err));
    FAB_TRY(find_link(options, graph, &link, err));
    fab_explain_request request = {.design = design,
                                   .fabric = graph,
                                   .traffic = options->traffic != NULL ? options->traffic : "job",
                                   .engine = &design->engines[0],
                                   .seed = options->seed,
                                   .link = link};
    status = fab_explain_link(&request, &explanation, err);
    fab_blame_design(design, status, err);
    FAB_TRY(status);
    result.explanation = &explanation;
    (void)snprintf(result.traffic, sizeof result.traffic, "%s", explanation.traffic);
    FAB_TRY(cli_report(options, &result, out, err));
done:
    fab_explanation_release(&explanation);
    fab_result_release(&result);
    fab_fabric_free(graph);
    free(design);
    return status;
}
