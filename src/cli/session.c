#include "cli.h"

#include "fab/advise.h"
#include "fab/analysis.h"
#include "fab/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One piece of --job. A piece without '=' continues the value before it: "servers=0-15,20". */
static size_t piece_length(const char *text) {
    size_t n = strcspn(text, ",");
    while (text[n] == ',') {
        size_t next = strcspn(text + n + 1, ",");
        if (memchr(text + n + 1, '=', next) != NULL || next == 0) {
            break;
        }
        n += 1 + next;
    }
    return n;
}

static fab_status apply_job_text(fab_design *design, const char *text, fab_error *err) {
    fab_status status = FAB_OK;
    char *piece = NULL;
    for (const char *at = text; *at != '\0';) {
        size_t n = piece_length(at);
        free(piece);
        piece = NULL;
        FAB_TRY(FAB_NEW(piece, n + 1, err));
        memcpy(piece, at, n);
        char *value = strchr(piece, '=');
        if (value == NULL || value == piece) {
            FAB_FAIL(err, FAB_EUSAGE, NULL, "option --job: '%.60s' is not key=value", piece);
        }
        *value++ = '\0';
        FAB_TRY(fab_design_set_job(design, 0, piece, value, "--job", err));
        at += n + (at[n] == ',' ? 1 : 0);
    }
done:
    free(piece);
    return status;
}

static fab_status set_engines(const cli_options *options, fab_design *design, fab_error *err) {
    for (size_t i = 0; i < options->engines.n; i++) {
        fab_engine_spec *engine = &design->engines[i];
        const char *text = options->engines.items[i];
        if (strlen(text) >= sizeof engine->text) {
            return fab_fail(err, FAB_EINPUT, "--engine", "'%.40s...' is longer than %zu characters", text,
                            sizeof engine->text - 1);
        }
        (void)snprintf(engine->text, sizeof engine->text, "%s", text);
        (void)snprintf(engine->where, sizeof engine->where, "--engine");
    }
    design->n_engines = options->engines.n > 0 ? options->engines.n : design->n_engines;
    if (design->n_engines == 0) {
        design->n_engines = 1;
        design->engines[0] = (fab_engine_spec){.text = "ecmp", .where = "default engine"};
    }
    return FAB_OK;
}

