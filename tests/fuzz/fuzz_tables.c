/* Forwarding tables as files: our own, those of a subnet manager, groups of next hops. The first byte chooses the
 * fabric and who reads. What is accepted is routed by: paths lead from end to end, loads are conserved. */
#include "fab/routing.h"
#include "fuzz.h"
#include "fuzz_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FABRICS 3

static const char *const FABRICS[N_FABRICS] = {"clos:gpus=8,gpus-per-server=2,radix=4",
                                               "fat-tree:gpus=8,gpus-per-server=2,radix=4,planes=2",
                                               "rail-only:gpus=8,gpus-per-server=2,radix=4"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_network networks[N_FABRICS];
    if (size == 0) {
        return 0;
    }
    size_t i = data[0] % N_FABRICS;
    if (networks[i].fabric == NULL) {
        fuzz_network_open(FABRICS[i], "pattern:shift,by=3", &networks[i]);
    }
    static const char *const READERS[] = {"file,path", "ecmp,qp=2,tables", "spray,tables"};
    fab_engine_spec spec = {.where = "fuzz"};
    (void)snprintf(spec.text, sizeof spec.text, "%s=%s", READERS[data[0] / N_FABRICS % 3],
                   fuzz_file(data + 1, size - 1));
    fuzz_route(&networks[i], &spec, 1);
    return 0;
}
