/* What fails together: a rack without power, a row, hall or pod without cooling, a line card, a bundle of cables, the
 * switches of a tier that are updated at once. Each event is a scenario with a name. */
#include "scenarios_internal.h"

#include "fab/units.h"

#include <stdarg.h>

/* A span of time to its parts: what is left of it for a job. */

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

/** Speed that is left of GPUs in an hour of a day, 0 to 23: between 6 and 18 h they lose throttle x sin. */
static double fab_throttled_speed(double throttle, uint32_t hour) {
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

typedef struct event_source {
    fab_scenarios *s;
    const fab_fabric *f;
    const fab_floor *floor; /* NULL: none */
    const char *argument;
} event_source;

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Servers and switches, by tier, that an event takes. */
typedef struct taken {
    uint32_t n_racks, n_servers, n_cables, n_switches[FAB_FABRIC_TIERS + 1];
} taken;

static void say(char *out, size_t size, uint32_t n, const char *noun, bool *is_first) {
    const size_t used = strlen(out);
    const size_t length = strlen(noun);
    const bool hisses = length > 1 && strcmp(noun + length - 2, "ch") == 0;
    if (n > 0) {
        const char *plural = n == 1 ? "" : hisses ? "es" : "s";
        const bool is_leaf = strcmp(noun, "leaf") == 0 && n > 1;
        (void)snprintf(out + used, size - used, "%s%" PRIu32 " %s%s", *is_first ? ": " : ", ", n,
                       is_leaf ? "leaves" : noun, is_leaf ? "" : plural);
        *is_first = false;
    }
}

static fab_status begin_event(const event_source *e, fab_error *err, const char *fmt, ...) FAB_PRINTF(3, 4);
static fab_status begin_event(const event_source *e, fab_error *err, const char *fmt, ...) {
    char name[FAB_SCENARIO_NAME_SIZE];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(name, sizeof name, fmt, arguments);
    va_end(arguments);
    return scenario_begin(e->s, name, "--scenarios", err);
}

static fab_status event_add(const event_source *e, fab_component_kind kind, uint32_t id, fab_error *err) {
    const fab_component c = {.kind = kind, .id = id};
    return scenario_add(e->s, &c, err);
}

/* Its name goes on with what it took: "NAME: 4 servers, 1 leaf". */
static void end_event(const event_source *e, const taken *t) {
    char *name = e->s->name[e->s->count - 1];
    const size_t size = sizeof e->s->name[0];
    bool is_first = true;
    say(name, size, t->n_racks, "rack", &is_first);
    say(name, size, t->n_servers, "server", &is_first);
    for (uint32_t tier = 1; tier <= FAB_FABRIC_TIERS; tier++) {
        say(name, size, t->n_switches[tier], fab_tier_name(e->f->wiring, tier), &is_first);
    }
    say(name, size, t->n_cables, "cable", &is_first);
}

static uint32_t tier_of(const fab_fabric *f, uint32_t i) {
    return fab_is_tree(f) ? fab_tier_of(f, f->first[FAB_NODE_SWITCH] + i) : 1;
}

static void count_rack(const event_source *e, uint32_t rack, taken *t) {
    const fab_racks *racks = &e->s->racks;
    for (uint32_t s = 0; s < e->f->n_servers; s++) {
        t->n_servers += fab_racks_of_server(racks, s) == rack;
    }
    for (uint32_t v = 0; v < fab_n_switches(e->f); v++) {
        t->n_switches[tier_of(e->f, v)] += racks->switch_rack[v] == rack;
    }
}

static fab_status need_floor(const event_source *e, const char *event, fab_error *err) {
    return e->floor != NULL ? FAB_OK
                            : fab_fail(err, FAB_EINPUT, "--scenarios", "%s:%s: " FAB_NO_FLOOR, event, e->argument);
}

static fab_status refuse(const event_source *e, const char *event, const char *choices, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, "--scenarios", "%s:%.40s is no event; as %s", event, e->argument, choices);
}

/* --- power and cooling -------------------------------------------------------------------------------------------- */

