/* Traffic of the rings that NCCL has logged: what their collectives put on every edge, from the adapters that it chose.
 */
#include "nccl_log.h"

#include "fab/units.h"

#define RING_BYTES 1e9 /* over every edge of the rings together, where the log has no collective */

typedef struct ring_reader {
    fab_nccl_log *log;
    fab_nccl_bytes *bytes; /* beside the log; NULL */
    void *context;
    uint32_t *next;    /* [ranks of the communicator at hand]: in the ring at hand; FAB_NONE */
    uint32_t *adapter; /* [2 * ranks]: that it sends by, and receives by; FAB_NONE: its own */
    fab_phase_builder builder;
    size_t capacity; /* of flows */
    bool is_assumed;
    uint32_t n_rings;
} ring_reader;

/* --- bytes -------------------------------------------------------------------------------------------------------- */

typedef struct caller {
    const fab_nccl_thread *by;
    uint64_t pointer;
    uint32_t comm, rank;
} caller;

FAB_ORDER_KEYS(compare_callers, caller, fab_nccl_by_process(a->by, b->by), FAB_ORDER(a->pointer, b->pointer));

static fab_status add_flow(ring_reader *r, uint32_t from, uint32_t to, double bytes, uint32_t comm, fab_error *err) {
    fab_phase_builder *b = &r->builder;
    if (bytes < 0.5 || from == to) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(bytes > 1e15 || (double)b->phase.total_bytes + bytes > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT,
                  r->log->in->path, "a flow of %g bytes, or all of them together: too much", bytes);
    if (b->phase.n_flows == b->capacity) {
        FAB_PASS(fab_phase_reserve(b, 2 * (uint64_t)b->capacity + 64, err));
    }
    fab_phase_add(b, from, to, (uint64_t)(bytes + 0.5), comm);
    return FAB_OK;
}

/* What every communicator moves: as its lowest rank that has called says; sends by each of them. */
static fab_status count_bytes(ring_reader *r, fab_error *err) {
    fab_nccl_log *log = r->log;
    FAB_OWNED_NEW(caller, callers, log->n_members, err);
    FAB_OWNED_NEW(uint32_t, teller, log->n_comms, err); /* [comms]: rank whose calls count */
    for (size_t i = 0; i < log->n_members; i++) {
        const fab_nccl_member *m = &log->members[i];
        callers[i] = (caller){&m->by, m->pointer, m->comm, m->rank};
    }
    qsort(callers, log->n_members, sizeof *callers, compare_callers);
    memset(teller, 0xff, log->n_comms * sizeof *teller); /* FAB_NONE */
    for (int pass = 0; pass < 2; pass++) {
        FAB_EACH(const fab_nccl_call, call, log->calls, log->n_calls) {
            const caller wanted = {.by = &call->by, .pointer = call->pointer};
            const caller *found = bsearch(&wanted, callers, log->n_members, sizeof *callers, compare_callers);
            if (found == NULL) {
                continue;
            }
            fab_nccl_comm *comm = &log->comms[found->comm];
            if (pass == 0) {
                teller[found->comm] = found->rank < teller[found->comm] ? found->rank : teller[found->comm];
            } else if (call->peer == FAB_NONE && found->rank == teller[found->comm]) {
                comm->edge_bytes += call->edge_bytes;
                comm->is_called = true;
            } else if (call->peer != FAB_NONE && call->peer < comm->n) {
                FAB_PASS(add_flow(r, log->members[comm->first + found->rank].gpu,
                                  log->members[comm->first + call->peer].gpu, call->edge_bytes, found->comm, err));
                comm->is_called = true;
            }
        }
    }
    return FAB_OK;
}

/* Without collectives one communicator may be of several servers: how much others move beside it is not known. */
static fab_status assume_bytes(ring_reader *r, fab_error *err) {
    fab_nccl_log *log = r->log;
    size_t n_wide = 0;
    bool is_called = false;
    for (size_t c = 0; c < log->n_comms; c++) {
        n_wide += log->comms[c].n_servers > 1 ? 1 : 0;
        is_called = is_called || log->comms[c].is_called;
    }
    for (size_t c = 0; c < log->n_comms && !is_called && r->bytes != NULL; c++) {
        log->comms[c].edge_bytes = r->bytes(r->context, log->members + log->comms[c].first, log->comms[c].n);
    }
    if (is_called || r->bytes != NULL) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(n_wide > 1, err, FAB_EINPUT, log->in->path,
                  "%zu communicators reach over several servers, and what each moves is not in the log: add COLL to "
                  "NCCL_DEBUG_SUBSYS",
                  n_wide);
    for (size_t c = 0; c < log->n_comms; c++) {
        log->comms[c].edge_bytes = n_wide == 0 || log->comms[c].n_servers > 1 ? RING_BYTES : 0;
    }
    r->is_assumed = true;
    return FAB_OK;
}

