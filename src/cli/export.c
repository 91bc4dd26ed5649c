/* Files that a command writes besides its report, in the format that their name ends in. */
#include "cli.h"

#include "fab/floor_plan.h"

#include <stdarg.h>

/* The longest suffix that fits: ".yed.graphml" before ".graphml". */
static const fab_report_format *format_of(const char *path) {
    const fab_report_format *found = NULL;
    size_t length = strlen(path);
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        const char *suffix = fab_report_formats[i]->suffix;
        size_t n = suffix != NULL ? strlen(suffix) : 0;
        if (n > 0 && n < length && strcmp(path + length - n, suffix) == 0 &&
            (found == NULL || n > strlen(found->suffix))) {
            found = fab_report_formats[i];
        }
    }
    return found;
}

static fab_status apply_export(cli_options *options, const char *value, fab_error *err) {
    if (format_of(value) == NULL) {
        char known[256] = "";
        for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
            if (fab_report_formats[i]->suffix != NULL) {
                fab_append(known, sizeof known, "%s%s", known[0] != '\0' ? ", " : "", fab_report_formats[i]->suffix);
            }
        }
        return cli_misused(err, "option --export: '%.60s' ends in none of %s", value, known);
    }
    for (size_t i = 0; i < options->exports.n; i++) {
        CLI_REFUSE_IF(strcmp(options->exports.items[i], value) == 0, err, "option --export: '%.60s' is given twice",
                      value);
    }
    options->exports.items[options->exports.n++] = value;
    return FAB_OK;
}

const cli_option cli_option_export = {
    "export", "FILE",
    "also write FILE in the format of its suffix: .html, .svg, .graphml, .yed.graphml, .gexf, .dot, .json, .xml, "
    ".md, .png, .pdf, .csv, .cables.csv, .ptm.dot, .tree.conf, .block.conf, .clab.yml, .topo, .simai, .simgrid.xml, "
    ".astra-sim.yml; can be repeated",
    .is_repeatable = true, .apply = apply_export};

const cli_option cli_option_timeline = {
    "timeline", "FILE",
    "also write what every stage does when, and the power it takes, as a trace for Perfetto and chrome://tracing",
    CLI_TEXT(timeline), .names = "file"};

static fab_status apply_view(cli_options *options, const char *value, fab_error *err) {
    fab_choices near = fab_choices_of(value);
    for (fab_view view = FAB_VIEW_AUTO; view < FAB_VIEW_N; view++) {
        if (strcmp(fab_view_names[view], value) == 0) {
            options->view = view;
            return FAB_OK;
        }
        fab_choices_offer(&near, fab_view_names[view]);
    }
    return cli_misused(err, "option --view: unknown view '%.40s'%s", value, fab_choices_hint(&near));
}

const cli_option cli_option_view = {
    "view", "NAME",
    "of graphs: whole, server or leaf (servers as boxes), or merged by pod, rail, plane or tier; default whole, in a "
    "drawing the finest that can be read",
    .apply = apply_view};

static fab_status apply_picture(cli_options *options, const char *value, fab_error *err) {
    static const char *const NAMES[FAB_PICTURE_N] = {[FAB_PICTURE_LOAD] = "load",
                                                     [FAB_PICTURE_COST] = "cost",
                                                     [FAB_PICTURE_FAILURES] = "failures",
                                                     [FAB_PICTURE_AUDIT] = "audit"};
    for (fab_picture picture = FAB_PICTURE_LOAD; picture < FAB_PICTURE_N; picture++) {
        if (strcmp(value, NAMES[picture]) == 0) {
            options->picture = picture;
            return FAB_OK;
        }
    }
    if (strncmp(value, "phase=", 6) == 0 && value[6] != '\0') {
        options->picture = FAB_PICTURE_LOAD;
        options->picture_phase = value + 6;
        return FAB_OK;
    }
    return cli_misused(err, "option --picture: '%.40s' is none of load, cost, failures, audit, phase=NAME", value);
}

const cli_option cli_option_picture = {
    "picture", "WHAT",
    "what the colours of a drawing tell (svg, png, pdf): load, phase=NAME (the load of one phase), cost, failures, "
    "audit; default load, where nothing is replayed failures",
    .apply = apply_picture};

const cli_option cli_option_failed = {
    "fail", "PART[*FRACTION]",
    "mark a part as failed, or as slower, in graphs: leaf-3, 'leaf-0:17 > spine-0:1', nic-7*0.5, server-2, rack-1, "
    "plane-0; can be repeated",
    CLI_LIST(failed_parts)};

/* Racks have names where the design has a floor. */
static fab_status find_racks(const fab_result *result, cli_failed *out, fab_racks *racks, fab_error *err) {
    const fab_fabric_spec *spec = &result->fabrics[0].spec;
    FAB_PASS(fab_floor_is_said(spec) ? fab_floor_make(spec, result->graph, &out->floor, err) : FAB_OK);
    *racks = fab_floor_racks(out->floor);
    return FAB_OK;
}

