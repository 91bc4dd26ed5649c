/* What stands around a drawing: title, description, styles for light and dark, legend. Styles are written out rather
 * than as custom properties, which editors of drawings and converters do not know. */
#include "svg.h"
#include "fab/contention.h"
#include "fab/study_summary.h"
#include "fab/units.h"
#include "fab/utf8.h"
#include "fab/verdict.h"
#include "text/text_sections.h"

#include <ctype.h>

#define SLIDE_WIDTH  1920
#define SLIDE_HEIGHT 1080
#define READABLE     1200.0 /* width of a page in which letters of 11 can be read on a slide */
#define ROUNDS       40

static const char STYLE[] =
    "\n  <style>\n"
    "    .fs text { font: 11px system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif; fill: "
    "#1d232b }\n"
    "    .fs .h { font-size: 17px; font-weight: 600 }\n"
    "    .fs .s { font-size: 12px; fill: #4a5461 }\n"
    "    .fs .r { font-size: 12px; font-weight: 600 }\n"
    "    .fs .g { font-size: 11px; font-weight: 600; fill: #4a5461 }\n"
    "    .fs .t { fill: #ffffff }\n"
    "    .fs .q { fill: #ffffff; font-size: 10px }\n"
    "    .fs .o, .fs .g { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round }\n"
    "    .fs .o { font-size: 10px }\n"
    "    .fs .bg { fill: #ffffff }\n"
    "    .fs .b { fill: #f2f4f7; stroke: #d5dae1 }\n"
    "    .fs path, .fs line { fill: none }\n"
    "    .fs .n { stroke-width: 0 }\n"
    "    .fs .x { stroke: #e0004d; stroke-width: 3; stroke-dasharray: 4 2 }\n"
    "    .fs .p { stroke: #8a939f }\n"
    "    .fs .i { stroke: #c3c9d2 }\n"
    "    .fs .f { stroke: #e0004d; stroke-dasharray: 5 3 }\n"
    "    .fs .w { stroke: #8e44ad; stroke-dasharray: 8 3 }\n"
    "    .fs .u0 { stroke: #b8bfc9 } .fs .u1 { stroke: #9ecae1 } .fs .u2 { stroke: #4e9bd1 }\n"
    "    .fs .u3 { stroke: #1f5fa8 } .fs .u4 { stroke: #f28e2b } .fs .u5 { stroke: #d94801 }\n"
    "    .fs .u6 { stroke: #99000d }\n"
    "    .fs .l0 { fill: #4d7a31 } .fs .l1 { fill: #4a6b78 } .fs .l2 { fill: #8a6420 } .fs .l3 { fill: #27698c }\n"
    "    .fs .l4 { fill: #5b4c99 } .fs .l5 { fill: #95427a } .fs .l6 { fill: #95502f } .fs .l7 { fill: #5f5f5f }\n"
    "    @media (prefers-color-scheme: dark) {\n"
    "      .fs text { fill: #e6e9ee } .fs .s, .fs .g { fill: #aab3bf } .fs .t, .fs .q { fill: #ffffff }\n"
    "      .fs .bg { fill: #14181d } .fs .b { fill: #1b2027; stroke: #303843 }\n"
    "      .fs .o, .fs .g { stroke: #14181d }\n"
    "      .fs .p { stroke: #77818d } .fs .i { stroke: #3a434e } .fs .x, .fs .f { stroke: #ff4d80 }\n"
    "      .fs .w { stroke: #c792ea }\n"
    "      .fs .u0 { stroke: #47515d } .fs .u1 { stroke: #3c6a8a } .fs .u2 { stroke: #5aa9d6 }\n"
    "      .fs .u3 { stroke: #b3dcf5 } .fs .u4 { stroke: #f2a13b } .fs .u5 { stroke: #ff7043 }\n"
    "      .fs .u6 { stroke: #ff3355 }\n"
    "    }\n"
    "  </style>";

#define TEXT_SHOWN ((size_t)596) /* bytes of a text in a line */

