/**
 * @file site_internal.h
 * The readers, one file each; their order in site_formats.c is that in which they are asked.
 */
#ifndef FAB_SITE_INTERNAL_H
#define FAB_SITE_INTERNAL_H

#include "fab/site.h"
#include "fab/text.h"

/** Up to 16 digits, either case; false where it is none. */
bool fab_site_hexadecimal(fab_token t, uint64_t *out);

/** "SW", "CA" or "RT", maybe with "-SM" behind. */
bool fab_site_ib_kind(fab_token t, fab_site_kind *out);

/** A file that is read line by line. */
typedef struct fab_site_lines {
    fab_text *in;
    fab_site *site;
} fab_site_lines;

/** Reads a list of the ends of cables, every cable told by both: `read_line` is called for each line. */
fab_status fab_site_read_ends(const char *path, fab_site *site,
                              fab_status (*read_line)(const fab_site_lines *lines, fab_error *err),
                              fab_error *err) FAB_MUST_USE;

/** "4xNDR" to lanes and bit/s, or ibsim's "w=4" to lanes alone; false, and nothing written, where it is neither. */
bool fab_site_ib_rate(const char *text, size_t n, uint32_t *out_width, double *out_bps);

/**
 * Kind and description of an InfiniBand node: label, and of an adapter the host that "host HCA-6" and "host mlx5_5"
 * name. An aggregation node (SHARP) is a service of its switch.
 */
fab_status fab_site_ib_describe(fab_site *site, uint32_t node, fab_site_kind kind, const char *text, size_t n,
                                fab_error *err) FAB_MUST_USE;

/** Whether a description names a server, "host HCA-6" or "host mlx5_5": then a node that is called so is its adapter.
 */
fab_status fab_site_ib_host(fab_site *site, uint32_t node, fab_error *err) FAB_MUST_USE;

extern const fab_site_format fab_site_ibports, fab_site_ibnet, fab_site_subnet, fab_site_csv, fab_site_slurm,
    fab_site_ptm_dot, fab_site_graphml;
extern const fab_site_format fab_site_htsim, fab_site_simai;

#endif
