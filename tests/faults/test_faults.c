/* Faults in small runs of every command. Usage: test_faults memory|files|sizes|signals|places [CASE [ACTION POINT]]
 *
 *     memory   an allocation fails, in the program or in a library, alone or with all that follow
 *     files    a call that opens, reads, writes, closes, renames or makes something fails, is cut short or interrupted
 *     sizes    files, and what is printed, cannot grow beyond so many bytes (a disk that is full)
 *     signals  SIGINT, SIGTERM, SIGHUP or SIGPIPE arrives at a call, or after a time
 *     places   stdout is full, closed, a pipe that nobody reads (any more); stderr is; the folder takes nothing
 *
 * Each run must end by itself with a code and a reason that fit, or give what an undisturbed run gives; print nothing
 * else; and leave every file as it was or complete. Points are the first calls of every stack of callers; a draw of
 * them unless FAULTS=all, or as many as FAULTS says, or those with a call within a call that no earlier one had where
 * FAULTS=calls. All runs of a command whose names begin with CASE, where that ends in '-'. Where neither is said, one
 * run in SHARE, others for every FABRISCOPE_TEST_SEED, and all where FABRISCOPE_TEST_SHARE=1. Built with
 * AddressSanitizer, what is not given back is a finding too. */
#include "fault_cases.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef FAULTS_FEW /* under a sanitizer, where a run takes ten times as long */
#define MOST_MEMORY 2
#define MOST_FILE   2
#define SHARE       8
#else
#define SHARE       4
#define MOST_MEMORY 5
#define MOST_FILE   4
#endif

#define MOST_SIGNALS 60 /* at allocations: as good as at times */

typedef struct context {
    const fault_case *c;
    const char *mode;
    fault_log *log;
    char folder[64];
    fault_files before, after; /* of an undisturbed run */
    fault_end good;
    uint32_t made;                     /* the file call behind that which made the last new file; 0: none */
    uint32_t most;                     /* points of every run; 0: few */
    bool by_calls;                     /* memory and files: every call within a call fails once */
    const char *show_action, *show_at; /* NULL: all of them */
    uint32_t n_runs, n_struck, n_findings;
} context;

static const fault_plan NOTHING = {.action = FAULT_PASS};

/* --- what is right ------------------------------------------------------------------------------------------------ */

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
 * beside it is part of it. What a signal has left without its final name is made anew by whoever goes on. */
static bool is_whole(const context *x, const fault_file *file) {
    static const char *const OF_A_SHARD[] = {"-of-1.db",    "-of-2.db", ".db-wal", ".db-shm",
                                             ".db-journal", ".lock",    NULL};
    static const char *const NEW[] = {".new", NULL};
    bool by_signal = strcmp(x->mode, "signals") == 0;
    return same_file(file, fault_find(&x->before, file->path)) || same_file(file, fault_find(&x->after, file->path)) ||
           (x->c->is_study && is_any_of(file->path, OF_A_SHARD)) ||
           (x->c->is_study && by_signal && is_any_of(file->path, NEW));
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
    if (end->code == 3 && strstr(x->c->line, "--max-memory") != NULL) { /* the reason is taken for the limit */
        return says_memory && strstr(end->err, "The run may take") != NULL;
    }
    if (strcmp(x->mode, "memory") == 0) { /* a file may be refused for lack of memory by whoever opens it */
        return (end->code == 70 || end->code == 5) && says_memory;
    }
    return end->code == 5 || (end->code == 70 && says_memory);
}

/* The sanitizer's own threads begin with allocations that it cannot do without. */
static bool is_of_sanitizer(const fault_end *end) {
    return strstr(end->err, "AddressSanitizer: CHECK failed") != NULL && strstr(end->err, "pthread_getattr_np") != NULL;
}

