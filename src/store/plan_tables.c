#include "plan_tables.h"

#include "fab/memory.h"
#include "fab/shard.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_ROWS 100000000 /* of a table that is held in memory */

/* --- put ---------------------------------------------------------------------------------------------------------- */

/* Puts row after row: bind(context, row, statement, code). */
typedef void bind_row(const fab_plan *plan, size_t i, sqlite3_stmt *s, int *code);

static fab_status plan_put_rows(const database *db, const fab_plan *plan, const char *sql, size_t n, bind_row *bind,
                                fab_error *err) {
    fab_status status = FAB_OK;
    sqlite3_stmt *s = NULL;
    FAB_TRY(database_prepare(db, sql, &s, err));
    for (size_t i = 0; i < n; i++) {
        int code = SQLITE_OK;
        bind(plan, i, s, &code);
        FAB_TRY(code == SQLITE_OK ? database_put(db, s, err) : database_fail(db, code, err));
    }
done:
    (void)sqlite3_finalize(s);
    return status;
}

static void bind_plan(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    (void)i;
    bind_text(s, 1, p->id, code);
    bind_text(s, 2, p->program, code);
    bind_text(s, 3, p->name, code);
    bind_text(s, 4, p->origin, code);
    bind_text(s, 5, p->design, code);
    bind_text(s, 6, p->digest, code);
    bind_text(s, 7, p->traffic, code);
    bind_text(s, 8, p->scenarios, code);
    bind_integer(s, 9, p->seed, code);
    bind_integer(s, 10, p->n_scenarios, code);
    bind_integer(s, 11, p->block, code);
    bind_text(s, 12, p->times ? "times" : "loads", code);
    bind_real(s, 13, p->span_s, code);
    bind_real(s, 14, p->checkpoint_s, code);
    bind_real(s, 15, p->restart_s, code);
}

static void bind_variant(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    const fab_store_variant *v = &p->variants[i];
    bind_integer(s, 1, i, code);
    bind_text(s, 2, v->engine, code);
    bind_text(s, 3, v->label, code);
    bind_text(s, 4, v->policy, code);
    bind_integer(s, 5, v->healthy.n_disconnected, code);
    bind_integer(s, 6, v->healthy.n_collisions, code);
    if (v->healthy.worst_link == UINT32_MAX) {
        *code = *code == SQLITE_OK ? sqlite3_bind_null(s, 7) : *code;
    } else {
        bind_integer(s, 7, v->healthy.worst_link, code);
    }
    bind_real(s, 8, v->healthy.lost_ratio, code);
    bind_real(s, 9, v->healthy.worst_ratio, code);
    bind_real(s, 10, v->healthy.time_s, code);
}

static void bind_component(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    bind_integer(s, 1, i, code);
    bind_text(s, 2, p->components[i].kind, code);
    bind_text(s, 3, p->components[i].name, code);
    bind_real(s, 4, p->components[i].residual, code);
}

static void bind_scenario(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    bind_integer(s, 1, i, code);
    bind_text(s, 2, p->scenario_names[i], code);
}

static void bind_rate(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    bind_text(s, 1, p->rates[i].name, code);
    bind_real(s, 2, p->rates[i].per_s, code);
    bind_real(s, 3, p->rates[i].repair_s, code);
}

static void bind_file(const fab_plan *p, size_t i, sqlite3_stmt *s, int *code) {
    bind_text(s, 1, p->files[i].name, code);
    bind_text(s, 2, p->files[i].given, code);
    bind_text(s, 3, p->files[i].digest, code);
}

fab_status plan_tables_put(const database *db, const fab_plan *plan, fab_error *err) {
    size_t n_names = plan->scenario_names != NULL ? (size_t)plan->n_scenarios : 0;
    FAB_PASS(plan_put_rows(db, plan, "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", 1,
                           bind_plan, err));
    FAB_PASS(plan_put_rows(db, plan, "INSERT INTO variant VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", plan->n_variants,
                           bind_variant, err));
    FAB_PASS(
        plan_put_rows(db, plan, "INSERT INTO component VALUES (?, ?, ?, ?)", plan->n_components, bind_component, err));
    FAB_PASS(plan_put_rows(db, plan, "INSERT INTO scenario VALUES (?, ?)", n_names, bind_scenario, err));
    FAB_PASS(plan_put_rows(db, plan, "INSERT INTO rate VALUES (?, ?, ?)", plan->n_rates, bind_rate, err));
    return plan_put_rows(db, plan, "INSERT INTO file VALUES (?, ?, ?)", plan->n_files, bind_file, err);
}

