#include "rows.h"
#include "schema.h"

#include "fab/memory.h"
#include "fab/rng.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

uint64_t block_size(const fab_plan *plan, uint64_t number) {
    uint64_t first = number * plan->block;
    uint64_t left = plan->n_scenarios - first;
    return left < plan->block ? left : plan->block;
}

/* --- put ---------------------------------------------------------------------------------------------------------- */

fab_status row_writer_init(row_writer *writer, const database *db, fab_error *err) {
    writer->db = db;
    FAB_PASS(database_prepare(db, SQL_PUT_OUTCOME, &writer->outcome, err));
    FAB_PASS(database_prepare(db, SQL_PUT_HISTORY, &writer->history, err));
    return database_prepare(db, SQL_PUT_FAILED, &writer->failed, err);
}

void row_writer_release(row_writer *writer) {
    (void)sqlite3_finalize(writer->outcome);
    (void)sqlite3_finalize(writer->history);
    (void)sqlite3_finalize(writer->failed);
    *writer = (row_writer){.db = NULL};
}

static fab_status put_outcome(row_writer *w, const fab_outcome *o, fab_error *err) {
    sqlite3_stmt *s = w->outcome;
    int code = SQLITE_OK;
    bind_integer(s, 1, o->scenario, &code);
    bind_integer(s, 2, o->variant, &code);
    bind_integer(s, 3, o->state, &code);
    bind_integer(s, 4, o->n_disconnected, &code);
    bind_integer(s, 5, o->n_moved, &code);
    bind_integer(s, 6, o->n_collisions, &code);
    if (o->worst_link == UINT32_MAX) {
        code = code == SQLITE_OK ? sqlite3_bind_null(s, 7) : code;
    } else {
        bind_integer(s, 7, o->worst_link, &code);
    }
    bind_real(s, 8, o->lost_ratio, &code);
    bind_real(s, 9, o->worst_ratio, &code);
    bind_real(s, 10, o->time_s, &code);
    bind_real(s, 11, o->slowdown, &code);
    return code == SQLITE_OK ? database_put(w->db, s, err) : database_fail(w->db, code, err);
}

static fab_status put_history(row_writer *w, const fab_outcome *o, fab_error *err) {
    sqlite3_stmt *s = w->history;
    int code = SQLITE_OK;
    bind_integer(s, 1, o->scenario, &code);
    bind_integer(s, 2, o->variant, &code);
    bind_real(s, 3, o->goodput, &code);
    bind_real(s, 4, o->restart_ratio, &code);
    bind_real(s, 5, o->redo_ratio, &code);
    bind_real(s, 6, o->slow_ratio, &code);
    bind_real(s, 7, o->wait_ratio, &code);
    bind_integer(s, 8, o->n_failures, &code);
    bind_integer(s, 9, o->n_stops, &code);
    return code == SQLITE_OK ? database_put(w->db, s, err) : database_fail(w->db, code, err);
}

static fab_status put_failed(row_writer *w, uint64_t scenario, uint32_t component, fab_error *err) {
    int code = SQLITE_OK;
    bind_integer(w->failed, 1, scenario, &code);
    bind_integer(w->failed, 2, component, &code);
    return code == SQLITE_OK ? database_put(w->db, w->failed, err) : database_fail(w->db, code, err);
}

/* Table by table: consecutive keys go onto the same page. */
fab_status row_writer_put(row_writer *writer, const fab_plan *plan, const fab_block *block, fab_error *err) {
    size_t n_rows = (size_t)block->n_scenarios * plan->n_variants;
    for (size_t i = 0; i < n_rows; i++) {
        FAB_PASS(put_outcome(writer, &block->outcome[i], err));
    }
    for (size_t i = 0; i < n_rows && plan->span_s > 0; i++) {
        FAB_PASS(put_history(writer, &block->outcome[i], err));
    }
    for (uint64_t i = 0; i < block->n_scenarios; i++) {
        for (size_t k = block->first[i]; k < block->first[i + 1]; k++) {
            FAB_PASS(put_failed(writer, block->number * plan->block + i, block->component[k], err));
        }
    }
    return FAB_OK;
}

/* --- read --------------------------------------------------------------------------------------------------------- */

void row_block_release(row_block *block) {
    FAB_FREE_ALL(block->outcome, block->first, block->component);
    *block = (row_block){.outcome = NULL};
}

#define BETWEEN " WHERE scenario >= ? AND scenario < ? ORDER BY 1, 2"

fab_status row_reader_init(row_reader *reader, const database *db, fab_error *err) {
    reader->db = db;
    FAB_PASS(database_prepare(db, "SELECT * FROM outcome" BETWEEN, &reader->outcome, err));
    FAB_PASS(database_prepare(db, "SELECT * FROM history" BETWEEN, &reader->history, err));
    return database_prepare(db, "SELECT * FROM failed" BETWEEN, &reader->failed, err);
}

void row_reader_release(row_reader *reader) {
    (void)sqlite3_finalize(reader->outcome);
    (void)sqlite3_finalize(reader->history);
    (void)sqlite3_finalize(reader->failed);
    *reader = (row_reader){.db = NULL};
}

