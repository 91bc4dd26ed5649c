/* Points of a sweep for a spreadsheet: one row per point and engine. */
#include "report_formats.h"
#include "result_walk.h"

#include "fab/sweep.h"

#include <inttypes.h>

static void add_number(fab_str *out, bool known, double value) {
    char text[32];
    fab_str_add(out, ",");
    if (known) {
        fab_format_double(text, value);
        fab_str_add(out, text);
    }
}

static void add_point(fab_str *out, const fab_sweep *s, const fab_sweep_point *p, const fab_sweep_engine *e) {
    static const fab_sweep_engine NONE = {.has_time = false};
    const fab_sweep_engine *engine = e != NULL ? e : &NONE;
    for (size_t k = 0; k < s->n_paths; k++) {
        fab_str_add_csv(out, p->value[k]);
        fab_str_add(out, ",");
    }
    fab_str_add_csv(out, engine->label);
    add_number(out, engine->has_time, engine->time_s);
    add_number(out, engine->has_phases, engine->phases_s);
    add_number(out, engine->has_iteration, engine->iteration.time_s);
    add_number(out, engine->has_iteration, engine->iteration.usd_per_1e9_tokens);
    add_number(out, p->is_built, p->total_usd);
    add_number(out, p->is_built, p->power_w);
    add_number(out, p->is_built, p->bisection_ratio);
    add_number(out, engine->has_time, engine->is_on_front);
    fab_str_add(out, ",");
    fab_str_add_csv(out, p->error);
    fab_str_add(out, "\n");
}

static fab_status write_csv(const fab_result *result, const fab_report_style *style, FILE *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    const fab_sweep *s = result->sweep;
    if (result->audit != NULL) {
        return fab_csv_audit(result->audit, out, err);
    }
    (void)style;
    if (s == NULL) {
        FAB_FAIL(err, FAB_EUNSUPPORTED, NULL,
                 "csv shows the points of a sweep or what an audit found, and this command makes none");
    }
    FAB_TRY(fab_result_walk(result, NULL, NULL, err));
    for (size_t k = 0; k < s->n_paths; k++) {
        fab_str_add_csv(&text, s->path[k]);
        fab_str_add(&text, ",");
    }
    fab_str_add(&text, "label,time_s,phases_s,iteration_s,usd_per_1e9_tokens,total_usd,power_w,bisection_ratio,pareto,"
                       "error\n");
    for (size_t i = 0; i < s->n_points; i++) {
        const fab_sweep_point *p = &s->points[i];
        for (size_t e = 0; e < p->n_engines; e++) {
            add_point(&text, s, p, &p->engines[e]);
        }
        if (!p->is_built) {
            add_point(&text, s, p, NULL);
        }
    }
    FAB_TRY(fab_report_put(&text, out, err));
done:
    fab_str_release(&text);
    return status;
}

const fab_report_format fab_report_csv = {
    .name = "csv",
    .file_name = NULL, /* only of commands that vary something */
    .summary = "points of a sweep, or what an audit found, a row each",
    .write = write_csv,
};