#define MOST_OF_LINE 4096
#define MARGIN       20.0
#define HEADING_LINE 14.0 /* between lines of a text */
#define STUDY_LINES  5    /* what a study says */

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* Widths of a bold sans-serif at 1 px, by rough classes of letters: fonts differ, so the widest of the common ones. */
double fab_svg_text_width(const char *class, const char *text) {
    double size = class[0] == 'h'                      ? 17
                  : class[0] == 's' || class[0] == 'r' ? 12
                  : class[0] == 'o' || class[0] == 'q' ? 10
                                                       : 11;
    double width = 0;
    while (*text != '\0') {
        uint32_t code = 0;
        text += fab_utf8_decode(text, &code);
        width += strchr("il.,:;'|!()-/ ", (int)(code < 128 ? code : 'm')) != NULL && code < 128 ? 0.36
                 : code >= '0' && code <= '9'                                                   ? 0.62
                 : code == 'm' || code == 'w' || (code >= 'A' && code <= 'Z')                   ? 0.80
                 : code < 128                                                                   ? 0.60
                                                                                                : 1.0;
    }
    return width * size;
}

size_t fab_svg_fit(const char *class, const char *text, double room) {
    char cut[TEXT_SHOWN + 1];
    size_t length = strlen(text) < TEXT_SHOWN ? strlen(text) : TEXT_SHOWN;
    memcpy(cut, text, length);
    cut[length] = '\0';
    while (length > 0 && fab_svg_text_width(class, cut) > room) {
        do {
            length--;
        } while (length > 0 && ((unsigned char)cut[length] & 0xC0U) == 0x80); /* not within a letter */
        cut[length] = '\0';
    }
    const size_t most = length;
    while (text[most] != '\0' && text[length] != ' ' && 2 * length > most) {
        length--;
    }
    return text[most] == '\0' || text[length] != ' ' ? most : length;
}

void fab_svg_text(fab_graph_writer *w, double x, double y, const char *class, const char *anchor, double room,
                  const char *text) {
    if (text[0] == '\0') { /* a browser places it in the corner */
        return;
    }
    char cut[TEXT_SHOWN + 4];
    size_t length = fab_svg_fit(class, text, room);
    const bool is_whole = text[length] == '\0';
    if (!is_whole) {
        length = fab_svg_fit(class, text, room - 8);
        length -= length > 0 && strchr(",;:", text[length - 1]) != NULL;
    }
    FAB_FORMAT(cut, "%.*s%s", (int)length, text, is_whole ? "" : "\xE2\x80\xA6");
    const bool is_start = strcmp(anchor, "start") == 0;
    fab_graph_putf(w, "\n    <text class=\"%s\" x=\"%.6g\" y=\"%.6g\"%s%s%s>", class, x, y,
                   is_start ? "" : " text-anchor=\"", is_start ? "" : anchor, is_start ? "" : "\"");
    fab_xml_write_escaped(&w->xml, cut);
    fab_graph_put(w, "</text>");
}

uint32_t fab_svg_lines(fab_graph_writer *w, double y, double line, uint32_t most, double room, const char *text) {
    uint32_t n = 0;
    for (; text != NULL && *text != '\0' && n < most; n++) {
        const size_t length = n + 1 < most ? fab_svg_fit("s", text, room) : strlen(text);
        if (w != NULL) {
            char one[MOST_OF_LINE];
            FAB_FORMAT(one, "%.*s", (int)length, text);
            fab_svg_text(w, MARGIN, y + n * line, "s", "start", room, one);
        }
        text += length + (text[length] == ' ');
    }
    return n;
}

fab_status fab_svg_said(fab_page *page, fab_str *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str said = fab_page_take(page);
    char *rest = said.failed ? NULL : said.data;
    for (char *word = NULL; rest != NULL && (word = strtok_r(NULL, " \n", &rest)) != NULL;) {
        fab_str_printf(out, "%s%s", out->length > 0 ? " " : "", word);
    }
    out->failed |= said.failed;
    return fab_str_status(out, err);
}

void fab_svg_narrow(const char *name, const char *other, size_t io_common[2]) {
    const size_t n = strlen(name);
    const size_t n_other = strlen(other);
    FAB_FIRST(first, io_common[0], first >= n_other || other[first] != name[first]);
    FAB_FIRST(last, io_common[1], last >= n_other || other[n_other - 1 - last] != name[n - 1 - last]); /* at the end */
    io_common[0] = first;
    io_common[1] = last;
}

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || ((unsigned char)c & 0x80U) != 0;
}

