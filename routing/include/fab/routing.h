/** Routers: the flows of a phase to routes. To add an engine, see routing/engines/README.md. */
#pragma once

#include "fab/engine_spec.h"
#include "fab/next_hops.h"
#include "fab/traffic.h"

/**
 * Routes of a phase: every flow is split over paths, mostly of equal weight (its queue pairs). Reusable: routing again
 * keeps the memory. A path holds all directed links from GPU to GPU, scale-up and PCIe included.
 */
typedef struct fab_routes {
    uint32_t n_flows;
    uint32_t n_known;     /**< set by the caller: of the flows that are to be routed so many have their routes, those of
                             this router; not of an engine that takes whole phases. 0 again when they are routed */
    uint32_t *flow_first; /**< shape [n_flows + 1]: paths of flow f */
    bool between_switches; /**< set by the caller: only fabric links; not of an engine that takes whole phases */
    bool merges;           /**< set by the caller: of an engine that takes whole phases, paths of a flow that are equal
                              are one, with `part` */
    bool wants_groups;     /**< set by the caller: `group` is to be filled, where it can be */
    size_t *path_first;    /**< shape [n_paths + 1]: links of path p are link[path_first[p] ... ) */
    fab_link_id *link;     /**< shape [path_first[n_paths]] */
    uint32_t *group; /**< the same shape: group of next_hops, by its number, that the link was chosen from; of modulo
                        engines in a tree, between switches only, where it is wanted, else NULL */
    double *part;    /**< shape [n_paths]: of its flow; NULL: paths of a flow have equal parts */
    size_t flow_capacity, path_capacity, link_capacity, group_capacity, part_capacity;
} fab_routes;

/** Part of a flow that a path of it carries. */
static inline double fab_path_part(const fab_routes *routes, uint32_t flow, uint32_t path) {
    return routes->part != NULL ? routes->part[path] : 1.0 / (routes->flow_first[flow + 1] - routes->flow_first[flow]);
}

void fab_routes_release(fab_routes *routes);

/**
 * The paths in use while every flow sends over queue pair `round` of `n_rounds` alone; a flow with fewer paths keeps
 * them all.
 * @param[in,out] out  Zero-initialised or from an earlier call; its memory is reused.
 */
FAB_STATUS fab_routes_of_round(const fab_routes *all, uint32_t round, uint32_t n_rounds, fab_routes *out,
                               fab_error *err);

typedef struct fab_dag fab_dag;
typedef struct fab_split fab_split;
typedef struct fab_demand fab_demand;
typedef struct fab_bound fab_bound;

/** Where GPUs and NICs plug in, looked up once per fabric. */
typedef struct fab_ports {
    uint32_t nics_per_gpu, n_planes;
    fab_link_id *gpu_scaleup; /**< shape [n_gpus]: GPU -> domain, FAB_NONE without one */
    fab_link_id *gpu_nic;     /**< shape [n_gpus][nics_per_gpu]: GPU -> NIC */
    fab_link_id *nic_access;  /**< shape [n_nics][n_planes]: NIC -> leaf; FAB_NONE where no cable is */
    uint32_t *gpu_on_rail;    /**< shape [n_domains][nics_per_gpu][n_rails]: who relays to it, the first; or FAB_NONE */
    uint32_t n_cut;           /**< entries of nic_access without a cable: of installed fabrics alone */
} fab_ports;

FAB_STATUS fab_ports_init(const fab_fabric *fabric, fab_ports *out, fab_error *err);
void fab_ports_release(fab_ports *ports);

/**
 * Whether the GPUs of a phase have their ways into the network.
 * @retval FAB_EUNREACHABLE  a flow leaves or enters through a NIC without a cable; the message names it
 * Complexity: O(1) where every NIC has its cables, else O(flows), of an all-to-all O(GPUs).
 */
FAB_STATUS fab_ports_check(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *phase, fab_error *err);

/**
 * NICs through which a flow leaves and enters: those of its GPUs, or of the GPU that hands it over between rails.
 * @param[in]  nic          Which of the GPUs' NICs: 0 ... nics_per_gpu - 1.
 * @param[out] out_src_nic  Index among the NICs; FAB_NONE, as *out_dst_nic, for a flow inside a scale-up domain.
 */
FAB_STATUS fab_flow_nics(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t nic,
                         uint32_t *out_src_nic, uint32_t *out_dst_nic, fab_error *err);

