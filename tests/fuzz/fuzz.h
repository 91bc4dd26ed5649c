/**
 * @file fuzz.h
 * What the targets share. A target is a file fuzz_NAME.c with one LLVMFuzzerTestOneInput(): whatever the bytes, it
 * returns 0, or ends the process with what does not hold.
 */
#pragma once

#include "fab/design.h"
#include "fab/fabric.h"
#include "fab/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Ends the process with this message unless `holds`. */
void fuzz_check(bool holds, const char *fmt, ...) FAB_PRINTF(2, 3);

/**
 * Whether a call on foreign input succeeded. A refusal must be one of what that input may be refused for, and say why:
 * neither a bug of our own nor a lack of memory.
 */
bool fuzz_accepts(fab_status status, const fab_error *err);

/** A text of the bytes, to be freed; ends at the first zero byte. */
char *fuzz_text(const uint8_t *data, size_t size);

/** Path of a file of these bytes. There is one: the next call overwrites it. */
const char *fuzz_file(const uint8_t *data, size_t size);

/** Writes bytes to a path. */
void fuzz_write(const char *path, const uint8_t *data, size_t size);

/** A new folder in memory, or where temporary files go; `out` holds 64 bytes. Removed at exit, with what is in it. */
const char *fuzz_folder(char *out);

/** The fabric of a one-line design. `design` may be NULL. */
fab_fabric *fuzz_fabric(const char *text, fab_design *design);

/** The next values of an input, 0 behind its end. */
typedef struct fuzz_source {
    const uint8_t *data;
    size_t size;
} fuzz_source;

/** One below n, 0 < n <= 65536. */
uint32_t fuzz_below(fuzz_source *source, uint32_t n);

/** One of the texts. */
const char *fuzz_word(fuzz_source *source, const char *const *words, size_t n);
#define FUZZ_WORD(source, words) fuzz_word((source), (words), sizeof(words) / sizeof((words)[0]))
