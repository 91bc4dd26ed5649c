/** Folders with a file for each box, and the boxes that names of files tell. */
#pragma once

#include "fab/base.h"

#define FAB_FOLDER_DEPTH 12 /**< of folders within folders */

bool fab_is_folder(const char *path);

/** Paths of what is in a folder, in the order of their names, but for hidden files. */
typedef struct fab_folder {
    char **paths;
    size_t n;
} fab_folder;
FAB_STATUS fab_folder_list(const char *path, fab_folder *out, fab_error *err);
void fab_folder_release(fab_folder *folder);

/** What is done with every file below a path. */
typedef struct fab_folder_visit {
    fab_status (*read)(void *context, const char *path, fab_error *err);
    void *context;
    int most_depth; /**< of folders within folders */
    bool may_be_empty;
} fab_folder_visit;

/**
 * Visits a file, or those of a folder and of the folders in it, in the order of their names.
 * @retval FAB_EINPUT  folders below `most_depth`, one that is empty; or what `read` says
 */
FAB_STATUS fab_folder_each(const char *path, const fab_folder_visit *visit, fab_error *err);

/** The box that a path names: its file's name without its ending. Returns its length. */
size_t fab_path_box(const char *path, const char **out);
