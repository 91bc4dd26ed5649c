/* installed: what a file says is there (src/installed). Servers whose NICs lack cables stand last. The names of boxes
 * and ports are kept. See src/doc/adr/0041-import.md. */
#include "families.h"
#include "ends.h"

#include "fab/design.h"
#include "fab/installed.h"
#include "fab/names.h"
#include "fab/units.h"

#include <ctype.h>

#define ACCESS 1
#define TRUNK  2 /* boundary between switches without tiers */

/* A fabric of what is installed, while it is built. */
typedef struct fab_installed_build {
    const fab_fabric_spec *spec;
    const fab_structure *net;
    fab_ends ends;
    fab_builder *builder;
    fab_fabric *f;     /* under construction, then frozen */
    uint32_t *port;    /* [side]: number on its switch; 0: none of it */
    uint32_t *next;    /* [switch]: ports given out, of a file that names none */
    uint32_t n_cables; /* of the network */
} fab_installed_build;

/* --- ports -------------------------------------------------------------------------------------------------------- */

/* Port of a cable end as the file has it; "" where it names none. */
static const char *installed_port_text(const fab_installed_build *b, uint32_t side) {
    const char *port = fab_network_near(b->net->net, side)->port;
    return port != NULL ? port : "";
}

/* "17": its number; 0 where it is none. */
static uint32_t installed_port_number(const char *port) {
    uint32_t number = 0;
    for (const char *c = port; *c != '\0'; c++) {
        if (!isdigit((unsigned char)*c) || number > UINT16_MAX) {
            return 0;
        }
        number = 10 * number + (uint32_t)(*c - '0');
    }
    return number <= UINT16_MAX && port[0] != '0' ? number : 0;
}

static uint32_t ends_of(const fab_installed_build *b, uint32_t node, const uint32_t **out) {
    const fab_shape *s = &b->net->shape;
    *out = s->side + s->first[node];
    return s->first[node + 1] - s->first[node];
}

/* Numbers as printed where all are such; else ports are counted in the order of their names. */
static fab_status number_ports(fab_installed_build *b, uint32_t index, fab_error *err) {
    const fab_structure_switch *v = &b->net->switches[index];
    const uint32_t *side = NULL;
    uint32_t n = ends_of(b, v->node, &side);
    uint32_t last = 0;
    bool plain = true;
    for (uint32_t i = 0; i < n && plain; i++) { /* ends are sorted by number: equal ones are neighbours */
        uint32_t number = installed_port_number(installed_port_text(b, side[i]));
        plain = number > last;
        last = number;
    }
    for (uint32_t i = 0; i < n; i++) {
        b->port[side[i]] = plain ? installed_port_number(installed_port_text(b, side[i])) : i + 1;
    }
    last = plain ? last : n;
    uint64_t radix = v->n_ports > 0 ? v->n_ports : b->spec->tier[v->tier - 1].radix;
    radix = radix > v->n_used ? radix : v->n_used;
    FAB_REFUSE_IF(radix > UINT16_MAX || last > UINT16_MAX, err, FAB_EUNSUPPORTED, b->net->net->nodes[v->node].label,
                  "a switch of %" PRIu64 " ports; the limit is %u", radix > last ? radix : last, UINT16_MAX);
    b->f->switch_radix[index] = (uint16_t)radix;
    b->f->switch_ports[index] = (uint16_t)(radix > last ? radix : last);
    return FAB_OK;
}

/* Port of a cable end on its switch: that of the file, or the next free one where it names none. */
static uint32_t take_port(const fab_installed_build *b, uint32_t index, uint32_t side) {
    return b->net->net->is_tree_of_names ? ++b->next[index] : b->port[side];
}

