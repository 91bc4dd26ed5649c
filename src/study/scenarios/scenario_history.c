/* Histories: what fails and is repaired in a span of time, and what is left of it for a job. */
#include "scenarios_internal.h"

#include "fab/rng.h"

static const fab_component_kind KINDS[FAB_FAILURE_N] = {FAB_COMPONENT_LINK, FAB_COMPONENT_SWITCH, FAB_COMPONENT_NIC,
                                                        FAB_COMPONENT_GPU,  FAB_COMPONENT_SERVER, FAB_COMPONENT_GPU,
                                                        FAB_COMPONENT_GPU,  FAB_COMPONENT_GPU,    FAB_COMPONENT_LINK};

static bool breaks(fab_failure_class c) {
    return c != FAB_FAILURE_SOFTWARE && c != FAB_FAILURE_MAINTENANCE;
}

static fab_status history_add(fab_scenario *out, const fab_event *event, fab_error *err) {
    return FAB_APPEND(out->event, out->n_events, out->event_capacity, err, *event);
}

/* Not yet repaired when it would fail again. Failures of a class are in order of time; `most_s`: the longest repair. */
static bool is_down(const fab_scenario *out, size_t first, const fab_component *c, double time_s, double most_s) {
    for (size_t i = out->n_events; i > first && out->event[i - 1].time_s + most_s > time_s; i--) {
        const fab_event *e = &out->event[i - 1];
        if (e->component.id == c->id && e->time_s + e->away_s > time_s) {
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

static double draw_part(fab_rng *rng) {
    return (double)(fab_rng_next(rng) >> 11) * 0x1p-53;
}

/* Speed that is left; 0: none. */
static double speed_of(const fab_failure_rates *r, fab_failure_class c) {
    return c == FAB_FAILURE_SLOW ? r->slow_speed : c == FAB_FAILURE_FLAP ? r->flap_speed : 0;
}

/* What somebody notices ends as a dead part, which is away as such. */
static bool is_noticed(const fab_failure_rates *r, fab_failure_class c) {
    return speed_of(r, c) > 0 && 1 - speed_of(r, c) >= r->detect_loss && r->detect_s < r->repair_s[c];
}

/* Draws of their own: what infant mortality and RMAs do not use leaves the other draws as they are. */
static void draw_fate(const fab_failure_rates *r, fab_failure_class c, fab_rng *rng, double t, fab_event *event,
                      bool *out_is_real) {
    *out_is_real = true;
    event->away_s = is_noticed(r, c) ? r->detect_s : r->repair_s[c];
    event->component.fraction = speed_of(r, c);
    if (breaks(c) && r->infant_factor > 1) { /* thinned from the rate of the beginning */
        double rate = 1 + (r->infant_factor - 1) * exp(-t / r->infant_s);
        *out_is_real = draw_part(rng) * r->infant_factor < rate;
    }
    if (breaks(c) && speed_of(r, c) == 0 && r->rma_part > 0) {
        event->away_s = draw_part(rng) < r->rma_part ? r->rma_s : event->away_s;
    }
}

static fab_status add_repairs(const fab_scenarios *s, size_t first, fab_scenario *out, fab_error *err) {
    size_t last = out->n_events;
    for (size_t k = first; k < last; k++) {
        fab_event event = out->event[k];
        event.time_s += event.away_s;
        event.is_repair = true;
        FAB_PASS(event.time_s < s->span_s ? history_add(out, &event, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status add_noticed(const fab_scenarios *s, fab_failure_class c, size_t first, size_t last, fab_scenario *out,
                              fab_error *err) {
    const fab_failure_class dead = c == FAB_FAILURE_SLOW ? FAB_FAILURE_GPU : FAB_FAILURE_LINK;
    for (size_t k = first; k < last && is_noticed(&s->rates, c); k++) {
        fab_event event = out->event[k];
        event.time_s += event.away_s;
        event.failure = dead;
        event.component.fraction = 0;
        event.away_s = s->rates.repair_s[dead];
        size_t at = out->n_events;
        if (event.time_s < s->span_s) {
            FAB_PASS(history_add(out, &event, err));
            FAB_PASS(add_repairs(s, at, out, err));
        }
    }
    return FAB_OK;
}

static fab_status fail_class(const fab_scenarios *s, uint64_t i, fab_failure_class c, fab_scenario *out,
                             fab_error *err) {
    const fab_failure_rates *r = &s->rates;
    uint32_t n = KINDS[c] == FAB_COMPONENT_LINK ? s->n_links : fab_component_count(s->fabric, &s->racks, KINDS[c]);
    double per_s = r->per_s[c] * n * (breaks(c) && r->infant_factor > 1 ? r->infant_factor : 1);
    fab_rng rng = fab_rng_make(fab_draw(s->seed, i, c), 0x686973);
    fab_rng fates = fab_rng_make(fab_draw(s->seed, i, c), 0x66617465);
    size_t first = out->n_events;
    size_t last = first;
    if (!(per_s > 0)) {
        return FAB_OK;
    }
    double t = wait_s(&rng, per_s);
    double most_s = r->rma_part > 0 && r->rma_s > r->repair_s[c] ? r->rma_s : r->repair_s[c];
    while (t < s->span_s) {
        bool is_real = true;
        fab_event event = {.time_s = t, .failure = c};
        event.component = scenario_component(s, KINDS[c], (uint32_t)fab_rng_below(&rng, n));
        draw_fate(r, c, &fates, t, &event, &is_real);
        if (is_real && (!breaks(c) || !is_down(out, first, &event.component, t, most_s))) {
            FAB_PASS(history_add(out, &event, err));
        }
        t += wait_s(&rng, per_s);
    }
    last = out->n_events;
    FAB_PASS(breaks(c) ? add_repairs(s, first, out, err) : FAB_OK);
    return add_noticed(s, c, first, last, out, err);
}

/* A repair in no time comes behind what it repairs. */
FAB_ORDER_KEYS(by_time, fab_event, FAB_ORDER(a->time_s, b->time_s), FAB_ORDER(a->is_repair, b->is_repair),
               FAB_ORDER(a->failure, b->failure), FAB_ORDER(a->component.id, b->component.id));

fab_status scenario_history(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) {
    for (fab_failure_class c = 0; c < FAB_FAILURE_N; c++) {
        FAB_PASS(fail_class(s, i, c, out, err));
    }
    FAB_SORT(out->event, out->n_events, by_time);
    return FAB_OK;
}
