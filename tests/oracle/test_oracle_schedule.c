/* Pipelines: published closed forms, and random ones against the longest path of their graph. */
#include "fab/memory.h"
#include "fab/pipeline.h"
#include "fab/rng.h"
#include "oracle_schedule.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MOST_STAGES 8
#define MOST_CHUNKS 4

typedef struct drawn {
    fab_chunk_times chunk[MOST_STAGES * MOST_CHUNKS];
    double optimizer_s[MOST_STAGES];
    fab_paces paces;
    fab_pipeline p;
} drawn;

static double draw_s(fab_rng *rng) {
    return (double)fab_rng_below(rng, 1000) * 1e-3;
}

/* None, all, or a part. */
static double draw_overlap(fab_rng *rng) {
    uint64_t which = fab_rng_below(rng, 3);
    return which < 2 ? (double)which : draw_s(rng);
}

static void draw(uint64_t seed, drawn *out) {
    fab_rng rng = fab_rng_make(seed, 1);
    bool zero_bubble = fab_rng_below(&rng, 3) == 0;
    uint32_t stages = 1 + (uint32_t)fab_rng_below(&rng, MOST_STAGES);
    uint32_t chunks = zero_bubble ? 1 : 1 + (uint32_t)fab_rng_below(&rng, MOST_CHUNKS);
    uint32_t microbatches = 1 + (uint32_t)fab_rng_below(&rng, 6);
    bool sends = fab_rng_below(&rng, 2) == 0;
    bool replicas = fab_rng_below(&rng, 2) == 0;
    *out = (drawn){.p = {.order = zero_bubble ? FAB_ORDER_ZERO_BUBBLE : FAB_ORDER_1F1B,
                         .n_stages = stages,
                         .n_chunks = chunks,
                         .n_microbatches = chunks > 1 ? microbatches * stages : microbatches * 2,
                         .send_overlap = draw_overlap(&rng),
                         .replica_overlap = draw_overlap(&rng),
                         .gathers_each_pass = fab_rng_below(&rng, 3) == 0,
                         .reduces_each_pass = fab_rng_below(&rng, 3) == 0}};
    out->p.chunk = out->chunk;
    out->p.optimizer_s = out->optimizer_s;
    for (uint32_t i = 0; i < stages * chunks; i++) {
        out->chunk[i] = (fab_chunk_times){.forward_s = draw_s(&rng),
                                          .recompute_s = draw_s(&rng),
                                          .backward_s = draw_s(&rng),
                                          .weights_s = draw_s(&rng),
                                          .forward_exchange_s = {draw_s(&rng) / 4, 0, draw_s(&rng) / 4},
                                          .backward_exchange_s = {draw_s(&rng) / 4, draw_s(&rng) / 4},
                                          .send_forward_s = sends ? draw_s(&rng) : 0,
                                          .send_backward_s = sends ? draw_s(&rng) : 0,
                                          .gather_s = replicas ? draw_s(&rng) : 0,
                                          .reduce_s = replicas ? 3 * draw_s(&rng) : 0,
                                          .across_s = replicas && seed % 3 == 0 ? draw_s(&rng) : 0,
                                          .buckets = (uint32_t)fab_rng_below(&rng, 5)};
    }
    for (uint32_t i = 0; i < stages * chunks && seed % 2 == 0; i++) {
        fab_chunk_times *t = &out->chunk[i];
        t->send_latency_s = draw_s(&rng) * fmin(t->send_forward_s, t->send_backward_s);
        t->gather_latency_s = draw_s(&rng) * t->gather_s;
        t->reduce_latency_s = draw_s(&rng) * t->reduce_s;
    }
    out->chunk[0].send_backward_s = 0;
    out->chunk[stages * chunks - 1].send_forward_s = 0;
    for (uint32_t i = 0; i < stages; i++) {
        out->optimizer_s[i] = draw_s(&rng);
    }
}

static double sum_of(const fab_stage_use *use) {
    return use->compute_s + use->exchange_s + use->bubble_s + use->send_s + use->replica_s + use->optimizer_s;
}

