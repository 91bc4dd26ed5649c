#include "oracle_bound.h"
#include "fab/solve.h"

#include <math.h>
#include <stdlib.h>

#define LONGEST 64

static int is_alive(const fab_fabric *f, const uint64_t *dead, fab_link_id l) {
    return f->classes[f->cable_class[l / 2]].kind == FAB_LINK_FABRIC &&
           (dead == NULL || (dead[l / 64] >> (l % 64) & 1) == 0);
}

/* Links to `dst` and the least sum of lengths over so few, of every node: relaxed until nothing changes. */
static void relax(const fab_fabric *f, const uint64_t *dead, fab_node_id dst, const double *length, int *hops,
                  double *sum) {
    for (uint32_t v = 0; v < f->n_nodes; v++) {
        hops[v] = v == dst ? 0 : -1;
        sum[v] = 0;
    }
    for (int changed = 1; changed;) {
        changed = 0;
        for (uint32_t l = 0; l < f->n_links; l++) {
            uint32_t v = f->end[l];
            uint32_t u = f->end[l ^ 1];
            if (!is_alive(f, dead, l) || hops[u] < 0) {
                continue;
            }
            double via = sum[u] + length[l];
            if (hops[v] < 0 || hops[u] + 1 < hops[v] || (hops[u] + 1 == hops[v] && via < sum[v])) {
                hops[v] = hops[u] + 1;
                sum[v] = via;
                changed = 1;
            }
        }
    }
}

double oracle_bound_proved(const fab_fabric *f, const uint64_t *dead, const oracle_pair *pairs, size_t n,
                           const double *length) {
    int *hops = malloc(f->n_nodes * sizeof *hops);
    double *sum = malloc(f->n_nodes * sizeof *sum);
    double needed = 0;
    double room = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        room += length[l] * f->classes[f->cable_class[l / 2]].capacity_bps;
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || pairs[i].dst != pairs[i - 1].dst) {
            relax(f, dead, pairs[i].dst, length, hops, sum);
        }
        needed += hops[pairs[i].src] < 0 ? NAN : pairs[i].rate * sum[pairs[i].src];
    }
    free(hops);
    free(sum);
    return needed / room;
}

/* --- all paths ---------------------------------------------------------------------------------------------------- */

typedef struct listing {
    const fab_fabric *f;
    const uint64_t *dead;
    const int *hops;
    fab_link_id link[LONGEST]; /* of the path so far */
    uint32_t length;
    uint32_t pair;
    fab_entry *entries;
    size_t n_entries, room, n_paths, most_paths;
} listing;

static void put(listing *s, uint32_t row, size_t column, double value) {
    if (s->n_entries == s->room) {
        s->room = 2 * s->room + 64;
        s->entries = realloc(s->entries, s->room * sizeof *s->entries);
    }
    s->entries[s->n_entries++] = (fab_entry){row, (uint32_t)column, value};
}

/* Rows: pair i, then link l at n + l. Columns: U, then a path each, the share of its pair. */
static void list_paths(listing *s, uint32_t v, const oracle_pair *pairs, size_t n, double unit) {
    if (s->n_paths > s->most_paths) {
        return;
    }
    if (s->hops[v] == 0) {
        s->n_paths++;
        put(s, s->pair, s->n_paths, 1);
        for (uint32_t i = 0; i < s->length; i++) {
            put(s, (uint32_t)n + s->link[i], s->n_paths, pairs[s->pair].rate / unit);
        }
        return;
    }
    for (uint32_t l = 0; l < s->f->n_links; l++) {
        uint32_t u = s->f->end[l ^ 1];
        if (s->f->end[l] == v && is_alive(s->f, s->dead, l) && s->hops[u] == s->hops[v] - 1) {
            s->link[s->length++] = l;
            list_paths(s, u, pairs, n, unit);
            s->length--;
        }
    }
}

static double solve(const listing *s, size_t n_rows, size_t n) {
    fab_column *columns = calloc(s->n_paths + 1, sizeof *columns);
    fab_row *rows = calloc(n_rows, sizeof *rows);
    double *x = calloc(s->n_paths + 1, sizeof *x);
    for (size_t i = 0; i <= s->n_paths; i++) {
        columns[i] = (fab_column){0, INFINITY, i == 0 ? 1 : 0, false};
    }
    for (size_t i = 0; i < n_rows; i++) {
        rows[i] = i < n ? (fab_row){1, 1} : (fab_row){-INFINITY, 0};
    }
    const fab_program program = {false, columns, s->n_paths + 1, rows, n_rows, s->entries, s->n_entries};
    fab_solution solution = {0};
    fab_status status = fab_solve(&program, NULL, x, NULL, &solution, NULL);
    free(columns);
    free(rows);
    free(x);
    return status == FAB_OK && solution.outcome == FAB_SOLVE_OPTIMAL ? solution.objective : NAN;
}

double oracle_bound_optimum(const fab_fabric *f, const uint64_t *dead, const oracle_pair *pairs, size_t n,
                            size_t most_paths) {
    int *hops = malloc(f->n_nodes * sizeof *hops);
    double *sum = malloc(f->n_nodes * sizeof *sum);
    double *zero = calloc(f->n_links, sizeof *zero);
    double unit = 1;
    double out = NAN;
    listing s = {.f = f, .dead = dead, .hops = hops, .most_paths = most_paths};
    for (uint32_t l = 0; l < f->n_links; l++) {
        unit = fmax(unit, f->classes[f->cable_class[l / 2]].capacity_bps);
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        put(&s, (uint32_t)n + l, 0, -f->classes[f->cable_class[l / 2]].capacity_bps / unit);
    }
    int reached = 1;
    for (size_t i = 0; i < n && reached && s.n_paths <= most_paths; i++) {
        relax(f, dead, pairs[i].dst, zero, hops, sum);
        s.pair = (uint32_t)i;
        reached = hops[pairs[i].src] > 0;
        list_paths(&s, pairs[i].src, pairs, n, unit);
    }
    if (reached && s.n_paths <= most_paths) {
        out = n > 0 ? solve(&s, n + f->n_links, n) : 0;
    }
    free(s.entries);
    free(hops);
    free(sum);
    free(zero);
    return out;
}
