/* What a job suffers on this fabric: `failures`, `degradation` and `contention`. */
#include "fab/contention.h"
#include "fab/degradation.h"
#include "fab/failures.h"
#include "field_rows.h"
#include "field_tables.h"

#define MIGRATION "0035-reallocation.md"
#define OUTCOMES  "0036-outcomes.md"
#define JOBS      "0030-several-jobs-and-degraded-parts.md"

/* --- what has failed ---------------------------------------------------------------------------------------------- */

#define T fab_failed_phase
static const fab_field FAILED_FIGURES[] = {
    FIELD_OF(disconnected_flows, n_disconnected,
             "Flows of which no path is left, by any NIC and plane of their GPUs, before ranks move."),
    FIELD_OF(collisions, n_collisions, "Network links that are offered more than their residual capacity."),
    FIELD(worst_ratio, "Largest offered rate over the residual capacity of a network link."),
    FIELD(worst_link, "The link that has it; missing where nothing is carried.", FILLED),
};
static const fab_fields FIGURES = VIEW("failed_figures", FAILED_FIGURES, OUTCOMES);

GIVES(const char *, failed_phase_name, fab_at_result(at)->failures->phases[at->index]);

GIVES(bool, is_timed, isfinite(here->time_s));
static const fab_field FAILED_PHASES[] = {
    TEXT_BY(phase, failed_phase_name, "Name of the phase."),
    GROUP_HERE(&FIGURES),
    FIGURE(time_s, "s",
           "Time of all that an iteration has of the phase, latency included; missing where the job has stopped, times "
           "are not known, or the phase has no part in them.",
           .only = is_timed),
    FIELD_OF(requests, requests.n,
             "GPUs that wait for an execution of the phase; where its steps depend on each other, communicators. Of "
             "serving and of all-to-alls (ranking, experts).",
             IF(requests.n)),
    FIGURE_OF(request_p50_s, requests.p50_s, "s", "Time within which half of them have all they wait for.",
              IF(requests.n)),
    FIGURE_OF(request_p99_s, requests.p99_s, "s",
              "Time within which 99 % of the requests of an exchange are answered: a GPU has all that is sent to it in "
              "one execution. By nearest rank.",
              IF(requests.n), .formula = "(time until its last flow has arrived + latency of the phase) / executions"),
    FIGURE_OF(request_max_s, requests.max_s, "s", "Time within which all of them have.", IF(requests.n)),
};
static const fab_fields FAILED_PHASE = TABLE("failed_phase", FAILED_PHASES, OUTCOMES);

#undef T
#define T fab_failed_state
GIVES(bool, has_time, isfinite(here->time_s));
GIVES(size_t, count_phases, fab_at_result(at)->failures->n_phases);

static const fab_field STATES[] = {
    GROUP(sum, &FIGURES),
    FIGURE(time_s, "s",
           "Time of an iteration, else of all phases one after the other; missing where the job has stopped or times "
           "are not known.",
           .only = has_time),
};
static const fab_fields STATE = VIEW("failed_state", STATES, OUTCOMES);

static const fab_field STATE_PHASES[] = {
    LIST_OF(phases, "phase", phases, count_phases, &FAILED_PHASE, "The same by phase."),
};
static const fab_fields STATE_BY_PHASE = VIEW("failed_state_phases", STATE_PHASES, OUTCOMES);

static const fab_field BASELINES[] = {
    GROUP_HERE(&STATE),
    GROUP_HERE(&STATE_BY_PHASE),
};
static const fab_fields BASELINE = TABLE("whole_state", BASELINES, OUTCOMES);

#undef T
#define T fab_rank_move
static const fab_field MOVES[] = {
    FIELD_OF(from_server, from, "Server that the ranks leave."),
    FIELD_OF(to_server, to, "Server that they run on then."),
    FIELD_OF(healthy, is_healthy, "Whether the first was not lost."),
};
static const fab_fields MOVE = TABLE("move", MOVES, MIGRATION);

