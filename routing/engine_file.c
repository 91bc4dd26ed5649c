/* file: forwarding tables as fab_tables_write writes them (format: routing/README.md). Everything that the walk relies
 * on is checked while reading: next hops are switches, no entry is missing, nothing runs in a circle. */
#include "engines.h"
#include "fab/memory.h"
#include "fab/str.h"
#include "fab/units.h"
#include "forwarding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 31)

typedef struct state {
    char *path;
    fab_forwarding tables;
} state;

typedef struct token {
    const char *text; /* "" at the end of a line */
    size_t length;
    size_t column;
} token;

typedef struct reader {
    fab_router *router;
    const fab_fabric *f;
    state *s;
    fab_str file;
    const char *at, *behind; /* what is left of the line */
    const char *line_start, *next_line;
    size_t line;
    uint32_t *line_of; /* shape [n_switches][n_leaves]: where the entries stand, 0 = nowhere */
    uint64_t n_entries;
} reader;

static fab_status wrong(const reader *r, size_t column, fab_status code, const char *what, token t, fab_error *err) {
    char where[sizeof err->where];
    (void)snprintf(where, sizeof where, "%.150s:%zu:%zu", r->s->path, r->line, column);
    char shown[48] = "";
    for (size_t i = 0; i < t.length && i < sizeof shown - 1; i++) {
        shown[i] = t.text[i] > ' ' && t.text[i] < 127 ? t.text[i] : '?';
    }
    return t.length > 0 ? fab_fail(err, code, where, "'%s' %s", shown, what) : fab_fail(err, code, where, "%s", what);
}

/* Moves to the next line that is neither blank nor a comment; false at the end of the file. A line ends with LF or
 * CRLF.
 */
static bool next_line(reader *r) {
    const char *end = r->file.data + r->file.length;
    while (r->next_line < end) {
        r->line++;
        r->line_start = r->next_line;
        const char *stop = memchr(r->line_start, '\n', (size_t)(end - r->line_start));
        r->behind = stop != NULL ? stop : end;
        r->next_line = stop != NULL ? stop + 1 : end;
        if (r->behind > r->line_start && r->behind[-1] == '\r') {
            r->behind--;
        }
        r->at = r->line_start;
        while (r->at < r->behind && (*r->at == ' ' || *r->at == '\t')) {
            r->at++;
        }
        if (r->at < r->behind && *r->at != '#') {
            return true;
        }
    }
    r->at = r->behind = end;
    return false;
}

static token next_token(reader *r) {
    while (r->at < r->behind && (*r->at == ' ' || *r->at == '\t')) {
        r->at++;
    }
    token t = {.text = r->at, .column = (size_t)(r->at - r->line_start) + 1};
    while (r->at < r->behind && *r->at != ' ' && *r->at != '\t') {
        r->at++;
    }
    t.length = (size_t)(r->at - t.text);
    return t;
}

/* Digits only; false where it is none or too large. */
static bool read_number(token t, uint64_t *out) {
    uint64_t n = 0;
    for (size_t i = 0; i < t.length; i++) {
        if (t.text[i] < '0' || t.text[i] > '9' || i > 17) {
            return false;
        }
        n = n * 10 + (uint64_t)(t.text[i] - '0');
    }
    *out = n;
    return t.length > 0;
}

static fab_status read_switch(const reader *r, token t, fab_node_id *out, fab_error *err) {
    const fab_fabric *f = r->f;
    for (uint32_t tier = 1; tier <= f->n_tiers; tier++) {
        const char *name = fab_tier_name(f->wiring, tier);
        size_t n = strlen(name);
        token number = {.text = t.text + n + 1, .length = t.length - n - 1};
        uint64_t i = 0;
        if (t.length < n + 2 || memcmp(t.text, name, n) != 0 || t.text[n] != '-' || !read_number(number, &i) ||
            i >= f->first_of_tier[tier + 1] - f->first_of_tier[tier]) {
            continue;
        }
        *out = f->first_of_tier[tier] + (uint32_t)i;
        return FAB_OK;
    }
    return wrong(r, t.column, FAB_EINPUT,
                 t.length > 0 ? "is no switch of this fabric" : "expected the name of a switch", t, err);
}

static fab_status expect_line(reader *r, const char *text, fab_error *err) {
    char what[160];
    if (next_line(r) && (size_t)(r->behind - r->at) == strlen(text) && memcmp(r->at, text, strlen(text)) == 0) {
        return FAB_OK;
    }
    token found = {.text = r->at, .length = (size_t)(r->behind - r->at)};
    if (found.length > 12 && memcmp(found.text, "Unicast lids", 12) == 0) {
        return wrong(r, 1, FAB_EUNSUPPORTED,
                     "a dump of OpenSM names LIDs and GUIDs, which only an imported fabric has; this one is built",
                     (token){0}, err);
    }
    (void)snprintf(what, sizeof what, "where '%s' was expected", text);
    if (found.length == 0) {
        (void)snprintf(what, sizeof what, "ends where '%s' was expected", text);
    }
    return wrong(r, 1, FAB_EINPUT, what, found, err);
}

