/* Bus bandwidth of a collective, size by size: the replayed network in the model of NCCL. */
#include "busbw_internal.h"

#include "fab/design.h"
#include "fab/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIP            0.05 /* of the bandwidth of the size before */
#define GIB            1073741824.0
#define MIB            1048576.0
#define SAME_RATIO     0.03 /* of busbw over algbw: what was printed is rounded */
#define RATIO_IS_CLEAR 1e9  /* B/s: below, rounding hides the ratio */

static const char *const TESTS[FAB_N_OPERATIONS] = {
    [FAB_ALL_REDUCE] = "all_reduce_perf",         [FAB_ALL_GATHER] = "all_gather_perf",
    [FAB_REDUCE_SCATTER] = "reduce_scatter_perf", [FAB_ALL_TO_ALL] = "alltoall_perf",
    [FAB_BROADCAST] = "broadcast_perf",           [FAB_REDUCE] = "reduce_perf"};

void fab_busbw_free(fab_busbw *b) {
    if (b != NULL) {
        FAB_FREE_ALL(b->engines, b->rows, b);
    }
}

/* --- what is asked for -------------------------------------------------------------------------------------------- */

static fab_status find_gpu(const fab_design *design, fab_busbw *out, fab_error *err) {
    fab_gpu gpu;
    const fab_job_spec *job = design->n_jobs > 0 ? &design->jobs[0] : NULL;
    out->gpu_is_default = job == NULL || job->gpu[0] == '\0';
    const char *name = out->gpu_is_default ? FAB_DEFAULT_GPU : job->gpu;
    FAB_PASS(fab_gpu_read(name, "job.gpu", &gpu, err));
    (void)snprintf(out->gpu, sizeof out->gpu, "%s", gpu.name);
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
    for (size_t i = 0; i < m->n_rows; i++) {
        const fab_nccl_tests_row *row = &m->rows[i];
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

static double tolerance_at(const fab_busbw_request *r, double bytes) {
    return r->tolerance > 0 ? r->tolerance : bytes >= GIB ? 0.05 : bytes >= MIB ? 0.15 : 0.30;
}

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
    row->tolerance = tolerance_at(r, m->bytes);
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
    for (size_t a = 0; a < FAB_NCCL_N_ALGORITHMS; a++) {
        c.network[a] = networks[a].network;
    }
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

fab_status fab_busbw_run(const fab_busbw_request *request, fab_busbw **out, fab_error *err) {
    const fab_context_request *what = fab_context_what(request->context);
    const fab_fabric_spec *spec = &what->design->fabric;
    FAB_OWNS(fab_busbw_free_owned) fab_busbw *b = NULL;
    FAB_OWNED busbw_network *networks = NULL;
    FAB_PASS(FAB_NEW(b, 1, err));
    FAB_PASS(check_request(request, what, err));
    FAB_PASS(find_gpu(what->design, b, err));
    FAB_PASS(find_ranks(request, what->fabric, b, err));
    b->collective = fab_operation_name(request->operation);
    b->source = b->gpu_library.source;
    b->scale_up_bps = spec->domain_bps;
    b->nics_bps = spec->nic_bps * (double)spec->nics_per_server / (double)spec->gpus_per_server;
    (void)snprintf(b->choice, sizeof b->choice, "%s",
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
    FAB_PASS(FAB_NEW(networks, what->n_engines * FAB_NCCL_N_ALGORITHMS, err));
    if (b->domains > 1) {
        FAB_PASS(busbw_replay(request, (uint32_t)b->ranks, networks, b->engines, err));
    } else {
        (void)snprintf(b->engines[0].label, sizeof b->engines[0].label, "none");
    }
    for (size_t e = 0; e < b->n_engines; e++) {
        FAB_PASS(fill_engine(request, e, networks + e * FAB_NCCL_N_ALGORITHMS, b, err));
    }
    *out = b;
    b = NULL;
    return FAB_OK;
}
