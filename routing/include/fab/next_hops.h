/**
 * @file next_hops.h
 * Minimal next hops of every switch towards every destination leaf, for any graph: the structure that walking,
 * spraying, bounding and failing share.
 */
#ifndef FAB_NEXT_HOPS_H
#define FAB_NEXT_HOPS_H

#include "fab/fabric.h"
#include "fab/status.h"

#define FAB_PIECE_LEAVES 64

/**
 * A switch keeps its groups of equal-cost next hops; a row says, per destination leaf, which group serves it. Rows are
 * cut into pieces of 64 leaves, and equal pieces are stored once.
 */
typedef struct fab_next_hops {
    uint32_t n_leaves;      /**< switches with a NIC attached */
    uint32_t *leaf_index;   /**< shape [n_switches]: column of a switch, FAB_NONE if no NIC is attached */
    fab_node_id *leaf_node; /**< shape [n_leaves] */
    uint32_t n_switches, n_pieces_per_row;
    uint32_t *piece_of;    /**< shape [n_pieces_per_row][n_switches] */
    uint16_t *piece;       /**< shape [pieces][64]: group of the switch, 0 = no route (or the leaf itself) */
    uint32_t *group_first; /**< shape [n_switches + 1]: the switch's groups, by their first leaf; group g of switch s is
                              entry group_first[s] + g - 1 */
    uint32_t
        *group_link; /**< shape [n_groups + 1]: its next-hop links are member[group_link[i] ... group_link[i + 1]) */
    fab_link_id *member; /**< links by port number */
    size_t memory_bytes; /**< of all of these */
} fab_next_hops;

/**
 * Breadth-first search from all leaves at once, a bit per leaf.
 * @param[in] dead_link  Bit set over links, or NULL: these are not used.
 * @retval FAB_EINPUT  a switch has more than 65,535 groups
 * Complexity: O(distances at which a switch sees leaves * links * leaves / 64) time.
 */
fab_status fab_next_hops_new(const fab_fabric *fabric, const uint64_t *dead_link, fab_next_hops **out,
                             fab_error *err) FAB_MUST_USE;
void fab_next_hops_free(fab_next_hops *next_hops);

/** Group of a switch that serves leaf column `leaf`, from 1; 0 where there is no route or the switch is the leaf. */
static inline uint32_t fab_next_hops_group(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf) {
    size_t piece = t->piece_of[(size_t)(leaf / FAB_PIECE_LEAVES) * t->n_switches + switch_index];
    return t->piece[piece * FAB_PIECE_LEAVES + leaf % FAB_PIECE_LEAVES];
}

/** Next hops of switch node `v` towards leaf column `leaf`: *count links, 0 where there is no route or v is the leaf.
 */
static inline const fab_link_id *fab_next_hops_get(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf,
                                                   uint32_t *count) {
    uint32_t group = fab_next_hops_group(t, switch_index, leaf);
    if (group == 0) {
        *count = 0;
        return NULL;
    }
    uint32_t entry = t->group_first[switch_index] + group - 1;
    *count = t->group_link[entry + 1] - t->group_link[entry];
    return &t->member[t->group_link[entry]];
}

#endif
