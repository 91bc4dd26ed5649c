/* Text report: what each phase of the traffic asks of the fabric, and what the design alone makes of it. */
#include "fab/units.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_phase_row(fab_table *table, const fab_phase_result *p, size_t engine) {
    char a[40];
    bool first = engine == 0;
    size_t column = 0;
    fab_table_row(table);
    fab_table_set(table, column++, FAB_INK_BOLD, "%.16s", first ? p->name : "");
    fab_table_set(table, column++, FAB_INK_PLAIN, "%s",
                  first ? fab_quantity_format(a, (double)p->bytes, FAB_UNIT_BYTES) : "");
    fab_table_set(table, column++, FAB_INK_PLAIN, "%s", first ? fab_format_count(a, p->flows) : "");
    fab_table_set(table, column++, FAB_INK_PLAIN, "%s", first ? fab_format_count(a, p->fabric_flows) : "");
    bool quiet = p->fabric_flows == 0 || p->n_engines == 0;
    fab_ink taper = p->max_taper_factor > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN;
    if (first && !quiet) {
        fab_table_set(table, column, taper, "%.2f", p->max_taper_factor);
    } else if (first) {
        fab_table_set(table, column, FAB_INK_PLAIN, "-");
    }
    column++;
    if (p->n_engines > 1) {
        fab_table_set(table, column++, FAB_INK_PLAIN, "[%zu]", engine + 1);
    }
    const fab_engine_result *e = p->n_engines > 0 ? &p->engines[engine] : NULL;
    if (quiet) {
        fab_table_set(table, column++, FAB_INK_PLAIN, "-");
        fab_table_set(table, column++, FAB_INK_PLAIN, "-");
    } else {
        fab_ink worst = e->max_collision_factor.mean > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN;
        fab_table_set(table, column++, worst, "%.2f", e->max_collision_factor.mean);
        fab_table_set(table, column++, FAB_INK_PLAIN, "%s", fab_text_mean_count(a, e->collided_flows.mean));
    }
    bool timed = e != NULL && e->has_time;
    fab_table_set(table, column, FAB_INK_PLAIN, "%s",
                  timed ? fab_quantity_format(a, e->time_s.mean, FAB_UNIT_TIME) : "-");
}

/* One row per phase and engine. */
static void put_overview(fab_page *page, const fab_result *result) {
    static const char *const HEADINGS[] = {"phase",  "bytes", "flows",    "in fabric", "taper",
                                           "engine", "worst", "collided", "time"};
    const fab_phase_result *first = &result->phases[0];
    bool several = first->n_engines > 1;
    fab_table table;
    fab_table_init(&table, sizeof HEADINGS / sizeof HEADINGS[0] - (several ? 0 : 1));
    fab_table_row(&table);
    for (size_t i = 0, column = 0; i < sizeof HEADINGS / sizeof HEADINGS[0]; i++) {
        if (several || strcmp(HEADINGS[i], "engine") != 0) {
            fab_table_set(&table, column++, FAB_INK_DIM, "%s", HEADINGS[i]);
        }
    }
    for (size_t i = 0; i < result->n_phases; i++) {
        size_t n = result->phases[i].n_engines > 0 ? result->phases[i].n_engines : 1;
        for (size_t engine = 0; engine < n; engine++) {
            put_phase_row(&table, &result->phases[i], engine);
        }
    }
    fab_table_print(&table, page, 2, NULL, NULL);
    fab_table_release(&table);
    fab_page_wrap(
        page, FAB_INK_DIM, 2, 2,
        "taper: largest utilisation of a fabric link under ideal spraying, what the design itself causes; worst: "
        "largest collision factor; collided: flows that cross a link with a factor above 1; time: for all bytes, "
        "if nothing else is in the network");
    for (size_t i = 0; i < first->n_engines; i++) {
        char text[FAB_ENGINE_LABEL_SIZE + 32];
        (void)snprintf(text, sizeof text, "[%zu] %s", i + 1, first->engines[i].label);
        fab_page_wrap(page, FAB_INK_DIM, 2, 6, several ? text : text + 4);
    }
}

/* --- one phase -----------------------------------------------------------------------------------------------------
 */

static void put_shape(fab_page *page, const fab_phase_result *p) {
    char a[40];
    char b[40];
    char c[40];
    char d[40];
    char e[40];
    char text[512];
    int n = snprintf(text, sizeof text, "%s in %s flow%s", fab_quantity_format(a, (double)p->bytes, FAB_UNIT_BYTES),
                     fab_format_count(b, p->flows), p->flows == 1 ? "" : "s");
    if (p->network_flows > 0 && n > 0) {
        (void)snprintf(
            text + n, sizeof text - (size_t)n, ", %s of them between scale-up domains (%s), %s over fabric links",
            fab_format_count(c, p->network_flows), fab_quantity_format(d, (double)p->network_bytes, FAB_UNIT_BYTES),
            fab_format_count(e, p->fabric_flows));
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, text);
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s communicator%s, %s dependent step%s, executed %s time%s%s%s",
                   fab_format_count(a, p->communicators), p->communicators == 1 ? "" : "s",
                   fab_format_count(b, p->steps), p->steps == 1 ? "" : "s", fab_format_count(c, p->executions),
                   p->executions == 1 ? "" : "s", p->formula[0] != '\0' ? "; bytes = " : "", p->formula);
    if (p->handover_s > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "Store and forward: before anything is sent, what goes between rails is handed over inside the "
                       "scale-up domains, %s of the phase's time.",
                       fab_quantity_format(a, p->handover_s, FAB_UNIT_TIME));
    }
}

