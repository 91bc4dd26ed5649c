/* CSV: every flow of every phase under every engine, with its rate, its end and its bottleneck. */
#include "report_formats.h"

#define AT_ONCE ((size_t)1 << 20) /* bytes that are gathered before they are written */

static const char HEADER[] = "phase,engine,flow,src_gpu,dst_gpu,comm,bytes,rate_bps,finish_s,bottleneck\n";

static void flows_csv_add_flow(const fab_result *result, const fab_phase_result *phase, size_t engine, uint64_t i,
                               fab_str *out) {
    const fab_flow_rate *f = &phase->engines[engine].flows[i];
    char link[FAB_LINK_NAME_SIZE] = "window";
    if (f->bottleneck != FAB_NONE) {
        (void)fab_link_name(result->graph, f->bottleneck, link);
    }
    fab_str_printf(out, "%s,%zu %s,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.12g,%.12g,%s\n",
                   phase->name, engine + 1, phase->engines[engine].engine, i, f->src_gpu, f->dst_gpu, f->comm, f->bytes,
                   f->rate_bps, f->finish_s, link);
}

static fab_status flows_csv_flush(fab_str *text, FILE *out, fab_error *err) {
    FAB_PASS(fab_str_status(text, err));
    (void)fwrite(text->data, 1, text->length, out);
    text->length = 0;
    return FAB_OK;
}

/* The first phase that has flows whose rates were not kept: there are too many of them. NULL: none. */
static const fab_phase_result *phase_without_flows(const fab_result *result) {
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        for (size_t e = 0; e < phase->n_engines; e++) {
            if (phase->flows > 0 && phase->engines[e].n_flows == 0 && !phase->engines[e].is_absent) {
                return phase;
            }
        }
    }
    return NULL;
}

static bool lists_all_flows(const fab_result *result) {
    return result->graph != NULL && result->n_phases > 0 && phase_without_flows(result) == NULL;
}

static fab_status print_flows(const fab_result *result, FAB_UNUSED const fab_report_style *style, FILE *out,
                              fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    FAB_REFUSE_IF(result->graph == NULL || result->n_phases == 0, err, FAB_EUNSUPPORTED, NULL,
                  "this command routes no flows: format flows needs run or route");
    const fab_phase_result *missing = phase_without_flows(result);
    FAB_REFUSE_IF(missing != NULL, err, FAB_EUNSUPPORTED, NULL,
                  "phase %s has %" PRIu64 " flows: too many for the rate of each, which format flows would list",
                  missing->name, missing->flows);
    fab_str_add(&text, HEADER);
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        for (size_t e = 0; e < phase->n_engines; e++) {
            for (uint64_t i = 0; i < phase->engines[e].n_flows; i++) {
                flows_csv_add_flow(result, phase, e, i, &text);
                FAB_PASS(text.length > AT_ONCE ? flows_csv_flush(&text, out, err) : FAB_OK);
            }
        }
    }
    return flows_csv_flush(&text, out, err);
}

const fab_report_format fab_report_flows = {
    .name = "flows",
    .file_name = "flows.csv",
    .summary = "CSV: rate, end and bottleneck of every flow",
    .print = print_flows,
    .can_show = lists_all_flows,
};
