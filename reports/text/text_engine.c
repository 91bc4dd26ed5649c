/* Text report: what a phase meets under one routing engine. */
#include "fab/units.h"
#include "data/result_walk.h"
#include "text_sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_LINKS 3
#define SHOWN_FLOWS 3
#define BAR_CELLS   40

/* --- in words ------------------------------------------------------------------------------------------------------
 */

static void add_seeds(fab_table *table, const char *what, const fab_stat *s, bool is_count) {
    const double figures[] = {s->mean, s->ci95, s->p50, s->p99, s->min, s->max};
    char count[40];
    fab_table_row(table);
    fab_table_set(table, 0, FAB_INK_PLAIN, "%s", what);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (is_count) {
            fab_table_set(table, i + 1, FAB_INK_PLAIN, "%s", fab_text_mean_count(count, figures[i]));
        } else {
            fab_table_set(table, i + 1, FAB_INK_PLAIN, "%.3f", figures[i]);
        }
    }
}

static void put_distribution(fab_page *page, const fab_engine_result *e) {
    static const char *const HEADINGS[] = {"mean", "+- 95 %", "median", "p99", "min", "max"};
    char count[32];
    fab_table table;
    fab_table_init(&table, 7);
    fab_table_row(&table);
    fab_table_set(&table, 0, FAB_INK_DIM, "over %s seeds", fab_format_count(count, e->n_seeds));
    for (size_t i = 0; i < sizeof HEADINGS / sizeof HEADINGS[0]; i++) {
        fab_table_set(&table, i + 1, FAB_INK_DIM, "%s", HEADINGS[i]);
    }
    add_seeds(&table, "largest factor", &e->max_collision_factor, false);
    add_seeds(&table, "mean of flows", &e->mean_collision_factor, false);
    add_seeds(&table, "collided links", &e->collided_links, true);
    add_seeds(&table, "collided flows", &e->collided_flows, true);
    if (e->has_effective_bisection) {
        add_seeds(&table, "effective bisection", &e->effective_bisection, false);
    }
    fab_table_print(&table, page, 4, NULL, NULL);
    fab_table_release(&table);
}

static uint64_t n_fabric_links(const fab_engine_result *e) {
    uint64_t n = 0;
    for (size_t i = 0; i < e->n_tiers; i++) {
        n += e->tiers[i].tier >= 2 ? e->tiers[i].links : 0;
    }
    return n;
}

/* Rounds neither some to none nor most to all. */
static double percent_of(double part, double whole) {
    double percent = whole > 0 ? 100 * part / whole : 0;
    if (part > 0 && percent < 0.1) {
        return 0.1;
    }
    return part < whole && percent > 99.9 ? 99.9 : percent;
}

/* `out` holds 64 bytes. Returns out. */
static const char *factors(const fab_hot_link *hot, char *out) {
    if (hot->taper_factor > 0) {
        (void)snprintf(out, 64, "taper %.2f x hash %.2f", hot->taper_factor, hot->hash_factor);
    } else {
        (void)snprintf(out, 64, "off every shortest path");
    }
    return out;
}

