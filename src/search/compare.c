/* Designs side by side: which is best, by how much, what would turn it, and what differs between them. */
#include "sweep_internal.h"

#include "fab/design.h"

#include "fab/memory.h"

#include <math.h>

/* --- verdict ------------------------------------------------------------------------------------------------------ */

/* What designs are judged by: with failures where all that take part have them. */
typedef struct measure {
    size_t engine;
    bool by_price, has_failures;
} measure;

static double figure_of(const fab_sweep_point *p, const measure *m) {
    const fab_sweep_engine *e = &p->engines[m->engine];
    const double figure = m->by_price ? e->iteration.usd_per_1e9_tokens : e->compared_s;
    return m->has_failures ? fab_with_failures(e, figure) : figure;
}

static measure choose_measure(const fab_sweep *sweep, size_t engine) {
    measure m = {.engine = engine, .by_price = true, .has_failures = true};
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        if (fab_sweep_has_time(p, engine)) {
            m.by_price = m.by_price && p->engines[engine].iteration.usd_per_1e9_tokens > 0;
            m.has_failures = m.has_failures && p->engines[engine].has_goodput;
        }
    }
    return m;
}

/* The part of its yearly costs that a network would have to save for its tokens to cost `usd`. */
static double turning(const fab_sweep_point *p, const measure *m, double usd) {
    const fab_iteration *it = &p->engines[m->engine].iteration;
    double goodput = m->has_failures ? p->engines[m->engine].goodput.mean : 1;
    double excess = (figure_of(p, m) - usd) * it->tokens_per_s * goodput / 1e9 * FAB_SECONDS_PER_YEAR;
    double network = it->network_share_ratio * (p->capital_usd_per_year + p->energy_usd_per_year);
    return network > 0 ? excess / network : INFINITY;
}

/* The two that cost the least per token where the cluster is bought. */
static void judge_ownership(const fab_sweep *sweep, const measure *m, fab_verdict *v) {
    double least = INFINITY;
    double second = INFINITY;
    v->is_owned = v->is_known;
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        if (!fab_sweep_has_time(p, m->engine)) {
            continue;
        }
        double usd = p->engines[m->engine].iteration.owned_usd_per_1e9_tokens;
        v->is_owned = v->is_owned && usd > 0;
        usd = m->has_failures ? fab_with_failures(&p->engines[m->engine], usd) : usd;
        if (usd < least) {
            second = least;
            v->owned_next = v->owned_best;
            least = usd;
            v->owned_best = i;
        } else if (usd < second) {
            second = usd;
            v->owned_next = i;
        }
    }
    if (isinf(second)) {
        v->owned_next = v->owned_best;
    } else if (v->is_owned) {
        v->owned_margin_ratio = second / least - 1;
    }
}

static double uncertainty_of(const fab_sweep *sweep, const measure *m, size_t a, size_t b) {
    return fab_sweep_chance(&sweep->points[a].engines[m->engine], &sweep->points[b].engines[m->engine]);
}

