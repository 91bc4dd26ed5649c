/*
 * What NCCL logs (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET,COLL): which rank runs where, the rings that it has
 * found, the adapters that it uses, and what collectives move. Processes may log into one file, or into files of a
 * folder.
 *
 *     node1:321:398 [0] NCCL INFO Channel 00/02 :    0   1   2   3
 *     node1:321:398 [0] NCCL INFO Ring 00 : 3 -> 0 -> 1
 *     node1:321:398 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA
 *     node1:321:398 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId
 *         0x9f3c - Init COMPLETE
 *     node1:321:321 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x7f recvbuff 0x7f count 1024 datatype 7 op 0 root 0
 * comm 0x55d0 [nranks=4] stream 0x55
 *
 * A line about rings says nothing of its communicator: it is that of the next "Init COMPLETE" of the same thread.
 * Source: NVIDIA/nccl, src/init.cc, src/graph, src/transport/net.cc, src/enqueue.cc.
 */
#include "nccl_log.h"

#include "fab/names.h"

#define MOST_RANKS UINT32_C(0x1000000)

/* --- lines -------------------------------------------------------------------------------------------------------- */

/* The number behind " word ", decimal, or hexadecimal behind "0x" or where it is so by its nature. */
static bool number_behind(fab_token t, const char *word, int base, uint64_t *out) {
    const char *at = fab_token_find(t, word);
    char text[24] = "";
    char *behind = NULL;
    if (at == NULL) {
        return false;
    }
    at += strlen(word);
    size_t n = strspn(at, "0123456789abcdefxABCDEF");
    n = at + n <= t.text + t.length && n < sizeof text ? n : 0;
    memcpy(text, at, n);
    *out = strtoull(text, &behind, base);
    return n > 0 && behind != text;
}

/* "host:pid:tid [0] ..." before " NCCL INFO ", maybe behind what a launcher puts before it. */
static bool read_thread(fab_token head, size_t line, fab_nccl_thread *out) {
    for (size_t i = head.length; i-- > 0;) {
        size_t pid = 0;
        if (head.text[i] != '[') {
            continue;
        }
        size_t tid = i > 0 && head.text[i - 1] == ' ' ? i - 1 : i;
        size_t end = tid;
        while (tid > 0 && head.text[tid - 1] >= '0' && head.text[tid - 1] <= '9') {
            tid--;
        }
        pid = tid > 0 && head.text[tid - 1] == ':' && tid < end ? tid - 1 : 0;
        size_t colon = pid;
        while (pid > 0 && head.text[pid - 1] >= '0' && head.text[pid - 1] <= '9') {
            pid--;
        }
        if (pid < 2 || pid == colon || head.text[pid - 1] != ':') {
            continue;
        }
        size_t host = pid - 1;
        while (host > 0 && strchr(" \t:>]", head.text[host - 1]) == NULL) {
            host--;
        }
        *out = (fab_nccl_thread){.host = head.text + host, .n_host = pid - 1 - host, .line = line};
        out->pid = strtoull(head.text + pid, NULL, 10);
        out->tid = strtoull(head.text + tid, NULL, 10);
        return out->n_host > 0;
    }
    return false;
}

static fab_status add_note(fab_nccl_log *r, const fab_nccl_note *made, fab_error *err) {
    return FAB_APPEND(r->notes, r->n_notes, r->note_capacity, err, *made);
}

/* "ncclCommInitRank comm 0x55d0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9f3c - Init COMPLETE" */
static fab_status read_member(fab_nccl_log *r, const fab_nccl_thread *by, fab_token rest, fab_error *err) {
    fab_nccl_member m = {.by = *by};
    uint64_t rank = 0;
    uint64_t n_ranks = 0;
    uint64_t device = 0;
    uint64_t color = 0;
    uint64_t split = 0;
    FAB_RETURN_IF(
        !number_behind(rest, "comm ", 16, &m.pointer) || !number_behind(rest, " rank ", 10, &rank) ||
            !number_behind(rest, " nranks ", 10, &n_ranks) || n_ranks == 0 || n_ranks > MOST_RANKS || rank >= n_ranks ||
            (!number_behind(rest, " nvmlDev ", 10, &device) && !number_behind(rest, " cudaDev ", 10, &device)),
        fab_text_refuse(r->in, rest, err,
                        "does not say communicator, rank, nranks and cudaDev, as 'comm 0x55d0 rank 0 nranks 4 "
                        "cudaDev 0'"));
    if (number_behind(rest, " color ", 10, &color) && number_behind(rest, " splitCount ", 10, &split)) {
        m.key = (color << 32) ^ (split << 16) ^ 1;
    }
    (void)number_behind(rest, " commId ", 16, &m.key);
    m.rank = (uint32_t)rank;
    m.n_ranks = (uint32_t)n_ranks;
    m.device = device < FAB_NONE ? (uint32_t)device : FAB_NONE;
    return FAB_APPEND(r->members, r->n_members, r->member_capacity, err, m);
}

