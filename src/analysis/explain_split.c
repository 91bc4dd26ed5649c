/* Under an engine that splits what a switch holds: the share of every flow that crosses a link, which is the mean of 1
 * on that link and 0 on all others along its paths. */
#include "explain_link.h"
#include "fab/memory.h"

/* Part of a flow that crosses the link. */
static double share_of(const fab_explainer *e, uint64_t flow, const double *share, bool is_segment) {
    fab_flow about = fab_phase_flow(e->phase, flow);
    const fab_ports *ports = fab_router_ports(e->router);
    uint32_t n_parts = e->demand->n_parts;
    double sum = 0;
    for (uint32_t part = 0; part < n_parts; part++) {
        fab_link_id links[FAB_FLOW_SEGMENT_LINKS];
        uint32_t n = is_segment ? fab_flow_segments(e->f, ports, about.src, about.dst, part, links) : 0;
        for (uint32_t i = 0; i < n; i++) {
            sum += links[i] == e->link ? 1.0 / n_parts : 0;
        }
        uint32_t pair = is_segment ? FAB_NONE : fab_demand_pair(e->demand, e->f, ports, e->t, e->phase, flow, part);
        sum += pair != FAB_NONE ? share[pair] / n_parts : 0;
    }
    return sum;
}

fab_status fab_explainer_split(fab_explainer *e, fab_error *err) {
    fab_status status = FAB_OK;
    fab_split *split = NULL;
    double *x = NULL;
    double *share = NULL;
    fab_crossing_flow *crossing = NULL;
    const fab_dag *dag = fab_router_dag(e->router, e->dag);
    bool is_segment = fab_class_of(e->f, e->link)->kind != FAB_LINK_FABRIC;
    FAB_TRY(fab_router_split(e->router, dag, e->demand, NULL, &split, err));
    FAB_TRY(FAB_NEW(x, e->f->n_links, err));
    FAB_TRY(FAB_NEW(share, e->demand->n_pairs, err));
    x[e->link] = 1;
    FAB_TRY(fab_split_fold(dag, split, FAB_FOLD_EXPECTED, x, e->demand, share, err));
    for (uint64_t flow = 0; flow < e->phase->n_flows; flow++) {
        double part = share_of(e, flow, share, is_segment);
        if (part > 0) {
            FAB_TRY(fab_explainer_add_flow(e, flow, part, &crossing, err));
        }
    }
done:
    fab_split_free(split);
    FAB_FREE_ALL(x, share);
    return status;
}
