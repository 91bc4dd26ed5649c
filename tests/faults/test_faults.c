/* Faults in small runs of every command. Usage: test_faults memory|files|sizes|signals [CASE [ACTION POINT]]
 *
 *     memory   an allocation fails, in the program or in a library, alone or with all that follow
 *     files    a call that opens, writes, closes, renames or makes something fails, is cut short or interrupted
 *     sizes    files, and what is printed, cannot grow beyond so many bytes (a disk that is full)
 *     signals  SIGINT, SIGTERM or SIGPIPE arrives at a call, or after a time
 *
 * Each run must end by itself with a code and a reason that fit, or give what an undisturbed run gives; print nothing
 * else; and leave every file as it was or complete. Points are the first calls of every stack of callers; a draw of
 * them unless FAULTS=all. Built with AddressSanitizer, what is not given back is a finding too. */
#include "fault_cases.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef FAULTS_FEW /* under a sanitizer, where a run takes ten times as long */
#define MOST_MEMORY 3
#define MOST_FILE   2
#else
#define MOST_MEMORY 12
#define MOST_FILE   8
#endif

typedef struct context {
    const fault_case *c;
    const char *mode;
    fault_log *log;
    char folder[64];
    fault_files before, after; /* of an undisturbed run */
    fault_end good;
    const char *show_action, *show_at; /* NULL: all of them */
    uint32_t n_runs, n_struck, n_findings;
} context;

static const fault_plan NOTHING = {.action = FAULT_PASS};

/* --- what is right -------------------------------------------------------------------------------------------------
 */

