/*
 * Connection matrices of htsim (.cm) [Broadcom csg-htsim, sim/datacenter/connection_matrix.cpp]:
 *
 *     Nodes 16
 *     Connections 2
 *     7->5 id 1 start 0 size 2000000
 *     15->1 id 2 start 0 size 2000000
 *
 * Nodes are GPUs. A phase is what is in the network together, so that all flows must start at one time; flows that wait
 * for others (triggers), failures and flows without an end are refused.
 */
#include "file_formats.h"

#include "fab/units.h"

enum { NODES, CONNECTIONS, TRIGGERS, FAILURES, N_COUNTS };
static const char *const COUNTS[N_COUNTS] = {"Nodes", "Connections", "Triggers", "Failures"};

typedef struct reader {
    fab_text *in;
    uint32_t n_gpus;
    uint64_t count[N_COUNTS];
    size_t line[N_COUNTS]; /* 0: not given */
    uint64_t n;            /* connections so far */
    bool in_body;
    double start; /* of the first */
    uint64_t *ids;
    size_t n_ids, ids_capacity;
    fab_phase_builder builder;
} reader;

static fab_status htsim_read_number(reader *r, const char *what, uint64_t least, uint64_t most, uint64_t *out,
                                    fab_error *err) {
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(t, out) || *out < least || *out > most,
                  fab_text_refuse(r->in, t, err, "%s %s: a whole number from %" PRIu64 " to %" PRIu64 " was expected",
                                  t.length > 0 ? "is no value of" : "the line ends behind", what, least, most));
    return FAB_OK;
}

static fab_status htsim_read_count(reader *r, fab_token key, int which, fab_error *err) {
    uint64_t most = which == NODES ? r->n_gpus : UINT32_MAX - 1;
    FAB_RETURN_IF(r->line[which] > 0, fab_text_refuse(r->in, key, err, "is given twice"));
    FAB_PASS(htsim_read_number(r, COUNTS[which], which == NODES ? 1 : 0, most, &r->count[which], err));
    r->line[which] = r->in->line;
    FAB_RETURN_IF((which == TRIGGERS || which == FAILURES) && r->count[which] > 0,
                  fab_text_unable(r->in, key, err, "%s",
                                  which == TRIGGERS ? "are not supported: all flows of a phase start together"
                                                    : "are not supported here: name them with --fail or in scenarios"));
    return FAB_OK;
}

/* "7->5" */
static fab_status read_pair(const reader *r, fab_token t, uint64_t *src, uint64_t *dst, fab_error *err) {
    const char *arrow = NULL;
    for (size_t i = 0; i + 1 < t.length && arrow == NULL; i++) {
        arrow = t.text[i] == '-' && t.text[i + 1] == '>' ? t.text + i : NULL;
    }
    FAB_RETURN_IF(arrow == NULL, fab_text_refuse(r->in, t, err, "stands where SOURCE->DESTINATION was expected"));
    fab_token ends[2] = {{.text = t.text, .length = (size_t)(arrow - t.text), .column = t.column},
                         {.text = arrow + 2,
                          .length = t.length - (size_t)(arrow - t.text) - 2,
                          .column = t.column + (size_t)(arrow - t.text) + 2}};
    uint64_t *out[2] = {src, dst};
    for (int i = 0; i < 2; i++) {
        if (!fab_token_number(ends[i], out[i]) || *out[i] >= r->count[NODES]) {
            char text[80];
            FAB_FORMAT(text, "is no node from 0 to %" PRIu64, r->count[NODES] - 1);
            return ends[i].length > 0 ? fab_text_refuse(r->in, ends[i], err, "%s", text)
                                      : fab_text_refuse(r->in, t, err, "has no node at one end");
        }
    }
    return *src != *dst ? FAB_OK : fab_text_refuse(r->in, t, err, "is a node that sends to itself");
}

static fab_status read_start(reader *r, fab_error *err) {
    fab_token t = fab_text_token(r->in);
    char number[40];
    char *end = NULL;
    FAB_FORMAT(number, "%.*s", (int)(t.length < sizeof number ? t.length : sizeof number - 1), t.text);
    double start = strtod(number, &end);
    FAB_RETURN_IF(t.length == 0 || end == number || *end != '\0' || t.length >= sizeof number ||
                      !(start >= 0 && start < 1e300),
                  fab_text_refuse(r->in, t, err, "%s", t.length > 0 ? "is no time" : "start has no time"));
    FAB_RETURN_IF(r->n > 0 && start != r->start,
                  fab_text_unable(r->in, t, err,
                                  "is another start than that of the first flow: a phase is what is in the "
                                  "network together"));
    r->start = start;
    return FAB_OK;
}

static fab_status read_id(reader *r, fab_error *err) {
    uint64_t id = 0;
    FAB_PASS(htsim_read_number(r, "id", 1, UINT32_MAX, &id, err));
    return FAB_APPEND(r->ids, r->n_ids, r->ids_capacity, err, id);
}

