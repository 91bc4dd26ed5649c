/**
 * What switches of a routed fabric are told, the same for every system that runs on them: which port leads where,
 * addresses, numbers of autonomous systems. How: src/doc/adr/0098-switches.md.
 */
#pragma once

#include "structure/network_boxes.h"

#include "fab/str.h"

/** A cable as one of its switches sees it. */
typedef struct fab_switch_port {
    uint32_t box, far_box;
    uint32_t far;             /**< index of the same cable at the other end; FAB_NETWORK_NONE at a host */
    char name[FAB_BOX_PORT];  /**< as the network calls it, "swp17" of a number */
    char sonic[FAB_BOX_PORT]; /**< "Ethernet128" */
    char far_name[FAB_BOX_PORT];
    uint32_t number;  /**< from 1 */
    uint32_t address; /**< towards a host: of the switch; the host has the next one. Else 0 */
    uint32_t lane;    /**< towards SONiC: the first, and how many */
    uint32_t n_lanes;
    double rate_bps;
} fab_switch_port;

typedef struct fab_switch_plan {
    const fab_shape *shape; /**< borrowed */
    fab_boxes boxes;
    uint32_t n_ports;
    fab_switch_port *port; /**< [n_ports]: by box, then number */
    uint32_t *first;       /**< [boxes.n + 1] */
    uint32_t *loopback;    /**< [boxes.n]: address of a switch; 0 of a host */
    uint32_t *asn;         /**< [boxes.n] */
    uint32_t *width;       /**< [boxes.n]: equal paths that a switch may have towards a destination */
    uint32_t *block;       /**< [boxes.n]: the first address of the hosts of a switch; 0: it has none */
    unsigned block_bits;   /**< addresses of a block: 1 << block_bits */
} fab_switch_plan;

/**
 * @param[out] out  Release with fab_switch_plan_release().
 * @retval FAB_EUNSUPPORTED  a cable without a rate; more hosts or switches than there are addresses
 */
FAB_STATUS fab_switch_plan_make(const fab_shape *shape, fab_switch_plan *out, fab_error *err);
void fab_switch_plan_release(fab_switch_plan *plan);

/** "10.0.0.1" of 0x0a000001. `out` holds 16 bytes. Returns out. */
const char *fab_address_text(char *out, uint32_t address);

/** A file that each switch has. */
typedef struct fab_switch_file {
    const char *folder, *suffix; /**< in the archive: FOLDER/NAME.SUFFIX */
    const char *target;          /**< where the switch reads it */
    void (*put)(const fab_switch_plan *plan, uint32_t box, fab_str *out);
} fab_switch_file;

/** A system that switches run. */
typedef struct fab_switch_system {
    const char *kind, *image;  /**< of containerlab */
    fab_switch_file file[3];   /**< up to one without a folder */
    const char *shared, *text; /**< a file of all, "daemons:/etc/frr/daemons", and what it holds; or NULL */
    const char *exec;          /**< what the lab runs in a switch; or NULL */
    bool is_sonic;             /**< interfaces are eth1, eth2, ... in the lab, whatever ports are called */
} fab_switch_system;

/** An archive (tar) with the files of all switches, and with fabric.clab.yml, which starts them and their hosts. */
FAB_STATUS fab_switches_write(const fab_shape *shape, const fab_switch_system *system, FILE *out, fab_error *err);
