/**
 * How far every switch is from all leaves, as bit sets: the leaves of a block of 512 that are at a given distance. Sets
 * that are empty are not kept, and equal ones are kept once.
 */
#pragma once

#include "fab/fabric.h"
#include "fab/id_table.h"

#define FAB_SET_WORDS 8 /**< of 64 leaves each: a cache line */

typedef struct fab_leaf_set {
    uint64_t word[FAB_SET_WORDS];
} fab_leaf_set;

typedef struct fab_leaf_sets {
    uint32_t n_switches, n_leaves, n_blocks;
    uint32_t *view;    /**< shape [n_switches][n_blocks]: the set at the largest distance, FAB_NONE if there is none.
                          Equal numbers: the same leaves at the same distances */
    uint32_t *nearer;  /**< shape [sets]: the set at the next smaller distance, or FAB_NONE */
    uint32_t *hops;    /**< shape [sets]: the distance */
    fab_leaf_set *set; /**< shape [sets] */
    size_t nearer_capacity, hops_capacity, set_capacity;
    fab_id_table table;
} fab_leaf_sets;

static inline bool fab_link_is_dead(const uint64_t *dead_link, fab_link_id l) {
    return dead_link != NULL && (dead_link[l >> 6] >> (l & 63) & 1) != 0;
}

/**
 * @param[in] leaf_node  Shape [n_leaves]: the node of every column.
 * @param[in] dead_link  Bit set over links, or NULL.
 * Complexity: O(links * leaves / 512 * distances at which a switch sees leaves of a block) time.
 */
FAB_STATUS fab_leaf_sets_init(const fab_fabric *fabric, const uint64_t *dead_link, const fab_node_id *leaf_node,
                              uint32_t n_leaves, fab_leaf_sets *out, fab_error *err);
void fab_leaf_sets_release(fab_leaf_sets *sets);

/**
 * Leaves of a block that a link serves: those that are one nearer at its head.
 * @param[in] tail, head  View of the link's ends.
 * Returns whether there are any; `out` is written only then.
 */
static inline bool fab_leaf_sets_served(const fab_leaf_sets *s, uint32_t tail, uint32_t head, fab_leaf_set *out) {
    uint64_t any = 0;
    bool written = false;
    while (tail != FAB_NONE && head != FAB_NONE) {
        uint32_t far = s->hops[tail];
        uint32_t near = s->hops[head] + 1;
        if (far == near) {
            const fab_leaf_set *a = &s->set[tail];
            const fab_leaf_set *b = &s->set[head];
            for (size_t w = 0; w < FAB_SET_WORDS; w++) {
                uint64_t both = a->word[w] & b->word[w];
                out->word[w] = written ? out->word[w] | both : both;
                any |= both;
            }
            written = true;
        }
        tail = far >= near ? s->nearer[tail] : tail;
        head = near >= far ? s->nearer[head] : head;
    }
    return any != 0;
}
