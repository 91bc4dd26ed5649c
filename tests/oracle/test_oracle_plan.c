/* The search for a plan against the evaluation of every plan there is, one after the other. */
#include "draws.h"
#include "fab/analysis.h"
#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/memory.h"
#include "fab/plan_run.h"
#include "fab/replay.h"
#include "fab/rng.h"
#include "fab/sharding.h"
#include "fab/topologies.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a user types for a plan, and what the program then says. INFINITY: refused. */
static double time_of(const fab_design *given, const fab_fabric *fabric, const fab_job_plan *p, uint64_t batch) {
    static const char *const RECOMPUTES[] = {"full", "selective", "none"};
    fab_design *design = malloc(sizeof *design);
    fab_context *context = NULL;
    fab_result result = {.n_fabrics = 1};
    char text[32];
    double time_s = INFINITY;
    *design = *given;
    const struct {
        const char *key;
        uint64_t value;
    } KEYS[] = {{"tp", p->tp},
                {"cp", p->cp},
                {"pp", p->pp},
                {"dp", p->dp},
                {"ep", p->ep},
                {"interleave", p->interleave},
                {"batch", batch},
                {"microbatch", p->microbatch},
                {"zero", (uint64_t)(p->zero - FAB_ZERO_0)}};
    bool allowed = fab_design_set_job(design, 0, "recompute", RECOMPUTES[p->recompute], "test", NULL) == FAB_OK &&
                   fab_design_set_job(design, 0, "sequence-parallel", p->sequence_parallel ? "yes" : "no", "test",
                                      NULL) == FAB_OK &&
                   fab_design_set_job(design, 0, "plan", "given", "test", NULL) == FAB_OK;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        (void)snprintf(text, sizeof text, "%" PRIu64, KEYS[i].value);
        allowed = allowed && fab_design_set_job(design, 0, KEYS[i].key, text, "test", NULL) == FAB_OK;
    }
    cr_assert(allowed);
    result.fabrics = calloc(1, sizeof *result.fabrics);
    result.fabrics->counts.gpus = fab_n_gpus(fabric);
    const fab_context_request what = {
        .design = design, .fabric = fabric, .traffic = "job", .engines = design->engines, .n_engines = 1, .seed = 1};
    cr_assert_eq(fab_context_new(&what, &context, NULL), FAB_OK);
    const fab_replay replay = {.context = context, .n_seeds = 1, .n_threads = 1, .rates = true};
    if (fab_replay_run(&replay, &result, NULL) == FAB_OK && result.n_iterations > 0 &&
        result.iterations[0].memory.total_bytes <= (1 - given->jobs[0].memory_headroom) * (double)(1ULL << 30) / 1e9 *
                                                       given->jobs[0].accelerator.memory_bytes) {
        time_s = result.iterations[0].time_s;
    }
    fab_result_release(&result);
    fab_context_free(context);
    free(design);
    return time_s;
}

typedef struct brute {
    const fab_design *design;
    const fab_fabric *fabric;
    uint64_t batch, n_timed;
    double best_s;
    fab_job_plan best;
} brute;

static void try_plan(brute *b, const fab_job_plan *p) {
    double s = time_of(b->design, b->fabric, p, b->batch);
    b->n_timed += isfinite(s) && (p->tp > 1 || !p->sequence_parallel) ? 1 : 0; /* of one rank it splits nothing */
    if (s < b->best_s) {
        b->best_s = s;
        b->best = *p;
    }
}

/* Everything else of a plan whose sizes are known. A job that is refused has no time. */
static void try_sizes(brute *b, const fab_job_spec *given, fab_job_plan p, uint64_t layers) {
    const bool zero_given = (given->plan_given & 1U << FAB_PLAN_ZERO) != 0;
    for (p.microbatch = 1; p.microbatch <= 8; p.microbatch *= 2) {
        for (p.interleave = 1; p.interleave <= (p.pp > 1 ? layers / p.pp : 1); p.interleave++) {
            for (int recompute = 0; recompute < 3; recompute++) {
                for (int zero = 0; zero < (p.dp * p.cp > 1 || zero_given ? 4 : 1); zero++) {
                    p.recompute = (fab_recompute)recompute;
                    p.zero = (fab_zero)(FAB_ZERO_0 + zero);
                    bool open_sequence = (given->plan_given & 1U << FAB_PLAN_SEQUENCE) == 0;
                    bool kept = (given->plan_given & 1U << FAB_PLAN_RECOMPUTE) == 0 || given->recompute == p.recompute;
                    kept = kept && (!zero_given || given->zero == p.zero);
                    bool rounds = p.interleave == 1 || b->batch / p.dp / p.microbatch % p.pp == 0;
                    for (int split = 0; split < 2; split++) {
                        p.sequence_parallel = split == 1;
                        if (kept && rounds && b->batch % (p.dp * p.microbatch) == 0 &&
                            (open_sequence || p.sequence_parallel == given->sequence_parallel)) {
                            try_plan(b, &p);
                        }
                    }
                }
            }
        }
    }
}

