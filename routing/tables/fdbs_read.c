/* Forwarding tables as ibdiagnet dumps them, ibdiagnet2.fdbs: "osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c9...",
 * then a line for each LID, "0x0004 : 003  : 00   : yes" or "0x0001 : UNREACHABLE". Whose LID it is stands nowhere, so
 * the file is read twice: first what leaves deliver to their own NIC ports, then the way there. Planes, and rails
 * without links between them, are subnets of their own, each with its own LIDs; their dumps follow each other. Source:
 * ibutils, and dumps that the tools reading them cite. */
#include "tables_read.h"
#include "fab/ib_names.h"

#define HEAD   "osm_ucast_mgr_dump_ucast_routes:"
#define SWITCH UINT32_MAX /* owner of the LID of a switch itself */

typedef struct fdb_reader {
    const fab_router *router;
    const fab_fabric *f;
    fab_text *in;
    fab_forwarding *out;
    uint8_t *reached;  /* [n_destinations] */
    uint32_t *lid;     /* [n_destinations]: 0 before it is known */
    uint32_t *subnet;  /* [n_switches] */
    uint32_t *owner;   /* [subnets][LIDs]: destination + 1, SWITCH, or 0 */
    size_t *head_line; /* [n_switches]: of its table */
    bool is_open;
    fab_node_id v; /* whose table it is; FAB_NONE: of a switch that import has left out */
} fdb_reader;

/* A line of a LID. */
typedef struct fdb_entry {
    uint32_t lid;
    uint64_t port;
    bool is_route;
    fab_token lid_text, port_text;
} fdb_entry;

bool fab_fdbs_is_dump(fab_text in) {
    return fab_text_next(&in) && fab_text_take(&in, HEAD);
}

/* "osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c9030068ec10" */
static fab_status fdb_read_head(fdb_reader *r, fab_error *err) {
    uint64_t guid = 0;
    uint32_t port = 0;
    (void)fab_text_take(r->in, HEAD);
    bool is_switch = fab_text_take(r->in, "Switch ");
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!is_switch || !fab_token_guid(t, &guid),
                  fab_text_refuse(r->in, t, err, "where a switch was expected, as in Switch 0x0002c9030068ec10"));
    FAB_RETURN_IF(fab_text_rest(r->in).length > 0 && fab_text_token(r->in).length > 0,
                  fab_text_unable(r->in, t, err, "has a table of another kind: one per switch is read"));
    r->v = fab_ib_find_guid(r->f, guid, &port);
    r->is_open = true;
    if (r->v == FAB_NONE && r->f->names != NULL) {
        return FAB_OK;
    }
    FAB_RETURN_IF(r->v == FAB_NONE || fab_kind_of(r->f, r->v) != FAB_NODE_SWITCH,
                  fab_text_refuse(r->in, t, err, "is the GUID of no switch of this fabric"));
    size_t *line = &r->head_line[r->v - r->f->first[FAB_NODE_SWITCH]];
    FAB_RETURN_IF(*line != 0 && *line != r->in->line,
                  fab_text_refuse(r->in, t, err, "has a table in line %zu already", *line));
    *line = r->in->line;
    return FAB_OK;
}

/* "0x0004 : 003  : 00   : yes": all of it, so that a line that is cut off is none. */
static fab_status fdb_read_entry(const fdb_reader *r, fdb_entry *out, fab_error *err) {
    uint64_t lid = 0;
    uint64_t hops = 0;
    out->lid_text = fab_text_token(r->in);
    FAB_RETURN_IF(
        !fab_token_guid(out->lid_text, &lid) || lid == 0 || lid > FAB_IB_LIDS,
        fab_text_refuse(r->in, out->lid_text, err, "is no unicast LID: they are 0x0001 to 0x%04x", FAB_IB_LIDS));
    out->lid = (uint32_t)lid;
    bool has_colon = fab_text_take(r->in, ":");
    out->port_text = fab_text_token(r->in);
    out->is_route = !fab_token_is(out->port_text, "UNREACHABLE");
    bool is_good = has_colon && (!out->is_route || fab_token_number(out->port_text, &out->port));
    if (is_good && out->is_route) {
        is_good =
            fab_text_take(r->in, ":") && fab_token_number(fab_text_token(r->in), &hops) && fab_text_take(r->in, ":");
        fab_token is_best = fab_text_token(r->in);
        is_good = is_good && (fab_token_is(is_best, "yes") || fab_token_is(is_best, "no"));
    }
    FAB_RETURN_IF(!is_good || fab_text_token(r->in).length > 0,
                  fab_text_refuse(r->in, out->lid_text, err,
                                  "is not followed by ': PORT : HOPS : yes' (or no), or ': UNREACHABLE'"));
    return FAB_OK;
}

