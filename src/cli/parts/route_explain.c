/* route --explain: who contends for a link, and why. */
#include "cli.h"

#include "fab/explanation.h"
#include "fab/fabric_parse.h"

fab_status cli_check_explain(const cli_options *options, fab_error *err) {
    FAB_REFUSE_IF(options->dump != NULL || options->out != NULL || options->bound || options->advise.on ||
                      options->advise.has_budget || options->weak_parts.n > 0 || options->failed_parts.n > 0 ||
                      options->exports.n > 0 ||
                      (options->format != NULL && fab_report_format_find(options->format)->shows_graph),
                  err, FAB_EUSAGE, NULL,
                  "option --explain takes the place of the report: it goes with none of --dump, --out, --export, "
                  "--bound, --advise, --degrade, --fail and formats of graphs");
    FAB_REFUSE_IF(options->n_seeds > 1, err, FAB_EUSAGE, NULL,
                  "option --explain shows one draw: give --seed, not --seeds");
    return FAB_OK;
}

static fab_status find_link(const cli_options *options, const fab_fabric *graph, fab_link_id *out, fab_error *err) {
    fab_error inner = {0};
    fab_status status = fab_link_parse(graph, options->explain, out, &inner);
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, "--explain", "%s", inner.text);
}

fab_status cli_explain(cli_session *s, FILE *out, fab_error *err) {
    FAB_OWNS(fab_explanation_release) fab_explanation explanation = {0};
    fab_link_id link = FAB_NONE;
    FAB_REFUSE_IF(s->design->n_engines != 1, err, FAB_EUSAGE, NULL,
                  "option --explain is about one engine; there are %zu: give one --engine", s->design->n_engines);
    FAB_PASS(cli_session_build(s, err));
    FAB_PASS(fab_fabric_name(s->design, &s->result.fabrics[0], err));
    FAB_PASS(find_link(s->options, s->graph, &link, err));
    FAB_PASS(fab_blame_design(s->design, fab_explain_link(s->context, 0, link, &explanation, err), err));
    s->result.explanation = &explanation;
    (void)snprintf(s->result.traffic, sizeof s->result.traffic, "%s", explanation.traffic);
    return cli_report(s->options, &s->result, out, err);
}
