/* Processes and folders. */
#define _GNU_SOURCE /* F_SETPIPE_SZ, memfd_create(), syscall() */
#include "fault_cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_WORDS  64
#define PATIENCE_S  120 /* a run that takes longer hangs */
#define MOST_PATH   512
#define MOST_FILES  256
#define PIPE_BYTES  65536
#define FIRST_BYTES 64 /* that a reader waits for before it leaves */

int fabriscope_main(int argc, char **argv); /* main.c of the program, under another name */

void fault_need(bool holds, const char *what, const char *name) {
    if (!holds) {
        (void)fprintf(stderr, "%s: %s: %s\n", name, what, strerror(errno));
        exit(2);
    }
}

fault_log *fault_log_new(void) {
    void *log = mmap(NULL, sizeof(fault_log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fault_need(log != MAP_FAILED, "not mapped", "log");
    return log;
}

/* --- processes --------------------------------------------------------------------------------------------------- */

static int new_file(void) {
    int fd = memfd_create("output", 0);
    fault_need(fd >= 0, "no file", "output");
    return fd;
}

static char *content_of(int fd, size_t *out_n) {
    struct stat info;
    fault_need(fstat(fd, &info) == 0, "no size", "output");
    size_t n = (size_t)info.st_size;
    char *data = malloc(n + 1);
    fault_need(data != NULL && pread(fd, data, n, 0) == (ssize_t)n, "not read back", "output");
    data[n] = '\0';
    (void)close(fd);
    *out_n = n;
    return data;
}

/* What a process that has ended left in a pipe. */
static char *rest_of(int fd) {
    size_t n = 0;
    char *text = calloc(1, PIPE_BYTES + 1);
    fault_need(text != NULL, "no memory", "messages");
    for (ssize_t more = 1; more > 0 && n<PIPE_BYTES; n += more> 0 ? (size_t)more : 0) {
        more = read(fd, text + n, PIPE_BYTES - n);
    }
    (void)close(fd);
    return text;
}

/* Rights of files hold for root as well from here on. */
static void drop_override(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    const unsigned rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER;
    fault_need(syscall(SYS_capget, &header, sets) == 0, "rights are not known", "capget");
    sets[0].effective &= ~rights;
    sets[0].permitted &= ~rights;
    fault_need(syscall(SYS_capset, &header, sets) == 0, "rights stay", "capset");
}

static void run_child(const char *folder, const char *line, const fault_plan *plan, fault_log *log, fault_limits limits,
                      int out, int err) {
    char *words[MOST_WORDS + 1] = {"fabriscope"};
    int n = 1;
    char *copy = malloc(strlen(line) + 1);
    fault_need(chdir(folder) == 0 && copy != NULL, "no folder", folder);
    (void)strcpy(copy, line);
    for (char *at = strtok(copy, " "); at != NULL && n < MOST_WORDS; at = strtok(NULL, " ")) {
        words[n++] = at;
    }
    words[n] = NULL;
    int nothing = open("/dev/null", O_RDONLY);
    fault_need(dup2(nothing, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2, "no streams", line);
    if (limits.place == FAULT_OUT_CLOSED) {
        (void)close(0);
        (void)close(1);
    } else if (limits.place == FAULT_ERR_CLOSED) {
        (void)close(2);
    } else if (limits.place == FAULT_READ_ONLY) {
        drop_override();
    }
    (void)alarm(PATIENCE_S);
    if (limits.file_bytes >= 0) {
        const struct rlimit most = {(rlim_t)limits.file_bytes, (rlim_t)limits.file_bytes};
        fault_need(setrlimit(RLIMIT_FSIZE, &most) == 0, "no limit", line);
    }
    fault_arm(plan, log);
    int code = fabriscope_main(n, words);
    fault_disarm();
    free(copy);
    exit(code);
}

static void send_later(pid_t child, int number, long microseconds) {
    const struct timespec pause = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
    (void)nanosleep(&pause, NULL);
    (void)kill(child, number);
}

/* Where a run prints to. *reader is the other end of a pipe, or -1. */
static int open_out(fault_place place, int *reader) {
    int both[2];
    *reader = -1;
    if (place == FAULT_OUT_FULL) {
        int full = open("/dev/full", O_WRONLY);
        fault_need(full >= 0, "not opened", "/dev/full");
        return full;
    }
    if (place != FAULT_OUT_UNREAD && place != FAULT_OUT_LEFT) {
        return new_file();
    }
    fault_need(pipe(both) == 0 && fcntl(both[1], F_SETPIPE_SZ, FAULT_PIPE_BYTES) == FAULT_PIPE_BYTES, "no pipe", "out");
    *reader = both[0];
    if (place == FAULT_OUT_UNREAD) {
        (void)close(both[0]);
        *reader = -1;
    }
    return both[1];
}

/* Reads a little, as `head` does. */
static void leave(int reader) {
    char first[FIRST_BYTES];
    for (ssize_t n = 0, more = 1; n < FIRST_BYTES && more > 0; n += more) {
        more = read(reader, first, sizeof first);
    }
    (void)close(reader);
}

fault_end fault_run(const char *folder, const char *line, const fault_plan *plan, fault_log *log, fault_limits limits) {
    fault_end end = {.code = 0};
    int status = 0;
    int reader = -1;
    int err[2]; /* no file: that would be limited as all others */
    int out = open_out(limits.place, &reader);
    fault_need(pipe(err) == 0, "no pipe", line);
    int full = limits.place == FAULT_ERR_FULL ? open("/dev/full", O_WRONLY) : -1;
    for (int kind = 0; kind < FAULT_N_KINDS; kind++) {
        atomic_store(&log->n[kind], 0);
    }
    atomic_store(&log->happened, false);
    atomic_store(&log->made, 0);
    (void)fflush(NULL);
    pid_t child = fork();
    fault_need(child >= 0, "no process", line);
    if (child == 0) {
        (void)close(reader);
        run_child(folder, line, plan, log, limits, out, full >= 0 ? full : err[1]);
    }
    (void)close(err[1]);
    (void)close(full);
    if (reader >= 0) {
        (void)close(out);
        leave(reader);
    }
    if (limits.signal_us >= 0) {
        send_later(child, plan->signal, limits.signal_us);
    }
    fault_need(waitpid(child, &status, 0) == child, "not waited for", line);
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (reader < 0 && limits.place != FAULT_OUT_UNREAD && limits.place != FAULT_OUT_FULL) {
        end.out = content_of(out, &end.n_out);
    } else if (reader < 0) {
        (void)close(out);
    }
    end.err = rest_of(err[0]);
    return end;
}

void fault_end_release(fault_end *end) {
    free(end->out);
    free(end->err);
    *end = (fault_end){0};
}

/* --- folders ----------------------------------------------------------------------------------------------------- */

static void read_below(const char *root, const char *below, fault_files *out) {
    char path[MOST_PATH];
    struct dirent **entries = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", root, below);
    int n = scandir(path, &entries, NULL, alphasort);
    fault_need(n >= 0, "not listed", path);
    for (int i = 0; i < n; i++) {
        struct stat info;
        char inner[MOST_PATH - 64];
        const char *name = entries[i]->d_name;
        (void)snprintf(inner, sizeof inner, "%s%s%s", below, below[0] != '\0' ? "/" : "", name);
        int length = snprintf(path, sizeof path, "%s/%s", root, inner);
        fault_need(length < MOST_PATH, "a long path", inner);
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            fault_need(lstat(path, &info) == 0, "not there", path);
            if (S_ISDIR(info.st_mode)) {
                read_below(root, inner, out);
            } else {
                fault_file *file = &out->files[out->n++];
                int fd = open(path, O_RDONLY);
                fault_need(fd >= 0 && out->n < MOST_FILES, "not opened", path);
                file->data = content_of(fd, &file->size);
                file->path = malloc(strlen(inner) + 1);
                (void)strcpy(file->path, inner);
            }
        }
        free(entries[i]);
    }
    free(entries);
}

fault_files fault_read_folder(const char *folder) {
    fault_files out = {.files = calloc(MOST_FILES, sizeof *out.files)};
    fault_need(out.files != NULL, "no memory", folder);
    read_below(folder, "", &out);
    return out;
}

void fault_files_release(fault_files *files) {
    for (size_t i = 0; i < files->n; i++) {
        free(files->files[i].path);
        free(files->files[i].data);
    }
    free(files->files);
    *files = (fault_files){0};
}

const fault_file *fault_find(const fault_files *files, const char *path) {
    for (size_t i = 0; i < files->n; i++) {
        if (strcmp(files->files[i].path, path) == 0) {
            return &files->files[i];
        }
    }
    return NULL;
}

void fault_forbid(const char *folder, bool forbidden) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);
    fault_need(n >= 0, "not listed", folder);
    for (int i = 0; i < n; i++) {
        char inner[MOST_PATH];
        struct stat info;
        (void)snprintf(inner, sizeof inner, "%s/%s", folder, entries[i]->d_name);
        bool is_entry = strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0;
        if (is_entry && lstat(inner, &info) == 0 && S_ISDIR(info.st_mode)) {
            fault_forbid(inner, forbidden);
        } else if (is_entry) {
            fault_need(chmod(inner, forbidden ? 0444 : 0666) == 0, "rights stay", inner);
        }
        free(entries[i]);
    }
    free(entries);
    fault_need(chmod(folder, forbidden ? 0555 : 0777) == 0, "rights stay", folder);
}

void fault_remove_folder(const char *folder) {
    DIR *listing = opendir(folder);
    for (struct dirent *entry = NULL; listing != NULL && (entry = readdir(listing)) != NULL;) {
        char inner[MOST_PATH];
        (void)snprintf(inner, sizeof inner, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && unlink(inner) != 0) {
            fault_remove_folder(inner);
        }
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
    (void)rmdir(folder);
}

void fault_write_folder(const char *folder, const fault_files *files) {
    fault_remove_folder(folder);
    fault_need(mkdir(folder, 0777) == 0, "not made", folder);
    for (size_t i = 0; i < files->n; i++) {
        char path[MOST_PATH];
        (void)snprintf(path, sizeof path, "%s/%s", folder, files->files[i].path);
        for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            (void)mkdir(path, 0777);
            *slash = '/';
        }
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        fault_need(fd >= 0 && write(fd, files->files[i].data, files->files[i].size) == (ssize_t)files->files[i].size,
                   "not written", path);
        (void)close(fd);
    }
}