static const char *judge(const context *x, const fault_plan *plan, const fault_end *end) {
    bool may_break_off = strcmp(x->mode, "signals") == 0 || strcmp(x->mode, "sizes") == 0 ||
                         strcmp(x->mode, "files") == 0; /* in the middle of printing */
    bool same = end->n_out == x->good.n_out && memcmp(end->out, x->good.out, end->n_out) == 0;
    if (end->signal != 0 && (end->signal != plan->signal || end->n_out > 0)) { /* but before main() has begun */
        return end->signal == SIGALRM ? "hangs" : "is ended by a signal";
    }
    if (is_of_sanitizer(end)) {
        return wrong_files(x, false);
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

/* No file has come, gone or changed. */
static const char *changed_files(const context *x) {
    fault_files now = fault_read_folder(x->folder);
    bool same = now.n == x->before.n;
    for (size_t i = 0; same && i < now.n; i++) {
        same = same_file(&now.files[i], fault_find(&x->before, now.files[i].path));
    }
    fault_files_release(&now);
    return same ? NULL : "a file was written, changed or removed";
}

static bool writes_files(const context *x) {
    bool same = x->after.n == x->before.n;
    for (size_t i = 0; same && i < x->after.n; i++) {
        same = same_file(&x->after.files[i], fault_find(&x->before, x->after.files[i].path));
    }
    return !same;
}

/* Standard output takes nothing, or not all: told unless it is a pipe, whose reader knows. */
static const char *judge_out(const context *x, fault_place place, const fault_end *end) {
    bool is_pipe = place == FAULT_OUT_UNREAD || place == FAULT_OUT_LEFT;
    bool tells = strstr(end->err, "standard output") != NULL;
    bool may_fit = place == FAULT_OUT_LEFT && x->good.n_out <= FAULT_PIPE_BYTES;
    if (end->code == 0 && (may_fit || x->good.n_out == 0)) {
        return wrong_files(x, true);
    }
    if (end->code != 5) {
        return "another exit code than that of output that cannot be written";
    }
    if (is_pipe ? strstr(end->err, "cannot") != NULL : !tells) {
        return is_pipe ? "tells what its reader knows" : "does not name standard output";
    }
    return wrong_files(x, true); /* files come first */
}

static const char *judge_place(const context *x, fault_place place, const fault_end *end) {
    if (end->signal != 0) {
        return end->signal == SIGALRM ? "hangs" : "is ended by a signal";
    }
    if (strstr(end->err, "Sanitizer") != NULL || strstr(end->err, "runtime error") != NULL) {
        return "sanitizer";
    }
    if (place <= FAULT_OUT_LEFT) {
        return judge_out(x, place, end);
    }
    bool same = end->n_out == x->good.n_out && memcmp(end->out, x->good.out, end->n_out) == 0;
    bool may_lock = x->c->is_study && end->code == 5 && end->err[0] != '\0'; /* which makes a file, if there is none */
    if (place != FAULT_READ_ONLY || (!writes_files(x) && !may_lock)) {
        return end->code != 0 ? "fails" : !same ? "prints something else" : wrong_files(x, true);
    }
    if (end->code != 5 || end->err[0] == '\0' || end->n_out > 0) {
        return "another exit code, no reason, or something is printed";
    }
    return changed_files(x);
}

/* --- one run ------------------------------------------------------------------------------------------------------ */

/* A study that was disturbed goes on to the same results. */
static const char *go_on(const context *x) {
    static const char *const REST[] = {"study run --store st --threads 1 --quiet", "study gather --store st --quiet"};
    bool is_planned = strncmp(x->c->name, "study-plan", 10) != 0;
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
    if (limits.place == FAULT_READ_ONLY) {
        fault_forbid(x->folder, true);
    }
    fault_end end = fault_run(x->folder, x->c->line, plan, x->log, limits);
    bool struck = atomic_load(&x->log->happened) || limits.file_bytes >= 0 || limits.signal_us >= 0 ||
                  limits.place != FAULT_NO_PLACE;
    if (limits.place == FAULT_READ_ONLY) {
        fault_forbid(x->folder, false);
    }
    const char *wrong = limits.place == FAULT_NO_PLACE ? judge(x, plan, &end) : judge_place(x, limits.place, &end);
    if (wrong == NULL && x->c->is_study && (end.code != 0 || end.signal != 0)) {
        wrong = go_on(x);
    }
    x->n_runs++;
    x->n_struck += struck ? 1 : 0;
    if (wrong != NULL) {
        x->n_findings++;
        (void)printf("FINDING %s %s: %s at %u, signal %d, %ld bytes%s, %ld us, place %d: %s (code %d, signal %d)\n%s\n",
                     x->mode, x->c->name, ACTIONS[plan->action], plan->at, plan->signal, limits.file_bytes,
                     plan->has_capacity ? " for all but the spool" : "", limits.signal_us, (int)limits.place, wrong,
                     end.code, end.signal, end.err);
    }
    fault_end_release(&end);
}

/* --- points ------------------------------------------------------------------------------------------------------- */

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
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!x->by_calls || x->log->is_new[kind][i]) {
            points[n_kept++] = (point){x->log->stack[kind][i], i};
        }
    }
    qsort(points, n_kept, sizeof *points, by_stack);
    for (uint32_t i = 0; i < n_kept; i++) {
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

/* --- modes -------------------------------------------------------------------------------------------------------- */

/* A run that once took one failed allocation of many for a mistake in its input. */
static bool has_all_points(const context *x) {
    return strcmp(x->c->name, "audit-graphml") == 0;
}

static void strike_points(context *x, fault_kind kind, const fault_action *actions, size_t n_actions, uint32_t most) {
    static const int SIGNALS[] = {SIGTERM, SIGINT, SIGHUP};
    point *points = NULL;
    bool thorough = kind == FAULT_MEMORY && actions[0] == FAULT_ONCE && SHARE < 8 && has_all_points(x);
    bool few_are_enough = kind == FAULT_MEMORY && actions[0] == FAULT_SIGNAL && x->most > MOST_SIGNALS;
    uint32_t n = draw_points(x, kind,
                             few_are_enough            ? MOST_SIGNALS
                             : thorough || x->by_calls ? UINT32_MAX
                             : x->most > 0             ? x->most
                                                       : most,
                             &points);
    if (kind == FAULT_FILE && x->made > 0 && n > 0 && x->most == 0 && !x->by_calls) {
        points[n / 2].at = x->made; /* the first call behind that which made a temporary file is always among them */
    }
    for (uint32_t i = 0; i < n; i++) {
        for (size_t a = 0; a < n_actions; a++) {
            if (x->most > 0 || (thorough || x->by_calls ? a == 0 : a == i % n_actions)) {
                const fault_plan plan = {
                    .kind = kind, .action = actions[a], .at = points[i].at, .signal = SIGNALS[i % 3]};
                strike(x, &plan, FAULT_NO_LIMITS);
            }
        }
    }
    free(points);
}

/* In the end everything fits, but for what is temporary. Where the spool always has room, it is the named files that
 * fail, and then what is printed. */
static void strike_sizes(context *x) {
    size_t largest = x->good.n_out;
    uint32_t n = x->most > 0 ? 200 : 2;
    for (size_t i = 0; i < x->after.n; i++) {
        largest = x->after.files[i].size > largest ? x->after.files[i].size : largest;
    }
    n = n < largest + 1 ? n : (uint32_t)largest + 1;
    for (uint32_t i = 0; i < 2 * n; i++) {
        const fault_plan plan = {.action = FAULT_PASS, .has_capacity = i % 2 != 0};
        strike(x, &plan, (fault_limits){(long)(largest * (i / 2) / n), -1, FAULT_NO_PLACE});
    }
}

static void strike_times(context *x) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGPIPE, SIGHUP};
    uint64_t state = 88172645463325252U;
    for (uint32_t i = 0; i < (x->most > 0 ? 100U : 2U); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const fault_plan plan = {.action = FAULT_PASS, .signal = SIGNALS[i % 4]};
        strike(x, &plan, (fault_limits){-1, (long)(state % 30000), FAULT_NO_PLACE});
    }
}

