/* The fabric as an SVG drawing: bands of pods, lines, boxes, from the back to the front. Lines go from the coldest to
 * the hottest, so that what is overloaded lies on top. */
#include "svg.h"
#include "fab/sweep.h"
#include "fab/units.h"
#include "fab/verdict.h"
#include "report_formats.h"

#define LEFT          128.0F /* names of the rows */
#define RIGHT         24.0F
#define TOP           112.0F
#define BOTTOM        56.0F
#define LEAST         860.0F /* width: the legend's */
#define MOST_LABELLED 80     /* edges with a text of their own */

/* --- lines -------------------------------------------------------------------------------------------------------- */

static double part_of(const fab_svg *svg, const fab_graph_edge *edge) {
    return svg->picture == FAB_PICTURE_COST ? edge->cost_usd : edge->criticality;
}

/* Fifth of the largest line or box. */
static uint32_t fifth_of(const fab_svg *svg, double part) {
    static const uint32_t FIFTH[] = {1, 2, 3, 4, 6};
    part = svg->largest > 0 ? part / svg->largest : 0;
    return isnan(part)     ? FAB_GRAPH_BINS
           : part <= 0     ? 0
           : svg->is_alike ? FIFTH[1]
                           : FIFTH[(uint32_t)fmin(5 * part * (1 - 1e-9), 4)];
}

/* Bin of the colour: of the utilisation, or by fifths. */
static uint32_t bin_of(const fab_svg *svg, const fab_graph_edge *edge) {
    double use = fab_graph_utilisation(svg->w->view, edge);
    return svg->picture == FAB_PICTURE_COST || svg->picture == FAB_PICTURE_FAILURES ? fifth_of(svg, part_of(svg, edge))
           : isnan(use)                                                             ? FAB_GRAPH_BINS
                                                                                    : fab_graph_bin(use);
}

static uint32_t pass_of(const fab_svg *svg, const fab_graph_edge *edge) {
    uint32_t bin = bin_of(svg, edge);
    if (edge->n_failed == edge->n_cables) {
        return FAB_SVG_FAILED;
    }
    if (edge->residual_ratio < 1 && edge->n_cables == 1) {
        return FAB_SVG_SLOWER;
    }
    if (edge->tier == 0) {
        return FAB_SVG_SERVER;
    }
    return bin == FAB_GRAPH_BINS ? FAB_SVG_PLAIN : FAB_SVG_BIN + bin;
}

/* Of several cables some are not what they were: a dashed line upon theirs. FAB_SVG_COUNT: none. */
static uint32_t mark_of(const fab_graph_edge *edge) {
    if (edge->n_cables == 1 || edge->n_failed == edge->n_cables || edge->residual_ratio >= 1) {
        return FAB_SVG_COUNT;
    }
    return edge->n_failed > 0 ? FAB_SVG_FAILED : FAB_SVG_SLOWER;
}

static void class_of(uint32_t pass, char out[4]) {
    if (pass >= FAB_SVG_BIN && pass < FAB_SVG_SLOWER) {
        (void)snprintf(out, 4, "u%u", (pass - FAB_SVG_BIN) % 10);
        return;
    }
    (void)snprintf(out, 4, "%s",
                   pass == FAB_SVG_SERVER   ? "i"
                   : pass == FAB_SVG_PLAIN  ? "p"
                   : pass == FAB_SVG_SLOWER ? "w"
                                            : "f");
}

static double stroke_width(const fab_graph_view *view, const fab_graph_edge *edge) {
    if (edge->n_cables == 1) {
        return view->n_edges > 600 ? 0.8 : view->n_edges > 150 ? 1.3 : 2;
    }
    double width = fmin(1.3 + 0.55 * log2(edge->n_cables), 9);
    return view->n_edges > 100 ? (1 + width) / 2 : width;
}

typedef struct point {
    double x, y;
} point;

