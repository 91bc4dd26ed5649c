/* A job specification with every default filled in and every product checked. */
#include "traffic_internal.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Sizes beyond these are typing errors; they also keep every product below 2^63. */
#define MAX_SIZE       (UINT64_C(1) << 32)
#define MAX_PARAMETERS 1e18

void fab_job_release(fab_job *job) {
    free(job->servers);
    *job = (fab_job){.servers = NULL};
}

uint64_t fab_stage_layers(uint64_t layers, uint64_t stages, uint64_t stage) {
    uint64_t n_small = stages - layers % stages; /* stages without an extra layer: half of them first, half last */
    uint64_t n_first = (n_small + 1) / 2;
    bool small = stage < n_first || stage >= stages - (n_small - n_first);
    return layers / stages + (small ? 0 : 1);
}

static void set_default(uint64_t *value, uint64_t fallback) {
    if (*value == 0) {
        *value = fallback;
    }
}

/* --- model -------------------------------------------------------------------------------------------------------- */

static fab_status check_sizes(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    const struct {
        const char *key;
        uint64_t value;
    } SIZES[] = {
        {"layers", s->layers},
        {"hidden", s->hidden},
        {"heads", s->heads},
        {"kv-heads", s->kv_heads},
        {"ffn", s->ffn},
        {"seq", s->seq},
        {"vocab", s->vocab},
        {"tp", s->tp},
        {"pp", s->pp},
        {"dp", s->dp},
        {"microbatch", s->microbatch},
        {"interleave", s->interleave},
        {"batch", s->batch},
        {"activation-bytes", s->activation_bytes},
        {"gradient-bytes", s->gradient_bytes},
        {"parameter-bytes", s->parameter_bytes},
    };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        if (SIZES[i].value > MAX_SIZE) {
            return fab_fail(err, FAB_EINPUT, job->where, "%s %" PRIu64 " is above the limit of %" PRIu64, SIZES[i].key,
                            SIZES[i].value, MAX_SIZE);
        }
    }
    return FAB_OK;
}

static fab_status unknown_model(const fab_job *job, fab_error *err) {
    char names[320] = "";
    size_t used = 0;
    for (const fab_model *m = fab_models; m->name != NULL && used < sizeof names; m++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", m->name);
    }
    return fab_fail(err, FAB_EINPUT, job->where, "there is no model '%s'; known: %s", job->spec.model, names);
}

/* The smallest GPT whose published run used at least as many GPUs as the job has, else the largest. */
static const fab_model *default_model(uint32_t n_gpus) {
    const fab_model *best = NULL;
    for (const fab_model *m = fab_models; m->name != NULL && !m->gated; m++) {
        best = m;
        if (m->gpus >= n_gpus) {
            break;
        }
    }
    return best;
}

/* A model of the user's own has the shape of a GPT. */
static fab_status own_model(fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    const char *missing = s->layers == 0   ? "layers"
                          : s->hidden == 0 ? "hidden"
                          : s->heads == 0  ? "heads"
                          : s->seq == 0    ? "seq"
                          : s->vocab == 0  ? "vocab"
                          : s->batch == 0  ? "batch"
                                           : NULL;
    if (missing != NULL) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "without a model, layers, hidden, heads, seq, vocab and batch must be given: %s is missing",
                        missing);
    }
    job->model = (fab_model){.name = "custom", .gated = false, .tied = true, .source = "the design"};
    return FAB_OK;
}

static fab_status resolve_model(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    bool custom = strcmp(s->model, "custom") == 0; /* what a resolved job of own sizes is called */
    if (s->model[0] != '\0' && !custom) {
        const fab_model *found = fab_model_find(s->model);
        if (found == NULL) {
            return unknown_model(job, err);
        }
        job->model = *found;
    } else if (!custom && s->layers == 0 && s->hidden == 0 && s->heads == 0) {
        job->model = *default_model(job->n_gpus);
    } else {
        fab_status status = own_model(job, err);
        if (status != FAB_OK) {
            return status;
        }
    }
    fab_model *m = &job->model;
    bool own_heads = s->heads != 0 && s->heads != m->heads;
    bool own_hidden = s->hidden != 0 && s->hidden != m->hidden;
    set_default(&s->layers, m->layers);
    set_default(&s->hidden, m->hidden);
    set_default(&s->heads, m->heads);
    set_default(&s->kv_heads, own_heads && !m->gated ? s->heads : m->kv_heads);
    set_default(&s->ffn, own_hidden && !m->gated ? 4 * s->hidden : m->ffn);
    set_default(&s->seq, m->seq);
    set_default(&s->vocab, m->vocab);
    m->layers = s->layers;
    m->hidden = s->hidden;
    m->heads = s->heads;
    m->kv_heads = s->kv_heads;
    m->ffn = s->ffn;
    m->seq = s->seq;
    m->vocab = s->vocab;
    (void)snprintf(s->model, sizeof s->model, "%s", m->name);
    return FAB_OK;
}

