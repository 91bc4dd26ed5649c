/* The file of a worker. It is written by transactions of whole blocks, in a write-ahead log: the end of the process
 * leaves the blocks that were committed. */

#include "schema.h"
#include "shard_read.h"

#include <time.h>

#define TRIES 50 /* of 20 ms, where a writer comes or goes */

/** The shard's own facts against the plan. */
static fab_status shard_check(database *db, const fab_plan *plan, shard_name name, bool *out_empty, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    bool row = false;
    FAB_PASS(database_check_brand(db, out_empty, err));
    if (*out_empty) {
        return FAB_OK;
    }
    FAB_PASS(database_check_schema(db, SCHEMA_SHARD, err));
    FAB_PASS(database_prepare(db, "SELECT plan, shard, n_shards FROM shard", &s, err));
    FAB_PASS(database_step(db, s, &row, err));
    FAB_REFUSE_IF(!row, err, FAB_EINPUT, db->path, "is damaged: it does not say which shard it is");
    db->is_foreign = true;
    FAB_REFUSE_IF(strcmp(column_text(s, 0), plan->id) != 0, err, FAB_EINPUT, db->path,
                  "belongs to another plan: %.20s, not %s (design %.40s %s, seed %" PRIu64 ") of this folder",
                  column_text(s, 0), plan->id, plan->name, plan->digest, plan->seed);
    FAB_REFUSE_IF(sqlite3_column_int64(s, 1) != name.index || sqlite3_column_int64(s, 2) != name.n, err, FAB_EINPUT,
                  db->path, "was renamed: it is shard %lld of %lld", (long long)sqlite3_column_int64(s, 1),
                  (long long)sqlite3_column_int64(s, 2));
    db->is_foreign = false;
    return FAB_OK;
}

fab_status shard_each_block(const database *db, const fab_plan *plan, take_block *take, void *context, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    uint64_t n_blocks = fab_plan_n_blocks(plan);
    FAB_PASS(database_prepare(db, "SELECT block, digest FROM block ORDER BY block", &s, err));
    for (;;) {
        bool row = false;
        FAB_PASS(database_step(db, s, &row, err));
        if (!row) {
            break;
        }
        int64_t block = sqlite3_column_int64(s, 0);
        FAB_REFUSE_IF(block < 0 || (uint64_t)block >= n_blocks, err, FAB_EINPUT, db->path,
                      "is damaged: block %" PRId64 " of %" PRIu64, block, n_blocks);
        FAB_PASS(take(context, (uint64_t)block, (uint64_t)sqlite3_column_int64(s, 1), err));
    }
    return FAB_OK;
}

/* Bytes in the log of a writer that has not closed the shard; -1: there is none. */
static int64_t log_size(const char *path) {
    char log[STORE_PATH_SIZE + 8];
    FAB_FORMAT(log, "%s-wal", path);
    return folder_size_of(log);
}

/* Closing the only connection writes the log into the database. While that is done nobody else may be there. Where it
 * fails the log stays as it is, and may still be read. */
static void recover(const char *path) {
    FAB_OWNS(store_lock_release) store_lock lock = STORE_LOCK_NONE;
    FAB_OWNS(database_close) database db = {.handle = NULL};
    store_holder holder = {.text = ""};
    bool taken = false;
    int64_t n = 0;
    if (store_lock_take(path, false, &lock, &taken, &holder, NULL) == FAB_OK && taken && log_size(path) >= 0 &&
        database_open(&db, path, DATABASE_RECOVER, NULL) == FAB_OK) {
        const fab_status status = database_integer(&db, "SELECT count(*) FROM sqlite_schema", &n, NULL);
        (void)status; /* the log is read, or stays */
    }
}

/* Chooses how to open a shard:
 *  - nobody writes, no log: as a file that does not change, which needs one descriptor and works where nobody may
 * write;
 *  - nobody writes, a log of a dead writer: recovered first;
 *  - written by a process of this machine: through SQLite's shared memory;
 *  - written on another machine: not at all, as memory is not shared with it. */
static fab_status open_file(const char *path, shard_reader *r, bool *out_taken, store_holder *holder, fab_error *err) {
    if (log_size(path) >= 0) {
        recover(path);
    }
    FAB_PASS(store_lock_take(path, true, &r->lock, out_taken, holder, err));
    if (*out_taken || holder->is_here) {
        bool still = *out_taken && log_size(path) <= 0;
        FAB_PASS(database_open(&r->db, path, still ? DATABASE_IMMUTABLE : DATABASE_READ, err));
    }
    return FAB_OK;
}

