/*
 * Designs in files and presets, and the designs that they stand on.
 */
#include "fab/xml_reader.h"
#include "fields.h"

#include <sys/stat.h>

#define MAX_BASES 8

#define PRESET_PREFIX "preset:"

bool is_preset_text(const char *text) {
    return strncmp(text, PRESET_PREFIX, strlen(PRESET_PREFIX)) == 0;
}

static bool design_base_is_same(const document *a, const document *b) {
    if (a->preset != NULL || b->preset != NULL) {
        return a->preset == b->preset;
    }
    return a->is_file && b->is_file && a->device == b->device && a->inode == b->inode;
}

/* A chain of bases must end. `where` is the place that asks for the last of them. */
static fab_status check_chain(const document *d, const char *where, fab_error *err) {
    size_t n_bases = 0;
    for (const document *above = d->derived; above != NULL; above = above->derived) {
        n_bases++;
        FAB_REFUSE_IF(design_base_is_same(above, d), err, FAB_EINPUT, where, "base: '%.120s' stands on itself%s",
                      d->file, n_bases > 1 ? ", through its bases" : "");
    }
    FAB_REFUSE_IF(n_bases > MAX_BASES, err, FAB_EINPUT, where, "base: more than %d designs stand on one another",
                  MAX_BASES);
    return FAB_OK;
}

static fab_status no_such_file(const char *path, fab_error *err) {
    fab_choices near = fab_choices_of(path);
    fab_builtin_offer(fab_builtin_presets, &near);
    FAB_REFUSE_IF(near.best[0] != '\0', err, FAB_EIO, path, "there is no such file; did you mean " PRESET_PREFIX "%s?",
                  near.best);
    return fab_fail(err, FAB_EIO, path,
                    "there is no such file (a preset is preset:NAME, a one-line design FAMILY:key=value,... such as "
                    "clos:gpus=1024)");
}

static fab_status unknown_preset(const char *name, const char *where, fab_error *err) {
    fab_choices near = fab_choices_of(name);
    fab_builtin_offer(fab_builtin_presets, &near);
    return fab_fail(err, FAB_EINPUT, where, "unknown preset '%.40s'%s", name, fab_choices_list(&near, "allowed:"));
}

fab_status reading_preset(reading *r, const char *text, const document *derived, const char *where, fab_error *err) {
    const char *name = text + strlen(PRESET_PREFIX);
    document d = {.file = text, .derived = derived, .preset = fab_builtin_find(fab_builtin_presets, name)};
    FAB_RETURN_IF(d.preset == NULL || name[0] == '\0', unknown_preset(name, where, err));
    FAB_PASS(check_chain(&d, where, err));
    return reading_xml(r, d.preset->data, d.preset->size, &d, err);
}

/* A file of another tool is a likely mistake, of which XML's own message says little. */
static fab_status check_looks_like_xml(const fab_str *data, const document *d, fab_error *err) {
    const char *text = data->data != NULL ? data->data : "";
    text += strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    text += strspn(text, " \t\r\n");
    size_t n = strcspn(text, "\r\n");
    n = n < 20 ? n : 20;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < ' ' || text[i] > '~') {
            return FAB_OK; /* in some other encoding: left to the parser */
        }
    }
    if (n == 0 || text[0] == '<') {
        return FAB_OK;
    }
    char where[FAB_XML_PLACE_SIZE];
    return fab_fail(err, FAB_EINPUT, fab_xml_place(where, d->file, 1, 1),
                    "a design is XML, and this begins with '%.*s'; what other tools write is read as installed:FILE, "
                    "or by `fabriscope import FILE`",
                    (int)n, text);
}

fab_status reading_file(reading *r, const char *path, const document *derived, const char *where, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str data = FAB_STR_INIT;
    struct stat info;
    bool is_stdin = derived == NULL && strcmp(path, "-") == 0;
    bool exists = is_stdin || stat(path, &info) == 0;
    document d = {.file = is_stdin ? "stdin" : path, .derived = derived, .is_file = exists && !is_stdin};
    FAB_REFUSE_IF(!exists && derived != NULL, err, FAB_EINPUT, where, "base: there is no file '%.160s'", path);
    FAB_PASS(!exists ? no_such_file(path, err) : FAB_OK);
    if (d.is_file) {
        d.device = (uint64_t)info.st_dev;
        d.inode = (uint64_t)info.st_ino;
    }
    FAB_PASS(check_chain(&d, where, err));
    FAB_PASS(fab_read_file(path, FAB_XML_MAX_BYTES, &data, err));
    FAB_PASS(check_looks_like_xml(&data, &d, err));
    return reading_xml(r, data.data, data.length, &d, err);
}

fab_status reading_base(reading *r, const char *base, const document *d, const char *where, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    const char *slash = strrchr(d->file, '/');
    if (is_preset_text(base)) {
        FAB_PASS(reading_preset(r, base, d, where, err));
    } else {
        FAB_REFUSE_IF(d->preset != NULL || base[0] == '\0' || strcmp(base, "-") == 0, err, FAB_EINPUT, where,
                      "base: '%.60s' is not " PRESET_PREFIX "NAME%s", base,
                      d->preset != NULL ? ", and a preset has no files beside it" : " or a file");
        bool is_beside = base[0] != '/' && slash != NULL; /* the path is meant from the folder of the file */
        fab_str_printf(&path, "%.*s%s", is_beside ? (int)(slash + 1 - d->file) : 0, d->file, base);
        FAB_PASS(fab_str_status(&path, err));
        FAB_PASS(reading_file(r, path.data, d, where, err));
    }
    r->design.name[0] = '\0'; /* a changed design is another one */
    return FAB_OK;
}
