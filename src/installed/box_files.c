#include "fab/box_files.h"

#include "fab/save.h"

#include <errno.h>
#include <sys/stat.h>

#define PATH 4096

bool fab_is_folder(const char *path) {
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

void fab_folder_release(fab_folder *folder) {
    FAB_FREE_EACH(free, folder->paths, folder->n);
    free((void *)folder->paths);
}

fab_status fab_folder_list(const char *path, fab_folder *out, fab_error *err) {
    FAB_OWNS(fab_folder_release) fab_folder list = {.n = 0};
    size_t capacity = 0;
    struct dirent *entry = NULL;
    FAB_OWNS(fab_dir_close) DIR *dir = opendir(path);
    FAB_REFUSE_IF(dir == NULL, err, FAB_EIO, path, "cannot be read: %s", strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        char file[PATH];
        if (entry->d_name[0] == '.') {
            continue;
        }
        FAB_REFUSE_IF((size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >= sizeof file, err, FAB_EIO,
                      path, "a path of more than %d bytes", PATH - 1);
        FAB_PASS(FAB_GROW(list.paths, capacity, list.n + 1, err));
        list.paths[list.n] = fab_strdup(file, err);
        FAB_PASS(list.paths[list.n++] != NULL ? FAB_OK : FAB_ENOMEM);
    }
    FAB_SORT(list.paths, list.n, fab_order_text);
    return FAB_GIVE(*out, list);
}

static fab_status each_below(const char *path, int depth, const fab_folder_visit *v, fab_error *err) {
    FAB_OWNS(fab_folder_release) fab_folder list = {.n = 0};
    if (!fab_is_folder(path)) {
        return v->read(v->context, path, err);
    }
    FAB_REFUSE_IF(depth == v->most_depth, err, FAB_EINPUT, path, "folders within folders: at most %d", v->most_depth);
    FAB_PASS(fab_folder_list(path, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        FAB_PASS(each_below(list.paths[i], depth + 1, v, err));
    }
    FAB_REFUSE_IF(list.n == 0 && !v->may_be_empty, err, FAB_EINPUT, path, "the folder is empty");
    return FAB_OK;
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
    for (size_t i = 0; i < FAB_N_OF(ENDINGS); i++) {
        size_t length = strlen(ENDINGS[i]);
        if (n > length && strncmp(name + n - length, ENDINGS[i], length) == 0) {
            n -= length;
        }
    }
    *out = name;
    return n;
}
