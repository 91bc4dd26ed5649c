/* Memory of a job against a count layer by layer, matrix by matrix, tensor by tensor, over a played schedule. */
#include "draws.h"
#include "fab/job_memory.h"
#include "fab/sharding.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static bool coin(void) {
    return draw(2) == 1;
}

typedef struct drawn {
    fab_job_spec job;
    fab_model model;
    uint64_t microbatches;
} drawn;

static drawn draw_job(void) {
    drawn d = {.model = {.name = "drawn",
                         .layers = 1 + draw(40),
                         .heads = 8U << draw(4),
                         .ffn = 128 * (1 + draw(200)),
                         .seq = 256 * (1 + draw(32)),
                         .vocab = 1000 + draw(100000),
                         .gated = coin(),
                         .tied = coin()}};
    fab_model *m = &d.model;
    fab_job_spec *j = &d.job;
    m->kv_heads = m->heads >> draw(4);
    m->hidden = m->heads * 64;
    j->tp = 1U << draw(4);
    j->pp = 1 + draw(m->layers < 8 ? m->layers : 8);
    j->interleave = j->pp > 1 ? 1 + draw(m->layers / j->pp) : 1;
    j->cp = 1U << draw(2);
    j->ep = 1;
    if (coin()) {
        m->experts = 8U << draw(4);
        m->top_k = 1 + draw(4);
        m->expert_ffn = 128 * (1 + draw(30));
        m->shared_experts = draw(3);
        m->dense_layers = draw(m->layers);
        j->ep = 1U << draw(4);
    }
    j->dp = j->ep * (1 + draw(6));
    j->microbatch = 1 + draw(4);
    d.microbatches = j->interleave > 1 ? j->pp * (1 + draw(5)) : 1 + draw(40);
    j->batch = j->dp * j->microbatch * d.microbatches;
    j->layers = m->layers;
    j->seq = m->seq;
    j->zero = (fab_zero)(FAB_ZERO_0 + draw(4));
    uint64_t copies = j->dp * j->cp / j->ep;
    j->shard_group = copies % 2 == 0 && coin() ? copies / 2 * j->ep : 0;
    j->shard_exchange = (fab_shard_exchange)draw(3);
    j->offload = (fab_offload)draw(2);
    j->lora_rank = coin() ? 0 : 1 + draw(64);
    j->lora_matrices = (fab_lora)draw(3);
    j->recompute = (fab_recompute)draw(3);
    j->attention = coin() ? FAB_ATTENTION_FLASH : FAB_ATTENTION_STANDARD;
    j->sequence_parallel = coin();
    j->activation_bytes = 1 + draw(4);
    j->gradient_bytes = 2 + 2 * draw(2);
    j->parameter_bytes = 1 + draw(4);
    j->optimizer_bytes = 2 + draw(16);
    (void)snprintf(j->gpu, sizeof j->gpu, "h100-80gb");
    return d;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* Of something that is gathered at once: a layer, the embedding, the output. */
typedef struct part {
    long double common, of_experts;                   /* on one GPU */
    long double adapters_common, adapters_of_experts; /* the same */
} part;

static bool has_experts(const fab_model *m, uint64_t layer) {
    return m->experts > 1 && layer >= m->dense_layers;
}

static void add_matrix(const drawn *d, uint64_t rows, uint64_t columns, double copies, bool expert, bool adapted,
                       part *p) {
    long double share = copies / (long double)d->job.tp / (expert ? (long double)d->job.ep : 1);
    long double all = (long double)rows * (long double)columns * share;
    long double adapter = adapted ? (long double)(rows + columns) * (long double)d->job.lora_rank * share : 0;
    *(expert ? &p->of_experts : &p->common) += all;
    *(expert ? &p->adapters_of_experts : &p->adapters_common) += adapter;
}

static void add_vector(const drawn *d, uint64_t n, double copies, bool expert, part *p) {
    long double share = copies / (long double)d->job.tp / (expert ? (long double)d->job.ep : 1);
    *(expert ? &p->of_experts : &p->common) += (long double)n * share;
}

static void add_feed_forward(const drawn *d, uint64_t ffn, double copies, bool expert, part *p) {
    const fab_model *m = &d->model;
    bool adapted = d->job.lora_matrices == FAB_LORA_ALL;
    for (int i = 0; i < (m->gated ? 3 : 2); i++) {
        add_matrix(d, m->hidden, ffn, copies, expert, adapted, p);
    }
    if (!m->gated) {
        add_vector(d, ffn + m->hidden, copies, expert, p);
    }
}

static part layer_part(const drawn *d, uint64_t layer) {
    const fab_model *m = &d->model;
    part p = {0};
    uint64_t kv = m->hidden / m->heads * m->kv_heads;
    bool more = d->job.lora_matrices != FAB_LORA_QUERY_VALUE;
    add_matrix(d, m->hidden, m->hidden, 1, false, true, &p); /* query */
    add_matrix(d, m->hidden, kv, 1, false, more, &p);        /* key */
    add_matrix(d, m->hidden, kv, 1, false, true, &p);        /* value */
    add_matrix(d, m->hidden, m->hidden, 1, false, more, &p); /* output */
    add_vector(d, m->hidden, m->gated ? 2 : 4, false, &p);   /* two norms */
    if (!m->gated) {
        add_vector(d, 2 * m->hidden + 2 * kv, 1, false, &p);
    }
    if (has_experts(m, layer)) {
        add_vector(d, m->hidden * m->experts, 1, false, &p);
        add_feed_forward(d, m->expert_ffn, (double)m->shared_experts, false, &p);
        add_feed_forward(d, m->expert_ffn, (double)m->experts, true, &p);
    } else {
        add_feed_forward(d, m->ffn, 1, false, &p);
    }
    return p;
}

/* --- activations -------------------------------------------------------------------------------------------------- */

/* Bytes of one layer for one microbatch: tensor by tensor, per token of this context rank. */
static long double layer_kept(const drawn *d, bool experts, bool scores) {
    const fab_model *m = &d->model;
    const fab_job_spec *j = &d->job;
    long double tokens = (long double)j->microbatch * j->seq / j->cp;
    long double e = j->activation_bytes;
    long double h = m->hidden;
    long double t = j->tp;
    long double s = j->sequence_parallel ? t : 1;
    long double kv = h / m->heads * m->kv_heads;
    long double kept = 0;
    kept += 2 * e * h / s;         /* inputs of both norms */
    kept += 2 * e * h / s;         /* what they give: inputs of query, key, value and of the feed-forward part */
    kept += e * h / t + e * h / t; /* queries; output of attention */
    kept += 2 * e * kv / t;        /* keys, values */
    kept += m->gated ? 0 : 2 * e / 2 * h / s; /* two dropout masks, half an element each */
    long double width = experts ? (long double)(m->top_k + m->shared_experts) * m->expert_ffn : m->ffn;
    kept += 2 * e * width / t; /* gate and up, or both sides of GeLU */
    kept += experts ? e * h * m->top_k / t : 0;
    /* a score is kept before and after softmax and dropout, with a mask: 5 bytes of 2-byte elements */
    kept += scores ? 2.5L * e * m->heads * j->seq / t : 0;
    return kept * tokens;
}

/* Most chunks that a stage holds at once: its forward and backward passes in the order of 1F1B. */
static uint64_t most_chunks(const drawn *d, uint64_t stage) {
    const fab_job_spec *j = &d->job;
    uint64_t total = d->microbatches * j->interleave;
    uint64_t warm_up = j->pp - stage - 1;
    if (j->interleave > 1) {
        warm_up = 2 * (j->pp - stage - 1) + (j->interleave - 1) * j->pp;
        bool in_a_row = j->shard_exchange == FAB_SHARD_EXCHANGE_ITERATION && j->zero >= FAB_ZERO_2;
        warm_up = in_a_row ? total : warm_up;
    }
    uint64_t forward = 0;
    uint64_t backward = 0;
    uint64_t most = 0;
    while (backward < total) {
        bool is_forward = forward < total && (forward < warm_up || forward - backward <= warm_up);
        forward += is_forward;
        backward += !is_forward;
        most = forward - backward > most ? forward - backward : most;
    }
    return most;
}

/* --- a stage ------------------------------------------------------------------------------------------------------ */

typedef struct account {
    long double weights, gradients, optimizer, activations, host;
} account;

static long double larger(long double a, long double b) {
    return a > b ? a : b;
}

/* Adds a part to the sum, and this copy's share of it; *unit is the largest so far. */
static void add_part(const drawn *d, part p, part *sum, long double *shared, long double *unit) {
    const fab_job_spec *j = &d->job;
    bool divided = j->zero != FAB_ZERO_0;
    long double copies = !divided ? 1 : j->shard_group > 0 ? j->shard_group : j->dp * j->cp;
    long double copies_of_expert = divided ? copies / j->ep : 1;
    sum->common += p.common;
    sum->of_experts += p.of_experts;
    sum->adapters_common += p.adapters_common;
    sum->adapters_of_experts += p.adapters_of_experts;
    shared[0] += p.common / copies + p.of_experts / copies_of_expert;
    shared[1] += p.adapters_common / copies + p.adapters_of_experts / copies_of_expert;
    *unit = larger(*unit, p.common + p.of_experts);
}

static long double in_full(const drawn *d, long double unit, long double all) {
    long double held = 2 * unit;
    if (d->job.shard_exchange == FAB_SHARD_EXCHANGE_ITERATION) {
        held = larger(held, 2 * all / d->job.interleave);
    }
    return held < all ? held : all;
}

static account count_stage(const drawn *d, uint64_t first, uint64_t n, uint64_t stage) {
    const fab_model *m = &d->model;
    const fab_job_spec *j = &d->job;
    account a = {0};
    part sum = {0};
    long double shared[2] = {0, 0};
    long double unit = 0;
    long double kept = 0;
    long double largest = 0;
    bool scores = j->attention == FAB_ATTENTION_STANDARD;
    for (uint64_t layer = first; layer < first + n; layer++) {
        bool experts = has_experts(m, layer);
        add_part(d, layer_part(d, layer), &sum, shared, &unit);
        if (j->recompute == FAB_RECOMPUTE_FULL) {
            long double input = (long double)j->activation_bytes * m->hidden * j->microbatch * j->seq / j->cp;
            kept += j->sequence_parallel ? input / j->tp : input;
            bool any = m->experts > 1 && first + n > m->dense_layers; /* the stage has some */
            largest = layer_kept(d, any, scores);
        } else {
            kept += layer_kept(d, experts, scores && j->recompute == FAB_RECOMPUTE_NONE);
        }
    }
    part input = {.common = (long double)m->hidden * (m->vocab + (m->gated ? 0 : m->seq)) / j->tp};
    part output = {.common = (m->gated ? (long double)m->hidden : 0) / j->tp};
    bool has_table = !m->tied || stage > 0;
    output.common += has_table ? (long double)m->hidden * m->vocab / j->tp : 0;
    if (stage == 0) {
        add_part(d, input, &sum, shared, &unit);
    }
    if (stage + 1 == j->pp) {
        add_part(d, output, &sum, shared, &unit);
    }
    bool lora = j->lora_rank > 0;
    long double adapters = sum.adapters_common + sum.adapters_of_experts;
    long double all = sum.common + sum.of_experts;
    long double trained = lora ? adapters : all;
    long double trained_shard = lora ? shared[1] : shared[0];
    long double weights = all + adapters;
    if (j->zero == FAB_ZERO_3) {
        weights = shared[0] + shared[1] + in_full(d, unit, all);
    }
    long double gradients = trained;
    long double away = 0;
    if (j->zero >= FAB_ZERO_2) {
        gradients = lora ? in_full(d, adapters / n, adapters) : in_full(d, unit, all);
        *(j->offload == FAB_OFFLOAD_OPTIMIZER ? &away : &gradients) += trained_shard;
    }
    a.weights = weights * j->parameter_bytes;
    a.gradients = gradients * j->gradient_bytes;
    long double states = trained_shard * j->optimizer_bytes;
    a.optimizer = j->offload == FAB_OFFLOAD_OPTIMIZER ? 0 : states;
    a.host = j->offload == FAB_OFFLOAD_OPTIMIZER ? states + away * j->gradient_bytes : 0;
    a.activations = kept * most_chunks(d, stage) / j->interleave + largest;
    if (stage + 1 == j->pp) {
        a.activations += 4.0L * j->microbatch * j->seq / j->cp * (m->hidden + m->vocab) / j->tp;
    }
    return a;
}

/* The last stages take one layer more as long as any is left, but for the outermost, which come last. */
static void spread_layers(const drawn *d, uint64_t *n) {
    uint64_t p = d->job.pp;
    uint64_t left = d->model.layers % p;
    uint64_t small = p - left;
    for (uint64_t i = 0; i < p; i++) {
        n[i] = d->model.layers / p;
    }
    for (uint64_t i = (small + 1) / 2; left > 0; i++, left--) {
        n[i]++;
    }
}

static bool near(long double a, double b) {
    return fabsl(a - (long double)b) <= 1e-9L * fmaxl(1, fabsl(a));
}

Test(oracle_memory, of_drawn_jobs) {
    for (int round = 0; round < 4000; round++) {
        drawn d = draw_job();
        uint64_t layers[8];
        fab_job_memory got;
        long double most = -1;
        account counted = {0};
        uint64_t first = 0;
        spread_layers(&d, layers);
        fab_job_memory_make(&d.job, &d.model, d.microbatches, &got);
        for (uint64_t stage = 0; stage < d.job.pp; first += layers[stage++]) {
            account a = count_stage(&d, first, layers[stage], stage);
            long double total = a.weights + a.gradients + a.optimizer + a.activations;
            most = larger(most, total);
            counted = stage == got.stage ? a : counted;
        }
        cr_assert(near(most, got.total_bytes), "round %d: %Lg, not %g", round, most, got.total_bytes);
        cr_assert(near(counted.weights, got.weights_bytes), "round %d: weights", round);
        cr_assert(near(counted.gradients, got.gradients_bytes), "round %d: gradients", round);
        cr_assert(near(counted.optimizer, got.optimizer_bytes), "round %d: optimizer", round);
        cr_assert(near(counted.activations, got.activations_bytes), "round %d: activations", round);
        cr_assert(near(counted.host, got.host_bytes), "round %d: host", round);
    }
}
