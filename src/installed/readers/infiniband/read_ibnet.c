/* ibnetdiscover's dump of a subnet, which is also what ibsim reads: a record per node, a line per port in use. Every
 * cable stands there twice. Grammar: ibnetdiscover(8) and ibsim's net-examples. */
#include "network_internal.h"

#include "fab/status.h"

#define AGGREGATION_NODE 0xcf09 /* device of the SHARP engine inside a switch */
#define MOST_PORTS       254    /* InfiniBand Architecture Specification 1.4, volume 1, 14.2.5.4 */

typedef struct reader {
    fab_text *in;
    fab_network *net;
    uint32_t node; /* whose ports are read; FAB_NETWORK_NONE between records */
    uint64_t device, system_guid, guid;
} reader;

/* "0x2c9", "0x2c5eab0300b87b40(2c5eab0300b87b40)" */
static fab_status read_value(const reader *r, uint64_t *out, fab_error *err) {
    fab_token t = fab_text_token(r->in);
    fab_token digits = t;
    const char *bracket = memchr(t.text, '(', t.length);
    if (t.length > 2 && memcmp(t.text, "0x", 2) == 0) {
        digits.text += 2;
        digits.length = (bracket != NULL ? (size_t)(bracket - t.text) : t.length) - 2;
    }
    FAB_RETURN_IF(digits.length == t.length || !fab_token_hexadecimal(digits, out),
                  fab_text_refuse(r->in, t, err, "is no hexadecimal number such as 0x2c9"));
    return FAB_OK;
}

/* "[17]" */
static fab_status read_port(const reader *r, char out[8], fab_error *err) {
    uint64_t port = 0;
    FAB_RETURN_IF(!fab_text_take(r->in, "["), fab_text_expected(r->in, "a port, such as [17],", err));
    fab_token t = fab_text_rest(r->in);
    t.length = strspn(t.text, "0123456789") < t.length ? strspn(t.text, "0123456789") : t.length;
    FAB_RETURN_IF(!fab_token_number(t, &port) || port > MOST_PORTS || t.text + t.length == r->in->behind ||
                      t.text[t.length] != ']',
                  fab_text_expected(r->in, "a port number up to 254 and ]", err));
    r->in->at += t.length + 1;
    (void)snprintf(out, 8, "%u", (unsigned)port);
    return FAB_OK;
}

/* "S-2c5eab0300b87b40" */
static fab_status read_name(const reader *r, fab_token *out, fab_error *err) {
    FAB_RETURN_IF(!fab_text_take(r->in, "\""), fab_text_expected(r->in, "a node's name in quotes", err));
    fab_token t = fab_text_rest(r->in);
    const char *quote = memchr(t.text, '"', t.length);
    FAB_RETURN_IF(quote == NULL || quote == t.text,
                  fab_text_expected(r->in, "a node's name that ends in a quote", err));
    t.length = (size_t)(quote - t.text);
    r->in->at = quote + 1;
    *out = t;
    return FAB_OK;
}

/* Between the first and the last quote of what is left: descriptions may hold quotes and hashes. Empty: there is none.
 */
static fab_token quoted_rest(const reader *r) {
    fab_token t = fab_text_rest(r->in);
    const char *first = memchr(t.text, '"', t.length);
    const char *last = fab_token_last(t, '"');
    return first == last ? (fab_token){.text = "", .length = 0} : fab_token_range(first + 1, last);
}

/* Switch<TAB>65 "S-..."<TAB># "description" ... */
static fab_status ibnet_read_header(reader *r, fab_network_kind kind, fab_error *err) {
    uint64_t n_ports = 0;
    fab_token name = {0};
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(t, &n_ports) || n_ports == 0 || n_ports > MOST_PORTS,
                  fab_text_refuse(r->in, t, err, "is no number of ports, 1 to 254"));
    FAB_PASS(read_name(r, &name, err));
    FAB_PASS(fab_network_add_node(r->net, name.text, name.length, r->in->line, &r->node, err));
    fab_network_node *node = &r->net->nodes[r->node];
    FAB_RETURN_IF(node->n_ports > 0, fab_text_refuse(r->in, name, err, "has a record on line %zu already", node->line));
    node->line = r->in->line;
    node->n_ports = (uint32_t)n_ports;
    node->guid = r->guid;
    node->system_guid = r->system_guid;
    bool serves = kind == FAB_NETWORK_ADAPTER && r->device == AGGREGATION_NODE;
    fab_token text = quoted_rest(r);
    FAB_PASS(
        fab_network_ib_describe(r->net, r->node, serves ? FAB_NETWORK_SERVICE : kind, text.text, text.length, err));
    r->device = r->guid = r->system_guid = 0;
    return FAB_OK;
}

/* "4xNDR" at the end of a line, or ibsim's "w=12"; a rate that nobody knows is none. */
static void read_rate(const reader *r, fab_network_cable *cable) {
    fab_token word = {.length = 0};
    for (fab_token t = fab_text_token(r->in); t.length > 0; t = fab_text_token(r->in)) {
        word = t;
    }
    fab_network_ib_rate(word.text, word.length, &cable->width, &cable->rate_bps);
}

