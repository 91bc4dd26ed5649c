/**
 * @file report_file.h
 * A file on its way to its final name.
 */
#ifndef FAB_REPORT_FILE_H
#define FAB_REPORT_FILE_H

#include "fab/status.h"
#include "fab/str.h"

/** True for anything under this name, a dangling link included. */
bool fab_report_file_exists(const char *path);

/**
 * Opens a new file beside the final one.
 * @param[in,out] temporary  Receives its name.
 * @param[out]    out_fd     Open for writing; to be closed, and the file to be renamed or removed.
 */
fab_status fab_report_open_temporary(const char *final, fab_str *temporary, int *out_fd, fab_error *err) FAB_MUST_USE;

#endif
