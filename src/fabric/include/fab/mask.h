/**
 * What has failed: components by name, and the mask that they put over a frozen fabric. See
 * src/doc/adr/0031-failures.md.
 */
#pragma once

#include "fab/fabric.h"

typedef enum fab_component_kind {
    FAB_COMPONENT_LINK,   /**< a cable of the network, both directions; id: either of its links */
    FAB_COMPONENT_PORT,   /**< one end of a cable, which takes the cable with it; id: the link that leaves there */
    FAB_COMPONENT_SWITCH, /**< id: index among the switches */
    FAB_COMPONENT_NIC,    /**< id: index among the NICs */
    FAB_COMPONENT_GPU,    /**< id: index among the GPUs */
    FAB_COMPONENT_SERVER, /**< with its GPUs and NICs */
    FAB_COMPONENT_RACK,   /**< with its servers and switches */
    FAB_COMPONENT_PLANE,  /**< all its switches */
    FAB_COMPONENT_N_KINDS
} fab_component_kind;

/** "link", "port", "switch", "nic", "gpu", "server", "rack", "plane". */
extern const char *const fab_component_kinds[FAB_COMPONENT_N_KINDS];

/** Something that is dead, or slower than it was built. */
typedef struct fab_component {
    fab_component_kind kind;
    uint32_t id;
    double fraction; /**< of the capacity of its links that is residual: 0 is dead, below 1 */
} fab_component;

/** What a refusal says where no floor plan is the design's own: one that is assumed for lengths would be believed. */
#define FAB_NO_FLOOR                                                                                                   \
    "racks are not known without a floor plan, and one that a report assumes names none: --set "                       \
    "floor.servers-per-rack=4, or another floor.*, says it"

/** Which rack what stands in; of a floor plan. */
typedef struct fab_racks {
    uint32_t n_racks;            /**< 0: there is no floor plan, and racks cannot fail */
    uint32_t servers_per_rack;   /**< servers fill racks from rack 0 on */
    const uint32_t *switch_rack; /**< shape [n_switches]. Borrowed */
    uint32_t n_full;             /**< racks that hold as many; those behind them one fewer. 0: all */
} fab_racks;

/** Rack of a server. */
static inline uint32_t fab_racks_of_server(const fab_racks *racks, uint32_t server) {
    uint64_t first = (uint64_t)racks->n_full * racks->servers_per_rack;
    return racks->n_full == 0 || server < first
               ? server / racks->servers_per_rack
               : racks->n_full + (uint32_t)(server - first) / (racks->servers_per_rack - 1);
}

#define FAB_COMPONENT_NAME_SIZE (FAB_LINK_NAME_SIZE + 32)

/** How many components of a kind a fabric has. Of links, cables; of ports, ends of cables of the network. */
uint32_t fab_component_count(const fab_fabric *fabric, const fab_racks *racks, fab_component_kind kind);

/**
 * Component of a name, as reports print them: "leaf-3", "nic-7", "gpu-0", "leaf-0:17 > spine-0:1" (a link), "leaf-0:17"
 * (a port), "server-4", "rack-2", "plane-1"; with "*0.5" behind it, half of its capacity is left.
 * @param[in]  racks  NULL: none.
 * @retval FAB_EINPUT  there is no such component, or it is none of the network; the message says which there are. Or
 *                     what is left is no number from 0 to below 1.
 * @retval FAB_EUNSUPPORTED  a scale-up domain, which does not fail as one
 */
FAB_STATUS fab_component_parse(const fab_fabric *fabric, const fab_racks *racks, const char *text, fab_component *out,
                               fab_error *err);

/** Its name, which reads back. `out` holds FAB_COMPONENT_NAME_SIZE bytes. Returns out. */
const char *fab_component_name(const fab_fabric *fabric, const fab_component *component, char *out);
#define FAB_SAY_COMPONENT(f, c) fab_component_name((f), (c), (char[FAB_COMPONENT_NAME_SIZE]){""})

/**
 * @retval FAB_EINPUT  no such component, or no such fraction; the message says which there are.
 */
FAB_STATUS fab_component_check(const fab_fabric *fabric, const fab_racks *racks, const fab_component *component,
                               fab_error *err);

/** The residual fabric. Setting another one costs as much as it and the one before touch. */
typedef struct fab_mask {
    const fab_fabric *fabric; /**< borrowed */
    fab_racks racks;
    uint64_t *dead_link; /**< bit set over links, those inside servers too */
    double *residual;  /**< shape [n_links]: fraction of the capacity: 0 dead, 1 healthy. Where several components share
                      a link, the least stays */
    uint32_t n_links;  /**< that are not healthy */
    fab_link_id *link; /**< shape [n_links] */
    uint64_t *dead_node; /**< bit set over nodes: GPUs, NICs and switches */
    uint32_t n_nodes;
    fab_node_id *node;  /**< shape [n_nodes]: those */
    uint32_t n_servers; /**< that are dead as a whole */
    uint32_t *server;   /**< shape [n_servers] */
} fab_mask;

/**
 * A mask of nothing.
 * @param[in]  fabric  Borrowed, must outlive the mask, as what `racks` (may be NULL) points to.
 * @param[out] out     Release with fab_mask_release().
 */
FAB_STATUS fab_mask_init(const fab_fabric *fabric, const fab_racks *racks, fab_mask *out, fab_error *err);
void fab_mask_release(fab_mask *mask);

/**
 * Replaces what the mask holds. Components may repeat and overlap.
 * @param[in] components  Shape [n].
 * @retval FAB_EINPUT  as fab_component_check(); the mask is then empty.
 * Complexity: O(links of the components, and of those before); racks and planes also O(switches).
 */
FAB_STATUS fab_mask_set(fab_mask *mask, const fab_component *components, size_t n, fab_error *err);

static inline bool fab_mask_link_is_dead(const fab_mask *mask, fab_link_id link) {
    return (mask->dead_link[link >> 6] >> (link & 63) & 1) != 0;
}
static inline bool fab_mask_node_is_dead(const fab_mask *mask, fab_node_id node) {
    return (mask->dead_node[node >> 6] >> (node & 63) & 1) != 0;
}
