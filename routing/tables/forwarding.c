#include "forwarding.h"

fab_status fab_forwarding_init(const fab_router *router, fab_forwarding *out, fab_error *err) {
    fab_forwarding t = {.n_destinations = router->next_hops->n_leaves * router->port_stride};
    FAB_PASS(FAB_NEW(t.entry, (size_t)fab_n_switches(router->fabric) * t.n_destinations, err));
    *out = t;
    return FAB_OK;
}

FAB_RELEASES(fab_forwarding_release, fab_forwarding, entry, unreached);

/* Place of the first link of v whose port is not below `port`. */
static uint32_t lower_bound(const fab_fabric *f, fab_node_id v, uint32_t port) {
    uint32_t low = f->out_first[v];
    uint32_t high = f->out_first[v + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->port[f->out_link[middle]] < port) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

fab_link_id fab_link_at_port(const fab_fabric *f, fab_node_id v, uint32_t port) {
    uint32_t at = lower_bound(f, v, port);
    return at < f->out_first[v + 1] && f->port[f->out_link[at]] == port ? f->out_link[at] : FAB_NONE;
}

void fab_forwarding_set(const fab_fabric *f, fab_forwarding *t, uint32_t destination, fab_link_id link) {
    fab_node_id v = fab_tail(f, link);
    uint32_t place = lower_bound(f, v, f->port[link]) - f->out_first[v];
    t->entry[(size_t)(v - f->first[FAB_NODE_SWITCH]) * t->n_destinations + destination] = (uint16_t)(place + 1);
}

static void spell_loop(const fab_router *router, const fab_forwarding *t, fab_loop *loop) {
    const fab_fabric *f = router->fabric;
    char a[FAB_NODE_NAME_SIZE];
    uint32_t shown = 0;
    fab_node_id at = loop->v;
    FAB_FORMAT(loop->text, "packets at %s for port %u of %s run in a circle: %s", fab_node_name(f, at, a),
               loop->destination % router->port_stride + 1,
               FAB_SAY_NODE(f, router->next_hops->leaf_node[loop->destination / router->port_stride]), a);
    do {
        at = fab_head(f, fab_forwarding_get(f, t, at, loop->destination));
        fab_append(loop->text, sizeof loop->text, " > %s", fab_node_name(f, at, a));
    } while (at != loop->v && ++shown < 8);
    if (at != loop->v) {
        fab_append(loop->text, sizeof loop->text, " > ...");
    }
}

fab_status fab_forwarding_find_loop(const fab_router *router, const fab_forwarding *t, fab_loop *out, fab_error *err) {
    const fab_fabric *f = router->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    uint32_t *mark = NULL;
    FAB_PASS(FAB_NEW(mark, n, err));
    out->text[0] = '\0';
    for (uint32_t d = 0; d < t->n_destinations && out->text[0] == '\0'; d++) {
        fab_node_id leaf = router->next_hops->leaf_node[d / router->port_stride];
        memset(mark, 0, n * sizeof *mark); /* 1 + the switch from which it was reached first */
        for (uint32_t from = 0; from < n && out->text[0] == '\0'; from++) {
            fab_node_id v = base + from;
            while (v != leaf && mark[v - base] == 0) {
                mark[v - base] = from + 1;
                fab_link_id link = fab_forwarding_get(f, t, v, d);
                if (link == FAB_NONE) {
                    break;
                }
                v = fab_head(f, link);
            }
            if (v != leaf && mark[v - base] == from + 1 && fab_forwarding_get(f, t, v, d) != FAB_NONE) {
                out->v = v;
                out->destination = d;
                spell_loop(router, t, out);
            }
        }
    }
    free(mark);
    return FAB_OK;
}

uint64_t fab_forwarding_explain(const fab_router *router, FAB_UNUSED uint64_t seed, const fab_hop *hop,
                                const fab_hop_key *key, char *out, size_t size) {
    (void)snprintf(out, size, "table entry for destination %u, port %u of %s", key->destination,
                   key->destination % router->port_stride + 1,
                   FAB_SAY_NODE(router->fabric, router->next_hops->leaf_node[hop->leaf]));
    return key->destination;
}
