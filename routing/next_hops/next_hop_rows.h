/** Inside of fab_next_hops, for what looks it up once per hop. */
#pragma once

#include "fab/next_hops.h"
#include "fab/id_table.h"

#define FAB_CHUNK_LEAVES 64
#define FAB_CHUNK_WORDS  (FAB_CHUNK_LEAVES / 2)

/** Its next hops are slot[first] ... slot[first + count - 1]. */
typedef struct fab_next_hop_group {
    uint32_t first, count;
} fab_next_hop_group;

/**
 * A switch keeps its groups of equal-cost next hops; a row says, per destination leaf, which group serves it. Rows are
 * cut into chunks of 64 leaves, and equal chunks are stored once.
 */
struct fab_next_hops {
    uint32_t n_leaves;      /**< switches with a NIC attached */
    uint32_t *leaf_index;   /**< shape [n_switches]: column of a switch, FAB_NONE if no NIC is attached */
    fab_node_id *leaf_node; /**< shape [n_leaves] */
    uint32_t n_switches, n_chunks_per_row;
    uint32_t *chunk_of;    /**< shape [n_chunks_per_row][n_switches] */
    uint32_t *chunk;       /**< shape [chunks][32]: groups of the switch for two leaves each, the even one in the lower
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
};

/** Chunks that are there already, while tables are made. Zero-initialised: none. */
typedef struct fab_chunk_table {
    fab_id_table table;
    size_t capacity;
} fab_chunk_table;

/** Number of the chunk with these groups, known or new. Shape of groups: [FAB_CHUNK_LEAVES]. */
FAB_STATUS fab_chunk_share(fab_next_hops *t, fab_chunk_table *chunks, const uint16_t *groups, uint32_t *out,
                           fab_error *err);

/** Groups of a chunk from how they are stored. Shapes [FAB_CHUNK_WORDS] and [FAB_CHUNK_LEAVES]. */
static inline void fab_chunk_unpack(const uint32_t *words, uint16_t *out_groups) {
    for (size_t i = 0; i < FAB_CHUNK_WORDS; i++) {
        out_groups[2 * i] = (uint16_t)(words[i] & UINT16_MAX);
        out_groups[2 * i + 1] = (uint16_t)(words[i] >> 16);
    }
}

/** Group of a switch that serves leaf column `leaf`, from 1; 0 where there is no route or the switch is the leaf. */
static inline uint32_t fab_next_hops_group(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf) {
    size_t chunk = t->chunk_of[(size_t)(leaf / FAB_CHUNK_LEAVES) * t->n_switches + switch_index];
    uint32_t pair = t->chunk[chunk * FAB_CHUNK_WORDS + leaf % FAB_CHUNK_LEAVES / 2];
    return leaf % 2 == 0 ? pair & UINT16_MAX : pair >> 16;
}

/** Next hops of a group of this switch, by its number among all. */
static inline fab_next_hop_list fab_next_hops_of_group(const fab_next_hops *t, uint32_t switch_index, uint32_t number) {
    fab_next_hop_group group = t->group[t->group_at[switch_index] + (number - t->group_first[switch_index])];
    return (fab_next_hop_list){t->out_link + t->out_first[switch_index], t->slot + group.first, group.count};
}

/** As fab_next_hops_get(), within loops over hops. */
static inline fab_next_hop_list fab_next_hops_look(const fab_next_hops *t, uint32_t switch_index, uint32_t leaf) {
    uint32_t group = fab_next_hops_group(t, switch_index, leaf);
    if (group == 0) {
        return (fab_next_hop_list){0};
    }
    return fab_next_hops_of_group(t, switch_index, t->group_first[switch_index] + group - 1);
}
