/* Slurm's topology.yaml: a list of topologies, each a tree of switches or blocks of nodes. The one that is the default
 * of the cluster counts, else the first; flat ones hold nothing. Source: topology.yaml(5), Slurm 25.05. */
#include "names_below.h"

static fab_status yaml_tree(fab_names_below *b, const fab_json *json, uint32_t tree, fab_error *err) {
    uint32_t switches = fab_json_member(json, tree, "switches");
    FAB_RETURN_IF(switches == FAB_JSON_NONE, fab_fail_in_file(err, b->path, 1, 1, "a tree without switches"));
    FAB_JSON_EACH(json, i, switches) {
        uint32_t children = fab_json_member(json, i, "children");
        uint32_t nodes = fab_json_member(json, i, "nodes");
        bool has_children = children != FAB_JSON_NONE && json->values[children].kind != FAB_JSON_NULL;
        FAB_RETURN_IF(!has_children && (nodes == FAB_JSON_NONE || json->values[nodes].kind == FAB_JSON_NULL),
                      fab_fail_in_file(err, b->path, 1, 1, "switch '%.60s' has neither children nor nodes",
                                       fab_json_text_of(json, i, "switch", "")));
        FAB_PASS(fab_names_below_join(b, json, fab_json_text_of(json, i, "switch", NULL),
                                      has_children ? FAB_NETWORK_SWITCH : FAB_NETWORK_HOST,
                                      has_children ? children : nodes, err));
    }
    return FAB_OK;
}

static fab_status yaml_blocks(fab_names_below *b, const fab_json *json, uint32_t block, fab_error *err) {
    uint32_t blocks = fab_json_member(json, block, "blocks");
    FAB_RETURN_IF(blocks == FAB_JSON_NONE, fab_fail_in_file(err, b->path, 1, 1, "a block topology without blocks"));
    b->kind = FAB_NETWORK_HOST;
    FAB_JSON_EACH(json, i, blocks) {
        uint32_t nodes = fab_json_member(json, i, "nodes");
        const char *name = fab_json_text_of(json, i, "block", NULL);
        FAB_RETURN_IF(nodes == FAB_JSON_NONE || name == NULL,
                      fab_fail_in_file(err, b->path, 1, 1, "a block without a name or without nodes"));
        FAB_PASS(fab_names_below_read(b, json, nodes, err));
        FAB_PASS(fab_network_add_group(b->net, name, strlen(name), b->members, (uint32_t)b->n_members, err));
    }
    return FAB_OK;
}

/* The default of the cluster, else the first. */
static uint32_t choose_topology(const fab_json *json) {
    uint32_t found = json->values[0].first;
    FAB_JSON_EACH(json, i, 0) {
        const char *is_default = fab_json_text_of(json, i, "cluster_default", "");
        if (strcmp(is_default, "true") == 0 || strcmp(is_default, "yes") == 0) {
            return i;
        }
    }
    return found;
}

static fab_status yaml_topologies(const fab_network_json *r, fab_error *err) {
    const fab_json *json = &r->json;
    FAB_OWNS(fab_names_below_release) fab_names_below b = {.net = r->net, .path = r->path, .line = 1};
    uint32_t one = json->values[0].kind == FAB_JSON_ARRAY ? choose_topology(json) : FAB_JSON_NONE;
    r->net->is_tree_of_names = true;
    FAB_RETURN_IF(one == FAB_JSON_NONE, fab_fail_in_file(err, r->path, 1, 1, "is no list of topologies"));
    uint32_t tree = fab_json_member(json, one, "tree");
    uint32_t block = fab_json_member(json, one, "block");
    FAB_RETURN_IF(tree == FAB_JSON_NONE && block == FAB_JSON_NONE,
                  fab_fail_in_file(err, r->path, 1, 1, "topology '%.60s' is neither a tree nor of blocks",
                                   fab_json_text_of(json, one, "topology", "")));
    FAB_PASS(tree != FAB_JSON_NONE ? yaml_tree(&b, json, tree, err) : yaml_blocks(&b, json, block, err));
    (void)fab_network_leave_out(r->net, fab_json_count(json, 0) - 1, "topologies beside the default");
    return FAB_OK;
}

const fab_network_format fab_network_slurm_yaml = {.name = "slurm-yaml",
                                                   .summary = "Slurm's topology.yaml (tree, block)",
                                                   .begins = "(.*\n)?- topology:",
                                                   .yaml = yaml_topologies};
