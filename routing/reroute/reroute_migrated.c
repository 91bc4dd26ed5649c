/* Ranks that run on other GPUs. Their flows are taken off before anything is put on, as all that a mask touches, and
 * walked between their new ends.
 *
 * What a flow offers depends on who shares its NICs. Mostly ranks take their neighbours with them, and nothing changes.
 * Where a flow enters or leaves a scale-up domain, or is relayed by another GPU, flows that stay offer something
 * else too: then everything is computed again. */
#include "engines/engines.h"
#include "baseline.h"

#define SLACK 1e-9 /* of bytes that are the same */

/* --- who moves ---------------------------------------------------------------------------------------------------- */

static fab_status migration_new(const fab_baseline *b, fab_migration **out, fab_error *err) {
    FAB_OWNS_NEW(fab_migration_free_owned, fab_migration, m, 1, err);
    FAB_PASS(FAB_NEW_ALL(b->n_flows, err, m->flow_stamp, m->flow, m->part));
    FAB_PASS(FAB_NEW(m->gpu_stamp, fab_n_gpus(b->fabric), err));
    FAB_PASS(FAB_NEW(m->bytes, fab_n_of(b->fabric, FAB_NODE_NIC), err));
    return FAB_GIVE(*out, m);
}

FAB_FREES_AFTER(fab_migration_free, fab_migration, m) {
    FAB_FREE_ALL(m->flow_stamp, m->gpu_stamp, m->flow, m->part, m->bytes, m->nic, m->flow_first, m->walked_first,
                 m->walked_part);
    fab_migration_release_phase(m);
}

static fab_status next_stamp(fab_reroute *r, fab_error *err) {
    FAB_PASS(r->migration == NULL ? migration_new(r->b, &r->migration, err) : FAB_OK);
    if (++r->migration->stamp == 0) { /* after 2^32 calls */
        memset(r->migration->flow_stamp, 0, r->b->n_flows * sizeof *r->migration->flow_stamp);
        memset(r->migration->gpu_stamp, 0, fab_n_gpus(r->b->fabric) * sizeof *r->migration->gpu_stamp);
        r->migration->stamp = 1;
    }
    r->migration->n = 0;
    return FAB_OK;
}

static void list_flows_of(fab_reroute *r, uint32_t gpu) {
    const fab_gpu_flows *x = &r->b->gpu_flows;
    fab_migration *m = r->migration;
    for (size_t k = x->first[gpu]; k < x->first[gpu + 1]; k++) {
        if (m->flow_stamp[x->flow[k]] != m->stamp) {
            m->flow_stamp[x->flow[k]] = m->stamp;
            m->flow[m->n++] = x->flow[k];
        }
    }
}

static fab_status migrated_list_flows(fab_reroute *r, const uint32_t *moved, size_t n_moved, fab_error *err) {
    const fab_gpu_flows *x = &r->b->gpu_flows;
    const uint32_t n_gpus = fab_n_gpus(r->b->fabric);
    fab_migration *m = r->migration;
    for (size_t i = 0; i < n_moved; i++) {
        uint32_t gpu = moved[i];
        uint32_t to = gpu < n_gpus ? m->new_gpu[gpu] : gpu;
        FAB_REFUSE_IF(gpu >= n_gpus || to >= n_gpus, err, FAB_EINPUT, NULL,
                      "a rank moves from gpu-%u to gpu-%u: they are numbered 0 to %u", gpu, to, n_gpus - 1);
        FAB_REFUSE_IF(m->gpu_stamp[to] == m->stamp ||
                          (m->new_gpu[to] == to && to != gpu && x->first[to] < x->first[to + 1]),
                      err, FAB_EINPUT, NULL, "gpu-%u cannot take the rank of gpu-%u: it has one", to, gpu);
        m->gpu_stamp[to] = m->stamp;
        list_flows_of(r, gpu);
    }
    return FAB_OK;
}

/* --- what they offer ---------------------------------------------------------------------------------------------- */

