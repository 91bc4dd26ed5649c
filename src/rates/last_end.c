/* The last end, from shares alone.
 *
 * A flow has at least its share of the link of its path where shares are least, capacity over the weights that are
 * still under way; so it ends no later than in a run in which everybody gets just that: its bound. A link carries its
 * bits no faster than it can. Where the bounds of all of its flows say that it is done by then, they are exact: nobody
 * on it can have had more. What cannot end last needs no more than its bound. */
#include "fab/fluid.h"
#include "fab/memory.h"

#include <math.h>
#include <stdlib.h>

#define CLOSE     1e-11 /* times that are equal but for rounding */
#define DONE      1e-13 /* of a flow: rounding */
#define SAME      1e-12
#define MOST_RUNS 16
#define MOST_WORK (UINT64_C(1) << 24) /* looks at a flow */

typedef struct last_link {
    double weight, bits; /* of its flows */
    double latest;       /* bound of its flows */
    double least_after;  /* what comes after any of them */
    double running;      /* weight under way, in a run */
    bool is_exact;       /* so are the bounds of its flows */
    bool is_open;        /* its share grows in runs */
    bool is_late;        /* a flow that it holds may be the last */
} last_link;

typedef struct last_runner {
    double residual, done; /* bits per weight; no more than `done` is nothing */
    double level;          /* per weight, that links which are not open leave it */
    uint32_t flow;
    bool is_held; /* by one of these, at any time */
} last_runner;

typedef struct last_search {
    const fab_sharing *s;
    const double *bits, *after_s;
    last_link *links;
    double *ends_s; /* [flow]: bounds */
    last_runner *runners;
    size_t n_runners, runners_capacity;
    double fullest_s; /* the last end is no sooner */
    double last_s;    /* nor is the last of ends with what comes after */
    uint64_t work;
} last_search;

static double weight_of(const fab_sharing *s, uint32_t f) {
    return s->weight != NULL ? s->weight[f] : 1;
}

static double share_at(const fab_sharing *s, uint64_t e) {
    return s->share != NULL ? s->share[e] : 1;
}

static double after_of(const last_search *t, uint32_t f) {
    return t->after_s != NULL ? t->after_s[f] : 0;
}

static double limit_of(const fab_sharing *s, uint32_t f) {
    return s->limit != NULL ? s->limit[f] / weight_of(s, f) : INFINITY;
}

static double link_s(const last_search *t, uint32_t l) {
    return t->links[l].bits / t->s->capacity[l];
}

/* Bounds from the shares at the start. */
static void bound_flows(last_search *t) {
    const fab_sharing *s = t->s;
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; t->bits[f] > 0 && e < s->first[f + 1]; e++) {
            last_link *link = &t->links[s->link[e]];
            link->least_after = link->weight > 0 ? fmin(link->least_after, after_of(t, f)) : after_of(t, f);
            link->weight += weight_of(s, f) * share_at(s, e);
            link->bits += t->bits[f] * share_at(s, e);
        }
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = limit_of(s, f);
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            level = fmin(level, s->capacity[s->link[e]] / t->links[s->link[e]].weight);
        }
        t->ends_s[f] = t->bits[f] > 0 ? t->bits[f] / (weight_of(s, f) * level) : 0;
    }
}

static bool is_exact(const last_search *t, uint32_t f) {
    const fab_sharing *s = t->s;
    bool exact = s->limit != NULL && t->ends_s[f] <= t->bits[f] / s->limit[f] * (1 + CLOSE);
    for (uint64_t e = s->first[f]; !exact && e < s->first[f + 1]; e++) {
        exact = t->links[s->link[e]].is_exact;
    }
    return exact || t->ends_s[f] == 0;
}

/* What bounds say of links, and what no last end is sooner than. */
static void weigh_bounds(last_search *t) {
    const fab_sharing *s = t->s;
    for (uint32_t l = 0; l < s->n_links; l++) {
        t->links[l].latest = 0;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            last_link *link = &t->links[s->link[e]];
            link->latest = fmax(link->latest, t->ends_s[f]);
        }
    }
    for (uint32_t l = 0; l < s->n_links; l++) {
        const double least_s = link_s(t, l);
        t->fullest_s = fmax(t->fullest_s, least_s);
        t->last_s = fmax(t->last_s, least_s + t->links[l].least_after);
        t->links[l].is_exact = t->links[l].weight > 0 && t->links[l].latest <= least_s * (1 + CLOSE);
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (is_exact(t, f)) {
            t->fullest_s = fmax(t->fullest_s, t->ends_s[f] * (1 - CLOSE));
            t->last_s = fmax(t->last_s, t->ends_s[f] + after_of(t, f));
        }
    }
}

/* Whether its bound leaves it open whether a flow is the last. */
static bool may_be_last(const last_search *t, uint32_t f) {
    const bool is_late = t->ends_s[f] > t->fullest_s * (1 + 2 * CLOSE);
    return (is_late || t->ends_s[f] + after_of(t, f) > t->last_s * (1 + SAME)) && !is_exact(t, f);
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

/* Opens the links that hold a flow below this level, as far as their shares at the start go; false: all are open. */
static bool open_links(last_search *t, uint32_t f, double level) {
    const fab_sharing *s = t->s;
    bool more = false;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        last_link *link = &t->links[s->link[e]];
        if (!link->is_open && s->capacity[s->link[e]] / link->weight < level) {
            link->is_open = more = true;
        }
    }
    return more;
}