static point centre_of(const fab_svg *svg, uint32_t node) {
    const fab_graph_layout *l = svg->w->layout;
    return (point){(double)(svg->x0 + l->x[node]), (double)(svg->y0 + l->y[node])};
}

static double half_height(const fab_svg *svg, uint32_t node) {
    return (double)fab_graph_layout_row_of(svg->w->layout, fab_graph_view_level(svg->w->view, node))->height / 2;
}

static double half_width(const fab_svg *svg, uint32_t node) {
    return (double)fab_graph_layout_row_of(svg->w->layout, fab_graph_view_level(svg->w->view, node))->width / 2;
}

/* Cables between the same two nodes lie side by side: how far this one is from the middle. */
static double aside_of(const fab_svg *svg, const fab_graph_edge *edge) {
    const fab_fabric *f = svg->w->view->fabric;
    uint32_t before = 0;
    uint32_t n = 0;
    if (svg->w->view->merge != NULL) {
        return 0;
    }
    for (uint32_t i = f->out_first[edge->source]; i < f->out_first[edge->source + 1]; i++) {
        fab_link_id link = f->out_link[i];
        if (fab_head(f, link) == edge->target) {
            before += link >> 1 < edge->id;
            n++;
        }
    }
    double room = 2 * fmin(half_width(svg, edge->source), half_width(svg, edge->target)) - 4;
    return n > 1 ? (before - (n - 1) / 2.0) * fmin(9, room / (n - 1)) : 0;
}

/* How far an arc leaves the line between its ends. */
static double arc_height(double distance, bool upright) {
    return upright ? fmin(14 + 0.16 * distance, 120) : fmin(14 + 0.22 * distance, 420);
}

#define LOOP 34 /* height of the handles of a loop */

/* Straight between rows; an arc over what stands between two nodes of a row; a loop above a node. */
static void put_shape(const fab_svg *svg, const fab_graph_edge *edge, char *out, size_t size) {
    point a = centre_of(svg, edge->source);
    point b = centre_of(svg, edge->target);
    double lift_a = half_height(svg, edge->source);
    double lift_b = half_height(svg, edge->target);
    double aside = aside_of(svg, edge);
    if (edge->source == edge->target) {
        double reach = fmin(half_width(svg, edge->source), 24);
        (void)snprintf(out, size, "M%.6g %.6gC%.6g %.6g %.6g %.6g %.6g %.6g", a.x - reach / 2, a.y - lift_a,
                       a.x - reach * 1.4, a.y - lift_a - LOOP, a.x + reach * 1.4, a.y - lift_a - LOOP, a.x + reach / 2,
                       a.y - lift_a);
    } else if (a.y == b.y) {
        double height = arc_height(fabs(b.x - a.x), false) + 2 * aside;
        (void)snprintf(out, size, "M%.6g %.6gQ%.6g %.6g %.6g %.6g", a.x, a.y - lift_a, (a.x + b.x) / 2,
                       a.y - lift_a - height, b.x, b.y - lift_b);
    } else if (a.x == b.x && svg->w->layout->is_grid && edge->link_kind == FAB_LINK_FABRIC) {
        double side = half_width(svg, edge->source);
        double height = arc_height(fabs(b.y - a.y), true) + 2 * aside;
        (void)snprintf(out, size, "M%.6g %.6gQ%.6g %.6g %.6g %.6g", a.x + side, a.y, a.x + side + height,
                       (a.y + b.y) / 2, b.x + side, b.y);
    } else {
        double down = a.y > b.y ? 1 : -1;
        (void)snprintf(out, size, "M%.6g %.6gL%.6g %.6g", a.x + aside, a.y - down * lift_a, b.x + aside,
                       b.y + down * lift_b);
    }
}

static void put_troubles(fab_graph_writer *w, double criticality, uint32_t n_failed) {
    if (!isnan(criticality)) {
        fab_graph_putf(w, "; criticality %.4g", criticality);
    }
    if (n_failed > 0) {
        fab_graph_putf(w, "; %" PRIu32 " failed", n_failed);
    }
}

