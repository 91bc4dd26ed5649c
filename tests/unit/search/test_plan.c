/* What a plan keeps of a job, and what it chooses; the choice itself is checked by oracle/test_oracle_plan.c. */
#include "fab/design.h"
#include "fab/job_sharing.h"
#include "fab/job_space.h"
#include "fab/memory.h"
#include "fab/plan_run.h"
#include "fab/str.h"
#include "fab/topologies.h"
#include "fab/verdict.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static fab_design *design_of(const char *fabric, const char *const *keys) {
    fab_design *design = malloc(sizeof *design);
    cr_assert_eq(fab_design_read(fabric, NULL, 0, design, NULL), FAB_OK);
    for (size_t i = 0; keys[i] != NULL; i += 2) {
        cr_assert_eq(fab_design_set_job(design, 0, keys[i], keys[i + 1], "test", NULL), FAB_OK);
    }
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "spray");
    design->n_engines = 1;
    return design;
}

static unsigned open_of(const char *const *keys) {
    fab_design *design = design_of("clos:gpus=16", keys);
    unsigned open = fab_job_plan_open(&design->jobs[0]);
    free(design);
    return open;
}

#define BIT(key) (1U << FAB_PLAN_##key)
#define SIZES    (BIT(TP) | BIT(PP) | BIT(DP))
#define KEYS(...)                                                                                                      \
    (const char *const[]) {                                                                                            \
        __VA_ARGS__, NULL                                                                                              \
    }

Test(plan, what_is_open) {
    cr_expect_eq(open_of(KEYS("tp", "8")), 0);
    cr_expect_eq(open_of(KEYS("model", "gpt-1.7b")), 0, "left to who can search");
    cr_expect_eq(open_of(KEYS("microbatch", "auto", "interleave", "auto")), 0, "chosen when the iteration is timed");
    cr_expect_eq(open_of(KEYS("tp", "auto")), SIZES);
    cr_expect_eq(open_of(KEYS("zero", "auto", "tp", "4", "dp", "2")), BIT(ZERO) | BIT(PP));
    cr_expect_eq(open_of(KEYS("tp", "auto", "tp", "4")), 0, "the last one counts");
    cr_expect_eq(open_of(KEYS("plan", "auto")), (1U << FAB_N_PLAN_KEYS) - 1);
    cr_expect_eq(open_of(KEYS("recompute", "full", "plan", "auto", "ep", "1")),
                 ((1U << FAB_N_PLAN_KEYS) - 1) & ~BIT(RECOMPUTE) & ~BIT(EP));
}

static bool is_left(const char *const *keys) {
    fab_design *design = design_of("clos:gpus=16", keys);
    bool left = fab_job_plan_is_left(&design->jobs[0]);
    free(design);
    return left;
}

/* No size is given: somebody else chooses all of them. */
Test(plan, what_is_left) {
    cr_expect(is_left(KEYS("model", "gpt-1.7b")));
    cr_expect(is_left(KEYS("recompute", "full", "microbatch", "2", "zero", "1")), "these are kept");
    cr_expect_not(is_left(KEYS("tp", "1")));
    cr_expect_not(is_left(KEYS("ep", "1")));
    cr_expect_not(is_left(KEYS("plan", "given")));
    cr_expect_not(is_left(KEYS("plan", "auto")), "asked for");
    cr_expect_not(is_left(KEYS("kind", "serving")));
}

/* The digest is of what is said: a default that is typed is said where the rest is open. */
Test(plan, digest_knows_what_is_asked) {
    char digest[4][17];
    const char *const *keys[] = {KEYS("model", "gpt-1.7b"), KEYS("model", "gpt-1.7b", "tp", "auto"),
                                 KEYS("model", "gpt-1.7b", "plan", "auto"),
                                 KEYS("model", "gpt-1.7b", "plan", "auto", "recompute", "full")};
    for (size_t i = 0; i < 4; i++) {
        fab_design *design = design_of("clos:gpus=16", keys[i]);
        cr_assert_eq(fab_design_digest(design, digest[i], NULL), FAB_OK);
        for (size_t k = 0; k < i; k++) {
            cr_expect_str_neq(digest[i], digest[k], "%zu and %zu", i, k);
        }
        free(design);
    }
}

