/* The schedule of an iteration as a trace that Perfetto and chrome://tracing open [Google, Trace Event Format, 2016]: a
 * process for each engine, a track for what a stage computes and for each kind of its communication, and a counter for
 * the utilisation of each class of links. Times are whole nanoseconds, so that what follows each other does not
 * overlap.
 */
#include "json_text.h"
#include "report_formats.h"

enum { TRACK_COMPUTATION, TRACK_EXCHANGE, TRACK_FORWARD, TRACK_BACKWARD, TRACK_GATHER, TRACK_REDUCE, N_TRACKS };
#define ROWS 4 /* of a track whose operations may be under way together */

static const char *const TRACKS[N_TRACKS] = {
    "computation", "tp, cp, ep exchanges", "sends forward", "sends backward", "gathers", "reductions"};

static const int TRACK_OF[FAB_OP_N] = {
    [FAB_OP_GATHER] = TRACK_GATHER,
    [FAB_OP_SEND_FORWARD] = TRACK_FORWARD,
    [FAB_OP_SEND_BACKWARD] = TRACK_BACKWARD,
    [FAB_OP_REDUCE] = TRACK_REDUCE,
};

typedef struct trace {
    fab_str out;
    const char *between; /* this event and the one before */
    size_t pid;          /* 1 for the first engine */
    const fab_schedule *schedule;
    int64_t (*free_ns)[ROWS]; /* [stage][track]: until then the row is in use; 0: it never was */
} trace;

static int64_t ns_of(double s) {
    return llround(s * 1e9);
}

