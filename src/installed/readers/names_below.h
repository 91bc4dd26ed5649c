/**
 * @file names_below.h
 * Trees of names in YAML: which switches and hosts are below a switch, as schedulers are told it.
 */
#pragma once

#include "network_json.h"

typedef struct fab_names_below {
    const fab_network_json *from;
    uint32_t node;         /**< the switch at hand */
    fab_network_kind kind; /**< of what is below it */
    uint32_t *members;     /**< of the list that was read last */
    size_t n_members, capacity;
    bool has_parts; /**< what is below a switch may be told in several lists */
} fab_names_below;

void fab_names_below_release(fab_names_below *below);

/** Reads the names of a member, a text or a list of texts such as "node[01-08]", into `members`. */
fab_status fab_names_below_read(fab_names_below *below, uint32_t list, fab_error *err) FAB_MUST_USE;

/**
 * Joins what `list` names to a switch.
 * @retval FAB_EINPUT  a name is a switch here and a host elsewhere, or a list of hosts is malformed
 */
fab_status fab_names_below_join(fab_names_below *below, const char *name, fab_network_kind kind, uint32_t list,
                                fab_error *err) FAB_MUST_USE;
