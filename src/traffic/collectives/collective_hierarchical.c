/*
 * Algorithms that know scale-up domains. A communicator has M domains with k members each; place j is the j-th of them.
 *
 *     hierarchical   all-reduce: ring reduce-scatter in every domain (S (k-1)/k per rank), ring all-reduce of the S/k
 *                    of a place across the domains (2 (M-1)/M S/k), ring all-gather in every domain (S (k-1)/k);
 *                    reduce-scatter is the first and half the second, all-gather half the second and the third
 *     rail-aligned   all-to-all [NCCL's PXN]: a rank hands what goes to place j of any domain to place j of its own,
 *                    M S/r each, which then sends k S/r to place j of every other domain. As pxn chunk by chunk, so
 *                    that domains and network carry their bytes at the same time: one phase
 *     in-network     all-reduce [SHARP]: as hierarchical (without the first and the third where k = 1), but what is
 *                    left of a place is added up by the switches: S/k up and S/k down at each NIC. Chunk by chunk, so
 *                    that domains and network carry their bytes at the same time: one phase
 *
 * In-network reduction has no flows between GPUs. Its tree is stood for by a cycle through the members, leaf by leaf
 * and pod by pod: each sends S/k to the next. Each NIC, each leaf that is not alone and each pod that is not alone then
 * has S/k up and S/k down, as in the tree.
 */
#include "collectives.h"

static uint32_t k_of(const fab_collective *c) {
    return c->layout->domain.k;
}

static uint32_t m_of(const fab_collective *c) {
    return c->layout->domain.n_groups;
}

/* Rank of place j of domain g. */
static uint32_t rank_at(const fab_collective *c, uint32_t g, uint32_t j) {
    return c->layout->domain.ranks[(size_t)g * k_of(c) + j];
}

static const char *instead(const fab_collective *c) {
    return c->operation == FAB_ALL_TO_ALL ? "mesh" : "ring";
}

/* Equal domains, `least` members in each, and several of them. */
static fab_status check_domains(const fab_collective *c, uint32_t least, fab_error *err) {
    const fab_grouping *domain = &c->layout->domain;
    const char *name = c->algorithm->name;
    FAB_REFUSE_IF(domain->n_groups < 2, err, FAB_EINPUT, NULL,
                  "%s needs members in several scale-up domains, and all %" PRIu32 " are in one; choose algorithm=%s",
                  name, c->r, instead(c));
    FAB_REFUSE_IF(domain->k == 0, err, FAB_EINPUT, NULL,
                  "%s needs equally many members in each scale-up domain, and %" PRIu32 " domains hold %" PRIu32
                  " differently; choose algorithm=%s",
                  name, domain->n_groups, c->r, instead(c));
    FAB_REFUSE_IF(domain->k < least, err, FAB_EINPUT, NULL,
                  "%s needs members that share a scale-up domain, and each of the %" PRIu32
                  " is in one of its own; choose algorithm=%s",
                  name, c->r, instead(c));
    return FAB_OK;
}

static fab_status check_aligned(const fab_collective *c, fab_error *err) {
    FAB_REFUSE_IF(!c->layout->aligned, err, FAB_EINPUT, NULL,
                  "%s needs members at the same places (rails) of every scale-up domain; choose algorithm=%s",
                  c->algorithm->name, instead(c));
    return FAB_OK;
}

/* --- hierarchical ------------------------------------------------------------------------------------------------- */

typedef enum stage_kind { SCATTER, ACROSS, GATHER } stage_kind;

static fab_status check_hierarchical(const fab_collective *c, fab_error *err) {
    return check_domains(c, 2, err);
}

static uint32_t staged_parts(const fab_collective *c) {
    return k_of(c) == 1 ? 1 : c->operation == FAB_ALL_REDUCE ? 3 : 2;
}

static stage_kind stage_of(const fab_collective *c, uint32_t part) {
    return (stage_kind)(k_of(c) == 1 || c->operation == FAB_ALL_GATHER ? part + 1 : part);
}

static void describe_hierarchical(const fab_collective *c, uint32_t part, fab_part *out) {
    uint32_t k = k_of(c);
    uint32_t m = m_of(c);
    uint32_t passes = fab_passes(c->operation);
    if (stage_of(c, part) == ACROSS) {
        out->steps = (uint64_t)passes * (m - 1);
        out->copies = (double)passes * (m - 1.0);
        FAB_FORMAT(out->text, "%s(M-1)/M S/k to the same place of the next of M=%" PRIu32 " domains, k=%" PRIu32,
                   passes == 2 ? "2 " : "", m, k);
    } else {
        out->steps = k - 1;
        out->copies = (double)m * (k - 1.0);
        FAB_FORMAT(out->text, "(k-1)/k S to the next of k=%" PRIu32 " in the domain", k);
    }
}

/* Of a stage: in-network, what crosses goes up and down. */
static uint32_t stage_steps(const fab_collective *c, uint32_t stage) {
    bool is_tree = c->algorithm->rules->n_parts == NULL;
    return stage_of(c, stage) != ACROSS ? k_of(c) - 1 : is_tree ? 2 : fab_passes(c->operation) * (m_of(c) - 1);
}