static fab_status list_nic(fab_migration *m, uint32_t nic, fab_error *err) {
    const fab_migrated_bytes *x = &m->bytes[nic];
    if (x->sent_before + x->sent_after + x->received_before + x->received_after == 0) {
        FAB_PASS(FAB_APPEND(m->nic, m->n_nics, m->nic_capacity, err, nic));
    }
    return FAB_OK;
}

/* Bytes of one flow, where it was and where it is. */
static fab_status count_bytes(fab_reroute *r, const fab_flow *flow, bool after, bool *out_in_domain, fab_error *err) {
    fab_migration *m = r->migration;
    const fab_ports *ports = &r->b->router->ports;
    const double part = (double)flow->bytes / ports->nics_per_gpu;
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        uint32_t src = 0;
        uint32_t dst = 0;
        FAB_PASS(fab_flow_nics(r->b->fabric, ports, flow->src, flow->dst, i, &src, &dst, err));
        *out_in_domain = src == FAB_NONE;
        if (src == FAB_NONE || part == 0) {
            continue;
        }
        FAB_PASS(list_nic(m, src, err));
        *(after ? &m->bytes[src].sent_after : &m->bytes[src].sent_before) += part;
        FAB_PASS(list_nic(m, dst, err));
        *(after ? &m->bytes[dst].received_after : &m->bytes[dst].received_before) += part;
    }
    return FAB_OK;
}

/* Flows that stay at a NIC still share it with as many bytes. */
static bool leaves_others_alone(double all, double before, double after) {
    return all - before <= SLACK * all || fabs(after - before) <= SLACK * all;
}

static double most_at(const fab_reroute *r, const fab_flow *flow) {
    const fab_offer *offer = r->b->request.offer;
    const fab_ports *ports = &r->b->router->ports;
    const fab_migrated_bytes *bytes = r->migration->bytes;
    double most = 0;
    for (uint32_t i = 0; i < ports->nics_per_gpu; i++) {
        uint32_t src = 0;
        uint32_t dst = 0;
        if (fab_flow_nics(r->b->fabric, ports, flow->src, flow->dst, i, &src, &dst, NULL) == FAB_OK &&
            src != FAB_NONE) {
            most = fmax(most, offer->sent[src] - bytes[src].sent_before + bytes[src].sent_after);
            most = fmax(most, offer->received[dst] - bytes[dst].received_before + bytes[dst].received_after);
        }
    }
    return most;
}

static fab_status find_rates(fab_reroute *r, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_baseline *b = r->b;
    const fab_offer *offer = b->request.offer;
    fab_migration *m = r->migration;
    m->is_local = true;
    m->is_renumbered = false;
    for (uint32_t i = 0; i < m->n; i++) {
        bool was_in_domain = false;
        bool is_in_domain = false;
        fab_flow old = fab_phase_flow(b->request.phase, m->flow[i]);
        fab_flow now = fab_migration_flow(r, m->flow[i]);
        FAB_TRY(count_bytes(r, &old, false, &was_in_domain, err));
        FAB_TRY(count_bytes(r, &now, true, &is_in_domain, err));
        m->is_renumbered = m->is_renumbered || was_in_domain != is_in_domain;
    }
    for (size_t i = 0; i < m->n_nics; i++) {
        const fab_migrated_bytes *x = &m->bytes[m->nic[i]];
        m->is_local = m->is_local && leaves_others_alone(offer->sent[m->nic[i]], x->sent_before, x->sent_after) &&
                      leaves_others_alone(offer->received[m->nic[i]], x->received_before, x->received_after);
    }
    m->is_local = m->is_local && !m->is_renumbered;
    for (uint32_t i = 0; i < m->n && m->is_local; i++) {
        uint32_t flow = m->flow[i];
        fab_flow now = fab_migration_flow(r, flow);
        double most = most_at(r, &now);
        uint32_t n_paths = b->router->facts.splits ? 1 : b->routes.flow_first[flow + 1] - b->routes.flow_first[flow];
        m->part[flow] = most > 0 ? (double)now.bytes * offer->line_bps / most / n_paths : 0;
    }
done:
    for (size_t i = 0; i < m->n_nics; i++) {
        m->bytes[m->nic[i]] = (fab_migrated_bytes){0};
    }
    m->n_nics = 0;
    return status;
}

