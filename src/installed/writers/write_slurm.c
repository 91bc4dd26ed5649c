/* topology.conf and topology.yaml of Slurm: for topology/tree the switches and what is below them, for topology/block
 * the sets of nodes that are next to each other. Source: topology.conf(5). */
#include "fab/network_write.h"
#include "fab/host_list.h"
#include "structure/network_tree.h"

static fab_status slurm_put_list(FILE *out, const char *const *names, uint32_t n, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    fab_host_list_fold(&text, names, n);
    FAB_PASS(fab_str_status(&text, err));
    (void)fprintf(out, "%s\n", text.data);
    return FAB_OK;
}

typedef struct tree_file {
    fab_boxes boxes;
    fab_network_tree tree;
    const char **names; /* of the members of the unit at hand */
} tree_file;

static fab_status open_tree(const fab_shape *shape, tree_file *out, fab_error *err) {
    *out = (tree_file){.names = NULL};
    FAB_PASS(fab_boxes_find(shape, &out->boxes, err));
    FAB_PASS(fab_network_tree_find(shape, &out->boxes, &out->tree, err));
    return FAB_NEW(out->names, (size_t)out->boxes.n + out->tree.n, err);
}

static void close_tree(tree_file *file) {
    fab_boxes_release(&file->boxes);
    fab_network_tree_release(&file->tree);
    free(file->names);
}

static void slurm_list_members(const tree_file *file, const fab_tree_unit *unit) {
    for (uint32_t k = 0; k < unit->n; k++) {
        uint32_t member = file->tree.member[unit->first + k];
        file->names[k] = unit->level > 0 ? file->tree.unit[member].name : file->boxes.box[member].name;
    }
}

static fab_status write_tree(const fab_shape *shape, FILE *out, fab_error *err) {
    FAB_OWNS(close_tree) tree_file file = {.names = NULL};
    FAB_PASS(open_tree(shape, &file, err));
    FAB_EACH(const fab_tree_unit, unit, file.tree.unit, file.tree.n) {
        slurm_list_members(&file, unit);
        (void)fprintf(out, "SwitchName=%s %s=", unit->name, unit->level > 0 ? "Switches" : "Nodes");
        FAB_PASS(slurm_put_list(out, file.names, unit->n, err));
    }
    return FAB_OK;
}

/* A text in double quotes. */
static void put_quoted(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        (void)fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    (void)fputc('"', out);
}

static fab_status write_yaml(const fab_shape *shape, FILE *out, fab_error *err) {
    FAB_OWNS(close_tree) tree_file file = {.names = NULL};
    FAB_OWNS(fab_str_release) fab_str list = FAB_STR_INIT;
    FAB_PASS(open_tree(shape, &file, err));
    (void)fputs("---\n- topology: default\n  cluster_default: true\n  tree:\n    switches:\n", out);
    FAB_EACH(const fab_tree_unit, unit, file.tree.unit, file.tree.n) {
        slurm_list_members(&file, unit);
        list.length = 0;
        fab_host_list_fold(&list, file.names, unit->n);
        FAB_PASS(fab_str_status(&list, err));
        (void)fputs("      - switch: ", out);
        put_quoted(out, unit->name);
        (void)fprintf(out, "\n        %s: ", unit->level > 0 ? "children" : "nodes");
        put_quoted(out, list.data);
        (void)fputc('\n', out);
    }
    return FAB_OK;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

typedef struct block_file {
    FILE *out;
    uint32_t least; /* nodes of a block */
} block_file;

static fab_status put_block(block_file *file, const char *name, const char *const *names, uint32_t n, fab_error *err) {
    file->least = file->least == 0 || n < file->least ? n : file->least;
    (void)fprintf(file->out, "BlockName=%s Nodes=", name);
    return slurm_put_list(file->out, names, n, err);
}

/* Boxes of a group, each once, in their order. */
static uint32_t list_group(const fab_network *net, const fab_boxes *boxes, const fab_network_group *group,
                           uint32_t *seen, uint32_t mark, const char **names) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < group->n; k++) {
        uint32_t box = boxes->of_node[net->member[group->first + k]];
        if (box != FAB_NETWORK_NONE && seen[box] != mark) {
            seen[box] = mark;
            names[n++] = boxes->box[box].name;
        }
    }
    return n;
}

static fab_status put_groups(const fab_shape *shape, block_file *file, fab_error *err) {
    const fab_network *net = shape->net;
    FAB_OWNS(fab_boxes_release) fab_boxes boxes = {.n = 0};
    FAB_OWNED uint32_t *seen = NULL; /* [boxes]: group + 1 */
    FAB_OWNED const char **names = NULL;
    FAB_PASS(fab_boxes_find(shape, &boxes, err));
    FAB_PASS(FAB_NEW_ALL(boxes.n, err, seen, names));
    for (uint32_t i = 0; i < net->n_groups; i++) {
        uint32_t n = list_group(net, &boxes, &net->groups[i], seen, i + 1, names);
        FAB_PASS(put_block(file, net->groups[i].name, names, n, err));
    }
    return FAB_OK;
}

static fab_status put_leaves(const fab_shape *shape, block_file *file, fab_error *err) {
    FAB_OWNS(close_tree) tree_file tree = {.names = NULL};
    FAB_PASS(open_tree(shape, &tree, err));
    for (uint32_t i = 0; i < tree.tree.n; i++) {
        if (tree.tree.unit[i].level == 0) {
            slurm_list_members(&tree, &tree.tree.unit[i]);
            FAB_PASS(put_block(file, tree.tree.unit[i].name, tree.names, tree.tree.unit[i].n, err));
        }
    }
    return FAB_OK;
}

/* Blocks are the sets that the network knows (scale-up domains of several servers), else what a leaf joins. The base
 * size is what the smallest one has: Slurm wants no block smaller than that. */
static fab_status write_block(const fab_shape *shape, FILE *out, fab_error *err) {
    block_file file = {.out = out};
    FAB_PASS(shape->net->n_groups > 0 ? put_groups(shape, &file, err) : put_leaves(shape, &file, err));
    (void)fprintf(out, "BlockSizes=%" PRIu32 "\n", file.least);
    return FAB_OK;
}

const fab_network_writer fab_network_slurm_tree = {
    "slurm-tree", ".tree.conf", "topology.conf of Slurm for TopologyPlugin=topology/tree", write_tree};
const fab_network_writer fab_network_slurm_tree_yaml = {"slurm-yaml", ".topology.yaml",
                                                        "topology.yaml of Slurm, a tree", write_yaml};
const fab_network_writer fab_network_slurm_block = {
    "slurm-block", ".block.conf", "topology.conf of Slurm for TopologyPlugin=topology/block", write_block};
