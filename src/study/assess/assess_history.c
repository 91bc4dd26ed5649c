/* Histories: a job through the failures and repairs of a span of time.
 *
 * A failure that takes a rank or cuts a flow off stops the job. It restarts where the policy puts it for what is down
 * at that moment, at once or when a repair lets it. There it stays until it stops again, or until the home of a rank on
 * a spare is repaired and the job is so much faster with it there that it stops for it behind a checkpoint. Its speed
 * changes with what is down in the network, and most events change nothing: a GPU where no rank is does not hold it up.
 */
#include "assess_internal.h"

FAB_FREES_AFTER(assess_history_free, assess_history, h) {
    FAB_FREE_ALL(h->ring_moved, h->ring_gpu, h->is_gpu_out, h->is_out, h->will_be_out, h->down, h->near, h->placed,
                 h->key.word, h->worst_down, h->moves, h->moved, h->new_gpu, h->stops, h->waits, h->joins, h->speed,
                 h->is_hot);
}

static fab_status open_history(fab_assessor *a, fab_error *err) {
    const fab_fabric *f = a->assessment->fabric;
    if (a->history != NULL) {
        return FAB_OK;
    }
    FAB_OWNS_NEW(assess_history_free_owned, assess_history, h, 1, err);
    FAB_PASS(FAB_NEW(h->moves, f->n_servers, err));
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, h->moved, h->new_gpu));
    FAB_FILL(h->new_gpu, fab_n_gpus(f), (uint32_t)fab_at);
    FAB_PASS(FAB_NEW_ALL(fab_n_gpus(f), err, h->ring_moved, h->ring_gpu, h->is_gpu_out));
    FAB_PASS(FAB_NEW_ALL(assess_shrink_replicas(a->assessment) + 1, err, h->is_out, h->will_be_out));
    return FAB_GIVE(a->history, h);
}

/* --- where the job is --------------------------------------------------------------------------------------------- */

/* NULL where nobody has moved: then nothing need be compared. */
static const fab_relocation *history_place_of(const assess_history *h) {
    return h->place.n_moved > 0 ? &h->place : NULL;
}

static void leave(fab_assessor *a) {
    assess_history *h = a->history;
    assess_shrink_mark(a, 1);
    h->n_out = 0;
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
    FAB_ANY(joins, i, to->n_lost > 0 ? to->n_moved : 0, a->has_rank[to->new_gpu[to->moved[i]]] == 0);
    FAB_ANY(returns, i, h->place.n_moved,
            a->has_rank[h->moved[i]] == 0 && (to->n_lost == 0 || to->new_gpu[h->moved[i]] == h->moved[i]));
    return joins || returns;
}

static bool is_same_place(const assess_history *h, const fab_relocation *to) {
    FAB_ALL(same, i, to->n_moved, to->moved[i] == h->moved[i] && to->new_gpu[to->moved[i]] == h->new_gpu[to->moved[i]]);
    return same && to->n_moved == h->place.n_moved;
}

/* Whether h->will_be_out are those that are. */
static bool are_same_out(const fab_assessor *a, uint64_t n_out) {
    const assess_history *h = a->history;
    return n_out == h->n_out &&
           (n_out == 0 || memcmp(h->is_out, h->will_be_out, assess_shrink_replicas(a->assessment)) == 0);
}

/* --- a moment ----------------------------------------------------------------------------------------------------- */

/* Every phase in turn. */
static fab_status find_loads(fab_assessor *a, size_t engine, assess_state *out, fab_error *err) {
    FAB_PASS(assess_reroute(a, engine, history_place_of(a->history), err));
    out->loads = assess_loads(a, engine);
    out->has_loads = true;
    return FAB_OK;
}

/* Loads of a state whose time alone was needed are found when it is the worst so far. */
static fab_status keep_worst(fab_assessor *a, size_t engine, assess_state *state, fab_error *err) {
    assess_history *h = a->history;
    const double time_s = state->time_s;
    bool is_worse = isnan(time_s) ? state->loads.worst_ratio > h->worst.worst_ratio : time_s > h->worst_s;
    if (h->has_worst && !is_worse) {
        return FAB_OK;
    }
    if (!state->has_loads) {
        FAB_PASS(fab_mask_set(&a->mask, h->near, h->n_near, err));
        FAB_PASS(find_loads(a, engine, state, err));
    }
    FAB_PASS(FAB_GROW(h->worst_down, h->worst_capacity, h->n_down + 1, err));
    FAB_COPY(h->worst_down, h->down, h->n_down);
    h->n_worst_down = h->n_down;
    h->n_worst_moves = h->place.n_moves;
    h->worst = state->loads;
    h->worst_s = time_s;
    h->has_worst = true;
    return FAB_OK;
}

