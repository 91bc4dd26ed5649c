/* A hash of more flows than are walked. Switches choose for the path of each queue pair of an all-to-all by itself and
 * evenly: a link carries B bytes on average, those of an even split, with a variance of V at most, the squares of the
 * bytes of paths by the part of each that an even split puts there. So the fullest of L such links carries about
 * B + g sqrt(V), g the mean of the largest of L normal deviates, and none more than Bernstein's bound, but once in a
 * thousand draws. B^2 / V is how many paths of equal bytes would spread as much. See
 * src/doc/adr/0111-hashes-of-many-flows.md. */
#include "measure_rates.h"

#define MOST_WALKED (UINT64_C(1) << 29) /* half a minute */
#define MOST_IN_JOB (UINT64_C(1) << 24) /* of groups, or unequal flows, of which walks have no ends either: seconds */
#define RARE        1e-3                /* that a link carries more than it is said to */
#define BYTE_BITS   8.0
#define ROOT_OF_TWO 1.4142135623730951

/* A hash of all fields whose tiers choose by other bits of it: it does not polarize. */
static bool hashes_evenly(const char *label) {
    static const char *const FAMILIES[] = {"ecmp,hash=crc32,qp=", "ecmp,hash=ideal,qp="};
    static const char OFFSETS[] = ",offset=0/8/16/24";
    bool is_plain = false;
    for (size_t i = 0; i < 2; i++) {
        const size_t n = strlen(FAMILIES[i]);
        if (strncmp(label, FAMILIES[i], n) == 0) {
            const char *rest = label + n + strspn(label + n, "0123456789");
            is_plain = strncmp(rest, OFFSETS, strlen(OFFSETS)) == 0;
            rest += is_plain ? strlen(OFFSETS) : 0;
            is_plain =
                is_plain && (*rest == '\0' || strncmp(rest, ",flows=", 7) == 0 || strncmp(rest, ",seed=", 6) == 0);
        }
    }
    return is_plain;
}

bool fab_is_estimated(const fab_router *router, const fab_phase *phase) {
    const char *label = fab_router_facts_of(router)->label;
    const bool is_asked = strstr(label, ",flows=estimated") != NULL;
    const uint64_t most = fab_all_is_plain(&phase->all) ? MOST_WALKED : MOST_IN_JOB;
    const bool is_much = phase->n_flows > most && strstr(label, ",flows=walked") == NULL;
    return phase->all.n > 0 && (is_much || is_asked) && hashes_evenly(label) && fab_router_dag(router, NULL) == NULL;
}

typedef struct spread {
    double largest, rare; /* of L links: g; ln (L / RARE) */
    double latest;        /* fab_latest_end() */
} spread;

/* So many of L links are above the mean of the largest of them: exp(-0.5772), where they are many (Gumbel). */
#define ABOVE_MEAN 0.5614594835668851

/* The mean of the largest of links that carry on average what they do: the number of deviations that none is above.
 * Links of less weigh less. `mean_s`: 0 on those that are none; `paths`: how many would spread as much. */
static double deviations_of(const double *mean_s, const double *paths, uint32_t n) {
    double low = 0;
    double high = 0;
    double deviations = INFINITY;
    for (uint32_t l = 0; l < n; l++) {
        low = fmax(low, mean_s[l]);
        high = mean_s[l] > 0 ? fmax(high, mean_s[l] * (1 + 9 / sqrt(paths[l]))) : high;
    }
    for (uint32_t step = 0; step < 40; step++) {
        const double middle = low + (high - low) / 2;
        double above = 0;
        for (uint32_t l = 0; l < n; l++) {
            const double z = mean_s[l] > 0 ? (middle / mean_s[l] - 1) * sqrt(paths[l]) : INFINITY;
            above += z < 9 ? 0.5 * erfc(z / ROOT_OF_TWO) : 0;
        }
        *(above > ABOVE_MEAN ? &low : &high) = middle;
    }
    for (uint32_t l = 0; l < n; l++) {
        deviations = mean_s[l] > 0 ? fmin(deviations, (low / mean_s[l] - 1) * sqrt(paths[l])) : deviations;
    }
    return isfinite(deviations) ? deviations : 0;
}

/* What the fullest link carries over what it carries on average. */
static double most_expected(const spread *s, double n) {
    return 1 + fmax(s->largest, 0) / sqrt(n);
}

/* `largest`: path, over what the link carries on average. */
static double most_possible(const spread *s, double n, double largest) {
    const double x = largest * s->rare / 3;
    return 1 + x + sqrt(x * x + 2 * s->rare / n);
}

