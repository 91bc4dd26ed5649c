/* A ring of blocks between the threads that compute them and the one that stores them. */
#include "study_loop.h"

#include "fab/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMIT_S 0.05 /* between two commits: what the end of the process loses */

/* A block on its way. */
typedef struct slot {
    uint64_t number, n_scenarios;
    fab_outcome *outcome; /* shape [plan->block][n_variants] */
    size_t *first;        /* shape [plan->block + 1] */
    uint32_t *component;
    size_t capacity;
    bool is_ready;
    fab_status status;
    fab_error error;
} slot;

typedef struct loop {
    const fab_study_job *job;
    const fab_plan *plan;
    study_assess *assess;
    void *context;
    uint64_t *todo; /* shape [n_todo]: blocks, ascending */
    size_t n_todo;
    slot *slots; /* block i of todo is in slot i mod n_slots */
    size_t n_slots;
    pthread_mutex_t mutex;
    pthread_cond_t ready, space;
    size_t n_taken, n_stored; /* of todo */
    bool is_ending;           /* nobody takes another block */
} loop;

typedef struct worker {
    loop *loop;
    size_t index;
    pthread_t thread;
} worker;

static double now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t size_of_block(const fab_plan *plan, uint64_t block) {
    uint64_t left = plan->n_scenarios - block * plan->block;
    return left < plan->block ? left : plan->block;
}

/* --- computing ---------------------------------------------------------------------------------------------------- */

static fab_status compute(const loop *l, size_t thread, slot *s, fab_error *err) {
    s->n_scenarios = size_of_block(l->plan, s->number);
    s->first[0] = 0;
    for (uint64_t i = 0; i < s->n_scenarios; i++) {
        const uint32_t *component = NULL;
        size_t n = 0;
        FAB_PASS(l->assess(l->context, thread, s->number * l->plan->block + i, s->outcome + i * l->plan->n_variants,
                           &component, &n, err));
        FAB_PASS(FAB_GROW(s->component, s->capacity, s->first[i] + n + 1, err));
        if (n > 0) {
            memcpy(s->component + s->first[i], component, n * sizeof *component);
        }
        s->first[i + 1] = s->first[i] + n;
    }
    return FAB_OK;
}

static bool should_stop(const loop *l) {
    return l->job->stop != NULL && l->job->stop(l->job->stop_context);
}

/* The next block to compute, once there is room for it; NULL: there is none, or everything ends. Called with the mutex.
 */
static slot *loop_take(loop *l) {
    while (!l->is_ending && l->n_taken < l->n_todo && l->n_taken - l->n_stored >= l->n_slots) {
        (void)pthread_cond_wait(&l->space, &l->mutex);
    }
    l->is_ending = l->is_ending || should_stop(l);
    if (l->is_ending || l->n_taken == l->n_todo) {
        return NULL;
    }
    slot *s = &l->slots[l->n_taken % l->n_slots];
    s->number = l->todo[l->n_taken++];
    return s;
}

