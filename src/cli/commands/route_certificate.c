#include "cli.h"

#include "fab/certificate.h"
#include "fab/context.h"

static fab_status certificate_find(cli_session *s, const fab_bound **out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(s->context, &traffic, err));
    if (traffic->n_phases != 1) {
        return fab_fail(err, FAB_EUSAGE, NULL,
                        "option --certificate is of one phase, and %s has %zu; name one with --traffic", s->traffic,
                        traffic->n_phases);
    }
    return fab_context_bound(s->context, 0, out, err);
}

fab_status cli_prove(cli_session *s, const fab_bound **out, fab_error *err) {
    fab_status status = cli_session_build(s, err);
    if (status == FAB_OK) {
        status = certificate_find(s, out, err);
        fab_blame_design(s->design, status, err);
    }
    return status;
}

fab_status cli_check_certificate(const cli_options *options, fab_error *err) {
    return cli_check_new_file(options, options->certificate, err);
}

static fab_status write_proof(const void *context, FILE *out, fab_error *err) {
    const fab_context *c = context;
    const fab_next_hops *next_hops = NULL;
    const fab_demand *demand = NULL;
    const fab_bound *bound = NULL;
    FAB_PASS(fab_context_next_hops(c, &next_hops, err));
    FAB_PASS(fab_context_demand(c, 0, &demand, err));
    FAB_PASS(fab_context_bound(c, 0, &bound, err));
    return fab_certificate_write(fab_context_what(c)->fabric, next_hops, demand, bound, out, err);
}

fab_status cli_certify(cli_session *s, fab_error *err) {
    const cli_options *options = s->options;
    FAB_PASS(fab_save_file(options->certificate, options->force, write_proof, s->context, err));
    if (!options->quiet) {
        (void)fprintf(stderr, "fabriscope: certificate written to %s\n", options->certificate);
    }
    return FAB_OK;
}

static fab_status apply_certificate(cli_options *options, const char *value, fab_error *err) {
    if (value[0] == '\0') {
        return fab_fail(err, FAB_EUSAGE, NULL, "option --certificate: the file's name is empty");
    }
    options->certificate = value;
    options->bound = true;
    return FAB_OK;
}

const cli_option cli_option_certificate = {
    "certificate", "FILE",
    "with --bound: also write what proves it, for anybody to check (src/doc/manual/certificates.md)",
    .apply = apply_certificate};
