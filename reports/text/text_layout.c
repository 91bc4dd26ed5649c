#include "text_layout.h"
#include "fab/memory.h"
#include "fab/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void fab_page_init(fab_page *page, const fab_report_style *style) {
    memset(page, 0, sizeof *page);
    page->color = style != NULL && style->color;
    page->ascii = style != NULL && style->ascii;
    int width = style != NULL && style->width > 0 ? style->width : 80;
    width = width < FAB_TEXT_MIN_WIDTH ? FAB_TEXT_MIN_WIDTH : width;
    page->width = width > FAB_TEXT_MAX_WIDTH ? FAB_TEXT_MAX_WIDTH : (size_t)width;
}

/* --- lines ---------------------------------------------------------------------------------------------------------
 */

static void put_glyph(fab_page *page, fab_ink ink, const char *bytes, size_t n) {
    if (page->used == page->width) {
        fab_cell *last = &page->line[page->width - 1];
        (void)snprintf(last->glyph, sizeof last->glyph, "%s", page->ascii ? "~" : "\xE2\x80\xA6");
        return;
    }
    fab_cell *cell = &page->line[page->used++];
    memcpy(cell->glyph, bytes, n);
    cell->glyph[n] = '\0';
    cell->ink = ink;
}

void fab_page_put(fab_page *page, fab_ink ink, const char *text) {
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0) || code == FAB_UTF8_REPLACEMENT;
        if (is_control || (page->ascii && code > 0x7F)) {
            put_glyph(page, ink, "?", 1);
        } else {
            put_glyph(page, ink, text, n);
        }
        text += n;
    }
}

void fab_page_printf(fab_page *page, fab_ink ink, const char *fmt, ...) {
    char text[4 * FAB_TEXT_MAX_WIDTH];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fab_page_put(page, ink, text);
}

void fab_page_to(fab_page *page, size_t column) {
    while (page->used < column && page->used < page->width) {
        put_glyph(page, FAB_INK_PLAIN, " ", 1);
    }
}

size_t fab_text_columns(const char *text) {
    size_t columns = 0;
    while (*text != '\0') {
        uint32_t code = 0;
        text += fab_utf8_decode(text, &code);
        columns++;
    }
    return columns;
}

void fab_page_right(fab_page *page, fab_ink ink, size_t column, const char *text) {
    size_t columns = fab_text_columns(text);
    fab_page_to(page, columns < column ? column - columns : 0);
    fab_page_put(page, ink, text);
}

