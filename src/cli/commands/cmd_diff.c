#include "cli.h"

#include "fab/degrade.h"
#include "fab/diff_run.h"
#include "fab/network.h"
#include "fab/source.h"

#include <errno.h>
#include <sys/stat.h>

#define MOST_BYTES ((size_t)1 << 30) /* of a report, or of a list of servers */
#define HEAD       4096              /* of a file that is looked at to tell what it is */

static const cli_option OPTION_BEFORE = {
    "before", "STATE",
    "what holds for the first state alone: a key of the job (servers=0-3, placement=packed, tp=4,pp=2), servers=FILE "
    "or a Slurm list of hosts, fail=COMPONENT, degrade=PART=FRACTION, engine=NAME,..., or a path of --set "
    "(fabric.taper=2); can be repeated",
    CLI_LIST(before)};

static const cli_option OPTION_AFTER = {"after", "STATE", "the same for the second state; can be repeated",
                                        CLI_LIST(after)};

static const cli_option OPTION_TOLERANCE = {
    "tolerance", "RATIO",
    "end with exit code 1 where the second state takes longer than so many times the first, 1.05 for 5 %: its "
    "iteration, or any phase of what has none",
    CLI_QUANTITY(tolerance, FAB_UNIT_RATIO)};

/* One side of the command line. */
typedef struct side {
    cli_options options; /* the common ones and its own; lists are in `room` */
    const char **room;
    const char **failed;
    size_t n_failed;
    fab_str name;
    fab_str texts[2]; /* of an imported file: overrides */
    char **degraded;  /* shape [n_states]: "PART*FRACTION" */
    fab_str bytes;    /* of a report */
    fab_str hosts;
    const char *hosts_where;
    fab_design *design;
    bool is_imported;
    fab_saved_file dump; /* of a design beside what is installed: the file that it would be; never committed */
} side;

static void side_release(side *s) {
    for (size_t i = 0; s->degraded != NULL && s->degraded[i] != NULL; i++) {
        free(s->degraded[i]);
    }
    fab_str_release(&s->name);
    fab_str_release(&s->texts[0]);
    fab_str_release(&s->texts[1]);
    fab_str_release(&s->bytes);
    fab_str_release(&s->hosts);
    fab_save_release(&s->dump, 1);
    FAB_FREE_ALL((void *)s->room, (void *)s->failed, (void *)s->degraded, s->design);
}

/* --- what holds for one state ------------------------------------------------------------------------------------- */

/* "PART=FRACTION" as the component "PART*FRACTION"; `slot` is the first free one of s->degraded. */
static fab_status add_degraded(side *s, const char *text, size_t slot, fab_error *err) {
    fab_weak_part part;
    fab_str name = FAB_STR_INIT;
    FAB_PASS(fab_weak_part_parse(text, &part, err));
    if (part.ratio >= 1) {
        return FAB_OK;
    }
    fab_str_printf(&name, "%s*%s", part.name, fab_format_double(FAB_ROOM, part.ratio));
    FAB_PASS(fab_str_status(&name, err));
    s->degraded[slot] = name.data;
    s->failed[s->n_failed++] = name.data;
    return FAB_OK;
}

/* "servers=0-3,8" is a key of jobs; anything else there is a file of names, or a list of them. */
static bool names_hosts(const char *value) {
    return value[strspn(value, "0123456789,-:")] != '\0' && strchr(value, '=') == NULL;
}

static fab_status read_hosts(side *s, const char *option, const char *value, fab_error *err) {
    struct stat about;
    const char *end = strrchr(value, '.');
    s->hosts_where = value;
    if (stat(value, &about) == 0) {
        return fab_read_file(value, MOST_BYTES, &s->hosts, err);
    }
    /* no host has such a name */
    FAB_REFUSE_IF(strchr(value, '/') != NULL || (end != NULL && strcmp(end, ".txt") == 0), err, FAB_EIO, value,
                  "the list of servers of --%s cannot be read: %s", option, strerror(errno));
    fab_str_add(&s->hosts, value);
    return fab_str_status(&s->hosts, err);
}

