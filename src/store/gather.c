/* All shards into one file, in the order of the scenarios. */
#include "plan_tables.h"
#include "schema.h"
#include "shard_read.h"

#include "fab/rng.h"

#define MOST_OPEN 64 /* shards: each takes file descriptors */

/* A block in a shard. */
typedef struct entry {
    uint64_t block, digest;
    size_t shard;
} entry;

typedef struct gathering {
    const char *folder;
    const fab_plan *plan;
    shard_name *shards;
    size_t n_shards;
    size_t listed; /* shard whose blocks are being listed */
    entry *entry;
    size_t n_entries, entry_capacity;
    /* open shards */
    shard_reader reader[MOST_OPEN];
    size_t reader_shard[MOST_OPEN]; /* SIZE_MAX: free */
    uint64_t used[MOST_OPEN], clock;
    row_block rows, other;
} gathering;

/* --- which blocks are where --------------------------------------------------------------------------------------- */

static fab_status gather_add_entry(void *context, uint64_t block, uint64_t digest, fab_error *err) {
    gathering *g = context;
    return FAB_APPEND(g->entry, g->n_entries, g->entry_capacity, err, (entry){block, digest, g->listed});
}

FAB_ORDER_TWO(by_block, entry, block, shard);

static fab_status busy(const gathering *g, size_t shard, const store_holder *holder, fab_error *err) {
    char path[STORE_PATH_SIZE];
    FAB_PASS(folder_shard_path(g->folder, g->shards[shard], path, err));
    return fab_fail(err, FAB_EIO, path, "is being written by %s; gather when it has ended", holder->text);
}

/* Reads what will be read again: a block that is damaged must be known before anything is written. */
static fab_status check_blocks(gathering *g, shard_reader *reader, size_t first, fab_error *err) {
    for (size_t i = first; i < g->n_entries; i++) {
        FAB_PASS(row_reader_get(&reader->rows, g->entry[i].block, g->entry[i].digest, &g->rows, err));
    }
    return FAB_OK;
}

static fab_status list_blocks(gathering *g, bool partial, fab_gathered *out, fab_error *err) {
    FAB_PASS(folder_shards(g->folder, &g->shards, &g->n_shards, err));
    for (g->listed = 0; g->listed < g->n_shards; g->listed++) {
        shard_reader reader;
        store_holder holder;
        bool is_open = false;
        size_t n_before = g->n_entries;
        fab_error inner = {.code = FAB_OK};
        fab_status status =
            shard_reader_open(g->folder, g->plan, g->shards[g->listed], &reader, &is_open, &holder, &inner);
        bool is_foreign = reader.db.is_foreign;
        if (status == FAB_OK && is_open) {
            status = shard_each_block(&reader.db, g->plan, gather_add_entry, g, &inner);
            status = status == FAB_OK && partial ? check_blocks(g, &reader, n_before, &inner) : status;
            shard_reader_close(&reader);
        }
        if (status == FAB_EINPUT && partial && !is_foreign) {
            out->n_bad++;
            g->n_entries = n_before;
        } else if (status != FAB_OK) {
            return fab_fail(err, status, inner.where, "%s", inner.text);
        } else if (is_open) {
            out->n_shards++;
        } else if (holder.text[0] != '\0') {
            out->n_busy++;
            FAB_PASS(partial ? FAB_OK : busy(g, g->listed, &holder, err));
        }
    }
    FAB_SORT(g->entry, g->n_entries, by_block);
    return FAB_OK;
}

