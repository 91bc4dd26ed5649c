/* Text report: what compared designs cost, by GPU hours and bought. */
#include "text_sections.h"

#include <math.h>
#include <string.h>

#define SECONDS_PER_YEAR (365.0 * 24 * 3600)

/* Per year, of the job's part of the network. */
static void compare_put_hours(fab_page *page, const fab_sweep *s, size_t e) {
    static const fab_column COLUMNS[] = {COLUMN("per year", text), COLUMN("GPU hours", money),
                                         COLUMN("network", money), COLUMN("its energy", money),
                                         COLUMN("total", money),   COLUMN("power", power)};
    fab_table table;
    fab_text_heading(page, "COST BY GPU HOURS",
                     s->n_verdicts > 1 ? s->points[s->verdicts[e].best].engines[e].label : NULL);
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        if (!p->is_built || e >= p->n_engines || !(p->engines[e].iteration.usd_per_1e9_tokens > 0)) {
            continue;
        }
        const fab_iteration *it = &p->engines[e].iteration;
        double total = it->usd_per_1e9_tokens * it->tokens_per_s / 1e9 * SECONDS_PER_YEAR;
        double capital = it->network_share_ratio * p->capital_usd_per_year;
        double energy = it->network_share_ratio * p->energy_usd_per_year;
        const double figures[] = {total - capital - energy, capital, energy, total, p->power_w};
        fab_table_row(&table, i == s->verdicts[e].best ? FAB_INK_GOOD : FAB_INK_PLAIN,
                      fab_show(page, "[%zu] %s", i + 1, p->family), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_legendf(page, "%s",
                     "GPU hours at the price of the GPU with its server; network: capital over its years, and the "
                     "energy, of the part that the job has; power of the whole network. Not in it: buildings, people.");
}

static const fab_ownership *any_ownership(const fab_sweep *s) {
    for (size_t i = 0; i < s->n_points; i++) {
        if (s->points[i].ownership.years > 0) {
            return &s->points[i].ownership;
        }
    }
    return NULL;
}

static void ownership_put_table(fab_page *page, const fab_sweep *s, size_t e) {
    static const fab_column COLUMNS[] = {COLUMN("bought", text), COLUMN("GPUs", money),      COLUMN("servers", money),
                                         COLUMN("racks", money), COLUMN("network", money),   COLUMN("energy", money),
                                         COLUMN("total", money), COLUMN("1e9 tokens", money)};
    fab_table table;
    fab_table_begin(&table, page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        const fab_ownership *o = &p->ownership;
        if (o->years > 0 && e < p->n_engines) {
            double tokens_usd = p->engines[e].owned_usd_per_1e9_tokens;
            const double figures[] = {o->gpu_usd,
                                      o->server_usd,
                                      o->rack_usd,
                                      o->network_usd,
                                      o->energy_usd,
                                      o->total_usd,
                                      tokens_usd > 0 ? tokens_usd : NAN};
            fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "[%zu] %s", i + 1, p->family), figures);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* Of the whole cluster, bought; dollars per token of the job's part of it. */
static void compare_put_ownership(fab_page *page, const fab_sweep *s, size_t e) {
    const fab_ownership *any = any_ownership(s);
    const char *told = "";
    fab_text_heading(page, "COST OF OWNERSHIP",
                     s->n_verdicts > 1 ? s->points[s->verdicts[e].best].engines[e].label : NULL);
    if (any != NULL) {
        ownership_put_table(page, s, e);
        fab_page_wrapf(page, FAB_INK_DIM, 2, 2,
                       "Bought and run for %.3g years by prices %s, all at their most power; its source says which "
                       "figures are assumed. 1e9 tokens: of the job's part, without pauses.",
                       any->years, any->profile);
    }
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_ownership *o = &s->points[i].ownership;
        if (o->missing[0] != '\0' && strcmp(o->missing, told) != 0) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%snot known: prices %s without %s",
                           any != NULL ? fab_show(page, "[%zu] ", i + 1) : "", o->profile, o->missing);
            told = o->missing;
        }
    }
}

static bool has_job(const fab_sweep *s) {
    for (size_t i = 0; i < s->n_points; i++) {
        if (s->points[i].has_ownership) {
            return true;
        }
    }
    return false;
}

void fab_text_compare_cost(fab_page *page, const fab_sweep *s, size_t e) {
    if (s->verdicts[e].is_known && s->verdicts[e].by_price) {
        compare_put_hours(page, s, e);
    }
    if (has_job(s)) {
        compare_put_ownership(page, s, e);
    }
}
