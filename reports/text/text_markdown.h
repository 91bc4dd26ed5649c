/**
 * The text report as Markdown (GitHub's tables): paragraphs, tables and headings are what the layout makes of them, and
 * what was drawn with letters is a block of code. Texts are escaped, so that no name of a file becomes markup.
 */
#pragma once

#include "fab/text_table.h"

void fab_markdown_heading(fab_page *page, const char *marks, const char *title);
/** What stands in the line, and `text` behind it. */
void fab_markdown_paragraph(fab_page *page, fab_ink ink, const char *text);
/** A command, on a line of its own. */
void fab_markdown_command(fab_page *page, const char *text);
/** The line as it stands. */
void fab_markdown_code(fab_page *page);
void fab_markdown_table(const fab_table *table, fab_table_tail *tail, const void *context);

/** A heading, with a remark behind it (NULL: none). */
void fab_text_heading(fab_page *page, const char *title, const char *remark);
/** What columns mean, and other remarks: dim, at the margin of a section. */
void fab_text_note(fab_page *page, const char *text);
#define fab_text_notef(page, ...) fab_page_wrapf(page, FAB_INK_DIM, 2, 2, __VA_ARGS__)
/** Where figures come from and how they are counted: only with --conventions. */
#define fab_text_legendf(page, ...) ((page)->conventions ? fab_text_notef(page, __VA_ARGS__) : (void)0)
/** How things were counted: a point each, as far as the first n of a list that NULL may end. */
void fab_text_conventions(fab_page *page, const char *const *lines, size_t n);
