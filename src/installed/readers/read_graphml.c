/* GraphML: nodes are boxes, an edge is a cable. Of our own export the graph inside servers is left out: GPUs and
 * scale-up domains, which are groups here. Source: graphml.graphdrawing.org, primer. */
#include "graphml_keys.h"
#include "network_internal.h"

#include "fab/memory.h"
#include "fab/order.h"
#include "fab/units.h"
#include "fab/xml_stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ID   256
#define KEYS 512

typedef enum scope { OUTSIDE, KEY, GRAPH, NODE, EDGE } scope;

typedef struct key {
    const char *id, *domain;
    const char *initial; /* what elements without such data have; NULL */
    fab_graphml_meaning meaning;
} key;

/* The node or edge at hand. */
typedef struct element {
    char id[ID], other[ID]; /* of an edge: source and target */
    char label[ID], kind[ID], server[ID];
    char port[2][ID];
    double rate_bps, length_m;
    uint32_t tier;
    bool is_directed;
    size_t line;
    uint64_t has; /* meanings that were given */
} element;

/* What a node of our own export is besides one of the network. */
typedef struct own {
    uint32_t server; /* FAB_NETWORK_NONE: it has none */
    uint32_t ports;  /* of an adapter, into the network, so far */
} own;

typedef struct reader {
    fab_network *net;
    fab_network *inside; /* of servers: nodes and links that are no part of the network; nodes of ours alone */
    own *own;            /* [nodes as installed] */
    uint32_t *gpu;       /* [inside nodes]: server */
    size_t own_capacity, gpu_capacity;
    uint32_t last_server, adapters_of_it;
    key *keys;
    size_t n_keys, key_capacity, next_key;
    scope scope;
    fab_graphml_meaning data; /* of the <data> at hand */
    bool in_data, in_default, is_ours, directed, has_graph, names_ports, in_label;
    uint32_t *one_way; /* cables of directed edges without ports */
    size_t n_one_way, one_way_capacity;
    element e;
} reader;

/* --- texts and numbers -------------------------------------------------------------------------------------------- */

static fab_status graphml_copy(const fab_xml_stream *at, char to[ID], const char *from, const char *what,
                               fab_error *err) {
    size_t n = strlen(from);
    if (n >= ID) {
        return fab_xml_stream_wrong(at, err, "'%.40s...': %s of more than 255 bytes", from, what);
    }
    memcpy(to, from, n + 1);
    return FAB_OK;
}

static fab_status attribute(const fab_xml_stream *at, char to[ID], const char *name, fab_error *err) {
    const char *value = fab_xml_stream_attribute(at, name);
    if (value == NULL || value[0] == '\0') {
        return fab_xml_stream_wrong(at, err, "attribute '%s' is missing or empty", name);
    }
    return graphml_copy(at, to, value, name, err);
}

static bool parse_number(const char *text, double *out) {
    char *end = NULL;
    double value = text[strspn(text, "0123456789.eE+-")] == '\0' ? strtod(text, &end) : -1;
    bool is_number = end != NULL && end != text && *end == '\0' && isfinite(value) && value >= 0;
    *out = is_number ? value : 0;
    return is_number;
}

static fab_status graphml_number(const fab_xml_stream *at, const char *text, double *out, fab_error *err) {
    return parse_number(text, out) ? FAB_OK : fab_xml_stream_wrong(at, err, "'%.40s' is no number, 0 or more", text);
}

/* A rate or length with its unit. A number alone says nothing: its unit is not known. */
static void quantity(const char *text, fab_unit unit, double *out) {
    double value = 0;
    if (fab_quantity_parse(text, unit, &value, NULL) == FAB_OK) {
        *out = value;
    }
}

