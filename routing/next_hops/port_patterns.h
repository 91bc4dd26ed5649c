/**
 * From the leaves that each port of a switch serves to the ports that serve each leaf, 64 leaves at a time.
 *
 * Switches of regular fabrics meet the same few patterns again and again, so patterns are remembered, and what a
 * pattern needs is found once. Ports are named by their slot: the position in the switch's list of links, so that
 * switches of one kind name them alike.
 */
#pragma once

#include "leaf_sets.h"

/** What the ports of a switch serve of a block of leaves. Ports that serve none are left out. */
typedef struct fab_port_sets {
    uint32_t n;
    uint32_t *slot;                 /**< shape [n], ascending */
    fab_leaf_set *set;              /**< shape [n] */
    uint64_t digest[FAB_SET_WORDS]; /**< of a word in all sets */
} fab_port_sets;

/** A set of slots that serve a leaf together. */
typedef struct fab_port_list {
    uint32_t first, count; /**< place in all lists written one after the other */
    uint32_t pattern;      /**< pattern that met it last: its serial number */
    uint32_t owner;        /**< the user's: switch that met it last + 1 */
    uint16_t number;       /**< the user's: what that switch calls it */
    uint8_t local;         /**< class of that pattern */
} fab_port_list;

/** Classes of leaves that are served by the same list. Valid until the next call of fab_port_patterns_learn(). */
typedef struct fab_port_pattern {
    size_t first_key, first_class;
    uint32_t n_keys, n_classes;
    uint32_t chunk;       /**< the user's: FAB_NONE at first */
    uint8_t class_of[64]; /**< 0: no port serves the leaf; classes count from 1, by their first leaf */
} fab_port_pattern;

/** The patterns of a block of leaves, and what they follow from. */
typedef struct fab_port_block {
    size_t first_key;
    uint32_t n_keys;
    uint32_t pattern[FAB_SET_WORDS];
} fab_port_block;

typedef struct fab_port_patterns {
    uint32_t n_words; /**< of a list's bit set: a bit per slot */
    uint64_t *salt;   /**< shape [64 * n_words + 1]: odd */
    uint64_t *mask;   /**< shape [64][n_words]: of the leaves at hand */
    uint32_t serial;

    fab_id_table list_table;
    fab_port_list *list;
    uint64_t *list_mask; /**< shape [lists][n_words] */
    size_t list_capacity, list_mask_capacity;
    size_t n_list_slots; /**< of all lists */

    fab_id_table pattern_table;
    fab_port_pattern *pattern;
    uint32_t *key_slot; /**< of pattern p: its ports and the leaves that they serve, from pattern[p].first_key on */
    uint64_t *key_word;
    uint32_t *class_list;   /**< list of every class, from pattern[p].first_class on */
    uint16_t *class_number; /**< the user's, in the same places; 0 at first */
    size_t n_keys, n_class_lists;
    size_t pattern_capacity, key_slot_capacity, key_word_capacity, class_list_capacity, class_number_capacity;

    fab_id_table block_table;
    fab_port_block *block;
    uint64_t *block_key; /**< of block b: from block[b].first_key on */
    size_t n_block_keys, block_capacity, block_key_capacity;
} fab_port_patterns;

/** For switches with at most n_slots links. */
FAB_STATUS fab_port_patterns_init(uint32_t n_slots, fab_port_patterns *out, fab_error *err);
void fab_port_patterns_release(fab_port_patterns *p);

/** Makes room for n ports. */
FAB_STATUS fab_port_sets_init(uint32_t n, fab_port_sets *out, fab_error *err);
void fab_port_sets_release(fab_port_sets *sets);
void fab_port_sets_clear(fab_port_sets *sets);

/** Takes sets->set[sets->n] as the leaves that `slot` serves. */
void fab_port_sets_add(const fab_port_patterns *p, fab_port_sets *sets, uint32_t slot);

/** Patterns of the words of a block that was learned under this key, of at most one word more than there are slots;
 * NULL when it is not known. */
const uint32_t *fab_port_patterns_recall(const fab_port_patterns *p, const uint64_t *key, uint32_t n_keys);

/** Finds the patterns of all words of the sets, and keeps them under a key that is not known yet. */
FAB_STATUS fab_port_patterns_learn(fab_port_patterns *p, const uint64_t *key, uint32_t n_keys,
                                   const fab_port_sets *sets, const uint32_t **out, fab_error *err);