void fab_svg_box_name(fab_graph_writer *w, double x, double y, const char *class, double room, const char *name,
                      const size_t common[2]) {
    char text[200];
    size_t n = strlen(name);
    size_t first = common[0];
    size_t last = common[1];
    while (first > 0 && is_letter(name[first - 1])) {
        first--;
    }
    while (last > 0 && is_letter(name[n - last])) {
        last--;
    }
    if (fab_svg_text_width(class, name) > room && first + last < n) {
        name += first;
        n -= first + last;
    }
    FAB_FORMAT(text, "%.*s", (int)n, name);
    for (size_t kept = n; kept > 3 && fab_svg_text_width(class, text) > room;) {
        kept--;
        size_t head = kept > 5 ? kept / 4 : 0;
        size_t tail = n - (kept - head);
        for (; head > 0 && ((unsigned char)name[head] & 0xC0U) == 0x80; head--) {
        }
        for (; tail < n && ((unsigned char)name[tail] & 0xC0U) == 0x80; tail++) {
        }
        const size_t word = tail + strcspn(name + tail, "-.:_/ ");
        tail = head == 0 && is_letter(name[tail - 1]) && word + 1 < n ? word + 1 : tail; /* no rest of a word */
        FAB_FORMAT(text, "%.*s\xE2\x80\xA6%.*s", (int)head, name, (int)(n - tail), name + tail);
    }
    fab_svg_text(w, x, y, class, "middle", room, text);
}

void fab_svg_count(const fab_graph_view *view, uint32_t level, uint64_t n, char *out, size_t size) {
    static const char *const ONE[] = {"GPU", "NIC", "domain"};
    static const char *const MANY[] = {"GPUs", "NICs", "domains"};
    const char *tier = level >= FAB_LEVEL_TIER(1) ? fab_tier_name(view->fabric->wiring, level - FAB_LEVEL_TIER(0)) : "";
    const char *noun = level < FAB_LEVEL_TIER(1)             ? (n == 1 ? ONE[level] : MANY[level])
                       : strcmp(tier, "leaf") == 0 && n != 1 ? "leaves"
                                                             : tier;
    bool adds_s = level >= FAB_LEVEL_TIER(1) && n != 1 && strcmp(tier, "leaf") != 0;
    bool is_number = strncmp(tier, "tier", 4) == 0;
    const char *end = is_number ? (n == 1 ? " switch" : " switches")
                      : adds_s  ? (strcmp(tier, "switch") == 0 ? "es" : "s")
                                : "";
    (void)snprintf(out, size, "%s %s%s", FAB_SAY_COUNT(n), noun, end);
}

/* --- heading ------------------------------------------------------------------------------------------------------ */

static const char *view_sentence(const fab_graph_view *view) {
    switch (view->kind) {
    case FAB_VIEW_WHOLE: return "every node and cable";
    case FAB_VIEW_SERVER: return "every switch; servers as one box each";
    case FAB_VIEW_LEAF: return "every switch; servers behind the same leaves as one box";
    case FAB_VIEW_POD:
        return view->fabric->wiring == FAB_WIRING_DRAGONFLY ? "merged by kind and group" : "merged by tier and pod";
    case FAB_VIEW_RAIL: return "merged by tier and rail";
    case FAB_VIEW_PLANE: return "merged by tier and plane";
    default: return "merged by tier";
    }
}

static void add_counts(const fab_graph_view *view, fab_str *out) {
    const fab_fabric *f = view->fabric;
    char text[64];
    fab_svg_count(view, FAB_LEVEL_GPU, fab_n_gpus(f), text, sizeof text);
    fab_str_add(out, text);
    for (uint32_t t = 1; t <= f->n_tiers; t++) {
        fab_svg_count(view, FAB_LEVEL_TIER(t), f->first_of_tier[t + 1] - f->first_of_tier[t], text, sizeof text);
        fab_str_add(out, ", ");
        fab_str_add(out, text);
    }
}

