/**
 * The bytes of a file or of standard input ("-"). What gzip or xz has packed is unpacked on the way, by its content.
 */
#pragma once

#include "fab/base.h"

typedef struct fab_source fab_source;

/**
 * Opens a file. Standard input can be opened again and begins anew: what comes from a pipe is kept in a temporary file
 * that has no name, which then is the standard input of the process.
 * @param[in]  path  Borrowed until the source is closed.
 * @param[out] out   Written on success only; release with fab_source_close().
 * @retval FAB_EIO           it cannot be read
 * @retval FAB_EUNSUPPORTED  packed, and this build cannot unpack
 * @retval FAB_ENOMEM
 */
FAB_STATUS fab_source_open(const char *path, fab_source **out, fab_error *err);

/** NULL is fine. */
void fab_source_close(fab_source *source);
FAB_OWNER(fab_source, fab_source_close)

/** Bytes of the text; SIZE_MAX: of a pipe or what is packed, which cannot tell. */
size_t fab_source_size(const fab_source *source);

/**
 * The next n bytes.
 * @param[out] out_n  Less than n at the end alone. Written on success only.
 * @retval FAB_EINPUT  what is packed is damaged or ends too early; or its text is longer than 64 MiB and than 1,000
 *                     times the file. err->where is the path alone: the caller knows the line.
 * @retval FAB_EIO, FAB_ENOMEM
 * Complexity: O(bytes) time, O(1) memory.
 */
FAB_STATUS fab_source_read(fab_source *source, void *to, size_t n, size_t *out_n, fab_error *err);

/** The first n bytes of a file, or all of a shorter one. The errors of the functions above. */
FAB_STATUS fab_source_head(const char *path, void *to, size_t n, size_t *out_n, fab_error *err);
