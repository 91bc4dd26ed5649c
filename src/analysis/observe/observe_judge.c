/* Deviations of links and hosts, how far they spread without a fault, and the imbalance that hashing draws. */
#include "observe_internal.h"

#define NORMAL_MAD  1.4826 /* median of absolute values to a standard deviation */
#define TAIL        0.90   /* quantile of absolute values that is looked at too, ... */
#define NORMAL_TAIL 1.6449 /* ... in standard deviations; ... */
#define FEW_TAIL    0.75   /* ... and of few numbers, of which a fault may move a larger part */
#define NORMAL_FEW  1.1503
#define MANY        200
#define TAILS       1.25 /* what noise may be heavier than normal in its tails */
#define FEW_PEERS   8    /* fewer have no spread of their own */

double observe_median(double *numbers, size_t n) {
    double out = NAN;
    const double half = 0.5;
    if (n > 0) {
        fab_quantiles(numbers, n, false, &half, 1, &out);
    }
    return out;
}

double observe_spread(double *numbers, size_t n) {
    const double at[] = {0.5, n < MANY ? FEW_TAIL : TAIL};
    double found[2] = {0, 0};
    FAB_FILL(numbers, n, fabs(numbers[fab_at]));
    if (n == 0) {
        return NAN;
    }
    fab_quantiles(numbers, n, false, at, 2, found);
    return fmax(NORMAL_MAD * found[0], n >= FEW_PEERS ? found[1] / (n < MANY ? NORMAL_FEW : NORMAL_TAIL) : 0);
}

double observe_sure(uint64_t n) {
    return TAILS * sqrt(2 * log((double)n / FAB_OBSERVE_ALPHA));
}

/* A link whose load is known to be that of the job. */
static bool is_judged(const observation *o, fab_link_id l) {
    return fab_is_network(fab_class_of(o->fabric, l)) && o->predicted[l] > 0 && o->measured[l] >= 0 &&
           (o->out->fits || observe_is_access(o->fabric, l));
}

/* The middle of a class: bytes that every link has on top, such as headers, are no deviation. */
static void judge_class(observation *o, size_t class, double *numbers) {
    const fab_fabric *f = o->fabric;
    size_t n = 0;
    FAB_KEEP(numbers, n, l, f->n_links, isfinite(o->deviation[l]) && observe_class(f, l) == class, o->deviation[l]);
    double middle = n >= FEW_PEERS ? observe_median(numbers, n) : 0;
    n = 0;
    for (fab_link_id l = 0; l < f->n_links; l++) {
        if (isfinite(o->deviation[l]) && observe_class(f, l) == class) {
            o->deviation[l] = (1 + o->deviation[l]) / (1 + middle) - 1;
            numbers[n++] = o->deviation[l];
        }
    }
    o->spread_of[class] = observe_spread(numbers, n);
}

/* Few links say little of their spread: then that of the widest boundary holds. */
static void widen_few(observation *o) {
    const fab_fabric *f = o->fabric;
    double widest = 0;
    for (size_t c = 0; c < observe_n_classes(f); c++) {
        widest = isfinite(o->spread_of[c]) ? fmax(widest, o->spread_of[c]) : widest;
    }
    for (size_t c = 0; c < observe_n_classes(f); c++) {
        uint64_t n = 0;
        for (fab_link_id l = 0; l < f->n_links && n < FEW_PEERS; l++) {
            n += isfinite(o->deviation[l]) && observe_class(f, l) == c;
        }
        o->spread_of[c] = n > 0 && n < FEW_PEERS ? widest : o->spread_of[c];
    }
}

/* A host sends what its adapters send: the median over them. */
static fab_status judge_hosts(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    size_t n_known = 0;
    FAB_PASS(FAB_NEW(o->host, f->n_servers, err));
    FAB_OWNED_NEW(double, numbers, f->n_links + (size_t)f->n_servers, err);
    for (uint32_t s = 0; s < f->n_servers; s++) {
        size_t n = 0;
        fab_node_id first = f->first[FAB_NODE_NIC] + s * f->nics_per_server;
        for (fab_node_id v = first; v < first + f->nics_per_server; v++) {
            for (uint32_t i = f->out_first[v]; i < f->out_first[v + 1]; i++) {
                fab_link_id l = f->out_link[i];
                if (observe_is_access(f, l) && isfinite(o->deviation[l])) {
                    numbers[n++] = o->deviation[l];
                }
            }
        }
        o->host[s] = observe_median(numbers, n);
    }
    FAB_KEEP(numbers, n_known, s, f->n_servers, isfinite(o->host[s]), o->host[s]);
    o->host_spread = observe_spread(numbers, n_known);
    return FAB_OK;
}