/* Parameters and gradients of a stage travel one after the other, however much of it hides. */
static double replicas_of(const fab_pipeline *p, uint32_t stage) {
    double sum_s = 0;
    for (uint32_t c = 0; c < p->n_chunks; c++) {
        const fab_chunk_times *t = &p->chunk[stage * p->n_chunks + c];
        double passes = p->n_microbatches;
        sum_s += t->gather_s * (p->gathers_each_pass ? 2 * passes : 1) +
                 t->reduce_s * (p->reduces_each_pass ? passes : 1) + t->across_s;
    }
    return sum_s;
}

Test(oracle_schedule, random_pipelines) {
    for (uint64_t seed = 0; seed < 2000; seed++) {
        drawn d;
        fab_timeline t;
        fab_error err = {0};
        draw(seed, &d);
        cr_assert_eq(fab_pipeline_run(&d.p, FAB_PIPELINE_OPS, &t, &err), FAB_OK, "seed %d: %s", (int)seed, err.text);
        double slow_s = oracle_schedule_s(&d.p);
        cr_assert(fabs(t.time_s - slow_s) <= 1e-9 * slow_s, "seed %d: %.12g s, the oracle %.12g s", (int)seed, t.time_s,
                  slow_s);
        cr_assert_leq(fab_pipeline_lower_bound_s(&d.p), t.time_s * (1 + 1e-12), "seed %d", (int)seed);
        for (uint32_t stage = 0; stage < d.p.n_stages; stage++) {
            double replicas_s = replicas_of(&d.p, stage);
            cr_assert_leq(replicas_s, t.time_s * (1 + 1e-12), "seed %d: what travels between replicas", (int)seed);
        }
        double last_s = 0;
        double before_s = 0;
        for (size_t i = 0; i < t.n_ops; i++) {
            cr_assert(t.op[i].start_s >= before_s && t.op[i].end_s > t.op[i].start_s, "seed %d: operation %zu",
                      (int)seed, i);
            before_s = t.op[i].start_s;
            last_s = fmax(last_s, t.op[i].end_s);
        }
        cr_assert(fabs(last_s - t.time_s) <= 1e-12, "seed %d: the last operation ends at %.12g of %.12g s", (int)seed,
                  last_s, t.time_s);
        for (uint32_t stage = 0; stage < d.p.n_stages; stage++) {
            const fab_stage_use *use = &t.use[stage];
            cr_assert(fabs(sum_of(use) - t.time_s) <= 1e-9, "seed %d: the parts of stage %u are %.12g of %.12g s",
                      (int)seed, stage, sum_of(use), t.time_s);
            cr_assert(use->send_s >= -1e-12 && use->replica_s >= -1e-12, "seed %d: communication saves time",
                      (int)seed);
        }
        fab_timeline_release(&t);
    }
}

static double run_s(const fab_pipeline *p, fab_timeline *t, uint64_t seed) {
    fab_error err = {0};
    cr_assert_eq(fab_pipeline_run(p, FAB_PIPELINE_OPS, t, &err), FAB_OK, "seed %d: %s", (int)seed, err.text);
    return t->time_s;
}

/* Some sets go on as if alone; others as they like. */
static void draw_paces(uint64_t seed, drawn *out) {
    fab_rng rng = fab_rng_make(seed, 2);
    uint64_t few = 1 + fab_rng_below(&rng, 3);
    for (unsigned set = 0; set < FAB_TRAVEL_SETS; set++) {
        for (unsigned k = 0; k < FAB_TRAVEL_N; k++) {
            bool alone = set == FAB_TRAVEL_BIT(k) || (set & FAB_TRAVEL_BIT(k)) == 0;
            out->paces.slowdown[set][k] = alone || fab_rng_below(&rng, few) > 0 ? 0 : 1 + draw_s(&rng);
        }
    }
    for (unsigned k = 0; k < FAB_N_EXCHANGES; k++) {
        out->p.exchange_ratio[k] = draw_s(&rng);
    }
    out->p.paces = &out->paces;
}

