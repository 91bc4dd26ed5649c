/** Rows of outcomes in a database: put, read back, and their digest. Shards and results have the same tables. */
#pragma once

#include "columns.h"

#include "fab/shard.h"

/** Statements that put rows; zero-initialise before. */
typedef struct row_writer {
    const database *db;
    sqlite3_stmt *outcome, *history, *failed;
} row_writer;

FAB_STATUS row_writer_init(row_writer *writer, const database *db, fab_error *err);
void row_writer_release(row_writer *writer);

/** All rows of a block, in the order of their keys. */
FAB_STATUS row_writer_put(row_writer *writer, const fab_plan *plan, const fab_block *block, fab_error *err);

/** A block as read; its arrays are reused. */
typedef struct row_block {
    fab_block block;
    fab_outcome *outcome;
    size_t *first;
    uint32_t *component;
    size_t outcome_capacity, first_capacity, component_capacity;
    bool has_more; /* rows than there should be */
} row_block;

void row_block_release(row_block *block);

/** Statements that read rows; zero-initialise before. */
typedef struct row_reader {
    const database *db;
    const fab_plan *plan;
    sqlite3_stmt *outcome, *failed;
} row_reader;

FAB_STATUS row_reader_init(row_reader *reader, const database *db, const fab_plan *plan, fab_error *err);
void row_reader_release(row_reader *reader);

/** @retval FAB_EINPUT  rows are missing, or are not those whose digest was stored */
FAB_STATUS row_reader_get(row_reader *reader, uint64_t number, uint64_t digest, row_block *out, fab_error *err);

/** Of everything in a block, as it is read back: zeros have no sign. */
uint64_t block_digest(const fab_plan *plan, const fab_block *block);
