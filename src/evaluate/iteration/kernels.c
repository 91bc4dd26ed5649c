/*
 * Kernel times of a transformer. b microbatch, s sequence, h hidden, a heads, f feed-forward size, t tensor parallel
 * size; elements of 2 bytes, but for the factors of products in a layer that are narrower or wider (precision). Matrix
 * products are those of Megatron-LM [Shoeybi et al., 2019]; the bytes of the other kernels are counted below, as read
 * (r) and written (w), with the fusions of Megatron-LM in 2021.
 */
#include "fab/kernels.h"

/* Written by scripts/fit_compute.py; tests/unit/evaluate/test_iteration.c checks that it still finds the same. */
#define FITTED_MATRIX_RATIO 0.6841
#define FITTED_MEMORY_RATIO 0.7760

const fab_compute_model fab_compute_default = {FITTED_MATRIX_RATIO, FITTED_MEMORY_RATIO, 0.8, 0.8};

static const struct { double m, n; } TILES[] = {{256, 128}, {128, 128}, {128, 64}};
#define N_TILES FAB_N_OF(TILES)

double fab_memory_s(const fab_compute_model *model, const fab_gpu *gpu, double bytes) {
    return bytes / (gpu->memory_bits_per_s / 8 * model->memory_ratio);
}

/* What was not fitted has the number of fp8 or bf16, as wide as it is, before that of the model. A model that differs
   from the default, as that of a GPU that was slowed down does, scales the GPU's own number alike. */
static double flops_per_s(const fab_compute_model *model, const fab_gpu *gpu, fab_precision precision) {
    double own = gpu->matrix_ratio[precision];
    double fitted = own > 0 ? own : gpu->matrix_ratio[precision >= FAB_FP8 ? FAB_FP8 : FAB_BF16];
    return gpu->flops[precision] * model->matrix_ratio * (fitted > 0 ? fitted / FITTED_MATRIX_RATIO : 1);
}

double fab_gemm_s(const fab_compute_model *model, const fab_gpu *gpu, fab_precision precision, double m, double n,
                  double k, double count) {
    double sm = (double)gpu->multiprocessors;
    double least = INFINITY; /* operations with those of idle multiprocessors and overhanging tiles */
    for (size_t i = 0; i < N_TILES; i++) {
        double tiles = count * ceil(m / TILES[i].m) * ceil(n / TILES[i].n);
        double flops = ceil(tiles / sm) * sm * TILES[i].m * TILES[i].n * 2 * k;
        least = flops < least ? flops : least;
    }
    double bytes = fab_precision_bytes(precision);
    double compute_s = least / flops_per_s(model, gpu, precision);
    double memory_s = fab_memory_s(model, gpu, count * (bytes * (m * k + k * n) + fmax(bytes, 2) * m * n));
    return compute_s > memory_s ? compute_s : memory_s;
}

typedef struct machine {
    const fab_compute_model *model;
    const fab_gpu *gpu;
    fab_precision precision;
} machine;

static double gemm_s(machine x, double m, double n, double k, double count) {
    return fab_gemm_s(x.model, x.gpu, x.precision, m, n, k, count);
}

/* Tokens times weights, the gradients of both, and the sum over microbatches: fused with the product where it is wider
   than a gradient, r g w g in place of w2; else a kernel of its own, r2 r2 w2. */
static void add_weights(machine x, double tokens, double n, double k, double count, uint64_t gradient_bytes,
                        fab_kernel_time *time) {
    double flops = 2 * tokens * n * k * count;
    double weights = n * k * count;
    double g = (double)gradient_bytes;
    double sum_s = fab_memory_s(x.model, x.gpu, g > 2 ? weights * (2 * g - 2) : weights * 6);
    time->forward_s += gemm_s(x, tokens, n, k, count);
    double weights_s = gemm_s(x, n, k, tokens, count) + sum_s;
    time->backward_s += gemm_s(x, tokens, k, n, count) + weights_s;
    time->weights_s += weights_s;
    time->forward_flops += flops;
    time->backward_flops += 2 * flops;
}

/* Frozen weights have no gradients of their own; those of what went in pass through them. */
static void add_matrix(machine x, const fab_layer_shape *s, double tokens, double n, double k, double count,
                       fab_kernel_time *time) {
    if (s->lora_rank == 0) {
        add_weights(x, tokens, n, k, count, s->gradient_bytes, time);
        return;
    }
    double flops = 2 * tokens * n * k * count;
    time->forward_s += gemm_s(x, tokens, n, k, count);
    time->backward_s += gemm_s(x, tokens, k, n, count);
    time->forward_flops += flops;
    time->backward_flops += flops;
}