/* Exchanges, sends and replicas that slow each other down: as the oracle says, never faster than beside each other, and
 * what each stage does still adds up. */
Test(oracle_schedule, shared_network) {
    int n_slower = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        drawn d;
        fab_timeline alone;
        fab_timeline shared;
        draw(seed, &d);
        if (d.p.n_stages > 4 || d.p.n_chunks * d.p.n_microbatches > 16) {
            continue;
        }
        double alone_s = run_s(&d.p, &alone, seed);
        double slow_s = oracle_shared_schedule_s(&d.p);
        cr_assert(fabs(alone_s - slow_s) <= 1e-9 * slow_s, "seed %d: %.12g s, the oracle %.12g s", (int)seed, alone_s,
                  slow_s);
        draw_paces(seed, &d);
        double shared_s = run_s(&d.p, &shared, seed);
        slow_s = oracle_shared_schedule_s(&d.p);
        cr_assert(fabs(shared_s - slow_s) <= 1e-9 * slow_s, "seed %d: %.12g s, the oracle %.12g s", (int)seed, shared_s,
                  slow_s);
        cr_assert_geq(shared_s, alone_s * (1 - 1e-12), "seed %d", (int)seed);
        n_slower += shared_s > alone_s * (1 + 1e-9) ? 1 : 0;
        for (uint32_t stage = 0; stage < d.p.n_stages; stage++) {
            cr_assert(fabs(sum_of(&shared.use[stage]) - shared_s) <= 1e-9, "seed %d", (int)seed);
            cr_assert(shared.use[stage].send_s >= -1e-12 && shared.use[stage].replica_s >= -1e-12, "seed %d",
                      (int)seed);
        }
        fab_timeline_release(&alone);
        fab_timeline_release(&shared);
    }
    cr_assert_gt(n_slower, 40, "only %d pipelines are slower for sharing", n_slower);
}

/* The first stage sends while the second gathers its parameters: the shorter one takes `slow` times as long, the longer
   one catches up with what it lost. At least the longer, at most one after the other. */
Test(oracle_schedule, two_transfers_together) {
    const unsigned set = FAB_TRAVEL_BIT(FAB_TRAVEL_SEND) | FAB_TRAVEL_BIT(FAB_TRAVEL_GATHER);
    fab_rng rng = fab_rng_make(7, 1);
    for (int i = 0; i < 1000; i++) {
        double slow = 1 + draw_s(&rng);
        double send_s = draw_s(&rng);
        double gather_s = draw_s(&rng);
        const fab_chunk_times chunk[2] = {{.send_forward_s = send_s}, {.gather_s = gather_s}};
        const double optimizer_s[2] = {0};
        fab_paces paces = {{{0}}};
        paces.slowdown[set][FAB_TRAVEL_SEND] = paces.slowdown[set][FAB_TRAVEL_GATHER] = slow;
        fab_pipeline p = {.n_stages = 2,
                          .n_chunks = 1,
                          .n_microbatches = 1,
                          .chunk = chunk,
                          .optimizer_s = optimizer_s,
                          .send_overlap = 1,
                          .replica_overlap = 1,
                          .paces = &paces};
        fab_timeline t;
        double found_s = run_s(&p, &t, (uint64_t)i);
        double expected_s = fmax(send_s, gather_s) + (slow - 1) * fmin(send_s, gather_s);
        cr_assert(fabs(found_s - expected_s) <= 1e-12, "%d: %.12g s, not %.12g", i, found_s, expected_s);
        cr_assert(found_s >= fmax(send_s, gather_s) - 1e-12 && found_s <= send_s + gather_s + 1e-12, "%d", i);
        fab_timeline_release(&t);
        p.paces = NULL; /* nothing in common: to the last bit as long as the longer one */
        cr_assert_eq(run_s(&p, &t, (uint64_t)i), fmax(send_s, gather_s));
        fab_timeline_release(&t);
    }
}