static fab_status take_state(side *s, const char *option, const char *text, size_t *n_degraded, fab_error *err) {
    size_t key = strcspn(text, "=");
    const char *value = text + key + 1;
    cli_options *o = &s->options;
    CLI_REFUSE_IF(text[key] == '\0' || key == 0 || *value == '\0', err,
                  "option --%s: '%.60s' is not key=value (such as servers=0-3)", option, text);
    if (strncmp(text, "fail=", 5) == 0) {
        s->failed[s->n_failed++] = value;
    } else if (strncmp(text, "degrade=", 8) == 0) {
        size_t n = s->n_failed;
        FAB_PASS(add_degraded(s, value, *n_degraded, err));
        *n_degraded += s->n_failed - n;
    } else if (strncmp(text, "engine=", 7) == 0) {
        o->engines.items[o->engines.n++] = value;
    } else if (strncmp(text, "servers=", 8) == 0 && names_hosts(value)) {
        FAB_PASS(read_hosts(s, option, value, err));
    } else if (memchr(text, '.', key) != NULL) {
        o->overrides.items[o->overrides.n++] = text;
    } else {
        o->jobs.items[o->jobs.n++] = text;
    }
    return FAB_OK;
}

static void copy_list(const cli_list *from, const char **room, cli_list *to) {
    FAB_FILL(room, from->n, from->items[fab_at]);
    to->items = room;
    to->n = from->n;
}

/* The options of one side: the common ones, then those of the state. Engines of the state replace the common ones. */
static fab_status side_options(const cli_options *options, bool is_after, side *s, fab_error *err) {
    const cli_list *states = is_after ? &options->after : &options->before;
    const char *option = is_after ? "after" : "before";
    size_t most = states->n + options->overrides.n + options->jobs.n + options->engines.n + 3;
    size_t n_degraded = 0;
    FAB_PASS(fab_allocate(3 * most, sizeof(char *), &s->room, err));
    FAB_PASS(fab_allocate(states->n + 1, sizeof(char *), &s->failed, err));
    FAB_PASS(fab_allocate(states->n + 1, sizeof(char *), &s->degraded, err));
    s->options = *options;
    copy_list(&options->overrides, s->room, &s->options.overrides);
    copy_list(&options->jobs, s->room + most, &s->options.jobs);
    copy_list(&options->engines, s->room + 2 * most, &s->options.engines);
    FAB_ANY(has_engine, i, states->n, strncmp(states->items[i], "engine=", 7) == 0);
    s->options.engines.n = has_engine ? 0 : s->options.engines.n;
    for (size_t i = 0; i < states->n; i++) {
        FAB_PASS(take_state(s, option, states->items[i], &n_degraded, err));
    }
    return s->options.engines.n <= FAB_MAX_ENGINES
               ? FAB_OK
               : cli_misused(err, "option --%s: more than %d engines", option, FAB_MAX_ENGINES);
}

/* --- what an operand is ------------------------------------------------------------------------------------------- */

typedef enum operand { OPERAND_DESIGN, OPERAND_REPORT, OPERAND_IMPORT } operand;

static fab_status find_operand(const char *text, operand *out, fab_error *err) {
    char head[HEAD + 1] = "";
    struct stat about;
    *out = OPERAND_DESIGN; /* which says what is wrong with it */
    if (strcmp(text, "-") != 0 && (stat(text, &about) != 0 || !S_ISREG(about.st_mode))) {
        return FAB_OK;
    }
    size_t n = 0;
    FAB_PASS(fab_source_head(text, head, HEAD, &n, err));
    head[n] = '\0';
    size_t blank = strncmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    blank += strspn(head + blank, " \t\r\n");
    const fab_network_format *format =
        NULL; /* of JSON too, or what looks like it: OpenSM's lists begin with "{ CA Ports:01" */
    FAB_PASS(head[blank] == '{' ? fab_network_recognise(head + blank, &format, err) : FAB_OK);
    *out = head[blank] == '{' && format == NULL ? OPERAND_REPORT
           : strstr(head, "<design") != NULL    ? OPERAND_DESIGN
                                                : OPERAND_IMPORT;
    return FAB_OK;
}

static fab_status side_open(const cli_options *options, bool is_after, side *s, fab_error *err) {
    const char *text = options->operands.items[is_after && options->operands.n > 1 ? 1 : 0];
    operand kind = OPERAND_DESIGN;
    FAB_PASS(find_operand(text, &kind, err));
    FAB_PASS(side_options(options, is_after, s, err));
    if (kind == OPERAND_REPORT) {
        return (is_after ? options->after.n : options->before.n) == 0
                   ? fab_read_file(text, MOST_BYTES, &s->bytes, err)
                   : cli_misused(err, "option --%s: '%.120s' is a report, which stands as it is",
                                 is_after ? "after" : "before", text);
    }
    if (kind == OPERAND_IMPORT) {
        fab_str_printf(&s->texts[0], "fabric.file=%s", text);
        fab_str_printf(&s->texts[1], "fabric.format=%s", options->input_format != NULL ? options->input_format : "");
        for (int i = 0; i < 2; i++) {
            FAB_PASS(fab_str_status(&s->texts[i], err));
            s->options.overrides.items[s->options.overrides.n++] = s->texts[i].data;
        }
    }
    s->is_imported = kind == OPERAND_IMPORT;
    FAB_PASS(cli_open_design(&s->options, s->is_imported ? "installed:" : text, &s->design, err));
    s->is_imported = strcmp(s->design->fabric.family, "installed") == 0;
    return FAB_OK;
}

