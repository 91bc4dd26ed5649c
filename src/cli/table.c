#include "cli.h"

#include "fab/text_table.h"

#include <stdarg.h>

void cli_table_release(cli_table *table) {
    FAB_FREE_EACH(free, table->cells, table->n_cells);
    free(table->cells);
    table->cells = NULL;
    table->n_cells = table->capacity = 0;
}

void cli_table_cut(cli_table *table, size_t n_cells) {
    while (table->n_cells > n_cells) {
        free(table->cells[--table->n_cells]);
    }
}

void cli_table_add(cli_table *table, const char *fmt, ...) {
    char *cell = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    table->failed = table->failed || n < 0 ||
                    FAB_GROW(table->cells, table->capacity, table->n_cells + 1, NULL) != FAB_OK ||
                    FAB_NEW(cell, (size_t)n + 1, NULL) != FAB_OK;
    if (!table->failed) {
        va_start(args, fmt);
        (void)vsnprintf(cell, (size_t)n + 1, fmt, args);
        va_end(args);
        table->cells[table->n_cells++] = cell;
    }
}

void cli_table_add_number(cli_table *table, double value) {
    cli_table_add(table, "%s", fab_format_double(FAB_ROOM, value));
}

fab_status cli_table_status(const cli_table *table, fab_error *err) {
    return table->failed ? fab_fail(err, FAB_ENOMEM, NULL, "cannot allocate the rows of a table") : FAB_OK;
}

/* Columns on the screen: bytes that do not continue a UTF-8 sequence. */
static size_t display_width(const char *text, size_t n) {
    FAB_SUM(size_t, width, i, n, ((unsigned char)text[i] & 0xc0U) != 0x80 ? 1 : 0);
    return width;
}

static void pad(size_t n, FILE *out) {
    (void)fprintf(out, "%*s", (int)n, "");
}

static void wrap(const char *text, size_t at, size_t indent, size_t width, const char *line_end, FILE *out) {
    bool first = true;
    while (*text != '\0') {
        size_t n = strcspn(text, " ");
        size_t shown = display_width(text, n);
        if (!first && at + 1 + shown > width) {
            (void)fputs(line_end, out);
            pad(indent, out);
            at = indent;
            first = true;
        }
        if (!first) {
            (void)fputc(' ', out);
            at++;
        }
        (void)fwrite(text, 1, n, out);
        at += shown;
        first = false;
        text += n + strspn(text + n, " ");
    }
    (void)fputc('\n', out);
}

void cli_wrap(const char *text, size_t at, size_t indent, size_t width, FILE *out) {
    wrap(text, at, indent, width, "\n", out);
}

void cli_wrap_shell(const char *text, size_t at, size_t indent, size_t width, FILE *out) {
    wrap(text, at, indent, width - 2, " \\\n", out);
}

fab_status cli_table_text(const cli_table *table, size_t width, FILE *out, fab_error *err) {
    fab_column columns[FAB_TABLE_COLUMNS] = {{NULL, NULL, FAB_INK_PLAIN, 0, true, false}};
    fab_page page;
    for (size_t i = 0; i < table->n_columns; i++) {
        columns[i] = (fab_column){.heading = table->columns[i].title, .is_left = !table->columns[i].number};
    }
    fab_page_init(&page, &(fab_report_style){.width = (int)width});
    fab_table text = fab_table_of(&page, columns, table->n_columns);
    for (size_t i = 0; i < table->n_cells; i++) {
        if (i % table->n_columns == 0) {
            fab_table_row(&text, FAB_INK_PLAIN, "", NULL);
        }
        fab_table_put(&text, i % table->n_columns, FAB_INK_PLAIN, table->cells[i]);
    }
    fab_table_end_list(&text);
    FAB_OWNS(fab_str_release) fab_str made = fab_page_take(&page);
    fab_status status = fab_str_status(&made, err);
    (void)fputs(status == FAB_OK && made.length > 0 ? made.data : "", out);
    return status;
}

static void cli_json_string(const char *text, FILE *out) {
    (void)fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fputc('\\', out);
            (void)fputc(*c, out);
        } else if ((unsigned char)*c < 0x20) {
            (void)fprintf(out, "\\u%04x", (unsigned)*c);
        } else {
            (void)fputc(*c, out);
        }
    }
    (void)fputc('"', out);
}

void cli_table_json(const cli_table *table, FILE *out) {
    (void)fputc('[', out);
    for (size_t i = 0; i + table->n_columns <= table->n_cells; i += table->n_columns) {
        (void)fputs(i > 0 ? ",\n  {" : "\n  {", out);
        for (size_t j = 0; j < table->n_columns; j++) {
            const char *cell = table->cells[i + j];
            (void)fputs(j > 0 ? ", " : "", out);
            cli_json_string(table->columns[j].field, out);
            (void)fputs(": ", out);
            if (!table->columns[j].number) {
                cli_json_string(cell, out);
            } else {
                (void)fputs(cell[0] != '\0' ? cell : "null", out);
            }
        }
        (void)fputc('}', out);
    }
    (void)fputs(table->n_cells > 0 ? "\n]" : "]", out);
}
