/**
 * @file igraph_calls.h
 * Calling igraph 0.10.2: its errors as ours. It keeps global state, so one thread at a time.
 */
#pragma once

#include "fab/status.h"

#include <igraph.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Error handler for igraph_set_error_handler(): igraph aborts the program by default; this one lets its codes through.
 */
igraph_error_handler_t fab_igraph_ignore;

fab_status fab_igraph_status(igraph_error_t code, fab_error *err) FAB_MUST_USE;

/** A graph of the edges from[i * stride] to to[i * stride]; release with igraph_destroy(). */
fab_status fab_igraph_make(uint32_t n_vertices, size_t n_edges, const uint32_t *from, const uint32_t *to, size_t stride,
                           bool directed, igraph_t *out, fab_error *err) FAB_MUST_USE;

/** FAB_TRY for a call of igraph. */
#define TRY_IGRAPH(call) FAB_TRY(fab_igraph_status((call), err))
