/**
 * Where the nodes of a graph view stand: for drawings, and for programs that take positions.
 *
 * Trees of tiers: one row per level, the highest tier at the top, servers at the bottom in their order, so that rails,
 * leaves and pods are columns. A node stands in the middle of what is below it, as far as its neighbours in the row let
 * it (see layout.c). Dragonflies and tori, whose switches have no order, are drawn as a grid of switches with their
 * servers below each (layout_grid.c), or as one row where alike nodes are merged.
 *
 * Units are those of a drawing at 100 %: CSS pixels; x to the right, y downwards, from 0. The same for equal inputs.
 *
 *     fab_graph_view view;  fab_graph_layout layout;
 *     fab_graph_view_init(result, FAB_VIEW_LEAF, &view, err);
 *     fab_graph_layout_make(&view, FAB_LAYOUT_COMPACT, &layout, err);
 *     for (id = 0; id < view.n_nodes; id++)
 *         box of node id: centre layout.x[id], layout.y[id]; size fab_graph_layout_row_of(&layout, level)->width,
 * ->height
 */
#pragma once

#include "graph_view.h"

typedef enum fab_graph_layout_density {
    FAB_LAYOUT_NAMED,   /**< every box has room for the name of its node */
    FAB_LAYOUT_COMPACT, /**< as small as can be read: names where they are few, else numbers */
    FAB_LAYOUT_SLIDE, /**< the same, as near to the shape of a slide as rows that are apart and turned grids make it */
} fab_graph_layout_density;

/** What there is room for in the boxes of a row. */
typedef enum fab_graph_layout_text {
    FAB_LAYOUT_NAME,   /**< "leaf-12" */
    FAB_LAYOUT_NUMBER, /**< "12": its number within the level; of merged nodes that of the group */
    FAB_LAYOUT_COUNTS, /**< merged nodes: name, and a line below it with how many nodes it stands for */
} fab_graph_layout_text;

/** Nodes of one level. In a grid there is a row of each level in every cell, and y is that of the first. */
typedef struct fab_graph_layout_row {
    uint32_t level, n_nodes;
    float y;             /**< of the centres */
    float width, height; /**< of every box */
    fab_graph_layout_text text;
} fab_graph_layout_row;

/** What stands in one pod (view rail: rail; view plane: plane), where these do not overlap. */
typedef struct fab_graph_layout_band {
    uint32_t group;
    float x0, x1, y0, y1;
} fab_graph_layout_band;

typedef struct fab_graph_layout {
    uint32_t n_nodes;
    float *x, *y; /**< shape [n_nodes]: centres */
    float width, height;
    uint32_t n_rows;
    fab_graph_layout_row row[FAB_LEVELS]; /**< from the top */
    bool is_grid;
    uint32_t n_bands;
    fab_graph_layout_band *band; /**< shape [n_bands], from the left */
    const char *band_name;       /**< "pod", "group" (dragonfly), "rail" or "plane" */
} fab_graph_layout;

/**
 * Places all nodes of a view.
 * @param[out] out  Release with fab_graph_layout_release().
 * Complexity: O(levels * edges + nodes log nodes) time; 24 bytes per node.
 */
FAB_STATUS fab_graph_layout_make(const fab_graph_view *view, fab_graph_layout_density density, fab_graph_layout *out,
                                 fab_error *err);
void fab_graph_layout_release(fab_graph_layout *layout);

/** Row of a level that the view has. */
const fab_graph_layout_row *fab_graph_layout_row_of(const fab_graph_layout *layout, uint32_t level);

/**
 * The finest view that can be read as a drawing of at most `width` pixels and `n_edges` edges: whole, server, leaf,
 * then rail where rails are networks of their own, else pod or plane where the fabric has several, else tier.
 */
FAB_STATUS fab_graph_layout_choose_view(const fab_result *result, float width, uint32_t n_edges, fab_view *out,
                                        fab_error *err);

/* --- layout_grid.c ------------------------------------------------------------------------------------------------ */

/** Places nodes as a grid. layout->row is set; x, y, width, height are filled. */
FAB_STATUS fab_graph_layout_grid(const fab_graph_view *view, fab_graph_layout_density density, fab_graph_layout *layout,
                                 fab_error *err);
