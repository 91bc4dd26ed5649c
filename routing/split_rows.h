/**
 * @file split_rows.h
 * Rows of 64 lanes, and the runs that work on them: what the passes of split_pass.c and split_fold.c share. Inlined
 * into every version of a pass, see fab/multiversion.h.
 */
#ifndef FAB_SPLIT_ROWS_H
#define FAB_SPLIT_ROWS_H

#include "split_pass.h"
#include "fab/multiversion.h"

#include <string.h>

#define FAB_ALL_LANES (~UINT64_C(0))

/* --- rows --------------------------------------------------------------------------------------------------------- */

FAB_INLINE double *scratch(const fab_pass *p, uint32_t row) {
    return p->scratch + (size_t)row * FAB_ROW;
}
enum { SUM, NEXT, ZERO, HEADS };

FAB_INLINE double *held_by(const fab_pass *p, uint32_t v) {
    return p->held + (size_t)v * FAB_ROW;
}
FAB_INLINE double *part_of(const fab_pass *p, uint32_t v) {
    return p->part + (size_t)v * FAB_ROW;
}

/* Over 64 lanes; the order is part of the result. */
FAB_INLINE double sum_up(const double *restrict lane) {
    double s[8];
    memcpy(s, lane, sizeof s);
    for (int k = 8; k < FAB_LANES; k += 8) {
        for (int j = 0; j < 8; j++) {
            s[j] += lane[k + j];
        }
    }
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

FAB_INLINE void copy_lanes(double *restrict to, const double *restrict from, uint64_t lanes) {
    if (lanes == FAB_ALL_LANES) {
        memcpy(to, from, FAB_LANES * sizeof *to);
    } else if (fab_few(lanes)) {
        FAB_EACH_LANE(k, lanes) {
            to[k] = from[k];
        }
    } else {
        for (int k = 0; k < FAB_LANES; k++) {
            to[k] = (lanes >> k & 1) != 0 ? from[k] : to[k];
        }
    }
}

/* The lanes of a row, 0 elsewhere. */
FAB_INLINE const double *only(double *restrict room, const double *restrict row, uint64_t lanes) {
    if (lanes == FAB_ALL_LANES) {
        return row;
    }
    for (int k = 0; k < FAB_LANES; k++) {
        room[k] = (lanes >> k & 1) != 0 ? row[k] : 0;
    }
    return room;
}

/* Adds `lanes` of `from`, which is 0 elsewhere unless they are few, to what is held. */
FAB_INLINE void hold(double *restrict to, uint64_t *active, const double *restrict from, uint64_t lanes) {
    uint64_t fresh = lanes & ~*active;
    if (fab_few(lanes)) {
        FAB_EACH_LANE(k, lanes) {
            to[k] = ((fresh >> k & 1) != 0 ? 0 : to[k]) + from[k];
        }
    } else if (*active == 0) {
        memcpy(to, from, FAB_LANES * sizeof *to);
    } else {
        FAB_EACH_LANE(k, fresh) {
            to[k] = 0;
        }
        for (int k = 0; k < FAB_LANES; k++) {
            to[k] += from[k];
        }
    }
    *active |= lanes;
}

/* out = sum of factor * row over n rows, n a multiple of FAB_STEP. */
FAB_INLINE void combine(double *restrict out, const double *const *row, const double *factor, uint32_t n) {
    memset(out, 0, FAB_LANES * sizeof *out);
    for (uint32_t i = 0; i < n; i += FAB_STEP) {
        const double *a = row[i];
        const double *b = row[i + 1];
        const double *c = row[i + 2];
        const double *d = row[i + 3];
        double fa = factor[i];
        double fb = factor[i + 1];
        double fc = factor[i + 2];
        double fd = factor[i + 3];
        for (int k = 0; k < FAB_LANES; k++) {
            out[k] = (((out[k] + fa * a[k]) + fb * b[k]) + fc * c[k]) + fd * d[k];
        }
    }
}

FAB_INLINE uint32_t filled_up(uint32_t n) {
    return (n + FAB_STEP - 1) / FAB_STEP * FAB_STEP;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* A run and its next hops: those of its first entry, whose members stand for all. */
typedef struct hops {
    const fab_dag_entry *entry, *end;
    uint32_t member; /* of the first entry */
    uint32_t n;
    uint32_t level;
} hops;

FAB_INLINE hops hops_of(const fab_dag *dag, uint32_t run) {
    hops h = {.entry = dag->entry + dag->run[run].first,
              .end = dag->entry + dag->run[run + 1].first,
              .level = dag->run[run].level};
    h.n = fab_dag_members(dag, h.entry->group, &h.member);
    return h;
}

FAB_INLINE uint32_t first_member(const fab_dag *dag, const fab_dag_entry *entry) {
    return dag->next_hops->group_link[entry->group];
}

FAB_INLINE uint64_t lanes_of(const fab_pass *p, const hops *h) {
    uint64_t lanes = 0;
    for (const fab_dag_entry *e = h->entry; e < h->end; e++) {
        lanes |= e->lanes & p->active[e->v];
    }
    return lanes;
}

/* m(i) without the weights, a row per next hop; the list is filled up with zeros. */
FAB_INLINE void find_rows(const fab_pass *p, const hops *h) {
    const fab_dag *dag = p->dag;
    for (uint32_t i = 0; i < h->n; i++) {
        const double *part = part_of(p, dag->head[h->member + i]);
        p->row[i] = part;
        if (p->split->rule == FAB_SPLIT_CAPACITY) {
            double *room = scratch(p, HEADS + i);
            double capacity = dag->capacity[h->member + i];
            for (int k = 0; k < FAB_LANES; k++) {
                room[k] = part[k] < capacity ? part[k] : capacity;
            }
            p->row[i] = room;
        }
    }
    for (uint32_t i = h->n; i < filled_up(h->n); i++) {
        p->row[i] = scratch(p, ZERO);
    }
}

/* m(i) of one lane. */
FAB_INLINE double measure(const fab_pass *p, uint32_t member, uint64_t k) {
    double part = part_of(p, p->dag->head[member])[k];
    if (p->split->rule == FAB_SPLIT_CAPACITY) {
        return part < p->dag->capacity[member] ? part : p->dag->capacity[member];
    }
    return p->weight[member] * part;
}

#endif
