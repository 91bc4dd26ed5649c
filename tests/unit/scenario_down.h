/* What is down in the course of a history. */
#pragma once

#include "fab/memory.h"
#include "fab/scenarios.h"

/* Makes the components of a history those that are down after its first n events. */
static inline fab_status scenario_down(fab_scenario *h, size_t n, fab_error *err) {
    h->n_components = 0;
    for (size_t i = 0; i < n && i < h->n_events; i++) {
        const fab_event *e = &h->event[i];
        if (e->failure == FAB_FAILURE_SOFTWARE || e->failure == FAB_FAILURE_MAINTENANCE) {
            continue;
        }
        if (!e->is_repair) {
            FAB_PASS(FAB_GROW(h->component, h->component_capacity, h->n_components + 1, err));
            h->component[h->n_components++] = e->component;
            continue;
        }
        size_t kept = 0;
        for (size_t k = 0; k < h->n_components; k++) {
            if (h->component[k].kind != e->component.kind || h->component[k].id != e->component.id ||
                h->component[k].fraction != e->component.fraction) {
                h->component[kept++] = h->component[k];
            }
        }
        h->n_components = kept;
    }
    return FAB_OK;
}
