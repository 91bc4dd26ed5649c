#include "fab/explain.h"
#include "engines/engines.h"
#include "host_segments.h"

FAB_RELEASES(fab_explained_path_release, fab_explained_path, link, decision);

static fab_status add_links(fab_explained_path *path, const fab_link_id *links, size_t n, fab_error *err) {
    FAB_PASS(FAB_GROW(path->link, path->link_capacity, path->n_links + n, err));
    for (size_t i = 0; i < n; i++) {
        path->link[path->n_links++] = links[i];
    }
    return FAB_OK;
}

static fab_status add_decision(fab_explained_path *path, const fab_decision *decision, fab_error *err) {
    return FAB_APPEND(path->decision, path->n_decisions, path->decision_capacity, err, *decision);
}

/* What switch v does with a packet of this key for leaf column `leaf`; FAB_NONE in decision->link: no way. */
static void decide(const fab_router *router, uint64_t seed, fab_node_id v, uint32_t leaf, const fab_hop_key *key,
                   fab_decision *out) {
    const fab_fabric *f = router->fabric;
    fab_hop hop = {.node = v, .leaf = leaf, .tier = fab_tier_of(f, v)};
    *out = (fab_decision){.node = v, .link = FAB_NONE};
    if (router->engine->next != NULL) {
        out->link = router->engine->next(router, v, key);
    } else {
        hop.next = fab_next_hops_look(router->next_hops, v - f->first[FAB_NODE_SWITCH], leaf);
        hop.count = hop.next.count;
        if (hop.count == 0) {
            return;
        }
        out->count = hop.count;
        out->index = hop.count == 1 ? 0 : router->engine->pick(router, seed, &hop, key);
        out->link = fab_next_hop(&hop.next, out->index);
    }
    if (hop.count != 1 && router->engine->explain != NULL) {
        out->value = router->engine->explain(router, seed, &hop, key, out->reason, sizeof out->reason);
    }
}

static fab_status explain_walk(const fab_router *router, const fab_host_segments *segments, fab_hop_key *key,
                               uint64_t seed, fab_explained_path *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t leaf = router->next_hops->leaf_index[segments->dst_leaf - f->first[FAB_NODE_SWITCH]];
    key->src_nic = segments->src_nic;
    key->dst_nic = segments->dst_nic;
    key->destination = leaf * router->port_stride + segments->dst_port - 1;
    if (router->engine->begin != NULL) {
        router->engine->begin(router, seed, key, 1);
    }
    for (fab_node_id v = segments->src_leaf; v != segments->dst_leaf;) {
        fab_decision decision;
        decide(router, seed, v, leaf, key, &decision);
        if (decision.link == FAB_NONE) {
            return fab_fail(err, FAB_EUNREACHABLE, NULL, "no route from %s to %s" FAB_NO_WAY, FAB_SAY_NODE(f, v),
                            FAB_SAY_NODE(f, segments->dst_leaf));
        }
        fab_status status = add_links(out, &decision.link, 1, err);
        if (status == FAB_OK) {
            status = add_decision(out, &decision, err);
        }
        if (status != FAB_OK) {
            return status;
        }
        v = fab_head(f, decision.link);
    }
    return FAB_OK;
}

fab_status fab_explain_path(const fab_router *router, const fab_flow *flow, uint32_t path, uint64_t seed,
                            fab_explained_path *out, fab_error *err) {
    const fab_ports *ports = &router->ports;
    fab_host_segments segments = {0};
    fab_hop_key key = {.ordinal = flow->ordinal, .queue_pair = path / ports->nics_per_gpu};
    out->n_links = out->n_decisions = 0;
    FAB_REFUSE_IF(router->engine->route != NULL || router->facts.splits, err, FAB_EUNSUPPORTED, NULL,
                  "engine %s does not decide path by path", router->engine->name);
    out->queue_pair = key.queue_pair;
    out->plane = fab_plane_of(router, flow, key.queue_pair, seed);
    FAB_PASS(fab_host_segments_of(router->fabric, ports, flow->src, flow->dst, path % ports->nics_per_gpu, out->plane,
                                  &segments, err));
    FAB_PASS(add_links(out, segments.head, segments.n_head, err));
    if (!segments.in_domain) {
        FAB_PASS(explain_walk(router, &segments, &key, seed, out, err));
        FAB_PASS(add_links(out, segments.tail, segments.n_tail, err));
    }
    return FAB_OK;
}

/* The switch that a path leaves the fabric from. */
static fab_node_id last_switch(const fab_fabric *f, const fab_link_id *link, size_t n) {
    fab_node_id last = FAB_NONE;
    for (size_t i = 0; i < n; i++) {
        last = fab_kind_of(f, fab_head(f, link[i])) == FAB_NODE_SWITCH ? fab_head(f, link[i]) : last;
    }
    return last;
}

fab_status fab_explain_route(const fab_router *router, const fab_link_id *link, size_t n_links, uint32_t queue_pair,
                             fab_explained_path *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    fab_node_id to = last_switch(f, link, n_links);
    out->n_links = out->n_decisions = 0;
    out->queue_pair = queue_pair;
    out->plane = to != FAB_NONE ? f->switch_plane[to - base] : 0;
    FAB_PASS(add_links(out, link, n_links, err));
    for (size_t i = 0; i < n_links; i++) {
        fab_decision decision = {.node = fab_tail(f, link[i]), .link = link[i]};
        if (fab_class_of(f, link[i])->kind != FAB_LINK_FABRIC) {
            continue;
        }
        fab_next_hop_list next =
            fab_next_hops_look(router->next_hops, decision.node - base, router->next_hops->leaf_index[to - base]);
        decision.count = next.count;
        for (uint32_t k = 0; k < decision.count; k++) {
            decision.index = fab_next_hop(&next, k) == link[i] ? k : decision.index;
        }
        if (decision.count != 1) {
            FAB_FORMAT(decision.reason, "least loaded when the flow came");
        }
        FAB_PASS(add_decision(out, &decision, err));
    }
    return FAB_OK;
}
