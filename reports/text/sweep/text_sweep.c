/* Text report: one design at many values of a parameter. */
#include "fab/units.h"
#include "text/text_sections.h"

#define MAX_PHASES  4 /* shown of each engine: the longest */
#define LEAST_BAR   6 /* columns, as are all below */
#define MOST_BAR    24
#define VALUE       22 /* of a point's values */
#define WIDE_FABRIC 64 /* of all figures of a fabric */
#define A_CROSSING  17
#define A_TIME      11
#define A_COUNT     9

/* "2, 400Gb/s"; long ones are cut. */
const char *fab_text_sweep_point(fab_page *page, const fab_sweep *s, const fab_sweep_point *p) {
    const char *name = p->value[0];
    if (s->compares_designs) {
        const bool is_line = p->family[0] == '\0'; /* of a design that is refused: as far as the user said */
        return fab_show(page, "[%zu] %.*s", (size_t)(p - s->points) + 1, is_line ? (int)strcspn(name, ":,") : VALUE,
                        is_line ? name : p->family);
    }
    for (size_t k = 1; k < s->n_paths; k++) {
        name = fab_show(page, "%s, %s", name, p->value[k]);
    }
    return fab_show(page, "%.*s", VALUE, name);
}

const char *fab_text_short_path(const char *path) {
    bool known = strncmp(path, "fabric.", 7) == 0 || strncmp(path, "job.", 4) == 0;
    return known ? strchr(path, '.') + 1 : path;
}

const char *fab_text_sweep_paths(fab_page *page, const fab_sweep *s) {
    const char *name = fab_text_short_path(s->path[0]);
    for (size_t k = 1; k < s->n_paths; k++) {
        name = fab_show(page, "%s, %s", name, fab_text_short_path(s->path[k]));
    }
    return name;
}

/* Of the first column. */
static const char *sweep_show_heading(fab_page *page, const fab_sweep *s) {
    return fab_show(page, "%.*s", VALUE, fab_text_sweep_paths(page, s));
}

/* Columns that the names of the points leave. */
static size_t sweep_room(fab_page *page, const fab_sweep *s) {
    const size_t heading = fab_text_columns(sweep_show_heading(page, s));
    FAB_MOST(size_t, widest, i, s->n_points, fab_text_columns(fab_text_sweep_point(page, s, &s->points[i])));
    widest = widest > heading ? widest : heading;
    return page->width > widest + 2 ? page->width - widest - 2 : 0;
}

const fab_sweep_point *fab_text_first_built(const fab_sweep *s) {
    size_t i = 0;
    while (i + 1 < s->n_points && !s->points[i].is_built) {
        i++;
    }
    return &s->points[i];
}

/* --- fabrics ------------------------------------------------------------------------------------------------------ */

static bool equal_fabrics(const fab_sweep_point *p, const fab_sweep_point *q) {
    bool equal = p->counts.gpus == q->counts.gpus && p->counts.tiers == q->counts.tiers &&
                 p->counts.switches == q->counts.switches && p->counts.cables == q->counts.cables &&
                 p->total_usd == q->total_usd && p->power_w == q->power_w && p->bisection_bps == q->bisection_bps;
    for (uint64_t t = 0; equal && t + 1 < p->counts.tiers && t < FAB_MAX_TIERS; t++) {
        equal = p->counts.built_taper[t] == q->counts.built_taper[t];
    }
    return equal;
}

bool fab_text_all_alike(const fab_sweep *s, bool (*alike)(const fab_sweep_point *p, const fab_sweep_point *first)) {
    const fab_sweep_point *first = fab_text_first_built(s);
    FAB_ALL(all, i, s->n_points, !s->points[i].is_built || alike(&s->points[i], first));
    return all;
}

/* One fabric for all points: as where the job alone is varied. */
static bool same_fabric(const fab_sweep *s) {
    return fab_text_all_alike(s, equal_fabrics);
}

static const char *sweep_show_bisection(fab_page *page, double ratio) {
    return fab_show(page, "%s", fab_part_format(FAB_ROOM, ratio, 3));
}

static bool equal_gpus(const fab_sweep_point *p, const fab_sweep_point *first) {
    return p->counts.gpus == first->counts.gpus;
}

