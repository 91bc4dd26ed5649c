/* Completion scripts of shells, from the same tables as --help. What an argument may be follows from its name there. */
#include "cli.h"

#include "fab/builtin.h"
#include "fab/definitions.h"
#include "fab/prices.h"
#include "fab/relocate.h"
#include "fab/routing.h"
#include "fab/traffic.h"

#include <string.h>

/* --- what an argument may be ---------------------------------------------------------------------------------------
 */

static void put_stems(const fab_builtin *files, const char *prefix, FILE *out) {
    for (const fab_builtin *b = files; b->name != NULL; b++) {
        (void)fprintf(out, " %s%.*s", prefix, (int)strcspn(b->name, "."), b->name);
    }
}

static void put_presets(FILE *out) {
    put_stems(fab_builtin_presets, "preset:", out);
}

static void put_prices(FILE *out) {
    put_stems(fab_builtin_prices, "", out);
}

static void put_engines(FILE *out) {
    for (size_t i = 0; fab_engine_at(i).name != NULL; i++) {
        (void)fprintf(out, " %s", fab_engine_at(i).name);
    }
}

static void put_traffic(FILE *out) {
    (void)fputs(" job file:", out);
    for (const fab_pattern_info *p = fab_patterns; p->name != NULL; p++) {
        (void)fprintf(out, " pattern:%s", p->name);
    }
}

static void put_formats(FILE *out) {
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        (void)fprintf(out, " %s", fab_report_formats[i]->name);
    }
}

static void put_views(FILE *out) {
    for (fab_view view = FAB_VIEW_AUTO; view < FAB_VIEW_N; view++) {
        (void)fprintf(out, " %s", fab_view_names[view]);
    }
}

static void put_commands(FILE *out) {
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        (void)fprintf(out, " %s", (*c)->name);
    }
}

static void put_study(FILE *out) {
    for (const cli_command *const *c = cli_command_study.subcommands; *c != NULL; c++) {
        (void)fprintf(out, " %s", cli_subcommand_name(&cli_command_study, *c));
    }
    put_presets(out); /* behind plan */
}

static void put_policies(FILE *out) {
    for (size_t i = 0; i < FAB_POLICY_N; i++) {
        (void)fprintf(out, " %s", fab_policies[i]);
    }
}

static void put_figures(FILE *out) {
    (void)fputs(" loads times", out);
}

static void put_topics(FILE *out) {
    for (size_t i = 0; cli_topic_name(i) != NULL; i++) {
        (void)fprintf(out, " %s", cli_topic_name(i));
    }
}

static bool put_field(const fab_definition *definition, void *out) {
    (void)fprintf(out, " %s", definition->name);
    return true;
}

static void put_fields(FILE *out) {
    fab_definitions_visit(put_field, out);
}

static void put_when(FILE *out) {
    (void)fputs(" auto always never", out);
}

static void put_shells(FILE *out) {
    (void)fputs(" bash zsh fish", out);
}

static void put_schemas(FILE *out) {
    (void)fputs(" design prices catalog result report", out);
}

/* Of options by their name, of operands by what the usage line calls them. */
typedef struct values {
    const char *name;
    bool files, folders;
    void (*words)(FILE *out);
} values;

static const values OPERANDS[] = {
    {"DESIGN", true, false, put_presets},
    {"DESIGN...", true, false, put_presets},
    {"[COMMAND [SUBCOMMAND]]", false, false, put_commands},
    {"[WHAT [NAME]]", false, false, put_topics},
    {"SUBCOMMAND", true, false, put_study},
    {"[FIELD]", false, false, put_fields},
    {"design|prices|catalog|result|report", false, false, put_schemas},
};

static const values OPTIONS[] = {
    {"engine", false, false, put_engines},    {"traffic", true, false, put_traffic},
    {"prices", true, false, put_prices},      {"format", false, false, put_formats},
    {"policy", false, false, put_policies},   {"figures", false, false, put_figures},
    {"view", false, false, put_views},        {"color", false, false, put_when},
    {"completion", false, false, put_shells},
};

