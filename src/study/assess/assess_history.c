/* Histories: a job through the failures and repairs of a span of time.
 *
 * A failure that takes a rank or cuts a flow off stops the job. It restarts where the policy puts it for what is down
 * at that moment, at once or when a repair lets it. Until it stops again it stays there: a repair moves nobody. So its
 * speed changes with what is down in the network, and most events change nothing: a GPU where no rank is neither holds
 * the job up nor, repaired, helps it. */
#include "assess_internal.h"

#include "fab/memory.h"

#include <math.h>
#include <string.h>

void assess_history_free(assess_history *h) {
    if (h == NULL) {
        return;
    }
    FAB_FREE_ALL(h->down, h->worst_down, h->moves, h->moved, h->new_gpu, h->stops, h->waits, h->joins, h->speed, h);
}

static fab_status open_history(fab_assessor *a, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_fabric *f = a->assessment->fabric;
    assess_history *h = NULL;
    if (a->history != NULL) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(h, 1, err));
    FAB_TRY(FAB_NEW(h->moves, f->n_servers, err));
    FAB_TRY(FAB_NEW(h->moved, fab_n_gpus(f), err));
    FAB_TRY(FAB_NEW(h->new_gpu, fab_n_gpus(f), err));
    for (uint32_t gpu = 0; gpu < fab_n_gpus(f); gpu++) {
        h->new_gpu[gpu] = gpu;
    }
    a->history = h;
    h = NULL;
done:
    assess_history_free(h);
    return status;
}

/* --- where the job is --------------------------------------------------------------------------------------------- */

/* NULL where nobody has moved: then nothing need be compared. */
static const fab_relocation *history_place_of(const assess_history *h) {
    return h->place.n_moved > 0 ? &h->place : NULL;
}

static void leave(fab_assessor *a) {
    assess_history *h = a->history;
    assess_put_back(a, &h->place);
    for (size_t i = 0; i < h->place.n_moved; i++) {
        h->new_gpu[h->moved[i]] = h->moved[i];
    }
    h->place = (fab_relocation){.moves = h->moves, .moved = h->moved, .new_gpu = h->new_gpu};
}

/* Keeps what a relocator has found. */
static void settle(fab_assessor *a, const fab_relocation *to) {
    assess_history *h = a->history;
    leave(a);
    memcpy(h->moves, to->moves, to->n_moves * sizeof *h->moves);
    memcpy(h->moved, to->moved, to->n_moved * sizeof *h->moved);
    for (size_t i = 0; i < to->n_moved; i++) {
        h->new_gpu[to->moved[i]] = to->new_gpu[to->moved[i]];
    }
    h->place.n_moves = to->n_moves;
    h->place.n_moved = to->n_moved;
    assess_put(a, &h->place);
}

/* Whether a GPU without a rank gets one: a spare, or one that is repaired. */
static bool has_newcomer(const fab_assessor *a, const fab_relocation *to) {
    const assess_history *h = a->history;
    bool found = false;
    for (size_t i = 0; i < to->n_moved && to->n_lost > 0 && !found; i++) {
        found = a->has_rank[to->new_gpu[to->moved[i]]] == 0;
    }
    for (size_t i = 0; i < h->place.n_moved && !found; i++) {
        uint32_t home = h->moved[i];
        found = a->has_rank[home] == 0 && (to->n_lost == 0 || to->new_gpu[home] == home);
    }
    return found;
}

static bool is_same_place(const assess_history *h, const fab_relocation *to) {
    bool same = to->n_moved == h->place.n_moved;
    for (size_t i = 0; i < to->n_moved && same; i++) {
        same = to->moved[i] == h->moved[i] && to->new_gpu[to->moved[i]] == h->new_gpu[to->moved[i]];
    }
    return same;
}

/* --- what is down ------------------------------------------------------------------------------------------------- */

static fab_status note_event(assess_history *h, const fab_event *event, fab_error *err) {
    if (!event->is_repair) {
        FAB_PASS(FAB_GROW(h->down, h->down_capacity, h->n_down + 1, err));
        h->down[h->n_down++] = event->component;
    }
    for (size_t i = 0; i < h->n_down && event->is_repair; i++) {
        if (h->down[i].kind == event->component.kind && h->down[i].id == event->component.id &&
            h->down[i].fraction == event->component.fraction) {
            h->n_down--;
            memmove(&h->down[i], &h->down[i + 1], (h->n_down - i) * sizeof *h->down);
            break;
        }
    }
    return FAB_OK;
}

