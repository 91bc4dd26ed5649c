/* What holds for every design that was accepted. */
#pragma once

#include "fab/topologies.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Its canonical text reads back as the same text, and its closed form says what it is made of, or why it cannot be. */
static inline void fuzz_check_design(const fab_design *design) {
    fab_str first = FAB_STR_INIT;
    fab_str second = FAB_STR_INIT;
    fab_error err = {0};
    fab_counts *counts = calloc(1, sizeof *counts);
    fab_design *again = calloc(1, sizeof *again);
    fab_design_describe(design, &first);
    fuzz_check(fab_str_status(&first, &err) == FAB_OK, "no room to describe a design");
    fuzz_check(fab_design_restore(first.data, again, &err) == FAB_OK, "%s: %s\nof\n%s", err.where, err.text,
               first.data);
    fab_design_describe(again, &second);
    fuzz_check(second.data != NULL && strcmp(first.data, second.data) == 0, "%s\nis restored as\n%s", first.data,
               second.data);
    if (fuzz_accepts(fab_topology_predict(&again->fabric, counts, &err), &err)) {
        uint64_t switches = 0;
        for (uint64_t t = 0; t < counts->tiers; t++) {
            switches += counts->switches_by_tier[t];
        }
        fuzz_check(switches == counts->switches && counts->gpus > 0, "%s\ncounts do not add up", first.data);
        for (uint64_t t = 0; t + 1 < counts->tiers; t++) {
            fuzz_check(isfinite(counts->built_taper[t]), "%s\ntaper %g", first.data, counts->built_taper[t]);
        }
    }
    fab_str_release(&first);
    fab_str_release(&second);
    free(counts);
    free(again);
}
