/* updn: up/down routing over ranks from the roots, for any wiring [Schroeder et al., Autonet, 1991].
 *
 * Every cable has an upper end: the switch of smaller rank, of equal ranks the one that comes first. Ranks are tiers
 * from the top in a tree, else distances from the root: the switch with the most cables, of each connected part. A
 * route climbs, then descends, and never climbs again, so that channels cannot wait for each other in a circle.
 *
 * Tables know the destination but not where a packet came from. So a switch that can descend to the destination does,
 * by a shortest descent; only the others climb, towards the nearest such switch counted to the end of the route. Of
 * equally short ways the destination's number takes one, by the digit that D-mod-K would use. */
#include "engines.h"
#include "tables/forwarding.h"
#include "next_hops/leaf_sets.h"

#define FAR (UINT32_MAX / 2)

typedef struct search {
    const fab_router *router;
    const fab_fabric *f;
    uint32_t base, n;    /* switches */
    uint32_t *rank;      /* [switch] */
    uint32_t *order;     /* switches, upper ones first */
    uint32_t *queue;     /* of a breadth-first search */
    uint32_t *down;      /* [switch]: cables of the shortest descent to the leaf at hand, or FAR */
    uint32_t *cost;      /* [switch]: cables of the route to it, or FAR */
    fab_link_id *choice; /* equally good links of a switch */
    fab_forwarding *tables;
} search;

/* True for a link between switches, dead or alive, whose head is then stored. Ranks are of the fabric as it was built:
 * what is above what does not change while links die. */
static bool built(const search *s, fab_link_id link, uint32_t *out) {
    if (fab_class_of(s->f, link)->kind != FAB_LINK_FABRIC) {
        return false;
    }
    *out = fab_head(s->f, link) - s->base;
    return true;
}

/* The same of those alive. */
static bool neighbour(const search *s, fab_link_id link, uint32_t *out) {
    return !fab_link_is_dead(s->router->next_hops->dead_link, link) && built(s, link, out);
}

static bool is_above(const search *s, uint32_t a, uint32_t b) {
    uint32_t rank = s->rank[a];
    return rank != s->rank[b] ? rank < s->rank[b] : a < b;
}

static uint32_t cables_of(const search *s, uint32_t v) {
    uint32_t n = 0;
    uint32_t u = 0;
    FAB_EACH_LINK(s->f, s->base + v, link) {
        n += built(s, link, &u);
    }
    return n;
}

/* Numbers what the root reaches by its distance. */
static void rank_part(search *s, uint32_t root) {
    uint32_t n = 0;
    s->rank[root] = 0;
    s->queue[n++] = root;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = s->queue[i];
        FAB_EACH_LINK(s->f, s->base + v, link) {
            uint32_t u = 0;
            if (built(s, link, &u) && s->rank[u] == FAR) {
                s->rank[u] = s->rank[v] + 1;
                s->queue[n++] = u;
            }
        }
    }
}

typedef struct candidate {
    uint32_t cables, node;
} candidate;

FAB_ORDER_KEYS(by_cables, candidate, FAB_ORDER(b->cables, a->cables), FAB_ORDER(a->node, b->node));

static fab_status rank_switches(search *s, fab_error *err) {
    FAB_OWNED candidate *roots = NULL;
    uint32_t n = 0;
    if (fab_is_tree(s->f)) {
        FAB_FILL(s->rank, s->n, s->f->n_tiers - fab_tier_of(s->f, s->base + (uint32_t)fab_at));
    } else {
        FAB_PASS(FAB_NEW(roots, s->n, err));
        for (uint32_t v = 0; v < s->n; v++) {
            s->rank[v] = FAR;
            roots[v] = (candidate){cables_of(s, v), v};
        }
        qsort(roots, s->n, sizeof *roots, by_cables);
        for (uint32_t i = 0; i < s->n; i++) {
            if (s->rank[roots[i].node] == FAR) {
                rank_part(s, roots[i].node);
            }
        }
    }
    for (uint32_t rank = 0; n < s->n; rank++) {
        FAB_KEEP(s->order, n, v, s->n, s->rank[v] == rank, v);
    }
    return FAB_OK;
}

