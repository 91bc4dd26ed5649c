/**
 * What one set of failures does to the phases of a job under several policies of reallocation, as plain structs.
 * Computed by fab_failures_run() (study). See src/doc/adr/0035-reallocation.md.
 */
#pragma once

#include "fab/overlay.h"
#include "fab/result.h"

#define FAB_FAILED_TEXT (FAB_LINK_NAME_SIZE + 32) /**< a component */
#define FAB_RANKS_TEXT  96                        /**< "24-31", "0,8,16" */

/** A server with ranks that cannot go on. */
typedef struct fab_lost_server {
    uint32_t server;
    char name[FAB_NODE_NAME_SIZE];
    uint64_t n_ranks;
    char ranks[FAB_RANKS_TEXT];
} fab_lost_server;

/** The ranks of server `from` run on server `to`. */
typedef struct fab_rank_move {
    uint32_t from, to;
    bool is_healthy; /**< `from` was not lost */
} fab_rank_move;

/**
 * How long those wait who wait for an exchange. A *request* is what one GPU waits for in one execution: all flows that
 * end at it; where steps depend on each other (a ring), all flows of a communicator, which end together. It takes until
 * the last of them has arrived, and the latency of the phase.
 */
typedef struct fab_request_times {
    uint64_t n;                 /**< requests of an execution; 0: not looked at, or not known */
    double p50_s, p99_s, max_s; /**< by nearest rank */
} fab_request_times;

/** A phase: network links that are offered more than their residual capacity, and the largest ratio of any. */
typedef struct fab_failed_phase {
    uint32_t n_disconnected, n_collisions;
    double worst_ratio;
    char worst_link[FAB_LINK_NAME_SIZE]; /**< empty: nothing is carried */
    double time_s; /**< of all that an iteration has of it, latency included; NAN: not known, or no part of it, as in
                      the sum of phases */
    fab_request_times requests; /**< of serving and of all-to-alls (ranking, experts); of the sum of phases none */
} fab_failed_phase;

/** All phases in one state. */
typedef struct fab_failed_state {
    double time_s;            /**< of an iteration, else of all phases one after the other; NAN: not known */
    fab_failed_phase sum;     /**< flows added up, links that collide in any phase, the worst of all */
    fab_failed_phase *phases; /**< shape [n_phases]; owned */
} fab_failed_state;

/** A serving job on the replicas that are left: each is independent of the others (with ep: its group of them). */
typedef struct fab_failed_serving {
    uint64_t n, n_left;         /**< replicas; n = 0: it does not serve */
    uint64_t n_reading;         /**< of those left, in a pool that reads prompts; 0: there are no pools */
    double most_requests_per_s; /**< that can be served; 0: nobody is left, or a pool is empty. NAN: not known */
    double arrivals_per_s;      /**< that come, as on the healthy fabric */
    double first_token_s[2];    /**< median, 99th percentile; NAN: more come than can be served, or not known */
} fab_failed_serving;

/** What a policy does. */
typedef struct fab_failed_policy {
    char policy[32];
    bool is_possible;     /**< nobody with a rank is left on a lost server */
    fab_rank_move *moves; /**< shape [n_moves]; owned */
    size_t n_moves;
    uint32_t *unplaced; /**< shape [n_unplaced]: lost servers that no spare was left for; owned */
    size_t n_unplaced;
    fab_failed_state state; /**< of serving: of the replicas that are left */
    double added_ci95_s;    /**< half the 95 % interval, over the seeds, of what it takes longer; 0: of one */
    fab_failed_serving serving;
    uint64_t n_tried; /**< placements evaluated; 0: the policy does not look */
    bool is_optimal;  /**< proved: no assignment of the spares does better */
} fab_failed_policy;

typedef struct fab_failed_engine {
    char label[FAB_ENGINE_LABEL_SIZE];
    char note[448];                  /**< why nothing more is known; else empty */
    fab_failed_state healthy;        /**< nothing failed */
    fab_failed_policy *policies;     /**< shape [n_policies]; owned */
    bool has_saving;                 /**< first-spare and collision-aware are among the policies, and both place all */
    uint32_t saved_collisions;       /**< of the first that the second does not have; never negative */
    double first_ratio, aware_ratio; /**< their largest ratios */
} fab_failed_engine;

typedef struct fab_failures {
    char (*failed)[FAB_FAILED_TEXT]; /**< shape [n_failed]; owned */
    size_t n_failed;
    fab_lost_server *lost; /**< shape [n_lost]; owned */
    size_t n_lost;
    size_t n_spares;               /**< complete servers without ranks */
    char (*phases)[FAB_NAME_SIZE]; /**< shape [n_phases]: those that are looked at; owned */
    size_t n_phases;
    char (*left_out)[FAB_NAME_SIZE]; /**< shape [n_left_out]: phases of too many paths; owned */
    size_t n_left_out;
    fab_failed_engine *engines; /**< shape [n_engines]; owned */
    size_t n_engines, n_policies;
    bool iterates;       /**< times are those of an iteration */
    uint64_t seed;       /**< of the draw that is shown */
    uint64_t n_seeds;    /**< times of iterations and phases are means over; all else is of the first. 0 is 1 */
    double *residual;    /**< shape [n_links]: fraction of the capacity; owned, as the next */
    uint64_t *dead_node; /**< bit set over nodes */
    fab_overlay overlay; /**< of these two: what has failed, for exports of the graph */
} fab_failures;
