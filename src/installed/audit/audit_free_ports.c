/* What ports tell of switches that are not there: those that the switches beside a gap leave free on the boxes that
 * they share, and the numbers of adapters that no leaf has. */
#include "audit_internal.h"

#include "../structure/box_names.h"

#define NONE FAB_NETWORK_NONE

static bool port_of(const fab_network_end *end, uint64_t *out) {
    const char *digits = end->port != NULL ? strpbrk(end->port, "0123456789") : NULL;
    *out = digits != NULL ? strtoul(digits, NULL, 10) : 0;
    return digits != NULL;
}

#define MOST_PORTS 64

/* Ports of a box that lead to a switch, ascending. */
static uint32_t ports_towards(const auditor *a, uint32_t box, uint32_t to, uint64_t out[MOST_PORTS]) {
    uint32_t n = 0;
    for (uint32_t k = a->shape->first[box]; k < a->shape->first[box + 1] && n < MOST_PORTS; k++) {
        n += fab_network_far(a->net, a->shape->side[k])->node == to &&
             port_of(fab_network_near(a->net, a->shape->side[k]), &out[n]);
    }
    FAB_SORT(out, n, fab_order_u64);
    return n;
}

static uint32_t far_end_of(const auditor *a, uint32_t box, uint64_t wanted) {
    for (uint32_t k = a->shape->first[box]; k < a->shape->first[box + 1]; k++) {
        uint64_t port = 0;
        if (port_of(fab_network_near(a->net, a->shape->side[k]), &port) && port == wanted) {
            return fab_network_far(a->net, a->shape->side[k])->node;
        }
    }
    return NONE;
}

static bool is_free_between(const auditor *a, uint32_t box, uint64_t low, uint64_t high) {
    for (uint64_t port = low + 1; low + 1 > low && port < high && port < low + 256; port++) {
        if (far_end_of(a, box, port) == NONE) {
            return true;
        }
    }
    return false;
}

bool fab_audit_leaves_port(const auditor *a, uint32_t side_one, uint32_t side_two, bool *out_is_free) {
    uint64_t one = 0;
    uint64_t two = 0;
    const fab_network_end *end = fab_network_far(a->net, side_one);
    if (!port_of(end, &one) || !port_of(fab_network_far(a->net, side_two), &two)) {
        return false;
    }
    *out_is_free = is_free_between(a, end->node, one < two ? one : two, one < two ? two : one);
    return true;
}

/* Whether a box leaves ports free between those of two switches; `before` NONE: just before those of `behind`. */
static bool box_leaves_ports(const auditor *a, uint32_t box, uint32_t before, uint32_t behind) {
    uint64_t one[MOST_PORTS];
    uint64_t two[MOST_PORTS];
    uint32_t n = ports_towards(a, box, behind, two);
    uint32_t n_before = before != NONE ? ports_towards(a, box, before, one) : n;
    for (uint32_t i = 0; i < n && i < n_before; i++) {
        uint64_t low = before == NONE ? two[i] - 2 : one[i] < two[i] ? one[i] : two[i];
        uint64_t high = before != NONE && one[i] > two[i] ? one[i] : two[i];
        bool is_free = false;
        if (before == NONE && (two[i] < 2 || (i > 0 && two[i] == two[i - 1] + 1))) {
            is_free = two[i] >= 2; /* its own ports stand in a row: the first one tells */
        }
        if (!is_free && !is_free_between(a, box, low, high)) {
            return false;
        }
    }
    return n > 0 && n_before > 0;
}

/* Least and largest number of the adapters of a leaf. */
static bool slots_of(const auditor *a, uint32_t leaf, uint32_t *out_least, uint32_t *out_most) {
    *out_least = NONE;
    *out_most = 0;
    for (uint32_t k = a->shape->first[leaf]; k < a->shape->first[leaf + 1]; k++) {
        uint32_t slot = a->shape->slot[fab_network_far(a->net, a->shape->side[k])->node];
        *out_least = slot < *out_least ? slot : *out_least;
        *out_most = slot != NONE && slot > *out_most ? slot : *out_most;
    }
    return *out_least != NONE;
}

bool fab_audit_slots_lack(const auditor *a, uint32_t before, uint32_t behind) {
    uint32_t least[2] = {0, 0};
    uint32_t most[2] = {0, 0};
    if (a->shape->tier[behind] != 1 || !slots_of(a, behind, &least[1], &most[1]) ||
        (before != NONE && !slots_of(a, before, &least[0], &most[0]))) {
        return false;
    }
    uint32_t from = before != NONE ? most[0] + 1 : 0;
    const uint32_t *slot = a->shape->slot;
    FAB_ANY(found, v, a->net->n_nodes, slot[v] != NONE && slot[v] >= from && slot[v] < least[1]);
    return from < least[1] && !found;
}

static bool is_leaf_board(const auditor *a, uint32_t v) {
    fab_box_name name = fab_box_name_of(a->net->nodes[v].label);
    return name.is_board && name.role[0] == 'L';
}

bool fab_audit_ports_are_free(const auditor *a, uint32_t before, uint32_t behind) {
    uint32_t n_free[2] = {0, 0};
    uint32_t n_all[2] = {0, 0};
    uint32_t last = NONE;
    for (uint32_t k = a->shape->first[behind]; k < a->shape->first[behind + 1]; k++) {
        uint32_t box = fab_network_far(a->net, a->shape->side[k])->node;
        uint64_t port[MOST_PORTS];
        if (!fab_audit_is_switch(a, box) || box == last || a->shape->tier[box] == a->shape->tier[behind] ||
            (before != NONE && ports_towards(a, box, before, port) == 0)) {
            continue;
        }
        bool above = a->shape->tier[box] > a->shape->tier[behind];
        last = box;
        n_all[above]++;
        n_free[above] += box_leaves_ports(a, box, before, behind);
    }
    bool is_slot = is_leaf_board(a, behind); /* the spine boards of the box have ports for all of them, filled or not */
    return (n_all[0] > 0 && n_free[0] >= FAB_AUDIT_NEARLY * n_all[0]) ||
           (!is_slot && n_all[1] > 0 && n_free[1] >= FAB_AUDIT_NEARLY * n_all[1]);
}
