/* Text report: what one routing engine makes of a phase. */
#include "data/result_walk.h"
#include "text_sections.h"

#define SHOWN_LINKS 3
#define SHOWN_FLOWS 3

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void engine_add_seeds(fab_table *table, const char *what, const fab_stat *s, bool is_count) {
    const double figures[] = {s->mean, s->ci95, s->p50, s->p99, s->min, s->max};
    fab_table_row(table, FAB_INK_PLAIN, what, figures);
    for (size_t i = 0; is_count && i < FAB_N_OF(figures); i++) {
        fab_table_put(table, i + 1, FAB_INK_PLAIN, fab_show_mean_count(table->page, figures[i]));
    }
}

static void engine_put_distribution(fab_page *page, const fab_engine_result *e) {
    const fab_column columns[] = {
        COLUMN(fab_show(page, "over %s seeds", fab_show_count(page, e->n_seeds)), text),
        COLUMN("mean", 3_digits),
        COLUMN("+- 95 %", 3_digits),
        COLUMN("median", 3_digits),
        COLUMN("p99", 3_digits),
        COLUMN("min", 3_digits),
        COLUMN("max", 3_digits),
    };
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    engine_add_seeds(&table, "largest factor", &e->max_collision_factor, false);
    engine_add_seeds(&table, "mean of flows", &e->mean_collision_factor, false);
    engine_add_seeds(&table, "collided links", &e->collided_links, true);
    engine_add_seeds(&table, "collided flows", &e->collided_flows, true);
    if (e->has_effective_bisection) {
        engine_add_seeds(&table, "effective bisection", &e->effective_bisection, false);
    }
    fab_table_end(&table, 4, NULL, NULL);
}

static uint64_t n_fabric_links(const fab_engine_result *e) {
    FAB_SUM(uint64_t, n, i, e->n_tiers, e->tiers[i].tier >= 2 ? e->tiers[i].links : 0);
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

static const char *engine_show_factors(fab_page *page, const fab_hot_link *hot) {
    return hot->taper_factor > 0 ? fab_show(page, "taper %.2f x hash %.2f", hot->taper_factor, hot->hash_factor)
                                 : "off every shortest path";
}

static void engine_put_asked(fab_page *page, const fab_phase_result *p, const fab_engine_result *e) {
    if (e->max_collision_factor.max > FAB_FULL_LOAD) {
        const double flows = fmin(e->collided_flows.mean, (double)p->fabric_flows); /* other draws may have more */
        fab_page_wrapf(page, FAB_INK_BAD, 4, 4,
                       "%s%s of %s fabric links are offered more than their rate; %s of %s flows cross one (%.1f %%).",
                       e->n_seeds > 1 || e->n_rounds > 1 ? "In the mean " : "",
                       fab_show_mean_count(page, e->collided_links.mean), fab_show_count(page, n_fabric_links(e)),
                       fab_show_mean_count(page, flows), fab_show_count(page, p->fabric_flows),
                       percent_of(flows, (double)p->fabric_flows));
    } else {
        fab_page_wrapf(page, FAB_INK_GOOD, 4, 4,
                       "No collision: no fabric link is offered more than its rate (at most %.2f).",
                       e->max_collision_factor.max);
    }
    for (size_t i = 0; i < e->n_tiers && i < 2; i++) {
        if (e->tiers[i].max_utilisation > FAB_FULL_LOAD) {
            fab_page_wrapf(page, FAB_INK_BAD, 4, 4,
                           "Links %s are offered up to %.2f times their rate: NICs send more than their ports carry.",
                           fab_text_links(page, e->wiring, e->tiers[i].tier, e->tiers[i].up),
                           e->tiers[i].max_utilisation);
        }
    }
}

static void engine_put_verdict(fab_page *page, const fab_phase_result *p, const fab_engine_result *e) {
    bool collides = e->max_collision_factor.max > FAB_FULL_LOAD;
    engine_put_asked(page, p, e);
    if (e->n_seeds > 1) {
        engine_put_distribution(page, e);
        return;
    }
    if (collides && e->n_rounds > 1) {
        fab_page_wrapf(
            page, FAB_INK_PLAIN, 4, 4,
            "Queue pairs take turns: largest collision factor %.2f, mean over flows %.2f, as means over %" PRIu32
            " rounds. Links below are those of the first round.",
            e->max_collision_factor.mean, e->mean_collision_factor.mean, e->n_rounds);
    } else if (collides && e->n_hot > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "Largest collision factor %.2f%s%s; mean over flows %.2f.",
                       e->hot[0].factor, e->hot[0].taper_factor > 0 ? " = " : ", ",
                       engine_show_factors(page, &e->hot[0]), e->mean_collision_factor.mean);
    }
    if (e->has_effective_bisection) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "Effective bisection bandwidth %.3f of the line rate.",
                       e->effective_bisection.mean);
    }
}

