/*
 * Where a matrix is read, and what its readers share.
 */
#pragma once

#include "file_formats.h"

#define MATRIX_BANNER "%%MatrixMarket" /* how a file of MatrixMarket begins */

typedef struct matrix_cursor {
    const char *path;
    const fab_fabric *fabric;
    const char *at, *end; /* *end is NUL */
    const char *line_start;
    uint64_t line;            /* from 1 */
    uint32_t n_gpus;          /* servers, where these are named */
    bool by_servers;          /* rows are servers, whose bytes are those of their GPUs, evenly */
    uint32_t gpus_per_server; /* 1 where rows are GPUs */
    uint32_t n_named;         /* the largest that is named, and one */
    bool says_what;           /* "gpu-3", not "3" */
    char separator;           /* ',' or ';', as the first; NUL before */
    uint64_t n_rounded;       /* entries of a part of a byte */
    double most_rounded;      /* what it changed of one of them, at most: 1 is all of it */
    uint64_t most_bytes;      /* of an entry */
    bool has_unit;            /* some entry has one: bytes are what the others are */
} matrix_cursor;

/* Records "path:line:column" (the end of a long path) and the text. */
FAB_STATUS matrix_fail_at(const matrix_cursor *c, const char *at, fab_status code, fab_error *err, const char *what);
/* "expected X, found 'y'" or what else there is. */
FAB_STATUS matrix_unexpected(const matrix_cursor *c, const char *expected, fab_error *err);
void matrix_skip_blanks(matrix_cursor *c);
/* Moves to the first byte that is neither blank nor comment. */
void matrix_skip_lines(matrix_cursor *c, char comment);
FAB_STATUS matrix_expect_end(matrix_cursor *c, fab_error *err);
/* Whole number within [min, max]; `name` is what it stands for. */
FAB_STATUS matrix_read_count(matrix_cursor *c, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                             fab_error *err);
/* Whole or decimal number of bytes, or one with its unit, at least 0. */
FAB_STATUS matrix_read_bytes(matrix_cursor *c, uint64_t *out, fab_error *err);
/* Checks one entry that starts at `start` and adds it. */
FAB_STATUS matrix_add_entry(matrix_cursor *c, const char *start, uint64_t src, uint64_t dst, uint64_t bytes,
                            fab_phase_builder *builder, fab_error *err);
/* A file that begins with the banner. */
FAB_STATUS matrix_read_market(matrix_cursor *c, fab_phase_builder *builder, fab_error *err);
