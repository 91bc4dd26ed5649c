/* Which boxes and links of two states are the same: by GUID and port, then by name; where files name no ports, by both
 * ends. */
#include "diff_internal.h"

#include "fab/names.h"

/* Node of a name made by formula: equal kind, tier and number. */
static fab_node_id node_by_number(const fab_fabric *from, fab_node_id v, const fab_fabric *to) {
    fab_node_kind kind = fab_kind_of(from, v);
    if (kind != FAB_NODE_SWITCH) {
        uint32_t index = v - from->first[kind];
        return index < fab_n_of(to, kind) ? to->first[kind] + index : FAB_NONE;
    }
    uint32_t tier = fab_tier_of(from, v);
    uint32_t index = v - from->first_of_tier[tier];
    bool is_there = tier <= to->n_tiers && index < to->first_of_tier[tier + 1] - to->first_of_tier[tier];
    return is_there ? to->first_of_tier[tier] + index : FAB_NONE;
}

/* The box that has this GUID; FAB_NONE. */
static fab_node_id node_by_guid(const fab_fabric *from, fab_node_id v, const fab_fabric *to) {
    uint64_t guid = from->names->guid[v];
    fab_node_id same = guid != 0 ? fab_names_find_guid(to->names, guid) : FAB_NONE;
    return same != FAB_NONE && to->names->guid[same] == guid ? same : FAB_NONE;
}

/* That of its first NIC, else the one of its name. */
static uint32_t server_in(const fab_fabric *from, uint32_t server, const fab_fabric *to) {
    char name[FAB_NODE_NAME_SIZE];
    if (to->names == NULL || from->names == NULL) {
        return server < to->n_servers ? server : FAB_NONE;
    }
    fab_node_id nic = node_by_guid(from, from->first[FAB_NODE_NIC] + server * from->nics_per_server, to);
    if (nic != FAB_NONE && fab_kind_of(to, nic) == FAB_NODE_NIC) {
        return (nic - to->first[FAB_NODE_NIC]) / to->nics_per_server;
    }
    (void)fab_server_name(from, server, name);
    return fab_names_find_server(to->names, name, strlen(name));
}

/* The box that has this name; FAB_NONE. */
static fab_node_id node_by_name(const fab_fabric *from, fab_node_id v, const fab_fabric *to) {
    const fab_names *names = from->names;
    const char *name = names->node[v] != FAB_NAME_NONE ? names->text + names->node[v] : NULL;
    return name != NULL ? fab_names_find_node(to->names, name, strlen(name)) : FAB_NONE;
}

/* What is installed is called by its name; GPUs, and NICs that files do not name, or otherwise, by their server. */
static fab_node_id node_in(const fab_fabric *from, fab_node_id v, const fab_fabric *to) {
    const fab_names *names = from->names;
    if (names == NULL || to->names == NULL) {
        return node_by_number(from, v, to);
    }
    fab_node_id same = node_by_guid(from, v, to);
    if (same != FAB_NONE) {
        return same;
    }
    fab_node_kind kind = fab_kind_of(from, v);
    same = node_by_name(from, v, to);
    if (same != FAB_NONE || (names->node[v] != FAB_NAME_NONE && kind != FAB_NODE_NIC)) {
        return same;
    }
    uint32_t per = kind == FAB_NODE_GPU ? from->gpus_per_server : kind == FAB_NODE_NIC ? from->nics_per_server : 0;
    uint32_t per_there = kind == FAB_NODE_GPU ? to->gpus_per_server : to->nics_per_server;
    if (per == 0 || per != per_there) {
        return node_by_number(from, v, to);
    }
    uint32_t index = v - from->first[kind];
    uint32_t server = server_in(from, index / per, to);
    same = server != FAB_NONE ? to->first[kind] + server * per + index % per : FAB_NONE;
    return same != FAB_NONE && node_by_name(to, same, from) == FAB_NONE ? same : FAB_NONE;
}

uint32_t diff_server_before(const diff *d, uint32_t server) {
    return server_in(d->side[1].f, server, d->side[0].f);
}

uint32_t diff_server_after(const diff *d, uint32_t server) {
    return server_in(d->side[0].f, server, d->side[1].f);
}

static bool same_port(const fab_fabric *a, fab_link_id x, const fab_fabric *b, fab_link_id y) {
    bool named = (a->names != NULL && a->names->port[x] != FAB_NAME_NONE) ||
                 (b->names != NULL && b->names->port[y] != FAB_NAME_NONE);
    return named ? strcmp(FAB_SAY_PORT(a, x), FAB_SAY_PORT(b, y)) == 0 : a->port[x] == b->port[y];
}

/* A free link of `v` in the first state that fits link l of the second: by its port, by its other end, or by both. */
static fab_link_id find_same(const diff *d, fab_link_id l, fab_node_id v, bool by_port, bool by_end) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    FAB_EACH_LINK(a, v, x) {
        bool fits = (!by_port || same_port(a, x, b, l)) && (!by_end || fab_head(a, x) == d->node[fab_head(b, l)]) &&
                    (!by_port || !by_end || same_port(a, x ^ 1U, b, l ^ 1U));
        if (d->back[x] == FAB_NONE && fits && fab_class_of(a, x)->kind == fab_class_of(b, l)->kind) {
            return x;
        }
    }
    return FAB_NONE;
}

static void match_links(diff *d, bool by_port, bool by_end) {
    const fab_fabric *b = d->side[1].f;
    for (fab_link_id l = 0; l < b->n_links; l++) {
        fab_node_id v = d->node[fab_tail(b, l)];
        if (d->same[l] == FAB_NONE && v != FAB_NONE) {
            d->same[l] = find_same(d, l, v, by_port, by_end);
            if (d->same[l] != FAB_NONE) {
                d->back[d->same[l]] = l;
            }
        }
    }
}

fab_status diff_match_links(diff *d, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    FAB_PASS(FAB_NEW(d->node, (size_t)b->n_nodes + 1, err));
    FAB_PASS(FAB_NEW(d->same, (size_t)b->n_links + 1, err));
    FAB_PASS(FAB_NEW(d->back, (size_t)a->n_links + 1, err));
    memset(d->same, 0xff, b->n_links * sizeof *d->same);
    memset(d->back, 0xff, a->n_links * sizeof *d->back);
    FAB_FILL(d->node, b->n_nodes, node_in(b, (fab_node_id)fab_at, a));
    match_links(d, true, true);
    match_links(d, true, false);
    match_links(d, false, true);
    return FAB_OK;
}
