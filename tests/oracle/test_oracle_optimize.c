/* The optimiser against all designs of small random catalogs, by the price of the network and by dollars per token of
 * each design evaluated by itself, and the closed form of the bisection against graphs. */
#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/optimize.h"
#include "fab/prices.h"
#include "fab/sweep_run.h"
#include "fab/rng.h"
#include "fab/topologies.h"
#include "fab/units.h"
#include "oracle_optimize.h"
#include "draws.h"

#include "fab/gpu.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool close_to(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static uint64_t pick(fab_rng *rng, const uint64_t *from, size_t n) {
    return from[fab_rng_below(rng, n)];
}

/* --- bisection ---------------------------------------------------------------------------------------------------- */

Test(optimize, bisection_in_closed_form) {
    static const char *const FAMILIES[] = {"clos", "fat-tree", "rail-spine", "rail-only"};
    static const uint64_t RADIX[] = {4, 6, 8, 12, 16, 24, 32, 48};
    fab_rng rng = fab_rng_make(3, 0);
    size_t n_built = 0;
    size_t n_tall = 0;
    fab_design *design = malloc(sizeof *design);
    fab_counts *counts = malloc(sizeof *counts);
    for (int i = 0; i < DRAWS(3000); i++) {
        char text[256];
        uint64_t g = 1U << fab_rng_below(&rng, 4);
        uint64_t domain = g << fab_rng_below(&rng, 3);
        (void)snprintf(text, sizeof text,
                       "%s:gpus=%" PRIu64 ",gpus-per-server=%" PRIu64 ",domain=%" PRIu64
                       ",planes=%d,spares=%d,radix=%" PRIu64 "/%" PRIu64 "/%" PRIu64 ",taper=%d/%d,breakout=%d",
                       FAMILIES[fab_rng_below(&rng, 4)], domain * (1 + fab_rng_below(&rng, 40)), g, domain,
                       1 + (int)fab_rng_below(&rng, 2), (int)fab_rng_below(&rng, 2), pick(&rng, RADIX, 8),
                       pick(&rng, RADIX, 8), pick(&rng, RADIX, 8), 1 + (int)fab_rng_below(&rng, 3),
                       1 + (int)fab_rng_below(&rng, 3), 1 + (int)fab_rng_below(&rng, 2));
        fab_fabric *graph = NULL;
        fab_tree tree = {0};
        double cut = 0;
        if (fab_design_read(text, NULL, 0, design, NULL) != FAB_OK ||
            fab_topology_tree(&design->fabric, counts, &tree, NULL) != FAB_OK) {
            continue;
        }
        cr_assert_eq(fab_topology_build(&design->fabric, &graph, NULL, NULL), FAB_OK, "%s", text);
        cr_assert_eq(fab_bisection(graph, &cut, NULL), FAB_OK);
        cr_assert(close_to(tree.bisection_bps, cut), "%s: closed form %.17g, graph %.17g", text, tree.bisection_bps,
                  cut);
        fab_fabric_free(graph);
        n_built++;
        n_tall += counts->tiers >= 3;
    }
    cr_expect(n_built > DRAWS(1000) && n_tall > DRAWS(200), "%zu built, %zu of three tiers and more", n_built, n_tall);
    free(design);
    free(counts);
}

/* --- random catalogs ---------------------------------------------------------------------------------------------- */

static void add_switch(fab_catalog *c, uint64_t radix, double port_bps, uint64_t most_split) {
    fab_catalog_switch *s = &c->switches[c->n_switches++];
    (void)snprintf(s->name, sizeof s->name, "s%" PRIu64 "-%zu", radix, c->n_switches);
    s->radix = radix;
    s->port_bps = port_bps;
    for (uint64_t split = 1; split <= most_split; split *= 2) {
        s->breakouts[s->n_breakouts++] = split;
    }
}

