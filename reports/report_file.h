/**
 * @file report_file.h
 * A file on its way to its final name.
 */
#ifndef FAB_REPORT_FILE_H
#define FAB_REPORT_FILE_H

#include "fab/reports.h"
#include "fab/str.h"

/** True for anything under this name, a dangling link included. */
bool fab_report_file_exists(const char *path);

/**
 * Writes a new file beside the final one: to be renamed, or removed.
 * @param[in,out] temporary  Receives its name.
 * @param[out]    made       Set where the file exists, though it may be incomplete.
 */
fab_status fab_report_write_temporary(const char *final, fab_save_writer *write_to, const void *context,
                                      fab_str *temporary, bool *made, fab_error *err) FAB_MUST_USE;

#endif
