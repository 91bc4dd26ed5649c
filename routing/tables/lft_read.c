/* Forwarding tables of a subnet manager. A packet carries a LID; which port that is, every line says beside it, so that
 * subnets may be read one after the other although each counts its LIDs from 1. */
#include "tables_read.h"
#include "fab/ib_names.h"

/* --- ports and next hops, of any reader --- */

fab_status fab_text_port(const fab_text *text, const fab_fabric *f, fab_node_id v, fab_token t, uint64_t port,
                         fab_link_id *out, fab_error *err) {
    fab_link_id link = port <= UINT16_MAX ? fab_link_at_port(f, v, (uint32_t)port) : FAB_NONE;
    if (link == FAB_NONE) {
        uint32_t behind = f->out_first[v + 1];
        uint32_t last = behind > f->out_first[v] ? f->port[f->out_link[behind - 1]] : 0;
        return fab_text_refuse(text, t, err, "is no port in use of %s, whose last is %u", FAB_SAY_NODE(f, v), last);
    }
    *out = link;
    return FAB_OK;
}

fab_status fab_text_next_hop(const fab_text *text, const fab_fabric *f, fab_token t, fab_link_id link, fab_error *err) {
    return fab_class_of(f, link)->kind == FAB_LINK_FABRIC
               ? FAB_OK
               : fab_text_refuse(text, t, err, "leads to %s; a next hop is a switch",
                                 FAB_SAY_NODE(f, fab_head(f, link)));
}

/* --- dumps --- */

/* What the line of a LID, or the head of a table, says of a node. */
typedef struct named {
    fab_token description;
    fab_token guid;     /* digits, without 0x */
    uint32_t guid_port; /* that a GUID of ours is of; 0: of none */
} named;

/* `node` is reached through port `port` of the switch at hand. */
typedef struct entry {
    fab_node_id node;
    uint32_t lid;
    uint64_t port;
    uint32_t nic_port; /* that the GUID says; 0: it says nothing */
    fab_token lid_text, port_text, node_text;
} entry;

typedef struct reader {
    const fab_router *router;
    const fab_fabric *f;
    fab_text *in;
    fab_forwarding *out;
    uint8_t *reached;   /* shape [n_destinations]: its leaf hands packets over */
    uint32_t *lid;      /* shape [n_destinations]: 0 before the first line that names it */
    size_t *head_line;  /* shape [n_switches]: of its table; 0 without one */
    bool is_open;       /* inside a table: that of switch v, */
    fab_node_id v;      /* which has a line for */
    uint32_t last_lid;  /* and so far */
    uint64_t n_entries; /* of them */
} reader;

bool fab_lft_is_dump(fab_text in) {
    return fab_text_next(&in) && fab_text_take(&in, "Unicast lids");
}

/* Takes `stop` and what stands before it off the line; false where there is none. */
static bool take_until(fab_text *in, const char *stop, fab_token *out) {
    *out = fab_text_rest(in);
    const char *at = fab_token_find(*out, stop);
    if (at == NULL) {
        return false;
    }
    out->length = (size_t)(at - out->text);
    in->at = at + strlen(stop);
    return true;
}

/* The text that ends the line but for `tail`, without quotes around it. False where the line ends otherwise. */
static bool take_description(fab_text *in, const char *tail, fab_token *out) {
    size_t n = strlen(tail);
    fab_token rest = fab_text_rest(in);
    while (rest.length > 0 && (rest.text[rest.length - 1] == ' ' || rest.text[rest.length - 1] == '\t')) {
        rest.length--;
    }
    if (rest.length < n || memcmp(rest.text + rest.length - n, tail, n) != 0) {
        return false;
    }
    rest.length -= n;
    if (rest.length >= 2 && rest.text[0] == '\'' && rest.text[rest.length - 1] == '\'') {
        rest.text++;
        rest.column++;
        rest.length -= 2;
    }
    in->at = in->behind;
    *out = rest;
    return true;
}

/* The node that a description and a GUID name. FAB_NONE of an installed fabric: it was left out, such as a host with
 * few adapters; what is missing for those that take part is told at the end. */
