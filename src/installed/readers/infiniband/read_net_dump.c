/* ibdiagnet2.net_dump: a block for each switch, "MF0;leaf-0:MQM9700/U1", Mellanox, 0x1070fd03001adeb4, LID 17, with a
 * line for each port of 13 columns that colons separate. A port is called as it is labelled ("1/1/1", "sw1p1") and by
 * its number in InfiniBand (IB#); the other end has its label alone (N#), which its own block translates. Source: a
 * dump of ibdiagnet 2.9 in the documentation of NVIDIA's UFM SDK. */
#include "network_internal.h"

#define COLUMNS 13
#define NAME    256

enum { LABEL, NUMBER, STATE, WIDTH = 5, SPEED = 6, OTHER_GUID = 9, OTHER_PORT = 10, OTHER_LABEL = 12 };

typedef struct port_row {
    uint32_t node;
    const char *label, *number, *other_port, *other_label;
    uint64_t other; /* GUID; 0: nothing is plugged in */
    double rate_bps;
    uint32_t width;
    size_t line;
} port_row;

/* Rows of a switch. A switch that has two blocks is found by the last one. */
typedef struct block {
    size_t first, behind;
} block;

typedef struct dump_reader {
    fab_text *in;
    fab_network *net;
    port_row *rows;
    size_t n_rows, row_capacity;
    block *blocks; /* [nodes] */
    size_t n_blocks, block_capacity;
    uint32_t node; /* whose block it is; FAB_NETWORK_NONE: none has begun */
} dump_reader;
FAB_FREES(dump_reader_release, dump_reader, rows, blocks);

static fab_status net_dump_switch(dump_reader *r, uint64_t guid, fab_token label, fab_error *err) {
    char name[24];
    int n = snprintf(name, sizeof name, "S-%016" PRIx64, guid);
    FAB_PASS(fab_network_add_node(r->net, name, (size_t)n, r->in->line, &r->node, err));
    r->net->nodes[r->node].guid = guid;
    FAB_PASS(FAB_GROW(r->blocks, r->block_capacity, (size_t)r->node + 1, err));
    while (r->n_blocks <= r->node) {
        r->blocks[r->n_blocks++] = (block){0, 0};
    }
    r->blocks[r->node] = (block){r->n_rows, r->n_rows};
    return fab_network_ib_describe(r->net, r->node, FAB_NETWORK_SWITCH, label.text, label.length, err);
}

/* "MF0;leaf-0:MQM9700/U1", Mellanox, 0x1070fd03001adeb4, LID 17 */
static fab_status net_dump_block(dump_reader *r, fab_error *err) {
    fab_token line = fab_text_rest(r->in);
    const char *behind = line.text + line.length;
    const char *close = NULL;
    uint64_t guid = 0;
    for (const char *at = line.text + 1; at + 5 < behind; at++) {
        close = memcmp(at, "\", ", 3) == 0 ? at : close;
    }
    fab_token rest = close != NULL ? fab_token_range(close + 3, behind) : (fab_token){.length = 0};
    (void)fab_token_split(&rest, ',');
    fab_token word = fab_token_trim(fab_token_split(&rest, ','), " ");
    FAB_RETURN_IF(rest.text == NULL || !fab_token_guid(word, &guid) || guid == 0,
                  fab_text_refuse(r->in, (fab_token){.column = line.column}, err,
                                  "expected a switch, as in \"leaf-0\", Mellanox, 0x1070fd03001adeb4, LID 17"));
    return net_dump_switch(r, guid, fab_token_range(line.text + 1, close), err);
}

/* Twelve columns and the rest, blanks at their ends taken off. */
static size_t columns_of(fab_token line, fab_token out[COLUMNS]) {
    size_t n = 0;
    while (n + 1 < COLUMNS && line.text != NULL) {
        out[n++] = fab_token_trim(fab_token_split(&line, ':'), " ");
    }
    if (line.text != NULL) {
        out[n++] = fab_token_trim(line, " ");
    }
    return n;
}

static fab_status keep_text(const dump_reader *r, fab_token t, const char **out, fab_error *err) {
    FAB_RETURN_IF(t.length >= NAME,
                  fab_text_refuse(r->in, (fab_token){.column = t.column}, err, "a text of more than 255 bytes"));
    return fab_network_text(r->net, t.text, t.length, out, err);
}

