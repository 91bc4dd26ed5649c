/* Adapters of hosts: whether each is there, and on its rail. */
#include "audit_internal.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <stdlib.h>
#include <string.h>

#define NEARLY 0.75 /* part of the servers that makes a rule */

typedef struct plug {
    uint32_t server, slot, node, side; /* side: the adapter's cable end towards its leaf */
} plug;

typedef struct rails {
    plug *plugs; /* by server and slot */
    uint32_t n;
    uint32_t *first; /* [n_servers + 1] */
} rails;

static int by_server(const void *x, const void *y) {
    const plug *a = x;
    const plug *b = y;
    FAB_ORDER_BY(a->server, b->server);
    return a->slot != b->slot ? (a->slot < b->slot ? -1 : 1) : FAB_ORDER(a->side, b->side);
}

static fab_status audit_rails_gather(const auditor *a, rails *r, fab_error *err) {
    const fab_shape *s = a->shape;
    FAB_PASS(FAB_NEW(r->plugs, 2 * (size_t)a->net->n_cables, err));
    FAB_PASS(FAB_NEW(r->first, (size_t)s->n_servers + 1, err));
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        for (uint32_t k = s->first[v]; s->server[v] != FAB_NETWORK_NONE && k < s->first[v + 1]; k++) {
            if (s->tier[fab_network_far(a->net, s->side[k])->node] == 1) {
                r->plugs[r->n++] = (plug){s->server[v], s->slot[v], v, s->side[k]};
            }
        }
    }
    qsort(r->plugs, r->n, sizeof *r->plugs, by_server);
    for (uint32_t i = 0; i < r->n; i++) {
        r->first[r->plugs[i].server + 1]++;
    }
    for (uint32_t i = 0; i < s->n_servers; i++) {
        r->first[i + 1] += r->first[i];
    }
    return FAB_OK;
}

static uint32_t audit_rails_leaf_of(const auditor *a, const plug *p) {
    return fab_network_far(a->net, p->side)->node;
}

static uint32_t audit_rails_rail_of(const auditor *a, const plug *p) {
    return a->shape->rail[audit_rails_leaf_of(a, p)];
}

static bool is_astray(const auditor *a, const plug *p) {
    return p->slot != FAB_NETWORK_NONE && audit_rails_rail_of(a, p) != FAB_NETWORK_NONE &&
           audit_rails_rail_of(a, p) != p->slot;
}

static fab_status report_swap(auditor *a, const plug *p, const plug *q, fab_error *err) {
    const fab_network_cable *c = &a->net->cables[p->side >> 1];
    const fab_network_end *one = fab_network_far(a->net, p->side);
    const fab_network_end *two = fab_network_far(a->net, q->side);
    fab_finding f = fab_audit_finding(a, FAB_FINDING_SWAPPED_RAILS, one, two);
    f.damage_bps = 2 * c->rate_bps;
    f.cables = 2;
    f.line = one->line;
    FAB_PASS(fab_audit_text(a, &f.text, err, "'%s' and '%s' are on each other's rail", fab_audit_label(a, p->node),
                            fab_audit_label(a, q->node)));
    FAB_PASS(fab_audit_text(a, &f.work, err, "Exchange the two cables at the leaves: '%s' belongs on %s%s%s.",
                            fab_audit_label(a, p->node), f.other, f.other_port[0] != '\0' ? ", port " : "",
                            f.other_port));
    return fab_audit_add(a, &f, err);
}

static fab_status report_astray(auditor *a, const plug *p, fab_error *err) {
    const fab_network_end *end = fab_network_far(a->net, p->side);
    fab_finding f = fab_audit_finding(a, FAB_FINDING_WRONG_RAIL, fab_network_near(a->net, p->side), end);
    f.damage_bps = a->net->cables[p->side >> 1].rate_bps;
    f.line = end->line;
    f.work = "Move the cable to the leaf of its rail.";
    FAB_PASS(fab_audit_text(a, &f.text, err, "this adapter is number %u of its host, on a leaf of number %u",
                            (unsigned)p->slot, (unsigned)audit_rails_rail_of(a, p)));
    return fab_audit_add(a, &f, err);
}

#define MOST_ADAPTERS 64

/* For each adapter of a server the one that it crosses with, or FAB_NETWORK_NONE. */
static void find_swaps(const auditor *a, const plug *plugs, uint32_t n, uint32_t *out_other) {
    for (uint32_t i = 0; i < n; i++) {
        out_other[i] = FAB_NETWORK_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = i + 1; out_other[i] == FAB_NETWORK_NONE && k < n; k++) {
            bool cross = is_astray(a, &plugs[i]) && is_astray(a, &plugs[k]) &&
                         audit_rails_rail_of(a, &plugs[i]) == plugs[k].slot &&
                         audit_rails_rail_of(a, &plugs[k]) == plugs[i].slot;
            if (cross && out_other[k] == FAB_NETWORK_NONE) {
                out_other[i] = k;
                out_other[k] = i;
            }
        }
    }
}

/* A host most of whose adapters are on other rails was never meant to follow them: one for management, say. */
static bool follows_rails(const auditor *a, const plug *plugs, uint32_t n, const uint32_t *other) {
    uint32_t right = 0;
    for (uint32_t i = 0; i < n; i++) {
        right += !is_astray(a, &plugs[i]) || other[i] != FAB_NETWORK_NONE;
    }
    return 2 * right >= n;
}

