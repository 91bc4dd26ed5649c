/** A text file line by line and word by word, and what is wrong with it as file:line:column. */
#pragma once

#include "fab/str.h"

typedef struct fab_token {
    const char *text; /**< "" at the end of a line */
    size_t length;
    size_t column;
} fab_token;

typedef struct fab_text {
    const char *path;
    fab_str file;            /**< all of it, or of a stream what was read and is not passed yet */
    const char *at, *behind; /**< what is left of the line */
    const char *line_start, *next_line;
    size_t line;    /**< from 1 */
    size_t n_bytes; /**< of the file; SIZE_MAX: of a stream that cannot tell */
    struct fab_text_stream *stream;
} fab_text;

/**
 * Reads the file and stands before its first line.
 * Of standard input ("-") and of what gzip or xz has packed as well; the text is what unpacking gives.
 * @retval FAB_EINPUT  a zero byte: no text; or longer than 2 GiB; or packed and damaged (fab/source.h)
 * @retval FAB_EIO     it cannot be read
 */
FAB_STATUS fab_text_open(const char *path, fab_text *out, fab_error *err);
void fab_text_release(fab_text *text);

/** Of a file whose bytes are there already: FAB_EINPUT where one of them is zero. */
FAB_STATUS fab_text_check(fab_text *text, fab_error *err);

/**
 * The same, but keeps one line at a time (up to 64 MiB): tokens of a line last until the next. What is wrong further on
 * ends the lines, so that fab_text_end() has to be asked behind the last one.
 * @retval FAB_EINPUT  begins with a byte order mark of UTF-16; one of UTF-8 is passed over
 * @retval FAB_EIO     it cannot be read
 */
FAB_STATUS fab_text_stream_open(const char *path, fab_text *out, fab_error *err);

/**
 * Why there are no more lines: FAB_OK at the end of the file.
 * @retval FAB_EINPUT  a zero byte, a line that is too long, packed and damaged: file:line:column
 * @retval FAB_EIO, FAB_ENOMEM
 */
FAB_STATUS fab_text_end(const fab_text *text, fab_error *err);

/** Stands before the first line again. Not of a stream. */
void fab_text_rewind(fab_text *text);

/** Moves to the next line that is neither blank nor a comment (#); false at the end of the file. A line ends with LF
 * or CRLF. */
bool fab_text_next(fab_text *text);

/** The next word of the line; of length 0 behind the last. */
fab_token fab_text_token(fab_text *text);

/** Whether what is left of the line begins with a word; then moves behind it. */
bool fab_text_take(fab_text *text, const char *word);

/** What is left of the line. */
fab_token fab_text_rest(const fab_text *text);

/** Decimal digits only, up to 18; false where it is none or too large. */
bool fab_token_number(fab_token t, uint64_t *out);

/** Up to 16 digits, either case; false where it is none. */
bool fab_token_hexadecimal(fab_token t, uint64_t *out);
/** The same behind 0x. */
bool fab_token_guid(fab_token t, uint64_t *out);

bool fab_token_is(fab_token t, const char *word);

/** Whether a token begins with a word. */
bool fab_token_begins(fab_token t, const char *word);

/** The token between two places of a text. */
fab_token fab_token_range(const char *from, const char *behind);

/** Takes what stands before the first `stop`, or all, off a token, and the `stop`. Of NULL there is no more. */
fab_token fab_token_split(fab_token *t, char stop);

/** The last place of a character; NULL. */
const char *fab_token_last(fab_token t, char c);

/** Without the characters of `set`, none of which is NUL, at its ends. */
fab_token fab_token_trim(fab_token t, const char *set);

/** Where a word that is not empty stands first; NULL. */
const char *fab_token_find(fab_token t, const char *word);

/** FAB_EINPUT: what is left of the line stands where something else was expected. */
fab_status fab_text_expected(const fab_text *text, const char *what, fab_error *err);

/** FAB_EINPUT where the line has another word. */
FAB_STATUS fab_text_expect_end(fab_text *text, fab_error *err);

/** `code`: "'TOKEN' ", where it is not empty, and what printf makes of the rest; at the column of the token, or 1. */
fab_status fab_text_wrong(const fab_text *text, fab_token t, fab_status code, fab_error *err, const char *fmt, ...)
    FAB_PRINTF(5, 6);

/** The same with FAB_EINPUT, with FAB_EUNSUPPORTED, and with FAB_EINPUT of the line and no token. */
#define fab_text_refuse(text, t, err, ...) fab_text_wrong(text, t, FAB_EINPUT, err, __VA_ARGS__)
#define fab_text_unable(text, t, err, ...) fab_text_wrong(text, t, FAB_EUNSUPPORTED, err, __VA_ARGS__)
#define fab_text_fail(text, err, ...)      fab_text_wrong(text, (fab_token){0}, FAB_EINPUT, err, __VA_ARGS__)