/* What a pointer that rests on the line is told. */
static void put_told(const fab_svg *svg, const fab_graph_edge *edge) {
    fab_graph_writer *w = svg->w;
    fab_graph_node end;
    fab_graph_view_node(w->view, edge->source, &end);
    fab_graph_put(w, "<title>");
    fab_xml_write_escaped(&w->xml, end.name);
    fab_graph_view_node(w->view, edge->target, &end);
    fab_graph_put(w, " \xE2\x80\x93 ");
    fab_xml_write_escaped(&w->xml, end.name);
    fab_graph_put(w, ": ");
    if (edge->n_cables > 1) {
        fab_graph_putf(w, "%" PRIu32 " cables, ", edge->n_cables);
    }
    fab_graph_put(w, FAB_SAY(edge->capacity_bps, FAB_UNIT_RATE));
    fab_graph_put(w, edge->n_cables > 1 ? " each way" : "");
    if (w->view->has_utilisation && !isnan(edge->use[0].use[0])) {
        fab_graph_putf(w, "; offered %.2f up, %.2f down", edge->use[0].use[0], edge->use[0].use[1]);
    }
    if (edge->use != NULL && w->view->n_engines > 0 && edge->use[0].n_collided > 0) {
        fab_graph_putf(w, "; %" PRIu32 " links collided", edge->use[0].n_collided);
    }
    put_troubles(w, edge->criticality, edge->n_failed);
    if (edge->n_failed == 0 && edge->residual_ratio < 1) {
        fab_graph_putf(w, "; %.1f %% of the rate left", 100 * edge->residual_ratio);
    }
    fab_graph_put(w, "</title>");
}

static void svg_put_edge(const fab_svg *svg, const fab_graph_edge *edge, uint32_t pass, double width) {
    char shape[160];
    char class[4];
    put_shape(svg, edge, shape, sizeof shape);
    class_of(pass, class);
    fab_graph_putf(svg->w, "\n    <path class=\"%s\" stroke-width=\"%.3g\" d=\"%s\">", class, width, shape);
    put_told(svg, edge);
    fab_graph_put(svg->w, "</path>");
}

/* Cables and worst factor: beside an upright line, else upon it, every other one higher up, because lines that fan out
 * from one node lie close together. */
static void put_edge_label(const fab_svg *svg, const fab_graph_edge *edge) {
    point a = centre_of(svg, edge->source);
    point b = centre_of(svg, edge->target);
    char count[32];
    char factor[64] = "";
    char both[112];
    double worst = svg->w->view->n_engines > 0 ? fab_graph_collision(edge, 0) : (double)NAN;
    (void)fab_format_count(count, edge->n_cables);
    if (svg->picture == FAB_PICTURE_COST) {
        (void)(isnan(edge->cost_usd) ? "" : fab_money_format(factor, edge->cost_usd));
    } else if (!isnan(worst) && worst > 0) {
        FAB_FORMAT(factor, "\xC3\x97%.2f", worst);
    }
    if (edge->n_failed > 0) {
        size_t n = strlen(factor);
        (void)snprintf(factor + n, sizeof factor - n, "%s%s failed", n > 0 ? " " : "", FAB_SAY_COUNT(edge->n_failed));
    }
    if (edge->n_cables == 1 || (a.y == b.y && edge->source != edge->target)) {
        return;
    }
    double aside = stroke_width(svg->w->view, edge) / 2 + 4;
    double middle = (a.y + b.y) / 2 + 3.5;
    if (edge->source != edge->target && fabs(a.x - b.x) < 8) {
        fab_svg_text(svg->w, a.x - aside, middle, "o", "end", 100, count);
        fab_svg_text(svg->w, a.x + aside, middle, "o", "start", 100, factor);
        return;
    }
    double along = edge->source == edge->target ? 0 : edge->source % 2 == 0 ? 0.42 : 0.6;
    double y = edge->source == edge->target ? a.y - half_height(svg, edge->source) - 30 : a.y + along * (b.y - a.y) + 3;
    FAB_FORMAT(both, "%s%s%s", count, factor[0] != '\0' ? ", " : "", factor);
    fab_svg_text(svg->w, a.x + along * (b.x - a.x), y, "o", "middle", 200, both);
}

