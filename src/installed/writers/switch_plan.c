#include "switch_plan.h"

#include "fab/graph_parts.h"

#define HOSTS     UINT32_C(0x0a000000) /* 10.0.0.0/8 */
#define HOST_BITS 24
#define LOOPBACKS UINT32_C(0xac100000) /* 172.16.0.0/12 */
#define MOST_LOOP UINT32_C(0x100000)
#define FIRST_ASN UINT32_C(4200000000) /* RFC 6996: for private use */
#define LANE_BPS  100e9

const char *fab_address_text(char *out, uint32_t address) {
    (void)snprintf(out, 16, "%u.%u.%u.%u", address >> 24, (address >> 16) & 255, (address >> 8) & 255, address & 255);
    return out;
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

static void plan_add_port(const fab_box_cable *c, void *context) {
    fab_switch_plan *plan = context;
    uint32_t at[2] = {FAB_NETWORK_NONE, FAB_NETWORK_NONE};
    for (uint32_t k = 0; k < 2; k++) {
        if (!plan->boxes.box[c->box[k]].is_host) {
            at[k] = plan->n_ports++;
        }
    }
    for (uint32_t k = 0; k < 2; k++) {
        if (at[k] != FAB_NETWORK_NONE) {
            fab_switch_port *p = &plan->port[at[k]];
            *p = (fab_switch_port){
                .box = c->box[k], .far_box = c->box[k ^ 1], .far = at[k ^ 1], .rate_bps = c->cable->rate_bps};
            memcpy(p->name, c->port[k], strlen(c->port[k]) + 1);
            memcpy(p->far_name, c->port[k ^ 1], strlen(c->port[k ^ 1]) + 1);
        }
    }
}

FAB_ORDER_KEYS(ports_by_name, fab_switch_port, FAB_ORDER(a->box, b->box), fab_compare_names(a->name, b->name),
               FAB_ORDER(a->far_box, b->far_box));

/* The number in "swp17" or "Ethernet17"; 0: another name. */
static uint32_t number_in(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    const char *digits = name + n;
    bool is_number = strncmp(name, prefix, n) == 0 && digits[0] != '\0' && digits[strspn(digits, "0123456789")] == '\0';
    return is_number && strlen(digits) < 7 ? (uint32_t)strtoul(digits, NULL, 10) : 0;
}

/* Ports count as their names do where all are numbers, else by their order. A port of SONiC is called by its first
 * lane: lanes of 100 Gb/s, one behind the other; ports that are not plugged have those of the next one. */
static fab_status number_switch(fab_switch_plan *plan, uint32_t box, fab_error *err) {
    uint32_t first = plan->first[box];
    uint32_t behind = plan->first[box + 1];
    bool has_numbers = true;
    bool is_sonic = true;
    for (uint32_t i = first; i < behind; i++) {
        const char *name = plan->port[i].name;
        has_numbers = has_numbers && number_in(name, "swp") > 0 &&
                      (i == first || number_in(name, "swp") > number_in(plan->port[i - 1].name, "swp"));
        is_sonic = is_sonic && (number_in(name, "Ethernet") > 0 || strcmp(name, "Ethernet0") == 0);
    }
    uint32_t lane = 0;
    uint32_t before = 0;
    for (uint32_t i = first; i < behind; i++) {
        fab_switch_port *p = &plan->port[i];
        FAB_REFUSE_IF(!(p->rate_bps > 0), err, FAB_EUNSUPPORTED, plan->shape->net->path,
                      "the rate of port '%s' of '%.100s' is not known", p->name, plan->boxes.box[box].name);
        p->number = has_numbers ? number_in(p->name, "swp") : before + 1;
        p->n_lanes = p->rate_bps > LANE_BPS ? (uint32_t)((p->rate_bps + LANE_BPS - 1) / LANE_BPS) : 1;
        lane += (p->number - before - 1) * p->n_lanes;
        p->lane = is_sonic ? number_in(p->name, "Ethernet") : lane;
        FAB_FORMAT(p->sonic, "Ethernet%" PRIu32, p->lane);
        lane = p->lane + p->n_lanes;
        before = p->number;
    }
    return FAB_OK;
}

static fab_status plan_ports(fab_switch_plan *plan, fab_error *err) {
    static const char *const PREFIX[] = {"eth", "swp"};
    const fab_network *net = plan->shape->net;
    FAB_OWNED uint32_t *moved = NULL;
    FAB_OWNED uint32_t *cable_end = NULL; /* [n_ports]: before they are sorted, the other one */
    FAB_PASS(FAB_NEW(plan->port, 2 * (size_t)net->n_cables, err));
    FAB_PASS(FAB_NEW(plan->first, (size_t)plan->boxes.n + 1, err));
    FAB_PASS(fab_boxes_put_cables(&plan->boxes, net, PREFIX, plan_add_port, plan, err));
    FAB_PASS(FAB_NEW_ALL(plan->n_ports, err, moved, cable_end));
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        cable_end[i] = plan->port[i].far;
        plan->port[i].number = i;
    }
    FAB_SORT(plan->port, plan->n_ports, ports_by_name);
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        moved[plan->port[i].number] = i;
        plan->first[plan->port[i].box + 1]++;
    }
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        uint32_t far = cable_end[plan->port[i].number];
        plan->port[i].far = far != FAB_NETWORK_NONE ? moved[far] : FAB_NETWORK_NONE;
    }
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        plan->first[i + 1] += plan->first[i];
        FAB_PASS(number_switch(plan, i, err));
    }
    return FAB_OK;
}

