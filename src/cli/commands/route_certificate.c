#include "cli.h"

#include "fab/design.h"
#include "fab/certificate.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include <stdlib.h>

void cli_proof_release(cli_proof *p) {
    fab_bound_release(&p->bound);
    fab_demand_release(&p->demand);
    fab_offer_release(&p->offer);
    fab_ports_release(&p->ports);
    fab_dag_free(p->dag);
    fab_next_hops_free(p->next_hops);
    fab_fabric_free(p->graph);
    *p = (cli_proof){0};
}

const fab_bound *cli_proof_bound(const cli_proof *proof) {
    return proof->graph != NULL ? &proof->bound : NULL;
}

static fab_status find(const cli_options *options, fab_design *design, const char *traffic_text, cli_proof *p,
                       fab_error *err) {
    fab_status status = FAB_OK;
    fab_traffic traffic = {0};
    FAB_TRY(fab_topology_build(&design->fabric, &p->graph, NULL, err));
    FAB_TRY(fab_traffic_make(traffic_text, design, p->graph, options->seed, &traffic, err));
    if (traffic.n_phases != 1) {
        FAB_FAIL(err, FAB_EUSAGE, NULL, "option --certificate is of one phase, and %s has %zu; name one with --traffic",
                 traffic_text, traffic.n_phases);
    }
    FAB_TRY(fab_next_hops_new(p->graph, NULL, &p->next_hops, err));
    FAB_TRY(fab_dag_new(p->graph, p->next_hops, &p->dag, err));
    FAB_TRY(fab_ports_init(p->graph, &p->ports, err));
    FAB_TRY(fab_offer_init(p->graph, &p->ports, &traffic.phases[0], &p->offer, err));
    FAB_TRY(fab_demand_init(p->graph, &p->ports, p->next_hops, &traffic.phases[0], &p->offer, &p->demand, err));
    FAB_TRY(fab_bound_find(p->graph, p->dag, p->next_hops, &p->demand, FAB_BOUND_TRIVIAL, &p->bound, err));
done:
    fab_traffic_release(&traffic);
    return status;
}

fab_status cli_prove(const cli_options *options, const char *traffic_text, cli_proof *proof, fab_error *err) {
    fab_design *design = NULL;
    if (proof->graph != NULL) {
        return FAB_OK;
    }
    fab_status status = cli_open_design(options, options->operands.items[0], &design, err);
    if (status == FAB_OK) {
        status = find(options, design, traffic_text, proof, err);
        fab_blame_design(design, status, err);
    }
    free(design);
    return status;
}

fab_status cli_check_certificate(const cli_options *options, fab_error *err) {
    return cli_check_new_file(options, options->certificate, err);
}

static fab_status write_proof(const void *context, FILE *out, fab_error *err) {
    const cli_proof *p = context;
    return fab_certificate_write(p->graph, p->next_hops, &p->demand, &p->bound, out, err);
}

fab_status cli_certify(const cli_options *options, const cli_proof *proof, fab_error *err) {
    fab_status status = cli_save_file(options, options->certificate, write_proof, proof, err);
    if (status == FAB_OK && !options->quiet) {
        (void)fprintf(stderr, "fabriscope: certificate written to %s\n", options->certificate);
    }
    return status;
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
