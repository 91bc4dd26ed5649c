#include "text_markdown.h"
#include "fab/units.h"
#include "fab/utf8.h"

#include <stdarg.h>

void fab_page_init(fab_page *page, const fab_report_style *style) {
    memset(page, 0, sizeof *page);
    page->color = style != NULL && style->color;
    page->ascii = style != NULL && style->ascii;
    page->conventions = style != NULL && style->conventions;
    int width = style != NULL && style->width > 0 ? style->width : 80;
    width = width < FAB_TEXT_MIN_WIDTH ? FAB_TEXT_MIN_WIDTH : width;
    page->width = width > FAB_TEXT_MAX_WIDTH ? FAB_TEXT_MAX_WIDTH : (size_t)width;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

#define BELOW 4 /* indent of what did not fit into a line */

static void put_glyph(fab_page *page, fab_ink ink, const char *bytes, size_t n) {
    if (page->markdown && page->used == FAB_TEXT_MAX_WIDTH) {
        fab_markdown_paragraph(page, FAB_INK_PLAIN, "");
    } else if (page->used == page->width && !page->markdown) { /* nothing is cut: what does not fit goes on below */
        fab_page_end_line(page);
        fab_page_to(page, BELOW);
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
        if (fab_utf8_is_hidden(code) || code == FAB_UTF8_REPLACEMENT || (page->ascii && code > 0x7F)) {
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
    if (page->markdown) {
        fab_markdown_code(page);
        return;
    }
    while (page->used > 0 && strcmp(page->line[page->used - 1].glyph, " ") == 0) {
        page->used--;
    }
    fab_ink ink = FAB_INK_PLAIN;
    FAB_EACH(const fab_cell, cell, page->line, page->used) {
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

void fab_page_last(fab_page *page, const char *text) {
    if (page->markdown) {
        fab_markdown_paragraph(page, FAB_INK_DIM, text);
        return;
    }
    if (page->used + 2 + fab_text_columns(text) > page->width) {
        fab_page_end_line(page);
    }
    fab_page_right(page, FAB_INK_DIM, page->width, text);
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

/* Bytes of a word that no line holds, up to the last comma that one does; all of them where there is none. */
static size_t comma_within(const char *word, size_t bytes, size_t columns) {
    size_t end = 0;
    for (size_t i = 0; i < columns && i < bytes; i++) {
        end = word[i] == ',' ? i + 1 : end;
    }
    return end > 0 ? end : bytes;
}

void fab_page_wrap(fab_page *page, fab_ink ink, size_t indent, size_t hanging, const char *text) {
    bool is_fresh = true; /* no word on this line yet */
    if (page->markdown) {
        fab_markdown_paragraph(page, ink, text);
        return;
    }
    fab_page_to(page, indent);
    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        size_t bytes = 0;
        size_t columns = word_at(text, &bytes);
        bool is_long = hanging + columns > page->width;
        if (!is_fresh && page->used + 1 + columns > page->width) {
            fab_page_end_line(page);
            fab_page_to(page, hanging);
            is_fresh = true;
        }
        bytes = is_long ? comma_within(text, bytes, page->width - page->used) : bytes;
        char word[4 * FAB_TEXT_MAX_WIDTH];
        FAB_FORMAT(word, "%s%.*s", is_fresh ? "" : " ", (int)bytes, text);
        fab_page_put(page, ink, word);
        is_fresh = false;
        text += bytes;
        if (is_long && *text != '\0' && *text != ' ') {
            fab_page_end_line(page);
            fab_page_to(page, hanging);
            is_fresh = true;
        }
    }
    fab_page_end_line(page);
}

void fab_page_say(fab_page *page, const char *fmt, ...) {
    size_t room = sizeof page->said - page->n_said;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(page->said + page->n_said, room, fmt, args);
    va_end(args);
    page->n_said += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

void fab_page_paragraph(fab_page *page, fab_ink ink, size_t indent, size_t hanging) {
    page->said[page->n_said] = '\0';
    page->n_said = 0;
    fab_page_wrap(page, ink, indent, hanging, page->said);
}

void fab_page_shell(fab_page *page, fab_ink ink, size_t indent, const char *text) {
    if (page->markdown) {
        fab_markdown_command(page, text);
        return;
    }
    fab_page_to(page, indent);
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        size_t n = word;
        if (page->used + n + 2 > page->width && page->used > indent) {
            fab_page_put(page, ink, " \\");
            fab_page_end_line(page);
            fab_page_to(page, indent);
        }
        while (n > 0) {
            size_t chunk = strcspn(text, ",");
            chunk = chunk < n ? chunk + 1 : n;
            if (page->used + chunk + 2 > page->width) {
                fab_page_put(page, ink, "\\");
                fab_page_end_line(page);
            }
            fab_page_printf(page, ink, "%.*s", (int)chunk, text);
            text += chunk;
            n -= chunk;
        }
        text += strspn(text, " ");
        if (*text != '\0' && page->used + 1 + strcspn(text, " ") + 2 <= page->width) {
            fab_page_put(page, ink, " ");
        } else if (*text != '\0') {
            fab_page_put(page, ink, " \\");
            fab_page_end_line(page);
            fab_page_to(page, indent);
        }
    }
    fab_page_end_line(page);
}

/* --- bars --------------------------------------------------------------------------------------------------------- */

static const char *const EIGHTHS[] = {" ",      "\u258F", "\u258E", "\u258D", "\u258C",
                                      "\u258B", "\u258A", "\u2589", "\u2588"};
static const char *const HEIGHTS[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                      "\u2585", "\u2586", "\u2587", "\u2588"};
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
    if (page->in_row) {
        return;
    }
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

void fab_page_bar_behind(fab_page *page, double part, double whole, size_t least, size_t cells) {
    size_t room = page->width > page->used + 2 ? page->width - page->used - 2 : 0;
    if (room >= least) {
        fab_page_put(page, FAB_INK_PLAIN, "  ");
        fab_page_bar(page, FAB_INK_BAR, part, whole, room < cells ? room : cells);
    }
}

void fab_page_column_bar(fab_page *page, fab_ink ink, double part, double whole) {
    size_t n = scaled(part, whole, 8);
    if (page->in_row) {
        return;
    }
    fab_page_put(page, ink, page->ascii ? ASCII_HEIGHTS[n] : HEIGHTS[n]);
}

uint64_t fab_text_bins(const uint64_t *bins, size_t n, size_t *out_first, size_t *out_last) {
    uint64_t largest = 0;
    *out_first = *out_last = n - 1;
    for (size_t i = n; i-- > 0;) {
        *out_first = bins[i] > 0 ? i : *out_first;
        *out_last = bins[i] > 0 && largest == 0 ? i : *out_last;
        largest = bins[i] > largest ? bins[i] : largest;
    }
    return largest;
}

void fab_page_sparkline(fab_page *page, const uint64_t *bins, size_t n, size_t first_bad) {
    size_t first = 0;
    size_t last = 0;
    uint64_t largest = fab_text_bins(bins, n, &first, &last);
    for (size_t i = 0; i < n; i++) {
        fab_page_column_bar(page, i < first_bad ? FAB_INK_BAR : FAB_INK_BAD, (double)bins[i], (double)largest);
    }
}

#define BIN_NAME  18
#define BIN_CELLS 40 /* of a bar, at most */

void fab_page_bin(fab_page *page, fab_ink ink, const char *name, uint64_t n, uint64_t largest) {
    size_t room = page->width > BIN_NAME + 16 ? page->width - BIN_NAME - 16 : 8;
    fab_page_right(page, FAB_INK_PLAIN, BIN_NAME, name);
    fab_page_put(page, FAB_INK_PLAIN, " ");
    fab_page_bar(page, ink, (double)n, (double)largest, room < BIN_CELLS ? room : BIN_CELLS);
    fab_page_printf(page, FAB_INK_PLAIN, " %s", fab_show_count(page, n));
    fab_page_end_line(page);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static char *next_figure(fab_page *page) {
    return page->figure[page->n_figures++ % FAB_TEXT_FIGURES];
}

const char *fab_show(fab_page *page, const char *fmt, ...) {
    char *text = next_figure(page);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, FAB_TEXT_FIGURE, fmt, args);
    va_end(args);
    return text;
}

const char *fab_show_count(fab_page *page, uint64_t n) {
    return fab_format_count(next_figure(page), n);
}

const char *fab_show_counted(fab_page *page, uint64_t n, const char *one, const char *many) {
    return fab_show(page, "%s %s", fab_show_count(page, n), n == 1 ? one : many);
}

const char *fab_show_mean_count(fab_page *page, double n) {
    double whole = floor(n);
    int tenth = (int)((n - whole) * 10 + 0.5);
    if (tenth == 10) {
        whole += 1;
        tenth = 0;
    }
    const char *count = fab_show_count(page, (uint64_t)whole);
    return n == whole ? count : fab_show(page, "%s.%d", count, tenth);
}

/* fab_show_KIND() of a figure x. */
#define SHOWS(kind, text)                                                                                              \
    const char *fab_show_##kind(fab_page *page, double x) {                                                            \
        return text;                                                                                                   \
    }                                                                                                                  \
    struct fab_page
SHOWS(whole, fab_show_count(page, (uint64_t)x));
SHOWS(integer, fab_show(page, "%.0f", x));
SHOWS(time, fab_quantity_format(next_figure(page), x, FAB_UNIT_TIME));
SHOWS(rate, fab_quantity_format(next_figure(page), x, FAB_UNIT_RATE));
SHOWS(bytes, fab_quantity_format(next_figure(page), x, FAB_UNIT_BYTES));
SHOWS(length, fab_quantity_format(next_figure(page), x, FAB_UNIT_LENGTH));
SHOWS(power, fab_quantity_format(next_figure(page), x, FAB_UNIT_POWER));
SHOWS(price, fab_price_format(next_figure(page), x));
SHOWS(money, fab_money_format(next_figure(page), x));
SHOWS(2_digits, fab_show(page, "%.2f", x));
SHOWS(3_digits, fab_show(page, "%.3f", x));
SHOWS(factor, fab_show(page, "x%.3f", x));
SHOWS(percent, x > 1.0005 ? fab_show(page, "x%.3g", x) : fab_show(page, "%.1f %%", 100 * x));
SHOWS(change, fab_show(page, "%s", fab_change_format(FAB_ROOM, x, 1)));
SHOWS(more, fab_show(page, "%s", fab_more_format(FAB_ROOM, x, 3)));
SHOWS(about, fab_show(page, "%.3g", x));
SHOWS(taper, fab_show(page, "%.3g:1", x));

const char *fab_show_tapers(fab_page *page, uint64_t tiers, const double *taper) {
    const char *text = tiers < 2 ? "-" : fab_show_about(page, taper[0]);
    for (uint64_t t = 1; t + 1 < tiers; t++) {
        text = fab_show(page, "%s/%.3g", text, taper[t]);
    }
    return text;
}

const char *fab_plural(uint64_t n) {
    return n == 1 ? "" : "s";
}
