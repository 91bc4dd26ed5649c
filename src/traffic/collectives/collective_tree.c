/*
 * Trees. NCCL's binary tree over m nodes: the parent of node x, with lowest bit b, is (x xor b) or 2b where that is
 * below m, else x xor b; node 0 is the root, the depth is log2 m rounded up. The second tree of an all-reduce is its
 * mirror image (m even) or shifted by one (m odd), so that nobody but one or two is an inner node of both.
 *
 *     double binary tree   S/2 up and S/2 down every edge of both trees
 *     channels             as many as the members of a unit, 1/C of S each: channel c joins member c of every unit by
 *                          the trees, and the others of the unit to it by a chain; one channel: trees over the ranks
 *     broadcast, reduce    S over the first tree alone, from or to rank 0
 *     binomial             ceil(log2 r) steps with S: in step i rank x < 2^i sends to x + 2^i
 */
#include "collectives.h"

static uint32_t tree_parent(uint32_t x, uint32_t m) {
    uint32_t bit = x & (~x + 1);
    uint64_t up = (uint64_t)(x ^ bit) | (uint64_t)bit << 1;
    return up < m ? (uint32_t)up : x ^ bit;
}

/* Nodes of the second tree are numbered so that the root is 0 again. */
static uint32_t second_node(uint32_t x, uint32_t m) {
    return m % 2 == 0 ? m - 1 - x : (x + 1) % m;
}

static uint32_t depth_of(uint32_t x, uint32_t m) {
    uint32_t depth = 0;
    for (; x != 0; x = tree_parent(x, m)) {
        depth++;
    }
    return depth;
}

void fab_double_tree_edge(uint32_t tree, uint32_t x, uint32_t m, fab_tree_edge *out) {
    uint32_t up = tree_parent(x, m);
    *out = (fab_tree_edge){.child = tree == 0 ? x : second_node(x, m), .parent = tree == 0 ? up : second_node(up, m)};
}

/* An edge of a tree, `depth` edges from the root at its far end, in a tree of depth `most`. */
typedef struct tree_edge {
    uint32_t child, parent, depth, most;
    uint32_t shard;
    double bytes;
} tree_edge;

/* All deeper edges first on the way up; the way down mirrors it. */
static void emit_edge(const fab_collective *c, const tree_edge *t, fab_sink *sink) {
    fab_edge edge = {.from = t->child,
                     .to = t->parent,
                     .step = t->most - t->depth,
                     .n = c->chunks,
                     .bytes = t->bytes,
                     .shard = t->shard,
                     .n_shards = c->chunks,
                     .turn = 1};
    if (c->operation != FAB_BROADCAST) {
        sink->edge(sink, &edge);
    }
    if (c->operation != FAB_REDUCE) {
        edge.from = t->parent;
        edge.to = t->child;
        edge.step = (c->operation == FAB_BROADCAST ? 0 : t->most) + t->depth - 1;
        sink->edge(sink, &edge);
    }
}

static uint32_t n_trees(const fab_collective *c) {
    return c->operation == FAB_ALL_REDUCE ? 2 : 1;
}

/* Nodes of the trees: units, or ranks. */
static uint32_t n_nodes(const fab_collective *c) {
    return c->n_channels > 1 ? c->layout->unit.n_groups : c->r;
}

static uint32_t chain_length(const fab_collective *c) {
    return c->n_channels > 1 ? c->layout->unit.k - 1 : 0;
}