static fab_catalog random_catalog(fab_rng *rng) {
    static const uint64_t RADIX[] = {8, 12, 16, 20, 24, 32, 64};
    static const double TAPERS[] = {1, 1.5, 2, 3, 5};
    fab_catalog c = {.name = "random",
                     .gpus_per_server = 8,
                     .nics_per_server = 8,
                     .n_families = 4,
                     .families = {"clos", "fat-tree", "rail-spine", "rail-only"},
                     .nics_bps = {400e9},
                     .n_nics = 1,
                     .domains = {8, 32},
                     .n_domains = 1 + fab_rng_below(rng, 2),
                     .planes = {1, 2},
                     .n_planes = 1 + fab_rng_below(rng, 2),
                     .tiers = {1, 2, 3}};
    c.n_tiers = 2 + fab_rng_below(rng, 2);
    size_t n_switches = c.n_tiers == 3 ? 2 : 3;
    size_t n_tapers = c.n_tiers == 3 ? 2 : 4;
    for (size_t i = 0; i < n_switches; i++) {
        add_switch(&c, pick(rng, RADIX, 7), fab_rng_below(rng, 3) == 0 ? 800e9 : 400e9, 1 + fab_rng_below(rng, 2));
    }
    for (size_t i = 0; i < 5 && c.n_tapers < n_tapers; i++) {
        if (fab_rng_below(rng, 2) == 0 || 5 - i <= n_tapers - c.n_tapers) {
            c.tapers[c.n_tapers++] = TAPERS[i];
        }
    }
    return c;
}

/* Limits near what the designs have, one exactly at it now and then. */
static fab_limits random_limits(fab_rng *rng, const oracle_design *designs, size_t n) {
    fab_limits l = {.has_bisection = fab_rng_below(rng, 2) == 0,
                    .has_taper = fab_rng_below(rng, 3) == 0,
                    .has_power = fab_rng_below(rng, 2) == 0,
                    .has_budget = fab_rng_below(rng, 3) == 0};
    double factor = fab_rng_below(rng, 3) == 0 ? 1 : 0.6 + 0.01 * (double)fab_rng_below(rng, 60);
    l.min_bisection_ratio = fmin(1, designs[fab_rng_below(rng, n)].bisection_ratio / factor);
    l.max_taper = fmax(0.5, designs[fab_rng_below(rng, n)].max_taper * factor);
    l.max_power_w = designs[fab_rng_below(rng, n)].power_w * factor;
    l.budget_usd = designs[fab_rng_below(rng, n)].usd * factor;
    if (fab_rng_below(rng, 3) == 0) { /* tight: around the best there is */
        for (size_t i = 0; i < n; i++) {
            l.max_power_w = fmin(l.max_power_w, designs[i].power_w * (0.7 + 0.4 * factor));
            l.budget_usd = fmin(l.budget_usd, designs[i].usd * (0.7 + 0.4 * factor));
        }
    }
    return l;
}

/* Best value of one limit by itself, as the message prints it. */
static void expect_shortfalls(const fab_error *err, const oracle_design *designs, size_t n, const fab_limits *l) {
    double usd = INFINITY;
    double power_w = INFINITY;
    double bisection = 0;
    double taper = INFINITY;
    char text[64];
    char number[32];
    for (size_t i = 0; i < n; i++) {
        usd = fmin(usd, designs[i].usd);
        power_w = fmin(power_w, designs[i].power_w);
        bisection = fmax(bisection, designs[i].bisection_ratio);
        taper = fmin(taper, designs[i].max_taper);
    }
    cr_expect(strstr(err->text, "no fabric of the catalog keeps the limits: ") == err->text, "%s", err->text);
    if (l->has_budget && usd > l->budget_usd * (1 + 1e-9)) {
        (void)snprintf(text, sizeof text, "the cheapest is %s (", fab_money_format(number, usd));
        cr_expect(strstr(err->text, text) != NULL, "'%s' lacks '%s'", err->text, text);
    }
    if (l->has_power && power_w > l->max_power_w * (1 + 1e-9)) {
        (void)snprintf(text, sizeof text, "the least is %s (", fab_quantity_format(number, power_w, FAB_UNIT_POWER));
        cr_expect(strstr(err->text, text) != NULL, "'%s' lacks '%s'", err->text, text);
    }
    if (l->has_bisection && bisection < l->min_bisection_ratio * (1 - 1e-9)) {
        (void)snprintf(text, sizeof text, "the most is %.4g", bisection);
        cr_expect(strstr(err->text, text) != NULL, "'%s' lacks '%s'", err->text, text);
    }
    if (l->has_taper && taper > l->max_taper * (1 + 1e-9)) {
        (void)snprintf(text, sizeof text, "the least is %.4g:1", taper);
        cr_expect(strstr(err->text, text) != NULL, "'%s' lacks '%s'", err->text, text);
    }
}

