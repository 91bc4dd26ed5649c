/* Groups of a dragonfly: switches that are nearly all joined to each other. Two of a group share most of their
 * neighbours, two of different groups hardly any. */
#include "audit_internal.h"

#define NONE       FAB_NETWORK_NONE
#define LEAST_SIZE 3
#define DENSE_PART 0.5 /* of the others of a group a switch is joined to */

typedef struct grouping {
    const auditor *a;
    uint32_t tier;
    uint32_t *of;            /* [n_nodes] */
    uint32_t *mark, *second; /* [n_nodes]: stamps of the switch that is looked at */
    uint32_t *list;          /* candidates of a group */
    uint32_t *size, *votes;  /* [groups] */
    uint32_t n_groups, stamp;
} grouping;
FAB_FREES(grouping_release, grouping, mark, second, list, size, votes);

static uint32_t peer_of(const grouping *g, uint32_t v, uint32_t k) {
    const fab_shape *s = g->a->shape;
    uint32_t w = fab_network_far(s->net, s->side[k])->node;
    return fab_audit_is_switch(g->a, w) && s->tier[w] == g->tier && w != v ? w : NONE;
}

/* Neighbours that w shares with the switch whose neighbours, and itself, are marked `stamp`. */
static uint32_t n_shared(grouping *g, uint32_t w, uint32_t stamp) {
    const fab_shape *s = g->a->shape;
    uint32_t n = g->mark[w] == stamp;
    g->stamp++;
    for (uint32_t k = s->first[w]; k < s->first[w + 1]; k++) {
        uint32_t x = peer_of(g, w, k);
        if (x != NONE && g->second[x] != g->stamp) {
            g->second[x] = g->stamp;
            n += g->mark[x] == stamp;
        }
    }
    return n;
}

/* Candidates for the group of a switch: itself, and neighbours without a group that share half of what the best does.
 */
static uint32_t list_candidates(grouping *g, uint32_t v) {
    const fab_shape *s = g->a->shape;
    uint32_t most = 0;
    uint32_t n = 0;
    g->mark[v] = v + 1;
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t w = peer_of(g, v, k);
        if (w != NONE) {
            g->mark[w] = v + 1;
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        g->list[n++] = v;
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t w = peer_of(g, v, k);
            uint32_t shared = w != NONE && (pass == 0 || g->of[w] == NONE) ? n_shared(g, w, v + 1) : 0;
            most = pass == 0 && shared > most ? shared : most;
            FAB_ALL(is_new, i, n, g->list[i] != w);
            if (pass == 1 && is_new && shared > 2 && 2 * shared >= most + 2) {
                g->list[n++] = w;
            }
        }
    }
    return n;
}

/* Neighbours of a switch within a group, each once. */
static uint32_t n_inside(grouping *g, uint32_t v, uint32_t group) {
    const fab_shape *s = g->a->shape;
    uint32_t n = 0;
    g->stamp++;
    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        uint32_t w = peer_of(g, v, k);
        if (w != NONE && g->second[w] != g->stamp) {
            g->second[w] = g->stamp;
            n += g->of[w] == group;
        }
    }
    return n;
}

static void make_group(grouping *g, uint32_t v) {
    uint32_t group = g->n_groups;
    uint32_t n = list_candidates(g, v);
    for (uint32_t i = 0; i < n; i++) {
        g->of[g->list[i]] = group;
    }
    for (bool again = true; again;) { /* who is joined to few of them leaves, until nobody does */
        again = false;
        for (uint32_t i = 1; i < n; i++) {
            if (n_inside(g, g->list[i], group) < DENSE_PART * (n - 1)) {
                g->of[g->list[i--]] = NONE;
                g->list[i + 1] = g->list[--n];
                again = true;
            }
        }
    }
    g->size[group] = n;
    g->n_groups += n >= LEAST_SIZE;
    if (n < LEAST_SIZE) {
        for (uint32_t i = 0; i < n; i++) {
            g->of[g->list[i]] = NONE;
        }
    }
}

/* To the group of which a switch is joined to the largest part. Returns whether it moves. */
static bool settle(grouping *g, uint32_t v) {
    const fab_shape *s = g->a->shape;
    uint32_t own = g->of[v];
    uint32_t best = own;
    double most = 0;
    g->stamp++;
    for (int pass = 0; pass < 3; pass++) { /* count, compare, clear */
        for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
            uint32_t w = peer_of(g, v, k);
            uint32_t group = w != NONE ? g->of[w] : NONE;
            double part = group != NONE ? g->votes[group] / (double)(g->size[group] - (group == own)) : 0;
            if (group != NONE && pass == 0 && g->second[w] != g->stamp) {
                g->second[w] = g->stamp;
                g->votes[group]++;
            } else if (group != NONE && pass == 1 && (part > most || (part == most && group == own))) {
                most = part;
                best = group;
            } else if (group != NONE && pass == 2) {
                g->votes[group] = 0;
            }
        }
    }
    best = most >= DENSE_PART ? best : NONE;
    if (own != NONE) {
        g->size[own]--;
    }
    if (best != NONE) {
        g->size[best]++;
    }
    g->of[v] = best;
    return best != own;
}

fab_status fab_audit_groups(const auditor *a, uint32_t tier, uint32_t *of, uint32_t *out_n, fab_error *err) {
    FAB_OWNS(grouping_release) grouping g = {.a = a, .tier = tier, .of = of};
    const uint32_t *nodes = a->in_tier + a->tier_first[tier];
    uint32_t n = a->tier_first[tier + 1] - a->tier_first[tier];
    uint32_t n_alone = 0;
    FAB_PASS(FAB_NEW_ALL((size_t)a->net->n_nodes + 1, err, g.mark, g.second, g.list));
    FAB_PASS(FAB_NEW_ALL((size_t)n + 1, err, g.size, g.votes));
    memset(of, 0xff, a->net->n_nodes * sizeof *of);
    for (uint32_t i = 0; i < n; i++) {
        if (of[nodes[i]] == NONE) {
            make_group(&g, nodes[i]);
        }
    }
    bool moves = true;
    for (int round = 0; round < 4 && moves; round++) {
        moves = false;
        for (uint32_t i = 0; i < n; i++) {
            moves |= settle(&g, nodes[i]);
        }
    }
    uint32_t n_left = 0;
    for (uint32_t k = 0; k < g.n_groups; k++) { /* numbers without those that all have left */
        g.votes[k] = n_left;
        n_left += g.size[k] > 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        n_alone += of[nodes[i]] == NONE;
        of[nodes[i]] = of[nodes[i]] != NONE ? g.votes[of[nodes[i]]] : NONE;
    }
    *out_n = n_left >= 3 && 10 * n_alone <= n ? n_left : 0;
    return FAB_OK;
}
