/* Text report: how a job is best run, and why nothing is faster. */
#include "text_sections.h"

static const char *plan_show_part(fab_page *page, double part) {
    return part > 0 ? fab_show(page, "%.1f", 100 * part) : "-";
}

/* What takes most beside computation: "tp 11.9 %". */
static const char *worst_part(fab_page *page, const fab_iteration *it) {
    const struct {
        const char *name;
        double s;
    } PARTS[] = {{"bubble", it->bubble_s}, {"tp", it->exposed_tp_s}, {"cp", it->exposed_cp_s}, {"ep", it->exposed_ep_s},
                 {"pp", it->exposed_pp_s}, {"dp", it->exposed_dp_s}, {"adam", it->optimizer_s}};
    FAB_BEST(worst, i, FAB_N_OF(PARTS), PARTS[i].s > PARTS[worst].s);
    return PARTS[worst].s > 0 ? fab_show(page, "%s %.1f", PARTS[worst].name, 100 * PARTS[worst].s / it->time_s) : "-";
}

/* "tp8 cp4 pp16 dp32" */
static const char *short_plan(fab_page *page, const fab_job_plan *p) {
    const char *cp = p->cp > 1 ? fab_show(page, " cp%" PRIu64, p->cp) : "";
    const char *ep = p->ep > 1 ? fab_show(page, " ep%" PRIu64, p->ep) : "";
    return fab_show(page, "tp%" PRIu64 "%s pp%" PRIu64 " dp%" PRIu64 "%s", p->tp, cp, p->pp, p->dp, ep);
}

static void plan_add_row(fab_table *table, size_t i, const fab_planned *p) {
    const fab_iteration *it = &p->iteration;
    const double figures[] = {FAB_TABLE_BLANK,
                              it->time_s,
                              p->draws_s.mean > 0 ? p->draws_s.mean : NAN,
                              p->memory_bytes,
                              it->compute_s / it->time_s,
                              fab_iteration_exposed_s(it) / it->time_s,
                              FAB_TABLE_BLANK};
    fab_table_row(table, i == 0 ? FAB_INK_GOOD : FAB_INK_PLAIN, short_plan(table->page, &p->plan), figures);
    fab_table_set(table, 1, FAB_INK_PLAIN, "%" PRIu64 " %" PRIu64 " %.1s %d", p->plan.interleave, p->plan.microbatch,
                  fab_recomputes[p->plan.recompute], (int)(p->plan.zero - FAB_ZERO_0));
    fab_table_put(table, 7, FAB_INK_PLAIN, worst_part(table->page, it));
}

