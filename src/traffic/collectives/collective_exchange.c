/*
 * Pairs of ranks that exchange, at distances that are powers of two [Thakur, Rabenseifner, Gropp, 2005]:
 *
 *     all-gather       doubling            step i: S 2^i/r with rank xor 2^i
 *     reduce-scatter   halving             step i: S/2^(i+1) with rank xor r/2^(i+1)
 *     all-reduce       doubling            step i: S with rank xor 2^i
 *     all-reduce       halving-doubling    halving, then doubling
 *
 * Every step has peers of its own, and is a phase of its own.
 */
#include "collectives.h"

static fab_status exchange_check(const fab_collective *c, fab_error *err) {
    FAB_REFUSE_IF((c->r & (c->r - 1)) != 0, err, FAB_EINPUT, NULL,
                  "recursive %s needs a power of two of ranks in a group, not %" PRIu32
                  "; choose algorithm=ring or algorithm=%s",
                  c->algorithm->name, c->r, c->operation == FAB_ALL_REDUCE ? "tree" : "mesh");
    return FAB_OK;
}

static uint32_t n_parts(const fab_collective *c) {
    return (strcmp(c->algorithm->name, "halving-doubling") == 0 ? 2 : 1) * fab_log2_up(c->r);
}

/* Distance of the peers in a step, and the bytes of a message as a part of S / r. */
static uint32_t distance_at(const fab_collective *c, uint32_t step, uint32_t *out_parts) {
    uint32_t n = fab_log2_up(c->r);
    bool halves = c->operation == FAB_REDUCE_SCATTER || (n_parts(c) == 2 * n && step < n);
    uint32_t exponent = halves ? n - 1 - step : step < n ? step : step - n;
    uint32_t distance = UINT32_C(1) << (exponent & 31U); /* the analyser cannot know that step < n_parts */
    bool whole = c->operation == FAB_ALL_REDUCE && n_parts(c) == n;
    *out_parts = whole ? c->r : distance;
    return distance;
}

static void exchange_describe(const fab_collective *c, uint32_t part, fab_part *out) {
    uint32_t parts = 0;
    uint32_t distance = distance_at(c, part, &parts);
    out->steps = 1;
    out->copies = parts;
    if (parts == c->r) {
        FAB_FORMAT(out->text, "S to the rank at distance %" PRIu32, distance);
    } else {
        FAB_FORMAT(out->text, "%" PRIu32 "/r S to the rank at distance %" PRIu32, parts, distance);
    }
}

static void emit(const fab_collective *c, fab_sink *sink) {
    for (uint32_t step = 0; step < n_parts(c); step++) {
        uint32_t parts = 0;
        uint32_t distance = distance_at(c, step, &parts);
        for (uint32_t rank = 0; rank < c->r; rank++) {
            fab_sink_put(sink, step, rank, rank ^ distance, c->bytes / c->r * parts);
        }
    }
}

const struct fab_algorithm_rules fab_rules_exchange = {
    .check = exchange_check, .n_parts = n_parts, .part = exchange_describe, .emit = emit};
