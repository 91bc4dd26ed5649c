/**
 * @file drawn_store.h
 * A store of a real design and real scenarios with drawn outcomes, written as `study run` would.
 */
#pragma once

#include "fab/design.h"
#include "fab/memory.h"
#include "fab/scenarios.h"
#include "fab/shard.h"
#include "fab/str.h"
#include "fab/topologies.h"
#include "random_rows.h"

#include <stdlib.h>
#include <string.h>

typedef struct drawn_store {
    const char *design, *scenarios;
    const char *const *engines;
    size_t n_engines;
    const char *const *policies;
    size_t n_policies;
    bool has_times;
    uint64_t seed, steps;  /* as of random_row() */
    uint64_t leave_blocks; /* one block in so many is not there; 0: all are */
} drawn_store;

/* Components by their number: of a kind in the order of ids, so that sets stay ascending. */
typedef struct drawn_parts {
    fab_component *part;
    size_t n, capacity;
    uint32_t *index[FAB_COMPONENT_N_KINDS]; /* of an id */
} drawn_parts;

static inline fab_status drawn_component(drawn_parts *p, const fab_fabric *f, const fab_component *c, uint32_t *out,
                                         fab_error *err) {
    fab_status status = FAB_OK;
    uint32_t id = c->kind == FAB_COMPONENT_LINK ? c->id & ~1U : c->id;
    if (p->index[c->kind] == NULL) {
        FAB_TRY(FAB_NEW(p->index[c->kind], (size_t)f->n_links + f->n_nodes, err));
    }
    if (p->index[c->kind][id] == 0) {
        FAB_TRY(FAB_GROW(p->part, p->capacity, p->n + 1, err));
        p->part[p->n] = *c;
        p->part[p->n].id = id;
        p->index[c->kind][id] = (uint32_t)++p->n;
    }
    *out = p->index[c->kind][id] - 1;
done:
    return status;
}

static inline int drawn_ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline void drawn_release(drawn_parts *p) {
    for (size_t k = 0; k < FAB_COMPONENT_N_KINDS; k++) {
        free(p->index[k]);
    }
    free(p->part);
}

static inline fab_status drawn_text(char **out, const char *text, fab_error *err) {
    *out = fab_strdup(text, err);
    return *out != NULL ? FAB_OK : FAB_ENOMEM;
}

/* All but the components. */
static inline fab_status drawn_plan(const drawn_store *d, const fab_design *design, const fab_scenarios *scenarios,
                                    fab_plan *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_str text = FAB_STR_INIT;
    fab_failure_rates rates = fab_failure_rates_default();
    fab_design_describe(design, &text);
    FAB_TRY(fab_str_status(&text, err));
    FAB_TRY(drawn_text(&out->program, "drawn", err));
    FAB_TRY(drawn_text(&out->name, design->name, err));
    FAB_TRY(drawn_text(&out->origin, d->design, err));
    FAB_TRY(drawn_text(&out->design, text.data, err));
    FAB_TRY(drawn_text(&out->traffic, "job", err));
    FAB_TRY(drawn_text(&out->scenarios, d->scenarios, err));
    FAB_TRY(fab_design_digest(design, out->digest, err));
    out->seed = d->seed;
    out->n_scenarios = fab_scenarios_count(scenarios);
    out->block = fab_plan_block(out->n_scenarios);
    out->figures = d->has_times ? FAB_FIGURES_TIMES : FAB_FIGURES_LOADS;
    out->span_s = fab_scenarios_span_s(scenarios);
    out->checkpoint_s = rates.checkpoint_s;
    out->restart_s = rates.restart_s;
    FAB_TRY(FAB_NEW(out->rates, FAB_FAILURE_N, err));
    for (; out->n_rates < FAB_FAILURE_N; out->n_rates++) {
        FAB_TRY(drawn_text(&out->rates[out->n_rates].name, fab_failure_classes[out->n_rates], err));
        out->rates[out->n_rates].per_s = rates.per_s[out->n_rates];
        out->rates[out->n_rates].repair_s = rates.repair_s[out->n_rates];
    }
    FAB_TRY(FAB_NEW(out->variants, d->n_engines * d->n_policies, err));
    for (; out->n_variants < d->n_engines * d->n_policies; out->n_variants++) {
        fab_store_variant *v = &out->variants[out->n_variants];
        FAB_TRY(drawn_text(&v->engine, d->engines[out->n_variants / d->n_policies], err));
        FAB_TRY(drawn_text(&v->label, v->engine, err));
        FAB_TRY(drawn_text(&v->policy, d->policies[out->n_variants % d->n_policies], err));
        v->healthy = random_healthy((uint32_t)out->n_variants, d->has_times);
    }
done:
    fab_str_release(&text);
    return status;
}

