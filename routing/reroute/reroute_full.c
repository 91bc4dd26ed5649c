/* Everything again under a mask, of engines whose choices depend on all of the traffic or all of the fabric: over next
 * hops that are built anew, for the flows that still have a way. */
#include "baseline.h"
#include "demand/demand.h"
#include "split/split_rule.h"

/* --- phases of other flows ---------------------------------------------------------------------------------------- */

FAB_RELEASES(fab_phase_list_release, fab_phase, src, dst, bytes, comm, ordinal);

fab_status fab_phase_list(const fab_phase *whole, const uint8_t *gone, const uint32_t *new_gpu, fab_phase *out,
                          fab_error *err) {
    const uint64_t n_flows = whole->n_flows;
    FAB_OWNS(fab_phase_list_release) fab_phase p = *whole;
    p.all = (fab_all_to_all){0};
    p.src = p.dst = p.comm = p.ordinal = NULL;
    p.bytes = NULL;
    p.n_flows = p.total_bytes = 0;
    FAB_REFUSE_IF(n_flows >= UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                  "phase '%s' has %" PRIu64 " flows, too many to be listed", whole->name, n_flows);
    FAB_PASS(FAB_NEW_ALL((size_t)n_flows, err, p.src, p.dst, p.bytes, p.comm, p.ordinal));
    for (uint64_t i = 0; i < n_flows; i++) {
        if (gone != NULL && gone[i] != 0) {
            continue;
        }
        fab_flow flow = fab_phase_flow(whole, i);
        uint64_t at = p.n_flows++;
        p.src[at] = new_gpu != NULL ? new_gpu[flow.src] : flow.src;
        p.dst[at] = new_gpu != NULL ? new_gpu[flow.dst] : flow.dst;
        p.bytes[at] = flow.bytes;
        p.comm[at] = flow.comm;
        p.ordinal[at] = flow.ordinal;
        p.total_bytes += flow.bytes;
    }
    return FAB_GIVE(*out, p);
}

/* What is left of a phase, and what it offers. */
static fab_status list_rest(const fab_baseline_request *what, const uint8_t *gone, fab_phase *out, double **out_rate,
                            fab_error *err) {
    uint32_t n = 0;
    FAB_PASS(FAB_NEW(*out_rate, what->phase->n_flows, err));
    FAB_KEEP(*out_rate, n, i, what->phase->n_flows, gone == NULL || gone[i] == 0,
             fab_offer_rate(what->offer, what->phase, i));
    return fab_phase_list(what->phase, gone, NULL, out, err);
}

fab_status fab_baseline_split(const fab_baseline_request *what, const uint8_t *gone, const uint64_t *dead_link,
                              double *load, fab_error *err) {
    const fab_router *router = what->router;
    const fab_fabric *f = router->fabric;
    FAB_OWNS(fab_phase_list_release) fab_phase rest = {.n_flows = 0};
    fab_offer offer = *what->offer;
    FAB_OWNS_MEMBERS(offer.rate);
    FAB_OWNS(fab_demand_release) fab_demand demand = {0};
    FAB_OWNS(fab_split_release) fab_split split = {0};
    FAB_OWNS(fab_dag_free_owned) fab_dag *own = NULL;
    const fab_dag *dag = router->groups.dag != NULL ? router->groups.dag : what->dag;
    offer.rate = NULL;
    FAB_PASS(list_rest(what, gone, &rest, &offer.rate, err));
    FAB_PASS(fab_demand_init_left(f, &router->ports, router->next_hops, &rest, &offer, dead_link, &demand, err));
    if (dag == NULL) {
        FAB_PASS(fab_dag_new(f, router->next_hops, &own, err));
        dag = own;
    }
    FAB_PASS(router->engine->split(router, dag, &demand, NULL, &split, err));
    memcpy(load, demand.segment_rate, f->n_links * sizeof *load);
    return fab_split_load(dag, &split, &demand, demand.rate, load, err);
}

/* Flows that have lost every part. Those that have some left are spread over these. */
static void find_gone(fab_reroute *r, const fab_next_hops *t, uint8_t *gone) {
    const fab_baseline *b = r->b;
    const fab_ports *ports = &b->router->ports;
    const uint32_t n_ways = fab_n_ways(b->router);
    const fab_demand_source source = {
        .fabric = b->fabric, .ports = ports, .next_hops = t, .dead_link = r->mask->dead_link};
    for (uint32_t i = 0; i < b->n_flows; i++) {
        fab_flow flow = fab_phase_flow(r->what.phase, i);
        FAB_SUM(uint32_t, n, way, n_ways,
                fab_part_has_way(&source, &flow, way / ports->n_planes, way % ports->n_planes));
        gone[i] = n == 0;
        if (n == 0) {
            uint32_t n_paths = b->router->facts.splits ? 1 : r->flow_first[i + 1] - r->flow_first[i];
            fab_reroute_lose(r, i, r->part[i] * n_paths);
        }
    }
}

