/* Parameters that are varied: their texts, and the design of a point. */
#include "cli.h"

#include "fab/goodput_run.h"

static fab_status apply_vary(cli_options *options, const char *value, fab_error *err) {
    CLI_REFUSE_IF(options->n_vary == FAB_SWEEP_PATHS, err, "option --vary: given more than %d times", FAB_SWEEP_PATHS);
    options->vary[options->n_vary++] = value;
    return FAB_OK;
}

const cli_option cli_option_vary = {"vary", "path=v1,v2",
                                    "values of a parameter, by the paths of --set or as traffic.KEY, a key of a "
                                    "pattern; given twice, every pair of values",
                                    .is_repeatable = true, .apply = apply_vary};

const cli_option cli_option_histories = {
    "scenarios", "time:T@N",
    "also what failures leave: goodput over N histories of a time T, time:30d@100; compare and optimize judge with it",
    CLI_TEXT(scenarios)};

const cli_option cli_option_history_policy = {
    "policy", "NAME",
    "with --scenarios: where ranks go when their server is lost: none, first-spare, same-rack, same-pod, same-slice, "
    "collision-aware, shrink (the first spare, and without one the job goes on with fewer replicas). Default: that of "
    "study: shrink where replicas can go on alone, else first-spare, which waits for the repair where no spare is",
    CLI_LIST(policies)};

/* --- "path=v1,v2" ------------------------------------------------------------------------------------------------- */

static bool is_path(const char *path, const char *name) {
    size_t n = strlen(name);
    return strncmp(path, name, n) == 0 && (path[n] == '\0' || path[n] == '.');
}

/* "engine=ecmp,qp=1,4" as "engine=ecmp,qp=1|ecmp,qp=4": no engine is called by a number. */
static void add_numbered(const char *text, fab_str *out) {
    const size_t head = strcspn(text, "=") + (strchr(text, '=') != NULL);
    const char *value = text + head; /* begin of the last that names an engine, and its length to the last '=' */
    size_t to_equals = 0;
    fab_str_append(out, text, head);
    for (const char *at = value; *at != '\0'; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        const bool is_number = n > 0 && strspn(at, "0123456789") == n && to_equals > 0;
        const char *equals = memchr(at, '=', n);
        if (is_number) {
            fab_str_add(out, "|");
            fab_str_append(out, value, to_equals);
        } else if (at != value && equals == NULL) {
            fab_str_add(out, "|");
            value = at;
            to_equals = 0;
        } else if (equals != NULL) {
            fab_str_add(out, at != value ? "," : "");
            to_equals = (size_t)(equals + 1 - value);
        }
        fab_str_append(out, at, n);
        at += n;
    }
    fab_str_add(out, text[strlen(text) - 1] == ',' ? "|" : ""); /* an empty value is said to be one */
}

fab_status cli_vary_parse(const char *text, cli_vary *out, fab_error *err) {
    FAB_OWNS(cli_vary_release) cli_vary v = {.n_values = 0};
    FAB_OWNS(fab_str_release) fab_str numbered = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str of_engine = FAB_STR_INIT;
    size_t capacity = 0;
    if (strncmp(text, "qp=", 3) == 0 && strchr(text, '|') == NULL) { /* the engine that most networks have */
        fab_str_printf(&of_engine, "engine=ecmp,%s", text);
        FAB_PASS(fab_str_status(&of_engine, err));
        text = of_engine.data;
        v.is_of_ecmp = true;
    }
    if (strncmp(text, "engine=", 7) == 0 && strchr(text, '|') == NULL) {
        add_numbered(text, &numbered);
        FAB_PASS(fab_str_status(&numbered, err));
        text = numbered.data;
    }
    FAB_PASS(FAB_STRDUP(v.text, text, err));
    v.path = v.text;
    char *at = strchr(v.text, '=');
    CLI_REFUSE_IF(at == NULL || at == v.text, err,
                  "option --vary: '%.60s' is not path=v1,v2,... (see 'fabriscope list fields')", text);
    *at++ = '\0';
    const char *between = strchr(at, '|') != NULL || numbered.length > 0 ? "|" : ",";
    for (bool more = true; more;) {
        char *end = at + strcspn(at, between);
        more = *end != '\0';
        *end = '\0';
        CLI_REFUSE_IF(*at == '\0', err, "option --vary: a value of %.40s is empty in '%.60s'", v.path, text);
        FAB_PASS(FAB_APPEND(v.values, v.n_values, capacity, err, at));
        at = end + 1;
    }
    return FAB_GIVE(*out, v);
}

FAB_RELEASES(cli_vary_release, cli_vary, text, values);

/* --- the design of a point ---------------------------------------------------------------------------------------- */