static uint64_t batch_of(const char *fabric_text, const char *model) {
    fab_design *design = design_of(fabric_text, KEYS("model", model, "plan", "auto"));
    fab_fabric *fabric = NULL;
    fab_job_space *space = NULL;
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
    cr_assert_eq(fab_job_space_new(design, fabric, &space, NULL), FAB_OK);
    uint64_t batch = fab_job_space_model(space)->batch;
    fab_job_space_free(space);
    fab_fabric_free(fabric);
    free(design);
    return batch;
}

Test(plan, batch_that_the_gpus_divide) {
    cr_expect_eq(batch_of("clos:gpus=64", "gpt-1.7b"), 512);
    cr_expect_eq(batch_of("clos:gpus=96", "gpt-1.7b"), 480, "a multiple of 48");
    cr_expect_eq(batch_of("clos:gpus=104", "gpt-1.7b"), 468, "a multiple of 52");
}

/* What was chosen is what a run with the same keys gives, for any number of threads. */
Test(plan, same_for_any_number_of_threads) {
    fab_design *design = design_of("rail-spine:gpus=32", KEYS("model", "gpt-1.7b", "tp", "2", "plan", "auto"));
    fab_fabric *fabric = NULL;
    fab_plans *plans[2] = {NULL};
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
    for (size_t i = 0; i < 2; i++) {
        const fab_plan_request request = {
            .design = design, .fabric = fabric, .seed = 1, .n_threads = 1 + 3 * i, .n_best = 4, .wants_front = true};
        cr_assert_eq(fab_plan_search(&request, &plans[i], NULL), FAB_OK);
    }
    cr_assert_eq(plans[0]->n_plans_listed, 4);
    cr_expect_eq(plans[0]->plans[0].plan.tp, 2);
    for (size_t k = 0; k < 4; k++) {
        const fab_planned *a = &plans[0]->plans[k];
        const fab_planned *b = &plans[1]->plans[k];
        cr_expect(fab_plan_is_same(&a->plan, &b->plan));
        cr_expect(a->iteration.time_s == b->iteration.time_s);
        cr_expect(k == 0 || a->iteration.time_s >= plans[0]->plans[k - 1].iteration.time_s);
    }
    cr_expect_eq(plans[0]->n_evaluated, plans[1]->n_evaluated);
    cr_expect(plans[0]->lower_bound_s == plans[1]->lower_bound_s);
    fab_plans_free(plans[0]);
    fab_plans_free(plans[1]);
    fab_fabric_free(fabric);
    free(design);
}

static bool ran_out(const void *context) {
    (void)context;
    return true;
}

/* What a search keeps of its plans changes nothing of the next one, on a fabric with as fast NICs. */
Test(plan, what_is_kept_changes_nothing) {
    static const char *const FABRICS[] = {"clos:gpus=64,radix=32,taper=4", "rail-spine:gpus=64,radix=16,taper=2",
                                          "clos:gpus=64,radix=64,nic=100Gb/s"};
    FAB_OWNS(fab_plan_kept_release) fab_plan_kept kept = {.group = NULL};
    for (size_t i = 0; i < 3; i++) {
        fab_design *design = design_of(FABRICS[i], KEYS("model", "gpt-1.7b", "plan", "auto"));
        fab_fabric *fabric = NULL;
        fab_plans *plans[2] = {NULL};
        cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
        fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1, .n_best = 5};
        cr_assert_eq(fab_plan_search(&request, &plans[0], NULL), FAB_OK);
        request.kept = &kept;
        cr_assert_eq(fab_plan_search(&request, &plans[1], NULL), i < 2 ? FAB_OK : FAB_EINTERNAL);
        for (size_t k = 0; i < 2 && k < plans[0]->n_plans_listed; k++) {
            cr_expect_eq(plans[0]->plans[k].iteration.time_s, plans[1]->plans[k].iteration.time_s);
        }
        cr_expect(i == 2 ||
                  (plans[0]->n_plans == plans[1]->n_plans && plans[0]->n_unfit == plans[1]->n_unfit &&
                   plans[0]->n_bounded == plans[1]->n_bounded && plans[0]->lower_bound_s == plans[1]->lower_bound_s));
        fab_plans_free(plans[0]);
        fab_plans_free(plans[1]);
        fab_fabric_free(fabric);
        free(design);
    }
    cr_expect_gt(kept.n, 0);
}

