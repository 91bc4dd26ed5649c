/* Manual pages, from the same tables as --help. */
#include "cli.h"

#include <ctype.h>

/* Text that roff reads as it stands. */
static void help_man_put(const char *text, FILE *out) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\') {
            (void)fputs("\\e", out);
        } else if (*c == '-') {
            (void)fputs("\\-", out);
        } else if ((*c == '.' || *c == '\'') && c == text) {
            (void)fputs("\\&", out);
            (void)fputc(*c, out);
        } else {
            (void)fputc(*c, out);
        }
    }
}

static void put_title(const char *name, FILE *out) {
    (void)fputs(".TH FABRISCOPE", out);
    for (const char *c = name; *c != '\0'; c++) {
        (void)fputc(toupper((unsigned char)*c), out);
    }
    (void)fprintf(out, " 1 \"\" \"fabriscope %s\" \"User Commands\"\n.SH NAME\n", FAB_VERSION);
}

static void put_option(const cli_option *option, FILE *out) {
    (void)fputs(".TP\n\\fB\\-\\-", out);
    help_man_put(option->name, out);
    (void)fputs("\\fR", out);
    if (option->argument != NULL) {
        (void)fputs(" \\fI", out);
        help_man_put(option->argument, out);
        (void)fputs("\\fR", out);
    }
    (void)fputc('\n', out);
    help_man_put(option->summary, out);
    (void)fputc('\n', out);
}

static void put_examples(const char *const *examples, FILE *out) {
    if (examples[0] != NULL) {
        (void)fputs(".SH EXAMPLES\n", out);
    }
    for (const char *const *e = examples; *e != NULL; e++) {
        (void)fputs(".PP\n.nf\n.RS\n", out);
        help_man_put(*e, out);
        (void)fputs("\n.RE\n.fi\n", out);
    }
}

static void put_codes(FILE *out) {
    static const char *const CODES[][2] = {
        {"0", "done"},
        {"2", "the command line is wrong"},
        {"3", "the input is wrong, or asks for what is not supported or for more memory than --max-memory"},
        {"4", "there is no solution, or a pair that cannot reach each other"},
        {"5", "a file cannot be read or written"},
        {"6",
         "the time of --max-time was up; plan prints the best so far, sweep and compare the points that are finished"},
        {"70", "an error of the program, or no memory"},
    };
    (void)fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < FAB_N_OF(CODES); i++) {
        (void)fprintf(out, ".TP\n%s\n%s\n", CODES[i][0], CODES[i][1]);
    }
}

static void print_overview(FILE *out) {
    put_title("", out);
    (void)fputs("fabriscope \\- designs and analyses the network fabric of an AI training cluster\n"
                ".SH SYNOPSIS\n.B fabriscope\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n"
                ".SH COMMANDS\n",
                out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        (void)fprintf(out, ".TP\n\\fB%s\\fR %s\n", (*c)->name, (*c)->operands);
        help_man_put((*c)->summary, out);
        (void)fputc('\n', out);
    }
    (void)fputs(".SH DESIGNS\nDESIGN is an XML file, preset:NAME (see 'fabriscope list presets') or a one\\-line form\n"
                "FAMILY:key=value,... (see 'fabriscope list families').\n",
                out);
    put_codes(out);
    (void)fputs(".SH SEE ALSO\n", out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        (void)fprintf(out, "\\fBfabriscope\\-%s\\fR(1)%s\n", (*c)->name, c[1] != NULL ? "," : "");
    }
}

static void put_subcommands(const cli_command *command, FILE *out) {
    if (command->subcommands != NULL) {
        (void)fputs(".SH SUBCOMMANDS\n", out);
    }
    for (const cli_command *const *c = command->subcommands; c != NULL && *c != NULL; c++) {
        (void)fprintf(out, ".TP\n\\fB%s\\fR %s\n", cli_subcommand_name(command, *c), (*c)->operands);
        help_man_put((*c)->summary, out);
        (void)fputc('\n', out);
        if ((*c)->details[0] != '\0') {
            (void)fputs(".IP\n", out);
            help_man_put((*c)->details, out);
            (void)fputc('\n', out);
        }
    }
}

static void put_see_also(const cli_command *command, FILE *out) {
    (void)fputs(".SH SEE ALSO\n\\fBfabriscope\\fR(1)", out);
    for (const cli_command *const *c = command->subcommands; c != NULL && *c != NULL; c++) {
        (void)fprintf(out, ",\n\\fBfabriscope\\-%s\\-%s\\fR(1)", command->name, cli_subcommand_name(command, *c));
    }
    (void)fputc('\n', out);
}

void cli_print_man(const cli_command *command, FILE *out) {
    if (command == NULL) {
        print_overview(out);
        return;
    }
    char title[64];
    (void)snprintf(title, sizeof title, "-%s", command->name);
    for (char *c = title; *c != '\0'; c++) {
        *c = *c == ' ' ? '-' : *c; /* fabriscope-study-run */
    }
    put_title(title, out);
    (void)fputs("fabriscope", out);
    help_man_put(title, out);
    (void)fputs(" \\- ", out);
    help_man_put(command->summary, out);
    (void)fprintf(out, "\n.SH SYNOPSIS\n.B fabriscope %s\n", command->name);
    (void)fprintf(out, "[\\fIOPTIONS\\fR] \\fI%s\\fR\n", command->operands);
    if (command->details[0] != '\0') {
        (void)fputs(".SH DESCRIPTION\n", out);
        help_man_put(command->details, out);
        (void)fputc('\n', out);
    }
    put_subcommands(command, out);
    (void)fputs(".SH OPTIONS\n", out);
    const cli_option *option = NULL;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        put_option(option, out);
    }
    put_examples(command->examples, out);
    put_codes(out);
    put_see_also(command, out);
}
