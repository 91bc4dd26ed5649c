/* The command that shows alone what another one found. */
#include "cli.h"

static void see_add(fab_str *out, const char *option, const char *value) {
    fab_str_printf(out, " --%s ", option);
    fab_str_add_shell(out, value);
}

static void see_add_list(fab_str *out, const char *option, const cli_list *values) {
    for (size_t i = 0; i < values->n; i++) {
        see_add(out, option, values->items[i]);
    }
}

void cli_write_command(const cli_options *options, const char *command, const char *design, fab_str *out) {
    fab_str_printf(out, "fabriscope %s ", command);
    fab_str_add_shell(out, design);
    see_add_list(out, "set", &options->overrides);
    see_add_list(out, "job", &options->jobs);
    if (options->transport != NULL) {
        see_add(out, "transport", options->transport);
    }
    if (options->traffic != NULL) {
        see_add(out, "traffic", options->traffic);
    }
    if (options->prices != NULL) {
        see_add(out, "prices", options->prices);
    }
    if (options->seed != 1) {
        fab_str_printf(out, " --seed %" PRIu64, options->seed);
    }
}

/* The value that a point has of what is varied. */
static void see_add_value(const char *path, const char *value, fab_str *out) {
    const bool is_job = strncmp(path, "job.", 4) == 0 && strchr(path + 4, '.') == NULL;
    const bool is_option = strcmp(path, "engine") == 0 || strcmp(path, "prices") == 0;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_str_printf(&text, "%s%s%s", is_option ? "" : is_job ? path + 4 : path, is_option ? "" : "=", value);
    see_add(out, is_option ? path : is_job ? "job" : "set", text.data != NULL ? text.data : "");
}

fab_status cli_see(const cli_options *options, const cli_shown *shown, fab_result *result, fab_error *err) {
    char plan[192];
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    const bool is_job = options->traffic == NULL || strcmp(options->traffic, "job") == 0;
    cli_write_command(options, is_job ? "run" : "route", shown->design, &text);
    for (size_t i = 0; i < shown->n_values; i++) {
        see_add_value(shown->path[i], shown->value[i], &text);
    }
    if (shown->model != NULL) {
        fab_str_printf(&text, " --job model=%s", shown->model);
    }
    if (shown->plan != NULL) {
        see_add(&text, "job", fab_job_plan_text(shown->plan, plan));
    }
    if (shown->prices != NULL && shown->prices[0] != '\0' && options->prices == NULL) {
        see_add(&text, "prices", shown->prices);
    }
    for (size_t i = 0; i < (shown->has_first_alone ? options->engines.n > 0 : options->engines.n); i++) {
        see_add(&text, "engine", options->engines.items[i]);
    }
    if (shown->engine != NULL && options->engines.n == 0) {
        see_add(&text, "engine", shown->engine);
    }
    if (shown->n_seeds > 1) {
        fab_str_printf(&text, " --seeds %" PRIu64, shown->n_seeds);
    }
    FAB_PASS(fab_str_status(&text, err));
    return FAB_GIVE(result->see, text.data);
}

fab_status cli_see_point(const cli_options *options, const fab_sweep_point *p, cli_shown *shown, fab_result *result,
                         fab_error *err) {
    shown->plan = p->n_engines > 0 && p->engines[0].has_plan ? &p->engines[0].plan : NULL;
    shown->has_first_alone = p->plans_differ;
    FAB_EACH(const fab_sweep_engine, engine, p->engines, p->n_engines) {
        shown->n_seeds = engine->is_drawn && engine->n_seeds > shown->n_seeds ? engine->n_seeds : shown->n_seeds;
    }
    return cli_see(options, shown, result, err);
}
