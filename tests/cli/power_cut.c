/* Loaded before a program (LD_PRELOAD): records what it does to files, in order, for power_cuts.py to replay up to any
 * moment. POWER_CUT_LOG names the record. What stdio writes is seen when the file is brought to the disk or gets a
 * name.
 *
 * A record: kind, then inode, offset, lengths of two paths and of the data, then these. Kinds: C created, W written,
 * T truncated, S content as it is, F the same brought to the disk, D folder brought to the disk, R renamed, L linked,
 * U unlinked, M folder made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static int record_fd = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void record_bytes(const void *bytes, size_t n) {
    for (const char *at = bytes; n > 0;) {
        long done = syscall(SYS_write, record_fd, at, n);
        if (done <= 0) {
            abort();
        }
        at += done;
        n -= (size_t)done;
    }
}

static const char *whole_path(const char *path, char out[PATH_MAX]) {
    if (path == NULL || path[0] == '/') {
        return path != NULL ? path : "";
    }
    if (getcwd(out, PATH_MAX) == NULL) {
        abort();
    }
    size_t n = strlen(out);
    (void)snprintf(out + n, PATH_MAX - n, "/%s", path);
    return out;
}

static void record(char kind, uint64_t inode, uint64_t offset, const char *a, const char *b, const void *data,
                   uint64_t n) {
    char path_a[PATH_MAX];
    char path_b[PATH_MAX];
    a = whole_path(a, path_a);
    b = whole_path(b, path_b);
    uint64_t header[6] = {(uint64_t)kind, inode, offset, strlen(a), strlen(b), n};
    (void)pthread_mutex_lock(&record_lock);
    if (record_fd < 0) {
        const char *name = getenv("POWER_CUT_LOG");
        record_fd = name != NULL
                        ? (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                        : -1;
        if (record_fd < 0) {
            abort();
        }
    }
    record_bytes(header, sizeof header);
    record_bytes(a, header[3]);
    record_bytes(b, header[4]);
    record_bytes(data, n);
    (void)pthread_mutex_unlock(&record_lock);
}

/* All of a file, by its inode; nothing of what is no file or folder. */
static void record_content(char kind, int fd) {
    struct stat about;
    char name[64];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fstat(fd, &about) != 0 || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
        return;
    }
    if (S_ISDIR(about.st_mode)) {
        char path[PATH_MAX];
        ssize_t n = readlink(name, path, sizeof path - 1);
        path[n > 0 ? n : 0] = '\0';
        record('D', about.st_ino, 0, path, NULL, NULL, 0);
        return;
    }
    int in = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    char *bytes = malloc((size_t)about.st_size + 1);
    size_t done = 0;
    for (long n = 1; in >= 0 && bytes != NULL && done < (size_t)about.st_size && n > 0;
         done += (size_t)(n > 0 ? n : 0)) {
        n = syscall(SYS_read, in, bytes + done, (size_t)about.st_size - done);
    }
    if (in < 0 || bytes == NULL) {
        abort();
    }
    record(kind, about.st_ino, 0, NULL, NULL, bytes, done);
    (void)syscall(SYS_close, in);
    free(bytes);
}

static void record_named(char kind, const char *path) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd >= 0) {
        record_content(kind, fd);
        (void)syscall(SYS_close, fd);
    }
}

static uint64_t inode_of(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 ? about.st_ino : 0;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void opened(const char *path, uint64_t before, bool truncates) {
    uint64_t inode = inode_of(path);
    if (inode != 0 && before == 0) {
        record('C', inode, 0, path, NULL, NULL, 0);
    } else if (inode != 0 && truncates) {
        record('T', inode, 0, NULL, NULL, NULL, 0);
    }
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;                                                \
        va_end(arguments);                                                                                             \
        uint64_t before = (flags & O_CREAT) != 0 ? inode_of(path) : 1;                                                 \
        int fd = REAL(name)(path, flags, mode);                                                                        \
        if (fd >= 0 && (flags & (O_CREAT | O_TRUNC)) != 0 && (flags & O_ACCMODE) != O_RDONLY) {                        \
            opened(path, before, (flags & O_TRUNC) != 0);                                                              \
        }                                                                                                              \
        return fd;                                                                                                     \
    }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                                                                    \
    FILE *name(const char *path, const char *mode) {                                                                   \
        uint64_t before = inode_of(path);                                                                              \
        FILE *file = REAL(name)(path, mode);                                                                           \
        if (file != NULL && mode[0] != 'r') {                                                                          \
            opened(path, before, mode[0] == 'w');                                                                      \
        }                                                                                                              \
        return file;                                                                                                   \
    }
FOPEN(fopen)
FOPEN(fopen64)

static void written(int fd, uint64_t offset, const void *bytes, ssize_t n) {
    struct stat about;
    if (n > 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
        record('W', about.st_ino, offset, NULL, NULL, bytes, (uint64_t)n);
    }
}

ssize_t write(int fd, const void *bytes, size_t n) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = REAL(write)(fd, bytes, n);
    if (at >= 0) {
        written(fd, (uint64_t)at, bytes, done);
    }
    return done;
}

#define PWRITE(name)                                                                                                   \
    ssize_t name(int fd, const void *bytes, size_t n, off_t offset) {                                                  \
        ssize_t done = REAL(name)(fd, bytes, n, offset);                                                               \
        written(fd, (uint64_t)offset, bytes, done);                                                                    \
        return done;                                                                                                   \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define TRUNCATE(name)                                                                                                 \
    int name(int fd, off_t size) {                                                                                     \
        struct stat about;                                                                                             \
        int code = REAL(name)(fd, size);                                                                               \
        if (code == 0 && fstat(fd, &about) == 0) {                                                                     \
            record('T', about.st_ino, (uint64_t)size, NULL, NULL, NULL, 0);                                            \
        }                                                                                                              \
        return code;                                                                                                   \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* The disk itself is not asked: nothing here depends on it, and a replay has many of these. */
int fsync(int fd) {
    record_content('F', fd);
    return 0;
}

int fdatasync(int fd) {
    return fsync(fd);
}

int rename(const char *from, const char *to) {
    record_named('S', from);
    uint64_t inode = inode_of(from);
    int code = REAL(rename)(from, to);
    if (code == 0) {
        record('R', inode, 0, from, to, NULL, 0);
    }
    return code;
}

int link(const char *from, const char *to) {
    record_named('S', from);
    int code = REAL(link)(from, to);
    if (code == 0) {
        record('L', inode_of(to), 0, to, NULL, NULL, 0);
    }
    return code;
}

int unlink(const char *path) {
    int code = REAL(unlink)(path);
    if (code == 0) {
        record('U', 0, 0, path, NULL, NULL, 0);
    }
    return code;
}

int mkdir(const char *path, mode_t mode) {
    int code = REAL(mkdir)(path, mode);
    if (code == 0) {
        record('M', inode_of(path), 0, path, NULL, NULL, 0);
    }
    return code;
}
