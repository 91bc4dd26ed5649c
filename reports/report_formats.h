/**
 * @file report_formats.h
 * The formats, one file each; formats.c lists them.
 */
#ifndef FAB_REPORT_FORMATS_H
#define FAB_REPORT_FORMATS_H

#include "fab/reports.h"
#include "fab/str.h"

extern const fab_report_format fab_report_text;
extern const fab_report_format fab_report_json;
extern const fab_report_format fab_report_xml;
extern const fab_report_format fab_report_markdown;
extern const fab_report_format fab_report_graphml;
extern const fab_report_format fab_report_yed;
extern const fab_report_format fab_report_gexf;
extern const fab_report_format fab_report_dot;
extern const fab_report_format fab_report_svg;
extern const fab_report_format fab_report_ibnet;
extern const fab_report_format fab_report_flows;
extern const fab_report_format fab_report_csv;
extern const fab_report_format fab_report_html, fab_report_timeline;
extern const fab_report_format fab_report_cables, fab_report_ptm, fab_report_slurm_tree, fab_report_slurm_block,
    fab_report_containerlab;
extern const fab_report_format fab_report_htsim;
extern const fab_report_format fab_report_simai, fab_report_simgrid, fab_report_astra_sim;

/** Writes a finished text and flushes. FAB_ENOMEM where an append to it had failed, FAB_EIO when a write fails. */
fab_status fab_report_put(const fab_str *text, FILE *out, fab_error *err) FAB_MUST_USE;

/** Flushes what was streamed. FAB_EIO when a write had failed. */
fab_status fab_report_flush(FILE *out, fab_error *err) FAB_MUST_USE;

/**
 * First of all in a format that shows the fabric itself.
 * @retval FAB_EUNSUPPORTED  the result has no graph
 * @retval FAB_EINTERNAL     a figure of the result is infinite or not a number
 */
fab_status fab_report_needs_graph(const fab_result *result, const char *format, fab_error *err) FAB_MUST_USE;

/** What an audit found, a row each. */
struct fab_audit;
fab_status fab_csv_audit(const struct fab_audit *audit, FILE *out, fab_error *err) FAB_MUST_USE;

#endif
