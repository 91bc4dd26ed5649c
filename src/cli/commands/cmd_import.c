#include "cli.h"

#include "fab/xml_writer.h"

#include <errno.h>
#include <unistd.h>

static fab_status apply_input_format(cli_options *options, const char *value, fab_error *err) {
    size_t n = 0;
    fab_error inner = {0};
    CLI_REFUSE_IF(fab_network_format_check(value, &n, &inner) != FAB_OK, err, "option --input-format: %s", inner.text);
    fab_choices near = fab_choices_of(value);
    fab_choices_offer(&near, "auto");
    if (n == 4 && strncmp(value, "auto", n) == 0) {
        options->input_format = value;
        return FAB_OK;
    }
    for (size_t i = 0; fab_network_formats[i] != NULL; i++) {
        fab_choices_offer(&near, fab_network_formats[i]->name);
        if (strlen(fab_network_formats[i]->name) == n && strncmp(fab_network_formats[i]->name, value, n) == 0) {
            options->input_format = value;
            return FAB_OK;
        }
    }
    return cli_misused(err, "option --input-format: unknown format '%.40s'%s", value, fab_choices_hint(&near));
}

void cli_tell_left_cables(const cli_options *options, const struct fab_network *net) {
    if (net->left_out != NULL) {
        cli_tell(options, "%s: %" PRIu64 " left out: %s", net->path, net->n_left_out, net->left_out);
    }
}

const cli_option cli_option_input_format = {
    "input-format", "NAME[,exclude=PATTERN][,a-node=COLUMN...]",
    "of FILE, as `list formats` shows them; default auto, what its content looks like", .apply = apply_input_format};

static const cli_option OPTION_OUTPUT = {"output", "DESIGN.xml",
                                         "write a design that stands on FILE, to add jobs and engines to",
                                         CLI_TEXT(output), .names = "file"};

/* --- the design --------------------------------------------------------------------------------------------------- */

typedef struct written {
    const cli_options *options;
    const fab_imported *imported;
    const char *path; /* of FILE, from the folder of the design */
} written;

/* As in "fabric.gpus-per-server=8": the keys of <fabric> are attributes, those of tiers stand there as lists too. */
static void put_override(fab_xml_writer *xml, const char *text) {
    char key[64];
    const char *from = strncmp(text, "fabric.", 7) == 0 ? text + 7 : text;
    const char *equals = strchr(from, '=');
    if (equals != NULL && (size_t)(equals - from) < sizeof key) {
        FAB_FORMAT(key, "%.*s", (int)(equals - from), from);
        fab_xml_write_attribute(xml, key, equals + 1);
    }
}

static fab_status write_design(const void *context, FILE *out, fab_error *err) {
    const written *w = context;
    const fab_imported *in = w->imported;
    FAB_OWNS(fab_xml_writer_release) fab_xml_writer xml = {0};
    char source[400];
    FAB_PASS(fab_xml_writer_init(&xml, out, err));
    FAB_FORMAT(source, "Imported from %.200s (%s).", in->path, in->net->net->format);
    FAB_XML_START(&xml, "design", "name", "installed");
    fab_xml_write_start(&xml, "source");
    fab_xml_write_text(&xml, source);
    fab_xml_write_end(&xml);
    FAB_XML_START(&xml, "fabric", "family", "installed", "file", w->path);
    const char *asked = w->options->input_format; /* with its keys */
    fab_xml_write_attribute(&xml, "format", asked != NULL && strchr(asked, ',') != NULL ? asked : in->net->net->format);
    fab_xml_write_attribute(&xml, "digest", in->spec->digest);
    for (size_t i = 0; i < w->options->overrides.n; i++) {
        put_override(&xml, w->options->overrides.items[i]);
    }
    fab_xml_write_end(&xml);
    fab_xml_write_end(&xml);
    return fab_xml_writer_finish(&xml, err);
}

/* FILE as a path from the folder of the design: what is below that folder by its way from there, else in full. */
static fab_status path_from(const char *output, const char *file, fab_str *out, fab_error *err) {
    const char *slash = strrchr(output, '/');
    size_t n = slash != NULL ? (size_t)(slash + 1 - output) : 0;
    char here[4096];
    if (file[0] == '/' || n == 0 || strncmp(file, output, n) == 0) {
        fab_str_add(out, file[0] == '/' ? file : file + n);
        return fab_str_status(out, err);
    }
    FAB_REFUSE_IF(getcwd(here, sizeof here) == NULL, err, FAB_EIO, file, "the working folder is not known: %s",
                  strerror(errno));
    fab_str_printf(out, "%s/%s", here, file);
    return fab_str_status(out, err);
}

