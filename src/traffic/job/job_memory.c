/* Memory of a job, per GPU of its fullest stage; the formulas stand in the header. */

#include "fab/sharding.h"
#include "traffic_internal.h"

/* Data sheets say GB and mean 2^30 bytes: an H100 of "80 GB" reports 81,559 MiB. */
#define MEMORY_UNIT (1073741824.0 / 1e9)

/* Embedding tables are kept in fp32, with one fp32 of optimizer state per row (row-wise Adagrad). */
#define TABLE_BYTES 4.0

/* --- activations -------------------------------------------------------------------------------------------------- */

/* Bytes that one layer keeps for one microbatch, by what a token and rank keeps of it. */
typedef struct kept {
    double whole;  /* everything but the attention scores */
    double scores; /* of attention */
    double input;  /* of the layer alone */
} kept;

static kept layer_activations(const fab_job_spec *job, const fab_model *model, bool has_experts) {
    double t = (double)job->tp;
    double h = (double)model->hidden;
    double split = job->sequence_parallel ? t : 1;
    double unit = (double)job->activation_bytes / 2; /* the formulas are those of 2-byte elements */
    double tokens = (double)job->microbatch * (double)job->seq / (double)job->cp * unit;
    double k = (double)model->kv_heads / (double)model->heads;
    double ffn = (double)model->ffn;
    double copies = 0; /* of the token's vector, as inputs of its experts */
    if (has_experts) {
        copies = (double)model->top_k;
        ffn = (copies + (double)model->shared_experts) * (double)model->expert_ffn;
    }
    double replicated = (model->gated ? 8 : 10) * h;
    double divided = (4 + 4 * k + 2 * copies) * h + 4 * ffn;
    if (model->latent != NULL) { /* heads of other sizes, and the compressed vectors that all ranks have */
        const fab_latent_attention *l = model->latent;
        divided += 4 * (double)model->heads * (double)(l->plain + l->rotated + l->value) - (4 + 4 * k) * h;
        replicated += 2 * split * (double)(l->query_rank + l->key_value_rank + l->rotated);
    }
    return (kept){.whole = tokens * (replicated / split + divided / t),
                  .scores = 5 * (double)model->heads * (double)job->seq * tokens / t,
                  .input = 2 * tokens * h / split};
}

/* Microbatches that stage `stage` holds at once [interleaved: Korthikanti et al., 2022, section 4.1]. */
static double in_flight(const fab_job_spec *job, uint64_t microbatches, uint64_t stage) {
    double p = (double)job->pp;
    double v = (double)job->interleave;
    double most = p - (double)stage;
    bool chunk_by_chunk = job->shard_exchange == FAB_SHARD_EXCHANGE_ITERATION && fab_job_zero(job) >= FAB_ZERO_2;
    if (job->interleave > 1 && chunk_by_chunk) {
        most = (double)microbatches;
    } else if (job->interleave > 1) {
        most = ((p - (double)stage - 1) * 2 + (v - 1) * p + 1) / v;
    }
    return fmin(most, (double)microbatches);
}

static double stage_activations(const fab_job_spec *job, const fab_model *model, uint64_t stage, double flight) {
    uint64_t layers = fab_stage_layers(job, stage);
    uint64_t with_experts = fab_stage_expert_layers(model, job, stage);
    kept dense = layer_activations(job, model, false);
    kept experts = layer_activations(job, model, true);
    double n_experts = (double)with_experts;
    double n_dense = (double)(layers - with_experts);
    bool scores = job->attention == FAB_ATTENTION_STANDARD;
    double sum = 0;
    if (job->recompute == FAB_RECOMPUTE_FULL) {
        double largest = with_experts > 0 ? experts.whole : dense.whole;
        sum = flight * dense.input * (double)layers + largest + (scores ? dense.scores : 0);
    } else {
        scores = scores && job->recompute == FAB_RECOMPUTE_NONE;
        sum = flight * (n_dense * dense.whole + n_experts * experts.whole);
        sum += scores ? flight * (double)layers * dense.scores : 0;
    }
    if (stage + 1 == job->pp) { /* last norm and logits, these in fp32 */
        double tokens = (double)job->microbatch * (double)job->seq / (double)job->cp;
        sum += 4 * tokens * (double)(model->hidden + model->vocab) / (double)job->tp;
    }
    return sum;
}

/* --- kinds of jobs ------------------------------------------------------------------------------------------------ */

typedef struct parameters {
    double dense, experts;
} parameters;

static double all_of(parameters p) {
    return p.dense + p.experts;
}

/* Parts of this rank where copies share them. */
static double shard_of(const fab_job_spec *job, parameters p) {
    return p.dense / fab_job_shards(job, false) + p.experts / fab_job_shards(job, true);
}

static parameters of_rank(const fab_job_spec *job, parameters stage) {
    double t = (double)job->tp;
    return (parameters){stage.dense / t, stage.experts / t / (double)job->ep};
}

/* A tied embedding has a copy on the last stage, trained there too. */
static parameters gpu_parameters(const fab_job_spec *job, const fab_model *model, uint64_t stage) {
    parameters p;
    fab_stage_parameters(model, job, stage, &p.dense, &p.experts);
    if (model->tied && job->pp > 1 && stage + 1 == job->pp) {
        p.dense += (double)model->vocab * (double)model->hidden;
    }
    return of_rank(job, p);
}

/* Of what copies share, as much as is there in full at a time: two layers (or the like), or two chunks. */
static double held_in_full(const fab_job_spec *job, double unit, double all) {
    bool chunk = job->shard_exchange == FAB_SHARD_EXCHANGE_ITERATION;
    return fmin(all, 2 * fmax(unit, chunk ? all / (double)job->interleave : 0));
}

