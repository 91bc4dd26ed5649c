/* ecmp: every switch hashes the packet's 5-tuple and takes the next hop that the hash selects.
 *
 * RoCEv2 packets of one queue pair differ from those of another only in the UDP source port, which Linux derives from a
 * 20-bit flow label. The seed draws the flow labels (crc32), or every choice (ideal). Each tier looks at the hash
 * rotated by its own offset; equal offsets at two tiers make the second choice depend on the first (polarization). */
#include "engines.h"
#include "fab/crc32.h"
#include "fab/rng.h"
#include "fab/units.h"

#include <stdio.h>
#include <string.h>

enum { HASH_CRC32, HASH_IDEAL };

typedef struct options {
    int hash;
    uint32_t offset[FAB_FABRIC_TIERS + 1]; /* [t]: bits */
} options;

static fab_status set_offsets(options *o, const char *value, fab_error *err) {
    char text[64];
    (void)snprintf(text, sizeof text, "%s", value);
    uint32_t t = 1;
    char *item = text;
    while (item != NULL && t <= FAB_FABRIC_TIERS) {
        char *next = strchr(item, '/');
        if (next != NULL) {
            *next++ = '\0';
        }
        uint64_t bits = 0;
        fab_status status = fab_count_parse(item, 0, 31, &bits, err);
        if (status != FAB_OK) {
            return status;
        }
        o->offset[t++] = (uint32_t)bits;
        item = next;
    }
    for (; t <= FAB_FABRIC_TIERS; t++) {
        o->offset[t] = o->offset[t - 1];
    }
    return FAB_OK;
}

static fab_status set(fab_router *router, const char *key, const char *value, fab_error *err) {
    options *o = router->state;
    if (strcmp(key, "offset") == 0) {
        return set_offsets(o, value, err);
    }
    if (strcmp(value, "crc32") == 0) {
        o->hash = HASH_CRC32;
    } else if (strcmp(value, "ideal") == 0) {
        o->hash = HASH_IDEAL;
    } else {
        return fab_fail(err, FAB_EINPUT, NULL, "unknown hash '%s'; one of crc32, ideal", value);
    }
    return FAB_OK;
}

/* UDP source port of a flow label: Linux, rdma_flow_label_to_udp_sport. */
static uint16_t source_port(uint32_t flow_label) {
    uint32_t low = flow_label & 0x03fff;
    uint32_t high = (flow_label & 0xfc000) >> 14;
    return (uint16_t)((low ^ high) | 0xc000);
}

/* Source and destination address, protocol, source and destination port, as they stand in the packet. */
static void five_tuple(const fab_hop_key *key, uint16_t sport, uint8_t out[13]) {
    const uint32_t network = 10U << 24; /* NIC i has address 10.0.0.0 + i */
    const uint32_t words[2] = {network + key->src_nic, network + key->dst_nic};
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(words[i / 4] >> (24 - 8 * (i % 4)));
    }
    out[8] = 17; /* UDP */
    out[9] = (uint8_t)(sport >> 8);
    out[10] = (uint8_t)sport;
    out[11] = 4791 >> 8; /* RoCEv2 */
    out[12] = 4791 & 0xff;
}

static void begin(const fab_router *router, uint64_t seed, fab_hop_key *key) {
    const options *o = router->state;
    uint64_t draw =
        fab_draw(seed, (uint64_t)key->src_nic << 32 | key->dst_nic, (uint64_t)key->flow << 16 | key->queue_pair);
    key->hash = draw;
    if (o->hash == HASH_CRC32) {
        uint8_t tuple[13];
        five_tuple(key, source_port((uint32_t)draw & 0xfffff), tuple);
        key->hash = fab_crc32(tuple, sizeof tuple);
    }
}

static uint32_t pick(const fab_router *router, uint64_t seed, const fab_hop *hop, const fab_hop_key *key) {
    (void)seed;
    const options *o = router->state;
    if (o->hash == HASH_IDEAL) {
        return fab_scale32((uint32_t)(fab_mix64(key->hash ^ hop->node) >> 32), hop->count);
    }
    uint32_t hash = (uint32_t)key->hash;
    uint32_t offset = o->offset[hop->tier];
    uint32_t rotated = offset == 0 ? hash : hash >> offset | hash << (32 - offset);
    return rotated % hop->count;
}

static const fab_engine_option OPTIONS[] = {
    {"hash", "crc32", "crc32 (IEEE 802.3, of the 5-tuple) or ideal (independent draw per switch and queue pair)"},
    {"qp", "1", "queue pairs per flow, each with its own UDP source port"},
    {"offset", "0/8/16/24", "bits by which a tier rotates the hash, leaf first; equal ones polarize"},
    {NULL, NULL, NULL},
};

const fab_engine fab_engine_ecmp = {
    .name = "ecmp",
    .summary = "a hash of the 5-tuple selects among equal-cost next hops",
    .options = OPTIONS,
    .seeded = true,
    .state_size = sizeof(options),
    .set = set,
    .begin = begin,
    .pick = pick,
};
