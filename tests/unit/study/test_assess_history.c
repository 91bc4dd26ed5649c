/* Histories: what becomes of a span of time, against a clock that ticks from checkpoint to checkpoint, and against jobs
 * that are set up anew wherever the job goes. */
#include "fab/design.h"
#include "fab/assess.h"
#include "fab/rng.h"
#include "../../../src/study/assess/assess_internal.h" /* an assessor that forgets is of no use but here */
#include "assess_fixture.h"

/* --- the span ----------------------------------------------------------------------------------------------------- */

/* What is left of the time, one thing after the other. */
typedef struct ledger {
    double now, restart_until, work, useful, restart, redo, slow, wait, write;
    double stand_until, counts_at, written; /* of the checkpoint under way; written 0: none */
    bool waits;
} ledger;

static void counts(ledger *l) {
    l->useful += l->written;
    l->written = 0;
}

static void pass(ledger *l, double until, double speed, const fab_failure_rates *r) {
    while (l->now < until) {
        double end = until;
        if (l->waits) {
            l->wait += end - l->now;
        } else if (l->now < l->restart_until) {
            end = fmin(until, l->restart_until);
            l->restart += end - l->now;
        } else {
            const double hour = floor(l->now / 3600); /* of a day that begins at midnight */
            end = r->throttle > 0 ? fmin(end, (hour + 1) * 3600) : end;
            bool flies = l->written > 0;
            end = flies ? fmin(end, l->counts_at) : end;
            if (l->now < l->stand_until) {
                end = fmin(end, l->stand_until);
                l->write += end - l->now;
            } else {
                const double of_day = fmod(hour, 24) + 0.5;
                const double heat = of_day > 6 && of_day < 18 ? cos((of_day - 12) * acos(-1) / 12) : 0;
                const double now_speed = speed * (1 - r->throttle * heat);
                double due = l->now + (r->checkpoint_s - l->work) / now_speed;
                bool begins = !flies && due <= end;
                end = begins ? fmax(due, l->now) : end;
                l->slow += (end - l->now) * (1 - now_speed);
                l->work += (end - l->now) * now_speed;
                if (begins) {
                    l->written = l->work;
                    l->work = 0;
                    l->stand_until = end + r->pause_s;
                    l->counts_at = end + r->lag_s;
                }
            }
            if (l->written > 0 && end >= l->counts_at) {
                counts(l);
            }
            if (end <= l->now && r->pause_s == 0) {
                end = nextafter(l->now, until);
            }
        }
        l->now = end;
    }
}

/* In a hall that is hot at noon, or in another. */
static void pass_in(ledger *l, double until, double speed, const fab_failure_rates *r, uint8_t is_hot) {
    fab_failure_rates here = *r;
    here.throttle = is_hot != 0 ? r->throttle : 0;
    pass(l, until, speed, &here);
}

/* Of its own will, or for work on a server that takes its time. */
static void stop_for(ledger *l, const fab_failure_rates *r, bool is_planned, bool is_willing, bool joins) {
    if (is_planned || is_willing) {
        l->written += l->work;
        counts(l);
    } else {
        l->redo += l->work + l->written;
    }
    l->work = 0;
    l->written = 0;
    l->stand_until = 0;
    l->restart_until = l->now + r->restart_s + (joins ? r->join_s : 0) + (is_planned || is_willing ? r->lag_s : 0) +
                       (is_planned ? r->repair_s[FAB_FAILURE_MAINTENANCE] : 0);
}

static void stop(ledger *l, const fab_failure_rates *r, bool is_planned, bool joins) {
    stop_for(l, r, is_planned, false, joins);
}

