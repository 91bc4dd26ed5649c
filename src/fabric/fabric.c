/* Look-ups on a frozen fabric. Names are made when printed: storing them would cost more than the graph. Those of what
 * is installed are stored (names.c). */
#include "fab/names.h"

FAB_FREES_AFTER(fab_fabric_free, fab_fabric, fabric) {
    FAB_FREE_ALL(fabric->classes, fabric->cable_class, fabric->end, fabric->port, fabric->out_first, fabric->out_link,
                 fabric->switch_pod, fabric->switch_rail, fabric->switch_plane, fabric->switch_radix,
                 fabric->switch_ports);
    fab_names_free(fabric->names);
}

uint32_t fab_switch_degree(const fab_fabric *f) {
    uint32_t most = 0;
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        uint32_t degree = f->out_first[v + 1] - f->out_first[v];
        most = degree > most ? degree : most;
    }
    return most;
}

uint32_t fab_tier_of(const fab_fabric *f, fab_node_id v) {
    FAB_FIRST_IN(tier, 1, f->n_tiers, !(v >= f->first_of_tier[tier + 1]));
    return tier;
}

uint32_t fab_nics_of_gpu(const fab_fabric *f, uint32_t gpu, uint32_t *first) {
    uint32_t server = gpu / f->gpus_per_server;
    uint32_t slot = gpu % f->gpus_per_server;
    *first = server * f->nics_per_server + (uint32_t)((uint64_t)slot * f->nics_per_server / f->gpus_per_server);
    return f->nics_per_server > f->gpus_per_server ? f->nics_per_server / f->gpus_per_server : 1;
}

fab_link_id fab_access_link(const fab_fabric *f, fab_node_id nic, uint32_t n, uint32_t k) {
    FAB_FIRST_IN(i, f->out_first[nic], f->out_first[nic + n],
                 fab_class_of(f, f->out_link[i])->kind == FAB_LINK_ACCESS && k-- == 0);
    return i < f->out_first[nic + n] ? f->out_link[i] : FAB_NONE;
}

const char *fab_tier_name(fab_wiring wiring, uint32_t tier) {
    static const char *const NAMES[] = {"nic", "leaf", "spine", "core", "tier4", "tier5", "tier6", "tier7", "tier8"};
    if (wiring != FAB_WIRING_TREE && tier > 0) {
        return "switch";
    }
    return tier < FAB_N_OF(NAMES) ? NAMES[tier] : "tier?";
}

const char *fab_boundary_name(fab_wiring wiring, uint32_t boundary) {
    static const char *const NAMES[][FAB_FABRIC_TIERS + 1] = {
        [FAB_WIRING_TREE] = {"server", "nic-leaf", "leaf-spine", "spine-core", "core-tier4", "tier4-tier5",
                             "tier5-tier6", "tier6-tier7", "tier7-tier8"},
        [FAB_WIRING_DRAGONFLY] = {"server", "nic-switch", "local", "global"},
        [FAB_WIRING_TORUS] = {"server", "nic-switch", "torus"},
        [FAB_WIRING_GRAPH] = {"server", "nic-switch", "switch-switch"},
    };
    const char *name = boundary <= FAB_FABRIC_TIERS ? NAMES[wiring][boundary] : NULL;
    return name != NULL ? name : "tier?";
}

const char *fab_wiring_name(fab_wiring wiring) {
    static const char *const NAMES[] = {[FAB_WIRING_TREE] = "tree",
                                        [FAB_WIRING_DRAGONFLY] = "dragonfly",
                                        [FAB_WIRING_TORUS] = "torus",
                                        [FAB_WIRING_GRAPH] = "graph"};
    return NAMES[wiring];
}

const char *fab_direction_name(fab_wiring wiring, uint32_t boundary, bool up) {
    if (wiring == FAB_WIRING_TREE || boundary <= 1) {
        return up ? "up" : "down";
    }
    return up ? "forward" : "reverse";
}

const char *fab_node_name(const fab_fabric *f, fab_node_id v, char *out) {
    static const char *const KINDS[] = {"gpu", "nic", "domain"};
    fab_node_kind kind = fab_kind_of(f, v);
    if (f->names != NULL && f->names->node[v] != FAB_NAME_NONE) {
        (void)snprintf(out, FAB_NODE_NAME_SIZE, "%s", f->names->text + f->names->node[v]);
    } else if (kind == FAB_NODE_SWITCH) {
        uint32_t tier = fab_tier_of(f, v);
        (void)snprintf(out, FAB_NODE_NAME_SIZE, "%s-%u", fab_tier_name(f->wiring, tier), v - f->first_of_tier[tier]);
    } else {
        (void)snprintf(out, FAB_NODE_NAME_SIZE, "%s-%u", KINDS[kind], v - f->first[kind]);
    }
    return out;
}

const char *fab_port_name(const fab_fabric *f, fab_link_id l, char *out) {
    if (f->names != NULL && f->names->port[l] != FAB_NAME_NONE) {
        (void)snprintf(out, FAB_PORT_NAME_SIZE, "%s", f->names->text + f->names->port[l]);
    } else {
        (void)snprintf(out, FAB_PORT_NAME_SIZE, "%u", f->port[l]);
    }
    return out;
}

const char *fab_link_name(const fab_fabric *f, fab_link_id l, char *out) {
    char node[2][FAB_NODE_NAME_SIZE];
    char port[2][FAB_PORT_NAME_SIZE];
    (void)snprintf(out, FAB_LINK_NAME_SIZE, "%s:%s > %s:%s", fab_node_name(f, fab_tail(f, l), node[0]),
                   fab_port_name(f, l, port[0]), fab_node_name(f, fab_head(f, l), node[1]),
                   fab_port_name(f, l ^ 1U, port[1]));
    return out;
}

const char *fab_server_name(const fab_fabric *f, uint32_t server, char *out) {
    if (f->names != NULL && f->names->server[server] != FAB_NAME_NONE) {
        (void)snprintf(out, FAB_NODE_NAME_SIZE, "%s", f->names->text + f->names->server[server]);
    } else {
        (void)snprintf(out, FAB_NODE_NAME_SIZE, "server-%u", server);
    }
    return out;
}
