#include "cli.h"

#include "fab/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPOOL_ATTEMPTS 10

const cli_command *cli_find_command(const char *name) {
    FAB_FIRST(i, SIZE_MAX, CLI_COMMANDS[i] == NULL || strcmp(CLI_COMMANDS[i]->name, name) == 0);
    return CLI_COMMANDS[i];
}

const char *cli_subcommand_name(const cli_command *command, const cli_command *subcommand) {
    return subcommand->name + strlen(command->name) + 1;
}

fab_status cli_find_subcommand(const cli_command *command, const char *name, const cli_command **out, fab_error *err) {
    CLI_REFUSE_IF(name[0] == '-', err,
                  "command %s: '%.60s' stands where the subcommand is due; options stand behind it", command->name,
                  name);
    fab_choices near = fab_choices_of(name);
    for (const cli_command *const *c = command->subcommands; c != NULL && *c != NULL; c++) {
        const char *candidate = cli_subcommand_name(command, *c);
        if (strcmp(candidate, name) == 0) {
            *out = *c;
            return FAB_OK;
        }
        fab_choices_offer(&near, candidate);
    }
    return cli_misused(err, "command %s has no subcommand '%.60s'%s", command->name, name, fab_choices_hint(&near));
}

static int exit_code(fab_status status) {
    switch (status) {
    case FAB_OK: return 0;
    case FAB_ETHRESHOLD: return 1;
    case FAB_EUSAGE: return 2;
    case FAB_EINPUT:
    case FAB_EUNSUPPORTED:
    case FAB_ELIMIT:
    case FAB_EINCOMPLETE: return 3;
    case FAB_EUNREACHABLE:
    case FAB_ENOSOLUTION: return 4;
    case FAB_EIO: return 5;
    case FAB_ETIME: return CLI_EXIT_TIME;
    case FAB_ENOMEM:
    case FAB_EINTERNAL: break;
    }
    return 70;
}

/* Texts from a design may hold control characters: they must not reach the terminal. */
static void print_clean(const char *text) {
    while (*text != '\0') {
        uint32_t code = 0;
        size_t n = fab_utf8_decode(text, &code);
        bool shown = !fab_utf8_is_hidden(code) && code != FAB_UTF8_REPLACEMENT;
        (void)fwrite(shown ? text : "?", 1, shown ? n : 1, stderr);
        text += n;
    }
}

static void print_error(const cli_command *command, fab_status status, const fab_error *err) {
    if (err->code != FAB_OK && err->text[0] == '\0') {
        return; /* the reader of a pipe went away: nothing to tell */
    }
    (void)fputs("fabriscope: ", stderr);
    if (err->where[0] != '\0') {
        print_clean(err->where);
        (void)fputs(": ", stderr);
    }
    print_clean(err->code != FAB_OK ? err->text : fab_status_name(status));
    (void)fputc('\n', stderr);
    if (status == FAB_EUSAGE) {
        (void)fprintf(stderr, "See 'fabriscope help%s%s'.\n", command != NULL ? " " : "",
                      command != NULL ? command->name : "");
    }
}

