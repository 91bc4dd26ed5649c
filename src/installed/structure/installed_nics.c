/* Which hosts are servers, and which adapter is which NIC of theirs. */
#include "installed_internal.h"

#include "fab/str.h"

#define MOST_NICS  4096
#define MOST_SLOTS 8192
#define NEARLY     0.8 /* part of the NICs of complete servers whose names have a number */

/* NICs that most hosts have; the larger number where two are as frequent. */
static uint32_t usual_nics(const making *m) {
    uint32_t count[MOST_NICS + 1] = {0};
    uint32_t usual = 0;
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        uint32_t n = m->hosts[i].n;
        if (m->hosts[i].name != NULL && n <= MOST_NICS) {
            count[n]++;
        }
    }
    for (uint32_t n = 1; n <= MOST_NICS; n++) {
        usual = count[n] > 0 && count[n] >= count[usual] ? n : usual;
    }
    return usual;
}

static bool has_cables(const making *m, const host *h) {
    FAB_ANY_IN(found, i, h->first, h->first + h->n, m->units[i].n_sides < m->out->n_planes);
    return !found;
}

static void classify(making *m) {
    fab_structure *out = m->out;
    FAB_EACH(host, h, m->hosts, m->n_hosts) {
        if (h->name == NULL) {
            h->class = HOST_EXCLUDED;
            installed_leave(out, FAB_EXCLUDED_NAMELESS, m->net->nodes[h->node].label);
        } else if (h->n < out->nics_per_server && 2 * h->n <= out->nics_per_server) {
            h->class = HOST_EXCLUDED;
            installed_leave(out, FAB_EXCLUDED_MANAGEMENT, h->name);
        } else {
            h->class = h->n >= out->nics_per_server && has_cables(m, h) ? HOST_COMPLETE : HOST_INCOMPLETE;
        }
    }
}

/* --- slots -------------------------------------------------------------------------------------------------------- */

typedef struct slot_use {
    uint32_t slot, n;
} slot_use;

FAB_ORDER_KEYS(by_use, slot_use, FAB_ORDER(b->n, a->n), FAB_ORDER(a->slot, b->slot));

/* The numbers that the NICs of servers have most often, ascending: place[slot] of each, + 1. 0 where names have none.
 */
static fab_status nics_find_slots(const making *m, uint32_t *place, fab_error *err) {
    uint32_t n_known = 0;
    uint32_t n_all = 0;
    uint32_t n = 0;
    FAB_OWNED_NEW(slot_use, use, MOST_SLOTS, err);
    for (uint32_t slot = 0; slot < MOST_SLOTS; slot++) {
        use[slot].slot = slot;
    }
    FAB_EACH(const host, h, m->hosts, m->n_hosts) {
        for (uint32_t k = h->first; h->class == HOST_COMPLETE && k < h->first + h->n; k++) {
            n_all++;
            if (m->units[k].slot < MOST_SLOTS) {
                n_known++;
                use[m->units[k].slot].n++;
            }
        }
    }
    qsort(use, MOST_SLOTS, sizeof *use, by_use);
    while (n < m->out->nics_per_server && n < MOST_SLOTS && use[n].n > 0) {
        n++;
    }
    qsort(use, n, sizeof *use, fab_order_u32); /* by slot */
    for (uint32_t i = 0; i < n && n == m->out->nics_per_server && n_known >= NEARLY * n_all; i++) {
        place[use[i].slot] = i + 1;
    }
    return FAB_OK;
}

typedef struct ordered {
    const fab_network *net;
    nic_unit unit;
} ordered;

FAB_ORDER_KEYS(nics_by_label, ordered, installed_compare(a->net, a->unit.node, b->unit.node),
               FAB_ORDER(a->unit.side[0], b->unit.side[0]));

static void set_nic(fab_structure *out, size_t nic, const nic_unit *unit) {
    out->nic_node[nic] = unit->node;
    for (uint32_t p = 0; p < out->n_planes; p++) {
        out->nic_side[nic * out->n_planes + p] = unit->side[p];
    }
}