/* Numbers of GPUs differ, and are not themselves what is varied. */
static bool shows_gpus(const fab_sweep *s) {
    return !fab_text_all_alike(s, equal_gpus) && strcmp(fab_text_short_path(s->path[0]), "gpus") != 0;
}

static void sweep_put_fabrics(fab_page *page, const fab_sweep *s) {
    bool is_wide = sweep_room(page, s) >= WIDE_FABRIC + (shows_gpus(s) ? A_COUNT : 0);
    const fab_column columns[] = {COLUMN(sweep_show_heading(page, s), text),
                                  COLUMN("built taper", text),
                                  COLUMN(shows_gpus(s) ? "GPUs" : NULL, whole),
                                  COLUMN("cost", money),
                                  COLUMN("switches", whole),
                                  SHOWN("bisection", sweep_show_bisection),
                                  COLUMN("power", power),
                                  COLUMN(is_wide ? "cables" : NULL, whole)};
    bool once = same_fabric(s);
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        const double figures[] = {
            FAB_TABLE_BLANK, (double)p->counts.gpus,  p->total_usd, (double)p->counts.switches, p->bisection_ratio,
            p->power_w,      (double)p->counts.cables};
        if (once && p != fab_text_first_built(s)) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, once ? "all" : fab_text_sweep_point(page, s, p),
                      p->is_built ? figures : NULL);
        fab_table_put(&table, 1, p->is_built ? FAB_INK_PLAIN : FAB_INK_BAD,
                      p->is_built ? fab_show_tapers(page, p->counts.tiers, p->counts.built_taper) : "not built");
    }
    fab_text_heading(page, "FABRICS", NULL);
    fab_table_end(&table, 2, NULL, NULL);
    FAB_ANY(has_rails, i, s->n_points, strcmp(s->points[i].family, "rail-only") == 0);
    fab_text_notef(
        page, "built taper: oversubscription, leaf first; bisection: part of full that any traffic may count on%s",
        has_rails ? ", of rail-only traffic that servers spread over all rails (to one rail their GPUs share its NIC)"
                  : "");
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (!p->is_built) {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "%s: %s", fab_text_sweep_point(page, s, p), p->error);
        }
    }
}

/* --- phases shown ------------------------------------------------------------------------------------------------- */

/* Names of phases; points may differ in them, as where the job is varied. */
typedef struct names {
    const char *name[64];
    double weight[64]; /* what they are chosen by */
    size_t n;
} names;

/* As the plan under engine e has it. */
static const fab_sweep_phase *phase_named(const fab_sweep_point *p, const char *name, size_t e) {
    FAB_FIRST(i, p->n_phases,
              e < p->n_engines && strcmp(p->phases[i].name, name) == 0 && p->phases[i].times[e].n_seeds > 0);
    return i < p->n_phases ? &p->phases[i] : NULL;
}

static void add_name(names *list, const char *name, double weight) {
    FAB_FIRST(i, list->n, strcmp(list->name[i], name) == 0);
    if (i == sizeof list->name / sizeof list->name[0]) {
        return;
    }
    if (i == list->n) {
        list->name[list->n] = name;
        list->weight[list->n++] = 0;
    }
    list->weight[i] = weight > list->weight[i] ? weight : list->weight[i];
}

/* Keeps the n heaviest, in their order. */
static void keep_heaviest(names *list, size_t n) {
    while (list->n > n) {
        size_t least = 0;
        for (size_t i = 1; i < list->n; i++) {
            least = list->weight[i] <= list->weight[least] ? i : least;
        }
        list->n--;
        memmove(&list->name[least], &list->name[least + 1], (list->n - least) * sizeof list->name[0]);
        memmove(&list->weight[least], &list->weight[least + 1], (list->n - least) * sizeof list->weight[0]);
    }
}

/* Phases that fit, of which one is shown in any case. */
static size_t limit(size_t n) {
    return n < 1 ? 1 : n < MAX_PHASES ? n : MAX_PHASES;
}

/* --- crossings ---------------------------------------------------------------------------------------------------- */

