/** Where ranks go when their server is lost: ranks move, everybody else stays. See src/doc/adr/0035-reallocation.md. */
#pragma once

#include "fab/reroute.h"

typedef enum fab_policy {
    FAB_POLICY_NONE,            /**< nobody moves: a job that lost ranks stops, of a serving job the replicas */
    FAB_POLICY_FIRST_SPARE,     /**< the spare of the lowest number */
    FAB_POLICY_SAME_RACK,       /**< the nearest spare of the same rack, by number; else the first */
    FAB_POLICY_SAME_POD,        /**< the first spare of the same pod; else the first */
    FAB_POLICY_SAME_SLICE,      /**< the first spare of the same destination slice: index on the leaf of its first NIC,
                                   modulo      the slices of `pinned` (2 under other engines); else the first */
    FAB_POLICY_COLLISION_AWARE, /**< the spares, and swaps of ranks, under which the routes collide least, of those
                                   whose fullest links need no longer than under the best of the policies above */
    FAB_POLICY_SHRINK,          /**< the first spare; where none is left, the replica stays out and the others go on.
                                   Of histories: fab_relocate() takes it as first-spare */
    FAB_POLICY_N,
    FAB_POLICY_FITTING = FAB_POLICY_N /**< of requests: shrink where the job can, else first-spare */
} fab_policy;

/** "none", "first-spare", "same-rack", "same-pod", "same-slice", "collision-aware", "shrink". */
extern const char *const fab_policies[FAB_POLICY_N];

/** @retval FAB_EINPUT  no such policy; the message lists them. */
FAB_STATUS fab_policy_parse(const char *text, fab_policy *out, fab_error *err);

/** The ranks of server `from` run on server `to`, GPU by GPU. */
typedef struct fab_move {
    uint32_t from, to;
} fab_move;

typedef struct fab_relocator_request {
    const fab_fabric *fabric;
    const fab_ports *ports;     /**< of the fabric */
    const fab_racks *racks;     /**< NULL: no floor plan; same-rack is then refused */
    const fab_traffic *traffic; /**< spares are the servers without ranks. Without a job, GPUs with flows have ranks */
    const uint8_t
        *taken; /**< shape [n_servers]: 1 for servers that are no spares, as fab_jobs_taken() finds them; NULL:
                   none but those with ranks, and those that the phases have flows at (storage servers) */
    const fab_baseline **phases; /**< shape [n_phases]: what collision-aware looks at; a phase may be NULL: not seen.
                                    One that is there twice counts twice */
    size_t n_phases;
    uint64_t budget; /**< most placements that collision-aware tries; 0: the default */
    uint32_t
        n_exchanges; /**< healthy servers that may change places with lost ones; 0: the default, 1; FAB_NONE: none */
} fab_relocator_request;

/** Scratch of one thread. */
typedef struct fab_relocator fab_relocator;

/** Everything in the request is borrowed and must outlive `out`. Complexity: O(flows + fabric). */
FAB_STATUS fab_relocator_new(const fab_relocator_request *request, fab_relocator **out, fab_error *err);
void fab_relocator_free(fab_relocator *relocator);
FAB_OWNER(fab_relocator, fab_relocator_free)

/** Valid until the next call with the same relocator. */
typedef struct fab_relocation {
    bool is_possible; /**< nobody with a rank is left on a lost server */
    size_t n_lost;    /**< servers with ranks that are dead, or have a GPU with a rank that is dead or that no NIC port
                         joins to those that it has flows with: cut off, or below a leaf that has lost all its links */
    const uint32_t *lost;     /**< shape [n_lost], ascending */
    size_t n_unplaced;        /**< of them: those whose ranks stay there */
    const uint32_t *unplaced; /**< shape [n_unplaced], ascending */
    size_t n_spares;          /**< that the mask leaves healthy */
    size_t n_moves;           /**< of lost servers, and of healthy ones that swap */
    size_t n_healthy;         /**< of the moves: servers that are not lost */
    const fab_move *moves;    /**< shape [n_moves], those of lost servers first, ascending */
    size_t n_moved;           /**< GPUs with ranks that moved */
    const uint32_t *moved;    /**< shape [n_moved], ascending: as fab_reroute_migrated() takes them */
    const uint32_t *new_gpu;  /**< shape [n_gpus] */
    uint64_t n_tried;         /**< placements evaluated; 0 for policies that do not look */
    bool is_optimal;          /**< proved: no assignment of the spares to the lost servers does better */
    uint32_t n_collisions;    /**< network links offered more than their residual capacity, in all phases; of
                                 collision-aware, else 0 */
    double worst_ratio;       /**< likewise */
} fab_relocation;

/**
 * What the policy does under a mask. The same for any number of threads.
 * Spares that the mask touches (dead, slower, or cut off) are not taken.
 * @retval FAB_EUNSUPPORTED  same-rack without a floor plan
 */
FAB_STATUS fab_relocate(fab_relocator *relocator, const fab_mask *mask, fab_policy policy, fab_relocation *out,
                        fab_error *err);
