/**
 * A network as it is installed, or as another tool describes it: boxes, ports and cables by the names that people walk
 * to, before anything is known of tiers, rails or servers. Readers of foreign formats make one; see
 * src/doc/adr/0039-installed-networks.md.
 */
#pragma once

#include "fab/base.h"

#define FAB_NETWORK_NONE UINT32_MAX

typedef enum fab_network_kind {
    FAB_NETWORK_UNKNOWN, /**< the file does not say: found from the graph later */
    FAB_NETWORK_ADAPTER, /**< a NIC or HCA of a host */
    FAB_NETWORK_HOST,    /**< a host whose adapters the file does not tell apart: its ports do */
    FAB_NETWORK_SWITCH,
    FAB_NETWORK_SERVICE, /**< inside a switch: a SHARP aggregation node; no host */
} fab_network_kind;

/** Texts belong to the network. */
typedef struct fab_network_node {
    const char *name;  /**< unique in the file: a GUID, a host name */
    const char *label; /**< what people call it: a description; never NULL, maybe the name */
    const char *host;  /**< of an adapter: its server; NULL: not known */
    fab_network_kind kind;
    uint64_t guid, system_guid; /**< 0: not known */
    uint32_t tier;              /**< of a switch, 1 = leaf; 0: not known */
    uint32_t n_ports;           /**< 0: not known */
    uint32_t rank;              /**< of a host that the file numbers (simulators); FAB_NETWORK_NONE */
    bool lacks_record;          /**< one of several that others name alone: the file is cut */
    size_t line;
} fab_network_node;

/** One end of a cable. */
typedef struct fab_network_end {
    uint32_t node;
    const char *port; /**< "17", "swp1"; NULL: the file names no ports */
    size_t line;      /**< where the file reports the cable from this end; 0: it does not */
} fab_network_end;

typedef struct fab_network_cable {
    fab_network_end end[2];
    double rate_bps;  /**< per direction; 0: not known */
    double latency_s; /**< one way; 0: not known */
    double length_m;  /**< 0: not known */
    uint32_t width;   /**< lanes; 0: not known */
} fab_network_cable;

/** A set of hosts that share a scale-up domain or a server's inside, where the file says so. */
typedef struct fab_network_group {
    const char *name;
    uint32_t first, n; /**< members: net->member[first] ... */
    double rate_bps;   /**< of a member into the scale-up network, per direction; 0: not known */
} fab_network_group;

/** What a reader met and did not refuse: a cable to nowhere, a port without a speed. */
typedef struct fab_network_note {
    size_t line;
    const char *text;
} fab_network_note;

#define FAB_NETWORK_TIERS 8 /**< that a hash is said of; above them as the last */

/** How switches choose among equal next hops, where that is said. */
typedef struct fab_network_hash {
    struct {
        char algorithm[16]; /**< "crc32", as engine ecmp calls it */
        uint32_t seed, offset;
    } tier[FAB_NETWORK_TIERS]; /**< leaf first */
    bool is_resilient;
} fab_network_hash;

typedef struct fab_network {
    const char *path;
    const char *format; /**< name of the format that was read */
    uint32_t n_nodes, n_cables, n_groups, n_notes, n_members;
    fab_network_node *nodes;
    fab_network_cable *cables;
    fab_network_group *groups;
    uint32_t *member;
    fab_network_note *notes;
    uint64_t max_bytes;        /**< memory that may be taken; 0: no limit */
    bool reports_both_ends;    /**< the format lists every cable at both ends, so that one end alone is a finding */
    bool tells_neighbors;      /**< while it is read: boxes tell their neighbors, and not all of them were asked */
    bool keeps_contradictions; /**< what is installed may contradict itself: the first report stays, others are notes */
    bool has_ports;            /**< ports are named */
    bool is_infiniband;        /**< the format is one of its tools */
    bool is_tree_of_names; /**< Slurm: which hosts are below which switches, no cables of hosts or switches as such */
    uint64_t n_left_out;   /**< cables that the reader has left out */
    const char *left_out;  /**< which these are: "neighbors on management ports"; NULL: none */
    const char *columns;   /**< while it is read: the format and its keys, as they were asked for; NULL: nothing was */
    const fab_network_hash *hash; /**< borrowed; NULL: nobody said how */
    struct fab_network_memory *memory;
} fab_network;

void fab_network_free(fab_network *net);
FAB_OWNER(fab_network, fab_network_free)

/* --- making one: readers ------------------------------------------------------------------------------------------ */

FAB_STATUS fab_network_new(const char *path, fab_network **out, fab_error *err);

/** Refuses so many more nodes, and cables, before they are added. @retval FAB_ELIMIT  they take more than max_bytes */
FAB_STATUS fab_network_expect(const fab_network *net, uint64_t nodes, uint64_t cables, fab_error *err);

