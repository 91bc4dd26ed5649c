/** Growing byte string. A failed allocation sticks: appends do nothing from then on, and fab_str_status tells. */
#pragma once

#include "fab/base.h"

#include <stdarg.h>

typedef struct fab_str {
    char *data; /**< NUL-terminated, or NULL when nothing was appended yet */
    size_t length;
    size_t capacity;
    bool failed;
} fab_str;

#define FAB_STR_INIT                                                                                                   \
    { NULL, 0, 0, false }

void fab_str_release(fab_str *str);
void fab_str_append(fab_str *str, const char *bytes, size_t n);
void fab_str_add(fab_str *str, const char *text);
/**
 * As a field of CSV: quoted where a comma, a quote, a line feed or the sign of a comment asks for it (RFC 4180). What a
 * spreadsheet would take for a formula (= + - @, but no number) has an apostrophe before it. U+FFFD stands for what is
 * no UTF-8 and for characters that are hidden, but for tabs and ends of lines.
 */
void fab_str_add_csv(fab_str *str, const char *text);
/** As a word of a POSIX shell: in single quotes where it has more than letters, digits and _ . / : , = @ % + -. */
void fab_str_add_shell(fab_str *str, const char *text);
/** True for a text that has, behind any apostrophes, the begin of a formula: fab_str_add_csv() puts one more before. */
bool fab_is_formula(const char *text);
void fab_str_printf(fab_str *str, const char *fmt, ...) FAB_PRINTF(2, 3);
void fab_str_vprintf(fab_str *str, const char *fmt, va_list args) FAB_PRINTF(2, 0);

/** Appends to the text in `out` what fits into its `size` bytes. */
void fab_append(char *out, size_t size, const char *fmt, ...) FAB_PRINTF(3, 4);

/** Writes numbers, those that follow each other as a range, parted by `by`: "0-15,20". Returns how many of the n whole
 * ranges within `size` bytes hold; at most 11 bytes a number, and the NUL. */
size_t fab_write_ranges(char *out, size_t size, const uint32_t *list, size_t n, char by);

/** FAB_OK, or FAB_ENOMEM if any append failed. */
FAB_STATUS fab_str_status(const fab_str *str, fab_error *err);

/**
 * Shortest decimal text that reads back as the same double ("0.1", "1e+300"). Locale-independent.
 * @param[out] out  At least 32 bytes. Returns out.
 */
const char *fab_format_double(char *out, double value);

/** Number with thousands separators ("24,576"). `out` holds at least 32 bytes. Returns out. */
const char *fab_format_count(char *out, uint64_t value);
/** As an expression; the text lasts until the end of the block. */
#define FAB_SAY_COUNT(value) fab_format_count(FAB_ROOM, (value))

/** Order of names in which numbers count by their value: leaf-9 before leaf-10. As strcmp(). */
int fab_compare_names(const char *a, const char *b);

/**
 * Whole of a text file or of stdin ("-"), NUL-terminated, unpacked where gzip or xz has packed it. What holds it must
 * fit below the RLIMIT_RSS of the process, which the program sets to what a run may take: of a file before anything is
 * read, of a pipe as it comes.
 * @retval FAB_EINPUT  larger than `limit` bytes; what is packed is damaged or unpacks to too much (fab/source.h)
 * @retval FAB_ELIMIT  more than the process may take
 * @retval FAB_EIO     it cannot be read
 */
FAB_STATUS fab_read_file(const char *path, size_t limit, fab_str *out, fab_error *err);
