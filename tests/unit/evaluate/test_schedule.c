/* The schedule of an iteration: spans without gaps that add up to what stages consist of, and their power, against a
 * look at every moment in turn. */
#include "fab/schedule.h"

#include "draws.h"

#include <criterion/criterion.h>
#include <math.h>

#define MOST_STAGES 6
#define MOST_CHUNKS 3
#define GPUS        8.0
#define NETWORK_W   1000.0

static const fab_gpu_watts WATTS = {.compute_w = 700, .communicate_w = 350, .idle_w = 140};

typedef struct drawn {
    fab_chunk_times chunk[MOST_STAGES * MOST_CHUNKS];
    double optimizer_s[MOST_STAGES];
    fab_pipeline p;
} drawn;

static double draw_s(void) {
    return (double)draw(1000) * 1e-3;
}

/* Some transfers and exchanges of replicas take no time, some cannot travel beside computation. */
static void draw_pipeline(drawn *out) {
    bool zero_bubble = draw(3) == 0;
    uint32_t stages = 1 + (uint32_t)draw(MOST_STAGES);
    uint32_t chunks = zero_bubble ? 1 : 1 + (uint32_t)draw(MOST_CHUNKS);
    double sends = (double)draw(2);
    double replicas = (double)draw(2);
    *out = (drawn){.p = {.order = zero_bubble ? FAB_ORDER_ZERO_BUBBLE : FAB_ORDER_1F1B,
                         .n_stages = stages,
                         .n_chunks = chunks,
                         .n_microbatches = stages * (1 + (uint32_t)draw(3)),
                         .send_overlap = (double)draw(3) / 2,
                         .replica_overlap = (double)draw(3) / 2,
                         .gathers_each_pass = draw(3) == 0,
                         .reduces_each_pass = draw(3) == 0}};
    out->p.chunk = out->chunk;
    out->p.optimizer_s = out->optimizer_s;
    for (uint32_t i = 0; i < stages * chunks; i++) {
        out->chunk[i] = (fab_chunk_times){.forward_s = draw_s(),
                                          .recompute_s = draw_s(),
                                          .backward_s = draw_s(),
                                          .weights_s = draw_s(),
                                          .forward_exchange_s = {draw_s() / 4},
                                          .backward_exchange_s = {0, draw_s() / 4},
                                          .send_forward_s = sends * draw_s(),
                                          .send_backward_s = sends * draw_s(),
                                          .gather_s = replicas * draw_s(),
                                          .reduce_s = replicas * 3 * draw_s(),
                                          .buckets = (uint32_t)draw(5)};
    }
    out->chunk[0].send_backward_s = 0;
    out->chunk[stages * chunks - 1].send_forward_s = 0;
    for (uint32_t i = 0; i < stages; i++) {
        out->optimizer_s[i] = draw_s();
    }
}

static fab_schedule *schedule_of(const fab_pipeline *p) {
    fab_schedule *s = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_schedule_new(p, &s, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_schedule_add_power(s, &WATTS, GPUS, NETWORK_W, &err), FAB_OK);
    return s;
}

/* What one GPU of a stage draws at a moment, asked of every operation. */
static double gpu_watts_at(const fab_schedule *s, uint32_t stage, double at_s) {
    double w = WATTS.idle_w;
    for (size_t i = 0; i < s->timeline.n_ops; i++) {
        const fab_op *op = &s->timeline.op[i];
        if (op->stage != stage || op->start_s > at_s || op->end_s <= at_s) {
            continue;
        }
        const fab_op_parts parts = fab_op_parts_of(&s->pipeline, op);
        double takes_s = op->end_s - op->start_s;
        if (parts.compute_s + parts.exchange_s > 0) {
            double rest_s = takes_s - parts.compute_s - parts.exchange_s;
            return (parts.compute_s * WATTS.compute_w + parts.exchange_s * WATTS.communicate_w +
                    rest_s * WATTS.idle_w) /
                   takes_s;
        }
        w = WATTS.communicate_w;
    }
    return w;
}

static double watts_at(const fab_schedule *s, double at_s) {
    double w = NETWORK_W;
    for (uint32_t stage = 0; stage < s->pipeline.n_stages; stage++) {
        w += GPUS * gpu_watts_at(s, stage, at_s);
    }
    return w;
}

static void check_power(const fab_schedule *s) {
    const double end_s = s->timeline.time_s;
    const fab_power *power = &s->power;
    double energy_j = 0;
    double peak_w = 0;
    double min_w = INFINITY;
    double step_w = fabs(s->profile[0].power_w - s->profile[s->n_points - 1].power_w);
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_power_point *point = &s->profile[i];
        double until_s = i + 1 < s->n_points ? point[1].start_s : end_s;
        double slow_w = watts_at(s, (point->start_s + until_s) / 2);
        cr_assert(fabs(point->power_w - slow_w) < 1e-6 * slow_w, "%g W, slowly %g W", point->power_w, slow_w);
        energy_j += slow_w * (until_s - point->start_s);
        peak_w = fmax(peak_w, slow_w);
        min_w = fmin(min_w, slow_w);
        step_w = i > 0 ? fmax(step_w, fabs(point->power_w - point[-1].power_w)) : step_w;
    }
    cr_assert(fabs(power->mean_w * end_s - energy_j) < 1e-6 * energy_j);
    cr_assert(fabs(power->peak_w - peak_w) < 1e-6 * peak_w && fabs(power->min_w - min_w) < 1e-6 * peak_w);
    cr_assert_eq(power->step_w, step_w);
    cr_assert(power->min_w >= power->idle_w * (1 - 1e-9) && power->mean_w <= power->peak_w);
}

