#include "fab/save.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ATTEMPTS 100

/* What a handler of signals has to know. Both types are free of locks. */
static _Atomic(const char *) save_temporaries[32];
static atomic_size_t save_n_commits;
#define N_TEMPORARIES (FAB_N_OF(save_temporaries))

void fab_save_abandon(void) {
    for (size_t i = 0; i < N_TEMPORARIES; i++) {
        const char *name = atomic_load(&save_temporaries[i]);
        if (name != NULL) {
            (void)unlink(name);
        }
    }
}

size_t fab_save_count(void) {
    return atomic_load(&save_n_commits);
}

/* A name for which there is no place is only not removed by fab_save_abandon(). */
static void save_note(const char *from, const char *to) {
    for (size_t i = 0; i < N_TEMPORARIES; i++) {
        const char *expected = from;
        if (atomic_compare_exchange_strong(&save_temporaries[i], &expected, to)) {
            return;
        }
    }
}

static sigset_t save_hold_signals(void) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    return before;
}

static void save_release_signals(sigset_t before) {
    int number = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
}

fab_status fab_save_begin(fab_saved_file *file, bool force, fab_error *err) {
    struct stat info;
    const char *path = file->final.data;
    file->is_new = lstat(path, &info) != 0; /* a dangling link is something */
    FAB_REFUSE_IF(!file->is_new && !force, err, FAB_EIO, path, "exists already; give --force to overwrite it");
    FAB_REFUSE_IF(stat(path, &info) == 0 && !S_ISREG(info.st_mode), err, FAB_EIO, path, "is a %s and is not replaced",
                  S_ISDIR(info.st_mode)    ? "folder"
                  : S_ISFIFO(info.st_mode) ? "pipe"
                  : S_ISSOCK(info.st_mode) ? "socket"
                                           : "device");
    return FAB_OK;
}

/* O_EXCL: never writes through a link that somebody placed there. */
static int open_temporary(fab_saved_file *file) {
    sigset_t before = save_hold_signals();
    int fd = open(file->temporary.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        file->is_written = true;
        save_note(NULL, file->temporary.data);
    }
    save_release_signals(before);
    return fd;
}

/* Not every file system knows fsync, of a folder least of all. */
static bool save_sync_fd(int fd) {
    return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS;
}

fab_status fab_save_sync(const char *path, fab_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool failed = fd < 0 || !save_sync_fd(fd);
    int number = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return failed ? fab_fail(err, FAB_EIO, path, "cannot be written to the disk: %s", strerror(number)) : FAB_OK;
}

bool fab_save_folder(const char *path) {
    if (mkdir(path, 0777) != 0) {
        return false;
    }
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    char *parent = n > 0 ? strndup(path, n) : strdup(".");
    int fd = parent != NULL ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool failed = parent == NULL || (fd >= 0 && !save_sync_fd(fd)); /* one that may not be read cannot be synced */
    int number = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (failed) {
        (void)rmdir(path);
    }
    free(parent);
    errno = number;
    return !failed;
}

