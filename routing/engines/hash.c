#include "fab/hash.h"

#include <stdbool.h>

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
    for (uint32_t byte = 0; byte < 256; byte++) {
        out->effect[0][byte] = last_byte(family, byte);
    }
    for (size_t j = 1; j < FAB_HASH_BYTES; j++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            out->effect[j][byte] = shift_byte(family, out, out->effect[j - 1][byte]);
        }
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

fab_hash_rule fab_hash_rule_make(fab_hash_family family, const fab_crc *crc, uint32_t fields, uint32_t seed) {
    static const uint32_t BYTES[] = {4, 4, 1, 2, 2, 3};
    fab_hash_rule rule = {.family = family, .fields = fields, .seed = seed};
    for (uint32_t i = 0; i < sizeof BYTES / sizeof BYTES[0]; i++) {
        rule.n_bytes += (fields >> i & 1U) != 0 ? BYTES[i] : 0;
    }
    rule.constant = family < FAB_HASH_N_CRC ? crc_of_zeros(family, crc, seed, rule.n_bytes) : fold16(seed);
    return rule;
}

static uint32_t xor_value(const fab_hash_rule *rule, const fab_hash_packet *p) {
    uint32_t value = 0;
    value ^= (rule->fields & FAB_FIELD_SRCIP) != 0 ? p->src : 0;
    value ^= (rule->fields & FAB_FIELD_DSTIP) != 0 ? p->dst : 0;
    value ^= (rule->fields & FAB_FIELD_PROTO) != 0 ? p->proto : 0;
    value ^= (rule->fields & FAB_FIELD_SPORT) != 0 ? p->sport : 0;
    value ^= (rule->fields & FAB_FIELD_DPORT) != 0 ? p->dport : 0;
    value ^= (rule->fields & FAB_FIELD_DQP) != 0 ? p->dqp : 0;
    return fold16(value) ^ rule->constant;
}

/* Adds the bytes of a field, most significant first; `left` bytes of the message are still to come. */
static inline uint32_t hash_add_field(const fab_crc *crc, uint32_t field, uint32_t n, uint32_t *left) {
    uint32_t value = 0;
    for (uint32_t shift = 8 * n; shift > 0;) {
        shift -= 8;
        value ^= crc->effect[--*left][field >> shift & 0xff];
    }
    return value;
}

uint32_t fab_hash_packet_value(const fab_hash_rule *rule, const fab_crc *crc, const fab_hash_packet *p) {
    if (rule->family == FAB_HASH_XOR) {
        return xor_value(rule, p);
    }
    uint32_t left = rule->n_bytes;
    uint32_t value = rule->constant;
    if ((rule->fields & FAB_FIELD_SRCIP) != 0) {
        value ^= hash_add_field(crc, p->src, 4, &left);
    }
    if ((rule->fields & FAB_FIELD_DSTIP) != 0) {
        value ^= hash_add_field(crc, p->dst, 4, &left);
    }
    if ((rule->fields & FAB_FIELD_PROTO) != 0) {
        value ^= hash_add_field(crc, p->proto, 1, &left);
    }
    if ((rule->fields & FAB_FIELD_SPORT) != 0) {
        value ^= hash_add_field(crc, p->sport, 2, &left);
    }
    if ((rule->fields & FAB_FIELD_DPORT) != 0) {
        value ^= hash_add_field(crc, p->dport, 2, &left);
    }
    if ((rule->fields & FAB_FIELD_DQP) != 0) {
        value ^= hash_add_field(crc, p->dqp, 3, &left);
    }
    return value;
}
