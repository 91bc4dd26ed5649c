/* Ideal spray of a phase: every switch splits evenly over all its minimal next hops. */
#include "fab/memory.h"
#include "fab/split.h"

#include <stdlib.h>

fab_status fab_spray_load(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_phase *phase,
                          const double *amount, double *out_load, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_split split = {.rule = FAB_SPLIT_EQUAL};
    fab_ports ports = {0};
    fab_dag *dag = NULL;
    fab_demand demand = {0};
    double *rate = NULL;
    FAB_TRY(fab_ports_init(fabric, &ports, err));
    FAB_TRY(FAB_NEW(rate, phase->n_flows, err));
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        rate[i] = amount[i];
    }
    const fab_offer offer = {.fabric = fabric, .ports = &ports, .rate = rate};
    FAB_TRY(fab_demand_init(fabric, &ports, next_hops, phase, &offer, &demand, err));
    FAB_TRY(fab_dag_new(fabric, next_hops, &dag, err));
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        out_load[l] = demand.leg_rate[l];
    }
    FAB_TRY(fab_split_load(dag, &split, &demand, demand.rate, out_load, err));
done:
    free(rate);
    fab_ports_release(&ports);
    fab_demand_release(&demand);
    fab_dag_free(dag);
    return status;
}
