/* Which phases of two jobs have no link in common: started at once each takes what it takes alone. */
#include "contend_internal.h"

#include "fab/parallel.h"

#define WORD 64 /* links in one */

static uint64_t *reach_of(const contend_reach *r, size_t engine, size_t job, size_t phase) {
    return &r->bits[((engine * r->c->out->n_jobs + job) * r->n_phases + phase) * r->n_words];
}

/* Whether paths depend on no other flow. */
static fab_status is_static(const contender *c, size_t engine, bool *out, fab_error *err) {
    const fab_router *router = NULL;
    FAB_PASS(fab_context_router(c->base->context, engine, &router, err));
    *out = !fab_router_facts_of(router)->takes_phases && !fab_router_facts_of(router)->is_by_demand;
    return FAB_OK;
}

/* The links of one phase under one engine in any draw, those inside servers included. */
static fab_status find_links(void *context, size_t index, FAB_UNUSED size_t worker, fab_error *err) {
    const contend_reach *r = context;
    const contender *c = r->c;
    const size_t n_links = c->what->fabric->n_links;
    const size_t phase = index % r->n_phases;
    const size_t job = index / r->n_phases % c->out->n_jobs;
    const size_t engine = index / r->n_phases / c->out->n_jobs;
    uint64_t *bits = reach_of(r, engine, job, phase);
    bool is_wanted = phase < c->out->jobs[job].n_phases && c->out->jobs[job].network_flows[phase] > 0;
    double last_s;
    FAB_OWNS(contend_union_release) contend_union alone = {.n = 0};
    FAB_PASS(is_wanted ? is_static(c, engine, &is_wanted, err) : FAB_OK);
    if (!is_wanted) { /* meets all */
        memset(bits, 0xff, r->n_words * sizeof *bits);
        return FAB_OK;
    }
    FAB_OWNED_NEW(double, bytes, n_links, err);
    const fab_phase *of = &c->traffic[job].phases[phase];
    const fab_trace trace = {.n_groups = 1, .last_s = &last_s, .bytes = bytes};
    FAB_PASS(contend_union_init(c, &of, 1, &alone, err));
    for (uint64_t draw = 0; draw < c->n_seeds[engine]; draw++) {
        FAB_PASS(contend_trace(&alone, engine, draw, &trace, err));
        for (size_t l = 0; l < n_links; l++) {
            bits[l / WORD] |= (uint64_t)(bytes[l] > 0) << l % WORD;
        }
    }
    return FAB_OK;
}

fab_status contend_reach_find(const contender *c, contend_reach *out, fab_error *err) {
    *out = (contend_reach){.c = c, .n_words = c->what->fabric->n_links / WORD + 1};
    for (size_t job = 0; job < c->out->n_jobs; job++) {
        out->n_phases = c->out->jobs[job].n_phases > out->n_phases ? c->out->jobs[job].n_phases : out->n_phases;
    }
    const size_t n = c->out->n_engines * c->out->n_jobs * out->n_phases;
    FAB_PASS(FAB_NEW(out->bits, n * out->n_words, err));
    return fab_parallel_for(n, c->base->n_threads, find_links, out, err);
}

bool contend_reach_meets(const contend_reach *r, size_t engine, const size_t job[2], const size_t phase[2]) {
    const uint64_t *of[2] = {reach_of(r, engine, job[0], phase[0]), reach_of(r, engine, job[1], phase[1])};
    FAB_ANY(meets, i, r->n_words, (of[0][i] & of[1][i]) != 0);
    return meets;
}