/* "Channel 00/02 : 0 1 2 3": ranks in the order of the ring, of which long ones are cut off. */
static fab_status read_ring(fab_nccl_log *r, const fab_nccl_thread *by, uint32_t channel, fab_token rest,
                            fab_error *err) {
    fab_nccl_note made = {.by = *by, .kind = FAB_NCCL_RING, .channel = channel, .first = r->n_ranks};
    const char *at = rest.text;
    while (at < rest.text + rest.length) {
        size_t n = strspn(at, "0123456789");
        FAB_PASS(FAB_GROW(r->ranks, r->rank_capacity, r->n_ranks + 1, err));
        if (n > 0) {
            r->ranks[r->n_ranks++] = (uint32_t)strtoul(at, NULL, 10);
            made.n++;
        }
        at += n > 0 ? n : 1;
    }
    return add_note(r, &made, err);
}

/* "0[0] -> 8[0] [send] via NET/IB/1/GDRDMA" */
static fab_status read_edge(fab_nccl_log *r, const fab_nccl_thread *by, uint32_t channel, fab_token rest,
                            fab_error *err) {
    fab_nccl_note made = {.by = *by,
                          .kind = fab_token_find(rest, "[send]") != NULL ? FAB_NCCL_SEND : FAB_NCCL_RECEIVE,
                          .channel = channel};
    uint64_t to = 0;
    const char *net = fab_token_find(rest, " via NET/");
    const char *slash = net != NULL ? memchr(net + 9, '/', (size_t)(rest.text + rest.length - net - 9)) : NULL;
    if (slash == NULL || !number_behind(rest, " -> ", 10, &to) ||
        (made.kind == FAB_NCCL_RECEIVE && fab_token_find(rest, "[receive]") == NULL)) {
        return FAB_OK; /* within the host */
    }
    made.from = (uint32_t)strtoul(rest.text, NULL, 10);
    made.to = (uint32_t)to;
    made.adapter = (uint32_t)strtoul(slash + 1, NULL, 10);
    return add_note(r, &made, err);
}

double fab_ring_share(fab_operation operation, uint32_t n) {
    switch (operation) {
    case FAB_ALL_REDUCE: return 2 * ((double)n - 1) / n;
    case FAB_ALL_GATHER:
    case FAB_REDUCE_SCATTER: return ((double)n - 1) / n;
    case FAB_BROADCAST:
    case FAB_REDUCE: return 1;
    case FAB_ALL_TO_ALL:
    case FAB_N_OPERATIONS: break;
    }
    return 0;
}

/* Bytes that a collective puts on every edge of its rings: count is of elements, of AllGather and ReduceScatter those
 * of one rank. */
static double edge_bytes_of(fab_token rest, uint64_t count, uint64_t n_ranks, double size) {
    static const struct {
        const char *name;
        fab_operation operation;
        bool is_of_rank;
    } CALLS[] = {{"AllReduce:", FAB_ALL_REDUCE, false},
                 {"AllGather:", FAB_ALL_GATHER, true},
                 {"ReduceScatter:", FAB_REDUCE_SCATTER, true},
                 {"Broadcast:", FAB_BROADCAST, false},
                 {"Reduce:", FAB_REDUCE, false}};
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        if (fab_token_find(rest, CALLS[i].name) == rest.text) {
            double bytes = (double)count * size * (CALLS[i].is_of_rank ? (double)n_ranks : 1);
            return bytes * fab_ring_share(CALLS[i].operation, (uint32_t)n_ranks);
        }
    }
    return 0;
}

