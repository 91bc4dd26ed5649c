/**
 * @file random_design.h
 * One-line designs with random parameters, over all families. Not every one can be built: those that cannot must say
 * why.
 */
#pragma once

#include "fab/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANDOM_CLOS,
    RANDOM_FAT_TREE,
    RANDOM_RAIL_SPINE,
    RANDOM_RAIL_ONLY,
    RANDOM_DRAGONFLY,
    RANDOM_TORUS,
    RANDOM_N_FAMILIES
};

static const char *const RANDOM_FAMILIES[RANDOM_N_FAMILIES] = {"clos",      "fat-tree",  "rail-spine",
                                                               "rail-only", "dragonfly", "torus"};

typedef struct random_design {
    char text[320];
    uint64_t family; /**< RANDOM_... */
} random_design;

static inline const char *random_word(fab_rng *rng, const char *const *words, size_t n) {
    return words[fab_rng_below(rng, n)];
}

static inline uint64_t random_between(fab_rng *rng, uint64_t low, uint64_t high) {
    return low + fab_rng_below(rng, high - low + 1);
}

/* A dragonfly with a given shape half of the time. Returns its NIC ports, 0 where the radix decides. */
static inline uint64_t random_dragonfly(fab_rng *rng, char *out, size_t size) {
    if (fab_rng_below(rng, 2) == 0) {
        return 0;
    }
    uint64_t p = random_between(rng, 1, 6);
    uint64_t a = random_between(rng, 1, 8);
    uint64_t h = random_between(rng, 1, 4);
    uint64_t g = a * h + 1;
    int n = snprintf(out, size, ",dragonfly=%" PRIu64 ",%" PRIu64 ",%" PRIu64, p, a, h);
    if (fab_rng_below(rng, 2) == 0) {
        g = random_between(rng, 1, g);
        (void)snprintf(out + n, size - (size_t)n, ",%" PRIu64 ",%" PRIu64, g, random_between(rng, 1, 2));
    }
    return p * a * g;
}

static inline void random_torus(fab_rng *rng, char *out, size_t size) {
    uint64_t n_dimensions = random_between(rng, 1, 4);
    int n = snprintf(out, size, ",torus=%" PRIu64, random_between(rng, 1, 6));
    for (uint64_t i = 1; i < n_dimensions; i++) {
        n += snprintf(out + n, size - (size_t)n, ",%" PRIu64, random_between(rng, 1, 6));
    }
}

/** The next design, of at most `most_servers` servers besides spares. */
static inline random_design random_design_next(fab_rng *rng, uint64_t most_servers) {
    static const char *const RADIX[] = {"8", "16", "32", "64", "144", "7", "12/20", "32/16/64"};
    static const char *const TAPER[] = {"1", "2", "3:2", "0.5", "7/3", "1/7", "2.5/1.5/4"};
    static const char *const SHAPE[] = {"1,nics-per-server=1", "2", "4", "8", "8,nics-per-server=4",
                                        "4,nics-per-server=8"};
    random_design d = {.family = fab_rng_below(rng, RANDOM_N_FAMILIES)};
    const char *shape = random_word(rng, SHAPE, sizeof SHAPE / sizeof SHAPE[0]);
    const char *nics = strrchr(shape, '=');
    uint64_t per_server = strtoull(shape, NULL, 10);
    uint64_t nics_per_server = nics != NULL ? strtoull(nics + 1, NULL, 10) : per_server;
    uint64_t servers = random_between(rng, 1, most_servers);
    uint64_t per_domain = fab_rng_below(rng, 4) == 0 && per_server > 1 ? random_between(rng, 1, 4) : 1;
    uint64_t spares = fab_rng_below(rng, 3);
    char extra[128] = "";
    if (d.family == RANDOM_DRAGONFLY) { /* a shape has few ports: most designs should fill it, not exceed it */
        uint64_t ports = random_dragonfly(rng, extra, sizeof extra);
        uint64_t room = ports / nics_per_server > spares ? ports / nics_per_server - spares : 1;
        servers = ports > 0 && servers > room ? room : servers;
        servers = servers > per_domain ? servers / per_domain : 1;
    } else if (d.family == RANDOM_TORUS) {
        random_torus(rng, extra, sizeof extra);
    } else {
        (void)snprintf(extra, sizeof extra, ",taper=%s", random_word(rng, TAPER, sizeof TAPER / sizeof TAPER[0]));
    }
    (void)snprintf(d.text, sizeof d.text,
                   "%s:gpus=%" PRIu64 ",gpus-per-server=%s,domain=%" PRIu64 ",radix=%s,breakout=%s,planes=%" PRIu64
                   ",spares=%" PRIu64 "%s",
                   RANDOM_FAMILIES[d.family], servers * per_domain * per_server, shape, per_domain * per_server,
                   random_word(rng, RADIX, sizeof RADIX / sizeof RADIX[0]), fab_rng_below(rng, 4) == 0 ? "2" : "1",
                   random_between(rng, 1, 2), spares, extra);
    return d;
}
