/*
 * Rings: r-1 steps to the next rank with S/r each, once for an all-gather or a reduce-scatter and twice for an
 * all-reduce; and chains, a ring without the edge into rank 0, that carry a broadcast or a reduce in chunks.
 *
 * Channels are those of rings.c: channel c enters and leaves a unit (server, or scale-up domain where that is larger)
 * at places that turn with c, so that every NIC is used by one channel. One channel alone goes in the order of ranks.
 */
#include "collectives.h"

uint32_t fab_ring_channels(const fab_collective *c) {
    const fab_grouping *unit = &c->layout->unit;
    return unit->k >= 2 && unit->n_groups >= 2 ? unit->k : 1;
}

/* Places within unit u, of m with k members each, at which a channel enters and leaves. */
static void gates(uint32_t m, uint32_t k, uint32_t u, uint32_t channel, uint32_t *enter, uint32_t *leave) {
    uint32_t a = channel;
    uint32_t b = (channel + 1) % k;
    bool turned = m % 2 == 1 && k >= 3;
    *enter = u % 2 == 0 ? a : b;
    *leave = u % 2 == 0 ? b : a;
    if (turned && u == 0) {
        *enter = (channel + 2) % k;
    }
    if (turned && u == m - 1) {
        *leave = (channel + 2) % k;
    }
}

/* Ranks in the order in which a channel visits them; shape [r]. */
static void channel_order(const fab_collective *c, uint32_t channel, uint32_t *out) {
    const fab_grouping *unit = &c->layout->unit;
    uint32_t k = unit->k;
    uint32_t m = unit->n_groups;
    if (c->n_channels == 1) {
        FAB_FILL(out, c->r, (uint32_t)fab_at);
        return;
    }
    for (uint32_t u = 0; u < m; u++) {
        uint32_t enter = 0;
        uint32_t leave = 0;
        gates(m, k, u, channel, &enter, &leave);
        bool last_turns = m % 2 == 1 && k >= 3 && u == m - 1;
        bool up = u % 2 == 1 || (m % 2 == 1 && k >= 3 && u == 0);
        uint32_t at = enter;
        for (uint32_t i = 0; i < k; i++) {
            out[u * k + i] = unit->ranks[u * k + at];
            if (last_turns) { /* a, b, a-1, a-2, ... */
                at = i == 0 ? (enter + 1) % k : ((i == 1 ? enter : at) + k - 1) % k;
            } else {
                at = (at + (up ? 1 : k - 1)) % k;
            }
        }
    }
}

void fab_ring_edges(const uint32_t *ranks, uint32_t n, uint32_t n_passes, double bytes, const fab_edge *like,
                    fab_sink *sink) {
    for (uint32_t i = 0; i < n; i++) {
        fab_edge edge = *like;
        edge.from = ranks[i];
        edge.to = ranks[(i + 1) % n];
        edge.n = n_passes * (n - 1);
        edge.bytes = bytes;
        /* In step t, place i passes on chunk i - 1 - t: so chunk i of a reduce-scatter ends with its place, complete.
         */
        edge.n_shards = n;
        edge.first_shard = (i + n - 1) % n;
        edge.turn = n - 1;
        sink->edge(sink, &edge);
    }
}

static void emit_ring(const fab_collective *c, fab_sink *sink) {
    double bytes = (double)fab_passes(c->operation) * (c->bytes / c->r) * (c->r - 1);
    if (sink->ring != NULL && c->n_channels == fab_ring_channels(c)) {
        sink->ring(sink, 0, bytes);
        return;
    }
    for (uint32_t channel = 0; channel < c->n_channels; channel++) {
        const fab_edge like = {.shard = channel * c->r};
        channel_order(c, channel, c->layout->order);
        fab_ring_edges(c->layout->order, c->r, fab_passes(c->operation), bytes / c->n_channels, &like, sink);
    }
}

/* ", 8 channels" or ", one channel in the order of the ranks" */
static void describe_channels(const fab_collective *c, char *out, size_t size) {
    if (c->n_channels == 1) {
        (void)snprintf(out, size, "one channel in the order of the ranks");
    } else {
        (void)snprintf(out, size, "%u channels", (unsigned)c->n_channels);
    }
}

static void describe_ring(const fab_collective *c, FAB_UNUSED uint32_t part, fab_part *out) {
    char channels[64];
    bool twice = fab_passes(c->operation) == 2;
    describe_channels(c, channels, sizeof channels);
    out->steps = (uint64_t)fab_passes(c->operation) * (c->r - 1);
    out->copies = (double)out->steps;
    FAB_FORMAT(out->text, "%s(r-1)/r S to the next rank in %s steps, %s", twice ? "2 " : "", twice ? "2(r-1)" : "r-1",
               channels);
}

const struct fab_algorithm_rules fab_rules_ring = {
    .n_channels = fab_ring_channels, .part = describe_ring, .emit = emit_ring, .merges = true};

/* --- chains ------------------------------------------------------------------------------------------------------- */

/* Chunk p goes from place i to place i + 1 in step i + p; towards rank 0, from i + 1 to i in step r - 2 - i + p. */
static void emit_chain(const fab_collective *c, fab_sink *sink) {
    uint32_t *order = c->layout->order;
    bool from_root = c->operation == FAB_BROADCAST;
    for (uint32_t channel = 0; channel < c->n_channels; channel++) {
        uint32_t root = 0;
        channel_order(c, channel, order);
        while (order[root] != 0) {
            root++;
        }
        for (uint32_t i = 0; i + 1 < c->r; i++) {
            uint32_t near = order[(root + i) % c->r];
            uint32_t far = order[(root + i + 1) % c->r];
            sink->edge(sink, &(fab_edge){.from = from_root ? near : far,
                                         .to = from_root ? far : near,
                                         .step = from_root ? i : c->r - 2 - i,
                                         .n = c->chunks,
                                         .bytes = c->bytes / c->n_channels,
                                         .shard = channel * c->chunks,
                                         .n_shards = c->chunks,
                                         .turn = 1});
        }
    }
}

static void describe_chain(const fab_collective *c, FAB_UNUSED uint32_t part, fab_part *out) {
    char channels[64];
    describe_channels(c, channels, sizeof channels);
    out->steps = c->r - 1;
    out->copies = c->r - 1.0;
    FAB_FORMAT(out->text, "S %s for all ranks but one, pipelined, %s",
               c->operation == FAB_BROADCAST ? "to the next rank" : "from the next rank", channels);
}

const struct fab_algorithm_rules fab_rules_chain = {
    .n_channels = fab_ring_channels, .part = describe_chain, .emit = emit_chain, .merges = true};
