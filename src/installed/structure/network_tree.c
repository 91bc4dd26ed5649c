#include "network_tree.h"

#include "fab/graph_parts.h"

#define MOST_LEVELS 64

/* --- making units, the lowest first ------------------------------------------------------------------------------- */

typedef struct maker {
    const fab_shape *shape;
    const fab_boxes *boxes;
    fab_network_tree tree;
    size_t unit_capacity, member_capacity, n_members;
    fab_edges joined; /* boxes that make one unit so far */
    uint32_t *set;    /* [boxes]: the least of those that it is joined to */
    uint32_t *unit;   /* [boxes]: of the least of a set the unit that stands for it, or FAB_NETWORK_NONE */
    uint32_t *n_switches, *a_switch; /* [boxes]: of the least of a set */
} maker;

static fab_status add_unit(maker *m, const char *name, uint32_t level, uint32_t *out, fab_error *err) {
    FAB_PASS(FAB_GROW(m->tree.unit, m->unit_capacity, m->tree.n + 1, err));
    fab_tree_unit *unit = &m->tree.unit[m->tree.n];
    *unit = (fab_tree_unit){.level = level, .parent = FAB_NETWORK_NONE, .first = (uint32_t)m->n_members};
    unit->name = fab_strdup(name, err);
    if (unit->name == NULL) {
        return FAB_ENOMEM;
    }
    *out = m->tree.n++;
    return FAB_OK;
}

/* Of the unit that was added last. */
static fab_status add_member(maker *m, uint32_t member, fab_error *err) {
    FAB_PASS(FAB_APPEND(m->tree.member, m->n_members, m->member_capacity, err, member));
    m->tree.unit[m->tree.n - 1].n++;
    return FAB_OK;
}

static const fab_box *box_at(const maker *m, const fab_network_cable *cable, uint32_t i, uint32_t *out) {
    *out = m->boxes->of_node[cable->end[i].node];
    return *out != FAB_NETWORK_NONE ? &m->boxes->box[*out] : NULL;
}

/* --- units of leaves ---------------------------------------------------------------------------------------------- */

typedef struct pair {
    uint32_t key, box;
} pair;

FAB_ORDER_TWO(tree_by_key, pair, key, box);

/* Joins the switches of every host; leaf[host] is one of them. */
static fab_status join_leaves(maker *m, uint32_t *leaf, fab_error *err) {
    const fab_network *net = m->shape->net;
    memset(leaf, 0xff, m->boxes->n * sizeof *leaf); /* FAB_NETWORK_NONE */
    for (uint32_t c = 0; c < net->n_cables; c++) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t host = 0;
            uint32_t other = 0;
            const fab_box *h = box_at(m, &net->cables[c], k, &host);
            const fab_box *o = box_at(m, &net->cables[c], k ^ 1, &other);
            if (h == NULL || o == NULL || !h->is_host || o->is_host) {
                continue;
            }
            FAB_PASS(leaf[host] != FAB_NETWORK_NONE ? fab_edges_add(&m->joined, leaf[host], other, err) : FAB_OK);
            leaf[host] = other;
        }
    }
    return fab_graph_components(m->boxes->n, &m->joined, m->set, err);
}

/* Hosts with the root of their leaves, by root; refuses one without a cable. */
static fab_status list_hosts(maker *m, const uint32_t *leaf, pair *out, uint32_t *out_n, fab_error *err) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->boxes->n; i++) {
        if (!m->boxes->box[i].is_host) {
            continue;
        }
        FAB_REFUSE_IF(leaf[i] == FAB_NETWORK_NONE, err, FAB_EUNSUPPORTED, m->shape->net->path,
                      "host '%.100s' is on no switch", m->boxes->box[i].name);
        out[n++] = (pair){m->set[leaf[i]], i};
    }
    FAB_REFUSE_IF(n == 0, err, FAB_EUNSUPPORTED, m->shape->net->path, "there is no host to place jobs on");
    qsort(out, n, sizeof *out, tree_by_key);
    *out_n = n;
    return FAB_OK;
}

/* Of every set its switches of a tier: how many, and one of them. */
static void tree_count_switches(maker *m, uint32_t tier) {
    FAB_FILL(m->n_switches, m->boxes->n, 0);
    for (uint32_t i = 0; i < m->boxes->n; i++) {
        if (!m->boxes->box[i].is_host && m->boxes->box[i].tier == tier) {
            uint32_t root = m->set[i];
            m->n_switches[root]++;
            m->a_switch[root] = i;
        }
    }
}

static const char *name_leaves(const maker *m, uint32_t root, char *room, size_t size) {
    if (m->n_switches[root] == 1) {
        return m->boxes->box[m->a_switch[root]].name;
    }
    (void)snprintf(room, size, "leaves-%" PRIu32, m->tree.n);
    return room;
}

