#include "traffic_internal.h"

#include "fab/collective.h"
#include "fab/ranked.h"

FAB_RELEASES(fab_phase_release, fab_phase, src, dst, bytes, comm, ordinal, all.share);

fab_status fab_phase_open(fab_phase_builder *builder, const char *name, const char *collective, uint64_t capacity,
                          fab_error *err) {
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder made = {.phase = {.n_comms = 1, .steps = 1, .executions = 1}};
    fab_phase *phase = &made.phase;
    FAB_REFUSE_IF(capacity >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "phase '%s' may have %" PRIu64 " flows; the limit is %" PRIu32, name, capacity, UINT32_MAX - 1);
    made.capacity = (size_t)capacity;
    FAB_FORMAT(phase->name, "%s", name);
    FAB_FORMAT(phase->collective, "%s", collective);
    FAB_PASS(FAB_NEW_ALL(made.capacity, err, phase->src, phase->dst, phase->bytes, phase->comm));
    return FAB_GIVE(*builder, made);
}

fab_status fab_phase_reserve(fab_phase_builder *builder, uint64_t capacity, fab_error *err) {
    fab_phase *phase = &builder->phase;
    size_t grown[4] = {builder->capacity, builder->capacity, builder->capacity, builder->capacity};
    FAB_REFUSE_IF(capacity >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "phase '%s' may have %" PRIu64 " flows; the limit is %" PRIu32, phase->name, capacity,
                  UINT32_MAX - 1);
    FAB_PASS(FAB_GROW(phase->src, grown[0], (size_t)capacity, err));
    FAB_PASS(FAB_GROW(phase->dst, grown[1], (size_t)capacity, err));
    FAB_PASS(FAB_GROW(phase->bytes, grown[2], (size_t)capacity, err));
    FAB_PASS(FAB_GROW(phase->comm, grown[3], (size_t)capacity, err));
    builder->capacity = grown[0];
    return FAB_OK;
}

/* Copies an array in another order, and back. */
#define REORDER(array, scratch, order, n)                                                                              \
    do {                                                                                                               \
        for (uint64_t k = 0; k < (n); k++) {                                                                           \
            (scratch)[k] = (array)[(order)[k]];                                                                        \
        }                                                                                                              \
        memcpy((array), (scratch), (size_t)(n) * sizeof *(array));                                                     \
    } while (0)

fab_status fab_phase_sort(fab_phase *phase, uint32_t n_gpus, fab_error *err) {
    bool sorted = true;
    for (uint64_t i = 1; phase->all.n == 0 && i < phase->n_flows; i++) {
        sorted = sorted && phase->src[i - 1] <= phase->src[i];
    }
    if (sorted) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint64_t, scratch, phase->n_flows, err);
    FAB_OWNED_NEW(uint32_t, order, phase->n_flows, err);
    FAB_OWNED_NEW(uint32_t, first, (size_t)n_gpus + 2, err);
    fab_sort_by_key(phase->src, NULL, (uint32_t)phase->n_flows, n_gpus, first, order);
    uint32_t *narrow = (uint32_t *)(void *)scratch;
    REORDER(phase->bytes, scratch, order, phase->n_flows);
    REORDER(phase->src, narrow, order, phase->n_flows);
    REORDER(phase->dst, narrow, order, phase->n_flows);
    REORDER(phase->comm, narrow, order, phase->n_flows);
    return FAB_OK;
}

fab_phase_builder fab_phase_of_all(const char *name, const char *collective, uint32_t first, uint32_t n,
                                   uint64_t bytes) {
    uint64_t n_flows = (uint64_t)n * (n - 1);
    fab_phase_builder made = {.phase = {.n_flows = n_flows,
                                        .all = {.first = first, .n = n, .bytes = bytes},
                                        .n_comms = 1,
                                        .steps = 1,
                                        .executions = 1,
                                        .total_bytes = n_flows * bytes}};
    FAB_FORMAT(made.phase.name, "%s", name);
    FAB_FORMAT(made.phase.collective, "%s", collective);
    return made;
}

/* Pairs that ascend, as in an exported matrix, cannot repeat: they need no table. */
static bool pairs_ascend(const fab_phase *phase) {
    for (uint64_t i = 1; i < phase->n_flows; i++) {
        if (phase->src[i] < phase->src[i - 1] ||
            (phase->src[i] == phase->src[i - 1] && phase->dst[i] <= phase->dst[i - 1])) {
            return false;
        }
    }
    return true;
}

