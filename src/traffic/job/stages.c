/* What a pipeline stage holds. */
#include "fab/stages.h"

#include "stages_internal.h"

/* Entry `stage` of stage-layers; 0 behind the last. */
static uint64_t listed_layers(const char *list, uint64_t stage) {
    for (; stage > 0 && *list != '\0'; stage--) {
        list += strcspn(list, STAGE_LIST_SEPARATORS);
        list += *list != '\0';
    }
    return strtoull(list, NULL, 10);
}

/* What counts as a layer of a stage though it is none: the embedding before the first, the loss behind the last. */
static bool has_embedding(const fab_job_spec *job, uint64_t stage) {
    return job->embedding_as_layer && stage == 0;
}

static bool has_loss(const fab_job_spec *job, uint64_t stage) {
    return job->embedding_as_layer && stage + 1 == job->pp;
}

static uint64_t units_of(const fab_job_spec *job, uint64_t stage) {
    if (job->stage_layers[0] != '\0') {
        return listed_layers(job->stage_layers, stage);
    }
    uint64_t units = job->layers + (job->embedding_as_layer ? 2 : 0);
    uint64_t n_small = job->pp - units % job->pp; /* stages without an extra one: half of them first, half last */
    uint64_t n_first = (n_small + 1) / 2;
    bool small = stage < n_first || stage >= job->pp - (n_small - n_first);
    return units / job->pp + (small ? 0 : 1);
}

uint64_t fab_stage_layers(const fab_job_spec *job, uint64_t stage) {
    return units_of(job, stage) - has_embedding(job, stage) - has_loss(job, stage);
}

uint64_t fab_chunk_layers(const fab_job_spec *job, uint64_t interleave, uint64_t stage, uint64_t chunk) {
    uint64_t units = units_of(job, stage);
    uint64_t n_large = units % interleave;
    bool large = 2 * stage < job->pp ? chunk >= interleave - n_large : chunk < n_large;
    uint64_t layers = units / interleave + (large ? 1 : 0);
    layers -= chunk == 0 && has_embedding(job, stage) ? 1 : 0;
    return layers - (chunk + 1 == interleave && has_loss(job, stage) ? 1 : 0);
}

uint64_t fab_most_chunks(const fab_job_spec *job) {
    uint64_t least = UINT64_MAX;
    for (uint64_t stage = 0; stage < job->pp; stage++) {
        uint64_t units = units_of(job, stage);
        least = units < least ? units : least;
    }
    return least;
}

/* Layers of all stages before this one. */
static uint64_t first_layer(const fab_job_spec *job, uint64_t stage) {
    uint64_t units = job->layers + (job->embedding_as_layer ? 2 : 0);
    uint64_t n_large = units % job->pp;
    uint64_t n_first = (job->pp - n_large + 1) / 2;
    uint64_t behind = stage > n_first ? stage - n_first : 0;
    uint64_t before = stage * (units / job->pp) + (behind < n_large ? behind : n_large);
    before -= job->embedding_as_layer && stage > 0 ? 1 : 0;
    if (job->stage_layers[0] != '\0') {
        before = 0;
        for (uint64_t i = 0; i < stage; i++) {
            before += listed_layers(job->stage_layers, i);
        }
    }
    return before;
}

void fab_stage_parameters(const fab_model *model, const fab_job_spec *job, uint64_t stage, double *out_dense,
                          double *out_experts) {
    fab_model_layers(model, first_layer(job, stage), fab_stage_layers(job, stage), out_dense, out_experts);
    *out_dense += stage == 0 ? fab_model_input_parameters(model) : 0;
    *out_dense += stage + 1 == job->pp ? fab_model_output_parameters(model) : 0;
}