/* The worst first: the rest may be too long to be shown. */
static void add_traffic(const fab_svg *svg, fab_str *out) {
    const fab_graph_view *view = svg->w->view;
    if (svg->picture == FAB_PICTURE_COST) {
        fab_str_printf(out, "The network costs %s",
                       fab_money_format(FAB_ROOM, view->result->fabrics[0].cost.total_usd));
    } else if (view->n_engines > 0) {
        const fab_contention *jobs = view->result->contention;
        if (jobs != NULL) { /* phases of several jobs are not those of one moment */
            fab_str_printf(out, "Links of job %s alone, of %zu jobs: ", jobs->jobs[0].id, jobs->n_jobs);
        }
        if (!isnan(svg->worst)) {
            fab_str_printf(out, "Largest collision factor %.2f; ", svg->worst);
        }
        fab_str_add(out, view->result->traffic);
    }
}

/* The fabric; of loads the engine and the seed too, whose all of the picture is: the first that were given. */
static void add_title(const fab_svg *svg, const char *name, fab_str *out) {
    const fab_result *r = svg->w->view->result;
    const fab_engine_result *drawn = NULL; /* of most seeds: others may need no draw */
    fab_str_add(out, name);
    if (svg->picture != FAB_PICTURE_LOAD || svg->w->view->n_engines == 0) {
        return;
    }
    fab_str_printf(out, " under %s", svg->w->view->engine[0]);
    FAB_EACH(const fab_phase_result, p, r->phases, r->n_phases) {
        drawn = drawn == NULL || p->engines[0].n_seeds > drawn->n_seeds ? &p->engines[0] : drawn;
    }
    if (drawn != NULL && drawn->n_seeds > 1) {
        fab_str_printf(out, ", seed %" PRIu64 ", the first of %" PRIu64, drawn->seed, drawn->n_seeds);
    }
}

/* The engine of the picture: of those that have the phases of the verdict the first. */
static size_t drawn_engine(const fab_result *r) {
    size_t drawn = 0;
    for (; r->of_engine[drawn] != r->of_engine[r->verdict->engine]; drawn++) {
    }
    return drawn;
}

/* Its costs; of another that is faster alone none of its tokens. */
static void add_cost(const fab_result *r, fab_str *out) {
    const char *cost = r->verdict->cost;
    const size_t n = r->verdict->engine == drawn_engine(r) ? strlen(cost) : strcspn(cost, ";");
    fab_str_printf(out, "N%.*s", n > 0 ? (int)n - 1 : 0, n > 0 ? cost + 1 : "");
}

/* What bounds the engine of the picture; of another that is faster alone how fast both are. */
static void add_bound(const fab_result *r, fab_str *out) {
    const fab_run_verdict *v = r->verdict;
    const size_t drawn = drawn_engine(r);
    if (v->engine == drawn) {
        fab_str_printf(out, "Bound by %s", v->bound);
    } else if (r->n_iterations > v->engine) {
        char time[2][32];
        fab_str_printf(out, "An iteration takes %s; under engine %zu, %s, which is not drawn, %s",
                       fab_quantity_format(time[0], r->iterations[drawn].time_s, FAB_UNIT_TIME), v->engine + 1,
                       r->iterations[v->engine].engine,
                       fab_quantity_format(time[1], r->iterations[v->engine].time_s, FAB_UNIT_TIME));
    }
}

/* Of a study what its report says first, and whether the design has spares. */
static fab_status add_study(const fab_study_summary *study, fab_str *counts, fab_str *out, fab_error *err) {
    if (study == NULL) {
        return FAB_OK;
    }
    FAB_OWNED_NEW(fab_page, page, 1, err);
    if (study->span_s > 0) {
        fab_str_printf(counts, " \xC2\xB7 %s spare servers", study->has_spares ? "with" : "no");
    }
    fab_str_printf(counts, " \xC2\xB7 study of %s", study->scenarios);
    fab_page_init(page, NULL);
    fab_text_study_answer(page, study);
    return fab_svg_said(page, out, err);
}

/* The page must hold what grows with it; a few rounds settle both. */
static fab_svg_page page_of(const double size[2], double above, double below) {
    fab_svg_page page = {.width = size[0], .scale = 1, .inner = size[1]};
    double inside = size[1];
    for (int round = 0; round < ROUNDS; round++) {
        page.scale = fmax(1, page.width / READABLE);
        inside = size[1] + (page.scale - 1) * (above + below);
        page.width = fmax(size[0], inside * SLIDE_WIDTH / SLIDE_HEIGHT);
    }
    page.width = ceil(page.width);
    page.height = page.width * SLIDE_HEIGHT / SLIDE_WIDTH;
    page.x = floor((size[0] - page.width) / 2);
    page.y = -floor((page.height - inside) / 2 + (page.scale - 1) * above);
    return page;
}