#undef T
typedef struct failed_server {
    uint32_t server;
} failed_server;
#define T failed_server
static const fab_field SERVERS[] = {
    FIELD(server, "Number of the server."),
};
static const fab_fields SERVER = TABLE("server", SERVERS, MIGRATION);

#undef T
#define T fab_failed_serving
GIVES(bool, is_served, isfinite(here->most_requests_per_s));
GIVES(bool, is_first_known, isfinite(here->first_token_s[0]));

static const fab_field SERVED[] = {
    FIELD_OF(replicas, n, "Replicas of the job."),
    FIELD_OF(replicas_left, n_left,
             "Replicas that go on: that have lost no rank, nor share experts with one that has."),
    FIELD_OF(reading_replicas_left, n_reading, "Of them those of the pool that reads prompts.", FILLED),
    FIGURE(most_requests_per_s, "1/s", "Requests that do not make the queue grow without end.", .only = is_served),
    FIGURE(arrivals_per_s, "1/s", "Requests that arrive, as on the healthy fabric.", FILLED),
    FIGURE_OF(first_token_p50_s, first_token_s[0], "s",
              "Time from arrival to the first token, queue included: median; missing where more arrive than can be "
              "served.",
              .only = is_first_known),
    FIGURE_OF(first_token_p99_s, first_token_s[1], "s", "The same that 99 of 100 requests stay within.",
              .only = is_first_known),
};
static const fab_fields SERVES = TABLE("failed_serving", SERVED, MIGRATION);

#undef T
#define T fab_failed_policy
static const char *const POLICIES[] = {"none", "first-spare", "same-rack", "same-pod", "same-slice", "collision-aware"};

GIVES(const fab_failed_state *, baseline_of, &((const fab_failed_engine *)at->up->row)->healthy);
GIVES(double, slowdown, here->state.time_s / baseline_of(at)->time_s);
GIVES(bool, has_slowdown, isfinite(here->state.time_s) && baseline_of(at)->time_s > 0);

static const fab_field POLICY_FIELDS[] = {
    FIELD(policy, "What is done about servers that are lost.", ONE_OF(POLICIES)),
    FIELD_OF(possible, is_possible, "Whether no rank is left on a lost server."),
    GROUP(state, &STATE),
    REAL_BY(slowdown_ratio, slowdown, NULL, "Time over that where nothing has failed.", .only = has_slowdown,
            .formula = "time_s / time_s of `healthy`", .labels = "slowdown"),
    FIELD_OF(placements_tried, n_tried, "Placements that the policy evaluated.", FILLED),
    FIGURE(added_ci95_s, "s", "Half the 95 % interval, over the seeds, of what it takes longer.", FILLED),
    FIELD_OF(optimal, is_optimal, "Proved: no assignment of the spares to the lost servers does better.", IF(n_tried)),
    OBJECT(serving, serving, &SERVES, "A serving job on the replicas that are left.", IF(serving.n)),
    LIST(moves, "move", moves, n_moves, &MOVE, "Servers whose ranks move."),
    LIST(unplaced, "server", unplaced, n_unplaced, &SERVER, "Lost servers that no spare was left for."),
    GROUP(state, &STATE_BY_PHASE),
};
static const fab_fields POLICY = TABLE("failed_policy", POLICY_FIELDS, MIGRATION);

#undef T
#define T fab_failed_engine
GIVES(size_t, count_policies, here->note[0] == '\0' ? fab_at_result(at)->failures->n_policies : 0);

static const fab_field FAILED_ENGINES[] = {
    FIELD_OF(engine, label, "The engine with its options."),
    FIELD(note, "Why there are no policies.", FILLED),
    FIELD(saved_collisions, "Collisions that first-spare has and collision-aware has not.", IF(has_saving)),
    FIELD_OF(first_spare_worst_ratio, first_ratio, "Value of worst_ratio where lost ranks move to the first spare.",
             IF(has_saving)),
    FIELD_OF(collision_aware_worst_ratio, aware_ratio,
             "Value of worst_ratio where lost ranks move to the spare whose routes collide least.", IF(has_saving)),
    OBJECT(healthy, healthy, &BASELINE, "Where nothing has failed."),
    LIST_OF(policies, "policy", policies, count_policies, &POLICY, "What every policy does."),
};
static const fab_fields FAILED_ENGINE = TABLE("failed_engine", FAILED_ENGINES, MIGRATION);

