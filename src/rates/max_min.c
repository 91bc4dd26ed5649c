/* Whole solutions: links are filled, and the result held against the definition. */
#include "fab/multiversion.h"
#include "solver.h"

#include <math.h>

#define TOLERANCE 1e-9 /* of the check */
#define NAMED     256  /* flows whose links are named at once */

/* --- the certificate -----------------------------------------------------------------------------------------------
 *
 * Filling says which links hold flows, and from which level. That is checked, from the rates alone, in one pass over
 * the flows: each must cross a link that is its bottleneck, and none may have more on a link than those that the link
 * holds. The loads of the same pass then tell whether these links are full. Where anything does not fit, a second pass
 * finds loads and levels without what filling says, and looks for any link that is its bottleneck, with tolerance. */

/* The rate of flow f per weight; asks for what later flows need. */
FAB_INLINE double level_at(const fab_max_min *m, const fab_sharing *s, uint32_t f) {
    const flow_record *record = &m->records[f];
    for (uint32_t i = 0; i < RECORD_LINKS; i++) {
        uint32_t l = record_link(&record[RECORDS_AHEAD], i);
        __builtin_prefetch(&m->check[i > 0 || l != RECORD_NONE ? l : 0], 1);
    }
    return s->weight != NULL ? record->rate / s->weight[f] : record->rate;
}

/* Links that filling calls full hold the flows that have as much as the last that stopped there. A link that is not
 * kept carries no more than another that is not wider, or can carry anything. */
static void take_claims(fab_max_min *m, const fab_sharing *s) {
    for (uint32_t l = 0; l < m->n_kept; l++) {
        const link_state *link = &m->links[l];
        double capacity = s->capacity[m->number[l]];
        bool is_full = link->residual <= FILL_SLACK * capacity;
        m->check[l] = (link_check){.level = is_full ? m->levels[link->step] * (1 - FILL_SLACK) : INFINITY};
    }
    m->check[m->n_kept] = (link_check){.level = INFINITY};
}

/* Of the links of a flow: the lowest that holds it, and the least level from which any of them holds one. */
typedef struct held {
    uint32_t found;
    double least;
} held;

/* A flow of this level brings a load onto a link. */
FAB_INLINE void load_link(fab_max_min *m, uint32_t l, double load, double level, held *h) {
    link_check *c = &m->check[l];
    double least = c->level;
    c->load += load;
    l = level < least ? NO_LINK : l; /* no branch to guess wrong */
    h->found = l < h->found ? l : h->found;
    h->least = least < h->least ? least : h->least;
}

static bool is_unbounded(const fab_sharing *s, uint32_t f, double rate) {
    FAB_ANY_IN(can_hold, e, s->first[f], s->first[f + 1], isfinite(s->capacity[s->link[e]]));
    return rate == INFINITY && !can_hold;
}

/* Numbers of the sharing, of several links at once: apart from the rest so that one need not wait for another. */
static void name_links(const fab_max_min *m, const uint32_t *link, uint32_t n, uint32_t *out) {
    for (uint32_t i = 0; i < n; i++) {
        out[i] = link[i] != NO_LINK ? m->number[link[i]] : FAB_NO_BOTTLENECK;
    }
}

/* @return whether the claims hold for all flows; their rates and bottlenecks are handed out. */
static bool check_flows(fab_max_min *m, const fab_sharing *s, double *out_rate, uint32_t *out_bottleneck) {
    bool holds = true;
    uint32_t found[NAMED];
    for (uint32_t f = 0; f < s->n_flows; f++) {
        const flow_record *record = &m->records[f];
        double rate = record->rate;
        double level = level_at(m, s, f);
        held h = {NO_LINK, INFINITY};
        out_rate[f] = rate;
        if (record_has_links(record)) {
            for (uint32_t i = 0; i < RECORD_LINKS; i++) {
                load_link(m, record_link(record, i), rate, level, &h);
            }
        }
        for (uint64_t e = s->first[f]; !record_has_links(record) && e < s->first[f + 1]; e++) {
            uint32_t l = m->kept[s->link[e]];
            if (l != NO_LINK) {
                load_link(m, l, s->share != NULL ? rate * s->share[e] : rate, level, &h);
            }
        }
        found[f % NAMED] = h.found < m->n_kept ? h.found : NO_LINK;
        if (h.found >= m->n_kept) {
            holds = holds && ((s->limit != NULL && rate >= s->limit[f]) || is_unbounded(s, f, rate));
        }
        holds = holds && level <= h.least * (1 + 2 * FILL_SLACK) && !(s->limit != NULL && rate > s->limit[f]);
        if (out_bottleneck != NULL && (f % NAMED == NAMED - 1 || f == s->n_flows - 1)) {
            name_links(m, found, f % NAMED + 1, out_bottleneck + f - f % NAMED);
        }
    }
    return holds;
}

