/** A fabric as an installed network. */
#pragma once

#include "fab/fabric.h"
#include "fab/network.h"

/**
 * Boxes with the descriptions of fab/ib_names.h ("leaf-5", "server-2 HCA-1"), network cables at their ports.
 * @param[out] out  Release with fab_network_free().
 */
FAB_STATUS fab_network_of_fabric(const fab_fabric *fabric, fab_network **out, fab_error *err);