static fab_status make_leaves(maker *m, fab_error *err) {
    FAB_OWNED uint32_t *leaf = NULL;
    FAB_OWNED pair *hosts = NULL;
    uint32_t n = 0;
    uint32_t unit = 0;
    char name[32];
    FAB_PASS(FAB_NEW_ALL(m->boxes->n, err, leaf, hosts));
    FAB_PASS(join_leaves(m, leaf, err));
    tree_count_switches(m, 1);
    FAB_PASS(list_hosts(m, leaf, hosts, &n, err));
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || hosts[i].key != hosts[i - 1].key) {
            FAB_PASS(add_unit(m, name_leaves(m, hosts[i].key, name, sizeof name), 0, &unit, err));
            m->unit[hosts[i].key] = unit;
        }
        FAB_PASS(add_member(m, hosts[i].box, err));
    }
    return FAB_OK;
}

/* --- units above -------------------------------------------------------------------------------------------------- */

static fab_status join_tier(maker *m, uint32_t tier, fab_error *err) {
    const fab_network *net = m->shape->net;
    for (uint32_t c = 0; c < net->n_cables; c++) {
        uint32_t box[2] = {0, 0};
        const fab_box *a = box_at(m, &net->cables[c], 0, &box[0]);
        const fab_box *b = box_at(m, &net->cables[c], 1, &box[1]);
        if (a != NULL && b != NULL && !a->is_host && !b->is_host && a->tier <= tier && b->tier <= tier) {
            FAB_PASS(fab_edges_add(&m->joined, box[0], box[1], err));
        }
    }
    return fab_graph_components(m->boxes->n, &m->joined, m->set, err);
}

/* Name of a unit: that of its only switch of the tier, else a word and a number. */
static const char *name_unit(const maker *m, uint32_t root, uint32_t tier, uint32_t number, char *room, size_t size) {
    static const char *const WORDS[] = {NULL, "group", "spines", "cores"};
    if (m->n_switches[root] == 1) {
        return m->boxes->box[m->a_switch[root]].name;
    }
    if (tier < FAB_N_OF(WORDS)) {
        (void)snprintf(room, size, "%s-%" PRIu32, WORDS[tier], number);
    } else {
        (void)snprintf(room, size, "tier%" PRIu32 "-%" PRIu32, tier, number);
    }
    return room;
}

/* A unit for every set that now holds several; `top` are the units without a parent. */
static fab_status make_tier(maker *m, uint32_t tier, fab_error *err) {
    FAB_OWNED pair *tops = NULL; /* root, and unit */
    uint32_t n = 0;
    uint32_t number = 0;
    char name[32];
    FAB_PASS(FAB_NEW(tops, m->tree.n, err));
    FAB_KEEP(tops, n, i, m->boxes->n, m->unit[i] != FAB_NETWORK_NONE, (pair){i, m->unit[i]});
    FAB_PASS(join_tier(m, tier, err));
    tree_count_switches(m, tier);
    for (uint32_t i = 0; i < n; i++) {
        m->unit[tops[i].key] = FAB_NETWORK_NONE;
        tops[i].key = m->set[tops[i].key];
    }
    qsort(tops, n, sizeof *tops, tree_by_key);
    for (uint32_t i = 0; i < n;) {
        uint32_t behind = i;
        uint32_t unit = tops[i].box;
        uint32_t level = 0;
        for (; behind < n && tops[behind].key == tops[i].key; behind++) {
            uint32_t below = m->tree.unit[tops[behind].box].level;
            level = below >= level ? below + 1 : level;
        }
        if (behind - i > 1) {
            FAB_PASS(add_unit(m, name_unit(m, tops[i].key, tier, number++, name, sizeof name), level, &unit, err));
            for (uint32_t k = i; k < behind; k++) {
                m->tree.unit[tops[k].box].parent = unit;
                FAB_PASS(add_member(m, tops[k].box, err));
            }
        }
        m->unit[tops[i].key] = unit;
        i = behind;
    }
    return FAB_OK;
}

static fab_status make_of_graph(maker *m, fab_error *err) {
    FAB_PASS(make_leaves(m, err));
    for (uint32_t tier = 1; tier <= m->shape->n_tiers; tier++) {
        FAB_PASS(make_tier(m, tier, err));
    }
    return FAB_OK;
}

/* --- trees of names ----------------------------------------------------------------------------------------------- */

