/*
 * The queue of serving: against the closed form of a single server, and against a simulation that goes pass by pass and
 * counts the tokens of every request.
 */
#include "draws.h"

#include "fab/rng.h"
#include "fab/serving_queue.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define MOST 400 /* requests of a simulation here */

/* --- a server for one: the mean wait of M/D/1 is u s / 2 (1 - u) [Pollaczek, Khinchin] -----------------------------
 */

Test(oracle_serving, one_at_a_time_waits_as_pollaczek_and_khinchin_say) {
    const double read_s[] = {0, 1};
    const double pass_s[] = {0, 1};
    for (int i = 1; i <= 4; i++) {
        const double u = 0.2 * i;
        const fab_serving_queue q = {.arrivals_per_s = u,
                                     .replicas = 1,
                                     .slots = 1,
                                     .prompts = 1,
                                     .tokens = 1,
                                     .prompt_s = read_s,
                                     .token_s = pass_s,
                                     .seed = 7,
                                     .requests = 1000000};
        fab_serving_waits w;
        cr_assert_eq(fab_serving_wait(&q, &w, NULL), FAB_OK);
        const double mean_s = 1 + u / (2 * (1 - u));
        cr_expect_float_eq(w.mean_first_s, mean_s, 0.02 * mean_s, "load %g: %g s, by the formula %g s", u,
                           w.mean_first_s, mean_s);
        cr_expect_eq(w.mean_token_s, 0);
        cr_expect_float_eq(fab_serving_most(&q), 1, 1e-12);
    }
}

/* --- pass by pass --------------------------------------------------------------------------------------------------
 */

typedef struct naive_request {
    double arrival, ready, first, end;
    uint64_t left; /* tokens to come */
    int state;     /* 0 not taken, 1 under way, 2 done */
} naive_request;

