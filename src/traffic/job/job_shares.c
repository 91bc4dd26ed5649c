/*
 * Who gets how much of an all-to-all-v: experts by how many tokens choose them, GPUs by the embedding tables that they
 * hold. Shares are relative: their mean is 1.
 *
 * Experts. Popularity of the k-th most popular is 1/k^s (Zipf), or what a file says of each; no expert gets more than
 * all tokens, which limits its part to 1/top-k of the visits. Popular experts lie anywhere: a drawn order, the same in
 * every run. A rank has experts/ep of them in a row.
 *
 * Tables. A table is cut by columns, the one with most work first, until there is a piece for every GPU of a group and
 * no piece is above a GPU's part of the lookups; pieces then go, largest first, to the GPU with the fewest lookups
 * [longest processing time first, Graham, 1969]. A piece sends its columns for every sample, and reads pooling rows.
 */
#include "traffic_internal.h"

#include "fab/rng.h"
#include "fab/text.h"

#define LEAST_COLUMNS 4 /* of a piece: 16 bytes, below which a row is no vector of memory any more */
#define MOST_TABLES   1000000

/* --- numbers of a file -------------------------------------------------------------------------------------------- */

typedef struct share_file {
    double *values; /* `n_columns` a line */
    size_t n, capacity;
} share_file;
FAB_FREES(share_file_release, share_file, values);

static bool share_number(fab_token t, double *out) {
    char room[40];
    char *end = NULL;
    if (t.length == 0 || t.length >= sizeof room) {
        return false;
    }
    memcpy(room, t.text, t.length);
    room[t.length] = '\0';
    *out = strtod(room, &end);
    return *end == '\0' && isfinite(*out) && *out >= 0 && *out <= 1e12;
}

static fab_status read_shares(const char *path, const char *const *names, size_t n_columns, share_file *out,
                              fab_error *err) {
    FAB_OWNS(fab_text_release) fab_text text = {.path = NULL};
    FAB_PASS(fab_text_open(path, &text, err));
    while (fab_text_next(&text)) {
        for (size_t i = 0; i < n_columns; i++) {
            const fab_token t = fab_text_token(&text);
            double value = 0;
            FAB_PASS(!share_number(t, &value)
                         ? fab_fail_in_file(err, path, text.line, t.column, "'%.*s' is no %s: a number from 0 to 1e12",
                                            (int)(t.length < 40 ? t.length : 40), t.text, names[i])
                         : FAB_OK);
            FAB_PASS(FAB_APPEND(out->values, out->n, out->capacity, err, value));
        }
        FAB_PASS(fab_text_expect_end(&text, err));
    }
    return FAB_OK;
}

/* --- experts ------------------------------------------------------------------------------------------------------ */

static fab_status find_loads(const fab_job_spec *s, const char *where, double *loads, fab_error *err) {
    static const char *const NAMES[] = {"load of an expert"};
    FAB_OWNS(share_file_release) share_file file = {.n = 0};
    FAB_OWNED uint32_t *order = NULL;
    const uint64_t n = s->experts;
    if (s->expert_loads[0] != '\0') {
        FAB_PASS(read_shares(s->expert_loads, NAMES, 1, &file, err));
        FAB_REFUSE_IF(file.n != n, err, FAB_EINPUT, where, "expert-loads: %.160s has %zu lines for %" PRIu64 " experts",
                      s->expert_loads, file.n, n);
        memcpy(loads, file.values, n * sizeof *loads);
    } else {
        fab_rng rng = fab_rng_make(1, n);
        FAB_PASS(FAB_NEW(order, n, err));
        FAB_FILL(order, n, (uint32_t)fab_at);
        fab_rng_shuffle(&rng, order, n);
        for (uint64_t i = 0; i < n; i++) {
            loads[order[i]] = pow((double)i + 1, -s->expert_skew);
        }
    }
    return FAB_OK;
}

/* Loads become parts of all visits, none above `most`: what is cut off goes to the others. */
static bool limit_loads(double *loads, uint64_t n, double most) {
    double kept = 0; /* of those at the limit */
    FAB_SUM(double, sum, i, n, loads[i]);
    for (bool changed = true; changed && sum > 0;) {
        changed = false;
        const double scale = (1 - kept) / sum;
        for (uint64_t i = 0; i < n; i++) {
            if (loads[i] >= 0 && loads[i] * scale > most * (1 + 1e-12)) {
                sum -= loads[i];
                kept += most;
                loads[i] = -1;
                changed = true;
            }
        }
    }
    FAB_FILL(loads, n, loads[fab_at] < 0 ? most : sum > 0 ? loads[fab_at] * (1 - kept) / sum : 0);
    return sum > 0 || kept > 1 - 1e-9;
}

bool fab_job_is_skewed(const fab_job_spec *s) {
    return s->kind == FAB_JOB_RANKING ? s->table_sharding == FAB_TABLES_PLACED
                                      : s->experts > 1 && (s->expert_skew > 0 || s->expert_loads[0] != '\0');
}

