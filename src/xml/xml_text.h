/** Checks on the raw text, and places in it. Knows nothing of libxml2. */
#pragma once

#include "fab/base.h"

/** A place in a text. Only ever moves forward. */
typedef struct xml_cursor {
    size_t offset;
    uint32_t line, column;
} xml_cursor;

#define XML_CURSOR_START                                                                                               \
    { 0, 1, 1 }

/** Moves to `offset`, counting lines and characters. */
void xml_cursor_move(xml_cursor *cursor, const char *data, size_t offset);

/**
 * Refuses what libxml2 need not see: too large, empty, NUL bytes, anything but UTF-8 (by bytes or by declaration), more
 * attributes on one element than its quadratic duplicate check should meet.
 */
FAB_STATUS xml_text_check(const char *data, size_t size, const char *file, fab_error *err);
