/* A map of names by GUID, as InfiniBand tools take with --node-name-map: a line each, GUID and name, in quotes or not;
 * # begins a comment. Grammar: ibnetdiscover(8). */
#include "network_internal.h"

typedef struct guid_node {
    uint64_t guid;
    uint32_t node;
} guid_node;

FAB_ORDER_TWO(by_guid, guid_node, guid, node);

static fab_status name_node(fab_network *net, const guid_node *all, uint32_t n, uint64_t guid, fab_token name,
                            fab_error *err) {
    uint32_t low = 0;
    uint32_t high = n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (all[middle].guid < guid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < n && all[low].guid == guid; low++) {
        FAB_PASS(
            fab_network_ib_describe(net, all[low].node, net->nodes[all[low].node].kind, name.text, name.length, err));
    }
    return FAB_OK;
}

static fab_status read_name(fab_text *in, fab_network *net, const guid_node *all, uint32_t n, fab_error *err) {
    uint64_t guid = 0;
    fab_token t = fab_text_token(in);
    if (t.length == 0 || t.text[0] == '#') {
        return FAB_OK;
    }
    fab_token digits = {.text = t.text + 2, .length = t.length > 2 ? t.length - 2 : 0};
    FAB_RETURN_IF(digits.length == 0 || memcmp(t.text, "0x", 2) != 0 || !fab_token_hexadecimal(digits, &guid),
                  fab_text_refuse(in, t, err, "is no GUID such as 0x2c5eab0300b87b40"));
    (void)fab_text_take(in, "");
    fab_token name = fab_text_rest(in);
    const char *quote = name.length > 0 && name.text[0] == '"' ? memchr(name.text + 1, '"', name.length - 1) : NULL;
    if (quote != NULL) {
        name = (fab_token){.text = name.text + 1, .length = (size_t)(quote - name.text) - 1};
    }
    while (name.length > 0 && (name.text[name.length - 1] == ' ' || name.text[name.length - 1] == '\r')) {
        name.length--;
    }
    FAB_RETURN_IF(name.length == 0, fab_text_refuse(in, t, err, "has no name behind it"));
    return name_node(net, all, n, guid, name, err);
}

fab_status fab_network_rename(fab_network *net, const char *path, fab_error *err) {
    FAB_OWNS(fab_text_release) fab_text in = {.path = path};
    uint32_t n = 0;
    FAB_OWNED_NEW(guid_node, all, (size_t)net->n_nodes + 1, err);
    FAB_KEEP(all, n, v, net->n_nodes, net->nodes[v].guid != 0, (guid_node){net->nodes[v].guid, v});
    qsort(all, n, sizeof *all, by_guid);
    FAB_PASS(fab_text_stream_open(path, &in, err));
    while (fab_text_next(&in)) {
        FAB_PASS(read_name(&in, net, all, n, err));
    }
    return fab_text_end(&in, err);
}
