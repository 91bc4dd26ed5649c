/*
 * What the files of the collectives share. To add an algorithm: write its rules (below) in the file of its family or a
 * new one, name them here, and add a row to fab_algorithms in collectives.c.
 */
#pragma once

#include "fab/collective.h"
#include "traffic_internal.h"

/* Beyond this, the flows of a phase that must be listed take gigabytes. */
#define FAB_MAX_LISTED_FLOWS (UINT64_C(64) << 20)

/* --- collective_layout.c: how servers and scale-up domains hold a communicator ------------------------------------ */

/* Ranks ordered by where their GPUs are. */
typedef struct fab_grouping {
    uint32_t k;        /* members in each group; 0: groups hold different numbers */
    uint32_t n_groups; /* in the order of their first members */
    uint32_t *ranks;   /* shape [n]: group g has ranks[g k ...] */
} fab_grouping;

typedef struct fab_layout {
    const fab_fabric *fabric;
    uint32_t n_most;                /* members that fit */
    uint32_t *slot;                 /* shape [groups of the fabric]: FAB_NONE */
    uint32_t *count;                /* shape [n_most] */
    uint32_t *order;                /* shape [n_most]: scratch of one channel */
    fab_grouping unit;              /* servers, or scale-up domains where these are larger; ranks in their order */
    fab_grouping domain;            /* scale-up domains; ranks by GPU */
    bool aligned;                   /* every domain holds the same places */
    const fab_gpu_library *library; /* of the GPUs: whether switches of a domain reduce; NULL: not known */
} fab_layout;

FAB_STATUS fab_layout_init(fab_layout *layout, const fab_fabric *fabric, uint32_t n_most, fab_error *err);
void fab_layout_release(fab_layout *layout);
void fab_layout_set(fab_layout *layout, const uint32_t *members, uint32_t n);
/* `unit` alone. */
void fab_layout_set_units(fab_layout *layout, const uint32_t *members, uint32_t n);

/* --- rings.c ------------------------------------------------------------------------------------------------------ */

/* Ring collective over `members` (GPUs in rank order), whose units are set: every member sends `bytes` in total. */
void fab_ring_emit(const fab_layout *layout, const uint32_t *members, uint32_t n_members, uint64_t bytes, uint32_t comm,
                   fab_phase_builder *builder);

/* --- one communicator and one algorithm --------------------------------------------------------------------------- */

typedef struct fab_collective {
    const fab_algorithm *algorithm;
    fab_operation operation;
    const fab_fabric *fabric;
    const fab_layout *layout;
    const uint32_t *members;
    uint32_t r;
    uint32_t channels;   /* asked for; 0: as many as there can be */
    uint32_t n_channels; /* of rings and trees */
    uint32_t chunks;
    double bytes; /* S */
} fab_collective;

/* What a phase of an algorithm is, in closed form. */
typedef struct fab_part {
    uint64_t steps;
    double copies;  /* bytes that all ranks send, in units of S */
    double copied;  /* that one rank sends on from a buffer for others, in units of S */
    char text[128]; /* bytes of a rank, in words */
} fab_part;

/* `n` messages from a rank to another, one a step. Message t is on shard `shard + (first_shard + t turn) mod n_shards`:
   it waits for all messages of its shard that reach its source in earlier steps. */
typedef struct fab_edge {
    uint32_t from, to; /* ranks */
    uint32_t part;
    uint32_t step; /* of the first message, counted over all parts */
    uint32_t n;
    double bytes; /* of all of them */
    uint32_t shard, n_shards, first_shard, turn;
    uint32_t stage; /* of those that follow each other: a part each, or all in one where they are pipelined */
    bool after;     /* waits as well for the last messages of the stage before that reach its source */
} fab_edge;

typedef struct fab_sink fab_sink;
struct fab_sink {
    void (*edge)(fab_sink *sink, const fab_edge *edge);
    /* Every rank sends `bytes` to the next, in all channels; NULL: edge by edge. */
    void (*ring)(fab_sink *sink, uint32_t part, double bytes);
};

/* One message, of a part that is one step. */
static inline void fab_sink_put(fab_sink *sink, uint32_t part, uint32_t from, uint32_t to, double bytes) {
    sink->edge(sink,
               &(fab_edge){.from = from, .to = to, .part = part, .step = part, .n = 1, .bytes = bytes, .n_shards = 1});
}

struct fab_algorithm_rules {
    fab_status (*check)(const fab_collective *c, fab_error *err); /* NULL: defined for any communicator */
    uint32_t (*n_channels)(const fab_collective *c);              /* most; NULL: has none */
    uint32_t (*n_parts)(const fab_collective *c);                 /* NULL: one */
    void (*part)(const fab_collective *c, uint32_t part, fab_part *out);
    void (*emit)(const fab_collective *c, fab_sink *sink);
    bool merges; /* a pair of GPUs may have several edges in one part */
};