/* Every point is a design that nothing beats, and every such design is a point. */
static void expect_front(const fab_optimum_point *front, size_t n_front, const oracle_design *designs, size_t n,
                         const fab_limits *limits, bool by_power) {
    fab_limits l = *limits;
    size_t n_points = 0;
    double last = by_power ? INFINITY : -INFINITY;
    l.has_budget = false;
    l.has_power = by_power ? false : l.has_power;
    l.has_bisection = by_power ? l.has_bisection : false;
    for (;;) { /* the cheapest that is better than the last in the other aim */
        size_t best = oracle_cheapest(designs, n, &l);
        if (best == n) {
            break;
        }
        /* of equally cheap ones the best in the other aim */
        for (size_t i = 0; i < n; i++) {
            fab_limits as_cheap = l;
            as_cheap.has_budget = true;
            as_cheap.budget_usd = designs[best].usd;
            if (close_to(designs[i].usd, designs[best].usd) && oracle_cheapest(&designs[i], 1, &as_cheap) == 0 &&
                (by_power ? designs[i].power_w < designs[best].power_w
                          : designs[i].bisection_ratio > designs[best].bisection_ratio)) {
                best = i;
            }
        }
        cr_assert_lt(n_points, n_front, "the front lacks %g USD", designs[best].usd);
        const fab_optimum_point *p = &front[n_points++];
        last = by_power ? designs[best].power_w : designs[best].bisection_ratio;
        cr_assert(close_to(p->total_usd, designs[best].usd), "point %zu: %.12g, not %.12g USD", n_points - 1,
                  p->total_usd, designs[best].usd);
        cr_assert(close_to(by_power ? p->power_w : p->bisection_ratio, last), "point %zu: %.12g W, %.12g", n_points - 1,
                  p->power_w, p->bisection_ratio);
        l.has_power = by_power ? true : l.has_power;
        l.max_power_w = by_power ? last * (1 - 1e-7) - 1e-5 : l.max_power_w;
        l.has_bisection = by_power ? l.has_bisection : true;
        l.min_bisection_ratio = by_power ? l.min_bisection_ratio : last + 1e-6;
    }
    cr_expect_eq(n_points, n_front);
}

static void compare(const fab_catalog *catalog, const fab_prices *prices, uint64_t gpus, const oracle_design *designs,
                    size_t n, const fab_limits *limits, size_t *n_infeasible) {
    fab_optimize_request request = {.catalog = catalog, .prices = prices, .gpus = gpus, .limits = *limits};
    fab_optimum *found = NULL;
    fab_error err = {0};
    size_t best = oracle_cheapest(designs, n, limits);
    fab_status status = fab_optimize(&request, &found, &err);
    if (best == n) {
        cr_assert_eq(status, FAB_ENOSOLUTION, "status %d: %s", (int)status, err.text);
        expect_shortfalls(&err, designs, n, limits);
        (*n_infeasible)++;
        return;
    }
    cr_assert_eq(status, FAB_OK, "%" PRIu64 " GPUs: %s: %s", gpus, err.where, err.text);
    cr_expect(close_to(found->winner.total_usd, designs[best].usd), "%s: %.12g, brute force %.12g",
              found->winner.design, found->winner.total_usd, designs[best].usd);
    cr_expect(found->is_proven && found->lower_bound_usd == found->winner.total_usd);
    cr_expect_eq(found->n_rejected + 1, found->n_structures);
    for (size_t i = 1; i < found->n_runners_up; i++) {
        cr_expect(found->runners_up[i].total_usd >= found->runners_up[i - 1].total_usd);
    }
    expect_front(found->by_bisection, found->n_by_bisection, designs, n, limits, false);
    expect_front(found->by_power, found->n_by_power, designs, n, limits, true);
    fab_optimum_free(found);
}

Test(optimize, equals_brute_force) {
    static const uint64_t GPUS[] = {64, 96, 128, 160, 256, 320, 512};
    static const char *const PRICES[] = {"today-400g", "today-800g", "rail-only-2023"};
    fab_rng rng = fab_rng_make(5, 0);
    fab_prices *prices = malloc(sizeof *prices);
    size_t n_infeasible = 0;
    size_t n_compared = 0;
    for (size_t round = 0; round < DRAWS(20); round++) {
        fab_catalog catalog = random_catalog(&rng);
        uint64_t gpus = pick(&rng, GPUS, 7);
        size_t n = 0;
        cr_assert_eq(fab_prices_read(PRICES[round % 3], prices, NULL), FAB_OK);
        oracle_design *designs = oracle_designs(&catalog, prices, gpus, &n);
        if (n > 0) {
            const fab_limits none = {0};
            compare(&catalog, prices, gpus, designs, n, &none, &n_infeasible);
        }
        for (int i = 0; n > 0 && i < 6; i++) {
            fab_limits limits = random_limits(&rng, designs, n);
            compare(&catalog, prices, gpus, designs, n, &limits, &n_infeasible);
            n_compared++;
        }
        free(designs);
    }
    cr_expect(n_compared > DRAWS(40) && n_infeasible > DRAWS(5), "%zu compared, %zu infeasible", n_compared,
              n_infeasible);
    free(prices);
}

