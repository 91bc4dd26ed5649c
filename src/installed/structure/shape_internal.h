/** The parts of finding a shape. */
#pragma once

#include "fab/shape.h"

/** Tiers of switches (s->tier, s->n_tiers), from kinds and adjacency. Complexity: O(cables * tiers). */
FAB_STATUS fab_shape_find_tiers(fab_shape *s, fab_error *err);
