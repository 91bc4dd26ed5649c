/**
 * What InfiniBand tools call the nodes of a fabric: GUIDs, LIDs, port numbers and descriptions, by formula, and back.
 *
 *     node GUID    0x02fabKIIIIIIII00, hexadecimal: K 1 switch, 2 NIC; I its number among these
 *     port GUID    of a switch its node GUID; of a NIC's port p its node GUID + p
 *     LID          NICs from 1 in their order, then the switches in theirs
 *     description  "leaf-5" as reports call it; NIC j of server i is "server-i HCA-(j + 1)"
 *
 * Planes and rails without links between them are subnets of their own. GUIDs and LIDs of switches are unique over all
 * of them; the ports of a NIC share its LID, each on another plane.
 */
#pragma once

#include "fab/fabric.h"

#define FAB_IB_PORTS       254    /**< of a switch; InfiniBand Architecture Specification 1.4, volume 1, 14.2.5.4 */
#define FAB_IB_LIDS        0xBFFF /**< the last unicast LID; section 4.1.3 */
#define FAB_IB_DESCRIPTION FAB_NODE_NAME_SIZE /**< bytes that hold any description of ours */

/**
 * Whether a subnet can be made of the fabric at all.
 * @retval FAB_EUNSUPPORTED  a switch has more than FAB_IB_PORTS ports, or there are more than FAB_IB_LIDS NICs and
 *                           switches; the message says which and how many
 * Complexity: O(switches).
 */
FAB_STATUS fab_ib_check(const fab_fabric *fabric, fab_error *err);

/** GUID of a switch or NIC; of its port where port > 0. Ports of switches have none of their own. */
uint64_t fab_ib_guid(const fab_fabric *fabric, fab_node_id v, uint32_t port);

/** LID of a switch or NIC. */
uint32_t fab_ib_lid(const fab_fabric *fabric, fab_node_id v);

/** Number of the network port at the tail of a link: as in reports; of a NIC counted among its ports into the network,
 * from 1. */
uint32_t fab_ib_port(const fab_fabric *fabric, fab_link_id link);

/** Ports that a switch or NIC has as an InfiniBand node, used or not. */
uint32_t fab_ib_n_ports(const fab_fabric *fabric, fab_node_id v);

/** Description of a switch or NIC. `out` holds FAB_IB_DESCRIPTION bytes. Returns out. */
const char *fab_ib_description(const fab_fabric *fabric, fab_node_id v, char *out);

/**
 * Switch or NIC of a GUID by the formula, FAB_NONE where it is of no node of this fabric.
 * @param[out] out_port  Port that the GUID is of; 0 for the node. Written with a node only.
 */
fab_node_id fab_ib_find_guid(const fab_fabric *fabric, uint64_t guid, uint32_t *out_port);

/**
 * Switch or NIC of a description of n bytes, FAB_NONE where it names none: "leaf-5", "nic-17", and for the NICs of a
 * server also what drivers call them: "server-2 HCA-1" (from 1), "server-2 mlx5_0" (from 0).
 */
fab_node_id fab_ib_find_description(const fab_fabric *fabric, const char *text, size_t n);
