/*
 * Continuous batching, request by request. What a replica does between two requests that come or end is the same pass
 * over and over, and is taken in one step: the time is that of the requests, not of the tokens.
 */
#include "fab/serving_queue.h"

#include "fab/rng.h"

#define SKIPPED 5 /* one request of so many, at the beginning */

typedef struct request {
    double ready_s; /* at the replica: arrival, or keys and values are there */
    double arrival_s, first_s, end_s;
} request;

double fab_serving_most(const fab_serving_queue *q) {
    const double reads_s = q->prompt_s[q->prompts] / q->prompts;
    const double generates_s = q->tokens > 1 ? ((double)q->tokens - 1) * q->token_s[q->slots] / q->slots : 0;
    return q->readers == 0 ? q->replicas / (reads_s + generates_s)
                           : fmin(q->readers / reads_s, generates_s > 0 ? q->replicas / generates_s : (double)INFINITY);
}

/* Uniform in (0, 1]. */
static double draw(fab_rng *rng) {
    return ((double)(fab_rng_next(rng) >> 11) + 1) * 0x1p-53;
}

/* --- a replica ---------------------------------------------------------------------------------------------------- */

/* Requests i, i + step, ... of the list, in the order in which they are ready. */
typedef struct replica {
    const fab_serving_queue *q;
    request *of;
    uint32_t first, step, n;
    uint32_t begun, ended; /* requests of it that were taken, and that are done; they end as they began */
    double now_s;
    uint64_t passes;
    uint64_t *last_pass; /* [n]: with which each ends */
} replica;

static request *at(const replica *r, uint32_t i) {
    return &r->of[r->first + (size_t)i * r->step];
}

static uint32_t waiting(const replica *r) {
    uint32_t n = 0;
    while (r->begun + n < r->n && n < r->q->prompts && at(r, r->begun + n)->ready_s <= r->now_s) {
        n++;
    }
    const uint32_t free_slots = r->q->slots - (r->begun - r->ended);
    return n < free_slots ? n : free_slots;
}

static void take(replica *r, uint32_t n) {
    const bool reads = r->q->readers == 0;
    r->now_s += reads ? r->q->prompt_s[n] : 0;
    for (uint32_t i = 0; i < n; i++) {
        request *one = at(r, r->begun);
        one->first_s = reads ? r->now_s : one->first_s;
        r->last_pass[r->begun++] = r->passes + r->q->tokens - 1;
    }
}

/* Passes until somebody ends, or somebody comes and there is room for him. */
static void generate(replica *r) {
    const uint32_t n = r->begun - r->ended;
    const double pass_s = r->q->token_s[n];
    uint64_t passes = r->last_pass[r->ended] - r->passes;
    if (r->begun < r->n && n < r->q->slots) {
        const double until = ceil((at(r, r->begun)->ready_s - r->now_s) / pass_s);
        passes = until < (double)passes ? (uint64_t)fmax(until, 1) : passes;
    }
    r->passes += passes;
    r->now_s += (double)passes * pass_s;
}

static void end_done(replica *r) {
    while (r->ended < r->begun && r->last_pass[r->ended] <= r->passes) {
        at(r, r->ended++)->end_s = r->now_s;
    }
}

static void run_replica(replica *r) {
    while (r->ended < r->n) {
        if (r->begun == r->ended && at(r, r->begun)->ready_s > r->now_s) {
            r->now_s = at(r, r->begun)->ready_s;
        }
        const uint32_t n = waiting(r);
        if (n > 0) {
            take(r, n);
        } else if (r->begun > r->ended) {
            generate(r);
        }
        end_done(r);
    }
}

static fab_status run_replicas(const fab_serving_queue *q, request *of, fab_error *err) {
    FAB_OWNED_NEW(uint64_t, last_pass, q->requests, err);
    for (uint32_t i = 0; i < q->replicas && i < q->requests; i++) {
        replica r = {.q = q,
                     .of = of,
                     .first = i,
                     .step = q->replicas,
                     .n = (q->requests - i + q->replicas - 1) / q->replicas,
                     .last_pass = last_pass};
        run_replica(&r);
    }
    return FAB_OK;
}

/* --- readers of a pool -------------------------------------------------------------------------------------------- */

FAB_ORDER_TWO(by_ready, request, ready_s, arrival_s);

/* One queue for all: whoever is free first takes what waits. */
static fab_status run_readers(const fab_serving_queue *q, request *of, fab_error *err) {
    FAB_OWNED_NEW(double, free_s, q->readers, err);
    for (uint32_t i = 0; i < q->requests;) {
        uint32_t n = 1;
        FAB_BEST(next, k, q->readers, free_s[k] < free_s[next]);
        const double begin_s = fmax(free_s[next], of[i].arrival_s);
        while (i + n < q->requests && n < q->prompts && of[i + n].arrival_s <= begin_s) {
            n++;
        }
        free_s[next] = begin_s + q->prompt_s[n];
        for (uint32_t k = 0; k < n; k++, i++) {
            of[i].first_s = free_s[next];
            of[i].ready_s = free_s[next] + q->transfer_s;
        }
    }
    qsort(of, q->requests, sizeof *of, by_ready);
    return FAB_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static void summarize_waits(const double *values, uint32_t n, double out[2], double *out_mean) {
    FAB_SUM(double, sum, i, n, values[i]);
    out[0] = values[(n - 1) / 2];
    out[1] = values[(uint32_t)ceil(0.99 * n) - 1];
    *out_mean = sum / n;
}

static fab_status measure_waits(const fab_serving_queue *q, const request *of, fab_serving_waits *out, fab_error *err) {
    const uint32_t skipped = q->requests / SKIPPED;
    const uint32_t n = q->requests - skipped;
    FAB_OWNED_NEW(double, values, n, err);
    FAB_FILL(values, n, of[skipped + fab_at].first_s - of[skipped + fab_at].arrival_s);
    qsort(values, n, sizeof *values, fab_order_double);
    summarize_waits(values, n, out->first_token_s, &out->mean_first_s);
    for (uint32_t i = 0; i < n; i++) {
        const request *r = &of[skipped + i];
        values[i] = q->tokens > 1 ? (r->end_s - r->first_s) / ((double)q->tokens - 1) : 0;
    }
    qsort(values, n, sizeof *values, fab_order_double);
    summarize_waits(values, n, out->token_s, &out->mean_token_s);
    return FAB_OK;
}

fab_status fab_serving_wait(const fab_serving_queue *q, fab_serving_waits *out, fab_error *err) {
    double now_s = 0;
    fab_rng rng = fab_rng_make(q->seed, 0x7365727665);
    const double most = fab_serving_most(q);
    FAB_REFUSE_IF(!(q->arrivals_per_s > 0 && q->arrivals_per_s < most), err, FAB_EINPUT, NULL,
                  "%.4g requests/s are not below the %.4g that can be served", q->arrivals_per_s, most);
    FAB_OWNED_NEW(request, of, q->requests, err);
    for (uint32_t i = 0; i < q->requests; i++) {
        now_s -= log(draw(&rng)) / q->arrivals_per_s;
        of[i].arrival_s = of[i].ready_s = now_s;
    }
    FAB_PASS(q->readers > 0 ? run_readers(q, of, err) : FAB_OK);
    FAB_PASS(run_replicas(q, of, err));
    FAB_PASS(measure_waits(q, of, out, err));
    out->window_s = now_s;
    return FAB_OK;
}
