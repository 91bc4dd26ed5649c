#include "cli.h"

#include "fab/source.h"

#include <sys/stat.h>

#define MOST_DESIGN ((size_t)1 << 22) /* bytes of a design that a page carries */

/* The design's file goes with the page, where it is one. */
static fab_status carry_file(const char *name, fab_asked *asked, char **text, fab_error *err) {
    struct stat about;
    size_t n = 0;
    const char *folder = strrchr(name, '/');
    if (stat(name, &about) != 0 || !S_ISREG(about.st_mode)) {
        return FAB_OK; /* a design in one line; or the reader says what is wrong */
    }
    FAB_PASS(FAB_NEW(*text, MOST_DESIGN + 1, err));
    FAB_PASS(fab_source_head(name, *text, MOST_DESIGN, &n, err));
    FAB_REFUSE_IF(n == MOST_DESIGN || memchr(*text, '\0', n) != NULL, err, FAB_ELIMIT, name,
                  "is no text of less than %zu bytes, which a page can carry", MOST_DESIGN);
    asked->file = name;
    asked->base = folder != NULL ? folder + 1 : name;
    asked->text = *text;
    return FAB_OK;
}

/* The job of the last question, where the program keeps it (CLI_HOLDS), and the words that made it but for --fail. */
static struct {
    cli_session session;
    char *words;
    bool is_told; /* a page has had an answer of it */
} held;

/* What the next job needs as well stays, where there may be one. */
static void let_go(void) {
    fab_published known = {.n_rows = 0};
    if (CLI_HOLDS) {
        known = held.session.known;
        held.session.known = (fab_published){.n_rows = 0};
    }
    cli_session_release(&held.session);
    held.session.known = known;
    free(held.words);
    held.words = NULL;
    held.is_told = false;
}

fab_status cli_explore_hold(fab_error *err) {
    cli_session *s = &held.session;
    return s->is_replayed && s->n_parts == 1 ? cli_hold_failures(s->context, &s->further, err) : FAB_OK;
}

/* Opens the job that the words ask for, unless it is the one that is held. */
static fab_status open_job(const cli_options *options, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str words = FAB_STR_INIT;
    for (size_t i = 0; i < options->n_words; i++) {
        if (strcmp(options->words[i], "--fail") == 0) {
            i++;
        } else {
            fab_str_printf(&words, "%s\n", options->words[i]);
        }
    }
    FAB_PASS(fab_str_status(&words, err));
    if (held.words == NULL || strcmp(held.words, words.data) != 0) {
        let_go();
        FAB_PASS(FAB_STRDUP(held.words, words.data, err));
        FAB_PASS(cli_session_open(options, FAB_COMMAND_RUN, "job", &held.session, err));
        held.session.further.is_held = CLI_HOLDS;
    }
    held.session.options = options;
    return FAB_OK;
}

/* The report of `run` as a page that carries the program's own core: see src/cli/core. */
static fab_status explore_design(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    cli_options as_page = *options;
    fab_asked asked = {.words = options->words, .n_words = options->n_words};
    char *text = NULL;
    as_page.format = fab_report_explore.name;
    if (options->operands.n == 0) {
        return fab_report_explore_empty(out, err);
    }
    CLI_REFUSE_IF(strcmp(options->operands.items[0], "-") == 0, err,
                  "command explore: the page reads the design again: give it as a file");
    FAB_TRY(carry_file(options->operands.items[0], &asked, &text, err));
    FAB_TRY(open_job(&as_page, err));
    asked.has_rest = held.is_told;
    held.session.result.asked = &asked;
    FAB_TRY(cli_session_report(&held.session, out, err));
    held.is_told = true;
done:
    if (status != FAB_OK || !CLI_HOLDS) {
        let_go();
    }
    free(text);
    return status;
}

const cli_command cli_command_explore = {
    .name = "explore",
    CLI_OPERANDS("[DESIGN]", 0, 1),
    .summary = "a page in which every knob can be turned, without this program and offline",
    .details =
        "Prints the page of 'run --format html' with the program itself in it, compiled to WebAssembly: taper, "
        "radix, queue pairs, engine, placement and every other key can be changed in the browser, and any cable, "
        "switch or server can be killed or slowed; times, collisions, cost and picture follow, with the figures "
        "of the command line. Other routings and plans are not tried. Without a design the page begins with an "
        "empty line.",
    CLI_EXAMPLES("fabriscope explore clos:gpus=1024,taper=2 > explore.html",
                 "fabriscope explore preset:llama3-24k-roce > llama3.html", "fabriscope explore > explore.html"),
    CLI_OPTIONS(&cli_option_fail, &cli_option_policies, &cli_option_degrade, &cli_option_set, &cli_option_job,
                &cli_option_transport, CLI_REPLAY_OPTIONS, &cli_option_quiet),
    .run = explore_design,
};
