/**
 * A result as flat tables, for formats that have rows and columns only. Made by one walk over the result, so that every
 * table holds the figures that JSON and XML hold.
 *
 * Every list of objects is a table named by its path, `phases.engines.link_loads`, with a row for each object of all
 * lists of that path. Every other object of the report is a table of one row, `fabric`. Objects within a row are
 * columns of it, `paths.mean_hops`; a figure over several seeds is six, `time_s.mean`; lists of figures stand in one
 * cell, separated by blanks, lists of texts by bars. In front stand, for every list around it, the number of the
 * element counted from 1, `engine_no`, and its name, `engine`.
 */
#pragma once

#include "fab/result.h"

typedef struct fab_rt_column {
    size_t name;      /**< offset into texts */
    bool is_ancestor; /**< of a list around it */
} fab_rt_column;

typedef struct fab_rt_cell {
    size_t text; /**< offset into texts */
    uint32_t row, column;
} fab_rt_cell;

typedef struct fab_rt_table {
    size_t name; /**< offset into texts */
    fab_rt_column *columns;
    uint32_t *order; /**< columns as they are shown */
    size_t n_columns, columns_capacity, order_capacity;
    fab_rt_cell *cells; /**< row by row */
    size_t n_rows, n_cells, cells_capacity;
    size_t at; /**< while it is filled: place behind the column that was met last */
} fab_rt_table;

typedef struct fab_result_tables {
    fab_rt_table *tables;
    size_t n_tables, capacity;
    fab_str texts;
} fab_result_tables;

/**
 * @param[out] out  Written on success only; release it. Complexity: O(figures x columns of their table).
 */
FAB_STATUS fab_result_tables_make(const fab_result *result, fab_result_tables *out, fab_error *err);
void fab_result_tables_release(fab_result_tables *tables);

/** NULL: there is none of that name. */
const fab_rt_table *fab_result_tables_find(const fab_result_tables *tables, const char *name);

static inline const char *fab_rt_text(const fab_result_tables *tables, size_t at) {
    return tables->texts.data + at;
}

/** All cells, row by row, by column as they are shown; NULL where there is none. Free with free(). */
FAB_STATUS fab_rt_cells(const fab_result_tables *tables, const fab_rt_table *table, const char ***out, fab_error *err);
