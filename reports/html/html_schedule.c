/* The schedule of an iteration in the data block of the HTML report, every operation of one pipeline by engine; and
 * where ranks are. */
#include "html_code.h"
#include "html_data.h"
#include "data/json_text.h"
#include "fab/iterate.h"
#include "fab/memory.h"
#include "fab/schedule.h"
#include "fab/traffic.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define OP_COLUMNS 8 /* stage, kind, chunk, microbatch, start, length, of it computation, of it exchanges in line */
#define TICKS      67108864.0 /* of an iteration at most: their differences take few characters */

static int row_order(const void *a, const void *b) {
    const fab_op *x = a;
    const fab_op *y = b;
    if (x->stage != y->stage) {
        return x->stage < y->stage ? -1 : 1;
    }
    if (x->kind != y->kind) {
        return x->kind < y->kind ? -1 : 1;
    }
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static fab_status put_ops(const fab_schedule *s, double tick_s, fab_str *out, fab_error *err) {
    fab_code_rows rows = {.out = out, .width = OP_COLUMNS};
    const size_t n = s->timeline.n_ops;
    fab_op *ops = NULL;
    FAB_PASS(FAB_NEW(ops, n, err));
    for (size_t i = 0; i < n; i++) {
        ops[i] = s->timeline.op[i];
    }
    qsort(ops, n, sizeof *ops, row_order);
    for (size_t i = 0; i < n; i++) {
        const fab_op *op = &ops[i];
        const fab_op_parts parts = fab_op_parts_of(&s->pipeline, op);
        const int64_t start = llround(op->start_s / tick_s);
        const int64_t row[OP_COLUMNS] = {op->stage,
                                         op->kind,
                                         op->chunk,
                                         op->microbatch,
                                         start,
                                         llround(op->end_s / tick_s) - start,
                                         llround(parts.compute_s / tick_s),
                                         llround(parts.exchange_s / tick_s)};
        fab_code_rows_add(&rows, row);
    }
    fab_code_rows_end(&rows);
    free(ops);
    return FAB_OK;
}

static fab_status put_schedule(const fab_schedule *s, fab_str *out, fab_error *err) {
    const double tick_s = pow(10, ceil(log10(s->timeline.time_s / TICKS)));
    fab_str_add(out, "{\"tick_s\":");
    fab_json_number(out, tick_s);
    fab_str_printf(out, ",\"stages\":%" PRIu32 ",\"chunks\":%" PRIu32 ",\"n\":%zu,\"ops\":\"", s->pipeline.n_stages,
                   s->pipeline.n_chunks, s->timeline.n_ops);
    FAB_PASS(put_ops(s, tick_s, out, err));
    fab_str_add(out, "\"}");
    return FAB_OK;
}

fab_status fab_html_ranks(const fab_result *result, fab_str *out, fab_error *err) {
    const fab_traffic *t = result->placed;
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
    const char *comma = "";
    if (result->n_iterations == 0) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"travels\":[");
    for (size_t p = 0; p < result->n_phases; p++) {
        fab_str_printf(out, "%s%d", p > 0 ? "," : "", (int)fab_iterate_travel(result->phases[p].name));
    }
    fab_str_add(out, "],\"schedules\":[");
    for (size_t i = 0; i < result->n_iterations; i++) {
        const fab_schedule *s = result->iterations[i].schedule;
        n_ops += s != NULL ? s->timeline.n_ops : 0;
        fab_str_add(out, comma);
        comma = ",";
        if (s == NULL || n_ops > FAB_HTML_OPS) {
            fab_str_add(out, "null");
        } else {
            FAB_PASS(put_schedule(s, out, err));
        }
    }
    fab_str_add(out, "]");
    return fab_str_status(out, err);
}