/* A switch is as high as the longest way down to a host; a way of more than 64 goes in a circle. */
static fab_status find_levels(maker *m, const uint32_t *unit_of, fab_error *err) {
    const fab_network *net = m->shape->net;
    for (uint32_t round = 0; round <= MOST_LEVELS; round++) {
        bool changed = false;
        for (uint32_t c = 0; c < net->n_cables; c++) {
            uint32_t below = unit_of[net->cables[c].end[0].node];
            fab_tree_unit *unit = &m->tree.unit[unit_of[net->cables[c].end[1].node]];
            if (below != FAB_NETWORK_NONE && unit->level <= m->tree.unit[below].level) {
                unit->level = m->tree.unit[below].level + 1;
                changed = true;
            }
        }
        if (!changed) {
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EUNSUPPORTED, net->path,
                    "switches stand above each other in a circle, or on more than %d levels", MOST_LEVELS);
}

/* Cables lead from what is below to its switch. */
static fab_status make_of_names(maker *m, fab_error *err) {
    const fab_network *net = m->shape->net;
    FAB_OWNED pair *below = NULL; /* unit, and cable */
    FAB_OWNED_NEW(uint32_t, unit_of, net->n_nodes, err);
    FAB_PASS(FAB_NEW(below, net->n_cables, err));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        unit_of[v] = FAB_NETWORK_NONE;
        if (net->nodes[v].kind == FAB_NETWORK_SWITCH) {
            FAB_PASS(add_unit(m, m->boxes->box[m->boxes->of_node[v]].name, 0, &unit_of[v], err));
        }
    }
    FAB_PASS(find_levels(m, unit_of, err));
    FAB_FILL(below, net->n_cables, (pair){unit_of[net->cables[fab_at].end[1].node], (uint32_t)fab_at});
    qsort(below, net->n_cables, sizeof *below, tree_by_key);
    FAB_PASS(FAB_GROW(m->tree.member, m->member_capacity, net->n_cables, err));
    for (uint32_t i = 0; i < net->n_cables; i++) {
        uint32_t node = net->cables[below[i].box].end[0].node;
        fab_tree_unit *unit = &m->tree.unit[below[i].key];
        bool is_unit = unit_of[node] != FAB_NETWORK_NONE;
        unit->first = unit->n == 0 ? i : unit->first;
        unit->n++;
        m->tree.member[i] = is_unit ? unit_of[node] : m->boxes->of_node[node];
        if (is_unit) {
            m->tree.unit[unit_of[node]].parent = below[i].key;
        }
    }
    for (uint32_t i = 0; i < m->tree.n; i++) {
        FAB_REFUSE_IF(m->tree.unit[i].n == 0, err, FAB_EUNSUPPORTED, net->path, "nothing is below switch '%.100s'",
                      m->tree.unit[i].name);
    }
    return FAB_OK;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* A switch may be called what this file calls a unit of several. */
static fab_status check_names(const maker *m, fab_error *err) {
    FAB_OWNED_NEW(const char *, names, m->tree.n, err);
    FAB_FILL(names, m->tree.n, m->tree.unit[fab_at].name);
    return fab_names_check(names, m->tree.n, "switches", m->shape->net->path, err);
}

/* The top first. */
static fab_status put_in_order(maker *m, fab_error *err) {
    uint32_t n = m->tree.n;
    FAB_OWNED fab_tree_unit *sorted = NULL;
    FAB_OWNED uint32_t *at = NULL;
    uint32_t to = 0;
    uint32_t top = 0;
    FAB_PASS(FAB_NEW_ALL(n, err, sorted, at));
    for (uint32_t i = 0; i < n; i++) {
        top = m->tree.unit[i].level > top ? m->tree.unit[i].level : top;
    }
    for (uint32_t level = top + 1; level-- > 0;) {
        for (uint32_t i = 0; i < n; i++) {
            if (m->tree.unit[i].level == level) {
                at[i] = to;
                sorted[to++] = m->tree.unit[i];
            }
        }
    }
    FAB_EACH(fab_tree_unit, unit, sorted, n) {
        unit->parent = unit->parent != FAB_NETWORK_NONE ? at[unit->parent] : FAB_NETWORK_NONE;
        for (uint32_t k = unit->first; unit->level > 0 && k < unit->first + unit->n; k++) {
            m->tree.member[k] = at[m->tree.member[k]];
        }
    }
    free(m->tree.unit);
    return FAB_GIVE(m->tree.unit, sorted);
}

fab_status fab_network_tree_find(const fab_shape *shape, const fab_boxes *boxes, fab_network_tree *out,
                                 fab_error *err) {
    fab_status status = FAB_OK;
    maker m = {.shape = shape, .boxes = boxes};
    FAB_TRY(FAB_NEW_ALL(boxes->n, err, m.set, m.unit, m.n_switches, m.a_switch));
    memset(m.unit, 0xff, boxes->n * sizeof *m.unit); /* FAB_NETWORK_NONE */
    FAB_TRY(shape->net->is_tree_of_names && shape->net->n_cables > 0 ? make_of_names(&m, err) : make_of_graph(&m, err));
    FAB_TRY(check_names(&m, err));
    FAB_TRY(put_in_order(&m, err));
    *out = m.tree;
    m.tree = (fab_network_tree){.n = 0};
done:
    fab_network_tree_release(&m.tree);
    fab_edges_release(&m.joined);
    FAB_FREE_ALL(m.set, m.unit, m.n_switches, m.a_switch);
    return status;
}

void fab_network_tree_release(fab_network_tree *tree) {
    FAB_FREE_EACH_OF(free, tree->unit, tree->n, .name);
    FAB_FREE_ALL(tree->unit, tree->member);
    *tree = (fab_network_tree){.n = 0};
}