/* Microseconds, to the nanosecond. */
static void put_us(trace *t, const char *key, int64_t ns) {
    fab_str_printf(&t->out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void begin_event(trace *t, const char *name, char phase, size_t tid) {
    fab_str_printf(&t->out, "%s{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%zu,\"tid\":%zu", t->between, name, phase, t->pid,
                   tid);
    t->between = ",\n";
}

static void put_name(trace *t, const char *what, size_t tid, const char *name) {
    begin_event(t, what, 'M', tid);
    fab_str_add(&t->out, ",\"args\":{\"name\":");
    fab_json_string(&t->out, name);
    fab_str_add(&t->out, "}}");
}

/* The first row of a track that is free; its number as a thread. */
static fab_status take_row(trace *t, uint32_t stage, int track, int64_t start_ns, int64_t end_ns, size_t *out_tid,
                           fab_error *err) {
    size_t place = (size_t)stage * N_TRACKS + (size_t)track;
    FAB_FIRST(row, (size_t)ROWS, t->free_ns[place][row] <= start_ns);
    FAB_REFUSE_IF(row == ROWS, err, FAB_EINTERNAL, NULL, "more than %d %s of stage %u are under way at %g s", ROWS,
                  TRACKS[track], stage, (double)start_ns * 1e-9);
    *out_tid = place * ROWS + row + 1;
    if (t->free_ns[place][row] == 0) {
        char name[80];
        FAB_FORMAT(name, row > 0 ? "stage %u: %s (%zu)" : "stage %u: %s", stage, TRACKS[track], row + 1);
        put_name(t, "thread_name", *out_tid, name);
        begin_event(t, "thread_sort_index", 'M', *out_tid);
        fab_str_printf(&t->out, ",\"args\":{\"sort_index\":%zu}}", *out_tid);
    }
    t->free_ns[place][row] = end_ns;
    return FAB_OK;
}

static fab_status put_slice(trace *t, const fab_op *op, int track, const char *name, int64_t start_ns, int64_t end_ns,
                            fab_error *err) {
    size_t tid = 0;
    FAB_PASS(take_row(t, op->stage, track, start_ns, end_ns, &tid, err));
    begin_event(t, name, 'X', tid);
    put_us(t, "ts", start_ns);
    put_us(t, "dur", end_ns - start_ns);
    fab_str_printf(&t->out, ",\"args\":{\"chunk\":%u,\"microbatch\":%u", op->chunk, op->microbatch);
    return FAB_OK;
}

/* Exchanges in line alternate with kernels, layer by layer; they are drawn as one piece at the end of their pass. */
static fab_status put_op(trace *t, const fab_op *op, fab_error *err) {
    const int track = TRACK_OF[op->kind];
    const int64_t start_ns = ns_of(op->start_s);
    const int64_t end_ns = ns_of(op->end_s);
    const int64_t exchange_ns = ns_of(fab_op_parts_of(&t->schedule->pipeline, op).exchange_s);
    FAB_PASS(put_slice(t, op, track, fab_op_names[op->kind], start_ns, end_ns, err));
    if (exchange_ns > 0) {
        put_us(t, "exchange_us", exchange_ns);
        fab_str_add(&t->out, "}}");
        FAB_PASS(put_slice(t, op, TRACK_EXCHANGE, "exchange", end_ns - exchange_ns, end_ns, err));
    }
    fab_str_add(&t->out, "}}");
    return FAB_OK;
}

static fab_status put_schedule(trace *t, const char *engine, fab_error *err) {
    const fab_schedule *s = t->schedule;
    fab_status status = FAB_OK;
    FAB_TRY(FAB_NEW(t->free_ns, (size_t)s->pipeline.n_stages * N_TRACKS, err));
    put_name(t, "process_name", 0, engine);
    for (size_t i = 0; i < s->timeline.n_ops; i++) {
        FAB_TRY(put_op(t, &s->timeline.op[i], err));
    }
    for (size_t i = 0; i < s->n_points; i++) {
        begin_event(t, "power", 'C', 0);
        put_us(t, "ts", ns_of(s->profile[i].start_s));
        fab_str_add(&t->out, ",\"args\":{\"W\":");
        fab_json_number(&t->out, s->profile[i].power_w);
        fab_str_add(&t->out, "}}");
    }
done:
    free(t->free_ns);
    t->free_ns = NULL;
    return status;
}

/* An operation begins (1) or ends (-1). */
typedef struct change {
    int64_t at_ns;
    int sign;
    fab_op_kind kind;
} change;

FAB_ORDER_KEYS(change_order, change, FAB_ORDER(a->at_ns, b->at_ns));

/* A counter for each class of links, told where it changes. */
static fab_status put_links(trace *t, fab_error *err) {
    const fab_schedule *s = t->schedule;
    uint64_t n_active[FAB_OP_N] = {0};
    const size_t n = 2 * s->timeline.n_ops;
    FAB_OWNED_NEW(change, changes, n, err);
    FAB_OWNED_NEW(double, last, s->n_links, err);
    for (size_t i = 0; i < n; i++) {
        const fab_op *op = &s->timeline.op[i / 2];
        changes[i] = (change){ns_of(i % 2 == 0 ? op->start_s : op->end_s), i % 2 == 0 ? 1 : -1, op->kind};
    }
    qsort(changes, n, sizeof *changes, change_order);
    for (size_t i = 0; i < n; i++) {
        n_active[changes[i].kind] += (uint64_t)changes[i].sign;
        for (size_t k = 0; k < s->n_links && (i + 1 == n || changes[i + 1].at_ns > changes[i].at_ns); k++) {
            double now = round(1e6 * fab_schedule_utilisation(s, &s->links[k], n_active)) / 1e4;
            if (now != last[k]) {
                begin_event(t, s->links[k].name, 'C', 0);
                put_us(t, "ts", changes[i].at_ns);
                fab_str_add(&t->out, ",\"args\":{\"%\":");
                fab_json_number(&t->out, now);
                fab_str_add(&t->out, "}}");
                last[k] = now;
            }
        }
    }
    return FAB_OK;
}

static fab_status check_schedules(const fab_result *result, fab_error *err) {
    for (size_t i = 0; i < result->n_iterations; i++) {
        FAB_REFUSE_IF(result->iterations[i].schedule == NULL, err, FAB_EUNSUPPORTED, NULL,
                      "the iteration under %s has no timeline: %s", result->iterations[i].engine,
                      result->iterations[i].schedule_note);
    }
    FAB_REFUSE_IF(result->n_iterations == 0, err, FAB_EUNSUPPORTED, NULL,
                  "a timeline shows the iteration of a training job, and none was timed%s%s",
                  result->iteration_note[0] != '\0' ? ": " : "", result->iteration_note);
    return FAB_OK;
}

static fab_status make_timeline(const fab_result *result, FAB_UNUSED const fab_report_style *style, fab_str *out,
                                fab_error *err) {
    fab_status status = FAB_OK;
    trace t = {.out = FAB_STR_INIT, .between = "\n"};
    FAB_TRY(check_schedules(result, err));
    fab_str_printf(&t.out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"fabriscope\":\"%s\",\"shown\":\"one of ",
                   result->version);
    for (size_t i = 0; i < (result->of_engine[0] != NULL ? result->n_iterations : 1); i++) {
        const fab_job_spec *job = &fab_result_of(result, i)->job;
        fab_str_printf(&t.out, "%s%" PRIu64, i > 0 ? " or " : "", job->dp * job->tp * job->cp);
    }
    fab_str_add(&t.out, " pipelines, which do the same at the same time; power: of all\"},\n\"traceEvents\":[");
    for (size_t i = 0; i < result->n_iterations; i++) {
        t.pid = i + 1;
        t.schedule = result->iterations[i].schedule;
        FAB_TRY(put_schedule(&t, result->iterations[i].engine, err));
        FAB_TRY(put_links(&t, err));
    }
    fab_str_add(&t.out, "\n]}\n");
done:
    *out = t.out;
    return status;
}

const fab_report_format fab_report_timeline = {
    .name = "timeline",
    .summary = "what every pipeline stage does when in an iteration, for Perfetto and chrome://tracing",
    .make = make_timeline,
};
