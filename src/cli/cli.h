/**
 * What the commands share. Only src/cli prints, exits and reads the environment.
 *
 * To add a command:
 *  1. write cmd_NAME.c with one `const cli_command cli_command_NAME`: its operands, summary, options and `run`;
 *  2. declare it below and add it to CLI_COMMANDS in commands/commands.c;
 *  3. list its options in its table; a new option is one `cli_option` in options.c (or in the command's own file when
 *     nobody shares it) and a field of cli_options. Help is made from these tables;
 *  4. add a case to tests/cli/cases.
 * A command with subcommands has a table of them instead of `run` (cmd_study.c); its options are those of all of them.
 */
#pragma once

#include "fab/optimum.h"
#include "fab/advice.h"
#include "fab/analysis.h"
#include "fab/choices.h"
#include "fab/overlay.h"
#include "fab/published.h"
#include "fab/relocate.h"
#include "fab/reports.h"
#include "fab/save.h"
#include "fab/sweep.h"
#include "fab/units.h"
#include "fab/place_run.h"
#include "session_part.h"

typedef struct fab_design fab_design;

typedef struct cli_command cli_command;

/** Texts of a repeatable option, or the operands; they point into argv. */
typedef struct cli_list {
    const char **items;
    size_t n;
} cli_list;

typedef enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER } cli_when;
typedef enum cli_figures { CLI_TIMES, CLI_LOADS, CLI_P99 } cli_figures;
typedef enum cli_dump_format { CLI_DUMP_TABLES, CLI_DUMP_LFT } cli_dump_format;

/** What `optimize` is asked for; 0 and NULL where not given. */
typedef struct cli_search {
    uint64_t gpus, gpus_per_server, domain;
    double nic_bps, time_limit_s;
    fab_limits limits;
    fab_objective objective;
    uint64_t replays; /**< 0: not given */
    const char *catalog;
    const char *families; /**< names with commas between, or NULL: all of the catalog */
} cli_search;

/** What `route --advise` is asked for. */
typedef struct cli_advise_options {
    bool on;
    uint64_t budget;
} cli_advise_options;

/** What `busbw` is asked for. */
typedef struct cli_busbw {
    unsigned collective, algorithm; /**< of the tables in cmd_busbw.c */
    uint64_t ranks;                 /**< 0: not given */
    double bytes;                   /**< 0: not given */
    const char *measured;           /**< or NULL */
} cli_busbw;

/** A command line as read. */
typedef struct cli_options {
    const cli_command *command;
    char **words; /**< behind the command, as given */
    size_t n_words;
    uint64_t given; /**< bit i: option i of the command's table was given */
    cli_list operands, overrides, jobs, engines, weak_parts, exports, failed_parts, policies, before, after, counters;
    const char *traffic, *transport, *prices, *format, *table, *out, *timeline, *export_path, *patch, *dump, *explain,
        *certificate; /**< NULL when not given */
    cli_search search;
    cli_advise_options advise;
    cli_busbw busbw;
    uint64_t seed, n_seeds, n_threads;
    uint64_t max_memory;   /**< bytes that the run may take; 0: not known */
    bool max_memory_given; /**< else it is what the machine has free */
    double max_time_s;     /**< 0: as long as it takes */
    cli_when color;
    fab_view view;       /**< of graphs */
    fab_picture picture; /**< of drawings */
    const char *picture_phase;
    const char *store, *scenarios;     /**< study; NULL when not given */
    cli_figures figures;               /**< study plan */
    uint64_t shard, n_shards;          /**< study run: this worker's share */
    bool partial;                      /**< study gather */
    uint64_t top, variant;             /**< study show; 0: the default */
    const char *vary[FAB_SWEEP_PATHS]; /**< sweep: "path=v1,v2,..." */
    size_t n_vary;
    const char *ranking, *serving; /**< mix: fields of these jobs, or NULL */
    double share;                  /**< mix: of the training job */
    double interval_s;             /**< observe: between the snapshots; 0: as they say */
    double tolerance;  /**< diff: the ratio of times that passes, busbw: what may lack; 0: any, the model's own */
    const char *steps; /**< cost: "256,512,1024", or NULL */
    const char *node_name_map;          /**< audit: names by GUID; or NULL */
    const char *against, *input_format; /**< audit: a design or file, and how the operand is read; or NULL */
    const char *output;                 /**< import: the design to write, or NULL */
    const char *completion;             /**< help: a shell, or NULL */
    bool conventions, quiet, force, help, man, verify, bound, interference, prints_file;
    cli_dump_format dump_format;
    /** Gets the result of a command that reports one, instead of its being written; NULL: it is written. */
    fab_status (*take)(void *context, const fab_result *result, fab_error *err);
    void *take_context;
} cli_options;

