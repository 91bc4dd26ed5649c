/* Forwarding tables from a file: one parser for tables of one next hop per destination and for groups. Everything that
 * routing relies on is checked here, so that walking and splitting have no checks of their own. */
#include "tables_read.h"
#include "engines/engines.h"
#include "fab/box_files.h"
#include "fab/fabric_parse.h"
#include "fab/split.h"
#include "hop_order.h"

/* Last entry that was a group: most lines of a switch repeat it. */
typedef struct last_group {
    fab_token text;
    fab_node_id v;
    uint32_t group;
} last_group;

typedef struct reader {
    const fab_router *router;
    const fab_fabric *f;
    const fab_next_hops *t; /* minimal ones: leaves, and which of them a switch reaches */
    fab_text in;
    fab_weights weights;
    fab_forwarding *single; /* one of the two is in use: entries by port, or */
    fab_group_builder *groups;
    fab_forwarding forwarding; /* what they point to */
    fab_group_builder builder;
    uint32_t *line_of; /* shape [n_switches][n_leaves]: where the entries stand, 0 = nowhere */
    uint64_t n_entries;
    size_t first_group; /* line, 0 = none */
    last_group last;
    fab_link_id *links; /* of the group at hand */
    double *weight;
    size_t links_capacity, weight_capacity;
} reader;

static fab_status read_switch(const reader *r, fab_token t, fab_node_id *out, fab_error *err) {
    char name[FAB_NODE_NAME_SIZE] = "";
    if (t.length < sizeof name) {
        memcpy(name, t.text, t.length);
        if (fab_node_parse(r->f, name, out, NULL) == FAB_OK && fab_kind_of(r->f, *out) == FAB_NODE_SWITCH) {
            return FAB_OK;
        }
    }
    return fab_text_refuse(&r->in, t, err, "%s",
                           t.length > 0 ? "is no switch of this fabric" : "expected the name of a switch");
}

static fab_status expect_line(reader *r, const char *text, fab_error *err) {
    bool is_there = fab_text_next(&r->in);
    fab_token found = fab_text_rest(&r->in);
    found.column = 1;
    return is_there && fab_token_is(found, text) ? FAB_OK
                                                 : fab_text_refuse(&r->in, found, err, "%swhere '%s' was expected",
                                                                   found.length > 0 ? "" : "ends ", text);
}

/* The next hop behind a port. */
static fab_status read_port(const reader *r, fab_node_id v, fab_token t, fab_link_id *out, fab_error *err) {
    uint64_t port = 0;
    fab_link_id link = FAB_NONE;
    FAB_RETURN_IF(!fab_token_number(t, &port),
                  fab_text_refuse(&r->in, t, err, "%s",
                                  t.length > 0 ? "is neither a port number nor -" : "expected a port number"));
    FAB_PASS(fab_text_port(&r->in, r->f, v, t, port, &link, err));
    FAB_PASS(fab_text_next_hop(&r->in, r->f, t, link, err));
    *out = link;
    return FAB_OK;
}

/* `-` is no route, on purpose. */
static bool is_no_route(fab_token t) {
    return t.length == 1 && t.text[0] == '-';
}

/* Entries of switch v for the NIC ports of a leaf, by port; a single one serves them all. */
static fab_status read_entries(reader *r, fab_node_id v, uint32_t leaf, fab_error *err) {
    const fab_fabric *f = r->f;
    fab_node_id to = r->t->leaf_node[leaf];
    fab_link_id link = FAB_NONE;
    fab_token t = fab_text_token(&r->in);
    const char *before = r->in.at;
    bool shared = fab_text_token(&r->in).length == 0;
    r->in.at = before;
    for (uint32_t k = f->out_first[to]; k < f->out_first[to + 1]; k++) {
        uint32_t port = f->port[f->out_link[k]];
        if (fab_class_of(f, f->out_link[k])->kind != FAB_LINK_ACCESS) {
            continue;
        }
        if (t.length == 0) {
            return fab_text_refuse(&r->in, t, err, "no entry for port %u of %s", port, FAB_SAY_NODE(f, to));
        }
        if (!is_no_route(t)) {
            FAB_PASS(read_port(r, v, t, &link, err));
            fab_forwarding_set(f, r->single, leaf * r->router->port_stride + port - 1, link);
        }
        t = shared ? t : fab_text_token(&r->in);
    }
    FAB_RETURN_IF(!shared && t.length > 0, fab_text_refuse(&r->in, t, err, "is more than the leaf has NIC ports"));
    return FAB_OK;
}