static fab_status find_node(const reader *r, named *n, fab_node_kind kind, fab_node_id *out, fab_error *err) {
    const fab_fabric *f = r->f;
    uint64_t guid = 0;
    uint32_t port = 0;
    FAB_RETURN_IF(
        !fab_token_hexadecimal(n->guid, &guid),
        fab_text_refuse(r->in, n->guid, err, "%s",
                        n->guid.length > 0 ? "is no GUID of up to 16 hexadecimal digits" : "expected a GUID"));
    fab_node_id by_name = fab_ib_find_description(f, n->description.text, n->description.length);
    fab_node_id by_guid = fab_ib_find_guid(f, guid, &port);
    if (by_name != FAB_NONE && by_guid != FAB_NONE && by_name != by_guid) {
        char name[FAB_IB_DESCRIPTION];
        return fab_text_refuse(r->in, n->description, err, "has the GUID of %s, 0x%016" PRIx64,
                               fab_ib_description(f, by_guid, name), guid);
    }
    fab_node_id v = by_name != FAB_NONE ? by_name : by_guid;
    if (v == FAB_NONE && f->names != NULL) {
        *out = FAB_NONE;
        return FAB_OK;
    }
    FAB_RETURN_IF(v == FAB_NONE || fab_kind_of(f, v) != kind,
                  fab_text_refuse(r->in, n->description, err,
                                  "names no %s of this fabric, nor does the GUID 0x%016" PRIx64,
                                  kind == FAB_NODE_SWITCH ? "switch" : "NIC", guid));
    n->guid_port = by_guid != FAB_NONE ? port : 0;
    *out = v;
    return FAB_OK;
}

/* `Unicast lids [0-36] of switch Lid 17 guid 0x0002c90000000001 ('leaf-0'):` */
static fab_status read_head(reader *r, fab_error *err) {
    fab_token skipped = {0};
    named n = {0};
    fab_node_id v = FAB_NONE;
    FAB_RETURN_IF(r->is_open, fab_text_expected(r->in, "the line 'N lids dumped' of the table before", err));
    (void)fab_text_take(r->in, "Unicast lids");
    FAB_RETURN_IF(!take_until(r->in, " of switch ", &skipped), fab_text_expected(r->in, "'of switch'", err));
    FAB_RETURN_IF(!take_until(r->in, "guid 0x", &skipped), fab_text_expected(r->in, "'guid 0x'", err));
    FAB_RETURN_IF(!take_until(r->in, " (", &n.guid) || !take_description(r->in, "):", &n.description),
                  fab_text_expected(r->in, "a GUID, a description in brackets and a colon", err));
    FAB_PASS(find_node(r, &n, FAB_NODE_SWITCH, &v, err));
    size_t *line = v != FAB_NONE ? &r->head_line[v - r->f->first[FAB_NODE_SWITCH]] : NULL;
    FAB_RETURN_IF(line != NULL && *line != 0,
                  fab_text_refuse(r->in, n.description, err, "has a table in line %zu already", *line));
    if (line != NULL) {
        *line = r->in->line;
    }
    r->is_open = true;
    r->v = v;
    r->last_lid = 0;
    r->n_entries = 0;
    return FAB_OK;
}

