/**
 * The processes that were started together on one study: those of an MPI run in the program fabriscope-mpi, which is
 * built where MPI is installed; else this one alone.
 */
#pragma once

#include "fab/base.h"

typedef struct cli_world {
    uint64_t rank, size;
} cli_world;

/** Joins the others. Call once; processes that do not join need not leave. */
FAB_STATUS cli_world_enter(cli_world *out, fab_error *err);

/** Waits until all others leave too, so that whoever starts the processes knows that all work is done. */
void cli_world_leave(void);
