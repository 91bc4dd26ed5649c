/**
 * @file site_internal.h
 * The readers, one file each; their order in site_formats.c is that in which they are asked.
 */
#ifndef FAB_SITE_INTERNAL_H
#define FAB_SITE_INTERNAL_H

#include "fab/site.h"

/** "4xNDR" to lanes and bit/s, or ibsim's "w=4" to lanes alone; false, and nothing written, where it is neither. */
bool fab_site_ib_rate(const char *text, size_t n, uint32_t *out_width, double *out_bps);

/**
 * Kind and description of an InfiniBand node: label, and of an adapter the host that "host HCA-6" and "host mlx5_5"
 * name. An aggregation node (SHARP) is a service of its switch.
 */
fab_status fab_site_ib_describe(fab_site *site, uint32_t node, fab_site_kind kind, const char *text, size_t n,
                                fab_error *err) FAB_MUST_USE;

extern const fab_site_format fab_site_ibports, fab_site_ibnet, fab_site_csv, fab_site_slurm;
extern const fab_site_format fab_site_htsim, fab_site_simai;

#endif