/* Networks that were routed count those of the draws; nobody who is late waits for draws. */
Test(plan, draws_count_and_end_with_the_time) {
    fab_design *design = design_of("clos:gpus=32", KEYS("model", "gpt-1.7b", "tp", "2", "plan", "auto"));
    fab_fabric *fabric = NULL;
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
    uint64_t routed[2] = {0};
    for (size_t drawn = 0; drawn < 2; drawn++) {
        const fab_plan_request request = {
            .design = design, .fabric = fabric, .seed = 1, .n_threads = 1, .draws_leaders = drawn == 1};
        fab_plans *plans = NULL;
        cr_assert_eq(fab_plan_search(&request, &plans, NULL), FAB_OK);
        cr_expect_eq(plans->draws, drawn == 1 ? FAB_VERDICT_SEEDS : 0);
        routed[drawn] = plans->n_networks;
        fab_plans_free(plans);
    }
    cr_expect(routed[1] >= routed[0] + FAB_VERDICT_SEEDS - 1);
    const fab_plan_request late = {
        .design = design, .fabric = fabric, .seed = 1, .n_threads = 1, .draws_leaders = true, .is_late = ran_out};
    fab_plans *plans = NULL;
    cr_assert_eq(fab_plan_search(&late, &plans, NULL), FAB_OK);
    cr_expect(plans->n_plans_listed > 0 && plans->draws == 0);
    fab_plans_free(plans);
    fab_fabric_free(fabric);
    free(design);
}

/* --- plans that nobody asked for ---------------------------------------------------------------------------------- */

static fab_fabric *fabric_of(fab_design *design) {
    fab_fabric *fabric = NULL;
    cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
    return fabric;
}

/* Every phase of a job is in one of its two parts, the same as in the whole. */
Test(plan, parts_of_a_job) {
    fab_design *design = design_of("clos:gpus=16", KEYS("model", "mixtral-8x7b", "tp", "1", "pp", "2", "dp", "8", "ep",
                                                        "4", "memory-check", "off"));
    fab_fabric *fabric = fabric_of(design);
    const char *const texts[] = {"job", FAB_JOB_EXPERTS, FAB_JOB_OTHERS};
    fab_traffic part[3];
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(fab_traffic_make(texts[i], design, fabric, 1, &part[i], NULL), FAB_OK);
    }
    cr_assert(part[1].n_phases == 2 && part[2].n_phases > 0);
    cr_assert_eq(part[1].n_phases + part[2].n_phases, part[0].n_phases);
    size_t at[3] = {0};
    for (size_t i = 0; i < part[0].n_phases; i++) {
        const fab_phase *whole = &part[0].phases[i];
        const size_t k = strncmp(whole->name, "ep-", 3) == 0 ? 1 : 2;
        const fab_phase *same = &part[k].phases[at[k]++];
        cr_expect_str_eq(same->name, whole->name);
        cr_expect_eq(same->total_bytes, whole->total_bytes);
    }
    for (size_t i = 0; i < 3; i++) {
        fab_traffic_release(&part[i]);
    }
    fab_fabric_free(fabric);
    free(design);
}

/* Where slow NICs are what takes time, the closed form of exchanges that cross once for each domain is most of the time
 * of the plan, and never above it. */
