/* Ranking: lookups and products of a batch on a roofline, and what its phases add. */
#include "batches.h"
#include "fab/iterate.h"
#include "fab/memory.h"

#include <math.h>

#define TABLE_BYTES 4      /* of an element of a table */
#define SIDE        1024.0 /* of the layers that dense parameters are taken for */

/* Forward, and gradients of inputs and weights. */
static double dense_s(const fab_job_spec *job) {
    const double samples = (double)job->batch / (double)job->dp;
    const double side = fmin(SIDE, sqrt((double)job->dense_parameters));
    const double layers = (double)job->dense_parameters / (side * side);
    const fab_compute_model *model = &fab_compute_default;
    const fab_gpu *gpu = &job->accelerator;
    return layers * (2 * fab_gemm_s(model, gpu, job->precision, samples, side, side, 1) +
                     fab_gemm_s(model, gpu, job->precision, side, side, samples, 1)) +
           fab_optimizer_s(model, gpu, (double)job->dense_parameters, job->gradient_bytes);
}

/* Rows are read once, and once more to be written. */
static double lookup_s(const fab_job_spec *job) {
    const double bytes = 3 * TABLE_BYTES * (double)job->batch / (double)job->dp * job->lookups * job->lookup_peak;
    return fab_memory_s(&fab_compute_default, &job->accelerator, bytes);
}

static void rank(const fab_traffic *traffic, const fab_result *result, size_t engine, fab_ranking_batch *out) {
    const fab_job_spec *job = &traffic->job;
    out->dense_s = dense_s(job);
    out->lookup_s = lookup_s(job);
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        const double s = phase->engines[engine].time_s.mean;
        if (strncmp(phase->name, "embedding", strlen("embedding")) == 0) {
            out->exchange_s += s;
        } else if (strncmp(phase->name, "dp", 2) == 0) {
            out->reduction_s += (1 - job->dp_overlap) * s;
        }
    }
    out->batch_s = out->lookup_s + out->dense_s + out->exchange_s + out->reduction_s;
    out->samples_per_s = (double)job->batch / out->batch_s;
    out->usd_per_1e6_samples =
        traffic->memory.fits
            ? fab_usd_per_s(&result->fabrics[0], result->ranks, traffic->job.gpu_hour_usd) / out->samples_per_s * 1e6
            : 0;
}

fab_status iteration_rank(const fab_traffic *traffic, fab_result *result, fab_error *err) {
    const size_t n = result->phases[0].n_engines;
    FAB_PASS(FAB_NEW(result->ranking, n, err));
    result->n_ranking = n;
    for (size_t e = 0; e < n; e++) {
        rank(traffic, result, e, &result->ranking[e]);
        FAB_FORMAT(result->ranking[e].engine, "%s", result->phases[0].engines[e].engine);
    }
    return FAB_OK;
}
