/** Switches in the order of the next hops of a destination leaf, which need not be minimal. */
#pragma once

#include "fab/next_hops.h"

typedef struct fab_hop_order {
    uint32_t n;
    uint32_t *order;  /**< shape [n]: switches with a route, by index; next hops before those that lead to them. Without
                         the leaf */
    uint8_t *state;   /**< shape [n_switches] */
    uint32_t *cursor; /**< shape [n_switches]: next hop to look at */
    uint32_t *stack;
} fab_hop_order;

FAB_STATUS fab_hop_order_init(const fab_fabric *fabric, fab_hop_order *out, fab_error *err);
void fab_hop_order_release(fab_hop_order *order);

/**
 * Orders the switches for a leaf column; `order` is reused.
 * @param[out] out_loop  A switch of a circle, by index, where there is one.
 * @retval false  the next hops run in a circle
 * Complexity: O(switches + next hops).
 */
bool fab_hop_order_find(const fab_fabric *fabric, const fab_next_hops *next_hops, uint32_t leaf, fab_hop_order *order,
                        uint32_t *out_loop) FAB_MUST_USE;
