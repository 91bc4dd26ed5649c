/** Inside of assess*.c. */
#pragma once

#include "assess_memo.h"

#include "fab/assess.h"
#include "fab/evaluate.h"
#include "fab/failures_run.h"

/* A phase under an engine on the healthy fabric. */
typedef struct assessment_part {
    uint64_t *collided; /* bit set over links: offered more than they have; NULL: not looked at, or a duplicate */
    uint32_t n_collided;
} assessment_part;

#define ASSESS_STATE_BYTES ((size_t)64 << 20) /* of what is remembered, at most */
#define ASSESS_TIMES_BYTES ((size_t)16 << 20)

struct fab_assessment {
    fab_assessment_request request;
    const fab_context_request *what; /* of its context; the next three likewise */
    const fab_fabric *fabric;
    const fab_traffic *traffic;
    size_t n_phases;
    const fab_router **routers; /* [engine] */
    size_t *duplicate;      /* [phase]: the first phase with the same flows at the same offered rates; often itself */
    bool *in_network;       /* [phase]: flows leave their scale-up domain */
    uint8_t *taken;         /* [server]: by a job; NULL: no job */
    bool *is_timed;         /* [phase]: its time counts */
    bool iterates;          /* times are those of an iteration */
    bool times_are_all;     /* every phase in the network has a time that counts, and that is all that is looked at */
    assessment_part *parts; /* [engine][phase] */
    bool serves;            /* replicas that are independent of each other: one that is out leaves the others */
    bool rings_close;       /* of data-parallel rings: over a replica that is out, to the next */
    fab_paces *paces;       /* [engine]: on the healthy fabric, kept in every state; NULL: nothing is shared */
    fab_iteration *chosen;  /* [engine]: on the healthy fabric, kept in every state; NULL: nothing is open */
    double *per_bps;        /* [link]: 1 / capacity of network links, 0 of others */
    double offered_bps;     /* all that is offered in all phases */
    fab_outcome *healthy;   /* [variant] */
    bool has_healthy;
    double *pace;        /* [variant]: its healthy speed, in that of all draws; NULL: there is one draw */
    assess_memo *states; /* of histories, under every engine; threads share it, and the next */
    assess_memo *times;  /* iterations by the times of their phases */
};

/* What flows offer to network links, over all phases under one engine. */
typedef struct assessment_loads {
    uint32_t n_disconnected, n_collisions;
    double lost_bps;
    double worst_ratio;
    fab_link_id worst_link;
} assessment_loads;

/* What a state does to the job where it is. */
typedef struct assess_state {
    bool runs;
    double time_s;  /* NAN: not found */
    bool has_loads; /* else they are found where they are wanted: of the worst moments */
    assessment_loads loads;
} assess_state;

/* A job on its way through a history. */
typedef struct assess_history {
    fab_component *down; /* [n_down] */
    size_t n_down, down_capacity;
    fab_component *near; /* [n_near]: of them those that have to do with the job where it is, in the order of a key */
    size_t n_near, near_capacity;
    fab_component *placed; /* [n_placed]: what was down when the policy was asked last */
    size_t n_placed, placed_capacity;
    bool is_placed;
    assess_key key;
    uint8_t *is_out, *will_be_out; /* [replica]: of policy shrink; NULL: no such policy */
    uint64_t n_out;
    fab_relocation rings; /* of replicas that are left: `place`, and who gets what was sent to one that is out */
    uint32_t *ring_moved, *ring_gpu; /* its arrays, as those of place */
    uint8_t *is_gpu_out;             /* [gpu] */
    fab_relocation place;            /* where the job is: no moves, or the arrays below */
    fab_move *moves;
    uint32_t *moved, *new_gpu;
    uint8_t *stops, *waits, *joins; /* [event] */
    double *speed;                  /* [event + 1] */
    uint8_t *is_hot;                /* [event + 1] */
    size_t stops_capacity, waits_capacity, joins_capacity, speed_capacity, hot_capacity;
    unsigned restart_now; /* of FAB_SPAN_..., of this event */
    double restarting;    /* serving: replicas that restart, of this event */
    /* the worst moment in which the job ran */
    bool has_worst;
    assessment_loads worst;
    double worst_s;
    size_t n_worst_moves;
    fab_component *worst_down;
    size_t n_worst_down, worst_capacity;
} assess_history;

void assess_history_free(assess_history *history);
FAB_OWNER(assess_history, assess_history_free)

