/* Cables that differ between two files of one network, and the second network with some of them as they were. */
#include "diff_internal.h"

#include "fab/fabric_builder.h"
#include "fab/units.h"

#define BOXES_NAMED 3 /* of one change */

static double rate_of(const fab_fabric *f, uint32_t cable) {
    return fab_class_of(f, 2 * cable)->capacity_bps;
}

/* Whether a cable of the second network is one of the first: the same boxes, at the same rate, both ways one cable. */
static bool is_same(const diff *d, uint32_t cable) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    fab_link_id up = d->same[2 * (size_t)cable];
    fab_link_id down = d->same[2 * cable + 1];
    return up != FAB_NONE && down == (up ^ 1U) && rate_of(a, up >> 1) == rate_of(b, cable) &&
           fab_tail(a, up) == d->node[fab_tail(b, 2 * cable)] && fab_head(a, up) == d->node[fab_head(b, 2 * cable)];
}

/* --- groups: cables that share a port belong to one change --- */

static fab_status group_cables(diff *d, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    FAB_PASS(FAB_NEW_ALL((size_t)a->n_cables + b->n_cables + 1, err, d->is_changed, d->group));
    for (uint32_t c = 0; c < a->n_cables + b->n_cables; c++) {
        d->group[c] = c;
        d->is_changed[c] =
            c < b->n_cables ? diff_is_network(b, c) && !is_same(d, c) : diff_is_network(a, c - b->n_cables);
    }
    for (uint32_t c = 0; c < b->n_cables; c++) {
        if (diff_is_network(b, c) && !d->is_changed[c]) {
            d->is_changed[b->n_cables + (d->same[2 * (size_t)c] >> 1)] = false;
        }
    }
    for (fab_link_id l = 0; l < b->n_links; l++) { /* the same port leads elsewhere */
        fab_link_id x = d->same[l];
        if (d->is_changed[l >> 1] && x != FAB_NONE && d->is_changed[b->n_cables + (x >> 1)]) {
            diff_join_cables(d, l >> 1, b->n_cables + (x >> 1));
        }
    }
    return FAB_OK;
}

static void add_names(const fab_fabric *f, const diff *d, uint32_t first, uint32_t n, uint32_t root, bool wants_rates,
                      fab_str *out) {
    for (uint32_t c = 0; c < n; c++) {
        if (d->is_changed[first + c] && diff_group_of(d, first + c) == root) {
            fab_str_printf(out, "%s%s", out->length > 0 ? ", " : "",
                           wants_rates ? FAB_SAY(rate_of(f, c), FAB_UNIT_RATE) : FAB_SAY_LINK(f, 2 * c));
        }
    }
}

static void name_cables(const diff *d, uint32_t root, bool wants_rates, fab_str text[2]) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    text[0].length = text[1].length = 0;
    add_names(a, d, b->n_cables, a->n_cables, root, wants_rates, &text[0]);
    add_names(b, d, 0, b->n_cables, root, wants_rates, &text[1]);
}

static fab_status add_group(diff *d, uint32_t root, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    FAB_OWNS(fab_str_release) fab_str moves = FAB_STR_INIT;
    char what[FAB_LINK_NAME_SIZE];
    diff_name_moves(d, root, &moves, text);
    FAB_PASS(moves.failed || text[0].failed || text[1].failed ? FAB_ENOMEM : FAB_OK);
    if (moves.length > 0) {
        return diff_add_change(d, FAB_CHANGE_MOVE, moves.data, text[0].data, text[1].data, NULL, root, err);
    }
    name_cables(d, root, false, text);
    if (text[0].length > 0 && text[1].length > 0 && !text[0].failed && !text[1].failed &&
        strcmp(text[0].data, text[1].data) == 0) {
        name_cables(d, root, true, text); /* the same cable at another rate */
    }
    FAB_PASS(text[0].failed || text[1].failed ? fab_str_status(text[0].failed ? &text[0] : &text[1], err) : FAB_OK);
    (void)fab_link_name(root < b->n_cables ? b : a, 2 * (root < b->n_cables ? root : root - b->n_cables), what);
    return diff_add_change(d, FAB_CHANGE_CABLE, what, text[0].length > 0 ? text[0].data : "",
                           text[1].length > 0 ? text[1].data : "", NULL, root, err);
}

/* --- boxes that are in one network alone: a change each, with their cables --- */

typedef struct lost_boxes {
    bool *is_lost;   /* [nodes of the second, then of the first] */
    uint32_t *cable; /* the first of its cables, which is one of its group; FAB_NONE: it has none */
    bool *is_told;   /* [cables]: the group has boxes, so that it is no change of cables */
    uint32_t n_second, n;
} lost_boxes;

