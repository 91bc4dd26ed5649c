/**
 * What a placement of lost servers costs, and how that changes when some of them go elsewhere.
 *
 * Where all engines look at flows one by one, the flows of lost servers are lifted once, and only paths of servers that
 * are tried elsewhere are walked. Else every placement is routed in full.
 */
#pragma once

#include "fab/relocate.h"

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
FAB_STATUS relocate_by_place(fab_relocator *r, fab_policy policy, fab_error *err);

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
FAB_STATUS relocate_by_search(fab_relocator *r, relocate_found *out, fab_error *err);

/** What is to be as small as can be, the first first. Ratios are counted in steps, so that rounding decides nothing. */
typedef struct relocate_score {
    uint32_t n_cut;        /**< paths that are lost */
    bool is_late;          /**< the fullest links need longer than they may: relocate_eval.allowed_s */
    uint32_t n_collisions; /**< network links offered more than their residual capacity */
    int64_t worst;         /**< largest ratio of a network link */
    int64_t excess;        /**< sum of what ratios are above 1 */
    uint32_t n_healthy;    /**< servers that move without need */
    double drain_s;        /**< not compared: time that the fullest links of the phases need, one after the other */
} relocate_score;

#define RELOCATE_STEP     1e-9
#define RELOCATE_COLLIDED (1 + 1e-9) /* above this a link is offered more than it has */

/** Below 0, 0, above 0: x is better, equal, worse. */
int relocate_compare(const relocate_score *x, const relocate_score *y);

/** The ranks of `server` go to server `to`; FAB_NONE: nowhere. */
typedef struct relocate_change {
    uint32_t server, to;
} relocate_change;

typedef struct relocate_eval relocate_eval;

/** Told of a link whose load a change makes another one: a phase that is seen, and by how much. */
typedef void relocate_look(void *context, size_t view, fab_link_id link, double bps);

FAB_STATUS relocate_eval_new(const fab_relocator *r, relocate_eval **out, fab_error *err);
void relocate_eval_free(relocate_eval *e);
FAB_OWNER(relocate_eval, relocate_eval_free)

/** Begins with the lost servers of the relocator nowhere, and everybody else at home. */
FAB_STATUS relocate_eval_start(relocate_eval *e, fab_error *err);

/**
 * Scores changes, and takes them back. Servers differ; where they go nobody is afterwards.
 * @param[in] look  NULL, or told of all links of the network that change, each once; only of separable phases.
 */
FAB_STATUS relocate_eval_try(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             relocate_look *look, void *context, fab_error *err);

/** Makes changes. */
FAB_STATUS relocate_eval_set(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             fab_error *err);

/** Residual capacity of a link of the network, bit/s; of others 0. */
double relocate_eval_residual(const relocate_eval *e, fab_link_id link);

/** Whether two servers exchange flows in any phase. */
bool relocate_eval_talk(const relocate_eval *e, uint32_t a, uint32_t b);

/**
 * What the flows between two servers add if both are somewhere else; only of separable phases.
 * @param[in]  changes  Shape [2].
 * @param[out] is_cut   Some of them lose every path.
 */
FAB_STATUS relocate_eval_between(relocate_eval *e, const relocate_change *changes, bool *is_cut, relocate_look *look,
                                 void *context, fab_error *err);

/**
 * Who crosses links that collide and that lost servers, where they are set, cross too. Where phases are not looked at
 * flow by flow: everybody who has ranks.
 * @param[out] n_shared_paths  Shape [n_servers]: paths of healthy servers.
 */
FAB_STATUS relocate_eval_contend(const relocate_eval *e, uint32_t *n_shared_paths, fab_error *err);

/** Appends the moves of servers that are not lost, ascending. */
void relocate_eval_list_healthy(const relocate_eval *e, fab_move *moves, size_t *n);
