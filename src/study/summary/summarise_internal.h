/** Inside of summarise*.c. */
#pragma once

#include "fab/summarise.h"

/** A figure over the scenarios, until its quantiles are asked for. */
typedef struct tally {
    double *value;    /* shape [n_values] */
    uint64_t *weight; /* shape [n_values]: scenarios that have it; NULL: 1 each */
    size_t n_values, capacity, weight_capacity;
    uint64_t n; /* scenarios */
    double sum, least, most;
    double worst;
    uint64_t worst_scenario;
} tally;

enum {
    TALLY_SLOWDOWN,
    TALLY_TIME,
    TALLY_RATIO,
    TALLY_COLLISIONS,
    TALLY_LOST,
    TALLY_MOVED,
    TALLY_GOODPUT, /* the only one of which less is worse */
    N_TALLIES
};

/** A component under a variant. */
typedef struct record {
    uint64_t n_stopped, n_disconnected;
    uint64_t n_known, n_times, n_ratios; /* scenarios whose impact, slowdown, ratio is known */
    uint64_t n_costing;                  /* of credited sets: that cost something */
    double impact, squares;              /* sums */
    double least, most;                  /* impact */
    uint64_t most_scenario;
    double slowdown, worst_slowdown;
    double ratio, worst_ratio;
} record;

/** A scenario that may be among the worst. */
typedef struct candidate {
    double impact;
    fab_outcome row;
} candidate;

/** For least squares of impact over failures by class, over the histories of a draw of the paths. */
typedef struct cause_sums {
    double xx[FAB_FAILURE_N][FAB_FAILURE_N], xy[FAB_FAILURE_N], x[FAB_FAILURE_N], y, yy, n;
} cause_sums;

typedef struct variant_sums {
    tally tallies[N_TALLIES];
    fab_study_variant out; /* counts; sums until the end where it has means */
    uint64_t n_impacts;
    double squares;         /* of impacts */
    cause_sums *causes;     /* of histories: shape [n_draws] */
    double access_slowdown; /* sum */
    uint64_t n_access_times;
    candidate *worst; /* shape [top]: the worst first */
    size_t n_worst;
    candidate *stopped; /* shape [top] */
    size_t n_stopped;
} variant_sums;

#define CLASSES_MOST 64 /* bits of a set */
#define CLASS_NAME   64

/** Components: of sets all that there are, of histories those that failed. */
typedef struct component_table {
    uint32_t *slot;           /* of histories, by what they are: component + 1, or 0 */
    fab_component *component; /* shape [n] */
    uint64_t *n_scenarios;    /* shape [n] */
    record *record;           /* shape [n * n_variants] */
    uint8_t *class_of;        /* shape [n] */
    size_t n, capacity, n_scenarios_capacity, record_capacity, class_capacity;
    char class_name[CLASSES_MOST][CLASS_NAME];
    uint64_t class_scenarios[CLASSES_MOST]; /* in which one of the class fails */
    record *class_record;                   /* shape [CLASSES_MOST * n_variants] */
    size_t n_classes;
} component_table;

/** Sets that cost something though their parts alone cost next to nothing. */
typedef struct interaction {
    double impact;
    uint64_t n; /* sets; at the end: of this impact and above */
} interaction;

/** Sets that were taken in, and what their parts are credited with under the variant at hand: summarise_credit.c. */
typedef struct set_list {
    size_t *first; /* shape [n + 1]: into component */
    uint32_t *component;
    double *impact; /* shape [n * n_variants] */
    size_t n, n_components, first_capacity, component_capacity, impact_capacity;
    record *part, *class;     /* shapes [components], [CLASSES_MOST]; NULL: the records of the table count */
    interaction *interaction; /* shape [n_entries]: by impact, ascending */
    size_t n_entries, interaction_capacity;
    uint64_t n_interactions; /* sets */
    interaction *ranked;     /* shape [n_ranked]: all sets by impact, n: of this impact and below */
    size_t n_ranked, ranked_capacity;
    uint64_t n_undecided; /* parts of which no set says what they cost alone */
    bool is_whole;        /* all sets that there are */
    double most_interaction;
    uint64_t worst_interaction; /* its scenario, the first of those */
    uint64_t *scenario;         /* shape [n] */
    size_t scenario_capacity;
} set_list;

