/*
 * Synthetic patterns over the GPUs `gpus=A-B` of a fabric, all by default. A pattern is a row of fab_patterns (its
 * name) and one of fab_pattern_rows: the keys it takes, and a function that adds flows or makes phases.
 */
#include "patterns.h"

#include "fab/rng.h"
#include "fab/units.h"

static void patterns_add(const fab_pattern *p, fab_phase_builder *builder, uint32_t i, uint32_t j, uint32_t comm) {
    fab_phase_add(builder, (uint32_t)p->first + i, (uint32_t)p->first + j, p->bytes, comm);
}

/* The numbers 0 ... n - 1 in random order; another stream gives an independent one. */
static fab_status random_order(const fab_pattern *p, uint64_t stream, uint32_t n, uint32_t **out, fab_error *err) {
    uint32_t *order = NULL;
    FAB_PASS(FAB_NEW(order, n, err));
    FAB_FILL(order, n, (uint32_t)fab_at);
    fab_rng rng = fab_rng_make(p->seed, stream);
    fab_rng_shuffle(&rng, order, n);
    *out = order;
    return FAB_OK;
}

/* Refuses a phase whose bytes do not fit. */
static fab_status check_bytes(const fab_pattern *p, uint64_t n_flows, fab_error *err) {
    FAB_REFUSE_IF((double)n_flows * (double)p->bytes > FAB_PHASE_MAX_BYTES, err, FAB_EINPUT, p->text,
                  "%" PRIu64 " flows of %" PRIu64 " bytes are above the limit of %.2g bytes in a phase", n_flows,
                  p->bytes, FAB_PHASE_MAX_BYTES);
    return FAB_OK;
}

static void patterns_summarize(const fab_pattern *p, const fab_phase *phase, fab_traffic *traffic) {
    FAB_FORMAT(traffic->summary, "%s over %s GPUs: %s flow%s of %s%s", phase->name, FAB_SAY_COUNT(fab_pattern_size(p)),
               FAB_SAY_COUNT(phase->n_flows), phase->n_flows == 1 ? "" : "s", FAB_SAY((double)p->bytes, FAB_UNIT_BYTES),
               p->note);
}

/* --- the patterns ------------------------------------------------------------------------------------------------- */

static fab_status add_permutation(fab_pattern *p, fab_phase_builder *builder, fab_error *err) {
    FAB_OWNED uint32_t *to = NULL;
    uint32_t n = fab_pattern_size(p);
    uint32_t fixed = 0;
    FAB_PASS(random_order(p, 0, n, &to, err));
    for (uint32_t i = 0; i < n; i++) {
        if (to[i] == i) {
            fixed++;
        } else {
            patterns_add(p, builder, i, to[i], (uint32_t)builder->phase.n_flows);
        }
    }
    if (fixed > 0) {
        FAB_FORMAT(p->note, " (%" PRIu32 " drawn to themselves send nothing)", fixed);
    }
    builder->phase.n_comms = (uint32_t)builder->phase.n_flows;
    return FAB_OK;
}

static fab_status add_shift(fab_pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t n = fab_pattern_size(p);
    uint64_t from = p->from_first == FAB_NONE ? p->first : p->from_first;
    uint64_t until = p->from_first == FAB_NONE ? p->last : p->from_last;
    FAB_REFUSE_IF(p->by == FAB_NONE, err, FAB_EINPUT, p->text,
                  "pattern 'shift' needs the distance: by=N, such as by=8");
    FAB_REFUSE_IF(p->by % n == 0, err, FAB_EINPUT, p->text,
                  "by=%" PRIu64 " over %" PRIu32 " GPUs sends every GPU to itself", p->by, n);
    FAB_REFUSE_IF(from < p->first || until > p->last, err, FAB_EINPUT, p->text,
                  "from=%" PRIu64 "-%" PRIu64 " is outside the GPUs %" PRIu64 "-%" PRIu64 " of the pattern", from,
                  until, p->first, p->last);
    for (uint64_t gpu = from; gpu <= until; gpu++) {
        uint64_t i = gpu - p->first;
        patterns_add(p, builder, (uint32_t)i, (uint32_t)((i + p->by % n) % n), (uint32_t)builder->phase.n_flows);
    }
    FAB_FORMAT(p->note, " by %" PRIu64, p->by);
    builder->phase.n_comms = (uint32_t)builder->phase.n_flows;
    return FAB_OK;
}