/* Whether links are as full as is claimed. */
static fab_status check_links(const fab_max_min *m, const fab_sharing *s, bool *out_holds, fab_error *err) {
    for (uint32_t l = 0; l < m->n_kept; l++) {
        const link_check *c = &m->check[l];
        double capacity = s->capacity[m->number[l]];
        FAB_REFUSE_IF(c->load > capacity * (1 + TOLERANCE), err, FAB_EINTERNAL, NULL,
                      "link %u carries %.17g bit/s; its capacity is %.17g", m->number[l], c->load, capacity);
        *out_holds = *out_holds && (c->level == INFINITY || c->load >= capacity * (1 - 2 * FILL_SLACK));
    }
    return FAB_OK;
}

/* The largest level on every kept link. */
static void find_tops(fab_max_min *m, const fab_sharing *s) {
    for (uint32_t l = 0; l <= m->n_kept; l++) {
        m->check[l].level = 0;
    }
    for (uint32_t f = 0; f < s->n_flows; f++) {
        double level = level_at(m, s, f);
        for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
            uint32_t l = m->kept[s->link[e]];
            if (l != NO_LINK && level > m->check[l].level) {
                m->check[l].level = level;
            }
        }
    }
}

/* Looks for the lowest bottleneck of a flow, with this tolerance; a limit, or nothing at all, may hold it too. */
static bool find_holder(const fab_max_min *m, const fab_sharing *s, uint32_t f, double tolerance, uint32_t *out) {
    double rate = m->records[f].rate;
    double level = s->weight != NULL ? rate / s->weight[f] : rate;
    *out = FAB_NO_BOTTLENECK;
    for (uint64_t e = s->first[f]; e < s->first[f + 1]; e++) {
        uint32_t l = s->link[e];
        const link_check *c = m->kept[l] != NO_LINK ? &m->check[m->kept[l]] : NULL;
        bool holds = c != NULL && c->load >= s->capacity[l] * (1 - tolerance) && level >= c->level * (1 - tolerance);
        *out = holds && l < *out ? l : *out;
    }
    return *out != FAB_NO_BOTTLENECK || (s->limit != NULL && rate >= s->limit[f]) || is_unbounded(s, f, rate);
}

/* Holds the rates of the records against the definition of max-min fairness, and hands them out. */
static fab_status certify(fab_max_min *m, const fab_sharing *s, double *out_rate, uint32_t *out_bottleneck,
                          fab_error *err) {
    FAB_PASS(solver_reserve_check(m, err));
    take_claims(m, s);
    bool holds = check_flows(m, s, out_rate, out_bottleneck);
    FAB_PASS(check_links(m, s, &holds, err));
    if (holds) {
        return FAB_OK;
    }
    find_tops(m, s);
    for (uint32_t f = 0; f < s->n_flows; f++) {
        uint32_t bottleneck = FAB_NO_BOTTLENECK;
        FAB_REFUSE_IF(s->limit != NULL && out_rate[f] > s->limit[f], err, FAB_EINTERNAL, NULL,
                      "flow %u has %.17g bit/s; its limit is %.17g", f, out_rate[f], s->limit[f]);
        FAB_REFUSE_IF(!find_holder(m, s, f, FILL_SLACK, &bottleneck) && !find_holder(m, s, f, TOLERANCE, &bottleneck),
                      err, FAB_EINTERNAL, NULL, "flow %u could have more than %.17g bit/s: it has no bottleneck", f,
                      out_rate[f]);
        if (out_bottleneck != NULL) {
            out_bottleneck[f] = bottleneck;
        }
    }
    return FAB_OK;
}

fab_status fab_max_min_solve(fab_max_min *solver, const fab_sharing *sharing, double *out_rate,
                             uint32_t *out_bottleneck, fab_error *err) {
    FAB_PASS(fill_records(solver, sharing, err));
    return certify(solver, sharing, out_rate, out_bottleneck, err);
}
