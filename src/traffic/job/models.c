#include "traffic_internal.h"

#define SC21 "Megatron-LM, Narayanan et al., SC'21, Table 1"

#define LLAMA2 "Llama 2, arXiv 2307.09288, 2.2 and Table 1 (batch of 4M tokens); sizes of the layers as released"

#define MIXTRAL  "Mixtral of Experts, arXiv 2401.04088, Table 1; batch assumed (4M tokens), ep of Megatron-LM's example"
#define DEEPSEEK "DeepSeek-V3, arXiv 2412.19437, section 4.2; without multi-token prediction"

#define DENSE 0, 0, 0, 0, 0, NULL, 0

static const fab_latent_attention DEEPSEEK_LATENT = {1536, 512, 128, 64, 128};

const fab_model fab_models[] = {
    /* name, layers, hidden, heads, kv_heads, ffn, seq, vocab, batch, gated, tied, gpus, source; experts,
       top_k, expert_ffn, shared_experts, dense_layers, latent, ep */
    {"gpt-1.7b", 24, 2304, 24, 24, 9216, 2048, 51200, 512, false, true, 32, SC21, DENSE},
    {"gpt-3.6b", 30, 3072, 32, 32, 12288, 2048, 51200, 512, false, true, 64, SC21, DENSE},
    {"gpt-7.5b", 36, 4096, 32, 32, 16384, 2048, 51200, 512, false, true, 128, SC21, DENSE},
    {"gpt-18.4b", 40, 6144, 48, 48, 24576, 2048, 51200, 1024, false, true, 256, SC21, DENSE},
    {"gpt-39.1b", 48, 8192, 64, 64, 32768, 2048, 51200, 1536, false, true, 512, SC21, DENSE},
    {"gpt-76.1b", 60, 10240, 80, 80, 40960, 2048, 51200, 1792, false, true, 1024, SC21, DENSE},
    {"gpt-145.6b", 80, 12288, 96, 96, 49152, 2048, 51200, 2304, false, true, 1536, SC21, DENSE},
    {"gpt-310.1b", 96, 16384, 128, 128, 65536, 2048, 51200, 2160, false, true, 1920, SC21, DENSE},
    {"gpt-529.6b", 105, 20480, 128, 128, 81920, 2048, 51200, 2520, false, true, 2520, SC21, DENSE},
    {"gpt-1t", 128, 25600, 160, 160, 102400, 2048, 51200, 3072, false, true, 3072, SC21, DENSE},
    {"llama2-7b", 32, 4096, 32, 32, 11008, 4096, 32000, 1024, true, false, 0, LLAMA2, DENSE},
    {"llama2-13b", 40, 5120, 40, 40, 13824, 4096, 32000, 1024, true, false, 0, LLAMA2, DENSE},
    {"llama2-70b", 80, 8192, 64, 8, 28672, 4096, 32000, 1024, true, false, 0, LLAMA2, DENSE},
    {"llama3-8b", 32, 4096, 32, 8, 14336, 8192, 128256, 512, true, false, 0,
     "Llama 3, arXiv 2407.21783, Table 3; batch assumed (4M tokens)", DENSE},
    {"llama3-70b", 80, 8192, 64, 8, 28672, 8192, 128256, 512, true, false, 0,
     "Llama 3, arXiv 2407.21783, Table 3; batch assumed (4M tokens)", DENSE},
    {"llama3-405b", 126, 16384, 128, 8, 53248, 8192, 128256, 2048, true, false, 16384,
     "Llama 3, arXiv 2407.21783, Tables 3 and 4", DENSE},
    {"bloom-176b", 70, 14336, 112, 112, 57344, 2048, 250880, 2048, false, true, 384,
     "BLOOM, arXiv 2211.05100; counted as a GPT, though it learns no positions", DENSE},
    {"mixtral-8x7b", 32, 4096, 32, 8, 14336, 32768, 32000, 128, true, false, 0, MIXTRAL, 8, 2, 14336, 0, 0, NULL, 8},
    {"deepseek-v3", 61,       7168, 128, 128,  18432, 4096, 129280,           15360, true, false,
     2048,          DEEPSEEK, 256,  8,   2048, 1,     3,    &DEEPSEEK_LATENT, 64},
    {.name = NULL},
};

static uint64_t batch_unit(uint64_t model_batch, uint64_t n_gpus) {
    uint64_t unit = n_gpus;
    while (unit % 2 == 0 && unit > model_batch / 8) {
        unit /= 2;
    }
    return unit;
}

uint64_t fab_job_batch(uint64_t model_batch, uint64_t n_gpus) {
    const uint64_t unit = batch_unit(model_batch, n_gpus);
    return unit >= model_batch ? unit : model_batch / unit * unit;
}

uint64_t fab_job_batch_of(uint64_t model_batch, uint64_t n_gpus, uint64_t unit) {
    const uint64_t of_gpus = fab_job_batch(model_batch, n_gpus);
    const uint64_t most = of_gpus % unit == 0 ? of_gpus : model_batch / unit * unit;
    return most > 0 ? most : unit;
}

const char *fab_job_batch_reason(uint64_t batch, uint64_t model_batch, uint64_t n_gpus, char out[FAB_BATCH_REASON]) {
    const uint64_t unit = batch_unit(model_batch, n_gpus);
    if (batch != fab_job_batch(model_batch, n_gpus)) {
        (void)snprintf(out, FAB_BATCH_REASON, "the sizes do not divide the model's %" PRIu64, model_batch);
    } else if (unit == n_gpus) {
        (void)snprintf(out, FAB_BATCH_REASON, "the model's %" PRIu64 " is no multiple of the %" PRIu64 " GPUs",
                       model_batch, n_gpus);
    } else {
        (void)snprintf(out, FAB_BATCH_REASON,
                       "the model's %" PRIu64 " is no multiple of %" PRIu64 ", the GPUs / %" PRIu64, model_batch, unit,
                       n_gpus / unit);
    }
    return out;
}

