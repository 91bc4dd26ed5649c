/**
 * @file lossless_fixture.h
 * Random phases over two tiers of switches. Link 2 c goes up cable c, 2 c + 1 down.
 */
#pragma once

#include "fab/lossless.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { LEAVES = 3, SPINES = 2, HOSTS = 9, CABLES = HOSTS + LEAVES * SPINES, MOST_FLOWS = 24 };

typedef struct two_tiers {
    fab_lossless_phase phase;
    double capacity[2 * CABLES], latency_s[2 * CABLES], bits[MOST_FLOWS];
    uint64_t first[MOST_FLOWS + 1];
    uint32_t link[4 * MOST_FLOWS];
} two_tiers;

static inline double fixture_draw(fab_rng *rng, double low, double high) {
    return low + (high - low) * (double)fab_rng_below(rng, 1000003) / 1000003;
}

/* Flows of `kilobytes` or less, from host to another host over a spine; no two times are alike. */
static inline void two_tiers_draw(uint64_t seed, uint32_t n_flows, double kilobytes, two_tiers *t) {
    fab_rng rng = fab_rng_make(seed, 0);
    for (uint32_t c = 0; c < CABLES; c++) {
        t->capacity[2 * c] = t->capacity[2 * c + 1] = 1e11 * fixture_draw(&rng, 0.9, 1.1);
        t->latency_s[2 * c] = t->latency_s[2 * c + 1] = 1e-6 * fixture_draw(&rng, 0.1, 1);
    }
    uint64_t n = 0;
    for (uint32_t f = 0; f < n_flows; f++) {
        uint32_t from = (uint32_t)fab_rng_below(&rng, HOSTS);
        uint32_t to = (from + 1 + (uint32_t)fab_rng_below(&rng, HOSTS - 1)) % HOSTS;
        uint32_t spine = (uint32_t)fab_rng_below(&rng, SPINES);
        t->first[f] = n;
        t->bits[f] = 8e3 * fixture_draw(&rng, kilobytes / 2, kilobytes);
        t->link[n++] = 2 * from;
        if (from % LEAVES != to % LEAVES) {
            t->link[n++] = 2 * (HOSTS + from % LEAVES * SPINES + spine);
            t->link[n++] = 2 * (HOSTS + to % LEAVES * SPINES + spine) + 1;
        }
        t->link[n++] = 2 * to + 1;
    }
    t->first[n_flows] = n;
    t->phase = (fab_lossless_phase){.n_flows = n_flows,
                                    .n_links = 2 * CABLES,
                                    .capacity = t->capacity,
                                    .latency_s = t->latency_s,
                                    .first = t->first,
                                    .link = t->link,
                                    .bits = t->bits};
}
