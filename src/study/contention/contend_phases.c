/* The phases that contend, all at once: when each job's last flow ends, and which links jobs share. */
#include "contend_internal.h"

#include "fab/parallel.h"

#define BITS     8.0
#define ROUNDING (1 + 1e-12) /* links this close are equally busy */

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Who uses a link, and for how long. bytes: [n][n_links], one row per job that takes part; row: those that are there.
 */
static void find_parts(const contended *m, const double *bytes, uint32_t link, fab_shared_link *out, uint32_t *row) {
    const fab_fabric *f = m->c->what->fabric;
    const fab_link_class *k = fab_class_of(f, link);
    out->tier = k->tier;
    out->up = fab_is_up(link);
    out->busy_s = 0;
    out->n_parts = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        double own_s = bytes[(size_t)i * f->n_links + link] * BITS / k->usable_bps;
        if (own_s > 0) {
            row[out->n_parts] = i;
            out->parts[out->n_parts++] = (fab_link_part){m->member[i], own_s};
            out->busy_s += own_s;
        }
    }
}

/* Keeps the busiest links, ties by number. */
static void offer_link(const contended *m, const fab_shared_link *found, uint32_t link, fab_contention_engine *e) {
    size_t at = e->n_worst;
    while (at > 0 && e->worst[at - 1].busy_s * ROUNDING < found->busy_s) {
        at--;
    }
    if (at == FAB_SHARED_LINKS) {
        return;
    }
    e->n_worst += e->n_worst < FAB_SHARED_LINKS;
    memmove(&e->worst[at + 1], &e->worst[at], (e->n_worst - at - 1) * sizeof e->worst[0]);
    e->worst[at] = *found;
    (void)fab_link_name(m->c->what->fabric, link, e->worst[at].name);
}

/* A job's bytes are through a link that jobs share fairly when as many of each of the others are, or all of these. */
static void offer_meetings(const fab_shared_link *found, const uint32_t *row, uint32_t n, uint32_t link,
                           contend_meeting *meetings) {
    for (uint32_t i = 0; i < found->n_parts; i++) {
        const double own_s = found->parts[i].busy_s;
        FAB_SUM(double, passed_s, k, found->n_parts, fmin(own_s, found->parts[k].busy_s));
        for (uint32_t k = 0; k < found->n_parts; k++) {
            contend_meeting *at = &meetings[(size_t)row[i] * n + row[k]];
            if (passed_s > at->passed_s * ROUNDING) {
                *at = (contend_meeting){passed_s, fmin(own_s, found->parts[k].busy_s), link};
            }
        }
    }
}

static void find_shared(const contended *m, const double *bytes, size_t engine) {
    const fab_fabric *f = m->c->what->fabric;
    fab_contention_engine *e = &m->c->out->engines[engine];
    uint32_t row[FAB_MAX_JOBS]; /* among those that take part */
    fab_shared_link found = {.n_parts = 0};
    e->n_tiers = 2 * (size_t)f->n_boundaries;
    for (size_t i = 0; i < e->n_tiers; i++) {
        e->tiers[i] = (fab_shared_tier){.tier = (uint32_t)(i / 2 + 1), .up = i % 2 == 0};
    }
    for (uint32_t link = 0; link < f->n_links; link++) {
        const fab_link_class *k = fab_class_of(f, link);
        if (k->tier == 0) {
            continue;
        }
        fab_shared_tier *t = &e->tiers[2 * (k->tier - 1) + (fab_is_up(link) ? 0 : 1)];
        find_parts(m, bytes, link, &found, row);
        t->links++;
        t->used += found.n_parts > 0;
        if (found.n_parts < 2) {
            continue;
        }
        t->shared++;
        e->n_shared++;
        for (uint32_t i = 0; i < found.n_parts; i++) {
            e->jobs[found.parts[i].job].shared_links++;
        }
        offer_link(m, &found, link, e);
        offer_meetings(&found, row, m->n, link, &m->meetings[engine * m->n * m->n]);
    }
}

/* --- times -------------------------------------------------------------------------------------------------------- */