/* Adapters of `count` matrices of `in` x `out` on all tensor ranks together: down to the rank, and up, in 16 bits. */
static void add_adapters(machine x, const fab_layer_shape *s, double tokens, double in, double out, double count,
                         fab_kernel_time *time) {
    double rank = (double)s->lora_rank;
    add_weights(x, tokens, rank / (double)s->tp, in, count, s->gradient_bytes, time);
    add_weights(x, tokens, out / (double)s->tp, rank, count, s->gradient_bytes, time);
}

static void add_lora(machine x, const fab_layer_shape *s, double tokens, double per_expert, fab_kernel_time *time) {
    double h = (double)s->hidden;
    double kv = h / (double)s->heads * (double)s->kv_heads;
    bool attention = s->lora_matrices != FAB_LORA_QUERY_VALUE;
    if (s->lora_rank == 0) {
        return;
    }
    add_adapters(x, s, tokens, h, h, attention ? 2 : 1, time);  /* query, and what leads out of attention */
    add_adapters(x, s, tokens, h, kv, attention ? 2 : 1, time); /* value, and key */
    if (s->lora_matrices == FAB_LORA_ALL) {
        double matrices = (s->gated ? 3 : 2) * (double)s->experts_here;
        add_adapters(x, s, per_expert, h, (double)s->ffn, matrices, time);
    }
}

/* Scores, softmax and weighted values of all heads, in 16 bits. Bytes per score: softmax r2 w2, backward r2 r2 w2;
   dropout r2 w2 and a mask of 1, backward r2 r1 w2. Fused, the half that the causal mask leaves is computed and
   counted, and the backward pass computes the scores again. */
static fab_kernel_time attention_time(machine x, const fab_layer_shape *s) {
    double heads = (double)s->microbatch * (double)s->heads / (double)s->tp;
    double rows = (double)s->seq / (double)s->cp;
    double columns = (double)s->seq;
    double head = (double)s->hidden / (double)s->heads;
    double score = s->latent != NULL ? (double)(s->latent->plain + s->latent->rotated) : head;
    double value = s->latent != NULL ? (double)s->latent->value : head;
    double flops = (s->fused_attention ? 1 : 2) * heads * rows * columns * (score + value);
    fab_kernel_time time = {.forward_flops = flops, .backward_flops = 2 * flops};
    if (s->fused_attention) {
        time.forward_s = flops / flops_per_s(x.model, x.gpu, x.precision);
        time.backward_s = 2.5 * time.forward_s;
        return time;
    }
    double scores = heads * rows * columns;
    double scores_s = gemm_s(x, rows, columns, score, heads);
    double values_s = gemm_s(x, rows, value, columns, heads);
    time.forward_s = scores_s + values_s + fab_memory_s(x.model, x.gpu, scores * (s->gated ? 4 : 4 + 5));
    time.backward_s = scores_s + 3 * values_s + fab_memory_s(x.model, x.gpu, scores * (s->gated ? 6 : 6 + 5));
    return time;
}

/* Bytes per token of what is neither a matrix product nor attention:
                              forward                         backward
     two norms                r2 w2                           r2 r2 w2
     two residual sums        r2 r2 w2, with dropout mask 1   r2 r2 w2, with dropout r2 r1 w2
     bias of Q, K, V          r2 w2                           r2 w2             rotation of Q, K where gated
     GeLU                     r2 w2 of f                      r2 r2 w2          SwiGLU r2 r2 w2; r2 r2 r2 w2 w2
     experts                  sent and back: r2 w2 twice      the same
   With sequence parallelism a GPU has 1/t of the norms and residual sums. Products in 8 bits or less [Transformer
   Engine, delayed scaling] read copies of their factors, one as it is and one transposed: r2 w1 w1, forward of what
   attention gives, backward of the gradients of its input and of both sums; norms and activation functions write them
   instead of 16 bits. */
static void add_elementwise(machine x, const fab_layer_shape *s, double tokens, fab_kernel_time *time) {
    double h = (double)s->hidden;
    double q = h / (double)s->tp;
    double kv = q / (double)s->heads * (double)s->kv_heads;
    double f = (double)s->ffn / (double)s->tp * (double)s->experts_used;
    double own = s->sequence_parallel ? h / (double)s->tp : h;
    double norms = 0; /* of compressed vectors */
    if (s->latent != NULL) {
        q = (double)s->latent->rotated * (double)s->heads / (double)s->tp;
        kv = (double)s->latent->rotated;
        norms = (double)(s->latent->query_rank + s->latent->key_value_rank);
    }
    bool narrow = fab_precision_bytes(x.precision) < 2;
    double forward = 2 * 4 * own + 2 * (s->gated ? 6 : 7) * own + (narrow ? 4 * q : 0) +
                     4 * (q + (s->gated ? kv : 2 * kv)) + (s->gated ? 6 : 4) * f;
    double backward = 2 * 6 * own + 2 * (s->gated ? 6 : 6 + 5) * own + (narrow ? 4 * (q + 2 * kv + 2 * h) : 0) +
                      4 * (q + (s->gated ? kv : 2 * kv)) + (s->gated ? 10 : 6) * f;
    double moved = s->experts_here > 1 || s->experts_used > 1 ? 8 * h * (double)s->experts_used : 0;
    time->forward_s += fab_memory_s(x.model, x.gpu, tokens * (forward + 4 * norms + moved));
    time->backward_s += fab_memory_s(x.model, x.gpu, tokens * (backward + 6 * norms + moved));
}

