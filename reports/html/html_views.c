/* The fabric as it is drawn, in the data block of the HTML report: every view that it can be merged to, and where the
 * nodes of each stand. The page opens a node of a merged view into those of the view `leaf`. */
#include "html_code.h"
#include "html_data.h"
#include "graph/layout.h"

#define NODE_COLUMNS 11 /* level, tier, pod, rail, plane, group, nodes, GPUs, first server, x, y */

static int64_t or_none(uint32_t value) {
    return value == FAB_NONE ? -1 : (int64_t)value;
}

static void put_nodes(const fab_graph_view *view, const fab_graph_layout *layout, fab_str *out) {
    fab_code_rows rows = {.out = out, .width = NODE_COLUMNS};
    fab_str_printf(out, "\"n\":%" PRIu32 ",\"nodes\":\"", view->n_nodes);
    for (uint32_t id = 0; id < view->n_nodes; id++) {
        fab_graph_node node;
        fab_graph_view_node(view, id, &node);
        int64_t row[NODE_COLUMNS] = {node.level,
                                     node.tier,
                                     or_none(node.pod),
                                     or_none(node.rail),
                                     or_none(node.plane),
                                     or_none(node.group),
                                     node.n_nodes,
                                     node.n_gpus,
                                     or_none(node.server),
                                     llround((double)layout->x[id]),
                                     llround((double)layout->y[id])};
        fab_code_rows_add(&rows, row);
    }
    fab_code_rows_end(&rows);
    fab_str_add(out, "\"");
}

static void put_places(const fab_graph_layout *layout, fab_str *out) {
    fab_str_printf(out, "\"width\":%.0f,\"height\":%.0f,\"grid\":%s,\"rows\":[", (double)layout->width,
                   (double)layout->height, layout->is_grid ? "true" : "false");
    for (uint32_t i = 0; i < layout->n_rows; i++) {
        const fab_graph_layout_row *row = &layout->row[i];
        fab_str_printf(out, "%s{\"level\":%" PRIu32 ",\"y\":%.0f,\"width\":%.0f,\"height\":%.0f}", i > 0 ? "," : "",
                       row->level, (double)row->y, (double)row->width, (double)row->height);
    }
    fab_str_add(out, "],\"bands\":[");
    for (uint32_t i = 0; i < layout->n_bands; i++) {
        const fab_graph_layout_band *band = &layout->band[i];
        fab_str_printf(out, "%s{\"group\":%" PRIu32 ",\"x0\":%.0f,\"x1\":%.0f}", i > 0 ? "," : "", band->group,
                       (double)band->x0, (double)band->x1);
    }
    fab_str_printf(out, "],\"band_name\":\"%s\",", layout->band_name != NULL ? layout->band_name : "");
}

static fab_status put_view(const fab_result *result, fab_view kind, bool *is_first, fab_str *out, fab_error *err) {
    FAB_OWNS(fab_graph_view_release) fab_graph_view view = {0};
    FAB_OWNS(fab_graph_layout_release) fab_graph_layout layout = {0};
    fab_error inner = {0};
    fab_status status = fab_graph_view_init(result, kind, &view, &inner);
    if (status == FAB_EUNSUPPORTED) {
        return FAB_OK; /* the fabric has no pods, rails or planes to merge by */
    }
    FAB_REFUSE_IF(status != FAB_OK, err, status, inner.where, "%s", inner.text);
    FAB_PASS(fab_graph_layout_make(&view, FAB_LAYOUT_COMPACT, &layout, err));
    fab_str_printf(out, "%s{\"name\":\"%s\",", *is_first ? "" : ",", fab_view_names[kind]);
    *is_first = false;
    put_places(&layout, out);
    put_nodes(&view, &layout, out);
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}

/* Where merging so makes several groups of switches; `leaf` and `tier` always. */
static bool divides(const fab_fabric *f, fab_view kind) {
    FAB_ANY(has_rails, s, fab_n_switches(f), f->switch_rail[s] != UINT16_MAX);
    return kind == FAB_VIEW_POD     ? f->n_pods > 1
           : kind == FAB_VIEW_RAIL  ? f->n_rails > 1 && has_rails
           : kind == FAB_VIEW_PLANE ? f->n_planes > 1
                                    : true;
}

fab_status fab_html_views(const fab_result *result, fab_str *out, fab_error *err) {
    static const fab_view VIEWS[] = {FAB_VIEW_LEAF, FAB_VIEW_POD, FAB_VIEW_RAIL, FAB_VIEW_PLANE, FAB_VIEW_TIER};
    fab_result bare = {.n_fabrics = result->n_fabrics, .fabrics = result->fabrics, .graph = result->graph};
    bool is_first = true;
    if (result->graph == NULL || result->graph->n_cables > FAB_HTML_CABLES) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"views\":[");
    for (size_t i = 0; i < FAB_N_OF(VIEWS); i++) {
        FAB_PASS(divides(result->graph, VIEWS[i]) ? put_view(&bare, VIEWS[i], &is_first, out, err) : FAB_OK);
    }
    fab_str_add(out, "]");
    return FAB_OK;
}
