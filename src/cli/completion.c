/* Completion scripts of shells, from the same tables as --help. What an argument may be follows from its name there. */
#include "cli.h"

#include "fab/builtin.h"
#include "fab/definitions.h"

/* --- what an argument may be -------------------------------------------------------------------------------------- */

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

static void put_published(FILE *out) {
    put_stems(fab_builtin_published, "", out);
}

static const char *engines_at(size_t i) {
    return fab_engine_at(i).name;
}

static void put_patterns(FILE *out) {
    for (const fab_pattern_info *p = fab_patterns; p->name != NULL; p++) {
        (void)fprintf(out, " pattern:%s", p->name);
    }
}

static const char *formats_at(size_t i) {
    return fab_report_formats[i] != NULL ? fab_report_formats[i]->name : NULL;
}

static const char *views_at(size_t i) {
    return i < FAB_VIEW_N ? fab_view_names[i] : NULL;
}

static const char *commands_at(size_t i) {
    return CLI_COMMANDS[i] != NULL ? CLI_COMMANDS[i]->name : NULL;
}

static void put_study(FILE *out) {
    for (const cli_command *const *c = cli_command_study.subcommands; *c != NULL; c++) {
        (void)fprintf(out, " %s", cli_subcommand_name(&cli_command_study, *c));
    }
    put_presets(out); /* behind plan */
}

static const char *policies_at(size_t i) {
    return i < FAB_POLICY_N ? fab_policies[i] : NULL;
}

static bool put_field(const fab_definition *definition, void *out) {
    (void)fprintf(out, " %s", definition->name);
    return true;
}

static void put_fields(FILE *out) {
    fab_definitions_visit(put_field, out);
}

typedef struct put_paths {
    FILE *out;
    const char *part; /* of the paths that are put, without it; "": all, as they are */
} put_paths;

static void put_path(void *context, const char *path, FAB_UNUSED const char *example, FAB_UNUSED const char *initial,
                     FAB_UNUSED const char *summary) {
    const put_paths *p = context;
    size_t n = strlen(p->part);
    if (strncmp(path, p->part, n) == 0 && strcmp(path, "job.id") != 0) {
        (void)fprintf(p->out, " %s=", path + n);
    }
}

static void put_job_keys(FILE *out) {
    put_paths paths = {out, "job."};
    fab_design_each_field(put_path, &paths);
}

static void put_all_paths(FILE *out) {
    put_paths paths = {out, ""};
    fab_design_each_field(put_path, &paths);
}

/* Of options by their name, of operands by what the usage line calls them. */
typedef struct values {
    const char *name;
    bool files, folders;
    const char *fixed;           /* words, each behind a blank; NULL: none */
    const char *(*at)(size_t i); /* more of them, ended by NULL */
    void (*others)(FILE *out);   /* all others */
} values;

static const values OPERANDS[] = {
    {"DESIGN", true, false, NULL, NULL, put_presets},
    {"DESIGN...", true, false, NULL, NULL, put_presets},
    {"BEFORE [AFTER]", true, false, NULL, NULL, put_presets},
    {"[COMMAND [SUBCOMMAND]]", false, false, NULL, commands_at, NULL},
    {"[WHAT [NAME]]", false, false, NULL, cli_topic_name, NULL},
    {"DESIGN | STEP", true, false, NULL, NULL, put_study},
    {"[SOURCE]", true, false, NULL, NULL, put_published},
    {"[FIELD]", false, false, NULL, NULL, put_fields},
    {"SCHEMA", false, false, " design prices catalog gpu published result report", NULL, NULL},
};

static const values OPTIONS[] = {
    {"engine", false, false, NULL, engines_at, NULL},
    {"job", false, false, NULL, NULL, put_job_keys},
    {"set", false, false, NULL, NULL, put_all_paths},
    {"before", false, false, " fail= degrade= engine=", NULL, put_job_keys},
    {"after", false, false, " fail= degrade= engine=", NULL, put_job_keys},
    {"traffic", true, false, " job file:", NULL, put_patterns},
    {"prices", true, false, NULL, NULL, put_prices},
    {"format", false, false, NULL, formats_at, NULL},
    {"policy", false, false, NULL, policies_at, NULL},
    {"figures", false, false, " loads times", NULL, NULL},
    {"view", false, false, NULL, views_at, NULL},
    {"color", false, false, " auto always never", NULL, NULL},
    {"completion", false, false, " bash zsh fish", NULL, NULL},
};

