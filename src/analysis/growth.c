#include "fab/analysis.h"
#include "fab/rng.h"

/* Parents of a switch of tier t: distinct upper ends of its uplinks. Uplinks to one parent are not adjacent by port, so
 * the smallest and the largest upper node tell: a group of parents is contiguous. */
static uint32_t parents_of(const fab_fabric *f, fab_node_id v) {
    uint32_t low = FAB_NONE;
    uint32_t high = 0;
    for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
        if (fab_is_up(f->out_link[k])) {
            uint32_t head = fab_head(f, f->out_link[k]);
            low = head < low ? head : low;
            high = head > high ? head : high;
        }
    }
    return low == FAB_NONE ? 1 : high - low + 1;
}

/* Equal networks side by side: planes, and the rails of rail-only. Switches of a tier are numbered network by network.
 */
static uint64_t copies_of(const fab_fabric *f) {
    uint64_t networks = f->forwards_in_domain ? (f->n_rails + f->rails_per_network - 1) / f->rails_per_network : 1;
    return networks * f->n_planes;
}

/* A number that a device keeps while the fabric grows: network, block, and position in each group on the way up. */
static uint64_t growth_place_of(const fab_fabric *f, fab_node_id v, const uint32_t *parents) {
    if (v < f->first[FAB_NODE_SWITCH]) {
        return v - f->first[FAB_NODE_NIC];
    }
    uint32_t tier = fab_tier_of(f, v);
    uint64_t index = v - f->first_of_tier[tier];
    uint64_t in_copy = (f->first_of_tier[tier + 1] - f->first_of_tier[tier]) / copies_of(f);
    uint64_t place = fab_draw(tier, index / in_copy, 0);
    index %= in_copy;
    for (uint32_t t = tier; t > 1; t--) {
        place = fab_mix64(place ^ index % parents[t]);
        index /= parents[t];
    }
    return fab_mix64(place ^ index << 8);
}

/* One key per network cable, sorted: equal keys join the same two devices. */
static fab_status list_pairs(const fab_fabric *f, uint64_t **out, size_t *out_n, fab_error *err) {
    uint32_t parents[FAB_FABRIC_TIERS + 2] = {0}; /* [t]: size of the groups of tier t */
    for (uint32_t t = 2; t <= f->n_tiers; t++) {
        parents[t] = parents_of(f, f->first_of_tier[t - 1]);
    }
    uint64_t *keys = NULL;
    size_t n = 0;
    FAB_PASS(FAB_NEW(keys, f->n_cables, err));
    for (uint32_t c = 0; c < f->n_cables; c++) {
        const fab_link_class *k = &f->classes[f->cable_class[c]];
        if (k->tier > 0) {
            uint64_t lower = growth_place_of(f, f->end[2 * (size_t)c], parents);
            uint64_t upper = growth_place_of(f, f->end[2 * (size_t)c + 1], parents);
            keys[n++] = fab_draw(k->tier, lower, upper);
        }
    }
    qsort(keys, n, sizeof *keys, fab_order_u64);
    *out = keys;
    *out_n = n;
    return FAB_OK;
}

fab_status fab_cables_moved(const fab_fabric *before, const fab_fabric *after, uint64_t *out_moved, fab_error *err) {
    FAB_OWNED uint64_t *a = NULL;
    FAB_OWNED uint64_t *b = NULL;
    size_t n_a = 0;
    size_t n_b = 0;
    FAB_PASS(list_pairs(before, &a, &n_a, err));
    FAB_PASS(list_pairs(after, &b, &n_b, err));
    uint64_t kept = 0;
    for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
        if (a[i] == b[j]) {
            kept++;
            i++;
            j++;
        } else if (a[i] < b[j]) {
            i++;
        } else {
            j++;
        }
    }
    *out_moved = n_a - kept;
    return FAB_OK;
}

uint64_t fab_free_ports(const fab_fabric *f) {
    uint64_t free_ports = 0;
    for (fab_node_id v = f->first[FAB_NODE_SWITCH]; v < f->n_nodes; v++) {
        uint32_t used = f->out_first[v + 1] - f->out_first[v];
        uint32_t ports = f->switch_ports[v - f->first[FAB_NODE_SWITCH]];
        free_ports += ports > used ? ports - used : 0;
    }
    return free_ports;
}

static uint64_t quantity_of(const fab_cost *cost, const fab_cost_line *like) {
    uint64_t quantity = 0;
    for (size_t i = 0; i < cost->n_lines; i++) {
        if (strcmp(cost->lines[i].part, like->part) == 0 && strcmp(cost->lines[i].tier, like->tier) == 0 &&
            strcmp(cost->lines[i].medium, like->medium) == 0) {
            quantity += cost->lines[i].quantity;
        }
    }
    return quantity;
}

/* Lines of `lines` that `others` does not have as many of. */
static void add_parts(const fab_cost *lines, const fab_cost *others, bool bought, fab_growth_step *step) {
    FAB_EACH(const fab_cost_line, line, lines->lines, lines->n_lines) {
        uint64_t other = others != NULL ? quantity_of(others, line) : 0;
        if (line->quantity <= other) {
            continue;
        }
        uint64_t more = line->quantity - other;
        fab_growth_part *part = &step->parts[step->n_parts++];
        FAB_FORMAT(part->part, "%.40s%s%.20s", line->part, line->medium[0] != '\0' ? ", " : "", line->medium);
        FAB_FORMAT(part->tier, "%s", line->tier);
        if (bought) {
            part->bought = more;
            part->bought_usd = (double)more * line->unit_usd;
            step->bought_usd += part->bought_usd;
        } else {
            part->retired = more;
        }
    }
}

fab_status fab_growth_step_of(const fab_fabric_result *before, const fab_fabric *before_graph,
                              const fab_fabric_result *after, const fab_fabric *after_graph, fab_growth_step *out,
                              fab_error *err) {
    fab_growth_step step = {.gpus = after->counts.gpus,
                            .switches = after->counts.switches,
                            .cables = after->counts.cables,
                            .total_usd = after->cost.total_usd,
                            .bisection_ratio = after->bisection_ratio,
                            .free_ports = fab_free_ports(after_graph)};
    FAB_OWNS_MEMBERS(step.parts);
    size_t most = after->cost.n_lines + (before != NULL ? before->cost.n_lines : 0);
    FAB_PASS(FAB_NEW(step.parts, most, err));
    add_parts(&after->cost, before != NULL ? &before->cost : NULL, true, &step);
    if (before != NULL && before_graph != NULL) {
        add_parts(&before->cost, &after->cost, false, &step);
        FAB_PASS(fab_cables_moved(before_graph, after_graph, &step.cables_moved, err));
    }
    *out = step;
    step.parts = NULL;
    return FAB_OK;
}
