/* Files that a run writes: each has a name of its own, whatever way the names lead. */
#define _DEFAULT_SOURCE /* for realpath */ // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#include "cli.h"
#include "fab/memory.h"
#include "fab/order.h"

#include <errno.h>
#include <sys/stat.h>

#define MORE_FILES 1 /* of --out, beside those of formats */

typedef struct output {
    const char *option; /* that names it */
    char *given, *path; /* path: without links, "." and ".." as far as the folders are there */
} output;

typedef struct outputs {
    output *list;
    size_t n;
} outputs;

/* What is there is resolved, what is not stays behind it as it was given. */
static fab_status resolve(const char *path, char **out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str parent = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_OWNED char *known = NULL;
    const size_t length = strlen(path);
    size_t end = length;
    FAB_OWNED char *whole = realpath(path, NULL);
    FAB_REFUSE_IF(whole == NULL && errno == ENOMEM, err, FAB_ENOMEM, NULL, "cannot resolve '%.200s'", path);
    if (whole == NULL) {
        while (end > 0 && path[end - 1] == '/') {
            end--;
        }
        size_t slash = end;
        while (slash > 0 && path[slash - 1] != '/') {
            slash--;
        }
        fab_str_append(&parent, slash > 0 ? path : ".", slash > 1 ? slash - 1 : 1);
        FAB_PASS(fab_str_status(&parent, err));
        if (end > slash && slash < length && strcmp(parent.data, path) != 0) {
            FAB_PASS(resolve(parent.data, &known, err));
        }
        fab_str_printf(&text, "%s/%.*s", known != NULL ? known : "", (int)(end - slash), path + slash);
        FAB_PASS(fab_str_status(&text, err));
        FAB_PASS((whole = fab_strdup(text.data, err)) != NULL ? FAB_OK : FAB_ENOMEM);
    }
    return FAB_GIVE(*out, whole);
}

static fab_status add_output(outputs *o, const char *option, const char *folder, const char *name, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    if (name == NULL || name[0] == '\0' || (folder == NULL && strcmp(name, "-") == 0)) {
        return FAB_OK;
    }
    fab_str_printf(&path, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "", name);
    FAB_PASS(fab_str_status(&path, err));
    output *new = &o->list[o->n++];
    new->option = option;
    FAB_PASS((new->given = fab_strdup(path.data, err)) != NULL ? FAB_OK : FAB_ENOMEM);
    return resolve(path.data, &new->path, err);
}

static int by_path(const void *a, const void *b) {
    const output *x = a;
    const output *y = b;
    return strcmp(x->path, y->path);
}

static fab_status add_all(const cli_options *options, outputs *o, fab_error *err) {
    const struct {
        const char *option, *path;
    } single[] = {{"--certificate", options->certificate},
                  {"--timeline", options->timeline},
                  {"--export", options->export_path},
                  {"--patch", options->patch},
                  {"--dump", options->dump},
                  {"--output", options->output},
                  {"--out", options->out}};
    enum { N_SINGLE = sizeof single / sizeof single[0] };
    size_t n_formats = 0;
    while (fab_report_formats[n_formats] != NULL) {
        n_formats++;
    }
    FAB_PASS(FAB_NEW(o->list, N_SINGLE + n_formats + MORE_FILES + options->exports.n, err));
    for (size_t i = 0; i < N_SINGLE; i++) {
        FAB_PASS(add_output(o, single[i].option, NULL, single[i].path, err));
    }
    for (size_t i = 0; i < options->exports.n; i++) {
        FAB_PASS(add_output(o, "--export", NULL, options->exports.items[i], err));
    }
    for (size_t i = 0; i < n_formats && options->out != NULL; i++) {
        FAB_PASS(add_output(o, "--out", options->out, fab_report_formats[i]->file_name, err));
    }
    return options->out != NULL ? add_output(o, "--out", options->out, CLI_ROWS_NAME, err) : FAB_OK;
}

fab_status cli_check_outputs(const cli_options *options, fab_error *err) {
    fab_status status = FAB_OK;
    outputs o = {.n = 0};
    FAB_TRY(add_all(options, &o, err));
    FAB_SORT(o.list, o.n, by_path);
    for (size_t i = 1; i < o.n; i++) {
        const output *a = &o.list[i - 1];
        const output *b = &o.list[i];
        FAB_FAIL_IF(strcmp(a->path, b->path) == 0, err, FAB_EINPUT, NULL,
                    "options %s and %s write the same file: '%.200s' and '%.200s'", a->option, b->option, a->given,
                    b->given);
    }
done:
    for (size_t i = 0; i < o.n; i++) {
        FAB_FREE_ALL(o.list[i].given, o.list[i].path);
    }
    free(o.list);
    return status;
}

bool cli_may_replace_out(const cli_options *options) {
    static const char OURS[] = "\"program\": \"fabriscope\"";
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    char line[256];
    bool is_ours = false;
    if (options->force || options->out == NULL) {
        return options->force;
    }
    fab_str_printf(&path, "%s/report.json", options->out);
    struct stat about;
    bool is_file = fab_str_status(&path, NULL) == FAB_OK && stat(path.data, &about) == 0 && S_ISREG(about.st_mode);
    FAB_OWNS(fab_file_close) FILE *file = is_file ? fopen(path.data, "r") : NULL;
    while (file != NULL && !is_ours && fgets(line, sizeof line, file) != NULL) { /* the line stands alone */
        is_ours = strstr(line, OURS) != NULL;
    }
    return is_ours;
}
