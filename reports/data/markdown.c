/* The whole result as Markdown (GitHub's tables), for a document: figures with their unit, to four digits. An object is
 * a table of field and value; a list one of rows, turned where it is wider than long. Texts are escaped, so that no
 * name of a file becomes markup. */
#include "fab/memory.h"
#include "fab/units.h"
#include "fab/utf8.h"
#include "report_formats.h"
#include "result_tables.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE 6 /* columns; a table with more of them than rows is turned */

typedef struct markdown {
    fab_str out;
    const fab_result_tables *tables;
    const fab_rt_table *table;
    const char **cells; /* of all rows, shape [n_rows][n_columns] */
    bool *is_hidden;    /* columns */
} markdown;

/* --- texts -------------------------------------------------------------------------------------------------------- */

static void markdown_add_escaped(fab_str *out, const char *text) {
    size_t n = 1;
    for (const char *c = text; *c != '\0'; c += n) {
        uint32_t code = 0;
        n = fab_utf8_decode(c, &code);
        bool is_within = *c == '_' && c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (is_within) { /* of a word: no emphasis */
            fab_str_add(out, "_");
        } else if (fab_utf8_is_hidden(code)) {
            fab_str_add(out, " ");
        } else if (code == FAB_UTF8_REPLACEMENT) {
            fab_str_add(out, FAB_UTF8_REPLACEMENT_TEXT);
        } else if (*c == '<') {
            fab_str_add(out, "&lt;");
        } else if (*c == '&') {
            fab_str_add(out, "&amp;");
        } else {
            fab_str_add(out, strchr("\\`*_[]|#~!", *c) != NULL ? "\\" : "");
            fab_str_append(out, c, n);
        }
    }
}

