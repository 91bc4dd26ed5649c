/* Traffic matrices out: CSV and MatrixMarket. */
#include "traffic_internal.h"

#include "fab/ranked.h"

#include <errno.h>

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

static void write_header(uint64_t n_pairs, uint32_t n_gpus, fab_matrix_format format, FILE *out) {
    if (format == FAB_MATRIX_CSV) {
        (void)fprintf(out, "src,dst,bytes\n");
        return;
    }
    (void)fprintf(out, "%%%%MatrixMarket matrix coordinate integer general\n");
    (void)fprintf(out, "%% bytes from GPU (row) to GPU (column), numbered from 1\n");
    (void)fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", n_gpus, n_gpus, n_pairs);
}

static void write_entry(uint32_t src, uint32_t dst, uint64_t bytes, fab_matrix_format format, FILE *out) {
    if (format == FAB_MATRIX_CSV) {
        (void)fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", src, dst, bytes);
    } else {
        (void)fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 "\n", src + 1, dst + 1, bytes);
    }
}

/* An all-to-all comes in the order of the matrix. A full disk ends it: there may be billions of lines to go. */
static void write_all(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format, FILE *out) {
    write_header(phase->n_flows, n_gpus, format, out);
    for (uint64_t i = 0; i < phase->n_flows && !ferror(out); i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        write_entry(flow.src, flow.dst, flow.bytes, format, out);
    }
}

static fab_status write_listed(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format, FILE *out,
                               fab_error *err) {
    uint32_t n_pairs = 0;
    uint64_t bytes = 0;
    FAB_OWNED_NEW(uint32_t, first, (size_t)n_gpus + 2, err);
    FAB_OWNED_NEW(uint32_t, by_dst, phase->n_flows, err);
    FAB_OWNED_NEW(uint32_t, order, phase->n_flows, err);
    fab_sort_by_key(phase->dst, NULL, (uint32_t)phase->n_flows, n_gpus, first, by_dst);
    fab_sort_by_key(phase->src, by_dst, (uint32_t)phase->n_flows, n_gpus, first, order);
    for (uint32_t i = 0; i < phase->n_flows; n_pairs++) {
        i = pair_end(phase, order, i, &bytes);
    }
    write_header(n_pairs, n_gpus, format, out);
    for (uint32_t i = 0; i < phase->n_flows;) {
        uint32_t flow = order[i];
        i = pair_end(phase, order, i, &bytes);
        write_entry(phase->src[flow], phase->dst[flow], bytes, format, out);
    }
    return FAB_OK;
}

fab_status fab_matrix_write(const fab_phase *phase, uint32_t n_gpus, fab_matrix_format format, FILE *out,
                            fab_error *err) {
    if (phase->all.n > 0) {
        write_all(phase, n_gpus, format, out);
    } else {
        FAB_PASS(write_listed(phase, n_gpus, format, out, err));
    }
    FAB_REFUSE_IF(fflush(out) != 0 || ferror(out), err, FAB_EIO, NULL, "cannot write the traffic matrix: %s",
                  strerror(errno));
    return FAB_OK;
}
