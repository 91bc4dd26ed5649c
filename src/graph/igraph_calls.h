/** Calling igraph 0.10.2: its errors as ours. It keeps global state, so one thread at a time. */
#pragma once

#include "fab/base.h"

#include <igraph.h>

FAB_STATUS fab_igraph_status(igraph_error_t code, fab_error *err);

/** A graph with an error handler that lets igraph's codes through, where it aborts by default, until it is closed. */
typedef struct fab_igraph {
    igraph_t of;
    igraph_error_handler_t *previous;
    bool is_made;
} fab_igraph;

/** A graph of the edges from[i * stride] to to[i * stride]; close it even where this fails. */
FAB_STATUS fab_igraph_open(uint32_t n_vertices, size_t n_edges, const uint32_t *from, const uint32_t *to, size_t stride,
                           bool directed, fab_igraph *out, fab_error *err);

void fab_igraph_close(fab_igraph *g);

/** FAB_PASS for a call of igraph. */
#define TRY_IGRAPH(call) FAB_PASS(fab_igraph_status((call), err))
