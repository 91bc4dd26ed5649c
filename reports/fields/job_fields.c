/* Jobs: `job`, `memory`, `iteration`, and phases that nobody has routed yet. */
#include "field_rows.h"
#include "field_tables.h"

#include "fab/sharding.h"

#define JOBS      "0026-jobs.md"
#define ITERATION "0025-iteration-time.md"
#define SHARED    "0064-phases-under-way-together.md"
#define DELIVERED "transfer_s of the phase / 0.8 (what links deliver of their rate) + latency_s"
#define SLOWDOWN  "max over links of bytes / (capacity * transfer time), summed over both phases; at least 1"
#define SCHEDULE  "0063-schedule-and-power.md"
#define BISECTION "compared with Narayanan et al., SC'21, 5.9"

#define T fab_job_memory
static const fab_field MEMORY[] = {
    FIGURE(weights_bytes, "byte", "Weights on the fullest GPU; embedding tables of a ranking job too.",
           .formula = "parameters on the GPU * bytes of one; zero=3: of its shard and of two layers in full"),
    FIGURE(gradients_bytes, "byte", "Gradients on the fullest GPU; with lora-rank of the adapters alone.",
           .formula =
               "trained parameters on the GPU * bytes of one gradient; zero=2, 3: of its shard and of two layers "
               "in full"),
    FIGURE(optimizer_bytes, "byte", "State of the optimizer on the fullest GPU.",
           .formula = "trained parameters on the GPU / copies that share them (zero=1, 2, 3) * bytes of their state"),
    FIGURE(
        activations_bytes, "byte",
        "Activations of all microbatches in flight on the fullest GPU, one recomputed layer and the logits included.",
        .source = "Korthikanti et al., 2022, equations 1 to 6; src/doc/adr/0026-jobs.md"),
    FIGURE(host_bytes, "byte", "What offload keeps in the memory of the host for the fullest GPU.", FILLED),
    FIGURE(cache_bytes, "byte", "Cached keys and values of a serving job on the fullest GPU."),
    FIGURE(total_bytes, "byte",
           "What a job keeps on its fullest GPU. What a framework reserves for itself is not in it.",
           .formula = "weights + gradients + optimizer + activations + cache", .labels = "memory"),
    FIGURE(capacity_bytes, "byte", "Memory of the GPU by its data sheet, which counts in units of 2^30 bytes."),
    FIELD(stage, "The pipeline stage that has the fullest GPU, from 0."),
    FIELD(rule_gpus, "Least GPUs by the rule of thumb: parameters x bytes x 1.25 / memory of one."),
    FIELD(fits, "Whether the total is at most the memory of the GPU."),
};
const fab_fields fab_memory_fields = TABLE("memory", MEMORY, JOBS);

#undef T
#define T fab_result
GIVES(uint64_t, zero_stage, (uint64_t)(fab_job_zero(&here->job) - FAB_ZERO_0));

static const fab_field JOB[] = {
    NAMED_OF(kind, job.kind, fab_job_kinds, 3, "Kind of the job: training, ranking or serving."),
    FIELD_OF(model, job.model, "Name of the model.", FILLED),
    FIELD_OF(gpu, job.accelerator.name, "Name of the GPU.", FILLED),
    NAMED_OF(precision, job.precision, fab_precisions, FAB_N_PRECISIONS,
             "Elements of the matrices that the layers multiply; attention, logits and sums stay 16 bits wide."),
    FIGURE_OF(gpu_hour_usd, job.gpu_hour_usd, "USD", "Price of one GPU for an hour.", FILLED),
    FIELD_OF(gpu_price_source, job.accelerator.price_source,
             "Where list gpus has its price from; gpu-hour-usd replaces it.", FILLED),
    FIELD(ranks, "Ranks of the job, one on each GPU it takes."),
    FIELD_OF(tp, job.tp, "Tensor-parallel size.", .labels = "tensor parallel"),
    FIELD_OF(cp, job.cp, "Context-parallel size.", .labels = "context parallel"),
    FIELD_OF(pp, job.pp, "Pipeline-parallel size: the number of stages.", .labels = "pipeline parallel"),
    FIELD_OF(dp, job.dp, "Data-parallel size: the number of replicas.", .labels = "data parallel"),
    FIELD_OF(ep, job.ep, "Expert-parallel size; it divides dp x cp.", .labels = "expert parallel"),
    COUNT_BY(zero, zero_stage,
             "What data-parallel copies share: 0 nothing, 1 states of the optimizer, 2 gradients too, 3 weights too.",
             .source = "ZeRO, Rajbhandari et al., 2020", .labels = "FSDP"),
    FIELD_OF(batch, job.batch, "Sequences, or samples of a ranking job, in one iteration."),
    FIELD_OF(microbatch, job.microbatch, "Sequences that pass through a stage at once."),
    FIELD_OF(interleave, job.interleave, "Chunks of layers that each stage holds; 1 is not interleaved."),
    FIGURE_OF(published_tflops_per_gpu, job.published_tflops, "TFLOP/s",
              "What the source of the preset reports, to compare with tflops_per_gpu.", FILLED),
    FIGURE_OF(published_pipeline_bisection_bps, job.published_pipeline_bps, "bit/s",
              "What the source of the preset reports, to compare with pipeline_bisection_bps.", FILLED),
    FIGURE_OF(published_data_bisection_bps, job.published_data_bps, "bit/s",
              "What the source of the preset reports, to compare with data_bisection_bps.", FILLED),
    FIELD_OF(not_timed, iteration_note, "Why there is no iteration.", FILLED),
    OBJECT(memory, memory, &fab_memory_fields,
           "Memory of a GPU of the fullest stage, with this microbatch and interleaving."),
};
const fab_fields fab_job_fields = TABLE("job", JOB, ITERATION);