/* --- get ---------------------------------------------------------------------------------------------------------- */

/* A text of a row, owned; the first failure sticks. */
static char *take_text(sqlite3_stmt *s, int column, fab_status *status, fab_error *err) {
    char *text = *status == FAB_OK ? fab_strdup(column_text(s, column), err) : NULL;
    *status = *status == FAB_OK && text == NULL ? FAB_ENOMEM : *status;
    return text;
}

static double column_plain_real(sqlite3_stmt *s, int column) {
    double value = column_real(s, column);
    return isnan(value) ? 0 : value;
}

static void copy_digest(sqlite3_stmt *s, int column, char out[17]) {
    const char *text = column_text(s, column);
    size_t n = strlen(text);
    n = n < 16 ? n : 16;
    memcpy(out, text, n);
    out[n] = '\0';
}

static fab_status get_plan_row(const database *db, fab_plan *out, fab_error *err) {
    fab_status status = FAB_OK;
    sqlite3_stmt *s = NULL;
    bool row = false;
    FAB_TRY(database_prepare(db, "SELECT * FROM plan", &s, err));
    FAB_TRY(database_step(db, s, &row, err));
    if (!row || sqlite3_column_count(s) != 15) {
        FAB_FAIL(err, FAB_EINPUT, db->path, "is damaged: there is no plan in it");
    }
    copy_digest(s, 0, out->id);
    out->program = take_text(s, 1, &status, err);
    out->name = take_text(s, 2, &status, err);
    out->origin = take_text(s, 3, &status, err);
    out->design = take_text(s, 4, &status, err);
    copy_digest(s, 5, out->digest);
    out->traffic = take_text(s, 6, &status, err);
    out->scenarios = take_text(s, 7, &status, err);
    out->seed = (uint64_t)sqlite3_column_int64(s, 8);
    out->n_scenarios = (uint64_t)sqlite3_column_int64(s, 9);
    out->block = (uint64_t)sqlite3_column_int64(s, 10);
    out->times = strcmp(column_text(s, 11), "times") == 0;
    out->span_s = column_plain_real(s, 12);
    out->checkpoint_s = column_plain_real(s, 13);
    out->restart_s = column_plain_real(s, 14);
    FAB_TRY(status);
    if (out->block == 0 || out->block > UINT32_MAX || out->n_scenarios == 0 || out->n_scenarios > INT64_MAX / 2) {
        FAB_FAIL(err, FAB_EINPUT, db->path, "is damaged: %" PRIu64 " scenarios in blocks of %" PRIu64, out->n_scenarios,
                 out->block);
    }
done:
    (void)sqlite3_finalize(s);
    return status;
}

/* Reads n rows of a query, one after the other. */
typedef fab_status take_row(fab_plan *plan, size_t i, sqlite3_stmt *s, fab_error *err);

static fab_status get_rows(const database *db, fab_plan *plan, const char *sql, size_t n, take_row *take,
                           fab_error *err) {
    fab_status status = FAB_OK;
    sqlite3_stmt *s = NULL;
    FAB_TRY(database_prepare(db, sql, &s, err));
    for (size_t i = 0; i < n; i++) {
        bool row = false;
        FAB_TRY(database_step(db, s, &row, err));
        if (!row) {
            FAB_FAIL(err, FAB_EINPUT, db->path, "is damaged: rows are missing");
        }
        FAB_TRY(take(plan, i, s, err));
    }
done:
    (void)sqlite3_finalize(s);
    return status;
}

static fab_status take_variant(fab_plan *p, size_t i, sqlite3_stmt *s, fab_error *err) {
    fab_status status = FAB_OK;
    fab_store_variant *v = &p->variants[i];
    v->engine = take_text(s, 1, &status, err);
    v->label = take_text(s, 2, &status, err);
    v->policy = take_text(s, 3, &status, err);
    v->healthy = (fab_outcome){
        .variant = (uint32_t)i,
        .n_disconnected = (uint32_t)sqlite3_column_int64(s, 4),
        .n_collisions = (uint32_t)sqlite3_column_int64(s, 5),
        .worst_link = sqlite3_column_type(s, 6) == SQLITE_NULL ? UINT32_MAX : (uint32_t)sqlite3_column_int64(s, 6),
        .lost_ratio = column_real(s, 7),
        .worst_ratio = column_real(s, 8),
        .time_s = column_real(s, 9),
        .slowdown = isnan(column_real(s, 9)) ? NAN : 1,
        .goodput = NAN,
        .restart_ratio = NAN,
        .redo_ratio = NAN,
        .slow_ratio = NAN,
        .wait_ratio = NAN};
    return status;
}

