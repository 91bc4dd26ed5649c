/*
 * All-gather: each of the r ranks of a group has S/r bytes and ends with all S [Thakur, Rabenseifner, Gropp, 2005].
 *
 *                steps    peer              bytes per message
 *     ring       r-1      next              S/r
 *     doubling   log2 r   rank xor 2^i      S 2^i/r
 *     mesh       1        everyone          S/r
 *
 * Steps with the same peers are one phase, whose flows carry the bytes of all these steps; a step with peers of its own
 * is a phase of its own. The groups run at once. Messages have whole bytes: S is rounded down to a multiple of r.
 */
#include "patterns.h"

#include "fab/memory.h"
#include "fab/str.h"
#include "fab/units.h"

#include <inttypes.h>
#include <string.h>

/* Beyond this, flows that must be listed take gigabytes. */
#define MAX_LISTED_FLOWS (UINT64_C(64) << 20)
#define MAX_PHASES       (1 + 32 + 1)

typedef struct gather {
    const fab_pattern *p;
    uint32_t n_groups, ranks;
    uint32_t only;    /* group, or FAB_NONE for all */
    uint64_t message; /* S/r */
} gather;

/* GPU of a rank: groups are blocks of GPUs that follow one another, or take every n_groups-th of them. */
static uint32_t gpu_at(const gather *g, uint32_t group, uint32_t rank) {
    uint32_t i = g->p->by_block ? group * g->ranks + rank : rank * g->n_groups + group;
    return (uint32_t)g->p->first + i;
}

static uint32_t n_present(const gather *g) {
    return g->only == FAB_NONE ? g->n_groups : 1;
}

/* Flows are added in the order of their source GPUs. `i` counts the GPUs of the pattern; false: its group is not
   wanted. */
static bool place_of(const gather *g, uint32_t i, uint32_t *out_group, uint32_t *out_rank) {
    *out_group = g->p->by_block ? i / g->ranks : i % g->n_groups;
    *out_rank = g->p->by_block ? i % g->ranks : i / g->n_groups;
    return g->only == FAB_NONE || g->only == *out_group;
}

/* Completes a phase whose flows are there, and hands it over. `copies`: bytes that a group sends, in units of S. */
static fab_status take(const gather *g, fab_phase_builder *builder, uint64_t steps, double copies, fab_traffic *traffic,
                       fab_error *err) {
    fab_phase *phase = &builder->phase;
    phase->n_comms = n_present(g);
    phase->first_comm = g->only == FAB_NONE ? 0 : g->only;
    phase->steps = steps;
    phase->expected_bytes = copies * ((double)g->message * g->ranks) * n_present(g);
    size_t used = strlen(phase->formula);
    (void)snprintf(phase->formula + used, sizeof phase->formula - used, ", x %" PRIu32 " ranks", g->ranks);
    if (n_present(g) > 1) {
        used = strlen(phase->formula);
        (void)snprintf(phase->formula + used, sizeof phase->formula - used, " x %" PRIu32 " groups", n_present(g));
    }
    fab_status status = fab_phase_check(phase, err);
    if (status == FAB_OK) {
        fab_traffic_take(traffic, builder);
    }
    return status;
}

/* --- the algorithms -------------------------------------------------------------------------------------------------
 */

/* A rank sends its own part and hands on those of r - 2 others, each in a step of its own. */
static fab_status make_ring(const gather *g, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_phase_builder builder = {.capacity = 0};
    uint32_t group = 0;
    uint32_t rank = 0;
    uint64_t n_flows = (uint64_t)n_present(g) * g->ranks;
    uint64_t bytes = (g->ranks - 1) * g->message;
    FAB_TRY(fab_pattern_check_bytes(g->p, n_flows, bytes, err));
    FAB_TRY(fab_phase_open(&builder, "ring", "all-gather", n_flows, err));
    for (uint32_t i = 0; i < fab_pattern_size(g->p); i++) {
        if (place_of(g, i, &group, &rank)) {
            fab_phase_add(&builder, gpu_at(g, group, rank), gpu_at(g, group, (rank + 1) % g->ranks), bytes, group);
        }
    }
    (void)snprintf(builder.phase.formula, sizeof builder.phase.formula,
                   "(r-1)/r S to the next rank in r-1 steps, one channel in the order of the ranks");
    FAB_TRY(take(g, &builder, g->ranks - 1, g->ranks - 1.0, traffic, err));
done:
    fab_phase_release(&builder.phase);
    return status;
}

