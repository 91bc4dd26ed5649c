/* The walk, and what dialects need: texts of numbers, colours. */
#include "graph_export.h"
#include "fab/floor_plan.h"

#include <errno.h>
#include <stdarg.h>

#define CACHE_BITS 13

/* Text of a number met before: most links carry one of few amounts. */
struct fab_graph_number {
    double value;
    char text[32];
};

/* --- texts -------------------------------------------------------------------------------------------------------- */

/* Shortest text that reads back as the same. Good until the next call. */
static const char *number_text(fab_graph_writer *w, double value) {
    uint64_t bits = 0;
    if (!isfinite(value)) {
        w->has_bad_number = true;
        return "0";
    }
    if (value == 0) {
        value = 0; /* no sign */
    }
    memcpy(&bits, &value, sizeof bits);
    fab_graph_number *entry = &w->numbers[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CACHE_BITS)];
    if (entry->value != value || entry->text[0] == '\0') {
        if (fabs(value) < 9e15 && value == floor(value)) {
            FAB_FORMAT(entry->text, "%" PRId64, (int64_t)value);
        } else {
            fab_format_double(entry->text, value);
        }
        entry->value = value;
    }
    return entry->text;
}

static const char *integer_text(fab_graph_writer *w, uint64_t value) {
    char *at = w->number + sizeof w->number - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return at;
}

const char *fab_graph_value_text(fab_graph_writer *w, const fab_graph_attribute *attribute,
                                 const fab_graph_value *value) {
    switch (attribute->type) {
    case FAB_GRAPH_INTEGER: return integer_text(w, value->integer);
    case FAB_GRAPH_DOUBLE: return number_text(w, value->number);
    case FAB_GRAPH_STRING: break;
    }
    return value->text;
}

void fab_graph_put(fab_graph_writer *w, const char *markup) {
    fab_xml_write_raw(&w->xml, markup, strlen(markup));
}