fab_status cli_read_design(const cli_options *options, const char *text, fab_design *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(fab_design_read(text, options->overrides.items, options->overrides.n, out, err));
    for (size_t i = 0; i < options->jobs.n; i++) {
        FAB_TRY(apply_job_text(out, options->jobs.items[i], err));
    }
    FAB_TRY(set_engines(options, out, err));
    if (options->prices != NULL) {
        if (strlen(options->prices) >= sizeof out->prices) {
            FAB_FAIL(err, FAB_EINPUT, "--prices", "'%.40s...' is longer than %zu characters", options->prices,
                     sizeof out->prices - 1);
        }
        (void)snprintf(out->prices, sizeof out->prices, "%s", options->prices);
        (void)snprintf(out->prices_where, sizeof out->prices_where, "--prices %s", options->prices);
    } else if (out->prices[0] == '\0') {
        (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    }
done:
    return status;
}

/* What all NICs together can send into the network. */
static double injection_bps(const fab_fabric *fabric) {
    double sum = 0;
    for (uint32_t cable = 0; cable < fabric->n_cables; cable++) {
        const fab_link_class *link_class = &fabric->classes[fabric->cable_class[cable]];
        if (link_class->kind == FAB_LINK_ACCESS) {
            sum += link_class->capacity_bps;
        }
    }
    return sum;
}

/* "design.xml:14:9", "--set", "pattern:ring" and the like say where a value was typed; "leaf 7" does not. */
static bool says_where_typed(const char *where) {
    const char *colon = strrchr(where, ':');
    return strncmp(where, "--", 2) == 0 || strncmp(where, "pattern:", 8) == 0 || strncmp(where, "job:", 4) == 0 ||
           (colon != NULL && colon[1] != '\0' && strspn(colon + 1, "0123456789") == strlen(colon + 1));
}

void cli_blame(const fab_design *design, fab_status status, fab_error *err) {
    bool wrong_design =
        status == FAB_EINPUT || status == FAB_EUNSUPPORTED || status == FAB_EUNREACHABLE || status == FAB_ENOSOLUTION;
    if (wrong_design && err != NULL && !says_where_typed(err->where)) {
        char part[sizeof err->where];
        (void)snprintf(part, sizeof part, "%s", err->where);
        (void)snprintf(err->where, sizeof err->where, "%.120s%s%.60s", design->fabric.where,
                       part[0] != '\0' ? ": " : "", part);
    }
}

/* Builds out->spec, and fills counts, cost and bisection. */
static fab_status measure_network(const fab_prices *prices, fab_fabric_result *out, fab_fabric **out_graph,
                                  fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric *graph = NULL;
    FAB_TRY(fab_topology_build(&out->spec, &graph, &out->counts, err));
    FAB_TRY(fab_cost_of(&out->spec, &out->counts, prices, &out->cost, err));
    FAB_TRY(fab_bisection(graph, &out->bisection_bps, err));
    fab_cost_set_bisection(&out->cost, out->bisection_bps);
    /* a middle server belongs to neither half */
    uint64_t half = out->counts.servers / 2;
    double half_bps = injection_bps(graph) * (double)half / (double)out->counts.servers;
    out->bisection_ratio = half_bps > 0 ? out->bisection_bps / half_bps : 0;
    out->scaleup_bisection_bps = fab_scaleup_bisection(&out->spec, &out->counts);
    (void)snprintf(out->family, sizeof out->family, "%s", out->spec.family);
    *out_graph = graph;
    graph = NULL;
done:
    fab_fabric_free(graph);
    return status;
}

static fab_status measure_front_end(const fab_design *design, const fab_prices *prices, fab_fabric_result *out,
                                    fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric *graph = NULL;
    FAB_TRY(FAB_NEW(out->front_end, 1, err));
    fab_design_front_end(design, out->counts.servers, &out->front_end->spec);
    (void)snprintf(out->front_end->name, sizeof out->front_end->name, "front-end");
    status = measure_network(prices, out->front_end, &graph, err);
    if (status == FAB_EINPUT && err != NULL && !says_where_typed(err->where)) {
        (void)snprintf(err->where, sizeof err->where, "%s", design->front_end.where);
    }
done:
    fab_fabric_free(graph);
    return status;
}

void cli_name_fabric(const fab_design *design, fab_fabric_result *out) {
    bool is_named = strcmp(design->name, design->fabric.family) != 0; /* a one-line form is its own best name */
    (void)snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1,
                   is_named ? design->name : design->origin);
    (void)snprintf(out->source, sizeof out->source, "%s", design->source);
    fab_design_digest(design, out->digest);
}

fab_status cli_measure_fabric(const fab_design *design, fab_fabric_result *out, fab_fabric **out_graph,
                              fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric *graph = NULL;
    fab_prices prices = {0};
    status = fab_prices_read(design->prices, &prices, err); /* before the graph: cheaper errors first */
    if (status == FAB_EINPUT && err != NULL && err->where[0] == '\0') {
        (void)snprintf(err->where, sizeof err->where, "%s", design->prices_where);
    }
    FAB_TRY(status);
    if (design->convention[0] != '\0') {
        FAB_TRY(fab_prices_set_convention(&prices, design->convention, err));
    }
    out->spec = design->fabric;
    FAB_TRY(measure_network(&prices, out, &graph, err));
    if (design->has_front_end) {
        FAB_TRY(measure_front_end(design, &prices, out, err));
    }
    cli_name_fabric(design, out);
    *out_graph = graph;
    graph = NULL;
done:
    cli_blame(design, status, err);
    fab_fabric_free(graph);
    return status;
}

