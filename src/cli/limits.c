/* How much memory and time a run may take.
 *
 * Designs are refused by an estimate before anything is allocated; what the estimate does not see ends at a limit of
 * the system on the data of the process, so that an allocation fails in an orderly way where the machine would start to
 * swap or kill. Time is a timer: what is not finished then is not written. */
#include "cli.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define KEPT_FREE_RATIO 0.05 /* of what is free, for others */
#define MOST_SECONDS    1e9
#define RESERVED_BYTES  (UINT64_C(32) << 20) /* a thread solves rates: some twenty arrays, a huge page each */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_DATA false /* a sanitizer's own maps are data, too */
#else
#define LIMITS_DATA true
#endif

/* --- options ------------------------------------------------------------------------------------------------------ */

static fab_status apply_max_memory(cli_options *options, const char *value, fab_error *err) {
    double bytes = 0;
    fab_error inner = {0};
    CLI_REFUSE_IF(options->max_memory_given, err, "option --max-memory is given twice");
    CLI_REFUSE_IF(fab_quantity_parse(value, FAB_UNIT_BYTES, &bytes, &inner) != FAB_OK, err, "option --max-memory: %s",
                  inner.text);
    CLI_REFUSE_IF(!(bytes >= 1 && bytes < 0x1p63), err, "option --max-memory: '%.40s' is outside 1B to 8388607TiB",
                  value);
    options->max_memory = (uint64_t)bytes;
    options->max_memory_given = true;
    return FAB_OK;
}

static fab_status apply_max_time(cli_options *options, const char *value, fab_error *err) {
    double seconds = 0;
    fab_error inner = {0};
    CLI_REFUSE_IF(options->max_time_s > 0, err, "option --max-time is given twice");
    CLI_REFUSE_IF(fab_quantity_parse(value, FAB_UNIT_TIME, &seconds, &inner) != FAB_OK, err, "option --max-time: %s",
                  inner.text);
    CLI_REFUSE_IF(!(seconds >= 1e-3 && seconds <= MOST_SECONDS), err,
                  "option --max-time: '%.40s' is outside 1ms to %gs", value, MOST_SECONDS);
    options->max_time_s = seconds;
    return FAB_OK;
}

static const cli_option OPTION_MAX_MEMORY = {
    "max-memory", "SIZE", "refuse what needs more memory, such as 8GB; default what the machine has free",
    .apply = apply_max_memory};
static const cli_option OPTION_MAX_TIME = {
    "max-time", "TIME", "end after this time, such as 90s, with exit code 6 and nothing half-written",
    .apply = apply_max_time};

const cli_option *const CLI_COMMON_OPTIONS[] = {&OPTION_MAX_MEMORY, &OPTION_MAX_TIME, &cli_option_help, NULL};

/* --- what is free ------------------------------------------------------------------------------------------------- */

/* Number behind `key` at the start of a line of a file, or for key "" the first of it. UINT64_MAX: not there. */
static uint64_t limits_read_number(const char *path, const char *key) {
    char line[512];
    uint64_t found = UINT64_MAX;
    FAB_OWNS(fab_file_close) FILE *file = fopen(path, "r");
    while (file != NULL && found == UINT64_MAX && fgets(line, sizeof line, file) != NULL) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) == 0) {
            const char *at = line + n + strspn(line + n, " \t:");
            char *end = NULL;
            uint64_t number = strtoull(at, &end, 10);
            found = end > at ? number : UINT64_MAX; /* "max" is no limit */
        }
    }
    return found;
}

/* What a control group and those above it leave. `folder` is cut back to `root`. */
static uint64_t free_in_groups(char *folder, size_t root, const char *limit_name, const char *usage_name,
                               const char *cache_key) {
    uint64_t least = UINT64_MAX;
    char path[1100];
    for (;;) {
        FAB_FORMAT(path, "%s/%s", folder, limit_name);
        uint64_t limit = limits_read_number(path, "");
        FAB_FORMAT(path, "%s/%s", folder, usage_name);
        uint64_t used = limits_read_number(path, "");
        FAB_FORMAT(path, "%s/memory.stat", folder);
        uint64_t cache = limits_read_number(path, cache_key); /* given back when asked for */
        if (limit < UINT64_C(1) << 62 && used != UINT64_MAX) {
            used -= cache < used ? cache : 0;
            uint64_t left = limit > used ? limit - used : 0;
            least = left < least ? left : least;
        }
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < root) {
            return least;
        }
        *slash = '\0';
    }
}

/* By the line of /proc/self/cgroup: "0::/path" of version 2, "N:...,memory,...:/path" of version 1. */
static uint64_t free_in_group_of(char *line) {
    static const char *const ROOTS[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/memory"};
    char folder[1024];
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) {
        return UINT64_MAX;
    }
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    bool second = controllers[1] == '\0';
    if (!second && strstr(controllers, "memory") == NULL) {
        return UINT64_MAX;
    }
    const char *root = ROOTS[second ? 0 : 1];
    if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, strcmp(path, "/") == 0 ? "" : path) >= sizeof folder) {
        return UINT64_MAX;
    }
    return second ? free_in_groups(folder, strlen(root), "memory.max", "memory.current", "inactive_file")
                  : free_in_groups(folder, strlen(root), "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file");
}