/* Switches of a file that names no ports have as many as they need. */
static void widen_switches(const fab_installed_build *b) {
    for (uint32_t i = 0; b->net->net->is_tree_of_names && i < b->net->n_switches; i++) {
        uint64_t radix = b->spec->tier[b->net->switches[i].tier - 1].radix;
        radix = radix > b->next[i] ? radix : b->next[i];
        b->f->switch_radix[i] = b->f->switch_ports[i] = (uint16_t)(radix < UINT16_MAX ? radix : UINT16_MAX);
    }
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

static fab_status cable_class(const fab_installed_build *b, uint32_t cable, uint32_t boundary, uint16_t *out,
                              fab_error *err) {
    const fab_network_cable *c = &b->net->net->cables[cable];
    const fab_tier_spec *tier = &b->spec->tier[boundary - 1];
    double bps = c->rate_bps > 0      ? c->rate_bps
                 : tier->port_bps > 0 ? tier->port_bps
                                      : b->spec->nic_bps / (double)b->ends.planes;
    double length_m = fab_shape_is_inside(&b->net->shape, c) ? 0 /* no cable */
                      : c->length_m > 0                      ? c->length_m
                                                             : fab_tier_length_m(b->spec, boundary);
    fab_link_class link_class = fab_cable_class(b->spec, boundary, b->net->is_tree, bps, length_m);
    if (c->latency_s > 0) {
        link_class.latency_s = c->latency_s; /* whole: a default for switches would come on top of what the file says */
    }
    return fab_builder_class(b->builder, &link_class, out, err);
}

static fab_status add_access(const fab_installed_build *b, fab_error *err) {
    const fab_structure *net = b->net;
    fab_node_id base = b->f->first[FAB_NODE_SWITCH];
    for (uint32_t plane = 0; plane < net->n_planes; plane++) {
        for (uint32_t nic = 0; nic < net->n_servers * net->nics_per_server; nic++) {
            uint32_t side = net->nic_side[(size_t)nic * net->n_planes + plane];
            uint16_t link_class = 0;
            if (side == FAB_NETWORK_NONE) {
                continue;
            }
            FAB_PASS(cable_class(b, side >> 1, ACCESS, &link_class, err));
            uint32_t index = net->switch_of[fab_network_far(net->net, side)->node];
            fab_builder_cable(b->builder, link_class, b->f->first[FAB_NODE_NIC] + nic, fab_ends_nic_port(b->f, plane),
                              base + index, take_port(b, index, side ^ 1U));
        }
    }
    return FAB_OK;
}

static fab_status add_trunks(const fab_installed_build *b, fab_error *err) {
    const fab_structure *net = b->net;
    fab_node_id base = b->f->first[FAB_NODE_SWITCH];
    for (uint32_t i = 0; i < net->n_trunks; i++) {
        uint32_t side[2];
        uint16_t link_class = 0;
        fab_structure_trunk(net, i, side);
        uint32_t lower = net->switch_of[fab_network_near(net->net, side[0])->node];
        uint32_t upper = net->switch_of[fab_network_near(net->net, side[1])->node];
        uint32_t boundary = net->is_tree ? net->switches[upper].tier : TRUNK;
        FAB_PASS(cable_class(b, net->trunk[i], boundary, &link_class, err));
        uint32_t lower_port = take_port(b, lower, side[0]);
        fab_builder_cable(b->builder, link_class, base + lower, lower_port, base + upper, take_port(b, upper, side[1]));
    }
    return FAB_OK;
}

/* --- planes, pods, rails ------------------------------------------------------------------------------------------ */

static uint32_t switch_behind(const fab_structure *net, uint32_t nic, uint32_t plane) {
    uint32_t side = net->nic_side[(size_t)nic * net->n_planes + plane];
    return side != FAB_NETWORK_NONE ? net->switch_of[fab_network_far(net->net, side)->node] : FAB_NONE;
}

/* Rail of a leaf, where all its NICs have one and the same. */
static void find_rails(const fab_installed_build *b) {
    fab_fabric *f = b->f;
    uint32_t n_nics = b->net->n_servers * b->net->nics_per_server;
    FAB_FILL(f->switch_rail, b->net->n_switches, UINT16_MAX);
    for (int pass = 0; pass < 2 && b->net->shape.has_rails; pass++) { /* the second finds those that differ */
        for (uint32_t nic = 0; nic < n_nics; nic++) {
            uint32_t leaf = switch_behind(b->net, nic, 0);
            uint16_t rail = (uint16_t)(nic % f->n_rails);
            if (leaf != FAB_NONE && (pass == 0 || f->switch_rail[leaf] != rail)) {
                f->switch_rail[leaf] = pass == 0 ? rail : UINT16_MAX;
            }
        }
    }
}

/* Rails of several networks: how many a network has. 0: they are not apart. */
static fab_status rails_apart(const fab_installed_build *b, uint32_t *out, fab_error *err) {
    const fab_structure *net = b->net;
    uint32_t n_nics = net->n_servers * net->nics_per_server;
    uint32_t n_rails = b->f->n_rails;
    uint32_t shared = 1; /* rails from the first on that share its network */
    *out = 0;
    if (net->n_networks < 2 || net->n_planes > 1 || n_rails < 2) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint32_t, network, n_rails, err); /* [rail], + 1 */
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        uint32_t leaf = switch_behind(net, nic, 0);
        uint32_t *known = &network[nic % n_rails];
        if (leaf != FAB_NONE && *known != 0 && *known != net->switches[leaf].network + 1) {
            return FAB_OK;
        }
        *known = leaf != FAB_NONE ? net->switches[leaf].network + 1 : *known;
    }
    while (shared < n_rails && network[shared] == network[0]) {
        shared++;
    }
    for (uint32_t rail = 0; rail < n_rails; rail++) {
        if (network[rail] == 0 || (rail % shared != 0 && network[rail] != network[rail - 1]) ||
            (rail % shared == 0 && rail > 0 && network[rail] == network[rail - 1])) {
            return FAB_OK;
        }
    }
    *out = shared;
    return FAB_OK;
}

