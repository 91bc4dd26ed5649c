/**
 * Parts of the data block of the HTML report beside the result itself, as members of a JSON object: each begins with a
 * comma.
 */
#pragma once

#include "fab/result.h"

#define FAB_HTML_CABLES (UINT32_C(1) << 20) /**< a fabric of more is not drawn */
#define FAB_HTML_LOADS                                                                                                 \
    (UINT32_C(1) << 20) /**< characters that loads of links take, about; the first draw of all comes first */

#define FAB_HTML_OPS (UINT32_C(1) << 15) /**< operations of schedules, of all engines together: some 400 kB */

/** `"graph"`: nodes, cables and where they are plugged in. Nothing where the result has no graph, or too large a one.
 */
FAB_STATUS fab_html_graph(const fab_result *result, fab_str *out, fab_error *err);

/** `"views"`: the graph merged in every way that there is, with the places of its nodes (layout.h). */
FAB_STATUS fab_html_views(const fab_result *result, fab_str *out, fab_error *err);

/** `"loads"`: utilisation of every network link by phase, engine and draw, as far as it was kept, and bytes. */
FAB_STATUS fab_html_loads(const fab_result *result, fab_str *out, fab_error *err);

/** `"criticality"`: what the loss of every network cable does, where a study or an overlay knows it. */
FAB_STATUS fab_html_criticality(const fab_result *result, fab_str *out, fab_error *err);

/** `"schedules"`: what every stage of a pipeline does when, by engine (null: too much), and `"travels"`: which of it is
 * whose phase (fab_travel). */
FAB_STATUS fab_html_schedules(const fab_result *result, fab_str *out, fab_error *err);

/** `"ranks"`: the GPU of every rank. */
FAB_STATUS fab_html_ranks(const fab_result *result, fab_str *out, fab_error *err);

/** `"blocks"`: bytes between blocks of servers, by phase. */
FAB_STATUS fab_html_blocks(const fab_result *result, fab_str *out, fab_error *err);
