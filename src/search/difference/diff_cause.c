/* Which changes make the difference: each undone alone, each made alone, then the fewest that make it together. */
#include "diff_search.h"

#include "fab/analysis.h"

#include <stdarg.h>

#define NEARER 0.25 /* part of the difference that may be left where the intervals of means are wider */

/* --- the second state, with changes undone ------------------------------------------------------------------------ */

static bool any_undone(const diff *d, const bool *undone, fab_change_kind kind) {
    FAB_ANY(any, i, d->out->n_changes, undone[i] && d->out->changes[i].kind == kind);
    return any;
}

static bool is_undone_key(const diff *d, const bool *undone, const char *line, size_t key) {
    FAB_ANY(found, i, d->out->n_changes,
            undone[i] && d->undo[i] != NULL && strlen(d->undo[i]) == key && strncmp(d->undo[i], line, key) == 0);
    return found;
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
    FAB_ANY(is, i, d->out->n_changes,
            undone[i] && d->out->changes[i].kind == FAB_CHANGE_SERVER && diff_is_at(d, d->place[i], at));
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
        FAB_FILL(now, n, fab_at != at && now[fab_at] == back ? now[at] : now[fab_at]);
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
static fab_status diff_time_without(const diff *d, const bool *undone, double *out_s, fab_parts *out_parts,
                                    fab_error *err) {
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
    FAB_TRY(diff_time(d, &v, d->out->worst, out_s, out_parts, &inner));
done:
    fab_fabric_free(graph);
    FAB_FREE_ALL((void *)failed, design);
    return fab_unless_refused(err, status, &inner);
}

fab_status diff_time_on(const diff *d, const uint32_t *servers, size_t n, double *out_s, fab_error *err) {
    FAB_OWNED_COPY(fab_design, design, d->design[1], err);
    FAB_PASS(diff_set_servers(design, servers, n, err));
    const diff_variant v = {
        .design = design, .graph = d->side[1].f, .failed = d->q->after.failed, .n_failed = d->q->after.n_failed};
    return diff_time(d, &v, d->out->worst, out_s, NULL, err);
}

/* --- what makes the difference ------------------------------------------------------------------------------------ */

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

static uint32_t all_of(const search *s) {
    return (UINT32_C(1) << s->n) - 1;
}

/* The second state without some changes, each set once. Without all but some it is the first state with these. */
static fab_status know_without(search *s, uint32_t set, diff_known *out, fab_error *err) {
    diff *d = s->d;
    FAB_FIRST(at, s->n_known, s->known[at].set == set);
    if (at < s->n_known) {
        *out = s->known[at];
        return FAB_OK;
    }
    *out = (diff_known){.set = set, .time_s = engine_of(d)->after_s};
    FAB_FILL(s->undone, d->out->n_changes, has(set, fab_at));
    if (set != 0) {
        FAB_PASS(diff_time_without(d, s->undone, &out->time_s, &out->parts, err));
    } else if (isnan(out->time_s)) {
        out->time_s = INFINITY;
    } else {
        FAB_PASS(diff_parts_of(&d->side[1].result, d->out->worst, &out->parts, err));
    }
    if (s->n_known < MOST_TESTS) {
        s->known[s->n_known++] = *out;
    }
    return FAB_OK;
}

static fab_status time_without(search *s, uint32_t set, double *out_s, fab_error *err) {
    diff_known found;
    FAB_PASS(know_without(s, set, &found, err));
    *out_s = found.time_s;
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

/* Of several that need each other: what makes the difference in place of one that is not missed by itself. */
static fab_status find_equals(search *s, fab_error *err) {
    double time_s = NAN;
    for (size_t i = 0; i < s->n && s->alone == 0; i++) {
        const uint32_t one = UINT32_C(1) << i;
        FAB_PASS((s->cause & one) != 0 ? time_without(s, one, &time_s, err) : FAB_OK);
        for (size_t k = 0; k < s->n && (s->cause & one) != 0 && stays(s->d, time_s); k++) {
            const uint32_t other = UINT32_C(1) << k;
            double with_s = NAN;
            if (((s->cause | s->equals) & other) == 0) {
                FAB_PASS(time_without(s, all_of(s) ^ (s->cause ^ one) ^ other, &with_s, err));
                s->equals |= stays(s->d, with_s) ? other : 0;
            }
        }
    }
    return FAB_OK;
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
    return FAB_OK;
}

/* Whether two times differ, and by no more than seeds make, pair by pair. */
static bool is_chance(const diff_known *a, const diff_known *b) {
    const double apart = fabs(a->time_s / b->time_s - 1);
    return apart > DIFF_SAME && apart <= fab_pairs_ci95(&a->parts, NULL, &b->parts, NULL);
}

/* Of a cause each part has to be told apart, made in the first state or undone in the second; what makes nothing in
 * both, since others do as much, is no chance. */
static fab_status mark_cause(search *s, fab_error *err) {
    const diff *d = s->d;
    diff_known before = {.time_s = engine_of(d)->before_s};
    diff_known after;
    diff_known alone;
    diff_known undone;
    FAB_PASS(diff_parts_of(&d->side[0].result, d->out->worst, &before.parts, err));
    FAB_PASS(know_without(s, 0, &after, err));
    for (size_t i = 0; i < s->n && s->is_found; i++) {
        const uint32_t one = UINT32_C(1) << i;
        FAB_PASS(know_without(s, all_of(s) ^ one, &alone, err));
        FAB_PASS(know_without(s, one, &undone, err));
        const bool is_told = (fabs(alone.time_s / before.time_s - 1) > DIFF_SAME && !is_chance(&alone, &before)) ||
                             (fabs(undone.time_s / after.time_s - 1) > DIFF_SAME && !is_chance(&undone, &after));
        s->uncertain |= !is_told && (is_chance(&alone, &before) || is_chance(&undone, &after)) ? one : 0;
    }
    s->uncertain &= s->cause | s->equals | s->hidden;
    d->out->is_verified = s->is_found && !engine_of(d)->is_draw && s->uncertain == 0;
    for (size_t i = 0; i < d->out->n_changes; i++) {
        d->out->changes[i].is_uncertain = has(s->uncertain, i);
        d->out->changes[i].is_cause = s->is_found && has((s->cause | s->equals | s->hidden) & ~s->uncertain, i);
    }
    return FAB_OK;
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
    FAB_PASS(s.cause != 0 ? find_equals(&s, err) : FAB_OK);
    FAB_PASS(s.cause != 0 ? add_hidden(&s, err) : FAB_OK);
    FAB_PASS(s.cause != 0 ? mark_cause(&s, err) : FAB_OK);
    s.cause = !s.is_whole && s.cause == all_of(&s) ? 0 : s.cause;
    return diff_say_cause(&s, err);
}