static const fab_fabric *network_of(const diff *d, const lost_boxes *b, uint32_t box, fab_node_id *out_node) {
    *out_node = box < b->n_second ? box : box - b->n_second;
    return d->side[box < b->n_second].f;
}

/* NICs of one server are one change. */
static void join_nics(diff *d, const lost_boxes *b) {
    for (uint32_t k = 0; k < b->n; k++) {
        fab_node_id node = 0;
        const fab_fabric *f = network_of(d, b, k, &node);
        if (!b->is_lost[k] || b->cable[k] == FAB_NONE || fab_kind_of(f, node) != FAB_NODE_NIC) {
            continue;
        }
        const uint32_t first = k - (node - f->first[FAB_NODE_NIC]) % f->nics_per_server;
        if (b->is_lost[first] && b->cable[first] != FAB_NONE) {
            diff_join_cables(d, b->cable[first], b->cable[k]);
        }
    }
}

/* Cables of a box are one change. */
static void join_cables(diff *d, lost_boxes *b) {
    const uint32_t n_second = d->side[1].f->n_cables;
    for (uint32_t c = 0; c < n_second + d->side[0].f->n_cables; c++) {
        const fab_fabric *f = d->side[c < n_second].f;
        fab_link_id link = 2 * (c < n_second ? c : c - n_second);
        uint32_t first = c < n_second ? 0 : b->n_second;
        const uint32_t end[2] = {first + fab_tail(f, link), first + fab_head(f, link)};
        for (int i = 0; i < 2 && d->is_changed[c]; i++) {
            if (b->is_lost[end[i]]) {
                b->cable[end[i]] = b->cable[end[i]] == FAB_NONE ? c : b->cable[end[i]];
                diff_join_cables(d, b->cable[end[i]], c);
            }
        }
    }
}

/* "spine-2 with 16 cables": boxes of one network that share a group. */
static void name_boxes(diff *d, const lost_boxes *b, uint32_t box, uint32_t root, bool of_second, fab_str *out) {
    size_t n = 0;
    uint64_t n_cables = 0;
    uint32_t first = root == FAB_NONE ? box : 0;
    for (uint32_t k = first; k < (root == FAB_NONE ? box + 1 : b->n); k++) {
        fab_node_id node = 0;
        const fab_fabric *f = network_of(d, b, k, &node);
        bool is_one = (k < b->n_second) == of_second && b->is_lost[k] &&
                      (root == FAB_NONE || (b->cable[k] != FAB_NONE && diff_group_of(d, b->cable[k]) == root));
        if (is_one && n++ < BOXES_NAMED) {
            fab_str_printf(out, "%s%s", n > 1 ? ", " : "", FAB_SAY_NODE(f, node));
        }
    }
    const uint32_t n_second = d->side[1].f->n_cables;
    for (uint32_t c = 0; c < n_second + d->side[0].f->n_cables && root != FAB_NONE; c++) {
        n_cables += (c < n_second) == of_second && d->is_changed[c] && diff_group_of(d, c) == root;
    }
    if (n > BOXES_NAMED) {
        fab_str_printf(out, " and %zu more", n - BOXES_NAMED);
    }
    if (n > 0) {
        fab_str_printf(out, " with %llu cable%s", (unsigned long long)n_cables, n_cables == 1 ? "" : "s");
    }
}

static fab_status add_box(diff *d, lost_boxes *b, uint32_t box, fab_error *err) {
    FAB_OWNS(diff_release_two) fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    fab_node_id node = 0;
    const fab_fabric *f = network_of(d, b, box, &node);
    uint32_t root = b->cable[box] != FAB_NONE ? diff_group_of(d, b->cable[box]) : FAB_NONE;
    if (root != FAB_NONE && b->is_told[root]) {
        return FAB_OK;
    }
    if (root != FAB_NONE) {
        b->is_told[root] = true;
    }
    for (int i = 0; i < 2 && d->out->n_changes < DIFF_CHANGES; i++) {
        if (root != FAB_NONE || (box < b->n_second) == (i == 1)) {
            name_boxes(d, b, box, root, i == 1, &text[i]);
        }
        FAB_PASS(text[i].failed ? fab_str_status(&text[i], err) : FAB_OK);
    }
    return diff_add_change(d, FAB_CHANGE_BOX, FAB_SAY_NODE(f, node), text[0].length > 0 ? text[0].data : "",
                           text[1].length > 0 ? text[1].data : "", NULL, root, err);
}

static void find_lost(const diff *d, lost_boxes *b) {
    for (uint32_t k = 0; k < b->n; k++) {
        fab_node_id node = 0;
        const fab_fabric *f = network_of(d, b, k, &node);
        fab_node_kind kind = fab_kind_of(f, node);
        bool is_box = kind == FAB_NODE_SWITCH || kind == FAB_NODE_NIC;
        b->is_lost[k] = is_box && (k >= b->n_second || d->node[k] == FAB_NONE);
        b->cable[k] = FAB_NONE;
    }
    for (uint32_t v = 0; v < b->n_second; v++) {
        if (d->node[v] != FAB_NONE) {
            b->is_lost[b->n_second + d->node[v]] = false;
        }
    }
}

