/* Text report: what each phase of the traffic asks of the fabric, and what the design alone makes of it. */
#include "text_sections.h"

#include <ctype.h>

#define SAME_LOAD 1e-6 /* part of a load by which links are alike */

static void phase_add_row(fab_table *table, const fab_phase_result *p, size_t engine) {
    bool first =
        engine == fab_phase_first_engine(p); /* what the engines have in common stands in the first of their rows */
    bool quiet = p->fabric_flows == 0 || p->n_engines == 0;
    const fab_engine_result *e = p->n_engines > 0 ? &p->engines[engine] : NULL;
    double figures[] = {FAB_TABLE_BLANK,
                        FAB_TABLE_BLANK,
                        FAB_TABLE_BLANK,
                        FAB_TABLE_BLANK,
                        (double)engine,
                        quiet ? NAN : e->max_collision_factor.mean,
                        quiet ? NAN : e->collided_flows.mean,
                        e != NULL && e->has_time ? e->time_s.mean : NAN};
    if (first) {
        figures[0] = (double)p->bytes;
        figures[1] = (double)p->flows;
        figures[2] = (double)p->fabric_flows;
        figures[3] = quiet ? NAN : p->max_taper_factor;
    }
    fab_table_row(table, FAB_INK_PLAIN, "", figures);
    fab_table_set(table, 0, FAB_INK_BOLD, "%.16s", first ? p->name : "");
}

static const char *phase_show_engine(fab_page *page, double engine) {
    return fab_show(page, "[%.0f]", engine + 1);
}

