/* Parts that no cable joins, and switches or cables whose loss alone would make such parts. */
#include "audit_internal.h"

#include "fab/graph_parts.h"

/* The graph of servers and switches: adapters of a server are one vertex. */
typedef struct cuts {
    uint32_t *vertex; /* [n_nodes]: its vertex, or FAB_NETWORK_NONE */
    uint32_t n_vertices;
    uint32_t *node;    /* [n_vertices]: one of its nodes */
    uint32_t *is_host; /* [n_vertices]: 1, or 0 */
    uint32_t *root;    /* [n_vertices]: first host of its part; UINT32_MAX: it has none */
    uint32_t *cut;     /* [n_vertices]: hosts that its loss cuts off from that */
} cuts;
FAB_FREES(cuts_release, cuts, vertex, node, is_host, root, cut);

static fab_status audit_cuts_number(const auditor *a, cuts *c, fab_error *err) {
    const fab_network *net = a->net;
    FAB_PASS(FAB_NEW_ALL(net->n_nodes, err, c->vertex, c->node));
    FAB_OWNED_NEW(uint32_t, of_server, (size_t)a->shape->n_servers + 1, err);
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        uint32_t server = a->shape->server[v];
        c->vertex[v] = FAB_NETWORK_NONE;
        if (net->nodes[v].kind == FAB_NETWORK_SERVICE) {
            continue;
        }
        if (server != FAB_NETWORK_NONE && of_server[server] != 0) {
            c->vertex[v] = of_server[server] - 1;
            continue;
        }
        c->node[c->n_vertices] = v;
        c->vertex[v] = c->n_vertices++;
        if (server != FAB_NETWORK_NONE) {
            of_server[server] = c->n_vertices;
        }
    }
    return FAB_OK;
}

static fab_status find_cuts(const auditor *a, cuts *c, fab_error *err) {
    FAB_OWNS(fab_edges_release) fab_edges edges = {.n = 0};
    FAB_PASS(FAB_NEW_ALL(c->n_vertices, err, c->is_host, c->root, c->cut));
    FAB_FILL(c->is_host, c->n_vertices, fab_network_is_host(a->net, c->node[fab_at]));
    for (uint32_t i = 0; i < a->net->n_cables; i++) {
        uint32_t v = c->vertex[a->net->cables[i].end[0].node];
        uint32_t w = c->vertex[a->net->cables[i].end[1].node];
        FAB_PASS(v != FAB_NETWORK_NONE && w != FAB_NETWORK_NONE && v != w ? fab_edges_add(&edges, v, w, err) : FAB_OK);
    }
    return fab_graph_cuts(c->n_vertices, &edges, c->is_host, c->root, c->cut, err);
}

static fab_status report_parts(auditor *a, const cuts *c, uint32_t root, uint32_t hosts, uint32_t all, fab_error *err) {
    fab_finding f = fab_audit_boxes(a, FAB_FINDING_UNREACHABLE, c->node[root], FAB_NETWORK_NONE);
    f.cables = 0;
    f.damage_bps = hosts * a->usual_bps[1];
    return fab_audit_tell(a, &f, err,
                          "%u of %u hosts, this one among them, are joined to no other part" FAB_AUDIT_WORK
                          "Find the cables or switches that should join the two parts.",
                          hosts, all);
}

/* Whether a switch is the only way of one below it because cables of that one are missing: then that is told. */
static bool is_told(const auditor *a, uint32_t v) {
    const fab_shape *s = a->shape;
    for (uint32_t j = s->first[v]; j < s->first[v + 1]; j++) {
        uint32_t w = fab_network_far(a->net, s->side[j])->node;
        bool is_only = fab_audit_is_switch(a, w) && s->tier[w] < s->tier[v];
        for (uint32_t k = s->first[w]; is_only && k < s->first[w + 1]; k++) {
            uint32_t x = fab_network_far(a->net, s->side[k])->node;
            is_only = x == v || !fab_audit_is_switch(a, x) || s->tier[x] <= s->tier[w];
        }
        for (uint32_t i = 0; is_only && i < a->out->n_findings; i++) {
            const fab_finding *f = &a->out->findings[i];
            if (f->kind == FAB_FINDING_MISSING_CABLE && strcmp(f->node, fab_audit_label(a, w)) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Only where most of the switches of the tier are no single point themselves: a fabric may be built that way. */
static fab_status report_points(auditor *a, const cuts *c, fab_error *err) {
    for (uint32_t tier = 1; tier <= a->n_tiers; tier++) {
        const uint32_t *nodes = a->in_tier + a->tier_first[tier];
        uint32_t n = a->tier_first[tier + 1] - a->tier_first[tier];
        FAB_SUM(uint32_t, n_cut, i, n, c->cut[c->vertex[nodes[i]]] > 0);
        for (uint32_t i = 0; i < n && 2 * n_cut < n; i++) {
            uint32_t v = c->vertex[nodes[i]];
            if (c->cut[v] == 0 || is_told(a, nodes[i])) {
                continue;
            }
            fab_finding f = fab_audit_boxes(a, FAB_FINDING_SINGLE_POINT, c->node[v], FAB_NETWORK_NONE);
            f.confidence = fab_audit_confidence(n - n_cut, n);
            f.cables = 0;
            f.damage_bps = c->cut[v] * a->usual_bps[1];
            FAB_PASS(
                fab_audit_tell(a, &f, err,
                               "its failure alone cuts off %u host%s; most of its peers cut off none" FAB_AUDIT_WORK
                               "Give the hosts behind it, or the switches between, another way.",
                               c->cut[v], c->cut[v] > 1 ? "s" : ""));
        }
    }
    return FAB_OK;
}

static fab_status report(auditor *a, const cuts *c, fab_error *err) {
    uint32_t all = 0;
    uint32_t largest = 0;
    FAB_OWNED uint32_t *part = NULL; /* [root]: hosts */
    FAB_PASS(FAB_NEW(part, c->n_vertices, err));
    for (uint32_t v = 0; v < c->n_vertices; v++) {
        all += c->is_host[v];
        if (c->is_host[v] > 0) {
            uint32_t hosts = ++part[c->root[v]];
            largest = hosts > largest ? hosts : largest;
        }
    }
    uint32_t n_equal = 0; /* planes and rails of their own are parts by design */
    for (uint32_t v = 0; v < c->n_vertices; v++) {
        n_equal += part[v] == largest && largest > 0;
    }
    for (uint32_t v = 0; v < c->n_vertices && n_equal == 1; v++) {
        FAB_PASS(part[v] > 0 && part[v] < largest ? report_parts(a, c, v, part[v], all, err) : FAB_OK);
    }
    return report_points(a, c, err);
}

fab_status fab_audit_cuts(auditor *a, fab_error *err) {
    FAB_OWNS(cuts_release) cuts c = {.n_vertices = 0};
    FAB_PASS(audit_cuts_number(a, &c, err));
    FAB_PASS(find_cuts(a, &c, err));
    return report(a, &c, err);
}
