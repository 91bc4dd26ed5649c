#include "cli.h"

#include "fab/memory.h"
#include "fab/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void cli_table_release(cli_table *table) {
    for (size_t i = 0; i < table->n_cells; i++) {
        free(table->cells[i]);
    }
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
    char text[32];
    fab_format_double(text, value);
    cli_table_add(table, "%s", text);
}

fab_status cli_table_status(const cli_table *table, fab_error *err) {
    return table->failed ? fab_fail(err, FAB_ENOMEM, NULL, "cannot allocate the rows of a table") : FAB_OK;
}

/* Columns on the screen: bytes that do not continue a UTF-8 sequence. */
static size_t display_width(const char *text, size_t n) {
    size_t width = 0;
    for (size_t i = 0; i < n; i++) {
        width += ((unsigned char)text[i] & 0xc0U) != 0x80 ? 1 : 0;
    }
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

static size_t column_width(const cli_table *table, size_t column) {
    size_t width = strlen(table->columns[column].title);
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        size_t n = display_width(table->cells[i], strlen(table->cells[i]));
        width = n > width ? n : width;
    }
    return width;
}

/* One line of at most `width` columns; a longer text ends in dots. */
static void put_cut(const char *text, size_t width, FILE *out) {
    size_t n = strlen(text);
    bool fits = display_width(text, n) <= width;
    while (!fits && n > 0 && display_width(text, n) + 3 > width) {
        n--;
    }
    while (!fits && n > 0 && ((unsigned char)text[n] & 0xc0U) == 0x80) { /* a whole character */
        n--;
    }
    (void)fprintf(out, "%.*s%s\n", (int)n, text, fits ? "" : "...");
}

#define BELOW_INDENT 4
#define LAST_ROOM    30 /* less than that for long texts: they go below their row */
#define MAX_COLUMNS  16

/* Where the cells of a row go. */
typedef struct layout {
    size_t width[MAX_COLUMNS];  /* of the text in a column */
    bool is_below[MAX_COLUMNS]; /* on lines of their own */
    size_t last_at;             /* where the last column begins */
} layout;

/* Columns in front of the last one that stand beside each other. */
static size_t beside(const cli_table *table, const layout *l) {
    size_t at = 0;
    for (size_t i = 0; i + 1 < table->n_columns; i++) {
        at += l->is_below[i] ? 0 : l->width[i] + 2;
    }
    return at;
}

/* The widest ones go below until the others fit; the last one where too little is left for it. */
static void lay_out(const cli_table *table, size_t width, layout *l) {
    size_t last = table->n_columns - 1;
    *l = (layout){.last_at = 0};
    for (size_t i = 0; i <= last; i++) {
        l->width[i] = column_width(table, i);
    }
    while (beside(table, l) > width + 2) {
        size_t widest = 0;
        for (size_t i = 1; i < last; i++) {
            bool is_wider = !l->is_below[i] && (widest == 0 || l->width[i] > l->width[widest]);
            widest = is_wider ? i : widest;
        }
        if (widest == 0) {
            break; /* the first column stays */
        }
        l->is_below[widest] = true;
        l->is_below[last] = true;
    }
    l->last_at = beside(table, l);
    bool fits = l->last_at + l->width[last] <= width || l->last_at + LAST_ROOM <= width;
    l->is_below[last] |= !fits && !table->columns[last].number && last > 0;
}

/* `cells` NULL prints the titles. */
static void table_print_row(const cli_table *table, const layout *l, char *const *cells, size_t width, FILE *out) {
    size_t last = table->n_columns - 1;
    size_t left = 0; /* blanks that nothing may follow */
    for (size_t i = 0; i <= last; i++) {
        const char *text = cells != NULL ? cells[i] : table->columns[i].title;
        bool number = table->columns[i].number;
        size_t n = display_width(text, strlen(text));
        size_t gap = l->width[i] > n ? l->width[i] - n : 0;
        if (l->is_below[i]) {
            continue;
        }
        pad(n > 0 || i == last ? left + (number ? gap : 0) : 0, out);
        left = n > 0 || i == last ? 2 + (number ? 0 : gap) : left + l->width[i] + 2;
        if (i < last) {
            (void)fputs(text, out);
        } else if (table->one_line) {
            put_cut(text, width > l->last_at ? width - l->last_at : 0, out);
        } else {
            cli_wrap(text, l->last_at, l->last_at, width, out);
        }
    }
    if (l->is_below[last]) {
        (void)fputc('\n', out);
    }
    for (size_t i = 0; i <= last; i++) {
        const char *text = cells != NULL ? cells[i] : table->columns[i].title;
        if (l->is_below[i] && text[0] != '\0') {
            pad(BELOW_INDENT, out);
            if (table->one_line) {
                put_cut(text, width - BELOW_INDENT, out);
            } else {
                cli_wrap(text, BELOW_INDENT, BELOW_INDENT, width, out);
            }
        }
    }
}

void cli_table_text(const cli_table *table, size_t width, FILE *out) {
    layout l;
    lay_out(table, width, &l);
    table_print_row(table, &l, NULL, width, out);
    for (size_t row = 0; row + table->n_columns <= table->n_cells; row += table->n_columns) {
        table_print_row(table, &l, table->cells + row, width, out);
    }
}

void cli_json_string(const char *text, FILE *out) {
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