/** What help says, and where the value goes: one of flag, text, list, quantity, choice, count or apply. */
typedef struct cli_option {
    const char *name;     /**< without the dashes */
    const char *argument; /**< its name in help, NULL for a flag */
    const char *summary;
    size_t flag;                /**< offsetof(cli_options, ...) of a bool that it sets */
    size_t text;                /**< ... of a text that it is */
    size_t list;                /**< ... of a cli_list that it is added to; it may be given several times */
    size_t quantity;            /**< ... of a double above 0, in this unit */
    size_t choice;              /**< ... of an enum: index of one of `choices` */
    size_t count;               /**< ... of a whole number within [min, max] that it is */
    fab_unit unit;              /**< of a quantity */
    const char *const *choices; /**< ended by NULL */
    const char *names;          /**< of a text that may not be empty: what it names, "file" */
    uint64_t min, max;          /**< of a count */
    bool is_repeatable;         /**< may be given several times, and is no list */
    fab_status (*apply)(cli_options *options, const char *value, fab_error *err); /**< everything else */
} cli_option;

/** Where the value of an option goes: a member of cli_options, and what it may be. */
#define CLI_FLAG(member)               .flag = offsetof(cli_options, member)
#define CLI_TEXT(member)               .text = offsetof(cli_options, member)
#define CLI_LIST(member)               .list = offsetof(cli_options, member)
#define CLI_QUANTITY(member, of)       .quantity = offsetof(cli_options, member), .unit = (of)
#define CLI_CHOICE(member, words)      .choice = offsetof(cli_options, member), .choices = (words)
#define CLI_COUNT(member, least, most) .count = offsetof(cli_options, member), .min = (least), .max = (most)

/** What the usage line calls the operands of a command, and the least and most of them. */
#define CLI_OPERANDS(text, least, most) .operands = (text), .min_operands = (least), .max_operands = (most)
#define CLI_EXAMPLES(...)                                                                                              \
    .examples = (const char *const[]) {                                                                                \
        __VA_ARGS__, NULL                                                                                              \
    }
#define CLI_OPTIONS(...)                                                                                               \
    .options = (const cli_option *const[]) {                                                                           \
        __VA_ARGS__, NULL                                                                                              \
    }

struct cli_command {
    const char *name;
    const char *operands; /**< as in the usage line, "" for none */
    size_t min_operands, max_operands;
    const char *summary;                   /**< one line */
    const char *details;                   /**< a paragraph for the command's help, or "" */
    const char *const *examples;           /**< arguments that work as they stand; ended by NULL */
    const cli_option *const *options;      /**< ended by NULL */
    bool hides_usage;                      /**< ends without the line about time and memory on stderr */
    const cli_command *const *subcommands; /**< ended by NULL; their names begin with this one's. NULL: none */
    /** Writes the whole output to `out`, which reaches stdout only if this succeeds. Beside subcommands: of a design in
     * their place; NULL where there is no such thing. */
    fab_status (*run)(const cli_options *options, FILE *out, fab_error *err);
};

/** FAB_EUSAGE of a command line that is wrong; and a check that is refused so. */
#define cli_misused(err, ...)              fab_fail((err), FAB_EUSAGE, NULL, __VA_ARGS__)
#define CLI_REFUSE_IF(condition, err, ...) FAB_REFUSE_IF(condition, err, FAB_EUSAGE, NULL, __VA_ARGS__)

