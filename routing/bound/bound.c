/* The optimum between a routing and a certificate: what the methods share, and which one is used. */
#include "bound_internal.h"

#define BITS 8.0

/* Certificates that need no search: cuts. Whatever leaves a set of switches has to share the links that leave it. */

/* What must leave or enter a set of switches, and the links there are for that: those of minimal paths, and all. */
typedef struct side {
    double rate, bytes, capacity, all;
} side;

enum { ENTERS, LEAVES };

/* Sets of switches. Index: the member that stands for the set. */
typedef struct cuts {
    const fab_fabric *fabric;
    const fab_next_hops *next_hops;
    const fab_demand *demand;
    const double *even;     /* [n_links]: of splitting evenly, 0 where no minimal path of the demand goes */
    uint32_t *set_of;       /* [switch] */
    side (*side)[2];        /* [switch] */
    double best;            /* of all boundaries so far */
    uint32_t boundary, set; /* where it is */
    int way;
    bool found;
} cuts;

FAB_FREES(cuts_release, cuts, set_of, side);

static fab_status cuts_init(const fab_fabric *f, const fab_next_hops *next_hops, const fab_demand *demand,
                            const double *even, cuts *out, fab_error *err) {
    *out = (cuts){.fabric = f, .next_hops = next_hops, .demand = demand, .even = even};
    return FAB_NEW_ALL(fab_n_switches(f), err, out->set_of, out->side);
}

static uint32_t cuts_find(uint32_t *set_of, uint32_t v) {
    while (set_of[v] != v) {
        set_of[v] = set_of[set_of[v]];
        v = set_of[v];
    }
    return v;
}

/* Switches that hang together by links up to a boundary: single leaves, then pods or groups. */
static void make_sets(const cuts *c, uint32_t boundary) {
    const fab_fabric *f = c->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    uint32_t n = fab_n_switches(f);
    uint32_t *set_of = c->set_of;
    FAB_FILL(set_of, n, (uint32_t)fab_at);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        if (k->kind == FAB_LINK_FABRIC && k->tier <= boundary && c->even[l] > 0) {
            uint32_t a = cuts_find(set_of, fab_tail(f, l) - base);
            uint32_t b = cuts_find(set_of, fab_head(f, l) - base);
            set_of[a > b ? a : b] = a > b ? b : a;
        }
    }
    FAB_FILL(set_of, n, cuts_find(set_of, (uint32_t)fab_at));
}

/* Splitting evenly uses every link that any minimal path of the demand has: one without load is no way out. */
static void cuts_add_up(const cuts *c) {
    const fab_fabric *f = c->fabric;
    const fab_demand *demand = c->demand;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    memset(c->side, 0, fab_n_switches(f) * sizeof *c->side);
    for (uint32_t d = 0; d < demand->n_leaves; d++) {
        uint32_t to = c->set_of[fab_next_hops_leaf(c->next_hops, d) - base];
        for (uint32_t pair = demand->first[d]; pair < demand->first[d + 1]; pair++) {
            uint32_t from = c->set_of[fab_next_hops_leaf(c->next_hops, demand->src[pair]) - base];
            side *ends[] = {&c->side[from][LEAVES], &c->side[to][ENTERS]};
            for (size_t i = 0; i < 2 && from != to; i++) {
                ends[i]->rate += demand->rate[pair];
                ends[i]->bytes += demand->bytes[pair];
            }
        }
    }
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        const bool joins = k->kind == FAB_LINK_FABRIC;
        uint32_t from = joins ? c->set_of[fab_tail(f, l) - base] : 0;
        uint32_t to = joins ? c->set_of[fab_head(f, l) - base] : 0;
        side *ends[] = {&c->side[from][LEAVES], &c->side[to][ENTERS]};
        for (size_t i = 0; i < 2 && from != to; i++) {
            ends[i]->all += k->capacity_bps;
            ends[i]->capacity += c->even[l] > 0 ? k->capacity_bps : 0;
        }
    }
}

static void consider(cuts *c, uint32_t boundary, uint32_t set, int way) {
    const side at = c->side[set][way];
    if (at.capacity > 0 && at.rate / at.capacity > c->best) {
        c->best = at.rate / at.capacity;
        c->boundary = boundary;
        c->set = set;
        c->way = way;
        c->found = true;
    }
}

/** The tightest of the cuts around leaves, pods and whatever else hangs together below a boundary. job->load: of
 * splitting evenly. */
