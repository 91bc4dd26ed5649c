/* Which GPU each rank runs on. */
#include "traffic_internal.h"

static const char *const DIMENSIONS[FAB_N_DIMS] = {"tp", "cp", "pp", "dp"};

fab_status fab_job_order(fab_job *job, fab_error *err) {
    if (job->spec.order[0] == '\0') {
        FAB_FORMAT(job->spec.order, "tp-cp-pp-dp");
    }
    const char *text = job->spec.order;
    bool seen[FAB_N_DIMS] = {false};
    uint32_t stride = 1;
    for (int place = 0; place < FAB_N_DIMS; place++) {
        FAB_FIRST(dim, FAB_N_DIMS, strncmp(text, DIMENSIONS[dim], 2) == 0);
        bool last = place == FAB_N_DIMS - 1;
        FAB_REFUSE_IF(dim == FAB_N_DIMS || seen[dim] || text[2] != (last ? '\0' : '-'), err, FAB_EINPUT, job->where,
                      "order '%s' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)",
                      job->spec.order);
        seen[dim] = true;
        job->stride[dim] = stride;
        stride *= job->size[dim];
        text += 3;
    }
    return FAB_OK;
}

fab_status fab_job_place(const fab_job *job, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    uint32_t n_gpus = fab_n_gpus(fabric);
    FAB_OWNED_NEW(uint32_t, gpu_of_rank, job->n_gpus, err);
    FAB_OWNED_NEW(uint32_t, rank_of_gpu, n_gpus, err);
    memset(rank_of_gpu, 0xff, n_gpus * sizeof *rank_of_gpu); /* FAB_NONE */
    uint32_t rank = 0;
    for (uint32_t i = 0; i < job->n_servers; i++) {
        uint32_t first = job->servers[i] * fabric->gpus_per_server;
        uint32_t n = fab_gpus_of_server(fabric, job->servers[i]);
        for (uint32_t gpu = first; gpu < first + n; gpu++) {
            gpu_of_rank[rank] = gpu;
            rank_of_gpu[gpu] = rank++;
        }
    }
    traffic->n_ranks = job->n_gpus;
    (void)FAB_GIVE(traffic->gpu_of_rank, gpu_of_rank);
    return FAB_GIVE(traffic->rank_of_gpu, rank_of_gpu);
}