/* --- dollars per token -------------------------------------------------------------------------------------------- */

#define MOST_BY_HAND 700 /* designs of a catalog that are replayed one by one */

/* A job of 64 GPUs under an engine: one with all sizes given, one whose plan is open. */
static void set_tokens_job(fab_design *design, uint64_t gpus, bool is_open) {
    char dp[24];
    const char *const open[][2] = {{"model", "gpt-1.7b"}, {"batch", "128"}, {"tp", "2"}, {"plan", "auto"}};
    (void)snprintf(dp, sizeof dp, "%" PRIu64, gpus / 8);
    const char *const given[][2] = {
        {"model", "gpt-1.7b"}, {"batch", "128"},    {"tp", "4"},   {"pp", "2"},          {"cp", "1"}, {"dp", dp},
        {"microbatch", "1"},   {"interleave", "1"}, {"zero", "1"}, {"recompute", "full"}};
    design->n_jobs = 0;
    for (size_t i = 0; i < (is_open ? 4 : 10); i++) {
        const char *const *pair = is_open ? open[i] : given[i];
        cr_assert_eq(fab_design_set_job(design, 0, pair[0], pair[1], "test", NULL), FAB_OK, "%s", pair[0]);
    }
    design->engines[0] = (fab_engine_spec){.text = "spray", .where = "test"};
    design->n_engines = 1;
}

typedef struct tokens_job {
    uint64_t gpus;
    bool is_open;
} tokens_job;

static fab_status read_with_tokens_job(const void *context, const char *text, fab_design *out, fab_error *err) {
    const tokens_job *job = context;
    const fab_status status = fab_design_read(text, NULL, 0, out, err);
    set_tokens_job(out, job->gpus, job->is_open);
    (void)snprintf(out->prices, sizeof out->prices, "%s", FAB_DEFAULT_PRICES);
    return status;
}

/* Ownership added up from the book by hand, over the tokens of the design evaluated by itself. INFINITY: refused. */
static double tokens_by_hand(const oracle_design *d, const fab_prices *prices, uint64_t gpus, bool is_open) {
    fab_design *design = malloc(sizeof *design);
    fab_counts *counts = malloc(sizeof *counts);
    fab_fabric *graph = NULL;
    fab_sweep_point point = {.n_phases = 0};
    double usd = INFINITY;
    double gpu_usd = 0;
    fab_gpu gpu;
    fab_price server = {0, 0};
    const fab_sweep_request request = {.traffic = "job", .seed = 1, .n_seeds = 1, .n_threads = 1};
    cr_assert_eq(fab_design_read(d->text, NULL, 0, design, NULL), FAB_OK);
    cr_assert_eq(fab_gpu_read(FAB_DEFAULT_GPU, "test", &gpu, NULL), FAB_OK);
    cr_assert(fab_prices_gpu(prices, gpu.name, &gpu_usd) && fab_prices_server(prices, 8, &server));
    (void)snprintf(design->prices, sizeof design->prices, "%s", FAB_DEFAULT_PRICES);
    set_tokens_job(design, gpus, is_open);
    cr_assert_eq(fab_topology_build(&design->fabric, &graph, counts, NULL), FAB_OK);
    if (fab_sweep_evaluate(&request, design, &point, NULL) == FAB_OK && point.engines[0].has_iteration) {
        const double servers = (double)counts->servers;
        const double watts = d->power_w + servers * server.power_w + (double)gpus * gpu.power_w;
        const double racks =
            (double)counts->floor.racks * (prices->rack.usd + prices->years * prices->rack.usd_per_year);
        const double energy = watts / 1000 * 24 * 365 * prices->years * prices->pue * prices->usd_per_kwh;
        const double owned = (double)gpus * gpu_usd + servers * server.usd + racks + d->usd + energy;
        const double iterations = prices->years * 365 * 24 * 3600 / point.engines[0].iteration.time_s;
        usd = owned / (iterations * point.tokens) * 1e9;
    }
    fab_sweep_point_release(&point);
    fab_fabric_free(graph);
    free(design);
    free(counts);
    return usd;
}

