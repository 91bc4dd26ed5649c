/* Reports into a folder: all temporary files first, then all renames. */
#include "fab/save.h"
#include "report_formats.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 16

/* Makes a folder and those above it. `first_new` receives the length of the topmost new one, 0 if none was. */
static fab_status make_folder(const char *folder, size_t *first_new, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    fab_str_add(&path, folder);
    FAB_PASS(fab_str_status(&path, err));
    for (size_t i = 1; i <= path.length; i++) {
        if (i < path.length && path.data[i] != '/') {
            continue;
        }
        path.data[i] = '\0';
        if (fab_save_folder(path.data)) {
            *first_new = *first_new == 0 ? i : *first_new;
        } else if (errno != EEXIST) {
            return fab_fail(err, FAB_EIO, path.data, "cannot make the folder: %s", strerror(errno));
        }
        path.data[i] = i < path.length ? '/' : '\0';
    }
    struct stat info;
    FAB_REFUSE_IF(stat(folder, &info) != 0 || !S_ISDIR(info.st_mode), err, FAB_EIO, folder, "is not a folder");
    return FAB_OK;
}

/* Removes the folders that make_folder() made, innermost first, as far as they are empty. */
static void remove_folders(const char *folder, size_t first_new) {
    FAB_OWNED char *path = first_new > 0 ? fab_strdup(folder, NULL) : NULL;
    for (size_t i = path != NULL ? strlen(path) : 0; i >= first_new && i > 0; i--) {
        if (path[i] == '\0' || path[i] == '/') {
            path[i] = '\0';
            (void)rmdir(path);
        }
    }
}

typedef struct outputs {
    fab_saved_file file[MAX_FILES];
    const fab_report_format *format[MAX_FILES]; /* NULL: stale */
    size_t n;
} outputs;

/* Which files there will be; an existing one is an error unless `force`, which also removes what an earlier run wrote
   and this one does not. */
static fab_status plan(const fab_result *result, const char *folder, bool force, bool stale, outputs *out,
                       fab_error *err) {
    for (size_t i = 0; fab_report_formats[i] != NULL && out->n < MAX_FILES; i++) {
        const fab_report_format *format = fab_report_formats[i];
        bool written =
            (!format->needs_graph || result->graph != NULL) && (format->can_show == NULL || format->can_show(result));
        if (format->file_name == NULL || written == stale) {
            continue;
        }
        fab_saved_file *file = &out->file[out->n];
        file->is_stale = stale;
        out->format[out->n++] = format;
        fab_str_printf(&file->final, "%s/%s", folder, format->file_name);
        FAB_PASS(fab_str_status(&file->final, err));
        FAB_PASS(stale ? FAB_OK : fab_save_begin(file, force, err));
    }
    return FAB_OK;
}

fab_status fab_reports_write_all(const fab_result *result, const char *folder, bool force, fab_error *err) {
    fab_status status = FAB_OK;
    outputs out = {.n = 0};
    size_t first_new = 0;
    FAB_FAIL_IF(folder[0] == '\0', err, FAB_EIO, NULL, "the name of the folder for the reports is empty");
    FAB_TRY(plan(result, folder, force, false, &out, err));
    size_t n_written = out.n;
    FAB_TRY(force ? plan(result, folder, force, true, &out, err) : FAB_OK);
    FAB_TRY(make_folder(folder, &first_new, err));
    for (size_t i = 0; i < n_written; i++) {
        const fab_report_content what = {out.format[i], result, NULL};
        FAB_TRY(fab_save_write(&out.file[i], fab_report_save, &what, err));
    }
    FAB_TRY(fab_save_commit(out.file, out.n, folder, force, err));
done:
    fab_save_release(out.file, out.n);
    if (status != FAB_OK) {
        remove_folders(folder, first_new);
    }
    return status;
}
