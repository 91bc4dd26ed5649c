/* Threads compute blocks; who has one stores it, one after the other. */
#include "study_loop.h"

#include "fab/parallel.h"

#include <pthread.h>
#include <time.h>

#define COMMIT_S     0.05 /* between two commits, or more: what the end of the process loses */
#define COMMIT_TIMES 10   /* and so many times what the last one took: a slow disk costs no more than a tenth */

/* The block at hand of a thread. */
typedef struct scratch {
    fab_outcome *outcome; /* shape [plan->block][n_variants] */
    size_t *first;        /* shape [plan->block + 1] */
    uint32_t *component;
    size_t capacity;
} scratch;

typedef struct loop {
    const fab_study_job *job;
    const fab_plan *plan;
    study_assess *assess;
    void *context;
    uint64_t *todo; /* shape [n_todo]: blocks, ascending */
    size_t n_todo;
    scratch *scratch; /* shape [n_threads] */
    pthread_mutex_t mutex;
    /* under the mutex */
    fab_shard *shard;
    fab_study_tally *tally;
    uint64_t n_put; /* scenarios */
    double committed_s, pause_s;
    bool is_ending; /* no block is begun */
    bool is_broken; /* the shard can only be closed */
} loop;

static double now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static fab_status compute(const loop *l, size_t thread, uint64_t number, fab_block *out, fab_error *err) {
    scratch *s = &l->scratch[thread];
    uint64_t n_scenarios = fab_plan_block_size(l->plan, number);
    s->first[0] = 0;
    for (uint64_t i = 0; i < n_scenarios; i++) {
        const uint32_t *component = NULL;
        size_t n = 0;
        FAB_PASS(l->assess(l->context, thread, number * l->plan->block + i, s->outcome + i * l->plan->n_variants,
                           &component, &n, err));
        FAB_PASS(FAB_GROW(s->component, s->capacity, s->first[i] + n + 1, err));
        FAB_COPY(s->component + s->first[i], component, n);
        s->first[i + 1] = s->first[i] + n;
    }
    *out = (fab_block){number, n_scenarios, s->outcome, s->first, s->component};
    return FAB_OK;
}

static fab_status commit(loop *l, fab_error *err) {
    double begin_s = now_s();
    fab_status status = fab_shard_commit(l->shard, err);
    l->is_broken = status != FAB_OK;
    l->tally->n_run = l->is_broken ? l->tally->n_run : l->n_put;
    l->committed_s = now_s();
    l->pause_s = fmax(COMMIT_S, COMMIT_TIMES * (l->committed_s - begin_s));
    return status;
}

/* Under the mutex. */
static fab_status store(loop *l, const fab_block *block, fab_error *err) {
    if (l->is_broken) {
        return FAB_OK; /* whoever broke it says so */
    }
    fab_status status = fab_shard_put(l->shard, block, err);
    l->is_broken = status != FAB_OK;
    FAB_PASS(status);
    l->n_put += block->n_scenarios;
    FAB_PASS(now_s() - l->committed_s > l->pause_s ? commit(l, err) : FAB_OK);
    if (l->job->progress != NULL) {
        l->job->progress(l->job->progress_context, (double)l->n_put, (size_t)(l->tally->n_share - l->tally->n_before));
    }
    return FAB_OK;
}

/* Whether the work goes on. */
static bool goes_on(loop *l) {
    (void)pthread_mutex_lock(&l->mutex);
    l->is_ending = l->is_ending || (l->job->stop != NULL && l->job->stop(l->job->stop_context));
    bool on = !l->is_ending;
    (void)pthread_mutex_unlock(&l->mutex);
    return on;
}

static fab_status run_block(void *context, size_t item, size_t worker, fab_error *err) {
    loop *l = context;
    fab_block block;
    if (!goes_on(l)) {
        return FAB_OK;
    }
    FAB_PASS(compute(l, worker, l->todo[item], &block, err));
    (void)pthread_mutex_lock(&l->mutex);
    fab_status status = store(l, &block, err);
    (void)pthread_mutex_unlock(&l->mutex);
    return status;
}

static fab_status find_todo(loop *l, fab_error *err) {
    uint64_t n_blocks = fab_plan_n_blocks(l->plan);
    FAB_OWNED_NEW(uint64_t, bits, (size_t)(n_blocks / 64 + 1), err);
    FAB_PASS(fab_shard_done(l->shard, bits, err));
    FAB_PASS(FAB_NEW(l->todo, (size_t)(n_blocks / l->job->n_shards + 1), err));
    for (uint64_t b = l->job->shard; b < n_blocks; b += l->job->n_shards) {
        uint64_t n = fab_plan_block_size(l->plan, b);
        l->tally->n_share += n;
        if ((bits[b >> 6] >> (b & 63) & 1) != 0) {
            l->tally->n_before += n;
        } else {
            l->todo[l->n_todo++] = b;
        }
    }
    return FAB_OK;
}

fab_status study_loop_run(const fab_study_job *job, const fab_plan *plan, fab_shard *shard, study_assess *assess,
                          void *context, fab_study_tally *out, fab_error *err) {
    fab_status status = FAB_OK;
    loop l = {.job = job, .plan = plan, .assess = assess, .context = context, .shard = shard, .tally = out};
    (void)pthread_mutex_init(&l.mutex, NULL);
    *out = (fab_study_tally){.n_scenarios = plan->n_scenarios};
    FAB_TRY(find_todo(&l, err));
    FAB_TRY(FAB_NEW(l.scratch, job->n_threads, err));
    for (size_t i = 0; i < job->n_threads; i++) {
        FAB_TRY(FAB_NEW(l.scratch[i].outcome, (size_t)plan->block * plan->n_variants, err));
        FAB_TRY(FAB_NEW(l.scratch[i].first, (size_t)plan->block + 1, err));
    }
    l.committed_s = now_s();
    l.pause_s = COMMIT_S;
    status = fab_parallel_for(l.n_todo, job->n_threads, run_block, &l, err);
    if (!l.is_broken) { /* what was put before a failure stays */
        fab_status last = commit(&l, status == FAB_OK ? err : NULL);
        status = status == FAB_OK ? last : status;
    }
done:
    for (size_t i = 0; l.scratch != NULL && i < job->n_threads; i++) {
        FAB_FREE_ALL(l.scratch[i].outcome, l.scratch[i].first, l.scratch[i].component);
    }
    FAB_FREE_ALL(l.scratch, l.todo);
    (void)pthread_mutex_destroy(&l.mutex);
    return status;
}