fab_svg_page fab_svg_open(fab_graph_writer *w, const double size[2], double above, double below, const char *title,
                          const char *told) {
    const fab_svg_page page = page_of(size, above, below);
    fab_graph_putf(w,
                   "\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fs\" role=\"img\" "
                   "aria-labelledby=\"fs-title fs-desc\" viewBox=\"%.6g %.6g %.6g %.6g\" width=\"%d\" height=\"%d\"",
                   page.x, page.y, page.width, page.height, SLIDE_WIDTH, SLIDE_HEIGHT);
    fab_graph_put(w, " style=\"max-width: 100%; height: auto\">\n  <title id=\"fs-title\">");
    fab_xml_write_escaped(&w->xml, title);
    fab_graph_put(w, "</title>\n  <desc id=\"fs-desc\">");
    fab_xml_write_escaped(&w->xml, told);
    fab_graph_put(w, "</desc>");
    fab_graph_put(w, STYLE);
    fab_graph_putf(w, "\n  <rect class=\"bg\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"/>", page.x, page.y,
                   page.width, page.height);
    return page;
}

void fab_svg_group(fab_graph_writer *w, const fab_svg_page *page, bool is_legend) {
    const double y = page->y + (is_legend ? page->height - page->scale * page->inner : 0);
    fab_graph_putf(w, "\n  <g transform=\"translate(%.6g %.6g) scale(%.6g)\">", page->x, y, page->scale);
}

double fab_svg_room(const fab_svg_page *page) {
    return page->width / page->scale - 40;
}

/* Title and description are what a reader who does not see the drawing gets. */
static void begin_drawing(fab_svg *svg, const char *name) {
    fab_graph_writer *w = svg->w;
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str title = FAB_STR_INIT;
    fab_str_add(&title, "Fabric ");
    add_title(svg, name, &title);
    add_counts(w->view, &text);
    fab_str_printf(&text, ". Drawn: %s; the highest tier is at the top. ", view_sentence(w->view));
    if (w->view->n_engines > 0) {
        fab_str_add(&text, svg->picture == FAB_PICTURE_LOAD
                               ? "Lines are coloured by the largest utilisation of their cables in any phase. "
                               : "");
        add_traffic(svg, &text);
        fab_str_add(&text, ". ");
    }
    if (svg->picture == FAB_PICTURE_COST) {
        fab_str_add(&text, "Lines are coloured by the dollars of their cables and transceivers. ");
    }
    if (svg->picture == FAB_PICTURE_FAILURES) {
        fab_str_printf(&text, "Lines are coloured by how critical their cables are: %s. ",
                       w->view->overlay->criticality_of != NULL ? w->view->overlay->criticality_of : "criticality");
    }
    if (w->view->has_failures) {
        fab_str_printf(&text, "%" PRIu32 " cables have failed.", svg->n_failed);
    }
    if (fab_str_status(&text, NULL) == FAB_OK && fab_str_status(&title, NULL) == FAB_OK) {
        const double size[2] = {(double)svg->width, (double)svg->height};
        svg->page = fab_svg_open(w, size, FAB_SVG_ABOVE, FAB_SVG_BELOW, title.data, text.data);
    } else {
        w->has_failed = true;
    }
}

/* A text of the heading; returns where the next may stand. */
static double put_lines(const fab_svg *svg, double y, uint32_t most, const fab_str *text) {
    const uint32_t n = fab_svg_lines(svg->w, y, HEADING_LINE, most, fab_svg_room(&svg->page), text->data);
    return y + HEADING_LINE * fmax(n, 1);
}