/* Partners exchange all that they have: in step i, 2^i parts. */
static fab_status make_doubling_step(const gather *g, uint32_t step, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_phase_builder builder = {.capacity = 0};
    char name[FAB_NAME_SIZE];
    uint32_t group = 0;
    uint32_t rank = 0;
    uint32_t distance = UINT32_C(1) << step;
    uint64_t n_flows = (uint64_t)n_present(g) * g->ranks;
    uint64_t bytes = distance * g->message;
    (void)snprintf(name, sizeof name, "doubling-%" PRIu32, step + 1);
    FAB_TRY(fab_pattern_check_bytes(g->p, n_flows, bytes, err));
    FAB_TRY(fab_phase_open(&builder, name, "all-gather", n_flows, err));
    for (uint32_t i = 0; i < fab_pattern_size(g->p); i++) {
        if (place_of(g, i, &group, &rank)) {
            fab_phase_add(&builder, gpu_at(g, group, rank), gpu_at(g, group, rank ^ distance), bytes, group);
        }
    }
    (void)snprintf(builder.phase.formula, sizeof builder.phase.formula,
                   "%" PRIu32 "/r S to the rank at distance %" PRIu32, distance, distance);
    FAB_TRY(take(g, &builder, 1, distance, traffic, err));
done:
    fab_phase_release(&builder.phase);
    return status;
}

static fab_status make_doubling(const gather *g, fab_traffic *traffic, fab_error *err) {
    if ((g->ranks & (g->ranks - 1)) != 0) {
        return fab_fail(err, FAB_EINPUT, g->p->text,
                        "recursive doubling needs a power of two of ranks in a group, not %" PRIu32
                        "; choose algorithm=ring or algorithm=mesh",
                        g->ranks);
    }
    fab_status status = FAB_OK;
    for (uint32_t step = 0; status == FAB_OK && g->ranks >> step > 1; step++) {
        status = make_doubling_step(g, step, traffic, err);
    }
    return status;
}

static fab_status list_mesh(const gather *g, fab_phase_builder *builder, fab_error *err) {
    uint32_t group = 0;
    uint32_t rank = 0;
    uint64_t n_flows = (uint64_t)n_present(g) * g->ranks * (g->ranks - 1);
    if (n_flows > MAX_LISTED_FLOWS) {
        return fab_fail(err, FAB_EUNSUPPORTED, g->p->text,
                        "a mesh in %" PRIu32 " groups of %" PRIu32 " ranks has %" PRIu64
                        " flows, above the limit of %" PRIu64 "; choose fewer GPUs with gpus=A-B, or one block of them",
                        n_present(g), g->ranks, n_flows, MAX_LISTED_FLOWS);
    }
    fab_status status = fab_phase_open(builder, "mesh", "all-gather", n_flows, err);
    for (uint32_t i = 0; status == FAB_OK && i < fab_pattern_size(g->p); i++) {
        bool here = place_of(g, i, &group, &rank);
        for (uint32_t to = 0; here && to < g->ranks; to++) {
            if (to != rank) {
                fab_phase_add(builder, gpu_at(g, group, rank), gpu_at(g, group, to), g->message, group);
            }
        }
    }
    return status;
}

/* One group whose GPUs follow one another needs no list. */
static fab_status make_mesh(const gather *g, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    fab_phase_builder builder = {.capacity = 0};
    bool in_a_row = n_present(g) == 1 && (g->p->by_block || g->n_groups == 1);
    uint64_t n_flows = (uint64_t)n_present(g) * g->ranks * (g->ranks - 1);
    FAB_TRY(fab_pattern_check_bytes(g->p, n_flows, g->message, err));
    if (in_a_row) {
        uint32_t group = g->only == FAB_NONE ? 0 : g->only;
        builder = fab_phase_of_all("mesh", "all-gather", gpu_at(g, group, 0), g->ranks, g->message);
    } else {
        FAB_TRY(list_mesh(g, &builder, err));
    }
    (void)snprintf(builder.phase.formula, sizeof builder.phase.formula, "S/r to each of the r-1 others");
    FAB_TRY(take(g, &builder, 1, g->ranks - 1.0, traffic, err));
done:
    fab_phase_release(&builder.phase);
    return status;
}

