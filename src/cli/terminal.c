#include "cli.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL ? value : "";
}

static bool locale_is_utf8(void) {
    const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < FAB_N_OF(names); i++) {
        const char *value = variable(names[i]);
        if (value[0] != '\0') { /* the first that is set decides */
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "utf-8") != NULL;
        }
    }
    return false;
}

/* WebAssembly calls whatever takes its lines a terminal: a page, and under node files and pipes as well. */
static bool is_terminal(int fd) {
#ifdef __EMSCRIPTEN__
    (void)fd;
    return false;
#else
    return isatty(fd) != 0;
#endif
}

/* Into a file or pipe the bytes are always the same: 80 columns, UTF-8, no colours unless asked for. */
fab_report_style cli_style(const cli_options *options) {
    fab_report_style style = {.color = options->color == CLI_ALWAYS,
                              .ascii = false,
                              .conventions = options->conventions,
                              .width = 80,
                              .view = options->view,
                              .picture = options->picture,
                              .picture_phase = options->picture_phase,
                              .table = options->table};
    if (!is_terminal(STDOUT_FILENO)) {
        return style;
    }
    if (options->color == CLI_AUTO) {
        style.color = variable("NO_COLOR")[0] == '\0' && strcmp(variable("TERM"), "dumb") != 0;
    }
    style.ascii = !locale_is_utf8();
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 80) {
        style.width = size.ws_col < 160 ? size.ws_col : 160;
    }
    return style;
}

fab_status cli_check_terminal(const cli_options *options, fab_error *err) {
    const fab_report_format *format = options->format != NULL ? fab_report_format_find(options->format) : NULL;
    format = options->command == &cli_command_explore ? &fab_report_explore : format;
    if (format == NULL || !format->is_for_files || !is_terminal(STDOUT_FILENO)) {
        return FAB_OK;
    }
    return cli_misused(err, "a terminal cannot show %s; write it to a file: > fabric%s", format->name, format->suffix);
}

bool cli_has_terminal(void) {
    return is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
}

double cli_now_s(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define LINE_S      1.5 /* after so long a first line of progress in a pipe or file, then after twice as long each */
#define MOST_LINE_S 60.0
#define LEAST_KNOWN 0.01 /* part that is done, of which an end can be told; a first digit of it: */
#define LEAST_GUESS 0.001

static double one_digit(double value) {
    const double step = value > 0 ? pow(10, floor(log10(value))) : 1;
    return round(value / step) * step;
}

void cli_progress_start(cli_progress *progress, const cli_options *options) {
    progress->is_shown = !options->quiet;
    progress->started_s = cli_now_s();
    progress->shown_s = progress->started_s; /* nothing for what takes less than the first interval */
    progress->in_terminal = is_terminal(STDERR_FILENO);
    progress->every_s = progress->in_terminal || CLI_HOLDS ? 0.2 : LINE_S; /* a page shows it where it was */
}

void cli_progress_step(void *context, double done, size_t total) {
    cli_progress *progress = context;
    double now_s = cli_now_s();
    if (total != progress->total) { /* another part of the work, at a rate of its own */
        progress->started_s = progress->total > 0 ? now_s : progress->started_s;
        progress->began = progress->total > 0 ? done : 0;
        progress->total = total;
    }
    const double ran_s = now_s - progress->started_s;
    if (!progress->is_shown || now_s - progress->shown_s < progress->every_s || total == 0) {
        return;
    }
    progress->shown_s = now_s;
    const double part = done / (double)total;
    const double new = done - progress->began; /* since this part began */
    const double per_s = ran_s > 0 ? new / ran_s : 0;
    const double left_s = per_s > 0 ? ((double)total - done) / per_s : INFINITY;
    const char *hint = progress->hint != NULL ? progress->hint : "";
    const char *begin = progress->in_terminal ? "\r" : "fabriscope: ";
    const char *end = progress->in_terminal ? "\033[K" : "\n";
    char tail[64]; /* how fast it goes says little at first */
    (void)(part < LEAST_GUESS || !(per_s > 0) ? snprintf(tail, sizeof tail, "%.0f s so far", ran_s)
           : part < LEAST_KNOWN
               ? snprintf(tail, sizeof tail, "%.0f s so far, roughly %.0f s left", ran_s, one_digit(left_s))
               : snprintf(tail, sizeof tail, "%.3g per second, %.0f s left", per_s, left_s));
    (void)fprintf(stderr, "%s%.0f of %zu%s%s (%.*f %%), %s%s%s", begin, floor(done), total,
                  progress->unit != NULL ? " " : "", progress->unit != NULL ? progress->unit : "",
                  part < LEAST_KNOWN ? 1 : 0, 100 * part, tail, hint, end);
    (void)fflush(stderr);
    if (!progress->in_terminal && !CLI_HOLDS) {
        progress->every_s = fmin(2 * progress->every_s, MOST_LINE_S);
    }
}

fab_status cli_progress_end(const cli_progress *progress, fab_status status) {
    if (progress->is_shown && progress->in_terminal) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
    return status;
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void cli_print_usage_line(double wall_s, uint64_t n_threads) {
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)fprintf(stderr, "fabriscope: %.2f s wall, %.2f s processor, %.1f MiB peak memory, %llu thread%s\n", wall_s,
                  seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024.0,
                  (unsigned long long)n_threads, n_threads == 1 ? "" : "s");
}

/* What ends a run from outside: Ctrl-C, kill, and the end of the terminal or of the connection. */
static const int INTERRUPTS[] = {SIGINT, SIGTERM, SIGHUP};
#define N_INTERRUPTS (FAB_N_OF(INTERRUPTS))

void cli_set_interrupts(void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_INTERRUPTS; i++) {
        struct sigaction was = {.sa_flags = 0};
        bool is_ignored = sigaction(INTERRUPTS[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN;
        if (INTERRUPTS[i] != SIGHUP || !is_ignored) { /* nohup */
            (void)sigaction(INTERRUPTS[i], &action, NULL);
        }
    }
}

static volatile sig_atomic_t interrupt;
static volatile sig_atomic_t has_modes;
static struct termios modes;

void cli_keep_modes(bool keeps) {
    has_modes = keeps && tcgetattr(STDIN_FILENO, &modes) == 0;
}

/* As it was before the whole of it was drawn on: by what a handler may call. */
static void restore_terminal(void) {
    static const char LEAVE[] = "\033[?1049l\033[?25h\033[0m\r\n";
    if (has_modes) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &modes);
        if (write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1) < 0) {
            return; /* nobody is left to tell */
        }
    }
}

static void note_interrupt(int number) {
    if (interrupt != 0) {
        fab_save_abandon();
        restore_terminal();
        _exit(number == SIGALRM ? CLI_EXIT_TIME : 128 + number);
    }
    interrupt = number;
}

void cli_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    cli_set_interrupts(note_interrupt, SA_RESTART);
}

int cli_interrupted(void) {
    return interrupt;
}

void cli_end_interrupted(void) {
    _exit(interrupt == SIGALRM ? CLI_EXIT_TIME : 128 + interrupt);
}
