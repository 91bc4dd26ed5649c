/** Builds a fabric: sizes first, then cables, then freeze. Used by topologies/ and by the readers of foreign graphs. */
#pragma once

#include "fab/fabric.h"

typedef struct fab_builder_sizes {
    uint32_t n_gpus, n_nics, n_domains;
    uint32_t n_tiers;
    uint32_t n_switches[FAB_FABRIC_TIERS + 1]; /**< [t], t = 1 ... n_tiers */
    uint64_t n_cables;                         /**< exactly as many as will be added */
} fab_builder_sizes;

typedef struct fab_builder fab_builder;

FAB_STATUS fab_builder_new(const fab_builder_sizes *sizes, fab_builder **out, fab_error *err);
void fab_builder_free(fab_builder *builder);
FAB_OWNER(fab_builder, fab_builder_free)

/** The fabric under construction, to fill in the scalar fields and the switch arrays. Its node ranges are set, and it
 * is a tree with as many boundaries as tiers. */
fab_fabric *fab_builder_fabric(fab_builder *builder);

/** Index of the class, added if it is new. */
FAB_STATUS fab_builder_class(fab_builder *builder, const fab_link_class *link_class, uint16_t *out_class,
                             fab_error *err);

/** The same of a fabric that is not handed out yet, among its classes from `first` on. */
FAB_STATUS fab_class_add(fab_fabric *fabric, const fab_link_class *link_class, uint16_t first, size_t *capacity,
                         uint16_t *out_class, fab_error *err);

/** Adds a cable between port `lower_port` of `lower` and `upper_port` of `upper`; ports from 1. */
void fab_builder_cable(fab_builder *builder, uint16_t link_class, fab_node_id lower, uint32_t lower_port,
                       fab_node_id upper, uint32_t upper_port);

/**
 * Freezes: builds the adjacency, checks that no port of a switch is used twice or lies beyond its radix, that the
 * number of cables is the one announced and that no end is outside the graph. Hands the fabric over and frees the
 * builder.
 * @retval FAB_EINTERNAL  an invariant does not hold; the message names the switch and port.
 */
FAB_STATUS fab_builder_freeze(fab_builder **builder, fab_fabric **out, fab_error *err);