/* The first of the GPUs that a component may matter to, and how many; 0: it belongs to the network. */
static uint64_t gpus_beside(const fab_fabric *f, const fab_component *c, uint64_t *out_first) {
    uint64_t server = c->id;
    if (c->kind == FAB_COMPONENT_GPU) {
        server = c->id / f->gpus_per_server;
    } else if (c->kind == FAB_COMPONENT_NIC) {
        server = c->id / f->nics_per_server;
    } else if (c->kind != FAB_COMPONENT_SERVER) {
        return 0;
    }
    *out_first = server * f->gpus_per_server;
    uint64_t n = f->gpus_per_server;
    if (f->forwards_in_domain) { /* a GPU without a rank may relay for those in its domain */
        uint64_t last = *out_first + n;
        *out_first = *out_first / f->gpus_per_domain * f->gpus_per_domain;
        n = (last - *out_first + f->gpus_per_domain - 1) / f->gpus_per_domain * f->gpus_per_domain;
    }
    return n;
}

/* A component with which the job, where it is now, has nothing to do. */
static bool is_elsewhere(const fab_assessor *a, const fab_component *c) {
    uint64_t first = 0;
    uint64_t n = gpus_beside(a->assessment->fabric, c, &first);
    return n > 0 && !assess_any_rank(a, first, n);
}

/* GPUs that die with it: with one rank among them the job stops, whatever else. */
static bool takes_a_rank(const fab_assessor *a, const fab_component *c) {
    uint64_t n = c->kind == FAB_COMPONENT_GPU      ? 1
                 : c->kind == FAB_COMPONENT_SERVER ? a->assessment->fabric->gpus_per_server
                                                   : 0;
    return n > 0 && c->fraction == 0 && assess_any_rank(a, c->id * n, n);
}

/* --- a moment ----------------------------------------------------------------------------------------------------- */

static fab_status keep_worst(fab_assessor *a, const assessment_loads *loads, double time_s, fab_error *err) {
    assess_history *h = a->history;
    bool is_worse = isnan(time_s) ? loads->worst_ratio > h->worst.worst_ratio : time_s > h->worst_s;
    if (h->has_worst && !is_worse) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(h->worst_down, h->worst_capacity, h->n_down + 1, err));
    if (h->n_down > 0) {
        memcpy(h->worst_down, h->down, h->n_down * sizeof *h->down);
    }
    h->n_worst_down = h->n_down;
    h->n_worst_moves = h->place.n_moves;
    h->worst = *loads;
    h->worst_s = time_s;
    h->has_worst = true;
    return FAB_OK;
}

/* Whether the job runs where it is, and how fast. */
static fab_status history_look(fab_assessor *a, size_t variant, bool *out_runs, double *out_speed, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_assessment *d = a->assessment;
    assess_history *h = a->history;
    size_t engine = variant / d->request.n_policies;
    double time_s = NAN;
    *out_speed = 1;
    FAB_TRY(fab_mask_set(&a->mask, h->down, h->n_down, err));
    *out_runs = true;
    for (uint32_t i = 0; i < a->mask.n_nodes && *out_runs; i++) {
        bool is_gpu = fab_kind_of(d->fabric, a->mask.node[i]) == FAB_NODE_GPU;
        *out_runs = !is_gpu || a->has_rank[a->mask.node[i]] == 0;
    }
    if (!*out_runs) {
        goto done;
    }
    FAB_TRY(assess_reroute(a, engine, history_place_of(h), err));
    assessment_loads loads = assess_loads(a, engine);
    *out_runs = loads.n_disconnected == 0;
    if (*out_runs && d->request.times) {
        FAB_TRY(assess_time(a, engine, history_place_of(h), assess_compute_ratio(a, h->down, h->n_down), &time_s, err));
        *out_speed = time_s > 0 ? d->healthy[variant].time_s / time_s : 1;
    }
    if (*out_runs) {
        FAB_TRY(keep_worst(a, &loads, time_s, err));
    }
done:
    return status;
}

/* The job has stopped: it goes where it can run, if there is such a place. */
static fab_status place(fab_assessor *a, size_t variant, bool *runs, double *speed, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_assessment_request *q = &a->assessment->request;
    assess_history *h = a->history;
    fab_relocation to;
    fab_relocator *relocator = a->relocators[variant / q->n_policies];
    FAB_TRY(fab_mask_set(&a->mask, h->down, h->n_down, err));
    FAB_TRY(fab_relocate(relocator, &a->mask, q->policies[variant % q->n_policies], &to, err));
    if (!to.is_possible) {
        *runs = false;
        goto done;
    }
    if (*runs && is_same_place(h, &to)) { /* nothing has changed but that it restarts */
        goto done;
    }
    h->joins_now = has_newcomer(a, &to);
    if (to.n_lost == 0) {
        leave(a);
    } else {
        settle(a, &to);
    }
    FAB_TRY(history_look(a, variant, runs, speed, err));
done:
    return status;
}

/* --- a history ---------------------------------------------------------------------------------------------------- */

/* Software fails, and plans are made, where ranks are: of the GPUs of other jobs and of none this one knows nothing. */
static bool concerns_job(const fab_assessor *a, const fab_event *event) {
    return (event->failure != FAB_FAILURE_SOFTWARE && event->failure != FAB_FAILURE_MAINTENANCE) ||
           assess_any_rank(a, event->component.id, 1);
}

