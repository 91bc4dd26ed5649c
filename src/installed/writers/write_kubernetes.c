/* Where nodes are, for schedulers of Kubernetes: the model that topograph reads, and what Kueue schedules by: a
 * Topology, a ResourceFlavor for each network, the labels of the nodes. Labels are those of topograph, tier-0 next to
 * the node. Source: docs.nvidia.com/topograph (node labels), NVIDIA/topograph tests/models, kueue.sigs.k8s.io. */
#include "fab/host_list.h"
#include "fab/network_write.h"
#include "structure/network_tree.h"

#define TIER        "fabric.topograph.run/tier-"
#define DOMAIN      "accelerator.topograph.run/domain"
#define LABEL_BYTES 63 /* of the value of a label */

typedef struct node_tree {
    const fab_network *net;
    fab_boxes boxes;
    fab_network_tree tree;
    uint32_t *unit;     /* [boxes]: of a host, the one it is in; FAB_NETWORK_NONE */
    uint32_t *domain;   /* [boxes]: group of the network + 1; 0: none */
    uint32_t top;       /* highest level */
    const char **names; /* room */
} node_tree;

static fab_status open_nodes(const fab_shape *shape, node_tree *t, fab_error *err) {
    const fab_network *net = t->net = shape->net;
    FAB_PASS(fab_boxes_find(shape, &t->boxes, err));
    FAB_PASS(fab_network_tree_find(shape, &t->boxes, &t->tree, err));
    FAB_PASS(FAB_NEW_ALL(t->boxes.n, err, t->unit, t->domain));
    FAB_PASS(FAB_NEW(t->names, (size_t)t->boxes.n + t->tree.n, err));
    memset(t->unit, 0xff, t->boxes.n * sizeof *t->unit); /* FAB_NETWORK_NONE */
    for (uint32_t i = 0; i < t->tree.n; i++) {
        const fab_tree_unit *unit = &t->tree.unit[i];
        t->top = unit->level > t->top ? unit->level : t->top;
        for (uint32_t k = 0; k < unit->n && unit->level == 0; k++) {
            t->unit[t->tree.member[unit->first + k]] = i;
        }
    }
    for (uint32_t i = 0; i < net->n_groups; i++) {
        for (uint32_t k = 0; k < net->groups[i].n; k++) {
            uint32_t box = t->boxes.of_node[net->member[net->groups[i].first + k]];
            if (box != FAB_NETWORK_NONE) {
                t->domain[box] = i + 1;
            }
        }
    }
    return FAB_OK;
}

static void close_nodes(node_tree *t) {
    fab_boxes_release(&t->boxes);
    fab_network_tree_release(&t->tree);
    FAB_FREE_ALL(t->unit, t->domain, t->names);
}

/* The unit of a level above or at `unit`; where none joins more on that level, the one below it stands there too. */
static const fab_tree_unit *unit_at(const node_tree *t, uint32_t unit, uint32_t level) {
    uint32_t parent = t->tree.unit[unit].parent;
    while (parent != FAB_NETWORK_NONE && t->tree.unit[parent].level <= level) {
        unit = parent;
        parent = t->tree.unit[unit].parent;
    }
    return &t->tree.unit[unit];
}

/* --- topograph ---------------------------------------------------------------------------------------------------- */

/* Members of a unit that are in a domain, each block of them once. */
static void model_put_blocks(const node_tree *t, const fab_tree_unit *unit, fab_str *out) {
    for (uint32_t i = 0; i < unit->n; i++) {
        const uint32_t *member = &t->tree.member[unit->first];
        uint32_t domain = t->domain[member[i]];
        bool is_first = true;
        uint32_t n = 0;
        for (uint32_t k = 0; k < i && is_first; k++) {
            is_first = t->domain[member[k]] != domain;
        }
        for (uint32_t k = i; k < unit->n && is_first; k++) {
            if (t->domain[member[k]] == domain) {
                t->names[n++] = t->boxes.box[member[k]].name;
            }
        }
        if (is_first) {
            fab_str_printf(out, "- switch: \"%s\"\n  nodes:\n  - \"", unit->name);
            fab_host_list_fold(out, t->names, n);
            fab_str_add(out, "\"\n");
            if (domain > 0) {
                fab_str_printf(out, "  annotations:\n    " DOMAIN ": \"%s\"\n", t->net->groups[domain - 1].name);
            }
        }
    }
}