/* Numbers the subnets: switches that cables join. */
static fab_status find_subnets(fdb_reader *r, uint32_t *out_n, fab_error *err) {
    const fab_fabric *f = r->f;
    fab_node_id first = f->first[FAB_NODE_SWITCH];
    uint32_t *queue = NULL;
    FAB_PASS(FAB_NEW_ALL(fab_n_switches(f), err, r->subnet, queue));
    *out_n = 0;
    for (uint32_t i = 0; i < fab_n_switches(f); i++) {
        uint32_t n = 0;
        if (r->subnet[i] == 0) {
            r->subnet[i] = ++*out_n;
            queue[n++] = i;
        }
        for (uint32_t at = 0; at < n; at++) {
            FAB_EACH_LINK(f, first + queue[at], link) {
                uint32_t far = fab_head(f, link) - first;
                if (fab_class_of(f, link)->kind == FAB_LINK_FABRIC && r->subnet[far] == 0) {
                    r->subnet[far] = *out_n;
                    queue[n++] = far;
                }
            }
        }
    }
    free(queue);
    return FAB_OK;
}

/* Whose the LID is in the subnet of the switch at hand. */
static uint32_t *owner_of(const fdb_reader *r, uint32_t lid) {
    size_t subnet = r->subnet[r->v - r->f->first[FAB_NODE_SWITCH]] - 1;
    return &r->owner[subnet * (FAB_IB_LIDS + 1) + lid];
}

/* Whom a leaf delivers the LID to. */
static fab_status find_owner(fdb_reader *r, const fdb_entry *e, fab_error *err) {
    const fab_fabric *f = r->f;
    uint32_t *owner = owner_of(r, e->lid);
    fab_link_id link = e->port > 0 && e->port <= UINT16_MAX ? fab_link_at_port(f, r->v, (uint32_t)e->port) : FAB_NONE;
    if (e->port == 0) {
        *owner = *owner == 0 ? SWITCH : *owner;
        return *owner == SWITCH
                   ? FAB_OK
                   : fab_text_refuse(r->in, e->lid_text, err, "is the LID of this switch, and of a NIC of another");
    }
    if (link == FAB_NONE || fab_class_of(f, link)->kind != FAB_LINK_ACCESS) {
        return FAB_OK; /* the way there, or somebody whom import has left out */
    }
    uint32_t leaf = r->router->next_hops->leaf_index[r->v - f->first[FAB_NODE_SWITCH]];
    uint32_t d = leaf * r->router->port_stride + (uint32_t)e->port - 1;
    FAB_RETURN_IF(*owner != 0 && *owner != d + 1,
                  fab_text_refuse(r->in, e->lid_text, err, "is delivered to two NIC ports"));
    FAB_RETURN_IF(r->lid[d] != 0 && r->lid[d] != e->lid,
                  fab_text_unable(r->in, e->lid_text, err,
                                  "is a second LID of its port beside 0x%04" PRIx32
                                  ": several LIDs per port (LMC above 0) are not read",
                                  r->lid[d]));
    *owner = d + 1;
    r->lid[d] = e->lid;
    r->reached[d] = 1;
    return FAB_OK;
}

