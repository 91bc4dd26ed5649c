/* A list with a line for each port: columns node (or guid) and port, counters by the name that any tool gives them, and
 * maybe time_s. Commas, semicolons or tabs. */
#include "counters_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 64

typedef enum list_column {
    COLUMN_OTHER,
    COLUMN_NODE,
    COLUMN_GUID,
    COLUMN_PORT,
    COLUMN_TIME,
    COLUMN_COUNTER
} list_column;

static const char *const NAMES[] = {[COLUMN_NODE] = " node switch host device ",
                                    [COLUMN_GUID] = " guid node_guid ",
                                    [COLUMN_PORT] = " port interface ",
                                    [COLUMN_TIME] = " time_s timestamp "};

typedef struct counted_column {
    list_column kind;
    fab_counter counter;
    uint8_t scale;
} counted_column;

static char separator_of(const char *bytes) {
    size_t n = strcspn(bytes, "\n");
    static const char SEPARATORS[] = "\t;,";
    for (size_t i = 0; i < sizeof SEPARATORS - 1; i++) {
        if (memchr(bytes, SEPARATORS[i], n) != NULL) {
            return SEPARATORS[i];
        }
    }
    return '\0';
}

/* The next cell, without the quotes around it. */
static const char *csv_cell(const char **at, const char *behind, char separator, size_t *out_n) {
    const char *cell = *at;
    const char *end = memchr(cell, separator, (size_t)(behind - cell));
    if (cell < behind && *cell == '"') {
        const char *quote = memchr(cell + 1, '"', (size_t)(behind - cell - 1));
        end = quote != NULL ? memchr(quote, separator, (size_t)(behind - quote)) : end;
    }
    end = end != NULL ? end : behind;
    *at = end < behind ? end + 1 : behind + 1;
    *out_n = (size_t)(end - cell);
    fab_counter_trim(&cell, out_n);
    if (*out_n > 1 && cell[0] == '"' && cell[*out_n - 1] == '"') {
        cell++;
        *out_n -= 2;
    }
    return cell;
}

static bool is_name(const char *cell, size_t n, const char *names) {
    char word[24];
    (void)snprintf(word, sizeof word, " %.*s ", (int)(n < 20 ? n : 20), cell);
    return n > 0 && n < 20 && memchr(cell, ' ', n) == NULL && strstr(names, word) != NULL;
}

static size_t read_heading(const char *text, size_t n, char separator, counted_column *columns) {
    const char *at = text;
    size_t i = 0;
    while (at <= text + n && i < COLUMNS) {
        size_t length = 0;
        const char *cell = csv_cell(&at, text + n, separator, &length);
        counted_column *c = &columns[i++];
        *c = (counted_column){.kind = COLUMN_OTHER, .scale = 1};
        for (list_column kind = COLUMN_NODE; kind < COLUMN_COUNTER; kind++) {
            c->kind = is_name(cell, length, NAMES[kind]) ? kind : c->kind;
        }
        if (c->kind == COLUMN_OTHER && fab_counter_find(cell, length, &c->counter, &c->scale)) {
            c->kind = COLUMN_COUNTER;
        }
    }
    return i;
}

static bool has_column(const counted_column *columns, size_t n, list_column kind) {
    for (size_t i = 0; i < n; i++) {
        if (columns[i].kind == kind) {
            return true;
        }
    }
    return false;
}

static bool csv_recognise(const char *path, const char *bytes) {
    counted_column columns[COLUMNS];
    size_t n = strcspn(bytes, "\r\n");
    char separator = separator_of(bytes);
    (void)path;
    if (separator == '\0') {
        return false;
    }
    size_t n_columns = read_heading(bytes, n, separator, columns);
    return has_column(columns, n_columns, COLUMN_COUNTER) && has_column(columns, n_columns, COLUMN_PORT);
}

static bool read_time(const char *cell, size_t n, double *out) {
    char word[40] = "";
    char *end = NULL;
    if (n == 0 || n >= sizeof word) {
        return false;
    }
    memcpy(word, cell, n);
    *out = strtod(word, &end);
    return *end == '\0' && *out >= 0 && strspn(word, "0123456789.eE+") == n;
}

static fab_status read_key(const char *text, size_t n, char separator, const counted_column *columns, size_t n_columns,
                           counted_key *key, double *time_s, fab_error *err) {
    const char *at = text;
    for (size_t i = 0; i < n_columns && at <= text + n; i++) {
        size_t length = 0;
        const char *cell = csv_cell(&at, text + n, separator, &length);
        bool is_wrong = false;
        if (columns[i].kind == COLUMN_NODE && length > 0) {
            key->box = cell;
            key->n_box = length;
        } else if (columns[i].kind == COLUMN_GUID && length > 0) {
            is_wrong = !fab_counter_guid(cell, length, &key->guid);
        } else if (columns[i].kind == COLUMN_PORT) {
            key->port = length > 0 ? cell : NULL;
            key->n_port = length;
        } else if (columns[i].kind == COLUMN_TIME && length > 0) {
            is_wrong = !read_time(cell, length, time_s);
        }
        if (is_wrong) {
            return fab_fail_in_file(err, key->file, key->line, 1, "column %zu: '%.*s' is no %s", i + 1,
                                    (int)(length < 40 ? length : 40), cell,
                                    columns[i].kind == COLUMN_GUID ? "GUID" : "time in seconds");
        }
    }
    return key->box != NULL || key->guid != 0
               ? FAB_OK
               : fab_fail_in_file(err, key->file, key->line, 1, "names no node and no GUID");
}

static fab_status read_counts(const char *text, size_t n, char separator, const counted_column *columns,
                              size_t n_columns, const counted_key *key, uint32_t port, fab_counters *out,
                              fab_error *err) {
    const char *at = text;
    for (size_t i = 0; i < n_columns && at <= text + n; i++) {
        size_t length = 0;
        uint64_t value = 0;
        const char *cell = csv_cell(&at, text + n, separator, &length);
        if (columns[i].kind != COLUMN_COUNTER || length == 0) {
            continue;
        }
        if (!fab_counter_number(cell, length, &value)) {
            return fab_fail_in_file(err, key->file, key->line, 1, "column %zu: '%.*s' is no count", i + 1,
                                    (int)(length < 40 ? length : 40), cell);
        }
        fab_counters_set(out, port, columns[i].counter, columns[i].scale, value);
    }
    return FAB_OK;
}

static fab_status csv_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    counted_column columns[COLUMNS];
    const char *text = NULL;
    size_t n = 0;
    size_t n_columns = 0;
    char separator = separator_of(bytes);
    while (fab_counter_line(&lines, &text, &n)) {
        counted_key key = {.file = path, .line = lines.line};
        double time_s = -1;
        uint32_t port = 0;
        if (n == 0 || text[0] == '#') {
            continue;
        }
        if (n_columns == 0) {
            n_columns = read_heading(text, n, separator, columns);
            continue;
        }
        FAB_PASS(read_key(text, n, separator, columns, n_columns, &key, &time_s, err));
        FAB_PASS(fab_counters_port(out, &key, &port, err));
        FAB_PASS(read_counts(text, n, separator, columns, n_columns, &key, port, out, err));
        if (time_s >= 0) {
            out->ports[port].time_s = time_s;
        }
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_csv = {
    .name = "csv",
    .summary = "counters: a list of ports: node (or guid), port, counters by any tool's names, time_s",
    .recognise = csv_recognise,
    .read = csv_read};
