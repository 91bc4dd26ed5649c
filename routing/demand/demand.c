/* Demands between leaves: the flows of a phase, parts of a pair of leaves added up.
 *
 * Listed flows are taken one by one. An all-to-all is counted where no flow changes rails: of the GPUs behind each leaf
 * and of those that they share a scale-up domain with, see demand_all.c. */
#include "demand.h"
#include "next_hops/next_hop_rows.h"
#include "fab/memory.h"
#include "walk/host_segments.h"

void fab_demand_release(fab_demand *demand) {
    FAB_FREE_ALL(demand->first, demand->src, demand->rate, demand->bytes, demand->parts, demand->pair_of,
                 demand->segment_rate, demand->segment_bytes);
    *demand = (fab_demand){0};
}

static void add_segments(fab_demand *d, const fab_link_id *links, uint32_t n, double rate, double bytes) {
    for (uint32_t i = 0; i < n; i++) {
        d->segment_rate[links[i]] += rate;
        d->segment_bytes[links[i]] += bytes;
    }
}

/* A part of a flow, `part` below n_parts. *src and *dst: leaf columns, FAB_NONE where it crosses no fabric link. */
static fab_status place_part(const fab_demand_source *s, const fab_flow *flow, double rate, uint32_t part,
                             fab_demand *d, uint32_t *src, uint32_t *dst, bool *in_domain, fab_error *err) {
    uint32_t nics = s->ports->nics_per_gpu;
    uint32_t base = s->fabric->first[FAB_NODE_SWITCH];
    fab_host_segments segments = {0};
    fab_status status =
        fab_host_segments_of(s->fabric, s->ports, flow->src, flow->dst, part % nics, part / nics, &segments, err);
    if (status != FAB_OK) {
        return status;
    }
    double share = segments.in_domain ? 1 : d->n_parts; /* the scale-up links carry the flow as a whole */
    add_segments(d, segments.head, segments.n_head, rate / share, (double)flow->bytes / share);
    add_segments(d, segments.tail, segments.n_tail, rate / share, (double)flow->bytes / share);
    *in_domain = segments.in_domain;
    *src = *dst = FAB_NONE;
    if (!segments.in_domain && segments.src_leaf != segments.dst_leaf) {
        *src = s->next_hops->leaf_index[segments.src_leaf - base];
        *dst = s->next_hops->leaf_index[segments.dst_leaf - base];
    }
    return FAB_OK;
}

/* --- listed flows ------------------------------------------------------------------------------------------------- */

/* Source and destination column of every part, FAB_NONE for those that stay below a leaf. Returns how many do not. */
static fab_status place_flows(const fab_demand_source *s, fab_demand *d, uint32_t *src, uint32_t *dst,
                              uint32_t *out_crossing, fab_error *err) {
    uint32_t crossing = 0;
    for (uint32_t i = 0; i < s->phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(s->phase, i);
        bool in_domain = false;
        for (uint32_t part = 0; part < d->n_parts; part++) {
            size_t at = (size_t)i * d->n_parts + part;
            src[at] = dst[at] = FAB_NONE;
            if (in_domain) {
                continue;
            }
            FAB_PASS(place_part(s, &flow, s->offer->rate[i], part, d, &src[at], &dst[at], &in_domain, err));
            crossing += src[at] != FAB_NONE;
        }
    }
    *out_crossing = crossing;
    return FAB_OK;
}

/* Stable: parts of equal key keep their order. `from` NULL: all parts that have a key, in their order. */
static void sort_parts(const uint32_t *key, const uint32_t *from, uint32_t n, uint32_t n_keys, uint32_t *first,
                       uint32_t *out) {
    for (uint32_t i = 0; i <= n_keys + 1; i++) {
        first[i] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = key[from != NULL ? from[i] : i];
        if (k != FAB_NONE) {
            first[k + 2]++;
        }
    }
    for (uint32_t k = 0; k < n_keys; k++) {
        first[k + 2] += first[k + 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = from != NULL ? from[i] : i;
        if (key[part] != FAB_NONE) {
            out[first[key[part] + 1]++] = part;
        }
    }
}

/* Parts `order`, by destination and source, to pairs. d->pair_of holds the sources. */
static fab_status demand_add_pairs(const fab_demand_source *s, const uint32_t *order, uint32_t n, const uint32_t *dst,
                                   fab_demand *d, fab_error *err) {
    uint32_t *pair_of = d->pair_of;
    for (uint32_t i = 0; i < n; i++) {
        d->n_pairs += i == 0 || dst[order[i]] != dst[order[i - 1]] || pair_of[order[i]] != pair_of[order[i - 1]];
    }
    FAB_PASS(fab_demand_reserve(d, d->n_pairs, err));
    uint32_t pair = FAB_NONE;
    uint32_t last = FAB_NONE; /* destination */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = order[i];
        uint32_t flow = part / d->n_parts;
        if (pair == FAB_NONE || dst[part] != last || d->src[pair] != pair_of[part]) {
            pair++; /* from FAB_NONE to 0 */
            last = dst[part];
            d->src[pair] = pair_of[part];
            d->first[last + 1]++;
        }
        d->rate[pair] += s->offer->rate[flow] / d->n_parts;
        d->bytes[pair] += (double)s->phase->bytes[flow] / d->n_parts;
        d->parts[pair]++;
        pair_of[part] = pair;
    }
    for (uint32_t leaf = 0; leaf < d->n_leaves; leaf++) {
        d->first[leaf + 1] += d->first[leaf];
    }
    return FAB_OK;
}

