/* Snapshots of counters. The first byte chooses the reader: 0 by content, k the k-th of fab_counters_formats, so that a
 * new one is fuzzed without a change here. */
#include "fab/counters.h"
#include "fuzz.h"

#include <math.h>
#include <string.h>

static void check_counters(const fab_counters *c) {
    fuzz_check(c->n_ports > 0 && c->format != NULL, "nothing was read");
    for (size_t i = 0; i < c->n_ports; i++) {
        const fab_counted_port *p = &c->ports[i];
        fuzz_check(p->box == FAB_COUNTERS_NONE || p->box < c->n_text, "port %zu: box at %u", i, p->box);
        fuzz_check(p->port == FAB_COUNTERS_NONE || p->port < c->n_text, "port %zu: port at %u", i, p->port);
        fuzz_check(p->has >> FAB_COUNTER_N == 0, "port %zu has %x", i, p->has);
        fuzz_check(isnan(p->time_s) || isfinite(p->time_s), "port %zu at %g", i, p->time_s);
        for (int k = 0; k < FAB_COUNTER_N; k++) {
            int scale = p->scale[k] & ~FAB_COUNTER_LONG;
            fuzz_check((p->has >> k & 1) == 0 || scale == 1 || scale == 4, "port %zu: scale %d", i, scale);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t n_formats = 0;
    while (fab_counters_formats[n_formats] != NULL) {
        n_formats++;
    }
    if (size == 0) {
        return 0;
    }
    fab_counters *c = NULL;
    fab_error err = {0};
    size_t choice = data[0] % (n_formats + 1);
    const char *format = choice > 0 ? fab_counters_formats[choice - 1]->name : NULL;
    if (fuzz_accepts(fab_counters_read(fuzz_file(data + 1, size - 1), format, &c, &err), &err)) {
        check_counters(c);
    }
    fab_counters_free(c);
    return 0;
}
