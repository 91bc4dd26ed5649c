/**
 * An installed network as jobs use it: which hosts are servers, which adapter is which NIC of a server, which switch
 * stands in which tier, plane and pod, and what is left out and why. See src/doc/adr/0041-import.md.
 */
#pragma once

#include "fab/shape.h"

#define FAB_INSTALLED_PLANES 8
#define FAB_INSTALLED_TIERS  8
#define FAB_INSTALLED_SHOWN  3 /* names of each kind of what is left out */

typedef struct fab_structure_options {
    const char *format;        /**< NULL or "": recognised by content */
    uint64_t nics_per_server;  /**< 0: what most servers have */
    uint64_t hosts_per_switch; /**< hosts to add to every switch of a file that has none; 0: none */
    uint64_t cables;           /**< between two switches of a file that tells who is below whom alone; 0: one */
    uint64_t max_bytes;        /**< memory that may be taken; 0: no limit */
    bool is_fixed;             /**< nobody can set these: errors do not advise to */
    bool by_leaf;              /**< servers are numbered by their first leaf and port; else by name */
} fab_structure_options;

typedef enum fab_exclusion {
    FAB_EXCLUDED_SERVICES,   /**< aggregation nodes inside switches */
    FAB_EXCLUDED_MANAGEMENT, /**< hosts with at most half as many NICs as a server */
    FAB_EXCLUDED_NAMELESS,   /**< adapters without a host name, where others have one */
    FAB_EXCLUDED_UNPLUGGED,  /**< adapters and hosts without a cable to a switch */
    FAB_EXCLUDED_SURPLUS,    /**< adapters of a server beyond its NICs */
    FAB_EXCLUDED_DARK,       /**< switches that no server reaches */
    FAB_EXCLUDED_N
} fab_exclusion;

/** What is left out: how many, and some of their labels. */
typedef struct fab_excluded {
    uint32_t n;
    const char *name[FAB_INSTALLED_SHOWN];
} fab_excluded;

/** A switch. Tiers from 1; all 1 where it is no tree. */
typedef struct fab_structure_switch {
    uint32_t node; /**< of the installed network */
    uint32_t tier, plane;
    uint32_t pod;     /**< FAB_NETWORK_NONE: above the pods, or there are none */
    uint32_t n_used;  /**< ports with cables but those of services */
    uint32_t n_ports; /**< physical ones but those of services; 0: not known */
    uint32_t network; /**< parts that no cable joins are networks of their own, numbered from 0 */
} fab_structure_switch;

typedef struct fab_structure {
    fab_network *net;
    fab_shape shape;
    uint32_t n_servers, n_complete; /**< complete servers, with all NICs and cables, come first */
    uint32_t nics_per_server, n_planes;
    const char **server_name; /**< shape [n_servers]; not always unique */
    uint32_t
        *nic_node; /**< shape [n_servers][nics_per_server]: node of the installed network; FAB_NETWORK_NONE: empty */
    uint32_t *nic_side; /**< shape [n_servers][nics_per_server][n_planes]: cable end at the NIC;
                           FAB_NETWORK_NONE: no cable */
    uint32_t n_switches;
    fab_structure_switch *switches; /**< by tier, then by name */
    uint32_t *switch_of; /**< shape [nodes of the installed network]: index into switches, FAB_NETWORK_NONE */
    uint32_t n_tiers, n_pods, n_networks;
    bool is_tree; /**< every cable between switches leads from a tier to the next */
    uint32_t n_trunks;
    uint32_t *trunk;                 /**< shape [n_trunks]: cables between switches, by lower switch and port; a cable
                                        of a file that tells who is below whom alone may stand there several times */
    bool knows_rates, knows_lengths; /**< the file gives some */
    double nic_bps;                  /**< of all planes, as most NICs have it; 0: the file gives none */
    double cable_bps[FAB_INSTALLED_TIERS + 1]; /**< [tier]: rate that most cables below the switches of a tier have (2:
                                                  between switches, where it is no tree); 0: the file gives none */
    fab_excluded excluded[FAB_EXCLUDED_N];
    uint32_t domain_servers; /**< servers that share a scale-up domain, by the groups of the file; 0: it has none, or
                                they differ */
    double domain_bps;       /**< of all members into it, per direction; 0: not known */
    uint32_t n_added_hosts;  /**< hosts_per_switch */
    uint32_t n_split_ports;  /**< NICs that are one port each of adapters whose ports share a network */
} fab_structure;

/**
 * Reads a file and makes servers and tiers of it.
 * @param[out] out  Release with fab_structure_free().
 * @retval FAB_EINPUT  what is malformed; or it has no hosts, or no switches
 * @retval FAB_EUNSUPPORTED  a shape that no fabric here has
 * @retval FAB_ELIMIT  its boxes would take more than max_bytes
 * Complexity: O(bytes + n log n).
 */
FAB_STATUS fab_structure_read(const char *path, const fab_structure_options *options, fab_structure **out,
                              fab_error *err);

/**
 * Makes servers and tiers of an installed network that has been read.
 * @param[in,out] net  Taken; NULL afterwards, unless there is no memory.
 * @param[out]    out   Release with fab_structure_free().
 * @retval as fab_structure_read()
 */
FAB_STATUS fab_structure_of(fab_network **net, const fab_structure_options *options, fab_structure **out,
                            fab_error *err);
void fab_structure_free(fab_structure *installed);
FAB_OWNER(fab_structure, fab_structure_free)

/** Cables of which the file gives no rate; those of nodes inside switches are none. */
uint32_t fab_structure_unrated(const fab_structure *installed);

/** Lower end, then upper end, of a trunk: sides as in fab_shape. */
void fab_structure_trunk(const fab_structure *installed, uint32_t trunk, uint32_t out_side[2]);

/** Digest of the bytes of a file: 16 hexadecimal digits. @retval FAB_EIO  it cannot be read */
FAB_STATUS fab_network_digest(const char *path, char out[17], fab_error *err);

/** "aggregation nodes inside switches", ... of a kind. */
extern const char *const fab_exclusion_texts[FAB_EXCLUDED_N];