/* `by_hand` [design]: what its tokens cost. */
static void compare_tokens(const fab_catalog *catalog, const fab_prices *prices, uint64_t gpus,
                           const oracle_design *designs, const double *by_hand, size_t n, bool is_open, uint64_t most) {
    fab_limits limits = {.has_bisection = most == 3, .min_bisection_ratio = 0.4};
    fab_design *design = malloc(sizeof *design);
    fab_optimum *found = NULL;
    fab_error err = {0};
    double least = INFINITY;
    cr_assert_eq(fab_design_read("clos:gpus=8", NULL, 0, design, NULL), FAB_OK);
    set_tokens_job(design, gpus, is_open);
    (void)snprintf(design->prices, sizeof design->prices, "%s", FAB_DEFAULT_PRICES);
    fab_optimize_request request = {.catalog = catalog,
                                    .prices = prices,
                                    .gpus = gpus,
                                    .limits = limits,
                                    .replayed = design,
                                    .replay_options = "",
                                    .read = read_with_tokens_job,
                                    .read_context = &(tokens_job){gpus, is_open},
                                    .seed = 1,
                                    .n_threads = 1,
                                    .most_replays = most};
    for (size_t i = 0; i < n; i++) {
        if (oracle_cheapest(&designs[i], 1, &limits) == 0) {
            least = fmin(least, by_hand[i]);
        }
    }
    fab_status status = fab_optimize(&request, &found, &err);
    free(design);
    if (isinf(least)) {
        cr_assert_neq(status, FAB_OK);
        return;
    }
    cr_assert_eq(status, FAB_OK, "%s: %s", err.where, err.text);
    const fab_token_search *t = &found->tokens;
    const double usd = found->winner.usd_per_1e9_tokens;
    cr_expect(usd >= least * (1 - 1e-9) && t->lower_bound_usd_per_1e9_tokens <= least * (1 + 1e-9),
              "%s: %.12g, at least %.12g, brute force %.12g", found->winner.design, usd,
              t->lower_bound_usd_per_1e9_tokens, least);
    cr_expect(close_to(t->gap_ratio + 1, usd / t->lower_bound_usd_per_1e9_tokens));
    cr_expect_eq(found->is_proven, t->n_open == 0);
    if (found->is_proven) {
        cr_expect(close_to(usd, least), "%s: %.12g, brute force %.12g", found->winner.design, usd, least);
    }
    cr_expect(most > 0 || found->is_proven, "without a limit all is proven");
    for (size_t i = 0; i < found->n_runners_up; i++) {
        cr_expect(found->runners_up[i].usd_per_1e9_tokens >=
                  (i > 0 ? found->runners_up[i - 1].usd_per_1e9_tokens : usd));
    }
    fab_optimum_free(found);
}

Test(optimize, cheapest_tokens_equal_brute_force) {
    static const uint64_t GPUS[] = {64, 128};
    fab_rng rng = fab_rng_make(11, 0);
    fab_prices *prices = malloc(sizeof *prices);
    size_t n_compared = 0;
    cr_assert_eq(fab_prices_read(FAB_DEFAULT_PRICES, prices, NULL), FAB_OK);
    for (size_t round = 0; round < DRAWS(6); round++) {
        fab_catalog catalog = random_catalog(&rng);
        const uint64_t gpus = pick(&rng, GPUS, 2);
        size_t n = 0;
        catalog.n_domains = 1;
        oracle_design *designs = oracle_designs(&catalog, prices, gpus, &n);
        const bool is_open = round % 3 == 0;
        double *by_hand = malloc((n + 1) * sizeof *by_hand);
        for (size_t i = 0; i < n && n < MOST_BY_HAND; i++) {
            by_hand[i] = tokens_by_hand(&designs[i], prices, gpus, is_open);
        }
        for (uint64_t most = 0; n > 0 && n < MOST_BY_HAND && most < 4; most += 3) {
            compare_tokens(&catalog, prices, gpus, designs, by_hand, n, is_open, most);
            n_compared++;
        }
        free(by_hand);
        free(designs);
    }
    cr_expect(n_compared >= DRAWS(4), "%zu compared", n_compared);
    free(prices);
}
