/**
 * @file routing.h
 * Routing engines: the flows of a phase to routes. One struct of callbacks per engine in a static table (engines.c);
 * to add one, see routing/engines/README.md.
 */
#ifndef FAB_ROUTING_H
#define FAB_ROUTING_H

#include "fab/design.h"
#include "fab/fabric.h"
#include "fab/next_hops.h"
#include "fab/status.h"
#include "fab/traffic.h"

/**
 * Routes of a phase: every flow is split over paths of equal weight (its queue pairs). Reusable: routing again keeps
 * the memory. A path holds all directed links from GPU to GPU, scale-up and PCIe included.
 */
typedef struct fab_routes {
    uint32_t n_flows;
    uint32_t *flow_first;  /**< shape [n_flows + 1]: paths of flow f */
    bool between_switches; /**< set by the caller: only fabric links are kept */
    bool wants_groups;     /**< set by the caller: `group` is to be filled, where it can be */
    size_t *path_first;    /**< shape [n_paths + 1]: links of path p are link[path_first[p] ... ) */
    fab_link_id *link;     /**< shape [path_first[n_paths]] */
    uint32_t *group; /**< the same shape: group of next_hops, by its number, that the link was chosen from; of plain
                        engines in a tree, between switches only, where it is wanted, else NULL */
    size_t flow_capacity, path_capacity, link_capacity, group_capacity;
} fab_routes;

void fab_routes_release(fab_routes *routes);

/**
 * The paths in use while every flow sends over queue pair `round` of `n_rounds` alone; a flow with fewer paths keeps
 * them all.
 * @param[in,out] out  Zero-initialised or from an earlier call; its memory is reused.
 */
fab_status fab_routes_of_round(const fab_routes *all, uint32_t round, uint32_t n_rounds, fab_routes *out,
                               fab_error *err) FAB_MUST_USE;

typedef struct fab_engine fab_engine;
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
    uint32_t n_cut;           /**< entries of nic_access without a cable: of installed fabrics alone */
} fab_ports;

fab_status fab_ports_init(const fab_fabric *fabric, fab_ports *out, fab_error *err) FAB_MUST_USE;
void fab_ports_release(fab_ports *ports);

/**
 * Whether the GPUs of a phase have their ways into the network.
 * @retval FAB_EUNREACHABLE  a flow leaves or enters through a NIC without a cable; the message names it
 * Complexity: O(1) where every NIC has its cables, else O(flows), of an all-to-all O(GPUs).
 */
fab_status fab_ports_check(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *phase,
                           fab_error *err) FAB_MUST_USE;

/**
 * NICs through which a flow leaves and enters: those of its GPUs, or of the GPU that hands it over between rails.
 * @param[in]  nic          Which of the GPUs' NICs: 0 ... nics_per_gpu - 1.
 * @param[out] out_src_nic  Index among the NICs; FAB_NONE, as *out_dst_nic, for a flow inside a scale-up domain.
 */
fab_status fab_flow_nics(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t nic,
                         uint32_t *out_src_nic, uint32_t *out_dst_nic, fab_error *err) FAB_MUST_USE;

#define FAB_FLOW_LEG_LINKS 8

/**
 * Links that every route of a part of a flow has: those that no switch chooses.
 * @param[in]  part  nic + nics_per_gpu * plane.
 * @param[out] out   FAB_FLOW_LEG_LINKS entries.
 * @return their number; 0 where rails differ and nobody hands over
 */
uint32_t fab_flow_legs(const fab_fabric *fabric, const fab_ports *ports, uint32_t src, uint32_t dst, uint32_t part,
                       fab_link_id *out);

/** What a switch sees of a packet, and what the engine derived from it once per path. */
typedef struct fab_hop_key {
    uint32_t src_nic, dst_nic; /**< index among the NICs */
    uint32_t ordinal;          /**< of the flow among those of its pair of GPUs */
    uint32_t queue_pair;
    uint32_t destination;             /**< number of the destination port, leaf by leaf */
    uint64_t hash;                    /**< set by begin: a draw of this path */
    uint32_t value[FAB_FABRIC_TIERS]; /**< set by begin: hashes that the engine's tiers look at */
} fab_hop_key;

/** A choice to make. */
typedef struct fab_hop {
    fab_node_id node;
    uint32_t tier;
    uint32_t leaf;          /**< column of the destination leaf */
    uint32_t count;         /**< of next, >= 1 */
    fab_next_hop_list next; /**< equal-cost next hops */
} fab_hop;

