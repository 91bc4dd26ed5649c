/**
 * Rows of 64 leaves, and the runs that work on them: what the passes of split_pass.c and split_fold.c share. Inlined
 * into every version of a pass, see fab/multiversion.h.
 */
#pragma once

#include "split_pass.h"
#include "fab/multiversion.h"

#define FAB_ALL_LEAVES (~UINT64_C(0))

/* --- rows --------------------------------------------------------------------------------------------------------- */

FAB_INLINE double *scratch(const fab_pass *p, uint32_t row) {
    return p->scratch + (size_t)row * FAB_ROW;
}
enum { SUM, NEXT, ZERO, LOW, HIGH, HEADS };

FAB_INLINE double *held_by(const fab_pass *p, uint32_t v) {
    return p->held + (size_t)v * FAB_ROW;
}
FAB_INLINE double *part_of(const fab_pass *p, uint32_t v) {
    return p->part + (size_t)v * FAB_ROW;
}
FAB_INLINE double *scale_of(const fab_pass *p, uint32_t level) {
    return p->scale + (size_t)level * FAB_ROW;
}

/* The order is part of the result. */
FAB_INLINE double sum_eight(const double *s) {
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

/* Over 64 leaves. */
FAB_INLINE double sum_up(const double *restrict leaf) {
    double s[8];
    memcpy(s, leaf, sizeof s);
    for (int k = 8; k < FAB_BLOCK_LEAVES; k += 8) {
        for (int j = 0; j < 8; j++) {
            s[j] += leaf[k + j];
        }
    }
    return sum_eight(s);
}

FAB_INLINE void copy_leaves(double *restrict to, const double *restrict from, uint64_t leaves) {
    if (leaves == FAB_ALL_LEAVES) {
        memcpy(to, from, FAB_BLOCK_LEAVES * sizeof *to);
    } else if (fab_few(leaves)) {
        FAB_EACH_LEAF(k, leaves) {
            to[k] = from[k];
        }
    } else {
        for (uint64_t k = 0; k < FAB_BLOCK_LEAVES; k++) {
            double kept = to[k];
            double copied = from[k];
            to[k] = (leaves >> k & 1) != 0 ? copied : kept;
        }
    }
}

FAB_INLINE void clear_others(double *restrict row, uint64_t leaves) {
    for (uint64_t k = 0; k < FAB_BLOCK_LEAVES; k++) {
        row[k] = (leaves >> k & 1) != 0 ? row[k] : 0;
    }
}

/* The leaves of a row, 0 elsewhere. */
FAB_INLINE const double *only(double *restrict out, const double *restrict row, uint64_t leaves) {
    if (leaves == FAB_ALL_LEAVES) {
        return row;
    }
    for (uint64_t k = 0; k < FAB_BLOCK_LEAVES; k++) {
        out[k] = (leaves >> k & 1) != 0 ? row[k] : 0;
    }
    return out;
}

/* Of all leaves: with a condition the compiler would divide one by one. */
FAB_INLINE void divide(double *restrict out, const double *restrict a, const double *restrict b) {
    for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
        out[k] = a[k] / b[k];
    }
}

/* Adds `leaves` of `from`, which is 0 elsewhere unless they are few, to what is held. */
FAB_INLINE void hold(double *restrict to, uint64_t *active, const double *restrict from, uint64_t leaves) {
    uint64_t fresh = leaves & ~*active;
    if (fab_few(leaves)) {
        FAB_EACH_LEAF(k, leaves) {
            to[k] = ((fresh >> k & 1) != 0 ? 0 : to[k]) + from[k];
        }
    } else if (*active == 0) {
        memcpy(to, from, FAB_BLOCK_LEAVES * sizeof *to);
    } else {
        FAB_EACH_LEAF(k, fresh) {
            to[k] = 0;
        }
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            to[k] += from[k];
        }
    }
    *active |= leaves;
}

/* out = sum of factor * row over n rows, n a multiple of FAB_STEP. */
FAB_INLINE void combine(double *restrict out, const double *const *row, const double *factor, uint32_t n) {
    memset(out, 0, FAB_BLOCK_LEAVES * sizeof *out);
    for (uint32_t i = 0; i < n; i += FAB_STEP) {
        const double *a = row[i];
        const double *b = row[i + 1];
        const double *c = row[i + 2];
        const double *d = row[i + 3];
        double fa = factor[i];
        double fb = factor[i + 1];
        double fc = factor[i + 2];
        double fd = factor[i + 3];
        for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
            out[k] = (((out[k] + fa * a[k]) + fb * b[k]) + fc * c[k]) + fd * d[k];
        }
    }
}

FAB_INLINE uint32_t filled_up(uint32_t n) {
    return (n + FAB_STEP - 1) / FAB_STEP * FAB_STEP;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* A run and its next hops. */
typedef struct hops {
    const fab_dag_entry *entry, *end;
    const uint32_t *head;
    const uint16_t *rank;
    const double *capacity, *portion;
    uint32_t n;
    uint32_t level;
    uint32_t n_kinds; /* 1 where all next hops are of one class of links: the first says it all; else n */
} hops;

FAB_INLINE hops hops_of(const fab_dag *dag, uint32_t run) {
    uint32_t first = dag->list_first[dag->run[run].list];
    uint32_t n = dag->list_first[dag->run[run].list + 1] - first;
    return (hops){.entry = dag->entry + dag->run[run].first,
                  .end = dag->entry + dag->run[run + 1].first,
                  .head = dag->head + first,
                  .rank = dag->rank + first,
                  .capacity = dag->capacity,
                  .portion = dag->portion,
                  .n = n,
                  .level = dag->run[run].level,
                  .n_kinds = dag->alike[dag->run[run].list] != 0 ? 1 : n};
}

FAB_INLINE uint64_t leaves_of(const fab_pass *p, const hops *h) {
    uint64_t leaves = 0;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        leaves |= e->leaves & p->active[e->v];
    }
    return leaves;
}

/* m(i) without the weights, a row per next hop; the list is filled up with zeros. */
FAB_INLINE void find_rows(const fab_pass *p, const hops *h) {
    for (uint32_t i = 0; i < h->n; i++) {
        const double *part = part_of(p, h->head[i]);
        p->row[i] = part;
        if (p->split->rule == FAB_SPLIT_CAPACITY) {
            double *out = scratch(p, HEADS + i);
            double capacity = h->capacity[h->rank[i]];
            double portion = h->portion[h->rank[i]];
            for (int k = 0; k < FAB_BLOCK_LEAVES; k++) {
                double through = part[k] * portion;
                out[k] = through < capacity ? through : capacity;
            }
            p->row[i] = out;
        }
    }
    for (uint32_t i = h->n; i < filled_up(h->n); i++) {
        p->row[i] = scratch(p, ZERO);
    }
}

/* m(i) of one leaf; `next`: those of an entry. */
FAB_INLINE double measure(const fab_pass *p, const hops *h, const fab_next_hop_list *next, uint32_t i, uint64_t k) {
    double part = part_of(p, h->head[i])[k];
    if (p->split->rule == FAB_SPLIT_CAPACITY) {
        double through = part * h->portion[h->rank[i]];
        return through < h->capacity[h->rank[i]] ? through : h->capacity[h->rank[i]];
    }
    return p->weight[fab_next_hop(next, i)] * part;
}
