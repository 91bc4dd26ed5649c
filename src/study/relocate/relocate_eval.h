/**
 * @file relocate_eval.h
 * What a placement of lost servers costs, and how that changes when some of them go elsewhere.
 *
 * Where all engines look at flows one by one, the flows of lost servers are lifted once, and only paths of servers that
 * are tried elsewhere are walked. Else every placement is routed in full.
 */
#pragma once

#include "relocate_internal.h"

#include "fab/reroute.h"

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

fab_status relocate_eval_new(const fab_relocator *r, relocate_eval **out, fab_error *err) FAB_MUST_USE;
void relocate_eval_free(relocate_eval *e);

/** Begins with the lost servers of the relocator nowhere, and everybody else at home. */
fab_status relocate_eval_start(relocate_eval *e, fab_error *err) FAB_MUST_USE;

/**
 * Scores changes, and takes them back. Servers differ; where they go nobody is afterwards.
 * @param[in] look  NULL, or told of all links of the network that change, each once; only of separable phases.
 */
fab_status relocate_eval_try(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             relocate_look *look, void *context, fab_error *err) FAB_MUST_USE;

/** Makes changes. */
fab_status relocate_eval_set(relocate_eval *e, const relocate_change *changes, size_t n, relocate_score *out,
                             fab_error *err) FAB_MUST_USE;

/** Residual capacity of a link of the network, bit/s; of others 0. */
double relocate_eval_residual(const relocate_eval *e, fab_link_id link);

/** Whether two servers exchange flows in any phase. */
bool relocate_eval_talk(const relocate_eval *e, uint32_t a, uint32_t b);

/**
 * What the flows between two servers add if both are somewhere else; only of separable phases.
 * @param[in]  changes  Shape [2].
 * @param[out] is_cut   Some of them lose every path.
 */
fab_status relocate_eval_between(relocate_eval *e, const relocate_change *changes, bool *is_cut, relocate_look *look,
                                 void *context, fab_error *err) FAB_MUST_USE;

/**
 * Who crosses links that collide and that lost servers, where they are set, cross too. Where phases are not looked at
 * flow by flow: everybody who has ranks.
 * @param[out] n_shared_paths  Shape [n_servers]: paths of healthy servers.
 */
fab_status relocate_eval_contend(const relocate_eval *e, uint32_t *n_shared_paths, fab_error *err) FAB_MUST_USE;

/** Appends the moves of servers that are not lost, ascending. */
void relocate_eval_list_healthy(const relocate_eval *e, fab_move *moves, size_t *n);
