#include "oracle_network.h"
#include "fab/rng.h"

#include <stdlib.h>
#include <string.h>

static int is_fabric(const fab_fabric *f, fab_link_id l) {
    return f->classes[f->cable_class[l / 2]].kind == FAB_LINK_FABRIC;
}

static int is_alive(const fab_fabric *f, const uint8_t *is_dead, fab_link_id l) {
    return is_fabric(f, l) && (is_dead == NULL || !is_dead[l]);
}

int *oracle_distances_alive(const fab_fabric *f, const uint8_t *is_dead, fab_node_id leaf) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = f->n_nodes - base;
    int *distance = malloc(n * sizeof *distance);
    for (uint32_t i = 0; i < n; i++) {
        distance[i] = -1;
    }
    distance[leaf - base] = 0;
    for (int changed = 1, d = 0; changed; d++) { /* Bellman-Ford by rounds: no queue to get wrong */
        changed = 0;
        for (uint32_t l = 0; l < f->n_links; l++) {
            if (is_alive(f, is_dead, l) && distance[f->end[l ^ 1] - base] == d && distance[f->end[l] - base] < 0) {
                distance[f->end[l] - base] = d + 1;
                changed = 1;
            }
        }
    }
    return distance;
}

int *oracle_distances(const fab_fabric *f, fab_node_id leaf) {
    return oracle_distances_alive(f, NULL, leaf);
}

uint32_t oracle_next_hops_alive(const fab_fabric *f, const uint8_t *is_dead, const int *distance, fab_node_id v,
                                fab_link_id *out) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (!is_alive(f, is_dead, l) || f->end[l] != v || distance[f->end[l ^ 1] - base] != distance[v - base] - 1) {
            continue;
        }
        uint32_t at = n++;
        for (; at > 0 && f->port[out[at - 1]] > f->port[l]; at--) {
            out[at] = out[at - 1];
        }
        out[at] = l;
    }
    return n;
}

uint32_t oracle_next_hops(const fab_fabric *f, const int *distance, fab_node_id v, fab_link_id *out) {
    return oracle_next_hops_alive(f, NULL, distance, v, out);
}

fab_link_id oracle_access_link(const fab_fabric *f, uint32_t nic) {
    for (uint32_t l = 0; l < f->n_links; l += 2) {
        if (f->classes[f->cable_class[l / 2]].kind == FAB_LINK_ACCESS && f->end[l] == f->first[FAB_NODE_NIC] + nic) {
            return l;
        }
    }
    abort();
}

uint32_t oracle_sending_nic(const fab_fabric *f, uint32_t src, uint32_t dst) {
    if (!f->forwards_in_domain || src % f->n_rails == dst % f->n_rails) {
        return src;
    }
    return src / f->gpus_per_domain * f->gpus_per_domain + dst % f->n_rails;
}

/* One bit after the other, as the polynomials are written in books: high bit first. `mirror` turns bytes and result. */
static uint32_t crc_bitwise(const uint8_t *bytes, int n, int width, uint32_t polynomial, uint32_t start, int mirror) {
    uint64_t top = (uint64_t)1 << (width - 1);
    uint64_t mask = 2 * top - 1;
    uint64_t crc = 0;
    for (int bit = 0; bit < width; bit++) { /* the seed stands in the order of the result */
        crc |= (uint64_t)(start >> (mirror ? width - 1 - bit : bit) & 1) << bit;
    }
    for (int i = 0; i < 8 * n; i++) {
        uint64_t in = bytes[i / 8] >> (mirror ? i % 8 : 7 - i % 8) & 1;
        uint64_t out = (crc & top) != 0;
        crc = (crc << 1) & mask;
        crc ^= in != out ? polynomial : 0;
    }
    uint64_t result = 0;
    for (int bit = 0; bit < width; bit++) {
        result |= (crc >> (mirror ? width - 1 - bit : bit) & 1) << bit;
    }
    return (uint32_t)(width == 32 ? ~result : result);
}