/* Lengths of all routes to a leaf. */
static void updn_measure(const search *s, uint32_t leaf) {
    const fab_fabric *f = s->f;
    uint32_t n = 0;
    FAB_FILL(s->down, s->n, FAR);
    s->down[leaf] = 0;
    s->queue[n++] = leaf;
    for (uint32_t i = 0; i < n; i++) { /* what lies above is what can descend */
        uint32_t v = s->queue[i];
        uint32_t own = 0;
        FAB_EACH_LINK(f, s->base + v, link) {
            uint32_t u = 0;
            if (neighbour(s, link ^ 1U, &own) && built(s, link, &u) && is_above(s, u, v) && s->down[u] == FAR) {
                s->down[u] = s->down[v] + 1;
                s->queue[n++] = u;
            }
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t v = s->order[i];
        s->cost[v] = s->down[v];
        for (uint32_t k = f->out_first[s->base + v]; s->down[v] == FAR && k < f->out_first[s->base + v + 1]; k++) {
            uint32_t u = 0;
            if (neighbour(s, f->out_link[k], &u) && is_above(s, u, v) && s->cost[u] + 1 < s->cost[v]) {
                s->cost[v] = s->cost[u] + 1;
            }
        }
    }
}

/* Links of v that a shortest route may take, by port. */
static uint32_t collect(const search *s, uint32_t v) {
    const fab_fabric *f = s->f;
    bool descends = s->down[v] != FAR;
    uint32_t n = 0;
    for (uint32_t k = f->out_first[s->base + v]; s->cost[v] != FAR && k < f->out_first[s->base + v + 1]; k++) {
        uint32_t u = 0;
        if (neighbour(s, f->out_link[k], &u) && is_above(s, u, v) != descends &&
            (descends ? s->down[u] : s->cost[u]) + 1 == s->cost[v]) {
            s->choice[n++] = f->out_link[k];
        }
    }
    return n;
}

static void updn_fill(const search *s, uint32_t leaf) {
    const fab_fabric *f = s->f;
    fab_node_id to = s->router->next_hops->leaf_node[leaf];
    updn_measure(s, to - s->base);
    for (uint32_t v = 0; v < s->n; v++) {
        uint32_t n = v + s->base != to ? collect(s, v) : 0;
        uint64_t divisor = s->router->divisor[fab_tier_of(f, s->base + v)];
        for (uint32_t k = f->out_first[to]; n > 0 && k < f->out_first[to + 1]; k++) {
            if (fab_class_of(f, f->out_link[k])->kind == FAB_LINK_ACCESS) {
                uint32_t destination = leaf * s->router->port_stride + f->port[f->out_link[k]] - 1;
                fab_forwarding_set(f, s->tables, destination, s->choice[destination / divisor % n]);
            }
        }
    }
}

static fab_status updn_prepare(fab_router *router, fab_error *err) {
    const fab_fabric *f = router->fabric;
    search s = {
        .router = router, .f = f, .base = f->first[FAB_NODE_SWITCH], .n = fab_n_switches(f), .tables = router->state};
    FAB_OWNS_MEMBERS(s.rank, s.order, s.queue, s.down, s.cost, s.choice);
    FAB_PASS(FAB_NEW_ALL(s.n, err, s.rank, s.order, s.queue, s.down, s.cost));
    FAB_PASS(FAB_NEW(s.choice, fab_switch_degree(f), err));
    FAB_PASS(fab_forwarding_init(router, s.tables, err));
    FAB_PASS(rank_switches(&s, err));
    for (uint32_t leaf = 0; leaf < router->next_hops->n_leaves; leaf++) {
        updn_fill(&s, leaf);
    }
    return FAB_OK;
}

static void updn_release(fab_router *router) {
    fab_forwarding *tables = router->state;
    fab_forwarding_release(tables);
}

static fab_link_id updn_next(const fab_router *router, fab_node_id v, const fab_hop_key *key) {
    return fab_forwarding_get(router->fabric, router->state, v, key->destination);
}

static const fab_engine_option OPTIONS[] = {{.key = NULL}};

const fab_engine fab_engine_updn = {
    .name = "updn",
    .summary = "climbs towards a root, then descends: free of deadlock on any wiring",
    .options = OPTIONS,
    .on_loss = FAB_LOSS_RECONVERGE,
    .by_destination = true,
    .state_size = sizeof(fab_forwarding),
    .prepare = updn_prepare,
    .release = updn_release,
    .next = updn_next,
    .explain = fab_forwarding_explain,
};
