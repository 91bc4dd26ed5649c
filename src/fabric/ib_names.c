/* Names of nodes towards InfiniBand tools. The GUIDs are locally administered (bit 1 of the first byte), so that none
 * of a real device is among them. */
#include "fab/ib_names.h"
#include "fab/fabric_parse.h"
#include "fab/names.h"

#define PREFIX     UINT64_C(0x02fab00000000000)
#define KIND_SHIFT 40 /* 1 switch, 2 NIC */
#define NODE_SHIFT 8

fab_status fab_ib_check(const fab_fabric *f, fab_error *err) {
    uint64_t n_lids = (uint64_t)fab_n_of(f, FAB_NODE_NIC) + fab_n_switches(f);
    FAB_REFUSE_IF(n_lids > FAB_IB_LIDS, err, FAB_EUNSUPPORTED, NULL,
                  "%" PRIu64 " NICs and switches; the LIDs of an InfiniBand subnet end at %u", n_lids, FAB_IB_LIDS);
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        if (fab_ib_n_ports(f, v) > FAB_IB_PORTS) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "%s has %u ports; an InfiniBand switch has %u at most",
                            FAB_SAY_NODE(f, v), fab_ib_n_ports(f, v), FAB_IB_PORTS);
        }
    }
    return FAB_OK;
}

uint64_t fab_ib_guid(const fab_fabric *f, fab_node_id v, uint32_t port) {
    fab_node_kind kind = fab_kind_of(f, v);
    uint64_t number = v - f->first[kind];
    bool is_switch = kind == FAB_NODE_SWITCH;
    if (f->names != NULL && f->names->guid[v] != 0) { /* of most adapters that of the first port too */
        return f->names->guid[v] + (is_switch || port == 0 ? 0 : port - 1);
    }
    return PREFIX | (uint64_t)(is_switch ? 1 : 2) << KIND_SHIFT | number << NODE_SHIFT | (is_switch ? 0 : port);
}

uint32_t fab_ib_lid(const fab_fabric *f, fab_node_id v) {
    fab_node_kind kind = fab_kind_of(f, v);
    return 1 + v - f->first[kind] + (kind == FAB_NODE_SWITCH ? fab_n_of(f, FAB_NODE_NIC) : 0);
}

uint32_t fab_ib_port(const fab_fabric *f, fab_link_id link) {
    fab_node_id v = fab_tail(f, link);
    uint32_t port = 1;
    if (fab_kind_of(f, v) == FAB_NODE_SWITCH) {
        return f->port[link];
    }
    for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1] && f->out_link[i] != link; i++) {
        port += fab_class_of(f, f->out_link[i])->kind == FAB_LINK_ACCESS;
    }
    return port;
}

uint32_t fab_ib_n_ports(const fab_fabric *f, fab_node_id v) {
    uint32_t n = 0;
    if (fab_kind_of(f, v) == FAB_NODE_SWITCH) {
        uint32_t i = v - f->first[FAB_NODE_SWITCH];
        return f->switch_ports[i] > f->switch_radix[i] ? f->switch_ports[i] : f->switch_radix[i];
    }
    FAB_EACH_LINK(f, v, link) {
        n += fab_class_of(f, link)->kind == FAB_LINK_ACCESS;
    }
    return n;
}

const char *fab_ib_description(const fab_fabric *f, fab_node_id v, char *out) {
    if (fab_kind_of(f, v) == FAB_NODE_SWITCH || (f->names != NULL && f->names->node[v] != FAB_NAME_NONE)) {
        return fab_node_name(f, v, out);
    }
    uint32_t nic = v - f->first[FAB_NODE_NIC];
    (void)snprintf(out, FAB_IB_DESCRIPTION, "server-%" PRIu32 " HCA-%" PRIu32, nic / f->nics_per_server,
                   nic % f->nics_per_server + 1);
    return out;
}

fab_node_id fab_ib_find_guid(const fab_fabric *f, uint64_t guid, uint32_t *out_port) {
    uint64_t rest = guid ^ PREFIX;
    uint64_t kind = rest >> KIND_SHIFT;
    uint64_t number = rest >> NODE_SHIFT & UINT32_MAX;
    uint32_t port = (uint32_t)(rest & 0xff);
    fab_node_id near = f->names != NULL ? fab_names_find_guid(f->names, guid) : FAB_NONE;
    if (near != FAB_NONE) {
        bool is_switch = fab_kind_of(f, near) == FAB_NODE_SWITCH;
        uint64_t offset = guid - f->names->guid[near];
        uint32_t n_ports = is_switch ? 0 : fab_ib_n_ports(f, near);
        if (offset <= n_ports) { /* the first port has the adapter's GUID, or the next one, as ibsim numbers them */
            *out_port = offset < n_ports ? (uint32_t)offset + 1 : n_ports;
            return near;
        }
    }
    if (kind == 1 && number < fab_n_switches(f) && port == 0) {
        *out_port = 0;
        return f->first[FAB_NODE_SWITCH] + (uint32_t)number;
    }
    if (kind == 2 && number < fab_n_of(f, FAB_NODE_NIC)) {
        *out_port = port;
        return f->first[FAB_NODE_NIC] + (uint32_t)number;
    }
    return FAB_NONE;
}

/* Moves over `word` and the number behind it; false where they do not stand there. */
static bool ib_names_take(const char **at, const char *end, const char *word, uint32_t *out) {
    size_t n = strlen(word);
    uint64_t number = 0;
    const char *c = *at + n;
    if ((size_t)(end - *at) <= n || memcmp(*at, word, n) != 0) {
        return false;
    }
    for (; c < end && *c >= '0' && *c <= '9' && number < UINT32_MAX; c++) {
        number = 10 * number + (uint64_t)(*c - '0');
    }
    if (c == *at + n || number >= UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)number;
    *at = c;
    return true;
}

fab_node_id fab_ib_find_description(const fab_fabric *f, const char *text, size_t n) {
    const char *at = text;
    const char *end = text + n;
    uint32_t server = 0;
    uint32_t nic = 0;
    fab_node_id named = fab_names_find_node(f->names, text, n);
    if (named != FAB_NONE) {
        return named;
    }
    if (ib_names_take(&at, end, "server-", &server)) {
        uint32_t first = ib_names_take(&at, end, " HCA-", &nic)    ? 1
                         : ib_names_take(&at, end, " mlx5_", &nic) ? 0
                                                                   : FAB_NONE;
        bool fits = first != FAB_NONE && at == end && nic >= first && nic - first < f->nics_per_server;
        uint64_t number = (uint64_t)server * f->nics_per_server + nic - first;
        return fits && number < fab_n_of(f, FAB_NODE_NIC) ? f->first[FAB_NODE_NIC] + (uint32_t)number : FAB_NONE;
    }
    char name[FAB_NODE_NAME_SIZE] = "";
    fab_node_id v = FAB_NONE;
    if (n == 0 || n >= sizeof name || memchr(text, '\0', n) != NULL) {
        return FAB_NONE;
    }
    memcpy(name, text, n);
    if (fab_node_parse(f, name, &v, NULL) != FAB_OK) {
        return FAB_NONE;
    }
    fab_node_kind kind = fab_kind_of(f, v);
    return kind == FAB_NODE_SWITCH || kind == FAB_NODE_NIC ? v : FAB_NONE;
}
