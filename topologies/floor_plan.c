/*
 * Positions. Groups are the places where switches get network racks: the middle of a row (for leaves), the middle of a
 * hall. Racks of servers come first, as if alone; then the network racks are counted and pushed into the middle.
 */
#include "floor_place.h"
#include "fab/units.h"

#define IN_SERVER_RACK FAB_NONE /* as a group */

typedef struct layout {
    const fab_floor_spec *spec;
    const fab_floor_shape *shape;
    fab_floor *floor;
    uint32_t racks_per_hall, racks_per_row, rows_per_hall; /* of servers */
    uint32_t n_groups;                                     /* rows_per_hall for every hall, then one for every hall */
    uint32_t *group;                                       /* [switch] */
    uint32_t *n_in_group, *n_racks, *first_rack;           /* [group]: switches; network racks, the first of them */
} layout;
FAB_FREES(shape_release, fab_floor_shape, low, high);
FAB_FREES(layout_release, layout, group, n_in_group, n_racks, first_rack);

static uint32_t ceil_div(uint32_t a, uint32_t b) {
    return a / b + (a % b != 0);
}

static uint32_t smaller(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* --- servers ------------------------------------------------------------------------------------------------------ */

static uint32_t racks_in_hall(const layout *l, uint32_t hall) {
    return smaller(l->racks_per_hall, l->floor->n_server_racks - hall * l->racks_per_hall);
}

static uint32_t rows_in_hall(const layout *l, uint32_t hall) {
    return ceil_div(racks_in_hall(l, hall), l->racks_per_row);
}

static uint32_t racks_in_row(const layout *l, uint32_t hall, uint32_t row) {
    return smaller(l->racks_per_row, racks_in_hall(l, hall) - row * l->racks_per_row);
}

static fab_rack server_rack(const layout *l, uint32_t i) {
    uint32_t k = i % l->racks_per_hall;
    return (fab_rack){i / l->racks_per_hall, k / l->racks_per_row, k % l->racks_per_row};
}

static uint32_t row_group(const layout *l, uint32_t hall, uint32_t row) {
    return hall * l->rows_per_hall + row;
}

/* The middle of a hall of one row is the middle of that row. */
static uint32_t hall_group(const layout *l, uint32_t hall) {
    return rows_in_hall(l, hall) == 1 ? row_group(l, hall, 0) : l->floor->n_halls * l->rows_per_hall + hall;
}

fab_status fab_floor_size(const fab_floor_spec *s, uint32_t n_servers, fab_floor *floor, fab_error *err) {
    FAB_REFUSE_IF(s->servers_per_rack == 0 || s->racks_per_row == 0 || s->switches_per_rack == 0, err, FAB_EINTERNAL,
                  NULL, "a floor plan with racks or rows of no size");
    floor->servers_per_rack = (uint32_t)s->servers_per_rack;
    floor->n_server_racks = ceil_div(n_servers, floor->servers_per_rack);
    if (s->racks > floor->n_server_racks && s->racks <= n_servers) { /* filled evenly, they are as many */
        floor->n_server_racks = (uint32_t)s->racks;
        floor->servers_per_rack = ceil_div(n_servers, floor->n_server_racks);
        floor->n_full = n_servers - floor->n_server_racks * (floor->servers_per_rack - 1);
    }
    return FAB_OK;
}

static fab_status size_rows(layout *l, fab_error *err) {
    const fab_floor_spec *s = l->spec;
    fab_floor *floor = l->floor;
    l->racks_per_hall = floor->n_server_racks;
    double rack_w = s->server_w * (double)s->servers_per_rack;
    if (s->hall_w > 0 && s->hall_w < rack_w * l->racks_per_hall) {
        l->racks_per_hall = (uint32_t)(s->hall_w / rack_w * (1 + 1e-12));
    }
    if (l->racks_per_hall == 0) {
        return fab_fail(err, FAB_EINPUT, "floor", "hall-power %s is less than one rack of servers takes, %s",
                        FAB_SAY(s->hall_w, FAB_UNIT_POWER), FAB_SAY(rack_w, FAB_UNIT_POWER));
    }
    l->racks_per_row = smaller((uint32_t)s->racks_per_row, l->racks_per_hall);
    l->rows_per_hall = ceil_div(l->racks_per_hall, l->racks_per_row);
    floor->n_halls = ceil_div(floor->n_server_racks, l->racks_per_hall);
    l->n_groups = floor->n_halls * l->rows_per_hall + floor->n_halls;
    return FAB_OK;
}

/* --- switches ----------------------------------------------------------------------------------------------------- */

static void floor_plan_widen(fab_floor_shape *shape, uint32_t i, uint32_t low, uint32_t high) {
    shape->low[i] = smaller(shape->low[i], low);
    shape->high[i] = shape->high[i] > high ? shape->high[i] : high;
}

/* Server racks below every switch, tier by tier upwards. */
static void find_spans(const fab_fabric *f, const fab_floor *floor, fab_floor_shape *shape) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    memset(shape->low, 0xff, fab_n_switches(f) * sizeof *shape->low); /* UINT32_MAX */
    for (fab_node_id v = base; v < f->n_nodes; v++) {
        fab_node_id first_alike = f->first_of_tier[fab_tier_of(f, v)];
        FAB_EACH_LINK(f, v, link) {
            fab_node_id w = fab_head(f, link);
            if (w < base) {
                uint32_t rack = fab_floor_rack_of(floor, f, w);
                floor_plan_widen(shape, v - base, rack, rack);
            } else if (w < first_alike) {
                floor_plan_widen(shape, v - base, shape->low[w - base], shape->high[w - base]);
            }
        }
        if (shape->low[v - base] == UINT32_MAX) { /* nothing below: stands in the middle of all */
            floor_plan_widen(shape, v - base, 0, floor->n_server_racks - 1);
        }
    }
}

