/* ecmp: every switch hashes header fields of the packet and takes the next hop that the hash selects.
 *
 * RoCEv2 packets of one queue pair differ from those of another in the UDP source port, which Linux derives from a
 * 20-bit flow label, and in the number of the destination queue pair, which only E-ECMP reads. The seed draws both, or
 * every choice (ideal). Each tier has its own hash family, fields, seed and offset, the lowest bits of the
 * value that it drops; tiers with the same hash make the second choice depend on the first (polarization). ADR 0016. */
#include "engines.h"
#include "fab/choices.h"
#include "fab/hash.h"
#include "fab/rng.h"
#include "fab/units.h"

/* Options, as in the table. */
enum {
    ECMP_HASH,
    ECMP_QP,
    ECMP_OFFSET,
    ECMP_FIELDS,
    ECMP_SEED,
    ECMP_SPREAD,
    ECMP_WEIGHTS,
    ECMP_MEMBER_LOSS,
    ECMP_FLOWS
};

typedef struct tier_options {
    fab_hash_family family;
    uint32_t fields, seed, offset;
    uint32_t slot; /* of its value in fab_hop_key.value; tiers with equal rules share one */
} tier_options;

typedef struct options {
    tier_options tier[FAB_FABRIC_TIERS + 1]; /* [t], t >= 1 */
    fab_hash_rule rule[FAB_FABRIC_TIERS];    /* [slot] */
    uint32_t n_rules;
    uint32_t *nic_effect;  /* shape [n_rules][n_nics][2]: what a NIC's address as source and as destination does to a
                              value; all rules are linear */
    uint32_t *sport_value; /* shape [n_rules][SOURCE_PORTS]: of a packet with no addresses from this port */
    fab_crc crc[FAB_HASH_N_CRC]; /* [family], those in use */
} options;

/* --- options ------------------------------------------------------------------------------------------------------ */

static fab_status read_family(const char *item, uint64_t *out, fab_error *err) {
    fab_choices near = fab_choices_of(item);
    for (uint64_t family = 0; family < FAB_HASH_N; family++) {
        if (strcmp(item, fab_hash_names[family]) == 0) {
            *out = family;
            return FAB_OK;
        }
        fab_choices_offer(&near, fab_hash_names[family]);
    }
    return fab_fail(err, FAB_EINPUT, NULL, "unknown hash '%.40s'%s", item, fab_choices_list(&near, "one of"));
}

static fab_status read_fields(const char *item, uint64_t *out, fab_error *err) {
    static const struct {
        const char *name;
        uint32_t fields;
    } NAMES[] = {{"5tuple", FAB_FIELD_5TUPLE}, {"ips", FAB_FIELD_SRCIP | FAB_FIELD_DSTIP},
                 {"srcip", FAB_FIELD_SRCIP},   {"dstip", FAB_FIELD_DSTIP},
                 {"proto", FAB_FIELD_PROTO},   {"sport", FAB_FIELD_SPORT},
                 {"dport", FAB_FIELD_DPORT},   {"dqp", FAB_FIELD_DQP}};
    uint64_t fields = 0;
    for (const char *name = item; name != NULL;) {
        const char *plus = strchr(name, '+');
        size_t length = plus != NULL ? (size_t)(plus - name) : strlen(name);
        uint32_t found = 0;
        for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
            if (strlen(NAMES[i].name) == length && strncmp(name, NAMES[i].name, length) == 0) {
                found = NAMES[i].fields;
            }
        }
        FAB_REFUSE_IF(found == 0, err, FAB_EINPUT, NULL,
                      "unknown field '%.*s'; 5tuple, ips, srcip, dstip, proto, sport, dport, dqp, joined by '+'",
                      (int)length, name);
        fields |= found;
        name = plus != NULL ? plus + 1 : NULL;
    }
    *out = fields;
    return FAB_OK;
}

static fab_status read_seed(const char *item, uint64_t *out, fab_error *err) {
    return fab_count_parse(item, 0, UINT32_MAX, out, err);
}

static fab_status read_offset(const char *item, uint64_t *out, fab_error *err) {
    return fab_count_parse(item, 0, 31, out, err);
}

/* NIC i has address 10.0.0.0 + i. */
#define NETWORK (10U << 24)

/* Linux takes them from the dynamic ports. */
#define FIRST_SOURCE_PORT 0xc000U
#define SOURCE_PORTS      0x4000U

static const fab_crc *crc_of(const options *o, const fab_hash_rule *rule) {
    return rule->family < FAB_HASH_N_CRC ? &o->crc[rule->family] : NULL;
}

