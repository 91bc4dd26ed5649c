/**
 * Inside of fab_router, and what an engine is: one struct of callbacks in the static table of engines.c. To add one,
 * see routing/engines/README.md.
 */
#pragma once

#include "fab/routing.h"
#include "next_hops/next_hop_rows.h"

typedef struct fab_engine fab_engine;

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

/** The value of an option. */
typedef struct fab_option_value {
    const char *text;                    /**< as given, or the default */
    bool given;                          /**< written out, if only with its default */
    uint64_t number;                     /**< of a choice or count */
    uint64_t tier[FAB_FABRIC_TIERS + 1]; /**< [t], t >= 1: FAB_OPTION_TIERS */
} fab_option_value;

#define FAB_MOST_OPTIONS 10

/** A link that leaves a switch, as a walk reads it, in one look. */
typedef struct fab_step {
    fab_link_id link;
    uint32_t head; /**< switch index */
} fab_step;

/** A switch as a walk reads it: few words, for vectors look up one at a time. */
typedef struct fab_step_switch {
    uint32_t groups;     /**< group_at << 8 | modulo_slot of its tier << 5 | modulo_shift */
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
struct fab_router {
    fab_router_facts facts;
    const fab_engine *engine;
    char *text;                                /**< of the specification, cut into its options */
    fab_option_value option[FAB_MOST_OPTIONS]; /**< as the engine's options */
    const fab_fabric *fabric;
    const fab_next_hops *next_hops; /**< to choose among: minimal ones, or those of `groups` */
    const fab_next_hops *minimal;   /**< as given to fab_router_init() */
    fab_read_groups groups;         /**< that option tables= or engine file has read. Owned */
    const fab_next_hops *healthy;   /**< of the same fabric without dead links: the groups that resilient hashing keeps;
                                       NULL: the same as next_hops. Borrowed, set by the caller after init */
    const uint64_t *dead_link; /**< set over links, those of NICs as well, that `route` avoids; NULL: none is dead. As
                                  healthy */
    fab_ports ports;
    uint32_t queue_pairs;                   /**< paths per flow and NIC */
    uint32_t port_stride;                   /**< destination number = leaf * port_stride + port - 1 */
    uint64_t divisor[FAB_FABRIC_TIERS + 1]; /**< [t]: product of the parents of tiers below t (D-mod-K) */
    bool by_capacity;                       /**< groups are weighted by the capacity of their links (ecmp) */
    bool resilient;                         /**< only flows of dead members move (ecmp) */
    bool has_seed;                          /**< option seed= was given: draws start there and not at that of the run */
    uint64_t seed;
    double weight_unit_bps; /**< largest rate that divides the capacity of every fabric link */
    /* Where every choice is (value[slot of the tier] >> shift of the tier) modulo the next hops: set by prepare, so
     * that many paths are walked at once without asking the engine. */
    bool is_modulo;
    bool is_modulo_healthy; /**< the same, where no member of the group is dead: also with resilient hashing */
    bool divides;           /**< some group has no power of two of next hops */
    bool gathers;           /**< paths are walked by vectors, with the same outcome: see fab_cpu_gathers() */
    uint8_t modulo_slot[FAB_FABRIC_TIERS + 1], modulo_shift[FAB_FABRIC_TIERS + 1]; /**< [tier] */
    uint8_t *switch_tier;                                                          /**< shape [n_switches] */
    struct fab_step_switch *step_switch; /**< shape [n_switches]; modulo engines */
    uint32_t n_values;                   /**< modulo_slots of all tiers are below */
    uint32_t *step_group;                /**< next_hops->group: first << FAB_STEP_COUNT_BITS | count */
    uint32_t *step_slot;                 /**< next_hops->slot, as words */
    struct fab_step *step; /**< shape [links of switches], as fabric->out_link from its first switch; modulo engines */
    struct fab_port_end *end; /**< shape [n_gpus]: where GPUs are plugged in; NULL unless each has one NIC in one plane
                                 and none relays for another */
    const uint8_t *unreached; /**< shape [destinations]: 1 where tables from a file hand packets over nowhere, not even
                                 on the leaf; NULL: no such. The engine's */
    void *state;              /**< the engine's own */
    bool borrows;             /**< made by fab_router_over(): nothing to release */
};

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
    fab_on_loss on_loss;              /**< when links die; of a router: its facts */
    size_t state_size;                /**< bytes of plain, zeroed data */
    /** Once per router, when all options and the router's own fields are set: checks the options together, derives
     * tables and fills what the router's facts have of this engine alone. May be NULL. */
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

/** Weights of a group of next_hops as they were read from a file; NULL where none has any. */
static inline const double *fab_read_weights(const fab_router *router, const fab_next_hop_list *next) {
    return router->groups.weight != NULL ? router->groups.weight + (next->slot - router->next_hops->slot) : NULL;
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

/** As fab_router_new(), in place. Release with fab_router_release(). */
FAB_STATUS fab_router_init(const fab_engine_spec *spec, const fab_fabric *fabric, const fab_next_hops *next_hops,
                           fab_router *out, fab_error *err);
void fab_router_release(fab_router *router);
