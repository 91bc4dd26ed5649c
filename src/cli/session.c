#include "cli.h"
#include "fab/advise.h"
#include "fab/prices.h"

#include "fab/best_run.h"
#include "fab/memory.h"
#include "fab/replay_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

fab_status cli_set_job(fab_design *design, const char *text, const char *option, fab_error *err) {
    FAB_OWNED char *piece = NULL;
    for (const char *at = text; *at != '\0';) {
        size_t n = piece_length(at);
        free(piece);
        piece = NULL;
        FAB_PASS(FAB_NEW(piece, n + 1, err));
        memcpy(piece, at, n);
        char *value = strchr(piece, '=');
        FAB_REFUSE_IF(value == NULL || value == piece, err, FAB_EUSAGE, NULL,
                      "option %s: '%.60s' is not key=value (such as model=llama3-70b,tp=8)", option, piece);
        *value++ = '\0';
        FAB_PASS(fab_design_set_job(design, 0, piece, value, option, err));
        at += n + (at[n] == ',' ? 1 : 0);
    }
    return FAB_OK;
}

static const char *const TRANSPORTS[] = {"fluid", "pfc", "dcqcn", "spray-ack"};
enum { ANY = 15, PACKETS = 14, LOSSLESS = 6, MARKED = 4, SPRAYED = 8 }; /* sets of them */

/* The last one where it has another name: the design's reader says so. */
static size_t transport_of(const char *text) {
    size_t kind = 0;
    while (kind < sizeof TRANSPORTS / sizeof *TRANSPORTS - 1 && text != NULL &&
           (strcspn(text, ",") != strlen(TRANSPORTS[kind]) ||
            strncmp(text, TRANSPORTS[kind], strlen(TRANSPORTS[kind])) != 0)) {
        kind++;
    }
    return kind;
}

/* --transport pfc,xoff=60kB as the overrides fabric.transport=pfc and fabric.xoff=60kB, before those of --set. `room`
 * holds them. */
static fab_status list_overrides(const cli_options *options, fab_str *room, const char ***out, size_t *out_n,
                                 fab_error *err) {
    static const struct {
        const char *name;
        unsigned of; /* bits, by place in TRANSPORTS */
    } KEYS[] = {{"nic-latency", ANY},       {"host", ANY},
                {"call-overhead", ANY},     {"step-overhead", ANY},
                {"message-overhead", ANY},  {"slot", ANY},
                {"nic-efficiency", ANY},    {"copy-rate", ANY},
                {"mtu", PACKETS},           {"header", PACKETS},
                {"ack", PACKETS},           {"wire", PACKETS},
                {"buffer", LOSSLESS},       {"buffer-alpha", LOSSLESS},
                {"priority", LOSSLESS},     {"priorities", LOSSLESS},
                {"xoff", LOSSLESS},         {"xon", LOSSLESS},
                {"kmin", MARKED},           {"kmax", MARKED},
                {"pmax", MARKED},           {"cnp-interval", MARKED},
                {"alpha-gain", MARKED},     {"alpha-timer", MARKED},
                {"rate-timer", MARKED},     {"rate-bytes", MARKED},
                {"recovery-steps", MARKED}, {"rate-ai", MARKED},
                {"rate-hai", MARKED},       {"rate-min", MARKED},
                {"entropies", SPRAYED},     {"balancing", SPRAYED},
                {"queue", SPRAYED}};
    const char *text = options->transport;
    const size_t kind = transport_of(text);
    size_t n = 0;
    for (const char *at = text; at != NULL && (*at != '\0' || n == 0); n++) {
        size_t length = strcspn(at, ",");
        size_t key = strcspn(at, "=,");
        bool known = n == 0 && key == length && length > 0;
        for (size_t i = 0; n > 0 && i < sizeof KEYS / sizeof *KEYS; i++) {
            bool is_it = strlen(KEYS[i].name) == key && strncmp(at, KEYS[i].name, key) == 0 && key < length;
            FAB_REFUSE_IF(is_it && (KEYS[i].of & 1U << kind) == 0, err, FAB_EUSAGE, NULL,
                          "option --transport: %s has no %s; %s has", TRANSPORTS[kind], KEYS[i].name,
                          TRANSPORTS[KEYS[i].of == SPRAYED  ? 3
                                     : KEYS[i].of == MARKED ? 2
                                                            : 1]);
            known = known || is_it;
        }
        FAB_REFUSE_IF(!known, err, FAB_EUSAGE, NULL, "option --transport: '%.*s' is not %s", (int)length, at,
                      n == 0 ? "a name: fluid, pfc, dcqcn or spray-ack"
                             : "a key of transports and a value, such as mtu=4096 or xoff=60kB: list fields");
        fab_str_printf(room, "fabric.%s%.*s%c", n == 0 ? "transport=" : "", (int)length, at, '\0');
        at += length + (at[length] == ',');
    }
    FAB_PASS(fab_str_status(room, err));
    FAB_PASS(FAB_NEW(*out, n + options->overrides.n + 1, err));
    const char *at = room->data;
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1) {
        (*out)[i] = at;
    }
    for (size_t i = 0; i < options->overrides.n; i++) {
        (*out)[n + i] = options->overrides.items[i];
    }
    *out_n = n + options->overrides.n;
    return FAB_OK;
}

