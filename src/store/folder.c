#include "folder.h"

#include "fab/fnv.h"
#include "fab/save.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

fab_status folder_path(const char *folder, const char *name, char *out, fab_error *err) {
    int n = snprintf(out, STORE_PATH_SIZE, "%s/%s", folder, name);
    /* suffixes of SQLite and locks */
    FAB_REFUSE_IF(n < 0 || n >= STORE_PATH_SIZE - 16, err, FAB_EINPUT, NULL, "'%.40s...' is too long for a path",
                  folder);
    return FAB_OK;
}

int64_t folder_size_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

void folder_remove(const char *path) {
    static const char *const SUFFIX[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < FAB_N_OF(SUFFIX); i++) {
        char name[STORE_PATH_SIZE + 16];
        FAB_FORMAT(name, "%s%s", path, SUFFIX[i]);
        (void)unlink(name);
    }
}

fab_status folder_move(const char *folder, const char *from, const char *to, fab_error *err) {
    FAB_PASS(fab_save_sync(from, err));
    FAB_REFUSE_IF(rename(from, to) != 0, err, FAB_EIO, to, "cannot be written: %s", strerror(errno));
    return fab_save_sync(folder, err);
}

fab_status folder_copy(const char *from, const char *to, uint64_t *out_digest, fab_error *err) {
    unsigned char bytes[16384];
    uint64_t hash = FAB_FNV_BEGIN;
    FAB_OWNS(fab_file_close) FILE *in = fopen(from, "rb");
    FAB_OWNS(fab_file_close) FILE *out = NULL;
    size_t n = 0;
    FAB_REFUSE_IF(in == NULL, err, FAB_EIO, from, "cannot be read: %s", strerror(errno));
    FAB_REFUSE_IF(to != NULL && (out = fopen(to, "wb")) == NULL, err, FAB_EIO, to, "cannot be written: %s",
                  strerror(errno));
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0) {
        hash = fab_fnv(hash, bytes, n);
        FAB_REFUSE_IF(out != NULL && fwrite(bytes, 1, n, out) != n, err, FAB_EIO, to, "cannot be written: %s",
                      strerror(errno));
    }
    FAB_REFUSE_IF(ferror(in) != 0, err, FAB_EIO, from, "cannot be read: %s", strerror(errno));
    if (out != NULL) {
        FILE *closing = out;
        out = NULL;
        FAB_REFUSE_IF(fclose(closing) != 0, err, FAB_EIO, to, "cannot be written: %s", strerror(errno));
    }
    *out_digest = hash;
    return FAB_OK;
}

/* --- shards ------------------------------------------------------------------------------------------------------- */

static void shard_file(shard_name shard, char out[48]) {
    (void)snprintf(out, 48, "shard-%" PRIu32 "-of-%" PRIu32 ".db", shard.index, shard.n);
}

fab_status folder_shard_path(const char *folder, shard_name shard, char *out, fab_error *err) {
    char name[48];
    shard_file(shard, name);
    return folder_path(folder, name, out, err);
}

/* Names that writing the numbers anew does not give are not ours. */
static bool parse_shard(const char *name, shard_name *out) {
    char again[48];
    if (sscanf(name, "shard-%" SCNu32 "-of-%" SCNu32, &out->index, &out->n) != 2) {
        return false;
    }
    shard_file(*out, again);
    return strcmp(again, name) == 0 && out->n <= FAB_SHARDS_MOST && out->index < out->n;
}

FAB_ORDER_TWO(folder_by_number, shard_name, n, index);

fab_status folder_shards(const char *folder, shard_name **out, size_t *out_n, fab_error *err) {
    FAB_OWNS(fab_dir_close) DIR *dir = opendir(folder);
    FAB_OWNED shard_name *list = NULL;
    size_t n = 0;
    size_t capacity = 0;
    shard_name shard;
    FAB_REFUSE_IF(dir == NULL, err, FAB_EIO, folder, "cannot be read: %s", strerror(errno));
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (parse_shard(entry->d_name, &shard)) {
            FAB_PASS(FAB_APPEND(list, n, capacity, err, shard));
        }
    }
    FAB_SORT(list, n, folder_by_number);
    *out_n = n;
    return FAB_GIVE(*out, list);
}

void folder_remove_copies(const char *files) {
    DIR *dir = opendir(files);
    for (const struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        if (strncmp(entry->d_name, STORE_COPY, strlen(STORE_COPY)) == 0) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
        (void)rmdir(files); /* unless somebody else has something there */
    }
}

fab_status folder_check_free(const char *folder, fab_error *err) {
    static const char *const OURS[] = {
        ".", "..", STORE_FILES, STORE_PLAN ".new", STORE_PLAN ".new-journal", STORE_PLAN ".lock"};
    FAB_OWNS(fab_dir_close) DIR *dir = opendir(folder);
    FAB_REFUSE_IF(dir == NULL, err, FAB_EIO, folder, "cannot be read: %s", strerror(errno));
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        FAB_ANY(ours, i, FAB_N_OF(OURS), strcmp(entry->d_name, OURS[i]) == 0);
        FAB_REFUSE_IF(!ours, err, FAB_EIO, folder,
                      "holds '%.60s' and no plan; a store is made in a new or empty folder", entry->d_name);
    }
    return FAB_OK;
}
