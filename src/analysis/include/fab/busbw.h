/** What nccl-tests should print on a fabric, size by size and engine by engine, beside what they printed. */
#pragma once

#include "fab/nccl.h"
#include "fab/result.h"

/** The most ranks of a run that the model was held against: 144 GB200 (src/doc/busbw.md). Beyond it is extrapolated. */
#define FAB_BUSBW_MEASURED_RANKS 144

/** A size under an engine. */
typedef struct fab_busbw_row {
    const char *engine; /**< with all options; of fab_busbw.engines */
    double bytes;       /**< S */
    fab_nccl_algorithm algorithm;
    fab_nccl_protocol protocol;
    uint64_t channels;
    fab_nccl_time time;
    double collision, hash; /**< largest collision factor that the algorithm meets, and what the routing adds to tapers;
                               0: no network */
    double algbw, busbw;    /**< B/s */
    double best_busbw; /**< where busbw falls by more than 5 % from the size before: that of the fastest, the next two;
                          else 0 */
    fab_nccl_algorithm best_algorithm;
    fab_nccl_protocol best_protocol;
    bool is_drawn;                  /**< the next two are known: several draws */
    double least_busbw, most_busbw; /**< of the slowest and the fastest draw */
    bool is_measured;               /**< the next three are known */
    double measured_time_s;         /**< as printed; 0: it was not */
    double measured_busbw;          /**< B/s */
    double ratio;                   /**< measured over ours */
    double tolerance;               /**< how far below 1 the ratio may be */
    bool falls_short;
} fab_busbw_row;

typedef struct fab_busbw_engine {
    char label[FAB_ENGINE_LABEL_SIZE];
    uint64_t n_short;
} fab_busbw_engine;

typedef struct fab_busbw {
    const char *collective; /**< of fab_operation_name() */
    char gpu[FAB_NAME_SIZE];
    bool gpu_is_default; /**< the design names none */
    const char *source;  /**< of the constants; borrowed from gpu_library */
    fab_gpu_library gpu_library;
    uint64_t ranks, domains;
    double scale_up_bps, nics_bps;
    char choice[FAB_NAME_SIZE]; /**< "nccl", "best" or the algorithm */
    const char *measured;       /**< the file, borrowed; NULL: none */
    fab_busbw_engine *engines;
    size_t n_engines;
    fab_busbw_row *rows; /**< engine by engine, sizes ascending or as in the file */
    size_t n_rows;
    uint64_t n_short;    /**< rows that fall short */
    double line_busbw;   /**< B/s: more no hosts get out of their NICs by themselves; 0: nothing leaves a domain */
    uint64_t n_too_fast; /**< sizes that were measured above it */
} fab_busbw;
