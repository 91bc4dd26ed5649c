/* Who is credited: studies of random pairs whose truth is known, because it was planted. */
#include "fab/rng.h"
#include "fab/summarise.h"
#include "fabric_fixture.h"

#include <math.h>
#include <string.h>

typedef struct planted {
    double alone[4096]; /* what the loss of a part costs */
    uint32_t n, n_pairs;
    uint32_t pair[64][2]; /* of parts that cost nothing alone: half of the speed together */
} planted;

static double truth_of(const planted *p, uint32_t a, uint32_t b) {
    double left = (1 - p->alone[a]) * (1 - p->alone[b]);
    for (uint32_t i = 0; i < p->n_pairs; i++) {
        bool is_it = (p->pair[i][0] == a && p->pair[i][1] == b) || (p->pair[i][0] == b && p->pair[i][1] == a);
        left *= is_it ? 0.5 : 1;
    }
    return 1 - left;
}

static fab_outcome row_of(uint64_t number, double impact) {
    fab_outcome row = {.scenario = number, .worst_link = FAB_NONE, .worst_ratio = 1};
    row.goodput = row.restart_ratio = row.redo_ratio = row.slow_ratio = row.wait_ratio = NAN;
    row.state = impact >= 1 ? FAB_OUTCOME_STOPPED : FAB_OUTCOME_RUNS;
    row.slowdown = impact >= 1 ? NAN : 1 / (1 - impact);
    row.time_s = row.slowdown;
    return row;
}

static uint32_t sets[16384][2];

static fab_status look_up_set(void *context, uint64_t scenario, const uint32_t **out, size_t *out_n, fab_error *err) {
    (void)context;
    (void)err;
    *out = sets[scenario];
    *out_n = 2;
    return FAB_OK;
}

/* What a summary of `n_sets` random pairs says. */
static fab_study_summary *study_of(const planted *p, const fab_fabric *f, const fab_component *parts, uint64_t n_sets,
                                   fab_rng *rng, uint32_t *drawn) {
    static const char *const ENGINE[] = {"ecmp"};
    static const char *const POLICY[] = {"none"};
    const fab_outcome healthy = {.slowdown = 1, .time_s = 1, .worst_ratio = 1};
    fab_summariser *s = NULL;
    fab_study_summary *out = NULL;
    fab_error err = {0};
    const fab_summary_request request = {.fabric = f,
                                         .n_scenarios = n_sets,
                                         .components = parts,
                                         .n_components = p->n,
                                         .failed = look_up_set,
                                         .engines = ENGINE,
                                         .n_engines = 1,
                                         .policies = POLICY,
                                         .n_policies = 1,
                                         .healthy = &healthy,
                                         .top = FAB_STUDY_TOP_MOST,
                                         .keep_impact = true};
    cr_assert_eq(fab_summariser_new(&request, &s, &err), FAB_OK, "%s", err.text);
    for (uint64_t i = 0; i < n_sets; i++) {
        uint32_t a = (uint32_t)fab_rng_below(rng, p->n);
        uint32_t b = (uint32_t)fab_rng_below(rng, p->n - 1);
        b += b >= a;
        sets[i][0] = a < b ? a : b;
        sets[i][1] = a < b ? b : a;
        const fab_outcome row = row_of(i, truth_of(p, a, b));
        drawn[a]++;
        drawn[b]++;
        cr_assert_eq(fab_summariser_add(s, &row, sets[i], 2, &err), FAB_OK, "%s", err.text);
    }
    cr_assert_eq(fab_summariser_finish(s, &out, &err), FAB_OK, "%s", err.text);
    fab_summariser_free(s);
    return out;
}