/* All rules are linear: the value of a packet is that of an empty one, with what each field does to it. */
static fab_status measure_effects(const fab_router *router, fab_error *err) {
    options *o = router->state;
    size_t n_nics = fab_n_of(router->fabric, FAB_NODE_NIC);
    FAB_PASS(FAB_NEW(o->nic_effect, 2 * (size_t)o->n_rules * n_nics, err));
    FAB_PASS(FAB_NEW(o->sport_value, (size_t)o->n_rules * SOURCE_PORTS, err));
    for (uint32_t slot = 0; slot < o->n_rules; slot++) {
        const fab_hash_rule *rule = &o->rule[slot];
        const fab_hash_packet none = {0};
        uint32_t empty = fab_hash_packet_value(rule, crc_of(o, rule), &none);
        for (uint32_t nic = 0; nic < n_nics; nic++) {
            const fab_hash_packet from = {.src = NETWORK + nic};
            const fab_hash_packet to = {.dst = NETWORK + nic};
            uint32_t *effect = &o->nic_effect[2 * (slot * n_nics + nic)];
            effect[0] = empty ^ fab_hash_packet_value(rule, crc_of(o, rule), &from);
            effect[1] = empty ^ fab_hash_packet_value(rule, crc_of(o, rule), &to);
        }
        for (uint32_t i = 0; i < SOURCE_PORTS; i++) {
            const fab_hash_packet rest = {
                .sport = (uint16_t)(FIRST_SOURCE_PORT + i), .dport = 4791 /* RoCEv2 */, .proto = 17 /* UDP */};
            o->sport_value[(size_t)slot * SOURCE_PORTS + i] = fab_hash_packet_value(rule, crc_of(o, rule), &rest);
        }
    }
    return FAB_OK;
}

/* Groups without weights or buckets, and values that are read and not drawn. */
static void set_modulo(fab_router *router) {
    const options *o = router->state;
    router->is_modulo_healthy = !router->facts.weighs;
    for (uint32_t t = 1; t <= FAB_FABRIC_TIERS; t++) {
        const tier_options *tier = &o->tier[t];
        router->is_modulo_healthy =
            router->is_modulo_healthy && (tier->family != FAB_HASH_IDEAL || t > router->fabric->n_tiers);
        router->modulo_slot[t] = (uint8_t)tier->slot;
        router->modulo_shift[t] = (uint8_t)(tier->offset & (fab_hash_width(tier->family) - 1));
    }
    router->is_modulo = router->is_modulo_healthy && !router->resilient;
}

static fab_status ecmp_prepare(fab_router *router, fab_error *err) {
    options *o = router->state;
    const fab_option_value *given = router->option;
    fab_router_facts *facts = &router->facts;
    router->by_capacity = given[ECMP_WEIGHTS].number == 1;
    router->resilient = given[ECMP_MEMBER_LOSS].number == 1;
    facts->n_rounds = given[ECMP_SPREAD].number == 1 ? router->queue_pairs : 1;
    facts->weighs = router->by_capacity || router->groups.weight != NULL;
    facts->hashes_queue_pairs = true;
    router->weight_unit_bps = fab_hash_group_unit(router->fabric);
    for (uint32_t t = 1; t <= FAB_FABRIC_TIERS; t++) {
        tier_options *tier = &o->tier[t];
        *tier = (tier_options){.family = (fab_hash_family)given[ECMP_HASH].tier[t],
                               .fields = (uint32_t)given[ECMP_FIELDS].tier[t],
                               .seed = (uint32_t)given[ECMP_SEED].tier[t],
                               .offset = (uint32_t)given[ECMP_OFFSET].tier[t]};
        if (tier->family == FAB_HASH_IDEAL) {
            FAB_REFUSE_IF(tier->fields != FAB_FIELD_5TUPLE, err, FAB_EINPUT, NULL,
                          "an ideal hash is drawn: it reads no fields (tier %u)", t);
            continue;
        }
        facts->hashes_queue_pairs =
            facts->hashes_queue_pairs && (tier->fields & (FAB_FIELD_SPORT | FAB_FIELD_DQP)) != 0;
        fab_crc *crc = tier->family < FAB_HASH_N_CRC ? &o->crc[tier->family] : NULL;
        if (crc != NULL) {
            fab_crc_init(tier->family, crc);
        }
        fab_hash_rule rule = fab_hash_rule_make(tier->family, crc, tier->fields, tier->seed);
        for (tier->slot = 0; tier->slot < o->n_rules; tier->slot++) {
            const fab_hash_rule *known = &o->rule[tier->slot];
            if (known->family == rule.family && known->fields == rule.fields && known->seed == rule.seed) {
                break;
            }
        }
        if (tier->slot == o->n_rules && t <= router->fabric->n_tiers) {
            o->rule[o->n_rules++] = rule;
        }
    }
    set_modulo(router);
    return measure_effects(router, err);
}

static void ecmp_release(fab_router *router) {
    options *o = router->state;
    FAB_FREE_ALL(o->nic_effect, o->sport_value);
}

