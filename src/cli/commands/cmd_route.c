#include "cli.h"

#include "fab/explanation.h"
#include "fab/fabric_parse.h"
#include "fab/tables.h"

static bool to_stdout(const cli_options *options) {
    return strcmp(options->dump, "-") == 0;
}

/* Before anything is computed: a name that is taken. */
static fab_status check_dump(const cli_options *options, fab_error *err) {
    if (!to_stdout(options)) {
        return cli_check_new_file(options, options->dump, err);
    }
    CLI_REFUSE_IF(options->format != NULL || options->out != NULL || options->exports.n > 0 || options->advise.on ||
                      (options->bound && options->certificate == NULL),
                  err,
                  "option --dump -: the tables take the place of the report; --format, --json, --out, --export, "
                  "--advise and --bound need it");
    return FAB_OK;
}

typedef struct tables {
    const fab_router *router;
    const fab_phase *phase; /* NULL: the tables are the same for all */
    const fab_bound *known; /* of the phase; may be NULL */
    bool as_lft;
} tables;

static fab_status write_tables(const void *context, FILE *out, fab_error *err) {
    const tables *t = context;
    return t->as_lft ? fab_tables_write_lft(t->router, out, err)
                     : fab_tables_write_phase(t->router, t->phase, t->known, out, err);
}

static fab_status save_tables(const cli_options *options, const tables *t, FILE *out, fab_error *err) {
    if (to_stdout(options)) {
        return write_tables(t, out, err);
    }
    FAB_PASS(fab_save_file(options->dump, options->force, write_tables, t, err));
    cli_tell(options, "tables of %s written to %s", fab_router_facts_of(t->router)->label, options->dump);
    return FAB_OK;
}

/* The phase that shares hold for, where an engine fits them to the demand. Where the engine looks for the bound that is
 * asked for anyhow, it is found once. */
static fab_status find_phase(cli_session *s, tables *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    if (!fab_router_facts_of(out->router)->splits || !fab_router_facts_of(out->router)->is_by_demand) {
        return FAB_OK;
    }
    FAB_PASS(fab_context_traffic(s->context, &traffic, err));
    CLI_REFUSE_IF(traffic->n_phases != 1, err,
                  "option --dump: the tables of engine %s hold for one phase, and %s has %zu; name one with --traffic",
                  fab_router_facts_of(out->router)->engine, s->traffic, traffic->n_phases);
    out->phase = &traffic->phases[0];
    return s->options->bound ? fab_context_bound(s->context, 0, &out->known, err) : FAB_OK;
}

static fab_status dump(cli_session *s, FILE *out, fab_error *err) {
    tables t = {.as_lft = s->options->dump_format == CLI_DUMP_LFT};
    CLI_REFUSE_IF(s->design->n_engines != 1, err,
                  "option --dump writes the tables of one engine; there are %zu: give one --engine",
                  s->design->n_engines);
    FAB_PASS(cli_session_build(s, err));
    FAB_PASS(fab_blame_design(s->design, fab_context_router(s->context, 0, &t.router, err), err));
    FAB_PASS(find_phase(s, &t, err));
    return save_tables(s->options, &t, out, err);
}

/* --- --explain: who contends for a link, and why ------------------------------------------------------------------ */

static fab_status check_explain(const cli_options *options, fab_error *err) {
    CLI_REFUSE_IF(options->dump != NULL || options->out != NULL || options->bound || options->advise.on ||
                      cli_is_given(options, &cli_option_advise_budget) || options->weak_parts.n > 0 ||
                      options->failed_parts.n > 0 || options->exports.n > 0 ||
                      (options->format != NULL && fab_report_format_find(options->format)->shows_graph),
                  err,
                  "option --explain takes the place of the report: it goes with none of --dump, --out, --export, "
                  "--bound, --advise, --degrade, --fail and formats of graphs");
    CLI_REFUSE_IF(options->n_seeds > 1, err, "option --explain shows one draw: give --seed, not --seeds");
    return FAB_OK;
}

static fab_status find_link(const cli_options *options, const fab_fabric *graph, fab_link_id *out, fab_error *err) {
    fab_error inner = {0};
    fab_status status = fab_link_parse(graph, options->explain, out, &inner);
    return status == FAB_OK ? FAB_OK : fab_fail(err, status, "--explain", "%s", inner.text);
}

static fab_status explain_link(cli_session *s, FILE *out, fab_error *err) {
    FAB_OWNS(fab_explanation_release) fab_explanation explanation = {0};
    fab_link_id link = FAB_NONE;
    CLI_REFUSE_IF(s->design->n_engines != 1, err,
                  "option --explain is about one engine; there are %zu: give one --engine", s->design->n_engines);
    FAB_PASS(cli_session_build(s, err));
    FAB_PASS(fab_fabric_name(s->design, &s->result.fabrics[0], err));
    FAB_PASS(find_link(s->options, s->graph, &link, err));
    FAB_PASS(fab_blame_design(s->design, fab_explain_link(s->context, 0, link, &explanation, err), err));
    s->result.explanation = &explanation;
    FAB_FORMAT(s->result.traffic, "%s", explanation.traffic);
    return cli_report(s->options, &s->result, out, err);
}

