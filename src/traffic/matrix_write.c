/* Traffic matrices out: CSV and MatrixMarket. */
#include "traffic_internal.h"

#include "fab/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Stable counting sort of `in` (or of 0 ... n - 1 where in is NULL) by key[flow]; `first` has n_keys + 1 entries. */
static void sort_by(const uint32_t *key, uint32_t n_keys, const uint32_t *in, uint32_t n, uint32_t *first,
                    uint32_t *out) {
    memset(first, 0, ((size_t)n_keys + 1) * sizeof *first);
    for (uint32_t i = 0; i < n; i++) {
        first[key[i] + 1]++;
    }
    for (uint32_t k = 0; k < n_keys; k++) {
        first[k + 1] += first[k];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t flow = in == NULL ? i : in[i];
        out[first[key[flow]]++] = flow;
    }
}

/* Index behind the flows that share the pair of flow order[i]; their sum. */
static uint32_t pair_end(const fab_phase *phase, const uint32_t *order, uint32_t i, uint64_t *out_bytes) {
    uint32_t src = phase->src[order[i]];
    uint32_t dst = phase->dst[order[i]];
    *out_bytes = 0;
    while (i < phase->n_flows && phase->src[order[i]] == src && phase->dst[order[i]] == dst) {
        *out_bytes += phase->bytes[order[i++]];
    }
    return i;
}

static void write_header(const fab_phase *phase, const uint32_t *order, uint32_t n_gpus, fab_matrix_format format,
                         FILE *out) {
    if (format == FAB_MATRIX_CSV) {
        (void)fprintf(out, "src,dst,bytes\n");
        return;
    }
    uint32_t n_pairs = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < phase->n_flows; n_pairs++) {
        i = pair_end(phase, order, i, &bytes);
    }
    (void)fprintf(out, "%%%%MatrixMarket matrix coordinate integer general\n");
    (void)fprintf(out, "%% bytes from GPU (row) to GPU (column), numbered from 1\n");
    (void)fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", n_gpus, n_gpus, n_pairs);
}

fab_status fab_matrix_write(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format, FILE *out,
                            fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *first = NULL;
    uint32_t *by_dst = NULL;
    uint32_t *order = NULL;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        uint32_t most = phase->src[i] > phase->dst[i] ? phase->src[i] : phase->dst[i];
        if (most >= n_gpus) {
            FAB_FAIL(err, FAB_EINTERNAL, phase->name, "flow %" PRIu32 " names GPU %" PRIu32 " of %" PRIu32, i, most,
                     n_gpus);
        }
    }
    FAB_TRY(FAB_NEW(first, (size_t)n_gpus + 1, err));
    FAB_TRY(FAB_NEW(by_dst, phase->n_flows, err));
    FAB_TRY(FAB_NEW(order, phase->n_flows, err));
    sort_by(phase->dst, n_gpus, NULL, (uint32_t)phase->n_flows, first, by_dst);
    sort_by(phase->src, n_gpus, by_dst, (uint32_t)phase->n_flows, first, order);
    write_header(phase, order, n_gpus, format, out);
    for (uint32_t i = 0; i < phase->n_flows;) {
        uint32_t src = phase->src[order[i]];
        uint32_t dst = phase->dst[order[i]];
        uint64_t bytes = 0;
        i = pair_end(phase, order, i, &bytes);
        if (format == FAB_MATRIX_CSV) {
            (void)fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", src, dst, bytes);
        } else {
            (void)fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", src + 1, dst + 1, bytes);
        }
    }
    if (fflush(out) != 0 || ferror(out)) {
        FAB_FAIL(err, FAB_EIO, NULL, "cannot write the traffic matrix: %s", strerror(errno));
    }
done:
    free(first);
    free(by_dst);
    free(order);
    return status;
}