/* Whose LID it is. FAB_NONE: of nobody who takes part in traffic. */
static fab_status read_owner(reader *r, const char *tail, entry *out, fab_error *err) {
    named n = {0};
    fab_token kind = fab_text_rest(r->in);
    bool is_switch = false;
    out->node = FAB_NONE;
    if (fab_text_take(r->in, "unknown node and type")) { /* it has left the subnet */
        r->in->at = r->in->behind;
        return FAB_OK;
    }
    if (fab_text_take(r->in, "Switch portguid 0x")) {
        is_switch = true;
    } else if (fab_text_take(r->in, "Router ")) {
        kind.length = strlen("Router");
        return fab_text_unable(r->in, kind, err, "to other subnets: this fabric has none");
    } else if (!fab_text_take(r->in, "Channel Adapter portguid 0x")) {
        return fab_text_expected(r->in, "'Channel Adapter portguid 0x' or 'Switch portguid 0x'", err);
    }
    FAB_RETURN_IF(!take_until(r->in, ": ", &n.guid) || !take_description(r->in, tail, &n.description),
                  fab_text_expected(r->in, "a GUID, a colon and a description in quotes", err));
    static const char IN_SWITCH[] = "Aggregation Node"; /* adapters inside switches, which no NIC stands for */
    size_t size = sizeof IN_SWITCH - 1;
    fab_token d = n.description;
    if (!is_switch && d.length >= size && memcmp(d.text + d.length - size, IN_SWITCH, size) == 0) {
        return FAB_OK;
    }
    FAB_PASS(find_node(r, &n, is_switch ? FAB_NODE_SWITCH : FAB_NODE_NIC, &out->node, err));
    out->node_text = n.description;
    out->nic_port = n.guid_port;
    return FAB_OK;
}

/* `0x0004 003 # Channel Adapter portguid 0x0002c90000000003: 'server-0 HCA-1'`, or behind the port `: (...)`. */
static fab_status read_entry(reader *r, entry *out, fab_error *err) {
    uint64_t lid = 0;
    out->lid_text = fab_text_token(r->in);
    fab_token digits = out->lid_text;
    digits.text += 2; /* 0x */
    digits.length -= 2;
    FAB_RETURN_IF(
        !fab_token_hexadecimal(digits, &lid) || lid == 0 || lid > FAB_IB_LIDS,
        fab_text_refuse(r->in, out->lid_text, err, "is no unicast LID: they are 0x0001 to 0x%04x", FAB_IB_LIDS));
    FAB_RETURN_IF(lid <= r->last_lid, fab_text_refuse(r->in, out->lid_text, err,
                                                      "does not ascend: the LID before is 0x%04" PRIx32, r->last_lid));
    out->lid = r->last_lid = (uint32_t)lid;
    out->port_text = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_number(out->port_text, &out->port),
                  fab_text_refuse(r->in, out->port_text, err, "%s",
                                  out->port_text.length > 0 ? "is no port number" : "expected a port number"));
    if (fab_text_take(r->in, "# ")) {
        FAB_PASS(read_owner(r, "", out, err));
    } else if (fab_text_take(r->in, ": (")) {
        FAB_PASS(read_owner(r, ")", out, err));
    } else {
        return fab_text_expected(r->in, "'#' or ': (' and whose LID it is (as dump_lfts without -n writes it)", err);
    }
    return FAB_OK;
}

/* A line for a switch carries no traffic of ours; it is only held against the fabric. */
static fab_status check_switch_entry(const reader *r, const entry *e, fab_error *err) {
    fab_link_id link = FAB_NONE;
    FAB_RETURN_IF((e->port == 0) != (e->node == r->v),
                  fab_text_refuse(r->in, e->port_text, err, "%s",
                                  e->port == 0 ? "is the switch itself, and the LID is of another"
                                               : "is a port, and the LID is of the switch itself"));
    if (e->port != 0) {
        FAB_PASS(fab_text_port(r->in, r->f, r->v, e->port_text, e->port, &link, err));
        FAB_PASS(fab_text_next_hop(r->in, r->f, e->port_text, link, err));
    }
    return FAB_OK;
}

/* A port has one LID, over all switches. */
static fab_status check_lid(reader *r, const entry *e, uint32_t destination, bool is_set, fab_error *err) {
    uint32_t *lid = &r->lid[destination];
    if (*lid == 0 || *lid == e->lid) {
        *lid = e->lid;
        return FAB_OK;
    }
    FAB_RETURN_IF(is_set, fab_text_unable(r->in, e->lid_text, err,
                                          "is a second LID of its port beside 0x%04" PRIx32
                                          ": several LIDs per port (LMC above 0) are not read",
                                          *lid));
    return fab_text_refuse(r->in, e->lid_text, err,
                           "is the LID of a port that has 0x%04" PRIx32 " in the table of another switch", *lid);
}

