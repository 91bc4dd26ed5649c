/* The object `study`: what failure scenarios do to a job. */
#include "result_fields.h"

/* What is not known is left out. */
static void figure(walk *w, const char *key, double value) {
    if (!isnan(value)) {
        number(w, key, value);
    }
}

static void walk_spread(walk *w, const char *key, const fab_spread *s, bool less_is_worse) {
    if (s->n == 0) {
        return;
    }
    if (w->emit != NULL) {
        w->emit->begin_object(w->self, key, true);
    }
    integer(w, "n", s->n);
    number(w, "mean", s->mean);
    number(w, "p50", s->p50);
    number(w, "p90", s->p90);
    number(w, "p99", s->p99);
    number(w, less_is_worse ? "min" : "max", s->worst);
    integer(w, less_is_worse ? "min_scenario" : "max_scenario", s->worst_scenario);
    end(w);
}

static void walk_cases(walk *w, const char *key, const fab_study_case *cases, size_t n) {
    array(w, key, "scenario");
    for (size_t i = 0; i < n; i++) {
        const fab_study_case *c = &cases[i];
        row(w);
        integer(w, "scenario", c->scenario);
        text(w, "name", c->name);
        string(w, "failed", c->failed);
        integer(w, "n_failed", c->n_failed);
        boolean(w, "stopped", c->is_stopped);
        number(w, "damage_ratio", c->damage);
        figure(w, "slowdown_ratio", c->slowdown);
        figure(w, "time_s", c->time_s);
        figure(w, "worst_ratio", c->worst_ratio);
        figure(w, "lost_ratio", c->lost_ratio);
        figure(w, "goodput_ratio", c->goodput);
        integer(w, "disconnected_flows", c->n_disconnected);
        integer(w, "moved_servers", c->n_moved);
        integer(w, "collisions", c->n_collisions);
        integer(w, "stops", c->n_stops);
        text(w, "fullest", c->fullest);
        end(w);
    }
    end(w);
}

static void walk_critical(walk *w, const char *key, const fab_critical *list, size_t n) {
    array(w, key, "component");
    for (size_t i = 0; i < n; i++) {
        const fab_critical *c = &list[i];
        row(w);
        string(w, "name", c->name);
        string(w, "kind", c->kind);
        integer(w, "scenarios", c->n_scenarios);
        integer(w, "stopped", c->n_stopped);
        integer(w, "disconnected", c->n_disconnected);
        number(w, "damage_ratio", c->damage);
        figure(w, "damage_ci95_ratio", c->ci95);
        figure(w, "mean_slowdown_ratio", c->mean_slowdown);
        figure(w, "max_slowdown_ratio", c->worst_slowdown);
        figure(w, "mean_worst_ratio", c->mean_ratio);
        figure(w, "max_worst_ratio", c->worst_ratio);
        integer(w, "worst_scenario", c->worst_scenario);
        boolean(w, "clear", c->is_clear);
        end(w);
    }
    end(w);
}

static void walk_classes(walk *w, const fab_study_variant *v) {
    array(w, "classes", "class");
    for (size_t i = 0; i < v->n_classes; i++) {
        const fab_critical_class *c = &v->classes[i];
        row(w);
        string(w, "name", c->name);
        integer(w, "components", c->n_components);
        integer(w, "stopping", c->n_stopping);
        number(w, "damage_ratio", c->damage);
        number(w, "max_damage_ratio", c->worst_damage);
        string(w, "worst", c->worst);
        integer(w, "worst_components", c->n_worst);
        integer(w, "clear", c->n_clear);
        integer(w, "scenarios", c->n_scenarios);
        integer(w, "stopped", c->n_stopped);
        figure(w, "scenario_damage_ratio", c->scenario_damage);
        boolean(w, "stands_out", c->is_clear);
        end(w);
    }
    end(w);
}

static void walk_causes(walk *w, const fab_study_variant *v) {
    if (v->n_causes == 0) {
        return;
    }
    array(w, "causes", "class");
    for (size_t i = 0; i < v->n_causes; i++) {
        const fab_cause *c = &v->causes[i];
        row(w);
        string(w, "name", c->name);
        number(w, "failures", c->failures);
        number(w, "damage_ratio", c->damage);
        number(w, "damage_ci95_ratio", c->ci95);
        number(w, "share_ratio", c->share);
        end(w);
    }
    end(w);
}

static void walk_access(walk *w, const fab_access_loss *a) {
    if (a->n == 0) {
        return;
    }
    object(w, "access_loss");
    integer(w, "scenarios", a->n);
    integer(w, "stopped", a->n_stopped);
    integer(w, "slower", a->n_slower);
    figure(w, "mean_slowdown_ratio", a->mean_slowdown);
    figure(w, "max_slowdown_ratio", a->worst_slowdown);
    end(w);
}