void cli_name_option(const char *option, size_t skip, const char *const *overrides, size_t n, fab_error *err) {
    static const char SET[] = "--set ";
    size_t length = sizeof SET - 1;
    for (size_t i = 0; err != NULL && strncmp(err->where, SET, length) == 0 && i < n; i++) {
        if (strcmp(err->where + length, overrides[i]) == 0) {
            (void)snprintf(err->where, sizeof err->where, "%s %.160s", option, overrides[i] + skip);
        }
    }
}

static fab_status read_with_overrides(const cli_options *options, const char *text, fab_design *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str room = FAB_STR_INIT;
    FAB_OWNED const char **overrides = NULL;
    size_t n = 0;
    FAB_PASS(list_overrides(options, &room, &overrides, &n, err));
    fab_status status = fab_design_read_within(text, overrides, n, options->max_memory, out, err);
    cli_name_option("--transport", strlen("fabric."), overrides, n - options->overrides.n, err);
    return status;
}

static fab_status set_engines(const cli_options *options, fab_design *design, fab_error *err) {
    for (size_t i = 0; i < options->engines.n; i++) {
        fab_engine_spec *engine = &design->engines[i];
        const char *text = options->engines.items[i];
        FAB_REFUSE_IF(strlen(text) >= sizeof engine->text, err, FAB_EINPUT, "--engine",
                      "'%.40s...' is longer than %zu characters", text, sizeof engine->text - 1);
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
    FAB_PASS(read_with_overrides(options, text, out, err));
    for (size_t i = 0; i < options->jobs.n; i++) {
        FAB_PASS(cli_set_job(out, options->jobs.items[i], "--job", err));
    }
    FAB_PASS(set_engines(options, out, err));
    if (options->prices != NULL) {
        FAB_REFUSE_IF(strlen(options->prices) >= sizeof out->prices, err, FAB_EINPUT, "--prices",
                      "'%.40s...' is longer than %zu characters", options->prices, sizeof out->prices - 1);
        (void)snprintf(out->prices, sizeof out->prices, "%s", options->prices);
        (void)snprintf(out->prices_where, sizeof out->prices_where, "--prices %s", options->prices);
    } else if (out->prices[0] == '\0') {
        (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    }
    return FAB_OK;
}

fab_status cli_open_design(const cli_options *options, const char *text, fab_design **out, fab_error *err) {
    FAB_OWNED fab_design *design = NULL;
    FAB_PASS(FAB_NEW(design, 1, err));
    FAB_PASS(cli_read_design(options, text, design, err));
    return FAB_GIVE(*out, design);
}

fab_status cli_result_init(const cli_options *options, fab_command command, size_t n_fabrics, fab_result *out,
                           fab_error *err) {
    fab_fabric_result *fabrics = NULL;
    FAB_PASS(FAB_NEW(fabrics, n_fabrics, err));
    *out = (fab_result){.command = command,
                        .version = FAB_VERSION,
                        .seed = options->seed,
                        .n_seeds = options->n_seeds,
                        .fabrics = fabrics,
                        .n_fabrics = n_fabrics};
    return FAB_OK;
}

/* --- a session ---------------------------------------------------------------------------------------------------- */

fab_status cli_session_open(const cli_options *options, fab_command command, const char *traffic, cli_session *out,
                            fab_error *err) {
    out->options = options;
    out->traffic = traffic;
    FAB_PASS(cli_open_design(options, options->operands.items[0], &out->design, err));
    return cli_result_init(options, command, 1, &out->result, err);
}

void cli_session_release(cli_session *s) {
    cli_further_release(&s->further);
    fab_result_release(&s->result);
    fab_published_release(&s->known);
    fab_published_release(&s->published);
    fab_context_free(s->context);
    fab_context_free(s->first);
    free(s->chunked);
    free(s->settled);
    fab_fabric_free(s->hosts);
    fab_fabric_free(s->graph);
    free(s->design);
    free(s->asked);
    fab_plans_free(s->plans);
    *s = (cli_session){.options = NULL};
}

/* What the job leaves open of its plan, and what collectives leave to replays. */
static fab_status choose_open(cli_session *s, fab_error *err) {
    cli_progress progress = {0};
    const bool plans = fab_plan_is_wanted(s->design, s->traffic);
    const bool shows = plans && cli_progress_wanted(s->options);
    const fab_plan_request request = {.design = s->design,
                                      .fabric = s->graph,
                                      .seed = s->options->seed,
                                      .n_threads = (size_t)s->options->n_threads,
                                      .is_of_first = s->result.command != FAB_COMMAND_RUN, /* as the replay is */
                                      .progress = shows ? cli_progress_step : NULL,
                                      .progress_context = &progress};
    if (plans) {
        FAB_PASS(FAB_NEW(s->asked, 1, err));
        *s->asked = *s->design;
        cli_progress_start(&progress);
    }
    fab_status status = fab_choose_open(&request, s->traffic, s->design, &s->plans, &s->settled, err);
    if (plans) {
        cli_progress_end(shows);
    }
    s->result.plans = s->plans;
    s->traffic = s->settled != NULL ? s->settled : s->traffic;
    return status;
}

static fab_status open_context(cli_session *s, fab_error *err) {
    FAB_PASS(choose_open(s, err));
    FAB_PASS(cli_is_front_end(s->traffic) ? cli_front_end_open(s, err) : FAB_OK);
    fab_context_request what =
        fab_context_of(s->design, s->hosts != NULL ? s->hosts : s->graph, s->traffic, s->options->seed);
    what.gpus = s->hosts != NULL ? s->graph : NULL;
    what.n_engines = s->options->advise.on ? 1 : what.n_engines;
    return fab_context_new(&what, &s->context, err);
}

fab_status cli_session_build(cli_session *s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric_result *about = &s->result.fabrics[0];
    if (s->graph != NULL) {
        return FAB_OK;
    }
    about->spec = s->design->fabric;
    (void)snprintf(about->family, sizeof about->family, "%s", about->spec.family);
    FAB_TRY(fab_topology_build(&about->spec, &s->graph, &about->counts, err));
    FAB_TRY(open_context(s, err));
done:
    return fab_blame_design(s->design, status, err);
}

static fab_replay replay_of(const cli_session *s, cli_progress *progress) {
    const cli_options *options = s->options;
    return (fab_replay){.context = s->context,
                        .n_seeds = options->n_seeds,
                        .n_threads = (size_t)options->n_threads,
                        .bound = options->bound,
                        .rates = true,
                        .keep_flows =
                            cli_writes(options, "flows") || cli_writes(options, "simgrid") || options->out != NULL,
                        .keep_routes = cli_writes(options, "simgrid"),
                        .keep_schedule = true,
                        .keep_loads = cli_shows_loads(options),
                        .keep_seeds = cli_writes(options, "html") ? FAB_REPORT_SEEDS : 0,
                        .progress = cli_progress_wanted(options) ? cli_progress_step : NULL,
                        .progress_context = progress};
}

/* Loads that only the verdict asked for. */
static void drop_loads(fab_result *result) {
    for (size_t p = 0; p < result->n_phases; p++) {
        FAB_EACH(fab_engine_result, engine, result->phases[p].engines, result->phases[p].n_engines) {
            FAB_FREE_ALL(engine->load_bytes, engine->utilisation);
            engine->load_bytes = engine->utilisation = NULL;
        }
    }
}

/* What is said of the job from here on is said of the chunks that are chosen. */
static fab_status take_chunks(cli_session *s, fab_replay *replay, fab_error *err) {
    fab_context *context = NULL;
    FAB_PASS(fab_replay_choose_chunks(replay, &s->result, &s->chunked, &context, err));
    if (context != NULL) {
        s->first = s->context;
        s->context = context;
        replay->context = context;
    }
    return FAB_OK;
}

fab_status cli_session_choose_chunks(cli_session *s, fab_error *err) {
    fab_replay replay = replay_of(s, NULL);
    replay.progress = NULL;
    return take_chunks(s, &replay, err);
}

/* Whether the verdict may try other engines; then it needs loads beside theirs. */
static fab_status plan_trials(fab_replay *replay, fab_error *err) {
    FAB_PASS(fab_replay_check_tables(replay, err));
    FAB_PASS(fab_replay_check_routers(replay, err));
    FAB_PASS(fab_verdict_plan(replay, err));
    replay->keep_loads = replay->keep_loads || replay->trial_flows > 0;
    return FAB_OK;
}

/* Whether a job whose sizes somebody gave has a plan that is faster by more than a twentieth. */
static fab_status look_for_plan(const cli_session *s, fab_run_verdict *verdict, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    const fab_result *r = &s->result;
    const fab_iteration *it = r->n_iterations > 0 ? &r->iterations[verdict->engine] : NULL;
    bool is_fluid = s->design->fabric.transport.kind == FAB_TRANSPORT_FLUID;
    if (s->options->command != &cli_command_run || it == NULL || s->design->n_jobs != 1 ||
        r->job.kind != FAB_JOB_TRAINING || r->job.plan_chosen || !is_fluid) {
        return FAB_OK;
    }
    const fab_plan_request request = {.design = s->design,
                                      .fabric = s->graph,
                                      .seed = s->options->seed,
                                      .n_threads = (size_t)s->options->n_threads,
                                      .draws_leaders = true, /* one draw of many plans is below any mean */
                                      .below_s = (it->seeds.n_seeds > 1 ? it->seeds.time_s.min : it->time_s) *
                                                 (1 - FAB_VERDICT_PLAN)};
    FAB_PASS(fab_plan_beat(&request, &r->job, verdict->engine, &plans, err));
    if (plans != NULL && plans->n_plans_listed > 0 && fab_planned_s(&plans->plans[0]) < request.below_s) {
        verdict->plan_s = fab_planned_s(&plans->plans[0]);
        verdict->plan_draws = plans->plans[0].draws_s.mean > 0 ? plans->draws : 0;
        (void)fab_job_plan_text(&plans->plans[0].plan, verdict->plan);
        fab_append(verdict->plan, sizeof verdict->plan, ",batch=%" PRIu64, r->job.batch); /* else of its sizes */
    }
    return FAB_OK;
}

static fab_status open_replay(cli_session *s, fab_error *err) {
    if (s->is_replayed) {
        return FAB_OK;
    }
    FAB_PASS(fab_fabric_measure(s->design, &s->result.fabrics[0], &s->graph, err));
    FAB_PASS(fab_view_check(s->graph, s->options->view, err));
    s->result.graph = s->graph;
    s->result.other_jobs = fab_design_other_jobs(s->design, s->traffic);
    s->result.engine = s->design->n_engines == 1 ? &s->design->engines[0] : NULL;
    FAB_PASS(s->context == NULL ? open_context(s, err) : FAB_OK);
    if (s->hosts != NULL) {
        cli_front_end_show(s);
    }
    return FAB_OK;
}

static fab_status run_replay(cli_session *s, fab_replay *replay, fab_error *err) {
    if (s->is_replayed) {
        return FAB_OK;
    }
    FAB_PASS(take_chunks(s, replay, err));
    FAB_PASS(plan_trials(replay, err));
    FAB_PASS(fab_replay_run(replay, &s->result, err));
    FAB_PASS(fab_context_traffic(s->context, &s->result.placed, err));
    if (s->result.n_iterations > 0) {
        FAB_PASS(fab_ownership_of(s->design, s->result.fabrics, &s->result.job.accelerator, &s->ownership, err));
        s->result.ownership = &s->ownership;
    }
    for (size_t i = 0; i < s->result.n_iterations; i++) {
        fab_ownership_price(&s->ownership, &s->result.iterations[i]);
    }
    s->is_replayed = true;
    return FAB_OK;
}

/* No published figure is of broken parts. */
static fab_status find_published(cli_session *s, fab_error *err) {
    if (!s->has_published) {
        s->has_published = true;
        return cli_find_published(s->options, s->asked != NULL ? s->asked : s->design, &s->result, &s->known,
                                  &s->published, err);
    }
    return FAB_OK;
}

fab_status cli_session_report(cli_session *s, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const cli_options *options = s->options;
    fab_advice *advice = NULL;
    cli_progress progress = {0};
    fab_run_verdict *verdict = NULL;
    FAB_TRY(FAB_NEW(verdict, 1, err));
    FAB_TRY(open_replay(s, err));
    fab_replay replay = replay_of(s, &progress);
    FAB_TRY(cli_check_further(options, s->design, err));
    FAB_TRY(cli_advise_begin(options, &replay, err));
    cli_progress_start(&progress);
    status = run_replay(s, &replay, err);
    status = status == FAB_OK ? cli_advise(options, &replay, &s->result, &advice, err) : status;
    status = status == FAB_OK ? cli_look_further(options, &replay, &s->result, &s->further, err) : status;
    if (status == FAB_OK) {
        fab_verdict_begin(&s->result, verdict);
        if (options->command != &cli_command_explore) { /* whose reader turns the knobs himself, and waits */
            status = s->further.contention != NULL
                         ? fab_job_remedies_try(&replay, &s->result, verdict->engine, s->further.contention, err)
                         : fab_verdict_try(&replay, &s->result, verdict, err);
        }
    }
    status = status == FAB_OK ? look_for_plan(s, verdict, err) : status;
    cli_progress_end(replay.progress != NULL);
    FAB_TRY(fab_blame_design(s->design, status, err));
    FAB_TRY(find_published(s, err));
    fab_verdict_finish(&s->result, verdict);
    if (!cli_shows_loads(options)) {
        drop_loads(&s->result);
    }
    s->result.verdict = verdict;
    FAB_TRY(fab_find_warnings(&s->result, err));
    FAB_TRY(cli_certify(s, err));
    FAB_TRY(cli_report(options, &s->result, out, err));
done:
    fab_advice_free(advice);
    free(verdict);
    s->result.verdict = NULL; /* the next question finds its own */
    return status;
}

/* Formats that copy the graph; those of one run are written one after the other. */
static fab_status session_check_memory(const cli_options *options, const fab_fabric *graph, fab_error *err) {
    double most = 0;
    fab_replay_sizes sizes;
    if (graph == NULL) {
        return FAB_OK;
    }
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        bool is_wanted = fab_report_formats[i]->cable_bytes > 0 && cli_writes(options, fab_report_formats[i]->name);
        most = is_wanted ? fmax(most, fab_report_formats[i]->cable_bytes) : most;
    }
    if (!(most > 0)) {
        return FAB_OK;
    }
    fab_replay_sizes_of(graph, &sizes);
    return fab_memory_check("a file with every cable", fab_graph_bytes(&sizes) + graph->n_cables * most,
                            options->max_memory, err);
}

fab_status cli_report(const cli_options *options, const fab_result *result, FILE *out, fab_error *err) {
    const fab_report_format *format = fab_report_format_find(options->format != NULL ? options->format : "text");
    fab_report_style style = cli_style(options);
    FAB_REFUSE_IF(format == NULL, err, FAB_EINTERNAL, NULL, "no report format '%s'",
                  options->format != NULL ? options->format : "text");
    if (options->take != NULL) {
        return options->take(options->take_context, result, err);
    }
    FAB_PASS(session_check_memory(options, result->graph, err));
    FAB_PASS(fab_report_write(format, result, &style, out, err));
    cli_tell_left_out(options, format, result);
    FAB_PASS(cli_write_reports(options, result, err));
    return result->n_over_limit == 0
               ? FAB_OK
               : fab_fail(err, FAB_EINCOMPLETE, NULL,
                          "%" PRIu64
                          " of the candidates would take more memory than the limit (max-memory) and were not "
                          "evaluated: what is best here may not be",
                          result->n_over_limit);
}

/* Reads of the command line: a run must not replace what it is made of. "file:" and "counts:" stand before some. */
static bool session_reads(const cli_options *options, const char *path, const struct stat *output) {
    const char *texts[] = {options->prices,  options->against,        options->scenarios,
                           options->traffic, options->search.catalog, options->busbw.measured};
    const char *name = strrchr(path, '/');
    char folder[4096];
    struct stat store;
    struct stat of_output;
    (void)snprintf(folder, sizeof folder, "%.*s", name != NULL ? (int)(name - path) + 1 : 1, name != NULL ? path : ".");
    bool same = options->store != NULL && stat(options->store, &store) == 0 && stat(folder, &of_output) == 0 &&
                store.st_dev == of_output.st_dev && store.st_ino == of_output.st_ino;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] + options->operands.n && !same; i++) {
        struct stat input;
        const char *text = i < options->operands.n ? options->operands.items[i] : texts[i - options->operands.n];
        const char *colon = text != NULL ? strchr(text, ':') : NULL;
        char of_colon[4096] = "";
        if (colon != NULL) {
            (void)snprintf(of_colon, sizeof of_colon, "%.*s", (int)fab_traffic_path_length(colon + 1), colon + 1);
        }
        bool found = text != NULL && (stat(text, &input) == 0 || (colon != NULL && stat(of_colon, &input) == 0));
        same = found && input.st_dev == output->st_dev && input.st_ino == output->st_ino;
    }
    return same;
}