/* --- a plan beside what is installed ------------------------------------------------------------------------------ */

/* The plan as a file in the format; *out_can is false where it cannot be one: InfiniBand has no such rate, say. A
 * signal that ends the process removes it, as it does whatever is being saved. */
static fab_status write_dump(side *s, const char *format, bool *out_can, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    fab_result result = {0};
    fab_error inner = {0};
    const fab_report_content what = {fab_report_format_find(format), &result, NULL};
    const char *folder = getenv("TMPDIR");
    fab_save_release(&s->dump, 1);
    s->dump = (fab_saved_file){.final = FAB_STR_INIT, .temporary = FAB_STR_INIT};
    fab_str_printf(&s->dump.final, "%s/fabriscope-plan", folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    FAB_PASS(fab_str_status(&s->dump.final, err));
    FAB_PASS(fab_topology_build(&s->design->fabric, &graph, NULL, err));
    result.graph = graph;
    const fab_status status = fab_save_write(&s->dump, fab_report_save, &what, &inner);
    *out_can = status == FAB_OK;
    return fab_unless_refused(err, status, &inner);
}

/* A design beside a dump or list is compared as the same of it, port by port: what differs are then names and cables,
 * and no values that a dump does not tell. */
static fab_status install_plan(side *s, const char *other, fab_error *err) {
    char head[HEAD + 1] = "";
    char servers[48];
    size_t n = 0;
    bool can = false;
    FAB_PASS(fab_source_head(other, head, HEAD, &n, err));
    head[n] = '\0';
    FAB_PASS(strstr(head, "guid=") != NULL ? write_dump(s, "ibnet", &can, err) : FAB_OK);
    FAB_PASS(!can ? write_dump(s, "cables", &can, err) : FAB_OK);
    if (!can) {
        return FAB_OK;
    }
    FAB_OWNS(fab_str_release) fab_str file = FAB_STR_INIT;
    fab_str_printf(&file, "fabric.file=%s", s->dump.temporary.data);
    FAB_PASS(fab_str_status(&file, err));
    FAB_FORMAT(servers, "fabric.gpus-per-server=%" PRIu64, s->design->fabric.gpus_per_server);
    const char *const keys[2] = {file.data, servers};
    FAB_OWNED_NEW(fab_design, installed, 1, err);
    FAB_PASS(fab_design_read("installed:", keys, 2, installed, err));
    const uint64_t max_bytes = s->design->fabric.max_bytes;
    s->design->fabric = installed->fabric;
    s->design->fabric.max_bytes = max_bytes;
    s->is_imported = true;
    return FAB_OK;
}

/* --- all together ------------------------------------------------------------------------------------------------- */

/* The operand, and what holds for it alone. */
static fab_status name_state(const cli_options *options, bool is_after, fab_str *out, fab_error *err) {
    const cli_list *states = is_after ? &options->after : &options->before;
    fab_str_add(out, options->operands.items[is_after && options->operands.n > 1 ? 1 : 0]);
    for (size_t i = 0; i < states->n; i++) {
        fab_str_printf(out, ", %s", states->items[i]);
    }
    return fab_str_status(out, err);
}

static fab_diff_state state_of(const side *s) {
    return (fab_diff_state){.name = s->name.data,
                            .design = s->design,
                            .is_imported = s->is_imported,
                            .hosts = s->hosts.data,
                            .hosts_where = s->hosts_where,
                            .failed = s->failed,
                            .n_failed = s->n_failed,
                            .report = s->bytes.data != NULL ? s->bytes.data : ""};
}

/* What is InfiniBand in one state is so in the other: a plan does not say it. */
static void route_alike(fab_design *before, fab_design *after) {
    fab_subnet *const a = &before->fabric.subnet;
    fab_subnet *const b = &after->fabric.subnet;
    *a = *b = *a > *b ? *a : *b;
    cli_default_engine(before);
    cli_default_engine(after);
}

static fab_status open_both(const cli_options *options, side *before, side *after, fab_error *err) {
    const cli_list *of = &options->operands;
    FAB_PASS(side_open(options, false, before, err));
    FAB_PASS(side_open(options, true, after, err));
    if (before->design == NULL || after->design == NULL) {
        return FAB_OK;
    }
    if (before->is_imported != after->is_imported) {
        FAB_PASS(before->is_imported ? install_plan(after, of->items[0], err)
                                     : install_plan(before, of->items[1], err));
    }
    route_alike(before->design, after->design);
    return FAB_OK;
}

static fab_status diff_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(side_release) side before = {.room = NULL};
    FAB_OWNS(side_release) side after = {.room = NULL};
    FAB_OWNS(fab_difference_free_owned) fab_difference *difference = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    fab_diff_request request = {.traffic = options->traffic != NULL ? options->traffic : "job",
                                .seed = options->seed,
                                .n_seeds = cli_is_given(options, &cli_option_seeds) ? options->n_seeds : 0,
                                .n_threads = (size_t)options->n_threads,
                                .tolerance = options->tolerance};
    FAB_PASS(cli_check_out(options, err));
    FAB_REFUSE_IF(cli_is_front_end(request.traffic), err, FAB_EUNSUPPORTED, NULL,
                  "traffic of the front-end: diff knows the first network only");
    FAB_PASS(cli_result_init(options, FAB_COMMAND_DIFF, 0, &result, err));
    for (int i = 0; i < 2; i++) {
        side *s = i == 0 ? &before : &after;
        FAB_PASS(name_state(options, i == 1, &s->name, err));
    }
    FAB_PASS(open_both(options, &before, &after, err));
    request.before = state_of(&before);
    request.after = state_of(&after);
    CLI_REFUSE_IF(request.before.design == NULL && request.after.design == NULL &&
                      options->overrides.n + options->jobs.n + options->engines.n > 0,
                  err, "--set, --job and --engine are of designs, and both states are reports");
    FAB_PASS(fab_diff_run(&request, &difference, err));
    result.difference = difference;
    for (int i = 0; i < 2; i++) {
        const fab_design *d = i == 0 ? before.design : after.design;
        FAB_PASS(d != NULL && d->n_jobs > 0 && strcmp(d->fabric.family, "installed") != 0
                     ? fab_warn_of_gpu(&result, &d->jobs[0], &d->fabric, err)
                     : FAB_OK);
    }
    FAB_PASS(cli_report(options, &result, out, err));
    FAB_REFUSE_IF(difference->is_beyond, err, FAB_ETHRESHOLD, NULL, "%s: beyond the tolerance of x%g",
                  difference->verdict, difference->tolerance);
    return FAB_OK;
}

