/**
 * What a cluster costs to buy and to run: GPUs, servers, racks and floor, network and energy, over the years of the
 * price book.
 */
#pragma once

#include "fab/result.h"

typedef struct fab_design fab_design;
typedef struct fab_prices fab_prices;

typedef struct fab_ownership {
    char missing[192]; /**< what is not priced; empty: all is known */
    char profile[FAB_NAME_SIZE];
    double years;
    uint64_t gpus, servers, racks;                                 /**< spare servers and their GPUs too */
    double gpu_usd, server_usd, rack_usd, network_usd, energy_usd; /**< over the years; network with the front-end */
    double total_usd;
    double power_w; /**< all at its most */
} fab_ownership;

/**
 *     total = GPUs + servers + racks x (price + years x floor) + network + power x PUE x 8,760 h x years x price
 *
 * Racks are those of the floor plan, or, without one, as many as the book fills with the servers and the switches.
 * @param[in]  gpu  Of the job.
 * @param[out] out  With `missing` nothing else of it is meaningful but `profile`.
 * @retval FAB_EINPUT  the price book cannot be read
 */
FAB_STATUS fab_ownership_of(const fab_design *design, const fab_fabric_result *fabric, const fab_gpu *gpu,
                            fab_ownership *out, fab_error *err);

/** The same by a price book that is at hand, of `spec`, `counts`, `cost` and `front_end` alone. `out` is zero before;
 * what is not priced is added to its `missing`. */
void fab_ownership_add_up(const fab_prices *prices, const fab_fabric_result *fabric, const fab_gpu *gpu,
                          fab_ownership *out);

/** Dollars of ownership per 1e9 tokens of a job that has `share` of the cluster. */
double fab_ownership_per_1e9_tokens(const fab_ownership *o, double share, double tokens_per_s);

/** The same of an iteration, into it; nothing where it has no price, or the book knows no more. */
void fab_ownership_price(const fab_ownership *o, fab_iteration *it);