static names crossing_phases(const fab_sweep *s, uint32_t tier, size_t most) {
    names list = {.n = 0};
    for (size_t i = 0; i < s->n_points; i++) {
        FAB_EACH(const fab_sweep_phase, phase, s->points[i].phases, s->points[i].n_phases) {
            if (phase->crossing_flows[tier] > 0 && phase->times[0].n_seeds > 0) {
                add_name(&list, phase->name, (double)phase->crossing_flows[tier]);
            }
        }
    }
    keep_heaviest(&list, most);
    return list;
}

static bool same_crossings(const fab_sweep *s, const names *list, uint32_t tier) {
    for (size_t i = 0; i < s->n_points; i++) {
        for (size_t j = 0; s->points[i].is_built && j < list->n; j++) {
            const fab_sweep_phase *here = phase_named(&s->points[i], list->name[j], 0);
            const fab_sweep_phase *there = phase_named(fab_text_first_built(s), list->name[j], 0);
            if (here == NULL || there == NULL || here->crossing_flows[tier] != there->crossing_flows[tier] ||
                here->flows != there->flows) {
                return false;
            }
        }
    }
    return true;
}

static const char *sweep_show_crossing(fab_page *page, const fab_sweep_phase *phase, uint32_t tier) {
    double part = phase->flows > 0 ? 100 * (double)phase->crossing_flows[tier] / (double)phase->flows : 0;
    return fab_show(page, "%s (%.3g %%)", fab_show_count(page, phase->crossing_flows[tier]), part);
}

