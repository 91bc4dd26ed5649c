/**
 * What the evaluation of a design stands on: tables, traffic, engines, the healthy fabric. Every part is built once,
 * when somebody first asks for it, by whichever thread that is; the others wait for it. A part that cannot be built
 * gives its error to everybody who asks. Nothing changes once it is built. See src/doc/adr/0052-evaluator.md.
 */
#pragma once

#include "fab/bound.h"
#include "fab/reroute.h"

typedef struct fab_context fab_context;
typedef struct fab_design fab_design;

/**
 * Everything is borrowed and must outlive the context.
 *
 * With `base`, what is left out is taken from there, and what base has built or will build is shared: next hops and
 * ports; DAG and engines of the same text where the fabric is the same; traffic with its offers and demands where
 * design, fabric, traffic and seed are, or the seed decides nothing. Baselines are never shared: they go with the
 * context that asked for them.
 */
typedef struct fab_context_request {
    const fab_context *base;  /**< NULL: none */
    const fab_design *design; /**< NULL: that of base */
    const fab_fabric *fabric; /**< NULL: that of base. With base: its nodes and links, at other speeds */
    const char *traffic; /**< as for fab_traffic_make; with `gpus` as for fab_traffic_front_end; NULL: that of base */
    const fab_fabric *gpus; /**< of the front-end's traffic: the fabric of the GPUs, and `fabric` is that of the hosts;
                               else NULL */
    const fab_traffic *given;       /**< in place of `traffic`: phases that exist already; else NULL */
    const fab_engine_spec *engines; /**< shape [n_engines]; NULL: those of base */
    size_t n_engines;
    uint64_t seed; /**< of the first draw; 0: that of base, where there is one */
    uint64_t draw; /**< added to the seed, and to those that engines have of their own */
} fab_context_request;

/** What a design asks for: its own engines under `traffic`, from `seed` on. */
fab_context_request fab_context_of(const fab_design *design, const fab_fabric *fabric, const char *traffic,
                                   uint64_t seed);

/** Builds nothing yet. Complexity: O(n_engines). */
FAB_STATUS fab_context_new(const fab_context_request *request, fab_context **out, fab_error *err);

/** After all contexts that have it as base. */
void fab_context_free(fab_context *context);
FAB_OWNER(fab_context, fab_context_free)

/** With everything that was taken from base. */
const fab_context_request *fab_context_what(const fab_context *context);

/* --- tables of the fabric ----------------------------------------------------------------------------------------- */

/**
 * All that follow return borrowed parts, which live as long as the context.
 * @retval FAB_EUNSUPPORTED  more memory than design->fabric.max_bytes, by the estimates of replay_memory.h
 * Errors and complexity of what builds the part: fab_next_hops_new(), fab_dag_new(), fab_ports_init(). A part that is
 * there costs nothing. Threads: any may ask for anything at any time.
 */
FAB_STATUS fab_context_next_hops(const fab_context *context, const fab_next_hops **out, fab_error *err);
FAB_STATUS fab_context_dag(const fab_context *context, const fab_dag **out, fab_error *err);
FAB_STATUS fab_context_ports(const fab_context *context, const fab_ports **out, fab_error *err);

/** Errors of fab_router_init(). */
FAB_STATUS fab_context_router(const fab_context *context, size_t engine, const fab_router **out, fab_error *err);

/* --- traffic of its draw ------------------------------------------------------------------------------------ */

/** Errors of fab_traffic_make(). */
FAB_STATUS fab_context_traffic(const fab_context *context, const fab_traffic **out, fab_error *err);

/** Offered rates of a phase. */
FAB_STATUS fab_context_offer(const fab_context *context, size_t phase, const fab_offer **out, fab_error *err);

/** What a phase asks of the switches. Errors of fab_demand_init(). */
FAB_STATUS fab_context_demand(const fab_context *context, size_t phase, const fab_demand **out, fab_error *err);

/** The first phase that has the same flows at the same offered rates, with bytes in proportion: often itself. Routes
 * and loads are then the same under any engine, wherever ranks go. */
FAB_STATUS fab_context_duplicate(const fab_context *context, size_t phase, size_t *out, fab_error *err);

/** The certified optimum of a phase. Errors of fab_bound_find(). */
FAB_STATUS fab_context_bound(const fab_context *context, size_t phase, const fab_bound **out, fab_error *err);

/* --- the healthy fabric ------------------------------------------------------------------------------------------- */

/** Seed of an engine for what is drawn here. */
uint64_t fab_context_seed(const fab_context *context, const fab_router *router);

/** A phase under an engine: that of the first of its duplicates. Errors of fab_baseline_new(). */
FAB_STATUS fab_context_baseline(const fab_context *context, size_t engine, size_t phase, const fab_baseline **out,
                                fab_error *err);
