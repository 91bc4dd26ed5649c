#include "cli.h"

#include "fab/memory.h"
#include "fab/design.h"
#include "fab/units.h"

#include <string.h>

static void traffic_add_count(cli_table *table, uint64_t count) {
    char text[32];
    cli_table_add(table, "%s", fab_format_count(text, count));
}

static void list_phases(const fab_traffic *traffic, cli_table *table) {
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        char bytes[32];
        cli_table_add(table, "%s", phase->name);
        cli_table_add(table, "%s", phase->collective);
        traffic_add_count(table, phase->n_comms);
        traffic_add_count(table, phase->n_flows);
        cli_table_add(table, "%s", fab_quantity_format(bytes, (double)phase->total_bytes, FAB_UNIT_BYTES));
        traffic_add_count(table, phase->steps);
        traffic_add_count(table, phase->executions);
    }
}

static void print_formulas(const fab_traffic *traffic, size_t width, FILE *out) {
    const char *title = "\nBytes of a phase, all GPUs together:\n";
    int longest = 6;
    for (size_t i = 0; i < traffic->n_phases; i++) {
        int n = (int)strlen(traffic->phases[i].name);
        longest = n > longest ? n : longest;
    }
    for (size_t i = 0; i < traffic->n_phases; i++) {
        const fab_phase *phase = &traffic->phases[i];
        if (phase->formula[0] != '\0') {
            int n = fprintf(out, "%s  %-*s ", title, longest, phase->name) - (int)strlen(title);
            cli_wrap(phase->formula, (size_t)n, (size_t)longest + 3, width, out);
            title = "";
        }
    }
}

static void print_memory(const fab_traffic *traffic, size_t width, FILE *out) {
    const fab_job_memory *m = &traffic->memory;
    const struct {
        const char *name;
        double bytes;
    } PARTS[] = {{"weights", m->weights_bytes},
                 {"gradients", m->gradients_bytes},
                 {"optimizer", m->optimizer_bytes},
                 {"activations", m->activations_bytes},
                 {"cached keys and values", m->cache_bytes}};
    char text[320];
    char need[32];
    char has[32];
    size_t used = (size_t)snprintf(
        text, sizeof text, "Memory of a GPU%s: %s of %s (%s)", traffic->job.pp > 1 ? " of the fullest stage" : "",
        fab_quantity_format(need, m->total_bytes, FAB_UNIT_BYTES),
        fab_quantity_format(has, m->capacity_bytes, FAB_UNIT_BYTES), traffic->job.accelerator.name);
    const char *separator = ": ";
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (PARTS[i].bytes > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", separator, PARTS[i].name,
                                     fab_quantity_format(need, PARTS[i].bytes, FAB_UNIT_BYTES));
            separator = ", ";
        }
    }
    if (m->host_bytes > 0) {
        (void)snprintf(text + used, sizeof text - used, "; on the host %s",
                       fab_quantity_format(need, m->host_bytes, FAB_UNIT_BYTES));
    }
    (void)fputc('\n', out);
    cli_wrap(text, 0, 2, width, out);
}

static fab_status print_list(const cli_options *options, const fab_traffic *traffic, FILE *out, fab_error *err) {
    static const cli_column COLUMNS[] = {{"Phase", "name", false},          {"Collective", "collective", false},
                                         {"Groups", "communicators", true}, {"Flows", "flows", true},
                                         {"Bytes", "bytes", true},          {"Steps", "steps", true},
                                         {"Times", "executions", true}};
    fab_status status = FAB_OK;
    size_t width = (size_t)cli_style(options).width;
    cli_table table = {.columns = COLUMNS, .n_columns = sizeof COLUMNS / sizeof COLUMNS[0]};
    list_phases(traffic, &table);
    FAB_TRY(cli_table_status(&table, err));
    cli_wrap(traffic->summary, 0, 0, width, out);
    (void)fputc('\n', out);
    FAB_TRY(cli_table_text(&table, width, out, err));
    print_formulas(traffic, width, out);
    if (traffic->has_job) {
        print_memory(traffic, width, out);
    }
done:
    cli_table_release(&table);
    return status;
}

static fab_status traffic_report(cli_session *s, const fab_traffic *traffic, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    const cli_options *options = s->options;
    char digest[17];
    const fab_traffic_listing listing = {traffic, s->design->name, digest};
    bool is_text = options->format == NULL || strcmp(options->format, "text") == 0;
    if (is_text) {
        FAB_TRY(print_list(options, traffic, out, err));
    }
    FAB_TRY(fab_design_digest(s->design, digest, err));
    s->result.listing = &listing;
    s->result.n_fabrics = 0; /* the listing stands for itself */
    status = is_text ? cli_write_reports(options, &s->result, err) : cli_report(options, &s->result, out, err);
    s->result.n_fabrics = 1;
    s->result.listing = NULL;
done:
    return status;
}

