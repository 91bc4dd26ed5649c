/* Rates after random changes, against whole solutions and the definition. */
#include "fab/incremental.h"
#include "oracle_max_min.h"
#include "sharing_fixture.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLOSE 1e-9

/* Random changes, and the sharing that they leave, by hand. */
typedef struct change {
    fab_rate_changes changes;
    uint32_t *flow, *link, *narrow;
    size_t *first;
    double *share, *capacity;
    fab_sharing residual; /* flows that are not lost */
    uint32_t *left_flow, *left_link;
    uint64_t *left_first;
    double *left_share, *left_weight, *left_limit, *left_capacity;
} change;

static void discard(change *c) {
    free(c->flow);
    free(c->link);
    free(c->narrow);
    free(c->first);
    free(c->share);
    free(c->capacity);
    free(c->left_flow);
    free(c->left_link);
    free(c->left_first);
    free(c->left_share);
    free(c->left_weight);
    free(c->left_limit);
    free(c->left_capacity);
}

static void draw_capacities(const fab_sharing *s, uint32_t n, fab_rng *rng, change *c) {
    static const double FACTOR[] = {0, 0, 0.25, 0.5, 1, 3};
    for (uint32_t l = 0; l < s->n_links; l++) {
        c->left_capacity[l] = s->capacity[l];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t l = (uint32_t)fab_rng_below(rng, s->n_links);
        bool fresh = true;
        for (uint32_t k = 0; k < c->changes.n_capacities; k++) {
            fresh = fresh && c->narrow[k] != l;
        }
        if (fresh) {
            double factor = FACTOR[fab_rng_below(rng, 6)];
            c->capacity[c->changes.n_capacities] = factor == 0 ? 0 : factor * s->capacity[l];
            c->narrow[c->changes.n_capacities++] = l;
            c->left_capacity[l] = factor == 0 ? 0 : factor * s->capacity[l];
        }
    }
}

/* Other links for some flows: a few of their own, and a few others. */
static void draw_flows(const fab_sharing *s, uint32_t n, fab_rng *rng, change *c) {
    size_t entry = 0;
    for (uint32_t f = 0, i = 0; f < s->n_flows && i < n; f++) {
        if (fab_rng_below(rng, s->n_flows - f) >= n - i) {
            continue;
        }
        c->flow[i] = f;
        uint64_t kind = fab_rng_below(rng, 6);
        for (uint64_t e = s->first[f]; kind > 0 && e < s->first[f + 1]; e++) {
            if (kind == 1 || fab_rng_below(rng, 3) > 0) {
                c->share[entry] = s->share != NULL ? s->share[e] : 1;
                c->link[entry++] = s->link[e];
            }
        }
        for (uint32_t k = 0; kind > 1 && k < 2; k++) {
            uint32_t l = (uint32_t)fab_rng_below(rng, s->n_links);
            bool fresh = true;
            for (size_t e = c->first[i]; e < entry; e++) {
                fresh = fresh && c->link[e] != l;
            }
            if (fresh) {
                c->share[entry] = 0.25 * (double)(1 + fab_rng_below(rng, 4));
                c->link[entry++] = l;
            }
        }
        c->first[++i] = entry;
        c->changes.n_flows = i;
    }
}

/* What is left, flow by flow. */
static void leave(const fab_sharing *s, change *c) {
    uint32_t n = 0;
    uint64_t entry = 0;
    for (uint32_t f = 0, i = 0; f < s->n_flows; f++) {
        bool listed = i < c->changes.n_flows && c->flow[i] == f;
        uint64_t begin = listed ? c->first[i] : s->first[f];
        uint64_t end = listed ? c->first[i + 1] : s->first[f + 1];
        const uint32_t *link = listed ? c->link : s->link;
        const double *share = listed ? c->share : s->share;
        bool lost = begin == end && s->first[f] < s->first[f + 1];
        i += listed;
        for (uint64_t e = begin; e < end; e++) {
            lost = lost || c->left_capacity[link[e]] == 0;
        }
        for (uint64_t e = begin; !lost && e < end; e++) {
            c->left_share[entry] = share != NULL ? share[e] : 1;
            c->left_link[entry++] = link[e];
        }
        if (!lost) {
            c->left_weight[n] = s->weight != NULL ? s->weight[f] : 1;
            c->left_limit[n] = s->limit != NULL ? s->limit[f] : INFINITY;
            c->left_flow[n] = f;
            c->left_first[++n] = entry;
        }
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        c->left_capacity[l] = c->left_capacity[l] > 0 ? c->left_capacity[l] : INFINITY;
    }
    c->residual = (fab_sharing){.n_flows = n,
                                .n_links = s->n_links,
                                .capacity = c->left_capacity,
                                .first = c->left_first,
                                .link = c->left_link,
                                .share = s->share != NULL ? c->left_share : NULL,
                                .weight = s->weight != NULL ? c->left_weight : NULL,
                                .limit = s->limit != NULL ? c->left_limit : NULL};
}

