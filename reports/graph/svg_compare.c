/* Designs side by side as a drawing: what the comparison says, and bars of what each costs and does. */
#include "svg.h"
#include "fab/sweep.h"
#include "fab/units.h"
#include "text/text_sections.h"

#define WIDTH   960.0
#define MARGIN  20.0
#define TOP     26.0  /* names of the columns */
#define ROWS    350.0 /* pixels that all rows take, where they can still be read */
#define ROW     50.0
#define MOST    74.0
#define NAME    24.0 /* of a row: what stands above its bar, and a blank below it */
#define BLANK   14.0
#define VALUE   76.0 /* pixels behind a bar */
#define LINE    16.0
#define HEADING 49.0 /* where its first line stands */
#define LEGEND  20.0

/* One figure of every design. */
typedef struct measure {
    const char *name;
    double (*of)(const fab_sweep_point *p); /* 0: not known */
    const char *(*show)(char *out, double value);
} measure;

static double with_failures(const fab_sweep_engine *e, double usd) {
    return usd > 0 ? fab_with_failures(e, usd) : 0;
}

static double network_usd(const fab_sweep_point *p) {
    return p->total_usd;
}

static double bisection(const fab_sweep_point *p) {
    return p->bisection_ratio;
}

static double speed(const fab_sweep_point *p) {
    const fab_sweep_engine *e = &p->engines[0];
    return e->has_iteration && e->has_goodput ? e->iteration.tokens_per_s * e->goodput.mean
           : e->has_iteration                 ? e->iteration.tokens_per_s
                                              : 0;
}

static double duration(const fab_sweep_point *p) {
    return p->engines[0].has_iteration ? 0 : p->engines[0].compared_s;
}

static double hours_usd(const fab_sweep_point *p) {
    return with_failures(&p->engines[0], p->engines[0].iteration.usd_per_1e9_tokens);
}

static double owned_usd(const fab_sweep_point *p) {
    return with_failures(&p->engines[0], p->engines[0].iteration.owned_usd_per_1e9_tokens);
}

static const char *show_part(char *out, double value) {
    (void)snprintf(out, 32, "%.3g %%", 100 * value);
    return out;
}

static const char *show_speed(char *out, double value) {
    return fab_format_count(out, (uint64_t)(value + 0.5));
}

static const char *show_duration(char *out, double value) {
    return fab_quantity_format(out, value, FAB_UNIT_TIME);
}

static const measure MEASURES[] = {{"network", network_usd, fab_money_format},
                                   {"bisection", bisection, show_part},
                                   {"tokens/s", speed, show_speed},
                                   {"time", duration, show_duration},
                                   {"1e9 tokens by hours", hours_usd, fab_price_format},
                                   {"1e9 tokens, bought", owned_usd, fab_price_format}};

static double value_of(const measure *m, const fab_sweep_point *p) {
    return p->is_built && p->n_engines > 0 ? m->of(p) : 0;
}

/* What the report says first. */
static fab_status make_sentence(const fab_sweep *s, fab_str *out, fab_error *err) {
    FAB_OWNED_NEW(fab_page, page, 1, err);
    fab_page_init(page, NULL);
    fab_text_best_design(page, s, 0);
    fab_text_sprayed(page, s, 0);
    return fab_svg_said(page, out, err);
}

static uint32_t put_sentence(fab_graph_writer *w, double y, double room, const char *text) {
    return fab_svg_lines(w, y, LINE, UINT32_MAX, room, text);
}

static double row_height(const fab_sweep *s) {
    return fmin(fmax(ROWS / (double)s->n_points, ROW), MOST);
}