/* --- hashing ------------------------------------------------------------------------------------------------------ */

/* UDP source port of a flow label: Linux, rdma_flow_label_to_udp_sport. */
static uint16_t source_port(uint32_t flow_label) {
    uint32_t low = flow_label & 0x03fff;
    uint32_t high = (flow_label & 0xfc000) >> 14;
    return (uint16_t)((low ^ high) | 0xc000);
}

/* The fields that differ between queue pairs; addresses are left to the caller. */
static fab_hash_packet packet_of(const fab_hop_key *key) {
    return (fab_hash_packet){.dqp = (uint32_t)(key->hash >> 40),
                             .sport = source_port((uint32_t)key->hash & 0xfffff),
                             .dport = 4791, /* RoCEv2 */
                             .proto = 17 /* UDP */};
}

static void ecmp_begin(const fab_router *router, uint64_t seed, fab_hop_key *keys, uint32_t n) {
    const options *o = router->state;
    size_t n_nics = fab_n_of(router->fabric, FAB_NODE_NIC);
    FAB_EACH(fab_hop_key, key, keys, n) {
        key->hash =
            fab_draw(seed, (uint64_t)key->src_nic << 32 | key->dst_nic, (uint64_t)key->ordinal << 16 | key->queue_pair);
    }
    for (uint32_t slot = 0; slot < o->n_rules; slot++) {
        const fab_hash_rule *rule = &o->rule[slot];
        const uint32_t *effect = &o->nic_effect[2 * (size_t)slot * n_nics];
        const uint32_t *sport_value = &o->sport_value[(size_t)slot * SOURCE_PORTS];
        for (uint32_t i = 0; i < n; i++) {
            const fab_hop_key *key = &keys[i];
            uint32_t sport = source_port((uint32_t)key->hash & 0xfffff);
            keys[i].value[slot] = sport_value[sport - FIRST_SOURCE_PORT] ^ effect[2 * (size_t)key->src_nic] ^
                                  effect[2 * (size_t)key->dst_nic + 1];
        }
        for (uint32_t i = 0; i < n && (rule->fields & FAB_FIELD_DQP) != 0; i++) {
            const fab_hash_packet none = {0};
            const fab_hash_packet pair = {.dqp = (uint32_t)(keys[i].hash >> 40)};
            keys[i].value[slot] ^= fab_hash_packet_value(rule, crc_of(o, rule), &none) ^
                                   fab_hash_packet_value(rule, crc_of(o, rule), &pair);
        }
    }
}

