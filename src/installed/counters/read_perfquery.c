/* What perfquery prints, one port behind the other: "# Port extended counters: Lid 2052 port 1 (CapMask: ...)", then
 * "PortXmitData:....................178791657177235". Source: infiniband-diags, perfquery.c. The box is the GUID in the
 * name of the file, else the LID. */
#include "counters_internal.h"

static bool is_heading(fab_token line) {
    return fab_token_begins(line, "# Port extended counters:") || fab_token_begins(line, "# Port counters:") ||
           fab_token_begins(line, "# Port Extended Speeds Counters");
}

static bool perfquery_recognise(FAB_UNUSED const char *path, const char *bytes) {
    counted_lines lines = {.at = bytes};
    fab_token line;
    for (int i = 0; i < 20 && fab_counter_line(&lines, &line); i++) { /* a prompt, warnings */
        if (is_heading(line)) {
            return true;
        }
    }
    return false;
}

/* The number behind a word of the heading: "Lid 2052". */
static bool heading_number(fab_token line, const char *word, fab_token *out) {
    const char *at = fab_token_find(line, word);
    const char *behind = line.text + line.length;
    *out = at != NULL ? fab_token_range(at + strlen(word), behind) : (fab_token){.text = NULL};
    size_t n = out->length > 0 ? strspn(out->text, "0123456789") : 0;
    out->length = n < out->length ? n : out->length;
    return out->length > 0;
}

static fab_status read_heading(fab_token line, const counted_key *of_file, fab_counters *out, uint32_t *out_port,
                               fab_error *err) {
    fab_token lid;
    uint64_t number = 0;
    counted_key key = *of_file;
    FAB_RETURN_IF(!heading_number(line, " port ", &key.port),
                  fab_fail_in_file(err, key.file, key.line, 1, "where 'Lid N port N' was expected"));
    if (key.guid == 0) {
        FAB_RETURN_IF(!heading_number(line, "Lid ", &lid) || !fab_counter_number(lid, &number) || number > UINT16_MAX,
                      fab_fail_in_file(err, key.file, key.line, 1,
                                       "no LID up to 65535, and no GUID in the name of the file, to tell the box by"));
        key.lid = (uint32_t)number;
    }
    return fab_counters_port(out, &key, out_port, err);
}

static fab_status perfquery_read(const char *path, const char *bytes, fab_counters *out, fab_error *err) {
    counted_lines lines = {.at = bytes};
    fab_token line;
    uint32_t port = FAB_COUNTERS_NONE;
    counted_key key = {.file = path};
    (void)fab_counter_guid(fab_counter_file(path), &key.guid);
    while (fab_counter_line(&lines, &line)) {
        fab_token number = line;
        fab_token name = fab_token_split(&number, ':');
        fab_counter counter = FAB_COUNTER_N;
        uint8_t scale = 1;
        uint64_t value = 0;
        key.line = lines.line;
        if (is_heading(line)) {
            FAB_PASS(read_heading(line, &key, out, &port, err));
            continue;
        }
        if (port == FAB_COUNTERS_NONE || number.text == NULL || line.text[0] == '#' ||
            !fab_counter_find(name, &counter, &scale)) {
            continue;
        }
        while (number.length > 0 && (*number.text == '.' || *number.text == ' ')) {
            number = fab_token_range(number.text + 1, number.text + number.length);
        }
        FAB_RETURN_IF(!fab_counter_number(number, &value),
                      fab_fail_in_file(err, path, lines.line, 1, "'%.40s' is no count%s",
                                       number.length > 0 ? number.text : "",
                                       *lines.at == '\0' ? ": the file ends within a line" : ""));
        fab_counters_set(out, port, counter, scale, value);
    }
    return FAB_OK;
}

const fab_counters_format fab_counters_perfquery = {
    .name = "perfquery",
    .summary = "counters: of InfiniBand ports as perfquery -x prints them, one port behind the other",
    .recognise = perfquery_recognise,
    .read = perfquery_read};
