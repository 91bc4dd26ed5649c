/* Text report: several fabrics under several kinds of job. */
#include "fab/units.h"
#include "text_sections.h"

static void mix_put_designs(fab_page *page, const fab_mix *m) {
    fab_text_heading(page, "FABRICS", NULL);
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        const fab_sweep_point *p = &d->job[0];
        for (size_t j = 1; j < m->n_jobs && !p->is_built; j++) {
            p = &d->job[j];
        }
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 6, "[%zu] %s", i + 1, d->name);
        if (p->is_built) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s, %s GPUs, %s switches, %s; bisection %s", p->family,
                           fab_show_count(page, p->counts.gpus), fab_show_count(page, p->counts.switches),
                           fab_show_money(page, p->total_usd),
                           isnan(p->bisection_ratio) ? "-" : fab_part_format(FAB_ROOM, p->bisection_ratio, 3));
        }
        for (size_t j = 0; j < m->n_jobs; j++) {
            if (!d->job[j].is_built) {
                fab_page_wrapf(page, FAB_INK_BAD, 6, 6, "no %s job: %s", fab_mix_units[m->kind[j]].job,
                               d->job[j].error);
            }
        }
    }
}

/* A column for every job with its time, and one with its slowdown; then what they come to. */
static void mix_put_engine(fab_page *page, const fab_mix *m, const fab_mix_design *first, size_t e) {
    static const fab_column LAST[] = {COLUMN("speed", 3_digits), COLUMN("per $", 3_digits), COLUMN("cost", money)};
    fab_column columns[1 + 2 * FAB_MIX_JOBS + 3] = {COLUMN("", text)};
    size_t n = 1;
    for (size_t j = 0; j < m->n_jobs; j++) {
        columns[n++] = (fab_column)COLUMN(fab_mix_units[m->kind[j]].job, time);
        columns[n++] = (fab_column)COLUMN("", factor);
    }
    memcpy(&columns[n], LAST, sizeof LAST);
    n += FAB_N_OF(LAST);
    fab_text_heading(page, "MIX", first->job[0].engines[e].label);
    fab_table table = fab_table_of(page, columns, n);
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        double figures[FAB_N_OF(columns)];
        size_t k = 0;
        if (e >= d->n_engines) {
            continue;
        }
        const fab_mix_engine *engine = &d->engines[e];
        const bool timed = engine->has_time;
        for (size_t j = 0; j < m->n_jobs; j++) {
            figures[k++] = d->job[j].engines[e].has_time ? d->job[j].engines[e].time_s : NAN;
            figures[k++] = timed ? engine->slowdown[j] : FAB_TABLE_BLANK;
        }
        figures[k++] = timed ? engine->speed : FAB_TABLE_BLANK;
        figures[k++] = timed ? engine->speed_per_usd : FAB_TABLE_BLANK;
        figures[k++] = m->by_ownership ? d->job[0].ownership.total_usd : d->job[0].total_usd;
        fab_table_row(&table, engine->is_best ? FAB_INK_GOOD : FAB_INK_PLAIN,
                      fab_show(page, "[%zu] %s", i + 1, d->job[0].family), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void put_price(fab_page *page, fab_table *table, const fab_mix *m, const fab_mix_engine *engine, size_t j) {
    bool is_best = engine->is_least[j] && m->n_compared > 1;
    double per_usd = engine->per_usd[j];
    if (per_usd > 0) {
        fab_table_set(table, 2 * j + 2, is_best ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s%s",
                      m->kind[j] == FAB_JOB_RANKING ? fab_show_whole(page, per_usd)
                                                    : fab_show_price(page, fab_mix_units[m->kind[j]].n / per_usd),
                      is_best ? " *" : "");
    }
}

/* Every job by itself: what it gets done, and what that costs. Samples go by the dollar, tokens have a price. */
static void put_units(fab_page *page, const fab_mix *m, size_t e) {
    fab_column columns[1 + 2 * FAB_MIX_JOBS] = {COLUMN("own units", text)};
    size_t n = 1;
    for (size_t j = 0; j < m->n_jobs; j++) {
        static const char *const RATES[] = {"tokens/s", "samples/s", "served/s"};
        static const char *const PRICES[] = {"1e9 tokens", "samples/$", "1e6 tokens"};
        columns[n++] = (fab_column)COLUMN(RATES[m->kind[j]], whole);
        columns[n++] = (fab_column)COLUMN(PRICES[m->kind[j]], whole);
    }
    fab_table table = fab_table_of(page, columns, n);
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        double figures[FAB_N_OF(columns)];
        if (e >= d->n_engines || !d->engines[e].has_time) {
            continue;
        }
        const fab_mix_engine *engine = &d->engines[e];
        for (size_t j = 0; j < m->n_jobs; j++) {
            figures[2 * j] = engine->rate[j];
            figures[2 * j + 1] = FAB_TABLE_BLANK;
        }
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "[%zu] %s", i + 1, d->job[0].family), figures);
        for (size_t j = 0; j < m->n_jobs && !table.failed; j++) {
            put_price(page, &table, m, engine, j);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* What seeds make of a design's speed. */
static double mix_uncertainty(const fab_mix *m, const fab_mix_design *d, size_t e) {
    FAB_SUM(double, ratio, j, m->n_jobs, m->share[j] * d->job[j].engines[e].seeds.ci95_ratio);
    return ratio;
}

/* ", over 8 seeds," where paths are drawn */
static const char *mix_seeds(fab_page *page, const fab_mix *m, size_t e) {
    uint64_t n_seeds = 0;
    bool is_one_draw = false;
    bool is_estimated = false;
    for (size_t i = 0; i < m->n_designs; i++) {
        for (size_t j = 0; e < m->designs[i].n_engines && j < m->n_jobs; j++) {
            const fab_sweep_engine *engine = &m->designs[i].job[j].engines[e];
            is_one_draw = is_one_draw || fab_sweep_is_one_draw(engine);
            is_estimated = is_estimated || engine->estimated_ratio > 0;
            n_seeds = engine->is_drawn ? engine->n_seeds : n_seeds;
        }
    }
    const char *draws = fab_text_draws(page, is_one_draw, n_seeds, is_estimated);
    return draws[0] != '\0' ? fab_show(page, "%s,", draws) : "";
}

/* "Under ecmp, over 8 seeds, [1] clos:gpus=64 serves the mix best: most speed for its cost." */
static void mix_put_answer(fab_page *page, const fab_mix *m, const fab_mix_design *first, size_t e) {
    const char *label = first->job[0].engines[e].label;
    const char *even = "";
    FAB_FIRST(best, m->n_designs, e < m->designs[best].n_engines && m->designs[best].engines[e].is_best);
    if (best == m->n_designs) {
        return;
    }
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        if (i != best && e < d->n_engines && d->engines[e].has_time &&
            fab_is_even(1 - d->engines[e].speed_per_usd,
                        hypot(mix_uncertainty(m, d, e), mix_uncertainty(m, &m->designs[best], e)))) {
            even = fab_show(page, "%s%s[%zu]", even,
                            even[0] != '\0' ? ", " : " Even with it, within 1 % or what seeds make: ", i + 1);
        }
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 2, "Under %s%s [%zu] %s serves the mix best: most speed for its cost.%s%s",
                   fab_text_routing(page, label), mix_seeds(page, m, e), best + 1, m->designs[best].name, even,
                   even[0] != '\0' ? "." : "");
}

/* Which fabrics serve all jobs, and what the others lose most of. */
static void put_fungible(fab_page *page, const fab_mix *m, size_t e) {
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        if (e >= d->n_engines || !d->engines[e].has_time) {
            continue;
        }
        const fab_mix_engine *engine = &d->engines[e];
        FAB_BEST(worst, j, m->n_jobs, engine->slowdown[j] > engine->slowdown[worst]);
        if (engine->serves_all) {
            fab_page_wrapf(page, FAB_INK_GOOD, 2, 6, "[%zu] serves all jobs: %s.", i + 1,
                           engine->slowdown[worst] < 1.005
                               ? "each as fast as on any design here"
                               : fab_show(page, "none takes more than x%.2f", engine->slowdown[worst]));
        } else if (engine->is_overloaded) {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 6,
                           "[%zu] does not serve all: more requests come than it can serve (request-rate).", i + 1);
        } else {
            const double slowdown = engine->slowdown[worst];
            const char *by = slowdown < 2 ? fab_show(page, "%.0f %% longer than", 100 * (slowdown - 1))
                                          : fab_show(page, "x%.2f as long as", slowdown);
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 6, "[%zu] does not serve all: %s takes %s on the best design here.",
                           i + 1, fab_mix_units[m->kind[worst]].job, by);
        }
    }
}

