/** The fabric as a drawing: parts of svg.c, and what other reports may put into a page of their own. */
#pragma once

#include "fab/text_layout.h"
#include "graph_export.h"

#define FAB_SVG_WIDTH 2200.0F /* a drawing is merged rather than wider */
#define FAB_SVG_EDGES 2200    /* or fuller */
#define FAB_SVG_ABOVE 160.0   /* room for a heading */
#define FAB_SVG_BELOW 44.0    /* and for a legend */

/** Order in which lines are drawn: inside servers, by utilisation, then what is slower or has failed. */
enum {
    FAB_SVG_SERVER,
    FAB_SVG_PLAIN, /**< utilisation is not known */
    FAB_SVG_BIN,   /**< and those behind it, by fab_graph_bin() */
    FAB_SVG_SLOWER = FAB_SVG_BIN + FAB_GRAPH_BINS,
    FAB_SVG_FAILED,
    FAB_SVG_COUNT
};

/** The page of a slide around a drawing, in its coordinates: 16 to 9, the drawing in the middle. What is written above
 * and below it grows with the page, so that it can be read. */
typedef struct fab_svg_page {
    double x, y, width, height;
    double scale; /**< of the heading and the legend */
    double inner; /**< height of the drawing with both, unscaled */
} fab_svg_page;

/** A drawing on its way. x0, y0: where the layout's 0, 0 stands. */
typedef struct fab_svg {
    fab_graph_writer *w;
    fab_svg_page page;
    float x0, y0, width, height;
    float above, beside;  /**< what arcs need beyond the boxes */
    uint32_t used_passes; /**< bit i: some edge is drawn in pass i */
    uint32_t n_failed;    /**< cables that are dead */
    fab_picture picture;  /**< what colours tell; AUTO: nothing */
    double largest;       /**< of cost or criticality: that of a line, of criticality of a box too */
    bool is_alike;        /**< every line that has any costs as much, or is as critical, within a fifth of it */
    double worst;         /**< largest collision factor; NAN where none is known */
    bool labels_edges;
    size_t common[FAB_LEVELS][2]; /**< of installed switches: bytes that all names of a level begin and end with */
} fab_svg;

/** Opens any drawing: size, title, what a reader who does not see it is told, styles. Its heading takes `above` of its
 * height, its legend `below`. */
fab_svg_page fab_svg_open(fab_graph_writer *w, const double size[2], double above, double below, const char *title,
                          const char *told);
/** Begins a group that grows with the page: the heading, from its upper left corner, or the legend, from the lower. */
void fab_svg_group(fab_graph_writer *w, const fab_svg_page *page, bool is_legend);
/** Pixels between the margins of such a group. */
double fab_svg_room(const fab_svg_page *page);
/** A line of a class and what it stands for, in a legend. Returns where the next one may stand. */
double fab_svg_sample(fab_graph_writer *w, double x, double y, const char *class, const char *text);

/** An audit: racks, or boxes where no rack is known, with what is wrong between them. */
FAB_STATUS fab_svg_audit(const fab_result *result, FILE *out, fab_error *err);

/** Compared designs: what is said of them, and bars of their figures under the first engine. */
FAB_STATUS fab_svg_compare(const fab_result *result, FILE *out, fab_error *err);

/** Opens the drawing: size, title, description, styles, heading. */
void fab_svg_begin(fab_svg *svg);
/** Colours and what they mean, below the drawing. */
void fab_svg_legend(const fab_svg *svg);

/** Text with its anchor ("start", "middle", "end"), cut to `room` pixels. */
void fab_svg_text(fab_graph_writer *w, double x, double y, const char *class, const char *anchor, double room,
                  const char *text);

/** Bytes that two names both begin and end with, where these are fewer than io_common has. */
void fab_svg_narrow(const char *name, const char *other, size_t io_common[2]);
/** The name of a box in its middle: whole, or without whole words that all of its row begin and end with, or of that
 * the end, which tells most. */
void fab_svg_box_name(fab_graph_writer *w, double x, double y, const char *class, double room, const char *name,
                      const size_t common[2]);

/** Width of a text of the class in pixels, on the safe side. */
double fab_svg_text_width(const char *class, const char *text);
/** Bytes of a text that fit into `room` pixels: all, else to a blank if one stands in their second half. */
size_t fab_svg_fit(const char *class, const char *text, double room);

/** A text of class "s" in at most `most` lines, of which the last is cut; drawn where w is not NULL. Returns how many.
 */
uint32_t fab_svg_lines(fab_graph_writer *w, double y, double line, uint32_t most, double room, const char *text);
/** What a report says on a page, in one line; what the page has is released. */
FAB_STATUS fab_svg_said(fab_page *page, fab_str *out, fab_error *err);

/** "24,576 GPUs", "1 leaf": n of what stands at a level. */
void fab_svg_count(const fab_graph_view *view, uint32_t level, uint64_t n, char *out, size_t size);
