/* The model of a job: named, of the user's own, or by default; with the sizes that the job overrides. */
#include "traffic_internal.h"

#include "fab/choices.h"

#include <strings.h>

#define MAX_PARAMETERS 1e18

static fab_status unknown_model(const fab_job *job, fab_error *err) {
    fab_choices near = fab_choices_of(job->spec.model);
    for (const fab_model *m = fab_models; m->name != NULL; m++) {
        fab_choices_offer(&near, m->name);
    }
    const bool ranks = strncasecmp(job->spec.model, "dlrm", 4) == 0 || strncasecmp(job->spec.model, "dcn", 3) == 0;
    return fab_fail(err, FAB_EINPUT, job->where, "there is no model '%s'%s%s", job->spec.model,
                    ranks ? "; recommendation is --job kind=ranking, without a model" : "",
                    fab_choices_list(&near, "known:"));
}

/* The smallest GPT whose published run used at least as many GPUs as the job has, else the largest; or one that is so
 * many places smaller, but for the smallest. */
static const fab_model *default_model(uint32_t n_gpus, size_t smaller) {
    const fab_model *best = fab_models;
    for (const fab_model *m = fab_models; m->name != NULL && !m->gated; m++) {
        best = m;
        if (m->gpus >= n_gpus) {
            break;
        }
    }
    return best - fab_models >= (ptrdiff_t)smaller ? best - smaller : fab_models;
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
    FAB_REFUSE_IF(missing != NULL, err, FAB_EINPUT, job->where,
                  "without a model, layers, hidden, heads, seq, vocab and batch must be given: %s is missing", missing);
    job->model = (fab_model){.name = "custom", .gated = false, .tied = true, .source = "the design"};
    return FAB_OK;
}

/* The sizes that the job gives replace the model's, and the other way round. */
static void set_sizes(fab_job *job) {
    fab_job_spec *s = &job->spec;
    fab_model *m = &job->model;
    bool own_heads = s->heads != 0 && s->heads != m->heads;
    bool own_hidden = s->hidden != 0 && s->hidden != m->hidden;
    if (own_hidden || own_heads || (s->kv_heads != 0 && s->kv_heads != m->kv_heads)) {
        m->latent = NULL; /* of the published sizes only */
    }
    fab_job_default(&s->layers, m->layers);
    fab_job_default(&s->hidden, m->hidden);
    fab_job_default(&s->heads, m->heads);
    fab_job_default(&s->kv_heads, own_heads && !m->gated ? s->heads : m->kv_heads);
    fab_job_default(&s->ffn, own_hidden && !m->gated ? 4 * s->hidden : m->ffn);
    fab_job_default(&s->seq, m->seq);
    if (s->batch == 0 && s->kind == FAB_JOB_TRAINING) { /* a batch is so many tokens, whatever sequences they come in */
        m->batch = m->batch * m->seq > s->seq ? m->batch * m->seq / s->seq : 1;
    }
    fab_job_default(&s->vocab, m->vocab);
    m->layers = s->layers;
    m->hidden = s->hidden;
    m->heads = s->heads;
    m->kv_heads = s->kv_heads;
    m->ffn = s->ffn;
    m->seq = s->seq;
    m->vocab = s->vocab;
}

/* experts=1 makes a model dense; experts of a dense model have the size of its feed-forward part, two per token. */
static void set_experts(fab_job *job) {
    fab_job_spec *s = &job->spec;
    fab_model *m = &job->model;
    bool had_experts = m->experts > 1;
    fab_job_default(&s->experts, had_experts ? m->experts : 1);
    m->experts = s->experts;
    if (s->experts <= 1) {
        m->shared_experts = 0;
        m->dense_layers = 0;
        fab_job_default(&s->top_k, 1);
        fab_job_default(&s->expert_ffn, s->ffn);
    } else {
        fab_job_default(&s->top_k, had_experts ? m->top_k : 2);
        fab_job_default(&s->expert_ffn, had_experts ? m->expert_ffn : s->ffn);
    }
    m->top_k = s->top_k;
    m->expert_ffn = s->expert_ffn;
}

