/**
 * @file sharing_fixture.h
 * Random flows over links.
 */
#pragma once

#include "fab/max_min.h"
#include "fab/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct random_sharing {
    fab_sharing sharing;
    double *capacity, *share, *weight, *limit, *bits;
    uint64_t *first;
    uint32_t *link;
} random_sharing;

static inline double sharing_uniform(fab_rng *rng) {
    return (double)(fab_rng_next(rng) >> 11) * 0x1p-53;
}

/** Round numbers that tie often, or any over some octaves. */
static inline double sharing_number(fab_rng *rng, bool round) {
    return round ? (double)(1 + fab_rng_below(rng, 4)) : exp2(12 * sharing_uniform(rng) - 6);
}

/** What a sharing has is drawn too: weights, limits, shares, infinite capacities, separate parts, round numbers. */
static inline void sharing_make(uint64_t seed, uint32_t max_flows, uint32_t max_links, random_sharing *r) {
    fab_rng rng = fab_rng_make(seed, 5);
    uint64_t kind = fab_rng_next(&rng);
    bool round = (kind & 1) != 0;
    uint32_t n_flows = 1 + (uint32_t)fab_rng_below(&rng, max_flows);
    uint32_t n_links = 1 + (uint32_t)fab_rng_below(&rng, max_links);
    uint32_t n_parts = (kind >> 4 & 3) == 0 ? 3 : 1;
    uint32_t most =
        1 + (uint32_t)fab_rng_below(&rng, n_links < 10 ? n_links : 10); /* more than a record of a flow holds */
    uint64_t n = 0;
    r->capacity = calloc(n_links, sizeof *r->capacity);
    r->first = calloc((size_t)n_flows + 1, sizeof *r->first);
    r->link = calloc((size_t)n_flows * most, sizeof *r->link);
    r->share = calloc((size_t)n_flows * most, sizeof *r->share);
    r->weight = calloc(n_flows, sizeof *r->weight);
    r->limit = calloc(n_flows, sizeof *r->limit);
    r->bits = calloc(n_flows, sizeof *r->bits);
    for (uint32_t l = 0; l < n_links; l++) {
        bool infinite = (kind >> 6 & 3) == 0 && fab_rng_below(&rng, 5) == 0;
        r->capacity[l] = infinite ? INFINITY : sharing_number(&rng, round);
    }
    for (uint32_t f = 0; f < n_flows; f++) {
        uint32_t n_hops = (uint32_t)fab_rng_below(&rng, most + 1);
        r->first[f] = n;
        for (uint32_t h = 0; h < n_hops; h++) {
            uint32_t l = (uint32_t)fab_rng_below(&rng, n_links);
            bool fits = l % n_parts == f % n_parts;
            for (uint64_t e = r->first[f]; e < n; e++) {
                fits = fits && r->link[e] != l;
            }
            if (fits) {
                r->share[n] = round ? 0.5 * sharing_number(&rng, true) : 0.01 + sharing_uniform(&rng);
                r->link[n++] = l;
            }
        }
        r->weight[f] = sharing_number(&rng, round);
        r->limit[f] = fab_rng_below(&rng, 3) == 0 ? INFINITY : 0.5 * sharing_number(&rng, round);
        r->bits[f] = fab_rng_below(&rng, 12) == 0 ? 0 : sharing_number(&rng, round);
    }
    r->first[n_flows] = n;
    r->sharing = (fab_sharing){
        .n_flows = n_flows,
        .n_links = n_links,
        .capacity = r->capacity,
        .first = r->first,
        .link = r->link,
        .share = (kind >> 1 & 1) != 0 ? r->share : NULL,
        .weight = (kind >> 2 & 1) != 0 ? r->weight : NULL,
        .limit = (kind >> 3 & 1) != 0 ? r->limit : NULL,
    };
}

static inline void sharing_discard(random_sharing *r) {
    free(r->capacity);
    free(r->first);
    free(r->link);
    free(r->share);
    free(r->weight);
    free(r->limit);
    free(r->bits);
}

static inline bool sharing_close(double a, double b, double tolerance) {
    return a == b || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}
