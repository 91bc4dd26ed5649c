/* Where phases come from: a job, a pattern or a file. */
#include "files/file_formats.h"
#include "fab/sharding.h"

#include "fab/design.h"
#include "fab/choices.h"
#include "fab/job_sharing.h"
#include "fab/units.h"

#define SUMMARIZE(traffic, ...) fab_append((traffic)->summary, sizeof(traffic)->summary, __VA_ARGS__)

void fab_traffic_release(fab_traffic *traffic) {
    FAB_RELEASE_EACH(fab_phase_release, traffic->phases, traffic->n_phases);
    fab_ranks *r = &traffic->logged;
    FAB_FREE_ALL(traffic->phases, traffic->gpu_of_rank, traffic->rank_of_gpu);
    FAB_FREE_ALL(r->gpu, r->of_gpu, r->inside_ratio, r->across_ratio, r->late_s, r->stuck);
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

/* "tp 8, pp 8, dp 24 on 1,536 GPUs, batch 2304 in 96 microbatches of 1" */
static void summarize_shape(const fab_job *job, fab_traffic *traffic) {
    const fab_job_spec *s = &job->spec;
    char reason[FAB_BATCH_REASON];
    char sharding[48];
    SUMMARIZE(traffic, "tp %" PRIu64, s->tp);
    if (s->cp > 1) {
        SUMMARIZE(traffic, ", cp %" PRIu64, s->cp);
    }
    SUMMARIZE(traffic, ", pp %" PRIu64 "%s, dp %" PRIu64 "%s", s->pp, s->pp_auto ? " (fewest that fit)" : "", s->dp,
              fab_sharding_text(s, " ", sharding));
    if (s->ep > 1) {
        SUMMARIZE(traffic, ", ep %" PRIu64, s->ep);
    }
    if (s->interleave > 1) {
        SUMMARIZE(traffic, ", interleave %" PRIu64, s->interleave);
    }
    if (s->plan_chosen) {
        const bool is_usual = s->order[0] == '\0' || strcmp(s->order, "tp-cp-pp-dp") == 0;
        SUMMARIZE(traffic, ", recompute %s%s%s%s (the %s plan%s)", fab_recomputes[s->recompute],
                  s->sequence_parallel ? ", sequence parallel" : "", is_usual ? "" : ", order ",
                  is_usual ? "" : s->order, s->plan_is_tried ? "best" : "fastest",
                  s->plan_is_short ? " of a short search" : "");
    }
    SUMMARIZE(traffic, " on %s GPUs, batch %" PRIu64, FAB_SAY_COUNT(job->n_gpus), s->batch);
    if (s->kind == FAB_JOB_SERVING) {
        SUMMARIZE(traffic, " (%" PRIu64 " per replica%s)", s->batch / fab_serving_replicas(s, true),
                  s->prefill_replicas > 0 ? " that generates" : "");
    }
    if (s->batch_unrounded > 0) {
        SUMMARIZE(traffic, " (%s)", fab_job_batch_reason(s->batch, s->batch_unrounded, job->n_gpus, reason));
    }
    SUMMARIZE(traffic, " in %" PRIu64 " microbatch%s of %" PRIu64 "%s", job->microbatches,
              job->microbatches == 1 ? "" : "es", s->microbatch,
              s->microbatch_auto && job->spec.kind == FAB_JOB_TRAINING ? " (auto)" : "");
    if (job->spec.kind == FAB_JOB_SERVING) {
        SUMMARIZE(traffic, ", prompts of %" PRIu64 ", %" PRIu64 " tokens each", s->prompt, s->tokens);
    }
}

/* "; random placement (seed 3), 4 storage servers" */
static void summarize_placement(const fab_job *job, fab_traffic *traffic) {
    const fab_job_spec *s = &job->spec;
    if (s->placement != FAB_PLACEMENT_ORDER) {
        SUMMARIZE(traffic, "; %s placement", fab_placements[s->placement]);
        if (s->placement == FAB_PLACEMENT_RANDOM) {
            SUMMARIZE(traffic, " (seed %" PRIu64 ")", s->placement_seed);
        }
    }
    if (job->n_storage > 0) {
        SUMMARIZE(traffic, "; %s storage server%s", FAB_SAY_COUNT(job->n_storage), job->n_storage == 1 ? "" : "s");
    }
}

static void summarize_job(const fab_job *job, fab_traffic *traffic) {
    const fab_job_spec *s = &job->spec;
    SUMMARIZE(traffic, "%s%s%s: ", s->is_default ? "default job " : "",
              job->spec.kind == FAB_JOB_SERVING ? "serving " : "", s->model);
    if (job->spec.kind == FAB_JOB_RANKING) {
        SUMMARIZE(traffic, "ranking, %" PRIu64 " tables over %s GPUs, batch %" PRIu64, s->tables,
                  FAB_SAY_COUNT(job->n_gpus), s->batch);
    } else {
        summarize_shape(job, traffic);
    }
    summarize_placement(job, traffic);
    if (!job->memory.fits) {
        SUMMARIZE(traffic, "; does not fit: %s of %s", FAB_SAY(job->memory.total_bytes, FAB_UNIT_BYTES),
                  FAB_SAY(job->memory.capacity_bytes, FAB_UNIT_BYTES));
    }
}

/* What later stages need of the job. */
static void describe_job(const fab_job *job, fab_traffic *traffic) {
    const fab_job_spec *s = &job->spec;
    traffic->job = *s;
    traffic->has_job = true;
    traffic->model = job->model;
    traffic->memory = job->memory;
    traffic->microbatches = job->microbatches;
    traffic->checkpoint_bytes = s->kind != FAB_JOB_SERVING ? fab_checkpoint_bytes(job) : 0;
    traffic->parameters = job->spec.kind == FAB_JOB_RANKING
                              ? (double)s->rows * (double)s->embedding + (double)s->dense_parameters
                              : fab_model_parameters(&job->model);
    summarize_job(job, traffic);
}

/* The first job, on servers that the others leave it. */
static fab_status resolve_first(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err) {
    FAB_OWNED fab_design *placed = NULL;
    if (design->n_jobs < 2) {
        return fab_job_resolve(design, fabric, out, err);
    }
    FAB_PASS(FAB_NEW(placed, 1, err)); /* too large for a thread's stack */
    FAB_PASS(fab_jobs_place(design, fabric, placed, err));
    return fab_job_resolve(placed, fabric, out, err);
}

fab_status fab_traffic_default_model(const fab_design *design, const fab_fabric *fabric, fab_model *out,
                                     fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job job = {.servers = NULL};
    const bool is_open = design->n_jobs > 0 && fab_job_plan_open(&design->jobs[0]) != 0;
    FAB_OWNED_NEW(fab_design, placed, 1, err);
    FAB_PASS(fab_jobs_place(design, fabric, placed, err));
    FAB_PASS((is_open ? fab_job_open_first : fab_job_resolve)(placed, fabric, &job, err));
    bool is_default = job.spec.kind == FAB_JOB_TRAINING && !job.model_given;
    *out = is_default ? job.model : (fab_model){.name = NULL};
    return FAB_OK;
}

static fab_status make_job(const fab_wanted *wanted, const fab_design *design, const fab_fabric *fabric,
                           fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(fab_job_release) fab_job job = {.servers = NULL};
    FAB_PASS(resolve_first(design, fabric, &job, err));
    FAB_PASS(fab_job_place(&job, fabric, traffic, err));
    describe_job(&job, traffic);
    FAB_PASS(fab_training_make(&job, fabric, wanted, traffic, err));
    if (wanted->comm != FAB_NONE) {
        char name[64];
        SUMMARIZE(traffic, "; only %s", fab_comm_name(traffic, &traffic->phases[0], wanted->comm, name));
    }
    /* Last, so that what is wrong in itself is named first. */
    return fab_job_check_memory(&job, fabric, err);
}

/* job:PHASE[,comm=K] */
static fab_status make_phase_of_job(const char *text, const fab_design *design, const fab_fabric *fabric,
                                    fab_traffic *traffic, fab_error *err) {
    char phase[FAB_NAME_SIZE];
    const char *name = text + strlen("job:");
    size_t n = strcspn(name, ",");
    FAB_FORMAT(phase, "%.*s", (int)(n < sizeof phase ? n : sizeof phase - 1), name);
    fab_wanted wanted = {.text = text, .phase = phase, .comm = FAB_NONE};
    if (name[n] == ',') {
        const char *key = name + n + 1;
        size_t length = strcspn(key, "=");
        FAB_REFUSE_IF(length != strlen("comm") || strncmp(key, "comm", length) != 0, err, FAB_EINPUT, text,
                      "a phase of a job has no key '%.*s'; allowed: comm", (int)(length < 40 ? length : 40), key);
        FAB_REFUSE_IF(key[length] == '\0', err, FAB_EINPUT, text,
                      "key 'comm' has no value; write comm=K, a communicator from 0");
        uint64_t comm = 0;
        fab_error inner = {.code = FAB_OK};
        FAB_REFUSE_IF(fab_count_parse(key + length + 1, 0, FAB_NONE - 1, &comm, &inner) != FAB_OK, err, inner.code,
                      text, "comm: %s", inner.text);
        wanted.comm = (uint32_t)comm;
    }
    return make_job(&wanted, design, fabric, traffic, err);
}

static fab_status unknown_traffic(const char *text, fab_error *err) {
    char word[64];
    char meant[96] = "";
    FAB_FORMAT(word, "%.*s", (int)strcspn(text, ",:"), text);
    fab_choices near = fab_choices_of(word);
    fab_choices_offer(&near, "job");
    for (const fab_pattern_info *info = fab_patterns; info->name != NULL; info++) {
        fab_choices_offer(&near, info->name);
    }
    if (near.best[0] != '\0' && strcmp(near.best, word) != 0) {
        FAB_FORMAT(meant, "; did you mean %s%s?", strcmp(near.best, "job") != 0 ? "pattern:" : "", near.best);
    }
    if (strchr(text, '.') != NULL || strchr(text, '/') != NULL) {
        FAB_FORMAT(meant, "; did you mean file:%.60s?", text);
    }
    return fab_fail(
        err, FAB_EINPUT, text,
        "no traffic is named so: known are job, job:PHASE[,comm=K], pattern:NAME[,key=value...], file:PATH%s", meant);
}

static fab_status find_copy_rate(const fab_design *design, double *out_bps, fab_error *err) {
    fab_gpu gpu;
    FAB_PASS(fab_traffic_gpu(design, "traffic", &gpu, err));
    *out_bps = gpu.nccl.copy_bps;
    return FAB_OK;
}

fab_status fab_traffic_make(const char *text, const fab_design *design, const fab_fabric *fabric, uint64_t seed,
                            fab_traffic *out, fab_error *err) {
    FAB_OWNS(fab_traffic_release) fab_traffic traffic = {.n_phases = 0};
    if (strcmp(text, "job") == 0) {
        const fab_wanted all = {.text = text, .phase = NULL, .comm = FAB_NONE};
        FAB_PASS(make_job(&all, design, fabric, &traffic, err));
    } else if (strncmp(text, "job:", 4) == 0) {
        FAB_PASS(make_phase_of_job(text, design, fabric, &traffic, err));
    } else if (strncmp(text, "pattern:", 8) == 0) {
        FAB_PASS(fab_pattern_make(text, design, fabric, seed, &traffic, err));
    } else if (strncmp(text, "file:", 5) == 0) {
        FAB_PASS(fab_traffic_read(text + 5, fabric, &traffic, err));
    } else {
        FAB_PASS(unknown_traffic(text, err));
    }
    if (design != NULL && design->collective_note[0] != '\0') {
        SUMMARIZE(&traffic, "; %s", design->collective_note);
    }
    for (size_t i = 0; i < traffic.n_phases; i++) {
        FAB_PASS(fab_phase_number(&traffic.phases[i], err));
        fab_phase *p = &traffic.phases[i];
        FAB_PASS(fab_phase_count_messages(fabric, p, err));
        FAB_PASS(fab_phase_count_copies(fabric, p, err));
        FAB_PASS(p->copied_bytes > 0 && p->copy_bps == 0 ? find_copy_rate(design, &p->copy_bps, err) : FAB_OK);
        bool is_part = i > 0 && p->run == p[-1].run && p->algorithm[0] != '\0';
        p->is_continued = is_part && (p[-1].is_continued || p[-1].message_bytes > 0);
    }
    return FAB_GIVE(*out, traffic);
}

fab_status fab_traffic_front_end(const char *text, const fab_design *design, const fab_fabric *fabric,
                                 const fab_fabric *front_end, fab_traffic *out, fab_error *err) {
    FAB_OWNS(fab_traffic_release) fab_traffic traffic = {.n_phases = 0};
    FAB_OWNS(fab_job_free_owned) fab_job *job = NULL;
    uint64_t n_storage = design->front_end.storage;
    bool one = strncmp(text, "job:", 4) == 0;
    const fab_wanted wanted = {.text = text, .phase = one ? text + 4 : NULL, .comm = FAB_NONE};
    FAB_REFUSE_IF(!one && strcmp(text, "job") != 0, err, FAB_EINPUT, NULL,
                  "traffic '%.60s' of the front-end is none of job, job:checkpoint, job:ingest", text);
    FAB_REFUSE_IF(!design->has_front_end || n_storage == 0, err, FAB_EINPUT, design->front_end.where,
                  "the design has no front-end with storage servers");
    FAB_REFUSE_IF(fab_n_gpus(front_end) != fabric->n_servers + n_storage, err, FAB_EINTERNAL, NULL,
                  "a front-end of %" PRIu32 " hosts is not that of %" PRIu32 " servers", fab_n_gpus(front_end),
                  fabric->n_servers);
    FAB_PASS(FAB_NEW(job, 1, err));
    FAB_PASS(resolve_first(design, fabric, job, err));
    describe_job(job, &traffic);
    FAB_PASS(fab_front_end_make(job, fabric, front_end, (uint32_t)n_storage, &wanted, &traffic, err));
    FAB_PASS(fab_job_check_memory(job, fabric, err));
    for (size_t i = 0; i < traffic.n_phases; i++) {
        FAB_PASS(fab_phase_number(&traffic.phases[i], err));
    }
    return FAB_GIVE(*out, traffic);
}

/* A communicator of a job: which coordinates its members have in common. */
static void name_of_job_comm(const fab_job_spec *job, const char *phase, uint32_t comm, char *out) {
    uint32_t n_tp = (uint32_t)job->tp;
    uint32_t n_pp = (uint32_t)job->pp;
    uint32_t n_cp = (uint32_t)job->cp;
    char replica[32];
    bool prefill = strncmp(phase, "prefill", 7) == 0 || strncmp(phase, "decode", 6) == 0;
    const char *kind = prefill ? strchr(phase, '-') : phase;
    kind = kind == NULL ? "tp" : kind[0] == '-' ? kind + 1 : kind;
    bool tensor = strncmp(kind, "tp", 2) == 0; /* or "tp-1", ... */
    uint32_t copy = tensor ? comm / n_pp : comm / n_tp;
    if (n_cp > 1) {
        FAB_FORMAT(replica, "cp=%" PRIu32 " dp=%" PRIu32, copy % n_cp, copy / n_cp);
    } else {
        FAB_FORMAT(replica, "dp=%" PRIu32, copy);
    }
    if (tensor) {
        (void)snprintf(out, 64, "tp group pp=%" PRIu32 " %s", comm % n_pp, replica);
    } else if (strcmp(kind, "pp") == 0) {
        (void)snprintf(out, 64, "pipeline tp=%" PRIu32 " %s", comm % n_tp, replica);
    } else if (strcmp(kind, "cp") == 0) {
        (void)snprintf(out, 64, "cp group tp=%" PRIu32 " pp=%" PRIu32 " dp=%" PRIu32, comm % n_tp, comm / n_tp % n_pp,
                       comm / (n_tp * n_pp));
    } else if (strncmp(kind, "ep", 2) == 0 || strncmp(kind, "edp", 3) == 0) {
        uint32_t n = (uint32_t)(kind[1] == 'p' ? job->cp * job->dp / job->ep : job->ep);
        (void)snprintf(out, 64, "%s group %" PRIu32 " tp=%" PRIu32 " pp=%" PRIu32, kind[1] == 'p' ? "ep" : "edp",
                       comm % n, comm / n % n_tp, comm / n / n_tp);
    } else if (strncmp(kind, "dp", 2) == 0) {
        (void)snprintf(out, 64, "dp group tp=%" PRIu32 " pp=%" PRIu32, comm % n_tp, comm / n_tp);
    } else {
        (void)snprintf(out, 64, "all ranks");
    }
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
    name_of_job_comm(&traffic->job, phase->name, comm, out);
    return out;
}
