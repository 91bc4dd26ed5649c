/* The last end, from shares alone.
 *
 * A flow has at least its share of the link of its path where shares are least, capacity over the weights that are
 * still under way; so it ends no later than in a run in which everybody gets just that: its bound. A link carries its
 * bits no faster than it can. Where the bounds of all of its flows say that it is done by then, they are exact: nobody
 * on it can have had more. What cannot end last needs no more than its bound.
 *
 * Links are those that a solver keeps (flow_index.c), whose lists of flows are read: of another link all flows cross
 * one that leaves them no more. */
#include "fab/fluid.h"
#include "fab/memory.h"
#include "solver.h"

#include <math.h>

#define CLOSE     1e-11 /* times that are equal but for rounding */
#define DONE      1e-13 /* of a flow: rounding */
#define SAME      1e-12
#define MOST_RUNS 16
#define MOST_WORK (UINT64_C(1) << 24) /* looks at a flow */
#define MOST_EACH UINT64_C(16)        /* of so many at each the simulation is as fast */

/* Whether the bounds of a link's flows are exact. */
typedef enum is_it { NOT_ASKED, NOT_EXACT, EXACT } is_it;

typedef struct last_link {
    double weight;      /* of its flows; of a link that is not kept 0 */
    double bits;        /* of them, where the link is weighed */
    double least_after; /* what comes after any of them; likewise */
    double running;     /* weight under way, in a run */
    is_it exact;
    bool is_weighed;
    bool is_open; /* its share grows in runs */
    bool is_late; /* a flow that it holds may be the last */
} last_link;

typedef struct last_runner {
    double residual, done; /* bits per weight; no more than `done` is nothing */
    double level;          /* per weight, that links which are not open leave it */
    uint32_t flow;
    bool is_held; /* by one of these, at any time */
} last_runner;

typedef struct last_search {
    const fab_max_min *m;
    const fab_sharing *s;
    const double *bits, *after_s;
    last_link *links;
    double *share;  /* [link]: at the start; INFINITY of one that is not kept */
    double *ends_s; /* [flow]: bounds */
    uint64_t *runs; /* bit set of flows */
    last_runner *runners;
    size_t n_runners, runners_capacity;
    double most_bits, most_after_s;
    bool has_nothing; /* a flow has nothing to send */
    double fullest_s; /* the last end is no sooner */
    double last_s;    /* nor is the last of ends with what comes after */
    uint64_t work;
} last_search;

/* fmin() and fmax() of what is no NAN, without a call. */
static inline double least_of(double a, double b) {
    return a < b ? a : b;
}

static inline double most_of(double a, double b) {
    return a > b ? a : b;
}

static inline double weight_of(const fab_sharing *s, uint32_t f) {
    return s->weight != NULL ? s->weight[f] : 1;
}

static inline double share_at(const fab_sharing *s, uint64_t e) {
    return s->share != NULL ? s->share[e] : 1;
}

static inline double after_of(const last_search *t, uint32_t f) {
    return t->after_s != NULL ? t->after_s[f] : 0;
}

static inline double limit_of(const fab_sharing *s, uint32_t f) {
    return s->limit != NULL ? s->limit[f] / weight_of(s, f) : INFINITY;
}

/* What kept link k carries, and its bounds. */
static void weigh_link(last_search *t, uint32_t k) {
    const fab_max_min *m = t->m;
    const uint32_t l = m->number[k];
    last_link *link = &t->links[l];
    link->is_weighed = true;
    link->weight = 0;
    for (uint32_t i = m->first[k]; i < m->first[k + 1]; i++) {
        const uint32_t f = m->flow[i];
        const double share = t->s->share != NULL ? m->flow_share[i] : 1;
        if (t->bits[f] > 0) {
            const double after_s = after_of(t, f);
            link->least_after = link->weight > 0 ? least_of(link->least_after, after_s) : after_s;
            link->weight += weight_of(t->s, f) * share;
            link->bits += t->bits[f] * share;
        }
    }
    const double least_s = link->bits / t->s->capacity[l];
    t->fullest_s = most_of(t->fullest_s, least_s);
    t->last_s = most_of(t->last_s, least_s + link->least_after);
}

