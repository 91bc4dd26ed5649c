/* The object `sweep`: a design at many values of a parameter. */
#include "result_fields.h"

static void walk_phase(walk *w, const fab_sweep_point *p, const fab_sweep_phase *phase) {
    object(w, NULL);
    string(w, "name", phase->name);
    string(w, "collective", phase->collective);
    integer(w, "flows", phase->flows);
    integer(w, "fabric_flows", phase->fabric_flows);
    integer(w, "bytes", phase->bytes);
    number(w, "max_taper_factor", phase->max_taper_factor);
    array(w, "boundaries", "boundary");
    for (uint32_t t = 2; t <= p->counts.n_boundaries && t <= FAB_MAX_TIERS; t++) {
        row(w);
        string(w, "boundary", fab_boundary_name(p->counts.wiring, t));
        integer(w, "tier", t);
        integer(w, "crossing_flows", phase->crossing_flows[t]);
        end(w);
    }
    end(w);
    array(w, "engines", "engine");
    for (size_t e = 0; e < p->n_engines; e++) {
        const fab_sweep_time *time = &phase->times[e];
        bool many = time->n_seeds > 1;
        object(w, NULL);
        string(w, "label", p->engines[e].label);
        stat(w, "max_collision_factor", &time->max_collision_factor, many);
        if (time->has_time) {
            stat(w, "time_s", &time->time_s, many);
        }
        end(w);
    }
    end(w);
    end(w);
}

static double exposed_s(const fab_iteration *it) {
    return it->exposed_tp_s + it->exposed_cp_s + it->exposed_pp_s + it->exposed_ep_s + it->exposed_dp_s;
}

static void walk_engine(walk *w, const fab_sweep_engine *e) {
    row(w);
    string(w, "label", e->label);
    if (e->has_time) {
        number(w, "time_s", e->time_s);
    }
    if (e->slowdown > 0) { /* not of a mix */
        number(w, "slowdown_ratio", e->slowdown);
        boolean(w, "pareto", e->is_on_front);
    }
    if (e->has_phases) {
        number(w, "phases_s", e->phases_s);
    }
    if (e->has_iteration) {
        number(w, "iteration_s", e->iteration.time_s);
        number(w, "compute_s", e->iteration.compute_s);
        number(w, "bubble_s", e->iteration.bubble_s);
        number(w, "exposed_s", exposed_s(&e->iteration));
        number(w, "tokens_per_s", e->iteration.tokens_per_s);
        number(w, "mfu_ratio", e->iteration.mfu_ratio);
        number(w, "usd_per_1e9_tokens", e->iteration.usd_per_1e9_tokens);
    }
    end(w);
}

static void walk_built(walk *w, const fab_sweep_point *p) {
    uint64_t tiers = p->counts.tiers <= FAB_MAX_TIERS ? p->counts.tiers : FAB_MAX_TIERS;
    string(w, "design_digest", p->digest);
    string(w, "family", p->family);
    text(w, "traffic", p->traffic);
    integer(w, "gpus", p->counts.gpus);
    integer(w, "pods", p->counts.pods);
    integer(w, "tiers", p->counts.tiers);
    integer(w, "switches", p->counts.switches);
    integer(w, "cables", p->counts.cables);
    numbers(w, "built_taper", p->counts.built_taper, tiers > 0 ? (size_t)tiers - 1 : 0);
    number(w, "bisection_bps", p->bisection_bps);
    number(w, "bisection_ratio", p->bisection_ratio);
    number(w, "total_usd", p->total_usd);
    number(w, "per_gpu_usd", p->per_gpu_usd);
    number(w, "power_w", p->power_w);
}

/* The values of a point stand with its scalars; `values` NULL: a job of a mix, which has none. */
static void walk_point(walk *w, const fab_sweep_point *p, const char *const *values, size_t n_values) {
    object(w, NULL);
    text(w, "error", p->error);
    if (p->is_built) {
        walk_built(w, p);
    }
    if (w->emit != NULL && values != NULL) {
        w->emit->strings(w->self, "values", "value", values, n_values);
    }
    array(w, "phases", "phase");
    for (size_t j = 0; j < p->n_phases; j++) {
        walk_phase(w, p, &p->phases[j]);
    }
    end(w);
    array(w, "engines", "engine");
    for (size_t e = 0; e < p->n_engines; e++) {
        walk_engine(w, &p->engines[e]);
    }
    end(w);
    end(w);
}

void fab_walk_sweep(walk *w, const fab_sweep *sweep) {
    const char *list[FAB_SWEEP_PATHS];
    object(w, "sweep");
    integer(w, "built", sweep->n_built);
    for (size_t k = 0; k < sweep->n_paths; k++) {
        list[k] = sweep->path[k];
    }
    if (w->emit != NULL) {
        w->emit->strings(w->self, "paths", "path", list, sweep->n_paths);
    }
    array(w, "points", "point");
    for (size_t i = 0; i < sweep->n_points; i++) {
        const char *values[FAB_SWEEP_PATHS] = {sweep->points[i].value[0], sweep->points[i].value[1]};
        walk_point(w, &sweep->points[i], values, sweep->n_paths);
    }
    end(w);
    end(w);
}

static void walk_mix_engine(walk *w, const fab_mix_design *d, size_t e) {
    const fab_mix_engine *engine = &d->engines[e];
    row(w);
    string(w, "label", d->job[0].engines[e].label);
    if (engine->has_time) {
        number(w, "training_slowdown_ratio", engine->slowdown[0]);
        number(w, "ranking_slowdown_ratio", engine->slowdown[1]);
        number(w, "speed_ratio", engine->speed);
        number(w, "speed_per_usd_ratio", engine->speed_per_usd);
        boolean(w, "best", engine->is_best);
    }
    end(w);
}

void fab_walk_mix(walk *w, const fab_mix *mix) {
    object(w, "mix");
    number(w, "training_share", mix->share[0]);
    number(w, "ranking_share", mix->share[1]);
    array(w, "designs", "design");
    for (size_t i = 0; i < mix->n_designs; i++) {
        const fab_mix_design *d = &mix->designs[i];
        object(w, NULL);
        string(w, "name", d->name);
        array(w, "jobs", "job");
        for (size_t j = 0; j < FAB_MIX_JOBS; j++) {
            walk_point(w, &d->job[j], NULL, 0);
        }
        end(w);
        array(w, "engines", "engine");
        for (size_t e = 0; e < d->n_engines; e++) {
            walk_mix_engine(w, d, e);
        }
        end(w);
        end(w);
    }
    end(w);
    end(w);
}