static void strike_places(context *x) {
    for (fault_place place = FAULT_NO_PLACE + 1; place < FAULT_N_PLACES; place++) {
        if (x->most > 0 || (place + (x->c - fault_cases)) % 3 == 0) {
            strike(x, &NOTHING, (fault_limits){-1, -1, place});
        }
    }
}

/* Puts files of tests/data into the folder. */
static void put_data(const context *x) {
    char command[512];
    (void)snprintf(command, sizeof command, "cd '%s' && cp %s '%s'", FAB_TEST_DATA, x->c->data, x->folder);
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
    x->made = atomic_load(&x->log->made);
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

static void run_case(context *x) {
    static const fault_action OF_MEMORY[] = {FAULT_ONCE, FAULT_ALWAYS};
    static const fault_action OF_FILES[] = {FAULT_ONCE, FAULT_SHORT, FAULT_BREAK, FAULT_ALWAYS};
    static const fault_action OF_SIGNALS[] = {FAULT_SIGNAL};
    prepare(x);
    if (x->show_at != NULL) {
        show(x, x->show_action, x->show_at);
    } else if (strcmp(x->mode, "memory") == 0) {
        strike_points(x, FAULT_MEMORY, OF_MEMORY, 2, MOST_MEMORY);
    } else if (strcmp(x->mode, "files") == 0) {
        strike_points(x, FAULT_FILE, OF_FILES, 4, MOST_FILE);
    } else if (strcmp(x->mode, "sizes") == 0) {
        strike_sizes(x);
    } else if (strcmp(x->mode, "places") == 0) {
        strike_places(x);
    } else {
        strike_points(x, FAULT_FILE, OF_SIGNALS, 1, 2);
        strike_points(x, FAULT_MEMORY, OF_SIGNALS, 1, 1);
        strike_times(x);
    }
    fault_files_release(&x->before);
    fault_files_release(&x->after);
    fault_end_release(&x->good);
}

/* FAULTS: "all", or a number of points of every run; "calls" is none. 0: few. */
static uint32_t read_most(const char *text) {
    uint32_t most = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
    return text != NULL && strcmp(text, "all") == 0 ? UINT32_MAX : most;
}

static void check_cover(context *x) {
    fault_end end = fault_run("/", "list --json", &NOTHING, x->log, FAULT_NO_LIMITS);
    x->n_runs++;
    x->n_struck++;
    x->n_findings = fault_count_missing(end.out);
    fault_end_release(&end);
}

/* By a hash (FNV-1a) of the seed, the mode and the name. */
static bool is_drawn(const context *x) {
    const char *const seed = getenv("FABRISCOPE_TEST_SEED");
    const char *const share = getenv("FABRISCOPE_TEST_SHARE");
    const char *const words[] = {seed != NULL ? seed : "", x->mode, x->c->name};
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < 3; i++) {
        for (const char *c = words[i]; *c != '\0'; c++) {
            hash = (hash ^ (unsigned char)*c) * 1099511628211U;
        }
    }
    return (share != NULL && strcmp(share, "1") == 0) || (hash >> 32) % SHARE == 0;
}