/* The level that a flow needs to be out of the question. */
static double level_needed(const last_search *t, uint32_t f) {
    const double by_s = fmin(t->fullest_s, t->last_s - after_of(t, f));
    return by_s > 0 ? t->bits[f] / (weight_of(t->s, f) * by_s) : INFINITY;
}

/* Opens what holds flows that may be last: their links, then those that hold others at their links. */
static bool open_late(last_search *t, uint32_t *out_n) {
    const fab_sharing *s = t->s;
    bool more = false;
    bool opened = false;
    *out_n = 0;
    for (uint32_t l = 0; l < s->n_links; l++) {
        t->links[l].is_late = false;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (may_be_last(t, f)) {
            ++*out_n;
            more = open_links(t, f, level_needed(t, f)) || more;
            for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
                t->links[s->link[e]].is_late = t->links[s->link[e]].is_open;
            }
        }
    }
    for (size_t i = 0; !more && i < t->n_runners; i++) { /* of the run before */
        const uint32_t f = t->runners[i].flow;
        bool is_beside = false;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            is_beside = is_beside || t->links[s->link[e]].is_late;
        }
        opened = (is_beside && t->runners[i].is_held && open_links(t, f, t->runners[i].level * (1 + CLOSE))) || opened;
    }
    return more || opened;
}

/* Everybody who crosses an open link. */
static fab_status list_runners(last_search *t, fab_error *err) {
    const fab_sharing *s = t->s;
    t->n_runners = 0;
    for (uint32_t l = 0; l < s->n_links; l++) {
        t->links[l].running = t->links[l].weight;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        last_runner runner = {.residual = t->bits[f] / weight_of(s, f), .level = limit_of(s, f), .flow = f};
        bool runs = false;
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            const last_link *link = &t->links[s->link[e]];
            runs = runs || link->is_open;
            runner.level = link->is_open ? runner.level : fmin(runner.level, s->capacity[s->link[e]] / link->weight);
        }
        if (runs && runner.residual > 0) {
            runner.done = runner.residual * DONE;
            FAB_PASS(FAB_GROW(t->runners, t->runners_capacity, t->n_runners + 1, err));
            t->runners[t->n_runners++] = runner;
        }
    }
    return FAB_OK;
}

static double level_of(const last_search *t, const last_runner *runner) {
    const fab_sharing *s = t->s;
    double level = runner->level;
    for (uint64_t e = s->first[runner->flow]; e < s->first[runner->flow + 1]; e++) {
        const last_link *link = &t->links[s->link[e]];
        level = link->is_open ? fmin(level, s->capacity[s->link[e]] / link->running) : level;
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
    t->ends_s[runner.flow] = fmin(t->ends_s[runner.flow], now_s);
    t->runners[i] = t->runners[last];
    t->runners[last] = runner;
}

/* False where it is too much work. */
static bool run_down(last_search *t, double *level) {
    double now_s = 0;
    for (size_t n = t->n_runners; n > 0;) {
        double next_s = INFINITY;
        t->work += n;
        if (t->work > MOST_WORK) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            level[i] = level_of(t, &t->runners[i]);
            t->runners[i].is_held = t->runners[i].is_held || level[i] == t->runners[i].level;
            next_s = fmin(next_s, t->runners[i].residual / level[i]);
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
    fab_status status = FAB_OK;
    double *level = NULL;
    uint32_t n_open = 0;
    *out_done = false;
    for (uint32_t i = 0; i < MOST_RUNS; i++) {
        weigh_bounds(t);
        const bool more = open_late(t, &n_open);
        *out_done = n_open == 0;
        if (*out_done || !more) {
            break;
        }
        FAB_TRY(list_runners(t, err));
        free(level);
        level = NULL;
        FAB_TRY(FAB_NEW(level, t->n_runners, err));
        if (!run_down(t, level)) {
            break;
        }
    }
done:
    free(level);
    return status;
}

fab_status fab_fluid_last(const fab_sharing *sharing, const double *bits, const double *after_s, fab_last_end *out,
                          fab_error *err) {
    fab_status status = FAB_OK;
    last_search t = {.s = sharing, .bits = bits, .after_s = after_s};
    double last_s = -1;
    *out = (fab_last_end){.is_known = false};
    FAB_TRY(FAB_NEW(t.links, sharing->n_links, err));
    FAB_TRY(FAB_NEW(t.ends_s, sharing->n_flows, err));
    bound_flows(&t);
    FAB_TRY(narrow(&t, &out->is_known, err));
    for (uint32_t f = 0; out->is_known && f < sharing->n_flows; f++) {
        if (!is_exact(&t, f)) {
            continue;
        }
        out->last_s = fmax(out->last_s, t.ends_s[f]);
        if (t.ends_s[f] + after_of(&t, f) > last_s * (1 + SAME)) {
            last_s = t.ends_s[f] + after_of(&t, f);
            out->flow = f;
            out->flow_s = t.ends_s[f];
        }
    }
done:
    FAB_FREE_ALL(t.links, t.ends_s, t.runners);
    return status;
}