/* Every stage from the start to the end, without gaps; together what the accounting of the run says. */
static void check_spans(const fab_schedule *s) {
    double end_s[MOST_STAGES] = {0};
    double compute_s[MOST_STAGES] = {0};
    double exchange_s[MOST_STAGES] = {0};
    for (size_t i = 0; i < s->n_spans; i++) {
        const fab_span *span = &s->span[i];
        cr_assert_eq(span->start_s, end_s[span->stage]);
        cr_assert_gt(span->end_s, span->start_s);
        cr_assert_leq(span->compute_ratio + span->exchange_ratio, 1 + 1e-9);
        end_s[span->stage] = span->end_s;
        compute_s[span->stage] += span->compute_ratio * (span->end_s - span->start_s);
        exchange_s[span->stage] += span->exchange_ratio * (span->end_s - span->start_s);
    }
    for (uint32_t i = 0; i < s->pipeline.n_stages; i++) {
        const fab_stage_use *use = &s->timeline.use[i];
        cr_assert(fabs(end_s[i] - s->timeline.time_s) < 1e-8);
        cr_assert(fabs(compute_s[i] - use->compute_s - s->pipeline.optimizer_s[i]) < 1e-6, "stage %u", i);
        cr_assert(fabs(exchange_s[i] - use->exchange_s) < 1e-6, "stage %u", i);
    }
}

/* Stages that are alike are all of them, and what one does by kind is what its operations are. */
static void check_stages(const fab_schedule *s) {
    uint64_t n_alike = 0;
    for (size_t i = 0; i < s->n_stages; i++) {
        const fab_schedule_stage *stage = &s->stage[i];
        double busy_s = 0;
        uint64_t count = 0;
        for (size_t k = 0; k < s->timeline.n_ops; k++) {
            const fab_op *op = &s->timeline.op[k];
            busy_s -= op->stage == stage->stage ? op->end_s - op->start_s : 0;
            count += op->stage == stage->stage;
        }
        for (size_t k = 0; k < stage->n_sums; k++) {
            busy_s += stage->sum[k].busy_s;
            count -= stage->sum[k].count;
            cr_assert_leq(stage->sum[k].last_s, s->timeline.time_s + 1e-9);
            cr_assert(k == 0 || stage->sum[k].kind > stage->sum[k - 1].kind);
        }
        cr_assert(fabs(busy_s) < 1e-6 && count == 0);
        n_alike += stage->alike;
    }
    cr_assert_eq(n_alike, s->pipeline.n_stages);
}

Test(schedule, random_pipelines) {
    for (int i = 0; i < DRAWS(400); i++) {
        drawn d;
        draw_pipeline(&d);
        fab_schedule *s = schedule_of(&d.p);
        check_spans(s);
        check_stages(s);
        check_power(s);
        fab_schedule_free(s);
    }
}

/* Of p equal stages and m microbatches without communication, each computes m of m + p - 1 parts of the time. */
Test(schedule, mean_power_of_equal_stages) {
    for (uint32_t p = 1; p <= 4; p++) {
        for (uint32_t m = 1; m <= 9; m += 4) {
            fab_chunk_times chunk[4];
            double optimizer_s[4] = {0};
            for (uint32_t i = 0; i < p; i++) {
                chunk[i] = (fab_chunk_times){.forward_s = 1, .backward_s = 2};
            }
            const fab_pipeline pipeline = {
                .n_stages = p, .n_chunks = 1, .n_microbatches = m, .chunk = chunk, .optimizer_s = optimizer_s};
            fab_schedule *s = schedule_of(&pipeline);
            double busy = (double)m / (m + p - 1);
            double mean_w = NETWORK_W + GPUS * p * (WATTS.idle_w + busy * (WATTS.compute_w - WATTS.idle_w));
            cr_assert(fabs(s->power.mean_w - mean_w) < 1e-6 * mean_w, "%u stages, %u microbatches", p, m);
            cr_assert_eq(s->n_stages, 1);
            cr_assert_eq(s->stage[0].alike, p);
            fab_schedule_free(s);
        }
    }
}

Test(schedule, too_long_is_not_kept) {
    const fab_chunk_times chunk = {.forward_s = 1};
    const double optimizer_s = 0;
    const fab_pipeline p = {.n_stages = 1,
                            .n_chunks = 1,
                            .n_microbatches = FAB_SCHEDULE_PASSES / 2 + 1,
                            .chunk = &chunk,
                            .optimizer_s = &optimizer_s};
    fab_schedule *s = NULL;
    cr_assert_eq(fab_schedule_new(&p, &s, NULL), FAB_EUNSUPPORTED);
    cr_assert_null(s);
}
