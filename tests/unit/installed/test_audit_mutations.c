/* Audits of fabrics with one fault each: how many faults are found (recall), and how many findings are true
 * (precision), by kind of fault and by fabric. Fabrics are built, read from the samples, and given what real ones have:
 * hosts on spines, storage leaves, empty places. A change that makes another design of the fabric is no fault, and is
 * left out by an argument that looks at the fabric alone: see is_a_design(). */
#include "mutant.h"

#include "draws.h"
#include "mutations.h"

#define MOST_FABRICS 64

typedef struct score {
    unsigned n, found, findings, truths;
} score;

typedef struct scores {
    score kind[MUTATIONS], all;
    char missed[60][600];
    unsigned n_missed;
    char wrong[60][800];
    unsigned n_wrong;
} scores;

static bool is_one_of(const char *text, const char *list) {
    size_t n = strlen(text);
    for (const char *at = list; (at = strstr(at, text)) != NULL; at += n) {
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool names_culprit(const truth *t, const char *name) {
    for (uint32_t i = 0; i < t->n; i++) {
        if (strcmp(t->culprit[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Its kind is one that the fault has, and each box that it names is one of the fault's. */
static bool is_true(const truth *t, const fab_finding *f) {
    bool ends =
        (f->node[0] == '\0' || names_culprit(t, f->node)) && (f->other[0] == '\0' || names_culprit(t, f->other));
    return ends && f->node[0] != '\0' && is_one_of(fab_finding_kinds[f->kind], t->kinds);
}

static bool is_fault(const fab_finding *f) {
    return !fab_finding_is_choice(f->kind);
}

static fab_audit *audit_of(fab_network *net, fab_shape *shape) {
    fab_audit *audit = NULL;
    fab_error err = {0};
    cr_assert_eq(fab_shape_find(net, shape, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_audit_run(shape, &audit, &err), FAB_OK, "%s", err.text);
    return audit;
}

static void try_mutant(const subject *s, const mutant *m, const truth *t, scores *out, score *by_fabric) {
    fab_network *net = mutant_network(m);
    fab_shape shape = {.net = NULL};
    fab_audit *audit = audit_of(net, &shape);
    score one = {.n = 1};
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        const fab_finding *f = &audit->findings[i];
        bool fits = is_true(t, f);
        if (!is_fault(f)) {
            continue;
        }
        one.findings++;
        one.truths += fits;
        one.found |= fits;
        if (!fits && out->n_wrong < 60) {
            (void)snprintf(out->wrong[out->n_wrong++], sizeof out->wrong[0], "%s, %s (%s %s): %s %s - %s: %s", s->name,
                           mutation_names[t->kind], t->culprit[0], t->n > 1 ? t->culprit[1] : "",
                           fab_finding_kinds[f->kind], f->node, f->other, f->text);
        }
    }
    if (one.found == 0 && out->n_missed < 60) {
        (void)snprintf(out->missed[out->n_missed++], sizeof out->missed[0], "%s, %s: %s - %s, %s - %s (%u findings)",
                       s->name, mutation_names[t->kind], t->culprit[0], t->n > 1 ? t->culprit[1] : "",
                       t->n > 2 ? t->culprit[2] : "", t->n > 3 ? t->culprit[3] : "", one.findings);
    }
    score *sums[] = {&out->kind[t->kind], &out->all, by_fabric};
    for (size_t i = 0; i < 3; i++) {
        sums[i]->n += one.n;
        sums[i]->found += one.found;
        sums[i]->findings += one.findings;
        sums[i]->truths += one.truths;
    }
    fab_audit_free(audit);
    fab_shape_release(&shape);
    fab_network_free(net);
}

static double percent(unsigned part, unsigned all) {
    return all > 0 ? 100.0 * part / all : 100;
}

static void put_score(const char *name, const score *s) {
    printf("  %-36s %5u %7.1f %% %7.1f %%\n", name, s->n, percent(s->found, s->n), percent(s->truths, s->findings));
}

/* Nothing may be found before the change but what is known of a real one. */
static void look_at_clean(const subject *s) {
    fab_network *net = mutant_network(&s->whole);
    fab_shape shape = {.net = NULL};
    fab_audit *audit = audit_of(net, &shape);
    for (uint32_t i = 0; i < audit->n_findings; i++) {
        const fab_finding *f = &audit->findings[i];
        cr_expect(!is_fault(f), "%s is clean: %s %s - %s: %s", s->name, fab_finding_kinds[f->kind], f->node, f->other,
                  f->text);
    }
    fab_audit_free(audit);
    fab_shape_release(&shape);
    fab_network_free(net);
}

static void try_all(const char *const *fabrics, unsigned each, uint64_t seed, scores *out) {
    printf("  %-36s %5s %9s %9s\n", "fabric", "n", "recall", "precision");
    for (size_t i = 0; fabrics[i] != NULL; i++) {
        subject s = subject_make(fabrics[i]);
        score by_fabric = {0};
        fab_rng rng = fab_rng_make(seed, i);
        if (s.whole.n_nodes == 0) { /* of samples that are not there */
            continue;
        }
        look_at_clean(&s);
        for (int kind = 0; kind < MUTATIONS; kind++) {
            for (unsigned k = 0; k < each; k++) {
                mutant m = mutant_copy(&s.whole);
                truth t = {.kind = (mutation)kind};
                if (mutate(&s, (mutation)kind, &rng, &m, &t)) {
                    try_mutant(&s, &m, &t, out, &by_fabric);
                }
                mutant_release(&m);
            }
        }
        put_score(fabrics[i], &by_fabric);
        subject_release(&s);
    }
    printf("  %-36s %5s %9s %9s\n", "fault", "n", "recall", "precision");
    for (int kind = 0; kind < MUTATIONS; kind++) {
        put_score(mutation_names[kind], &out->kind[kind]);
    }
    put_score("all", &out->all);
    for (unsigned i = 0; i < out->n_missed; i++) {
        printf("  missed: %s\n", out->missed[i]);
    }
    for (unsigned i = 0; i < out->n_wrong; i++) {
        printf("  false: %s\n", out->wrong[i]);
    }
    (void)fflush(stdout);
}

static void check(const scores *s, unsigned least) {
    cr_expect_geq(s->all.n, least, "%u faults were made", s->all.n);
    cr_expect_geq(s->all.found, 0.95 * s->all.n, "%u of %u faults were found", s->all.found, s->all.n);
    cr_expect_geq(s->all.truths, 0.98 * s->all.findings, "%u of %u findings are true", s->all.truths, s->all.findings);
}

Test(audit_mutations, faults_are_found_and_nothing_else) {
    static const char *const FABRICS[] = {"clos:gpus=128,radix=16,gpus-per-server=4",
                                          "clos:gpus=256,radix=16,tiers=3",
                                          "clos:gpus=64,radix=16,gpus-per-server=1",
                                          "clos:gpus=128,radix=16,gpus-per-server=4,planes=2",
                                          "fat-tree:k=8",
                                          "fat-tree:gpus=64,xgft=3;4,4,4;1,2,2",
                                          "rail-spine:gpus=256,radix=32",
                                          "rail-spine:gpus=256,radix=32 +management",
                                          "rail-spine:gpus=256,radix=32 +storage",
                                          "rail-spine:gpus=256,radix=32 +holes",
                                          "rail-spine:gpus=384,radix=32,taper=2",
                                          "rail-spine:gpus=512,radix=16,gpus-per-server=4,tiers=3",
                                          "rail-only:gpus=256,radix=64",
                                          "rail-only:gpus=512,radix=16,gpus-per-server=4",
                                          "dragonfly:gpus=144,dragonfly=4,4,2,9",
                                          "cells:6,4,5,4",
                                          "clos:gpus=256,radix=32,gpus-per-server=8,planes=4 +holes",
                                          "clos:gpus=256,radix=32,gpus-per-server=4,taper=3 +management +storage",
                                          "clos:gpus=240,radix=32,gpus-per-server=4,taper=2 +irregular",
                                          NULL};
    scores s = {0};
    try_all(FABRICS, DRAWS(6), 1, &s);
    check(&s, DRAWS(6) * 170);
}

/* Families, sizes and names on which no rule was tried while it was made. */
Test(audit_mutations, fabrics_that_rules_were_not_made_for) {
    static const char *const FABRICS[] = {"clos:gpus=512,radix=64,gpus-per-server=8",
                                          "clos:gpus=96,radix=16,gpus-per-server=2,tiers=3,taper=2",
                                          "fat-tree:gpus=216,xgft=3;6,6,6;1,3,3,gpus-per-server=6",
                                          "fat-tree:k=6,gpus-per-server=1",
                                          "rail-spine:gpus=576,radix=24,gpus-per-server=4,taper=1.5 +management",
                                          "rail-spine:gpus=300,radix=40,gpus-per-server=4 +storage",
                                          "rail-spine:gpus=640,radix=16,gpus-per-server=8,tiers=3 +holes",
                                          "rail-only:gpus=768,radix=32,gpus-per-server=8,taper=3",
                                          "clos:gpus=128,radix=32,gpus-per-server=2,planes=8",
                                          "dragonfly:gpus=342,dragonfly=3,6,3,19,gpus-per-server=3",
                                          "cells:9,3,8,6",
                                          "torus:gpus=128,gpus-per-server=4,torus=4,4,4,radix=8",
                                          "clos:gpus=336,radix=24,gpus-per-server=4,taper=2 +irregular +management",
                                          "clos:gpus=176,radix=24,gpus-per-server=8,tiers=3",
                                          "fat-tree:k=6,gpus-per-server=2 +management",
                                          "dragonfly:gpus=440,radix=20,gpus-per-server=4",
                                          "dragonfly:dragonfly=3,5,2,8,gpus-per-server=3",
                                          "cells:7,5,6,3",
                                          NULL};
    scores s = {0};
    try_all(FABRICS, DRAWS(4), 77, &s);
    check(&s, DRAWS(4) * 180);
}