/** A link that leaves a switch, as a walk reads it, in one look. */
typedef struct fab_step {
    fab_link_id link;
    uint32_t head; /**< switch index */
} fab_step;

/** A switch as a walk reads it: few words, for vectors look up one at a time. */
typedef struct fab_step_switch {
    uint32_t groups;     /**< group_at << 8 | plain_slot of its tier << 5 | plain_shift */
    uint32_t first_step; /**< link 0 */
} fab_step_switch;

#define FAB_STEP_COUNT_BITS 12

/** Groups of next hops that were read from a file of tables (fab/tables.h). They need not be minimal, do not loop
 * and have no dead ends. */
typedef struct fab_read_groups {
    fab_next_hops *next_hops; /**< NULL: nothing was read. Groups of equal members and other weights differ */
    double *weight; /**< shape [next_hops->slot], where groups share no lists: as written, above 0; 0 in a group without
                       weights. NULL: no group has any */
    bool is_minimal; /**< every member comes one nearer to the destination */
    fab_dag *dag;    /**< of next_hops, in a router that splits; else NULL */
} fab_read_groups;

/** The one port of a GPU into the network. */
typedef struct fab_port_end {
    uint32_t nic;         /**< index among the NICs */
    uint32_t leaf;        /**< switch index */
    uint32_t column;      /**< of the leaf */
    uint32_t destination; /**< number of the port, leaf by leaf */
    uint32_t domain;      /**< scale-up domain; a number of its own where there is none */
    fab_link_id pcie, up; /**< GPU -> NIC, NIC -> leaf */
    uint32_t port;        /**< on the leaf */
} fab_port_end;

/** An engine with its options, ready for one fabric. Read-only while routing. */
typedef struct fab_router {
    const fab_engine *engine;
    const fab_fabric *fabric;
    const fab_next_hops *next_hops; /**< to choose among: minimal ones, or those of `groups` */
    const fab_next_hops *minimal;   /**< as given to fab_router_init() */
    fab_read_groups groups;         /**< that option tables= or engine file has read. Owned */
    const fab_next_hops *healthy;   /**< of the same fabric without dead links: the groups that resilient hashing keeps;
                                       NULL: the same as next_hops. Borrowed, set by the caller after init */
    fab_ports ports;
    uint32_t queue_pairs;                   /**< paths per flow and NIC */
    uint32_t port_stride;                   /**< destination number = leaf * port_stride + port - 1 */
    uint64_t divisor[FAB_FABRIC_TIERS + 1]; /**< [t]: product of the parents of tiers below t (D-mod-K) */
    uint32_t n_rounds; /**< 1: a flow uses its queue pairs at once; else they take turns, one in each round */
    bool by_capacity;  /**< groups are weighted by the capacity of their links (ecmp) */
    bool resilient;    /**< only flows of dead members move (ecmp) */
    uint32_t given;    /**< bit i: option i of the engine was written out */
    bool has_seed;     /**< option seed= was given: draws start there and not at that of the run */
    uint64_t seed;
    double weight_unit_bps;    /**< largest rate that divides the capacity of every fabric link */
    bool reorders;             /**< packets of a flow take several paths: the receiver's window limits the rate */
    double window_bytes;       /**< that a receiver holds per flow to put packets in order */
    double queueing_s;         /**< allowance for queues, added to the round trip */
    bool draws_per_queue_pair; /**< queue pairs of a flow hash differently (engines that hash) */
    char label[FAB_ENGINE_LABEL_SIZE]; /**< "ecmp,hash=crc32,qp=16": name and options; `quiet` ones only where they
                        differ from the default */
    bool splits; /**< switches split what they hold: the engine's `split` is to be asked, there are no routes */
    /* Where every choice is (value[slot of the tier] >> shift of the tier) modulo the next hops: set by prepare, so
     * that many paths are walked at once without asking the engine. */
    bool is_plain;
    bool is_plain_whole; /**< the same, where no member of the group is dead: also with resilient hashing */
    bool divides;        /**< some group has no power of two of next hops */
    bool gathers;        /**< paths are walked by vectors, with the same outcome: see fab_cpu_gathers() */
    uint8_t plain_slot[FAB_FABRIC_TIERS + 1], plain_shift[FAB_FABRIC_TIERS + 1]; /**< [tier] */
    uint8_t *switch_tier;                                                        /**< shape [n_switches] */
    struct fab_step_switch *step_switch; /**< shape [n_switches]; plain engines */
    uint32_t n_values;                   /**< plain_slots of all tiers are below */
    uint32_t *step_group;                /**< next_hops->group: first << FAB_STEP_COUNT_BITS | count */
    uint32_t *step_slot;                 /**< next_hops->slot, as words */
    struct fab_step *step; /**< shape [links of switches], as fabric->out_link from its first switch; plain engines */
    struct fab_port_end *end; /**< shape [n_gpus]: where GPUs are plugged in; NULL unless each has one NIC in one plane
                                 and none hands over for another */
    const uint8_t *unreached; /**< shape [destinations]: 1 where tables from a file hand packets over nowhere, not even
                                 on the leaf; NULL: no such. The engine's */
    void *state;              /**< the engine's own options */
} fab_router;

