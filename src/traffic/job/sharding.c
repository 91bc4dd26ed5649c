/* ZeRO stages, hybrid sharding, adapters and what moves to the host. */
#include "fab/sharding.h"

#include "fab/stages.h"

fab_zero fab_job_zero(const fab_job_spec *job) {
    return job->zero != FAB_ZERO_AUTO ? job->zero : job->sharded ? FAB_ZERO_1 : FAB_ZERO_0;
}

uint64_t fab_job_shard_groups(const fab_job_spec *job) {
    bool grouped = fab_job_zero(job) != FAB_ZERO_0 && job->shard_group > 0;
    return grouped ? job->dp * job->cp / job->shard_group : 1;
}

double fab_job_shards(const fab_job_spec *job, bool of_experts) {
    double shards = (double)job->dp * (double)job->cp / (double)fab_job_shard_groups(job);
    return fab_job_zero(job) == FAB_ZERO_0 ? 1 : shards / (of_experts ? (double)job->ep : 1);
}

fab_data_exchanges fab_job_data_exchanges(const fab_job_spec *job, uint64_t microbatches) {
    fab_zero zero = fab_job_zero(job);
    fab_data_exchanges x = {.reductions = 1, .gathers = zero > FAB_ZERO_0 ? 1 : 0, .n_reductions = 1, .n_gathers = 1};
    if (zero < FAB_ZERO_2) {
        return x;
    }
    uint64_t most_layers = (job->layers + job->pp - 1) / job->pp;
    x.with_microbatch = job->shard_exchange != FAB_SHARD_EXCHANGE_ITERATION;
    x.reductions = x.with_microbatch ? microbatches : 1;
    x.n_reductions = x.with_microbatch ? most_layers : job->interleave;
    if (zero == FAB_ZERO_3) {
        x.gathers = x.with_microbatch ? 2 * microbatches : job->interleave > 1 ? 2 : 1;
        x.n_gathers = x.n_reductions;
    }
    return x;
}

/* Of one layer, and of the feed-forward matrices of one expert or of the part that all tokens pass. */
static double adapters_of_attention(const fab_job_spec *job, const fab_model *model) {
    double h = (double)model->hidden;
    double kv = h / (double)model->heads * (double)model->kv_heads;
    double query_value = 2 * h + (h + kv);
    return job->lora_matrices == FAB_LORA_QUERY_VALUE ? query_value : query_value + (h + kv) + 2 * h;
}

static double adapters_of_ffn(const fab_job_spec *job, const fab_model *model, uint64_t ffn) {
    return job->lora_matrices == FAB_LORA_ALL ? (model->gated ? 3.0 : 2.0) * (double)(model->hidden + ffn) : 0;
}

void fab_stage_trained(const fab_job_spec *job, const fab_model *model, uint64_t stage, double *out_dense,
                       double *out_experts) {
    if (job->lora_rank == 0) {
        fab_stage_parameters(model, job, stage, out_dense, out_experts);
        return;
    }
    double rank = (double)job->lora_rank;
    double layers = (double)fab_stage_layers(job, stage);
    double with_experts = (double)fab_stage_expert_layers(model, job, stage);
    double expert = adapters_of_ffn(job, model, model->expert_ffn);
    *out_dense = rank * (layers * adapters_of_attention(job, model) +
                         (layers - with_experts) * adapters_of_ffn(job, model, model->ffn) +
                         with_experts * (double)model->shared_experts * expert);
    *out_experts = rank * with_experts * (double)model->experts * expert;
}

double fab_offload_s(const fab_job_spec *job, double parameters) {
    double g = (double)job->gradient_bytes;
    double w = (double)job->parameter_bytes;
    double update = g + 2 * (double)job->optimizer_bytes + w;
    return 8 * parameters * ((g + w) / job->offload_bps + update / job->host_memory_bps);
}

const char *fab_sharding_text(const fab_job_spec *job, const char *separator, char out[48]) {
    fab_zero zero = fab_job_zero(job);
    out[0] = '\0';
    if (zero > FAB_ZERO_0) {
        (void)snprintf(out, 48, zero == FAB_ZERO_1 ? "%ssharded" : "%szero %s", separator, fab_zeros[zero]);
    }
    if (fab_job_shard_groups(job) > 1) {
        fab_append(out, 48, " over %" PRIu64, job->shard_group);
    }
    if (job->lora_rank > 0) {
        fab_append(out, 48, "%slora %" PRIu64, separator, job->lora_rank);
    }
    return out;
}
