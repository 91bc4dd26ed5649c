/* Demands between leaves: the flows of a phase, parts of a pair of leaves added up.
 *
 * Listed flows are taken one by one. An all-to-all is counted: of the GPUs behind each leaf and of those that they
 * share a scale-up domain with, see demand_all.c. */
#include "demand.h"
#include "next_hops/next_hop_rows.h"
#include "fab/ranked.h"
#include "walk/host_segments.h"

FAB_RELEASES(fab_demand_release, fab_demand, first, src, rate, bytes, squares, parts, pair_of, segment_rate,
             segment_bytes, n_left, is_lost);

static void add_segments(fab_demand *d, const fab_link_id *links, uint32_t n, double rate, double bytes) {
    for (uint32_t i = 0; i < n; i++) {
        d->segment_rate[links[i]] += rate;
        d->segment_bytes[links[i]] += bytes;
    }
}

static bool are_alive(const fab_demand_source *s, const fab_link_id *link, uint32_t n) {
    FAB_ALL(alive, i, n, (s->dead_link[link[i] / 64] >> link[i] % 64 & 1) == 0);
    return alive;
}

bool fab_part_has_way(const fab_demand_source *s, const fab_flow *flow, uint32_t nic, uint32_t plane) {
    const fab_next_hops *t = s->next_hops;
    const uint32_t base = s->fabric->first[FAB_NODE_SWITCH];
    fab_host_segments x = {0};
    if (fab_host_segments_of(s->fabric, s->ports, flow->src, flow->dst, nic, plane, &x, NULL) != FAB_OK) {
        return false;
    }
    return are_alive(s, x.head, x.n_head) && are_alive(s, x.tail, x.n_tail) &&
           (x.in_domain || x.src_leaf == x.dst_leaf ||
            fab_next_hops_group(t, x.src_leaf - base, t->leaf_index[x.dst_leaf - base]) != 0);
}

/* Which parts of a flow have no way left, of those that another one does the work of. Returns how many have one. */
static uint32_t find_left(const fab_demand_source *s, const fab_flow *flow, fab_demand *d, uint8_t *is_lost) {
    const uint32_t nics = s->ports->nics_per_gpu;
    uint32_t n = 0;
    for (uint32_t part = 0; part < d->n_parts; part++) {
        is_lost[part] = !fab_part_has_way(s, flow, part % nics, part / nics);
        n += is_lost[part] == 0;
    }
    if (n == 0) { /* it is cut off: whoever asks knows */
        memset(is_lost, 0, d->n_parts);
        n = d->n_parts;
    }
    d->n_lost += d->n_parts - n;
    return n;
}

/* A part of a flow, `part` below n_parts, of which n_left carry it. *src and *dst: leaf columns, FAB_NONE where it
 * crosses no fabric link. */
static fab_status place_part(const fab_demand_source *s, const fab_flow *flow, double rate, uint32_t part,
                             uint32_t n_left, fab_demand *d, uint32_t *src, uint32_t *dst, bool *in_domain,
                             fab_error *err) {
    uint32_t nics = s->ports->nics_per_gpu;
    uint32_t base = s->fabric->first[FAB_NODE_SWITCH];
    fab_host_segments segments = {0};
    fab_status status =
        fab_host_segments_of(s->fabric, s->ports, flow->src, flow->dst, part % nics, part / nics, &segments, err);
    if (status != FAB_OK) {
        return status;
    }
    double share = segments.in_domain ? 1 : n_left; /* the scale-up links carry the flow as a whole */
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
        if (d->n_left != NULL) {
            d->n_left[i] = find_left(s, &flow, d, d->is_lost + (size_t)i * d->n_parts);
        }
        for (uint32_t part = 0; part < d->n_parts; part++) {
            size_t at = (size_t)i * d->n_parts + part;
            src[at] = dst[at] = FAB_NONE;
            if (in_domain || (d->n_left != NULL && d->is_lost[at] != 0)) {
                continue;
            }
            FAB_PASS(place_part(s, &flow, s->offer->rate[i], part, d->n_left != NULL ? d->n_left[i] : d->n_parts, d,
                                &src[at], &dst[at], &in_domain, err));
            crossing += src[at] != FAB_NONE;
        }
    }
    *out_crossing = crossing;
    return FAB_OK;
}

