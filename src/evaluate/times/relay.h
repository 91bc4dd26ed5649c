/**
 * Traffic between rails that a GPU of the own scale-up domain takes in whole before it passes it on
 * (forwarding=sequential): see src/doc/adr/0029-sweeps.md.
 */
#pragma once

#include "measure/measure.h"

/**
 * What a phase relays, and how long its busiest scale-up port needs for it.
 * @param[out] out_bytes  Shape [n_links]; NULL where the fabric does not store and forward. Free with free().
 * @param[out] out_s      0 there.
 * Complexity: O(flows x NICs of a GPU x planes).
 */
FAB_STATUS fab_relay_find(const fab_prepared_phase *prepared, double **out_bytes, double *out_s, fab_error *err);

/**
 * Drops the relaying from the links of a path: its scale-up links, where others are on it too.
 * @param[in,out] link  n links, closed up.
 * @return how many are left.
 */
uint32_t fab_relay_drop(const fab_fabric *fabric, fab_link_id *link, uint32_t n);
