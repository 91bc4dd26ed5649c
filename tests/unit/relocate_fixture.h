/**
 * @file relocate_fixture.h
 * A job on a fabric, its phases under one engine, and somebody who reallocates.
 */
#pragma once

#include "fab/floor_plan.h"
#include "fab/job_sharing.h"
#include "fab/relocate.h"
#include "fab/reroute.h"
#include "fabric_fixture.h"

#include <math.h>
#include <string.h>

#define SCENE_PHASES 16

typedef struct scene {
    fab_design design;
    fab_fabric *f;
    fab_floor *floor;
    fab_racks racks;
    fab_next_hops *healthy;
    fab_traffic traffic;
    fab_router router;
    fab_offer offer[SCENE_PHASES];
    const fab_baseline *base[SCENE_PHASES];
    fab_reroute *reroute[SCENE_PHASES];
    uint8_t *taken;
    fab_relocator_request request;
    fab_relocator *relocator;
    fab_mask mask;
} scene;

/* A new relocator for what s->request says now. */
static inline void scene_renew(scene *s) {
    fab_error err = {0};
    fab_relocator_free(s->relocator);
    s->relocator = NULL;
    cr_assert_eq(fab_relocator_new(&s->request, &s->relocator, &err), FAB_OK, "%s", err.text);
}

/* `overrides`: n of them, as --set. False where the fabric, the traffic or the engine cannot be. */
static inline bool scene_init(scene *s, const char *design, const char *const *overrides, size_t n, const char *traffic,
                              const char *engine, uint64_t seed) {
    const fab_engine_spec spec = fixture_spec(engine);
    fab_error err = {0};
    memset(s, 0, sizeof *s);
    if (fab_design_read(design, overrides, n, &s->design, &err) != FAB_OK ||
        fab_topology_build(&s->design.fabric, &s->f, NULL, &err) != FAB_OK ||
        fab_traffic_make(traffic, &s->design, s->f, seed, &s->traffic, &err) != FAB_OK ||
        s->traffic.n_phases > SCENE_PHASES) {
        return false;
    }
    if (fab_floor_is_said(&s->design.fabric)) {
        cr_assert_eq(fab_floor_make(&s->design.fabric, s->f, &s->floor, &err), FAB_OK, "%s", err.text);
        s->racks = fab_floor_racks(s->floor);
    }
    s->healthy = fixture_next_hops(s->f);
    if (fab_router_init(&spec, s->f, s->healthy, &s->router, &err) != FAB_OK) {
        return false;
    }
    for (size_t p = 0; p < s->traffic.n_phases; p++) {
        fab_baseline *base = NULL;
        const fab_baseline_request request = {
            .router = &s->router, .phase = &s->traffic.phases[p], .offer = &s->offer[p], .seed = seed};
        cr_assert_eq(fab_offer_init(s->f, &s->router.ports, &s->traffic.phases[p], &s->offer[p], &err), FAB_OK, "%s",
                     err.text);
        cr_assert_eq(fab_baseline_new(&request, &base, &err), FAB_OK, "%s", err.text);
        cr_assert_eq(fab_reroute_new(base, &s->reroute[p], &err), FAB_OK, "%s", err.text);
        s->base[p] = base;
    }
    s->taken = calloc(s->f->n_servers, 1);
    cr_assert_eq(fab_jobs_taken(&s->design, s->f, s->taken, &err), FAB_OK, "%s", err.text);
    cr_assert_eq(fab_mask_init(s->f, &s->racks, &s->mask, &err), FAB_OK, "%s", err.text);
    s->request = (fab_relocator_request){.fabric = s->f,
                                         .ports = &s->router.ports,
                                         .racks = s->floor != NULL ? &s->racks : NULL,
                                         .traffic = &s->traffic,
                                         .taken = s->taken,
                                         .phases = s->base,
                                         .n_phases = s->traffic.n_phases};
    scene_renew(s);
    return true;
}

static inline void scene_release(scene *s) {
    fab_relocator_free(s->relocator);
    if (s->mask.fabric != NULL) {
        fab_mask_release(&s->mask);
    }
    for (size_t p = 0; p < SCENE_PHASES; p++) {
        fab_reroute_free(s->reroute[p]);
        fab_baseline_free((fab_baseline *)(uintptr_t)s->base[p]);
        if (s->offer[p].fabric != NULL) {
            fab_offer_release(&s->offer[p]);
        }
    }
    fab_traffic_release(&s->traffic);
    if (s->router.engine != NULL) {
        fab_router_release(&s->router);
    }
    fab_next_hops_free(s->healthy);
    fab_floor_free(s->floor);
    fab_fabric_free(s->f);
    free(s->taken);
    memset(s, 0, sizeof *s);
}

/* Names separated by blanks, as "server-3 leaf-1*0.5". */
static inline void scene_fail(scene *s, const char *names) {
    fab_component c[16];
    size_t n = 0;
    char text[256];
    fab_error err = {0};
    (void)snprintf(text, sizeof text, "%s", names);
    for (char *at = text; *at != '\0';) {
        char *end = at + strcspn(at, " ");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        cr_assert_eq(fab_component_parse(s->f, &s->racks, at, &c[n++], &err), FAB_OK, "%s: %s", at, err.text);
        at = next;
    }
    cr_assert_eq(fab_mask_set(&s->mask, c, n, &err), FAB_OK, "%s", err.text);
}

static inline fab_relocation scene_relocate(scene *s, fab_policy policy) {
    fab_relocation out;
    fab_error err = {0};
    cr_assert_eq(fab_relocate(s->relocator, &s->mask, policy, &out, &err), FAB_OK, "%s", err.text);
    return out;
}

typedef struct scene_figures {
    uint32_t n_disconnected, n_collisions;
    double worst, excess;
    double drain_s; /* time that the fullest links of the phases need, one after the other */
} scene_figures;

/* Time that the fullest NIC needs for its bytes of a phase. */
static inline double scene_unit_s(const scene *s, size_t phase) {
    double most = 0;
    for (uint32_t nic = 0; nic < fab_n_of(s->f, FAB_NODE_NIC); nic++) {
        most = fmax(most, fmax(s->offer[phase].sent[nic], s->offer[phase].received[nic]));
    }
    return 8 * most / s->offer[phase].line_bps;
}

/* What a placement costs, link by link. */
static inline scene_figures scene_measure(scene *s, const fab_relocation *x) {
    scene_figures out = {0};
    for (size_t p = 0; p < s->traffic.n_phases; p++) {
        fab_rerouted r;
        fab_error err = {0};
        cr_assert_eq(fab_reroute_migrated(s->reroute[p], &s->mask, x->moved, x->n_moved, x->new_gpu, &r, &err), FAB_OK,
                     "%s", err.text);
        double worst = 0;
        out.n_disconnected += r.n_disconnected;
        for (uint32_t l = 0; l < s->f->n_links; l++) {
            const fab_link_class *about = fab_class_of(s->f, l);
            if ((about->kind == FAB_LINK_ACCESS || about->kind == FAB_LINK_FABRIC) && s->mask.residual[l] > 0) {
                double ratio = r.load[l] / about->capacity_bps / s->mask.residual[l];
                out.n_collisions += ratio > 1 + 1e-9;
                worst = fmax(worst, ratio);
                out.excess += ratio > 1 + 1e-9 ? ratio - 1 : 0;
            }
        }
        out.worst = fmax(out.worst, worst);
        out.drain_s += scene_unit_s(s, p) * fmax(worst, 1);
    }
    return out;
}
