#include "database_check.h"

#include "fab/rng.h"
#include "fab/str.h"

#include <string.h>

/* All that the database says of itself, a line per table. */
static fab_status check_add_schema(const database *db, fab_str *out, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    bool row = true;
    FAB_PASS(database_prepare(db,
                              "SELECT group_concat(line, char(10)) FROM (SELECT type || ' ' || name || ' of ' || "
                              "tbl_name || ': ' || coalesce(sql, '') AS line FROM sqlite_schema ORDER BY type, name)",
                              &s, err));
    FAB_PASS(database_step(db, s, &row, err));
    fab_str_add(out, column_text(s, 0));
    return fab_str_status(out, err);
}

fab_status database_check_schema(const database *db, const char *schema, fab_error *err) {
    FAB_OWNS(database_close) database model = {.handle = NULL};
    FAB_OWNS(fab_str_release) fab_str expected = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str found = FAB_STR_INIT;
    FAB_PASS(database_open(&model, ":memory:", DATABASE_CREATE, err));
    FAB_PASS(database_run(&model, schema, err));
    FAB_PASS(check_add_schema(&model, &expected, err));
    FAB_PASS(check_add_schema(db, &found, err));
    FAB_REFUSE_IF(strcmp(expected.data, found.data != NULL ? found.data : "") != 0, err, FAB_EINPUT, db->path,
                  "is damaged, or of another schema: its tables are not those of a study");
    return FAB_OK;
}

static uint64_t check_mix_bytes(uint64_t hash, const void *bytes, size_t n) {
    const char *at = bytes;
    uint64_t word = 0;
    hash = fab_mix64(hash ^ n);
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = fab_mix64(hash ^ word);
    }
    word = 0;
    memcpy(&word, at, n);
    return fab_mix64(hash ^ word);
}

static uint64_t check_mix_column(uint64_t hash, sqlite3_stmt *s, int column) {
    int type = sqlite3_column_type(s, column);
    double real = 0;
    uint64_t bits = 0;
    hash = fab_mix64(hash ^ (uint64_t)type);
    switch (type) {
    case SQLITE_INTEGER: return fab_mix64(hash ^ (uint64_t)sqlite3_column_int64(s, column));
    case SQLITE_FLOAT:
        real = sqlite3_column_double(s, column);
        memcpy(&bits, &real, sizeof bits);
        return fab_mix64(hash ^ bits);
    case SQLITE_TEXT: return check_mix_bytes(hash, column_text(s, column), (size_t)sqlite3_column_bytes(s, column));
    default: return hash; /* NULL; STRICT tables of ours hold no blobs */
    }
}

static fab_status check_digest_table(const database *db, const char *sql, uint64_t *hash, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    bool row = true;
    FAB_PASS(database_prepare(db, sql, &s, err));
    int n = sqlite3_column_count(s);
    for (;;) {
        FAB_PASS(database_step(db, s, &row, err));
        *hash = fab_mix64(*hash ^ row);
        if (!row) {
            break;
        }
        for (int i = 0; i < n; i++) {
            *hash = check_mix_column(*hash, s, i);
        }
    }
    return FAB_OK;
}

fab_status database_digest(const database *db, uint64_t *out, fab_error *err) {
    static const char *const TABLES[] = {
        "SELECT * FROM plan",
        "SELECT * FROM variant ORDER BY variant",
        "SELECT * FROM component ORDER BY component",
        "SELECT * FROM scenario ORDER BY scenario",
        "SELECT * FROM rate ORDER BY class",
        "SELECT * FROM file ORDER BY name",
        "SELECT * FROM outcome ORDER BY scenario, variant",
        "SELECT * FROM history ORDER BY scenario, variant",
        "SELECT * FROM failed ORDER BY scenario, component",
        "SELECT * FROM by_component ORDER BY variant, component",
    };
    *out = 0;
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        FAB_PASS(check_digest_table(db, TABLES[i], out, err));
    }
    return FAB_OK;
}
