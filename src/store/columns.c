#include "columns.h"

#include "fab/str.h"

/* --- which member stands where ------------------------------------------------------------------------------------ */

static const struct column OUTCOME_COLUMNS[] = {
    {COLUMN_NUMBER, offsetof(fab_outcome, scenario)},  {COLUMN_COUNT, offsetof(fab_outcome, variant)},
    {COLUMN_COUNT, offsetof(fab_outcome, state)},      {COLUMN_COUNT, offsetof(fab_outcome, n_disconnected)},
    {COLUMN_COUNT, offsetof(fab_outcome, n_moved)},    {COLUMN_COUNT, offsetof(fab_outcome, n_collisions)},
    {COLUMN_LINK, offsetof(fab_outcome, worst_link)},  {COLUMN_REAL, offsetof(fab_outcome, lost_ratio)},
    {COLUMN_REAL, offsetof(fab_outcome, worst_ratio)}, {COLUMN_REAL, offsetof(fab_outcome, time_s)},
    {COLUMN_REAL, offsetof(fab_outcome, slowdown)},
};
const table table_outcome = {"outcome", sizeof(fab_outcome), false, COLUMNS_OF(OUTCOME_COLUMNS), OUTCOME_COLUMNS};

static const struct column HISTORY_COLUMNS[] = {
    {COLUMN_NUMBER, offsetof(fab_outcome, scenario)}, {COLUMN_COUNT, offsetof(fab_outcome, variant)},
    {COLUMN_REAL, offsetof(fab_outcome, goodput)},    {COLUMN_REAL, offsetof(fab_outcome, restart_ratio)},
    {COLUMN_REAL, offsetof(fab_outcome, redo_ratio)}, {COLUMN_REAL, offsetof(fab_outcome, slow_ratio)},
    {COLUMN_REAL, offsetof(fab_outcome, wait_ratio)}, {COLUMN_COUNT, offsetof(fab_outcome, n_failures)},
    {COLUMN_COUNT, offsetof(fab_outcome, n_stops)},
};
const table table_history = {"history", sizeof(fab_outcome), false, COLUMNS_OF(HISTORY_COLUMNS), HISTORY_COLUMNS};

const char *const fab_outcome_states[FAB_OUTCOME_N_STATES] = {"runs", "stopped"};
const char *const fab_study_figures_names[FAB_FIGURES_N] = {"loads", "times", "p99"};

/* Of what nobody wrote: loads, which every row has. */
static uint32_t figures_of(const char *text) {
    uint32_t figures = FAB_FIGURES_N - 1;
    while (figures > FAB_FIGURES_LOADS && strcmp(text, fab_study_figures_names[figures]) != 0) {
        figures--;
    }
    return figures;
}

/* --- put ---------------------------------------------------------------------------------------------------------- */

fab_status table_prepare(const database *db, const table *t, sqlite3_stmt **out, fab_error *err) {
    char sql[128];
    FAB_FORMAT(sql, "INSERT INTO %s VALUES (?", t->name);
    for (size_t i = 1; i < t->n + t->is_numbered; i++) {
        fab_append(sql, sizeof sql, ", ?");
    }
    fab_append(sql, sizeof sql, ")");
    return database_prepare(db, sql, out, err);
}

static void bind_member(sqlite3_stmt *s, int at, column_type type, const void *member, int *code) {
    switch (type) {
    case COLUMN_TEXT: bind_text(s, at, *(char *const *)member, code); break;
    case COLUMN_DIGEST: bind_text(s, at, member, code); break;
    case COLUMN_NUMBER: bind_integer(s, at, *(const uint64_t *)member, code); break;
    case COLUMN_COUNT: bind_integer(s, at, *(const uint32_t *)member, code); break;
    case COLUMN_LINK:
        if (*(const uint32_t *)member == UINT32_MAX) {
            bind_real(s, at, NAN, code);
        } else {
            bind_integer(s, at, *(const uint32_t *)member, code);
        }
        break;
    case COLUMN_REAL: bind_real(s, at, *(const double *)member, code); break;
    case COLUMN_FIGURES: bind_text(s, at, fab_study_figures_names[*(const uint32_t *)member], code); break;
    }
}