/* --- rings -------------------------------------------------------------------------------------------------------- */

FAB_ORDER_THREE(notes_by_channel, fab_nccl_note, comm, channel, by.line);

/* All notes of one channel of a communicator: who follows whom, and by which adapters. False: no ring is told. */
static bool gather_ring(ring_reader *r, const fab_nccl_comm *comm, const fab_nccl_note *notes, size_t n) {
    uint32_t n_known = 0;
    bool is_ring = false;
    for (uint32_t i = 0; i < comm->n; i++) {
        r->next[i] = r->adapter[2 * (size_t)i] = r->adapter[2 * (size_t)i + 1] = FAB_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t *ranks = r->log->ranks + notes[i].first;
        is_ring = is_ring || notes[i].kind == FAB_NCCL_RING || notes[i].kind == FAB_NCCL_NEXT;
        for (size_t k = 0; notes[i].kind == FAB_NCCL_RING && notes[i].n == comm->n && k < comm->n; k++) {
            if (ranks[k] < comm->n) {
                r->next[ranks[k]] = ranks[(k + 1) % comm->n];
            }
        }
        if (notes[i].kind == FAB_NCCL_NEXT && notes[i].from < comm->n) {
            r->next[notes[i].from] = notes[i].to;
        }
    }
    for (size_t i = 0; i < n; i++) { /* of edges of the ring alone: trees have others */
        bool is_edge = (notes[i].kind == FAB_NCCL_SEND || notes[i].kind == FAB_NCCL_RECEIVE) &&
                       notes[i].from < comm->n && notes[i].to < comm->n && r->next[notes[i].from] == notes[i].to;
        if (is_edge) {
            uint32_t at = notes[i].kind == FAB_NCCL_SEND ? 2 * notes[i].from : 2 * notes[i].to + 1;
            r->adapter[at] = notes[i].adapter;
        }
    }
    for (uint32_t i = 0; i < comm->n; i++) {
        n_known += r->next[i] < comm->n ? 1 : 0;
    }
    return is_ring && n_known == comm->n;
}

/* One circle through all ranks. */
static bool is_circle(const uint32_t *next, uint32_t n) {
    uint32_t at = 0;
    uint32_t steps = 0;
    do {
        at = next[at];
        steps++;
    } while (at != 0 && steps < n);
    return at == 0 && steps == n;
}

/* The GPU beside the adapter that a rank uses: the network sees no other difference. */
static uint32_t gpu_beside(const ring_reader *r, const fab_nccl_member *m, uint32_t adapter) {
    const fab_fabric *f = r->log->f;
    uint32_t per_nic = f->gpus_per_server / f->nics_per_server;
    uint32_t first = m->gpu / f->gpus_per_server * f->gpus_per_server;
    if (adapter >= f->nics_per_server || per_nic == 0) {
        return m->gpu;
    }
    bool is_own = per_nic > 0 && (m->gpu - first) / per_nic == adapter;
    return is_own ? m->gpu : first + adapter * per_nic;
}

static fab_status put_ring(ring_reader *r, uint32_t c, double bytes, fab_error *err) {
    const fab_nccl_comm *comm = &r->log->comms[c];
    const fab_nccl_member *m = &r->log->members[comm->first];
    uint32_t per_server = r->log->f->gpus_per_server;
    for (uint32_t i = 0; i < comm->n; i++) {
        uint32_t next = r->next[i];
        bool is_inside = m[i].gpu / per_server == m[next].gpu / per_server;
        uint32_t from = is_inside ? m[i].gpu : gpu_beside(r, &m[i], r->adapter[2 * (size_t)i]);
        uint32_t to = is_inside ? m[next].gpu : gpu_beside(r, &m[next], r->adapter[2 * (size_t)next + 1]);
        FAB_PASS(add_flow(r, from, to, bytes, c, err));
    }
    return FAB_OK;
}