double fab_stage_largest_unit(const fab_model *model, const fab_job_spec *job, uint64_t stage) {
    uint64_t first = first_layer(job, stage);
    uint64_t ends[] = {first, first + fab_stage_layers(job, stage) - 1};
    double largest = stage == 0 ? fab_model_input_parameters(model) : 0;
    if (stage + 1 == job->pp) {
        double copy = model->tied && stage > 0 ? (double)model->vocab * (double)model->hidden : 0;
        largest = fmax(largest, fab_model_output_parameters(model) + copy);
    }
    for (size_t i = 0; i < 2; i++) { /* layers with experts follow those without */
        double dense = 0;
        double experts = 0;
        fab_model_layers(model, ends[i], 1, &dense, &experts);
        largest = fmax(largest, dense + experts / (double)job->ep);
    }
    return largest;
}

uint64_t fab_stage_expert_layers(const fab_model *model, const fab_job_spec *job, uint64_t stage) {
    return fab_model_expert_layers(model, first_layer(job, stage), fab_stage_layers(job, stage));
}

static fab_status check_listed(const fab_job_spec *s, const char *where, fab_error *err) {
    uint64_t sum = 0;
    uint64_t n = 0;
    for (const char *at = s->stage_layers; *at != '\0'; at += *at != '\0') {
        uint64_t layers = strtoull(at, NULL, 10);
        sum += layers < s->layers ? layers : s->layers;
        at += strcspn(at, STAGE_LIST_SEPARATORS);
        n++;
        FAB_REFUSE_IF(layers == 0, err, FAB_EINPUT, where, "stage-layers %.60s: stage %" PRIu64 " has no layer",
                      s->stage_layers, n - 1);
    }
    FAB_REFUSE_IF(n != s->pp || sum != s->layers || s->embedding_as_layer, err, FAB_EINPUT, where,
                  "stage-layers %.60s lists %" PRIu64 " stages of %" PRIu64 " layers; pp is %" PRIu64
                  ", the model has %" PRIu64 "%s",
                  s->stage_layers, n, sum, s->pp, s->layers,
                  s->embedding_as_layer ? ", and embedding-as-layer spreads them itself" : "");
    return FAB_OK;
}

fab_status fab_job_check_stages(const fab_job_spec *s, const char *where, fab_error *err) {
    FAB_REFUSE_IF(s->interleave > 1 && s->pp == 1, err, FAB_EINPUT, where,
                  "interleave %" PRIu64 " needs pp of at least 2, not 1", s->interleave);
    FAB_REFUSE_IF(s->interleave > 1 && s->kind == FAB_JOB_SERVING, err, FAB_EUNSUPPORTED, where,
                  "interleave %" PRIu64 ": serving is modelled with one chunk per stage only", s->interleave);
    FAB_REFUSE_IF(s->interleave > 1 && s->schedule == FAB_SCHEDULE_ZERO_BUBBLE, err, FAB_EINPUT, where,
                  "interleave %" PRIu64 ": schedule zero-bubble has one chunk per stage", s->interleave);
    uint64_t units = s->layers + (s->embedding_as_layer ? 2 : 0);
    FAB_REFUSE_IF(s->interleave > units || s->pp * s->interleave > units, err, FAB_EINPUT, where,
                  "pp %" PRIu64 " x interleave %" PRIu64 " needs as many layers, the model has %" PRIu64, s->pp,
                  s->interleave, units);
    FAB_PASS(s->stage_layers[0] != '\0' ? check_listed(s, where, err) : FAB_OK);
    FAB_REFUSE_IF(s->interleave > fab_most_chunks(s), err, FAB_EINPUT, where,
                  "interleave %" PRIu64 " leaves chunks empty: a stage has %" PRIu64 " layers", s->interleave,
                  fab_most_chunks(s));
    return FAB_OK;
}

/* With fewer heads than tensor ranks several ranks hold the same head. */
double fab_kv_elements(const fab_model *model, uint64_t tp) {
    if (model->latent != NULL) { /* the same for every tensor rank */
        return (double)(model->latent->key_value_rank + model->latent->rotated);
    }
    double heads = model->kv_heads > tp ? (double)model->kv_heads / (double)tp : 1;
    return 2 * heads * (double)model->hidden / (double)model->heads;
}