static change change_make(const fab_sharing *s, uint32_t n_flows, uint32_t n_links, fab_rng *rng) {
    change c = {0};
    size_t n = s->n_flows + 1;
    size_t n_entries = (size_t)s->first[s->n_flows] + 2 * n;
    n_flows = n_flows < s->n_flows ? n_flows : s->n_flows;
    c.flow = calloc(n, sizeof *c.flow);
    c.link = calloc(n_entries, sizeof *c.link);
    c.narrow = calloc(n_links + 1, sizeof *c.narrow);
    c.first = calloc(n, sizeof *c.first);
    c.share = calloc(n_entries, sizeof *c.share);
    c.capacity = calloc(n_links + 1, sizeof *c.capacity);
    c.left_flow = calloc(n, sizeof *c.left_flow);
    c.left_link = calloc(n_entries, sizeof *c.left_link);
    c.left_first = calloc(n, sizeof *c.left_first);
    c.left_share = calloc(n_entries, sizeof *c.left_share);
    c.left_weight = calloc(n, sizeof *c.left_weight);
    c.left_limit = calloc(n, sizeof *c.left_limit);
    c.left_capacity = calloc(s->n_links, sizeof *c.left_capacity);
    draw_capacities(s, n_links, rng, &c);
    draw_flows(s, n_flows, rng, &c);
    leave(s, &c);
    c.changes.flow = c.flow;
    c.changes.first = c.first;
    c.changes.link = c.link;
    c.changes.share = s->share != NULL ? c.share : NULL;
    c.changes.wider_or_narrower = c.narrow;
    c.changes.capacity = c.capacity;
    return c;
}

/* The rates of all flows after a change; what is handed out beside them is checked too. */
static void spread_rates(const fab_sharing *s, const fab_rates_base *base, const fab_incremental_rates *x,
                         double *out) {
    double sum = 0;
    double least = INFINITY;
    uint32_t n_lost = 0;
    memcpy(out, fab_rates_base_rate(base), s->n_flows * sizeof *out);
    for (uint32_t i = 0; i < x->n_changed; i++) {
        cr_assert_neq(out[x->flow[i]], x->rate[i]);
        out[x->flow[i]] = x->rate[i];
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        sum += out[f];
        n_lost += out[f] == 0;
        least = out[f] > 0 && out[f] < least ? out[f] : least;
    }
    cr_assert(isfinite(sum) == isfinite(x->sum_bps) && sharing_close(sum, x->sum_bps, 1e-12), "%.17g, not %.17g",
              x->sum_bps, sum);
    cr_assert_eq(x->slowest_bps, least);
    cr_assert_eq(x->n_lost, n_lost);
    uint32_t slowest = 0;
    while (slowest < s->n_flows && out[slowest] != least) {
        slowest++;
    }
    cr_assert_eq(x->slowest_flow, slowest);
}

static void check(const fab_sharing *s, const fab_rates_base *base, const change *c, const fab_incremental_rates *x,
                  fab_max_min *solver, const char *where) {
    fab_error err = {0};
    double *rate = calloc(s->n_flows, sizeof *rate);
    double *residual = calloc(s->n_flows, sizeof *residual);
    double *whole = calloc(s->n_flows, sizeof *whole);
    spread_rates(s, base, x, rate);
    cr_assert_eq(x->n_lost, s->n_flows - c->residual.n_flows, "%s", where);
    cr_assert_eq(fab_max_min_solve(solver, &c->residual, whole, NULL, &err), FAB_OK, "%s: %s", where, err.text);
    for (uint32_t i = 0; i < c->residual.n_flows; i++) {
        residual[i] = rate[c->left_flow[i]];
        cr_assert(isfinite(residual[i]) == isfinite(whole[i]) && sharing_close(residual[i], whole[i], CLOSE),
                  "%s: flow %u has %.17g, not %.17g%s", where, c->left_flow[i], residual[i], whole[i],
                  x->in_full ? " (in full)" : "");
    }
    const char *unfair = oracle_unfair(&c->residual, NULL, residual, CLOSE);
    cr_assert_null(unfair, "%s: %s", where, unfair);
    free(rate);
    free(residual);
    free(whole);
}