/* --- addresses ---------------------------------------------------------------------------------------------------- */

static fab_status plan_addresses(fab_switch_plan *plan, fab_error *err) {
    uint32_t n_switches = 0;
    uint32_t n_blocks = 0;
    uint32_t most = 1;
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        FAB_SUM_IN(uint32_t, n, k, plan->first[i], plan->first[i + 1], plan->port[k].far == FAB_NETWORK_NONE ? 1 : 0);
        most = n > most ? n : most;
        n_blocks += n > 0 ? 1 : 0;
        n_switches += plan->boxes.box[i].is_host ? 0 : 1;
    }
    plan->block_bits = 1;
    while (((uint64_t)1 << plan->block_bits) < 2 * (uint64_t)most) {
        plan->block_bits++;
    }
    FAB_REFUSE_IF(((uint64_t)n_blocks << plan->block_bits) > (uint64_t)1 << HOST_BITS || n_switches > MOST_LOOP, err,
                  FAB_EUNSUPPORTED, plan->shape->net->path,
                  "%" PRIu32 " switches with up to %" PRIu32 " ports for hosts each: more than 10.0.0.0/8 and "
                  "172.16.0.0/12 have addresses for",
                  n_switches, most);
    uint32_t block = HOSTS;
    uint32_t loopback = LOOPBACKS;
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        uint32_t n = 0;
        for (uint32_t k = plan->first[i]; k < plan->first[i + 1]; k++) {
            plan->port[k].address = plan->port[k].far == FAB_NETWORK_NONE ? block + 2 * n++ : 0;
        }
        plan->loopback[i] = plan->boxes.box[i].is_host ? 0 : loopback++;
        plan->block[i] = n > 0 ? block : 0;
        block += n > 0 ? (uint32_t)1 << plan->block_bits : 0;
    }
    return FAB_OK;
}

/* Switches of a tier that what is below them joins are one system (RFC 7938): so no packet goes up again behind them. A
 * leaf is one of its own, and every switch where neighbors would be in one. */