Test(plan, floor_of_hierarchical_exchanges) {
    static const char *const FABRICS[] = {"clos:gpus=16,gpus-per-server=1,radix=64,nic=1Gb/s",
                                          "clos:gpus=16,gpus-per-server=2,radix=64,nic=1Gb/s",
                                          "clos:gpus=16,gpus-per-server=4,radix=64,nic=1Gb/s"};
    static const char *const GROUPS[] = {"1", "2", "3", "auto"};
    for (size_t i = 0; i < 12; i++) {
        fab_design *design =
            design_of(FABRICS[i / 4], KEYS("layers", "2", "hidden", "256", "heads", "2", "vocab", "1000", "seq", "4096",
                                           "batch", "64", "experts", "16", "top-k", "2", "expert-exchange",
                                           "hierarchical", "expert-groups", GROUPS[i % 4], "plan", "auto", "tp", "1",
                                           "pp", "1", "cp", "1", "dp", "16", "ep", "8", "zero", "0"));
        fab_fabric *fabric = NULL;
        fab_plans *floor = NULL;
        fab_plans *plans = NULL;
        cr_assert_eq(fab_topology_build(&design->fabric, &fabric, NULL, NULL), FAB_OK);
        const fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1};
        cr_assert_eq(fab_plan_floor(&request, &floor, NULL), FAB_OK);
        cr_assert_eq(fab_plan_search(&request, &plans, NULL), FAB_OK);
        const double ratio = floor->lower_bound_s / plans->plans[0].iteration.time_s;
        cr_expect(ratio > 0.8 && ratio <= 1, "%s, %s groups: %g", FABRICS[i / 4], GROUPS[i % 4], ratio);
        fab_plans_free(plans);
        fab_plans_free(floor);
        fab_fabric_free(fabric);
        free(design);
    }
}

