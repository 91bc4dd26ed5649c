#include "fab/hash.h"

#include "engines.h"

#include "fab/rng.h"

const char *const fab_hash_names[FAB_HASH_N] = {"crc32", "crc32c", "crc32k", "crc16", "xor", "ideal"};

/* Polynomials; 32-bit ones are reflected, so that the low bit of a byte comes first. */
static const uint32_t POLYNOMIAL[FAB_HASH_N_CRC] = {0xedb88320, 0x82f63b78, 0xeb31d82e, 0x1021};

static bool is_reflected(fab_hash_family family) {
    return family != FAB_HASH_CRC16;
}

/* The remainder after one more byte that is zero. */
static uint32_t shift_byte(fab_hash_family family, const fab_crc *crc, uint32_t value) {
    return is_reflected(family) ? value >> 8 ^ crc->effect[0][value & 0xff]
                                : (value << 8 & 0xffff) ^ crc->effect[0][value >> 8];
}

static uint32_t last_byte(fab_hash_family family, uint32_t byte) {
    uint32_t value = is_reflected(family) ? byte : byte << 8;
    for (int bit = 0; bit < 8; bit++) {
        if (is_reflected(family)) {
            value = value >> 1 ^ ((value & 1) != 0 ? POLYNOMIAL[family] : 0);
        } else {
            value = (value << 1 & 0xffff) ^ ((value & 0x8000) != 0 ? POLYNOMIAL[family] : 0);
        }
    }
    return value;
}

void fab_crc_init(fab_hash_family family, fab_crc *out) {
    FAB_FILL(out->effect[0], 256, last_byte(family, (uint32_t)fab_at));
    for (size_t j = 1; j < FAB_HASH_BYTES; j++) {
        FAB_FILL(out->effect[j], 256, shift_byte(family, out, out->effect[j - 1][fab_at]));
    }
}

static uint32_t fold16(uint32_t value) {
    return (value ^ value >> 16) & 0xffff;
}

static uint32_t crc_of_zeros(fab_hash_family family, const fab_crc *crc, uint32_t seed, size_t n) {
    uint32_t value = family == FAB_HASH_CRC16 ? 0xffff ^ fold16(seed) : UINT32_MAX ^ seed;
    for (size_t i = 0; i < n; i++) {
        value = shift_byte(family, crc, value);
    }
    return family == FAB_HASH_CRC16 ? value : ~value;
}

uint32_t fab_crc_value(fab_hash_family family, const fab_crc *crc, uint32_t seed, const uint8_t *bytes, size_t n) {
    uint32_t value = crc_of_zeros(family, crc, seed, n);
    for (size_t i = 0; i < n; i++) {
        value ^= crc->effect[n - 1 - i][bytes[i]];
    }
    return value;
}

/* Of the fields, in the order of their bits. */
enum { N_FIELDS = 6 };
static const uint32_t FIELD_BYTES[N_FIELDS] = {4, 4, 1, 2, 2, 3};

fab_hash_rule fab_hash_rule_make(fab_hash_family family, const fab_crc *crc, uint32_t fields, uint32_t seed) {
    fab_hash_rule rule = {.family = family, .fields = fields, .seed = seed};
    for (uint32_t i = 0; i < N_FIELDS; i++) {
        rule.n_bytes += (fields >> i & 1U) != 0 ? FIELD_BYTES[i] : 0;
    }
    rule.constant = family < FAB_HASH_N_CRC ? crc_of_zeros(family, crc, seed, rule.n_bytes) : fold16(seed);
    return rule;
}

uint32_t fab_hash_packet_value(const fab_hash_rule *rule, const fab_crc *crc, const fab_hash_packet *p) {
    const uint32_t field[N_FIELDS] = {p->src, p->dst, p->proto, p->sport, p->dport, p->dqp};
    uint32_t left = rule->n_bytes;
    uint32_t value = 0;
    for (uint32_t i = 0; i < N_FIELDS; i++) {
        if ((rule->fields >> i & 1U) == 0) {
            continue;
        }
        if (rule->family == FAB_HASH_XOR) {
            value ^= field[i];
            continue;
        }
        for (uint32_t shift = 8 * FIELD_BYTES[i]; shift > 0;) { /* most significant byte first */
            shift -= 8;
            value ^= crc->effect[--left][field[i] >> shift & 0xff];
        }
    }
    return (rule->family == FAB_HASH_XOR ? fold16(value) : value) ^ rule->constant;
}

/* A group is a table of slots, as many per next hop as it has weight; the value modulo the slots selects one.
 *
 * Resilient hashing keeps the table of the healthy group, FAB_RESILIENT_BUCKETS buckets to a slot. A bucket whose owner
 * is dead is given to a living next hop, in turn; all others stay, so that only flows of dead members move. */

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
    FAB_FIRST(i, hop->count, fab_next_hop(&hop->next, i) == owner);
    return i < hop->count ? i : member_of_slot(router, &hop->next, (turn + slot) % n_slots(router, &hop->next));
}

uint32_t fab_hash_group_pick(const fab_router *router, const fab_hop *hop, uint32_t value, bool is_uniform) {
    if (router->resilient) {
        return pick_resilient(router, hop, value, is_uniform);
    }
    uint32_t slots = router->facts.weighs ? n_slots(router, &hop->next) : hop->count;
    uint32_t slot = is_uniform ? fab_scale32(value, slots) : value % slots;
    return router->facts.weighs ? member_of_slot(router, &hop->next, slot) : slot;
}