static void apply(fab_incremental *r, const change *c, fab_incremental_rates *out, const char *where) {
    fab_error err = {0};
    cr_assert_eq(fab_incremental_apply(r, &c->changes, out, &err), FAB_OK, "%s: %s", where, err.text);
}

/* The same changes later give the same bytes; none give the base. */
static void check_again(fab_incremental *r, const change *c, const change *other, const char *where) {
    static const fab_rate_changes NOTHING = {0};
    fab_incremental_rates x;
    apply(r, c, &x, where);
    uint32_t *flow = calloc(x.n_changed + 1, sizeof *flow);
    double *rate = calloc(x.n_changed + 1, sizeof *rate);
    fab_incremental_rates before = x;
    memcpy(flow, x.flow, x.n_changed * sizeof *flow);
    memcpy(rate, x.rate, x.n_changed * sizeof *rate);
    apply(r, other, &x, where);
    cr_assert_eq(fab_incremental_apply(r, &NOTHING, &x, NULL), FAB_OK);
    cr_assert_eq(x.n_changed, 0, "%s", where);
    apply(r, c, &x, where);
    cr_assert_eq(x.n_changed, before.n_changed, "%s", where);
    cr_assert_eq(memcmp(flow, x.flow, x.n_changed * sizeof *flow), 0, "%s", where);
    cr_assert_eq(memcmp(rate, x.rate, x.n_changed * sizeof *rate), 0, "%s", where);
    cr_assert_eq(memcmp(&x.sum_bps, &before.sum_bps, sizeof x.sum_bps), 0, "%s", where);
    free(flow);
    free(rate);
}

/* @return how many changes were not solved in full. */
static uint32_t try_changes(const fab_sharing *s, uint32_t n_tries, uint32_t most_flows, uint64_t seed,
                            fab_max_min *solver) {
    fab_error err = {0};
    fab_rng rng = fab_rng_make(seed, 11);
    fab_rates_base *base = NULL;
    fab_incremental *r = NULL;
    uint32_t n_partial = 0;
    cr_assert_eq(fab_rates_base_new(s, &base, &err), FAB_OK, "seed %d: %s", (int)seed, err.text);
    cr_assert_eq(fab_incremental_new(base, &r, &err), FAB_OK);
    change last = change_make(s, 1, 1, &rng);
    for (uint32_t i = 0; i < n_tries; i++) {
        char where[64];
        fab_incremental_rates x;
        (void)snprintf(where, sizeof where, "seed %d, change %u", (int)seed, i);
        change c =
            change_make(s, (uint32_t)fab_rng_below(&rng, most_flows + 1), (uint32_t)fab_rng_below(&rng, 3), &rng);
        apply(r, &c, &x, where);
        n_partial += !x.in_full;
        check(s, base, &c, &x, solver, where);
        if (i % 8 == 0) {
            check_again(r, &c, &last, where);
        }
        discard(&last);
        last = c;
    }
    discard(&last);
    fab_incremental_free(r);
    fab_rates_base_free(base);
    return n_partial;
}

Test(oracle_incremental, small) {
    fab_max_min *solver = NULL;
    uint32_t n_partial = 0;
    cr_assert_eq(fab_max_min_new(&solver, NULL), FAB_OK);
    for (uint64_t seed = 0; seed < 1500; seed++) {
        random_sharing r;
        sharing_make(seed, seed % 4 == 0 ? 60 : 12, seed % 3 == 0 ? 20 : 5, &r);
        n_partial += try_changes(&r.sharing, 4, 3, seed, solver);
        sharing_discard(&r);
    }
    cr_assert_gt(n_partial, 5900);
    fab_max_min_free(solver);
}

/* Few flows on each of many links, so that changes stay where they are. */
Test(oracle_incremental, wide) {
    fab_max_min *solver = NULL;
    uint32_t n_partial = 0;
    cr_assert_eq(fab_max_min_new(&solver, NULL), FAB_OK);
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_sharing r;
        sharing_make(10000 + seed, 600, seed % 2 == 0 ? 1200 : 500, &r);
        n_partial += try_changes(&r.sharing, 10, seed % 5 == 0 ? 100 : 6, seed, solver);
        sharing_discard(&r);
    }
    cr_assert(n_partial > 400 && n_partial < 600, "%u", n_partial);
    fab_max_min_free(solver);
}