static fab_status add_ring(fab_pattern *p, fab_phase_builder *builder, FAB_UNUSED fab_error *err) {
    uint32_t n = fab_pattern_size(p);
    for (uint32_t i = 0; i < n; i++) {
        patterns_add(p, builder, i, (i + 1) % n, 0);
    }
    return FAB_OK;
}

/* ORCS: a random half is paired with the other half at random, both directions at once. An odd GPU is left out. */
static fab_status add_bisection(fab_pattern *p, fab_phase_builder *builder, fab_error *err) {
    FAB_OWNED uint32_t *order = NULL;
    uint32_t n = fab_pattern_size(p);
    FAB_PASS(random_order(p, 0, n, &order, err));
    for (uint32_t i = 0; i < n / 2; i++) {
        patterns_add(p, builder, order[i], order[n / 2 + i], i);
        patterns_add(p, builder, order[n / 2 + i], order[i], i);
    }
    if (n % 2 == 1) {
        FAB_FORMAT(p->note, " (odd number: one is left out)");
    }
    builder->phase.n_comms = n / 2;
    return FAB_OK;
}

/* Of all GPUs at once. Not listed: the flows of 65,536 GPUs are 4.3e9. */
static fab_status make_mesh(fab_pattern *p, fab_traffic *traffic, fab_error *err) {
    uint32_t n = fab_pattern_size(p);
    uint64_t n_flows = (uint64_t)n * (n - 1);
    FAB_PASS(check_bytes(p, n_flows, err));
    FAB_PASS(FAB_NEW(traffic->phases, 1, err));
    fab_phase_builder builder = fab_phase_of_all("all-to-all", "all-to-all", (uint32_t)p->first, n, p->bytes);
    FAB_FORMAT(builder.phase.algorithm, "mesh");
    builder.phase.ranks = n;
    builder.phase.result_bytes = (double)n * (double)p->bytes;
    patterns_summarize(p, &builder.phase, traffic);
    fab_traffic_take(traffic, &builder);
    return FAB_OK;
}

static fab_status make_all_to_all(fab_pattern *p, fab_traffic *traffic, fab_error *err) {
    bool plain = strstr(p->seen, " algorithm ") == NULL && p->groups == 1 && p->comm == FAB_NONE;
    return plain ? make_mesh(p, traffic, err) : fab_pattern_collective(p, traffic, err);
}

/* Number within the pattern of the GPU named by to=. */
static fab_status target(fab_pattern *p, uint32_t *out, fab_error *err) {
    uint64_t to = p->to == FAB_NONE ? p->first : p->to;
    FAB_REFUSE_IF(to < p->first || to > p->last, err, FAB_EINPUT, p->text,
                  "to=%" PRIu64 " is outside the GPUs %" PRIu64 "-%" PRIu64 " of the pattern", to, p->first, p->last);
    *out = (uint32_t)(to - p->first);
    return FAB_OK;
}

/* The senders are the GPUs that follow the receiver, cyclically. */
static fab_status add_incast(fab_pattern *p, fab_phase_builder *builder, fab_error *err) {
    uint32_t to = 0;
    uint32_t n = fab_pattern_size(p);
    FAB_PASS(target(p, &to, err));
    uint64_t fanin = p->fanin == FAB_NONE ? n - 1 : p->fanin;
    FAB_REFUSE_IF(fanin < 1 || fanin > n - 1, err, FAB_EINPUT, p->text,
                  "fanin=%" PRIu64 " is outside 1 to %" PRIu32 ", the other GPUs", fanin, n - 1);
    for (uint32_t i = 1; i <= fanin; i++) {
        patterns_add(p, builder, (uint32_t)(((uint64_t)to + i) % n), to, 0);
    }
    FAB_FORMAT(p->note, " to gpu-%" PRIu64, p->first + to);
    return FAB_OK;
}

