/* What exports say of nodes and edges: one table row each. */
#include "graph_export.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* When an attribute is there at all. */
enum {
    ALWAYS = 0,
    HEALTHY = 1,  /* in the whole view alone */
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

/* What a member of a node, an edge or its use holds. */
typedef enum held {
    TEXT,      /* char[] */
    NAME,      /* const char * */
    COUNT,     /* uint32_t */
    INDEX,     /* uint32_t, FAB_NONE where there is none */
    FIGURE,    /* double, not known where it is not a number */
    SIZE,      /* double, not known where it is not finite */
    LOAD,      /* double, always known: one that is not a number is a fault */
    PLACE,     /* float */
    MEAN_LOAD, /* double, of all cables */
    COLLISION, /* of the larger direction */
    COLLIDED   /* uint32_t, between switches alone */
} held;

typedef struct row {
    const char *id, *name;
    held held;
    unsigned when;
    size_t member; /* of fab_graph_spot, fab_graph_edge or, of one engine, fab_graph_use */
} row;

static const row NODE[] = {
    {"n_label", "label", TEXT, ALWAYS, offsetof(fab_graph_spot, node.name)},
    {"n_kind", "kind", NAME, ALWAYS, offsetof(fab_graph_spot, node.kind)},
    {"n_tier", "tier", COUNT, ALWAYS, offsetof(fab_graph_spot, node.tier)},
    {"n_rail", "rail", INDEX, ALWAYS, offsetof(fab_graph_spot, node.rail)},
    {"n_plane", "plane", INDEX, ALWAYS, offsetof(fab_graph_spot, node.plane)},
    {"n_pod", "pod", INDEX, ALWAYS, offsetof(fab_graph_spot, node.pod)},
    {"n_server", "server", INDEX, ALWAYS, offsetof(fab_graph_spot, node.server)},
    {"n_host", "host", TEXT, NAMES | HEALTHY, offsetof(fab_graph_spot, node.host)},
    {"n_rack", "rack", TEXT, RACKS, offsetof(fab_graph_spot, rack)},
    {"n_nodes", "nodes", COUNT, MERGED, offsetof(fab_graph_spot, node.n_nodes)},
    {"n_gpus", "gpus", COUNT, MERGED, offsetof(fab_graph_spot, node.n_gpus)},
    {"n_failed", "failed", COUNT, FAILURES, offsetof(fab_graph_spot, node.n_failed)},
    {"n_criticality", "criticality", FIGURE, CRITICALITY, offsetof(fab_graph_spot, node.criticality)},
    {"n_cost", "cost_usd", FIGURE, COST, offsetof(fab_graph_spot, node.cost_usd)},
    {"n_x", "x", PLACE, PLACES, offsetof(fab_graph_spot, x)},
    {"n_y", "y", PLACE, PLACES, offsetof(fab_graph_spot, y)},
};
#define N_NODE (sizeof NODE / sizeof NODE[0])

static const row EDGE[] = {
    {"e_kind", "kind", NAME, ALWAYS, offsetof(fab_graph_edge, kind)},
    {"e_tier", "tier", COUNT, ALWAYS, offsetof(fab_graph_edge, tier)},
    {"cables", "cables", COUNT, MERGED, offsetof(fab_graph_edge, n_cables)},
    {"capacity_bps", "capacity_bps", SIZE, ALWAYS, offsetof(fab_graph_edge, capacity_bps)},
    {"length_m", "length_m", SIZE, ALWAYS, offsetof(fab_graph_edge, length_m)},
    {"src_port", "src_port", COUNT, HEALTHY, offsetof(fab_graph_edge, src_port)},
    {"dst_port", "dst_port", COUNT, HEALTHY, offsetof(fab_graph_edge, dst_port)},
    {"src_port_name", "src_port_name", TEXT, NAMES | HEALTHY, offsetof(fab_graph_edge, src_port_name)},
    {"dst_port_name", "dst_port_name", TEXT, NAMES | HEALTHY, offsetof(fab_graph_edge, dst_port_name)},
    {"e_failed", "failed", COUNT, FAILURES, offsetof(fab_graph_edge, n_failed)},
    {"residual_ratio", "residual_ratio", LOAD, FAILURES, offsetof(fab_graph_edge, residual_ratio)},
    {"criticality", "criticality", FIGURE, CRITICALITY, offsetof(fab_graph_edge, criticality)},
    {"e_cost", "cost_usd", FIGURE, COST, offsetof(fab_graph_edge, cost_usd)},
};
#define N_EDGE (sizeof EDGE / sizeof EDGE[0])

/* One for every engine. */
static const row USE[] = {
    {"load_fwd", "load_fwd", LOAD, LOADS, offsetof(fab_graph_use, load_fwd)},
    {"load_rev", "load_rev", LOAD, LOADS, offsetof(fab_graph_use, load_rev)},
    {"mean_load_fwd", "mean_load_fwd", MEAN_LOAD, LOADS | MERGED, offsetof(fab_graph_use, load_fwd)},
    {"mean_load_rev", "mean_load_rev", MEAN_LOAD, LOADS | MERGED, offsetof(fab_graph_use, load_rev)},
    {"max_load_fwd", "max_load_fwd", LOAD, LOADS | MERGED, offsetof(fab_graph_use, most_fwd)},
    {"max_load_rev", "max_load_rev", LOAD, LOADS | MERGED, offsetof(fab_graph_use, most_rev)},
    {"utilisation_fwd", "utilisation_fwd", FIGURE, UTILISATION, offsetof(fab_graph_use, use_fwd)},
    {"utilisation_rev", "utilisation_rev", FIGURE, UTILISATION, offsetof(fab_graph_use, use_rev)},
    {"mean_utilisation_fwd", "mean_utilisation_fwd", FIGURE, UTILISATION | MERGED,
     offsetof(fab_graph_use, mean_use_fwd)},
    {"mean_utilisation_rev", "mean_utilisation_rev", FIGURE, UTILISATION | MERGED,
     offsetof(fab_graph_use, mean_use_rev)},
    {"collision_factor", "collision_factor", COLLISION, UTILISATION, offsetof(fab_graph_use, use_fwd)},
    {"collided", "collided", COLLIDED, UTILISATION, offsetof(fab_graph_use, n_collided)},
};
#define N_USE (sizeof USE / sizeof USE[0])

enum { G_PROGRAM, G_VERSION, G_DESIGN, G_DIGEST, G_SEED, G_VIEW, G_CRITICALITY, G_TRAFFIC, G_ENGINE, G_COUNT };
static const row OWN[G_COUNT] = {
    [G_PROGRAM] = {"program", "program", NAME, ALWAYS, 0},
    [G_VERSION] = {"version", "version", NAME, ALWAYS, 0},
    [G_DESIGN] = {"design", "design", NAME, ALWAYS, 0},
    [G_DIGEST] = {"design_digest", "design_digest", NAME, ALWAYS, 0},
    [G_SEED] = {"seed", "seed", NAME, ALWAYS, 0},
    [G_VIEW] = {"view", "view", NAME, MERGED, 0},
    [G_CRITICALITY] = {"criticality_of", "criticality_of", NAME, CRITICALITY, 0},
    [G_TRAFFIC] = {"traffic", "traffic", NAME, ALWAYS, 0},
    [G_ENGINE] = {"engine", "engine", NAME, LOADS, 0},
};

/* --- which there are ---------------------------------------------------------------------------------------------- */

static unsigned missing(const fab_graph_view *view) {
    return (view->merge != NULL ? HEALTHY : MERGED) | (view->has_failures ? 0 : FAILURES) |
           (view->has_cost ? 0 : COST) | (view->fabric->names != NULL ? 0 : NAMES) | (view->has_racks ? 0 : RACKS) |
           (view->has_criticality ? 0 : CRITICALITY) | (view->n_engines > 0 ? 0 : LOADS) |
           (view->has_utilisation ? 0 : UTILISATION);
}

/* The first engine's have no number. */
static size_t attributes_add_row(const row *r, uint32_t what, size_t engine, fab_graph_attribute *out) {
    bool is_text = r->held == TEXT || r->held == NAME;
    bool is_count = r->held == COUNT || r->held == INDEX || r->held == COLLIDED;
    *out = (fab_graph_attribute){.type = is_text    ? FAB_GRAPH_STRING
                                         : is_count ? FAB_GRAPH_INTEGER
                                                    : FAB_GRAPH_DOUBLE,
                                 .what = what,
                                 .engine = (uint32_t)engine};
    (void)snprintf(out->id, sizeof out->id, engine > 0 ? "%s_%zu" : "%s", r->id, engine + 1);
    (void)snprintf(out->name, sizeof out->name, engine > 0 ? "%s_%zu" : "%s", r->name, engine + 1);
    return 1;
}

void fab_graph_attributes_list(const fab_graph_view *view, bool places, fab_graph_attributes *out) {
    unsigned not_there = missing(view) | (places ? 0 : PLACES);
    *out = (fab_graph_attributes){.n_node = 0};
    (void)snprintf(out->seed, sizeof out->seed, "%" PRIu64, view->result->seed);
    for (uint32_t i = 0; i < N_NODE; i++) {
        out->n_node +=
            (NODE[i].when & not_there) != 0 ? 0 : attributes_add_row(&NODE[i], i, 0, &out->node[out->n_node]);
    }
    for (uint32_t i = 0; i < N_EDGE; i++) {
        out->n_edge +=
            (EDGE[i].when & not_there) != 0 ? 0 : attributes_add_row(&EDGE[i], i, 0, &out->edge[out->n_edge]);
    }
    for (size_t e = 0; e < view->n_engines; e++) {
        for (uint32_t i = 0; i < N_USE; i++) {
            out->n_edge += (USE[i].when & not_there) != 0
                               ? 0
                               : attributes_add_row(&USE[i], N_EDGE + i, e, &out->edge[out->n_edge]);
        }
    }
    for (uint32_t i = 0; i < G_ENGINE; i++) {
        bool left_out = (OWN[i].when & not_there) != 0 || (i == G_TRAFFIC && view->n_engines == 0);
        out->n_own += left_out ? 0 : attributes_add_row(&OWN[i], i, 0, &out->own[out->n_own]);
    }
    for (size_t e = 0; e < view->n_engines; e++) {
        out->n_own += attributes_add_row(&OWN[G_ENGINE], G_ENGINE, e, &out->own[out->n_own]);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static fab_graph_value text_of(const char *text) {
    return (fab_graph_value){.known = text != NULL && text[0] != '\0', .text = text};
}

static fab_graph_value integer_of(bool known, uint32_t value) {
    return (fab_graph_value){.known = known, .integer = value};
}

static fab_graph_value attributes_number_of(bool known, double value) {
    return (fab_graph_value){.known = known, .number = value};
}

/* The value of a row in what it is a member of. */
static fab_graph_value value_of(const row *r, const void *of) {
    const void *at = (const char *)of + r->member;
    const uint32_t *count = at;
    const double *figure = at;
    switch (r->held) {
    case TEXT: return text_of(at);
    case NAME: return text_of(*(const char *const *)at);
    case COUNT: return integer_of(true, *count);
    case INDEX: return integer_of(*count != FAB_NONE, *count);
    case FIGURE: return attributes_number_of(!isnan(*figure), *figure);
    case SIZE: return attributes_number_of(isfinite(*figure), *figure);
    case LOAD: return attributes_number_of(true, *figure);
    case PLACE: return attributes_number_of(true, (double)*(const float *)at);
    case MEAN_LOAD:
    case COLLISION:
    case COLLIDED: break;
    }
    return attributes_number_of(false, 0);
}

fab_graph_value fab_graph_node_value(const fab_graph_attribute *attribute, const fab_graph_spot *spot) {
    return value_of(&NODE[attribute->what], spot);
}

fab_graph_value fab_graph_edge_value(const fab_graph_attribute *attribute, const fab_graph_edge *edge) {
    if (attribute->what < N_EDGE) {
        return value_of(&EDGE[attribute->what], edge);
    }
    const row *r = &USE[attribute->what - N_EDGE];
    const fab_graph_use *use = &edge->use[attribute->engine];
    double factor = 0;
    switch (r->held) {
    case MEAN_LOAD:
        return attributes_number_of(true,
                                    *(const double *)(const void *)((const char *)use + r->member) / edge->n_cables);
    case COLLISION:
        factor = fab_graph_collision(edge, attribute->engine);
        return attributes_number_of(!isnan(factor), factor);
    case COLLIDED: return integer_of(edge->link_kind == FAB_LINK_FABRIC && !isnan(use->use_fwd), use->n_collided);
    default: return value_of(r, use);
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