static fab_status events_power(const event_source *e, fab_error *err) {
    FAB_RETURN_IF(strcmp(e->argument, "rack") != 0, refuse(e, "power", "power:rack", err));
    FAB_PASS(need_floor(e, "power", err));
    for (uint32_t rack = 0; rack < e->s->racks.n_racks; rack++) {
        taken t = {.n_racks = 0};
        count_rack(e, rack, &t);
        FAB_PASS(begin_event(e, err, "rack-%" PRIu32 " loses power", rack));
        FAB_PASS(event_add(e, FAB_COMPONENT_RACK, rack, err));
        end_event(e, &t);
    }
    return FAB_OK;
}

/* All racks of a hall, or of a row in it, where it has any. */
static fab_status cool_racks(const event_source *e, uint32_t hall, uint32_t row, fab_error *err) {
    taken t = {.n_racks = 0};
    for (uint32_t rack = 0; rack < e->s->racks.n_racks; rack++) {
        const fab_rack *at = &e->floor->rack[rack];
        if (at->hall != hall || (row != FAB_NONE && at->row != row)) {
            continue;
        }
        if (t.n_racks++ == 0) {
            FAB_PASS(row != FAB_NONE ? begin_event(e, err, "hall-%" PRIu32 "/row-%" PRIu32 " loses cooling", hall, row)
                                     : begin_event(e, err, "hall-%" PRIu32 " loses cooling", hall));
        }
        count_rack(e, rack, &t);
        FAB_PASS(event_add(e, FAB_COMPONENT_RACK, rack, err));
    }
    if (t.n_racks > 0) {
        end_event(e, &t);
    }
    return FAB_OK;
}

/* Pod of a server: that of the switch at its first NIC. */
static uint32_t pod_of_server(const fab_fabric *f, uint32_t server) {
    const fab_link_id link = fab_access_link(f, fab_nic_of_server(f, server), 1, 0);
    return link != FAB_NONE ? f->switch_pod[fab_head(f, link) - f->first[FAB_NODE_SWITCH]] : FAB_NONE;
}

static fab_status cool_pod(const event_source *e, uint32_t pod, fab_error *err) {
    const fab_fabric *f = e->f;
    taken t = {.n_racks = 0};
    FAB_PASS(begin_event(e, err, "pod %" PRIu32 " loses cooling", pod));
    for (uint32_t s = 0; s < f->n_servers; s++) {
        if (pod_of_server(f, s) == pod) {
            t.n_servers++;
            FAB_PASS(event_add(e, FAB_COMPONENT_SERVER, s, err));
        }
    }
    for (uint32_t v = 0; v < fab_n_switches(f); v++) {
        if (f->switch_pod[v] == pod) {
            t.n_switches[tier_of(f, v)]++;
            FAB_PASS(event_add(e, FAB_COMPONENT_SWITCH, v, err));
        }
    }
    end_event(e, &t);
    return FAB_OK;
}

static fab_status events_cooling(const event_source *e, fab_error *err) {
    const bool by_row = strcmp(e->argument, "row") == 0;
    if (strcmp(e->argument, "pod") == 0) {
        for (uint32_t pod = 0; pod < e->f->n_pods; pod++) {
            FAB_PASS(cool_pod(e, pod, err));
        }
        return FAB_OK;
    }
    FAB_RETURN_IF(!by_row && strcmp(e->argument, "hall") != 0,
                  refuse(e, "cooling", "cooling:row, cooling:hall or cooling:pod", err));
    FAB_PASS(need_floor(e, "cooling", err));
    for (uint32_t hall = 0; hall < e->floor->n_halls; hall++) {
        for (uint32_t row = 0; row < (by_row ? e->floor->n_rows : 1); row++) {
            FAB_PASS(cool_racks(e, hall, by_row ? row : FAB_NONE, err));
        }
    }
    return FAB_OK;
}

/* --- cables ------------------------------------------------------------------------------------------------------- */

/* Cables of a switch whose ports are first ... last, where any is plugged in. */
static fab_status fail_card(const event_source *e, uint32_t v, uint32_t card, uint32_t first, uint32_t last,
                            fab_error *err) {
    const fab_fabric *f = e->f;
    const fab_node_id node = f->first[FAB_NODE_SWITCH] + v;
    taken t = {.n_racks = 0};
    FAB_EACH_LINK(f, node, link) {
        if (f->port[link] < first || f->port[link] > last) {
            continue;
        }
        if (t.n_cables++ == 0) {
            FAB_PASS(begin_event(e, err, "%s loses line card %" PRIu32 " (ports %" PRIu32 " to %" PRIu32 ")",
                                 FAB_SAY_NODE(f, node), card, first, last));
        }
        FAB_PASS(event_add(e, FAB_COMPONENT_LINK, link, err));
    }
    if (t.n_cables > 0) {
        end_event(e, &t);
    }
    return FAB_OK;
}

