/* topology.dot of PTM and NVIDIA Air: the part of Graphviz' language that they use. A graph without directions, nodes
 * and edges with attributes, ports behind a colon; no subgraphs. Source: graphviz.org/doc/info/lang.html, ptmd(8). */
#include "network_internal.h"

#include <strings.h>

#define ID 256

typedef enum mark { END, NAME, EDGE = '-', OTHER = '?' } mark; /* else the character itself */

typedef struct token {
    mark mark;
    bool quoted;
    char text[ID]; /* of a name */
    size_t line, column;
} token;

typedef struct reader {
    fab_text *in;
    fab_network *net;
    token next;
    bool names_ports;
} reader;

/* A place that a statement left a line ago is still the place. */
static fab_status ptm_wrong(const reader *r, const token *at, const char *what, fab_error *err) {
    fab_text place = *r->in;
    place.line = at->line;
    fab_token t = {.text = at->text, .length = strlen(at->text), .column = at->column};
    return fab_text_refuse(&place, t, err, "%s", what);
}

static fab_status ptm_expected(const reader *r, const char *what, fab_error *err) {
    char text[128];
    FAB_FORMAT(text, "%swhere %s was expected", r->next.mark == END ? "the file ends " : "", what);
    return ptm_wrong(r, &r->next, text, err);
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           (unsigned char)c >= 128;
}

/* Moves behind a comment that may go over several lines. */
static fab_status skip_comment(reader *r, fab_error *err) {
    token from = r->next;
    fab_text *in = r->in;
    in->at += 2;
    for (;;) {
        for (; in->behind - in->at >= 2; in->at++) {
            if (in->at[0] == '*' && in->at[1] == '/') {
                in->at += 2;
                return FAB_OK;
            }
        }
        if (!fab_text_next(in)) {
            fab_status status = fab_text_end(in, err);
            return status != FAB_OK ? status : ptm_wrong(r, &from, "a comment that does not end", err);
        }
    }
}

/* Stands before the next token; in->at == in->behind at the end of the file. */
static fab_status ptm_skip_blanks(reader *r, fab_error *err) {
    fab_text *in = r->in;
    for (;;) {
        while (in->at < in->behind && (*in->at == ' ' || *in->at == '\t' || *in->at == '\r' || *in->at == '\f')) {
            in->at++;
        }
        size_t left = (size_t)(in->behind - in->at);
        if (left == 0 || (left > 1 && in->at[0] == '/' && in->at[1] == '/')) {
            if (!fab_text_next(in)) {
                return fab_text_end(in, err);
            }
        } else if (left > 1 && in->at[0] == '/' && in->at[1] == '*') {
            r->next = (token){.line = in->line, .column = fab_text_rest(in).column};
            FAB_PASS(skip_comment(r, err));
        } else {
            return FAB_OK;
        }
    }
    return FAB_OK;
}

static fab_status put_char(const reader *r, token *to, size_t *n, char c, fab_error *err) {
    if (*n + 1 >= sizeof to->text) {
        to->text[40] = '\0';
        return ptm_wrong(r, to, "... is longer than 255 bytes", err);
    }
    to->text[(*n)++] = c;
    return FAB_OK;
}

/* "leaf ""1": a backslash stands before a quote, else for itself. */
static fab_status read_quoted(const reader *r, token *to, fab_error *err) {
    fab_text *in = r->in;
    size_t n = 0;
    for (in->at++; in->at < in->behind && *in->at != '"'; in->at++) {
        in->at += *in->at == '\\' && in->at + 1 < in->behind && in->at[1] == '"' ? 1 : 0;
        FAB_PASS(put_char(r, to, &n, *in->at, err));
    }
    to->text[n] = '\0';
    if (in->at == in->behind) {
        to->text[0] = '\0';
        FAB_PASS(ptm_wrong(r, to, "a quote is not closed on its line", err));
    }
    in->at++;
    return FAB_OK;
}

