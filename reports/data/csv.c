/* For a spreadsheet: any table of the report by its name, or what the command has rows for in the first place: the
 * points of a sweep, one row for each engine, or what an audit found. */
#include "report_formats.h"
#include "result_tables.h"
#include "result_walk.h"

#include "fab/memory.h"
#include "fab/sweep.h"

#include <stdlib.h>
#include <string.h>

/* --- any table ---------------------------------------------------------------------------------------------------- */

static void csv_add_table(const fab_result_tables *tables, const fab_rt_table *t, const char **cells, fab_str *out) {
    for (size_t i = 0; i < t->n_columns; i++) {
        fab_str_add(out, i > 0 ? "," : "");
        fab_str_add_csv(out, fab_rt_text(tables, t->columns[t->order[i]].name));
    }
    fab_str_add(out, "\n");
    for (size_t row = 0; row < t->n_rows; row++) {
        fab_rt_row_cells(tables, t, row, cells);
        for (size_t i = 0; i < t->n_columns; i++) {
            fab_str_add(out, i > 0 ? "," : "");
            fab_str_add_csv(out, cells[i] != NULL ? cells[i] : "");
        }
        fab_str_add(out, "\n");
    }
}

static void csv_add_list(const fab_result_tables *tables, fab_str *out) {
    fab_str_add(out, "table,rows,columns\n");
    for (size_t i = 0; i < tables->n_tables; i++) {
        const fab_rt_table *t = &tables->tables[i];
        fab_str_add_csv(out, fab_rt_text(tables, t->name));
        fab_str_printf(out, ",%zu,%zu\n", t->n_rows, t->n_columns);
    }
}

/* Fails with the names that there are. */
static fab_status no_table(const fab_result_tables *tables, const char *name, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str known = FAB_STR_INIT;
    for (size_t i = 0; i < tables->n_tables; i++) {
        fab_str_printf(&known, "%s%s", i > 0 ? ", " : "", fab_rt_text(tables, tables->tables[i].name));
    }
    FAB_TRY(fab_str_status(&known, err));
    if (name == NULL) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "csv is one table of this report; choose with --table: %s", known.data);
    }
    FAB_FAIL(err, FAB_EUSAGE, NULL, "option --table: this report has no table '%.60s', but %s", name, known.data);
done:
    fab_str_release(&known);
    return status;
}

static fab_status write_table(const fab_result *result, const char *name, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    const char **cells = NULL;
    fab_result_tables tables = {.texts = FAB_STR_INIT};
    FAB_TRY(fab_result_tables_make(result, &tables, err));
    if (name != NULL && strcmp(name, FAB_TABLE_LIST) == 0) {
        csv_add_list(&tables, &text);
    } else {
        const fab_rt_table *t = name != NULL ? fab_result_tables_find(&tables, name) : NULL;
        if (t == NULL) {
            status = no_table(&tables, name, err);
            goto done;
        }
        FAB_TRY(FAB_NEW(cells, t->n_columns + 1, err));
        csv_add_table(&tables, t, cells, &text);
    }
    FAB_TRY(fab_report_put(&text, out, err));
done:
    free(cells);
    fab_str_release(&text);
    fab_result_tables_release(&tables);
    return status;
}

/* --- points of a sweep -------------------------------------------------------------------------------------------- */

static void add_number(fab_str *out, bool known, double value) {
    char text[32];
    fab_str_add(out, ",");
    if (known) {
        fab_format_double(text, value);
        fab_str_add(out, text);
    }
}

static void add_point(fab_str *out, const fab_sweep *s, const fab_sweep_point *p, const fab_sweep_engine *e) {
    static const fab_sweep_engine NONE = {.has_time = false};
    const fab_sweep_engine *engine = e != NULL ? e : &NONE;
    for (size_t k = 0; k < s->n_paths; k++) {
        fab_str_add_csv(out, p->value[k]);
        fab_str_add(out, ",");
    }
    fab_str_add_csv(out, engine->label);
    add_number(out, engine->has_time, engine->time_s);
    add_number(out, engine->has_phases, engine->phases_s);
    add_number(out, engine->has_iteration, engine->iteration.time_s);
    add_number(out, engine->iteration.usd_per_1e9_tokens > 0, engine->iteration.usd_per_1e9_tokens);
    add_number(out, p->is_built, p->total_usd);
    add_number(out, p->is_built, p->power_w);
    add_number(out, p->is_built, p->bisection_ratio);
    add_number(out, engine->has_time, engine->is_on_front);
    fab_str_add(out, ",");
    fab_str_add_csv(out, p->error);
    fab_str_add(out, "\n");
}

static fab_status write_csv(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    const fab_sweep *s = result->sweep;
    const char *table = style != NULL ? style->table : NULL;
    if (table == NULL && result->audit != NULL) {
        return fab_csv_audit(result->audit, out, err);
    }
    if (table != NULL || s == NULL) {
        return write_table(result, table, out, err);
    }
    FAB_TRY(fab_result_walk(result, NULL, NULL, err));
    for (size_t k = 0; k < s->n_paths; k++) {
        fab_str_add_csv(&text, s->path[k]);
        fab_str_add(&text, ",");
    }
    fab_str_add(&text, "label,time_s,phases_s,iteration_s,usd_per_1e9_tokens,total_usd,power_w,bisection_ratio,pareto,"
                       "error\n");
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        for (size_t e = 0; e < p->n_engines; e++) {
            add_point(&text, s, p, &p->engines[e]);
        }
        if (!p->is_built) {
            add_point(&text, s, p, NULL);
        }
    }
    FAB_TRY(fab_report_put(&text, out, err));
done:
    fab_str_release(&text);
    return status;
}

const fab_report_format fab_report_csv = {
    .name = "csv",
    .file_name = NULL, /* a report has many tables */
    .suffix = ".csv",
    .summary = "one table of the report; without a name points of a sweep, or what an audit found",
    .write = write_csv,
};