static const values ARGUMENTS[] = {{"FILE", true, false, NULL}, {"DIR", false, true, NULL}};
static const values NOTHING = {"", false, false, NULL};

static const values *find(const values *table, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return &NOTHING;
}
#define FIND(table, name) find(table, sizeof(table) / sizeof(table)[0], name)

static const values *values_of(const cli_option *option) {
    const values *by_name = FIND(OPTIONS, option->name);
    return by_name != &NOTHING || option->argument == NULL ? by_name : FIND(ARGUMENTS, option->argument);
}

/* Options of a command, then those of all; NULL behind them. */
static const cli_option *option_at(const cli_command *command, size_t i) {
    size_t n = 0;
    while (command->options[n] != NULL) {
        n++;
    }
    size_t n_common = 0;
    while (CLI_COMMON_OPTIONS[n_common] != NULL) {
        n_common++;
    }
    return i < n ? command->options[i] : i < n + n_common ? CLI_COMMON_OPTIONS[i - n] : NULL;
}

/* In single quotes of a shell; what else is in `special` gets a backslash. */
static void put_quoted(const char *text, const char *special, FILE *out) {
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'') {
            (void)fputs("'\\''", out);
        } else {
            (void)fprintf(out, "%s%c", strchr(special, *c) != NULL ? "\\" : "", *c);
        }
    }
}

/* --- bash ----------------------------------------------------------------------------------------------------------
 */

static void put_bash_values(const values *v, FILE *out) {
    (void)fputs(" words=\"", out);
    if (v->words != NULL) {
        v->words(out);
    }
    (void)fprintf(out, "\" files=%s ;;\n", v->files ? "-f" : v->folders ? "-d" : "");
}

static void print_bash(FILE *out) {
    (void)fputs("# Completion of fabriscope in bash.\n"
                "_fabriscope() {\n"
                "  local line=${COMP_LINE:0:COMP_POINT} word words files= reply colon\n"
                "  word=${line##*[[:space:]]}\n"
                "  local before=($line)\n"
                "  [[ -z $word ]] || unset 'before[${#before[@]}-1]'\n"
                "  if [[ ${#before[@]} -le 1 ]]; then\n    words=\"",
                out);
    put_commands(out);
    (void)fputs("\"\n  else\n    case ${before[1]}:${before[${#before[@]}-1]} in\n", out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        const cli_option *option = NULL;
        for (size_t i = 0; (option = option_at(*c, i)) != NULL; i++) {
            if (option->argument != NULL) {
                (void)fprintf(out, "    %s:--%s)", (*c)->name, option->name);
                put_bash_values(values_of(option), out);
            }
        }
        (void)fprintf(out, "    %s:*) if [[ $word == -* ]]; then words=\"", (*c)->name);
        for (size_t i = 0; (option = option_at(*c, i)) != NULL; i++) {
            (void)fprintf(out, " --%s", option->name);
        }
        (void)fputs("\"; else", out);
        const values *v = FIND(OPERANDS, (*c)->operands);
        (void)fputs(" words=\"", out);
        if (v->words != NULL) {
            v->words(out);
        }
        (void)fprintf(out, "\" files=%s; fi ;;\n", v->files ? "-f" : "");
    }
    (void)fputs("    esac\n  fi\n"
                "  mapfile -t COMPREPLY < <(compgen $files -W \"$words\" -- \"$word\")\n"
                "  # readline takes what stands before a colon for a word of its own\n"
                "  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
                "    colon=${word%\"${word##*:}\"}\n"
                "    for reply in \"${!COMPREPLY[@]}\"; do COMPREPLY[reply]=${COMPREPLY[reply]#\"$colon\"}; done\n"
                "  fi\n"
                "}\n"
                "complete -o bashdefault -o nosort -F _fabriscope fabriscope\n",
                out);
}

/* --- zsh -----------------------------------------------------------------------------------------------------------
 */

