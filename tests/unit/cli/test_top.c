/* `top` without a terminal: keys in, lines out, and every state against `run` with the command line that it names. */
#include "top/top_app.h"

#include "fab/memory.h"
#include "fab/rng.h"
#include "fab/routing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 64
#define JOB        " --job model=gpt-1.7b,tp=2,memory-check=off"

/* Words of a command line as a shell has them, with single quotes alone. */
typedef struct words {
    char text[4096];
    char *word[MOST_WORDS];
    int n;
} words;

static void split(const char *line, words *out) {
    char *to = out->text;
    out->n = 0;
    cr_assert_lt(strlen(line), sizeof out->text);
    while (*line != '\0') {
        line += strspn(line, " ");
        cr_assert_lt(out->n, MOST_WORDS);
        out->word[out->n++] = to;
        for (bool quoted = false; *line != '\0' && (quoted || *line != ' '); line++) {
            if (*line == '\'') {
                quoted = !quoted;
            } else {
                *to++ = *line;
            }
        }
        *to++ = '\0';
    }
}

static void parse(const cli_command *command, words *w, int skip, cli_options *out) {
    fab_error err = {0};
    *out = (cli_options){0};
    cr_assert_eq(cli_options_parse(command, w->n - skip, w->word + skip, out, &err), FAB_OK, "%s", err.text);
    out->quiet = true;
    out->n_threads = 1;
}

static void open_app(const char *line, words *w, cli_options *options, top_app **out) {
    fab_error err = {0};
    split(line, w);
    parse(&cli_command_top, w, 0, options);
    cr_assert_eq(FAB_NEW(*out, 1, &err), FAB_OK);
    cr_assert_eq(top_app_open(options, *out, &err), FAB_OK, "%s: %s", line, err.text);
}

static void close_app(top_app *app, cli_options *options) {
    top_app_release(app);
    free(app);
    cli_options_release(options);
}

static void press(top_app *app, const char *keys) {
    fab_error err = {0};
    for (; *keys != '\0'; keys++) {
        cr_assert_eq(top_app_key(app, (unsigned char)*keys, &err), FAB_OK, "%s", err.text);
    }
}

/* --- against run -------------------------------------------------------------------------------------------------- */

static bool same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void expect_same_phase(const fab_failed_phase *a, const fab_failed_phase *b) {
    cr_expect_eq(a->n_disconnected, b->n_disconnected);
    cr_expect_eq(a->n_collisions, b->n_collisions);
    cr_expect_eq(a->worst_ratio, b->worst_ratio);
    cr_expect_str_eq(a->worst_link, b->worst_link);
}

static fab_status compare(void *context, const fab_result *result, fab_error *err) {
    const top_model *m = context;
    const fab_failed_state *now = top_model_state(m);
    (void)err;
    if (result->failures == NULL) { /* nothing is broken: the iteration itself */
        cr_expect_eq(m->now.n, 0);
        cr_expect_float_eq(now->time_s, result->iterations[0].time_s, 1e-11 * now->time_s);
        for (size_t p = 0; p < result->n_phases; p++) {
            const fab_engine_result *e = &result->phases[p].engines[0];
            cr_expect_float_eq(now->phases[p].time_s, e->time_s.mean, 1e-11 * e->time_s.mean);
        }
        return FAB_OK;
    }
    const fab_failed_engine *e = &result->failures->engines[0];
    cr_expect_str_eq(top_model_note(m), e->note);
    cr_expect_str_eq(top_model_engine_name(m), e->label);
    cr_expect(same(top_model_healthy(m)->time_s, e->healthy.time_s));
    if (e->note[0] != '\0') {
        return FAB_OK;
    }
    const fab_failed_state *other = &e->policies[0].state;
    cr_expect(same(now->time_s, other->time_s), "%.17g, not %.17g", now->time_s, other->time_s);
    expect_same_phase(&now->sum, &other->sum);
    for (size_t p = 0; p < result->failures->n_phases; p++) {
        expect_same_phase(&now->phases[p], &other->phases[p]);
        cr_expect(same(now->phases[p].time_s, other->phases[p].time_s));
    }
    return FAB_OK;
}

