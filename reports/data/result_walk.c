#include "explain_walk.h"
#include "fab/optimum.h"

#include "fab/imported.h"

#include <string.h>

const char *const fab_histogram_names[FAB_HISTOGRAM] = {"0 - 0.25", "0.25 - 0.5", "0.5 - 0.75", "0.75 - 1",
                                                        "1 - 1.5",  "1.5 - 2",    "2 - 3",      "above 3"};
static const double HISTOGRAM_EDGES[FAB_HISTOGRAM - 1] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3};

/* --- the fields ----------------------------------------------------------------------------------------------------
 */

static void walk_tiers(walk *w, const fab_fabric_result *f) {
    const fab_counts *c = &f->counts;
    size_t n = c->tiers < FAB_MAX_TIERS ? (size_t)c->tiers : FAB_MAX_TIERS;
    size_t n_boundaries = c->n_boundaries < FAB_MAX_TIERS ? (size_t)c->n_boundaries : FAB_MAX_TIERS;
    uint64_t radix[FAB_MAX_TIERS];
    uint64_t breakout[FAB_MAX_TIERS];
    double port_bps[FAB_MAX_TIERS];
    double length_m[FAB_MAX_TIERS];
    double taper[FAB_MAX_TIERS];
    for (size_t i = 0; i < n; i++) {
        radix[i] = f->spec.tier[i].radix;
        breakout[i] = f->spec.tier[i].breakout;
        port_bps[i] = f->spec.tier[i].port_bps;
        taper[i] = f->spec.tier[i].taper;
    }
    for (size_t i = 0; i < n_boundaries; i++) {
        length_m[i] = c->floor.given ? c->floor.boundary[i].mean_m : f->spec.tier[i].length_m;
    }
    integers(w, "switches_by_tier", c->switches_by_tier, n);
    integers(w, "cables_by_tier", c->cables_by_tier, n_boundaries);
    integers(w, "ports_by_tier", c->ports_by_tier, n);
    integers(w, "radix_by_tier", radix, n);
    integers(w, "breakout_by_tier", breakout, n);
    numbers(w, "port_bps_by_tier", port_bps, n);
    numbers(w, "cable_length_m_by_tier", length_m, n_boundaries);
    numbers(w, "taper", taper, n > 0 ? n - 1 : 0);
    numbers(w, "built_taper", c->built_taper, n > 0 ? n - 1 : 0);
}

static void walk_floor(walk *w, const fab_fabric_result *f) {
    const fab_floor_counts *c = &f->counts.floor;
    if (!c->given) {
        return;
    }
    object(w, "floor");
    integer(w, "halls", c->halls);
    integer(w, "rows", c->rows);
    integer(w, "racks", c->racks);
    integer(w, "server_racks", c->server_racks);
    integer(w, "network_racks", c->network_racks);
    integer(w, "servers_per_rack", c->servers_per_rack);
    number(w, "server_power_w", c->server_w);
    if (f->spec.floor.rack_w > 0) {
        number(w, "rack_power_limit_w", f->spec.floor.rack_w);
    }
    if (f->spec.floor.hall_w > 0) {
        number(w, "hall_power_limit_w", f->spec.floor.hall_w);
    }
    number(w, "cable_m", c->cable_m);
    array(w, "boundaries", "boundary");
    for (uint32_t t = 1; t <= f->counts.n_boundaries && t <= FAB_MAX_TIERS; t++) {
        const fab_boundary_lengths *b = &c->boundary[t - 1];
        row(w);
        string(w, "boundary", fab_boundary_name(f->counts.wiring, t));
        integer(w, "tier", t);
        integer(w, "cables", b->cables);
        number(w, "min_length_m", b->min_m);
        number(w, "mean_length_m", b->mean_m);
        number(w, "max_length_m", b->max_m);
        number(w, "mean_latency_s", b->mean_latency_s);
        end(w);
    }
    end(w);
    end(w);
}

