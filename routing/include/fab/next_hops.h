/**
 * @file next_hops.h
 * Minimal next hops of every switch towards every destination leaf, for any graph: the structure that walking,
 * spraying, bounding and failing share.
 */
#ifndef FAB_NEXT_HOPS_H
#define FAB_NEXT_HOPS_H

#include "fab/fabric.h"
#include "fab/status.h"

#include <stdbool.h>

#define FAB_PIECE_LEAVES 64
#define FAB_PIECE_WORDS  (FAB_PIECE_LEAVES / 2)

/** Its next hops are slot[first] ... slot[first + count - 1]. */
typedef struct fab_next_hop_group {
    uint32_t first, count;
} fab_next_hop_group;

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
    uint32_t *piece;       /**< shape [pieces][32]: groups of the switch for two leaves each, the even one in the lower
                              half; 0 = no route (or the leaf itself). Words, because vectors gather no halves */
    uint32_t *group_first; /**< shape [n_switches + 1]: the switch's groups, by their first leaf; group g of switch s
                              has number group_first[s] + g - 1 among all */
    uint32_t *group_at;    /**< shape [n_switches]: and stands in group[group_at[s] + g - 1]. Switches that follow each
                              other share them where they are the same */
    fab_next_hop_group *group;
    uint16_t *slot; /**< lists of next hops as positions among the links of a switch, ascending: these are the same for
                       many switches, the links are not */
    size_t n_slots;
    const uint32_t *out_first;   /**< shape [n_switches]: first link of a switch; borrowed from the fabric */
    const fab_link_id *out_link; /**< borrowed from the fabric */
    uint64_t *dead_link;         /**< bit set over links that are not used; NULL: none */
    bool all_minimal;            /**< all minimal next hops on these links, as fab_next_hops_new() finds them */
    size_t memory_bytes;         /**< of all of these but what is borrowed */
} fab_next_hops;

/** Equal-cost next hops of a switch, by port number: fab_next_hop(&list, i), i < count. */
typedef struct fab_next_hop_list {
    const fab_link_id *link; /**< all that leave the switch */
    const uint16_t *slot;    /**< shape [count] */
    uint32_t count;
} fab_next_hop_list;

static inline fab_link_id fab_next_hop(const fab_next_hop_list *list, uint32_t i) {
    return list->link[list->slot[i]];
}

/**
 * Breadth-first search from all leaves at once, a bit per leaf.
 * @param[in] fabric     Borrowed, must outlive the tables.
 * @param[in] dead_link  Bit set over links, or NULL: these are not used.
 * @retval FAB_EINPUT  a switch has more than 65,535 groups
 * @retval FAB_EUNSUPPORTED  the lists do not fit into 32-bit places
 * Complexity: O(distances at which a switch sees leaves * links * leaves / 64) time.
 */
fab_status fab_next_hops_new(const fab_fabric *fabric, const uint64_t *dead_link, fab_next_hops **out,
                             fab_error *err) FAB_MUST_USE;
void fab_next_hops_free(fab_next_hops *next_hops);

/** Sets used[l] of every link l that is a next hop of some switch. Returns how many were 0 before. */
uint32_t fab_next_hops_mark(const fab_next_hops *next_hops, uint8_t *used);

/** Groups of a piece as they are stored. Shapes [FAB_PIECE_LEAVES] and [FAB_PIECE_WORDS]. */
static inline void fab_piece_pack(const uint16_t *groups, uint32_t *out_words) {
    for (size_t i = 0; i < FAB_PIECE_WORDS; i++) {
        out_words[i] = groups[2 * i] | (uint32_t)groups[2 * i + 1] << 16;
    }
}

static inline void fab_piece_unpack(const uint32_t *words, uint16_t *out_groups) {
    for (size_t i = 0; i < FAB_PIECE_WORDS; i++) {
        out_groups[2 * i] = (uint16_t)(words[i] & UINT16_MAX);
        out_groups[2 * i + 1] = (uint16_t)(words[i] >> 16);
    }
}

/** Group of a switch that serves leaf column `leaf`, from 1; 0 where there is no route or the switch is the leaf. */
static inline uint32_t fab_next_hops_group(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf) {
    size_t piece = t->piece_of[(size_t)(leaf / FAB_PIECE_LEAVES) * t->n_switches + switch_index];
    uint32_t pair = t->piece[piece * FAB_PIECE_WORDS + leaf % FAB_PIECE_LEAVES / 2];
    return leaf % 2 == 0 ? pair & UINT16_MAX : pair >> 16;
}

/** Next hops of a group of this switch, by its number among all. */
static inline fab_next_hop_list fab_next_hops_of_group(const fab_next_hops *t, uint32_t switch_index, uint32_t number) {
    fab_next_hop_group group = t->group[t->group_at[switch_index] + (number - t->group_first[switch_index])];
    return (fab_next_hop_list){t->out_link + t->out_first[switch_index], t->slot + group.first, group.count};
}

/** Next hops of a switch towards leaf column `leaf`: none where there is no route or the switch is the leaf. */
static inline fab_next_hop_list fab_next_hops_get(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf) {
    uint32_t group = fab_next_hops_group(t, switch_index, leaf);
    if (group == 0) {
        return (fab_next_hop_list){0};
    }
    return fab_next_hops_of_group(t, switch_index, t->group_first[switch_index] + group - 1);
}

#endif
