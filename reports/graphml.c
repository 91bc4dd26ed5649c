/* The fabric as GraphML, in the dialect that every reader takes: default namespace, all keys first, NMTOKEN ids, the
 * name in `label`, no ports, no defaults, one edge per cable. Streams; a node or an edge costs a few copies. */
#include "fab/memory.h"
#include "fab/str.h"
#include "fab/xml_writer.h"
#include "report_formats.h"
#include "result_walk.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SIZE 1024 /* power of two */

typedef struct key {
    const char *id, *domain, *name, *type;
} key;

static const key KEYS[] = {
    {"program", "graph", "program", "string"},
    {"version", "graph", "version", "string"},
    {"design", "graph", "design", "string"},
    {"design_digest", "graph", "design_digest", "string"},
    {"seed", "graph", "seed", "string"},
    {"n_label", "node", "label", "string"},
    {"n_kind", "node", "kind", "string"},
    {"n_tier", "node", "tier", "int"},
    {"n_rail", "node", "rail", "int"},
    {"n_plane", "node", "plane", "int"},
    {"n_pod", "node", "pod", "int"},
    {"n_server", "node", "server", "int"},
    {"e_kind", "edge", "kind", "string"},
    {"e_tier", "edge", "tier", "int"},
    {"capacity_bps", "edge", "capacity_bps", "double"},
    {"length_m", "edge", "length_m", "double"},
    {"src_port", "edge", "src_port", "int"},
    {"dst_port", "edge", "dst_port", "int"},
};
static const key LOAD_KEYS[] = {
    {"engine", "graph", "engine", "string"},
    {"traffic", "graph", "traffic", "string"},
    {"load_fwd", "edge", "load_fwd", "double"},
    {"load_rev", "edge", "load_rev", "double"},
};

/* Text of loads met before: most links of a phase carry one of few amounts. */
typedef struct load_text {
    double value;
    char text[32];
} load_text;

typedef struct graphml {
    fab_xml_writer writer;
    const fab_result *result;
    const fab_fabric *fabric;
    bool has_loads;
    bool has_bad_load;   /* one is infinite or not a number */
    fab_str *class_data; /* shape [n_classes]: the part of an edge that its class decides */
    load_text *cache;    /* shape [CACHE_SIZE] */
} graphml;

#define RAW(text) fab_xml_write_raw(&g->writer, "" text "", sizeof(text) - 1)

static void put_key(graphml *g, const key *k) {
    fab_xml_write_start(&g->writer, "key");
    fab_xml_write_attribute(&g->writer, "id", k->id);
    fab_xml_write_attribute(&g->writer, "for", k->domain);
    fab_xml_write_attribute(&g->writer, "attr.name", k->name);
    fab_xml_write_attribute(&g->writer, "attr.type", k->type);
    fab_xml_write_end(&g->writer);
}

static void put_graph_data(graphml *g, const char *id, const char *text) {
    fab_xml_write_start(&g->writer, "data");
    fab_xml_write_attribute(&g->writer, "key", id);
    fab_xml_write_text(&g->writer, text);
    fab_xml_write_end(&g->writer);
}

/* --- nodes ---------------------------------------------------------------------------------------------------------
 */

typedef struct node_facts {
    const char *kind;
    uint32_t tier;
    uint32_t rail, plane, pod, server; /* FAB_NONE: has none */
} node_facts;

/* Pod of the switch that a NIC is plugged into. */
static uint32_t pod_of_nic(const fab_fabric *f, fab_node_id nic) {
    for (uint32_t i = f->out_first[nic]; i < f->out_first[nic + 1]; i++) {
        fab_node_id head = fab_head(f, f->out_link[i]);
        if (fab_kind_of(f, head) == FAB_NODE_SWITCH) {
            return f->switch_pod[head - f->first[FAB_NODE_SWITCH]];
        }
    }
    return FAB_NONE;
}

static uint32_t rail_of_nic(const fab_fabric *f, uint32_t nic) {
    return f->n_rails > 0 ? nic % f->n_rails : 0;
}

