/* What the links carry, in the data block of the HTML report: boundary by boundary, up, then down, in the order of the
 * cables there. */
#include "fab/overlay.h"
#include "fab/study_summary.h"
#include "html_code.h"
#include "html_data.h"
#include "data/json_text.h"

#define PROPORTIONAL 1e-6

/* Network links in the order in which they are told. */
typedef struct order {
    fab_link_id *link; /* shape [n] */
    size_t n;
    size_t end[2 * FAB_FABRIC_TIERS]; /* behind the links of a boundary and direction */
    size_t n_ends;
    double *values; /* shape [n]: room */
} order;

static fab_status order_init(const fab_fabric *f, order *out, fab_error *err) {
    FAB_PASS(FAB_NEW_ALL(f->n_links, err, out->link, out->values));
    for (uint32_t b = 1; b <= f->n_boundaries && b <= FAB_FABRIC_TIERS; b++) {
        for (uint32_t back = 0; back < 2; back++) {
            FAB_KEEP(out->link, out->n, c, f->n_cables, f->classes[f->cable_class[c]].tier == b, 2 * c + back);
            out->end[out->n_ends++] = out->n;
        }
    }
    return FAB_OK;
}

FAB_FREES(order_release, order, link, values);

/* A figure of every link, of either precision. */
typedef struct figures {
    const double *exact;
    const float *near;
} figures;

static double figure_of(const figures *from, fab_link_id link) {
    if (from->exact != NULL) {
        return from->exact[link];
    }
    return from->near != NULL ? (double)from->near[link] : NAN; /* which put_series() refuses */
}

/* "key":{"values":[...],"step":0,"code":["...", ...]} */
static fab_status put_series(const figures *from, order *o, const char *key, fab_str *out, fab_error *err) {
    FAB_OWNS(fab_code_table_release) fab_code_table table = {0};
    for (size_t i = 0; i < o->n; i++) {
        o->values[i] = figure_of(from, o->link[i]);
        FAB_REFUSE_IF(!isfinite(o->values[i]) || o->values[i] < 0, err, FAB_EINTERNAL, key,
                      "the load of a link is negative, infinite or not a number");
    }
    FAB_PASS(fab_code_table_init(o->values, o->n, &table, err));
    fab_str_printf(out, "\"%s\":{\"step\":", key);
    fab_json_number(out, table.step);
    fab_str_add(out, ",\"values\":[");
    for (size_t i = 0; i < table.n; i++) {
        fab_str_printf(out, "%s%.6g", i > 0 ? "," : "", table.value[i]);
    }
    fab_str_add(out, "],\"code\":[");
    size_t at = 0;
    for (size_t e = 0; e < o->n_ends; e++) {
        fab_code_series series = {.out = out, .table = &table};
        fab_str_add(out, e > 0 ? ",\"" : "\"");
        for (; at < o->end[e]; at++) {
            fab_code_series_add(&series, figure_of(from, o->link[at]));
        }
        fab_code_series_end(&series);
        fab_str_add(out, "\"");
    }
    fab_str_add(out, "]}");
    return fab_str_status(out, err);
}

/* Bytes over a link where they are the same multiple of its offered rate everywhere; 0 otherwise. */
static double seconds_of(const fab_fabric *f, const order *o, const figures *ratio, const figures *bytes) {
    double seconds = 0;
    for (size_t i = 0; i < o->n; i++) {
        fab_link_id link = o->link[i];
        double rate = figure_of(ratio, link) * fab_class_of(f, link)->capacity_bps;
        double load = figure_of(bytes, link) * 8;
        if (rate > 0 && seconds == 0) {
            seconds = load / rate;
        }
        if (fabs(load - seconds * rate) > PROPORTIONAL * load) {
            return 0;
        }
    }
    return seconds;
}

/* One draw of an engine: {"phase":0,"engine":0,"draw":0,"ratio":...,"bytes":...} */
static fab_status put_draw(const fab_result *result, size_t p, size_t e, uint64_t draw, order *o, fab_str *out,
                           fab_error *err) {
    const fab_engine_result *engine = &result->phases[p].engines[e];
    size_t n_links = result->graph->n_links;
    figures ratio = {.exact = draw == 0 ? engine->utilisation : NULL,
                     .near = draw > 0 ? engine->more_utilisation + (draw - 1) * n_links : NULL};
    figures bytes = {.exact = draw == 0 ? engine->load_bytes : NULL};
    fab_str_printf(out, "{\"phase\":%zu,\"engine\":%zu,\"draw\":%" PRIu64 ",\"seed\":%" PRIu64 ",", p, e, draw,
                   engine->seed + draw);
    FAB_PASS(put_series(&ratio, o, "ratio", out, err));
    if (bytes.exact != NULL) {
        double seconds = seconds_of(result->graph, o, &ratio, &bytes);
        fab_str_add(out, ",");
        if (seconds > 0) {
            fab_str_add(out, "\"seconds\":");
            fab_json_number(out, seconds);
        } else {
            FAB_PASS(put_series(&bytes, o, "bytes", out, err));
        }
    }
    if (draw == 0 && engine->paused_s != NULL) {
        fab_str_add(out, ",");
        FAB_PASS(put_series(&(figures){.exact = engine->paused_s}, o, "paused", out, err));
    }
    fab_str_add(out, "}");
    return FAB_OK;
}

