/* How many cables to the next tier a switch has, beside those of its role: most of them tell what each should have. One
 * with fewer hosts, or fewer switches below, may have fewer in proportion: it is not filled yet. */
#include "audit_internal.h"

#include "../structure/box_names.h"

#define FEW    4 /* switches, of which one fault is a good part */
#define LITTLE 2 /* cables by which half of the peers may differ: one too many, or trunks that do not fit evenly */

typedef struct counted {
    fab_box_name name;
    uint32_t node, up, down;
} counted;

FAB_ORDER_THREE(by_uplinks, counted, up, down, node);

/* "storage-leaf-1" and "leaf-1" are of one role, and of two kinds. */
FAB_ORDER_KEYS(by_kind, counted, fab_box_role_compare(&a->name, &b->name), FAB_ORDER(a->name.before, b->name.before),
               by_uplinks(x, y));

static bool is_same(const counted *a, const counted *b, bool is_kind) {
    return fab_box_role_compare(&a->name, &b->name) == 0 && (!is_kind || a->name.before == b->name.before);
}

static void count_cables(const auditor *a, uint32_t tier, counted *c) {
    c->name = fab_box_name_of(a->net->nodes[c->node].label);
    for (uint32_t j = a->shape->first[c->node]; j < a->shape->first[c->node + 1]; j++) {
        uint32_t w = fab_network_far(a->net, a->shape->side[j])->node;
        uint32_t other = fab_audit_is_switch(a, w) ? a->shape->tier[w] : 0;
        c->up += other == tier + 1;
        c->down += other < tier && a->net->nodes[w].kind != FAB_NETWORK_SERVICE;
    }
}

/* Trunks that went with absent switches of the next tier are told with them. Where there is one block, all of it lost
 * as many. */
static uint32_t n_gone(const auditor *a, uint32_t tier, uint32_t v) {
    const audit_boundary *b = &a->boundary[tier];
    uint32_t n = 0;
    bool all_lost = b->n_blocks == 1 && b->of[v] != FAB_NETWORK_NONE;
    for (uint32_t i = 0; i < a->out->n_absent && !all_lost; i++) {
        const absent_switch *s = &a->absent[i];
        if (s->tier == tier + 1 && (b->of[v] == FAB_NETWORK_NONE || s->block_below == FAB_NETWORK_NONE)) {
            return UINT32_MAX;
        }
        bool is_own = s->tier == tier + 1 && s->block_below == b->of[v];
        n += is_own && b->block[b->of[v]].usual > 1 ? b->block[b->of[v]].usual : is_own;
    }
    return n;
}

/* Switches of one role, or of one kind. */
static void look_at_peers(const auditor *a, uint32_t tier, counted *list, uint32_t n, audit_uplinks *out) {
    uint32_t best = 0; /* the first of those that have the usual number; of equally many the larger one */
    uint32_t most = 0;
    uint32_t n_none = 0;
    uint32_t n_values = 0;
    qsort(list, n, sizeof *list, by_uplinks);
    FAB_EACH_RUN(uint32_t, i, next, n, list[next].up == list[i].up) {
        n_none = list[i].up == 0 ? next - i : n_none;
        n_values++;
        if (list[i].up > 0 && next - i >= most) {
            best = i;
            most = next - i;
        }
    }
    uint32_t n_some = n - n_none;
    bool is_rule = most >= FAB_AUDIT_NEARLY * n_some || (n_some <= FEW && 2 * most > n_some);
    uint32_t down = most > 0 ? list[best + most / 2].down : 0;
    for (uint32_t i = 0; i < n && most > 0; i++) {
        uint32_t usual = list[best].up;
        uint32_t filled = list[i].down < down ? list[i].down : down;
        uint32_t should = down > 0 ? (uint32_t)((uint64_t)usual * filled / down) : usual;
        uint32_t gone = should > list[i].up ? n_gone(a, tier, list[i].node) : 0;
        const audit_uplinks own = {.there = list[i].up,
                                   .should = should > gone ? should - gone : 0,
                                   .n_usual = most,
                                   .n_peers = n,
                                   .is_rule = list[i].up == 0 ? 2 * most >= n || most >= FAB_AUDIT_NEARLY * n_some
                                                              : is_rule || ((n_values == 2 || 2 * most >= n_some) &&
                                                                            usual > list[i].up + LITTLE)};
        bool is_better = out[list[i].node].should <= own.there && own.should > own.there;
        out[list[i].node] = out[list[i].node].n_peers == 0 || is_better ? own : out[list[i].node];
    }
}

