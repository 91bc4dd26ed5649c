/* For a spreadsheet: any table of the report by its name, or what the command has rows for in the first place: the
 * points of a sweep, one row for each engine, or what an audit found. */
#include "report_formats.h"
#include "result_tables.h"

#include "fab/audit.h"
#include "fab/sweep.h"

/* --- any table ---------------------------------------------------------------------------------------------------- */

/* A row; what is not known is an empty cell. */
static void csv_add_row(fab_str *out, const char *const *cells, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fab_str_add(out, i > 0 ? "," : "");
        fab_str_add_csv(out, cells[i] != NULL ? cells[i] : "");
    }
    fab_str_add(out, "\n");
}

static void csv_add_table(const fab_result_tables *tables, const fab_rt_table *t, const char *const *cells,
                          fab_str *out) {
    for (size_t i = 0; i < t->n_columns; i++) {
        fab_str_add(out, i > 0 ? "," : "");
        fab_str_add_csv(out, fab_rt_text(tables, t->columns[t->order[i]].name));
    }
    fab_str_add(out, "\n");
    for (size_t row = 0; row < t->n_rows; row++) {
        csv_add_row(out, cells + row * t->n_columns, t->n_columns);
    }
}

static void csv_add_list(const fab_result_tables *tables, fab_str *out) {
    fab_str_add(out, "table,rows,columns\n");
    FAB_EACH(const fab_rt_table, t, tables->tables, tables->n_tables) {
        fab_str_add_csv(out, fab_rt_text(tables, t->name));
        fab_str_printf(out, ",%zu,%zu\n", t->n_rows, t->n_columns);
    }
}

/* Every table under its name: what a spreadsheet or a script takes apart at lines that begin with "# ". */
static fab_status csv_add_every(const fab_result_tables *tables, fab_str *out, fab_error *err) {
    for (size_t i = 0; i < tables->n_tables; i++) {
        const char **cells = NULL;
        const fab_rt_table *t = &tables->tables[i];
        FAB_PASS(fab_rt_cells(tables, t, &cells, err));
        fab_str_printf(out, "%s# %s\n", i > 0 ? "\n" : "", fab_rt_text(tables, t->name));
        csv_add_table(tables, t, cells, out);
        free(cells);
    }
    return FAB_OK;
}

/* Fails with the names that there are. */
static fab_status no_table(const fab_result_tables *tables, const char *name, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str known = FAB_STR_INIT;
    for (size_t i = 0; i < tables->n_tables; i++) {
        fab_str_printf(&known, "%s%s", i > 0 ? ", " : "", fab_rt_text(tables, tables->tables[i].name));
    }
    FAB_PASS(fab_str_status(&known, err));
    FAB_REFUSE_IF(name == NULL, err, FAB_EUSAGE, NULL, "csv is one table of this report; choose with --table: %s",
                  known.data);
    return fab_fail(err, FAB_EUSAGE, NULL, "option --table: this report has no table '%.60s', but %s", name,
                    known.data);
}

static fab_status csv_add_named(const fab_result *result, const char *name, fab_str *out, fab_error *err) {
    FAB_OWNED const char **cells = NULL;
    FAB_OWNS(fab_result_tables_release) fab_result_tables tables = {.texts = FAB_STR_INIT};
    FAB_PASS(fab_result_tables_make(result, &tables, err));
    const fab_rt_table *t = name != NULL ? fab_result_tables_find(&tables, name) : NULL;
    if (name != NULL && strcmp(name, FAB_TABLE_LIST) == 0) {
        csv_add_list(&tables, out);
    } else if (name != NULL && strcmp(name, FAB_TABLE_ALL) == 0) {
        FAB_PASS(csv_add_every(&tables, out, err));
    } else if (t != NULL) {
        FAB_PASS(fab_rt_cells(&tables, t, &cells, err));
        csv_add_table(&tables, t, cells, out);
    } else {
        return no_table(&tables, name, err);
    }
    return FAB_OK;
}

/* --- points of a sweep -------------------------------------------------------------------------------------------- */

static const char *const ENGINE_HEADINGS[] = {
    "label", "time_s",     "phases_s",        "iteration_s", "tokens_per_s",    "usd_per_1e9_tokens",
    "batch", "gpus",       "total_usd",       "power_w",     "bisection_ratio", "pareto",
    "draws", "ci95_ratio", "estimated_ratio", "error"};
#define N_NUMBERS 14