static uint32_t ecmp_pick(const fab_router *router, FAB_UNUSED uint64_t seed, const fab_hop *hop,
                          const fab_hop_key *key) {
    const options *o = router->state;
    const tier_options *tier = &o->tier[hop->tier];
    if (tier->family == FAB_HASH_IDEAL) {
        uint64_t draw = fab_mix64(key->hash ^ hop->node ^ (uint64_t)tier->seed << 32);
        return fab_hash_group_pick(router, hop, (uint32_t)(draw >> 32), true);
    }
    uint32_t value = fab_hash_window(key->value[tier->slot], fab_hash_width(tier->family), tier->offset);
    return fab_hash_group_pick(router, hop, value, false);
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

/* "10.0.0.3". `out` holds 16 bytes. Returns out. */
static const char *address(uint32_t nic, char *out) {
    uint32_t a = NETWORK + nic;
    (void)snprintf(out, 16, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
    return out;
}

/* The fields that a tier reads. */
static void name_fields(uint32_t fields, const fab_hop_key *key, char *out, size_t size) {
    fab_hash_packet p = packet_of(key);
    char text[5][16]; /* as the bits of the fields */
    size_t n = 0;
    (void)address(key->src_nic, text[0]);
    (void)address(key->dst_nic, text[1]);
    FAB_FORMAT(text[2], "%u", p.proto);
    FAB_FORMAT(text[3], "%u", p.sport);
    FAB_FORMAT(text[4], "%u", p.dport);
    out[0] = '\0';
    if ((fields & FAB_FIELD_5TUPLE) == FAB_FIELD_5TUPLE) {
        n = (size_t)snprintf(out, size, "(%s, %s, udp %s -> %s)", text[0], text[1], text[3], text[4]);
    }
    for (size_t i = 0; i < 5 && (fields & FAB_FIELD_5TUPLE) != FAB_FIELD_5TUPLE && n < size; i++) {
        static const char *const NAMES[] = {"srcip", "dstip", "proto", "sport", "dport"};
        if ((fields >> i & 1U) != 0) {
            n += (size_t)snprintf(out + n, size - n, "%s%s %s", n > 0 ? ", " : "", NAMES[i], text[i]);
        }
    }
    if ((fields & FAB_FIELD_DQP) != 0 && n < size) {
        (void)snprintf(out + n, size - n, "%sdqp 0x%06x", n > 0 ? ", " : "", p.dqp);
    }
}

static uint64_t ecmp_explain(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key,
                             char *out, size_t size) {
    const options *o = router->state;
    const tier_options *tier = &o->tier[hop->tier];
    uint32_t index = ecmp_pick(router, seed, hop, key);
    const char *weighted = router->groups.weight != NULL ? ", weighted by tables"
                           : router->by_capacity         ? ", weighted by capacity"
                                                         : "";
    char fields[112];
    char window[32] = "";
    if (tier->family == FAB_HASH_IDEAL) {
        (void)snprintf(out, size, "drawn for this switch and queue pair%s%s: %u of %u", weighted,
                       router->resilient ? ", resilient" : "", index, hop->count);
        return fab_mix64(key->hash ^ hop->node ^ (uint64_t)tier->seed << 32) >> 32;
    }
    uint32_t value = key->value[tier->slot];
    uint32_t width = fab_hash_width(tier->family);
    uint32_t part = fab_hash_window(value, width, tier->offset);
    name_fields(tier->fields, key, fields, sizeof fields);
    if (part != value) {
        FAB_FORMAT(window, ", >> %u = 0x%x", tier->offset & (width - 1), part);
    }
    if (router->facts.weighs || router->resilient) {
        (void)snprintf(out, size, "%s of %s = 0x%0*x%s%s%s: %u of %u", fab_hash_names[tier->family], fields,
                       (int)(width / 4), value, window, weighted, router->resilient ? ", resilient" : "", index,
                       hop->count);
    } else {
        (void)snprintf(out, size, "%s of %s = 0x%0*x%s, mod %u = %u", fab_hash_names[tier->family], fields,
                       (int)(width / 4), value, window, hop->count, index);
    }
    return part;
}

static const fab_engine_option OPTIONS[] = {
    [ECMP_HASH] = {"hash", "crc32",
                   "by tier, leaf first, separated by '/': crc32 (IEEE 802.3), crc32c, crc32k, crc16 (CCITT), xor, or "
                   "ideal (independent draw per switch and queue pair)",
                   false, .kind = FAB_OPTION_TIERS, .read = read_family},
    [ECMP_QP] = {"qp", "1", "queue pairs per flow, each with its own UDP source port and destination queue pair", false,
                 .kind = FAB_OPTION_QUEUE_PAIRS},
    [ECMP_OFFSET] = {"offset", "0/8/16/24",
                     "lowest bits of the hash that a tier drops (modulo its width), leaf first; equal ones polarize",
                     false, .kind = FAB_OPTION_TIERS, .read = read_offset},
    [ECMP_FIELDS] = {"fields", "5tuple",
                     "by tier, what is hashed: 5tuple, ips, srcip, dstip, proto, sport, dport, dqp (destination queue "
                     "pair: E-ECMP), joined by '+'",
                     true, .kind = FAB_OPTION_TIERS, .read = read_fields},
    [ECMP_SEED] = {"hash-seed", "0",
                   "by tier, changes the initial value; cures no polarization of a CRC over powers of two", true,
                   .kind = FAB_OPTION_TIERS, .read = read_seed},
    [ECMP_SPREAD] = {"spread", "split",
                     "split (a flow uses its queue pairs at once) or round-robin (one message after the other; figures "
                     "are means over the rounds)",
                     true, .kind = FAB_OPTION_CHOICE, .choices = "split round-robin"},
    [ECMP_WEIGHTS] = {"weights", "equal", "of next hops: equal, or capacity (of the link)", true,
                      .kind = FAB_OPTION_CHOICE, .choices = "equal capacity"},
    [ECMP_MEMBER_LOSS] = {"member-loss", "modulo",
                          "when links die: modulo (over the remaining next hops: nearly all flows move) or resilient "
                          "(fixed buckets: only flows of the dead member move)",
                          true, .kind = FAB_OPTION_CHOICE, .choices = "modulo resilient"},
    [ECMP_FLOWS] =
        {"flows", "auto",
         "of an all-to-all of equal flows: walked, or estimated (how full the fullest link is expected to be, "
         "with its range); auto estimates above 2^29 flows",
         true, .kind = FAB_OPTION_CHOICE, .choices = "auto walked estimated"},
    FAB_TABLES_OPTION,
    {.key = NULL},
};

const fab_engine fab_engine_ecmp = {
    .name = "ecmp",
    .summary = "a hash of header fields selects among equal-cost next hops",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_MODULO,
    .seeded = true,
    .hashes = true,
    .state_size = sizeof(options),
    .prepare = ecmp_prepare,
    .release = ecmp_release,
    .begin = ecmp_begin,
    .pick = ecmp_pick,
    .explain = ecmp_explain,
};