static fab_status try_open(const char *path, const fab_plan *plan, shard_name name, shard_reader *out, bool *out_open,
                           bool *out_taken, store_holder *holder, fab_error *err) {
    bool empty = false;
    FAB_PASS(open_file(path, out, out_taken, holder, err));
    *out_open = out->db.handle != NULL;
    if (*out_open) {
        holder->text[0] = '\0';
        FAB_PASS(shard_check(&out->db, plan, name, &empty, err));
        *out_open = !empty;
    }
    return *out_open ? row_reader_init(&out->rows, &out->db, plan, err) : FAB_OK;
}

fab_status shard_reader_open(const char *folder, const fab_plan *plan, shard_name name, shard_reader *out,
                             bool *out_open, store_holder *out_holder, fab_error *err) {
    char path[STORE_PATH_SIZE];
    fab_status status = folder_shard_path(folder, name, path, err);
    for (int i = 0; status == FAB_OK; i++) {
        bool taken = false;
        fab_error inner = {.code = FAB_OK};
        *out = (shard_reader)SHARD_READER_NONE;
        *out_open = false;
        *out_holder = (store_holder){.text = ""};
        status = try_open(path, plan, name, out, out_open, &taken, out_holder, &inner);
        if (status == FAB_OK && *out_open) {
            return FAB_OK;
        }
        shard_reader_close(out);
        if (status == FAB_OK) {
            return FAB_OK;
        }
        if (taken || i == TRIES) {
            bool damaged = status == FAB_EINPUT && !out->db.is_foreign;
            return fab_fail(err, status, inner.where, "%s%s", inner.text, damaged ? SHARD_IS_DAMAGED : "");
        }
        status = FAB_OK; /* its writer has just ended and taken its log away, or just begun */
        struct timespec step = {.tv_nsec = 20 * 1000000L};
        (void)nanosleep(&step, NULL);
    }
    return status;
}

void shard_reader_close(shard_reader *reader) {
    row_reader_release(&reader->rows);
    database_close(&reader->db);
    store_lock_release(&reader->lock);
}

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
    store_holder holder = {.text = ""};
    char path[STORE_PATH_SIZE];
    bool taken = false;
    FAB_REFUSE_IF(n < 1 || n > FAB_SHARDS_MOST || index >= n, err, FAB_EINPUT, NULL,
                  "there is no shard %" PRIu32 " of %" PRIu32 "; the first is 0, the limit is %d", index, n,
                  FAB_SHARDS_MOST);
    FAB_PASS(folder_shard_path(folder, (shard_name){index, n}, path, err)); /* long folders end here */
    FAB_OWNS_NEW(fab_shard_close_owned, fab_shard, s, 1, err);
    s->lock = (store_lock)STORE_LOCK_NONE;
    s->plan = plan;
    s->name = (shard_name){index, n};
    FAB_FORMAT(s->folder, "%s", folder);
    FAB_PASS(store_lock_take(path, false, &s->lock, &taken, &holder, err));
    FAB_REFUSE_IF(!taken, err, FAB_EIO, path, "is being written by %s; a shard has one writer", holder.text);
    FAB_PASS(open_database(s, path, err));
    return FAB_GIVE(*out, s);
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

static fab_status mark(void *context, uint64_t block, FAB_UNUSED uint64_t digest, FAB_UNUSED fab_error *err) {
    uint64_t *bits = context;
    bits[block >> 6] |= UINT64_C(1) << (block & 63);
    return FAB_OK;
}

/* The own shard is read through its own connection: this process holds its lock, and would lose it with a second one.
 */
fab_status fab_shard_done(const fab_shard *shard, uint64_t *out, fab_error *err) {
    FAB_OWNED shard_name *shards = NULL;
    size_t n = 0;
    FAB_PASS(shard_each_block(&shard->db, shard->plan, mark, out, err));
    FAB_PASS(folder_shards(shard->folder, &shards, &n, err));
    for (size_t i = 0; i < n; i++) {
        shard_reader reader;
        store_holder holder;
        bool is_open = false;
        if (shards[i].index == shard->name.index && shards[i].n == shard->name.n) {
            continue;
        }
        FAB_PASS(shard_reader_open(shard->folder, shard->plan, shards[i], &reader, &is_open, &holder, err));
        fab_status status = is_open ? shard_each_block(&reader.db, shard->plan, mark, out, err) : FAB_OK;
        shard_reader_close(&reader);
        FAB_PASS(status);
    }
    return FAB_OK;
}