static int by_ready(const void *a, const void *b) {
    const naive_request *x = a;
    const naive_request *y = b;
    return x->ready != y->ready ? (x->ready > y->ready) - (x->ready < y->ready)
                                : (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static void naive_readers(const fab_serving_queue *q, naive_request *of) {
    double busy_until[8] = {0};
    for (uint32_t i = 0; i < q->requests;) {
        uint32_t who = 0;
        for (uint32_t k = 0; k < q->readers; k++) {
            who = busy_until[k] < busy_until[who] ? k : who;
        }
        const double begin = busy_until[who] > of[i].arrival ? busy_until[who] : of[i].arrival;
        uint32_t n = 0;
        for (uint32_t k = i; k < q->requests && k < i + q->prompts; k++) {
            n += k == i || of[k].arrival <= begin;
        }
        busy_until[who] = begin + q->prompt_s[n];
        for (; n > 0; n--, i++) {
            of[i].first = busy_until[who];
            of[i].ready = of[i].first + q->transfer_s;
        }
    }
    qsort(of, q->requests, sizeof *of, by_ready);
}

static void naive_replica(const fab_serving_queue *q, naive_request *of, uint32_t me) {
    double now = 0;
    for (;;) {
        uint32_t under_way = 0;
        uint32_t next = UINT32_MAX; /* the first that nobody has taken */
        for (uint32_t i = me; i < q->requests; i += q->replicas) {
            under_way += of[i].state == 1;
            next = of[i].state == 0 && next == UINT32_MAX ? i : next;
        }
        if (under_way == 0 && next == UINT32_MAX) {
            return;
        }
        if (under_way == 0 && of[next].ready > now) {
            now = of[next].ready;
        }
        uint32_t n = 0;
        for (uint32_t i = next; i < q->requests && n < q->prompts && n + under_way < q->slots; i += q->replicas) {
            if (of[i].ready > now) {
                break;
            }
            of[i].state = 1;
            of[i].left = q->tokens - 1;
            n++;
        }
        now += n > 0 ? (q->readers == 0 ? q->prompt_s[n] : 0) : q->token_s[under_way];
        for (uint32_t i = me; i < q->requests; i += q->replicas) {
            if (of[i].state == 1) {
                bool is_new = n > 0 && of[i].left == q->tokens - 1 && of[i].end < 0;
                if (n == 0) {
                    of[i].left--;
                } else if (is_new && q->readers == 0 && of[i].first < 0) {
                    of[i].first = now;
                }
                if (of[i].left == 0) {
                    of[i].state = 2;
                    of[i].end = now;
                }
            }
        }
    }
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_percentiles(double *values, uint32_t n, const double found[2], const char *what) {
    qsort(values, n, sizeof *values, by_value);
    /* Passes are added up one by one here, several at once there. */
    cr_assert_float_eq(found[0], values[(n - 1) / 2], 1e-6, "%s: median %.12g, pass by pass %.12g", what, found[0],
                       values[(n - 1) / 2]);
    const uint32_t last = (uint32_t)ceil(0.99 * n) - 1;
    cr_assert_float_eq(found[1], values[last], 1e-6, "%s: p99 %.12g, pass by pass %.12g", what, found[1], values[last]);
}

static void check_queue(const fab_serving_queue *q) {
    static naive_request of[MOST];
    static double values[MOST];
    fab_serving_waits w;
    fab_error err = {.code = FAB_OK};
    fab_rng rng = fab_rng_make(q->seed, 0x7365727665);
    double now = 0;
    cr_assert_eq(fab_serving_wait(q, &w, &err), FAB_OK, "%s", err.text);
    for (uint32_t i = 0; i < q->requests; i++) { /* the same arrivals */
        now -= log(((double)(fab_rng_next(&rng) >> 11) + 1) * 0x1p-53) / q->arrivals_per_s;
        of[i] = (naive_request){.arrival = now, .ready = now, .first = -1, .end = -1};
    }
    if (q->readers > 0) {
        naive_readers(q, of);
    }
    for (uint32_t i = 0; i < q->replicas; i++) {
        naive_replica(q, of, i);
    }
    const uint32_t skipped = q->requests / 5;
    const uint32_t n = q->requests - skipped;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = of[skipped + i].first - of[skipped + i].arrival;
    }
    check_percentiles(values, n, w.first_token_s, "first token");
    for (uint32_t i = 0; i < n; i++) {
        const naive_request *r = &of[skipped + i];
        values[i] = q->tokens > 1 ? (r->end - r->first) / ((double)q->tokens - 1) : 0;
    }
    check_percentiles(values, n, w.token_s, "token");
}

Test(oracle_serving, passes_taken_together_are_those_one_by_one) {
    for (uint64_t run = 0; run < DRAWS(300); run++) {
        double read_s[5] = {0};
        double pass_s[9] = {0};
        fab_rng rng = fab_rng_make(run, 99);
        for (int i = 1; i < 5; i++) {
            read_s[i] = read_s[i - 1] + 0.01 + (double)fab_rng_below(&rng, 1000000000) / 1e10; /* no ties */
        }
        for (int i = 1; i < 9; i++) {
            pass_s[i] = 0.001 + (double)i * (double)fab_rng_below(&rng, 1000000000) / 1e12;
        }
        fab_serving_queue q = {.replicas = 1 + (uint32_t)fab_rng_below(&rng, 3),
                               .readers = (uint32_t)fab_rng_below(&rng, 4),
                               .slots = 1 + (uint32_t)fab_rng_below(&rng, 8),
                               .prompts = 1 + (uint32_t)fab_rng_below(&rng, 4),
                               .tokens = 1 + fab_rng_below(&rng, 40),
                               .prompt_s = read_s,
                               .token_s = pass_s,
                               .transfer_s = (double)fab_rng_below(&rng, 100) / 1e4,
                               .seed = run + 1,
                               .requests = MOST};
        q.arrivals_per_s = fab_serving_most(&q) * (0.1 + (double)fab_rng_below(&rng, 85) / 100);
        check_queue(&q);
    }
}

/* More requests never wait less, and what cannot be served is refused. */
Test(oracle_serving, more_requests_wait_longer) {
    double read_s[3] = {0, 0.05, 0.08};
    double pass_s[5] = {0, 0.01, 0.011, 0.012, 0.013};
    fab_serving_queue q = {.replicas = 2,
                           .slots = 4,
                           .prompts = 2,
                           .tokens = 50,
                           .prompt_s = read_s,
                           .token_s = pass_s,
                           .seed = 3,
                           .requests = 20000};
    double before = 0;
    for (int i = 1; i < 10; i++) {
        fab_serving_waits w;
        q.arrivals_per_s = fab_serving_most(&q) * i / 10;
        cr_assert_eq(fab_serving_wait(&q, &w, NULL), FAB_OK);
        cr_assert(w.first_token_s[0] <= w.first_token_s[1] && w.token_s[0] <= w.token_s[1]);
        cr_assert_gt(w.mean_first_s, before);
        before = w.mean_first_s;
    }
    fab_error err = {.code = FAB_OK};
    fab_serving_waits w;
    q.arrivals_per_s = fab_serving_most(&q) * 1.01;
    cr_assert_eq(fab_serving_wait(&q, &w, &err), FAB_EINPUT);
    cr_assert_not_null(strstr(err.text, "that can be served"), "%s", err.text);
}