/* The state of the model against what `run` reports. */
static void expect_as_run(top_model *m) {
    fab_error err = {0};
    fab_str command = FAB_STR_INIT;
    words w;
    cli_options options;
    top_model_command(m, &command);
    split(command.data, &w);
    cr_assert_str_eq(w.word[1], "run");
    parse(&cli_command_run, &w, 2, &options);
    options.take = compare;
    options.take_context = m;
    cr_assert_eq(cli_command_run.run(&options, NULL, &err), FAB_OK, "%s: %s", command.data, err.text);
    cli_options_release(&options);
    fab_str_release(&command);
}

/* A key that changes something, or moves about; some ask for a text. */
static void press_at_random(top_app *app, fab_rng *rng) {
    static const char *const KEYS[] = {"k",           "k",        "s\n", "r", "u",         "p",
                                       "\n",          "\n",       "\t",  "o", "bleaf-1\n", "bnic-3*0.5\n",
                                       "bserver-2\n", "bgpu-9\n", "e",   "d", "\33",       "bnone\n"};
    fab_error err = {0};
    const size_t n = sizeof KEYS / sizeof *KEYS;
    for (uint64_t down = fab_rng_below(rng, 6); down > 0; down--) {
        cr_assert_eq(top_app_key(app, TOP_KEY_DOWN, &err), FAB_OK);
    }
    press(app, KEYS[fab_rng_below(rng, n)]);
}

Test(top, random_keys_are_what_run_reports) {
    static const char *const LINES[] = {
        "clos:gpus=32,gpus-per-server=4,radix=8,spares=2" JOB,
        "rail-spine:gpus=32,gpus-per-server=4,radix=8,taper=2,spares=1" JOB " --engine ecmp,qp=2,member-loss=resilient",
        "clos:gpus=32,gpus-per-server=4,radix=8,spares=1" JOB " --engine spray --seed 3",
        "rail-only:gpus=32,gpus-per-server=4,radix=8" JOB " --fail leaf-1 --policy none"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        fab_rng rng = fab_rng_make(7, i);
        words w;
        cli_options options;
        top_app *app = NULL;
        open_app(LINES[i], &w, &options, &app);
        expect_as_run(&app->model);
        for (int step = 0; step < 30; step++) {
            const size_t before = app->model.n_before;
            press_at_random(app, &rng);
            if (app->model.n_before != before) {
                expect_as_run(&app->model);
            }
        }
        while (app->model.n_before > 0) {
            press(app, app->asks != 0 ? "\33u" : "u");
        }
        expect_as_run(&app->model);
        close_app(app, &options);
    }
}

Test(top, a_part_is_broken_once_and_repaired) {
    words w;
    cli_options options;
    top_app *app = NULL;
    fab_str command = FAB_STR_INIT;
    open_app("clos:gpus=32,gpus-per-server=4,radix=8,spares=1" JOB " --engine ecmp", &w, &options, &app);
    press(app, "bnic-3*0.5\nbnic-3\nb'\33bleaf-0:6 > spine-1:1*0.25\n");
    cr_expect_eq(app->model.now.n, 2, "%s", app->message);
    top_model_command(&app->model, &command);
    cr_expect_str_eq(command.data,
                     "fabriscope run clos:gpus=32,gpus-per-server=4,radix=8,spares=1" JOB
                     " --engine ecmp --fail nic-3 --fail 'leaf-0:6 > spine-1:1*0.25' --policy first-spare");
    press(app, "\t\tr");
    cr_expect_eq(app->model.now.n, 1);
    press(app, "R");
    cr_expect_eq(app->model.now.n, 0);
    press(app, "u");
    cr_expect_eq(app->model.now.n, 1);
    press(app, "bleaf-99\n");
    cr_expect_eq(app->model.now.n, 1);
    cr_expect(app->is_bad && strstr(app->message, "leaf-99") != NULL, "%s", app->message);
    press(app, "/nothing-like-it\n");
    cr_expect(strstr(app->message, "nothing-like-it") != NULL);
    fab_str_release(&command);
    close_app(app, &options);
}

Test(top, an_adaptive_engine_tells_of_lost_planes) {
    words w;
    cli_options options;
    top_app *app = NULL;
    open_app("clos:gpus=32,gpus-per-server=4,radix=16,planes=2" JOB " --engine adaptive", &w, &options, &app);
    press(app, "/dp\n\nbleaf-0\n");
    cr_expect(top_model_is_known(&app->model));
    expect_as_run(&app->model);
    press(app, "u");
    cr_expect(top_model_is_known(&app->model) && app->drill[1].n > 0);
    expect_as_run(&app->model);
    close_app(app, &options);
}