static fab_status graphml_set(reader *r, const fab_xml_stream *at, fab_graphml_meaning meaning, const char *text,
                              fab_error *err) {
    element *e = &r->e;
    double n = 0;
    fab_status status = FAB_OK;
    bool again = (e->has >> meaning & 1) != 0; /* "name" behind "label": the first one stays */
    if (meaning == FAB_GRAPHML_NOTHING || text[0] == '\0' || again) {
        return FAB_OK;
    }
    e->has |= UINT64_C(1) << meaning;
    switch (meaning) {
    case FAB_GRAPHML_PROGRAM: r->is_ours = r->is_ours || strcmp(text, "fabriscope") == 0; break;
    case FAB_GRAPHML_VIEW:
        if (r->is_ours && strcmp(text, "whole") != 0) {
            status =
                fab_xml_stream_wrong(at, err, "a merged view (%.20s) is no wiring: export it with --view whole", text);
        }
        break;
    case FAB_GRAPHML_LABEL: status = graphml_copy(at, e->label, text, "a label", err); break;
    case FAB_GRAPHML_KIND: status = graphml_copy(at, e->kind, text, "a kind", err); break;
    case FAB_GRAPHML_SERVER: status = graphml_copy(at, e->server, text, "a server", err); break;
    case FAB_GRAPHML_TIER:
        if (parse_number(text, &n) && n < 64) {
            e->tier = (uint32_t)n;
        }
        break;
    case FAB_GRAPHML_BPS: status = graphml_number(at, text, &e->rate_bps, err); break;
    case FAB_GRAPHML_RATE:
        if (!(e->rate_bps > 0)) {
            quantity(text, FAB_UNIT_RATE, &e->rate_bps);
        }
        break;
    case FAB_GRAPHML_METRES: status = graphml_number(at, text, &e->length_m, err); break;
    case FAB_GRAPHML_LENGTH: quantity(text, FAB_UNIT_LENGTH, &e->length_m); break;
    case FAB_GRAPHML_SOURCE_PORT: status = graphml_copy(at, e->port[0], text, "a port", err); break;
    case FAB_GRAPHML_TARGET_PORT: status = graphml_copy(at, e->port[1], text, "a port", err); break;
    case FAB_GRAPHML_CABLES:
        status = graphml_number(at, text, &n, err);
        if (status == FAB_OK && n != 1) {
            status = fab_xml_stream_wrong(at, err, "an edge that stands for %.20s cables; expected one for each", text);
        }
        break;
    case FAB_GRAPHML_NOTHING: break;
    }
    return status;
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static fab_network_kind kind_of(const char *text) {
    static const struct {
        const char *word;
        fab_network_kind kind;
    } WORDS[] = {
        {"switch", FAB_NETWORK_SWITCH},      {"leaf", FAB_NETWORK_SWITCH},   {"spine", FAB_NETWORK_SWITCH},
        {"core", FAB_NETWORK_SWITCH},        {"tor", FAB_NETWORK_SWITCH},    {"superspine", FAB_NETWORK_SWITCH},
        {"aggregation", FAB_NETWORK_SWITCH}, {"router", FAB_NETWORK_SWITCH}, {"host", FAB_NETWORK_HOST},
        {"server", FAB_NETWORK_HOST},        {"compute", FAB_NETWORK_HOST},  {"storage", FAB_NETWORK_HOST},
        {"gpu", FAB_NETWORK_HOST},           {"nic", FAB_NETWORK_ADAPTER},   {"hca", FAB_NETWORK_ADAPTER},
        {"adapter", FAB_NETWORK_ADAPTER}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcasecmp(text, WORDS[i].word) == 0) {
            return WORDS[i].kind;
        }
    }
    return FAB_NETWORK_UNKNOWN;
}

static bool is_number(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' && strlen(text) < 9;
}

/* Adapters of our own export are called what InfiniBand tools would call them, as in fab/ib_names.h. */
static fab_status name_adapter(reader *r, fab_network_node *node, uint32_t server, fab_error *err) {
    char text[64];
    r->adapters_of_it = server == r->last_server ? r->adapters_of_it + 1 : 1;
    r->last_server = server;
    int n = snprintf(text, sizeof text, "server-%" PRIu32 " HCA-%" PRIu32, server, r->adapters_of_it);
    FAB_PASS(fab_network_text(r->net, text, (size_t)n, &node->label, err));
    n = snprintf(text, sizeof text, "server-%" PRIu32, server);
    return fab_network_text(r->net, text, (size_t)n, &node->host, err);
}

