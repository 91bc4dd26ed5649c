/* Classes of equal failures against all of them: what one of each class says, so many times, is what every set says. */
#include "../../src/study/scenarios/scenarios_internal.h"
#include "../../src/study/study_scene.h"
#include "draws.h"
#include "fab/memory.h"
#include "fab/order.h"
#include "fabric_fixture.h"
#include "random_design.h"

#include <math.h>
#include <string.h>

#define MOST_SETS 4000
#define FIGURES   7

static const fab_policy NOBODY_MOVES = FAB_POLICY_NONE;

/* All that is said of a set; what is not known counts as -1. */
static void figures_of(const fab_outcome *o, double out[FIGURES]) {
    const double figures[FIGURES] = {o->state,       o->n_disconnected, o->n_collisions, o->lost_ratio,
                                     o->worst_ratio, o->time_s,         o->slowdown};
    for (size_t i = 0; i < FIGURES; i++) {
        out[i] = isnan(figures[i]) ? -1 : figures[i];
    }
}

/* Every figure of every set, each sorted by itself: shape [FIGURES][n], and their number; 0 where it cannot be said. */
static size_t look_at(const fab_design *design, const char *traffic, const fab_engine_spec *engine, const char *source,
                      bool times, double **out, size_t *out_classes, char *what) {
    const fab_context_request asked = {
        .design = design, .traffic = traffic, .engines = engine, .n_engines = 1, .seed = 3};
    const fab_assessment_request request = {
        .policies = &NOBODY_MOVES, .n_policies = 1, .times = times, .n_draws = 1, .rates = fab_failure_rates_default()};
    study_scene scene = {.fabric = NULL};
    study_worker worker = {.scene = NULL};
    fab_error err = {0};
    size_t n = 0;
    fab_status status = study_scene_init(&asked, &request, source, asked.seed, &scene, &err);
    if (status != FAB_OK) {
        cr_assert(status == FAB_EUNSUPPORTED || status == FAB_EINPUT, "%s: %s", what, err.text);
        return 0;
    }
    const fab_scenarios *s = scene.scenarios;
    for (uint64_t i = 0; i < s->count; i++) {
        n += s->n_equal != NULL ? s->n_equal[i] : 1;
    }
    if (n > MOST_SETS) {
        study_scene_release(&scene);
        return 0;
    }
    *out = calloc(FIGURES * n + 1, sizeof **out);
    *out_classes = (size_t)s->count;
    cr_assert_eq(study_worker_init(&scene, &worker, &err), FAB_OK, "%s", err.text);
    size_t at = 0;
    for (uint64_t i = 0; i < s->count && at != SIZE_MAX; i++) {
        fab_outcome outcome;
        const uint32_t *component = NULL;
        size_t n_components = 0;
        double figures[FIGURES];
        status = study_worker_assess(&worker, i, &outcome, &component, &n_components, &err);
        if (status == FAB_EUNSUPPORTED) { /* a flow has lost some of its planes: either source meets that */
            n = 0;
            break;
        }
        cr_assert_eq(status, FAB_OK, "%s: %s", what, err.text);
        figures_of(&outcome, figures);
        for (uint64_t k = 0; k < (s->n_equal != NULL ? s->n_equal[i] : 1); k++, at++) {
            for (size_t f = 0; f < FIGURES; f++) {
                (*out)[f * n + at] = figures[f];
            }
        }
    }
    for (size_t f = 0; f < FIGURES && n > 0; f++) {
        qsort(*out + f * n, n, sizeof **out, fab_order_double);
    }
    study_worker_release(&worker);
    study_scene_release(&scene);
    return n;
}

typedef struct counts {
    uint32_t n_compared, n_folded;
    uint64_t n_sets, n_classes;
} counts;

static void compare(const char *design_text, const char *traffic, const char *engine_text, const char *class, int k,
                    bool times, counts *sum) {
    char what[1024];
    char all[64];
    char folded[64];
    fab_design design;
    const fab_engine_spec engine = fixture_spec(engine_text);
    double *each = NULL;
    double *some = NULL;
    size_t n_each = 0;
    size_t n_classes = 0;
    (void)snprintf(what, sizeof what, "%s, %s, %s, %s:%d", design_text, traffic, engine_text, class, k);
    (void)snprintf(all, sizeof all, "%s:%d", class, k);
    (void)snprintf(folded, sizeof folded, "%s:%d@classes", class, k);
    if (fab_design_read(design_text, NULL, 0, &design, NULL) != FAB_OK) {
        return;
    }
    size_t n_folded = look_at(&design, traffic, &engine, folded, times, &some, &n_classes, what);
    if (n_folded > 0) {
        size_t n = look_at(&design, traffic, &engine, all, times, &each, &n_each, what);
        cr_assert_eq(n_folded, n, "%s: %zu sets, not %zu", what, n_folded, n);
        for (size_t i = 0; i < FIGURES * n; i++) {
            cr_assert(fabs(each[i] - some[i]) <= 1e-9 * fmax(1, fabs(each[i])),
                      "%s, %zu classes: figure %zu, set %zu in order: %.17g, not %.17g", what, n_classes, i / n, i % n,
                      some[i], each[i]);
        }
        sum->n_compared++;
        sum->n_folded += n_classes < n;
        sum->n_sets += n;
        sum->n_classes += n_classes;
    }
    FAB_FREE_ALL(each, some);
}

