#include "tables_text.h"
#include "forwarding.h"

#include <stdio.h>

fab_status fab_text_port(const fab_text *text, const fab_fabric *f, fab_node_id v, fab_token t, uint64_t port,
                         fab_link_id *out, fab_error *err) {
    char what[FAB_NODE_NAME_SIZE + 160];
    char name[FAB_NODE_NAME_SIZE];
    fab_link_id link = port <= UINT16_MAX ? fab_link_at_port(f, v, (uint32_t)port) : FAB_NONE;
    if (link == FAB_NONE) {
        uint32_t behind = f->out_first[v + 1];
        uint32_t last = behind > f->out_first[v] ? f->port[f->out_link[behind - 1]] : 0;
        (void)snprintf(what, sizeof what, "is no port in use of %s, whose last is %u", fab_node_name(f, v, name), last);
        return fab_text_wrong(text, t.column, FAB_EINPUT, what, t, err);
    }
    *out = link;
    return FAB_OK;
}

fab_status fab_text_next_hop(const fab_text *text, const fab_fabric *f, fab_token t, fab_link_id link, fab_error *err) {
    char what[FAB_NODE_NAME_SIZE + 160];
    char name[FAB_NODE_NAME_SIZE];
    if (fab_class_of(f, link)->kind == FAB_LINK_FABRIC) {
        return FAB_OK;
    }
    (void)snprintf(what, sizeof what, "leads to %s; a next hop is a switch", fab_node_name(f, fab_head(f, link), name));
    return fab_text_wrong(text, t.column, FAB_EINPUT, what, t, err);
}
