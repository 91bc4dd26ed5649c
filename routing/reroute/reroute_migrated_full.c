/* Everything again, with flows that moved: a phase of its own, and what it offers. */
#include "fab/memory.h"
#include "migration.h"

#include <string.h>

void fab_migration_release_phase(fab_migration *m) {
    FAB_FREE_ALL(m->phase.src, m->phase.dst);
    if (m->owns_lists) {
        FAB_FREE_ALL(m->phase.bytes, m->phase.comm);
    }
    fab_offer_release(&m->offer);
    m->phase = (fab_phase){0};
    m->offer = (fab_offer){0};
}

static fab_status make_phase(fab_reroute *r, fab_error *err) {
    fab_migration *m = r->migration;
    const fab_phase *whole = r->b->request.phase;
    const uint32_t n = r->b->n_flows;
    fab_migration_release_phase(m);
    m->owns_lists = whole->all.n > 0;
    m->phase = *whole;
    m->phase.all = (fab_all_to_all){0};
    m->phase.src = m->phase.dst = NULL;
    if (m->owns_lists) {
        m->phase.bytes = NULL;
        m->phase.comm = NULL;
        FAB_PASS(FAB_NEW(m->phase.bytes, n, err));
        FAB_PASS(FAB_NEW(m->phase.comm, n, err));
    }
    FAB_PASS(FAB_NEW(m->phase.src, n, err));
    FAB_PASS(FAB_NEW(m->phase.dst, n, err));
    for (uint32_t i = 0; i < n; i++) {
        fab_flow flow = fab_migration_flow(r, i);
        m->phase.src[i] = flow.src;
        m->phase.dst[i] = flow.dst;
        if (m->owns_lists) {
            m->phase.bytes[i] = flow.bytes;
            m->phase.comm[i] = flow.comm;
        }
    }
    return fab_offer_init(r->b->fabric, &r->b->router->ports, &m->phase, &m->offer, err);
}

static bool is_in_domain(const fab_reroute *r, uint32_t a, uint32_t b) {
    return r->b->router->ports.gpu_scaleup[a] != FAB_NONE &&
           fab_domain_of(r->b->fabric, a) == fab_domain_of(r->b->fabric, b);
}

/* How paths are numbered, and what each offers. */
static fab_status number_paths(fab_reroute *r, fab_error *err) {
    fab_migration *m = r->migration;
    const fab_router *router = r->b->router;
    const uint32_t per_flow = fab_paths_per_flow(router);
    const uint32_t n = r->b->n_flows;
    uint64_t n_paths = 0;
    if (m->flow_first == NULL) {
        FAB_PASS(FAB_NEW(m->flow_first, (size_t)n + 1, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = is_in_domain(r, m->phase.src[i], m->phase.dst[i]) ? 1 : per_flow;
        m->flow_first[i] = (uint32_t)n_paths;
        m->part[i] = m->offer.rate[i] / (router->splits ? 1 : count);
        n_paths += count;
        if (n_paths > UINT32_MAX) {
            return fab_fail(err, FAB_EUNSUPPORTED, NULL, "%u flows of %u queue pairs exceed the limit of %u paths", n,
                            per_flow, UINT32_MAX);
        }
    }
    m->flow_first[n] = (uint32_t)n_paths;
    r->what.phase = &m->phase;
    r->what.offer = &m->offer;
    r->part = m->part;
    r->flow_first = router->splits || m->is_renumbered ? m->flow_first : r->b->routes.flow_first;
    return FAB_OK;
}

static fab_status migrated_full_walk_all(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    size_t n = 0;
    for (uint32_t flow = 0; flow < r->b->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            size_t first = n;
            FAB_PASS(fab_migration_walk(r, flow, path - r->flow_first[flow], on_loss, &n, err));
            if (n == first) {
                fab_reroute_lose(r, flow, r->part[flow]);
            }
            FAB_PASS(fab_reroute_list(r, flow, path, n, err));
        }
    }
    return FAB_OK;
}

fab_status fab_migration_walk_all(fab_reroute *r, fab_error *err) {
    return migrated_full_walk_all(r, FAB_LOSS_RECONVERGE, err);
}

/* Of an engine that routes whole phases, over groups from a file: nobody takes notice of what is dead. */
static fab_status route_whole(fab_reroute *r, fab_error *err) {
    FAB_PASS(fab_route_flows(r->b->router, r->what.phase, 0, r->b->n_flows, r->what.offer->rate, r->what.seed,
                             &r->routes, err));
    for (uint32_t flow = 0; flow < r->b->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            size_t n = r->path_first[r->n_touched];
            size_t last = r->routes.path_first[path + 1];
            bool is_lost = false;
            FAB_PASS(FAB_GROW(r->link, r->link_capacity, n + last - r->routes.path_first[path], err));
            for (size_t i = r->routes.path_first[path]; i < last; i++) {
                is_lost = is_lost || fab_mask_link_is_dead(r->mask, r->routes.link[i]);
                r->link[n++] = r->routes.link[i];
            }
            if (is_lost) {
                n = r->path_first[r->n_touched];
                fab_reroute_lose(r, flow, r->part[flow]);
            }
            FAB_PASS(fab_reroute_list(r, flow, path, n, err));
        }
    }
    return FAB_OK;
}

fab_status fab_migration_in_full(fab_reroute *r, const fab_reroute_plan *plan, fab_error *err) {
    const fab_router *router = r->b->router;
    FAB_PASS(make_phase(r, err));
    FAB_PASS(number_paths(r, err));
    if (plan->on_loss == FAB_LOSS_RECONVERGE) {
        return fab_reroute_in_full(r, err);
    }
    memset(r->load, 0, r->b->fabric->n_links * sizeof *r->load);
    r->path_first[0] = 0;
    if (router->splits) { /* over groups from a file; nothing is dead */
        FAB_PASS(fab_baseline_split(&r->what, NULL, r->load, err));
    } else if (router->engine->route != NULL) {
        FAB_PASS(route_whole(r, err));
    } else {
        if (plan->on_loss != FAB_LOSS_NONE) {
            FAB_PASS(fab_masked_hops_find(r->hops, r->mask, plan->on_loss == FAB_LOSS_RESILIENT, NULL, err));
        }
        FAB_PASS(migrated_full_walk_all(r, plan->on_loss, err));
    }
    return FAB_OK;
}
