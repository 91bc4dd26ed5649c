/* Bus bandwidth of a collective, size by size: the replayed network in the model of NCCL. */
#include "fab/busbw_run.h"
#include "fab/design.h"
#include "fab/replay.h"

/* What the network does to an algorithm under an engine. */
typedef struct busbw_network {
    fab_nccl_network network;
    double least_s, most_s; /* as network.s_per_byte, of the fastest and the slowest draw */
    double collision, hash; /* largest collision factor, and what the routing adds */
} busbw_network;

/* The network's part of a collective: flows that leave their scale-up domain, of every algorithm, under every engine.
 */

#define BYTES_OF_RANK 16777216.0 /* of the S that is replayed: large enough that whole bytes do not matter */

/* How the flows of an algorithm are asked for; trees of switches carry what trees of GPUs do between domains. */
typedef struct flows_of {
    fab_nccl_algorithm algorithm;
    fab_operation operation;
    const char *name;
} flows_of;

static const flows_of FLOWS[] = {
    {FAB_NCCL_RING, FAB_ALL_REDUCE, "ring"},          {FAB_NCCL_TREE, FAB_ALL_REDUCE, "tree"},
    {FAB_NCCL_COLLNET, FAB_ALL_REDUCE, "in-network"}, {FAB_NCCL_RING, FAB_ALL_GATHER, "ring"},
    {FAB_NCCL_PAT, FAB_ALL_GATHER, "doubling"},       {FAB_NCCL_RING, FAB_REDUCE_SCATTER, "ring"},
    {FAB_NCCL_PAT, FAB_REDUCE_SCATTER, "halving"},    {FAB_NCCL_RING, FAB_BROADCAST, "ring"},
    {FAB_NCCL_P2P, FAB_ALL_TO_ALL, "mesh"},
};

static fab_status make_flows(const fab_context_request *what, const flows_of *of, uint32_t ranks, fab_traffic *out,
                             fab_error *err) {
    char text[160];
    double bytes = BYTES_OF_RANK * (of->operation == FAB_ALL_TO_ALL ? 1 : ranks);
    FAB_FORMAT(text, "pattern:%s,algorithm=%s,bytes=%.0fB,gpus=0-%" PRIu32, fab_operation_name(of->operation), of->name,
               bytes, ranks - 1);
    return fab_traffic_make(text, what->design, what->fabric, what->seed, out, err);
}

/* Drops the flows inside domains; those of an all-to-all are not listed, and stay. */
static void keep_leaving(const fab_fabric *f, fab_phase *p) {
    uint64_t n = 0;
    if (p->all.n > 0) {
        return;
    }
    p->total_bytes = 0;
    for (uint64_t i = 0; i < p->n_flows; i++) {
        if (fab_domain_of(f, p->src[i]) != fab_domain_of(f, p->dst[i])) {
            p->src[n] = p->src[i];
            p->dst[n] = p->dst[i];
            p->bytes[n] = p->bytes[i];
            p->comm[n] = p->comm[i];
            if (p->ordinal != NULL) {
                p->ordinal[n] = p->ordinal[i];
            }
            p->total_bytes += p->bytes[i];
            n++;
        }
    }
    p->n_flows = n;
    p->formula[0] = '\0';
    p->expected_bytes = 0;
}

/* Phases without flows go; what they hold goes with them. */
static void drop_empty(fab_traffic *t) {
    size_t n = 0;
    FAB_EACH(fab_phase, p, t->phases, t->n_phases) {
        if (p->n_flows == 0) {
            FAB_FREE_ALL(p->src, p->dst, p->bytes, p->comm, p->ordinal);
        } else {
            t->phases[n++] = *p;
        }
    }
    t->n_phases = n;
}

static fab_status add_phase(const fab_phase *p, const fab_engine_result *e, double bytes, busbw_network *out,
                            fab_error *err) {
    fab_nccl_network *n = &out->network;
    FAB_REFUSE_IF(!e->has_time, err, FAB_EUNSUPPORTED, NULL, "the time of %s under %s is not known: too many flows",
                  p->name, e->label);
    n->s_per_byte += e->transfer_s.mean / bytes;
    out->least_s += e->transfer_s.min / bytes;
    out->most_s += e->transfer_s.max / bytes;
    n->path_s = fmax(n->path_s, e->paths.latency_s.max);
    n->steps += p->steps;
    n->further_messages = p->further_messages > n->further_messages ? p->further_messages : n->further_messages;
    if (strcmp(p->collective, "all-reduce") != 0) { /* whose pipelines are filled once, not slot by slot: as measured */
        n->message_part = fmax(n->message_part, p->message_bytes / bytes);
    }
    out->collision = fmax(out->collision, e->max_collision_factor.mean);
    out->hash = fmax(out->hash, e->max_hash_factor.mean);
    return FAB_OK;
}