/* "phases.hot_links" -> "Phases: hot links" */
static void add_title(fab_str *out, const char *name) {
    for (const char *c = name; *c != '\0'; c++) {
        char letter = c == name ? (char)toupper((unsigned char)*c) : *c == '_' ? ' ' : *c;
        fab_str_append(out, letter == '.' ? ": " : &letter, letter == '.' ? 2 : 1);
    }
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

typedef struct shown_unit {
    const char *name;
    fab_unit unit;
} shown_unit;

static const shown_unit UNITS[] = {{"bit/s", FAB_UNIT_RATE},
                                   {"byte", FAB_UNIT_BYTES},
                                   {"s", FAB_UNIT_TIME},
                                   {"m", FAB_UNIT_LENGTH},
                                   {"W", FAB_UNIT_POWER}};

static void add_figure(fab_str *out, const char *unit, const char *text) {
    char shown[48];
    double value = strtod(text, NULL);
    for (size_t i = 0; unit != NULL && i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (strcmp(unit, UNITS[i].name) == 0) {
            fab_str_add(out, fab_quantity_format(shown, value, UNITS[i].unit));
            return;
        }
    }
    if (unit != NULL && strncmp(unit, "USD", 3) == 0) {
        fab_str_add(out, fab_money_format(shown, value));
    } else if (strpbrk(text, ".e") == NULL) {
        fab_str_add(out, text); /* a count, or the number of something */
    } else {
        fab_str_printf(out, fabs(value) < 1e4 || fabs(value) >= 1e15 ? "%.4g" : "%.0f", value);
    }
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static const fab_rt_column *column_at(const markdown *m, size_t i) {
    return &m->table->columns[m->table->order[i]];
}

static const char *cell_at(const markdown *m, size_t row, size_t i) {
    return m->cells[row * m->table->n_columns + i];
}

static void add_cell(markdown *m, size_t row, size_t i) {
    const char *text = cell_at(m, row, i);
    const fab_rt_column *column = column_at(m, i);
    fab_str_add(&m->out, " ");
    if (text != NULL && column->is_number) {
        add_figure(&m->out, column->unit, text);
    } else if (text != NULL) {
        markdown_add_escaped(&m->out, text);
    }
    fab_str_add(&m->out, " |");
}

static void add_name(markdown *m, size_t i) {
    fab_str_add(&m->out, " ");
    markdown_add_escaped(&m->out, fab_rt_text(m->tables, column_at(m, i)->name));
    fab_str_add(&m->out, " |");
}

static void add_turned(markdown *m) {
    fab_str_add(&m->out, "| |");
    for (size_t row = 0; row < m->table->n_rows; row++) {
        fab_str_add(&m->out, " |");
    }
    fab_str_add(&m->out, "\n| --- |");
    for (size_t row = 0; row < m->table->n_rows; row++) {
        fab_str_add(&m->out, m->table->n_rows > 1 ? " ---: |" : " --- |");
    }
    for (size_t i = 0; i < m->table->n_columns; i++) {
        if (!m->is_hidden[i]) {
            fab_str_add(&m->out, "\n|");
            add_name(m, i);
            for (size_t row = 0; row < m->table->n_rows; row++) {
                add_cell(m, row, i);
            }
        }
    }
    fab_str_add(&m->out, "\n");
}

static void add_rows(markdown *m) {
    size_t n = m->table->n_columns;
    fab_str_add(&m->out, "|");
    for (size_t i = 0; i < n; i++) {
        if (!m->is_hidden[i]) {
            add_name(m, i);
        }
    }
    fab_str_add(&m->out, "\n|");
    for (size_t i = 0; i < n; i++) {
        if (!m->is_hidden[i]) {
            fab_str_add(&m->out, column_at(m, i)->is_number ? " ---: |" : " --- |");
        }
    }
    for (size_t row = 0; row < m->table->n_rows; row++) {
        fab_str_add(&m->out, "\n|");
        for (size_t i = 0; i < n; i++) {
            if (!m->is_hidden[i]) {
                add_cell(m, row, i);
            }
        }
    }
    fab_str_add(&m->out, "\n");
}

/* Numbers of the elements around a row say no more than their names where each name has one number. */
static void hide_numbers(markdown *m) {
    size_t n = m->table->n_columns;
    for (size_t i = 0; i + 1 < n; i++) {
        bool same = column_at(m, i)->is_no && column_at(m, i + 1)->is_ancestor && !column_at(m, i + 1)->is_no;
        size_t first = 0; /* row with the number of this one; numbers come in runs */
        for (size_t row = 0; row < m->table->n_rows && same; row++) {
            const char *number = cell_at(m, row, i);
            const char *name = cell_at(m, row, i + 1);
            first = row == 0 || strcmp(number, cell_at(m, first, i)) != 0 ? row : first;
            same = name != NULL && (row == first || strcmp(name, cell_at(m, first, i + 1)) == 0) &&
                   (row == 0 || row != first || strcmp(name, cell_at(m, row - 1, i + 1)) != 0);
        }
        m->is_hidden[i] = same;
    }
}

static void add_bullets(markdown *m) {
    for (size_t row = 0; row < m->table->n_rows; row++) {
        fab_str_add(&m->out, "- ");
        markdown_add_escaped(&m->out, cell_at(m, row, 0));
        fab_str_add(&m->out, "\n");
    }
}

static fab_status markdown_add_table(markdown *m, fab_error *err) {
    fab_status status = FAB_OK;
    size_t n = m->table->n_columns;
    FAB_TRY(fab_rt_cells(m->tables, m->table, &m->cells, err));
    FAB_TRY(FAB_NEW(m->is_hidden, n + 1, err));
    hide_numbers(m);
    fab_str_add(&m->out, "\n## ");
    add_title(&m->out, fab_rt_text(m->tables, m->table->name));
    fab_str_add(&m->out, "\n\n");
    if (n == 1 && !column_at(m, 0)->is_number) {
        add_bullets(m);
    } else if (m->table->is_object || (n > WIDE && n > m->table->n_rows)) {
        add_turned(m);
    } else {
        add_rows(m);
    }
done:
    FAB_FREE_ALL(m->cells, m->is_hidden);
    m->cells = NULL;
    m->is_hidden = NULL;
    return status;
}

/* Cell of an object at the top; NULL where it has none. */
static const char *cell_of(const fab_result_tables *tables, const char *object, const char *name) {
    const fab_rt_table *t = fab_result_tables_find(tables, object);
    for (size_t i = 0; t != NULL && i < t->n_cells; i++) {
        if (strcmp(fab_rt_text(tables, t->columns[t->cells[i].column].name), name) == 0) {
            return fab_rt_text(tables, t->cells[i].text);
        }
    }
    return NULL;
}

static void add_head(fab_str *out, const fab_result_tables *tables) {
    static const char *const LINES[] = {"bound_by", "collisions", "cost", "to_do", "how_sure"};
    const char *command = cell_of(tables, "meta", "command");
    const char *design = cell_of(tables, "meta", "design");
    fab_str_add(out, "# fabriscope ");
    fab_str_add(out, command != NULL ? command : "");
    if (design != NULL) {
        fab_str_add(out, ": ");
        markdown_add_escaped(out, design);
    }
    fab_str_add(out, "\n");
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) { /* the verdict first, as in every format for people */
        const char *line = cell_of(tables, "verdict", LINES[i]);
        if (line != NULL) {
            fab_str_add(out, "\n**");
            add_title(out, LINES[i]);
            fab_str_add(out, "**: ");
            markdown_add_escaped(out, line);
            fab_str_add(out, "\n");
        }
    }
}

static fab_status make_markdown(const fab_result *result, const fab_report_style *style, fab_str *out, fab_error *err) {
    (void)style;
    fab_status status = FAB_OK;
    fab_result_tables tables = {.texts = FAB_STR_INIT};
    markdown m = {.out = FAB_STR_INIT, .tables = &tables};
    FAB_TRY(fab_result_tables_make(result, &tables, err));
    add_head(&m.out, &tables);
    for (size_t i = 0; i < tables.n_tables; i++) {
        m.table = &tables.tables[i];
        if (m.table->n_rows > 0 && m.table->n_columns > 0) {
            FAB_TRY(markdown_add_table(&m, err));
        }
    }
done:
    *out = m.out;
    fab_result_tables_release(&tables);
    return status;
}

const fab_report_format fab_report_markdown = {
    .name = "markdown",
    .file_name = "report.md",
    .suffix = ".md",
    .summary = "the whole result as Markdown, for a document",
    .make = make_markdown,
};