static fab_status add_listed(const fab_demand_source *s, fab_demand *d, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t *dst = NULL;
    uint32_t *by_src = NULL;
    uint32_t *order = NULL;
    uint32_t *first = NULL;
    uint32_t crossing = 0;
    if (s->phase->n_flows > UINT32_MAX / d->n_parts) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL, "%llu flows of %u parts exceed the limit of %u parts",
                 (unsigned long long)s->phase->n_flows, d->n_parts, UINT32_MAX);
    }
    uint32_t n = (uint32_t)s->phase->n_flows * d->n_parts;
    FAB_TRY(FAB_NEW(d->pair_of, n, err));
    FAB_TRY(FAB_NEW(dst, n, err));
    FAB_TRY(place_flows(s, d, d->pair_of, dst, &crossing, err));
    FAB_TRY(FAB_NEW(by_src, crossing, err));
    FAB_TRY(FAB_NEW(order, crossing, err));
    FAB_TRY(FAB_NEW(first, (size_t)d->n_leaves + 2, err));
    sort_parts(d->pair_of, NULL, n, d->n_leaves, first, by_src);
    sort_parts(dst, by_src, crossing, d->n_leaves, first, order);
    FAB_TRY(demand_add_pairs(s, order, crossing, dst, d, err));
done:
    FAB_FREE_ALL(dst, by_src, order, first);
    return status;
}

/* --- an all-to-all whose flows change rails ----------------------------------------------------------------------- */

static fab_status add_each(const fab_demand_source *s, fab_demand *d, fab_error *err) {
    fab_status status = FAB_OK;
    double *rate = NULL; /* [destination][source] */
    uint64_t *parts = NULL;
    size_t n = (size_t)d->n_leaves * d->n_leaves;
    uint64_t n_pairs = 0;
    FAB_TRY(FAB_NEW(rate, n, err));
    FAB_TRY(FAB_NEW(parts, n, err));
    for (uint64_t i = 0; i < s->phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(s->phase, i);
        double flow_rate = fab_offer_rate(s->offer, s->phase, i);
        bool in_domain = false;
        for (uint32_t part = 0; part < d->n_parts && !in_domain; part++) {
            uint32_t src = 0;
            uint32_t dst = 0;
            FAB_TRY(place_part(s, &flow, flow_rate, part, d, &src, &dst, &in_domain, err));
            if (src != FAB_NONE) {
                size_t at = (size_t)dst * d->n_leaves + src;
                n_pairs += parts[at] == 0;
                parts[at]++;
                rate[at] += flow_rate / d->n_parts;
            }
        }
    }
    FAB_TRY(fab_demand_reserve(d, n_pairs, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t src = 0; src < d->n_leaves; src++) {
            size_t at = (size_t)dst * d->n_leaves + src;
            if (parts[at] > 0) {
                fab_demand_add(d, src, parts[at], rate[at], (double)s->phase->all.bytes);
            }
        }
        d->first[dst + 1] = d->n_pairs;
    }
done:
    FAB_FREE_ALL(rate, parts);
    return status;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

fab_status fab_demand_reserve(fab_demand *d, uint64_t n_pairs, fab_error *err) {
    if (n_pairs >= UINT32_MAX) {
        return fab_fail(err, FAB_EUNSUPPORTED, NULL, "%llu pairs of leaves exceed the limit of %u",
                        (unsigned long long)n_pairs, UINT32_MAX - 1);
    }
    FAB_PASS(FAB_NEW(d->src, n_pairs, err));
    FAB_PASS(FAB_NEW(d->rate, n_pairs, err));
    FAB_PASS(FAB_NEW(d->bytes, n_pairs, err));
    return FAB_NEW(d->parts, n_pairs, err);
}

fab_status fab_demand_init(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                           const fab_phase *phase, const fab_offer *offer, fab_demand *out, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_demand_source s = {fabric, ports, next_hops, phase, offer};
    fab_demand d = {.n_leaves = next_hops->n_leaves, .n_parts = ports->nics_per_gpu * ports->n_planes};
    FAB_TRY(FAB_NEW(d.first, (size_t)d.n_leaves + 1, err));
    FAB_TRY(FAB_NEW(d.segment_rate, fabric->n_links, err));
    FAB_TRY(FAB_NEW(d.segment_bytes, fabric->n_links, err));
    if (phase->all.n == 0) {
        FAB_TRY(add_listed(&s, &d, err));
    } else if (fabric->forwards_in_domain) {
        FAB_TRY(add_each(&s, &d, err));
    } else {
        FAB_TRY(fab_demand_count_all(&s, &d, err));
    }
    *out = d;
    d = (fab_demand){0};
done:
    fab_demand_release(&d);
    return status;
}
