/** The engines, one row each in engines.c. Steps to add one: routing/engines/README.md. */
#pragma once

#include "router.h"

extern const fab_engine fab_engine_ecmp;
extern const fab_engine fab_engine_dmodk;
extern const fab_engine fab_engine_pinned;
extern const fab_engine fab_engine_updn;
extern const fab_engine fab_engine_file;
extern const fab_engine fab_engine_adaptive;
extern const fab_engine fab_engine_spray;
extern const fab_engine fab_engine_optimal;

/** The link that a packet with this key takes from switch v towards leaf column `leaf`, or FAB_NONE. */
fab_link_id fab_router_next(const fab_router *router, uint64_t seed, fab_node_id v, uint32_t leaf,
                            const fab_hop_key *key);

/** `explain` of engines that choose by the digit of the destination. */
uint64_t fab_explain_digit(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key,
                           char *out, size_t size);

/** Row of an engine that chooses among groups of next hops; engines.c reads the file. */
#define FAB_TABLES_OPTION                                                                                              \
    {                                                                                                                  \
        "tables", "", "file with the groups of next hops, as 'route --dump' writes it; else all minimal ones", true,   \
            .kind = FAB_OPTION_TABLES                                                                                  \
    }

/** Rows of an engine whose packets overtake one another. */
#define FAB_REORDER_OPTIONS                                                                                            \
    {"window", "1MiB",                                                                                                 \
     "bytes that a receiver puts in order per flow (an assumption); limits the rate over a round trip", true,          \
     .kind = FAB_OPTION_WINDOW},                                                                                       \
    {                                                                                                                  \
        "queueing", "5us", "allowance for queues in the round trip (an assumption)", true, .kind = FAB_OPTION_QUEUEING \
    }

#define FAB_RESILIENT_BUCKETS 64 /**< of resilient hashing, per slot of the healthy group */

/** Largest whole rate that divides the capacity of every link between switches; 1 without such links. */
double fab_hash_group_unit(const fab_fabric *fabric);

/**
 * Index of the next hop that a value selects, below hop->count.
 * @param[in] is_uniform  The value is uniform over 32 bits and is scaled to the group; else its remainder is taken.
 */
uint32_t fab_hash_group_pick(const fab_router *router, const fab_hop *hop, uint32_t value, bool is_uniform);

/* Forwarding tables as text: what writer and reader share. */
#define FAB_TABLES_MAGIC  "fabriscope-tables 1"
#define FAB_TABLES_HEADER 96

/** "fabric nics=48 switches=19 cables=144": tables fit this fabric. `out` holds FAB_TABLES_HEADER bytes. Returns out.
 */
const char *fab_tables_fabric_line(const fab_fabric *f, char *out);

/** Plane that a queue pair of a flow uses: its queue pairs take the planes in turn, from one drawn per flow. */
uint32_t fab_plane_of(const fab_router *router, const fab_flow *flow, uint32_t queue_pair, uint64_t seed);
