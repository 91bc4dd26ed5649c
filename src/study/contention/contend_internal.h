/** What the files about several jobs share. */
#pragma once

#include "fab/contend.h"
#include "fab/evaluate.h"
/** Jobs on one fabric while they are looked at. */
typedef struct contender {
    const fab_replay *base;
    const fab_context_request *what; /**< of its context */
    fab_traffic *traffic;            /**< shape [n_jobs]: each job alone; owned */
    fab_result *alone; /**< shape [n_jobs]: each by itself; fabrics borrowed, and everything of the first */
    uint64_t *n_seeds; /**< shape [n_engines]: draws */
    fab_contention *out;
} contender;

/** Phases of several jobs as one: flows one after the other, with their GPUs, bytes and ordinals. */
typedef struct contend_union {
    fab_phase phase;
    uint32_t *group; /**< shape [phase.n_flows]: which of the phases */
    uint32_t n;
    fab_traffic traffic;  /**< the phase alone; borrows */
    fab_context *context; /**< with that traffic, over the tables of the base. */
} contend_union;

/** @retval FAB_EUNSUPPORTED  more flows than can be solved; names the phases */
FAB_STATUS contend_union_init(const contender *c, const fab_phase *const *phases, uint32_t n, contend_union *out,
                              fab_error *err);
void contend_union_release(contend_union *all);

/** Starts all flows of the union under an engine, and runs them until the last one ends. */
FAB_STATUS contend_trace(const contend_union *all, size_t engine, uint64_t draw, const fab_trace *trace,
                         fab_error *err);

static inline const fab_phase_alone *contend_alone(const contender *c, size_t job, size_t phase, size_t engine) {
    return &c->out->jobs[job].alone[phase * c->out->n_engines + engine];
}

/** One engine under one seed. */
typedef struct contend_item {
    size_t engine;
    uint64_t draw;
} contend_item;

/** The link that two jobs share and that the bytes of the first leave last. */
typedef struct contend_meeting {
    double
        passed_s;  /**< when they have: jobs taking turns, as many bytes of each other as of its own; 0: none shared */
    double both_s; /**< what of that is the other's */
    uint32_t link;
} contend_meeting;

/** The phases that contend, and what was seen of them. */
typedef struct contended {
    contender *c;
    uint32_t *member; /**< shape [n]: jobs that take part */
    uint32_t n;
    const fab_phase *phases[FAB_MAX_JOBS]; /**< shape [n]: theirs */
    contend_union *single;                 /**< shape [n] */
    contend_union all;
    contend_item *items;
    size_t n_items;
    double *alone_s, *together_s; /**< shape [n_items][n], without latency */
    contend_meeting *meetings;    /**< shape [n_engines][n][n]: of the first seed */
} contended;

/** Starts the phases that contend together: fills out->engines, and what `m` has beside c. */
FAB_STATUS contend_phases(contended *m, fab_error *err);
void contended_release(contended *m);

/** Leaves jobs out in turn: who costs each most. After contend_iterate() and contend_expect(). */
FAB_STATUS contend_rivals(contended *m, fab_error *err);

/** What the iteration of a job takes whose phase takes so long, latency included; without an iteration the phase. */
FAB_STATUS contend_iterate_at(const contender *c, size_t job, size_t phase, size_t engine, double phase_s,
                              double *out_s, fab_error *err);

/** The links that every network phase of every job uses alone. Zero: not looked at, everything meets. */
typedef struct contend_reach {
    const contender *c;
    size_t n_phases, n_words;
    uint64_t *bits; /**< shape [engines][jobs][n_phases][n_words]; owned */
} contend_reach;

FAB_STATUS contend_reach_find(const contender *c, contend_reach *out, fab_error *err);

/** Whether two phases of two jobs share a link, or may: where paths depend on the other flows. */
bool contend_reach_meets(const contend_reach *reach, size_t engine, const size_t job[2], const size_t phase[2]);

/** Whether pairs of phases are few enough, and several jobs have a clock, under any engine: marks these. After
 * contend_iterate(). */
bool contend_can_expect(contender *c);

/** What jobs lose where phases meet by chance, from every pair of phases: under the engines that are marked. */
FAB_STATUS contend_expect(contender *c, fab_error *err);