static void put_zsh_values(const values *v, FILE *out) {
    if (v->words != NULL && v->files) {
        (void)fputs("_alternative \"files:file:_files\" \"words:word:(", out);
        v->words(out);
        (void)fputs(")\"", out);
    } else if (v->words != NULL) {
        (void)fputs("_values word", out);
        v->words(out);
    } else if (v->files || v->folders) {
        (void)fputs(v->files ? "_files" : "_files -/", out);
    }
}

static void print_zsh(FILE *out) {
    (void)fputs("#compdef fabriscope\n# Completion of fabriscope in zsh.\n_fabriscope() {\n"
                "  local -a commands\n  commands=(\n",
                out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        (void)fprintf(out, "    '%s:", (*c)->name);
        put_quoted((*c)->summary, ":", out);
        (void)fputs("'\n", out);
    }
    (void)fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
                "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
                out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        const cli_option *option = NULL;
        (void)fprintf(out, "  %s)\n    _arguments \\\n", (*c)->name);
        for (size_t i = 0; (option = option_at(*c, i)) != NULL; i++) {
            (void)fprintf(out, "      '*--%s%s[", option->name, option->argument != NULL ? "=" : "");
            put_quoted(option->summary, "[]:", out);
            (void)fputc(']', out);
            if (option->argument != NULL) {
                (void)fputc(':', out);
                put_quoted(option->argument, ":[]", out);
                (void)fputs(":{", out);
                put_zsh_values(values_of(option), out);
                (void)fputc('}', out);
            }
            (void)fputs("' \\\n", out);
        }
        (void)fputs("      '*:", out);
        put_quoted((*c)->operands[0] != '\0' ? (*c)->operands : "nothing", ":[]", out);
        (void)fputs(":{", out);
        put_zsh_values(FIND(OPERANDS, (*c)->operands), out);
        (void)fputs("}'\n    ;;\n", out);
    }
    (void)fputs("  esac\n}\ncompdef _fabriscope fabriscope\n", out);
}

/* --- fish ----------------------------------------------------------------------------------------------------------
 */

static void put_fish_values(const values *v, FILE *out) {
    (void)fputs(v->files || v->folders ? "" : " -f", out);
    if (v->words != NULL || v->folders) {
        (void)fputs(" -a '", out);
        if (v->words != NULL) {
            v->words(out);
        } else {
            (void)fputs("(__fish_complete_directories)", out);
        }
        (void)fputc('\'', out);
    }
}

static void print_fish(FILE *out) {
    (void)fputs("# Completion of fabriscope in fish.\n", out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        (void)fprintf(out, "complete -c fabriscope -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        put_quoted((*c)->summary, "", out);
        (void)fputs("'\n", out);
    }
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        const cli_option *option = NULL;
        for (size_t i = 0; (option = option_at(*c, i)) != NULL; i++) {
            (void)fprintf(out, "complete -c fabriscope -n '__fish_seen_subcommand_from %s' -l %s%s", (*c)->name,
                          option->name, option->argument != NULL ? " -r" : "");
            put_fish_values(values_of(option), out);
            (void)fputs(" -d '", out);
            put_quoted(option->summary, "", out);
            (void)fputs("'\n", out);
        }
        (void)fprintf(out, "complete -c fabriscope -n '__fish_seen_subcommand_from %s'", (*c)->name);
        put_fish_values(FIND(OPERANDS, (*c)->operands), out);
        (void)fputc('\n', out);
    }
}

fab_status cli_print_completion(const char *shell, FILE *out, fab_error *err) {
    static const struct {
        const char *name;
        void (*print)(FILE *out);
    } SHELLS[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof SHELLS / sizeof SHELLS[0]; i++) {
        if (strcmp(SHELLS[i].name, shell) == 0) {
            SHELLS[i].print(out);
            return FAB_OK;
        }
    }
    return fab_fail(err, FAB_EUSAGE, NULL, "option --completion: '%.40s' is not bash, zsh or fish", shell);
}