/* The leaf that port `i` of a NIC leads to, or FAB_NONE. */
static fab_node_id leaf_of_port(const fab_fabric *f, fab_node_id nic, uint32_t i) {
    FAB_EACH_LINK(f, nic, link) {
        if (fab_class_of(f, link)->kind == FAB_LINK_ACCESS && i-- == 0) {
            return fab_head(f, link);
        }
    }
    return FAB_NONE;
}

/* Whether the NICs of a server share a leaf in every plane, as with a switch in the rack; rails do not. */
static bool servers_share_leaves(const fab_fabric *f) {
    fab_node_id first = f->first[FAB_NODE_NIC];
    for (fab_node_id nic = first; nic < f->first[FAB_NODE_NIC + 1]; nic++) {
        fab_node_id of_server = nic - (nic - first) % f->nics_per_server;
        for (uint32_t plane = 0; of_server != nic && plane < f->n_planes; plane++) {
            if (leaf_of_port(f, nic, plane) != leaf_of_port(f, of_server, plane)) {
                return false;
            }
        }
    }
    return true;
}

static void choose_groups(layout *l) {
    const fab_floor_shape *shape = l->shape;
    fab_leaf_at at = l->spec->leaf_at;
    if (at == FAB_LEAF_AUTO) {
        at = shape->servers_share_leaves ? FAB_LEAF_IN_RACK : FAB_LEAF_IN_ROW;
    }
    for (uint32_t i = 0; i < shape->n_switches; i++) {
        bool is_leaf = i < shape->n_leaves;
        uint32_t home = shape->low[i] + (shape->high[i] - shape->low[i]) / 2;
        fab_rack rack = server_rack(l, home);
        if (is_leaf && at == FAB_LEAF_IN_RACK) {
            l->group[i] = IN_SERVER_RACK;
            l->floor->switch_rack[i] = home;
            continue;
        }
        bool in_row = is_leaf && at == FAB_LEAF_IN_ROW;
        l->group[i] = in_row ? row_group(l, rack.hall, rack.row) : hall_group(l, rack.hall);
        l->n_in_group[l->group[i]]++;
    }
}

