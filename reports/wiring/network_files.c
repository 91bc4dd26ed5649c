/* The fabric as it would be installed, in the formats of src/installed: one row each. */
#include "report_formats.h"

#include "fab/analysis.h"
#include "fab/network_of.h"
#include "fab/network_write.h"

static fab_status write_network(const fab_network_writer *writer, const fab_result *result, FILE *out, fab_error *err) {
    FAB_OWNS(fab_network_free_owned) fab_network *net = NULL;
    fab_network_hash hash = {.is_resilient = false};
    FAB_PASS(fab_network_of_fabric(result->graph, &net, err));
    net->hash = fab_switch_hash_of(result->engine, &hash) ? &hash : NULL;
    return fab_network_write(writer, net, out, err);
}

/* What a format of an installed network needs to be one of reports: the callback has no context of its own. */
#define NETWORK_FORMAT(id, format_name, format_suffix, is_packed, format_summary)                                      \
    static fab_status print_##id(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) { \
        (void)style;                                                                                                   \
        return write_network(&fab_network_##id, result, out, err);                                                     \
    }                                                                                                                  \
    const fab_report_format fab_report_##id = {.name = (format_name),                                                  \
                                               .suffix = (format_suffix),                                              \
                                               .summary = (format_summary),                                            \
                                               .print = print_##id,                                                    \
                                               .is_for_files = (is_packed),                                            \
                                               .cable_bytes = 200,                                                     \
                                               .needs_graph = true};

NETWORK_FORMAT(cables, "cables", ".cables.csv", false,
               "the fabric as a list of cables, CSV: A-node, A-port, Z-node, Z-port, rate, length")
NETWORK_FORMAT(ptm, "ptm", ".ptm.dot", false, "the fabric as a wiring plan for PTM and NVIDIA Air: topology.dot")
NETWORK_FORMAT(slurm_tree, "slurm-tree", ".tree.conf", false, "the fabric as topology.conf of Slurm, topology/tree")
NETWORK_FORMAT(slurm_block, "slurm-block", ".block.conf", false, "the fabric as topology.conf of Slurm, topology/block")
NETWORK_FORMAT(slurm_tree_yaml, "slurm-yaml", ".topology.yaml", false, "the fabric as topology.yaml of Slurm, a tree")
NETWORK_FORMAT(netbox_csv, "netbox-csv", ".netbox.csv", false, "the fabric's cables for the bulk import of NetBox, CSV")
NETWORK_FORMAT(containerlab, "containerlab", ".clab.yml", false, "the fabric as a lab of containers, for containerlab")
NETWORK_FORMAT(sonic, "sonic", ".sonic.tar", true,
               "config_db.json of SONiC for each switch, and a lab that runs it: tar")
NETWORK_FORMAT(frr, "frr", ".frr.tar", true, "configuration of FRR for each switch, and a lab that runs it: tar")
NETWORK_FORMAT(topograph_model, "topograph", ".model.yaml", false, "the fabric as a model for topograph, YAML")
NETWORK_FORMAT(kueue, "kueue", ".kueue.yaml", false,
               "where nodes are, for Kueue: Topology, ResourceFlavors, labels; YAML")