static void walk_fabric(walk *w, const fab_fabric_result *f, bool has_graph) {
    const fab_counts *c = &f->counts;
    object(w, "fabric");
    string(w, "family", f->family);
    integer(w, "gpus", c->gpus);
    integer(w, "servers", c->servers);
    integer(w, "nics", c->nics);
    integer(w, "domains", c->domains);
    integer(w, "rails", c->rails);
    integer(w, "planes", c->planes);
    integer(w, "pods", c->pods);
    integer(w, "tiers", c->tiers);
    integer(w, "switches", c->switches);
    integer(w, "cables", c->cables);
    integer(w, "ports", c->ports);
    integer(w, "transceivers", 2 * c->cables);
    walk_tiers(w, f);
    if (has_graph || f->bisection_bps > 0) { /* without a graph there may have been nothing to cut */
        number(w, "bisection_bps", f->bisection_bps);
        number(w, "bisection_ratio", f->bisection_ratio);
    }
    if (c->domains > 0 && (f->scaleup_bisection_bps > 0 || f->bisection_bps > 0)) { /* where it was measured */
        number(w, "scaleup_bisection_bps", f->scaleup_bisection_bps);
    }
    integer(w, "gpus_per_server", f->spec.gpus_per_server);
    integer(w, "nics_per_server", f->spec.nics_per_server);
    integer(w, "gpus_per_domain", f->spec.domain);
    integer(w, "spare_servers", f->spec.spares);
    number(w, "nic_bps", f->spec.nic_bps);
    number(w, "domain_bps", f->spec.domain_bps);
    walk_floor(w, f);
    end(w);
}

static void walk_cost(walk *w, const fab_cost *cost) {
    static const char *const KINDS[FAB_PART_N] = {[FAB_PART_SWITCH] = "switch",
                                                  [FAB_PART_TRANSCEIVER] = "transceiver",
                                                  [FAB_PART_CABLE] = "cable",
                                                  [FAB_PART_NIC] = "nic",
                                                  [FAB_PART_INSTALLATION] = "installation"};
    if (cost->profile[0] == '\0') {
        return;
    }
    object(w, "cost");
    string(w, "profile", cost->profile);
    text(w, "convention", cost->convention);
    text(w, "counting", cost->counting);
    text(w, "source", cost->source);
    integer(w, "transceivers", cost->transceivers);
    number(w, "total_usd", cost->total_usd);
    number(w, "switch_usd", cost->switch_usd);
    number(w, "transceiver_usd", cost->transceiver_usd);
    number(w, "cable_usd", cost->cable_usd);
    number(w, "nic_usd", cost->nic_usd);
    number(w, "installation_usd", cost->installation_usd);
    number(w, "per_gpu_usd", cost->per_gpu_usd);
    if (cost->per_bisection_gbps_usd > 0) {
        number(w, "per_bisection_gbps_usd", cost->per_bisection_gbps_usd);
    }
    number(w, "capital_usd_per_year", cost->capital_usd_per_year);
    number(w, "power_w", cost->power_w);
    number(w, "energy_usd_per_year", cost->energy_usd_per_year);
    array(w, "lines", "line");
    for (size_t i = 0; i < cost->n_lines; i++) {
        const fab_cost_line *line = &cost->lines[i];
        row(w);
        string(w, "kind", KINDS[line->kind]);
        string(w, "part", line->part);
        text(w, "tier", line->tier);
        text(w, "medium", line->medium);
        if (line->rate_bps > 0) {
            number(w, "rate_bps", line->rate_bps);
        }
        if (line->kind == FAB_PART_CABLE) {
            number(w, "length_m", line->length_m);
        }
        integer(w, "quantity", line->quantity);
        number(w, "unit_usd", line->unit_usd);
        number(w, "total_usd", line->total_usd);
        number(w, "power_w", line->power_w);
        end(w);
    }
    end(w);
    end(w);
}

static void walk_front_end(walk *w, const fab_fabric_result *f) {
    if (f->front_end == NULL) {
        return;
    }
    object(w, "front_end");
    integer(w, "storage_servers", f->front_end->spec.storage);
    walk_fabric(w, f->front_end, true);
    walk_cost(w, &f->front_end->cost);
    end(w);
}

static void walk_growth(walk *w, const fab_result *result) {
    if (result->n_growth == 0) {
        return;
    }
    array(w, "growth", "step");
    for (size_t i = 0; i < result->n_growth; i++) {
        const fab_growth_step *step = &result->growth[i];
        object(w, NULL);
        integer(w, "gpus", step->gpus);
        integer(w, "switches", step->switches);
        integer(w, "cables", step->cables);
        number(w, "total_usd", step->total_usd);
        number(w, "bought_usd", step->bought_usd);
        number(w, "bisection_ratio", step->bisection_ratio);
        integer(w, "free_ports", step->free_ports);
        integer(w, "cables_moved", step->cables_moved);
        array(w, "parts", "part");
        for (size_t j = 0; j < step->n_parts; j++) {
            const fab_growth_part *part = &step->parts[j];
            row(w);
            string(w, "part", part->part);
            text(w, "tier", part->tier);
            integer(w, "bought", part->bought);
            integer(w, "retired", part->retired);
            number(w, "bought_usd", part->bought_usd);
            end(w);
        }
        end(w);
        end(w);
    }
    end(w);
}

