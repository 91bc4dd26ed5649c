/* The schedule of an iteration in the data block of the HTML report: operations of one pipeline by engine, merged where
 * there are too many; and where ranks are. */
#include "html_code.h"
#include "html_data.h"
#include "data/json_text.h"
#include "fab/iterate.h"

#define TICKS 67108864.0 /* of an iteration at most: their differences take few characters */

#define OP_COLUMNS 8 /* stage, kind, chunk, microbatch, start, length, of it computation, of it exchanges in line */

/* An operation, or several that are shown as one. */
typedef struct op_row {
    int64_t stage, kind, chunk, microbatch;
    double start_s, length_s, compute_s, exchange_s;
} op_row;

/* Passes and the optimizer follow each other on a stage; what is sent between stages is under way beside them, and so
 * are parameters and gradients. */
static int track_of(int64_t kind) {
    return kind == FAB_OP_SEND_FORWARD || kind == FAB_OP_SEND_BACKWARD ? 1
           : kind == FAB_OP_GATHER || kind == FAB_OP_REDUCE            ? 2
                                                                       : 0;
}

static int by_track(const void *a, const void *b) {
    const op_row *x = a;
    const op_row *y = b;
    FAB_ORDER_BY(x->stage, y->stage);
    FAB_ORDER_BY(track_of(x->kind), track_of(y->kind));
    FAB_ORDER_BY(x->start_s, y->start_s);
    FAB_ORDER_BY(x->kind, y->kind);
    FAB_ORDER_BY(x->chunk, y->chunk);
    return FAB_ORDER(x->microbatch, y->microbatch);
}

/* Differences along the rows of a kind take few characters. */
FAB_ORDER_KEYS(by_kind, op_row, FAB_ORDER(a->stage, b->stage), FAB_ORDER(a->kind, b->kind),
               FAB_ORDER(a->start_s, b->start_s), FAB_ORDER(a->chunk, b->chunk),
               FAB_ORDER(a->microbatch, b->microbatch));

static fab_status rows_of(const fab_schedule *s, op_row **out, fab_error *err) {
    FAB_PASS(FAB_NEW(*out, s->timeline.n_ops + 1, err));
    for (size_t i = 0; i < s->timeline.n_ops; i++) {
        const fab_op *op = &s->timeline.op[i];
        const fab_op_parts parts = fab_op_parts_of(&s->pipeline, op);
        (*out)[i] =
            (op_row){op->stage,       op->kind,        op->chunk, op->microbatch, op->start_s, op->end_s - op->start_s,
                     parts.compute_s, parts.exchange_s};
    }
    FAB_SORT(*out, s->timeline.n_ops, by_track);
    return FAB_OK;
}

/* One row for each kind among rows that follow each other on a track, one after the other from where the first begins:
 * all that they take is in them (of those that overlap, as much as the time of the run), and the rest of the time is
 * behind them. Returns how many. */
static size_t merge_run(const op_row *row, size_t n, op_row *out) {
    size_t n_out = 0;
    double end = 0;
    double next = row[0].start_s;
    for (size_t i = 0; i < n; i++) {
        end = row[i].start_s + row[i].length_s > end ? row[i].start_s + row[i].length_s : end;
        FAB_FIRST(k, n_out, out[k].kind == row[i].kind);
        if (k == n_out) {
            out[n_out++] = row[i];
            continue;
        }
        out[k].length_s += row[i].length_s;
        out[k].compute_s += row[i].compute_s;
        out[k].exchange_s += row[i].exchange_s;
    }
    for (size_t k = 0; k < n_out; k++) {
        out[k].start_s = next < end ? next : end;
        out[k].length_s = out[k].length_s < end - out[k].start_s ? out[k].length_s : end - out[k].start_s;
        next = out[k].start_s + out[k].length_s;
    }
    return n_out;
}

/* Rows by runs of `per` at most; the optimizer stands alone. */
static size_t merge_rows(const op_row *row, size_t n, size_t per, op_row *out) {
    size_t n_out = 0;
    for (size_t i = 0, run = 0; i < n; i += run) {
        for (run = 1; run < per && i + run < n && row[i + run].stage == row[i].stage &&
                      track_of(row[i + run].kind) == track_of(row[i].kind) && row[i + run].kind != FAB_OP_OPTIMIZER &&
                      row[i].kind != FAB_OP_OPTIMIZER;) {
            run++;
        }
        n_out += merge_run(row + i, run, out + n_out);
    }
    return n_out;
}

