/* Tiers of switches, from what most switches of a kind do. A leaf is a switch of a kind whose cables lead to hosts for
 * a good part, whether this one has hosts or not, and a spine with some hosts is none. The tiers above follow by the
 * cables, of which one that leads astray makes no tier; and switches of one role stand in one tier. */
#include "box_names.h"
#include "shape_internal.h"

#define MOST_TIERS  16
#define LEAF_PART   0.25 /* of the cables of leaves lead to hosts */
#define BELOW_PART  0.2  /* of the cables between switches of one lead to the tier below */
#define INSIDE_PART 0.05 /* of the cables of switches of one role join two of them, where roles are tiers */
#define LEVEL_PART  0.9  /* of the cables inside a role join switches of one tier, where that is its tier */
#define ALIKE_PART  0.75 /* of the neighbours of two switches that stand side by side are the same */
#define MOST_PART   0.6  /* of the switches of a role are in its tier */

typedef struct ranked {
    uint32_t node;
    fab_box_name name;
} ranked;

typedef struct tiers {
    fab_shape *s;
    ranked *all; /* switches, by role */
    uint32_t n;
    uint32_t *hosts, *trunks; /* [node]: cables to hosts, to other switches */
    uint32_t *role;           /* [node]: place of the first of its role in `all` */
    uint32_t *below;          /* [node]: cables to the tier that was found last */
    uint32_t *list;           /* by tier, as they are found */
} tiers;
FAB_FREES(tiers_release, tiers, all, hosts, trunks, role, below, list);

FAB_ORDER_KEYS(by_role, ranked, fab_box_role_compare(&a->name, &b->name), FAB_ORDER(a->node, b->node));

static fab_status tiers_open(tiers *t, fab_error *err) {
    const fab_shape *s = t->s;
    const fab_network *net = s->net;
    FAB_PASS(FAB_NEW_ALL(net->n_nodes, err, t->all, t->hosts, t->trunks, t->role, t->below, t->list));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t w = fab_network_far(net, s->side[k])->node;
            t->hosts[v] += fab_network_is_host(net, w);
            t->trunks[v] += net->nodes[w].kind == FAB_NETWORK_SWITCH && w != v;
        }
        if (net->nodes[v].kind == FAB_NETWORK_SWITCH) {
            t->all[t->n].node = v;
            t->all[t->n++].name = fab_box_name_of(net->nodes[v].label);
        }
    }
    FAB_SORT(t->all, t->n, by_role);
    for (uint32_t i = 0; i < t->n; i++) {
        bool same = i > 0 && fab_box_role_compare(&t->all[i].name, &t->all[i - 1].name) == 0;
        t->role[t->all[i].node] = same ? t->role[t->all[i - 1].node] : i;
    }
    return FAB_OK;
}

static uint32_t role_end(const tiers *t, uint32_t first) {
    FAB_FIRST_IN(end, first + 1, t->n, t->role[t->all[end].node] != first);
    return end;
}

/* Whether the names of a role tell: several switches, that are hardly ever joined to each other. *out_direct: most have
 * hosts, and most of their cables join two that have: a dragonfly, a torus. */
static bool is_tier(const tiers *t, uint32_t first, uint32_t end, bool *out_direct) {
    double inside = 0;
    double all = 0;
    double between = 0; /* switches with hosts */
    uint32_t n_with = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t v = t->all[i].node;
        for (uint32_t k = t->s->first[v]; k < t->s->first[v + 1]; k++) {
            uint32_t w = fab_network_far(t->s->net, t->s->side[k])->node;
            const bool is_inside = t->s->net->nodes[w].kind == FAB_NETWORK_SWITCH && w != v && t->role[w] == first;
            inside += is_inside;
            between += is_inside && t->hosts[v] > 0 && t->hosts[w] > 0;
        }
        all += t->trunks[v];
        n_with += t->hosts[v] > 0;
    }
    *out_direct = 2 * between > all && 2 * n_with > end - first;
    return end - first > 1 && t->all[first].name.role != NULL && inside <= INSIDE_PART * all;
}

static uint32_t switch_at(const fab_shape *s, uint32_t side) {
    uint32_t w = fab_network_far(s->net, side)->node;
    return s->net->nodes[w].kind == FAB_NETWORK_SWITCH ? w : FAB_NETWORK_NONE;
}

/* Whether a good part of its cables leads to hosts. */
static bool has_many_hosts(const tiers *t, uint32_t v) {
    return t->hosts[v] > 0 && t->hosts[v] >= LEAF_PART * (t->hosts[v] + t->trunks[v]);
}