static void walk_designs(walk *w, const fab_result *result) {
    array(w, "designs", "design");
    for (size_t i = 0; i < result->n_fabrics; i++) {
        const fab_fabric_result *f = &result->fabrics[i];
        object(w, NULL);
        string(w, "name", f->name);
        string(w, "design_digest", f->digest);
        text(w, "source", f->source);
        number(w, "reduction_ratio", f->reduction_ratio);
        walk_fabric(w, f, result->graph != NULL);
        walk_cost(w, &f->cost);
        walk_front_end(w, f);
        end(w);
    }
    end(w);
}

static void walk_point(walk *w, const char *key, const fab_optimum_point *p) {
    object(w, key);
    string(w, "design", p->design);
    string(w, "family", p->family);
    string(w, "switch_models", p->switches);
    integer(w, "tiers", p->tiers);
    integer(w, "planes", p->planes);
    integer(w, "gpus_per_domain", p->domain);
    number(w, "nic_bps", p->nic_bps);
    integer(w, "switches", p->n_switches);
    integer(w, "cables", p->n_cables);
    numbers(w, "built_taper", p->built_taper, p->tiers > 0 && p->tiers <= FAB_MAX_TIERS ? (size_t)p->tiers - 1 : 0);
    number(w, "bisection_ratio", p->bisection_ratio);
    number(w, "power_w", p->power_w);
    number(w, "total_usd", p->total_usd);
    number(w, "difference_ratio", p->difference_ratio);
    end(w);
}

static void walk_points(walk *w, const char *key, const fab_optimum_point *points, size_t n) {
    array(w, key, "point");
    for (size_t i = 0; i < n; i++) {
        walk_point(w, NULL, &points[i]);
    }
    end(w);
}

static void walk_losers(walk *w, const fab_optimum *o) {
    static const char *const LOSSES[] = {[FAB_LOSS_COST] = "cost",
                                         [FAB_LOSS_BOUND] = "bound",
                                         [FAB_LOSS_LIMIT] = "constraint",
                                         [FAB_LOSS_UNBUILDABLE] = "unbuildable",
                                         [FAB_LOSS_UNSEEN] = "unseen"};
    array(w, "rejected", "choice");
    for (size_t i = 0; i < o->n_rejected; i++) {
        const fab_optimum_loser *l = &o->rejected[i];
        row(w);
        string(w, "family", l->family);
        string(w, "switch_models", l->switches);
        integer(w, "tiers", l->tiers);
        integer(w, "planes", l->planes);
        integer(w, "gpus_per_domain", l->domain);
        number(w, "nic_bps", l->nic_bps);
        string(w, "kind", LOSSES[l->loss]);
        string(w, "reason", l->reason);
        if (l->total_usd > 0) {
            number(w, "total_usd", l->total_usd);
            number(w, "difference_ratio", l->difference_ratio);
        }
        end(w);
    }
    end(w);
}

static void walk_optimum(walk *w, const fab_optimum *o) {
    object(w, "optimize");
    string(w, "catalog", o->catalog);
    string(w, "prices", o->prices);
    text(w, "source", o->source);
    integer(w, "gpus", o->gpus);
    integer(w, "choices", o->n_structures);
    integer(w, "patterns", o->n_patterns);
    integer(w, "programs", o->n_programs);
    boolean(w, "proven", o->is_proven);
    boolean(w, "fronts_complete", o->fronts_complete);
    number(w, "lower_bound_usd", o->lower_bound_usd);
    object(w, "constraints");
    if (o->limits.has_bisection) {
        number(w, "min_bisection_ratio", o->limits.min_bisection_ratio);
    }
    if (o->limits.has_taper) {
        number(w, "max_taper", o->limits.max_taper);
    }
    if (o->limits.has_power) {
        number(w, "max_power_w", o->limits.max_power_w);
    }
    if (o->limits.has_budget) {
        number(w, "budget_usd", o->limits.budget_usd);
    }
    end(w);
    walk_point(w, "winner", &o->winner);
    walk_points(w, "runners_up", o->runners_up, o->n_runners_up);
    walk_points(w, "pareto_bisection", o->by_bisection, o->n_by_bisection);
    walk_points(w, "pareto_power", o->by_power, o->n_by_power);
    walk_losers(w, o);
    end(w);
}

