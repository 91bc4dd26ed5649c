/**
 * @file spray_fixture.h
 * Random flows over two tiers of switches, with several paths each, some from two NICs. Link 2 c goes up cable c,
 * 2 c + 1 down.
 */
#pragma once

#include "lossless_fixture.h"

enum { MOST_PATHS = 8, SPRAYED = 16 };

typedef struct sprayed {
    two_tiers net;
    double bits[SPRAYED * MOST_PATHS];
    uint64_t first[SPRAYED * MOST_PATHS + 1];
    uint32_t link[4 * SPRAYED * MOST_PATHS];
    uint32_t of_flow[SPRAYED + 1];
    bool marks[2 * CABLES];
} sprayed;

/* Flows of `kilobytes` or less, to few receivers where `seed` is odd. */
static inline void sprayed_draw(uint64_t seed, uint32_t n_flows, double kilobytes, sprayed *s) {
    two_tiers_draw(seed, 1, kilobytes, &s->net);
    fab_rng rng = fab_rng_make(seed, 1);
    uint64_t n = 0;
    uint32_t n_paths = 0;
    for (uint32_t f = 0; f < n_flows; f++) {
        uint32_t paths = 1 + (uint32_t)fab_rng_below(&rng, MOST_PATHS);
        uint32_t from = (uint32_t)fab_rng_below(&rng, HOSTS);
        uint32_t to = (from + 2 + (uint32_t)fab_rng_below(&rng, HOSTS - 3)) % HOSTS;
        to = seed % 2 == 1 && from > 1 ? f % 2 : to;
        bool two_nics = from + 1 != to && from + 1 < HOSTS && fab_rng_below(&rng, 3) == 0;
        double bits = 8e3 * fixture_draw(&rng, kilobytes / 2, kilobytes);
        s->of_flow[f] = n_paths;
        for (uint32_t i = 0; i < paths; i++) {
            uint32_t nic = from + (two_nics ? i % 2 : 0);
            uint32_t spine = (uint32_t)fab_rng_below(&rng, SPINES);
            s->first[n_paths] = n;
            s->bits[n_paths++] = bits / paths;
            s->link[n++] = 2 * nic;
            if (nic % LEAVES != to % LEAVES) {
                s->link[n++] = 2 * (HOSTS + nic % LEAVES * SPINES + spine);
                s->link[n++] = 2 * (HOSTS + to % LEAVES * SPINES + spine) + 1;
            }
            s->link[n++] = 2 * to + 1;
        }
    }
    s->of_flow[n_flows] = n_paths;
    s->first[n_paths] = n;
    for (uint32_t l = 0; l < 2 * CABLES; l++) {
        s->marks[l] = l % 2 == 1 || l >= 2 * HOSTS; /* not a NIC's */
    }
    s->net.phase.n_flows = n_paths;
    s->net.phase.first = s->first;
    s->net.phase.link = s->link;
    s->net.phase.bits = s->bits;
    s->net.phase.n_sprayed = n_flows;
    s->net.phase.sprayed = s->of_flow;
    s->net.phase.marks = s->marks;
    s->net.phase.seed = seed;
}
