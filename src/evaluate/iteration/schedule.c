/* The schedule of an iteration as spans: what every stage does when, without gaps, and what that takes of power. */
#include "fab/schedule.h"

/* What counts where several things are under way: the highest, of equal ones the first. */
#define COMPUTES 3
static const int RANK[FAB_OP_N] = {
    [FAB_OP_SEND_FORWARD] = 1,   [FAB_OP_SEND_BACKWARD] = 1,   [FAB_OP_GATHER] = 2,
    [FAB_OP_REDUCE] = 2,         [FAB_OP_FORWARD] = COMPUTES,  [FAB_OP_BACKWARD] = COMPUTES,
    [FAB_OP_WEIGHTS] = COMPUTES, [FAB_OP_OPTIMIZER] = COMPUTES};

/* --- spans -------------------------------------------------------------------------------------------------------- */

/* An operation begins or ends; without one, the iteration of a stage does. */
typedef struct edge {
    double at_s;
    uint32_t stage;
    int change;
    const fab_op *op;
} edge;

/* To the nanosecond: what happens together does so on all stages, however its time was summed up. */
static double whole_ns(double s) {
    return round(s * 1e9) * 1e-9;
}

/* Ends first. */
FAB_ORDER_KEYS(edge_order, edge, FAB_ORDER(a->stage, b->stage), FAB_ORDER(a->at_s, b->at_s), a->change - b->change);

FAB_ORDER_TWO(span_order, fab_span, start_s, stage);

fab_op_parts fab_op_parts_of(const fab_pipeline *p, const fab_op *op) {
    const fab_chunk_times *t = &p->chunk[(size_t)op->stage * p->n_chunks + op->chunk];
    double weights_s = p->order == FAB_ORDER_ZERO_BUBBLE ? 0 : t->weights_s;
    switch (op->kind) {
    case FAB_OP_FORWARD: return (fab_op_parts){t->forward_s, fab_exchange_s(t->forward_exchange_s)};
    case FAB_OP_BACKWARD:
        return (fab_op_parts){t->recompute_s + t->backward_s + weights_s, fab_exchange_s(t->backward_exchange_s)};
    case FAB_OP_WEIGHTS: return (fab_op_parts){t->weights_s, 0};
    case FAB_OP_OPTIMIZER: return (fab_op_parts){p->optimizer_s[op->stage], 0};
    default: return (fab_op_parts){0, 0};
    }
}

static uint32_t doing_of(const uint32_t *under_way) {
    uint32_t doing = FAB_OP_N;
    for (uint32_t kind = 0; kind < FAB_OP_N; kind++) {
        if (under_way[kind] > 0 && (doing == FAB_OP_N || RANK[kind] > RANK[doing])) {
            doing = kind;
        }
    }
    return doing;
}

/* A stage does the same thing from one edge to the next; `op` is what it computes, or NULL. */
static void add_span(fab_schedule *s, double start_s, double end_s, uint32_t stage, uint32_t doing, const fab_op *op) {
    fab_span span = {.start_s = start_s, .end_s = end_s, .stage = stage, .doing = doing};
    if (doing < FAB_OP_N && RANK[doing] == COMPUTES) {
        fab_op_parts parts = fab_op_parts_of(&s->pipeline, op);
        double busy_s = parts.compute_s + parts.exchange_s;
        double takes_s = op->end_s - op->start_s > busy_s * (1 + 1e-9) ? op->end_s - op->start_s : busy_s;
        span.compute_ratio = parts.compute_s / takes_s;
        span.exchange_ratio = parts.exchange_s / takes_s;
    }
    s->span[s->n_spans++] = span;
}

/* What lies between edges. An operation that computes is one span whatever travels meanwhile. */
static void walk_edges(fab_schedule *s, const edge *edges, size_t n) {
    uint32_t under_way[FAB_OP_N] = {0};
    const fab_op *computed = NULL;
    double from_s = 0;
    FAB_EACH(const edge, e, edges, n) {
        uint32_t before = doing_of(under_way);
        bool changes = e->op == NULL || RANK[e->op->kind] == COMPUTES;
        if (e->op != NULL) {
            under_way[e->op->kind] += (uint32_t)e->change;
        }
        changes = changes || doing_of(under_way) != before;
        if (changes && e->at_s > from_s) {
            add_span(s, from_s, e->at_s, e->stage, before, computed);
            from_s = e->at_s;
        }
        if (e->op == NULL) { /* the next stage */
            from_s = 0;
        } else if (e->change > 0 && RANK[e->op->kind] == COMPUTES) {
            computed = e->op;
        }
    }
}