static fab_status fab_bound_certify_cuts(fab_bound_job *job, fab_error *err) {
    const fab_fabric *f = job->fabric;
    uint32_t base = f->first[FAB_NODE_SWITCH];
    FAB_OWNS(cuts_release) cuts c = {0};
    FAB_PASS(cuts_init(f, job->next_hops, job->demand, job->load, &c, err));
    c.best = job->lower;
    for (uint32_t boundary = 1; boundary <= f->n_boundaries; boundary++) {
        make_sets(&c, boundary);
        cuts_add_up(&c);
        for (uint32_t v = 0; v < fab_n_switches(f); v++) {
            consider(&c, boundary, v, LEAVES);
            consider(&c, boundary, v, ENTERS);
        }
    }
    if (c.found) {
        make_sets(&c, c.boundary);
        for (uint32_t i = 0; i < job->n_links; i++) {
            fab_link_id l = job->link[i];
            bool from = c.set_of[fab_tail(f, l) - base] == c.set;
            bool to = c.set_of[fab_head(f, l) - base] == c.set;
            job->candidate[l] = from != to && from == (c.way == LEAVES) && job->load[l] > 0 ? 1 : 0;
        }
        FAB_PASS(fab_bound_certify(job, err));
    }
    return FAB_OK;
}

/* Where no cut explains the fullest links of a tier, the part of their load that has no other minimal path may. */
static fab_status add_forced(const cuts *c, const fab_dag *dag, uint32_t tier, fab_cut_bounds *out, fab_error *err) {
    const fab_fabric *f = c->fabric;
    double most = 0;
    double capacity = 0;
    double needed = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        most = k->kind == FAB_LINK_FABRIC && k->tier == tier ? fmax(most, c->even[l]) : most;
    }
    if (most <= out->by_tier[tier] * (1 + FAB_BOUND_EXACT)) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, length, f->n_links, err);
    FAB_OWNED_NEW(double, distance, c->demand->n_pairs, err);
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *k = fab_class_of(f, l);
        const bool is_full =
            k->kind == FAB_LINK_FABRIC && k->tier == tier && c->even[l] >= most * (1 - FAB_BOUND_EXACT);
        length[l] = is_full ? 1 : 0;
        capacity += is_full ? k->capacity_bps : 0;
    }
    FAB_PASS(fab_split_fold(dag, fab_split_even(), FAB_FOLD_SHORTEST, length, c->demand, distance, err));
    for (uint32_t pair = 0; pair < c->demand->n_pairs; pair++) {
        needed += c->demand->rate[pair] * distance[pair];
    }
    out->by_tier[tier] = fmax(out->by_tier[tier], needed / capacity);
    return FAB_OK;
}

fab_status fab_bound_cuts(const fab_fabric *fabric, const fab_dag *dag, const fab_next_hops *next_hops,
                          const fab_demand *demand, const double *even, fab_cut_bounds *out, fab_error *err) {
    fab_cut_bounds found = {.least_s = 0};
    FAB_OWNS(cuts_release) cuts c = {0};
    FAB_PASS(cuts_init(fabric, next_hops, demand, even, &c, err));
    for (uint32_t boundary = 1; boundary <= fabric->n_boundaries; boundary++) {
        double most = 0;
        make_sets(&c, boundary);
        cuts_add_up(&c);
        for (uint32_t i = 0; i < 2 * fab_n_switches(fabric); i++) {
            const side at = c.side[i / 2][i % 2];
            most = at.capacity > 0 ? fmax(most, at.rate / at.capacity) : most;
            found.least_s = at.all > 0 ? fmax(found.least_s, at.bytes * BITS / at.all) : found.least_s;
        }
        if (fab_is_tree(fabric) && boundary < fabric->n_boundaries) {
            found.by_tier[boundary + 1] = most;
            FAB_PASS(add_forced(&c, dag, boundary + 1, &found, err));
        }
    }
    return FAB_GIVE(*out, found);
}

