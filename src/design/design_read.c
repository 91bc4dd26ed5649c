#include "fab/server_shape.h"
#include "fab/xml_reader.h"
#include "fields.h"

#include <sys/stat.h>

#define MAX_ONE_LINE 4096
#define MOST_GPUS    16777216

/* --- server=FILE: the keys of a fabric that NCCL's topology of a server answers ----------------------------------- */

static fab_status server_set(reading *r, const char *key, const char *value, const char *where, fab_error *err) {
    target t;
    fab_status status = reading_find(r, key, true, &t, where, err);
    return status == FAB_OK ? reading_set(r, &t, value, where, err) : status;
}

static fab_status set_rate(reading *r, const char *key, double bps, const char *where, fab_error *err) {
    char text[48];
    return bps > 0 ? server_set(r, key, fab_server_rate(text, bps), where, err) : FAB_OK;
}

/*
 * GPUs, NICs, the PCIe rate; rates of NICs and the scale-up network where the file knows them (server_shape.h). What is
 * set later replaces it. GPUs that do not share NICs alike are none of a design.
 */
static fab_status set_server(reading *r, const char *path, const char *where, fab_error *err) {
    char number[24];
    FAB_REFUSE_IF(path[0] == '\0', err, FAB_EINPUT, where, "server: names no file");
    FAB_OWNED_NEW(fab_server_shape, s, 1, err);
    FAB_PASS(fab_server_read(path, s, err));
    FAB_REFUSE_IF(!s->is_even, err, FAB_EUNSUPPORTED, where, "server %.60s: %s", path, s->uneven);
    FAB_FORMAT(number, "%" PRIu32, s->n_gpus);
    FAB_PASS(server_set(r, "gpus-per-server", number, where, err));
    FAB_FORMAT(number, "%" PRIu32, s->n_nics);
    FAB_PASS(server_set(r, "nics-per-server", number, where, err));
    FAB_PASS(server_set(r, "domain", "auto", where, err));
    FAB_PASS(set_rate(r, "pcie", s->pcie_bps, where, err));
    FAB_PASS(set_rate(r, "nic", s->nic_bps, where, err));
    return set_rate(r, "domain-rate", s->nvlink_bps, where, err);
}

/* --- one-line form: FAMILY:key=value,... -------------------------------------------------------------------------- */

/* A value of digits with commas, as of xgft=2;4,4;1,4. */
static bool is_shape(const char *text) {
    char key[32] = "";
    size_t n = strcspn(text, "=,");
    if (n < sizeof key && text[n] == '=') {
        memcpy(key, text, n);
    }
    const field *f = design_field_find(SCOPE_FABRIC, key);
    return f != NULL && f->kind == FIELD_SHAPE;
}

/* End of the setting at `text`: a comma, unless what follows has no key of its own, as inside a list. */
static size_t setting_length(const char *text) {
    size_t n = strcspn(text, ",");
    while (is_shape(text) && text[n] == ',' && text[n + 1 + strcspn(text + n + 1, "=,")] != '=') {
        n += 1 + strcspn(text + n + 1, ",");
    }
    return n;
}

/* What a fabric has in place of a number of servers. */
static fab_status refuse_servers(const reading *r, const char *key, const char *value, const char *where,
                                 fab_error *err) {
    static const char *const WORDS[] = {"servers", "server-count", "n-servers", "hosts", "nodes"};
    uint64_t n = 0;
    for (size_t i = 0; i < FAB_N_OF(WORDS); i++) {
        const uint64_t per = r->design.fabric.gpus_per_server > 0 ? r->design.fabric.gpus_per_server : 8;
        const bool is_number = fab_count_parse(value, 1, MOST_GPUS / per, &n, NULL) == FAB_OK;
        FAB_REFUSE_IF(strcmp(key, WORDS[i]) == 0, err, FAB_EINPUT, where,
                      "unknown fabric key '%s': a fabric has gpus; gpus=%" PRIu64 " is %" PRIu64 " servers of %" PRIu64,
                      key, is_number ? n * per : 7 * per, is_number ? n : 7, per);
    }
    return FAB_OK;
}

/* A GPU by its name, which is a key of the job. */
static fab_status refuse_gpu(const char *key, const char *value, const char *where, fab_error *err) {
    fab_gpu gpu;
    fab_error why = {.code = FAB_OK};
    if (strcmp(key, "gpu") != 0 || strspn(value, "0123456789") == strlen(value)) {
        return FAB_OK; /* a number: of gpus, more likely */
    }
    const bool is_known = fab_gpu_read(value, NULL, &gpu, &why) == FAB_OK;
    return fab_fail(err, FAB_EINPUT, where, "unknown fabric key 'gpu': it is a key of the job: --job gpu=%.60s%s%s",
                    value, is_known ? "" : "; ", is_known ? "" : why.text);
}

