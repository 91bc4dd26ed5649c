#include "fab/box_files.h"

#include "fab/memory.h"
#include "fab/order.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH 4096

bool fab_is_folder(const char *path) {
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

void fab_folder_release(char **paths, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(paths[i]);
    }
    free((void *)paths);
}

fab_status fab_folder_list(const char *path, char ***out, size_t *out_n, fab_error *err) {
    fab_status status = FAB_OK;
    char **paths = NULL;
    size_t n = 0;
    size_t capacity = 0;
    struct dirent *entry = NULL;
    DIR *dir = opendir(path);
    FAB_REFUSE_IF(dir == NULL, err, FAB_EIO, path, "cannot be read: %s", strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        char file[PATH];
        if (entry->d_name[0] == '.') {
            continue;
        }
        FAB_FAIL_IF((size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >= sizeof file, err, FAB_EIO,
                    path, "a path of more than %d bytes", PATH - 1);
        FAB_TRY(FAB_GROW(paths, capacity, n + 1, err));
        paths[n] = fab_strdup(file, err);
        FAB_TRY(paths[n] != NULL ? FAB_OK : FAB_ENOMEM);
        n++;
    }
    FAB_SORT(paths, n, fab_order_text);
    *out = paths;
    *out_n = n;
    paths = NULL;
    n = 0;
done:
    fab_folder_release(paths, n);
    (void)closedir(dir);
    return status;
}

static fab_status each_below(const char *path, int depth, const fab_folder_visit *v, fab_error *err) {
    fab_status status = FAB_OK;
    char **paths = NULL;
    size_t n = 0;
    if (!fab_is_folder(path)) {
        return v->read(v->context, path, err);
    }
    FAB_REFUSE_IF(depth == v->most_depth, err, FAB_EINPUT, path, "folders within folders: at most %d", v->most_depth);
    FAB_TRY(fab_folder_list(path, &paths, &n, err));
    for (size_t i = 0; i < n; i++) {
        FAB_TRY(each_below(paths[i], depth + 1, v, err));
    }
    FAB_FAIL_IF(n == 0 && !v->may_be_empty, err, FAB_EINPUT, path, "the folder is empty");
done:
    fab_folder_release(paths, n);
    return status;
}

fab_status fab_folder_each(const char *path, const fab_folder_visit *visit, fab_error *err) {
    return each_below(path, 0, visit, err);
}

size_t fab_path_box(const char *path, const char **out) {
    static const char *const ENDINGS[] = {".txt", ".prom", ".json", ".out", ".csv",    ".log",
                                          ".pm",  ".xml",  ".yaml", ".yml", ".metrics"};
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    size_t n = strlen(name);
    n -= n > 3 && (strcmp(name + n - 3, ".gz") == 0 || strcmp(name + n - 3, ".xz") == 0) ? 3 : 0;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        size_t length = strlen(ENDINGS[i]);
        if (n > length && strncmp(name + n - length, ENDINGS[i], length) == 0) {
            n -= length;
        }
    }
    *out = name;
    return n;
}
