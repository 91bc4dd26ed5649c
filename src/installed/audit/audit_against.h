/** An installed network beside its plan. */
#pragma once

#include "audit_match.h"

typedef struct comparison {
    auditor a;
    const fab_network *plan; /* the copy */
    const fab_shape *plan_shape;
    fab_network plan_copy; /* with cables whose ports are called as they are here */
    fab_network_cable *cables;
    fab_shape shape_copy;     /* of it */
    audit_copy boxes[2];      /* of what is installed and of the plan, where servers are compared as boxes */
    uint32_t *there;          /* [plan nodes]: the same box in the installed network, or FAB_NETWORK_NONE */
    uint32_t *meant;          /* [nodes as installed]: in the plan */
    uint32_t n_by_place;      /* of the audit */
    const char **plan_names;  /* [plan nodes]: unique */
    uint8_t *found;           /* [cables as installed]: it is in the plan, or named in a finding */
    double *planned_bps;      /* [cables as installed]: by the plan; 0: it does not say, or has another cable */
    bool *is_meant_one_sided; /* [cables as installed]: one end alone reports it in the plan as well */
} comparison;

/** Whether they are the same, or one is not known. */
bool audit_same_port(const char *x, const char *y);
/** A cable end at a port of a box of the installed network, that no planned cable has claimed; FAB_NETWORK_NONE. `far`:
 * the box at the other end, or FAB_NETWORK_NONE for any. */
uint32_t audit_find_side(const comparison *c, uint32_t node, const char *port, uint32_t far, const char *far_port);

/**
 * Cables that are exchanged: of servers that stand in each other's place, and in pairs, first by the ends at switches,
 * so that hosts are what is exchanged.
 * @param[in,out] done_with  [planned cables]: as planned, or told.
 */
FAB_STATUS audit_look_for_exchanges(comparison *c, uint8_t *done_with, fab_error *err);
