/* What stays the same from state to state. */
#include "incremental_internal.h"

#include "measure/measure_rates.h"

/* In-domain flows of ranks that move with their servers are where they were, as far as their links know. */
static bool incremental_stays_inside(const fab_estimator *c) {
    const fab_fabric *f = c->request.fabric;
    FAB_SUM(uint32_t, n, i, f->n_classes, f->classes[i].kind == FAB_LINK_SCALEUP);
    return c->latencies.n == 0 && n <= 1 && f->gpus_per_domain <= f->gpus_per_server;
}

static fab_status open_paths(fab_incremental *m, fab_error *err) {
    const fab_estimator *c = m->reader->estimator;
    FAB_PASS(fab_reroute_new(m->baseline, &m->reroute, err));
    FAB_PASS(FAB_NEW_ALL(c->n_paths, err, m->slot, m->touched_at));
    FAB_PASS(FAB_NEW(m->flow, c->request.routes->n_flows, err));
    return FAB_NEW(m->is_listed, c->request.fabric->n_links, err);
}

/* Of the bits of all flows, if it is a power of two; 0: it is none. */
static double exact_ratio(const fab_estimator *a, const fab_estimator *b) {
    const uint32_t n = a->request.routes->n_flows;
    int exponent = 0;
    const double ratio = n > 0 && b->bits[0] > 0 ? a->bits[0] / b->bits[0] : 1;
    bool is_exact = frexp(ratio, &exponent) == 0.5 && a->request.offer->line_bps == b->request.offer->line_bps;
    for (uint32_t i = 0; i < n && is_exact; i++) {
        is_exact = a->bits[i] == ratio * b->bits[i];
    }
    return is_exact ? ratio : 0;
}

/* A reader for a phase, but where another phase has one that will do. */
static fab_status open_phase(fab_incremental *m, const fab_estimator *c, fab_error *err) {
    incremental_phase *phase = &m->phase[m->n_phases++];
    *phase = (incremental_phase){.estimator = c};
    for (; phase->reader < m->n_readers; phase->reader++) {
        phase->ratio = exact_ratio(c, m->readers[phase->reader]->estimator);
        if (phase->ratio > 0) {
            return FAB_OK;
        }
    }
    phase->ratio = 1;
    FAB_PASS(fab_estimator_reader_new(c, &m->readers[m->n_readers], err));
    m->n_readers++;
    return FAB_NEW(m->readers[phase->reader]->load, c->request.fabric->n_links, err);
}

fab_status fab_incremental_new(const fab_estimator *const *estimators, size_t n, const fab_baseline *baseline,
                               fab_incremental **out, fab_error *err) {
    FAB_OWNS_NEW(fab_incremental_free_owned, fab_incremental, m, 1, err);
    FAB_PASS(FAB_NEW_ALL(n, err, m->phase, m->found, m->servers_found));
    FAB_PASS(fab_allocate(n, sizeof(fab_estimator_reader *), &m->readers, err));
    m->baseline = baseline;
    m->can = fab_baseline_is_separable(baseline);
    for (size_t i = 0; i < n && m->can; i++) {
        const fab_estimator *c = estimators[i];
        m->can = c->relayed == NULL && c->limit_bps == NULL && !fab_is_lossless(c->request.transport) &&
                 c->n_paths == estimators[0]->n_paths && estimator_is_exact(c);
        FAB_PASS(open_phase(m, c, err));
    }
    m->reader = n > 0 ? m->readers[0] : NULL;
    m->has_one_way = m->can && fab_router_ports(m->reader->estimator->request.router)->nics_per_gpu == 1 &&
                     m->reader->estimator->request.fabric->n_planes == 1;
    m->stays_inside = m->can && incremental_stays_inside(m->reader->estimator);
    m->moves_servers = m->can && m->reader->estimator->request.fabric->gpus_per_domain <=
                                     m->reader->estimator->request.fabric->gpus_per_server;
    FAB_PASS(m->can ? open_paths(m, err) : FAB_OK);
    return FAB_GIVE(*out, m);
}

FAB_FREES_AFTER(fab_incremental_free, fab_incremental, m) {
    for (size_t i = 0; i < m->n_readers; i++) {
        m->readers[i]->changed = i > 0 ? NULL : m->readers[i]->changed;
        fab_estimator_reader_free(m->readers[i]);
    }
    FAB_FREE_ALL(m->readers, m->phase, m->found, m->servers_found);
    server_moves_free(m->servers);
    fab_reroute_free(m->reroute);
    fab_state_key_release(&m->mask);
    fab_state_key_release(&m->place);
    FAB_FREE_ALL(m->list, m->list_first, m->list_link, m->touched_first, m->touched_link, m->touched_at, m->touched,
                 m->slot, m->path, m->unused, m->flow, m->away, m->walk, m->is_listed, m->latencies.s,
                 m->latencies.n_with);
}
