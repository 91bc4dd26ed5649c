/**
 * The boxes of an installed network as people see them: a server is one, with the ports of all its adapters. What is
 * inside a switch (aggregation nodes) is none.
 */
#pragma once

#include "fab/shape.h"

/**
 * What people call a node, its label; where several have the same, what the file calls it. Unique but where a label is
 * another's name.
 * @param[out] out  Shape [n_nodes], texts of the network; free() it.
 */
FAB_STATUS fab_network_names(const fab_network *net, const char ***out, fab_error *err);

/**
 * Sorts names that must be unique.
 * @retval FAB_EUNSUPPORTED  two are the same: "two WHAT would be called 'NAME'"
 */
FAB_STATUS fab_names_check(const char **names, uint32_t n, const char *what, const char *path, fab_error *err);

#define FAB_BOX_PORT 16 /**< bytes of a port's name; a network device's of Linux is shorter, too */

typedef struct fab_box {
    const char *name; /**< unique; letters, digits and . _ - alone */
    bool is_host;
    uint32_t tier; /**< of a switch; 0: not known */
} fab_box;

typedef struct fab_boxes {
    uint32_t n;
    fab_box *box;           /**< [n]: in the order of the network's nodes */
    uint32_t *of_node;      /**< [n_nodes] of the installed network; FAB_NETWORK_NONE of what is no box */
    uint32_t *adapter_port; /**< [2 * n_cables]: of an end at an adapter its number among the ports of the server,
                               from 1: by adapter, then port; else 0 */
    char *text;
} fab_boxes;

/**
 * @param[out] out  Release with fab_boxes_release().
 * @retval FAB_EUNSUPPORTED  two boxes would have one name
 */
FAB_STATUS fab_boxes_find(const fab_shape *shape, fab_boxes *out, fab_error *err);
void fab_boxes_release(fab_boxes *boxes);

/** A cable between two boxes, and its ports as the format calls them. */
typedef struct fab_box_cable {
    const fab_network_cable *cable;
    uint32_t box[2];     /**< indexes */
    const char *name[2]; /**< of the boxes */
    const char *port[2];
} fab_box_cable;

/** Writes a cable as the format has it. */
typedef void (*fab_put_cable)(const fab_box_cable *cable, void *context);

/**
 * Every cable between two boxes. A port is "eth3" of adapters, a prefix and the number of a port that is one ("swp17"),
 * else as it is.
 * @param[in] prefix  Of ports of hosts, and of switches.
 * @param[in] put     NULL: only whether every port has a name that a network device may have.
 * @retval FAB_EUNSUPPORTED  the port has no name, or one that is too long
 */
FAB_STATUS fab_boxes_put_cables(const fab_boxes *boxes, const fab_network *net, const char *const prefix[2],
                                fab_put_cable put, void *context, fab_error *err);