static void plan_put_rows(fab_page *page, const fab_planned *plans, size_t n, uint64_t draws) {
    const fab_column columns[] = {COLUMN("sizes", text),
                                  COLUMN("v b r z", text),
                                  COLUMN("time", time),
                                  COLUMN(draws > 0 ? fab_show(page, "%" PRIu64 " seeds", draws) : NULL, time),
                                  COLUMN("memory", bytes),
                                  SHOWN("compute", plan_show_part),
                                  SHOWN("network", plan_show_part),
                                  COLUMN("most", text)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(columns));
    for (size_t i = 0; i < n; i++) {
        plan_add_row(&table, i, &plans[i]);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* Others that the seeds do not tell from the first: "; even with it, within what seeds make: tp8 pp4 dp8 (+0.3 %)" */
static const char *even_plans(fab_page *page, const fab_plans *p) {
    const fab_stat *best = &p->plans[0].draws_s;
    const fab_planned *first = NULL;
    size_t n = 0;
    for (size_t i = 1; p->draws > 0 && i < p->n_plans_listed; i++) {
        const fab_stat *its = &p->plans[i].draws_s;
        bool is_even = its->mean > 0 &&
                       its->mean / best->mean - 1 <= fab_pairs_ci95(&p->plans[i].seeds, NULL, &p->plans[0].seeds, NULL);
        first = is_even && n == 0 ? &p->plans[i] : first;
        n += is_even;
    }
    return n == 0 ? ""
                  : fab_show(page, "; even with it, within what seeds make: %s (%+.2g %%)%s",
                             short_plan(page, &first->plan), 100 * first->slower_ratio,
                             n > 1 ? fab_show(page, " and %zu below it", n - 1) : "");
}

/* What the search proves is of the first seed, which may favour another plan than the means do. */
static const char *first_seed(fab_page *page, const fab_plans *p) {
    const fab_planned *least = &p->plans[0];
    for (size_t i = 1; i < p->n_plans_listed; i++) {
        least = p->plans[i].iteration.time_s < least->iteration.time_s ? &p->plans[i] : least;
    }
    if (p->draws == 0) {
        return p->is_drawn ? " under the first seed" : "";
    }
    if (least == &p->plans[0] && p->lower_bound_s < least->iteration.time_s * (1 - 1e-9)) {
        return fab_show(page, " under the first seed alone, where others may take less than its %s; the mean decides",
                        fab_show_time(page, least->iteration.time_s));
    }
    return least == &p->plans[0]
               ? fab_show(page, " under the first seed, where it takes %s",
                          fab_show_time(page, least->iteration.time_s))
               : fab_show(page, " under the first seed alone, which favours %s, %s; the mean decides",
                          short_plan(page, &least->plan), fab_show_time(page, least->iteration.time_s));
}

/* " of plans that leave 10 % of a GPU's memory free", or nothing */
static const char *kept_free(fab_page *page, const fab_plans *p) {
    return p->room_bytes < p->capacity_bytes ? fab_show(page, " of plans that leave %.3g %% of a GPU's memory free",
                                                        100 * (1 - p->room_bytes / p->capacity_bytes))
                                             : "";
}

void fab_text_plan_proof(fab_page *page, const fab_plans *p) {
    const fab_planned *best = &p->plans[0];
    char text[192];
    fab_page_wrapf(page, FAB_INK_GOOD, 2, 4, "Fastest%s under %s%s: %s: %s%s.", p->is_proven ? "" : " found", p->engine,
                   fab_text_draws(page, p->is_drawn && p->draws == 0, p->draws, best->iteration.estimated_ratio > 0),
                   fab_job_plan_text(&best->plan, text), fab_show_time(page, fab_planned_s(best)), even_plans(page, p));
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 4,
        "%s%s%s: of %s ways to run it %s were found to need more memory, %s cannot be faster than %s%s, %s "
        "evaluated%s%s.",
        !p->is_proven      ? "Best that a short search finds"
        : p->n_untimed > 0 ? "Best of those that can be timed"
        : p->n_orders == 0 ? "Proven best " FAB_ONE_ORDER
        : p->n_orders == 1
            ? (fab_plan_has_all_orders(p) ? "Proven best " FAB_TWO_ORDERS : "Proven best in two orders of ranks")
            : "Proven best",
        kept_free(page, p), first_seed(page, p), fab_show_count(page, p->n_plans), fab_show_count(page, p->n_unfit),
        fab_show_count(page, p->n_bounded), fab_show_time(page, p->lower_bound_s),
        p->draws > 0 ? " under that seed" : "", fab_show_count(page, p->n_evaluated),
        p->n_untimed > 0 ? fab_show(page, ", %s could not be: %s", fab_show_count(page, p->n_untimed), p->untimed_note)
                         : "",
        p->is_proven ? "" : "; fabriscope plan without --max-time looks at all");
    for (size_t i = 0; i < p->n_tight; i++) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4,
                       "Faster in memory that is to stay free: %s: %s, %.2g %% less, with %.3g of %.3g GB on a GPU; "
                       "--job memory-headroom=0 lets it be chosen.",
                       fab_job_plan_text(&p->tight[i].plan, text), fab_show_time(page, fab_planned_s(&p->tight[i])),
                       -100 * p->tight[i].slower_ratio, p->tight[i].memory_bytes * 1e-9, p->capacity_bytes * 1e-9);
    }
    fab_text_put_estimate(page, best->iteration.estimated_ratio);
}

