/* Designs side by side: which is best, by how much, what would turn it, and what differs between them. */
#include "sweep_internal.h"

/* --- verdict ------------------------------------------------------------------------------------------------------ */

static double figure_of(const fab_verdict *v, const fab_sweep_point *p, size_t e) {
    return fab_verdict_figure(v, &p->engines[e]);
}

/* The part of its yearly costs that a network would have to save for its tokens to cost `usd`. */
static double turning(const fab_sweep_point *p, const fab_verdict *v, size_t e, double usd) {
    const fab_iteration *it = &p->engines[e].iteration;
    double goodput = v->has_failures ? p->engines[e].goodput.mean : 1;
    double excess = (figure_of(v, p, e) - usd) * it->tokens_per_s * goodput / 1e9 * FAB_SECONDS_PER_YEAR;
    double network = it->network_share_ratio * (p->capital_usd_per_year + p->energy_usd_per_year);
    return network > 0 ? excess / network : INFINITY;
}

/* What points are put in order by, under engine e. */
typedef double figure_fn(const fab_verdict *v, const fab_sweep_point *p, size_t e);

static double owned_figure(const fab_verdict *v, const fab_sweep_point *p, size_t e) {
    const double usd = p->engines[e].iteration.owned_usd_per_1e9_tokens;
    return v->has_failures ? fab_with_failures(&p->engines[e], usd) : usd;
}

static double compared_figure(const fab_verdict *v, const fab_sweep_point *p, size_t e) {
    const double time_s = p->engines[e].compared_s;
    return v->has_failures ? fab_with_failures(&p->engines[e], time_s) : time_s;
}

/* The points with the least figure and the next; the same where only one has a figure. Returns by how much more that
 * is. */
static double find_two(const fab_sweep *sweep, size_t e, const fab_verdict *v, figure_fn *figure, size_t *best,
                       size_t *next) {
    double least = INFINITY;
    double second = INFINITY;
    for (size_t i = 0; i < sweep->n_points; i++) {
        const double mine = fab_sweep_has_time(&sweep->points[i], e) ? figure(v, &sweep->points[i], e) : INFINITY;
        if (mine < least) {
            *next = isinf(least) ? i : *best;
            second = least;
            *best = i;
            least = mine;
        } else if (mine < second) {
            *next = i;
            second = mine;
        }
    }
    return isfinite(second) && least > 0 ? second / least - 1 : 0;
}

/* Those that are even with the best, and beside them the first that is not. */
static void find_behind(const fab_sweep *sweep, size_t e, fab_verdict *v) {
    const fab_sweep_point *best = &sweep->points[v->best];
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        if (i == v->best || !fab_sweep_has_time(p, e)) {
            continue;
        }
        const double ratio = figure_of(v, p, e) / figure_of(v, best, e) - 1;
        const bool is_even = fab_verdict_is_even(v, &p->engines[e], &best->engines[e]);
        v->n_even += is_even;
        if (!is_even && (v->behind == v->best || ratio < v->behind_ratio)) {
            v->behind = i;
            v->behind_ratio = ratio;
        }
    }
}

/* Whether the verdict hangs on one draw of some design, or else how many seeds it is of. */
static void note_draws(const fab_sweep_engine *engine, fab_verdict *v) {
    v->is_estimated = v->is_estimated || engine->estimated_ratio > 0;
    v->is_one_draw = v->is_one_draw || fab_sweep_is_one_draw(engine);
    v->n_draws = v->is_one_draw ? 0 : engine->is_drawn ? engine->n_seeds : v->n_draws;
}

/* By price, and with failures, where all that take part have them. */
static fab_verdict judge(const fab_sweep *sweep, size_t e) {
    fab_verdict v = {.by_price = true, .has_failures = true, .is_owned = true};
    size_t next = 0;
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        if (fab_sweep_has_time(p, e)) {
            v.cheapest = !v.is_known || p->total_usd < sweep->points[v.cheapest].total_usd ? i : v.cheapest;
            v.is_known = true;
            v.by_price = v.by_price && p->engines[e].iteration.usd_per_1e9_tokens > 0;
            v.is_owned = v.is_owned && p->engines[e].iteration.owned_usd_per_1e9_tokens > 0;
            v.has_failures = v.has_failures && p->engines[e].has_goodput;
            note_draws(&p->engines[e], &v);
        }
    }
    if (!v.is_known) {
        return (fab_verdict){.by_price = true};
    }
    (void)find_two(sweep, e, &v, compared_figure, &v.fastest, &next);
    v.margin_ratio = find_two(sweep, e, &v, figure_of, &v.best, &v.next);
    const double owned_ratio = find_two(sweep, e, &v, owned_figure, &v.owned_best, &v.owned_next);
    v.owned_margin_ratio = v.is_owned ? owned_ratio : 0;
    v.behind = v.best;
    v.n_even = 1;
    const double least = figure_of(&v, &sweep->points[v.best], e);
    if (v.next != v.best) {
        const fab_sweep_point *other = &sweep->points[v.next];
        v.uncertainty_ratio = fab_verdict_chance(&v, &sweep->points[v.best].engines[e], &other->engines[e]);
        v.turning_ratio = v.by_price ? turning(other, &v, e, least) : 0;
    }
    if (least > 0) {
        find_behind(sweep, e, &v);
    }
    return v;
}