/* First those whose number has a place, then the others where there is room, in the order of their names. */
static fab_status place_host(making *m, const host *h, uint32_t server, const uint32_t *place, fab_error *err) {
    fab_structure *out = m->out;
    uint32_t n = 0;
    uint32_t next = 0;
    size_t first = (size_t)server * out->nics_per_server;
    FAB_OWNED_NEW(ordered, rest, h->n, err);
    for (uint32_t i = h->first; i < h->first + h->n; i++) {
        const nic_unit *unit = &m->units[i];
        uint32_t at = unit->slot < MOST_SLOTS ? place[unit->slot] : 0;
        if (at > 0 && out->nic_node[first + at - 1] == FAB_NETWORK_NONE) {
            set_nic(out, first + at - 1, unit);
        } else {
            rest[n++] = (ordered){m->net, *unit};
        }
    }
    qsort(rest, n, sizeof *rest, nics_by_label);
    for (uint32_t i = 0; i < n; i++) {
        while (next < out->nics_per_server && out->nic_node[first + next] != FAB_NETWORK_NONE) {
            next++;
        }
        if (next < out->nics_per_server) {
            set_nic(out, first + next, &rest[i].unit);
        } else {
            installed_leave(out, FAB_EXCLUDED_SURPLUS, m->net->nodes[rest[i].unit.node].label);
        }
    }
    return FAB_OK;
}

/* --- order -------------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    const making *m;
    const host *h;
} ranked;

static const fab_network_end *first_plug(const ranked *r) {
    return fab_network_far(r->m->net, r->m->units[r->h->first].side[0] != FAB_NETWORK_NONE
                                          ? r->m->units[r->h->first].side[0]
                                          : r->m->units[r->h->first].side[r->m->out->n_planes - 1]);
}

/* Complete servers first; by rank, group and name, or leaf and port. */
static int by_rank(const void *x, const void *y) {
    const ranked *a = x;
    const ranked *b = y;
    int order = 0;
    if (a->h->class != b->h->class) {
        return a->h->class == HOST_COMPLETE ? -1 : 1;
    }
    FAB_ORDER_BY(a->h->rank, b->h->rank); /* those without one stand last */
    FAB_ORDER_BY(a->h->group, b->h->group);
    if (a->m->options->by_leaf) {
        const fab_network_end *p = first_plug(a);
        const fab_network_end *q = first_plug(b);
        order = p->node != q->node ? installed_compare(a->m->net, p->node, q->node)
                                   : fab_compare_names(p->port != NULL ? p->port : "", q->port != NULL ? q->port : "");
    } else {
        order = fab_compare_names(a->h->name, b->h->name);
        order = order != 0 ? order : strcmp(a->h->name, b->h->name);
    }
    return order != 0 ? order : FAB_ORDER(a->h->node, b->h->node);
}

/* Groups and ranks that the file gives, from any adapter of a host. */
static fab_status find_groups(making *m, fab_error *err) {
    const fab_network *net = m->net;
    FAB_OWNED uint32_t *group = NULL;
    FAB_PASS(FAB_NEW(group, net->n_nodes, err)); /* + 1 */
    for (uint32_t g = 0; g < net->n_groups; g++) {
        for (uint32_t i = 0; i < net->groups[g].n; i++) {
            group[net->member[net->groups[g].first + i]] = g + 1;
        }
    }
    FAB_EACH(host, h, m->hosts, m->n_hosts) {
        h->group = group[h->node] - 1; /* wraps to FAB_NETWORK_NONE */
        h->rank = net->nodes[h->node].rank;
        for (uint32_t k = h->first; k < h->first + h->n; k++) {
            uint32_t node = m->units[k].node;
            h->group = h->group == FAB_NETWORK_NONE ? group[node] - 1 : h->group;
            h->rank = net->nodes[node].rank < h->rank ? net->nodes[node].rank : h->rank;
        }
    }
    return FAB_OK;
}

