/**
 * The store of a study: a folder with a plan, the shards that workers write, and the results that are gathered from
 * them, all SQLite. Here is what the three have in common, and how results are read. See src/doc/study-store.md for the
 * tables, src/doc/adr/0037-study-store.md for the reasons, shard.h for writing.
 */
#pragma once

#include "fab/outcome.h"
#include "fab/base.h"

/** Something that fails in the scenarios of a plan; `failed.component` is its index. */
typedef struct fab_store_component {
    char *kind, *name;
    double residual; /**< fraction of the capacity: 0 is dead */
} fab_store_component;

/** An engine with a policy. Its number is its index. */
typedef struct fab_store_variant {
    char *engine;        /**< as it was asked for */
    char *label;         /**< with the defaults of all options */
    char *policy;        /**< name */
    fab_outcome healthy; /**< nothing failed */
} fab_store_variant;

/** How often things of a class fail in histories. */
typedef struct fab_store_rate {
    char *name; /**< of the class */
    double per_s, repair_s;
} fab_store_rate;

/** A file that the plan reads, copied into the folder `files` of the store. */
typedef struct fab_store_file {
    char *given;     /**< path as in the traffic, scenarios or engine */
    char *name;      /**< in the folder: "file-1" */
    char digest[17]; /**< of the bytes */
} fab_store_file;

/** All that a scenario's outcome depends on. Strings are owned. */
typedef struct fab_plan {
    char id[17];     /**< digest of everything below; set by fab_plan_seal() */
    char *program;   /**< version that planned it */
    char *name;      /**< of the design */
    char *origin;    /**< file, "preset:NAME" or the one-line form it was read from */
    char *design;    /**< fab_design_describe() */
    char digest[17]; /**< fab_design_digest() */
    char *traffic;   /**< as for fab_traffic_make() */
    char *scenarios; /**< as for fab_scenarios_new() */
    uint64_t seed, n_scenarios;
    uint64_t block;   /**< scenarios that are stored and handed out together */
    uint32_t figures; /**< fab_study_figures: what was asked for */
    double span_s;    /**< of a history; 0: scenarios are sets */
    double checkpoint_s, restart_s;
    fab_store_rate *rates;
    size_t n_rates;
    fab_store_variant *variants;
    size_t n_variants;
    fab_store_component *components; /**< of sets; histories have none */
    size_t n_components;
    char **scenario_names; /**< shape [n_scenarios]; NULL: they have none */
    fab_store_file *files;
    size_t n_files;
} fab_plan;

/** Frees what it holds. Zero-initialised is fine. */
void fab_plan_release(fab_plan *plan);

/** Results as gathered. */
typedef struct fab_store fab_store;

/**
 * Opens DIR/results.db for reading.
 * @retval FAB_EINPUT  nothing gathered yet, no store, damaged, from a newer version, or not of the plan beside it
 * @retval FAB_EIO     cannot be read
 */
FAB_STATUS fab_store_open(const char *folder, fab_store **out, fab_error *err);
void fab_store_close(fab_store *store);
FAB_OWNER(fab_store, fab_store_close)

/** Borrowed, lives as long as the store. */
const fab_plan *fab_store_plan(const fab_store *store);

/** Rows of an SQL query. */
typedef struct fab_query fab_query;

/**
 * @param[in] sql  One SELECT over the tables of src/doc/study-store.md; "?" are bound to `values` from the left.
 * @param[in] values  Shape [n]. May be NULL when n is 0.
 */
FAB_STATUS fab_query_new(const fab_store *store, const char *sql, const int64_t *values, size_t n, fab_query **out,
                         fab_error *err);
void fab_query_free(fab_query *query);
FAB_OWNER(fab_query, fab_query_free)

/** Moves to the next row. *out_row is false behind the last one. */
FAB_STATUS fab_query_next(fab_query *query, bool *out_row, fab_error *err);

/** All outcomes, by scenario and variant; with what is known of histories. */
FAB_STATUS fab_store_outcomes(const fab_store *store, fab_query **out, fab_error *err);
/** The row of that query. */
void fab_query_outcome(const fab_query *query, fab_outcome *out);

/* Values of the row, by column from 0. */
bool fab_query_is_null(const fab_query *query, int column);
int64_t fab_query_integer(const fab_query *query, int column);
double fab_query_real(const fab_query *query, int column);      /**< NAN for NULL */
const char *fab_query_text(const fab_query *query, int column); /**< "" for NULL; valid until the next row */