#undef T
#define T fab_lost_server
static const fab_field LOST[] = {
    FIELD(server, "Number of the server."),
    FIELD(n_ranks, "Ranks that it holds."),
    FIELD(ranks, "These ranks: 24-31."),
};
static const fab_fields LOST_SERVER = TABLE("lost_server", LOST, MIGRATION);

#undef T
typedef struct failed_name {
    char name[FAB_FAILED_TEXT];
} failed_name;
typedef struct phase_name {
    char name[FAB_NAME_SIZE];
} phase_name;
#define T failed_name
static const fab_field FAILED_NAMES[] = {
    FIELD(name, "The component as given: leaf-3, server-4, leaf-0:17 > spine-0:1*0.5."),
};
static const fab_fields FAILED_NAME = TABLE("failed_component", FAILED_NAMES, MIGRATION);

#undef T
#define T phase_name
static const fab_field PHASE_NAMES[] = {
    FIELD(name, "Name of the phase."),
};
static const fab_fields PHASE_NAME = TABLE("phase_left_out", PHASE_NAMES, MIGRATION);

#undef T
#define T fab_failures
static const fab_field FAILURES[] = {
    FIELD_OF(spares, n_spares, "Servers without ranks that have not failed."),
    FIELD(seed, "Seed of the draw that is shown; with several seeds times are means over them."),
    FIELD_OF(seeds, n_seeds, "Times of iterations and phases are means over so many seeds.", FILLED),
    FIELD_OF(of_iteration, iterates, "Whether times are those of an iteration."),
    LIST(failed, "component", failed, n_failed, &FAILED_NAME, "What has failed."),
    LIST(lost, "server", lost, n_lost, &LOST_SERVER, "Servers with ranks that are dead or cut off."),
    LIST(phases_left_out, "phase", left_out, n_left_out, &PHASE_NAME, "Phases of too many paths."),
    LIST(engines, "engine", engines, n_engines, &FAILED_ENGINE, "Every engine that was asked for."),
};
const fab_fields fab_failures_fields =
    TABLE("failures", FAILURES, MIGRATION,
          .definition = "What one set of failures does under several policies of reallocation: with --fail. Of the "
                        "first seed; offered rates are those of the healthy fabric.");

