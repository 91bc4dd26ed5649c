/* What a point of a sweep replays: the traffic of the request, with the values that are varied in it. */
#pragma once

#include "fab/str.h"
#include "fab/sweep_run.h"

/* `traffic.KEY`: a key of the pattern, and no value of the design. */
bool fab_sweep_is_of_traffic(const char *path);

/* The text of the traffic at `value`, shape [n_paths]; NULL: nothing of it is varied. */
fab_status fab_sweep_traffic(const fab_sweep_request *r, const fab_design *design, const char *const *value,
                             fab_str *out, fab_error *err);
