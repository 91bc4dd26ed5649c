/** The readers, one file each; their order in network_formats.c is that in which they are asked. */
#pragma once

#include "fab/network.h"
#include "fab/text.h"

/** "SW", "CA" or "RT", maybe with "-SM" behind. */
bool fab_network_ib_kind(fab_token t, fab_network_kind *out);

/** Counts what a reader passes over, and says what that is. FAB_OK. */
fab_status fab_network_leave_out(fab_network *net, uint64_t n, const char *what);

/** Whether a port has a cable already. O(1) expected. */
bool fab_network_is_plugged(const fab_network *net, uint32_t node, const char *port);

/** A file that is read line by line. */
typedef struct fab_network_lines {
    fab_text *in;
    fab_network *net;
} fab_network_lines;

/** Reads a list of the ends of cables, every cable told by both: `read_line` is called for each line. */
FAB_STATUS fab_network_read_ends(fab_text *in, fab_network *net,
                                 fab_status (*read_line)(const fab_network_lines *lines, fab_error *err),
                                 fab_error *err);

/** "4xNDR" to lanes and bit/s, or ibsim's "w=4" to lanes alone; false, and nothing written, where it is neither. */
bool fab_network_ib_rate(const char *text, size_t n, uint32_t *out_width, double *out_bps);

/** The same of "4x" and gigabits of a lane, as data ("25", "NDR") or as it signals ("25.78125"). */
bool fab_network_ib_speed(fab_token width, fab_token speed, uint32_t *out_width, double *out_bps);

/** Whether a line is none of a dump: a prompt with its command, a warning of the libraries that tools print beside. */
bool fab_network_is_chatter(const fab_text *in);

/** Whether a description is of an adapter, "host HCA-6", "host mlx5_5" or "host/nic-5". */
bool fab_network_ib_names_host(const char *label);

/**
 * Kind and description of an InfiniBand node: label, and of an adapter the host that it names. An aggregation node
 * (SHARP) is a service of its switch.
 */
FAB_STATUS fab_network_ib_describe(fab_network *net, uint32_t node, fab_network_kind kind, const char *text, size_t n,
                                   fab_error *err);

/** Whether a description names a server, as of an adapter: then a node that is called so is one. */
FAB_STATUS fab_network_ib_host(fab_network *net, uint32_t node, fab_error *err);

/* What may stand behind the name of a format: "cables,a-node=From,z-node=To,exclude=mgmt-*". */

/** Whether a text is the name of a format, NAME of "NAME,...". */
bool fab_network_format_is(const fab_network_format *f, const char *format);

/** Leaves out what `exclude` says, and keeps what lists of cables call their columns. */
FAB_STATUS fab_network_exclude(fab_network *net, const char *format, fab_error *err);

/**
 * The value of a key, the `again`-th of several: its length in *out_n; NULL: there is none. A comma ends it; "\\," is
 * one within.
 */
const char *fab_network_format_value(const char *format, const char *key, size_t again, size_t *out_n);

extern const fab_network_format fab_network_ibports, fab_network_ibnet, fab_network_subnet, fab_network_csv,
    fab_network_slurm, fab_network_ptm_dot, fab_network_graphml;
extern const fab_network_format fab_network_htsim, fab_network_simai;
extern const fab_network_format fab_network_lldp, fab_network_lldpctl, fab_network_config_db, fab_network_netbox,
    fab_network_layer1, fab_network_node_link, fab_network_lab, fab_network_topograph, fab_network_slurm_yaml;
extern const fab_network_format fab_network_iblinkinfo, fab_network_net_dump, fab_network_ufm, fab_network_minigraph,
    fab_network_snmp, fab_network_gexf;
