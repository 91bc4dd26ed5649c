/**
 * What is wrong with an installed fabric: where it departs from the regular structure that it itself shows, or from a
 * plan. See src/doc/adr/0040-audit.md.
 */
#pragma once

#include "fab/shape.h"

typedef enum fab_finding_kind {
    FAB_FINDING_UNREACHABLE,   /**< hosts in parts that no cable joins */
    FAB_FINDING_ABSENT_SWITCH, /**< a gap in the numbers of the switches, or in what their peers have */
    FAB_FINDING_MISSING_CABLE, /**< fewer cables of a trunk than its peers have */
    FAB_FINDING_BACKPLANE,     /**< fewer links between two chips of one box than between their peers */
    FAB_FINDING_EXTRA_CABLE,   /**< more than that, or where peers have none */
    FAB_FINDING_MISSING_PORT,  /**< a host with fewer adapters in the network than others */
    FAB_FINDING_DEAD_PORT,     /**< an adapter of which one port is in the network, where both are of others */
    FAB_FINDING_MISWIRED,      /**< a cable that leads elsewhere than planned, or than its peers */
    FAB_FINDING_CROSSED,       /**< two cables, each to where the other belongs */
    FAB_FINDING_SWAPPED_RAILS, /**< two adapters of a host on each other's rail */
    FAB_FINDING_SWAPPED_HOSTS, /**< adapters of two hosts at each other's port */
    FAB_FINDING_MIXED_PLANES,  /**< two ports of an adapter on each other's plane */
    FAB_FINDING_WRONG_RAIL,    /**< an adapter on a leaf of another rail */
    FAB_FINDING_WRONG_LEAF,    /**< an adapter on another leaf than its peers */
    FAB_FINDING_SAME_TIER,     /**< a cable between two switches of a tier, where others have none */
    FAB_FINDING_LOOP,          /**< a cable from a switch to itself */
    FAB_FINDING_SPEED,         /**< a cable slower, or faster, than its peers */
    FAB_FINDING_ONE_SIDED,     /**< a cable that one end alone reports */
    FAB_FINDING_CONTRADICTION, /**< the file says two things of one port */
    FAB_FINDING_SINGLE_POINT,  /**< a switch whose failure alone cuts hosts off, where peers have another way: a choice
                                  of the design rather than a fault */
    FAB_FINDING_ABSENT_HOST,   /**< a gap in the numbers of hosts, and fewer cables there: names may be given so */
    FAB_FINDING_N
} fab_finding_kind;

/** "unreachable", "absent-switch", "missing-cable", ... */
extern const char *const fab_finding_kinds[FAB_FINDING_N];

/** Whether it may be meant so: such findings stand below faults, and cost nothing that was there. */
static inline bool fab_finding_is_choice(fab_finding_kind kind) {
    return kind == FAB_FINDING_SINGLE_POINT || kind == FAB_FINDING_ABSENT_HOST;
}

/** Where the box of a finding stands. */
typedef struct fab_audit_spot {
    uint32_t tier;      /**< 0: a host, 1: a leaf, ...; FAB_NETWORK_NONE: not known */
    uint32_t rack;      /**< of the plan's floor (audit_bisection.h); FAB_NETWORK_NONE: not known */
    char rack_name[48]; /**< "hall-0/row-1/rack-4"; empty where nobody said that it stands there */
} fab_audit_spot;

/** Texts belong to the audit. Of what does not apply they are "". */
typedef struct fab_finding {
    fab_finding_kind kind;
    double confidence;       /**< 1: the file says so itself; else of the rule that it departs from, by its peers */
    double damage_bps;       /**< capacity that is lost, on the wrong rail, or lost with one failure more */
    uint32_t cables;         /**< that must be plugged, moved or looked at */
    const char *node, *port; /**< where to walk to; names are unique */
    const char *other, *other_port;
    uint64_t guid, other_guid; /**< of these boxes; 0: not known */
    const char *text;          /**< what is wrong, a sentence */
    const char *work;          /**< what to do, an imperative sentence */
    size_t line;               /**< of the file; 0: none */
    fab_audit_spot at[2];      /**< of node and other */
} fab_finding;

/** Cables between two tiers: what there should be and what is there. */
typedef struct fab_audit_boundary {
    uint32_t tier;              /**< upper tier; 1: hosts and leaves */
    uint32_t planned, present;  /**< present counts the planned ones only; links inside boxes are none of them */
    uint32_t cables, with_rule; /**< all that are there, and those that some rule speaks of */
} fab_audit_boundary;

#define FAB_AUDIT_BOUNDARIES 8

/** Cables between two switches that the structure asks for and that are not there. */
typedef struct fab_audit_lack {
    uint32_t node[2]; /**< of the installed network; n_nodes of the installed network + k: the k-th absent switch */
    uint32_t cables;
    double rate_bps; /**< of one; 0: not known */
} fab_audit_lack;