fab_status cli_result_init(const cli_options *options, fab_command command, size_t n_fabrics, fab_result *out,
                           fab_error *err) {
    fab_fabric_result *fabrics = NULL;
    fab_status status = FAB_NEW(fabrics, n_fabrics, err);
    if (status == FAB_OK) {
        *out = (fab_result){.command = command,
                            .version = FAB_VERSION,
                            .seed = options->seed,
                            .n_seeds = options->n_seeds,
                            .fabrics = fabrics,
                            .n_fabrics = n_fabrics};
    }
    return status;
}

fab_status cli_replay_and_report(const cli_options *options, fab_command command, const char *traffic,
                                 const fab_bound *known_bound, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design design;
    fab_fabric *graph = NULL;
    fab_result result = {0};
    fab_advice *advice = NULL;
    cli_further further = {0};
    cli_progress progress = {0};
    bool shows_progress = cli_progress_wanted(options);
    FAB_TRY(cli_check_out(options, err));
    FAB_TRY(cli_read_design(options, options->operands.items[0], &design, err));
    FAB_TRY(cli_result_init(options, command, 1, &result, err));
    FAB_TRY(cli_measure_fabric(&design, &result.fabrics[0], &graph, err));
    result.graph = graph;
    fab_replay replay = {.design = &design,
                         .fabric = graph,
                         .traffic = traffic,
                         .engines = design.engines,
                         .n_engines = design.n_engines,
                         .seed = options->seed,
                         .n_seeds = options->n_seeds,
                         .n_threads = (size_t)options->n_threads,
                         .bound = options->bound,
                         .rates = true,
                         .known_bound = known_bound,
                         .keep_loads = options->out != NULL ||
                                       (options->format != NULL && strcmp(options->format, "graphml") == 0),
                         .progress = shows_progress ? cli_progress_step : NULL,
                         .progress_context = &progress};
    FAB_TRY(cli_check_further(options, &design, err));
    FAB_TRY(cli_advise_begin(options, &replay, err));
    cli_progress_start(&progress);
    status = fab_replay_run(&replay, &result, err);
    if (status == FAB_OK) {
        status = cli_advise(options, &replay, &result, &advice, err);
    }
    if (status == FAB_OK) {
        status = cli_look_further(options, &replay, &result, &further, err);
    }
    if (shows_progress) {
        cli_progress_end();
    }
    cli_blame(&design, status, err);
    FAB_TRY(status);
    FAB_TRY(cli_report(options, &result, out, err));
done:
    fab_result_release(&result);
    fab_advice_free(advice);
    cli_further_release(&further);
    fab_fabric_free(graph);
    return status;
}

fab_status cli_report(const cli_options *options, const fab_result *result, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_report_format *format = fab_report_format_find(options->format != NULL ? options->format : "text");
    fab_report_style style = cli_style(options);
    if (format == NULL) {
        FAB_FAIL(err, FAB_EINTERNAL, NULL, "no report format '%s'", options->format != NULL ? options->format : "text");
    }
    FAB_TRY(format->write(result, &style, out, err));
    if (options->out != NULL) {
        cli_hold_signals();
        status = fab_reports_write_all(result, options->out, options->force, err);
        cli_release_signals();
    }
done:
    return status;
}

fab_status cli_check_out(const cli_options *options, fab_error *err) {
    struct stat about;
    if (options->out == NULL || stat(options->out, &about) != 0) {
        return FAB_OK; /* a folder that is not there is made when the report is written */
    }
    if (!S_ISDIR(about.st_mode)) {
        return fab_fail(err, FAB_EIO, options->out, "is not a folder");
    }
    if (access(options->out, W_OK | X_OK) != 0) {
        return fab_fail(err, FAB_EIO, options->out, "cannot write into the folder: %s", strerror(errno));
    }
    for (size_t i = 0; !options->force && fab_report_formats[i] != NULL; i++) {
        char path[4096];
        const char *name = fab_report_formats[i]->file_name;
        if (name == NULL) {
            continue;
        }
        int n = snprintf(path, sizeof path, "%s/%s", options->out, name);
        if (n > 0 && (size_t)n < sizeof path && stat(path, &about) == 0) {
            return fab_fail(err, FAB_EIO, path, "exists already; give --force to overwrite it");
        }
    }
    return FAB_OK;
}
