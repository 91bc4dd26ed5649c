#include "names_below.h"

#include "fab/host_list.h"

void fab_names_below_release(fab_names_below *b) {
    for (uint32_t i = 0; i < b->net->n_nodes; i++) {
        b->net->nodes[i].n_ports = 0; /* which said that the line of a switch was seen */
    }
    FAB_FREE_ALL(b->members, b->joined);
}

static fab_status below_node(const fab_names_below *b, const char *name, size_t n, fab_network_kind kind, uint32_t *out,
                             fab_error *err) {
    FAB_PASS(fab_network_add_node(b->net, name, n, b->line, out, err));
    fab_network_node *node = &b->net->nodes[*out];
    node->kind = node->kind == FAB_NETWORK_UNKNOWN ? kind : node->kind;
    bool is_switch = kind == FAB_NETWORK_SWITCH;
    return node->kind == kind
               ? FAB_OK
               : fab_fail_in_file(err, b->path, b->line, 0, "'%.60s' is a %s here and a %s on line %zu", node->name,
                                  is_switch ? "switch" : "node", is_switch ? "node" : "switch", node->line);
}

static fab_status below_visit(void *context, const char *name, size_t n, fab_error *err) {
    fab_names_below *b = context;
    FAB_PASS(FAB_GROW(b->members, b->capacity, b->n_members + 1, err));
    return below_node(b, name, n, b->kind, &b->members[b->n_members++], err);
}

fab_status fab_names_below_add(fab_names_below *b, const char *text, size_t n, fab_error *err) {
    char where[192];
    uint32_t n_names = 0;
    FAB_FORMAT(where, "%.150s:%zu", b->path, b->line);
    FAB_PASS(fab_host_list_count(text, n, where, &n_names, err));
    FAB_PASS(fab_network_expect(b->net, n_names, n_names, err));
    return fab_host_list_each(text, n, where, below_visit, b, err);
}

fab_status fab_names_below_put(fab_names_below *b, fab_error *err) {
    size_t n_before = b->n_joined;
    FAB_PASS(FAB_GROW(b->joined, b->joined_capacity, (size_t)b->net->n_nodes, err));
    b->n_joined = b->net->n_nodes;
    memset(b->joined + n_before, 0, (b->n_joined - n_before) * sizeof *b->joined);
    for (size_t i = 0; i < b->n_members; i++) {
        const fab_network_cable cable = {
            .end = {{.node = b->members[i], .line = b->line}, {.node = b->node, .line = b->line}}};
        if (b->joined[b->members[i]] != b->node + 1) {
            b->joined[b->members[i]] = b->node + 1;
            FAB_PASS(fab_network_add_cable(b->net, &cable, NULL, err));
        }
    }
    return FAB_OK;
}

static fab_status read_names(fab_names_below *b, const fab_json_value *v, fab_error *err) {
    return v->kind == FAB_JSON_STRING && v->text[0] != '\0'
               ? fab_names_below_add(b, v->text, strlen(v->text), err)
               : fab_fail_in_file(err, b->path, 1, 1, "a list of names that holds no text");
}

fab_status fab_names_below_read(fab_names_below *b, const fab_json *json, uint32_t list, fab_error *err) {
    b->n_members = 0;
    if (json->values[list].kind != FAB_JSON_ARRAY) {
        return read_names(b, &json->values[list], err);
    }
    FAB_JSON_EACH(json, i, list) {
        FAB_PASS(read_names(b, &json->values[i], err));
    }
    return FAB_OK;
}

fab_status fab_names_below_join(fab_names_below *b, const fab_json *json, const char *name, fab_network_kind kind,
                                uint32_t list, fab_error *err) {
    FAB_RETURN_IF(name == NULL || name[0] == '\0', fab_fail_in_file(err, b->path, 1, 1, "a switch without a name"));
    FAB_PASS(below_node(b, name, strlen(name), FAB_NETWORK_SWITCH, &b->node, err));
    FAB_RETURN_IF(b->net->nodes[b->node].n_ports > 0 && !b->has_parts,
                  fab_fail_in_file(err, b->path, 1, 1, "switch '%.60s' stands there twice", name));
    b->net->nodes[b->node].n_ports = 1;
    b->kind = kind;
    FAB_PASS(fab_names_below_read(b, json, list, err));
    return fab_names_below_put(b, err);
}