/* A decimal number above 0, and what the engine makes of it. */
static fab_status read_weight(const reader *r, fab_token t, double *out, fab_error *err) {
    size_t n = 0;
    while (n < t.length && strchr("0123456789.eE+-", t.text[n]) != NULL) { /* the text has no zero byte */
        n++;
    }
    char *stop = NULL;
    double weight = n == t.length && n > 0 ? strtod(t.text, &stop) : 0;
    FAB_RETURN_IF(stop != t.text + t.length || !(weight > 0) || !isfinite(weight),
                  fab_text_refuse(&r->in, t, err, "%s", t.length > 0 ? "is no weight above 0" : "expected a weight"));
    FAB_RETURN_IF(r->weights == FAB_WEIGHTS_NONE,
                  fab_text_unable(&r->in, t, err,
                                  "is a weight; engine %s sets its own shares, engine file splits by weights",
                                  r->router->engine->name));
    FAB_RETURN_IF(r->weights == FAB_WEIGHTS_WHOLE && (weight > FAB_WEIGHTS_MOST || weight != floor(weight)),
                  fab_text_unable(&r->in, t, err,
                                  "is no whole number up to %u, as a hash needs; engine file splits by weights",
                                  FAB_WEIGHTS_MOST));
    *out = weight;
    return FAB_OK;
}

/* PORT or PORT*WEIGHT, the i-th of its group. */
static fab_status read_member(reader *r, fab_node_id v, fab_token t, uint32_t i, fab_error *err) {
    const char *star = memchr(t.text, '*', t.length);
    fab_token port = t;
    port.length = star != NULL ? (size_t)(star - t.text) : t.length;
    FAB_PASS(FAB_GROW(r->links, r->links_capacity, (size_t)i + 1, err));
    FAB_PASS(FAB_GROW(r->weight, r->weight_capacity, (size_t)i + 1, err));
    FAB_PASS(read_port(r, v, port, &r->links[i], err));
    FAB_RETURN_IF(i > 0 && r->f->port[r->links[i - 1]] >= r->f->port[r->links[i]],
                  fab_text_refuse(&r->in, port, err, "does not ascend: the ports of a group do, each stands once"));
    if (star != NULL) {
        fab_token weight = {
            .text = star + 1, .length = t.length - port.length - 1, .column = t.column + port.length + 1};
        FAB_PASS(read_weight(r, weight, &r->weight[i], err));
    } else {
        r->weight[i] = 0;
    }
    FAB_RETURN_IF(
        i > 0 && (r->weight[i - 1] > 0) != (r->weight[i] > 0),
        fab_text_refuse(&r->in, t, err, "differs from the member before: all of a group have a weight, or none"));
    return FAB_OK;
}

static fab_status check_sum(const reader *r, fab_token t, uint32_t count, fab_error *err) {
    FAB_SUM(double, sum, i, count, r->weight[i]);
    FAB_RETURN_IF(
        r->weights == FAB_WEIGHTS_WHOLE && sum > FAB_WEIGHTS_MOST,
        fab_text_unable(&r->in, t, err, "has weights of %.0f together; a hash takes up to %u", sum, FAB_WEIGHTS_MOST));
    return isfinite(sum) ? FAB_OK : fab_text_refuse(&r->in, t, err, "has weights without a finite sum");
}