fab_status cli_mark_failed(const cli_options *options, fab_result *result, cli_failed *out, fab_error *err) {
    fab_racks racks = {0};
    size_t n = options->failed_parts.n;
    if (n == 0) {
        return FAB_OK;
    }
    FAB_PASS(find_racks(result, out, &racks, err));
    FAB_OWNED_NEW(fab_component, parts, n, err);
    for (size_t i = 0; i < n; i++) {
        fab_error inner = {0};
        fab_status status =
            fab_component_parse(result->graph, &racks, options->failed_parts.items[i], &parts[i], &inner);
        FAB_REFUSE_IF(status != FAB_OK, err, status, "--fail", "%s", inner.text);
    }
    FAB_PASS(fab_mask_init(result->graph, &racks, &out->mask, err));
    FAB_PASS(fab_mask_set(&out->mask, parts, n, err));
    out->overlay = (fab_overlay){.residual = out->mask.residual, .dead_node = out->mask.dead_node};
    result->overlay = &out->overlay;
    return FAB_OK;
}

void cli_failed_release(cli_failed *failed) {
    fab_mask_release(&failed->mask);
    fab_floor_free(failed->floor);
    *failed = (cli_failed){.floor = NULL};
}

/* Of compared designs no one is drawn. */
static fab_status check_one_fabric(const cli_options *options, const char *where, const fab_report_format *format,
                                   fab_error *err) {
    const bool has_one = strcmp(options->command->name, "compare") != 0; /* by name: the core in a page lacks it */
    return has_one || format == NULL || !format->needs_graph || format->shows_audit
               ? FAB_OK
               : fab_fail(err, FAB_EUNSUPPORTED, where,
                          "%s shows one fabric, and several are compared; svg, png and pdf show all", format->name);
}

fab_status cli_check_exports(const cli_options *options, fab_error *err) {
    const fab_report_format *printed = options->format != NULL ? fab_report_format_find(options->format) : NULL;
    bool has_graph = printed != NULL && printed->shows_graph;
    FAB_PASS(cli_check_new_file(options, options->timeline, err));
    FAB_PASS(check_one_fabric(options, "--format", printed, err));
    for (size_t i = 0; i < options->exports.n; i++) {
        const char *path = options->exports.items[i];
        FAB_PASS(cli_check_new_file(options, path, err));
        FAB_PASS(check_one_fabric(options, path, format_of(path), err));
        has_graph |= format_of(path)->shows_graph;
    }
    bool has_view = options->view != FAB_VIEW_AUTO;
    bool marks = options->failed_parts.n > 0 && options->command == &cli_command_build; /* others route around */
    CLI_REFUSE_IF((has_view || marks) && !has_graph, err,
                  "option --%s: neither --format nor --export asks for a graph (svg, graphml, yed, gexf, dot)",
                  has_view ? "view" : "fail");
    return FAB_OK;
}

bool cli_writes(const cli_options *options, const char *format) {
    const fab_report_format *wanted = fab_report_format_find(format);
    bool found = (options->format != NULL && strcmp(options->format, format) == 0) ||
                 (options->out != NULL && wanted->file_name != NULL);
    for (size_t i = 0; i < options->exports.n; i++) {
        found |= format_of(options->exports.items[i]) == wanted;
    }
    return found;
}

bool cli_shows_loads(const cli_options *options) {
    bool shown = false;
    for (size_t i = 0; fab_report_formats[i] != NULL; i++) {
        shown |= fab_report_formats[i]->shows_loads && cli_writes(options, fab_report_formats[i]->name);
    }
    return shown;
}

void cli_tell(const cli_options *options, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (!options->quiet) {
        (void)fputs("fabriscope: ", stderr);
        (void)vfprintf(stderr, fmt, args);
        (void)fputc('\n', stderr);
    }
    va_end(args);
}

void cli_tell_left_out(const cli_options *options, const fab_report_format *format, const fab_result *result) {
    if (format->leaves_out_hosts && result->graph != NULL && fab_has_software(result->graph)) {
        cli_tell(options,
                 "%s has the rates that hosts give to bytes, but not what their software adds to every step and "
                 "message",
                 format->name);
    }
}

static fab_status export_to(const cli_options *options, const char *path, const fab_report_format *format,
                            const fab_result *result, fab_error *err) {
    const fab_report_style style = {.width = 80,
                                    .view = options->view,
                                    .picture = options->picture,
                                    .picture_phase = options->picture_phase,
                                    .table = options->table};
    const fab_report_content what = {format, result, &style};
    FAB_PASS(fab_save_file(path, options->force, fab_report_save, &what, err));
    cli_tell(options, "%s written to %s", format->name, path);
    cli_tell_left_out(options, format, result);
    return FAB_OK;
}

fab_status cli_write_exports(const cli_options *options, const fab_result *result, fab_error *err) {
    for (size_t i = 0; i < options->exports.n; i++) {
        const char *path = options->exports.items[i];
        FAB_PASS(export_to(options, path, format_of(path), result, err));
    }
    return options->timeline == NULL
               ? FAB_OK
               : export_to(options, options->timeline, fab_report_format_find("timeline"), result, err);
}
