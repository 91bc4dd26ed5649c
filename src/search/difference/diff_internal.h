/** Inside of src/search/difference. */
#pragma once

#include "fab/design.h"
#include "fab/diff_run.h"
#include "fab/evaluate.h"
#include "fab/floor_plan.h"

#define DIFF_COLLIDED (1 + 1e-9)
#define DIFF_SAME     1e-9 /* times this close, by ratio, are equal */
#define DIFF_EVEN     5e-4 /* part of a time that x1.000 does not show: nothing is slower */
#define DIFF_ALL      SIZE_MAX
#define DIFF_CHANGES  64 /* that are listed; more are counted */

/* A state to be evaluated. Borrows everything. */
typedef struct diff_variant {
    const fab_design *design;
    const fab_fabric *graph; /* NULL: it is built */
    const char *const *failed;
    size_t n_failed;
} diff_variant;

/* A state that has been evaluated. */
typedef struct diff_side {
    fab_design *design; /* owned, as all that follows */
    fab_fabric *graph;
    const fab_fabric *f; /* that, or the variant's */
    fab_design *chunked;
    fab_context *first, *context; /* context: of what is replayed; first: its base, or NULL */
    const fab_traffic *traffic;
    fab_floor *floor;
    fab_racks racks;
    fab_component *component;
    size_t n_components;
    fab_mask mask;
    bool has_mask;
    fab_workspace *workspace;
    fab_result result; /* phases, iterations; loads where they were wanted */
    double compute_ratio;
    fab_str stopped; /* why the job does not run */
} diff_side;

/* One run. */
typedef struct diff {
    const fab_diff_request *q;
    fab_difference *out;
    uint64_t n_seeds;
    diff_side side[2];     /* before, after */
    fab_design *design[2]; /* with the hosts that were named */
    fab_link_id *same;     /* [links of the second state]: the link in the first, or FAB_NONE; NULL: reports */
    fab_link_id *back;     /* [links of the first state]: the link in the second */
    fab_node_id *node;     /* [nodes of the second state]: in the first */
    char **undo;           /* [changes]: the line of the second design that is as before, or NULL */
    uint32_t *place;       /* [changes]: of servers, the first place; of cables, the number of the group */
    uint32_t *cycle;       /* [n_places]: the first of the places whose servers changed among themselves, or FAB_NONE */
    size_t n_places;       /* servers of the job in the second state */
    uint32_t left;         /* the first of the job's servers of before that have lost cables: no job takes them */
    uint32_t n_left;
    bool *is_changed; /* [cables of the second state]: not as in the first */
    uint32_t *group;  /* [cables of the second, then of the first]: which change they belong to, or FAB_NONE */
    uint32_t *moved;  /* [servers of the second state]: the first of its cables where all are elsewhere, or FAB_NONE */
    fab_node_id *exchanged; /* [nodes of the first state]: the switch that one has exchanged places with; FAB_NONE */
    uint32_t *n_below;      /* [nodes of the first state]: servers that have cables to it in the second */
    fab_link_id hot;        /* the worst link that collides now alone; FAB_NONE */
    size_t hot_phase;       /* of the second state */
} diff;

/* Not inside of a server or a scale-up domain. */
static inline bool diff_is_network(const fab_fabric *f, uint32_t cable) {
    return fab_is_network(fab_class_of(f, 2 * cable));
}

/* --- difference.c --- */

/* The times differ by no more than their intervals over the seeds. */
bool diff_is_chance(const fab_diff_engine *engine);

/* --- diff_side.c --- */

/* A variant as it is, under all engines of its design or under one, and then evaluated under the seeds of `d`. */
FAB_STATUS diff_side_prepare(const diff *d, const diff_variant *variant, size_t engine, diff_side *out, fab_error *err);
FAB_STATUS diff_side_evaluate(const diff *d, bool wants_loads, diff_side *out, fab_error *err);
void diff_side_release(diff_side *side);
/* Seconds of an iteration, else of all phases; NAN: not known. */
double diff_time_of(const fab_result *result, size_t engine);
/* The time of a variant under an engine; NAN where it is refused, infinite where the job stops. out_parts: seed by
 * seed, n = 0 where nothing is drawn or that is not known; or NULL. */
FAB_STATUS diff_time(const diff *d, const diff_variant *variant, size_t engine, double *out_s, fab_parts *out_parts,
                     fab_error *err);