/* Whether a switch with few hosts stands below others that have none and lead to no leaf: in a pod that is filled in
 * part. */
static bool is_lone_leaf(const tiers *t, uint32_t v) {
    const fab_shape *s = t->s;
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t w = switch_at(s, s->side[k]);
        for (uint32_t j = w != FAB_NETWORK_NONE ? s->first[w] : 0; w != FAB_NETWORK_NONE && j < s->first[w + 1]; j++) {
            uint32_t x = switch_at(s, s->side[j]);
            if (t->hosts[w] > 0 || (x != FAB_NETWORK_NONE && has_many_hosts(t, x))) {
                return false;
            }
        }
    }
    return t->hosts[v] > 0;
}

/* Tier 1. */
static void find_leaves(tiers *t) {
    uint32_t n = 0;
    for (uint32_t first = 0, end = 0; first < t->n; first = end) {
        double hosts = 0;
        double all = 0;
        bool direct = false;
        end = role_end(t, first);
        bool together = is_tier(t, first, end, &direct);
        for (uint32_t i = first; i < end; i++) {
            hosts += t->hosts[t->all[i].node];
            all += t->hosts[t->all[i].node] + t->trunks[t->all[i].node];
        }
        for (uint32_t i = first; i < end; i++) {
            uint32_t v = t->all[i].node;
            bool is_leaf = direct || (together ? hosts > 0 && hosts >= LEAF_PART * all
                                               : has_many_hosts(t, v) || is_lone_leaf(t, v));
            t->s->tier[v] = is_leaf ? 1 : 0;
            n += is_leaf;
        }
    }
    for (uint32_t i = 0; i < t->n && n == 0; i++) { /* few hosts anywhere */
        t->s->tier[t->all[i].node] = t->hosts[t->all[i].node] > 0;
    }
}

/* Counts the cables of what stands above a tier, `list[first ... n)`; lists it behind. Returns the end of the list. */
static uint32_t count_above(tiers *t, uint32_t first, uint32_t n) {
    const fab_shape *s = t->s;
    uint32_t end = n;
    for (uint32_t i = first; i < n; i++) {
        uint32_t v = t->list[i];
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t w = fab_network_far(s->net, s->side[k])->node;
            if (s->net->nodes[w].kind == FAB_NETWORK_SWITCH && s->tier[w] == 0 && t->below[w]++ == 0) {
                t->list[end++] = w;
            }
        }
    }
    return end;
}

/* Tiers above the first: a switch with a good part of its cables to a tier stands above it; where there is none, one
 * with any. What is passed over so is asked again by the tiers above, and in the end takes what it has. */
static void find_above(tiers *t) {
    fab_shape *s = t->s;
    uint32_t first = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t v = t->all[i].node;
        if (s->tier[v] > 0 && s->first[v] < s->first[v + 1]) {
            t->list[n++] = v;
        }
    }
    while (first < n) {
        uint32_t end = count_above(t, first, n);
        uint32_t taken = n;
        uint32_t tier = s->tier[t->list[first]] + 1;
        for (int any = 0; any < 2 && taken == n; any++) {
            for (uint32_t i = n; i < end; i++) {
                uint32_t v = t->list[i];
                if (any == 1 || t->below[v] >= BELOW_PART * t->trunks[v]) {
                    s->tier[v] = tier;
                    t->list[i] = t->list[taken];
                    t->list[taken++] = v;
                }
            }
        }
        for (uint32_t i = n; i < end; i++) {
            t->below[t->list[i]] = 0;
        }
        first = n;
        n = taken;
    }
}

/* Whether nearly all cables between switches of a role join two that stand in its tier, as those between the cells of a
 * Dragonfly+ do. */
static bool is_level(const tiers *t, uint32_t first, uint32_t end, uint32_t tier) {
    double inside = 0;
    double level = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t v = t->all[i].node;
        for (uint32_t k = t->s->first[v]; k < t->s->first[v + 1]; k++) {
            uint32_t w = fab_network_far(t->s->net, t->s->side[k])->node;
            bool is_inside = t->s->net->nodes[w].kind == FAB_NETWORK_SWITCH && w != v && t->role[w] == first;
            inside += is_inside;
            level += is_inside && t->s->tier[v] == tier && t->s->tier[w] == tier;
        }
    }
    return inside > 0 && level >= LEVEL_PART * inside;
}

