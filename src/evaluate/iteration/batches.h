/* What serving and ranking share. */
#pragma once

#include "fab/serving.h"

/* Fills result->ranking. */
FAB_STATUS iteration_rank(const fab_traffic *traffic, fab_result *result, fab_error *err);