static bool same_file(const fault_file *a, const fault_file *b) {
    return a != NULL && b != NULL && a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static bool is_any_of(const char *path, const char *const *endings) {
    for (; *endings != NULL; endings++) {
        size_t n = strlen(*endings);
        size_t length = strlen(path);
        if (length >= n && strcmp(path + length - n, *endings) == 0) {
            return true;
        }
    }
    return false;
}

/* A file that a run has left: as it was, or complete. A shard of a study holds what was committed; what SQLite keeps
 * beside it is part of it, and what has no final name yet is made anew by whoever goes on. */
static bool is_whole(const context *x, const fault_file *file) {
    static const char *const OF_A_SHARD[] = {"-of-1.db", ".db-wal", ".db-shm", ".db-journal", ".lock", ".db.new", NULL};
    return same_file(file, fault_find(&x->before, file->path)) || same_file(file, fault_find(&x->after, file->path)) ||
           (x->c->is_study && is_any_of(file->path, OF_A_SHARD));
}

static const char *wrong_files(const context *x, bool must_be_complete) {
    static char what[256];
    fault_files now = fault_read_folder(x->folder);
    what[0] = '\0';
    for (size_t i = 0; i < now.n; i++) {
        if (!is_whole(x, &now.files[i])) {
            (void)snprintf(what, sizeof what, "%.100s is half-written (%zu bytes)", now.files[i].path,
                           now.files[i].size);
        }
    }
    for (size_t i = 0; i < x->before.n; i++) {
        if (fault_find(&now, x->before.files[i].path) == NULL) {
            (void)snprintf(what, sizeof what, "%.100s is gone", x->before.files[i].path);
        }
    }
    for (size_t i = 0; i < x->after.n && must_be_complete; i++) {
        if (fault_find(&now, x->after.files[i].path) == NULL) {
            (void)snprintf(what, sizeof what, "%.100s is missing", x->after.files[i].path);
        }
    }
    fault_files_release(&now);
    return what[0] != '\0' ? what : NULL;
}

/* The code of a failed run, by what was done to it. */
static bool is_right_code(const context *x, const fault_plan *plan, const fault_end *end) {
    bool says_memory = strstr(end->err, "allocate") != NULL || strstr(end->err, "memory") != NULL;
    if (strcmp(x->mode, "signals") == 0) {
        return end->code == 128 + plan->signal;
    }
    if (strcmp(x->mode, "memory") == 0) { /* a file may be refused for lack of memory by whoever opens it */
        return (end->code == 70 || end->code == 5) && says_memory;
    }
    return end->code == 5 || (end->code == 70 && says_memory);
}

static const char *judge(const context *x, const fault_plan *plan, const fault_end *end) {
    bool may_break_off = strcmp(x->mode, "signals") == 0 || strcmp(x->mode, "sizes") == 0 ||
                         strcmp(x->mode, "files") == 0; /* in the middle of printing */
    bool same = end->n_out == x->good.n_out && memcmp(end->out, x->good.out, end->n_out) == 0;
    if (end->signal != 0 && (end->signal != plan->signal || end->n_out > 0)) { /* but before main() has begun */
        return end->signal == SIGALRM ? "hangs" : "is ended by a signal";
    }
    if (strstr(end->err, "Sanitizer") != NULL || strstr(end->err, "runtime error") != NULL) {
        return "sanitizer";
    }
    if (end->signal != 0) {
        return wrong_files(x, false);
    }
    if (end->code == 0) {
        return same ? wrong_files(x, true) : "succeeds and prints something else";
    }
    if (!is_right_code(x, plan, end)) {
        return "another exit code, or no reason for it";
    }
    if (strcmp(x->mode, "signals") != 0 && end->err[0] == '\0') {
        return "says nothing";
    }
    if (end->n_out > (may_break_off ? x->good.n_out : 0) || memcmp(end->out, x->good.out, end->n_out) != 0) {
        return "fails and prints something else";
    }
    return wrong_files(x, false);
}

/* --- one run -------------------------------------------------------------------------------------------------------
 */

/* A study that was disturbed goes on to the same results. */
static const char *go_on(const context *x) {
    static const char *const REST[] = {"study run --store st --threads 1 --quiet", "study gather --store st --quiet"};
    bool is_planned = strcmp(x->c->name, "study-plan") != 0;
    bool good = true;
    fault_end end = fault_run(x->folder, x->c->line, &NOTHING, x->log, FAULT_NO_LIMITS);
    good = end.code == 0 && end.signal == 0;
    fault_end_release(&end);
    for (size_t i = 0; good && is_planned && strncmp(x->c->name, "study-s", 7) != 0 && i < 2; i++) {
        end = fault_run(x->folder, REST[i], &NOTHING, x->log, FAULT_NO_LIMITS);
        good = end.code == 0 && end.signal == 0;
        fault_end_release(&end);
    }
    fault_files files = fault_read_folder(x->folder);
    for (size_t i = 0; i < files.n; i++) {
        good = good && strstr(files.files[i].path, ".new") == NULL;
    }
    fault_files_release(&files);
    return good ? NULL : "the study cannot go on, or something is left over";
}

static void strike(context *x, const fault_plan *plan, fault_limits limits) {
    static const char *const ACTIONS[] = {"pass", "once", "always", "short", "break", "signal"};
    fault_write_folder(x->folder, &x->before);
    fault_end end = fault_run(x->folder, x->c->line, plan, x->log, limits);
    bool struck = atomic_load(&x->log->happened) || limits.file_bytes >= 0 || limits.signal_us >= 0;
    const char *wrong = judge(x, plan, &end);
    if (wrong == NULL && x->c->is_study && (end.code != 0 || end.signal != 0)) {
        wrong = go_on(x);
    }
    x->n_runs++;
    x->n_struck += struck ? 1 : 0;
    if (wrong != NULL) {
        x->n_findings++;
        (void)printf("FINDING %s %s: %s at %u, signal %d, %ld bytes, %ld us: %s (code %d, signal %d)\n%s\n", x->mode,
                     x->c->name, ACTIONS[plan->action], plan->at, plan->signal, limits.file_bytes, limits.signal_us,
                     wrong, end.code, end.signal, end.err);
    }
    fault_end_release(&end);
}

/* --- points --------------------------------------------------------------------------------------------------------
 */

typedef struct point {
    uint64_t stack;
    uint32_t at;
} point;

static int by_stack(const void *a, const void *b) {
    const point *p = a;
    const point *q = b;
    int order = (p->stack > q->stack) - (p->stack < q->stack);
    return order != 0 ? order : (p->at > q->at) - (p->at < q->at);
}

static int by_place(const void *a, const void *b) {
    const point *p = a;
    const point *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* First calls of every stack of callers, at most `most` of them, evenly over the run. *out is for free(). */
static uint32_t draw_points(const context *x, fault_kind kind, uint32_t most, point **out) {
    uint32_t n = atomic_load(&x->log->n[kind]);
    uint32_t n_stacks = 0;
    n = n < FAULT_POINTS_MOST ? n : FAULT_POINTS_MOST;
    point *points = calloc((size_t)n + 1, sizeof *points);
    fault_need(points != NULL, "no memory", x->c->name);
    for (uint32_t i = 0; i < n; i++) {
        points[i] = (point){x->log->stack[kind][i], i};
    }
    qsort(points, n, sizeof *points, by_stack);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || points[i].stack != points[i - 1].stack) {
            points[n_stacks++] = points[i];
        }
    }
    qsort(points, n_stacks, sizeof *points, by_place);
    if (n_stacks > most) {
        for (uint32_t i = 0; i < most; i++) {
            points[i] = points[(uint64_t)i * n_stacks / most];
        }
        n_stacks = most;
    }
    *out = points;
    return n_stacks;
}

