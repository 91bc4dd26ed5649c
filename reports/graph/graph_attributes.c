/* What exports say of nodes and edges: one table row each. */
#include "graph_export.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* When an attribute is there at all. */
enum {
    ALWAYS = 0,
    WHOLE = 1,    /* in the whole view alone */
    MERGED = 2,   /* in the others alone */
    FAILURES = 4, /* the rest: where such figures are known */
    COST = 8,
    RACKS = 16,
    CRITICALITY = 32,
    PLACES = 256,
    NAMES = 512,      /* of what is installed */
    LOADS = 64,       /* one for every engine */
    UTILISATION = 128 /* one for every engine */
};

typedef struct row {
    const char *id, *name;
    fab_graph_type type;
    unsigned when;
} row;

enum {
    N_LABEL,
    N_KIND,
    N_TIER,
    N_RAIL,
    N_PLANE,
    N_POD,
    N_SERVER,
    N_HOST,
    N_RACK,
    N_NODES,
    N_GPUS,
    N_FAILED,
    N_CRITICALITY,
    N_COST,
    N_X,
    N_Y,
    N_COUNT
};
static const row NODE[N_COUNT] = {
    [N_LABEL] = {"n_label", "label", FAB_GRAPH_STRING, ALWAYS},
    [N_KIND] = {"n_kind", "kind", FAB_GRAPH_STRING, ALWAYS},
    [N_TIER] = {"n_tier", "tier", FAB_GRAPH_INTEGER, ALWAYS},
    [N_RAIL] = {"n_rail", "rail", FAB_GRAPH_INTEGER, ALWAYS},
    [N_PLANE] = {"n_plane", "plane", FAB_GRAPH_INTEGER, ALWAYS},
    [N_POD] = {"n_pod", "pod", FAB_GRAPH_INTEGER, ALWAYS},
    [N_SERVER] = {"n_server", "server", FAB_GRAPH_INTEGER, ALWAYS},
    [N_HOST] = {"n_host", "host", FAB_GRAPH_STRING, NAMES | WHOLE},
    [N_RACK] = {"n_rack", "rack", FAB_GRAPH_STRING, RACKS},
    [N_NODES] = {"n_nodes", "nodes", FAB_GRAPH_INTEGER, MERGED},
    [N_GPUS] = {"n_gpus", "gpus", FAB_GRAPH_INTEGER, MERGED},
    [N_FAILED] = {"n_failed", "failed", FAB_GRAPH_INTEGER, FAILURES},
    [N_CRITICALITY] = {"n_criticality", "criticality", FAB_GRAPH_DOUBLE, CRITICALITY},
    [N_COST] = {"n_cost", "cost_usd", FAB_GRAPH_DOUBLE, COST},
    [N_X] = {"n_x", "x", FAB_GRAPH_DOUBLE, PLACES},
    [N_Y] = {"n_y", "y", FAB_GRAPH_DOUBLE, PLACES},
};

