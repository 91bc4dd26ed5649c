/* Forwarding tables as text. */
#include "engines.h"
#include "fab/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What a switch does with the packets to one port of a leaf. */
typedef struct entry {
    const fab_link_id *link; /* several only where the engine looks at more than the destination */
    uint32_t count;          /* 0: no route */
    fab_link_id one;
} entry;

static void find_entry(const fab_router *router, fab_node_id v, uint32_t leaf, uint32_t port, entry *out) {
    const fab_fabric *f = router->fabric;
    fab_hop_key key = {.destination = leaf * router->port_stride + port - 1};
    *out = (entry){.one = FAB_NONE};
    if (router->engine->by_destination) {
        out->one = fab_router_next(router, 0, v, leaf, &key);
        out->link = &out->one;
        out->count = out->one != FAB_NONE;
    } else {
        out->link = fab_next_hops_get(router->next_hops, v - f->first[FAB_NODE_SWITCH], leaf, &out->count);
    }
}

static void put_entry(const fab_fabric *f, const entry *e, FILE *out) {
    (void)fputc(' ', out);
    if (e->count == 0) {
        (void)fputc('-', out);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        (void)fprintf(out, "%s%u", i > 0 ? "," : "", f->port[e->link[i]]);
    }
}

/* The line of a switch for a leaf. Equal entries are written once. Returns the number of lines. */
static uint64_t put_line(const fab_router *router, fab_node_id v, uint32_t leaf, FILE *out) {
    const fab_fabric *f = router->fabric;
    fab_node_id to = router->next_hops->leaf_node[leaf];
    entry first = {0};
    entry e = {0};
    bool routed = false;
    bool differ = false;
    bool is_first = true;
    for (uint32_t k = f->out_first[to]; k < f->out_first[to + 1]; k++) {
        if (fab_class_of(f, f->out_link[k])->kind != FAB_LINK_ACCESS) {
            continue;
        }
        find_entry(router, v, leaf, f->port[f->out_link[k]], &e);
        routed = routed || e.count > 0;
        differ = differ || (!is_first && router->engine->by_destination && e.one != first.one);
        first = is_first ? e : first;
        is_first = false;
    }
    uint32_t reached = 0;
    (void)fab_next_hops_get(router->next_hops, v - f->first[FAB_NODE_SWITCH], leaf, &reached);
    if (!routed && reached == 0) {
        return 0;
    }
    char a[32];
    char b[32];
    (void)fprintf(out, "%s %s", fab_node_name(f, v, a), fab_node_name(f, to, b));
    for (uint32_t k = f->out_first[to]; k < f->out_first[to + 1]; k++) {
        if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS) {
            find_entry(router, v, leaf, f->port[f->out_link[k]], &e);
            put_entry(f, &e, out);
            if (!differ) {
                break;
            }
        }
    }
    (void)fputc('\n', out);
    return 1;
}

fab_status fab_tables_write(const fab_router *router, FILE *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    char header[FAB_TABLES_HEADER];
    uint64_t n_lines = 0;
    (void)fprintf(out, "%s\n# engine %s\n%s\n", FAB_TABLES_MAGIC, router->label, fab_tables_fabric_line(f, header));
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes && !ferror(out); v++) {
        for (uint32_t leaf = 0; leaf < router->next_hops->n_leaves; leaf++) {
            if (router->next_hops->leaf_node[leaf] != v) {
                n_lines += put_line(router, v, leaf, out);
            }
        }
    }
    (void)fprintf(out, "end %" PRIu64 "\n", n_lines);
    if (fflush(out) != 0 || ferror(out)) {
        return fab_fail(err, FAB_EIO, NULL, "cannot write the forwarding tables: %s", strerror(errno));
    }
    return FAB_OK;
}

const char *fab_tables_fabric_line(const fab_fabric *f, char *out) {
    uint32_t n_cables = 0;
    for (uint32_t c = 0; c < f->n_cables; c++) {
        fab_link_kind kind = f->classes[f->cable_class[c]].kind;
        n_cables += kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC;
    }
    (void)snprintf(out, FAB_TABLES_HEADER, "fabric nics=%" PRIu32 " switches=%" PRIu32 " cables=%" PRIu32,
                   fab_n_of(f, FAB_NODE_NIC), fab_n_switches(f), n_cables);
    return out;
}
