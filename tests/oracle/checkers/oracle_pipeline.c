#include "oracle_pipeline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct operation {
    bool backward;
    int chunk, microbatch;
} operation;

typedef struct state {
    const oracle_pipeline *p;
    double *done; /* [2][stages][chunks][microbatches], negative: not yet */
} state;

static double *cell(const state *s, bool backward, int stage, int chunk, int microbatch) {
    const oracle_pipeline *p = s->p;
    size_t i = ((size_t)backward * (size_t)p->stages + (size_t)stage) * (size_t)p->chunks + (size_t)chunk;
    return &s->done[i * (size_t)p->microbatches + (size_t)microbatch];
}

/* The k-th forward (or backward) operation of any stage: rounds of as many microbatches as stages, chunk by chunk. */
static operation nth(const oracle_pipeline *p, bool backward, int k) {
    if (p->chunks == 1) {
        return (operation){backward, 0, k};
    }
    int round = p->stages * p->chunks;
    int chunk = k % round / p->stages;
    return (operation){backward, backward ? p->chunks - 1 - chunk : chunk, k / round * p->stages + k % p->stages};
}

/* Operation i of a stage: some forward first, then one forward and one backward in turn, then the backward left. */
static operation at(const oracle_pipeline *p, int stage, int i) {
    int total = p->chunks * p->microbatches;
    int warm = p->chunks == 1 ? p->stages - stage - 1 : 2 * (p->stages - stage - 1) + (p->chunks - 1) * p->stages;
    warm = warm > total || (p->chunks > 1 && p->microbatches == p->stages) ? total : warm;
    if (i < warm) {
        return nth(p, false, i);
    }
    int j = i - warm;
    if (j < 2 * (total - warm)) {
        return j % 2 == 0 ? nth(p, false, warm + j / 2) : nth(p, true, j / 2);
    }
    return nth(p, true, total - warm + j - 2 * (total - warm));
}

/* When its input is there; negative: not yet. */
static double ready(const state *s, int stage, operation o) {
    const oracle_pipeline *p = s->p;
    if (!o.backward) {
        if (stage > 0) {
            return *cell(s, false, stage - 1, o.chunk, o.microbatch);
        }
        return o.chunk > 0 ? *cell(s, false, p->stages - 1, o.chunk - 1, o.microbatch) : 0;
    }
    if (stage + 1 < p->stages) {
        return *cell(s, true, stage + 1, o.chunk, o.microbatch);
    }
    return o.chunk + 1 < p->chunks ? *cell(s, true, 0, o.chunk + 1, o.microbatch)
                                   : *cell(s, false, stage, o.chunk, o.microbatch);
}

/* Carries out what stage `stage` can do now. Returns whether it was anything. */
static bool advance(const state *s, int stage, int *next, double *free_at) {
    const oracle_pipeline *p = s->p;
    bool moved = false;
    while (*next < 2 * p->chunks * p->microbatches) {
        operation o = at(p, stage, *next);
        double from = ready(s, stage, o);
        if (from < 0) {
            break;
        }
        from = from > *free_at ? from : *free_at;
        *free_at = from + (o.backward ? p->backward_s[stage] : p->forward_s[stage]);
        *cell(s, o.backward, stage, o.chunk, o.microbatch) = *free_at;
        ++*next;
        moved = true;
    }
    return moved;
}

double oracle_pipeline_s(const oracle_pipeline *p) {
    int per_stage = 2 * p->chunks * p->microbatches;
    int next[ORACLE_MAX_STAGES] = {0};
    double free_at[ORACLE_MAX_STAGES] = {0};
    size_t cells = (size_t)per_stage * (size_t)p->stages;
    state s = {p, malloc(cells * sizeof(double))};
    if (s.done == NULL || p->stages > ORACLE_MAX_STAGES) {
        free(s.done);
        return -1;
    }
    for (size_t i = 0; i < cells; i++) {
        s.done[i] = -1;
    }
    bool moved = true;
    while (moved) {
        moved = false;
        for (int stage = 0; stage < p->stages; stage++) {
            moved = advance(&s, stage, &next[stage], &free_at[stage]) || moved;
        }
    }
    double end = 0;
    for (int stage = 0; stage < p->stages; stage++) {
        end = end < 0 || next[stage] < per_stage ? -1 : fmax(end, free_at[stage]);
    }
    free(s.done);
    return end;
}
