/* Cables are appended in any order; freezing makes the adjacency by a counting pass and checks every port. */
#include "fab/fabric_builder.h"
#include "fab/ranked.h"

struct fab_builder {
    fab_fabric *fabric;
    uint32_t n_added;
    size_t class_capacity;
};

fab_status fab_builder_new(const fab_builder_sizes *sizes, fab_builder **out, fab_error *err) {
    uint64_t n_switches = 0;
    for (uint32_t t = 1; t <= sizes->n_tiers; t++) {
        n_switches += sizes->n_switches[t];
    }
    uint64_t n_nodes = (uint64_t)sizes->n_gpus + sizes->n_nics + sizes->n_domains + n_switches;
    FAB_REFUSE_IF(n_nodes > UINT32_MAX / 2 || sizes->n_cables > UINT32_MAX / 2 - 1, err, FAB_EINPUT, NULL,
                  "a fabric of %" PRIu64 " nodes and %" PRIu64 " cables exceeds the limit of %u of either", n_nodes,
                  sizes->n_cables, UINT32_MAX / 2 - 1);
    FAB_OWNS_NEW(fab_builder_free_owned, fab_builder, builder, 1, err);
    FAB_PASS(FAB_NEW(builder->fabric, 1, err));
    fab_fabric *f = builder->fabric;
    f->n_nodes = (uint32_t)n_nodes;
    f->n_cables = (uint32_t)sizes->n_cables;
    f->n_links = 2 * f->n_cables;
    f->n_tiers = sizes->n_tiers;
    f->n_boundaries = sizes->n_tiers;
    f->first[FAB_NODE_NIC] = sizes->n_gpus;
    f->first[FAB_NODE_DOMAIN] = f->first[FAB_NODE_NIC] + sizes->n_nics;
    f->first[FAB_NODE_SWITCH] = f->first[FAB_NODE_DOMAIN] + sizes->n_domains;
    f->first[FAB_NODE_N_KINDS] = f->n_nodes;
    f->first_of_tier[1] = f->first[FAB_NODE_SWITCH];
    for (uint32_t t = 1; t <= sizes->n_tiers; t++) {
        f->first_of_tier[t + 1] = f->first_of_tier[t] + sizes->n_switches[t];
    }
    FAB_PASS(FAB_NEW(f->cable_class, f->n_cables, err));
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, f->end, f->port));
    FAB_PASS(
        FAB_NEW_ALL(n_switches, err, f->switch_pod, f->switch_rail, f->switch_plane, f->switch_radix, f->switch_ports));
    return FAB_GIVE(*out, builder);
}

FAB_FREES_AFTER(fab_builder_free, fab_builder, builder) {
    fab_fabric_free(builder->fabric);
}

fab_fabric *fab_builder_fabric(fab_builder *builder) {
    return builder->fabric;
}

static bool same_class(const fab_link_class *a, const fab_link_class *b) {
    return a->kind == b->kind && a->tier == b->tier && a->capacity_bps == b->capacity_bps &&
           a->usable_bps == b->usable_bps && a->length_m == b->length_m && a->latency_s == b->latency_s;
}

fab_status fab_class_add(fab_fabric *f, const fab_link_class *link_class, uint16_t first, size_t *capacity,
                         uint16_t *out_class, fab_error *err) {
    fab_link_class wanted = *link_class;
    wanted.usable_bps = wanted.usable_bps > 0 ? wanted.usable_bps : wanted.capacity_bps;
    for (uint16_t i = first; i < f->n_classes; i++) {
        if (same_class(&f->classes[i], &wanted)) {
            *out_class = i;
            return FAB_OK;
        }
    }
    FAB_REFUSE_IF(f->n_classes == UINT16_MAX, err, FAB_EINPUT, NULL, "more than %u kinds of links", UINT16_MAX);
    FAB_PASS(FAB_GROW(f->classes, *capacity, (size_t)f->n_classes + 1, err));
    f->classes[f->n_classes] = wanted;
    *out_class = f->n_classes++;
    return FAB_OK;
}