static fab_status run_item(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    contended *m = context;
    contender *c = m->c;
    const contend_item *it = &m->items[index];
    FAB_OWNED double *bytes = NULL;
    for (uint32_t i = 0; i < m->n; i++) {
        const fab_trace trace = {.n_groups = 1, .last_s = &m->alone_s[index * m->n + i]};
        FAB_PASS(contend_trace(&m->single[i], it->engine, it->draw, &trace, err));
    }
    FAB_PASS(it->draw == 0 ? FAB_NEW(bytes, (size_t)m->n * c->what->fabric->n_links, err) : FAB_OK);
    const fab_trace trace = {
        .group = m->all.group, .n_groups = m->n, .last_s = &m->together_s[index * m->n], .bytes = bytes};
    FAB_PASS(contend_trace(&m->all, it->engine, it->draw, &trace, err));
    if (it->draw == 0) {
        find_shared(m, bytes, it->engine);
    }
    return FAB_OK;
}

static fab_status contend_gather(const contended *m, fab_error *err) {
    const contender *c = m->c;
    size_t first = 0;
    FAB_OWNED_NEW(double, values, 3 * c->base->n_seeds, err);
    for (size_t e = 0; e < c->out->n_engines; e++) {
        fab_contention_engine *engine = &c->out->engines[e];
        size_t n = engine->n_seeds;
        for (uint32_t i = 0; i < m->n; i++) {
            uint32_t job = m->member[i];
            fab_contended_phase *out = &engine->jobs[job];
            double latency_s = contend_alone(c, job, c->out->jobs[job].phase_index, e)->latency_s;
            for (size_t s = 0; s < n; s++) {
                double alone_s = m->alone_s[(first + s) * m->n + i] + latency_s;
                double together_s = m->together_s[(first + s) * m->n + i] + latency_s;
                values[s] = alone_s;
                values[n + s] = together_s;
                values[2 * n + s] = alone_s > 0 ? together_s / alone_s : 1;
            }
            fab_stat_of(values, n, &out->alone_s);
            fab_stat_of(values + n, n, &out->together_s);
            fab_stat_of(values + 2 * n, n, &out->slowdown);
        }
        first += n;
    }
    return FAB_OK;
}

/* --- both --------------------------------------------------------------------------------------------------------- */

static fab_status contend_prepare(contended *m, fab_error *err) {
    contender *c = m->c;
    FAB_PASS(FAB_NEW(m->member, c->out->n_jobs, err));
    for (uint32_t job = 0; job < c->out->n_jobs; job++) {
        const fab_contending_job *j = &c->out->jobs[job];
        if (j->phase[0] != '\0') {
            m->phases[m->n] = &c->traffic[job].phases[j->phase_index];
            m->member[m->n++] = job;
        }
    }
    for (size_t e = 0; e < c->out->n_engines; e++) {
        c->out->engines[e].n_seeds = c->n_seeds[e];
        m->n_items += c->out->engines[e].n_seeds;
    }
    FAB_PASS(FAB_NEW(m->single, m->n, err));
    for (uint32_t i = 0; i < m->n; i++) {
        FAB_PASS(contend_union_init(c, &m->phases[i], 1, &m->single[i], err));
    }
    FAB_PASS(contend_union_init(c, m->phases, m->n, &m->all, err));
    FAB_PASS(FAB_NEW(m->items, m->n_items, err));
    FAB_PASS(FAB_NEW_ALL(m->n_items * m->n, err, m->alone_s, m->together_s));
    FAB_PASS(FAB_NEW(m->meetings, c->out->n_engines * m->n * m->n, err));
    m->n_items = 0;
    for (size_t e = 0; e < c->out->n_engines; e++) {
        for (uint64_t draw = 0; draw < c->out->engines[e].n_seeds; draw++) {
            m->items[m->n_items++] = (contend_item){e, draw};
        }
    }
    return FAB_OK;
}

fab_status contend_phases(contended *m, fab_error *err) {
    FAB_PASS(contend_prepare(m, err));
    FAB_PASS(fab_parallel_for(m->n > 0 ? m->n_items : 0, m->c->base->n_threads, run_item, m, err));
    return m->n > 0 ? contend_gather(m, err) : FAB_OK;
}

void contended_release(contended *m) {
    FAB_RELEASE_EACH(contend_union_release, m->single, m->n);
    contend_union_release(&m->all);
    FAB_FREE_ALL(m->single, m->member, m->items, m->alone_s, m->together_s, m->meetings);
}
