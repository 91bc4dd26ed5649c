#include "oracle_adaptive.h"
#include "fab/rng.h"
#include "oracle_network.h"

#include <stdlib.h>

typedef struct state {
    const fab_fabric *f;
    const uint8_t *is_dead;
    uint32_t base;  /* first switch */
    int **distance; /* [leaf switch][switch], made when asked for */
    double *load;
    uint64_t seed;
} state;

typedef struct traveller {
    fab_node_id at, to;
    uint32_t number;
    double rate;
    oracle_path *path;
} traveller;

/* Links from v to switches one nearer to `to`. */
static uint32_t ways_on(state *s, fab_node_id v, fab_node_id to, fab_link_id *out) {
    int **distance = &s->distance[to - s->base];
    if (*distance == NULL) {
        *distance = oracle_distances_alive(s->f, s->is_dead, to);
    }
    return oracle_next_hops_alive(s->f, s->is_dead, *distance, v, out);
}

/* In the engine's arithmetic, so that what it finds equal is equal here. */
static double filled(const state *s, const traveller *t, fab_link_id l) {
    return (s->load[l] + t->rate) * (1 / s->f->classes[s->f->cable_class[l / 2]].capacity_bps);
}

/* Largest utilisation along each path from v on; the least of these. */
static double best_rest(state *s, const traveller *t, fab_node_id v, double so_far) {
    if (v == t->to) {
        return so_far;
    }
    double best = 1e300;
    fab_link_id next[4096];
    uint32_t count = ways_on(s, v, t->to, next);
    for (uint32_t k = 0; k < count; k++) {
        fab_link_id l = next[k];
        double own = filled(s, t, l);
        double rest = best_rest(s, t, s->f->end[l ^ 1], own > so_far ? own : so_far);
        best = rest < best ? rest : best;
    }
    return best;
}

static void step(state *s, traveller *t, int downstream) {
    fab_link_id best = UINT32_MAX;
    double best_key[2] = {0, 0};
    uint64_t best_draw = 0;
    fab_link_id next[4096];
    uint32_t count = ways_on(s, t->at, t->to, next);
    for (uint32_t k = 0; k < count; k++) {
        fab_link_id l = next[k];
        double own = filled(s, t, l);
        double key = downstream ? best_rest(s, t, s->f->end[l ^ 1], own) : own;
        uint64_t draw = fab_draw(s->seed, t->number, l);
        if (best == UINT32_MAX || key < best_key[0] ||
            (key == best_key[0] && (own < best_key[1] || (own == best_key[1] && draw < best_draw)))) {
            best = l;
            best_key[0] = key;
            best_key[1] = own;
            best_draw = draw;
        }
    }
    s->load[best] += t->rate;
    t->path->link[t->path->n++] = best;
    t->at = s->f->end[best ^ 1];
}

/* Parts set out in this order: one after the other arrives, or all go hop by hop. */
static void run(state *s, traveller *travellers, const uint32_t *order, uint32_t n, int downstream) {
    uint32_t together = downstream ? 1 : n;
    for (uint32_t first = 0; first < n; first += together) {
        for (int moved = 1; moved;) {
            moved = 0;
            for (uint32_t i = first; i < n && i < first + together; i++) {
                traveller *t = &travellers[order[i]];
                if (t->at != t->to) {
                    step(s, t, downstream);
                    moved = 1;
                }
            }
        }
    }
}

/* The j-th NIC with a cable to a GPU, and that NIC's access link, upwards, in a plane. */
static fab_link_id way_up(const fab_fabric *f, uint32_t gpu, uint32_t j, uint32_t plane) {
    for (uint32_t l = 0; l < f->n_links; l++) {
        fab_node_id nic = f->end[l ^ 1];
        bool is_its = f->end[l] == gpu && nic >= f->first[FAB_NODE_NIC] && nic < f->first[FAB_NODE_DOMAIN];
        if (!is_its || j-- > 0) {
            continue;
        }
        for (uint32_t up = 0; up < f->n_links; up++) {
            fab_node_id leaf = f->end[up ^ 1];
            if (f->end[up] == nic && leaf >= f->first[FAB_NODE_SWITCH] &&
                f->switch_plane[leaf - f->first[FAB_NODE_SWITCH]] == plane) {
                return up;
            }
        }
    }
    abort();
}

