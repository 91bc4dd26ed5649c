/* opensm-subnet.lst, which OpenSM writes after every sweep: a line per port in use, with both ends. Ports and LIDs are
 * hexadecimal. Source: OpenSM 3.3.23, osm_dump.c. */
#include "network_internal.h"

#define AGGREGATION_NODE UINT64_C(0xcf09) /* device of the SHARP engine inside a switch */
#define MOST_PORTS       254

typedef struct side {
    fab_network_kind kind;
    uint64_t n_ports, system_guid, guid, device, port;
    fab_token label;
} side;

static fab_status subnet_take(const fab_network_lines *r, const char *word, fab_error *err) {
    return fab_text_take(r->in, word) ? FAB_OK : fab_text_expected(r->in, word, err);
}

/* "NodeGUID:e09d7303007a5100" */
static fab_status read_field(const fab_network_lines *r, const char *key, uint64_t *out, fab_error *err) {
    FAB_PASS(subnet_take(r, key, err));
    fab_token t = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_token_hexadecimal(t, out), fab_text_refuse(r->in, t, err, "is no hexadecimal number"));
    return FAB_OK;
}

/* "} LID:028C PN:01 }", which ends a description. */
static bool ends_label(const char *at, const char *behind) {
    static const char FORM[] = "} LID:XXXX PN:XX }";
    for (size_t i = 0; i < sizeof FORM - 1; i++) {
        uint64_t digit = 0;
        bool fits = (size_t)(behind - at) > i &&
                    (FORM[i] == 'X' ? fab_token_hexadecimal((fab_token){.text = at + i, .length = 1}, &digit)
                                    : at[i] == FORM[i]);
        if (!fits) {
            return false;
        }
    }
    return true;
}

/* {MF0;A09-P1-IBLEAF-04-04:MQM9701/U1}; the text may hold braces. */
static fab_status read_label(const fab_network_lines *r, fab_token *out, fab_error *err) {
    FAB_PASS(subnet_take(r, "{", err));
    const char *from = r->in->at;
    const char *behind = r->in->behind;
    const char *at = memchr(from, '}', (size_t)(behind - from));
    while (at != NULL && !ends_label(at, behind)) {
        at = memchr(at + 1, '}', (size_t)(behind - at - 1));
    }
    if (at == NULL) {
        return fab_text_expected(r->in, "a description that ends with '} LID:XXXX PN:XX }'", err);
    }
    *out = (fab_token){.text = from, .length = (size_t)(at - from)};
    r->in->at = at + 1;
    return FAB_OK;
}

/* { CA Ports:01 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {desc} LID:028C PN:01 } */
static fab_status read_side(const fab_network_lines *r, side *out, fab_error *err) {
    uint64_t other = 0;
    FAB_PASS(subnet_take(r, "{", err));
    fab_token kind = fab_text_token(r->in);
    FAB_RETURN_IF(!fab_network_ib_kind(kind, &out->kind),
                  fab_text_refuse(r->in, kind, err, "where SW, CA or RT was expected"));
    FAB_PASS(read_field(r, "Ports:", &out->n_ports, err));
    FAB_PASS(read_field(r, "SystemGUID:", &out->system_guid, err));
    FAB_PASS(read_field(r, "NodeGUID:", &out->guid, err));
    FAB_PASS(read_field(r, "PortGUID:", &other, err));
    FAB_PASS(read_field(r, "VenID:", &other, err));
    FAB_PASS(read_field(r, "DevID:", &out->device, err));
    FAB_PASS(read_field(r, "Rev:", &other, err));
    FAB_PASS(read_label(r, &out->label, err));
    FAB_PASS(read_field(r, "LID:", &other, err));
    FAB_PASS(read_field(r, "PN:", &out->port, err));
    FAB_PASS(subnet_take(r, "}", err));
    FAB_RETURN_IF(out->port > MOST_PORTS || out->n_ports == 0 || out->n_ports > MOST_PORTS,
                  fab_text_refuse(r->in, (fab_token){.column = kind.column}, err,
                                  "port %llX of %llX; a node has 1 to FE", (unsigned long long)out->port,
                                  (unsigned long long)out->n_ports));
    return FAB_OK;
}

/* Devices of the remote end are printed shifted by 16 bits. */
static bool is_service(const side *s) {
    return s->kind == FAB_NETWORK_ADAPTER && (s->device == AGGREGATION_NODE || s->device == AGGREGATION_NODE << 16);
}

/* Named as ibnetdiscover names it, so that both files make the same network. */
static fab_status add_side(const fab_network_lines *r, const side *s, uint32_t *out, fab_error *err) {
    char name[24];
    int n = snprintf(name, sizeof name, "%c-%016llx", s->kind == FAB_NETWORK_SWITCH ? 'S' : 'H',
                     (unsigned long long)s->guid);
    FAB_PASS(fab_network_add_node(r->net, name, (size_t)n, r->in->line, out, err));
    fab_network_node *node = &r->net->nodes[*out];
    node->guid = s->guid;
    node->system_guid = s->system_guid;
    node->n_ports = (uint32_t)s->n_ports;
    return fab_network_ib_describe(r->net, *out, is_service(s) ? FAB_NETWORK_SERVICE : s->kind, s->label.text,
                                   s->label.length, err);
}

/* PHY=4x LOG=ACT SPD=25: gigabits of a lane; a rate that nobody knows is none. OpenSM writes 2.5 also where a link has
 * a faster, extended speed that it was not told: links of that speed have not been built for twenty years. */
static fab_status read_rate(const fab_network_lines *r, fab_network_cable *cable, fab_error *err) {
    FAB_PASS(subnet_take(r, "PHY=", err));
    fab_token width = fab_text_token(r->in);
    FAB_PASS(subnet_take(r, "LOG=", err));
    (void)fab_text_token(r->in);
    FAB_PASS(subnet_take(r, "SPD=", err));
    fab_token speed = fab_text_token(r->in);
    (void)fab_network_ib_speed(width, speed, &cable->width, &cable->rate_bps);
    cable->rate_bps = fab_token_is(speed, "2.5") ? 0 : cable->rate_bps;
    FAB_RETURN_IF(fab_text_rest(r->in).length > 0 && fab_text_token(r->in).length > 0,
                  fab_text_expected(r->in, "the end of the line", err));
    return FAB_OK;
}

static fab_status subnet_read_line(const fab_network_lines *r, fab_error *err) {
    side sides[2] = {{0}};
    char ports[2][8];
    fab_network_cable cable = {.end = {{.port = ports[0], .line = r->in->line}, {.port = ports[1]}}};
    for (uint32_t i = 0; i < 2; i++) {
        FAB_PASS(read_side(r, &sides[i], err));
        FAB_FORMAT(ports[i], "%u", (unsigned)sides[i].port);
    }
    FAB_PASS(read_rate(r, &cable, err));
    for (uint32_t i = 0; i < 2; i++) {
        FAB_PASS(add_side(r, &sides[i], &cable.end[i].node, err));
    }
    return fab_network_add_cable(r->net, &cable, NULL, err);
}

static fab_status read_subnet(fab_text *in, fab_network *net, fab_error *err) {
    return fab_network_read_ends(in, net, subnet_read_line, err);
}

const fab_network_format fab_network_subnet = {.name = "opensm-subnet",
                                               .is_infiniband = true,
                                               .summary = "InfiniBand subnet as OpenSM lists it: opensm-subnet.lst",
                                               .begins = "^\\{ .. Ports:",
                                               .text = read_subnet};
