/** What a search for the cheapest fabric found, as plain structs for the reports. */
#pragma once

#include "fab/plans.h"
#include "fab/routing.h"
#include "fab/stat.h"

#define FAB_RUNNERS_UP 5

/** What is to be least. */
typedef enum fab_objective {
    FAB_OBJECTIVE_NETWORK, /**< price of the network */
    FAB_OBJECTIVE_TOKENS   /**< cost of ownership of the whole cluster per 1e9 tokens of a job under its best plan */
} fab_objective;

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
    uint64_t rails_per_switch; /**< that share a network; 0: as many as the family has by itself */
    double nic_bps;
    uint64_t n_switches, n_cables;
    double built_taper[FAB_MAX_TIERS]; /**< tiers - 1 entries */
    double max_taper;                  /**< largest of them; 0 with one tier */
    double total_usd, power_w, bisection_ratio;
    double difference_ratio; /**< total_usd / that of the winner - 1 */
    /* By tokens; 0 where the design was not replayed. */
    double owned_usd, usd_per_1e9_tokens, tokens_per_s, iteration_s;
    uint64_t draws;                     /**< seeds that these are means of; 0: nothing is drawn */
    double estimated_ratio;             /**< by how much phases that are estimated may take longer; 0: none is */
    fab_parts seeds, kept;              /**< of the mean time, and of the next */
    double goodput_ratio, goodput_ci95; /**< with failures: the part of the time that they leave; 0: not asked for */
    uint64_t n_plans_tried;             /**< with them, of which this one's tokens are the cheapest */
    char policy[FAB_NAME_SIZE];         /**< of that; empty: not asked for */
    double token_difference_ratio;      /**< usd_per_1e9_tokens / that of the winner - 1 */
    double token_least_ratio; /**< of the first of a family: what bounds leave its others, or it; else its difference */
    char plan[192];           /**< how the job runs fastest on it */
} fab_optimum_point;

typedef enum fab_loss {
    FAB_LOSS_COST,        /**< its best design costs more */
    FAB_LOSS_LIMIT,       /**< it cannot keep a limit */
    FAB_LOSS_UNBUILDABLE, /**< no such fabric, or no price for it */
    FAB_LOSS_BOUND,       /**< by tokens: it was not tried, and its designs cost no less than the winner */
    FAB_LOSS_UNSEEN       /**< the time limit struck first; by tokens: it was not tried, and may cost less */
} fab_loss;

/** A structural choice that lost, and why. */
typedef struct fab_optimum_loser {
    char family[FAB_NAME_SIZE];
    char switches[160];
    uint64_t tiers, planes, domain, rails_per_switch;
    double nic_bps;
    fab_loss loss;
    double total_usd;                /**< of its best design; 0 for the other kinds of loss */
    double difference_ratio;         /**< of that */
    double least_usd_per_1e9_tokens; /**< by tokens: of its best design, or a lower bound of all of them; else 0 */
    char reason[224];
} fab_optimum_loser;

/** What a search by tokens replayed and what it proved. Every design that keeps the limits is replayed, bounded,
 * refused or open. */
typedef struct fab_token_search {
    char job[224], engine[FAB_ENGINE_LABEL_SIZE];
    char options[512];               /**< to be typed behind `run DESIGN` */
    fab_job_plan plan;               /**< the winner's */
    uint64_t n_replayed;             /**< under their best plans */
    uint64_t n_bounded;              /**< their tokens cost no less than the winner's, whatever their switches are */
    uint64_t n_refused;              /**< cannot be replayed */
    uint64_t n_open;                 /**< none of these: their tokens might cost less */
    uint64_t n_open_beside;          /**< of these: the winner's choice with one other taper */
    uint64_t most_replays;           /**< that were allowed */
    char refused_note[256];          /**< why, of the first */
    char sold_unlike[FAB_SOLD_SIZE]; /**< fab_gpu_sold_unlike() of the winner, or empty */
    double floor_s;                  /**< no fabric with the winner's NICs and domains has a shorter iteration */
    double lower_bound_usd_per_1e9_tokens;     /**< of all that are not refused */
    double gap_ratio;                          /**< winner / lower bound - 1; 0: proven */
    char scenarios[96], policy[FAB_NAME_SIZE]; /**< histories of failures that tokens are judged with; empty: none */
    char unseen[256]; /**< families of which not even the cheapest plain design (no taper, one plane, whole ports) was
                         looked at, though its tokens might cost less than the winner's; else empty */
    bool is_late;     /**< the time limit struck: also plans may be left out */
    bool is_drawn;    /**< the engine hashes: designs are judged by several seeds */
    double hashed_usd_per_1e9_tokens; /**< the winner's under ecmp; 0: not asked */
    fab_fewer fewer; /**< of fab_plans, of the winner, without failures; all figures and bounds are of all GPUs */
    double fewer_usd_per_1e9_tokens; /**< of the winner so, with all GPUs paid for */
    fab_optimum_point fewer_winner;  /**< whose tokens cost less than that so; price 0: none was found, or not asked */
    double random_s; /**< the winner's iteration with placement=random; 0: it has no taper, or not asked */
} fab_token_search;

typedef struct fab_optimum {
    char catalog[FAB_NAME_SIZE];
    char source[512];           /**< of the catalog */
    char prices[FAB_NAME_SIZE]; /**< name of the price book */
    uint64_t gpus;
    fab_limits limits;
    fab_objective objective;
    fab_token_search tokens;    /**< of that objective alone, as the next */
    fab_optimum_point cheapest; /**< the least price of the network */
    fab_optimum_point winner;
    double edge_taper; /**< the catalog's largest, where the winner has it and no limit of the request does; else 0 */
    uint64_t edge_breakout, edge_planes; /**< the catalog's largest, where the winner has several tiers, of which more
                                            might save one; else 0 */
    fab_optimum_point runners_up[FAB_RUNNERS_UP]; /**< best of other structural choices, cheapest first; by tokens other
                                               designs that were replayed */
    size_t n_runners_up;
    /** Cost against bisection: without min-bisection and budget. Cost against power: without max-power and budget. */
    fab_optimum_point *by_bisection, *by_power; /**< cheapest first */
    size_t n_by_bisection, n_by_power;
    fab_optimum_loser *rejected; /**< in the order of the search */
    size_t n_rejected;
    uint64_t n_structures, n_candidates; /**< choices; designs in them, one for each combination of tapers */
    bool is_proven;                      /**< false when the time limit struck first, or designs are open */
    bool fronts_complete;                /**< false when the time limit or the limit of points ended a front */
    double lower_bound_usd; /**< no design of the catalog costs less: the winner's cost when proven, else 0;
                               by tokens 0 */
} fab_optimum;
