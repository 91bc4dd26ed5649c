/* Parts that no cable joins, and switches or cables whose loss alone would make such parts. */
#include "audit_internal.h"

#include "fab/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The graph of servers and switches: adapters of a server are one vertex. */
typedef struct cuts {
    uint32_t *vertex; /* [n_nodes]: its vertex, or FAB_SITE_NONE */
    uint32_t n_vertices;
    uint32_t *node;         /* [n_vertices]: one of its nodes */
    uint32_t *first, *side; /* [n_vertices + 1]: cable ends that leave it */
    uint32_t *order, *low;  /* of the depth-first search, from 1; 0: not met */
    uint32_t *hosts;        /* [n_vertices]: hosts in its subtree */
    uint32_t *cut;          /* [n_vertices]: hosts that its loss cuts off */
    uint32_t *parent_side;  /* [n_vertices]: cable end by which it was met */
    uint32_t *next, *stack;
} cuts;

static fab_status number(const auditor *a, cuts *c, fab_error *err) {
    fab_status status = FAB_OK;
    const fab_site *site = a->site;
    uint32_t *of_server = NULL;
    FAB_TRY(FAB_NEW(c->vertex, site->n_nodes, err));
    FAB_TRY(FAB_NEW(c->node, site->n_nodes, err));
    FAB_TRY(FAB_NEW(of_server, (size_t)a->shape->n_servers + 1, err));
    for (uint32_t v = 0; v < site->n_nodes; v++) {
        uint32_t server = a->shape->server[v];
        c->vertex[v] = FAB_SITE_NONE;
        if (site->nodes[v].kind == FAB_SITE_SERVICE) {
            continue;
        }
        if (server != FAB_SITE_NONE && of_server[server] != 0) {
            c->vertex[v] = of_server[server] - 1;
            continue;
        }
        c->node[c->n_vertices] = v;
        c->vertex[v] = c->n_vertices++;
        if (server != FAB_SITE_NONE) {
            of_server[server] = c->n_vertices;
        }
    }
done:
    free(of_server);
    return status;
}

static fab_status join(const auditor *a, cuts *c, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t n = 2 * a->site->n_cables;
    FAB_TRY(FAB_NEW(c->first, (size_t)c->n_vertices + 2, err));
    FAB_TRY(FAB_NEW(c->side, n, err));
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t e = 0; e < n; e++) {
            uint32_t v = c->vertex[fab_site_near(a->site, e)->node];
            uint32_t w = c->vertex[fab_site_far(a->site, e)->node];
            if (v == FAB_SITE_NONE || w == FAB_SITE_NONE || v == w) {
                continue;
            }
            if (pass == 0) {
                c->first[v + 2]++;
            } else {
                c->side[c->first[v + 1]++] = e;
            }
        }
        for (uint32_t v = 0; pass == 0 && v < c->n_vertices; v++) {
            c->first[v + 2] += c->first[v + 1];
        }
    }
done:
    return status;
}

static bool is_host(const auditor *a, const cuts *c, uint32_t vertex) {
    return fab_site_is_host(a->site, c->node[vertex]);
}

/* Articulation points [Hopcroft and Tarjan, 1973], by a stack of our own; *out_hosts: hosts of the part. */
static void search(const auditor *a, cuts *c, uint32_t root, uint32_t *clock, uint32_t *out_hosts) {
    uint32_t depth = 0;
    c->stack[depth++] = root;
    c->order[root] = c->low[root] = ++*clock;
    c->parent_side[root] = FAB_SITE_NONE;
    c->hosts[root] = is_host(a, c, root);
    while (depth > 0) {
        uint32_t v = c->stack[depth - 1];
        if (c->next[v] < c->first[v + 1]) {
            uint32_t side = c->side[c->next[v]++];
            uint32_t w = c->vertex[fab_site_far(a->site, side)->node];
            if (c->order[w] == 0) {
                c->order[w] = c->low[w] = ++*clock;
                c->parent_side[w] = side;
                c->hosts[w] = is_host(a, c, w);
                c->stack[depth++] = w;
            } else if (c->parent_side[v] == FAB_SITE_NONE || (side ^ 1U) != c->parent_side[v]) {
                c->low[v] = c->order[w] < c->low[v] ? c->order[w] : c->low[v];
            }
            continue;
        }
        depth--;
        if (depth > 0) {
            uint32_t up = c->stack[depth - 1];
            c->hosts[up] += c->hosts[v];
            c->low[up] = c->low[v] < c->low[up] ? c->low[v] : c->low[up];
            if (c->low[v] >= c->order[up] && up != root) {
                c->cut[up] += c->hosts[v];
            }
        }
    }
    *out_hosts = c->hosts[root];
}