static fab_status find_spans(fab_schedule *s, fab_error *err) {
    const fab_timeline *t = &s->timeline;
    FAB_OWNED edge *edges = NULL;
    size_t n = 0;
    FAB_PASS(FAB_NEW_ALL(2 * t->n_ops + s->pipeline.n_stages, err, edges, s->span));
    FAB_EACH(const fab_op, op, t->op, t->n_ops) {
        edges[n++] = (edge){whole_ns(op->start_s), op->stage, 1, op};
        edges[n++] = (edge){whole_ns(op->end_s), op->stage, -1, op};
    }
    for (uint32_t stage = 0; stage < s->pipeline.n_stages; stage++) {
        edges[n++] = (edge){whole_ns(t->time_s), stage, 2, NULL};
    }
    FAB_SORT(edges, n, edge_order);
    walk_edges(s, edges, n);
    FAB_SORT(s->span, s->n_spans, span_order);
    return FAB_OK;
}

/* --- stages that are alike ---------------------------------------------------------------------------------------- */

static bool are_alike(const fab_pipeline *p, uint32_t a, uint32_t b) {
    const fab_chunk_times *x = &p->chunk[(size_t)a * p->n_chunks];
    const fab_chunk_times *y = &p->chunk[(size_t)b * p->n_chunks];
    bool same = p->optimizer_s[a] == p->optimizer_s[b];
    for (uint32_t i = 0; i < p->n_chunks && same; i++) { /* whose members before the buckets are times */
        same = x[i].buckets == y[i].buckets &&
               memcmp((const void *)&x[i], (const void *)&y[i], offsetof(fab_chunk_times, buckets)) == 0;
    }
    return same;
}

static void add_sum(fab_schedule_stage *stage, const fab_op *op) {
    fab_op_sum *sum = &stage->sum[op->kind];
    sum->first_s = sum->count == 0 ? op->start_s : sum->first_s;
    sum->last_s = fmax(sum->last_s, op->end_s);
    sum->busy_s += op->end_s - op->start_s;
    sum->count++;
}

static fab_status find_stages(fab_schedule *s, fab_error *err) {
    for (size_t i = 0; i < s->timeline.n_ops; i++) {
        s->busy_s[s->timeline.op[i].kind] += s->timeline.op[i].end_s - s->timeline.op[i].start_s;
    }
    const fab_pipeline *p = &s->pipeline;
    FAB_OWNED uint32_t *row = NULL; /* [stage]: shown in it; p->n_stages: in none */
    FAB_PASS(FAB_NEW_ALL(p->n_stages, err, s->stage, row));
    for (uint32_t i = 0; i < p->n_stages; i++) {
        FAB_FIRST(k, s->n_stages, are_alike(p, s->stage[k].stage, i));
        row[i] = k == s->n_stages ? (uint32_t)k : p->n_stages;
        if (k == s->n_stages) {
            s->stage[s->n_stages++] = (fab_schedule_stage){.stage = i, .use = s->timeline.use[i]};
        }
        s->stage[k].alike++;
    }
    FAB_PASS(FAB_NEW(s->shown, s->timeline.n_ops, err));
    size_t n_shown = 0;
    for (size_t k = 0; k < s->n_stages; k++) {
        fab_schedule_stage *stage = &s->stage[k];
        stage->op = &s->shown[n_shown];
        for (size_t i = 0; i < s->timeline.n_ops; i++) {
            if (row[s->timeline.op[i].stage] == k) {
                add_sum(stage, &s->timeline.op[i]);
                s->shown[n_shown++] = s->timeline.op[i];
                stage->n_ops++;
            }
        }
    }
    for (size_t k = 0; k < s->n_stages; k++) { /* kinds that it has, in front */
        fab_schedule_stage *stage = &s->stage[k];
        for (uint32_t kind = 0; kind < FAB_OP_N; kind++) {
            if (stage->sum[kind].count > 0) {
                stage->sum[stage->n_sums] = stage->sum[kind];
                stage->sum[stage->n_sums++].kind = (fab_op_kind)kind;
            }
        }
    }
    return FAB_OK;
}

/* --- power -------------------------------------------------------------------------------------------------------- */

static double watts_of(const fab_gpu_watts *watts, const fab_span *span) {
    if (span->doing < FAB_OP_N && RANK[span->doing] < COMPUTES) {
        return watts->communicate_w;
    }
    return watts->idle_w + span->compute_ratio * (watts->compute_w - watts->idle_w) +
           span->exchange_ratio * (watts->communicate_w - watts->idle_w);
}

static void add_point(fab_schedule *s, double start_s, double power_w) {
    fab_power *power = &s->power;
    const fab_power_point *last = s->n_points > 0 ? &s->profile[s->n_points - 1] : NULL;
    if (last != NULL && last->power_w == power_w) {
        return;
    }
    power->step_w = last != NULL ? fmax(power->step_w, fabs(power_w - last->power_w)) : 0;
    power->peak_w = last != NULL ? fmax(power->peak_w, power_w) : power_w;
    power->min_w = last != NULL ? fmin(power->min_w, power_w) : power_w;
    s->profile[s->n_points++] = (fab_power_point){start_s, power_w};
}

