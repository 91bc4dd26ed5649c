/**
 * @file scenarios_internal.h
 * Inside of scenarios.c and scenario_*.c.
 */
#pragma once

#include "fab/scenarios.h"

typedef enum scenario_source {
    SOURCE_SETS,
    SOURCE_DRAWN,
    SOURCE_HISTORIES,
    SOURCE_LIST,
} scenario_source;

struct fab_scenarios {
    scenario_source source;
    const fab_fabric *fabric;
    fab_racks racks;
    fab_failure_rates rates;
    uint64_t seed, count;
    fab_component_kind kind; /* of sets */
    uint32_t n, k;           /* components of the kind; of a set */
    double span_s;
    fab_link_id *link; /* shape [n_links]: of the network, one of each cable */
    uint32_t n_links;
    /* of a list */
    char (*name)[FAB_SCENARIO_NAME_SIZE]; /* shape [count] */
    size_t *first;                        /* shape [count + 1] */
    fab_component *component;             /* shape [first[count]] */
    size_t name_capacity, first_capacity, component_capacity, n_components;
};

/* Component j of a kind. */
fab_component scenario_component(const fab_scenarios *s, fab_component_kind kind, uint32_t j);

fab_status scenario_history(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err) FAB_MUST_USE;

fab_status scenario_read_file(const char *path, fab_scenarios *s, fab_error *err) FAB_MUST_USE;
