#include "cli.h"

#include "fab/parallel.h"

#define MOST_NAMED 6 /* commands that have an option */

static void options_push(cli_list *list, const char *text) {
    list->items[list->n++] = text;
}

static fab_status options_read_quantity(const cli_option *option, const char *value, double *out, fab_error *err) {
    fab_error inner = {0};
    CLI_REFUSE_IF(fab_quantity_parse(value, option->unit, out, &inner) != FAB_OK, err, "option --%s: %s", option->name,
                  inner.text);
    return *out > 0 ? FAB_OK : cli_misused(err, "option --%s: '%.60s' is not above 0", option->name, value);
}

static fab_status options_choose(const cli_option *option, const char *value, unsigned *out, fab_error *err) {
    char list[128] = "";
    for (unsigned i = 0; option->choices[i] != NULL; i++) {
        if (strcmp(option->choices[i], value) == 0) {
            *out = i;
            return FAB_OK;
        }
        fab_append(list, sizeof list, "%s%s",
                   i == 0                           ? ""
                   : option->choices[i + 1] != NULL ? ", "
                                                    : " or ",
                   option->choices[i]);
    }
    return cli_misused(err, "option --%s: '%.40s' is not %s", option->name, value, list);
}

/* Takes the value of an option by its table row. */
static fab_status apply(const cli_option *option, const char *value, cli_options *out, fab_error *err) {
    char *base = (char *)out;
    fab_error inner = {0};
    if (option->apply != NULL) {
        return option->apply(out, value, err);
    }
    CLI_REFUSE_IF(option->names != NULL && value[0] == '\0', err, "option --%s: the %s's name is empty", option->name,
                  option->names);
    if (option->flag > 0) {
        *(bool *)(base + option->flag) = true;
    } else if (option->text > 0) {
        *(const char **)(void *)(base + option->text) = value;
    } else if (option->list > 0) {
        options_push((cli_list *)(void *)(base + option->list), value);
    } else if (option->quantity > 0) {
        return options_read_quantity(option, value, (double *)(void *)(base + option->quantity), err);
    } else if (option->choice > 0) {
        return options_choose(option, value, (unsigned *)(void *)(base + option->choice), err);
    } else if (fab_count_parse(value, option->min, option->max, (uint64_t *)(void *)(base + option->count), &inner) !=
               FAB_OK) {
        return cli_misused(err, "option --%s: %s", option->name, inner.text);
    }
    return FAB_OK;
}

static fab_status apply_set(cli_options *options, const char *value, fab_error *err) {
    CLI_REFUSE_IF(strchr(value, '=') == NULL, err,
                  "option --set: '%.60s' is not path=value (see 'fabriscope list fields')", value);
    options_push(&options->overrides, value);
    return FAB_OK;
}

static fab_status apply_engine(cli_options *options, const char *value, fab_error *err) {
    CLI_REFUSE_IF(options->engines.n == FAB_MAX_ENGINES, err, "option --engine: given more than %d times",
                  FAB_MAX_ENGINES);
    options_push(&options->engines, value);
    return FAB_OK;
}

/* --json and --format, in either order. */
static fab_status set_format(cli_options *options, const char *name, fab_error *err) {
    CLI_REFUSE_IF(options->format != NULL, err, "option --json is short for --format json: give one of the two");
    options->format = name;
    return FAB_OK;
}

static fab_status apply_format(cli_options *options, const char *value, fab_error *err) {
    if (fab_report_format_find(value) != NULL) {
        return set_format(options, value, err);
    }
    fab_choices near = fab_choices_of(value);
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        fab_choices_offer(&near, fab_report_formats[i]->name);
    }
    return cli_misused(err, "option --format: unknown format '%.40s'%s", value, fab_choices_list(&near, "one of"));
}

static fab_status apply_json(cli_options *options, FAB_UNUSED const char *value, fab_error *err) {
    return set_format(options, "json", err);
}