/* --- walking ------------------------------------------------------------------------------------------------------ */

fab_status fab_migration_walk(fab_reroute *r, uint32_t flow, uint32_t k, fab_on_loss on_loss, size_t *n_links,
                              fab_error *err) {
    const fab_router *router = r->b->router;
    const uint32_t n_nics = router->ports.nics_per_gpu;
    const fab_flow about = fab_migration_flow(r, flow);
    const fab_flow_part part = {
        .src = about.src, .dst = about.dst, .ordinal = about.ordinal, .queue_pair = k / n_nics, .nic = k % n_nics};
    uint32_t plane = fab_plane_of(router, &about, part.queue_pair, r->b->request.seed);
    const bool heeds = on_loss != FAB_LOSS_NONE;
    return fab_reroute_part(r, &part, plane, (fab_ways){0, heeds ? fab_n_ways(router) : 1}, heeds, n_links, err);
}

/* --- a call ------------------------------------------------------------------------------------------------------- */

static fab_status take_off(fab_reroute *r, fab_error *err) {
    const uint32_t *flow_first = r->b->routes.flow_first;
    r->asks_any_leaf = true;
    for (uint32_t i = 0; i < r->migration->n; i++) {
        uint32_t flow = r->migration->flow[i];
        for (uint32_t path = flow_first[flow]; path < flow_first[flow + 1]; path++) {
            FAB_PASS(fab_reroute_lift_path(r, path, err));
        }
    }
    return FAB_OK;
}

/* All that a mask touches, but the flows that moved, which are off. */
static fab_status route_others(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    const uint32_t *flow_first = r->b->routes.flow_first;
    FAB_PASS(take_off(r, err));
    FAB_PASS(fab_reroute_touched(r, on_loss, err));
    for (uint32_t i = 0; i < r->migration->n; i++) {
        uint32_t flow = r->migration->flow[i];
        for (uint32_t path = flow_first[flow]; path < flow_first[flow + 1]; path++) {
            fab_reroute_forget(r, path);
        }
    }
    return FAB_OK;
}

/* A path that has just been walked. */
static fab_status put_on(fab_reroute *r, uint32_t flow, uint32_t path, size_t end, fab_error *err) {
    const double part = r->migration->part[flow];
    const size_t first = r->path_first[r->n_touched];
    FAB_PASS(fab_reroute_put_on(r, flow, part, r->link + first, end - first, err));
    if (end == first) {
        fab_reroute_lose(r, flow, part);
    } else {
        r->n_moved++;
    }
    r->path[r->n_touched++] = path;
    r->path_first[r->n_touched] = end;
    return FAB_OK;
}

static fab_status move(fab_reroute *r, fab_on_loss on_loss, fab_error *err) {
    const fab_baseline *b = r->b;
    FAB_PASS(route_others(r, on_loss, err));
    size_t n = r->path_first[r->n_touched];
    for (uint32_t i = 0; i < r->migration->n; i++) {
        uint32_t flow = r->migration->flow[i];
        uint32_t first = b->routes.flow_first[flow];
        for (uint32_t path = first; path < b->routes.flow_first[flow + 1]; path++) {
            FAB_PASS(fab_migration_walk(r, flow, path - first, on_loss, &n, err));
            FAB_PASS(put_on(r, flow, path, n, err));
        }
    }
    return FAB_OK;
}

