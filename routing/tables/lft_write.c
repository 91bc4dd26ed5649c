/* Forwarding tables as opensm dumps them. Its engine `file` finds switches and adapters by GUID. */
#include "engines/engines.h"
#include "fab/ib_names.h"
#include "fab/tables.h"

#include <errno.h>

typedef struct writer {
    const fab_router *router;
    const fab_fabric *f;
    FILE *out;
    uint16_t *port;     /* fab_tables_fill() */
    uint8_t *to_switch; /* shape [n_switches][n_switches]: [d][v] is the port of v towards switch d; 0: no way */
    uint32_t *queue;    /* shape [n_switches] */
    uint32_t *distance; /* shape [n_switches] */
    char (*description)[FAB_IB_DESCRIPTION]; /* shape [n_nics] */
} writer;

/* Port of every switch towards switch d along a shortest way: the lowest. What engines route ends at NICs; a subnet
 * manager's tools also talk to the switches. */
static void find_ways(writer *w, uint32_t d) {
    const fab_fabric *f = w->f;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    uint32_t n_queued = 0;
    uint8_t *port = w->to_switch + (size_t)d * n;
    memset(w->distance, 0xff, n * sizeof *w->distance); /* FAB_NONE */
    w->distance[d] = 0;
    w->queue[n_queued++] = d;
    for (uint32_t i = 0; i < n_queued; i++) {
        uint32_t v = w->queue[i];
        FAB_EACH_LINK(f, base + v, link) {
            fab_node_id head = fab_head(f, link);
            if (head < base) {
                continue;
            }
            uint32_t to = head - base;
            if (w->distance[to] == FAB_NONE) {
                w->distance[to] = w->distance[v] + 1;
                w->queue[n_queued++] = to;
            }
            if (port[v] == 0 && v != d && w->distance[to] + 1 == w->distance[v]) { /* in port order */
                port[v] = (uint8_t)f->port[link];
            }
        }
    }
}

/* The entry of switch v for the port of a NIC on its plane; 0 where there is none. */
static uint32_t nic_entry(const writer *w, uint32_t v, uint32_t nic, uint64_t *out_guid) {
    const fab_fabric *f = w->f;
    const fab_router *router = w->router;
    uint32_t plane = f->switch_plane[v];
    fab_link_id up = router->ports.nic_access[(size_t)nic * router->ports.n_planes + plane];
    if (up == FAB_NONE) {
        return 0;
    }
    uint32_t leaf = router->next_hops->leaf_index[fab_head(f, up) - f->first[FAB_NODE_SWITCH]];
    uint32_t d = leaf * router->port_stride + f->port[up ^ 1U] - 1;
    *out_guid = fab_ib_guid(f, f->first[FAB_NODE_NIC] + nic, fab_ib_port(f, up));
    if (router->unreached != NULL && router->unreached[d] != 0) {
        return 0;
    }
    return w->port[((size_t)v * router->next_hops->n_leaves) * router->port_stride + d];
}

/* The largest LID that a switch knows. */
static uint32_t last_lid(const writer *w, uint32_t v) {
    uint32_t n = fab_n_switches(w->f);
    uint32_t last = n;
    while (last - 1 != v && w->to_switch[(size_t)(last - 1) * n + v] == 0) {
        last--;
    }
    return fab_n_of(w->f, FAB_NODE_NIC) + last;
}

static void put_table(const writer *w, uint32_t v) {
    const fab_fabric *f = w->f;
    fab_node_id base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    uint32_t last = last_lid(w, v);
    char name[FAB_IB_DESCRIPTION];
    (void)fprintf(w->out, "Unicast lids [0-%" PRIu32 "] of switch Lid %" PRIu32 " guid 0x%016" PRIx64 " ('%s'):\n",
                  last, fab_ib_lid(f, base + v), fab_ib_guid(f, base + v, 0), fab_ib_description(f, base + v, name));
    for (uint32_t nic = 0; nic < fab_n_of(f, FAB_NODE_NIC); nic++) {
        uint64_t guid = 0;
        uint32_t port = nic_entry(w, v, nic, &guid);
        if (port != 0) {
            (void)fprintf(w->out, "0x%04" PRIx32 " %03" PRIu32 " # Channel Adapter portguid 0x%016" PRIx64 ": '%s'\n",
                          nic + 1, port, guid, w->description[nic]);
        }
    }
    for (uint32_t to = 0; to < n; to++) {
        uint32_t port = w->to_switch[(size_t)to * n + v];
        if (port != 0 || to == v) {
            (void)fprintf(w->out, "0x%04" PRIx32 " %03" PRIu32 " # Switch portguid 0x%016" PRIx64 ": '%s'\n",
                          fab_ib_lid(f, base + to), port, fab_ib_guid(f, base + to, 0),
                          fab_ib_description(f, base + to, name));
        }
    }
    (void)fprintf(w->out, "%" PRIu32 " lids dumped\n", last);
}

fab_status fab_tables_write_lft(const fab_router *router, FILE *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    writer w = {.router = router, .f = f, .out = out};
    FAB_OWNS_MEMBERS(w.port, w.to_switch, w.queue, w.distance, w.description);
    size_t n = fab_n_switches(f);
    uint32_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    FAB_REFUSE_IF(!router->engine->by_destination || router->facts.splits, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s does not choose by the destination alone; a subnet manager's table has one port for each",
                  router->engine->name);
    FAB_PASS(fab_ib_check(f, err));
    FAB_PASS(FAB_NEW(w.port, n * router->next_hops->n_leaves * router->port_stride, err));
    FAB_PASS(FAB_NEW(w.to_switch, n * n, err));
    FAB_PASS(FAB_NEW_ALL(n, err, w.queue, w.distance));
    FAB_PASS(FAB_NEW(w.description, n_nics, err));
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        (void)fab_ib_description(f, f->first[FAB_NODE_NIC] + nic, w.description[nic]);
    }
    for (uint32_t d = 0; d < n; d++) {
        find_ways(&w, d);
    }
    FAB_PASS(fab_tables_fill(router, w.port, err));
    for (uint32_t v = 0; v < n && !ferror(out); v++) {
        put_table(&w, v);
    }
    FAB_REFUSE_IF(fflush(out) != 0 || ferror(out), err, FAB_EIO, NULL, "cannot write the forwarding tables: %s",
                  strerror(errno));
    return FAB_OK;
}