/* `fields` is a text of letters: s, d addresses, p protocol, S, D ports, q destination queue pair. */
static uint32_t packet_hash(const oracle_tier *tier, const uint8_t *packet) {
    static const struct {
        char letter;
        int at, n;
    } FIELDS[] = {{'s', 0, 4}, {'d', 4, 4}, {'p', 8, 1}, {'S', 9, 2}, {'D', 11, 2}, {'q', 13, 3}};
    uint8_t bytes[16];
    int n = 0;
    uint32_t sum = 0;
    for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
        if (strchr(tier->fields, FIELDS[i].letter) == NULL) {
            continue;
        }
        for (int k = 0; k < FIELDS[i].n; k++) {
            bytes[n++] = packet[FIELDS[i].at + k];
            sum ^= (uint32_t)packet[FIELDS[i].at + k] << ((FIELDS[i].n - 1 - k) % 2 * 8); /* by 16-bit halves */
        }
    }
    uint32_t seed16 = tier->seed / 65536 ^ tier->seed % 65536;
    switch (tier->hash) {
    case ORACLE_CRC32: return crc_bitwise(bytes, n, 32, 0x04c11db7, 0xffffffff ^ tier->seed, 1);
    case ORACLE_CRC32C: return crc_bitwise(bytes, n, 32, 0x1edc6f41, 0xffffffff ^ tier->seed, 1);
    case ORACLE_CRC32K: return crc_bitwise(bytes, n, 32, 0x741b8cd7, 0xffffffff ^ tier->seed, 1);
    case ORACLE_CRC16: return crc_bitwise(bytes, n, 16, 0x1021, 0xffff ^ seed16, 0);
    case ORACLE_XOR: return sum ^ seed16;
    }
    abort();
}

static void make_packet(uint64_t seed, uint32_t src_nic, uint32_t dst_nic, uint32_t ordinal, uint32_t qp,
                        uint8_t *out) {
    uint64_t draw = fab_draw(seed, (uint64_t)src_nic << 32 | dst_nic, (uint64_t)ordinal << 16 | qp);
    uint32_t label = (uint32_t)(draw % (1 << 20));
    uint32_t sport = ((label % 16384) ^ (label / 16384)) | 0xc000;
    const uint8_t packet[16] = {10,         (uint8_t)(src_nic >> 16), (uint8_t)(src_nic >> 8), (uint8_t)src_nic,
                                10,         (uint8_t)(dst_nic >> 16), (uint8_t)(dst_nic >> 8), (uint8_t)dst_nic,
                                17,         (uint8_t)(sport / 256),   (uint8_t)(sport % 256),  4791 / 256,
                                4791 % 256, (uint8_t)(draw >> 56),    (uint8_t)(draw >> 48),   (uint8_t)(draw >> 40)};
    memcpy(out, packet, sizeof packet);
}

static uint32_t tier_of(const fab_fabric *f, fab_node_id v) {
    uint32_t t = 1;
    while (v >= f->first_of_tier[t + 1]) {
        t++;
    }
    return t;
}

/* Distinct parents of the first switch of a tier. */
static uint64_t parents_of_tier(const fab_fabric *f, uint32_t t) {
    fab_node_id seen[4096];
    uint64_t n = 0;
    for (uint32_t l = 0; l < f->n_links; l += 2) {
        if (!is_fabric(f, l) || f->end[l] != f->first_of_tier[t]) {
            continue;
        }
        uint64_t i = 0;
        while (i < n && seen[i] != f->end[l ^ 1]) {
            i++;
        }
        if (i == n) {
            seen[n++] = f->end[l ^ 1];
        }
    }
    return n > 0 ? n : 1;
}

static uint32_t choose(const fab_fabric *f, const oracle_choice *choice, uint32_t tier, const uint8_t *packet,
                       uint64_t number, uint32_t count) {
    if (choice->kind == ORACLE_ECMP) {
        const oracle_tier *rule = &choice->tier[tier < 4 ? tier - 1 : 3];
        uint32_t width = rule->hash == ORACLE_CRC16 || rule->hash == ORACLE_XOR ? 16 : 32;
        uint32_t hash = packet_hash(rule, packet);
        for (uint32_t i = 0; i < rule->offset % width; i++) {
            hash /= 2;
        }
        return hash % count;
    }
    for (uint32_t t = 1; t < tier; t++) {
        number /= parents_of_tier(f, t);
    }
    return (uint32_t)(number % count);
}