static fab_status plan_systems(fab_switch_plan *plan, fab_error *err) {
    const fab_boxes *boxes = &plan->boxes;
    FAB_OWNS(fab_edges_release) fab_edges edges = {.n = 0};
    bool is_tree = true;
    FAB_OWNED_NEW(uint32_t, set, boxes->n, err);
    for (uint32_t tier = 1; tier <= plan->shape->n_tiers; tier++) {
        for (uint32_t i = 0; i < plan->n_ports; i++) {
            const fab_switch_port *p = &plan->port[i];
            uint32_t a = boxes->box[p->box].tier;
            uint32_t b = boxes->box[p->far_box].tier;
            if (p->far != FAB_NETWORK_NONE && p->far > i && (a > b ? a : b) == tier) {
                FAB_PASS(fab_edges_add(&edges, p->box, p->far_box, err));
                is_tree = is_tree && a != b && a > 0 && b > 0;
            }
        }
        FAB_PASS(fab_graph_components(boxes->n, &edges, set, err));
        for (uint32_t i = 0; i < boxes->n; i++) {
            if (boxes->box[i].tier == tier && !boxes->box[i].is_host) {
                plan->asn[i] = tier == 1 ? i : boxes->n * (tier - 1) + set[i];
            }
        }
    }
    for (uint32_t i = 0; i < boxes->n; i++) {
        plan->asn[i] = FIRST_ASN + (is_tree && boxes->box[i].tier > 0 ? plan->asn[i] : i);
    }
    FAB_REFUSE_IF(plan->shape->n_tiers > 0 && (uint64_t)boxes->n * plan->shape->n_tiers > 94967294, err,
                  FAB_EUNSUPPORTED, plan->shape->net->path, "%" PRIu32 " boxes: more than there are private systems",
                  boxes->n);
    return FAB_OK;
}

/* Upwards all ports are alike; downwards the cables to one neighbor are; between switches of one tier all may be. */
static fab_status plan_widths(fab_switch_plan *plan, fab_error *err) {
    FAB_OWNED uint32_t *n_to = NULL; /* [boxes.n]: cables of the switch at hand */
    FAB_PASS(FAB_NEW(n_to, plan->boxes.n, err));
    for (uint32_t i = 0; i < plan->boxes.n; i++) {
        uint32_t n_up = 0;
        uint32_t n_level = 0;
        uint32_t trunk = 1;
        for (uint32_t k = plan->first[i]; k < plan->first[i + 1]; k++) {
            uint32_t far = plan->port[k].far_box;
            bool is_switch = plan->port[k].far != FAB_NETWORK_NONE;
            n_up += is_switch && plan->boxes.box[far].tier > plan->boxes.box[i].tier ? 1 : 0;
            n_level += is_switch && plan->boxes.box[far].tier == plan->boxes.box[i].tier ? 1 : 0;
            trunk = is_switch && ++n_to[far] > trunk ? n_to[far] : trunk;
        }
        for (uint32_t k = plan->first[i]; k < plan->first[i + 1]; k++) {
            n_to[plan->port[k].far_box] = 0;
        }
        plan->width[i] = n_up + n_level > trunk ? n_up + n_level : trunk;
    }
    return FAB_OK;
}

fab_status fab_switch_plan_make(const fab_shape *shape, fab_switch_plan *out, fab_error *err) {
    FAB_OWNS(fab_switch_plan_release) fab_switch_plan plan = {.shape = shape};
    FAB_PASS(fab_boxes_find(shape, &plan.boxes, err));
    FAB_PASS(FAB_NEW_ALL(plan.boxes.n, err, plan.loopback, plan.asn, plan.width, plan.block));
    FAB_PASS(plan_ports(&plan, err));
    FAB_PASS(plan_addresses(&plan, err));
    FAB_PASS(plan_systems(&plan, err));
    FAB_PASS(plan_widths(&plan, err));
    return FAB_GIVE(*out, plan);
}

void fab_switch_plan_release(fab_switch_plan *plan) {
    fab_boxes_release(&plan->boxes);
    FAB_FREE_ALL(plan->port, plan->first, plan->loopback, plan->asn, plan->width, plan->block);
}