/* What has no place in the <fabric> of a design would be lost. */
static fab_status check_overrides(const cli_options *options, fab_error *err) {
    for (size_t i = 0; i < options->overrides.n; i++) {
        const char *text = options->overrides.items[i];
        const char *from = strncmp(text, "fabric.", 7) == 0 ? text + 7 : text;
        CLI_REFUSE_IF(memchr(from, '.', strcspn(from, "=")) != NULL, err,
                      "option --set: import takes keys of the fabric, not '%.60s'", text);
    }
    return FAB_OK;
}

/* --- all together ------------------------------------------------------------------------------------------------- */

/* "installed:" with file and format as further overrides: paths may hold what a one-line form is cut at. */
static fab_status read_design(const cli_options *options, fab_design *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str file = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str format = FAB_STR_INIT;
    size_t n = options->overrides.n;
    FAB_OWNED_NEW(const char *, list, n + 2, err);
    FAB_COPY(list, options->overrides.items, n);
    fab_str_printf(&file, "fabric.file=%s", options->operands.items[0]);
    fab_str_printf(&format, "fabric.format=%s", options->input_format != NULL ? options->input_format : "");
    FAB_PASS(fab_str_status(&file, err));
    FAB_PASS(fab_str_status(&format, err));
    list[n++] = file.data;
    list[n++] = format.data;
    return fab_design_read_within("installed:", list, n, options->max_memory, out, err);
}

static const char *summary_of(const char *format) {
    FAB_FIRST(i, SIZE_MAX, fab_network_formats[i] == NULL || strcmp(fab_network_formats[i]->name, format) == 0);
    return fab_network_formats[i] != NULL ? fab_network_formats[i]->summary : format;
}

static fab_status save(const cli_options *options, const fab_imported *imported, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str path = FAB_STR_INIT;
    FAB_PASS(path_from(options->output, imported->path, &path, err));
    const written w = {options, imported, path.data};
    return fab_save_file(options->output, options->force, write_design, &w, err);
}

static fab_status import_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_structure_free_owned) fab_structure *net = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    fab_imported imported = {.path = options->operands.items[0], .output = options->output};
    FAB_OWNED_NEW(fab_design, design, 1, err);
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_new_file(options, options->output, err));
    FAB_PASS(check_overrides(options, err));
    bool is_input = strcmp(options->operands.items[0], "-") == 0;
    CLI_REFUSE_IF(is_input && options->output != NULL, err,
                  "option --output: a design names its file, and standard input has no name");
    /* else named by the override that it becomes */
    FAB_REFUSE_IF(!is_input && access(options->operands.items[0], R_OK) != 0, err, FAB_EIO, options->operands.items[0],
                  "cannot be read: %s", strerror(errno));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_IMPORT, 0, &result, err));
    FAB_PASS(read_design(options, design, err));
    FAB_PASS(fab_topology_build(&design->fabric, &fabric, NULL, err));
    fab_structure_options how = fab_design_installed_options(&design->fabric);
    FAB_PASS(fab_structure_read(imported.path, &how, &net, err));
    imported.net = net;
    imported.spec = &design->fabric;
    imported.fabric = fabric;
    cli_tell_left_cables(options, net->net);
    imported.format = summary_of(net->net->format);
    result.imported = &imported;
    FAB_PASS(options->output != NULL ? save(options, &imported, err) : FAB_OK);
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_import = {
    .name = "import",
    CLI_OPERANDS("FILE", 1, 1),
    .summary = "make a design of what is installed: ibnetdiscover, cable lists, Slurm, ...",
    .details =
        "Recognises the format, finds tiers, servers, rails and planes in the graph, and says what it found, what "
        "it left out and what it assumes. Every other command works on the result, by the names of boxes and "
        "ports as they are installed: with the design that --output writes, or as installed:FILE.",
    CLI_EXAMPLES("fabriscope import ibnetdiscover.out",
                 "fabriscope import ibnetdiscover.out --output network.xml --set gpus-per-server=8",
                 "fabriscope import topology.conf --set cables=4 --set nic=200Gb/s"),
    CLI_OPTIONS(&cli_option_input_format, &OPTION_OUTPUT, &cli_option_set, &cli_option_threads, CLI_REPORT_OPTIONS),
    .run = import_run,
};
