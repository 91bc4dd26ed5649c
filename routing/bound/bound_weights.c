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
#include "bound_internal.h"
#include "fab/memory.h"

#include <math.h>
#include <string.h>

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

fab_status fab_bound_by_weights(fab_bound_job *job, fab_bound *bound, fab_error *err) {
    fab_status status = FAB_OK;
    climb c = {0};
    fab_split split = {.rule = FAB_SPLIT_WEIGHT};
    double even = bound->upper;
    if (gap_of(job, bound) <= FAB_BOUND_GAP) {
        goto done; /* splitting evenly is good enough */
    }
    FAB_TRY(climb_init(job, &c, err));
    FAB_TRY(FAB_NEW(split.weight, job->fabric->n_links, err));
    for (uint32_t l = 0; l < job->fabric->n_links; l++) {
        split.weight[l] = 1;
    }
    FAB_TRY(improve(job, &c, &split, bound, err));
    if (bound->upper < even) {
        set_weights(job, c.best, split.weight);
        fab_split_release(bound->split);
        *bound->split = split;
        split = (fab_split){0};
    }
done:
    FAB_FREE_ALL(c.price, c.base, c.best, c.drift);
    fab_split_release(&split);
    return status;
}