/* The approximation: splits whose path shares are products of link weights exp(-price).
 *
 * Among all splittings that keep every utilisation below a target, the one of largest entropy has this form, its prices
 * being the multipliers of the links that are full (Jaynes, 1957). The prices maximise a concave function whose slope
 * at a link is load - target * capacity. So they are found by going uphill:
 *
 *     price += step * log(utilisation / target), never below 0
 *
 * which is Newton's step where a link is one among many, and what iterative scaling does (Darroch and Ratcliff, 1972).
 * Nesterov's momentum (Nesterov, 1983), thrown away when it points downhill, makes rounds few. The target is the best
 * certificate so far: at or below the optimum, where prices grow without limit in the direction that proves it. Two
 * certificates take turns: the prices themselves as lengths, and length 1 on whatever is nearly full, which finds cuts
 * at once.
 *
 * No state but per link, and only the split with the smallest maximum is kept. */

#define MAX_ROUNDS 4000
#define FIRST_STEP 0.5
#define LAST_STEP  0.02
#define PATIENCE   200  /* rounds in which the gap must shrink by a tenth */
#define MOST_PRICE 550  /* exp(-price) stays a weight that a split takes */
#define NEARLY     0.01 /* links this near to the fullest count as full */

/* All indexed as job->link. */
typedef struct climb {
    double *price; /* where the last load was measured */
    double *base;  /* the same before momentum took it further */
    double *best;  /* prices of the smallest maximum */
    double *drift; /* last change of base */
    double step;
    double time; /* of Nesterov's sequence; 1: no momentum */
    double gap;  /* when patience was last asked for */
} climb;

static double gap_of(const fab_bound_job *job, const fab_bound *bound) {
    return bound->upper / job->lower - 1;
}

static double allowed(double price) {
    return fmin(MOST_PRICE, fmax(0, price));
}

/* One step uphill from the loads that were measured. */
static void step_up(const fab_bound_job *job, climb *c) {
    double target = log(job->lower);
    double along = 0;
    for (uint32_t i = 0; i < job->n_links; i++) {
        double load = job->load[job->link[i]];
        double slope = load > 0 ? log(load / job->capacity[i]) - target : 0;
        along += c->price[i] > 0 || slope > 0 ? slope * c->drift[i] * load / job->capacity[i] : 0;
    }
    if (along < 0) {
        c->time = 1;
    }
    double next = (1 + sqrt(1 + 4 * c->time * c->time)) / 2;
    double momentum = (c->time - 1) / next;
    c->time = next;
    for (uint32_t i = 0; i < job->n_links; i++) {
        double load = job->load[job->link[i]];
        if (load > 0) {
            double base = allowed(c->price[i] + c->step * (log(load / job->capacity[i]) - target));
            c->drift[i] = base - c->base[i];
            c->base[i] = base;
            c->price[i] = allowed(base + momentum * c->drift[i]);
        }
    }
}

static void set_weights(const fab_bound_job *job, const double *price, double *weight) {
    for (uint32_t i = 0; i < job->n_links; i++) {
        weight[job->link[i]] = exp(-price[i]);
    }
}

/** Length 1 on all links whose utilisation is at least `least`: exact where the fullest links are a cut. */
static fab_status fab_bound_certify_full(fab_bound_job *job, double least, fab_error *err) {
    for (uint32_t i = 0; i < job->n_links; i++) {
        job->candidate[job->link[i]] = fab_bound_utilisation(job, i) >= least ? 1 : 0;
    }
    return fab_bound_certify(job, err);
}

/* Certificates are worth a pass every other round. */
static fab_status certify(fab_bound_job *job, const climb *c, uint64_t round, double most, fab_error *err) {
    if (round % 4 == 3) {
        return fab_bound_certify_full(job, most * (1 - NEARLY), err);
    }
    if (round % 4 == 1) {
        for (uint32_t i = 0; i < job->n_links; i++) {
            job->candidate[job->link[i]] = c->price[i];
        }
        return fab_bound_certify(job, err);
    }
    return FAB_OK;
}

/* Where the gap has hardly shrunk for long the steps are too long: half of them, and no momentum. */
static void lose_patience(const fab_bound_job *job, const fab_bound *bound, climb *c) {
    double gap = gap_of(job, bound);
    if (gap > 0.9 * c->gap) {
        c->step = fmax(LAST_STEP, c->step / 2);
        c->time = 1;
        for (uint32_t i = 0; i < job->n_links; i++) {
            c->price[i] = c->base[i];
            c->drift[i] = 0;
        }
    }
    c->gap = gap;
}

static fab_status climb_init(const fab_bound_job *job, climb *c, fab_error *err) {
    c->step = FIRST_STEP;
    c->time = 1;
    c->gap = INFINITY;
    return FAB_NEW_ALL(job->n_links, err, c->price, c->base, c->best, c->drift);
}

