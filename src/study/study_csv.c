/* Rows of a store as CSV. A row costs a few copies: texts that return are kept, numbers by their value. */
#include "scenarios/scenarios_internal.h"
#include "study_results_internal.h"

#include <errno.h>

#define FLUSH_AT   65536
#define CACHE_BITS 14

/* The text of a number that was met. */
typedef struct number_text {
    double value;
    char text[32];
} number_text;

typedef struct csv {
    const fab_study_results *results;
    FILE *out;
    fab_str text;
    fab_str *variant;   /* shape [n_variants]: engine and policy */
    fab_str *component; /* shape [n_components]: name, with what is left */
    number_text *cache; /* shape [1 << CACHE_BITS] */
} csv;

static void study_add_count(csv *c, uint64_t value) {
    fab_str_printf(&c->text, ",%" PRIu64, value);
}

static void add_figure(csv *c, double value) {
    uint64_t bits = 0;
    fab_str_append(&c->text, ",", 1);
    if (isnan(value)) {
        return;
    }
    value += 0.0; /* -0 is 0 */
    memcpy(&bits, &value, sizeof bits);
    number_text *entry = &c->cache[(bits * 0x9e3779b97f4a7c15U) >> (64 - CACHE_BITS)];
    if (entry->value != value || entry->text[0] == '\0') {
        fab_format_double(entry->text, value);
        entry->value = value;
    }
    fab_str_add(&c->text, entry->text);
}

static void study_add_row(csv *c, const fab_outcome *o) {
    const fab_plan *plan = fab_store_plan(c->results->store);
    fab_str_printf(&c->text, "%" PRIu64, o->scenario);
    fab_str_append(&c->text, c->variant[o->variant].data, c->variant[o->variant].length);
    fab_str_add(&c->text, o->state < FAB_OUTCOME_N_STATES ? fab_outcome_states[o->state] : "");
    add_figure(c, o->slowdown);
    add_figure(c, o->time_s);
    add_figure(c, o->worst_ratio);
    fab_str_append(&c->text, ",", 1);
    if (o->worst_link < c->results->fabric->n_links) {
        fab_str_add(&c->text, FAB_SAY_LINK(c->results->fabric, o->worst_link));
    }
    add_figure(c, o->lost_ratio);
    study_add_count(c, o->n_disconnected);
    study_add_count(c, o->n_moved);
    study_add_count(c, o->n_collisions);
    if (plan->span_s > 0) {
        add_figure(c, o->goodput);
        add_figure(c, o->restart_ratio);
        add_figure(c, o->redo_ratio);
        add_figure(c, o->slow_ratio);
        add_figure(c, o->wait_ratio);
        study_add_count(c, o->n_failures);
        study_add_count(c, o->n_stops);
    }
}

static fab_status add_failed(csv *c, const study_rows *rows, fab_error *err) {
    const fab_plan *plan = fab_store_plan(c->results->store);
    uint64_t scenario = rows->row[0].scenario;
    if (plan->span_s > 0) {
        return FAB_OK;
    }
    fab_str_append(&c->text, ",", 1);
    for (size_t i = 0; i < rows->n_components; i++) {
        FAB_REFUSE_IF(rows->component[i] >= plan->n_components, err, FAB_EINPUT, NULL,
                      "the store is damaged: scenario %" PRIu64 " fails component %" PRIu32 ", which is not there",
                      scenario, rows->component[i]);
        const fab_str *name = &c->component[rows->component[i]];
        fab_str_add(&c->text, i > 0 ? " + " : "");
        fab_str_append(&c->text, name->data, name->length);
    }
    if (c->results->classes != NULL) {
        study_add_count(c, c->results->classes->n_equal[scenario]);
    }
    if (plan->scenario_names != NULL) {
        fab_str_append(&c->text, ",", 1);
        fab_str_add_csv(&c->text, scenario < plan->n_scenarios ? plan->scenario_names[scenario] : "");
    }
    return FAB_OK;
}

static fab_status study_flush(csv *c, fab_error *err) {
    FAB_PASS(fab_str_status(&c->text, err));
    errno = 0;
    FAB_REFUSE_IF(c->text.length > 0 && fwrite(c->text.data, 1, c->text.length, c->out) != c->text.length, err, FAB_EIO,
                  NULL, "cannot write the rows: %s", errno != 0 ? strerror(errno) : "a write failed");
    c->text.length = 0;
    return FAB_OK;
}

/* Texts that return. */
static fab_status study_prepare(csv *c, fab_error *err) {
    const fab_plan *plan = fab_store_plan(c->results->store);
    FAB_PASS(FAB_NEW(c->cache, (size_t)1 << CACHE_BITS, err));
    FAB_PASS(FAB_NEW(c->variant, plan->n_variants, err));
    for (size_t v = 0; v < plan->n_variants; v++) {
        fab_str_add(&c->variant[v], ",");
        fab_str_add_csv(&c->variant[v], plan->variants[v].engine);
        fab_str_add(&c->variant[v], ",");
        fab_str_add_csv(&c->variant[v], plan->variants[v].policy);
        fab_str_add(&c->variant[v], ",");
        FAB_PASS(fab_str_status(&c->variant[v], err));
    }
    FAB_PASS(FAB_NEW(c->component, plan->n_components, err));
    for (size_t i = 0; i < plan->n_components && plan->span_s <= 0; i++) {
        fab_str_add(&c->component[i], FAB_SAY_COMPONENT(c->results->fabric, &c->results->component[i]));
        FAB_PASS(fab_str_status(&c->component[i], err));
    }
    fab_str_add(&c->text, "scenario,engine,policy,state,slowdown,time_s,worst_ratio,fullest,lost_ratio,n_disconnected,"
                          "n_moved,n_collisions");
    fab_str_add(&c->text, plan->span_s > 0
                              ? ",goodput,restart_ratio,redo_ratio,slow_ratio,wait_ratio,n_failures,n_stops"
                              : ",failed");
    fab_str_add(&c->text, c->results->classes != NULL ? ",n_equal" : "");
    fab_str_add(&c->text, plan->span_s <= 0 && plan->scenario_names != NULL ? ",name\n" : "\n");
    return FAB_OK;
}

static void study_release(csv *c) {
    const fab_plan *plan = fab_store_plan(c->results->store);
    FAB_RELEASE_EACH(fab_str_release, c->variant, plan->n_variants);
    FAB_RELEASE_EACH(fab_str_release, c->component, plan->n_components);
    FAB_FREE_ALL(c->variant, c->component, c->cache);
    fab_str_release(&c->text);
}

fab_status fab_study_write_csv(const fab_study_results *results, FILE *out, fab_error *err) {
    const fab_plan *plan = fab_store_plan(results->store);
    FAB_OWNS(study_release) csv c = {.results = results, .out = out};
    FAB_OWNS(study_rows_release) study_rows rows = {.results = NULL};
    bool more = false;
    FAB_PASS(study_prepare(&c, err));
    FAB_PASS(study_rows_init(&rows, results, err));
    FAB_PASS(study_rows_next(&rows, &more, err));
    while (more) {
        for (size_t v = 0; v < plan->n_variants; v++) {
            study_add_row(&c, &rows.row[v]);
            FAB_PASS(add_failed(&c, &rows, err));
            fab_str_append(&c.text, "\n", 1);
        }
        FAB_PASS(c.text.length >= FLUSH_AT ? study_flush(&c, err) : FAB_OK);
        FAB_PASS(study_rows_next(&rows, &more, err));
    }
    return study_flush(&c, err);
}