static const values ARGUMENTS[] = {{"FILE", true, false, NULL, NULL, NULL}, {"DIR", false, true, NULL, NULL, NULL}};
static const values NOTHING = {"", false, false, NULL, NULL, NULL};

static bool has_words(const values *v) {
    return v->fixed != NULL || v->at != NULL || v->others != NULL;
}

static void put_words(const values *v, FILE *out) {
    (void)fputs(v->fixed != NULL ? v->fixed : "", out);
    for (size_t i = 0; v->at != NULL && v->at(i) != NULL; i++) {
        (void)fprintf(out, " %s", v->at(i));
    }
    if (v->others != NULL) {
        v->others(out);
    }
}

static const values *completion_find(const values *table, size_t n, const char *name) {
    FAB_FIRST(i, n, strcmp(table[i].name, name) == 0);
    return i < n ? &table[i] : &NOTHING;
}
#define FIND(table, name) completion_find(table, FAB_N_OF(table), name)

static const values *values_of(const cli_option *option) {
    const values *by_name = FIND(OPTIONS, option->name);
    return by_name != &NOTHING || option->argument == NULL ? by_name : FIND(ARGUMENTS, option->argument);
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

/* --- bash --------------------------------------------------------------------------------------------------------- */

static void put_bash_values(const values *v, FILE *out) {
    (void)fputs(" words=\"", out);
    put_words(v, out);
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
    put_words(FIND(OPERANDS, "[COMMAND [SUBCOMMAND]]"), out);
    (void)fputs("\"\n  else\n    case ${before[1]}:${before[${#before[@]}-1]} in\n", out);
    for (const cli_command *const *c = CLI_COMMANDS; *c != NULL; c++) {
        const cli_option *option = NULL;
        for (size_t i = 0; (option = cli_option_at(*c, i)) != NULL; i++) {
            if (option->argument != NULL) {
                (void)fprintf(out, "    %s:--%s)", (*c)->name, option->name);
                put_bash_values(values_of(option), out);
            }
        }
        (void)fprintf(out, "    %s:*) if [[ $word == -* ]]; then words=\"", (*c)->name);
        for (size_t i = 0; (option = cli_option_at(*c, i)) != NULL; i++) {
            (void)fprintf(out, " --%s", option->name);
        }
        (void)fputs("\"; else", out);
        const values *v = FIND(OPERANDS, (*c)->operands);
        (void)fputs(" words=\"", out);
        put_words(v, out);
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

/* --- zsh ---------------------------------------------------------------------------------------------------------- */

static void put_zsh_values(const values *v, FILE *out) {
    if (has_words(v) && v->files) {
        (void)fputs("_alternative \"files:file:_files\" \"words:word:(", out);
        put_words(v, out);
        (void)fputs(")\"", out);
    } else if (has_words(v)) {
        (void)fputs("_values word", out);
        put_words(v, out);
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
        for (size_t i = 0; (option = cli_option_at(*c, i)) != NULL; i++) {
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

/* --- fish --------------------------------------------------------------------------------------------------------- */

static void put_fish_values(const values *v, FILE *out) {
    (void)fputs(v->files || v->folders ? "" : " -f", out);
    if (has_words(v) || v->folders) {
        (void)fputs(" -a '", out);
        if (has_words(v)) {
            put_words(v, out);
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
        for (size_t i = 0; (option = cli_option_at(*c, i)) != NULL; i++) {
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
    for (size_t i = 0; i < FAB_N_OF(SHELLS); i++) {
        if (strcmp(SHELLS[i].name, shell) == 0) {
            SHELLS[i].print(out);
            return FAB_OK;
        }
    }
    return cli_misused(err, "option --completion: '%.40s' is not bash, zsh or fish", shell);
}
