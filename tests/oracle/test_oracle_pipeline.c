/* An iteration from kernels and phases against a schedule that is written down anew, without transfers. */
#include "draws.h"
#include "iteration_rows.h"
#include "oracle_pipeline.h"

#include <criterion/criterion.h>

typedef struct drawn {
    fab_job_spec job;
    fab_job_times times;
} drawn;

/* A GPT of p x v x some layers whose logits weigh little or a lot. */
static drawn draw_job(uint64_t most_vocab) {
    uint64_t pp = 2 + draw(7);
    uint64_t v = 1 + draw(3);
    fab_model model = {.name = "custom",
                       .layers = pp * v * (1 + draw(3)),
                       .hidden = 1024 * (1 + draw(8)),
                       .heads = 16,
                       .kv_heads = 16,
                       .seq = 2048,
                       .vocab = 8 + draw(most_vocab),
                       .tied = true};
    model.ffn = 4 * model.hidden;
    uint64_t tp = 1U << draw(4);
    uint64_t dp = 1 + draw(4);
    uint64_t microbatches = pp * (2 + draw(5));
    drawn d = {.job = row_job(&model, tp, pp, dp, dp * microbatches)};
    d.job.interleave = v;
    d.times = row_times(&d.job, &model, ROW_NVLINK, ROW_NIC);
    d.times.pp = (fab_phase_time){.transfer_s = 0};
    d.job.scatter_gather = false;
    return d;
}

/* Time that the schedule takes; the last stage's tensor exchanges are those of all. */
static double simulated_s(const drawn *d, const fab_iteration *it) {
    const fab_job_spec *job = &d->job;
    double forward[16];
    double backward[16];
    fab_layer_shape shape = {.microbatch = 1,
                             .seq = job->seq,
                             .hidden = job->hidden,
                             .heads = job->heads,
                             .kv_heads = job->kv_heads,
                             .ffn = job->ffn,
                             .vocab = job->vocab,
                             .tp = job->tp,
                             .cp = 1,
                             .experts_here = 1,
                             .experts_used = 1,
                             .gradient_bytes = job->gradient_bytes,
                             .precision = FAB_BF16,
                             .recompute = FAB_RECOMPUTE_FULL};
    const fab_gpu *gpu = &job->accelerator;
    fab_kernel_time layer = fab_layer_time(&fab_compute_default, gpu, &shape);
    fab_kernel_time head = fab_head_time(&fab_compute_default, gpu, &shape);
    double v = (double)job->interleave;
    uint64_t microbatches = job->batch / job->dp;
    uint64_t stage_layers = job->layers / job->pp;
    double m = (double)microbatches;
    double exposed = it->exposed_tp_s / m;
    for (uint64_t i = 0; i < job->pp; i++) {
        double layers = (double)stage_layers;
        double logits = i + 1 == job->pp ? 1 : 0;
        forward[i] = (layers * layer.forward_s + logits * head.forward_s + exposed / 3) / v;
        backward[i] =
            (layers * (layer.backward_s + layer.recompute_s) + logits * head.backward_s + exposed * 2 / 3) / v;
    }
    oracle_pipeline pipeline = {(int)job->pp, (int)job->interleave, (int)microbatches, forward, backward};
    return oracle_pipeline_s(&pipeline) + it->exposed_dp_s + it->optimizer_s;
}

static fab_iteration timed(const drawn *d) {
    fab_iteration it;
    fab_error err = {.code = FAB_OK};
    fab_iteration_request request = {.job = &d->job, .times = &d->times};
    cr_assert_eq(row_time(&request, &it, &err), FAB_OK, "%s: %s", err.where, err.text);
    return it;
}

/* Logits that weigh nothing, or as much as several layers. */
Test(oracle_pipeline, an_iteration_takes_as_long_as_its_schedule) {
    for (int i = 0; i < 600; i++) {
        drawn d = draw_job(i % 2 == 0 ? 1 : 100000);
        fab_iteration it = timed(&d);
        double expected = simulated_s(&d, &it);
        cr_assert_gt(expected, 0);
        cr_assert_float_eq(it.time_s / expected, 1, 1e-9, "p %d v %d m %d: %.9g s, the schedule takes %.9g",
                           (int)d.job.pp, (int)d.job.interleave, (int)(d.job.batch / d.job.dp), it.time_s, expected);
    }
}
