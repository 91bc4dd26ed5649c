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
    for (size_t i = 0; i < n; i++) {
        fab_flow flow = fab_phase_flow(whole, i);
        m.phase.src[i] = state->new_gpu[flow.src];
        m.phase.dst[i] = state->new_gpu[flow.dst];
        m.phase.comm[i] = flow.comm;
        m.phase.bytes[i] = flow.bytes;
    }
    FAB_TRY(fab_offer_init(fabric, ports, &m.phase, &m.offer, err));
    *out = m;
    m = (fab_moved_phase){.phase = {.n_flows = 0}};
done:
    fab_moved_phase_release(&m);
    return status;
}