/* --job was laid over the varied value of a job: puts that back. */
static fab_status set_again(fab_design *design, const char *override, fab_error *err) {
    char key[64];
    size_t n = strcspn(override, "=");
    if (!is_path(override, "job") || n < 5 || n - 4 >= sizeof key) {
        return FAB_OK;
    }
    FAB_FORMAT(key, "%.*s", (int)(n - 4), override + 4);
    return strchr(key, '.') != NULL ? FAB_OK : fab_design_set_job(design, 0, key, override + n + 1, "--vary", err);
}

static fab_status read_point(const void *context, const char *const *overrides, size_t n, fab_design *out,
                             fab_error *err) {
    fab_status status = FAB_OK;
    const cli_options *options = context;
    cli_options with = *options;
    with.overrides.items = NULL;
    FAB_TRY(FAB_NEW(with.overrides.items, options->overrides.n + n, err));
    FAB_FILL(with.overrides.items, options->overrides.n, options->overrides.items[fab_at]);
    for (size_t i = 0; i < n; i++) {
        with.overrides.items[with.overrides.n++] = overrides[i];
    }
    FAB_TRY(cli_read_design(&with, options->operands.items[0], out, err));
    for (size_t i = 0; i < n && options->jobs.n > 0; i++) {
        FAB_TRY(set_again(out, overrides[i], err));
    }
done:
    cli_name_option("--vary", 0, overrides, n, err);
    free(with.overrides.items);
    return status;
}

static fab_status read_compared(const void *context, const char *const *overrides, FAB_UNUSED size_t n, fab_design *out,
                                fab_error *err) {
    return cli_read_design(context, overrides[0] + strlen("design="), out, err);
}

/* --- run ---------------------------------------------------------------------------------------------------------- */

static bool has_option(fab_engine_about engine, const char *key) {
    size_t i = 0;
    while (engine.name != NULL && engine.options[i].key != NULL && strcmp(engine.options[i].key, key) != 0) {
        i++;
    }
    return engine.name != NULL && engine.options[i].key != NULL;
}

/* "ecmp,qp=1|ecmp,qp=4" of the values of `key`; without a key the engine and its values as they are. */
static fab_status fail_engine(const cli_vary *vary, const char *engine, const char *key, const char *why,
                              fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    for (size_t i = 0; i < vary->n_values; i++) {
        const char *value = strrchr(vary->values[i], '=') != NULL ? strrchr(vary->values[i], '=') + 1 : vary->values[i];
        fab_str_printf(&text, "%s%s,%s=%s", i > 0 ? "|" : "", engine, key, value);
    }
    FAB_PASS(fab_str_status(&text, err));
    return cli_misused(err, "option --vary: %s; write --vary 'engine=%.160s'", why, text.data);
}

/* Engines are varied as a whole: "engine.qp", "ecmp.qp" and "job.qp" are options of one, "spray" is one. */
static fab_status check_engine_path(const cli_vary *vary, fab_error *err) {
    const char *dot = strchr(vary->path, '.');
    const char *key = dot != NULL ? dot + 1 : "";
    const fab_engine_about named = fab_engine_of(&(fab_engine_spec){.text = "ecmp"});
    char head[FAB_NAME_SIZE];
    char why[160];
    FAB_FORMAT(head, "%.*s", (int)(dot != NULL ? dot - vary->path : (ptrdiff_t)strlen(vary->path)), vary->path);
    for (size_t i = 0; fab_engine_at(i).name != NULL; i++) {
        const fab_engine_about e = fab_engine_at(i);
        const bool is_it = strcmp(e.name, head) == 0 && strcmp(head, "file") != 0; /* also a key of fabrics */
        FAB_FORMAT(why, "%.60s is no path of a design%s", vary->path,
                   is_it && dot == NULL ? ", but an engine" : ": engines are varied as a whole");
        CLI_REFUSE_IF(is_it && dot == NULL, err, "option --vary: %s; write --vary engine=%s,...", why, e.name);
        FAB_RETURN_IF(has_option(e, key) && (is_it || strcmp(head, "engine") == 0 || strcmp(head, "job") == 0),
                      fail_engine(vary, has_option(named, key) && !is_it ? named.name : e.name, key, why, err));
    }
    return FAB_OK;
}

/* "qp=1,4" is of plain ecmp: what the design says of its engine would be lost. `other`: what else is varied, or NULL.
 */
