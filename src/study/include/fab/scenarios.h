/**
 * Where failure scenarios come from. Scenario i is a function of the fabric, the text, the seed and i alone: any part
 * of a batch can be made anywhere. See src/doc/adr/0031-failures.md.
 */
#pragma once

#include "fab/failure_spec.h"
#include "fab/floor_plan.h"

#define FAB_SCENARIOS_MOST      UINT64_C(1000000000) /**< scenarios of a source */
#define FAB_SCENARIO_COMPONENTS 64                   /**< of a set */

/** "links", "switches", "nics", "gpus", "servers", "software", "maintenance", "slow gpus", "slow links". */
extern const char *const fab_failure_classes[FAB_FAILURE_N];

/**
 * What a design says, with the figures of its set where it says nothing. checkpoint_s may still be 0 (auto), and
 * pause_s and lag_s are 0: both want a job, see fab_assessment_settle().
 */
fab_failure_rates fab_failure_rates_of(const fab_failure_spec *spec);

/** Mean over a span of how much more often hardware fails by infant mortality; 1 without. */
double fab_infant_mean(const fab_failure_rates *rates, double span_s);

/** Those of a design that says nothing, Llama 3, with checkpoints every 3 h that cost nothing. */
fab_failure_rates fab_failure_rates_default(void);

/** Where the figures of a set come from; a sentence. */
const char *fab_failure_source(fab_rate_set set);

/**
 * Useful time between two checkpoints under which a job loses least that stops at random, so many times a second of
 * running: the tau with (lambda tau - 1) exp(lambda (tau + pause)) + 1 = 0, at least lag_s and 1 s, at most 30 days
 * [Daly 2006, equation 9 and before; Young 1974 to the first order].
 */
double fab_checkpoint_interval(double stops_per_s, double pause_s, double lag_s);

#define FAB_SCENARIO_NAME_SIZE 296

/** Something fails, or is back. */
typedef struct fab_event {
    double time_s;
    fab_failure_class failure;
    bool is_repair;
    fab_component component; /**< of software and maintenance: a GPU that is concerned if a rank is on it */
    double away_s;           /**< of a failure: until the repair */
} fab_event;

/** Scratch for one scenario after the other. */
typedef struct fab_scenario {
    char name[FAB_SCENARIO_NAME_SIZE]; /**< as a file calls it; else empty */
    size_t n_components;               /**< of a set */
    fab_component *component;
    size_t component_capacity;
    size_t n_events;  /**< of a history */
    fab_event *event; /**< by time */
    size_t event_capacity;
} fab_scenario;

void fab_scenario_release(fab_scenario *scenario);

/** A way to take down and bring back the switches of a tier, some at a time: each of its steps is a scenario. */
typedef struct fab_rollout_way {
    uint32_t at_a_time, n_steps;
    bool is_spread; /**< those of a step stand far apart; else side by side */
} fab_rollout_way;

typedef struct fab_scenarios fab_scenarios;

/**
 * Reads a source:
 *
 *     CLASS:K      every set of K components of a class: links (of the network), access-links (between NIC and
 *                  switch), fabric-links (between switches), switches, nics, gpus, servers, racks, planes; in
 *                  lexicographic order
 *     CLASS:K@N    N sets of K, drawn
 *     CLASS:K@classes  of every set of K = 1 or 2 one of each class of equal ones: none until a study has found them
 *     power:rack, cooling:row, cooling:hall, cooling:pod, line-card:PORTS, bundle:racks, bundle:switches,
 *     update:TIER, update:TIER,K
 *                  every event of that kind, by its name: what a rack, row, hall or pod takes along, PORTS neighbouring
 *                  ports of a switch, cables between the same two racks or switches, and the switches of a tier, K at a
 *                  time (without K: 1, 2, 4, ... and all), side by side and far apart
 *     time:T@N     N histories of a time T (30d, 12h): failures of every class at exponential times, and repairs
 *     file:PATH    a list. CSV with the header scenario,component or scenario,component,left and a line for each
 *                  component, lines of a scenario together; or XML: <scenarios><scenario name="..."><component
 *                  name="leaf-3" left="0.5"/></scenario></scenarios>. `left` is the fraction of the capacity that is
 *                  left, 0 by default. A scenario of CSV may have an empty component: nothing fails.
 *
 * @param[in]  fabric  Borrowed, must outlive the source, as `floor`.
 * @param[in]  floor   NULL: there are no racks.
 * @param[in]  rates   Of histories; NULL: fab_failure_rates_default().
 * @retval FAB_EINPUT  what is wrong, and what there is; more than FAB_SCENARIOS_MOST scenarios. In a file err->where is
 *                     the line and column.
 */