typedef struct fab_engine_option {
    const char *key, *value, *summary; /**< value: the default */
    bool quiet;                        /**< left out of the label while it has its default */
} fab_engine_option;

/** The DAG that a router splits over. `dag`: of its minimal next hops. */
static inline const fab_dag *fab_router_dag(const fab_router *router, const fab_dag *dag) {
    return router->groups.dag != NULL ? router->groups.dag : dag;
}

/** Whether next hops of a group may have different weights. */
static inline bool fab_router_weighs(const fab_router *router) {
    return router->by_capacity || router->groups.weight != NULL;
}

/** Weights of a group of next_hops as they were read from a file; NULL where none has any. */
static inline const double *fab_read_weights(const fab_router *router, const fab_next_hop_list *next) {
    return router->groups.weight != NULL ? router->groups.weight + (next->slot - router->next_hops->slot) : NULL;
}

/** Seed of the first draw, where a run starts at `run_seed`. */
static inline uint64_t fab_router_seed(const fab_router *router, uint64_t run_seed) {
    return router->has_seed ? router->seed : run_seed;
}

/**
 * Share of next hop i in its group, in whole units: as read from a file, else by the engine's rule.
 * @param[in] next  Of next_hops where groups come from a file.
 */
static inline uint32_t fab_next_hop_weight(const fab_router *router, const fab_next_hop_list *next, uint32_t i) {
    const double *read = fab_read_weights(router, next);
    if (read != NULL && read[i] > 0) {
        return (uint32_t)read[i];
    }
    return router->by_capacity ? (uint32_t)(fab_class_of(router->fabric, fab_next_hop(next, i))->capacity_bps /
                                                router->weight_unit_bps +
                                            0.5)
                               : 1;
}

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

/** "reconverge", "modulo", "resilient", "tables", "none". */
extern const char *const fab_on_loss_names[FAB_LOSS_N];

/** One row of the table in engines.c. */
struct fab_engine {
    const char *name;
    const char *summary;
    const fab_engine_option *options; /**< ended by a NULL key */
    bool seeded;                      /**< routes depend on the seed */
    bool hashes;                      /**< spreads flows by a hash, which can polarize */
    bool needs_tree;                  /**< refuses fabrics without tiers, where its choices mean nothing */
    bool by_destination;              /**< routes depend on the destination alone: they fit into forwarding tables; but
                                         in a router that splits */
    bool reorders;                    /**< packets of a flow take several paths, whatever the options */
    fab_on_loss on_loss;              /**< when links die; of a router: fab_router_on_loss() */
    size_t state_size;                /**< bytes of plain, zeroed data */
    /** Reads option `key`; FAB_EINPUT names the value and what is allowed. */
    fab_status (*set)(fab_router *router, const char *key, const char *value, fab_error *err);
    /** Once per router, when all options and the router's own fields are set: checks the options together and derives
     * tables. May be NULL. */
    fab_status (*prepare)(fab_router *router, fab_error *err);
    /** Frees what state points to, also after a failed prepare. May be NULL. */
    void (*release)(fab_router *router);
    /** Once per path: fills hash and value of keys 0 ... n - 1. May be NULL. */
    void (*begin)(const fab_router *router, uint64_t seed, fab_hop_key *keys, uint32_t n);
    /** Next hop from the engine's own tables, or FAB_NONE; they must not loop. NULL: minimal next hops and `pick`. */
    fab_link_id (*next)(const fab_router *router, fab_node_id v, const fab_hop_key *key);
    /** Index of the next hop to take, below hop->count. */
    uint32_t (*pick)(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key);
    /**
     * What made the choice, in words. `hop->count` is 0 where `next` made it. May be NULL, as where the two below
     * decide.
     * @param[out] out  One line, `size` bytes.
     * @return what the choice was made from: equal values choose alike from any group
     */
    uint64_t (*explain)(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key, char *out,
                        size_t size);
    /** Instead of begin, next and pick: routes all flows at once, where a path depends on the other flows. `rate`:
     * shape [n_flows], offered. */
    fab_status (*route)(const fab_router *router, const fab_phase *phase, const double *rate, uint64_t seed,
                        fab_routes *routes, fab_error *err);
    bool by_demand; /**< what `split` gives depends on the demand */
    /** Instead of all of these: how switches split what they hold. `dag` is fab_router_dag(). `known`: what
     * fab_bound_find() found for this demand by the method that fits, or NULL; saves an engine that needs it the
     * search.
     */
    fab_status (*split)(const fab_router *router, const fab_dag *dag, const fab_demand *demand, const fab_bound *known,
                        fab_split *out, fab_error *err);
};