/* The group of switch v for all NIC ports of a leaf. */
static fab_status read_group(reader *r, fab_node_id v, uint32_t leaf, fab_error *err) {
    fab_token t = fab_text_token(&r->in);
    fab_token more = fab_text_token(&r->in);
    uint32_t count = 0;
    FAB_RETURN_IF(t.length == 0, fab_text_refuse(&r->in, t, err, "expected a group of ports"));
    if (more.length > 0) {
        return r->first_group != 0
                   ? fab_text_refuse(&r->in, more, err,
                                     "is a second entry, but line %zu has a group, which serves a whole leaf",
                                     r->first_group)
                   : fab_text_refuse(&r->in, more, err, "is a second entry; groups serve all NIC ports of a leaf");
    }
    if (is_no_route(t)) {
        return FAB_OK;
    }
    const last_group *last = &r->last;
    if (last->group == 0 || last->v != v || last->text.length != t.length ||
        memcmp(last->text.text, t.text, t.length) != 0) {
        for (fab_token rest = t; rest.text <= t.text + t.length; count++) {
            size_t left = (size_t)(t.text + t.length - rest.text);
            const char *comma = memchr(rest.text, ',', left);
            rest.length = comma != NULL ? (size_t)(comma - rest.text) : left;
            FAB_PASS(read_member(r, v, rest, count, err));
            rest.text += rest.length + 1;
            rest.column += rest.length + 1;
        }
        FAB_PASS(check_sum(r, t, count, err));
        r->last = (last_group){.text = t, .v = v};
        FAB_PASS(fab_group_builder_add(r->groups, r->links, r->weight[0] > 0 ? r->weight : NULL, count, &r->last.group,
                                       err));
    }
    fab_group_builder_set(r->groups, v - r->f->first[FAB_NODE_SWITCH], leaf, r->last.group);
    return FAB_OK;
}

static fab_status tables_read_line(reader *r, fab_token first, fab_error *err) {
    const fab_next_hops *t = r->t;
    uint32_t base = r->f->first[FAB_NODE_SWITCH];
    fab_node_id v = 0;
    fab_node_id to = 0;
    FAB_PASS(read_switch(r, first, &v, err));
    fab_token second = fab_text_token(&r->in);
    FAB_PASS(read_switch(r, second, &to, err));
    uint32_t leaf = t->leaf_index[to - base];
    FAB_RETURN_IF(leaf == FAB_NONE, fab_text_refuse(&r->in, second, err, "has no NIC, so it is no destination"));
    FAB_RETURN_IF(v == to, fab_text_refuse(&r->in, second, err, "is the switch itself"));
    uint32_t *line = &r->line_of[(size_t)(v - base) * t->n_leaves + leaf];
    if (*line != 0) {
        first.length = (size_t)(second.text + second.length - first.text);
        return fab_text_refuse(&r->in, first, err, "stands in line %u already", *line);
    }
    *line = r->in.line < UINT32_MAX ? (uint32_t)r->in.line : UINT32_MAX;
    r->n_entries++;
    return r->single != NULL ? read_entries(r, v, leaf, err) : read_group(r, v, leaf, err);
}

/* "end N" behind N entries, and nothing behind it. */
static fab_status read_end(reader *r, fab_error *err) {
    uint64_t n = 0;
    fab_token count = fab_text_token(&r->in);
    FAB_RETURN_IF(
        !fab_token_number(count, &n) || n != r->n_entries,
        fab_text_refuse(&r->in, count, err, "is not the number of lines read, %llu", (unsigned long long)r->n_entries));
    fab_token more = fab_text_token(&r->in);
    if (more.length > 0 || fab_text_next(&r->in)) {
        more = more.length > 0 ? more : fab_text_token(&r->in);
        return fab_text_refuse(&r->in, more, err, "stands behind the end");
    }
    return FAB_OK;
}

/* Every pair that the fabric connects needs a line, if only to say that there is no route. */
static fab_status check_complete(const reader *r, fab_error *err) {
    const fab_next_hops *t = r->t;
    for (uint32_t i = 0; i < fab_n_switches(r->f); i++) {
        for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
            if (fab_next_hops_group(t, i, leaf) != 0 && r->line_of[(size_t)i * t->n_leaves + leaf] == 0) {
                return fab_fail(err, FAB_EINPUT, r->in.path, "no line for %s to %s; '-' says that there is no route",
                                FAB_SAY_NODE(r->f, r->f->first[FAB_NODE_SWITCH] + i),
                                FAB_SAY_NODE(r->f, t->leaf_node[leaf]));
            }
        }
    }
    return FAB_OK;
}

/* Blames the line of a switch, by index, and a leaf. */
static fab_status wrong_line(reader *r, uint32_t v, uint32_t leaf, fab_status code, const char *what, fab_error *err) {
    r->in.line = r->line_of[(size_t)v * r->t->n_leaves + leaf];
    /* routes, which have no lines */
    FAB_REFUSE_IF(r->in.line == 0, err, code, r->in.path, "%s", what);
    return code == FAB_EINPUT ? fab_text_fail(&r->in, err, "%s", what)
                              : fab_text_unable(&r->in, (fab_token){0}, err, "%s", what);
}