/* Shards of a part: one for each chunk of a ring. `like` says part, step and whether the ring waits. */
static void emit_in_domains(const fab_collective *c, const fab_edge *like, fab_sink *sink) {
    uint32_t k = k_of(c);
    for (uint32_t g = 0; g < m_of(c); g++) {
        fab_ring_edges(c->layout->domain.ranks + (size_t)g * k, k, 1, c->bytes / k * (k - 1), like, sink);
    }
}

static void emit_across(const fab_collective *c, const fab_edge *like, fab_sink *sink) {
    uint32_t *ring = c->layout->order;
    uint32_t m = m_of(c);
    uint32_t passes = fab_passes(c->operation);
    for (uint32_t j = 0; j < k_of(c); j++) {
        FAB_FILL(ring, m, rank_at(c, (uint32_t)fab_at, j));
        fab_ring_edges(ring, m, passes, passes * (c->bytes / k_of(c) / m) * (m - 1.0), like, sink);
    }
}

/* Stages have shards of their own: a ring is shorter than r. */
static void emit_stages(const fab_collective *c, void (*across)(const fab_collective *, const fab_edge *, fab_sink *),
                        fab_sink *sink) {
    fab_edge like = {.step = 0};
    const bool is_pipelined = c->algorithm->rules->n_parts == NULL;
    for (uint32_t stage = 0; stage < staged_parts(c); stage++) {
        like.part = is_pipelined ? 0 : stage;
        like.stage = stage;
        like.shard = stage * c->r;
        like.after = stage > 0;
        if (stage_of(c, stage) == ACROSS) {
            across(c, &like, sink);
        } else {
            emit_in_domains(c, &like, sink);
        }
        like.step += stage_steps(c, stage);
    }
}

static void emit_hierarchical(const fab_collective *c, fab_sink *sink) {
    emit_stages(c, emit_across, sink);
}

const struct fab_algorithm_rules fab_rules_hierarchical = {
    .check = check_hierarchical, .n_parts = staged_parts, .part = describe_hierarchical, .emit = emit_hierarchical};

/* --- rail-aligned ------------------------------------------------------------------------------------------------- */

static fab_status check_rail_aligned(const fab_collective *c, fab_error *err) {
    FAB_PASS(check_domains(c, 2, err));
    FAB_PASS(check_aligned(c, err));
    uint64_t n_flows = (uint64_t)c->r * (m_of(c) - 1);
    FAB_REFUSE_IF(n_flows > FAB_MAX_LISTED_FLOWS, err, FAB_EUNSUPPORTED, NULL,
                  "%s over %" PRIu32 " ranks has %" PRIu64 " flows between domains, above the limit of %" PRIu64
                  "; choose fewer GPUs, or algorithm=mesh",
                  c->algorithm->name, c->r, n_flows, FAB_MAX_LISTED_FLOWS);
    return FAB_OK;
}

/* Of the two hops: pipelined in one phase, or a phase each. */
static bool is_pxn(const fab_collective *c) {
    return c->algorithm->rules->n_parts == NULL;
}

static uint32_t two_parts(FAB_UNUSED const fab_collective *c) {
    return 2;
}

static void describe_rail_aligned(const fab_collective *c, uint32_t part, fab_part *out) {
    uint32_t k = k_of(c);
    uint32_t m = m_of(c);
    out->steps = is_pxn(c) ? 2 : 1;
    out->copied = is_pxn(c) || part == 1 ? (k - 1.0) * (m - 1.0) / c->r : 0;
    if (is_pxn(c)) {
        out->copies = (k - 1.0) * m + (m - 1.0) * k;
        FAB_FORMAT(out->text,
                   "M S/r to each of the k-1 others in the domain, k S/r to its place in M-1 domains, k=%" PRIu32
                   ", M=%" PRIu32,
                   k, m);
    } else if (part == 0) {
        out->copies = (k - 1.0) * m;
        FAB_FORMAT(out->text, "M S/r, M=%" PRIu32 " domains, to each of the k-1 others in the domain, k=%" PRIu32, m,
                   k);
    } else {
        out->copies = (m - 1.0) * k;
        FAB_FORMAT(out->text, "k S/r, k=%" PRIu32 ", to the same place of each of the M-1 other domains, M=%" PRIu32, k,
                   m);
    }
}

/* Everybody to everybody through the places of a domain, then to the same places of the others. */
static void put_hop(const fab_collective *c, uint32_t hop, uint32_t from, uint32_t to, double bytes, fab_sink *sink) {
    fab_edge edge = {
        .from = from, .to = to, .part = is_pxn(c) ? 0 : hop, .step = hop, .n = 1, .bytes = bytes, .n_shards = 1};
    sink->edge(sink, &edge);
}

