/**
 * The routes of a phase, whole or a chunk at a time.
 *
 * Phases of many paths are routed twice, a chunk at a time: once for the loads and once for the flows. An all-to-all
 * under an engine that looks at the destination alone is carried in bundles: all flows that enter at one leaf for one
 * GPU take the same path.
 */
#pragma once

#include "measure.h"

/** GPUs of an all-to-all on one leaf whose NICs send as much. */
typedef struct fab_source {
    fab_node_id leaf;
    double sent;
    uint32_t count;
} fab_source;

/** What is carried. The arrays are shared by all readers of the stream. */
typedef struct fab_stream {
    const fab_engine_run *run;
    const fab_routes *whole; /**< routed already: the only chunk */
    uint64_t n_chunks, per_chunk;
    fab_source *sources; /**< of bundles; NULL without */
    uint32_t n_sources;
    uint32_t *source_of;    /**< shape [GPUs of the all-to-all]: index in sources */
    uint32_t *member_first; /**< shape [n_sources + 1] */
    uint32_t *member;       /**< GPUs of the all-to-all by source, ascending */
} fab_stream;

/** A chunk at hand. */
typedef struct fab_chunk {
    const fab_routes *routes;
    uint64_t first;         /**< number of its flow 0, or of its bundle 0 */
    const double *rate;     /**< shape [flows of the chunk] */
    const double *volume;   /**< bytes */
    const uint64_t *weight; /**< flows in a bundle; NULL: 1 */
    const uint32_t *source; /**< of bundles: index in sources */
    const uint32_t *to;     /**< of bundles: GPU of the all-to-all */
} fab_chunk;

/** All that the routes of listed flows depend on, on one fabric, as a hash; 0 of others. `rate`: read where the engine
 * takes whole phases; `merges`: as of fab_routes. */
void fab_hash_routing(const fab_router *of, const fab_phase *phase, uint64_t seed, const double *rate, bool merges,
                      uint64_t out[2]);

/** Opens the routes of run->prepared->phase; routes them into run->scratch where they are kept whole. */
FAB_STATUS fab_stream_open(const fab_engine_run *run, fab_stream *out, fab_error *err);
void fab_stream_close(fab_stream *stream);

/** What a pass over the stream reads. */
typedef enum fab_pass_kind {
    FAB_PASS_LOADS, /**< rates and bytes; groups, where the run has a detail */
    FAB_PASS_FLOWS  /**< none of these: rate, volume and groups may be NULL */
} fab_pass_kind;

/** Loads chunk `chunk` < n_chunks into the reader's own memory. */
FAB_STATUS fab_stream_load(const fab_stream *stream, uint64_t chunk, fab_pass_kind pass, fab_scratch *scratch,
                           fab_chunk *out, fab_error *err);
