/* The phases of a training job under an engine put together: seconds per iteration. */
#include "fab/iterate.h"
#include "fab/job_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the time of a phase goes, by its name; a collective of several phases has them numbered: dp-1, dp-2, ... */
typedef struct role {
    const char *prefix;
    size_t offset;
} role;

static const role ROLES[] = {
    {"tp", offsetof(fab_job_times, tp)},           {"cp", offsetof(fab_job_times, cp)},
    {"pp", offsetof(fab_job_times, pp)},           {"ep", offsetof(fab_job_times, ep)},
    {"dp-ag", offsetof(fab_job_times, dp_gather)}, {"edp-ag", offsetof(fab_job_times, dp_gather)},
    {"dp", offsetof(fab_job_times, dp_reduce)},    {"edp", offsetof(fab_job_times, dp_reduce)},
};
#define N_ROLES (sizeof ROLES / sizeof ROLES[0])

/* The phase's own place, or NULL: what happens now and then (checkpoint, ingest) is in no iteration. */
static fab_phase_time *iterate_place_of(const char *name, fab_job_times *times) {
    for (size_t i = 0; i < N_ROLES; i++) {
        size_t n = strlen(ROLES[i].prefix);
        if (strncmp(name, ROLES[i].prefix, n) == 0 && (name[n] == '\0' || name[n] == '-')) {
            return (fab_phase_time *)((char *)times + ROLES[i].offset);
        }
    }
    return NULL;
}

/* Phases of one place follow each other. */
bool fab_iterate_add(const char *name, double transfer_s, double latency_s, bool in_network, fab_job_times *times) {
    fab_phase_time *to = iterate_place_of(name, times);
    if (to != NULL) {
        bool first = to->executions <= 0;
        to->transfer_s += transfer_s;
        to->latency_s += latency_s;
        to->executions = 1;
        to->scale_up = (first || to->scale_up) && !in_network;
    }
    return to != NULL;
}

static fab_status iterate_gather(const fab_result *result, size_t engine, const double *transfer_s, fab_job_times *out,
                                 fab_error *err) {
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *phase = &result->phases[i];
        const fab_engine_result *mine = &phase->engines[engine];
        double s = transfer_s != NULL ? transfer_s[i] : mine->transfer_s.mean;
        if (fab_iterate_add(phase->name, s, mine->latency_s, phase->network_flows > 0, out) && !mine->has_time) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "phase %s is too large for its time to be computed",
                            phase->name);
        }
    }
    return FAB_OK;
}

typedef struct memory_check {
    const fab_job_spec *job;
    const fab_model *model;
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
    return memory_with(context, microbatch, interleave).fits;
}

fab_status fab_iterate(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_iteration *out,
                       fab_error *err) {
    return fab_iterate_with(traffic, result, engine, NULL, NULL, out, err);
}

static fab_status iterate_times(const fab_traffic *traffic, const fab_job_times *times,
                                const fab_compute_model *compute, double network_usd_per_year, bool time_only,
                                fab_iteration *out, fab_error *err) {
    const memory_check check = {&traffic->job, &traffic->model};
    const fab_iteration_request request = {
        .job = &traffic->job,
        .times = times,
        .compute = compute,
        .choose_microbatch = traffic->job.microbatch_auto,
        .choose_interleave = traffic->job.interleave_auto,
        .fits = traffic->memory.fits ? fits : NULL, /* a job that is let run without fitting is timed as it is */
        .fits_context = &check,
        .time_only = time_only,
        .network_usd_per_year = network_usd_per_year};
    fab_status status = fab_iteration_time(&request, out, err);
    if (status == FAB_OK && !traffic->memory.fits && traffic->job.memory_check != FAB_MEMORY_CHECK_OFF) {
        out->usd_per_1e9_tokens = 0;
    }
    return status;
}

fab_status fab_iterate_times(const fab_traffic *traffic, const fab_job_times *times, const fab_compute_model *compute,
                             double *out_s, fab_error *err) {
    fab_iteration it;
    fab_status status = iterate_times(traffic, times, compute, 0, true, &it, err);
    *out_s = status == FAB_OK ? it.time_s : *out_s;
    return status;
}

fab_status fab_iterate_with(const fab_traffic *traffic, const fab_result *result, size_t engine,
                            const double *transfer_s, const fab_compute_model *compute, fab_iteration *out,
                            fab_error *err) {
    fab_status status = FAB_OK;
    fab_job_times times = {.tp = {.transfer_s = 0}};
    const fab_fabric_result *fabric = &result->fabrics[0];
    const memory_check check = {&traffic->job, &traffic->model};
    uint64_t spare_gpus = fabric->spec.spares * fabric->spec.gpus_per_server; /* are there for all */
    double share = fmin((double)result->ranks / (double)(fabric->counts.gpus - spare_gpus), 1);
    double usd_per_year = share * (fabric->cost.capital_usd_per_year + fabric->cost.energy_usd_per_year);
    FAB_TRY(iterate_gather(result, engine, transfer_s, &times, err));
    FAB_TRY(iterate_times(traffic, &times, compute, usd_per_year, false, out, err));
    out->network_share_ratio = share;
    (void)snprintf(out->engine, sizeof out->engine, "%s", result->phases[0].engines[engine].engine);
    out->memory = memory_with(&check, out->microbatch, out->interleave);
    out->pipeline_bisection_bytes_per_s = fab_pipeline_bisection_bytes_per_s(&traffic->job, &times.pp);
    out->data_bisection_bytes_per_s =
        fab_data_bisection_bytes_per_s(&traffic->job, &times.dp_reduce, traffic->parameters);
    if (traffic->job.train_tokens > 0) {
        out->training = fab_training_estimate(&traffic->job, out, fab_model_active_parameters(&traffic->model),
                                              traffic->job.train_tokens);
    }
done:
    return status;
}

bool fab_is_whole_training(const fab_traffic *traffic, const char *text) {
    bool whole = strcmp(text, "job") == 0;
    bool training = traffic->has_job && traffic->job.kind == FAB_JOB_TRAINING;
    return whole && training && traffic->n_phases > 0;
}

bool fab_iterates(const fab_traffic *traffic, const fab_result *result, const char *text) {
    return fab_is_whole_training(traffic, text) && result->n_fabrics > 0;
}