/* --- flows -------------------------------------------------------------------------------------------------------- */

/* Progressive filling as its definition has it: raise all that are not held, fix those on the link that fills first. */
static void fill(const fab_state_flows *x, uint32_t n_links, const double *capacity, double *rate) {
    const uint32_t n_paths = x->flow_first[x->n_flows];
    double *weight = calloc(n_paths, sizeof *weight);
    bool *held = calloc(n_paths, sizeof *held);
    double *left = malloc(n_links * sizeof *left);
    double *sum = malloc(n_links * sizeof *sum);
    memcpy(left, capacity, n_links * sizeof *left);
    for (uint32_t f = 0; f < x->n_flows; f++) {
        for (uint32_t p = x->flow_first[f]; p < x->flow_first[f + 1]; p++) {
            weight[p] = 1.0 / (x->flow_first[f + 1] - x->flow_first[f]);
            held[p] = x->path_first[p] == x->path_first[p + 1];
            rate[p] = 0;
        }
    }
    while (true) {
        double step = INFINITY;
        memset(sum, 0, n_links * sizeof *sum);
        for (uint32_t p = 0; p < n_paths; p++) {
            for (uint64_t i = x->path_first[p]; i < x->path_first[p + 1] && !held[p]; i++) {
                sum[x->link[i]] += weight[p];
            }
        }
        for (uint32_t l = 0; l < n_links; l++) {
            step = sum[l] > 0 ? fmin(step, left[l] / sum[l]) : step;
        }
        if (!isfinite(step)) {
            break;
        }
        for (uint32_t l = 0; l < n_links; l++) {
            left[l] -= sum[l] * step;
        }
        for (uint32_t p = 0; p < n_paths; p++) {
            bool stops = false;
            rate[p] += held[p] ? 0 : step * weight[p];
            for (uint64_t i = x->path_first[p]; i < x->path_first[p + 1] && !held[p]; i++) {
                stops = stops || (isfinite(capacity[x->link[i]]) && left[x->link[i]] <= 1e-9 * capacity[x->link[i]]);
            }
            held[p] = held[p] || stops;
        }
    }
    free(weight);
    free(held);
    free(left);
    free(sum);
}

static void expect_flows(top_model *m, size_t phase) {
    fab_error err = {0};
    const fab_fabric *f = fab_what_if_fabric(m->what_if);
    const fab_offer *offer = NULL;
    fab_state_flows x = {.n_flows = 0};
    fab_what_if_links links;
    fab_what_if_loads(m->what_if, phase, &links);
    cr_assert_eq(fab_what_if_flows(m->what_if, phase, &x, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_context_offer(m->session.context, phase, &offer, &err), FAB_OK);
    double *capacity = calloc(f->n_links, sizeof *capacity);
    double *load = calloc(f->n_links, sizeof *load);
    double *rate = calloc(x.flow_first[x.n_flows], sizeof *rate);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        capacity[l] = c->kind == FAB_LINK_PCIE ? (double)INFINITY : c->usable_bps * links.residual[l];
    }
    fill(&x, f->n_links, capacity, rate);
    for (uint32_t flow = 0; flow < x.n_flows; flow++) {
        double sum = 0;
        const uint32_t n = x.flow_first[flow + 1] - x.flow_first[flow];
        for (uint32_t p = x.flow_first[flow]; p < x.flow_first[flow + 1]; p++) {
            sum += rate[p];
            for (uint64_t i = x.path_first[p]; i < x.path_first[p + 1]; i++) {
                load[x.link[i]] += offer->rate[flow] / n;
                cr_expect_gt(links.residual[x.link[i]], 0, "a path crosses a dead link");
            }
        }
        cr_expect_float_eq(sum, x.rate_bps[flow], 1e-6 * sum, "flow %u: %g, not %g", flow, x.rate_bps[flow], sum);
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        cr_expect(links.capacity_bps[l] == 0 || fabs(load[l] - links.load_bps[l]) <= 1e-6 * links.capacity_bps[l],
                  "link %u: %g, not %g", l, links.load_bps[l], load[l]);
    }
    fab_state_flows_release(&x);
    free(capacity);
    free(load);
    free(rate);
}

