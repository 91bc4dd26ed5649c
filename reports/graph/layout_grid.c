/* Wirings without tiers: a cell for every switch, with its servers below it. A dragonfly has a column of cells for each
 * group, or on a slide a row where that is less high; in a torus the first, third and fifth dimension run to the right
 * and the others down, each inside the next. Of any other graph igraph places the switches. */
#include "layout.h"
#include "fab/graph_parts.h"

#define CELL_GAP    26.0F
#define MOST_PLACED 2000  /* switches of any graph: placing more takes long; they stand in a column */
#define PANEL_GAP   40.0F /* between steps of the outer dimensions, and between planes */

typedef struct cells {
    const fab_graph_view *view;
    uint32_t *cell;            /* shape [nodes]: switch that the node stands under */
    uint32_t *slot;            /* shape [nodes]: place in the row of its level there */
    uint32_t *used;            /* shape [switches][FAB_LEVELS] */
    uint32_t most[FAB_LEVELS]; /* nodes of a level in the fullest cell */
    float width, height;       /* of a cell */
    float offset[FAB_LEVELS];  /* of a row from the top of the cell */
    double (*corner)[2];       /* shape [switches]: of their cells; NULL: they stand in columns */
} cells;
FAB_FREES(cells_release, cells, cell, slot, used, corner);

/* Edges lead upwards from GPUs to NICs to switches, in any order of their numbers: from the top down, three times. */
static void find_cells(cells *c, uint32_t first_switch) {
    FAB_FILL(c->cell, c->view->n_nodes, fab_at >= first_switch ? (uint32_t)fab_at - first_switch : FAB_NONE);
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < c->view->n_edges; i++) {
            uint32_t source = 0;
            uint32_t target = 0;
            fab_graph_view_ends(c->view, i, &source, &target);
            if (c->cell[source] == FAB_NONE && c->cell[target] != FAB_NONE) {
                c->cell[source] = c->cell[target];
            } else if (c->cell[target] == FAB_NONE && c->cell[source] != FAB_NONE) {
                c->cell[target] = c->cell[source];
            }
        }
    }
}

static void fill_cells(cells *c) {
    for (uint32_t id = 0; id < c->view->n_nodes; id++) {
        uint32_t level = fab_graph_view_level(c->view, id);
        if (c->cell[id] == FAB_NONE) {
            c->cell[id] = 0; /* plugged in nowhere */
        }
        uint32_t *used = &c->used[(size_t)c->cell[id] * FAB_LEVELS + level];
        c->slot[id] = (*used)++;
        c->most[level] = *used > c->most[level] ? *used : c->most[level];
    }
}

static void size_cells(cells *c, fab_graph_layout *layout) {
    float y = 0;
    FAB_EACH(fab_graph_layout_row, row, layout->row, layout->n_rows) {
        c->width = fmaxf(c->width, (float)c->most[row->level] * (row->width + 3));
        c->offset[row->level] = y + row->height / 2;
        row->y = c->offset[row->level];
        y += row->height + 16;
    }
    c->width += CELL_GAP;
    c->height = y + CELL_GAP;
}

/* Column and row of a switch, and how often a panel ends before it in either direction. */
typedef struct place {
    uint64_t column, row, panels_x, panels_y;
} place;

static place place_in_torus(const fab_torus *t, uint64_t at) {
    place out = {0, 0, 0, 0};
    uint64_t columns = 1;
    uint64_t rows = 1;
    for (uint32_t i = 0; i < t->n_dimensions; i++) {
        uint64_t x = at % t->size[i];
        at /= t->size[i];
        if (i % 2 == 0) {
            out.column += x * columns;
            out.panels_x += i >= 2 ? x * (columns / t->size[0]) : 0;
            columns *= t->size[i];
        } else {
            out.row += x * rows;
            out.panels_y += i >= 3 ? x * (rows / t->size[1]) : 0;
            rows *= t->size[i];
        }
    }
    return out;
}

static uint64_t torus_columns(const fab_torus *t) {
    uint64_t columns = 1;
    for (uint32_t i = 0; i < t->n_dimensions; i += 2) {
        columns *= t->size[i];
    }
    return columns;
}

