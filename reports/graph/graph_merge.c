/* Nodes that are alike as one, and all cables between two of them as one. Nodes are numbered level by level, within a
 * level by group, those without a group last; edges in the order in which their first cables stand in the fabric. */
#include "graph_view.h"
#include "fab/ranked.h"

/* --- groups ------------------------------------------------------------------------------------------------------- */

static uint32_t unit_of_node(const fab_graph_merge *m, const fab_fabric *f, fab_node_id v) {
    fab_node_kind kind = fab_kind_of(f, v);
    uint32_t index = v - f->first[kind];
    uint64_t gpu = kind == FAB_NODE_GPU   ? index
                   : kind == FAB_NODE_NIC ? (uint64_t)(index / f->nics_per_server) * f->gpus_per_server
                                          : (uint64_t)index * f->gpus_per_domain;
    return (uint32_t)(gpu / m->unit_gpus);
}

/* Leaves of the NICs of a unit, in their order, are those of the unit before. */
static bool is_plugged_alike(const fab_graph_merge *m, const fab_fabric *f, uint32_t unit) {
    uint64_t per_unit = (uint64_t)(m->unit_gpus / f->gpus_per_server) * f->nics_per_server;
    uint64_t first = unit * per_unit;
    uint64_t n_nics = fab_n_of(f, FAB_NODE_NIC);
    for (uint64_t i = first; i < first + per_unit; i++) {
        if (i >= n_nics) {
            return false; /* the last unit has fewer */
        }
        fab_node_id here = f->first[FAB_NODE_NIC] + (uint32_t)i;
        fab_node_id before = here - (uint32_t)per_unit;
        uint32_t n = f->out_first[here + 1] - f->out_first[here];
        if (n != f->out_first[before + 1] - f->out_first[before]) {
            return false;
        }
        for (uint32_t k = 0; k < n; k++) {
            fab_node_id head = fab_head(f, f->out_link[f->out_first[here] + k]);
            if (fab_kind_of(f, head) == FAB_NODE_SWITCH && head != fab_head(f, f->out_link[f->out_first[before] + k])) {
                return false;
            }
        }
    }
    return true;
}

static fab_status find_units(fab_graph_merge *m, const fab_fabric *f, fab_error *err) {
    bool domains = fab_n_of(f, FAB_NODE_DOMAIN) > 0;
    m->unit_gpus = domains && f->gpus_per_domain > f->gpus_per_server ? f->gpus_per_domain : f->gpus_per_server;
    uint32_t n_units = (fab_n_gpus(f) + m->unit_gpus - 1) / m->unit_gpus;
    m->n_groups = n_units;
    if (m->kind != FAB_VIEW_LEAF) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(m->block_of, n_units, err));
    for (uint32_t unit = 1; unit < n_units; unit++) {
        m->block_of[unit] = m->block_of[unit - 1] + (is_plugged_alike(m, f, unit) ? 0 : 1);
    }
    m->n_groups = n_units > 0 ? m->block_of[n_units - 1] + 1 : 0;
    return FAB_OK;
}

static uint32_t graph_merge_group_of(const fab_graph_merge *m, const fab_fabric *f, const fab_graph_node *node) {
    uint32_t unit = 0;
    switch (m->kind) {
    case FAB_VIEW_POD: return node->pod;
    case FAB_VIEW_RAIL: return node->rail;
    case FAB_VIEW_PLANE: return node->plane;
    case FAB_VIEW_TIER: return FAB_NONE;
    default: break;
    }
    if (node->level >= FAB_LEVEL_TIER(1)) {
        return node->id - f->first[FAB_NODE_SWITCH]; /* switches stay themselves */
    }
    unit = unit_of_node(m, f, node->id);
    return m->kind == FAB_VIEW_LEAF ? m->block_of[unit] : unit;
}