static void sweep_put_crossings_of(fab_page *page, const fab_sweep *s, uint32_t tier, const names *list) {
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN(sweep_show_heading(page, s), text)};
    bool once = same_crossings(s, list, tier);
    for (size_t j = 0; j < list->n; j++) {
        columns[j + 1].heading = list->name[j];
    }
    fab_table table = fab_table_of(page, columns, list->n + 1);
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (!p->is_built || (once && p != fab_text_first_built(s))) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, once ? "all" : fab_text_sweep_point(page, s, p), NULL);
        for (size_t j = 0; j < list->n; j++) {
            const fab_sweep_phase *phase = phase_named(p, list->name[j], 0);
            fab_table_put(&table, j + 1, phase != NULL ? FAB_INK_PLAIN : FAB_INK_DIM,
                          phase != NULL ? sweep_show_crossing(page, phase, tier) : "-");
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void sweep_put_crossings(fab_page *page, const fab_sweep *s) {
    FAB_ANY(differ, i, s->n_points, s->points[i].plans_differ);
    for (uint32_t tier = 2; tier <= FAB_MAX_TIERS; tier++) {
        names list = crossing_phases(s, tier, limit(sweep_room(page, s) / A_CROSSING));
        if (list.n == 0) {
            continue;
        }
        fab_text_heading(page,
                         fab_show(page, "CROSSING %s", fab_boundary_name(fab_text_first_built(s)->counts.wiring, tier)),
                         differ ? "flows of a phase that do under the first engine, and their part of all its flows"
                                : "flows of a phase that do, and their part of all its flows");
        sweep_put_crossings_of(page, s, tier, &list);
    }
}

/* --- times -------------------------------------------------------------------------------------------------------- */

typedef struct engine_table {
    const fab_sweep *sweep;
    size_t engine;
    double most_s;
} engine_table;

/* Rows are those of the points that have the engine, from 1. */
static const fab_sweep_engine *engine_of_row(const engine_table *t, size_t row) {
    const fab_sweep_point *p = t->sweep->points;
    for (; row > 1 || t->engine >= p->n_engines; p++) {
        row -= t->engine < p->n_engines;
    }
    return &p->engines[t->engine];
}

static void sweep_put_tail(fab_page *page, size_t row, const void *context) {
    const engine_table *t = context;
    const fab_sweep_engine *e = engine_of_row(t, row);
    size_t room = page->used + 3 < page->width ? page->width - page->used - 3 : 0;
    if (!e->has_time) {
        fab_page_put(page, FAB_INK_BAD, fab_sweep_is_overloaded(e) ? "   overload" : "");
        return;
    }
    fab_page_put(page, e->is_on_front ? FAB_INK_GOOD : FAB_INK_PLAIN, e->is_on_front ? " * " : "   ");
    if (room >= LEAST_BAR) {
        fab_page_bar(page, FAB_INK_BAR, e->compared_s, t->most_s, room < MOST_BAR ? room : MOST_BAR);
    }
}

static bool equal_tokens(const fab_sweep_point *p, const fab_sweep_point *first) {
    return p->tokens == first->tokens;
}

/* Of all iterations. */
static bool same_tokens(const fab_sweep *s) {
    return fab_text_all_alike(s, equal_tokens);
}

static bool shows_tokens(const fab_sweep *s) {
    return s->compares_designs || !same_tokens(s);
}

static void sweep_set_time(fab_table *table, size_t column, bool known, double time_s) {
    fab_table_put(table, column, known ? FAB_INK_PLAIN : FAB_INK_DIM, known ? fab_show_time(table->page, time_s) : "-");
}

static void sweep_add_point(fab_table *table, const fab_sweep *s, const fab_sweep_point *p, size_t e,
                            const names *phases, bool iterations, bool one_price) {
    const fab_sweep_engine *engine = &p->engines[e];
    size_t column = 1;
    fab_table_row(table, engine->is_on_front ? FAB_INK_GOOD : FAB_INK_PLAIN, fab_text_sweep_point(table->page, s, p),
                  NULL);
    for (size_t j = 0; j < phases->n; j++) {
        const fab_sweep_phase *phase = phase_named(p, phases->name[j], e);
        sweep_set_time(table, column++, phase != NULL && phase->times[e].has_time,
                       phase != NULL ? phase->times[e].time_s.mean : 0);
    }
    if (iterations) {
        sweep_set_time(table, column++, engine->has_iteration, engine->iteration.time_s);
        bool known = engine->has_iteration;
        if (!same_tokens(s)) {
            fab_table_put(table, column++, FAB_INK_PLAIN, known ? fab_show_count(table->page, p->batch) : "-");
        }
        if (shows_tokens(s)) {
            fab_table_put(table, column++, FAB_INK_PLAIN,
                          known ? fab_show_whole(table->page, engine->iteration.tokens_per_s + 0.5) : "-");
        }
        if (engine->iteration.usd_per_1e9_tokens >
            0) { /* to the dollar: points differ by little where GPU hours are most of it */
            fab_table_set(table, column, FAB_INK_PLAIN, "$%s",
                          fab_show_whole(table->page, engine->iteration.usd_per_1e9_tokens + 0.5));
        }
        column++;
    } else if (engine->has_serving) {
        const fab_serving *served = &engine->serving;
        sweep_set_time(table, column++, true, served->batch_s);
        fab_table_put(table, column++, FAB_INK_PLAIN, fab_show_whole(table->page, served->tokens_per_s + 0.5));
        if (served->usd_per_1e6_tokens > 0) {
            fab_table_put(table, column, FAB_INK_PLAIN, fab_show_price(table->page, served->usd_per_1e6_tokens));
        }
        column++;
    } else {
        sweep_set_time(table, column++, engine->has_phases, engine->phases_s);
    }
    if (!one_price) {
        fab_table_put(table, column, FAB_INK_PLAIN, fab_show_money(table->page, p->total_usd));
    } else if (engine->has_time) {
        fab_table_set(table, column, FAB_INK_PLAIN, "x%.3f", engine->slowdown);
    }
}

/* By what the points make of a phase, then by its length. */
static void weigh(const fab_sweep *s, size_t e, names *phases) {
    for (size_t j = 0; j < phases->n; j++) {
        double least_s = phases->weight[j];
        for (size_t i = 0; i < s->n_points; i++) {
            const fab_sweep_phase *phase = phase_named(&s->points[i], phases->name[j], e);
            if (phase != NULL && phase->times[e].has_time && phase->times[e].time_s.mean < least_s) {
                least_s = phase->times[e].time_s.mean;
            }
        }
        phases->weight[j] = phases->weight[j] - least_s + 1e-3 * phases->weight[j];
    }
}

/* Whether some point has an iteration; the phases that take longest; the longest time of all. */
static bool sweep_look(fab_page *page, const fab_sweep *s, size_t e, names *phases, double *out_most_s) {
    bool iterations = false;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (e >= p->n_engines) {
            continue;
        }
        iterations = iterations || p->engines[e].has_iteration;
        *out_most_s = p->engines[e].compared_s > *out_most_s ? p->engines[e].compared_s : *out_most_s;
        for (size_t j = 0; j < p->n_phases; j++) {
            const fab_sweep_time *time = &p->phases[j].times[e];
            add_name(phases, p->phases[j].name, time->has_time ? time->time_s.mean : 0);
        }
    }
    weigh(s, e, phases);
    const bool serves = fab_text_first_built(s)->engines[e].has_serving;
    size_t others = (iterations ? 4U : serves ? 5U : 3U) * (size_t)A_TIME; /* with the mark of the front */
    others += same_tokens(s) ? 0 : A_TIME;
    others += iterations && shows_tokens(s) ? A_TIME : 0;
    keep_heaviest(phases, limit(sweep_room(page, s) > others ? (sweep_room(page, s) - others) / A_TIME : 0));
    return iterations;
}