void fab_page_end_line(fab_page *page) {
    static const char *const START[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[36m"};
    while (page->used > 0 && strcmp(page->line[page->used - 1].glyph, " ") == 0) {
        page->used--;
    }
    fab_ink ink = FAB_INK_PLAIN;
    for (size_t i = 0; i < page->used; i++) {
        const fab_cell *cell = &page->line[i];
        if (page->color && cell->ink != ink) {
            fab_str_add(&page->out, ink != FAB_INK_PLAIN ? "\033[0m" : "");
            fab_str_add(&page->out, START[cell->ink]);
            ink = cell->ink;
        }
        fab_str_add(&page->out, cell->glyph);
    }
    fab_str_add(&page->out, ink != FAB_INK_PLAIN ? "\033[0m\n" : "\n");
    page->used = 0;
}

void fab_page_line(fab_page *page, fab_ink ink, const char *fmt, ...) {
    char text[4 * FAB_TEXT_MAX_WIDTH];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fab_page_put(page, ink, text);
    fab_page_end_line(page);
}

/* Columns of the word at `text`, and its bytes. */
static size_t word_at(const char *text, size_t *out_bytes) {
    size_t columns = 0;
    size_t bytes = 0;
    while (text[bytes] != '\0' && text[bytes] != ' ' && text[bytes] != '\n') {
        uint32_t code = 0;
        bytes += fab_utf8_decode(text + bytes, &code);
        columns++;
    }
    *out_bytes = bytes;
    return columns;
}

void fab_page_wrap(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *text) {
    bool is_fresh = true; /* no word on this line yet */
    fab_page_to(page, indent);
    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        size_t bytes = 0;
        size_t columns = word_at(text, &bytes);
        if (!is_fresh && page->used + 1 + columns > page->width) {
            fab_page_end_line(page);
            fab_page_to(page, hanging);
            is_fresh = true;
        }
        char word[4 * FAB_TEXT_MAX_WIDTH];
        (void)snprintf(word, sizeof word, "%s%.*s", is_fresh ? "" : " ", (int)bytes, text);
        fab_page_put(page, ink, word);
        is_fresh = false;
        text += bytes;
    }
    fab_page_end_line(page);
}

void fab_page_wrapf(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *fmt, ...) {
    char text[FAB_TEXT_PARAGRAPH];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fab_page_wrap(page, ink, indent, hanging, text);
}

/* --- bars ----------------------------------------------------------------------------------------------------------
 */

static const char *const EIGHTHS[] = {" ",
                                      "\xE2\x96\x8F",
                                      "\xE2\x96\x8E",
                                      "\xE2\x96\x8D",
                                      "\xE2\x96\x8C",
                                      "\xE2\x96\x8B",
                                      "\xE2\x96\x8A",
                                      "\xE2\x96\x89",
                                      "\xE2\x96\x88"};
static const char *const HEIGHTS[] = {" ",
                                      "\xE2\x96\x81",
                                      "\xE2\x96\x82",
                                      "\xE2\x96\x83",
                                      "\xE2\x96\x84",
                                      "\xE2\x96\x85",
                                      "\xE2\x96\x86",
                                      "\xE2\x96\x87",
                                      "\xE2\x96\x88"};
static const char *const ASCII_HEIGHTS[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};

/* part / whole of `units`, rounded, but at least 1 for anything above 0. */
static size_t scaled(double part, double whole, size_t units) {
    if (!(part > 0) || !(whole > 0)) {
        return 0;
    }
    double exact = part / whole * (double)units;
    size_t n = exact >= (double)units ? units : (size_t)(exact + 0.5);
    return n > 0 ? n : 1;
}

void fab_page_bar(fab_page *page, fab_ink ink, double part, double whole, size_t cells) {
    size_t start = page->used;
    if (page->ascii) {
        for (size_t n = scaled(part, whole, cells); n > 0; n--) {
            fab_page_put(page, ink, "#");
        }
    } else {
        size_t n = scaled(part, whole, 8 * cells);
        for (; n >= 8; n -= 8) {
            fab_page_put(page, ink, EIGHTHS[8]);
        }
        fab_page_put(page, ink, n > 0 ? EIGHTHS[n] : "");
    }
    fab_page_to(page, start + cells);
}

void fab_page_column_bar(fab_page *page, fab_ink ink, double part, double whole) {
    size_t n = scaled(part, whole, 8);
    fab_page_put(page, ink, page->ascii ? ASCII_HEIGHTS[n] : HEIGHTS[n]);
}

/* --- tables --------------------------------------------------------------------------------------------------------
 */

void fab_table_init(fab_table *table, size_t n_columns) {
    *table = (fab_table){.n_columns = n_columns < FAB_TEXT_MAX_COLUMNS ? n_columns : FAB_TEXT_MAX_COLUMNS};
}

void fab_table_release(fab_table *table) {
    free(table->cell);
    *table = (fab_table){0};
}

void fab_table_row(fab_table *table) {
    size_t need = (table->n_rows + 1) * table->n_columns;
    if (table->failed || FAB_GROW(table->cell, table->capacity, need, NULL) != FAB_OK) {
        table->failed = true;
        return;
    }
    for (size_t i = need - table->n_columns; i < need; i++) {
        table->cell[i] = (fab_table_cell){.ink = FAB_INK_PLAIN};
    }
    table->n_rows++;
}

void fab_table_begin(fab_table *table, const char *const *titles, size_t n) {
    fab_table_init(table, n);
    fab_table_row(table);
    for (size_t i = 0; i < n; i++) {
        fab_table_set(table, i, FAB_INK_DIM, "%s", titles[i]);
    }
}

void fab_table_set(fab_table *table, size_t column, fab_ink ink, const char *fmt, ...) {
    if (table->failed || table->n_rows == 0 || column >= table->n_columns) {
        return;
    }
    fab_table_cell *cell = &table->cell[(table->n_rows - 1) * table->n_columns + column];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(cell->text, sizeof cell->text, fmt, args);
    va_end(args);
    cell->ink = ink;
}

void fab_table_print(const fab_table *table, fab_page *page, size_t indent, fab_table_tail *tail, void *context) {
    size_t widths[FAB_TEXT_MAX_COLUMNS] = {0};
    if (table->failed) {
        page->out.failed = true;
        return;
    }
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++) {
        size_t columns = fab_text_columns(table->cell[i].text);
        size_t *width = &widths[i % table->n_columns];
        *width = columns > *width ? columns : *width;
    }
    for (size_t row = 0; row < table->n_rows; row++) {
        size_t edge = indent;
        fab_page_to(page, indent);
        for (size_t column = 0; column < table->n_columns; column++) {
            const fab_table_cell *cell = &table->cell[row * table->n_columns + column];
            fab_ink ink = row == 0 ? FAB_INK_DIM : cell->ink;
            if (column == 0) {
                fab_page_put(page, ink, cell->text);
                edge += widths[0];
            } else {
                edge += 2 + widths[column];
                fab_page_right(page, ink, edge, cell->text);
            }
        }
        fab_page_to(page, edge);
        if (tail != NULL && row > 0) {
            tail(page, row, context);
        }
        fab_page_end_line(page);
    }
}