typedef struct matrix {
    const fab_phase *phase;
    uint32_t n_gpus;
    fab_matrix_format format;
} matrix;

static fab_status write_matrix(const void *context, FILE *out, fab_error *err) {
    const matrix *m = context;
    return fab_matrix_write(m->phase, m->n_gpus, m->format, out, err);
}

static fab_status check_export(const cli_options *options, fab_matrix_format *format, fab_error *err) {
    const char *path = options->export_path;
    const char *dot = strrchr(path, '.');
    *format = FAB_MATRIX_CSV;
    if (strcmp(path, "-") == 0) {
        return FAB_OK;
    }
    if (dot != NULL && strcmp(dot, ".mtx") == 0) {
        *format = FAB_MATRIX_MARKET;
    } else if (dot == NULL || strcmp(dot, ".csv") != 0) {
        return fab_fail(err, FAB_EUSAGE, NULL, "option --export: '%.60s' ends neither in .csv nor in .mtx", path);
    }
    return cli_check_new_file(options, path, err);
}

static fab_status export_phase(const cli_options *options, const fab_traffic *traffic, uint32_t n_gpus,
                               fab_matrix_format format, FILE *out, fab_error *err) {
    if (traffic->n_phases != 1) {
        char names[256] = "";
        for (size_t i = 0; i < traffic->n_phases; i++) {
            size_t at = strlen(names);
            (void)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "", traffic->phases[i].name);
        }
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "option --export writes one phase, not %zu (%s): choose with --traffic %s", traffic->n_phases,
                        names, traffic->has_job ? "job:PHASE" : "another algorithm=");
    }
    const fab_phase *phase = &traffic->phases[0];
    if (strcmp(options->export_path, "-") == 0) {
        return fab_matrix_write(phase, n_gpus, format, out, err);
    }
    const matrix m = {phase, n_gpus, format};
    fab_status status = fab_save_file(options->export_path, options->force, write_matrix, &m, err);
    if (status == FAB_OK && !options->quiet) {
        (void)fprintf(stderr, "fabriscope: phase %s written to %s\n", phase->name, options->export_path);
    }
    return status;
}

static fab_status traffic_run(const cli_options *options, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    cli_session session = {.options = NULL};
    const fab_traffic *traffic = NULL;
    fab_matrix_format format = FAB_MATRIX_CSV;
    FAB_TRY(cli_check_out(options, err));
    if (options->export_path != NULL) {
        FAB_TRY(check_export(options, &format, err));
    }
    FAB_TRY(cli_session_open(options, FAB_COMMAND_TRAFFIC, options->traffic != NULL ? options->traffic : "job",
                             &session, err));
    FAB_TRY(cli_session_build(&session, err));
    session.design->fabric = session.result.fabrics[0].spec; /* the digest is of the fabric as it was built */
    status = fab_context_traffic(session.context, &traffic, err);
    fab_blame_design(session.design, status, err);
    FAB_TRY(status);
    if (options->export_path != NULL) {
        uint32_t n_ends = fab_n_gpus(fab_context_what(session.context)->fabric);
        FAB_TRY(export_phase(options, traffic, n_ends, format, out, err));
    } else {
        FAB_TRY(traffic_report(&session, traffic, out, err));
    }
done:
    cli_session_release(&session);
    return status;
}

static const cli_option OPTION_EXPORT = {
    "export", "FILE", "write the matrix of one phase: FILE.csv, FILE.mtx (MatrixMarket), - for CSV on stdout",
    .text = offsetof(cli_options, export_path)};

static const char *const EXAMPLES[] = {
    "fabriscope traffic preset:llama3-24k-roce",
    "fabriscope traffic rail-spine:gpus=1024 --job tp=8,pp=4 --traffic job:pp --export pp.mtx",
    "fabriscope traffic fat-tree:k=4 --traffic pattern:ring --export -",
    "fabriscope traffic preset:llama3-24k-roce --format csv --table phases",
    "fabriscope traffic clos:gpus=64 --traffic pattern:all-gather,algorithm=all,groups=8",
    NULL};

static const cli_option *const OPTIONS[] = {
    &cli_option_traffic, &OPTION_EXPORT,     &cli_option_job,   &cli_option_set,  &cli_option_seed,  &cli_option_out,
    &cli_option_force,   &cli_option_format, &cli_option_table, &cli_option_json, &cli_option_quiet, NULL};

const cli_command cli_command_traffic = {
    .name = "traffic",
    .operands = "DESIGN",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the phases of the job or a pattern: list, matrix export",
    .details = "Lists what is in the network together: flows and bytes of every phase of one training iteration, with "
               "the closed form that gives the bytes.",
    .examples = EXAMPLES,
    .options = OPTIONS,
    .run = traffic_run,
};
