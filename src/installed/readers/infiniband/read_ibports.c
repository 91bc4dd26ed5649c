/* ibnetdiscover -p: a line per port. "SW lid port guid WIDTH SPEED - CA lid port guid ( 'here' - 'there' )"; a port
 * that is down has one description and no other end. Source: ibnetdiscover(8), dump_ports. */
#include "network_internal.h"

typedef struct side {
    fab_network_kind kind;
    fab_token kind_text, guid;
    char port[8];
} side;

/* "SW  1719 10 0x7cfe9003009ce5b0" */
static fab_status read_side(const fab_network_lines *r, side *out, fab_error *err) {
    uint64_t number = 0;
    out->kind_text = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_network_ib_kind(out->kind_text, &out->kind),
                  fab_text_refuse(r->in, out->kind_text, err, "where SW, CA or RT was expected"));
    fab_token lid = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(lid, &number) || number > 0xffff, fab_text_refuse(r->in, lid, err, "is no LID"));
    fab_token port = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(port, &number) || number > 254,
                  fab_text_refuse(r->in, port, err, "is no port, 0 to 254"));
    FAB_FORMAT(out->port, "%u", (unsigned)number);
    out->guid = fab_text_token(r->in);
    FAB_RETURN_IF(out->guid.length < 3 || memcmp(out->guid.text, "0x", 2) != 0,
                  fab_text_refuse(r->in, out->guid, err, "is no GUID such as 0x7cfe9003009ce5b0"));
    return FAB_OK;
}

static fab_status add_side(const fab_network_lines *r, const side *s, fab_token label, uint32_t *out, fab_error *err) {
    FAB_PASS(fab_network_add_node(r->net, s->guid.text, s->guid.length, r->in->line, out, err));
    (void)fab_token_guid(s->guid, &r->net->nodes[*out].guid); /* anonymised ones are none */
    return fab_network_ib_describe(r->net, *out, s->kind, label.text, label.length, err);
}

/* Moves behind the next quote and gives what stands before it; the quote that opens a text is followed by none. */
static fab_token take_quoted(fab_text *in, const char *stop) {
    fab_token t = fab_text_rest(in);
    const char *open = memchr(t.text, '\'', t.length);
    if (open == NULL) {
        return (fab_token){.text = "", .length = 0};
    }
    fab_token rest = fab_token_range(open + 1, in->behind);
    const char *close = fab_token_find(rest, stop);
    close = close != NULL ? close : fab_token_last(rest, '\''); /* of the line */
    if (close == NULL) {
        return (fab_token){.text = "", .length = 0};
    }
    in->at = close + 1;
    return fab_token_range(open + 1, close);
}

static fab_status ibports_read_line(const fab_network_lines *r, fab_error *err) {
    side here = {0};
    side there = {0};
    fab_network_cable cable = {.end = {{.line = r->in->line}}};
    char rate[16];
    FAB_PASS(read_side(r, &here, err));
    fab_token width = fab_text_token(r->in);
    fab_token speed = fab_text_token(r->in);
    FAB_FORMAT(rate, "%.*s%.*s", (int)(width.length < 4 ? width.length : 4), width.text,
               (int)(speed.length < 8 ? speed.length : 8), speed.text);
    bool is_known = fab_network_ib_rate(rate, strlen(rate), &cable.width, &cable.rate_bps);
    if (!fab_text_take(r->in, "- ")) { /* nothing plugged in */
        uint32_t node = 0;
        FAB_PASS(add_side(r, &here, take_quoted(r->in, "'\n"), &node, err));
        return FAB_OK;
    }
    FAB_RETURN_IF(!is_known, fab_text_refuse(r->in, width, err, "is no width and speed such as 4x EDR"));
    FAB_PASS(read_side(r, &there, err));
    fab_token label = take_quoted(r->in, "' - '");
    fab_token other = take_quoted(r->in, "' )");
    FAB_PASS(add_side(r, &here, label, &cable.end[0].node, err));
    FAB_PASS(add_side(r, &there, other, &cable.end[1].node, err));
    cable.end[0].port = here.port;
    cable.end[1].port = there.port;
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static fab_status read_ibports(fab_text *in, fab_network *net, fab_error *err) {
    return fab_network_read_ends(in, net, ibports_read_line, err);
}

const fab_network_format fab_network_ibports = {
    .name = "ibnetdiscover-ports",
    .is_infiniband = true,
    .summary = "ports of an InfiniBand subnet, ibnetdiscover -p",
    .begins = "^(([^\n]*[#$%>] *(sudo )?ibnetdiscover[^\n]*|(ibwarn|ibpanic|iberror|src/)[^\n]*)?\r?\n)*(SW|CA|RT) "
              "+[0-9]+ +[0-9]+",
    .text = read_ibports};