/* Switches of a role stand in the tier that most of them have. */
static void join_roles(tiers *t) {
    uint32_t *tier = t->s->tier;
    for (uint32_t first = 0, end = 0; first < t->n; first = end) {
        uint32_t count[MOST_TIERS] = {0};
        uint32_t best = 0;
        bool direct = false;
        end = role_end(t, first);
        for (uint32_t i = first; i < end; i++) {
            uint32_t own = tier[t->all[i].node] < MOST_TIERS ? tier[t->all[i].node] : 0;
            best = ++count[own] > count[best] ? own : best;
        }
        bool moves =
            best > 0 && count[best] >= MOST_PART * (end - first) &&
            (is_tier(t, first, end, &direct) || (t->all[first].name.role != NULL && is_level(t, first, end, best)));
        for (uint32_t i = first; moves && i < end; i++) {
            tier[t->all[i].node] = best;
        }
    }
}

static uint32_t common_neighbours(const tiers *t, uint32_t v, uint32_t w) {
    const fab_shape *s = t->s;
    uint32_t n = 0;
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t x = fab_network_far(s->net, s->side[k])->node;
        FAB_ANY_IN(found, j, s->first[w], s->first[w + 1], fab_network_far(s->net, s->side[j])->node == x);
        n += found && s->net->nodes[x].kind == FAB_NETWORK_SWITCH;
    }
    return n;
}

/* Whether all cables of a switch lead to one other. */
static bool has_one_neighbour(const fab_shape *s, uint32_t v) {
    uint32_t one = fab_network_far(s->net, s->side[s->first[v]])->node;
    FAB_ANY_IN(found, k, s->first[v], s->first[v + 1], fab_network_far(s->net, s->side[k])->node != one);
    return !found;
}

static uint32_t first_switch_beside(const fab_shape *s, uint32_t v) {
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t w = switch_at(s, s->side[k]);
        if (w != FAB_NETWORK_NONE && w != v) {
            return w;
        }
    }
    return FAB_NETWORK_NONE;
}

/* A switch with few hosts or none that is joined to what a leaf is joined to is a leaf too; names did not tell. */
static void find_empty_leaves(tiers *t) {
    fab_shape *s = t->s;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t v = t->all[i].node;
        uint32_t up = s->tier[v] == 3 && s->first[v] < s->first[v + 1] && !has_one_neighbour(s, v)
                          ? first_switch_beside(s, v)
                          : FAB_NETWORK_NONE;
        for (uint32_t k = up != FAB_NETWORK_NONE ? s->first[up] : 0;
             up != FAB_NETWORK_NONE && s->tier[v] == 3 && k < s->first[up + 1]; k++) {
            uint32_t w = fab_network_far(s->net, s->side[k])->node;
            if (w != v && s->net->nodes[w].kind == FAB_NETWORK_SWITCH && s->tier[w] == 1 &&
                common_neighbours(t, v, w) >= ALIKE_PART * t->trunks[v] &&
                common_neighbours(t, w, v) >= ALIKE_PART * t->trunks[w]) {
                s->tier[v] = 1;
            }
        }
    }
}

/* What all tiers passed over: one above the least of its neighbours. */
static void spread_rest(tiers *t) {
    fab_shape *s = t->s;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t v = t->all[i].node;
        uint32_t least = 0;
        for (uint32_t k = s->first[v]; s->tier[v] == 0 && k < s->first[v + 1]; k++) {
            uint32_t w = fab_network_far(s->net, s->side[k])->node;
            bool better = s->net->nodes[w].kind == FAB_NETWORK_SWITCH && s->tier[w] > 0;
            least = better && (least == 0 || s->tier[w] < least) ? s->tier[w] : least;
        }
        s->tier[v] = least > 0 ? least + 1 : s->tier[v];
    }
}

fab_status fab_shape_find_tiers(fab_shape *s, fab_error *err) {
    FAB_OWNS(tiers_release) tiers t = {.s = s};
    FAB_PASS(FAB_NEW(s->tier, s->net->n_nodes, err));
    FAB_PASS(tiers_open(&t, err));
    find_leaves(&t);
    find_above(&t);
    spread_rest(&t);
    join_roles(&t);
    find_empty_leaves(&t);
    for (uint32_t v = 0; v < s->net->n_nodes; v++) { /* what no host reaches keeps what the file says, or 0 */
        if (s->net->nodes[v].kind == FAB_NETWORK_SWITCH && s->tier[v] == 0) {
            s->tier[v] = s->net->nodes[v].tier;
        }
        s->n_tiers = s->tier[v] > s->n_tiers ? s->tier[v] : s->n_tiers;
    }
    return FAB_OK;
}