FAB_ORDER_THREE(by_kind_and_id, fab_component, kind, id, fraction);

/* What is down and near: the rest changes nothing for the job. */
static fab_status list_near(fab_assessor *a, fab_error *err) {
    assess_history *h = a->history;
    FAB_PASS(FAB_GROW(h->near, h->near_capacity, h->n_down + 1, err));
    h->n_near = 0;
    for (size_t i = 0; i < h->n_down; i++) {
        if (!history_is_elsewhere(a, &h->down[i])) {
            h->near[h->n_near++] = h->down[i];
        }
    }
    FAB_SORT(h->near, h->n_near, by_kind_and_id);
    return FAB_OK;
}

static fab_status make_key(fab_assessor *a, size_t engine, fab_error *err) {
    assess_history *h = a->history;
    assess_key *key = &h->key;
    key->n = 0;
    FAB_PASS(assess_key_add(key, (uint64_t)engine << 32 | h->place.n_moves, err));
    FAB_PASS(assess_key_add(key, h->n_out, err));
    for (uint64_t i = 0; i < assess_shrink_replicas(a->assessment) && h->n_out > 0; i++) {
        FAB_PASS(h->is_out[i] != 0 ? assess_key_add(key, i, err) : FAB_OK);
    }
    FAB_PASS(assess_key_add_double(key, assess_compute_ratio(a, h->near, h->n_near), err));
    for (size_t i = 0; i < h->place.n_moves; i++) {
        FAB_PASS(assess_key_add(key, (uint64_t)h->place.moves[i].from << 32 | h->place.moves[i].to, err));
    }
    for (size_t i = 0; i < h->n_near; i++) {
        FAB_PASS(assess_key_add(key, (uint64_t)h->near[i].kind << 32 | h->near[i].id, err));
        FAB_PASS(assess_key_add_double(key, h->near[i].fraction, err));
    }
    return FAB_OK;
}

static fab_status find_time(fab_assessor *a, size_t engine, assess_state *out, fab_error *err) {
    const assess_history *h = a->history;
    const bool closes = h->n_out > 0 && a->assessment->rings_close;
    const bool splits = fab_router_facts_of(a->assessment->routers[engine])->splits;
    const fab_relocation *place = history_place_of(h);
    const fab_relocation *to = closes ? &h->rings : place;
    const double ratio = assess_compute_ratio(a, h->near, h->n_near);
    fab_known answer;
    if (closes) {
        assess_shrink_close(a);
    }
    FAB_PASS(assess_time_incremental(a, engine, to, ratio, &out->time_s, &answer, err));
    out->runs = answer != FAB_KNOWN_LOST;
    if (answer == FAB_KNOWN_NOTHING) {
        FAB_PASS(find_loads(a, engine, out, err));
        out->runs = out->loads.n_disconnected == 0;
        FAB_PASS(out->runs ? assess_time(a, engine, splits ? to : place, ratio, &out->time_s, err) : FAB_OK);
    }
    return FAB_OK;
}

static fab_status find_state(fab_assessor *a, size_t engine, assess_state *out, fab_error *err) {
    const fab_assessment *d = a->assessment;
    assess_history *h = a->history;
    *out = (assess_state){.runs = true, .time_s = NAN};
    FAB_PASS(fab_mask_set(&a->mask, h->near, h->n_near, err));
    FAB_ANY(is_lost, i, a->mask.n_nodes,
            fab_kind_of(d->fabric, a->mask.node[i]) == FAB_NODE_GPU && a->has_rank[a->mask.node[i]] != 0);
    out->runs = !is_lost;
    FAB_RETURN_IF(is_lost, FAB_OK);
    if (!d->request.times) {
        FAB_PASS(find_loads(a, engine, out, err));
        out->runs = out->loads.n_disconnected == 0;
        return FAB_OK;
    }
    fab_error why = {.code = FAB_OK};
    fab_status status = find_time(a, engine, out, &why);
    FAB_REFUSE_IF(status != FAB_OK && (status != FAB_ENOSOLUTION || h->n_out == 0), err, status, why.where, "%s",
                  why.text);
    out->runs = out->runs && status == FAB_OK; /* what is shared by fewer replicas does not fit */
    return FAB_OK;
}

