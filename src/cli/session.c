#include "cli.h"
#include "fab/advise.h"
#include "fab/prices.h"

#include "fab/replay_memory.h"

static const char *const TRANSPORTS[] = {"fluid", "pfc", "dcqcn", "spray-ack"};
enum { ANY = 15, PACKETS = 14, LOSSLESS = 6, MARKED = 4, SPRAYED = 8 }; /* sets of them */

/* The last one where it has another name: the design's reader says so. */
static size_t transport_of(const char *text) {
    FAB_FIRST(kind, FAB_N_OF(TRANSPORTS) - 1,
              text == NULL || (strcspn(text, ",") == strlen(TRANSPORTS[kind]) &&
                               strncmp(text, TRANSPORTS[kind], strlen(TRANSPORTS[kind])) == 0));
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
        for (size_t i = 0; n > 0 && i < FAB_N_OF(KEYS); i++) {
            bool is_it = strlen(KEYS[i].name) == key && strncmp(at, KEYS[i].name, key) == 0 && key < length;
            CLI_REFUSE_IF(is_it && (KEYS[i].of & 1U << kind) == 0, err, "option --transport: %s has no %s; %s has",
                          TRANSPORTS[kind], KEYS[i].name,
                          TRANSPORTS[KEYS[i].of == SPRAYED  ? 3
                                     : KEYS[i].of == MARKED ? 2
                                                            : 1]);
            known = known || is_it;
        }
        CLI_REFUSE_IF(!known, err, "option --transport: '%.*s' is not %s", (int)length, at,
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
            FAB_FORMAT(err->where, "%s %.160s", option, overrides[i] + skip);
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

void cli_default_engine(fab_design *design) {
    if (design->n_engines == 0 || strcmp(design->engines[0].where, FAB_DEFAULT_ENGINE) == 0) {
        design->n_engines = 1;
        design->engines[0] = (fab_engine_spec){.where = FAB_DEFAULT_ENGINE};
        FAB_FORMAT(design->engines[0].text, "%s", fab_default_engine(design->fabric.subnet));
    }
}

static fab_status set_engines(const cli_options *options, fab_design *design, fab_error *err) {
    for (size_t i = 0; i < options->engines.n; i++) {
        fab_engine_spec *engine = &design->engines[i];
        const char *text = options->engines.items[i];
        FAB_REFUSE_IF(strlen(text) >= sizeof engine->text, err, FAB_EINPUT, "--engine",
                      "'%.40s...' is longer than %zu characters", text, sizeof engine->text - 1);
        FAB_FORMAT(engine->text, "%s", text);
        FAB_FORMAT(engine->where, "--engine");
    }
    design->n_engines = options->engines.n > 0 ? options->engines.n : design->n_engines;
    cli_default_engine(design);
    return FAB_OK;
}

fab_status cli_read_design(const cli_options *options, const char *name, fab_design *out, fab_error *err) {
    FAB_PASS(read_with_overrides(options, name, out, err));
    FAB_PASS(cli_set_jobs(options, out, err));
    FAB_PASS(set_engines(options, out, err));
    if (options->prices != NULL) {
        FAB_REFUSE_IF(strlen(options->prices) >= sizeof out->prices, err, FAB_EINPUT, "--prices",
                      "'%.40s...' is longer than %zu characters", options->prices, sizeof out->prices - 1);
        FAB_FORMAT(out->prices, "%s", options->prices);
        FAB_FORMAT(out->prices_where, "--prices %s", options->prices);
    } else if (out->prices[0] == '\0') {
        FAB_FORMAT(out->prices, "%s", FAB_DEFAULT_PRICES);
    }
    return FAB_OK;
}

fab_status cli_open_design(const cli_options *options, const char *text, fab_design **out, fab_error *err) {
    FAB_OWNED_NEW(fab_design, design, 1, err);
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
    FAB_PASS(cli_open_design(options, options->operands.items[0], &out->asked, err));
    out->design = out->asked;
    return cli_result_init(options, command, 1, &out->result, err);
}

static void part_release(cli_part *part) {
    fab_result_part_release(&part->of);
    fab_context_free(part->context);
    fab_context_free(part->first);
    free(part->chunked);
    fab_choice_release(&part->choice);
}

void cli_session_release(cli_session *s) {
    cli_further_release(&s->further);
    fab_result_release(&s->result);
    fab_published_release(&s->known);
    fab_published_release(&s->published);
    for (size_t i = s->n_parts; i-- > 0;) { /* the first is the base of the others */
        part_release(&s->parts[i]);
    }
    free(s->parts);
    fab_fabric_free(s->hosts);
    fab_fabric_free(s->graph);
    free(s->asked);
    *s = (cli_session){.options = NULL};
}

/* What the job leaves open of its plan, and what collectives leave to replays: for each engine where a report has all
 * of them, else for the first. */
static fab_status choose_open(cli_session *s, bool each, fab_error *err) {
    cli_progress progress = {.unit = s->design->n_jobs > 1 ? "jobs" : NULL};
    const bool plans = fab_plan_is_wanted(s->asked, s->traffic);
    const fab_plan_request request = {.design = s->asked,
                                      .fabric = s->graph,
                                      .seed = s->options->seed,
                                      .n_threads = (size_t)s->options->n_threads,
                                      .is_of_first = s->result.command != FAB_COMMAND_RUN, /* as the replay is */
                                      .progress = plans ? cli_progress_step : NULL,
                                      .progress_context = &progress};
    FAB_OWNS(fab_choice_list_release) fab_choice_list choices = {.n = 0};
    const size_t most = each && !s->options->advise.on ? s->asked->n_engines : 1;
    FAB_PASS(FAB_NEW(s->parts, most, err));
    cli_progress_start(&progress, s->options);
    FAB_PASS(cli_progress_end(&progress, fab_choose_each(&request, s->traffic, most, &choices, err)));
    for (; s->n_parts < choices.n; s->n_parts++) {
        s->parts[s->n_parts].choice = choices.at[s->n_parts];
    }
    choices.n = 0; /* they are the parts' */
    const fab_choice *first = &s->parts[0].choice;
    s->design = first->design;
    s->traffic = first->traffic != NULL ? first->traffic : s->traffic;
    s->result.plans = first->plans[0];
    return FAB_OK;
}

/* A context of every part; all stand on the first. */
static fab_status open_context(cli_session *s, bool each, fab_error *err) {
    const char *traffic = s->traffic;
    FAB_PASS(choose_open(s, each, err));
    FAB_PASS(cli_is_front_end(s->traffic) ? cli_front_end_open(s, err) : FAB_OK);
    for (size_t i = 0; i < s->n_parts; i++) {
        cli_part *part = &s->parts[i];
        const char *text = part->choice.traffic != NULL ? part->choice.traffic : i == 0 ? s->traffic : traffic;
        fab_context_request what =
            fab_context_of(part->choice.design, s->hosts != NULL ? s->hosts : s->graph, text, s->options->seed);
        what.base = s->context;
        what.gpus = s->hosts != NULL ? s->graph : NULL;
        what.n_engines = s->options->advise.on ? 1 : what.n_engines;
        FAB_PASS(fab_context_new(&what, &part->context, err));
        s->context = i == 0 ? part->context : s->context;
    }
    return FAB_OK;
}

fab_status cli_session_build(cli_session *s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_fabric_result *about = &s->result.fabrics[0];
    if (s->graph != NULL) {
        return FAB_OK;
    }
    about->spec = s->design->fabric;
    FAB_FORMAT(about->family, "%s", about->spec.family);
    FAB_TRY(fab_topology_build(&about->spec, &s->graph, &about->counts, err));
    FAB_TRY(open_context(s, false, err));
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
                        .progress = cli_progress_step,
                        .progress_context = progress};
}

/* Loads that only the verdict asked for; those of parts are the whole's. */
static void drop_loads(fab_result *result, bool owns) {
    for (size_t p = 0; p < result->n_phases; p++) {
        FAB_EACH(fab_engine_result, engine, result->phases[p].engines, result->phases[p].n_engines) {
            if (owns) {
                FAB_FREE_ALL(engine->load_bytes, engine->utilisation);
            }
            engine->load_bytes = engine->utilisation = NULL;
        }
    }
}

/* What is said of the job from here on is said of the chunks that are chosen. */
static fab_status take_chunks(cli_session *s, size_t i, fab_replay *replay, fab_error *err) {
    cli_part *part = &s->parts[i];
    fab_context *context = NULL;
    replay->context = part->context;
    FAB_PASS(fab_replay_choose_chunks(replay, &s->result, &part->chunked, &context, err));
    if (context != NULL) {
        part->first = part->context;
        part->context = context;
        replay->context = context;
        s->context = i == 0 ? context : s->context;
    }
    return FAB_OK;
}

fab_status cli_session_choose_chunks(cli_session *s, fab_error *err) {
    fab_replay replay = replay_of(s, NULL);
    replay.progress = NULL;
    return take_chunks(s, 0, &replay, err);
}

/* Whether the verdict may try other engines; then it needs loads beside theirs. */
static fab_status plan_trials(fab_replay *replay, fab_error *err) {
    FAB_PASS(fab_replay_check_tables(replay, err));
    FAB_PASS(fab_replay_check_routers(replay, err));
    FAB_PASS(fab_verdict_plan(replay, err));
    replay->keep_loads = replay->keep_loads || replay->trial_flows > 0;
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
    FAB_PASS(s->context == NULL ? open_context(s, true, err) : FAB_OK);
    if (s->hosts != NULL) {
        cli_front_end_show(s);
    }
    return FAB_OK;
}

/* One part, into `result`. */
static fab_status replay_part(cli_session *s, size_t i, fab_replay *replay, fab_result *result, fab_error *err) {
    const fab_choice *choice = &s->parts[i].choice;
    FAB_PASS(take_chunks(s, i, replay, err));
    FAB_PASS(plan_trials(replay, err));
    FAB_PASS(fab_replay_run(replay, result, err));
    for (size_t k = 0; k < result->n_iterations && choice->plans[k] != NULL; k++) {
        (void)fab_job_plan_text(&choice->plans[k]->plans[0].plan, result->iterations[k].plan);
        result->iterations[k].plan_bound_s = choice->plans[k]->lower_bound_s;
        result->iterations[k].plan_is_proven = choice->plans[k]->is_proven;
    }
    return fab_context_traffic(replay->context, &result->placed, err);
}

static fab_status replay_parts(cli_session *s, fab_replay *replay, fab_error *err) {
    fab_result_part *of[FAB_MAX_ENGINES];
    for (size_t i = 0; i < s->n_parts; i++) {
        cli_part *part = &s->parts[i];
        fab_result *result = &part->of.result;
        of[i] = &part->of;
        *result = s->result; /* which has no figures yet */
        part->of.n_engines = part->choice.n_engines;
        memcpy(part->of.engine, part->choice.engine, sizeof part->of.engine);
        FAB_PASS(replay_part(s, i, replay, result, err));
    }
    return fab_result_join(of, s->n_parts, s->asked->n_engines, &s->result, err);
}

static fab_status run_replay(cli_session *s, fab_replay *replay, fab_error *err) {
    if (s->is_replayed) {
        return FAB_OK;
    }
    FAB_PASS(s->n_parts > 1 ? replay_parts(s, replay, err) : replay_part(s, 0, replay, &s->result, err));
    if (s->result.n_iterations > 0) {
        const fab_job_spec *job = &fab_result_of(&s->result, 0)->job;
        FAB_PASS(fab_ownership_of(s->design, s->result.fabrics, &job->accelerator, &s->ownership, err));
        s->result.ownership = &s->ownership;
    }
    for (size_t i = 0; i < s->result.n_iterations; i++) {
        fab_ownership_price(&s->ownership, &s->result.iterations[i]);
    }
    s->is_replayed = true;
    return FAB_OK;
}

/* The part that runs an engine; *out_engine: its place there. */
static cli_part *part_of(const cli_session *s, size_t engine, size_t *out_engine) {
    cli_part *part = s->parts;
    *out_engine = fab_result_index(&s->result, engine);
    for (; s->n_parts > 1 && &part->of.result != s->result.of_engine[engine]; part++) {
    }
    return part;
}

/* What is said of the job as a whole is of the fastest engine. */
static void tell_of(cli_session *s, size_t engine) {
    size_t k = 0;
    const cli_part *part = part_of(s, engine, &k);
    const fab_plans *plans = part->choice.plans[k];
    fab_result_tell_of(&s->result, engine);
    s->result.plans = plans != NULL ? plans : s->result.plans;
}

/* Whether sizes that somebody gave are slower than a plan. */
static fab_status look_for_plan(const cli_session *s, fab_run_verdict *verdict, fab_error *err) {
    size_t engine = 0;
    const fab_result *r = &s->result;
    const fab_iteration *it = r->n_iterations > 0 ? &r->iterations[verdict->engine] : NULL;
    const fab_plan_request request = {.design = part_of(s, verdict->engine, &engine)->choice.design,
                                      .fabric = s->graph,
                                      .seed = s->options->seed,
                                      .n_threads = (size_t)s->options->n_threads};
    return s->options->command != &cli_command_run || it == NULL
               ? FAB_OK
               : fab_plan_beat(&request, &r->job, engine, it->seeds.n_seeds > 1 ? it->seeds.time_s.min : it->time_s,
                               &verdict->better, err);
}

/* Whether ranks in order, which cost nothing, would be faster. --advise has them among its changes. */
static fab_status look_in_order(const cli_session *s, fab_run_verdict *verdict, fab_error *err) {
    const cli_options *options = s->options;
    double time_s = 0;
    if (CLI_PLACE_IN_ORDER == NULL || !verdict->has_time || options->advise.on || s->hosts != NULL) {
        return FAB_OK;
    }
    FAB_PASS(CLI_PLACE_IN_ORDER(s->asked, verdict->engine, options->traffic, options->seed, s->result.n_seeds,
                                (size_t)options->n_threads, &time_s, err));
    verdict->in_order_s = time_s < verdict->time_s * (1 - FAB_VERDICT_PLAN) ? time_s : 0;
    return FAB_OK;
}

/* Under plans of their own: of the fastest engine, and those that run alike. */
static fab_status look_further(cli_session *s, fab_replay *replay, fab_run_verdict *verdict, fab_error *err) {
    size_t k = 0;
    FAB_PASS(cli_contend(s, replay, err));
    if (s->n_parts == 1) {
        return cli_look_further(s->options, replay, &s->result, &s->further, err);
    }
    fab_verdict_begin(&s->result, verdict);
    cli_part *part = part_of(s, verdict->engine, &k);
    replay->context = part->context;
    s->further.is_held = false;
    FAB_PASS(cli_look_further(s->options, replay, &part->of.result, &s->further, err));
    s->result.failures = part->of.result.failures;
    s->result.degradation = part->of.result.degradation;
    s->result.overlay = part->of.result.overlay;
    return FAB_OK;
}

/* What other routings make of the fastest engine's traffic, under its plan. */
static fab_status try_others(cli_session *s, fab_replay *replay, fab_run_verdict *verdict, fab_error *err) {
    size_t engine = 0;
    const fab_run_verdict whole = *verdict;
    const cli_part *part = part_of(s, verdict->engine, &engine);
    replay->context = part->context;
    if (s->further.contention != NULL) {
        return fab_job_remedies_try(replay, &s->result, engine, verdict->engine, s->further.contention, err);
    }
    if (s->n_parts == 1) {
        return fab_verdict_try(replay, &s->result, verdict, err);
    }
    verdict->engine = verdict->slowest = engine;
    FAB_PASS(fab_verdict_plan(replay, err));
    FAB_PASS(fab_verdict_try(replay, &part->of.result, verdict, err));
    verdict->engine = whole.engine;
    verdict->slowest = whole.slowest;
    return FAB_OK;
}

/* No published figure is of broken parts. */
static fab_status find_published(cli_session *s, fab_error *err) {
    if (!s->has_published) {
        s->has_published = true;
        return cli_find_published(s->options, s->asked, &s->result, &s->known, &s->published, err);
    }
    return FAB_OK;
}

/* Ends of unequal flows take longest where there are many. */
static fab_status hint_at(const cli_session *s, cli_progress *progress, fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(s->context, &traffic, err));
    for (size_t i = 0; i < traffic->n_phases; i++) {
        bool is_even = true;
        (void)fab_phase_largest(&traffic->phases[i], &is_even);
        progress->hint = is_even ? progress->hint : " (fewer unequal flows, or queue pairs, take less)";
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
    FAB_TRY(hint_at(s, &progress, err));
    cli_progress_start(&progress, options);
    status = run_replay(s, &replay, err);
    status = status == FAB_OK ? cli_advise(options, &replay, &s->result, &advice, err) : status;
    status = status == FAB_OK ? look_further(s, &replay, verdict, err) : status;
    if (status == FAB_OK) {
        fab_verdict_begin(&s->result, verdict);
        tell_of(s, verdict->engine);
        if (options->command != &cli_command_explore) { /* whose reader turns the knobs himself, and waits */
            status = try_others(s, &replay, verdict, err);
            status = status == FAB_OK ? look_in_order(s, verdict, err) : status;
        }
    }
    status = status == FAB_OK ? look_for_plan(s, verdict, err) : status;
    FAB_TRY(fab_blame_design(s->design, cli_progress_end(&progress, status), err));
    FAB_TRY(find_published(s, err));
    fab_verdict_finish(&s->result, verdict);
    if (!cli_shows_loads(options)) {
        drop_loads(&s->result, true);
        for (size_t i = 0; s->n_parts > 1 && i < s->n_parts; i++) {
            drop_loads(&s->parts[i].of.result, false);
        }
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
