/** The formats, one file each, in the order in which they are listed. */
#pragma once

#include "fab/reports.h"

/* clang-format off */
#define FAB_REPORT_FORMATS(FORMAT)                                                                                     \
    FORMAT(text) FORMAT(json) FORMAT(xml) FORMAT(markdown) FORMAT(graphml) FORMAT(yed) FORMAT(gexf) FORMAT(dot)        \
    FORMAT(svg) FORMAT(png) FORMAT(pdf) FORMAT(html) FORMAT(explore) FORMAT(ibnet) FORMAT(cables) FORMAT(ptm)          \
    FORMAT(slurm_tree) FORMAT(slurm_block) FORMAT(slurm_tree_yaml) FORMAT(containerlab) FORMAT(netbox_csv)             \
    FORMAT(sonic) FORMAT(frr) FORMAT(topograph_model) FORMAT(kueue) FORMAT(htsim) FORMAT(simai) FORMAT(simgrid)        \
    FORMAT(astra_sim) FORMAT(flows) FORMAT(csv) FORMAT(timeline)
/* clang-format on */

#define FAB_DECLARE_FORMAT(id) extern const fab_report_format fab_report_##id;
FAB_REPORT_FORMATS(FAB_DECLARE_FORMAT)