/* In parts of that of the healthy fabric: 1 there, under every seed. Elsewhere what a draw has more or less than the
 * healthy one counts in the mean speed of all seeds, so that the luck of paths drawn anew cancels over them: means of
 * ratios would not (ADR 108). */
static double history_speed(const fab_assessment *d, size_t variant, double time_s) {
    const double ratio = d->healthy[variant].time_s / time_s;
    return d->pace == NULL ? ratio : fmax(1 + d->pace[variant] * (ratio - 1), ratio / 2);
}

/* What becomes of the job where it is, and how fast it runs. */
static fab_status history_find(fab_assessor *a, size_t variant, assess_state *out, double *out_speed, fab_error *err) {
    const fab_assessment *d = a->assessment;
    assess_history *h = a->history;
    size_t engine = variant / d->request.n_policies;
    FAB_PASS(list_near(a, err));
    FAB_PASS(make_key(a, engine, err));
    assess_memo *states = a->forgets ? NULL : d->states;
    if (!assess_memo_get(states, &h->key, out)) {
        FAB_PASS(find_state(a, engine, out, err));
        FAB_PASS(assess_memo_put(states, &h->key, out, err));
    }
    *out_speed = out->time_s > 0 ? history_speed(d, variant, out->time_s) : 1;
    if (h->n_out > 0 && (d->request.rates.shrunk_batch != 0 || !(out->time_s > 0) || !d->iterates)) {
        double n = (double)assess_shrink_replicas(d);
        *out_speed *= d->serves ? assess_serving_part(d, h->is_out) : (n - (double)h->n_out) / n;
    }
    return FAB_OK;
}

/* Whether it runs, and how fast; a moment of the history. */
static fab_status history_look(fab_assessor *a, size_t variant, bool *out_runs, double *out_speed, fab_error *err) {
    assess_state state;
    FAB_PASS(history_find(a, variant, &state, out_speed, err));
    *out_runs = state.runs;
    return state.runs ? keep_worst(a, variant / a->assessment->request.n_policies, &state, err) : FAB_OK;
}

/* Whether the policy was asked for just this before. */
static bool is_placed(const assess_history *h) {
    FAB_ALL(same, i, h->is_placed && h->n_placed == h->n_down ? h->n_down : 0,
            by_kind_and_id(&h->placed[i], &h->down[i]) == 0);
    return same && h->is_placed && h->n_placed == h->n_down;
}

static fab_status note_placed(assess_history *h, fab_error *err) {
    FAB_PASS(FAB_GROW(h->placed, h->placed_capacity, h->n_down + 1, err));
    FAB_COPY(h->placed, h->down, h->n_down);
    h->n_placed = h->n_down;
    h->is_placed = true;
    return FAB_OK;
}

/* Where the policy wants the job for what is down; and replicas that it leaves out, to h->will_be_out. */
static fab_status find_place(fab_assessor *a, size_t variant, fab_relocation *out, uint64_t *out_n, fab_error *err) {
    const fab_assessment_request *q = &a->assessment->request;
    assess_history *h = a->history;
    fab_policy policy = q->policies[variant % q->n_policies];
    FAB_PASS(fab_mask_set(&a->mask, h->down, h->n_down, err));
    FAB_PASS(fab_relocate(a->relocators[variant / q->n_policies], &a->mask, policy, out, err));
    *out_n = 0;
    if (a->assessment->serves) {
        assess_serving left;
        assess_serving_find(a, out, h->will_be_out, &left);
        *out_n = left.readers > 0 && left.generators > 0 ? left.n_out : assess_shrink_replicas(a->assessment);
    } else if (policy == FAB_POLICY_SHRINK) {
        assess_shrink_find(a, out, h->will_be_out, out_n);
    }
    return FAB_OK;
}

