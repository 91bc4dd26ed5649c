/* Phases under any engine: what is offered, what switches are asked for, the optimum, and which phases are the same. */
#include "context_parts.h"
#include "measure/measure_rates.h"

#include "times/relay.h"

#define SAME_BYTES 1e-9 /* of flows: those of a phase are rounded */

fab_status context_phases_init(fab_context *c, fab_error *err) {
    context_parts *p = c->parts;
    fab_status status = FAB_NEW(p->phases, p->traffic->n_phases, err);
    p->n_phases = status == FAB_OK ? p->traffic->n_phases : 0;
    for (size_t i = 0; i < p->n_phases; i++) {
        fab_once_init(p->phases[i].once, PHASE_N);
    }
    return status;
}

static void prepared_release(fab_prepared_phase *prepared) {
    fab_flow_classes_release(&prepared->classes);
    FAB_FREE_ALL(prepared->spray, prepared->relay);
    *prepared = (fab_prepared_phase){0};
}

void context_phases_release(fab_context *c) {
    context_parts *p = c->parts;
    FAB_EACH(context_phase, phase, p->phases, p->n_phases) {
        prepared_release(&phase->prepared);
        fab_bound_release(&phase->bound);
        fab_demand_release(&phase->demand);
        fab_offer_release(&phase->offer);
        fab_once_release(phase->once, PHASE_N);
    }
    free(p->phases);
}

/* A part of a phase, built unless somebody did, where the phases of a context are kept. */
static fab_status build_part(const fab_context *context, size_t phase, int part, fab_once_build *build,
                             context_phase **out, fab_error *err) {
    const fab_traffic *traffic = NULL; /* is not used: phases are there once it is */
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    fab_context *owner = (fab_context *)context->parts->owner;
    *out = &owner->parts->phases[phase];
    return fab_once_run(&(*out)->once[part], build, owner, phase, err);
}

/* --- what is asked for -------------------------------------------------------------------------------------------- */

static fab_status build_offer(fab_context *c, size_t phase, fab_error *err) {
    const fab_ports *ports = NULL;
    FAB_PASS(fab_context_ports(c, &ports, err));
    return fab_offer_init(c->what.fabric, ports, &c->parts->traffic->phases[phase], &c->parts->phases[phase].offer,
                          err);
}

fab_status fab_context_offer(const fab_context *context, size_t phase, const fab_offer **out, fab_error *err) {
    context_phase *p = NULL;
    FAB_PASS(build_part(context, phase, PHASE_OFFER, build_offer, &p, err));
    *out = &p->offer;
    return FAB_OK;
}

static fab_status build_demand(fab_context *c, size_t phase, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    const fab_ports *ports = NULL;
    const fab_offer *offer = NULL;
    FAB_PASS(fab_context_offer(c, phase, &offer, err));
    FAB_PASS(fab_context_ports(c, &ports, err));
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    return fab_demand_init(c->what.fabric, ports, next_hops, &c->parts->traffic->phases[phase], offer,
                           &c->parts->phases[phase].demand, err);
}

fab_status fab_context_demand(const fab_context *context, size_t phase, const fab_demand **out, fab_error *err) {
    context_phase *p = NULL;
    FAB_PASS(build_part(context, phase, PHASE_DEMAND, build_demand, &p, err));
    *out = &p->demand;
    return FAB_OK;
}

/* Ideal spray and what bounds the time. */
static fab_status build_prepared(fab_context *c, size_t phase, fab_error *err) {
    const fab_fabric *f = c->what.fabric;
    FAB_OWNS(prepared_release) fab_prepared_phase s = {.fabric = f};
    FAB_PASS(fab_context_traffic(c, &s.traffic, err));
    FAB_PASS(fab_context_ports(c, &s.ports, err));
    FAB_PASS(fab_context_next_hops(c, &s.next_hops, err));
    FAB_PASS(fab_context_dag(c, &s.dag, err));
    FAB_PASS(fab_context_offer(c, phase, &s.offer, err));
    FAB_PASS(fab_context_demand(c, phase, &s.demand, err));
    s.phase = &s.traffic->phases[phase];
    s.bisection = strcmp(s.phase->collective, "bisection") == 0;
    FAB_PASS(fab_flow_classes_init(&s, &s.classes, err));
    FAB_PASS(FAB_NEW(s.spray, f->n_links, err));
    memcpy(s.spray, s.demand->segment_rate, f->n_links * sizeof *s.spray);
    FAB_PASS(fab_split_load(s.dag, fab_split_even(), s.demand, s.demand->rate, s.spray, err));
    FAB_PASS(fab_check_conservation(f, s.spray, err));
    fab_to_utilisation(f, s.spray);
    FAB_PASS(fab_bound_cuts(f, s.dag, s.next_hops, s.demand, s.spray, &s.cuts, err));
    FAB_PASS(fab_least_time(&s, err));
    s.least_s = fmax(s.least_s, s.cuts.least_s);
    FAB_PASS(fab_relay_find(&s, &s.relay, &s.relay_s, err));
    return FAB_GIVE(c->parts->phases[phase].prepared, s);
}

