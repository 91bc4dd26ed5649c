/* Who costs a job most where that is not known by chance: the jobs are started again without each of the others in
 * turn, which stand where they stood. */
#include "contend_internal.h"

#include "fab/design.h"
#include "fab/parallel.h"
#include "fab/verdict.h"

#define ROUNDING (1 + 1e-12) /* times this close are equal */

/* One engine, and the jobs that are left out under it. */
typedef struct absences {
    const contended *m;
    size_t engine, first_item;
    uint64_t n_seeds;
    uint32_t target; /* of which rivals are wanted; m->n: of all */
    uint32_t n, out[FAB_MAX_JOBS];
    double *without_s; /* [n][n_seeds][m->n], without latency */
} absences;

/* All jobs without one, under every seed. */
static fab_status leave_out(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    const absences *a = context;
    const contended *m = a->m;
    const uint32_t left_out = a->out[index];
    const fab_phase *phases[FAB_MAX_JOBS];
    FAB_OWNS(contend_union_release) contend_union all = {.n = 0};
    for (uint32_t i = 0, n = 0; i < m->n; i++) {
        phases[n] = m->phases[i];
        n += i != left_out;
    }
    FAB_PASS(m->n > 2 ? contend_union_init(m->c, phases, m->n - 1, &all, err) : FAB_OK);
    for (uint64_t s = 0; s < a->n_seeds; s++) {
        double *found_s = &a->without_s[(index * a->n_seeds + s) * m->n];
        if (m->n == 2) { /* without the other a job is alone */
            memcpy(found_s, &m->alone_s[(a->first_item + s) * m->n], m->n * sizeof *found_s);
            continue;
        }
        const fab_trace trace = {.group = all.group, .n_groups = m->n - 1, .last_s = found_s};
        FAB_PASS(contend_trace(&all, a->engine, s, &trace, err));
        memmove(&found_s[left_out + 1], &found_s[left_out], (m->n - 1 - left_out) * sizeof *found_s);
    }
    return FAB_OK;
}

/* By how much the job ends later than without the one, or where `other` is below a->n without that one: mean over the
 * seeds; 0 where that is too little, or they do not tell it from luck. */
static double clearly_later_s(const absences *a, uint32_t job, size_t one, size_t other, double little_s,
                              double *values) {
    const contended *m = a->m;
    fab_stat later;
    for (uint64_t s = 0; s < a->n_seeds; s++) {
        const double *than =
            other < a->n ? &a->without_s[(other * a->n_seeds + s) * m->n] : &m->together_s[(a->first_item + s) * m->n];
        values[s] = than[job] - a->without_s[(one * a->n_seeds + s) * m->n + job];
    }
    fab_stat_of(values, a->n_seeds, &later);
    return later.mean > little_s && later.mean > later.ci95 ? later.mean : 0;
}

static double without_mean_s(const absences *a, uint32_t job, size_t left_out, double *values) {
    fab_stat found;
    FAB_FILL(values, a->n_seeds, a->without_s[(left_out * a->n_seeds + fab_at) * a->m->n + job]);
    fab_stat_of(values, a->n_seeds, &found);
    return found.mean;
}

/* The absence that gives a job back most, and how many give back as much. values: [n_seeds]. */
static fab_status find_rival(const absences *a, uint32_t i, fab_contended_phase *out, double *values, fab_error *err) {
    const contended *m = a->m;
    const contender *c = m->c;
    const uint32_t job = m->member[i];
    const double now_s = fab_contended_s(out, true);
    const double latency_s = contend_alone(c, job, c->out->jobs[job].phase_index, a->engine)->latency_s;
    size_t best = a->n;
    double most_s = 0;
    for (size_t k = 0; k < a->n; k++) {
        const double back_s = a->out[k] != i ? clearly_later_s(a, i, k, a->n, FAB_VERDICT_LITTLE * now_s, values) : 0;
        out->n_tried += a->out[k] != i;
        if (back_s > most_s * ROUNDING) {
            most_s = back_s;
            best = k;
        }
    }
    if (best == a->n) {
        return FAB_OK;
    }
    const double phase_s = without_mean_s(a, i, best, values) + latency_s;
    FAB_PASS(contend_iterate_at(c, job, c->out->jobs[job].phase_index, a->engine, phase_s, &out->without_s, err));
    out->has_rival = now_s - out->without_s > FAB_VERDICT_LITTLE * now_s; /* else what the phase gains is hidden */
    out->rival = m->member[a->out[best]];
    for (size_t k = 0; k < a->n; k++) {
        out->n_rivals_even +=
            k != best && a->out[k] != i && !(clearly_later_s(a, i, best, k, FAB_VERDICT_LITTLE * now_s, values) > 0);
    }
    return FAB_OK;
}

