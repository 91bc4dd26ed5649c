/**
 * Figures that others have printed or measured, each with the command whose result has ours: a file per source in
 * topologies/published, compiled in.
 */
#pragma once

#include "fab/fabric_spec.h"
#include "fab/str.h"

typedef struct fab_published_source {
    char name[FAB_NAME_SIZE]; /**< of its file: "llama3" */
    char title[80];           /**< one line: "Llama 3 paper (arXiv 2407.21783), Table 4" */
    char about[1536];         /**< where the figures stand, and what is assumed */
    size_t first, n;          /**< its rows */
} fab_published_source;

typedef struct fab_published_row {
    char command[640]; /**< as a user types it behind the program's name */
    char what[48];     /**< the figure in the words of the source */
    char field[96];    /**< where the command's result has it: "iteration.time_s", "fabric.tiers.2.switches"; empty:
                          nowhere */
    char note[512];    /**< why it is missed; empty where it is not */
    char where[96];    /**< file:line:column */
    char digest[17];   /**< of the design that the command builds and trains, filled by who asks; empty: of neither */
    size_t source;     /**< index */
    bool is_fitted;    /**< the program has a number that was fitted to this figure among others */
    double published, tolerance_ratio; /**< in the unit of the field; tolerance 0: exact */
    double predicted;                  /**< by the command; NAN before it ran */
    const char *unit;                  /**< of both; NULL: a count or a ratio */
    const char *given_unit;            /**< of the value as it is written; NULL: a bare number */
} fab_published_row;

/** Rows of one command follow each other, and so do those of one source. */
typedef struct fab_published {
    fab_published_row *rows;
    size_t n_rows, row_capacity;
    fab_published_source *sources;
    size_t n_sources, source_capacity;
} fab_published;

/**
 * Reads one source, or all that are compiled in.
 * @param[in]  source  Name of one, or a file (with '/' or ending in .xml). NULL: all.
 * @param[out] out     Written on success only; release with fab_published_release().
 * @retval FAB_EUSAGE  there is no such source
 * @retval FAB_EINPUT  a file is wrong; err->where is file:line:column
 */
FAB_STATUS fab_published_read(const char *source, fab_published *out, fab_error *err);
void fab_published_release(fab_published *published);

/** XML Schema of these files; failure shows in fab_str_status(). */
void fab_published_schema(fab_str *out);

/** Ours over theirs, minus 1; NAN where ours is not known. */
double fab_published_deviation(const fab_published_row *row);
/** Ours is known and within the tolerance. */
bool fab_published_is_met(const fab_published_row *row);

/** Rows from `first` on: those that are met, of them fitted, missed, and that nothing predicts. */
typedef struct fab_published_counts {
    uint64_t met, fitted, missed, unknown;
} fab_published_counts;
fab_published_counts fab_published_count(const fab_published_row *first, size_t n);