static fab_status check_queue_pairs(const cli_options *options, const cli_vary *vary, const cli_vary *other,
                                    fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str override = FAB_STR_INIT;
    FAB_OWNED_NEW(fab_design, design, 1, err);
    for (size_t i = 0; i < (other != NULL ? other->n_values : 1); i++) {
        fab_str_release(&override);
        fab_str_printf(&override, "%s=%s", other != NULL ? other->path : "", other != NULL ? other->values[i] : "");
        FAB_PASS(fab_str_status(&override, err));
        fab_error refused = {.code = FAB_OK};
        fab_status status = read_point(options, (const char *const[]){override.data}, other != NULL, design, &refused);
        if (fab_is_refusal(status)) { /* and is refused again when it is run */
            continue;
        }
        FAB_PASS(fab_fail_as(err, status, &refused));
        if (design->n_engines > 1 || strcmp(design->engines[0].text, "ecmp") != 0) {
            const char *text = design->engines[0].text;
            char why[160];
            FAB_FORMAT(why, "qp= is of plain ecmp, and the design has %.60s", text);
            const bool takes_pairs =
                has_option(fab_engine_of(&design->engines[0]), "qp") && strstr(text, "qp=") == NULL;
            FAB_PASS(fail_engine(vary, takes_pairs ? text : "ecmp", "qp", why, err));
        }
    }
    return FAB_OK;
}

static fab_status check_vary(const cli_options *options, const cli_vary *vary, size_t n_vary, bool places_pattern,
                             fab_error *err) {
    for (size_t k = 0; k < n_vary; k++) {
        const bool is_placed = is_path(vary[k].path, "job.placement") && !places_pattern;
        FAB_PASS(is_placed ? cli_check_placement(options->traffic, "traffic", err) : FAB_OK);
        FAB_PASS(vary[k].is_of_ecmp ? check_queue_pairs(options, &vary[k], n_vary > 1 ? &vary[1 - k] : NULL, err)
                                    : FAB_OK);
        FAB_PASS(check_engine_path(&vary[k], err));
        bool engine = is_path(vary[k].path, "engine") && options->engines.n > 0;
        CLI_REFUSE_IF(engine || (is_path(vary[k].path, "prices") && options->prices != NULL), err,
                      "option --%s would replace what is varied: %.60s", engine ? "engine" : "prices", vary[k].path);
        bool of_pattern = options->traffic != NULL && strncmp(options->traffic, "pattern:", 8) == 0;
        CLI_REFUSE_IF(is_path(vary[k].path, "traffic") && !of_pattern, err,
                      "option --vary: %.60s is a key of a pattern: --traffic pattern:NAME", vary[k].path);
        CLI_REFUSE_IF(k > 0 && strcmp(vary[k].path, vary[0].path) == 0, err, "option --vary: %.60s is given twice",
                      vary[k].path);
    }
    return FAB_OK;
}

/* Histories and where ranks go in them. */
fab_status cli_read_histories(const cli_options *options, fab_policy *policy, fab_error *err) {
    fab_policy given[FAB_POLICY_N];
    size_t n = 0;
    FAB_PASS(cli_read_policies(options, given, &n, err));
    CLI_REFUSE_IF(options->scenarios == NULL && n > 0, err,
                  "option --policy: nothing fails; give --scenarios time:30d@100");
    CLI_REFUSE_IF(options->scenarios != NULL && !fab_goodput_has_time(options->scenarios), err,
                  "option --scenarios: '%.60s' has no time; goodput is of histories, such as time:30d@100",
                  options->scenarios);
    CLI_REFUSE_IF(n > 1, err, "option --policy: points are compared under one, and %zu are given", n);
    *policy = n > 0 ? given[0] : *policy;
    return FAB_OK;
}

/* Whether a point is faster than another under the first engine, or of equal time has cheaper tokens or network. */
static bool is_ahead(const fab_sweep_point *p, const fab_sweep_point *other) {
    const fab_sweep_engine *a = &p->engines[0];
    const fab_sweep_engine *b = &other->engines[0];
    const double a_s = fab_with_failures(a, a->compared_s);
    const double b_s = fab_with_failures(b, b->compared_s);
    const double a_usd = a->iteration.usd_per_1e9_tokens > 0 ? a->iteration.usd_per_1e9_tokens : p->total_usd;
    const double b_usd = b->iteration.usd_per_1e9_tokens > 0 ? b->iteration.usd_per_1e9_tokens : other->total_usd;
    return fabs(a_s - b_s) > 1e-9 * b_s ? a_s < b_s : a_usd < b_usd;
}

/* The point that the answer names, alone. */
static fab_status see_best(const cli_options *options, const fab_sweep *s, fab_result *result, fab_error *err) {
    const fab_sweep_point *best = NULL;
    for (size_t i = 0; i < s->n_points; i++) {
        const bool is_best = fab_sweep_has_time(&s->points[i], 0) && (best == NULL || is_ahead(&s->points[i], best));
        best = is_best ? &s->points[i] : best;
    }
    best = s->n_verdicts > 0 && s->verdicts[0].is_known ? &s->points[s->verdicts[0].best] : best;
    for (size_t k = 0; k < s->n_paths; k++) {
        best = is_path(s->path[k], "traffic") ? NULL : best;
    }
    if (best == NULL) {
        return FAB_OK;
    }
    cli_shown shown = {.design = s->compares_designs ? best->value[0] : options->operands.items[0],
                       .path = (const char *const *)s->path,
                       .value = best->value,
                       .n_values = s->compares_designs ? 0 : s->n_paths,
                       .model = s->model,
                       .prices = s->prices};
    return cli_see_point(options, best, &shown, result, err);
}

