/* Results as gathered, for those who report them. */
#include "folder.h"
#include "plan_tables.h"
#include "schema.h"
#include "columns.h"

#include "fab/rng.h"

struct fab_store {
    database db;
    fab_plan plan;
};

struct fab_query {
    const fab_store *store;
    sqlite3_stmt *statement;
};

/* Results that were gathered before the folder was given to another plan would be those of nobody. */
static fab_status check_plan(const char *folder, const fab_store *store, fab_error *err) {
    char path[STORE_PATH_SIZE];
    FAB_OWNS(fab_plan_release) fab_plan there = {.program = NULL};
    FAB_PASS(folder_path(folder, STORE_PLAN, path, err));
    if (folder_size_of(path) >= 0) {
        FAB_PASS(fab_plan_read(folder, &there, err));
        FAB_REFUSE_IF(strcmp(there.id, store->plan.id) != 0, err, FAB_EINPUT, store->db.path,
                      "belongs to another plan: design %.40s %s, not %.40s %s of " STORE_PLAN, store->plan.name,
                      store->plan.digest, there.name, there.digest);
    }
    return FAB_OK;
}

static fab_status check_digest(const fab_store *store, fab_error *err) {
    const database *db = &store->db;
    uint64_t digest = 0;
    int64_t stored = 0;
    int64_t n_done = 0;
    FAB_PASS(database_check_schema(db, SCHEMA_RESULTS, err));
    FAB_PASS(database_integer(db, "SELECT n_done FROM gathered", &n_done, err));
    FAB_PASS(database_digest(db, &digest, err));
    FAB_PASS(database_integer(db, "SELECT digest FROM gathered", &stored, err));
    return fab_mix64(digest ^ (uint64_t)n_done) == (uint64_t)stored
               ? FAB_OK
               : fab_fail(err, FAB_EINPUT, db->path,
                          "is not as it was gathered: its rows do not have the digest that it names; gather again");
}

static fab_status open_results(const char *folder, fab_store *store, fab_error *err) {
    char path[STORE_PATH_SIZE];
    bool empty = false;
    FAB_PASS(folder_path(folder, STORE_RESULTS, path, err));
    if (folder_size_of(path) < 0) {
        fab_plan plan = {.program = NULL};
        FAB_PASS(fab_plan_read(folder, &plan, err)); /* says so where it is no store at all */
        fab_plan_release(&plan);
        return fab_fail(err, FAB_EINPUT, folder, "nothing is gathered yet: there is no " STORE_RESULTS);
    }
    FAB_PASS(database_open(&store->db, path, DATABASE_READ, err));
    FAB_PASS(database_check_brand(&store->db, &empty, err));
    FAB_REFUSE_IF(empty, err, FAB_EINPUT, path, "is no store of a study: an empty database");
    FAB_PASS(database_run(&store->db, "PRAGMA cache_size = -65536", err));
    FAB_PASS(check_digest(store, err));
    FAB_PASS(plan_tables_get(&store->db, &store->plan, err));
    return check_plan(folder, store, err);
}

fab_status fab_store_open(const char *folder, fab_store **out, fab_error *err) {
    FAB_OWNS_NEW(fab_store_close_owned, fab_store, store, 1, err);
    FAB_PASS(open_results(folder, store, err));
    return FAB_GIVE(*out, store);
}

void fab_store_close(fab_store *store) {
    if (store != NULL) {
        fab_plan_release(&store->plan);
        database_close(&store->db);
        free(store);
    }
}

const fab_plan *fab_store_plan(const fab_store *store) {
    return &store->plan;
}

fab_status fab_query_new(const fab_store *store, const char *sql, const int64_t *values, size_t n, fab_query **out,
                         fab_error *err) {
    int code = SQLITE_OK;
    FAB_OWNS_NEW(fab_query_free_owned, fab_query, query, 1, err);
    query->store = store;
    FAB_PASS(database_prepare(&store->db, sql, &query->statement, err));
    for (size_t i = 0; i < n && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(query->statement, (int)i + 1, values[i]);
    }
    FAB_PASS(code == SQLITE_OK ? FAB_OK : database_fail(&store->db, code, err));
    return FAB_GIVE(*out, query);
}

void fab_query_free(fab_query *query) {
    if (query != NULL) {
        (void)sqlite3_finalize(query->statement);
        free(query);
    }
}

fab_status fab_query_next(fab_query *query, bool *out_row, fab_error *err) {
    return database_step(&query->store->db, query->statement, out_row, err);
}

fab_status fab_store_outcomes(const fab_store *store, fab_query **out, fab_error *err) {
    return fab_query_new(store, store->plan.span_s > 0 ? SQL_HISTORIES "ORDER BY 1, 2" : SQL_OUTCOMES "ORDER BY 1, 2",
                         NULL, 0, out, err);
}

void fab_query_outcome(const fab_query *query, fab_outcome *out) {
    table_get_outcome(query->statement, query->store->plan.span_s > 0, out);
}

bool fab_query_is_null(const fab_query *query, int column) {
    return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

int64_t fab_query_integer(const fab_query *query, int column) {
    return sqlite3_column_int64(query->statement, column);
}

double fab_query_real(const fab_query *query, int column) {
    return column_real(query->statement, column);
}

const char *fab_query_text(const fab_query *query, int column) {
    return column_text(query->statement, column);
}
