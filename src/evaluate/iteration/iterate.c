/* The phases of a training job under an engine put together: seconds per iteration. */
#include "fab/iterate.h"
#include "roles.h"

/* Phases of one place follow each other. */
bool fab_iterate_add(const char *name, double transfer_s, double latency_s, bool in_network, fab_job_times *times) {
    const iterate_role *mine = iterate_role_of(name);
    if (mine != NULL) {
        fab_phase_time *to = (fab_phase_time *)(void *)((char *)times + mine->offset);
        bool first = to->executions <= 0;
        to->transfer_s += transfer_s;
        to->latency_s += latency_s;
        to->executions = 1;
        to->scale_up = (first || to->scale_up) && !in_network;
    }
    return mine != NULL;
}

/* --- an iteration ------------------------------------------------------------------------------------------------- */

static fab_status iterate_gather(const fab_result *result, size_t engine, const double *transfer_s, fab_job_times *out,
                                 fab_error *err) {
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *phase = &result->phases[i];
        const fab_engine_result *mine = &phase->engines[engine];
        double s = transfer_s != NULL ? transfer_s[i] : mine->transfer_s.mean;
        FAB_REFUSE_IF(fab_iterate_add(phase->name, s, mine->latency_s, phase->network_flows > 0, out) &&
                          !mine->has_time,
                      err, FAB_EUNSUPPORTED, NULL,
                      mine->deadlocked_seeds > 0 ? "phase %s ends in a deadlock"
                                                 : "phase %s is too large for its time to be computed",
                      phase->name);
    }
    out->paces = result->paces != NULL ? &result->paces[engine] : NULL;
    return FAB_OK;
}

/* What may be chosen. */
typedef struct memory_check {
    const fab_job_spec *job;
    const fab_model *model;
    const fab_iteration *chosen; /* this alone; NULL: what fits */
} memory_check;

static fab_job_memory memory_with(const memory_check *check, uint64_t microbatch, uint64_t interleave) {
    fab_job_spec job = *check->job;
    fab_job_memory memory;
    job.microbatch = microbatch;
    job.interleave = interleave;
    fab_job_memory_make(&job, check->model, job.batch / (job.dp * microbatch), &memory);
    return memory;
}

static bool fits(const void *context, uint64_t microbatch, uint64_t interleave) {
    const memory_check *check = context;
    const fab_iteration *chosen = check->chosen;
    return chosen != NULL ? microbatch == chosen->microbatch && interleave == chosen->interleave
                          : memory_with(check, microbatch, interleave).fits;
}

fab_status fab_iterate(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_iteration *out,
                       fab_error *err) {
    return fab_iterate_with(traffic, result, engine, NULL, NULL, NULL, out, err);
}

/* What differs from one call to another. */
typedef struct timing {
    const fab_compute_model *compute; /* NULL: fab_compute_default */
    double usd_per_s;
    bool time_only;
    const fab_iteration *chosen; /* its microbatch and chunks alone; NULL: those that are fastest */
    uint64_t max_bytes;
    fab_schedule **schedule; /* NULL: not wanted */
} timing;

static fab_status iterate_times(const fab_traffic *traffic, const fab_job_times *times, const timing *how,
                                fab_iteration *out, fab_error *err) {
    const memory_check check = {&traffic->job, &traffic->model, how->chosen};
    const fab_iteration_request request = {
        .job = &traffic->job,
        .model = &traffic->model,
        .times = times,
        .compute = how->compute,
        .choose_microbatch = traffic->job.microbatch_auto,
        .choose_interleave = traffic->job.interleave_auto && traffic->job.routed_chunks == 0,
        .fits = traffic->memory.fits || how->chosen != NULL
                    ? fits
                    : NULL, /* a job that is let run without fitting is timed as it is */
        .fits_context = &check,
        .time_only = how->time_only,
        .max_bytes = how->max_bytes,
        .schedule = how->schedule,
        .usd_per_s = how->usd_per_s};
    fab_status status = fab_iteration_time(&request, out, err);
    if (status == FAB_OK && !traffic->memory.fits && traffic->job.memory_check != FAB_MEMORY_CHECK_OFF) {
        out->usd_per_1e9_tokens = 0;
    }
    return status;
}

fab_status fab_iterate_times(const fab_traffic *traffic, const fab_job_times *times, const fab_compute_model *compute,
                             const fab_iteration *chosen, uint64_t max_bytes, fab_iteration *out, fab_error *err) {
    const timing how = {.compute = compute, .time_only = true, .chosen = chosen, .max_bytes = max_bytes};
    return iterate_times(traffic, times, &how, out, err);
}