static fab_status check_loops(reader *r, fab_error *err) {
    fab_loop loop;
    FAB_PASS(fab_forwarding_find_loop(r->router, r->single, &loop, err));
    return loop.text[0] == '\0' ? FAB_OK
                                : wrong_line(r, loop.v - r->f->first[FAB_NODE_SWITCH],
                                             loop.destination / r->router->port_stride, FAB_EINPUT, loop.text, err);
}

/* Behind every next hop there is a route and, but for hashes, it is as long as behind the others: splitting goes by
 * distance.
 * `hops`: shape [n_switches], filled for what comes before v. */
static fab_status check_group(reader *r, const fab_next_hops *t, uint32_t v, uint32_t leaf, uint32_t *hops,
                              fab_error *err) {
    const fab_fabric *f = r->f;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    fab_next_hop_list next = fab_next_hops_look(t, v, leaf);
    char what[2 * FAB_NODE_NAME_SIZE + 128];
    for (uint32_t i = 0; i < next.count; i++) {
        fab_link_id link = fab_next_hop(&next, i);
        fab_node_id head = fab_head(f, link);
        if (head != t->leaf_node[leaf] && fab_next_hops_group(t, head - base, leaf) == 0) {
            FAB_FORMAT(what, "port %u leads to %s, which has no route to %s", f->port[link], FAB_SAY_NODE(f, head),
                       FAB_SAY_NODE(f, t->leaf_node[leaf]));
            return wrong_line(r, v, leaf, FAB_EINPUT, what, err);
        }
        uint32_t far = (head != t->leaf_node[leaf] ? hops[head - base] : 0) + 1;
        if (i > 0 && far != hops[v] && r->weights != FAB_WEIGHTS_WHOLE) {
            FAB_FORMAT(what,
                       "%s is %u hops away through port %u and %u through port %u; only ecmp,tables= takes groups "
                       "of unequal distance",
                       FAB_SAY_NODE(f, t->leaf_node[leaf]), hops[v], f->port[fab_next_hop(&next, 0)], far,
                       f->port[link]);
            return wrong_line(r, v, leaf, FAB_EUNSUPPORTED, what, err);
        }
        hops[v] = far;
    }
    return FAB_OK;
}

/* All members are among the minimal next hops. Both are by port. */
static bool is_minimal(const reader *r, const fab_next_hops *t, uint32_t v, uint32_t leaf) {
    fab_next_hop_list next = fab_next_hops_look(t, v, leaf);
    fab_next_hop_list minimal = fab_next_hops_look(r->t, v, leaf);
    uint32_t at = 0;
    for (uint32_t i = 0; i < minimal.count && at < next.count; i++) {
        at += fab_next_hop(&next, at) == fab_next_hop(&minimal, i);
    }
    return at == next.count;
}

static fab_status check_groups(reader *r, fab_read_groups *groups, fab_error *err) {
    const fab_next_hops *t = groups->next_hops;
    FAB_OWNS(fab_hop_order_release) fab_hop_order order = {0};
    uint32_t v = 0;
    FAB_PASS(fab_hop_order_init(r->f, &order, err));
    FAB_OWNED_NEW(uint32_t, hops, fab_n_switches(r->f), err);
    groups->is_minimal = true;
    for (uint32_t leaf = 0; leaf < t->n_leaves; leaf++) {
        if (!fab_hop_order_find(r->f, t, leaf, &order, &v)) {
            char what[2 * FAB_NODE_NAME_SIZE + 64];
            FAB_FORMAT(what, "packets at %s for %s may run in a circle",
                       FAB_SAY_NODE(r->f, r->f->first[FAB_NODE_SWITCH] + v), FAB_SAY_NODE(r->f, t->leaf_node[leaf]));
            return wrong_line(r, v, leaf, FAB_EINPUT, what, err);
        }
        for (uint32_t i = 0; i < order.n; i++) {
            FAB_PASS(check_group(r, t, order.order[i], leaf, hops, err));
            groups->is_minimal = groups->is_minimal && is_minimal(r, t, order.order[i], leaf);
        }
    }
    return FAB_OK;
}

/* Where a group or a weight stands first. */
static size_t find_group(fab_text in) {
    while (fab_text_next(&in)) {
        fab_token rest = fab_text_rest(&in);
        if (memchr(rest.text, ',', rest.length) != NULL || memchr(rest.text, '*', rest.length) != NULL) {
            return in.line;
        }
    }
    return 0;
}

