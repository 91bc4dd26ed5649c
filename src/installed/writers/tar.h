/**
 * @file tar.h
 * Several files as one: the interchange format of POSIX.1-2001 (ustar), which every tar unpacks. No owner and no time:
 * the same bytes whenever it is written.
 */
#pragma once

#include "fab/str.h"

#include <stdio.h>

/**
 * @param[in] path  Of the file, with '/' between folders; up to 99 bytes.
 * @retval FAB_EUNSUPPORTED  the path is longer, or the file has 8 GiB
 */
fab_status fab_tar_put(FILE *out, const char *path, const fab_str *file, fab_error *err) FAB_MUST_USE;

/** Behind the last file. */
void fab_tar_end(FILE *out);
