/* Preloaded into opensm: writes the processor time that the thread has used beside the two messages between which the
 * routes are computed, because the log's own times are those of the wall. Forwards the messages of LEVELS.
 * Output: the file $OPENSM_CLOCK, one line per such message: seconds, then the message. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEVELS 0x87 /* what opensm -D 0x07 writes: errors, information, verbose; and the system log */

typedef void log_function(void *log, unsigned char level, int file_id, const char *format, ...);

static const char *const MARKS[] = {"building routing with", "FatTree routing is done",
                                    "tables configured on all switches"};

static void note_time(const char *message) {
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        struct timespec now;
        const char *path = getenv("OPENSM_CLOCK");
        if (strstr(message, MARKS[i]) == NULL || path == NULL || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
            continue;
        }
        FILE *file = fopen(path, "a");
        if (file != NULL) {
            (void)fprintf(file, "%ld.%09ld %s", (long)now.tv_sec, now.tv_nsec, message);
            (void)fclose(file);
        }
    }
}

/* The parameters as in opensm's osm_log.h. It calls this millions of times while it routes, for messages of levels that
 * are off: as cheap as its own early return, or the peer looks slower than it is. */
void osm_log_v2(void *log, unsigned char level, int file_id, const char *format, ...);
void osm_log_v2(void *log, unsigned char level, int file_id, const char *format, ...) {
    static log_function *next;
    char message[4096];
    va_list arguments;
    if ((level & LEVELS) == 0) {
        return;
    }
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "osm_log_v2");
    }
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    note_time(message);
    if (next != NULL) {
        next(log, level, file_id, "%s", message);
    }
}