/* The part of draws in which a link of that mean utilisation is offered more than it has. */
static double collided_part(double use, double n) {
    return 0.5 * erfc((1 / use - 1) * sqrt(n) / ROOT_OF_TWO);
}

/* What a link carries on average, and of how many and how large paths. */
typedef struct mean_load {
    double use, bytes, paths, largest;
} mean_load;

static void take_link(const fab_engine_run *run, const spread *s, uint32_t link, const mean_load *on,
                      fab_figures *out) {
    const double factor = fmax(most_expected(s, on->paths), on->largest);
    const double full_s = on->bytes * BYTE_BITS / fab_prepared_capacity(run->prepared, link);
    const double before_s = run->prepared->relay_s;
    out->max_collision = fmax(out->max_collision, on->use * factor);
    out->max_hash = fmax(out->max_hash, fab_hash_factor(on->use * factor, run->prepared->spray[link]));
    out->busiest_link_s = fmax(out->busiest_link_s, full_s * factor);
    if (run->rates) {
        const double most = fmax(most_possible(s, on->paths, on->largest), factor);
        out->transfer_s = fmax(out->transfer_s, before_s + full_s * factor);
        out->longest_s = fmax(out->longest_s, before_s + full_s * most * s->latest);
    }
}

/* Paths that take the same way, on average: of flows between the same NICs, which their GPUs share or relay through.
 * Each draws its plane by itself. */
static fab_status count_alike(const fab_prepared_phase *p, double *out, fab_error *err) {
    const uint32_t n_nics = fab_n_of(p->fabric, FAB_NODE_NIC);
    const uint32_t first = p->phase->all.first;
    const uint32_t last = first + p->phase->all.n - 1;
    double most[2] = {1, 1};
    FAB_OWNED_NEW(uint32_t, n, 2 * (size_t)n_nics,
                  err); /* [NIC] from it to the last GPU, then from the first GPU to it */
    for (uint32_t gpu = first; gpu <= last; gpu++) {
        uint32_t from = FAB_NONE;
        uint32_t to = FAB_NONE;
        uint32_t other = FAB_NONE;
        FAB_PASS(fab_flow_nics(p->fabric, p->ports, gpu, last, 0, &from, &other, err));
        FAB_PASS(fab_flow_nics(p->fabric, p->ports, first, gpu, 0, &other, &to, err));
        most[0] = from != FAB_NONE ? fmax(most[0], ++n[from]) : most[0];
        most[1] = to != FAB_NONE ? fmax(most[1], ++n[n_nics + to]) : most[1];
    }
    *out = 1 + (most[0] * most[1] - 1) / p->ports->n_planes;
    return FAB_OK;
}

/* Flows of a class meet a collided link with 1 - exp(-sum of hazards), over the paths of all their queue pairs. */
static fab_status count_collided(const fab_engine_run *run, const fab_dag *dag, const double *hazard, fab_figures *out,
                                 fab_error *err) {
    const fab_flow_classes *c = &run->prepared->classes;
    const double paths_per_part = (double)fab_router_facts_of(run->router)->paths_per_flow / c->n_parts;
    FAB_OWNED_NEW(double, sum, run->prepared->demand->n_pairs, err);
    FAB_PASS(fab_split_fold(dag, fab_split_even(), FAB_FOLD_EXPECTED, hazard, run->prepared->demand, sum, err));
    out->collided_flows = 0;
    for (size_t i = 0; i < c->n; i++) {
        double worst = 0;
        for (uint32_t p = 0; p < c->n_parts; p++) {
            uint32_t pair = c->pair[i * c->n_parts + p];
            worst += pair != FAB_NONE ? sum[pair] : 0;
        }
        out->collided_flows += (c->count != NULL ? (double)c->count[i] : 1) * -expm1(-worst * paths_per_part);
    }
    out->collided_flows = floor(out->collided_flows + 0.5);
    return FAB_OK;
}

/* A path takes one of the uplinks of a leaf, or of those down to it: where it takes this link with p, its bytes have a
 * variance of p (1 - p). Further up p is small. */
