/* Tables of the text report. */
#include "text_markdown.h"

#include <stdarg.h>

static fab_table_cell *last_row(const fab_table *table) {
    return &table->cell[(table->n_rows - 1) * table->n_columns];
}

fab_table fab_table_of(fab_page *page, const fab_column *columns, size_t n) {
    fab_table table = {.page = page, .columns = columns, .n_columns = n < FAB_TABLE_COLUMNS ? n : FAB_TABLE_COLUMNS};
    fab_str_append(&table.texts, "", 1);
    fab_table_row(&table, FAB_INK_DIM, columns[0].heading, NULL);
    for (size_t i = 1; i < n; i++) {
        fab_table_set(&table, i, FAB_INK_DIM, "%s", columns[i].heading != NULL ? columns[i].heading : "");
    }
    return table;
}

void fab_table_row(fab_table *table, fab_ink ink, const char *name, const double *figures) {
    size_t need = (table->n_rows + 1) * table->n_columns;
    if (table->failed || FAB_GROW(table->cell, table->capacity, need, NULL) != FAB_OK) {
        table->failed = true;
        return;
    }
    table->n_rows++;
    for (size_t i = 0; i < table->n_columns; i++) {
        last_row(table)[i] = (fab_table_cell){.ink = ink}; /* the text in front of all is empty */
    }
    fab_table_set(table, 0, ink, "%s", name);
    for (size_t i = 1; figures != NULL && i < table->n_columns; i++) {
        const fab_column *column = &table->columns[i];
        double figure = figures[i - 1];
        if (column->show != NULL && figure != FAB_TABLE_BLANK) {
            bool is_marked = column->ink != FAB_INK_PLAIN && figure > column->limit;
            fab_table_set(table, i, is_marked ? column->ink : ink, "%s",
                          isnan(figure) ? "-" : column->show(table->page, figure));
        }
    }
}

void fab_table_put(fab_table *table, size_t column, fab_ink ink, const char *text) {
    if (!table->failed && column < table->n_columns) {
        last_row(table)[column] = (fab_table_cell){table->texts.length, ink};
        fab_str_append(&table->texts, text, strlen(text) + 1);
    }
}

void fab_table_set(fab_table *table, size_t column, fab_ink ink, const char *fmt, ...) {
    char text[160];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fab_table_put(table, column, ink, text);
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

#define BELOW_INDENT 4
#define LAST_ROOM    30 /* less than that for long texts: they go below their row */

typedef struct layout {
    size_t indent;
    size_t width[FAB_TABLE_COLUMNS];  /* of the text in a column */
    bool is_below[FAB_TABLE_COLUMNS]; /* on lines of their own: of lists */
    bool is_list;
    size_t gap, first, last; /* between columns; of those that are printed, beside the first of all */
    fab_table_tail *tail;
    const void *context;
} layout;

static const char *text_table_cell(const fab_table *table, size_t row, size_t column) {
    return table->texts.data + table->cell[row * table->n_columns + column].text;
}

static void text_table_widths(const fab_table *table, layout *l) {
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++) {
        bool is_below = table->columns[i % table->n_columns].is_command; /* if need be */
        size_t columns = is_below ? 0 : fab_text_columns(table->texts.data + table->cell[i].text);
        size_t *width = &l->width[i % table->n_columns];
        *width = columns > *width ? columns : *width;
    }
}

/* The widest columns go below until the others fit; the last one where too little is left for it. */
static void text_table_lower(const fab_table *table, layout *l) {
    size_t last = table->n_columns - 1;
    size_t width = table->page->width;
    FAB_SUM(size_t, at, k, last, l->width[k] + 2); /* where the last column begins */
    while (at > width + 2) {
        FAB_BEST(widest, i, last, !l->is_below[i] && (widest == 0 || l->width[i] > l->width[widest]));
        if (widest == 0) {
            break; /* the first column stays */
        }
        l->is_below[widest] = l->is_below[last] = true;
        at -= l->width[widest] + 2;
    }
    bool fits = at + l->width[last] <= width || at + LAST_ROOM <= width;
    l->is_below[last] |= !fits && table->columns[last].is_left && last > 0;
}

