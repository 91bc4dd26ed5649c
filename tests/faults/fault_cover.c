/* What the table of runs has to cover is read from the program's own tables, so that nothing new can be left out. */
#include "fault_cases.h"

#include "cli.h"
#include "fab/counters.h"
#include "fab/network.h"

#include <stdio.h>
#include <string.h>

/* Whether a run begins with a command and holds a word; either may be NULL: any. */
static bool has_run(const char *command, const char *word) {
    for (const fault_case *c = fault_cases; c->name != NULL; c++) {
        size_t n = command != NULL ? strlen(command) : 0;
        bool is_it = n == 0 || (strncmp(c->line, command, n) == 0 && (c->line[n] == ' ' || c->line[n] == '\0'));
        const char *at = word != NULL && is_it ? strstr(c->line, word) : NULL;
        for (; at != NULL; at = strstr(at + 1, word)) {
            char next = at[strlen(word)];
            if (at > c->line && at[-1] == ' ' && (next == ' ' || next == '\0')) {
                return true;
            }
        }
        if (is_it && word == NULL) {
            return true;
        }
    }
    return false;
}

static unsigned miss(bool missing, const char *what, const char *name) {
    if (missing) {
        (void)printf("FINDING cover: no run of %s %s\n", what, name);
    }
    return missing ? 1 : 0;
}

/* An option that several commands share need not be tried with each of them. */
static unsigned missing_options(const cli_option *const *options) {
    unsigned n = 0;
    for (; *options != NULL; options++) {
        char word[64];
        (void)snprintf(word, sizeof word, "--%s", (*options)->name);
        n += miss(!has_run(NULL, word), "option", word);
    }
    return n;
}

static unsigned missing_commands(const cli_command *const *commands) {
    unsigned n = 0;
    for (; commands != NULL && *commands != NULL; commands++) {
        const cli_command *c = *commands;
        n += miss(!has_run(c->name, NULL), "command", c->name);
        n += missing_options(c->options) + missing_commands(c->subcommands);
    }
    return n;
}

static unsigned missing_formats(void) {
    unsigned n = 0;
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        const char *name = fab_report_formats[i]->name;
        char word[64];
        (void)snprintf(word, sizeof word, "--format %s", name);
        bool is_default = strcmp(name, "text") == 0;
        bool is_short = strcmp(name, "json") == 0; /* --json */
        /* svg, and a program that is started for each run: cli_test_pictures */
        bool is_drawn = strcmp(name, "png") == 0 || strcmp(name, "pdf") == 0;
        n += miss(!is_default && !is_short && !is_drawn && !has_run(NULL, word), "format", name);
    }
    for (size_t i = 0; fab_network_formats[i] != NULL; i++) {
        n += miss(!has_run("audit", fab_network_formats[i]->name), "audit of", fab_network_formats[i]->name);
        n += miss(!has_run("import", fab_network_formats[i]->name), "import of", fab_network_formats[i]->name);
    }
    for (size_t i = 0; fab_counters_formats[i] != NULL; i++) {
        n += miss(!has_run("observe", fab_counters_formats[i]->name), "counters of", fab_counters_formats[i]->name);
    }
    for (size_t i = 0; fab_traffic_files[i].name != NULL; i++) {
        char name[64];
        bool is_there = false;
        (void)snprintf(name, sizeof name, "traffic-file-%s", fab_traffic_files[i].name);
        for (const fault_case *c = fault_cases; c->name != NULL; c++) {
            is_there = is_there || strcmp(c->name, name) == 0;
        }
        n += miss(!is_there, "a case", name);
    }
    return n;
}

/* Of the JSON that `list` prints: {"name": "presets", ... */
static unsigned missing_topics(const char *topics) {
    static const char KEY[] = "\"name\": \"";
    unsigned n = 0;
    unsigned n_topics = 0;
    for (const char *at = strstr(topics, KEY); at != NULL; at = strstr(at, KEY)) {
        char name[64];
        at += sizeof KEY - 1;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\""), at);
        n += miss(!has_run("list", name), "list of", name);
        n_topics++;
    }
    return n + miss(n_topics == 0, "topics in", "list --json");
}

unsigned fault_count_missing(const char *topics) {
    return missing_commands(CLI_COMMANDS) + missing_options(CLI_COMMON_OPTIONS) + missing_formats() +
           missing_topics(topics);
}
