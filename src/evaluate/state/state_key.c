#include "state_key.h"

FAB_RELEASES(fab_state_key_release, fab_state_key, link, residual, moved, new_gpu);

static bool is_same(const fab_state_key *key, const fab_state *state) {
    const fab_mask *mask = state->mask;
    const uint32_t n_links = mask != NULL ? mask->n_links : 0;
    bool same = key->is_set && key->when == state->when && key->n_links == n_links && key->n_moved == state->n_moved;
    for (uint32_t i = 0; same && i < n_links; i++) {
        same = key->link[i] == mask->link[i] && key->residual[i] == mask->residual[mask->link[i]];
    }
    for (size_t i = 0; same && i < state->n_moved; i++) {
        same = key->moved[i] == state->moved[i] && key->new_gpu[i] == state->new_gpu[state->moved[i]];
    }
    return same;
}

fab_status fab_state_key_take(fab_state_key *key, const fab_state *state, fab_error *err) {
    const fab_mask *mask = state->mask;
    const uint32_t n_links = mask != NULL ? mask->n_links : 0;
    if (is_same(key, state)) {
        return FAB_OK;
    }
    key->is_set = false;
    key->version++;
    FAB_PASS(FAB_GROW(key->link, key->link_capacity, n_links, err));
    FAB_PASS(FAB_GROW(key->residual, key->left_capacity, n_links, err));
    FAB_PASS(FAB_GROW(key->moved, key->moved_capacity, state->n_moved, err));
    FAB_PASS(FAB_GROW(key->new_gpu, key->new_capacity, state->n_moved, err));
    for (uint32_t i = 0; i < n_links; i++) {
        key->link[i] = mask->link[i];
        key->residual[i] = mask->residual[mask->link[i]];
    }
    for (size_t i = 0; i < state->n_moved; i++) {
        key->moved[i] = state->moved[i];
        key->new_gpu[i] = state->new_gpu[state->moved[i]];
    }
    key->when = state->when;
    key->n_links = n_links;
    key->n_moved = state->n_moved;
    key->is_set = true;
    return FAB_OK;
}