static fab_status report_parts(auditor *a, const cuts *c, uint32_t root, uint32_t hosts, uint32_t all, fab_error *err) {
    fab_status status = FAB_OK;
    fab_finding f = {.kind = FAB_FINDING_UNREACHABLE,
                     .damage_bps = hosts * fab_audit_usual_rate(a, 1),
                     .node = fab_audit_label(a, c->node[root]),
                     .work = "Find the cables or switches that should join the two parts."};
    FAB_TRY(fab_audit_text(a, &f.text, err, "%u of %u hosts, this one among them, are joined to no other part",
                           (unsigned)hosts, (unsigned)all));
    FAB_TRY(fab_audit_add(a, &f, err));
done:
    return status;
}

/* Only where most of the switches of the tier are no single point themselves: a fabric may be built that way. */
static fab_status report_points(auditor *a, const cuts *c, fab_error *err) {
    fab_status status = FAB_OK;
    for (uint32_t tier = 1; tier <= a->shape->n_tiers; tier++) {
        uint32_t n = 0;
        uint32_t n_cut = 0;
        for (uint32_t v = 0; v < c->n_vertices; v++) {
            if (!is_host(a, c, v) && a->shape->tier[c->node[v]] == tier) {
                n++;
                n_cut += c->cut[v] > 0;
            }
        }
        for (uint32_t v = 0; v < c->n_vertices && 2 * n_cut < n; v++) {
            if (is_host(a, c, v) || a->shape->tier[c->node[v]] != tier || c->cut[v] == 0) {
                continue;
            }
            fab_finding f = {.kind = FAB_FINDING_SINGLE_POINT,
                             .damage_bps = c->cut[v] * fab_audit_usual_rate(a, 1),
                             .node = fab_audit_label(a, c->node[v]),
                             .work = "Give the hosts behind it, or the switches between, another way."};
            FAB_TRY(fab_audit_text(a, &f.text, err,
                                   "its failure alone cuts off %u host%s; most of its peers cut off none",
                                   (unsigned)c->cut[v], c->cut[v] > 1 ? "s" : ""));
            FAB_TRY(fab_audit_add(a, &f, err));
        }
    }
done:
    return status;
}

static fab_status look(auditor *a, cuts *c, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t clock = 0;
    uint32_t all = 0;
    uint32_t largest = 0;
    uint32_t largest_root = FAB_SITE_NONE;
    uint32_t *part = NULL; /* [root]: hosts */
    FAB_TRY(FAB_NEW(part, (size_t)c->n_vertices + 1, err));
    for (uint32_t v = 0; v < c->n_vertices; v++) { /* from hosts: what a root cuts off is not found */
        bool host = is_host(a, c, v);
        all += host;
        if (host && c->order[v] == 0) {
            search(a, c, v, &clock, &part[v]);
            if (part[v] > largest) {
                largest = part[v];
                largest_root = v;
            }
        }
    }
    uint32_t n_equal = 0; /* planes and rails of their own are parts by design */
    for (uint32_t v = 0; v < c->n_vertices; v++) {
        n_equal += part[v] == largest && largest > 0;
    }
    for (uint32_t v = 0; v < c->n_vertices && n_equal == 1; v++) {
        if (part[v] > 0 && v != largest_root) {
            FAB_TRY(report_parts(a, c, v, part[v], all, err));
        }
    }
    FAB_TRY(report_points(a, c, err));
done:
    free(part);
    return status;
}

fab_status fab_audit_cuts(auditor *a, fab_error *err) {
    fab_status status = FAB_OK;
    cuts c = {.n_vertices = 0};
    FAB_TRY(number(a, &c, err));
    FAB_TRY(join(a, &c, err));
    size_t n = (size_t)c.n_vertices + 1;
    FAB_TRY(FAB_NEW(c.order, n, err));
    FAB_TRY(FAB_NEW(c.low, n, err));
    FAB_TRY(FAB_NEW(c.hosts, n, err));
    FAB_TRY(FAB_NEW(c.cut, n, err));
    FAB_TRY(FAB_NEW(c.parent_side, n, err));
    FAB_TRY(FAB_NEW(c.next, n, err));
    FAB_TRY(FAB_NEW(c.stack, n, err));
    memcpy(c.next, c.first, c.n_vertices * sizeof *c.next);
    FAB_TRY(look(a, &c, err));
done:
    free(c.vertex);
    free(c.node);
    free(c.first);
    free(c.side);
    free(c.order);
    free(c.low);
    free(c.hosts);
    free(c.cut);
    free(c.parent_side);
    free(c.next);
    free(c.stack);
    return status;
}
