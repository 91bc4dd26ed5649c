#include "cli.h"

#include "fab/design.h"
#include "fab/tables.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include <stdlib.h>
#include <string.h>

static bool to_stdout(const cli_options *options) {
    return strcmp(options->dump, "-") == 0;
}

/* Before anything is computed: a name that is taken. */
static fab_status check_dump(const cli_options *options, fab_error *err) {
    if (!to_stdout(options)) {
        return cli_check_new_file(options, options->dump, err);
    }
    if (options->format != NULL || options->out != NULL || options->exports.n > 0 || options->advise.on ||
        (options->bound && options->certificate == NULL)) {
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "option --dump -: the tables take the place of the report; "
                        "--format, --json, --out, --export, --advise and --bound need it");
    }
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
    fab_status status = cli_save_file(options, options->dump, write_tables, t, err);
    if (status == FAB_OK && !options->quiet) {
        (void)fprintf(stderr, "fabriscope: tables of %s written to %s\n", fab_router_label(t->router), options->dump);
    }
    return status;
}

static const char *traffic_of(const cli_options *options) {
    return options->traffic != NULL ? options->traffic : "job";
}

/* The phase that shares hold for, where an engine fits them to the demand. */
static fab_status find_phase(const cli_options *options, const fab_design *design, const fab_router *router,
                             fab_traffic *traffic, tables *out, fab_error *err) {
    *out = (tables){.router = router};
    if (!fab_router_splits(router) || !fab_router_is_by_demand(router)) {
        return FAB_OK;
    }
    fab_status status =
        fab_traffic_make(traffic_of(options), design, fab_router_fabric(router), options->seed, traffic, err);
    if (status == FAB_OK && traffic->n_phases != 1) {
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "option --dump: the tables of engine %s hold for one phase, and %s has %zu; name one with "
                        "--traffic",
                        fab_router_engine(router), traffic_of(options), traffic->n_phases);
    }
    out->phase = status == FAB_OK ? &traffic->phases[0] : NULL;
    return status;
}

/* Where the engine looks for the bound that is asked for anyhow, it is found once. */
static fab_status dump(const cli_options *options, cli_proof *proof, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design *design = NULL;
    fab_fabric *graph = NULL;
    fab_next_hops *next_hops = NULL;
    fab_router *router = NULL;
    fab_traffic traffic = {0};
    tables t = {0};
    FAB_TRY(cli_open_design(options, options->operands.items[0], &design, err));
    if (design->n_engines != 1) {
        FAB_FAIL(err, FAB_EUSAGE, NULL,
                 "option --dump writes the tables of one engine; there are %zu: give one --engine", design->n_engines);
    }
    status = fab_topology_build(&design->fabric, &graph, NULL, err);
    if (status == FAB_OK) {
        status = fab_next_hops_new(graph, NULL, &next_hops, err);
    }
    if (status == FAB_OK) {
        status = fab_router_new(&design->engines[0], graph, next_hops, &router, err);
    }
    fab_blame_design(design, status, err);
    FAB_TRY(status);
    FAB_TRY(find_phase(options, design, router, &traffic, &t, err));
    if (t.phase != NULL && options->bound) {
        FAB_TRY(cli_prove(options, traffic_of(options), proof, err));
        t.known = cli_proof_bound(proof);
    }
    t.as_lft = options->dump_as_lft;
    FAB_TRY(save_tables(options, &t, out, err));
done:
    fab_traffic_release(&traffic);
    fab_router_free(router);
    fab_next_hops_free(next_hops);
    fab_fabric_free(graph);
    free(design);
    return status;
}

static fab_status run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    cli_proof proof = {0};
    bool more = options->advise.on || options->certificate != NULL || options->dump != NULL || options->explain != NULL;
    if (cli_is_front_end(options->traffic) && more) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL,
                 "traffic of the front-end: --advise, --certificate, --dump and --explain know the first network only");
    }
    if (options->explain != NULL) {
        FAB_TRY(cli_check_explain(options, err));
        return cli_explain(options, out, err);
    }
    if (options->weak_parts.n > 0 && options->dump != NULL && to_stdout(options)) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "option --degrade: --dump - takes the place of the report that compares");
    }
    if (options->failed_parts.n > 0 && options->dump != NULL && to_stdout(options)) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "option --fail: --dump - takes the place of the report");
    }
    if (options->dump == NULL && options->dump_as_lft) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "option --dump-format: there is no --dump FILE");
    }
    if (options->dump != NULL) {
        FAB_TRY(check_dump(options, err));
    }
    if (options->certificate != NULL) {
        FAB_TRY(cli_check_certificate(options, err));
        FAB_TRY(cli_prove(options, traffic_of(options), &proof, err));
    }
    if (options->dump != NULL) {
        FAB_TRY(dump(options, &proof, out, err));
    }
    if (options->certificate != NULL) {
        FAB_TRY(cli_certify(options, &proof, err));
    }
    if (options->dump == NULL || !to_stdout(options)) {
        FAB_TRY(
            cli_replay_and_report(options, FAB_COMMAND_ROUTE, traffic_of(options), cli_proof_bound(&proof), out, err));
    }