fab_status observe_judge(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    FAB_OWNED double *numbers = NULL;
    uint64_t n_tests = 1;
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, o->deviation, numbers));
    FAB_PASS(FAB_NEW(o->spread_of, observe_n_classes(f), err));
    for (fab_link_id l = 0; l < f->n_links; l++) {
        o->deviation[l] = is_judged(o, l) ? o->measured[l] / (o->scale * o->predicted[l]) - 1 : NAN;
        n_tests += isfinite(o->deviation[l]);
    }
    for (size_t c = 0; c < observe_n_classes(f); c++) {
        judge_class(o, c, numbers);
    }
    widen_few(o);
    FAB_PASS(judge_hosts(o, err));
    o->sure = observe_sure(n_tests);
    for (size_t c = 0; c < observe_n_classes(f); c++) {
        double limit = observe_limit(o->spread_of[c], o->sure);
        o->out->least_link = isfinite(o->spread_of[c]) ? fmax(o->out->least_link, limit) : o->out->least_link;
    }
    o->out->least_host = observe_limit(o->host_spread, o->sure);
    o->out->judged_links = n_tests - 1;
    return FAB_OK;
}

/* --- imbalance ---------------------------------------------------------------------------------------------------- */

/* Largest over mean of what the links of a class carry; 0 where they carry nothing. */
static double imbalance_of(const observation *o, size_t class, const double *load) {
    double sum = 0;
    double most = 0;
    uint64_t n = 0;
    for (fab_link_id l = 0; l < o->fabric->n_links; l++) {
        if (fab_is_network(fab_class_of(o->fabric, l)) && observe_class(o->fabric, l) == class && o->measured[l] >= 0) {
            sum += load[l];
            most = fmax(most, load[l]);
            n++;
        }
    }
    return sum > 0 ? most * (double)n / sum : 0;
}

static void look_at_boundary(const observation *o, uint32_t tier, bool up, fab_observed_boundary *b) {
    const fab_fabric *f = o->fabric;
    size_t class = 2 * (size_t)tier + (up ? 1 : 0);
    *b = (fab_observed_boundary){.tier = tier, .up = up, .spread = o->spread_of[class]};
    for (fab_link_id l = 0; l < f->n_links; l++) {
        bool is_here = fab_is_network(fab_class_of(f, l)) && observe_class(f, l) == class;
        b->links += is_here;
        b->measured += is_here && o->measured[l] >= 0;
    }
    b->measured_imbalance = imbalance_of(o, class, o->measured);
    b->predicted_imbalance = imbalance_of(o, class, o->predicted);
    b->drawn_least = b->drawn_most = b->predicted_imbalance;
    for (uint64_t d = 0; d < o->out->draws; d++) {
        double drawn = imbalance_of(o, class, o->drawn + d * f->n_links);
        b->drawn_least = fmin(b->drawn_least, drawn);
        b->drawn_most = fmax(b->drawn_most, drawn);
    }
    double noise = isfinite(b->spread) ? o->sure * b->spread : 0;
    double slack = noise > FAB_OBSERVE_LEAST ? noise : FAB_OBSERVE_LEAST;
    b->is_explained =
        b->measured_imbalance <= b->drawn_most * (1 + slack) && b->measured_imbalance >= b->drawn_least * (1 - slack);
}

fab_status observe_boundaries(observation *o, fab_error *err) {
    const fab_fabric *f = o->fabric;
    fab_observed *out = o->out;
    FAB_PASS(FAB_NEW(out->boundaries, observe_n_classes(f), err));
    for (uint32_t tier = 1; tier <= f->n_boundaries; tier++) {
        for (int up = 1; up >= 0; up--) {
            fab_observed_boundary *b = &out->boundaries[out->n_boundaries];
            look_at_boundary(o, tier, up == 1, b);
            out->n_boundaries += b->measured > 0;
        }
    }
    return FAB_OK;
}
