/* The fields of a phase and of what it meets under its engines. */
#include "result_fields.h"

static void walk_link_loads(walk *w, const fab_engine_result *engine) {
    array(w, "link_loads", "boundary");
    for (size_t i = 0; i < engine->n_tiers; i++) {
        const fab_tier_load *load = &engine->tiers[i];
        object(w, NULL);
        string(w, "boundary", fab_boundary_name(engine->wiring, load->tier));
        integer(w, "tier", load->tier);
        string(w, "direction", fab_direction_name(engine->wiring, load->tier, load->up));
        integer(w, "links", load->links);
        integer(w, "used_links", load->used);
        integer(w, "collided_links", load->collided);
        number(w, "bytes", load->bytes);
        number(w, "max_utilisation_ratio", load->max_utilisation);
        number(w, "mean_utilisation_ratio", load->mean_utilisation);
        number(w, "max_taper_factor", load->max_taper_factor);
        if (engine->has_rates) {
            number(w, "held_flows", load->held_flows);
        }
        integers(w, "histogram", load->histogram, FAB_HISTOGRAM);
        end(w);
    }
    end(w);
}

static void walk_next_hops(walk *w, const fab_engine_result *engine) {
    array(w, "next_hops_used", "boundary");
    for (size_t i = 0; i < engine->n_tiers; i++) {
        const fab_tier_load *load = &engine->tiers[i];
        if (load->choices == 0) {
            continue;
        }
        row(w);
        string(w, "boundary", fab_boundary_name(engine->wiring, load->tier));
        integer(w, "tier", load->tier);
        string(w, "direction", fab_direction_name(engine->wiring, load->tier, load->up));
        integer(w, "choices", load->choices);
        integer(w, "full_choices", load->full_choices);
        if (load->full_choices > 0) {
            number(w, "mean_used_ratio", load->mean_used);
            number(w, "min_used_ratio", load->min_used);
        }
        integer(w, "later_choices", load->later_choices);
        if (load->later_choices > 0) {
            integer(w, "later_next_hops", load->later_next_hops);
            integer(w, "later_used", load->later_used);
            number(w, "later_expected", load->later_expected);
            number(w, "ideal_probability", load->chance);
        }
        boolean(w, "polarized", load->polarized);
        end(w);
    }
    end(w);
}

static void walk_hot_links(walk *w, const fab_engine_result *engine) {
    array(w, "hot_links", "hot_link");
    for (size_t i = 0; i < engine->n_hot; i++) {
        const fab_hot_link *hot = &engine->hot[i];
        object(w, NULL);
        string(w, "link", hot->name);
        integer(w, "link_id", hot->link);
        integer(w, "tier", hot->tier);
        string(w, "direction", fab_direction_name(engine->wiring, hot->tier, hot->up));
        number(w, "factor", hot->factor);
        number(w, "taper_factor", hot->taper_factor);
        number(w, "hash_factor", hot->hash_factor);
        integer(w, "n_flows", hot->n_flows);
        array(w, "flows", "flow");
        for (size_t j = 0; j < hot->n_listed; j++) {
            const fab_flow_ref *flow = &hot->flows[j];
            row(w);
            integer(w, "flow", flow->flow);
            integer(w, "src_gpu", flow->src_gpu);
            integer(w, "dst_gpu", flow->dst_gpu);
            integer(w, "src_rank", flow->src_rank);
            integer(w, "dst_rank", flow->dst_rank);
            number(w, "share", flow->share);
            text(w, "comm", flow->comm);
            end(w);
        }
        end(w);
        end(w);
    }
    end(w);
}

static void walk_paths(walk *w, const fab_engine_result *engine) {
    const fab_path_figures *p = &engine->paths;
    if (p->n_flows == 0) {
        return;
    }
    object(w, "paths");
    number(w, "min_hops", p->hops.min);
    number(w, "mean_hops", p->hops.mean);
    number(w, "max_hops", p->hops.max);
    number(w, "min_latency_s", p->latency_s.min);
    number(w, "mean_latency_s", p->latency_s.mean);
    number(w, "max_latency_s", p->latency_s.max);
    number(w, "mean_spread_s", p->mean_spread_s);
    number(w, "max_spread_s", p->max_spread_s);
    number(w, "max_round_trip_s", p->longest_round_trip_s);
    end(w);
    if (p->reorders && isfinite(p->min_limit_bps)) {
        object(w, "reordering");
        number(w, "window_bytes", engine->window_bytes);
        number(w, "queueing_s", engine->queueing_s);
        number(w, "min_limit_bps", p->min_limit_bps);
        integer(w, "limited_flows", p->limited_flows);
        number(w, "max_offered_over_limit_ratio", p->max_excess_ratio);
        end(w);
    }
}

static void walk_last_flow(walk *w, const fab_engine_result *engine) {
    const fab_last_flow *last = &engine->rates.last;
    object(w, "last_flow");
    integer(w, "flow", last->flow);
    integer(w, "src_gpu", last->src_gpu);
    integer(w, "dst_gpu", last->dst_gpu);
    integer(w, "bytes", last->bytes);
    number(w, "rate_bps", last->rate_bps);
    number(w, "finish_s", last->finish_s);
    text(w, "bottleneck", last->bottleneck);
    text(w, "comm", last->comm);
    end(w);
}

