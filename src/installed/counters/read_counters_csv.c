/* A list with a line for each port: columns node (or guid) and port, counters by the name that any tool gives them, and
 * maybe time_s. Commas, semicolons or tabs. */
#include "counters_internal.h"

static const char *const NAMES[] = {[COLUMN_NODE] = " node switch host device ",
                                    [COLUMN_GUID] = " guid node_guid NodeGUID ",
                                    [COLUMN_PORT] = " port interface PortNumber ",
                                    [COLUMN_TIME] = " time_s timestamp "};

static char separator_of(const char *bytes) {
    size_t n = strcspn(bytes, "\n");
    static const char SEPARATORS[] = "\t;,";
    FAB_FIRST(i, sizeof SEPARATORS - 1, memchr(bytes, SEPARATORS[i], n) != NULL);
    return i < sizeof SEPARATORS - 1 ? SEPARATORS[i] : '\0';
}

/* The next cell, without the quotes around it. */
static fab_token csv_cell(fab_token *line, char separator) {
    fab_token rest = *line;
    fab_token quoted = {.text = NULL};
    if (rest.length > 0 && *rest.text == '"') {
        rest = fab_token_range(rest.text + 1, rest.text + rest.length);
        quoted = fab_token_split(&rest, '"');
    }
    bool is_quoted = quoted.text != NULL && rest.text != NULL;
    fab_token cell = fab_token_split(is_quoted ? &rest : line, separator);
    if (is_quoted) {
        cell = fab_token_range(quoted.text - 1, cell.text + cell.length);
        *line = rest;
    }
    cell = fab_token_trim(cell, " \t");
    bool has_quotes = cell.length > 1 && cell.text[0] == '"' && cell.text[cell.length - 1] == '"';
    return has_quotes ? fab_token_range(cell.text + 1, cell.text + cell.length - 1) : cell;
}

static bool is_name(fab_token cell, const char *names) {
    char word[24];
    FAB_FORMAT(word, " %.*s ", (int)(cell.length < 20 ? cell.length : 20), cell.text);
    return cell.length > 0 && cell.length < 20 && fab_token_find(cell, " ") == NULL && strstr(names, word) != NULL;
}

bool fab_counted_head(counted_table *t, fab_token line) {
    bool has_port = false;
    bool has_counter = false;
    t->n = 0;
    while (line.text != NULL && t->n < COUNTED_COLUMNS) {
        fab_token cell = csv_cell(&line, t->separator);
        counted_column *c = &t->columns[t->n++];
        *c = (counted_column){.kind = COLUMN_OTHER, .scale = 1};
        for (counted_kind kind = COLUMN_NODE; kind < COLUMN_COUNTER; kind++) {
            c->kind = is_name(cell, NAMES[kind]) ? kind : c->kind;
        }
        if (c->kind == COLUMN_OTHER && fab_counter_find(cell, &c->counter, &c->scale)) {
            c->kind = COLUMN_COUNTER;
        }
        has_port = has_port || c->kind == COLUMN_PORT;
        has_counter = has_counter || c->kind == COLUMN_COUNTER;
    }
    return has_port && has_counter;
}

static bool csv_recognise(FAB_UNUSED const char *path, const char *bytes) {
    counted_table table = {.separator = separator_of(bytes)};
    return table.separator != '\0' && fab_counted_head(&table, fab_token_range(bytes, bytes + strcspn(bytes, "\r\n")));
}

static bool read_time(fab_token cell, double *out) {
    char word[40];
    char *end = NULL;
    FAB_FORMAT(word, "%.*s", (int)(cell.length < 40 ? cell.length : 0), cell.text);
    *out = strtod(word, &end);
    return cell.length > 0 && *end == '\0' && *out >= 0 && strspn(word, "0123456789.eE+") == cell.length;
}

static fab_status wrong_cell(const counted_key *key, size_t column, fab_token cell, const char *what, fab_error *err) {
    return fab_fail_in_file(err, key->file, key->line, 1, "column %zu: '%.*s' is no %s", column,
                            (int)(cell.length < 40 ? cell.length : 40), cell.text, what);
}

static fab_status read_key(const counted_table *t, fab_token line, counted_key *key, double *time_s, fab_error *err) {
    for (size_t i = 0; i < t->n && line.text != NULL; i++) {
        counted_kind kind = t->columns[i].kind;
        fab_token cell = csv_cell(&line, t->separator);
        if (kind == COLUMN_PORT) {
            key->port = cell.length > 0 ? cell : (fab_token){.text = NULL};
        } else if (kind == COLUMN_NODE && cell.length > 0) {
            key->box = cell;
        } else if (kind == COLUMN_GUID && cell.length > 0 && !fab_counter_guid(cell, &key->guid)) {
            return wrong_cell(key, i + 1, cell, "GUID", err);
        } else if (kind == COLUMN_TIME && cell.length > 0 && !read_time(cell, time_s)) {
            return wrong_cell(key, i + 1, cell, "time in seconds", err);
        }
    }
    const char *missing = key->box.text == NULL && key->guid == 0 ? "node and no GUID"
                          : key->port.text == NULL                ? "port"
                                                                  : NULL;
    return missing == NULL ? FAB_OK : fab_fail_in_file(err, key->file, key->line, 1, "names no %s", missing);
}

fab_status fab_counted_row(const counted_table *t, fab_token line, counted_key key, fab_counters *out, fab_error *err) {
    double time_s = -1;
    uint32_t port = 0;
    FAB_PASS(read_key(t, line, &key, &time_s, err));
    FAB_PASS(fab_counters_port(out, &key, &port, err));
    for (size_t i = 0; i < t->n && line.text != NULL; i++) {
        uint64_t value = 0;
        fab_token cell = csv_cell(&line, t->separator);
        if (t->columns[i].kind != COLUMN_COUNTER || cell.length == 0) {
            continue;
        }
        if (fab_counter_number(cell, &value)) {
            fab_counters_set(out, port, t->columns[i].counter, t->columns[i].scale, value);
        } else if (!t->skips_words) {
            return wrong_cell(&key, i + 1, cell, "count", err);
        }
    }
    out->ports[port].time_s = time_s >= 0 ? time_s : out->ports[port].time_s;
    return FAB_OK;
}

static fab_status csv_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    counted_table table = {.separator = separator_of(bytes)};
    fab_token line;
    while (fab_counter_line(&lines, &line)) {
        const counted_key key = {.file = path, .line = lines.line};
        if (line.length == 0 || line.text[0] == '#') {
            continue;
        }
        if (table.n == 0) {
            (void)fab_counted_head(&table, line);
        } else {
            FAB_PASS(fab_counted_row(&table, line, key, out, err));
        }
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_csv = {
    .name = "csv",
    .summary = "counters: a list of ports: node (or guid), port, counters by any tool's names, time_s",
    .recognise = csv_recognise,
    .read = csv_read};
