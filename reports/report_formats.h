/** The formats, one file each; formats.c lists them. */
#pragma once

#include "fab/reports.h"

extern const fab_report_format fab_report_text;
extern const fab_report_format fab_report_json;
extern const fab_report_format fab_report_xml;
extern const fab_report_format fab_report_markdown;
extern const fab_report_format fab_report_graphml;
extern const fab_report_format fab_report_yed;
extern const fab_report_format fab_report_gexf;
extern const fab_report_format fab_report_dot;
extern const fab_report_format fab_report_svg, fab_report_png, fab_report_pdf;
extern const fab_report_format fab_report_ibnet;
extern const fab_report_format fab_report_flows;
extern const fab_report_format fab_report_csv;
extern const fab_report_format fab_report_html, fab_report_timeline;
extern const fab_report_format fab_report_cables, fab_report_ptm, fab_report_slurm_tree, fab_report_slurm_block,
    fab_report_slurm_tree_yaml, fab_report_containerlab, fab_report_netbox_csv, fab_report_sonic, fab_report_frr,
    fab_report_topograph_model, fab_report_kueue;
extern const fab_report_format fab_report_htsim;
extern const fab_report_format fab_report_simai, fab_report_simgrid, fab_report_astra_sim;
