#include "cli.h"

#include "fab/prices.h"
#include "fab/catalog.h"
#include "fab/optimize.h"

#define REPLAYS 64 /* of designs for their tokens, unless given */

/* --- options ------------------------------------------------------------------------------------------------------ */

/* A plain number, with no sign, blanks, inf or nan. */
static fab_status optimize_read_number(const char *name, const char *value, double min, double max, double *out,
                                       fab_error *err) {
    char *end = NULL;
    double number = 0;
    if (value[0] != '\0' && strspn(value, "0123456789.eE+") == strlen(value) && value[0] != '+') {
        number = strtod(value, &end);
    }
    CLI_REFUSE_IF(end == NULL || *end != '\0' || end == value || !(number >= min && number <= max), err,
                  "option --%s: '%.60s' is not a plain number from %g to %g, such as %s", name, value, min, max,
                  max > 1 ? "25e6" : "0.5 for half");
    *out = number;
    return FAB_OK;
}

static fab_status apply_min_bisection(cli_options *options, const char *value, fab_error *err) {
    options->search.limits.has_bisection = true;
    return optimize_read_number("min-bisection", value, 0, 1, &options->search.limits.min_bisection_ratio, err);
}

static fab_status apply_budget(cli_options *options, const char *value, fab_error *err) {
    options->search.limits.has_budget = true;
    return optimize_read_number("budget", value, 1, 1e15, &options->search.limits.budget_usd, err);
}

/* Leaves of the catalog's families those between the commas, in the catalog's order. */
static fab_status keep_families(fab_catalog *catalog, const char *names, fab_error *err) {
    bool is_kept[FAB_CATALOG_ITEMS] = {false};
    for (const char *at = names; at != NULL;) {
        char name[FAB_NAME_SIZE];
        size_t n = strcspn(at, ",");
        bool found = false;
        FAB_FORMAT(name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), at);
        fab_choices near = fab_choices_of(name);
        for (size_t i = 0; i < catalog->n_families; i++) {
            fab_choices_offer(&near, catalog->families[i]);
            is_kept[i] = is_kept[i] || strcmp(catalog->families[i], name) == 0;
            found = found || strcmp(catalog->families[i], name) == 0;
        }
        CLI_REFUSE_IF(!found, err, "option --family: '%.40s' is no family of the catalog%s", name,
                      fab_choices_list(&near, "it has:"));
        at = at[n] == ',' ? at + n + 1 : NULL;
    }
    size_t n_kept = 0;
    for (size_t i = 0; i < catalog->n_families; i++) {
        if (is_kept[i]) {
            memmove(catalog->families[n_kept++], catalog->families[i], sizeof catalog->families[i]);
        }
    }
    catalog->n_families = n_kept;
    return FAB_OK;
}

static const cli_option OPTION_GPUS = {"gpus", "N", "GPUs to connect; required", CLI_COUNT(search.gpus, 1, 16777216)};
static const cli_option OPTION_MIN_BISECTION = {
    "min-bisection", "R", "least bisection that any pattern may count on, as a share of full: 0 to 1",
    .apply = apply_min_bisection};
static const cli_option OPTION_MAX_TAPER = {"max-taper", "A:B",
                                            "largest built taper (oversubscription) at any boundary: 2:1 or 2",
                                            CLI_QUANTITY(search.limits.max_taper, FAB_UNIT_RATIO)};
static const cli_option OPTION_MAX_POWER = {"max-power", "POWER",
                                            "most power of switches, optics and NICs, with its unit: 1.2MW",
                                            CLI_QUANTITY(search.limits.max_power_w, FAB_UNIT_POWER)};
static const cli_option OPTION_BUDGET = {"budget", "USD", "most capital, a plain number of dollars: 25e6",
                                         .apply = apply_budget};
static const cli_option OPTION_CATALOG = {
    "catalog", "NAME", "built-in catalog or XML file (see 'fabriscope schema catalog'); default today",
    CLI_TEXT(search.catalog)};
static const cli_option OPTION_GPUS_PER_SERVER = {"gpus-per-server", "N",
                                                  "GPUs of one server instead of the catalog's; NICs scale with them",
                                                  CLI_COUNT(search.gpus_per_server, 1, 65535)};
static const cli_option OPTION_DOMAIN = {"domain", "N",
                                         "GPUs per scale-up domain instead of the catalog's; with another "
                                         "--gpus-per-server those of a server",
                                         CLI_COUNT(search.domain, 1, 16777216)};
static const cli_option OPTION_NIC = {"nic", "RATE", "rate of one NIC instead of the catalog's: 400Gb/s",
                                      CLI_QUANTITY(search.nic_bps, FAB_UNIT_RATE)};
static const cli_option OPTION_FAMILY = {
    "family", "NAME,...", "only these of the catalog's families: rail-spine,rail-only (see 'list families')",
    CLI_TEXT(search.families)};
