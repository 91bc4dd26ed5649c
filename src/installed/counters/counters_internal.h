/** What readers of counters add, and their rows. */
#pragma once

#include "fab/box_files.h"
#include "fab/counters.h"
#include "fab/text.h"

/** What tells a port. NULL and 0: not known. */
typedef struct counted_key {
    fab_token box, port;
    uint64_t guid;
    uint32_t lid;
    const char *file;
    size_t line;
} counted_key;

/** The port of a key, added where it is new. O(1) expected. */
FAB_STATUS fab_counters_port(fab_counters *c, const counted_key *key, uint32_t *out, fab_error *err);

/** What a name counts, in any tool's spelling; false: nothing that is of use here. */
bool fab_counter_find(fab_token name, fab_counter *out, uint8_t *out_scale);

/** Sets a counter of a port; those that are counted by priority add up. */
void fab_counters_set(fab_counters *c, uint32_t port, fab_counter counter, uint8_t scale, uint64_t value);

/** A text line by line. */
typedef struct counted_lines {
    const char *at; /**< what follows */
    size_t line;    /**< number of the one that was given last, from 1 */
} counted_lines;

/** The next line without its end; false behind the last. */
bool fab_counter_line(counted_lines *lines, fab_token *out);

static inline fab_token fab_token_of(const char *text) {
    return (fab_token){.text = text, .length = text != NULL ? strlen(text) : 0};
}

/** Decimal digits, thousands with commas too, or 0x and hexadecimal ones; false where it is none. */
bool fab_counter_number(fab_token t, uint64_t *out);

/** 16 hexadecimal digits that follow "0x" or stand alone in a name, such as perfquery-0x506b4b03005c2740.txt. */
bool fab_counter_guid(fab_token t, uint64_t *out);

/** The box that the name of a file tells. */
static inline fab_token fab_counter_file(const char *path) {
    fab_token box = {.text = NULL};
    box.length = fab_path_box(path, &box.text);
    return box;
}

typedef enum counted_kind {
    COLUMN_OTHER,
    COLUMN_NODE,
    COLUMN_GUID,
    COLUMN_PORT,
    COLUMN_TIME,
    COLUMN_COUNTER
} counted_kind;

typedef struct counted_column {
    counted_kind kind;
    fab_counter counter;
    uint8_t scale;
} counted_column;

#define COUNTED_COLUMNS 512

/** A table with a line for each port. */
typedef struct counted_table {
    char separator;   /**< of its cells */
    bool skips_words; /**< a cell that is no number counts nothing; else it is an error */
    counted_column columns[COUNTED_COLUMNS];
    size_t n;
} counted_table;

/** The names of the columns; false where none is of ports, or none of counters. */
bool fab_counted_head(counted_table *t, fab_token line);

/** A port: what the line says of it in place of `key`, and its counters. */
FAB_STATUS fab_counted_row(const counted_table *t, fab_token line, counted_key key, fab_counters *out, fab_error *err);

extern const fab_counters_format fab_counters_perfquery, fab_counters_ibdiagnet, fab_counters_prometheus,
    fab_counters_json, fab_counters_csv, fab_counters_sysfs;