static fab_status set_pair(reading *r, const char *line, const char *pair, size_t length,
                           bool (*seen)[FAB_MAX_TIERS + 1], fab_error *err) {
    char key[64];
    char value[512];
    char where[FAB_XML_PLACE_SIZE];
    target t;
    uint32_t column = (uint32_t)(pair - line) + 1;
    size_t n_key = strcspn(pair, "=,");
    bool is_file = strcmp(r->design.fabric.family, "installed") == 0 && r->design.fabric.file[0] == '\0' &&
                   n_key >= length && n_key > 0; /* installed:FILE */
    (void)fab_xml_place(where, line, 1, column);
    if (is_file) {
        t = (target){.field = design_field_find(SCOPE_FABRIC, "file")};
        FAB_FORMAT(value, "%.*s", (int)(length < sizeof value ? length : sizeof value - 1), pair);
        return reading_set(r, &t, value, where, err);
    }
    FAB_REFUSE_IF(n_key >= length || n_key == 0, err, FAB_EINPUT, where, "'%.*s' is not key=value%s",
                  (int)(length < 60 ? length : 60), pair,
                  pair[-1] == ':'                        ? ", such as gpus=1024 (a preset is preset:NAME)"
                  : strspn(pair, "0123456789") == length ? "; in a number write no commas"
                                                         : "");
    size_t n_value = length - n_key - 1;
    FAB_REFUSE_IF(n_key >= sizeof key || n_value >= sizeof value, err, FAB_EINPUT, where, "'%.60s' is too long", pair);
    FAB_FORMAT(key, "%.*s", (int)n_key, pair);
    FAB_FORMAT(value, "%.*s", (int)n_value, pair + n_key + 1);
    if (strcmp(key, "server") == 0) {
        return set_server(r, value, where, err);
    }
    FAB_PASS(refuse_servers(r, key, value, where, err));
    FAB_PASS(refuse_gpu(key, value, where, err));
    FAB_PASS(reading_find(r, key, true, &t, where, err));
    FAB_REFUSE_IF(strcmp(t.field->key, "family") == 0, err, FAB_EINPUT, where, "the family stands before the colon");
    bool *mark =
        &seen[design_field_index(t.field)][t.all_tiers || t.field->scope != SCOPE_TIER ? FAB_MAX_TIERS : t.index];
    FAB_REFUSE_IF(*mark, err, FAB_EINPUT, where, "'%s' is given twice", key);
    *mark = true;
    (void)fab_xml_place(where, line, 1, column + (uint32_t)n_key + 1);
    return reading_set(r, &t, value, where, err);
}

static fab_status read_one_line(reading *r, const char *text, fab_error *err) {
    bool seen[MAX_FIELDS][FAB_MAX_TIERS + 1] = {{false}};
    size_t n_family = strcspn(text, ":");
    char family[FAB_NAME_SIZE] = "";
    (void)fab_xml_place(r->origin_where, text, 1, 1);
    if (n_family < sizeof family) {
        FAB_FORMAT(family, "%.*s", (int)n_family, text);
    }
    FAB_REFUSE_IF(!field_is_word(family), err, FAB_EINPUT, r->origin_where,
                  "neither a file nor a one-line form: '%.40s' before the colon is not the name of a family", text);
    target t = {.field = design_field_find(SCOPE_FABRIC, "family")};
    FAB_PASS(reading_set(r, &t, family, r->origin_where, err));
    for (const char *at = text + n_family + 1; *at != '\0';) {
        size_t length = setting_length(at);
        FAB_PASS(set_pair(r, text, at, length, seen, err));
        at += length;
        if (*at == ',' && *++at == '\0') {
            char where[FAB_XML_PLACE_SIZE];
            return fab_fail(err, FAB_EINPUT, fab_xml_place(where, text, 1, (uint32_t)(at - text)),
                            "a setting is missing after ','");
        }
    }
    return FAB_OK;
}

/* --- what a text is ----------------------------------------------------------------------------------------------- */

static fab_status read_text(reading *r, const char *text, fab_error *err) {
    struct stat info;
    FAB_FORMAT(r->design.origin, "%s", text);
    if (is_preset_text(text)) {
        return reading_preset(r, text, NULL, text, err);
    }
    if (strchr(text, ':') != NULL && stat(text, &info) != 0) {
        FAB_REFUSE_IF(strlen(text) > MAX_ONE_LINE, err, FAB_EINPUT, NULL,
                      "a one-line design of %zu characters; the limit is %d", strlen(text), MAX_ONE_LINE);
        return read_one_line(r, text, err);
    }
    return reading_file(r, text, NULL, text, err);
}

static fab_status override(reading *r, const char *text, fab_error *err) {
    char where[192];
    char path[128];
    target t;
    size_t n = strcspn(text, "=");
    FAB_FORMAT(where, "--set %s", text);
    FAB_REFUSE_IF(text[n] != '=' || n == 0 || n >= sizeof path, err, FAB_EINPUT, where, "'%.60s' is not path=value",
                  text);
    FAB_FORMAT(path, "%.*s", (int)n, text);
    if (strcmp(path, "server") == 0 || strcmp(path, "fabric.server") == 0) {
        return set_server(r, text + n + 1, where, err);
    }
    FAB_PASS(reading_find(r, path, false, &t, where, err));
    return reading_set(r, &t, text + n + 1, where, err);
}

fab_status fab_design_read(const char *text, const char *const *overrides, size_t n_overrides, fab_design *out,
                           fab_error *err) {
    return fab_design_read_within(text, overrides, n_overrides, 0, out, err);
}

fab_status fab_design_read_within(const char *text, const char *const *overrides, size_t n_overrides,
                                  uint64_t max_bytes, fab_design *out, fab_error *err) {
    FAB_OWNED_NEW(reading, r, 1, err);
    FAB_PASS(reading_init(r, err));
    r->design.fabric.max_bytes = max_bytes;
    FAB_PASS(read_text(r, text, err));
    for (size_t i = 0; i < n_overrides; i++) {
        FAB_PASS(override(r, overrides[i], err));
    }
    FAB_PASS(reading_finish(r, err));
    *out = r->design;
    return FAB_OK;
}