fab_status fab_iterate_transport(const fab_traffic *traffic, const fab_result *result, size_t engine, double nic_s,
                                 const fab_paces *paces, fab_iteration *out, fab_error *err) {
    fab_job_times times = {.paces = paces};
    FAB_OWNED_NEW(fab_iteration, fluid, 1, err);
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        const fab_engine_result *mine = &result->phases[i].engines[engine];
        double steps = mine->paths.n_flows > 0 ? (double)phase->steps * (double)phase->executions : 0;
        (void)fab_iterate_add(phase->name, mine->fluid_s.mean > 0 ? mine->fluid_s.mean : mine->transfer_s.mean,
                              mine->latency_s - steps * nic_s, result->phases[i].network_flows > 0, &times);
    }
    FAB_PASS(fab_iterate_times(traffic, &times, NULL, out, result->fabrics[0].spec.max_bytes, fluid, err));
    out->fluid_time_s = fluid->time_s;
    out->transport_s = out->at_means_s - fluid->time_s;
    out->transport_ratio = out->transport_s / fluid->time_s;
    return FAB_OK;
}

/* Spares are there for all. */
static uint64_t spare_gpus(const fab_fabric_result *fabric) {
    return fabric->spec.spares * fabric->spec.gpus_per_server;
}

double fab_share_ratio(const fab_fabric_result *fabric, uint64_t ranks) {
    return fmin((double)ranks / (double)(fabric->counts.gpus - spare_gpus(fabric)), 1);
}

double fab_usd_per_s(const fab_fabric_result *fabric, uint64_t ranks, double gpu_hour_usd) {
    const double share = fab_share_ratio(fabric, ranks);
    const double gpus = fmin((double)ranks + share * (double)spare_gpus(fabric), (double)fabric->counts.gpus);
    return gpus * gpu_hour_usd / 3600 +
           share * (fabric->cost.capital_usd_per_year + fabric->cost.energy_usd_per_year) / FAB_SECONDS_PER_YEAR;
}

fab_status fab_iterate_with(const fab_traffic *given, const fab_result *result, size_t engine, const double *transfer_s,
                            const fab_compute_model *compute, const fab_iteration *chosen, fab_iteration *out,
                            fab_error *err) {
    /* As its phases were measured: of chunks that are chosen, the result may have more. */
    fab_job_times times = {.tp = {.transfer_s = 0}};
    const fab_fabric_result *fabric = &result->fabrics[0];
    const timing how = {.compute = compute,
                        .usd_per_s = fab_usd_per_s(fabric, result->ranks, given->job.gpu_hour_usd),
                        .chosen = chosen,
                        .max_bytes = fabric->spec.max_bytes};
    FAB_OWNED_COPY(fab_traffic, traffic, given, err);
    traffic->job.interleave = result->ranks > 0 ? result->job.interleave : given->job.interleave;
    FAB_PASS(iterate_gather(result, engine, transfer_s, &times, err));
    FAB_PASS(iterate_times(traffic, &times, &how, out, err));
    out->at_means_s = out->time_s;
    out->network_share_ratio = fab_share_ratio(fabric, result->ranks);
    FAB_FORMAT(out->engine, "%s", result->phases[0].engines[engine].engine);
    const memory_check check = {&traffic->job, &traffic->model, NULL};
    out->memory = memory_with(&check, out->microbatch, out->interleave);
    out->pipeline_bisection_bytes_per_s = fab_pipeline_bisection_bytes_per_s(&traffic->job, &times.pp);
    out->data_bisection_bytes_per_s = fab_data_bisection_bytes_per_s(&traffic->job, &times, traffic->parameters);
    if (traffic->job.train_tokens > 0) {
        out->training = fab_training_estimate(&traffic->job, out, fab_model_active_parameters(&traffic->model),
                                              traffic->job.train_tokens);
    }
    return FAB_OK;
}

static const size_t PARTS[] = {
    offsetof(fab_iteration, time_s),       offsetof(fab_iteration, compute_s),    offsetof(fab_iteration, bubble_s),
    offsetof(fab_iteration, exposed_tp_s), offsetof(fab_iteration, exposed_cp_s), offsetof(fab_iteration, exposed_ep_s),
    offsetof(fab_iteration, exposed_pp_s), offsetof(fab_iteration, exposed_dp_s), offsetof(fab_iteration, optimizer_s)};
#define N_PARTS FAB_N_OF(PARTS)

static double *part_of(fab_iteration *it, size_t i) {
    return (double *)(void *)((char *)it + PARTS[i]);
}

/* What is a time, or the inverse of one, in every seed. */
static void spread(double of_mean, const double *time_s, double mean_s, uint64_t n, bool inverse, double *values,
                   fab_stat *out) {
    FAB_FILL(values, n, of_mean * (inverse ? mean_s / time_s[fab_at] : time_s[fab_at] / mean_s));
    fab_stat_of(values, n, out);
}

