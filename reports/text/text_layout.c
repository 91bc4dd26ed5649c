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

/* --- what is shown ------------------------------------------------------------------------------------------------ */

#define FIGURES 8192 /* bytes of a block, or more for a longer text */

/* A block of texts, one behind the other; `next` is full. */
typedef struct fab_text_figures {
    struct fab_text_figures *next;
    size_t used, size;
    char text[];
} fab_text_figures;

static char *room_for(fab_page *page, size_t n) {
    fab_text_figures *block = page->figures;
    if (block == NULL || block->size - block->used < n) {
        const size_t size = n > FIGURES ? n : FIGURES;
        block = malloc(sizeof *block + size);
        if (block == NULL) {
            return NULL;
        }
        *block = (fab_text_figures){.next = page->figures, .size = size};
        page->figures = block;
    }
    block->used += n;
    return block->text + block->used - n;
}

static const char *show(fab_page *page, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    char *text = n >= 0 ? room_for(page, (size_t)n + 1) : NULL;
    if (text != NULL) {
        (void)vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    page->out.failed = page->out.failed || text == NULL;
    return text != NULL ? text : "";
}

fab_str fab_page_take(fab_page *page) {
    fab_str out = page->out;
    out.failed = out.failed || page->said.failed;
    fab_str_release(&page->said);
    for (fab_text_figures *block = page->figures; block != NULL;) {
        fab_text_figures *next = block->next;
        free(block);
        block = next;
    }
    page->figures = NULL;
    page->out = (fab_str)FAB_STR_INIT;
    return out;
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
    va_list args;
    va_start(args, fmt);
    fab_page_put(page, ink, show(page, fmt, args));
    va_end(args);
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
    va_list args;
    va_start(args, fmt);
    fab_str_vprintf(&page->said, fmt, args);
    va_end(args);
}

void fab_page_paragraph(fab_page *page, fab_ink ink, size_t indent, size_t hanging) {
    fab_page_wrap(page, ink, indent, hanging, page->said.length > 0 ? page->said.data : "");
    page->said.length = 0;
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

const char *fab_show(fab_page *page, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const char *text = show(page, fmt, args);
    va_end(args);
    return text;
}

const char *fab_show_count(fab_page *page, uint64_t n) {
    return fab_show(page, "%s", fab_format_count(FAB_ROOM, n));
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
#define SHOWS(kind, ...)                                                                                               \
    const char *fab_show_##kind(fab_page *page, double x) {                                                            \
        return fab_show(page, __VA_ARGS__);                                                                            \
    }                                                                                                                  \
    struct fab_page
SHOWS(whole, "%s", fab_format_count(FAB_ROOM, (uint64_t)x));
SHOWS(integer, "%.0f", x);
SHOWS(time, "%s", fab_quantity_format(FAB_ROOM, x, FAB_UNIT_TIME));
SHOWS(rate, "%s", fab_quantity_format(FAB_ROOM, x, FAB_UNIT_RATE));
SHOWS(bytes, "%s", fab_quantity_format(FAB_ROOM, x, FAB_UNIT_BYTES));
SHOWS(length, "%s", fab_quantity_format(FAB_ROOM, x, FAB_UNIT_LENGTH));
SHOWS(power, "%s", fab_quantity_format(FAB_ROOM, x, FAB_UNIT_POWER));
SHOWS(price, "%s", fab_price_format(FAB_ROOM, x));
SHOWS(money, "%s", fab_money_format(FAB_ROOM, x));
SHOWS(2_digits, "%.2f", x);
SHOWS(3_digits, "%.3f", x);
SHOWS(factor, "x%.3f", x);
SHOWS(percent, x > 1.0005 ? "x%.3g" : "%.1f %%", x > 1.0005 ? x : 100 * x);
SHOWS(change, "%s", fab_change_format(FAB_ROOM, x, 1));
SHOWS(more, "%s", fab_more_format(FAB_ROOM, x, 3));
SHOWS(about, "%.3g", x);
SHOWS(taper, "%.3g:1", x);

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
