/** What flows ask of the network: offered rates, and the demands between leaves that they add up to. */
#pragma once

#include "fab/routing.h"

/** Bytes that leave and enter every NIC in a phase: GPUs that share one, or relay for others, share its rate. */
typedef struct fab_offer {
    const fab_fabric *fabric;
    const fab_ports *ports;
    double line_bps;         /**< of a NIC over all its ports */
    double *sent, *received; /**< shape [n_nics] */
    double *rate;            /**< shape [n_flows]: offered rates; NULL for an all-to-all, see fab_offer_rate() */
} fab_offer;

/** As fab_all_in_domain(), where a GPU may have no way into its domain. */
static inline fab_gpu_range fab_exchanged_in_domain(const fab_fabric *f, const fab_ports *ports,
                                                    const fab_all_to_all *all, uint32_t gpu) {
    return ports->gpu_scaleup[gpu] == FAB_NONE ? (fab_gpu_range){gpu, 1} : fab_all_in_domain(f, all, gpu);
}

/** Flows of an all-to-all between scale-up domains, and their bytes. */
uint64_t fab_all_leaving(const fab_fabric *fabric, const fab_ports *ports, const fab_all_to_all *all,
                         uint64_t *out_bytes);

/** What a GPU's NICs send to each of a group elsewhere on their rail, where each takes one byte, or one share: its own
 * and, where GPUs relay, that of the others of its domain. */
typedef struct fab_sent {
    double bytes, squares, flows; /**< squares: of the bytes of flows */
} fab_sent;

/** 0 where no flow changes rails. */
uint32_t fab_relay_rail(const fab_fabric *fabric, const fab_ports *ports, uint32_t gpu);

/**
 * @param[out] out  shape [all->n]; NULL where GPUs relay so that flows must be looked at one by one: several NICs a
 * GPU, at the destination, as a whole, or in a domain without a GPU of the group on a rail.
 */
FAB_STATUS fab_relay_sent(const fab_fabric *fabric, const fab_ports *ports, const fab_all_to_all *all, fab_sent **out,
                          fab_error *err);

/** Rate of one NIC over all its ports. */
double fab_nic_rate(const fab_fabric *fabric);

/** Release with fab_offer_release(). */
FAB_STATUS fab_offer_init(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *phase, fab_offer *out,
                          fab_error *err);
void fab_offer_release(fab_offer *offer);

/**
 * Offered rate of flow `i` of the phase:
 *     bytes * NIC rate / max(bytes that leave its source NICs, bytes that enter its destination NICs)
 * so that neither end is offered more than it can take. 0 for flows inside a scale-up domain.
 */
double fab_offer_rate(const fab_offer *offer, const fab_phase *phase, uint64_t i);

/** The same of flows first ... first + n - 1. */
void fab_offer_chunk(const fab_offer *offer, const fab_phase *phase, uint64_t first, uint32_t n, double *out);

/**
 * What a phase asks of the switches, flows of a pair of leaves added up; every flow split evenly over the NICs and
 * planes of its GPUs, as all engines do; under failures over those that are left.
 */
typedef struct fab_demand {
    uint32_t n_leaves;
    uint32_t n_parts; /**< of a flow: NICs of its GPU x planes */
    uint32_t n_pairs;
    uint32_t *first; /**< shape [n_leaves + 1]: pairs towards destination leaf d are first[d] ... first[d + 1] - 1 */
    uint32_t *src;   /**< shape [n_pairs]: column of the source leaf, ascending within a destination, never d itself */
    double *rate;    /**< shape [n_pairs]: offered, bit/s */
    double *bytes;   /**< shape [n_pairs] */
    double *squares; /**< shape [n_pairs]: of the bytes of flows, by the part of each that is carried here */
    uint64_t *parts; /**< shape [n_pairs]: parts of flows */
    uint32_t *pair_of; /**< shape [n_flows][n_parts]: pair of a part, FAB_NONE where it crosses no fabric link; NULL for
                          an all-to-all */
    double *segment_rate, *segment_bytes; /**< shape [n_links]: on the links that no switch chooses */
    uint64_t n_lost;                      /**< parts that have no way while others of their flow have one */
    uint32_t *n_left; /**< shape [n_flows]: parts with a way; NULL where none is lost, and for an all-to-all */
    uint8_t *is_lost; /**< shape [n_flows][n_parts], likewise */
} fab_demand;

/**
 * @retval FAB_EUNREACHABLE  rails differ and no GPU of either domain has the other's rail
 * @retval FAB_EUNSUPPORTED  more than 2^32 - 1 parts of listed flows, or pairs of leaves
 * Complexity: O(flows * parts + leaves). An all-to-all that fab_relay_sent() knows: O(GPUs * parts * (domain +
 * log(GPUs)) + rates of a leaf * leaves^2 * parts); another O(flows * parts) time and O(leaves^2) memory.
 */
FAB_STATUS fab_demand_init(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                           const fab_phase *phase, const fab_offer *offer, fab_demand *out, fab_error *err);
void fab_demand_release(fab_demand *demand);

/**
 * What no switch decides of the demand of listed flows, whatever rates are offered: adds their bytes to the links
 * (segment_bytes), and to what leaves send to and receive from others.
 * @param[in,out] bytes           Shape [n_links].
 * @param[in,out] sent, received  Shape [n_leaves]: by column of the next hops.
 * Errors of fab_demand_init(). Complexity: O(flows * parts).
 */
FAB_STATUS fab_demand_ends(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                           const fab_phase *phase, double *bytes, double *sent, double *received, fab_error *err);

/**
 * The same where links are dead: the parts of a flow that have a way left carry all of it.
 * @param[in] next_hops  Without the dead links.
 * @param[in] dead_link  Bit set over links; NULL: fab_demand_init().
 * Complexity: O(flows * parts), of an all-to-all too.
 */
FAB_STATUS fab_demand_init_left(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                                const fab_phase *phase, const fab_offer *offer, const uint64_t *dead_link,
                                fab_demand *out, fab_error *err);

/** What a part carries of its flow. */
static inline double fab_demand_share(const fab_demand *d, uint64_t flow, uint32_t part) {
    if (d->n_left == NULL) {
        return 1.0 / d->n_parts;
    }
    return d->is_lost[flow * d->n_parts + part] != 0 ? 0 : 1.0 / d->n_left[flow];
}

/** Pair from leaf column `src` to `dst`, FAB_NONE where there is none. */
static inline uint32_t fab_demand_find(const fab_demand *d, uint32_t src, uint32_t dst) {
    uint32_t low = d->first[dst];
    uint32_t high = d->first[dst + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->src[middle] < src) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < d->first[dst + 1] && d->src[low] == src ? low : FAB_NONE;
}

/** Pair of a part (nic + nics_per_gpu * plane) of flow `flow`, FAB_NONE where it crosses no fabric link. */
uint32_t fab_demand_pair(const fab_demand *demand, const fab_fabric *fabric, const fab_ports *ports,
                         const fab_next_hops *next_hops, const fab_phase *phase, uint64_t flow, uint32_t part);