/* The job has stopped: it goes where it can run, if there is such a place. */
static fab_status place(fab_assessor *a, size_t variant, bool *runs, double *speed, fab_error *err) {
    const fab_assessment_request *q = &a->assessment->request;
    const bool shrinks = a->assessment->serves || q->policies[variant % q->n_policies] == FAB_POLICY_SHRINK;
    assess_history *h = a->history;
    fab_relocation to;
    uint64_t n_out = 0;
    if (*runs && is_placed(h)) {
        return FAB_OK;
    }
    FAB_PASS(note_placed(h, err));
    FAB_PASS(find_place(a, variant, &to, &n_out, err));
    if (!to.is_possible && (!shrinks || n_out == assess_shrink_replicas(a->assessment))) {
        *runs = false;
        return FAB_OK;
    }
    const bool reforms = !are_same_out(a, n_out);
    if (*runs && !reforms && is_same_place(h, &to)) { /* nothing has changed but that it restarts */
        return FAB_OK;
    }
    h->restart_now |= (has_newcomer(a, &to) ? FAB_SPAN_JOINS : 0U) | (reforms ? FAB_SPAN_REFORMS : 0U);
    if (to.n_moves == 0) {
        leave(a);
    } else {
        settle(a, &to);
    }
    if (n_out > 0) {
        memcpy(h->is_out, h->will_be_out, assess_shrink_replicas(a->assessment));
        h->n_out = n_out;
        assess_shrink_mark(a, 0);
    }
    return history_look(a, variant, runs, speed, err);
}

/* A repair lets so many replicas back that the job stops for them. */
static fab_status grows_back(fab_assessor *a, size_t variant, bool *out, fab_error *err) {
    const fab_assessment_request *q = &a->assessment->request;
    fab_relocation to;
    uint64_t n_out = 0;
    *out = false;
    if (a->history->n_out > 0) {
        FAB_PASS(find_place(a, variant, &to, &n_out, err));
        double back = ((double)a->history->n_out - (double)n_out) / (double)assess_shrink_replicas(a->assessment);
        *out = back > 0 && (a->assessment->serves || back >= q->rates.regrow);
    }
    return FAB_OK;
}

/* The same replicas are out: ranks are where `to` puts them, until it is given back where they were. */
static void try_place(fab_assessor *a, fab_relocation *to) {
    assess_history *h = a->history;
    const fab_relocation from = h->place;
    assess_shrink_mark(a, 1);
    assess_put_back(a, &from);
    h->place = *to;
    *to = from;
    assess_put(a, &h->place);
    assess_shrink_mark(a, 0);
}

/* The home of a rank on a spare is repaired, and until the next stop, which takes ranks home anyway, the job gains more
 * there than it misses by a stop for it. */
static fab_status comes_home(fab_assessor *a, size_t variant, const fab_event *event, double speed, bool *out,
                             fab_error *err) {
    const fab_assessment *d = a->assessment;
    const fab_failure_rates *r = &d->request.rates;
    assess_history *h = a->history;
    fab_relocation to;
    uint64_t n_out = 0;
    assess_state there;
    double speed_there = 0;
    *out = false;
    if (h->place.n_moved == 0 || !d->request.times || !(r->stops_per_s > 0) ||
        !history_frees_home(a, &event->component)) {
        return FAB_OK;
    }
    FAB_PASS(find_place(a, variant, &to, &n_out, err));
    if (!are_same_out(a, n_out) || (n_out == 0 && !to.is_possible) || is_same_place(h, &to)) {
        return FAB_OK;
    }
    const double stop_s = r->lag_s + r->restart_s + (has_newcomer(a, &to) ? r->join_s : 0);
    try_place(a, &to);
    const fab_status status = history_find(a, variant, &there, &speed_there, err);
    try_place(a, &to); /* back */
    FAB_PASS(status);
    *out = there.runs && speed_there - speed > stop_s * r->stops_per_s;
    return FAB_OK;
}

/* Whether it has a rank where GPUs are throttled: the rest waits for those. */
static uint8_t is_hot(const fab_assessor *a) {
    const fab_fabric *f = a->assessment->fabric;
    const uint8_t *hot = a->assessment->request.is_hot;
    FAB_ANY(found, server, hot != NULL ? f->n_servers : 0,
            hot[server] != 0 && assess_any_rank(a, (uint64_t)server * f->gpus_per_server, f->gpus_per_server));
    return hot == NULL || found;
}