static fab_status check_model(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    if (s->hidden % s->heads != 0) {
        return fab_fail(err, FAB_EINPUT, job->where, "hidden %" PRIu64 " does not divide by heads %" PRIu64, s->hidden,
                        s->heads);
    }
    if (s->kv_heads > s->heads || s->heads % s->kv_heads != 0) {
        return fab_fail(err, FAB_EINPUT, job->where, "heads %" PRIu64 " does not divide by kv-heads %" PRIu64, s->heads,
                        s->kv_heads);
    }
    double parameters = fab_model_parameters(&job->model);
    if (parameters > MAX_PARAMETERS) {
        return fab_fail(err, FAB_EINPUT, job->where, "a model of %.3g parameters is above the limit of %.0e",
                        parameters, MAX_PARAMETERS);
    }
    return FAB_OK;
}

/* --- parallelism -------------------------------------------------------------------------------------------------- */

static fab_status check_supported(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    const char *key = s->cp > 1 ? "cp" : s->ep > 1 ? "ep" : s->experts > 1 ? "experts" : NULL;
    const char *what = s->cp > 1 ? "context" : "expert";
    uint64_t value = s->cp > 1 ? s->cp : s->ep > 1 ? s->ep : s->experts;
    if (key != NULL) {
        return fab_fail(err, FAB_EUNSUPPORTED, job->where,
                        "%s %" PRIu64 ": traffic of %s parallelism is not modelled yet; only %s 1 is", key, value, what,
                        key);
    }
    return FAB_OK;
}

/* min(8, domain), or less where that divides neither the heads nor the GPUs; what is left when all others are given. */
static uint64_t default_tp(const fab_job *job, const fab_fabric *fabric) {
    const fab_job_spec *s = &job->spec;
    uint64_t most = fabric->gpus_per_domain < 8 ? fabric->gpus_per_domain : 8;
    if (s->dp != 0 && s->dp <= job->n_gpus && s->pp <= job->n_gpus) {
        uint64_t rest = job->n_gpus / (s->dp * s->pp);
        return rest >= 1 && rest <= most ? rest : most;
    }
    for (uint64_t tp = most; tp > 1; tp--) {
        if (s->heads % tp == 0 && job->n_gpus % tp == 0 && (job->n_gpus / tp) % s->pp == 0) {
            return tp;
        }
    }
    return 1;
}

static fab_status resolve_dimensions(fab_job *job, const fab_fabric *fabric, fab_error *err) {
    fab_job_spec *s = &job->spec;
    set_default(&s->cp, 1);
    set_default(&s->ep, 1);
    set_default(&s->experts, 1);
    set_default(&s->pp, 1);
    if (s->tp == 0) {
        s->tp = default_tp(job, fabric);
    }
    /* Each factor is checked before it is multiplied: no product exceeds n_gpus^2. */
    uint64_t n = job->n_gpus;
    bool fits = s->tp <= n && s->pp <= n && s->tp * s->pp <= n;
    if (s->dp == 0) {
        if (!fits || n % (s->tp * s->pp) != 0) {
            return fab_fail(err, FAB_EINPUT, job->where,
                            "tp %" PRIu64 " x pp %" PRIu64 " does not divide the job's %" PRIu64 " GPUs", s->tp, s->pp,
                            n);
        }
        s->dp = n / (s->tp * s->pp);
    }
    if (!fits || s->dp > n || s->tp * s->pp * s->dp != n) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "tp %" PRIu64 " x pp %" PRIu64 " x dp %" PRIu64 " = %.15g ranks, but the job has %" PRIu64
                        " GPUs",
                        s->tp, s->pp, s->dp, (double)s->tp * (double)s->pp * (double)s->dp, n);
    }
    if (s->heads % s->tp != 0) {
        return fab_fail(err, FAB_EINPUT, job->where, "heads %" PRIu64 " does not divide by tp %" PRIu64, s->heads,
                        s->tp);
    }
    job->size[FAB_DIM_TP] = (uint32_t)s->tp;
    job->size[FAB_DIM_CP] = 1;
    job->size[FAB_DIM_PP] = (uint32_t)s->pp;
    job->size[FAB_DIM_DP] = (uint32_t)s->dp;
    return FAB_OK;
}

