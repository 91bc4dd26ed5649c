/** Files on their way to their final names: what has one is whole and on the disk. */
#pragma once

#include "fab/str.h"

#include <dirent.h>

/** FAB_OWNS(fab_file_close) FILE *f: closes it, unless it is NULL. FAB_OWNS(fab_dir_close) DIR *d: likewise. */
static inline void fab_file_close(FILE **file) {
    if (*file != NULL) {
        (void)fclose(*file);
    }
}
static inline void fab_dir_close(DIR **dir) {
    if (*dir != NULL) {
        (void)closedir(*dir);
    }
}

typedef fab_status fab_save_writer(const void *context, FILE *out, fab_error *err);

/**
 * Writes a file: a temporary one beside it, brought to the disk, and renamed when it is complete.
 * @param[in] force  Replace an existing file; otherwise it is FAB_EIO before anything is written, or when it appears
 *                   meanwhile.
 */
FAB_STATUS fab_save_file(const char *path, bool force, fab_save_writer *write_to, const void *context, fab_error *err);

/** One of several files of a folder: begun, written, and then committed with the others. */
typedef struct fab_saved_file {
    fab_str final;
    fab_str temporary;
    bool is_written; /**< the temporary file exists, though it may be incomplete */
    bool is_new;     /**< nothing had the final name */
    bool is_stale;   /**< left by an earlier run: neither begun nor written, and removed with the commit */
} fab_saved_file;

/**
 * Checks the name in `file->final`.
 * @retval FAB_EIO  it exists and `force` is not given, or it is a device, a pipe or a folder
 */
FAB_STATUS fab_save_begin(fab_saved_file *file, bool force, fab_error *err);

/** Writes the temporary file. */
FAB_STATUS fab_save_write(fab_saved_file *file, fab_save_writer *write_to, const void *context, fab_error *err);

/**
 * Gives all files of `folder` their final names. Runs that do so at the same time wait for each other, and no signal
 * comes between. After an error nothing new has a final name.
 */
FAB_STATUS fab_save_commit(fab_saved_file *files, size_t n, const char *folder, bool force, fab_error *err);

/** Removes temporary files that were not committed. */
void fab_save_release(fab_saved_file *files, size_t n);

/** Makes a folder and brings its name to the disk. False: it could not, and errno says why; EEXIST: something is there.
 */
bool fab_save_folder(const char *path);

/** Brings a file or folder to the disk, as far as its file system can. */
FAB_STATUS fab_save_sync(const char *path, fab_error *err);

/** For handlers of signals that end the process: removes the temporary files of whatever is being saved. */
void fab_save_abandon(void);

/** How often files have been committed in this process; for handlers of signals, too. */
size_t fab_save_count(void);
