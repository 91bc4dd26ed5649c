#define _DEFAULT_SOURCE /* for realpath */ // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#include "database.h"

#include "fab/rng.h"
#include "fab/str.h"

#include <errno.h>
#include <sys/stat.h>

#define BUSY_MS 10000 /* until somebody else must have ended what takes moments */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The reason that the system gave, where it gave one. */
static const char *system_reason(const database *db) {
    int number = db->handle != NULL ? sqlite3_system_errno(db->handle) : 0;
    return number != 0 ? strerror(number) : "no reason given";
}

/* SQLite takes these for damage to the file, without having seen any of it. */
static bool cannot_be_read(const database *db, int *out_number) {
    int code = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_LAST_ERRNO, out_number);
    return code == SQLITE_OK && (*out_number == EIO || *out_number == ENXIO || *out_number == ERANGE);
}

bool database_has_moved(const database *db) {
    int moved = 0;
    return sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

fab_status database_fail(const database *db, int code, fab_error *err) {
    const char *path = db->path;
    const char *name = base_name(path);
    int number = 0;
    switch (code & 0xff) {
    case SQLITE_NOMEM: return fab_fail(err, FAB_ENOMEM, path, "memory ran out while %s was used", name);
    case SQLITE_FULL: return fab_fail(err, FAB_EIO, path, "the disk is full; what was stored before is intact");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL: return fab_fail(err, FAB_EIO, path, "another process uses it");
    case SQLITE_NOTADB: return fab_fail(err, FAB_EINPUT, path, "is no store of a study: not an SQLite database");
    case SQLITE_CORRUPT:
        FAB_REFUSE_IF(cannot_be_read(db, &number), err, FAB_EIO, path, "cannot be read: %s", strerror(number));
        return fab_fail(err, FAB_EINPUT, path, "is damaged: %s", sqlite3_errmsg(db->handle));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_NOLFS:
        FAB_REFUSE_IF(database_has_moved(db), err, FAB_EIO, path,
                      "was moved or deleted while it was used: what it held is lost to this run");
        return fab_fail(err, FAB_EIO, path, "%s: %s; what was stored before is intact", sqlite3_errstr(code),
                        system_reason(db));
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return fab_fail(err, FAB_EINPUT, path, "is damaged, or of another schema: %s", sqlite3_errmsg(db->handle));
    default: break;
    }
    return fab_fail(err, FAB_EINTERNAL, path, "SQLite says %d: %s", code, sqlite3_errstr(code));
}

/* A path as a URI that says immutable. */
static fab_status immutable_uri(const char *path, char *out, size_t size, fab_error *err) {
    size_t n = (size_t)snprintf(out, size, "file:");
    for (const char *c = path; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("/._-", *c) != NULL;
        FAB_REFUSE_IF(n + 24 > size, err, FAB_EINPUT, NULL, "'%.40s...' is too long for a path", path);
        n += (size_t)snprintf(out + n, size - n, plain ? "%c" : "%%%02X", (unsigned char)*c);
    }
    (void)snprintf(out + n, size - n, "?immutable=1");
    return FAB_OK;
}

/* The path with its folder resolved: SQLite takes links to folders for links, too, where it is to follow none. */
static fab_status resolve_folder(const char *path, char *out, fab_error *err) {
    char folder[STORE_PATH_SIZE];
    size_t n = (size_t)(base_name(path) - path);
    FAB_FORMAT(folder, "%.*s", (int)n, n > 0 ? path : "");
    char *known = strcmp(path, ":memory:") != 0 ? realpath(n > 0 ? folder : ".", NULL) : NULL;
    int length = known != NULL ? snprintf(out, STORE_PATH_SIZE, "%s/%s", known, base_name(path))
                               : snprintf(out, STORE_PATH_SIZE, "%s", path);
    free(known);
    return length < 0 || length >= STORE_PATH_SIZE
               ? fab_fail(err, FAB_EINPUT, NULL, "'%.40s...' is too long for a path", path)
               : FAB_OK;
}

fab_status database_open(database *db, const char *path, database_mode mode, fab_error *err) {
    char uri[3 * STORE_PATH_SIZE];
    char resolved[STORE_PATH_SIZE];
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    const char *name = resolved;
    struct stat about;
    FAB_PASS(resolve_folder(path, resolved, err));
    FAB_FORMAT(db->path, "%s", path);
    if (mode == DATABASE_CREATE) {
        flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    } else if (mode == DATABASE_RECOVER) {
        flags |= SQLITE_OPEN_READWRITE;
    } else {
        flags |= SQLITE_OPEN_READONLY;
    }
    if (mode == DATABASE_IMMUTABLE) {
        FAB_PASS(immutable_uri(resolved, uri, sizeof uri, err));
        flags |= SQLITE_OPEN_URI;
        name = uri;
    }
    int code = sqlite3_open_v2(name, &db->handle, flags, NULL);
    FAB_REFUSE_IF(code != SQLITE_OK && lstat(resolved, &about) == 0 && S_ISLNK(about.st_mode), err, FAB_EINPUT, path,
                  "is a link: files of a store are not followed elsewhere");
    FAB_REFUSE_IF(code != SQLITE_OK, err, (code & 0xff) == SQLITE_NOMEM ? FAB_ENOMEM : FAB_EIO, path,
                  "cannot open: %s: %s", sqlite3_errstr(code), system_reason(db));
    (void)sqlite3_busy_timeout(db->handle, BUSY_MS);
    /* A file from elsewhere may hold anything: nothing in it is run, and nothing that looks wrong is believed. */
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return database_run(db, "PRAGMA cell_size_check = ON", err);
}

void database_close(database *db) {
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
}

fab_status database_run(const database *db, const char *sql, fab_error *err) {
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? FAB_OK : database_fail(db, code, err);
}

fab_status database_prepare(const database *db, const char *sql, sqlite3_stmt **out, fab_error *err) {
    int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code == SQLITE_OK ? FAB_OK : database_fail(db, code, err);
}

fab_status database_step(const database *db, sqlite3_stmt *statement, bool *out_row, fab_error *err) {
    int code = sqlite3_step(statement);
    *out_row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? FAB_OK : database_fail(db, code, err);
}

fab_status database_put(const database *db, sqlite3_stmt *statement, int code, fab_error *err) {
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    (void)sqlite3_reset(statement);
    return code == SQLITE_DONE ? FAB_OK : database_fail(db, code, err);
}

fab_status database_integer(const database *db, const char *sql, int64_t *out, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *statement = NULL;
    bool row = false;
    FAB_PASS(database_prepare(db, sql, &statement, err));
    FAB_PASS(database_step(db, statement, &row, err));
    *out = row ? sqlite3_column_int64(statement, 0) : 0;
    return FAB_OK;
}

static void database_keep(int *code, int result) {
    *code = *code == SQLITE_OK ? result : *code;
}

void bind_integer(sqlite3_stmt *statement, int column, uint64_t value, int *code) {
    database_keep(code, sqlite3_bind_int64(statement, column, (sqlite3_int64)value));
}

void bind_real(sqlite3_stmt *statement, int column, double value, int *code) {
    database_keep(code,
                  isnan(value) ? sqlite3_bind_null(statement, column) : sqlite3_bind_double(statement, column, value));
}

void bind_text(sqlite3_stmt *statement, int column, const char *text, int *code) {
    database_keep(code, sqlite3_bind_text(statement, column, text != NULL ? text : "", -1, SQLITE_STATIC));
}

double column_real(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN : sqlite3_column_double(statement, column);
}

const char *column_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

fab_status database_brand(const database *db, fab_error *err) {
    char sql[96];
    FAB_FORMAT(sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID, STORE_SCHEMA);
    return database_run(db, sql, err);
}

/* Nobody sees the file before it is complete: there is nothing to go back to, and nobody to lock out. The same
 * statements give the same bytes: page size and the rest do not depend on how SQLite was built. */
fab_status database_begin_new(database *db, const char *path, const char *schema, fab_error *err) {
    FAB_PASS(database_open(db, path, DATABASE_CREATE, err));
    FAB_PASS(database_run(db,
                          "PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE; PRAGMA encoding = 'UTF-8'; "
                          "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; "
                          "PRAGMA secure_delete = ON; PRAGMA cache_size = -65536",
                          err));
    FAB_PASS(database_run(db, "BEGIN", err));
    FAB_PASS(database_brand(db, err));
    return database_run(db, schema, err);
}

fab_status database_end_new(database *db, fab_error *err) {
    fab_status status = database_run(db, "COMMIT", err);
    database_close(db);
    return status;
}

fab_status database_check_brand(database *db, bool *out_empty, fab_error *err) {
    int64_t id = 0;
    int64_t version = 0;
    int64_t n_tables = 0;
    FAB_PASS(database_integer(db, "PRAGMA application_id", &id, err));
    FAB_PASS(database_integer(db, "PRAGMA user_version", &version, err));
    FAB_PASS(database_integer(db, "SELECT count(*) FROM sqlite_schema", &n_tables, err));
    *out_empty = id == 0 && version == 0 && n_tables == 0;
    db->is_foreign = !*out_empty && id != STORE_APPLICATION_ID;
    FAB_REFUSE_IF(db->is_foreign, err, FAB_EINPUT, db->path,
                  "is no store of a study: its application id is %" PRId64 ", not %d", id, STORE_APPLICATION_ID);
    if (version > STORE_SCHEMA) {
        db->is_foreign = true;
        return fab_fail(err, FAB_EINPUT, db->path,
                        "has schema version %" PRId64 "; this program knows versions up to %d: a newer one wrote it",
                        version, STORE_SCHEMA);
    }
    return FAB_OK;
}

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
    for (size_t i = 0; i < FAB_N_OF(TABLES); i++) {
        FAB_PASS(check_digest_table(db, TABLES[i], out, err));
    }
    return FAB_OK;
}