/* Steps that hosts add to, up a tree of domains and down again. One in k steps of a ring leaves its domain, and what a
 * step of a ring takes was fitted as their mean: a hop between domains counts as k. */
static uint64_t tree_steps(uint32_t domains, uint32_t k) {
    uint64_t depth = 0;
    while ((UINT64_C(1) << depth) < domains) {
        depth++;
    }
    return 2 * depth * k;
}

/* The replay of an algorithm; too large for a stack. */
typedef struct flows_replay {
    fab_traffic traffic;
    fab_result result;
    fab_context *context;
} flows_replay;

static void flows_replay_free(flows_replay *w) {
    if (w != NULL) {
        fab_result_release(&w->result);
        fab_context_free(w->context);
        fab_traffic_release(&w->traffic);
        free(w);
    }
}
FAB_OWNER(flows_replay, flows_replay_free)

static fab_status take_network(const flows_replay *w, const flows_of *of, size_t engine, uint32_t ranks,
                               busbw_network *out, fab_error *err) {
    busbw_network network = {.collision = 0};
    for (size_t i = 0; i < w->result.n_phases; i++) {
        FAB_PASS(add_phase(&w->traffic.phases[i], &w->result.phases[i].engines[engine], BYTES_OF_RANK * ranks, &network,
                           err));
    }
    const uint32_t k = fab_context_what(w->context)->fabric->gpus_per_domain;
    if (of->algorithm == FAB_NCCL_COLLNET) { /* to the switches and back */
        network.network.steps = 2 * (uint64_t)k;
    }
    if (of->algorithm == FAB_NCCL_TREE) {
        network.network.steps = tree_steps(ranks / k, k);
        network.network.further_messages = 0; /* of other trees and directions: other channels, at the same time */
        out[FAB_NCCL_NVLS_TREE] = network;
        network.network.steps += 2 * (k - UINT64_C(1)); /* the chain of GPUs in a domain */
    }
    out[of->algorithm] = network;
    return FAB_OK;
}

static fab_status replay_flows(const fab_busbw_request *r, const flows_of *of, uint32_t ranks, busbw_network *out,
                               fab_busbw_engine *engines, fab_error *err) {
    const fab_context_request *what = fab_context_what(r->context);
    FAB_OWNS_NEW(flows_replay_free_owned, flows_replay, w, 1, err);
    w->result.n_seeds = r->n_seeds > 0 ? r->n_seeds : 1;
    FAB_PASS(make_flows(what, of, ranks, &w->traffic, err));
    for (size_t i = 0; i < w->traffic.n_phases; i++) {
        keep_leaving(what->fabric, &w->traffic.phases[i]);
    }
    drop_empty(&w->traffic);
    const fab_context_request request = {.base = r->context, .traffic = what->traffic, .given = &w->traffic};
    FAB_PASS(fab_context_new(&request, &w->context, err));
    const fab_replay replay = {
        .context = w->context, .n_seeds = w->result.n_seeds, .n_threads = r->n_threads, .rates = true};
    FAB_PASS(fab_replay_run(&replay, &w->result, err));
    for (size_t e = 0; e < what->n_engines; e++) {
        FAB_PASS(take_network(w, of, e, ranks, out + e * FAB_NCCL_N_ALGORITHMS, err));
        FAB_FORMAT(engines[e].label, "%s", w->result.phases[0].engines[e].label);
    }
    return FAB_OK;
}

/* Algorithms that are not defined here are left out. */
static bool is_defined(const fab_fabric *f, const flows_of *of, uint32_t ranks) {
    bool is_power = (ranks & (ranks - 1)) == 0;
    return of->algorithm == FAB_NCCL_COLLNET ? f->reduces_in_switches && fab_is_tree(f)
           : of->algorithm == FAB_NCCL_PAT   ? f->gpus_per_domain == 1 && is_power
                                             : true;
}

/**
 * Replays what the algorithms of an operation send between domains.
 * @param[in]  ranks   The first GPUs; they fill several domains equally.
 * @param[out] out     Shape [n_engines][FAB_NCCL_N_ALGORITHMS]; s_per_byte is NAN where an algorithm is not possible.
 * @param[out] engines Shape [n_engines]: their labels.
 */
