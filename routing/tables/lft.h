/**
 * @file lft.h
 * Linear forwarding tables as InfiniBand subnet managers dump them (grammar: src/doc/manual/forwarding-tables.md).
 */
#ifndef FAB_LFT_H
#define FAB_LFT_H

#include "forwarding.h"
#include "tables_text.h"

/** Whether the first line is that of such a dump. */
bool fab_lft_is_dump(fab_text in);

/**
 * Reads the dump of one subnet, or of several one after the other: of opensm (opensm-lfts.dump, `-R file -U`) or
 * dump_lfts. Nodes are found by description, else by GUID (fab/ib_names.h); LIDs may be any. An entry that is missing
 * is no route.
 * @param[in] router  Its fabric, ports and next hops.
 * @param[in] in      Before its first line. Its name stands in errors.
 * @retval FAB_EINPUT        nodes or ports that the fabric does not have, entries that do not fit it or each other, a
 *                           circle, a dump that is cut off; err->where is file:line:column
 * @retval FAB_EUNSUPPORTED  several LIDs per port (LMC), routers
 * Complexity: O(bytes + switches * destinations).
 */
fab_status fab_lft_read(const fab_router *router, fab_text *in, fab_forwarding *out, fab_error *err) FAB_MUST_USE;

#endif