static fab_status events_card(const event_source *e, fab_error *err) {
    uint64_t n_ports = 0;
    fab_error inner = {0};
    FAB_REFUSE_IF(fab_count_parse(e->argument, 1, UINT16_MAX, &n_ports, &inner) != FAB_OK, err, FAB_EINPUT,
                  "--scenarios", "ports of a line card, as line-card:16: %s", inner.text);
    for (uint32_t v = 0; v < fab_n_switches(e->f); v++) {
        const uint32_t n = (uint32_t)n_ports;
        for (uint32_t card = 0; card * n_ports < e->f->switch_ports[v]; card++) {
            FAB_PASS(fail_card(e, v, card + 1, card * n + 1, (card + 1) * n, err));
        }
    }
    return FAB_OK;
}

/* A cable between two places: racks, or switches. */
typedef struct laid {
    uint32_t a, b, cable;
} laid;

FAB_ORDER_THREE(by_places, laid, a, b, cable);

/* FAB_NONE: none that counts. */
static uint32_t place_of(const event_source *e, fab_node_id node, bool by_rack) {
    const bool is_switch = fab_kind_of(e->f, node) == FAB_NODE_SWITCH;
    return by_rack ? fab_floor_rack_of(e->floor, e->f, node) : is_switch ? node : FAB_NONE;
}

static fab_status cut_bundle(const event_source *e, const laid *cable, uint32_t n, bool by_rack, fab_error *err) {
    if (by_rack) {
        FAB_PASS(begin_event(e, err, "bundle rack-%" PRIu32 " to rack-%" PRIu32 " is cut", cable->a, cable->b));
    } else {
        FAB_PASS(begin_event(e, err, "bundle %.100s to %.100s is cut", FAB_SAY_NODE(e->f, cable->a),
                             FAB_SAY_NODE(e->f, cable->b)));
    }
    for (uint32_t i = 0; i < n; i++) {
        FAB_PASS(event_add(e, FAB_COMPONENT_LINK, 2 * cable[i].cable, err));
    }
    end_event(e, &(taken){.n_cables = n});
    return FAB_OK;
}

