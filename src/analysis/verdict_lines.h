/** Inside of verdict*.c. */
#pragma once

#include "fab/advice.h"
#include "fab/contention.h"
#include "fab/units.h"
#include "fab/verdict.h"

#define VERDICT_FULL   (1 + 1e-9) /* above it links collide */
#define VERDICT_SAME   1e-9
#define VERDICT_MARGIN 0.0005 /* by which engines differ */
#define VERDICT_PAIRS                                                                                                  \
    0.0125 /* of its time that more queue pairs must save to be advised: they cost NICs their state                    \
            */
#define VERDICT_NAME (FAB_ENGINE_SHORT_SIZE + 24)

#define VERDICT_UNCLEAR    0.01 /* a gain that seeds leave open is worth more of them */
#define VERDICT_MORE_SEEDS 4    /* times as many halve an interval */

/** Appends to a line. */
#define verdict_say(line, ...) fab_append((line), FAB_VERDICT_TEXT, __VA_ARGS__)

#define VERDICT_SECONDS(seconds) FAB_SAY((seconds), FAB_UNIT_TIME)

/** "[2] spray"; of several of a name with the options that differ: "[1] ecmp,qp=4" */
const char *verdict_engine(const fab_result *r, size_t engine, char room[VERDICT_NAME]);

/** How much longer the slowest engine takes than the fastest; 0: they take the same; NAN: one of them has no time. */
double verdict_margin(const fab_result *r, const fab_run_verdict *v);

/** By which engines are compared: of all jobs together, mean over their GPUs, where there are several; else of the
 * iteration, a batch that is served, or the phases one after the other. NAN: not known. */
double verdict_time(const fab_result *r, size_t engine);

/** How many fewer queue pairs a has than b, which is the same but for them; 0: it is not. */
int verdict_fewer_pairs(const fab_result *r, size_t a, size_t b);

/** Whether an engine is a bound of loads that no switch can be told to route by: it is never advised. */
bool verdict_is_bound(const fab_result *r, size_t engine);

/** The first given of the engines that take the same as one, those apart that differ in queue pairs alone. */
size_t verdict_first_equal(const fab_result *r, size_t engine);

/** " or [3] spray": the others of these. */
void verdict_add_equals(const fab_result *r, size_t engine, char *out);

/** The engine with the fewest queue pairs that takes hardly longer than the fastest, which is the same but for them. */
size_t verdict_thrifty(const fab_result *r, const fab_run_verdict *v);

/** Whether the links of hosts alone keep a phase as long as it takes: no uplinks make it shorter. */
bool verdict_is_of_hosts(const fab_phase_result *p, const fab_engine_result *e);

/** Seconds that the bytes of a phase take where no link is fuller than under an even split, as far as an engine that
 * was given or tried tells; INFINITY: none does. Who takes no longer loses nothing to collisions: unequal flows that
 * share NICs are held there. */
double verdict_split_s(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p);

/** Of the boundary that is offered most whatever the routing, else under ideal spraying, over the phases: of those that
 * NICs hold as long anyway last. */
const fab_phase_result *verdict_most_tapered(const fab_result *r, size_t engine);

/** What uplinks, or other places of ranks, win where no routing does. */
void verdict_add_taper(const fab_result *r, const fab_run_verdict *v, char *out);

/** Whether an engine drew anything that a figure depends on. */
bool verdict_is_drawn(const fab_result *r, size_t engine);

/** " in this draw" where any engine has but one; else "". */
const char *verdict_of_draw(const fab_result *r);

/** " in this draw", and what others take where they were tried: behind what holds of the one draw of a hash. */
void verdict_add_draw(const fab_result *r, const fab_run_verdict *v, char *out);

/** The phase that collisions cost most under an engine; NULL: no flow crosses a link between switches. */
const fab_phase_result *verdict_worst_phase(const fab_result *r, size_t engine);

/** Over all jobs: who loses most beside the others, and to whom; what is said after it is of the first alone. */
void verdict_add_jobs(const fab_contention *contention, size_t engine, bool is_one_draw, char *out);

/** What came of changes that were searched and ranked, by the measure of the search. */
void verdict_add_search(const fab_advice *advice, bool is_planned, char *out);

/** What failures, slower parts and other jobs make of it, behind what bounds the job alone on the healthy fabric. */
void verdict_add_changes(const fab_result *r, const fab_run_verdict *v, char *out);

/** What batch carries the requests of a service that is overloaded; behind it replicas that are bought. */
void verdict_add_batch(const fab_result *r, const fab_run_verdict *v, char *out);

/** Requests arrive at random, whatever the network draws. */
void verdict_add_arrivals(const fab_serving *s, char *out);

void verdict_put_cost(const fab_result *r, fab_run_verdict *v);
void verdict_put_advice(const fab_result *r, fab_run_verdict *v);
void verdict_put_certainty(const fab_result *r, fab_run_verdict *v);