static fab_status resolve_batch(fab_job *job, uint64_t model_batch, fab_error *err) {
    fab_job_spec *s = &job->spec;
    set_default(&s->microbatch, 1);
    set_default(&s->interleave, 1);
    if (s->interleave > 1 && s->pp == 1) {
        return fab_fail(err, FAB_EINPUT, job->where, "interleave %" PRIu64 " needs pp of at least 2, not 1",
                        s->interleave);
    }
    if (s->interleave > s->layers || s->pp * s->interleave > s->layers) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "pp %" PRIu64 " x interleave %" PRIu64 " needs as many layers, the model has %" PRIu64, s->pp,
                        s->interleave, s->layers);
    }
    uint64_t group = s->microbatch * s->dp;
    uint64_t whole = s->interleave > 1 ? group * s->pp : group; /* the interleaved schedule works in rounds of pp */
    if (group == 0 || whole == 0) {
        return fab_fail(err, FAB_EINTERNAL, job->where, "microbatch, pp or dp is 0 after the defaults");
    }
    if (s->batch == 0) {
        s->batch = model_batch < whole ? whole : model_batch / whole * whole;
    }
    if (s->batch % group != 0) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "batch %" PRIu64 " is not a multiple of microbatch %" PRIu64 " x dp %" PRIu64 " = %" PRIu64,
                        s->batch, s->microbatch, s->dp, group);
    }
    if (s->batch % whole != 0) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "batch %" PRIu64 " gives %" PRIu64 " microbatches per pipeline; interleave %" PRIu64
                        " needs a multiple of pp %" PRIu64,
                        s->batch, s->batch / group, s->interleave, s->pp);
    }
    job->microbatches = s->batch / group;
    return FAB_OK;
}

/* --- the rest ----------------------------------------------------------------------------------------------------- */

static fab_status resolve_machine(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    set_default(&s->activation_bytes, 2);
    set_default(&s->gradient_bytes, 4);
    set_default(&s->parameter_bytes, 2);
    if (s->gpu[0] == '\0') {
        (void)snprintf(s->gpu, sizeof s->gpu, "h100-80gb");
    }
    if (s->recompute[0] == '\0') {
        (void)snprintf(s->recompute, sizeof s->recompute, "full");
    }
    if (fab_gpu_find(s->gpu) == NULL) {
        char names[256] = "";
        size_t used = 0;
        for (const fab_gpu *g = fab_gpus; g->name != NULL && used < sizeof names; g++) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", g->name);
        }
        return fab_fail(err, FAB_EINPUT, job->where, "there is no GPU '%s'; known: %s", s->gpu, names);
    }
    if (strcmp(s->recompute, "full") != 0 && strcmp(s->recompute, "selective") != 0 &&
        strcmp(s->recompute, "none") != 0) {
        return fab_fail(err, FAB_EINPUT, job->where, "recompute '%s' is not one of full, selective, none",
                        s->recompute);
    }
    return FAB_OK;
}

fab_status fab_job_resolve(const fab_design *design, const fab_fabric *fabric, fab_job *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_job job = {.servers = NULL};
    if (design->n_jobs > 0) {
        job.spec = design->jobs[0];
    } else {
        job.spec.scatter_gather = true;
    }
    if (job.spec.where[0] != '\0') {
        (void)snprintf(job.where, sizeof job.where, "%s", job.spec.where);
    } else {
        (void)snprintf(job.where, sizeof job.where, "job%s%s", job.spec.id[0] != '\0' ? " " : "", job.spec.id);
    }
    FAB_TRY(check_supported(&job, err));
    FAB_TRY(fab_job_find_servers(&job, design, fabric, err));
    FAB_TRY(check_sizes(&job, err));
    FAB_TRY(resolve_model(&job, err));
    FAB_TRY(check_model(&job, err));
    FAB_TRY(resolve_dimensions(&job, fabric, err));
    FAB_TRY(resolve_batch(&job, job.model.batch, err));
    job.model.batch = job.spec.batch;
    FAB_TRY(resolve_machine(&job, err));
    FAB_TRY(fab_job_order(&job, err));
    *out = job;
    job.servers = NULL;
done:
    fab_job_release(&job);
    return status;
}
