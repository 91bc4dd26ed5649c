/** A digest of bytes: FNV-1a, 64 bits [Fowler, Noll, Vo]. For tables and identities, not against forgery. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FAB_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/** `hash` (FAB_FNV_BEGIN at first) with `n` more bytes. */
static inline uint64_t fab_fnv(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}