static void *run_worker(void *argument) {
    const worker *self = argument;
    loop *l = self->loop;
    (void)pthread_mutex_lock(&l->mutex);
    for (slot *s = loop_take(l); s != NULL; s = loop_take(l)) {
        (void)pthread_mutex_unlock(&l->mutex);
        s->status = compute(l, self->index, s, &s->error);
        (void)pthread_mutex_lock(&l->mutex);
        s->is_ready = true;
        l->is_ending = l->is_ending || s->status != FAB_OK;
        (void)pthread_cond_broadcast(&l->ready);
    }
    (void)pthread_cond_broadcast(&l->ready); /* who waits for a block that nobody takes */
    (void)pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* --- storing ------------------------------------------------------------------------------------------------------ */

/* Block i of todo, once it is computed; NULL: it will not be. Without threads it is computed here. */
static slot *await(loop *l, size_t i, size_t n_workers) {
    slot *s = &l->slots[i % l->n_slots];
    (void)pthread_mutex_lock(&l->mutex);
    if (n_workers == 0) {
        s = loop_take(l);
        if (s != NULL) {
            s->status = compute(l, 0, s, &s->error);
        }
    } else {
        while (!(i < l->n_taken && s->is_ready) && !(i >= l->n_taken && l->is_ending)) {
            (void)pthread_cond_wait(&l->ready, &l->mutex);
        }
        s = i < l->n_taken ? s : NULL;
    }
    (void)pthread_mutex_unlock(&l->mutex);
    return s;
}

static void give_space(loop *l, slot *s) {
    (void)pthread_mutex_lock(&l->mutex);
    s->is_ready = false;
    l->n_stored++;
    (void)pthread_cond_signal(&l->space);
    (void)pthread_mutex_unlock(&l->mutex);
}

/* What was put before a failure is committed: the tally counts what stays. */
static fab_status store(loop *l, fab_shard *shard, size_t n_workers, fab_study_tally *tally, fab_error *err) {
    fab_status status = FAB_OK;
    double committed_s = now_s();
    uint64_t n_put = 0;
    for (size_t i = 0; i < l->n_todo && status == FAB_OK; i++) {
        slot *s = await(l, i, n_workers);
        if (s == NULL) {
            break;
        }
        if (s->status != FAB_OK) {
            status = fab_fail(err, s->status, s->error.where, "%s", s->error.text);
            break;
        }
        const fab_block block = {s->number, s->n_scenarios, s->outcome, s->first, s->component};
        FAB_TRY(fab_shard_put(shard, &block, err));
        n_put += s->n_scenarios;
        give_space(l, s);
        if (now_s() - committed_s > COMMIT_S) {
            FAB_TRY(fab_shard_commit(shard, err));
            tally->n_run = n_put;
            committed_s = now_s();
        }
        if (l->job->progress != NULL) {
            l->job->progress(l->job->progress_context, (double)n_put, (size_t)(tally->n_share - tally->n_before));
        }
    }
    fab_status last = fab_shard_commit(shard, status == FAB_OK ? err : NULL);
    tally->n_run = last == FAB_OK ? n_put : tally->n_run;
    status = status == FAB_OK ? last : status;
done:
    return status;
}

/* --- set-up ------------------------------------------------------------------------------------------------------- */

static bool is_done(const uint64_t *bits, uint64_t block) {
    return (bits[block >> 6] >> (block & 63) & 1) != 0;
}

static fab_status find_todo(loop *l, const fab_shard *shard, fab_study_tally *tally, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t n_blocks = fab_plan_n_blocks(l->plan);
    uint64_t *bits = NULL;
    FAB_TRY(FAB_NEW(bits, (size_t)(n_blocks / 64 + 1), err));
    FAB_TRY(fab_shard_done(shard, bits, err));
    FAB_TRY(FAB_NEW(l->todo, (size_t)(n_blocks / l->job->n_shards + 1), err));
    for (uint64_t b = l->job->shard; b < n_blocks; b += l->job->n_shards) {
        uint64_t n = size_of_block(l->plan, b);
        tally->n_share += n;
        if (is_done(bits, b)) {
            tally->n_before += n;
        } else {
            l->todo[l->n_todo++] = b;
        }
    }
done:
    free(bits);
    return status;
}

/* Room for blocks that wait until a slower one before them is stored. */
static fab_status make_slots(loop *l, size_t n_threads, fab_error *err) {
    l->n_slots = n_threads > 1 ? 4 * n_threads : 1;
    l->n_slots = l->n_slots < l->n_todo ? l->n_slots : l->n_todo;
    FAB_PASS(FAB_NEW(l->slots, l->n_slots, err));
    for (size_t i = 0; i < l->n_slots; i++) {
        FAB_PASS(FAB_NEW(l->slots[i].outcome, (size_t)l->plan->block * l->plan->n_variants, err));
        FAB_PASS(FAB_NEW(l->slots[i].first, (size_t)l->plan->block + 1, err));
    }
    return FAB_OK;
}

static fab_status run_threads(loop *l, fab_shard *shard, size_t n_threads, fab_study_tally *tally, fab_error *err) {
    fab_status status = FAB_OK;
    worker *workers = NULL;
    size_t n = 0;
    FAB_TRY(FAB_NEW(workers, n_threads, err));
    for (; n_threads > 1 && n < n_threads; n++) { /* fewer threads than asked for is slower, not wrong */
        workers[n] = (worker){.loop = l, .index = n};
        if (pthread_create(&workers[n].thread, NULL, run_worker, &workers[n]) != 0) {
            break;
        }
    }
    status = store(l, shard, n, tally, err);
    (void)pthread_mutex_lock(&l->mutex);
    l->is_ending = true;
    (void)pthread_cond_broadcast(&l->space);
    (void)pthread_mutex_unlock(&l->mutex);
    for (size_t i = 0; i < n; i++) {
        (void)pthread_join(workers[i].thread, NULL);
    }
done:
    free(workers);
    return status;
}

fab_status study_loop_run(const fab_study_job *job, const fab_plan *plan, fab_shard *shard, study_assess *assess,
                          void *context, fab_study_tally *out, fab_error *err) {
    fab_status status = FAB_OK;
    loop l = {.job = job, .plan = plan, .assess = assess, .context = context};
    (void)pthread_mutex_init(&l.mutex, NULL);
    (void)pthread_cond_init(&l.ready, NULL);
    (void)pthread_cond_init(&l.space, NULL);
    *out = (fab_study_tally){.n_scenarios = plan->n_scenarios};
    FAB_TRY(find_todo(&l, shard, out, err));
    if (l.n_todo > 0) {
        size_t n_threads = job->n_threads < l.n_todo ? job->n_threads : l.n_todo;
        FAB_TRY(make_slots(&l, n_threads, err));
        FAB_TRY(run_threads(&l, shard, n_threads, out, err));
    }
done:
    for (size_t i = 0; l.slots != NULL && i < l.n_slots; i++) {
        FAB_FREE_ALL(l.slots[i].outcome, l.slots[i].first, l.slots[i].component);
    }
    FAB_FREE_ALL(l.slots, l.todo);
    (void)pthread_cond_destroy(&l.space);
    (void)pthread_cond_destroy(&l.ready);
    (void)pthread_mutex_destroy(&l.mutex);
    return status;
}
