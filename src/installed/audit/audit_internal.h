/** The looks of an audit, one file each. */
#pragma once

#include "fab/audit.h"

#define FAB_AUDIT_NEARLY 0.75 /* part of the peers that makes a rule */
#define FAB_AUDIT_GAP    0.5  /* sure that a host is missing by its number and by one cable less of its switches */
#define FAB_AUDIT_TIERS  5 /* of a tree that is built, with the boards of directors; beyond, a network has no tiers */

/** Cables between a switch and one of the tier above. */
typedef struct audit_trunk {
    uint32_t lower, upper, n;
} audit_trunk;

/** Switches of two neighbouring tiers that are joined to the same ones: a pod, a plane, a spine group. */
typedef struct audit_block {
    uint32_t n_lower, n_upper;
    uint32_t first_lower, first_upper; /**< in audit_boundary.member */
    uint32_t usual;                    /**< cables of a trunk, where nearly all have as many; 0: they differ */
    uint32_t low; /**< where they differ: nearly all have this many, or one more; FAB_NETWORK_NONE: no rule */
} audit_block;

/** The blocks of a boundary. */
typedef struct audit_boundary {
    audit_trunk *trunk; /**< [n_trunks]: by lower, then upper */
    uint32_t n_trunks;
    uint32_t *of; /**< [n_nodes]: block of a switch of the two tiers; FAB_NETWORK_NONE */
    audit_block *block;
    uint32_t n_blocks;
    uint32_t *member;     /**< switches by block: lower ones, then upper ones; each by name */
    uint32_t usual_upper; /**< upper switches of a block, where nearly all blocks have as many; 0: they differ */
} audit_boundary;

/** A switch that is not there. */
typedef struct absent_switch {
    const char *name;
    uint32_t tier;
    uint32_t near;        /**< a switch that stands beside it; FAB_NETWORK_NONE */
    uint32_t block_above; /**< at the boundary above it, of the lower ones; FAB_NETWORK_NONE: not known */
    uint32_t block_below; /**< at that below it, of the upper ones */
} absent_switch;

typedef struct auditor {
    const fab_shape *shape;
    const fab_network *net;
    const char **names;             /**< [n_nodes]: unique; owned: fab_audit_close() */
    uint32_t *rank;                 /**< [n_nodes]: place by name. Owned */
    double *usual_bps;              /**< shape [n_tiers + 2]. Owned */
    uint32_t *tier_first, *in_tier; /**< [n_tiers + 2], [switches]: those of tier t are in_tier[tier_first[t]] ...,
                                       by name. Owned */
    uint32_t *least, *most;         /**< [n_tiers + 2 of the shape]: fab_audit_common_cables(). Owned */
    uint32_t n_tiers;               /**< that rules are looked for in; 0: in none, see FAB_AUDIT_TIERS */
    audit_boundary *boundary;       /**< [n_tiers + 1]: that of tier t and t + 1 at t; owned */
    bool *ruled;                    /**< [n_cables]: some rule speaks of it. Owned */
    const double
        *planned_bps; /**< shape [cables as installed], 0 where a plan does not say; NULL: there is none. Borrowed */
    const bool *is_meant_one_sided; /**< [cables]: one end alone reports it in the plan as well; NULL. Borrowed */
    const fab_network *plan;        /**< NULL: there is none. Borrowed */
    absent_switch *absent;          /**< shape [out->n_absent]; owned */
    bool lacks_leaf;                /**< a switch with hosts is absent: what hosts lack went with it */
    size_t absent_capacity, lack_capacity;
    fab_audit *out;
} auditor;

/** An empty audit that counts what the installed network has. */
FAB_STATUS fab_audit_open(auditor *a, fab_error *err);
void fab_audit_close(auditor *a);
void fab_audit_sort(fab_audit *audit);
/** Tiers of the boxes of all findings that have one of these names [n_nodes of the shape]; others keep theirs. */
FAB_STATUS fab_audit_find_tiers(fab_audit *audit, const fab_shape *shape, const char *const *names, fab_error *err);

