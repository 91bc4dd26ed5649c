/** Inside of scenarios.c and scenario_*.c. */
#pragma once

#include "fab/graph_symmetry.h"
#include "fab/scenarios.h"

typedef enum scenario_source {
    SOURCE_SETS,
    SOURCE_DRAWN,
    SOURCE_CLASSES, /* sets of which others are the like */
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
    /* of classes of equal sets, by number; empty until scenario_fold() */
    uint64_t *set;     /* shape [count]: the first of the class, in lexicographic order */
    uint64_t *n_equal; /* shape [count]: sets of the class */
    uint32_t *equal;   /* shape [n]: the first component that is like this one */
    /* of updates: a way to roll them through, by the number of its scenarios */
    fab_rollout_way *way; /* shape [n_ways] */
    uint32_t *way_of;     /* shape [count] */
    size_t n_ways, way_capacity, way_of_capacity;
    /* of a list */
    char (*name)[FAB_SCENARIO_NAME_SIZE]; /* shape [count] */
    size_t *first;                        /* shape [count + 1] */
    fab_component *component;             /* shape [first[count]] */
    size_t name_capacity, first_capacity, component_capacity, n_components;
};

/* Component j of a kind. */
fab_component scenario_component(const fab_scenarios *s, fab_component_kind kind, uint32_t j);

/* How many sets there are of K of n, UINT64_MAX where they are too many. */
uint64_t scenario_n_sets(uint64_t n, uint64_t k);

/* Finds the classes, where permutations of the components make equal sets of each other. Complexity: O(n^K + what they
 * move * n^(K - 1)). */
FAB_STATUS scenario_fold(fab_scenarios *s, const fab_permutations *alike, fab_error *err);

FAB_STATUS scenario_history(const fab_scenarios *s, uint64_t i, fab_scenario *out, fab_error *err);

/* Begins another scenario of a list, and adds a component to it. */
FAB_STATUS scenario_begin(fab_scenarios *s, const char *name, const char *where, fab_error *err);
FAB_STATUS scenario_add(fab_scenarios *s, const fab_component *component, fab_error *err);

/* Whether the first n characters of a text name an event, and all events of a text that they do. */
bool scenario_is_event(const char *text, size_t n);
FAB_STATUS scenario_make_events(const char *text, size_t n, const fab_floor *floor, fab_scenarios *s, fab_error *err);

FAB_STATUS scenario_read_file(const char *path, fab_scenarios *s, fab_error *err);