static void put_column(fab_graph_writer *w, const fab_sweep *s, const measure *m, double x, double width) {
    const double row = row_height(s);
    const double height = row - NAME - BLANK;
    FAB_MOST(double, most, k, s->n_points, value_of(m, &s->points[k]));
    fab_svg_text(w, x, 12, "r", "start", width, m->name);
    for (size_t i = 0; i < s->n_points; i++) {
        const double value = value_of(m, &s->points[i]);
        const double y = TOP + (double)i * row + NAME;
        const double bar = most > 0 ? fmax((width - VALUE) * value / most, value > 0 ? 1 : 0) : 0;
        fab_graph_putf(w, "\n    <rect class=\"n l3\" x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\"/>", x, y,
                       bar, height);
        fab_svg_text(w, x + bar + 5, y + height / 2 + 4, "", "start", VALUE,
                     value > 0 ? m->show(FAB_ROOM, value) : "-");
    }
}

/* What all designs run, or nothing where each has a plan of its own. */
static const char *common_job(const fab_sweep *s) {
    const char *job = NULL;
    FAB_EACH(const fab_sweep_point, p, s->points, s->n_points) {
        job = !p->is_built ? job : job == NULL || strcmp(job, p->traffic) == 0 ? p->traffic : "";
    }
    return job != NULL ? job : "";
}

static void put_designs(fab_graph_writer *w, const fab_sweep *s) {
    const bool has_own = common_job(s)[0] == '\0';
    const measure *shown[FAB_N_OF(MEASURES)];
    size_t n = 0;
    for (size_t m = 0; m < FAB_N_OF(MEASURES); m++) {
        FAB_ANY(known, i, s->n_points, value_of(&MEASURES[m], &s->points[i]) > 0);
        if (known) {
            shown[n++] = &MEASURES[m];
        }
    }
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        FAB_OWNS(fab_str_release) fab_str name = FAB_STR_INIT;
        const char *more = !p->is_built ? p->error : has_own ? p->traffic : "";
        fab_str_printf(&name, "[%zu] %s%s%s", i + 1, p->value[0], more[0] != '\0' ? ": " : "", more);
        fab_svg_text(w, MARGIN, TOP + (double)i * row_height(s) + NAME - 6, "", "start", WIDTH - 2 * MARGIN,
                     name.data != NULL ? name.data : "");
    }
    const double width = (WIDTH - 2 * MARGIN) / (double)(n > 0 ? n : 1);
    for (size_t m = 0; m < n; m++) {
        put_column(w, s, shown[m], MARGIN + width * (double)m, width - 12);
    }
}

fab_status fab_svg_compare(const fab_result *result, FILE *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str sentence = FAB_STR_INIT;
    const fab_sweep *s = result->sweep;
    fab_graph_writer w = {.out = out};
    FAB_PASS(make_sentence(s, &sentence, err));
    FAB_PASS(fab_xml_writer_init(&w.xml, out, err));
    char title[FAB_NAME_SIZE + 64];
    FAB_FORMAT(title, "%zu designs under one job%s", s->n_points, s->scenarios[0] != '\0' ? ", with failures" : "");
    const double size[2] = {WIDTH, TOP + (double)s->n_points * row_height(s)};
    const char *job = common_job(s);
    const double room = WIDTH - 2 * MARGIN;
    const double above =
        HEADING + LINE * (put_sentence(NULL, 0, room, sentence.data) + put_sentence(NULL, 0, room, job) + 1.0);
    const fab_svg_page page = fab_svg_open(&w, size, above, LEGEND, title, sentence.data);
    fab_svg_group(&w, &page, false);
    fab_svg_text(&w, MARGIN, 30, "h", "start", fab_svg_room(&page), title);
    const uint32_t n = put_sentence(&w, HEADING + 2, fab_svg_room(&page), sentence.data);
    (void)put_sentence(&w, HEADING + 2 + n * LINE, fab_svg_room(&page), job);
    fab_graph_put(&w, "\n  </g>\n  <g>");
    put_designs(&w, s);
    fab_graph_put(&w, "\n  </g>\n</svg>");
    const fab_status status = fab_xml_writer_finish(&w.xml, err);
    fab_xml_writer_release(&w.xml);
    return status;
}