static void put_edges(fab_svg *svg) {
    const fab_graph_view *view = svg->w->view;
    fab_graph_use room[FAB_MAX_ENGINES];
    fab_graph_edge edge;
    fab_graph_put(svg->w, view->n_edges > 300 ? "\n  <g opacity=\"0.85\">" : "\n  <g>");
    for (uint32_t pass = 0; pass < FAB_SVG_COUNT; pass++) {
        if ((svg->used_passes >> pass & 1) == 0) {
            continue;
        }
        for (uint32_t i = 0; i < view->n_edges; i++) {
            fab_graph_view_edge(view, i, room, &edge);
            if (pass_of(svg, &edge) == pass) {
                svg_put_edge(svg, &edge, pass, stroke_width(view, &edge));
            }
            if (mark_of(&edge) == pass) {
                svg_put_edge(svg, &edge, pass, 2);
            }
        }
    }
    for (uint32_t i = 0; svg->labels_edges && i < view->n_edges; i++) {
        fab_graph_view_edge(view, i, room, &edge);
        put_edge_label(svg, &edge);
    }
    fab_graph_put(svg->w, "\n  </g>");
}

/* Arcs reach beyond the boxes, above the first row and to the right: half of their height. */
static void make_space(fab_svg *svg, const fab_graph_edge *edge) {
    point a = centre_of(svg, edge->source);
    point b = centre_of(svg, edge->target);
    double rise = 0;
    if (edge->source == edge->target) {
        rise = LOOP + 10;
    } else if (a.y == b.y) {
        rise = arc_height(fabs(b.x - a.x), false) / 2;
    } else if (a.x == b.x && svg->w->layout->is_grid && edge->link_kind == FAB_LINK_FABRIC) {
        double reach = a.x + half_width(svg, edge->source) + arc_height(fabs(b.y - a.y), true) / 2;
        svg->beside = fmaxf(svg->beside, (float)reach - svg->w->layout->width);
    }
    svg->above = fmaxf(svg->above, (float)(rise - a.y + half_height(svg, edge->source)));
}

/* Switches, NICs and GPUs whose loss costs something. */
static void look_at_boxes(fab_svg *svg) {
    const uint32_t n = svg->w->view->n_nodes;
    fab_graph_node node;
    for (uint32_t i = 0; svg->picture == FAB_PICTURE_FAILURES && i < 2 * n; i++) { /* the largest, then its fifths */
        fab_graph_view_node(svg->w->view, i % n, &node);
        svg->largest = fmax(svg->largest, node.criticality);
        svg->used_passes |= i >= n && node.criticality > 0 ? 1U << (FAB_SVG_BIN + fifth_of(svg, node.criticality)) : 0;
    }
}

/* What the legend and the description tell of all edges. */
static void look_at_edges(fab_svg *svg) {
    const fab_graph_view *view = svg->w->view;
    fab_graph_use room[FAB_MAX_ENGINES];
    fab_graph_edge edge;
    double least = INFINITY;
    if (svg->picture == FAB_PICTURE_AUTO) {
        svg->picture = view->has_utilisation   ? FAB_PICTURE_LOAD
                       : view->has_criticality ? FAB_PICTURE_FAILURES
                                               : FAB_PICTURE_AUTO;
    }
    for (uint32_t i = 0; svg->picture >= FAB_PICTURE_COST && i < view->n_edges; i++) {
        fab_graph_view_edge(view, i, room, &edge);
        svg->largest = fmax(svg->largest, part_of(svg, &edge));
        least = part_of(svg, &edge) > 0 ? fmin(least, part_of(svg, &edge)) : least;
    }
    svg->is_alike = least > 0.8 * svg->largest && least < INFINITY;
    look_at_boxes(svg);
    for (uint32_t i = 0; i < view->n_edges; i++) {
        fab_graph_view_edge(view, i, room, &edge);
        uint32_t pass = pass_of(svg, &edge);
        svg->used_passes |= 1U << pass | 1U << mark_of(&edge);
        svg->n_failed += edge.n_failed;
        make_space(svg, &edge);
        if (view->n_engines > 0) {
            svg->worst = fmax(svg->worst, fab_graph_collision(&edge, 0));
        }
    }
}

