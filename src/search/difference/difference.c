/* Two states side by side: times of phases and iterations, and the answer in a sentence. */
#include "diff_internal.h"

#include "fab/assess.h"
#include "fab/json_read.h"
#include "fab/plan_run.h"
#include "fab/sweep.h"
#include "fab/units.h"

/* The phases, iterations and worst links of a report in JSON that `run` or `route` has written. */

/* Of several seeds the mean. */
static double mean_of(const fab_json *json, uint32_t object, const char *key) {
    double value = fab_json_number_of(json, object, key, NAN);
    return isnan(value) ? fab_json_number_of(json, fab_json_member(json, object, key), "mean", NAN) : value;
}

/* A list that is a member of an object: its first element. */
static uint32_t first_of(const fab_json *json, uint32_t object, const char *key) {
    return fab_json_first(json, fab_json_member(json, object, key));
}

static uint32_t whole_of(const fab_json *json, uint32_t object, const char *key) {
    double value = fab_json_number_of(json, object, key, 0);
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static void take_link(const fab_json *json, uint32_t at, fab_hot_link *out) {
    FAB_FORMAT(out->name, "%s", fab_json_text_of(json, at, "link", ""));
    out->factor = mean_of(json, at, "factor");
    out->n_flows = whole_of(json, at, "n_flows");
    for (uint32_t i = first_of(json, at, "flows"); i != FAB_JSON_NONE && out->n_listed < FAB_HOT_FLOWS;
         i = json->values[i].next) {
        fab_flow_ref *flow = &out->flows[out->n_listed++];
        flow->src_gpu = whole_of(json, i, "src_gpu");
        flow->dst_gpu = whole_of(json, i, "dst_gpu");
        flow->src_rank = whole_of(json, i, "src_rank");
        flow->dst_rank = whole_of(json, i, "dst_rank");
        FAB_FORMAT(flow->comm, "%s", fab_json_text_of(json, i, "comm", ""));
    }
}

static void take_engine(const fab_json *json, uint32_t at, fab_engine_result *out) {
    FAB_FORMAT(out->engine, "%s", fab_json_text_of(json, at, "engine", ""));
    FAB_FORMAT(out->label, "%s", fab_json_text_of(json, at, "options", out->engine));
    out->time_s.mean = mean_of(json, at, "time_s");
    out->time_s.ci95 = fab_json_number_of(json, fab_json_member(json, at, "time_s"), "ci95", 0);
    out->n_seeds = whole_of(json, at, "seeds");
    out->seeded = fab_json_number_of(json, at, "seeded", 0) > 0;
    out->has_time = !isnan(out->time_s.mean);
    out->max_collision_factor.mean = mean_of(json, at, "max_collision_factor");
    for (uint32_t i = first_of(json, at, "hot_links"); i != FAB_JSON_NONE && out->n_hot < FAB_HOT_LINKS;
         i = json->values[i].next) {
        take_link(json, i, &out->hot[out->n_hot++]);
    }
}

static fab_status read_phase(const fab_json *json, uint32_t at, fab_phase_result *out, fab_error *err) {
    size_t n = fab_json_count(json, fab_json_member(json, at, "engines"));
    FAB_FORMAT(out->name, "%s", fab_json_text_of(json, at, "name", ""));
    out->run = whole_of(json, at, "run");
    out->fabric_flows = whole_of(json, at, "fabric_flows");
    out->alternative = fab_json_number_of(json, at, "alternative", 0) > 0;
    FAB_PASS(FAB_NEW(out->engines, n + 1, err));
    for (uint32_t i = first_of(json, at, "engines"); i != FAB_JSON_NONE; i = json->values[i].next) {
        take_engine(json, i, &out->engines[out->n_engines++]);
    }
    return FAB_OK;
}

/* Phases, iterations and worst links of a report. */
static fab_status diff_read_report(const fab_diff_state *state, fab_result *out, fab_error *err) {
    FAB_OWNS(fab_json_release) fab_json json = {.n = 0};
    FAB_PASS(fab_json_parse(state->report, state->name, &json, err));
    uint32_t phases = fab_json_member(&json, 0, "phases");
    size_t n_iterations = fab_json_count(&json, fab_json_member(&json, 0, "iteration"));
    FAB_REFUSE_IF(phases == FAB_JSON_NONE || first_of(&json, json.values[phases].first, "engines") == FAB_JSON_NONE,
                  err, FAB_EINPUT, state->name,
                  "no phases with engines: no report that 'fabriscope run' or 'route' wrote with --json");
    FAB_FORMAT(out->traffic, "%s", fab_json_text_of(&json, fab_json_member(&json, 0, "meta"), "traffic", ""));
    FAB_PASS(FAB_NEW(out->phases, fab_json_count(&json, phases) + 1, err));
    for (uint32_t i = json.values[phases].first; i != FAB_JSON_NONE; i = json.values[i].next) {
        FAB_PASS(read_phase(&json, i, &out->phases[out->n_phases++], err));
    }
    FAB_PASS(FAB_NEW(out->iterations, n_iterations + 1, err));
    for (uint32_t i = first_of(&json, 0, "iteration"); i != FAB_JSON_NONE; i = json.values[i].next) {
        const uint32_t seeds = fab_json_member(&json, i, "seeds");
        fab_iteration *it = &out->iterations[out->n_iterations++];
        it->time_s = mean_of(&json, i, "time_s");
        it->tokens_per_s = mean_of(&json, i, "tokens_per_s");
        it->seeds.n_seeds = seeds != FAB_JSON_NONE ? whole_of(&json, seeds, "seeds") : 0;
        if (it->seeds.n_seeds > 1) {
            it->seeds.time_s.ci95 = fab_json_number_of(&json, fab_json_member(&json, seeds, "time_s"), "ci95", 0);
        }
    }
    return FAB_OK;
}

/* --- phases ------------------------------------------------------------------------------------------------------- */

static size_t engines_of(const fab_result *result) {
    return result->n_phases > 0 ? result->phases[0].n_engines : result->n_iterations;
}

/* Returns the half width of the interval of the time. */
static double take_phase(const fab_result *result, const char *name, size_t engine, double *out_s, double *out_factor,
                         fab_heat *out_heat) {
    const fab_phase_result *phase = diff_phase_named(result, name);
    *out_s = *out_factor = NAN;
    if (phase == NULL || engine >= phase->n_engines) {
        return 0;
    }
    const fab_engine_result *r = &phase->engines[engine];
    *out_s = r->has_time ? r->time_s.mean : (double)NAN;
    *out_factor = r->max_collision_factor.mean;
    *out_heat = fab_heat_of(r);
    return r->has_time ? r->time_s.ci95 : 0;
}

static bool is_listed(const fab_diff_engine *e, const char *name) {
    FAB_ANY(found, p, e->n_phases, strcmp(e->phases[p].name, name) == 0);
    return found;
}

/* Half width of the interval of the time, over the seeds; of all phases at most the sum of theirs. */
static double interval_of(const fab_result *result, size_t engine) {
    double sum_s = 0;
    if (engine < result->n_iterations) {
        return result->iterations[engine].seeds.n_seeds > 1 ? result->iterations[engine].seeds.time_s.ci95 : 0;
    }
    for (size_t p = 0; p < result->n_phases; p++) {
        sum_s += engine < result->phases[p].n_engines ? result->phases[p].engines[engine].time_s.ci95 : 0;
    }
    return sum_s;
}

/* The draws of a phase that is drawn on its way through the fabric; 0: it is not. */
static uint64_t draws_of(const fab_result *result, size_t e, const char *name) {
    const fab_phase_result *phase = diff_phase_named(result, name);
    const bool is_drawn = phase != NULL && e < phase->n_engines && phase->engines[e].seeded && phase->fabric_flows > 0;
    return is_drawn ? phase->engines[e].n_seeds : 0;
}

/* How far the answer hangs on draws, once changes and links are known: a phase that is drawn takes another time, links
 * collide in one state alone, or ranks run elsewhere. What stays, as where computation alone differs, no other draw
 * would tell apart. */
static void note_draws(diff *d, size_t e) {
    fab_diff_engine *out = &d->out->engines[e];
    bool is_once = false;
    FAB_ANY(hangs, i, d->out->n_changes, d->out->changes[i].kind == FAB_CHANGE_SERVER);
    hangs = hangs || out->n_new + out->n_gone > 0;
    FAB_EACH(const fab_diff_phase, row, out->phases, out->n_phases) {
        const uint64_t before = draws_of(&d->side[0].result, e, row->name);
        const uint64_t after = draws_of(&d->side[1].result, e, row->name);
        const bool stays = row->before_s <= row->after_s && row->before_s >= row->after_s;
        hangs = hangs || (before + after > 0 && !stays);
        is_once = is_once || before == 1 || after == 1;
        out->n_draws = before > out->n_draws ? before : out->n_draws;
        out->n_draws = after > out->n_draws ? after : out->n_draws;
    }
    out->is_draw = is_once && hangs && d->out->stopped == NULL; /* that a job stops is no chance */
    out->n_draws = is_once ? 0 : out->n_draws;
}

/* Tokens of an iteration before, over those of one after. */
static double work_ratio(const fab_result *a, const fab_result *b, size_t e) {
    if (e >= a->n_iterations || e >= b->n_iterations) {
        return 1;
    }
    double before = a->iterations[e].tokens_per_s * a->iterations[e].time_s;
    double ratio = before / (b->iterations[e].tokens_per_s * b->iterations[e].time_s);
    return ratio > 0 && isfinite(ratio) && fabs(ratio - 1) > DIFF_SAME ? ratio : 1;
}

static fab_status fill_engine(diff *d, size_t e, fab_error *err) {
    fab_diff_engine *out = &d->out->engines[e];
    const fab_result *a = &d->side[0].result;
    const fab_result *b = &d->side[1].result;
    fab_parts parts[2];
    FAB_PASS(FAB_NEW(out->phases, a->n_phases + b->n_phases + 1, err));
    for (size_t i = 0; i < a->n_phases + b->n_phases; i++) {
        const char *name = i < a->n_phases ? a->phases[i].name : b->phases[i - a->n_phases].name;
        if (!is_listed(out, name)) {
            fab_diff_phase *p = &out->phases[out->n_phases++];
            FAB_FORMAT(p->name, "%s", name);
            p->ci95_s = take_phase(a, name, e, &p->before_s, &p->before_factor, &p->before_heat);
            p->ci95_s += take_phase(b, name, e, &p->after_s, &p->after_factor, &p->after_heat);
        }
    }
    if (b->n_phases > 0) {
        FAB_FORMAT(out->label, "%s", b->phases[0].engines[e].label);
    }
    if (a->n_phases > 0 && strcmp(a->phases[0].engines[e].label, out->label) != 0) {
        FAB_FORMAT(out->before_label, "%s", a->phases[0].engines[e].label);
    }
    out->iterates = e < a->n_iterations && e < b->n_iterations;
    out->before_s = diff_time_of(a, e);
    out->after_s = diff_time_of(b, e);
    out->work_ratio = work_ratio(a, b, e);
    FAB_PASS(diff_parts_of(a, e, &parts[0], err));
    FAB_PASS(diff_parts_of(b, e, &parts[1], err));
    out->ci95_s = parts[0].n > 1 && parts[1].n > 1 ? fab_pairs_ci95(&parts[1], NULL, &parts[0], NULL) * out->before_s
                                                   : interval_of(a, e) + interval_of(b, e) * out->work_ratio;
    out->ratio = out->before_s > 0  ? out->after_s * out->work_ratio / out->before_s
                 : out->after_s > 0 ? (double)NAN
                                    : 1;
    return FAB_OK;
}

static double distance_of(const fab_diff_engine *e) {
    return isnan(e->ratio) || e->ratio <= 0 || diff_is_chance(e) ? 0 : fabs(log(e->ratio));
}

static fab_status fill_engines(diff *d, fab_error *err) {
    size_t n[2] = {engines_of(&d->side[0].result), engines_of(&d->side[1].result)};
    d->out->n_engines = n[0] < n[1] ? n[0] : n[1];
    FAB_PASS(FAB_NEW(d->out->engines, d->out->n_engines + 1, err));
    for (size_t e = 0; e < d->out->n_engines; e++) {
        FAB_PASS(fill_engine(d, e, err));
        d->out->worst =
            distance_of(&d->out->engines[e]) > distance_of(&d->out->engines[d->out->worst]) ? e : d->out->worst;
    }
    return FAB_OK;
}

static void judge_times(double before_s, double after_s, double ci95_s, fab_difference *out) {
    const bool is_above = after_s > out->tolerance * before_s;
    out->is_beyond = out->is_beyond || (is_above && after_s - before_s > ci95_s);
    out->is_open = out->is_open || (is_above && after_s - before_s <= ci95_s);
}

/* Of a job that iterates its iteration counts, else every phase; what is not told apart is not beyond. */
static void judge(fab_difference *out) {
    out->is_beyond = out->tolerance > 0 && out->stopped != NULL;
    for (size_t e = 0; e < out->n_engines && out->tolerance > 0; e++) {
        const fab_diff_engine *engine = &out->engines[e];
        judge_times(engine->before_s, engine->after_s * engine->work_ratio, engine->ci95_s, out);
        for (size_t p = 0; p < engine->n_phases && !engine->iterates; p++) {
            const fab_diff_phase *phase = &engine->phases[p];
            judge_times(phase->before_s, phase->after_s, phase->ci95_s, out);
        }
    }
}

bool diff_is_chance(const fab_diff_engine *engine) {
    return engine->ci95_s > 0 && fabs(engine->after_s * engine->work_ratio - engine->before_s) <= engine->ci95_s;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* What times are of: means, or one draw, and why no more. */
static const char *say_draws(const fab_difference *out, const fab_diff_engine *e, char room[80]) {
    room[0] = '\0';
    if (e->is_draw) {
        (void)snprintf(room, 80, " by one draw%s", out->is_large ? " (--seeds 8 for means of so many paths)" : "");
    } else if (e->n_draws > 1) {
        (void)snprintf(room, 80, " over %" PRIu64 " seeds", e->n_draws);
    }
    return room;
}

static void say_times(const fab_difference *out, fab_str *text) {
    const fab_diff_engine *e = &out->engines[out->worst];
    char draws[80];
    const char *what = e->iterates ? "an iteration takes" : e->n_phases == 1 ? "the phase takes" : "the phases take";
    const bool is_same = fabs(e->ratio - 1) <= DIFF_SAME;
    const bool is_other = fabs(e->work_ratio - 1) > 0;
    const char *how = is_same                          ? "As fast as before"
                      : diff_is_chance(e)              ? "Not told apart"
                      : fabs(e->ratio - 1) < DIFF_EVEN ? "Even"
                      : e->ratio > 1                   ? "Slower"
                                                       : "Faster";
    if (isnan(e->ratio)) {
        fab_str_add(text, "Not known: the time of one of the two states cannot be computed");
        return;
    }
    fab_str_printf(text, "%s%s: %s %s", how, say_draws(out, e, draws), what, FAB_SAY(e->after_s, FAB_UNIT_TIME));
    if (!is_same) {
        fab_str_printf(text, ", %s before", FAB_SAY(e->before_s, FAB_UNIT_TIME));
    }
    if (!is_same && diff_is_chance(e)) {
        const uint64_t n = fab_stat_needed(e->n_draws, FAB_EVEN_RATIO * e->before_s, e->ci95_s);
        fab_str_printf(text, ", +- %s: these seeds leave %.2g %% open", FAB_SAY(e->ci95_s, FAB_UNIT_TIME),
                       100 * e->ci95_s / e->before_s);
        if (n > e->n_draws) {
            fab_str_printf(text,
                           " (about --seeds %" PRIu64 " leave %.0f %%; --engine spray, which draws nothing, tells at "
                           "once what the cables alone do)",
                           n, 100 * FAB_EVEN_RATIO);
        }
    } else if (!is_same) {
        fab_str_printf(text, " (x%.3f%s)", e->ratio, is_other ? " for as many tokens" : "");
    }
    if (is_other) {
        fab_str_printf(text, ", and one has %.4g %% of the tokens", 100 / e->work_ratio);
    }
    if (out->n_engines > 1) {
        fab_str_printf(text, " under %s", e->label);
    }
    if (e->n_new > 0 && (e->n_draws < 2 || !diff_is_chance(e))) {
        fab_str_printf(text, "; %s%" PRIu64 " link%s collide%s that did not",
                       e->n_draws > 1 ? "in the first draw " : "", e->n_new, e->n_new == 1 ? "" : "s",
                       e->n_new == 1 ? "s" : "");
        if (e->n_new_nics == e->n_new) {
            fab_str_add(text, ", of NICs and none between switches");
        } else if (e->n_new_nics > 0) {
            fab_str_printf(text, ", %" PRIu64 " of them of NICs", e->n_new_nics);
        }
        if (e->n_gone > 0) {
            fab_str_printf(text, ", %" PRIu64 " no more", e->n_gone);
        }
    }
}

static bool is_nothing(const fab_difference *out) {
    const fab_diff_engine *e = out->engines;
    FAB_ANY(differs, i, out->n_engines, fabs(e[i].ratio - 1) > DIFF_SAME || e[i].n_new > 0 || e[i].n_gone > 0);
    return !differs && out->n_changes == 0 && out->n_engines > 0 && out->stopped == NULL;
}

static fab_status say_verdict(const diff *d, fab_error *err) {
    fab_difference *out = d->out;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    bool has_times = out->n_engines > 0;
    if (out->stopped != NULL) {
        fab_str_printf(&text, "Stopped: %s", out->stopped);
    } else if (is_nothing(out)) {
        fab_str_add(&text, "Nothing differs");
    } else if (has_times) {
        say_times(out, &text);
    } else {
        fab_str_add(&text, "Neither state has traffic");
    }
    diff_say_left(d, &text);
    FAB_PASS(fab_str_status(&text, err));
    return FAB_GIVE(out->verdict, text.data);
}

/* --- both states -------------------------------------------------------------------------------------------------- */

static fab_status open_state(diff *d, int i, fab_error *err) {
    const fab_diff_state *state = i == 0 ? &d->q->before : &d->q->after;
    if (state->design == NULL) {
        return diff_read_report(state, &d->side[i].result, err);
    }
    FAB_PASS(FAB_NEW(d->design[i], 1, err));
    *d->design[i] = *state->design;
    FAB_PASS(diff_place_hosts(state, d->design[i], err));
    const fab_job_spec *like = i == 1 && d->design[0] != NULL ? &d->design[0]->jobs[0] : NULL;
    return fab_plan_settle(d->design[i], d->q->traffic, like, d->q->seed, d->q->n_threads, err);
}

static fab_status prepare_state(diff *d, int i, fab_error *err) {
    const fab_diff_state *state = i == 0 ? &d->q->before : &d->q->after;
    const diff_variant v = {.design = d->design[i], .failed = state->failed, .n_failed = state->n_failed};
    return d->design[i] != NULL ? diff_side_prepare(d, &v, DIFF_ALL, &d->side[i], err) : FAB_OK;
}

/* As many seeds as were asked for, else as a report has of what it draws, else as many as designs of this size get
 * unasked. */
static fab_status choose_seeds(diff *d, fab_error *err) {
    d->n_seeds = d->q->n_seeds;
    for (int i = 0; i < 2 && d->q->n_seeds == 0; i++) {
        const fab_result *result = &d->side[i].result;
        uint64_t n = 0;
        for (size_t e = 0; d->design[i] == NULL && result->n_phases > 0 && e < result->phases[0].n_engines; e++) {
            const fab_engine_result *of = &result->phases[0].engines[e];
            n = of->seeded && of->n_seeds > n ? of->n_seeds : n;
        }
        FAB_PASS(d->design[i] != NULL ? fab_unasked_seeds(d->side[i].context, 2, &n, err) : FAB_OK);
        d->out->is_large = d->out->is_large || (d->design[i] != NULL && n == 1);
        d->n_seeds = n > 0 && (d->n_seeds == 0 || n < d->n_seeds) ? n : d->n_seeds; /* 0: nothing is drawn */
    }
    d->n_seeds = d->n_seeds > 0 ? d->n_seeds : 1;
    return FAB_OK;
}

static fab_status evaluate_states(diff *d, fab_error *err) {
    for (int i = 0; i < 2; i++) {
        FAB_PASS(d->design[i] != NULL ? diff_side_evaluate(d, true, &d->side[i], err) : FAB_OK);
    }
    return FAB_OK;
}

/* Several seeds that nobody asked for must not take more memory than a run may. */
static fab_status evaluate_both(diff *d, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    FAB_PASS(prepare_state(d, 0, err));
    FAB_PASS(prepare_state(d, 1, err));
    FAB_PASS(choose_seeds(d, err));
    fab_status status = evaluate_states(d, &why);
    if (status == FAB_ELIMIT && d->q->n_seeds == 0 && d->n_seeds > 1) {
        d->n_seeds = 1;
        d->out->is_large = true;
        for (int i = 0; i < 2; i++) {
            if (d->design[i] != NULL) {
                diff_side_release(&d->side[i]);
                FAB_PASS(prepare_state(d, i, err));
            }
        }
        return evaluate_states(d, err);
    }
    return fab_fail_as(err, status, &why);
}

static const char *kind_of(const fab_diff_request *q) {
    bool designs = q->before.design != NULL && q->after.design != NULL;
    bool reports = q->before.design == NULL && q->after.design == NULL;
    return reports                                         ? "results"
           : !designs                                      ? "mixed"
           : q->before.is_imported && q->after.is_imported ? "imports"
                                                           : "designs";
}

static fab_status diff_prepare(diff *d, fab_error *err) {
    fab_difference *out = d->out;
    bool reads = d->q->before.design == NULL || d->q->after.design == NULL;
    FAB_REFUSE_IF(reads && d->q->before.n_failed + d->q->after.n_failed > 0, err, FAB_EUNSUPPORTED, NULL,
                  "a report has no loads to compare with what has failed; compare two designs");
    out->kind = kind_of(d->q);
    out->tolerance = d->q->tolerance;
    FAB_PASS(FAB_STRDUP(out->before, d->q->before.name, err));
    FAB_PASS(FAB_STRDUP(out->after, d->q->after.name, err));
    FAB_PASS(open_state(d, 0, err));
    FAB_PASS(open_state(d, 1, err));
    out->keeps_plan = d->design[0] != NULL && d->design[1] != NULL && d->design[1]->jobs[0].plan_chosen;
    if (out->keeps_plan) {
        const fab_job_plan plan = fab_job_plan_of(&d->design[1]->jobs[0]);
        (void)fab_job_plan_text(&plan, out->plan);
    }
    FAB_PASS(evaluate_both(d, err));
    FAB_REFUSE_IF(d->side[0].stopped.length > 0, err, FAB_EINPUT, d->q->before.name, "the job does not run before: %s",
                  d->side[0].stopped.data);
    return d->side[1].stopped.length > 0 ? FAB_STRDUP(out->stopped, d->side[1].stopped.data, err) : FAB_OK;
}

static void diff_release(diff *d) {
    if (d == NULL) {
        return;
    }
    for (size_t i = 0; d->undo != NULL && i < DIFF_CHANGES; i++) {
        free(d->undo[i]);
    }
    for (int i = 0; i < 2; i++) {
        diff_side_release(&d->side[i]);
        free(d->design[i]);
    }
    fab_difference_free(d->out);
    FAB_FREE_ALL(d->same, d->back, d->node, (void *)d->undo, d->place, d->cycle, d->is_changed, d->group, d->moved,
                 d->exchanged, d->n_below, d);
}
FAB_OWNER(diff, diff_release)

/* Servers that have left a job take their tokens with them: that is most of the difference by itself. */
static fab_status tell_fewer_gpus(fab_difference *out, uint64_t before, uint64_t after, fab_error *err) {
    const fab_diff_engine *e = &out->engines[out->worst];
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    if (out->is_verified || after == 0 || after >= before || !(e->work_ratio > 1 && e->ratio > 1) ||
        !(log(e->work_ratio) >= log(e->ratio) / 2)) {
        return FAB_OK;
    }
    fab_str_printf(
        &text,
        "The cause is that the job has %" PRIu64 " GPUs in place of %" PRIu64
        ": with %.4g %% of the tokens an iteration that is no shorter makes x%.3f of x%.3f; all else together "
        "x%.3f",
        after, before, 100 / e->work_ratio, e->work_ratio, e->ratio, e->ratio / e->work_ratio);
    FAB_PASS(fab_str_status(&text, err));
    free(out->cause);
    out->cause = fab_strdup(text.data, err);
    return out->cause != NULL ? FAB_OK : FAB_ENOMEM;
}

static fab_status compare_sides(diff *d, fab_error *err) {
    bool designs = d->q->before.design != NULL && d->q->after.design != NULL;
    FAB_PASS(fill_engines(d, err));
    if (designs) {
        FAB_PASS(diff_match_links(d, err));
        FAB_PASS(diff_find_changes(d, err));
    } else if (strcmp(d->out->kind, "results") == 0 &&
               strcmp(d->side[0].result.traffic, d->side[1].result.traffic) != 0) {
        FAB_PASS(diff_add_change(d, FAB_CHANGE_SETTING, "traffic", d->side[0].result.traffic, d->side[1].result.traffic,
                                 NULL, 0, err));
    }
    for (size_t e = 0; e < d->out->n_engines; e++) {
        FAB_PASS(designs ? diff_find_links(d, e, err) : diff_find_listed_links(d, e, err));
        note_draws(d, e);
    }
    if (designs && d->out->n_engines > 0) {
        FAB_PASS(diff_find_cause(d, err));
        FAB_PASS(tell_fewer_gpus(d->out, d->side[0].result.ranks, d->side[1].result.ranks, err));
    }
    judge(d->out);
    return say_verdict(d, err);
}

fab_status fab_diff_run(const fab_diff_request *request, fab_difference **out, fab_error *err) {
    FAB_OWNS_NEW(diff_release_owned, diff, d, 1, err);
    d->q = request;
    d->hot = FAB_NONE;
    FAB_PASS(FAB_NEW(d->out, 1, err));
    FAB_PASS(diff_prepare(d, err));
    FAB_PASS(compare_sides(d, err));
    if ((request->before.design == NULL || request->after.design == NULL) && !is_nothing(d->out)) {
        FAB_PASS(FAB_STRDUP(d->out->cause, "No cause is verified: a report cannot be evaluated again; compare designs",
                            err));
    }
    return FAB_GIVE(*out, d->out);
}

/* --- release ------------------------------------------------------------------------------------------------------ */

static void release_crossing(fab_diff_crossing *c) {
    for (size_t i = 0; i < FAB_DIFF_FLOWS; i++) {
        FAB_FREE_ALL(c->flows[i].src, c->flows[i].dst);
    }
}

FAB_FREES_AFTER(fab_difference_free, fab_difference, x) {
    for (size_t i = 0; i < x->n_changes; i++) {
        FAB_FREE_ALL(x->changes[i].what, x->changes[i].before, x->changes[i].after);
    }
    for (size_t e = 0; e < x->n_engines && x->engines != NULL; e++) {
        for (size_t i = 0; i < FAB_DIFF_LINKS; i++) {
            release_crossing(&x->engines[e].links[i].before);
            release_crossing(&x->engines[e].links[i].after);
        }
        free(x->engines[e].phases);
    }
    FAB_FREE_EACH_OF(free, x->tests, x->n_tests, .what);
    FAB_FREE_ALL(x->before, x->after, x->stopped, x->changes, x->engines, x->verdict, x->cause, x->tests);
}