/** Minimum cut, one direction, between the NICs of the first and of the second half of the servers. */
typedef struct fab_audit_bisection {
    bool is_known;         /**< present_bps */
    bool leaves_exchanged; /**< hosts that are exchanged count where they stand: in both figures without a plan, with
                                one in present_bps */
    bool knows_planned;    /**< planned_bps */
    double present_bps;    /**< as it stands */
    double planned_bps;    /**< with what is missing in place and slow cables as fast as their peers, or of the plan */
    char why[300];         /**< of what is not known; else "" */
} fab_audit_bisection;

/** Below 0 where more is installed than planned. */
static inline double fab_audit_bisection_lost(const fab_audit_bisection *b) {
    return b->planned_bps - b->present_bps;
}

/** More crosses than planned: hosts of both halves are below one leaf, where what they send takes no uplink. */
static inline bool fab_audit_bisection_gains(const fab_audit_bisection *b) {
    return b->knows_planned && b->present_bps > b->planned_bps * (1 + 1e-9);
}

/** A server by its name in the file, and in the plan where that has it; the same by name, GUID or what is plugged. */
typedef struct fab_audit_server {
    const char *name, *planned; /**< planned NULL: no box of the plan is it */
} fab_audit_server;

typedef struct fab_audit {
    uint32_t n_findings;
    fab_finding *findings; /**< shape [n_findings]: faults, then choices; by damage_bps, kind, names */
    uint32_t n_boundaries;
    fab_audit_boundary boundary[FAB_AUDIT_BOUNDARIES];
    uint32_t n_hosts, n_switches, n_services, n_servers;
    uint32_t n_boxes, n_chips;                    /**< boxes of several chips, and these */
    uint32_t n_inside, n_inside_missing;          /**< links inside boxes, which are no cables, and those that lack */
    uint32_t n_cables, n_ruled;                   /**< between boxes; and those that some rule speaks of */
    uint32_t n_ruled_hosts, n_ruled_switches;     /**< adapters and switches with such a cable */
    uint32_t n_out_of_order, n_out_of_port_order; /**< cables of hosts whose names follow no order from leaf to leaf, or
                                                     none along ports: without a plan it does not show there who has
                                                     changed places */
    uint32_t n_left, n_hosts_left; /**< cables, and their hosts, that stand elsewhere than the names or the ports of all
                                      others say, and of which no finding says where they belong */
    char hosts_left[200];          /**< some of these */
    bool has_rails;
    bool has_plan;           /**< from fab_audit_against() */
    uint32_t n_renamed;      /**< boxes that the plan calls otherwise: the same by GUID, or by what is plugged where */
    char first_renamed[200]; /**< one of them, by both names */
    uint32_t n_by_place;     /**< hosts of the plan that are known by what is plugged where alone: if two of them have
                                changed places, it does not show */
    fab_audit_server *servers; /**< shape [n_servers_named], by name: with a plan alone */
    uint32_t n_servers_named;
    const char **planned_host; /**< shape [nodes]: of an adapter the plan's name of its server; NULL: not known, or
                                  nodes are compared as boxes */
    uint32_t n_lacks;          /**< without a plan alone */
    fab_audit_lack *lacks;     /**< shape [n_lacks] */
    double *meant_bps;         /**< shape [cables]: what it should run at, of one whose rate is a finding; else 0 */
    uint32_t n_absent, n_absent_leaves;
    uint32_t absent_leaf;          /**< the first; with n_absent_leaves */
    const char *unplaced;          /**< an absent switch of which it cannot be told what it is joined to; NULL: none */
    fab_audit_bisection bisection; /**< from fab_audit_bisect() */
    struct fab_audit_memory *memory;
} fab_audit;

/**
 * Looks for departures from the regular structure that the network itself shows: a rule is what at least three quarters
 * of its peers follow, for uplinks half of them; where there is none, nothing is found.
 * @param[in]  shape  Borrowed, must outlive the audit.
 * @param[out] out    Release with fab_audit_free().
 * Complexity: O(switches^2 / pods + cables log cables).
 */
FAB_STATUS fab_audit_run(const fab_shape *shape, fab_audit **out, fab_error *err);

/**
 * Compares with a plan, cable by cable, by the names of boxes and ports.
 * @retval FAB_EINPUT  less than half of the plan's boxes have a counterpart of their name, or one of both alone is a
 *                     tree of names
 */
FAB_STATUS fab_audit_against(const fab_shape *shape, const fab_shape *plan, fab_audit **out, fab_error *err);

void fab_audit_free(fab_audit *audit);
FAB_OWNER(fab_audit, fab_audit_free)
