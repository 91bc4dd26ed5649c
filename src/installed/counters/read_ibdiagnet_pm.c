/* ibdiagnet2.pm: "Port=1 Lid=0x4c14 GUID=0x506b... Device=54000 Port Name=Sb8ce/N.../P1" between two rules, then
 * "port_xmit_data_extended=0x1f"; and the table PM_INFO of ibdiagnet2.db_csv: START_PM_INFO, names of columns, a line
 * for each port, END_PM_INFO. Source: output of ibdiagnet 2 as tools that read it describe it. */
#include "counters_internal.h"

static bool ibdiagnet_recognise(FAB_UNUSED const char *path, const char *bytes) {
    const char *port = strstr(bytes, "Port=");
    return strstr(bytes, "START_PM_INFO") != NULL ||
           (port != NULL && (port == bytes || port[-1] == '\n') && strstr(port, "GUID=0x") != NULL);
}

/* The word behind a key on the line: "GUID=". */
static bool field_of(fab_token line, const char *key, fab_token *out) {
    while (line.text != NULL) {
        *out = fab_token_split(&line, ' ');
        if (fab_token_begins(*out, key)) {
            *out = fab_token_range(out->text + strlen(key), out->text + out->length);
            return out->length > 0;
        }
    }
    return false;
}

static fab_status read_port_line(fab_token line, counted_key key, fab_counters *out, uint32_t *out_port,
                                 fab_error *err) {
    fab_token word;
    FAB_RETURN_IF(!field_of(line, "Port=", &key.port) || !field_of(line, "GUID=", &word) ||
                      !fab_counter_number(word, &key.guid),
                  fab_fail_in_file(err, key.file, key.line, 1, "where 'Port=N ... GUID=0x...' was expected"));
    return fab_counters_port(out, &key, out_port, err);
}

/* --- the table of db_csv ------------------------------------------------------------------------------------------ */

/* "N/A" and "-1" are not counted. */
static fab_status read_table(counted_lines *lines, const char *path, fab_counters *out, fab_error *err) {
    counted_table table = {.separator = ',', .skips_words = true};
    fab_token line;
    while (fab_counter_line(lines, &line)) {
        const counted_key key = {.file = path, .line = lines->line};
        if (fab_token_begins(line, "END_PM_INFO")) {
            return FAB_OK;
        }
        if (table.n > 0) {
            FAB_PASS(line.length > 0 ? fab_counted_row(&table, line, key, out, err) : FAB_OK);
        } else if (line.length > 0 && !fab_counted_head(&table, line)) {
            return fab_fail_in_file(err, path, lines->line, 1, "names no PortNumber, or no counter that is known");
        }
    }
    return fab_fail_in_file(err, path, lines->line, 1, "the file is truncated: there is no END_PM_INFO");
}

/* ------------------------------------------------------------------------------------------------------------------ */

static fab_status ibdiagnet_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    fab_token line;
    uint32_t port = FAB_COUNTERS_NONE;
    while (fab_counter_line(&lines, &line)) {
        const counted_key key = {.file = path, .line = lines.line};
        fab_token number = line;
        fab_token name = fab_token_split(&number, '=');
        fab_counter counter = FAB_COUNTER_N;
        uint8_t scale = 1;
        uint64_t value = 0;
        if (fab_token_begins(line, "START_PM_INFO")) {
            FAB_PASS(read_table(&lines, path, out, err));
            port = FAB_COUNTERS_NONE;
        } else if (line.length > 5 && fab_token_begins(line, "Port=")) {
            FAB_PASS(read_port_line(line, key, out, &port, err));
        } else if (port != FAB_COUNTERS_NONE && number.text != NULL && fab_counter_find(name, &counter, &scale) &&
                   fab_counter_number(number, &value)) {
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