static bool is_asked_for(int argc, char **argv, const context *x) {
    const char *name = x->c->name;
    size_t n = argc > 2 ? strlen(argv[2]) : 0;
    if (n == 0 && x->most == 0 && !x->by_calls) {
        return is_drawn(x);
    }
    return n == 0 || strcmp(argv[2], name) == 0 || (argv[2][n - 1] == '-' && strncmp(argv[2], name, n) == 0);
}

int main(int argc, char **argv) {
    context x = {.log = fault_log_new()};
    bool in_memory = access("/dev/shm", W_OK) == 0;
    if (argc < 2) {
        (void)fputs(
            "usage: test_faults memory|files|sizes|signals|places|cover [CASE [once|always|short|break POINT]]\n",
            stderr);
        return 2;
    }
    (void)snprintf(x.folder, sizeof x.folder, "%s/faults-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    fault_need(mkdtemp(x.folder) != NULL, "no folder", x.folder);
    x.mode = argv[1];
    x.most = read_most(getenv("FAULTS"));
    x.by_calls = getenv("FAULTS") != NULL && strcmp(getenv("FAULTS"), "calls") == 0 &&
                 (strcmp(x.mode, "memory") == 0 || strcmp(x.mode, "files") == 0);
    x.show_action = argc > 4 ? argv[3] : NULL;
    x.show_at = argc > 4 ? argv[4] : NULL;
    if (strcmp(x.mode, "cover") == 0) {
        check_cover(&x);
    }
    for (x.c = fault_cases; strcmp(x.mode, "cover") != 0 && x.c->name != NULL; x.c++) {
        if (is_asked_for(argc, argv, &x)) {
            uint32_t before = x.n_runs;
            run_case(&x);
            (void)printf("%s %s: %u runs\n", x.mode, x.c->name, x.n_runs - before);
            (void)fflush(stdout);
        }
    }
    fault_remove_folder(x.folder);
    (void)printf("%u runs, %u of them struck, %u findings\n", x.n_runs, x.n_struck, x.n_findings);
    return x.n_findings == 0 && x.n_struck > 0 ? 0 : 1;
}
