/* Reports into a folder: all temporary files first, then all renames. */
#include "fab/memory.h"
#include "fab/str.h"
#include "report_file.h"
#include "report_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 16

/* One file on its way. */
typedef struct output {
    const fab_report_format *format;
    fab_str final;
    fab_str temporary;
    bool is_written; /* the temporary file exists */
    bool is_new;     /* renamed to a name that did not exist before */
} output;

/* Makes a folder and those above it. `first_new` receives the length of the topmost new one, 0 if none was. */
static fab_status make_folder(const char *folder, size_t *first_new, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str path = FAB_STR_INIT;
    fab_str_add(&path, folder);
    FAB_TRY(fab_str_status(&path, err));
    for (size_t i = 1; i <= path.length; i++) {
        if (i < path.length && path.data[i] != '/') {
            continue;
        }
        path.data[i] = '\0';
        if (mkdir(path.data, 0777) == 0) {
            *first_new = *first_new == 0 ? i : *first_new;
        } else if (errno != EEXIST) {
            FAB_FAIL(err, FAB_EIO, path.data, "cannot make the folder: %s", strerror(errno));
        }
        path.data[i] = i < path.length ? '/' : '\0';
    }
    struct stat info;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        FAB_FAIL(err, FAB_EIO, folder, "is not a folder");
    }
done:
    fab_str_release(&path);
    return status;
}

/* Removes the folders that make_folder() made, innermost first, as far as they are empty. */
static void remove_folders(const char *folder, size_t first_new) {
    char *path = first_new > 0 ? fab_strdup(folder, NULL) : NULL;
    for (size_t i = path != NULL ? strlen(path) : 0; i >= first_new && i > 0; i--) {
        if (path[i] == '\0' || path[i] == '/') {
            path[i] = '\0';
            (void)rmdir(path);
        }
    }
    free(path);
}

/* What one file holds. */
typedef struct content {
    const fab_report_format *format;
    const fab_result *result;
} content;

static fab_status write_content(const void *context, FILE *out, fab_error *err) {
    const content *c = context;
    return c->format->write(c->result, NULL, out, err);
}

/* Which files there will be; an existing one is an error unless `force`. */
static fab_status plan(const fab_result *result, const char *folder, bool force, output *outputs, size_t *n,
                       fab_error *err) {
    for (size_t i = 0; fab_report_formats[i] != NULL && *n < MAX_FILES; i++) {
        const fab_report_format *format = fab_report_formats[i];
        if (format->file_name == NULL || (format->needs_graph && result->graph == NULL) ||
            (format->needs_phases && result->n_phases == 0)) {
            continue;
        }
        output *o = &outputs[(*n)++];
        o->format = format;
        fab_str_printf(&o->final, "%s/%s", folder, format->file_name);
        FAB_PASS(fab_str_status(&o->final, err));
        o->is_new = !fab_report_file_exists(o->final.data);
        if (!o->is_new && !force) {
            return fab_fail(err, FAB_EIO, o->final.data, "exists already and is not overwritten without --force");
        }
    }
    return FAB_OK;
}

fab_status fab_reports_write_all(const fab_result *result, const char *folder, bool force, fab_error *err) {
    fab_status status = FAB_OK;
    output outputs[MAX_FILES] = {{0}};
    size_t n = 0;
    size_t n_renamed = 0;
    size_t first_new = 0;
    if (folder[0] == '\0') {
        FAB_FAIL(err, FAB_EIO, NULL, "the name of the folder for the reports is empty");
    }
    FAB_TRY(plan(result, folder, force, outputs, &n, err));
    FAB_TRY(make_folder(folder, &first_new, err));
    for (size_t i = 0; i < n; i++) {
        output *o = &outputs[i];
        const content what = {o->format, result};
        FAB_TRY(fab_report_write_temporary(o->final.data, write_content, &what, &o->temporary, &o->is_written, err));
    }
    for (; n_renamed < n; n_renamed++) {
        output *o = &outputs[n_renamed];
        if (rename(o->temporary.data, o->final.data) != 0) {
            FAB_FAIL(err, FAB_EIO, o->final.data, "cannot write: %s", strerror(errno));
        }
        o->is_written = false;
    }
done:
    for (size_t i = 0; i < n; i++) {
        if (outputs[i].is_written) {
            (void)unlink(outputs[i].temporary.data);
        }
        if (status != FAB_OK && i < n_renamed && outputs[i].is_new) {
            (void)unlink(outputs[i].final.data);
        }
        fab_str_release(&outputs[i].final);
        fab_str_release(&outputs[i].temporary);
    }
    if (status != FAB_OK) {
        remove_folders(folder, first_new);
    }
    return status;
}