/* Pairs that cross are one finding. */
static fab_status look_at_server(auditor *a, const plug *plugs, uint32_t n, const uint32_t *other, fab_error *err) {
    for (uint32_t i = 0; i < n; i++) {
        if (other[i] != FAB_NETWORK_NONE && other[i] > i) {
            FAB_PASS(report_swap(a, &plugs[i], &plugs[other[i]], err));
        } else if (other[i] == FAB_NETWORK_NONE && is_astray(a, &plugs[i])) {
            FAB_PASS(report_astray(a, &plugs[i], err));
        }
    }
    return FAB_OK;
}

/* --- adapters that are not there ---------------------------------------------------------------------------------- */

/* Servers that share a leaf with this one and have an adapter in this slot, of all that do. */
static bool peers_have(const auditor *a, const rails *r, uint32_t server, uint32_t slot) {
    uint32_t n_peers = 0;
    uint32_t n_with = 0;
    for (uint32_t i = r->first[server]; i < r->first[server + 1]; i++) {
        uint32_t leaf = audit_rails_leaf_of(a, &r->plugs[i]);
        for (uint32_t k = a->shape->first[leaf]; k < a->shape->first[leaf + 1]; k++) {
            uint32_t peer = a->shape->server[fab_network_far(a->net, a->shape->side[k])->node];
            if (peer == FAB_NETWORK_NONE || peer == server) {
                continue;
            }
            bool has = false;
            for (uint32_t j = r->first[peer]; j < r->first[peer + 1]; j++) {
                has = has || r->plugs[j].slot == slot;
            }
            n_peers++;
            n_with += has;
        }
    }
    return n_peers > 1 && n_with >= NEARLY * n_peers;
}

/* An adapter that gives no host, on a leaf of this rail, at the port where this server's others are. */
static bool has_nameless(const auditor *a, const rails *r, uint32_t server, uint32_t slot) {
    for (uint32_t v = 0; v < a->net->n_nodes; v++) {
        if (a->shape->tier[v] != 1 || a->shape->rail[v] != slot) {
            continue;
        }
        for (uint32_t k = a->shape->first[v]; k < a->shape->first[v + 1]; k++) {
            uint32_t node = fab_network_far(a->net, a->shape->side[k])->node;
            const char *port = fab_network_near(a->net, a->shape->side[k])->port;
            if (!fab_network_is_host(a->net, node) || a->shape->server[node] != FAB_NETWORK_NONE || port == NULL) {
                continue;
            }
            for (uint32_t i = r->first[server]; i < r->first[server + 1]; i++) {
                const char *own = fab_network_far(a->net, r->plugs[i].side)->port;
                if (own != NULL && strcmp(own, port) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

static fab_status look_for_missing(auditor *a, const rails *r, uint32_t server, uint32_t n_slots, double rate_bps,
                                   fab_error *err) {
    for (uint32_t slot = 0; slot < n_slots; slot++) {
        bool has = false;
        for (uint32_t i = r->first[server]; i < r->first[server + 1]; i++) {
            has = has || r->plugs[i].slot == slot;
        }
        if (has || !peers_have(a, r, server, slot) || has_nameless(a, r, server, slot)) {
            continue;
        }
        fab_finding f = {.kind = FAB_FINDING_MISSING_PORT,
                         .damage_bps = rate_bps,
                         .cables = 1,
                         .node = a->shape->server_name[server]};
        FAB_PASS(fab_audit_text(a, &f.text, err, "its adapter of rail %u is not in the network; those of its peers are",
                                (unsigned)slot));
        FAB_PASS(fab_audit_text(a, &f.work, err, "Look for adapter %u (HCA-%u, mlx5_%u) of %s and its cable.",
                                (unsigned)slot, (unsigned)slot + 1, (unsigned)slot, f.node));
        FAB_PASS(fab_audit_add(a, &f, err));
    }
    return FAB_OK;
}

fab_status fab_audit_rails(auditor *a, fab_error *err) {
    fab_status status = FAB_OK;
    rails r = {.n = 0};
    uint32_t n_slots = 0;
    double rate_bps = a->usual_bps[1];
    FAB_TRY(audit_rails_gather(a, &r, err));
    for (uint32_t i = 0; i < r.n; i++) {
        n_slots = r.plugs[i].slot != FAB_NETWORK_NONE && r.plugs[i].slot + 1 > n_slots ? r.plugs[i].slot + 1 : n_slots;
    }
    for (uint32_t server = 0; server < a->shape->n_servers; server++) {
        const plug *plugs = &r.plugs[r.first[server]];
        uint32_t n = r.first[server + 1] - r.first[server];
        uint32_t other[MOST_ADAPTERS];
        if (!a->shape->has_rails || n > MOST_ADAPTERS) {
            continue;
        }
        find_swaps(a, plugs, n, other);
        if (follows_rails(a, plugs, n, other)) {
            FAB_TRY(look_at_server(a, plugs, n, other, err));
            FAB_TRY(look_for_missing(a, &r, server, n_slots, rate_bps, err));
        }
    }
    for (uint32_t c = 0; c < a->net->n_cables; c++) {
        a->out->boundary[0].present += fab_audit_boundary_of(a, c) == 1;
    }
    a->out->boundary[0].planned = a->out->boundary[0].present;
    for (uint32_t i = 0; i < a->out->n_findings; i++) {
        a->out->boundary[0].planned += a->out->findings[i].kind == FAB_FINDING_MISSING_PORT;
    }
done:
    FAB_FREE_ALL(r.plugs, r.first);
    return status;
}