/* Servers per group, where all complete ones stand in groups of the same size one after the other. */
static void find_domains(making *m, const ranked *list) {
    fab_structure *out = m->out;
    uint32_t n = 0;
    uint32_t size = 0;
    for (uint32_t i = 0; i < out->n_complete; i += n) {
        uint32_t group = list[i].h->group;
        for (n = 1; i + n < out->n_complete && list[i + n].h->group == group; n++) {
        }
        if (group == FAB_NETWORK_NONE || (size != 0 && n != size)) {
            return;
        }
        if (i > 0 && group < list[i - 1].h->group) {
            return; /* ranks go to and fro between groups */
        }
        size = n;
    }
    if (size > 0 && out->n_servers % size == 0) {
        const fab_network_group *group = &m->net->groups[list[0].h->group];
        out->domain_servers = size;
        out->domain_bps = group->rate_bps * group->n;
    }
}

static fab_status order_servers(making *m, ranked **out_list, fab_error *err) {
    fab_structure *out = m->out;
    ranked *list = NULL;
    FAB_PASS(FAB_NEW(list, m->n_hosts, err));
    for (uint32_t i = 0; i < m->n_hosts; i++) {
        if (m->hosts[i].class != HOST_EXCLUDED) {
            list[out->n_servers++] = (ranked){m, &m->hosts[i]};
            out->n_complete += m->hosts[i].class == HOST_COMPLETE;
        }
    }
    qsort(list, out->n_servers, sizeof *list, by_rank);
    *out_list = list;
    return FAB_OK;
}

fab_status installed_place_nics(making *m, fab_error *err) {
    fab_structure *out = m->out;
    FAB_OWNED ranked *list = NULL;
    uint32_t usual = usual_nics(m);
    FAB_REFUSE_IF(m->options->nics_per_server > MOST_NICS, err, FAB_EINPUT, NULL,
                  "nics-per-server: %" PRIu64 "; the limit is %d", m->options->nics_per_server, MOST_NICS);
    out->nics_per_server = m->options->nics_per_server > 0 ? (uint32_t)m->options->nics_per_server : usual;
    if (usual == 0) {
        FAB_ANY(has_others, v, m->net->n_nodes, m->net->nodes[v].kind != FAB_NETWORK_SWITCH);
        const bool has_switches_alone = m->net->n_cables > 0 && !has_others;
        return fab_fail(err, FAB_EINPUT, m->net->path, "no host is plugged into a switch%s",
                        has_switches_alone && !m->options->is_fixed ? "; hosts-per-switch=N adds N to each" : "");
    }
    classify(m);
    FAB_PASS(find_groups(m, err));
    FAB_PASS(order_servers(m, &list, err));
    find_domains(m, list);
    FAB_REFUSE_IF(out->n_complete == 0, err, FAB_EINPUT, m->net->path,
                  "no host has %" PRIu32 " NICs; most have %" PRIu32, out->nics_per_server, usual);
    size_t n_nics = (size_t)out->n_servers * out->nics_per_server;
    FAB_OWNED_NEW(uint32_t, place, MOST_SLOTS, err);
    FAB_PASS(FAB_NEW(out->server_name, out->n_servers, err));
    FAB_PASS(FAB_NEW(out->nic_node, n_nics, err));
    FAB_PASS(FAB_NEW(out->nic_side, n_nics * out->n_planes, err));
    memset(out->nic_node, 0xff, n_nics * sizeof *out->nic_node);
    memset(out->nic_side, 0xff, n_nics * out->n_planes * sizeof *out->nic_side);
    FAB_PASS(nics_find_slots(m, place, err));
    for (uint32_t i = 0; i < out->n_servers; i++) {
        out->server_name[i] = list[i].h->name;
        FAB_PASS(place_host(m, list[i].h, i, place, err));
    }
    return FAB_OK;
}
