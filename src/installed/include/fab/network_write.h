/**
 * An installed network as a file that another tool reads: lists of cables, wiring plans, schedulers' topologies.
 * See src/doc/adr/0042-wiring-files.md.
 */
#pragma once

#include "fab/shape.h"

typedef struct fab_network_writer {
    const char *name;   /**< "cables", "ptm", "slurm-tree", ... */
    const char *suffix; /**< of files that it is chosen by: ".clab.yml" */
    const char *summary;
    /** @retval FAB_EUNSUPPORTED  the format cannot say what this network is; nothing was written */
    fab_status (*write)(const fab_shape *shape, FILE *out, fab_error *err);
} fab_network_writer;

extern const fab_network_writer fab_network_cables, fab_network_ptm, fab_network_slurm_tree, fab_network_slurm_block,
    fab_network_slurm_tree_yaml, fab_network_containerlab, fab_network_netbox_csv, fab_network_sonic, fab_network_frr,
    fab_network_topograph_model, fab_network_kueue;

/** Ended by NULL. A new one: a file write_NAME.c, a row in network_writers.c, and one in the formats of reports. */
extern const fab_network_writer *const fab_network_writers[];

/**
 * Writes an installed network and flushes.
 * @param[in] net    Kinds that nobody told are filled in.
 * @retval FAB_EUNSUPPORTED  the format cannot say what this network is
 * @retval FAB_EIO           a write failed
 * Complexity: O(nodes log nodes + cables log cables).
 */
FAB_STATUS fab_network_write(const fab_network_writer *writer, fab_network *net, FILE *out, fab_error *err);
