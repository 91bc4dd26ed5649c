/**
 * @file network_names.h
 * What files call the nodes of an installed network.
 */
#ifndef FAB_NETWORK_NAMES_H
#define FAB_NETWORK_NAMES_H

#include "fab/network.h"

/**
 * What people call a node, its label; where several have the same, what the file calls it. Unique but where a label is
 * another's name.
 * @param[out] out  Shape [n_nodes], texts of the network; free() it.
 */
fab_status fab_network_names(const fab_network *net, const char ***out, fab_error *err) FAB_MUST_USE;

/**
 * Sorts names that must be unique.
 * @retval FAB_EUNSUPPORTED  two are the same: "two WHAT would be called 'NAME'"
 */
fab_status fab_names_check(const char **names, uint32_t n, const char *what, const char *path,
                           fab_error *err) FAB_MUST_USE;

#endif
