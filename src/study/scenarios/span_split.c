/* A span of time to its parts: what is left of it for a job. */
#include "fab/scenarios.h"

#include <math.h>

#define HOUR 3600.0

/* A job on its way from checkpoint to checkpoint. Times in seconds, work in seconds at full speed. */
typedef struct span_walk {
    const fab_failure_rates *rates;
    fab_span_parts sum;
    double work;     /* since the last checkpoint began */
    double stand_s;  /* it stands for so much longer */
    bool is_writing; /* a checkpoint does not count yet, but will in flight_s; it has this work */
    double flight_s, written;
} span_walk;

/* The next thing that happens while the job runs at `speed`, at most `left_s` from now; returns when. */
static double span_step(span_walk *w, double left_s, double speed) {
    const fab_failure_rates *r = w->rates;
    bool stands = w->stand_s > 0;
    double to_go_s = (r->checkpoint_s - w->work) / speed;
    if (!stands && !w->is_writing && to_go_s <= 0) {
        w->is_writing = true;
        w->written = w->work;
        w->work = 0;
        w->stand_s = r->pause_s;
        w->flight_s = r->lag_s;
        return 0;
    }
    double step_s = w->is_writing ? fmin(left_s, w->flight_s) : left_s;
    step_s = stands ? fmin(step_s, w->stand_s) : w->is_writing ? step_s : fmin(step_s, to_go_s);
    if (stands) {
        w->sum.write += step_s;
        w->stand_s -= step_s;
    } else {
        double done = step_s * speed;
        w->sum.slow += step_s - done;
        w->work = !w->is_writing && step_s == to_go_s ? r->checkpoint_s : w->work + done;
    }
    w->flight_s -= step_s;
    if (w->is_writing && w->flight_s <= 0) {
        w->is_writing = false;
        w->sum.useful += w->written;
    }
    return step_s;
}

double fab_throttled_speed(double throttle, uint32_t hour) {
    static const double HALF_TURN = 3.14159265358979323846;
    return hour < 6 || hour >= 18 ? 1 : 1 - throttle * sin(HALF_TURN * (hour - 5.5) / 12);
}

static void span_run_evenly(span_walk *w, double left_s, double speed) {
    const fab_failure_rates *r = w->rates;
    if (r->lag_s > 0) {
        while (left_s > 0) {
            left_s -= span_step(w, left_s, speed);
        }
        return;
    }
    double done = left_s * speed;
    w->sum.slow += left_s - done;
    w->work += done;
    double saved = floor(w->work / r->checkpoint_s) * r->checkpoint_s;
    w->sum.useful += saved;
    w->work -= saved;
}

/* From `from` on for `left_s`, hour by hour where GPUs are slower by day. */
static void span_run(span_walk *w, double from, double left_s, double speed, bool is_hot) {
    const double until = from + left_s;
    while (is_hot && w->rates->throttle > 0 && from < until) {
        double hour = floor(from / HOUR);
        double end = fmin(until, (hour + 1) * HOUR);
        span_run_evenly(w, end - from, speed * fab_throttled_speed(w->rates->throttle, (uint32_t)fmod(hour, 24)));
        from = end;
    }
    if (from < until) {
        span_run_evenly(w, left_s, speed);
    }
}

/* Returns how long the job stands before it restarts. */
static double span_stop(span_walk *w, const fab_event *event, bool is_willing) {
    bool is_maintenance = event->failure == FAB_FAILURE_MAINTENANCE;
    bool is_planned = is_maintenance || is_willing;
    double work = w->work + (w->is_writing ? w->written : 0);
    if (is_planned) {
        w->sum.useful += work;
    } else {
        w->sum.redo += work;
    }
    w->work = 0;
    w->stand_s = 0;
    w->is_writing = false;
    return (is_planned ? w->rates->lag_s : 0) + (is_maintenance ? w->rates->repair_s[FAB_FAILURE_MAINTENANCE] : 0);
}

fab_span_parts fab_span_split(const fab_event *event, size_t n_events, double span_s, const fab_failure_rates *rates,
                              const fab_span_course *course) {
    span_walk w = {.rates = rates};
    double now = 0;
    double runs_from = 0;
    bool waits = false;
    for (size_t i = 0; i <= n_events; i++) {
        bool ends = i == n_events || event[i].time_s >= span_s;
        double until = ends ? span_s : event[i].time_s;
        double begin = runs_from > now ? fmin(runs_from, until) : now;
        if (waits) {
            w.sum.wait += until - now;
        } else {
            w.sum.restart += begin - now;
            span_run(&w, begin, until - begin, course->speed != NULL ? course->speed[i] : 1,
                     course->is_hot == NULL || course->is_hot[i] != 0);
        }
        if (ends) {
            break;
        }
        now = until;
        bool waited = waits;
        const unsigned how = course->joins != NULL ? course->joins[i] : 0;
        double restart_s = (how & FAB_SPAN_REFORMS) != 0 ? rates->reform_s : rates->restart_s;
        restart_s += (how & FAB_SPAN_JOINS) != 0 ? rates->join_s : 0;
        waits = course->waits != NULL && course->waits[i] != 0;
        if (!waited && (course->stops != NULL ? course->stops[i] != 0 : !event[i].is_repair)) {
            runs_from = now + span_stop(&w, &event[i], (how & FAB_SPAN_PLANNED) != 0) + restart_s;
        }
        runs_from = waited && !waits ? now + restart_s : runs_from;
    }
    w.sum.useful += w.work + (w.is_writing ? w.written : 0);
    return (fab_span_parts){.useful = w.sum.useful / span_s,
                            .restart = w.sum.restart / span_s,
                            .redo = w.sum.redo / span_s,
                            .slow = w.sum.slow / span_s,
                            .wait = w.sum.wait / span_s,
                            .write = w.sum.write / span_s};
}