/* How many parts are named that do nothing, which is what chance may do. */
static uint32_t check(uint64_t seed, uint32_t n_parts, double part_stops, double part_slows, uint32_t n_pairs,
                      const char *what) {
    static planted p;
    static fab_component parts[4096];
    static uint32_t drawn[4096];
    char name[FAB_COMPONENT_NAME_SIZE];
    fab_rng rng = fab_rng_make(seed, 3);
    fab_fabric *f =
        fixture_build(n_parts > 100 ? "clos:gpus=512,radix=32" : "clos:gpus=32,gpus-per-server=2,radix=8", NULL, NULL);
    memset(&p, 0, sizeof p);
    memset(drawn, 0, sizeof drawn);
    for (uint32_t c = 0; c < f->n_cables && p.n < n_parts; c++) {
        fab_link_kind kind = fab_class_of(f, 2 * c)->kind;
        if (kind == FAB_LINK_ACCESS || kind == FAB_LINK_FABRIC) {
            double x = (double)fab_rng_below(&rng, 1u << 20) / (1u << 20);
            p.alone[p.n] = x < part_stops ? 1 : x < part_stops + part_slows ? 0.02 + x / 3 : 0;
            parts[p.n++] = (fab_component){.kind = FAB_COMPONENT_LINK, .id = 2 * c};
        }
    }
    for (uint32_t i = 0; i < p.n && p.n_pairs < n_pairs; i += 2) {
        if (p.alone[i] == 0 && p.alone[i + 1] == 0) {
            p.pair[p.n_pairs][0] = i;
            p.pair[p.n_pairs++][1] = i + 1;
        }
    }
    fab_study_summary *s = study_of(&p, f, parts, n_parts > 100 ? 3 * p.n : p.n * (p.n - 1) / 2, &rng, drawn);
    const fab_study_variant *v = &s->variants[0];
    uint32_t n_named = 0;
    uint32_t n_there = 0;
    uint32_t n_wrong = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        bool is_named = false;
        (void)fab_component_name(f, &parts[i], name);
        for (size_t k = 0; k < v->critical.n; k++) {
            if (strcmp(v->critical.list[k].name, name) == 0) {
                is_named = true;
                n_wrong += !(p.alone[i] > 0);
                cr_expect(!(p.alone[i] > 0) || fabs(v->critical.list[k].impact - p.alone[i]) <= 0.1 * p.alone[i] + 1e-9,
                          "%s: %s", what, name);
            }
        }
        double painted = v->cable_impact != NULL ? v->cable_impact[parts[i].id / 2] : 0; /* NULL: none is named */
        cr_expect(is_named ? painted > 0 : painted == 0 || isnan(painted), "%s: the picture of %s", what, name);
        n_named += is_named;
        n_there += p.alone[i] > 0 && drawn[i] >= 5;
    }
    cr_expect_geq(n_named, 0.8 * n_there, "%s: %u of %u", what, n_named, n_there);
    cr_expect(n_pairs > 0 || v->n_interactions == 0, "%s", what);
    fab_study_summary_free(s);
    fab_fabric_free(f);
    return n_wrong;
}

Test(oracle_credit, only_parts_that_do_something_are_named) {
    for (uint64_t seed = 0; seed < 12; seed++) {
        cr_expect_eq(check(seed, 1000, 0, 0, 0, "nothing"), 0);
        cr_expect_eq(check(seed, 1000, 0.3, 0, 0, "a third stops the job"), 0);
        cr_expect_eq(check(seed, 1000, 0.02, 0.05, 0, "few"), 0);
        cr_expect_eq(check(seed, 1000, 0.3, 0.02, 60, "interactions"), 0);
        cr_expect_eq(check(seed, 1000, 0, 0, 60, "interactions alone"), 0);
    }
}

/* As many draws as there are pairs: some come twice and others never, so chance has its part, 1 in 100 studies. */
Test(oracle_credit, as_many_draws_as_there_are_pairs_are_not_all_of_them) {
    enum { STUDIES = 1000 };
    uint32_t n_wrong = 0;
    for (uint64_t seed = 0; seed < STUDIES; seed++) {
        n_wrong += check(seed, 4 + (uint32_t)seed % 5, 0, 0, 9, "many pairs");
    }
    cr_expect_leq(n_wrong, STUDIES / 100, "%u parts that do nothing are named", n_wrong);
}
