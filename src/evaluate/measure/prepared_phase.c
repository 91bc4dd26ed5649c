/* A phase ready to be measured, from the parts of a context. */
#include "context/context_parts.h"
#include "fab/memory.h"
#include "measure_rates.h"
#include "times/relay.h"

#include <math.h>
#include <string.h>

#define BITS 8.0

/* Bytes over links that no switch chooses, and out of leaves and into them. */
typedef struct ends {
    double *bytes, *sent, *received;
} ends;

static void ends_release(ends *e) {
    FAB_FREE_ALL(e->bytes, e->sent, e->received);
}

/* *hosts: of links outside the fabric alone. */
static double least_of(const fab_fabric *f, const fab_next_hops *next_hops, const double *bytes, const ends *e,
                       double *hosts) {
    double least = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        const double s = bytes[l] > 0 ? bytes[l] * BITS / c->usable_bps : 0;
        least = s > least ? s : least;
        *hosts = s > *hosts && c->kind != FAB_LINK_FABRIC ? s : *hosts;
    }
    for (uint32_t leaf = 0; leaf < fab_next_hops_n_leaves(next_hops); leaf++) {
        fab_node_id v = fab_next_hops_leaf(next_hops, leaf);
        double capacity = 0;
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            const fab_link_class *c = fab_class_of(f, f->out_link[k]);
            capacity += c->kind == FAB_LINK_FABRIC ? c->capacity_bps : 0;
        }
        double most = fmax(e->sent[leaf], e->received[leaf]) * BITS;
        least = most > 0 && capacity > 0 ? fmax(least, most / capacity) : least;
    }
    return least;
}

/* Of all that was offered. */
static fab_status find_least(fab_prepared_phase *s, fab_error *err) {
    const fab_demand *d = s->demand;
    FAB_OWNS(ends_release) ends e = {.bytes = NULL};
    FAB_PASS(FAB_NEW_ALL(d->n_leaves, err, e.sent, e.received));
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t i = d->first[dst]; i < d->first[dst + 1]; i++) {
            e.sent[d->src[i]] += d->bytes[i];
            e.received[dst] += d->bytes[i];
        }
    }
    s->least_s = least_of(s->fabric, s->next_hops, d->segment_bytes, &e, &s->hosts_s);
    return FAB_OK;
}

fab_status fab_context_least(const fab_context *context, size_t phase, double *out_s, fab_error *err) {
    fab_prepared_phase s = {.fabric = fab_context_what(context)->fabric};
    FAB_OWNS(ends_release) ends e = {.bytes = NULL};
    FAB_PASS(fab_context_traffic(context, &s.traffic, err));
    FAB_PASS(fab_context_ports(context, &s.ports, err));
    FAB_PASS(fab_context_next_hops(context, &s.next_hops, err));
    if (s.traffic->phases[phase].all.n > 0) {
        FAB_PASS(fab_context_demand(context, phase, &s.demand, err));
        FAB_PASS(find_least(&s, err));
        *out_s = s.least_s;
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(e.bytes, s.fabric->n_links, err));
    FAB_PASS(FAB_NEW_ALL(fab_next_hops_n_leaves(s.next_hops), err, e.sent, e.received));
    FAB_PASS(fab_demand_ends(s.fabric, s.ports, s.next_hops, &s.traffic->phases[phase], e.bytes, e.sent, e.received,
                             err));
    *out_s = least_of(s.fabric, s.next_hops, e.bytes, &e, &s.hosts_s);
    return FAB_OK;
}

fab_status fab_prepared_init(const fab_context *context, size_t phase, fab_prepared_phase *out, fab_error *err) {
    const fab_fabric *f = fab_context_what(context)->fabric;
    FAB_OWNS(fab_prepared_release) fab_prepared_phase s = {.fabric = f};
    FAB_PASS(fab_context_traffic(context, &s.traffic, err));
    FAB_PASS(fab_context_ports(context, &s.ports, err));
    FAB_PASS(fab_context_next_hops(context, &s.next_hops, err));
    FAB_PASS(fab_context_dag(context, &s.dag, err));
    FAB_PASS(fab_context_offer(context, phase, &s.offer, err));
    FAB_PASS(fab_context_demand(context, phase, &s.demand, err));
    s.phase = &s.traffic->phases[phase];
    s.bisection = strcmp(s.phase->collective, "bisection") == 0;
    FAB_PASS(fab_flow_classes_init(&s, &s.classes, err));
    FAB_PASS(FAB_NEW(s.spray, f->n_links, err));
    memcpy(s.spray, s.demand->segment_rate, f->n_links * sizeof *s.spray);
    FAB_PASS(fab_split_load(s.dag, fab_split_even(), s.demand, s.demand->rate, s.spray, err));
    FAB_PASS(fab_check_conservation(f, s.spray, err));
    fab_to_utilisation(f, s.spray);
    FAB_PASS(find_least(&s, err));
    FAB_PASS(fab_relay_find(&s, &s.relay, &s.relay_s, err));
    *out = s;
    s = (fab_prepared_phase){0};
    return FAB_OK;
}

void fab_prepared_release(fab_prepared_phase *prepared) {
    fab_flow_classes_release(&prepared->classes);
    FAB_FREE_ALL(prepared->spray, prepared->relay);
    *prepared = (fab_prepared_phase){0};
}
