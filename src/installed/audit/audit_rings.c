/* Rings: plugs in each other's place, two or more. Those of the same servers are one finding. */
#include "audit_plugs.h"

#include "fab/fnv.h"
#include "fab/str.h"

FAB_ORDER_KEYS(by_servers, audit_ring, FAB_ORDER(a->server[0], b->server[0]), FAB_ORDER(a->server[1], b->server[1]),
               FAB_ORDER(a->servers, b->servers), FAB_ORDER(a->first, b->first));

fab_status audit_note_ring(audit_plugs *p, const uint32_t *member, uint32_t n, double confidence, bool is_sure,
                           fab_error *err) {
    audit_ring ring = {FAB_FNV_BEGIN, {0, 0}, p->n_members, n, confidence, is_sure};
    FAB_BEST(first, k, n, p->plug[member[k]].server < p->plug[member[first]].server);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t plug = member[(first + k) % n];
        const uint32_t server = p->plug[plug].server;
        const bool is_same = p->plug[plug].column == p->plug[member[0]].column; /* one of different adapters is alone */
        ring.servers = fab_fnv(ring.servers, is_same ? &server : &plug, sizeof server);
        ring.server[k < 2 ? k : 1] = k < 2 ? server : ring.server[1];
        FAB_PASS(FAB_APPEND(p->member, p->n_members, p->member_capacity, err, plug));
    }
    return FAB_APPEND(p->ring, p->n_rings, p->ring_capacity, err, ring);
}

bool audit_ring_is_at_leaf(const audit_plugs *p, const audit_ring *ring) {
    const uint32_t *member = &p->member[ring->first];
    FAB_ALL(all, k, ring->n, p->plug[member[k]].leaf == p->plug[member[0]].leaf);
    return all;
}

bool audit_same_servers(const audit_ring *x, const audit_ring *y) {
    return x->server[0] == y->server[0] && x->server[1] == y->server[1] && x->servers == y->servers;
}

void audit_sort_rings(audit_plugs *p) {
    FAB_SORT(p->ring, p->n_rings, by_servers);
}

/* Whether a port, of n that are exchanged, is where others of its server are. */
static bool is_with_its_server(const audit_plugs *p, uint32_t plug, uint32_t n) {
    const audit_plug *x = &p->plug[plug];
    FAB_SUM_IN(uint32_t, n_there, i, p->first[x->server], p->first[x->server + 1], p->plug[i].leaf == x->leaf);
    return n_there > n;
}

/* What to do with a ring of one cable each, or with all n of each. */
static fab_status work_on(const audit_plugs *p, const audit_ring *x, uint32_t n, fab_str *out, fab_error *err) {
    const auditor *a = p->a;
    const uint32_t *member = &p->member[x->first];
    if (n > 1) {
        fab_str_printf(out, "Plug each of these %u cables in where its name belongs: not all of the boxes.", n * x->n);
        return fab_str_status(out, err);
    }
    const bool is_at_leaf = audit_ring_is_at_leaf(p, x);
    fab_str_printf(out, "Plug them in%s%s anew", is_at_leaf ? "to " : "",
                   is_at_leaf ? fab_audit_label(a, p->plug[member[0]].leaf) : "");
    for (uint32_t k = 0; k < x->n; k++) {
        const fab_network_end *at = fab_network_far(a->net, p->plug[member[(k + 1) % x->n]].side);
        fab_str_printf(out, "%s '%s' on %s%sport %s", k > 0 ? "," : ":", fab_audit_label(a, p->plug[member[k]].node),
                       is_at_leaf ? "" : fab_audit_label(a, at->node), is_at_leaf ? "" : ", ", fab_audit_port(at));
    }
    fab_str_printf(out, ".");
    return fab_str_status(out, err);
}

/* Three servers or more, of which the n ports of list x are exchanged: one finding. */
static fab_status tell_ring(const audit_plugs *p, const audit_ring *x, uint32_t n, bool is_whole, fab_error *err) {
    const uint32_t n_servers = p->a->shape->n_servers;
    FAB_OWNED uint32_t *instead = NULL;
    FAB_OWNED const char **name = NULL;
    FAB_OWNS(fab_str_release) fab_str work = FAB_STR_INIT;
    fab_finding f = {.confidence = x->confidence, .cables = n * x->n};
    FAB_PASS(FAB_NEW_ALL((size_t)n_servers + 1, err, instead, name));
    for (uint32_t i = 0; i < n * x->n; i++) {
        const audit_ring *y = &x[i / x->n];
        const audit_plug *plug = &p->plug[p->member[y->first + i % x->n]];
        const audit_plug *next = &p->plug[p->member[y->first + (i + 1) % x->n]];
        instead[plug->server] = next->server;
        name[plug->server] =
            n > 1 || is_whole ? p->a->shape->server_name[plug->server] : fab_audit_label(p->a, plug->node);
        f.line = i == 0 ? fab_network_far(p->a->net, plug->side)->line : f.line;
        f.damage_bps += plug->leaf != next->leaf ? p->a->net->cables[plug->side >> 1].rate_bps : 0;
    }
    FAB_PASS(is_whole ? FAB_OK : work_on(p, x, n, &work, err));
    f.work = work.data;
    return audit_report_ring(p->a, name, instead, x->server[0], &f, err);
}

