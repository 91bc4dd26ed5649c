/**
 * Next hops of a fabric under a mask, from those of the healthy fabric: nothing is built again but what dead links
 * touch. Equal to fab_next_hops_new() with the same dead links.
 */
#pragma once

#include "fab/mask.h"
#include "fab/next_hops.h"

/** A link that leaves a switch, and where it leads. */
typedef struct fab_exit {
    fab_link_id link;
    uint32_t head; /**< switch index; n_switches: a NIC */
} fab_exit;

/** Columns of leaves, the last one included; of a group: from the first to the last that it serves. */
typedef struct fab_leaf_span {
    uint32_t first, last;
} fab_leaf_span;

/** What masks of a fabric share. Read-only once made. */
typedef struct fab_hops_index {
    const fab_fabric *fabric;       /**< borrowed */
    const fab_next_hops *next_hops; /**< of the healthy fabric. Borrowed */
    uint32_t *place;                /**< shape [n_links]: of a link in the fabric's out_link */
    fab_exit *exit;                 /**< shape [links of switches], in the order of the fabric */
    uint16_t *back_slot;            /**< the same shape: place of the reverse link among those that leave the head */
    uint32_t *n_before_exits; /**< shape [n_switches]: links of a switch before the first that leads to a switch */
    uint32_t *n_exits;        /**< the same: from that one to the last that leads to a switch */
    fab_leaf_span *span;      /**< shape [groups of all switches], by number */
    uint8_t *transit;         /**< shape [n_switches]: on the way of somebody to a leaf that it is not itself */
    uint8_t *feeds_ends;      /**< shape [n_switches]: some neighbour is no transit */
    uint32_t *before_first;   /**< shape [n_switches + 1] */
    uint32_t *before;         /**< neighbours that are transit, each once: of switch v before[before_first[v] ... ) */
    uint32_t degree;          /**< links of a switch, at most */
} fab_hops_index;

/** Complexity: O(switches * leaves + links). */
FAB_STATUS fab_hops_index_init(const fab_fabric *fabric, const fab_next_hops *next_hops, fab_hops_index *out,
                               fab_error *err);
void fab_hops_index_release(fab_hops_index *index);

/** Next hops under one mask after the other. Of one thread. */
typedef struct fab_masked_hops fab_masked_hops;

/** @param[in] index  Borrowed, must outlive `out`, as everything there. */
FAB_STATUS fab_masked_hops_new(const fab_hops_index *index, fab_masked_hops **out, fab_error *err);
void fab_masked_hops_free(fab_masked_hops *hops);
FAB_OWNER(fab_masked_hops, fab_masked_hops_free)

/**
 * Next hops of a switch towards leaf column `leaf`: none where there is no route or the switch is the leaf. Valid until
 * the next call.
 * Complexity: O(next hops); where the distance has grown O(links), once per leaf.
 */
fab_next_hop_list fab_masked_hops_get(fab_masked_hops *hops, uint32_t switch_index, uint32_t leaf);
