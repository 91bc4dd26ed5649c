/* Orders of a pipeline: 1F1B and its interleaved form [Narayanan et al., Megatron-LM, SC'21, 2.2], and ZB-H1 [Qi et
 * al., Zero bubble pipeline parallelism, ICLR 2024]. */
#include "pipeline_order.h"

size_t fab_pipeline_steps(const fab_pipeline *p) {
    size_t passes = p->order == FAB_ORDER_ZERO_BUBBLE ? 3 : 2;
    return passes * p->n_chunks * p->n_microbatches;
}

/* Pass i of a stage over its chunks: microbatches in groups of n_stages, each group through chunk after chunk; of a
 * single chunk the last group may be smaller. */
static fab_step_of_stage nth_pass(const fab_pipeline *p, size_t i, bool backward) {
    size_t per_group = (size_t)p->n_stages * p->n_chunks;
    size_t group = i / per_group;
    size_t first = group * p->n_stages;
    size_t members = p->n_microbatches - first < p->n_stages ? p->n_microbatches - first : p->n_stages;
    size_t inside = i - group * per_group;
    size_t chunk = inside / members;
    return (fab_step_of_stage){
        .kind = backward ? FAB_OP_BACKWARD : FAB_OP_FORWARD,
        .chunk = (uint16_t)(backward ? p->n_chunks - 1 - chunk : chunk),
        .microbatch = (uint32_t)(first + inside % members),
    };
}

void fab_pipeline_order_1f1b(const fab_pipeline *p, fab_step_of_stage *out) {
    size_t n = (size_t)p->n_chunks * p->n_microbatches;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        size_t behind = p->n_stages - stage - 1;
        size_t warmup = p->n_chunks == 1 ? behind : 2 * behind + (size_t)(p->n_chunks - 1) * p->n_stages;
        warmup = warmup < n ? warmup : n;
        fab_step_of_stage *to = out + 2 * n * stage;
        for (size_t i = 0; i < warmup; i++) {
            *to++ = nth_pass(p, i, false);
        }
        for (size_t i = warmup; i < n; i++) {
            *to++ = nth_pass(p, i, false);
            *to++ = nth_pass(p, i - warmup, true);
        }
        for (size_t i = n - warmup; i < n; i++) {
            *to++ = nth_pass(p, i, true);
        }
    }
}

/* ZB-H1: stage s takes gradients of weights s microbatches late, so that those that remain fill the end. */
void fab_pipeline_order_zero_bubble(const fab_pipeline *p, fab_step_of_stage *out) {
    uint32_t m = p->n_microbatches;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        fab_step_of_stage *to = out + (size_t)stage * 3 * m;
        uint32_t forwards = 0;
        uint32_t weights = 0;
        for (; forwards < m && forwards < p->n_stages - stage; forwards++) {
            *to++ = (fab_step_of_stage){.kind = FAB_OP_FORWARD, .microbatch = forwards};
        }
        for (uint32_t i = 0; i < m; i++) {
            *to++ = (fab_step_of_stage){.kind = FAB_OP_BACKWARD, .microbatch = i};
            if (forwards == m || i >= stage) {
                *to++ = (fab_step_of_stage){.kind = FAB_OP_WEIGHTS, .microbatch = weights++};
            }
            if (forwards < m) {
                *to++ = (fab_step_of_stage){.kind = FAB_OP_FORWARD, .microbatch = forwards++};
            }
        }
        for (; weights < m; weights++) {
            *to++ = (fab_step_of_stage){.kind = FAB_OP_WEIGHTS, .microbatch = weights};
        }
    }
}
