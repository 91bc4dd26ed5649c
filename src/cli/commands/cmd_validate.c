/* Published figures beside what their commands give: `validate`, and what a run shows of them. */
#include "cli.h"

/* A command of a source as if it had been typed. */
typedef struct typed_command {
    char *text; /* what the words point into */
    char **words;
    cli_options options;
} typed_command;

static void typed_release(typed_command *typed) {
    cli_options_release(&typed->options);
    FAB_FREE_ALL(typed->text, typed->words);
}

/* Words are separated by single blanks, and none holds one. */
static fab_status typed_parse(const char *text, typed_command *out, fab_error *err) {
    FAB_OWNS(typed_release) typed_command typed = {.text = NULL};
    size_t length = strlen(text);
    int n = 0;
    FAB_PASS(FAB_NEW(typed.text, length + 1, err));
    FAB_PASS(FAB_NEW(typed.words, length / 2 + 2, err));
    memcpy(typed.text, text, length);
    for (char *at = typed.text; at != NULL && *at != '\0';) {
        char *blank = strchr(at, ' ');
        typed.words[n++] = at;
        if (blank != NULL) {
            *blank++ = '\0';
        }
        at = blank;
    }
    const cli_command *command = n > 0 ? cli_find_command(typed.words[0]) : NULL;
    FAB_REFUSE_IF(command == NULL || command->run == NULL || command == &cli_command_validate, err, FAB_EINPUT, NULL,
                  "'%.60s' is no command whose result has figures", text);
    FAB_PASS(cli_options_parse(command, n - 1, typed.words + 1, &typed.options, err));
    return FAB_GIVE(*out, typed);
}

/* --- validate ----------------------------------------------------------------------------------------------------- */

/* Rows of one command. */
typedef struct published_rows {
    fab_published_row *first;
    size_t n;
    bool is_reported;
} published_rows;

static fab_status take_figures(void *context, const fab_result *result, fab_error *err) {
    published_rows *rows = context;
    rows->is_reported = true;
    FAB_EACH(fab_published_row, row, rows->first, rows->n) {
        if (row->field[0] != '\0') {
            FAB_PASS(fab_result_figure(result, row->field, &row->predicted, &row->unit, err));
            FAB_REFUSE_IF(row->given_unit != NULL && (row->unit == NULL || strcmp(row->given_unit, row->unit) != 0),
                          err, FAB_EINPUT, row->where, "the value is in %s, and %s is %s%s", row->given_unit,
                          row->field, row->unit != NULL ? "in " : "a number", row->unit != NULL ? row->unit : "");
        }
    }
    return FAB_OK;
}

static fab_status run_rows(const cli_options *options, published_rows *rows, FILE *out, fab_error *err) {
    fab_error inner = {.code = FAB_OK};
    typed_command typed = {.text = NULL};
    fab_status status = typed_parse(rows->first->command, &typed, &inner);
    if (status == FAB_OK) {
        typed.options.max_memory = options->max_memory;
        typed.options.n_threads = options->n_threads;
        typed.options.quiet = true;
        typed.options.take = take_figures;
        typed.options.take_context = rows;
        status = typed.options.command->run(&typed.options, out, &inner);
        typed_release(&typed);
    }
    if (status == FAB_OK && !rows->is_reported) {
        status = fab_fail(&inner, FAB_EINPUT, NULL, "the command reports nothing");
    }
    FAB_REFUSE_IF(status != FAB_OK, err, status, rows->first->where, "%.120s: %s%s%s", rows->first->command,
                  inner.where, inner.where[0] != '\0' ? ": " : "", inner.text);
    return FAB_OK;
}

static size_t count_same_command(const fab_published *p, size_t first) {
    size_t n = 1;
    while (first + n < p->n_rows && strcmp(p->rows[first + n].command, p->rows[first].command) == 0) {
        n++;
    }
    return n;
}

