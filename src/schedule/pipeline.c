/* What a pipeline may be, and what its iteration consists of. Fixed orders make time grow with every duration, so that
 * what a kind of communication costs is the difference between a run with it and one without. */
#include "pipeline_run.h"
#include "fab/units.h"

const char *const fab_pipeline_orders[FAB_ORDER_N] = {"1f1b", "zero-bubble"};

const char *const fab_op_names[FAB_OP_N] = {"gather",       "forward",       "backward", "weights",
                                            "send-forward", "send-backward", "reduce",   "optimizer"};

double fab_exchange_s(const double exchange_s[FAB_N_EXCHANGES]) {
    return exchange_s[FAB_TRAVEL_TP] + exchange_s[FAB_TRAVEL_CP] + exchange_s[FAB_TRAVEL_EP];
}

double fab_pipeline_lower_bound_s(const fab_pipeline *p) {
    bool returns = p->order != FAB_ORDER_ZERO_BUBBLE; /* there, gradients of weights may follow the last way back */
    double waits = 1 - p->send_overlap;
    double way_s = 0; /* of the first microbatch to this stage, and of the last back from it */
    double most_s = 0;
    double optimizer_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        const fab_chunk_times *first = &p->chunk[(size_t)stage * p->n_chunks];
        double busy_s = 0;
        double each_s = 0; /* of a microbatch, that its replicas exchange, one after the other */
        FAB_EACH(const fab_chunk_times, t, first, p->n_chunks) {
            busy_s += t->forward_s + fab_exchange_s(t->forward_exchange_s) + t->recompute_s + t->backward_s +
                      fab_exchange_s(t->backward_exchange_s) + t->weights_s +
                      waits * (t->send_forward_s + t->send_backward_s);
            each_s += (p->gathers_each_pass ? 2 * t->gather_s : 0) + (p->reduces_each_pass ? t->reduce_s : 0);
            double once_s =
                (p->gathers_each_pass ? 0 : t->gather_s) + (returns && !p->reduces_each_pass ? t->reduce_s : 0);
            way_s += stage == 0 ? (1 - p->replica_overlap) * once_s : 0;
        }
        busy_s += (1 - p->replica_overlap) * each_s;
        most_s = fmax(most_s, p->n_microbatches * each_s);
        /* The last transfer to the stage before is in busy_s already, and on the way; so is the last reduction, which
           the way back does not wait for. */
        double last_s = waits * first->send_backward_s;
        last_s += returns && p->reduces_each_pass && stage > 0 ? (1 - p->replica_overlap) * first->reduce_s : 0;
        most_s = fmax(most_s, way_s + p->n_microbatches * busy_s - last_s);
        way_s += first->forward_s + fab_exchange_s(first->forward_exchange_s) + first->send_forward_s;
        if (returns) {
            way_s += first->recompute_s + first->backward_s + fab_exchange_s(first->backward_exchange_s) +
                     first->weights_s + (stage + 1 < p->n_stages ? first[p->n_chunks].send_backward_s : 0);
        }
        optimizer_s = fmax(optimizer_s, p->optimizer_s[stage]);
    }
    return most_s + optimizer_s;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* A step, its transfer, two gathers and reductions each; of chunks; an optimizer. */
static double most_ops(const fab_pipeline *p) {
    double per_step = 2 + (p->gathers_each_pass ? 2 : 0) + (p->reduces_each_pass ? 2 : 0);
    return p->n_stages * (per_step * (double)fab_pipeline_steps(p) + 4.0 * p->n_chunks + 1);
}

/* Steps of all stages and when their inputs arrive; of what travels, little waits in queues at a time. */
static fab_status check_memory(const fab_pipeline *p, fab_pipeline_needs needs, fab_error *err) {
    double passes = (double)p->n_stages * p->n_chunks * p->n_microbatches;
    double bytes = (double)p->n_stages * (double)fab_pipeline_steps(p) * sizeof(fab_step_of_stage) +
                   2 * passes * sizeof(double) + (needs == FAB_PIPELINE_OPS ? most_ops(p) * sizeof(fab_op) : 0);
    char what[128];
    FAB_FORMAT(what, "the schedule of %u stages, %u chunks and %u microbatches", p->n_stages, p->n_chunks,
               p->n_microbatches);
    return fab_memory_check(what, bytes, p->max_bytes, err);
}

/* Idle time by its cause, from the makespans without communication, with sends, and with all of it. */
static void account(const fab_pipeline *p, const double *span_s, fab_timeline *out) {
    double most = -1;
    double optimizer_s = 0;
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        optimizer_s = fmax(optimizer_s, p->optimizer_s[stage]);
    }
    for (uint32_t stage = 0; stage < p->n_stages; stage++) {
        fab_stage_use *use = &out->use[stage];
        *use = (fab_stage_use){.optimizer_s = optimizer_s};
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            const fab_chunk_times *t = &p->chunk[(size_t)stage * p->n_chunks + chunk];
            double m = p->n_microbatches;
            use->compute_s += m * (t->forward_s + t->recompute_s + t->backward_s + t->weights_s);
            use->exchange_s += m * (fab_exchange_s(t->forward_exchange_s) + fab_exchange_s(t->backward_exchange_s));
        }
        double busy_s = use->compute_s + use->exchange_s;
        use->bubble_s = p->n_stages > 1 ? fmax(span_s[0] - busy_s - use->optimizer_s, 0) : 0; /* but for rounding */
        use->send_s = fmax(fmin(span_s[1], span_s[2]) - span_s[0], 0); /* replicas may keep others from meeting */
        use->replica_s = fmax(span_s[2] - span_s[1], 0);
        if (busy_s > most) {
            most = busy_s;
            out->busiest = stage;
        }
    }
}

FAB_ORDER_KEYS(op_order, fab_op, FAB_ORDER(a->start_s, b->start_s), FAB_ORDER(a->stage, b->stage),
               FAB_ORDER(a->kind, b->kind), FAB_ORDER(a->chunk, b->chunk));

FAB_RELEASES(fab_timeline_release, fab_timeline, use, op);

fab_status fab_pipeline_run(const fab_pipeline *p, fab_pipeline_needs needs, fab_timeline *out, fab_error *err) {
    FAB_OWNS(fab_timeline_release) fab_timeline found = {0};
    FAB_OWNS(run_close) run r = {.p = NULL};
    double span_s[3];
    FAB_PASS(check_memory(p, needs, err));
    const double least_s = fab_pipeline_lower_bound_s(p);
    FAB_REFUSE_IF(!isfinite(least_s), err, FAB_EINPUT, NULL, "a pipeline takes %g s", least_s);
    FAB_PASS(run_open(&r, p, err));
    FAB_PASS(needs == FAB_PIPELINE_OPS ? FAB_NEW(found.op, (size_t)most_ops(p), err) : FAB_OK);
    FAB_PASS(run_once(&r, (run_with){true, true}, found.op, &span_s[2], err));
    found.n_ops = r.n_ops;
    found.time_s = span_s[2];
    if (needs != FAB_PIPELINE_TIME) {
        FAB_PASS(FAB_NEW(found.use, p->n_stages, err));
        FAB_PASS(run_once(&r, (run_with){false, false}, NULL, &span_s[0], err));
        FAB_PASS(run_once(&r, (run_with){true, false}, NULL, &span_s[1], err));
        account(p, span_s, &found);
    }
    if (found.op != NULL) {
        FAB_SORT(found.op, found.n_ops, op_order);
    }
    return FAB_GIVE(*out, found);
}
