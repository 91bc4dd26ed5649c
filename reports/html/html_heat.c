/* How full links are where the loads of each are not kept: of the points of a sweep, and of two states. */
#include "html_data.h"
#include "fab/difference.h"
#include "fab/sweep.h"

#include <inttypes.h>

typedef struct heat_rows {
    size_t n, n_left; /* rows, and of how many figures there are none */
} heat_rows;

static void put_heat(const fab_heat *heat, size_t point, size_t phase, size_t engine, heat_rows *rows, fab_str *out) {
    if (heat->n > 0 && (rows->n_left > 0 || rows->n + heat->n > FAB_HTML_HEATS)) { /* all of a figure or nothing */
        rows->n_left++;
        return;
    }
    for (uint32_t b = 0; b < heat->n; b++, rows->n++) {
        fab_str_printf(out, "%s[%zu,%zu,%zu,\"%s\"", rows->n > 0 ? "," : "", point, phase, engine,
                       fab_boundary_name(heat->wiring, b + 1));
        for (size_t bin = 0; bin < FAB_HISTOGRAM; bin++) {
            fab_str_printf(out, ",%" PRIu32, heat->links[b][bin]);
        }
        fab_str_add(out, "]");
    }
}

static void put_sweep(const fab_sweep *s, heat_rows *rows, fab_str *out) {
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *point = &s->points[i];
        for (size_t p = 0; p < point->n_phases; p++) {
            for (size_t e = 0; e < point->n_engines; e++) {
                put_heat(&point->phases[p].times[e].heat, i, p, e, rows, out);
            }
        }
    }
}

static void put_difference(const fab_difference *d, heat_rows *rows, fab_str *out) {
    for (size_t e = 0; e < d->n_engines; e++) {
        for (size_t p = 0; p < d->engines[e].n_phases; p++) {
            put_heat(&d->engines[e].phases[p].before_heat, 0, p, e, rows, out);
            put_heat(&d->engines[e].phases[p].after_heat, 1, p, e, rows, out);
        }
    }
}

fab_status fab_html_heat(const fab_result *result, fab_str *out, fab_error *err) {
    heat_rows rows = {0};
    if (result->sweep == NULL && result->difference == NULL) {
        return FAB_OK;
    }
    fab_str_add(out, ",\"heat\":[");
    if (result->sweep != NULL) {
        put_sweep(result->sweep, &rows, out);
    } else {
        put_difference(result->difference, &rows, out);
    }
    fab_str_printf(out, "],\"heat_left_out\":%zu", rows.n_left);
    return fab_str_status(out, err);
}
