/* Phases of several jobs as one. What decides a flow's path (its GPUs, its ordinal, its queue pairs) stays as it is. */
#include "contend_internal.h"

#define MOST_FLOWS (UINT64_C(1) << 22)

void contend_union_release(contend_union *all) {
    fab_context_free(all->context);
    FAB_FREE_ALL(all->traffic.phases, all->phase.src, all->phase.dst, all->phase.bytes, all->phase.comm,
                 all->phase.ordinal, all->group);
    *all = (contend_union){.n = 0};
}

static void union_append(contend_union *all, const fab_phase *phase, uint32_t group) {
    fab_phase *p = &all->phase;
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        fab_flow flow = fab_phase_flow(phase, i);
        uint64_t at = p->n_flows++;
        p->src[at] = flow.src;
        p->dst[at] = flow.dst;
        p->bytes[at] = flow.bytes;
        p->comm[at] = p->n_comms + flow.comm - phase->first_comm;
        p->ordinal[at] = flow.ordinal;
        p->total_bytes += flow.bytes;
        all->group[at] = group;
    }
    p->n_comms += phase->n_comms;
}

/* The phase is copied to where the context finds it: it lives as long as the union, which may be copied. */
static fab_status open_context(const contender *c, contend_union *all, fab_error *err) {
    FAB_PASS(FAB_NEW(all->traffic.phases, 1, err));
    all->traffic.phases[0] = all->phase;
    all->traffic.n_phases = 1;
    const fab_context_request request = {.base = c->base->context, .given = &all->traffic};
    return fab_context_new(&request, &all->context, err);
}

fab_status contend_trace(const contend_union *all, size_t engine, uint64_t draw, const fab_trace *trace,
                         fab_error *err) {
    FAB_OWNS(fab_workspace_free_owned) fab_workspace *workspace = NULL;
    fab_evaluated found;
    const fab_case at = {.engine = engine, .draw = draw};
    const fab_needs needs = {.what = FAB_NEED_FIGURES | FAB_NEED_RATES, .trace = trace};
    FAB_PASS(fab_workspace_new(all->context, &workspace, err));
    FAB_PASS(fab_evaluate(workspace, &at, &needs, &found, err));
    for (uint32_t g = 0; g < trace->n_groups; g++) {
        FAB_REFUSE_IF(
            isinf(trace->last_s[g]), err, FAB_EUNSUPPORTED, "transport",
            "the phases of several jobs end in a deadlock together: links stop each other for ever, and phase "
            "%s has no time; run or route of one job names the links",
            all->phase.name);
    }
    return FAB_OK;
}

fab_status contend_union_init(const contender *c, const fab_phase *const *phases, uint32_t n, contend_union *out,
                              fab_error *err) {
    FAB_OWNS(contend_union_release) contend_union all = {.n = n, .phase = {.steps = 1, .executions = 1}};
    uint64_t n_flows = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_flows += phases[i]->n_flows;
        FAB_REFUSE_IF(phases[i]->n_flows > MOST_FLOWS || n_flows > MOST_FLOWS, err, FAB_EUNSUPPORTED, NULL,
                      "phase %s of %" PRIu64 " flows: jobs together may have at most %" PRIu64
                      "; name another phase in contends, or none",
                      phases[i]->name, phases[i]->n_flows, MOST_FLOWS);
    }
    FAB_FORMAT(all.phase.name, "%s", n == 1 ? phases[0]->name : "together");
    FAB_PASS(FAB_NEW_ALL(n_flows, err, all.phase.src, all.phase.dst, all.phase.bytes, all.phase.comm, all.phase.ordinal,
                         all.group));
    for (uint32_t i = 0; i < n; i++) {
        union_append(&all, phases[i], i);
    }
    *out = all;
    all = (contend_union){.n = 0};
    FAB_PASS(open_context(c, out, err)); /* which knows the traffic by its place */
    return FAB_OK;
}
