/**
 * @file oracle_sprays.h
 * Sprayed packets, one at a time: the next event is looked for among all, queues are what packets say of themselves.
 */
#pragma once

#include "fab/lossless.h"

/** What has to hold of a run, whatever its times. */
typedef struct sprays_seen {
    uint64_t delivered, sent; /* packets; every one of them arrives once, however often it was sent */
    uint64_t trims;
} sprays_seen;

/** Acknowledgements take no part of links. @param[out] finish_s  As fab_lossless_result. */
sprays_seen oracle_sprays(const fab_lossless *transport, const fab_lossless_phase *phase, double *finish_s);