void fab_text_mix(fab_page *page, const fab_mix *m, const char *see) {
    const fab_mix_design *first = NULL;
    for (size_t i = m->n_designs; i-- > 0;) {
        first = m->designs[i].n_engines > 0 ? &m->designs[i] : first;
    }
    fab_text_heading(page, "MIX OF JOBS", NULL);
    for (size_t e = 0; first != NULL && e < first->n_engines; e++) {
        mix_put_answer(page, m, first, e);
        put_fungible(page, m, e);
    }
    fab_text_see(page, see, false);
    for (size_t j = 0; first != NULL && j < m->n_jobs; j++) {
        const bool is_of_first = m->n_designs > 1 && strstr(first->job[j].traffic, "(the fastest plan") != NULL;
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%.3g %% %s%s: %s", 100 * m->share[j], fab_mix_units[m->kind[j]].job,
                       is_of_first ? ", other designs have plans of their own; at [1]" : "", first->job[j].traffic);
    }
    mix_put_designs(page, m);
    for (size_t e = 0; first != NULL && e < first->n_engines; e++) {
        mix_put_engine(page, m, first, e);
        put_units(page, m, e);
    }
    fab_text_notef(page,
                   "Times: of an iteration, or of a batch that is served, where it is modelled, else of the phases one "
                   "after the other; x: over the fastest of these designs. Speed: geometric mean of 1/x, weighted by "
                   "the shares; per $: over the cost, the best being 1. %sCost: %s",
                   m->n_jobs > 2 || m->kind[1] == FAB_JOB_SERVING
                       ? "Own units: tokens trained, samples, tokens generated, per second and by the cost of their "
                         "part of the cluster, each job as if it had it for all the years; *: the best. "
                       : "Own units: tokens trained and samples, per second and by the cost of their part of the "
                         "cluster, each job as if it had it for all the years; *: the best. ",
                   m->by_ownership ? "of ownership: GPUs, servers, racks, network and energy over the years of the "
                                     "price book, some of them assumed (compare has them by part)."
                                   : "of the network alone, since the price book has no GPUs, servers or racks; these "
                                     "are dearer, so that speed counts for more than this says.");
}