static const char *const WHEN[] = {"auto", "always", "never", NULL}; /* of cli_when */

const cli_option cli_option_set = {"set", "path=value", "override a value of the design (see 'list fields')",
                                   .is_repeatable = true, .apply = apply_set};
const cli_option cli_option_job = {"job", "key=value,...",
                                   "set fields of the first job: kind, model, tp, cp, pp, dp, ep, batch, gpu, "
                                   "placement, ...; with id=NAME of that job, or of one more",
                                   CLI_LIST(jobs)};
const cli_option cli_option_traffic = {
    "traffic", "TEXT",
    "job, job:PHASE[,comm=K], pattern:NAME[,key=value] (see 'list patterns') or file:PATH[,rows=servers]; "
    "default job",
    CLI_TEXT(traffic)};
const cli_option cli_option_transport = {"transport", "NAME[,k=v]",
                                         "how flows share links: fluid, pfc (packets in lossless queues), dcqcn or "
                                         "spray-ack: pfc,xoff=60kB,mtu=4096; keys: list fields",
                                         CLI_TEXT(transport)};
const cli_option cli_option_engine = {"engine", "NAME[,k=v]",
                                      "route with this engine instead of the design's; repeatable (see 'list engines')",
                                      .is_repeatable = true, .apply = apply_engine};
const cli_option cli_option_seeds = {
    "seeds", "N",
    "draws of every random choice, reported as a distribution; default 1, and means of 8 in "
    "compare, diff, mix, plan, sweep and placements by name where paths are drawn",
    CLI_COUNT(n_seeds, 1, 1000000)};
const cli_option cli_option_seed = {"seed", "S", "first seed; the same seed gives the same bytes; default 1",
                                    CLI_COUNT(seed, 0, UINT64_C(1) << 53)};
const cli_option cli_option_prices = {"prices", "PROFILE", "price profile (see 'list prices') or an XML file",
                                      CLI_TEXT(prices)};
const cli_option cli_option_threads = {"threads", "N", "threads to use; default all processors. Changes no result",
                                       CLI_COUNT(n_threads, 1, 1024)};
const cli_option cli_option_out = {"out", "DIR", "also write the report in every file format into this folder",
                                   CLI_TEXT(out), .names = "folder"};
const cli_option cli_option_format = {
    "format", "NAME",
    "what to print: text (default), json, xml, markdown, csv, html, svg, graphml, flows and more: list formats",
    .apply = apply_format};
const cli_option cli_option_table = {
    "table", "NAME",
    "which table of the report csv is: its path in JSON, such as cost.lines; 'list' names them, 'all' has them all",
    CLI_TEXT(table), .names = "table"};
const cli_option cli_option_json = {"json", NULL, "print one JSON object; short for --format json",
                                    .apply = apply_json};
const cli_option cli_option_quiet = {"quiet", NULL, "no progress and no closing line on stderr", CLI_FLAG(quiet)};
const cli_option cli_option_force = {"force", NULL, "overwrite existing files", CLI_FLAG(force)};
const cli_option cli_option_color = {"color", "WHEN", "colours in text: auto (default), always, never",
                                     CLI_CHOICE(color, WHEN)};
const cli_option cli_option_conventions = {
    "conventions", NULL, "in text: also how things are counted, what the model leaves out, and where figures come from",
    CLI_FLAG(conventions)};
const cli_option cli_option_help = {"help", NULL, "print this help", CLI_FLAG(help)};

const cli_option *cli_option_at(const cli_command *command, size_t i) {
    const cli_option *const *o = command->options;
    for (; *o != NULL && i > 0; i--) {
        o++;
    }
    for (o = *o != NULL ? o : CLI_COMMON_OPTIONS; *o != NULL && i > 0; i--) {
        o++;
    }
    return *o;
}

static const cli_option *find_option(const cli_command *command, const char *name, size_t length) {
    const cli_option *o = NULL;
    for (size_t i = 0; (o = cli_option_at(command, i)) != NULL; i++) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            break;
        }
    }
    return o;
}