/* Who has no time still gets what the short search of a run finds; who has, no other plan than without it. */
Test(plan, no_time_is_no_worse_than_a_run) {
    static const char *const JOBS[][2] = {{"layers", "24"}, {"experts", "16"}};
    for (size_t i = 0; i < 2; i++) {
        fab_design *design = design_of("rail-spine:gpus=1024,radix=32",
                                       KEYS("model", "gpt-7.5b", JOBS[i][0], JOBS[i][1], "plan", "auto"));
        (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
        fab_fabric *fabric = fabric_of(design);
        double time_s[2];
        for (size_t is_run = 0; is_run < 2; is_run++) {
            const fab_plan_request request = {.design = design,
                                              .fabric = fabric,
                                              .seed = 1,
                                              .n_threads = 1,
                                              .n_best = is_run == 1 ? 0 : 5,
                                              .most_routed = is_run == 1 ? 200000 : 0,
                                              .is_late = is_run == 1 ? NULL : ran_out};
            fab_plans *plans = NULL;
            cr_assert_eq(fab_plan_search(&request, &plans, NULL), FAB_OK);
            time_s[is_run] = plans->plans[0].iteration.time_s;
            cr_expect(plans->n_plans == plans->n_evaluated + plans->n_unfit + plans->n_bounded + plans->n_untimed);
            cr_expect(plans->is_proven || plans->lower_bound_s <= time_s[is_run]);
            fab_plans_free(plans);
        }
        cr_expect(time_s[0] <= time_s[1] * (1 + 1e-12), "%g s after no time, a run takes %g s", time_s[0], time_s[1]);
        fab_fabric_free(fabric);
        free(design);
    }
}

/* The order is chosen by the figure that is printed: no other order's best has a mean below it. Under the first seed
 * the usual order is the fastest here. */
Test(plan, orders_go_by_means) {
    const char *const *keys = KEYS("model", "gpt-7.5b", "zero", "1", "recompute", "none", "cp", "1", "plan", "auto");
    double least_s = INFINITY;
    double first_s = INFINITY;
    size_t first = 0;
    for (size_t order = 0; order <= FAB_N_RANK_ORDERS; order++) {
        fab_design *design = design_of("clos:gpus=168", keys);
        (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
        if (order < FAB_N_RANK_ORDERS) {
            cr_assert_eq(fab_design_set_job(design, 0, "order", fab_rank_orders[order], "test", NULL), FAB_OK);
        }
        fab_fabric *fabric = fabric_of(design);
        const fab_plan_request request = {.design = design,
                                          .fabric = fabric,
                                          .seed = 1,
                                          .n_threads = 2,
                                          .n_best = 5,
                                          .n_orders = FAB_N_RANK_ORDERS,
                                          .draws_leaders = true};
        fab_plans *plans = NULL;
        cr_assert_eq(fab_plan_search(&request, &plans, NULL), FAB_OK);
        const double mean_s = plans->plans[0].draws_s.mean;
        for (size_t i = 0; i < plans->n_plans_listed && order < FAB_N_RANK_ORDERS; i++) {
            first = plans->plans[i].iteration.time_s < first_s ? order : first;
            first_s = fmin(first_s, plans->plans[i].iteration.time_s);
        }
        cr_expect(order < FAB_N_RANK_ORDERS || mean_s <= least_s * (1 + FAB_VERDICT_LITTLE),
                  "%g s, where an order of its own has %g s", mean_s, least_s);
        cr_expect(order < FAB_N_RANK_ORDERS || (first == 0 && plans->order[0] != '\0'), "the orders are told apart");
        least_s = fmin(least_s, mean_s);
        fab_plans_free(plans);
        fab_fabric_free(fabric);
        free(design);
    }
}

/* The design's job, or the default one, with sizes that run as fast as those of the search that is asked for. */
Test(plan, what_is_left_is_chosen) {
    const char *const *keys[] = {KEYS("model", "gpt-3.6b"), KEYS("zero", "3", "shard-over", "16"), KEYS(NULL)};
    for (size_t i = 0; i < 3; i++) {
        fab_design *design = design_of("clos:gpus=32", keys[i]);
        fab_fabric *fabric = fabric_of(design);
        fab_plans *plans = NULL;
        const fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1};
        cr_assert(fab_plan_is_wanted(design, "job") && !fab_plan_is_wanted(design, "pattern:ring"));
        cr_assert_eq(fab_plan_choose(&request, design, &plans, NULL), FAB_OK);
        const fab_job_spec *job = &design->jobs[0];
        cr_expect(design->n_jobs == 1 && job->plan_chosen && !fab_plan_is_wanted(design, "job"));
        cr_expect_eq(job->is_default, keys[i][0] == NULL);
        cr_expect_eq(job->tp * job->cp * job->pp * job->dp, 32);
        cr_expect(plans->is_proven);
        cr_expect(plans->plans[0].memory_bytes <= 0.9 * plans->capacity_bytes);
        cr_expect(i != 1 || job->zero == FAB_ZERO_3);
        fab_plans_free(plans);
        fab_fabric_free(fabric);
        free(design);
    }
}

static size_t place_of(const fab_plans *plans, const fab_planned *plan) {
    FAB_FIRST(i, plans->n_plans_listed, fab_plan_is_same(&plans->plans[i].plan, &plan->plan));
    return i;
}

/* What takes a simulation has no place behind the best, and is counted; the best is the same. */
Test(plan, places_behind_the_best) {
    uint64_t n_unlisted = 0;
    for (int layers = 9; layers < 15; layers++) {
        char text[8];
        (void)snprintf(text, sizeof text, "%d", layers);
        fab_design *design = design_of("rail-spine:gpus=128,radix=16",
                                       KEYS("model", "gpt-7.5b", "layers", text, "experts", "16", "plan", "auto"));
        (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
        fab_fabric *fabric = fabric_of(design);
        fab_plans *plans[2] = {NULL};
        for (uint32_t i = 0; i < 2; i++) {
            const fab_plan_request request = {
                .design = design, .fabric = fabric, .seed = 1, .n_threads = 1, .n_best = 8, .most_simulated = i};
            cr_assert_eq(fab_plan_search(&request, &plans[i], NULL), FAB_OK);
            cr_expect(plans[i]->is_proven);
        }
        const fab_plans *all = plans[0];
        const fab_plans *few = plans[1];
        size_t n_missed = 0;
        cr_expect_eq(all->n_unlisted, 0);
        cr_expect(place_of(few, &all->plans[0]) == 0 &&
                  few->plans[0].iteration.time_s == all->plans[0].iteration.time_s);
        for (size_t i = 0; i < all->n_plans_listed; i++) {
            const bool is_missed = place_of(few, &all->plans[i]) == few->n_plans_listed;
            n_missed += is_missed;
            cr_expect(!is_missed || few->unlisted_s <= all->plans[i].iteration.time_s * (1 + 1e-9));
        }
        cr_expect(n_missed <= few->n_unlisted, "%d layers: %zu missed", layers, n_missed);
        cr_expect(few->n_unlisted == 0 || few->unlisted_s >= few->plans[0].iteration.time_s * (1 - 1e-9));
        cr_expect(few->n_plans == few->n_evaluated + few->n_unfit + few->n_bounded + few->n_untimed);
        n_unlisted += few->n_unlisted;
        fab_plans_free(plans[0]);
        fab_plans_free(plans[1]);
        fab_fabric_free(fabric);
        free(design);
    }
    cr_expect(n_unlisted > 0);
}

/* A search that may route little ends with a plan of the space and a bound that is below it. */
Test(plan, short_search) {
    fab_design *design = design_of("clos:gpus=64,radix=16", KEYS("model", "gpt-7.5b"));
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
    fab_fabric *fabric = fabric_of(design);
    fab_plans *plans[2] = {NULL};
    for (size_t i = 0; i < 2; i++) {
        const fab_plan_request request = {
            .design = design, .fabric = fabric, .seed = 1, .n_threads = 1, .most_routed = i == 0 ? 64 : 0};
        cr_assert_eq(fab_plan_search(&request, &plans[i], NULL), FAB_OK);
        const fab_plans *p = plans[i];
        cr_expect_eq(p->is_proven, i == 1);
        cr_expect(p->n_plans == p->n_evaluated + p->n_unfit + p->n_bounded + p->n_untimed);
    }
    double best_s = plans[1]->plans[0].iteration.time_s;
    cr_expect(plans[0]->n_networks < plans[1]->n_networks);
    cr_expect(plans[0]->plans[0].iteration.time_s >= best_s * (1 - 1e-12));
    cr_expect(plans[0]->lower_bound_s <= best_s * (1 + 1e-9));
    fab_plans_free(plans[0]);
    fab_plans_free(plans[1]);
    fab_fabric_free(fabric);
    free(design);
}

/* What is faster in the memory that is kept free is the best plan where none is; where none is, nothing is. */
Test(plan, faster_in_memory_that_is_kept_free) {
    fab_plans *plans[2] = {NULL};
    for (size_t i = 0; i < 2; i++) {
        fab_design *design =
            design_of("clos:gpus=64,radix=16", KEYS("model", "llama3-8b", "memory-headroom", i == 0 ? "0.1" : "0"));
        (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "spray");
        fab_fabric *fabric = fabric_of(design);
        const fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1};
        cr_assert_eq(fab_plan_choose(&request, design, &plans[i], NULL), FAB_OK);
        fab_fabric_free(fabric);
        free(design);
    }
    const fab_planned *tight = plans[0]->tight;
    cr_assert(plans[0]->n_tight == 1 && plans[1]->n_tight == 0);
    cr_expect(tight->memory_bytes > plans[0]->room_bytes && tight->memory_bytes <= plans[0]->capacity_bytes);
    cr_expect(fabs(tight->iteration.time_s / plans[1]->plans[0].iteration.time_s - 1) < 1e-12);
    cr_expect(tight->slower_ratio < 0 && tight->iteration.time_s < plans[0]->plans[0].iteration.time_s);
    fab_plans_free(plans[0]);
    fab_plans_free(plans[1]);
}

/* A better plan is named where there is one. */
Test(plan, typed_sizes_are_beaten) {
    fab_design *design =
        design_of("clos:gpus=32", KEYS("model", "gpt-3.6b", "tp", "8", "recompute", "full", "batch", "512"));
    fab_fabric *fabric = fabric_of(design);
    fab_better better = {.time_s = 0};
    fab_better best = {.time_s = 0};
    const fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1};
    cr_assert_eq(fab_plan_beat(&request, &design->jobs[0], 0, 100, &better, NULL), FAB_OK);
    cr_expect(better.time_s > 0 && better.time_s < 100 && strstr(better.keys, ",batch=512") != NULL);
    cr_assert_eq(fab_plan_beat(&request, &design->jobs[0], 0, better.time_s, &best, NULL), FAB_OK);
    cr_expect(best.time_s == 0 && best.keys[0] == '\0', "the best is not beaten");
    design->jobs[0].plan_chosen = true;
    cr_assert_eq(fab_plan_beat(&request, &design->jobs[0], 0, 100, &best, NULL), FAB_OK);
    cr_expect_eq(best.time_s, 0, "a plan that was chosen is not looked at again");
    fab_fabric_free(fabric);
    free(design);
}