static void try_all(brute *b, const fab_job_spec *given, uint64_t n, uint64_t layers, uint64_t experts) {
    fab_job_plan p = {0};
    for (p.tp = 1; p.tp <= n; p.tp++) {
        for (p.cp = 1; p.cp * p.tp <= n; p.cp++) {
            for (p.pp = 1; p.pp * p.cp * p.tp <= n && p.pp <= layers; p.pp++) {
                p.dp = n / (p.tp * p.cp * p.pp);
                bool whole = p.tp * p.cp * p.pp * p.dp == n && (given->tp == 0 || given->tp == p.tp) &&
                             (given->pp == 0 || given->pp == p.pp);
                for (p.ep = 1; whole && p.ep <= experts; p.ep++) {
                    try_sizes(b, given, p, layers);
                }
            }
        }
    }
}

static const char *const FABRICS[] = {"clos:gpus=%d,gpus-per-server=4,radix=8",
                                      "clos:gpus=%d,gpus-per-server=2,radix=8,taper=2,domain=4",
                                      "rail-only:gpus=%d,gpus-per-server=4,radix=16",
                                      "rail-spine:gpus=%d,gpus-per-server=4,radix=8,nic=50Gb/s,taper=3",
                                      "torus:gpus=%d,gpus-per-server=2,torus=2,2,radix=16",
                                      "clos:gpus=%d,gpus-per-server=1,radix=4,nic=100Gb/s",
                                      "clos:gpus=%d,gpus-per-server=2,radix=8,nic=2Gb/s", /* for experts alone */
                                      "rail-only:gpus=%d,gpus-per-server=4,radix=16,nic=4Gb/s"};
static const char *const ENGINES[] = {"ecmp", "spray", "ecmp,qp=4", "adaptive", "dmodk", "optimal"};

static void set(fab_design *design, const char *key, const char *fmt, ...) {
    char text[64];
    fab_error err = {0};
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    cr_assert_eq(fab_design_set_job(design, 0, key, text, "test", &err), FAB_OK, "%s=%s: %s", key, text, err.text);
}

/* A small model, in proportion to so little memory that much of the space does not fit. */
static void draw_job(fab_rng *rng, fab_design *design, bool has_experts, uint64_t *layers, uint64_t *experts, char *out,
                     size_t size) {
    static const char *const FLAGS[] = {"no", "yes"};
    static const char *const COLLECTIVES[] = {"ring", "ring", "tree", "auto"};
    static const char *const OVERLAPS[] = {"0", "0", "0.5", "1"};
    uint64_t heads = 2U << fab_rng_below(rng, 2);
    *layers = 2 + fab_rng_below(rng, 4);
    *experts = fab_rng_below(rng, 3) == 0 || has_experts ? 4 : 1;
    set(design, "layers", "%" PRIu64, *layers);
    set(design, "heads", "%" PRIu64, heads);
    set(design, "hidden", "%" PRIu64, heads * (256U << fab_rng_below(rng, 4)));
    set(design, "seq", "%d", 512 << fab_rng_below(rng, 3));
    set(design, "vocab", "%d", 1000 << fab_rng_below(rng, 6));
    set(design, "batch", "%d", 8 << fab_rng_below(rng, 3));
    set(design, "experts", "%" PRIu64, *experts);
    set(design, "recompute-traffic", "%s", FLAGS[fab_rng_below(rng, 2)]);
    if (fab_rng_below(rng, 3) == 0) {
        set(design, "sequence-parallel", "%s", FLAGS[fab_rng_below(rng, 2)]);
    }
    set(design, "memory-headroom", "0.%d", (int)fab_rng_below(rng, 4));
    set(design, "scatter-gather", "%s", FLAGS[fab_rng_below(rng, 2)]);
    set(design, "embedding-as-layer", "no");
    set(design, "dp-collective", "%s", COLLECTIVES[fab_rng_below(rng, 4)]);
    set(design, "dp-overlap", "%s", OVERLAPS[fab_rng_below(rng, 4)]);
    set(design, "tp-overlap", "%s", OVERLAPS[fab_rng_below(rng, 4)]);
    set(design, "pp-overlap", "%s", OVERLAPS[fab_rng_below(rng, 4)]);
    set(design, "cp-exchange", "%s", fab_rng_below(rng, 2) == 0 ? "ring" : "all-gather");
    set(design, "shard-exchange", "%s", fab_rng_below(rng, 2) == 0 ? "iteration" : "microbatch");
    set(design, "order", "%s", fab_rng_below(rng, 3) == 0 ? "tp-pp-cp-dp" : "tp-cp-pp-dp");
    set(design, "memory-check", "on");
    set(design, "plan", "auto");
    if (fab_rng_below(rng, 3) == 0) {
        set(design, "recompute", "selective");
    }
    if (fab_rng_below(rng, 3) == 0) {
        set(design, "zero", "%d", (int)fab_rng_below(rng, 3));
    }
    if (fab_rng_below(rng, 4) == 0) {
        set(design, "tp", "%d", 1 + (int)fab_rng_below(rng, 2));
    }
    /* from plenty to almost nothing */
    design->jobs[0].accelerator.memory_bytes *= pow(10, -3.0 * (double)fab_rng_below(rng, 1000) / 1000);
    if (has_experts) {
        set(design, "expert-exchange", "%s", fab_rng_below(rng, 2) == 0 ? "direct" : "hierarchical");
        set(design, "expert-groups", "%d", 1 + (int)fab_rng_below(rng, 3));
    }
    const fab_job_spec *s = &design->jobs[0];
    (void)snprintf(out, size, "layers=%" PRIu64 ",heads=%" PRIu64 ",hidden=%" PRIu64 ",experts=%" PRIu64, s->layers,
                   s->heads, s->hidden, s->experts);
}

