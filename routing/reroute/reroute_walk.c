/* A path under a mask, by what its engine says at every switch. */
#include "baseline.h"
#include "engines/engines.h"

static fab_link_id next_any(fab_reroute *r, uint32_t v, uint32_t column, const fab_hop_key *key) {
    const fab_router *router = &r->masked;
    uint32_t base = r->b->fabric->first[FAB_NODE_SWITCH];
    fab_hop hop = {.node = v + base, .leaf = column, .tier = router->switch_tier[v]};
    if (router->engine->next != NULL) {
        return router->engine->next(router, v + base, key);
    }
    hop.next = fab_masked_hops_get(r->hops, v, column);
    hop.count = hop.next.count;
    if (hop.count == 0) {
        return FAB_NONE;
    }
    return fab_next_hop(&hop.next, hop.count == 1 ? 0 : router->engine->pick(router, r->b->request.seed, &hop, key));
}

/* Links between switches, from switch v on. False if there is no way; what was written is then of no meaning. */
static fab_status reroute_walk_path(fab_reroute *r, uint32_t v, uint32_t dst, uint32_t column, const fab_hop_key *key,
                                    bool heeds, size_t *n, bool *out_found, fab_error *err) {
    const fab_router *router = r->b->router;
    const fab_fabric *f = r->b->fabric;
    const size_t first = *n;
    const bool is_masked = heeds && r->mask->n_links > 0;
    *out_found = false;
    while (v != dst) {
        fab_link_id link =
            is_masked ? next_any(r, v, column, key)
                      : fab_router_next(router, r->b->request.seed, v + f->first[FAB_NODE_SWITCH], column, key);
        if (link == FAB_NONE) {
            return FAB_OK;
        }
        if (*n >= r->link_capacity) { /* the way to see that a walk does not end, at no cost to those that do */
            FAB_REFUSE_IF(*n - first > router->next_hops->n_switches, err, FAB_EINTERNAL, NULL,
                          "a path of more than %u switches goes in circles", router->next_hops->n_switches);
            FAB_PASS(FAB_GROW(r->link, r->link_capacity, *n + 1, err));
        }
        r->link[(*n)++] = link;
        v = fab_head(f, link) - f->first[FAB_NODE_SWITCH];
    }
    *out_found = true;
    return FAB_OK;
}

static fab_status reroute_append(fab_reroute *r, size_t *n, const fab_link_id *link, uint32_t count, fab_error *err) {
    FAB_PASS(*n + count > r->link_capacity ? FAB_GROW(r->link, r->link_capacity, *n + count, err) : FAB_OK);
    for (uint32_t i = 0; i < count; i++) {
        r->link[(*n)++] = link[i];
    }
    return FAB_OK;
}

/* What switches draw from of a part between two leaves; `column`: of the destination's leaf. */
static fab_hop_key reroute_key(const fab_reroute *r, const fab_flow_part *part, const fab_host_segments *segments,
                               uint32_t column) {
    const fab_router *router = r->b->router;
    fab_hop_key key = {.src_nic = segments->src_nic,
                       .dst_nic = segments->dst_nic,
                       .ordinal = part->ordinal,
                       .queue_pair = part->queue_pair,
                       .destination = column * router->port_stride + segments->dst_port - 1};
    if (router->engine->begin != NULL) {
        router->engine->begin(router, r->b->request.seed, &key, 1);
    }
    return key;
}

