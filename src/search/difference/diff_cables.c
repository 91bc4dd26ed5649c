/* Cables that differ between two files of one network, and the second network with some of them as they were. */
#include "diff_internal.h"

#include "fab/fabric_builder.h"
#include "fab/memory.h"
#include "fab/names.h"
#include "fab/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_network(const fab_fabric *f, uint32_t cable) {
    fab_link_kind kind = fab_class_of(f, 2 * cable)->kind;
    return kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC;
}

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

static uint32_t root_of(uint32_t *group, uint32_t i) {
    while (group[i] != i) {
        group[i] = group[group[i]];
        i = group[i];
    }
    return i;
}

static void join(uint32_t *group, uint32_t i, uint32_t k) {
    i = root_of(group, i);
    k = root_of(group, k);
    group[i > k ? i : k] = i > k ? k : i;
}

static fab_status group_cables(diff *d, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    FAB_PASS(FAB_NEW(d->is_changed, (size_t)a->n_cables + b->n_cables + 1, err));
    FAB_PASS(FAB_NEW(d->group, (size_t)a->n_cables + b->n_cables + 1, err));
    for (uint32_t c = 0; c < a->n_cables + b->n_cables; c++) {
        d->group[c] = c;
        d->is_changed[c] = c < b->n_cables ? is_network(b, c) && !is_same(d, c) : is_network(a, c - b->n_cables);
    }
    for (uint32_t c = 0; c < b->n_cables; c++) {
        if (is_network(b, c) && !d->is_changed[c]) {
            d->is_changed[b->n_cables + (d->same[2 * (size_t)c] >> 1)] = false;
        }
    }
    for (fab_link_id l = 0; l < b->n_links; l++) { /* the same port leads elsewhere */
        fab_link_id x = d->same[l];
        if (d->is_changed[l >> 1] && x != FAB_NONE && d->is_changed[b->n_cables + (x >> 1)]) {
            join(d->group, l >> 1, b->n_cables + (x >> 1));
        }
    }
    return FAB_OK;
}