/** A text of the audit, as printf. */
FAB_STATUS fab_audit_text(auditor *a, const char **out, fab_error *err, const char *fmt, ...) FAB_PRINTF(4, 5);

/** Appends a finding; texts that are NULL become "". */
FAB_STATUS fab_audit_add(auditor *a, const fab_finding *finding, fab_error *err);

#define FAB_AUDIT_WORK "\x1f" /* in front of what to do, in formats */

/** The same of a finding whose text, and work where the format has FAB_AUDIT_WORK, is as printf makes it. */
FAB_STATUS fab_audit_tell(auditor *a, const fab_finding *finding, fab_error *err, const char *fmt, ...)
    FAB_PRINTF(4, 5);

/** Appends cables that lack between two switches. */
FAB_STATUS fab_audit_add_lack(auditor *a, const fab_audit_lack *lack, fab_error *err);

/** Name of a node, "host HCA-6" of an adapter, that no other has. */
static inline const char *fab_audit_label(const auditor *a, uint32_t node) {
    return a->names != NULL ? a->names[node] : a->net->nodes[node].label;
}

static inline const char *fab_audit_port(const fab_network_end *end) {
    return end->port != NULL ? end->port : "";
}

/** Whether two switches are chips of one box. */
static inline bool fab_audit_same_box(const auditor *a, uint32_t v, uint32_t w) {
    return a->shape->box[v] != FAB_NETWORK_NONE && a->shape->box[v] == a->shape->box[w];
}

/** Of a link inside a box: no cable is missing, and none can be plugged. */
void fab_audit_make_inside(fab_finding *f);

/** How sure a rule is that k of n peers follow: Laplace's rule of succession. */
static inline double fab_audit_confidence(double k, double n) {
    return (k + 1) / (n + 2);
}

/** Of one cable, for certain: of a box, and of another one or FAB_NETWORK_NONE. */
static inline fab_finding fab_audit_boxes(const auditor *a, fab_finding_kind kind, uint32_t at, uint32_t other) {
    bool has_other = other != FAB_NETWORK_NONE;
    return (fab_finding){.kind = kind,
                         .confidence = 1,
                         .cables = 1,
                         .node = fab_audit_label(a, at),
                         .guid = a->net->nodes[at].guid,
                         .other = has_other ? fab_audit_label(a, other) : "",
                         .other_guid = has_other ? a->net->nodes[other].guid : 0};
}

/** Of a cable: where to walk to, and its other end. */
static inline fab_finding fab_audit_finding(const auditor *a, fab_finding_kind kind, const fab_network_end *at,
                                            const fab_network_end *other) {
    fab_finding f = fab_audit_boxes(a, kind, at->node, other->node);
    f.port = fab_audit_port(at);
    f.other_port = fab_audit_port(other);
    return f;
}

static inline bool fab_audit_is_switch(const auditor *a, uint32_t v) {
    return a->net->nodes[v].kind == FAB_NETWORK_SWITCH;
}

/** Upper tier of the boundary that a cable lies in, 1 = hosts and leaves; 0: inside a switch, or between equals. */
uint32_t fab_audit_boundary_of(const auditor *a, uint32_t cable);

/** Finds the blocks of all boundaries. */
FAB_STATUS fab_audit_blocks(auditor *a, fab_error *err);
void fab_audit_blocks_release(auditor *a);

/** Name of a switch whose number is `step` larger. */
FAB_STATUS fab_audit_next_name(auditor *a, uint32_t node, uint64_t step, const char **out, fab_error *err);

/** Whether no adapter has the numbers between those of two leaves; `before` FAB_NETWORK_NONE: or those before the
 * first.
 */
bool fab_audit_slots_lack(const auditor *a, uint32_t before, uint32_t behind);