static void check(uint64_t seed, bool has_experts, size_t *n_found) {
    fab_rng rng = fab_rng_make(seed, 0);
    char text[160];
    char job[160] = "";
    fab_design *design = malloc(sizeof *design);
    fab_fabric *fabric = NULL;
    fab_plans *plans = NULL;
    fab_error err = {0};
    uint64_t layers = 0;
    uint64_t experts = 0;
    (void)snprintf(text, sizeof text, FABRICS[fab_rng_below(&rng, has_experts ? 8 : 6)],
                   4 << fab_rng_below(&rng, 2)); // NOLINT
    if (fab_design_read(text, NULL, 0, design, NULL) != FAB_OK ||
        fab_topology_build(&design->fabric, &fabric, NULL, NULL) != FAB_OK) {
        free(design);
        return;
    }
    (void)snprintf(design->engines[0].text, sizeof design->engines[0].text, "%s", ENGINES[fab_rng_below(&rng, 6)]);
    design->n_engines = 1;
    draw_job(&rng, design, has_experts, &layers, &experts, job, sizeof job);
    brute b = {.design = design, .fabric = fabric, .batch = design->jobs[0].batch, .best_s = INFINITY};
    try_all(&b, &design->jobs[0], fab_n_gpus(fabric), layers, experts);
    const fab_plan_request request = {.design = design,
                                      .fabric = fabric,
                                      .seed = 1,
                                      .n_threads = 1,
                                      .n_best = 2,
                                      .wants_front = true,
                                      .most_simulated = seed % 2}; /* 1: only what may be the best is simulated */
    fab_status status = fab_plan_search(&request, &plans, &err);
    if (status != FAB_OK) {
        cr_assert(!isfinite(b.best_s), "seed %" PRIu64 ": %s %s %s: a plan of %.9g s is there, and %s: '%s'", seed,
                  text, design->engines[0].text, job, b.best_s, err.where, err.text);
        cr_assert_neq(status, FAB_EINTERNAL, "seed %" PRIu64 ": %s", seed, err.text);
    } else {
        char mine[192];
        char theirs[192];
        double s = plans->plans[0].iteration.time_s;
        cr_assert(fabs(s - b.best_s) <= 1e-9 * b.best_s,
                  "seed %" PRIu64 ": %s %s %s: found %.17g s (%s), there is %.17g s (%s)", seed, text,
                  design->engines[0].text, job, s, fab_job_plan_text(&plans->plans[0].plan, mine), b.best_s,
                  fab_job_plan_text(&b.best, theirs));
        cr_assert_eq(plans->n_plans, plans->n_unfit + plans->n_bounded + plans->n_evaluated + plans->n_untimed);
        cr_assert_eq(plans->n_plans - plans->n_unfit >= b.n_timed, true);
        cr_assert(plans->lower_bound_s >= s * (1 - 1e-9));
        for (size_t i = 1; i < plans->n_front; i++) {
            cr_assert(plans->front[i].memory_bytes <= 0.7 * plans->front[i - 1].memory_bytes * (1 + 1e-12));
            cr_assert(plans->front[i].iteration.time_s >= plans->front[i - 1].iteration.time_s * (1 - 1e-9));
        }
        (*n_found)++;
    }
    fab_plans_free(plans);
    fab_fabric_free(fabric);
    free(design);
}

Test(plan, best_of_every_plan_there_is, .timeout = 600) {
    const uint64_t n = DRAWS(60);
    size_t n_found = 0;
    for (uint64_t seed = 1; seed <= n; seed++) {
        check(seed, false, &n_found);
    }
    /* A reduction after every microbatch, the last of which no stage waits for. */
    check(523, false, &n_found);
    cr_assert(n_found >= n / 3, "only %zu of %" PRIu64 " found a plan", n_found, n);
}

/* Their exchanges are routed apart, after the rest. */
Test(plan, best_of_mixtures_of_experts, .timeout = 600) {
    const uint64_t n = DRAWS(48);
    size_t n_found = 0;
    for (uint64_t seed = 1001; seed <= 1000 + n; seed++) {
        check(seed, true, &n_found);
    }
    cr_assert(n_found >= n / 3, "only %zu of %" PRIu64 " found a plan", n_found, n);
}
