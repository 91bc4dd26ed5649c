/** Boxes of a plan and of what is installed that are the same. */
#pragma once

#include "audit_internal.h"
#include "audit_names.h"

typedef struct audit_match {
    const fab_shape *here, *plan; /**< borrowed */
    audit_ports ports;            /**< of these; those of the plan are translated */
    uint32_t *there;              /**< [plan nodes]: the same box as installed, or FAB_NETWORK_NONE */
    uint32_t *meant;              /**< [nodes as installed]: in the plan */
    uint32_t n_same;
    uint32_t n_by_place; /**< hosts of them that are known by what is plugged where alone */
    bool by_structure;   /**< names told too few */
    bool lacks_boxes;    /**< most boxes are not known, nor most switches */
    bool lacks_servers;  /**< most hosts are not known, though switches are */
} audit_match;

/** @param[in,out] m  here and plan are given; release with audit_match_release(). O(n log n). */
FAB_STATUS audit_match_find(audit_match *m, fab_error *err);
void audit_match_release(audit_match *m);
/** Counts the boxes that the two call otherwise, and shows the first. there [nodes of plan]: FAB_NETWORK_NONE: absent.
 */
void audit_match_count_renamed(const fab_network *here, const fab_network *plan, const uint32_t *there, fab_audit *out);
