/**
 * @file installed.h
 * A site as jobs use it: which hosts are servers, which adapter is which NIC of a server, which switch stands in which
 * tier, plane and pod, and what is left out and why. See src/doc/adr/0041-import.md.
 */
#ifndef FAB_INSTALLED_H
#define FAB_INSTALLED_H

#include "fab/shape.h"

#define FAB_INSTALLED_PLANES 8
#define FAB_INSTALLED_TIERS  8
#define FAB_INSTALLED_SHOWN  3 /* names of each kind of what is left out */

typedef struct fab_installed_options {
    const char *format;        /**< NULL or "": recognised by content */
    uint64_t nics_per_server;  /**< 0: what most servers have */
    uint64_t hosts_per_switch; /**< hosts to add to every switch of a file that has none; 0: none */
    uint64_t cables;           /**< between two switches of a file that tells who is below whom alone; 0: one */
    bool by_leaf;              /**< servers are numbered by their first leaf and port; else by name */
} fab_installed_options;

typedef enum fab_left_out {
    FAB_LEFT_SERVICES,   /**< aggregation nodes inside switches */
    FAB_LEFT_MANAGEMENT, /**< hosts with at most half as many NICs as a server */
    FAB_LEFT_NAMELESS,   /**< adapters without a host name, where others have one */
    FAB_LEFT_UNPLUGGED,  /**< adapters and hosts without a cable to a switch */
    FAB_LEFT_SURPLUS,    /**< adapters of a server beyond its NICs */
    FAB_LEFT_DARK,       /**< switches that no server reaches */
    FAB_LEFT_N
} fab_left_out;

/** What is left out: how many, and some of their labels. */
typedef struct fab_left {
    uint32_t n;
    const char *name[FAB_INSTALLED_SHOWN];
} fab_left;

/** A switch. Tiers from 1; all 1 where it is no tree. */
typedef struct fab_installed_switch {
    uint32_t node; /**< of the site */
    uint32_t tier, plane;
    uint32_t pod;     /**< FAB_SITE_NONE: above the pods, or there are none */
    uint32_t n_used;  /**< ports with cables but those of services */
    uint32_t n_ports; /**< physical ones but those of services; 0: not known */
    uint32_t network; /**< parts that no cable joins are networks of their own, numbered from 0 */
} fab_installed_switch;

typedef struct fab_installed {
    fab_site *site;
    fab_shape shape;
    uint32_t n_servers, n_whole; /**< whole servers, with all NICs and cables, come first */
    uint32_t nics_per_server, n_planes;
    const char **server_name; /**< shape [n_servers]; not always unique */
    uint32_t *nic_node;       /**< shape [n_servers][nics_per_server]: node of the site; FAB_SITE_NONE: empty */
    uint32_t *nic_side;       /**< shape [n_servers][nics_per_server][n_planes]: cable end at the NIC;
                                 FAB_SITE_NONE: no cable */
    uint32_t n_switches;
    fab_installed_switch *switches; /**< by tier, then by name */
    uint32_t *switch_of;            /**< shape [nodes of the site]: index into switches, FAB_SITE_NONE */
    uint32_t n_tiers, n_pods, n_networks;
    bool is_tree; /**< every cable between switches leads from a tier to the next */
    uint32_t n_trunks;
    uint32_t *trunk;                 /**< shape [n_trunks]: cables between switches, by lower switch and port; a cable
                                        of a file that tells who is below whom alone may stand there several times */
    bool knows_rates, knows_lengths; /**< the file gives some */
    double nic_bps;                  /**< of all planes, as most NICs have it; 0: the file gives none */
    double cable_bps[FAB_INSTALLED_TIERS + 1]; /**< [tier]: rate that most cables below the switches of a tier have (2:
                                                  between switches, where it is no tree); 0: the file gives none */
    fab_left left[FAB_LEFT_N];
    uint32_t domain_servers; /**< servers that share a scale-up domain, by the groups of the file; 0: it has none, or
                                they differ */
    double domain_bps;       /**< of all members into it, per direction; 0: not known */
    uint32_t n_added_hosts;  /**< hosts_per_switch */
    uint32_t n_split_ports;  /**< NICs that are one port each of adapters whose ports share a network */
} fab_installed;

/**
 * Reads a file and makes servers and tiers of it.
 * @param[out] out  Release with fab_installed_free().
 * @retval FAB_EINPUT  what is malformed; or it has no hosts, or no switches
 * @retval FAB_EUNSUPPORTED  a shape that no fabric here has
 * Complexity: O(bytes + n log n).
 */
fab_status fab_installed_read(const char *path, const fab_installed_options *options, fab_installed **out,
                              fab_error *err) FAB_MUST_USE;

/**
 * Makes servers and tiers of a site that has been read.
 * @param[in,out] site  Taken; NULL afterwards, unless there is no memory.
 * @param[out]    out   Release with fab_installed_free().
 * @retval as fab_installed_read()
 */
fab_status fab_installed_of(fab_site **site, const fab_installed_options *options, fab_installed **out,
                            fab_error *err) FAB_MUST_USE;
void fab_installed_free(fab_installed *installed);

/** Lower end, then upper end, of a trunk: sides as in fab_shape. */
void fab_installed_trunk(const fab_installed *installed, uint32_t trunk, uint32_t out_side[2]);

/** Digest of the bytes of a file: 16 hexadecimal digits. @retval FAB_EIO  it cannot be read */
fab_status fab_site_digest(const char *path, char out[17], fab_error *err) FAB_MUST_USE;

/** "aggregation nodes inside switches", ... of a kind. */
extern const char *const fab_left_out_texts[FAB_LEFT_N];

#endif