/* Of flows with equal weights their number is enough of most links: the others say no more of the last end. */
static void weigh_links(last_search *t) {
    const fab_max_min *m = t->m;
    const bool is_plain = t->s->weight == NULL && t->s->share == NULL;
    FAB_FILL(t->share, t->s->n_links, INFINITY);
    for (uint32_t k = 0; k < m->n_kept; k++) {
        last_link *link = &t->links[m->number[k]];
        const double capacity = t->s->capacity[m->number[k]];
        link->weight = m->first[k + 1] - m->first[k];
        const double most_s = link->weight * t->most_bits / capacity;
        if (!is_plain || t->has_nothing || most_s > t->fullest_s || most_s + t->most_after_s > t->last_s) {
            weigh_link(t, k);
        }
        t->share[m->number[k]] = capacity / link->weight;
    }
}

/* Bounds from the shares at the start. */
static void bound_flows(last_search *t) {
    const fab_sharing *s = t->s;
    weigh_links(t);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = limit_of(s, f);
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            level = least_of(level, t->share[s->link[e]]);
        }
        t->ends_s[f] = t->bits[f] > 0 ? t->bits[f] / (weight_of(s, f) * level) : 0;
    }
}

static bool is_exact_link(last_search *t, uint32_t l) {
    const fab_max_min *m = t->m;
    last_link *link = &t->links[l];
    if (link->exact == NOT_ASKED && link->weight > 0) {
        const uint32_t k = m->kept[l];
        if (!link->is_weighed) {
            weigh_link(t, k);
        }
        const double end_s = link->bits / t->s->capacity[l] * (1 + CLOSE);
        FAB_FIRST_IN(i, m->first[k], m->first[k + 1], !(t->ends_s[m->flow[i]] <= end_s));
        link->exact = i == m->first[k + 1] ? EXACT : NOT_EXACT;
    }
    return link->exact == EXACT;
}

static bool is_exact(last_search *t, uint32_t f) {
    const fab_sharing *s = t->s;
    bool exact = s->limit != NULL && t->ends_s[f] <= t->bits[f] / s->limit[f] * (1 + CLOSE);
    for (uint64_t e = s->first[f]; !exact && e < s->first[f + 1]; e++) {
        exact = is_exact_link(t, s->link[e]);
    }
    return exact || t->ends_s[f] == 0;
}

/* The flows whose bounds are new: all at first, then those of the last run. */
static uint32_t nth_new(const last_search *t, size_t i) {
    return t->n_runners > 0 ? t->runners[i].flow : (uint32_t)i;
}

static size_t count_new(const last_search *t) {
    return t->n_runners > 0 ? t->n_runners : t->s->n_flows;
}

/* What no last end is sooner than, from bounds that are exact. */
static void weigh_bounds(last_search *t) {
    for (size_t i = 0; i < count_new(t); i++) {
        const uint32_t f = nth_new(t, i);
        const double end_s = t->ends_s[f];
        if ((end_s * (1 - CLOSE) > t->fullest_s || end_s + after_of(t, f) > t->last_s) && is_exact(t, f)) {
            t->fullest_s = most_of(t->fullest_s, end_s * (1 - CLOSE));
            t->last_s = most_of(t->last_s, end_s + after_of(t, f));
        }
    }
}

/* Whether its bound leaves it open whether a flow is the last. */
static bool may_be_last(last_search *t, uint32_t f) {
    const bool is_late = t->ends_s[f] > t->fullest_s * (1 + CLOSE);
    return (is_late || t->ends_s[f] + after_of(t, f) > t->last_s * (1 + SAME)) && !is_exact(t, f);
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* Opens the links that hold a flow below this level, as far as their shares at the start go; false: all are open. */
static bool open_links(last_search *t, uint32_t f, double level) {
    const fab_sharing *s = t->s;
    bool more = false;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        last_link *link = &t->links[s->link[e]];
        if (!link->is_open && t->share[s->link[e]] < level) {
            link->is_open = more = true;
        }
    }
    return more;
}

