#define _GNU_SOURCE /* RTLD_NEXT */
#include "fault_points.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define CAPACITY_BYTES ((size_t)1 << 23)
#define DEPTH          12 /* callers that tell one point from another */
#define DEPTH_MOST     48 /* callers that are looked at */

static fault_plan the_plan;
static fault_log *the_log;
static _Thread_local bool is_inside; /* what this file calls is nobody's */

void fault_arm(const fault_plan *plan, fault_log *log) {
    void *frames[DEPTH];
    (void)backtrace(frames, DEPTH); /* loads what it needs now */
    the_plan = *plan;
    the_log = log;
}

void fault_disarm(void) {
    the_log = NULL;
}

#define HASH_START 14695981039346656037U

static uint64_t hash_on(uint64_t hash, const void *frame) {
    return (hash ^ (uint64_t)(uintptr_t)frame) * 1099511628211U;
}

/* Whether it was not there. A table that is full knows everything. */
static bool note_pair(uint64_t pair) {
    for (uint32_t i = 0; i < FAULT_PAIRS; i++) {
        uint_least64_t there = 0;
        atomic_uint_least64_t *at = &the_log->pairs[(pair + i) & (FAULT_PAIRS - 1)];
        if (atomic_compare_exchange_strong(at, &there, pair | 1)) {
            return true;
        }
        if (there == (pair | 1)) {
            return false;
        }
    }
    return false;
}

static void keep_stack(fault_kind kind, uint32_t call) {
    void *frames[DEPTH_MOST];
    uint64_t hash = HASH_START;
    int n = backtrace(frames, DEPTH_MOST);
    the_log->is_new[kind][call] = false;
    for (int i = 3; i < n; i++) {
        hash = i < DEPTH ? hash_on(hash, frames[i]) : hash;
        if (i + 1 < n && note_pair(hash_on(hash_on(HASH_START + kind, frames[i]), frames[i + 1]))) {
            the_log->is_new[kind][call] = true;
        }
    }
    the_log->stack[kind][call] = hash;
}

/* A call: whether anything is to happen to it. */
static bool strikes(fault_kind kind) {
    if (the_log == NULL || is_inside) {
        return false;
    }
    is_inside = true;
    uint32_t i = atomic_fetch_add(&the_log->n[kind], 1);
    if (the_plan.keep_stacks && i < FAULT_POINTS_MOST) {
        keep_stack(kind, i);
    }
    bool now = the_plan.action != FAULT_PASS && the_plan.kind == kind &&
               (i == the_plan.at || (the_plan.action == FAULT_ALWAYS && i > the_plan.at));
    if (now) {
        atomic_store(&the_log->happened, true);
        if (the_plan.shows) {
            void *frames[2 * DEPTH];
            backtrace_symbols_fd(frames, backtrace(frames, 2 * DEPTH), STDERR_FILENO);
        }
    }
    if (now && the_plan.action == FAULT_SIGNAL) {
        (void)raise(the_plan.signal);
        now = false;
    }
    is_inside = false;
    return now;
}

static bool fails(fault_kind kind, int reason) {
    bool now = strikes(kind) && (the_plan.action == FAULT_ONCE || the_plan.action == FAULT_ALWAYS);
    if (now) {
        errno = reason;
    }
    return now;
}

/* The loader's own blocks come from malloc() above, by which the leak sanitizer does not know them. libxml2 2.9 loses
 * its input's buffer where there is no memory for the stream around it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:_dl_\nleak:xmlAllocParserInputBuffer\n";
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

/* What dlsym() itself takes before there is anything to pass on to; never given back. */
static _Alignas(16) char early[65536];
static size_t n_early;

static void *take_early(size_t size) {
    void *out = early + n_early;
    n_early += (size + 15) / 16 * 16;
    return n_early <= sizeof early ? out : NULL;
}

static bool is_early(const void *block) {
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

/* ISO C has no conversion between pointers to objects and functions. */
static void find(const char *name, void *out) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out, &found, sizeof found);
}

static bool is_ready(void) {
    static bool is_finding;
    if (real_free == NULL && !is_finding) {
        is_finding = true;
        find("malloc", &real_malloc);
        find("calloc", &real_calloc);
        find("realloc", &real_realloc);
        find("posix_memalign", &real_posix_memalign);
        find("free", &real_free);
    }
    return real_free != NULL;
}

void *malloc(size_t size) {
    return !is_ready() ? take_early(size) : fails(FAULT_MEMORY, ENOMEM) ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return !is_ready() ? take_early(n * size) : fails(FAULT_MEMORY, ENOMEM) ? NULL : real_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    if (is_early(block)) {
        void *out = malloc(size);
        size_t most = (size_t)(early + sizeof early - (char *)block);
        return out != NULL ? memcpy(out, block, size < most ? size : most) : NULL;
    }
    return !is_ready() ? take_early(size) : fails(FAULT_MEMORY, ENOMEM) ? NULL : real_realloc(block, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    return is_ready() && !fails(FAULT_MEMORY, ENOMEM) ? real_posix_memalign(out, alignment, size) : ENOMEM;
}

void free(void *block) {
    if (block != NULL && !is_early(block) && is_ready()) {
        real_free(block);
    }
}

/* --- files ------------------------------------------------------------------------------------------------------- */

#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (real == NULL) {                                                                                                \
        find(name, &real);                                                                                             \
    }