extern const cli_command cli_command_run, cli_command_explore, cli_command_build, cli_command_cost, cli_command_traffic,
    cli_command_route, cli_command_sweep, cli_command_compare, cli_command_place, cli_command_mix, cli_command_plan,
    cli_command_diff, cli_command_busbw, cli_command_optimize, cli_command_validate, cli_command_list,
    cli_command_schema, cli_command_study, cli_command_version, cli_command_explain, cli_command_audit, cli_command_top,
    cli_command_observe, cli_command_import, cli_command_help;
extern const cli_command *const CLI_COMMANDS[]; /**< ended by NULL */
extern const bool CLI_HOLDS;                    /**< main() is called again and again: explore keeps its job open */
/** NULL in the core of a page, which does without the searches that it needs. */
extern fab_place_ordered *const CLI_PLACE_IN_ORDER;

const cli_command *cli_find_command(const char *name);
/** FAB_EUSAGE, with a hint at what may have been meant. */
FAB_STATUS cli_unknown_command(const char *name, fab_error *err);

/** What a subcommand is called behind its command. */
const char *cli_subcommand_name(const cli_command *command, const cli_command *subcommand);

/** @retval FAB_EUSAGE  there is none of this name */
FAB_STATUS cli_find_subcommand(const cli_command *command, const char *name, const cli_command **out, fab_error *err);

/* --- options.c ---------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_set, cli_option_job, cli_option_traffic, cli_option_transport, cli_option_engine,
    cli_option_seeds, cli_option_seed, cli_option_prices, cli_option_threads, cli_option_out, cli_option_format,
    cli_option_table, cli_option_json, cli_option_timeline, cli_option_quiet, cli_option_force, cli_option_color,
    cli_option_conventions, cli_option_help;

/** What a job is replayed under: part of the table of commands that do. */
#define CLI_REPLAY_OPTIONS                                                                                             \
    &cli_option_engine, &cli_option_seeds, &cli_option_seed, &cli_option_prices, &cli_option_threads

/** Files of a graph and its picture. */
#define CLI_GRAPH_OPTIONS &cli_option_export, &cli_option_view, &cli_option_picture

/** Where a report goes and how it looks: part of the table of most commands. */
#define CLI_REPORT_OPTIONS                                                                                             \
    &cli_option_out, &cli_option_force, &cli_option_format, &cli_option_table, &cli_option_json, &cli_option_color,    \
        &cli_option_conventions, &cli_option_quiet

/** Of every command, behind its own; --help is the last. Ended by NULL. */
extern const cli_option *const CLI_COMMON_OPTIONS[];

/** Whether the user gave an option of the command's own. */
bool cli_is_given(const cli_options *options, const cli_option *option);

/** Options of a command, then those of all; NULL behind them. */
const cli_option *cli_option_at(const cli_command *command, size_t i);

/** FAB_EUSAGE where something that the command cannot do without is not given, with an example that has it. */
FAB_STATUS cli_needs(const cli_command *command, bool is_given, const char *what, fab_error *err);

/** Reads the arguments behind the command's name. `out` keeps pointers into argv. */
FAB_STATUS cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out, fab_error *err);
void cli_options_release(cli_options *options);

/** Reads --policy, given once or more, with names between commas. `out` holds FAB_POLICY_N policies. */
FAB_STATUS cli_read_policies(const cli_options *options, fab_policy *out, size_t *out_n, fab_error *err);
/** Of cli_option_histories and cli_option_history_policy: `policy` stays where none is given. */
FAB_STATUS cli_read_histories(const cli_options *options, fab_policy *policy, fab_error *err);

/** FAB_EUSAGE where the key job.placement, given by `option`, would move nothing of `traffic`: a pattern or a file. */
FAB_STATUS cli_check_placement(const char *traffic, const char *option, fab_error *err);
/** Lays "key=value,..." over a job of a design, which may be one more. */
FAB_STATUS cli_set_job(fab_design *design, size_t job, const char *text, const char *option, fab_error *err);

/** The same with all of --job, each of the job that its id names, with cli_check_placement(). */
FAB_STATUS cli_set_jobs(const cli_options *options, fab_design *out, fab_error *err);

/* --- limits.c ----------------------------------------------------------------------------------------------------- */

#define CLI_EXIT_TIME 6 /**< exit code of a run that --max-time has ended */