/* "AllReduce: opCount 3 sendbuff 0x7f recvbuff 0x7f count 1024 datatype 7 op 0 root 0 comm 0x55d0 [nranks=4] ..." */
static fab_status read_call(fab_nccl_log *r, const fab_nccl_thread *by, fab_token rest, fab_error *err) {
    static const double SIZES[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1}; /* of ncclDataType_t */
    fab_nccl_call made = {.by = *by, .peer = FAB_NONE};
    uint64_t count = 0;
    uint64_t type = 0;
    uint64_t n_ranks = 0;
    uint64_t root = 0;
    FAB_RETURN_IF(!number_behind(rest, " count ", 10, &count) || !number_behind(rest, " datatype ", 10, &type) ||
                      !number_behind(rest, " comm ", 16, &made.pointer) ||
                      !number_behind(rest, "[nranks=", 10, &n_ranks) || type >= sizeof SIZES / sizeof SIZES[0],
                  fab_text_refuse(r->in, rest, err, "does not say count, datatype, comm and nranks"));
    if (fab_token_find(rest, "Recv:") == rest.text) {
        return FAB_OK; /* told by who sends */
    }
    made.edge_bytes = edge_bytes_of(rest, count, n_ranks, SIZES[type]);
    if (fab_token_find(rest, "Send:") == rest.text && number_behind(rest, " root ", 10, &root)) {
        made.peer = root < FAB_NONE ? (uint32_t)root : FAB_NONE - 1;
        made.edge_bytes = (double)count * SIZES[type];
    }
    return FAB_APPEND(r->calls, r->n_calls, r->call_capacity, err, made);
}

static fab_status nccl_read_line(fab_nccl_log *r, fab_error *err) {
    static const char INFO[] = " NCCL INFO ";
    fab_token all = fab_text_rest(r->in);
    const char *info = fab_token_find(all, INFO);
    fab_nccl_thread by = {.host = NULL};
    uint64_t channel = 0;
    uint64_t next = 0;
    if (info == NULL ||
        !read_thread((fab_token){.text = all.text, .length = (size_t)(info - all.text)}, r->in->line, &by)) {
        return FAB_OK;
    }
    const char *at = info + sizeof INFO - 1;
    fab_token rest = {
        .text = at, .length = (size_t)(all.text + all.length - at), .column = all.column + (size_t)(at - all.text)};
    const char *colon = fab_token_find(rest, " : ");
    fab_token behind = {.text = colon != NULL ? colon + 3 : at,
                        .length = colon != NULL ? (size_t)(rest.text + rest.length - colon - 3) : 0};
    bool has_channel = number_behind(rest, "Channel ", 10, &channel) || number_behind(rest, "Ring ", 10, &channel);
    if (fab_token_find(rest, " - Init COMPLETE") != NULL && fab_token_find(rest, "comm ") != NULL) {
        return read_member(r, &by, rest, err);
    }
    if (fab_token_find(rest, ": opCount ") != NULL) {
        return read_call(r, &by, rest, err);
    }
    if (!has_channel || colon == NULL || channel >= FAB_NCCL_CHANNELS) {
        return FAB_OK;
    }
    if (fab_token_find(rest, "Ring ") == rest.text) {
        const char *arrow = fab_token_find(behind, " -> ");
        fab_token two = {.text = arrow != NULL ? arrow + 4 : at,
                         .length = arrow != NULL ? (size_t)(behind.text + behind.length - arrow - 4) : 0};
        fab_nccl_note made = {.by = by,
                              .kind = FAB_NCCL_NEXT,
                              .channel = (uint32_t)channel,
                              .from = (uint32_t)strtoul(two.text, NULL, 10)};
        made.to = number_behind(two, " -> ", 10, &next) ? (uint32_t)next : FAB_NONE;
        return made.to != FAB_NONE ? add_note(r, &made, err) : FAB_OK;
    }
    bool is_edge = fab_token_find(behind, " -> ") != NULL;
    return is_edge ? read_edge(r, &by, (uint32_t)channel, behind, err)
                   : read_ring(r, &by, (uint32_t)channel, behind, err);
}