bool cli_is_given(const cli_options *options, const cli_option *option) {
    size_t i = 0;
    while (options->command->options[i] != NULL && options->command->options[i] != option) {
        i++;
    }
    return options->command->options[i] != NULL && (options->given >> i & 1) != 0;
}

typedef struct field_search {
    const char *name;
    bool is_of_design, is_of_job;
} field_search;

static void match_field(void *context, const char *path, const char *example, const char *initial,
                        const char *summary) {
    field_search *search = context;
    const char *dot = strrchr(path, '.');
    bool same = dot != NULL && strcmp(dot + 1, search->name) == 0;
    (void)example, (void)initial, (void)summary;
    search->is_of_design = search->is_of_design || (same && strncmp(path, "fabric.", 7) == 0);
    search->is_of_job = search->is_of_job || (same && strncmp(path, "job.", 4) == 0);
}

/* Where a field that is typed as an option belongs, or "". `text`: 128 bytes. */
static const char *place_of_field(const cli_command *command, const char *word, char *text) {
    field_search search = {.name = word + strspn(word, "-")};
    bool may_set = false;
    bool has_job = false;
    bool routes = false;
    for (const cli_option *const *o = command->options; *o != NULL; o++) {
        may_set = may_set || *o == &cli_option_set;
        has_job = has_job || *o == &cli_option_job;
        routes = routes || *o == &cli_option_engine;
    }
    fab_design_each_field(match_field, &search);
    text[0] = '\0';
    if (may_set && search.is_of_design) {
        (void)snprintf(text, 128, "; it is a key of the design: --set %.40s=VALUE", search.name);
    } else if (routes && strcmp(search.name, "qp") == 0) {
        (void)snprintf(text, 128, "; it is a key of engines: --engine ecmp,qp=4");
    } else if (has_job && search.is_of_job) {
        (void)snprintf(text, 128, "; it is a key of the job: --job %.40s=VALUE", search.name);
    }
    return text;
}

/* The commands that have an option which this one has not, or "". `text`: 128 bytes. */
static const char *who_has(const char *name, char *text) {
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; CLI_COMMANDS[i] != NULL; i++) {
        if (find_option(CLI_COMMANDS[i], name, strlen(name)) != NULL && ++n <= MOST_NAMED) {
            fab_append(text, 128, "%s%s", n == 1 ? "; commands that have it: " : ", ", CLI_COMMANDS[i]->name);
        }
    }
    fab_append(text, 128, "%s", n > MOST_NAMED ? " and others" : "");
    return text;
}

static fab_status unknown_option(const cli_command *command, const char *argument, size_t length, fab_error *err) {
    char word[64];
    FAB_FORMAT(word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), argument);
    char hint[FAB_CHOICES_TEXT];
    fab_choices near = fab_choices_of(word);
    const cli_option *option = NULL;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        char candidate[64];
        FAB_FORMAT(candidate, "--%s", option->name);
        fab_choices_offer(&near, candidate);
    }
    const char *name = word + strspn(word, "-");
    for (const cli_option *const *o = command->options; strlen(name) == 1 && *o != NULL; o++) {
        CLI_REFUSE_IF((*o)->name[0] == name[0], err, "command %s: unknown option '%s'; did you mean '--%s'?",
                      command->name, word, (*o)->name);
    }
    if (place_of_field(command, word, hint)[0] == '\0' && who_has(name, hint)[0] == '\0') {
        FAB_FORMAT(hint, "%s", fab_choices_hint(&near));
    }
    return cli_misused(err, "command %s: unknown option '%s'%s", command->name, word, hint);
}