static fab_status validate_run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_OWNS(fab_published_release) fab_published published = {.n_rows = 0};
    FAB_OWNS(fab_result_release) fab_result result = {0};
    cli_progress progress = {0};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(fab_published_read(options->operands.n > 0 ? options->operands.items[0] : NULL, &published, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_VALIDATE, 0, &result, err));
    result.published = &published;
    cli_progress_start(&progress, options);
    for (size_t i = 0, n = 0; status == FAB_OK && i < published.n_rows; i += n) {
        n = count_same_command(&published, i);
        published_rows rows = {&published.rows[i], n, false};
        status = run_rows(options, &rows, out, err);
        cli_progress_step(&progress, (double)(i + n), published.n_rows);
    }
    FAB_PASS(cli_progress_end(&progress, status));
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_validate = {
    .name = "validate",
    CLI_OPERANDS("[SOURCE]", 0, 1),
    .summary = "published figures beside what this program gives for them",
    .details = "Runs the command of every figure that papers, benchmarks and reference architectures have published, "
               "and shows theirs, ours and the deviation; what is off by more than is allowed is called a miss, and "
               "why. SOURCE: one of `list published`, or a file like those in topologies/published; its commands are "
               "shown too.",
    CLI_EXAMPLES("fabriscope validate", "fabriscope validate llama3", "fabriscope validate megatron --json"),
    CLI_OPTIONS(&cli_option_threads, CLI_REPORT_OPTIONS),
    .run = validate_run,
};

/* --- beside a run ------------------------------------------------------------------------------------------------- */

/* Of what is built and trained, whatever it is called, routes it and costs. */
static fab_status digest_of_job(fab_design *design, char out[17], fab_error *err) {
    design->n_engines = 0;
    design->name[0] = design->source[0] = design->prices[0] = '\0';
    return fab_design_digest(design, out, err);
}

/* Of the design that a command builds and trains its jobs on; empty where it does neither. */
static fab_status digest_of_command(const char *command, char out[17], fab_error *err) {
    FAB_OWNS(typed_release) typed_command typed = {.text = NULL};
    FAB_OWNED fab_design *design = NULL;
    if (strncmp(command, "run ", 4) != 0 && strncmp(command, "build ", 6) != 0) {
        return FAB_OK;
    }
    FAB_PASS(typed_parse(command, &typed, err));
    FAB_PASS(cli_open_design(&typed.options, typed.options.operands.items[0], &design, err));
    return digest_of_job(design, out, err);
}

static fab_status know_published(fab_published *out, fab_error *err) {
    FAB_OWNS(fab_published_release) fab_published all = {.n_rows = 0};
    cli_keep_freed_memory(); /* a design is some megabytes, and dozens are read here, one after another */
    FAB_PASS(fab_published_read(NULL, &all, err));
    for (fab_published_row *row = all.rows; row < all.rows + all.n_rows; row++) {
        if (row > all.rows && strcmp(row->command, row[-1].command) == 0) {
            memcpy(row->digest, row[-1].digest, sizeof row->digest);
        } else {
            FAB_PASS(digest_of_command(row->command, row->digest, err));
        }
    }
    return FAB_GIVE(*out, all);
}

/* The rows that are of this design and that the result has figures for. */
static fab_status keep_rows_of(const fab_published *known, const char *digest, const fab_result *result,
                               fab_published *out, fab_error *err) {
    FAB_PASS(FAB_NEW(out->rows, known->n_rows, err));
    FAB_PASS(FAB_NEW(out->sources, known->n_sources, err));
    for (size_t s = 0; s < known->n_sources; s++) {
        fab_published_source *source = &out->sources[out->n_sources++];
        *source = known->sources[s];
        const size_t first = out->n_rows;
        for (size_t i = source->first; i < source->first + source->n; i++) {
            fab_published_row *row = &out->rows[out->n_rows];
            *row = known->rows[i];
            out->n_rows += strcmp(row->digest, digest) == 0 &&
                           fab_result_figure(result, row->field, &row->predicted, &row->unit, NULL) == FAB_OK;
        }
        source->first = first;
        source->n = out->n_rows - first;
    }
    return FAB_OK;
}

fab_status cli_find_published(const cli_options *options, const fab_design *design, fab_result *result,
                              fab_published *known, fab_published *out, fab_error *err) {
    char digest[17];
    if (result->command != FAB_COMMAND_RUN || options->take != NULL) {
        return FAB_OK;
    }
    FAB_OWNED_COPY(fab_design, copy, design, err);
    FAB_PASS(digest_of_job(copy, digest, err));
    FAB_PASS(known->n_rows == 0 ? know_published(known, err) : FAB_OK);
    FAB_PASS(keep_rows_of(known, digest, result, out, err));
    result->published = out->n_rows > 0 ? out : NULL;
    return FAB_OK;
}
