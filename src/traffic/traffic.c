/* Where phases come from: a job, a pattern or a file. */
#include "traffic_internal.h"

#include "fab/memory.h"
#include "fab/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void fab_traffic_release(fab_traffic *traffic) {
    for (size_t i = 0; i < traffic->n_phases; i++) {
        fab_phase_release(&traffic->phases[i]);
    }
    free(traffic->phases);
    free(traffic->gpu_of_rank);
    free(traffic->rank_of_gpu);
    *traffic = (fab_traffic){.n_phases = 0};
}

fab_status fab_traffic_reserve(fab_traffic *traffic, size_t n, fab_error *err) {
    size_t capacity = traffic->n_phases; /* what lies behind is not in use */
    return FAB_GROW(traffic->phases, capacity, traffic->n_phases + n, err);
}

void fab_traffic_take(fab_traffic *traffic, fab_phase_builder *builder) {
    traffic->phases[traffic->n_phases++] = builder->phase;
    *builder = (fab_phase_builder){.capacity = 0};
}

/* "gpt-145.6b: tp 8, pp 8, dp 24 on 1,536 GPUs, batch 2304 in 96 microbatches of 1" */
static void summarize_job(const fab_job *job, bool is_default, fab_traffic *traffic) {
    const fab_job_spec *s = &job->spec;
    char gpus[32];
    char interleave[40] = "";
    if (s->interleave > 1) {
        (void)snprintf(interleave, sizeof interleave, ", interleave %" PRIu64, s->interleave);
    }
    (void)snprintf(traffic->summary, sizeof traffic->summary,
                   "%s%s: tp %" PRIu64 ", pp %" PRIu64 ", dp %" PRIu64 "%s%s on %s GPUs, batch %" PRIu64 " in %" PRIu64
                   " microbatch%s of %" PRIu64,
                   is_default ? "default job " : "", s->model, s->tp, s->pp, s->dp, s->sharded ? " sharded" : "",
                   interleave, fab_format_count(gpus, job->n_gpus), s->batch, job->microbatches,
                   job->microbatches == 1 ? "" : "es", s->microbatch);
}

/* "; only dp group tp=3 pp=0" */
static void summarize_comm(fab_traffic *traffic, uint32_t comm) {
    char name[64];
    size_t used = strlen(traffic->summary);
    (void)snprintf(traffic->summary + used, sizeof traffic->summary - used, "; only %s",
                   fab_comm_name(traffic, &traffic->phases[0], comm, name));
}

static fab_status make_job(const fab_wanted *wanted, const fab_design *design, const fab_fabric *fabric,
                           fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_job job = {.servers = NULL};
    FAB_TRY(fab_job_resolve(design, fabric, &job, err));
    FAB_TRY(fab_job_place(&job, fabric, traffic, err));
    traffic->job = job.spec;
    traffic->parameters = fab_model_parameters(&job.model);
    summarize_job(&job, design->n_jobs == 0, traffic);
    FAB_TRY(fab_training_make(&job, fabric, wanted, traffic, err));
    if (wanted->comm != FAB_NONE) {
        summarize_comm(traffic, wanted->comm);
    }
done:
    fab_job_release(&job);
    return status;
}

/* job:PHASE[,comm=K] */
static fab_status make_phase_of_job(const char *text, const fab_design *design, const fab_fabric *fabric,
                                    fab_traffic *traffic, fab_error *err) {
    char phase[FAB_NAME_SIZE];
    const char *name = text + strlen("job:");
    size_t n = strcspn(name, ",");
    (void)snprintf(phase, sizeof phase, "%.*s", (int)(n < sizeof phase ? n : sizeof phase - 1), name);
    fab_wanted wanted = {.text = text, .phase = phase, .comm = FAB_NONE};
    if (name[n] == ',') {
        const char *key = name + n + 1;
        size_t length = strcspn(key, "=");
        if (length != strlen("comm") || strncmp(key, "comm", length) != 0) {
            return fab_fail(err, FAB_EINPUT, text, "a phase of a job has no key '%.*s'; allowed: comm",
                            (int)(length < 40 ? length : 40), key);
        }
        if (key[length] == '\0') {
            return fab_fail(err, FAB_EINPUT, text, "key 'comm' has no value; write comm=K, a communicator from 0");
        }
        uint64_t comm = 0;
        fab_error inner = {.code = FAB_OK};
        if (fab_count_parse(key + length + 1, 0, FAB_NONE - 1, &comm, &inner) != FAB_OK) {
            return fab_fail(err, inner.code, text, "comm: %s", inner.text);
        }
        wanted.comm = (uint32_t)comm;
    }
    return make_job(&wanted, design, fabric, traffic, err);
}

fab_status fab_traffic_make(const char *text, const fab_design *design, const fab_fabric *fabric, uint64_t seed,
                            fab_traffic *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_traffic traffic = {.n_phases = 0};
    if (strcmp(text, "job") == 0) {
        const fab_wanted all = {.text = text, .phase = NULL, .comm = FAB_NONE};
        FAB_TRY(make_job(&all, design, fabric, &traffic, err));
    } else if (strncmp(text, "job:", 4) == 0) {
        FAB_TRY(make_phase_of_job(text, design, fabric, &traffic, err));
    } else if (strncmp(text, "pattern:", 8) == 0) {
        FAB_TRY(fab_pattern_make(text, fabric, seed, &traffic, err));
    } else if (strncmp(text, "file:", 5) == 0) {
        FAB_TRY(fab_matrix_read(text + 5, fabric, &traffic, err));
    } else {
        FAB_FAIL(err, FAB_EINPUT, NULL,
                 "traffic '%.60s' is none of job, job:PHASE[,comm=K], pattern:NAME[,key=value...], file:PATH", text);
    }
    for (size_t i = 0; i < traffic.n_phases; i++) {
        FAB_TRY(fab_phase_number(&traffic.phases[i], err));
    }
    *out = traffic;
    traffic = (fab_traffic){.n_phases = 0};
done:
    fab_traffic_release(&traffic);
    return status;
}

const char *fab_comm_name(const fab_traffic *traffic, const fab_phase *phase, uint32_t comm, char *out) {
    if (traffic->n_ranks == 0) {
        if (phase->algorithm[0] != '\0' && strcmp(phase->name, "all-to-all") != 0) {
            (void)snprintf(out, 64, "group %" PRIu32, comm);
        } else if (phase->n_comms == 1) {
            (void)snprintf(out, 64, "all");
        } else {
            (void)snprintf(out, 64, "pair %" PRIu32, comm);
        }
        return out;
    }
    uint32_t n_tp = (uint32_t)traffic->job.tp;
    uint32_t n_pp = (uint32_t)traffic->job.pp;
    if (strncmp(phase->name, "tp", 2) == 0) { /* or "tp-1", ... */
        (void)snprintf(out, 64, "tp group pp=%" PRIu32 " dp=%" PRIu32, comm % n_pp, comm / n_pp);
    } else if (strcmp(phase->name, "pp") == 0) {
        (void)snprintf(out, 64, "pipeline tp=%" PRIu32 " dp=%" PRIu32, comm % n_tp, comm / n_tp);
    } else {
        (void)snprintf(out, 64, "dp group tp=%" PRIu32 " pp=%" PRIu32, comm % n_tp, comm / n_tp);
    }
    return out;
}