/* The port of a NIC on the plane of the switch at hand, as a destination and as the link from there into its leaf. */
static uint32_t destination_of(const reader *r, fab_node_id nic, fab_link_id *out_up) {
    const fab_fabric *f = r->f;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t plane = f->switch_plane[r->v - base];
    const fab_ports *ports = &r->router->ports;
    *out_up = ports->nic_access[(size_t)(nic - f->first[FAB_NODE_NIC]) * ports->n_planes + plane];
    if (*out_up == FAB_NONE) {
        return 0; /* a slot without a cable: the caller looks at out_up */
    }
    uint32_t leaf = r->router->next_hops->leaf_index[fab_head(f, *out_up) - base];
    return leaf * r->router->port_stride + f->port[*out_up ^ 1U] - 1;
}

static fab_status set_entry(reader *r, const entry *e, fab_error *err) {
    const fab_fabric *f = r->f;
    fab_link_id up = FAB_NONE;
    fab_link_id link = FAB_NONE;
    uint32_t d = destination_of(r, e->node, &up);
    FAB_RETURN_IF(up == FAB_NONE,
                  fab_text_refuse(r->in, e->node_text, err, "has no cable on the plane of this switch"));
    fab_node_id leaf = fab_head(f, up);
    FAB_RETURN_IF(e->nic_port != 0 && e->nic_port != fab_ib_port(f, up),
                  fab_text_refuse(r->in, e->node_text, err,
                                  "has the GUID of its port %" PRIu32 "; on this plane it has port %" PRIu32,
                                  e->nic_port, fab_ib_port(f, up)));
    bool is_set = r->v == leaf ? r->reached[d] != 0 : fab_forwarding_get(f, r->out, r->v, d) != FAB_NONE;
    FAB_PASS(check_lid(r, e, d, is_set, err));
    FAB_RETURN_IF(e->port == 0,
                  fab_text_refuse(r->in, e->port_text, err, "is the switch itself, and the LID is of an adapter"));
    FAB_PASS(fab_text_port(r->in, f, r->v, e->port_text, e->port, &link, err));
    if (r->v == leaf) {
        if (link != (up ^ 1U)) {
            return fab_text_refuse(r->in, e->port_text, err, "is not where it is plugged in: that is port %u of %s",
                                   f->port[up ^ 1U], FAB_SAY_NODE(f, leaf));
        }
        r->reached[d] = 1;
        return FAB_OK;
    }
    FAB_PASS(fab_text_next_hop(r->in, f, e->port_text, link, err));
    fab_forwarding_set(f, r->out, d, link);
    return FAB_OK;
}

/* `36 lids dumped`: the last LID of the subnet (opensm); `36 valid lids dumped`: as many lines (dump_lfts). */
static fab_status lft_read_count(reader *r, fab_error *err) {
    fab_token count = fab_text_token(r->in);
    uint64_t n = 0;
    FAB_RETURN_IF(!fab_token_number(count, &n),
                  fab_text_refuse(r->in, count, err, "begins no line of a table of LIDs"));
    bool valid = fab_text_take(r->in, "valid ");
    FAB_RETURN_IF(!fab_text_take(r->in, "lids dumped") || fab_text_token(r->in).length > 0,
                  fab_text_expected(r->in, "'lids dumped'", err));
    FAB_RETURN_IF(valid ? n != r->n_entries : n < r->n_entries,
                  fab_text_refuse(r->in, count, err, "LIDs, but %" PRIu64 " lines were read", r->n_entries));
    r->is_open = false;
    return FAB_OK;
}

/* The headings of dump_lfts, and its advice to use dump_fts. */
static bool is_heading(const fab_text *in) {
    fab_text copy = *in;
    return fab_text_take(&copy, "*** WARNING ***") || (fab_text_take(&copy, "Lid ") && fab_text_take(&copy, "Out ")) ||
           (fab_text_take(&copy, "Port ") && fab_text_take(&copy, "Info"));
}

