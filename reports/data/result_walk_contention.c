/* The objects `contention` and `degradation`: jobs that meet, and parts that are slow. */
#include "fab/contention.h"
#include "fab/degradation.h"
#include "result_fields.h"

/* --- several jobs --------------------------------------------------------------------------------------------------
 */

static void walk_job(walk *w, const fab_contention *c, const fab_contending_job *j) {
    object(w, NULL);
    string(w, "job", j->id);
    text(w, "traffic", j->traffic);
    integer(w, "gpus", j->n_gpus);
    integer(w, "servers", j->n_servers);
    text(w, "contends", j->phase);
    array(w, "alone", "phase");
    for (size_t p = 0; p < j->n_phases; p++) {
        for (size_t e = 0; e < c->n_engines; e++) {
            const fab_phase_alone *alone = &j->alone[p * c->n_engines + e];
            row(w);
            string(w, "phase", j->phases[p]);
            string(w, "engine", c->engines[e].label);
            integer(w, "network_flows", j->network_flows[p]);
            if (alone->has_time) {
                number(w, "time_s", alone->time_s);
                number(w, "latency_s", alone->latency_s);
            }
            end(w);
        }
    }
    end(w);
    end(w);
}

static void walk_meetings(walk *w, const fab_contention *c, const fab_contention_engine *e) {
    bool many = e->n_seeds > 1;
    array(w, "jobs", "job");
    for (size_t i = 0; i < c->n_jobs; i++) {
        const fab_meeting *m = &e->jobs[i];
        if (c->jobs[i].phase[0] == '\0') {
            continue;
        }
        object(w, NULL);
        string(w, "job", c->jobs[i].id);
        string(w, "phase", c->jobs[i].phase);
        integer(w, "shared_links", m->shared_links);
        if (m->has_iteration) {
            number(w, "iteration_alone_s", m->iteration_alone_s);
            number(w, "iteration_together_s", m->iteration_together_s);
        }
        stat(w, "alone_s", &m->alone_s, many);
        stat(w, "together_s", &m->together_s, many);
        stat(w, "slowdown_ratio", &m->slowdown, many);
        end(w);
    }
    end(w);
}

static void walk_links(walk *w, const fab_contention *c, const fab_contention_engine *e) {
    array(w, "boundaries", "boundary");
    for (size_t i = 0; i < e->n_tiers; i++) {
        const fab_shared_tier *t = &e->tiers[i];
        row(w);
        string(w, "boundary", fab_boundary_name(c->wiring, t->tier));
        string(w, "direction", fab_direction_name(c->wiring, t->tier, t->up));
        integer(w, "links", t->links);
        integer(w, "used", t->used);
        integer(w, "shared", t->shared);
        end(w);
    }
    end(w);
    array(w, "shared_links", "link");
    for (size_t i = 0; i < e->n_worst; i++) {
        const fab_shared_link *l = &e->worst[i];
        object(w, NULL);
        string(w, "link", l->name);
        number(w, "busy_s", l->busy_s);
        array(w, "jobs", "job");
        for (uint32_t k = 0; k < l->n_parts; k++) {
            row(w);
            string(w, "job", c->jobs[l->parts[k].job].id);
            number(w, "busy_s", l->parts[k].busy_s);
            end(w);
        }
        end(w);
        end(w);
    }
    end(w);
}

static void walk_interference(walk *w, const fab_contention *c) {
    if (c->n_interference == 0) {
        return;
    }
    array(w, "interference", "pair");
    for (size_t i = 0; i < c->n_interference; i++) {
        const fab_interference *t = &c->interference[i];
        const fab_contending_job *job = &c->jobs[t->job];
        const fab_contending_job *other = &c->jobs[t->other];
        object(w, NULL);
        string(w, "engine", c->engines[t->engine].label);
        string(w, "job", job->id);
        string(w, "other", other->id);
        number(w, "mean_slowdown_ratio", t->mean);
        if (t->n_rows > 0 && t->n_columns > 0) {
            number(w, "worst_slowdown_ratio", t->worst);
            string(w, "worst_phase", job->phases[t->phase[t->worst_row]]);
            string(w, "worst_other_phase", other->phases[t->other_phase[t->worst_column]]);
        }
        array(w, "cells", "cell");
        for (size_t k = 0; k < t->n_rows * t->n_columns; k++) {
            row(w);
            string(w, "phase", job->phases[t->phase[k / t->n_columns]]);
            string(w, "other_phase", other->phases[t->other_phase[k % t->n_columns]]);
            number(w, "slowdown_ratio", t->slowdown[k]);
            end(w);
        }
        end(w);
        end(w);
    }
    end(w);
}

void fab_walk_contention(walk *w, const fab_contention *c) {
    object(w, "contention");
    array(w, "jobs", "job");
    for (size_t i = 0; i < c->n_jobs; i++) {
        walk_job(w, c, &c->jobs[i]);
    }
    end(w);
    array(w, "engines", "engine");
    for (size_t e = 0; e < c->n_engines; e++) {
        object(w, NULL);
        string(w, "engine", c->engines[e].label);
        integer(w, "seeds", c->engines[e].n_seeds);
        integer(w, "links_of_several_jobs", c->engines[e].n_shared);
        walk_meetings(w, c, &c->engines[e]);
        walk_links(w, c, &c->engines[e]);
        end(w);
    }
    end(w);
    walk_interference(w, c);
    end(w);
}

/* --- slower parts --------------------------------------------------------------------------------------------------
 */

static void walk_degraded_phase(walk *w, const fab_degradation *d, size_t phase, size_t engine) {
    const fab_degraded_phase *p = &d->phases[phase * d->n_engines + engine];
    const char *comms[FAB_HIT_COMMS];
    object(w, NULL);
    string(w, "phase", d->names[phase]);
    string(w, "engine", d->labels[engine]);
    if (p->has_time) {
        number(w, "factor_ratio", p->factor);
    }
    if (p->has_hits) {
        integer(w, "hit_flows", p->hit_flows);
        integer(w, "hit_communicators", p->hit_comms);
    }
    if (p->has_time) {
        stat(w, "before_s", &p->before_s, d->n_seeds > 1);
        stat(w, "after_s", &p->after_s, d->n_seeds > 1);
    }
    for (uint32_t i = 0; i < p->n_named; i++) {
        comms[i] = p->comms[i];
    }
    if (w->emit != NULL && p->n_named > 0) {
        w->emit->strings(w->self, "communicators", "communicator", comms, p->n_named);
    }
    end(w);
}

void fab_walk_degradation(walk *w, const fab_degradation *d) {
    object(w, "degradation");
    integer(w, "cables", d->n_cables);
    number(w, "compute_ratio", d->compute_ratio);
    array(w, "parts", "part");
    for (size_t i = 0; i < d->n_parts; i++) {
        row(w);
        string(w, "part", d->parts[i].name);
        number(w, "speed_ratio", d->parts[i].ratio);
        end(w);
    }
    end(w);
    if (d->n_iterations > 0) {
        array(w, "iterations", "iteration");
        for (size_t e = 0; e < d->n_iterations; e++) {
            row(w);
            string(w, "engine", d->labels[e]);
            number(w, "before_s", d->iterations[e].before_s);
            number(w, "after_s", d->iterations[e].after_s);
            end(w);
        }
        end(w);
    }
    array(w, "phases", "phase");
    for (size_t p = 0; p < d->n_phases; p++) {
        for (size_t e = 0; e < d->n_engines; e++) {
            walk_degraded_phase(w, d, p, e);
        }
    }
    end(w);
    end(w);
}
