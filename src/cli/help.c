#include "cli.h"

#include <ctype.h>

#define WIDTH 80

static void help_print_row(const char *head, const char *summary, size_t indent, FILE *out) {
    int n = fprintf(out, "  %s", head);
    size_t at = n > 0 ? (size_t)n : 0;
    if (at + 2 > indent) {
        (void)fputc('\n', out);
        at = 0;
    }
    (void)fprintf(out, "%*s", (int)(indent - at), "");
    cli_wrap(summary, indent, indent, WIDTH, out);
}

static void print_examples(const char *const *examples, FILE *out) {
    if (examples[0] != NULL) {
        (void)fputs("\nExamples:\n", out);
    }
    for (const char *const *e = examples; *e != NULL; e++) {
        (void)fputs("  ", out);
        cli_wrap_shell(*e, 2, 6, WIDTH, out);
    }
}

void cli_print_help(FILE *out) {
    static const char *const EXAMPLES[] = {
        "fabriscope run preset:llama3-24k-roce",
        "fabriscope compare rail-spine:gpus=512 rail-only:gpus=512 clos:gpus=512,taper=2 --job model=llama3-70b",
        "fabriscope plan clos:gpus=256,radix=32 --job model=llama3-8b",
        "fabriscope diff preset:llama3-talk-racks --engine pinned --before servers=0,1,2,3 --after servers=0,1,2,4",
        NULL};
    (void)fputs("Usage: fabriscope COMMAND [OPTIONS] [OPERANDS]\n\n"
                "Designs and analyses the network fabric of an AI training cluster.\n\nCommands:\n",
                out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        char head[64];
        FAB_FORMAT(head, "%s %s", (*c)->name, (*c)->operands);
        help_print_row(head, (*c)->summary, 22, out);
    }
    (void)fputs("\nDESIGN is an XML file, preset:NAME (see 'fabriscope list presets') or a one-line\n"
                "form FAMILY:key=value,... (see 'fabriscope list families').\n",
                out);
    print_examples(EXAMPLES, out);
    (void)fputs("\n'fabriscope help COMMAND' explains a command and its options.\n", out);
}

static void print_options(const cli_command *command, FILE *out) {
    const cli_option *o = NULL;
    for (size_t i = 0; (o = cli_option_at(command, i)) != NULL; i++) {
        char head[64];
        bool has_argument = o->argument != NULL;
        FAB_FORMAT(head, "--%s%s%s", o->name, has_argument ? " " : "", has_argument ? o->argument : "");
        help_print_row(head, o->summary, 24, out);
    }
}

void cli_print_command_help(const cli_command *command, FILE *out) {
    bool has_operands = command->operands[0] != '\0';
    const char *operands[2] = {has_operands ? " " : "", command->operands};
    if (command->subcommands != NULL) {
        (void)fprintf(out, "Usage: fabriscope %s %s [OPTIONS]\n\n", command->name, command->operands);
    } else {
        (void)fprintf(out, "Usage: fabriscope %s [OPTIONS]%s%s\n\n", command->name, operands[0], operands[1]);
    }
    (void)fputc(toupper((unsigned char)command->summary[0]), out);
    cli_wrap(command->summary + 1, 1, 0, WIDTH, out);
    if (command->details[0] != '\0') {
        (void)fputc('\n', out);
        cli_wrap(command->details, 0, 0, WIDTH, out);
    }
    if (command->subcommands != NULL) {
        (void)fputs("\nSubcommands:\n", out);
    }
    for (const cli_command *const *c = command->subcommands; c != NULL && *c != NULL; c++) {
        char head[64];
        FAB_FORMAT(head, "%s %s", cli_subcommand_name(command, *c), (*c)->operands);
        help_print_row(head, (*c)->summary, 24, out);
    }
    (void)fputs(command->subcommands != NULL ? "\nOptions, of some of them:\n" : "\nOptions:\n", out);
    print_options(command, out);
    print_examples(command->examples, out);
}
