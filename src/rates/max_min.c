/* Whole solutions: the input is checked, filled, and the result held against the definition. */
#include "fab/max_min.h"
#include "fab/memory.h"
#include "fill.h"
#include "solver.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define TOLERANCE 1e-9 /* of the check */
#define AHEAD     16   /* flows whose links are asked for before they are needed */

static bool is_positive(double x) {
    return x > 0 && isfinite(x);
}

fab_status check_sharing(const fab_sharing *s, fab_error *err) {
    for (uint32_t l = 0; l < s->n_links; l++) {
        if (!(s->capacity[l] > 0)) {
            return fab_fail(err, FAB_EINPUT, NULL, "link %u has the capacity %g; it must be above 0", l,
                            s->capacity[l]);
        }
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        if (s->first[f] > s->first[f + 1]) {
            return fab_fail(err, FAB_EINPUT, NULL, "the links of flow %u end before they begin", f);
        }
        if (s->weight != NULL && !is_positive(s->weight[f])) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u has the weight %g; it must be finite and above 0", f,
                            s->weight[f]);
        }
        if (s->limit != NULL && !(s->limit[f] > 0)) {
            return fab_fail(err, FAB_EINPUT, NULL, "flow %u has the limit %g; it must be above 0", f, s->limit[f]);
        }
    }
    for (uint64_t e = s->first[0]; s->share != NULL && e < s->first[s->n_flows]; e++) {
        if (!is_positive(s->share[e])) {
            return fab_fail(err, FAB_EINPUT, NULL, "entry %llu has the share %g; it must be finite and above 0",
                            (unsigned long long)e, s->share[e]);
        }
    }
    return FAB_OK;
}

/* Load of every kept link and the largest level on it; copies the rates. A link that is not kept carries no more than
 * another that is not wider, or can carry anything. */
static void add_up(const fab_max_min *m, const fab_sharing *s, double *out_rate) {
    for (uint32_t l = 0; l <= m->n_kept; l++) {
        m->check[l] = (link_check){0};
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        const flow_record *record = &m->records[f];
        double rate = record->rate;
        double level = s->weight != NULL ? rate / s->weight[f] : rate;
        out_rate[f] = rate;
        for (uint32_t i = 0; i < RECORD_LINKS && f + AHEAD < s->n_flows; i++) {
            uint32_t l = record[AHEAD].link[i];
            __builtin_prefetch(&m->check[l <= m->n_kept ? l : 0], 1);
        }
        if (record->link[0] != NO_LINK) {
            for (uint32_t i = 0; i < RECORD_LINKS; i++) {
                link_check *c = &m->check[record->link[i]];
                c->load += rate;
                c->top = level > c->top ? level : c->top;
            }
            continue;
        }
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t l = m->kept[s->link[e]];
            if (l != NO_LINK) {
                link_check *c = &m->check[l];
                c->load += s->share != NULL ? rate * s->share[e] : rate;
                c->top = level > c->top ? level : c->top;
            }
        }
    }
}

/* The lowest kept link that holds a flow of this level, or NO_LINK. */
static uint32_t find_holder(const fab_max_min *m, const fab_sharing *s, uint32_t f, double level) {
    uint32_t found = NO_LINK;
    const flow_record *record = &m->records[f];
    if (record->link[0] != NO_LINK) {
        for (uint32_t i = 0; i < RECORD_LINKS; i++) {
            uint32_t l = record->link[i];
            l |= 0U - (uint32_t)(level < m->held[l].least); /* NO_LINK where it does not: no branch to guess wrong */
            found = l < found ? l : found;
        }
        return found;
    }
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        uint32_t l = m->kept[s->link[e]];
        found = l != NO_LINK && level >= m->held[l].least && l < found ? l : found;
    }
    return found;
}

/* The same with the tolerance of the check; a limit, or nothing at all, may hold the flow too. */
static fab_status certify_flow(const fab_max_min *m, const fab_sharing *s, uint32_t f, double rate, uint32_t *out,
                               fab_error *err) {
    double level = s->weight != NULL ? rate / s->weight[f] : rate;
    bool can_hold = false;
    *out = FAB_NO_BOTTLENECK;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        uint32_t l = s->link[e];
        const link_check *c = m->kept[l] != NO_LINK ? &m->check[m->kept[l]] : NULL;
        bool holds = c != NULL && c->load >= s->capacity[l] * (1 - TOLERANCE) && level >= c->top * (1 - TOLERANCE);
        *out = holds && l < *out ? l : *out;
        can_hold = can_hold || isfinite(s->capacity[l]);
    }
    if (*out != FAB_NO_BOTTLENECK || (s->limit != NULL && rate >= s->limit[f])) {
        return FAB_OK;
    }
    if (can_hold) {
        return fab_fail(err, FAB_EINTERNAL, NULL, "flow %u could have more than %.17g bit/s: no link holds it", f,
                        rate);
    }
    return rate == INFINITY ? FAB_OK
                            : fab_fail(err, FAB_EINTERNAL, NULL, "nothing holds flow %u at %.17g bit/s", f, rate);
}

/* Holds the rates of the records against the definition of max-min fairness, and hands them out. */
static fab_status certify(fab_max_min *m, const fab_sharing *s, double *out_rate, uint32_t *out_bottleneck,
                          fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(solver_check_room(m, err));
    add_up(m, s, out_rate);
    for (uint32_t l = 0; l < m->n_kept; l++) {
        const link_check *c = &m->check[l];
        double capacity = s->capacity[m->number[l]];
        if (c->load > capacity * (1 + TOLERANCE)) {
            FAB_FAIL(err, FAB_EINTERNAL, NULL, "link %u carries %.17g bit/s; its capacity is %.17g", m->number[l],
                     c->load, capacity);
        }
        double least = c->load >= capacity * (1 - FILL_SLACK) ? c->top * (1 - FILL_SLACK) : INFINITY;
        m->held[l] = (link_held){least, m->number[l]};
    }
    m->held[m->n_kept] = (link_held){INFINITY, NO_LINK};

    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = s->weight != NULL ? out_rate[f] / s->weight[f] : out_rate[f];
        for (uint32_t i = 0; i < RECORD_LINKS && f + AHEAD < s->n_flows; i++) {
            uint32_t l = m->records[f + AHEAD].link[i];
            __builtin_prefetch(&m->held[l <= m->n_kept ? l : 0]);
        }
        uint32_t found = find_holder(m, s, f, level);
        uint32_t bottleneck = FAB_NO_BOTTLENECK;
        if (found == NO_LINK || level == INFINITY) {
            FAB_TRY(certify_flow(m, s, f, out_rate[f], &bottleneck, err));
        } else {
            bottleneck = m->held[found].number;
        }
        if (out_bottleneck != NULL) {
            out_bottleneck[f] = bottleneck;
        }
    }
done:
    return status;
}

fab_status fab_max_min_solve(fab_max_min *solver, const fab_sharing *sharing, double *out_rate,
                             uint32_t *out_bottleneck, fab_error *err) {
    fab_status status = FAB_OK;
    FAB_TRY(check_sharing(sharing, err));
    FAB_TRY(fill_records(solver, sharing, NULL, err));
    FAB_TRY(certify(solver, sharing, out_rate, out_bottleneck, err));
done:
    return status;
}