static void fill_network_racks(layout *l) {
    uint32_t per_rack = (uint32_t)l->spec->switches_per_rack;
    uint32_t next = l->floor->n_server_racks;
    for (uint32_t g = 0; g < l->n_groups; g++) {
        l->n_racks[g] = ceil_div(l->n_in_group[g], per_rack);
        l->first_rack[g] = next;
        next += l->n_racks[g];
        l->n_in_group[g] = 0;
    }
    l->floor->n_network_racks = next - l->floor->n_server_racks;
    for (uint32_t i = 0; i < l->floor->n_switches; i++) {
        uint32_t g = l->group[i];
        if (g != IN_SERVER_RACK) {
            l->floor->switch_rack[i] = l->first_rack[g] + l->n_in_group[g]++ / per_rack;
        }
    }
}

/* --- the rows as they are built ----------------------------------------------------------------------------------- */

static uint32_t network_rows(const layout *l, uint32_t hall) {
    return rows_in_hall(l, hall) == 1 ? 0 : ceil_div(l->n_racks[hall_group(l, hall)], l->racks_per_row);
}

/* Row of servers `row` as it stands once the network rows are in the middle of the hall. */
static uint32_t moved_row(const layout *l, uint32_t hall, uint32_t row) {
    return row < ceil_div(rows_in_hall(l, hall), 2) ? row : row + network_rows(l, hall);
}

static void place_server_racks(layout *l) {
    for (uint32_t i = 0; i < l->floor->n_server_racks; i++) {
        fab_rack r = server_rack(l, i);
        if (r.place >= ceil_div(racks_in_row(l, r.hall, r.row), 2)) {
            r.place += l->n_racks[row_group(l, r.hall, r.row)];
        }
        r.row = moved_row(l, r.hall, r.row);
        l->floor->rack[i] = r;
    }
}