/** Finds what memory is free where none was given, and sets the limits. */
FAB_STATUS cli_limits_begin(cli_options *options, fab_error *err);

/** For commands that evaluate again and again: what one evaluation frees the next takes, and the system need not clear
 * it anew. They take up to a third more memory at most. */
void cli_keep_freed_memory(void);

/** From here on the run may finish: what is on its way to stdout is printed whole. */
void cli_limits_end_time(void);

/* --- help.c ------------------------------------------------------------------------------------------------------- */

void cli_print_help(FILE *out);
void cli_print_command_help(const cli_command *command, FILE *out);

/* --- help_man.c, completion.c ------------------------------------------------------------------------------------- */

/** Manual page fabriscope(1), or fabriscope-COMMAND(1), in the man macros. */
void cli_print_man(const cli_command *command, FILE *out);

/** A completion script for bash, zsh or fish. */
FAB_STATUS cli_print_completion(const char *shell, FILE *out, fab_error *err);

/** Names of what can be listed, ended by NULL: for completion. */
const char *cli_topic_name(size_t i);

/* --- see.c -------------------------------------------------------------------------------------------------------- */

typedef struct fab_str fab_str;
/** "fabriscope COMMAND DESIGN" with what the user typed that decides the outcome, without the engines and --seeds. */
void cli_write_command(const cli_options *options, const char *command, const char *design, fab_str *out);

/** What is shown alone: NULL and 0 where the options say it already. */
typedef struct cli_shown {
    const char *design;
    const char *const *path; /**< shape [n_values], as the next */
    char *const *value;
    size_t n_values;
    const char *model, *prices, *engine;
    const fab_job_plan *plan;
    uint64_t n_seeds;
    bool has_first_alone; /**< only the first of the engines: the plan is not that of the others */
} cli_shown;

/** Writes into result->see the `run` (of other traffic than the job: `route`) that has the same figures. */
FAB_STATUS cli_see(const cli_options *options, const cli_shown *shown, fab_result *result, fab_error *err);
/** The same of a point: with its plan and its seeds. */
FAB_STATUS cli_see_point(const cli_options *options, const fab_sweep_point *p, cli_shown *shown, fab_result *result,
                         fab_error *err);

/* --- cmd_import.c ------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_input_format;

struct fab_network;
/** Says on stderr which cables of a file were left out, unless --quiet. */
void cli_tell_left_cables(const cli_options *options, const struct fab_network *net);

/* --- session.c ---------------------------------------------------------------------------------------------------- */

/** Reads a design and lays --set, --job, --engine and --prices over it. */
FAB_STATUS cli_read_design(const cli_options *options, const char *name, fab_design *out, fab_error *err);

/** The engine of a design that names none: of a subnet of InfiniBand one by destination, else ecmp. */
void cli_default_engine(fab_design *design);

/** Says of an error of --set that it is of another option, whose value the override has behind `skip` bytes. */
void cli_name_option(const char *option, size_t skip, const char *const *overrides, size_t n, fab_error *err);

/** The same into memory of its own, for free(). */
FAB_STATUS cli_open_design(const cli_options *options, const char *text, fab_design **out, fab_error *err);

/** An empty result of `command` with room for n_fabrics. Release with fab_result_release(). */
FAB_STATUS cli_result_init(const cli_options *options, fab_command command, size_t n_fabrics, fab_result *out,
                           fab_error *err);

/** What the result borrows from it. Zero-initialised; release with cli_further_release(). */
typedef struct cli_further {
    struct fab_contention *contention;
    struct fab_degradation *degradation;
    struct fab_failures *failures;
    bool is_held;                /**< asked again, with other failures */
    struct fab_what_if *what_if; /**< held open then; NULL: not opened so far */
    fab_overlay overlay;         /**< the slower parts, for graphs */
} cli_further;

