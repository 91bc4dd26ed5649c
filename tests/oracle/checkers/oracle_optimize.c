#include "oracle_optimize.h"

#include "fab/design.h"
#include "fab/analysis.h"
#include "fab/memory.h"
#include "fab/topologies.h"
#include "fab/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What has been chosen so far. */
typedef struct chosen {
    const fab_catalog *catalog;
    const fab_prices *prices;
    const char *family;
    uint64_t gpus, planes, domain, n_tiers, sharing;
    double nic_bps;
    const fab_catalog_switch *model[4];
    uint64_t split[4];
    double taper[4];
    oracle_design *designs;
    size_t n, capacity;
} chosen;

/* Of all splits whose cables are no faster than those of the tier above, the one with the fewest cables; else the one
 * with the most. */
static uint64_t split_up(const chosen *c, uint64_t t) {
    double above = c->model[t + 1]->port_bps / (double)c->split[t + 1];
    uint64_t best = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < c->model[t]->n_breakouts; i++) {
        uint64_t split = c->model[t]->breakouts[i];
        most = split > most ? split : most;
        if (c->model[t]->port_bps / (double)split <= above + 1 && (best == 0 || split < best)) {
            best = split;
        }
    }
    return best != 0 ? best : most;
}

static void try_design(chosen *c) {
    char text[1024];
    char rate[40];
    fab_design *design = malloc(sizeof *design);
    fab_counts *counts = malloc(sizeof *counts);
    fab_cost *cost = malloc(sizeof *cost);
    fab_fabric *graph = NULL;
    oracle_design d = {0};
    size_t n = (size_t)snprintf(text, sizeof text,
                                "%s:gpus=%" PRIu64 ",gpus-per-server=%" PRIu64 ",nics-per-server=%" PRIu64
                                ",domain=%" PRIu64 ",planes=%" PRIu64 ",tiers=%" PRIu64 ",nic=%s",
                                c->family, c->gpus, c->catalog->gpus_per_server, c->catalog->nics_per_server, c->domain,
                                c->planes, c->n_tiers, fab_quantity_exact(rate, c->nic_bps, FAB_UNIT_RATE));
    for (uint64_t t = 0; t < c->n_tiers; t++) {
        bool top = t + 1 == c->n_tiers;
        n += (size_t)snprintf(text + n, sizeof text - n,
                              ",radix.%" PRIu64 "=%" PRIu64 ",port.%" PRIu64 "=%s,breakout.%" PRIu64 "=%" PRIu64
                              ",breakout-up.%" PRIu64 "=%" PRIu64,
                              t + 1, c->model[t]->radix, t + 1,
                              fab_quantity_exact(rate, c->model[t]->port_bps, FAB_UNIT_RATE), t + 1, c->split[t], t + 1,
                              top ? c->split[t] : split_up(c, t));
        if (!top) {
            n += (size_t)snprintf(text + n, sizeof text - n, ",taper.%" PRIu64 "=%.17g", t + 1, c->taper[t]);
        }
    }
    if (c->sharing > 0) {
        (void)snprintf(text + n, sizeof text - n, ",rails-per-switch=%" PRIu64, c->sharing);
    }
    if (fab_design_read(text, NULL, 0, design, NULL) == FAB_OK &&
        fab_topology_predict(&design->fabric, counts, NULL) == FAB_OK &&
        fab_topology_build(&design->fabric, &graph, counts, NULL) == FAB_OK && /* cables as the graph has them */
        fab_cost_of(&design->fabric, counts, c->prices, cost, NULL) == FAB_OK &&
        fab_bisection(graph, &d.bisection_ratio, NULL) == FAB_OK) {
        d.bisection_ratio /= (double)(counts->servers / 2 * c->catalog->nics_per_server) * c->nic_bps;
        d.usd = cost->total_usd;
        d.power_w = cost->power_w;
        double product = 1;
        for (uint64_t t = 0; t + 1 < c->n_tiers; t++) { /* tapers bound what climbs, whatever the halves */
            d.max_taper = fmax(d.max_taper, counts->built_taper[t]);
            product *= counts->built_taper[t];
            d.bisection_ratio = fmin(d.bisection_ratio, 1 / product);
        }
        (void)snprintf(d.text, sizeof d.text, "%.511s", text);
        if (strlen(text) < sizeof d.text && FAB_GROW(c->designs, c->capacity, c->n + 1, NULL) == FAB_OK) {
            c->designs[c->n++] = d;
        }
    }
    fab_fabric_free(graph);
    free(design);
    free(counts);
    free(cost);
}

static void try_tapers(chosen *c, uint64_t t) {
    if (t + 1 >= c->n_tiers || t >= sizeof c->taper / sizeof c->taper[0]) {
        try_design(c);
        return;
    }
    for (size_t i = 0; i < c->catalog->n_tapers; i++) {
        c->taper[t] = c->catalog->tapers[i];
        try_tapers(c, t + 1);
    }
}

static void try_switches(chosen *c, uint64_t t) {
    if (t == c->n_tiers || t >= sizeof c->model / sizeof c->model[0]) {
        if (c->model[0]->port_bps / (double)c->split[0] + 1 >= c->nic_bps / (double)c->planes) {
            try_tapers(c, 0);
        }
        return;
    }
    for (size_t i = 0; i < c->catalog->n_switches; i++) {
        for (size_t j = 0; j < c->catalog->switches[i].n_breakouts; j++) {
            c->model[t] = &c->catalog->switches[i];
            c->split[t] = c->catalog->switches[i].breakouts[j];
            try_switches(c, t + 1);
        }
    }
}

/* Of any rails that share a network: those that do not divide them are no design. */
static void try_sharing(chosen *c) {
    static const uint64_t SHARING[] = {0, 1, 2, 4, 8, 16, 32};
    for (size_t i = 0; i < (strcmp(c->family, "rail-only") == 0 ? 7 : 1); i++) {
        c->sharing = SHARING[i];
        try_switches(c, 0);
    }
}

oracle_design *oracle_designs(const fab_catalog *catalog, const fab_prices *prices, uint64_t gpus, size_t *out_n) {
    chosen c = {.catalog = catalog, .prices = prices, .gpus = gpus};
    for (size_t f = 0; f < catalog->n_families; f++) {
        for (size_t t = 0; t < catalog->n_tiers; t++) {
            for (size_t p = 0; p < catalog->n_planes; p++) {
                for (size_t d = 0; d < catalog->n_domains; d++) {
                    for (size_t r = 0; r < catalog->n_nics; r++) {
                        c.family = catalog->families[f];
                        c.n_tiers = catalog->tiers[t];
                        c.planes = catalog->planes[p];
                        c.domain = catalog->domains[d];
                        c.nic_bps = catalog->nics_bps[r];
                        try_sharing(&c);
                    }
                }
            }
        }
    }
    *out_n = c.n;
    return c.designs;
}

size_t oracle_cheapest(const oracle_design *designs, size_t n, const fab_limits *l) {
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        const oracle_design *d = &designs[i];
        bool keeps = (!l->has_bisection || d->bisection_ratio >= l->min_bisection_ratio - 1e-9) &&
                     (!l->has_taper || d->max_taper <= l->max_taper + 1e-9) &&
                     (!l->has_power || d->power_w <= l->max_power_w + 1e-6) &&
                     (!l->has_budget || d->usd <= l->budget_usd + 1e-6);
        if (keeps && (best == n || d->usd < designs[best].usd)) {
            best = i;
        }
    }
    return best;
}