static fab_status installed_describe(const fab_installed_build *b, fab_error *err) {
    fab_fabric *f = b->f;
    const fab_structure *net = b->net;
    uint32_t shared = 0;
    f->n_cut_servers = net->n_servers - net->n_complete;
    f->n_pods = net->n_pods;
    f->stores_and_forwards = b->spec->forwarding == FAB_FORWARDING_SEQUENTIAL;
    f->forwards_at_destination = b->spec->forward == FAB_FORWARD_AT_DESTINATION;
    if (!net->is_tree) {
        f->wiring = FAB_WIRING_GRAPH;
        f->n_boundaries = TRUNK;
    }
    for (uint32_t i = 0; i < net->n_switches; i++) {
        f->switch_pod[i] = net->switches[i].pod == FAB_NETWORK_NONE ? FAB_NONE : net->switches[i].pod;
        f->switch_plane[i] = (uint16_t)net->switches[i].plane;
    }
    find_rails(b);
    FAB_PASS(rails_apart(b, &shared, err));
    f->rails_per_network = shared > 0 ? shared : f->n_rails;
    f->forwards_in_domain = shared > 0;
    return FAB_OK;
}

/* --- names: boxes by their descriptions, ports as they are printed --- */

typedef struct labelled {
    const char *label;
    uint32_t node;
} labelled;

FAB_ORDER_KEYS(names_by_label, labelled, strcmp(a->label, b->label), FAB_ORDER(a->node, b->node));

/* Marks the boxes whose description others have too. */
static fab_status find_duplicates(const fab_network *net, bool **out, fab_error *err) {
    FAB_OWNED_NEW(labelled, list, net->n_nodes, err);
    FAB_OWNED_NEW(bool, duplicate, net->n_nodes, err);
    FAB_FILL(list, net->n_nodes, (labelled){net->nodes[fab_at].label, (uint32_t)fab_at});
    qsort(list, net->n_nodes, sizeof *list, names_by_label);
    for (uint32_t i = 1; i < net->n_nodes; i++) {
        if (strcmp(list[i].label, list[i - 1].label) == 0) {
            duplicate[list[i].node] = duplicate[list[i - 1].node] = true;
        }
    }
    return FAB_GIVE(*out, duplicate);
}

/* The description; with the unique name where others have it too. `part`: port of an adapter that is several NICs. */
static fab_status name_node(const fab_installed_build *b, fab_names *names, fab_node_id v, uint32_t node,
                            bool duplicate, const char *part, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    const fab_network_node *n = &b->net->net->nodes[node];
    bool has_other = strcmp(n->name, n->label) != 0;
    fab_str_add(&text, n->label);
    if (duplicate && has_other) {
        fab_str_printf(&text, " (%s)", n->name);
    }
    fab_str_add(&text, part);
    if (text.length >= FAB_NODE_NAME_SIZE && has_other) {
        text.length = 0;
        fab_str_printf(&text, "%s%s", n->name, part);
    }
    FAB_PASS(fab_str_status(&text, err));
    FAB_PASS(fab_names_set(names, &names->node[v], text.data, FAB_NODE_NAME_SIZE - 1, err));
    names->guid[v] = part[0] == '\0' ? n->guid : 0;
    return FAB_OK;
}