static fab_status write_stdout(const char *bytes, size_t n, fab_error *err) {
    errno = 0;
    if (fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(errno == EPIPE, err, FAB_EIO, NULL, "%s", "");
    return fab_fail(err, FAB_EIO, NULL, "cannot write to standard output: %s", strerror(errno));
}

/* Prints a finished file. */
static fab_status copy_to_stdout(FILE *file, fab_error *err) {
    char block[16384];
    FAB_REFUSE_IF(fflush(file) != 0 || ferror(file) || fseek(file, 0, SEEK_SET) != 0, err, FAB_EIO, NULL,
                  "cannot keep the output in a temporary file: %s", strerror(errno));
    for (size_t n = 1; n > 0;) {
        n = fread(block, 1, sizeof block, file);
        FAB_PASS(n > 0 ? write_stdout(block, n, err) : FAB_OK);
    }
    FAB_REFUSE_IF(ferror(file), err, FAB_EIO, NULL, "cannot read the output back: %s", strerror(errno));
    return FAB_OK;
}

/* A file without a name: in the folder of TMPDIR, where that is not to be had in that of the system, or in shared
 * memory where the disk takes none. No stream of the C library in memory: one that cannot grow loses bytes without a
 * word. */
static FILE *open_spool(void) {
    const char *folder = getenv("TMPDIR");
    FILE *spool = NULL;
    if (folder != NULL && folder[0] != '\0') {
        fab_str path = FAB_STR_INIT;
        fab_str_printf(&path, "%s/fabriscope-XXXXXX", folder);
        int fd = path.failed ? -1 : mkstemp(path.data);
        if (fd >= 0) {
            (void)unlink(path.data);
            spool = fdopen(fd, "w+b");
        }
        if (fd >= 0 && spool == NULL) {
            (void)close(fd);
        }
        fab_str_release(&path);
    }
    spool = spool != NULL ? spool : tmpfile();
    for (int attempt = 0; spool == NULL && attempt < SPOOL_ATTEMPTS; attempt++) {
        char name[64];
        FAB_FORMAT(name, "/fabriscope-%ld-%d", (long)getpid(), attempt);
        int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0) {
            (void)shm_unlink(name);
            spool = fdopen(fd, "w+b");
        }
        if (fd >= 0 && spool == NULL) {
            (void)close(fd);
        }
        if (fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    return spool;
}

/* Runs a command into a temporary file, and prints what it wrote once it has succeeded. */
static fab_status run_command(const cli_options *options, fab_error *err) {
    fab_status ran = FAB_OK;
    FAB_OWNS(fab_file_close) FILE *out = open_spool();
    FAB_REFUSE_IF(out == NULL, err, errno == ENOMEM ? FAB_ENOMEM : FAB_EIO, NULL,
                  "cannot keep the output in a temporary file, nor in shared memory: %s", strerror(errno));
    if (options->help) {
        cli_print_command_help(options->command, out);
    } else {
        FAB_PASS(cli_check_terminal(options, err));
        FAB_PASS(cli_check_outputs(options, err));
        ran = options->command->run(options, out, err);
        FAB_PASS(ran == FAB_EINCOMPLETE || ran == FAB_ETHRESHOLD || ran == FAB_ETIME ? FAB_OK : ran);
    }
    cli_limits_end_time();
    FAB_PASS(copy_to_stdout(out, err));
    return ran;
}

fab_status cli_unknown_command(const char *name, fab_error *err) {
    CLI_REFUSE_IF(name[0] == '-', err, "'%.60s' stands where the command is due; options stand behind it", name);
    fab_choices near = fab_choices_of(name);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        fab_choices_offer(&near, (*c)->name);
    }
    return cli_misused(err, "unknown command '%.60s'%s", name, fab_choices_hint(&near));
}

/* A stream that is closed would be reopened by the next file: put something in its place that fails or stays empty. */
static void fill_standard_streams(void) {
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
            (void)open("/dev/null", stream == 1 ? O_RDONLY : O_RDWR);
        }
    }
}

static void on_interrupt(int number) {
    fab_save_abandon();
    _exit(128 + number);
}

static void set_signals(void) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&action.sa_mask);
    cli_set_interrupts(on_interrupt, 0);
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL); /* a file that may not grow is an error of writing */
}

int main(int argc, char **argv) {
    double started_s = cli_now_s();
    fab_error err = {0};
    cli_options options = {0};
    fab_status status = FAB_OK;
    const cli_command *command = NULL;
    fill_standard_streams();
    set_signals();
    if (argc < 2) {
        cli_print_help(stderr);
        return exit_code(FAB_EUSAGE);
    }
    const char *name = argv[1];
    name = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ? "help" : name;
    name = strcmp(name, "--version") == 0 ? "version" : name;
    command = cli_find_command(name);
    if (command == NULL) {
        status = cli_unknown_command(name, &err);
        goto done;
    }
    int n_words = 2;
    if (command->subcommands != NULL) {
        if (argc < 3) {
            cli_print_command_help(command, stderr);
            return exit_code(FAB_EUSAGE);
        }
        bool asks_help = strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0;
        bool is_design = command->run != NULL && argv[2][strcspn(argv[2], ":./")] != '\0';
        if (!asks_help && !is_design) {
            FAB_TRY(cli_find_subcommand(command, argv[2], &command, &err));
            n_words = 3;
        }
    }
    FAB_TRY(cli_options_parse(command, argc - n_words, argv + n_words, &options, &err));
    FAB_TRY(cli_limits_begin(&options, &err));
    FAB_TRY(run_command(&options, &err));
    if (!command->hides_usage && !options.quiet && !options.help) {
        cli_print_usage_line(cli_now_s() - started_s, options.n_threads);
    }
done:
    if (status != FAB_OK) {
        print_error(command, status, &err);
    }
    if (status == FAB_ENOMEM && options.max_memory > 0) {
        (void)fprintf(stderr, "The run may take %s%s: --max-memory.\n",
                      FAB_SAY((double)options.max_memory, FAB_UNIT_BYTES),
                      options.max_memory_given ? "" : ", what the machine had free");
        status = options.max_memory_given ? FAB_ELIMIT : status;
    }
    cli_options_release(&options);
    return exit_code(status);
}