static void put_verdict(fab_page *page, const fab_phase_result *p, const fab_engine_result *e) {
    char a[40];
    char b[40];
    char c[40];
    char d[40];
    bool collides = e->max_collision_factor.max > FAB_FULL_LOAD;
    if (!collides) {
        fab_page_wrapf(page, FAB_INK_GOOD, 4, 4,
                       "No collision: no fabric link is asked for more than its rate (at most %.2f).",
                       e->max_collision_factor.max);
    } else {
        fab_page_wrapf(
            page, FAB_INK_BAD, 4, 4,
            "%s%s of %s fabric links are asked for more than their rate; %s of %s flows cross one (%.1f %%).",
            e->n_seeds > 1 || e->n_rounds > 1 ? "In the mean " : "", fab_text_mean_count(a, e->collided_links.mean),
            fab_format_count(b, n_fabric_links(e)), fab_text_mean_count(c, e->collided_flows.mean),
            fab_format_count(d, p->fabric_flows), percent_of(e->collided_flows.mean, (double)p->fabric_flows));
    }
    for (size_t i = 0; i < e->n_tiers && i < 2; i++) {
        if (e->tiers[i].max_utilisation > FAB_FULL_LOAD) {
            fab_page_wrapf(
                page, FAB_INK_BAD, 4, 4,
                "Links %s %s are asked for up to %.2f times their rate: NICs send more than their ports carry.",
                fab_boundary_name(e->wiring, e->tiers[i].tier),
                fab_direction_name(e->wiring, e->tiers[i].tier, e->tiers[i].up), e->tiers[i].max_utilisation);
        }
    }
    if (e->n_seeds > 1) {
        put_distribution(page, e);
        return;
    }
    if (collides && e->n_rounds > 1) {
        fab_page_wrapf(
            page, FAB_INK_PLAIN, 4, 4,
            "Queue pairs take turns: largest collision factor %.2f, mean over flows %.2f, as means over %" PRIu32
            " rounds. Links below are those of the first round.",
            e->max_collision_factor.mean, e->mean_collision_factor.mean, e->n_rounds);
    } else if (collides && e->n_hot > 0) {
        char parts[64];
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "Largest collision factor %.2f%s%s; mean over flows %.2f.",
                       e->hot[0].factor, e->hot[0].taper_factor > 0 ? " = " : ", ", factors(&e->hot[0], parts),
                       e->mean_collision_factor.mean);
    }
    if (e->has_effective_bisection) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "Effective bisection bandwidth %.3f of the line rate.",
                       e->effective_bisection.mean);
    }
}

