/**
 * @file relocate_internal.h
 * What the files about reallocation share: who may go where, and what was chosen.
 */
#pragma once

#include "fab/relocate.h"
#include "fab/routing.h"

/** What is known of a GPU. */
enum {
    RELOCATE_RANK = 1,    /**< it has one */
    RELOCATE_NETWORK = 2, /**< it has flows that leave its scale-up domain */
    RELOCATE_REMOTE = 4,  /**< it has flows that leave its leaf */
};

/** Where a server is plugged in, by its first NIC. */
typedef struct relocate_place {
    uint32_t pod;  /**< FAB_NONE: none */
    uint32_t slot; /**< among the servers of the leaf, by port */
    uint32_t rack; /**< FAB_NONE: no floor plan */
} relocate_place;

struct fab_relocator {
    fab_relocator_request request;
    const fab_fabric *f;
    uint32_t n_slices;
    uint8_t *gpu;          /**< shape [n_gpus]: RELOCATE_... */
    relocate_place *place; /**< shape [n_servers] */
    uint8_t *is_working;   /**< shape [n_servers]: it has ranks */
    uint32_t *idle;        /**< shape [n_idle]: servers that a rank could go to, ascending */
    uint32_t n_idle;

    /* Of a call. */
    const fab_mask *mask;
    uint32_t stamp;
    uint32_t *seen;    /**< shape [n_servers]: stamp of the call in which the server was looked at */
    uint32_t *suspect; /**< shape [n_suspects]: servers that the mask touches */
    uint32_t n_suspects;
    uint32_t *lost, *unplaced; /**< shape [n_lost], [n_unplaced] */
    uint32_t n_lost, n_unplaced;
    uint32_t *spare; /**< shape [n_spares]: complete ones, ascending */
    uint32_t n_spares;
    uint32_t *to;   /**< shape [n_lost]: server that takes the ranks of lost[i]; FAB_NONE: none */
    uint32_t *used; /**< shape [n_servers]: stamp of the choice in which it was taken last */
    uint32_t n_choices;
    fab_move *moves; /**< shape [n_moves] */
    size_t n_moves;
    uint32_t *moved, *new_gpu;
    size_t n_moved;
    struct relocate_eval *eval; /**< NULL until somebody searches */
};

/** Whether the ranks of a server fit on another. */
bool relocate_fits(const fab_relocator *r, uint32_t from, uint32_t to);

/** Chooses r->to by a policy that looks at places alone. */
fab_status relocate_by_place(fab_relocator *r, fab_policy policy, fab_error *err) FAB_MUST_USE;

bool relocate_has_racks(const fab_relocator *r);

/** From here on nobody is `used`. */
void relocate_next_choice(fab_relocator *r);

/** What a search says beside the moves. */
typedef struct relocate_found {
    uint32_t n_collisions;
    double worst_ratio;
    uint64_t n_tried;
    bool is_optimal;
} relocate_found;

/** Searches, and lists unplaced servers and moves. */
fab_status relocate_by_search(fab_relocator *r, relocate_found *out, fab_error *err) FAB_MUST_USE;