static fab_status net_dump_port(dump_reader *r, fab_error *err) {
    fab_token c[COLUMNS];
    fab_token line = fab_text_rest(r->in);
    uint64_t number = 0;
    FAB_RETURN_IF(columns_of(line, c) < COLUMNS || r->node == FAB_NETWORK_NONE,
                  fab_text_refuse(r->in, (fab_token){.column = line.column}, err,
                                  r->node == FAB_NETWORK_NONE ? "a port before the first switch"
                                                              : "expected a port of 13 columns with colons between"));
    FAB_RETURN_IF(!fab_token_number(c[NUMBER], &number) || number > 254,
                  fab_text_refuse(r->in, c[NUMBER], err, "is no port, 0 to 254"));
    port_row row = {.node = r->node, .line = r->in->line};
    fab_token guid = c[OTHER_GUID];
    if (guid.length > 2 && memcmp(guid.text, "0x", 2) == 0) {
        FAB_RETURN_IF(!fab_token_guid(guid, &row.other),
                      fab_text_refuse(r->in, c[OTHER_GUID], err, "is no GUID such as 0x7cfe9003009ce5b0"));
    } else if (fab_token_is(c[STATE], "ACT")) {
        return fab_text_refuse(r->in, c[OTHER_GUID], err, "where the GUID of the other end was expected");
    }
    fab_token label = c[OTHER_LABEL];
    FAB_RETURN_IF(row.other != 0 && (label.length < 2 || label.text[0] != '"' || label.text[label.length - 1] != '"'),
                  fab_text_refuse(r->in, (fab_token){.column = label.column}, err,
                                  "expected the description of the other end in quotes"));
    label = row.other != 0 ? (fab_token){.text = label.text + 1, .length = label.length - 2} : (fab_token){.text = ""};
    (void)fab_network_ib_speed(c[WIDTH], c[SPEED], &row.width, &row.rate_bps);
    FAB_PASS(keep_text(r, c[LABEL], &row.label, err));
    FAB_PASS(keep_text(r, c[NUMBER], &row.number, err));
    FAB_PASS(keep_text(r, c[OTHER_PORT], &row.other_port, err));
    FAB_PASS(keep_text(r, label, &row.other_label, err));
    FAB_PASS(FAB_APPEND(r->rows, r->n_rows, r->row_capacity, err, row));
    r->blocks[r->node].behind = r->n_rows;
    return FAB_OK;
}

/* The number of a port that a neighbor calls by its label. */
static const char *number_of(const dump_reader *r, uint32_t node, const char *label) {
    for (size_t i = r->blocks[node].first; i < r->blocks[node].behind; i++) {
        if (r->rows[i].node == node && strcmp(r->rows[i].label, label) == 0) {
            return r->rows[i].number;
        }
    }
    return label; /* its block tells no such port */
}

static fab_status net_dump_cable(dump_reader *r, const port_row *row, fab_error *err) {
    char name[24];
    fab_network_cable cable = {.rate_bps = row->rate_bps,
                               .width = row->width,
                               .end = {{.node = row->node, .port = row->number, .line = row->line}}};
    int n = snprintf(name, sizeof name, "S-%016" PRIx64, row->other);
    uint32_t other = fab_network_find(r->net, name, (size_t)n);
    if (other == FAB_NETWORK_NONE) { /* has no block: an adapter, or a switch that nobody asked */
        bool is_adapter =
            fab_network_ib_names_host(row->other_label) || strstr(row->other_label, "Aggregation Node") != NULL;
        name[0] = 'H';
        FAB_PASS(fab_network_add_node(r->net, name, (size_t)n, row->line, &other, err));
        r->net->nodes[other].guid = row->other;
        FAB_PASS(fab_network_ib_describe(r->net, other, is_adapter ? FAB_NETWORK_ADAPTER : FAB_NETWORK_UNKNOWN,
                                         row->other_label, strlen(row->other_label), err));
    }
    bool has_block = other < r->n_blocks && r->blocks[other].behind > r->blocks[other].first;
    const char *port = row->other_port[0] != '\0' ? row->other_port : "1";
    cable.end[1] = (fab_network_end){.node = other, .port = has_block ? number_of(r, other, port) : port};
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static fab_status net_dump_read(fab_text *in, fab_network *net, fab_error *err) {
    FAB_OWNS(dump_reader_release) dump_reader r = {.in = in, .net = net, .node = FAB_NETWORK_NONE};
    uint32_t n_before = net->n_cables;
    net->keeps_contradictions = true;
    while (fab_text_next(in)) { /* which passes over "#", the names of the columns */
        FAB_PASS(fab_text_rest(in).text[0] == '"' ? net_dump_block(&r, err) : net_dump_port(&r, err));
    }
    FAB_PASS(fab_text_end(in, err));
    for (size_t i = 0; i < r.n_rows; i++) {
        FAB_PASS(r.rows[i].other != 0 ? net_dump_cable(&r, &r.rows[i], err) : FAB_OK);
    }
    FAB_RETURN_IF(net->n_cables == n_before, fab_text_fail(in, err, "holds no port that leads anywhere"));
    net->has_ports = true; /* switches alone tell their cables */
    return FAB_OK;
}

const fab_network_format fab_network_net_dump = {.name = "ibdiagnet",
                                                 .is_infiniband = true,
                                                 .summary = "ports of all InfiniBand switches, ibdiagnet2.net_dump",
                                                 .begins = ".*IB#.*Neighbor Guid.*NLID",
                                                 .text = net_dump_read};
