/** Where servers are plugged in: the adapter ports of each, and the servers that are plugged into the same switches. */
#pragma once

#include "audit_internal.h"

/** A port of a server that is plugged into a switch. */
typedef struct audit_plug {
    uint32_t server, column; /**< the same for the same port of the same adapter of every server */
    uint32_t node, side;     /**< adapter, and its cable end */
    uint32_t leaf;
    uint32_t key;     /**< number of (leaf, column) */
    uint32_t should;  /**< the leaf where it belongs, by a rule; FAB_NETWORK_NONE: where it is, or there is none */
    uint32_t or_else; /**< where it may belong as well, by its neighbours by name; FAB_NETWORK_NONE */
    bool is_told;
    bool is_put_back; /**< it stands where a rule of rows has put it, in thought: what follows is less sure */
    bool is_left;     /**< it stands out of an order, and no exchange puts it right */
    uint32_t port;    /**< number of the free port where it belongs, on the leaf of its peers; 0: not known */
    uint32_t place;   /**< the plug in whose place it belongs, where its siblings tell a ring; else itself */
} audit_plug;

/** Plugs of a ring, each where the one before it belongs, the first where the last does: of two, each where the other
 * belongs. From the first server on. */
typedef struct audit_ring {
    uint64_t servers;             /**< digest of all */
    uint32_t server[2], first, n; /**< plugs: audit_plugs.member[first] ... */
    double confidence;
    bool is_sure; /**< a rule says of each where it belongs; else the order of names does */
} audit_ring;

/** Servers that are plugged into the same switches. */
typedef struct audit_home {
    uint32_t server; /**< one that has it exactly */
    uint32_t n_exact, n_all;
} audit_home;

typedef struct audit_plugs {
    auditor *a;
    audit_plug *plug; /**< [n]: by server, then column */
    uint32_t n, n_keys;
    uint32_t *first;     /**< [n_servers + 1] */
    uint32_t *rank;      /**< [n_servers]: place by name */
    uint64_t *pattern;   /**< [n_servers]: of the name */
    uint64_t *row;       /**< [n_servers]: the same for names that differ in their last number alone */
    uint32_t *home_of;   /**< [n_servers]: FAB_NETWORK_NONE: none that makes a rule */
    uint32_t *stood;     /**< [n_servers]: home_of, before it was put where it belongs */
    uint32_t *template_; /**< [n_servers]: a server that has all ports, by its peers; FAB_NETWORK_NONE */
    uint32_t *n_peers;   /**< [n_servers]: that follow the rule */
    uint32_t *n_kind;    /**< [n_servers]: that could */
    audit_home *home;
    uint32_t n_homes;
    bool have_ports;  /**< siblings say at which ports adapters belong: audit_plugs_ports() */
    audit_ring *ring; /**< [n_rings]: not told yet */
    uint32_t *member; /**< [n_members]: plugs of rings */
    uint32_t n_rings, n_members;
    size_t ring_capacity, member_capacity;
} audit_plugs;

static inline uint32_t audit_slot(uint32_t column) {
    return column / 64;
}

static inline uint32_t audit_n_ports(const audit_plugs *p, uint32_t server) {
    return p->first[server + 1] - p->first[server];
}

/** Plugs of all servers, with the homes that they make. */
FAB_STATUS audit_plugs_find(auditor *a, audit_plugs *out, fab_error *err);
void audit_plugs_release(audit_plugs *p);
/** The port of a server in a column; NULL: it has none. */
const audit_plug *audit_plug_of(const audit_plugs *p, uint32_t server, uint32_t column);

/** The end of its cable at the adapter. */
fab_network_end audit_plug_end(const audit_plugs *p, const audit_plug *plug);
/** Number of the port of the leaf; 0: it has none. */
uint32_t audit_port_number(const audit_plugs *p, const audit_plug *plug);
/** Whether no cable is at the port of a leaf that has this number. */
bool audit_port_is_free(const audit_plugs *p, uint32_t leaf, uint32_t port);
/** The leaf where a column of a home is plugged in; FAB_NETWORK_NONE: there is no such home, or it has none. */
uint32_t audit_home_leaf(const audit_plugs *p, uint32_t home, uint32_t column);
/** The last run of digits of a name; false: there is none. */
bool audit_last_number(const char *name, size_t *out_place, size_t *out_end);

/** Servers in the home of another row of names: tells of those that are in each other's place, and puts all where they
 * belong, for what is asked behind. */
FAB_STATUS audit_plugs_rows(audit_plugs *p, fab_error *err);

/** Fills `should` of plugs that are elsewhere than their peers' are. */
FAB_STATUS audit_plugs_compare(audit_plugs *p, fab_error *err);

/** Adapters at another port than all others of their server, where servers have one port everywhere: notes those that
 * stand in each other's place, at one leaf or several, and tells of others at a port of their leaf: of all, or of those
 * in whose place none stands that belongs on another leaf. */
FAB_STATUS audit_plugs_ports(audit_plugs *p, bool all, fab_error *err);

/** Notes that plugs [n] stand in each other's place, as in audit_ring, beginning with any. */
FAB_STATUS audit_note_ring(audit_plugs *p, const uint32_t *member, uint32_t n, double confidence, bool is_sure,
                           fab_error *err);
/** Whether all plugs of a ring are at one leaf, and lose nothing. */
bool audit_ring_is_at_leaf(const audit_plugs *p, const audit_ring *ring);
/** Whether two rings are of the same servers. */
bool audit_same_servers(const audit_ring *x, const audit_ring *y);
/** Tells of all rings that are noted, by servers; with `at_leaves` of those at one leaf that are not sure too. The
 * rings are sorted by servers. */
FAB_STATUS audit_tell_rings(audit_plugs *p, bool at_leaves, fab_error *err);
/** Sorts the rings by servers. */
void audit_sort_rings(audit_plugs *p);

/** Hosts that stand out of the order that names and ports have elsewhere. */
FAB_STATUS audit_plugs_order(audit_plugs *p, fab_error *err);

/** Hosts whose number is left out, where their peers' switches have a cable more. */
FAB_STATUS audit_plugs_gaps(audit_plugs *p, fab_error *err);

/** Two that are in each other's place; is_open: each at the leaf of the other, at which port is not known. */
FAB_STATUS audit_report_exchange(auditor *a, fab_finding_kind kind, const audit_plug *p, const audit_plug *q,
                                 double confidence, bool is_open, fab_error *err);
/** Two servers of which several cables, those that are told, are where those of the other belong, at other leaves or at
 * ports of the same. */
FAB_STATUS audit_report_servers(const audit_plugs *p, uint32_t one, uint32_t two, double confidence, fab_error *err);
/** Tells of one that is elsewhere than it should be, unless servers are dealt so: then it stays untold. */
FAB_STATUS audit_report_astray(audit_plugs *plugs, audit_plug *p, double confidence, fab_error *err);