/** What a command that routes has at hand. Everything in it lives as long as the session. */
typedef struct cli_session {
    const cli_options *options;
    fab_design *asked;    /**< as it was given */
    fab_design *design;   /**< the same; from cli_session_build() on the choice of the first part, borrowed */
    fab_fabric *graph;    /**< NULL before cli_session_build(); so are the next three */
    cli_part *parts;      /**< shape [n_parts]: several where engines have plans of their own */
    fab_context *context; /**< of the first part; borrowed */
    const char *traffic;  /**< as for fab_context_request */
    size_t n_parts;
    fab_fabric *hosts; /**< of the front-end, where the traffic is its; else NULL */
    char text[64];     /**< of the front-end's traffic */
    fab_result result;
    bool is_replayed; /**< the result has all but what goes further */
    fab_ownership ownership;
    bool has_published;
    fab_published known;     /**< all of them, with digests, once somebody asked */
    fab_published published; /**< figures beside those of the job; what parts that break do to it has none */
    cli_further further;
} cli_session;

/** Reads the design of the first operand. Zero-initialise the session; release it whatever comes of it. */
FAB_STATUS cli_session_open(const cli_options *options, fab_command command, const char *traffic, cli_session *out,
                            fab_error *err);

/** Builds the fabric, unless it is there, and a context over it. */
FAB_STATUS cli_session_build(cli_session *session, fab_error *err);

/** Behind the fabric's figures: what a job leaves open of its chunks is chosen, and session->context is of them. */
FAB_STATUS cli_session_choose_chunks(cli_session *session, fab_error *err);

/** Prices the fabric, replays the traffic and reports. A held session: again, with options of other failures. */
FAB_STATUS cli_session_report(cli_session *session, FILE *out, fab_error *err);
void cli_session_release(cli_session *session);

/** Renders the result to `out` in the requested format, and all formats into --out. */
FAB_STATUS cli_report(const cli_options *options, const fab_result *result, FILE *out, fab_error *err);

/* --- outputs.c ---------------------------------------------------------------------------------------------------- */

/** Fails early where a file is there already that --force does not give up. `path` may be NULL. */
FAB_STATUS cli_check_new_file(const cli_options *options, const char *path, fab_error *err);
/** The same of a file in the folder of --out. */
FAB_STATUS cli_check_out_file(const cli_options *options, const char *path, fab_error *err);

/** Whether files of --out may be replaced: --force, or a report.json of this program is in the folder. */
bool cli_may_replace_out(const cli_options *options);

/** The files of --export and --out alone. */
FAB_STATUS cli_write_reports(const cli_options *options, const fab_result *result, fab_error *err);

/** Fails early when --out cannot be written, so that no run is lost for that. */
FAB_STATUS cli_check_out(const cli_options *options, fab_error *err);

#define CLI_ROWS_NAME "scenarios.csv" /**< of `study show`, under --out */

/** Refuses two outputs of one file, by name or through links: one of them would be lost. */
FAB_STATUS cli_check_outputs(const cli_options *options, fab_error *err);

/* --- vary.c ------------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_vary;                                 /**< repeatable */
extern const cli_option cli_option_histories, cli_option_history_policy; /**< of failures, at every point */

/** One parameter and its values; release with cli_vary_release(). */
typedef struct cli_vary {
    char *text; /**< what the others point into */
    const char *path;
    const char **values;
    size_t n_values;
    bool are_designs; /**< the values are the operands of `compare` */
    bool is_of_ecmp;  /**< "qp=...": the engine was not named */
} cli_vary;

/**
 * Reads "path=v1,v2,...". Values that hold commas are separated by '|'; behind `engine` a piece with '=' belongs to the
 * engine before it: "engine=ecmp,qp=16,spray" has two values.
 */
FAB_STATUS cli_vary_parse(const char *text, cli_vary *out, fab_error *err);
void cli_vary_release(cli_vary *vary);

/** Sweeps the design over the parameters and reports it. */
FAB_STATUS cli_sweep_and_report(const cli_options *options, const cli_vary *vary, size_t n_vary, fab_command command,
                                FILE *out, fab_error *err);

/* --- certify.c ---------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_certificate;

/** Writes the certificate that --certificate names, of the session's phases; nothing where it is not given. */
FAB_STATUS cli_certify(cli_session *session, fab_error *err);
/** Writes the certificate of what `context` is; does nothing where it is not asked for. */
FAB_STATUS cli_certify_with(const cli_options *options, fab_save_writer *write, const void *context, fab_error *err);
/** The same of the optimum of `result`. */
FAB_STATUS cli_certify_optimum(const cli_options *options, const fab_result *result, fab_error *err);