/* Reads the option at argv[*at] and moves *at to its last word. */
static fab_status parse_option(int argc, char **argv, int *at, cli_options *out, fab_error *err) {
    const char *argument = argv[*at];
    size_t length = strcspn(argument, "=");
    const cli_option *option = NULL;
    if (strncmp(argument, "--", 2) == 0) {
        option = find_option(out->command, argument + 2, length - 2);
    } else if (strcmp(argument, "-h") == 0) {
        option = &cli_option_help;
    }
    FAB_RETURN_IF(option == NULL, unknown_option(out->command, argument, length, err));
    for (size_t i = 0; out->command->options[i] != NULL; i++) {
        if (out->command->options[i] == option && option->list == 0 && !option->is_repeatable) {
            CLI_REFUSE_IF((out->given >> i & 1) != 0, err, "option --%s is given twice", option->name);
            out->given |= UINT64_C(1) << i;
        }
    }
    const char *value = argument[length] == '=' ? argument + length + 1 : NULL;
    if (option->argument == NULL) {
        CLI_REFUSE_IF(value != NULL, err, "option --%s takes no value", option->name);
    } else if (value == NULL) {
        CLI_REFUSE_IF(*at + 1 >= argc, err, "option --%s needs a value: --%s %s", option->name, option->name,
                      option->argument);
        value = argv[++*at];
    }
    return apply(option, value, out, err);
}

fab_status cli_needs(const cli_command *command, bool is_given, const char *what, fab_error *err) {
    const char *example = command->examples[0];
    char word[32];
    FAB_FORMAT(word, "%.*s", (int)strcspn(what, " "), what);
    for (size_t i = 0; what[0] == '-' && command->examples[i] != NULL; i++) {
        if (strstr(command->examples[i], word) != NULL) {
            example = command->examples[i];
            break;
        }
    }
    return is_given ? FAB_OK : cli_misused(err, "command %s needs %s, as in: %s", command->name, what, example);
}

fab_status cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out, fab_error *err) {
    *out = (cli_options){.command = command, .seed = 1, .n_seeds = 1, .n_threads = fab_n_processors(), .n_shards = 1};
    size_t n = (size_t)argc;
    out->words = argv;
    out->n_words = n;
    enum { N_LISTS = 11 };
    cli_list *const lists[N_LISTS] = {&out->operands,   &out->overrides, &out->jobs,         &out->engines,
                                      &out->weak_parts, &out->exports,   &out->failed_parts, &out->policies,
                                      &out->before,     &out->after,     &out->counters};
    const char **room = NULL; /* each list holds at most every word */
    FAB_PASS(FAB_NEW(room, N_LISTS * (n + 1), err));
    for (size_t i = 0; i < N_LISTS; i++) {
        lists[i]->items = room + i * n;
    }
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        const char *argument = argv[i];
        if (only_operands || argument[0] != '-' || argument[1] == '\0') {
            options_push(&out->operands, argument);
        } else if (strcmp(argument, "--") == 0) {
            only_operands = true;
        } else {
            FAB_PASS(parse_option(argc, argv, &i, out, err));
        }
    }
    if (out->help) {
        return FAB_OK;
    }
    CLI_REFUSE_IF(out->table != NULL && !cli_writes(out, "csv"), err,
                  "option --table: neither --format nor --export asks for csv");
    FAB_PASS(cli_needs(command, out->operands.n >= command->min_operands, command->operands, err));
    CLI_REFUSE_IF(out->operands.n > command->max_operands, err, "command %s: '%.60s' is one operand too many%s",
                  command->name, out->operands.items[command->max_operands],
                  strchr(out->operands.items[command->max_operands], '=') != NULL
                      ? "; settings stand behind a comma, as in clos:gpus=64,radix=16"
                  : command->max_operands > 0                ? ""
                  : strncmp(command->name, "study ", 6) == 0 ? "; the folder of the study is named by --store"
                                                             : "; it takes options alone");
    return FAB_OK;
}

FAB_RELEASES(cli_options_release, cli_options, operands.items);