/* Channels of one communicator: [notes, notes + n). */
static fab_status put_rings(ring_reader *r, uint32_t c, const fab_nccl_note *notes, size_t n, fab_error *err) {
    const fab_nccl_comm *comm = &r->log->comms[c];
    for (int pass = 0; pass < 2; pass++) { /* how many there are, then their flows */
        uint32_t n_rings = 0;
        for (size_t first = 0, behind = 0; first < n; first = behind) {
            for (behind = first; behind < n && notes[behind].channel == notes[first].channel; behind++) {
            }
            if (!gather_ring(r, comm, notes + first, behind - first)) {
                continue;
            }
            if (!is_circle(r->next, comm->n)) {
                r->log->in->line = notes[first].by.line;
                return fab_text_fail(r->log->in, err,
                                     "channel %" PRIu32 " is no ring of the %" PRIu32 " ranks of its communicator",
                                     notes[first].channel, comm->n);
            }
            n_rings++;
            FAB_PASS(pass == 1 ? put_ring(r, c, comm->edge_bytes / r->log->comms[c].n_channels, err) : FAB_OK);
        }
        r->log->comms[c].n_channels = n_rings;
        r->n_rings += pass == 0 ? n_rings : 0;
    }
    if (comm->n_channels == 0 && comm->edge_bytes > 0 && comm->n > 1) {
        r->log->in->line = r->log->members[comm->first].by.line;
        return fab_text_fail(r->log->in, err,
                             "the rings of this communicator of %" PRIu32
                             " ranks are not in the log: 'Channel 00/02 : 0 1 ...' of "
                             "rank 0, or 'Ring 00 : 3 -> 0 -> 1' of all ranks (add GRAPH to NCCL_DEBUG_SUBSYS)",
                             comm->n);
    }
    return FAB_OK;
}

static fab_status put_all_rings(ring_reader *r, fab_error *err) {
    fab_nccl_log *log = r->log;
    uint32_t most = 1;
    size_t at = 0;
    FAB_SORT(log->notes, log->n_notes, notes_by_channel);
    for (size_t c = 0; c < log->n_comms; c++) {
        most = log->comms[c].n > most ? log->comms[c].n : most;
    }
    FAB_PASS(FAB_NEW(r->next, most, err));
    FAB_PASS(FAB_NEW(r->adapter, 2 * (size_t)most, err));
    for (uint32_t c = 0; c < log->n_comms; c++) {
        size_t first = at;
        while (at < log->n_notes && log->notes[at].comm == c) {
            at++;
        }
        FAB_PASS(log->comms[c].edge_bytes > 0 ? put_rings(r, c, log->notes + first, at - first, err) : FAB_OK);
    }
    return FAB_OK;
}

static void nccl_summarise(const ring_reader *r, fab_traffic *traffic) {
    FAB_MOST(uint32_t, most, c, r->log->n_comms, r->log->comms[c].n);
    (void)snprintf(
        traffic->summary, sizeof traffic->summary,
        "NCCL log %.60s: %zu communicator%s of up to %" PRIu32 " ranks, %" PRIu32 " ring%s, %s%s",
        fab_traffic_file_name(r->log->in->path), r->log->n_comms, r->log->n_comms == 1 ? "" : "s", most, r->n_rings,
        r->n_rings == 1 ? "" : "s", FAB_SAY((double)r->builder.phase.total_bytes, FAB_UNIT_BYTES),
        r->is_assumed ? " (assumed: the log has no collectives; shares of links are right, bytes are not)" : "");
}

fab_status fab_nccl_traffic(fab_nccl_log *log, fab_nccl_bytes *bytes, void *context, fab_traffic *traffic,
                            fab_error *err) {
    fab_status status = FAB_OK;
    ring_reader r = {.log = log, .bytes = bytes, .context = context};
    FAB_TRY(fab_phase_open(&r.builder, "nccl", "nccl", 64, err));
    FAB_TRY(count_bytes(&r, err));
    FAB_TRY(assume_bytes(&r, err));
    FAB_TRY(put_all_rings(&r, err));
    if (r.builder.phase.n_flows == 0) {
        status = bytes != NULL
                     ? FAB_OK
                     : fab_fail(err, FAB_EINPUT, log->in->path, "nothing moves between the ranks of this log");
        goto done;
    }
    r.builder.phase.n_comms = (uint32_t)log->n_comms;
    FAB_TRY(fab_phase_sort(&r.builder.phase, fab_n_gpus(log->f), err));
    FAB_TRY(fab_traffic_reserve(traffic, 1, err));
    nccl_summarise(&r, traffic);
    fab_traffic_take(traffic, &r.builder);
done:
    FAB_FREE_ALL(r.next, r.adapter);
    fab_phase_release(&r.builder.phase);
    return status;
}

static fab_status read_nccl(fab_text *text, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(fab_nccl_log_release) fab_nccl_log log = {.in = text, .f = fabric};
    FAB_PASS(fab_nccl_log_read(&log, err));
    FAB_PASS(fab_nccl_place(&log, &traffic->logged, err));
    return fab_nccl_traffic(&log, NULL, NULL, traffic, err);
}

/* One of the first lines is NCCL's. */
static bool is_nccl(fab_text *text) {
    for (int i = 0; i < 1000 && fab_text_next(text); i++) {
        if (fab_token_find(fab_text_rest(text), " NCCL INFO ") != NULL) {
            return true;
        }
    }
    return false;
}

const fab_traffic_format fab_traffic_nccl = {"nccl-log", is_nccl, read_nccl};