enum {
    E_KIND,
    E_TIER,
    E_CABLES,
    E_CAPACITY,
    E_LENGTH,
    E_SRC_PORT,
    E_DST_PORT,
    E_SRC_NAME,
    E_DST_NAME,
    E_FAILED,
    E_LEFT,
    E_CRITICALITY,
    E_COST,
    E_LOAD_FWD, /* from here on one for every engine */
    E_LOAD_REV,
    E_MEAN_LOAD_FWD,
    E_MEAN_LOAD_REV,
    E_MAX_LOAD_FWD,
    E_MAX_LOAD_REV,
    E_USE_FWD,
    E_USE_REV,
    E_MEAN_USE_FWD,
    E_MEAN_USE_REV,
    E_COLLISION,
    E_COLLIDED,
    E_COUNT
};
static const row EDGE[E_COUNT] = {
    [E_KIND] = {"e_kind", "kind", FAB_GRAPH_STRING, ALWAYS},
    [E_TIER] = {"e_tier", "tier", FAB_GRAPH_INTEGER, ALWAYS},
    [E_CABLES] = {"cables", "cables", FAB_GRAPH_INTEGER, MERGED},
    [E_CAPACITY] = {"capacity_bps", "capacity_bps", FAB_GRAPH_DOUBLE, ALWAYS},
    [E_LENGTH] = {"length_m", "length_m", FAB_GRAPH_DOUBLE, ALWAYS},
    [E_SRC_PORT] = {"src_port", "src_port", FAB_GRAPH_INTEGER, WHOLE},
    [E_DST_PORT] = {"dst_port", "dst_port", FAB_GRAPH_INTEGER, WHOLE},
    [E_SRC_NAME] = {"src_port_name", "src_port_name", FAB_GRAPH_STRING, NAMES | WHOLE},
    [E_DST_NAME] = {"dst_port_name", "dst_port_name", FAB_GRAPH_STRING, NAMES | WHOLE},
    [E_FAILED] = {"e_failed", "failed", FAB_GRAPH_INTEGER, FAILURES},
    [E_LEFT] = {"left_ratio", "left_ratio", FAB_GRAPH_DOUBLE, FAILURES},
    [E_CRITICALITY] = {"criticality", "criticality", FAB_GRAPH_DOUBLE, CRITICALITY},
    [E_COST] = {"e_cost", "cost_usd", FAB_GRAPH_DOUBLE, COST},
    [E_LOAD_FWD] = {"load_fwd", "load_fwd", FAB_GRAPH_DOUBLE, LOADS},
    [E_LOAD_REV] = {"load_rev", "load_rev", FAB_GRAPH_DOUBLE, LOADS},
    [E_MEAN_LOAD_FWD] = {"mean_load_fwd", "mean_load_fwd", FAB_GRAPH_DOUBLE, LOADS | MERGED},
    [E_MEAN_LOAD_REV] = {"mean_load_rev", "mean_load_rev", FAB_GRAPH_DOUBLE, LOADS | MERGED},
    [E_MAX_LOAD_FWD] = {"max_load_fwd", "max_load_fwd", FAB_GRAPH_DOUBLE, LOADS | MERGED},
    [E_MAX_LOAD_REV] = {"max_load_rev", "max_load_rev", FAB_GRAPH_DOUBLE, LOADS | MERGED},
    [E_USE_FWD] = {"utilisation_fwd", "utilisation_fwd", FAB_GRAPH_DOUBLE, UTILISATION},
    [E_USE_REV] = {"utilisation_rev", "utilisation_rev", FAB_GRAPH_DOUBLE, UTILISATION},
    [E_MEAN_USE_FWD] = {"mean_utilisation_fwd", "mean_utilisation_fwd", FAB_GRAPH_DOUBLE, UTILISATION | MERGED},
    [E_MEAN_USE_REV] = {"mean_utilisation_rev", "mean_utilisation_rev", FAB_GRAPH_DOUBLE, UTILISATION | MERGED},
    [E_COLLISION] = {"collision_factor", "collision_factor", FAB_GRAPH_DOUBLE, UTILISATION},
    [E_COLLIDED] = {"collided", "collided", FAB_GRAPH_INTEGER, UTILISATION},
};

enum { G_PROGRAM, G_VERSION, G_DESIGN, G_DIGEST, G_SEED, G_VIEW, G_CRITICALITY, G_TRAFFIC, G_ENGINE, G_COUNT };
static const row OWN[G_COUNT] = {
    [G_PROGRAM] = {"program", "program", FAB_GRAPH_STRING, ALWAYS},
    [G_VERSION] = {"version", "version", FAB_GRAPH_STRING, ALWAYS},
    [G_DESIGN] = {"design", "design", FAB_GRAPH_STRING, ALWAYS},
    [G_DIGEST] = {"design_digest", "design_digest", FAB_GRAPH_STRING, ALWAYS},
    [G_SEED] = {"seed", "seed", FAB_GRAPH_STRING, ALWAYS},
    [G_VIEW] = {"view", "view", FAB_GRAPH_STRING, MERGED},
    [G_CRITICALITY] = {"criticality_of", "criticality_of", FAB_GRAPH_STRING, CRITICALITY},
    [G_TRAFFIC] = {"traffic", "traffic", FAB_GRAPH_STRING, ALWAYS},
    [G_ENGINE] = {"engine", "engine", FAB_GRAPH_STRING, LOADS},
};