/* The next path, lost or not, whose links are those of r->link up to `end`; puts it on. */
static fab_status list_path(fab_reroute *r, uint32_t flow, uint32_t path, size_t end, fab_error *err) {
    const fab_routes *before = &r->b->routes;
    const fab_link_id *link = r->link + r->path_first[r->n_touched];
    const size_t n = end - r->path_first[r->n_touched];
    const size_t *first = before->path_first;
    for (size_t i = 0; i < n; i++) {
        r->load[link[i]] += r->part[flow];
    }
    FAB_PASS(FAB_GROW(r->path, r->path_capacity, (size_t)r->n_touched + 1, err));
    FAB_PASS(FAB_GROW(r->path_first, r->first_capacity, (size_t)r->n_touched + 2, err));
    if (n > 0) {
        r->n_moved += r->flow_first != before->flow_first || n != first[path + 1] - first[path] ||
                      memcmp(before->link + first[path], link, n * sizeof *link) != 0;
    }
    r->path[r->n_touched++] = path;
    r->path_first[r->n_touched] = end;
    return FAB_OK;
}

/* Of an engine that routes whole phases. Over groups from a file nobody takes notice of what is dead. */
static fab_status route_phase(fab_reroute *r, const fab_router *router, const uint8_t *gone, fab_error *err) {
    FAB_OWNS(fab_phase_list_release) fab_phase rest = {.n_flows = 0};
    FAB_OWNED double *rate = NULL;
    uint32_t at = 0;
    FAB_PASS(list_rest(&r->what, gone, &rest, &rate, err));
    FAB_PASS(fab_route_flows(router, &rest, 0, (uint32_t)rest.n_flows, rate, r->what.seed, &r->routes, err));
    for (uint32_t flow = 0; flow < r->b->n_flows; flow++) {
        const bool is_gone = gone != NULL && gone[flow] != 0;
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            size_t end = r->path_first[r->n_touched];
            if (!is_gone) {
                const size_t *first = r->routes.path_first + r->routes.flow_first[at] + (path - r->flow_first[flow]);
                const fab_link_id *link = r->routes.link + first[0];
                const size_t n = first[1] - first[0];
                FAB_PASS(FAB_GROW(r->link, r->link_capacity, end + n + 1, err));
                if (!fab_all_alive(r, link, n)) {
                    fab_reroute_lose(r, flow, r->part[flow]);
                } else if (n > 0) {
                    memcpy(r->link + end, link, n * sizeof *link);
                    end += n;
                }
            }
            FAB_PASS(list_path(r, flow, path, end, err));
        }
        at += !is_gone;
    }
    return FAB_OK;
}

/* All parts of all flows, between the GPUs where their ranks run. */
static fab_status walk_all(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    const bool moves = r->what.phase != r->b->request.phase;
    size_t n = 0;
    for (uint32_t flow = 0; flow < r->b->n_flows; flow++) {
        for (uint32_t path = r->flow_first[flow]; path < r->flow_first[flow + 1]; path++) {
            size_t first = n;
            FAB_PASS(moves ? fab_migration_walk(r, flow, path - r->flow_first[flow], on_loss, &n, err)
                           : fab_reroute_path(r, path, 0, &n, err));
            if (n == first) {
                fab_reroute_lose(r, flow, r->part[flow]);
            }
            FAB_PASS(list_path(r, flow, path, n, err));
        }
    }
    return FAB_OK;
}

/* Of an engine that makes tables of its own. */
static fab_status route_by_tables(fab_reroute *r, const fab_router *router, fab_error *err) {
    fab_status status = FAB_OK;
    fab_router kept = r->masked;
    r->masked = *router;
    r->masked.state = NULL;
    FAB_TRY(fab_allocate(1, router->engine->state_size, &r->masked.state, err));
    FAB_TRY(router->engine->prepare(&r->masked, err));
    FAB_TRY(walk_all(r, FAB_LOSS_RECONVERGE, err));
done:
    if (r->masked.state != NULL) {
        router->engine->release(&r->masked);
        free(r->masked.state);
    }
    r->masked = kept;
    return status;
}