/* --- rows and bands ----------------------------------------------------------------------------------------------- */

static void put_bands(const fab_svg *svg) {
    const fab_graph_layout *l = svg->w->layout;
    float pad = 8;
    for (uint32_t i = 1; i < l->n_bands && l->band[i].x0 > l->band[i - 1].x1; i++) {
        pad = fminf(pad, (l->band[i].x0 - l->band[i - 1].x1) / 2 - 1);
    }
    pad = fmaxf(pad, 1);
    fab_graph_put(svg->w, "\n  <g>");
    FAB_EACH(const fab_graph_layout_band, band, l->band, l->n_bands) {
        fab_graph_putf(svg->w,
                       "\n    <rect class=\"b\" rx=\"5\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"/>",
                       (double)(svg->x0 + band->x0 - pad), (double)(svg->y0 + band->y0 - 8),
                       (double)(band->x1 - band->x0 + 2 * pad), (double)(band->y1 - band->y0 + 16));
    }
    fab_graph_put(svg->w, "\n  </g>");
}

/* Below the bands, for above them lines start; above, where something stands below and nothing arcs. */
static void put_band_names(const fab_svg *svg) {
    const fab_graph_layout *l = svg->w->layout;
    fab_graph_put(svg->w, "\n  <g>");
    for (uint32_t i = 0; i < l->n_bands; i++) {
        const fab_graph_layout_band *band = &l->band[i];
        char text[64];
        double room = i + 1 < l->n_bands && l->band[i + 1].x0 > band->x1 ? (double)(l->band[i + 1].x0 - band->x0) - 4
                                                                         : (double)(band->x1 - band->x0) + 20;
        bool is_lowest = svg->above > 0 || band->y1 > l->height - 24;
        double y = is_lowest ? (double)band->y1 + 22 : (double)band->y0 - 12;
        FAB_FORMAT(text, "%s %" PRIu32, l->band_name, band->group);
        if (fab_svg_text_width("g", text) > room) {
            FAB_FORMAT(text, "%" PRIu32, band->group);
        }
        fab_svg_text(svg->w, (double)(svg->x0 + band->x0) - 2, (double)svg->y0 + y, "g", "start", room + 8, text);
    }
    fab_graph_put(svg->w, "\n  </g>");
}

/* What the boxes of a row are, where they are not what it counts; "": they are. */
static void say_boxes(const fab_graph_view *view, const fab_graph_layout_row *row, char *out, size_t size) {
    FAB_SUM(uint32_t, n, v, view->n_nodes, fab_graph_view_level(view, v) == row->level);
    out[0] = '\0';
    if (view->kind == FAB_VIEW_LEAF && row->level < FAB_LEVEL_TIER(1)) {
        (void)snprintf(out, size, "%" PRIu32 " leaf group%s", n, n == 1 ? "" : "s");
    } else if (view->kind >= FAB_VIEW_POD && n > 1) {
        (void)snprintf(out, size, "%" PRIu32 " %ss", n,
                       view->kind == FAB_VIEW_POD && view->fabric->wiring == FAB_WIRING_DRAGONFLY
                           ? "group"
                           : fab_view_names[view->kind]);
    }
}

