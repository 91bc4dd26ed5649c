#include "box_names.h"
#include "shape_internal.h"

#include <ctype.h>
#include <strings.h>

#define NEARLY                                                                                                         \
    0.8 /* part of the adapters of a leaf, and of the leaves, that makes a rule of what they have in common */

/* --- adjacency ---------------------------------------------------------------------------------------------------- */

typedef struct order {
    unsigned long port; /* its first number; what has none stands last */
    uint32_t side;
} order;

FAB_ORDER_TWO(by_port, order, port, side);

static unsigned long port_number(const char *port) {
    const char *digits = port != NULL ? strpbrk(port, "0123456789") : NULL;
    return digits != NULL ? strtoul(digits, NULL, 10) : (unsigned long)-1;
}

static fab_status shape_join(fab_shape *s, fab_error *err) {
    const fab_network *net = s->net;
    FAB_OWNED order *sorted = NULL;
    FAB_PASS(FAB_NEW(s->first, (size_t)net->n_nodes + 1, err));
    FAB_PASS(FAB_NEW_ALL(2 * (size_t)net->n_cables, err, s->side, sorted));
    for (uint32_t e = 0; e < 2 * net->n_cables; e++) {
        s->first[fab_network_near(net, e)->node + 1]++;
    }
    FAB_ADD_UP(s->first, net->n_nodes);
    for (uint32_t e = 2 * net->n_cables; e-- > 0;) {
        uint32_t v = fab_network_near(net, e)->node;
        sorted[--s->first[v + 1]] = (order){port_number(fab_network_near(net, e)->port), e};
    }
    /* first[v + 1] was moved down to where v begins: shift back */
    FAB_FILL(s->first, net->n_nodes, s->first[fab_at + 1]);
    s->first[net->n_nodes] = 2 * net->n_cables;
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        qsort(sorted + s->first[v], s->first[v + 1] - s->first[v], sizeof *sorted, by_port);
    }
    FAB_FILL(s->side, s->first[net->n_nodes], sorted[fab_at].side);
    return FAB_OK;
}

/* --- kinds -------------------------------------------------------------------------------------------------------- */

static bool begins_with_any(const char *name, const char *const *words) {
    for (; *words != NULL; words++) {
        if (strncasecmp(name, *words, strlen(*words)) == 0) {
            return true;
        }
    }
    return false;
}

static void name_kinds(fab_shape *s, fab_network *net) {
    static const char *const SWITCHES[] = {"leaf", "spine", "core", "tor",    "switch",
                                           "sw",   "agg",   "isw",  "router", NULL};
    static const char *const HOSTS[] = {"server", "host",   "node",    "srv", "gpu", "dgx",
                                        "hgx",    "worker", "compute", "nic", NULL};
    FAB_ANY(knows_hosts, v, net->n_nodes, fab_network_is_host(net, v));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        fab_network_node *node = &net->nodes[v];
        if (node->kind == FAB_NETWORK_UNKNOWN) {
            bool one_cable = s->first[v + 1] - s->first[v] == 1;
            bool host = !begins_with_any(node->label, SWITCHES) &&
                        (begins_with_any(node->label, HOSTS) || (one_cable && !knows_hosts));
            node->kind = host ? FAB_NETWORK_HOST : FAB_NETWORK_SWITCH;
        }
    }
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

/* "HCA-6" is the sixth, "mlx5_5" and "nic-5" count from 0. */
static uint32_t slot_of(const char *label) {
    static const struct {
        const char *word;
        unsigned long from;
    } WORDS[] = {{"HCA-", 1}, {"mlx5_", 0}, {"mlx4_", 0}, {"nic-", 0}};
    for (size_t i = 0; i < FAB_N_OF(WORDS); i++) {
        const char *at = strstr(label, WORDS[i].word);
        const char *digits = at != NULL ? at + strlen(WORDS[i].word) : "";
        if (isdigit((unsigned char)*digits)) {
            unsigned long number = strtoul(digits, NULL, 10);
            return number >= WORDS[i].from && number < 4096 ? (uint32_t)(number - WORDS[i].from) : FAB_NETWORK_NONE;
        }
    }
    return FAB_NETWORK_NONE;
}

typedef struct named {
    const char *host;
    uint32_t node;
} named;

FAB_ORDER_KEYS(by_host, named, strcmp(a->host, b->host), FAB_ORDER(a->node, b->node));

/* Adapters of one host name are a server; a host is one by itself. Numbered by name. */
static fab_status find_servers(fab_shape *s, fab_error *err) {
    const fab_network *net = s->net;
    FAB_OWNED named *all = NULL;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL(net->n_nodes, err, s->server, s->slot, s->server_name, all));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        const char *host = node->kind == FAB_NETWORK_HOST ? node->label : node->host;
        s->server[v] = FAB_NETWORK_NONE;
        s->slot[v] = node->kind == FAB_NETWORK_ADAPTER ? slot_of(node->label) : FAB_NETWORK_NONE;
        if (fab_network_is_host(net, v) && host != NULL) {
            all[n++] = (named){host, v};
        }
    }
    qsort(all, n, sizeof *all, by_host);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(all[i].host, all[i - 1].host) != 0) {
            s->server_name[s->n_servers++] = all[i].host;
        }
        s->server[all[i].node] = s->n_servers - 1;
    }
    return FAB_OK;
}

