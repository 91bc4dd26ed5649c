/** What whole numbers have in common. */
#pragma once

#include <stdint.h>

/** Greatest common divisor; of 0 and a number that number. Complexity: O(log(a + b)). */
static inline uint64_t fab_gcd(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
