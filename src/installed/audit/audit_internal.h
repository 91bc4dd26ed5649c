/**
 * @file audit_internal.h
 * The looks of an audit, one file each.
 */
#pragma once

#include "fab/audit.h"

#define FAB_AUDIT_AXES 3 /**< coordinates in the name of a switch */

/** A switch that is not there. */
typedef struct absent_switch {
    const char *name;
    uint32_t tier;
    uint32_t
        first[FAB_AUDIT_AXES + 1]; /**< peers that differ from it in this coordinate alone: auditor.peer[first[axis]
                                      ... first[axis + 1]) */
    uint32_t block;                /**< at the boundary that was looked at last; FAB_NETWORK_NONE */
} absent_switch;

typedef struct auditor {
    const fab_shape *shape;
    const fab_network *net;
    double *usual_bps;              /**< shape [n_tiers + 1]; owned: fab_audit_close() */
    uint32_t *tier_first, *in_tier; /**< [n_tiers + 2], [switches]: those of tier t are in_tier[tier_first[t]] ...,
                                       ascending. Owned */
    const double
        *planned_bps; /**< shape [cables as installed], 0 where a plan does not say; NULL: there is none. Borrowed */
    absent_switch *absent; /**< shape [out->n_absent]; owned, so is peer */
    uint32_t *peer;
    uint32_t n_peers;
    size_t absent_capacity, peer_capacity, lack_capacity;
    fab_audit *out;
} auditor;

/** An empty audit that counts what the installed network has. */
fab_status fab_audit_open(auditor *a, fab_error *err) FAB_MUST_USE;
void fab_audit_close(auditor *a);
void fab_audit_sort(fab_audit *audit);

/** A text of the audit, as printf. */
fab_status fab_audit_text(auditor *a, const char **out, fab_error *err, const char *fmt, ...)
    FAB_PRINTF(4, 5) FAB_MUST_USE;

/** Appends a finding; texts that are NULL become "". */
fab_status fab_audit_add(auditor *a, const fab_finding *finding, fab_error *err) FAB_MUST_USE;

/** Appends cables that lack between two switches. */
fab_status fab_audit_add_lack(auditor *a, const fab_audit_lack *lack, fab_error *err) FAB_MUST_USE;

/** Label of a node; "host HCA-6" of an adapter. */
static inline const char *fab_audit_label(const auditor *a, uint32_t node) {
    return a->net->nodes[node].label;
}

static inline const char *fab_audit_port(const fab_network_end *end) {
    return end->port != NULL ? end->port : "";
}

/** Of a cable: where to walk to, and its other end. */
static inline fab_finding fab_audit_finding(const auditor *a, fab_finding_kind kind, const fab_network_end *at,
                                            const fab_network_end *other) {
    return (fab_finding){.kind = kind,
                         .cables = 1,
                         .node = fab_audit_label(a, at->node),
                         .port = fab_audit_port(at),
                         .other = fab_audit_label(a, other->node),
                         .other_port = fab_audit_port(other)};
}

/** Upper tier of the boundary that a cable lies in, 1 = hosts and leaves; 0: inside a switch, or between equals. */
uint32_t fab_audit_boundary_of(const auditor *a, uint32_t cable);

fab_status fab_audit_names(auditor *a, fab_error *err) FAB_MUST_USE;
fab_status fab_audit_trunks(auditor *a, fab_error *err) FAB_MUST_USE;
fab_status fab_audit_rails(auditor *a, fab_error *err) FAB_MUST_USE;
fab_status fab_audit_cables(auditor *a, fab_error *err) FAB_MUST_USE;
fab_status fab_audit_cuts(auditor *a, fab_error *err) FAB_MUST_USE;
