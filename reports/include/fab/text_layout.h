/**
 * Lines for a terminal: built from pieces, never wider than asked, free of control characters whatever the names hold.
 */
#pragma once

#include "fab/reports.h"

#define FAB_TEXT_MIN_WIDTH 40
#define FAB_TEXT_MAX_WIDTH 240

typedef enum fab_ink { FAB_INK_PLAIN, FAB_INK_BOLD, FAB_INK_DIM, FAB_INK_GOOD, FAB_INK_BAD, FAB_INK_BAR } fab_ink;

typedef struct fab_cell {
    char glyph[5]; /**< one code point in UTF-8 */
    fab_ink ink;
} fab_cell;

typedef struct fab_page {
    fab_str out;
    bool color, ascii, conventions;
    bool markdown;        /**< paragraphs, tables and headings as such; a drawing is a block of code */
    bool in_code, in_row; /**< Markdown: behind a line of code; within a table, where there are no bars */
    size_t width;
    size_t used; /**< cells of the line being built */
    fab_cell line[FAB_TEXT_MAX_WIDTH];
    fab_str said;                     /**< the paragraph being built */
    struct fab_text_figures *figures; /**< what fab_show() has made; owned */
} fab_page;

/** `style` may be NULL. */
void fab_page_init(fab_page *page, const fab_report_style *style);
/** Gives what was printed, and releases the rest of the page. */
fab_str fab_page_take(fab_page *page);

/** Adds to the line; what does not fit goes on in the next one. */
void fab_page_put(fab_page *page, fab_ink ink, const char *text);
void fab_page_printf(fab_page *page, fab_ink ink, const char *fmt, ...) FAB_PRINTF(3, 4);
/** Blanks up to `column`, counted from 0. */
void fab_page_to(fab_page *page, size_t column);
/** Puts text so that it ends before `column`. */
void fab_page_right(fab_page *page, fab_ink ink, size_t column, const char *text);
void fab_page_end_line(fab_page *page);
/** Ends the line with a dim text at the right edge, on a line of its own where that is too near. */
void fab_page_last(fab_page *page, const char *text);

/** A whole line of words; of a drawing: fab_page_end_line(). */
#define fab_page_line(page, ink, ...) (fab_page_printf(page, ink, __VA_ARGS__), fab_page_wrap(page, ink, 0, 0, ""))
/** Adds to the paragraph that fab_page_paragraph() prints. */
void fab_page_say(fab_page *page, const char *fmt, ...) FAB_PRINTF(2, 3);
/** Prints what was said, as fab_page_wrap() does. */
void fab_page_paragraph(fab_page *page, fab_ink ink, size_t indent, size_t hanging);
/** Words over as many lines as it takes; the first line starts at `indent`, the others at `hanging`. */
void fab_page_wrap(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *text);
/** The same of a format. */
#define fab_page_wrapf(page, ink, indent, hanging, ...)                                                                \
    (fab_page_say(page, __VA_ARGS__), fab_page_paragraph(page, ink, indent, hanging))

/** Words that stay a command when they are pasted into a shell: lines are broken behind words and, where a word is too
 * long, behind commas with the next line at the margin. */
void fab_page_shell(fab_page *page, fab_ink ink, size_t indent, const char *text);

/** Bar of `cells` columns for part / whole; anything above 0 shows. */
void fab_page_bar(fab_page *page, fab_ink ink, double part, double whole, size_t cells);
/** One column whose height is part / whole; anything above 0 shows. */
void fab_page_column_bar(fab_page *page, fab_ink ink, double part, double whole);

/** A bar behind a table's row, of `cells` columns at most: fewer where the page ends, none below `least`. */
void fab_page_bar_behind(fab_page *page, double part, double whole, size_t least, size_t cells);

/** One column per bin, as high as the bin is full; bins from `first_bad` on are bad. */
void fab_page_sparkline(fab_page *page, const uint64_t *bins, size_t n, size_t first_bad);
/** A line of a histogram: its name, a bar and the number. */
void fab_page_bin(fab_page *page, fab_ink ink, const char *name, uint64_t n, uint64_t largest);
/** First and last bin that hold anything; returns the largest number in one. */
uint64_t fab_text_bins(const uint64_t *bins, size_t n, size_t *out_first, size_t *out_last);

/** Columns that a text takes. */
size_t fab_text_columns(const char *text);

/** Figures as text: each stands as long as the page. */
const char *fab_show(fab_page *page, const char *fmt, ...) FAB_PRINTF(2, 3);
const char *fab_show_count(fab_page *page, uint64_t n);
/** "1 cable", "24,576 cables". */
const char *fab_show_counted(fab_page *page, uint64_t n, const char *one, const char *many);
/** A count that may be a mean: "1,234" or "1,234.5". */
const char *fab_show_mean_count(fab_page *page, double n);
const char *fab_show_whole(fab_page *page, double n);   /**< "24,576" */
const char *fab_show_integer(fab_page *page, double n); /**< "24576" */
const char *fab_show_time(fab_page *page, double s);
const char *fab_show_rate(fab_page *page, double bps);
const char *fab_show_bytes(fab_page *page, double bytes);
const char *fab_show_length(fab_page *page, double m);
const char *fab_show_power(fab_page *page, double w);
const char *fab_show_money(fab_page *page, double usd);
const char *fab_show_price(fab_page *page, double usd);      /**< fab_price_format() */
const char *fab_show_2_digits(fab_page *page, double value); /**< "1.25" */
const char *fab_show_3_digits(fab_page *page, double value); /**< "1.250" */
const char *fab_show_factor(fab_page *page, double factor);  /**< "x1.250" */
const char *fab_show_percent(fab_page *page, double ratio);  /**< "12.5 %", "x2.5" */
const char *fab_show_change(fab_page *page, double ratio);   /**< "+12.5 %", "x2.5" */
const char *fab_show_more(fab_page *page, double ratio);     /**< "12.5 % more", "x2.5" */
const char *fab_show_about(fab_page *page, double value);    /**< "1.25", "1.25e+04" */
/** "6.86:1". */
const char *fab_show_taper(fab_page *page, double taper);
/** "1/6.86": as built, leaf first; "-" with one tier. */
const char *fab_show_tapers(fab_page *page, uint64_t tiers, const double *taper);
/** "" for one, "s" for any other number. */
const char *fab_plural(uint64_t n);
