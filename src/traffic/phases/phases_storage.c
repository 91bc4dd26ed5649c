/*
 * Bursts between a job and the storage servers. P parameters, w and o bytes of a weight and its optimizer state.
 *
 *     checkpoint   P (w + o)              every copy writes its share; tables (fp32, one fp32 of state per row) too
 *     ingest       B x bytes of a sample  to the first tensor and pipeline rank of every copy
 *
 * The i-th server of the job writes to and reads from storage server i mod n: GPU r of a server talks to GPU r of the
 * other, on its rail. Over the front-end the same between hosts.
 */
#include "phases.h"

#include "fab/sharding.h"

typedef double rank_bytes(const fab_job *job, uint32_t rank);

static uint32_t coordinate(const fab_job *job, uint32_t rank, fab_dimension dim) {
    return rank / job->stride[dim] % job->size[dim];
}

static double bytes_of_state(const fab_job_spec *s) {
    return (double)(s->parameter_bytes + s->optimizer_bytes);
}

static double table_bytes(const fab_job_spec *s) {
    return (double)s->rows * ((double)s->embedding + 1) * 4;
}

/* Of what a stage holds, every tensor rank and every copy writes an equal part; an expert's copies share it too. */
static double checkpoint_of(const fab_job *job, uint32_t rank) {
    const fab_job_spec *s = &job->spec;
    double dense = 0;
    double experts = 0;
    if (job->spec.kind == FAB_JOB_RANKING) {
        return (table_bytes(s) + (double)s->dense_parameters * bytes_of_state(s)) / (double)s->dp;
    }
    fab_stage_trained(s, &job->model, coordinate(job, rank, FAB_DIM_PP), &dense, &experts);
    return (dense + experts) * bytes_of_state(s) / ((double)s->tp * (double)s->cp * (double)s->dp);
}

static double ingest_of(const fab_job *job, uint32_t rank) {
    const fab_job_spec *s = &job->spec;
    bool reads = coordinate(job, rank, FAB_DIM_TP) == 0 && coordinate(job, rank, FAB_DIM_PP) == 0;
    return reads ? (double)s->batch * (double)s->sample_bytes / ((double)s->cp * (double)s->dp) : 0;
}

double fab_checkpoint_bytes(const fab_job *job) {
    const fab_job_spec *s = &job->spec;
    if (job->spec.kind == FAB_JOB_RANKING) {
        return table_bytes(s) + (double)s->dense_parameters * bytes_of_state(s);
    }
    double trained = 0;
    for (uint64_t stage = 0; stage < s->pp; stage++) {
        double dense = 0;
        double experts = 0;
        fab_stage_trained(s, &job->model, stage, &dense, &experts);
        trained += dense + experts;
    }
    return trained * bytes_of_state(s);
}

static double all_of_ingest(const fab_job *job) {
    return (double)job->spec.batch * (double)job->spec.sample_bytes;
}

static void write_formula(const fab_job *job, bool reads, fab_phase *phase) {
    const fab_job_spec *s = &job->spec;
    if (reads) {
        FAB_FORMAT(phase->formula, "B x %" PRIu64 " bytes of a %s", s->sample_bytes,
                   job->spec.kind == FAB_JOB_RANKING ? "sample" : "sequence");
    } else {
        FAB_FORMAT(phase->formula, "%s x (%" PRIu64 " + %" PRIu64 ") bytes of weight and optimizer state%s",
                   s->lora_rank > 0 ? "adapters" : "parameters", s->parameter_bytes, s->optimizer_bytes,
                   job->spec.kind == FAB_JOB_RANKING ? "; tables 4 bytes each, and 4 per row" : "");
    }
}

/* --- in the same network ------------------------------------------------------------------------------------------ */

fab_status fab_make_burst(training *t, const char *name, fab_phase_builder *builder, fab_error *err) {
    bool reads = strcmp(name, "ingest") == 0;
    const fab_job *job = t->job;
    rank_bytes *bytes_of = reads ? ingest_of : checkpoint_of;
    uint32_t rank = 0;
    FAB_PASS(fab_check_comm(t, name, 1, err));
    FAB_PASS(fab_open_phase(t, builder, name, "send-recv", job->n_gpus, 1,
                            reads ? all_of_ingest(job) : fab_checkpoint_bytes(job), err));
    for (uint32_t i = 0; i < job->n_servers; i++) {
        uint32_t storage = job->storage[i % job->n_storage];
        uint32_t n_present = fab_gpus_of_server(t->fabric, storage);
        for (uint32_t r = 0; r < fab_gpus_of_server(t->fabric, job->servers[i]); r++, rank++) {
            uint32_t gpu = t->gpu_of_rank[rank];
            uint32_t there = storage * t->fabric->gpus_per_server + r % n_present;
            uint64_t bytes = (uint64_t)(bytes_of(job, rank) + 0.5);
            fab_phase_add(builder, reads ? there : gpu, reads ? gpu : there, bytes, 0);
        }
    }
    write_formula(job, reads, &builder->phase);
    return FAB_OK;
}

/* --- over the front-end ------------------------------------------------------------------------------------------- */

static fab_status make_hosts(const fab_job *job, const fab_fabric *fabric, const fab_fabric *front_end,
                             uint32_t n_storage, bool reads, fab_phase_builder *builder, fab_error *err) {
    rank_bytes *bytes_of = reads ? ingest_of : checkpoint_of;
    uint32_t first_storage = fab_n_gpus(front_end) - n_storage;
    uint32_t rank = 0;
    double expected = reads ? all_of_ingest(job) : fab_checkpoint_bytes(job);
    const char *name = reads ? "ingest" : "checkpoint";
    FAB_REFUSE_IF(expected > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT, name,
                  "phase '%s' carries %.3g bytes, above the limit of %.2g", name, expected, FAB_PHASE_MAX_BYTES);
    FAB_PASS(fab_phase_open(builder, name, "send-recv", job->n_servers, err));
    for (uint32_t i = 0; i < job->n_servers; i++) {
        double bytes = 0;
        uint32_t host = job->servers[i];
        uint32_t storage = first_storage + i % n_storage;
        for (uint32_t r = 0; r < fab_gpus_of_server(fabric, host); r++) {
            bytes += bytes_of(job, rank++);
        }
        fab_phase_add(builder, reads ? storage : host, reads ? host : storage, (uint64_t)(bytes + 0.5), 0);
    }
    builder->phase.expected_bytes = expected;
    write_formula(job, reads, &builder->phase);
    return fab_phase_check(&builder->phase, err);
}

fab_status fab_front_end_make(const fab_job *job, const fab_fabric *fabric, const fab_fabric *front_end,
                              uint32_t n_storage, const fab_wanted *wanted, fab_traffic *traffic, fab_error *err) {
    static const char *const NAMES[] = {"checkpoint", "ingest"};
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder builder = {.capacity = 0};
    FAB_PASS(FAB_NEW(traffic->phases, 2, err));
    for (int reads = 0; reads < 2; reads++) {
        if (wanted->phase == NULL || strcmp(wanted->phase, NAMES[reads]) == 0) {
            FAB_PASS(make_hosts(job, fabric, front_end, n_storage, reads == 1, &builder, err));
            fab_traffic_take(traffic, &builder);
        }
    }
    FAB_REFUSE_IF(traffic->n_phases == 0, err, FAB_EINPUT, job->where,
                  "the front-end has no phase '%.40s'; it has checkpoint, ingest", wanted->phase);
    return FAB_OK;
}
