/** Structs as rows: which member stands in which column. Outcomes have the same tables in shards and in results.db. */
#pragma once

#include "database.h"

#include "fab/outcome.h"

typedef enum column_type {
    COLUMN_TEXT,    /* char *, owned */
    COLUMN_DIGEST,  /* char[17] */
    COLUMN_NUMBER,  /* uint64_t */
    COLUMN_COUNT,   /* uint32_t; one that does not fit is read as the largest, which no row that is right has */
    COLUMN_LINK,    /* uint32_t; UINT32_MAX is NULL */
    COLUMN_REAL,    /* double; NAN is NULL */
    COLUMN_FIGURES, /* uint32_t: fab_study_figures, as text */
} column_type;

typedef struct table {
    const char *name;
    size_t size;      /* of the struct */
    bool is_numbered; /* the first column is the number of the row, and no member */
    size_t n;
    const struct column {
        column_type type;
        size_t offset;
    } * columns; /* shape [n] */
} table;

#define COLUMNS_OF(array) (sizeof(array) / sizeof(array)[0])

extern const table table_outcome, table_history;

/** A statement that inserts rows. */
FAB_STATUS table_prepare(const database *db, const table *t, sqlite3_stmt **out, fab_error *err);

/** Inserts row `number`. */
FAB_STATUS table_put(const database *db, const table *t, sqlite3_stmt *s, size_t number, const void *row,
                     fab_error *err);

FAB_STATUS table_put_rows(const database *db, const table *t, const void *rows, size_t n, fab_error *err);

/**
 * All rows, in the order in which they were put.
 * @param[in,out] out  Address of an array of the table's structs, NULL; the caller's, with its texts, after a failure
 * too.
 * @param[in,out] n    0.
 */
FAB_STATUS table_get_rows(const database *db, const table *t, void *out, size_t *n, fab_error *err);

/** What is known of all rows of outcomes, or of outcomes with their histories; a condition and an order follow. */
#define SQL_OUTCOMES "SELECT * FROM outcome "
#define SQL_HISTORIES                                                                                                  \
    "SELECT outcome.*, goodput, restart_ratio, redo_ratio, slow_ratio, wait_ratio, n_failures, n_stops "               \
    "FROM outcome JOIN history USING (scenario, variant) "
void table_get_outcome(sqlite3_stmt *s, bool is_history, fab_outcome *out);