fab_status fab_job_expert_shares(const fab_job_spec *s, const char *where, double *out, fab_error *err) {
    const uint64_t per_rank = s->experts / s->ep;
    FAB_FILL(out, s->ep, fab_job_is_skewed(s) ? 0 : 1);
    if (!fab_job_is_skewed(s)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, loads, s->experts, err);
    FAB_PASS(find_loads(s, where, loads, err));
    FAB_REFUSE_IF(!limit_loads(loads, s->experts, 1 / (double)s->top_k), err, FAB_EINPUT, where,
                  "expert-loads: fewer than %" PRIu64 " experts have a load, and a token visits as many", s->top_k);
    for (uint64_t i = 0; i < s->experts; i++) {
        out[i / per_rank] += loads[i] * (double)s->ep;
    }
    return FAB_OK;
}

/* None of k drawn out of n is among d of them. */
static double miss(double n, double d, uint64_t k) {
    double p = 1;
    for (uint64_t i = 0; i < k; i++) {
        p *= fmax(n - d - (double)i, 0) / (n - (double)i);
    }
    return p;
}

fab_expert_visits fab_job_expert_visits(const fab_job_spec *job, uint32_t k) {
    const uint32_t m = (uint32_t)job->ep / k;
    const double groups = job->expert_groups > 0 && job->expert_groups < m ? (double)job->expert_groups : m;
    const double of_gpu = (double)job->experts / (double)job->ep;
    const double n = groups * of_gpu * k;
    return (fab_expert_visits){.m = m,
                               .k = k,
                               .domain = groups / m * (1 - miss(n, of_gpu * k, job->top_k)),
                               .gpu = groups / m * (1 - miss(n, of_gpu, job->top_k)),
                               .drawn_from = n};
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

typedef struct piece {
    double columns, pooling;
    uint32_t table;
} piece;

static double lookups_of(const piece *p) {
    return p->columns * p->pooling;
}

FAB_ORDER_KEYS(most_work_first, piece, FAB_ORDER(lookups_of(b), lookups_of(a)), FAB_ORDER(b->columns, a->columns),
               FAB_ORDER(a->table, b->table));

fab_status fab_job_find_tables(const fab_job_spec *s, const char *where, fab_embedding_table **out, size_t *out_n,
                               fab_error *err) {
    static const char *const NAMES[] = {"rows", "columns", "pooling"};
    FAB_OWNS(share_file_release) share_file file = {.n = 0};
    const fab_ranking_model *model = fab_ranking_model_find(s->model);
    FAB_OWNED fab_embedding_table *tables = NULL;
    const fab_embedding_table *published = model != NULL ? model->each : NULL;
    size_t n = published != NULL ? model->tables : s->tables;
    if (s->tables_file[0] != '\0') {
        FAB_PASS(read_shares(s->tables_file, NAMES, 3, &file, err));
        n = file.n / 3;
    }
    FAB_REFUSE_IF(n == 0 || n > MOST_TABLES, err, FAB_EINPUT, where, "tables: %zu are outside 1 to %d", n, MOST_TABLES);
    FAB_PASS(FAB_NEW(tables, n, err));
    for (size_t i = 0; i < n; i++) {
        const double *line = file.values != NULL ? file.values + 3 * i : NULL;
        tables[i] = line != NULL        ? (fab_embedding_table){line[0], line[1], line[2]}
                    : published != NULL ? published[i]
                                        : (fab_embedding_table){(double)s->rows / (double)n, (double)s->embedding, 1};
        FAB_REFUSE_IF(tables[i].rows < 1 || tables[i].columns < 1 || tables[i].pooling <= 0, err, FAB_EINPUT, where,
                      "tables-file: table %zu needs a row, a column and a pooling above 0", i + 1);
    }
    *out_n = n;
    return FAB_GIVE(*out, tables);
}

/* Halves of columns, until there are enough and none is too large. */
static fab_status cut_tables(const fab_embedding_table *tables, size_t n, uint32_t n_gpus, piece **out, size_t *out_n,
                             fab_error *err) {
    FAB_OWNED piece *pieces = NULL;
    size_t capacity = 0;
    size_t m = n;
    double all = 0;
    FAB_PASS(FAB_GROW(pieces, capacity, n, err));
    for (size_t i = 0; i < n; i++) {
        pieces[i] = (piece){tables[i].columns, tables[i].pooling, (uint32_t)i};
        all += lookups_of(&pieces[i]);
    }
    for (bool cut = true; cut;) {
        const size_t before = m;
        cut = false;
        qsort(pieces, m, sizeof *pieces, most_work_first);
        for (size_t i = 0; i < before; i++) {
            const bool wanted = m < n_gpus || lookups_of(&pieces[i]) > all / n_gpus;
            if (wanted && pieces[i].columns >= 2.0 * LEAST_COLUMNS) {
                FAB_PASS(FAB_GROW(pieces, capacity, m + 1, err));
                const double half = floor(pieces[i].columns / 2);
                pieces[m] = pieces[i];
                pieces[m++].columns -= half;
                pieces[i].columns = half;
                cut = true;
            }
        }
    }
    qsort(pieces, m, sizeof *pieces, most_work_first);
    *out_n = m;
    return FAB_GIVE(*out, pieces);
}

static bool is_idler(const fab_table_share *shares, uint32_t a, uint32_t b) {
    const fab_table_share *x = &shares[a];
    const fab_table_share *y = &shares[b];
    return x->lookups != y->lookups   ? x->lookups < y->lookups
           : x->columns != y->columns ? x->columns < y->columns
                                      : a < b;
}

/* Restores a heap whose first GPU, the idlest, got more from `at` on. */
static void sink_down(const fab_table_share *shares, uint32_t *heap, uint32_t n, uint32_t at) {
    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && is_idler(shares, heap[child + 1], heap[child]);
        if (!is_idler(shares, heap[child], heap[at])) {
            return;
        }
        const uint32_t moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

fab_status fab_job_table_shares(const fab_embedding_table *tables, size_t n, uint32_t n_gpus, const char *where,
                                fab_table_share *out, fab_error *err) {
    FAB_OWNED piece *pieces = NULL;
    size_t m = 0;
    double columns = 0;
    double lookups = 0;
    FAB_OWNED_NEW(uint32_t, heap, n_gpus, err);
    FAB_PASS(cut_tables(tables, n, n_gpus, &pieces, &m, err));
    FAB_REFUSE_IF(m < n_gpus, err, FAB_EINPUT, where,
                  "tables: %zu pieces of at least %d columns do not give each of %" PRIu32
                  " GPUs one; table-group= says how many GPUs hold all tables together",
                  m, LEAST_COLUMNS, n_gpus);
    FAB_FILL(out, n_gpus, (fab_table_share){0, 0});
    for (size_t i = 0; i < m; i++) {
        for (uint32_t k = n_gpus; i == n_gpus && k > 0; k--) { /* one each before any gets two */
            heap[k - 1] = k - 1;
            sink_down(out, heap, n_gpus, k - 1);
        }
        fab_table_share *to = &out[i < n_gpus ? i : heap[0]];
        to->columns += pieces[i].columns;
        to->lookups += lookups_of(&pieces[i]);
        columns += pieces[i].columns;
        lookups += lookups_of(&pieces[i]);
        if (i >= n_gpus) {
            sink_down(out, heap, n_gpus, 0);
        }
    }
    for (uint32_t i = 0; i < n_gpus; i++) {
        out[i].columns *= n_gpus / columns;
        out[i].lookups *= n_gpus / lookups;
    }
    return FAB_OK;
}

/* --- of a job ----------------------------------------------------------------------------------------------------- */

static fab_status resolve_tables(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    FAB_OWNED fab_embedding_table *tables = NULL;
    FAB_OWNED fab_table_share *shares = NULL;
    size_t n = 0;
    double columns = 0;
    double lookups = 0;
    double weights = 0;
    FAB_PASS(fab_job_find_tables(s, job->where, &tables, &n, err));
    for (size_t i = 0; i < n; i++) {
        columns += tables[i].columns;
        lookups += tables[i].columns * tables[i].pooling;
        weights += tables[i].columns * tables[i].rows;
    }
    if (s->tables_file[0] != '\0') { /* as many columns and weights as they have together */
        s->tables = n;
        s->embedding = (uint64_t)fmax(columns / (double)n + 0.5, 1);
        s->rows = (uint64_t)ceil(weights / (double)s->embedding);
    }
    s->columns = columns;
    s->lookups = lookups;
    s->column_peak = s->lookup_peak = 1;
    if (fab_job_is_skewed(s)) {
        FAB_PASS(FAB_NEW(shares, s->table_group, err));
        FAB_PASS(fab_job_table_shares(tables, n, (uint32_t)s->table_group, job->where, shares, err));
        for (uint64_t i = 0; i < s->table_group; i++) {
            s->column_peak = fmax(s->column_peak, shares[i].columns);
            s->lookup_peak = fmax(s->lookup_peak, shares[i].lookups);
        }
    }
    return FAB_OK;
}

fab_status fab_job_resolve_shares(fab_job *job, fab_error *err) {
    fab_job_spec *s = &job->spec;
    s->expert_peak = 1;
    if (s->kind == FAB_JOB_RANKING) {
        return resolve_tables(job, err);
    }
    if (!fab_job_is_skewed(s)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, shares, s->ep, err);
    FAB_PASS(fab_job_expert_shares(s, job->where, shares, err));
    for (uint64_t i = 0; i < s->ep; i++) {
        s->expert_peak = fmax(s->expert_peak, shares[i]);
    }
    return FAB_OK;
}