static fab_status name_nics(const fab_installed_build *b, fab_names *names, const bool *duplicate, fab_error *err) {
    const fab_structure *net = b->net;
    uint32_t n_nics = net->n_servers * net->nics_per_server;
    for (uint32_t nic = 0; nic < n_nics; nic++) {
        uint32_t node = net->nic_node[nic];
        uint32_t side = net->nic_side[(size_t)nic * net->n_planes];
        char part[FAB_NODE_NAME_SIZE] = "";
        if (node == FAB_NETWORK_NONE) {
            continue;
        }
        const fab_shape *s = &net->shape;
        if (s->first[node + 1] - s->first[node] > 1 && net->n_planes == 1) {
            FAB_FORMAT(part, "/%.60s", installed_port_text(b, side));
        }
        if (part[0] != '\0' && part[1] == '\0') {
            FAB_FORMAT(part, "/cable-%" PRIu32, side >> 1);
        }
        if (net->net->is_tree_of_names && net->nics_per_server > 1) {
            FAB_FORMAT(part, "/nic-%" PRIu32, nic % net->nics_per_server);
        }
        FAB_PASS(name_node(b, names, b->f->first[FAB_NODE_NIC] + nic, node, duplicate[node], part, err));
    }
    return FAB_OK;
}

/* A port that is not called by its number on the box. */
static fab_status name_port(const fab_installed_build *b, fab_names *names, uint32_t side, uint32_t link,
                            fab_error *err) {
    const char *text = installed_port_text(b, side);
    return text[0] != '\0' && installed_port_number(text) != b->f->port[link]
               ? fab_names_set(names, &names->port[link], text, FAB_PORT_NAME_SIZE - 1, err)
               : FAB_OK;
}

static fab_status name_ports(const fab_installed_build *b, fab_names *names, fab_error *err) {
    const fab_structure *net = b->net;
    uint32_t link = 2 * (b->f->n_cables - b->n_cables); /* those inside servers come first */
    for (uint32_t plane = 0; plane < net->n_planes; plane++) {
        for (uint32_t nic = 0; nic < net->n_servers * net->nics_per_server; nic++) {
            uint32_t side = net->nic_side[(size_t)nic * net->n_planes + plane];
            for (uint32_t i = 0; side != FAB_NETWORK_NONE && i < 2; i++, link++) {
                FAB_PASS(name_port(b, names, side ^ i, link, err));
            }
        }
    }
    for (uint32_t t = 0; t < net->n_trunks; t++) {
        uint32_t side[2];
        fab_structure_trunk(net, t, side);
        for (uint32_t i = 0; i < 2; i++, link++) {
            FAB_PASS(name_port(b, names, side[i], link, err));
        }
    }
    return FAB_OK;
}

/* A name that two servers have gets the number of the server. */
static fab_status name_servers(const fab_installed_build *b, fab_names *names, fab_error *err) {
    const fab_structure *net = b->net;
    FAB_OWNED_NEW(labelled, list, net->n_servers, err);
    FAB_FILL(list, net->n_servers, (labelled){net->server_name[fab_at], (uint32_t)fab_at});
    qsort(list, net->n_servers, sizeof *list, names_by_label);
    for (uint32_t i = 0; i < net->n_servers; i++) {
        char text[2 * FAB_NODE_NAME_SIZE];
        bool duplicate = (i > 0 && strcmp(list[i].label, list[i - 1].label) == 0) ||
                         (i + 1 < net->n_servers && strcmp(list[i].label, list[i + 1].label) == 0);
        uint32_t server = list[i].node;
        FAB_FORMAT(text, "%s", list[i].label);
        if (duplicate) {
            FAB_FORMAT(text, "%.255s (server %" PRIu32 ")", list[i].label, server);
        }
        FAB_PASS(fab_names_set(names, &names->server[server], text, FAB_NODE_NAME_SIZE - 1, err));
    }
    return FAB_OK;
}

static fab_status installed_name(const fab_installed_build *b, fab_names **out, fab_error *err) {
    const fab_fabric *f = b->f;
    FAB_OWNS(fab_names_free_owned) fab_names *names = NULL;
    FAB_OWNED bool *duplicate = NULL;
    FAB_PASS(fab_names_new(f->n_nodes, f->n_links, f->n_servers, &names, err));
    FAB_PASS(find_duplicates(b->net->net, &duplicate, err));
    for (uint32_t i = 0; i < b->net->n_switches; i++) {
        uint32_t node = b->net->switches[i].node;
        FAB_PASS(name_node(b, names, f->first[FAB_NODE_SWITCH] + i, node, duplicate[node], "", err));
    }
    FAB_PASS(name_nics(b, names, duplicate, err));
    FAB_PASS(name_ports(b, names, err));
    FAB_PASS(name_servers(b, names, err));
    FAB_PASS(fab_names_finish(names, err));
    return FAB_GIVE(*out, names);
}

