/* Text report: what has failed, where ranks go, and what that costs. */
#include "fab/failures.h"
#include "fab/degradation.h"
#include "text_sections.h"

#define MOST_POLICIES 8

static void failures_put_failed(fab_page *page, const fab_failures *f) {
    fab_page_say(page, "Failed: ");
    for (size_t i = 0; i < f->n_failed; i++) {
        fab_page_say(page, "%s%s", i > 0 ? ", " : "", f->failed[i]);
    }
    fab_page_paragraph(page, FAB_INK_BOLD, 2, 4);
    fab_page_say(page, "%s",
                 f->n_lost == 0 ? "No server with ranks is lost: nobody moves, under any policy." : "Lost: ");
    for (size_t i = 0; i < f->n_lost; i++) {
        fab_page_say(page, "%s%s (rank%s %s)", i > 0 ? ", " : "", f->lost[i].name, fab_plural(f->lost[i].n_ranks),
                     f->lost[i].ranks);
    }
    if (f->n_lost > 0) {
        fab_page_say(page, ". Spare servers: %s.", fab_show_count(page, f->n_spares));
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    for (size_t i = 0; i < f->n_left_out; i++) {
        fab_page_say(page, "%s%s", i > 0 ? ", " : "Not looked at, for they have too many paths: ", f->left_out[i]);
    }
    if (f->n_left_out > 0) {
        fab_page_paragraph(page, FAB_INK_DIM, 2, 4);
    }
}

/* "3 > 5", "6, 2 stay"; who they are stands below. */
static const char *failures_show_moves(fab_page *page, const fab_failed_policy *p) {
    const char *text = "";
    if (p->n_moves == 1) {
        text = fab_show(page, "%u > %u", p->moves[0].from, p->moves[0].to);
    } else if (p->n_moves > 1) {
        text = fab_show(page, "%zu", p->n_moves);
    }
    if (p->n_unplaced > 0) {
        text = fab_show(page, "%s%s%zu stay%s", text, text[0] != '\0' ? ", " : "", p->n_unplaced,
                        p->n_unplaced == 1 ? "s" : "");
    }
    return text;
}

static void failures_add_state(fab_table *table, fab_ink ink, const char *name, const fab_failed_state *state,
                               const fab_failed_state *whole) {
    const fab_failed_phase *p = &state->sum;
    bool timed = isfinite(state->time_s) && whole->time_s > 0;
    const double figures[] = {(double)p->n_disconnected,
                              (double)p->n_collisions,
                              p->worst_ratio,
                              timed ? state->time_s : FAB_TABLE_BLANK,
                              timed ? state->time_s / whole->time_s : FAB_TABLE_BLANK,
                              FAB_TABLE_BLANK};
    fab_table_row(table, FAB_INK_PLAIN, "", figures);
    fab_table_put(table, 0, ink, name);
    if (!isfinite(state->time_s) && whole->time_s > 0 && p->n_disconnected > 0) {
        fab_table_set(table, 4, FAB_INK_BAD, "stops");
    }
}

static bool same_policies(const fab_failed_policy *a, const fab_failed_policy *b) {
    const fab_failed_phase *x = &a->state.sum;
    const fab_failed_phase *y = &b->state.sum;
    bool same_time = a->state.time_s == b->state.time_s || (isnan(a->state.time_s) && isnan(b->state.time_s));
    return a->n_moves == 0 && b->n_moves == 0 && a->n_unplaced == b->n_unplaced && same_time &&
           x->n_disconnected == y->n_disconnected && x->n_collisions == y->n_collisions &&
           x->worst_ratio == y->worst_ratio;
}

/* Where nobody has to move, or can, all policies are one. */
static size_t failures_shown(const fab_failures *f) {
    bool same = f->n_policies > 1;
    for (size_t e = 0; e < f->n_engines && f->n_lost > 0; e++) {
        for (size_t i = 1; i < f->n_policies && f->engines[e].note[0] == '\0'; i++) {
            same = same && same_policies(&f->engines[e].policies[0], &f->engines[e].policies[i]);
        }
    }
    return same ? 1 : f->n_policies;
}

static const char *failures_row_name(const fab_failures *f, const fab_failed_policy *p) {
    return failures_shown(f) < f->n_policies ? "failed" : p->policy;
}

static void failures_put_policies(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    static const fab_column COLUMNS[] = {
        COLUMN("policy", text),      MARKED("cut flows", fab_show_whole, FAB_INK_BAD, 0),
        COLUMN("collisions", whole), MARKED("fullest", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("time", time),        MARKED("slower", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("moves", text)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    failures_add_state(&table, FAB_INK_DIM, "healthy", &e->healthy, &e->healthy);
    FAB_EACH(const fab_failed_policy, p, e->policies, failures_shown(f)) {
        failures_add_state(&table, FAB_INK_PLAIN, failures_row_name(f, p), &p->state, &e->healthy);
        fab_table_put(&table, 6, p->is_possible ? FAB_INK_PLAIN : FAB_INK_BAD, failures_show_moves(page, p));
    }
    fab_table_end(&table, 2, NULL, NULL);
}

/* "first" of "first-spare", "rack" of "same-rack", "aware" of "collision-aware". */
static const char *failures_short_name(fab_page *page, const char *policy) {
    const char *dash = strchr(policy, '-');
    bool is_first = dash == NULL || strncmp(policy, "first", 5) == 0;
    return is_first ? fab_show(page, "%.*s", (int)strcspn(policy, "-"), policy) : dash + 1;
}

/* "1.2 ms (x1.07)" */
static const char *failures_show_request(fab_page *page, const fab_request_times *r, const fab_request_times *whole) {
    if (r->n == 0) {
        return "-";
    }
    const char *time = fab_show_time(page, r->p99_s);
    return whole == NULL || whole->p99_s <= 0 ? time : fab_show(page, "%s (x%.3f)", time, r->p99_s / whole->p99_s);
}

/* What a table by phase shows of a phase, which is worse than on the healthy fabric: of requests, or the largest ratio.
 */
static const char *failures_show_phase(fab_page *page, const fab_failed_phase *p, const fab_failed_phase *whole,
                                       bool is_request, bool *out_is_worse) {
    if (is_request) {
        *out_is_worse = p->requests.n > 0 && p->requests.p99_s > whole->requests.p99_s * FAB_FULL_LOAD;
        return failures_show_request(page, &p->requests, p == whole ? NULL : &whole->requests);
    }
    *out_is_worse = p->worst_ratio > whole->worst_ratio * FAB_FULL_LOAD && p->worst_ratio > FAB_FULL_LOAD;
    return fab_show_factor(page, p->worst_ratio);
}

static bool failures_has_phase(const fab_failed_phase *whole, bool is_request) {
    return is_request ? whole->requests.n > 0 : whole->worst_ratio > 0;
}

/* Phases that ask anything of the network, or exchanges that somebody waits for: healthy, then under every policy. */
static bool failures_put_phases(fab_page *page, const fab_failures *f, const fab_failed_engine *e, bool is_request) {
    const size_t most = is_request ? MOST_POLICIES - 2 : MOST_POLICIES;
    const size_t n = failures_shown(f) < most ? failures_shown(f) : most;
    fab_column columns[MOST_POLICIES + 3] = {COLUMN(is_request ? "p99 of requests" : "fullest link", text),
                                             COLUMN(is_request ? "requests" : NULL, text), COLUMN("healthy", text)};
    FAB_ANY(any, p, f->n_phases, failures_has_phase(&e->healthy.phases[p], is_request));
    if (!any) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        columns[i + 3].heading = failures_short_name(page, failures_row_name(f, &e->policies[i]));
    }
    fab_table table = fab_table_of(page, columns, n + 3);
    for (size_t p = 0; p < f->n_phases; p++) {
        const fab_failed_phase *whole = &e->healthy.phases[p];
        bool is_worse = false;
        if (!failures_has_phase(whole, is_request)) {
            continue;
        }
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", f->phases[p]), NULL);
        fab_table_put(&table, 1, FAB_INK_DIM, is_request ? fab_show_count(page, whole->requests.n) : "");
        fab_table_put(&table, 2, FAB_INK_PLAIN, failures_show_phase(page, whole, whole, is_request, &is_worse));
        for (size_t i = 0; i < n; i++) {
            const fab_failed_phase *its = &e->policies[i].state.phases[p];
            const char *text = failures_show_phase(page, its, whole, is_request, &is_worse);
            fab_table_put(&table, i + 3, is_worse ? FAB_INK_BAD : FAB_INK_PLAIN, text);
        }
    }
    fab_page_end_line(page);
    fab_table_end(&table, 2, NULL, NULL);
    return true;
}

/* Ranks that nobody takes: spares run out under every policy that moves anybody. */
static void failures_put_unplaced(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    const fab_failed_policy *p = NULL;
    bool any = false;
    for (size_t i = 0; i < f->n_policies && p == NULL; i++) {
        bool moves = strcmp(e->policies[i].policy, "none") != 0;
        p = moves && e->policies[i].n_unplaced > 0 ? &e->policies[i] : NULL;
    }
    if (p == NULL) {
        return;
    }
    fab_page_say(page, "No spare is left for ranks ");
    for (size_t i = 0; i < p->n_unplaced; i++) {
        for (size_t k = 0; k < f->n_lost; k++) {
            if (f->lost[k].server == p->unplaced[i]) {
                fab_page_say(page, "%s%s of %s", any ? ", " : "", f->lost[k].ranks, f->lost[k].name);
                any = true;
            }
        }
    }
    const fab_failed_serving *left = &p->serving;
    const bool serves = left->n_left > 0 && left->most_requests_per_s != 0;
    if (serves) {
        fab_page_say(page, ": %s of %" PRIu64 " stop%s, the others go on.",
                     fab_show_counted(page, left->n - left->n_left, "replica", "replicas"), left->n,
                     left->n - left->n_left == 1 ? "s" : "");
    } else {
        fab_page_say(page, ": the job stops%s.", left->n_left > 0 ? ", for a pool has no replica left" : "");
    }
    fab_page_paragraph(page, serves ? FAB_INK_PLAIN : FAB_INK_BAD, 2, 4);
}

/* "7 of 8"; with pools "2 + 4 of 8": that read and that generate. */
static const char *failures_show_replicas(fab_page *page, const fab_failed_serving *s, bool has_pools) {
    return has_pools
               ? fab_show(page, "%" PRIu64 " + %" PRIu64 " of %" PRIu64, s->n_reading, s->n_left - s->n_reading, s->n)
               : fab_show(page, "%" PRIu64 " of %" PRIu64, s->n_left, s->n);
}

/* Replicas that are left, and what they can serve. */
static bool failures_put_serving(fab_page *page, const fab_failures *f, const fab_failed_engine *e) {
    static const fab_column COLUMNS[] = {COLUMN("policy", text),      COLUMN("replicas", text),
                                         COLUMN("at most", 3_digits), COLUMN("requests/s", 3_digits),
                                         COLUMN("first p50", time),   COLUMN("first p99", time)};
    if (f->n_policies == 0 || e->policies[0].serving.n == 0) {
        return false;
    }
    FAB_ANY(has_pools, i, f->n_policies, e->policies[i].serving.n_reading > 0);
    fab_page_end_line(page);
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t i = 0; i < failures_shown(f); i++) {
        const fab_failed_serving *s = &e->policies[i].serving;
        const bool waits = isfinite(s->first_token_s[0]);
        const double figures[] = {
            FAB_TABLE_BLANK, isfinite(s->most_requests_per_s) ? s->most_requests_per_s : FAB_TABLE_BLANK,
            s->arrivals_per_s > 0 ? s->arrivals_per_s : FAB_TABLE_BLANK, waits ? s->first_token_s[0] : FAB_TABLE_BLANK,
            waits ? s->first_token_s[1] : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, failures_row_name(f, &e->policies[i]), figures);
        fab_table_put(&table, 1, s->n_left < s->n ? FAB_INK_BAD : FAB_INK_PLAIN,
                      failures_show_replicas(page, s, has_pools));
    }
    fab_table_end(&table, 2, NULL, NULL);
    for (size_t i = 0; i < failures_shown(f); i++) {
        const fab_failed_serving *s = &e->policies[i].serving;
        if (s->most_requests_per_s > 0 && s->arrivals_per_s >= s->most_requests_per_s) {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 4,
                           "%s: %.4g requests/s are not below the %.4g that can be served: who waits, waits ever "
                           "longer.",
                           failures_row_name(f, &e->policies[i]), s->arrivals_per_s, s->most_requests_per_s);
        }
    }
    return true;
}

static void failures_put_search(fab_page *page, const fab_failures *f, const fab_failed_policy *p) {
    if (p->n_moves > 1) {
        fab_page_say(page, "%s: ", p->policy);
        for (size_t i = 0; i < p->n_moves; i++) {
            fab_page_say(page, "%s%u > %u%s", i > 0 ? ", " : "", p->moves[i].from, p->moves[i].to,
                         p->moves[i].is_healthy ? "*" : "");
        }
        fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
    }
    if (p->n_tried > 0 && f->n_lost > 0 && p->is_possible) {
        fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, "%s: %s tried%s", p->policy,
                       fab_show_counted(page, p->n_tried, "placement", "placements"),
                       p->is_optimal ? "; proved: no assignment of the spares does better" : "");
    }
}