static fab_status busbw_replay(const fab_busbw_request *request, uint32_t ranks, busbw_network *out,
                               fab_busbw_engine *engines, fab_error *err) {
    const fab_context_request *what = fab_context_what(request->context);
    FAB_FILL(out, what->n_engines * FAB_NCCL_N_ALGORITHMS, (busbw_network){.network = {.s_per_byte = NAN}});
    for (size_t i = 0; i < FAB_N_OF(FLOWS); i++) {
        if (FLOWS[i].operation == request->operation && is_defined(what->fabric, &FLOWS[i], ranks)) {
            FAB_PASS(replay_flows(request, &FLOWS[i], ranks, out, engines, err));
        }
    }
    return FAB_OK;
}

#define DIP            0.05 /* of the bandwidth of the size before */
#define GIB            1073741824.0
#define MIB            1048576.0
#define SAME_RATIO     0.03 /* of busbw over algbw: what was printed is rounded */
#define RATIO_IS_CLEAR 1e9  /* B/s: below, rounding hides the ratio */

static const char *const TESTS[FAB_N_OPERATIONS] = {
    [FAB_ALL_REDUCE] = "all_reduce_perf",         [FAB_ALL_GATHER] = "all_gather_perf",
    [FAB_REDUCE_SCATTER] = "reduce_scatter_perf", [FAB_ALL_TO_ALL] = "alltoall_perf",
    [FAB_BROADCAST] = "broadcast_perf",           [FAB_REDUCE] = "reduce_perf"};

FAB_FREES_WHOLE(fab_busbw_free, fab_busbw, engines, rows);

/* --- what is asked for -------------------------------------------------------------------------------------------- */

static fab_status find_gpu(const fab_design *design, fab_busbw *out, fab_error *err) {
    fab_gpu gpu;
    const fab_job_spec *job = design->n_jobs > 0 ? &design->jobs[0] : NULL;
    out->gpu_is_default = job == NULL || job->gpu[0] == '\0';
    const char *name = out->gpu_is_default ? FAB_DEFAULT_GPU : job->gpu;
    FAB_PASS(fab_gpu_read(name, "job.gpu", &gpu, err));
    FAB_FORMAT(out->gpu, "%s", gpu.name);
    FAB_PASS(fab_nccl_check_gpu(&gpu.nccl, "job.gpu", err));
    out->gpu_library = gpu.nccl;
    return FAB_OK;
}

static fab_status find_ranks(const fab_busbw_request *r, const fab_fabric *f, fab_busbw *out, fab_error *err) {
    const uint64_t of_file = r->measured != NULL ? r->measured->ranks : 0;
    const uint64_t n = r->ranks > 0 ? r->ranks : of_file > 0 ? of_file : fab_n_gpus(f);
    const uint64_t size = f->gpus_per_domain;
    FAB_REFUSE_IF(r->ranks > 0 && of_file > 0 && of_file != r->ranks, err, FAB_EINPUT, r->measured->path,
                  "is of %" PRIu64 " ranks, and --ranks says %" PRIu64, of_file, r->ranks);
    FAB_REFUSE_IF(n < 2 || n > fab_n_gpus(f), err, FAB_EINPUT, "--ranks",
                  "%" PRIu64 " ranks are not within 2 to %" PRIu32 ", the GPUs", n, fab_n_gpus(f));
    FAB_REFUSE_IF(n > size && n % size != 0, err, FAB_EUNSUPPORTED, "--ranks",
                  "%" PRIu64 " ranks do not fill scale-up domains of %" PRIu64 " GPUs equally: give a multiple of that",
                  n, size);
    out->ranks = n;
    out->domains = n > size ? n / size : 1;
    return FAB_OK;
}

/* The file is of this collective and of so many ranks: its name says so, or the ratio of its columns. */
static fab_status check_measured(const fab_busbw_request *r, const fab_busbw *b, fab_error *err) {
    const fab_nccl_tests *m = r->measured;
    const double factor = fab_bus_factor(r->operation, b->ranks);
    FAB_REFUSE_IF(m->test[0] != '\0' && strcmp(m->test, TESTS[r->operation]) != 0, err, FAB_EINPUT, m->path,
                  "is of %s, and not of %s: give its --collective", m->test, TESTS[r->operation]);
    FAB_EACH(const fab_nccl_tests_row, row, m->rows, m->n_rows) {
        double ratio = row->algbw > RATIO_IS_CLEAR ? row->busbw / row->algbw : factor;
        FAB_RETURN_IF(fabs(ratio / factor - 1) > SAME_RATIO,
                      fab_fail_in_file(err, m->path, row->line, 1,
                                       "busbw is %.3g times algbw, and %.3g times in %s of %" PRIu64
                                       " ranks: --collective and --ranks say what was run",
                                       ratio, factor, fab_operation_name(r->operation), b->ranks));
    }
    return FAB_OK;
}