static uint64_t count_done(const gathering *g) {
    uint64_t n = 0;
    for (size_t i = 0; i < g->n_entries; i++) {
        if (i == 0 || g->entry[i].block != g->entry[i - 1].block) {
            n += fab_plan_block_size(g->plan, g->entry[i].block);
        }
    }
    return n;
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* The shard among those that are open; else in the place of the one that was used longest ago. */
static fab_status open_shard(gathering *g, size_t shard, shard_reader **out, fab_error *err) {
    size_t at = 0;
    store_holder holder;
    bool is_open = false;
    for (size_t i = 0; i < MOST_OPEN; i++) {
        if (g->reader_shard[i] == shard) {
            g->used[i] = ++g->clock;
            *out = &g->reader[i];
            return FAB_OK;
        }
        at = g->used[i] < g->used[at] ? i : at;
    }
    if (g->reader_shard[at] != SIZE_MAX) {
        g->reader_shard[at] = SIZE_MAX;
        shard_reader_close(&g->reader[at]);
    }
    FAB_PASS(shard_reader_open(g->folder, g->plan, g->shards[shard], &g->reader[at], &is_open, &holder, err));
    FAB_RETURN_IF(!is_open, busy(g, shard, &holder, err));
    g->reader_shard[at] = shard;
    g->used[at] = ++g->clock;
    *out = &g->reader[at];
    return FAB_OK;
}

static fab_status read_block(gathering *g, const entry *e, row_block *out, fab_error *err) {
    shard_reader *reader = NULL;
    FAB_PASS(open_shard(g, e->shard, &reader, err));
    return row_reader_get(&reader->rows, e->block, e->digest, out, err);
}

static bool same_failed(const fab_block *a, const fab_block *b, uint64_t i) {
    size_t n = a->first[i + 1] - a->first[i];
    return n == b->first[i + 1] - b->first[i] &&
           memcmp(a->component + a->first[i], b->component + b->first[i], n * sizeof *a->component) == 0;
}

/* Two blocks with different digests: says which scenario it is. */
static fab_status say_difference(gathering *g, const entry *a, const entry *b, fab_error *err) {
    char path[STORE_PATH_SIZE];
    uint64_t i = 0;
    const fab_block *x = &g->rows.block;
    const fab_block *y = &g->other.block;
    FAB_PASS(read_block(g, a, &g->rows, err));
    FAB_PASS(read_block(g, b, &g->other, err));
    for (; i + 1 < x->n_scenarios; i++) { /* a block of one scenario each has the digest of that scenario alone */
        fab_plan one = *g->plan;
        size_t none[2] = {0, 0};
        fab_block p = {0, 1, x->outcome + i * one.n_variants, none, NULL};
        fab_block q = {0, 1, y->outcome + i * one.n_variants, none, NULL};
        if (block_digest(&one, &p) != block_digest(&one, &q) || !same_failed(x, y, i)) {
            break;
        }
    }
    FAB_PASS(folder_shard_path(g->folder, g->shards[b->shard], path, err));
    return fab_fail(err, FAB_EINTERNAL, path,
                    "scenario %" PRIu64 " has other results here than in shard %" PRIu32 " of %" PRIu32
                    "; it should depend on the plan alone. Delete the shard that is wrong and run again",
                    a->block * g->plan->block + i, g->shards[a->shard].index, g->shards[a->shard].n);
    return FAB_OK;
}

static fab_status put_blocks(gathering *g, const database *db, void (*progress)(void *, double, size_t),
                             void *progress_context, fab_gathered *out, fab_error *err) {
    FAB_OWNS(row_writer_release) row_writer writer = {.db = NULL};
    FAB_PASS(row_writer_init(&writer, db, err));
    for (size_t i = 0, next = 0; i < g->n_entries; i = next) {
        for (next = i + 1; next < g->n_entries && g->entry[next].block == g->entry[i].block; next++) {
            if (g->entry[next].digest != g->entry[i].digest) {
                FAB_PASS(say_difference(g, &g->entry[i], &g->entry[next], err));
            }
        }
        out->n_twice += next > i + 1 ? fab_plan_block_size(g->plan, g->entry[i].block) : 0;
        FAB_PASS(read_block(g, &g->entry[i], &g->rows, err));
        FAB_PASS(row_writer_put(&writer, g->plan, &g->rows.block, err));
        if (progress != NULL) {
            progress(progress_context, (double)next, g->n_entries);
        }
    }
    return FAB_OK;
}

/* What scenarios do in which a component fails. */
static const char SUM_BY_COMPONENT[] =
    "INSERT INTO by_component SELECT variant, component, count(*), sum(state = 1), avg(slowdown), max(slowdown), "
    "avg(worst_ratio), max(worst_ratio) FROM failed JOIN outcome USING (scenario) GROUP BY variant, component";

static fab_status put_gathered(const database *db, uint64_t n_done, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    int code = SQLITE_OK;
    uint64_t digest = 0;
    FAB_PASS(database_digest(db, &digest, err));
    FAB_PASS(database_prepare(db, "INSERT INTO gathered VALUES (?, ?)", &s, err));
    bind_integer(s, 1, n_done, &code);
    bind_integer(s, 2, fab_mix64(digest ^ n_done), &code);
    return database_put(db, s, code, err);
}

static fab_status write_results(gathering *g, void (*progress)(void *, double, size_t), void *progress_context,
                                fab_gathered *out, fab_error *err) {
    fab_status status = FAB_OK;
    database db = {.handle = NULL};
    char temporary[STORE_PATH_SIZE];
    char path[STORE_PATH_SIZE];
    FAB_TRY(folder_path(g->folder, STORE_RESULTS ".new", temporary, err));
    FAB_TRY(folder_path(g->folder, STORE_RESULTS, path, err));
    folder_remove(temporary); /* of a merge that was ended */
    FAB_TRY(database_begin_new(&db, temporary, SCHEMA_RESULTS, err));
    FAB_TRY(plan_tables_put(&db, g->plan, err));
    FAB_TRY(put_blocks(g, &db, progress, progress_context, out, err));
    FAB_TRY(database_run(&db, SUM_BY_COMPONENT, err));
    FAB_TRY(put_gathered(&db, out->n_done, err));
    FAB_TRY(database_end_new(&db, err));
    FAB_TRY(folder_move(g->folder, temporary, path, err));
done:
    database_close(&db);
    if (status != FAB_OK) {
        folder_remove(temporary);
    }
    return status;
}

static void gathering_free(gathering *g) {
    for (size_t i = 0; g != NULL && i < MOST_OPEN; i++) {
        if (g->reader_shard[i] != SIZE_MAX) {
            shard_reader_close(&g->reader[i]);
        }
    }
    if (g != NULL) {
        row_block_release(&g->rows);
        row_block_release(&g->other);
        FAB_FREE_ALL(g->shards, g->entry, g);
    }
}
FAB_OWNER(gathering, gathering_free)

fab_status fab_store_gather(const char *folder, const fab_plan *plan, bool partial,
                            void (*progress)(void *context, double done, size_t total), void *progress_context,
                            fab_gathered *out, fab_error *err) {
    FAB_OWNS(store_lock_release) store_lock lock = STORE_LOCK_NONE;
    store_holder holder = {.text = ""};
    char path[STORE_PATH_SIZE];
    bool taken = false;
    fab_gathered found = {0};
    FAB_OWNS_NEW(gathering_free_owned, gathering, g, 1, err);
    g->folder = folder;
    g->plan = plan;
    FAB_FILL(g->reader_shard, MOST_OPEN, SIZE_MAX);
    FAB_PASS(folder_path(folder, STORE_RESULTS, path, err));
    FAB_PASS(store_lock_take(path, false, &lock, &taken, &holder, err));
    FAB_REFUSE_IF(!taken, err, FAB_EIO, path, "is being written by %s", holder.text);
    FAB_PASS(list_blocks(g, partial, &found, err));
    found.n_done = count_done(g);
    FAB_REFUSE_IF(found.n_done < plan->n_scenarios && !partial, err, FAB_EINPUT, folder,
                  "%" PRIu64 " of %" PRIu64 " scenarios are missing: run again, or gather what is there with --partial",
                  plan->n_scenarios - found.n_done, plan->n_scenarios);
    FAB_PASS(write_results(g, progress, progress_context, &found, err));
    *out = found;
    return FAB_OK;
}