static void emit_rail_aligned(const fab_collective *c, fab_sink *sink) {
    uint32_t k = k_of(c);
    uint32_t m = m_of(c);
    for (uint32_t g = 0; g < m; g++) {
        for (uint64_t i = 0; i < (uint64_t)k * k; i++) {
            uint32_t a = (uint32_t)(i / k);
            uint32_t b = (uint32_t)(i % k);
            if (a != b) {
                put_hop(c, 0, rank_at(c, g, a), rank_at(c, g, b), c->bytes / c->r * m, sink);
            }
        }
    }
    for (uint64_t i = 0; i < (uint64_t)m * m; i++) {
        uint32_t a = (uint32_t)(i / m);
        uint32_t b = (uint32_t)(i % m);
        for (uint32_t j = 0; j < k && a != b; j++) {
            put_hop(c, 1, rank_at(c, a, j), rank_at(c, b, j), c->bytes / c->r * k, sink);
        }
    }
}

const struct fab_algorithm_rules fab_rules_rail_aligned = {
    .check = check_rail_aligned, .n_parts = two_parts, .part = describe_rail_aligned, .emit = emit_rail_aligned};
const struct fab_algorithm_rules fab_rules_pxn = {
    .check = check_rail_aligned, .part = describe_rail_aligned, .emit = emit_rail_aligned};

/* --- in-network --------------------------------------------------------------------------------------------------- */

static fab_status check_in_network(const fab_collective *c, fab_error *err) {
    FAB_REFUSE_IF(!c->fabric->reduces_in_switches, err, FAB_EUNSUPPORTED, NULL,
                  "the switches of this fabric do not reduce; set reduction=switch where they do, or choose "
                  "algorithm=ring");
    FAB_REFUSE_IF(!fab_is_tree(c->fabric), err, FAB_EUNSUPPORTED, NULL,
                  "a %s has no switch above all members to reduce at; choose algorithm=ring",
                  fab_wiring_name(c->fabric->wiring));
    FAB_PASS(check_domains(c, 1, err));
    return check_aligned(c, err);
}

static void describe_in_network(const fab_collective *c, FAB_UNUSED uint32_t part, fab_part *out) {
    uint32_t k = k_of(c);
    out->steps = 0;
    for (uint32_t stage = 0; stage < staged_parts(c); stage++) {
        out->steps += stage_steps(c, stage);
    }
    out->copies = m_of(c) * (1 + 2 * (k - 1.0));
    if (k == 1) {
        FAB_FORMAT(out->text, "S up and S down the tree of switches");
    } else {
        FAB_FORMAT(out->text,
                   "S/k up and down the tree of switches, 2 (k-1)/k S to the next of k=%" PRIu32 ", pipelined", k);
    }
}

/* Pod and leaf of the first NIC of a GPU. */
static uint64_t hierarchical_leaf_of(const fab_fabric *f, uint32_t gpu) {
    uint32_t nic = 0;
    const uint32_t n = fab_nics_of_gpu(f, gpu, &nic);
    const fab_link_id link = n > 0 ? fab_access_link(f, f->first[FAB_NODE_NIC] + nic, 1, 0) : FAB_NONE;
    if (link == FAB_NONE) {
        return 0;
    }
    const fab_node_id leaf = fab_head(f, link);
    const uint64_t pod = f->switch_pod[leaf - f->first[FAB_NODE_SWITCH]];
    return pod << 32 | leaf;
}

static bool is_before(const fab_fabric *f, uint32_t gpu, uint32_t other) {
    uint64_t here = hierarchical_leaf_of(f, gpu);
    uint64_t there = hierarchical_leaf_of(f, other);
    return here != there ? here < there : gpu < other;
}

/* Insertion: domains come leaf by leaf already, but for a placement that was shuffled. */
static void order_by_leaf(const fab_collective *c, uint32_t *ranks, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        uint32_t rank = ranks[i];
        uint32_t at = i;
        for (; at > 0 && is_before(c->fabric, c->members[rank], c->members[ranks[at - 1]]); at--) {
            ranks[at] = ranks[at - 1];
        }
        ranks[at] = rank;
    }
}

static void emit_tree(const fab_collective *c, const fab_edge *like, fab_sink *sink) {
    uint32_t *ring = c->layout->order;
    uint32_t m = m_of(c);
    for (uint32_t j = 0; j < k_of(c); j++) {
        FAB_FILL(ring, m, rank_at(c, (uint32_t)fab_at, j));
        order_by_leaf(c, ring, m);
        for (uint32_t i = 0; i < m; i++) {
            fab_edge edge = *like;
            edge.from = ring[i];
            edge.to = ring[(i + 1) % m];
            edge.n = 1;
            edge.n_shards = 1;
            edge.bytes = c->bytes / k_of(c);
            sink->edge(sink, &edge);
        }
    }
}

static void emit_in_network(const fab_collective *c, fab_sink *sink) {
    emit_stages(c, emit_tree, sink);
}

const struct fab_algorithm_rules fab_rules_in_network = {
    .check = check_in_network, .part = describe_in_network, .emit = emit_in_network, .merges = true};