static void csv_add_point(fab_str *out, const fab_sweep *s, const fab_sweep_point *p, const fab_sweep_engine *e) {
    const struct {
        bool known;
        double value;
    } numbers[N_NUMBERS] = {
        {e->has_time, e->time_s},
        {e->has_phases, e->phases_s},
        {e->has_iteration, e->iteration.time_s},
        {e->has_iteration, e->iteration.tokens_per_s},
        {e->iteration.usd_per_1e9_tokens > 0, e->iteration.usd_per_1e9_tokens},
        {p->batch > 0, (double)p->batch},
        {p->is_built, (double)p->counts.gpus},
        {p->is_built, p->total_usd},
        {p->is_built, p->power_w},
        {p->is_built && !isnan(p->bisection_ratio), p->bisection_ratio},
        {e->has_time, e->is_on_front},
        {e->is_drawn, (double)e->n_seeds},
        {e->seeds.ci95_ratio > 0, e->seeds.ci95_ratio},
        {e->estimated_ratio > 0, e->estimated_ratio},
    };
    const char *cells[FAB_SWEEP_PATHS + N_NUMBERS + 2];
    char room[N_NUMBERS][32];
    size_t n = 0;
    for (size_t k = 0; k < s->n_paths; k++) {
        cells[n++] = p->value[k];
    }
    cells[n++] = e->label;
    for (size_t i = 0; i < N_NUMBERS; i++) {
        fab_format_double(room[i], numbers[i].value);
        cells[n++] = numbers[i].known ? room[i] : NULL;
    }
    cells[n++] = p->error;
    csv_add_row(out, cells, n);
}

static void csv_add_sweep(const fab_sweep *s, fab_str *out) {
    static const fab_sweep_engine NONE = {.has_time = false};
    for (size_t k = 0; k < s->n_paths; k++) {
        fab_str_add_csv(out, s->path[k]);
        fab_str_add(out, ",");
    }
    csv_add_row(out, ENGINE_HEADINGS, FAB_N_OF(ENGINE_HEADINGS));
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        for (size_t e = 0; e < p->n_engines; e++) {
            csv_add_point(out, s, p, &p->engines[e]);
        }
        if (!p->is_built) {
            csv_add_point(out, s, p, &NONE);
        }
    }
}

/* --- findings of an audit ----------------------------------------------------------------------------------------- */

/* A work order: a row for each finding, worst first. */
static void csv_add_audit(const fab_audit *audit, fab_str *out) {
    fab_str_add(out, "finding,damage_gbps,cables,node,port,other_node,other_port,line,what,work,confidence,guid,"
                     "other_guid,rack,other_rack\n");
    FAB_EACH(const fab_finding, f, audit->findings, audit->n_findings) {
        char cables[16];
        char line[24];
        char guid[2][24];
        FAB_FORMAT(cables, "%" PRIu32, f->cables);
        FAB_FORMAT(line, "%zu", f->line);
        FAB_FORMAT(guid[0], "0x%016" PRIx64, f->guid);
        FAB_FORMAT(guid[1], "0x%016" PRIx64, f->other_guid);
        const char *const cells[] = {fab_finding_kinds[f->kind],
                                     fab_format_double(FAB_ROOM, f->damage_bps / 1e9),
                                     cables,
                                     f->node,
                                     f->port,
                                     f->other,
                                     f->other_port,
                                     f->line > 0 ? line : NULL,
                                     f->text,
                                     f->work,
                                     fab_format_double(FAB_ROOM, f->confidence),
                                     f->guid != 0 ? guid[0] : NULL,
                                     f->other_guid != 0 ? guid[1] : NULL,
                                     f->at[0].rack_name,
                                     f->at[1].rack_name};
        csv_add_row(out, cells, FAB_N_OF(cells));
    }
}

static fab_status make_csv(const fab_result *result, const fab_report_style *style, fab_str *out, fab_error *err) {
    const char *table = style != NULL ? style->table : NULL;
    if (table != NULL || (result->audit == NULL && result->sweep == NULL)) {
        return csv_add_named(result, table, out, err);
    }
    if (result->audit != NULL) {
        csv_add_audit(result->audit, out);
    } else {
        csv_add_sweep(result->sweep, out);
    }
    return FAB_OK;
}

const fab_report_format fab_report_csv = {
    .name = "csv",
    .file_name = NULL, /* a report has many tables */
    .suffix = ".csv",
    .summary = "one table of the report; without a name points of a sweep, or what an audit found",
    .make = make_csv,
};
