/**
 * @file collective.h
 * Collective operations as phases: volume and steps of every algorithm [Thakur, Rabenseifner, Gropp, 2005; NCCL].
 */
#ifndef FAB_COLLECTIVE_H
#define FAB_COLLECTIVE_H

#include "fab/fabric.h"
#include "fab/status.h"
#include "fab/traffic.h"

typedef enum fab_operation {
    FAB_ALL_REDUCE,
    FAB_ALL_GATHER,
    FAB_REDUCE_SCATTER,
    FAB_ALL_TO_ALL,
    FAB_BROADCAST,
    FAB_REDUCE,
    FAB_N_OPERATIONS
} fab_operation;

/** "all-reduce", ... */
const char *fab_operation_name(fab_operation operation);

/** Bus bandwidth over algorithm bandwidth, as nccl-tests define them: 2(r-1)/r, (r-1)/r or 1. */
double fab_bus_factor(fab_operation operation, uint64_t ranks);

/** One row of the table in collectives.c. */
typedef struct fab_algorithm {
    const char *name;    /**< "ring", "doubling", "halving-doubling", "tree", "mesh", "hierarchical", "rail-aligned",
                            "in-network", ... */
    const char *summary; /**< one line */
    fab_operation operation;
} fab_algorithm;
extern const fab_algorithm fab_algorithms[]; /**< ended by an entry whose name is NULL */

#endif
