/* What exports say of nodes and edges: one table row each. */
#include "graph_export.h"

/* When an attribute is there at all. */
enum {
    ALWAYS = 0,
    HEALTHY = 1,  /* in the whole view alone */
    MERGED = 2,   /* in the others alone */
    FAILURES = 4, /* the rest: where such figures are known */
    COST = 8,
    RACKS = 16,
    CRITICALITY = 32,
    LOADS = 64,        /* one for every engine */
    UTILISATION = 128, /* one for every engine */
    PLACES = 256,
    NAMES = 512 /* of what is installed */
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

typedef struct fab_graph_row {
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

/* One for every engine. */
static const row USE[] = {
    {"load_fwd", "load_fwd", LOAD, LOADS, offsetof(fab_graph_use, load[0])},
    {"load_rev", "load_rev", LOAD, LOADS, offsetof(fab_graph_use, load[1])},
    {"mean_load_fwd", "mean_load_fwd", MEAN_LOAD, LOADS | MERGED, offsetof(fab_graph_use, load[0])},
    {"mean_load_rev", "mean_load_rev", MEAN_LOAD, LOADS | MERGED, offsetof(fab_graph_use, load[1])},
    {"max_load_fwd", "max_load_fwd", LOAD, LOADS | MERGED, offsetof(fab_graph_use, most[0])},
    {"max_load_rev", "max_load_rev", LOAD, LOADS | MERGED, offsetof(fab_graph_use, most[1])},
    {"utilisation_fwd", "utilisation_fwd", FIGURE, UTILISATION, offsetof(fab_graph_use, use[0])},
    {"utilisation_rev", "utilisation_rev", FIGURE, UTILISATION, offsetof(fab_graph_use, use[1])},
    {"mean_utilisation_fwd", "mean_utilisation_fwd", FIGURE, UTILISATION | MERGED,
     offsetof(fab_graph_use, mean_use[0])},
    {"mean_utilisation_rev", "mean_utilisation_rev", FIGURE, UTILISATION | MERGED,
     offsetof(fab_graph_use, mean_use[1])},
    {"collision_factor", "collision_factor", COLLISION, UTILISATION, offsetof(fab_graph_use, use[0])},
    {"collided", "collided", COLLIDED, UTILISATION, offsetof(fab_graph_use, n_collided)},
};

/* --- which there are ---------------------------------------------------------------------------------------------- */

static unsigned missing(const fab_graph_view *view) {
    return (view->merge != NULL ? HEALTHY : MERGED) | (view->has_failures ? 0 : FAILURES) |
           (view->has_cost ? 0 : COST) | (view->fabric->names != NULL ? 0 : NAMES) | (view->has_racks ? 0 : RACKS) |
           (view->has_criticality ? 0 : CRITICALITY) | (view->n_engines > 0 ? 0 : LOADS) |
           (view->has_utilisation ? 0 : UTILISATION);
}

/* Attributes behind the n that there are already, and their number then. The first engine's have no number. */
static size_t add_rows(const row *rows, size_t n_rows, unsigned not_there, size_t engine, fab_graph_attribute *out,
                       size_t n) {
    for (const row *r = rows; r < rows + n_rows; r++) {
        bool is_text = r->held == TEXT || r->held == NAME;
        bool is_count = r->held == COUNT || r->held == INDEX || r->held == COLLIDED;
        if ((r->when & not_there) != 0) {
            continue;
        }
        fab_graph_attribute *a = &out[n++];
        *a = (fab_graph_attribute){.row = r, .engine = (uint32_t)engine};
        a->type = is_text ? FAB_GRAPH_STRING : is_count ? FAB_GRAPH_INTEGER : FAB_GRAPH_DOUBLE;
        FAB_FORMAT(a->id, engine > 0 ? "%s_%zu" : "%s", r->id, engine + 1);
        FAB_FORMAT(a->name, engine > 0 ? "%s_%zu" : "%s", r->name, engine + 1);
    }
    return n;
}

/* What is said of the graph is a text each; declared where it is known of such a graph. */
static void add_own(fab_graph_attributes *out, bool declared, const char *name, size_t engine, const char *text) {
    const row r = {name, name, NAME, ALWAYS, 0};
    if (declared) {
        out->n_own = add_rows(&r, 1, 0, engine, out->own, out->n_own);
        out->own[out->n_own - 1].row = NULL;
        out->own[out->n_own - 1].text = text;
    }
}

void fab_graph_attributes_list(const fab_graph_view *view, bool places, fab_graph_attributes *out) {
    const fab_result *r = view->result;
    unsigned not_there = missing(view) | (places ? 0 : PLACES);
    *out = (fab_graph_attributes){.n_node = 0};
    FAB_FORMAT(out->seed, "%" PRIu64, r->seed);
    out->n_node = add_rows(NODE, FAB_N_OF(NODE), not_there, 0, out->node, 0);
    out->n_edge = add_rows(EDGE, FAB_N_OF(EDGE), not_there, 0, out->edge, 0);
    add_own(out, true, "program", 0, "fabriscope");
    add_own(out, true, "version", 0, r->version);
    add_own(out, true, "design", 0, r->n_fabrics > 0 ? r->fabrics[0].name : NULL);
    add_own(out, true, "design_digest", 0, r->n_fabrics > 0 ? r->fabrics[0].digest : NULL);
    add_own(out, true, "seed", 0, out->seed);
    add_own(out, view->merge != NULL, "view", 0, fab_view_names[view->kind]);
    add_own(out, view->has_criticality, "criticality_of", 0,
            view->has_criticality ? view->overlay->criticality_of : "");
    add_own(out, view->n_engines > 0, "traffic", 0, r->traffic);
    for (size_t e = 0; e < view->n_engines; e++) {
        out->n_edge = add_rows(USE, FAB_N_OF(USE), not_there, e, out->edge, out->n_edge);
        add_own(out, true, "engine", e, view->engine[e]);
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
    case PLACE: return attributes_number_of(true, (double)*(const float *)at);
    default: return attributes_number_of(true, *figure);
    }
}

fab_graph_value fab_graph_value_of(const fab_graph_attribute *attribute, const void *of) {
    const row *r = attribute->row;
    if (r == NULL || (r->when & (LOADS | UTILISATION)) == 0) {
        return r == NULL ? text_of(attribute->text) : value_of(r, of);
    }
    const fab_graph_edge *edge = of;
    const fab_graph_use *use = &edge->use[attribute->engine];
    fab_graph_value value = value_of(r, use);
    if (r->held == MEAN_LOAD) {
        value.number /= edge->n_cables;
    } else if (r->held == COLLISION) {
        double factor = fab_graph_collision(edge, attribute->engine);
        value = attributes_number_of(!isnan(factor), factor);
    } else if (r->held == COLLIDED) {
        value = integer_of(edge->link_kind == FAB_LINK_FABRIC && !isnan(use->use[0]), use->n_collided);
    }
    return value;
}