static void failures_put_saving(fab_page *page, const fab_failed_engine *e) {
    bool saves = e->saved_collisions > 0;
    if (!e->has_saving) {
        return;
    }
    fab_page_say(page, "Collision-aware saves %s against first-spare",
                 saves ? fab_show_counted(page, e->saved_collisions, "collision", "collisions") : "no collision");
    if (e->aware_ratio < e->first_ratio - 1e-9) {
        fab_page_say(page, "; the fullest link is offered x%.3f of its residual capacity, not x%.3f", e->aware_ratio,
                     e->first_ratio);
    }
    fab_page_wrapf(page, saves ? FAB_INK_GOOD : FAB_INK_PLAIN, 2, 4, ".");
}

/* Whether a policy leaves the job faster than it was. */
static bool failures_gain(const fab_failures *f) {
    bool gains = false;
    FAB_EACH(const fab_failed_engine, engine, f->engines, f->n_engines) {
        for (size_t i = 0; i < f->n_policies && engine->note[0] == '\0'; i++) {
            gains = gains || engine->policies[i].state.time_s < engine->healthy.time_s * (1 - 1e-9);
        }
    }
    return gains;
}

void fab_text_failures(fab_page *page, const fab_failures *f) {
    bool has_requests = false;
    bool serves = false;
    fab_text_heading(page, "FAILURES", NULL);
    failures_put_failed(page, f);
    for (size_t i = 0; i < f->n_engines && f->n_phases > 0; i++) {
        const fab_failed_engine *e = &f->engines[i];
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, e->label);
        if (e->note[0] != '\0') {
            fab_page_wrapf(page, FAB_INK_BAD, 2, 4, "Not known: %s", e->note);
            continue;
        }
        failures_put_policies(page, f, e);
        (void)failures_put_phases(page, f, e, false);
        has_requests = failures_put_phases(page, f, e, true) || has_requests;
        serves = failures_put_serving(page, f, e) || serves;
        for (size_t k = 0; k < f->n_policies; k++) {
            failures_put_search(page, f, &e->policies[k]);
        }
        failures_put_saving(page, e);
        failures_put_unplaced(page, f, e);
    }
    fab_text_notef(page,
                   "cut flows: of which no path is left by any NIC and plane, in all phases; collisions: network links "
                   "that are offered more than their residual capacity, in all phases; fullest: what the fullest link "
                   "is offered; time: of %s; moves: from server > to server (* from a healthy one), or how many; "
                   "offered rates are those of the healthy fabric; of the first seed%s",
                   f->iterates ? "an iteration" : "all phases, one after the other",
                   f->n_seeds > 1 ? fab_show(page, ", but for times: means over %" PRIu64, f->n_seeds) : "");
    if (has_requests) {
        fab_text_note(
            page, "request: what one GPU waits for in one execution, all flows that end at it (of a ring: all of its "
                  "communicator); p99: 99 % of them are answered by then; -: the job stops, or it is not known");
    }
    if (serves) {
        fab_text_note(page, "replicas are independent of each other: one that has lost a rank is out (with ep= all "
                            "that share its experts), and the others take its requests; flows, links and times are of "
                            "those that go on; at most, first token: as of SERVING, with these replicas");
    }
    if (failures_gain(f)) {
        fab_text_note(page, "slower below x1: faster than where nothing failed. " FAB_TEXT_RELIEF);
    }
}

