/**
 * Forwarding tables as text (format: src/doc/manual/forwarding-tables.md). Engine `file` reads them back, and option
 * tables= of the engines that choose among groups of next hops.
 */
#pragma once

#include "fab/split.h"

/**
 * Writes the next-hop ports of every switch for every destination. Of an engine that looks at more than the
 * destination, the whole group of next hops that it chooses from, with their weights where these differ. The same
 * bytes for equal inputs.
 * @param[in] split  Of a router that splits, from its engine's `split`: groups get the shares of their members, as
 *                   fractions that read back as the same doubles, by which engine `file` splits; next hops without a
 *                   share are left out, and a rule of equal shares writes none. NULL: no shares.
 * @retval FAB_EIO  a write failed
 * Complexity: O(switches * NIC ports), and of groups O(next hops over all switches and leaves); with FAB_SPLIT_CAPACITY
 * and FAB_SPLIT_WEIGHT a double per switch and leaf.
 */
FAB_STATUS fab_tables_write(const fab_router *router, const fab_split *split, FILE *out, fab_error *err);

/**
 * fab_tables_write() with what the router's engine gives for a phase.
 * @param[in] phase  Looked at by engines whose split depends on the demand (`by_demand`); else it may be NULL.
 * @param[in] known  As for `split` of fab_engine: of this phase, or NULL.
 * Errors of fab_demand_init() and of the engine.
 */
FAB_STATUS fab_tables_write_phase(const fab_router *router, const fab_phase *phase, const fab_bound *known, FILE *out,
                                  fab_error *err);

/**
 * The same as opensm dumps its linear forwarding tables (opensm-lfts.dump): `opensm -R file -U` loads it and finds
 * switches and adapters by GUID. GUIDs, LIDs and descriptions are those of fab/ib_names.h, as in the report format
 * ibnet. Switches are destinations too: by a shortest way through the lowest port, for management.
 * @retval FAB_EUNSUPPORTED  the engine does not choose by the destination alone, or the fabric is too large for
 *                           InfiniBand (fab_ib_check())
 * @retval FAB_EIO           a write failed
 * Complexity: O(switches * (NICs + links)) time, O(switches * (switches + NIC ports)) memory.
 */
FAB_STATUS fab_tables_write_lft(const fab_router *router, FILE *out, fab_error *err);

/**
 * The port through which every switch forwards to every port of a leaf, under an engine that looks at the destination
 * alone: what a subnet manager writes into its switches.
 * @param[out] out_port  Shape [n_switches][n_leaves][port_stride], by port - 1 of the leaf; 0 where nothing is plugged
 *                       in there or there is no route. Overwritten.
 * @retval FAB_EUNSUPPORTED  the engine looks at more than the destination
 * Complexity: O(entries).
 */
FAB_STATUS fab_tables_fill(const fab_router *router, uint16_t *out_port, fab_error *err);