#define FAB_FLOW_SEGMENT_LINKS 8

/**
 * Links that every route of a part of a flow has: those that no switch chooses.
 * @param[in]  part  nic + nics_per_gpu * plane.
 * @param[out] out   FAB_FLOW_SEGMENT_LINKS entries.
 * @return their number; 0 where rails differ and nobody relays
 */
uint32_t fab_flow_segments(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t part,
                           fab_link_id *out);

/** How the value of an option is read. */
typedef enum fab_option_kind {
    FAB_OPTION_CHOICE, /**< one of `choices`: its place among them */
    FAB_OPTION_COUNT,  /**< 1 to 4096; 0 for the word in `choices`, if there is one */
    FAB_OPTION_TIERS,  /**< by tier, leaf first, separated by '/', each as `read` has it; the last holds above */
    FAB_OPTION_FILE,
    FAB_OPTION_TABLES,      /**< file with groups of next hops, in place of the minimal ones */
    FAB_OPTION_QUEUE_PAIRS, /**< of a flow */
    FAB_OPTION_WINDOW,      /**< bytes that a receiver holds to put packets in order */
    FAB_OPTION_QUEUEING,    /**< time in queues, part of the round trip */
} fab_option_kind;

typedef struct fab_engine_option {
    const char *key, *value, *summary; /**< value: the default */
    bool quiet;                        /**< left out of the label while it has its default */
    fab_option_kind kind;
    const char *choices; /**< separated by blanks */
    fab_status (*read)(const char *item, uint64_t *out, fab_error *err);
} fab_engine_option;

/** What an engine does when links die, once it has taken notice. */
typedef enum fab_on_loss {
    FAB_LOSS_RECONVERGE, /**< decides everything again: shares or paths depend on all of the traffic, or all tables are
                            computed again */
    FAB_LOSS_MODULO,     /**< a hash selects among what is left of a group: most flows of the group move */
    FAB_LOSS_RESILIENT,  /**< only flows of dead members move */
    FAB_LOSS_TABLES,     /**< entries are computed again for the destinations that lost a next hop, no others */
    FAB_LOSS_NONE,       /**< tables stay as they are: what they send over a dead link is lost */
    FAB_LOSS_N
} fab_on_loss;

/** An engine as lists show it. */
typedef struct fab_engine_about {
    const char *name, *summary;
    const fab_engine_option *options; /**< ended by a NULL key */
    bool seeded;                      /**< routes depend on the seed */
    bool has_tables;                  /**< switches go by tables of its own */
} fab_engine_about;

/** Row i of the table of engines; its name is NULL behind the last one. */
fab_engine_about fab_engine_at(size_t i);

/** The row of the engine that a specification names, without its options; its name is NULL where there is none. */
fab_engine_about fab_engine_of(const fab_engine_spec *spec);

/** An engine with its options, ready for one fabric. Opaque; read-only while routing. */
typedef struct fab_router fab_router;

/**
 * Makes a router from `name[,key=value...]`.
 * @param[in]  next_hops  Of this fabric. Borrowed, must outlive the router.
 * @retval FAB_EINPUT  unknown engine, key or value; err->where is spec->where. Or a file of tables is wrong; err->where
 *                     is its line and column.
 * @retval FAB_EUNSUPPORTED  the engine needs a tree and the fabric is none.
 */
FAB_STATUS fab_router_new(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                          fab_router **out, fab_error *err);
void fab_router_free(fab_router *router);

/**
 * A router with the same options over other next hops of the same fabric, such as those without dead links.
 * @param[in] next_hops  NULL: those of `router`. Groups read from a file are kept.
 * @param[out] out       Borrows what `router` owns, which must outlive it.
 */
FAB_STATUS fab_router_over(const fab_router *router, const fab_next_hops *next_hops, fab_router **out, fab_error *err);

