#include "gpu_flows.h"
#include "fab/memory.h"

fab_status fab_gpu_flows_init(const fab_phase *phase, uint32_t n_gpus, fab_gpu_flows *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_gpu_flows x = {0};
    FAB_TRY(FAB_NEW(x.first, (size_t)n_gpus + 2, err));
    FAB_TRY(FAB_NEW(x.flow, 2 * (size_t)phase->n_flows, err));
    for (uint64_t i = 0; i < phase->n_flows; i++) { /* places are shifted by two while they are filled */
        fab_flow flow = fab_phase_flow(phase, i);
        x.first[flow.src + 2]++;
        x.first[flow.dst + 2]++;
    }
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        x.first[gpu + 2] += x.first[gpu + 1];
    }
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        x.flow[x.first[flow.src + 1]++] = (uint32_t)i;
        x.flow[x.first[flow.dst + 1]++] = (uint32_t)i;
    }
    *out = x;
    x = (fab_gpu_flows){0};
done:
    fab_gpu_flows_release(&x);
    return status;
}

void fab_gpu_flows_release(fab_gpu_flows *x) {
    FAB_FREE_ALL(x->first, x->flow);
    *x = (fab_gpu_flows){0};
}
