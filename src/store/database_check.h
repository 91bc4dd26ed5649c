/**
 * @file database_check.h
 * Whether a database is what a program of ours wrote: its tables, and the rows in them.
 */
#pragma once

#include "database.h"

/**
 * Compares the tables with those of a schema. Views, triggers, indexes and other tables are refused before anything is
 * read from them: FAB_EINPUT.
 */
fab_status database_check_schema(const database *db, const char *schema, fab_error *err) FAB_MUST_USE;

/** Digest of all rows of all tables but `gathered`, in the order of their keys: types and values. O(bytes). */
fab_status database_digest(const database *db, uint64_t *out, fab_error *err) FAB_MUST_USE;