static void place_network_racks(layout *l, uint32_t hall) {
    for (uint32_t row = 0; row < rows_in_hall(l, hall); row++) {
        uint32_t g = row_group(l, hall, row);
        uint32_t middle = ceil_div(racks_in_row(l, hall, row), 2);
        for (uint32_t i = 0; i < l->n_racks[g]; i++) {
            l->floor->rack[l->first_rack[g] + i] = (fab_rack){hall, moved_row(l, hall, row), middle + i};
        }
    }
    uint32_t g = hall_group(l, hall);
    uint32_t width = racks_in_row(l, hall, 0);
    uint32_t first_row = ceil_div(rows_in_hall(l, hall), 2);
    for (uint32_t i = 0; network_rows(l, hall) > 0 && i < l->n_racks[g]; i++) {
        uint32_t row = i / l->racks_per_row;
        uint32_t beside = smaller(l->racks_per_row, l->n_racks[g] - row * l->racks_per_row);
        uint32_t indent = width > beside ? (width - beside) / 2 : 0;
        l->floor->rack[l->first_rack[g] + i] = (fab_rack){hall, first_row + row, indent + i % l->racks_per_row};
    }
    l->floor->n_rows += rows_in_hall(l, hall) + network_rows(l, hall);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

fab_status fab_floor_place(const fab_floor_spec *spec, const fab_floor_shape *shape, fab_floor *floor, fab_error *err) {
    FAB_OWNS(layout_release) layout l = {.spec = spec, .shape = shape, .floor = floor};
    floor->n_switches = shape->n_switches;
    FAB_PASS(size_rows(&l, err));
    FAB_PASS(FAB_NEW_ALL(shape->n_switches, err, floor->switch_rack, l.group));
    FAB_PASS(FAB_NEW_ALL(l.n_groups, err, l.n_in_group, l.n_racks, l.first_rack));
    choose_groups(&l);
    fill_network_racks(&l);
    FAB_PASS(FAB_NEW(floor->rack, (size_t)floor->n_server_racks + floor->n_network_racks, err));
    place_server_racks(&l);
    for (uint32_t hall = 0; hall < floor->n_halls; hall++) {
        place_network_racks(&l, hall);
    }
    return FAB_OK;
}

fab_status fab_floor_make(const fab_fabric_spec *spec, const fab_fabric *fabric, fab_floor **out, fab_error *err) {
    FAB_OWNS(shape_release)
    fab_floor_shape shape = {.n_switches = fab_n_switches(fabric),
                             .n_leaves = fabric->first_of_tier[2] - fabric->first[FAB_NODE_SWITCH],
                             .servers_share_leaves = servers_share_leaves(fabric)};
    FAB_OWNS_NEW(fab_floor_free_owned, fab_floor, floor, 1, err);
    FAB_PASS(FAB_NEW_ALL(shape.n_switches, err, shape.low, shape.high));
    FAB_PASS(fab_floor_size(&spec->floor, fabric->n_servers, floor, err));
    find_spans(fabric, floor, &shape);
    FAB_PASS(fab_floor_place(&spec->floor, &shape, floor, err));
    return FAB_GIVE(*out, floor);
}

FAB_FREES_WHOLE(fab_floor_free, fab_floor, rack, switch_rack);

uint32_t fab_floor_rack_of(const fab_floor *floor, const fab_fabric *f, fab_node_id node) {
    const fab_racks racks = {.servers_per_rack = floor->servers_per_rack, .n_full = floor->n_full};
    switch (fab_kind_of(f, node)) {
    case FAB_NODE_GPU: return fab_racks_of_server(&racks, node / f->gpus_per_server);
    case FAB_NODE_NIC: return fab_racks_of_server(&racks, (node - f->first[FAB_NODE_NIC]) / f->nics_per_server);
    case FAB_NODE_SWITCH: return floor->switch_rack[node - f->first[FAB_NODE_SWITCH]];
    default: return FAB_NONE;
    }
}

/* --- lengths ------------------------------------------------------------------------------------------------------ */

static double floor_plan_between(uint32_t a, uint32_t b) {
    return a > b ? (double)(a - b) : (double)(b - a);
}

double fab_floor_distance_m(const fab_floor_spec *spec, const fab_rack *a, const fab_rack *b) {
    return floor_plan_between(a->hall, b->hall) * spec->hall_distance_m +
           floor_plan_between(a->row, b->row) * spec->row_pitch_m +
           floor_plan_between(a->place, b->place) * spec->rack_pitch_m;
}

double fab_floor_cable_m(const fab_floor_spec *spec, const fab_rack *a, const fab_rack *b) {
    bool same_rack = a->hall == b->hall && a->row == b->row && a->place == b->place;
    /* Slack takes the cable up to the tray and down again: within a rack there is one such stretch, not two. */
    return fab_standard_length_m(fab_floor_distance_m(spec, a, b) + (same_rack ? 1 : 2) * spec->slack_m);
}

double fab_standard_length_m(double length_m) {
    static const double LENGTHS[] = {1,   2,   3,    5,    7,    10,   15,   20,   30,   50,   100,  150,  200,  300,
                                     500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10e3, 15e3, 20e3, 30e3, 50e3, 100e3};
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        if (LENGTHS[i] >= length_m - 1e-6) { /* a sum of pitches may be off by its last bit */
            return LENGTHS[i];
        }
    }
    return 0;
}

const char *fab_rack_name(const fab_rack *rack, char *out) {
    (void)snprintf(out, 48, "hall-%" PRIu32 "/row-%" PRIu32 "/rack-%" PRIu32, rack->hall, rack->row, rack->place);
    return out;
}

fab_racks fab_floor_racks(const fab_floor *floor) {
    if (floor == NULL) {
        return (fab_racks){.n_racks = 0};
    }
    return (fab_racks){.n_racks = floor->n_server_racks + floor->n_network_racks,
                       .servers_per_rack = floor->servers_per_rack,
                       .n_full = floor->n_full,
                       .switch_rack = floor->switch_rack};
}
