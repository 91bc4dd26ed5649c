#include "cli.h"

#include "fab/certificate.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include <sys/stat.h>

/* A bound and what it was found for. */
typedef struct proof {
    fab_fabric *graph;
    fab_next_hops *next_hops;
    fab_dag *dag;
    fab_ports ports;
    fab_offer offer;
    fab_demand demand;
    fab_bound bound;
} proof;

static void release(proof *p) {
    fab_bound_release(&p->bound);
    fab_demand_release(&p->demand);
    fab_offer_release(&p->offer);
    fab_ports_release(&p->ports);
    fab_dag_free(p->dag);
    fab_next_hops_free(p->next_hops);
    fab_fabric_free(p->graph);
}

static fab_status write_proof(const void *context, FILE *out, fab_error *err) {
    const proof *p = context;
    return fab_certificate_write(p->graph, p->next_hops, &p->demand, &p->bound, out, err);
}

/* Finds the bound of the only phase of the traffic. */
static fab_status prove(const cli_options *options, fab_design *design, const char *traffic_text, proof *p,
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

fab_status cli_certify(const cli_options *options, const char *traffic_text, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design design;
    proof p = {0};
    struct stat about;
    if (!options->force && stat(options->certificate, &about) == 0) {
        FAB_FAIL(err, FAB_EIO, options->certificate, "exists already; give --force to overwrite it");
    }
    FAB_TRY(cli_read_design(options, options->operands.items[0], &design, err));
    status = prove(options, &design, traffic_text, &p, err);
    cli_blame(&design, status, err);
    FAB_TRY(status);
    cli_hold_signals();
    status = fab_save_file(options->certificate, options->force, write_proof, &p, err);
    cli_release_signals();
    if (status == FAB_OK && !options->quiet) {
        (void)fprintf(stderr, "fabriscope: certificate written to %s\n", options->certificate);
    }
done:
    release(&p);
    return status;
}

static fab_status apply(cli_options *options, const char *value, fab_error *err) {
    if (value[0] == '\0') {
        return fab_fail(err, FAB_EUSAGE, NULL, "option --certificate: the file's name is empty");
    }
    options->certificate = value;
    options->bound = true;
    return FAB_OK;
}

const cli_option cli_option_certificate = {
    "certificate", "FILE", "with --bound: also write what proves it, for anybody to check (routing/README.md)", apply};
