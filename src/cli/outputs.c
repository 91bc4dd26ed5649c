/* Files that a run writes: each has a name of its own, whatever way the names lead. */
#define _DEFAULT_SOURCE /* for realpath */ // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#include "cli.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

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
        FAB_PASS(FAB_STRDUP(whole, text.data, err));
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
    FAB_PASS(FAB_STRDUP(new->given, path.data, err));
    return resolve(path.data, &new->path, err);
}

FAB_ORDER_KEYS(by_path, output, strcmp(a->path, b->path));

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
    enum { N_SINGLE = FAB_N_OF(single) };
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

/* Reads of the command line: a run must not replace what it is made of. "file:" and "counts:" stand before some. */
static bool session_reads(const cli_options *options, const char *path, const struct stat *to) {
    const char *texts[] = {options->prices,  options->against,        options->scenarios,
                           options->traffic, options->search.catalog, options->busbw.measured};
    const char *name = strrchr(path, '/');
    char folder[4096];
    struct stat store;
    struct stat of_output;
    FAB_FORMAT(folder, "%.*s", name != NULL ? (int)(name - path) + 1 : 1, name != NULL ? path : ".");
    bool same = options->store != NULL && stat(options->store, &store) == 0 && stat(folder, &of_output) == 0 &&
                store.st_dev == of_output.st_dev && store.st_ino == of_output.st_ino;
    for (size_t i = 0; i < FAB_N_OF(texts) + options->operands.n && !same; i++) {
        struct stat input;
        const char *text = i < options->operands.n ? options->operands.items[i] : texts[i - options->operands.n];
        const char *colon = text != NULL ? strchr(text, ':') : NULL;
        char of_colon[4096] = "";
        if (colon != NULL) {
            FAB_FORMAT(of_colon, "%.*s", (int)fab_traffic_path_length(colon + 1), colon + 1);
        }
        bool found = text != NULL && (stat(text, &input) == 0 || (colon != NULL && stat(of_colon, &input) == 0));
        same = found && input.st_dev == to->st_dev && input.st_ino == to->st_ino;
    }
    return same;
}

static fab_status check_new(const cli_options *options, const char *path, bool force, fab_error *err) {
    struct stat about;
    if (path == NULL || stat(path, &about) != 0) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(!force, err, FAB_EIO, path, "exists already; give --force to overwrite it");
    return session_reads(options, path, &about)
               ? fab_fail(err, FAB_EIO, path, "is read by this run and is not overwritten")
               : FAB_OK;
}

fab_status cli_check_new_file(const cli_options *options, const char *path, fab_error *err) {
    return check_new(options, path, options->force, err);
}

fab_status cli_check_out_file(const cli_options *options, const char *path, fab_error *err) {
    return check_new(options, path, cli_may_replace_out(options), err);
}

fab_status cli_write_reports(const cli_options *options, const fab_result *result, fab_error *err) {
    FAB_PASS(cli_write_exports(options, result, err));
    return options->out != NULL ? fab_reports_write_all(result, options->out, cli_may_replace_out(options), err)
                                : FAB_OK;
}

fab_status cli_check_out(const cli_options *options, fab_error *err) {
    struct stat about;
    if (options->out == NULL || stat(options->out, &about) != 0) {
        return FAB_OK; /* a folder that is not there is made when the report is written */
    }
    FAB_REFUSE_IF(!S_ISDIR(about.st_mode), err, FAB_EIO, options->out, "is not a folder");
    FAB_REFUSE_IF(access(options->out, W_OK | X_OK) != 0, err, FAB_EIO, options->out,
                  "cannot write into the folder: %s", strerror(errno));
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        char path[4096];
        const char *name = fab_report_formats[i]->file_name;
        if (name == NULL) {
            continue;
        }
        int n = snprintf(path, sizeof path, "%s/%s", options->out, name);
        if (n > 0 && (size_t)n < sizeof path && cli_check_out_file(options, path, err) != FAB_OK) {
            return FAB_EIO;
        }
    }
    return FAB_OK;
}