fab_status fab_context_prepared(const fab_context *context, size_t phase, const fab_prepared_phase **out,
                                fab_error *err) {
    context_phase *p = NULL;
    FAB_PASS(build_part(context, phase, PHASE_PREPARED, build_prepared, &p, err));
    *out = &p->prepared;
    return FAB_OK;
}

static fab_status build_bound(fab_context *c, size_t phase, fab_error *err) {
    const fab_next_hops *next_hops = NULL;
    const fab_dag *dag = NULL;
    const fab_demand *demand = NULL;
    FAB_PASS(fab_context_demand(c, phase, &demand, err));
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    FAB_PASS(fab_context_dag(c, &dag, err));
    return fab_bound_find(c->what.fabric, dag, next_hops, demand, FAB_BOUND_TRIVIAL, &c->parts->phases[phase].bound,
                          err);
}

fab_status fab_context_bound(const fab_context *context, size_t phase, const fab_bound **out, fab_error *err) {
    context_phase *p = NULL;
    FAB_PASS(build_part(context, phase, PHASE_BOUND, build_bound, &p, err));
    *out = &p->bound;
    return FAB_OK;
}

/* --- duplicates --------------------------------------------------------------------------------------------------- */

static bool same_array(const void *a, const void *b, size_t bytes) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, bytes) == 0);
}

/* The same flows at the same offered rates: then routes and loads are the same, under any engine. With bytes in
 * proportion they stay so wherever ranks go. */
static fab_status compare_phases(const fab_context *c, size_t a, size_t b, bool *out_same, fab_error *err) {
    const fab_phase *x = &c->parts->traffic->phases[a];
    const fab_phase *y = &c->parts->traffic->phases[b];
    const fab_offer *offer_a = NULL;
    const fab_offer *offer_b = NULL;
    const size_t n = (size_t)x->n_flows;
    bool same = x->n_flows == y->n_flows && x->all.n == 0 && y->all.n == 0 &&
                same_array(x->src, y->src, n * sizeof *x->src) && same_array(x->dst, y->dst, n * sizeof *x->dst) &&
                same_array(x->ordinal, y->ordinal, n * sizeof *x->ordinal);
    double ratio = same ? (double)y->total_bytes / (double)x->total_bytes : 1;
    for (size_t i = 0; i < n && same; i++) {
        same = fabs((double)x->bytes[i] * ratio - (double)y->bytes[i]) <= (double)y->bytes[i] * SAME_BYTES;
    }
    if (same) {
        FAB_PASS(fab_context_offer(c, a, &offer_a, err));
        FAB_PASS(fab_context_offer(c, b, &offer_b, err));
        same = same_array(offer_a->rate, offer_b->rate, n * sizeof *offer_a->rate);
    }
    *out_same = same;
    return FAB_OK;
}

static fab_status find_duplicate(fab_context *c, size_t phase, fab_error *err) {
    size_t found = 0;
    for (bool same = false; found < phase; found++) {
        FAB_PASS(compare_phases(c, found, phase, &same, err));
        if (same) {
            break;
        }
    }
    c->parts->phases[phase].duplicate_of = found;
    return FAB_OK;
}

fab_status fab_context_duplicate(const fab_context *context, size_t phase, size_t *out, fab_error *err) {
    context_phase *p = NULL;
    FAB_PASS(build_part(context, phase, PHASE_DUPLICATE, find_duplicate, &p, err));
    *out = p->duplicate_of;
    return FAB_OK;
}