Test(top, flows_are_those_of_the_state) {
    static const char *const LINES[] = {
        "clos:gpus=32,gpus-per-server=4,radix=8,taper=3" JOB
        " --engine ecmp,qp=3 --fail 'leaf-0:6 > spine-1:1' --fail spine-1*0.5",
        "clos:gpus=32,gpus-per-server=4,radix=8" JOB " --engine adaptive --fail spine-1",
        "rail-spine:gpus=32,gpus-per-server=4,radix=8" JOB " --engine ecmp --fail nic-3*0.25"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        words w;
        cli_options options;
        top_app *app = NULL;
        open_app(LINES[i], &w, &options, &app);
        for (size_t p = 0; p < app->model.answer->n_phases; p++) {
            expect_flows(&app->model, p);
        }
        close_app(app, &options);
    }
}

/* What is drawn, for the caller to release. */
static char *drawn(top_app *app, int width) {
    fab_page *page = calloc(1, sizeof *page);
    cr_assert_not_null(page);
    const fab_report_style style = {.ascii = true, .width = width};
    fab_page_init(page, &style);
    (void)top_app_draw(app, 24, page);
    char *text = fab_page_take(page).data;
    free(page);
    return text;
}

/* --- replicas that are lost --------------------------------------------------------------------------------------- */

#define SERVED " --job kind=serving,model=gpt-1.7b,tp=8,tokens=4,memory-check=off"