/* --- slower parts ------------------------------------------------------------------------------------------------- */

static void degradation_put_parts(fab_page *page, const fab_degradation *d) {
    for (size_t i = 0; i < d->n_parts; i++) {
        fab_page_say(page, "%s%s at %.3g of its speed", i > 0 ? ", " : "", d->parts[i].name, d->parts[i].ratio);
    }
    if (d->n_cables > 0) {
        fab_page_say(page, ": %s slower, in both directions", fab_show_counted(page, d->n_cables, "cable", "cables"));
    } else {
        fab_page_say(page, ": no cable is slower");
    }
    fab_page_paragraph(page, FAB_INK_PLAIN, 2, 4);
}

static void degradation_put_phases(fab_page *page, const fab_degradation *d, size_t engine) {
    static const fab_column COLUMNS[] = {
        COLUMN("phase", text),      COLUMN("before", time),
        COLUMN("after", time),      MARKED("factor", fab_show_factor, FAB_INK_BAD, FAB_FULL_LOAD),
        COLUMN("hit flows", whole), COLUMN("communicators", whole)};
    fab_table table = fab_table_of(page, FAB_COLUMNS(COLUMNS));
    for (size_t p = 0; p < d->n_phases; p++) {
        const fab_degraded_phase *row = &d->phases[p * d->n_engines + engine];
        const double figures[] = {
            row->has_time ? row->before_s.mean : FAB_TABLE_BLANK, row->has_time ? row->after_s.mean : FAB_TABLE_BLANK,
            row->has_time ? row->factor : FAB_TABLE_BLANK, row->has_hits ? (double)row->hit_flows : FAB_TABLE_BLANK,
            row->has_hits ? (double)row->hit_comms : FAB_TABLE_BLANK};
        fab_table_row(&table, FAB_INK_PLAIN, fab_show(page, "%.24s", d->names[p]), figures);
    }
    fab_table_end(&table, 2, NULL, NULL);
}

