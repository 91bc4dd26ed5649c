/* Tables of the text report. */
#include "text_table.h"
#include "fab/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static fab_table_cell *last_row(const fab_table *table) {
    return &table->cell[(table->n_rows - 1) * table->n_columns];
}

void fab_table_begin(fab_table *table, fab_page *page, const fab_column *columns, size_t n) {
    *table = (fab_table){.page = page, .columns = columns, .n_columns = n < FAB_TABLE_COLUMNS ? n : FAB_TABLE_COLUMNS};
    fab_table_row(table, FAB_INK_DIM, columns[0].heading, NULL);
    for (size_t i = 1; i < n; i++) {
        fab_table_set(table, i, FAB_INK_DIM, "%s", columns[i].heading != NULL ? columns[i].heading : "");
    }
}

void fab_table_row(fab_table *table, fab_ink ink, const char *name, const double *figures) {
    size_t need = (table->n_rows + 1) * table->n_columns;
    if (table->failed || FAB_GROW(table->cell, table->capacity, need, NULL) != FAB_OK) {
        table->failed = true;
        return;
    }
    table->n_rows++;
    for (size_t i = 0; i < table->n_columns; i++) {
        last_row(table)[i] = (fab_table_cell){.ink = ink};
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

void fab_table_set(fab_table *table, size_t column, fab_ink ink, const char *fmt, ...) {
    if (table->failed || column >= table->n_columns) {
        return;
    }
    fab_table_cell *cell = &last_row(table)[column];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(cell->text, sizeof cell->text, fmt, args);
    va_end(args);
    cell->ink = ink;
}

static void text_table_print_row(const fab_table *table, size_t row, size_t indent, const size_t *widths) {
    fab_page *page = table->page;
    size_t edge = indent + widths[0];
    fab_page_to(page, indent);
    for (size_t column = 0; column < table->n_columns; column++) {
        const fab_table_cell *cell = &table->cell[row * table->n_columns + column];
        if (column == 0) {
            fab_page_put(page, cell->ink, cell->text);
        } else if (table->columns[column].heading != NULL) {
            edge += 2 + widths[column];
            fab_page_right(page, cell->ink, edge, cell->text);
        }
    }
    fab_page_to(page, edge);
}

void fab_table_end(fab_table *table, size_t indent, fab_table_tail *tail, const void *context) {
    size_t widths[FAB_TABLE_COLUMNS] = {0};
    table->page->out.failed |= table->failed;
    for (size_t i = 0; !table->failed && i < table->n_rows * table->n_columns; i++) {
        size_t columns = fab_text_columns(table->cell[i].text);
        size_t *width = &widths[i % table->n_columns];
        *width = columns > *width ? columns : *width;
    }
    for (size_t row = 0; !table->failed && row < table->n_rows; row++) {
        text_table_print_row(table, row, indent, widths);
        if (tail != NULL && row > 0) {
            tail(table->page, row, context);
        }
        fab_page_end_line(table->page);
    }
    free(table->cell);
    *table = (fab_table){0};
}
