/** The cheapest fabric of a catalog that keeps to given limits. */
#pragma once

#include "fab/optimum.h"
#include "fab/relocate.h"

typedef struct fab_catalog fab_catalog;
typedef struct fab_prices fab_prices;
typedef struct fab_design fab_design;

typedef struct fab_optimize_request {
    const fab_catalog *catalog;
    const fab_prices *prices;
    uint64_t gpus;
    uint64_t gpus_per_server; /**< 0 = the catalog's; NICs then scale with it */
    uint64_t domain;          /**< 0 = those of the catalog */
    double nic_bps;           /**< 0 = those of the catalog */
    fab_limits limits;
    const fab_design *replayed; /**< its first job under its first engine is replayed, and tokens are to be cheap; NULL:
                                   the network is */
    const char *replay_options; /**< what gives that job and engine to another command; "" or as typed */
    fab_status (*read)(const void *context, const char *design, fab_design *out,
                       fab_error *err); /**< a one-line design as a command reads it that is given these */
    const void *read_context;
    uint32_t servers;      /**< by tokens: that the job runs on; 0: as it says, and fewer and another batch are tried */
    uint64_t batch;        /**< of the job, with `servers` */
    const char *scenarios; /**< by tokens: histories of failures (goodput_run.h); NULL: none */
    fab_policy policy;     /**< where ranks go in them */
    uint64_t seed;
    size_t n_threads;
    uint64_t most_replays; /**< designs that are built and replayed; 0: as many as it takes */
    uint64_t max_bytes;    /**< memory that may be taken; 0: no limit */
    double time_limit_s;   /**< 0 = none */
    void (*progress)(void *context, double done, size_t total); /**< may be NULL */
    void *progress_context;
} fab_optimize_request;

/**
 * Structural choices (family, tiers, switch and breakout of every tier, planes, domain, NIC rate) are enumerated, and
 * inside each the tapers of every boundary: all designs are priced. See src/doc/adr/0014-optimise.md.
 *
 * By tokens, designs are replayed in the order of a lower bound: their cost of ownership over the tokens of the
 * shortest iteration that their NICs and scale-up domains allow. It ends where no bound is below the best of the list,
 * or after most_replays. See src/doc/adr/0092-own-units.md.
 * @param[out] out  Written on success only; release with fab_optimum_free().
 * @retval FAB_EINPUT       a price that is needed is missing
 * @retval FAB_ENOSOLUTION  nothing keeps the limits; err->text says which cannot be kept and what is the best value
 * @retval FAB_EUNSUPPORTED no design can be replayed
 * @retval FAB_EINTERNAL    closed form, bill of materials and graph of the winner disagree
 * Complexity: choices x tapers^(tiers - 1) closed forms. The winner is built as a graph.
 */
FAB_STATUS fab_optimize(const fab_optimize_request *request, fab_optimum **out, fab_error *err);

void fab_optimum_free(fab_optimum *optimum);
FAB_OWNER(fab_optimum, fab_optimum_free)