static void svg_put_rows(const fab_svg *svg) {
    const fab_graph_view *view = svg->w->view;
    const fab_graph_layout *l = svg->w->layout;
    const fab_fabric *f = view->fabric;
    fab_graph_put(svg->w, "\n  <g>");
    FAB_EACH(const fab_graph_layout_row, row, l->row, l->n_rows) {
        char text[64];
        double y = (double)(svg->y0 + row->y);
        bool servers = row->level == FAB_LEVEL_GPU && (view->kind == FAB_VIEW_SERVER || view->kind == FAB_VIEW_LEAF);
        uint64_t n = row->level < FAB_LEVEL_TIER(1)
                         ? fab_n_of(f, (fab_node_kind)row->level)
                         : f->first_of_tier[row->level - 1] - f->first_of_tier[row->level - 2];
        if (servers) {
            FAB_FORMAT(text, "%s server%s", FAB_SAY_COUNT(f->n_servers), f->n_servers == 1 ? "" : "s");
        } else {
            fab_svg_count(view, row->level, n, text, sizeof text);
        }
        fab_svg_text(svg->w, 20, y + 4, "r", "start", (double)LEFT - 24, text);
        say_boxes(view, row, text, sizeof text);
        fab_svg_text(svg->w, 20, y + 19, "", "start", (double)LEFT - 24, text);
        if (l->is_grid) {
            break; /* rows repeat in every cell */
        }
    }
    fab_graph_put(svg->w, "\n  </g>");
}

/* --- boxes -------------------------------------------------------------------------------------------------------- */

static void put_box_text(const fab_svg *svg, const fab_graph_spot *spot) {
    const fab_graph_view *view = svg->w->view;
    const fab_graph_node *node = &spot->node;
    double x = (double)(svg->x0 + spot->x);
    double y = (double)(svg->y0 + spot->y);
    double room = (double)spot->row->width;
    char text[64];
    const char *number = strrchr(node->name, '-');
    switch (spot->row->text) {
    case FAB_LAYOUT_NAME: fab_svg_text(svg->w, x, y + 4, "t", "middle", room, node->name); break;
    case FAB_LAYOUT_NUMBER:
        if (view->kind >= FAB_VIEW_POD) {
            FAB_FORMAT(text, "%" PRIu32, node->group);
            number = node->group == FAB_NONE ? NULL : text;
        } else if (view->fabric->names != NULL && spot->row->level >= FAB_LEVEL_TIER(1)) {
            fab_svg_box_name(svg->w, x, y + 3.5, "q", room - 2, node->name, svg->common[spot->row->level]);
            break;
        } else {
            number = number != NULL ? number + 1 : NULL;
        }
        if (number != NULL) {
            fab_svg_text(svg->w, x, y + 3.5, "q", "middle", room, number);
        }
        break;
    case FAB_LAYOUT_COUNTS:
        if (view->kind == FAB_VIEW_LEAF) {
            uint64_t n_servers = node->n_gpus / view->fabric->gpus_per_server;
            FAB_FORMAT(text, "%s server%s", FAB_SAY_COUNT(n_servers), n_servers == 1 ? "" : "s");
            fab_svg_text(svg->w, x, y - 3, "t", "middle", room, text);
            fab_svg_count(view, FAB_LEVEL_GPU, node->n_gpus, text, sizeof text);
            fab_svg_text(svg->w, x, y + 12, "t", "middle", room, text);
            break;
        }
        fab_svg_count(view, node->level, node->n_nodes, text, sizeof text);
        if (svg->picture == FAB_PICTURE_COST && !isnan(node->cost_usd) && spot->row->height >= 30) {
            fab_svg_text(svg->w, x, y - 3, "t", "middle", room, text);
            fab_svg_text(svg->w, x, y + 12, "t", "middle", room, fab_money_format(FAB_ROOM, node->cost_usd));
            break;
        }
        fab_svg_text(svg->w, x, y + 4, "t", "middle", room, text);
        break;
    }
}

