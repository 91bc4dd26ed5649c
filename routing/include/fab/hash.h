/** The hashes that switches compute over the header fields of a packet. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Families; `ideal` is no function of the packet and is drawn by the engine. */
typedef enum fab_hash_family {
    FAB_HASH_CRC32,  /**< IEEE 802.3, reflected 0xEDB88320: "123456789" gives 0xCBF43926 */
    FAB_HASH_CRC32C, /**< Castagnoli, reflected 0x82F63B78: 0xE3069283 */
    FAB_HASH_CRC32K, /**< Koopman, reflected 0xEB31D82E: 0x2D3DD0AE */
    FAB_HASH_CRC16,  /**< CRC16-CCITT (FALSE), 0x1021: 0x29B1; 16 bits wide */
    FAB_HASH_N_CRC,
    FAB_HASH_XOR = FAB_HASH_N_CRC, /**< exclusive or of the 16-bit halves of the fields; 16 bits wide */
    FAB_HASH_IDEAL,
    FAB_HASH_N
} fab_hash_family;

extern const char *const fab_hash_names[FAB_HASH_N]; /**< "crc32", "crc32c", ... */

/** Bits of a value of the family. */
static inline uint32_t fab_hash_width(fab_hash_family family) {
    return family == FAB_HASH_CRC16 || family == FAB_HASH_XOR ? 16 : 32;
}

/** Header fields that a hash may read, in the order in which it reads them. */
enum {
    FAB_FIELD_SRCIP = 1,
    FAB_FIELD_DSTIP = 2,
    FAB_FIELD_PROTO = 4,
    FAB_FIELD_SPORT = 8,
    FAB_FIELD_DPORT = 16,
    FAB_FIELD_DQP = 32, /**< destination queue pair, 24 bits, of the InfiniBand base transport header */
    FAB_FIELD_5TUPLE = 31
};
#define FAB_HASH_BYTES 16 /**< of all fields */

typedef struct fab_hash_packet {
    uint32_t src, dst; /**< addresses */
    uint32_t dqp;
    uint16_t sport, dport;
    uint8_t proto;
} fab_hash_packet;

/** A CRC of messages of up to FAB_HASH_BYTES bytes: effect[j][b] is what byte b does to the remainder when j bytes
 * follow. A CRC is linear, so a message costs one look-up per byte, and none waits for another. */
typedef struct fab_crc {
    uint32_t effect[FAB_HASH_BYTES][256];
} fab_crc;

void fab_crc_init(fab_hash_family family, fab_crc *out);

/** What a switch computes: a family over some fields. Read-only once made. */
typedef struct fab_hash_rule {
    fab_hash_family family; /**< not FAB_HASH_IDEAL */
    uint32_t fields;        /**< set of FAB_FIELD_*, not empty */
    uint32_t seed;
    uint32_t n_bytes;
    uint32_t constant; /**< CRC of n_bytes zeros, final exclusive or included */
} fab_hash_rule;

/**
 * @param[in] crc   Of the family; NULL for FAB_HASH_XOR.
 * @param[in] seed  0: the standard function. Else it changes the initial value (both halves of it folded where the
 *                  value has 16 bits). A CRC is linear, so the seed flips the same bits of every value.
 */
fab_hash_rule fab_hash_rule_make(fab_hash_family family, const fab_crc *crc, uint32_t fields, uint32_t seed);
uint32_t fab_hash_packet_value(const fab_hash_rule *rule, const fab_crc *crc, const fab_hash_packet *packet);

/** CRC of n <= FAB_HASH_BYTES bytes. */
uint32_t fab_crc_value(fab_hash_family family, const fab_crc *crc, uint32_t seed, const uint8_t *bytes, size_t n);

/**
 * The value from bit `offset` (modulo its width) on, as a switch hands a window of its hash to the selection. A
 * rotation would not do: it multiplies by a power of two modulo 2^32 - 1, and keeps what groups of 3, 5, 6, 12 or 20
 * look at.
 */
static inline uint32_t fab_hash_window(uint32_t value, uint32_t width, uint32_t offset) {
    return value >> (offset & (width - 1));
}
