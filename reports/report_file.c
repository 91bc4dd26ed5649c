#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ATTEMPTS 100

bool fab_report_file_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Opens a new file beside the final one. O_EXCL: never writes through a link that somebody placed there. */
static fab_status open_temporary(const char *final, fab_str *temporary, int *out_fd, fab_error *err) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        temporary->length = 0;
        fab_str_printf(temporary, "%s.%ld-%d.tmp", final, (long)getpid(), attempt);
        FAB_PASS(fab_str_status(temporary, err));
        int fd = open(temporary->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *out_fd = fd;
            return FAB_OK;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return fab_fail(err, FAB_EIO, final, "cannot write: %s", strerror(errno));
}

fab_status fab_report_write_temporary(const char *final, fab_save_writer *write_to, const void *context,
                                      fab_str *temporary, bool *made, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {0};
    FILE *file = NULL;
    int fd = -1;
    FAB_TRY(open_temporary(final, temporary, &fd, err));
    *made = true;
    file = fdopen(fd, "wb");
    if (file == NULL) {
        FAB_FAIL(err, FAB_EIO, final, "cannot write: %s", strerror(errno));
    }
    fd = -1;
    status = write_to(context, file, &inner);
    if (status != FAB_OK) { /* a failed write names the file; anything else keeps the place it was found at */
        FAB_FAIL(err, status, status == FAB_EIO ? final : inner.where, "%s", inner.text);
    }
    FILE *closing = file;
    file = NULL;
    if (fclose(closing) != 0) {
        FAB_FAIL(err, FAB_EIO, final, "cannot write: %s", strerror(errno));
    }
done:
    if (file != NULL) {
        (void)fclose(file);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

fab_status fab_save_file(const char *path, bool force, fab_save_writer *write_to, const void *context, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str temporary = FAB_STR_INIT;
    bool made = false;
    if (!force && fab_report_file_exists(path)) {
        FAB_FAIL(err, FAB_EIO, path, "exists already; give --force to overwrite it");
    }
    FAB_TRY(fab_report_write_temporary(path, write_to, context, &temporary, &made, err));
    if (rename(temporary.data, path) != 0) {
        FAB_FAIL(err, FAB_EIO, path, "cannot write: %s", strerror(errno));
    }
    made = false;
done:
    if (made) {
        (void)unlink(temporary.data);
    }
    fab_str_release(&temporary);
    return status;
}