/* --- slower parts ------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_degraded_phase
GIVES(const fab_degradation *, degradation_of, at->up->row);
GIVES(bool, is_of_seeds, degradation_of(at)->n_seeds > 1);
GIVES(const char *, degraded_phase, degradation_of(at)->names[at->index / degradation_of(at)->n_engines]);
GIVES(const char *, degraded_engine, degradation_of(at)->labels[at->index % degradation_of(at)->n_engines]);

static const fab_field DEGRADED_PHASES[] = {
    TEXT_BY(phase, degraded_phase, "Name of the phase."),
    TEXT_BY(engine, degraded_engine, "The engine with its options."),
    FIELD_OF(factor_ratio, factor, "How much longer the phase takes with the slower parts.", IF(has_time),
             .formula = "after_s / before_s"),
    FIELD(hit_flows, "Flows that cross a slower part, of the first seed; missing where they are too many to follow.",
          IF(has_hits)),
    FIELD_OF(hit_communicators, hit_comms, "Communicators with such a flow.", IF(has_hits)),
    FIGURE(before_s, "s", "Time of the phase on the healthy fabric.", IF(has_time)),
    FIGURE(after_s, "s", "Time of the phase with the slower parts.", IF(has_time)),
    SCALARS(communicators, "communicator", comms, "The first communicators that are hit.", COUNTED(n_named), FILLED),
};
static const fab_fields DEGRADED_PHASE = TABLE("degraded_phase", DEGRADED_PHASES, JOBS, .many = is_of_seeds);

#undef T
#define T fab_degraded_iteration
static const fab_field DEGRADED_ITERATIONS[] = {
    TEXT_BY(engine, degraded_engine, "The engine with its options."),
    FIGURE(before_s, "s", "Time of an iteration on the healthy fabric."),
    FIGURE(after_s, "s", "Time of an iteration with the slower parts."),
};
static const fab_fields DEGRADED_ITERATION = TABLE("degraded_iteration", DEGRADED_ITERATIONS, JOBS);

#undef T
#define T fab_weak_part
static const fab_field WEAK_PARTS[] = {
    FIELD_OF(part, name, "Name of the part."),
    FIELD_OF(speed_ratio, ratio, "Fraction of its speed that it is left."),
};
static const fab_fields WEAK_PART = TABLE("slower_part", WEAK_PARTS, JOBS);

#undef T
#define T fab_degradation
GIVES(size_t, count_degraded_phases, here->n_phases * here->n_engines);

static const fab_field DEGRADATION[] = {
    FIELD_OF(cables, n_cables, "Cables that are slower, in both directions."),
    FIELD(compute_ratio, "Speed of the slowest GPU of the job, for which all wait."),
    LIST(parts, "part", parts, n_parts, &WEAK_PART, "The slower parts."),
    LIST(iterations, "iteration", iterations, n_iterations, &DEGRADED_ITERATION, "Iterations of a training job.",
         FILLED),
    LIST_OF(phases, "phase", phases, count_degraded_phases, &DEGRADED_PHASE, "Every phase under every engine."),
};
const fab_fields fab_degradation_fields =
    TABLE("degradation", DEGRADATION, JOBS,
          .definition = "The same traffic on the healthy fabric and on slower parts: with --degrade.");

/* --- several jobs ------------------------------------------------------------------------------------------------- */

#undef T
#define T fab_phase_alone
GIVES(const fab_contention *, contention_of, fab_at_result(at)->contention);

GIVES(const fab_contending_job *, job_alone, at->up->row);
GIVES(const char *, alone_phase, job_alone(at)->phases[here->phase]);
GIVES(const char *, alone_engine, contention_of(at)->engines[here->engine].label);

GIVES(uint64_t, alone_flows, job_alone(at)->network_flows[here->phase]);

static const fab_field ALONE[] = {
    TEXT_BY(phase, alone_phase, "Name of the phase."),
    TEXT_BY(engine, alone_engine, "The engine with its options."),
    COUNT_BY(network_flows, alone_flows, "Flows that leave a scale-up domain."),
    FIGURE(time_s, "s",
           "Time of the phase alone, latency included, mean over the seeds; missing where it is not known.",
           IF(has_time)),
    FIGURE(latency_s, "s", "Latency of all its steps in one iteration.", IF(has_time)),
};
static const fab_fields PHASE_ALONE = TABLE("phase_alone", ALONE, JOBS);

#undef T
#define T fab_contending_job
static const fab_field CONTENDING_JOBS[] = {
    FIELD_OF(job, id, "Name of the job."),
    FIELD(traffic, "What is replayed.", FILLED),
    FIELD(model, "Its model, where it has a named one.", FILLED),
    FIELD(plan, "Its parallel sizes; cp and ep where they are above 1."),
    FIELD(plan_keys, "What to type for its plan, where a search found it for the job alone on its servers.", FILLED,
          .source = "0120-plans-of-several-jobs.md"),
    FIELD_OF(gpus, n_gpus, "GPUs of the job."),
    FIELD_OF(servers, n_servers, "Servers of the job."),
    FIELD_OF(contends, phase, "Phase that overlaps with those of the others; missing where none does.", FILLED),
    FIELD(engines, "Places of the engines that run it so, from 1, where not all have the same plans.", FILLED,
          .source = "0120-plans-of-several-jobs.md"),
    LIST(alone, "phase", alone, n_alone, &PHASE_ALONE, "Its phases alone on the fabric."),
};
static const fab_fields CONTENDING_JOB = TABLE("contending_job", CONTENDING_JOBS, JOBS);