/* --- a history ---------------------------------------------------------------------------------------------------- */

/* Software fails, and plans are made, where ranks are: of the GPUs of other jobs and of none this one knows nothing. */
static bool concerns_job(const fab_assessor *a, const fab_event *event) {
    return (event->failure != FAB_FAILURE_SOFTWARE && event->failure != FAB_FAILURE_MAINTENANCE) ||
           assess_any_rank(a, event->component.id, 1);
}

/* One event of a serving job: it stops where nobody is left. */
static fab_status serving_step(fab_assessor *a, size_t variant, const fab_event *event, bool is_software, bool *runs,
                               double *speed, fab_error *err) {
    assess_history *h = a->history;
    const bool ran = *runs;
    const uint64_t n_out = h->n_out;
    bool asks = !ran && event->is_repair;
    double hit = 0;
    if (is_software) {
        h->restarting = ran && concerns_job(a, event) ? assess_serving_hit(a->assessment, true) : 0;
        return FAB_OK;
    }
    FAB_PASS(history_note_event(h, event, err));
    FAB_PASS(ran && event->is_repair ? grows_back(a, variant, &asks, err) : FAB_OK);
    if (ran && !asks && !history_is_elsewhere(a, &event->component)) {
        *runs = event->is_repair || !history_takes_a_rank(a, &event->component);
        FAB_PASS(*runs ? history_look(a, variant, runs, speed, err) : FAB_OK);
        asks = !*runs;
        hit = asks ? assess_serving_hit(a->assessment, false) : 0;
    }
    FAB_PASS(asks ? place(a, variant, runs, speed, err) : FAB_OK);
    h->restarting = ran && *runs ? fmax(hit - ((double)h->n_out - (double)n_out), 0) : 0;
    return FAB_OK;
}

/* One event. `runs`: the job has a place where it runs; it does so at `speed`. */
static fab_status history_step(fab_assessor *a, size_t variant, const fab_event *event, bool *runs, double *speed,
                               bool *out_stops, fab_error *err) {
    const bool ran = *runs;
    const bool is_software = event->failure == FAB_FAILURE_SOFTWARE || event->failure == FAB_FAILURE_MAINTENANCE;
    *out_stops = false;
    if (a->assessment->serves) {
        FAB_PASS(serving_step(a, variant, event, is_software, runs, speed, err));
        *out_stops = ran && !*runs;
        return FAB_OK;
    }
    if (is_software) {
        *out_stops = ran && concerns_job(a, event);
        return *out_stops ? place(a, variant, runs, speed, err) : FAB_OK;
    }
    FAB_PASS(history_note_event(a->history, event, err));
    if (!ran) {
        return event->is_repair ? place(a, variant, runs, speed, err) : FAB_OK;
    }
    if (event->is_repair) {
        FAB_PASS(grows_back(a, variant, out_stops, err));
    }
    if (!*out_stops && !history_is_elsewhere(a, &event->component)) {
        *runs = event->is_repair || !history_takes_a_rank(a, &event->component);
        FAB_PASS(*runs ? history_look(a, variant, runs, speed, err) : FAB_OK);
    }
    if (!*out_stops && *runs && event->is_repair) {
        FAB_PASS(comes_home(a, variant, event, *speed, out_stops, err));
    }
    a->history->restart_now |= *out_stops ? FAB_SPAN_PLANNED : 0;
    *out_stops = *out_stops || !*runs;
    return *out_stops ? place(a, variant, runs, speed, err) : FAB_OK;
}

/* The job runs; its figures of the network are those of the worst moment. `before`: anybody moved. */
static fab_outcome worst_outcome(const fab_assessor *a, const assessment_loads *before) {
    const assess_history *h = a->history;
    fab_outcome out = assess_outcome(a->assessment, before, false);
    out.n_moved = (uint32_t)h->n_worst_moves;
    out.n_collisions = h->worst.n_collisions;
    out.worst_ratio = h->worst.worst_ratio;
    out.worst_link = h->worst.worst_link;
    out.time_s = h->worst_s;
    return out;
}