fab_status fab_reroute_part(fab_reroute *r, const fab_flow_part *part, uint32_t plane, fab_ways ways, bool heeds,
                            size_t *n, fab_error *err) {
    const fab_router *router = r->b->router;
    const fab_fabric *f = r->b->fabric;
    const uint32_t base = f->first[FAB_NODE_SWITCH];
    const size_t first = *n;
    for (uint32_t i = ways.first; i < ways.end; i++) {
        fab_host_segments segments = {0};
        bool found = false;
        FAB_PASS(fab_host_segments_of(f, &router->ports, part->src, part->dst,
                                      (part->nic + i / f->n_planes) % router->ports.nics_per_gpu,
                                      (plane + i) % f->n_planes, &segments, err));
        if (heeds &&
            (!fab_all_alive(r, segments.head, segments.n_head) || !fab_all_alive(r, segments.tail, segments.n_tail))) {
            continue;
        }
        FAB_PASS(reroute_append(r, n, segments.head, segments.n_head, err));
        if (!segments.in_domain) {
            uint32_t column = router->next_hops->leaf_index[segments.dst_leaf - base];
            const fab_hop_key key = reroute_key(r, part, &segments, column);
            if (router->unreached == NULL || router->unreached[key.destination] == 0) {
                FAB_PASS(reroute_walk_path(r, segments.src_leaf - base, segments.dst_leaf - base, column, &key, heeds,
                                           n, &found, err));
            }
            if (!found) {
                *n = first;
                continue;
            }
            FAB_PASS(reroute_append(r, n, segments.tail, segments.n_tail, err));
        }
        *n = heeds || fab_all_alive(r, r->link + first, *n - first) ? *n : first;
        break;
    }
    return FAB_OK;
}

/* The same queue pair in another plane, those behind its own in turn, and then over the other NICs of its GPU. */
static fab_status try_others(fab_reroute *r, uint32_t path, size_t *n, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_path_record *record = &b->record[path];
    const fab_flow flow = fab_phase_flow(b->request.phase, record->flow);
    const fab_flow_part part = {.src = flow.src,
                                .dst = flow.dst,
                                .ordinal = flow.ordinal,
                                .queue_pair = b->key[path].queue_pair,
                                .nic = (path - b->routes.flow_first[record->flow]) % b->router->ports.nics_per_gpu};
    const uint32_t own = b->fabric->switch_plane[b->leaf[record->column].at];
    return fab_reroute_part(r, &part, own, (fab_ways){1, fab_n_ways(b->router)}, true, n, err);
}

fab_status fab_reroute_path(fab_reroute *r, uint32_t path, uint32_t from, size_t *n_links, fab_error *err) {
    const fab_baseline *b = r->b;
    const fab_path_record *record = &b->record[path];
    const fab_link_id *old = fab_record_links(b, path);
    const fab_link_id *tail = old + record->n - record->n_tail;
    const size_t first = *n_links;
    bool found = false;
    if (record->column == FAB_NONE) {
        return fab_all_alive(r, old, record->n) ? reroute_append(r, n_links, old, record->n, err) : FAB_OK;
    }
    if (!r->cuts_segments || (fab_all_alive(r, old, record->n_head) && fab_all_alive(r, tail, record->n_tail))) {
        const uint32_t n_kept = from < record->n_head ? record->n_head : from;
        FAB_PASS(reroute_append(r, n_links, old, n_kept, err));
        FAB_PASS(reroute_walk_path(r, fab_tail(b->fabric, old[n_kept]) - b->fabric->first[FAB_NODE_SWITCH],
                                   b->leaf[record->column].at, record->column, &b->key[path], true, n_links, &found,
                                   err));
    }
    if (found) {
        FAB_PASS(reroute_append(r, n_links, tail, record->n_tail, err));
    } else {
        *n_links = first;
        FAB_PASS(try_others(r, path, n_links, err));
    }
    return FAB_OK;
}

bool fab_reroute_keeps(fab_reroute *r, const fab_link_id *link, size_t n) {
    const fab_next_hops *next_hops = r->b->router->next_hops;
    const uint32_t base = r->b->fabric->first[FAB_NODE_SWITCH];
    uint32_t last = FAB_NONE;
    bool same = fab_all_alive(r, link, n);
    if (r->mask->n_links == 0 || r->b->on_loss == FAB_LOSS_NONE) {
        return same;
    }
    same = same && r->b->router->engine->next == NULL;
    for (size_t i = n; same && i > 0; i--) { /* from the leaf where it ends */
        const fab_node_id tail = fab_tail(r->b->fabric, link[i - 1]);
        if (tail >= base && last == FAB_NONE) {
            last = next_hops->leaf_index[tail - base];
        } else if (tail >= base && fab_n_removed(r->hops, tail - base, last) > 0) {
            same = fab_masked_hops_get(r->hops, tail - base, last).count ==
                   fab_next_hops_look(next_hops, tail - base, last).count;
        }
    }
    return same;
}