/* Where the phases that contend share a link, the one that the job's bytes leave last. */
static void name_link(const absences *a, uint32_t i, fab_contended_phase *out) {
    const contended *m = a->m;
    FAB_FIRST(k, m->n, m->member[k] == out->rival);
    const contend_meeting *at = &m->meetings[(a->engine * m->n + i) * m->n + k];
    if (at->passed_s > 0) {
        (void)fab_link_name(m->c->what->fabric, at->link, out->rival_link);
    }
}

/* The jobs that the target meets where its bytes leave last, those with most bytes there first. */
static void choose_absences(absences *a, uint32_t most) {
    const contended *m = a->m;
    const contend_meeting *meet = &m->meetings[(a->engine * m->n + a->target) * m->n];
    bool taken[FAB_MAX_JOBS] = {false};
    while (a->n < most) {
        uint32_t best = m->n;
        for (uint32_t k = 0; k < m->n; k++) {
            const bool can_be = !taken[k] && k != a->target && meet[k].passed_s > 0;
            if (can_be && (best == m->n || meet[k].passed_s > meet[best].passed_s ||
                           (meet[k].passed_s == meet[best].passed_s && meet[k].both_s > meet[best].both_s))) {
                best = k;
            }
        }
        if (best == m->n) {
            return;
        }
        taken[best] = true;
        a->out[a->n++] = best;
    }
}

/* How many replays are affordable: all, else those that tell most about the job that loses most; none where all rivals
 * are known by chance. */
static void plan_absences(absences *a) {
    const contended *m = a->m;
    const fab_contention_engine *e = &m->c->out->engines[a->engine];
    FAB_ALL(is_known, i, m->n, e->jobs[m->member[i]].expected_s > 0);
    if (is_known) {
        return;
    }
    const uint64_t work = m->all.phase.n_flows * a->n_seeds;
    const bool is_fluid = m->c->what->design->fabric.transport.kind == FAB_TRANSPORT_FLUID;
    const uint64_t most = is_fluid ? FAB_RIVAL_FLOWS / (work > 0 ? work : 1) : 0;
    if (m->n == 2 || most >= m->n) {
        for (; a->n < m->n; a->n++) {
            a->out[a->n] = a->n;
        }
        return;
    }
    size_t n_slowed = 0;
    const size_t worst = fab_contention_most_slowed(m->c->out, e, &n_slowed);
    for (a->target = 0; a->target < m->n && m->member[a->target] != worst; a->target++) {
    }
    if (a->target < m->n) {
        choose_absences(a, (uint32_t)most);
    }
}

static fab_status find_rivals(absences *a, fab_error *err) {
    const contended *m = a->m;
    a->target = m->n;
    plan_absences(a);
    FAB_OWNED_NEW(double, without_s, a->n * a->n_seeds * m->n, err);
    FAB_OWNED_NEW(double, values, a->n_seeds, err);
    a->without_s = without_s;
    FAB_PASS(fab_parallel_for(a->n, m->c->base->n_threads, leave_out, a, err));
    for (uint32_t i = 0; i < m->n; i++) {
        fab_contended_phase *out = &m->c->out->engines[a->engine].jobs[m->member[i]];
        const bool is_asked = a->n > 0 && (a->target == m->n || a->target == i);
        FAB_PASS(is_asked && !(out->expected_s > 0) ? find_rival(a, i, out, values, err) : FAB_OK);
        if (out->has_rival) {
            name_link(a, i, out);
        }
    }
    return FAB_OK;
}

fab_status contend_rivals(contended *m, fab_error *err) {
    size_t first = 0;
    for (size_t e = 0; m->n > 1 && e < m->c->out->n_engines; e++) {
        absences a = {.m = m, .engine = e, .first_item = first, .n_seeds = m->c->n_seeds[e]};
        FAB_PASS(find_rivals(&a, err));
        first += a.n_seeds;
    }
    return FAB_OK;
}