/* The level that a flow needs to be out of the question. */
static double level_needed(const last_search *t, uint32_t f) {
    const double by_s = least_of(t->fullest_s, t->last_s - after_of(t, f));
    return by_s > 0 ? t->bits[f] / (weight_of(t->s, f) * by_s) : INFINITY;
}

/* Opens what held others of the run at the links of those that may be last. */
static bool open_beside(last_search *t) {
    const fab_sharing *s = t->s;
    bool more = false;
    FAB_EACH(const last_runner, runner, t->runners, t->n_runners) {
        FAB_ANY_IN(is_beside, e, s->first[runner->flow], s->first[runner->flow + 1], t->links[s->link[e]].is_late);
        more = (is_beside && runner->is_held && open_links(t, runner->flow, runner->level * (1 + CLOSE))) || more;
    }
    return more;
}

/* Opens what holds flows that may be last: their links, then those that hold others at their links. */
static bool open_late(last_search *t, uint32_t *out_n) {
    const fab_sharing *s = t->s;
    bool more = false;
    *out_n = 0;
    for (size_t i = 0; i < count_new(t); i++) {
        const uint32_t f = nth_new(t, i);
        if (may_be_last(t, f)) {
            if (++*out_n == 1) {
                for (uint32_t l = 0; l < s->n_links; l++) {
                    t->links[l].is_late = false;
                }
            }
            more = open_links(t, f, level_needed(t, f)) || more;
            for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
                t->links[s->link[e]].is_late = t->links[s->link[e]].is_open;
            }
        }
    }
    return more || (*out_n > 0 && open_beside(t));
}

/* A flow that crosses an open link. */
static fab_status add_runner(last_search *t, uint32_t f, fab_error *err) {
    const fab_sharing *s = t->s;
    last_runner runner = {.residual = t->bits[f] / weight_of(s, f), .level = limit_of(s, f), .flow = f};
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        const bool is_open = t->links[s->link[e]].is_open;
        runner.level = is_open ? runner.level : least_of(runner.level, t->share[s->link[e]]);
    }
    runner.done = runner.residual * DONE;
    return FAB_APPEND(t->runners, t->n_runners, t->runners_capacity, err, runner);
}

/* Everybody who crosses one. */
static fab_status list_runners(last_search *t, fab_error *err) {
    const fab_max_min *m = t->m;
    t->n_runners = 0;
    memset(t->runs, 0, ((size_t)t->s->n_flows / 64 + 1) * sizeof *t->runs);
    for (uint32_t k = 0; k < m->n_kept; k++) {
        last_link *link = &t->links[m->number[k]];
        link->running = link->weight;
        for (uint32_t i = m->first[k]; link->is_open && i < m->first[k + 1]; i++) {
            const uint32_t f = m->flow[i];
            t->runs[f / 64] |= (uint64_t)(t->bits[f] > 0) << (f % 64);
        }
        link->exact = link->is_open ? NOT_ASKED : link->exact;
    }
    for (uint32_t w = 0; w <= t->s->n_flows / 64; w++) {
        for (uint64_t rest = t->runs[w]; rest != 0; rest &= rest - 1) {
            FAB_PASS(add_runner(t, 64 * w + (uint32_t)__builtin_ctzll(rest), err));
        }
    }
    return FAB_OK;
}

static double level_of(const last_search *t, const last_runner *runner) {
    const fab_sharing *s = t->s;
    double level = runner->level;
    for (uint64_t e = s->first[runner->flow]; e < s->first[runner->flow + 1]; e++) {
        const uint32_t l = s->link[e];
        level = t->links[l].is_open ? least_of(level, s->capacity[l] / t->links[l].running) : level;
    }
    return level;
}