static fab_status advance(reader *r, fab_error *err) {
    fab_text *in = r->in;
    token *t = &r->next;
    size_t n = 0;
    FAB_PASS(ptm_skip_blanks(r, err));
    t->mark = END;
    t->quoted = false;
    t->text[0] = '\0';
    t->line = in->line > 0 ? in->line : 1;
    if (in->at == in->behind) {
        t->column = 1;
        return FAB_OK;
    }
    t->column = fab_text_rest(in).column;
    char c = *in->at;
    bool is_number = c == '-' && in->at + 1 < in->behind && in->at[1] != '-' && is_name(in->at[1]);
    if (c == '"') {
        t->mark = NAME;
        t->quoted = true;
        FAB_PASS(read_quoted(r, t, err));
    } else if (is_name(c) || is_number) {
        t->mark = NAME;
        do {
            FAB_PASS(put_char(r, t, &n, *in->at++, err));
        } while (in->at < in->behind && is_name(*in->at));
        t->text[n] = '\0';
    } else {
        bool is_edge = c == '-' && in->at + 1 < in->behind && in->at[1] == '-';
        t->mark = is_edge ? EDGE : strchr("{}[];,:=", c) != NULL && c != '\0' ? (mark)c : OTHER;
        t->text[0] = c;
        t->text[1] = '\0';
        if (c == '-' && in->at + 1 < in->behind) {
            t->text[1] = in->at[1];
            t->text[2] = '\0';
        }
        in->at += is_edge ? 2 : 1;
    }
    return FAB_OK;
}

static bool is_at(const reader *r, char character) {
    return r->next.mark == (mark)character;
}

static bool ptm_is_word(const token *t, const char *word) {
    return t->mark == NAME && !t->quoted && strcasecmp(t->text, word) == 0;
}

static fab_status take_name(reader *r, const char *what, char *out, fab_error *err) {
    if (r->next.mark != NAME) {
        return r->next.text[0] == '<' ? ptm_wrong(r, &r->next, "begins HTML, which is not read", err)
                                      : ptm_expected(r, what, err);
    }
    if (out != NULL) {
        memcpy(out, r->next.text, ID);
    }
    return advance(r, err);
}

/* What NVIDIA Air and topology_converter call the function of a node. */
static void set_function(fab_network_node *node, const char *function) {
    static const struct {
        const char *name;
        fab_network_kind kind;
        uint32_t tier;
    } FUNCTIONS[] = {{"host", FAB_NETWORK_HOST, 0},          {"server", FAB_NETWORK_HOST, 0},
                     {"oob-server", FAB_NETWORK_HOST, 0},    {"leaf", FAB_NETWORK_SWITCH, 1},
                     {"tor", FAB_NETWORK_SWITCH, 1},         {"exit", FAB_NETWORK_SWITCH, 1},
                     {"spine", FAB_NETWORK_SWITCH, 2},       {"superspine", FAB_NETWORK_SWITCH, 3},
                     {"super-spine", FAB_NETWORK_SWITCH, 3}, {"oob-switch", FAB_NETWORK_SWITCH, 0}};
    for (size_t i = 0; i < FAB_N_OF(FUNCTIONS); i++) {
        if (strcasecmp(FUNCTIONS[i].name, function) == 0) {
            node->kind = FUNCTIONS[i].kind;
            node->tier = FUNCTIONS[i].tier;
        }
    }
}

/* [a=b, c=d; e] [f=g]; `node` is FAB_NETWORK_NONE where they are no node's. */
static fab_status ptm_read_attributes(reader *r, uint32_t node, fab_error *err) {
    while (is_at(r, '[')) {
        FAB_PASS(advance(r, err));
        while (!is_at(r, ']')) {
            char key[ID] = "";
            char value[ID] = "";
            FAB_PASS(take_name(r, "an attribute or ]", key, err));
            if (is_at(r, '=')) {
                FAB_PASS(advance(r, err));
                FAB_PASS(take_name(r, "the value of an attribute", value, err));
            }
            if (node != FAB_NETWORK_NONE && strcmp(key, "function") == 0) {
                set_function(&r->net->nodes[node], value);
            }
            FAB_PASS(is_at(r, ',') || is_at(r, ';') ? advance(r, err) : FAB_OK);
        }
        FAB_PASS(advance(r, err));
    }
    return FAB_OK;
}

/* name[:port[:compass]] with its name passed already; an end whose port stands in `port`. */
static fab_status read_end(reader *r, const char *name, char port[ID], fab_network_end *out, fab_error *err) {
    out->line = r->next.line;
    port[0] = '\0';
    FAB_RETURN_IF(name[0] == '\0', ptm_wrong(r, &r->next, "follows a node without a name", err));
    FAB_PASS(fab_network_add_node(r->net, name, strlen(name), r->next.line, &out->node, err));
    if (is_at(r, ':')) {
        FAB_PASS(advance(r, err));
        FAB_PASS(take_name(r, "a port", port, err));
    }
    if (is_at(r, ':')) {
        FAB_PASS(advance(r, err));
        FAB_PASS(take_name(r, "a point of the compass", NULL, err));
    }
    out->port = port[0] != '\0' ? port : NULL;
    return FAB_OK;
}

