/** Inside of demand.c and demand_all.c. */
#pragma once

#include "fab/offer.h"

typedef struct fab_demand_source {
    const fab_fabric *fabric;
    const fab_ports *ports;
    const fab_next_hops *next_hops;
    const fab_phase *phase;
    const fab_offer *offer;
    const uint64_t *dead_link; /**< NULL: none is */
} fab_demand_source;

/** Whether a part of a flow has a way, over links that are not dead and next hops without them. */
bool fab_part_has_way(const fab_demand_source *s, const fab_flow *flow, uint32_t nic, uint32_t plane);

/** Room for this many pairs. Pages that are not written cost nothing. */
FAB_STATUS fab_demand_reserve(fab_demand *d, uint64_t n_pairs, fab_error *err);

/** Appends a pair of the destination at hand. */
static inline void fab_demand_add(fab_demand *d, uint32_t src, uint64_t parts, double rate, double bytes) {
    d->src[d->n_pairs] = src;
    d->parts[d->n_pairs] = parts;
    d->rate[d->n_pairs] = rate;
    d->bytes[d->n_pairs++] = bytes;
}

/** @param[in] sent  Of fab_relay_sent(). */
FAB_STATUS fab_demand_count_all(const fab_demand_source *s, const fab_sent *sent, fab_demand *d, fab_error *err);