/* Puts a runner that is done behind those that are not. */
static void end_runner(last_search *t, size_t i, size_t last, double now_s) {
    const fab_sharing *s = t->s;
    const last_runner runner = t->runners[i];
    for (uint64_t e = s->first[runner.flow]; e < s->first[runner.flow + 1]; e++) {
        t->links[s->link[e]].running -= weight_of(s, runner.flow) * share_at(s, e);
    }
    t->ends_s[runner.flow] = least_of(t->ends_s[runner.flow], now_s);
    t->runners[i] = t->runners[last];
    t->runners[last] = runner;
}

/* False where it is too much work. */
static bool run_down(last_search *t, double *level) {
    double now_s = 0;
    for (size_t n = t->n_runners; n > 0;) {
        double next_s = INFINITY;
        t->work += n;
        if (t->work > MOST_WORK || t->work > MOST_EACH * t->s->n_flows) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            level[i] = level_of(t, &t->runners[i]);
            t->runners[i].is_held = t->runners[i].is_held || level[i] == t->runners[i].level;
            next_s = least_of(next_s, t->runners[i].residual / level[i]);
        }
        now_s += next_s;
        for (size_t i = 0; i < n; i++) {
            t->runners[i].residual -= level[i] * next_s;
        }
        for (size_t i = n; i-- > 0;) {
            if (t->runners[i].residual <= t->runners[i].done) {
                end_runner(t, i, --n, now_s);
            }
        }
    }
    return true;
}

static fab_status narrow(last_search *t, bool *out_done, fab_error *err) {
    FAB_OWNED double *level = NULL;
    uint32_t n_open = 0;
    *out_done = false;
    for (uint32_t i = 0; i < MOST_RUNS; i++) {
        weigh_bounds(t);
        const bool more = open_late(t, &n_open);
        *out_done = n_open == 0;
        if (*out_done || !more) {
            break;
        }
        FAB_PASS(list_runners(t, err));
        free(level);
        level = NULL;
        FAB_PASS(FAB_NEW(level, t->n_runners, err));
        if (!run_down(t, level)) {
            break;
        }
    }
    return FAB_OK;
}

fab_status fab_fluid_last(const fab_max_min *solver, const fab_sharing *sharing, const double *bits,
                          const double *after_s, fab_last_end *out, fab_error *err) {
    last_search t = {.m = solver, .s = sharing, .bits = bits, .after_s = after_s};
    FAB_OWNS_MEMBERS(t.links, t.share, t.ends_s, t.runs, t.runners);
    double last_s = -1;
    *out = (fab_last_end){.is_known = false};
    for (uint32_t f = 0; f < sharing->n_flows; f++) {
        t.most_bits = most_of(t.most_bits, bits[f]);
        t.most_after_s = most_of(t.most_after_s, after_of(&t, f));
        t.has_nothing = t.has_nothing || bits[f] <= 0;
    }
    FAB_PASS(FAB_NEW_ALL(sharing->n_links, err, t.links, t.share));
    FAB_PASS(FAB_NEW(t.ends_s, sharing->n_flows, err));
    FAB_PASS(FAB_NEW(t.runs, (size_t)sharing->n_flows / 64 + 1, err));
    bound_flows(&t);
    FAB_PASS(narrow(&t, &out->is_known, err));
    for (uint32_t f = 0; out->is_known && f < sharing->n_flows; f++) {
        const double end_s = t.ends_s[f];
        if ((end_s > out->last_s || end_s + after_of(&t, f) > last_s * (1 + SAME)) && is_exact(&t, f)) {
            out->last_s = most_of(out->last_s, end_s);
            if (end_s + after_of(&t, f) > last_s * (1 + SAME)) {
                last_s = end_s + after_of(&t, f);
                out->flow = f;
                out->flow_s = end_s;
            }
        }
    }
    out->is_known = out->is_known && last_s >= 0;
    return FAB_OK;
}
