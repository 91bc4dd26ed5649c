/* A list with a line for each port: columns node (or guid) and port, counters by the name that any tool gives them, and
 * maybe time_s. Commas, semicolons or tabs. */
#include "counters_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[] = {[COLUMN_NODE] = " node switch host device ",
                                    [COLUMN_GUID] = " guid node_guid NodeGUID ",
                                    [COLUMN_PORT] = " port interface PortNumber ",
                                    [COLUMN_TIME] = " time_s timestamp "};

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

bool fab_counted_head(counted_table *t, const char *text, size_t n) {
    const char *at = text;
    bool has_port = false;
    bool has_counter = false;
    t->n = 0;
    while (at <= text + n && t->n < COUNTED_COLUMNS) {
        size_t length = 0;
        const char *cell = csv_cell(&at, text + n, t->separator, &length);
        counted_column *c = &t->columns[t->n++];
        *c = (counted_column){.kind = COLUMN_OTHER, .scale = 1};
        for (counted_kind kind = COLUMN_NODE; kind < COLUMN_COUNTER; kind++) {
            c->kind = is_name(cell, length, NAMES[kind]) ? kind : c->kind;
        }
        if (c->kind == COLUMN_OTHER && fab_counter_find(cell, length, &c->counter, &c->scale)) {
            c->kind = COLUMN_COUNTER;
        }
        has_port = has_port || c->kind == COLUMN_PORT;
        has_counter = has_counter || c->kind == COLUMN_COUNTER;
    }
    return has_port && has_counter;
}

static bool csv_recognise(const char *path, const char *bytes) {
    counted_table table = {.separator = separator_of(bytes)};
    (void)path;
    return table.separator != '\0' && fab_counted_head(&table, bytes, strcspn(bytes, "\r\n"));
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

static fab_status read_key(const counted_table *t, const char *text, size_t n, counted_key *key, double *time_s,
                           fab_error *err) {
    const counted_column *columns = t->columns;
    const char *at = text;
    for (size_t i = 0; i < t->n && at <= text + n; i++) {
        size_t length = 0;
        const char *cell = csv_cell(&at, text + n, t->separator, &length);
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
    const char *missing = key->box == NULL && key->guid == 0 ? "node and no GUID" : key->port == NULL ? "port" : NULL;
    return missing == NULL ? FAB_OK : fab_fail_in_file(err, key->file, key->line, 1, "names no %s", missing);
}

fab_status fab_counted_row(const counted_table *t, const char *text, size_t n, counted_key key, fab_counters *out,
                           fab_error *err) {
    double time_s = -1;
    uint32_t port = 0;
    FAB_PASS(read_key(t, text, n, &key, &time_s, err));
    FAB_PASS(fab_counters_port(out, &key, &port, err));
    const char *at = text;
    for (size_t i = 0; i < t->n && at <= text + n; i++) {
        size_t length = 0;
        uint64_t value = 0;
        const char *cell = csv_cell(&at, text + n, t->separator, &length);
        if (t->columns[i].kind != COLUMN_COUNTER || length == 0) {
            continue;
        }
        if (fab_counter_number(cell, length, &value)) {
            fab_counters_set(out, port, t->columns[i].counter, t->columns[i].scale, value);
        } else if (!t->skips_words) {
            return fab_fail_in_file(err, key.file, key.line, 1, "column %zu: '%.*s' is no count", i + 1,
                                    (int)(length < 40 ? length : 40), cell);
        }
    }
    out->ports[port].time_s = time_s >= 0 ? time_s : out->ports[port].time_s;
    return FAB_OK;
}

static fab_status csv_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    counted_table table = {.separator = separator_of(bytes)};
    const char *text = NULL;
    size_t n = 0;
    while (fab_counter_line(&lines, &text, &n)) {
        const counted_key key = {.file = path, .line = lines.line};
        if (n == 0 || text[0] == '#') {
            continue;
        }
        if (table.n == 0) {
            (void)fab_counted_head(&table, text, n);
        } else {
            FAB_PASS(fab_counted_row(&table, text, n, key, out, err));
        }
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_csv = {
    .name = "csv",
    .summary = "counters: a list of ports: node (or guid), port, counters by any tool's names, time_s",
    .recognise = csv_recognise,
    .read = csv_read};
