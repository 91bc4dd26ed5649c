/**
 * @file masked.h
 * Inside of masked_hops.c and reroute*.c.
 */
#ifndef FAB_MASKED_H
#define FAB_MASKED_H

#include "fab/masked_hops.h"

#define FAB_LISTED  8  /**< links that are listed of a switch */
#define FAB_DETOURS 64 /* leaves whose distances are kept */

/** A link that is no next hop any more: dead, or its head has lost leaves. */
typedef struct fab_removed {
    uint32_t slot; /**< of the link */
    uint32_t row;  /**< of what the head has lost; FAB_NONE: the link is dead, whatever the leaf */
} fab_removed;

/** A switch and a leaf column. */
typedef struct fab_hop_pair {
    uint32_t node, leaf;
} fab_hop_pair;

struct fab_masked_hops {
    const fab_hops_index *index;
    const fab_fabric *f;
    const fab_next_hops *t;
    const fab_mask *mask;
    bool is_lazy; /**< what a switch has lost is listed when it is looked at: for few look-ups */
    uint32_t stamp;
    uint32_t *listed; /**< shape [n_switches]: stamp of the mask, of those that are listed (is_lazy) */
    uint32_t base, first_link;
    uint32_t n_words;     /**< of a row: a bit per leaf */
    uint32_t n_dead;      /**< links between switches */
    uint32_t *n_removed;  /**< shape [n_switches]: links that are gone for some leaf */
    fab_removed *removed; /**< shape [n_switches][FAB_LISTED]: by slot; of those with more than that, of no meaning */
    uint32_t n_touched;
    uint32_t *touched; /**< switches with anything removed */
    uint32_t n_seeds;  /**< the first of them: those with dead links */
    uint32_t *row_of;  /**< shape [n_switches + 1]: FAB_NONE: nothing lost */
    uint32_t n_lost;
    uint32_t *lost; /**< shape [rows]: switches that have lost their last minimal next hop to a leaf. Of those that
                       are no transit only where they lost it themselves */
    uint64_t *row;  /**< shape [rows][n_words] */
    size_t row_capacity;
    fab_hop_pair *queue;
    size_t n_queue, queue_capacity;
    uint8_t *emptied;             /**< shape [groups of a switch + 1] */
    uint16_t *slot;               /**< shape [links of a switch]: the list last asked for */
    uint32_t detour[FAB_DETOURS]; /**< leaf whose distances are kept */
    uint16_t *distance;           /**< shape [FAB_DETOURS][n_switches] */
    uint32_t *fifo;               /**< shape [n_switches] */
};

static inline bool fab_row_has(const fab_masked_hops *m, uint32_t row, uint32_t leaf) {
    return (m->row[(size_t)row * m->n_words + leaf / 64] >> (leaf % 64) & 1) != 0;
}

/** Switch v has lost leaf `leaf`: its distance is no longer what it was. */
static inline bool fab_has_lost(const fab_masked_hops *m, uint32_t v, uint32_t leaf) {
    return m->row_of[v] != FAB_NONE && fab_row_has(m, m->row_of[v], leaf);
}

static inline const fab_removed *fab_removed_of(const fab_masked_hops *m, uint32_t v) {
    return m->removed + (size_t)v * FAB_LISTED;
}

static inline bool fab_removes(const fab_masked_hops *m, const fab_removed *r, uint32_t leaf) {
    return r->row == FAB_NONE || fab_row_has(m, r->row, leaf);
}

/** Whether a next hop towards a leaf is gone. `slot`: place among the links that leave the switch. */
static inline bool fab_hop_is_gone(const fab_masked_hops *m, uint32_t v, uint32_t slot, uint32_t leaf) {
    uint32_t at = m->f->out_first[m->base + v] + slot;
    return fab_has_lost(m, m->index->head[at - m->first_link], leaf) ||
           fab_mask_link_is_dead(m->mask, m->f->out_link[at]);
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

/** The same as fab_masked_hops_set(), listing what switches have lost as they are looked at. */
fab_status fab_masked_hops_find(fab_masked_hops *m, const fab_mask *mask, bool is_lazy, fab_error *err) FAB_MUST_USE;

/** Lists what is removed of a switch. */
void fab_list_removed(fab_masked_hops *m, uint32_t v);

/** How much is removed at a switch, listed or not until now. */
static inline uint32_t fab_n_removed(fab_masked_hops *m, uint32_t v) {
    if (m->is_lazy && m->listed[v] != m->stamp) {
        fab_list_removed(m, v);
    }
    return m->n_removed[v];
}

#endif
