/**
 * @file relocate_search.h
 * Inside of relocate_search.c and relocate_exact.c.
 */
#ifndef RELOCATE_SEARCH_H
#define RELOCATE_SEARCH_H

#include "relocate_views.h"

typedef struct relocate_search {
    fab_relocator *r;
    relocate_eval *e;
    uint64_t budget, n_tried;
    relocate_score score; /* of what is set */
    uint32_t *best;       /* shape [n_lost]: the best assignment so far */
    relocate_score best_score;
    bool has_best, is_optimal;
} relocate_search;

/** Sets an assignment of all lost servers. */
fab_status relocate_search_set(relocate_search *s, const uint32_t *to, fab_error *err) FAB_MUST_USE;

/**
 * Looks for the best assignment of spares to at least two lost servers by an integer program, where that is small:
 * fewest collisions, then the lowest ratio. Sets what it finds if that is better, and says whether the best is proved
 * to be.
 */
fab_status relocate_search_exactly(relocate_search *s, fab_error *err) FAB_MUST_USE;

#endif
