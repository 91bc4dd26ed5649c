/**
 * @file text_layout.h
 * Lines for a terminal: built from pieces, never wider than asked, free of control characters whatever the names hold.
 */
#ifndef FAB_TEXT_LAYOUT_H
#define FAB_TEXT_LAYOUT_H

#include "fab/reports.h"
#include "fab/str.h"

#define FAB_TEXT_MIN_WIDTH   40
#define FAB_TEXT_MAX_WIDTH   240
#define FAB_TEXT_MAX_COLUMNS 10
#define FAB_TEXT_PARAGRAPH   4096

typedef enum fab_ink { FAB_INK_PLAIN, FAB_INK_BOLD, FAB_INK_DIM, FAB_INK_GOOD, FAB_INK_BAD, FAB_INK_BAR } fab_ink;

typedef struct fab_cell {
    char glyph[5]; /**< one code point in UTF-8 */
    fab_ink ink;
} fab_cell;

typedef struct fab_page {
    fab_str out;
    bool color, ascii;
    size_t width;
    size_t used; /**< cells of the line being built */
    fab_cell line[FAB_TEXT_MAX_WIDTH];
} fab_page;

/** `style` may be NULL. Release page->out. */
void fab_page_init(fab_page *page, const fab_report_style *style);

/** Adds to the line; what does not fit is cut, marked by an ellipsis. */
void fab_page_put(fab_page *page, fab_ink ink, const char *text);
void fab_page_printf(fab_page *page, fab_ink ink, const char *fmt, ...) FAB_PRINTF(3, 4);
/** Blanks up to `column`, counted from 0. */
void fab_page_to(fab_page *page, size_t column);
/** Puts text so that it ends before `column`. */
void fab_page_right(fab_page *page, fab_ink ink, size_t column, const char *text);
void fab_page_end_line(fab_page *page);

/** A whole line. */
void fab_page_line(fab_page *page, fab_ink ink, const char *fmt, ...) FAB_PRINTF(3, 4);
/** Words over as many lines as it takes; the first line starts at `indent`, the others at `hanging`. */
void fab_page_wrap(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *text);
/** The same of a format; at most FAB_TEXT_PARAGRAPH - 1 bytes. */
void fab_page_wrapf(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *fmt, ...) FAB_PRINTF(5, 6);

/** Bar of `cells` columns for part / whole; anything above 0 shows. */
void fab_page_bar(fab_page *page, fab_ink ink, double part, double whole, size_t cells);
/** One column whose height is part / whole; anything above 0 shows. */
void fab_page_column_bar(fab_page *page, fab_ink ink, double part, double whole);

/** Columns that a text takes. */
size_t fab_text_columns(const char *text);

typedef struct fab_table_cell {
    char text[48];
    fab_ink ink;
} fab_table_cell;

/** A table of right-aligned columns behind a left-aligned first one; fab_table_print() finds the widths. */
typedef struct fab_table {
    size_t n_columns, n_rows, capacity;
    fab_table_cell *cell; /**< shape [n_rows * n_columns] */
    bool failed;
} fab_table;

void fab_table_init(fab_table *table, size_t n_columns);
void fab_table_release(fab_table *table);
/** Adds a row; cells follow by fab_table_set(). Row 0 is the heading. */
void fab_table_row(fab_table *table);

/** A table of `n` columns that begins with a row of their titles. */
void fab_table_begin(fab_table *table, const char *const *titles, size_t n);
void fab_table_set(fab_table *table, size_t column, fab_ink ink, const char *fmt, ...) FAB_PRINTF(4, 5);
/** Called behind every row but the heading, to add a bar. */
typedef void fab_table_tail(fab_page *page, size_t row, void *context);
/** Prints the rows; columns that do not fit are cut at the right edge. */
void fab_table_print(const fab_table *table, fab_page *page, size_t indent, fab_table_tail *tail, void *context);

#endif