/* Cells of any graph where igraph has its switches, as far apart as it takes, or nearly. */
static fab_status find_corners(cells *c, uint32_t n, fab_error *err) {
    const fab_fabric *f = c->view->fabric;
    FAB_OWNS(fab_edges_release) fab_edges edges = {.n = 0};
    double least[2] = {HUGE_VAL, HUGE_VAL};
    double most = 0;
    double scale = 0;
    FAB_PASS(FAB_NEW(c->corner, n, err));
    for (uint32_t cable = 0; cable < f->n_cables; cable++) {
        if (fab_class_of(f, 2 * cable)->kind == FAB_LINK_FABRIC) {
            FAB_PASS(fab_edges_add(&edges, fab_tail(f, 2 * cable) - f->first[FAB_NODE_SWITCH],
                                   fab_head(f, 2 * cable) - f->first[FAB_NODE_SWITCH], err));
        }
    }
    FAB_PASS(fab_graph_places(n, &edges, c->corner, err));
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < a; b++) {
            double dx = fabs(c->corner[a][0] - c->corner[b][0]);
            double dy = fabs(c->corner[a][1] - c->corner[b][1]);
            scale = fmax(scale, fmin((double)c->width / dx, (double)c->height / dy));
            most = fmax(most, fmax(dx, dy));
        }
        least[0] = fmin(least[0], c->corner[a][0]);
        least[1] = fmin(least[1], c->corner[a][1]);
    }
    scale = most > 0 ? fmin(scale, 3 * sqrt(n) * (double)c->width / most) : 0;
    for (uint32_t a = 0; a < n; a++) {
        c->corner[a][0] = floor(scale * (c->corner[a][0] - least[0]) + 0.5);
        c->corner[a][1] = floor(scale * (c->corner[a][1] - least[1]) + 0.5);
    }
    return FAB_OK;
}

static uint32_t at_least_one(uint32_t n) {
    return n > 0 ? n : 1;
}

static void place_cells(const cells *c, const fab_torus *torus, bool is_slide, fab_graph_layout *layout) {
    const fab_fabric *f = c->view->fabric;
    uint32_t per_plane = at_least_one(fab_n_switches(f) / at_least_one(f->n_planes));
    uint32_t per_group = at_least_one(per_plane / at_least_one(f->n_pods));
    uint64_t columns = torus != NULL ? torus_columns(torus) : per_plane / per_group;
    const bool turns = is_slide && torus == NULL && per_group > columns && f->n_planes < 2;
    for (uint32_t id = 0; id < layout->n_nodes; id++) {
        uint32_t level = fab_graph_view_level(c->view, id);
        uint32_t at = c->cell[id] % per_plane;
        uint32_t plane = c->cell[id] / per_plane;
        place p = {at / per_group, at % per_group, 0, 0};
        if (turns) {
            p = (place){at % per_group, at / per_group, 0, 0};
        }
        if (torus != NULL) {
            p = place_in_torus(torus, at);
        }
        p.column += plane * columns;
        p.panels_y += turns ? at / per_group : 0;
        p.panels_x += plane * (torus != NULL ? torus_columns(torus) / torus->size[0] : 1);
        const fab_graph_layout_row *row = fab_graph_layout_row_of(layout, level);
        float n = (float)c->used[(size_t)c->cell[id] * FAB_LEVELS + level];
        float along = ((float)c->slot[id] - (n - 1) / 2) * (row->width + 3);
        float x = (float)p.column * c->width + (float)p.panels_x * PANEL_GAP;
        float y = (float)p.row * c->height + (float)p.panels_y * PANEL_GAP;
        if (c->corner != NULL) {
            x = (float)c->corner[c->cell[id]][0];
            y = (float)c->corner[c->cell[id]][1];
        }
        layout->x[id] = floorf(x + (c->width - CELL_GAP) / 2 + along + 0.5F);
        layout->y[id] = y + c->offset[level];
        layout->width = fmaxf(layout->width, layout->x[id] + row->width / 2 + 1);
        layout->height = fmaxf(layout->height, layout->y[id] + row->height / 2);
    }
}

fab_status fab_graph_layout_grid(const fab_graph_view *view, fab_graph_layout_density density, fab_graph_layout *layout,
                                 fab_error *err) {
    FAB_OWNS(cells_release) cells c = {.view = view};
    bool is_torus = view->fabric->wiring == FAB_WIRING_TORUS;
    uint32_t n_switches = fab_n_switches(view->fabric);
    uint32_t first_switch = view->n_nodes - n_switches; /* they stand last in every view that keeps them */
    FAB_PASS(FAB_NEW_ALL(view->n_nodes, err, c.cell, c.slot));
    FAB_PASS(FAB_NEW(c.used, (size_t)n_switches * FAB_LEVELS, err));
    find_cells(&c, first_switch);
    fill_cells(&c);
    size_cells(&c, layout);
    if (view->fabric->wiring == FAB_WIRING_GRAPH && n_switches <= MOST_PLACED) {
        FAB_PASS(find_corners(&c, n_switches, err));
    }
    place_cells(&c, is_torus ? &view->result->fabrics[0].spec.torus : NULL, density == FAB_LAYOUT_SLIDE, layout);
    return FAB_OK;
}
