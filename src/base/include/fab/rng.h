/**
 * Seeded random numbers. Every draw is a pure function of its keys or of an explicit stream: no global state, so
 * results do not depend on the order or number of threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Mixes 64 bits (SplitMix64 finaliser, Steele, Lea, Flood, OOPSLA 2014): a bijection with full avalanche. */
static inline uint64_t fab_mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/** Independent draw for the key (seed, a, b). */
static inline uint64_t fab_draw(uint64_t seed, uint64_t a, uint64_t b) {
    return fab_mix64(fab_mix64(fab_mix64(seed) ^ a) ^ b);
}

/** Maps 32 random bits to [0, n) by multiplication; bias below n / 2^32. */
static inline uint32_t fab_scale32(uint32_t bits, uint32_t n) {
    return (uint32_t)(((uint64_t)bits * n) >> 32);
}

/** A stream of draws. */
typedef struct fab_rng {
    uint64_t state;
} fab_rng;

/** Stream number `stream` of `seed`. */
static inline fab_rng fab_rng_make(uint64_t seed, uint64_t stream) {
    fab_rng rng = {fab_draw(seed, stream, 0x666162)};
    return rng;
}

static inline uint64_t fab_rng_next(fab_rng *rng) {
    uint64_t value = fab_mix64(rng->state);
    rng->state += 0x9e3779b97f4a7c15U;
    return value;
}

/** Uniform in [0, n), exactly (rejection); n > 0. */
uint64_t fab_rng_below(fab_rng *rng, uint64_t n);

/** Fisher-Yates shuffle. */
void fab_rng_shuffle(fab_rng *rng, uint32_t *items, size_t n);