/* What becomes of it where the replicas that are left do the other part of the batch. Points without such have theirs.
 */
static void judge_other_batch(fab_sweep *sweep, size_t e, fab_verdict *v) {
    fab_verdict other = {.is_known = false};
    bool is_found = false;
    for (int pass = 0; pass < 2; pass++) { /* to and fro */
        for (size_t i = 0; i < sweep->n_points; i++) {
            fab_sweep_engine *engine = e < sweep->points[i].n_engines ? &sweep->points[i].engines[e] : NULL;
            if (engine != NULL && engine->other_batch.mean > 0) {
                const fab_sweep_engine was = *engine;
                engine->goodput = was.other_batch;
                engine->kept = was.other_kept;
                engine->other_batch = was.goodput;
                engine->other_kept = was.kept;
                is_found = true;
            }
        }
        if (pass == 0) {
            other = judge(sweep, e);
            v->batch_best = other.best;
            v->batch_next = other.best == v->best ? v->next : v->best;
            v->batch_ratio =
                figure_of(v, &sweep->points[v->batch_next], e) / figure_of(v, &sweep->points[other.best], e) - 1;
        }
    }
    const double turned =
        other.best == v->best ? fabs(v->batch_ratio - v->margin_ratio) : v->batch_ratio + v->margin_ratio;
    v->hangs_on_batch = is_found && v->has_failures && turned >= FAB_EVEN_RATIO;
}

static double tipped_hours(const fab_verdict *v, const fab_sweep_point *p, size_t e) {
    return fab_verdict_figure(v, &p->engines[e]) / fab_sweep_tip_gain(p, v->has_failures);
}

static double tipped_owned(const fab_verdict *v, const fab_sweep_point *p, size_t e) {
    return owned_figure(v, p, e) / fab_sweep_tip_gain(p, v->has_failures);
}

static const fab_sweep_engine *tipped_engine(const fab_sweep_point *p) {
    return p->idle != NULL ? p->idle : &p->engines[0];
}

/* The next is the nearest of those that are even with the best, where some are. A tip of less than a hundredth is not
 * told, so that a point without one may have as much. */
static fab_tipped find_tipped(const fab_sweep *sweep, const fab_verdict *v, figure_fn *figure) {
    fab_tipped t = {.best = 0};
    t.margin_ratio = find_two(sweep, 0, v, figure, &t.best, &t.next);
    const fab_sweep_point *best = &sweep->points[t.best];
    const bool is_tipped = fab_sweep_tip_gain(best, v->has_failures) > 1;
    double least = INFINITY;
    t.usd = figure(v, best, 0);
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        const double above = fab_sweep_has_time(p, 0) ? figure(v, p, 0) / t.usd - 1 : INFINITY;
        const double untold = is_tipped && fab_sweep_tip_gain(p, v->has_failures) <= 1 ? FAB_EVEN_RATIO : 0;
        if (i == t.best || !isfinite(above) ||
            !fab_is_even(above - untold, fab_verdict_chance(v, tipped_engine(best), tipped_engine(p)))) {
            continue;
        }
        t.n_even++;
        if (above < least) {
            t.next = i;
            t.margin_ratio = least = above;
        }
    }
    return t;
}

/* Whether it is another point that costs least, or by another margin; with failures, in which idle servers are spares,
 * whether it is less at all. */
static bool tips_turn(const fab_sweep *sweep, const fab_verdict *v, const fab_tipped *t, size_t best,
                      figure_fn *figure) {
    const double next_usd = figure(v, &sweep->points[t->next], 0);
    const double best_usd = figure(v, &sweep->points[t->best], 0);
    return v->has_failures ? t->usd < figure(v, &sweep->points[best], 0)
                           : t->best != best || fabs(t->margin_ratio - (next_usd / best_usd - 1)) >= FAB_EVEN_RATIO;
}