/* Rounds until the gap is small enough. The best prices stay at 0 where splitting evenly is not beaten. */
static fab_status improve(fab_bound_job *job, climb *c, const fab_split *split, fab_bound *bound, fab_error *err) {
    while (gap_of(job, bound) > FAB_BOUND_GAP) {
        double most = 0;
        FAB_REFUSE_IF(bound->rounds == MAX_ROUNDS, err, FAB_ENOSOLUTION, NULL,
                      "after %d rounds the optimum lies between %.6g and %.6g: a gap of %.2f %%, above %g %%",
                      MAX_ROUNDS, job->lower, bound->upper, 100 * gap_of(job, bound), 100 * FAB_BOUND_GAP);
        step_up(job, c);
        set_weights(job, c->price, split->weight);
        FAB_PASS(fab_bound_measure(job, split, &most, err));
        bound->rounds++;
        if (most < bound->upper) {
            bound->upper = most;
            memcpy(c->best, c->price, job->n_links * sizeof *c->best);
        }
        FAB_PASS(gap_of(job, bound) > FAB_BOUND_GAP ? certify(job, c, bound->rounds, most, err) : FAB_OK);
        if (bound->rounds % PATIENCE == 0) {
            lose_patience(job, bound, c);
        }
    }
    return FAB_OK;
}

/** Starts from job->load of splitting evenly, whose fullest link has the utilisation bound->upper. Fills upper, split
 * and rounds. */
static fab_status fab_bound_by_weights(fab_bound_job *job, fab_bound *bound, fab_error *err) {
    climb c = {0};
    FAB_OWNS_MEMBERS(c.price, c.base, c.best, c.drift);
    FAB_OWNS(fab_split_release) fab_split split = {.rule = FAB_SPLIT_WEIGHT};
    double even = bound->upper;
    if (gap_of(job, bound) <= FAB_BOUND_GAP) {
        return FAB_OK; /* splitting evenly is good enough */
    }
    FAB_PASS(climb_init(job, &c, err));
    FAB_PASS(FAB_NEW(split.weight, job->fabric->n_links, err));
    FAB_FILL(split.weight, job->fabric->n_links, 1);
    FAB_PASS(improve(job, &c, &split, bound, err));
    if (bound->upper < even) {
        set_weights(job, c.best, split.weight);
        fab_split_release(bound->split);
        *bound->split = split;
        split = (fab_split){0};
    }
    return FAB_OK;
}

const char *const fab_bound_method_names[] = {"none", "spray", "lp", "weights"};

void fab_bound_release(fab_bound *bound) {
    fab_split_free(bound->split);
    free(bound->length);
    *bound = (fab_bound){0};
}

/* Links that are a next hop of some switch: no other carries anything. */
static fab_status bound_find_links(fab_bound_job *job, fab_error *err) {
    const fab_next_hops *t = job->next_hops;
    const fab_fabric *f = job->fabric;
    FAB_OWNED_NEW(uint8_t, used, f->n_links, err);
    job->n_links = fab_next_hops_mark(t, used);
    FAB_PASS(FAB_NEW_ALL(job->n_links, err, job->link, job->capacity));
    uint32_t n = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        if (used[l] != 0) {
            job->link[n] = l;
            job->capacity[n++] = fab_class_of(f, l)->capacity_bps;
        }
    }
    return FAB_OK;
}

static fab_status bound_init(fab_bound_job *job, fab_error *err) {
    FAB_PASS(bound_find_links(job, err));
    FAB_PASS(FAB_NEW_ALL(job->fabric->n_links, err, job->load, job->candidate, job->length));
    return FAB_NEW(job->distance, job->demand->n_pairs, err);
}

fab_status fab_bound_measure(const fab_bound_job *job, const fab_split *split, double *out_most, fab_error *err) {
    double most = 0;
    memset(job->load, 0, job->fabric->n_links * sizeof *job->load);
    FAB_PASS(fab_split_load(job->dag, split, job->demand, job->demand->rate, job->load, err));
    for (uint32_t i = 0; i < job->n_links; i++) {
        most = fmax(most, fab_bound_utilisation(job, i));
    }
    *out_most = most;
    return FAB_OK;
}