static fab_status session_check_new(const cli_options *options, const char *path, bool force, fab_error *err) {
    struct stat about;
    if (path == NULL || stat(path, &about) != 0) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(!force, err, FAB_EIO, path, "exists already; give --force to overwrite it");
    return session_reads(options, path, &about)
               ? fab_fail(err, FAB_EIO, path, "is read by this run and is not overwritten")
               : FAB_OK;
}

fab_status cli_check_new_file(const cli_options *options, const char *path, fab_error *err) {
    return session_check_new(options, path, options->force, err);
}

fab_status cli_check_out_file(const cli_options *options, const char *path, fab_error *err) {
    return session_check_new(options, path, cli_may_replace_out(options), err);
}

fab_status cli_write_reports(const cli_options *options, const fab_result *result, fab_error *err) {
    FAB_PASS(cli_write_exports(options, result, err));
    return options->out != NULL ? fab_reports_write_all(result, options->out, cli_may_replace_out(options), err)
                                : FAB_OK;
}

fab_status cli_check_out(const cli_options *options, fab_error *err) {
    struct stat about;
    if (options->out == NULL || stat(options->out, &about) != 0) {
        return FAB_OK; /* a folder that is not there is made when the report is written */
    }
    FAB_REFUSE_IF(!S_ISDIR(about.st_mode), err, FAB_EIO, options->out, "is not a folder");
    FAB_REFUSE_IF(access(options->out, W_OK | X_OK) != 0, err, FAB_EIO, options->out,
                  "cannot write into the folder: %s", strerror(errno));
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        char path[4096];
        const char *name = fab_report_formats[i]->file_name;
        if (name == NULL) {
            continue;
        }
        int n = snprintf(path, sizeof path, "%s/%s", options->out, name);
        if (n > 0 && (size_t)n < sizeof path && cli_check_out_file(options, path, err) != FAB_OK) {
            return FAB_EIO;
        }
    }
    return FAB_OK;
}
