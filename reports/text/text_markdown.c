#include "text_markdown.h"
#include "fab/utf8.h"

#include <ctype.h>

/* Blanks within, but none at the ends and no two beside each other. */
static void markdown_add(fab_str *out, const char *text) {
    bool is_blank = false;
    size_t start = out->length;
    size_t n = 1;
    for (const char *c = text; *c != '\0'; c += n) {
        uint32_t code = 0;
        n = fab_utf8_decode(c, &code);
        if (*c == ' ' || fab_utf8_is_hidden(code)) {
            is_blank = out->length > start;
            continue;
        }
        fab_str_add(out, is_blank ? " " : "");
        is_blank = false;
        bool is_within = *c == '_' && c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (code == FAB_UTF8_REPLACEMENT) {
            fab_str_add(out, FAB_UTF8_REPLACEMENT_TEXT);
        } else if (*c == '<') {
            fab_str_add(out, "&lt;");
        } else if (*c == '&') {
            fab_str_add(out, "&amp;");
        } else {
            fab_str_add(out, strchr("\\`*_[]|#~!", *c) != NULL && !is_within ? "\\" : "");
            fab_str_append(out, c, n);
        }
    }
}

static void markdown_block(fab_page *page) {
    fab_str_add(&page->out, page->out.length > 0 ? "\n" : "");
    page->in_code = false;
}

/* The line so far, what is bold as such. */
static void markdown_add_line(fab_page *page, fab_str *out) {
    char text[FAB_TEXT_MAX_WIDTH * sizeof page->line[0].glyph + 1];
    for (size_t i = 0; i < page->used;) {
        bool is_bold = page->line[i].ink == FAB_INK_BOLD;
        size_t n = 0;
        bool is_blank = true;
        for (; i < page->used && (page->line[i].ink == FAB_INK_BOLD) == is_bold; i++) {
            const char *glyph = page->line[i].glyph;
            is_blank = is_blank && strcmp(glyph, " ") == 0;
            memcpy(text + n, glyph, strlen(glyph));
            n += strlen(glyph);
        }
        text[n] = '\0';
        if (!is_blank) {
            bool is_open = out->length > 0 && out->data[out->length - 1] != '\n';
            fab_str_add(out, is_open ? " " : "");
            fab_str_add(out, is_bold ? "**" : "");
            markdown_add(out, text);
            fab_str_add(out, is_bold ? "**" : "");
        }
    }
    page->used = 0;
}

void fab_markdown_heading(fab_page *page, const char *marks, const char *title) {
    markdown_block(page);
    fab_str_add(&page->out, marks);
    fab_str_add(&page->out, " ");
    markdown_add(&page->out, title);
    fab_str_add(&page->out, "\n");
}

void fab_markdown_paragraph(fab_page *page, fab_ink ink, const char *text) {
    bool is_empty = text[strspn(text, " \n")] == '\0';
    if (is_empty && page->used == 0) {
        return;
    }
    markdown_block(page);
    markdown_add_line(page, &page->out);
    if (!is_empty) {
        bool is_first = page->out.length == 0 || page->out.data[page->out.length - 1] == '\n';
        fab_str_add(&page->out, is_first ? "" : " ");
        fab_str_add(&page->out, ink == FAB_INK_BOLD ? "**" : "");
        markdown_add(&page->out, text);
        fab_str_add(&page->out, ink == FAB_INK_BOLD ? "**" : "");
    }
    fab_str_add(&page->out, "\n");
}

static void markdown_point(fab_page *page, const char *text) {
    markdown_block(page);
    fab_str_add(&page->out, "- ");
    markdown_add(&page->out, text);
    fab_str_add(&page->out, "\n");
}

void fab_markdown_command(fab_page *page, const char *text) {
    markdown_block(page);
    fab_str_add(&page->out, "    ");
    size_t n = 1;
    for (; *text != '\0'; text += n) {
        uint32_t code = 0;
        n = fab_utf8_decode(text, &code);
        bool is_shown = !fab_utf8_is_hidden(code) && code != FAB_UTF8_REPLACEMENT;
        fab_str_append(&page->out, is_shown ? text : "?", is_shown ? n : 1);
    }
    fab_str_add(&page->out, "\n");
}