/* The last source that a destination was seen with, and how often. */
typedef struct pair_count {
    uint32_t src, n;
} pair_count;

fab_status fab_phase_number(fab_phase *phase, fab_error *err) {
    FAB_OWNED uint32_t *by_src = NULL;
    uint32_t n_gpus = 0;
    bool repeats = false;
    if (phase->all.n > 0 || pairs_ascend(phase)) {
        return FAB_OK;
    }
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        const uint32_t larger = phase->src[i] > phase->dst[i] ? phase->src[i] : phase->dst[i];
        n_gpus = larger >= n_gpus ? larger + 1 : n_gpus;
    }
    FAB_OWNED_NEW(pair_count, seen, n_gpus, err);
    FAB_OWNED_NEW(uint32_t, first, (size_t)n_gpus + 2, err);
    FAB_PASS(FAB_NEW_ALL(phase->n_flows, err, by_src, phase->ordinal));
    fab_sort_by_key(phase->src, NULL, (uint32_t)phase->n_flows, n_gpus, first, by_src);
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        const uint32_t flow = by_src[i];
        pair_count *of = &seen[phase->dst[flow]];
        of->n = of->src == phase->src[flow] ? of->n : 0;
        of->src = phase->src[flow];
        phase->ordinal[flow] = of->n++;
        repeats = repeats || phase->ordinal[flow] > 0;
    }
    if (!repeats) {
        free(phase->ordinal);
        phase->ordinal = NULL;
    }
    return FAB_OK;
}

fab_status fab_phase_check(const fab_phase *phase, fab_error *err) {
    /* Every member of a ring, or every pair, is rounded to whole bytes once. */
    double allowed = 1e-6 * phase->expected_bytes + (double)phase->n_flows;
    double total = (double)phase->total_bytes;
    FAB_REFUSE_IF(!(fabs(total - phase->expected_bytes) <= allowed), err, FAB_EINTERNAL, phase->name,
                  "flows of phase '%s' carry %.17g bytes, the formula gives %.17g", phase->name, total,
                  phase->expected_bytes);
    return FAB_OK;
}

static bool are_equal(const void *a, const void *b, size_t bytes) {
    return a == NULL || b == NULL ? a == b : memcmp(a, b, bytes) == 0;
}

uint64_t fab_phase_largest(const fab_phase *phase, bool *out_even) {
    const uint64_t n = phase->all.n == 0 ? phase->n_flows : phase->all.share != NULL ? fab_all_group(&phase->all) : 1;
    const uint64_t *bytes = phase->all.n == 0          ? phase->bytes
                            : phase->all.share != NULL ? phase->all.share
                                                       : &phase->all.bytes;
    uint64_t most = 0;
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < n; i++) {
        most = bytes[i] > most ? bytes[i] : most;
        least = bytes[i] < least ? bytes[i] : least;
    }
    if (out_even != NULL) {
        *out_even = n == 0 || most == least;
    }
    return most;
}

bool fab_phase_is_like(const fab_phase *a, const fab_phase *b) {
    const fab_all_to_all *x = &a->all;
    const fab_all_to_all *y = &b->all;
    return a->n_flows == b->n_flows && x->first == y->first && x->n == y->n && x->bytes == y->bytes &&
           fab_all_group(x) == fab_all_group(y) && x->by_receiver == y->by_receiver &&
           are_equal(x->share, y->share, fab_all_group(x) * sizeof *x->share) && a->first_comm == b->first_comm &&
           are_equal(a->src, b->src, a->n_flows * sizeof *a->src) &&
           are_equal(a->dst, b->dst, a->n_flows * sizeof *a->dst) &&
           are_equal(a->bytes, b->bytes, a->n_flows * sizeof *a->bytes) &&
           are_equal(a->comm, b->comm, a->n_flows * sizeof *a->comm);
}

double fab_phase_bus_factor(const fab_phase *p) {
    FAB_FIRST(operation, FAB_N_OPERATIONS, strcmp(p->collective, fab_operation_name((fab_operation)operation)) == 0);
    return operation < FAB_N_OPERATIONS         ? fab_bus_factor((fab_operation)operation, p->ranks)
           : strchr(p->collective, ',') != NULL ? fab_bus_factor(FAB_ALL_REDUCE, p->ranks)
                                                : 1;
}
