/* Text report: several fabrics under two kinds of job. */
#include "fab/units.h"
#include "text_sections.h"

#include <math.h>
#include <string.h>

static void mix_put_designs(fab_page *page, const fab_mix *m) {
    fab_text_heading(page, "FABRICS", NULL);
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        const fab_sweep_point *p = d->job[0].is_built ? &d->job[0] : &d->job[1];
        char bisection[32];
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 6, "[%zu] %s", i + 1, d->name);
        if (p->is_built) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 6, 6, "%s, %s GPUs, %s switches, %s; bisection %s", p->family,
                           fab_show_count(page, p->counts.gpus), fab_show_count(page, p->counts.switches),
                           fab_show_money(page, p->total_usd), fab_part_format(bisection, p->bisection_ratio, 3));
        }
        for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
            if (!d->job[j].is_built) {
                fab_page_wrapf(page, FAB_INK_BAD, 6, 6, "no %s job: %s", fab_mix_jobs[j], d->job[j].error);
            }
        }
    }
}

static void mix_put_engine(fab_page *page, const fab_mix *m, const fab_mix_design *first, size_t e) {
    static const fab_column COLUMNS[] = {COLUMN("", text),
                                         COLUMN("training", time),
                                         COLUMN("", factor),
                                         COLUMN("ranking", time),
                                         COLUMN("", factor),
                                         COLUMN("speed", 3_digits),
                                         COLUMN("per dollar", 3_digits),
                                         COLUMN("cost", money)};
    fab_table table;
    fab_text_heading(page, "MIX", first->job[0].engines[e].label);
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < m->n_designs; i++) {
        const fab_mix_design *d = &m->designs[i];
        if (e >= d->n_engines) {
            continue;
        }
        const fab_mix_engine *engine = &d->engines[e];
        double time_s[FAB_MIX_JOBS];
        for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
            time_s[j] = d->job[j].engines[e].has_time ? d->job[j].engines[e].time_s : NAN;
        }
        const bool timed = engine->has_time;
        const double figures[] = {time_s[0],
                                  timed ? engine->slowdown[0] : FAB_TABLE_BLANK,
                                  time_s[1],
                                  timed ? engine->slowdown[1] : FAB_TABLE_BLANK,
                                  timed ? engine->speed : FAB_TABLE_BLANK,
                                  timed ? engine->speed_per_usd : FAB_TABLE_BLANK,
                                  m->by_ownership ? d->job[0].ownership.total_usd : d->job[0].total_usd};
        fab_table_row(&table, engine->is_best ? FAB_INK_GOOD : FAB_INK_PLAIN,
                      fab_show(page, "[%zu] %s", i + 1, d->job[0].family), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* "Under ecmp [1] clos:gpus=64 serves the mix best: most speed for its cost." */
static void mix_put_answer(fab_page *page, const fab_mix *m, const fab_mix_design *first, size_t e) {
    const char *label = first->job[0].engines[e].label;
    for (size_t i = 0; i < m->n_designs; i++) {
        if (e < m->designs[i].n_engines && m->designs[i].engines[e].is_best) {
            fab_page_wrapf(page, FAB_INK_BOLD, 2, 2,
                           "Under %.*s [%zu] %s serves the mix best: most speed for its cost.",
                           (int)strcspn(label, ","), label, i + 1, m->designs[i].name);
            return;
        }
    }
}

void fab_text_mix(fab_page *page, const fab_mix *m) {
    const fab_mix_design *first = NULL;
    for (size_t i = m->n_designs; i-- > 0;) {
        first = m->designs[i].n_engines > 0 ? &m->designs[i] : first;
    }
    fab_text_heading(page, "MIX OF JOBS", NULL);
    for (size_t e = 0; first != NULL && e < first->n_engines; e++) {
        mix_put_answer(page, m, first, e);
    }
    for (size_t j = 0; first != NULL && j < FAB_MIX_JOBS; j++) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%.3g %% %s: %s", 100 * m->share[j], fab_mix_jobs[j],
                       first->job[j].traffic);
    }
    mix_put_designs(page, m);
    for (size_t e = 0; first != NULL && e < first->n_engines; e++) {
        mix_put_engine(page, m, first, e);
    }
    fab_text_notef(page,
                   "Times: of an iteration where it is modelled, else of the phases one after the other; x: over the "
                   "fastest of these designs. Speed: geometric mean of 1/x, weighted by the shares; per dollar: over "
                   "the cost, the best being 1. Cost: %s",
                   m->by_ownership ? "of ownership: GPUs, servers, racks, network and energy over the years of the "
                                     "price book, some of them assumed (compare has them by part)."
                                   : "of the network alone, since the price book has no GPUs, servers or racks; these "
                                     "are dearer, so that speed counts for more than this says.");
}
