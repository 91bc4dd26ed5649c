/**
 * Tables on a terminal: what a column is called and how its figures look stands in an array of columns; a row is a name
 * and its figures. fab_table_end() finds the widths and prints.
 */
#pragma once

#include "fab/text_layout.h"

#define FAB_TABLE_COLUMNS 10
#define FAB_TABLE_BLANK   (-INFINITY) /**< a figure that is left out; one that is not a number is "-" */
/** An array of columns and its length, as two arguments. */
#define FAB_COLUMNS(list) (list), sizeof(list) / sizeof(list)[0]

/** The first column is the name of the row, on the left; the others stand on the right, but for texts of lists. */
typedef struct fab_column {
    const char *heading;                                /**< NULL: this table goes without the column */
    const char *(*show)(fab_page *page, double figure); /**< unit and digits; NULL: by fab_table_set() alone */
    fab_ink ink;                                        /**< of figures above `limit`; FAB_INK_PLAIN: the row's */
    double limit;
    bool is_left;
    bool is_command; /**< the last one: where it does not fit it stands below its row, to be pasted into a shell */
} fab_column;

/** Columns: of figures as fab_show_KIND() shows them, as a function of their own does, and with a mark. */
#define fab_show_text NULL /**< the kind of a column of texts, which fab_table_set() puts there */
#define COLUMN(heading, kind)                                                                                          \
    { (heading), fab_show_##kind, FAB_INK_PLAIN, 0, false, false }
#define SHOWN(heading, show)                                                                                           \
    { (heading), (show), FAB_INK_PLAIN, 0, false, false }
#define MARKED(heading, show, ink, limit)                                                                              \
    { (heading), (show), (ink), (limit), false, false }

typedef struct fab_table_cell {
    size_t text; /**< offset into texts */
    fab_ink ink;
} fab_table_cell;

typedef struct fab_table {
    fab_page *page;
    const fab_column *columns;
    size_t n_columns, n_rows, capacity;
    fab_table_cell *cell; /**< shape [n_rows * n_columns]; row 0 is the heading */
    fab_str texts;
    bool failed;
} fab_table;

/** Begins with a row of the headings, which fab_table_set() may change. End with fab_table_end(). */
fab_table fab_table_of(fab_page *page, const fab_column *columns, size_t n);
/** Adds a row. `figures` has one for every column behind the name; NULL: they are blank. */
void fab_table_row(fab_table *table, fab_ink ink, const char *name, const double *figures);
/** Puts a text into the row that was added last; of a format at most 159 bytes of it. */
void fab_table_put(fab_table *table, size_t column, fab_ink ink, const char *text);
void fab_table_set(fab_table *table, size_t column, fab_ink ink, const char *fmt, ...) FAB_PRINTF(4, 5);
/** Called behind every row but the heading, to add a bar. */
typedef void fab_table_tail(fab_page *page, size_t row, const void *context);
/**
 * Prints a list of texts, and frees the table: columns that do not fit beside each other stand below their row, the
 * widest first.
 */
void fab_table_end_list(fab_table *table);
/** Prints the rows and frees the table; columns that do not fit move together, then follow below. `tail` may be NULL.
 */
void fab_table_end(fab_table *table, size_t indent, fab_table_tail *tail, const void *context);