void sweep_judge_tips(fab_sweep *sweep) {
    const fab_verdict v = judge(sweep, 0);
    FAB_ANY(any, i, sweep->n_points,
            fab_sweep_has_time(&sweep->points[i], 0) && fab_sweep_tip_gain(&sweep->points[i], v.has_failures) > 1);
    if (!any || !v.is_known || !v.by_price || v.next == v.best) {
        return;
    }
    sweep->tipped[0] = find_tipped(sweep, &v, tipped_hours);
    sweep->tipped[1] = v.is_owned ? find_tipped(sweep, &v, tipped_owned) : (fab_tipped){.usd = 0};
    sweep->has_tipped = tips_turn(sweep, &v, &sweep->tipped[0], v.best, figure_of) ||
                        (v.is_owned && tips_turn(sweep, &v, &sweep->tipped[1], v.owned_best, owned_figure));
}

/* What the verdict comes to under spray, which was replayed behind the one engine of the points. */
static void judge_sprayed(const fab_sweep *sweep, fab_verdict *v, fab_verdict *sprayed) {
    *sprayed = judge(sweep, 1);
    FAB_ALL(has_all, i, sweep->n_points,
            !fab_sweep_has_time(&sweep->points[i], 0) || fab_sweep_has_time(&sweep->points[i], 1));
    v->is_sprayed = has_all && sprayed->is_known && v->next != v->best;
}

/* --- unlike jobs ------------------------------------------------------------------------------------------------- */

fab_status sweep_check_alike(const char *name, const fab_design *design, const fab_design *first, fab_error *err) {
    for (size_t k = 0; k < design->n_jobs && k < first->n_jobs; k++) {
        const fab_job_spec *a = &first->jobs[k];
        const fab_job_spec *b = &design->jobs[k];
        const bool differs = a->model[0] != '\0' && b->model[0] != '\0' && strcmp(a->model, b->model) != 0;
        FAB_REFUSE_IF(a->kind != b->kind || differs, err, FAB_EINPUT, name,
                      "its job %zu is %s %.60s, that of another design %s %.60s: times of unlike jobs do not compare; "
                      "give all the same, the first by --job kind=%s,model=NAME",
                      k + 1, fab_job_kinds[b->kind], b->model, fab_job_kinds[a->kind], a->model,
                      fab_job_kinds[b->kind]);
    }
    return FAB_OK;
}

/* --- what differs ------------------------------------------------------------------------------------------------- */

static bool has_line(const char *text, const char *line, size_t length) {
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        if (strcspn(text, "\n") == length && memcmp(text, line, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool everybody_has(const fab_sweep *sweep, const char *line, size_t length) {
    for (size_t i = 0; i < sweep->n_points; i++) {
        const char *settings = sweep->points[i].settings;
        if (settings != NULL && !has_line(settings, line, length)) {
            return false;
        }
    }
    return true;
}

static fab_status differences(const fab_sweep *sweep, const char *settings, char **out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    for (const char *line = settings; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_said = strncmp(line, "name=", 5) == 0 || strncmp(line, "source=", 7) == 0; /* by what the user wrote */
        if (!is_said && !everybody_has(sweep, line, length)) {
            fab_str_add(&text, text.length > 0 ? "; " : "");
            fab_str_append(&text, line, length);
        }
        line += length + (line[length] == '\n');
    }
    FAB_PASS(fab_str_status(&text, err));
    return FAB_STRDUP(*out, text.length > 0 ? text.data : "", err);
}

fab_status fab_sweep_compare(fab_sweep *sweep, fab_error *err) {
    fab_status status = FAB_OK;
    char **found = NULL;
    size_t n_engines = 0;
    bool is_sprayed = false;
    FAB_TRY(FAB_NEW(found, sweep->n_points, err));
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        n_engines = p->n_engines > n_engines ? p->n_engines : n_engines;
        is_sprayed = is_sprayed || p->is_sprayed;
        FAB_TRY(p->settings != NULL ? differences(sweep, p->settings, &found[i], err) : FAB_OK);
    }
    for (size_t i = 0; i < sweep->n_points; i++) {
        free(sweep->points[i].settings);
        sweep->points[i].settings = found[i];
        found[i] = NULL;
    }
    for (size_t i = 0; n_engines > 1 && i < sweep->n_points; i++) { /* the second of another design is no spray */
        sweep->points[i].is_sprayed = false;
    }
    for (size_t e = 0; e < n_engines; e++) {
        fab_verdict *v = &sweep->verdicts[e];
        *v = judge(sweep, e);
        if (v->is_known && v->next != v->best) {
            judge_other_batch(sweep, e, v);
        }
    }
    if (is_sprayed && n_engines == 1) {
        judge_sprayed(sweep, &sweep->verdicts[0], &sweep->verdicts[1]);
    }
    sweep->n_verdicts = n_engines;
done:
    for (size_t i = 0; found != NULL && i < sweep->n_points; i++) {
        free(found[i]);
    }
    free(found);
    return status;
}