/* False where the engine itself is varied. */
static bool one_label(const fab_sweep *s, size_t e) {
    const char *label = fab_text_first_built(s)->engines[e].label;
    FAB_ALL(all, i, s->n_points, e >= s->points[i].n_engines || strcmp(s->points[i].engines[e].label, label) == 0);
    return all;
}

static void sweep_put_engine(fab_page *page, const fab_sweep *s, size_t e) {
    names phases = {.n = 0};
    engine_table context = {.sweep = s, .engine = e};
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN("", text)};
    bool iterations = sweep_look(page, s, e, &phases, &context.most_s);
    bool one_price = same_fabric(s);
    size_t n = 0;
    fab_text_heading(page, "TIMES",
                     one_label(s, e) ? fab_text_first_built(s)->engines[e].label : "engine of each point");
    columns[n++].heading = sweep_show_heading(page, s);
    for (size_t j = 0; j < phases.n; j++) {
        columns[n++].heading = phases.name[j];
    }
    const bool serves = fab_text_first_built(s)->engines[e].has_serving;
    columns[n++].heading = iterations ? "iteration" : serves ? "full batch" : "all phases";
    if (iterations && !same_tokens(s)) {
        columns[n++].heading = "batch";
    }
    if (iterations && shows_tokens(s)) {
        columns[n++].heading = "tokens/s";
    }
    if (serves) {
        columns[n++].heading = "tokens/s";
    }
    if (iterations || serves) {
        columns[n++].heading = serves ? "1e6 tokens" : "1e9 tokens";
    }
    columns[n++].heading = one_price ? "slower" : "cost";
    fab_table table = fab_table_of(page, columns, n);
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        if (e < p->n_engines) {
            sweep_add_point(&table, s, p, e, &phases, iterations, one_price);
        }
    }
    fab_table_end(&table, 2, sweep_put_tail, &context);
}

static bool all_times(const fab_sweep *s) {
    bool all = true;
    for (size_t i = 0; i < s->n_points; i++) {
        for (size_t e = 0; e < s->points[i].n_engines; e++) {
            all = all && (s->points[i].engines[e].has_time || fab_sweep_is_overloaded(&s->points[i].engines[e]));
        }
    }
    return all;
}

/* --- the answer --------------------------------------------------------------------------------------------------- */

/* How much of the answer is one draw of the seed. */
static void sweep_put_draws(fab_page *page, const fab_sweep *s) {
    const fab_sweep_point *widest = NULL;
    const fab_sweep_point *drawn_once = NULL; /* while others have means */
    size_t engine = 0, n_means = 0, n_once = 0;
    double most = 0, estimated = 0;
    for (size_t i = 0; i < s->n_points; i++) {
        for (size_t e = 0; e < s->points[i].n_engines; e++) {
            const fab_sweep_engine *x = &s->points[i].engines[e];
            n_once += fab_sweep_is_one_draw(x);
            estimated = fmax(estimated, x->estimated_ratio);
            n_means += x->is_drawn && x->n_seeds > 1;
            drawn_once = drawn_once == NULL && fab_sweep_is_one_draw(x) ? &s->points[i] : drawn_once;
            if (x->is_drawn && x->least_s > 0 && x->most_s / x->least_s - 1 > most) {
                most = x->most_s / x->least_s - 1;
                widest = &s->points[i];
                engine = e;
            }
        }
    }
    if (drawn_once != NULL && n_means == 0) {
        fab_page_wrap(page, FAB_INK_BOLD, 2, 2,
                      "One draw: what the seed picks (paths by hashing, random placements) gives other times under "
                      "another; --seeds 20 has means and how far seeds lie apart.");
    } else if (drawn_once != NULL) {
        fab_page_wrapf(
            page, FAB_INK_BOLD, 2, 2,
            "One draw of %s%s: too many flows for several unasked. The others are means; --seeds N has those of all.",
            fab_text_sweep_point(page, s, drawn_once), n_once > 1 ? fab_show(page, " and %zu more", n_once - 1) : "");
    }
    fab_text_put_estimate(page, estimated);
    if (widest != NULL) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                       "Means of %" PRIu64 " seeds: they lie up to %.3g %% apart, %s under %.*s.",
                       widest->engines[engine].n_seeds, 100 * most, fab_text_sweep_point(page, s, widest),
                       (int)strcspn(widest->engines[engine].label, ","), widest->engines[engine].label);
    }
}

