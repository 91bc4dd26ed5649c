/* Ideal spray: what every link carries when each switch splits evenly over all its minimal next hops.
 *
 * Demands are gathered by destination leaf. For one leaf the amounts flow down the shortest-path DAG, farthest switches
 * first, so each link is visited once however many flows share it. */
#include "engines.h"
#include "fab/memory.h"
#include "legs.h"

#include <stdlib.h>

typedef struct demand {
    uint32_t src;  /* switch index */
    uint32_t leaf; /* destination column */
    double amount;
} demand;

typedef struct spray {
    const fab_fabric *f;
    const fab_next_hops *t;
    uint32_t base;
    double *load;
    double *held;    /* [switch]: amount waiting there */
    uint32_t *queue; /* switches by distance: a bucket per distance, linked */
    uint32_t *next;  /* [switch]: next of the same distance */
    size_t queue_capacity;
} spray;

/* Hops to the leaf, or FAB_NONE. Any next hop is one nearer. */
static uint32_t distance(const spray *s, uint32_t from, uint32_t leaf) {
    uint32_t hops = 0;
    uint32_t target = s->t->leaf_node[leaf] - s->base;
    while (from != target) {
        uint32_t count = 0;
        const fab_link_id *links = fab_next_hops_get(s->t, from, leaf, &count);
        if (count == 0) {
            return FAB_NONE;
        }
        from = fab_head(s->f, links[0]) - s->base;
        hops++;
    }
    return hops;
}

static fab_status hold(spray *s, uint32_t v, uint32_t hops, double amount, uint32_t *n_buckets, fab_error *err) {
    if (s->held[v] == 0) {
        fab_status status = FAB_GROW(s->queue, s->queue_capacity, (size_t)hops + 1, err);
        if (status != FAB_OK) {
            return status;
        }
        for (; *n_buckets <= hops; (*n_buckets)++) {
            s->queue[*n_buckets] = FAB_NONE;
        }
        s->next[v] = s->queue[hops];
        s->queue[hops] = v;
    }
    s->held[v] += amount;
    return FAB_OK;
}

static fab_status spray_leaf(spray *s, const demand *demands, size_t n, fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t leaf = demands[0].leaf;
    uint32_t n_buckets = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t hops = distance(s, demands[i].src, leaf);
        if (hops == FAB_NONE) {
            char a[32];
            char b[32];
            FAB_FAIL(err, FAB_EUNREACHABLE, NULL, "no route from %s to %s",
                     fab_node_name(s->f, s->base + demands[i].src, a), fab_node_name(s->f, s->t->leaf_node[leaf], b));
        }
        FAB_TRY(hold(s, demands[i].src, hops, demands[i].amount, &n_buckets, err));
    }
    for (uint32_t hops = n_buckets; hops-- > 1;) {
        for (uint32_t v = s->queue[hops]; v != FAB_NONE; v = s->next[v]) {
            uint32_t count = 0;
            const fab_link_id *links = fab_next_hops_get(s->t, v, leaf, &count);
            double share = s->held[v] / count;
            s->held[v] = 0;
            for (uint32_t i = 0; i < count; i++) {
                s->load[links[i]] += share;
                FAB_TRY(hold(s, fab_head(s->f, links[i]) - s->base, hops - 1, share, &n_buckets, err));
            }
        }
    }
    s->held[s->t->leaf_node[leaf] - s->base] = 0;
done:
    return status;
}

/* Loads of the legs, and what is left for the switches. */
static fab_status gather(const spray *s, const fab_ports *ports, const fab_phase *phase, const double *amount,
                         demand *out, size_t *out_n, fab_error *err) {
    size_t n = 0;
    for (uint32_t flow = 0; flow < phase->n_flows; flow++) {
        uint32_t combinations = ports->nics_per_gpu * ports->n_planes;
        for (uint32_t i = 0; i < combinations; i++) {
            fab_legs legs = {0};
            fab_status status = fab_legs_of(s->f, ports, phase->src[flow], phase->dst[flow], i % ports->nics_per_gpu,
                                            i / ports->nics_per_gpu, &legs, err);
            if (status != FAB_OK) {
                return status;
            }
            double part = legs.in_domain ? amount[flow] : amount[flow] / combinations;
            for (uint32_t k = 0; k < legs.n_head; k++) {
                s->load[legs.head[k]] += part;
            }
            for (uint32_t k = 0; k < legs.n_tail; k++) {
                s->load[legs.tail[k]] += part;
            }
            if (legs.in_domain) {
                break;
            }
            if (legs.src_leaf != legs.dst_leaf && part > 0) {
                out[n++] = (demand){legs.src_leaf - s->base, s->t->leaf_index[legs.dst_leaf - s->base], part};
            }
        }
    }
    *out_n = n;
    return FAB_OK;
}

fab_status fab_spray_load(const fab_fabric *fabric, const fab_next_hops *next_hops, const fab_phase *phase,
                          const double *amount, double *out_load, fab_error *err) {
    fab_status status = FAB_OK;
    spray s = {.f = fabric, .t = next_hops, .base = fabric->first[FAB_NODE_SWITCH], .load = out_load};
    fab_ports ports = {0};
    demand *demands = NULL;
    demand *sorted = NULL;
    size_t *first = NULL;
    size_t n = 0;
    for (uint32_t l = 0; l < fabric->n_links; l++) {
        out_load[l] = 0;
    }
    FAB_TRY(fab_ports_init(fabric, &ports, err));
    FAB_TRY(FAB_NEW(s.held, fab_n_switches(fabric), err));
    FAB_TRY(FAB_NEW(s.next, fab_n_switches(fabric), err));
    FAB_TRY(FAB_NEW(demands, (size_t)phase->n_flows * ports.nics_per_gpu * ports.n_planes, err));
    FAB_TRY(gather(&s, &ports, phase, amount, demands, &n, err));
    FAB_TRY(FAB_NEW(sorted, n, err));
    FAB_TRY(FAB_NEW(first, (size_t)next_hops->n_leaves + 2, err));
    for (size_t i = 0; i < n; i++) {
        first[demands[i].leaf + 2]++;
    }
    for (uint32_t leaf = 0; leaf < next_hops->n_leaves; leaf++) {
        first[leaf + 2] += first[leaf + 1];
    }
    for (size_t i = 0; i < n; i++) {
        sorted[first[demands[i].leaf + 1]++] = demands[i];
    }
    for (uint32_t leaf = 0; leaf < next_hops->n_leaves; leaf++) {
        if (first[leaf + 1] > first[leaf]) {
            FAB_TRY(spray_leaf(&s, sorted + first[leaf], first[leaf + 1] - first[leaf], err));
        }
    }
done:
    fab_ports_release(&ports);
    free(s.held);
    free(s.next);
    free(s.queue);
    free(demands);
    free(sorted);
    free(first);
    return status;
}
