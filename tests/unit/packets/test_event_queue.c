/* Events come in the order of their time, of equal times in the order of pushing, however they lie in their days. */
#include "../../../src/packets/event_queue.h"
#include "fab/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define N 20000

static int by_time_and_push(const void *a, const void *b) {
    const fab_event *x = a;
    const fab_event *y = b;
    return x->at_s != y->at_s ? (x->at_s < y->at_s ? -1 : 1) : (x->what > y->what) - (x->what < y->what);
}

/* After now_s: spread over days, beyond sight, at few instants, or ever sooner within a sliver of a day. */
static double draw_s(fab_rng *rng, uint64_t seed, double now_s, uint32_t n_pushed) {
    double part = (double)fab_rng_below(rng, 1000) / 1000;
    switch (seed % 4) {
    case 0: return now_s + 20 * part;
    case 1: return now_s + (n_pushed % 50 == 0 ? 5000 : 3) * part;
    case 2: return now_s + (double)fab_rng_below(rng, 4);
    default: return now_s + 4 + 1e-7 * part - 1e-13 * n_pushed;
    }
}

static void push(fab_event_queue *q, fab_event *pushed, uint32_t n, double at_s) {
    fab_error err = {0};
    pushed[n] = (fab_event){at_s, n % 7, n};
    cr_assert_eq(fab_event_push(q, &pushed[n], &err), FAB_OK, "%s", err.text);
}

Test(event_queue, order) {
    static fab_event pushed[N];
    static fab_event taken[N];
    for (uint64_t seed = 0; seed < 24; seed++) {
        fab_event_queue q;
        fab_error err = {0};
        fab_rng rng = fab_rng_make(seed, 19);
        uint32_t n = 0;
        uint32_t n_taken = 0;
        cr_assert_eq(fab_event_queue_init(&q, sizeof(fab_event), seed % 3 == 0 ? 0.01 : 2, 16, &err), FAB_OK);
        for (; n < N / 4; n++) {
            push(&q, pushed, n, draw_s(&rng, seed, 0, n));
        }
        do { /* what is under way begets others */
            for (; q.next < q.n_now; n_taken++) {
                memcpy(&taken[n_taken], q.now + q.size * q.next++, sizeof *taken);
                for (int i = 0; i < 2 && n < N; i++, n++) {
                    push(&q, pushed, n, draw_s(&rng, seed, taken[n_taken].at_s, n));
                }
            }
            cr_assert_eq(fab_event_next_day(&q, &err), FAB_OK);
        } while (q.n_now > 0);
        fab_event_queue_release(&q);
        cr_assert_eq(n_taken, N);
        qsort(pushed, N, sizeof *pushed, by_time_and_push);
        for (uint32_t i = 0; i < N; i++) {
            cr_assert(taken[i].what == pushed[i].what && taken[i].link == pushed[i].link,
                      "seed %d: event %u is %u, not %u", (int)seed, i, taken[i].what, pushed[i].what);
        }
    }
}
