/*
 * Topologies of ns-3's RDMA simulators: of SimAI and ASTRA-sim [aliyun SimAI, inputs/topo/gen_Topo_Template.py], and
 * the older form of HPCC.
 *
 *     48 8 4 12 96 H100              nodes, GPUs per server, NVSwitches, switches, links, GPU    (HPCC: nodes switches
 * links) 32 33 34 35 36 ...             nodes that are switches, NVSwitches first 0 32 2880Gbps 0.000025ms 0     node,
 * node, rate, delay, error rate
 *
 * The other nodes are GPUs. An NVSwitch is no box of the network: its GPUs are a group.
 */
#include "network_internal.h"

#include "fab/ranked.h"

#include <ctype.h>

#define MOST_NODES (UINT64_C(1) << 24)
#define N_FORM_NEW 6
#define N_FORM_OLD 3

typedef enum role { ROLE_GPU, ROLE_NVSWITCH, ROLE_SWITCH } role;

typedef struct reader {
    fab_text *in;
    fab_network *net;
    uint64_t nodes, per_server, nvswitches, switches, links;
    bool is_old;
    uint8_t *role;      /* shape [nodes] */
    uint32_t *node;     /* shape [nodes]: of the network; FAB_NETWORK_NONE: an NVSwitch */
    uint32_t *nvswitch; /* shape [nodes]: the first that a GPU is joined to, FAB_NETWORK_NONE */
    double *nvlink_bps; /* shape [nodes]: to all of them */
} reader;
FAB_FREES(reader_release, reader, role, node, nvswitch, nvlink_bps);

/* --- numbers with units, as ns-3 writes them ---------------------------------------------------------------------- */

/* The number in front; what is behind it is the unit. False where there is none. */
static bool simai_split(fab_token t, double *out, char *unit, size_t size) {
    char text[64];
    char *end = NULL;
    if (t.length == 0 || t.length >= sizeof text || !isdigit((unsigned char)t.text[0])) {
        return false;
    }
    memcpy(text, t.text, t.length);
    text[t.length] = '\0';
    *out = strtod(text, &end);
    (void)snprintf(unit, size, "%s", end);
    return strlen(end) < size && isfinite(*out);
}

static bool parse_rate(fab_token t, double *out_bps) {
    static const char *const UNITS[] = {"bps", "b/s", "Bps", "B/s"};
    char unit[16];
    double factor = 1;
    if (!simai_split(t, out_bps, unit, sizeof unit)) {
        return false;
    }
    const char *at = strchr("kKMGT", unit[0]);
    if (unit[0] != '\0' && at != NULL) {
        factor = *at == 'M' ? 1e6 : *at == 'G' ? 1e9 : *at == 'T' ? 1e12 : 1e3;
    }
    for (size_t i = 0; i < FAB_N_OF(UNITS); i++) {
        if (strcmp(unit + (factor > 1 ? 1 : 0), UNITS[i]) == 0) {
            *out_bps *= factor * (i >= 2 ? 8 : 1);
            return *out_bps > 0 && *out_bps < 1e18;
        }
    }
    return false;
}

static bool parse_time(fab_token t, double *out_s) {
    static const struct {
        const char *unit;
        double s;
    } UNITS[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"fs", 1e-15}};
    char unit[16];
    if (!simai_split(t, out_s, unit, sizeof unit)) {
        return false;
    }
    for (size_t i = 0; i < FAB_N_OF(UNITS); i++) {
        if (strcmp(unit, UNITS[i].unit) == 0) {
            *out_s *= UNITS[i].s;
            return *out_s < 1e6;
        }
    }
    return false;
}

static fab_status simai_read_number(const reader *r, const char *what, uint64_t least, uint64_t most, uint64_t *out,
                                    fab_error *err) {
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(t, out) || *out < least || *out > most,
                  fab_text_refuse(r->in, t, err, "%s %s: a whole number from %" PRIu64 " to %" PRIu64 " was expected",
                                  t.length > 0 ? "is no" : "the line ends before the", what, least, most));
    return FAB_OK;
}

/* --- header ------------------------------------------------------------------------------------------------------- */

static size_t count_tokens(const fab_text *in) {
    fab_text copy = *in;
    size_t n = 0;
    while (fab_text_token(&copy).length > 0) {
        n++;
    }
    return n;
}

static fab_status simai_read_header(reader *r, fab_error *err) {
    if (!fab_text_next(r->in)) {
        FAB_PASS(fab_text_end(r->in, err));
        r->in->line = r->in->line > 0 ? r->in->line : 1;
        return fab_text_fail(r->in, err, "is empty");
    }
    size_t n = count_tokens(r->in);
    r->is_old = n == N_FORM_OLD;
    if (n != N_FORM_OLD && n != N_FORM_NEW) {
        FAB_PASS(
            fab_text_fail(r->in, err,
                          "%zu columns; expected nodes, GPUs per server, NVSwitches, switches, links, GPU, or nodes, "
                          "switches, links",
                          n));
    }
    /* A node that is joined to anything takes some bytes: the file bounds what is reserved. */
    size_t length = r->in->n_bytes;
    FAB_PASS(simai_read_number(r, "number of nodes", 1, length < MOST_NODES ? length : MOST_NODES, &r->nodes, err));
    if (!r->is_old) {
        FAB_PASS(simai_read_number(r, "number of GPUs per server", 1, r->nodes, &r->per_server, err));
        FAB_PASS(simai_read_number(r, "number of NVSwitches", 0, r->nodes, &r->nvswitches, err));
    }
    FAB_PASS(simai_read_number(r, "number of switches", 0, r->nodes - r->nvswitches, &r->switches, err));
    return simai_read_number(r, "number of links", 0, UINT32_MAX / 4, &r->links, err);
}