static fab_status events_bundle(const event_source *e, fab_error *err) {
    const fab_fabric *f = e->f;
    const bool by_rack = strcmp(e->argument, "racks") == 0;
    uint32_t n = 0;
    FAB_RETURN_IF(!by_rack && strcmp(e->argument, "switches") != 0,
                  refuse(e, "bundle", "bundle:racks or bundle:switches", err));
    FAB_PASS(by_rack ? need_floor(e, "bundle", err) : FAB_OK);
    FAB_OWNED_NEW(laid, list, e->s->n_links + 1, err);
    for (uint32_t i = 0; i < e->s->n_links; i++) {
        const fab_link_id link = e->s->link[i];
        const uint32_t a = place_of(e, fab_tail(f, link), by_rack);
        const uint32_t b = place_of(e, fab_head(f, link), by_rack);
        if (a != b && a != FAB_NONE && b != FAB_NONE) {
            list[n++] = (laid){a < b ? a : b, a < b ? b : a, link / 2};
        }
    }
    FAB_SORT(list, n, by_places);
    for (uint32_t i = 0, end = 0; i < n; i = end) {
        for (end = i; end < n && list[end].a == list[i].a && list[end].b == list[i].b;) {
            end++;
        }
        FAB_PASS(cut_bundle(e, &list[i], end - i, by_rack, err));
    }
    return FAB_OK;
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

/* Step `step` of a tier whose switches are updated k at a time: neighbours, or as far from each other as they can be.
 */
static fab_status update_step(const event_source *e, uint32_t first, uint32_t n, uint32_t k, bool spread, uint32_t step,
                              fab_error *err) {
    const uint32_t n_steps = (n + k - 1) / k;
    taken t = {.n_racks = 0};
    FAB_PASS(begin_event(e, err, "update, %" PRIu32 " at a time%s, step %" PRIu32 " of %" PRIu32, k,
                         k == 1   ? ""
                         : spread ? " far apart"
                                  : " side by side",
                         step + 1, n_steps));
    for (uint32_t i = 0; i < n; i++) {
        if (spread ? i % n_steps == step : i / k == step) {
            t.n_switches[tier_of(e->f, first)]++;
            FAB_PASS(event_add(e, FAB_COMPONENT_SWITCH, first + i, err));
        }
    }
    end_event(e, &t);
    return FAB_OK;
}

static fab_status update_all(const event_source *e, uint32_t first, uint32_t n, uint32_t k, fab_error *err) {
    const uint32_t n_steps = (n + k - 1) / k;
    fab_scenarios *s = e->s;
    for (uint32_t spread = 0; spread < (k == 1 || k == n ? 1U : 2U); spread++) {
        FAB_PASS(FAB_APPEND(s->way, s->n_ways, s->way_capacity, err, (fab_rollout_way){k, n_steps, spread == 1}));
        for (uint32_t step = 0; step < n_steps; step++) {
            FAB_PASS(FAB_GROW(s->way_of, s->way_of_capacity, (size_t)s->count + 1, err));
            s->way_of[s->count] = (uint32_t)(s->n_ways - 1);
            FAB_PASS(update_step(e, first, n, k, spread == 1, step, err));
        }
    }
    return FAB_OK;
}

static fab_status events_update(const event_source *e, fab_error *err) {
    const fab_fabric *f = e->f;
    char word[32];
    const char *comma = strchr(e->argument, ',');
    const size_t length = comma != NULL ? (size_t)(comma - e->argument) : strlen(e->argument);
    uint32_t tier = 1;
    uint64_t k = 0;
    fab_error inner = {0};
    FAB_FORMAT(word, "%.*s", (int)(length < 30 ? length : 30), e->argument);
    while (tier <= f->n_tiers && strcmp(fab_tier_name(f->wiring, tier), word) != 0) {
        tier++;
    }
    FAB_REFUSE_IF(tier > f->n_tiers, err, FAB_EINPUT, "--scenarios",
                  "update:%s: the fabric has no such tier; it has %s to %s", word, fab_tier_name(f->wiring, 1),
                  fab_tier_name(f->wiring, f->n_tiers));
    const uint32_t first = fab_is_tree(f) ? f->first_of_tier[tier] - f->first[FAB_NODE_SWITCH] : 0;
    const uint32_t n = fab_is_tree(f) ? f->first_of_tier[tier + 1] - f->first_of_tier[tier] : fab_n_switches(f);
    FAB_REFUSE_IF(comma != NULL && fab_count_parse(comma + 1, 1, n, &k, &inner) != FAB_OK, err, FAB_EINPUT,
                  "--scenarios", "switches that are updated at a time: %s", inner.text);
    if (k > 0) {
        return update_all(e, first, n, (uint32_t)k, err);
    }
    for (uint32_t at_once = 1; at_once < n; at_once *= 2) {
        FAB_PASS(update_all(e, first, n, at_once, err));
    }
    return update_all(e, first, n, n, err);
}

/* --- the source --------------------------------------------------------------------------------------------------- */

typedef fab_status make_events(const event_source *e, fab_error *err);

/* NULL: there is none of this name. */
static make_events *find_event(const char *text, size_t n) {
    static const struct {
        const char *name;
        make_events *make;
    } EVENTS[] = {{"power", events_power},
                  {"cooling", events_cooling},
                  {"line-card", events_card},
                  {"bundle", events_bundle},
                  {"update", events_update}};
    make_events *found = NULL;
    for (size_t i = 0; i < FAB_N_OF(EVENTS); i++) {
        found = strlen(EVENTS[i].name) == n && memcmp(EVENTS[i].name, text, n) == 0 ? EVENTS[i].make : found;
    }
    return found;
}

bool scenario_is_event(const char *text, size_t n) {
    return find_event(text, n) != NULL;
}

fab_status scenario_make_events(const char *text, size_t n, const fab_floor *floor, fab_scenarios *s, fab_error *err) {
    const event_source e = {.s = s, .f = s->fabric, .floor = floor, .argument = text[n] == ':' ? text + n + 1 : ""};
    s->source = SOURCE_LIST;
    FAB_PASS(find_event(text, n)(&e, err));
    return s->count > 0
               ? FAB_OK
               : fab_fail(err, FAB_EINPUT, "--scenarios", "'%.60s': the fabric has nothing that fails like that", text);
}
