/**
 * @file site_write.h
 * A site as a file that another tool reads: lists of cables, wiring plans, schedulers' topologies.
 * See src/doc/adr/0042-wiring-files.md.
 */
#ifndef FAB_SITE_WRITE_H
#define FAB_SITE_WRITE_H

#include "fab/shape.h"

#include <stdio.h>

typedef struct fab_site_writer {
    const char *name;   /**< "cables", "ptm", "slurm-tree", ... */
    const char *suffix; /**< of files that it is chosen by: ".clab.yml" */
    const char *summary;
    /** @retval FAB_EUNSUPPORTED  the format cannot say what this site is; nothing was written */
    fab_status (*write)(const fab_shape *shape, FILE *out, fab_error *err);
} fab_site_writer;

extern const fab_site_writer fab_site_cables, fab_site_ptm, fab_site_slurm_tree, fab_site_slurm_block,
    fab_site_containerlab;

/** Ended by NULL. A new one: a file write_NAME.c, a row in site_writers.c, and one in the formats of reports. */
extern const fab_site_writer *const fab_site_writers[];

/**
 * Writes a site and flushes.
 * @param[in] site    Kinds that nobody told are filled in.
 * @retval FAB_EUNSUPPORTED  the format cannot say what this site is
 * @retval FAB_EIO           a write failed
 * Complexity: O(nodes log nodes + cables log cables).
 */
fab_status fab_site_write(const fab_site_writer *writer, fab_site *site, FILE *out, fab_error *err) FAB_MUST_USE;

#endif
