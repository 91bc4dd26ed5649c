/** What differs between two states of a network and its job, what that does to times and links, and why. */
#pragma once

#include "fab/difference.h"

typedef struct fab_design fab_design;

/** One of the two states: a design with what has failed, or a report of before. */
typedef struct fab_diff_state {
    const char *name;         /**< as given */
    const fab_design *design; /**< NULL: a report */
    bool is_imported;
    const char *hosts; /**< names of the servers that the job runs on, in the order of its ranks: a Slurm list, or one
                          in each line; NULL: as the design says */
    const char *hosts_where;   /**< of these, for messages */
    const char *const *failed; /**< shape [n_failed]: as fab_component_parse() reads them */
    size_t n_failed;
    const char *report; /**< text of a report in JSON, of `run` or `route` */
} fab_diff_state;

typedef struct fab_diff_request {
    fab_diff_state before, after;
    const char *traffic; /**< as for fab_context_request */
    uint64_t seed;
    uint64_t n_seeds; /**< 0: as many as a report has, else fab_unasked_seeds() */
    size_t n_threads;
    double tolerance; /**< 0: none */
} fab_diff_request;

/**
 * Evaluates both states. The cause is what makes the difference from the first state by itself and is missed when it is
 * undone in the second: every change is tried both ways, then the fewest that make it together are looked for. Where it
 * is a server, finds what the flows on the link that collides now have in common, and tries other servers that have it
 * and that have not. A cause that no evaluation confirms is not named. Of reports only what stands in them is compared.
 * @retval FAB_EINPUT  a part, a host or a report that is none
 * Errors of evaluating a state.
 * Complexity: two replays with all loads, and up to four for every change, times the seeds, of FAB_DIFF_TRIED and one.
 */
FAB_STATUS fab_diff_run(const fab_diff_request *request, fab_difference **out, fab_error *err);

void fab_difference_free(fab_difference *difference);
FAB_OWNER(fab_difference, fab_difference_free)