/* Links and flows of a job that has lost replicas against a job that is set up on the servers left. */
static void expect_left(const top_model *got, const top_model *want) {
    fab_error err = {0};
    const fab_fabric *f = fab_what_if_fabric(got->what_if);
    cr_assert_eq(got->answer->n_phases, want->answer->n_phases);
    for (size_t p = 0; p < got->answer->n_phases; p++) {
        fab_what_if_links a;
        fab_what_if_links b;
        fab_state_flows x = {.n_flows = 0};
        fab_state_flows y = {.n_flows = 0};
        fab_what_if_loads(got->what_if, p, &a);
        fab_what_if_loads(want->what_if, p, &b);
        cr_assert_eq(fab_what_if_flows(got->what_if, p, &x, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_what_if_flows(want->what_if, p, &y, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(x.n_flows, y.n_flows);
        for (uint32_t flow = 0; flow < x.n_flows; flow++) {
            const fab_flow of_x = fab_phase_flow(&fab_what_if_traffic(got->what_if)->phases[p], flow);
            const fab_flow of_y = fab_phase_flow(&fab_what_if_traffic(want->what_if)->phases[p], flow);
            cr_expect(of_x.src == of_y.src && of_x.dst == of_y.dst);
            cr_expect_float_eq(x.rate_bps[flow], y.rate_bps[flow], 1e-9 * y.rate_bps[flow]);
        }
        for (fab_link_id link = 0; link < f->n_links; link++) {
            cr_expect_eq(a.residual[link], b.residual[link]);
            cr_expect_float_eq(a.load_bps[link], b.load_bps[link], 1e-9 * b.load_bps[link],
                               "phase %zu, link %u: %g, not %g", p, link, a.load_bps[link], b.load_bps[link]);
        }
        fab_state_flows_release(&x);
        fab_state_flows_release(&y);
    }
}

Test(top, lost_replicas_leave_the_links_of_those_that_are_left) {
    static const struct {
        const char *keys, *left;
    } STEPS[] = {{"bserver-6\n", ",batch=36,servers=0-5 --fail server-6"},
                 {"bleaf-0:6 > spine-1:1\n", ",batch=36,servers=0-5 --fail server-6 --fail 'leaf-0:6 > spine-1:1'"},
                 {"u", ",batch=36,servers=0-5 --fail server-6"},
                 {"bserver-5\n", ",batch=24,servers=0-3 --fail server-5 --fail server-6"},
                 {"R", ",batch=48"},
                 {"bserver-7*0.5\n", ",batch=48 --fail server-7*0.5"},
                 {"bserver-7\n", ",batch=36,servers=0-5 --fail server-7"}};
    words w;
    words other;
    cli_options options;
    cli_options others;
    top_app *app = NULL;
    open_app("clos:gpus=32,gpus-per-server=4,radix=8" SERVED ",batch=48 --engine ecmp", &w, &options, &app);
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        char line[512];
        top_app *want = NULL;
        press(app, STEPS[i].keys);
        const fab_failed_serving *serving = &app->model.answer->engines[0].policies[0].serving;
        cr_expect_eq(serving->n, 4);
        (void)snprintf(line, sizeof line, "clos:gpus=32,gpus-per-server=4,radix=8" SERVED "%s --engine ecmp",
                       STEPS[i].left);
        open_app(line, &other, &others, &want);
        cr_expect_eq(want->model.answer->engines[0].policies[0].serving.n, serving->n_left, "%s", STEPS[i].keys);
        expect_left(&app->model, &want->model);
        if (app->model.now.n > 0) { /* with nothing broken run has no such answer */
            expect_as_run(&app->model);
        }
        char *text = drawn(app, 120);
        cr_expect_eq(strstr(text, " of 4 replicas left") != NULL, serving->n_left < 4, "%s", text);
        free(text);
        close_app(want, &others);
    }
    close_app(app, &options);
}

/* Another engine may leave phases out, as they have too many paths: a list that was open is empty, and says why. */
Test(top, a_phase_that_is_left_out_has_no_links) {
    words w;
    cli_options options;
    top_app *app = NULL;
    open_app("clos:gpus=32,radix=16" JOB, &w, &options, &app);
    press(app, "\n");
    top_view *v = top_app_shown(app);
    cr_expect_eq(v->kind, TOP_LINKS);
    cr_expect_gt(v->n, 0);
    (void)snprintf(v->phase_name, sizeof v->phase_name, "all-to-all");
    press(app, "bserver-3\n");
    cr_expect_eq(v->n, 0);
    char *text = drawn(app, 120);
    cr_expect_not_null(strstr(text, "all-to-all has too many paths under this engine"), "%s", text);
    free(text);
    close_app(app, &options);
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static void expect_lines(top_app *app, int width, size_t height) {
    fab_page *page = calloc(1, sizeof *page);
    const fab_report_style style = {.ascii = true, .width = width};
    fab_page_init(page, &style);
    const size_t selected = top_app_draw(app, height, page);
    size_t n = 0;
    fab_str out = fab_page_take(page);
    const char *line = out.data;
    for (; *line != '\0'; n++) {
        const size_t length = strcspn(line, "\n");
        cr_expect_leq(length, (size_t)width, "'%.*s'", (int)length, line);
        line += length + 1;
    }
    cr_expect_leq(n, height, "%zu lines at %d x %zu:\n%s", n, width, height, out.data);
    cr_expect(selected == SIZE_MAX || selected < height);
    fab_str_release(&out);
    free(page);
}

Test(top, lines_fit_any_terminal) {
    static const char *const AT[] = {"", "\n", "\n", "\t", "\t", "/leaf", "\n?", "bleaf-1\n", "\t", "k"};
    static const int WIDTHS[] = {40, 60, 80, 132, 240};
    static const size_t HEIGHTS[] = {1, 5, 11, 12, 24, 60};
    words w;
    cli_options options;
    top_app *app = NULL;
    open_app("clos:gpus=32,gpus-per-server=4,radix=8,spares=1" JOB " --engine ecmp,qp=2", &w, &options, &app);
    for (size_t i = 0; i < sizeof AT / sizeof *AT; i++) {
        press(app, AT[i]);
        for (size_t k = 0; k < sizeof WIDTHS / sizeof *WIDTHS; k++) {
            for (size_t h = 0; h < sizeof HEIGHTS / sizeof *HEIGHTS; h++) {
                expect_lines(app, WIDTHS[k], HEIGHTS[h]);
            }
        }
    }
    close_app(app, &options);
}

Test(top, help_fits_80_columns_and_the_first_phase_has_links) {
    words w;
    cli_options options;
    top_app *app = NULL;
    open_app("clos:gpus=64,radix=16 --job model=llama3-8b,tp=4,cp=2,dp=8,batch=64", &w, &options, &app);
    const top_view *phases = &app->drill[0];
    cr_assert(phases->n > 1 && phases->row > 0, "the first phase stays inside the servers");
    cr_expect_eq(top_model_healthy(&app->model)->phases[phases->item[0]].worst_ratio, 0);
    press(app, "\n");
    cr_expect(app->drill[1].n > 0, "the phase that is selected has no links");
    press(app, "?");
    char *narrow = drawn(app, 80);
    char *wide = drawn(app, 240);
    cr_expect_str_eq(narrow, wide);
    free(narrow);
    free(wide);
    close_app(app, &options);
}