static void add_names(const fab_fabric *f, const diff *d, uint32_t first, uint32_t n, uint32_t root, bool wants_rates,
                      fab_str *out) {
    for (uint32_t c = 0; c < n; c++) {
        char name[FAB_LINK_NAME_SIZE];
        char rate[40];
        if (d->is_changed[first + c] && root_of(d->group, first + c) == root) {
            fab_str_printf(out, "%s%s", out->length > 0 ? ", " : "",
                           wants_rates ? fab_quantity_format(rate, rate_of(f, c), FAB_UNIT_RATE)
                                       : fab_link_name(f, 2 * c, name));
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
    fab_status status = FAB_OK;
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    fab_str text[2] = {FAB_STR_INIT, FAB_STR_INIT};
    char what[FAB_LINK_NAME_SIZE];
    name_cables(d, root, false, text);
    if (text[0].length > 0 && text[1].length > 0 && !text[0].failed && !text[1].failed &&
        strcmp(text[0].data, text[1].data) == 0) {
        name_cables(d, root, true, text); /* the same cable at another rate */
    }
    FAB_TRY(text[0].failed || text[1].failed ? fab_str_status(text[0].failed ? &text[0] : &text[1], err) : FAB_OK);
    (void)fab_link_name(root < b->n_cables ? b : a, 2 * (root < b->n_cables ? root : root - b->n_cables), what);
    FAB_TRY(diff_add_change(d, FAB_CHANGE_CABLE, what, text[0].length > 0 ? text[0].data : "",
                            text[1].length > 0 ? text[1].data : "", NULL, root, err));
done:
    fab_str_release(&text[0]);
    fab_str_release(&text[1]);
    return status;
}

/* Boxes that are in one network alone. */
static fab_status find_boxes(diff *d, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    bool *met = NULL;
    char name[FAB_NODE_NAME_SIZE];
    FAB_TRY(FAB_NEW(met, (size_t)a->n_nodes + 1, err));
    for (fab_node_id v = 0; v < b->n_nodes; v++) {
        if (d->node[v] != FAB_NONE) {
            met[d->node[v]] = true;
        } else if (fab_kind_of(b, v) == FAB_NODE_SWITCH || fab_kind_of(b, v) == FAB_NODE_NIC) {
            FAB_TRY(diff_add_change(d, FAB_CHANGE_BOX, fab_node_name(b, v, name), "", "there", NULL, 0, err));
        }
    }
    for (fab_node_id v = 0; v < a->n_nodes; v++) {
        if (!met[v] && (fab_kind_of(a, v) == FAB_NODE_SWITCH || fab_kind_of(a, v) == FAB_NODE_NIC)) {
            FAB_TRY(diff_add_change(d, FAB_CHANGE_BOX, fab_node_name(a, v, name), "there", "", NULL, 0, err));
        }
    }
done:
    free(met);
    return status;
}

fab_status diff_find_cables(diff *d, fab_error *err) {
    const uint32_t n = d->side[0].f->n_cables + d->side[1].f->n_cables;
    FAB_PASS(find_boxes(d, err));
    FAB_PASS(group_cables(d, err));
    for (uint32_t c = 0; c < n; c++) {
        if (d->is_changed[c] && root_of(d->group, c) == c) {
            FAB_PASS(add_group(d, c, err));
        }
    }
    return FAB_OK;
}

/* --- as it was ---------------------------------------------------------------------------------------------------- */

static bool is_undone(const diff *d, const bool *undone, uint32_t cable) {
    uint32_t root = d->is_changed[cable] ? root_of(d->group, cable) : FAB_NONE;
    for (size_t i = 0; i < d->out->n_changes && root != FAB_NONE; i++) {
        if (d->out->changes[i].kind == FAB_CHANGE_CABLE && d->place[i] == root) {
            return undone[i];
        }
    }
    return false;
}

static bool keeps(const diff *d, const bool *undone, uint32_t cable, uint32_t n_second) {
    return cable < n_second ? !is_undone(d, undone, cable) : d->is_changed[cable] && is_undone(d, undone, cable);
}

/* Every box is in both networks, in the same tier. */
static fab_status check_boxes(const diff *d, fab_node_id *of_first, fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    bool same = a->n_nodes == b->n_nodes && a->n_tiers == b->n_tiers && a->wiring == b->wiring &&
                a->n_cut_servers == b->n_cut_servers;
    for (fab_node_id v = 0; v < b->n_nodes && same; v++) {
        same = d->node[v] != FAB_NONE && fab_kind_of(a, d->node[v]) == fab_kind_of(b, v) &&
               (fab_kind_of(b, v) != FAB_NODE_SWITCH || fab_tier_of(a, d->node[v]) == fab_tier_of(b, v));
        if (same) {
            of_first[d->node[v]] = v;
        }
    }
    return same ? FAB_OK
                : fab_fail(err, FAB_EUNSUPPORTED, NULL,
                           "boxes or tiers differ too: cables cannot be put back one by one");
}

/* Adds the cables that stay, and those of the first network that come back. */
static fab_status add_cables(const diff *d, const bool *undone, const fab_node_id *of_first, fab_builder *builder,
                             fab_error *err) {
    const fab_fabric *a = d->side[0].f;
    const fab_fabric *b = d->side[1].f;
    for (uint32_t c = 0; c < a->n_cables + b->n_cables; c++) {
        const fab_fabric *from = c < b->n_cables ? b : a;
        fab_link_id link = 2 * (c < b->n_cables ? c : c - b->n_cables);
        fab_node_id lower = fab_tail(from, link);
        fab_node_id upper = fab_head(from, link);
        uint16_t link_class = 0;
        if (!keeps(d, undone, c, b->n_cables)) {
            continue;
        }
        FAB_PASS(fab_builder_class(builder, fab_class_of(from, link), &link_class, err));
        fab_builder_cable(builder, link_class, from == a ? of_first[lower] : lower, from->port[link],
                          from == a ? of_first[upper] : upper, from->port[link ^ 1U]);
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
    fab_status status = FAB_OK;
    const fab_fabric *b = d->side[1].f;
    fab_builder *builder = NULL;
    fab_node_id *of_first = NULL;
    fab_builder_sizes sizes = {.n_gpus = fab_n_gpus(b),
                               .n_nics = fab_n_of(b, FAB_NODE_NIC),
                               .n_domains = fab_n_of(b, FAB_NODE_DOMAIN),
                               .n_tiers = b->n_tiers};
    FAB_TRY(FAB_NEW(of_first, (size_t)d->side[0].f->n_nodes + 1, err));
    FAB_TRY(check_boxes(d, of_first, err));
    for (uint32_t t = 1; t <= b->n_tiers; t++) {
        sizes.n_switches[t] = b->first_of_tier[t + 1] - b->first_of_tier[t];
    }
    for (uint32_t c = 0; c < d->side[0].f->n_cables + b->n_cables; c++) {
        sizes.n_cables += keeps(d, undone, c, b->n_cables);
    }
    FAB_TRY(fab_builder_new(&sizes, &builder, err));
    copy_shape(b, fab_builder_fabric(builder));
    FAB_TRY(add_cables(d, undone, of_first, builder, err));
    FAB_TRY(fab_builder_freeze(&builder, out, err));
done:
    free(of_first);
    fab_builder_free(builder);
    return status;
}
