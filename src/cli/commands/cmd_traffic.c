#include "cli.h"

static fab_status traffic_report(cli_session *s, const fab_traffic *traffic, FILE *out, fab_error *err) {
    const cli_options *options = s->options;
    char digest[17];
    const fab_traffic_listing listing = {traffic, s->design->name, digest};
    FAB_PASS(fab_design_digest(s->design, digest, err));
    s->result.listing = &listing;
    s->result.n_fabrics = 0; /* the listing stands for itself */
    fab_status status = cli_report(options, &s->result, out, err);
    s->result.n_fabrics = 1;
    s->result.listing = NULL;
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
        return cli_misused(err, "option --export: '%.60s' ends neither in .csv nor in .mtx", path);
    }
    return cli_check_new_file(options, path, err);
}

static fab_status export_phase(const cli_options *options, const fab_traffic *traffic, uint32_t n_gpus,
                               fab_matrix_format format, FILE *out, fab_error *err) {
    if (traffic->n_phases != 1) {
        char names[256] = "";
        for (size_t i = 0; i < traffic->n_phases; i++) {
            fab_append(names, sizeof names, "%s%s", i > 0 ? ", " : "", traffic->phases[i].name);
        }
        return cli_misused(err, "option --export writes one phase, not %zu (%s): choose with --traffic %s",
                           traffic->n_phases, names, traffic->has_job ? "job:PHASE" : "another algorithm=");
    }
    const fab_phase *phase = &traffic->phases[0];
    if (strcmp(options->export_path, "-") == 0) {
        return fab_matrix_write(phase, n_gpus, format, out, err);
    }
    const matrix m = {phase, n_gpus, format};
    FAB_PASS(fab_save_file(options->export_path, options->force, write_matrix, &m, err));
    cli_tell(options, "phase %s written to %s", phase->name, options->export_path);
    return FAB_OK;
}

static fab_status traffic_run(const cli_options *options, FILE *out, fab_error *err) {
    FAB_OWNS(cli_session_release) cli_session session = {.options = NULL};
    const fab_traffic *traffic = NULL;
    fab_matrix_format format = FAB_MATRIX_CSV;
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(options->export_path != NULL ? check_export(options, &format, err) : FAB_OK);
    FAB_PASS(cli_session_open(options, FAB_COMMAND_TRAFFIC, options->traffic != NULL ? options->traffic : "job",
                              &session, err));
    FAB_PASS(cli_session_build(&session, err));
    session.design->fabric = session.result.fabrics[0].spec; /* the digest is of the fabric as it was built */
    FAB_PASS(fab_blame_design(session.design, fab_context_traffic(session.context, &traffic, err), err));
    if (traffic->note[0] != '\0') {
        (void)fprintf(stderr, "fabriscope: %s\n", traffic->note);
    }
    if (options->export_path != NULL) {
        uint32_t n_ends = fab_n_gpus(fab_context_what(session.context)->fabric);
        FAB_PASS(export_phase(options, traffic, n_ends, format, out, err));
    } else {
        FAB_PASS(traffic_report(&session, traffic, out, err));
    }
    return FAB_OK;
}

static const cli_option OPTION_EXPORT = {
    "export", "FILE", "write the matrix of one phase: FILE.csv, FILE.mtx (MatrixMarket), - for CSV on stdout",
    CLI_TEXT(export_path)};

const cli_command cli_command_traffic = {
    .name = "traffic",
    CLI_OPERANDS("DESIGN", 1, 1),
    .summary = "the phases of the job or a pattern: list, matrix export",
    .details = "Lists what is in the network together: flows and bytes of every phase of one training iteration, with "
               "the closed form that gives the bytes.",
    CLI_EXAMPLES("fabriscope traffic preset:llama3-24k-roce",
                 "fabriscope traffic rail-spine:gpus=1024 --job tp=8,pp=4 --traffic job:pp --export pp.mtx",
                 "fabriscope traffic fat-tree:k=4 --traffic pattern:ring --export -",
                 "fabriscope traffic preset:llama3-24k-roce --format csv --table phases",
                 "fabriscope traffic clos:gpus=64 --traffic pattern:all-gather,algorithm=all,groups=8"),
    CLI_OPTIONS(&cli_option_traffic, &OPTION_EXPORT, &cli_option_job, &cli_option_set, &cli_option_seed,
                &cli_option_out, &cli_option_force, &cli_option_format, &cli_option_table, &cli_option_json,
                &cli_option_quiet, &cli_option_threads),
    .run = traffic_run,
    .hides_usage = true,
};