/* What was lost in the worst moment before anybody moved is found now. */
static fab_status describe_worst(fab_assessor *a, size_t variant, fab_outcome *out, fab_error *err) {
    const assess_history *h = a->history;
    size_t engine = variant / a->assessment->request.n_policies;
    assessment_loads before = h->worst;
    if (h->n_worst_moves > 0) {
        FAB_PASS(fab_mask_set(&a->mask, h->worst_down, h->n_worst_down, err));
        FAB_PASS(assess_reroute(a, engine, NULL, err));
        before = assess_loads(a, engine);
    }
    *out = worst_outcome(a, &before);
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
    double restarts_s = 0; /* of replicas, by their part of the job */
    fab_failure_rates rates = a->assessment->request.rates;
    h->n_down = 0;
    h->is_placed = false;
    h->has_worst = false;
    leave(a);
    FAB_TRY(history_look(a, variant, &runs, &speed, err));
    h->speed[0] = speed;
    h->is_hot[0] = is_hot(a);
    for (; n < scenario->n_events && scenario->event[n].time_s < span_s; n++) {
        const bool is_planned = scenario->event[n].failure == FAB_FAILURE_MAINTENANCE;
        const bool counts = concerns_job(a, &scenario->event[n]) && !is_planned;
        bool stops = false;
        h->restart_now = 0;
        h->restarting = 0;
        FAB_TRY(history_step(a, variant, &scenario->event[n], &runs, &speed, &stops, err));
        h->stops[n] = stops;
        h->waits[n] = !runs;
        h->speed[n + 1] = speed;
        h->is_hot[n + 1] = is_hot(a);
        h->joins[n] = (uint8_t)h->restart_now;
        restarts_s += h->restarting / (double)a->assessment->traffic->job.dp *
                      (rates.restart_s + (is_planned ? rates.repair_s[FAB_FAILURE_MAINTENANCE] : 0) +
                       ((h->restart_now & FAB_SPAN_JOINS) != 0 ? rates.join_s : 0));
        n_failures += counts && !scenario->event[n].is_repair;
        n_stops += counts && stops && (h->restart_now & FAB_SPAN_PLANNED) == 0;
    }
    const fab_span_course course = {
        .stops = h->stops, .waits = h->waits, .joins = h->joins, .speed = h->speed, .is_hot = h->is_hot};
    if (a->assessment->serves) { /* nothing is written, and nothing but requests under way is lost */
        rates.pause_s = rates.lag_s = 0;
        rates.checkpoint_s = 1;
    }
    fab_span_parts parts = fab_span_split(scenario->event, n, span_s, &rates, &course);
    restarts_s = fmin(restarts_s / span_s, parts.useful);
    FAB_TRY(describe_worst(a, variant, out, err));
    out->state = runs ? FAB_OUTCOME_RUNS : FAB_OUTCOME_STOPPED;
    out->goodput = parts.useful - restarts_s;
    out->restart_ratio = parts.restart + restarts_s;
    out->redo_ratio = parts.redo;
    out->slow_ratio = parts.slow;
    out->wait_ratio = parts.wait;
    out->n_failures = n_failures;
    out->n_stops = n_stops;
done:
    leave(a);
    return status;
}

fab_status assess_history_set(fab_assessor *a, const fab_component *component, size_t n, size_t variant,
                              const assessment_loads *before, fab_outcome *out, fab_error *err) {
    fab_status status = FAB_OK;
    bool runs = false;
    double speed = 1;
    FAB_PASS(open_history(a, err));
    assess_history *h = a->history;
    leave(a);
    FAB_TRY(FAB_GROW(h->down, h->down_capacity, n + 1, err));
    memcpy(h->down, component, n * sizeof *component);
    h->n_down = n;
    h->is_placed = false;
    h->has_worst = false;
    FAB_TRY(place(a, variant, &runs, &speed, err));
    if (runs) {
        const double part = h->n_out > 0 ? assess_serving_part(a->assessment, h->is_out) : 1;
        *out = worst_outcome(a, before);
        out->time_s = a->assessment->request.p99 ? h->worst_s : h->worst_s / part;
    }
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
    FAB_PASS(FAB_GROW(h->is_hot, h->hot_capacity, scenario->n_events + 2, err));
    for (size_t v = 0; v < fab_assessment_variants(a->assessment); v++) {
        FAB_PASS(history_walk(a, v, scenario, span_s, &out[v], err));
    }
    return FAB_OK;
}
