/* Which proof holds for what is asked for. */
#include "symmetry.h"

#include "fab/design.h"

/* Shares of a flow follow from the graph alone. */
static bool splits_evenly(const fab_router_facts *facts) {
    return facts->splits && !facts->is_by_demand && facts->on_loss == FAB_LOSS_RECONVERGE;
}

/* A path stays within the minimal next hops of the healthy fabric, whatever fails, and depends on no other flow. */
static bool stays_minimal(const fab_router_facts *facts) {
    return !facts->splits && !facts->takes_phases && facts->is_minimal &&
           (facts->on_loss == FAB_LOSS_MODULO || facts->on_loss == FAB_LOSS_RESILIENT ||
            facts->on_loss == FAB_LOSS_TABLES);
}

/* No flow crosses a link between switches, and each has one NIC and one plane. */
static fab_status has_no_choice(const fab_context *context, bool *out, fab_error *err) {
    const fab_fabric *f = fab_context_what(context)->fabric;
    const fab_traffic *traffic = NULL;
    const fab_ports *ports = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(fab_context_ports(context, &ports, err));
    *out = ports->nics_per_gpu == 1 && ports->n_planes == 1;
    for (size_t p = 0; p < traffic->n_phases; p++) {
        for (uint64_t i = 0; i < traffic->phases[p].n_flows && *out; i++) {
            const fab_flow flow = fab_phase_flow(&traffic->phases[p], i);
            fab_link_id link[FAB_FLOW_SEGMENT_LINKS];
            fab_node_id leaf[2] = {FAB_NONE, FAB_NONE};
            uint32_t n = fab_flow_segments(f, ports, flow.src, flow.dst, 0, link);
            for (uint32_t k = 0; k < n; k++) {
                if (fab_class_of(f, link[k])->kind == FAB_LINK_ACCESS) {
                    leaf[!fab_is_up(link[k])] = fab_is_up(link[k]) ? fab_head(f, link[k]) : fab_tail(f, link[k]);
                }
            }
            *out = leaf[0] == leaf[1];
        }
    }
    return FAB_OK;
}

static fab_status check(const symmetry_request *r, fab_error *err) {
    const fab_context_request *what = fab_context_what(r->context);
    for (size_t i = 0; i < r->n_policies; i++) {
        FAB_REFUSE_IF(r->policies[i] != FAB_POLICY_NONE, err, FAB_EUNSUPPORTED, "--policy",
                      "%s takes spares by their number, so that equal failures end differently; @classes wants "
                      "none",
                      fab_policies[r->policies[i]]);
    }
    FAB_REFUSE_IF(what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID, err, FAB_EUNSUPPORTED, "--transport",
                  "packets of equal failures are not proven to take equal times; @classes wants fluid");
    return FAB_OK;
}

fab_status symmetry_find(const symmetry_request *r, fab_permutations *out, fab_error *err) {
    const size_t n_engines = fab_context_what(r->context)->n_engines;
    const fab_router_facts *odd = NULL; /* the first that neither proof holds for */
    bool all_split = true;
    bool all_hash = true;
    bool has_one_way = false;
    FAB_PASS(check(r, err));
    for (size_t e = 0; e < n_engines; e++) {
        const fab_router *router = NULL;
        FAB_PASS(fab_context_router(r->context, e, &router, err));
        const fab_router_facts *facts = fab_router_facts_of(router);
        all_split = all_split && splits_evenly(facts);
        all_hash = all_hash && stays_minimal(facts);
        odd = odd == NULL && !splits_evenly(facts) && !stays_minimal(facts) ? facts : odd;
    }
    FAB_PASS(!all_split ? has_no_choice(r->context, &has_one_way, err) : FAB_OK);
    if (all_split || (has_one_way && odd == NULL)) {
        return symmetry_of_graph(r, out, err);
    }
    if (all_hash) {
        return symmetry_of_unused(r, out, err);
    }
    return fab_fail(err, FAB_EUNSUPPORTED, "--engine",
                    odd != NULL ? "%s: which failures are equal is not proven where paths depend on other flows, or "
                                  "on the order of ports; @N draws sets, and without @ all are looked at"
                                : "%s beside engines that split: which failures are equal is proven for either alone",
                    odd != NULL ? odd->label : "engines that hash");
}
