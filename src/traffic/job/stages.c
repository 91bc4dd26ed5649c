/* What a pipeline stage holds. */
#include "traffic_internal.h"

#include <math.h>

uint64_t fab_stage_layers(uint64_t layers, uint64_t stages, uint64_t stage) {
    uint64_t n_small = stages - layers % stages; /* stages without an extra layer: half of them first, half last */
    uint64_t n_first = (n_small + 1) / 2;
    bool small = stage < n_first || stage >= stages - (n_small - n_first);
    return layers / stages + (small ? 0 : 1);
}

/* Layers of all stages before this one. */
static uint64_t first_layer(uint64_t layers, uint64_t stages, uint64_t stage) {
    uint64_t n_large = layers % stages;
    uint64_t n_first = (stages - n_large + 1) / 2;
    uint64_t behind = stage > n_first ? stage - n_first : 0;
    return stage * (layers / stages) + (behind < n_large ? behind : n_large);
}

void fab_stage_parameters(const fab_model *model, uint64_t stages, uint64_t stage, double *out_dense,
                          double *out_experts) {
    fab_model_layers(model, first_layer(model->layers, stages, stage), fab_stage_layers(model->layers, stages, stage),
                     out_dense, out_experts);
    *out_dense += stage == 0 ? fab_model_input_parameters(model) : 0;
    *out_dense += stage + 1 == stages ? fab_model_output_parameters(model) : 0;
}

double fab_stage_largest_unit(const fab_model *model, uint64_t stages, uint64_t stage, uint64_t ep) {
    uint64_t first = first_layer(model->layers, stages, stage);
    uint64_t ends[] = {first, first + fab_stage_layers(model->layers, stages, stage) - 1};
    double largest = stage == 0 ? fab_model_input_parameters(model) : 0;
    if (stage + 1 == stages) {
        double copy = model->tied && stage > 0 ? (double)model->vocab * (double)model->hidden : 0;
        largest = fmax(largest, fab_model_output_parameters(model) + copy);
    }
    for (size_t i = 0; i < 2; i++) { /* layers with experts follow those without */
        double dense = 0;
        double experts = 0;
        fab_model_layers(model, ends[i], 1, &dense, &experts);
        largest = fmax(largest, dense + experts / (double)ep);
    }
    return largest;
}

uint64_t fab_stage_expert_layers(const fab_model *model, uint64_t stages, uint64_t stage) {
    return fab_model_expert_layers(model, first_layer(model->layers, stages, stage),
                                   fab_stage_layers(model->layers, stages, stage));
}

/* With fewer heads than tensor ranks several ranks hold the same head. */
double fab_kv_elements(const fab_model *model, uint64_t tp) {
    if (model->kv_elements > 0) {
        return (double)model->kv_elements;
    }
    double heads = model->kv_heads > tp ? (double)model->kv_heads / (double)tp : 1;
    return 2 * heads * (double)model->hidden / (double)model->heads;
}