done:
    cli_proof_release(&proof);
    return status;
}

static const cli_option OPTION_DUMP = {"dump", "FILE",
                                       "also write the forwarding tables of the engine, which --engine file,path=FILE "
                                       "and ecmp,tables=FILE read; - is stdout",
                                       .text = offsetof(cli_options, dump), .names = "file"};

static fab_status apply_dump_format(cli_options *options, const char *value, fab_error *err) {
    if (strcmp(value, "tables") != 0 && strcmp(value, "lft") != 0) {
        return fab_fail(err, FAB_EUSAGE, NULL, "option --dump-format: '%.40s' is neither tables nor lft", value);
    }
    options->dump_as_lft = value[0] == 'l';
    return FAB_OK;
}

static const cli_option OPTION_DUMP_FORMAT = {
    "dump-format", "NAME",
    "of --dump: tables (default), or lft, the dump of InfiniBand's opensm, which 'opensm -R file -U FILE' loads",
    .apply = apply_dump_format};

static const cli_option OPTION_EXPLAIN = {
    "explain", "LINK",
    "instead of the report, who meets on a link and why: 'leaf-5:17', 'leaf-5 > spine-8' or a number",
    .text = offsetof(cli_options, explain)};

static const cli_option OPTION_BOUND = {
    "bound", NULL,
    "also find how low the largest utilisation can be under any routing, and compare every engine with it",
    .flag = offsetof(cli_options, bound)};

static const char *const EXAMPLES[] = {
    "fabriscope route fat-tree:k=8 --traffic pattern:shift,by=4 --engine ecmp --engine dmodk",
    "fabriscope route preset:llama3-24k-roce --traffic job:dp-rs --engine ecmp,qp=1 --engine ecmp,qp=16",
    "fabriscope route fat-tree:k=16 --traffic pattern:permutation --engine ecmp,qp=16,hash=crc32/crc16",
    "fabriscope route clos:gpus=512,radix=32 --traffic pattern:bisection --seeds 100 --json",
    "fabriscope route fat-tree:k=8 --traffic pattern:permutation --engine ecmp --engine adaptive --bound",
    "fabriscope route preset:llama3-talk-racks --engine pinned --dump -",
    "fabriscope route fat-tree:k=8 --engine dmodk --dump lfts --dump-format lft",
    "fabriscope route preset:llama3-talk-racks --traffic job:dp --engine pinned --explain leaf-0:17",
    "fabriscope route preset:llama3-talk-racks --job servers=0,1,2,4 --advise",
    "fabriscope route preset:llama3-talk-racks --engine pinned --fail server-3 --policy first-spare,collision-aware",
    NULL};

static const cli_option *const OPTIONS[] = {
    &cli_option_traffic, &cli_option_engine,   &OPTION_BOUND,       &cli_option_certificate,
    &OPTION_DUMP,        &OPTION_DUMP_FORMAT,  &OPTION_EXPLAIN,     &cli_option_degrade,
    &cli_option_fail,    &cli_option_policies, &cli_option_advise,  &cli_option_advise_budget,
    &cli_option_seeds,   &cli_option_seed,     &cli_option_set,     &cli_option_job,
    &cli_option_prices,  &cli_option_out,      &cli_option_export,  &cli_option_view,
    &cli_option_force,   &cli_option_format,   &cli_option_table,   &cli_option_json,
    &cli_option_color,   &cli_option_quiet,    &cli_option_threads, NULL};

const cli_command cli_command_route = {
    .name = "route",
    .operands = "DESIGN",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "one phase, pattern or matrix under one or more engines",
    .details = "Routes traffic over the fabric and reports the loads of the links, which of them collide, and the "
               "flows that meet on the worst ones. To judge the tables of a subnet manager, give --engine "
               "file,path=FILE the dump of "
               "opensm (-D 0x43: opensm-lfts.dump) or of dump_fts. Its nodes are named as by 'fabriscope build DESIGN "
               "--format ibnet', which ibsim simulates; a map of node names gives those of a real subnet.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .tells_usage = true,
    .run = run,
};
