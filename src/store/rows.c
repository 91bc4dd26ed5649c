#include "rows.h"

#include "fab/rng.h"

/* --- digest ------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    return fab_mix64(hash ^ value);
}

/* NAN is NULL in the database, and zero has no sign there. */
static uint64_t mix_real(uint64_t hash, double value) {
    uint64_t bits = UINT64_MAX;
    if (!isnan(value)) {
        value = value == 0 ? 0.0 : value;
        memcpy(&bits, &value, sizeof bits);
    }
    return mix(hash, bits);
}

static uint64_t mix_outcome(uint64_t hash, const fab_outcome *o, bool history) {
    hash = mix(mix(hash, o->scenario), (uint64_t)o->variant << 32 | o->state);
    hash =
        mix(mix(hash, (uint64_t)o->n_disconnected << 32 | o->n_moved), (uint64_t)o->n_collisions << 32 | o->worst_link);
    hash = mix_real(mix_real(mix_real(mix_real(hash, o->lost_ratio), o->worst_ratio), o->time_s), o->slowdown);
    if (history) {
        hash = mix_real(mix_real(mix_real(hash, o->goodput), o->restart_ratio), o->redo_ratio);
        hash = mix_real(mix_real(hash, o->slow_ratio), o->wait_ratio);
        hash = mix(hash, (uint64_t)o->n_failures << 32 | o->n_stops);
    }
    return hash;
}

uint64_t block_digest(const fab_plan *plan, const fab_block *block) {
    uint64_t hash = mix(block->number, block->n_scenarios);
    for (size_t i = 0; i < block->n_scenarios * plan->n_variants; i++) {
        hash = mix_outcome(hash, &block->outcome[i], plan->span_s > 0);
    }
    for (uint64_t i = 0; i < block->n_scenarios; i++) {
        hash = mix(hash, block->first[i + 1] - block->first[i]);
        for (size_t k = block->first[i]; k < block->first[i + 1]; k++) {
            hash = mix(hash, block->component[k]);
        }
    }
    return hash;
}

/* --- put ---------------------------------------------------------------------------------------------------------- */

fab_status row_writer_init(row_writer *writer, const database *db, fab_error *err) {
    writer->db = db;
    FAB_PASS(table_prepare(db, &table_outcome, &writer->outcome, err));
    FAB_PASS(table_prepare(db, &table_history, &writer->history, err));
    return database_prepare(db, "INSERT INTO failed VALUES (?, ?)", &writer->failed, err);
}

void row_writer_release(row_writer *writer) {
    (void)sqlite3_finalize(writer->outcome);
    (void)sqlite3_finalize(writer->history);
    (void)sqlite3_finalize(writer->failed);
    *writer = (row_writer){.db = NULL};
}

/* Table by table: consecutive keys go onto the same page. */
fab_status row_writer_put(row_writer *w, const fab_plan *plan, const fab_block *block, fab_error *err) {
    size_t n_rows = (size_t)block->n_scenarios * plan->n_variants;
    for (size_t i = 0; i < n_rows; i++) {
        FAB_PASS(table_put(w->db, &table_outcome, w->outcome, i, &block->outcome[i], err));
    }
    for (size_t i = 0; i < n_rows && plan->span_s > 0; i++) {
        FAB_PASS(table_put(w->db, &table_history, w->history, i, &block->outcome[i], err));
    }
    for (uint64_t i = 0; i < block->n_scenarios; i++) {
        for (size_t k = block->first[i]; k < block->first[i + 1]; k++) {
            int code = SQLITE_OK;
            bind_integer(w->failed, 1, block->number * plan->block + i, &code);
            bind_integer(w->failed, 2, block->component[k], &code);
            FAB_PASS(database_put(w->db, w->failed, code, err));
        }
    }
    return FAB_OK;
}

/* --- read --------------------------------------------------------------------------------------------------------- */

FAB_RELEASES(row_block_release, row_block, outcome, first, component);