/* --- several jobs ------------------------------------------------------------------------------------------------- */

/* Appends a job with these keys to a design. */
static void add_job(fab_design *design, const char *id, const char *const *keys) {
    const size_t job = design->n_jobs++;
    cr_assert_eq(fab_design_default_job(&design->jobs[job], NULL), FAB_OK);
    (void)snprintf(design->jobs[job].id, sizeof design->jobs[job].id, "%s", id);
    for (size_t i = 0; keys[i] != NULL; i += 2) {
        cr_assert_eq(fab_design_set_job(design, job, keys[i], keys[i + 1], "test", NULL), FAB_OK);
    }
}

static const char *plan_text(const fab_job_spec *job, char out[192]) {
    const fab_job_plan plan = fab_job_plan_of(job);
    return fab_job_plan_text(&plan, out);
}

#define SEVERAL 5

static fab_design *several_jobs(void) {
    fab_design *design = design_of("clos:gpus=128,radix=24,taper=2", KEYS(NULL));
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "ecmp");
    add_job(design, "a", KEYS("model", "gpt-3.6b", "servers", "0,2,4,6"));
    add_job(design, "b", KEYS("model", "gpt-1.7b", "tp", "auto", "zero", "2", "servers", "1,3"));
    add_job(design, "c", KEYS("model", "gpt-1.7b", "tp", "8", "dp", "2"));
    add_job(design, "d", KEYS("model", "gpt-3.6b", "servers", "8,10,12,14", "contends", "none"));
    add_job(design, "e", KEYS("model", "gpt-1.7b", "placement", "random"));
    return design;
}

