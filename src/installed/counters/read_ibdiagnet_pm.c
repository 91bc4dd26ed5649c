/* ibdiagnet2.pm: "Port=1 Lid=0x4c14 GUID=0x506b... Device=54000 Port Name=Sb8ce/N.../P1" between two rules, then
 * "port_xmit_data_extended=0x1f"; and the table PM_INFO of ibdiagnet2.db_csv: START_PM_INFO, names of columns, a line
 * for each port, END_PM_INFO. Source: output of ibdiagnet 2 as tools that read it describe it. */
#include "counters_internal.h"

#include <string.h>

static bool ibdiagnet_recognise(const char *path, const char *bytes) {
    (void)path;
    const char *port = strstr(bytes, "Port=");
    return strstr(bytes, "START_PM_INFO") != NULL ||
           (port != NULL && (port == bytes || port[-1] == '\n') && strstr(port, "GUID=0x") != NULL);
}

/* The word behind a key on the line: "GUID=". */
static bool field_of(const char *text, size_t n, const char *key, const char **out, size_t *out_n) {
    size_t length = strlen(key);
    for (size_t i = 0; i + length <= n; i++) {
        if (memcmp(text + i, key, length) == 0 && (i == 0 || text[i - 1] == ' ')) {
            size_t end = i + length;
            while (end < n && text[end] != ' ') {
                end++;
            }
            *out = text + i + length;
            *out_n = end - i - length;
            return *out_n > 0;
        }
    }
    return false;
}

static fab_status read_port_line(const char *text, size_t n, counted_key key, fab_counters *out, uint32_t *out_port,
                                 fab_error *err) {
    const char *word = NULL;
    size_t n_word = 0;
    if (!field_of(text, n, "Port=", &key.port, &key.n_port) || !field_of(text, n, "GUID=", &word, &n_word) ||
        !fab_counter_number(word, n_word, &key.guid)) {
        return fab_fail_in_file(err, key.file, key.line, 1, "where 'Port=N ... GUID=0x...' was expected");
    }
    return fab_counters_port(out, &key, out_port, err);
}

/* --- the table of db_csv ------------------------------------------------------------------------------------------ */

/* "N/A" and "-1" are not counted. */
static fab_status read_table(counted_lines *lines, const char *path, fab_counters *out, fab_error *err) {
    counted_table table = {.separator = ',', .skips_words = true};
    const char *text = NULL;
    size_t n = 0;
    while (fab_counter_line(lines, &text, &n)) {
        const counted_key key = {.file = path, .line = lines->line};
        if (n >= 11 && memcmp(text, "END_PM_INFO", 11) == 0) {
            return FAB_OK;
        }
        if (table.n > 0) {
            FAB_PASS(n > 0 ? fab_counted_row(&table, text, n, key, out, err) : FAB_OK);
        } else if (n > 0 && !fab_counted_head(&table, text, n)) {
            return fab_fail_in_file(err, path, lines->line, 1, "names no PortNumber, or no counter that is known");
        }
    }
    return fab_fail_in_file(err, path, lines->line, 1, "the file is truncated: there is no END_PM_INFO");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static fab_status ibdiagnet_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    const char *text = NULL;
    size_t n = 0;
    uint32_t port = FAB_COUNTERS_NONE;
    while (fab_counter_line(&lines, &text, &n)) {
        const counted_key key = {.file = path, .line = lines.line};
        const char *equal = memchr(text, '=', n);
        fab_counter counter = FAB_COUNTER_N;
        uint8_t scale = 1;
        uint64_t value = 0;
        if (n >= 13 && memcmp(text, "START_PM_INFO", 13) == 0) {
            FAB_PASS(read_table(&lines, path, out, err));
            port = FAB_COUNTERS_NONE;
        } else if (n > 5 && memcmp(text, "Port=", 5) == 0) {
            FAB_PASS(read_port_line(text, n, key, out, &port, err));
        } else if (port != FAB_COUNTERS_NONE && equal != NULL &&
                   fab_counter_find(text, (size_t)(equal - text), &counter, &scale) &&
                   fab_counter_number(equal + 1, (size_t)(text + n - equal - 1), &value)) {
            fab_counters_set(out, port, counter, scale, value);
        }
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_ibdiagnet = {
    .name = "ibdiagnet",
    .summary =
        "counters: of InfiniBand ports as ibdiagnet2 writes them: ibdiagnet2.pm, or PM_INFO of ibdiagnet2.db_csv",
    .recognise = ibdiagnet_recognise,
    .read = ibdiagnet_read};