fab_status table_put(const database *db, const table *t, sqlite3_stmt *s, size_t number, const void *row,
                     fab_error *err) {
    int code = SQLITE_OK;
    int at = 1;
    if (t->is_numbered) {
        bind_integer(s, at++, number, &code);
    }
    for (size_t i = 0; i < t->n; i++) {
        bind_member(s, at++, t->columns[i].type, (const char *)row + t->columns[i].offset, &code);
    }
    return database_put(db, s, code, err);
}

fab_status table_put_rows(const database *db, const table *t, const void *rows, size_t n, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    FAB_PASS(table_prepare(db, t, &s, err));
    for (size_t i = 0; i < n; i++) {
        FAB_PASS(table_put(db, t, s, i, (const char *)rows + i * t->size, err));
    }
    return FAB_OK;
}

/* --- get ---------------------------------------------------------------------------------------------------------- */

/* Columns of a row from `at` on; texts are copied, and owned. */
static fab_status get_members(sqlite3_stmt *s, int at, const struct column *columns, size_t n, void *row,
                              fab_error *err) {
    for (size_t i = 0; i < n; i++, at++) {
        void *member = (char *)row + columns[i].offset;
        int64_t integer = sqlite3_column_int64(s, at);
        bool is_null = sqlite3_column_type(s, at) == SQLITE_NULL;
        switch (columns[i].type) {
        case COLUMN_TEXT:
            if ((*(char **)member = fab_strdup(column_text(s, at), err)) == NULL) {
                return FAB_ENOMEM;
            }
            break;
        case COLUMN_DIGEST: (void)snprintf(member, 17, "%s", column_text(s, at)); break;
        case COLUMN_NUMBER: *(uint64_t *)member = (uint64_t)integer; break;
        case COLUMN_COUNT:
        case COLUMN_LINK:
            *(uint32_t *)member = !is_null && integer >= 0 && integer < UINT32_MAX ? (uint32_t)integer : UINT32_MAX;
            break;
        case COLUMN_REAL: *(double *)member = column_real(s, at); break;
        case COLUMN_FIGURES: *(uint32_t *)member = figures_of(column_text(s, at)); break;
        }
    }
    return FAB_OK;
}

void table_get_outcome(sqlite3_stmt *s, bool is_history, fab_outcome *out) {
    enum { KEY = 2 }; /* columns that are there already */
    *out = (fab_outcome){.goodput = NAN, .restart_ratio = NAN, .redo_ratio = NAN, .slow_ratio = NAN, .wait_ratio = NAN};
    (void)get_members(s, 0, OUTCOME_COLUMNS, COLUMNS_OF(OUTCOME_COLUMNS), out, NULL); /* no texts: nothing fails */
    if (is_history) {
        (void)get_members(s, COLUMNS_OF(OUTCOME_COLUMNS), HISTORY_COLUMNS + KEY, COLUMNS_OF(HISTORY_COLUMNS) - KEY, out,
                          NULL);
    }
}

fab_status table_get_rows(const database *db, const table *t, void *out, size_t *n, fab_error *err) {
    FAB_OWNS(sqlite3_finalize_owned) sqlite3_stmt *s = NULL;
    size_t capacity = 0;
    bool more = false;
    char sql[64];
    FAB_FORMAT(sql, "SELECT * FROM %s ORDER BY rowid", t->name);
    FAB_PASS(database_prepare(db, sql, &s, err));
    FAB_PASS(database_step(db, s, &more, err));
    while (more) {
        FAB_PASS(fab_grow(out, &capacity, *n + 1, t->size, err));
        char *row = *(char **)out + *n * t->size;
        memset(row, 0, t->size);
        (*n)++;
        FAB_PASS(get_members(s, t->is_numbered, t->columns, t->n, row, err));
        FAB_PASS(database_step(db, s, &more, err));
    }
    return FAB_OK;
}
