/**
 * Whether a state is the one that was looked at last: its contents are compared, so that nobody has to say when they
 * change.
 */
#pragma once

#include "fab/state.h"

/** Copy of a state. Zero-initialise; release with fab_state_key_release(). */
typedef struct fab_state_key {
    uint64_t version; /**< of the state: 0 before the first, then one more for each that differs from the one before */
    bool is_set;
    fab_reroute_when when;
    uint32_t n_links;
    size_t n_moved;
    fab_link_id *link;
    double *residual;
    uint32_t *moved, *new_gpu; /**< shape [n_moved]: new_gpu of moved */
    size_t link_capacity, left_capacity, moved_capacity, new_capacity;
} fab_state_key;

void fab_state_key_release(fab_state_key *key);

/** Takes the state over; the version is another if it differs from the one before. O(what the state changes). */
FAB_STATUS fab_state_key_take(fab_state_key *key, const fab_state *state, fab_error *err);