static fab_status missing_rows(const row_reader *r, const fab_plan *plan, uint64_t number, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, r->db->path,
                    "is damaged: scenarios %" PRIu64 " to %" PRIu64 " are not what was stored", number * plan->block,
                    number * plan->block + block_size(plan, number) - 1);
}

static fab_status bind_block(const row_reader *r, sqlite3_stmt *s, const fab_plan *plan, uint64_t number,
                             fab_error *err) {
    int code = SQLITE_OK;
    bind_integer(s, 1, number * plan->block, &code);
    bind_integer(s, 2, number * plan->block + block_size(plan, number), &code);
    return code == SQLITE_OK ? FAB_OK : database_fail(r->db, code, err);
}

static uint32_t column_u32(sqlite3_stmt *s, int column) {
    return (uint32_t)sqlite3_column_int64(s, column);
}

static void get_outcome(sqlite3_stmt *s, fab_outcome *o) {
    *o = (fab_outcome){.scenario = (uint64_t)sqlite3_column_int64(s, 0),
                       .variant = column_u32(s, 1),
                       .state = column_u32(s, 2),
                       .n_disconnected = column_u32(s, 3),
                       .n_moved = column_u32(s, 4),
                       .n_collisions = column_u32(s, 5),
                       .worst_link = sqlite3_column_type(s, 6) == SQLITE_NULL ? UINT32_MAX : column_u32(s, 6),
                       .lost_ratio = column_real(s, 7),
                       .worst_ratio = column_real(s, 8),
                       .time_s = column_real(s, 9),
                       .slowdown = column_real(s, 10),
                       .goodput = NAN,
                       .restart_ratio = NAN,
                       .redo_ratio = NAN,
                       .slow_ratio = NAN,
                       .wait_ratio = NAN};
}

static void get_history(sqlite3_stmt *s, fab_outcome *o) {
    o->goodput = column_real(s, 2);
    o->restart_ratio = column_real(s, 3);
    o->redo_ratio = column_real(s, 4);
    o->slow_ratio = column_real(s, 5);
    o->wait_ratio = column_real(s, 6);
    o->n_failures = column_u32(s, 7);
    o->n_stops = column_u32(s, 8);
}

static fab_status get_rows(row_reader *r, const fab_plan *plan, uint64_t number, row_block *out, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n = (size_t)block_size(plan, number) * plan->n_variants;
    bool history = plan->span_s > 0;
    bool row = false;
    size_t n_rows = 0;
    FAB_TRY(FAB_GROW(out->outcome, out->outcome_capacity, n, err));
    FAB_TRY(bind_block(r, r->outcome, plan, number, err));
    for (;; n_rows++) {
        FAB_TRY(database_step(r->db, r->outcome, &row, err));
        if (!row || n_rows == n) {
            break;
        }
        get_outcome(r->outcome, &out->outcome[n_rows]);
    }
    if (row || n_rows != n) {
        FAB_TRY(missing_rows(r, plan, number, err));
    }
    FAB_TRY(bind_block(r, r->history, plan, number, err));
    for (n_rows = 0; history && n_rows < n; n_rows++) {
        FAB_TRY(database_step(r->db, r->history, &row, err));
        if (row) {
            get_history(r->history, &out->outcome[n_rows]);
        }
    }
done:
    (void)sqlite3_reset(r->outcome);
    (void)sqlite3_reset(r->history);
    return status;
}

static fab_status get_failed(row_reader *r, const fab_plan *plan, uint64_t number, row_block *out, fab_error *err) {
    fab_status status = FAB_OK;
    uint64_t n = block_size(plan, number);
    uint64_t at = 0; /* scenarios begun */
    size_t n_rows = 0;
    FAB_TRY(FAB_GROW(out->first, out->first_capacity, (size_t)n + 1, err));
    FAB_TRY(bind_block(r, r->failed, plan, number, err));
    for (;;) {
        bool row = false;
        FAB_TRY(database_step(r->db, r->failed, &row, err));
        uint64_t scenario = row ? (uint64_t)sqlite3_column_int64(r->failed, 0) - number * plan->block : n;
        for (; at <= scenario && at <= n; at++) {
            out->first[at] = n_rows;
        }
        if (!row) {
            break;
        }
        FAB_TRY(FAB_GROW(out->component, out->component_capacity, n_rows + 1, err));
        out->component[n_rows++] = column_u32(r->failed, 1);
    }
done:
    (void)sqlite3_reset(r->failed);
    return status;
}

fab_status row_reader_get(row_reader *reader, const fab_plan *plan, uint64_t number, uint64_t digest, row_block *out,
                          fab_error *err) {
    FAB_PASS(get_rows(reader, plan, number, out, err));
    FAB_PASS(get_failed(reader, plan, number, out, err));
    out->block = (fab_block){number, block_size(plan, number), out->outcome, out->first, out->component};
    if (block_digest(plan, &out->block) != digest) {
        FAB_PASS(missing_rows(reader, plan, number, err));
    }
    return FAB_OK;
}
