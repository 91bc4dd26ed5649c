/** What is different from the healthy fabric: failures, and where ranks are. */
#pragma once

#include "fab/reroute.h"

/** What differs from the healthy fabric with every rank in its place. Zero-initialised: nothing. */
typedef struct fab_state {
    const fab_mask *mask;    /**< components that are dead, or run at a fraction of their capacity; NULL: none */
    const uint32_t *moved;   /**< shape [n_moved]: GPUs whose ranks run elsewhere, ascending */
    size_t n_moved;          /**< 0: nobody moved */
    const uint32_t *new_gpu; /**< shape [n_gpus]: where; new_gpu[g] = g for all others. NULL: nobody moved */
    const uint8_t *is_out;   /**< shape [n_gpus]: ranks that are out (1), which are among the moved ones: they send
                                  nothing, and new_gpu has who gets what was sent to them. Of times alone: of engines
                                  that split, and fab_evaluate_incremental(). NULL: nobody */
    fab_reroute_when when;   /**< whether switches have noticed what failed */
} fab_state;

/** What is known of a state from the one before. */
typedef enum fab_known {
    FAB_KNOWN_NOTHING, /**< ask fab_evaluate() */
    FAB_KNOWN_TIME,
    FAB_KNOWN_LOST /**< some path has no way */
} fab_known;