static fab_status put_taper(const fab_result *result, order *o, fab_str *out, fab_error *err) {
    fab_str_add(out, "\"taper\":[");
    for (size_t p = 0; p < result->n_phases; p++) {
        figures taper = {.near = result->phases[p].taper_ratio};
        fab_str_add(out, p > 0 ? ",{" : "{");
        FAB_PASS(taper.near != NULL ? put_series(&taper, o, "ratio", out, err) : FAB_OK);
        fab_str_add(out, "}");
    }
    fab_str_add(out, "],");
    return FAB_OK;
}

/* Draws until the room is used up: the first one of every phase and engine, then the second ones, ... */
static fab_status put_draws(const fab_result *result, order *o, fab_str *out, fab_error *err) {
    uint64_t left_out = 0;
    size_t start = out->length;
    bool is_first = true;
    bool more = true;
    fab_str_add(out, "\"draws\":[");
    for (uint64_t draw = 0; more; draw++) {
        more = false;
        for (size_t p = 0; p < result->n_phases; p++) {
            for (size_t e = 0; e < result->phases[p].n_engines; e++) {
                const fab_engine_result *engine = &result->phases[p].engines[e];
                if (draw >= engine->n_seeds) {
                    continue;
                }
                more = true;
                if (engine->utilisation == NULL || draw > engine->n_more || out->length - start > FAB_HTML_LOADS) {
                    left_out++;
                    continue;
                }
                fab_str_add(out, is_first ? "" : ",");
                is_first = false;
                FAB_PASS(put_draw(result, p, e, draw, o, out, err));
            }
        }
    }
    fab_str_printf(out, "],\"left_out\":%" PRIu64, left_out);
    return FAB_OK;
}

fab_status fab_html_loads(const fab_result *result, fab_str *out, fab_error *err) {
    FAB_OWNS(order_release) order o = {0};
    if (result->graph == NULL || result->n_phases == 0 || result->graph->n_cables > FAB_HTML_CABLES) {
        return FAB_OK;
    }
    FAB_PASS(order_init(result->graph, &o, err));
    if (o.n == 0) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"loads\":{");
    FAB_PASS(put_taper(result, &o, out, err));
    FAB_PASS(put_draws(result, &o, out, err));
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}

/* Of every cable: what a study found, else what an overlay says; NULL where neither knows. */
static const double *criticality_of(const fab_result *result, const char **what) {
    const fab_study_summary *study = result->study;
    if (study != NULL && study->shown < study->n_variants && study->variants[study->shown].cable_impact != NULL) {
        *what = study->criterion;
        return study->variants[study->shown].cable_impact;
    }
    if (result->overlay != NULL && result->overlay->criticality != NULL) {
        *what = result->overlay->criticality_of != NULL ? result->overlay->criticality_of : "";
        return result->overlay->criticality;
    }
    return NULL;
}

/* The same for both directions of a cable; 0 also where its loss was not looked at. */
fab_status fab_html_criticality(const fab_result *result, fab_str *out, fab_error *err) {
    const char *what = NULL;
    FAB_OWNS(order_release) order o = {0};
    const double *of_cable = criticality_of(result, &what);
    const fab_fabric *f = result->graph;
    if (f == NULL || of_cable == NULL || f->n_cables > FAB_HTML_CABLES) {
        return FAB_OK;
    }
    FAB_PASS(order_init(f, &o, err));
    FAB_OWNED_NEW(double, of_link, f->n_links, err);
    FAB_FILL(of_link, f->n_links, isnan(of_cable[fab_at >> 1]) ? 0 : of_cable[fab_at >> 1]);
    fab_str_add(out, ",\"criticality\":{\"of\":");
    fab_json_string(out, what);
    fab_str_add(out, ",");
    FAB_PASS(put_series(&(figures){.exact = of_link}, &o, "ratio", out, err));
    fab_str_add(out, "}");
    return fab_str_status(out, err);
}

/* Most blocks send to few others: [from, to, bytes] of those that do. */
static void put_phase_blocks(const fab_phase_result *phase, fab_str *out) {
    uint32_t n = phase->n_blocks;
    bool is_first = true;
    fab_str_printf(out, "{\"blocks\":%" PRIu32 ",\"servers\":%" PRIu32 ",\"bytes\":[", n, phase->servers_per_block);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            double bytes = phase->block_bytes[(size_t)a * n + b];
            if (bytes > 0) {
                fab_str_printf(out, "%s%" PRIu32 ",%" PRIu32 ",%.6g", is_first ? "" : ",", a, b, bytes);
                is_first = false;
            }
        }
    }
    fab_str_add(out, "]}");
}

fab_status fab_html_blocks(const fab_result *result, fab_str *out, fab_error *err) {
    if (result->n_phases == 0 || result->phases[0].block_bytes == NULL) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"blocks\":[");
    for (size_t p = 0; p < result->n_phases; p++) {
        fab_str_add(out, p > 0 ? "," : "");
        put_phase_blocks(&result->phases[p], out);
    }
    fab_str_add(out, "]");
    return fab_str_status(out, err);
}