static fab_status route_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(cli_session_release) cli_session session = {.options = NULL};
    bool more = options->advise.on || options->certificate != NULL || options->dump != NULL || options->explain != NULL;
    FAB_REFUSE_IF(
        cli_is_front_end(options->traffic) && more, err, FAB_EUNSUPPORTED, NULL,
        "traffic of the front-end: --advise, --certificate, --dump and --explain know the first network only");
    FAB_PASS(options->explain != NULL ? check_explain(options, err) : FAB_OK);
    CLI_REFUSE_IF(options->weak_parts.n > 0 && options->dump != NULL && to_stdout(options), err,
                  "option --degrade: --dump - takes the place of the report that compares");
    CLI_REFUSE_IF(options->failed_parts.n > 0 && options->dump != NULL && to_stdout(options), err,
                  "option --fail: --dump - takes the place of the report");
    CLI_REFUSE_IF(options->dump == NULL && options->dump_format == CLI_DUMP_LFT, err,
                  "option --dump-format: there is no --dump FILE");
    FAB_PASS(options->dump != NULL ? check_dump(options, err) : FAB_OK);
    FAB_PASS(cli_check_new_file(options, options->certificate, err));
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_exports(options, err));
    FAB_PASS(cli_session_open(options, FAB_COMMAND_ROUTE, options->traffic != NULL ? options->traffic : "job", &session,
                              err));
    if (options->explain != NULL) {
        FAB_PASS(explain_link(&session, out, err));
        return FAB_OK;
    }
    FAB_PASS(options->dump != NULL ? dump(&session, out, err) : FAB_OK);
    if (options->dump == NULL || !to_stdout(options)) {
        FAB_PASS(cli_session_report(&session, out, err));
    } else if (options->certificate != NULL) {
        FAB_PASS(fab_fabric_measure(session.design, &session.result.fabrics[0], &session.graph, err));
        FAB_PASS(cli_certify(&session, err));
    }
    return FAB_OK;
}

static const cli_option OPTION_DUMP = {"dump", "FILE",
                                       "also write the forwarding tables of the engine, which --engine file,path=FILE "
                                       "and ecmp,tables=FILE read; - is stdout",
                                       CLI_TEXT(dump), .names = "file"};

static const char *const DUMP_FORMATS[] = {"tables", "lft", NULL}; /* of cli_dump_format */

static const cli_option OPTION_DUMP_FORMAT = {
    "dump-format", "NAME",
    "of --dump: tables (default), or lft, the dump of InfiniBand's opensm, which 'opensm -R file -U FILE' loads",
    CLI_CHOICE(dump_format, DUMP_FORMATS)};

static const cli_option OPTION_EXPLAIN = {
    "explain", "LINK",
    "instead of the report, whose flows contend for a link and why: 'leaf-5:17', 'leaf-5 > spine-8' or a number",
    CLI_TEXT(explain)};

static const cli_option OPTION_BOUND = {
    "bound", NULL,
    "also find how low the largest utilisation can be under any routing, and compare every engine with it",
    CLI_FLAG(bound)};

const cli_command cli_command_route = {
    .name = "route",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "one phase, pattern or matrix under one or more engines",
    .details = "Routes traffic over the fabric and reports the loads of the links, which of them collide, and the "
               "flows that contend for the worst ones. To judge the tables of a subnet manager, give --engine "
               "file,path=FILE the dump of "
               "opensm (-D 0x43: opensm-lfts.dump) or of dump_fts. Its nodes are named as by 'fabriscope build DESIGN "
               "--format ibnet', which ibsim simulates; a map of node names gives those of a real subnet.",
    CLI_EXAMPLES("fabriscope route fat-tree:k=8 --traffic pattern:shift,by=4 --engine ecmp --engine dmodk",
                 "fabriscope route preset:llama3-24k-roce --traffic job:dp-rs --engine ecmp,qp=1 --engine ecmp,qp=16",
                 "fabriscope route fat-tree:k=16 --traffic pattern:permutation --engine ecmp,qp=16,hash=crc32/crc16",
                 "fabriscope route clos:gpus=512,radix=32 --traffic pattern:bisection --seeds 100 --json",
                 "fabriscope route fat-tree:k=8 --traffic pattern:permutation --engine ecmp --engine adaptive --bound",
                 "fabriscope route preset:llama3-talk-racks --engine pinned --dump -",
                 "fabriscope route fat-tree:k=8 --engine dmodk --dump lfts --dump-format lft",
                 "fabriscope route preset:llama3-talk-racks --traffic job:dp-rs --engine pinned --explain leaf-0:17",
                 "fabriscope route preset:llama3-talk-racks --job servers=0,1,2,4 --advise",
                 ("fabriscope route preset:llama3-talk-racks --engine pinned --fail server-3 "
                  "--policy first-spare,collision-aware")),
    CLI_OPTIONS(&cli_option_traffic, &cli_option_transport, &OPTION_BOUND, &cli_option_certificate, &OPTION_DUMP,
                &OPTION_DUMP_FORMAT, &OPTION_EXPLAIN, &cli_option_degrade, &cli_option_fail, &cli_option_policies,
                &cli_option_advise, &cli_option_advise_budget, &cli_option_set, &cli_option_job, CLI_REPLAY_OPTIONS,
                CLI_GRAPH_OPTIONS, CLI_REPORT_OPTIONS),
    .run = route_run,
};