static fab_status take_component(fab_plan *p, size_t i, sqlite3_stmt *s, fab_error *err) {
    fab_status status = FAB_OK;
    p->components[i].kind = take_text(s, 1, &status, err);
    p->components[i].name = take_text(s, 2, &status, err);
    p->components[i].residual = column_plain_real(s, 3);
    return status;
}

static fab_status take_scenario(fab_plan *p, size_t i, sqlite3_stmt *s, fab_error *err) {
    fab_status status = FAB_OK;
    p->scenario_names[i] = take_text(s, 1, &status, err);
    return status;
}

static fab_status take_rate(fab_plan *p, size_t i, sqlite3_stmt *s, fab_error *err) {
    fab_status status = FAB_OK;
    p->rates[i].name = take_text(s, 0, &status, err);
    p->rates[i].per_s = column_plain_real(s, 1);
    p->rates[i].repair_s = column_plain_real(s, 2);
    return status;
}

static fab_status take_file(fab_plan *p, size_t i, sqlite3_stmt *s, fab_error *err) {
    fab_status status = FAB_OK;
    p->files[i].name = take_text(s, 0, &status, err);
    p->files[i].given = take_text(s, 1, &status, err);
    copy_digest(s, 2, p->files[i].digest);
    return status;
}

/* Whoever changes a fact by hand makes another plan of it. */
static fab_status check_seal(const database *db, const fab_plan *plan, fab_error *err) {
    if (!fab_plan_is_sealed(plan)) {
        fab_plan again = *plan;
        fab_plan_seal(&again);
        return fab_fail(err, FAB_EINPUT, db->path, "is damaged, or was changed: it says plan %s, its contents say %s",
                        plan->id, again.id);
    }
    return FAB_OK;
}

static fab_status count_rows(const database *db, const char *sql, size_t *out, fab_error *err) {
    int64_t n = 0;
    FAB_PASS(database_integer(db, sql, &n, err));
    if (n < 0 || n > MOST_ROWS) {
        return fab_fail(err, FAB_EINPUT, db->path, "is damaged: %" PRId64 " rows", n);
    }
    *out = (size_t)n;
    return FAB_OK;
}

fab_status plan_tables_get(const database *db, fab_plan *out, fab_error *err) {
    size_t n_names = 0;
    FAB_PASS(get_plan_row(db, out, err));
    FAB_PASS(count_rows(db, "SELECT count(*) FROM variant", &out->n_variants, err));
    FAB_PASS(FAB_NEW(out->variants, out->n_variants, err));
    FAB_PASS(get_rows(db, out, "SELECT * FROM variant ORDER BY variant", out->n_variants, take_variant, err));
    FAB_PASS(count_rows(db, "SELECT count(*) FROM component", &out->n_components, err));
    FAB_PASS(FAB_NEW(out->components, out->n_components, err));
    FAB_PASS(get_rows(db, out, "SELECT * FROM component ORDER BY component", out->n_components, take_component, err));
    FAB_PASS(count_rows(db, "SELECT count(*) FROM rate", &out->n_rates, err));
    FAB_PASS(FAB_NEW(out->rates, out->n_rates, err));
    FAB_PASS(get_rows(db, out, "SELECT * FROM rate ORDER BY rowid", out->n_rates, take_rate, err));
    FAB_PASS(count_rows(db, "SELECT count(*) FROM file", &out->n_files, err));
    FAB_PASS(FAB_NEW(out->files, out->n_files, err));
    FAB_PASS(get_rows(db, out, "SELECT * FROM file ORDER BY rowid", out->n_files, take_file, err));
    FAB_PASS(count_rows(db, "SELECT count(*) FROM scenario", &n_names, err));
    if (n_names > 0) {
        FAB_PASS(FAB_NEW(out->scenario_names, (size_t)out->n_scenarios, err));
        FAB_PASS(get_rows(db, out, "SELECT * FROM scenario ORDER BY scenario", (size_t)out->n_scenarios, take_scenario,
                          err));
    }
    return check_seal(db, out, err);
}
