/* Where failure scenarios come from. */
#include "fab/rng.h"
#include "fab/scenarios.h"
#include "fabric_fixture.h"
#include "scenario_down.h"

#include <math.h>
#include <string.h>

#define DESIGN "clos:gpus=32,gpus-per-server=2,radix=8"

static fab_scenarios *make(const char *text, const fab_fabric *f, const fab_failure_rates *rates, uint64_t seed) {
    fab_scenarios *s = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_scenarios_new(text, f, NULL, rates, seed, &s, &err), FAB_OK, "%s: %s", text, err.text);
    return s;
}

static void get(const fab_scenarios *s, uint64_t i, fab_scenario *out) {
    fab_error err = {0};
    cr_assert_eq(fab_scenarios_get(s, i, out, &err), FAB_OK, "%s", err.text);
}

/* Every set once, in order, and as many as n over k. */
Test(scenarios, every_set) {
    static const struct {
        const char *text;
        uint32_t n, k;
        uint64_t count;
    } CASES[] = {{"switches:1", 12, 1, 12},  {"switches:3", 12, 3, 220}, {"switches:12", 12, 12, 1},
                 {"servers:4", 16, 4, 1820}, {"links:2", 64, 2, 2016},   {"planes:1", 1, 1, 1},
                 {"gpus:2", 32, 2, 496},     {"nics:3", 32, 3, 4960}};
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenario one = {0};
    for (size_t c = 0; c < sizeof CASES / sizeof CASES[0]; c++) {
        fab_scenarios *s = make(CASES[c].text, f, NULL, 1);
        uint32_t expected[16];
        cr_assert_eq(fab_scenarios_count(s), CASES[c].count, "%s", CASES[c].text);
        for (uint32_t j = 0; j < CASES[c].k; j++) {
            expected[j] = j;
        }
        for (uint64_t i = 0; i < CASES[c].count; i++) {
            get(s, i, &one);
            cr_assert_eq(one.n_components, CASES[c].k);
            uint32_t before = 0;
            for (uint32_t j = 0; j < CASES[c].k; j++) {
                uint32_t id = one.component[j].id;
                if (one.component[j].kind != FAB_COMPONENT_LINK) {
                    cr_assert_eq(id, expected[j], "%s, set %llu", CASES[c].text, (unsigned long long)i);
                }
                cr_assert(j == 0 || id > before, "%s", CASES[c].text);
                cr_assert_eq(fab_component_check(f, NULL, &one.component[j], NULL), FAB_OK);
                before = id;
            }
            uint32_t j = CASES[c].k; /* the next set, as one counts */
            while (j > 0 && expected[j - 1] == CASES[c].n - CASES[c].k + j - 1) {
                j--;
            }
            if (j > 0) {
                expected[j - 1]++;
                for (uint32_t k = j; k < CASES[c].k; k++) {
                    expected[k] = expected[k - 1] + 1;
                }
            }
        }
        cr_expect_eq(fab_scenarios_get(s, CASES[c].count, &one, NULL), FAB_EINPUT);
        fab_scenarios_free(s);
    }
    fab_scenario_release(&one);
    fab_fabric_free(f);
}

/* Large numbers: first and last set, and neighbours in order. */
Test(scenarios, unranks_large_sets) {
    fab_fabric *f = fixture_build("rail-spine:gpus=2048,radix=64", NULL, NULL);
    fab_scenarios *s = make("gpus:2", f, NULL, 1);
    fab_scenario a = {0};
    uint64_t n = fab_scenarios_count(s);
    cr_assert_eq(n, 2048 * 2047 / 2);
    get(s, 0, &a);
    cr_expect(a.component[0].id == 0 && a.component[1].id == 1);
    get(s, n - 1, &a);
    cr_expect(a.component[0].id == 2046 && a.component[1].id == 2047);
    get(s, 2047 + 2046, &a); /* behind all pairs of 0 and of 1 */
    cr_expect(a.component[0].id == 2 && a.component[1].id == 3);
    fab_scenarios_free(s);
    fab_scenario_release(&a);
    fab_fabric_free(f);
}