#undef T
#define T fab_phase
static const fab_field LISTED_PHASES[] = {
    FIELD(name, "Name of the phase."),
    FIELD(collective, "What its communicators do: all-reduce, send-recv, ..."),
    FIELD_OF(communicators, n_comms, "Communicators that are at work in it."),
    FIELD_OF(flows, n_flows, "Flows of the phase."),
    FIGURE_OF(bytes, total_bytes, "byte", "Bytes of all its flows over one iteration, counted flow by flow."),
    FIELD(steps, "Dependent steps of one execution."),
    FIELD(executions, "Executions in one iteration."),
    FIGURE(expected_bytes, "byte", "Bytes of the phase by its closed form; 0 where there is none."),
    FIELD(formula, "Closed form of its bytes; empty where there is none."),
};
const fab_fields fab_listed_phase_fields = TABLE("listed_phase", LISTED_PHASES, "0008-traffic.md");

/* --- iterations --------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_training
static const fab_field TRAINING[] = {
    FIELD(tokens, "Tokens of the whole training run."),
    FIGURE(days, "d", "Time of the training run without failures.", .formula = "tokens / tokens_per_s / 86400"),
    FIGURE(usd, "USD", "Price of the training run.", FILLED, .formula = "usd_per_1e9_tokens * tokens / 1e9"),
    FIGURE(rule_days, "d", "The time by the rule of thumb, from the same throughput.",
           .formula = "8 T P / (n X), 6 T P / (n X) without full recomputation; P: parameters that a token passes",
           .source = "Narayanan et al., SC'21, 5.1, equation 4"),
};
static const fab_fields TRAINING_RUN = TABLE("training", TRAINING, ITERATION);

#undef T
#define T fab_iteration_seeds
GIVES(bool, are_several, here->n_seeds > 1);

static const fab_field SEEDS_OF_ITERATION[] = {
    FIELD_OF(seeds, n_seeds, "Seeds that gave one each; microbatch and chunks are the same for all."),
    FIGURE(time_s, "s", "Time of an iteration over the seeds."),
    FIGURE(tflops_per_gpu, "TFLOP/s", "Floating-point operations executed per second and GPU over the seeds."),
    FIELD(mfu_ratio, "Model FLOPs utilisation over the seeds."),
    FIGURE(tokens_per_s, "1/s", "Tokens of the whole job per second over the seeds."),
    FIGURE(usd_per_1e9_tokens, "USD", "GPU hours and network per 1e9 tokens over the seeds.", FILLED),
};
static const fab_fields ITERATION_SEEDS = TABLE("iteration_seeds", SEEDS_OF_ITERATION, ITERATION, .many = are_several);

#undef T
#define T fab_op_sum
static const fab_field KINDS[] = {
    NAMED(kind, kind, fab_op_names,
          "Passes of microbatches (forward, backward, weights), what travels, or the optimizer."),
    FIELD(count, "Operations of this kind in one iteration."),
    FIGURE(busy_s, "s", "Sum of their times; exchanges in line are in those of passes."),
    FIGURE(first_s, "s", "When the first begins, from the start of the iteration."),
    FIGURE(last_s, "s", "When the last ends."),
};
static const fab_fields KIND = TABLE("kinds", KINDS, SCHEDULE);

#undef T
#define T fab_op
static const fab_field OPERATIONS[] = {
    NAMED(kind, kind, fab_op_names,
          "A pass of a microbatch (forward, backward, weights), what travels, or the optimizer."),
    FIELD(chunk, "Chunk of layers on this stage, from 0."),
    FIELD(microbatch, "Microbatch of the pipeline, from 0; 0 of what is for all of them."),
    FIGURE(start_s, "s", "When it begins, from the start of the iteration."),
    FIGURE(end_s, "s", "When it ends."),
};
static const fab_fields OPERATION = TABLE("operations", OPERATIONS, SCHEDULE);

#undef T
#define T fab_schedule_stage
static const fab_field STAGES[] = {
    FIELD(stage, "Number of the stage, from 0; the lowest of those that are alike."),
    FIELD(alike, "Stages whose operations take the same time, itself included; each begins them at a time of its own."),
    FIGURE_OF(compute_s, use.compute_s, "s", "Forward and backward passes and recomputation of this stage."),
    FIGURE_OF(exchange_s, use.exchange_s, "s", "Tensor, context and expert exchanges in line with them."),
    FIGURE_OF(bubble_s, use.bubble_s, "s",
              "Idle though transfers between stages and exchanges of replicas cost nothing."),
    FIGURE_OF(send_s, use.send_s, "s", "More idle for transfers between stages."),
    FIGURE_OF(replica_s, use.replica_s, "s", "More idle for parameters and gradients of replicas."),
    FIGURE_OF(optimizer_s, use.optimizer_s, "s", "Optimizer step of the slowest stage."),
    ARRAY(kinds, "kind", sum, n_sums, &KIND, "What it does and sends, by kind."),
    LIST(operations, "operation", op, n_ops, &OPERATION, "Each of them, by start."),
};
static const fab_fields STAGE = TABLE("schedule_stage", STAGES, SCHEDULE);

#undef T
#define T fab_power
static const fab_field POWERS[] = {
    FIGURE(peak_w, "W", "Most power at any moment.", .labels = "peak power"),
    FIGURE(mean_w, "W", "Power on average over an iteration.", .formula = "energy of an iteration / time of it",
           .labels = "mean power"),
    FIGURE(min_w, "W", "Least power at any moment of an iteration."),
    FIGURE(step_w, "W", "Largest change from one moment to the next, that into the next iteration included.",
           .labels = "step"),
    FIGURE(idle_w, "W", "Power while all GPUs wait: for a checkpoint to be written, or for a restart."),
    FIGURE(network_w, "W", "Power of the job's share of the network, which is in all of these.",
           .formula = "network_share_ratio * power of the network's parts"),
};
static const fab_fields POWER = TABLE(
    "power", POWERS, SCHEDULE,
    .definition = "Power of the job's GPUs by what they do, and of its share of the network; no hosts, no cooling.");

#undef T
#define T fab_schedule
static const fab_field SCHEDULES[] = {
    NAMED(order, pipeline.order, fab_pipeline_orders, "In which order a stage takes its passes."),
    FIELD_OF(microbatches, pipeline.n_microbatches, "Microbatches of one pipeline in an iteration."),
    FIGURE_OF(time_s, timeline.time_s, "s", "Makespan with the mean times of the phases."),
    FIELD_OF(busiest_stage, timeline.busiest, "The stage that computes and exchanges longest."),
    OBJECT(power, power, &POWER, "Power over an iteration, where that of the GPU is known.", IF(power.peak_w)),
    LIST(stages, "stage", stage, n_stages, &STAGE, "Stages, one for all that are alike."),
};
static const fab_fields SCHEDULE_FIELDS = TABLE("schedule", SCHEDULES, SCHEDULE);

#undef T
#define T fab_iteration
static const fab_field ITERATIONS[] = {
    FIELD(engine, "Name of the routing engine."),
    FIELD(plan, "How the job is run under it, as keys of the job, where that was searched.", FILLED),
    FIGURE_OF(plan_lower_bound_s, plan_bound_s, "s",
              "Under the first seed no plan that the search did not evaluate takes less.", FILLED),
    FIELD(plan_is_proven, "Whether that search went to its end.", IF(plan_bound_s)),
    FIELD(microbatch, "That of the job, or the fastest of 1, 2, 4 and 8 that fits."),
    FIELD(interleave, "That of the job, or the fastest that the schedule allows."),
    FIGURE(time_s, "s", "Time of an iteration: computation, bubble, exposed communication and optimizer.",
           .formula = "compute_s + bubble_s + exposed_*_s + optimizer_s", .labels = "iteration|iteration time"),
    FIGURE(fluid_time_s, "s", "The same iteration, microbatch and chunks if flows shared links max-min fairly.",
           IF(fluid_time_s), .labels = "fluid step"),
    FIGURE(transport_s, "s", "What the transport adds to the iteration; over several seeds, at their mean times.",
           IF(fluid_time_s), .formula = "time_s - fluid_time_s", .labels = "added by the transport"),
    FIELD(transport_ratio, "That, of the iteration with fair shares.", IF(fluid_time_s),
          .formula = "transport_s / fluid_time_s"),
    FIGURE(compute_s, "s", "Computation alone on the busiest pipeline stage, recomputation included.",
           .formula = "microbatches * layers * kernel times", .labels = "compute|computation"),
    FIGURE(bubble_s, "s",
           "The busiest stage idle though transfers between stages and exchanges of replicas cost nothing.",
           .formula = "of the schedule; equal stages: (p - 1) / (v m) of compute_s",
           .source = "Narayanan et al., SC'21, 2.2", .labels = "bubble|pipeline bubble"),
    FIGURE(exposed_tp_s, "s", "Tensor-parallel communication that no computation hides.",
           .formula = "time - min(tp-overlap * time, kernels of the same pass), where time is " DELIVERED
                      ", forward exchanges again with full recomputation",
           .labels = "exposed|exposed tp|tp exposed"),
    FIGURE(exposed_cp_s, "s", "Context-parallel communication that no computation hides.",
           .labels = "exposed|exposed cp|cp exposed"),
    FIGURE(exposed_pp_s, "s", "More idle of the busiest stage with transfers between pipeline stages than without.",
           .formula = "of the schedule, where a transfer takes " DELIVERED, .labels = "exposed|exposed pp|pp exposed"),
    FIGURE(exposed_ep_s, "s", "The exchange between experts that no computation hides.",
           .labels = "exposed|exposed ep|ep exposed"),
    FIGURE(exposed_dp_s, "s", "More idle with the exchange of gradients and sharded parameters than without.",
           .formula = "of the schedule; with dp-overlap 0 the time of the exchange: " DELIVERED,
           .labels = "exposed|exposed dp|dp exposed"),
    FIGURE(optimizer_s, "s", "Optimizer step of the slowest stage, bound by memory bandwidth.",
           .formula = "bytes read and written / memory bandwidth", .labels = "optimizer"),
    FIELD_OF(gather_slowdown_ratio, shared.gather,
             "How many times longer a transfer between stages and a gather of parameters take while both are under "
             "way; missing where they have no bottleneck in common.",
             FILLED, .formula = SLOWDOWN, .source = SHARED),
    FIELD_OF(reduce_slowdown_ratio, shared.reduce,
             "The same of a transfer between stages and a reduction of gradients.", FILLED, .formula = SLOWDOWN,
             .source = SHARED),
    FIELD_OF(exchange_slowdown_ratio, shared.exchange,
             "How many times longer tensor, context or expert exchanges in line take at most while a transfer, a "
             "gather or a reduction is under way; missing where they have no bottleneck in common.",
             FILLED, .formula = SLOWDOWN, .source = SHARED),
    FIGURE(tflops_per_gpu, "TFLOP/s",
           "Floating-point operations executed per second and GPU, recomputation included; of fused attention the half "
           "that the causal mask leaves.",
           .formula = "executed FLOPs / (gpus * time_s) / 1e12", .source = "Narayanan et al., SC'21, 5.1",
           .labels = "TFLOP/s|TFLOP/s per GPU"),
    FIELD(mfu_ratio,
          "Model FLOPs utilisation: FLOPs of the model alone, without recomputation, over the peak of the GPUs in the "
          "job's precision.",
          .formula = "model FLOPs / (gpus * time_s * peak)", .source = "Chowdhery et al., PaLM, 2022, appendix B",
          .labels = "MFU|model FLOPs utilisation"),
    FIGURE(tokens_per_s, "1/s", "Tokens of the whole job per second.", .formula = "batch * sequence length / time_s",
           .labels = "tokens/s"),
    FIGURE(usd_per_1e9_tokens, "USD",
           "Hours of its GPUs and of its share of the spare ones, and capital and energy of its share of the network, "
           "per 1e9 tokens; not there for a job that does not fit, unless memory-check=off.",
           FILLED,
           .formula = "(GPU-hour price * (gpus + network_share_ratio * spare GPUs) + network_share_ratio * network per "
                      "hour) / (tokens_per_s * 3600) * 1e9",
           .labels = "$/1e9 tokens"),
    FIGURE(owned_usd_per_1e9_tokens, "USD",
           "Cost of ownership of the job's part of the cluster, per 1e9 tokens: all is bought and run.", FILLED,
           .source = "0077-cost-of-ownership.md",
           .formula = "ownership.total_usd * network_share_ratio / (tokens_per_s * years * 31,536,000) * 1e9"),
    FIELD(network_share_ratio,
          "The part of the network that the job pays for: its GPUs of all. A figure of cost over it is that of a job "
          "that pays for the GPUs that idle too.",
          .formula = "ranks / GPUs of the fabric without spares"),
    FIGURE_OF(memory_bytes, memory.total_bytes, "byte",
              "Weights, gradients, optimizer state and activations of the fullest GPU with this microbatch.",
              .source = JOBS),
    FIGURE_OF(pipeline_bisection_bps, pipeline_bisection_bytes_per_s, "bit/s",
              "Bits per second that cross, in one direction, the cut between the first and the second half of the "
              "pipeline stages, over the time of the phase at nominal link rates.",
              .scale = 8, FILLED, .source = BISECTION, .labels = "pipeline bisection"),
    FIGURE_OF(data_bisection_bps, data_bisection_bytes_per_s, "bit/s",
              "Bits per second that cross the cut between the halves of the data-parallel replicas in one direction.",
              .scale = 8, FILLED, .source = BISECTION, .labels = "data-parallel bisection"),
    FIELD_OF(no_schedule, schedule_note, "Why there is no schedule.", FILLED),
    OBJECT(seeds, seeds, &ITERATION_SEEDS,
           "The iteration of every seed, of several; the figures beside this field are of the mean time.",
           IF(seeds.n_seeds)),
    POINTED(schedule, schedule, &SCHEDULE_FIELDS, "What every pipeline stage does when."),
    OBJECT(training, training, &TRAINING_RUN, "Training on train-tokens, without failures.", IF(training.tokens)),
};
const fab_fields fab_iteration_fields = TABLE("iteration", ITERATIONS, ITERATION);

/* --- serving ------------------------------------------------------------------------------------------------------ */