/* The families, one file each. */
extern const struct fab_algorithm_rules fab_rules_ring, fab_rules_chain;                /* collective_ring.c */
extern const struct fab_algorithm_rules fab_rules_exchange;                             /* collective_exchange.c */
extern const struct fab_algorithm_rules fab_rules_mesh, fab_rules_shifted;              /* collective_direct.c */
extern const struct fab_algorithm_rules fab_rules_tree, fab_rules_binomial;             /* collective_tree.c */
extern const struct fab_algorithm_rules fab_rules_hierarchical, fab_rules_rail_aligned; /* collective_hierarchical.c */
extern const struct fab_algorithm_rules fab_rules_in_network, fab_rules_pxn;            /* the same */
extern const struct fab_algorithm_rules fab_rules_nvls, fab_rules_nvls_tree;            /* collective_nvls.c */

/* Fills `out`, whose algorithm is defined; `layout` is that of the communicator. */
FAB_STATUS fab_collective_init(const fab_algorithm *algorithm, const fab_layout *layout,
                               const fab_communicator *communicator, fab_collective *out, fab_error *err);
uint32_t fab_collective_parts(const fab_collective *c);

/* Smallest x with 2^x >= n. */
static inline uint32_t fab_log2_up(uint32_t n) {
    uint32_t x = 0;
    while (x < 32 && (UINT64_C(1) << x) < n) {
        x++;
    }
    return x;
}

/* How often a ring passes a part: twice in an all-reduce. */
static inline uint32_t fab_passes(fab_operation operation) {
    return operation == FAB_ALL_REDUCE ? 2 : 1;
}

/* --- collective_ring.c -------------------------------------------------------------------------------------------- */

/* Most channels: members of a unit, where there are several units. */
uint32_t fab_ring_channels(const fab_collective *c);

/* Edges of a ring over `n` ranks, n_passes (n - 1) steps from `like->step` on; shards from `like->shard` on, n of them.
 */
void fab_ring_edges(const uint32_t *ranks, uint32_t n, uint32_t n_passes, double bytes, const fab_edge *like,
                    fab_sink *sink);

/* --- collective_tree.c -------------------------------------------------------------------------------------------- */

typedef struct fab_tree_edge {
    uint32_t child, parent;
} fab_tree_edge;

/* The edge above inner number x, 1 <= x < m, of the first or the second (tree = 1) of NCCL's binary trees over m nodes.
 */
void fab_double_tree_edge(uint32_t tree, uint32_t x, uint32_t m, fab_tree_edge *out);

/* --- collective_phases.c ------------------------------------------------------------------------------------------ */

/* Communicators of equal size that run one collective at once. */
typedef struct fab_collective_set {
    const char *where; /* for messages */
    const fab_fabric *fabric;
    fab_operation operation;
    const char *name; /* of the phases; NULL: the algorithm's */
    uint32_t r, n_comms;
    const fab_gpu_library *library; /* of the GPUs; NULL: not known */
    const uint32_t *members;        /* shape [n_comms][r]: GPUs in rank order */
    const uint32_t *id;             /* shape [n_comms], ascending: numbers of the communicators; NULL: from 0 */
    const double *bytes;            /* shape [n_comms]: S, all executions together */
    uint64_t executions;
    uint32_t channels;
    bool by_source; /* flows in the order of their source GPUs */
    bool alternative;
} fab_collective_set;

/* Appends the phases of one run. FAB_EUNSUPPORTED where there are more flows than can be listed. */
FAB_STATUS fab_collective_add(const fab_collective_set *set, const fab_algorithm *algorithm, fab_traffic *traffic,
                              fab_error *err);

/* Which algorithms of the operation are defined for every communicator of the set; `out_left` names the others. */
FAB_STATUS fab_collective_list(const fab_collective_set *set, const fab_algorithm **out, size_t *out_n,
                               char *out_excluded, size_t excluded_size, fab_error *err);

/* As fab_collective_add; where the algorithm cannot be used or listed here, `out_left` gets its name instead. */
FAB_STATUS fab_collective_try(const fab_collective_set *set, const fab_algorithm *algorithm, fab_traffic *traffic,
                              bool *out_added, char *out_excluded, size_t excluded_size, fab_error *err);

/* Appends the phases of the algorithm that takes least time by fab_collective_time(). `out_note` tells about it. */
FAB_STATUS fab_collective_add_fastest(const fab_collective_set *set, fab_traffic *traffic, char *out_note,
                                      size_t note_size, fab_error *err);

/* Appends the phases of the algorithm that NCCL takes for the size of the first communicator (nccl.h). */
FAB_STATUS fab_collective_add_nccl(const fab_collective_set *set, fab_traffic *traffic, char *out_note,
                                   size_t note_size, fab_error *err);

/* --- phases_collective.c: collectives of a job that are no rings -------------------------------------------------- */

/* Communicators of equal size. */
typedef struct fab_comm_list {
    uint32_t r, n_comms;
    uint32_t *members, *id;
    double *bytes; /* S, all executions together */
    size_t members_capacity, id_capacity, bytes_capacity;
} fab_comm_list;

void fab_comm_list_release(fab_comm_list *list);
FAB_STATUS fab_comm_list_add(fab_comm_list *list, const uint32_t *members, uint32_t n, double bytes, uint32_t id,
                             fab_error *err);

/* Appends the phases of the collective that `builder` describes (name, collective, algorithm, executions), over the
   communicators of the list; empties both. */
FAB_STATUS fab_training_collective(fab_comm_list *list, const fab_fabric *fabric, const fab_gpu_library *library,
                                   const char *where, fab_phase_builder *builder, fab_traffic *traffic, fab_error *err);
