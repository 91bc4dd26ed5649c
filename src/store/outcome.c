#include "fab/outcome.h"

const char *const fab_outcome_states[FAB_OUTCOME_N_STATES] = {"runs", "stopped"};
