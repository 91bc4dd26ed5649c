/* Minimum cut between two halves of the servers, as a maximum flow over switches: parallel cables are merged, and the
 * NICs of a leaf are one source or sink edge with their summed rate. Rates are whole bit/s, so the cut is exact. */
#include "fab/analysis.h"
#include "fab/memory.h"
#include "max_flow.h"

#include <math.h>
#include <stdlib.h>

/* Directed capacities: source and sink edges from the NICs, then switch links. */
static size_t list_edges(const fab_fabric *f, int shift, uint64_t (*out)[2]) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t source = fab_n_switches(f);
    uint32_t sink = source + 1;
    uint32_t half = fab_n_complete_servers(f) / 2 * f->nics_per_server;
    uint32_t behind = fab_n_complete_servers(f) * f->nics_per_server;
    size_t n = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        uint64_t capacity = fab_max_flow_capacity(k->capacity_bps, shift);
        uint32_t upper = f->end[2 * (size_t)c + 1] - base;
        if (k->kind == FAB_LINK_ACCESS) {
            uint32_t nic = f->end[2 * (size_t)c] - f->first[FAB_NODE_NIC];
            bool in_first = nic < half;
            if (nic >= behind) {
                continue;
            }
            out[n][0] = in_first ? fab_max_flow_edge(source, upper) : fab_max_flow_edge(upper, sink);
            out[n++][1] = capacity;
        } else if (k->kind == FAB_LINK_FABRIC) {
            uint32_t lower = f->end[2 * (size_t)c] - base;
            out[n][0] = fab_max_flow_edge(lower, upper);
            out[n++][1] = capacity;
            out[n][0] = fab_max_flow_edge(upper, lower);
            out[n++][1] = capacity;
        }
    }
    return n;
}

static int shift_of(const fab_fabric *f) {
    double sum = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        sum += 2 * f->classes[f->cable_class[c]].capacity_bps;
    }
    return fab_max_flow_shift(sum);
}

fab_status fab_bisection(const fab_fabric *f, double *out_bps, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t(*edges)[2] = NULL;
    uint64_t total = 0;
    uint32_t source = fab_n_switches(f);
    int shift = shift_of(f);
    FAB_TRY(fab_allocate((size_t)f->n_cables * 2, sizeof *edges, &edges, err));
    FAB_TRY(fab_max_flow(source + 2, edges, list_edges(f, shift, edges), source, source + 1, &total, err));
    *out_bps = ldexp((double)total, -shift);
done:
    free(edges);
    return status;
}

double fab_bisection_ratio(const fab_fabric_spec *spec, const fab_counts *counts, double bisection_bps) {
    double access_bps = 0; /* of all cables between NIC and switch */
    for (size_t i = 0; i < counts->n_kinds && counts->kinds[i].tier == 1; i++) {
        access_bps += (double)counts->kinds[i].count * counts->kinds[i].rate_bps;
    }
    bool is_installed = spec->file[0] != '\0'; /* its NICs are what is plugged */
    double all_bps = is_installed ? access_bps : (double)counts->nics * spec->nic_bps;
    uint64_t half = counts->servers / 2; /* a middle server: neither */
    double half_bps = all_bps * (double)half / (double)counts->servers;
    double through = access_bps / all_bps;
    double least = half_bps > 0 ? fmin(fmin(bisection_bps / half_bps, through), 1) : 1;
    for (uint64_t t = 1; half_bps > 0 && t < counts->tiers; t++) {
        through /= counts->built_taper[t - 1] > 0 ? counts->built_taper[t - 1] : 1;
        least = fmin(least, through);
    }
    return least;
}

double fab_scaleup_bisection(const fab_fabric_spec *spec, const fab_counts *counts) {
    if (counts->domains == 0 || spec->domain == 0) {
        return 0;
    }
    uint64_t rest = counts->gpus % spec->domain; /* spare servers may leave the last domain partly filled */
    uint64_t half = counts->gpus / spec->domain * (spec->domain / 2) + rest / 2;
    return (double)half * spec->domain_bps;
}
