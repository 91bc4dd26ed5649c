/**
 * @file tables_read.h
 * Forwarding tables from a file (format: src/doc/manual/forwarding-tables.md).
 */
#ifndef FAB_TABLES_READ_H
#define FAB_TABLES_READ_H

#include "engines/router.h"
#include "fab/routing.h"
#include "forwarding.h"

/** What the engine makes of weights. All but hashes need groups whose next hops are equally far: splitting goes by
 * distance. */
typedef enum fab_weights {
    FAB_WEIGHTS_NONE,  /**< nothing: they are refused */
    FAB_WEIGHTS_WHOLE, /**< slots of a hash */
    FAB_WEIGHTS_SPLIT, /**< shares */
} fab_weights;

/** Sum of the whole weights of a group. */
#define FAB_WEIGHTS_MOST ((uint32_t)1 << 24)

/**
 * Everything that routing relies on is checked: next hops are switches, no entry is missing, nothing runs in a circle,
 * and no group has a member behind which there is no route.
 * @param[in]  router  Its fabric, ports' stride and minimal next hops. Messages name its engine.
 * @param[out] single  Receives files without a group, one next hop per destination port; NULL: these are groups of one,
 *                     and entries by port are refused. Release with free(single->entry).
 * @param[out] groups  Receives files with groups. Release with fab_read_groups_release().
 * @retval FAB_EINPUT, FAB_EUNSUPPORTED  err->where is file:line:column
 * Complexity: O(bytes + next hops over all switches and leaves).
 */
fab_status fab_tables_read(const fab_router *router, const char *path, fab_weights weights, fab_forwarding *single,
                           fab_read_groups *groups, fab_error *err) FAB_MUST_USE;

void fab_read_groups_release(fab_read_groups *groups);

#endif