fab_status fab_bound_certify(fab_bound_job *job, fab_error *err) {
    double weighted = 0;
    double needed = 0;
    for (uint32_t i = 0; i < job->n_links; i++) {
        weighted += job->candidate[job->link[i]] * job->capacity[i];
    }
    if (!(weighted > 0)) {
        return FAB_OK;
    }
    fab_status status =
        fab_split_fold(job->dag, fab_split_even(), FAB_FOLD_SHORTEST, job->candidate, job->demand, job->distance, err);
    if (status != FAB_OK) {
        return status;
    }
    for (uint32_t pair = 0; pair < job->demand->n_pairs; pair++) {
        needed += job->demand->rate[pair] * job->distance[pair];
    }
    if (needed / weighted > job->lower) {
        job->lower = needed / weighted;
        memcpy(job->length, job->candidate, job->fabric->n_links * sizeof *job->length);
    }
    return FAB_OK;
}

static double fullest_segment(const fab_fabric *f, const fab_demand *demand) {
    double most = 0;
    for (uint32_t l = 0; l < f->n_links; l++) {
        const fab_link_class *c = fab_class_of(f, l);
        if (c->kind == FAB_LINK_ACCESS) {
            most = fmax(most, demand->segment_rate[l] / c->capacity_bps);
        }
    }
    return most;
}

static bool is_exact(const fab_bound_job *job, const fab_bound *bound) {
    return bound->upper <= job->lower * (1 + FAB_BOUND_EXACT);
}

/* Every switch splits evenly, against cuts. */
static fab_status try_even(fab_bound_job *job, fab_bound *bound, fab_error *err) {
    FAB_PASS(FAB_NEW(bound->split, 1, err)); /* FAB_SPLIT_EQUAL */
    bound->rounds = 1;
    FAB_PASS(fab_bound_measure(job, bound->split, &bound->upper, err));
    if (bound->upper > 0) {
        FAB_PASS(fab_bound_certify_cuts(job, err));
        if (!is_exact(job, bound)) {
            FAB_PASS(fab_bound_certify_full(job, bound->upper * (1 - FAB_BOUND_EXACT), err));
        }
    }
    return FAB_OK;
}

static fab_status bound_solve(fab_bound_job *job, fab_bound_method method, fab_bound *bound, fab_error *err) {
    bool done = false;
    FAB_PASS(try_even(job, bound, err));
    if (bound->upper == 0) {
        bound->method = FAB_BOUND_TRIVIAL;
        return FAB_OK;
    }
    if (method == FAB_BOUND_TRIVIAL && is_exact(job, bound)) {
        bound->method = FAB_BOUND_SPRAY;
        return FAB_OK;
    }
    if (method != FAB_BOUND_WEIGHTS) {
        bound->method = FAB_BOUND_LP;
        FAB_PASS(fab_bound_by_program(job, method == FAB_BOUND_LP, bound, &done, err));
    }
    if (!done) {
        bound->method = FAB_BOUND_WEIGHTS;
        FAB_PASS(fab_bound_by_weights(job, bound, err));
    }
    return FAB_OK;
}

fab_status fab_bound_find(const fab_fabric *fabric, const fab_dag *dag, const fab_next_hops *next_hops,
                          const fab_demand *demand, fab_bound_method method, fab_bound *out, fab_error *err) {
    FAB_OWNS(fab_bound_release) fab_bound bound = {0};
    fab_bound_job job = {.fabric = fabric, .dag = dag, .next_hops = next_hops, .demand = demand};
    FAB_OWNS_MEMBERS(job.link, job.capacity, job.load, job.candidate, job.distance, job.length);
    FAB_REFUSE_IF(method != FAB_BOUND_TRIVIAL && method != FAB_BOUND_LP && method != FAB_BOUND_WEIGHTS, err, FAB_EINPUT,
                  NULL, "%d is no method to ask for", (int)method);
    FAB_PASS(bound_init(&job, err));
    FAB_PASS(bound_solve(&job, method, &bound, err));
    FAB_REFUSE_IF(job.lower > bound.upper * (1 + FAB_BOUND_EXACT), err, FAB_EINTERNAL, NULL,
                  "a routing reaches %.17g, below the certified bound %.17g", bound.upper, job.lower);
    bound.lower = fmin(job.lower, bound.upper); /* equal but for rounding */
    bound.segment = fullest_segment(fabric, demand);
    bound.length = job.length;
    job.length = NULL;
    return FAB_GIVE(*out, bound);
}