/* One event. `runs`: the job has a place where it runs; it does so at `speed`. */
static fab_status history_step(fab_assessor *a, size_t variant, const fab_event *event, bool *runs, double *speed,
                               bool *out_stops, fab_error *err) {
    fab_status status = FAB_OK;
    const bool ran = *runs;
    const bool is_software = event->failure == FAB_FAILURE_SOFTWARE || event->failure == FAB_FAILURE_MAINTENANCE;
    *out_stops = false;
    if (is_software) {
        *out_stops = ran && concerns_job(a, event);
        return *out_stops ? place(a, variant, runs, speed, err) : FAB_OK;
    }
    FAB_TRY(note_event(a->history, event, err));
    if (!ran) {
        if (event->is_repair) {
            FAB_TRY(place(a, variant, runs, speed, err));
        }
        goto done;
    }
    if (is_elsewhere(a, &event->component)) {
        goto done;
    }
    if (!event->is_repair && takes_a_rank(a, &event->component)) {
        *runs = false;
    } else {
        FAB_TRY(history_look(a, variant, runs, speed, err));
    }
    *out_stops = !*runs;
    if (*out_stops) {
        FAB_TRY(place(a, variant, runs, speed, err));
    }
done:
    return status;
}

/* Figures of the network are those of the worst moment; what was lost before anybody moved is found for it now. */
static fab_status describe_worst(fab_assessor *a, size_t variant, fab_outcome *out, fab_error *err) {
    const fab_assessment *d = a->assessment;
    const assess_history *h = a->history;
    size_t engine = variant / d->request.n_policies;
    assessment_loads before = h->worst;
    if (h->n_worst_moves > 0) {
        FAB_PASS(fab_mask_set(&a->mask, h->worst_down, h->n_worst_down, err));
        FAB_PASS(assess_reroute(a, engine, NULL, err));
        before = assess_loads(a, engine);
    }
    *out = assess_outcome(d, &before, false);
    out->n_moved = (uint32_t)h->n_worst_moves;
    out->n_collisions = h->worst.n_collisions;
    out->worst_ratio = h->worst.worst_ratio;
    out->worst_link = h->worst.worst_link;
    out->time_s = h->worst_s;
    return FAB_OK;
}

static fab_status history_walk(fab_assessor *a, size_t variant, const fab_scenario *scenario, double span_s,
                               fab_outcome *out, fab_error *err) {
    fab_status status = FAB_OK;
    assess_history *h = a->history;
    bool runs = true;
    double speed = 1;
    uint32_t n_failures = 0;
    uint32_t n_stops = 0;
    size_t n = 0;
    h->n_down = 0;
    h->has_worst = false;
    leave(a);
    FAB_TRY(history_look(a, variant, &runs, &speed, err));
    h->speed[0] = speed;
    for (; n < scenario->n_events && scenario->event[n].time_s < span_s; n++) {
        const bool is_planned = scenario->event[n].failure == FAB_FAILURE_MAINTENANCE;
        const bool counts = concerns_job(a, &scenario->event[n]) && !is_planned;
        bool stops = false;
        h->joins_now = false;
        FAB_TRY(history_step(a, variant, &scenario->event[n], &runs, &speed, &stops, err));
        h->stops[n] = stops;
        h->waits[n] = !runs;
        h->speed[n + 1] = speed;
        h->joins[n] = h->joins_now;
        n_failures += counts && !scenario->event[n].is_repair;
        n_stops += counts && stops;
    }
    const fab_span_course course = {.stops = h->stops, .waits = h->waits, .joins = h->joins, .speed = h->speed};
    fab_span_parts parts = fab_span_split(scenario->event, n, span_s, &a->assessment->request.rates, &course);
    FAB_TRY(describe_worst(a, variant, out, err));
    out->state = runs ? FAB_OUTCOME_RUNS : FAB_OUTCOME_STOPPED;
    out->goodput = parts.useful;
    out->restart_ratio = parts.restart;
    out->redo_ratio = parts.redo;
    out->slow_ratio = parts.slow;
    out->wait_ratio = parts.wait;
    out->n_failures = n_failures;
    out->n_stops = n_stops;
done:
    leave(a);
    return status;
}

fab_status assess_histories(fab_assessor *a, const fab_scenario *scenario, double span_s, fab_outcome *out,
                            fab_error *err) {
    FAB_PASS(open_history(a, err));
    assess_history *h = a->history;
    FAB_PASS(FAB_GROW(h->stops, h->stops_capacity, scenario->n_events + 1, err));
    FAB_PASS(FAB_GROW(h->waits, h->waits_capacity, scenario->n_events + 1, err));
    FAB_PASS(FAB_GROW(h->joins, h->joins_capacity, scenario->n_events + 1, err));
    FAB_PASS(FAB_GROW(h->speed, h->speed_capacity, scenario->n_events + 2, err));
    for (size_t v = 0; v < fab_assessment_variants(a->assessment); v++) {
        FAB_PASS(history_walk(a, v, scenario, span_s, &out[v], err));
    }
    return FAB_OK;
}
