#include "network_boxes.h"

/* --- names -------------------------------------------------------------------------------------------------------- */

typedef struct label {
    const char *text;
    uint32_t node;
} label;

fab_status fab_network_names(const fab_network *net, const char ***out, fab_error *err) {
    FAB_OWNED label *all = NULL;
    FAB_OWNED const char **names = NULL;
    FAB_PASS(FAB_NEW_ALL(net->n_nodes, err, all, names));
    FAB_FILL(all, net->n_nodes, (label){net->nodes[fab_at].label, (uint32_t)fab_at});
    qsort(all, net->n_nodes, sizeof *all, fab_order_text);
    for (uint32_t i = 0; i < net->n_nodes; i++) {
        bool shared = (i > 0 && strcmp(all[i].text, all[i - 1].text) == 0) ||
                      (i + 1 < net->n_nodes && strcmp(all[i].text, all[i + 1].text) == 0);
        names[all[i].node] = shared ? net->nodes[all[i].node].name : all[i].text;
    }
    return FAB_GIVE(*out, names);
}

fab_status fab_names_check(const char **names, uint32_t n, const char *what, const char *path, fab_error *err) {
    FAB_SORT(names, n, fab_order_text);
    for (uint32_t i = 1; i < n; i++) {
        FAB_REFUSE_IF(strcmp(names[i - 1], names[i]) == 0, err, FAB_EUNSUPPORTED, path,
                      "two %s would be called '%.100s'", what, names[i]);
    }
    return FAB_OK;
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

/* Copies the names with what is not plain replaced, and refuses two that are the same. */
static fab_status make_plain(fab_boxes *b, const fab_network *net, fab_error *err) {
    FAB_SUM(size_t, bytes, i, b->n, strlen(b->box[i].name) + 1);
    FAB_PASS(FAB_NEW(b->text, bytes, err));
    FAB_OWNED_NEW(const char *, sorted, b->n, err);
    char *to = b->text;
    for (uint32_t i = 0; i < b->n; i++) {
        const char *from = b->box[i].name;
        sorted[i] = b->box[i].name = to;
        for (; *from != '\0'; from++) {
            *to++ = *from;
            to[-1] = is_plain(*from) ? *from : '_';
        }
        *to++ = '\0';
    }
    return fab_names_check(sorted, b->n, "boxes", net->path, err);
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

static fab_status list_boxes(const fab_shape *s, fab_boxes *b, fab_error *err) {
    const fab_network *net = s->net;
    FAB_OWNED const char **names = NULL;
    FAB_OWNED_NEW(uint32_t, of_server, s->n_servers, err);
    FAB_PASS(fab_network_names(net, &names, err));
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const fab_network_node *node = &net->nodes[v];
        uint32_t server = s->server[v];
        bool is_part = node->kind == FAB_NETWORK_ADAPTER && server != FAB_NETWORK_NONE;
        if (node->kind == FAB_NETWORK_SERVICE) {
            b->of_node[v] = FAB_NETWORK_NONE;
        } else if (is_part && of_server[server] != 0) {
            b->of_node[v] = of_server[server] - 1;
        } else {
            b->box[b->n] = (fab_box){.name = is_part ? s->server_name[server] : names[v],
                                     .is_host = fab_network_is_host(net, v),
                                     .tier = s->tier[v]};
            b->of_node[v] = b->n++;
            if (is_part) {
                of_server[server] = b->n;
            }
        }
    }
    return FAB_OK;
}

/* --- ports of servers --------------------------------------------------------------------------------------------- */

typedef struct adapter_end {
    uint32_t box, slot, node, order; /* order: of the node's cables */
    uint32_t side;
} adapter_end;

FAB_ORDER_KEYS(by_place, adapter_end, FAB_ORDER(a->box, b->box), FAB_ORDER(a->slot, b->slot),
               FAB_ORDER(a->node, b->node), FAB_ORDER(a->order, b->order));

static fab_status number_ports(const fab_shape *s, fab_boxes *b, fab_error *err) {
    const fab_network *net = s->net;
    uint32_t n = 0;
    FAB_OWNED_NEW(adapter_end, ends, 2 * (size_t)net->n_cables, err);
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        for (uint32_t i = s->first[v]; net->nodes[v].kind == FAB_NETWORK_ADAPTER && i < s->first[v + 1]; i++) {
            ends[n++] = (adapter_end){b->of_node[v], s->slot[v], v, i, s->side[i]};
        }
    }
    qsort(ends, n, sizeof *ends, by_place);
    for (uint32_t i = 0; i < n; i++) {
        bool is_first = i == 0 || ends[i].box != ends[i - 1].box;
        b->adapter_port[ends[i].side] = is_first ? 1 : b->adapter_port[ends[i - 1].side] + 1;
    }
    return FAB_OK;
}