#undef T
#define T      fab_serving
#define SERVED "0092-own-units.md"
#define QUEUED "0099-requests-and-tables.md"
static const fab_field SERVING[] = {
    FIELD(engine, "Name of the routing engine."),
    FIGURE(first_token_s, "s",
           "Time to first token: a microbatch of prompts through all stages, without a queue and behind no other.",
           .formula = "layers * (kernels of the prompts + exchanges) + head + (pp - 1) * hop",
           .labels = "first token|time to first token"),
    FIGURE(first_token_network_s, "s", "Of that, exchanges and hops."),
    FIGURE(token_s, "s", "Time per token: one more of all sequences of a replica.",
           .formula =
               "layers * (kernels of batch / dp tokens + their keys and values + exchanges) + head + (pp - 1) * hop",
           .labels = "per token|time per token"),
    FIGURE(token_network_s, "s", "Of that, exchanges and hops."),
    FIGURE(weights_s, "s",
           "What reading the weights takes of time per token, at most what network and cache_s leave of it.",
           .formula = "weights of the fullest GPU * bytes of precision * layers / its layers / memory bandwidth"),
    FIGURE(cache_s, "s", "What reading keys and values takes of it, half of the tokens generated.",
           .formula = "cache_bytes * (prompt + tokens / 2) / (prompt + tokens) / memory bandwidth"),
    FIGURE(batch_s, "s", "All prompts read, and all tokens of them generated.",
           .formula = "first_token_s + (microbatches - 1) * fullest stage + tokens * token_s"),
    FIGURE(tokens_per_s, "1/s", "Tokens that the whole job generates per second.",
           .formula = "batch * tokens / batch_s"),
    FIGURE(requests_per_s, "1/s", "Sequences that the whole job answers per second.", .formula = "batch / batch_s"),
    FIGURE(
        usd_per_1e6_tokens, "USD",
        "GPU hours, and capital and energy of the job's share of the network, per 1e6 tokens generated; not there for "
        "a job that does not fit.",
        FILLED,
        .formula =
            "(GPU-hour price * (gpus + share * spare GPUs) + share * network per hour) / (tokens_per_s * 3600) * 1e6",
        .labels = "$/1e6 tokens"),
    FIGURE(all_reduce_s, "s",
           "One tensor-parallel all-reduce of a pass over all sequences of a replica, as busbw has it.", FILLED,
           .source = "0089-collectives-of-nccl.md", .labels = "all-reduce"),
    FIGURE(kv_transfer_s, "s",
           "Keys and values of a microbatch of prompts from the replicas that read to those that generate.", FILLED,
           .source = QUEUED),
    FIGURE(most_requests_per_s, "1/s", "Requests that do not make the queue grow without end.", .source = QUEUED,
           .formula = "replicas / (reading a prompt + (tokens - 1) * token_s / sequences); with prefill-replicas the "
                      "smaller of the pools",
           .labels = "at most"),
    FIGURE(arrivals_per_s, "1/s",
           "Requests that arrive at random (Poisson): request-rate, or 0.7 of the most. Not there, as the waits, where "
           "it is not below the most.",
           FILLED, .source = QUEUED, .labels = "requests/s"),
    FIELD(load_ratio,
          "Arrivals over the most. Above 0.95 the waits are those of the simulated window, and grow with it.", FILLED,
          .source = QUEUED, .formula = "arrivals_per_s / most_requests_per_s"),
    FIGURE(window_s, "s", "In which the simulated requests arrive: the waits are of the last four fifths of them.",
           FILLED, .source = QUEUED),
    FIGURE(first_token_p50_s, "s", "Time from arrival to the first token, queue included: median.", FILLED,
           .source = QUEUED, .labels = "first p50"),
    FIGURE(first_token_p99_s, "s", "The same that 99 of 100 requests stay within.", FILLED, .source = QUEUED,
           .labels = "first p99"),
    FIGURE(token_p50_s, "s",
           "Mean time between the tokens of a request, while prompts of others are read between them: median.", FILLED,
           .source = QUEUED, .labels = "token p50"),
    FIGURE(token_p99_s, "s", "The same that 99 of 100 requests stay within.", FILLED, .source = QUEUED,
           .labels = "token p99"),
};
const fab_fields fab_serving_fields = TABLE("serving", SERVING, SERVED);

