/**
 * @file tables_text.h
 * What files of forwarding tables name: ports and next hops.
 */
#ifndef FAB_TABLES_TEXT_H
#define FAB_TABLES_TEXT_H

#include "fab/fabric.h"
#include "fab/text.h"

/**
 * The link behind port `port` of switch v, which `t` spells.
 * @retval FAB_EINPUT  there is none
 */
fab_status fab_text_port(const fab_text *text, const fab_fabric *fabric, fab_node_id v, fab_token t, uint64_t port,
                         fab_link_id *out, fab_error *err) FAB_MUST_USE;

/** FAB_EINPUT where a link does not lead to a switch. */
fab_status fab_text_next_hop(const fab_text *text, const fab_fabric *fabric, fab_token t, fab_link_id link,
                             fab_error *err) FAB_MUST_USE;

#endif
