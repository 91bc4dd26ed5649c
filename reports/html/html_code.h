/**
 * Long rows of numbers as short text, for the data block of the HTML report. web/src/decode.js reads them.
 *
 * A number is a VLQ as in source maps: base 64, five bits a character, least first, bit 6 says that more follow, and
 * the lowest bit of all is the sign.
 */
#pragma once

#include "fab/str.h"

#define FAB_ROW_MAX 12

/** Appends a whole number. |value| < 2^62. */
void fab_code_vlq(fab_str *out, int64_t value);

/**
 * Rows of `width` whole numbers. A row is coded by its differences to the row before (to zeros, the first), and equal
 * differences in a row of rows only once: how often, then the differences. Zero-initialise but for out and width; end
 * with fab_code_rows_end().
 */
typedef struct fab_code_rows {
    fab_str *out;
    size_t width; /**< 1 ... FAB_ROW_MAX */
    uint64_t times;
    int64_t last[FAB_ROW_MAX], step[FAB_ROW_MAX];
} fab_code_rows;

void fab_code_rows_add(fab_code_rows *rows, const int64_t *row);
void fab_code_rows_end(fab_code_rows *rows);

#define FAB_CODE_VALUES 4096

/** Up to FAB_CODE_VALUES different figures, so that each of many figures is told by one character or two. */
typedef struct fab_code_table {
    double *value; /**< shape [n], ascending, six digits each; owned */
    size_t n;
    double step; /**< 0: every figure is there; else there were too many, and the nearest multiple of this stands for
                    one */
} fab_code_table;

/**
 * Table of the figures that occur.
 * @param[in] values  Shape [n], not negative and finite; sorted on return.
 * Complexity: O(n log n).
 */
FAB_STATUS fab_code_table_init(double *values, size_t n, fab_code_table *out, fab_error *err);
void fab_code_table_release(fab_code_table *table);

/** Figures by their place in a table: one base 64 digit, or two with more than 64 places; "~" and a VLQ n: the last one
 * n times more. Zero-initialise but for out and table; end with fab_code_series_end(). */
typedef struct fab_code_series {
    fab_str *out;
    const fab_code_table *table;
    uint64_t times;
    size_t last;
    double last_value;
} fab_code_series;

void fab_code_series_add(fab_code_series *series, double value);
void fab_code_series_end(fab_code_series *series);