#define BETWEEN "WHERE scenario >= ? AND scenario < ? ORDER BY 1, 2"

fab_status row_reader_init(row_reader *reader, const database *db, const fab_plan *plan, fab_error *err) {
    const char *sql = plan->span_s > 0 ? SQL_HISTORIES BETWEEN : SQL_OUTCOMES BETWEEN;
    reader->db = db;
    reader->plan = plan;
    FAB_PASS(database_prepare(db, sql, &reader->outcome, err));
    return database_prepare(db, "SELECT * FROM failed " BETWEEN, &reader->failed, err);
}

void row_reader_release(row_reader *reader) {
    (void)sqlite3_finalize(reader->outcome);
    (void)sqlite3_finalize(reader->failed);
    *reader = (row_reader){.db = NULL};
}

/* Begins with the rows of a block. */
static fab_status bind_block(const row_reader *r, sqlite3_stmt *s, uint64_t number, fab_error *err) {
    int code = SQLITE_OK;
    bind_integer(s, 1, number * r->plan->block, &code);
    bind_integer(s, 2, number * r->plan->block + fab_plan_block_size(r->plan, number), &code);
    return code == SQLITE_OK ? FAB_OK : database_fail(r->db, code, err);
}

/* Fewer rows than there should be leave others of the block's shape: the digest tells. */
static fab_status get_rows(row_reader *r, uint64_t number, row_block *out, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n = (size_t)fab_plan_block_size(r->plan, number) * r->plan->n_variants;
    bool row = false;
    FAB_TRY(FAB_GROW(out->outcome, out->outcome_capacity, n, err));
    memset(out->outcome, 0, n * sizeof *out->outcome);
    FAB_TRY(bind_block(r, r->outcome, number, err));
    FAB_TRY(database_step(r->db, r->outcome, &row, err));
    for (size_t i = 0; row && i < n; i++) {
        table_get_outcome(r->outcome, r->plan->span_s > 0, &out->outcome[i]);
        FAB_TRY(database_step(r->db, r->outcome, &row, err));
    }
    out->has_more = row;
done:
    (void)sqlite3_reset(r->outcome);
    return status;
}

static fab_status get_failed(row_reader *r, uint64_t number, row_block *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t n = fab_plan_block_size(r->plan, number);
    uint64_t at = 0; /* scenarios begun */
    size_t n_rows = 0;
    FAB_TRY(FAB_GROW(out->first, out->first_capacity, (size_t)n + 1, err));
    FAB_TRY(bind_block(r, r->failed, number, err));
    for (;;) {
        bool row = false;
        FAB_TRY(database_step(r->db, r->failed, &row, err));
        uint64_t scenario = row ? (uint64_t)sqlite3_column_int64(r->failed, 0) - number * r->plan->block : n;
        for (; at <= scenario && at <= n; at++) {
            out->first[at] = n_rows;
        }
        if (!row) {
            break;
        }
        FAB_TRY(FAB_APPEND(out->component, n_rows, out->component_capacity, err,
                           (uint32_t)sqlite3_column_int64(r->failed, 1)));
    }
done:
    (void)sqlite3_reset(r->failed);
    return status;
}

fab_status row_reader_get(row_reader *r, uint64_t number, uint64_t digest, row_block *out, fab_error *err) {
    uint64_t first = number * r->plan->block;
    uint64_t n = fab_plan_block_size(r->plan, number);
    FAB_PASS(get_rows(r, number, out, err));
    FAB_PASS(get_failed(r, number, out, err));
    out->block = (fab_block){number, n, out->outcome, out->first, out->component};
    FAB_REFUSE_IF(out->has_more || block_digest(r->plan, &out->block) != digest, err, FAB_EINPUT, r->db->path,
                  "is damaged: scenarios %" PRIu64 " to %" PRIu64 " are not what was stored", first, first + n - 1);
    return FAB_OK;
}
