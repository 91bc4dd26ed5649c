/* Histories: what fails and is repaired in a span of time, and what is left of it for a job. */
#include "scenarios_internal.h"

#include "fab/memory.h"
#include "fab/order.h"
#include "fab/rng.h"

#include <math.h>
#include <stdlib.h>

const char *const fab_failure_classes[FAB_FAILURE_N] = {"links", "switches", "nics", "gpus", "servers", "software"};

fab_failure_rates fab_failure_rates_default(void) {
    const double day = 86400;
    const double month = 30 * day;
    const double gpu_span = 16384 * 54 * day; /* of Llama 3 405B: GPU seconds; servers have 8 */
    fab_failure_rates r = {.checkpoint_s = 3 * 3600, .restart_s = 600};
    r.per_s[FAB_FAILURE_LINK] = 0.00057 / month;
    r.per_s[FAB_FAILURE_SWITCH] = 0.00051 / month;
    r.per_s[FAB_FAILURE_NIC] = 7 / gpu_span;
    r.per_s[FAB_FAILURE_GPU] = (148 + 72 + 19 + 17 + 6 + 6) / gpu_span; /* GPU, HBM3, SRAM, processor, silent, heat */
    r.per_s[FAB_FAILURE_SERVER] =
        (32 + 3 + 3 + 2 + 2 + 2 + 2) / gpu_span * 8;         /* host, SSD, PSU, chassis, IO, CPU, memory
                                                              */
    r.per_s[FAB_FAILURE_SOFTWARE] = (54 + 7 + 2) / gpu_span; /* software, NCCL timeouts, dependency */
    for (uint32_t c = 0; c < FAB_FAILURE_N; c++) {
        r.repair_s[c] = c == FAB_FAILURE_LINK || c == FAB_FAILURE_SWITCH ? 4 * 3600 : day;
    }
    r.repair_s[FAB_FAILURE_SOFTWARE] = 0;
    return r;
}

static const fab_component_kind KINDS[FAB_FAILURE_N] = {FAB_COMPONENT_LINK, FAB_COMPONENT_SWITCH, FAB_COMPONENT_NIC,
                                                        FAB_COMPONENT_GPU,  FAB_COMPONENT_SERVER, FAB_COMPONENT_GPU};

static fab_status history_add(fab_scenario *out, const fab_event *event, fab_error *err) {
    FAB_PASS(FAB_GROW(out->event, out->event_capacity, out->n_events + 1, err));
    out->event[out->n_events++] = *event;
    return FAB_OK;
}

/* Not yet repaired when it would fail again. Failures of a class are in order of time, and repairs take equally long.
 */
static bool is_down(const fab_scenario *out, size_t first, const fab_component *c, double time_s, double repair_s) {
    for (size_t i = out->n_events; i > first && out->event[i - 1].time_s + repair_s > time_s; i--) {
        if (!out->event[i - 1].is_repair && out->event[i - 1].component.id == c->id) {
            return true;
        }
    }
    return false;
}

/* Time between two events of a Poisson process. */
static double wait_s(fab_rng *rng, double per_s) {
    double uniform = ((double)(fab_rng_next(rng) >> 11) + 1) * 0x1p-53; /* above 0, at most 1 */
    return -log(uniform) / per_s;
}

static fab_status fail_class(const fab_scenarios *s, uint64_t i, fab_failure_class c, fab_scenario *out,
                             fab_error *err) {
    uint32_t n = KINDS[c] == FAB_COMPONENT_LINK ? s->n_links : fab_component_count(s->fabric, &s->racks, KINDS[c]);
    double per_s = s->rates.per_s[c] * n;
    fab_rng rng = fab_rng_make(fab_draw(s->seed, i, c), 0x686973);
    size_t first = out->n_events;
    if (!(per_s > 0)) {
        return FAB_OK;
    }
    double t = wait_s(&rng, per_s);
    while (t < s->span_s) {
        fab_event event = {.time_s = t, .failure = c};
        event.component = scenario_component(s, KINDS[c], (uint32_t)fab_rng_below(&rng, n));
        if (c == FAB_FAILURE_SOFTWARE || !is_down(out, first, &event.component, t, s->rates.repair_s[c])) {
            FAB_PASS(history_add(out, &event, err));
        }
        t += wait_s(&rng, per_s);
    }
    size_t last = out->n_events;
    for (size_t k = first; k < last && c != FAB_FAILURE_SOFTWARE; k++) {
        fab_event event = out->event[k];
        event.time_s += s->rates.repair_s[c];
        event.is_repair = true;
        if (event.time_s < s->span_s) {
            FAB_PASS(history_add(out, &event, err));
        }
    }
    return FAB_OK;
}

static int by_time(const void *a, const void *b) {
    const fab_event *x = a;
    const fab_event *y = b;
    FAB_ORDER_BY(x->time_s, y->time_s);
    if (x->is_repair != y->is_repair) {
        return x->is_repair ? 1 : -1; /* a repair in no time comes behind what it repairs */
    }
    FAB_ORDER_BY(x->failure, y->failure);
    return FAB_ORDER(x->component.id, y->component.id);
}

fab_status scenario_history(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) {
    for (fab_failure_class c = 0; c < FAB_FAILURE_N; c++) {
        FAB_PASS(fail_class(s, i, c, out, err));
    }
    if (out->n_events > 0) {
        qsort(out->event, out->n_events, sizeof *out->event, by_time);
    }
    return FAB_OK;
}

fab_span_parts fab_span_split(const fab_event *event, size_t n_events, double span_s, const fab_failure_rates *rates,
                              const fab_span_course *course) {
    fab_span_parts sum = {0};
    double work = 0; /* since the last checkpoint */
    double now = 0;
    double runs_from = 0;
    bool waits = false;
    for (size_t i = 0; i <= n_events; i++) {
        bool ends = i == n_events || event[i].time_s >= span_s;
        double until = ends ? span_s : event[i].time_s;
        double begin = runs_from > now ? fmin(runs_from, until) : now;
        if (waits) {
            sum.wait += until - now;
        } else {
            double done = (until - begin) * (course->speed != NULL ? course->speed[i] : 1);
            sum.restart += begin - now;
            sum.slow += until - begin - done;
            work += done;
            double saved = floor(work / rates->checkpoint_s) * rates->checkpoint_s;
            sum.useful += saved;
            work -= saved;
        }
        if (ends) {
            break;
        }
        now = until;
        bool waited = waits;
        waits = course->waits != NULL && course->waits[i] != 0;
        if (!waited && (course->stops != NULL ? course->stops[i] != 0 : !event[i].is_repair)) {
            sum.redo += work;
            work = 0;
            runs_from = now + rates->restart_s;
        }
        runs_from = waited && !waits ? now + rates->restart_s : runs_from;
    }
    sum.useful += work;
    return (fab_span_parts){.useful = sum.useful / span_s,
                            .restart = sum.restart / span_s,
                            .redo = sum.redo / span_s,
                            .slow = sum.slow / span_s,
                            .wait = sum.wait / span_s};
}
