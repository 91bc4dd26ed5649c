#include "fab/rng.h"

uint64_t fab_rng_below(fab_rng *rng, uint64_t n) {
    uint64_t draw = fab_rng_next(rng);
    if (draw > UINT64_MAX - n) { /* of the last n are those above the last whole multiple of n, which would bias */
        uint64_t reject = (UINT64_MAX % n + 1) % n;
        while (reject != 0 && draw > UINT64_MAX - reject) {
            draw = fab_rng_next(rng);
        }
    }
    return draw % n;
}

void fab_rng_shuffle(fab_rng *rng, uint32_t *items, size_t n) {
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)fab_rng_below(rng, i);
        uint32_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}