static void svg_put_node(fab_graph_writer *w, const fab_graph_spot *spot) {
    const fab_svg *svg = w->context;
    const fab_graph_node *node = &spot->node;
    char text[224];
    char frame[32] = "n";
    if (node->n_failed > 0) {
        FAB_FORMAT(frame, "x");
    } else if (svg->picture == FAB_PICTURE_FAILURES && node->criticality > 0) {
        FAB_FORMAT(frame, "u%u", fifth_of(svg, node->criticality));
    }
    fab_graph_putf(
        w, "\n    <g><rect class=\"%s l%u\"%s rx=\"3\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"><title>",
        frame, node->level < 8 ? node->level : 7, frame[0] == 'u' ? " stroke-width=\"5\"" : "",
        (double)(svg->x0 + spot->x - spot->row->width / 2), (double)(svg->y0 + spot->y - spot->row->height / 2),
        (double)spot->row->width, (double)spot->row->height);
    fab_xml_write_escaped(&w->xml, node->name);
    if (node->n_gpus > 1 && node->level == FAB_LEVEL_GPU) {
        fab_svg_count(w->view, FAB_LEVEL_GPU, node->n_gpus, text, sizeof text);
        fab_graph_put(w, ": ");
        fab_graph_put(w, text);
    }
    if (spot->rack[0] != '\0') {
        fab_graph_put(w, ", ");
        fab_graph_put(w, spot->rack);
    }
    put_troubles(w, node->criticality, node->n_failed);
    fab_graph_put(w, "</title></rect>");
    put_box_text(svg, spot);
    fab_graph_put(w, "</g>");
}

/* --- the drawing -------------------------------------------------------------------------------------------------- */

/* What names of switches that are installed have in common says nothing in a box. */
static void find_common(const fab_graph_view *view, fab_svg *svg) {
    char first[FAB_LEVELS][FAB_GRAPH_NAME_SIZE] = {""};
    fab_graph_node node;
    for (uint32_t id = 0; view->fabric->names != NULL && id < view->n_nodes; id++) {
        const uint32_t level = fab_graph_view_level(view, id);
        fab_graph_view_node(view, id, &node);
        if (first[level][0] == '\0') {
            FAB_FORMAT(first[level], "%s", node.name);
            svg->common[level][0] = svg->common[level][1] = strlen(node.name);
        } else {
            fab_svg_narrow(first[level], node.name, svg->common[level]);
        }
    }
}

static void svg_begin(fab_graph_writer *w) {
    fab_svg *svg = w->context;
    const fab_graph_layout *l = w->layout;
    svg->w = w;
    svg->worst = NAN;
    svg->labels_edges = w->view->kind >= FAB_VIEW_POD && w->view->n_edges <= MOST_LABELLED;
    look_at_edges(svg);
    find_common(w->view, svg);
    float width = l->width + ceilf(svg->beside);
    float inner = fmaxf(width, LEAST - LEFT - RIGHT);
    svg->width = LEFT + inner + RIGHT;
    svg->x0 = LEFT + floorf((inner - width) / 2);
    svg->y0 = TOP + ceilf(svg->above);
    svg->height = svg->y0 + l->height + BOTTOM + (l->n_bands > 0 ? 16 : 0);
    fab_svg_begin(svg);
    put_bands(svg);
    svg_put_rows(svg);
    put_edges(svg);
    put_band_names(svg);
    fab_graph_put(w, "\n  <g>");
}

static void svg_end(fab_graph_writer *w) {
    fab_graph_put(w, "\n  </g>");
    fab_svg_legend(w->context);
    fab_graph_put(w, "\n</svg>");
}