static fab_status set_hop(fdb_reader *r, const fdb_entry *e, fab_error *err) {
    const fab_fabric *f = r->f;
    uint32_t owner = *owner_of(r, e->lid);
    fab_link_id link = FAB_NONE;
    if (owner == 0 || owner == SWITCH || e->port == 0) {
        return FAB_OK;
    }
    FAB_PASS(fab_text_port(r->in, f, r->v, e->port_text, e->port, &link, err));
    if (fab_class_of(f, link)->kind == FAB_LINK_ACCESS) {
        return FAB_OK; /* at its own leaf */
    }
    FAB_RETURN_IF(fab_forwarding_get(f, r->out, r->v, owner - 1) != FAB_NONE,
                  fab_text_refuse(r->in, e->lid_text, err, "stands in this table twice"));
    FAB_PASS(fab_text_next_hop(r->in, f, e->port_text, link, err));
    fab_forwarding_set(f, r->out, owner - 1, link);
    return FAB_OK;
}

/* Every line once: `visit` is called for the routes of switches that the fabric has. */
static fab_status each_entry(fdb_reader *r, fab_status (*visit)(fdb_reader *r, const fdb_entry *e, fab_error *err),
                             fab_error *err) {
    fab_text_rewind(r->in);
    r->is_open = false;
    while (fab_text_next(r->in)) {
        fab_text ahead = *r->in;
        fdb_entry e = {0};
        if (fab_text_take(&ahead, HEAD)) {
            FAB_PASS(fdb_read_head(r, err));
            continue;
        }
        if (fab_text_take(&ahead, "LID ")) {
            continue; /* the names of the columns */
        }
        FAB_RETURN_IF(!r->is_open, fab_text_refuse(r->in, fab_text_token(r->in), err, "where '" HEAD "' was expected"));
        FAB_PASS(fdb_read_entry(r, &e, err));
        FAB_PASS(e.is_route && r->v != FAB_NONE ? visit(r, &e, err) : FAB_OK);
    }
    return FAB_OK;
}

/* At the line of the switch for this destination. */
static fab_status check_loops(fdb_reader *r, fab_error *err) {
    fab_loop loop;
    FAB_PASS(fab_forwarding_find_loop(r->router, r->out, &loop, err));
    if (loop.text[0] == '\0') {
        return FAB_OK;
    }
    size_t head = r->head_line[loop.v - r->f->first[FAB_NODE_SWITCH]];
    bool is_there = false;
    fab_text_rewind(r->in);
    while (!is_there && fab_text_next(r->in)) {
        uint64_t lid = 0;
        is_there = r->in->line > head && fab_token_guid(fab_text_token(r->in), &lid) && lid == r->lid[loop.destination];
    }
    return fab_text_fail(r->in, err, "%s", loop.text);
}

fab_status fab_fdbs_read(const fab_router *router, fab_text *in, fab_forwarding *out, fab_error *err) {
    FAB_OWNS(fab_forwarding_release) fab_forwarding read = {0};
    uint32_t n_subnets = 0;
    fdb_reader r = {.router = router, .f = router->fabric, .in = in, .out = &read};
    FAB_OWNS_MEMBERS(r.reached, r.lid, r.subnet, r.owner, r.head_line);
    FAB_PASS(fab_forwarding_init(router, &read, err));
    FAB_PASS(FAB_NEW_ALL(read.n_destinations, err, r.reached, r.lid));
    FAB_PASS(find_subnets(&r, &n_subnets, err));
    FAB_PASS(FAB_NEW(r.owner, ((size_t)FAB_IB_LIDS + 1) * n_subnets, err));
    FAB_PASS(FAB_NEW(r.head_line, fab_n_switches(r.f), err));
    FAB_PASS(each_entry(&r, find_owner, err));
    FAB_PASS(each_entry(&r, set_hop, err));
    FAB_PASS(check_loops(&r, err));
    FAB_PASS(fab_lft_drop_unreached(router, r.reached, &read, err));
    return FAB_GIVE(*out, read);
}
