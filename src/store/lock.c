#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 10000 /* for those who read */
#define STEP_MS 20

static int set_lock(int fd, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &lock);
}

/* With the number of its start: machines of different clusters may have one name. */
static void host_name(char *out, size_t size) {
    char name[65];
    char boot[9] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, boot, sizeof boot - 1);
        boot[n > 0 ? n : 0] = '\0';
        (void)close(fd);
    }
    if (gethostname(name, sizeof name) != 0) {
        FAB_FORMAT(name, "an unknown host");
    }
    name[sizeof name - 1] = '\0';
    (void)snprintf(out, size, "%s%s%s", name, boot[0] != '\0' ? ", boot " : "", boot);
}

static void sign(int fd) {
    char host[96];
    char text[STORE_HOLDER_SIZE];
    host_name(host, sizeof host);
    int n = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    /* Without the signature only a message is poorer. */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n) {
        return;
    }
}

static void read_holder(int fd, store_holder *out) {
    char host[96];
    host_name(host, sizeof host);
    ssize_t n = pread(fd, out->text, sizeof out->text - 1, 0);
    out->text[n > 0 ? n : 0] = '\0';
    out->text[strcspn(out->text, "\n")] = '\0';
    const char *on = strstr(out->text, " on ");
    out->is_here = on != NULL && strcmp(on + 4, host) == 0;
    if (on == NULL) {
        FAB_FORMAT(out->text, "another process");
    }
}

/* A file that was removed after it was opened locks nothing. */
static bool is_current(int fd, const char *path) {
    struct stat mine;
    struct stat there;
    return fstat(fd, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

typedef enum attempt { TAKEN, AGAIN, READ_BY_OTHERS, WRITTEN, FAILED } attempt;

static attempt try_once(store_lock *lock, store_holder *holder) {
    short type = lock->shared ? F_RDLCK : F_WRLCK;
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock->fd < 0) {
        return FAILED;
    }
    if (set_lock(lock->fd, type) == 0) {
        return is_current(lock->fd, lock->path) ? TAKEN : AGAIN;
    }
    if (errno != EACCES && errno != EAGAIN) {
        return FAILED;
    }
    struct flock other = {.l_type = type, .l_whence = SEEK_SET};
    if (fcntl(lock->fd, F_GETLK, &other) != 0) {
        return FAILED;
    }
    if (other.l_type == F_WRLCK) {
        read_holder(lock->fd, holder);
        return WRITTEN;
    }
    return other.l_type == F_RDLCK ? READ_BY_OTHERS : AGAIN;
}

fab_status store_lock_take(const char *file, bool shared, store_lock *out, bool *out_taken, store_holder *out_holder,
                           fab_error *err) {
    store_lock lock = {.fd = -1, .shared = shared};
    int n = snprintf(lock.path, sizeof lock.path, "%s.lock", file);
    FAB_REFUSE_IF(n < 0 || (size_t)n >= sizeof lock.path, err, FAB_EINPUT, NULL, "'%.40s...' is too long for a path",
                  file);
    *out = (store_lock)STORE_LOCK_NONE;
    *out_taken = false;
    for (int waited_ms = 0;; waited_ms += STEP_MS) {
        attempt result = try_once(&lock, out_holder);
        int number = errno;
        if (result == TAKEN) {
            if (!shared) {
                sign(lock.fd);
            }
            *out = lock;
            *out_taken = true;
            return FAB_OK;
        }
        if (lock.fd >= 0) {
            (void)close(lock.fd); /* gives up the lock of a file that is gone */
        }
        if (result == WRITTEN) {
            return FAB_OK;
        }
        FAB_REFUSE_IF(result == FAILED && lock.fd < 0 && number == ELOOP, err, FAB_EINPUT, lock.path,
                      "is a link: files of a store are not followed elsewhere");
        if (result == FAILED && shared && lock.fd < 0 && (number == EROFS || number == EACCES)) {
            *out_taken = true; /* nobody writes here */
            return FAB_OK;
        }
        FAB_REFUSE_IF(result == FAILED, err, FAB_EIO, lock.path, "cannot be locked: %s", strerror(number));
        FAB_REFUSE_IF(waited_ms >= WAIT_MS, err, FAB_EIO, file,
                      "another process has read it for %d s and has not ended", WAIT_MS / 1000);
        struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
        (void)nanosleep(&step, NULL);
    }
}

/* The file goes with the last holder; who opened it meanwhile sees that it is gone and makes another. */
void store_lock_release(store_lock *lock) {
    if (lock->fd < 0) {
        return;
    }
    if (!lock->shared || set_lock(lock->fd, F_WRLCK) == 0) {
        (void)unlink(lock->path);
    }
    (void)close(lock->fd);
    lock->fd = -1;
}