/* --- which there are ---------------------------------------------------------------------------------------------- */

static unsigned missing(const fab_graph_view *view) {
    return (view->merge != NULL ? WHOLE : MERGED) | (view->has_failures ? 0 : FAILURES) | (view->has_cost ? 0 : COST) |
           (view->fabric->names != NULL ? 0 : NAMES) | (view->has_racks ? 0 : RACKS) |
           (view->has_criticality ? 0 : CRITICALITY) | (view->n_engines > 0 ? 0 : LOADS) |
           (view->has_utilisation ? 0 : UTILISATION);
}

/* The first engine's have no number. */
static size_t add_row(const row *r, uint32_t what, size_t engine, fab_graph_attribute *out) {
    *out = (fab_graph_attribute){.type = r->type, .what = what, .engine = (uint32_t)engine};
    (void)snprintf(out->id, sizeof out->id, engine > 0 ? "%s_%zu" : "%s", r->id, engine + 1);
    (void)snprintf(out->name, sizeof out->name, engine > 0 ? "%s_%zu" : "%s", r->name, engine + 1);
    return 1;
}

void fab_graph_attributes_list(const fab_graph_view *view, bool places, fab_graph_attributes *out) {
    unsigned not_there = missing(view) | (places ? 0 : PLACES);
    *out = (fab_graph_attributes){.n_node = 0};
    (void)snprintf(out->seed, sizeof out->seed, "%" PRIu64, view->result->seed);
    for (uint32_t i = 0; i < N_COUNT; i++) {
        out->n_node += (NODE[i].when & not_there) != 0 ? 0 : add_row(&NODE[i], i, 0, &out->node[out->n_node]);
    }
    for (uint32_t i = 0; i < E_LOAD_FWD; i++) {
        out->n_edge += (EDGE[i].when & not_there) != 0 ? 0 : add_row(&EDGE[i], i, 0, &out->edge[out->n_edge]);
    }
    for (size_t e = 0; e < view->n_engines; e++) {
        for (uint32_t i = E_LOAD_FWD; i < E_COUNT; i++) {
            out->n_edge += (EDGE[i].when & not_there) != 0 ? 0 : add_row(&EDGE[i], i, e, &out->edge[out->n_edge]);
        }
    }
    for (uint32_t i = 0; i < G_ENGINE; i++) {
        bool left_out = (OWN[i].when & not_there) != 0 || (i == G_TRAFFIC && view->n_engines == 0);
        out->n_own += left_out ? 0 : add_row(&OWN[i], i, 0, &out->own[out->n_own]);
    }
    for (size_t e = 0; e < view->n_engines; e++) {
        out->n_own += add_row(&OWN[G_ENGINE], G_ENGINE, e, &out->own[out->n_own]);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static fab_graph_value text_of(const char *text) {
    return (fab_graph_value){.known = text != NULL && text[0] != '\0', .text = text};
}

static fab_graph_value integer_of(uint64_t value) {
    return (fab_graph_value){.known = true, .integer = value};
}

static fab_graph_value index_of(uint32_t value) {
    return (fab_graph_value){.known = value != FAB_NONE, .integer = value};
}

/* Not known where it is not a number. */
static fab_graph_value figure_of(double value) {
    return (fab_graph_value){.known = !isnan(value), .number = value};
}

/* Always known: a load that is not a number is a fault. */
static fab_graph_value load_of(double value) {
    return (fab_graph_value){.known = true, .number = value};
}

fab_graph_value fab_graph_node_value(const fab_graph_attribute *attribute, const fab_graph_spot *spot) {
    const fab_graph_node *node = &spot->node;
    switch (attribute->what) {
    case N_LABEL: return text_of(node->name);
    case N_KIND: return text_of(node->kind);
    case N_TIER: return integer_of(node->tier);
    case N_RAIL: return index_of(node->rail);
    case N_PLANE: return index_of(node->plane);
    case N_POD: return index_of(node->pod);
    case N_SERVER: return index_of(node->server);
    case N_HOST: return text_of(node->host);
    case N_RACK: return text_of(spot->rack);
    case N_NODES: return integer_of(node->n_nodes);
    case N_GPUS: return integer_of(node->n_gpus);
    case N_FAILED: return integer_of(node->n_failed);
    case N_CRITICALITY: return figure_of(node->criticality);
    case N_COST: return figure_of(node->cost_usd);
    case N_X: return load_of((double)spot->x);
    case N_Y: return load_of((double)spot->y);
    default: return (fab_graph_value){.known = false};
    }
}

static fab_graph_value use_value(uint32_t what, const fab_graph_edge *edge, const fab_graph_use *use) {
    switch (what) {
    case E_LOAD_FWD: return load_of(use->load_fwd);
    case E_LOAD_REV: return load_of(use->load_rev);
    case E_MEAN_LOAD_FWD: return load_of(use->load_fwd / edge->n_cables);
    case E_MEAN_LOAD_REV: return load_of(use->load_rev / edge->n_cables);
    case E_MAX_LOAD_FWD: return load_of(use->most_fwd);
    case E_MAX_LOAD_REV: return load_of(use->most_rev);
    case E_USE_FWD: return figure_of(use->use_fwd);
    case E_USE_REV: return figure_of(use->use_rev);
    case E_MEAN_USE_FWD: return figure_of(use->mean_use_fwd);
    case E_MEAN_USE_REV: return figure_of(use->mean_use_rev);
    case E_COLLIDED:
        return (fab_graph_value){.known = edge->link_kind == FAB_LINK_FABRIC && !isnan(use->use_fwd),
                                 .integer = use->n_collided};
    default: return (fab_graph_value){.known = false};
    }
}

fab_graph_value fab_graph_edge_value(const fab_graph_attribute *attribute, const fab_graph_edge *edge) {
    switch (attribute->what) {
    case E_KIND: return text_of(edge->kind);
    case E_TIER: return integer_of(edge->tier);
    case E_CABLES: return integer_of(edge->n_cables);
    case E_CAPACITY: return figure_of(isfinite(edge->capacity_bps) ? edge->capacity_bps : (double)NAN);
    case E_LENGTH: return figure_of(isfinite(edge->length_m) ? edge->length_m : (double)NAN);
    case E_SRC_PORT: return integer_of(edge->src_port);
    case E_DST_PORT: return integer_of(edge->dst_port);
    case E_SRC_NAME: return text_of(edge->src_port_name);
    case E_DST_NAME: return text_of(edge->dst_port_name);
    case E_FAILED: return integer_of(edge->n_failed);
    case E_LEFT: return load_of(edge->left_ratio);
    case E_CRITICALITY: return figure_of(edge->criticality);
    case E_COST: return figure_of(edge->cost_usd);
    case E_COLLISION: return figure_of(fab_graph_collision(edge, attribute->engine));
    default: return use_value(attribute->what, edge, &edge->use[attribute->engine]);
    }
}

fab_graph_value fab_graph_own_value(const fab_graph_attribute *attribute, const fab_graph_attributes *all,
                                    const fab_graph_view *view) {
    const fab_result *r = view->result;
    bool has_design = r->n_fabrics > 0;
    switch (attribute->what) {
    case G_PROGRAM: return text_of("fabriscope");
    case G_VERSION: return text_of(r->version);
    case G_DESIGN: return text_of(has_design ? r->fabrics[0].name : NULL);
    case G_DIGEST: return text_of(has_design ? r->fabrics[0].digest : NULL);
    case G_SEED: return text_of(all->seed);
    case G_VIEW: return text_of(fab_view_names[view->kind]);
    case G_CRITICALITY: return text_of(view->overlay->criticality_of);
    case G_TRAFFIC: return text_of(r->traffic);
    case G_ENGINE: return text_of(view->engine[attribute->engine]);
    default: return (fab_graph_value){.known = false};
    }
}