#undef T
#define T fab_contended_phase
GIVES(const fab_contention_engine *, engine_of, at->up->row);
GIVES(bool, is_of_engine_seeds, engine_of(at)->n_seeds > 1);
GIVES(const char *, meeting_job, contention_of(at)->jobs[at->index].id);
GIVES(const char *, meeting_phase, contention_of(at)->jobs[engine_of(at)->first_job + at->index].phase);
GIVES(bool, contends_not, contention_of(at)->jobs[engine_of(at)->first_job + at->index].phase[0] == '\0');

GIVES(const char *, meeting_rival, contention_of(at)->jobs[here->rival].id);

/* "" where nothing helps it, or nothing was tried under this engine. */
static const char *meeting_remedy(const fab_at *at) {
    const fab_contention *c = contention_of(at);
    const size_t i = at->up->row == &c->engines[c->remedied] ? fab_contention_remedy(c, at->index) : c->n_remedies;
    return i < c->n_remedies ? c->remedies[i].what : "";
}

static const fab_field MEETINGS[] = {
    TEXT_BY(job, meeting_job, "Name of the job."),
    TEXT_BY(phase, meeting_phase, "Its phase that contends."),
    FIELD(shared_links, "Network links that carry this job and another."),
    FIELD_OF(left_out, n_tried,
             "Other jobs that were left out in turn, those that stay standing where they stand; with expected_s those "
             "whose part of it is known.",
             FILLED),
    TEXT_BY(loses_most_to, meeting_rival,
            "Of these the one without which the job takes least; missing where it takes as long "
            "without any, as far as the seeds tell.",
            IF(has_rival)),
    FIELD_OF(rivals_even, n_rivals_even, "Others without which it takes as little.", IF(has_rival)),
    FIGURE(without_s, "s",
           "What the job takes without loses_most_to: its iteration, by chance where there is expected_s, else its "
           "phase.",
           IF(has_rival), .formula = "the same of a design without that job"),
    FIELD_OF(meets_on, rival_link,
             "The link that both use and that the job's bytes leave last, jobs taking turns; first seed.",
             IF(has_rival)),
    TEXT_BY(to_do, meeting_remedy, "The easiest of `remedies` that helps the job most.", FILLED),
    FIGURE(iteration_alone_s, "s", "Iteration of the job alone.", IF(has_iteration)),
    FIGURE(iteration_together_s, "s", "Iteration of the job whose contending phase takes together_s.",
           IF(has_iteration)),
    FIGURE(expected_s, "s",
           "Iteration where phases meet by chance: clocks are the jobs' own, and every network phase meets those of "
           "the others.",
           FILLED,
           .formula = "iteration_alone_s + sum over pairs of phases of (iteration, started at once - "
                      "iteration_alone_s) * longer phase of the two / the other's iteration_alone_s"),
    FIELD(costs_gpus, "GPUs of the other jobs whose time the job costs so.", FILLED,
          .formula = "sum over the others of gpus * what they lose to it / expected_s"),
    FIGURE(alone_s, "s", "Time of the contending phase while its job is alone.", .labels = "alone"),
    FIGURE(together_s, "s", "Time of the contending phase while those of the other jobs start with it.",
           .labels = "together"),
    FIELD_OF(slowdown_ratio, slowdown, "Time together over time alone, seed by seed.",
             .formula = "together_s / alone_s", .labels = "slowdown"),
};
static const fab_fields MEETING =
    TABLE("contending_phase", MEETINGS, JOBS, .many = is_of_engine_seeds, .is_left_out = contends_not);

#undef T
#define T fab_shared_tier
GIVES(const char *, shared_boundary, fab_boundary_name(contention_of(at)->wiring, here->tier));
GIVES(const char *, shared_direction, fab_direction_name(contention_of(at)->wiring, here->tier, here->up));