struct fab_assessor {
    const fab_assessment *assessment;
    fab_mask mask;
    fab_workspace *workspace;
    fab_relocator **relocators;  /* [engine] */
    const fab_baseline **phases; /* [engine][phase]: what the relocators look at */
    uint8_t *has_rank;           /* [gpu]: at the moment */
    const fab_rerouted **now;    /* [phase]: of the engine at hand */
    uint32_t *seen;              /* [link]: the count that looked at it last */
    uint32_t stamp;
    fab_iteration iteration; /* of the last assess_time() that looked for it */
    double *phase_s;         /* [phase]: seconds of those that are timed, of the last assess_time() */
    assess_key times_key;
    bool forgets;            /* nothing is kept: for tests */
    assess_history *history; /* NULL before the first */
};

static inline size_t assessment_at(const fab_assessment *d, size_t engine, size_t phase) {
    return engine * d->n_phases + phase;
}

/* fab_assessment_new() without the outcomes of the healthy fabric. */
FAB_STATUS assessment_open(const fab_assessment_request *request, fab_assessment **out, fab_error *err);

/* Fills assessment->chosen: a job that runs keeps its microbatch and chunks. */
FAB_STATUS assess_choose(fab_assessment *assessment, fab_error *err);

/* Fills assessment->paces, for iterations. */
FAB_STATUS assess_share(fab_assessment *assessment, fab_error *err);

/* Refuses, with the estimate, what would not fit, once traffic and routers are there. */
FAB_STATUS assessment_check_memory(const fab_assessment *assessment, fab_error *err);

/* Whether a link is offered more than its residual capacity. */
bool assessment_is_collided(const fab_assessment *assessment, fab_link_id link, double load, double residual);

/* A phase under a->mask, with ranks where `to` puts them (NULL: where they were). `what`: of fab_need. */
FAB_STATUS assess_evaluate(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to, unsigned what,
                           fab_evaluated *out, fab_error *err);

/* The same with its time, and when each of its flows ends: shape [n_flows]. */
FAB_STATUS assess_evaluate_ends(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to, double *ends_s,
                                fab_evaluated *out, fab_error *err);

/* Whether somebody waits for a phase: all of serving that leave a scale-up domain, and all-to-alls (of ranking, of
 * experts, a pattern). */
bool assess_has_requests(const fab_assessment *assessment, size_t phase);

/* How long, under a->mask with ranks where `to` puts them; nothing is lost. */
FAB_STATUS assess_requests(fab_assessor *a, size_t engine, size_t phase, const fab_relocation *to,
                           fab_request_times *out, fab_error *err);

/* Routes all phases under a->mask, with ranks where `to` puts them (NULL: where they were), to a->now. */
FAB_STATUS assess_reroute(fab_assessor *a, size_t engine, const fab_relocation *to, fab_error *err);

/* Adds up a->now. */
assessment_loads assess_loads(fab_assessor *a, size_t engine);

/* Ranks are where `to` puts them, until assess_put_back(). */
void assess_put(fab_assessor *a, const fab_relocation *to);
void assess_put_back(fab_assessor *a, const fab_relocation *to);

/* Whether one of n GPUs has a rank at the moment. */
bool assess_any_rank(const fab_assessor *a, uint64_t first_gpu, uint64_t n);

/* Speed of the slowest GPU that has a rank: everybody waits for it. */
double assess_compute_ratio(const fab_assessor *a, const fab_component *component, size_t n);

/* Seconds of an iteration, or of all phases one after the other, as a->now has them; nothing is lost. */
FAB_STATUS assess_time(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio, double *out_s,
                       fab_error *err);

/* The same where it follows from the state before, without paths and loads; not written where it does not. */
FAB_STATUS assess_time_incremental(fab_assessor *a, size_t engine, const fab_relocation *to, double compute_ratio,
                                   double *out_s, fab_known *out_answer, fab_error *err);

/* What has failed, and where ranks are. */
fab_state assess_state_of(const fab_assessor *a, const fab_relocation *to);

/* Policy shrink. Refuses jobs without replicas. */
FAB_STATUS assess_shrink_check(const fab_traffic *traffic, const fab_fabric *fabric, fab_error *err);
uint64_t assess_shrink_replicas(const fab_assessment *assessment);

/* Replicas that have a rank on a server that `to` finds no place for. */
void assess_shrink_find(const fab_assessor *a, const fab_relocation *to, uint8_t *is_out, uint64_t *out_n);