/* Keys of a connection behind its pair. */
static fab_status read_connection(reader *r, fab_token pair, fab_error *err) {
    static const char *const WAITS[] = {"trigger", "send_done_trigger", "recv_done_trigger", "addon"};
    uint64_t src = 0;
    uint64_t dst = 0;
    uint64_t size = 0;
    uint64_t ignored = 0;
    bool has_start = false;
    bool has_size = false;
    FAB_PASS(read_pair(r, pair, &src, &dst, err));
    for (fab_token t = fab_text_token(r->in); t.length > 0; t = fab_text_token(r->in)) {
        for (size_t i = 0; i < sizeof WAITS / sizeof WAITS[0]; i++) {
            FAB_RETURN_IF(
                fab_token_is(t, WAITS[i]),
                fab_text_unable(
                    r->in, t, err,
                    "is not supported: flows that wait for others are no phase of flows that start together"));
        }
        if (fab_token_is(t, "start") && !has_start) {
            FAB_PASS(read_start(r, err));
            has_start = true;
        } else if (fab_token_is(t, "size") && !has_size) {
            FAB_PASS(htsim_read_number(r, "size", 0, (uint64_t)1 << 50, &size, err));
            if (size == 0) {
                FAB_PASS(fab_text_unable(r->in, t, err, "0 is a flow without an end; sizes are at least 1 byte"));
            }
            has_size = true;
        } else if (fab_token_is(t, "id")) {
            FAB_PASS(read_id(r, err));
        } else if (fab_token_is(t, "prio")) { /* of scheduling: does not move bytes */
            FAB_PASS(htsim_read_number(r, "prio", 0, UINT32_MAX, &ignored, err));
        } else {
            return fab_text_refuse(r->in, t, err, "stands where start, size, id or prio was expected");
        }
    }
    FAB_RETURN_IF(!has_start || !has_size,
                  fab_text_refuse(r->in, pair, err, "%s", has_start ? "has no size" : "has no start"));
    r->n++;
    FAB_RETURN_IF(r->n > r->count[CONNECTIONS], fab_text_refuse(r->in, pair, err, "is one more than Connections says"));
    fab_phase_add(&r->builder, (uint32_t)src, (uint32_t)dst, size, 0);
    return FAB_OK;
}

static fab_status begin_body(reader *r, fab_token t, fab_error *err) {
    if (r->in_body) {
        return FAB_OK;
    }
    for (int i = NODES; i <= CONNECTIONS; i++) {
        FAB_RETURN_IF(r->line[i] == 0,
                      fab_text_refuse(r->in, t, err, "stands before %s, the number of them", COUNTS[i]));
    }
    /* Every connection takes a line: the file bounds what is reserved. */
    uint64_t lines = r->in->file.length / 4 + 1;
    FAB_PASS(fab_phase_open(&r->builder, "connections", "matrix",
                            r->count[CONNECTIONS] < lines ? r->count[CONNECTIONS] : lines, err));
    r->in_body = true;
    return FAB_OK;
}

static fab_status htsim_read_line(reader *r, fab_error *err) {
    fab_token t = fab_text_token(r->in);
    for (int i = 0; i < N_COUNTS && !r->in_body; i++) {
        if (fab_token_is(t, COUNTS[i])) {
            FAB_PASS(htsim_read_count(r, t, i, err));
            return fab_text_expect_end(r->in, err);
        }
    }
    FAB_RETURN_IF(
        fab_token_is(t, "trigger") || fab_token_is(t, "failure"),
        fab_text_unable(r->in, t, err, "is not supported: all flows of a phase start together and none fails"));
    FAB_PASS(begin_body(r, t, err));
    return read_connection(r, t, err);
}

static fab_status check_end(reader *r, fab_error *err) {
    const fab_token none = {0};
    FAB_RETURN_IF(!r->in_body, fab_text_refuse(r->in, none, err, "the file ends before the first connection"));
    FAB_RETURN_IF(r->n != r->count[CONNECTIONS],
                  fab_text_refuse(r->in, none, err,
                                  "the file ends after %" PRIu64 " connections; line %zu says %" PRIu64, r->n,
                                  r->line[CONNECTIONS], r->count[CONNECTIONS]));
    FAB_SORT(r->ids, r->n_ids, fab_order_u64);
    for (size_t i = 1; i < r->n_ids; i++) {
        FAB_RETURN_IF(r->ids[i] == r->ids[i - 1],
                      fab_text_refuse(r->in, none, err, "two connections have the id %" PRIu64, r->ids[i]));
    }
    return FAB_OK;
}

static fab_status read_htsim(fab_text *text, const fab_fabric *fabric, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    reader r = {.in = text, .n_gpus = fab_n_gpus(fabric)};
    while (fab_text_next(text)) {
        FAB_TRY(htsim_read_line(&r, err));
    }
    FAB_TRY(check_end(&r, err));
    FAB_TRY(fab_traffic_reserve(traffic, 1, err));
    FAB_FORMAT(traffic->summary, "htsim connections %.60s: %s flow%s, %s", fab_traffic_file_name(text->path),
               FAB_SAY_COUNT(r.builder.phase.n_flows), r.builder.phase.n_flows == 1 ? "" : "s",
               FAB_SAY((double)r.builder.phase.total_bytes, FAB_UNIT_BYTES));
    fab_traffic_take(traffic, &r.builder);
done:
    free(r.ids);
    fab_phase_release(&r.builder.phase);
    return status;
}

/* The first line has one of the counts. */
static bool is_htsim(fab_text *text) {
    if (!fab_text_next(text)) {
        return false;
    }
    fab_token t = fab_text_token(text);
    FAB_ANY(found, i, N_COUNTS, fab_token_is(t, COUNTS[i]));
    return found;
}

const fab_traffic_format fab_traffic_htsim = {"htsim", is_htsim, read_htsim};