/* Under --max-time: points that were finished are to be printed. */
typedef struct timed_points {
    double end_s, started_s, longest_s;
    size_t n_left; /* that were not started */
} timed_points;

/* Where one is finished, no other begins that would end too late; the timer ends a run that has none. */
static fab_status start_point(void *context, size_t point, fab_error *err) {
    timed_points *t = context;
    const double now_s = cli_now_s();
    if (t->started_s > 0) {
        cli_limits_end_time();
        t->longest_s = fmax(t->longest_s, now_s - t->started_s);
        t->started_s = 0;
    }
    if (point > 0 && t->longest_s > 0 && now_s + t->longest_s > t->end_s) {
        t->n_left += point != SIZE_MAX;
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "not looked at: the time of --max-time is up");
    }
    t->started_s = now_s;
    return FAB_OK;
}

fab_status cli_sweep_and_report(const cli_options *options, const cli_vary *vary, size_t n_vary, fab_command command,
                                FILE *out, fab_error *err) {
    FAB_OWNS(fab_sweep_free_owned) fab_sweep *sweep = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    cli_progress progress = {.unit = vary[0].are_designs            ? "designs"
                                     : command == FAB_COMMAND_PLACE ? "placements"
                                                                    : "points"};
    timed_points timed = {.end_s = cli_now_s() + options->max_time_s};
    fab_sweep_request request = {.n_paths = n_vary,
                                 .read = vary[0].are_designs ? read_compared : read_point,
                                 .compares_designs = vary[0].are_designs,
                                 .looks_for_plan = command != FAB_COMMAND_PLACE,
                                 .scenarios = options->scenarios,
                                 .policy = FAB_POLICY_FITTING,
                                 .read_context = options,
                                 .traffic = options->traffic != NULL ? options->traffic : "job",
                                 .places_pattern = command == FAB_COMMAND_PLACE && options->traffic != NULL &&
                                                   strncmp(options->traffic, "pattern:", 8) == 0 &&
                                                   strstr(options->traffic, ",servers=") == NULL &&
                                                   strstr(options->traffic, ",placement=") == NULL,
                                 .seed = options->seed,
                                 .n_seeds = cli_is_given(options, &cli_option_seeds) ? options->n_seeds : 0,
                                 .n_threads = (size_t)options->n_threads,
                                 .progress = cli_progress_step,
                                 .progress_context = &progress,
                                 .start = options->max_time_s > 0 && command != FAB_COMMAND_PLACE ? start_point : NULL,
                                 .start_context = &timed};
    for (size_t k = 0; k < n_vary; k++) {
        request.path[k] = vary[k].path;
        request.values[k] = vary[k].values;
        request.n_values[k] = vary[k].n_values;
    }
    FAB_PASS(check_vary(options, vary, n_vary, request.places_pattern, err));
    FAB_PASS(cli_read_histories(options, &request.policy, err));
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_result_init(options, command, 0, &result, err));
    cli_progress_start(&progress, options);
    fab_status status = fab_sweep_run(&request, &sweep, err);
    if (status == FAB_OK && command == FAB_COMMAND_PLACE) {
        sweep->compares_placements = true;
        progress.unit = "placements";
        status = fab_place_run(&request, options->advise.budget, sweep, err);
    }
    FAB_PASS(cli_progress_end(&progress, status));
    FAB_FORMAT(sweep->design, "%s", vary[0].are_designs ? "" : options->operands.items[0]);
    result.sweep = sweep;
    result.n_over_limit = sweep->n_over_limit;
    FAB_PASS(command != FAB_COMMAND_PLACE ? see_best(options, sweep, &result, err) : FAB_OK);
    FAB_PASS(fab_find_warnings(&result, err));
    FAB_PASS(cli_report(options, &result, out, err));
    FAB_REFUSE_IF(timed.n_left > 0, err, FAB_ETIME, options->command->name,
                  "the time of --max-time is up: %zu of %zu %s were not looked at, nor compared", timed.n_left,
                  sweep->n_points, progress.unit);
    FAB_REFUSE_IF(sweep->n_untried > 0, err, FAB_ETIME, options->command->name,
                  "the time of --max-time is up: %zu times a plan that one of the %s runs was not tried on another",
                  sweep->n_untried, progress.unit);
    return FAB_OK;
}