/* --- communicators ------------------------------------------------------------------------------------------------ */

static int by_host(const fab_nccl_thread *a, const fab_nccl_thread *b) {
    size_t n = a->n_host < b->n_host ? a->n_host : b->n_host;
    int order = memcmp(a->host, b->host, n);
    return order != 0 ? order : FAB_ORDER(a->n_host, b->n_host);
}

FAB_ORDER_KEYS(members_by_rank, fab_nccl_member, FAB_ORDER(a->key, b->key), FAB_ORDER(a->n_ranks, b->n_ranks),
               FAB_ORDER(a->rank, b->rank), FAB_ORDER(a->by.line, b->by.line));

static int by_thread(const fab_nccl_thread *a, const fab_nccl_thread *b) {
    int order = by_host(a, b);
    if (order != 0) {
        return order;
    }
    FAB_ORDER_BY(a->tid, b->tid);
    return FAB_ORDER(a->line, b->line);
}

static int notes_by_thread(const void *x, const void *y) {
    return by_thread(&((const fab_nccl_note *)x)->by, &((const fab_nccl_note *)y)->by);
}

/* A host is called by its name, maybe with its domain. */
static uint32_t server_of(const fab_fabric *f, const char *host, size_t n) {
    char number[16];
    if (f->names != NULL) {
        uint32_t server = fab_names_find_server(f->names, host, n);
        const char *dot = memchr(host, '.', n);
        return server == FAB_NONE && dot != NULL ? fab_names_find_server(f->names, host, (size_t)(dot - host)) : server;
    }
    if (n < 8 || n > 15 || memcmp(host, "server-", 7) != 0) {
        return FAB_NONE;
    }
    FAB_FORMAT(number, "%.*s", (int)(n - 7), host + 7);
    char *behind = NULL;
    unsigned long server = strtoul(number, &behind, 10);
    return behind != NULL && *behind == '\0' && server < fab_n_gpus(f) / f->gpus_per_server ? (uint32_t)server
                                                                                            : FAB_NONE;
}

static fab_status place_member(fab_nccl_log *r, fab_nccl_member *m, fab_error *err) {
    r->in->line = m->by.line;
    fab_token host = {.text = m->by.host, .length = m->by.n_host, .column = 1};
    uint32_t server = server_of(r->f, m->by.host, m->by.n_host);
    FAB_RETURN_IF(server == FAB_NONE, fab_text_refuse(r->in, host, err, "is no server of this fabric"));
    FAB_RETURN_IF(m->device >= r->f->gpus_per_server,
                  fab_text_refuse(r->in, host, err, "has a GPU %" PRIu32 " here, and servers of this fabric have %u",
                                  m->device, r->f->gpus_per_server));
    m->gpu = server * r->f->gpus_per_server + m->device;
    return FAB_OK;
}

/* Ranks by communicator: every one of them is there, once, on a GPU of its own. */
static fab_status find_communicators(fab_nccl_log *r, fab_error *err) {
    const fab_token none = {.column = 1};
    FAB_RETURN_IF(
        r->n_members == 0 || r->members == NULL,
        fab_text_refuse(r->in, none, err,
                        "the log names no rank: a line 'comm 0x.. rank 0 nranks 4 cudaDev 0 ... - Init COMPLETE' "
                        "is printed with NCCL_DEBUG=INFO"));
    fab_nccl_member *members = r->members;
    qsort(members, r->n_members, sizeof *members, members_by_rank);
    for (uint32_t i = 0; i < r->n_members; i++) {
        fab_nccl_member *m = &members[i];
        const fab_nccl_member *before = i > 0 ? m - 1 : NULL;
        bool is_new = before == NULL || before->key != m->key || before->n_ranks != m->n_ranks;
        uint32_t wanted = is_new ? 0 : before->rank + 1;
        FAB_PASS(place_member(r, m, err));
        if (is_new && before != NULL && before->rank + 1 != before->n_ranks) {
            r->in->line = before->by.line;
            return fab_text_refuse(r->in, none, err,
                                   "rank %" PRIu32 " of %" PRIu32
                                   " is not in the log; put those of all processes together",
                                   before->rank + 1, before->n_ranks);
        }
        FAB_RETURN_IF(m->rank != wanted,
                      fab_text_refuse(r->in, none, err,
                                      m->rank < wanted
                                          ? "rank %" PRIu32 " of %" PRIu32
                                            " is there twice: communicators that have no commId cannot be told apart"
                                          : "rank %" PRIu32 " of %" PRIu32
                                            " is not in the log; put those of all processes together",
                                      m->rank < wanted ? m->rank : wanted, m->n_ranks));
        if (is_new) {
            FAB_PASS(
                FAB_APPEND(r->comms, r->n_comms, r->comm_capacity, err, (fab_nccl_comm){.first = i, .n = m->n_ranks}));
        }
        m->comm = (uint32_t)r->n_comms - 1;
    }
    const fab_nccl_member *last = &members[r->n_members - 1];
    FAB_RETURN_IF(last->rank + 1 != last->n_ranks,
                  fab_text_refuse(r->in, none, err,
                                  "rank %" PRIu32 " of %" PRIu32
                                  " is not in the log; put those of all processes together",
                                  last->rank + 1, last->n_ranks));
    return FAB_OK;
}