fab_status fab_demand_ends(const fab_fabric *f, const fab_ports *ports, const fab_next_hops *next_hops,
                           const fab_phase *phase, double *bytes, double *sent, double *received, fab_error *err) {
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const uint32_t nics = ports->nics_per_gpu;
    const uint32_t n_parts = nics * ports->n_planes;
    fab_host_segments x;
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        x.in_domain = false;
        for (uint32_t part = 0; part < n_parts && !x.in_domain; part++) {
            FAB_PASS(fab_host_segments_of(f, ports, phase->src[i], phase->dst[i], part % nics, part / nics, &x, err));
            const double share = (double)phase->bytes[i] / (x.in_domain ? 1 : n_parts);
            for (uint32_t k = 0; k < x.n_head; k++) {
                bytes[x.head[k]] += share;
            }
            for (uint32_t k = 0; k < x.n_tail; k++) {
                bytes[x.tail[k]] += share;
            }
            if (!x.in_domain && x.src_leaf != x.dst_leaf) {
                sent[next_hops->leaf_index[x.src_leaf - base]] += share;
                received[next_hops->leaf_index[x.dst_leaf - base]] += share;
            }
        }
    }
    return FAB_OK;
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
        const uint32_t n_left = d->n_left != NULL ? d->n_left[flow] : d->n_parts;
        d->rate[pair] += s->offer->rate[flow] / n_left;
        const double bytes = (double)s->phase->bytes[flow];
        d->bytes[pair] += bytes / n_left;
        d->squares[pair] += bytes * bytes / n_left;
        d->parts[pair]++;
        pair_of[part] = pair;
    }
    FAB_ADD_UP(d->first, d->n_leaves);
    return FAB_OK;
}

static fab_status add_listed(const fab_demand_source *s, fab_demand *d, fab_error *err) {
    FAB_OWNED uint32_t *dst = NULL;
    uint32_t crossing = 0;
    FAB_REFUSE_IF(s->phase->n_flows > UINT32_MAX / d->n_parts, err, FAB_EUNSUPPORTED, NULL,
                  "%llu flows of %u parts exceed the limit of %u parts", (unsigned long long)s->phase->n_flows,
                  d->n_parts, UINT32_MAX);
    uint32_t n = (uint32_t)s->phase->n_flows * d->n_parts;
    FAB_PASS(FAB_NEW_ALL(n, err, d->pair_of, dst));
    FAB_PASS(place_flows(s, d, d->pair_of, dst, &crossing, err));
    FAB_OWNED_NEW(uint32_t, by_src, crossing, err);
    FAB_OWNED_NEW(uint32_t, order, crossing, err);
    FAB_OWNED_NEW(uint32_t, first, (size_t)d->n_leaves + 2, err);
    fab_sort_by_key(d->pair_of, NULL, n, d->n_leaves, first, by_src);
    fab_sort_by_key(dst, by_src, crossing, d->n_leaves, first, order);
    return demand_add_pairs(s, order, crossing, dst, d, err);
}

/* --- an all-to-all whose flows change rails, or under failures ---------------------------------------------------- */

