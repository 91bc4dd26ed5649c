/**
 * @file draws.h
 * Random instances of a test: how many, and the numbers that they are made of.
 */
#pragma once

#include <stdint.h>

/** One in FAB_TEST_SHARE (tests/CMakeLists.txt) of n; all of them in the long run. */
#define DRAWS(n) ((n) / FAB_TEST_SHARE)

/** From 0 below n, the same in every run of a test (xorshift64). */
static inline uint64_t draw(uint64_t n) {
    static uint64_t state = 88172645463325252ULL;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}
