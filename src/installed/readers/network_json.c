#include "network_json.h"

#define MOST_BYTES ((size_t)1 << 30)
#define BOM        "\xef\xbb\xbf"

fab_status fab_network_json_read(const fab_network_format *format, const char *path, fab_network *net, fab_error *err) {
    fab_status status = FAB_OK;
    fab_network_json r = {.path = path, .net = net};
    bool is_json = format->json != NULL;
    uint32_t n_before = net->n_cables;
    FAB_TRY(fab_read_file(path, MOST_BYTES, &r.bytes, err));
    FAB_TRY(strlen(r.bytes.data) != r.bytes.length ? fab_fail_in_file(err, r.path, 1, 1, "a zero byte: this is no text")
                                                   : FAB_OK);
    const char *text = r.bytes.data + (strncmp(r.bytes.data, BOM, 3) == 0 ? 3 : 0);
    FAB_TRY(is_json ? fab_json_parse(text, path, &r.json, err) : fab_yaml_parse(text, path, &r.json, err));
    FAB_TRY(is_json ? format->json(&r, err) : format->yaml(&r, err));
    if (net->n_cables == 0 && n_before == 0 && !net->is_tree_of_names) {
        status = fab_fail_in_file(err, r.path, 1, 1, "holds no cable");
    }
done:
    fab_json_release(&r.json);
    fab_str_release(&r.bytes);
    return status;
}

bool fab_network_json_has(const char *head, const char *words) {
    bool has_all = true;
    head += strspn(head, " \t\r\n");
    if (*head != '{' && *head != '[') {
        return false;
    }
    for (const char *at = words; *at != '\0';) {
        char quoted[64];
        size_t n = strcspn(at, " |");
        FAB_FORMAT(quoted, "\"%.*s\"", (int)n, at);
        has_all = has_all && strstr(head, quoted) != NULL;
        if (has_all && at[n] != ' ') {
            return true;
        }
        has_all = has_all || at[n] == '|';
        at += n + (at[n] != '\0' ? 1 : 0);
    }
    return false;
}

static fab_status plug_node(fab_network *net, const fab_network_plug *p, size_t line, uint32_t *out, fab_error *err) {
    FAB_PASS(fab_network_add_node(net, p->box, p->n_box > 0 ? p->n_box : strlen(p->box), line, out, err));
    return fab_network_ib_host(net, *out, err);
}

/* `far_line`: 0 where the end at b does not tell of the cable. */
static fab_status plug(fab_network *net, const fab_network_plug *a, const fab_network_plug *b, double rate_bps,
                       size_t line, size_t far_line, fab_error *err) {
    fab_network_cable cable = {.rate_bps = rate_bps,
                               .end = {{.port = a->port, .line = line}, {.port = b->port, .line = far_line}}};
    net->keeps_contradictions = true;
    FAB_PASS(plug_node(net, a, line, &cable.end[0].node, err));
    if (a->port != NULL && fab_network_is_plugged(net, cable.end[0].node, a->port) &&
        fab_network_find(net, b->box, b->n_box > 0 ? b->n_box : strlen(b->box)) == FAB_NETWORK_NONE) {
        return fab_network_add_note(net, line, err, "port %.60s of '%.60s' has two neighbors; '%.60s' is left out",
                                    a->port, net->nodes[cable.end[0].node].name,
                                    b->box); /* something behind a bridge */
    }
    FAB_PASS(plug_node(net, b, line, &cable.end[1].node, err));
    if (cable.end[0].node == cable.end[1].node &&
        (a->port == NULL || b->port == NULL || strcmp(a->port, b->port) == 0)) {
        return fab_network_add_note(net, line, err, "%.80s is joined to itself", net->nodes[cable.end[0].node].name);
    }
    net->has_ports = net->has_ports || a->port != NULL;
    return fab_network_add_cable(net, &cable, NULL, err);
}

fab_status fab_network_plug_in(fab_network *net, const fab_network_plug *a, const fab_network_plug *b, double rate_bps,
                               size_t line, fab_error *err) {
    return plug(net, a, b, rate_bps, line, line, err);
}

fab_status fab_network_hear(fab_network *net, const fab_network_plug *own, const fab_network_plug *neighbor,
                            size_t line, fab_error *err) {
    net->tells_neighbors = true;
    return plug(net, own, neighbor, 0, line, 0, err);
}

const char *fab_network_json_text(const fab_json *json, uint32_t object, const char *const *keys) {
    for (size_t i = 0; keys[i] != NULL; i++) {
        object = fab_json_member(json, object, keys[i]);
        if (object == FAB_JSON_NONE) {
            return NULL;
        }
    }
    return json->values[object].kind == FAB_JSON_STRING && json->values[object].text[0] != '\0'
               ? json->values[object].text
               : NULL;
}
