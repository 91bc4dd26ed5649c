#include "oracle_split.h"

#include <math.h>
#include <stdlib.h>

struct oracle_paths {
    const fab_fabric *f;
    fab_node_id leaf;
    uint32_t base, n;
    int *distance;
    uint32_t *n_next;   /* [switch] */
    fab_link_id **next; /* [switch]: links to switches one nearer */
    double *measure;    /* [switch]: W or Z, NAN until asked for */
};

static int is_alive(const fab_fabric *f, const uint64_t *dead, fab_link_id l) {
    return f->classes[f->cable_class[l / 2]].kind == FAB_LINK_FABRIC &&
           (dead == NULL || (dead[l / 64] >> (l % 64) & 1) == 0);
}

oracle_paths *oracle_paths_new(const fab_fabric *f, const uint64_t *dead, fab_node_id leaf) {
    oracle_paths *p = calloc(1, sizeof *p);
    p->f = f;
    p->leaf = leaf;
    p->base = f->first[FAB_NODE_SWITCH];
    p->n = f->n_nodes - p->base;
    p->distance = malloc(p->n * sizeof *p->distance);
    p->n_next = calloc(p->n, sizeof *p->n_next);
    p->next = calloc(p->n, sizeof *p->next);
    p->measure = malloc(p->n * sizeof *p->measure);
    for (uint32_t v = 0; v < p->n; v++) {
        p->distance[v] = v + p->base == leaf ? 0 : -1;
        p->measure[v] = NAN;
    }
    for (int changed = 1, d = 0; changed; d++) {
        changed = 0;
        for (uint32_t l = 0; l < f->n_links; l++) {
            if (is_alive(f, dead, l) && p->distance[f->end[l ^ 1] - p->base] == d &&
                p->distance[f->end[l] - p->base] < 0) {
                p->distance[f->end[l] - p->base] = d + 1;
                changed = 1;
            }
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (!is_alive(f, dead, l)) {
            continue;
        }
        uint32_t v = f->end[l] - p->base;
        if (p->distance[v] > 0 && p->distance[f->end[l ^ 1] - p->base] == p->distance[v] - 1) {
            p->next[v] = realloc(p->next[v], (p->n_next[v] + 1) * sizeof *p->next[v]);
            p->next[v][p->n_next[v]++] = l;
        }
    }
    return p;
}

void oracle_paths_free(oracle_paths *p) {
    for (uint32_t v = 0; v < p->n; v++) {
        free(p->next[v]);
    }
    free(p->next);
    free(p->n_next);
    free(p->distance);
    free(p->measure);
    free(p);
}

int oracle_paths_length(const oracle_paths *p, fab_node_id from) {
    return p->distance[from - p->base];
}

/* W or Z of a switch: of all its next hops. */
static double measure_of(oracle_paths *p, const fab_split *split, uint32_t v);

static double capacity_of(const oracle_paths *p, fab_link_id l) {
    return p->f->classes[p->f->cable_class[l / 2]].capacity_bps;
}

/* Cables to the same switch take no more together than is behind it. */
static double measure_over(oracle_paths *p, const fab_split *split, fab_link_id l) {
    uint32_t tail = p->f->end[l] - p->base;
    uint32_t head = p->f->end[l ^ 1] - p->base;
    double beyond = measure_of(p, split, head);
    if (split->rule == FAB_SPLIT_WEIGHT) {
        return split->weight[l] * beyond;
    }
    double trunk = 0;
    for (uint32_t i = 0; i < p->n_next[tail]; i++) {
        fab_link_id other = p->next[tail][i];
        trunk += p->f->end[other ^ 1] == p->f->end[l ^ 1] ? capacity_of(p, other) : 0;
    }
    return (beyond < trunk ? beyond : trunk) * capacity_of(p, l) / trunk;
}

static double measure_of(oracle_paths *p, const fab_split *split, uint32_t v) {
    if (isnan(p->measure[v])) {
        if (v + p->base == p->leaf) {
            p->measure[v] = split->rule == FAB_SPLIT_WEIGHT ? 1 : INFINITY;
        } else {
            double sum = 0;
            for (uint32_t i = 0; i < p->n_next[v]; i++) {
                sum += measure_over(p, split, p->next[v][i]);
            }
            p->measure[v] = sum;
        }
    }
    return p->measure[v];
}

static double share_of(oracle_paths *p, const fab_split *split, const double *share, uint32_t v, fab_link_id l) {
    switch (split->rule) {
    case FAB_SPLIT_EQUAL: return 1.0 / p->n_next[v];
    case FAB_SPLIT_SHARE: return share[l];
    default: return measure_over(p, split, l) / measure_of(p, split, v);
    }
}

void oracle_split_load(oracle_paths *p, const fab_split *split, const double *share, fab_node_id from, double amount,
                       double *load) {
    uint32_t v = from - p->base;
    for (uint32_t i = 0; i < p->n_next[v]; i++) {
        fab_link_id l = p->next[v][i];
        double part = amount * share_of(p, split, share, v, l);
        if (part > 0) {
            load[l] += part;
            oracle_split_load(p, split, share, p->f->end[l ^ 1], part, load);
        }
    }
}

double oracle_split_fold(oracle_paths *p, const fab_split *split, const double *share, fab_fold fold, const double *x,
                         fab_node_id from) {
    uint32_t v = from - p->base;
    double out = fold == FAB_FOLD_SHORTEST && p->n_next[v] > 0 ? INFINITY : 0;
    for (uint32_t i = 0; i < p->n_next[v]; i++) {
        fab_link_id l = p->next[v][i];
        double part = share_of(p, split, share, v, l);
        if (part <= 0) {
            continue;
        }
        double beyond = oracle_split_fold(p, split, share, fold, x, p->f->end[l ^ 1]);
        switch (fold) {
        case FAB_FOLD_MAX: out = fmax(out, fmax(x[l], beyond)); break;
        case FAB_FOLD_LONGEST: out = fmax(out, x[l] + beyond); break;
        case FAB_FOLD_SHORTEST: out = fmin(out, x[l] + beyond); break;
        case FAB_FOLD_EXPECTED: out += part * (x[l] + beyond); break;
        }
    }
    return out;
}
