#include "names_below.h"

#include "fab/host_list.h"
#include "fab/memory.h"
#include "fab/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fab_names_below_release(fab_names_below *below) {
    free(below->members);
}

static fab_status below_node(const fab_names_below *b, const char *name, size_t n, fab_network_kind kind, uint32_t *out,
                             fab_error *err) {
    FAB_PASS(fab_network_add_node(b->from->net, name, n, 1, out, err));
    fab_network_node *node = &b->from->net->nodes[*out];
    node->kind = node->kind == FAB_NETWORK_UNKNOWN ? kind : node->kind;
    return node->kind == kind
               ? FAB_OK
               : fab_fail_in_file(err, b->from->path, 1, 1, "'%.60s' is a switch and a node", node->name);
}

static fab_status below_visit(void *context, const char *name, size_t n, fab_error *err) {
    fab_names_below *b = context;
    FAB_PASS(FAB_GROW(b->members, b->capacity, b->n_members + 1, err));
    return below_node(b, name, n, b->kind, &b->members[b->n_members++], err);
}

static fab_status read_names(fab_names_below *b, uint32_t text, fab_error *err) {
    const fab_json_value *v = &b->from->json.values[text];
    char where[192];
    uint32_t n = 0;
    if (v->kind != FAB_JSON_STRING || v->text[0] == '\0') {
        return fab_fail_in_file(err, b->from->path, 1, 1, "a list of names that holds no text");
    }
    (void)snprintf(where, sizeof where, "%.160s:1", b->from->path);
    FAB_PASS(fab_host_list_count(v->text, strlen(v->text), where, &n, err));
    FAB_PASS(fab_network_expect(b->from->net, n, n, err));
    return fab_host_list_each(v->text, strlen(v->text), where, below_visit, b, err);
}

fab_status fab_names_below_read(fab_names_below *b, uint32_t list, fab_error *err) {
    b->n_members = 0;
    if (b->from->json.values[list].kind != FAB_JSON_ARRAY) {
        return read_names(b, list, err);
    }
    FAB_JSON_EACH(&b->from->json, i, list) {
        FAB_PASS(read_names(b, i, err));
    }
    return FAB_OK;
}

fab_status fab_names_below_join(fab_names_below *b, const char *name, fab_network_kind kind, uint32_t list,
                                fab_error *err) {
    fab_network *net = b->from->net;
    if (name == NULL || name[0] == '\0') {
        return fab_fail_in_file(err, b->from->path, 1, 1, "a switch without a name");
    }
    FAB_PASS(below_node(b, name, strlen(name), FAB_NETWORK_SWITCH, &b->node, err));
    if (net->nodes[b->node].n_ports > 0 && !b->has_parts) { /* its line was seen; set right by the reader at the end */
        return fab_fail_in_file(err, b->from->path, 1, 1, "switch '%.60s' stands there twice", name);
    }
    net->nodes[b->node].n_ports = 1;
    b->kind = kind;
    FAB_PASS(fab_names_below_read(b, list, err));
    qsort(b->members, b->n_members, sizeof *b->members, fab_order_u32);
    for (size_t i = 0; i < b->n_members; i++) {
        const fab_network_cable cable = {.end = {{.node = b->members[i], .line = 1}, {.node = b->node, .line = 1}}};
        if (i == 0 || b->members[i] != b->members[i - 1]) { /* a name that the list repeats is below it once */
            FAB_PASS(fab_network_add_cable(net, &cable, NULL, err));
        }
    }
    return FAB_OK;
}