static mode_t mode_of(int flags, va_list args) {
    return (flags & O_CREAT) != 0 ? (mode_t)va_arg(args, int) : 0;
}

static void note_new(int flags) {
    if (the_log != NULL && (flags & O_EXCL) != 0) {
        atomic_store(&the_log->made, atomic_load(&the_log->n[FAULT_FILE]));
    }
}

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...)
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    bool now = fails(FAULT_FILE, EACCES);
    note_new(flags);
    return now ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    REAL(int, "open64", const char *, int, ...)
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    bool now = fails(FAULT_FILE, EACCES);
    note_new(flags);
    return now ? -1 : real(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
    REAL(FILE *, "fopen", const char *, const char *)
    return fails(FAULT_FILE, EMFILE) ? NULL : real(path, mode);
}

FILE *fdopen(int fd, const char *mode) {
    REAL(FILE *, "fdopen", int, const char *)
    return fails(FAULT_FILE, ENOMEM) ? NULL : real(fd, mode);
}

FILE *tmpfile(void) {
    REAL(FILE *, "tmpfile", void)
    if (fails(FAULT_FILE, ENOSPC)) {
        return NULL;
    }
    return the_log != NULL && the_plan.has_capacity ? fmemopen(NULL, CAPACITY_BYTES, "w+") : real();
}

/* The file is closed, and what was left to write is lost: as on a disk that is full. */
int fclose(FILE *file) {
    REAL(int, "fclose", FILE *)
    bool fail = fails(FAULT_FILE, ENOSPC);
    int status = real(file);
    errno = fail ? ENOSPC : errno;
    return fail ? EOF : status;
}

int fflush(FILE *file) {
    REAL(int, "fflush", FILE *)
    return fails(FAULT_FILE, ENOSPC) ? EOF : real(file);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *)
    return fails(FAULT_FILE, EIO) ? -1 : real(from, to);
}

/* A file system without links. */
int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *)
    return fails(FAULT_FILE, EPERM) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t)
    return fails(FAULT_FILE, EROFS) ? -1 : real(path, mode);
}

int fsync(int fd) {
    REAL(int, "fsync", int)
    return fails(FAULT_FILE, EIO) ? -1 : real(fd);
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int)
    return fails(FAULT_FILE, EIO) ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t length) {
    REAL(int, "ftruncate64", int, off64_t)
    return fails(FAULT_FILE, EIO) ? -1 : real(fd, length);
}

DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *)
    return fails(FAULT_FILE, EACCES) ? NULL : real(path);
}

int pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*work)(void *), void *context) {
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    return fails(FAULT_FILE, EAGAIN) ? EAGAIN : real(out, how, work, context);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* Puts a folder where the file was: what is not in the stream's buffer yet cannot be read. */
static void spoil(FILE *file) {
    is_inside = true;
    int folder = open("/", O_RDONLY);
    (void)dup2(folder, fileno(file));
    (void)close(folder);
    is_inside = false;
}

size_t fread(void *to, size_t size, size_t n, FILE *file) {
    REAL(size_t, "fread", void *, size_t, size_t, FILE *)
    if (fails(FAULT_FILE, EIO)) {
        spoil(file);
    }
    return real(to, size, n, file);
}

ssize_t read(int fd, void *to, size_t n) {
    REAL(ssize_t, "read", int, void *, size_t)
    return fails(FAULT_FILE, EIO) ? -1 : real(fd, to, n);
}

ssize_t pread64(int fd, void *to, size_t n, off64_t at) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t)
    return fails(FAULT_FILE, EIO) ? -1 : real(fd, to, n, at);
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

/* How much of a write is to be done: -1 where it fails, with its reason. */
static ssize_t writable(size_t n) {
    if (!strikes(FAULT_FILE)) {
        return (ssize_t)n;
    }
    if (the_plan.action == FAULT_SHORT) {
        return (ssize_t)(n > 1 ? n / 2 : n);
    }
    errno = the_plan.action == FAULT_BREAK ? EINTR : ENOSPC;
    return -1;
}

ssize_t write(int fd, const void *data, size_t n) {
    REAL(ssize_t, "write", int, const void *, size_t)
    ssize_t most = writable(n);
    return most < 0 ? -1 : real(fd, data, (size_t)most);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
    ssize_t most = writable(n);
    return most < 0 ? -1 : real(fd, data, (size_t)most, at);
}