/* A random permutation in which a random part of the senders is sent to one GPU instead. */
static fab_status add_hotspot(fab_pattern *p, fab_phase_builder *builder, fab_error *err) {
    FAB_OWNED uint32_t *dst = NULL;
    FAB_OWNED uint32_t *senders = NULL;
    uint32_t to = 0;
    uint32_t n = fab_pattern_size(p);
    FAB_PASS(target(p, &to, err));
    FAB_PASS(random_order(p, 0, n, &dst, err));
    FAB_PASS(random_order(p, 1, n, &senders, err));
    uint32_t wanted = (uint32_t)(p->fraction * (n - 1) + 0.5);
    wanted = wanted < 1 ? 1 : wanted;
    for (uint32_t i = 0, hot = 0; hot < wanted; i++) {
        if (senders[i] != to) {
            dst[senders[i]] = to;
            hot++;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (dst[i] != i) {
            patterns_add(p, builder, i, dst[i], 0);
        }
    }
    FAB_FORMAT(p->note, ", %" PRIu32 " of them to gpu-%" PRIu64, wanted, p->first + to);
    return FAB_OK;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

const fab_pattern_info fab_patterns[] = {
    {"permutation", "every GPU sends to one other, drawn at random; GPUs drawn to themselves send nothing"},
    {"shift", "GPU i sends to i + by (by=N), all of them or those of from=A-B"},
    {"ring", "GPU i sends to i + 1"},
    {"bisection", "GPUs halved and paired at random (ORCS), both directions at once"},
    {"all-to-all", "every GPU of a group sends bytes= to every other: algorithm=mesh (default), shifted, rail-aligned, "
                   "pxn, auto, nccl, best or all; groups and channels as all-reduce"},
    {"incast", "all GPUs, or fanin=N of them, send to one (to=GPU)"},
    {"hotspot", "a random permutation, but fraction= (default 0.1) of the GPUs send to one (to=GPU)"},
    {"all-reduce", "every GPU of a group gets the sum, of bytes=: algorithm=ring (default), doubling, "
                   "halving-doubling, tree, mesh, hierarchical, nvls, nvls-tree, in-network, auto (the fastest by the "
                   "cost model), nccl (what NCCL takes), best (the fastest by replays) or all (side by side); "
                   "channels=N of rings and trees; groups=N at once, each of every N-th GPU or, "
                   "with groups-by=block, of GPUs in a row; comm=K: group K alone"},
    {"all-gather", "every GPU of a group gets the parts of all, bytes= together: algorithm=ring (default), doubling, "
                   "mesh, hierarchical, auto, nccl, best or all; the rest as all-reduce"},
    {"reduce-scatter", "every GPU of a group gets its part of the sum, bytes= together: algorithm=ring (default), "
                       "halving, mesh, hierarchical, auto, nccl, best or all; the rest as all-reduce"},
    {"broadcast", "the first GPU of a group sends bytes= to all: algorithm=ring (default), tree, binomial, auto or "
                  "all; the rest as all-reduce"},
    {"reduce", "the first GPU of a group gets the sum, of bytes=: as broadcast"},
    {NULL, NULL},
};

#define COLLECTIVE_KEYS " algorithm channels groups groups-by comm "

const fab_pattern_row fab_pattern_rows[] = {
    {" ", true, add_permutation, NULL, FAB_N_OPERATIONS},
    {" by from ", false, add_shift, NULL, FAB_N_OPERATIONS},
    {" ", false, add_ring, NULL, FAB_N_OPERATIONS},
    {" ", true, add_bisection, NULL, FAB_N_OPERATIONS},
    {COLLECTIVE_KEYS, false, NULL, make_all_to_all, FAB_ALL_TO_ALL},
    {" to fanin ", false, add_incast, NULL, FAB_N_OPERATIONS},
    {" to fraction ", true, add_hotspot, NULL, FAB_N_OPERATIONS},
    {COLLECTIVE_KEYS, false, NULL, fab_pattern_collective, FAB_ALL_REDUCE},
    {COLLECTIVE_KEYS, false, NULL, fab_pattern_collective, FAB_ALL_GATHER},
    {COLLECTIVE_KEYS, false, NULL, fab_pattern_collective, FAB_REDUCE_SCATTER},
    {COLLECTIVE_KEYS, false, NULL, fab_pattern_collective, FAB_BROADCAST},
    {COLLECTIVE_KEYS, false, NULL, fab_pattern_collective, FAB_REDUCE},
};

/* The one phase of a pattern that adds its flows. */
static fab_status make_phase(fab_pattern *p, size_t which, fab_traffic *traffic, fab_error *err) {
    FAB_OWNS(fab_phase_builder_release) fab_phase_builder builder = {.capacity = 0};
    const char *name = fab_patterns[which].name;
    FAB_PASS(check_bytes(p, fab_pattern_size(p), err));
    FAB_PASS(fab_phase_open(&builder, name, name, fab_pattern_size(p), err));
    FAB_PASS(fab_pattern_rows[which].add(p, &builder, err));
    FAB_PASS(FAB_NEW(traffic->phases, 1, err));
    patterns_summarize(p, &builder.phase, traffic);
    fab_traffic_take(traffic, &builder);
    return FAB_OK;
}

/* GPUs of the servers that have all their cables. */
static uint32_t whole_gpus(const fab_fabric *f) {
    uint64_t n = (uint64_t)fab_n_complete_servers(f) * f->gpus_per_server;
    return n < fab_n_gpus(f) ? (uint32_t)n : fab_n_gpus(f);
}

/* --- placement ---------------------------------------------------------------------------------------------------- */

/* GPU g of the pattern counts through the servers of the list. */
static uint32_t gpu_on(const fab_pattern *p, const fab_job *list, uint32_t g) {
    uint32_t n = p->fabric->gpus_per_server;
    return list->servers[g / n] * n + g % n;
}

/* An all-to-all is the same in any order of its GPUs, which are not listed. */
static fab_status place_all(const fab_pattern *p, const fab_job *list, fab_phase *phase, fab_error *err) {
    uint32_t n = phase->all.n;
    FAB_OWNED_NEW(uint32_t, gpus, n, err);
    FAB_FILL(gpus, n, gpu_on(p, list, phase->all.first + (uint32_t)fab_at));
    qsort(gpus, n, sizeof *gpus, fab_order_u32);
    FAB_REFUSE_IF(gpus[n - 1] - gpus[0] != n - 1, err, FAB_EUNSUPPORTED, p->text,
                  "an all-to-all by algorithm=mesh is over GPUs in a row; algorithm=shifted takes any servers");
    phase->all.first = gpus[0];
    return FAB_OK;
}

/* Whether the servers are another order than that of the fabric. */
static bool is_placed(const fab_pattern *p) {
    return p->servers[0] != '\0' || p->placement != FAB_PLACEMENT_ORDER;
}

/* The servers that GPU numbers count through, as a job would have them. */
static fab_status find_pattern_servers(const fab_pattern *p, fab_job *out, fab_error *err) {
    FAB_FORMAT(out->where, "%.*s", (int)sizeof out->where - 1, p->text);
    out->listed = p->servers;
    out->spec.placement = p->placement;
    out->spec.placement_seed = p->seed;
    FAB_PASS(fab_job_find_servers(out, NULL, p->fabric, err));
    FAB_REFUSE_IF(out->n_gpus != out->n_servers * p->fabric->gpus_per_server, err, FAB_EINPUT, p->text,
                  "servers: one has fewer GPUs than the others");
    return FAB_OK;
}

static fab_status place_pattern(const fab_pattern *p, const fab_job *list, fab_traffic *traffic, fab_error *err) {
    FAB_EACH(fab_phase, phase, traffic->phases, traffic->n_phases) {
        if (phase->all.n > 0) {
            FAB_PASS(place_all(p, list, phase, err));
            continue;
        }
        for (uint64_t f = 0; f < phase->n_flows; f++) {
            phase->src[f] = gpu_on(p, list, phase->src[f]);
            phase->dst[f] = gpu_on(p, list, phase->dst[f]);
        }
    }
    return FAB_OK;
}

/* Before flows are made: how many GPUs there are to count, and that collectives find their domains where they are. */
static fab_status begin_placed(fab_pattern *p, size_t which, fab_job *list, fab_error *err) {
    FAB_PASS(find_pattern_servers(p, list, err));
    bool has_gpus = strstr(p->seen, " gpus ") != NULL;
    FAB_REFUSE_IF(fab_pattern_rows[which].operation != FAB_N_OPERATIONS &&
                      p->fabric->gpus_per_domain > p->fabric->gpus_per_server,
                  err, FAB_EUNSUPPORTED, p->text,
                  "a collective takes servers and placement only where each server is a scale-up domain");
    FAB_REFUSE_IF(has_gpus && p->last >= list->n_gpus, err, FAB_EINPUT, p->text,
                  "gpus up to %" PRIu64 " are wanted of servers with %" PRIu32, p->last, list->n_gpus);
    p->last = has_gpus ? p->last : list->n_gpus - 1;
    return FAB_OK;
}

fab_status fab_pattern_make(const char *text, const fab_design *design, const fab_fabric *fabric, uint64_t seed,
                            fab_traffic *traffic, fab_error *err) {
    FAB_OWNED char *list = NULL;
    FAB_OWNS(fab_job_free_owned) fab_job *placed = NULL;
    size_t which = 0;
    fab_pattern p = {.text = text,
                     .fabric = fabric,
                     .design = design,
                     .seed = seed,
                     .bytes = 1000000,
                     .last = whole_gpus(fabric) - 1,
                     .from_first = FAB_NONE,
                     .from_last = FAB_NONE,
                     .by = FAB_NONE,
                     .to = FAB_NONE,
                     .fanin = FAB_NONE,
                     .fraction = 0.1,
                     .groups = 1,
                     .comm = FAB_NONE};
    FAB_REFUSE_IF(fab_n_gpus(fabric) == 0, err, FAB_EINPUT, text, "the fabric has no GPU");
    FAB_PASS(FAB_STRDUP(list, text + strlen("pattern:"), err));
    FAB_PASS(fab_pattern_parse(list, &p, &which, err));
    if (is_placed(&p)) {
        FAB_PASS(FAB_NEW(placed, 1, err));
        FAB_PASS(begin_placed(&p, which, placed, err));
    }
    FAB_REFUSE_IF(fab_pattern_size(&p) < 2, err, FAB_EINPUT, text, "pattern '%s' needs at least 2 GPUs, not %" PRIu32,
                  fab_patterns[which].name, fab_pattern_size(&p));
    if (fab_pattern_rows[which].make != NULL) {
        FAB_PASS(fab_pattern_rows[which].make(&p, traffic, err));
    } else {
        FAB_PASS(make_phase(&p, which, traffic, err));
    }
    traffic->depends_on_seed = fab_pattern_rows[which].random || p.placement == FAB_PLACEMENT_RANDOM;
    return placed != NULL ? place_pattern(&p, placed, traffic, err) : FAB_OK;
}