/* Names at a leaf with several ports of each server, where no siblings say which of them were exchanged. */
static fab_status tell_disorder(const audit_plugs *p, const audit_ring *x, fab_error *err) {
    const audit_plug *one = &p->plug[p->member[x->first]];
    const audit_plug *two = &p->plug[p->member[x->first + 1]];
    fab_finding f = fab_audit_finding(p->a, FAB_FINDING_SWAPPED_HOSTS, fab_network_far(p->a->net, one->side),
                                      fab_network_far(p->a->net, two->side));
    f.confidence = x->confidence / 2;
    f.cables = 2;
    f.line = fab_network_far(p->a->net, one->side)->line;
    return fab_audit_tell(
        p->a, &f, err,
        "'%s' and '%s' are not in the order that names have elsewhere: their cables are exchanged, or "
        "others of this leaf" FAB_AUDIT_WORK "Look which adapters are at the ports of %s.",
        fab_audit_label(p->a, one->node), fab_audit_label(p->a, two->node), f.node);
}

/* Servers, of which n ports are exchanged: one finding. One that stands with others of its server is elsewhere with all
 * of them alone. */
static fab_status tell_exchanged(audit_plugs *p, const audit_ring *x, uint32_t n, fab_error *err) {
    const uint32_t *member = &p->member[x->first];
    uint32_t n_least = UINT32_MAX; /* ports of one of them */
    bool is_beside = false;
    bool is_open = false; /* which of its ports at the leaf */
    FAB_ANY(is_sure, k, n, x[k].is_sure);
    for (uint32_t k = 0; k < x->n; k++) {
        const uint32_t n_of = audit_n_ports(p, p->plug[member[k]].server);
        n_least = n_of < n_least ? n_of : n_least;
        const bool has_left = p->plug[member[k]].leaf != p->plug[member[(k + 1) % x->n]].leaf; /* its leaf */
        is_beside = is_beside || (has_left && is_with_its_server(p, member[k], n));
        is_open = is_open || (!is_sure && !has_left && is_with_its_server(p, member[k], p->have_ports ? 2 * n : n));
    }
    const bool is_told = n == n_least || audit_ring_is_at_leaf(p, x) || !is_beside || is_sure;
    for (uint32_t i = 0; i < n * x->n; i++) {
        audit_plug *plug = &p->plug[p->member[x[i / x->n].first + i % x->n]];
        plug->is_told = is_told;
        plug->is_left = !is_told;
    }
    for (uint32_t k = 0; n == n_least && n > 1 && k < x->n; k++) { /* those that one lacks as well */
        const uint32_t server = p->plug[member[k]].server;
        for (uint32_t i = p->first[server]; i < p->first[server + 1]; i++) {
            p->plug[i].is_told = true;
        }
    }
    return !is_told   ? FAB_OK
           : is_open  ? tell_disorder(p, x, err)
           : x->n > 2 ? tell_ring(p, x, n, n == n_least, err)
           : n > 1    ? audit_report_servers(p, x->server[0], x->server[1], x->confidence, err)
                      : audit_report_exchange(p->a, FAB_FINDING_SWAPPED_HOSTS, &p->plug[member[0]], &p->plug[member[1]],
                                              x->confidence, false, err);
}

fab_status audit_tell_rings(audit_plugs *p, bool at_leaves, fab_error *err) {
    FAB_EACH_RUN(uint32_t, i, next, p->n_rings, audit_same_servers(&p->ring[next], &p->ring[i])) {
        FAB_ANY_IN(is_sure, k, i, next, p->ring[k].is_sure);
        if (at_leaves || is_sure || !audit_ring_is_at_leaf(p, &p->ring[i])) {
            FAB_PASS(tell_exchanged(p, &p->ring[i], next - i, err));
        }
    }
    return FAB_OK;
}