static node_facts facts_of(const fab_fabric *f, fab_node_id v) {
    static const char *const KINDS[] = {"gpu", "nic", "domain", "switch"};
    fab_node_kind kind = fab_kind_of(f, v);
    uint32_t index = v - f->first[kind];
    node_facts facts = {KINDS[kind], 0, FAB_NONE, FAB_NONE, FAB_NONE, FAB_NONE};
    uint32_t first_nic = 0;
    switch (kind) {
    case FAB_NODE_GPU:
        (void)fab_nics_of_gpu(f, index, &first_nic);
        facts.rail = rail_of_nic(f, first_nic);
        facts.pod = pod_of_nic(f, f->first[FAB_NODE_NIC] + first_nic);
        facts.server = fab_server_of(f, index);
        break;
    case FAB_NODE_NIC:
        facts.rail = rail_of_nic(f, index);
        facts.pod = pod_of_nic(f, v);
        facts.server = index / f->nics_per_server;
        break;
    case FAB_NODE_DOMAIN:
        if (f->gpus_per_domain <= f->gpus_per_server) {
            facts.server = (uint32_t)((uint64_t)index * f->gpus_per_domain / f->gpus_per_server);
        }
        break;
    case FAB_NODE_SWITCH:
        facts.tier = fab_tier_of(f, v);
        facts.rail = f->switch_rail[index] == UINT16_MAX ? FAB_NONE : f->switch_rail[index];
        facts.plane = f->switch_plane[index];
        facts.pod = f->switch_pod[index];
        break;
    case FAB_NODE_N_KINDS: break;
    }
    return facts;
}

#define DATA_END "</data>"
#define PUT_INDEX(id, value)                                                                                           \
    do {                                                                                                               \
        if ((value) != FAB_NONE) {                                                                                     \
            RAW("<data key=\"" id "\">");                                                                              \
            fab_xml_write_integer(&g->writer, (value));                                                                \
            RAW(DATA_END);                                                                                             \
        }                                                                                                              \
    } while (0)

static void put_node(graphml *g, fab_node_id v) {
    char name[32];
    node_facts facts = facts_of(g->fabric, v);
    RAW("\n    <node id=\"n");
    fab_xml_write_integer(&g->writer, v);
    RAW("\"><data key=\"n_label\">");
    fab_xml_write_escaped(&g->writer, fab_node_name(g->fabric, v, name));
    RAW(DATA_END "<data key=\"n_kind\">");
    fab_xml_write_raw(&g->writer, facts.kind, strlen(facts.kind));
    RAW(DATA_END);
    PUT_INDEX("n_tier", facts.tier);
    PUT_INDEX("n_rail", facts.rail);
    PUT_INDEX("n_plane", facts.plane);
    PUT_INDEX("n_pod", facts.pod);
    PUT_INDEX("n_server", facts.server);
    RAW("</node>");
}

/* --- edges ---------------------------------------------------------------------------------------------------------
 */

static fab_status make_class_data(const fab_link_class *c, fab_str *out, fab_error *err) {
    static const char *const KINDS[] = {
        [FAB_LINK_SCALEUP] = "scale-up",
        [FAB_LINK_PCIE] = "pcie",
        [FAB_LINK_ACCESS] = "access",
        [FAB_LINK_FABRIC] = "fabric",
    };
    char number[32];
    fab_str_printf(out, "\"><data key=\"e_kind\">%s</data><data key=\"e_tier\">%" PRIu32 "</data>", KINDS[c->kind],
                   c->tier);
    if (isfinite(c->capacity_bps)) {
        fab_format_double(number, c->capacity_bps);
        fab_str_printf(out, "<data key=\"capacity_bps\">%s</data>", number);
    }
    if (isfinite(c->length_m)) {
        fab_format_double(number, c->length_m);
        fab_str_printf(out, "<data key=\"length_m\">%s</data>", number);
    }
    return fab_str_status(out, err);
}

/* Bytes over a link in all phases, under the first engine and for the first seed. */
static double load_of(const fab_result *result, fab_link_id link) {
    double sum = 0;
    for (size_t i = 0; i < result->n_phases; i++) {
        const fab_phase_result *phase = &result->phases[i];
        if (phase->n_engines > 0 && phase->engines[0].load_bytes != NULL) {
            sum += phase->engines[0].load_bytes[link];
        }
    }
    return sum;
}

static void put_load(graphml *g, double load) {
    if (load >= 0 && load < 9e15 && load == floor(load)) {
        fab_xml_write_integer(&g->writer, (uint64_t)load);
        return;
    }
    g->has_bad_load |= !isfinite(load);
    uint64_t bits = 0;
    memcpy(&bits, &load, sizeof bits);
    load_text *entry = &g->cache[(bits * 0x9e3779b97f4a7c15U) >> 54]; /* the top 10 bits of the product: CACHE_SIZE */
    if (entry->value != load) {
        fab_format_double(entry->text, load);
        entry->value = load;
    }
    fab_xml_write_raw(&g->writer, entry->text, strlen(entry->text));
}

