/* What perfquery prints, one port behind the other: "# Port extended counters: Lid 2052 port 1 (CapMask: ...)", then
 * "PortXmitData:....................178791657177235". Source: infiniband-diags, perfquery.c. The box is the GUID in the
 * name of the file, else the LID. */
#include "counters_internal.h"

#include <string.h>

static bool begins(const char *text, size_t n, const char *word) {
    return n >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

static bool is_heading(const char *text, size_t n) {
    return begins(text, n, "# Port extended counters:") || begins(text, n, "# Port counters:") ||
           begins(text, n, "# Port Extended Speeds Counters");
}

static bool perfquery_recognise(const char *path, const char *bytes) {
    counted_lines lines = {.at = bytes};
    const char *text = NULL;
    size_t n = 0;
    (void)path;
    for (int i = 0; i < 20 && fab_counter_line(&lines, &text, &n); i++) { /* a prompt, warnings */
        if (is_heading(text, n)) {
            return true;
        }
    }
    return false;
}

/* The number behind a word of the heading: "Lid 2052". */
static bool heading_number(const char *text, size_t n, const char *word, const char **out, size_t *out_n) {
    size_t length = strlen(word);
    for (size_t i = 0; i + length < n; i++) {
        if (memcmp(text + i, word, length) == 0) {
            *out = text + i + length;
            *out_n = 0;
            while (i + length + *out_n < n && (*out)[*out_n] >= '0' && (*out)[*out_n] <= '9') {
                (*out_n)++;
            }
            return *out_n > 0;
        }
    }
    return false;
}

static fab_status read_heading(const char *text, size_t n, const counted_key *of_file, fab_counters *out,
                               uint32_t *out_port, fab_error *err) {
    const char *lid = NULL;
    size_t n_lid = 0;
    uint64_t number = 0;
    counted_key key = *of_file;
    if (!heading_number(text, n, " port ", &key.port, &key.n_port)) {
        return fab_fail_in_file(err, key.file, key.line, 1, "where 'Lid N port N' was expected");
    }
    if (key.guid == 0) {
        if (!heading_number(text, n, "Lid ", &lid, &n_lid) || !fab_counter_number(lid, n_lid, &number) ||
            number > UINT16_MAX) {
            return fab_fail_in_file(err, key.file, key.line, 1,
                                    "no LID up to 65535, and no GUID in the name of the file, to tell the box by");
        }
        key.lid = (uint32_t)number;
    }
    return fab_counters_port(out, &key, out_port, err);
}

static fab_status perfquery_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    const char *text = NULL;
    const char *box = NULL;
    size_t n = 0;
    uint32_t port = FAB_COUNTERS_NONE;
    counted_key key = {.file = path};
    size_t n_box = fab_path_box(path, &box);
    (void)fab_counter_guid(box, n_box, &key.guid);
    while (fab_counter_line(&lines, &text, &n)) {
        const char *colon = memchr(text, ':', n);
        fab_counter counter = FAB_COUNTER_N;
        uint8_t scale = 1;
        uint64_t value = 0;
        key.line = lines.line;
        if (is_heading(text, n)) {
            FAB_PASS(read_heading(text, n, &key, out, &port, err));
            continue;
        }
        if (port == FAB_COUNTERS_NONE || colon == NULL || n == 0 || text[0] == '#') {
            continue;
        }
        if (!fab_counter_find(text, (size_t)(colon - text), &counter, &scale)) {
            continue;
        }
        const char *number = colon + 1;
        while (number < text + n && (*number == '.' || *number == ' ')) {
            number++;
        }
        if (!fab_counter_number(number, (size_t)(text + n - number), &value)) {
            return fab_fail_in_file(err, path, lines.line, 1, "'%.40s' is no count%s", number < text + n ? number : "",
                                    *lines.at == '\0' ? ": the file ends within a line" : "");
        }
        fab_counters_set(out, port, counter, scale, value);
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_perfquery = {
    .name = "perfquery",
    .summary = "counters: of InfiniBand ports as perfquery -x prints them, one port behind the other",
    .recognise = perfquery_recognise,
    .read = perfquery_read};
