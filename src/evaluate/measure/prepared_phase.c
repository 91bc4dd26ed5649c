/* A phase ready to be measured, from the parts of a context. */
#include "context/context_parts.h"
#include "fab/memory.h"
#include "measure_rates.h"
#include "times/relay.h"

#include <math.h>
#include <string.h>

#define BITS 8.0

fab_status fab_least_time(fab_prepared_phase *s, fab_error *err) {
    const fab_fabric *f = s->fabric;
    const fab_demand *d = s->demand;
    FAB_OWNED double *sent = NULL;
    FAB_OWNED double *received = NULL;
    double least = 0;
    double hosts = 0;
    FAB_PASS(FAB_NEW_ALL(d->n_leaves, err, sent, received));
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        const double s_of_link = d->segment_bytes[l] * BITS / c->usable_bps;
        least = fmax(least, s_of_link);
        hosts = c->kind == FAB_LINK_FABRIC ? hosts : fmax(hosts, s_of_link);
    }
    for (uint32_t dst = 0; dst < d->n_leaves; dst++) {
        for (uint32_t i = d->first[dst]; i < d->first[dst + 1]; i++) {
            sent[d->src[i]] += d->bytes[i];
            received[dst] += d->bytes[i];
        }
    }
    for (uint32_t leaf = 0; leaf < d->n_leaves; leaf++) {
        fab_node_id v = fab_next_hops_leaf(s->next_hops, leaf);
        double capacity = 0;
        for (uint32_t k = f->out_first[v]; k < f->out_first[v + 1]; k++) {
            const fab_link_class *c = fab_class_of(f, f->out_link[k]);
            capacity += c->kind == FAB_LINK_FABRIC ? c->capacity_bps : 0;
        }
        double most = fmax(sent[leaf], received[leaf]) * BITS;
        least = most > 0 && capacity > 0 ? fmax(least, most / capacity) : least;
    }
    s->least_s = least;
    s->hosts_s = hosts;
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
    FAB_PASS(fab_least_time(&s, err));
    FAB_PASS(fab_relay_find(&s, &s.relay, &s.relay_s, err));
    return FAB_GIVE(*out, s);
}

void fab_prepared_release(fab_prepared_phase *prepared) {
    fab_flow_classes_release(&prepared->classes);
    FAB_FREE_ALL(prepared->spray, prepared->relay);
    *prepared = (fab_prepared_phase){0};
}