/* All components alike, no two of a set equal, the same for the same number, another for another seed. */
Test(scenarios, drawn_sets) {
    enum { N = 20000, K = 5, SWITCHES = 12 };
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenarios *s = make("switches:5@20000", f, NULL, 3);
    fab_scenarios *other = make("switches:5@20000", f, NULL, 4);
    fab_scenario a = {0};
    fab_scenario b = {0};
    uint32_t hits[SWITCHES] = {0};
    uint32_t equal = 0;
    cr_assert_eq(fab_scenarios_count(s), N);
    for (uint64_t i = 0; i < N; i++) {
        get(s, i, &a);
        get(other, i, &b);
        cr_assert_eq(a.n_components, K);
        bool same = true;
        for (uint32_t j = 0; j < K; j++) {
            cr_assert(j == 0 || a.component[j].id > a.component[j - 1].id);
            hits[a.component[j].id]++;
            same = same && a.component[j].id == b.component[j].id;
        }
        equal += same;
    }
    for (uint32_t v = 0; v < SWITCHES; v++) {
        cr_expect(fabs(hits[v] - N * K / 12.0) < 5 * sqrt(N * K / 12.0), "switch %u: %u", v, hits[v]);
    }
    cr_expect_lt(equal, N / 792 * 2, "%u", equal);
    get(s, 77, &a);
    get(s, 78, &b);
    get(s, 77, &b);
    cr_expect(memcmp(a.component, b.component, K * sizeof *a.component) == 0);
    fab_scenarios_free(s);
    fab_scenarios_free(other);
    fab_scenario_release(&a);
    fab_scenario_release(&b);
    fab_fabric_free(f);
}

Test(scenarios, refuses) {
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"switches", "'switches' does not say how many fail at once; as switches:1"},
        {"cables:1", "did you mean 'links'? as CLASS:K"},
        {"", "no source of scenarios"},
        {"routers:1", "'routers' is no source of scenarios"},
        {"switches:0", "how many of 12 switches fail"},
        {"switches:13", "how many of 12 switches fail"},
        {"switches:x", "how many of 12 switches fail"},
        {"switches:2@0", "number of scenarios"},
        {"racks:1", "floor plan"},
        {"links:12", "the limit is 1000000000; links:12@N draws"},
        {"time:30d", "how many histories"},
        {"time:30@5", "time of a history"},
        {"time:0s@5", "a history of 0 s"},
        {"file:/nowhere.csv", ""},
    };
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        fab_scenarios *s = NULL;
        fab_error err = {0};
        cr_expect_neq(fab_scenarios_new(CASES[i].text, f, NULL, NULL, 1, &s, &err), FAB_OK, "%s", CASES[i].text);
        cr_expect(strstr(err.text, CASES[i].message) != NULL, "%s: %s", CASES[i].text, err.text);
    }
    fab_fabric_free(f);
}

/* The default rates give the counts that they come from. */
Test(scenarios, default_rates) {
    const fab_failure_rates r = fab_failure_rates_default();
    double span = 54 * 86400.0;
    cr_expect_float_eq(r.per_s[FAB_FAILURE_GPU] * 16384 * span, 268, 1e-9);
    cr_expect_float_eq(r.per_s[FAB_FAILURE_NIC] * 16384 * span, 7, 1e-9);
    cr_expect_float_eq(r.per_s[FAB_FAILURE_SERVER] * 2048 * span, 46, 1e-9);
    cr_expect_float_eq(r.per_s[FAB_FAILURE_SOFTWARE] * 16384 * span, 63, 1e-9);
    cr_expect_float_eq(r.per_s[FAB_FAILURE_MAINTENANCE] * 16384 * span, 47, 1e-9);
    /* what stops its job of network: a cable per GPU, a switch per 16 of them */
    cr_expect_float_eq(span * (r.per_s[FAB_FAILURE_LINK] * 16384 + r.per_s[FAB_FAILURE_SWITCH] * 1024), 35, 1e-9);
    const fab_failure_spec hpn = {.set = FAB_RATES_HPN};
    cr_expect_float_eq(fab_failure_rates_of(&hpn).per_s[FAB_FAILURE_LINK] * 30 * 86400, 0.00057, 1e-12);
}

