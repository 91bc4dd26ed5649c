/**
 * The channel dependency graph [Dally, Seitz, 1987]: which fabric link a packet may ask for while it holds another. In
 * a lossless fabric a cycle of it can deadlock. NIC - switch links end in hosts, which always drain: they lie on no
 * cycle, and a packet that is relayed inside a server holds no link.
 */
#pragma once

#include "fab/offer.h"

/**
 * A bit for every pair of a fabric link into a switch and one out of it. The matrix of switch s has as many rows as
 * columns, row and column i for the cable of its i-th fabric port: row i for the link that comes in there.
 */
typedef struct fab_dependencies {
    const fab_fabric *fabric;
    uint32_t *first;   /**< shape [n_switches + 1]: fabric links that leave switch s are link[first[s] ... ), by port */
    fab_link_id *link; /**< shape [first[n_switches]] */
    uint32_t *place;   /**< shape [n_links]: of a link among those that leave its tail; FAB_NONE off the fabric */
    size_t *word;      /**< shape [n_switches + 1]: rows of switch s are bit[word[s] ... ) */
    uint64_t *bit;     /**< rows are whole words */
} fab_dependencies;

/**
 * No dependency.
 * @param[in]  fabric  Borrowed, must outlive `out`.
 * @param[out] out     Release with fab_dependencies_release().
 * Complexity: O(links + sum over switches of ports^2 / 64) time and memory.
 */
FAB_STATUS fab_dependencies_init(const fab_fabric *fabric, fab_dependencies *out, fab_error *err);
void fab_dependencies_release(fab_dependencies *dependencies);

/** Adds those of all paths; call again for the next flows. Complexity: O(sum of route lengths). */
void fab_dependencies_add_routes(fab_dependencies *dependencies, const fab_routes *routes);

/**
 * Adds those of all minimal paths of a demand: of engines that may send over any of them.
 * @param[in] classes   Of a DAG of these next hops, or NULL.
 * @param[in] demand  Only its pairs of leaves are read: n_leaves, first, src.
 * Complexity: O(diameter * links * leaves / 64 + switches * leaves), classes of links and switches where there are
 * classes. One thread.
 */
FAB_STATUS fab_dependencies_add_minimal(fab_dependencies *dependencies, const fab_next_hops *next_hops,
                                        const fab_switch_classes *classes, const fab_demand *demand, fab_error *err);

/** Adds all of `other`, of the same fabric. O(bits / 64). */
void fab_dependencies_merge(fab_dependencies *dependencies, const fab_dependencies *other);

/** O(bits / 64). */
uint64_t fab_dependencies_count(const fab_dependencies *dependencies);

/**
 * All that can lie on a cycle: links are taken away that have no dependency into them or none out of them, until there
 * is no such link. Nothing is left exactly if there is no cycle.
 * @param[out] out_core  Shape [n_links]: 1 for links that are left.
 * @retval FAB_ENOMEM
 * Complexity: every link that is taken away costs one look at two switches, ports^2 / 64 each.
 */
FAB_STATUS fab_dependencies_core(const fab_dependencies *dependencies, uint8_t *out_core, fab_error *err);

/**
 * Lists them by the switch between, then by port: a packet that holds from[i] may ask for to[i].
 * @param[in]  core      Shape [n_links]: only links that are 1 here; NULL: all.
 * @param[out] from, to  NULL: only counted. Else as long as that.
 * @return how many
 */
uint64_t fab_dependencies_list(const fab_dependencies *dependencies, const uint8_t *core, fab_link_id *from,
                               fab_link_id *to);
