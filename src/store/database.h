/** SQLite as the store uses it: every call checked, every failure a sentence about the file. */
#pragma once

#include "fab/base.h"

#include <sqlite3.h>

#define STORE_PATH_SIZE      4096
#define STORE_APPLICATION_ID 0x46616253 /* "FabS" */
#define STORE_SCHEMA         1

FAB_OWNER(sqlite3_stmt, sqlite3_finalize)

typedef struct database {
    sqlite3 *handle;
    char path[STORE_PATH_SIZE];
    bool is_foreign; /* it was refused for what it says of itself, not for damage */
} database;

typedef enum database_mode {
    DATABASE_CREATE,   /* or write what is there */
    DATABASE_READ,     /* may read the log of somebody who writes */
    DATABASE_RECOVER,  /* as the only one: closing it puts the log of a dead writer in its place */
    DATABASE_IMMUTABLE /* nobody writes, and there is no log: no locks, no further files */
} database_mode;

/** Opens a file; zero-initialise `db` before, and release it in any case. */
FAB_STATUS database_open(database *db, const char *path, database_mode mode, fab_error *err);
void database_close(database *db);

/** Whether the file that is open no longer has its name. */
bool database_has_moved(const database *db);

/** Records what SQLite's result code means for this file. */
fab_status database_fail(const database *db, int code, fab_error *err);

FAB_STATUS database_run(const database *db, const char *sql, fab_error *err);
FAB_STATUS database_prepare(const database *db, const char *sql, sqlite3_stmt **out, fab_error *err);

/** Next row; *out_row is false behind the last one. */
FAB_STATUS database_step(const database *db, sqlite3_stmt *statement, bool *out_row, fab_error *err);

/** Runs a statement without rows, unless binding its values failed with `code`; then it is ready for the next ones. */
FAB_STATUS database_put(const database *db, sqlite3_stmt *statement, int code, fab_error *err);

/** First column of the first row of a query; 0 where there is none. */
FAB_STATUS database_integer(const database *db, const char *sql, int64_t *out, fab_error *err);

/* Values of a statement, columns from 1. A failure sticks in *code (SQLITE_OK before). */
void bind_integer(sqlite3_stmt *statement, int column, uint64_t value, int *code);
void bind_real(sqlite3_stmt *statement, int column, double value, int *code); /* NAN: NULL */
void bind_text(sqlite3_stmt *statement, int column, const char *text, int *code);

/* Values of a row, columns from 0. */
double column_real(sqlite3_stmt *statement, int column); /* NULL: NAN */
const char *column_text(sqlite3_stmt *statement, int column);

/** Marks a database as ours. */
FAB_STATUS database_brand(const database *db, fab_error *err);

/** A new file for tables that are made in one go and moved to their name: begins the only transaction. */
FAB_STATUS database_begin_new(database *db, const char *path, const char *schema, fab_error *err);
FAB_STATUS database_end_new(database *db, fab_error *err);

/** @retval FAB_EINPUT  no store, or from a newer version. *out_empty: nothing was written yet. */
FAB_STATUS database_check_brand(database *db, bool *out_empty, fab_error *err);

/**
 * Compares the tables with those of a schema. Views, triggers, indexes and other tables are refused before anything is
 * read from them: FAB_EINPUT.
 */
FAB_STATUS database_check_schema(const database *db, const char *schema, fab_error *err);

/** Digest of all rows of all tables but `gathered`, in the order of their keys: types and values. O(bytes). */
FAB_STATUS database_digest(const database *db, uint64_t *out, fab_error *err);
