/* What a job suffers on this fabric: `failures`, `degradation` and `contention`. */
#include "fab/contention.h"
#include "fab/degradation.h"
#include "fab/failures.h"
#include "field_rows.h"
#include "field_tables.h"

#include <math.h>

#define MOVING   "0035-reallocation.md"
#define OUTCOMES "0036-outcomes.md"
#define JOBS     "0030-several-jobs-and-degraded-parts.md"

/* --- what has failed ---------------------------------------------------------------------------------------------- */

#define T fab_failed_phase
static const fab_field FAILED_FIGURES[] = {
    FIELD(disconnected_flows, n_disconnected, "Flows that lose every path, before ranks move."),
    FIELD(collisions, n_collisions, "Network links that are asked for more than is left of them."),
    FIELD(worst_ratio, worst_ratio, "Largest offered rate over what is left of the capacity of a network link."),
    FIELD(worst_link, worst_link, "The link that has it; missing where nothing is carried.", .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields FIGURES = {.name = "failed_figures", .rows = FAILED_FIGURES, .source = OUTCOMES};

static const char *failed_phase_name(const fab_at *at, char *room) {
    (void)room;
    return fab_at_result(at)->failures->phases[at->index];
}

static const fab_field FAILED_PHASES[] = {
    TEXT_BY(phase, failed_phase_name, "Name of the phase."),
    GROUP_HERE(&FIGURES),
    END_OF_FIELDS,
};
static const fab_fields FAILED_PHASE = {
    .name = "failed_phase", .rows = FAILED_PHASES, .size = sizeof(T), .source = OUTCOMES};

#undef T
#define T fab_failed_state
static bool has_time(const fab_at *at) {
    return isfinite(((const T *)at->row)->time_s);
}

static const void *phases_of(const fab_at *at) {
    return ((const T *)at->row)->phases;
}

static size_t count_phases(const fab_at *at) {
    return fab_at_result(at)->failures->n_phases;
}

static const fab_field STATES[] = {
    GROUP(sum, &FIGURES),
    FIGURE(
        time_s, time_s, "s",
        "Time of an iteration, else of all phases one after the other; missing where the job has stopped or times are "
        "not known.",
        .only = has_time),
    END_OF_FIELDS,
};
static const fab_fields STATE = {.name = "failed_state", .rows = STATES, .source = OUTCOMES};

static const fab_field STATE_PHASES[] = {
    LIST_BY(phases, "phase", phases_of, count_phases, &FAILED_PHASE, "The same by phase."),
    END_OF_FIELDS,
};
static const fab_fields STATE_BY_PHASE = {.name = "failed_state_phases", .rows = STATE_PHASES, .source = OUTCOMES};

static const fab_field BASELINES[] = {
    GROUP_HERE(&STATE),
    GROUP_HERE(&STATE_BY_PHASE),
    END_OF_FIELDS,
};
static const fab_fields BASELINE = {.name = "whole_state", .rows = BASELINES, .size = sizeof(T), .source = OUTCOMES};

#undef T
#define T fab_rank_move
static const fab_field MOVES[] = {
    FIELD(from_server, from, "Server that the ranks leave."),
    FIELD(to_server, to, "Server that they run on then."),
    FIELD(healthy, is_healthy, "Whether the first was not lost."),
    END_OF_FIELDS,
};
static const fab_fields MOVE = {.name = "move", .rows = MOVES, .size = sizeof(T), .source = MOVING};

#undef T
typedef struct failed_server {
    uint32_t server;
} failed_server;
#define T failed_server
static const fab_field SERVERS[] = {
    FIELD(server, server, "Number of the server."),
    END_OF_FIELDS,
};
static const fab_fields SERVER = {.name = "server", .rows = SERVERS, .size = sizeof(T), .source = MOVING};

#undef T
#define T fab_failed_policy
static const char *const POLICIES[] = {"none", "first-spare", "same-rack", "same-pod", "same-slice", "collision-aware"};

static const fab_failed_state *baseline_of(const fab_at *at) {
    return &((const fab_failed_engine *)at->up->row)->whole;
}

static double slowdown(const fab_at *at) {
    return ((const T *)at->row)->state.time_s / baseline_of(at)->time_s;
}

static bool has_slowdown(const fab_at *at) {
    return isfinite(((const T *)at->row)->state.time_s) && baseline_of(at)->time_s > 0;
}

static const fab_field POLICY_FIELDS[] = {
    FIELD(policy, policy, "What is done about servers that are lost.", ONE_OF(POLICIES)),
    FIELD(possible, is_possible, "Whether no rank is left on a lost server."),
    GROUP(state, &STATE),
    REAL_BY(slowdown_ratio, slowdown, NULL, "Time over that where nothing has failed.", .only = has_slowdown,
            .formula = "time_s / time_s of `whole`", .labels = "slowdown"),
    FIELD(placements_tried, n_tried, "Placements that the policy evaluated.", .when = FAB_FILLED),
    FIELD(optimal, is_optimal, "Proved: no assignment of the spares to the lost servers does better.", IF(n_tried)),
    LIST(moves, "move", moves, n_moves, &MOVE, "Servers whose ranks move."),
    LIST(unplaced, "server", unplaced, n_unplaced, &SERVER, "Lost servers that no spare was left for."),
    GROUP(state, &STATE_BY_PHASE),
    END_OF_FIELDS,
};
static const fab_fields POLICY = {.name = "failed_policy", .rows = POLICY_FIELDS, .size = sizeof(T), .source = MOVING};

#undef T
#define T fab_failed_engine
static const void *policies_of(const fab_at *at) {
    return ((const T *)at->row)->policies;
}

static size_t count_policies(const fab_at *at) {
    return ((const T *)at->row)->note[0] == '\0' ? fab_at_result(at)->failures->n_policies : 0;
}

static const fab_field FAILED_ENGINES[] = {
    FIELD(engine, label, "The engine with its options."),
    FIELD(note, note, "Why there are no policies.", .when = FAB_FILLED),
    FIELD(saved_collisions, saved_collisions, "Collisions that first-spare has and collision-aware has not.",
          IF(has_saving)),
    FIELD(first_spare_worst_ratio, first_ratio, "Value of worst_ratio where lost ranks move to the first spare.",
          IF(has_saving)),
    FIELD(collision_aware_worst_ratio, aware_ratio,
          "Value of worst_ratio where lost ranks move to the spare whose routes collide least.", IF(has_saving)),
    OBJECT(whole, whole, &BASELINE, "Where nothing has failed."),
    LIST_BY(policies, "policy", policies_of, count_policies, &POLICY, "What every policy does."),
    END_OF_FIELDS,
};
static const fab_fields FAILED_ENGINE = {
    .name = "failed_engine", .rows = FAILED_ENGINES, .size = sizeof(T), .source = MOVING};

#undef T
#define T fab_lost_server
static const fab_field LOST[] = {
    FIELD(server, server, "Number of the server."),
    FIELD(n_ranks, n_ranks, "Ranks that it holds."),
    FIELD(ranks, ranks, "These ranks: 24-31."),
    END_OF_FIELDS,
};
static const fab_fields LOST_SERVER = {.name = "lost_server", .rows = LOST, .size = sizeof(T), .source = MOVING};

#undef T
typedef struct failed_name {
    char name[FAB_FAILED_TEXT];
} failed_name;
typedef struct phase_name {
    char name[FAB_NAME_SIZE];
} phase_name;
#define T failed_name
static const fab_field FAILED_NAMES[] = {
    FIELD(name, name, "The component as given: leaf-3, server-4, leaf-0:17 > spine-0:1*0.5."),
    END_OF_FIELDS,
};
static const fab_fields FAILED_NAME = {
    .name = "failed_component", .rows = FAILED_NAMES, .size = sizeof(T), .source = MOVING};

#undef T
#define T phase_name
static const fab_field PHASE_NAMES[] = {
    FIELD(name, name, "Name of the phase."),
    END_OF_FIELDS,
};
static const fab_fields PHASE_NAME = {
    .name = "phase_left_out", .rows = PHASE_NAMES, .size = sizeof(T), .source = MOVING};

#undef T
#define T fab_failures
static const fab_field FAILURES[] = {
    FIELD(spares, n_spares, "Servers without ranks that have not failed."),
    FIELD(seed, seed, "Seed of the draw that is shown."),
    FIELD(of_iteration, iterates, "Whether times are those of an iteration."),
    LIST(failed, "component", failed, n_failed, &FAILED_NAME, "What has failed."),
    LIST(lost, "server", lost, n_lost, &LOST_SERVER, "Servers with ranks that are dead or cut off."),
    LIST(phases_left_out, "phase", left_out, n_left_out, &PHASE_NAME, "Phases of too many paths."),
    LIST(engines, "engine", engines, n_engines, &FAILED_ENGINE, "Every engine that was asked for."),
    END_OF_FIELDS,
};
const fab_fields fab_failures_fields = {
    .name = "failures",
    .rows = FAILURES,
    .size = sizeof(T),
    .source = MOVING,
    .definition =
        "What one set of failures does under several policies of reallocation: with --fail. Of the first seed; "
        "offered rates are those of whole parts."};

/* --- slower parts ------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_degraded_phase
static const fab_degradation *degradation_of(const fab_at *at) {
    return at->up->row;
}

static bool is_of_seeds(const fab_at *at) {
    return degradation_of(at)->n_seeds > 1;
}

static const char *degraded_phase(const fab_at *at, char *room) {
    (void)room;
    return degradation_of(at)->names[at->index / degradation_of(at)->n_engines];
}

static const char *degraded_engine(const fab_at *at, char *room) {
    (void)room;
    return degradation_of(at)->labels[at->index % degradation_of(at)->n_engines];
}

static size_t count_comms(const fab_at *at) {
    return ((const T *)at->row)->n_named;
}

static const fab_field DEGRADED_PHASES[] = {
    TEXT_BY(phase, degraded_phase, "Name of the phase."),
    TEXT_BY(engine, degraded_engine, "The engine with its options."),
    FIELD(factor_ratio, factor, "How much longer the phase takes with the slower parts.", IF(has_time),
          .formula = "after_s / before_s"),
    FIELD(hit_flows, hit_flows,
          "Flows that cross a slower part, of the first seed; missing where they are too many to follow.",
          IF(has_hits)),
    FIELD(hit_communicators, hit_comms, "Communicators with such a flow.", IF(has_hits)),
    FIGURE(before_s, before_s, "s", "Time of the phase on whole parts.", IF(has_time)),
    FIGURE(after_s, after_s, "s", "Time of the phase with the slower parts.", IF(has_time)),
    SCALARS(communicators, "communicator", comms, count_comms, "The first communicators that are hit.",
            .when = FAB_FILLED),
    END_OF_FIELDS,
};
static const fab_fields DEGRADED_PHASE = {
    .name = "degraded_phase", .rows = DEGRADED_PHASES, .size = sizeof(T), .source = JOBS, .many = is_of_seeds};

#undef T
#define T fab_degraded_iteration
static const fab_field DEGRADED_ITERATIONS[] = {
    TEXT_BY(engine, degraded_engine, "The engine with its options."),
    FIGURE(before_s, before_s, "s", "Time of an iteration on whole parts."),
    FIGURE(after_s, after_s, "s", "Time of an iteration with the slower parts."),
    END_OF_FIELDS,
};
static const fab_fields DEGRADED_ITERATION = {
    .name = "degraded_iteration", .rows = DEGRADED_ITERATIONS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_weak_part
static const fab_field WEAK_PARTS[] = {
    FIELD(part, name, "Name of the part."),
    FIELD(speed_ratio, ratio, "Fraction of its speed that it is left."),
    END_OF_FIELDS,
};
static const fab_fields WEAK_PART = {.name = "slower_part", .rows = WEAK_PARTS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_degradation
static const void *degraded_phases(const fab_at *at) {
    return ((const T *)at->row)->phases;
}

static size_t count_degraded_phases(const fab_at *at) {
    const T *d = at->row;
    return d->n_phases * d->n_engines;
}

static const fab_field DEGRADATION[] = {
    FIELD(cables, n_cables, "Cables that are slower, in both directions."),
    FIELD(compute_ratio, compute_ratio, "Speed of the slowest GPU of the job, for which all wait."),
    LIST(parts, "part", parts, n_parts, &WEAK_PART, "The slower parts."),
    LIST(iterations, "iteration", iterations, n_iterations, &DEGRADED_ITERATION, "Iterations of a training job.",
         .when = FAB_FILLED),
    LIST_BY(phases, "phase", degraded_phases, count_degraded_phases, &DEGRADED_PHASE,
            "Every phase under every engine."),
    END_OF_FIELDS,
};
const fab_fields fab_degradation_fields = {.name = "degradation",
                                           .rows = DEGRADATION,
                                           .size = sizeof(T),
                                           .source = JOBS,
                                           .definition =
                                               "The same traffic on whole parts and on slower ones: with --degrade."};

/* --- several jobs ------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_phase_alone
static const fab_contention *contention_of(const fab_at *at) {
    return fab_at_result(at)->contention;
}

static const char *alone_phase(const fab_at *at, char *room) {
    (void)room;
    const fab_contending_job *job = at->up->row;
    return job->phases[at->index / contention_of(at)->n_engines];
}

static const char *alone_engine(const fab_at *at, char *room) {
    (void)room;
    return contention_of(at)->engines[at->index % contention_of(at)->n_engines].label;
}

static uint64_t alone_flows(const fab_at *at) {
    const fab_contending_job *job = at->up->row;
    return job->network_flows[at->index / contention_of(at)->n_engines];
}

static const fab_field ALONE[] = {
    TEXT_BY(phase, alone_phase, "Name of the phase."),
    TEXT_BY(engine, alone_engine, "The engine with its options."),
    COUNT_BY(network_flows, alone_flows, "Flows that leave a scale-up domain."),
    FIGURE(time_s, time_s, "s",
           "Time of the phase alone, latency included, mean over the seeds; missing where it is not known.",
           IF(has_time)),
    FIGURE(latency_s, latency_s, "s", "Latency of all its steps in one iteration.", IF(has_time)),
    END_OF_FIELDS,
};
static const fab_fields PHASE_ALONE = {.name = "phase_alone", .rows = ALONE, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_contending_job
static const void *alone_of(const fab_at *at) {
    return ((const T *)at->row)->alone;
}

static size_t count_alone(const fab_at *at) {
    return ((const T *)at->row)->n_phases * contention_of(at)->n_engines;
}

static const fab_field CONTENDING_JOBS[] = {
    FIELD(job, id, "Name of the job."),
    FIELD(traffic, traffic, "What is replayed.", .when = FAB_FILLED),
    FIELD(gpus, n_gpus, "GPUs of the job."),
    FIELD(servers, n_servers, "Servers of the job."),
    FIELD(contends, phase, "Phase that overlaps with those of the others; missing where none does.",
          .when = FAB_FILLED),
    LIST_BY(alone, "phase", alone_of, count_alone, &PHASE_ALONE, "Its phases alone on the fabric."),
    END_OF_FIELDS,
};
static const fab_fields CONTENDING_JOB = {
    .name = "contending_job", .rows = CONTENDING_JOBS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_meeting
static const fab_contention_engine *engine_of(const fab_at *at) {
    return at->up->row;
}

static bool is_of_engine_seeds(const fab_at *at) {
    return engine_of(at)->n_seeds > 1;
}

static const char *meeting_job(const fab_at *at, char *room) {
    (void)room;
    return contention_of(at)->jobs[at->index].id;
}

static const char *meeting_phase(const fab_at *at, char *room) {
    (void)room;
    return contention_of(at)->jobs[at->index].phase;
}

static bool contends_not(const fab_at *at) {
    return contention_of(at)->jobs[at->index].phase[0] == '\0';
}

static const fab_field MEETINGS[] = {
    TEXT_BY(job, meeting_job, "Name of the job."),
    TEXT_BY(phase, meeting_phase, "Its phase that contends."),
    FIELD(shared_links, shared_links, "Network links that carry this job and another."),
    FIGURE(iteration_alone_s, iteration_alone_s, "s", "Iteration of the job alone.", IF(has_iteration)),
    FIGURE(iteration_together_s, iteration_together_s, "s",
           "Iteration of the job whose contending phase takes together_s.", IF(has_iteration)),
    FIGURE(alone_s, alone_s, "s", "Time of the contending phase while its job is alone.", .labels = "alone"),
    FIGURE(together_s, together_s, "s", "Time of the contending phase while those of the other jobs start with it.",
           .labels = "together"),
    FIELD(slowdown_ratio, slowdown, "Time together over time alone, seed by seed.", .formula = "together_s / alone_s",
          .labels = "slowdown"),
    END_OF_FIELDS,
};
static const fab_fields MEETING = {.name = "contending_phase",
                                   .rows = MEETINGS,
                                   .size = sizeof(T),
                                   .source = JOBS,
                                   .many = is_of_engine_seeds,
                                   .is_left_out = contends_not};

#undef T
#define T fab_shared_tier
static const char *shared_boundary(const fab_at *at, char *room) {
    (void)room;
    return fab_boundary_name(contention_of(at)->wiring, ((const T *)at->row)->tier);
}

static const char *shared_direction(const fab_at *at, char *room) {
    (void)room;
    const T *t = at->row;
    return fab_direction_name(contention_of(at)->wiring, t->tier, t->up);
}

static const fab_field SHARED_BOUNDARIES[] = {
    TEXT_BY(boundary, shared_boundary, FAB_BOUNDARY_TEXT),
    TEXT_BY(direction, shared_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIELD(links, links, "Links of the boundary in this direction."),
    FIELD(used, used, "Links that carry something."),
    FIELD(shared, shared, "Links that several jobs share."),
    END_OF_FIELDS,
};
static const fab_fields SHARED_BOUNDARY = {
    .name = "shared_boundary", .rows = SHARED_BOUNDARIES, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_link_part
static const char *part_job(const fab_at *at, char *room) {
    (void)room;
    return contention_of(at)->jobs[((const T *)at->row)->job].id;
}

static const fab_field LINK_PARTS[] = {
    TEXT_BY(job, part_job, "Name of the job."),
    FIGURE(busy_s, busy_s, "s", "Time that the link needs for the bytes of this job.",
           .formula = "bytes * 8 / capacity_bps"),
    END_OF_FIELDS,
};
static const fab_fields LINK_PART = {.name = "link_part", .rows = LINK_PARTS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_shared_link
static const fab_field SHARED_LINKS[] = {
    FIELD(link, name, "Name of the link: node:port > node:port."),
    FIGURE(busy_s, busy_s, "s", "Time that the link needs for the bytes of all jobs.",
           .formula = "bytes * 8 / capacity_bps"),
    ARRAY(jobs, "job", parts, n_parts, &LINK_PART, "The jobs that share it."),
    END_OF_FIELDS,
};
static const fab_fields SHARED_LINK = {.name = "shared_link", .rows = SHARED_LINKS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_contention_engine
static const void *meetings_of(const fab_at *at) {
    return ((const T *)at->row)->jobs;
}

static size_t count_jobs(const fab_at *at) {
    return contention_of(at)->n_jobs;
}

static const fab_field CONTENTION_ENGINES[] = {
    FIELD(engine, label, "The engine with its options."),
    FIELD(seeds, n_seeds, "Seeds that the figures are taken over."),
    FIELD(links_of_several_jobs, n_shared, "Network links that several jobs share, of the first seed."),
    LIST_BY(jobs, "job", meetings_of, count_jobs, &MEETING, "Jobs whose phase contends."),
    ARRAY(boundaries, "boundary", tiers, n_tiers, &SHARED_BOUNDARY, "Links by boundary and direction."),
    ARRAY(shared_links, "link", worst, n_worst, &SHARED_LINK, "Links that need longest for the bytes of all jobs."),
    END_OF_FIELDS,
};
static const fab_fields CONTENTION_ENGINE = {
    .name = "contention_engine", .rows = CONTENTION_ENGINES, .size = sizeof(T), .source = JOBS};

#undef T
typedef struct cell {
    double slowdown;
} cell;
#define T cell
static const fab_contending_job *jobs_of(const fab_at *at, bool is_other) { /* of a pair */
    const fab_interference *pair = at->row;
    return &contention_of(at)->jobs[is_other ? pair->other : pair->job];
}

static const char *cell_phase(const fab_at *at, char *room) {
    (void)room;
    const fab_interference *pair = at->up->row;
    return jobs_of(at->up, false)->phases[pair->phase[at->index / pair->n_columns]];
}

static const char *cell_other_phase(const fab_at *at, char *room) {
    (void)room;
    const fab_interference *pair = at->up->row;
    return jobs_of(at->up, true)->phases[pair->other_phase[at->index % pair->n_columns]];
}

static const fab_field CELLS[] = {
    TEXT_BY(phase, cell_phase, "Phase of the job that is slowed."),
    TEXT_BY(other_phase, cell_other_phase, "Phase of the other job."),
    FIELD(slowdown_ratio, slowdown, "Mean time together over mean time alone.", .formula = "together / alone"),
    END_OF_FIELDS,
};
static const fab_fields CELL = {.name = "interference_cell", .rows = CELLS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_interference
static const char *pair_engine(const fab_at *at, char *room) {
    (void)room;
    return contention_of(at)->engines[((const T *)at->row)->engine].label;
}

static const char *pair_job(const fab_at *at, char *room) {
    (void)room;
    return jobs_of(at, false)->id;
}

static const char *pair_other(const fab_at *at, char *room) {
    (void)room;
    return jobs_of(at, true)->id;
}

static bool has_cells(const fab_at *at) {
    const T *pair = at->row;
    return pair->n_rows > 0 && pair->n_columns > 0;
}

static const char *worst_phase(const fab_at *at, char *room) {
    (void)room;
    const T *pair = at->row;
    return jobs_of(at, false)->phases[pair->phase[pair->worst_row]];
}

static const char *worst_other_phase(const fab_at *at, char *room) {
    (void)room;
    const T *pair = at->row;
    return jobs_of(at, true)->phases[pair->other_phase[pair->worst_column]];
}

static const void *cells_of(const fab_at *at) {
    return ((const T *)at->row)->slowdown;
}

static size_t count_cells(const fab_at *at) {
    const T *pair = at->row;
    return pair->n_rows * pair->n_columns;
}

static const fab_field PAIRS[] = {
    TEXT_BY(engine, pair_engine, "The engine with its options."),
    TEXT_BY(job, pair_job, "The job that is slowed."),
    TEXT_BY(other, pair_other, "The job that slows it."),
    FIELD(mean_slowdown_ratio, mean, "Mean slowdown of two phases, weighted by their times alone."),
    FIELD(worst_slowdown_ratio, worst, "Slowdown of the pair of phases that suffers most.", .only = has_cells),
    TEXT_BY(worst_phase, worst_phase, "Its phase of the job that is slowed.", .only = has_cells),
    TEXT_BY(worst_other_phase, worst_other_phase, "Its phase of the other job.", .only = has_cells),
    LIST_BY(cells, "cell", cells_of, count_cells, &CELL, "All pairs of phases."),
    END_OF_FIELDS,
};
static const fab_fields PAIR = {.name = "interference", .rows = PAIRS, .size = sizeof(T), .source = JOBS};

#undef T
#define T fab_contention
static const fab_field CONTENTION[] = {
    LIST(jobs, "job", jobs, n_jobs, &CONTENDING_JOB, "The jobs."),
    LIST(engines, "engine", engines, n_engines, &CONTENTION_ENGINE, "The jobs together under every engine."),
    LIST(interference, "pair", interference, n_interference, &PAIR,
         "With --interference: every network phase of a job against every one of another.", .when = FAB_FILLED),
    END_OF_FIELDS,
};
const fab_fields fab_contention_fields = {
    .name = "contention",
    .rows = CONTENTION,
    .size = sizeof(T),
    .source = JOBS,
    .definition =
        "What jobs on one fabric do to each other: `run` of a design with several. The phases that contend start "
        "at once and share links max-min fairly until each job has sent the bytes of one iteration."};