/** Whether the boxes that a switch shares with another, of the tier above or of that below, leave ports free between
 * those of the two, or before those of one. */
bool fab_audit_ports_are_free(const auditor *a, uint32_t before, uint32_t behind);

/** Whether the box that two cable ends lead to leaves a port free between those of the two. False: they have no
 * numbers.
 */
bool fab_audit_leaves_port(const auditor *a, uint32_t side_one, uint32_t side_two, bool *out_is_free);

/** Counts the cables and boxes of which some rule speaks, when all rules were asked. */
FAB_STATUS fab_audit_cover(auditor *a, fab_error *err);

/** Cables to the next tier that a switch has, and that it should have by its peers. */
typedef struct audit_uplinks {
    uint32_t there, should;
    uint32_t n_usual, n_peers; /**< switches of its role that have the usual number, and all */
    bool is_rule; /**< nearly all of those that have any have as many, or there are two camps; of one that has none,
                       nearly all of those, or half of all */
} audit_uplinks;

/** Fills out [n_nodes] for the switches of a tier. */
FAB_STATUS fab_audit_count_uplinks(const auditor *a, uint32_t tier, audit_uplinks *out, fab_error *err);
/** Fills `least` and `most`: cables, up and down, that three or more switches of a tier have in common, the fewest that
 * a quarter of them has, with which none lacks any, and those that half of them have, which have no port for more.
 * UINT32_MAX: there is none such. Complexity: O(n log n). */
FAB_STATUS fab_audit_common_cables(auditor *a, fab_error *err);
/** Whether it has a cable at every port that the file says it has. */
bool fab_audit_is_full(const auditor *a, uint32_t node);
/** Cables that others of its tier have more than a switch: ports that it has left. */
uint32_t fab_audit_room(const auditor *a, uint32_t node);
/** Whether a switch has as many cables as others of its tier. */
bool fab_audit_is_whole(const auditor *a, uint32_t node);
/** The block at a boundary that a switch of its lower tier without any cable upwards belongs to: the only one, or the
 * only one with fewer switches than others; FAB_NETWORK_NONE: not known. */
uint32_t fab_audit_block_of_orphan(const auditor *a, uint32_t tier);

/** How many servers stand in a ring in each other's place, of which `first` is the least: instead [n] is who stands in
 * the place of a server, or n and more; 0: it is in none. Complexity: O(n). */
uint32_t audit_ring_length(const uint32_t *instead, uint32_t n, uint32_t first);
/** One finding of a ring, with the confidence, cables and impact of f, by the names [server] of its members: of all
 * their cables, or of some, for which f has the work. */
FAB_STATUS audit_report_ring(auditor *a, const char *const *names, const uint32_t *instead, uint32_t first,
                             fab_finding *f, fab_error *err);

FAB_STATUS fab_audit_absent(auditor *a, fab_error *err);
FAB_STATUS fab_audit_trunks(auditor *a, fab_error *err);
FAB_STATUS fab_audit_sideways(auditor *a, fab_error *err);
/** Groups of a tier whose switches are joined among themselves: of [n_nodes] is the group of a switch, by name, or
 * FAB_NETWORK_NONE; *out_n 0 where there are none. Complexity: O(sum of degree^2). */
FAB_STATUS fab_audit_groups(const auditor *a, uint32_t tier, uint32_t *of, uint32_t *out_n, fab_error *err);
/** Crossed cables between the cells or groups that switches of a tier are in. should [n_nodes] gets the cables to
 * others that a switch of a group should have, where a rule says so. */
FAB_STATUS fab_audit_cells(auditor *a, uint32_t tier, uint32_t *should, fab_error *err);
FAB_STATUS fab_audit_hosts(auditor *a, fab_error *err);
FAB_STATUS fab_audit_cables(auditor *a, fab_error *err);
FAB_STATUS fab_audit_cuts(auditor *a, fab_error *err);