extern const fab_engine *const fab_engines[]; /**< ended by NULL */

/**
 * Which part of `name[,key=value...]` is the path of a file that the engine reads.
 * @param[out] out_at, out_length  Written where there is one.
 */
bool fab_engine_path(const char *text, size_t *out_at, size_t *out_length);

/** Whether all paths are minimal for certain. */
static inline bool fab_router_is_minimal(const fab_router *router) {
    return router->groups.next_hops != NULL ? router->groups.is_minimal : router->engine->next == NULL;
}

/**
 * Makes a router from `name[,key=value...]`.
 * @param[in]  next_hops  Of this fabric. Borrowed, must outlive the router.
 * @retval FAB_EINPUT  unknown engine, key or value; err->where is spec->where. Or a file of tables is wrong; err->where
 *                     is its line and column.
 * @retval FAB_EUNSUPPORTED  the engine needs a tree and the fabric is none.
 */
fab_status fab_router_init(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                           fab_router *out, fab_error *err) FAB_MUST_USE;
void fab_router_release(fab_router *router);

/** The engine that a specification names, without its options; NULL: there is none. */
const fab_engine *fab_engine_of(const fab_engine_spec *spec);

/**
 * Routes flows first ... first + n - 1 of a phase; they are flows 0 ... n - 1 of the routes. Engines that route all
 * flows at once take the whole phase only.
 * @param[in]     rate    Shape [n_flows]: offered rates; NULL unless the engine has `route`.
 * @param[in]     seed    Of this draw (flow labels, ideal hash, arrival).
 * @param[in,out] routes  Zero-initialised or from an earlier call; its memory is reused.
 * @retval FAB_EUNREACHABLE  a flow has no route; the message names the pair.
 * @retval FAB_EUNSUPPORTED  too many paths at once, or the router splits
 * Complexity: O(sum of route lengths). Threads: concurrent calls on one router with different routes are safe.
 */
fab_status fab_route_flows(const fab_router *router, const fab_phase *phase, uint64_t first, uint32_t n,
                           const double *rate, uint64_t seed, fab_routes *routes, fab_error *err) FAB_MUST_USE;

/**
 * One path from switch src_leaf[i] to the port of NIC dst_nic[i] in the first plane, for each i < n, between switches
 * only: what every flow that enters there takes under an engine that looks at the destination alone.
 */
fab_status fab_route_to_ports(const fab_router *router, uint32_t n, const fab_node_id *src_leaf,
                              const uint32_t *dst_nic, fab_routes *routes, fab_error *err) FAB_MUST_USE;

/** All flows of a listed phase, under an engine that needs no rates. */
static inline FAB_MUST_USE fab_status fab_route_phase(const fab_router *router, const fab_phase *phase, uint64_t seed,
                                                      fab_routes *routes, fab_error *err) {
    return fab_route_flows(router, phase, 0, (uint32_t)phase->n_flows, NULL, seed, routes, err);
}

/** What this router does when links die: options and tables from a file change what its engine does. */
fab_on_loss fab_router_on_loss(const fab_router *router);

/** Groups of uplinks of a leaf by destination, of engine pinned; 0 of others. */
uint32_t fab_router_slices(const fab_router *router);

/** Paths that every flow between scale-up domains has. */
uint32_t fab_paths_per_flow(const fab_router *router);

#endif