fab_status fab_reroute_in_full(fab_reroute *r, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_engine *engine = b->router->engine;
    FAB_OWNS(fab_next_hops_free_owned) fab_next_hops *t = NULL;
    fab_router router = *b->router; /* owns nothing */
    FAB_PASS(fab_next_hops_new(b->fabric, r->mask->dead_link, &t, err));
    router.next_hops = t;
    router.minimal = t;
    router.dead_link = r->mask->dead_link;
    fab_baseline_request what = r->what;
    what.router = &router;
    what.dag = NULL;
    memset(r->load, 0, b->fabric->n_links * sizeof *r->load);
    r->path_first[0] = 0;
    if (engine->next != NULL && !router.facts.splits) {
        FAB_PASS(route_by_tables(r, &router, err));
        return FAB_OK;
    }
    FAB_OWNED_NEW(uint8_t, gone, b->n_flows, err);
    find_gone(r, t, gone);
    if (router.facts.splits) {
        FAB_PASS(fab_baseline_split(&what, gone, r->mask->dead_link, r->load, err));
    } else if (engine->route != NULL) {
        FAB_PASS(route_phase(r, &router, gone, err));
    } else {
        return fab_fail(err, FAB_EINTERNAL, NULL, "engine %s reconverges, and does not say how", engine->name);
    }
    return FAB_OK;
}

/* --- flows that moved: a phase of its own, and what it offers ----------------------------------------------------- */

void fab_migration_release_phase(fab_migration *m) {
    fab_phase_list_release(&m->phase);
    fab_offer_release(&m->offer);
    m->offer = (fab_offer){0};
}

/* How paths are numbered, and what each offers. */
static fab_status number_paths(fab_reroute *r, fab_error *err) {
    fab_migration *m = r->migration;
    const fab_router *router = r->b->router;
    const uint32_t per_flow = router->facts.paths_per_flow;
    const uint32_t n = r->b->n_flows;
    uint64_t n_paths = 0;
    FAB_PASS(m->flow_first == NULL ? FAB_NEW(m->flow_first, (size_t)n + 1, err) : FAB_OK);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = fab_in_domain(r->b->fabric, &router->ports, m->phase.src[i], m->phase.dst[i]) ? 1 : per_flow;
        m->flow_first[i] = (uint32_t)n_paths;
        m->part[i] = m->offer.rate[i] / (router->facts.splits ? 1 : count);
        n_paths += count;
        FAB_REFUSE_IF(n_paths > UINT32_MAX, err, FAB_EUNSUPPORTED, NULL,
                      "%u flows of %u queue pairs exceed the limit of %u paths", n, per_flow, UINT32_MAX);
    }
    m->flow_first[n] = (uint32_t)n_paths;
    r->what.phase = &m->phase;
    r->what.offer = &m->offer;
    r->part = m->part;
    r->flow_first = router->facts.splits || m->is_renumbered ? m->flow_first : r->b->routes.flow_first;
    return FAB_OK;
}

fab_status fab_migration_in_full(fab_reroute *r, const fab_reroute_plan *plan, fab_error *err) {
    const fab_router *router = r->b->router;
    fab_migration_release_phase(r->migration);
    FAB_PASS(fab_phase_list(r->b->request.phase, NULL, r->migration->new_gpu, &r->migration->phase, err));
    FAB_PASS(fab_offer_init(r->b->fabric, &router->ports, &r->migration->phase, &r->migration->offer, err));
    FAB_PASS(number_paths(r, err));
    if (plan->on_loss == FAB_LOSS_RECONVERGE) {
        return fab_reroute_in_full(r, err);
    }
    memset(r->load, 0, r->b->fabric->n_links * sizeof *r->load);
    r->path_first[0] = 0;
    if (router->facts.splits) { /* over groups from a file; nothing is dead */
        FAB_PASS(fab_baseline_split(&r->what, NULL, NULL, r->load, err));
    } else if (router->engine->route != NULL) {
        FAB_PASS(route_phase(r, router, NULL, err));
    } else {
        if (plan->on_loss != FAB_LOSS_NONE) {
            FAB_PASS(fab_masked_hops_find(r->hops, r->mask, plan->on_loss == FAB_LOSS_RESILIENT, NULL, err));
        }
        FAB_PASS(walk_all(r, plan->on_loss, err));
    }
    return FAB_OK;
}