/* Time that no phase under this routing falls below, and how far from the optimum that is. */
static void put_limits(fab_page *page, const fab_engine_result *e) {
    char text[512];
    char a[40];
    size_t n = (size_t)snprintf(text, sizeof text, "The fullest network link takes %s for its bytes%s.",
                                fab_quantity_format(a, e->busiest_link_s.mean, FAB_UNIT_TIME),
                                e->n_seeds > 1 ? " (mean)" : "");
    if (e->has_gap) {
        double gap = e->optimum_gap.mean;
        if (gap < 5e-5) {
            (void)snprintf(text + n, sizeof text - n, " No routing over shortest paths has a less full one.");
        } else {
            (void)snprintf(text + n, sizeof text - n,
                           " It is at most %.*f %% fuller than under the best routing over shortest paths%s.",
                           gap < 0.1 ? 2 : 0, 100 * gap, e->n_seeds > 1 ? " (mean)" : "");
        }
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
}

/* How long the paths are, and what that makes of the receiver's window. */
static void put_paths(fab_page *page, const fab_engine_result *e) {
    const fab_path_figures *p = &e->paths;
    char text[512];
    char a[40];
    char b[40];
    char c[40];
    char d[40];
    if (p->n_flows == 0) {
        return;
    }
    size_t n = 0;
    if (p->hops.min == p->hops.max) {
        n = (size_t)snprintf(text, sizeof text, "Paths: %.0f network links", p->hops.min);
    } else {
        n = (size_t)snprintf(text, sizeof text, "Paths: %.0f to %.0f network links (mean %.2f)", p->hops.min,
                             p->hops.max, p->hops.mean);
    }
    (void)fab_quantity_format(a, p->latency_s.min, FAB_UNIT_TIME);
    (void)fab_quantity_format(b, p->latency_s.max, FAB_UNIT_TIME);
    bool differ = strcmp(a, b) != 0;
    n += (size_t)snprintf(text + n, sizeof text - n, ", %s%s%s one way", a, differ ? " to " : "", differ ? b : "");
    if (p->max_spread_s > 0) {
        (void)snprintf(text + n, sizeof text - n, "; those of one flow differ by up to %s",
                       fab_quantity_format(a, p->max_spread_s, FAB_UNIT_TIME));
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
    if (!p->reorders) {
        return;
    }
    n = (size_t)snprintf(text, sizeof text, "Packets arrive out of order: a window of %s over %s and %s in queues ",
                         fab_quantity_format(a, e->window_bytes, FAB_UNIT_BYTES),
                         fab_quantity_format(b, p->longest_round_trip_s, FAB_UNIT_TIME),
                         fab_quantity_format(c, e->queueing_s, FAB_UNIT_TIME));
    if (p->limited_flows > 0) {
        (void)snprintf(text + n, sizeof text - n,
                       "lets %s flows send less than they are offered, the slowest %s (%.2f times less).",
                       fab_format_count(a, p->limited_flows), fab_quantity_format(d, p->min_limit_bps, FAB_UNIT_RATE),
                       p->max_excess_ratio);
        fab_page_wrap(page, FAB_INK_BAD, 4, 4, text);
    } else {
        (void)snprintf(text + n, sizeof text - n, "allows %s: it limits no flow.",
                       fab_quantity_format(d, p->min_limit_bps, FAB_UNIT_RATE));
        fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
    }
}

/* Where it matters whether the fabric is lossless. */
static void put_deadlock(fab_page *page, const fab_engine_result *e) {
    char text[512];
    char a[32];
    if (e->n_cycle == 0) {
        return;
    }
    size_t n = (size_t)snprintf(text, sizeof text,
                                "Can deadlock where the fabric is lossless: %s links wait for each other in a circle:",
                                fab_format_count(a, e->n_cycle));
    for (size_t i = 0; i < e->n_cycle && i < 4 && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %s", i > 0 ? "," : "", e->cycle[i]);
    }
    if (e->n_cycle > 4 && n < sizeof text) {
        (void)snprintf(text + n, sizeof text - n, ", ...");
    }
    fab_page_wrap(page, FAB_INK_BAD, 4, 4, text);
}

/* What part of their next hops switches use that meet enough flows to use all. */
static void put_next_hops(fab_page *page, const fab_engine_result *e) {
    char text[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *load = &e->tiers[i];
        if (load->full_choices > 0 && n < sizeof text) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s %.0f %% (least %.0f %%)",
                                  n == 0 ? "Next hops used: " : ", ", fab_boundary_name(e->wiring, load->tier),
                                  fab_direction_name(e->wiring, load->tier, load->up), 100 * load->mean_used,
                                  100 * load->min_used);
        }
    }
    if (n > 0) {
        fab_page_wrap(page, FAB_INK_PLAIN, 4, 4, text);
    }
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *load = &e->tiers[i];
        char a[32];
        char b[32];
        char c[40];
        if (load->polarized) {
            fab_page_wrapf(
                page, FAB_INK_BAD, 4, 4,
                "Polarized: %s %s, flows whose path was chosen before use %s of %s next hops, where an ideal "
                "hash would use %s. Give the tiers different hash families.",
                fab_boundary_name(e->wiring, load->tier), fab_direction_name(e->wiring, load->tier, load->up),
                fab_format_count(a, load->later_used), fab_format_count(b, load->later_next_hops),
                fab_text_mean_count(c, load->later_expected));
        }
    }
}

/* --- loads by boundary ---------------------------------------------------------------------------------------------
 */

static uint64_t largest_bin(const fab_tier_load *load) {
    uint64_t largest = 0;
    for (size_t i = 0; i < FAB_HISTOGRAM; i++) {
        largest = load->histogram[i] > largest ? load->histogram[i] : largest;
    }
    return largest;
}

/* Bins from the fifth on are above the rate of the link. */
static fab_ink ink_of_bin(size_t bin) {
    return bin < 4 ? FAB_INK_BAR : FAB_INK_BAD;
}