void fab_graph_putf(fab_graph_writer *w, const char *fmt, ...) {
    char markup[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(markup, sizeof markup, fmt, args);
    va_end(args);
    fab_graph_put(w, markup);
}

void fab_graph_put_value(fab_graph_writer *w, const fab_graph_attribute *attribute, const fab_graph_value *value) {
    if (attribute->type == FAB_GRAPH_STRING) {
        fab_xml_write_escaped(&w->xml, value->text);
    } else {
        fab_graph_put(w, fab_graph_value_text(w, attribute, value));
    }
}

static void each_known(fab_graph_writer *w, const fab_graph_attribute *attributes, size_t n, const void *of,
                       fab_graph_put_known *put) {
    for (size_t i = 0; i < n; i++) {
        fab_graph_value value = fab_graph_value_of(&attributes[i], of);
        if (value.known) {
            put(w, i, &attributes[i], &value);
        }
    }
}

void fab_graph_each_of_node(fab_graph_writer *w, const fab_graph_spot *spot, fab_graph_put_known *put) {
    each_known(w, w->attributes->node, w->attributes->n_node, spot, put);
}

void fab_graph_each_of_edge(fab_graph_writer *w, const fab_graph_edge *edge, fab_graph_put_known *put) {
    each_known(w, w->attributes->edge, w->attributes->n_edge, edge, put);
}

void fab_graph_each_own(fab_graph_writer *w, fab_graph_put_known *put) {
    each_known(w, w->attributes->own, w->attributes->n_own, NULL, put);
}

void fab_graph_put_ends(fab_graph_writer *w, const fab_graph_edge *edge) {
    fab_graph_putf(w, " id=\"c%" PRIu32 "\" source=\"n%" PRIu32 "\" target=\"n%" PRIu32 "\"", edge->id, edge->source,
                   edge->target);
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

static void find_spot(const fab_graph_writer *w, uint32_t id, fab_graph_spot *out) {
    fab_graph_view_node(w->view, id, &out->node);
    out->x = w->layout->x[id];
    out->y = w->layout->y[id];
    out->row = fab_graph_layout_row_of(w->layout, out->node.level);
    out->rack[0] = '\0';
    if (w->view->floor != NULL && out->node.rack != FAB_NONE) {
        (void)fab_rack_name(&w->view->floor->rack[out->node.rack], out->rack);
    }
}

static void export_walk(fab_graph_writer *w, const fab_graph_dialect *dialect) {
    fab_graph_spot spot;
    fab_graph_edge edge;
    fab_graph_use room[FAB_MAX_ENGINES];
    dialect->begin(w);
    for (uint32_t id = 0; id < w->view->n_nodes; id++) {
        find_spot(w, id, &spot);
        dialect->node(w, &spot);
    }
    if (dialect->between != NULL) {
        dialect->between(w);
    }
    for (uint32_t id = 0; dialect->edge != NULL && id < w->view->n_edges; id++) {
        fab_graph_view_edge(w->view, id, room, &edge);
        dialect->edge(w, &edge);
    }
    dialect->end(w);
}

static fab_status export_finish(fab_graph_writer *w, bool is_xml, fab_error *err) {
    if (is_xml) {
        return fab_xml_writer_finish(&w->xml, err);
    }
    FAB_REFUSE_IF(fflush(w->out) != 0 || ferror(w->out), err, FAB_EIO, NULL, "cannot write: %s", strerror(errno));
    return FAB_OK;
}

fab_status fab_graph_export(const fab_graph_dialect *dialect, void *context, const fab_result *result,
                            const fab_report_style *style, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_graph_view view = {.kind = FAB_VIEW_AUTO};
    fab_graph_layout layout = {.n_nodes = 0};
    fab_graph_attributes attributes;
    fab_graph_writer w = {.view = &view, .layout = &layout, .attributes = &attributes, .out = out, .context = context};
    fab_view kind = style != NULL && style->view != FAB_VIEW_AUTO ? style->view : FAB_VIEW_WHOLE;
    FAB_TRY(fab_graph_view_init(result, kind, &view, err));
    FAB_TRY(fab_graph_layout_make(&view, dialect->density, &layout, err));
    fab_graph_attributes_list(&view, !dialect->has_places, &attributes);
    FAB_TRY(FAB_NEW(w.numbers, (size_t)1 << CACHE_BITS, err));
    FAB_TRY(dialect->is_xml ? fab_xml_writer_init(&w.xml, out, err) : FAB_OK);
    errno = 0;
    export_walk(&w, dialect);
    FAB_TRY(export_finish(&w, dialect->is_xml, err));
    FAB_FAIL_IF(w.has_failed, err, FAB_ENOMEM, NULL, "cannot allocate a text of the graph");
    FAB_FAIL_IF(w.has_bad_number, err, FAB_EINTERNAL, "graph",
                "a figure of a node or link is infinite or not a number");
done:
    fab_xml_writer_release(&w.xml);
    free(w.numbers);
    fab_graph_layout_release(&layout);
    fab_graph_view_release(&view);
    return status;
}

/* --- colours ------------------------------------------------------------------------------------------------------ */

/* Blue while there is room, from orange to red where more is asked for than there is: both told apart by every kind of
 * colour vision, light to dark in the same order. */
static const fab_graph_color BIN_COLORS[FAB_GRAPH_BINS] = {
    {0xb8, 0xbf, 0xc9}, {0x9e, 0xca, 0xe1}, {0x4e, 0x9b, 0xd1}, {0x1f, 0x5f, 0xa8},
    {0xf2, 0x8e, 0x2b}, {0xd9, 0x48, 0x01}, {0x99, 0x00, 0x0d},
};
const char *const fab_graph_bin_names[FAB_GRAPH_BINS] = {
    "idle", "to 0.25", "to 0.5", "to 1", "to 1.5", "to 2", "above 2",
};

uint32_t fab_graph_bin(double utilisation) {
    static const double UPPER[FAB_GRAPH_BINS - 1] = {0, 0.25, 0.5, 1, 1.5, 2};
    FAB_FIRST(bin, FAB_GRAPH_BINS - 1U, !(utilisation > UPPER[bin] * (1 + 1e-9)));
    return bin;
}

double fab_graph_utilisation(const fab_graph_view *view, const fab_graph_edge *edge) {
    return view->n_engines > 0 ? fmax(edge->use[0].use[0], edge->use[0].use[1]) : (double)NAN;
}

fab_graph_color fab_graph_level_color(uint32_t level) {
    static const fab_graph_color COLORS[] = {
        {0x4d, 0x7a, 0x31}, {0x4a, 0x6b, 0x78}, {0x8a, 0x64, 0x20}, {0x27, 0x69, 0x8c},
        {0x5b, 0x4c, 0x99}, {0x95, 0x42, 0x7a}, {0x95, 0x50, 0x2f}, {0x5f, 0x5f, 0x5f},
    };
    size_t n = FAB_N_OF(COLORS);
    return COLORS[level < n ? level : n - 1];
}

fab_graph_color fab_graph_edge_color(const fab_graph_view *view, const fab_graph_edge *edge) {
    static const fab_graph_color FAILED = {0xe0, 0x00, 0x4d};
    static const fab_graph_color PLAIN = {0x8a, 0x93, 0x9f};
    double use = fab_graph_utilisation(view, edge);
    if (edge->n_failed > 0) {
        return FAILED;
    }
    return isnan(use) ? PLAIN : BIN_COLORS[fab_graph_bin(use)];
}