/* Each has what a search finds that knows of no other job; those that are alike are searched once; what is typed stays;
 * servers stay where they were. */
Test(plan, each_of_several_jobs_has_its_plan_alone) {
    fab_design *design[3] = {several_jobs(), several_jobs(), several_jobs()};
    fab_fabric *fabric = fabric_of(design[0]);
    fab_design *placed[2] = {calloc(1, sizeof **placed), calloc(1, sizeof **placed)};
    fab_design *alone = calloc(1, sizeof *alone);
    size_t first[SEVERAL];
    char text[2][192];
    cr_assert_eq(fab_jobs_place(design[0], fabric, placed[0], NULL), FAB_OK);
    cr_assert_eq(fab_jobs_alike(placed[0], fabric, first, NULL), FAB_OK);
    cr_expect(first[0] == 0 && first[1] == 1 && first[2] == 2 && first[3] == 0 && first[4] == 4);
    cr_assert(fab_plan_is_wanted(design[0], "job"));
    for (size_t i = 0; i < 3; i++) {
        const fab_plan_request request = {
            .design = design[i], .fabric = fabric, .seed = 1, .n_threads = i + 1, .is_of_first = i == 2};
        fab_plans *plans = NULL;
        cr_assert_eq(fab_plan_choose(&request, design[i], &plans, NULL), FAB_OK);
        cr_assert(plans != NULL && plans->gpus == 32);
        cr_expect_str_eq(fab_job_plan_text(&plans->plans[0].plan, text[0]), plan_text(&design[i]->jobs[0], text[1]));
        fab_plans_free(plans);
    }
    cr_assert_eq(fab_jobs_place(design[0], fabric, placed[1], NULL), FAB_OK);
    for (size_t job = 0; job < SEVERAL; job++) {
        const fab_job_spec *chosen = &design[0]->jobs[job];
        const fab_plan_request request = {.design = alone, .fabric = fabric, .seed = 1, .n_threads = 1};
        fab_design_copy_alone(placed[0], first[job], alone);
        cr_assert_eq(fab_plan_choose(&request, alone, NULL, NULL), FAB_OK);
        cr_expect_eq(chosen->plan_chosen, job != 2);
        cr_expect_eq(design[2]->jobs[job].plan_chosen, job == 0, "the others when the first alone is looked at");
        cr_expect(job == 2 || chosen->tp * chosen->cp * chosen->pp * chosen->dp > 0);
        cr_expect_str_eq(plan_text(job == 2 ? chosen : &alone->jobs[0], text[0]), plan_text(chosen, text[1]));
        cr_expect_str_eq(plan_text(&design[1]->jobs[job], text[0]), text[1], "job %zu by another number of threads",
                         job);
        cr_expect_str_eq(fab_design_list(placed[0], placed[0]->jobs[job].servers),
                         fab_design_list(placed[1], placed[1]->jobs[job].servers));
    }
    cr_expect(design[0]->jobs[1].zero == FAB_ZERO_2, "a value that somebody said");
    cr_expect(design[0]->jobs[2].tp == 8 && design[0]->jobs[2].plan == FAB_PLAN_DEFAULT);
    cr_expect_str_eq(design[0]->jobs[3].id, "d");
    cr_expect_str_eq(design[0]->jobs[3].contends, "none");
    free(alone);
    for (size_t i = 0; i < 3; i++) {
        free(design[i]);
        free(i < 2 ? placed[i] : NULL);
    }
    fab_fabric_free(fabric);
}