/* --- all together ------------------------------------------------------------------------------------------------- */

static uint32_t count_access(const fab_structure *net) {
    FAB_SUM(uint32_t, n, i, (size_t)net->n_servers * net->nics_per_server * net->n_planes,
            net->nic_side[i] != FAB_NETWORK_NONE);
    return n;
}

static fab_status installed_begin(fab_installed_build *b, fab_error *err) {
    const fab_structure *net = b->net;
    fab_fabric_spec spec = *b->spec;
    spec.planes = net->n_planes;
    FAB_PASS(fab_ends_count(&spec, &b->ends, err));
    FAB_PASS(fab_ends_check(&spec, &b->ends, err));
    /* Slurm: a cable stands for several */
    FAB_REFUSE_IF(b->ends.nics != (uint64_t)net->n_servers * net->nics_per_server, err, FAB_EINPUT, spec.file,
                  "some hosts are below one switch and some below several: say how many NICs each has "
                  "(nics-per-server=%" PRIu32 ")",
                  net->nics_per_server);
    b->n_cables = count_access(net) + net->n_trunks;
    fab_builder_sizes sizes = {.n_gpus = (uint32_t)b->ends.gpus,
                               .n_nics = (uint32_t)b->ends.nics,
                               .n_domains = (uint32_t)b->ends.domains,
                               .n_tiers = net->n_tiers,
                               .n_cables = fab_ends_cables(&b->ends) + b->n_cables};
    for (uint32_t i = 0; i < net->n_switches; i++) {
        sizes.n_switches[net->switches[i].tier]++;
    }
    FAB_PASS(FAB_NEW(b->port, 2 * (size_t)net->net->n_cables, err));
    FAB_PASS(FAB_NEW(b->next, net->n_switches, err));
    FAB_PASS(fab_builder_new(&sizes, &b->builder, err));
    b->f = fab_builder_fabric(b->builder);
    return fab_ends_build(&spec, &b->ends, b->builder, err);
}

#define BYTES_PER_CABLE 400.0 /* of what was read, its names and shape, and the graph made of it */

static fab_status installed_check_memory(const fab_fabric_spec *spec, const fab_structure *net, fab_error *err) {
    char what[64];
    FAB_FORMAT(what, "an installed fabric of %s cables", FAB_SAY_COUNT(net->net->n_cables));
    return fab_memory_check(what, (double)net->net->n_cables * BYTES_PER_CABLE, spec->max_bytes, err);
}

static void installed_build_release(fab_installed_build *b) {
    fab_builder_free(b->builder);
    FAB_FREE_ALL(b->port, b->next);
}

static fab_status installed_build(const fab_fabric_spec *spec, fab_fabric **out, fab_error *err) {
    FAB_OWNS(fab_structure_free_owned) fab_structure *net = NULL;
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(installed_build_release) fab_installed_build b = {.spec = spec};
    fab_structure_options options = fab_design_installed_options(spec);
    FAB_PASS(fab_structure_read(spec->file, &options, &net, err));
    FAB_PASS(installed_check_memory(spec, net, err));
    b.net = net;
    FAB_PASS(installed_begin(&b, err));
    FAB_PASS(installed_describe(&b, err));
    for (uint32_t i = 0; i < net->n_switches; i++) {
        FAB_PASS(number_ports(&b, i, err));
    }
    FAB_PASS(add_access(&b, err));
    FAB_PASS(add_trunks(&b, err));
    widen_switches(&b);
    FAB_PASS(fab_builder_freeze(&b.builder, &fabric, err));
    b.f = fabric;
    FAB_PASS(installed_name(&b, &fabric->names, err));
    return FAB_GIVE(*out, fabric);
}

static const char *const KEYS[] = {"file",   "format",  "digest",     "host-order", "hosts-per-switch",
                                   "cables", "forward", "forwarding", NULL};

const fab_family fab_family_installed = {
    "installed", "what a file says is installed (file=); see import", KEYS, NULL, installed_build, NULL};