static void expect_parts(const fab_span_parts *got, const ledger *want, double span_s, const char *what) {
    const double pairs[][2] = {{got->useful, want->useful + want->work + want->written},
                               {got->restart, want->restart},
                               {got->redo, want->redo},
                               {got->slow, want->slow},
                               {got->wait, want->wait},
                               {got->write, want->write}};
    double sum = 0;
    for (size_t i = 0; i < 6; i++) {
        cr_assert(fabs(pairs[i][0] - pairs[i][1] / span_s) <= 1e-9, "%s: part %zu is %.12g, not %.12g", what, i,
                  pairs[i][0], pairs[i][1] / span_s);
        sum += pairs[i][0];
    }
    cr_assert(fabs(sum - 1) <= 1e-12, "%s: the parts add up to %.17g", what, sum);
}

Test(assess_history, parts_of_a_span_add_up) {
    fab_rng rng = fab_rng_make(41, 0);
    double all[6] = {0};
    for (uint32_t round = 0; round < 400; round++) {
        enum { MOST = 40 };
        fab_event event[MOST];
        uint8_t stops[MOST];
        uint8_t waits[MOST];
        uint8_t joins[MOST];
        double speed[MOST + 1];
        uint8_t is_hot[MOST + 1];
        uint32_t n = (uint32_t)fab_rng_below(&rng, MOST);
        const double span_s = 5000 + (double)fab_rng_below(&rng, round % 6 == 0 ? 90000 : 5000);
        fab_failure_rates rates = {.checkpoint_s = 1.03 + (double)fab_rng_below(&rng, 900) * 0.997,
                                   .restart_s = (double)fab_rng_below(&rng, 300),
                                   .join_s = (double)fab_rng_below(&rng, 90)};
        rates.pause_s = round % 2 == 0 ? 0 : 0.37 + (double)fab_rng_below(&rng, 40) * 0.211;
        rates.lag_s = rates.pause_s + (round % 4 == 3 ? 0.59 + (double)fab_rng_below(&rng, 90) * 0.313 : 0);
        rates.repair_s[FAB_FAILURE_MAINTENANCE] = 77;
        rates.throttle = round % 3 == 0 ? 0.3 : 0;
        ledger l = {.now = 0};
        double at = 0;
        bool waited = false;
        speed[0] = 1;
        is_hot[0] = 1;
        for (uint32_t i = 0; i < n; i++) {
            at += (double)fab_rng_below(&rng, 5000) * 0.1013; /* never at a checkpoint */
            event[i] = (fab_event){.time_s = at, .is_repair = fab_rng_below(&rng, 2) == 0};
            event[i].failure = fab_rng_below(&rng, 4) == 0 ? FAB_FAILURE_MAINTENANCE : FAB_FAILURE_GPU;
            stops[i] = !event[i].is_repair && fab_rng_below(&rng, 3) > 0 && !waited;
            waits[i] = stops[i] != 0 ? fab_rng_below(&rng, 3) == 0 : waited && fab_rng_below(&rng, 2) == 0;
            waited = waits[i] != 0;
            joins[i] = (uint8_t)fab_rng_below(&rng, 2);
            speed[i + 1] = 0.25 * (double)(1 + fab_rng_below(&rng, 5));
            is_hot[i + 1] = fab_rng_below(&rng, 3) > 0;
            pass_in(&l, fmin(at, span_s), speed[i], &rates, is_hot[i]);
            if (at < span_s && stops[i] != 0) {
                stop(&l, &rates, event[i].failure == FAB_FAILURE_MAINTENANCE, joins[i] != 0);
            }
            if (at < span_s) {
                l.restart_until =
                    l.waits && !waited ? at + rates.restart_s + (joins[i] != 0 ? rates.join_s : 0) : l.restart_until;
                l.waits = waited;
            }
        }
        double last = n > 0 ? speed[n] : 1;
        uint8_t last_is_hot = is_hot[n];
        for (uint32_t i = n; i > 0 && event[i - 1].time_s >= span_s; i--) {
            last = speed[i - 1];
            last_is_hot = is_hot[i - 1];
        }
        pass_in(&l, span_s, last, &rates, last_is_hot);
        const fab_span_course course = {
            .stops = stops, .waits = waits, .joins = joins, .speed = speed, .is_hot = is_hot};
        fab_span_parts got = fab_span_split(event, n, span_s, &rates, &course);
        expect_parts(&got, &l, span_s, "a random course");
        const double parts[] = {got.useful, got.restart, got.redo, got.slow, got.wait, got.write};
        for (size_t i = 0; i < 6; i++) {
            all[i] += fabs(parts[i]);
        }
    }
    for (size_t i = 0; i < 6; i++) {
        cr_expect_gt(all[i], 1.5, "part %zu: %g", i, all[i]);
    }
}