static const char *batch_source(fab_page *page, const fab_plans *p) {
    char reason[FAB_BATCH_REASON];
    return p->batch_unrounded > 0
               ? fab_show(page, " (changed: %s)", fab_job_batch_reason(p->batch, p->batch_unrounded, p->gpus, reason))
               : " (by default)";
}

void fab_text_plans(fab_page *page, const fab_plans *p, const char *see) {
    const fab_planned *best = &p->plans[0];
    fab_text_heading(page, "PLAN", NULL);
    fab_text_plan_proof(page, p);
    fab_text_see(page, see, false);
    if (p->order[0] != '\0') {
        fab_page_wrapf(
            page, FAB_INK_BOLD, 2, 4, "Order of the ranks: --job order=%s; tp-cp-pp-dp takes %s, %.2g %% more. %s.",
            p->order, fab_show_time(page, p->usual_order_s), 100 * (p->usual_order_s / fab_planned_s(best) - 1),
            p->n_orders == 1 ? "Of so many GPUs no further order is searched; --job order=... is another"
                             : fab_show(page, "All %" PRIu64 " with tp innermost are searched", p->n_orders + 1));
    } else if (p->n_orders > 0) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4,
                       "Order of the ranks: tp-cp-pp-dp; %s by a thousandth; their plans are counted here.",
                       p->n_orders == 1
                           ? "tp-cp-dp-pp, the only other that is searched, is not faster"
                           : fab_show(page, "none of the %" PRIu64 " others with tp innermost is faster", p->n_orders));
    }
    if (p->fewer.servers > 0) {
        fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "To do: %s.", p->fewer.advice);
    }
    fab_page_wrapf(
        page, FAB_INK_PLAIN, 2, 4,
        "%s on %s GPUs (%s), batch %s%s: %s tokens/s, %s of the GPU's memory of %s, of which %s may be taken.",
        p->model, fab_show_count(page, p->gpus), p->gpu, fab_show_count(page, p->batch),
        p->batch_given ? "" : batch_source(page, p),
        fab_show_whole(page, best->iteration.tokens_per_s * best->iteration.time_s / fab_planned_s(best)),
        fab_show_bytes(page, best->memory_bytes), fab_show_bytes(page, p->capacity_bytes),
        fab_show_bytes(page, fmin(p->room_bytes, p->capacity_bytes)));
    fab_text_heading(page, "BEST OF OTHER SIZES", NULL);
    plan_put_rows(page, p->plans, p->n_plans_listed, p->draws);
    if (p->n_unlisted > 0) {
        fab_page_wrapf(
            page, FAB_INK_DIM, 2, 4,
            "Not among them: %s with so many flows that a place behind the best is not worth their "
            "simulation; %s at least under the first seed.",
            fab_show(page, "%s other size%s", fab_show_count(page, p->n_unlisted), p->n_unlisted > 1 ? "s" : ""),
            fab_show_time(page, p->unlisted_s));
    }
    fab_text_note(page, "v: chunks per GPU; b: microbatch; r: recompute full, selective or none; z: zero; parts of the "
                        "time in percent; network: what computation does not hide; most: where most goes beside "
                        "computation");
    if (p->n_front > 0) {
        fab_text_heading(page, "TIME AGAINST MEMORY", NULL);
        plan_put_rows(page, p->front, p->n_front, 0);
        fab_text_note(page, p->draws > 0
                                ? "each the fastest under the first seed that takes at most seven tenths of the memory "
                                  "of the one above it"
                                : "each the fastest that takes at most seven tenths of the memory of the one above it");
    }
}
