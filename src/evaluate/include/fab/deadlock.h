/** Whether packets of a lossless fabric can wait for each other in a circle. */
#pragma once

#include "fab/dependencies.h"

#define FAB_CYCLE_LINKS 64 /**< of a cycle that are kept */

typedef struct fab_deadlock {
    bool free;                          /**< no cycle: no traffic over these routes can deadlock [Dally, Seitz, 1987] */
    uint64_t dependencies;              /**< distinct pairs of links, one held while the other is asked for */
    uint32_t n_cycle;                   /**< links of the cycle found; 0 when free */
    fab_link_id cycle[FAB_CYCLE_LINKS]; /**< its first ones, smallest id first: each leads to the next, the last to the
                                           first */
} fab_deadlock;

/**
 * Looks for a cycle of dependencies: of those through the smallest link on any, a shortest. One virtual channel per
 * link. One thread at a time: igraph decides. Complexity: O(links * ports / 64) and, where there is a cycle, O(links +
 * dependencies) of what can lie on one.
 */
FAB_STATUS fab_deadlock_check(const fab_dependencies *dependencies, fab_deadlock *out, fab_error *err);