static bool keeps_switches(const fab_graph_merge *m) {
    return m->kind == FAB_VIEW_SERVER || m->kind == FAB_VIEW_LEAF;
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

/* Sum of what is known. */
static double total(double a, double b) {
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static uint32_t common(uint32_t a, uint32_t b) {
    return a == b ? a : FAB_NONE;
}

static void add_node(fab_graph_node *sum, const fab_graph_node *one) {
    bool same_kind = sum->level == one->level; /* GPUs, NICs and domains of a server count as its GPUs do */
    sum->rail = common(sum->rail, one->rail);
    sum->plane = common(sum->plane, one->plane);
    sum->rack = common(sum->rack, one->rack);
    sum->pod = same_kind ? common(sum->pod, one->pod) : sum->pod;
    sum->server = sum->server < one->server ? sum->server : one->server; /* FAB_NONE is the largest */
    sum->n_nodes += one->n_nodes;
    sum->n_gpus += one->n_gpus;
    sum->n_failed += one->n_failed;
    sum->criticality = fmax(sum->criticality, one->criticality); /* NAN only where both are */
    sum->cost_usd = total(sum->cost_usd, one->cost_usd);
}

static void name_node(const fab_graph_view *view, const fab_graph_merge *m, fab_graph_node *node) {
    const char *level = fab_graph_level_name(view, node->level);
    if (keeps_switches(m)) {
        if (node->level < FAB_LEVEL_TIER(1)) { /* a switch has its name */
            FAB_FORMAT(node->name, "%s-%" PRIu32, level, node->group);
        }
    } else if (node->group == FAB_NONE) {
        FAB_FORMAT(node->name, "%s", level);
    } else {
        FAB_FORMAT(node->name, "%s-%" PRIu32 "/%s", fab_view_names[m->kind], node->group, level);
    }
}

/* Table of [level][group], the last group being none, to numbers. */
static fab_status number_nodes(fab_graph_merge *m, const fab_graph_view *whole, fab_error *err) {
    const fab_fabric *f = whole->fabric;
    fab_graph_node one;
    size_t columns = (size_t)m->n_groups + 1;
    size_t rows = keeps_switches(m) ? 1 : f->n_tiers + FAB_LEVEL_TIER(1);
    FAB_OWNED_NEW(uint32_t, number, rows * columns, err);
    FAB_PASS(FAB_NEW(m->node_of, f->n_nodes, err));
    for (fab_node_id v = 0; v < f->n_nodes; v++) {
        fab_graph_whole_node(whole, v, &one);
        uint32_t group = graph_merge_group_of(m, f, &one);
        size_t row = keeps_switches(m) ? 0 : one.level;
        size_t cell = row * columns + (group == FAB_NONE ? m->n_groups : group);
        if (keeps_switches(m) && one.level >= FAB_LEVEL_TIER(1)) {
            m->node_of[v] = FAB_NONE; /* numbered behind the groups */
            continue;
        }
        number[cell] = 1;
        m->node_of[v] = (uint32_t)cell;
    }
    for (size_t cell = 0; cell < rows * columns; cell++) {
        uint32_t used = number[cell];
        number[cell] = m->n_nodes;
        m->n_nodes += used;
    }
    for (fab_node_id v = 0; v < f->n_nodes; v++) {
        m->node_of[v] = m->node_of[v] == FAB_NONE ? m->n_nodes++ : number[m->node_of[v]];
    }
    return FAB_OK;
}

static fab_status merge_nodes(fab_graph_merge *m, const fab_graph_view *whole, fab_error *err) {
    fab_graph_view named = *whole; /* levels are named as in the view to be */
    fab_graph_node one;
    FAB_PASS(FAB_NEW(m->node, m->n_nodes, err));
    named.kind = m->kind;
    for (fab_node_id v = 0; v < whole->fabric->n_nodes; v++) {
        fab_graph_node *sum = &m->node[m->node_of[v]];
        fab_graph_whole_node(whole, v, &one);
        if (sum->n_nodes > 0) {
            add_node(sum, &one);
            continue;
        }
        *sum = one;
        fab_graph_name_whole_node(whole->fabric, sum);
        sum->group = graph_merge_group_of(m, whole->fabric, &one);
        sum->id = m->node_of[v];
        if (keeps_switches(m) && one.level < FAB_LEVEL_TIER(1)) {
            sum->level = FAB_LEVEL_GPU;
            sum->kind = fab_graph_level_name(&named, FAB_LEVEL_GPU);
        }
        name_node(&named, m, sum);
    }
    return FAB_OK;
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

/* A cable between two nodes, the lower one first; FAB_NONE both where it stays within one. */
typedef struct joint {
    uint32_t source, target;
} joint;

static joint joint_of(const fab_graph_merge *m, const fab_fabric *f, uint32_t cable) {
    const uint32_t a = m->node_of[fab_tail(f, 2 * cable)];
    const uint32_t b = m->node_of[fab_head(f, 2 * cable)];
    const bool stays = a == b && fab_class_of(f, 2 * cable)->kind != FAB_LINK_FABRIC;
    return stays ? (joint){FAB_NONE, FAB_NONE} : (joint){a < b ? a : b, a < b ? b : a};
}

/* Edges have the order of their first cables. out: shape [cables]; FAB_NONE within a node. */
static fab_status number_edges(fab_graph_merge *m, const fab_fabric *f, uint32_t *out, fab_error *err) {
    FAB_OWNED uint32_t *end = NULL;   /* [node]: of the cables of this source among `listed` */
    FAB_OWNED uint32_t *first = NULL; /* [target]: cable of this source, and the first */
    FAB_PASS(FAB_NEW(end, (size_t)m->n_nodes + 2, err));
    FAB_OWNED_NEW(uint32_t, listed, f->n_cables, err);
    FAB_PASS(FAB_NEW(first, m->n_nodes, err));
    FAB_FILL(first, m->n_nodes, FAB_NONE);
    FAB_FILL(out, f->n_cables, joint_of(m, f, (uint32_t)fab_at).source);
    fab_sort_by_key(out, NULL, f->n_cables, m->n_nodes, end, listed);
    for (uint32_t v = 0, i = 0; v < m->n_nodes; v++) {
        for (; i < end[v + 1]; i++) { /* every cable has the number of the first one of its edge */
            uint32_t *of = &first[joint_of(m, f, listed[i]).target];
            const bool is_known = *of != FAB_NONE && joint_of(m, f, *of).source == v;
            *of = is_known ? *of : listed[i];
            out[listed[i]] = *of;
        }
    }
    for (uint32_t c = 0; c < f->n_cables; c++) {
        if (out[c] != FAB_NONE) {
            out[c] = out[c] == c ? m->n_edges++ : out[out[c]];
        }
    }
    return FAB_OK;
}

static void add_use(fab_graph_use *sum, const fab_graph_use *one, bool flipped) {
    for (size_t way = 0; way < 2; way++) { /* fmax() is NAN only where both are */
        size_t from = flipped ? 1 - way : way;
        sum->load[way] += one->load[from];
        sum->most[way] = fmax(sum->most[way], one->load[from]);
        sum->use[way] = fmax(sum->use[way], one->use[from]);
        sum->mean_use[way] += one->use[from];
    }
    sum->n_collided += one->n_collided;
}

/* Means are sums until end_edges(). */
static void merge_cable(fab_graph_merge *m, uint32_t id, const fab_graph_edge *cable) {
    fab_graph_edge *sum = &m->edge[id];
    uint32_t a = m->node_of[cable->source];
    uint32_t b = m->node_of[cable->target];
    bool flipped = a > b; /* between switches without an order */
    bool is_new = sum->n_cables == 0;
    if (is_new) {
        *sum = *cable;
        sum->id = id;
        sum->source = flipped ? b : a;
        sum->target = flipped ? a : b;
        sum->src_port = sum->dst_port = 0;
        sum->residual_ratio *= sum->capacity_bps;
    } else {
        sum->n_cables++;
        sum->n_failed += cable->n_failed;
        sum->capacity_bps += cable->capacity_bps;
        sum->length_m += cable->length_m;
        sum->residual_ratio += cable->residual_ratio * cable->capacity_bps;
        sum->criticality = fmax(sum->criticality, cable->criticality);
        sum->cost_usd = total(sum->cost_usd, cable->cost_usd);
    }
    for (size_t e = 0; e < m->n_engines; e++) {
        fab_graph_use *use = &m->use[(size_t)id * m->n_engines + e];
        if (is_new) {
            *use = (fab_graph_use){.use = {NAN, NAN}};
        }
        add_use(use, &cable->use[e], flipped);
    }
}

static void end_edges(fab_graph_merge *m) {
    for (uint32_t i = 0; i < m->n_edges; i++) {
        fab_graph_edge *edge = &m->edge[i];
        edge->length_m /= edge->n_cables;
        edge->residual_ratio = edge->capacity_bps > 0 ? edge->residual_ratio / edge->capacity_bps : 1;
        edge->use = &m->use[i * m->n_engines];
        for (size_t e = 0; e < m->n_engines; e++) {
            m->use[i * m->n_engines + e].mean_use[0] /= edge->n_cables;
            m->use[i * m->n_engines + e].mean_use[1] /= edge->n_cables;
        }
    }
}

static fab_status merge_edges(fab_graph_merge *m, const fab_graph_view *whole, fab_error *err) {
    fab_graph_use room[FAB_MAX_ENGINES];
    fab_graph_edge cable;
    FAB_OWNED_NEW(uint32_t, edge_of, whole->fabric->n_cables, err);
    FAB_PASS(number_edges(m, whole->fabric, edge_of, err));
    FAB_PASS(FAB_NEW(m->edge, m->n_edges, err));
    FAB_PASS(FAB_NEW(m->use, m->n_edges * m->n_engines, err));
    for (uint32_t i = 0; i < whole->fabric->n_cables; i++) {
        if (edge_of[i] != FAB_NONE) {
            fab_graph_whole_edge(whole, i, room, &cable);
            merge_cable(m, edge_of[i], &cable);
        }
    }
    end_edges(m);
    return FAB_OK;
}

/* --- the merged graph --------------------------------------------------------------------------------------------- */

fab_status fab_graph_merge_new(const fab_graph_view *whole, fab_view kind, fab_graph_merge **out, fab_error *err) {
    const fab_fabric *f = whole->fabric;
    FAB_OWNS_NEW(fab_graph_merge_free_owned, fab_graph_merge, m, 1, err);
    m->kind = kind;
    m->n_engines = whole->n_engines;
    switch (kind) {
    case FAB_VIEW_POD: m->n_groups = f->n_pods; break;
    case FAB_VIEW_RAIL: m->n_groups = f->n_rails; break;
    case FAB_VIEW_PLANE: m->n_groups = f->n_planes; break;
    case FAB_VIEW_TIER: m->n_groups = 0; break;
    default: FAB_PASS(find_units(m, f, err));
    }
    FAB_PASS(number_nodes(m, whole, err));
    FAB_PASS(merge_nodes(m, whole, err));
    FAB_PASS(merge_edges(m, whole, err));
    return FAB_GIVE(*out, m);
}

FAB_FREES_WHOLE(fab_graph_merge_free, fab_graph_merge, node_of, node, edge, use, block_of);
