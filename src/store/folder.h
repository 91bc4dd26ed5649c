/** Names and files of a store's folder. */
#pragma once

#include "database.h"

#include "fab/shard.h"

#define STORE_PLAN    "plan.db"
#define STORE_RESULTS "results.db"
#define STORE_FILES   FAB_STORE_FILES
#define STORE_COPY    "file-" /* with a number: the copy of a file */

/** "FOLDER/NAME". `out` holds STORE_PATH_SIZE bytes. */
FAB_STATUS folder_path(const char *folder, const char *name, char *out, fab_error *err);

/** Size of a file, or -1 where there is none. */
int64_t folder_size_of(const char *path);

/** Removes a file and what SQLite may have left beside it. */
void folder_remove(const char *path);

/** Waits until the bytes of a file that is complete are on the disk, and moves it to its name. */
FAB_STATUS folder_move(const char *folder, const char *from, const char *to, fab_error *err);

/** Digest of a file's bytes. With `to` it is copied there. */
FAB_STATUS folder_copy(const char *from, const char *to, uint64_t *out_digest, fab_error *err);

/** Shard of a file name. */
typedef struct shard_name {
    uint32_t index, n;
} shard_name;

/** "shard-I-of-N.db" in the folder. */
FAB_STATUS folder_shard_path(const char *folder, shard_name shard, char *out, fab_error *err);

/** Shards of a folder, ordered by N and I. *out is for free(). */
FAB_STATUS folder_shards(const char *folder, shard_name **out, size_t *out_n, fab_error *err);

/** Removes the copies of files that a creation has left which was killed. */
void folder_remove_copies(const char *files);

/** @retval FAB_EIO  the folder holds what is no part of a store; the message names it */
FAB_STATUS folder_check_free(const char *folder, fab_error *err);