/* Whether way (NIC j, plane) of a flow is left; fills where it begins and ends. */
static int is_left(state *s, uint32_t src, uint32_t dst, uint32_t j, uint32_t plane, fab_link_id *up,
                   fab_link_id *down) {
    fab_link_id next[4096];
    *up = way_up(s->f, src, j, plane);
    *down = way_up(s->f, dst, j, plane) ^ 1;
    fab_node_id from = s->f->end[*up ^ 1];
    fab_node_id to = s->f->end[*down];
    return (s->is_dead == NULL || (!s->is_dead[*up] && !s->is_dead[*down])) &&
           (from == to || ways_on(s, from, to, next) > 0);
}

/* By which way part k goes. */
static void choose_way(state *s, const fab_phase *phase, uint32_t i, uint32_t k, fab_link_id *up, fab_link_id *down) {
    uint32_t nics = (s->f->first[FAB_NODE_DOMAIN] - s->f->first[FAB_NODE_NIC]) / s->f->first[FAB_NODE_NIC];
    uint32_t planes = s->f->n_planes;
    uint32_t src = phase->src[i];
    uint32_t dst = phase->dst[i];
    uint64_t draw = fab_draw(s->seed, (uint64_t)src << 32 | dst, phase->ordinal != NULL ? phase->ordinal[i] : 0);
    uint32_t j = k % nics;
    uint32_t plane = (planes > 1 ? fab_scale32((uint32_t)(draw >> 32), planes) : 0) + k / nics % planes;
    uint32_t turn = k / (nics * planes); /* such parts before it */
    if (is_left(s, src, dst, j, plane % planes, up, down)) {
        return;
    }
    for (;;) {
        uint32_t before = turn;
        for (uint32_t step = 1; step < nics * planes; step++) {
            if (is_left(s, src, dst, (j + step / planes) % nics, (plane + step % planes) % planes, up, down) &&
                turn-- == 0) {
                return;
            }
        }
        if (turn == before) {
            abort(); /* it is cut off */
        }
    }
}

oracle_path *oracle_adaptive(const fab_fabric *f, const uint8_t *is_dead, const fab_phase *phase, const double *rate,
                             const oracle_adaptive_rule *rule, uint32_t *out_n) {
    uint32_t n_switches = f->n_nodes - f->first[FAB_NODE_SWITCH];
    size_t most = phase->n_flows * rule->parts;
    state s = {.f = f,
               .is_dead = is_dead,
               .base = f->first[FAB_NODE_SWITCH],
               .distance = calloc(n_switches, sizeof *s.distance),
               .load = calloc(f->n_links, sizeof *s.load),
               .seed = rule->seed};
    traveller *travellers = calloc(most + 1, sizeof *travellers);
    oracle_path *paths = calloc(most + 1, sizeof *paths);
    uint32_t *order = calloc(most + 1, sizeof *order);
    uint32_t n = 0;
    for (uint32_t i = 0; i < phase->n_flows; i++) {
        int inside = f->gpus_per_domain > 1 && phase->src[i] / f->gpus_per_domain == phase->dst[i] / f->gpus_per_domain;
        bool relays = f->forwards_in_domain;
        for (uint32_t part = 0; part < (inside ? 1 : rule->parts); part++) {
            fab_link_id up = inside || relays
                                 ? oracle_access_link(f, oracle_sending_nic(f, phase->src[i], phase->dst[i]))
                                 : FAB_NONE;
            fab_link_id down = inside ? up ^ 1 : relays ? oracle_access_link(f, phase->dst[i]) ^ 1 : FAB_NONE;
            if (up == FAB_NONE) {
                choose_way(&s, phase, i, part, &up, &down);
            }
            order[n] = n;
            paths[n].up = inside ? FAB_NONE : up;
            paths[n].down = inside ? FAB_NONE : down;
            travellers[n] = (traveller){.at = f->end[up ^ 1],
                                        .to = f->end[down],
                                        .number = n,
                                        .rate = rate[i] / rule->parts,
                                        .path = &paths[n]};
            n++;
        }
    }
    fab_rng rng = fab_rng_make(rule->seed, 0x616461);
    fab_rng_shuffle(&rng, order, n);
    run(&s, travellers, order, n, rule->downstream);
    for (uint32_t v = 0; v < n_switches; v++) {
        free(s.distance[v]);
    }
    free(s.distance);
    free(s.load);
    free(travellers);
    free(order);
    *out_n = n;
    return paths;
}