/* All stages alike, nothing but computation: F = 1, B = backward, W = weights. */
static double bubble_s(fab_pipeline_order order, uint32_t stages, uint32_t chunks, uint32_t microbatches,
                       double backward, double weights) {
    fab_chunk_times chunk[64];
    double optimizer_s[64] = {0};
    fab_timeline t;
    fab_error err = {0};
    for (uint32_t i = 0; i < stages * chunks; i++) {
        chunk[i] = (fab_chunk_times){
            .forward_s = 1.0 / chunks, .backward_s = backward / chunks, .weights_s = weights / chunks};
    }
    fab_pipeline p = {.order = order,
                      .n_stages = stages,
                      .n_chunks = chunks,
                      .n_microbatches = microbatches,
                      .chunk = chunk,
                      .optimizer_s = optimizer_s};
    cr_assert_eq(fab_pipeline_run(&p, FAB_PIPELINE_USE, &t, &err), FAB_OK, "%s", err.text);
    double found = t.use[t.busiest].bubble_s;
    double bound_s = fab_pipeline_lower_bound_s(&p);
    cr_expect(order != FAB_ORDER_1F1B || fabs(bound_s / t.time_s - 1) < 1e-12, "bound %.12g s of %.12g", bound_s,
              t.time_s);
    fab_timeline_release(&t);
    return found;
}

/* Megatron-LM, SC'21, 2.2: bubble over ideal time is (p - 1) / (v m). */
Test(oracle_schedule, bubble_of_equal_stages) {
    for (uint32_t p = 1; p <= 8; p++) {
        for (uint32_t v = 1; v <= 4; v++) {
            double ideal_s = 4.0 * p * 3.5;
            double found = bubble_s(FAB_ORDER_1F1B, p, v, 4 * p, 1.5, 1) / ideal_s;
            cr_assert(fabs(found - (p - 1) / (v * 4.0 * p)) < 1e-12, "p %u v %u: %.12g", p, v, found);
        }
    }
}

/* Qi et al., ICLR 2024, Table 2: ZB-H1 has (p - 1)(F + B - W). */
Test(oracle_schedule, zero_bubble_of_equal_stages) {
    for (uint32_t p = 2; p <= 16; p++) {
        double found = bubble_s(FAB_ORDER_ZERO_BUBBLE, p, 1, 4 * p, 1.3, 0.8);
        cr_assert(fabs(found - (p - 1) * (1 + 1.3 - 0.8)) < 1e-9, "p %u: %.12g", p, found);
    }
}

Test(oracle_schedule, refuses_what_no_schedule_has) {
    fab_chunk_times chunk[8] = {{.forward_s = 1}};
    double optimizer_s[4] = {0};
    fab_timeline t;
    fab_pipeline good = {.n_stages = 4, .n_chunks = 2, .n_microbatches = 8, .chunk = chunk, .optimizer_s = optimizer_s};
    /* One million microbatches: 8 bytes for a step and for its input. */
    fab_pipeline large = {.n_stages = 4,
                          .n_chunks = 1,
                          .n_microbatches = 1000000,
                          .chunk = chunk,
                          .optimizer_s = optimizer_s,
                          .max_bytes = (uint64_t)FAB_PROGRAM_BYTES + 127999999};
    fab_error too_large = {0};
    cr_assert_eq(fab_pipeline_run(&large, FAB_PIPELINE_TIME, &t, &too_large), FAB_ELIMIT);
    cr_assert_not_null(strstr(too_large.text, "the schedule of 4 stages, 1 chunks and 1000000 microbatches"), "%s",
                       too_large.text);
    large.max_bytes++;
    cr_assert_eq(fab_pipeline_run(&large, FAB_PIPELINE_TIME, &t, &too_large), FAB_OK, "%s", too_large.text);
    chunk[3].forward_s = INFINITY;
    fab_error err = {0};
    cr_assert_eq(fab_pipeline_run(&good, FAB_PIPELINE_TIME, &t, &err), FAB_EINPUT);
    cr_assert_str_eq(err.text, "a pipeline takes inf s");
}