/* What does not fit is refused by its name, whichever job it is. */
Test(plan, a_job_among_others_that_does_not_fit) {
    fab_design *design = several_jobs();
    fab_fabric *fabric = fabric_of(design);
    fab_error err = {0};
    const fab_plan_request request = {.design = design, .fabric = fabric, .seed = 1, .n_threads = 1};
    (void)snprintf(design->jobs[1].model, sizeof design->jobs[1].model, "llama3-405b");
    cr_expect_eq(fab_plan_choose(&request, design, NULL, &err), FAB_ENOSOLUTION);
    cr_expect(strncmp(err.text, "job 'b': none of ", 17) == 0, "%s", err.text);
    free(design);
    fab_fabric_free(fabric);
}

/* Servers that stand to each other alike: the same steps, leaves and pods. */
Test(plan, jobs_that_are_alike) {
    static const struct {
        const char *servers, *key, *value;
        size_t first;
    } JOBS[] = {{"0-1", "batch", "64", 0},  {"2-3", "batch", "64", 0},   {"5-6", "batch", "64", 2}, /* two leaves */
                {"7-8", "batch", "64", 2},  {"10-11", "batch", "32", 4}, {"12,14", "batch", "64", 5},
                {"13,9", "batch", "64", 6}, {"4", "batch", "64", 7},     {"15", "microbatch", "1", 8}};
    fab_design *design = design_of("clos:gpus=128,radix=24,taper=2", KEYS(NULL));
    fab_fabric *fabric = fabric_of(design);
    size_t first[9];
    for (size_t i = 0; i < 9; i++) {
        char id[2] = {(char)('a' + i), '\0'};
        add_job(design, id, KEYS("model", "gpt-1.7b", "servers", JOBS[i].servers, JOBS[i].key, JOBS[i].value));
    }
    cr_assert_eq(fab_jobs_alike(design, fabric, first, NULL), FAB_OK);
    for (size_t i = 0; i < 9; i++) {
        cr_expect_eq(first[i], JOBS[i].first, "job %zu is like %zu", i, first[i]);
    }
    free(design);
    fab_fabric_free(fabric);
}