/* One row per phase and engine. */
static void phase_put_overview(fab_page *page, const fab_result *result) {
    const fab_phase_result *first = &result->phases[0];
    bool several = first->n_engines > 1;
    const fab_column columns[] = {COLUMN("phase", text),
                                  COLUMN("bytes", bytes),
                                  COLUMN("flows", whole),
                                  COLUMN("in fabric", whole),
                                  MARKED("taper", fab_show_2_digits, FAB_INK_BAD, FAB_FULL_LOAD),
                                  SHOWN(several ? "engine" : NULL, phase_show_engine),
                                  MARKED("worst", fab_show_2_digits, FAB_INK_BAD, FAB_FULL_LOAD),
                                  COLUMN("collided", mean_count),
                                  COLUMN("time", time)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = 0; i < result->n_phases; i++) {
        size_t n = result->phases[i].n_engines > 0 ? result->phases[i].n_engines : 1;
        for (size_t engine = fab_phase_first_engine(&result->phases[i]); engine < n; engine++) {
            if (result->phases[i].n_engines == 0 || !result->phases[i].engines[engine].is_absent) {
                phase_add_row(&table, &result->phases[i], engine);
            }
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(page, "taper, spray: fullest fabric link under ideal spraying; worst: largest collision factor; "
                        "mean, max: utilisation");
    fab_text_legendf(page, "%s",
                     "taper: what the design's oversubscription causes; collided: flows that cross a link with a "
                     "factor above 1; time: for all bytes, if nothing else is in the network");
    bool blocks = false;
    for (size_t i = 0; i < result->n_phases; i++) {
        for (size_t engine = 0; engine < result->phases[i].n_engines; engine++) {
            blocks = blocks || result->phases[i].engines[engine].blocks_elsewhere;
        }
    }
    if (blocks) {
        fab_text_legendf(page, "%s",
                         "where flows collide, times are lower bounds on lossless RoCE and InfiniBand (fair shares; "
                         "--transport pfc has their queues)");
    }
    for (size_t i = 0; i < first->n_engines; i++) {
        const char *number = several ? fab_show(page, "[%zu] ", i + 1) : "";
        fab_page_wrapf(page, FAB_INK_DIM, 2, 6, "%s%s", number, first->engines[i].label);
    }
}

/* --- one collective by several algorithms ------------------------------------------------------------------------- */

static bool are_timed(const fab_result *result) {
    for (size_t i = 0; i < result->n_phases; i++) {
        for (size_t e = 0; e < result->phases[i].n_engines; e++) {
            if (!result->phases[i].engines[e].has_time && !result->phases[i].engines[e].is_absent) {
                return false;
            }
        }
    }
    return true;
}

/* Sum over the phases; of what the fullest link of each takes where there are no times of all. */
static double time_of(const fab_result *result, const fab_algorithm_run *a, size_t engine) {
    fab_algorithm_time t = fab_algorithm_time_of(result, a, engine);
    return are_timed(result) ? t.time_s : t.fullest_s;
}

static double least_time(const fab_result *result, const fab_algorithm_run *list, size_t n, size_t engine) {
    double least = time_of(result, &list[0], engine);
    for (size_t i = 1; i < n; i++) {
        double t = time_of(result, &list[i], engine);
        least = t < least ? t : least;
    }
    return least;
}

static void phase_put_collectives(fab_page *page, const fab_result *result) {
    fab_algorithm_run list[FAB_MAX_ALGORITHMS];
    fab_column columns[FAB_TABLE_COLUMNS] = {COLUMN("algorithm", text)};
    size_t n = fab_algorithm_runs(result, list);
    if (n < 2) {
        return;
    }
    char title[2 * FAB_NAME_SIZE];
    FAB_FORMAT(title, "%s BY ALGORITHM", result->phases[0].collective);
    for (char *c = title; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    fab_text_heading(page, title, NULL);
    size_t n_engines = result->phases[0].n_engines;
    n_engines = n_engines < FAB_TABLE_COLUMNS ? n_engines : FAB_TABLE_COLUMNS - 1;
    for (size_t e = 0; e < n_engines; e++) {
        char room[FAB_ENGINE_SHORT_SIZE];
        columns[e + 1].heading =
            fab_show(page, "[%zu] %.20s", e + 1, fab_engine_short(&result->phases[0], e, false, room));
    }
    fab_table table = fab_table_of(page, columns, n_engines + 1);
    for (size_t i = 0; i < n; i++) {
        fab_table_row(&table, FAB_INK_BOLD, list[i].name, NULL);
        for (size_t e = 0; e < n_engines; e++) {
            double least = least_time(result, list, n, e);
            double t = time_of(result, &list[i], e);
            bool is_least = t <= least * (1 + 1e-9);
            fab_table_set(&table, e + 1, is_least ? FAB_INK_GOOD : FAB_INK_PLAIN, "%s x%.2f", fab_show_time(page, t),
                          least > 0 ? t / least : 1);
        }
    }
    fab_table_end(&table, 2, NULL, NULL);
    fab_text_note(
        page,
        are_timed(result)
            ? "time of the phases, steps and their latency included, added up; x: against the fastest of the column"
            : "time that the fullest network link needs, steps with their own peers added up; x: against the fastest "
              "of the column. Latency of steps and time inside scale-up domains are left out.");
}

/* --- one phase ---------------------------------------------------------------------------------------------------- */

static void phase_put_shape(fab_page *page, const fab_phase_result *p) {
    fab_page_say(page, "%s in %s", fab_show_bytes(page, (double)p->bytes),
                 fab_show_counted(page, p->flows, "flow", "flows"));
    if (p->network_flows > 0) {
        fab_page_say(page, ", %s of them between scale-up domains (%s), %s over fabric links",
                     fab_show_count(page, p->network_flows), fab_show_bytes(page, (double)p->network_bytes),
                     fab_show_count(page, p->fabric_flows));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 2);
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, "%s, %s, executed %s%s%s",
                   fab_show_counted(page, p->communicators, "communicator", "communicators"),
                   fab_show_counted(page, p->steps, "dependent step", "dependent steps"),
                   fab_show_counted(page, p->executions, "time", "times"), p->formula[0] != '\0' ? "; bytes = " : "",
                   p->formula);
    if (p->relay_s > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2,
                       "Store and forward: before anything is sent, what goes between rails is relayed inside the "
                       "scale-up domains, %s of the phase's time.",
                       fab_show_time(page, p->relay_s));
    }
}

/* What a boundary does to the phase: whatever the routing, where a cut says so. */
static void phase_put_boundary(fab_page *page, const fab_phase_result *p, const fab_fabric_result *f, uint32_t tier) {
    double utilisation = p->taper_by_tier[tier];
    double taper = f->counts.built_taper[tier - 2];
    bool is_over = p->crossing_flows[tier] > 0 && utilisation > FAB_FULL_LOAD;
    const char *name = fab_boundary_name(f->counts.wiring, tier);
    bool is_tree = f->counts.wiring == FAB_WIRING_TREE;
    if (is_tree) {
        fab_page_printf(page, FAB_INK_PLAIN, "  %-12s %8s built: ", name, fab_show_taper(page, taper));
    } else {
        fab_page_printf(page, FAB_INK_PLAIN, "  %-7s ", name);
    }
    if (p->crossing_flows[tier] == 0) {
        fab_page_say(page, "no flow crosses it");
    } else {
        fab_page_say(page, "%s flows cross, ", fab_show_count(page, p->crossing_flows[tier]));
        if (!is_tree) { /* no bound: other routes than the shortest may carry more */
            fab_page_say(page, "utilisation under ideal spraying over shortest routes %.2f", utilisation);
        } else if (is_over && p->cut_by_tier[tier] < utilisation * (1 - SAME_LOAD)) {
            fab_page_say(page,
                         "x%.2f under equal shares%s: links that share a cut carry unlike loads, and no cut makes it "
                         "more than x%.2f: another routing may do better",
                         utilisation, p->drawn_per_seed ? " (first seed)" : "", p->cut_by_tier[tier]);
        } else if (is_over) {
            fab_page_say(page, "its links are offered x%.2f what they carry, whatever the routing%s", utilisation,
                         p->drawn_per_seed ? " (first seed)" : "");
            if (p->cut_by_tier[tier] >= p->max_cut_factor && p->hosts_s > 0) {
                fab_page_say(page, ": bytes take x%.2f what those of the hosts do", fmax(p->least_s / p->hosts_s, 1));
            }
        } else {
            fab_page_say(page, "utilisation under ideal spraying %.2f%s", utilisation,
                         taper > FAB_FULL_LOAD ? ": the taper (oversubscription) costs nothing here" : "");
        }
    }
    fab_page_paragraph(page, is_over ? FAB_INK_BAD : FAB_INK_PLAIN, 0, page->used);
}

/* How good a routing could be. */
static void phase_put_bound(fab_page *page, const fab_phase_result *p) {
    if (!p->has_bound) {
        return;
    }
    fab_page_say(page, "Optimum over shortest paths: the fullest network link is offered at least %.4f of its rate (%s",
                 p->utilisation_bound, p->drawn_per_seed ? "first seed; " : "");
    if (p->bound_columns > 0) {
        fab_page_say(page, "exact: %s of %s columns and %s rows", p->bound_method,
                     fab_show_count(page, p->bound_columns), fab_show_count(page, p->bound_rows));
    } else if (p->bound_rounds > 0) {
        fab_page_say(page, "certified; %.4f is reached, by %s in %s", p->reached_utilisation, p->bound_method,
                     fab_show_counted(page, p->bound_rounds, "round", "rounds"));
    } else {
        fab_page_say(page, "no choice to make");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 2, ").");
}

static void phase_put(fab_page *page, const fab_result *result, const fab_phase_result *p) {
    const bool is_of_some = result->of_engine[0] != NULL;
    const char *of = is_of_some ? " OF" : "";
    for (size_t e = 0; is_of_some && e < p->n_engines; e++) {
        of = p->engines[e].is_absent ? of : fab_show(page, "%s [%zu]", of, e + 1);
    }
    fab_text_heading(page, fab_show(page, "PHASE %s%s", p->name, of),
                     strcmp(p->name, p->collective) == 0 ? NULL : p->collective);
    phase_put_shape(page, p);
    if (p->flows == 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Has no flows: nothing moves, and it takes no time.");
        return;
    }
    if (p->network_flows == 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 2, 2, "Stays inside the scale-up domains: the network carries nothing.");
        if (p->n_engines > 0) { /* the same under all of them */
            fab_text_times(page, &p->engines[fab_phase_first_engine(p)], p->flows);
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
            phase_put_boundary(page, p, f, t);
        }
    }
    phase_put_bound(page, p);
    for (size_t i = 0; i < p->n_engines; i++) {
        if (!p->engines[i].is_absent) {
            fab_text_engine(page, p, &p->engines[i]);
        }
    }
}

/* Engines that run the job in ways of their own; of each way once. */
static void phase_put_ways(fab_page *page, const fab_result *result) {
    const size_t n = result->phases[0].n_engines;
    for (size_t i = 0; i < n; i++) {
        const fab_result *way = result->of_engine[i];
        const char *which = "";
        bool is_first = true;
        for (size_t e = 0; e < n; e++) {
            is_first = is_first && (e >= i || result->of_engine[e] != way);
            which = result->of_engine[e] == way ? fab_show(page, "%s[%zu] ", which, e + 1) : which;
        }
        if (is_first) {
            fab_page_wrapf(page, FAB_INK_PLAIN, 2, 6, "%s%s", which, way->traffic);
        }
    }
}

void fab_text_phases(fab_page *page, const fab_result *result) {
    const bool is_alike = result->of_engine[0] == NULL;
    fab_text_heading(page, "TRAFFIC", is_alike ? result->traffic : "each engine in its own way");
    if (!is_alike) {
        phase_put_ways(page, result);
    }
    phase_put_overview(page, result);
    phase_put_collectives(page, result);
    for (size_t i = 0; i < result->n_phases; i++) {
        phase_put(page, result, &result->phases[i]);
    }
}
