#include "graph_elements.h"

#include "fab/units.h"

#include <strings.h>

typedef fab_graph_reader reader;
typedef fab_graph_element element;

/* --- texts and numbers -------------------------------------------------------------------------------------------- */

fab_status fab_graph_copy(const fab_xml_stream *at, char to[FAB_GRAPH_ID], const char *from, const char *what,
                          fab_error *err) {
    size_t n = strlen(from);
    FAB_RETURN_IF(n >= FAB_GRAPH_ID,
                  fab_xml_stream_wrong(at, err, "'%.40s...': %s of more than 255 bytes", from, what));
    memcpy(to, from, n + 1);
    return FAB_OK;
}

fab_status fab_graph_attribute(const fab_xml_stream *at, char to[FAB_GRAPH_ID], const char *name, fab_error *err) {
    const char *value = fab_xml_stream_attribute(at, name);
    FAB_RETURN_IF(value == NULL || value[0] == '\0',
                  fab_xml_stream_wrong(at, err, "attribute '%s' is missing or empty", name));
    return fab_graph_copy(at, to, value, name, err);
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

fab_status fab_graph_set(reader *r, const fab_xml_stream *at, fab_graphml_meaning meaning, const char *text,
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
    case FAB_GRAPHML_LABEL: status = fab_graph_copy(at, e->label, text, "a label", err); break;
    case FAB_GRAPHML_KIND: status = fab_graph_copy(at, e->kind, text, "a kind", err); break;
    case FAB_GRAPHML_SERVER: status = fab_graph_copy(at, e->server, text, "a server", err); break;
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
    case FAB_GRAPHML_SOURCE_PORT: status = fab_graph_copy(at, e->port[0], text, "a port", err); break;
    case FAB_GRAPHML_TARGET_PORT: status = fab_graph_copy(at, e->port[1], text, "a port", err); break;
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
    FAB_FIRST(i, FAB_N_OF(WORDS), strcasecmp(text, WORDS[i].word) == 0);
    return i < FAB_N_OF(WORDS) ? WORDS[i].kind : FAB_NETWORK_UNKNOWN;
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
    r->own[index] = (fab_graph_own){.server = r->is_ours ? server : FAB_NETWORK_NONE};
    if (r->is_ours && node->kind == FAB_NETWORK_ADAPTER && server != FAB_NETWORK_NONE) {
        FAB_PASS(name_adapter(r, node, server, err));
        return FAB_OK;
    }
    FAB_PASS(e->label[0] != '\0' ? fab_network_text(r->net, e->label, strlen(e->label), &node->label, err) : FAB_OK);
    FAB_PASS(fab_network_ib_host(r->net, index, err));
    if (node->kind == FAB_NETWORK_ADAPTER && e->server[0] != '\0' && node->host == NULL) {
        FAB_PASS(fab_network_text(r->net, e->server, strlen(e->server), &node->host, err));
    }
    return FAB_OK;
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

/* The port of an end; adapters of our own export count theirs into the network. */
static const char *port_of(reader *r, uint32_t node, char port[FAB_GRAPH_ID]) {
    if (r->is_ours && r->net->nodes[node].kind == FAB_NETWORK_ADAPTER && port[0] != '\0') {
        (void)snprintf(port, FAB_GRAPH_ID, "%" PRIu32, ++r->own[node].ports);
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
        FAB_RETURN_IF(cable.end[i].node == FAB_NETWORK_NONE && inside[i] == FAB_NETWORK_NONE,
                      fab_xml_stream_wrong(at, err,
                                           "the %s of an edge, '%.60s', is no node that was declared before it",
                                           i == 0 ? "source" : "target", ids[i]));
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
    FAB_RETURN_IF(was_there && !e->is_directed, fab_xml_stream_wrong(at, err, "this cable stands in the file twice"));
    if (e->is_directed && !has_ports) {
        FAB_PASS(FAB_APPEND(r->one_way, r->n_one_way, r->one_way_capacity, err, r->net->n_cables - 1));
    }
    return FAB_OK;
}

void fab_graph_begin(reader *r, const fab_xml_stream *at, fab_graph_scope what) {
    element *e = &r->e;
    r->scope = what;
    e->label[0] = e->kind[0] = e->server[0] = e->port[0][0] = e->port[1][0] = '\0';
    e->rate_bps = e->length_m = 0;
    e->tier = 0;
    e->has = 0;
    e->line = fab_xml_stream_line(at);
}

fab_status fab_graph_start(reader *r, const fab_xml_stream *at, const char *edges, fab_error *err) {
    const char *direction = fab_xml_stream_attribute(at, edges);
    FAB_RETURN_IF(r->has_graph, fab_xml_stream_wrong(at, err, "a second graph is not read"));
    fab_graph_begin(r, at, FAB_GRAPH_GRAPH);
    r->directed = direction != NULL && strcmp(direction, "directed") == 0;
    r->has_graph = true;
    return FAB_OK;
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

/* Our own names first; LinkSpeedRaw is the Internet Topology Zoo's. */
static const struct {
    const char *domain, *name;
    fab_graphml_meaning meaning;
} NAMES[] = {
    {"graph", "program", FAB_GRAPHML_PROGRAM},
    {"graph", "view", FAB_GRAPHML_VIEW},
    {"node", "label", FAB_GRAPHML_LABEL},
    {"node", "name", FAB_GRAPHML_LABEL},
    {"node", "hostname", FAB_GRAPHML_LABEL},
    {"node", "kind", FAB_GRAPHML_KIND},
    {"node", "type", FAB_GRAPHML_KIND},
    {"node", "role", FAB_GRAPHML_KIND},
    {"node", "function", FAB_GRAPHML_KIND},
    {"node", "server", FAB_GRAPHML_SERVER},
    {"node", "host", FAB_GRAPHML_SERVER},
    {"node", "tier", FAB_GRAPHML_TIER},
    {"edge", "capacity_bps", FAB_GRAPHML_BPS},
    {"edge", "rate_bps", FAB_GRAPHML_BPS},
    {"edge", "bandwidth_bps", FAB_GRAPHML_BPS},
    {"edge", "LinkSpeedRaw", FAB_GRAPHML_BPS},
    {"edge", "rate", FAB_GRAPHML_RATE},
    {"edge", "speed", FAB_GRAPHML_RATE},
    {"edge", "bandwidth", FAB_GRAPHML_RATE},
    {"edge", "capacity", FAB_GRAPHML_RATE},
    {"edge", "length_m", FAB_GRAPHML_METRES},
    {"edge", "length", FAB_GRAPHML_LENGTH},
    {"edge", "src_port", FAB_GRAPHML_SOURCE_PORT},
    {"edge", "source_port", FAB_GRAPHML_SOURCE_PORT},
    {"edge", "dst_port", FAB_GRAPHML_TARGET_PORT},
    {"edge", "target_port", FAB_GRAPHML_TARGET_PORT},
    {"edge", "cables", FAB_GRAPHML_CABLES},
};

static bool is_key_for(const char *domain, const char *name) {
    return domain[0] == '\0' || strcmp(domain, "all") == 0 || strcmp(domain, name) == 0;
}

/* By its attr.name; domain: "node", "edge", "graph", "all" or "". */
static fab_graphml_meaning meaning_of_key(const char *domain, const char *name) {
    FAB_FIRST(i, FAB_N_OF(NAMES), is_key_for(domain, NAMES[i].domain) && strcasecmp(NAMES[i].name, name) == 0);
    return i < FAB_N_OF(NAMES) ? NAMES[i].meaning : FAB_GRAPHML_NOTHING;
}

fab_status fab_graph_add_key(reader *r, const fab_xml_stream *at, const char *domain, const char *id, const char *title,
                             fab_error *err) {
    FAB_RETURN_IF(r->n_keys == FAB_GRAPH_KEYS, fab_xml_stream_wrong(at, err, "more than %d keys", FAB_GRAPH_KEYS));
    FAB_RETURN_IF(fab_graph_find_key(r, id) != NULL, fab_xml_stream_wrong(at, err, "key '%.60s' is there already", id));
    FAB_PASS(FAB_GROW(r->keys, r->key_capacity, r->n_keys + 1, err));
    fab_graph_key *k = &r->keys[r->n_keys];
    *k = (fab_graph_key){.meaning = meaning_of_key(domain, title)};
    FAB_PASS(fab_network_text(r->net, domain, strlen(domain), &k->domain, err));
    FAB_PASS(fab_network_text(r->net, id, strlen(id), &k->id, err));
    r->n_keys++;
    r->scope = FAB_GRAPH_KEY;
    return FAB_OK;
}

const fab_graph_key *fab_graph_find_key(reader *r, const char *id) {
    for (size_t i = 0; i < r->n_keys; i++) {
        size_t k = (r->next_key + i) % r->n_keys;
        if (strcmp(r->keys[k].id, id) == 0) {
            r->next_key = k + 1;
            return &r->keys[k];
        }
    }
    return NULL;
}

static fab_status set_defaults(reader *r, const fab_xml_stream *at, const char *name, fab_error *err) {
    for (size_t i = 0; i < r->n_keys; i++) {
        if (r->keys[i].initial != NULL && is_key_for(r->keys[i].domain, name)) {
            FAB_PASS(fab_graph_set(r, at, r->keys[i].meaning, r->keys[i].initial, err));
        }
    }
    return FAB_OK;
}

fab_status fab_graph_end(reader *r, const fab_xml_stream *at, const char *name, fab_error *err) {
    FAB_PASS(set_defaults(r, at, name, err));
    FAB_PASS(strcmp(name, "node") == 0 ? end_node(r, at, err) : end_edge(r, at, err));
    r->scope = FAB_GRAPH_GRAPH;
    return FAB_OK;
}

/* --- behind the last tag ------------------------------------------------------------------------------------------ */

typedef struct way {
    uint32_t low, high; /* nodes */
    bool is_reverse;
    uint32_t cable;
} way;

FAB_ORDER_THREE(by_ends, way, low, high, cable);

/* Edges with a direction and no ports: one forward and one reverse are a cable. */
static fab_status join_ways(reader *r, fab_error *err) {
    size_t n = r->n_one_way;
    FAB_OWNED_NEW(way, ways, n, err);
    FAB_OWNED_NEW(bool, drop, r->net->n_cables, err);
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
    return FAB_OK;
}

/* Scale-up domains of several servers, as fab_network_of_fabric() tells of them. */
static fab_status add_domains(reader *r, fab_error *err) {
    const fab_network *in = r->inside;
    FAB_OWNED uint32_t *domain_of = NULL; /* [servers] */
    uint32_t n_servers = 0;
    uint32_t n_domains = 0;
    for (uint32_t i = 0; i < in->n_nodes; i++) {
        n_servers = r->gpu[i] != FAB_NETWORK_NONE && r->gpu[i] >= n_servers ? r->gpu[i] + 1 : n_servers;
    }
    if (n_servers > in->n_nodes) {
        return FAB_OK; /* numbers that no export of ours has */
    }
    FAB_PASS(FAB_NEW(domain_of, (size_t)n_servers + 1, err));
    memset(domain_of, 0xff, n_servers * sizeof *domain_of); /* servers of one GPU may be in none */
    FAB_OWNED_NEW(uint32_t, members, r->net->n_nodes, err);
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
        FAB_PASS(several ? fab_network_add_group(r->net, name, (size_t)length, members, n, err) : FAB_OK);
    }
    return FAB_OK;
}

fab_status fab_graph_read(const char *path, const fab_xml_visitor *visitor, fab_network *net, fab_error *err) {
    fab_status status = FAB_OK;
    reader r = {.net = net, .names_ports = true, .last_server = FAB_NETWORK_NONE};
    FAB_TRY(fab_network_new(path, &r.inside, err));
    FAB_TRY(fab_xml_stream_read(path, visitor, &r, err));
    FAB_TRY(!r.has_graph ? fab_fail_in_file(err, path, 1, 0, "there is no <graph> in it") : FAB_OK);
    FAB_TRY(r.n_one_way > 0 ? join_ways(&r, err) : FAB_OK);
    FAB_TRY(r.is_ours && r.inside->n_nodes > 0 ? add_domains(&r, err) : FAB_OK);
    net->has_ports = r.names_ports && net->n_cables > 0;
done:
    fab_network_free(r.inside);
    FAB_FREE_ALL(r.own, r.gpu, r.keys, r.one_way);
    return status;
}