/* As many failures as the rates say; what is down does not fail; what failed is repaired in its time. */
Test(scenarios, histories) {
    enum { N = 300 };
    fab_failure_rates rates = fab_failure_rates_default();
    uint32_t n_of[FAB_FAILURE_N] = {64, 12, 32, 32, 16, 32, 32, 32, 64};
    uint64_t seen[FAB_FAILURE_N] = {0};
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenario h = {0};
    double span = 30 * 86400.0;
    for (uint32_t c = 0; c < FAB_FAILURE_N; c++) {
        rates.per_s[c] = 5.0 / n_of[c] / span; /* five of each in a history */
    }
    rates.repair_s[FAB_FAILURE_GPU] = 3 * 86400.0;
    rates.repair_s[FAB_FAILURE_SLOW] = 86400;
    rates.slow_speed = 0.5;
    rates.detect_loss = 1; /* nobody notices */
    fab_scenarios *s = make("time:30d@300", f, &rates, 9);
    cr_expect_eq(fab_scenarios_span_s(s), span);
    for (uint64_t i = 0; i < N; i++) {
        get(s, i, &h);
        uint32_t down = 0;
        for (size_t k = 0; k < h.n_events; k++) {
            const fab_event *e = &h.event[k];
            cr_assert(e->time_s >= 0 && e->time_s < span && (k == 0 || e->time_s >= h.event[k - 1].time_s));
            seen[e->failure] += !e->is_repair;
            if (e->failure == FAB_FAILURE_SOFTWARE || e->failure == FAB_FAILURE_MAINTENANCE) {
                continue;
            }
            cr_assert_eq(fab_component_check(f, NULL, &e->component, NULL), FAB_OK);
            cr_assert_eq(scenario_down(&h, k, NULL), FAB_OK);
            bool is_down = false;
            for (size_t j = 0; j < h.n_components; j++) {
                is_down =
                    is_down || (h.component[j].kind == e->component.kind && h.component[j].id == e->component.id &&
                                h.component[j].fraction == e->component.fraction);
            }
            cr_assert_eq(is_down, e->is_repair, "history %llu, event %zu", (unsigned long long)i, k);
            down += e->is_repair ? UINT32_MAX : 1;
            cr_assert_eq(scenario_down(&h, k + 1, NULL), FAB_OK);
            cr_assert_eq(h.n_components, down);
        }
    }
    for (uint32_t c = 0; c < FAB_FAILURE_N; c++) {
        double expected = 5.0 * N; /* a little less: what is down waits */
        cr_expect(seen[c] < expected + 5 * sqrt(expected) && seen[c] > 0.95 * expected - 5 * sqrt(expected), "%s: %llu",
                  fab_failure_classes[c], (unsigned long long)seen[c]);
    }
    fab_scenarios_free(s);
    fab_scenario_release(&h);
    fab_fabric_free(f);
}

/* Infant mortality fails more at first, as its mean says; RMAs are as long and as many as asked for. */
Test(scenarios, infants_and_returns) {
    const double span = 30 * 86400.0;
    fab_failure_rates rates = {.infant_factor = 5, .infant_s = span / 6, .rma_part = 0.25, .rma_s = 2e5};
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenario h = {0};
    rates.per_s[FAB_FAILURE_NIC] = 2.0 / 32 / span;
    rates.repair_s[FAB_FAILURE_NIC] = 50;
    fab_scenarios *s = make("time:30d@2000", f, &rates, 4);
    double early = 0;
    double late = 0;
    double returned = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        get(s, i, &h);
        for (size_t k = 0; k < h.n_events; k++) {
            const fab_event *e = &h.event[k];
            cr_assert(e->is_repair || e->away_s == 50 || e->away_s == 2e5);
            returned += !e->is_repair && e->away_s == 2e5;
            early += !e->is_repair && e->time_s < span / 6;
            late += !e->is_repair && e->time_s >= span / 6;
        }
    }
    double all = 4000 * fab_infant_mean(&rates, span);
    double first = 4000.0 / 6 * fab_infant_mean(&rates, span / 6);
    cr_expect(fabs(early + late - all) < 5 * sqrt(all) + 0.01 * all, "%g of %g", early + late, all);
    cr_expect(fabs(early - first) < 5 * sqrt(first) + 0.01 * first, "%g of %g", early, first);
    cr_expect(fabs(returned - all / 4) < 5 * sqrt(all / 4) + 0.01 * all, "%g", returned);
    fab_scenarios_free(s);
    fab_scenario_release(&h);
    fab_fabric_free(f);
}