/** What is known of a router. */
typedef struct fab_router_facts {
    const char *engine;
    char label[FAB_ENGINE_LABEL_SIZE]; /**< "ecmp,hash=crc32,qp=16": engine and options */
    fab_on_loss on_loss;               /**< options and tables from a file change what the engine does */
    uint32_t n_rounds;       /**< 1: a flow uses its queue pairs at once; else they take turns, one in each round */
    uint32_t paths_per_flow; /**< between scale-up domains */
    uint32_t slices;         /**< groups of uplinks of a leaf by destination, of engine pinned; 0 of others */
    double window_bytes;     /**< that a receiver holds per flow to put packets in order */
    double queueing_s;       /**< allowance for queues, added to the round trip */
    bool is_seeded;          /**< routes depend on the seed */
    bool hashes;             /**< flows are spread by a hash, which can polarize */
    bool hashes_queue_pairs; /**< queue pairs of a flow hash differently */
    bool is_by_destination;  /**< routes depend on the destination alone */
    bool splits;             /**< switches split what they hold: fab_router_split() is to be asked, no routes */
    bool is_by_demand;       /**< how it splits depends on the demand */
    bool takes_phases;       /**< all flows of a phase are routed at once: a path depends on the other flows */
    bool has_tables;         /**< switches go by tables of the engine's own, and choose among nothing */
    bool explains;           /**< what made a choice can be told: fab_explain_path() */
    bool is_minimal;         /**< all paths are minimal for certain */
    bool reorders;           /**< packets of a flow take several paths: the receiver's window limits the rate */
    bool weighs;             /**< next hops of a group may have different weights */
} fab_router_facts;

const fab_router_facts *fab_router_facts_of(const fab_router *router);
const fab_fabric *fab_router_fabric(const fab_router *router);
/** What it chooses among: minimal next hops, or groups that were read from a file. */
const fab_next_hops *fab_router_next_hops(const fab_router *router);
const fab_ports *fab_router_ports(const fab_router *router);
/** Seed of the first draw, where a run starts at `run_seed`. */
uint64_t fab_router_seed(const fab_router *router, uint64_t run_seed);
/** Scale-up domain of a GPU with one port into the network; a number of its own where it is in none. */
uint32_t fab_router_domain(const fab_router *router, uint32_t gpu);
/** Share of next hop i in its group, in whole units: as read from a file, else by the engine's rule. */
uint32_t fab_router_weight(const fab_router *router, const fab_next_hop_list *next, uint32_t i);

/** The DAG that a router splits over: that of groups read from a file, else `dag`, of its minimal next hops. */
const fab_dag *fab_router_dag(const fab_router *router, const fab_dag *dag);

/**
 * How switches split what they hold under a router that splits.
 * @param[in] dag    fab_router_dag().
 * @param[in] known  What fab_bound_find() found for this demand by the method that fits, or NULL; saves an engine that
 *                   needs it the search.
 * @param[out] out   Release with fab_split_free().
 */
FAB_STATUS fab_router_split(const fab_router *router, const fab_dag *dag, const fab_demand *demand,
                            const fab_bound *known, fab_split **out, fab_error *err);

/**
 * Which part of `name[,key=value...]` is the path of a file that the engine reads.
 * @param[out] out_at, out_length  Written where there is one.
 */
bool fab_engine_path(const char *text, size_t *out_at, size_t *out_length);

/**
 * Routes flows first ... first + n - 1 of a phase; they are flows 0 ... n - 1 of the routes. Engines that route all
 * flows at once take the whole phase only.
 * @param[in]     rate    Shape [n_flows]: offered rates; NULL unless the engine has `route`.
 * @param[in]     seed    Of this draw (flow labels, ideal hash, arrival).
 * @param[in,out] routes  Zero-initialised or from an earlier call; its memory is reused.
 * @retval FAB_EUNREACHABLE  a flow has no route; the message names the pair.
 * @retval FAB_EUNSUPPORTED  too many paths at once, the router splits, or the engine keeps no paths between switches
 * Complexity: O(sum of route lengths). Threads: concurrent calls on one router with different routes are safe.
 */
FAB_STATUS fab_route_flows(const fab_router *router, const fab_phase *phase, uint64_t first, uint32_t n,
                           const double *rate, uint64_t seed, fab_routes *routes, fab_error *err);

/**
 * One path from switch src_leaf[i] to the port of NIC dst_nic[i] in the first plane, for each i < n, between switches
 * only: what every flow that enters there takes under an engine that looks at the destination alone.
 */
FAB_STATUS fab_route_to_ports(const fab_router *router, uint32_t n, const fab_node_id *src_leaf,
                              const uint32_t *dst_nic, fab_routes *routes, fab_error *err);

/** All flows of a listed phase, under an engine that needs no rates. */
static inline FAB_MUST_USE fab_status fab_route_phase(const fab_router *router, const fab_phase *phase, uint64_t seed,
                                                      fab_routes *routes, fab_error *err) {
    return fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, NULL, seed, routes, err);
}
