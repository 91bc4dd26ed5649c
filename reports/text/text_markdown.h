/**
 * @file text_markdown.h
 * The text report as Markdown (GitHub's tables): paragraphs, tables and headings are what the layout makes of them, and
 * what was drawn with letters is a block of code. Texts are escaped, so that no name of a file becomes markup.
 */
#pragma once

#include "fab/text_table.h"

void fab_markdown_heading(fab_page *page, const char *marks, const char *title);
/** What stands in the line, and `text` behind it. */
void fab_markdown_paragraph(fab_page *page, fab_ink ink, const char *text);
/** A point of a list. */
void fab_markdown_point(fab_page *page, const char *text);
/** A command, on a line of its own. */
void fab_markdown_command(fab_page *page, const char *text);
/** The line as it stands. */
void fab_markdown_code(fab_page *page);
void fab_markdown_table(const fab_table *table, fab_table_tail *tail, const void *context);
