/* What phases that are under way together do to each other, against the largest pace that no link is too small for. */
#include "fab/iterate.h"
#include "fab/rng.h"

#include "fabric_fixture.h"

#include <math.h>
#include <stdlib.h>

enum { SENDS, REDUCTION, MORE_REDUCTION, CHECKPOINT, N_PHASES };
static const char *const NAMES[N_PHASES] = {"pp", "dp", "edp", "checkpoint"};

typedef struct drawn {
    fab_phase_result phase[N_PHASES];
    fab_engine_result engine[N_PHASES];
    double transfer_s[N_PHASES];
} drawn;

/* Loads of random links, and a time that is at least that of the fullest one. */
static void draw(const fab_fabric *f, fab_rng *rng, drawn *out) {
    uint64_t few = 1 + fab_rng_below(rng, 8);
    *out = (drawn){.transfer_s = {0}};
    for (int i = 0; i < N_PHASES; i++) {
        (void)snprintf(out->phase[i].name, sizeof out->phase[i].name, "%s", NAMES[i]);
        out->phase[i].engines = &out->engine[i];
        out->engine[i].load_bytes = calloc(f->n_links, sizeof(double));
        for (fab_link_id l = 0; l < f->n_links; l++) {
            double bytes = fab_rng_below(rng, few) == 0 ? (double)fab_rng_below(rng, 1000000) : 0;
            out->engine[i].load_bytes[l] = bytes;
            out->transfer_s[i] = fmax(out->transfer_s[i], bytes * 8 / fab_class_of(f, l)->capacity_bps);
        }
        out->transfer_s[i] *= 1 + (double)fab_rng_below(rng, 3);
    }
}

static void release(drawn *d) {
    for (int i = 0; i < N_PHASES; i++) {
        free(d->engine[i].load_bytes);
    }
}

/* Whether both can go on at this pace: bit/s of all links. */
static bool fits(const fab_fabric *f, const drawn *d, double pace) {
    double reduction_s = d->transfer_s[REDUCTION] + d->transfer_s[MORE_REDUCTION];
    for (fab_link_id l = 0; l < f->n_links; l++) {
        double sends = d->engine[SENDS].load_bytes[l] / d->transfer_s[SENDS];
        double reductions =
            (d->engine[REDUCTION].load_bytes[l] + d->engine[MORE_REDUCTION].load_bytes[l]) / reduction_s;
        if (pace * (sends + reductions) * 8 > fab_class_of(f, l)->capacity_bps * (1 + 1e-12)) {
            return false;
        }
    }
    return true;
}

static double largest_pace(const fab_fabric *f, const drawn *d) {
    double low = 0.25;
    double high = 1;
    for (int i = 0; i < 60 && !fits(f, d, high); i++) {
        double middle = (low + high) / 2;
        *(fits(f, d, middle) ? &low : &high) = middle;
    }
    return high;
}

Test(shared_phases, pace_of_both) {
    fab_fabric *f = fixture_build("rail-spine:gpus=64,gpus-per-server=8", NULL, NULL);
    fab_rng rng = fab_rng_make(11, 1);
    int n_slowed = 0;
    for (int round = 0; round < 300; round++) {
        drawn d;
        fab_shared_slowdown found;
        fab_error err = {0};
        draw(f, &rng, &d);
        cr_assert_eq(fab_iterate_slowdown(f, d.phase, N_PHASES, 0, d.transfer_s, &found, &err), FAB_OK, "%s", err.text);
        double slow = 1 / largest_pace(f, &d);
        cr_assert(found.reduce == 0 || (found.reduce > 1 && found.reduce <= 2), "round %d: %g", round, found.reduce);
        cr_assert(fabs(fmax(found.reduce, 1) - slow) <= 1e-8, "round %d: %.9g, the largest pace says %.9g", round,
                  found.reduce, slow);
        cr_assert_eq(found.gather, 0, "there is no gather");
        n_slowed += found.reduce > 0 ? 1 : 0;
        release(&d);
    }
    cr_assert(n_slowed > 50 && n_slowed < 300, "%d of 300", n_slowed);
    fab_fabric_free(f);
}

/* No link in common: not one bit of a time changes. */
Test(shared_phases, disjoint_links) {
    fab_fabric *f = fixture_build("rail-spine:gpus=64,gpus-per-server=8", NULL, NULL);
    fab_rng rng = fab_rng_make(12, 1);
    drawn d;
    fab_shared_slowdown found;
    fab_error err = {0};
    draw(f, &rng, &d);
    for (fab_link_id l = 0; l < f->n_links; l++) {
        d.engine[SENDS].load_bytes[l] *= l % 2 == 0;
        d.engine[REDUCTION].load_bytes[l] *= l % 2 == 1;
        d.engine[MORE_REDUCTION].load_bytes[l] *= l % 2 == 1;
    }
    cr_assert_eq(fab_iterate_slowdown(f, d.phase, N_PHASES, 0, d.transfer_s, &found, &err), FAB_OK, "%s", err.text);
    cr_assert(found.gather == 0 && found.reduce == 0, "%g %g", found.gather, found.reduce);
    release(&d);
    fab_fabric_free(f);
}