static fab_status add_policy(const char *name, size_t length, fab_policy *out, size_t *n, fab_error *err) {
    char text[48];
    fab_policy policy = FAB_POLICY_NONE;
    fab_error inner = {0};
    FAB_FORMAT(text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), name);
    CLI_REFUSE_IF(fab_policy_parse(text, &policy, &inner) != FAB_OK, err, "option --policy: %s", inner.text);
    for (size_t i = 0; i < *n; i++) {
        CLI_REFUSE_IF(out[i] == policy, err, "option --policy: '%s' is given twice", fab_policies[policy]);
    }
    out[(*n)++] = policy; /* no more than there are, since none is there twice */
    return FAB_OK;
}

fab_status cli_read_policies(const cli_options *options, fab_policy *out, size_t *out_n, fab_error *err) {
    *out_n = 0;
    for (size_t i = 0; i < options->policies.n; i++) {
        for (const char *at = options->policies.items[i]; at != NULL;) {
            size_t length = strcspn(at, ",");
            FAB_PASS(add_policy(at, length, out, out_n, err));
            at = at[length] == ',' ? at + length + 1 : NULL;
        }
    }
    return FAB_OK;
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

/* One piece of --job. A piece without '=' continues the value before it: "servers=0-15,20". */
static size_t piece_length(const char *text) {
    size_t n = strcspn(text, ",");
    while (text[n] == ',') {
        size_t next = strcspn(text + n + 1, ",");
        if (memchr(text + n + 1, '=', next) != NULL || next == 0) {
            break;
        }
        n += 1 + next;
    }
    return n;
}

fab_status cli_set_job(fab_design *design, size_t job, const char *text, const char *option, fab_error *err) {
    FAB_OWNED char *piece = NULL;
    for (const char *at = text; *at != '\0';) {
        size_t n = piece_length(at);
        free(piece);
        piece = NULL;
        FAB_PASS(FAB_NEW(piece, n + 1, err));
        memcpy(piece, at, n);
        char *value = strchr(piece, '=');
        CLI_REFUSE_IF(value == NULL || value == piece, err,
                      "option %s: '%.60s' is not key=value (such as model=llama3-70b,tp=8)", option, piece);
        *value++ = '\0';
        FAB_PASS(fab_design_set_job(design, job, piece, value, option, err));
        at += n + (at[n] == ',' ? 1 : 0);
    }
    return FAB_OK;
}

/* The job that has the id which is given; of a new one the first --job names the first job, and others add one. */
static size_t job_named(const fab_design *design, const char *text, bool is_first) {
    while (*text != '\0' && strncmp(text, "id=", 3) != 0) {
        text += piece_length(text);
        text += *text == ',';
    }
    for (size_t job = 0; *text != '\0' && job < design->n_jobs; job++) {
        if (strlen(design->jobs[job].id) == strcspn(text + 3, ",") &&
            strncmp(design->jobs[job].id, text + 3, strcspn(text + 3, ",")) == 0) {
            return job;
        }
    }
    return *text == '\0' || is_first ? 0 : design->n_jobs;
}

fab_status cli_check_placement(const char *traffic, const char *option, fab_error *err) {
    const bool is_file = traffic != NULL && strncmp(traffic, "file:", 5) == 0;
    CLI_REFUSE_IF(is_file || (traffic != NULL && strncmp(traffic, "pattern:", 8) == 0), err,
                  "option --%s: job.placement moves no traffic of %s; %s", option, is_file ? "a file" : "a pattern",
                  is_file ? "its rows name GPUs or servers: exchange rows and columns of the file"
                          : "write --traffic pattern:NAME,placement=...");
    return FAB_OK;
}

fab_status cli_set_jobs(const cli_options *options, fab_design *out, fab_error *err) {
    for (size_t i = 0; i < options->jobs.n; i++) {
        const char *text = options->jobs.items[i];
        FAB_PASS(cli_set_job(out, job_named(out, text, i == 0), text, "--job", err));
    }
    FAB_ANY(is_placed, i, out->n_jobs, out->jobs[i].placement_given);
    return is_placed ? cli_check_placement(options->traffic, "job", err) : FAB_OK;
}
