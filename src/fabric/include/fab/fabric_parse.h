/** Names of nodes and links, as reports print them, back to ids. */
#pragma once

#include "fab/fabric.h"

/**
 * Node of a name: "leaf-5", "gpu-17".
 * @retval FAB_EINPUT  no such node; the message says which there are.
 */
FAB_STATUS fab_node_parse(const fab_fabric *fabric, const char *text, fab_node_id *out, fab_error *err);

/**
 * Link of a text: its number, its name "leaf-5:17 > spine-8:3", or as much of that as tells it from others: "leaf-5:17"
 * for what leaves there, "leaf-5>spine-8" where one cable joins them.
 * @retval FAB_EINPUT  no such link, or several; the message names some of them.
 */
FAB_STATUS fab_link_parse(const fab_fabric *fabric, const char *text, fab_link_id *out, fab_error *err);