static fab_status check_devices(fab_nccl_log *r, fab_error *err) {
    FAB_OWNED_NEW(uint32_t, rank_on, fab_n_gpus(r->f), err); /* [gpus]: rank + 1 */
    FAB_EACH(fab_nccl_comm, comm, r->comms, r->n_comms) {
        const fab_nccl_member *m = &r->members[comm->first];
        uint32_t last = FAB_NONE;
        for (uint32_t i = 0; i < comm->n; i++) {
            uint32_t server = m[i].gpu / r->f->gpus_per_server;
            if (rank_on[m[i].gpu] != 0) {
                r->in->line = m[i].by.line;
                return fab_text_fail(r->in, err,
                                     "ranks %" PRIu32 " and %" PRIu32
                                     " would be on one GPU: without nvmlDev, cudaDev must be "
                                     "the number among all GPUs of the host",
                                     rank_on[m[i].gpu] - 1, i);
            }
            rank_on[m[i].gpu] = i + 1;
            comm->n_servers += server != last ? 1 : 0;
            last = server;
        }
        for (uint32_t i = 0; i < comm->n; i++) {
            rank_on[m[i].gpu] = 0;
        }
    }
    return FAB_OK;
}

/* Of a note the communicator that its thread completes next; where there is one in all, that. */
static fab_status assign_notes(fab_nccl_log *r, fab_error *err) {
    FAB_OWNED_NEW(fab_nccl_note, ends, r->n_members, err); /* the completions, as notes that are only a place */
    for (size_t i = 0; i < r->n_members; i++) {
        ends[i] = (fab_nccl_note){.by = r->members[i].by, .comm = r->members[i].comm};
    }
    qsort(ends, r->n_members, sizeof *ends, notes_by_thread);
    FAB_SORT(r->notes, r->n_notes, notes_by_thread);
    size_t e = 0;
    FAB_EACH(fab_nccl_note, n, r->notes, r->n_notes) {
        while (e < r->n_members && by_thread(&ends[e].by, &n->by) < 0) {
            e++;
        }
        bool is_same = e < r->n_members && by_host(&ends[e].by, &n->by) == 0 && ends[e].by.tid == n->by.tid;
        n->comm = is_same ? ends[e].comm : r->n_comms == 1 ? 0 : FAB_NONE;
    }
    return FAB_OK;
}

int fab_nccl_by_process(const fab_nccl_thread *a, const fab_nccl_thread *b) {
    int order = by_host(a, b);
    return order != 0 ? order : FAB_ORDER(a->pid, b->pid);
}

fab_status fab_nccl_log_read(fab_nccl_log *log, fab_error *err) {
    while (fab_text_next(log->in)) {
        FAB_PASS(nccl_read_line(log, err));
    }
    FAB_PASS(find_communicators(log, err));
    FAB_PASS(check_devices(log, err));
    return assign_notes(log, err);
}

FAB_RELEASES(fab_nccl_log_release, fab_nccl_log, members, notes, calls, comms, ranks);