/* What a boundary does to the phase whatever the routing. */
static void put_boundary(fab_page *page, const fab_phase_result *p, const fab_fabric_result *f, uint32_t tier) {
    double utilisation = p->taper_by_tier[tier];
    double taper = f->counts.built_taper[tier - 2];
    bool is_tapered = taper > FAB_FULL_LOAD;
    char a[32];
    char text[256];
    fab_ink ink = FAB_INK_PLAIN;
    const char *name = fab_boundary_name(f->counts.wiring, tier);
    bool is_tree = f->counts.wiring == FAB_WIRING_TREE;
    if (is_tree) {
        fab_page_printf(page, FAB_INK_PLAIN, "  %-12s %8s built: ", name, fab_text_taper(a, taper));
    } else {
        fab_page_printf(page, FAB_INK_PLAIN, "  %-7s ", name);
    }
    if (p->crossing_flows[tier] == 0) {
        (void)snprintf(text, sizeof text, "no flow crosses it");
    } else if (!is_tree) { /* no bound: other routes than the shortest may carry more */
        ink = utilisation > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN;
        (void)snprintf(text, sizeof text, "%s flows cross, utilisation under ideal spraying over shortest routes %.2f",
                       fab_format_count(a, p->crossing_flows[tier]), utilisation);
    } else if (utilisation > FAB_FULL_LOAD) {
        ink = FAB_INK_BAD;
        (void)snprintf(text, sizeof text,
                       "%s flows cross, x%.2f: this phase runs %.2f times slower whatever the routing%s",
                       fab_format_count(a, p->crossing_flows[tier]), utilisation, utilisation,
                       p->drawn_per_seed ? " (first seed)" : "");
    } else {
        (void)snprintf(text, sizeof text, "%s flows cross, utilisation under ideal spraying %.2f%s",
                       fab_format_count(a, p->crossing_flows[tier]), utilisation,
                       is_tapered ? ": the taper costs nothing here" : "");
    }
    fab_page_wrap(page, ink, 0, page->used, text);
}

/* How good a routing could be. */
static void put_bound(fab_page *page, const fab_phase_result *p) {
    char how[160];
    char a[32];
    char b[32];
    if (!p->has_bound) {
        return;
    }
    if (p->bound_columns > 0) {
        (void)snprintf(how, sizeof how, "exact: %s of %s columns and %s rows", p->bound_method,
                       fab_format_count(a, p->bound_columns), fab_format_count(b, p->bound_rows));
    } else if (p->bound_rounds > 0) {
        (void)snprintf(how, sizeof how, "certified; %.4f is reached, by %s in %s round%s", p->reached_utilisation,
                       p->bound_method, fab_format_count(a, p->bound_rounds), p->bound_rounds == 1 ? "" : "s");
    } else {
        (void)snprintf(how, sizeof how, "no choice to make");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                   "Optimum over shortest paths: the fullest network link is asked for at least %.4f of its rate "
                   "(%s%s).",
                   p->utilisation_bound, p->drawn_per_seed ? "first seed; " : "", how);
}

static void put_phase(fab_page *page, const fab_result *result, const fab_phase_result *p) {
    char title[2 * FAB_NAME_SIZE];
    (void)snprintf(title, sizeof title, "PHASE %s", p->name);
    fab_text_heading(page, title, strcmp(p->name, p->collective) == 0 ? NULL : p->collective);
    put_shape(page, p);
    if (p->network_flows == 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Stays inside the scale-up domains: the network carries nothing.");
        if (p->n_engines > 0) { /* the same under all of them */
            fab_text_times(page, &p->engines[0]);
        }
        return;
    }
    if (p->fabric_flows == 0) {
        fab_wiring wiring = result->n_fabrics > 0 ? result->fabrics[0].counts.wiring : FAB_WIRING_TREE;
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "Every flow turns round at its %s: no fabric link carries anything.",
                       fab_tier_name(wiring, 1));
    } else if (result->n_fabrics > 0) {
        const fab_fabric_result *f = &result->fabrics[0];
        for (uint32_t t = 2; t <= f->counts.n_boundaries && t <= FAB_MAX_TIERS; t++) {
            put_boundary(page, p, f, t);
        }
    }
    put_bound(page, p);
    for (size_t i = 0; i < p->n_engines; i++) {
        fab_text_engine(page, p, &p->engines[i]);
    }
}

void fab_text_phases(fab_page *page, const fab_result *result) {
    fab_text_heading(page, "TRAFFIC", result->traffic);
    put_overview(page, result);
    fab_text_collectives(page, result);
    for (size_t i = 0; i < result->n_phases; i++) {
        put_phase(page, result, &result->phases[i]);
    }
}
