/** Trees of names: which switches and hosts are below a switch, as schedulers are told it. */
#pragma once

#include "network_json.h"

typedef struct fab_names_below {
    fab_network *net;
    const char *path;
    size_t line;           /**< at hand */
    uint32_t node;         /**< the switch at hand */
    fab_network_kind kind; /**< of what is below it */
    uint32_t *members;     /**< of the list that was read last */
    uint32_t *joined;      /**< [n_joined]: of a node the switch that it was last below, + 1 */
    size_t n_members, capacity, n_joined, joined_capacity;
    bool has_parts; /**< what is below a switch may be told in several lists */
} fab_names_below;

void fab_names_below_release(fab_names_below *below);

/**
 * Adds the names of a list such as "node[01-08]" to `members`.
 * @retval FAB_EINPUT  a name is a switch here and a host elsewhere, or the list is malformed
 */
FAB_STATUS fab_names_below_add(fab_names_below *below, const char *text, size_t n, fab_error *err);

/** Joins the members to the switch; a name that is there twice is below it once. */
FAB_STATUS fab_names_below_put(fab_names_below *below, fab_error *err);

/** Reads the names of a member of JSON, a list or a list of lists, into `members`. */
FAB_STATUS fab_names_below_read(fab_names_below *below, const fab_json *json, uint32_t list, fab_error *err);

/** Joins what a member of JSON names to a switch. */
FAB_STATUS fab_names_below_join(fab_names_below *below, const fab_json *json, const char *name, fab_network_kind kind,
                                uint32_t list, fab_error *err);