/* --- ranking ------------------------------------------------------------------------------------------------------ */

#undef T
#define T fab_ranking_batch
static const fab_field RANKING[] = {
    FIELD(engine, "Name of the routing engine."),
    FIGURE(batch_s, "s", "A batch, one part after the other but for what dp-overlap hides.",
           .formula = "lookup_s + dense_s + exchange_s + reduction_s", .labels = "batch"),
    FIGURE(lookup_s, "s", "Rows of the tables are read, then read and written; on the GPU with most of them.",
           .formula = "3 * 4 bytes * batch / gpus * looked-up columns of a sample * peak / memory bandwidth",
           .labels = "lookups"),
    FIGURE(dense_s, "s",
           "Products of the dense part, forward and backward, as square layers of 1,024 (an assumption), and the step "
           "of its optimizer.",
           .labels = "dense"),
    FIGURE(exchange_s, "s", "Vectors to who needs them, and their gradients back: the phases embedding.",
           .labels = "exchange"),
    FIGURE(reduction_s, "s", "Gradients of the dense part: the phases dp, as far as dp-overlap does not hide them.",
           .formula = "(1 - dp-overlap) * phases dp", .labels = "reduction"),
    FIGURE(samples_per_s, "1/s", "Samples of the whole job per second.", .formula = "batch / batch_s",
           .labels = "samples/s"),
    FIGURE(usd_per_1e6_samples, "USD",
           "GPU hours, and capital and energy of the job's share of the network, per 1e6 samples; not there for a job "
           "that does not fit.",
           FILLED, .labels = "$/1e6 samples"),
};
const fab_fields fab_ranking_fields = TABLE("ranking", RANKING, QUEUED);
