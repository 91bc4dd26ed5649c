/* An iteration as a graph of operations whose longest path is found by relaxing every edge until nothing changes. */
#pragma once

#include "fab/pipeline.h"

/** Makespan of a pipeline. */
double oracle_schedule_s(const fab_pipeline *pipeline);

/** The same where sends, gathers and reductions slow each other down: every piece of work with what it waits for, all
 * of them looked at whenever one is done. */
double oracle_shared_schedule_s(const fab_pipeline *pipeline);
