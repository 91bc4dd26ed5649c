#include "cli.h"

static const cli_option OPTION_MAN = {"man", NULL, "the same as a manual page, for 'man -l -' or to be installed",
                                      CLI_FLAG(man)};
static const cli_option OPTION_COMPLETION = {
    "completion", "SHELL", "instead of help, a completion script for bash, zsh or fish", CLI_TEXT(completion)};
static fab_status run_help(const cli_options *options, FILE *out, fab_error *err) {
    if (options->completion != NULL) {
        CLI_REFUSE_IF(options->man || options->operands.n > 0, err, "option --completion stands alone");
        return cli_print_completion(options->completion, out, err);
    }
    if (options->operands.n == 0) {
        if (options->man) {
            cli_print_man(NULL, out);
        } else {
            cli_print_help(out);
        }
        return FAB_OK;
    }
    const char *name = options->operands.items[0];
    const cli_command *command = cli_find_command(name);
    FAB_RETURN_IF(command == NULL, cli_unknown_command(name, err));
    if (options->operands.n > 1) {
        FAB_PASS(cli_find_subcommand(command, options->operands.items[1], &command, err));
    }
    if (options->man) {
        cli_print_man(command, out);
    } else {
        cli_print_command_help(command, out);
    }
    return FAB_OK;
}

static fab_status run_version(FAB_UNUSED const cli_options *options, FILE *out, FAB_UNUSED fab_error *err) {
    (void)fprintf(out, "fabriscope %s\n", FAB_VERSION);
    return FAB_OK;
}

const cli_command cli_command_help = {
    .name = "help",
    CLI_OPERANDS("[COMMAND [SUBCOMMAND]]", 0, 2),
    .summary = "what a command does, its options and examples",
    .details = "",
    CLI_EXAMPLES("fabriscope help run", "fabriscope help route --man", "fabriscope help --completion bash"),
    CLI_OPTIONS(&OPTION_MAN, &OPTION_COMPLETION),
    .run = run_help,
    .hides_usage = true,
};

const cli_command cli_command_version = {
    .name = "version",
    CLI_OPERANDS("", 0, 0),
    .summary = "the program's version",
    .details = "",
    CLI_EXAMPLES(NULL),
    CLI_OPTIONS(NULL),
    .run = run_version,
    .hides_usage = true,
};
