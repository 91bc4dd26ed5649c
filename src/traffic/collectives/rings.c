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
#include "traffic_internal.h"

#include "fab/memory.h"

/* One communicator being emitted. */
typedef struct ring {
    fab_phase_builder *builder;
    const uint32_t *ordered; /* members grouped by unit: unit u has [u k, (u + 1) k) */
    uint32_t k;
    uint32_t n_units;
    uint64_t bytes;
    uint32_t comm;
} ring;

static uint32_t unit_size(const fab_fabric *fabric) {
    return fabric->gpus_per_domain > fabric->gpus_per_server ? fabric->gpus_per_domain : fabric->gpus_per_server;
}

void fab_ring_release(fab_ring_scratch *scratch) {
    FAB_FREE_ALL(scratch->slot, scratch->count, scratch->ordered, scratch->unit);
    *scratch = (fab_ring_scratch){.slot = NULL};
}

fab_status fab_ring_init(fab_ring_scratch *scratch, const fab_fabric *fabric, uint32_t n_members, fab_error *err) {
    fab_status status = FAB_OK;
    fab_ring_scratch made = {.slot = NULL};
    uint32_t n_units = fab_n_gpus(fabric) / unit_size(fabric) + 1;
    FAB_TRY(FAB_NEW(made.slot, n_units, err));
    FAB_TRY(FAB_NEW(made.count, n_members, err));
    FAB_TRY(FAB_NEW(made.ordered, n_members, err));
    FAB_TRY(FAB_NEW(made.unit, n_members, err));
    for (uint32_t u = 0; u < n_units; u++) {
        made.slot[u] = FAB_NONE;
    }
    *scratch = made;
    made = (fab_ring_scratch){.slot = NULL};
done:
    fab_ring_release(&made);
    return status;
}

/* Groups the members by unit, units in the order of their first member. Returns the members per unit, or 1 where units
   hold different numbers. */
static uint32_t group_by_unit(fab_ring_scratch *scratch, uint32_t size, const uint32_t *members, uint32_t n,
                              uint32_t *out_units) {
    uint32_t n_units = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t unit = members[i] / size;
        if (scratch->slot[unit] == FAB_NONE) {
            scratch->slot[unit] = n_units;
            scratch->unit[n_units] = unit;
            scratch->count[n_units] = 0;
            n_units++;
        }
        scratch->count[scratch->slot[unit]]++;
    }
    if (n_units == 0) {
        *out_units = 0;
        return 1;
    }
    uint32_t k = n / n_units;
    for (uint32_t u = 0; u < n_units; u++) {
        k = scratch->count[u] == n / n_units && n % n_units == 0 ? k : 1;
        scratch->count[u] = 0;
    }
    for (uint32_t i = 0; i < n && k > 1; i++) {
        uint32_t u = scratch->slot[members[i] / size];
        scratch->ordered[u * k + scratch->count[u]++] = members[i];
    }
    for (uint32_t u = 0; u < n_units; u++) {
        scratch->slot[scratch->unit[u]] = FAB_NONE;
    }
    *out_units = n_units;
    return k;
}

/* Bytes of channel c: the remainder goes to the first channels. */
static uint64_t rings_share(const ring *r, uint32_t c) {
    return r->bytes / r->k + (c < r->bytes % r->k ? 1 : 0);
}

static void add_local(const ring *r, uint32_t unit, uint32_t i, uint32_t j, uint64_t bytes) {
    fab_phase_add(r->builder, r->ordered[unit * r->k + i], r->ordered[unit * r->k + j], bytes, r->comm);
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
    const uint32_t *from = r->ordered + (size_t)unit * k;
    const uint32_t *to = r->ordered + (last ? 0 : (size_t)(unit + 1) * k);
    for (uint32_t c = 0; c < k; c++) {
        uint32_t leave = unit % 2 == 0 ? (c + 1) % k : c;
        uint32_t enter = leave;
        if (last && odd_ring && k >= 3) {
            leave = enter = (c + 2) % k;
        } else if (last && odd_ring) {
            enter = c;
        }
        fab_phase_add(r->builder, from[leave], to[enter], rings_share(r, c), r->comm);
    }
}

void fab_ring_emit(fab_ring_scratch *scratch, const fab_fabric *fabric, const uint32_t *members, uint32_t n_members,
                   uint64_t bytes, uint32_t comm, fab_phase_builder *builder) {
    uint32_t n_units = 0;
    uint32_t k = group_by_unit(scratch, unit_size(fabric), members, n_members, &n_units);
    if (n_units == 1 || k == 1) {
        for (uint32_t i = 0; i < n_members; i++) {
            fab_phase_add(builder, members[i], members[(i + 1) % n_members], bytes, comm);
        }
        return;
    }
    ring r = {builder, scratch->ordered, k, n_units, bytes, comm};
    for (uint32_t unit = 0; unit < n_units; unit++) {
        emit_unit(&r, unit);
        emit_crossing(&r, unit);
    }
}