/* --- modes ---------------------------------------------------------------------------------------------------------
 */

static void strike_points(context *x, fault_kind kind, const fault_action *actions, size_t n_actions, bool all,
                          uint32_t most) {
    point *points = NULL;
    uint32_t n = draw_points(x, kind, all ? UINT32_MAX : most, &points);
    for (uint32_t i = 0; i < n; i++) {
        for (size_t a = 0; a < n_actions; a++) {
            if (all || a == i % n_actions) {
                const fault_plan plan = {.kind = kind, .action = actions[a], .at = points[i].at, .signal = SIGTERM};
                strike(x, &plan, FAULT_NO_LIMITS);
            }
        }
    }
    free(points);
}

static void strike_sizes(context *x, bool all) {
    size_t largest = x->good.n_out;
    uint32_t n = all ? 200 : 6;
    for (size_t i = 0; i < x->after.n; i++) {
        largest = x->after.files[i].size > largest ? x->after.files[i].size : largest;
    }
    for (uint32_t i = 0; i < n; i++) { /* in the end everything fits, but for what is temporary */
        strike(x, &NOTHING, (fault_limits){(long)(largest * i / n), -1});
    }
}

static void strike_times(context *x, bool all) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGPIPE};
    uint64_t state = 88172645463325252U;
    for (uint32_t i = 0; i < (all ? 100U : 3U); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const fault_plan plan = {.action = FAULT_PASS, .signal = SIGNALS[i % 3]};
        strike(x, &plan, (fault_limits){-1, (long)(state % 30000)});
    }
}

/* Puts a file of tests/data into the folder. */
static void put_data(const context *x) {
    char command[512];
    (void)snprintf(command, sizeof command, "cp '%s/%s' '%s'", FAB_TEST_DATA, x->c->data, x->folder);
    fault_need(system(command) == 0, "not copied", x->c->data);
}

static void prepare(context *x) {
    fault_files none = {.n = 0};
    const fault_plan listen = {.action = FAULT_PASS, .keep_stacks = true};
    fault_write_folder(x->folder, &none);
    if (x->c->data != NULL) {
        put_data(x);
    }
    for (const char *const *line = x->c->before; *line != NULL; line++) {
        fault_end end = fault_run(x->folder, *line, &NOTHING, x->log, FAULT_NO_LIMITS);
        errno = 0;
        fault_need(end.code == 0 && end.signal == 0, end.err, *line);
        fault_file printed = {.path = "before.out", .data = end.out, .size = end.n_out};
        fault_files files = fault_read_folder(x->folder);
        if (end.n_out > 0 && line[1] == NULL && !x->c->is_study) {
            files.files[files.n] = printed;
            files.n++;
            fault_write_folder(x->folder, &files);
            files.n--;
        }
        fault_files_release(&files);
        fault_end_release(&end);
    }
    x->before = fault_read_folder(x->folder);
    x->good = fault_run(x->folder, x->c->line, &listen, x->log, FAULT_NO_LIMITS);
    errno = 0;
    fault_need(x->good.code == 0 && x->good.signal == 0, x->good.err, x->c->line);
    x->after = fault_read_folder(x->folder);
}

