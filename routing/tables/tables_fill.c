/* Forwarding tables in memory: an entry for every switch and port of a leaf. */
#include "engines/engines.h"
#include "fab/tables.h"

/* Ports of leaves that NICs are plugged into, by leaf. */
typedef struct access_ports {
    uint32_t *first;       /* [leaf + 1] */
    uint32_t *destination; /* leaf * port_stride + port - 1 */
    fab_hop_key *key;      /* of a packet to there */
} access_ports;

static fab_status list_ports(const fab_router *router, access_ports *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    const fab_next_hops *t = router->next_hops;
    size_t most = (size_t)t->n_leaves * router->port_stride;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(out->first, (size_t)t->n_leaves + 1, err));
    FAB_PASS(FAB_NEW_ALL(most, err, out->destination, out->key));
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        fab_node_id v = t->leaf_node[leaf];
        out->first[leaf] = n;
        FAB_EACH_LINK(f, v, access) {
            if (fab_class_of(f, access)->kind == FAB_LINK_ACCESS) {
                out->destination[n] = leaf * router->port_stride + f->port[access] - 1;
                out->key[n] = (fab_hop_key){.destination = out->destination[n]};
                if (router->engine->begin != NULL) {
                    router->engine->begin(router, 0, &out->key[n], 1);
                }
                n++;
            }
        }
    }
    out->first[t->n_leaves] = n;
    return FAB_OK;
}

/* The entries of switch v for the ports of a leaf, by the formula of modulo engines. */
static void fill_modulo(const fab_router *router, uint32_t v, uint32_t leaf, const access_ports *a, uint16_t *row) {
    const fab_fabric *f = router->fabric;
    fab_next_hop_list next = fab_next_hops_look(router->next_hops, v, leaf);
    uint32_t count = next.count;
    uint32_t tier = router->switch_tier[v];
    uint32_t slot = router->modulo_slot[tier];
    uint32_t shift = router->modulo_shift[tier];
    bool is_power = (count & (count - 1)) == 0;
    for (uint32_t i = a->first[leaf]; count > 0 && i < a->first[leaf + 1]; i++) {
        uint32_t value = a->key[i].value[slot] >> shift;
        row[a->destination[i]] = f->port[fab_next_hop(&next, is_power ? value & (count - 1) : value % count)];
    }
}

static void fill_any(const fab_router *router, uint32_t v, uint32_t leaf, const access_ports *a, uint16_t *row) {
    const fab_fabric *f = router->fabric;
    fab_node_id node = v + f->first[FAB_NODE_SWITCH];
    for (uint32_t i = a->first[leaf]; i < a->first[leaf + 1]; i++) {
        fab_link_id next = fab_router_next(router, 0, node, leaf, &a->key[i]);
        row[a->destination[i]] = next == FAB_NONE ? 0 : f->port[next];
    }
}

fab_status fab_tables_fill(const fab_router *router, uint16_t *out_port, fab_error *err) {
    access_ports a = {0};
    FAB_OWNS_MEMBERS(a.first, a.destination, a.key);
    uint32_t n_leaves = router->next_hops->n_leaves;
    size_t per_switch = (size_t)n_leaves * router->port_stride;
    FAB_REFUSE_IF(!router->engine->by_destination, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s looks at more than the destination", router->engine->name);
    FAB_PASS(list_ports(router, &a, err));
    memset(out_port, 0, fab_n_switches(router->fabric) * per_switch * sizeof *out_port);
    for (uint32_t v = 0; v < fab_n_switches(router->fabric); v++) {
        uint16_t *row = out_port + v * per_switch;
        for (uint32_t leaf = 0; leaf < n_leaves; leaf++) {
            if (router->next_hops->leaf_index[v] == leaf) {
                for (uint32_t i = a.first[leaf]; i < a.first[leaf + 1]; i++) {
                    row[a.destination[i]] = (uint16_t)(a.destination[i] % router->port_stride + 1);
                }
            } else if (router->is_modulo) {
                fill_modulo(router, v, leaf, &a, row);
            } else {
                fill_any(router, v, leaf, &a, row);
            }
        }
    }
    return FAB_OK;
}