static void text_table_print_row(const fab_table *table, const layout *l, size_t row) {
    fab_page *page = table->page;
    size_t last = table->n_columns - 1;
    size_t at = l->indent;
    bool is_open = true; /* the line */
    for (size_t i = 0; i <= last; i++) {
        fab_ink ink = table->cell[row * table->n_columns + i].ink;
        const char *text = text_table_cell(table, row, i);
        if (l->is_below[i] || table->columns[i].heading == NULL || (i > 0 && (i < l->first || i >= l->last))) {
            continue;
        }
        if (i > 0 && !table->columns[i].is_left && !table->columns[i].is_command) {
            fab_page_right(page, ink, at + l->width[i], text);
        } else if (l->is_list && i == last) {
            fab_page_wrap(page, FAB_INK_PLAIN, at, at, text);
            is_open = false;
        } else if (table->columns[i].is_command && at + fab_text_columns(text) > page->width) {
            fab_page_end_line(page);
            fab_page_shell(page, ink, BELOW_INDENT, text);
            is_open = false;
        } else {
            fab_page_to(page, at);
            fab_page_put(page, ink, text);
        }
        at += l->width[i] + l->gap;
    }
    if (is_open) {
        fab_page_to(page, at - l->gap);
        if (l->tail != NULL && row > 0 && l->last == table->n_columns) {
            l->tail(page, row, l->context);
        }
        fab_page_end_line(page);
    }
    for (size_t i = 0; i <= last; i++) {
        const char *text = text_table_cell(table, row, i);
        if (l->is_below[i] && text[0] != '\0') {
            fab_page_wrap(page, FAB_INK_PLAIN, BELOW_INDENT, BELOW_INDENT, text);
        }
    }
}

/* Columns [first, *last) that fit beside the name of the row; at least one. */
static bool text_table_fits(const fab_table *table, const layout *l, size_t gap, size_t first, size_t *last) {
    size_t at = l->indent + l->width[0];
    size_t i = first;
    for (; i < table->n_columns; i++) {
        size_t width = table->columns[i].heading != NULL ? gap + l->width[i] : 0;
        if (at + width > table->page->width && i > first) {
            break;
        }
        at += width;
    }
    *last = i;
    return i == table->n_columns && at <= table->page->width;
}

/* Where columns do not fit beside each other they move together, and if that is not enough, the last of them follow
 * below, beside the names of the rows once more. */
static void text_table_print_parts(const fab_table *table, layout *l) {
    size_t last = 0;
    l->gap = text_table_fits(table, l, 2, 1, &last) || l->is_list ? 2 : 1;
    l->first = 1;
    do {
        l->last = table->n_columns;
        if (!l->is_list) {
            (void)text_table_fits(table, l, l->gap, l->first, &l->last);
        }
        if (l->first > 1) {
            fab_page_end_line(table->page);
        }
        for (size_t row = 0; row < table->n_rows; row++) {
            text_table_print_row(table, l, row);
        }
        l->first = l->last;
    } while (l->first < table->n_columns);
}

static void text_table_print(fab_table *table, layout *l) {
    bool failed = table->failed || table->texts.failed;
    if (!failed && table->page->markdown) {
        fab_markdown_table(table, l->tail, l->context);
    } else if (!failed) {
        text_table_widths(table, l);
        if (l->is_list) {
            text_table_lower(table, l);
        }
        text_table_print_parts(table, l);
    }
    table->page->out.failed |= failed;
    free(table->cell);
    fab_str_release(&table->texts);
    *table = (fab_table){0};
}

void fab_table_end(fab_table *table, size_t indent, fab_table_tail *tail, const void *context) {
    text_table_print(table, &(layout){.indent = indent, .tail = tail, .context = context});
}

void fab_table_end_list(fab_table *table) {
    text_table_print(table, &(layout){.is_list = true});
}