static void walk_times(walk *w, const fab_engine_result *engine, bool many) {
    if (!engine->has_time) {
        return;
    }
    stat(w, "time_s", &engine->time_s, many);
    stat(w, "transfer_s", &engine->transfer_s, many);
    stat(w, "lower_bound_ratio", &engine->lower_bound_ratio, many);
    if (engine->algbw.mean > 0) {
        stat(w, "algbw_Bps", &engine->algbw, many);
        stat(w, "busbw_Bps", &engine->busbw, many);
    }
    if (!engine->has_rates) {
        return;
    }
    stat(w, "min_rate_bps", &engine->min_rate, many);
    stat(w, "mean_rate_bps", &engine->mean_rate, many);
    object(w, "held_flows");
    number(w, "scale_up", engine->rates.held_by_scaleup);
    number(w, "pcie", engine->rates.held_by_pcie);
    number(w, "window", engine->rates.held_by_window);
    end(w);
    walk_last_flow(w, engine);
}

static void walk_cycle(walk *w, const fab_engine_result *engine) {
    if (engine->n_cycle == 0) {
        return;
    }
    const char *names[FAB_CYCLE_SHOWN + 1] = {NULL};
    size_t n = engine->n_cycle < FAB_CYCLE_SHOWN ? engine->n_cycle : FAB_CYCLE_SHOWN;
    for (size_t i = 0; i < n; i++) {
        names[i] = engine->cycle[i];
    }
    if (w->emit != NULL) {
        w->emit->strings(w->self, "deadlock_cycle", "link", names, n);
    }
}

static void walk_engine(walk *w, const fab_engine_result *engine) {
    bool many = engine->n_seeds > 1;
    object(w, NULL);
    string(w, "engine", engine->engine);
    text(w, "options", engine->label);
    integer(w, "seed", engine->seed);
    integer(w, "seeds", engine->n_seeds);
    boolean(w, "seeded", engine->seeded);
    if (engine->n_rounds > 1) {
        integer(w, "rounds", engine->n_rounds);
    }
    boolean(w, "polarized", engine->polarized); /* of the first seed */
    boolean(w, "deadlock_free", engine->deadlock_free);
    if (engine->has_time) {
        number(w, "latency_s", engine->latency_s);
    }
    stat(w, "collided_links", &engine->collided_links, many);
    stat(w, "collided_flows", &engine->collided_flows, many);
    stat(w, "max_collision_factor", &engine->max_collision_factor, many);
    stat(w, "mean_collision_factor", &engine->mean_collision_factor, many);
    stat(w, "max_taper_factor", &engine->max_taper_factor, many);
    stat(w, "max_hash_factor", &engine->max_hash_factor, many);
    stat(w, "max_utilisation_ratio", &engine->max_utilisation, many);
    stat(w, "throughput_ratio", &engine->throughput, many);
    stat(w, "busiest_link_s", &engine->busiest_link_s, many);
    if (engine->has_gap) {
        stat(w, "optimum_gap_ratio", &engine->optimum_gap, many);
    }
    if (engine->has_effective_bisection) {
        stat(w, "effective_bisection_ratio", &engine->effective_bisection, many);
    }
    walk_times(w, engine, many);
    walk_paths(w, engine);
    walk_cycle(w, engine);
    walk_link_loads(w, engine);
    walk_next_hops(w, engine);
    walk_hot_links(w, engine);
    end(w);
}

void fab_walk_phase(walk *w, const fab_phase_result *phase, const fab_counts *counts) {
    object(w, NULL);
    string(w, "name", phase->name);
    string(w, "collective", phase->collective);
    text(w, "formula", phase->formula);
    text(w, "algorithm", phase->algorithm);
    integer(w, "run", phase->run);
    integer(w, "flows", phase->flows);
    integer(w, "network_flows", phase->network_flows);
    integer(w, "fabric_flows", phase->fabric_flows);
    integer(w, "bytes", phase->bytes);
    integer(w, "network_bytes", phase->network_bytes);
    integer(w, "steps", phase->steps);
    integer(w, "executions", phase->executions);
    integer(w, "communicators", phase->communicators);
    if (phase->drawn_per_seed) {
        boolean(w, "drawn_per_seed", true);
    }
    number(w, "max_taper_factor", phase->max_taper_factor);
    number(w, "least_time_s", phase->least_s);
    if (phase->handover_s > 0) {
        number(w, "handover_s", phase->handover_s);
    }
    if (phase->has_bound) {
        object(w, "bound");
        string(w, "method", phase->bound_method);
        number(w, "min_utilisation_ratio", phase->utilisation_bound);
        number(w, "reached_utilisation_ratio", phase->reached_utilisation);
        integer(w, "rounds", phase->bound_rounds);
        integer(w, "columns", phase->bound_columns);
        integer(w, "rows", phase->bound_rows);
        end(w);
    }
    array(w, "boundaries", "boundary");
    for (uint32_t t = 2; counts != NULL && t <= counts->n_boundaries && t <= FAB_MAX_TIERS; t++) {
        row(w);
        string(w, "boundary", fab_boundary_name(counts->wiring, t));
        integer(w, "tier", t);
        integer(w, "crossing_flows", phase->crossing_flows[t]);
        number(w, "max_taper_factor", phase->taper_by_tier[t]);
        end(w);
    }
    end(w);
    array(w, "engines", "engine");
    for (size_t i = 0; i < phase->n_engines; i++) {
        walk_engine(w, &phase->engines[i]);
    }
    end(w);
    end(w);
}