fab_status fab_save_write(fab_saved_file *file, fab_save_writer *write_to, const void *context, fab_error *err) {
    fab_status status = FAB_OK;
    fab_error inner = {0};
    const char *final = file->final.data;
    FILE *out = NULL;
    int fd = -1;
    errno = EEXIST;
    for (int attempt = 0; attempt < MAX_ATTEMPTS && fd < 0 && errno == EEXIST; attempt++) {
        file->temporary.length = 0;
        fab_str_printf(&file->temporary, "%s.%ld-%d.tmp", final, (long)getpid(), attempt);
        FAB_TRY(fab_str_status(&file->temporary, err));
        fd = open_temporary(file);
    }
    FAB_FAIL_IF(fd < 0 || (out = fdopen(fd, "wb")) == NULL, err, FAB_EIO, final, "cannot write: %s", strerror(errno));
    fd = -1;
    status = write_to(context, out, &inner);
    /* a failed write names the file; anything else keeps the place it was found at */
    FAB_FAIL_IF(status != FAB_OK, err, status, status == FAB_EIO ? final : inner.where, "%s", inner.text);
    bool failed = fflush(out) != 0 || !save_sync_fd(fileno(out));
    FILE *closing = out;
    out = NULL;
    int number = errno;
    FAB_FAIL_IF(fclose(closing) != 0 || failed, err, FAB_EIO, final, "cannot write: %s",
                strerror(failed ? number : errno));
done:
    if (out != NULL) {
        (void)fclose(out);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* --- into place --------------------------------------------------------------------------------------------------- */

/* Where a file system has no links, an empty file takes the name first. */
static bool place_new(const char *temporary, const char *final) {
    if (link(temporary, final) == 0) {
        (void)unlink(temporary);
        return true;
    }
    if (errno == EEXIST || errno == ENOENT || errno == EIO) {
        return false;
    }
    int fd = open(final, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    (void)close(fd);
    if (rename(temporary, final) != 0) {
        int number = errno;
        (void)unlink(final);
        errno = number;
        return false;
    }
    return true;
}

static fab_status place_file(fab_saved_file *file, bool force, fab_error *err) {
    const char *final = file->final.data;
    if (file->is_stale) {
        (void)unlink(final);
        return FAB_OK;
    }
    bool placed = force ? rename(file->temporary.data, final) == 0 : place_new(file->temporary.data, final);
    if (!placed) {
        return errno == EEXIST ? fab_fail(err, FAB_EIO, final, "exists already; give --force to overwrite it")
                               : fab_fail(err, FAB_EIO, final, "cannot write: %s", strerror(errno));
    }
    save_note(file->temporary.data, NULL);
    file->is_written = false;
    return FAB_OK;
}

/* Waits until no other run is giving names in this folder. A folder that cannot be locked has no order of runs. */
static int lock_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)flock(fd, LOCK_EX);
    }
    return fd;
}

fab_status fab_save_commit(fab_saved_file *files, size_t n, const char *folder, bool force, fab_error *err) {
    fab_status status = FAB_OK;
    size_t done = 0;
    int lock = lock_folder(folder);
    sigset_t before = save_hold_signals();
    for (; status == FAB_OK && done < n; done++) {
        status = place_file(&files[done], force, err);
    }
    if (status == FAB_OK && lock >= 0 && !save_sync_fd(lock)) {
        status = fab_fail(err, FAB_EIO, folder, "cannot be written to the disk: %s", strerror(errno));
    }
    for (size_t i = 0; status != FAB_OK && i < done; i++) {
        if (files[i].is_new && !files[i].is_written) {
            (void)unlink(files[i].final.data);
        }
    }
    if (status == FAB_OK) {
        atomic_fetch_add(&save_n_commits, 1);
    }
    save_release_signals(before);
    if (lock >= 0) {
        (void)close(lock);
    }
    return status;
}

void fab_save_release(fab_saved_file *files, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (files[i].is_written) {
            (void)unlink(files[i].temporary.data);
            save_note(files[i].temporary.data, NULL);
        }
        fab_str_release(&files[i].final);
        fab_str_release(&files[i].temporary);
    }
}

fab_status fab_save_file(const char *path, bool force, fab_save_writer *write_to, const void *context, fab_error *err) {
    fab_status status = FAB_OK;
    fab_saved_file file = {.final = FAB_STR_INIT, .temporary = FAB_STR_INIT};
    fab_str folder = FAB_STR_INIT;
    const char *slash = strrchr(path, '/');
    fab_str_add(&file.final, path);
    fab_str_printf(&folder, "%.*s", slash == NULL ? 1 : (int)(slash - path + 1), slash == NULL ? "." : path);
    FAB_TRY(fab_str_status(&file.final, err));
    FAB_TRY(fab_str_status(&folder, err));
    FAB_TRY(fab_save_begin(&file, force, err));
    FAB_TRY(fab_save_write(&file, write_to, context, err));
    FAB_TRY(fab_save_commit(&file, 1, folder.data, force, err));
done:
    fab_save_release(&file, 1);
    fab_str_release(&folder);
    return status;
}