static fab_status write_topograph(const fab_shape *shape, FILE *out, fab_error *err) {
    FAB_OWNS(close_nodes) node_tree t = {.net = NULL};
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_PASS(open_nodes(shape, &t, err));
    fab_str_add(&text, "switches:\n");
    FAB_EACH(const fab_tree_unit, unit, t.tree.unit, t.tree.n) {
        if (unit->level == 0) {
            continue;
        }
        fab_str_printf(&text, "  \"%s\":\n    switches:\n", unit->name);
        for (uint32_t k = 0; k < unit->n; k++) {
            fab_str_printf(&text, "    - \"%s\"\n", t.tree.unit[t.tree.member[unit->first + k]].name);
        }
    }
    fab_str_add(&text, "blocks:\n");
    for (uint32_t i = 0; i < t.tree.n; i++) {
        if (t.tree.unit[i].level == 0) {
            model_put_blocks(&t, &t.tree.unit[i], &text);
        }
    }
    FAB_PASS(fab_str_status(&text, err));
    (void)fwrite(text.data, 1, text.length, out);
    return FAB_OK;
}

/* --- Kueue -------------------------------------------------------------------------------------------------------- */

static fab_status check_label(const node_tree *t, const char *name, fab_error *err) {
    size_t n = strlen(name);
    bool is_word = n > 0 && n <= LABEL_BYTES && strchr("-_.", name[0]) == NULL && strchr("-_.", name[n - 1]) == NULL;
    return is_word ? FAB_OK
                   : fab_fail(err, FAB_EUNSUPPORTED, t->net->path,
                              "'%.100s' is no value of a label: up to %d bytes, a letter or digit first and last", name,
                              LABEL_BYTES);
}

static void kueue_put_levels(const node_tree *t, FILE *out) {
    (void)fputs("apiVersion: kueue.x-k8s.io/v1beta1\nkind: Topology\nmetadata:\n  name: fabric\nspec:\n  levels:\n",
                out);
    for (uint32_t level = t->top + 1; level-- > 0;) {
        (void)fprintf(out, "  - nodeLabel: " TIER "%" PRIu32 "\n", level);
    }
    (void)fputs("  - nodeLabel: kubernetes.io/hostname\n", out);
}

static void kueue_put_flavors(const node_tree *t, FILE *out) {
    FAB_EACH(const fab_tree_unit, unit, t->tree.unit, t->tree.n) {
        if (unit->parent == FAB_NETWORK_NONE) {
            (void)fprintf(out,
                          "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata:\n  name: \"%s\"\n"
                          "spec:\n  nodeLabels:\n    " TIER "%" PRIu32 ": \"%s\"\n  topologyName: fabric\n",
                          unit->name, t->top, unit->name);
        }
    }
}

static void kueue_put_node(const node_tree *t, uint32_t box, FILE *out) {
    (void)fprintf(out, "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: \"%s\"\n  labels:\n",
                  t->boxes.box[box].name);
    for (uint32_t level = t->top + 1; level-- > 0;) {
        (void)fprintf(out, "    " TIER "%" PRIu32 ": \"%s\"\n", level, unit_at(t, t->unit[box], level)->name);
    }
    if (t->domain[box] > 0) {
        (void)fprintf(out, "    " DOMAIN ": \"%s\"\n", t->net->groups[t->domain[box] - 1].name);
    }
}

static fab_status write_kueue(const fab_shape *shape, FILE *out, fab_error *err) {
    FAB_OWNS(close_nodes) node_tree t = {.net = NULL};
    FAB_PASS(open_nodes(shape, &t, err));
    for (uint32_t i = 0; i < t.tree.n; i++) {
        FAB_PASS(check_label(&t, t.tree.unit[i].name, err));
    }
    for (uint32_t i = 0; i < t.net->n_groups; i++) {
        FAB_PASS(check_label(&t, t.net->groups[i].name, err));
    }
    kueue_put_levels(&t, out);
    kueue_put_flavors(&t, out);
    for (uint32_t i = 0; i < t.boxes.n; i++) {
        if (t.unit[i] != FAB_NETWORK_NONE) {
            kueue_put_node(&t, i, out);
        }
    }
    return FAB_OK;
}

const fab_network_writer fab_network_topograph_model = {"topograph", ".model.yaml", "model for topograph, YAML",
                                                        write_topograph};
const fab_network_writer fab_network_kueue = {
    "kueue", ".kueue.yaml", "Topology, ResourceFlavors and labels of nodes for Kueue, YAML", write_kueue};
