/** What a replay takes, as context_memory.h estimates it. */
#pragma once

#include "fab/context_memory.h"
#include "fab/replay.h"

/** Mean cables of a path from GPU to GPU, or more. */
double fab_path_links(const fab_design *design, const fab_fabric *fabric);

/** A phase as packets, while they are followed; 0 under transport fluid. */
double fab_packets_bytes(const fab_transport_spec *transport, double n_paths, double n_senders, double n_links,
                         double n_hops);

/** One draw of a phase under an engine, while it is under way, and what is prepared for the phase and kept. */
typedef struct fab_draw_bytes {
    double run, prepared;
} fab_draw_bytes;

fab_draw_bytes fab_replay_draw_bytes(const fab_replay *replay, const fab_replay_sizes *sizes, const fab_phase *phase,
                                     const fab_router *router);

/** Flows that other engines would have to route: those of phases that leave their domains, equal phases once, times
 * seeds. O(flows). */
FAB_STATUS fab_replay_trial_flows(const fab_replay *replay, uint64_t *out, fab_error *err);

/**
 * The graph, next-hop tables and shortest-path DAGs; with what the engines keep; with traffic, every thread's paths and
 * rates, and the figures of all seeds.
 * @retval FAB_EUNSUPPORTED  more than design->fabric.max_bytes
 */
FAB_STATUS fab_replay_check_tables(const fab_replay *replay, fab_error *err);
FAB_STATUS fab_replay_check_routers(const fab_replay *replay, fab_error *err);
FAB_STATUS fab_replay_check_paths(const fab_replay *replay, fab_error *err);