static const fab_field SHARED_BOUNDARIES[] = {
    TEXT_BY(boundary, shared_boundary, FAB_BOUNDARY_TEXT),
    TEXT_BY(direction, shared_direction, FAB_DIRECTION_TEXT, ONE_OF(fab_directions)),
    FIELD(links, "Links of the boundary in this direction."),
    FIELD(used, "Links that carry something."),
    FIELD(shared, "Links that several jobs share."),
};
static const fab_fields SHARED_BOUNDARY = TABLE("shared_boundary", SHARED_BOUNDARIES, JOBS);

#undef T
#define T fab_link_part
GIVES(const char *, part_job, contention_of(at)->jobs[here->job].id);

static const fab_field LINK_PARTS[] = {
    TEXT_BY(job, part_job, "Name of the job."),
    FIGURE(busy_s, "s", "Time that the link needs for the bytes of this job.", .formula = "bytes * 8 / capacity_bps"),
};
static const fab_fields LINK_PART = TABLE("link_part", LINK_PARTS, JOBS);

#undef T
#define T fab_shared_link
static const fab_field SHARED_LINKS[] = {
    FIELD_OF(link, name, "Name of the link: node:port > node:port."),
    FIGURE(busy_s, "s", "Time that the link needs for the bytes of all jobs.", .formula = "bytes * 8 / capacity_bps"),
    ARRAY(jobs, "job", parts, n_parts, &LINK_PART, "The jobs that share it."),
};
static const fab_fields SHARED_LINK = TABLE("shared_link", SHARED_LINKS, JOBS);

#undef T
#define T fab_contention_engine
GIVES(size_t, count_jobs, contention_of(at)->n_jobs);

static const fab_field CONTENTION_ENGINES[] = {
    FIELD_OF(engine, label, "The engine with its options."),
    FIELD_OF(seeds, n_seeds, "Seeds that the figures are taken over."),
    FIGURE(all_jobs_s, "s", "Iteration, else phase, of all jobs together, mean over their GPUs.", FILLED,
           .formula = "sum of gpus * together / sum of gpus"),
    FIELD(lost_ratio,
          "Part of the GPUs' time that jobs with an iteration take longer beside each other; where none has one, all.",
          SIGNED, .formula = "sum of gpus * (1 - alone / together) / sum of gpus"),
    FIELD(expected_lost_ratio, "The same where phases meet by chance.", IF(has_expected),
          .formula = "sum of costs_gpus / sum of gpus"),
    FIELD_OF(links_of_several_jobs, n_shared, "Network links that several jobs share, of the first seed."),
    LIST_OF(jobs, "job", jobs, count_jobs, &MEETING, "Jobs whose phase contends."),
    ARRAY(boundaries, "boundary", tiers, n_tiers, &SHARED_BOUNDARY, "Links by boundary and direction."),
    ARRAY(shared_links, "link", worst, n_worst, &SHARED_LINK, "Links that need longest for the bytes of all jobs."),
};
static const fab_fields CONTENTION_ENGINE = TABLE("contention_engine", CONTENTION_ENGINES, JOBS);

#undef T
typedef struct cell {
    double slowdown;
} cell;
#define T cell
static const fab_contending_job *jobs_of(const fab_at *at, bool is_other) { /* of a pair */
    const fab_interference *pair = at->row;
    return fab_contending(contention_of(at), pair->engine, is_other ? pair->other : pair->job);
}

GIVES(const fab_interference *, pair_of, at->up->row);
GIVES(const char *, cell_phase, jobs_of(at->up, false)->phases[pair_of(at)->phase[at->index / pair_of(at)->n_columns]]);

GIVES(const char *, cell_other_phase,
      jobs_of(at->up, true)->phases[pair_of(at)->other_phase[at->index % pair_of(at)->n_columns]]);

