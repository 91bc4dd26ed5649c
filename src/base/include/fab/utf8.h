/** Reading text that should be UTF-8 but need not be: names from files go into formats that must be. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAB_UTF8_REPLACEMENT      0xFFFDU
#define FAB_UTF8_REPLACEMENT_TEXT "\xEF\xBF\xBD"

/**
 * Code point at the start of a NUL-terminated text that is not empty.
 * @param[out] out_code  The code point; U+FFFD where the bytes are not UTF-8 (overlong, surrogate, cut short, above
 * U+10FFFF).
 * @retval number of bytes read, at least 1; a malformed sequence is read byte by byte.
 */
size_t fab_utf8_decode(const char *text, uint32_t *out_code);

/**
 * True for what a terminal or an editor obeys instead of showing it: controls (C0, DEL, C1), marks of direction
 * (U+200E, U+202A ... U+202E, U+2066 ... U+2069), separators of lines, and characters without width.
 */
bool fab_utf8_is_hidden(uint32_t code);
