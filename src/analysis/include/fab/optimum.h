/**
 * @file optimum.h
 * What a search for the cheapest fabric found, as plain structs for the reports.
 */
#pragma once

#include "fab/sizes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAB_RUNNERS_UP 5

/** What a fabric must keep to. */
typedef struct fab_limits {
    bool has_bisection, has_taper, has_power, has_budget;
    double min_bisection_ratio; /**< of half the injection capacity, as reports show it */
    double max_taper;           /**< built, at every boundary */
    double max_power_w;         /**< of the network parts, NICs included */
    double budget_usd;          /**< capital */
} fab_limits;

/** One design that was found. */
typedef struct fab_optimum_point {
    char design[512]; /**< one-line form, with its price book where that is not the default */
    char family[FAB_NAME_SIZE];
    char switches[160]; /**< "64x800G*2 / 64x800G": leaf first, *2 = ports split in two below */
    uint64_t tiers, planes, domain;
    double nic_bps;
    uint64_t n_switches, n_cables;
    double built_taper[FAB_MAX_TIERS]; /**< tiers - 1 entries */
    double max_taper;                  /**< largest of them; 0 with one tier */
    double total_usd, power_w, bisection_ratio;
    double difference_ratio; /**< total_usd / that of the winner - 1 */
} fab_optimum_point;

typedef enum fab_loss {
    FAB_LOSS_COST,        /**< its best design costs more */
    FAB_LOSS_LIMIT,       /**< it cannot keep a limit */
    FAB_LOSS_UNBUILDABLE, /**< no such fabric, or no price for it */
    FAB_LOSS_UNSEEN       /**< the time limit struck first */
} fab_loss;

/** A structural choice that lost, and why. */
typedef struct fab_optimum_loser {
    char family[FAB_NAME_SIZE];
    char switches[160];
    uint64_t tiers, planes, domain;
    double nic_bps;
    fab_loss loss;
    double total_usd;        /**< of its best design; 0 for the other kinds of loss */
    double difference_ratio; /**< of that */
    char reason[224];
} fab_optimum_loser;

typedef struct fab_optimum {
    char catalog[FAB_NAME_SIZE];
    char source[512];           /**< of the catalog */
    char prices[FAB_NAME_SIZE]; /**< name of the price book */
    uint64_t gpus;
    fab_limits limits;
    fab_optimum_point winner;
    fab_optimum_point runners_up[FAB_RUNNERS_UP]; /**< best of other structural choices, cheapest first */
    size_t n_runners_up;
    /** Cost against bisection: without min-bisection and budget. Cost against power: without max-power and budget. */
    fab_optimum_point *by_bisection, *by_power; /**< cheapest first */
    size_t n_by_bisection, n_by_power;
    fab_optimum_loser *rejected; /**< in the order of the search */
    size_t n_rejected;
    uint64_t n_structures, n_candidates; /**< choices; designs in them, one for each combination of tapers */
    bool is_proven;                      /**< false when the time limit struck first */
    bool fronts_complete;                /**< false when the time limit or the limit of points ended a front */
    double lower_bound_usd; /**< no design of the catalog costs less: the winner's cost when proven, else 0 */
} fab_optimum;