/* Servers with a port on the leaf and a smaller number than that of `nic`. */
static uint32_t slot_on_leaf(const fab_fabric *f, fab_node_id leaf, uint32_t nic) {
    uint32_t slot = 0;
    for (uint32_t server = 0; server < nic / f->nics_per_server; server++) {
        int here = 0;
        for (uint32_t i = 0; i < f->nics_per_server; i++) {
            uint32_t other = server * f->nics_per_server + i;
            here |= f->end[oracle_access_link(f, other) ^ 1] == leaf;
        }
        slot += here != 0;
    }
    return slot;
}

/* The cable of the leaf's uplink that the port of `nic` is pinned to, taken from either end. */
static fab_link_id pinned_uplink(const fab_fabric *f, fab_node_id leaf, fab_node_id from, uint32_t nic, uint32_t slices,
                                 const fab_link_id *next, uint32_t count) {
    fab_node_id dst_leaf = f->end[oracle_access_link(f, nic) ^ 1];
    uint32_t slice = slot_on_leaf(f, dst_leaf, nic) % slices;
    uint32_t before = 0; /* ports of the slice that come first on the leaf */
    for (uint32_t other = 0; other < f->first[FAB_NODE_DOMAIN] - f->first[FAB_NODE_NIC]; other++) {
        fab_link_id l = oracle_access_link(f, other);
        before += f->end[l ^ 1] == dst_leaf && f->port[l ^ 1] < f->port[oracle_access_link(f, nic) ^ 1] &&
                  slot_on_leaf(f, dst_leaf, other) % slices == slice;
    }
    fab_link_id sorted[4096]; /* uplinks of the leaf, by spine and port */
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->n_links; l += 2) {
        if (!is_fabric(f, l) || f->end[l] != leaf) {
            continue;
        }
        uint32_t at = n++;
        for (; at > 0 && (f->end[sorted[at - 1] ^ 1] > f->end[l ^ 1] ||
                          (f->end[sorted[at - 1] ^ 1] == f->end[l ^ 1] && f->port[sorted[at - 1]] > f->port[l]));
             at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = l;
    }
    uint32_t first = slice * n / slices;
    uint32_t size = (slice + 1) * n / slices - first;
    uint32_t at = first + (size > 0 ? before % size : 0);
    if (from == leaf) {
        return sorted[at];
    }
    uint32_t cable = 0; /* of the trunk to its spine */
    while (cable < at && f->end[sorted[at - cable - 1] ^ 1] == f->end[sorted[at] ^ 1]) {
        cable++;
    }
    return next[cable % count];
}

double *oracle_load(const fab_fabric *f, const fab_phase *phase, const oracle_choice *choice) {
    double *load = calloc(f->n_links, sizeof *load);
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint64_t widest = 0;
    for (uint32_t l = 1; l < f->n_links; l += 2) {
        if (f->classes[f->cable_class[l / 2]].kind == FAB_LINK_ACCESS && f->port[l] > widest) {
            widest = f->port[l];
        }
    }
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        if (f->gpus_per_domain > 1 && phase->src[i] / f->gpus_per_domain == phase->dst[i] / f->gpus_per_domain) {
            continue;
        }
        uint32_t nic = oracle_sending_nic(f, phase->src[i], phase->dst[i]);
        fab_link_id up = oracle_access_link(f, nic);
        fab_link_id down = oracle_access_link(f, phase->dst[i]) ^ 1;
        int *distance = oracle_distances(f, f->end[down]);
        uint32_t ordinal = 0; /* earlier flows of the same pair */
        for (uint32_t k = 0; k < i; k++) {
            ordinal += phase->src[k] == phase->src[i] && phase->dst[k] == phase->dst[i];
        }
        for (uint32_t qp = 0; qp < choice->queue_pairs; qp++) {
            double part = (double)phase->bytes[i] / choice->queue_pairs;
            uint8_t packet[16];
            make_packet(choice->seed, nic, phase->dst[i], ordinal, qp, packet);
            uint64_t number = (f->end[down] - base) * widest + f->port[down] - 1; /* leaves are the first switches */
            load[up] += part;
            load[down] += part;
            for (fab_node_id v = f->end[up ^ 1]; v != f->end[down];) {
                fab_link_id next[4096];
                uint32_t count = oracle_next_hops(f, distance, v, next);
                uint32_t tier = tier_of(f, v);
                fab_link_id link = 0;
                if (choice->kind == ORACLE_PINNED && (tier == 1 || (tier == 2 && next[0] % 2 == 1))) {
                    fab_node_id leaf = tier == 1 ? v : f->end[down];
                    link = pinned_uplink(f, leaf, v, phase->dst[i], choice->slices, next, count);
                } else {
                    link = next[choose(f, choice, tier, packet, number, count)];
                }
                load[link] += part;
                v = f->end[link ^ 1];
            }
        }
        free(distance);
    }
    return load;
}