static fab_status end_node(reader *r, const fab_xml_stream *at, fab_error *err) {
    const element *e = &r->e;
    uint32_t server = is_number(e->server) ? (uint32_t)strtoul(e->server, NULL, 10) : FAB_NETWORK_NONE;
    bool is_inside = r->is_ours && (strcmp(e->kind, "gpu") == 0 || strcmp(e->kind, "domain") == 0);
    fab_network *to = is_inside ? r->inside : r->net;
    uint32_t index = to->n_nodes;
    uint32_t found = fab_network_find(r->net, e->id, strlen(e->id));
    if (found == FAB_NETWORK_NONE && fab_network_find(r->inside, e->id, strlen(e->id)) == FAB_NETWORK_NONE) {
        FAB_PASS(fab_network_add_node(to, e->id, strlen(e->id), e->line, &index, err));
    } else {
        FAB_PASS(fab_xml_stream_wrong(at, err, "node '%.60s' is there already", e->id));
    }
    if (is_inside) {
        FAB_PASS(FAB_GROW(r->gpu, r->gpu_capacity, (size_t)index + 1, err));
        r->gpu[index] = strcmp(e->kind, "gpu") == 0 ? server : FAB_NETWORK_NONE;
        return FAB_OK;
    }
    fab_network_node *node = &r->net->nodes[index];
    node->kind = kind_of(e->kind);
    node->tier = node->kind == FAB_NETWORK_SWITCH ? e->tier : 0;
    FAB_PASS(FAB_GROW(r->own, r->own_capacity, (size_t)index + 1, err));
    r->own[index] = (own){.server = r->is_ours ? server : FAB_NETWORK_NONE};
    if (r->is_ours && node->kind == FAB_NETWORK_ADAPTER && server != FAB_NETWORK_NONE) {
        FAB_PASS(name_adapter(r, node, server, err));
        return FAB_OK;
    }
    if (e->label[0] != '\0') {
        FAB_PASS(fab_network_text(r->net, e->label, strlen(e->label), &node->label, err));
    }
    FAB_PASS(fab_network_ib_host(r->net, index, err));
    if (node->kind == FAB_NETWORK_ADAPTER && e->server[0] != '\0' && node->host == NULL) {
        FAB_PASS(fab_network_text(r->net, e->server, strlen(e->server), &node->host, err));
    }
    return FAB_OK;
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

/* The port of an end; adapters of our own export count theirs into the network. */
static const char *port_of(reader *r, uint32_t node, char port[ID]) {
    if (r->is_ours && r->net->nodes[node].kind == FAB_NETWORK_ADAPTER && port[0] != '\0') {
        (void)snprintf(port, ID, "%" PRIu32, ++r->own[node].ports);
    }
    return port[0] != '\0' ? port : NULL;
}

static fab_status end_edge(reader *r, const fab_xml_stream *at, fab_error *err) {
    element *e = &r->e;
    const char *ids[2] = {e->id, e->other};
    fab_network_cable cable = {.rate_bps = e->rate_bps, .length_m = e->length_m};
    uint32_t n_inside = 0;
    uint32_t inside[2] = {0, 0};
    bool was_there = false;
    for (uint32_t i = 0; i < 2; i++) {
        cable.end[i] = (fab_network_end){.node = fab_network_find(r->net, ids[i], strlen(ids[i])), .line = e->line};
        inside[i] = fab_network_find(r->inside, ids[i], strlen(ids[i]));
        n_inside += inside[i] != FAB_NETWORK_NONE;
        if (cable.end[i].node == FAB_NETWORK_NONE && inside[i] == FAB_NETWORK_NONE) {
            FAB_PASS(fab_xml_stream_wrong(at, err, "the %s of an edge, '%.60s', is no node that was declared before it",
                                          i == 0 ? "source" : "target", ids[i]));
        }
    }
    if (n_inside == 2) { /* a GPU and its scale-up domain */
        const fab_network_cable link = {.end = {{.node = inside[0]}, {.node = inside[1]}}};
        FAB_PASS(fab_network_add_cable(r->inside, &link, NULL, err));
    }
    if (n_inside > 0) {
        return FAB_OK;
    }
    for (uint32_t i = 0; i < 2; i++) {
        cable.end[i].port = port_of(r, cable.end[i].node, e->port[i]);
        r->names_ports = r->names_ports && cable.end[i].port != NULL;
    }
    bool has_ports = cable.end[0].port != NULL && cable.end[1].port != NULL;
    FAB_PASS(fab_network_add_cable(r->net, &cable, &was_there, err));
    if (was_there && !e->is_directed) {
        FAB_PASS(fab_xml_stream_wrong(at, err, "this cable stands in the file twice"));
    }
    if (e->is_directed && !has_ports) {
        FAB_PASS(FAB_GROW(r->one_way, r->one_way_capacity, r->n_one_way + 1, err));
        r->one_way[r->n_one_way++] = r->net->n_cables - 1;
    }
    return FAB_OK;
}

/* --- tags --------------------------------------------------------------------------------------------------------- */

static fab_status start_key(reader *r, const fab_xml_stream *at, fab_error *err) {
    char id[ID];
    const char *domain = fab_xml_stream_attribute(at, "for");
    if (r->n_keys == KEYS) {
        FAB_PASS(fab_xml_stream_wrong(at, err, "more than %d keys", KEYS));
    }
    FAB_PASS(FAB_GROW(r->keys, r->key_capacity, r->n_keys + 1, err));
    key *k = &r->keys[r->n_keys];
    *k = (key){.id = NULL};
    domain = domain != NULL ? domain : "";
    FAB_PASS(fab_network_text(r->net, domain, strlen(domain), &k->domain, err));
    FAB_PASS(attribute(at, id, "id", err));
    for (size_t i = 0; i < r->n_keys; i++) {
        if (strcmp(r->keys[i].id, id) == 0) {
            FAB_PASS(fab_xml_stream_wrong(at, err, "key '%.60s' is there already", id));
        }
    }
    FAB_PASS(fab_network_text(r->net, id, strlen(id), &k->id, err));
    const char *name = fab_xml_stream_attribute(at, "attr.name");
    k->meaning = fab_graphml_meaning_of(k->domain, name != NULL ? name : id);
    r->n_keys++;
    r->scope = KEY;
    return FAB_OK;
}

static fab_status start_edge(reader *r, const fab_xml_stream *at, fab_error *err) {
    static const char *const PORTS[2] = {"sourceport", "targetport"};
    FAB_PASS(attribute(at, r->e.id, "source", err));
    FAB_PASS(attribute(at, r->e.other, "target", err));
    for (uint32_t i = 0; i < 2; i++) {
        const char *port = fab_xml_stream_attribute(at, PORTS[i]);
        if (port != NULL) {
            FAB_PASS(graphml_copy(at, r->e.port[i], port, PORTS[i], err));
            r->e.has |= UINT64_C(1) << (FAB_GRAPHML_SOURCE_PORT + i);
        }
    }
    const char *directed = fab_xml_stream_attribute(at, "directed");
    r->e.is_directed = directed != NULL ? strcmp(directed, "true") == 0 : r->directed;
    return FAB_OK;
}

/* The meaning of <data>. Data mostly come in the order of the keys: the next one is tried first. */
static fab_status start_data(reader *r, const fab_xml_stream *at, fab_error *err) {
    const char *id = fab_xml_stream_attribute(at, "key");
    for (size_t i = 0; id != NULL && i < r->n_keys; i++) {
        size_t k = (r->next_key + i) % r->n_keys;
        if (strcmp(r->keys[k].id, id) == 0) {
            r->next_key = k + 1;
            r->data = r->keys[k].meaning;
            r->in_data = true;
            return FAB_OK;
        }
    }
    return fab_xml_stream_wrong(
        at, err, id != NULL ? "data of a key '%.60s' that is not declared before" : "data without a key", id);
}

static void read_graphml_begin(reader *r, const fab_xml_stream *at, scope what) {
    element *e = &r->e;
    r->scope = what;
    e->label[0] = e->kind[0] = e->server[0] = e->port[0][0] = e->port[1][0] = '\0';
    e->rate_bps = e->length_m = 0;
    e->tier = 0;
    e->has = 0;
    e->line = fab_xml_stream_line(at);
}

static fab_status start_graph(reader *r, const fab_xml_stream *at, fab_error *err) {
    const char *edges = fab_xml_stream_attribute(at, "edgedefault");
    if (r->scope == NODE || r->has_graph) {
        return fab_xml_stream_wrong(
            at, err, r->scope == NODE ? "a graph inside a node is not read" : "a second graph is not read");
    }
    read_graphml_begin(r, at, GRAPH);
    r->directed = edges != NULL && strcmp(edges, "directed") == 0;
    r->has_graph = true;
    return FAB_OK;
}

static fab_status graphml_on_start(void *context, const fab_xml_stream *at, const char *name, fab_error *err) {
    reader *r = context;
    if (r->in_data) { /* what a drawing program keeps there; text may stand before elements of a label */
        fab_status status = r->in_label ? graphml_set(r, at, FAB_GRAPHML_LABEL, fab_xml_stream_text(at), err) : FAB_OK;
        r->in_label = strcmp(name, "NodeLabel") == 0 && r->scope == NODE;
        return status;
    }
    if (strcmp(name, "data") == 0) {
        return start_data(r, at, err);
    }
    if (strcmp(name, "node") == 0 && r->scope == GRAPH) {
        read_graphml_begin(r, at, NODE);
        return attribute(at, r->e.id, "id", err);
    }
    if (strcmp(name, "edge") == 0 && r->scope == GRAPH) {
        read_graphml_begin(r, at, EDGE);
        return start_edge(r, at, err);
    }
    if (strcmp(name, "key") == 0 && r->scope == OUTSIDE) {
        return start_key(r, at, err);
    }
    if (strcmp(name, "graph") == 0) {
        return start_graph(r, at, err);
    }
    r->in_default = strcmp(name, "default") == 0 && r->scope == KEY;
    static const char *const IGNORED[] = {"graphml", "desc", "port", "default", "locator"};
    for (size_t i = 0; i < sizeof IGNORED / sizeof IGNORED[0]; i++) {
        if (strcmp(name, IGNORED[i]) == 0) {
            return FAB_OK;
        }
    }
    return fab_xml_stream_wrong(
        at, err, "element '%.40s' is not read here; expected graphml with key, graph, node, edge, data", name);
}

static fab_status set_defaults(reader *r, const fab_xml_stream *at, const char *name, fab_error *err) {
    for (size_t i = 0; i < r->n_keys; i++) {
        if (r->keys[i].initial != NULL && fab_graphml_is_for(r->keys[i].domain, name)) {
            FAB_PASS(graphml_set(r, at, r->keys[i].meaning, r->keys[i].initial, err));
        }
    }
    return FAB_OK;
}

static fab_status graphml_on_end(void *context, const fab_xml_stream *at, const char *name, const char *text,
                                 fab_error *err) {
    reader *r = context;
    if (strcmp(name, "data") == 0) {
        FAB_PASS(graphml_set(r, at, r->data, text, err));
        r->in_data = false;
    } else if (r->in_data) {
        FAB_PASS(r->in_label ? graphml_set(r, at, FAB_GRAPHML_LABEL, text, err) : FAB_OK);
        r->in_label = false;
    } else if (r->in_default) {
        FAB_PASS(fab_network_text(r->net, text, strlen(text), &r->keys[r->n_keys - 1].initial, err));
        r->in_default = false;
    } else if (strcmp(name, "node") == 0) {
        FAB_PASS(set_defaults(r, at, name, err));
        FAB_PASS(end_node(r, at, err));
        r->scope = GRAPH;
    } else if (strcmp(name, "edge") == 0) {
        FAB_PASS(set_defaults(r, at, name, err));
        FAB_PASS(end_edge(r, at, err));
        r->scope = GRAPH;
    } else if (strcmp(name, "key") == 0 || strcmp(name, "graph") == 0) {
        r->scope = OUTSIDE;
    }
    return FAB_OK;
}

/* --- behind the last tag ------------------------------------------------------------------------------------------ */

typedef struct way {
    uint32_t low, high; /* nodes */
    bool is_reverse;
    uint32_t cable;
} way;

static int by_ends(const void *x, const void *y) {
    const way *a = x;
    const way *b = y;
    if (a->low != b->low || a->high != b->high) {
        return (a->low != b->low ? a->low > b->low : a->high > b->high) ? 1 : -1;
    }
    return FAB_ORDER(a->cable, b->cable);
}

/* Edges with a direction and no ports: one forward and one reverse are a cable. */
static fab_status join_ways(reader *r, fab_error *err) {
    fab_status status = FAB_OK;
    way *ways = NULL;
    bool *drop = NULL;
    size_t n = r->n_one_way;
    FAB_TRY(FAB_NEW(ways, n, err));
    FAB_TRY(FAB_NEW(drop, r->net->n_cables, err));
    for (size_t i = 0; i < n; i++) {
        const fab_network_end *e = r->net->cables[r->one_way[i]].end;
        bool is_reverse = e[0].node > e[1].node;
        ways[i] = (way){e[is_reverse].node, e[!is_reverse].node, is_reverse, r->one_way[i]};
    }
    qsort(ways, n, sizeof *ways, by_ends);
    for (size_t from = 0; from < n;) {
        size_t behind = from;
        size_t reverse_from = 0;
        for (; behind < n && ways[behind].low == ways[from].low && ways[behind].high == ways[from].high; behind++) {
            reverse_from += ways[behind].is_reverse;
        }
        size_t left = reverse_from < behind - from - reverse_from
                          ? reverse_from
                          : behind - from - reverse_from; /* cables with both ways */
        for (size_t i = from; i < behind; i++) {
            drop[ways[i].cable] = ways[i].is_reverse && left > 0;
            left -= drop[ways[i].cable] ? 1 : 0;
        }
        from = behind;
    }
    fab_network_drop_cables(r->net, drop);
done:
    FAB_FREE_ALL(ways, drop);
    return status;
}

/* Scale-up domains of several servers, as fab_network_of_fabric() tells of them. */
static fab_status add_domains(reader *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_network *in = r->inside;
    uint32_t *domain_of = NULL; /* [servers] */
    uint32_t *members = NULL;
    uint32_t n_servers = 0;
    uint32_t n_domains = 0;
    for (uint32_t i = 0; i < in->n_nodes; i++) {
        n_servers = r->gpu[i] != FAB_NETWORK_NONE && r->gpu[i] >= n_servers ? r->gpu[i] + 1 : n_servers;
    }
    if (n_servers > in->n_nodes) {
        goto done; /* numbers that no export of ours has */
    }
    FAB_TRY(FAB_NEW(domain_of, (size_t)n_servers + 1, err));
    memset(domain_of, 0xff, n_servers * sizeof *domain_of); /* servers of one GPU may be in none */
    FAB_TRY(FAB_NEW(members, r->net->n_nodes, err));
    for (uint32_t c = 0; c < in->n_cables; c++) {
        uint32_t a = in->cables[c].end[0].node;
        uint32_t b = in->cables[c].end[1].node;
        uint32_t gpu = r->gpu[a] != FAB_NETWORK_NONE ? a : b;
        if (r->gpu[gpu] != FAB_NETWORK_NONE) {
            domain_of[r->gpu[gpu]] = gpu == a ? b : a;
        }
    }
    for (uint32_t first = 0, behind = 0; first < r->net->n_nodes; first = behind) {
        char name[32];
        uint32_t n = 0;
        bool several = false;
        uint32_t server = r->own[first].server;
        bool is_member = server != FAB_NETWORK_NONE && server < n_servers &&
                         r->net->nodes[first].kind == FAB_NETWORK_ADAPTER && domain_of[server] != FAB_NETWORK_NONE;
        behind = first + 1;
        if (!is_member) {
            continue;
        }
        members[n++] = first;
        for (; behind < r->net->n_nodes && r->net->nodes[behind].kind == FAB_NETWORK_ADAPTER &&
               r->own[behind].server < n_servers && domain_of[r->own[behind].server] == domain_of[server];
             behind++) {
            several = several || r->own[behind].server != server;
            members[n++] = behind;
        }
        int length = snprintf(name, sizeof name, "domain-%" PRIu32, n_domains++);
        if (several) {
            FAB_TRY(fab_network_add_group(r->net, name, (size_t)length, members, n, err));
        }
    }
done:
    FAB_FREE_ALL(domain_of, members);
    return status;
}

static fab_status read_graphml(const char *path, fab_network *net, fab_error *err) {
    static const fab_xml_visitor VISITOR = {graphml_on_start, graphml_on_end};
    fab_status status = FAB_OK;
    reader r = {.net = net, .names_ports = true, .last_server = FAB_NETWORK_NONE};
    char where[sizeof err->where];
    FAB_TRY(fab_network_new(path, &r.inside, err));
    FAB_TRY(fab_xml_stream_read(path, &VISITOR, &r, err));
    if (!r.has_graph) {
        (void)snprintf(where, sizeof where, "%.180s:1", path);
        FAB_FAIL(err, FAB_EINPUT, where, "there is no <graph> in it");
    }
    FAB_TRY(r.n_one_way > 0 ? join_ways(&r, err) : FAB_OK);
    FAB_TRY(r.is_ours && r.inside->n_nodes > 0 ? add_domains(&r, err) : FAB_OK);
    net->has_ports = r.names_ports && net->n_cables > 0;
done:
    fab_network_free(r.inside);
    FAB_FREE_ALL(r.own, r.gpu, r.keys, r.one_way);
    return status;
}

/* XML whose first element is graphml. */
const fab_network_format fab_network_graphml = {
    .name = "graphml",
    .summary = "GraphML of any program: Internet Topology Zoo, networkx, yEd, our own",
    .begins = "^([^<]|<[?!][^-]|<!--([^-]|-[^-])*--+>)*<([^ >\t\r\n:?!]*:)?graphml[ >\t\r\n]",
    .read = read_graphml};
