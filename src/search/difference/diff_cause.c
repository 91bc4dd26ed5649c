/* Which changes make the difference: each undone alone, each made alone, then the fewest that make it together. */
#include "diff_internal.h"

#include "fab/analysis.h"
#include "fab/memory.h"
#include "fab/units.h"

#include <math.h>
#include <stdarg.h>

#define NEAR       0.1  /* part of the difference that may be left where the time is said to be back */
#define NEARER     0.25 /* where the intervals of means are wider */
#define MOST_NAMED 3    /* changes in a sentence */

/* --- the second state, with changes undone ------------------------------------------------------------------------ */

static bool any_undone(const diff *d, const bool *undone, fab_change_kind kind) {
    bool any = false;
    for (size_t i = 0; i < d->out->n_changes; i++) {
        any = any || (undone[i] && d->out->changes[i].kind == kind);
    }
    return any;
}

static bool is_undone_key(const diff *d, const bool *undone, const char *line, size_t key) {
    for (size_t i = 0; i < d->out->n_changes; i++) {
        if (undone[i] && d->undo[i] != NULL && strlen(d->undo[i]) == key && strncmp(d->undo[i], line, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Lines of a canonical text whose keys are undone, or those that are not. */
static void copy_lines(const diff *d, const bool *undone, const char *text, bool wants_undone, fab_str *out) {
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        if (is_undone_key(d, undone, line, strcspn(line, "=")) == wants_undone) {
            fab_str_append(out, line, length);
        }
        line += length;
    }
}

/* Jobs follow their ids: lines of the first text stand before those of the second that belong to the same part. */
static int part_of(const char *line) {
    return strncmp(line, "job.", 4) == 0 ? 1 : strncmp(line, "engine.", 7) == 0 ? 2 : 0;
}

static void merge_lines(const char *mine, const char *its, fab_str *out) {
    for (int part = 0; part < 3; part++) {
        const char *texts[2] = {mine, its};
        for (int i = 0; i < 2; i++) {
            for (const char *line = texts[i]; line != NULL && *line != '\0';) {
                size_t length = strcspn(line, "\n");
                length += line[length] == '\n';
                if (part_of(line) == part) {
                    fab_str_append(out, line, length);
                }
                line += length;
            }
        }
    }
}

static fab_status undo_values(const diff *d, const bool *undone, fab_design *out, fab_error *err) {
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    FAB_OWNS(fab_str_release) fab_str kept = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str taken = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str all = FAB_STR_INIT;
    *out = *d->design[1];
    if (!any_undone(d, undone, FAB_CHANGE_SETTING) && !any_undone(d, undone, FAB_CHANGE_ENGINE)) {
        return FAB_OK;
    }
    for (int i = 0; i < 2; i++) {
        fab_design_describe(d->design[i], &text[i]);
        FAB_PASS(fab_str_status(&text[i], err));
    }
    copy_lines(d, undone, text[1].data, false, &kept);
    copy_lines(d, undone, text[0].data, true, &taken);
    merge_lines(kept.data, taken.data, &all);
    FAB_PASS(kept.failed || taken.failed || all.failed ? FAB_ENOMEM : FAB_OK);
    FAB_PASS(fab_design_restore(all.data != NULL ? all.data : "", out, err));
    out->fabric.max_bytes = d->design[1]->fabric.max_bytes;
    return FAB_OK;
}

static bool is_undone_place(const diff *d, const bool *undone, size_t at) {
    bool is = false;
    for (size_t i = 0; i < d->out->n_changes && !is; i++) {
        is = undone[i] && d->out->changes[i].kind == FAB_CHANGE_SERVER && diff_is_at(d, d->place[i], at);
    }
    return is;
}

/* The job's servers, with those that are undone as they were; who stands there now takes the place that is left. */
static fab_status undo_servers(const diff *d, const bool *undone, fab_design *design, fab_error *err) {
    FAB_OWNED uint32_t *now = NULL;
    FAB_OWNED uint32_t *then = NULL;
    size_t n = 0;
    size_t n_then = 0;
    if (!any_undone(d, undone, FAB_CHANGE_SERVER)) {
        return FAB_OK;
    }
    FAB_PASS(diff_servers_of(&d->side[1], &now, &n, err));
    FAB_PASS(diff_servers_of(&d->side[0], &then, &n_then, err));
    for (size_t at = 0; at < (n > n_then ? n : n_then); at++) {
        if (!is_undone_place(d, undone, at)) {
            continue;
        }
        uint32_t back = at < n && at < n_then ? diff_server_after(d, then[at]) : FAB_NONE;
        FAB_REFUSE_IF(back == FAB_NONE, err, FAB_EUNSUPPORTED, NULL, "the server of before is not there");
        for (size_t k = 0; k < n; k++) {
            now[k] = k != at && now[k] == back ? now[at] : now[k];
        }
        now[at] = back;
    }
    return diff_set_servers(design, now, n, err);
}

static fab_status undo_failures(const diff *d, const bool *undone, const char ***out, size_t *out_n, fab_error *err) {
    const fab_diff_request *q = d->q;
    const char **list = NULL;
    size_t n = 0;
    FAB_PASS(fab_allocate(q->before.n_failed + q->after.n_failed + 1, sizeof(char *), &list, err));
    for (size_t k = 0; k < q->after.n_failed; k++) {
        bool back = false;
        for (size_t i = 0; i < d->out->n_changes; i++) {
            const fab_change *c = &d->out->changes[i];
            bool is_new = c->kind == FAB_CHANGE_FAILURE && strcmp(c->before, "works") == 0;
            back = back || (undone[i] && is_new && d->place[i] == k);
        }
        if (!back) {
            list[n++] = q->after.failed[k];
        }
    }
    for (size_t i = 0; i < d->out->n_changes; i++) {
        const fab_change *c = &d->out->changes[i];
        if (undone[i] && c->kind == FAB_CHANGE_FAILURE && strcmp(c->after, "works") == 0) {
            list[n++] = q->before.failed[d->place[i]];
        }
    }
    *out = list;
    *out_n = n;
    return FAB_OK;
}

static bool rebuilds(const diff *d, const bool *undone) {
    bool any = false;
    for (size_t i = 0; i < d->out->n_changes; i++) {
        const char *key = undone[i] ? d->undo[i] : NULL;
        any = any || (key != NULL && strncmp(key, "job.", 4) != 0 && strncmp(key, "engine.", 7) != 0);
    }
    return any;
}

/* The second state with some changes undone; as diff_time(). */
static fab_status diff_time_without(const diff *d, const bool *undone, double *out_s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {0};
    fab_design *design = NULL;
    fab_fabric *graph = NULL;
    const char **failed = NULL;
    diff_variant v = {.graph = rebuilds(d, undone) ? NULL : d->side[1].f};
    *out_s = NAN;
    FAB_TRY(FAB_NEW(design, 1, &inner));
    FAB_TRY(undo_values(d, undone, design, &inner));
    FAB_TRY(undo_servers(d, undone, design, &inner));
    FAB_TRY(undo_failures(d, undone, &failed, &v.n_failed, &inner));
    if (any_undone(d, undone, FAB_CHANGE_CABLE) || any_undone(d, undone, FAB_CHANGE_BOX) ||
        any_undone(d, undone, FAB_CHANGE_MOVE)) {
        FAB_TRY(diff_recable(d, undone, &graph, &inner));
        v.graph = graph;
    }
    v.design = design;
    v.failed = failed;
    FAB_TRY(diff_time(d, &v, d->out->worst, out_s, &inner));
done:
    fab_fabric_free(graph);
    FAB_FREE_ALL((void *)failed, design);
    return status == FAB_OK || fab_is_refusal(status) ? FAB_OK : fab_fail(err, status, inner.where, "%s", inner.text);
}

fab_status diff_time_on(const diff *d, const uint32_t *servers, size_t n, double *out_s, fab_error *err) {
    FAB_OWNED_NEW(fab_design, design, 1, err);
    *design = *d->design[1];
    FAB_PASS(diff_set_servers(design, servers, n, err));
    const diff_variant v = {
        .design = design, .graph = d->side[1].f, .failed = d->q->after.failed, .n_failed = d->q->after.n_failed};
    return diff_time(d, &v, d->out->worst, out_s, err);
}

/* --- what makes the difference ------------------------------------------------------------------------------------ */

static const fab_diff_engine *engine_of(const diff *d) {
    return &d->out->engines[d->out->worst];
}

/* How far from a state's time another is still the same. */
static double near_of(const diff *d) {
    double before_s = engine_of(d)->before_s;
    double after_s = engine_of(d)->after_s;
    double far_s = isnan(after_s) ? before_s * NEAR : fabs(after_s - before_s);
    return fmin(fmax(NEAR * far_s, engine_of(d)->ci95_s), NEARER * far_s);
}

bool diff_returns(const diff *d, double time_s) {
    return fabs(time_s - engine_of(d)->before_s) <= near_of(d);
}

/* The time of the second state; a job that stops has an infinite one, as in diff_time(). */
static bool stays(const diff *d, double time_s) {
    return isnan(engine_of(d)->after_s) ? isinf(time_s) : fabs(time_s - engine_of(d)->after_s) <= near_of(d);
}

fab_status diff_add_test(diff *d, double time_s, bool predicts_return, fab_error *err, const char *fmt, ...) {
    fab_difference *out = d->out;
    char text[3 * FAB_NODE_NAME_SIZE];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    FAB_PASS(FAB_GROW(out->tests, out->test_capacity, out->n_tests + 1, err));
    fab_diff_test *test = &out->tests[out->n_tests];
    *test = (fab_diff_test){.time_s = time_s, .returns = diff_returns(d, time_s)};
    test->holds = test->returns == predicts_return && !isnan(time_s);
    FAB_PASS(FAB_STRDUP(test->what, text, err));
    out->n_tests++;
    return FAB_OK;
}

/* Changes are tested one by one; those behind the first are one more, all at once. */
#define MOST_UNITS (FAB_DIFF_TRIED + 1)
#define MOST_TESTS ((size_t)5 * MOST_UNITS)

/* The search for what makes the difference by itself, and is gone without. Sets are bits of units. */
typedef struct search {
    diff *d;
    bool *undone; /* [changes], of one test */
    size_t n;     /* units */
    size_t n_known;
    uint32_t known[MOST_TESTS];
    double time_s[MOST_TESTS];
    uint32_t alone; /* each makes the difference from the first state */
    uint32_t cause;
    uint32_t hidden; /* what is part of it once the cause is undone */
    bool is_whole;   /* the second state with all undone can be evaluated */
    bool returns;    /* and is as fast as the first */
    double whole_s;  /* its time */
    bool is_found;   /* without the cause it is the time of before */
    double back_s;   /* time without the cause */
    double last_s;   /* and without what it hides */
} search;

static uint32_t all_of(const search *s) {
    return (UINT32_C(1) << s->n) - 1;
}

static bool has(uint32_t set, size_t change) {
    return (set >> (change < FAB_DIFF_TRIED ? change : FAB_DIFF_TRIED) & 1) != 0;
}

/* The time of the second state without some changes, each set once. Without all but some it is that of the first state
 * with these. */
static fab_status time_without(search *s, uint32_t set, double *out_s, fab_error *err) {
    diff *d = s->d;
    for (size_t i = 0; i < s->n_known; i++) {
        if (s->known[i] == set) {
            *out_s = s->time_s[i];
            return FAB_OK;
        }
    }
    for (size_t i = 0; i < d->out->n_changes; i++) {
        s->undone[i] = has(set, i);
    }
    *out_s = isnan(engine_of(d)->after_s) ? INFINITY : engine_of(d)->after_s;
    FAB_PASS(set != 0 ? diff_time_without(d, s->undone, out_s, err) : FAB_OK);
    if (s->n_known < MOST_TESTS) {
        s->known[s->n_known] = set;
        s->time_s[s->n_known++] = *out_s;
    }
    return FAB_OK;
}

/* Each change undone, and each made in the first state. */
static fab_status test_each(search *s, fab_error *err) {
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t one = UINT32_C(1) << i;
        double undone_s = NAN;
        double alone_s = NAN;
        FAB_PASS(time_without(s, one, &undone_s, err));
        FAB_PASS(time_without(s, all_of(s) ^ one, &alone_s, err));
        s->alone |= stays(s->d, alone_s) ? one : 0;
        if (i < FAB_DIFF_TRIED) {
            fab_change *change = &s->d->out->changes[i];
            change->undone_s = isinf(undone_s) ? (double)NAN : undone_s;
            change->alone_s = isinf(alone_s) ? (double)NAN : alone_s;
        }
    }
    return FAB_OK;
}

/* Drops changes one by one as long as the time stays. */
static fab_status drop_idle(search *s, fab_error *err) {
    uint32_t dropped = 0;
    double time_s = NAN;
    for (size_t i = s->n; i-- > 0;) {
        const uint32_t one = UINT32_C(1) << i;
        FAB_PASS(time_without(s, dropped | one, &time_s, err));
        dropped |= stays(s->d, time_s) ? one : 0;
    }
    s->cause = all_of(s) & ~dropped;
    return FAB_OK;
}

/* What makes the difference alone, best what is missed as well; else the fewest that make it together. */
static fab_status find_set(search *s, fab_error *err) {
    double time_s = NAN;
    s->cause = s->alone;
    for (size_t i = 0; i < s->n && (s->cause & (s->cause - 1)) != 0; i++) {
        FAB_PASS(time_without(s, UINT32_C(1) << i, &time_s, err));
        s->cause = has(s->alone, i) && diff_returns(s->d, time_s) ? UINT32_C(1) << i : s->cause;
    }
    FAB_PASS(s->cause == 0 ? drop_idle(s, err) : FAB_OK);
    return time_without(s, s->cause, &s->back_s, err);
}

/* What the cause hides: with it undone other changes still make a part. Those that make most alone are undone as well,
 * until the time is back. */
static fab_status add_hidden(search *s, fab_error *err) {
    s->last_s = s->back_s;
    while (!diff_returns(s->d, s->last_s) && (s->cause | s->hidden) != all_of(s)) {
        uint32_t most = 0;
        double most_s = -1;
        for (size_t i = 0; i < s->n; i++) {
            double alone_s = NAN;
            FAB_PASS(time_without(s, all_of(s) ^ UINT32_C(1) << i, &alone_s, err));
            double part_s = isnan(alone_s) ? 0 : fabs(alone_s - engine_of(s->d)->before_s);
            if (!has(s->cause | s->hidden, i) && part_s > most_s) {
                most = UINT32_C(1) << i;
                most_s = part_s;
            }
        }
        s->hidden |= most;
        FAB_PASS(time_without(s, s->cause | s->hidden, &s->last_s, err));
    }
    s->is_found = diff_returns(s->d, s->last_s);
    s->hidden = s->is_found ? s->hidden : 0;
    s->d->out->is_verified = s->is_found && !engine_of(s->d)->is_draw;
    for (size_t i = 0; i < s->d->out->n_changes; i++) {
        s->d->out->changes[i].is_cause = s->is_found && has(s->cause | s->hidden, i);
    }
    return FAB_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void say_change(const diff *d, size_t change, fab_str *out) {
    const fab_change *c = &d->out->changes[change];
    bool came = c->before[0] == '\0';
    switch (c->kind) {
    case FAB_CHANGE_SERVER:
        if (diff_cycle_length(d, d->place[change]) > 0 && strcmp(c->after, c->before) == 0) { /* adapters, by GUID */
            fab_str_printf(out, "%s: %s have %s", c->what, c->after,
                           diff_cycle_length(d, d->place[change]) == 2
                               ? "exchanged places: each name stands where the other stood"
                               : "changed places among themselves: each name stands where another stood");
            return;
        }
        if (diff_cycle_length(d, d->place[change]) > 0) {
            fab_str_printf(out, "%s: %s run where %s ran", c->what, c->after, c->before);
            return;
        }
        fab_str_printf(out, "%s run on %s%s%s", c->what, c->after[0] != '\0' ? c->after : "no server",
                       came ? "" : " in place of ", c->before);
        return;
    case FAB_CHANGE_FAILURE:
        fab_str_printf(out, "%s is %s", c->what, strcmp(c->after, "works") == 0 ? "back" : c->after);
        return;
    case FAB_CHANGE_CABLE:
        if (came || c->after[0] == '\0') {
            fab_str_printf(out, "cable %s is %s", came ? c->after : c->before, came ? "new" : "gone");
        } else if (strchr(c->after, '>') == NULL) {
            fab_str_printf(out, "cable %s runs at %s, was %s", c->what, c->after, c->before);
        } else {
            fab_str_printf(out, "what was cabled %s is cabled %s", c->before, c->after);
        }
        return;
    case FAB_CHANGE_MOVE: fab_str_add(out, c->what); return;
    case FAB_CHANGE_BOX:
        fab_str_printf(out, "%s is %s%s", came ? c->after : c->before, came ? "new" : "gone",
                       came || c->after[0] == '\0' ? "" : ", in its place ");
        fab_str_add(out, came ? "" : c->after);
        return;
    default: fab_str_printf(out, "%s is %s, was %s", c->what, c->after, came ? "default" : c->before);
    }
}

static void say_changes(const search *s, uint32_t set, fab_str *out) {
    size_t n = 0;
    for (size_t i = 0; i < s->d->out->n_changes; i++) {
        if (has(set, i) && n++ < MOST_NAMED) {
            fab_str_add(out, n > 1 ? "; " : "");
            say_change(s->d, i, out);
        }
    }
    if (n > MOST_NAMED) {
        fab_str_printf(out, "; and %zu more", n - MOST_NAMED);
    }
}

/* Whether all that may change how far flows go is in a set: then so many cross for it. */
static bool has_all_movers(const search *s, uint32_t set) {
    const fab_difference *out = s->d->out;
    size_t n = 0;
    for (size_t i = 0; i < out->n_changes; i++) {
        const fab_change *c = &out->changes[i];
        const bool is_rate =
            c->kind == FAB_CHANGE_CABLE && c->before[0] != '\0' && c->after[0] != '\0' && strchr(c->after, '>') == NULL;
        const bool moves = !is_rate && c->kind != FAB_CHANGE_FAILURE && c->kind != FAB_CHANGE_ENGINE;
        if (moves && !has(set, i)) {
            return false;
        }
        n += moves;
    }
    return n > 0 && out->n_left_out == 0;
}

/* Where nothing collides that did not: flows that cross more of the network. */
static void say_crossings(const search *s, fab_str *out) {
    const diff *d = s->d;
    const fab_result *a = &d->side[0].result;
    const fab_result *b = &d->side[1].result;
    const fab_diff_engine *e = engine_of(d);
    size_t worst = 0;
    if (!has_all_movers(s, s->cause)) {
        return;
    }
    for (size_t p = 1; p < e->n_phases; p++) {
        double this_s = e->phases[p].after_s - e->phases[p].before_s;
        worst = this_s > e->phases[worst].after_s - e->phases[worst].before_s ? p : worst;
    }
    if (e->n_phases == 0 || a->n_phases != b->n_phases ||
        !(e->phases[worst].after_s - e->phases[worst].before_s > e->phases[worst].ci95_s)) {
        return;
    }
    for (uint32_t t = FAB_MAX_TIERS; t >= 2; t--) {
        uint64_t then = a->phases[worst].crossing_flows[t];
        uint64_t now = b->phases[worst].crossing_flows[t];
        if (then != now) {
            fab_str_printf(out, "; %llu flows of %s cross %s, %llu before", (unsigned long long)now,
                           e->phases[worst].name, fab_boundary_name(d->side[1].f->wiring, t), (unsigned long long)then);
            return;
        }
    }
}

static void say_time(double time_s, fab_str *out) {
    if (isnan(time_s) || isinf(time_s)) {
        fab_str_add(out, isinf(time_s) ? "the job stops" : "no time can be computed");
    } else {
        fab_str_printf(out, "it takes %s", FAB_SAY(time_s, FAB_UNIT_TIME));
    }
}

static void say_no_cause(const search *s, fab_str *out) {
    const uint64_t left_out = s->d->out->n_left_out;
    if (s->cause != 0 && s->returns) {
        fab_str_add(out, "No cause is verified: ");
        say_changes(s, s->cause, out);
        fab_str_add(out, "; this makes the difference, but without it ");
        say_time(s->back_s, out);
        fab_str_add(out, ", so what else has changed is part of it");
    } else if (left_out > 0) {
        fab_str_printf(out,
                       "No cause is verified: %llu changes are not listed, and without those that are it is not "
                       "the time of before",
                       (unsigned long long)left_out);
    } else if (!s->is_whole) {
        fab_str_add(out, "No cause is singled out: all changes together make the difference, and without them there "
                         "is nothing to evaluate but the state of before");
    } else {
        fab_str_add(out, "No cause is verified: without all that is listed ");
        say_time(s->whole_s, out);
        fab_str_add(out, ", so something else, as the order of boxes and ports, is part of it");
    }
}

/* Of a time that is back within the intervals of means alone it is not said that it is the one of before. */
static const char *again(const search *s, double time_s) {
    const fab_diff_engine *e = engine_of(s->d);
    const double far_s = isnan(e->after_s) ? e->before_s : fabs(e->after_s - e->before_s);
    return fabs(time_s - e->before_s) <= NEAR * far_s ? " again" : "";
}

/* What undoing does; of changes that need each other one may be enough. */
static void say_undone(const search *s, fab_str *out) {
    const fab_difference *d = s->d->out;
    const bool is_one = (s->cause & (s->cause - 1)) == 0;
    size_t n = 0;
    size_t n_enough = 0;
    size_t enough = 0;
    for (size_t i = d->n_changes; i-- > 0;) {
        const bool returns = has(s->cause, i) && diff_returns(s->d, d->changes[i].undone_s);
        n += has(s->cause, i);
        n_enough += returns;
        enough = returns ? i : enough;
    }
    if (s->hidden != 0) {
        fab_str_add(out, is_one ? "; this alone does it; undone, " : "; undone, ");
        say_time(s->back_s, out);
        fab_str_printf(out, ", and %s%s with what it hides undone as well: ", FAB_SAY(s->last_s, FAB_UNIT_TIME),
                       again(s, s->last_s));
        say_changes(s, s->hidden, out);
        return;
    }
    fab_str_printf(out, "; %s, it takes %s%s",
                   is_one && d->n_changes > 1 ? "this alone does it, and undone"
                   : is_one                   ? "undone"
                   : n_enough == n            ? "one of them undone"
                                              : "undone together",
                   FAB_SAY(s->back_s, FAB_UNIT_TIME), again(s, s->back_s));
    if (!is_one && n_enough > 0 && n_enough < n) {
        fab_str_printf(out, ", and so it does with %s alone as before", d->changes[enough].what);
    }
}

static fab_status say_cause(search *s, fab_error *err) {
    diff *d = s->d;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str property = FAB_STR_INIT;
    const bool is_mean = engine_of(d)->n_draws > 1; /* links, and who meets there, are of the first draw */
    if (!s->is_found) {
        say_no_cause(s, &text);
    } else {
        fab_str_add(&text, engine_of(d)->is_draw ? "Cause in this one draw, not verified (--seeds 20 tells chance from "
                                                   "cause): "
                                                 : "");
        FAB_PASS(is_mean ? FAB_OK : diff_find_property(d, &property, err));
        if ((s->cause & (s->cause - 1)) != 0) {
            fab_str_add(&text, s->alone != 0 ? "each of these alone: " : "no change alone; together: ");
        }
        say_changes(s, s->cause, &text);
        if (property.length > 0) {
            fab_str_printf(&text, "; %s", property.data);
        } else if (d->hot != FAB_NONE && !is_mean) {
            diff_say_share(d, &text);
        } else {
            say_crossings(s, &text);
        }
        say_undone(s, &text);
    }
    FAB_PASS(fab_str_status(&text, err));
    return FAB_GIVE(d->out->cause, text.data);
}

fab_status diff_find_cause(diff *d, fab_error *err) {
    const size_t n = d->out->n_changes;
    search s = {.d = d, .n = n < MOST_UNITS ? n : MOST_UNITS, .back_s = NAN};
    FAB_OWNS_MEMBERS(s.undone);
    const fab_diff_engine *e = engine_of(d);
    bool differs = isnan(e->after_s) ? d->out->stopped != NULL
                                     : fabs(e->after_s / e->before_s - 1) >= DIFF_EVEN && !diff_is_chance(e);
    if (!differs || isnan(e->before_s) || n == 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(s.undone, n, err));
    FAB_PASS(time_without(&s, all_of(&s), &s.whole_s, err));
    s.is_whole = !isnan(s.whole_s);
    s.returns = !s.is_whole || diff_returns(d, s.whole_s);
    FAB_PASS(test_each(&s, err));
    FAB_PASS(s.returns ? find_set(&s, err) : FAB_OK);
    FAB_PASS(s.cause != 0 ? add_hidden(&s, err) : FAB_OK);
    s.cause = !s.is_whole && s.cause == all_of(&s) ? 0 : s.cause;
    return say_cause(&s, err);
}