static fab_status lft_read_line(reader *r, fab_error *err) {
    fab_text ahead = *r->in;
    if (fab_text_take(&ahead, "Unicast lids")) {
        return read_head(r, err);
    }
    if (is_heading(r->in)) {
        return FAB_OK;
    }
    FAB_RETURN_IF(!r->is_open, fab_text_expected(r->in, "'Unicast lids ...', the head of a table,", err));
    if (!fab_text_take(&ahead, "0x")) {
        return lft_read_count(r, err);
    }
    entry e = {0};
    FAB_PASS(read_entry(r, &e, err));
    r->n_entries++;
    if (e.node == FAB_NONE || r->v == FAB_NONE) {
        return FAB_OK;
    }
    return fab_kind_of(r->f, e.node) == FAB_NODE_SWITCH ? check_switch_entry(r, &e, err) : set_entry(r, &e, err);
}

/* Stands on the line of switch v for a destination, which has been read before. */
static fab_status go_to(reader *r, fab_node_id v, uint32_t destination, fab_error *err) {
    size_t head = r->head_line[v - r->f->first[FAB_NODE_SWITCH]];
    fab_text_rewind(r->in);
    r->v = v;
    r->last_lid = 0;
    while (fab_text_next(r->in)) {
        fab_text ahead = *r->in;
        entry e = {0};
        fab_link_id up = FAB_NONE;
        if (r->in->line <= head || !fab_text_take(&ahead, "0x")) {
            continue;
        }
        FAB_PASS(read_entry(r, &e, err));
        if (e.node != FAB_NONE && fab_kind_of(r->f, e.node) == FAB_NODE_NIC &&
            destination_of(r, e.node, &up) == destination && up != FAB_NONE) {
            break;
        }
    }
    return FAB_OK;
}

static fab_status check_loops(reader *r, fab_error *err) {
    fab_loop loop;
    FAB_PASS(fab_forwarding_find_loop(r->router, r->out, &loop, err));
    if (loop.text[0] == '\0') {
        return FAB_OK;
    }
    FAB_PASS(go_to(r, loop.v, loop.destination, err));
    return fab_text_fail(r->in, err, "%s", loop.text);
}

fab_status fab_lft_drop_unreached(const fab_router *router, const uint8_t *reached, fab_forwarding *out,
                                  fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t n = out->n_destinations;
    uint32_t n_unreached = 0;
    FAB_PASS(FAB_NEW(out->unreached, n, err));
    for (fab_link_id up = 0; up < f->n_links; up += 2) {
        if (fab_class_of(f, up)->kind != FAB_LINK_ACCESS) {
            continue;
        }
        uint32_t leaf = router->next_hops->leaf_index[fab_head(f, up) - f->first[FAB_NODE_SWITCH]];
        uint32_t d = leaf * router->port_stride + f->port[up ^ 1U] - 1;
        if (reached[d] != 0) {
            continue;
        }
        out->unreached[d] = 1;
        n_unreached++;
        for (uint32_t v = 0; v < fab_n_switches(f); v++) {
            out->entry[(size_t)v * n + d] = 0;
        }
    }
    if (n_unreached == 0) {
        free(out->unreached);
        out->unreached = NULL;
    }
    return FAB_OK;
}

fab_status fab_lft_read(const fab_router *router, fab_text *in, fab_forwarding *out, fab_error *err) {
    FAB_OWNS(fab_forwarding_release) fab_forwarding read = {0};
    reader r = {.router = router, .f = router->fabric, .in = in, .out = &read};
    FAB_OWNS_MEMBERS(r.reached, r.lid, r.head_line);
    FAB_PASS(fab_forwarding_init(router, &read, err));
    FAB_PASS(FAB_NEW_ALL(read.n_destinations, err, r.reached, r.lid));
    FAB_PASS(FAB_NEW(r.head_line, fab_n_switches(r.f), err));
    while (fab_text_next(in)) {
        FAB_PASS(lft_read_line(&r, err));
    }
    FAB_PASS(r.is_open ? fab_text_fail(in, err, "the file is cut off: there is no line 'N lids dumped'") : FAB_OK);
    FAB_PASS(check_loops(&r, err));
    FAB_PASS(fab_lft_drop_unreached(router, r.reached, &read, err));
    return FAB_GIVE(*out, read);
}