/* The parts of the time of a side that has one. */
FAB_STATUS diff_parts_of(const fab_result *result, size_t engine, fab_parts *out, fab_error *err);
/* The design with its first job on hosts by name. */
FAB_STATUS diff_place_hosts(const fab_diff_state *state, fab_design *design, fab_error *err);
/* Puts the first job on servers [n]. FAB_EINPUT: the list is too long to be written. */
FAB_STATUS diff_set_servers(fab_design *design, const uint32_t *servers, size_t n, fab_error *err);

/* --- diff_crossing.c --- */

/* NULL: there is none of this name. */
const fab_phase_result *diff_phase_named(const fab_result *result, const char *name);
/* Flows of a phase that cross a link, ascending; the caller frees them. *out_known is false where they cannot be
 * listed. */
FAB_STATUS diff_crossing_flows(diff_side *side, size_t engine, size_t phase, fab_link_id link, uint32_t **out,
                               size_t *out_n, bool *out_known, fab_error *err);
/* The links that collide in one state alone, of every phase, and the worst with who meets there. */
FAB_STATUS diff_find_links(diff *d, size_t engine, fab_error *err);
/* The same of what reports list. */
FAB_STATUS diff_find_listed_links(diff *d, size_t engine, fab_error *err);

/* --- diff_match.c --- */

/* Which links are the same. */
FAB_STATUS diff_match_links(diff *d, fab_error *err);
/* Servers of the second state in the first, and of the first in the second, by name; FAB_NONE. */
uint32_t diff_server_before(const diff *d, uint32_t server);
uint32_t diff_server_after(const diff *d, uint32_t server);

/* --- diff_changes.c --- */

FAB_STATUS diff_add_change(diff *d, fab_change_kind kind, const char *what, const char *before, const char *after,
                           const char *undo, uint32_t place, fab_error *err);
FAB_STATUS diff_find_changes(diff *d, fab_error *err);
/* The servers of a state in the order of the ranks, [*out_n]; the caller frees them. */
FAB_STATUS diff_servers_of(const diff_side *side, uint32_t **out, size_t *out_n, fab_error *err);

/* Appends which servers have left the job for want of cables, if any: others then stand in their places. */
void diff_say_left(const diff *d, fab_str *out);
/* Whether place `at` belongs to the change of servers that is kept under `place`; how many do of a cycle, else 0. */
bool diff_is_at(const diff *d, uint32_t place, size_t at);
size_t diff_cycle_length(const diff *d, uint32_t place);

/* --- diff_cables.c --- */

FAB_STATUS diff_find_cables(diff *d, fab_error *err);
/* The second fabric with the groups of cables whose changes are in `undone` as in the first. FAB_EUNSUPPORTED: boxes
 * differ too. */
FAB_STATUS diff_recable(const diff *d, const bool *undone, fab_fabric **out, fab_error *err);

/* --- diff_moves.c --- */

/* Which servers have moved, all their cables are elsewhere, and which switches have exchanged what is below them: each
 * is one change. */
FAB_STATUS diff_find_moves(diff *d, fab_error *err);
/* Makes two cables one change; the first cable of the change that one belongs to. */
void diff_join_cables(diff *d, uint32_t i, uint32_t k);
uint32_t diff_group_of(const diff *d, uint32_t cable);
/* "server-3 and server-9 have exchanged places: 16 cables", the same of switches, where these are all that is in a
 * group; and where they stood and stand. Else what.length is 0. */
void diff_name_moves(const diff *d, uint32_t group, fab_str *what, fab_str place[2]);

/* --- diff_cause.c --- */

/* For FAB_OWNS(): what is said of the first side and of the second. */
static inline void diff_release_two(fab_str (*text)[2]) {
    fab_str_release(&(*text)[0]);
    fab_str_release(&(*text)[1]);
}

FAB_STATUS diff_find_cause(diff *d, fab_error *err);
/* diff_time() of the second state with the first job on these servers [n]. */
FAB_STATUS diff_time_on(const diff *d, const uint32_t *servers, size_t n, double *out_s, fab_error *err);
bool diff_returns(const diff *d, double time_s);
FAB_STATUS diff_add_test(diff *d, double time_s, bool predicts_return, fab_error *err, const char *fmt, ...)
    FAB_PRINTF(5, 6);

/* --- diff_property.c --- */

/* How many links of the switch before the worst new link carry something, and how many did. */
void diff_say_share(const diff *d, fab_str *out);
/* What the flows on the worst new link have in common, where servers are the cause; tried on others. */
FAB_STATUS diff_find_property(diff *d, fab_str *out, fab_error *err);
