/*
 * Ring collectives.
 *
 * A unit is what a ring should enter and leave once: a server, or the scale-up domain where that is the larger one. Let
 * a communicator have M units with k members each. With k >= 2 and M >= 2 there are C = k channels, each with 1/k of
 * the bytes. In channel c, with a = c and b = c + 1 (local indexes, mod k):
 *
 *     even units   enter at a, leave at b    visiting a, a-1, a-2, ..., b     (descending)
 *     odd units    enter at b, leave at a    visiting b, b+1, b+2, ..., a     (ascending)
 *
 * so that an edge between units joins equal local indexes (the same rail), and over all channels every member's NIC is
 * left once and entered once. An even number of units closes by itself. With an odd number and k >= 3, the last unit
 * leaves at x = c + 2, visiting a, b, a-1, a-2, ..., x, and the first is entered at x, visiting x, x+1, ..., b. With k
 * = 2 there is no third member: the last unit leaves at b and the first is entered at a, one edge per channel that
 * changes the rail.
 *
 * Channels use the same edges inside a unit again and again. Those are merged into one flow per pair: in a descending
 * unit the edge i -> i-1 is in every channel but c = i-1, and so on. A flow therefore stands for a pair of members, and
 * there are about two flows per member instead of k.
 */
#include "collectives.h"

/* One communicator being emitted. */
typedef struct ring {
    fab_phase_builder *builder;
    const uint32_t *members;
    const uint32_t *ranks; /* members grouped by unit: unit u has [u k, (u + 1) k) */
    uint32_t k;
    uint32_t n_units;
    uint64_t bytes;
    uint32_t comm;
} ring;

/* Bytes of channel c: the remainder goes to the first channels. */
static uint64_t rings_share(const ring *r, uint32_t c) {
    return r->bytes / r->k + (c < r->bytes % r->k ? 1 : 0);
}

static void add_local(const ring *r, uint32_t unit, uint32_t i, uint32_t j, uint64_t bytes) {
    const uint32_t *ranks = r->ranks + (size_t)unit * r->k;
    fab_phase_add(r->builder, r->members[ranks[i]], r->members[ranks[j]], bytes, r->comm);
}

/* Edges inside the last of an odd number of units: i -> i+1 and i+1 -> i-1 of channel i, i -> i-1 of all channels but
   i, i-1 and i-2. With k = 3 there is no edge of the last kind. */
static void emit_last_unit(const ring *r, uint32_t unit) {
    uint32_t k = r->k;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t before = (i + k - 1) % k;
        add_local(r, unit, i, (i + 1) % k, rings_share(r, i));
        add_local(r, unit, (i + 1) % k, before, rings_share(r, i));
        add_local(r, unit, i, before,
                  r->bytes - rings_share(r, i) - rings_share(r, before) - rings_share(r, (i + k - 2) % k));
    }
}

static void emit_unit(const ring *r, uint32_t unit) {
    uint32_t k = r->k;
    bool turned = r->n_units % 2 == 1 && k >= 3;
    if (turned && unit == r->n_units - 1) {
        emit_last_unit(r, unit);
        return;
    }
    for (uint32_t i = 0; i < k; i++) {
        uint32_t before = (i + k - 1) % k;
        if (turned && unit == 0) { /* ascending from c + 2: lacks c+1 -> c+2 */
            add_local(r, unit, i, (i + 1) % k, r->bytes - rings_share(r, before));
        } else if (unit % 2 == 0) { /* descending from c: lacks c+1 -> c */
            add_local(r, unit, i, before, r->bytes - rings_share(r, before));
        } else { /* ascending from c + 1: lacks c -> c+1 */
            add_local(r, unit, i, (i + 1) % k, r->bytes - rings_share(r, i));
        }
    }
}

/* Edges from `unit` to the next, one per channel. */
static void emit_crossing(const ring *r, uint32_t unit) {
    uint32_t k = r->k;
    bool last = unit == r->n_units - 1;
    bool odd_ring = r->n_units % 2 == 1;
    const uint32_t *from = r->ranks + (size_t)unit * k;
    const uint32_t *to = r->ranks + (last ? 0 : (size_t)(unit + 1) * k);
    for (uint32_t c = 0; c < k; c++) {
        uint32_t leave = unit % 2 == 0 ? (c + 1) % k : c;
        uint32_t enter = leave;
        if (last && odd_ring && k >= 3) {
            leave = enter = (c + 2) % k;
        } else if (last && odd_ring) {
            enter = c;
        }
        fab_phase_add(r->builder, r->members[from[leave]], r->members[to[enter]], rings_share(r, c), r->comm);
    }
}

void fab_ring_emit(const fab_layout *layout, const uint32_t *members, uint32_t n_members, uint64_t bytes, uint32_t comm,
                   fab_phase_builder *builder) {
    const fab_grouping *unit = &layout->unit;
    if (unit->n_groups <= 1 || unit->k <= 1) { /* or units hold different numbers */
        for (uint32_t i = 0; i < n_members; i++) {
            fab_phase_add(builder, members[i], members[(i + 1) % n_members], bytes, comm);
        }
        return;
    }
    const ring r = {builder, members, unit->ranks, unit->k, unit->n_groups, bytes, comm};
    for (uint32_t u = 0; u < r.n_units; u++) {
        emit_unit(&r, u);
        emit_crossing(&r, u);
    }
}