/* One point again, with who called and what came of it. */
static void show(context *x, const char *action, const char *at) {
    static const char *const NAMES[] = {"once", "always", "short", "break", NULL};
    fault_plan plan = {.action = FAULT_ONCE, .at = (uint32_t)strtoul(at, NULL, 10), .shows = true};
    plan.kind = strcmp(x->mode, "memory") == 0 ? FAULT_MEMORY : FAULT_FILE;
    for (int i = 0; NAMES[i] != NULL; i++) {
        plan.action = strcmp(action, NAMES[i]) == 0 ? (fault_action)(FAULT_ONCE + i) : plan.action;
    }
    fault_write_folder(x->folder, &x->before);
    fault_end end = fault_run(x->folder, x->c->line, &plan, x->log, FAULT_NO_LIMITS);
    (void)printf("code %d, signal %d\n%s\n%s\n", end.code, end.signal, end.err, end.out);
    fault_end_release(&end);
}

static void run_case(context *x, bool all) {
    static const fault_action OF_MEMORY[] = {FAULT_ONCE, FAULT_ALWAYS};
    static const fault_action OF_FILES[] = {FAULT_ONCE, FAULT_SHORT, FAULT_BREAK, FAULT_ALWAYS};
    static const fault_action OF_SIGNALS[] = {FAULT_SIGNAL};
    prepare(x);
    if (x->show_at != NULL) {
        show(x, x->show_action, x->show_at);
    } else if (strcmp(x->mode, "memory") == 0) {
        strike_points(x, FAULT_MEMORY, OF_MEMORY, 2, all, MOST_MEMORY);
    } else if (strcmp(x->mode, "files") == 0) {
        strike_points(x, FAULT_FILE, OF_FILES, 4, all, MOST_FILE);
    } else if (strcmp(x->mode, "sizes") == 0) {
        strike_sizes(x, all);
    } else {
        strike_points(x, FAULT_FILE, OF_SIGNALS, 1, all, 4);
        strike_times(x, all);
    }
    fault_files_release(&x->before);
    fault_files_release(&x->after);
    fault_end_release(&x->good);
}

int main(int argc, char **argv) {
    context x = {.log = fault_log_new()};
    const char *how = getenv("FAULTS");
    bool all = how != NULL && strcmp(how, "all") == 0;
    bool in_memory = access("/dev/shm", W_OK) == 0;
    if (argc < 2) {
        (void)fputs("usage: test_faults memory|files|sizes|signals [CASE [once|always|short|break POINT]]\n", stderr);
        return 2;
    }
    (void)snprintf(x.folder, sizeof x.folder, "%s/faults-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    fault_need(mkdtemp(x.folder) != NULL, "no folder", x.folder);
    x.mode = argv[1];
    x.show_action = argc > 4 ? argv[3] : NULL;
    x.show_at = argc > 4 ? argv[4] : NULL;
    for (x.c = fault_cases; x.c->name != NULL; x.c++) {
        if (argc < 3 || strcmp(argv[2], x.c->name) == 0) {
            uint32_t before = x.n_runs;
            run_case(&x, all);
            (void)printf("%s %s: %u runs\n", x.mode, x.c->name, x.n_runs - before);
        }
    }
    fault_remove_folder(x.folder);
    (void)printf("%u runs, %u of them struck, %u findings\n", x.n_runs, x.n_struck, x.n_findings);
    return x.n_findings == 0 && x.n_struck > 0 ? 0 : 1;
}