static fab_status read_switches(reader *r, fab_error *err) {
    uint64_t n = r->nvswitches + r->switches;
    if (n == 0) {
        return FAB_OK;
    }
    if (!fab_text_next(r->in)) {
        FAB_PASS(fab_text_end(r->in, err));
        return fab_text_fail(r->in, err, "the file ends before the list of switches");
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t id = 0;
        fab_token t = fab_text_rest(r->in);
        FAB_PASS(simai_read_number(r, "number of a switch", 0, r->nodes - 1, &id, err));
        FAB_RETURN_IF(r->role[id] != ROLE_GPU,
                      fab_text_refuse(r->in, (fab_token){.column = t.column}, err,
                                      "node %" PRIu64 " is in the list of switches twice", id));
        r->role[id] = i < r->nvswitches ? ROLE_NVSWITCH : ROLE_SWITCH;
    }
    return fab_text_expect_end(r->in, err);
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

/* GPU g as an adapter of its server, or a host where nothing is said of servers. */
static fab_status describe_gpu(const reader *r, fab_network_node *node, uint64_t gpu, fab_error *err) {
    char text[64];
    node->rank = (uint32_t)gpu;
    node->kind = r->is_old ? FAB_NETWORK_HOST : FAB_NETWORK_ADAPTER;
    if (!r->is_old) {
        int n = snprintf(text, sizeof text, "server-%" PRIu64, gpu / r->per_server);
        FAB_PASS(fab_network_text(r->net, text, (size_t)n, &node->host, err));
        n = snprintf(text, sizeof text, "server-%" PRIu64 " nic-%" PRIu64, gpu / r->per_server, gpu % r->per_server);
        FAB_PASS(fab_network_text(r->net, text, (size_t)n, &node->label, err));
    }
    return FAB_OK;
}

static fab_status add_boxes(reader *r, fab_error *err) {
    uint64_t gpu = 0;
    for (uint64_t id = 0; id < r->nodes; id++) {
        char name[40];
        r->node[id] = FAB_NETWORK_NONE;
        if (r->role[id] == ROLE_NVSWITCH) {
            continue;
        }
        const char *kind = r->role[id] == ROLE_SWITCH ? "switch" : r->is_old ? "host" : "gpu";
        int n = snprintf(name, sizeof name, "%s-%" PRIu64, kind, id);
        FAB_PASS(fab_network_add_node(r->net, name, (size_t)n, r->in->line, &r->node[id], err));
        fab_network_node *node = &r->net->nodes[r->node[id]];
        if (r->role[id] == ROLE_GPU) {
            FAB_PASS(describe_gpu(r, node, gpu++, err));
        } else {
            node->kind = FAB_NETWORK_SWITCH;
        }
    }
    return FAB_OK;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

static fab_status simai_join(reader *r, const uint64_t id[2], double bps, double latency_s, fab_error *err) {
    role a = (role)r->role[id[0]];
    role b = (role)r->role[id[1]];
    size_t line = r->in->line;
    if (a == ROLE_NVSWITCH || b == ROLE_NVSWITCH) {
        int gpu = a == ROLE_NVSWITCH ? 1 : 0;
        FAB_RETURN_IF(r->role[id[gpu]] != ROLE_GPU,
                      fab_text_unable(r->in, (fab_token){0}, err, "an NVSwitch is joined to what is no GPU"));
        uint32_t *first = &r->nvswitch[id[gpu]];
        *first = *first == FAB_NETWORK_NONE ? (uint32_t)id[1 - gpu] : *first;
        r->nvlink_bps[id[gpu]] += bps;
        return FAB_OK;
    }
    FAB_RETURN_IF(a == ROLE_GPU && b == ROLE_GPU,
                  fab_text_unable(r->in, (fab_token){0}, err, "two GPUs are joined without a switch"));
    const fab_network_cable cable = {
        .end = {{.node = r->node[id[0]], .line = line}, {.node = r->node[id[1]], .line = line}},
        .rate_bps = bps,
        .latency_s = latency_s};
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static fab_status read_link(reader *r, fab_error *err) {
    uint64_t id[2] = {0};
    double bps = 0;
    double latency_s = 0;
    double errors = 0;
    char unit[4];
    FAB_PASS(simai_read_number(r, "node", 0, r->nodes - 1, &id[0], err));
    FAB_PASS(simai_read_number(r, "node", 0, r->nodes - 1, &id[1], err));
    FAB_RETURN_IF(id[0] == id[1], fab_text_fail(r->in, err, "a node is joined to itself"));
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!parse_rate(t, &bps),
                  fab_text_refuse(r->in, t, err, "%s",
                                  t.length > 0 ? "is no rate such as 400Gbps" : "the line ends before the rate"));
    t = fab_text_token(r->in);
    FAB_RETURN_IF(!parse_time(t, &latency_s),
                  fab_text_refuse(r->in, t, err, "%s",
                                  t.length > 0 ? "is no time such as 0.0005ms" : "the line ends before the delay"));
    t = fab_text_token(r->in);
    FAB_RETURN_IF(
        !simai_split(t, &errors, unit, sizeof unit) || unit[0] != '\0' || errors > 1,
        fab_text_refuse(r->in, t, err, "%s",
                        t.length > 0 ? "is no error rate from 0 to 1" : "the line ends before the error rate"));
    if (errors > 0) {
        FAB_PASS(fab_network_add_note(r->net, r->in->line, err, "an error rate of %g is not kept", errors));
    }
    FAB_PASS(fab_text_expect_end(r->in, err));
    return simai_join(r, id, bps, latency_s, err);
}

static fab_status read_links(reader *r, fab_error *err) {
    uint64_t n = 0;
    while (fab_text_next(r->in)) {
        FAB_RETURN_IF(n++ == r->links, fab_text_fail(r->in, err, "a link more than the first line says"));
        FAB_PASS(read_link(r, err));
    }
    FAB_PASS(fab_text_end(r->in, err));
    FAB_RETURN_IF(n < r->links,
                  fab_text_fail(r->in, err, "the file ends after %" PRIu64 " of %" PRIu64 " links", n, r->links));
    return FAB_OK;
}

/* GPUs of one NVSwitch, in their order. Where a server has several NVSwitches, all its GPUs are joined to all of them.
 */
static fab_status add_groups(const reader *r, fab_error *err) {
    FAB_OWNED uint32_t *members = NULL;
    FAB_OWNED uint32_t *first = NULL; /* of an NVSwitch */
    FAB_OWNED double *rate = NULL;
    FAB_PASS(FAB_NEW_ALL(r->nodes, err, members, rate));
    FAB_PASS(FAB_NEW(first, r->nodes + 2, err));
    fab_sort_by_key(r->nvswitch, NULL, (uint32_t)r->nodes, (uint32_t)r->nodes, first, members);
    for (uint32_t i = 0; i < first[r->nodes]; i++) {
        rate[r->nvswitch[members[i]]] = r->nvlink_bps[members[i]];
        members[i] = r->node[members[i]];
    }
    for (uint64_t id = 0; id < r->nodes; id++) {
        if (r->nvswitch[id] != FAB_NETWORK_NONE && r->nvlink_bps[id] != rate[r->nvswitch[id]]) {
            FAB_PASS(fab_network_add_note(r->net, r->in->line, err, "GPUs of NVSwitch %" PRIu32 " have different rates",
                                          r->nvswitch[id]));
        }
        uint32_t n = first[id + 1] - first[id];
        if (n > 0) {
            char name[40];
            int length = snprintf(name, sizeof name, "nvswitch-%" PRIu64, id);
            FAB_PASS(fab_network_add_group(r->net, name, (size_t)length, members + first[id], n, err));
            r->net->groups[r->net->n_groups - 1].rate_bps = rate[id];
        }
    }
    return FAB_OK;
}

static fab_status read_simai(fab_text *in, fab_network *net, fab_error *err) {
    FAB_OWNS(reader_release) reader r = {.in = in, .net = net};
    FAB_PASS(simai_read_header(&r, err));
    FAB_PASS(fab_network_expect(net, r.nodes, r.links, err));
    FAB_PASS(FAB_NEW_ALL(r.nodes, err, r.role, r.node, r.nvswitch, r.nvlink_bps));
    memset(r.nvswitch, 0xff, r.nodes * sizeof *r.nvswitch); /* FAB_NETWORK_NONE */
    FAB_PASS(read_switches(&r, err));
    FAB_PASS(add_boxes(&r, err));
    FAB_PASS(read_links(&r, err));
    return add_groups(&r, err);
}

/* A line of three or five numbers (and a word), then one of numbers alone. */
#define BLANKS      "[ \t\r]*"
#define TWO_NUMBERS "[ \t\r]+[0-9]+[ \t\r]+[0-9]+"
#define WORD        "[^ \t\r\n]*[^ \t\r\n0-9][^ \t\r\n]*"

const fab_network_format fab_network_simai = {.name = "simai",
                                              .summary = "topologies of ns-3's RDMA simulators: SimAI, ASTRA-sim, HPCC",
                                              .begins = "^" BLANKS "[0-9]+" TWO_NUMBERS "(" TWO_NUMBERS "[ \t\r]+" WORD
                                                        ")?" BLANKS "\n" BLANKS "[0-9][0-9 \t\r]*(\n|$)",
                                              .text = read_simai};