void fab_text_sweep(fab_page *page, const fab_sweep *s, const char *see) {
    const fab_sweep_point *first = fab_text_first_built(s);
    if (s->compares_designs) {
        fab_text_heading(page, "COMPARISON", NULL);
        fab_text_compare(page, s);
    } else {
        fab_text_heading(page, s->compares_placements ? "PLACEMENTS" : "SWEEP", s->design);
        fab_text_placements(page, s);
        fab_text_sweep_answer(page, s, first);
        fab_text_short_plans(page, s);
        fab_text_fewer_of_points(page, s);
    }
    fab_text_see(page, see, s->scenarios[0] != '\0');
    fab_text_better(page, s);
    fab_text_leaves_of_points(page, s);
    sweep_put_draws(page, s);
    if (s->prices[0] != '\0') {
        fab_text_notef(page, "All are priced by %s, also those that name no book.", s->prices);
    }
    if (s->model != NULL) {
        fab_text_notef(page,
                       "Where no model is named it is %s everywhere, so that times compare; by default it would be as "
                       "large as fits. --job model=NAME names another.",
                       s->model);
    }
    for (size_t e = 0; s->scenarios[0] != '\0' && !s->compares_designs && e < first->n_engines; e++) {
        fab_text_failures_of_points(page, s, e);
    }
    bool is_by_algorithm = first->n_algorithms > 1;
    for (size_t e = 0; is_by_algorithm && e < first->n_engines; e++) {
        fab_text_algorithms(page, s, e);
    }
    sweep_put_fabrics(page, s);
    fab_text_choices(page, s);
    sweep_put_crossings(page, s);
    if (is_by_algorithm) {
        return;
    }
    for (size_t e = 0; e < first->n_engines; e++) {
        sweep_put_engine(page, s, e);
    }
    for (size_t e = 0; e < s->n_verdicts; e++) {
        fab_text_compare_cost(page, s, e);
    }
    fab_text_notef(
        page,
        "Times of phases are for one iteration; all phases: one after the other, nothing overlapped. Bars: by the "
        "iteration, or all phases. %s%s",
        same_fabric(s) ? s->scenarios[0] != '\0' ? "Slower: over the fastest. " : "Slower: over the fastest, *."
                       : "* on the Pareto front: under this engine no point of the sweep costs less and is as fast, or "
                         "is faster and costs as much",
        s->scenarios[0] != '\0' ? same_fabric(s)
                                      ? "*: with failures none is clearly faster. All else here is without failures."
                                      : "; with failures, as far as the histories tell: all else here is without them."
        : same_fabric(s)        ? ""
                                : ".");
    if (first->engines[0].has_serving) {
        fab_text_note(page, "Full batch: all prompts read, all tokens generated, without a queue; tokens/s and dollars "
                            "are of full batches, and bars and * go by tokens per second.");
    }
    if (!same_tokens(s) && !fab_sweep_is_per_gpu(s)) {
        fab_text_note(page, "Iterations have unlike numbers of tokens: bars and * go by tokens per second.");
    }
    if (!all_times(s)) {
        fab_text_note(page, "-: not known, since a phase has too many flows for that and unequal bytes or limits.");
    }
}
