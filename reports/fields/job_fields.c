/* Jobs: `job`, `memory`, `iteration`, and phases that nobody has routed yet. */
#include "field_rows.h"
#include "field_tables.h"

#define JOBS      "0026-jobs.md"
#define ITERATION "0025-iteration-time.md"
#define BISECTION "compared with Narayanan et al., SC'21, 5.9"

#define T fab_job_memory
static const fab_field MEMORY[] = {
    FIGURE(weights_bytes, weights_bytes, "byte", "Weights on the fullest GPU; embedding tables of a ranking job too.",
           .formula = "parameters on the GPU * bytes of one"),
    FIGURE(gradients_bytes, gradients_bytes, "byte", "Gradients on the fullest GPU.",
           .formula = "parameters on the GPU * bytes of one gradient"),
    FIGURE(optimizer_bytes, optimizer_bytes, "byte",
           "State of the optimizer on the fullest GPU; split over the data-parallel ranks when sharded.",
           .formula = "parameters on the GPU * bytes of their state"),
    FIGURE(
        activations_bytes, activations_bytes, "byte",
        "Activations of all microbatches in flight on the fullest GPU, one recomputed layer and the logits included.",
        .source = "Korthikanti et al., 2022, equations 1 to 6; src/doc/adr/0026-jobs.md"),
    FIGURE(cache_bytes, cache_bytes, "byte", "Cached keys and values of a serving job on the fullest GPU."),
    FIGURE(total_bytes, total_bytes, "byte",
           "What a job keeps on its fullest GPU. What a framework reserves for itself is not in it.",
           .formula = "weights + gradients + optimizer + activations + cache", .labels = "memory"),
    FIGURE(capacity_bytes, capacity_bytes, "byte",
           "Memory of the GPU by its data sheet, which counts in units of 2^30 bytes."),
    FIELD(stage, stage, "The pipeline stage that has the fullest GPU, from 0."),
    FIELD(rule_gpus, rule_gpus, "Least GPUs by the rule of thumb: parameters x bytes x 1.25 / memory of one."),
    FIELD(fits, fits, "Whether the total is at most the memory of the GPU."),
    END_OF_FIELDS,
};
const fab_fields fab_memory_fields = {.name = "memory", .rows = MEMORY, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_result
static const fab_field JOB[] = {
    FIELD(kind, job.kind, "Kind of the job: training, ranking or serving.", .when = FAB_FILLED),
    FIELD(model, job.model, "Name of the model.", .when = FAB_FILLED),
    FIELD(gpu, job.gpu, "Name of the GPU.", .when = FAB_FILLED),
    FIELD(ranks, ranks, "Ranks of the job, one on each GPU it takes."),
    FIELD(tp, job.tp, "Tensor-parallel size.", .labels = "tensor parallel"),
    FIELD(cp, job.cp, "Context-parallel size.", .labels = "context parallel"),
    FIELD(pp, job.pp, "Pipeline-parallel size: the number of stages.", .labels = "pipeline parallel"),
    FIELD(dp, job.dp, "Data-parallel size: the number of replicas.", .labels = "data parallel"),
    FIELD(ep, job.ep, "Expert-parallel size; it divides dp x cp.", .labels = "expert parallel"),
    FIELD(batch, job.batch, "Sequences, or samples of a ranking job, in one iteration."),
    FIELD(microbatch, job.microbatch, "Sequences that pass through a stage at once."),
    FIELD(interleave, job.interleave, "Chunks of layers that each stage holds; 1 is not interleaved."),
    FIGURE(published_tflops_per_gpu, job.published_tflops, "TFLOP/s",
           "What the source of the preset reports, to compare with tflops_per_gpu.", .when = FAB_FILLED),
    FIGURE(published_pipeline_bisection_bps, job.published_pipeline_bps, "bit/s",
           "What the source of the preset reports, to compare with pipeline_bisection_bps.", .when = FAB_FILLED),
    FIGURE(published_data_bisection_bps, job.published_data_bps, "bit/s",
           "What the source of the preset reports, to compare with data_bisection_bps.", .when = FAB_FILLED),
    FIELD(not_timed, iteration_note, "Why there is no iteration.", .when = FAB_FILLED),
    OBJECT(memory, memory, &fab_memory_fields,
           "Memory of a GPU of the fullest stage, with this microbatch and interleaving."),
    END_OF_FIELDS,
};
const fab_fields fab_job_fields = {.name = "job", .rows = JOB, .size = sizeof(T), .source = ITERATION};

#undef T
#define T fab_phase
static const fab_field LISTED_PHASES[] = {
    FIELD(name, name, "Name of the phase."),
    FIELD(collective, collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD(communicators, n_comms, "Communicators that are at work in it."),
    FIELD(flows, n_flows, "Flows of the phase."),
    FIGURE(bytes, total_bytes, "byte", "Bytes of all its flows over one iteration, counted flow by flow."),
    FIELD(steps, steps, "Dependent steps of one execution."),
    FIELD(executions, executions, "Executions in one iteration."),
    FIGURE(expected_bytes, expected_bytes, "byte", "Bytes of the phase by its closed form; 0 where there is none."),
    FIELD(formula, formula, "Closed form of its bytes; empty where there is none."),
    END_OF_FIELDS,
};
const fab_fields fab_listed_phase_fields = {
    .name = "listed_phase", .rows = LISTED_PHASES, .size = sizeof(T), .source = "0008-traffic.md"};

/* --- iterations --------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_training
static const fab_field TRAINING[] = {
    FIELD(tokens, tokens, "Tokens of the whole training run."),
    FIGURE(days, days, "d", "Time of the training run without failures.", .formula = "tokens / tokens_per_s / 86400"),
    FIGURE(usd, usd, "USD", "Price of the training run.", .formula = "usd_per_1e9_tokens * tokens / 1e9"),
    FIGURE(rule_days, rule_days, "d", "The time by the rule of thumb, from the same throughput.",
           .formula = "8 T P / (n X), 6 T P / (n X) without full recomputation; P: parameters that a token meets",
           .source = "Narayanan et al., SC'21, 5.1, equation 4"),
    END_OF_FIELDS,
};
static const fab_fields TRAINING_RUN = {.name = "training", .rows = TRAINING, .size = sizeof(T), .source = ITERATION};

#undef T
#define T fab_iteration
static const fab_field ITERATIONS[] = {
    FIELD(engine, engine, "Name of the routing engine."),
    FIELD(microbatch, microbatch, "That of the job, or the fastest of 1, 2, 4 and 8 that fits."),
    FIELD(interleave, interleave, "That of the job, or the fastest that the schedule allows."),
    FIGURE(time_s, time_s, "s", "Time of an iteration: computation, bubble, exposed communication and optimizer.",
           .formula = "compute_s + bubble_s + exposed_*_s + optimizer_s", .labels = "iteration|iteration time"),
    FIGURE(compute_s, compute_s, "s", "Computation alone on the busiest pipeline stage, recomputation included.",
           .formula = "microbatches * layers * kernel times", .labels = "compute|computation"),
    FIGURE(bubble_s, bubble_s, "s", "The busiest stage idle while the pipeline fills and drains.",
           .formula = "sum over the other stages of T / chunks; equal stages: (p - 1) / (v m) of compute_s",
           .source = "Narayanan et al., SC'21, 2.2", .labels = "bubble|pipeline bubble"),
    FIGURE(exposed_tp_s, exposed_tp_s, "s", "Tensor-parallel communication that no computation hides.",
           .formula = "time - min(overlap * time, computation to hide it)", .labels = "exposed|exposed tp|tp exposed"),
    FIGURE(exposed_cp_s, exposed_cp_s, "s", "Context-parallel communication that no computation hides.",
           .labels = "exposed|exposed cp|cp exposed"),
    FIGURE(exposed_pp_s, exposed_pp_s, "s", "Transfers between pipeline stages that no computation hides.",
           .labels = "exposed|exposed pp|pp exposed"),
    FIGURE(exposed_ep_s, exposed_ep_s, "s", "The exchange between experts that no computation hides.",
           .labels = "exposed|exposed ep|ep exposed"),
    FIGURE(exposed_dp_s, exposed_dp_s, "s", "Exchange of gradients and sharded parameters that no computation hides.",
           .labels = "exposed|exposed dp|dp exposed"),
    FIGURE(optimizer_s, optimizer_s, "s", "Optimizer step, bound by memory bandwidth.",
           .formula = "bytes read and written / memory bandwidth", .labels = "optimizer"),
    FIGURE(tflops_per_gpu, tflops_per_gpu, "TFLOP/s",
           "Floating-point operations executed per second and GPU, recomputation included: what published throughputs "
           "count.",
           .formula = "executed FLOPs / (gpus * time_s) / 1e12", .source = "Narayanan et al., SC'21, 5.1",
           .labels = "TFLOP/s|TFLOP/s per GPU"),
    FIELD(mfu_ratio, mfu_ratio,
          "Model FLOPs utilisation: FLOPs of the model alone, without recomputation, over the peak of the GPUs.",
          .formula = "model FLOPs / (gpus * time_s * peak)", .source = "Chowdhery et al., PaLM, 2022, appendix B",
          .labels = "MFU|model FLOPs utilisation"),
    FIGURE(tokens_per_s, tokens_per_s, "1/s", "Tokens of the whole job per second.",
           .formula = "batch * sequence length / time_s", .labels = "tokens/s"),
    FIGURE(usd_per_1e9_tokens, usd_per_1e9_tokens, "USD",
           "GPU hours at the price of the book, and capital and energy of the network, per 1e9 tokens.",
           .formula = "(GPU-hour price * gpus + network per hour) / (tokens_per_s * 3600) * 1e9",
           .labels = "$/1e9 tokens"),
    FIGURE(memory_bytes, memory.total_bytes, "byte",
           "Weights, gradients, optimizer state and activations of the fullest GPU with this microbatch.",
           .source = JOBS),
    FIGURE(
        pipeline_bisection_bps, pipeline_bisection_bytes_per_s, "bit/s",
        "Bits per second that cross, in one direction, the cut between the first and the second half of the pipeline "
        "stages, over the time of the phase at nominal link rates.",
        .scale = 8, .when = FAB_FILLED, .source = BISECTION, .labels = "pipeline bisection"),
    FIGURE(data_bisection_bps, data_bisection_bytes_per_s, "bit/s",
           "Bits per second that cross the cut between the halves of the data-parallel replicas in one direction.",
           .scale = 8, .when = FAB_FILLED, .source = BISECTION, .labels = "data-parallel bisection"),
    OBJECT(training, training, &TRAINING_RUN, "Training on train-tokens, without failures.", IF(training.tokens)),
    END_OF_FIELDS,
};
const fab_fields fab_iteration_fields = {
    .name = "iteration", .rows = ITERATIONS, .size = sizeof(T), .source = ITERATION};