/* Cables beside those of boxes: how many are gone, new, or otherwise, and the switch that most of them touch. */
static fab_status count_cables(diff *d, const lost_boxes *b, fab_error *err) {
    const uint32_t n_second = d->side[1].f->n_cables;
    const uint32_t n = n_second + d->side[0].f->n_cables;
    uint32_t most = 0;
    fab_node_id node = 0;
    FAB_OWNED_NEW(uint64_t, at, (size_t)b->n + 1, err);
    FAB_OWNED_NEW(uint8_t, networks, (size_t)n + 1, err); /* [groups]: 1: has cables of the first, 2: of the second */
    for (uint32_t c = 0; c < n; c++) {
        networks[diff_group_of(d, c)] |= d->is_changed[c] ? (c < n_second ? 2 : 1) : 0;
    }
    for (uint32_t c = 0; c < n; c++) {
        uint32_t root = diff_group_of(d, c);
        const fab_fabric *f = d->side[c < n_second].f;
        if (!d->is_changed[c] || b->is_told[root] || (networks[root] == 3 && c >= n_second)) {
            continue;
        }
        *(networks[root] == 1   ? &d->out->gone_cables
          : networks[root] == 2 ? &d->out->new_cables
                                : &d->out->other_cables) += 1;
        for (uint32_t end = 0; end < 2; end++) {
            node = fab_tail(f, 2 * (c < n_second ? c : c - n_second) + end);
            uint32_t box = (c < n_second ? 0 : b->n_second) + node;
            at[box] += fab_kind_of(f, node) == FAB_NODE_SWITCH;
            most = at[box] > at[most] ? box : most;
        }
    }
    const fab_fabric *f = network_of(d, b, most, &node);
    d->out->most_cables = at[most];
    (void)fab_node_name(f, node, d->out->most_at);
    return FAB_OK;
}

fab_status diff_find_cables(diff *d, fab_error *err) {
    const uint32_t n = d->side[0].f->n_cables + d->side[1].f->n_cables;
    lost_boxes b = {.n_second = d->side[1].f->n_nodes, .n = d->side[0].f->n_nodes + d->side[1].f->n_nodes};
    FAB_OWNS_MEMBERS(b.is_lost, b.cable, b.is_told);
    FAB_PASS(FAB_NEW_ALL((size_t)b.n + 1, err, b.is_lost, b.cable));
    FAB_PASS(FAB_NEW(b.is_told, (size_t)n + 1, err));
    FAB_PASS(group_cables(d, err));
    FAB_PASS(diff_find_moves(d, err));
    find_lost(d, &b);
    join_cables(d, &b);
    join_nics(d, &b);
    for (uint32_t box = 0; box < b.n; box++) {
        FAB_PASS(b.is_lost[box] ? add_box(d, &b, box, err) : FAB_OK);
    }
    for (uint32_t c = 0; c < n; c++) {
        if (d->is_changed[c] && diff_group_of(d, c) == c && !b.is_told[c]) {
            FAB_PASS(add_group(d, c, err));
        }
    }
    return count_cables(d, &b, err);
}

/* --- as it was ---------------------------------------------------------------------------------------------------- */

static bool is_undone(const diff *d, const bool *undone, uint32_t cable) {
    uint32_t root = d->is_changed[cable] ? diff_group_of(d, cable) : FAB_NONE;
    for (size_t i = 0; i < d->out->n_changes && root != FAB_NONE; i++) {
        fab_change_kind kind = d->out->changes[i].kind;
        if ((kind == FAB_CHANGE_CABLE || kind == FAB_CHANGE_BOX || kind == FAB_CHANGE_MOVE) && d->place[i] == root) {
            return undone[i];
        }
    }
    return false;
}

/* Cables that stay, and those of the first network that come back. What both have is told by the frame. */
static bool keeps(const diff *d, const bool *undone, uint32_t cable, bool in_first) {
    bool of_second = cable < d->side[1].f->n_cables;
    return d->is_changed[cable] ? is_undone(d, undone, cable) != of_second : of_second != in_first;
}