/* Families by name, so that each is looked at. */
Test(oracle_symmetry, every_set_of_small_fabrics) {
    static const char *const DESIGNS[] = {"fat-tree:k=4",
                                          "rail-spine:gpus=32,gpus-per-server=4,radix=8",
                                          "clos:gpus=24,gpus-per-server=2,radix=8,taper=2",
                                          "rail-only:gpus=16,gpus-per-server=4,radix=8",
                                          "dragonfly:gpus=18,gpus-per-server=1,dragonfly=1,2,1",
                                          "torus:gpus=16,gpus-per-server=1,torus=4,4,radix=8",
                                          "clos:gpus=16,gpus-per-server=2,radix=8,planes=2"};
    static const char *const ENGINES[] = {
        "spray", "spray,weights=capacity", "ecmp,qp=2", "ecmp,member-loss=resilient", "dmodk", "pinned"};
    static const char *const TRAFFIC[] = {"job", "pattern:all-to-all", "pattern:shift,by=4"};
    static const char *const CLASSES[] = {"links", "switches", "nics", "gpus", "servers"};
    counts split = {0};
    counts hashed = {0};
    for (size_t d = 0; d < sizeof DESIGNS / sizeof DESIGNS[0]; d++) {
        for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
            for (size_t t = 0; t < sizeof TRAFFIC / sizeof TRAFFIC[0]; t++) {
                const char *class = CLASSES[(d + e + t) % 5];
                counts *sum = e < 2 ? &split : &hashed;
                compare(DESIGNS[d], TRAFFIC[t], ENGINES[e], "links", 1, true, sum);
                compare(DESIGNS[d], TRAFFIC[t], ENGINES[e], class, 2, (d + t) % 3 > 0, sum);
            }
        }
    }
    cr_expect_gt(split.n_folded, 30, "%u of %u folded", split.n_folded, split.n_compared);
    cr_expect_gt(split.n_sets, 4 * split.n_classes, "%zu of %zu", (size_t)split.n_classes, (size_t)split.n_sets);
    cr_expect_gt(hashed.n_compared, 100, "%u compared", hashed.n_compared);
    cr_expect_gt(hashed.n_folded, 4, "%u folded", hashed.n_folded); /* without a choice */
}

/* Some leaves talk to each other, over more spines than links fail; the links of the others are unused. */
Test(oracle_symmetry, unused_links_under_a_hash) {
    static const char *const ENGINES[] = {"ecmp,qp=2", "ecmp,member-loss=resilient", "dmodk", "pinned"};
    counts sum = {0};
    for (size_t e = 0; e < sizeof ENGINES / sizeof ENGINES[0]; e++) {
        compare("clos:gpus=24,gpus-per-server=2,radix=8", "pattern:shift,by=4,gpus=0-15", ENGINES[e], "links", 2, true,
                &sum);
        compare("rail-spine:gpus=32,gpus-per-server=4,radix=8", "pattern:permutation,gpus=0-11", ENGINES[e],
                "fabric-links", 2, true, &sum);
    }
    cr_expect_eq(sum.n_compared, 8, "%u", sum.n_compared);
    cr_expect_gt(sum.n_folded, 3, "%u folded", sum.n_folded);
    cr_expect_lt(sum.n_classes, sum.n_sets * 3 / 4, "%zu classes of %zu", (size_t)sum.n_classes, (size_t)sum.n_sets);
}

Test(oracle_symmetry, random_fabrics) {
    static const char *const ENGINES[] = {"spray", "spray", "ecmp", "dmodk", "ecmp,member-loss=resilient"};
    static const char *const TRAFFIC[] = {"job", "pattern:all-to-all", "pattern:shift,by=8", "pattern:permutation",
                                          "pattern:ring"};
    static const char *const CLASSES[] = {"links", "fabric-links", "switches", "nics", "servers"};
    fab_rng rng = fab_rng_make(17, 4);
    counts sum = {0};
    for (uint32_t round = 0; round < DRAWS(150); round++) {
        random_design d = random_design_next(&rng, 8);
        const char *engine = random_word(&rng, ENGINES, 5);
        const char *traffic = random_word(&rng, TRAFFIC, 5);
        compare(d.text, traffic, engine, random_word(&rng, CLASSES, 5), 1 + (int)fab_rng_below(&rng, 2), round % 3 > 0,
                &sum);
    }
    cr_expect_gt(sum.n_compared, DRAWS(40), "%u compared", sum.n_compared);
    cr_expect_gt(sum.n_folded, DRAWS(20), "%u folded", sum.n_folded);
}