static void split(const fab_fabric *f, const int *distance, fab_node_id v, double part, double *load) {
    fab_link_id next[4096];
    uint32_t count = oracle_next_hops(f, distance, v, next);
    for (uint32_t i = 0; i < count; i++) {
        load[next[i]] += part / count;
        split(f, distance, f->end[next[i] ^ 1], part / count, load);
    }
}

double *oracle_spray(const fab_fabric *f, const fab_phase *phase) {
    double *load = calloc(f->n_links, sizeof *load);
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        if (f->gpus_per_domain > 1 && phase->src[i] / f->gpus_per_domain == phase->dst[i] / f->gpus_per_domain) {
            continue;
        }
        fab_link_id up = oracle_access_link(f, oracle_sending_nic(f, phase->src[i], phase->dst[i]));
        fab_link_id down = oracle_access_link(f, phase->dst[i]) ^ 1;
        int *distance = oracle_distances(f, f->end[down]);
        load[up] += (double)phase->bytes[i];
        load[down] += (double)phase->bytes[i];
        split(f, distance, f->end[up ^ 1], (double)phase->bytes[i], load);
        free(distance);
    }
    return load;
}

int *oracle_nearness(const fab_fabric *f) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = f->n_nodes - base;
    if (f->wiring == FAB_WIRING_TREE) {
        int *tiers = malloc(n * sizeof *tiers);
        for (uint32_t v = 0; v < n; v++) {
            tiers[v] = -(int)tier_of(f, base + v);
        }
        return tiers;
    }
    uint32_t root = 0;
    uint32_t most = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t cables = 0;
        for (uint32_t l = 0; l < f->n_links; l++) {
            cables += is_fabric(f, l) && f->end[l] == base + v;
        }
        if (cables > most) {
            most = cables;
            root = v;
        }
    }
    return oracle_distances(f, base + root);
}

int oracle_climbs(const fab_fabric *f, const int *nearness, fab_link_id l) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t from = f->end[l] - base;
    uint32_t to = f->end[l ^ 1] - base;
    return nearness[to] != nearness[from] ? nearness[to] < nearness[from] : to < from;
}

/* One round over all links: lengths through links that climb, or through those that descend, where shorter. */
static int relax(const fab_fabric *f, const int *nearness, int climbing, const int *fixed, const int *beyond,
                 int *out) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    int changed = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (is_fabric(f, l) && oracle_climbs(f, nearness, l) == climbing) {
            uint32_t v = f->end[l] - base;
            int through = beyond[f->end[l ^ 1] - base] + 1;
            if (through < out[v] && (fixed == NULL || !fixed[v])) {
                out[v] = through;
                changed = 1;
            }
        }
    }
    return changed;
}

/* States are (switch, has descended); lengths are relaxed until nothing changes. */
int *oracle_updn_distances(const fab_fabric *f, const int *nearness, fab_node_id leaf, int turns) {
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = f->n_nodes - base;
    const int far = 1000000;
    int *descent = malloc(n * sizeof *descent);
    int *route = malloc(n * sizeof *route);
    int *fixed = calloc(n, sizeof *fixed);
    for (uint32_t v = 0; v < n; v++) {
        descent[v] = v + base == leaf ? 0 : far;
    }
    while (relax(f, nearness, 0, NULL, descent, descent)) {
    }
    for (uint32_t v = 0; v < n; v++) {
        route[v] = descent[v];
        fixed[v] = turns && descent[v] < far;
    }
    while (relax(f, nearness, 1, fixed, route, route)) {
    }
    for (uint32_t v = 0; v < n; v++) {
        route[v] = route[v] < far ? route[v] : -1;
    }
    free(fixed);
    free(descent);
    return route;
}
