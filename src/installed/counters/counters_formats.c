/* The formats of counters, and snapshots of one file or of a folder. */
#include "counters_internal.h"

#define MOST_BYTES ((size_t)1 << 31)

const fab_counters_format *const fab_counters_formats[] = {&fab_counters_sysfs,
                                                           &fab_counters_perfquery,
                                                           &fab_counters_ibdiagnet,
                                                           &fab_counters_prometheus,
                                                           &fab_counters_json,
                                                           &fab_counters_csv,
                                                           NULL};

static const char *list_counters_formats(char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = 0; fab_counters_formats[i] != NULL; i++) {
        fab_append(out, size, "%s%s", i > 0 ? ", " : "", fab_counters_formats[i]->name);
    }
    return out;
}

static fab_status counters_choose(const char *path, const char *bytes, const char *format,
                                  const fab_counters_format **out, fab_error *err) {
    char list[160];
    for (size_t i = 0; fab_counters_formats[i] != NULL; i++) {
        const fab_counters_format *f = fab_counters_formats[i];
        if (format != NULL ? strcmp(f->name, format) == 0 : f->recognise(path, bytes)) {
            *out = f;
            return FAB_OK;
        }
    }
    FAB_REFUSE_IF(format != NULL, err, FAB_EINPUT, path, "there is no format of counters '%.40s', but %s", format,
                  list_counters_formats(list, sizeof list));
    return fab_fail_in_file(err, path, 1, 1, "looks like none of the formats of counters: %s",
                            list_counters_formats(list, sizeof list));
}

typedef struct reading {
    const char *format; /* NULL: by content */
    fab_counters *out;
} reading;

static fab_status read_one(void *context, const char *path, fab_error *err) {
    const reading *r = context;
    fab_counters *c = r->out;
    const fab_counters_format *f = NULL;
    FAB_OWNS(fab_str_release) fab_str bytes = FAB_STR_INIT;
    size_t line = 1;
    FAB_PASS(fab_read_file(path, MOST_BYTES, &bytes, err));
    const char *text = bytes.data;
    for (const char *at = text; *at != '\0'; at++) {
        line += *at == '\n';
    }
    FAB_PASS(strlen(text) != bytes.length ? fab_fail_in_file(err, path, line, 1, "a zero byte: this is no text")
                                          : FAB_OK);
    FAB_PASS(bytes.length == 0 ? fab_fail_in_file(err, path, 1, 1, "the file is empty") : FAB_OK);
    FAB_PASS(counters_choose(path, text, r->format, &f, err));
    FAB_PASS(f->read(path, text, c, err));
    c->format = c->format != NULL ? c->format : f->name;
    c->n_files++;
    return FAB_OK;
}

fab_status fab_counters_read(const char *path, const char *format, fab_counters **out, fab_error *err) {
    FAB_OWNS_NEW(fab_counters_free_owned, fab_counters, c, 1, err);
    reading r = {.format = format, .out = c};
    FAB_PASS(fab_folder_each(
        path,
        &(fab_folder_visit){.read = read_one, .context = &r, .most_depth = FAB_FOLDER_DEPTH, .may_be_empty = true},
        err));
    FAB_REFUSE_IF(c->n_ports == 0, err, FAB_EINPUT, path, "holds no counters that are known here");
    return FAB_GIVE(*out, c);
}