/* [17]["[ext 3]"]<TAB>"H-..."[1](portguid) # "remote description" lid D 4xNDR */
static fab_status read_cable(reader *r, fab_error *err) {
    char here[8];
    char there[8];
    fab_token name = {0};
    fab_network_cable cable = {.end = {{.node = r->node, .port = here, .line = r->in->line}, {.port = there}}};
    FAB_PASS(read_port(r, here, err));
    if (fab_text_take(r->in, "[") || fab_text_take(r->in, "(")) { /* what stands on the box; or the port's GUID */
        r->in->at += strcspn(r->in->at, "])\"\n");
        r->in->at += r->in->at < r->in->behind && *r->in->at != '"' ? 1 : 0;
    }
    FAB_PASS(read_name(r, &name, err));
    FAB_PASS(read_port(r, there, err));
    FAB_PASS(fab_network_add_node(r->net, name.text, name.length, r->in->line, &cable.end[1].node, err));
    read_rate(r, &cable);
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static const struct {
    const char *word;
    fab_network_kind kind;
} HEADERS[] = {{"Switch", FAB_NETWORK_SWITCH},
               {"Ca", FAB_NETWORK_ADAPTER},
               {"Hca", FAB_NETWORK_ADAPTER},
               {"Rt", FAB_NETWORK_SWITCH}};

static fab_status ibnet_read_line(reader *r, fab_error *err) {
    (void)fab_text_take(r->in, ""); /* blanks */
    if (fab_network_is_chatter(r->in)) {
        return FAB_OK;
    }
    if (*r->in->at == '[') {
        return r->node != FAB_NETWORK_NONE ? read_cable(r, err)
                                           : fab_text_expected(r->in, "a node's header before its ports,", err);
    }
    for (size_t i = 0; i < FAB_N_OF(HEADERS); i++) {
        const char *at = r->in->at;
        if (fab_text_take(r->in, HEADERS[i].word)) {
            if (r->in->at < r->in->behind && (*r->in->at == ' ' || *r->in->at == '\t')) {
                return ibnet_read_header(r, HEADERS[i].kind, err);
            }
            r->in->at = at;
        }
    }
    r->node = FAB_NETWORK_NONE; /* the lines before a header */
    uint64_t other = 0;
    if (fab_text_take(r->in, "devid=")) {
        FAB_PASS(read_value(r, &r->device, err));
    } else if (fab_text_take(r->in, "sysimgguid=")) {
        FAB_PASS(read_value(r, &r->system_guid, err));
    } else if (fab_text_take(r->in, "switchguid=") || fab_text_take(r->in, "caguid=") ||
               fab_text_take(r->in, "rtguid=")) {
        FAB_PASS(read_value(r, &r->guid, err));
    } else if (fab_text_take(r->in, "vendid=")) {
        FAB_PASS(read_value(r, &other, err));
    } else if (!fab_text_take(r->in, "Chassis") && !fab_text_take(r->in, "module")) {
        return fab_text_expected(
            r->in, "vendid=, devid=, sysimgguid=, switchguid=, caguid=, Switch, Ca, Rt or a port [N]", err);
    }
    return FAB_OK;
}

#define SEVERAL 3 /* of which each is no contradiction of its own */

/* Nodes that others name and that have no record of their own. */
static fab_status close_records(const reader *r, fab_error *err) {
    uint32_t n = 0;
    size_t first = 0;
    for (uint32_t i = 0; i < r->net->n_nodes; i++) {
        first = r->net->nodes[i].n_ports == 0 && n++ == 0 ? r->net->nodes[i].line : first;
    }
    if (n >= SEVERAL) {
        FAB_PASS(fab_network_add_note(r->net, first, err,
                                      "%u nodes are named without a record of their own: the file is probably cut",
                                      (unsigned)n));
    }
    FAB_EACH(fab_network_node, node, r->net->nodes, r->net->n_nodes) {
        if (node->n_ports == 0) {
            node->kind = strncmp(node->name, "S-", 2) == 0   ? FAB_NETWORK_SWITCH
                         : strncmp(node->name, "H-", 2) == 0 ? FAB_NETWORK_ADAPTER
                                                             : FAB_NETWORK_UNKNOWN;
            node->lacks_record = n >= SEVERAL;
            if (!node->lacks_record) {
                FAB_PASS(fab_network_add_note(r->net, node->line, err, "'%s' is named but has no record", node->name));
            }
        }
    }
    return FAB_OK;
}

static fab_status read_ibnet(fab_text *in, fab_network *net, fab_error *err) {
    reader r = {.in = in, .net = net, .node = FAB_NETWORK_NONE};
    net->keeps_contradictions = true;
    while (fab_text_next(in)) {
        FAB_PASS(ibnet_read_line(&r, err));
    }
    FAB_PASS(fab_text_end(in, err));
    FAB_PASS(close_records(&r, err));
    net->has_ports = true;
    net->reports_both_ends = true;
    return FAB_OK;
}

/* A header, or the lines that come before one. */
const fab_network_format fab_network_ibnet = {
    .name = "ibnetdiscover",
    .is_infiniband = true,
    .summary = "InfiniBand subnet as ibnetdiscover prints it and ibsim reads it",
    .begins = "^((#[^\n]*|[^\n]*[#$%>] *(sudo "
              ")?ibnetdiscover[^\n]*|ibnetdiscover|(ibwarn|ibpanic|iberror|src/)[^\n]*)?\r?\n)*"
              "(vendid=0x|switchguid=0x|caguid=0x|Switch[\t ]|Ca\t|Hca\t)",
    .text = read_ibnet};
