/* Everyone to everyone: at once (a mesh), or in r-1 shifts of an all-to-all. */
#include "collectives.h"

static uint32_t mesh_parts(const fab_collective *c) {
    return fab_passes(c->operation);
}

static void describe_mesh(const fab_collective *c, uint32_t part, fab_part *out) {
    out->steps = 1;
    out->copies = c->r - 1.0;
    FAB_FORMAT(out->text, "S/r %sto each of the r-1 others", part == 1 ? "of the sum " : "");
}

static void emit_mesh(const fab_collective *c, fab_sink *sink) {
    for (uint32_t part = 0; part < mesh_parts(c); part++) {
        /* The second part of an all-reduce hands on, chunk by chunk, what the first has brought. */
        for (uint32_t from = 0; from < c->r; from++) {
            for (uint32_t to = 0; to < c->r; to++) {
                if (to != from) {
                    fab_sink_put(sink, part, from, to, c->bytes / c->r);
                }
            }
        }
    }
}

const struct fab_algorithm_rules fab_rules_mesh = {.n_parts = mesh_parts, .part = describe_mesh, .emit = emit_mesh};

/* --- shifted ------------------------------------------------------------------------------------------------------ */

static uint32_t shifted_parts(const fab_collective *c) {
    return c->r - 1;
}

static void describe_shifted(FAB_UNUSED const fab_collective *c, uint32_t part, fab_part *out) {
    out->steps = 1;
    out->copies = 1;
    FAB_FORMAT(out->text, "S/r to the rank %" PRIu32 " further", part + 1);
}

/* A rank starts a step when the step before has ended for it: when what it receives there has arrived. */
static void emit_shifted(const fab_collective *c, fab_sink *sink) {
    for (uint32_t step = 0; step + 1 < c->r; step++) {
        for (uint32_t rank = 0; rank < c->r; rank++) {
            sink->edge(sink, &(fab_edge){.from = rank,
                                         .to = (uint32_t)(((uint64_t)rank + step + 1) % c->r),
                                         .part = step,
                                         .step = step,
                                         .n = 1,
                                         .bytes = c->bytes / c->r,
                                         .shard = step,
                                         .n_shards = 1,
                                         .stage = step,
                                         .after = step > 0});
        }
    }
}

const struct fab_algorithm_rules fab_rules_shifted = {
    .n_parts = shifted_parts, .part = describe_shifted, .emit = emit_shifted};