FAB_STATUS fab_scenarios_new(const char *text, const fab_fabric *fabric, const fab_floor *floor,
                             const fab_failure_rates *rates, uint64_t seed, fab_scenarios **out, fab_error *err);
void fab_scenarios_free(fab_scenarios *scenarios);
FAB_OWNER(fab_scenarios, fab_scenarios_free)

/** A form of a source as lists show it. */
typedef struct fab_scenario_source {
    const char *text, *summary;
} fab_scenario_source;

/** Ended by a NULL text. */
extern const fab_scenario_source fab_scenario_sources[];

uint64_t fab_scenarios_count(const fab_scenarios *scenarios);

/** Seconds that a history covers; 0: scenarios are sets. */
double fab_scenarios_span_s(const fab_scenarios *scenarios);

/**
 * Scenario i.
 * @param[in,out] out  Zero-initialised or from an earlier call; its memory is reused.
 * @retval FAB_EINPUT  there is no scenario i
 * Complexity: of a set of K O(K^2 log n); of a history O(events * (log(events) + components down)). Threads: concurrent
 * calls with different `out` are safe.
 */
FAB_STATUS fab_scenarios_get(const fab_scenarios *scenarios, uint64_t i, fab_scenario *out, fab_error *err);

/** What becomes of a span of time: parts of it, which add up to 1. */
typedef struct fab_span_parts {
    double useful;  /**< work that stays, at full speed */
    double restart; /**< the job restarts */
    double redo;    /**< work that is done again, at full speed */
    double slow;    /**< lost because the job ran slower; below 0 where it ran faster */
    double wait;    /**< the job can run nowhere */
    double write;   /**< the job stands for a checkpoint */
} fab_span_parts;

/** What a restart is beside others. */
enum {
    FAB_SPAN_JOINS = 1,   /**< ranks move: it takes join_s longer */
    FAB_SPAN_REFORMS = 2, /**< the number of replicas changes: it takes reform_s in place of restart_s */
    FAB_SPAN_PLANNED = 4, /**< the job stops of its own will, behind a checkpoint */
};

/** What a history does to a job. Arrays may be NULL. */
typedef struct fab_span_course {
    const uint8_t *stops; /**< shape [n_events]: whether the event stops the job; NULL: every failure does */
    const uint8_t *waits; /**< shape [n_events]: whether the job can run nowhere from the event on; NULL: it always can
                           */
    const uint8_t *joins; /**< shape [n_events]: of FAB_SPAN_..., what a restart at the event is; NULL: 0 */
    const double *speed;  /**< shape [n_events + 1]: relative speed before the first event and after each, where the job
                             runs; NULL: 1 */
    const uint8_t *is_hot; /**< shape [n_events + 1]: likewise, whether the job has a rank where GPUs are throttled;
                              NULL: it has */
} fab_span_course;

/**
 * A job that is stopped goes back to its last checkpoint that counts and restarts, at once or when it can run somewhere
 * again:
 *
 *     useful + restart + redo + slow + wait + write = 1
 *     useful = (speed x time that it runs - work done again) / span
 *
 * A failure while the job restarts starts that over. A checkpoint begins after every checkpoint_s of work at full
 * speed, but not before the last one counts; the job stands for pause_s, and the checkpoint counts after lag_s. A
 * planned stop waits for one: nothing is done again.
 * @param[in] event  By time; those at span_s or later are left out.
 * Complexity: O(n_events + span_s / checkpoint_s), without pause and lag O(n_events).
 */
fab_span_parts fab_span_split(const fab_event *event, size_t n_events, double span_s, const fab_failure_rates *rates,
                              const fab_span_course *course);