static inline fab_status drawn_components(const fab_fabric *f, const drawn_parts *parts, fab_plan *plan,
                                          fab_error *err) {
    fab_status status = FAB_NEW(plan->components, parts->n, err);
    for (; status == FAB_OK && plan->n_components < parts->n; plan->n_components++) {
        fab_component c = parts->part[plan->n_components];
        fab_store_component *to = &plan->components[plan->n_components];
        char name[FAB_COMPONENT_NAME_SIZE];
        to->residual = c.fraction;
        c.fraction = 0;
        FAB_TRY(drawn_text(&to->kind, fab_component_kinds[c.kind], err));
        FAB_TRY(drawn_text(&to->name, fab_component_name(f, &c, name), err));
    }
done:
    return status;
}

/* One block of rows. `first` and `component` are scratch. */
static inline fab_status drawn_block(const drawn_store *d, const fab_fabric *f, const fab_scenarios *scenarios,
                                     const fab_plan *plan, drawn_parts *parts, uint64_t number, fab_outcome *rows,
                                     size_t *first, uint32_t *component, fab_block *out, fab_error *err) {
    fab_status status = FAB_OK;
    fab_scenario scenario = {.n_components = 0};
    uint64_t begin = number * plan->block;
    uint64_t n = plan->n_scenarios - begin < plan->block ? plan->n_scenarios - begin : plan->block;
    first[0] = 0;
    for (uint64_t i = 0; i < n; i++) {
        size_t at = first[i];
        FAB_TRY(fab_scenarios_get(scenarios, begin + i, &scenario, err));
        for (size_t k = 0; k < scenario.n_components; k++) {
            FAB_TRY(drawn_component(parts, f, &scenario.component[k], &component[at++], err));
        }
        qsort(component + first[i], at - first[i], sizeof *component, drawn_ascending);
        first[i + 1] = at;
        for (uint32_t v = 0; v < plan->n_variants; v++) {
            rows[i * plan->n_variants + v] = random_row(d->seed, begin + i, v, plan->span_s, d->has_times, d->steps);
        }
    }
    *out = (fab_block){number, n, rows, first, component};
done:
    fab_scenario_release(&scenario);
    return status;
}

static inline fab_status drawn_shard(const drawn_store *d, const char *folder, const fab_fabric *f,
                                     const fab_scenarios *scenarios, const fab_plan *plan, drawn_parts *parts,
                                     fab_error *err) {
    fab_status status = FAB_OK;
    fab_shard *shard = NULL;
    fab_outcome *rows = NULL;
    size_t *first = NULL;
    uint32_t *component = NULL;
    FAB_TRY(FAB_NEW(rows, plan->block * plan->n_variants, err));
    FAB_TRY(FAB_NEW(first, plan->block + 1, err));
    FAB_TRY(FAB_NEW(component, plan->block * FAB_SCENARIO_COMPONENTS, err));
    FAB_TRY(fab_shard_open(folder, plan, 0, 1, &shard, err));
    for (uint64_t b = 0; b < fab_plan_n_blocks(plan); b++) {
        fab_block block;
        if (d->leave_blocks > 0 && b % d->leave_blocks == 1) {
            continue;
        }
        FAB_TRY(drawn_block(d, f, scenarios, plan, parts, b, rows, first, component, &block, err));
        FAB_TRY(fab_shard_put(shard, &block, err));
    }
    FAB_TRY(fab_shard_commit(shard, err));
done:
    fab_shard_close(shard);
    free(rows);
    free(first);
    free(component);
    return status;
}

/** Makes a store in `folder`, which is not there yet, and gathers it. */
static inline fab_status drawn_store_make(const drawn_store *d, const char *folder, fab_error *err) {
    fab_status status = FAB_OK;
    fab_design design;
    fab_fabric *f = NULL;
    fab_scenarios *scenarios = NULL;
    fab_scenario scenario = {.n_components = 0};
    drawn_parts parts = {.n = 0};
    fab_plan plan = {.program = NULL};
    fab_gathered gathered = {.n_done = 0};
    bool was_there = false;
    uint32_t index = 0;
    FAB_TRY(fab_design_read(d->design, NULL, 0, &design, err));
    FAB_TRY(fab_topology_build(&design.fabric, &f, NULL, err));
    FAB_TRY(fab_scenarios_new(d->scenarios, f, NULL, NULL, d->seed, &scenarios, err));
    for (uint64_t i = 0; i < fab_scenarios_count(scenarios); i++) { /* all components, before the first row */
        FAB_TRY(fab_scenarios_get(scenarios, i, &scenario, err));
        for (size_t k = 0; k < scenario.n_components; k++) {
            FAB_TRY(drawn_component(&parts, f, &scenario.component[k], &index, err));
        }
    }
    FAB_TRY(drawn_plan(d, &design, scenarios, &plan, err));
    FAB_TRY(drawn_components(f, &parts, &plan, err));
    fab_plan_seal(&plan);
    FAB_TRY(fab_plan_write(folder, &plan, &was_there, err));
    FAB_TRY(drawn_shard(d, folder, f, scenarios, &plan, &parts, err));
    FAB_TRY(fab_store_gather(folder, &plan, d->leave_blocks > 0, NULL, NULL, &gathered, err));
done:
    fab_plan_release(&plan);
    drawn_release(&parts);
    fab_scenario_release(&scenario);
    fab_scenarios_free(scenarios);
    fab_fabric_free(f);
    return status;
}
