/* Traffic as files over a small fabric: matrices (CSV, MatrixMarket), connections of htsim, workloads of SimAI, logs of
 * NCCL, dumps of flight recorders, by their content. A phase that is read is written and read again as the same sums by
 * pair. */
#include "fab/traffic.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS 32

static fab_fabric *the_fabric(void) {
    static fab_fabric *fabric;
    if (fabric == NULL) {
        fabric = fuzz_fabric("rail-spine:gpus=32,gpus-per-server=4,radix=8", NULL);
    }
    return fabric;
}

/* Bytes of every pair of GPUs, modulo 2^64; and what holds for flows. */
static void sum_pairs(const fab_phase *phase, uint64_t *out) {
    uint64_t sum = 0;
    memset(out, 0, GPUS * GPUS * sizeof *out);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        fuzz_check(flow.src < GPUS && flow.dst < GPUS && flow.src != flow.dst, "flow %u -> %u", flow.src, flow.dst);
        fuzz_check(flow.bytes > 0, "a flow of nothing");
        out[flow.src * GPUS + flow.dst] += flow.bytes;
        sum += flow.bytes;
    }
    fuzz_check(sum == phase->total_bytes, "%llu bytes in all, not %llu", (unsigned long long)sum,
               (unsigned long long)phase->total_bytes);
}

static fab_status read_matrix(const uint8_t *data, size_t size, fab_traffic *out, fab_error *err) {
    char text[128];
    (void)snprintf(text, sizeof text, "file:%s", fuzz_file(data, size));
    return fab_traffic_make(text, NULL, the_fabric(), 1, out, err);
}

static void check_round_trip(const fab_phase *phase, fab_matrix_format format) {
    static uint64_t before[GPUS * GPUS];
    static uint64_t after[GPUS * GPUS];
    char *bytes = NULL;
    size_t n = 0;
    fab_traffic again = {0};
    fab_error err = {0};
    FILE *out = open_memstream(&bytes, &n);
    fuzz_check(out != NULL, "no room");
    sum_pairs(phase, before);
    fuzz_check(fab_matrix_write(phase, GPUS, format, out, &err) == FAB_OK, "%s", err.text);
    (void)fclose(out);
    fuzz_check(read_matrix((const uint8_t *)bytes, n, &again, &err) == FAB_OK, "%s: %s in\n%s", err.where, err.text,
               bytes);
    fuzz_check(again.n_phases == 1, "%zu phases of a matrix", again.n_phases);
    sum_pairs(&again.phases[0], after);
    fuzz_check(memcmp(before, after, sizeof before) == 0, "another matrix is read back from\n%s", bytes);
    fab_traffic_release(&again);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_traffic traffic = {0};
    fab_error err = {0};
    if (fuzz_accepts(read_matrix(data, size, &traffic, &err), &err)) {
        fuzz_check(traffic.n_phases > 0, "nothing was read");
        for (size_t i = 0; i < traffic.n_phases; i++) {
            check_round_trip(&traffic.phases[i], FAB_MATRIX_CSV);
            check_round_trip(&traffic.phases[i], FAB_MATRIX_MARKET);
        }
        for (uint32_t rank = 0; rank < traffic.logged.n; rank++) {
            fuzz_check(traffic.logged.gpu[rank] < GPUS, "rank %u on GPU %u", rank, traffic.logged.gpu[rank]);
        }
    }
    fab_traffic_release(&traffic);
    return 0;
}