/* --- route_advise.c ----------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_advise, cli_option_advise_budget;

/** With --advise: the base alone, over enough seeds. Options that do not go together are FAB_EUSAGE. */
FAB_STATUS cli_advise_begin(const cli_options *options, fab_replay *replay, fab_error *err);

/** With --advise: what changes to the replayed base buy, in result->advice. *out is for fab_advice_free(). */
FAB_STATUS cli_advise(const cli_options *options, const fab_replay *base, fab_result *result, fab_advice **out,
                      fab_error *err);

/* --- cmd_validate.c ----------------------------------------------------------------------------------------------- */

/** Published figures of the design and job of a result, under any engine, beside those of the result. Does nothing
 * where there are none. `known` is filled by the first who asks; `out` is what the result borrows; release it with
 * fab_published_release(). */
FAB_STATUS cli_find_published(const cli_options *options, const fab_design *design, fab_result *result,
                              fab_published *known, fab_published *out, fab_error *err);

/* --- cmd_explore.c ------------------------------------------------------------------------------------------------ */

/** Opens what questions with failures need of the job that explore keeps; does nothing where it keeps none. */
FAB_STATUS cli_explore_hold(fab_error *err);

/* --- run_jobs.c --------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_interference, cli_option_degrade, cli_option_fail, cli_option_policies;

void cli_further_release(cli_further *further);

/** Of command run: what several jobs do to each other, under each engine by its own plans. Not found again. */
FAB_STATUS cli_contend(cli_session *s, fab_replay *replay, fab_error *err);

/** With --degrade what slower parts do, with --fail what failures do. What is in `out` already is not found again. */
FAB_STATUS cli_look_further(const cli_options *options, const fab_replay *base, fab_result *result, cli_further *out,
                            fab_error *err);

/** Opens what a question with failures needs, ahead of it. */
FAB_STATUS cli_hold_failures(const fab_context *context, cli_further *out, fab_error *err);

/** Fails where --degrade, --fail or --interference come with options that have no place for them. */
FAB_STATUS cli_check_further(const cli_options *options, const fab_design *design, fab_error *err);

/* --- export.c ----------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_export /**< repeatable */, cli_option_view, cli_option_picture;

/** Fails early where a file is there already, or --view has nothing to act on. */
FAB_STATUS cli_check_exports(const cli_options *options, fab_error *err);

/** A format is printed, or written by --out or --export. */
bool cli_writes(const cli_options *options, const char *format);

/** Loads of links are shown in what is printed or written. */
bool cli_shows_loads(const cli_options *options);

extern const cli_option cli_option_failed; /**< repeatable */

/** What --fail names, for graphs. Zero-initialised; release with cli_failed_release(). */
typedef struct cli_failed {
    struct fab_floor *floor;
    fab_mask mask;
    fab_overlay overlay;
} cli_failed;

/** Marks the failed parts of result->graph in result->overlay. Does nothing where none are named. */
FAB_STATUS cli_mark_failed(const cli_options *options, fab_result *result, cli_failed *out, fab_error *err);
void cli_failed_release(cli_failed *failed);

/** Says something on stderr, as a line of its own, unless --quiet. */
void cli_tell(const cli_options *options, const char *fmt, ...) FAB_PRINTF(2, 3);

/** Says on stderr what the format cannot hold of this result, unless --quiet. */
void cli_tell_left_out(const cli_options *options, const fab_report_format *format, const fab_result *result);

/** Writes the files that --export names. */
FAB_STATUS cli_write_exports(const cli_options *options, const fab_result *result, fab_error *err);

/* --- terminal.c --------------------------------------------------------------------------------------------------- */

fab_report_style cli_style(const cli_options *options);

/** FAB_EUSAGE where standard output is a terminal and what would be printed is a page, a picture or a packed file. */
FAB_STATUS cli_check_terminal(const cli_options *options, fab_error *err);

/** Standard input and output are one, or two. */
bool cli_has_terminal(void);