/* Beside two that are even a reader wants the first that is not. */
static void find_behind(const fab_sweep *sweep, const measure *m, double least, fab_verdict *v) {
    for (size_t i = 0; least > 0 && i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        double ratio = fab_sweep_has_time(p, m->engine) ? figure_of(p, m) / least - 1 : 0;
        double even_ratio = ratio > 0 ? uncertainty_of(sweep, m, v->best, i) : 0;
        if (ratio >= fmax(FAB_EVEN_RATIO, even_ratio) && (v->behind == v->best || ratio < v->behind_ratio)) {
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

static double compared_of(const fab_sweep *sweep, size_t i, const measure *m) {
    const fab_sweep_engine *e = &sweep->points[i].engines[m->engine];
    return m->has_failures ? fab_with_failures(e, e->compared_s) : e->compared_s;
}

static fab_verdict judge(const fab_sweep *sweep, size_t e) {
    const measure m = choose_measure(sweep, e);
    fab_verdict v = {.by_price = m.by_price};
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        if (!fab_sweep_has_time(p, e)) {
            continue;
        }
        double mine = figure_of(p, &m);
        if (!v.is_known) {
            v = (fab_verdict){.is_known = true,
                              .by_price = m.by_price,
                              .has_failures = m.has_failures,
                              .best = i,
                              .next = i,
                              .fastest = i,
                              .cheapest = i};
        } else if (mine < figure_of(&sweep->points[v.best], &m)) {
            v.next = v.best;
            v.best = i;
        } else if (v.next == v.best || mine < figure_of(&sweep->points[v.next], &m)) {
            v.next = i;
        }
        note_draws(&p->engines[e], &v);
        v.fastest = compared_of(sweep, i, &m) < compared_of(sweep, v.fastest, &m) ? i : v.fastest;
        v.cheapest = p->total_usd < sweep->points[v.cheapest].total_usd ? i : v.cheapest;
    }
    v.behind = v.best;
    if (v.is_known && v.next != v.best) {
        double least = figure_of(&sweep->points[v.best], &m);
        v.margin_ratio = least > 0 ? figure_of(&sweep->points[v.next], &m) / least - 1 : 0;
        v.uncertainty_ratio = uncertainty_of(sweep, &m, v.best, v.next);
        v.turning_ratio = v.by_price ? turning(&sweep->points[v.next], &m, least) : 0;
        find_behind(sweep, &m, least, &v);
    }
    judge_ownership(sweep, &m, &v);
    return v;
}

/* What becomes of it where the replicas that are left do the other part of the batch. Points without such have theirs.
 */
static void judge_other_batch(fab_sweep *sweep, size_t e, fab_verdict *v) {
    fab_verdict other = {.is_known = false};
    measure m = choose_measure(sweep, e);
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
                figure_of(&sweep->points[v->batch_next], &m) / figure_of(&sweep->points[other.best], &m) - 1;
        }
    }
    const double turned =
        other.best == v->best ? fabs(v->batch_ratio - v->margin_ratio) : v->batch_ratio + v->margin_ratio;
    v->hangs_on_batch = is_found && v->has_failures && turned >= FAB_EVEN_RATIO;
}

/* What the verdict comes to under spray, which was replayed behind the one engine of the points; hides it again. */
static void judge_sprayed(fab_sweep *sweep, fab_verdict *v) {
    const fab_verdict sprayed = judge(sweep, 1);
    const measure m = choose_measure(sweep, 1);
    bool has_all = sprayed.is_known && v->next != v->best;
    for (size_t i = 0; i < sweep->n_points; i++) {
        const fab_sweep_point *p = &sweep->points[i];
        has_all = has_all && (!fab_sweep_has_time(p, 0) || (p->is_sprayed && fab_sweep_has_time(p, 1)));
    }
    if (has_all) {
        v->is_sprayed = true;
        v->sprayed_best = sprayed.best;
        v->sprayed_next = sprayed.next;
        double least = figure_of(&sweep->points[v->sprayed_best], &m);
        v->sprayed_behind = sprayed.behind;
        v->sprayed_behind_ratio = sprayed.behind_ratio;
        for (size_t i = 0; sprayed.behind == sprayed.best && i < sweep->n_points; i++) {
            const bool is_more = fab_sweep_has_time(&sweep->points[i], 1) &&
                                 figure_of(&sweep->points[i], &m) > figure_of(&sweep->points[v->sprayed_next], &m);
            v->sprayed_next = is_more ? i : v->sprayed_next;
        }
        v->sprayed_ratio = least > 0 ? figure_of(&sweep->points[v->sprayed_next], &m) / least - 1 : 0;
    }
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
    for (size_t e = 0; e < n_engines; e++) {
        fab_verdict *v = &sweep->verdicts[e];
        *v = judge(sweep, e);
        if (v->is_known && v->next != v->best) {
            judge_other_batch(sweep, e, v);
        }
    }
    if (is_sprayed) {
        judge_sprayed(sweep, &sweep->verdicts[0]);
        n_engines = 1;
    }
    for (size_t i = 0; i < sweep->n_points; i++) {
        sweep->points[i].n_engines -= sweep->points[i].is_sprayed; /* reports show what was asked for */
    }
    sweep->n_verdicts = n_engines;
done:
    for (size_t i = 0; found != NULL && i < sweep->n_points; i++) {
        free(found[i]);
    }
    free(found);
    return status;
}