static fab_status read_tables(reader *r, fab_error *err) {
    char header[FAB_TABLES_HEADER];
    FAB_PASS(expect_line(r, FAB_TABLES_MAGIC, err));
    FAB_PASS(expect_line(r, fab_tables_fabric_line(r->f, header), err));
    for (;;) {
        FAB_RETURN_IF(!fab_text_next(&r->in),
                      fab_text_fail(&r->in, err, "the file is cut off: there is no line 'end N'"));
        fab_token first = fab_text_token(&r->in);
        if (first.length == 3 && memcmp(first.text, "end", 3) == 0) {
            break;
        }
        FAB_PASS(tables_read_line(r, first, err));
    }
    FAB_PASS(read_end(r, err));
    return check_complete(r, err);
}

/* What a subnet manager has dumped. */
static fab_status read_lft(reader *r, fab_forwarding *single, fab_error *err) {
    if (single == NULL) {
        (void)fab_text_next(&r->in);
        return fab_text_unable(&r->in, (fab_token){0}, err,
                               "tables of a subnet manager name one port per destination, and engine %s chooses among "
                               "groups; engine file reads them",
                               r->router->engine->name);
    }
    return fab_fdbs_is_dump(r->in) ? fab_fdbs_read(r->router, &r->in, single, err)
                                   : fab_lft_read(r->router, &r->in, single, err);
}

/* Groups that were put together, once routing may rely on them. */
static fab_status finish_groups(reader *r, fab_read_groups *groups, fab_error *err) {
    fab_read_groups read = {0};
    fab_status status = fab_group_builder_finish(&r->builder, r->t, &read, err);
    if (status == FAB_OK) {
        status = check_groups(r, &read, err);
    }
    if (status == FAB_OK) {
        *groups = read;
        return FAB_OK;
    }
    fab_read_groups_release(&read);
    return status;
}

static fab_status read_own(reader *r, fab_forwarding *single, fab_read_groups *groups, fab_error *err) {
    r->first_group = find_group(r->in);
    if (single != NULL && r->first_group == 0) {
        FAB_PASS(fab_forwarding_init(r->router, &r->forwarding, err));
        r->single = &r->forwarding;
        FAB_PASS(read_tables(r, err));
        FAB_PASS(check_loops(r, err));
        return FAB_GIVE(*single, r->forwarding);
    }
    FAB_PASS(fab_group_builder_init(r->f, r->t->n_leaves, &r->builder, err));
    r->groups = &r->builder;
    FAB_PASS(read_tables(r, err));
    return finish_groups(r, groups, err);
}

fab_status fab_tables_read(const fab_router *router, const char *path, fab_weights weights, fab_forwarding *single,
                           fab_read_groups *groups, fab_error *err) {
    reader r = {
        .router = router, .f = router->fabric, .t = router->next_hops, .weights = weights, .in = {.path = path}};
    fab_status status = fab_is_folder(path) ? FAB_OK : fab_text_open(path, &r.in, err);
    if (status == FAB_OK) {
        status = FAB_NEW(r.line_of, (size_t)fab_n_switches(r.f) * r.t->n_leaves + 1, err);
    }
    if (status == FAB_OK && fab_routes_are_there(path, r.in)) {
        status = fab_group_builder_init(r.f, r.t->n_leaves, &r.builder, err);
        status = status == FAB_OK ? fab_routes_read(router, path, weights, &r.builder, err) : status;
        status = status == FAB_OK ? finish_groups(&r, groups, err) : status;
    } else if (status == FAB_OK) {
        status = fab_lft_is_dump(r.in) || fab_fdbs_is_dump(r.in) ? read_lft(&r, single, err)
                                                                 : read_own(&r, single, groups, err);
    }
    fab_forwarding_release(&r.forwarding);
    fab_group_builder_release(&r.builder);
    FAB_FREE_ALL(r.line_of, r.links, r.weight);
    fab_text_release(&r.in);
    return status;
}

void fab_read_groups_release(fab_read_groups *groups) {
    fab_dag_free(groups->dag);
    fab_next_hops_free(groups->next_hops);
    free(groups->weight);
    *groups = (fab_read_groups){0};
}