fab_status fab_audit_count_uplinks(const auditor *a, uint32_t tier, audit_uplinks *out, fab_error *err) {
    uint32_t n = a->tier_first[tier + 1] - a->tier_first[tier];
    FAB_OWNED_NEW(counted, list, (size_t)n + 1, err);
    for (uint32_t i = 0; i < n; i++) {
        list[i].node = a->in_tier[a->tier_first[tier] + i];
        count_cables(a, tier, &list[i]);
    }
    for (int is_kind = 0; is_kind < 2; is_kind++) { /* what the role does not tell, the kind may */
        qsort(list, n, sizeof *list, by_kind);
        FAB_EACH_RUN(uint32_t, i, next, n, is_same(&list[next], &list[i], is_kind != 0)) {
            look_at_peers(a, tier, list + i, next - i, out);
        }
    }
    return FAB_OK;
}

static uint32_t n_cables(const auditor *a, uint32_t v) {
    return a->shape->first[v + 1] - a->shape->first[v];
}

fab_status fab_audit_common_cables(auditor *a, fab_error *err) {
    FAB_OWNED_NEW(uint32_t, list, (size_t)a->net->n_nodes + 1, err);
    FAB_PASS(FAB_NEW_ALL((size_t)a->shape->n_tiers + 2, err, a->least, a->most));
    for (uint32_t tier = 0; tier <= a->shape->n_tiers; tier++) {
        uint32_t n = a->tier_first[tier + 1] - a->tier_first[tier];
        FAB_FILL(list, n, n_cables(a, a->in_tier[a->tier_first[tier] + fab_at]));
        qsort(list, n, sizeof *list, fab_order_u32);
        a->least[tier] = a->most[tier] = UINT32_MAX;
        for (uint32_t i = 0, run = 0; i < n; i++) {
            run = i > 0 && list[i] == list[i - 1] ? run + 1 : 1;
            a->least[tier] = a->least[tier] == UINT32_MAX && run > 2 && 4 * run >= n ? list[i] : a->least[tier];
            a->most[tier] = run < 3 ? a->most[tier] : 2 * run >= n ? list[i] : UINT32_MAX;
        }
    }
    return FAB_OK;
}

bool fab_audit_is_full(const auditor *a, uint32_t node) {
    const uint32_t n_ports = a->net->nodes[node].n_ports;
    return n_ports > 0 && n_cables(a, node) >= n_ports;
}

uint32_t fab_audit_room(const auditor *a, uint32_t node) {
    uint32_t most = a->most[a->shape->tier[node]];
    return !fab_audit_is_full(a, node) && n_cables(a, node) < most ? most - n_cables(a, node) : 0;
}

bool fab_audit_is_whole(const auditor *a, uint32_t node) {
    uint32_t tier = a->shape->tier[node];
    return n_cables(a, node) >= a->least[tier] && n_cables(a, node) <= a->most[tier];
}

uint32_t fab_audit_block_of_orphan(const auditor *a, uint32_t tier) {
    const audit_boundary *b = &a->boundary[tier];
    uint32_t usual = 0;
    uint32_t found = FAB_NETWORK_NONE;
    for (uint32_t k = 0; k < b->n_blocks; k++) {
        usual = b->block[k].n_lower > usual ? b->block[k].n_lower : usual;
    }
    for (uint32_t k = 0; k < b->n_blocks; k++) {
        if (b->n_blocks == 1 || b->block[k].n_lower < usual) {
            if (found != FAB_NETWORK_NONE) {
                return FAB_NETWORK_NONE;
            }
            found = k;
        }
    }
    return found != FAB_NETWORK_NONE && b->block[found].usual > 0 ? found : FAB_NETWORK_NONE;
}
