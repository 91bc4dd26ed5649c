/* The inside of a server, as NCCL's XML has it. */
#include "fab/server_shape.h"
#include "fab/units.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_rate(double bps, const char *what) {
    char text[40];
    double again = -1;
    fab_error err = {0};
    fuzz_check(isfinite(bps) && bps >= 0, "%s: %g bit/s", what, bps);
    if (bps > 0) {
        fuzz_check(fab_quantity_parse(fab_server_rate(text, bps), FAB_UNIT_RATE, &again, &err) == FAB_OK,
                   "%s: %g bit/s is shown as '%s': %s", what, bps, text, err.text);
    }
}

static void check_shape(const fab_server_shape *s) {
    fuzz_check(s->n_gpus > 0 && s->n_gpus <= FAB_SERVER_GPUS && s->n_nics > 0 && s->n_nics <= FAB_SERVER_NICS,
               "%u GPUs, %u NICs", s->n_gpus, s->n_nics);
    for (uint32_t i = 0; i < s->n_gpus; i++) {
        const fab_server_gpu *gpu = &s->gpu[i];
        fuzz_check(gpu->n_nics <= s->n_nics && gpu->n_sharing <= s->n_gpus, "%s: %u NICs for %u GPUs", gpu->name,
                   gpu->n_nics, gpu->n_sharing);
        check_rate(gpu->pcie_bps, gpu->name);
        check_rate(gpu->nvlink_bps, gpu->name);
    }
    for (uint32_t i = 0; i < s->n_nics; i++) {
        check_rate(s->nic[i].bps, s->nic[i].name);
    }
    fuzz_check(s->is_even || s->uneven[0] != '\0', "uneven, and nobody knows why");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fab_server_shape *shape = calloc(1, sizeof *shape);
    fab_error err = {0};
    if (fuzz_accepts(fab_server_read(fuzz_file(data, size), shape, &err), &err)) {
        check_shape(shape);
    }
    free(shape);
    return 0;
}