static void put_small_histogram(fab_page *page, size_t row, void *context) {
    const fab_engine_result *const *engine = context;
    size_t seen = 0;
    for (size_t i = 0; i < (*engine)->n_tiers; i++) {
        const fab_tier_load *load = &(*engine)->tiers[i];
        if (load->used > 0 && ++seen == row) {
            fab_page_put(page, FAB_INK_PLAIN, "  ");
            for (size_t bin = 0; bin < FAB_HISTOGRAM; bin++) {
                fab_page_column_bar(page, ink_of_bin(bin), (double)load->histogram[bin], (double)largest_bin(load));
            }
        }
    }
}

static void put_loads(fab_page *page, const fab_engine_result *e) {
    static const char *const HEADINGS[] = {"links", "number", "used", "mean", "max", "spray", "collided"};
    char a[32];
    fab_table table;
    fab_table_begin(&table, HEADINGS, sizeof HEADINGS / sizeof HEADINGS[0]);
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *load = &e->tiers[i];
        if (load->used == 0) {
            continue;
        }
        fab_ink ink = load->max_utilisation > FAB_FULL_LOAD ? FAB_INK_BAD : FAB_INK_PLAIN;
        fab_table_row(&table);
        fab_table_set(&table, 0, FAB_INK_PLAIN, "%s %s", fab_boundary_name(e->wiring, load->tier),
                      fab_direction_name(e->wiring, load->tier, load->up));
        fab_table_set(&table, 1, FAB_INK_PLAIN, "%s", fab_format_count(a, load->links));
        fab_table_set(&table, 2, FAB_INK_PLAIN, "%s", fab_format_count(a, load->used));
        fab_table_set(&table, 3, FAB_INK_PLAIN, "%.2f", load->mean_utilisation);
        fab_table_set(&table, 4, ink, "%.2f", load->max_utilisation);
        fab_table_set(&table, 5, FAB_INK_PLAIN, "%.2f", load->max_taper_factor);
        fab_table_set(&table, 6, ink, "%s", fab_format_count(a, load->collided));
    }
    fab_table_print(&table, page, 4, put_small_histogram, &e);
    fab_table_release(&table);
    fab_page_wrapf(page, FAB_INK_DIM, 4, 4,
                   "%smean, max: utilisation; spray: the largest under ideal spraying; last column: links by "
                   "utilisation, from idle to 3 and more",
                   e->n_seeds > 1 ? "first seed; " : "");
}

/* The boundary between switches whose links are fullest. */
static const fab_tier_load *fullest_boundary(const fab_engine_result *e) {
    const fab_tier_load *fullest = NULL;
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_tier_load *load = &e->tiers[i];
        if (load->tier >= 2 && load->used > 0 &&
            (fullest == NULL || load->max_utilisation > fullest->max_utilisation)) {
            fullest = load;
        }
    }
    return fullest;
}

static void put_histogram(fab_page *page, const fab_engine_result *e, const fab_tier_load *load) {
    size_t first = 0;
    size_t last = FAB_HISTOGRAM - 1;
    while (first < last && load->histogram[first] == 0) {
        first++;
    }
    while (last > first && load->histogram[last] == 0) {
        last--;
    }
    fab_page_line(page, FAB_INK_DIM, "    utilisation of the links %s %s%s", fab_boundary_name(e->wiring, load->tier),
                  fab_direction_name(e->wiring, load->tier, load->up), e->n_seeds > 1 ? ", first seed" : "");
    size_t room = page->width > 34 ? page->width - 34 : 8;
    size_t cells = room < BAR_CELLS ? room : BAR_CELLS;
    for (size_t bin = first; bin <= last; bin++) {
        char count[32];
        fab_page_right(page, FAB_INK_PLAIN, 18, fab_histogram_names[bin]);
        fab_page_put(page, FAB_INK_PLAIN, " ");
        fab_page_bar(page, ink_of_bin(bin), (double)load->histogram[bin], (double)largest_bin(load), cells);
        fab_page_printf(page, FAB_INK_PLAIN, " %s", fab_format_count(count, load->histogram[bin]));
        fab_page_end_line(page);
    }
}