/* Whether every box of the other network is one of the frame, in the same tier; where it stands there. */
static fab_status place_boxes(const diff *d, bool in_first, fab_node_id *at, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    bool same = a->n_tiers == b->n_tiers && a->wiring == b->wiring && a->n_cut_servers == b->n_cut_servers &&
                a->n_servers == b->n_servers;
    size_t n = 0;
    for (fab_node_id v = 0; v < b->n_nodes && same; v++) {
        fab_node_id u = d->node[v];
        bool is_switch = fab_kind_of(b, v) == FAB_NODE_SWITCH;
        if (u != FAB_NONE) {
            same = fab_kind_of(a, u) == fab_kind_of(b, v) && (!is_switch || fab_tier_of(a, u) == fab_tier_of(b, v));
            same = same && (!in_first || is_switch || u == v); /* servers are told by number */
            at[in_first ? v : u] = in_first ? u : v;
            n++;
        }
    }
    return same && n == (in_first ? b : a)->n_nodes
               ? FAB_OK
               : fab_fail(err, FAB_EUNSUPPORTED, NULL,
                          "boxes or tiers differ too: cables cannot be put back one by one");
}

static fab_status add_cables(const diff *d, const bool *undone, bool in_first, const fab_node_id *at,
                             fab_builder *builder, fab_error *err) {
    const uint32_t n_second = d->side[1].f->n_cables;
    const uint32_t n = n_second + d->side[0].f->n_cables;
    for (uint32_t i = 0; i < n; i++) { /* the frame's first, in their order */
        uint32_t c = in_first ? (i + n_second) % n : i;
        const fab_fabric *from = d->side[c < n_second].f;
        bool moves = (c < n_second) == in_first;
        fab_link_id link = 2 * (c < n_second ? c : c - n_second);
        fab_node_id lower = fab_tail(from, link);
        fab_node_id upper = fab_head(from, link);
        uint16_t link_class = 0;
        if (!keeps(d, undone, c, in_first)) {
            continue;
        }
        FAB_PASS(fab_builder_class(builder, fab_class_of(from, link), &link_class, err));
        fab_builder_cable(builder, link_class, moves ? at[lower] : lower, from->port[link], moves ? at[upper] : upper,
                          from->port[link ^ 1U]);
    }
    return FAB_OK;
}

static void copy_shape(const fab_fabric *from, fab_fabric *to) {
    uint32_t n = fab_n_switches(from);
    to->n_servers = from->n_servers;
    to->n_rails = from->n_rails;
    to->n_planes = from->n_planes;
    to->n_pods = from->n_pods;
    to->n_cut_servers = from->n_cut_servers;
    to->n_boundaries = from->n_boundaries;
    to->wiring = from->wiring;
    to->gpus_per_server = from->gpus_per_server;
    to->nics_per_server = from->nics_per_server;
    to->gpus_per_domain = from->gpus_per_domain;
    to->rails_per_network = from->rails_per_network;
    to->forwards_in_domain = from->forwards_in_domain;
    to->forwards_at_destination = from->forwards_at_destination;
    to->stores_and_forwards = from->stores_and_forwards;
    to->host = from->host;
    to->reduces_in_switches = from->reduces_in_switches;
    memcpy(to->switch_pod, from->switch_pod, n * sizeof *to->switch_pod);
    memcpy(to->switch_rail, from->switch_rail, n * sizeof *to->switch_rail);
    memcpy(to->switch_plane, from->switch_plane, n * sizeof *to->switch_plane);
    memcpy(to->switch_radix, from->switch_radix, n * sizeof *to->switch_radix);
    memcpy(to->switch_ports, from->switch_ports, n * sizeof *to->switch_ports);
}

fab_status diff_recable(const diff *d, const bool *undone, fab_fabric **out, fab_error *err) {
    bool in_first = d->side[0].f->n_nodes > d->side[1].f->n_nodes; /* boxes that are gone may come back */
    const fab_fabric *frame = d->side[!in_first].f;
    FAB_OWNS(fab_builder_free_owned) fab_builder *builder = NULL;
    fab_builder_sizes sizes = {.n_gpus = fab_n_gpus(frame),
                               .n_nics = fab_n_of(frame, FAB_NODE_NIC),
                               .n_domains = fab_n_of(frame, FAB_NODE_DOMAIN),
                               .n_tiers = frame->n_tiers};
    FAB_OWNED_NEW(fab_node_id, at, (size_t)frame->n_nodes + 1, err);
    FAB_PASS(place_boxes(d, in_first, at, err));
    for (uint32_t t = 1; t <= frame->n_tiers; t++) {
        sizes.n_switches[t] = frame->first_of_tier[t + 1] - frame->first_of_tier[t];
    }
    for (uint32_t c = 0; c < d->side[0].f->n_cables + d->side[1].f->n_cables; c++) {
        sizes.n_cables += keeps(d, undone, c, in_first);
    }
    FAB_PASS(fab_builder_new(&sizes, &builder, err));
    copy_shape(frame, fab_builder_fabric(builder));
    FAB_PASS(add_cables(d, undone, in_first, at, builder, err));
    return fab_builder_freeze(&builder, out, err);
}
