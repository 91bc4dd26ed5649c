/** Inside of masked_hops.c and reroute*.c. */
#pragma once

#include "next_hop_rows.h"
#include "fab/masked_hops.h"

#define FAB_LISTED  8  /**< links that are listed of a switch */
#define FAB_DETOURS 64 /**< leaves whose distances are kept */

#define FAB_HAS_LOST (UINT32_C(1) << 31)

#define FAB_NO_LEAF 0U /**< the first row */

/** A link that is no next hop any more: dead, or its head has lost leaves. */
typedef struct fab_removed {
    uint32_t slot; /**< of the link */
    uint32_t row;  /**< of what the head has lost; that of all leaves: the link is dead */
} fab_removed;

/** A switch that has lost leaves. */
typedef struct fab_loser {
    uint32_t node, row;
    uint32_t first, last;             /**< words of its row that may have bits */
    uint32_t fresh_first, fresh_last; /**< words of its fresh row that may have bits; first > last: none has */
} fab_loser;

struct fab_masked_hops {
    const fab_hops_index *index;
    const fab_fabric *f;
    const fab_next_hops *t;
    const fab_mask *mask;
    bool is_lazy; /**< what a switch has lost is listed when it is looked at: for few look-ups */
    uint32_t stamp;
    uint32_t *listed; /**< shape [n_switches]: stamp of the mask, of those that are listed (is_lazy) */
    uint32_t *near;   /**< shape [n_switches]: the same, of switches on the way next to one that has lost leaves */
    uint32_t base, first_link;
    uint32_t n_words;     /**< of a row: a bit per leaf */
    uint32_t *n_removed;  /**< shape [n_switches]: links that are gone for some leaf; FAB_HAS_LOST is set where the
                             switch has lost leaves itself */
    fab_removed *removed; /**< shape [n_switches][FAB_LISTED]: by slot; of those with more than that, of no meaning */
    uint32_t n_touched;
    uint32_t *touched; /**< switches with anything removed */
    uint32_t n_seeds;  /**< the first of them: those with dead links */
    uint32_t n_lost;
    fab_loser *lost;     /**< shape [n_lost]: switches that have lost their last minimal next hop to a leaf. Of those
                            that are no transit only where they lost it themselves */
    uint32_t *row_of;    /**< shape [n_switches + 1]: where the leaves that a switch has lost begin in `row`: a bit per
                            leaf; FAB_NO_LEAF: it has lost none */
    uint64_t *row;       /**< no leaf, all leaves; then per switch that has lost leaves its number in `lost`, those
                            leaves, and what it lost since its neighbours were looked at */
    uint32_t all_leaves; /**< row of all leaves */
    uint64_t *lost_leaf; /**< shape [n_words]: leaves that somebody has lost */
    size_t row_capacity;
    uint32_t *queue; /**< rows with a fresh part, first in, first out */
    size_t n_queue, queue_capacity;
    uint16_t *slot;               /**< shape [links of a switch]: the list last asked for */
    uint32_t detour[FAB_DETOURS]; /**< leaf whose distances are kept */
    uint16_t *distance;           /**< shape [FAB_DETOURS][n_switches] */
    uint32_t *fifo;               /**< shape [n_switches] */
};

static inline bool fab_row_has(const fab_masked_hops *m, uint32_t row, uint32_t leaf) {
    return (m->row[row + leaf / 64] >> (leaf % 64) & 1) != 0;
}

/** Switch v has lost leaf `leaf`: its distance is no longer what it was. */
static inline bool fab_has_lost(const fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    return fab_row_has(m, m->row_of[v], leaf);
}

static inline bool fab_has_leaf(const uint64_t *set, uint32_t leaf) {
    return (set[leaf / 64] >> (leaf % 64) & 1) != 0;
}

static inline const fab_removed *fab_removed_of(const fab_masked_hops *m, uint32_t v) {
    return m->removed + (size_t)v * FAB_LISTED;
}

static inline bool fab_removes(const fab_masked_hops *m, const fab_removed *r, uint32_t leaf) {
    return fab_row_has(m, r->row, leaf);
}

/** Links that leave a switch. */
static inline const fab_exit *fab_exits_of(const fab_masked_hops *m, uint32_t v) {
    return m->index->exit + (m->t->out_first[v] - m->first_link);
}

/** Whether a next hop towards a leaf is gone. `slot`: place among the links that leave the switch. */
static inline bool fab_hop_is_gone(const fab_masked_hops *m, uint32_t v, uint32_t slot, uint32_t leaf) {
    const fab_exit exit = fab_exits_of(m, v)[slot];
    return fab_has_lost(m, exit.head, leaf) || fab_mask_link_is_dead(m->mask, exit.link);
}

/** Place of a slot in a list of next hops, FAB_NONE where it is not there. */
static inline uint32_t fab_position(const uint16_t *slot, uint32_t count, uint32_t wanted) {
    uint32_t guess = wanted - slot[0]; /* most lists are runs */
    if (guess < count && slot[guess] == wanted) {
        return guess;
    }
    for (uint32_t low = 0, high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (slot[middle] == wanted) {
            return middle;
        }
        if (slot[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return FAB_NONE;
}

/**
 * Takes another mask; of it only dead links between switches matter. It is read again by later look-ups.
 * @param[in] is_lazy  What switches have lost is listed as they are looked at, and not before.
 * @param[in] wanted   Bit set over leaves: look-ups are of these alone. NULL: all.
 * Complexity: O(dead links * groups of a switch), and for every switch and leaf that lose their last minimal next hop
 * O(links of the switch).
 */
FAB_STATUS fab_masked_hops_find(fab_masked_hops *m, const fab_mask *mask, bool is_lazy, const uint64_t *wanted,
                                fab_error *err);

/** Lists what is removed of a switch. */
void fab_list_removed(fab_masked_hops *m, uint32_t v);

/** How much is removed at a switch for look-ups of a leaf, listed or not until now; 0: its group is healthy. */
static inline uint32_t fab_n_removed(fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    if (m->is_lazy && m->listed[v] != m->stamp && fab_has_leaf(m->lost_leaf, leaf) &&
        (m->near[v] == m->stamp || m->index->transit[v] == 0)) {
        fab_list_removed(m, v);
    }
    return m->n_removed[v];
}