/* Slow GPUs: as long as they are unnoticed; what is noticed is dead from then on, as long as a dead GPU. */
Test(scenarios, slow_gpus) {
    fab_failure_rates rates = {.slow_speed = 0.9, .detect_loss = 0.05, .detect_s = 3600};
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenario h = {0};
    uint32_t n_slow = 0;
    uint32_t n_dead = 0;
    rates.per_s[FAB_FAILURE_SLOW] = 6.0 / 32 / (30 * 86400.0);
    rates.repair_s[FAB_FAILURE_SLOW] = 90000;
    rates.repair_s[FAB_FAILURE_GPU] = 500;
    for (int noticed = 0; noticed < 2; noticed++) {
        rates.detect_loss = noticed != 0 ? 0.05 : 0.2;
        fab_scenarios *s = make("time:30d@50", f, &rates, 4);
        for (uint64_t i = 0; i < 50; i++) {
            get(s, i, &h);
            for (size_t k = 0; k < h.n_events; k++) {
                const fab_event *e = &h.event[k];
                bool is_slow = e->failure == FAB_FAILURE_SLOW;
                cr_assert(is_slow || e->failure == FAB_FAILURE_GPU);
                cr_assert_eq(e->component.fraction, is_slow ? 0.9 : 0);
                cr_assert_eq(e->away_s, !is_slow ? 500 : noticed != 0 ? 3600 : 90000);
                n_slow += is_slow && !e->is_repair;
                n_dead += !is_slow && !e->is_repair;
                for (size_t m = 0; m < h.n_events && is_slow && e->is_repair && noticed != 0; m++) {
                    const fab_event *d = &h.event[m];
                    bool is_it = d->failure == FAB_FAILURE_GPU && !d->is_repair && d->time_s == e->time_s;
                    cr_expect(!is_it || d->component.id == e->component.id);
                }
            }
        }
        cr_expect(noticed != 0 ? n_dead > 250 && n_dead <= n_slow : n_dead == 0, "%u of %u", n_dead, n_slow);
        fab_scenarios_free(s);
        n_slow = 0;
    }
    fab_scenario_release(&h);
    fab_fabric_free(f);
}

/* The interval that is found loses no more than 1 % of the least loss of a sweep, over random stops. */
Test(scenarios, best_checkpoints) {
    enum { STOPS = 20000 };
    static fab_event event[STOPS];
    fab_rng rng = fab_rng_make(8, 0);
    for (int mode = 0; mode < 2; mode++) {
        const double mtbf_s = 11000;
        double at = 0;
        for (int i = 0; i < STOPS; i++) {
            at -= mtbf_s * log(((double)fab_rng_below(&rng, 1u << 30) + 1) / (1u << 30));
            event[i] = (fab_event){.time_s = at};
        }
        fab_failure_rates r = {.restart_s = 300, .pause_s = 20, .lag_s = mode == 0 ? 20 : 120};
        r.checkpoint_s = fab_checkpoint_interval(1 / mtbf_s, r.pause_s, r.lag_s);
        double found = fab_span_split(event, STOPS, at, &r, &(fab_span_course){.stops = NULL}).useful;
        double best = 0;
        for (double tau = 30; tau < 20000; tau *= 1.1) {
            r.checkpoint_s = tau;
            best = fmax(best, fab_span_split(event, STOPS, at, &r, &(fab_span_course){.stops = NULL}).useful);
        }
        cr_expect_gt(found, best - 0.01 * (1 - best), "mode %d: %.6f of %.6f", mode, found, best);
        cr_expect_lt(best, 0.98);
    }
    cr_expect_float_eq(fab_checkpoint_interval(0, 1, 1), 30 * 86400.0, 1e-9);
    cr_expect_float_eq(fab_checkpoint_interval(1e-4, 2, 500), 500, 1e-9);
}

static double useful(const fab_event *event, size_t n, const fab_failure_rates *rates, const uint8_t *stops,
                     const double *speed) {
    return fab_span_split(event, n, 1000, rates, &(fab_span_course){.stops = stops, .speed = speed}).useful;
}

Test(scenarios, goodput) {
    const fab_failure_rates rates = {.checkpoint_s = 100, .restart_s = 10};
    const fab_event events[] = {{.time_s = 250}, {.time_s = 255}, {.time_s = 500, .is_repair = true}, {.time_s = 700}};
    const uint8_t only_last[] = {0, 0, 0, 1};
    const double speed[] = {1, 1, 1, 0.5, 1};
    cr_expect_float_eq(useful(NULL, 0, &rates, NULL, NULL), 1, 1e-12);
    /* 200 kept of 250; the restart begins again at 255 and ends at 265; 435 until 700, 400 kept; 290 from 710 on */
    cr_expect_float_eq(useful(events, 4, &rates, NULL, NULL), 0.89, 1e-12);
    cr_expect_float_eq(useful(events, 4, &rates, only_last, NULL), 0.99, 1e-12);
    /* 500, then 200 s at half the speed, then 290 */
    cr_expect_float_eq(useful(events, 4, &rates, only_last, speed), 0.89, 1e-12);
}