/* --- rails -------------------------------------------------------------------------------------------------------- */

/* The slot that most adapters of a leaf have, by Boyer and Moore's vote; FAB_NETWORK_NONE where it is not nearly all.
 */
static uint32_t shape_rail_of(const fab_shape *s, uint32_t leaf) {
    uint32_t best = FAB_NETWORK_NONE;
    uint32_t votes = 0;
    uint32_t known = 0;
    uint32_t most = 0;
    for (uint32_t i = s->first[leaf]; i < s->first[leaf + 1]; i++) {
        uint32_t slot = s->slot[fab_network_far(s->net, s->side[i])->node];
        if (slot != FAB_NETWORK_NONE) {
            best = votes == 0 ? slot : best;
            votes += slot == best ? 1 : UINT32_MAX;
            known++;
        }
    }
    for (uint32_t i = s->first[leaf]; i < s->first[leaf + 1]; i++) {
        most += s->slot[fab_network_far(s->net, s->side[i])->node] == best;
    }
    return most >= NEARLY * known && most > 1 ? best : FAB_NETWORK_NONE;
}

static fab_status find_rails(fab_shape *s, fab_error *err) {
    uint32_t n_leaves = 0;
    uint32_t n_with = 0;
    uint32_t one = FAB_NETWORK_NONE;
    FAB_PASS(FAB_NEW(s->rail, s->net->n_nodes, err));
    for (uint32_t v = 0; v < s->net->n_nodes; v++) {
        s->rail[v] = FAB_NETWORK_NONE;
        if (s->tier[v] == 1) {
            s->rail[v] = shape_rail_of(s, v);
            n_leaves++;
            n_with += s->rail[v] != FAB_NETWORK_NONE;
            s->has_rails =
                s->has_rails || (s->rail[v] != FAB_NETWORK_NONE && one != FAB_NETWORK_NONE && one != s->rail[v]);
            one = s->rail[v] != FAB_NETWORK_NONE ? s->rail[v] : one;
        }
    }
    s->has_rails = s->has_rails && n_with >= NEARLY * n_leaves;
    return FAB_OK;
}

/* --- boxes of several chips --------------------------------------------------------------------------------------- */

typedef struct chip {
    const char *label;
    size_t n; /* of it is the name of the box */
    uint64_t guid;
    uint32_t node;
} chip;

FAB_ORDER_KEYS(by_box, chip, strncmp(a->label, b->label, a->n < b->n ? a->n : b->n), FAB_ORDER(a->n, b->n),
               FAB_ORDER(a->guid, b->guid), FAB_ORDER(a->node, b->node));

/* Chips of a director have its system GUID, and its name: with their boards behind it, or none of their own. Either
 * alone does not tell: anonymised dumps have one GUID for all, and lists of cables have none. */
static fab_status find_boxes(fab_shape *s, fab_error *err) {
    const fab_network *net = s->net;
    FAB_OWNED chip *all = NULL;
    uint32_t n = 0;
    FAB_PASS(FAB_NEW_ALL(net->n_nodes, err, s->box, all));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        const char *board = fab_board_of(node->label);
        s->box[v] = FAB_NETWORK_NONE;
        if (node->kind == FAB_NETWORK_SWITCH && (board != NULL || node->system_guid != 0)) {
            size_t length = board != NULL ? (size_t)(board - node->label) : strlen(node->label);
            all[n++] = (chip){node->label, length, node->system_guid, v};
        }
    }
    qsort(all, n, sizeof *all, by_box);
    for (uint32_t i = 0; i < n; i++) {
        bool same = i > 0 && all[i].n == all[i - 1].n && all[i].guid == all[i - 1].guid &&
                    strncmp(all[i].label, all[i - 1].label, all[i].n) == 0;
        s->box[all[i].node] = same ? s->box[all[i - 1].node] : all[i].node;
    }
    FAB_OWNED bool *joined = NULL; /* the chips of a box are joined; others share a case alone */
    FAB_PASS(FAB_NEW(joined, net->n_nodes, err));
    for (uint32_t c = 0; c < net->n_cables; c++) {
        const fab_network_end *end = net->cables[c].end;
        if (fab_shape_is_inside(s, &net->cables[c]) && end[0].node != end[1].node) {
            joined[s->box[end[0].node]] = true;
        }
    }
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        s->box[v] = s->box[v] != FAB_NETWORK_NONE && joined[s->box[v]] ? s->box[v] : FAB_NETWORK_NONE;
        s->n_boxes += s->box[v] == v;
        s->n_chips += s->box[v] != FAB_NETWORK_NONE;
    }
    return FAB_OK;
}

FAB_RELEASES(fab_shape_release, fab_shape, first, side, tier, server, server_name, slot, rail, box);

fab_status fab_shape_find(fab_network *net, fab_shape *out, fab_error *err) {
    FAB_OWNS(fab_shape_release) fab_shape s = {.net = net};
    FAB_PASS(shape_join(&s, err));
    name_kinds(&s, net);
    FAB_PASS(fab_shape_find_tiers(&s, err));
    FAB_PASS(find_servers(&s, err));
    FAB_PASS(find_rails(&s, err));
    FAB_PASS(find_boxes(&s, err));
    return FAB_GIVE(*out, s);
}
