/**
 * @file replay_memory.h
 * What routing a design takes, estimated from counts before it is allocated.
 */
#ifndef FAB_REPLAY_MEMORY_H
#define FAB_REPLAY_MEMORY_H

#include "fab/analysis.h"
#include "fab/routing.h"
#include "fab/traffic.h"

/**
 * Next-hop tables, shortest-path DAGs and figures of links.
 * @retval FAB_EUNSUPPORTED  more than replay->design->fabric.max_bytes
 */
fab_status fab_replay_check_tables(const fab_replay *replay, fab_error *err) FAB_MUST_USE;

/** The same with the flows, paths and rates of the largest phase under the routers. */
fab_status fab_replay_check_paths(const fab_replay *replay, const fab_traffic *traffic, const fab_router *routers,
                                  fab_error *err) FAB_MUST_USE;

#endif