void fab_markdown_code(fab_page *page) {
    if (page->used == 0) {
        page->in_code = false;
        return;
    }
    if (!page->in_code) {
        markdown_block(page);
        page->in_code = true;
    }
    fab_str_add(&page->out, "    "); /* nothing in the line can end it, as a fence could be */
    for (size_t i = 0; i < page->used; i++) {
        fab_str_add(&page->out, page->line[i].glyph);
    }
    fab_str_add(&page->out, "\n");
    page->used = 0;
}

/* What stands behind a row, without its bar: a mark, or a share. */
static void markdown_add_tail(fab_page *page, size_t row, fab_table_tail *tail, const void *context, fab_str *out) {
    page->in_row = true;
    tail(page, row, context);
    page->in_row = false;
    markdown_add_line(page, out);
}

static bool markdown_has_tails(const fab_table *table, fab_table_tail *tail, const void *context) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    for (size_t row = 1; tail != NULL && row < table->n_rows; row++) {
        markdown_add_tail(table->page, row, tail, context, &text);
    }
    bool has = text.length > 0;
    table->page->out.failed |= text.failed;
    return has;
}

void fab_markdown_table(const fab_table *table, fab_table_tail *tail, const void *context) {
    fab_page *page = table->page;
    fab_str *out = &page->out;
    bool has_tails = markdown_has_tails(table, tail, context);
    markdown_block(page);
    for (size_t row = 0; row < table->n_rows; row++) {
        fab_str_add(out, "|");
        for (size_t i = 0; i < table->n_columns; i++) {
            if (table->columns[i].heading != NULL) {
                fab_str_add(out, " ");
                markdown_add(out, table->texts.data + table->cell[row * table->n_columns + i].text);
                fab_str_add(out, " |");
            }
        }
        if (has_tails && row > 0) {
            markdown_add_tail(page, row, tail, context, out);
        }
        fab_str_add(out, has_tails ? " |\n" : "\n");
        if (row == 0) {
            fab_str_add(out, "|");
            for (size_t i = 0; i < table->n_columns; i++) {
                bool is_left = i == 0 || table->columns[i].is_left || table->columns[i].is_command;
                fab_str_add(out, table->columns[i].heading == NULL ? "" : is_left ? " --- |" : " ---: |");
            }
            fab_str_add(out, has_tails ? " --- |\n" : "\n");
        }
    }
}

/* --- what sections are made of, in both forms --------------------------------------------------------------------- */

void fab_text_heading(fab_page *page, const char *title, const char *remark) {
    if (page->markdown) {
        fab_markdown_heading(page, "##", title);
        fab_markdown_paragraph(page, FAB_INK_PLAIN, remark != NULL ? remark : "");
        return;
    }
    fab_page_end_line(page);
    fab_page_put(page, FAB_INK_BOLD, title);
    if (remark != NULL && remark[0] != '\0') {
        fab_page_put(page, FAB_INK_PLAIN, "  ");
        fab_page_wrap(page, FAB_INK_PLAIN, 0, 2, remark);
    } else {
        fab_page_end_line(page);
    }
}

void fab_text_note(fab_page *page, const char *text) {
    fab_page_wrap(page, FAB_INK_DIM, 2, 2, text);
}

void fab_text_conventions(fab_page *page, const char *const *lines, size_t n) {
    if (!page->conventions) {
        return;
    }
    fab_text_heading(page, "HOW THIS WAS COUNTED", NULL);
    for (size_t i = 0; i < n && lines[i] != NULL; i++) {
        if (page->markdown) {
            markdown_point(page, lines[i]);
            continue;
        }
        fab_page_put(page, FAB_INK_DIM, "  - ");
        fab_page_wrap(page, FAB_INK_DIM, 4, 4, lines[i]);
    }
}