static void write_file(const char *path, const char *text) {
    FILE *out = fopen(path, "w");
    cr_assert(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

Test(scenarios, files) {
    static const char CSV[] =
        "# a comment\nscenario,component,left\r\nnone,,\n a , leaf-3 , \na,leaf-0:5 > spine-0:1,0.5\n"
        "b,server-4,\n";
    static const char XML[] = "<?xml version=\"1.0\"?>\n<scenarios><scenario name=\"none\"/>\n<scenario name=\"a\">"
                              "<component name=\"leaf-3\"/><component name=\"leaf-0:5 &gt; spine-0:1\" left=\"0.5\"/>"
                              "</scenario><scenario name=\"b\"><component name=\"server-4\"/></scenario></scenarios>\n";
    const char *const texts[] = {CSV, XML};
    char path[] = "scenarios-XXXXXX";
    char source[64];
    fab_fabric *f = fixture_build(DESIGN, NULL, NULL);
    fab_scenario one = {0};
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    (void)snprintf(source, sizeof source, "file:%s", path);
    for (size_t i = 0; i < 2; i++) {
        write_file(path, texts[i]);
        fab_scenarios *s = make(source, f, NULL, 1);
        cr_assert_eq(fab_scenarios_count(s), 3);
        get(s, 0, &one);
        cr_expect_str_eq(one.name, "none");
        cr_expect_eq(one.n_components, 0);
        get(s, 1, &one);
        cr_expect_str_eq(one.name, "a");
        cr_assert_eq(one.n_components, 2);
        cr_expect(one.component[0].kind == FAB_COMPONENT_SWITCH && one.component[0].id == 3);
        cr_expect(one.component[1].kind == FAB_COMPONENT_LINK && one.component[1].fraction == 0.5);
        get(s, 2, &one);
        cr_expect(one.component[0].kind == FAB_COMPONENT_SERVER && one.component[0].id == 4);
        fab_scenarios_free(s);
    }
    static const struct {
        const char *text, *where, *message;
    } BAD[] = {
        {"", "", "has no scenario"},
        {"scenario,component\n", "", "has no scenario"},
        {"name,component\na,b\n", ":1:1", "expected the header"},
        {"scenario,component\na,leaf-3,0.5\n", ":2:1", "3 columns; the header has 2"},
        {"scenario,component\n\na,leaf-99\n", ":3:1", "there is no leaf-99: they are numbered 0 to 7"},
        {"scenario,component,left\na,leaf-1,2\n", ":2:1", "'2' is not what may be left"},
        {"scenario,component\na,leaf-1\nb,leaf-2\na,leaf-3\n", "", "comes twice"},
        {"scenario,component\n,leaf-1\n", ":2:1", "name of a scenario"},
        {"<scenarios><scenario/></scenarios>", ":1:12", "needs name"},
        {"<scenarios>\n<scenario name='a'><component name='leaf-99'/></scenario></scenarios>", ":2:", "no leaf-99"},
        {"<scenarios><scenario name='a' odd='1'/></scenarios>", ":1:", "no attribute 'odd'"},
        {"<failures/>", ":1:1", "expected <scenarios>"},
        {"<scenarios><scenario name='a'>", ":1:", ""},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        fab_scenarios *s = NULL;
        fab_error err = {0};
        write_file(path, BAD[i].text);
        cr_expect_eq(fab_scenarios_new(source, f, NULL, NULL, 1, &s, &err), FAB_EINPUT, "%s", BAD[i].text);
        cr_expect(strstr(err.text, BAD[i].message) != NULL, "%s: %s", BAD[i].text, err.text);
        cr_expect(strstr(err.where, BAD[i].where) != NULL && strstr(err.where, path) != NULL, "%s: %s", BAD[i].text,
                  err.where);
    }
    (void)remove(path);
    fab_scenario_release(&one);
    fab_fabric_free(f);
}