static const char *const OBJECTIVES[] = {[FAB_OBJECTIVE_NETWORK] = "network", [FAB_OBJECTIVE_TOKENS] = "tokens", NULL};
static const cli_option OPTION_OBJECTIVE = {
    "objective", "NAME",
    "what is to cost the least: network, or tokens: all that is bought and run per 1e9 tokens of --job; default tokens "
    "where a job is given",
    CLI_CHOICE(search.objective, OBJECTIVES)};
static const cli_option OPTION_REPLAYS = {
    "replays", "N", "designs that are built and looked at, at most, for their tokens; default 64: the rest has a bound",
    CLI_COUNT(search.replays, 1, 1000000)};
static const cli_option OPTION_TIME_LIMIT = {
    "time-limit", "TIME",
    "stop searching after that long, with the best so far and a bound: 30s; what it prints is still built, and one "
    "design at least replayed",
    CLI_QUANTITY(search.time_limit_s, FAB_UNIT_TIME)};

/* --- run ---------------------------------------------------------------------------------------------------------- */

/* A design with the job and the engine that it is replayed under. Paths that hash take eight draws of each and leave a
 * wide bound: without an engine they do not. */
static fab_status read_with_job(const void *context, const char *line, fab_design *out, fab_error *err) {
    const cli_options *options = context;
    FAB_PASS(cli_read_design(options, line, out, err));
    FAB_PASS(fab_design_set_job(out, 0, "plan", "auto", "plan", err));
    if (options->engines.n == 0) {
        out->engines[0] = (fab_engine_spec){.text = "spray", .where = FAB_DEFAULT_ENGINE};
    }
    out->n_engines = 1;
    return FAB_OK;
}

/* Of which the job, the engine and the prices count. What gives them to another command goes into `text`. */
static fab_status read_replayed(const cli_options *options, const char *profile, fab_design **out, fab_str *text,
                                fab_error *err) {
    char line[128];
    const bool is_asked = cli_is_given(options, &OPTION_OBJECTIVE);
    const bool has_job = options->jobs.n > 0;
    if (is_asked ? options->search.objective != FAB_OBJECTIVE_TOKENS : !has_job) {
        bool stray = has_job || options->engines.n > 0 || options->search.replays > 0 || options->scenarios != NULL;
        return stray ? cli_misused(err, "options --job, --engine, --replays and --scenarios %s",
                                   is_asked ? "are of tokens, and --objective network looks at none: leave one out"
                                            : "judge designs by tokens of a job: --job model=NAME (see 'list models')")
                     : FAB_OK;
    }
    CLI_REFUSE_IF(options->certificate != NULL, err,
                  "there is no certificate of --objective tokens: its replays have none");
    CLI_REFUSE_IF(options->jobs.n == 0, err, "--objective tokens needs a job: --job model=NAME (see 'list models')");
    FAB_FORMAT(line, "clos:gpus=%" PRIu64 ",gpus-per-server=1,domain=1", options->search.gpus);
    FAB_OWNED_NEW(fab_design, design, 1, err);
    FAB_PASS(read_with_job(options, line, design, err));
    FAB_FORMAT(design->prices, "%s", profile);
    for (size_t i = 0; i < options->jobs.n; i++) {
        fab_str_printf(text, "%s%s", i == 0 ? "--job " : ",", options->jobs.items[i]);
    }
    fab_str_printf(text, ",plan=auto --engine %s", design->engines[0].text);
    FAB_PASS(fab_str_status(text, err));
    return FAB_GIVE(*out, design);
}

static fab_status search(const cli_options *options, const fab_catalog *catalog, const fab_prices *prices,
                         const fab_design *replayed, const char *replay_options, fab_optimum **out, fab_error *err) {
    cli_progress progress = {.unit = "designs"};
    /* The catalog's domains are of its servers: others have as many GPUs in one, as everywhere else. */
    const uint64_t per_server = options->search.gpus_per_server;
    const bool are_others = options->search.domain == 0 && per_server != catalog->gpus_per_server;
    fab_optimize_request request = {.catalog = catalog,
                                    .prices = prices,
                                    .gpus = options->search.gpus,
                                    .gpus_per_server = options->search.gpus_per_server,
                                    .domain = are_others ? per_server : options->search.domain,
                                    .nic_bps = options->search.nic_bps,
                                    .limits = options->search.limits,
                                    .replayed = replayed,
                                    .replay_options = replay_options,
                                    .read = read_with_job,
                                    .read_context = options,
                                    .scenarios = options->scenarios,
                                    .policy = FAB_POLICY_FITTING,
                                    .seed = options->seed,
                                    .n_threads = (size_t)options->n_threads,
                                    .most_replays = options->search.replays > 0 ? options->search.replays : REPLAYS,
                                    .max_bytes = options->max_memory,
                                    .time_limit_s = options->search.time_limit_s,
                                    .progress = cli_progress_step,
                                    .progress_context = &progress};
    request.limits.has_taper = request.limits.max_taper > 0;
    request.limits.has_power = request.limits.max_power_w > 0;
    FAB_PASS(cli_read_histories(options, &request.policy, err));
    cli_progress_start(&progress, options);
    progress.hint =
        replayed != NULL && !(request.time_limit_s > 0) ? " (--time-limit 60s ends it with the best so far)" : NULL;
    return cli_progress_end(&progress, fab_optimize(&request, out, err));
}