/** Progress on stderr: one line that is written over in a terminal, else whole lines, ever more rarely. */
typedef struct cli_progress {
    double started_s, shown_s, every_s;
    double began; /* of what is done, where the part of the work that runs began */
    size_t total; /* of the last step; 0: none */
    bool is_shown, in_terminal;
    const char *unit; /* what is counted: "points"; may be NULL */
    const char *hint; /* what shortens the wait, behind every line; NULL: nothing */
} cli_progress;

/** Begins, unless --quiet; without it nothing is shown. */
void cli_progress_start(cli_progress *progress, const cli_options *options);
void cli_progress_step(void *context, double done, size_t total);
/** Clears the line; returns the status of what was followed. */
FAB_STATUS cli_progress_end(const cli_progress *progress, fab_status status);

/** Seconds of a clock that never jumps. */
double cli_now_s(void);

/** One line: wall time, processor time, peak memory, threads. */
void cli_print_usage_line(double wall_s, uint64_t n_threads);

/** Handler of SIGINT, SIGTERM and SIGHUP; the last stays ignored where it is (nohup). flags: as of sigaction(). */
void cli_set_interrupts(void (*handler)(int), int flags);

/** From here on the first interrupt is noted only, and the second ends the program at once. */
void cli_catch_interrupts(void);
/** From here on the second interrupt leaves the terminal as it is now; false: no longer. */
void cli_keep_modes(bool keeps);
/** Number of the signal that was noted, or 0. */
int cli_interrupted(void);
/** Ends the program as the signal would have, with the exit code 128 + its number; CLI_EXIT_TIME when time was up. */
void cli_end_interrupted(void);

/* --- table.c ------------------------------------------------------------------------------------------------------ */

typedef struct cli_column {
    const char *title; /**< in text */
    const char *field; /**< in JSON */
    bool number;       /**< right-aligned; bare in JSON */
} cli_column;

/** Rows of short texts: aligned columns for people, an array of objects for programs. */
typedef struct cli_table {
    const cli_column *columns;
    size_t n_columns;
    char **cells; /**< shape [n_rows][n_columns] */
    size_t n_cells, capacity;
    bool failed; /**< memory ran out: sticks, and nothing is added from then on */
} cli_table;

void cli_table_release(cli_table *table);

/** Drops the cells behind the first n_cells. */
void cli_table_cut(cli_table *table, size_t n_cells);

/** Adds the next cell; rows fill up from the left. */
void cli_table_add(cli_table *table, const char *fmt, ...) FAB_PRINTF(2, 3);
void cli_table_add_number(cli_table *table, double value);

/** FAB_OK, or FAB_ENOMEM if any cell could not be added. */
FAB_STATUS cli_table_status(const cli_table *table, fab_error *err);

/** Aligned text; the last column wraps at `width` columns. */
FAB_STATUS cli_table_text(const cli_table *table, size_t width, FILE *out, fab_error *err);
/** `[ {...}, ... ]` without a line feed at the end. */
void cli_table_json(const cli_table *table, FILE *out);

/** Words of `text` from column `at` on, continued at column `indent`, ended by a line feed. */
void cli_wrap(const char *text, size_t at, size_t indent, size_t width, FILE *out);
/** The same for a command line, which stays one when it is copied into a shell. */
void cli_wrap_shell(const char *text, size_t at, size_t indent, size_t width, FILE *out);

/* --- cmd_study.c -------------------------------------------------------------------------------------------------- */

extern const cli_option cli_option_store, cli_option_policy;

/* --- study_show.c ------------------------------------------------------------------------------------------------- */

extern const cli_command cli_command_study_show;
/** Fails where a file that `study show` would write is there already. */
FAB_STATUS cli_check_study_show(const cli_options *options, fab_error *err);
extern const cli_option cli_option_top, cli_option_variant;

/* --- front_end.c -------------------------------------------------------------------------------------------------- */

/** "front-end" or "front-end:PHASE". */
bool cli_is_front_end(const char *traffic);
/** Builds the front-end of the design, for traffic of it. FAB_EINPUT: it has none. */
FAB_STATUS cli_front_end_open(cli_session *session, fab_error *err);
/** Makes the front-end the fabric that a report is about. */
void cli_front_end_show(cli_session *session);