static void put_heading(const fab_svg *svg, const char *name) {
    fab_graph_writer *w = svg->w;
    FAB_OWNS(fab_str_release) fab_str counts = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str traffic = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str title = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str bound = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str cost = FAB_STR_INIT;
    const fab_result *r = w->view->result;
    const fab_run_verdict *verdict = r->verdict;
    double room = fab_svg_room(&svg->page);
    add_counts(w->view, &counts);
    fab_str_printf(&counts, " \xC2\xB7 %s", view_sentence(w->view));
    add_traffic(svg, &traffic);
    add_title(svg, name, &title);
    if (verdict != NULL && svg->picture == FAB_PICTURE_LOAD) {
        add_bound(r, &bound);
        add_cost(r, &cost);
    } else if (verdict != NULL && svg->picture == FAB_PICTURE_COST) {
        fab_str_add(&bound, verdict->cost);
    }
    if (add_study(r->study, &counts, &bound, NULL) != FAB_OK || counts.failed || traffic.failed || title.failed ||
        bound.failed || cost.failed) {
        w->has_failed = true;
    } else {
        fab_svg_text(w, 20, 30, "h", "start", room, title.data != NULL ? title.data : "");
        fab_svg_text(w, 20, 49, "s", "start", room, counts.data);
        const double below = cost.length > 0 ? put_lines(svg, 65, 2, &cost) + 4 : 65;
        (void)put_lines(svg, put_lines(svg, below, r->study != NULL ? STUDY_LINES : 2, &bound) + 4, 2, &traffic);
    }
}

void fab_svg_begin(fab_svg *svg) {
    fab_graph_writer *w = svg->w;
    const fab_result *r = w->view->result;
    const char *name = r->n_fabrics > 0 ? r->fabrics[0].name : "";
    begin_drawing(svg, name);
    fab_svg_group(w, &svg->page, false);
    put_heading(svg, name);
    fab_graph_put(w, "\n  </g>");
}

/* --- legend ------------------------------------------------------------------------------------------------------- */

double fab_svg_sample(fab_graph_writer *w, double x, double y, const char *class, const char *text) {
    fab_graph_putf(w, "\n    <line class=\"%s\" x1=\"%.6g\" y1=\"%.6g\" x2=\"%.6g\" y2=\"%.6g\" stroke-width=\"4\"/>",
                   class, x, y - 4, x + 22, y - 4);
    fab_svg_text(w, x + 28, y, "", "start", 400, text);
    return x + 28 + fab_svg_text_width("", text) + 16;
}

static double put_bins(const fab_svg *svg, double x, double y) {
    static const char *const PARTS[FAB_GRAPH_BINS] = {"none",    "to 20 %", "to 40 %", "to 60 %",
                                                      "to 80 %", "",        "to 100 %"};
    char head[96] = "offered / rate, fullest cable and phase:";
    if (svg->picture == FAB_PICTURE_FAILURES && !(svg->largest > 0)) {
        FAB_FORMAT(head, "criticality:");
    } else if (svg->picture == FAB_PICTURE_FAILURES) {
        FAB_FORMAT(head, "criticality, beside the worst of %.4g:", svg->largest);
    } else if (svg->picture == FAB_PICTURE_COST) {
        FAB_FORMAT(head, "dollars of cables, beside the dearest line of %s:", fab_money_format(FAB_ROOM, svg->largest));
    }
    fab_svg_text(svg->w, x, y, "", "start", 400, head);
    x += fab_svg_text_width("", head) + 8;
    for (uint32_t bin = 0; bin < FAB_GRAPH_BINS; bin++) {
        char class[4];
        if ((svg->used_passes >> (FAB_SVG_BIN + bin) & 1) != 0) {
            FAB_FORMAT(class, "u%u", bin);
            x = fab_svg_sample(svg->w, x, y, class,
                               svg->picture == FAB_PICTURE_LOAD ? fab_graph_bin_names[bin]
                               : svg->is_alike && bin > 0       ? "all alike, within a fifth"
                                                                : PARTS[bin]);
        }
    }
    return x;
}

void fab_svg_legend(const fab_svg *svg) {
    fab_graph_writer *w = svg->w;
    double x = 20;
    double y = (double)svg->height - 18;
    fab_svg_group(w, &svg->page, true);
    if (svg->picture != FAB_PICTURE_AUTO) {
        x = put_bins(svg, x, y);
    }
    if ((svg->used_passes >> FAB_SVG_PLAIN & 1) != 0) {
        x = fab_svg_sample(w, x, y, "p", "cables of the network");
    }
    if ((svg->used_passes >> FAB_SVG_FAILED & 1) != 0) {
        x = fab_svg_sample(w, x, y, "f", "failed");
    }
    if ((svg->used_passes >> FAB_SVG_SLOWER & 1) != 0) {
        (void)fab_svg_sample(w, x, y, "w", "slower");
    }
    fab_graph_put(w, "\n  </g>");
}
