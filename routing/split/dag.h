/**
 * Inside of fab_dag: which switch sends which destinations of a block where, in an order in which it can be computed.
 */
#pragma once

#include "next_hops/next_hop_rows.h"
#include "fab/split.h"

#include <pthread.h>

#define FAB_BLOCK_LEAVES 64 /* destinations of a block, a bit each */

/** Switch v sends the destinations `leaves` to the next hops of `group`. */
typedef struct fab_dag_entry {
    uint64_t leaves;
    uint32_t v;     /* switch index */
    uint32_t group; /* its number in next_hops, see group_first */
} fab_dag_entry;

/** Entries at the same distance from their destinations, with next hops to the same switches at the same capacities. */
typedef struct fab_dag_run {
    uint32_t first; /* its entries end where those of the next run begin */
    uint32_t level; /* distance: 1 next to the destination */
    uint32_t list;  /* of next hops */
} fab_dag_run;

/** A DAG of all switches beside one of classes, made when first asked for, by whichever thread. */
typedef struct fab_dag_whole {
    pthread_mutex_t mutex;
    fab_dag *dag; /**< NULL: not yet */
} fab_dag_whole;

/**
 * With classes only the first switch of a class has entries, heads are first switches too, and what a switch holds is
 * what its whole class holds: every link of the class carries the load of the first switch's, divided by the class's
 * size.
 */
struct fab_dag {
    const fab_fabric *fabric;
    const fab_next_hops *next_hops;
    fab_switch_classes *classes; /**< NULL: every switch for itself */
    fab_dag_whole *whole;        /**< where there are classes */
    uint32_t base;               /* node of switch 0 */
    uint32_t n_switches, n_leaves, n_blocks, n_groups, n_lists;
    uint32_t widest;      /* most next hops of a group */
    uint32_t longest;     /* most runs of a block */
    uint32_t *list_first; /* [n_lists + 1] into head and rank: lists that groups share */
    uint32_t *head;       /* switch index at the end of a next hop */
    uint16_t *rank;       /* its capacity's and portion's number; with classes of its link class too */
    uint8_t *alike;       /* [n_lists]: all next hops are of one class of links */
    double *capacity;     /* [rank] */
    double *portion;      /* [rank]: of the capacity of all cables to the same switch */
    fab_dag_entry *entry;
    fab_dag_run *run;    /* by block and level, [n_runs + 1] */
    uint32_t *block_run; /* [n_blocks + 1] */
    uint32_t *leaf;      /* [n_leaves]: switch index */
    uint64_t *reach;     /* [n_blocks][n_leaves]: destinations that a leaf has a route to, and itself */
    size_t n_entries, n_runs, entry_capacity, run_capacity;
};

/** Links of an entry: as many as the list of its run has, in the same order. */
static inline fab_next_hop_list fab_dag_links(const fab_dag *dag, const fab_dag_entry *e) {
    return fab_next_hops_of_group(dag->next_hops, e->v, e->group);
}

/** Whether switch v has entries of its own. */
static inline bool fab_dag_has(const fab_dag *dag, uint32_t v) {
    return dag->classes == NULL || dag->classes->first[v] == v;
}

/** The DAG of all switches: itself, unless it has classes. */
FAB_STATUS fab_dag_get_whole(const fab_dag *dag, const fab_dag **out, fab_error *err);

/** No route between two leaf columns: FAB_EUNREACHABLE. */
fab_status fab_dag_no_route(const fab_fabric *fabric, const fab_next_hops *next_hops, uint32_t src, uint32_t dst,
                            fab_error *err);
