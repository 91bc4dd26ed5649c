#include "cli.h"

#include "fab/audit_bisection.h"
#include "fab/ib_names.h"
#include "fab/network_of.h"

#include <unistd.h>

static const cli_option OPTION_AGAINST = {"against", "DESIGN|FILE",
                                          "compare with a plan, or with what was there before, instead of with itself",
                                          CLI_TEXT(against)};

static const cli_option OPTION_NAME_MAP = {
    "node-name-map", "FILE", "names by GUID, a line each: 0x2c5eab0300b87b40 \"leaf-3\"", CLI_TEXT(node_name_map)};

/* What is known of the floor where the plan is a design. */
typedef struct planned_floor {
    fab_fabric *graph;
    fab_floor *floor;
    bool is_said;
} planned_floor;

static void planned_floor_release(planned_floor *at) {
    fab_floor_free(at->floor);
    fab_fabric_free(at->graph);
}

/* Boxes of a design have the GUIDs by which the file has them. */
static void take_guids(const fab_network *net, const fab_fabric *design, fab_network *plan) {
    char label[FAB_IB_DESCRIPTION];
    uint32_t port = 0;
    for (uint32_t v = 0; v < net->n_nodes; v++) {
        const uint64_t guid = net->nodes[v].guid;
        const fab_node_id planned = guid != 0 ? fab_ib_find_guid(design, guid, &port) : FAB_NONE;
        const char *name = planned != FAB_NONE ? fab_ib_description(design, planned, label) : "";
        const uint32_t at = planned != FAB_NONE ? fab_network_find(plan, name, strlen(name)) : FAB_NETWORK_NONE;
        if (at != FAB_NETWORK_NONE) {
            plan->nodes[at].guid = guid;
        }
    }
}

/* The plan: a design, or a file of a known format. */
static fab_status read_plan(const cli_options *options, const fab_network *net, fab_network **out, planned_floor *at,
                            fab_error *err) {
    fab_error inner = {0};
    if (strncmp(options->against, "preset:", 7) != 0 && access(options->against, F_OK) == 0) {
        fab_status status = fab_network_read(options->against, NULL, options->max_memory, out, &inner);
        bool is_no_network = status == FAB_EINPUT && /* of no format: in one, it would be wrong in some line */
                             strncmp(inner.where, options->against, sizeof inner.where - 1) == 0;
        if (!is_no_network) {
            return fab_fail_as(err, status, &inner);
        }
    }
    FAB_OWNED_NEW(fab_design, design, 1, err);
    FAB_PASS(fab_design_read(options->against, NULL, 0, design, err));
    FAB_PASS(fab_topology_build(&design->fabric, &at->graph, NULL, err));
    FAB_PASS(fab_network_of_fabric(at->graph, out, err));
    take_guids(net, at->graph, *out);
    if (design->fabric.floor.given) {
        at->is_said = fab_floor_is_said(&design->fabric);
        FAB_PASS(fab_floor_make(&design->fabric, at->graph, &at->floor, err));
    }
    return FAB_OK;
}

#define BYTES_PER_CABLE 350.0 /* of what was read, its names, shape and graph */

static fab_status audit_check_memory(const cli_options *options, const fab_network *net, fab_error *err) {
    char what[64];
    double n_networks_given = options->against != NULL ? 2 : 1;
    FAB_FORMAT(what, "the audit of %s cables", FAB_SAY_COUNT(net->n_cables));
    return fab_memory_check(what, n_networks_given * net->n_cables * BYTES_PER_CABLE, options->max_memory, err);
}

static fab_status audit_run(const cli_options *options, FILE *out, fab_error *err) {
    const char *path = options->operands.items[0];
    FAB_OWNS(fab_network_free_owned) fab_network *net = NULL;
    FAB_OWNS(fab_network_free_owned) fab_network *plan = NULL;
    FAB_OWNS(planned_floor_release) planned_floor at = {.graph = NULL};
    FAB_OWNS(fab_shape_release) fab_shape shape = {.net = NULL};
    FAB_OWNS(fab_shape_release) fab_shape planned = {.net = NULL};
    FAB_OWNS(fab_audit_free_owned) fab_audit *audit = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {0};
    FAB_PASS(cli_check_out(options, err));
    FAB_PASS(cli_check_exports(options, err));
    FAB_PASS(cli_result_init(options, FAB_COMMAND_AUDIT, 0, &result, err));
    FAB_PASS(fab_network_read(path, options->input_format, options->max_memory, &net, err));
    cli_tell_left_cables(options, net);
    FAB_PASS(audit_check_memory(options, net, err));
    FAB_PASS(options->node_name_map != NULL ? fab_network_rename(net, options->node_name_map, err) : FAB_OK);
    FAB_PASS(fab_shape_find(net, &shape, err));
    if (options->against != NULL) {
        FAB_PASS(read_plan(options, net, &plan, &at, err));
        FAB_PASS(options->node_name_map != NULL ? fab_network_rename(plan, options->node_name_map, err) : FAB_OK);
        FAB_PASS(fab_shape_find(plan, &planned, err));
        FAB_PASS(fab_audit_against(&shape, &planned, &audit, err));
    } else {
        FAB_PASS(fab_audit_run(&shape, &audit, err));
    }
    fab_shape_release(&shape);
    fab_shape_release(&planned);
    FAB_PASS(fab_audit_bisect(&net, &plan, audit, err));
    if (at.floor != NULL) {
        fab_audit_find_racks(audit, at.graph, at.floor, at.is_said);
    }
    result.audit = audit;
    result.audit_floor = at.floor;
    result.audit_floor_is_assumed = !at.is_said;
    result.audited = path;
    return cli_report(options, &result, out, err);
}

const cli_command cli_command_audit = {
    .name = "audit",
    CLI_OPERANDS("FILE", 1, 1),
    .summary = "what is wrong with an installed fabric: missing cables, swapped rails, ...",
    .details =
        "Reads what is installed (ibnetdiscover, OpenSM's list, a list of cables as CSV, PTM, Slurm, GraphML) "
        "and finds where it "
        "departs from the regular structure that it shows itself, or from a plan: absent switches, missing and "
        "extra cables, swapped rails, wrong speeds, links that one end alone reports, parts without a way, "
        "single points of failure, and the bisection that they cost. Worst first, with the boxes and ports to walk to.",
    CLI_EXAMPLES("fabriscope audit ibnetdiscover.out",
                 "fabriscope audit ibnetdiscover.out --format csv > work-order.csv",
                 "fabriscope audit cables.csv --against plan.csv",
                 "fabriscope audit ibnetdiscover.out --against design.xml --export audit.svg"),
    CLI_OPTIONS(&OPTION_AGAINST, &OPTION_NAME_MAP, &cli_option_input_format, &cli_option_threads, &cli_option_export,
                &cli_option_picture, CLI_REPORT_OPTIONS),
    .run = audit_run,
};
