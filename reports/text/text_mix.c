/* Text report: fabrics that serve two kinds of job. */
#include "fab/units.h"
#include "text_sections.h"

#include <stdio.h>

static void put_designs(fab_page *page, const fab_mix *m) {
    char a[40];
    fab_text_heading(page, "FABRICS", NULL);
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        const fab_sweep_point *p = d->job[0].is_built ? &d->job[0] : &d->job[1];
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 6, "[%zu] %s", i + 1, d->name);
        if (p->is_built) {
            char switches[32];
            char money[32];
            fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s, %s GPUs, %s switches, %s; bisection %.3g %%", p->family,
                           fab_format_count(a, p->counts.gpus), fab_format_count(switches, p->counts.switches),
                           fab_money_format(money, p->total_usd), 100 * p->bisection_ratio);
        }
        for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
            if (!d->job[j].is_built) {
                fab_page_wrapf(page, FAB_INK_BAD, 6, 6, "no %s job: %s", fab_mix_jobs[j], d->job[j].error);
            }
        }
    }
}

static void set_design(fab_table *table, const fab_mix *m, size_t i, size_t e) {
    const fab_mix_design *d = &m->designs[i];
    const fab_mix_engine *engine = &d->engines[e];
    fab_ink ink = engine->is_best ? FAB_INK_GOOD : FAB_INK_PLAIN;
    char a[40];
    size_t column = 0;
    fab_table_row(table);
    fab_table_set(table, column++, ink, "[%zu] %s", i + 1, d->job[0].family);
    for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
        const fab_sweep_engine *job = &d->job[j].engines[e];
        fab_table_set(table, column++, ink, "%s",
                      job->has_time ? fab_quantity_format(a, job->time_s, FAB_UNIT_TIME) : "-");
        if (engine->has_time) {
            fab_table_set(table, column, ink, "x%.3f", engine->slowdown[j]);
        }
        column++;
    }
    if (engine->has_time) {
        fab_table_set(table, column, ink, "%.3f", engine->speed);
        fab_table_set(table, column + 1, ink, "%.3f", engine->speed_per_usd);
    }
    fab_table_set(table, column + 2, ink, "%s", fab_money_format(a, d->job[0].total_usd));
}

/* Columns: design, then time and slow-down of each job, speed, speed per dollar, cost. */
static void put_engine(fab_page *page, const fab_mix *m, const fab_mix_design *first, size_t e) {
    static const char *const HEADINGS[] = {"", "training", "", "ranking", "", "speed", "per dollar", "cost"};
    size_t best = m->n_designs;
    fab_table table;
    fab_text_heading(page, "MIX", first->job[0].engines[e].label);
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    for (size_t i = m->n_designs; i-- > 0;) {
        best = e < m->designs[i].n_engines && m->designs[i].engines[e].is_best ? i : best;
    }
    for (size_t i = 0; i < m->n_designs; i++) {
        if (e < m->designs[i].n_engines) {
            set_design(&table, m, i, e);
        }
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    if (best < m->n_designs) {
        fab_page_wrapf(page, FAB_INK_GOOD, 2, 2, "[%zu] %s serves the mix best: most speed for its cost.", best + 1,
                       m->designs[best].name);
    }
}

void fab_text_mix(fab_page *page, const fab_mix *m) {
    const fab_mix_design *first = NULL;
    for (size_t i = m->n_designs; i-- > 0;) {
        first = m->designs[i].n_engines > 0 ? &m->designs[i] : first;
    }
    fab_text_heading(page, "MIX OF JOBS", NULL);
    for (size_t j = 0; first != NULL && j < FAB_MIX_JOBS; j++) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%.3g %% %s: %s", 100 * m->share[j], fab_mix_jobs[j],
                       first->job[j].traffic);
    }
    put_designs(page, m);
    for (size_t e = 0; first != NULL && e < first->n_engines; e++) {
        put_engine(page, m, first, e);
    }
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        "Times: of an iteration where it is modelled, else of the phases one after the other; x: over the "
        "fastest of these designs. Speed: geometric mean of 1/x, weighted by the shares; per dollar: over the "
        "cost of the network, the best being 1. Servers are not in the cost: where they are the same, and "
        "dearer than the network, speed counts for more than this says.");
}
