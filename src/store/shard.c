/* The file of a worker. It is written by transactions of whole blocks, in a write-ahead log: the end of the process
 * leaves the blocks that were committed. */
#include "fab/shard.h"
#include "shard_read.h"
#include "schema.h"

#include "fab/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct fab_shard {
    database db;
    store_lock lock;
    const fab_plan *plan;
    char folder[STORE_PATH_SIZE];
    shard_name name;
    row_writer rows;
    sqlite3_stmt *put_block;
    bool is_open; /* a transaction is; closing takes it back */
};

/* FULL: what was committed stays, whatever ends the process or the machine. 4096 pages: 16 MiB of log, then it is put
 * in its place. */
static const char SETTINGS[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                               "PRAGMA wal_autocheckpoint = 4096; PRAGMA cache_size = -16384";

static fab_status make_tables(const database *db, const fab_plan *plan, shard_name name, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    int code = SQLITE_OK;
    FAB_PASS(database_run(db, "BEGIN IMMEDIATE", err));
    FAB_PASS(database_brand(db, err));
    FAB_PASS(database_run(db, SCHEMA_SHARD, err));
    FAB_PASS(database_prepare(db, "INSERT INTO shard VALUES (?, ?, ?)", &s, err));
    bind_text(s, 1, plan->id, &code);
    bind_integer(s, 2, name.index, &code);
    bind_integer(s, 3, name.n, &code);
    FAB_PASS(database_put(db, s, code, err));
    return database_run(db, "COMMIT", err);
}

static fab_status open_database(fab_shard *s, const char *path, fab_error *err) {
    bool empty = false;
    fab_error inner = {.code = FAB_OK};
    FAB_PASS(database_open(&s->db, path, DATABASE_CREATE, err));
    fab_status status = shard_check(&s->db, s->plan, s->name, &empty, &inner); /* before anything is written to it */
    if (status != FAB_OK) {
        bool damaged = status == FAB_EINPUT && !s->db.is_foreign;
        return fab_fail(err, status, inner.where, "%s%s", inner.text, damaged ? SHARD_IS_DAMAGED : "");
    }
    if (empty) { /* else turning the log on makes a journal, which would stay where this process is killed meanwhile */
        FAB_PASS(database_run(&s->db, "PRAGMA journal_mode = MEMORY", err));
    }
    FAB_PASS(database_run(&s->db, SETTINGS, err));
    FAB_PASS(empty ? make_tables(&s->db, s->plan, s->name, err) : FAB_OK);
    FAB_PASS(row_writer_init(&s->rows, &s->db, err));
    return database_prepare(&s->db, "INSERT INTO block VALUES (?, ?)", &s->put_block, err);
}

fab_status fab_shard_open(const char *folder, const fab_plan *plan, uint32_t index, uint32_t n, fab_shard **out,
                          fab_error *err) {
    FAB_OWNS(fab_shard_close_owned) fab_shard *s = NULL;
    store_holder holder = {.text = ""};
    char path[STORE_PATH_SIZE];
    bool taken = false;
    FAB_REFUSE_IF(n < 1 || n > FAB_SHARDS_MOST || index >= n, err, FAB_EINPUT, NULL,
                  "there is no shard %" PRIu32 " of %" PRIu32 "; the first is 0, the limit is %d", index, n,
                  FAB_SHARDS_MOST);
    FAB_PASS(folder_shard_path(folder, (shard_name){index, n}, path, err)); /* long folders end here */
    FAB_PASS(FAB_NEW(s, 1, err));
    s->lock = (store_lock)STORE_LOCK_NONE;
    s->plan = plan;
    s->name = (shard_name){index, n};
    (void)snprintf(s->folder, sizeof s->folder, "%s", folder);
    FAB_PASS(store_lock_take(path, false, &s->lock, &taken, &holder, err));
    FAB_REFUSE_IF(!taken, err, FAB_EIO, path, "is being written by %s; a shard has one writer", holder.text);
    FAB_PASS(open_database(s, path, err));
    *out = s;
    s = NULL;
    return FAB_OK;
}

void fab_shard_close(fab_shard *shard) {
    if (shard == NULL) {
        return;
    }
    row_writer_release(&shard->rows);
    (void)sqlite3_finalize(shard->put_block);
    database_close(&shard->db);
    store_lock_release(&shard->lock);
    free(shard);
}

fab_status fab_shard_put(fab_shard *shard, const fab_block *block, fab_error *err) {
    int code = SQLITE_OK;
    FAB_REFUSE_IF(block->number >= fab_plan_n_blocks(shard->plan) ||
                      block->n_scenarios != fab_plan_block_size(shard->plan, block->number),
                  err, FAB_EINTERNAL, shard->db.path, "block %" PRIu64 " of %" PRIu64 " scenarios", block->number,
                  block->n_scenarios);
    if (!shard->is_open) {
        FAB_PASS(database_run(&shard->db, "BEGIN IMMEDIATE", err));
        shard->is_open = true;
    }
    FAB_PASS(row_writer_put(&shard->rows, shard->plan, block, err));
    bind_integer(shard->put_block, 1, block->number, &code);
    bind_integer(shard->put_block, 2, block_digest(shard->plan, block), &code);
    return database_put(&shard->db, shard->put_block, code, err);
}

fab_status fab_shard_commit(fab_shard *shard, fab_error *err) {
    if (shard->is_open) {
        FAB_PASS(database_run(&shard->db, "COMMIT", err));
        shard->is_open = false;
    }
    return database_has_moved(&shard->db) ? database_fail(&shard->db, SQLITE_READONLY, err) : FAB_OK;
}

/* --- what is done ------------------------------------------------------------------------------------------------- */

static fab_status mark(void *context, uint64_t block, uint64_t digest, fab_error *err) {
    (void)digest;
    (void)err;
    uint64_t *bits = context;
    bits[block >> 6] |= UINT64_C(1) << (block & 63);
    return FAB_OK;
}

/* The own shard is read through its own connection: this process holds its lock, and would lose it with a second one.
 */
fab_status fab_shard_done(const fab_shard *shard, uint64_t *out, fab_error *err) {
    fab_status status = FAB_OK;
    shard_name *shards = NULL;
    size_t n = 0;
    FAB_TRY(shard_each_block(&shard->db, shard->plan, mark, out, err));
    FAB_TRY(folder_shards(shard->folder, &shards, &n, err));
    for (size_t i = 0; i < n; i++) {
        shard_reader reader;
        store_holder holder;
        bool is_open = false;
        if (shards[i].index == shard->name.index && shards[i].n == shard->name.n) {
            continue;
        }
        FAB_TRY(shard_reader_open(shard->folder, shard->plan, shards[i], &reader, &is_open, &holder, err));
        if (is_open) {
            status = shard_each_block(&reader.db, shard->plan, mark, out, err);
        }
        shard_reader_close(&reader);
        FAB_TRY(status);
    }
done:
    free(shards);
    return status;
}
