/**
 * @file tables.h
 * Forwarding tables as text; the format stands in routing/README.md. Engine `file` reads them back.
 */
#ifndef FAB_TABLES_H
#define FAB_TABLES_H

#include "fab/routing.h"
#include "fab/status.h"

#include <stdio.h>

/**
 * Writes the next-hop ports of every switch for every destination. Of an engine that looks at more than the
 * destination, the whole group of next hops that it chooses from. The same bytes for equal inputs.
 * @retval FAB_EIO  a write failed
 * Complexity: O(switches * NIC ports).
 */
fab_status fab_tables_write(const fab_router *router, FILE *out, fab_error *err) FAB_MUST_USE;

#endif