/* fab_failures_run() under the seed of a context, which is that of the request or has it as base. */
FAB_STATUS failures_run_draw(const fab_failures_request *request, const fab_context *context, fab_failures **out,
                             fab_error *err);

/* Name and ranks of a server. */
FAB_STATUS failures_name_ranks(const fab_fabric *fabric, const fab_traffic *traffic, uint32_t server,
                               fab_lost_server *out, fab_error *err);

/* Who moves where, and who stays without a place. */
FAB_STATUS failures_copy_moves(const fab_relocation *found, fab_failed_policy *out, fab_error *err);

/* Adds the flows that a phase has lost, and its fullest link where it is the fullest of all. */
void failures_add_phase(const fab_failed_phase *phase, fab_failed_phase *sum);

/* What collision-aware saves over first-spare, where both were asked for. `policies`: of the answer. */
void failures_find_saving(const fab_failures *answer, const fab_policy *policies, fab_failed_engine *out);

/** Whether two policies put the same ranks in the same places; also where nobody is lost, and none moves a rank. */
bool failures_move_alike(const fab_failed_policy *a, const fab_failed_policy *b);

/* Replica of the rank of a GPU. */
uint64_t assess_shrink_replica(const fab_traffic *traffic, uint32_t gpu);

/* A serving job whose replicas are known; whether one is out alone is what fab_assess_serves() says. */
bool assess_is_serving(const fab_traffic *traffic);

/* Replicas that are left: that read prompts, and that generate tokens (the same ones without pools); that are out. */
typedef struct assess_serving {
    uint64_t readers, generators, n_out;
} assess_serving;

/* Those that have a rank on a server that `to` finds no place for, or share experts with one, to is_out, shape [dp]. */
void assess_serving_find(const fab_assessor *a, const fab_relocation *to, uint8_t *is_out, assess_serving *out);

/* Part of the requests that those can serve which are not out: of the pool that has lost most. */
double assess_serving_part(const fab_assessment *assessment, const uint8_t *is_out);

/* Replicas that restart where a server, or one of its GPUs, fails, or its software does. */
double assess_serving_hit(const fab_assessment *assessment, bool is_software);

/* The traffic without them; borrows all but the phases. Release what there is of it, also after an error. */
FAB_STATUS assess_serving_leave(const fab_traffic *traffic, const uint8_t *is_out, uint64_t generators,
                                fab_traffic *out, fab_error *err);
void assess_serving_release(fab_traffic *left);

/* GPUs of replicas that are out of a history, where they are now, have ranks, or have none. */
void assess_shrink_mark(fab_assessor *a, uint8_t has_rank);

/* Whether whatever replicas send each other goes to the next one, of the same place: rings of one rank per server. */
void assess_shrink_rings(fab_assessment *assessment);

/* Rings over the replicas that are left, to history->rings. */
void assess_shrink_close(fab_assessor *a);

/* An iteration of so many replicas fewer. `times`: with all. */
FAB_STATUS assess_shrink_iterate(const fab_assessor *a, const fab_job_times *times, const fab_compute_model *compute,
                                 const fab_iteration *chosen, uint64_t n_out, fab_iteration *out, fab_error *err);

/* What is known from loads; the rest is NAN, as for a set. */
fab_outcome assess_outcome(const fab_assessment *assessment, const assessment_loads *before, bool stops);

/* A failure is among what is down, or a repair takes it out. */
FAB_STATUS history_note_event(assess_history *history, const fab_event *event, fab_error *err);

/* A component with which the job, where it is now, has nothing to do. */
bool history_is_elsewhere(const fab_assessor *a, const fab_component *component);

/* One whose repair may let ranks on spares go home. */
bool history_frees_home(const fab_assessor *a, const fab_component *component);

/* GPUs that die with it: with one rank among them the job stops, whatever else. */
bool history_takes_a_rank(const fab_assessor *a, const fab_component *component);

/* A set under a variant of a serving job that has lost ranks. `before`: anybody moved. */
FAB_STATUS assess_history_set(fab_assessor *a, const fab_component *component, size_t n, size_t variant,
                              const assessment_loads *before, fab_outcome *out, fab_error *err);

/* A history under every variant. */
FAB_STATUS assess_histories(fab_assessor *a, const fab_scenario *scenario, double span_s, fab_outcome *out,
                            fab_error *err);