/* The figures follow from the mean time from now on. */
static void iterate_settle(const fab_traffic *traffic, const double *time_s, double before_s, uint64_t n,
                           double *values, fab_iteration *it) {
    double slower = it->time_s / before_s;
    fab_iteration_seeds *seeds = &it->seeds;
    it->tflops_per_gpu /= slower;
    it->mfu_ratio /= slower;
    it->tokens_per_s /= slower;
    it->usd_per_1e9_tokens *= slower;
    if (it->training.tokens > 0) {
        it->training =
            fab_training_estimate(&traffic->job, it, fab_model_active_parameters(&traffic->model), it->training.tokens);
    }
    seeds->n_seeds = n;
    fab_parts_of(time_s, n, &seeds->parts);
    spread(it->time_s, time_s, it->time_s, n, false, values, &seeds->time_s);
    spread(it->tflops_per_gpu, time_s, it->time_s, n, true, values, &seeds->tflops_per_gpu);
    spread(it->mfu_ratio, time_s, it->time_s, n, true, values, &seeds->mfu_ratio);
    spread(it->tokens_per_s, time_s, it->time_s, n, true, values, &seeds->tokens_per_s);
    spread(it->usd_per_1e9_tokens, time_s, it->time_s, n, false, values, &seeds->usd_per_1e9_tokens);
}

fab_status fab_iterate_seeds(const fab_traffic *traffic, const fab_result *result, size_t engine,
                             const double *transfer_s, const fab_paces *paces, uint64_t n_seeds, fab_iteration *out,
                             fab_error *err) {
    FAB_OWNED double *time_s = NULL;
    FAB_OWNED double *values = NULL;
    fab_iteration mean = *out;
    const timing how = {.chosen = out, .max_bytes = result->fabrics[0].spec.max_bytes};
    for (size_t k = 0; k < N_PARTS; k++) {
        *part_of(&mean, k) = 0;
    }
    FAB_PASS(FAB_NEW_ALL(n_seeds, err, time_s, values));
    for (uint64_t i = 0; i < n_seeds; i++) {
        fab_job_times times = {.tp = {.transfer_s = 0}};
        fab_iteration it;
        FAB_PASS(iterate_gather(result, engine, transfer_s + i * result->n_phases, &times, err));
        times.paces = paces != NULL ? &paces[i] : NULL;
        FAB_PASS(iterate_times(traffic, &times, &how, &it, err));
        time_s[i] = it.time_s;
        for (size_t k = 0; k < N_PARTS; k++) {
            *part_of(&mean, k) += *part_of(&it, k) / (double)n_seeds;
        }
    }
    iterate_settle(traffic, time_s, out->time_s, n_seeds, values, &mean);
    *out = mean;
    return FAB_OK;
}

/* What a GPU draws, by what it does; nothing where no data sheet says what it may. */
static fab_gpu_watts gpu_watts(const fab_job_spec *job) {
    double most_w = job->accelerator.power_w;
    return (fab_gpu_watts){.compute_w = most_w * job->compute_power,
                           .communicate_w = most_w * job->communicate_power,
                           .idle_w = most_w * job->idle_power};
}

fab_status fab_iterate_schedule(const fab_traffic *traffic, const fab_result *result, size_t engine,
                                fab_iteration *iteration, fab_error *err) {
    const fab_job_spec *job = &traffic->job;
    fab_job_times times = {.tp = {.transfer_s = 0}};
    FAB_OWNS(fab_schedule_free_owned) fab_schedule *schedule = NULL;
    const timing how = {
        .time_only = true, .chosen = iteration, .max_bytes = result->fabrics[0].spec.max_bytes, .schedule = &schedule};
    fab_iteration it;
    FAB_PASS(iterate_gather(result, engine, NULL, &times, err));
    FAB_PASS(iterate_times(traffic, &times, &how, &it, err));
    if (job->accelerator.power_w > 0) {
        fab_gpu_watts watts = gpu_watts(job);
        FAB_PASS(fab_schedule_add_power(schedule, &watts, (double)job->tp * (double)job->cp * (double)job->dp,
                                        iteration->network_share_ratio * result->fabrics[0].cost.power_w, err));
    }
    return FAB_GIVE(iteration->schedule, schedule);
}

bool fab_is_whole_training(const fab_traffic *traffic, const char *text) {
    bool whole = strcmp(text, "job") == 0;
    bool training = traffic->has_job && traffic->job.kind == FAB_JOB_TRAINING;
    return whole && training && traffic->n_phases > 0;
}

bool fab_iterates(const fab_traffic *traffic, const fab_result *result, const char *text) {
    return fab_is_whole_training(traffic, text) && result->n_fabrics > 0;
}