/* Time that no phase under this routing falls below, and how far from the optimum that is. */
static void engine_put_limits(fab_page *page, const fab_engine_result *e) {
    const char *mean = e->n_seeds > 1 ? " (mean)" : "";
    double gap = e->optimum_gap.mean;
    fab_page_say(page, "The fullest network link takes %s for its bytes%s.",
                 fab_show_time(page, e->busiest_link_s.mean), mean);
    if (e->has_gap && gap < 5e-5) {
        fab_page_say(page, " No routing over shortest paths offers its fullest one less.");
    } else if (e->has_gap) {
        const char *more = gap > 1 ? fab_show(page, "x%.3g as full as", 1 + gap)
                                   : fab_show(page, "%.*f %% fuller than", gap < 0.1 ? 2 : 0, 100 * gap);
        fab_page_say(page, " It is at most %s under the best routing over shortest paths%s.", more, mean);
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
}

/* What paths of different length make of the receiver's window. */
static void engine_put_window(fab_page *page, const fab_engine_result *e) {
    const fab_path_figures *p = &e->paths;
    bool limits = p->limited_flows > 0;
    fab_page_say(page, "Packets arrive out of order: a window of %s over %s and %s in queues ",
                 fab_show_bytes(page, e->window_bytes), fab_show_time(page, p->longest_round_trip_s),
                 fab_show_time(page, e->queueing_s));
    if (limits) {
        fab_page_say(page, "lets %s flows send less than they are offered, the slowest %s (%.2f times less).",
                     fab_show_count(page, p->limited_flows), fab_show_rate(page, p->min_limit_bps),
                     p->max_excess_ratio);
    } else {
        fab_page_say(page, "allows %s: it limits no flow.", fab_show_rate(page, p->min_limit_bps));
    }
    fab_page_paragraph(page, limits ? FAB_INK_BAD : FAB_INK_PLAIN, 4, 4);
}

/* How long the paths are, and what that makes of the receiver's window. */
static void engine_put_paths(fab_page *page, const fab_engine_result *e) {
    const fab_path_figures *p = &e->paths;
    if (p->n_flows == 0) {
        return;
    }
    const char *least = fab_show_time(page, p->latency_s.min);
    const char *most = fab_show_time(page, p->latency_s.max);
    if (p->hops.min == p->hops.max) {
        fab_page_say(page, "Paths: %.0f network links", p->hops.min);
    } else {
        fab_page_say(page, "Paths: %.0f to %.0f network links (mean %.2f)", p->hops.min, p->hops.max, p->hops.mean);
    }
    bool differ = strcmp(least, most) != 0;
    fab_page_say(page, ", %s%s%s one way", least, differ ? " to " : "", differ ? most : "");
    if (p->max_spread_s > 0) {
        fab_page_say(page, "; those of one flow differ by up to %s", fab_show_time(page, p->max_spread_s));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
    if (p->reorders) {
        engine_put_window(page, e);
    }
}

/* Where it matters whether the fabric is lossless. */
static void engine_put_deadlock(fab_page *page, const fab_engine_result *e) {
    if (e->n_cycle == 0) {
        return;
    }
    fab_page_say(page, "Can deadlock where the fabric is lossless: %s links wait for each other in a circle:",
                 fab_show_count(page, e->n_cycle));
    for (size_t i = 0; i < e->n_cycle && i < 4; i++) {
        fab_page_say(page, "%s %s", i > 0 ? "," : "", e->cycle[i]);
    }
    fab_page_wrapf(page, FAB_INK_BAD, 4, 4, "%s", e->n_cycle > 4 ? ", ..." : "");
}

/* What part of their next hops switches use that meet enough flows to use all. */
static void engine_put_next_hops(fab_page *page, const fab_engine_result *e) {
    bool any = false;
    FAB_EACH(const fab_tier_load, load, e->tiers, e->n_tiers) {
        if (load->full_choices > 0) {
            fab_page_say(page, "%s%s %.0f %% (least %.0f %%)",
                         any ? ", " : "Next hops used: ", fab_text_links(page, e->wiring, load->tier, load->up),
                         100 * load->mean_used, 100 * load->min_used);
            any = true;
        }
    }
    if (any) {
        fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
    }
    FAB_EACH(const fab_tier_load, load, e->tiers, e->n_tiers) {
        if (load->polarized) {
            fab_page_wrapf(page, FAB_INK_BAD, 4, 4,
                           "Polarized: %s, flows whose path was chosen before use %s of %s next hops, where an "
                           "ideal hash would use %s. Give the tiers different hash families.",
                           fab_text_links(page, e->wiring, load->tier, load->up),
                           fab_show_count(page, load->later_used), fab_show_count(page, load->later_next_hops),
                           fab_show_mean_count(page, load->later_expected));
        }
    }
}

/* --- loads by boundary -------------------------------------------------------------------------------------------- */

#define FIRST_ABOVE 4 /* bins from the fifth on are above the rate of the link */

static void engine_put_bins(fab_page *page, size_t row, const void *context) {
    const fab_engine_result *engine = context;
    size_t seen = 0;
    for (size_t i = 0; i < engine->n_tiers; i++) {
        if (engine->tiers[i].used > 0 && ++seen == row) {
            fab_page_put(page, FAB_INK_PLAIN, "  ");
            fab_page_sparkline(page, engine->tiers[i].histogram, FAB_HISTOGRAM, FIRST_ABOVE);
        }
    }
}

static void engine_put_loads(fab_page *page, const fab_engine_result *e) {
    static const fab_column COLUMNS[] = {COLUMN("links", text),
                                         COLUMN("number", whole),
                                         COLUMN("used", whole),
                                         COLUMN("mean", 2_digits),
                                         MARKED("max", fab_show_2_digits, FAB_INK_BAD, FAB_FULL_LOAD),
                                         COLUMN("spray", 2_digits),
                                         COLUMN("collided", whole)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    FAB_EACH(const fab_tier_load, load, e->tiers, e->n_tiers) {
        const double figures[] = {(double)load->links,   (double)load->used,     load->mean_utilisation,
                                  load->max_utilisation, load->max_taper_factor, (double)load->collided};
        if (load->used > 0) {
            fab_table_row(&table, FAB_INK_PLAIN, fab_text_links(page, e->wiring, load->tier, load->up), figures);
        }
        if (load->used > 0 && load->max_utilisation > FAB_FULL_LOAD) {
            fab_table_put(&table, 6, FAB_INK_BAD, fab_show_count(page, load->collided));
        }
    }
    fab_table_end(&table, 4, engine_put_bins, e);
    fab_text_legendf(page,
                     "%smean, max: utilisation; spray: the largest under ideal spraying; last column: links by "
                     "utilisation, from idle to 3 and more",
                     e->n_seeds > 1 ? "first seed; " : "");
}

/* The boundary between switches whose links are fullest. */
static const fab_tier_load *fullest_boundary(const fab_engine_result *e) {
    const fab_tier_load *fullest = NULL;
    FAB_EACH(const fab_tier_load, load, e->tiers, e->n_tiers) {
        if (load->tier >= 2 && load->used > 0 &&
            (fullest == NULL || load->max_utilisation > fullest->max_utilisation)) {
            fullest = load;
        }
    }
    return fullest;
}

static void engine_put_histogram(fab_page *page, const fab_engine_result *e, const fab_tier_load *load) {
    size_t first = 0;
    size_t last = 0;
    uint64_t largest = fab_text_bins(load->histogram, FAB_HISTOGRAM, &first, &last);
    fab_page_line(page, FAB_INK_DIM, "    utilisation of the links %s%s",
                  fab_text_links(page, e->wiring, load->tier, load->up), e->n_seeds > 1 ? ", first seed" : "");
    for (size_t bin = first; bin <= last; bin++) {
        fab_page_bin(page, bin < FIRST_ABOVE ? FAB_INK_BAR : FAB_INK_BAD, fab_histogram_names[bin],
                     load->histogram[bin], largest);
    }
}

/* --- who contends on the worst links ------------------------------------------------------------------------------ */

static void engine_put_flow(fab_page *page, const fab_phase_result *phase, const fab_flow_ref *flow) {
    bool is_job = strcmp(phase->name, phase->collective) != 0; /* a pattern has one name, and no ranks */
    bool is_moved = flow->src_rank != flow->src_gpu || flow->dst_rank != flow->dst_gpu;
    fab_page_say(page, "%s %" PRIu32 " -> %" PRIu32, is_job || is_moved ? "rank" : "GPU",
                 is_moved ? flow->src_rank : flow->src_gpu, is_moved ? flow->dst_rank : flow->dst_gpu);
    if (is_moved) {
        fab_page_say(page, " (GPU %" PRIu32 " -> %" PRIu32 ")", flow->src_gpu, flow->dst_gpu);
    }
    if (flow->share < 1 - 1e-9) {
        fab_page_say(page, ", %.3g %% of it", 100 * flow->share);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 8, 10, "%s%s", flow->comm[0] != '\0' ? ", " : "", flow->comm);
}

static void engine_put_hot_links(fab_page *page, const fab_phase_result *phase, const fab_engine_result *e) {
    fab_page_line(page, FAB_INK_DIM, "    worst links%s, and whose flows contend there",
                  e->n_seeds > 1 ? " for the first seed" : "");
    for (size_t i = 0; i < e->n_hot && i < SHOWN_LINKS; i++) {
        const fab_hot_link *hot = &e->hot[i];
        fab_page_wrapf(page, FAB_INK_BAD, 6, 8, "x%.2f %s, %s, %s", hot->factor, hot->name,
                       engine_show_factors(page, hot), fab_show_counted(page, hot->n_flows, "flow", "flows"));
        uint32_t shown = 0;
        for (; shown < hot->n_listed && shown < SHOWN_FLOWS; shown++) {
            engine_put_flow(page, phase, &hot->flows[shown]);
        }
        if (hot->n_flows > shown && shown > 0) {
            fab_page_line(page, FAB_INK_DIM, "        and %s more", fab_show_count(page, hot->n_flows - shown));
        }
    }
}

/* --- rates and times ---------------------------------------------------------------------------------------------- */

/* "Takes 12.3 ms: 12.2 ms for the bytes, 1.09 times what any routing needs, and 0.1 ms of latency." */
static void times_put_sum(fab_page *page, const fab_engine_result *e) {
    double ratio = e->lower_bound_ratio.mean;
    fab_page_say(page, "Takes %s%s: %s for the bytes", fab_show_time(page, e->time_s.mean),
                 e->n_seeds > 1 ? " (mean)" : "", fab_show_time(page, e->transfer_s.mean));
    if (ratio > FAB_FULL_LOAD) {
        fab_page_say(page, ", %.3g times what every routing needs", ratio);
    } else {
        fab_page_say(page, ", the least that any routing needs");
    }
    fab_page_say(page, ", and %s of latency", fab_show_time(page, e->latency_s));
    if (e->host_s > e->copy_s) {
        fab_page_say(page, ", of which %s of the hosts' software", fab_show_time(page, e->host_s - e->copy_s));
    }
    if (e->copy_s > 0) {
        fab_page_say(page, "; %s of it copies through the GPUs that send on", fab_show_time(page, e->copy_s));
    }
    fab_page_say(page, ".");
    if (e->longest_s > 0) {
        fab_page_say(page,
                     " An estimate, as what is said of links and collisions: so many flows are not followed one by "
                     "one. Between %s and %s, but for one draw of a hash in a thousand.",
                     fab_show_time(page, e->shortest_s), fab_show_time(page, e->longest_s));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 4, 4);
    if (e->algbw.mean > 0) {
        fab_page_line(page, FAB_INK_PLAIN, "    Algorithm bandwidth %s, bus bandwidth %s.",
                      fab_show_rate(page, e->algbw.mean * 8), fab_show_rate(page, e->busbw.mean * 8));
    }
}

static void times_put_deadlock(fab_page *page, const fab_engine_result *e) {
    const fab_pauses *p = &e->pauses;
    fab_page_say(page, "Deadlock");
    if (e->n_seeds > 1) {
        fab_page_say(page, " under %" PRIu64 " of %" PRIu64 " seeds", e->deadlocked_seeds, e->n_seeds);
    }
    if (p->n_cycle > 0) {
        fab_page_say(page, ": %s waits for itself over %" PRIu32 " links that stop each other", p->cycle[0],
                     p->n_cycle);
    }
    fab_page_wrapf(page, FAB_INK_BAD, 4, 4, ". The phase does not end, and has no time.");
}

/* "Sprayed packets take 1.27 times as long as ..." */
static void times_put_sprays(fab_page *page, const fab_engine_result *e) {
    const fab_pauses *p = &e->pauses;
    fab_page_say(page, "As sprayed packets the bytes take %.3g times as long as by fair shares of these paths (%s).",
                 e->fluid_s.mean > 0 ? e->transfer_s.mean / e->fluid_s.mean : 1, fab_show_time(page, e->fluid_s.mean));
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4,
                   " %" PRIu64 " packets found a full queue and were sent again; %" PRIu64
                   " were marked; what moves as one is %s. Senders choose "
                   "among paths: loads and collisions are those of even shares.",
                   p->trims, p->notices, fab_show_bytes(page, p->cell_bytes));
}

/* "Lossless queues make that 1.27 times what fair shares of the links would take (4.1 ms). 31 of 128 flows are ..." */
static void times_put_pauses(fab_page *page, const fab_engine_result *e, uint64_t flows) {
    const fab_pauses *p = &e->pauses;
    if (p->cell_bytes <= 0) {
        return; /* nothing leaves a scale-up domain */
    }
    if (p->is_sprayed) {
        times_put_sprays(page, e);
        return;
    }
    fab_page_say(page, "%s make the bytes take %.3g times as long as fair shares of the links would (%s).",
                 p->notices > 0 ? "Lossless queues and the rates of DCQCN" : "Lossless queues",
                 e->fluid_s.mean > 0 ? e->transfer_s.mean / e->fluid_s.mean : 1, fab_show_time(page, e->fluid_s.mean));
    if (p->stopped_links > 0) {
        fab_page_say(page, " %" PRIu64 " links are stopped at times", p->stopped_links);
    } else {
        fab_page_say(page, " No link is ever stopped");
    }
    if (p->n_roots > 0) {
        fab_page_say(page, ", %" PRIu64 " of them because of %s", p->roots[0].stopped_links, p->roots[0].link);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4,
                   "; %" PRIu64 " of %" PRIu64 " flows are victims: more than a tenth later, but over no such link.",
                   p->victims, flows);
}

static void times_put_rates(fab_page *page, const fab_engine_result *e) {
    const fab_last_flow *last = &e->rates.last;
    bool differ = e->min_rate.mean < e->mean_rate.mean * (1 - 1e-9);
    const bool is_faster = 8 * (double)last->bytes > 1.01 * last->rate_bps * last->finish_s; /* when others end */
    if (differ) {
        fab_page_say(page,
                     "%slows run at %s and more, %s on average; the last to end%s is GPU %" PRIu32 " -> %" PRIu32
                     "%s%s, bottlenecked at ",
                     e->has_pauses ? "By fair shares f" : "F", fab_show_rate(page, e->min_rate.mean),
                     fab_show_rate(page, e->mean_rate.mean), e->n_seeds > 1 ? " (first seed)" : "", last->src_gpu,
                     last->dst_gpu, last->comm[0] != '\0' ? ", " : "", last->comm);
    } else {
        fab_page_say(page, "%svery flow runs at %s%s; the last to end is bottlenecked at ",
                     e->has_pauses ? "By fair shares e" : "E", fab_show_rate(page, e->mean_rate.mean),
                     is_faster ? " at first" : "");
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "%s.",
                   last->bottleneck[0] != '\0' ? last->bottleneck : "its receiver's window");
}

typedef struct bottleneck {
    const char *name;
    double flows;
} bottleneck;

/* "Bottlenecked at: leaf-spine up 62 %, nic-leaf up 30 %, scale-up 8 %": the largest first. */
static void times_put_holders(fab_page *page, const fab_engine_result *e) {
    bottleneck list[2 * FAB_MAX_TIERS + 3] = {{"", 0}};
    size_t n = 0;
    FAB_EACH(const fab_tier_load, t, e->tiers, e->n_tiers) {
        list[n++] = (bottleneck){fab_text_links(page, e->wiring, t->tier, t->up), t->bottlenecked_flows};
    }
    list[n++] = (bottleneck){"scale-up", e->rates.bottlenecked_at_scaleup};
    list[n++] = (bottleneck){"PCIe", e->rates.bottlenecked_at_pcie};
    list[n++] = (bottleneck){"receivers' windows", e->rates.bottlenecked_at_window};
    FAB_SUM(double, sum, k, n, list[k].flows);
    fab_page_say(page, "Flows are bottlenecked at");
    for (size_t shown = 0; sum > 0 && shown < 4; shown++) {
        FAB_BEST(most, i, n, list[i].flows > list[most].flows);
        if (list[most].flows < 0.0005 * sum) {
            break;
        }
        fab_page_say(page, "%s %s %.3g %%", shown > 0 ? "," : "", list[most].name, 100 * list[most].flows / sum);
        list[most].flows = 0;
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 4, 4, "%s.", e->n_seeds > 1 ? " (first seed)" : "");
}

void fab_text_times(fab_page *page, const fab_engine_result *e, uint64_t flows) {
    if (e->deadlocked_seeds > 0) {
        times_put_deadlock(page, e);
        return;
    }
    if (!e->has_time) {
        fab_page_wrap(page, FAB_INK_DIM, 4, 4,
                      "Rates and time are not computed: too many flows for that, and of unequal bytes or limits.");
        return;
    }
    times_put_sum(page, e);
    if (e->has_pauses) {
        times_put_pauses(page, e, flows);
    }
    if (e->has_rates) {
        times_put_rates(page, e);
        times_put_holders(page, e);
    }
}

void fab_text_engine(fab_page *page, const fab_phase_result *phase, const fab_engine_result *e) {
    fab_page_say(page, "%s", e->label);
    if (e->n_seeds > 1) {
        fab_page_say(page, ", seeds %" PRIu64 " to %" PRIu64, e->seed, e->seed + e->n_seeds - 1);
    } else if (e->seeded) {
        fab_page_say(page, ", seed %" PRIu64, e->seed);
    }
    fab_page_end_line(page);
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 4);
    if (phase->fabric_flows > 0) {
        engine_put_verdict(page, phase, e);
    }
    fab_text_times(page, e, phase->flows);
    engine_put_limits(page, e);
    engine_put_paths(page, e);
    engine_put_deadlock(page, e);
    engine_put_next_hops(page, e);
    engine_put_loads(page, e);
    const fab_tier_load *fullest = fullest_boundary(e);
    if (phase->fabric_flows == 0 || fullest == NULL) {
        return;
    }
    engine_put_histogram(page, e, fullest);
    if (e->n_hot > 0 && e->hot[0].factor > FAB_FULL_LOAD) {
        engine_put_hot_links(page, phase, e);
    }
}
