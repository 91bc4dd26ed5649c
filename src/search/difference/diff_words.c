/* The cause of a difference in words. */
#include "diff_search.h"

#include "fab/units.h"

#define MOST_NAMED 3 /* changes in a sentence */

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
        enough = returns ? i : enough; /* the first of them */
    }
    if (s->hidden != 0) {
        fab_str_add(out, "; undone, ");
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
        static const char *const NAMES[MOST_NAMED] = {"first", "second", "third"};
        FAB_SUM(size_t, place, i, enough, has(s->cause, i));
        fab_str_printf(out, "; the %s alone undone, ", NAMES[place < MOST_NAMED ? place : 0]);
        say_time(d->changes[enough].undone_s, out);
    }
}

/* Parts of the difference that changes make alone, which need each other for all of it; nothing where none makes any.
 */
static void say_parts(const search *s, fab_str *out) {
    const fab_diff_engine *e = engine_of(s->d);
    const double far_s = isnan(e->after_s) ? 0 : e->after_s - e->before_s;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    double most = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->d->out->n_changes && far_s != 0; i++) {
        const double part = has(s->cause, i) ? (s->d->out->changes[i].alone_s - e->before_s) / far_s : 0;
        if (has(s->cause, i) && !isnan(part) && n++ < MOST_NAMED) {
            fab_str_printf(&text, "%s%.0f", n > 1 ? ", " : "", 100 * part);
            most = fmax(most, part);
        }
    }
    fab_str_add(out, most > NEAR ? "; alone they make " : "");
    fab_str_add(out, most > NEAR && text.data != NULL ? text.data : "");
    fab_str_add(out, most > NEAR ? " % of it" : "");
}

fab_status diff_say_cause(const search *s, fab_error *err) {
    diff *d = s->d;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str property = FAB_STR_INIT;
    const bool is_mean = engine_of(d)->n_draws > 1; /* links, and who meets there, are of the first draw */
    if (!s->is_found) {
        say_no_cause(s, &text);
    } else {
        const uint32_t all = s->cause | s->equals | s->hidden;
        fab_str_add(&text, engine_of(d)->is_draw ? "Cause in this one draw, not verified (--seeds 20 tells chance from "
                                                   "cause): "
                           : s->uncertain == 0   ? ""
                           : (all & ~s->uncertain) == 0
                               ? "No change is told apart by these seeds; what may be the cause: "
                               : "Cause in part, since what is marked ? is not told apart by "
                                 "these seeds: ");
        FAB_PASS(is_mean ? FAB_OK : diff_find_property(d, &property, err));
        if ((s->cause & (s->cause - 1)) != 0) {
            fab_str_add(&text, s->alone != 0 ? "each of these alone: " : "no change alone; together: ");
        }
        say_changes(s, s->cause, &text);
        if (s->alone == 0 && (s->cause & (s->cause - 1)) != 0) {
            say_parts(s, &text);
        }
        if (s->equals != 0) {
            fab_str_add(&text, "; in place of one of these does as much: ");
            say_changes(s, s->equals, &text);
        }
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