/* The next hop that an entry names. `-` is no route, on purpose. */
static fab_status read_entry(const reader *r, fab_node_id v, token t, fab_link_id *out, fab_error *err) {
    char what[96];
    char name[32];
    uint64_t port = 0;
    *out = FAB_NONE;
    if (t.length == 1 && t.text[0] == '-') {
        return FAB_OK;
    }
    if (memchr(t.text, ',', t.length) != NULL) {
        return wrong(r, t.column, FAB_EUNSUPPORTED,
                     "is a group of next hops; engine file takes one port per destination", t, err);
    }
    if (!read_number(t, &port)) {
        return wrong(r, t.column, FAB_EINPUT, "is neither a port number nor -", t, err);
    }
    fab_link_id link = port <= UINT16_MAX ? fab_link_at_port(r->f, v, (uint32_t)port) : FAB_NONE;
    if (link == FAB_NONE) {
        uint32_t behind = r->f->out_first[v + 1];
        uint32_t last = behind > r->f->out_first[v] ? r->f->port[r->f->out_link[behind - 1]] : 0;
        (void)snprintf(what, sizeof what, "is no port in use of %s, whose last is %u", fab_node_name(r->f, v, name),
                       last);
        return wrong(r, t.column, FAB_EINPUT, what, t, err);
    }
    if (fab_class_of(r->f, link)->kind != FAB_LINK_FABRIC) {
        (void)snprintf(what, sizeof what, "leads to %s; a next hop is a switch",
                       fab_node_name(r->f, fab_head(r->f, link), name));
        return wrong(r, t.column, FAB_EINPUT, what, t, err);
    }
    *out = link;
    return FAB_OK;
}

/* Entries of switch v for the NIC ports of a leaf, by port; a single one serves them all. */
static fab_status read_entries(reader *r, fab_node_id v, uint32_t leaf, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = r->f;
    fab_node_id to = r->router->next_hops->leaf_node[leaf];
    fab_link_id link = FAB_NONE;
    token t = next_token(r);
    const char *before = r->at;
    bool shared = next_token(r).length == 0;
    r->at = before;
    for (uint32_t k = f->out_first[to]; k < f->out_first[to + 1]; k++) {
        uint32_t port = f->port[f->out_link[k]];
        if (fab_class_of(f, f->out_link[k])->kind != FAB_LINK_ACCESS) {
            continue;
        }
        if (t.length == 0) {
            char what[96];
            char name[32];
            (void)snprintf(what, sizeof what, "no entry for port %u of %s", port, fab_node_name(f, to, name));
            return wrong(r, t.column, FAB_EINPUT, what, (token){0}, err);
        }
        FAB_TRY(read_entry(r, v, t, &link, err));
        if (link != FAB_NONE) {
            fab_forwarding_set(f, &r->s->tables, leaf * r->router->port_stride + port - 1, link);
        }
        t = shared ? t : next_token(r);
    }
    if (!shared && t.length > 0) {
        status = wrong(r, t.column, FAB_EINPUT, "is more than the leaf has NIC ports", t, err);
    }
done:
    return status;
}

static fab_status read_line(reader *r, token first, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_next_hops *t = r->router->next_hops;
    uint32_t base = r->f->first[FAB_NODE_SWITCH];
    fab_node_id v = 0;
    fab_node_id to = 0;
    FAB_TRY(read_switch(r, first, &v, err));
    token second = next_token(r);
    FAB_TRY(read_switch(r, second, &to, err));
    uint32_t leaf = t->leaf_index[to - base];
    if (leaf == FAB_NONE) {
        status = wrong(r, second.column, FAB_EINPUT, "has no NIC, so it is no destination", second, err);
        goto done;
    }
    if (v == to) {
        status = wrong(r, second.column, FAB_EINPUT, "is the switch itself", second, err);
        goto done;
    }
    uint32_t *line = &r->line_of[(size_t)(v - base) * t->n_leaves + leaf];
    if (*line != 0) {
        char what[64];
        (void)snprintf(what, sizeof what, "stands in line %u already", *line);
        status = wrong(r, first.column, FAB_EINPUT, what,
                       (token){.text = first.text, .length = (size_t)(second.text + second.length - first.text)}, err);
        goto done;
    }
    *line = r->line < UINT32_MAX ? (uint32_t)r->line : UINT32_MAX;
    r->n_entries++;
    FAB_TRY(read_entries(r, v, leaf, err));
done:
    return status;
}

/* "end N" behind N entries, and nothing behind it. */
static fab_status read_end(reader *r, fab_error *err) {
    uint64_t n = 0;
    char what[96];
    token count = next_token(r);
    if (!read_number(count, &n) || n != r->n_entries) {
        (void)snprintf(what, sizeof what, "is not the number of lines read, %llu", (unsigned long long)r->n_entries);
        return wrong(r, count.column, FAB_EINPUT, what, count, err);
    }
    token more = next_token(r);
    if (more.length > 0 || next_line(r)) {
        more = more.length > 0 ? more : next_token(r);
        return wrong(r, more.column, FAB_EINPUT, "stands behind the end", more, err);
    }
    return FAB_OK;
}