/* The winner as a fabric of its own, with bill of materials and graph. */
static fab_status measure_winner(const cli_options *options, const fab_optimum *optimum, const char *prices,
                                 fab_fabric_result *out, fab_fabric **out_graph, fab_error *err) {
    FAB_OWNED_NEW(fab_design, design, 1, err);
    FAB_PASS(optimum->objective == FAB_OBJECTIVE_TOKENS
                 ? read_with_job(options, optimum->winner.design, design, err)
                 : fab_design_read(optimum->winner.design, NULL, 0, design, err));
    FAB_FORMAT(design->prices, "%s", prices);
    FAB_FORMAT(design->name, "optimum");
    design->fabric.max_bytes = options->max_memory;
    return fab_fabric_measure(design, out, out_graph, err);
}

static fab_status optimize_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNED fab_catalog *catalog = NULL;
    FAB_OWNED fab_prices *prices = NULL;
    FAB_OWNS(fab_optimum_free_owned) fab_optimum *optimum = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNED fab_design *replayed = NULL;
    FAB_OWNS(fab_str_release) fab_str replay_options = FAB_STR_INIT;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    FAB_PASS(cli_needs(options->command, options->search.gpus > 0, "--gpus N", err));
    cli_keep_freed_memory();
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_new_file(options, options->certificate, err));
    FAB_PASS(FAB_NEW_ALL(1, err, catalog, prices));
    FAB_PASS(fab_catalog_read(options->search.catalog != NULL ? options->search.catalog : FAB_DEFAULT_CATALOG, catalog,
                              err));
    FAB_PASS(options->search.families != NULL ? keep_families(catalog, options->search.families, err) : FAB_OK);
    const char *profile = options->prices != NULL ? options->prices : catalog->prices;
    FAB_PASS(fab_prices_read(profile, prices, err));
    FAB_PASS(read_replayed(options, profile, &replayed, &replay_options, err));
    FAB_PASS(search(options, catalog, prices, replayed, replay_options.data, &optimum, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_OPTIMIZE, 1, &result, err));
    FAB_PASS(measure_winner(options, optimum, profile, &result.fabrics[0], &graph, err));
    result.graph = graph;
    result.optimum = optimum;
    if (replayed != NULL) {
        const cli_shown shown = {.design = optimum->winner.design,
                                 .plan = &optimum->tokens.plan,
                                 .engine = replayed->engines[0].text,
                                 .n_seeds = optimum->winner.draws};
        FAB_PASS(cli_see(options, &shown, &result, err));
    }
    FAB_PASS(cli_certify_optimum(options, &result, err));
    FAB_PASS(fab_find_warnings(&result, err));
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_optimize = {
    .name = "optimize",
    CLI_OPERANDS("", 0, 0),
    .summary = "the cheapest fabric that meets the targets",
    .details = "Tries the families, tiers, switches, breakouts, planes and tapers of a catalog. Prints the cheapest "
               "design that keeps every limit, in a form that 'fabriscope run' takes, the runners-up, what bisection "
               "and power cost, and why the others lost. Where nothing keeps the limits it says which one cannot be "
               "kept and by how much, and ends with exit code 4. With --job designs are replayed under spray (or "
               "--engine) and the best plan of --job, cheapest bound first, and the cost of ownership of all GPUs, "
               "servers, racks, "
               "network and energy per 1e9 tokens decides; it says how far the winner is from a lower bound. With "
               "--scenarios that is divided by goodput, what failures leave of the time.",
    CLI_EXAMPLES("fabriscope optimize --gpus 16384 --min-bisection 1",
                 "fabriscope optimize --gpus 16384 --min-bisection 0.5 --max-power 1.5MW",
                 "fabriscope optimize --gpus 2048 --min-bisection 1 --family rail-spine",
                 "fabriscope optimize --gpus 256 --job model=gpt-18.4b",
                 "fabriscope optimize --gpus 64 --family clos --job model=gpt-7.5b --scenarios time:30d@20",
                 "fabriscope optimize --gpus 4096 --max-taper 2:1 --budget 12e6 --json",
                 "fabriscope optimize --gpus 1024 --catalog parts.xml --prices today-400g --out optimum"),
    CLI_OPTIONS(&OPTION_GPUS, &OPTION_MIN_BISECTION, &OPTION_MAX_TAPER, &OPTION_MAX_POWER, &OPTION_BUDGET,
                &OPTION_OBJECTIVE, &cli_option_job, &cli_option_engine, &cli_option_seed, &OPTION_REPLAYS,
                &cli_option_histories, &cli_option_history_policy, &OPTION_CATALOG, &cli_option_prices,
                &OPTION_GPUS_PER_SERVER, &OPTION_DOMAIN, &OPTION_NIC, &OPTION_FAMILY, &OPTION_TIME_LIMIT,
                &cli_option_threads, CLI_REPORT_OPTIONS, &cli_option_certificate),
    .run = optimize_run,
    .hides_usage = true,
};
