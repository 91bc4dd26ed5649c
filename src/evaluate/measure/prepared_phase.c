/* A phase ready to be measured, from the parts of a context. */
#include "context/context_parts.h"
#include "fab/memory.h"
#include "measure_rates.h"
#include "times/relay.h"

#include <math.h>

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
    FAB_PASS(fab_bound_cuts(f, s.dag, s.next_hops, s.demand, s.spray, &s.cuts, err));
    FAB_PASS(fab_least_time(&s, err));
    s.least_s = fmax(s.least_s, s.cuts.least_s);
    FAB_PASS(fab_relay_find(&s, &s.relay, &s.relay_s, err));
    return FAB_GIVE(*out, s);
}

void fab_prepared_release(fab_prepared_phase *prepared) {
    fab_flow_classes_release(&prepared->classes);
    FAB_FREE_ALL(prepared->spray, prepared->relay);
    *prepared = (fab_prepared_phase){0};
}