const cli_command cli_command_diff = {
    .name = "diff",
    CLI_OPERANDS("BEFORE [AFTER]", 1, 2),
    .summary = "why it is slower than before: two states of a network and its job, what changed and what that does",
    .details = "A state is a design, a dump or list that 'import' reads, or a report that 'run' or 'route' wrote with "
               "--json; --before and --after say what holds for one of them. Says what changed, which links collide "
               "that did not and who meets there, and the times phase by phase. Every change is undone by itself, and "
               "made by itself in the first state, so that the cause is evaluated and not guessed; where none is "
               "verified, it says so. Of reports only what "
               "they hold is compared; a design beside a dump is compared as its own dump.",
    CLI_EXAMPLES(
        "fabriscope diff preset:llama3-talk-racks --engine pinned --before servers=0,1,2,3 --after servers=0,1,2,4",
        ("fabriscope diff preset:llama3-talk-racks --engine pinned --after 'fail=leaf-0:17 > spine-0:1' "
         "--tolerance 1.05"),
        "fabriscope diff clos:gpus=256 clos:gpus=256,taper=2 --traffic pattern:permutation --engine ecmp,qp=16",
        "fabriscope diff tuesday.out today.out --set gpus-per-server=8 --job model=llama3-8b",
        "fabriscope diff network.xml --before servers=tuesday.txt --after servers=today.txt",
        "fabriscope diff before.json after.json --tolerance 1.05"),
    CLI_OPTIONS(&OPTION_BEFORE, &OPTION_AFTER, &OPTION_TOLERANCE, &cli_option_input_format, &cli_option_traffic,
                &cli_option_transport, CLI_REPLAY_OPTIONS, &cli_option_set, &cli_option_job, CLI_REPORT_OPTIONS),
    .run = diff_run,
};
