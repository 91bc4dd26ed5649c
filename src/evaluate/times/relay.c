/* Store and forward between rails: a stage of its own before the network's. */
#include "relay.h"

#define BITS 8.0

static bool is_scaleup(const fab_fabric *f, fab_link_id link) {
    return fab_class_of(f, link)->kind == FAB_LINK_SCALEUP;
}

static bool leaves_domain(const fab_fabric *f, const fab_link_id *link, uint32_t n) {
    FAB_ANY(found, i, n, !is_scaleup(f, link[i]));
    return found;
}

uint32_t fab_relay_drop(const fab_fabric *fabric, fab_link_id *link, uint32_t n) {
    uint32_t kept = 0;
    bool drops = fabric->stores_and_forwards && leaves_domain(fabric, link, n);
    FAB_KEEP(link, kept, i, n, !drops || !is_scaleup(fabric, link[i]), link[i]);
    return kept;
}

static void relay_add_flow(const fab_prepared_phase *s, uint64_t flow, double *bytes) {
    fab_flow about = fab_phase_flow(s->phase, flow);
    uint32_t n_parts = s->demand->n_parts;
    for (uint32_t part = 0; part < n_parts; part++) {
        fab_link_id segments[FAB_FLOW_SEGMENT_LINKS];
        uint32_t n = fab_flow_segments(s->fabric, s->ports, about.src, about.dst, part, segments);
        for (uint32_t i = 0; leaves_domain(s->fabric, segments, n) && i < n; i++) {
            if (is_scaleup(s->fabric, segments[i])) {
                bytes[segments[i]] += (double)about.bytes * fab_demand_share(s->demand, flow, part);
            }
        }
    }
}

fab_status fab_relay_find(const fab_prepared_phase *prepared, double **out_bytes, double *out_s, fab_error *err) {
    const fab_fabric *f = prepared->fabric;
    double *bytes = NULL;
    *out_bytes = NULL;
    *out_s = 0;
    if (!f->stores_and_forwards) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW(bytes, f->n_links, err));
    for (uint64_t flow = 0; flow < prepared->phase->n_flows; flow++) {
        relay_add_flow(prepared, flow, bytes);
    }
    for (fab_link_id l = 0; l < f->n_links; l++) {
        *out_s = fmax(*out_s, bytes[l] * BITS / fab_prepared_capacity(prepared, l));
    }
    *out_bytes = bytes;
    return FAB_OK;
}