const fab_model *fab_model_find(const char *name) {
    FAB_FIRST(i, SIZE_MAX, fab_models[i].name == NULL || strcmp(fab_models[i].name, name) == 0);
    return fab_models[i].name != NULL ? &fab_models[i] : NULL;
}

const char *fab_model_smaller(const char *name) {
    const fab_model *model = fab_model_find(name);
    return model == NULL || model->gated || model == fab_models ? NULL : model[-1].name;
}

static double feed_forward(const fab_model *model, uint64_t ffn) {
    double h = (double)model->hidden;
    double f = (double)ffn;
    return model->gated ? 3 * h * f : 2 * h * f + f + h;
}

/* Down to the compressed vectors, which have a norm each, and up to the heads. */
static double latent_parameters(const fab_model *model) {
    const fab_latent_attention *l = model->latent;
    double h = (double)model->hidden;
    double a = (double)model->heads;
    double score = (double)l->plain + (double)l->rotated;
    double value = (double)l->value;
    double q = (double)l->query_rank;
    double kv = (double)l->key_value_rank;
    return h * q + q * a * score + h * (kv + (double)l->rotated) + kv * a * ((double)l->plain + value) + a * value * h +
           q + kv;
}

/* Query and output projections h^2 each, key and value h x (kv_heads x head size) each, and the norms. With kv_heads =
   heads and ffn = 4h a GPT layer is 12 h^2 + 13 h: 4h of attention biases, 5h of feed-forward biases, 4h of layer
   norms. A gated layer has no biases and two norms without offset. */
static double attention_and_norms(const fab_model *model) {
    double h = (double)model->hidden;
    double kv = h / (double)model->heads * (double)model->kv_heads;
    double attention = model->latent != NULL ? latent_parameters(model) : 2 * h * h + 2 * h * kv;
    return model->gated ? attention + 2 * h : attention + 2 * h + 2 * kv + 4 * h;
}

uint64_t fab_model_expert_layers(const fab_model *model, uint64_t first, uint64_t n) {
    if (model->experts <= 1) {
        return 0;
    }
    uint64_t from = first > model->dense_layers ? first : model->dense_layers;
    return first + n > from ? first + n - from : 0;
}

void fab_model_layers(const fab_model *model, uint64_t first, uint64_t n, double *out_dense, double *out_experts) {
    double with_experts = (double)fab_model_expert_layers(model, first, n);
    double expert = feed_forward(model, model->expert_ffn);
    double router = (double)model->hidden * (double)model->experts;
    *out_dense = (double)n * attention_and_norms(model) + ((double)n - with_experts) * feed_forward(model, model->ffn) +
                 with_experts * (router + (double)model->shared_experts * expert);
    *out_experts = with_experts * (double)model->experts * expert;
}

/* A GPT learns its positions, a gated model rotates them. */
double fab_model_input_parameters(const fab_model *model) {
    double rows = (double)model->vocab + (model->gated ? 0.0 : (double)model->seq);
    return rows * (double)model->hidden;
}

/* The published GPT count leaves out the norm behind the last layer. */
double fab_model_output_parameters(const fab_model *model) {
    double h = (double)model->hidden;
    return (model->gated ? h : 0.0) + (model->tied ? 0.0 : (double)model->vocab * h);
}

static double everything(const fab_model *model, double expert_share) {
    double dense = 0;
    double experts = 0;
    fab_model_layers(model, 0, model->layers, &dense, &experts);
    return dense + experts * expert_share + fab_model_input_parameters(model) + fab_model_output_parameters(model);
}

double fab_model_parameters(const fab_model *model) {
    return everything(model, 1);
}

double fab_model_active_parameters(const fab_model *model) {
    return everything(model, model->experts > 1 ? (double)model->top_k / (double)model->experts : 1);
}

/* Rows and multi-hot sizes of the 26 features: num_embeddings_per_feature and multi_hot_sizes of MLPerf's reference
 * (torchrec_dlrm). */
static const fab_embedding_table DLRM_TABLES[] = {
    {40000000, 128, 3},   {39060, 128, 2},     {17295, 128, 1},   {7424, 128, 2},  {20265, 128, 6},
    {3, 128, 1},          {7122, 128, 1},      {1543, 128, 1},    {63, 128, 1},    {40000000, 128, 7},
    {3067956, 128, 3},    {405282, 128, 8},    {10, 128, 1},      {2209, 128, 6},  {11938, 128, 9},
    {155, 128, 5},        {4, 128, 1},         {976, 128, 1},     {14, 128, 1},    {40000000, 128, 12},
    {40000000, 128, 100}, {40000000, 128, 27}, {590152, 128, 10}, {12973, 128, 3}, {108, 128, 1},
    {36, 128, 1}};

const fab_ranking_model fab_ranking_models[] = {
    {"dlrm-dcnv2", 26, 204184588, 128, 16044545, 65536,
     "MLPerf Training, recommendation: DLRM-DCNv2 on Criteo 1TB; tables of its reference torchrec_dlrm; dense "
     "parameters recalled, unverified",
     DLRM_TABLES},
    {.name = NULL},
};

const fab_ranking_model *fab_ranking_model_find(const char *name) {
    FAB_FIRST(i, SIZE_MAX, fab_ranking_models[i].name == NULL || strcmp(fab_ranking_models[i].name, name) == 0);
    return fab_ranking_models[i].name != NULL ? &fab_ranking_models[i] : NULL;
}
