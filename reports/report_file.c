#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ATTEMPTS 100

bool fab_report_file_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

/* O_EXCL: never writes through a link that somebody placed there. */
fab_status fab_report_open_temporary(const char *final, fab_str *temporary, int *out_fd, fab_error *err) {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        temporary->length = 0;
        fab_str_printf(temporary, "%s.%ld-%d.tmp", final, (long)getpid(), attempt);
        fab_status status = fab_str_status(temporary, err);
        if (status != FAB_OK) {
            return status;
        }
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