fab_status fab_reroute_migrated(fab_reroute *r, const fab_mask *mask, const uint32_t *moved, size_t n_moved,
                                const uint32_t *new_gpu, fab_rerouted *out, fab_error *err) {
    fab_reroute_plan plan;
    FAB_PASS(next_stamp(r, err));
    r->migration->new_gpu = new_gpu;
    FAB_PASS(migrated_list_flows(r, moved, n_moved, err));
    if (r->migration->n == 0) {
        return fab_reroute_apply(r, mask, FAB_WHEN_CONVERGED, out, err);
    }
    FAB_PASS(fab_reroute_begin(r, mask, FAB_WHEN_CONVERGED, &plan, err));
    FAB_PASS(find_rates(r, err));
    const fab_engine *engine = r->b->router->engine;
    bool in_full = !r->migration->is_local || plan.on_loss == FAB_LOSS_RECONVERGE || r->b->router->facts.splits ||
                   engine->route != NULL;
    FAB_PASS(in_full ? fab_migration_in_full(r, &plan, err) : move(r, plan.on_loss, err));
    FAB_PASS(fab_reroute_end(r, plan.on_loss, in_full, out, err));
    if (r->migration->is_renumbered && !r->b->router->facts.splits) {
        r->migration->routes = (fab_routes){.n_flows = r->b->n_flows,
                                            .flow_first = r->migration->flow_first,
                                            .path_first = r->path_first,
                                            .link = r->link};
        out->routes = &r->migration->routes;
    }
    return FAB_OK;
}

/* --- many placements ---------------------------------------------------------------------------------------------- */

const fab_baseline_request *fab_baseline_what(const fab_baseline *b) {
    return &b->request;
}

const uint32_t *fab_baseline_flows_of(const fab_baseline *b, uint32_t gpu, size_t *out_n) {
    *out_n = b->gpu_flows.first[gpu + 1] - b->gpu_flows.first[gpu];
    return b->gpu_flows.flow + b->gpu_flows.first[gpu];
}

const fab_link_id *fab_baseline_fullest(const fab_baseline *b, uint32_t *out_n) {
    *out_n = b->n_order;
    return b->order;
}

bool fab_baseline_is_separable(const fab_baseline *b) {
    return !b->router->facts.splits && b->router->engine->route == NULL && b->on_loss != FAB_LOSS_RECONVERGE;
}

fab_status fab_reroute_lift(fab_reroute *r, const fab_mask *mask, const uint32_t *gpu, size_t n, fab_rerouted *out,
                            fab_error *err) {
    fab_reroute_plan plan;
    FAB_REFUSE_IF(!fab_baseline_is_separable(r->b), err, FAB_EUNSUPPORTED, NULL,
                  "engine %s decides on all flows at once: none can be lifted alone", r->b->router->engine->name);
    FAB_PASS(next_stamp(r, err));
    for (size_t i = 0; i < n; i++) {
        list_flows_of(r, gpu[i]);
    }
    FAB_PASS(fab_reroute_begin(r, mask, FAB_WHEN_CONVERGED, &plan, err));
    FAB_PASS(route_others(r, plan.on_loss, err));
    FAB_PASS(fab_reroute_end(r, plan.on_loss, false, out, err));
    r->migration->on_loss = plan.on_loss;
    return FAB_OK;
}

fab_status fab_reroute_walk(fab_reroute *r, const uint32_t *flow, size_t n, const uint32_t *new_gpu, fab_walked *out,
                            fab_error *err) {
    const fab_baseline *b = r->b;
    fab_migration *m = r->migration;
    size_t n_links = r->path_first[r->n_touched]; /* what the last call returned is below */
    size_t n_paths = 0;
    m->new_gpu = new_gpu;
    FAB_PASS(FAB_GROW(m->walked_first, m->first_capacity, 1, err));
    m->walked_first[0] = n_links;
    for (size_t i = 0; i < n; i++) {
        uint32_t count = b->routes.flow_first[flow[i] + 1] - b->routes.flow_first[flow[i]];
        FAB_PASS(FAB_GROW(m->walked_first, m->first_capacity, n_paths + count + 1, err));
        FAB_PASS(FAB_GROW(m->walked_part, m->part_capacity, n_paths + count, err));
        for (uint32_t k = 0; k < count; k++) {
            FAB_PASS(fab_migration_walk(r, flow[i], k, m->on_loss, &n_links, err));
            m->walked_part[n_paths++] = b->part[flow[i]];
            m->walked_first[n_paths] = n_links;
        }
    }
    *out = (fab_walked){n_paths, m->walked_first, r->link, m->walked_part};
    return FAB_OK;
}