fab_status fab_boxes_find(const fab_shape *shape, fab_boxes *out, fab_error *err) {
    FAB_OWNS(fab_boxes_release) fab_boxes b = {.n = 0};
    FAB_PASS(FAB_NEW_ALL(shape->net->n_nodes, err, b.box, b.of_node));
    FAB_PASS(FAB_NEW(b.adapter_port, 2 * (size_t)shape->net->n_cables, err));
    FAB_PASS(list_boxes(shape, &b, err));
    FAB_PASS(make_plain(&b, shape->net, err));
    FAB_PASS(number_ports(shape, &b, err));
    return FAB_GIVE(*out, b);
}

FAB_RELEASES(fab_boxes_release, fab_boxes, box, of_node, adapter_port, text);

static fab_status name_port(const fab_boxes *boxes, const fab_network *net, uint32_t side, const char *prefix,
                            char *out, fab_error *err) {
    const fab_network_end *end = &net->cables[side >> 1].end[side & 1];
    const fab_network_node *node = &net->nodes[end->node];
    if (boxes->adapter_port[side] > 0) {
        (void)snprintf(out, FAB_BOX_PORT, "eth%" PRIu32, boxes->adapter_port[side]);
        return FAB_OK;
    }
    FAB_REFUSE_IF(end->port == NULL, err, FAB_EUNSUPPORTED, net->path,
                  "the format names both ports of a cable, and one at '%.80s' has no name", node->label);
    bool is_number = end->port[strspn(end->port, "0123456789")] == '\0';
    int n = snprintf(out, FAB_BOX_PORT, "%s%s", is_number ? prefix : "", end->port);
    FAB_REFUSE_IF(n < 0 || n >= FAB_BOX_PORT || out[strcspn(out, " \"\\:")] != '\0', err, FAB_EUNSUPPORTED, net->path,
                  "port '%.40s' of '%.80s' is no name of a network device: up to 15 bytes, no blank, quote or "
                  "colon",
                  end->port, node->label);
    return FAB_OK;
}

fab_status fab_boxes_put_cables(const fab_boxes *boxes, const fab_network *net, const char *const prefix[2],
                                fab_put_cable put, void *context, fab_error *err) {
    for (uint32_t i = 0; i < net->n_cables; i++) {
        fab_box_cable c = {.cable = &net->cables[i]};
        char port[2][FAB_BOX_PORT];
        bool has_boxes = true;
        for (uint32_t k = 0; k < 2; k++) {
            c.box[k] = boxes->of_node[net->cables[i].end[k].node];
            has_boxes = has_boxes && c.box[k] != FAB_NETWORK_NONE;
        }
        for (uint32_t k = 0; k < 2 && has_boxes; k++) {
            const fab_box *box = &boxes->box[c.box[k]];
            c.name[k] = box->name;
            c.port[k] = port[k];
            FAB_PASS(name_port(boxes, net, 2 * i + k, prefix[box->is_host ? 0 : 1], port[k], err));
        }
        if (has_boxes && put != NULL) {
            put(&c, context);
        }
    }
    return FAB_OK;
}
