/**
 * What the boxes and ports of an installed fabric are called. A fabric that was designed has none of these: its names
 * are made by formula when they are printed.
 */
#pragma once

#include "fab/fabric.h"

#define FAB_NAME_NONE UINT32_MAX

typedef struct fab_names {
    uint32_t n_nodes, n_links, n_servers;
    char *text; /**< names, each with its NUL */
    size_t n_text, capacity;
    uint32_t *node;   /**< shape [n_nodes]: begin of the name in text; FAB_NAME_NONE: by formula */
    uint32_t *port;   /**< shape [n_links]: name of the port at the tail; FAB_NAME_NONE: its number */
    uint32_t *server; /**< shape [n_servers] */
    uint64_t *guid;   /**< shape [n_nodes]; 0: by formula */
    uint32_t *sorted; /**< shape [n_sorted]: named nodes, by name; made by fab_names_finish() */
    uint32_t n_sorted;
    uint32_t *sorted_server; /**< shape [n_servers]: servers by name */
    uint32_t *by_guid;       /**< shape [n_by_guid]: nodes with a GUID, by it */
    uint32_t n_by_guid;
} fab_names;

/** No names for so many nodes, links and servers. Release with fab_names_free(). */
FAB_STATUS fab_names_new(uint32_t n_nodes, uint32_t n_links, uint32_t n_servers, fab_names **out, fab_error *err);
void fab_names_free(fab_names *names);
FAB_OWNER(fab_names, fab_names_free)

/**
 * Sets a name. What lists and links are cut at (comma, '>', '*', quotes, control characters) becomes '_'.
 * @param[out] out_slot  Where its place in the text goes: &names->node[v], &names->port[link] or &names->server[i].
 * @retval FAB_EINPUT  longer than `most` bytes
 */
FAB_STATUS fab_names_set(fab_names *names, uint32_t *out_slot, const char *name, size_t most, fab_error *err);

/**
 * Makes names readable back.
 * @retval FAB_EINPUT  two nodes, or two servers, have the same name
 * Complexity: O(n log n).
 */
FAB_STATUS fab_names_finish(fab_names *names, fab_error *err);

/** Node of a name of n bytes; FAB_NONE: none is called so. `names` may be NULL. O(log n). */
fab_node_id fab_names_find_node(const fab_names *names, const char *text, size_t n);
/** Server of a name; where none has it so, the only one whose name is that in other case, in O(n_servers). */
uint32_t fab_names_find_server(const fab_names *names, const char *text, size_t n);

/** Node of the largest GUID that is no larger: those of the ports of an adapter follow its own. FAB_NONE: none. */
fab_node_id fab_names_find_guid(const fab_names *names, uint64_t guid);
