/** Inside of the bound: what its methods share. */
#pragma once

#include "fab/bound.h"
#include "split/split_rule.h"

typedef struct fab_bound_job {
    const fab_fabric *fabric;
    const fab_dag *dag;
    const fab_next_hops *next_hops;
    const fab_demand *demand;
    uint32_t n_links;
    fab_link_id *link; /**< [n_links]: those that are a next hop, ascending */
    double *capacity;  /**< [n_links]: of link[i] */
    double *load;      /**< [fabric->n_links]: of the last split measured */
    double *candidate; /**< [fabric->n_links]: lengths to try, 0 but on link[i] */
    double *distance;  /**< [n_pairs] */
    double *length;    /**< [fabric->n_links]: lengths that prove `lower` */
    double lower;
} fab_bound_job;

static inline double fab_bound_utilisation(const fab_bound_job *job, uint32_t i) {
    return job->load[job->link[i]] / job->capacity[i];
}

/** Fills job->load, and the utilisation of the fullest link. */
FAB_STATUS fab_bound_measure(const fab_bound_job *job, const fab_split *split, double *out_most, fab_error *err);

/** Keeps job->candidate as the certificate if it proves more than the one that is there. */
FAB_STATUS fab_bound_certify(fab_bound_job *job, fab_error *err);

/**
 * The linear program. Fills columns and rows, and where it was solved upper and split.
 * @param[in]  insist    Whatever its size and the time it takes.
 * @param[out] out_done  False: too large, or the solver gave up, and `insist` is not set.
 */
FAB_STATUS fab_bound_by_program(fab_bound_job *job, bool insist, fab_bound *bound, bool *out_done, fab_error *err);