static void walk_meta(walk *w, const fab_result *result) {
    static const char *const COMMANDS[] = {
        [FAB_COMMAND_RUN] = "run",     [FAB_COMMAND_BUILD] = "build",       [FAB_COMMAND_COST] = "cost",
        [FAB_COMMAND_ROUTE] = "route", [FAB_COMMAND_OPTIMIZE] = "optimize", [FAB_COMMAND_SWEEP] = "sweep",
        [FAB_COMMAND_PLACE] = "place", [FAB_COMMAND_MIX] = "mix",           [FAB_COMMAND_STUDY] = "study",
        [FAB_COMMAND_AUDIT] = "audit", [FAB_COMMAND_TRAFFIC] = "traffic",   [FAB_COMMAND_IMPORT] = "import",
    };
    size_t n_conventions = 0;
    while (fab_conventions[n_conventions] != NULL) {
        n_conventions++;
    }
    object(w, "meta");
    string(w, "program", "fabriscope");
    string(w, "version", result->version != NULL ? result->version : "");
    string(w, "command", COMMANDS[result->command]);
    if (result->n_fabrics > 0) {
        string(w, "design", result->fabrics[0].name);
        string(w, "design_digest", result->fabrics[0].digest);
        text(w, "source", result->fabrics[0].source);
    } else if (result->sweep != NULL) {
        string(w, "design", result->sweep->design);
    } else if (result->audited != NULL || result->imported != NULL) {
        string(w, "design", result->audited != NULL ? result->audited : result->imported->path);
    } else if (result->listing != NULL) {
        string(w, "design", result->listing->design);
        string(w, "design_digest", result->listing->digest);
    }
    text(w, "traffic", result->traffic);
    integer(w, "seed", result->seed);
    integer(w, "seeds", result->n_seeds);
    string(w, "threads", "any"); /* the outcome does not depend on them, so the report must not either */
    numbers(w, "histogram_edges", HISTOGRAM_EDGES, FAB_HISTOGRAM - 1);
    if (w->emit != NULL) {
        w->emit->strings(w->self, "conventions", "convention", fab_conventions, n_conventions);
    }
    end(w);
}

static void walk_all(walk *w, const fab_result *result) {
    object(w, NULL);
    if (result->listing != NULL) {
        fab_walk_traffic(w, result->listing->traffic);
    }
    if (result->n_fabrics > 0) {
        walk_fabric(w, &result->fabrics[0], result->graph != NULL);
        walk_cost(w, &result->fabrics[0].cost);
        walk_front_end(w, &result->fabrics[0]);
    }
    walk_growth(w, result);
    if (result->command == FAB_COMMAND_COST && result->n_fabrics > 1) {
        walk_designs(w, result);
    }
    if (result->ranks > 0) {
        fab_walk_job(w, result);
    }
    if (result->n_iterations > 0) {
        fab_walk_iterations(w, result->iterations, result->n_iterations);
    }
    if (result->n_phases > 0) {
        array(w, "phases", "phase");
        for (size_t i = 0; i < result->n_phases; i++) {
            fab_walk_phase(w, &result->phases[i], result->n_fabrics > 0 ? &result->fabrics[0].counts : NULL);
        }
        end(w);
    }
    if (result->optimum != NULL) {
        walk_optimum(w, result->optimum);
    }
    if (result->explanation != NULL) {
        fab_walk_explanation(w, result->explanation);
    }
    if (result->advice != NULL) {
        fab_walk_advice(w, result->advice);
    }
    if (result->sweep != NULL) {
        fab_walk_sweep(w, result->sweep);
    }
    if (result->mix != NULL) {
        fab_walk_mix(w, result->mix);
    }
    if (result->study != NULL) {
        fab_walk_study(w, result->study);
    }
    if (result->audit != NULL) {
        fab_walk_audit(w, result->audit);
    }
    if (result->imported != NULL) {
        fab_walk_import(w, result->imported);
    }
    if (result->contention != NULL) {
        fab_walk_contention(w, result->contention);
    }
    if (result->degradation != NULL) {
        fab_walk_degradation(w, result->degradation);
    }
    if (result->failures != NULL) {
        fab_walk_failures(w, result->failures);
    }
    walk_meta(w, result);
    end(w);
}

fab_status fab_result_walk(const fab_result *result, const fab_emitter *emitter, void *self, fab_error *err) {
    walk w = {NULL, self, NULL, 0};
    walk_all(&w, result);
    if (w.bad_key != NULL) {
        return fab_fail(err, FAB_EINTERNAL, w.bad_key, "a figure of the result is %g", w.bad_value);
    }
    if (emitter != NULL) {
        w.emit = emitter;
        walk_all(&w, result);
    }
    return FAB_OK;
}
