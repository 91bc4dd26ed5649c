/* Which servers a job has, and which GPU each rank runs on. */
#include "traffic_internal.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const DIMENSIONS[FAB_N_DIMS] = {"tp", "cp", "pp", "dp"};

/* The last server may be partly filled. */
static uint32_t gpus_of_server(const fab_fabric *fabric, uint32_t server) {
    uint32_t n_gpus = fab_n_gpus(fabric);
    uint64_t first = (uint64_t)server * fabric->gpus_per_server;
    if (first >= n_gpus) {
        return 0;
    }
    return n_gpus - first < fabric->gpus_per_server ? (uint32_t)(n_gpus - first) : fabric->gpus_per_server;
}

/* Reads a server number at *text and moves behind it. */
static fab_status read_server(const fab_job *job, uint32_t n_servers, const char **text, uint32_t *out,
                              fab_error *err) {
    size_t n = strspn(*text, "0123456789");
    if (n == 0) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "servers '%s': expected a server number at '%.20s' (such as 0-15,20)", job->spec.servers,
                        *text);
    }
    uint64_t value = n > 10 ? UINT64_MAX : strtoull(*text, NULL, 10);
    if (value >= n_servers) {
        return fab_fail(err, FAB_EINPUT, job->where,
                        "servers '%s': there is no server %.*s; the fabric has %" PRIu32 ", numbered from 0",
                        job->spec.servers, (int)(n < 20 ? n : 20), *text, n_servers);
    }
    *out = (uint32_t)value;
    *text += n;
    return FAB_OK;
}

/* Appends the servers first ... last; `used` marks those that are in the list already. */
static fab_status add_servers(fab_job *job, uint32_t first, uint32_t last, bool *used, fab_error *err) {
    if (first > last) {
        return fab_fail(err, FAB_EINPUT, job->where, "servers '%s': the range %" PRIu32 "-%" PRIu32 " runs backwards",
                        job->spec.servers, first, last);
    }
    for (uint32_t server = first; server <= last; server++) {
        if (used[server]) {
            return fab_fail(err, FAB_EINPUT, job->where, "servers '%s': server %" PRIu32 " is listed twice",
                            job->spec.servers, server);
        }
        used[server] = true;
        job->servers[job->n_servers++] = server;
    }
    return FAB_OK;
}

static fab_status parse_servers(fab_job *job, uint32_t n_servers, fab_error *err) {
    fab_status status = FAB_OK;
    bool *used = NULL;
    const char *text = job->spec.servers;
    FAB_TRY(FAB_NEW(used, n_servers, err));
    for (;;) {
        uint32_t first = 0;
        FAB_TRY(read_server(job, n_servers, &text, &first, err));
        uint32_t last = first;
        if (*text == '-') {
            text++;
            FAB_TRY(read_server(job, n_servers, &text, &last, err));
        }
        FAB_TRY(add_servers(job, first, last, used, err));
        if (*text == '\0') {
            break;
        }
        if (*text != ',') {
            FAB_FAIL(err, FAB_EINPUT, job->where, "servers '%s': expected ',' at '%.20s'", job->spec.servers, text);
        }
        text++;
    }
done:
    free(used);
    return status;
}

fab_status fab_job_find_servers(fab_job *job, const fab_design *design, const fab_fabric *fabric, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t spares = design->fabric.spares;
    FAB_TRY(FAB_NEW(job->servers, fabric->n_servers, err));
    if (job->spec.servers[0] != '\0') {
        FAB_TRY(parse_servers(job, fabric->n_servers, err));
    } else if (spares >= fabric->n_servers) {
        FAB_FAIL(err, FAB_EINPUT, job->where, "%" PRIu64 " spare servers of %" PRIu32 " leave none for the job", spares,
                 fabric->n_servers);
    } else {
        job->n_servers = fabric->n_servers - (uint32_t)spares;
        for (uint32_t server = 0; server < job->n_servers; server++) {
            job->servers[server] = server;
        }
    }
    for (uint32_t i = 0; i < job->n_servers; i++) {
        job->n_gpus += gpus_of_server(fabric, job->servers[i]);
    }
    if (job->n_gpus == 0) {
        FAB_FAIL(err, FAB_EINPUT, job->where, "the job's servers have no GPU");
    }
done:
    return status;
}

static fab_status bad_order(const fab_job *job, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, job->where,
                    "order '%s' does not name each of tp, cp, pp, dp once, innermost first (such as tp-cp-pp-dp)",
                    job->spec.order);
}

fab_status fab_job_order(fab_job *job, fab_error *err) {
    if (job->spec.order[0] == '\0') {
        (void)snprintf(job->spec.order, sizeof job->spec.order, "tp-cp-pp-dp");
    }
    const char *text = job->spec.order;
    bool seen[FAB_N_DIMS] = {false};
    uint32_t stride = 1;
    for (int place = 0; place < FAB_N_DIMS; place++) {
        int dim = 0;
        while (dim < FAB_N_DIMS && strncmp(text, DIMENSIONS[dim], 2) != 0) {
            dim++;
        }
        bool last = place == FAB_N_DIMS - 1;
        if (dim == FAB_N_DIMS || seen[dim] || text[2] != (last ? '\0' : '-')) {
            return bad_order(job, err);
        }
        seen[dim] = true;
        job->stride[dim] = stride;
        stride *= job->size[dim];
        text += 3;
    }
    return FAB_OK;
}

fab_status fab_job_place(const fab_job *job, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *gpu_of_rank = NULL;
    uint32_t *rank_of_gpu = NULL;
    uint32_t n_gpus = fab_n_gpus(fabric);
    FAB_TRY(FAB_NEW(gpu_of_rank, job->n_gpus, err));
    FAB_TRY(FAB_NEW(rank_of_gpu, n_gpus, err));
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++) {
        rank_of_gpu[gpu] = FAB_NONE;
    }
    uint32_t rank = 0;
    for (uint32_t i = 0; i < job->n_servers; i++) {
        uint32_t first = job->servers[i] * fabric->gpus_per_server;
        uint32_t n = gpus_of_server(fabric, job->servers[i]);
        for (uint32_t gpu = first; gpu < first + n; gpu++) {
            gpu_of_rank[rank] = gpu;
            rank_of_gpu[gpu] = rank++;
        }
    }
    traffic->n_ranks = job->n_gpus;
    traffic->gpu_of_rank = gpu_of_rank;
    traffic->rank_of_gpu = rank_of_gpu;
    gpu_of_rank = NULL;
    rank_of_gpu = NULL;
done:
    free(gpu_of_rank);
    free(rank_of_gpu);
    return status;
}