static void degradation_put_worst(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_phase *worst = &d->phases[d->worst[engine] * d->n_engines + engine];
    if (!worst->has_time || worst->factor <= FAB_FULL_LOAD) {
        fab_page_wrap(page, FAB_INK_GOOD, 2, 4, "No phase takes longer.");
        return;
    }
    fab_page_say(page, "Phase %s suffers most: x%.3f", d->names[d->worst[engine]], worst->factor);
    for (uint32_t i = 0; i < worst->n_named; i++) {
        fab_page_say(page, "%s%s", i > 0 ? ", " : "; hit: ", worst->comms[i]);
    }
    fab_page_wrapf(page, FAB_INK_BOLD, 2, 4, "%s", worst->hit_comms > worst->n_named ? " and others" : "");
}

static void degradation_put_iteration(fab_page *page, const fab_degradation *d, size_t engine) {
    const fab_degraded_iteration *i = &d->iterations[engine];
    fab_page_say(page, "An iteration takes %s instead of %s, x%.3f", fab_show_time(page, i->after_s),
                 fab_show_time(page, i->before_s), i->after_s / i->before_s);
    if (d->compute_ratio < 1) {
        fab_page_say(page, "; all wait for a GPU that computes at %.3g of its speed", d->compute_ratio);
    }
    fab_page_wrapf(page, FAB_INK_PLAIN, 2, 4, ".");
}

void fab_text_degradation(fab_page *page, const fab_degradation *d) {
    fab_text_heading(page, "DEGRADED PARTS", NULL);
    degradation_put_parts(page, d);
    for (size_t e = 0; e < d->n_engines && d->n_phases > 0; e++) {
        fab_page_end_line(page);
        fab_page_wrap(page, FAB_INK_BOLD, 2, 4, d->labels[e]);
        degradation_put_phases(page, d, e);
        degradation_put_worst(page, d, e);
        if (e < d->n_iterations) {
            degradation_put_iteration(page, d, e);
        }
    }
    fab_text_note(page, "before, after: time of the phase on a healthy fabric and with these; hit: that cross a slower "
                        "cable; offered rates below are those of the healthy fabric");
}
