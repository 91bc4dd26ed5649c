/* The optimum between a routing and a certificate: what the methods share, and which one is used. */
#include "bound_internal.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    FAB_OWNED uint8_t *used = NULL;
    FAB_PASS(FAB_NEW(used, f->n_links, err));
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

fab_status fab_bound_certify_full(fab_bound_job *job, double least, fab_error *err) {
    for (uint32_t i = 0; i < job->n_links; i++) {
        job->candidate[job->link[i]] = fab_bound_utilisation(job, i) >= least ? 1 : 0;
    }
    return fab_bound_certify(job, err);
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
    fab_status status = FAB_OK;
    fab_bound bound = {0};
    fab_bound_job job = {.fabric = fabric, .dag = dag, .next_hops = next_hops, .demand = demand};
    FAB_FAIL_IF(method != FAB_BOUND_TRIVIAL && method != FAB_BOUND_LP && method != FAB_BOUND_WEIGHTS, err, FAB_EINPUT,
                NULL, "%d is no method to ask for", (int)method);
    FAB_TRY(bound_init(&job, err));
    FAB_TRY(bound_solve(&job, method, &bound, err));
    FAB_FAIL_IF(job.lower > bound.upper * (1 + FAB_BOUND_EXACT), err, FAB_EINTERNAL, NULL,
                "a routing reaches %.17g, below the certified bound %.17g", bound.upper, job.lower);
    bound.lower = fmin(job.lower, bound.upper); /* equal but for rounding */
    bound.segment = fullest_segment(fabric, demand);
    bound.length = job.length;
    job.length = NULL;
    *out = bound;
    bound = (fab_bound){0};
done:
    FAB_FREE_ALL(job.link, job.capacity, job.load, job.candidate, job.distance, job.length);
    fab_bound_release(&bound);
    return status;
}