/* Every pair that the fabric connects needs a line, if only to say that there is no route. */
static fab_status check_complete(const reader *r, fab_error *err) {
    const fab_next_hops *t = r->router->next_hops;
    for (uint32_t i = 0; i < fab_n_switches(r->f); i++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            uint32_t reached = 0;
            (void)fab_next_hops_get(t, i, leaf, &reached);
            if (reached > 0 && r->line_of[(size_t)i * t->n_leaves + leaf] == 0) {
                char a[32];
                char b[32];
                return fab_fail(err, FAB_EINPUT, r->s->path, "no line for %s to %s; '-' says that there is no route",
                                fab_node_name(r->f, r->f->first[FAB_NODE_SWITCH] + i, a),
                                fab_node_name(r->f, t->leaf_node[leaf], b));
            }
        }
    }
    return FAB_OK;
}

static fab_status check_loops(reader *r, fab_error *err) {
    fab_node_id v = 0;
    uint32_t d = 0;
    uint32_t *mark = NULL;
    fab_status status = FAB_NEW(mark, fab_n_switches(r->f), err);
    if (status == FAB_OK && fab_forwarding_find_loop(r->router, &r->s->tables, mark, &v, &d)) {
        const fab_next_hops *t = r->router->next_hops;
        uint32_t leaf = d / r->router->port_stride;
        char what[160];
        char a[32];
        char b[32];
        (void)snprintf(what, sizeof what, "packets at %s for port %u of %s run in a circle", fab_node_name(r->f, v, a),
                       d % r->router->port_stride + 1, fab_node_name(r->f, t->leaf_node[leaf], b));
        r->line = r->line_of[(size_t)(v - r->f->first[FAB_NODE_SWITCH]) * t->n_leaves + leaf];
        status = wrong(r, 1, FAB_EINPUT, what, (token){0}, err);
    }
    free(mark);
    return status;
}

static fab_status read_tables(reader *r, fab_error *err) {
    fab_status status = FAB_OK;
    char header[FAB_TABLES_HEADER];
    const char *nul = memchr(r->file.data, '\0', r->file.length);
    if (nul != NULL) {
        const char *start = r->file.data;
        for (const char *c = start; c < nul; c++) {
            start = *c == '\n' ? c + 1 : start;
            r->line += *c == '\n';
        }
        r->line++;
        status = wrong(r, (size_t)(nul - start) + 1, FAB_EINPUT, "a zero byte: this is no text file", (token){0}, err);
        goto done;
    }
    FAB_TRY(expect_line(r, FAB_TABLES_MAGIC, err));
    FAB_TRY(expect_line(r, fab_tables_fabric_line(r->f, header), err));
    for (;;) {
        if (!next_line(r)) {
            status = wrong(r, 1, FAB_EINPUT, "the file is cut off: there is no line 'end N'", (token){0}, err);
            goto done;
        }
        token first = next_token(r);
        if (first.length == 3 && memcmp(first.text, "end", 3) == 0) {
            break;
        }
        FAB_TRY(read_line(r, first, err));
    }
    FAB_TRY(read_end(r, err));
    FAB_TRY(check_complete(r, err));
    FAB_TRY(check_loops(r, err));
done:
    return status;
}

static fab_status set(fab_router *router, const char *key, const char *value, fab_error *err) {
    state *s = router->state;
    (void)key;
    free(s->path);
    s->path = fab_strdup(value, err);
    return s->path != NULL ? FAB_OK : FAB_ENOMEM;
}

static fab_status prepare(fab_router *router, fab_error *err) {
    fab_status status = FAB_OK;
    reader r = {.router = router, .f = router->fabric, .s = router->state};
    if (r.s->path[0] == '\0') {
        FAB_FAIL(err, FAB_EINPUT, NULL, "needs path=FILE, as 'fabriscope route --dump FILE' writes it");
    }
    FAB_TRY(fab_read_file(r.s->path, MAX_BYTES, &r.file, err));
    r.next_line = r.line_start = r.at = r.behind = r.file.data;
    FAB_TRY(fab_forwarding_init(router, &r.s->tables, err));
    FAB_TRY(FAB_NEW(r.line_of, (size_t)fab_n_switches(r.f) * router->next_hops->n_leaves, err));
    FAB_TRY(read_tables(&r, err));
done:
    free(r.line_of);
    fab_str_release(&r.file);
    return status;
}

static void release(fab_router *router) {
    state *s = router->state;
    free(s->path);
    free(s->tables.entry);
}

static fab_link_id next(const fab_router *router, fab_node_id v, const fab_hop_key *key) {
    const state *s = router->state;
    return fab_forwarding_get(router->fabric, &s->tables, v, key->destination);
}

static const fab_engine_option OPTIONS[] = {
    {"path", "", "the file, as 'route --dump' writes it", false},
    {NULL, NULL, NULL, false},
};

const fab_engine fab_engine_file = {
    .name = "file",
    .summary = "forwarding tables from a file",
    .options = OPTIONS,
    .by_destination = true,
    .state_size = sizeof(state),
    .set = set,
    .prepare = prepare,
    .release = release,
    .next = next,
    .explain = fab_forwarding_explain,
};
