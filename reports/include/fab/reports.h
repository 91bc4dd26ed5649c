/** Results to bytes: one file per format, an entry per format in report_formats.h. To add one, see reports/README.md.
 */
#pragma once

#include "fab/result.h"

/** What of the fabric becomes one node of a graph. */
typedef enum fab_view {
    FAB_VIEW_AUTO,   /**< whole; in a drawing the finest that can still be read */
    FAB_VIEW_WHOLE,  /**< every GPU, NIC, scale-up domain and switch */
    FAB_VIEW_SERVER, /**< every switch; a server, or a scale-up domain of several servers, as one node */
    FAB_VIEW_LEAF,   /**< every switch; the servers behind the same leaves as one node */
    FAB_VIEW_POD,    /**< by kind, tier and pod; in a dragonfly a pod is a group */
    FAB_VIEW_RAIL,   /**< by kind, tier and rail */
    FAB_VIEW_PLANE,  /**< by kind, tier and plane */
    FAB_VIEW_TIER,   /**< by kind and tier */
    FAB_VIEW_N
} fab_view;

/** "auto", "whole", "server", "leaf", "pod", "rail", "plane", "tier". */
extern const char *const fab_view_names[FAB_VIEW_N];

/** What the colours of a drawing tell. */
typedef enum fab_picture {
    FAB_PICTURE_AUTO,     /**< loads where there are some, else failures, else nothing */
    FAB_PICTURE_LOAD,     /**< largest utilisation of the cables of a line, in any phase or in that of the style */
    FAB_PICTURE_COST,     /**< dollars of the cables of a line with their transceivers, beside the dearest line */
    FAB_PICTURE_FAILURES, /**< how critical the cables are, and what has failed */
    FAB_PICTURE_AUDIT,    /**< of an audit: where it is, and what is missing */
    FAB_PICTURE_N
} fab_picture;

typedef struct fab_report_style {
    bool color;                /**< ANSI colours (text) */
    bool ascii;                /**< no UTF-8 in bars (text) */
    bool conventions;          /**< also how things are counted, and where figures come from (text) */
    int width;                 /**< columns (text); 80 by default */
    fab_view view;             /**< graphs */
    fab_picture picture;       /**< drawings */
    const char *picture_phase; /**< of FAB_PICTURE_LOAD: that phase alone; NULL: all */
    const char
        *table; /**< csv: "phases.engines", FAB_TABLE_LIST or FAB_TABLE_ALL; NULL: what the command has rows for */
} fab_report_style;

#define FAB_TABLE_LIST "list" /**< names and sizes of the tables of a report */
#define FAB_TABLE_ALL  "all"  /**< every table of a report, each below a line with its name */

#define FAB_REPORT_SEEDS 32 /**< of so many seeds the page shows every link */

typedef struct fab_report_format {
    const char *name;      /**< text, json, xml, markdown, graphml, svg, html, cables, slurm-tree, csv, ... */
    const char *file_name; /**< name under --out: report.json, fabric.graphml; NULL: not there */
    const char *suffix;    /**< of files that it is chosen by: ".svg"; NULL: by name only */
    const char *summary;
    /** One of the two, for fab_report_write(): gives the whole report, or writes it as it comes. `style` may be NULL.
     */
    fab_status (*make)(const fab_result *result, const fab_report_style *style, fab_str *out, fab_error *err);
    fab_status (*print)(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err);
    bool (*can_show)(const fab_result *result); /**< NULL: anything; what it cannot show is left out likewise */
    bool shows_graph;                           /**< style.view says how */
    bool shows_loads;                           /**< of every link: fab_replay.keep_loads */
    double cable_bytes;    /**< taken beside the graph, for each of its cables; 0: hardly anything */
    bool is_for_files;     /**< pages, pictures and packed files: nothing that a terminal shows */
    bool needs_graph;      /**< shows the graph itself: fab_reports_write_all() leaves it out where there is none */
    bool shows_audit;      /**< or an audit, or compared designs, where there is no graph */
    bool leaves_out_hosts; /**< has the rate that hosts give to bytes, but not what their software adds to steps */
} fab_report_format;

/**
 * Writes the whole report.
 * @param[in] style  May be NULL: 80 columns, no colour.
 * @retval FAB_EIO           a write failed
 * @retval FAB_EINTERNAL     a figure is infinite or not a number; nothing was written
 * @retval FAB_EUNSUPPORTED  the format needs a graph, and the result has none
 */
FAB_STATUS fab_report_write(const fab_report_format *format, const fab_result *result, const fab_report_style *style,
                            FILE *out, fab_error *err);

/** What a file holds, for fab_save_file() and fab_save_write() with fab_report_save(). */
typedef struct fab_report_content {
    const fab_report_format *format;
    const fab_result *result;
    const fab_report_style *style; /**< may be NULL */
} fab_report_content;

/** fab_report_write() of a fab_report_content. */
FAB_STATUS fab_report_save(const void *content, FILE *out, fab_error *err);

/** The page of a report with the program's own core in it; and the same before anything was asked. */
extern const fab_report_format fab_report_explore;
FAB_STATUS fab_report_explore_empty(FILE *out, fab_error *err);

extern const fab_report_format *const fab_report_formats[]; /**< ended by NULL */

const fab_report_format *fab_report_format_find(const char *name);

/** FAB_EUNSUPPORTED where a fabric has nothing to merge by for that view; FAB_VIEW_AUTO always works. */
FAB_STATUS fab_view_check(const fab_fabric *fabric, fab_view view, fab_error *err);

/**
 * Writes every format that has a file name into `folder` (made if missing): temporary files, renamed when all of them
 * are complete, so nothing half-written stands under a final name. On failure no new file or folder is left behind.
 * Runs into one folder at the same time follow each other: the files are those of one of them.
 * @param[in] force  Overwrite existing files, and remove reports that this run does not write; otherwise an existing
 *                   one is FAB_EIO before anything is written.
 */
FAB_STATUS fab_reports_write_all(const fab_result *result, const char *folder, bool force, fab_error *err);

/**
 * A number of a result by its place among the fields: "iteration.time_s", "fabric.tiers.2.switches". Elements of lists
 * count from 1, and the first is meant where none is named. Of several seeds it is the mean.
 * @param[out] out_unit  As the table of fields has it; NULL: a count or a ratio.
 * @retval FAB_EINPUT  the result has no such figure
 * Complexity: O(fields of the result).
 */
FAB_STATUS fab_result_figure(const fab_result *result, const char *path, double *out, const char **out_unit,
                             fab_error *err);
