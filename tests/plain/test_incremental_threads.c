/* Scratches of several threads over one base of rates: the same bytes as of one, in any order of the changes. A plain
 * program, because Criterion does not run under ThreadSanitizer. */
#include "fab/incremental.h"
#include "sharing_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define N_THREADS 4
#define N_CHANGES 64

typedef struct outcome {
    uint32_t n_changed;
    double sum, slowest, first;
} outcome;

typedef struct work {
    const fab_rates_base *base;
    const fab_sharing *sharing;
    uint32_t begin; /* the change that comes first */
    outcome out[N_CHANGES];
    bool failed;
} work;

/* Change i: a link keeps a quarter of its capacity, and two flows go where their neighbours go. */
static fab_status apply(fab_incremental *r, const fab_sharing *s, uint32_t i, outcome *out, fab_error *err) {
    uint32_t link[64];
    size_t first[3] = {0};
    uint32_t flow[2] = {7 * i % (s->n_flows / 2), s->n_flows / 2 + 11 * i % (s->n_flows / 2)};
    uint32_t narrow = 13 * i % s->n_links;
    double capacity = 0.25 * s->capacity[narrow];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t like = (flow[k] + 1) % s->n_flows;
        uint64_t n = s->first[like + 1] - s->first[like];
        memcpy(link + first[k], s->link + s->first[like], n * sizeof *link);
        first[k + 1] = first[k] + n;
    }
    const fab_rate_changes changes = {.n_flows = 2,
                                      .flow = flow,
                                      .first = first,
                                      .link = link,
                                      .n_capacities = 1,
                                      .wider_or_narrower = &narrow,
                                      .capacity = &capacity};
    fab_incremental_rates x;
    fab_status status = fab_incremental_apply(r, &changes, &x, err);
    if (status == FAB_OK) {
        *out = (outcome){x.n_changed, x.sum_bps, x.slowest_bps, x.n_changed > 0 ? x.rate[0] : 0};
    }
    return status;
}

static void *run(void *argument) {
    work *w = argument;
    fab_incremental *r = NULL;
    fab_error err = {0};
    w->failed = fab_incremental_new(w->base, &r, &err) != FAB_OK;
    for (uint32_t k = 0; k < N_CHANGES && !w->failed; k++) {
        uint32_t i = (w->begin + k) % N_CHANGES;
        w->failed = apply(r, w->sharing, i, &w->out[i], &err) != FAB_OK;
    }
    fab_incremental_free(r);
    return NULL;
}

static bool is_same(const outcome *a, const outcome *b) {
    return a->n_changed == b->n_changed && a->sum == b->sum && a->slowest == b->slowest && a->first == b->first;
}

int main(void) {
    random_sharing s;
    uint64_t seed = 20021;
    fab_rates_base *base = NULL;
    work w[N_THREADS] = {{0}};
    pthread_t thread[N_THREADS];
    int failures = 0;
    uint32_t n_changed = 0;
    sharing_make(seed, 400, 300, &s);
    while (s.sharing.n_flows < 200 || s.sharing.share != NULL || s.sharing.limit != NULL) {
        sharing_discard(&s);
        sharing_make(++seed, 400, 300, &s);
    }
    if (fab_rates_base_new(&s.sharing, &base, NULL) != FAB_OK) {
        return 1;
    }
    for (uint32_t t = 0; t < N_THREADS; t++) {
        w[t] = (work){.base = base, .sharing = &s.sharing, .begin = t * N_CHANGES / N_THREADS};
        failures += pthread_create(&thread[t], NULL, run, &w[t]) != 0;
    }
    for (uint32_t t = 0; t < N_THREADS && failures == 0; t++) {
        failures += pthread_join(thread[t], NULL) != 0 || w[t].failed;
    }
    for (uint32_t i = 0; i < N_CHANGES; i++) {
        n_changed += w[0].out[i].n_changed;
        for (uint32_t t = 1; t < N_THREADS; t++) {
            failures += !is_same(&w[0].out[i], &w[t].out[i]);
        }
    }
    failures += n_changed < N_CHANGES;
    fab_rates_base_free(base);
    sharing_discard(&s);
    (void)printf("%s\n", failures == 0 ? "same rates for 4 threads" : "FAILED");
    return failures == 0 ? 0 : 1;
}