/* Products of attention with weights. Compressed vectors are the same on all tensor ranks, which make them all. */
static void add_projections(machine x, const fab_layer_shape *s, double tokens, fab_kernel_time *time) {
    double h = (double)s->hidden;
    double t = (double)s->tp;
    const fab_latent_attention *l = s->latent;
    if (l == NULL) {
        double kv = h / t / (double)s->heads * (double)s->kv_heads;
        add_matrix(x, s, tokens, h / t + 2 * kv, h, 1, time);
        add_matrix(x, s, tokens, h, h / t, 1, time);
        return;
    }
    double heads = (double)s->heads / t;
    add_matrix(x, s, tokens, (double)(l->query_rank + l->key_value_rank + l->rotated), h, 1, time);
    add_matrix(x, s, tokens, heads * (double)(l->plain + l->rotated), (double)l->query_rank, 1, time);
    add_matrix(x, s, tokens, heads * (double)(l->plain + l->value), (double)l->key_value_rank, 1, time);
    add_matrix(x, s, tokens, h, heads * (double)l->value, 1, time);
}

fab_kernel_time fab_layer_time(const fab_compute_model *model, const fab_gpu *gpu, const fab_layer_shape *shape) {
    machine x = {model, gpu, shape->precision};
    double h = (double)shape->hidden;
    double t = (double)shape->tp;
    double f = (double)shape->ffn / t;
    double tokens = (double)shape->microbatch * (double)shape->seq / (double)shape->cp;
    double experts = (double)shape->experts_here;
    const double peak = shape->expert_peak > 0 ? shape->expert_peak : 1; /* the GPU with most tokens is waited for */
    double per_expert = tokens * (double)shape->experts_used / experts * peak;
    fab_kernel_time attention = attention_time((machine){model, gpu, fab_gpu_wide(gpu, x.precision)}, shape);
    fab_kernel_time time = attention;
    add_projections(x, shape, tokens, &time);
    const fab_kernel_time before = time;
    add_matrix(x, shape, per_expert, shape->gated ? 2 * f : f, h, experts, &time);
    add_matrix(x, shape, per_expert, h, f, experts, &time);
    time.forward_flops = before.forward_flops + (time.forward_flops - before.forward_flops) / peak;
    time.backward_flops = before.backward_flops + (time.backward_flops - before.backward_flops) / peak;
    add_lora((machine){model, gpu, fab_gpu_wide(gpu, x.precision)}, shape, tokens, per_expert / peak, &time);
    add_elementwise(x, shape, tokens, &time);
    if (shape->recompute == FAB_RECOMPUTE_FULL) {
        time.recompute_s = time.forward_s;
        time.recompute_flops = time.forward_flops;
    } else if (shape->recompute == FAB_RECOMPUTE_SELECTIVE) {
        time.recompute_s = attention.forward_s;
        time.recompute_flops = attention.forward_flops;
    }
    return time;
}

/* Bytes per logit: to 32 bit r2 w4; largest r4; difference r4 w4; exponential r4 w4; sum r4; quotient r4 w4; gradient
   r4 w4; to 16 bit r4 w2. */
fab_kernel_time fab_head_time(const fab_compute_model *model, const fab_gpu *gpu, const fab_layer_shape *shape) {
    machine x = {model, gpu, fab_gpu_wide(gpu, shape->precision)};
    double tokens = (double)shape->microbatch * (double)shape->seq / (double)shape->cp;
    double columns = (double)shape->vocab / (double)shape->tp;
    fab_kernel_time time = {.forward_s = fab_memory_s(model, gpu, tokens * columns * (6 + 4 + 8 + 8 + 4 + 8)),
                            .backward_s = fab_memory_s(model, gpu, tokens * columns * (8 + 6))};
    add_matrix(x, shape, tokens, columns, (double)shape->hidden, 1, &time);
    return time;
}

/* Bytes per parameter: gradient to 32 bit where it is not, r g w4; unscale r4 w4; norm r4; clip r4 w4; Adam r4 of the
   gradient, r4 w4 of weight and both moments; weight to 16 bit r4 w2. */
double fab_optimizer_s(const fab_compute_model *model, const fab_gpu *gpu, double parameters, uint64_t gradient_bytes) {
    double widen = gradient_bytes < 4 ? (double)gradient_bytes + 4 : 0;
    return fab_memory_s(model, gpu, parameters * (widen + 8 + 4 + 8 + 28 + 6));
}
