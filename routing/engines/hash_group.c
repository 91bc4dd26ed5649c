/* A group is a table of slots, as many per next hop as it has weight; the value modulo the slots selects one.
 *
 * Resilient hashing keeps the table of the healthy group, FAB_RESILIENT_BUCKETS buckets to a slot. A bucket whose owner
 * is dead is given to a living next hop, in turn; all others stay, so that only flows of dead members move. */
#include "engines.h"
#include "fab/rng.h"

double fab_hash_group_unit(const fab_fabric *f) {
    uint64_t unit = 0;
    for (uint16_t i = 0; i < f->n_classes; i++) {
        uint64_t rest = f->classes[i].kind == FAB_LINK_FABRIC ? (uint64_t)(f->classes[i].capacity_bps + 0.5) : 0;
        while (rest != 0) { /* greatest common divisor */
            uint64_t next = unit % rest;
            unit = rest;
            rest = next;
        }
    }
    return unit > 0 ? (double)unit : 1;
}

/* Equal weights are as none, whatever they are. */
static bool is_even(const fab_router *router, const fab_next_hop_list *next) {
    bool even = true;
    for (uint32_t i = 1; router->facts.weighs && even && i < next->count; i++) {
        even = fab_next_hop_weight(router, next, i) == fab_next_hop_weight(router, next, 0);
    }
    return even;
}

/* At least 1: groups have members. */
static uint32_t n_slots(const fab_router *router, const fab_next_hop_list *next) {
    uint32_t n = next->count;
    if (!is_even(router, next)) {
        n = 0;
        for (uint32_t i = 0; i < next->count; i++) {
            n += fab_next_hop_weight(router, next, i);
        }
    }
    return n > 0 ? n : 1;
}

static uint32_t member_of_slot(const fab_router *router, const fab_next_hop_list *next, uint32_t slot) {
    if (is_even(router, next)) {
        return slot;
    }
    uint32_t member = 0;
    while (slot >= fab_next_hop_weight(router, next, member)) {
        slot -= fab_next_hop_weight(router, next, member++);
    }
    return member;
}

static uint32_t pick_resilient(const fab_router *router, const fab_hop *hop, uint32_t value, bool is_uniform) {
    fab_next_hop_list full = {0};
    if (router->healthy != NULL && router->groups.next_hops == NULL) { /* groups from a file are what they are */
        uint32_t index = hop->node - router->fabric->first[FAB_NODE_SWITCH];
        full = fab_next_hops_look(router->healthy, index, hop->leaf);
    }
    if (full.count == 0) {
        full = hop->next;
    }
    uint32_t slots = n_slots(router, &full);
    uint32_t n_buckets = slots * FAB_RESILIENT_BUCKETS;
    uint32_t bucket = is_uniform ? fab_scale32(value, n_buckets) : value % n_buckets;
    uint32_t slot = is_uniform ? bucket / FAB_RESILIENT_BUCKETS : bucket % slots; /* as without buckets */
    uint32_t turn = is_uniform ? bucket % FAB_RESILIENT_BUCKETS : bucket / slots;
    fab_link_id owner = fab_next_hop(&full, member_of_slot(router, &full, slot));
    for (uint32_t i = 0; i < hop->count; i++) {
        if (fab_next_hop(&hop->next, i) == owner) {
            return i;
        }
    }
    return member_of_slot(router, &hop->next, (turn + slot) % n_slots(router, &hop->next));
}

uint32_t fab_hash_group_pick(const fab_router *router, const fab_hop *hop, uint32_t value, bool is_uniform) {
    if (router->resilient) {
        return pick_resilient(router, hop, value, is_uniform);
    }
    uint32_t slots = router->facts.weighs ? n_slots(router, &hop->next) : hop->count;
    uint32_t slot = is_uniform ? fab_scale32(value, slots) : value % slots;
    return router->facts.weighs ? member_of_slot(router, &hop->next, slot) : slot;
}