fab_status fab_schedule_add_power(fab_schedule *s, const fab_gpu_watts *watts, double gpus, double network_w,
                                  fab_error *err) {
    const uint32_t n_stages = s->pipeline.n_stages;
    double energy_j = 0;
    FAB_OWNED_NEW(double, stage_w, n_stages, err);
    FAB_PASS(FAB_NEW(s->profile, s->n_spans, err));
    s->power = (fab_power){.network_w = network_w, .idle_w = n_stages * gpus * watts->idle_w + network_w};
    for (size_t i = 0; i < s->n_spans;) {
        double start_s = s->span[i].start_s;
        double sum_w = 0;
        for (; i < s->n_spans && s->span[i].start_s <= start_s; i++) {
            stage_w[s->span[i].stage] = watts_of(watts, &s->span[i]);
        }
        for (uint32_t stage = 0; stage < n_stages; stage++) {
            sum_w += stage_w[stage];
        }
        add_point(s, start_s, sum_w * gpus + network_w);
        double end_s = i < s->n_spans ? s->span[i].start_s : whole_ns(s->timeline.time_s);
        energy_j += (sum_w * gpus + network_w) * (end_s - start_s);
    }
    if (s->n_points > 0) {
        s->power.step_w = fmax(s->power.step_w, fabs(s->profile[0].power_w - s->profile[s->n_points - 1].power_w));
        s->power.mean_w = energy_j / whole_ns(s->timeline.time_s);
    }
    return FAB_OK;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

double fab_schedule_utilisation(const fab_schedule *s, const fab_link_use *links, const uint64_t n_active[FAB_OP_N]) {
    static const int GROUP[FAB_OP_N] = {[FAB_OP_GATHER] = 1,        [FAB_OP_REDUCE] = 2,  [FAB_OP_SEND_FORWARD] = 3,
                                        [FAB_OP_SEND_BACKWARD] = 3, [FAB_OP_FORWARD] = 4, [FAB_OP_BACKWARD] = 4};
    const double busy_s[] = {0, links->busy_s[FAB_TRAVEL_GATHER], links->busy_s[FAB_TRAVEL_REDUCE],
                             links->busy_s[FAB_TRAVEL_SEND], fab_exchange_s(links->busy_s)};
    double whole_s[5] = {0};
    double sum = 0;
    for (int kind = 0; kind < FAB_OP_N; kind++) {
        whole_s[GROUP[kind]] += s->busy_s[kind];
    }
    for (int kind = 0; kind < FAB_OP_N; kind++) {
        double all_s = whole_s[GROUP[kind]];
        sum += all_s > 0 ? (double)n_active[kind] * busy_s[GROUP[kind]] / all_s : 0;
    }
    return fmin(sum, 1);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

FAB_FREES_AFTER(fab_schedule_free, fab_schedule, s) {
    fab_timeline_release(&s->timeline);
    free((void *)s->pipeline.chunk);
    free((void *)s->pipeline.optimizer_s);
    FAB_FREE_ALL(s->span, s->stage, s->shown, s->profile, s->links);
}

fab_status fab_schedule_new(const fab_pipeline *p, fab_schedule **out, fab_error *err) {
    fab_chunk_times *chunk = NULL;
    double *optimizer_s = NULL;
    size_t n_chunks = (size_t)p->n_stages * p->n_chunks;
    double passes = 2 * (double)n_chunks * p->n_microbatches;
    FAB_REFUSE_IF(passes > FAB_SCHEDULE_PASSES, err, FAB_EUNSUPPORTED, NULL,
                  "its schedule has %.0f passes, and up to %d are kept", passes, FAB_SCHEDULE_PASSES);
    FAB_OWNS_NEW(fab_schedule_free_owned, fab_schedule, s, 1, err);
    FAB_PASS(FAB_NEW(chunk, n_chunks, err));
    s->pipeline = *p;
    s->pipeline.chunk = chunk;
    s->pipeline.paces = NULL; /* are borrowed, and not asked for again */
    s->pipeline.optimizer_s = NULL;
    memcpy(chunk, p->chunk, n_chunks * sizeof *chunk);
    FAB_PASS(FAB_NEW(optimizer_s, p->n_stages, err));
    s->pipeline.optimizer_s = optimizer_s;
    memcpy(optimizer_s, p->optimizer_s, p->n_stages * sizeof *optimizer_s);
    FAB_PASS(fab_pipeline_run(p, FAB_PIPELINE_OPS, &s->timeline, err));
    FAB_PASS(find_spans(s, err));
    FAB_PASS(find_stages(s, err));
    return FAB_GIVE(*out, s);
}