static fab_job_memory of_training(const fab_job_spec *job, const fab_model *model, uint64_t microbatches,
                                  uint64_t stage) {
    fab_zero zero = fab_job_zero(job);
    parameters all = gpu_parameters(job, model, stage);
    parameters trained = all;
    double unit = fab_stage_largest_unit(model, job, stage) / (double)job->tp;
    double weights_in_full = held_in_full(job, unit, all_of(all));
    double trained_in_full = weights_in_full;
    if (job->lora_rank > 0) {
        fab_stage_trained(job, model, stage, &trained.dense, &trained.experts);
        trained = of_rank(job, trained);
        all = (parameters){all.dense + trained.dense, all.experts + trained.experts};
        double layers = (double)fab_stage_layers(job, stage);
        trained_in_full = held_in_full(job, all_of(trained) / layers, all_of(trained));
    }
    bool offload = job->offload == FAB_OFFLOAD_OPTIMIZER;
    double gradient_shard = zero >= FAB_ZERO_2 ? shard_of(job, trained) * (double)job->gradient_bytes : 0;
    double gradients = (zero >= FAB_ZERO_2 ? trained_in_full : all_of(trained)) * (double)job->gradient_bytes;
    double states = shard_of(job, trained) * (double)job->optimizer_bytes;
    double flight = in_flight(job, microbatches, stage);
    return (fab_job_memory){.weights_bytes = (zero == FAB_ZERO_3 ? shard_of(job, all) + weights_in_full : all_of(all)) *
                                             (double)job->parameter_bytes,
                            .gradients_bytes = gradients + (offload ? 0 : gradient_shard),
                            .optimizer_bytes = offload ? 0 : states,
                            .host_bytes = offload ? states + gradient_shard : 0,
                            .activations_bytes = stage_activations(job, model, stage, flight),
                            .in_flight = flight};
}

/* Forward only: the residual stream, and what one layer makes of it. */
static fab_job_memory of_serving(const fab_job_spec *job, const fab_model *model, uint64_t stage) {
    double a = (double)job->activation_bytes;
    double sequences = (double)job->batch / (double)fab_serving_replicas(job, true);
    double layers = (double)fab_stage_layers(job, stage);
    double prompt = (double)job->microbatch * (double)job->prompt;
    double width = (model->gated ? 3.0 : 2.0) * (double)model->ffn / (double)job->tp + 4.0 * (double)model->hidden;
    double logits = stage + 1 == job->pp ? 4 * sequences * (double)model->vocab / (double)job->tp : 0;
    return (fab_job_memory){.weights_bytes = all_of(gpu_parameters(job, model, stage)) * (double)job->parameter_bytes,
                            .cache_bytes = sequences * layers * (double)(job->prompt + job->tokens) *
                                           fab_kv_elements(model, job->tp) * a,
                            .activations_bytes = prompt * width * a + logits,
                            .in_flight = 1};
}

static fab_job_memory of_ranking(const fab_job_spec *job) {
    double n = (double)job->dp;
    double dense = (double)job->dense_parameters;
    double rows =
        (double)job->rows / (double)(job->table_group > 0 ? job->table_group : job->dp) * fmax(job->column_peak, 1);
    /* Vectors that this GPU looks up for everybody and those that it is sent, and the gradients of both. */
    double vectors = 4 * (double)job->batch / n * (double)job->tables * (double)job->embedding;
    return (fab_job_memory){
        .weights_bytes = rows * (double)job->embedding * TABLE_BYTES + dense * (double)job->parameter_bytes,
        .gradients_bytes = dense * (double)job->gradient_bytes,
        .optimizer_bytes = rows * TABLE_BYTES + dense / fab_job_shards(job, false) * (double)job->optimizer_bytes,
        .activations_bytes = vectors * (double)job->activation_bytes,
        .in_flight = 1};
}

static double sum(const fab_job_memory *m) {
    return m->weights_bytes + m->gradients_bytes + m->optimizer_bytes + m->activations_bytes + m->cache_bytes;
}

uint64_t fab_least_gpus(double bytes, double room, double gpu_memory_bytes) {
    return (uint64_t)fmin(fmax(ceil(bytes * room / gpu_memory_bytes), 1), 1e18);
}

uint64_t fab_power_of_two(uint64_t n) {
    uint64_t power = 1;
    while (power < n && power < UINT64_C(1) << 63) {
        power *= 2;
    }
    return power;
}

double fab_memory_room(const fab_job_spec *job) {
    return job->accelerator.memory_bytes * MEMORY_UNIT * (1 - job->memory_headroom);
}

void fab_job_memory_make(const fab_job_spec *job, const fab_model *model, uint64_t microbatches, fab_job_memory *out) {
    fab_job_memory most = {.total_bytes = -1};
    bool ranking = job->kind == FAB_JOB_RANKING;
    bool serving = job->kind == FAB_JOB_SERVING;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        fab_job_memory m = ranking   ? of_ranking(job)
                           : serving ? of_serving(job, model, stage)
                                     : of_training(job, model, microbatches, stage);
        m.total_bytes = sum(&m);
        m.stage = stage;
        if (m.total_bytes > most.total_bytes) {
            most = m;
        }
    }
    double memory = job->accelerator.memory_bytes;
    double needed = ranking ? most.total_bytes * (double)job->dp : fab_model_parameters(model) * (serving ? 2.0 : 18.0);
    most.capacity_bytes = memory * MEMORY_UNIT;
    most.fits = most.total_bytes <= most.capacity_bytes;
    most.has_headroom = most.total_bytes <= fab_memory_room(job);
    most.rule_gpus = memory > 0 ? fab_least_gpus(needed, ranking ? 1 : FAB_ROOM_AT_LEAST, memory) : 0;
    *out = most;
}