/* --- a job on its way --------------------------------------------------------------------------------------------- */

#define SERVERS 8

typedef struct world {
    fab_design design;
    fab_fabric *f;
    fab_engine_spec engine;
    bool times;
    fab_failure_rates rates;
    fab_relocator *relocator;
    fab_traffic traffic;
    fab_ports ports;
    uint8_t *taken;
    fab_mask mask;
} world;

/* The job on these servers from the beginning, under what is down. */
static fab_outcome on_servers(const world *w, const uint32_t *server, fab_component *down, size_t n) {
    static const fab_policy NOBODY_MOVES = FAB_POLICY_NONE;
    char text[256] = "";
    size_t at = 0;
    fab_design design = w->design;
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_outcome out;
    fab_error err = {0};
    for (uint32_t i = 0; i < SERVERS; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i > 0 ? "," : "", server[i]);
    }
    cr_assert_eq(fab_design_set_job(&design, 0, "servers", text, "test", &err), FAB_OK, "%s", err.text);
    const fab_context_request asked = {
        .design = &design, .fabric = w->f, .traffic = "job", .engines = &w->engine, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {
        .context = context, .policies = &NOBODY_MOVES, .n_policies = 1, .times = w->times};
    fab_scenario scenario = {.component = down, .n_components = n};
    cr_assert_eq(fab_assessment_new(&request, &assessment, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assessor_new(assessment, &assessor, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assess(assessor, 0, &scenario, 0, &out, &err), FAB_OK, "%s", err.text);
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
    return out;
}

typedef struct course {
    ledger l;
    uint32_t server[SERVERS];
    uint32_t n_failures, n_stops;
    uint32_t n_home, n_away; /* went home; stayed away from a home that is repaired */
    double worst_s, worst_ratio;
    double speed;
    bool runs;
} course;

/* Where the policy wants it for what is down now; whether it runs there. */
static bool find_place(world *w, fab_policy policy, fab_component *down, size_t n, course *c) {
    fab_relocation to;
    fab_error err = {0};
    cr_assert_eq(fab_mask_set(&w->mask, down, n, NULL), FAB_OK);
    cr_assert_eq(fab_relocate(w->relocator, &w->mask, policy, &to, &err), FAB_OK, "%s", err.text);
    for (uint32_t i = 0; i < SERVERS && to.is_possible; i++) {
        c->server[i] = i;
    }
    for (size_t i = 0; i < to.n_moves && to.is_possible; i++) {
        c->server[to.moves[i].from] = to.moves[i].to;
    }
    return to.is_possible;
}

static void look(const world *w, fab_component *down, size_t n, double healthy_s, course *c) {
    fab_outcome out = on_servers(w, c->server, down, n);
    c->runs = out.state == FAB_OUTCOME_RUNS;
    if (c->runs) {
        c->speed = w->times ? healthy_s / out.time_s : 1;
        c->worst_s = w->times ? fmax(c->worst_s, out.time_s) : NAN;
        c->worst_ratio = fmax(c->worst_ratio, out.worst_ratio);
    }
}

static bool is_of_job(const world *w, const course *c, uint32_t gpu) {
    bool found = false;
    for (uint32_t i = 0; i < SERVERS; i++) {
        found = found || c->server[i] == gpu / w->f->gpus_per_server;
    }
    return found;
}

static bool has_newcomer(const uint32_t *before, const uint32_t *after) {
    bool found = false;
    for (uint32_t i = 0; i < SERVERS; i++) {
        bool known = false;
        for (uint32_t k = 0; k < SERVERS; k++) {
            known = known || before[k] == after[i];
        }
        found = found || !known;
    }
    return found;
}

/* Server that a part belongs to; FAB_NONE: the network. */
static uint32_t server_of(const fab_fabric *f, const fab_component *c) {
    switch (c->kind) {
    case FAB_COMPONENT_SERVER: return c->id;
    case FAB_COMPONENT_GPU: return c->id / f->gpus_per_server;
    case FAB_COMPONENT_NIC: return c->id / f->nics_per_server;
    case FAB_COMPONENT_LINK: {
        const fab_node_id tail = fab_tail(f, c->id);
        const fab_node_id nic = fab_kind_of(f, tail) == FAB_NODE_NIC ? tail : fab_head(f, c->id);
        return fab_kind_of(f, nic) == FAB_NODE_NIC ? fab_server_of_nic(f, nic) : FAB_NONE;
    }
    default: return FAB_NONE;
    }
}

/* A repair, and ranks are on spares: whether the job goes to where the policy would put it now. */
static bool goes_home(world *w, const fab_component *repaired, fab_component *down, size_t n, fab_policy policy,
                      double healthy_s, course *c) {
    const fab_failure_rates *r = &w->rates;
    const uint32_t server = server_of(w->f, repaired);
    course there = *c;
    bool is_away = false;
    bool is_home = server == FAB_NONE;
    for (uint32_t i = 0; i < SERVERS; i++) {
        is_away = is_away || c->server[i] != i;
        is_home = is_home || (server == i && c->server[i] != i);
    }
    if (!is_away || !is_home || !w->times || r->stops_per_s == 0 || !find_place(w, policy, down, n, &there) ||
        memcmp(there.server, c->server, sizeof there.server) == 0) {
        return false;
    }
    look(w, down, n, healthy_s, &there);
    const double misses_s = r->lag_s + r->restart_s + (has_newcomer(c->server, there.server) ? r->join_s : 0);
    const bool goes = there.runs && (there.speed - c->speed) / r->stops_per_s > misses_s;
    c->n_home += goes;
    c->n_away += !goes;
    return goes;
}

static course walk(world *w, const fab_scenario *h, double span_s, fab_policy policy) {
    course c = {.runs = true, .speed = 1};
    fab_component *down = calloc(h->n_events + 1, sizeof *down);
    size_t n = 0;
    (void)find_place(w, FAB_POLICY_NONE, down, 0, &c);
    look(w, down, 0, 1, &c);
    double healthy_s = c.worst_s;
    c.speed = 1;
    for (size_t i = 0; i < h->n_events; i++) {
        const fab_event *e = &h->event[i];
        bool ran = c.runs;
        const bool is_planned = e->failure == FAB_FAILURE_MAINTENANCE;
        const bool breaks = e->failure != FAB_FAILURE_SOFTWARE && !is_planned;
        const bool counts = breaks || (!is_planned && is_of_job(w, &c, e->component.id));
        uint32_t before[SERVERS];
        memcpy(before, c.server, sizeof before);
        pass(&c.l, e->time_s, c.speed, &w->rates);
        c.n_failures += counts && !e->is_repair;
        if (breaks && !e->is_repair) {
            down[n++] = e->component;
        }
        for (size_t k = 0; k < n && e->is_repair; k++) {
            if (down[k].kind == e->component.kind && down[k].id == e->component.id &&
                down[k].fraction == e->component.fraction) {
                down[k] = down[--n];
                break;
            }
        }
        if (ran) {
            look(w, down, n, healthy_s, &c);
        }
        bool stops = ran && (!c.runs || (!breaks && is_of_job(w, &c, e->component.id)));
        c.n_stops += stops && !is_planned;
        const bool goes =
            ran && !stops && breaks && e->is_repair && goes_home(w, &e->component, down, n, policy, healthy_s, &c);
        if (stops || goes || (!ran && breaks && e->is_repair)) {
            c.runs = find_place(w, policy, down, n, &c);
            if (c.runs) {
                look(w, down, n, healthy_s, &c);
            }
        }
        bool joins = c.runs && (stops || goes || !ran) && has_newcomer(before, c.server);
        if (stops || goes) {
            stop_for(&c.l, &w->rates, is_planned, goes, joins);
        }
        if (c.l.waits && c.runs) {
            c.l.restart_until = c.l.now + w->rates.restart_s + (joins ? w->rates.join_s : 0);
        }
        c.l.waits = !c.runs;
    }
    pass(&c.l, span_s, c.speed, &w->rates);
    free(down);
    return c;
}

/* `stop_d`: days between two stops, as far as the job knows; 0: it does not. Adds who went home, and who did not. */
static void check_histories(const char *design, const char *engine, bool times, uint64_t seed, double stop_d,
                            uint32_t *n_home, uint32_t *n_away) {
    static const fab_policy POLICIES[] = {FAB_POLICY_NONE, FAB_POLICY_FIRST_SPARE, FAB_POLICY_SAME_SLICE};
    static const char *const JOB[] = {"tp=4", "pp=2", "dp=4", "servers=0-7", "memory-check=off"};
    const double day = 86400;
    world w = {.engine = fixture_spec(engine), .times = times};
    fab_error err = {0};
    fab_assessment *assessment = NULL;
    fab_assessor *assessor = NULL;
    fab_scenarios *scenarios = NULL;
    fab_scenario h = {.n_events = 0};
    uint32_t n_stops = 0;
    double waited = 0;
    w.f = fixture_build(design, &w.design, NULL);
    for (size_t i = 0; i < sizeof JOB / sizeof JOB[0]; i++) {
        char key[32];
        const char *equals = strchr(JOB[i], '=');
        (void)snprintf(key, sizeof key, "%.*s", (int)(equals - JOB[i]), JOB[i]);
        cr_assert_eq(fab_design_set_job(&w.design, 0, key, equals + 1, "test", &err), FAB_OK, "%s", err.text);
    }
    w.rates = (fab_failure_rates){.checkpoint_s = 3000,
                                  .restart_s = 600,
                                  .pause_s = 7,
                                  .lag_s = 60,
                                  .join_s = 500,
                                  .rma_part = 0.3,
                                  .rma_s = day};
    for (int c = 0; c < FAB_FAILURE_N; c++) {
        w.rates.per_s[c] = (c == FAB_FAILURE_GPU ? 0.03 : c == FAB_FAILURE_SOFTWARE ? 0.005 : 0.02) / day;
        w.rates.repair_s[c] = c == FAB_FAILURE_SOFTWARE ? 0 : 0.4 * day;
    }
    w.rates.stops_per_s = stop_d > 0 ? 1 / (stop_d * day) : 0;
    w.rates.repair_s[FAB_FAILURE_MAINTENANCE] = 900;
    w.rates.slow_speed = 0.8;
    w.rates.flap_speed = 0.4;
    w.rates.detect_loss = seed % 2 == 0 ? 0.1 : 0.5; /* noticed, or not */
    w.rates.detect_s = 5000;
    w.traffic = fixture_traffic("job", &w.design, w.f, 3);
    w.taken = calloc(w.f->n_servers, 1);
    cr_assert_eq(fab_jobs_taken(&w.design, w.f, w.taken, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_ports_init(w.f, &w.ports, &err), FAB_OK, "%s", err.text);
    const fab_relocator_request who = {.fabric = w.f, .ports = &w.ports, .traffic = &w.traffic, .taken = w.taken};
    cr_assert_eq(fab_relocator_new(&who, &w.relocator, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_mask_init(w.f, NULL, &w.mask, &err), FAB_OK);
    const fab_context_request asked = {
        .design = &w.design, .fabric = w.f, .traffic = "job", .engines = &w.engine, .n_engines = 1, .seed = 3};
    fab_context *context = fixture_context(&asked);
    const fab_assessment_request request = {
        .context = context, .policies = POLICIES, .n_policies = 3, .times = times, .rates = w.rates};
    cr_assert_eq(fab_assessment_new(&request, &assessment, &err), FAB_OK, "%s: %s", design, err.text);
    cr_assert_eq(fab_assessor_new(assessment, &assessor, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_scenarios_new("time:6d@2", w.f, NULL, &w.rates, seed, &scenarios, &err), FAB_OK, "%s", err.text);
    double span_s = fab_scenarios_span_s(scenarios);
    for (uint64_t i = 0; i < 2; i++) {
        fab_outcome got[3];
        cr_assert_eq(fab_scenarios_get(scenarios, i, &h, &err), FAB_OK);
        cr_assert_eq(fab_assess(assessor, i, &h, span_s, got, &err), FAB_OK, "%s: %s", design, err.text);
        for (size_t p = 0; p < 3; p++) {
            course c = walk(&w, &h, span_s, POLICIES[p]);
            const fab_span_parts parts = {got[p].goodput,
                                          got[p].restart_ratio,
                                          got[p].redo_ratio,
                                          got[p].slow_ratio,
                                          got[p].wait_ratio,
                                          1 - got[p].goodput - got[p].restart_ratio - got[p].redo_ratio -
                                              got[p].slow_ratio - got[p].wait_ratio};
            char what[256];
            (void)snprintf(what, sizeof what, "%s, %s, %s, history %u", design, engine, fab_policies[POLICIES[p]],
                           (unsigned)i);
            expect_parts(&parts, &c.l, span_s, what);
            cr_assert_eq(got[p].n_failures, c.n_failures, "%s", what);
            cr_assert_eq(got[p].n_stops, c.n_stops, "%s: %u stops, not %u", what, got[p].n_stops, c.n_stops);
            cr_assert_eq(got[p].state, c.runs ? FAB_OUTCOME_RUNS : FAB_OUTCOME_STOPPED, "%s", what);
            cr_assert(times ? fabs(got[p].time_s - c.worst_s) <= 1e-9 * c.worst_s
                            : isnan(got[p].time_s) && fabs(got[p].worst_ratio - c.worst_ratio) <= 1e-9,
                      "%s", what);
            n_stops += c.n_stops;
            waited += c.l.wait;
            *n_home += c.n_home;
            *n_away += c.n_away;
        }
    }
    cr_expect_gt(n_stops, 8, "%s: %u", design, n_stops);
    cr_expect_gt(waited, 0, "%s", design);
    fab_scenario_release(&h);
    fab_scenarios_free(scenarios);
    fab_assessor_free(assessor);
    fab_assessment_free(assessment);
    fab_context_free(context);
    fab_mask_release(&w.mask);
    fab_relocator_free(w.relocator);
    fab_ports_release(&w.ports);
    free(w.taken);
    fab_traffic_release(&w.traffic);
    fab_fabric_free(w.f);
}

Test(assess_history, as_if_the_job_was_set_up_anew_after_every_event) {
    uint32_t n_home = 0;
    uint32_t n_away = 0;
    check_histories("rail-spine:gpus=48,gpus-per-server=4,radix=8", "spray", true, 3, 0, &n_home, &n_away);
    check_histories("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "dmodk", false, 4, 5, &n_home, &n_away);
    check_histories("rail-only:gpus=48,gpus-per-server=4,domain=4,radix=8", "ecmp", true, 5, 0, &n_home, &n_away);
    cr_expect_eq(n_home + n_away, 0, "%u, %u", n_home, n_away);
}

Test(assess_history, ranks_on_spares_go_home_where_a_job_set_up_there_gains_more_than_it_misses) {
    uint32_t n_home = 0;
    uint32_t n_away = 0;
    check_histories("rail-spine:gpus=48,gpus-per-server=4,radix=8", "ecmp,qp=2", true, 1, 2, &n_home, &n_away);
    check_histories("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "pinned,slices=2", true, 2, 5, &n_home, &n_away);
    check_histories("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "ecmp", true, 6, 1, &n_home, &n_away);
    check_histories("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "ecmp", true, 7, 10, &n_home, &n_away);
    cr_expect_gt(n_home, 4, "%u", n_home);
    cr_expect_gt(n_away, 4, "%u", n_away);
    uint32_t n_never = 0;
    check_histories("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "ecmp", true, 7, 1e-3, &n_never, &n_away);
    cr_expect_eq(n_never, 0, "%u", n_never);
}

/* --- states that were evaluated before ---------------------------------------------------------------------------- */

static bool is_equal(const fab_outcome *a, const fab_outcome *b) {
    const double x[] = {a->goodput,    a->restart_ratio, a->redo_ratio,  a->slow_ratio,
                        a->wait_ratio, a->time_s,        a->worst_ratio, a->lost_ratio};
    const double y[] = {b->goodput,    b->restart_ratio, b->redo_ratio,  b->slow_ratio,
                        b->wait_ratio, b->time_s,        b->worst_ratio, b->lost_ratio};
    return memcmp(x, y, sizeof x) == 0 && a->state == b->state && a->n_stops == b->n_stops &&
           a->n_failures == b->n_failures && a->n_moved == b->n_moved && a->n_collisions == b->n_collisions &&
           a->n_disconnected == b->n_disconnected && a->worst_link == b->worst_link;
}

static void check_memory(const char *design, const char *engine) {
    static const char *const JOB[] = {"tp=4", "pp=2", "dp=4", "batch=24", "servers=0-7", "memory-check=off", NULL};
    enum { N = 6 };
    fab_error err = {0};
    fab_assessor *keeps = NULL;
    fab_assessor *forgets = NULL;
    fab_scenario h = {.n_events = 0};
    static fab_outcome got[N][N_OF_ALL];
    uint32_t n_stops = 0;
    plant p;
    set_up(&p, design, engine, JOB);
    p.rates.stops_per_s = 1e-6;
    open_plant(&p, "time:40d@6", &p.scenarios);
    cr_assert_eq(fab_assessor_new(p.assessment, &keeps, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_assessor_new(p.assessment, &forgets, &err), FAB_OK, "%s", err.text);
    forgets->forgets = true;
    for (uint64_t i = 0; i < N; i++) {
        cr_assert_eq(fab_scenarios_get(p.scenarios, i, &h, &err), FAB_OK);
        cr_assert_eq(fab_assess(keeps, i, &h, 40 * 86400.0, got[i], &err), FAB_OK, "%s", err.text);
    }
    for (uint64_t i = N; i-- > 0;) { /* in another order, too */
        fab_outcome want[N_OF_ALL];
        cr_assert_eq(fab_scenarios_get(p.scenarios, i, &h, &err), FAB_OK);
        cr_assert_eq(fab_assess(forgets, i, &h, 40 * 86400.0, want, &err), FAB_OK, "%s", err.text);
        for (size_t v = 0; v < N_OF_ALL; v++) {
            cr_expect(is_equal(&got[i][v], &want[v]), "%s, %s, history %u, %s: %.17g, not %.17g", design, engine,
                      (unsigned)i, fab_policies[OF_ALL[v]], got[i][v].goodput, want[v].goodput);
            n_stops += want[v].n_stops;
        }
    }
    cr_expect_gt(n_stops, 50, "%u", n_stops);
    fab_scenario_release(&h);
    fab_assessor_free(forgets);
    fab_assessor_free(keeps);
    tear_down(&p);
}

Test(assess_history, what_is_remembered_is_what_would_be_computed) {
    check_memory("clos:gpus=48,gpus-per-server=4,radix=12,taper=2", "ecmp,qp=2");
    check_memory("rail-spine:gpus=40,gpus-per-server=4,radix=8", "dmodk");
}
