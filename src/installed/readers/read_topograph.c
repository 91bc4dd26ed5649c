/* Models of topograph: switches by name with the switches below them, and blocks of nodes below a switch; those with
 * the same domain in their annotations share a scale-up domain. Source: NVIDIA/topograph, tests/models. */
#include "names_below.h"

static fab_status model_block(fab_names_below *b, const fab_json *json, uint32_t block, fab_error *err) {
    uint32_t nodes = fab_json_member(json, block, "nodes");
    const char *name = fab_json_text_of(json, block, "switch", NULL);
    FAB_RETURN_IF(nodes == FAB_JSON_NONE, fab_fail_in_file(err, b->path, 1, 1, "a block without nodes"));
    if (name == NULL) {
        b->kind = FAB_NETWORK_HOST;
        return fab_names_below_read(b, json, nodes, err);
    }
    return fab_names_below_join(b, json, name, FAB_NETWORK_HOST, nodes, err);
}

/* The smaller of the domains that the annotations of a block name is one of its own. */
static const char *domain_of(const fab_json *json, uint32_t block) {
    static const char END[] = "/sub-domain";
    uint32_t notes = fab_json_member(json, block, "annotations");
    const char *found = fab_json_text_of(json, block, "nvl", NULL);
    FAB_JSON_EACH(json, i, notes) {
        const fab_json_value *v = &json->values[i];
        size_t n = v->key != NULL ? strlen(v->key) : 0;
        bool is_smaller = n >= sizeof END - 1 && strcmp(v->key + n - (sizeof END - 1), END) == 0;
        bool is_domain = n >= 7 && strcmp(v->key + n - 7, "/domain") == 0;
        if (v->kind == FAB_JSON_STRING && (is_smaller || (is_domain && found == NULL))) {
            found = v->text;
        }
    }
    return found != NULL && found[0] != '\0' ? found : fab_json_text_of(json, block, "name", NULL);
}

static fab_status model_read(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    uint32_t switches = fab_json_member(json, 0, "switches");
    uint32_t blocks = fab_json_member(json, 0, "blocks");
    FAB_OWNS(fab_names_below_release) fab_names_below b = {.net = r->net, .path = r->path, .line = 1};
    r->net->is_tree_of_names = true;
    FAB_RETURN_IF(blocks == FAB_JSON_NONE || json->values[blocks].kind != FAB_JSON_ARRAY,
                  fab_fail_in_file(err, r->path, 1, 1, "has no list of blocks"));
    FAB_JSON_EACH(json, i, switches) {
        uint32_t below = fab_json_member(json, i, "switches");
        if (below != FAB_JSON_NONE && json->values[i].key != NULL) {
            FAB_PASS(fab_names_below_join(&b, json, json->values[i].key, FAB_NETWORK_SWITCH, below, err));
        }
    }
    FAB_JSON_EACH(json, i, blocks) {
        const char *domain = domain_of(json, i);
        b.has_parts = true; /* blocks of several domains */
        FAB_PASS(model_block(&b, json, i, err));
        FAB_PASS(domain != NULL
                     ? fab_network_add_group(r->net, domain, strlen(domain), b.members, (uint32_t)b.n_members, err)
                     : FAB_OK);
    }
    return FAB_OK;
}

const fab_network_format fab_network_topograph = {
    .name = "topograph",
    .summary = "model of topograph, YAML",
    .begins = "(.*\n)?(switches:.*(    switches:|\nblocks:)|blocks:.*\nswitches:)",
    .yaml = model_read};
