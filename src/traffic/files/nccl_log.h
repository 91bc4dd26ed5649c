/** What a log of NCCL says, line by line: ranks of communicators, rings, adapters, collectives. */
#pragma once

#include "file_formats.h"

#include "fab/collective.h"

#define FAB_NCCL_CHANNELS 1024

/* Of a line: "node1:321:398 [0] NCCL INFO". */
typedef struct fab_nccl_thread {
    const char *host;
    size_t n_host;
    uint64_t pid, tid;
    size_t line;
} fab_nccl_thread;

typedef struct fab_nccl_member {
    fab_nccl_thread by;
    uint64_t key, pointer; /* of the communicator: what all of its ranks say, and what this process calls it */
    uint32_t rank, n_ranks, gpu;
    uint32_t device; /* of the host */
    uint32_t comm;
} fab_nccl_member;

/* A ring, the neighbor in one, or an adapter that an edge of one uses. */
typedef struct fab_nccl_note {
    fab_nccl_thread by;
    enum { FAB_NCCL_RING, FAB_NCCL_NEXT, FAB_NCCL_SEND, FAB_NCCL_RECEIVE } kind;
    uint32_t channel, from, to, adapter;
    size_t first, n; /* of a whole ring: ranks */
    uint32_t comm;
} fab_nccl_note;

/* What a rank has called. */
typedef struct fab_nccl_call {
    fab_nccl_thread by;
    uint64_t pointer;
    double edge_bytes; /* over every edge of the rings */
    uint32_t peer;     /* of a send; FAB_NONE */
} fab_nccl_call;

typedef struct fab_nccl_comm {
    uint32_t first, n; /* members, by rank */
    double edge_bytes;
    bool is_called;
    uint32_t n_servers, n_channels;
} fab_nccl_comm;

typedef struct fab_nccl_log {
    fab_text *in;
    const fab_fabric *f;
    fab_nccl_member *members; /* by communicator and rank */
    fab_nccl_note *notes;
    fab_nccl_call *calls;
    fab_nccl_comm *comms;
    uint32_t *ranks; /* of whole rings */
    size_t n_members, n_notes, n_calls, n_comms, n_ranks;
    size_t member_capacity, note_capacity, call_capacity, comm_capacity, rank_capacity;
} fab_nccl_log;

/** Reads all lines, and finds communicators: every rank of theirs is there and has a GPU of its own. */
FAB_STATUS fab_nccl_log_read(fab_nccl_log *log, fab_error *err);
void fab_nccl_log_release(fab_nccl_log *log);

/** Order of hosts; by process as well, where both threads are of one. */
int fab_nccl_by_process(const fab_nccl_thread *a, const fab_nccl_thread *b);

/** Bytes over every edge of a ring of n ranks, in units of S. */
double fab_ring_share(fab_operation operation, uint32_t n);

/** Where the ranks of the widest communicator run. Release what it fills, whatever comes of it. */
FAB_STATUS fab_nccl_place(const fab_nccl_log *log, fab_ranks *out, fab_error *err);

/* Bytes over every edge of the rings of `members`, [n]; for what a log does not tell. */
typedef double fab_nccl_bytes(void *context, const fab_nccl_member *members, uint32_t n);

/** Traffic of the rings of a log that was read. `bytes` is asked where the log has no collective, and may be NULL. */
FAB_STATUS fab_nccl_traffic(fab_nccl_log *log, fab_nccl_bytes *bytes, void *context, fab_traffic *traffic,
                            fab_error *err);