/* --- who meets on the worst links ----------------------------------------------------------------------------------
 */

static void put_flow(fab_page *page, const fab_phase_result *phase, const fab_flow_ref *flow) {
    char text[256];
    bool is_job = strcmp(phase->name, phase->collective) != 0; /* a pattern has one name, and no ranks */
    bool is_moved = flow->src_rank != flow->src_gpu || flow->dst_rank != flow->dst_gpu;
    char share[32] = "";
    if (flow->share < 1 - 1e-9) {
        (void)snprintf(share, sizeof share, ", %.3g %% of it", 100 * flow->share);
    }
    if (is_moved) {
        (void)snprintf(text, sizeof text, "rank %" PRIu32 " -> %" PRIu32 " (GPU %" PRIu32 " -> %" PRIu32 ")%s%s%s",
                       flow->src_rank, flow->dst_rank, flow->src_gpu, flow->dst_gpu, share,
                       flow->comm[0] != '\0' ? ", " : "", flow->comm);
    } else {
        (void)snprintf(text, sizeof text, "%s %" PRIu32 " -> %" PRIu32 "%s%s%s", is_job ? "rank" : "GPU", flow->src_gpu,
                       flow->dst_gpu, share, flow->comm[0] != '\0' ? ", " : "", flow->comm);
    }
    fab_page_wrap(page, FAB_INK_PLAIN, 8, 10, text);
}

static void put_hot_links(fab_page *page, const fab_phase_result *phase, const fab_engine_result *e) {
    fab_page_line(page, FAB_INK_DIM, "    worst links%s, and who meets there",
                  e->n_seeds > 1 ? " for the first seed" : "");
    for (size_t i = 0; i < e->n_hot && i < SHOWN_LINKS; i++) {
        const fab_hot_link *hot = &e->hot[i];
        char count[32];
        char parts[64];
        fab_page_wrapf(page, FAB_INK_BAD, 6, 8, "x%.2f %s, %s, %s flow%s", hot->factor, hot->name, factors(hot, parts),
                       fab_format_count(count, hot->n_flows), hot->n_flows == 1 ? "" : "s");
        uint32_t shown = 0;
        for (; shown < hot->n_listed && shown < SHOWN_FLOWS; shown++) {
            put_flow(page, phase, &hot->flows[shown]);
        }
        if (hot->n_flows > shown && shown > 0) {
            fab_page_line(page, FAB_INK_DIM, "        and %s more", fab_format_count(count, hot->n_flows - shown));
        }
    }
}

void fab_text_engine(fab_page *page, const fab_phase_result *phase, const fab_engine_result *e) {
    char text[FAB_ENGINE_LABEL_SIZE + 64];
    if (e->n_seeds > 1) {
        (void)snprintf(text, sizeof text, "%s, seeds %" PRIu64 " to %" PRIu64, e->label, e->seed,
                       e->seed + e->n_seeds - 1);
    } else if (e->seeded) {
        (void)snprintf(text, sizeof text, "%s, seed %" PRIu64, e->label, e->seed);
    } else {
        (void)snprintf(text, sizeof text, "%s", e->label);
    }
    fab_page_end_line(page);
    fab_page_wrap(page, FAB_INK_BOLD, 2, 4, text);
    if (phase->fabric_flows > 0) {
        put_verdict(page, phase, e);
    }
    fab_text_times(page, e);
    put_limits(page, e);
    put_paths(page, e);
    put_deadlock(page, e);
    put_next_hops(page, e);
    put_loads(page, e);
    const fab_tier_load *fullest = fullest_boundary(e);
    if (phase->fabric_flows == 0 || fullest == NULL) {
        return;
    }
    put_histogram(page, e, fullest);
    if (e->n_hot > 0 && e->hot[0].factor > FAB_FULL_LOAD) {
        put_hot_links(page, phase, e);
    }
}