static fab_status refuse_subgraph(const reader *r, fab_error *err) {
    return ptm_wrong(r, &r->next, "begins a subgraph, which a wiring plan has none of", err);
}

/* node [attributes], or node -- node -- ... [attributes] */
static fab_status read_edges(reader *r, const token *first, fab_error *err) {
    char ports[2][ID];
    fab_network_cable cable = {.rate_bps = 0};
    uint32_t near = 0;
    bool is_edge = false;
    FAB_PASS(read_end(r, first->text, ports[0], &cable.end[0], err));
    while (r->next.mark == EDGE) {
        char name[ID] = "";
        bool was_there = false;
        token place = r->next;
        uint32_t far = near ^ 1;
        FAB_PASS(advance(r, err));
        FAB_PASS(is_at(r, '{') || ptm_is_word(&r->next, "subgraph") ? refuse_subgraph(r, err) : FAB_OK);
        FAB_PASS(take_name(r, "the other node of a cable", name, err));
        FAB_PASS(read_end(r, name, ports[far], &cable.end[far], err));
        cable.end[near].line = cable.end[far].line = place.line;
        FAB_PASS(fab_network_add_cable(r->net, &cable, &was_there, err));
        if (was_there) {
            place.text[0] = '\0';
            FAB_PASS(ptm_wrong(r, &place, "this cable stands in the file twice", err));
        }
        r->names_ports = r->names_ports && cable.end[0].port != NULL && cable.end[1].port != NULL;
        near = far;
        is_edge = true;
    }
    return ptm_read_attributes(r, is_edge ? FAB_NETWORK_NONE : cable.end[0].node, err);
}

static fab_status read_statement(reader *r, fab_error *err) {
    token first = r->next;
    FAB_RETURN_IF(is_at(r, '{') || ptm_is_word(&first, "subgraph"), refuse_subgraph(r, err));
    FAB_PASS(take_name(r, "a node, a cable or }", NULL, err));
    if (is_at(r, '=')) {
        FAB_PASS(advance(r, err));
        FAB_PASS(take_name(r, "a value", NULL, err));
    } else if (is_at(r, '[') &&
               (ptm_is_word(&first, "graph") || ptm_is_word(&first, "node") || ptm_is_word(&first, "edge"))) {
        FAB_PASS(ptm_read_attributes(r, FAB_NETWORK_NONE, err));
    } else {
        FAB_PASS(read_edges(r, &first, err));
    }
    FAB_PASS(is_at(r, ';') ? advance(r, err) : FAB_OK);
    return FAB_OK;
}

static fab_status read_graph(reader *r, fab_error *err) {
    FAB_PASS(advance(r, err));
    FAB_PASS(ptm_is_word(&r->next, "strict") ? advance(r, err) : FAB_OK);
    FAB_RETURN_IF(ptm_is_word(&r->next, "digraph"),
                  ptm_wrong(r, &r->next, "has directions; cables have none: expected graph", err));
    FAB_RETURN_IF(!ptm_is_word(&r->next, "graph"), ptm_expected(r, "graph", err));
    FAB_PASS(advance(r, err));
    FAB_PASS(r->next.mark == NAME ? advance(r, err) : FAB_OK);
    FAB_RETURN_IF(!is_at(r, '{'), ptm_expected(r, "{", err));
    FAB_PASS(advance(r, err));
    while (!is_at(r, '}')) {
        FAB_PASS(read_statement(r, err));
    }
    FAB_PASS(advance(r, err));
    FAB_RETURN_IF(r->next.mark != END, ptm_expected(r, "the end of the file", err));
    return FAB_OK;
}

static fab_status read_ptm(fab_text *in, fab_network *net, fab_error *err) {
    reader r = {.in = in, .net = net, .names_ports = true};
    FAB_PASS(read_graph(&r, err));
    net->has_ports = r.names_ports && net->n_cables > 0;
    return FAB_OK;
}

/* The first word that is no comment. */
const fab_network_format fab_network_ptm_dot = {
    .name = "ptm",
    .summary = "wiring plan of PTM and NVIDIA Air: topology.dot",
    .begins = "^([ \t\r\n]|(#|//)[^\n]*\n|/\\*([^*]|\\*+[^*/])*\\*+/)*(graph|strict|digraph)[] \t\r\n\"{}[/#;:<>-]",
    .ignores_case = true,
    .text = read_ptm};