static const fab_field CELLS[] = {
    TEXT_BY(phase, cell_phase, "Phase of the job that is slowed."),
    TEXT_BY(other_phase, cell_other_phase, "Phase of the other job."),
    FIELD_OF(slowdown_ratio, slowdown, "Mean time together over mean time alone.", .formula = "together / alone"),
};
static const fab_fields CELL = TABLE("interference_cell", CELLS, JOBS);

#undef T
#define T fab_interference
GIVES(const char *, pair_engine, contention_of(at)->engines[here->engine].label);
GIVES(const char *, pair_job, jobs_of(at, false)->id);
GIVES(const char *, pair_other, jobs_of(at, true)->id);
GIVES(bool, has_cells, here->n_rows > 0 && here->n_columns > 0);
GIVES(const char *, worst_phase, jobs_of(at, false)->phases[here->phase[here->worst_row]]);
GIVES(const char *, worst_other_phase, jobs_of(at, true)->phases[here->other_phase[here->worst_column]]);
GIVES(size_t, count_cells, here->n_rows * here->n_columns);

static const fab_field PAIRS[] = {
    TEXT_BY(engine, pair_engine, "The engine with its options."),
    TEXT_BY(job, pair_job, "The job that is slowed."),
    TEXT_BY(other, pair_other, "The job that slows it."),
    FIELD_OF(mean_slowdown_ratio, mean, "Mean slowdown of two phases, weighted by their times alone."),
    FIELD_OF(worst_slowdown_ratio, worst, "Slowdown of the pair of phases that suffers most.", .only = has_cells),
    TEXT_BY(worst_phase, worst_phase, "Its phase of the job that is slowed.", .only = has_cells),
    TEXT_BY(worst_other_phase, worst_other_phase, "Its phase of the other job.", .only = has_cells),
    LIST_OF(cells, "cell", slowdown, count_cells, &CELL, "All pairs of phases."),
};
static const fab_fields PAIR = TABLE("interference", PAIRS, JOBS);

#undef T
#define T fab_job_remedy
static const fab_field REMEDIES[] = {
    FIELD(what, "An engine; `in order`: servers, one job after the other (n-servers in place of servers)."),
    FIELD(needs_switch_support, "True: switches must be able to do it."),
    FIELD(
        by_chance,
        "True: what follows compares expected_s; else the longest phases start at once. Jobs count as in lost_ratio."),
    FIELD(saved_ratio, "Part of the jobs' time that it saves, a job weighs as its GPUs.", SIGNED,
          .formula = "sum of gpus * (1 - time under it / time together) / sum of gpus"),
    FIELD_OF(jobs_faster, n_faster, "Jobs that gain more than 0.1 %."),
    FIELD_OF(jobs_slower, n_slower, "Jobs that lose more than 0.1 %."),
};
static const fab_fields REMEDY = TABLE("job_remedy", REMEDIES, JOBS);

#undef T
#define T fab_contention
GIVES(size_t, count_planned_jobs, here->n_plans * here->n_jobs);

static const fab_field CONTENTION[] = {
    FIELD_OF(remedied_engine, remedied, "Place in `engines` of that which `remedies` are compared with, from 0.",
             IF(has_tried)),
    FIELD_OF(untried_flows, n_untried, "Flows, too many for remedies to be tried.", FILLED),
    LIST_OF(jobs, "job", jobs, count_planned_jobs, &CONTENDING_JOB,
            "The jobs; where engines have plans of their own, again for each plan."),
    LIST(engines, "engine", engines, n_engines, &CONTENTION_ENGINE, "The jobs together under every engine."),
    LIST(interference, "pair", interference, n_interference, &PAIR,
         "With --interference: every network phase of a job against every one of another.", FILLED),
    ARRAY(remedies, "remedy", remedies, n_remedies, &REMEDY,
          "Changes for all jobs at once, the easiest first: what moves none.", FILLED),
};
const fab_fields fab_contention_fields = TABLE(
    "contention", CONTENTION, JOBS,
    .definition = "What jobs on one fabric do to each other: `run` of a design with several. The phases that contend "
                  "start at once and share links max-min fairly until each job has sent the bytes of one iteration.");