static fab_status check_request(const fab_busbw_request *r, const fab_context_request *what, fab_error *err) {
    FAB_REFUSE_IF(what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID, err, FAB_EUNSUPPORTED, "fabric.transport",
                  "one replay stands for all sizes, which holds for transport fluid alone");
    return r->operation != FAB_REDUCE
               ? FAB_OK
               : fab_fail(err, FAB_EUNSUPPORTED, "--collective", "a reduce is not among the collectives of busbw");
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static size_t count_sizes(const fab_busbw_request *r) {
    return r->bytes > 0          ? 1
           : r->measured != NULL ? r->measured->n_rows
                                 : (size_t)lround(log2(FAB_BUSBW_LAST / FAB_BUSBW_FIRST)) + 1;
}

static void compare_row(const fab_busbw_request *r, const fab_nccl_tests_row *m, fab_busbw_row *row) {
    row->is_measured = true;
    row->measured_time_s = m->time_s;
    row->measured_busbw = m->busbw;
    row->ratio = m->busbw / row->busbw;
    row->tolerance = r->tolerance > 0 ? r->tolerance : m->bytes >= GIB ? 0.05 : m->bytes >= MIB ? 0.15 : 0.30;
    row->falls_short = row->ratio < 1 - row->tolerance;
}

/* Of the same algorithm and protocol, where draws differ. */
static double busbw_of_draw(const fab_nccl_case *c, double s_per_byte, const fab_busbw_row *row) {
    fab_nccl_case drawn = *c;
    fab_nccl_time t;
    drawn.network[row->algorithm].s_per_byte = s_per_byte;
    fab_nccl_time_of(&drawn, row->algorithm, row->protocol, row->bytes, &t);
    return row->bytes / t.time_s * fab_bus_factor(c->operation, c->ranks);
}

static fab_status fill_row(const fab_busbw_request *r, const fab_nccl_case *c, const busbw_network *networks, size_t i,
                           fab_busbw_row *row, fab_error *err) {
    const double bytes = r->bytes > 0          ? r->bytes
                         : r->measured != NULL ? r->measured->rows[i].bytes
                                               : ldexp(FAB_BUSBW_FIRST, (int)i);
    fab_busbw_row made = {.engine = row->engine, .bytes = bytes};
    FAB_REFUSE_IF(!fab_nccl_choose(c, r->choice, r->only, bytes, &made.algorithm, &made.protocol), err,
                  FAB_EUNSUPPORTED, "--algorithm",
                  "%s is not possible in %s of %" PRIu32 " ranks in %" PRIu32 " scale-up domains of this fabric",
                  r->only < FAB_NCCL_N_ALGORITHMS ? fab_nccl_algorithms[r->only] : "any algorithm",
                  fab_operation_name(r->operation), c->ranks, c->domains);
    fab_nccl_time_of(c, made.algorithm, made.protocol, bytes, &made.time);
    made.channels = fab_nccl_channels(c, made.algorithm);
    made.collision = c->domains > 1 ? networks[made.algorithm].collision : 0;
    made.hash = c->domains > 1 ? networks[made.algorithm].hash : 0;
    made.algbw = bytes / made.time.time_s;
    made.busbw = made.algbw * fab_bus_factor(r->operation, c->ranks);
    made.is_drawn = c->domains > 1 && r->n_seeds > 1;
    if (made.is_drawn) {
        made.least_busbw = busbw_of_draw(c, networks[made.algorithm].most_s, &made);
        made.most_busbw = busbw_of_draw(c, networks[made.algorithm].least_s, &made);
    }
    if (r->measured != NULL) {
        compare_row(r, &r->measured->rows[i], &made);
    }
    *row = made;
    return FAB_OK;
}

/* Where bandwidth falls although there is more to send, as the library's model takes another way there. */
static void explain_dip(const fab_nccl_case *c, fab_busbw_row *row) {
    fab_nccl_time t;
    if (row->bytes > row[-1].bytes && row->busbw < row[-1].busbw * (1 - DIP) &&
        fab_nccl_choose(c, FAB_NCCL_BEST, FAB_NCCL_N_ALGORITHMS, row->bytes, &row->best_algorithm,
                        &row->best_protocol)) {
        fab_nccl_time_of(c, row->best_algorithm, row->best_protocol, row->bytes, &t);
        row->best_busbw = row->bytes / t.time_s * fab_bus_factor(c->operation, c->ranks);
    }
}

static fab_status fill_engine(const fab_busbw_request *r, size_t e, const busbw_network *networks, fab_busbw *b,
                              fab_error *err) {
    const size_t n_sizes = count_sizes(r);
    fab_nccl_case c = {.gpu = &b->gpu_library,
                       .operation = r->operation,
                       .ranks = (uint32_t)b->ranks,
                       .domains = (uint32_t)b->domains,
                       .scale_up_bps = b->scale_up_bps,
                       .nics_bps = b->nics_bps,
                       .host = fab_context_what(r->context)->fabric->host};
    FAB_FILL(c.network, FAB_NCCL_N_ALGORITHMS, networks[fab_at].network);
    for (size_t i = 0; i < n_sizes; i++) {
        fab_busbw_row *row = &b->rows[e * n_sizes + i];
        row->engine = b->engines[e].label;
        FAB_PASS(fill_row(r, &c, networks, i, row, err));
        if (i > 0) {
            explain_dip(&c, row);
        }
        b->engines[e].n_short += row->falls_short;
        b->n_short += row->falls_short;
    }
    return FAB_OK;
}

/* A domain of m sends (m - 1) / m of the data at least once for a gathering or a scattering, and twice for both. Less
 * only where switches add up. */
static void find_too_fast(fab_busbw *b) {
    const double n = (double)b->ranks;
    const double m = (double)b->domains;
    b->line_busbw = m > 1 ? b->nics_bps / 8 * n / m * (n - 1) / n * m / (m - 1) : 0;
    for (size_t i = 0; i < b->n_rows / b->n_engines; i++) {
        b->n_too_fast +=
            m > 1 && b->rows[i].is_measured && b->rows[i].measured_busbw > b->line_busbw * (1 + SAME_RATIO);
    }
}

fab_status fab_busbw_run(const fab_busbw_request *request, fab_busbw **out, fab_error *err) {
    const fab_context_request *what = fab_context_what(request->context);
    const fab_fabric_spec *spec = &what->design->fabric;
    FAB_OWNS_NEW(fab_busbw_free_owned, fab_busbw, b, 1, err);
    FAB_PASS(check_request(request, what, err));
    FAB_PASS(find_gpu(what->design, b, err));
    FAB_PASS(find_ranks(request, what->fabric, b, err));
    b->collective = fab_operation_name(request->operation);
    b->source = b->gpu_library.source;
    b->scale_up_bps = spec->domain_bps;
    b->nics_bps = spec->nic_bps * (double)spec->nics_per_server / (double)spec->gpus_per_server;
    FAB_FORMAT(b->choice, "%s",
               request->only < FAB_NCCL_N_ALGORITHMS ? fab_nccl_algorithms[request->only]
               : request->choice == FAB_NCCL_BEST    ? "best"
                                                     : "nccl");
    if (request->measured != NULL) {
        b->measured = request->measured->path;
        FAB_PASS(check_measured(request, b, err));
    }
    b->n_engines = b->domains > 1 ? what->n_engines : 1; /* inside a domain nothing is routed */
    b->n_rows = b->n_engines * count_sizes(request);
    FAB_PASS(FAB_NEW(b->engines, what->n_engines, err));
    FAB_PASS(FAB_NEW(b->rows, b->n_rows, err));
    FAB_OWNED_NEW(busbw_network, networks, what->n_engines * FAB_NCCL_N_ALGORITHMS, err);
    if (b->domains > 1) {
        FAB_PASS(busbw_replay(request, (uint32_t)b->ranks, networks, b->engines, err));
    } else {
        FAB_FORMAT(b->engines[0].label, "none");
    }
    for (size_t e = 0; e < b->n_engines; e++) {
        FAB_PASS(fill_engine(request, e, networks + e * FAB_NCCL_N_ALGORITHMS, b, err));
    }
    find_too_fast(b);
    return FAB_GIVE(*out, b);
}
