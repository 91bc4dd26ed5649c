/* The phases, iterations and worst links of a report in JSON that `run` or `route` has written. */
#include "diff_internal.h"

#include "fab/json_read.h"
#include "fab/memory.h"

#include <math.h>
#include <stdio.h>

/* Of several seeds the mean. */
static double mean_of(const fab_json *json, uint32_t object, const char *key) {
    double value = fab_json_number_of(json, object, key, NAN);
    return isnan(value) ? fab_json_number_of(json, fab_json_member(json, object, key), "mean", NAN) : value;
}

/* A list that is a member of an object: its first element. */
static uint32_t first_of(const fab_json *json, uint32_t object, const char *key) {
    return fab_json_first(json, fab_json_member(json, object, key));
}

static uint32_t whole_of(const fab_json *json, uint32_t object, const char *key) {
    double value = fab_json_number_of(json, object, key, 0);
    return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static void take_link(const fab_json *json, uint32_t at, fab_hot_link *out) {
    (void)snprintf(out->name, sizeof out->name, "%s", fab_json_text_of(json, at, "link", ""));
    out->factor = mean_of(json, at, "factor");
    out->n_flows = whole_of(json, at, "n_flows");
    for (uint32_t i = first_of(json, at, "flows"); i != FAB_JSON_NONE && out->n_listed < FAB_HOT_FLOWS;
         i = json->values[i].next) {
        fab_flow_ref *flow = &out->flows[out->n_listed++];
        flow->src_gpu = whole_of(json, i, "src_gpu");
        flow->dst_gpu = whole_of(json, i, "dst_gpu");
        flow->src_rank = whole_of(json, i, "src_rank");
        flow->dst_rank = whole_of(json, i, "dst_rank");
        (void)snprintf(flow->comm, sizeof flow->comm, "%s", fab_json_text_of(json, i, "comm", ""));
    }
}

static void take_engine(const fab_json *json, uint32_t at, fab_engine_result *out) {
    (void)snprintf(out->engine, sizeof out->engine, "%s", fab_json_text_of(json, at, "engine", ""));
    (void)snprintf(out->label, sizeof out->label, "%s", fab_json_text_of(json, at, "options", out->engine));
    out->time_s.mean = mean_of(json, at, "time_s");
    out->time_s.ci95 = fab_json_number_of(json, fab_json_member(json, at, "time_s"), "ci95", 0);
    out->n_seeds = whole_of(json, at, "seeds");
    out->seeded = fab_json_number_of(json, at, "seeded", 0) > 0;
    out->has_time = !isnan(out->time_s.mean);
    out->max_collision_factor.mean = mean_of(json, at, "max_collision_factor");
    for (uint32_t i = first_of(json, at, "hot_links"); i != FAB_JSON_NONE && out->n_hot < FAB_HOT_LINKS;
         i = json->values[i].next) {
        take_link(json, i, &out->hot[out->n_hot++]);
    }
}

static fab_status read_phase(const fab_json *json, uint32_t at, fab_phase_result *out, fab_error *err) {
    size_t n = fab_json_count(json, fab_json_member(json, at, "engines"));
    (void)snprintf(out->name, sizeof out->name, "%s", fab_json_text_of(json, at, "name", ""));
    out->run = whole_of(json, at, "run");
    out->fabric_flows = whole_of(json, at, "fabric_flows");
    out->alternative = fab_json_number_of(json, at, "alternative", 0) > 0;
    FAB_PASS(FAB_NEW(out->engines, n + 1, err));
    for (uint32_t i = first_of(json, at, "engines"); i != FAB_JSON_NONE; i = json->values[i].next) {
        take_engine(json, i, &out->engines[out->n_engines++]);
    }
    return FAB_OK;
}

fab_status diff_read_report(const fab_diff_state *state, fab_result *out, fab_error *err) {
    FAB_OWNS(fab_json_release) fab_json json = {.n = 0};
    FAB_PASS(fab_json_parse(state->report, state->name, &json, err));
    uint32_t phases = fab_json_member(&json, 0, "phases");
    size_t n_iterations = fab_json_count(&json, fab_json_member(&json, 0, "iteration"));
    FAB_REFUSE_IF(phases == FAB_JSON_NONE || first_of(&json, json.values[phases].first, "engines") == FAB_JSON_NONE,
                  err, FAB_EINPUT, state->name,
                  "no phases with engines: no report that 'fabriscope run' or 'route' wrote with --json");
    FAB_PASS(FAB_NEW(out->phases, fab_json_count(&json, phases) + 1, err));
    for (uint32_t i = json.values[phases].first; i != FAB_JSON_NONE; i = json.values[i].next) {
        FAB_PASS(read_phase(&json, i, &out->phases[out->n_phases++], err));
    }
    FAB_PASS(FAB_NEW(out->iterations, n_iterations + 1, err));
    for (uint32_t i = first_of(&json, 0, "iteration"); i != FAB_JSON_NONE; i = json.values[i].next) {
        const uint32_t seeds = fab_json_member(&json, i, "seeds");
        fab_iteration *it = &out->iterations[out->n_iterations++];
        it->time_s = mean_of(&json, i, "time_s");
        it->tokens_per_s = mean_of(&json, i, "tokens_per_s");
        it->seeds.n_seeds = seeds != FAB_JSON_NONE ? whole_of(&json, seeds, "seeds") : 0;
        if (it->seeds.n_seeds > 1) {
            it->seeds.time_s.ci95 = fab_json_number_of(&json, fab_json_member(&json, seeds, "time_s"), "ci95", 0);
        }
    }
    return FAB_OK;
}
