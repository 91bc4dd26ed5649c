/* What links carry when flows follow their routes, each split evenly over its paths. */
#pragma once

#include "fab/routing.h"

#include <string.h>

/* amount: bytes or an offered rate, shape [n_flows]; out_load: shape [n_links], overwritten. */
static inline void route_load(const fab_fabric *f, const fab_routes *routes, const double *amount, double *out_load) {
    memset(out_load, 0, f->n_links * sizeof *out_load);
    for (uint32_t flow = 0; flow < routes->n_flows; flow++) {
        const uint32_t first = routes->flow_first[flow];
        const uint32_t last = routes->flow_first[flow + 1];
        for (size_t i = routes->path_first[first]; i < routes->path_first[last]; i++) {
            out_load[routes->link[i]] += amount[flow] / (last - first);
        }
    }
}