static fab_status add_each(const fab_demand_source *s, fab_demand *d, fab_error *err) {
    /* [destination][source]; likewise bytes, and squares of those of flows, by what the parts carry of them */
    FAB_OWNED double *rate = NULL;
    FAB_OWNED double *whole = NULL;
    FAB_OWNED double *squares = NULL;
    FAB_OWNED uint64_t *parts = NULL;
    size_t n = (size_t)d->n_leaves * d->n_leaves;
    uint64_t n_pairs = 0;
    FAB_PASS(FAB_NEW_ALL(n, err, rate, whole, squares, parts));
    FAB_OWNED_NEW(uint8_t, is_lost, d->n_parts, err); /* [part] */
    for (uint64_t i = 0; i < s->phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(s->phase, i);
        double flow_rate = fab_offer_rate(s->offer, s->phase, i);
        const uint32_t n_left = s->dead_link != NULL ? find_left(s, &flow, d, is_lost) : d->n_parts;
        bool in_domain = false;
        for (uint32_t part = 0; part < d->n_parts && !in_domain; part++) {
            uint32_t src = 0;
            uint32_t dst = 0;
            if (is_lost[part] != 0) {
                continue;
            }
            FAB_PASS(place_part(s, &flow, flow_rate, part, n_left, d, &src, &dst, &in_domain, err));
            if (src != FAB_NONE) {
                size_t at = (size_t)dst * d->n_leaves + src;
                n_pairs += parts[at] == 0;
                parts[at]++;
                rate[at] += flow_rate / n_left;
                whole[at] += (double)flow.bytes / n_left;
                squares[at] += (double)flow.bytes * (double)flow.bytes / n_left;
            }
        }
    }
    FAB_PASS(fab_demand_reserve(d, n_pairs, err));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t src = 0; src < d->n_leaves; src++) {
            size_t at = (size_t)dst * d->n_leaves + src;
            if (parts[at] > 0) {
                d->squares[d->n_pairs] = squares[at];
                fab_demand_add(d, src, parts[at], rate[at], whole[at]);
            }
        }
        d->first[dst + 1] = d->n_pairs;
    }
    return FAB_OK;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

fab_status fab_demand_reserve(fab_demand *d, uint64_t n_pairs, fab_error *err) {
    FAB_REFUSE_IF(n_pairs >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL, "%llu pairs of leaves exceed the limit of %u",
                  (unsigned long long)n_pairs, UINT32_MAX - 1);
    return FAB_NEW_ALL(n_pairs, err, d->src, d->rate, d->bytes, d->squares, d->parts);
}

/* Whether some flow has lost some of its parts. */
static bool has_lost(const fab_demand_source *s, uint32_t n_parts) {
    const uint32_t nics = s->ports->nics_per_gpu;
    for (uint64_t i = 0; i < s->phase->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(s->phase, i);
        for (uint32_t part = 0; part < n_parts; part++) {
            if (!fab_part_has_way(s, &flow, part % nics, part / nics)) {
                return true;
            }
        }
    }
    return false;
}

fab_status fab_demand_init(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                           const fab_phase *phase, const fab_offer *offer, fab_demand *out, fab_error *err) {
    return fab_demand_init_left(fabric, ports, next_hops, phase, offer, NULL, out, err);
}

fab_status fab_demand_init_left(const fab_fabric *fabric, const fab_ports *ports, const fab_next_hops *next_hops,
                                const fab_phase *phase, const fab_offer *offer, const uint64_t *dead_link,
                                fab_demand *out, fab_error *err) {
    FAB_OWNED fab_sent *sent = NULL;
    fab_demand_source s = {fabric, ports, next_hops, phase, offer, dead_link};
    FAB_OWNS(fab_demand_release)
    fab_demand d = {.n_leaves = next_hops->n_leaves, .n_parts = ports->nics_per_gpu * ports->n_planes};
    FAB_PASS(FAB_NEW(d.first, (size_t)d.n_leaves + 1, err));
    FAB_PASS(FAB_NEW_ALL(fabric->n_links, err, d.segment_rate, d.segment_bytes));
    s.dead_link = d.n_parts > 1 && dead_link != NULL && has_lost(&s, d.n_parts) ? dead_link : NULL;
    if (s.dead_link != NULL && phase->all.n == 0) {
        FAB_PASS(FAB_NEW(d.n_left, phase->n_flows, err));
        FAB_PASS(FAB_NEW(d.is_lost, phase->n_flows * d.n_parts, err));
    }
    if (phase->all.n == 0) {
        FAB_PASS(add_listed(&s, &d, err));
    } else {
        FAB_PASS(s.dead_link == NULL ? fab_relay_sent(fabric, ports, &phase->all, &sent, err) : FAB_OK);
        FAB_PASS(sent != NULL ? fab_demand_count_all(&s, sent, &d, err) : add_each(&s, &d, err));
    }
    if (d.n_lost == 0) {
        FAB_FREE_ALL(d.n_left, d.is_lost);
        d.n_left = NULL;
        d.is_lost = NULL;
    }
    return FAB_GIVE(*out, d);
}