fab_status fab_builder_class(fab_builder *builder, const fab_link_class *link_class, uint16_t *out_class,
                             fab_error *err) {
    return fab_class_add(builder->fabric, link_class, 0, &builder->class_capacity, out_class, err);
}

void fab_builder_cable(fab_builder *builder, uint16_t link_class, fab_node_id lower, uint32_t lower_port,
                       fab_node_id upper, uint32_t upper_port) {
    fab_fabric *f = builder->fabric;
    uint32_t cable = builder->n_added++;
    if (cable >= f->n_cables) {
        return; /* freezing reports the surplus */
    }
    f->cable_class[cable] = link_class;
    f->end[2 * (size_t)cable] = lower;
    f->end[2 * (size_t)cable + 1] = upper;
    f->port[2 * (size_t)cable] = (uint16_t)lower_port;
    f->port[2 * (size_t)cable + 1] = (uint16_t)upper_port;
}

/* Puts the links of node v in port order. The builders emit them so; foreign graphs need the sort. */
static fab_status order_ports(fab_fabric *f, fab_node_id v, uint64_t **scratch, size_t *capacity, fab_error *err) {
    uint32_t first = f->out_first[v];
    uint32_t n = f->out_first[v + 1] - first;
    uint32_t *links = f->out_link + first;
    FAB_ALL_IN(sorted, i, 1, n, f->port[links[i - 1]] <= f->port[links[i]]);
    if (!sorted) {
        FAB_PASS(FAB_GROW(*scratch, *capacity, n, err));
        FAB_FILL(*scratch, n, (uint64_t)f->port[links[fab_at]] << 32 | links[fab_at]);
        qsort(*scratch, n, sizeof **scratch, fab_order_u64);
        FAB_FILL(links, n, (uint32_t)(*scratch)[fab_at]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t port = f->port[links[i]];
        FAB_REFUSE_IF(i > 0 && f->port[links[i - 1]] == port, err, FAB_EINTERNAL, FAB_SAY_NODE(f, v),
                      "port %u holds two cables", port);
        FAB_REFUSE_IF(v >= f->first[FAB_NODE_SWITCH] &&
                          (port == 0 || port > f->switch_ports[v - f->first[FAB_NODE_SWITCH]]),
                      err, FAB_EINTERNAL, FAB_SAY_NODE(f, v), "port %u lies beyond the last, %u", port,
                      f->switch_ports[v - f->first[FAB_NODE_SWITCH]]);
    }
    return FAB_OK;
}

static fab_status make_adjacency(fab_fabric *f, fab_error *err) {
    FAB_OWNED uint64_t *scratch = NULL;
    size_t capacity = 0;
    FAB_PASS(FAB_NEW(f->out_first, (size_t)f->n_nodes + 2, err));
    FAB_PASS(FAB_NEW(f->out_link, f->n_links, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        FAB_REFUSE_IF(f->end[l] >= f->n_nodes, err, FAB_EINTERNAL, NULL, "cable %u ends at node %u of %u", l / 2,
                      f->end[l], f->n_nodes);
    }
    fab_sort_by_key(f->end, NULL, f->n_links, f->n_nodes, f->out_first, f->out_link);
    for (uint32_t v = 0; v < f->n_nodes; v++) {
        FAB_PASS(order_ports(f, v, &scratch, &capacity, err));
    }
    return FAB_OK;
}

fab_status fab_builder_freeze(fab_builder **builder, fab_fabric **out, fab_error *err) {
    fab_builder *b = *builder;
    fab_fabric *f = b->fabric;
    FAB_REFUSE_IF(b->n_added != f->n_cables, err, FAB_EINTERNAL, NULL, "%u cables were added, %u announced", b->n_added,
                  f->n_cables);
    for (uint32_t i = 0; i < fab_n_switches(f); i++) {
        if (f->switch_ports[i] == 0) { /* no breakout */
            f->switch_ports[i] = f->switch_radix[i];
        }
    }
    if (f->rails_per_network == 0) {
        f->rails_per_network = f->n_rails > 0 ? f->n_rails : 1;
    }
    FAB_PASS(make_adjacency(f, err));
    *out = f;
    b->fabric = NULL;
    fab_builder_free(b);
    *builder = NULL;
    return FAB_OK;
}