static fab_status resolve_model(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    bool custom = strcmp(s->model, "custom") == 0; /* what a resolved job of own sizes is called */
    if (s->model[0] != '\0' && !custom) {
        const fab_model *found = fab_model_find(s->model);
        FAB_RETURN_IF(found == NULL, unknown_model(job, err));
        job->model = *found;
        job->model_given = true;
    } else if (!custom && s->layers == 0 && s->hidden == 0 && s->heads == 0) {
        job->model = *default_model(job->n_gpus, job->n_models_smaller);
    } else {
        FAB_PASS(own_model(job, err));
        job->model_given = true;
    }
    set_sizes(job);
    set_experts(job);
    FAB_FORMAT(s->model, "%s", job->model.name);
    return FAB_OK;
}

static fab_status check_model(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    FAB_REFUSE_IF(s->hidden % s->heads != 0, err, FAB_EINPUT, job->where,
                  "hidden %" PRIu64 " does not divide by heads %" PRIu64, s->hidden, s->heads);
    FAB_REFUSE_IF(s->kv_heads > s->heads || s->heads % s->kv_heads != 0, err, FAB_EINPUT, job->where,
                  "heads %" PRIu64 " does not divide by kv-heads %" PRIu64, s->heads, s->kv_heads);
    FAB_REFUSE_IF(s->experts > 1 && s->top_k > s->experts, err, FAB_EINPUT, job->where,
                  "top-k %" PRIu64 " is above the %" PRIu64 " experts that a layer has", s->top_k, s->experts);
    double parameters = fab_model_parameters(&job->model);
    FAB_REFUSE_IF(parameters > MAX_PARAMETERS, err, FAB_EINPUT, job->where,
                  "a model of %.3g parameters is above the limit of %.0e", parameters, MAX_PARAMETERS);
    return FAB_OK;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

static fab_status check_ranking(const fab_job *job, fab_error *err) {
    const fab_job_spec *s = &job->spec;
    const char *missing = s->tables == 0             ? "tables"
                          : s->rows == 0             ? "rows"
                          : s->embedding == 0        ? "embedding"
                          : s->dense_parameters == 0 ? "dense-parameters"
                          : s->batch == 0            ? "batch"
                                                     : NULL;
    FAB_REFUSE_IF(missing != NULL, err, FAB_EINPUT, job->where,
                  "without a model, tables, rows, embedding, dense-parameters and batch must be given: %s is missing",
                  missing);
    double parameters = (double)s->rows * (double)s->embedding + (double)s->dense_parameters;
    FAB_REFUSE_IF(parameters > MAX_PARAMETERS, err, FAB_EINPUT, job->where,
                  "a model of %.3g parameters is above the limit of %.0e", parameters, MAX_PARAMETERS);
    return FAB_OK;
}

static fab_status find_ranking_model(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    bool custom = strcmp(s->model, "custom") == 0;
    bool own = custom || (s->model[0] == '\0' && (s->tables != 0 || s->rows != 0 || s->embedding != 0));
    const fab_ranking_model *found = fab_ranking_model_find(s->model);
    job->model_given = own || found != NULL;
    if (own) {
        FAB_FORMAT(s->model, "custom");
        return check_ranking(job, err);
    }
    FAB_REFUSE_IF(found == NULL && s->model[0] != '\0', err, FAB_EINPUT, job->where,
                  "there is no ranking model '%s'; known: %s", s->model, fab_ranking_models[0].name);
    found = found == NULL ? &fab_ranking_models[0] : found;
    FAB_FORMAT(s->model, "%s", found->name);
    fab_job_default(&s->tables, found->tables);
    fab_job_default(&s->rows, found->rows);
    fab_job_default(&s->embedding, found->embedding);
    fab_job_default(&s->dense_parameters, found->dense_parameters);
    job->model = (fab_model){.name = found->name, .batch = found->batch, .source = found->source};
    if (s->batch == 0) { /* as many whole shares as fit */
        uint64_t shares = found->batch / job->n_gpus;
        s->batch = (shares > 0 ? shares : 1) * job->n_gpus;
    }
    return check_ranking(job, err);
}

fab_status fab_job_find_model(fab_job *job, fab_error *err) {
    if (job->spec.kind == FAB_JOB_RANKING) {
        FAB_PASS(find_ranking_model(job, err));
    } else {
        FAB_PASS(resolve_model(job, err));
        FAB_PASS(check_model(job, err));
    }
    return FAB_OK;
}