/* --- the pattern ----------------------------------------------------------------------------------------------------
 */

static fab_status init(const fab_pattern *p, gather *out, fab_error *err) {
    uint32_t n = fab_pattern_size(p);
    if (n % p->groups != 0 || n / p->groups < 2) {
        return fab_fail(err, FAB_EINPUT, p->text,
                        "groups=%" PRIu64 " does not cut %" PRIu32 " GPUs into equal groups of at least 2", p->groups,
                        n);
    }
    gather g = {.p = p,
                .n_groups = (uint32_t)p->groups,
                .ranks = n / (uint32_t)p->groups,
                .only = p->comm == FAB_NONE ? FAB_NONE : (uint32_t)p->comm};
    if (p->comm != FAB_NONE && p->comm >= p->groups) {
        return fab_fail(err, FAB_EINPUT, p->text, "comm=%" PRIu64 " is outside 0 to %" PRIu64 ", the groups", p->comm,
                        p->groups - 1);
    }
    g.message = p->bytes / g.ranks;
    if (g.message == 0) {
        return fab_fail(err, FAB_EINPUT, p->text,
                        "bytes=%" PRIu64 "B leaves each of the %" PRIu32 " ranks of a group less than 1 byte", p->bytes,
                        g.ranks);
    }
    *out = g;
    return FAB_OK;
}

/* "all-gather over 64 GPUs in 4 groups of 16 by stride: 62.5 kB of every rank, 1 MB together" */
static void summarize(const gather *g, fab_traffic *traffic) {
    char count[32];
    char part[40];
    char result[40];
    char groups[64] = "";
    char rounded[64] = "";
    char only[32] = "";
    if (g->n_groups > 1) {
        (void)snprintf(groups, sizeof groups, " in %" PRIu32 " groups of %" PRIu32 " by %s", g->n_groups, g->ranks,
                       g->p->by_block ? "block" : "stride");
    }
    if (g->message * g->ranks != g->p->bytes) {
        (void)snprintf(rounded, sizeof rounded, " (%s rounded down)",
                       fab_quantity_format(result, (double)g->p->bytes, FAB_UNIT_BYTES));
    }
    if (g->only != FAB_NONE) {
        (void)snprintf(only, sizeof only, "; only group %" PRIu32, g->only);
    }
    (void)snprintf(traffic->summary, sizeof traffic->summary,
                   "all-gather over %s GPUs%s: %s of every rank, %s together%s%s",
                   fab_format_count(count, fab_pattern_size(g->p)), groups,
                   fab_quantity_format(part, (double)g->message, FAB_UNIT_BYTES),
                   fab_quantity_format(result, (double)g->message * g->ranks, FAB_UNIT_BYTES), rounded, only);
}

fab_status fab_all_gather_make(fab_pattern *p, fab_traffic *traffic, fab_error *err) {
    fab_status status = FAB_OK;
    gather g = {.p = p, .n_groups = 1, .ranks = 1};
    FAB_TRY(init(p, &g, err));
    FAB_TRY(FAB_NEW(traffic->phases, MAX_PHASES, err));
    summarize(&g, traffic);
    if (p->algorithm == FAB_GATHER_RING || p->algorithm == FAB_GATHER_ALL) {
        FAB_TRY(make_ring(&g, traffic, err));
    }
    if (p->algorithm == FAB_GATHER_DOUBLING || p->algorithm == FAB_GATHER_ALL) {
        FAB_TRY(make_doubling(&g, traffic, err));
    }
    if (p->algorithm == FAB_GATHER_MESH || p->algorithm == FAB_GATHER_ALL) {
        FAB_TRY(make_mesh(&g, traffic, err));
    }
done:
    return status;
}