static void put_edge(graphml *g, uint32_t cable) {
    const fab_fabric *f = g->fabric;
    fab_link_id up = 2 * cable;
    RAW("\n    <edge id=\"c");
    fab_xml_write_integer(&g->writer, cable);
    RAW("\" source=\"n");
    fab_xml_write_integer(&g->writer, fab_tail(f, up));
    RAW("\" target=\"n");
    fab_xml_write_integer(&g->writer, fab_head(f, up));
    const fab_str *data = &g->class_data[f->cable_class[cable]];
    fab_xml_write_raw(&g->writer, data->data, data->length);
    RAW("<data key=\"src_port\">");
    fab_xml_write_integer(&g->writer, f->port[up]);
    RAW(DATA_END "<data key=\"dst_port\">");
    fab_xml_write_integer(&g->writer, f->port[up + 1]);
    if (g->has_loads) {
        RAW(DATA_END "<data key=\"load_fwd\">");
        put_load(g, load_of(g->result, up));
        RAW(DATA_END "<data key=\"load_rev\">");
        put_load(g, load_of(g->result, up + 1));
    }
    RAW(DATA_END "</edge>");
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

static void put_keys(graphml *g) {
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        put_key(g, &KEYS[i]);
    }
    for (size_t i = 0; g->has_loads && i < sizeof LOAD_KEYS / sizeof LOAD_KEYS[0]; i++) {
        put_key(g, &LOAD_KEYS[i]);
    }
}

static void put_origin(graphml *g) {
    const fab_result *r = g->result;
    char seed[24];
    (void)snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
    put_graph_data(g, "program", "fabriscope");
    put_graph_data(g, "version", r->version != NULL ? r->version : "");
    if (r->n_fabrics > 0) {
        put_graph_data(g, "design", r->fabrics[0].name);
        put_graph_data(g, "design_digest", r->fabrics[0].digest);
    }
    put_graph_data(g, "seed", seed);
    for (size_t i = 0; g->has_loads && i < r->n_phases; i++) {
        if (r->phases[i].n_engines > 0) {
            put_graph_data(g, "engine", r->phases[i].engines[0].label);
            put_graph_data(g, "traffic", r->traffic);
            break;
        }
    }
}

static void put_document(graphml *g) {
    fab_xml_writer *w = &g->writer;
    fab_xml_write_start(w, "graphml");
    fab_xml_write_attribute(w, "xmlns", "http://graphml.graphdrawing.org/xmlns");
    fab_xml_write_attribute(w, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
    fab_xml_write_attribute(
        w, "xsi:schemaLocation",
        "http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.1/graphml.xsd");
    put_keys(g);
    fab_xml_write_start(w, "graph");
    fab_xml_write_attribute(w, "id", "fabric");
    fab_xml_write_attribute(w, "edgedefault", "undirected");
    put_origin(g);
    for (fab_node_id v = 0; v < g->fabric->n_nodes; v++) {
        put_node(g, v);
    }
    for (uint32_t c = 0; c < g->fabric->n_cables; c++) {
        put_edge(g, c);
    }
    fab_xml_write_end(w);
    fab_xml_write_end(w);
}

static fab_status write_graphml(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    (void)style;
    fab_status status = FAB_OK;
    graphml g = {.result = result, .fabric = result->graph};
    size_t n_classes = 0;
    if (result->graph == NULL) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "GraphML shows a fabric that was built, and this command builds none");
    }
    FAB_TRY(fab_result_walk(result, NULL, NULL, err));
    for (size_t i = 0; i < result->n_phases; i++) {
        g.has_loads |= result->phases[i].n_engines > 0 && result->phases[i].engines[0].load_bytes != NULL;
    }
    n_classes = result->graph->n_classes;
    FAB_TRY(FAB_NEW(g.class_data, n_classes, err));
    FAB_TRY(FAB_NEW(g.cache, CACHE_SIZE, err));
    for (size_t i = 0; i < n_classes; i++) {
        FAB_TRY(make_class_data(&result->graph->classes[i], &g.class_data[i], err));
    }
    FAB_TRY(fab_xml_writer_init(&g.writer, out, err));
    put_document(&g);
    FAB_TRY(fab_xml_writer_finish(&g.writer, err));
    if (g.has_bad_load) {
        FAB_FAIL(err, FAB_EINTERNAL, "load_bytes", "the load of a link is infinite or not a number");
    }
done:
    for (size_t i = 0; g.class_data != NULL && i < n_classes; i++) {
        fab_str_release(&g.class_data[i]);
    }
    free(g.class_data);
    free(g.cache);
    fab_xml_writer_release(&g.writer);
    return status;
}

const fab_report_format fab_report_graphml = {
    .name = "graphml",
    .file_name = "fabric.graphml",
    .summary = "the fabric with the load of every cable, for networkx, igraph, Gephi, Cytoscape",
    .write = write_graphml,
    .needs_graph = true,
};