/* At most `most` rows of an engine; null where even one of each kind for every stage is too many. */
static fab_status put_schedule(const fab_schedule *s, size_t most, fab_str *out, fab_error *err) {
    const double tick_s = pow(10, ceil(log10(s->timeline.time_s / TICKS)));
    fab_code_rows code = {.out = out, .width = OP_COLUMNS};
    FAB_OWNED op_row *rows = NULL;
    size_t n_ops = s->timeline.n_ops;
    size_t per = 1;
    FAB_PASS(rows_of(s, &rows, err));
    FAB_OWNED_NEW(op_row, merged, n_ops + 1, err);
    size_t n = merge_rows(rows, n_ops, per, merged);
    while (n > most && per < n_ops) {
        per *= 2;
        n = merge_rows(rows, n_ops, per, merged);
    }
    if (n > most) {
        fab_str_add(out, "null");
        return FAB_OK;
    }
    fab_str_add(out, "{\"tick_s\":");
    fab_json_number(out, tick_s);
    fab_str_printf(out, ",\"stages\":%" PRIu32 ",\"chunks\":%" PRIu32 ",\"n_ops\":%zu,\"per\":%zu,\"n\":%zu,\"ops\":\"",
                   s->pipeline.n_stages, s->pipeline.n_chunks, n_ops, per, n);
    FAB_SORT(merged, n, by_kind);
    FAB_EACH(const op_row, m, merged, n) {
        const int64_t start = llround(m->start_s / tick_s);
        const int64_t row[OP_COLUMNS] = {m->stage,
                                         m->kind,
                                         m->chunk,
                                         m->microbatch,
                                         start,
                                         llround((m->start_s + m->length_s) / tick_s) - start,
                                         llround(m->compute_s / tick_s),
                                         llround(m->exchange_s / tick_s)};
        fab_code_rows_add(&code, row);
    }
    fab_code_rows_end(&code);
    fab_str_add(out, "\"}");
    return FAB_OK;
}

fab_status fab_html_ranks(const fab_result *result, fab_str *out, fab_error *err) {
    const fab_traffic *t = result->placed;
    for (size_t e = 0; e < FAB_MAX_ENGINES && result->of_engine[e] != NULL && t != NULL; e++) {
        const fab_traffic *other = result->of_engine[e]->placed; /* ranks of which the page can say no GPU of all */
        t = other != NULL && other->gpu_of_rank != NULL && t->gpu_of_rank != NULL && other->n_ranks == t->n_ranks &&
                    memcmp(other->gpu_of_rank, t->gpu_of_rank, t->n_ranks * sizeof *t->gpu_of_rank) == 0
                ? t
                : NULL;
    }
    fab_code_rows rows = {.out = out, .width = 1};
    if (t == NULL || t->gpu_of_rank == NULL || result->graph == NULL) {
        return FAB_OK;
    }
    fab_str_printf(out, ",\"n_ranks\":%" PRIu64 ",\"ranks\":\"", (uint64_t)t->n_ranks);
    for (uint64_t i = 0; i < t->n_ranks; i++) {
        const int64_t gpu = t->gpu_of_rank[i];
        fab_code_rows_add(&rows, &gpu);
    }
    fab_code_rows_end(&rows);
    fab_str_add(out, "\"");
    return fab_str_status(out, err);
}

fab_status fab_html_schedules(const fab_result *result, fab_str *out, fab_error *err) {
    size_t n_ops = 0;
    size_t n_known = 0;
    const char *comma = "";
    if (result->n_iterations == 0) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"travels\":[");
    for (size_t p = 0; p < result->n_phases; p++) {
        fab_str_printf(out, "%s%d", p > 0 ? "," : "", (int)fab_iterate_travel(result->phases[p].name));
    }
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_schedule *s = result->iterations[i].schedule;
        n_ops += s != NULL ? s->timeline.n_ops : 0;
        n_known += s != NULL;
    }
    const size_t most = n_ops <= FAB_HTML_OPS ? n_ops : FAB_HTML_OPS / n_known;
    fab_str_add(out, "],\"schedules\":[");
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_schedule *s = result->iterations[i].schedule;
        fab_str_add(out, comma);
        comma = ",";
        if (s == NULL) {
            fab_str_add(out, "null");
        } else {
            FAB_PASS(put_schedule(s, most, out, err));
        }
    }
    fab_str_add(out, "]");
    return fab_str_status(out, err);
}