struct fab_summariser {
    fab_summary_request request;
    size_t n_variants;
    bool has_times;
    uint64_t n_looked_at;  /* scenarios; n_done: with all that they stand for */
    uint64_t n_done, next; /* the lowest number that may come next */
    fab_scenario history;
    double class_count[FAB_FAILURE_N]; /* failures in the history */
    uint32_t *failed;                  /* shape [met_capacity]: components of the history, each once */
    size_t met_capacity;
    bool is_single;
    uint64_t *alike;   /* shape [components], with n_equal: how many are like the first of their class; else NULL */
    uint64_t n_access; /* scenarios that lose an access link and nothing else */
    component_table table;
    set_list sets;
    variant_sums *variants;    /* shape [n_variants] */
    fab_study_choice *choices; /* shape [n_engines]: sums */
    bool *differ;              /* shape [n_variants * n_policies]: from a policy of the engine in some scenario */
    double *impact; /* shape [n_variants]: of the scenario; for parts 0 where seeds do not tell it from none */
};

/** All components of sets. */
FAB_STATUS summary_take_components(fab_summariser *s, fab_error *err);

/** Finds the components of a history: how many, each once, in s->failed. */
FAB_STATUS summary_find_components(fab_summariser *s, uint64_t scenario, size_t *out_n, fab_error *err);

/** Sets that a scenario stands for. */
static inline uint64_t summary_weight(const fab_summariser *s, uint64_t scenario) {
    return s->request.n_equal != NULL ? s->request.n_equal[scenario] : 1;
}

/** The component that stands for all that are like it. */
static inline uint32_t summary_first(const fab_summariser *s, uint32_t component) {
    return s->request.equal != NULL ? s->request.equal[component] : component;
}

/** Of the sets that a scenario stands for, those in which the component that stands for its i-th fails; 0 where an
 * earlier one stands for it as well. */
uint64_t summary_share(const fab_summariser *s, const uint32_t *component, size_t n, size_t i, uint64_t n_sets);

/** Counts a scenario, which stands for n_sets, under its components and their classes; returns the set of these. */
uint64_t summary_count_scenario(fab_summariser *s, const uint32_t *component, size_t n, uint64_t n_sets);

/** Counts a row likewise. */
void summary_count_components(fab_summariser *s, const fab_outcome *row, double impact, const uint32_t *component,
                              size_t n, uint64_t classes, uint64_t n_sets);

/** Gives components what was counted for the one that stands for them: before anything is ranked. */
void summary_spread_components(fab_summariser *s);

/** Class of a component, which may be new. */
FAB_STATUS summary_class_of(component_table *t, const fab_fabric *f, const fab_component *c, size_t n_variants,
                            uint8_t *out, fab_error *err);
FAB_STATUS summary_find_classes(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err);

/** Mean impact; NAN: of none. */
double summary_mean_impact(const record *r);

/** Half the width of the 95 % interval of the mean impact; NAN of one scenario. */
double summary_half_interval(const record *r);

/** What a part, or a class of parts, does: of sets of several what it is credited with. */
const record *summary_record_of(const fab_summariser *s, size_t variant, size_t component);

/** Of single losses: any impact. Of sets: it is credited with an impact that chance does not explain. Of histories:
 * above the mean of all by more than a draw of as many of them would be, and by its own interval. */
bool summary_is_clear(const fab_summariser *s, size_t variant, const record *r);

/** Keeps a set, with s->impact. */
FAB_STATUS summary_keep_set(fab_summariser *s, uint64_t scenario, const uint32_t *component, size_t n, fab_error *err);

/** Credits the parts of all sets under a variant; nothing to do for single losses and histories. */
FAB_STATUS summary_credit(fab_summariser *s, size_t variant, fab_error *err);
bool summary_is_credited(const fab_summariser *s, const record *r);

/* A failure within the span; of software and plans only where the job has ranks at first. */
bool summary_counts(const fab_summariser *s, const fab_event *event);

/** Failures of s->history by class, and their part in least squares. */
void summary_count_failures(fab_summariser *s);
void summary_add_causes(const fab_summariser *s, double impact, cause_sums *sums);
void summary_find_causes(const cause_sums *draws, size_t n_draws, fab_study_variant *out);

/** Rankings of components, for a variant whose mean impact is known. */
FAB_STATUS summary_rank(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err);

/** Scenarios that stand out, for a variant. */
FAB_STATUS summary_cases(fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err);

/** How servers are joined to the network; false where they are not. */
bool summary_homing(const fab_fabric *fabric, fab_homing *out);

/** Whether a component is an entire link between NIC and switch, or an end of one. */
bool summary_is_access_loss(const fab_fabric *fabric, const fab_component *c);