static void emit_tree(const fab_collective *c, fab_sink *sink) {
    const fab_grouping *unit = &c->layout->unit;
    uint32_t k = chain_length(c) + 1;
    uint32_t m = n_nodes(c);
    tree_edge t = {.most = fab_log2_up(m) + k - 1, .bytes = c->bytes / n_trees(c) / c->n_channels};
    for (uint32_t channel = 0; channel < c->n_channels; channel++) {
        for (uint32_t tree = 0; tree < n_trees(c); tree++) {
            t.shard = (channel * n_trees(c) + tree) * c->chunks;
            for (uint32_t x = 0; x < m; x++) {
                uint32_t node = tree == 0 ? x : second_node(x, m);
                uint32_t depth = depth_of(x, m);
                const uint32_t *ranks = unit->ranks + (size_t)node * k;
                if (x != 0) {
                    uint32_t up = tree_parent(x, m);
                    up = tree == 0 ? up : second_node(up, m);
                    t.child = k == 1 ? node : ranks[channel];
                    t.parent = k == 1 ? up : unit->ranks[(size_t)up * k + channel];
                    t.depth = depth;
                    emit_edge(c, &t, sink);
                }
                for (uint32_t i = 1; i < k; i++) {
                    t.child = ranks[(channel + i) % k];
                    t.parent = ranks[(channel + i - 1) % k];
                    t.depth = depth + i;
                    emit_edge(c, &t, sink);
                }
            }
        }
    }
}

static uint32_t tree_channels(const fab_collective *c) {
    return c->operation == FAB_ALL_REDUCE ? fab_ring_channels(c) : 1; /* a broadcast has one root */
}

static fab_status check_tree(const fab_collective *c, fab_error *err) {
    FAB_REFUSE_IF(c->n_channels > 1 && c->n_channels != c->layout->unit.k, err, FAB_EINPUT, NULL,
                  "a tree has one channel, or one for each of the %" PRIu32
                  " members that a server or scale-up domain holds, not %" PRIu32,
                  c->layout->unit.k, c->n_channels);
    return FAB_OK;
}

static void describe_tree(const fab_collective *c, FAB_UNUSED uint32_t part, fab_part *out) {
    bool both = c->operation == FAB_ALL_REDUCE;
    out->steps = (both ? 2 : 1) * ((uint64_t)fab_log2_up(n_nodes(c)) + chain_length(c));
    out->copies = (both ? 2.0 : 1.0) * (c->r - 1.0);
    if (!both) {
        FAB_FORMAT(out->text, "S %s r-1 edges of a binary tree, pipelined",
                   c->operation == FAB_BROADCAST ? "down" : "up");
    } else if (c->n_channels == 1) {
        FAB_FORMAT(out->text, "S/2 up and down r-1 edges of each of two binary trees, pipelined");
    } else {
        FAB_FORMAT(out->text,
                   "S/2 up and down r-1 edges of two trees, chains in servers, pipelined, %" PRIu32 " channels",
                   c->n_channels);
    }
}

const struct fab_algorithm_rules fab_rules_tree = {
    .check = check_tree, .n_channels = tree_channels, .part = describe_tree, .emit = emit_tree, .merges = true};

/* --- binomial ----------------------------------------------------------------------------------------------------- */

static uint32_t binomial_parts(const fab_collective *c) {
    return fab_log2_up(c->r);
}

/* Distance in a step: 1, 2, 4, ... for a broadcast, backwards for a reduce. */
static uint32_t distance_at(const fab_collective *c, uint32_t step) {
    return UINT32_C(1) << (c->operation == FAB_BROADCAST ? step : binomial_parts(c) - 1 - step);
}

static uint32_t senders_at(const fab_collective *c, uint32_t step) {
    uint32_t distance = distance_at(c, step);
    return c->r - distance < distance ? c->r - distance : distance;
}

static void describe_binomial(const fab_collective *c, uint32_t part, fab_part *out) {
    out->steps = 1;
    out->copies = senders_at(c, part);
    FAB_FORMAT(out->text, "S from each of %" PRIu32 " to the rank at distance %" PRIu32, senders_at(c, part),
               distance_at(c, part));
}

static void emit_binomial(const fab_collective *c, fab_sink *sink) {
    for (uint32_t step = 0; step < binomial_parts(c); step++) {
        for (uint32_t x = 0; x < senders_at(c, step); x++) {
            uint32_t far = x + distance_at(c, step);
            bool from_root = c->operation == FAB_BROADCAST;
            fab_sink_put(sink, step, from_root ? x : far, from_root ? far : x, c->bytes);
        }
    }
}

const struct fab_algorithm_rules fab_rules_binomial = {
    .n_parts = binomial_parts, .part = describe_binomial, .emit = emit_binomial};