/* Whether the result has what the picture is to show; of one phase, `shown` has that alone. */
static fab_status choose_shown(const fab_report_style *style, fab_result *shown, fab_error *err) {
    const fab_overlay *overlay = shown->overlay;
    char names[200] = "";
    if (shown->of_engine[0] != NULL && shown->verdict != NULL) { /* of unlike plans that of the fastest */
        const fab_result *of = fab_result_of(shown, shown->verdict->engine);
        shown->phases = of->phases;
        shown->n_phases = of->n_phases;
    }
    FAB_REFUSE_IF(
        style->picture == FAB_PICTURE_FAILURES && overlay == NULL && shown->study != NULL, err, FAB_EUNSUPPORTED, NULL,
        "picture failures: the study tells of no link, switch, NIC or GPU alone what its loss costs (histories "
        "tell of classes); --scenarios switches:1, links:1, nics:1 or gpus:1 do");
    FAB_REFUSE_IF(style->picture == FAB_PICTURE_FAILURES && overlay == NULL, err, FAB_EUNSUPPORTED, NULL,
                  "picture failures: nothing has failed here; --fail or study do that");
    FAB_REFUSE_IF(style->picture == FAB_PICTURE_COST &&
                      (shown->n_fabrics == 0 || !(shown->fabrics[0].cost.total_usd > 0)),
                  err, FAB_EUNSUPPORTED, NULL, "picture cost: nothing has a price here");
    FAB_REFUSE_IF(style->picture == FAB_PICTURE_LOAD && shown->n_phases == 0, err, FAB_EUNSUPPORTED, NULL,
                  "picture load: no traffic was replayed; run and route do that");
    if (style->picture_phase == NULL) {
        return FAB_OK;
    }
    FAB_FIRST(p, shown->n_phases, strcmp(shown->phases[p].name, style->picture_phase) == 0);
    for (size_t i = 0; i < shown->n_phases && p == shown->n_phases; i++) {
        fab_append(names, sizeof names, "%s%s", i > 0 ? ", " : "", shown->phases[i].name);
    }
    FAB_REFUSE_IF(p == shown->n_phases, err, FAB_EUNSUPPORTED, NULL,
                  "picture phase=%.60s: there is no such phase; one of %s", style->picture_phase, names);
    shown->phases += p;
    shown->n_phases = 1;
    FAB_FORMAT(shown->traffic, "phase %s", shown->phases->name);
    return FAB_OK;
}

static fab_status print_svg(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    static const fab_graph_dialect SVG = {
        .is_xml = true, .density = FAB_LAYOUT_SLIDE, .begin = svg_begin, .node = svg_put_node, .end = svg_end};
    fab_report_style chosen = style != NULL ? *style : (fab_report_style){.width = 80};
    fab_svg svg = {.worst = NAN, .picture = chosen.picture};
    fab_result shown = *result; /* borrows */
    if (result->audit != NULL) {
        FAB_REFUSE_IF(chosen.picture != FAB_PICTURE_AUTO && chosen.picture != FAB_PICTURE_AUDIT, err, FAB_EUNSUPPORTED,
                      NULL, "an audit replays nothing: its picture is audit");
        return fab_svg_audit(result, out, err);
    }
    FAB_REFUSE_IF(chosen.picture == FAB_PICTURE_AUDIT, err, FAB_EUNSUPPORTED, NULL,
                  "picture audit: nothing was audited; the command audit does that");
    if (result->sweep != NULL && result->sweep->compares_designs) {
        FAB_REFUSE_IF(chosen.picture != FAB_PICTURE_AUTO, err, FAB_EUNSUPPORTED, NULL,
                      "compared designs have one picture, of all their figures");
        return fab_svg_compare(result, out, err);
    }
    FAB_PASS(choose_shown(&chosen, &shown, err));
    if (chosen.view == FAB_VIEW_AUTO) {
        FAB_PASS(fab_graph_layout_choose_view(&shown, FAB_SVG_WIDTH, FAB_SVG_EDGES, &chosen.view, err));
    }
    return fab_graph_export(&SVG, &svg, &shown, &chosen, out, err);
}

const fab_report_format fab_report_svg = {
    .name = "svg",
    .file_name = "fabric.svg",
    .suffix = ".svg",
    .summary = "the fabric as a drawing, coloured by load",
    .print = print_svg,
    .needs_graph = true,
    .shows_audit = true,
    .shows_graph = true,
    .shows_loads = true,
};