/* Reserved by a thread, and mostly not touched: its stack, and where large arrays begin at a huge page. */
static uint64_t reserved_per_thread(void) {
    struct rlimit stack = {.rlim_cur = RLIM_INFINITY};
    (void)getrlimit(RLIMIT_STACK, &stack);
    return (stack.rlim_cur < UINT64_C(1) << 30 ? stack.rlim_cur : UINT64_C(8) << 20) + RESERVED_BYTES;
}

/* What a limit of the process ("ulimit -v", "-d") leaves behind `used`, a line of /proc/self/status, and behind what is
 * reserved. */
static uint64_t free_below(int resource, const char *used, uint64_t n_threads) {
    struct rlimit limit;
    uint64_t kib = limits_read_number("/proc/self/status", used);
    if (!LIMITS_DATA || getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || kib == UINT64_MAX) {
        return UINT64_MAX;
    }
    uint64_t left = limit.rlim_cur > kib * 1024 ? limit.rlim_cur - kib * 1024 : 0;
    uint64_t reserved = n_threads * reserved_per_thread(); /* and hardly touched: half is left to what is */
    return left - (reserved < left / 2 ? reserved : left / 2);
}

/* UINT64_MAX: not known. */
static uint64_t free_bytes(uint64_t n_threads) {
    const uint64_t below[] = {free_below(RLIMIT_AS, "VmSize", n_threads), free_below(RLIMIT_DATA, "VmData", n_threads)};
    char line[1200];
    uint64_t kib = limits_read_number("/proc/meminfo", "MemAvailable");
    uint64_t least = kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
    for (size_t i = 0; i < FAB_N_OF(below); i++) {
        least = below[i] < least ? below[i] : least;
    }
    FAB_OWNS(fab_file_close) FILE *file = fopen("/proc/self/cgroup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        uint64_t left = free_in_group_of(line);
        least = left < least ? left : least;
    }
    return least;
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

/* What is in use and what is reserved comes on top. The system does not enforce RLIMIT_RSS: it tells fab_read_file().
 */
static void limit_data(const cli_options *options) {
    struct rlimit data;
    if (getrlimit(RLIMIT_RSS, &data) == 0 && options->max_memory < data.rlim_cur) {
        data.rlim_cur = (rlim_t)options->max_memory;
        (void)setrlimit(RLIMIT_RSS, &data);
    }
    if (!LIMITS_DATA || getrlimit(RLIMIT_DATA, &data) != 0) {
        return;
    }
    uint64_t kib = limits_read_number("/proc/self/status", "VmData");
    uint64_t in_use = kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
    double limit =
        (double)options->max_memory + (double)in_use + (double)reserved_per_thread() * (double)options->n_threads;
    if (limit < 0x1p62 && (data.rlim_cur == RLIM_INFINITY || limit < (double)data.rlim_cur)) {
        data.rlim_cur = (rlim_t)limit;
        (void)setrlimit(RLIMIT_DATA, &data);
    }
}

#ifdef FAB_HAS_TIMERS
/* Only what may be called from a handler. */
static void on_time_up(FAB_UNUSED int number) {
    static const char nothing[] = "fabriscope: the time of --max-time is up; nothing was written\n";
    static const char files[] = "fabriscope: the time of --max-time is up; files that were complete stay, others and "
                                "the report are missing\n";
    bool some = fab_save_count() > 0;
    fab_save_abandon();
    if (write(STDERR_FILENO, some ? files : nothing, (some ? sizeof files : sizeof nothing) - 1) < 0) {
        _exit(CLI_EXIT_TIME); /* nobody reads */
    }
    _exit(CLI_EXIT_TIME);
}

static fab_status limit_time(double seconds, fab_error *err) {
    struct sigaction action = {.sa_handler = on_time_up};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)seconds}};
    timer_t timer;
    when.it_value.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
    (void)sigemptyset(&action.sa_mask);
    FAB_REFUSE_IF(sigaction(SIGALRM, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
                      timer_settime(timer, 0, &when, NULL) != 0,
                  err, FAB_EINTERNAL, NULL, "option --max-time: no timer could be set");
    return FAB_OK;
}
#else
static fab_status limit_time(double seconds, fab_error *err) {
    return fab_fail(err, FAB_EUNSUPPORTED, NULL, "option --max-time: %g s: this system has no timers", seconds);
}
#endif

fab_status cli_limits_begin(cli_options *options, fab_error *err) {
    if (!options->max_memory_given) {
        uint64_t left = free_bytes(options->n_threads);
        options->max_memory = left == UINT64_MAX ? 0 : (uint64_t)fmax((double)left * (1 - KEPT_FREE_RATIO), 1);
    }
    if (options->max_memory > 0) {
        limit_data(options);
    }
    return options->max_time_s > 0 ? limit_time(options->max_time_s, err) : FAB_OK;
}

void cli_limits_end_time(void) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
}

void cli_keep_freed_memory(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that it takes */
    (void)mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}