static fab_status take_few(const fab_prepared_phase *p, const double *bytes, double *variance, fab_error *err) {
    const fab_fabric *f = p->fabric;
    FAB_OWNED_NEW(double, sum, 2 * (size_t)fab_n_switches(f), err); /* [switch][way] */
    for (uint32_t pass = 0; pass < 2 && fab_is_tree(f); pass++) {
        for (uint32_t l = 0; l < f->n_links; l++) {
            const fab_link_class *k = fab_class_of(f, l);
            if (k->kind == FAB_LINK_FABRIC && k->tier == 2 && bytes[l] > 0) {
                double *of = &sum[2 * (fab_tail(f, l & ~1U) - f->first[FAB_NODE_SWITCH]) + (l & 1U)];
                *of += pass == 0 ? bytes[l] : 0;
                variance[l] *= pass == 0 ? 1 : fmax(1 - bytes[l] / *of / p->demand->n_parts, RARE);
            }
        }
    }
    return FAB_OK;
}

/* Variances of the bytes of links, of which `alike` paths go one way. */
static fab_status find_variances(const fab_engine_run *run, const fab_dag *dag, const double *bytes, double alike,
                                 double *out, fab_error *err) {
    const fab_prepared_phase *p = run->prepared;
    const double scale = alike / fab_router_facts_of(run->router)->paths_per_flow;
    if (p->phase->all.share != NULL) {
        FAB_PASS(fab_split_load(dag, fab_split_even(), p->demand, p->demand->squares, out, err));
    }
    FAB_FILL(out, p->fabric->n_links,
             scale * (p->phase->all.share != NULL ? out[fab_at] : bytes[fab_at] * (double)p->phase->all.bytes));
    return take_few(p, bytes, out, err);
}

fab_status fab_estimate_hash(const fab_engine_run *run, const fab_dag *dag, const double *use, const double *bytes,
                             fab_figures *out, fab_error *err) {
    const fab_prepared_phase *p = run->prepared;
    const fab_fabric *f = p->fabric;
    double links = 0;
    double alike = 0;
    double collided[2 * FAB_MAX_TIERS] = {0};
    bool is_even = true;
    const double largest = (double)fab_phase_largest(p->phase, &is_even);
    FAB_OWNED_NEW(double, hazard, f->n_links, err);
    FAB_OWNED_NEW(double, variance, f->n_links, err);
    FAB_OWNED_NEW(double, mean_s, f->n_links, err);
    FAB_PASS(count_alike(p, &alike, err));
    FAB_PASS(find_variances(run, dag, bytes, alike, variance, err));
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (fab_class_of(f, l)->kind == FAB_LINK_FABRIC && bytes[l] > 0) {
            links++;
            mean_s[l] = bytes[l] * BYTE_BITS / fab_prepared_capacity(p, l);
            hazard[l] = bytes[l] * bytes[l] / variance[l]; /* paths, for now */
        }
    }
    const spread s = {.largest = deviations_of(mean_s, hazard, f->n_links),
                      .rare = log(links / RARE),
                      .latest = fab_latest_end(p->phase)};
    out->shortest_s = out->transfer_s;
    out->longest_s = p->relay_s + (out->transfer_s - p->relay_s) * s.latest;
    out->collided_links = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        if (k->kind != FAB_LINK_FABRIC || bytes[l] <= 0) {
            continue;
        }
        const mean_load on = {.use = use[l],
                              .bytes = bytes[l],
                              .paths = bytes[l] * bytes[l] / variance[l],
                              .largest = largest * alike / fab_router_facts_of(run->router)->paths_per_flow / bytes[l]};
        const double part = collided_part(use[l], on.paths);
        const size_t tier = 2 * (k->tier - 1) + (fab_is_up(l) ? 0 : 1);
        take_link(run, &s, l, &on, out);
        hazard[l] = -log1p(-fmin(part, 1 - RARE));
        collided[tier] += part;
        out->collided_links += part;
        if (run->detail != NULL) {
            fab_tier_load *row = &run->detail->tiers[tier];
            row->max_utilisation = fmax(row->max_utilisation, use[l] * fmax(most_expected(&s, on.paths), on.largest));
        }
    }
    out->collided_links = floor(out->collided_links + 0.5);
    out->max_utilisation = fmax(out->max_utilisation, out->max_collision);
    out->throughput = 1 / out->max_utilisation;
    if (is_even && out->transfer_s > p->relay_s) {
        out->min_rate = largest * BYTE_BITS / (out->transfer_s - p->relay_s);
    }
    FAB_PASS(count_collided(run, dag, hazard, out, err));
    FAB_PASS(fab_sample_bound(run, true, out, err));
    if (run->detail != NULL) { /* which links are full is not known */
        run->detail->n_hot = 0;
        for (size_t i = 0; i < run->detail->n_tiers; i++) {
            run->detail->tiers[i].collided = (uint64_t)(collided[i] + 0.5);
        }
    }
    return FAB_OK;
}
