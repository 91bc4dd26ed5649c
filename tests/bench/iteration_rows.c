/*
 * Iteration time of the published runs for given parameters of the model: what scripts/fit_compute.py fits and tables.
 *
 *     iteration_rows [only MODEL] MATRIX-RATIO MEMORY-RATIO [NIC-RATIO SCALE-UP-RATIO [GRADIENT-BYTES]]
 *     iteration_rows shipped | times
 *
 * Prints one line per row: model, published TFLOP/s, 1 if fitted, predicted TFLOP/s, microbatch, chunks, and the shares
 * of the iteration: computation, bubble, tensor, pipeline and data parallel, optimizer. "shipped" prints the defaults,
 * "times" the seconds of tensor, pipeline and data-parallel transfers.
 */
#include "iteration_rows.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_times(void) {
    for (size_t i = 0; i < N_PUBLISHED; i++) {
        const published_row *row = &PUBLISHED[i];
        const fab_model *model = fab_model_find(row->model);
        fab_job_spec job = row_job(model, row->tp, row->pp, row->dp, row->batch);
        fab_job_times times = row_times(&job, model, ROW_NVLINK, ROW_NIC);
        (void)printf("%s %.9g %.9g %.9g\n", row->model, times.tp.transfer_s, times.pp.transfer_s,
                     times.dp_reduce.transfer_s);
    }
}

int main(int argc, char **argv) {
    fab_compute_model compute = fab_compute_default;
    const char *only = argc > 2 && strcmp(argv[1], "only") == 0 ? argv[2] : NULL;
    argc -= only != NULL ? 2 : 0;
    argv += only != NULL ? 2 : 0;
    if (argc == 2 && strcmp(argv[1], "shipped") == 0) {
        (void)printf("%.4f %.4f %.2f %.2f\n", compute.matrix_ratio, compute.memory_ratio, compute.nic_ratio,
                     compute.scale_up_ratio);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "times") == 0) {
        print_times();
        return 0;
    }
    if (argc != 3 && argc != 5 && argc != 6) {
        (void)fprintf(
            stderr,
            "usage: iteration_rows [only MODEL] MATRIX MEMORY [NIC SCALE-UP [GRADIENT-BYTES]] | shipped | times\n");
        return 2;
    }
    double *ratios[] = {&compute.matrix_ratio, &compute.memory_ratio, &compute.nic_ratio, &compute.scale_up_ratio};
    for (int i = 1; i < argc && i <= 4; i++) {
        *ratios[i - 1] = strtod(argv[i], NULL);
        if (!(*ratios[i - 1] > 0)) {
            (void)fprintf(stderr, "iteration_rows: '%s' is not a ratio above 0\n", argv[i]);
            return 2;
        }
    }
    uint64_t gradient_bytes = argc == 6 ? strtoull(argv[5], NULL, 10) : 4;
    for (size_t i = 0; i < N_PUBLISHED; i++) {
        fab_iteration it;
        fab_error err = {.code = FAB_OK};
        if (only != NULL && strcmp(only, PUBLISHED[i].model) != 0) {
            continue;
        }
        if (row_iteration(i, &compute, gradient_bytes, &it, &err) != FAB_OK) {
            (void)fprintf(stderr, "iteration_rows: %s: %s\n", PUBLISHED[i].model, err.text);
            return 70;
        }
        (void)printf("%s %.0f %d %.6f %" PRIu64 " %" PRIu64 " %.4f %.4f %.4f %.4f %.4f %.4f\n", PUBLISHED[i].model,
                     PUBLISHED[i].tflops, PUBLISHED[i].fitted, it.tflops_per_gpu, it.microbatch, it.interleave,
                     it.compute_s / it.time_s, it.bubble_s / it.time_s, it.exposed_tp_s / it.time_s,
                     it.exposed_pp_s / it.time_s, it.exposed_dp_s / it.time_s, it.optimizer_s / it.time_s);
    }
    return 0;
}
