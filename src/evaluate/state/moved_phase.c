#include "moved_phase.h"

#include "fab/memory.h"

void fab_moved_phase_release(fab_moved_phase *m) {
    FAB_FREE_ALL(m->phase.src, m->phase.dst, m->phase.bytes, m->phase.comm);
    fab_offer_release(&m->offer);
}

fab_status fab_moved_phase_init(const fab_fabric *fabric, const fab_ports *ports, const fab_phase *whole,
                                const fab_state *state, fab_moved_phase *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_moved_phase m = {.phase = *whole};
    size_t n = (size_t)whole->n_flows;
    m.phase.all = (fab_all_to_all){0};
    m.phase.src = m.phase.dst = m.phase.comm = NULL;
    m.phase.bytes = NULL;
    FAB_TRY(FAB_NEW(m.phase.src, n, err));
    FAB_TRY(FAB_NEW(m.phase.dst, n, err));
    FAB_TRY(FAB_NEW(m.phase.comm, n, err));
    FAB_TRY(FAB_NEW(m.phase.bytes, n, err));
    m.phase.n_flows = 0;
    for (size_t i = 0; i < n; i++) {
        const fab_flow flow = fab_phase_flow(whole, i);
        const uint64_t to = m.phase.n_flows;
        const bool is_out = state->is_out != NULL &&
                            (state->is_out[flow.src] != 0 || state->new_gpu[flow.src] == state->new_gpu[flow.dst]);
        m.phase.src[to] = state->new_gpu[flow.src];
        m.phase.dst[to] = state->new_gpu[flow.dst];
        m.phase.comm[to] = flow.comm;
        m.phase.bytes[to] = flow.bytes;
        m.phase.n_flows += is_out ? 0 : 1;
    }
    FAB_TRY(fab_offer_init(fabric, ports, &m.phase, &m.offer, err));
    *out = m;
    m = (fab_moved_phase){.phase = {.n_flows = 0}};
done:
    fab_moved_phase_release(&m);
    return status;
}