static void walk_variant(walk *w, const fab_study_summary *s, const fab_study_variant *v) {
    object(w, NULL);
    string(w, "engine", v->engine);
    string(w, "policy", v->policy);
    figure(w, "whole_time_s", v->whole_time_s);
    figure(w, "whole_ratio", v->whole_ratio);
    integer(w, "whole_collisions", v->whole_collisions);
    integer(w, "done", v->n_done);
    integer(w, "stopped", v->n_stopped);
    integer(w, "disconnected", v->n_disconnected);
    integer(w, "moved_scenarios", v->n_moved);
    figure(w, "damage_ratio", v->damage);
    if (s->n_policies > 1) {
        integer(w, "best", v->n_best);
        integer(w, "alone_best", v->n_alone);
    }
    if (s->span_s > 0) {
        figure(w, "restart_ratio", v->restart_ratio);
        figure(w, "redo_ratio", v->redo_ratio);
        figure(w, "slow_ratio", v->slow_ratio);
        figure(w, "wait_ratio", v->wait_ratio);
        figure(w, "failures", v->failures);
        figure(w, "stops", v->stops);
    }
    integer(w, "critical_tied", v->critical.n_tied);
    integer(w, "links_tied", v->links.n_tied);
    integers(w, "bins", v->bin, FAB_STUDY_BINS);
    walk_spread(w, "slowdown_ratio", &v->slowdown, false);
    walk_spread(w, "time_s", &v->time_s, false);
    walk_spread(w, "worst_ratio", &v->worst_ratio, false);
    walk_spread(w, "collisions", &v->collisions, false);
    walk_spread(w, "lost_ratio", &v->lost_ratio, false);
    walk_spread(w, "moved_servers", &v->moved, false);
    walk_spread(w, "goodput_ratio", &v->goodput, true);
    walk_access(w, &v->access);
    walk_causes(w, v);
    walk_classes(w, v);
    walk_critical(w, "critical", v->critical.list, v->critical.n);
    walk_critical(w, "critical_next", v->critical.next, v->critical.n_next);
    walk_critical(w, "links", v->links.list, v->links.n);
    walk_critical(w, "links_next", v->links.next, v->links.n_next);
    walk_critical(w, "clear", v->clear.list, v->clear.n);
    walk_cases(w, "worst", v->worst, v->n_worst);
    walk_cases(w, "stopping", v->stopped, v->n_stopped_shown);
    end(w);
}

static void walk_choices(walk *w, const fab_study_summary *s) {
    if (s->choices == NULL) {
        return;
    }
    array(w, "choices", "choice");
    for (size_t e = 0; e < s->n_variants / s->n_policies; e++) {
        const fab_study_choice *c = &s->choices[e];
        row(w);
        string(w, "engine", s->variants[c->first].engine);
        string(w, "baseline", s->variants[c->baseline].policy);
        integer(w, "compared", c->n_compared);
        integer(w, "differ", c->n_differ);
        integer(w, "rescued", c->n_rescued);
        figure(w, "damage_ratio", c->damage);
        figure(w, "baseline_damage_ratio", c->baseline_damage);
        figure(w, "slowdown_ratio", c->best_slowdown);
        figure(w, "baseline_slowdown_ratio", c->baseline_slowdown);
        if (c->most_saved_scenario != UINT64_MAX) {
            number(w, "max_saved_ratio", c->most_saved);
            integer(w, "max_saved_scenario", c->most_saved_scenario);
            string(w, "max_saved_policy", s->variants[c->most_saved_variant].policy);
        }
        end(w);
    }
    end(w);
}

void fab_walk_study(walk *w, const fab_study_summary *s) {
    const fab_study_variant *shown = &s->variants[s->shown];
    object(w, "study");
    integer(w, "scenarios", s->n_scenarios);
    integer(w, "done", s->n_done);
    string(w, "source", s->scenarios);
    if (s->span_s > 0) {
        number(w, "span_s", s->span_s);
    }
    boolean(w, "times", s->has_times);
    string(w, "damage", s->criterion);
    integer(w, "components", s->n_components);
    string(w, "shown_engine", shown->engine);
    string(w, "shown_policy", shown->policy);
    integer(w, "stopped", shown->n_stopped);
    integer(w, "disconnected", shown->n_disconnected);
    figure(w, "damage_ratio", shown->damage);
    numbers(w, "bin_edges", fab_study_edges, FAB_STUDY_BINS - 1);
    walk_spread(w, "slowdown_ratio", &shown->slowdown, false);
    walk_spread(w, "goodput_ratio", &shown->goodput, true);
    if (s->has_homing) {
        object(w, "homing");
        integer(w, "links_per_server", s->homing.links_per_server);
        integer(w, "ports_per_nic", s->homing.ports_per_nic);
        integer(w, "switches_per_nic", s->homing.switches_per_nic);
        number(w, "lost_ratio", s->homing.lost_ratio);
        end(w);
    }
    array(w, "policy", "variant");
    for (size_t i = 0; i < s->n_variants; i++) {
        walk_variant(w, s, &s->variants[i]);
    }
    end(w);
    walk_choices(w, s);
    walk_cases(w, "worst", shown->worst, shown->n_worst);
    walk_critical(w, "critical", shown->critical.list, shown->critical.n);
    end(w);
}