/** A copy of n bytes of text that lives as long as the network. */
FAB_STATUS fab_network_text(fab_network *net, const char *text, size_t n, const char **out, fab_error *err);

/** Node of a name, FAB_NETWORK_NONE where there is none. O(1) expected. */
uint32_t fab_network_find(const fab_network *net, const char *name, size_t n);

/**
 * Node of a name, added if it is new: of unknown kind, its label is its name.
 * @retval FAB_EUNSUPPORTED  more than 2^24 nodes
 */
FAB_STATUS fab_network_add_node(fab_network *net, const char *name, size_t n, size_t line, uint32_t *out,
                                fab_error *err);

/**
 * A cable. Where a cable between these two ports was reported from the other end before, that one is completed instead
 * (ports must be named).
 * @param[out] out_old  Whether it was there already. May be NULL.
 * @retval FAB_EINPUT   one of its ports has another cable already; the message names both lines (a note instead where
 *                      contradictions are kept). Or a node is joined
 *                      to itself at the same port
 */
FAB_STATUS fab_network_add_cable(fab_network *net, const fab_network_cable *cable, bool *out_old, fab_error *err);

/** Takes out the nodes that `drop` [n_nodes] says, and their cables; none can be added afterwards. */
FAB_STATUS fab_network_drop_nodes(fab_network *net, const bool *drop, fab_error *err);

/** Takes out the cables that `drop` [n_cables] says; none can be added afterwards. */
void fab_network_drop_cables(fab_network *net, const bool *drop);

FAB_STATUS fab_network_add_group(fab_network *net, const char *name, size_t n, const uint32_t *members,
                                 uint32_t n_members, fab_error *err);

FAB_STATUS fab_network_add_note(fab_network *net, size_t line, fab_error *err, const char *fmt, ...) FAB_PRINTF(4, 5);

/* --- reading ------------------------------------------------------------------------------------------------------ */

struct fab_network_json;
struct fab_text;

typedef struct fab_network_format {
    const char *name;    /**< "ibnetdiscover", "slurm", ... */
    const char *summary; /**< one line for `list formats` */
    /** How such a file begins, for certain enough to read it as such: an extended regular expression of POSIX. */
    const char *begins;
    bool ignores_case;                   /**< of `begins` */
    bool is_infiniband;                  /**< no other network is told so */
    bool (*recognise)(const char *head); /**< instead of it */
    const char *words;                   /**< instead of both: JSON that has all these members, or these: "a b|c" */
    /** @retval FAB_EINPUT  file:line:column, what was expected */
    fab_status (*text)(struct fab_text *in, fab_network *net, fab_error *err);
    /** Instead of it, of a file that is XML; or that is one value of JSON, or of YAML. */
    fab_status (*read)(const char *path, fab_network *net, fab_error *err);
    fab_status (*json)(const struct fab_network_json *r, fab_error *err),
        (*yaml)(const struct fab_network_json *r, fab_error *err);
} fab_network_format;

/** The first that recognises a file reads it; ended by an entry without a name. A new one: a file read_NAME.c and a row
 * in network_formats.c. */
extern const fab_network_format *const fab_network_formats[];

/** The format that recognises a file that begins so, which ends with a NUL; NULL: none does. */
FAB_STATUS fab_network_recognise(const char *head, const fab_network_format **out, fab_error *err);

/**
 * Names boxes by GUID, as a file has them: 0x2c5eab0300b87b40 "leaf-3", a line each.
 * @retval FAB_EINPUT  file:line:column, what was expected
 * Complexity: O(bytes log(nodes)).
 */
FAB_STATUS fab_network_rename(fab_network *net, const char *path, fab_error *err);

/**
 * Checks "NAME,exclude=PATTERN,a-node=COLUMN,...": NAME is that of a format, or auto; a PATTERN as of the shell names
 * boxes that are left out with their cables; the names of columns are of lists of cables: a-node, a-port, z-node,
 * z-port, rate, length.
 * @param[out] out_n  Length of NAME. May be NULL.
 * @retval FAB_EINPUT  a key that there is not, one without a value, or columns of another format
 */
FAB_STATUS fab_network_format_check(const char *format, size_t *out_n, fab_error *err);

/**
 * Reads a file.
 * @param[in]  format     Name of the format, or NULL: recognised by content; as fab_network_format_check() takes it.
 * @param[in]  max_bytes  Memory that a short file of many boxes may take; 0: no limit.
 * @param[out] out        Written on success only; release with fab_network_free().
 * @retval FAB_ELIMIT  it would take more
 * @retval FAB_EINPUT  no format recognises it (the message lists them), or it is malformed: file:line:column
 * Complexity: O(bytes).
 */
FAB_STATUS fab_network_read(const char *path, const char *format, uint64_t max_bytes, fab_network **out,
                            fab_error *err);
