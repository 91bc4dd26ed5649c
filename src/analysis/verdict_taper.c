/* What the taper costs, and what wins it. */
#include "verdict_lines.h"

/* Whether links of hosts need as long as all that bounds it. */
static bool needs_hosts_most(const fab_phase_result *p) {
    return p->hosts_s > 0 && p->hosts_s >= p->least_s * (1 - VERDICT_SAME);
}

bool verdict_is_of_hosts(const fab_phase_result *p, const fab_engine_result *e) {
    return needs_hosts_most(p) && e->has_time && e->lower_bound_ratio.mean <= 1 + VERDICT_SAME;
}

double verdict_split_s(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p) {
    const double most = fmax(p->max_taper_factor, 1) * VERDICT_FULL;
    const fab_engine_result *own = &p->engines[v->engine];
    double least_s = INFINITY;
    FAB_EACH(const fab_engine_result, e, p->engines, p->n_engines) {
        least_s = e->has_time && e->max_collision_factor.mean <= most ? fmin(least_s, e->transfer_s.mean) : least_s;
    }
    FAB_EACH(const fab_alternative, a, v->alternatives, v->n_alternatives) {
        const bool saves_nothing = a->time_s >= v->compared_s * (1 - VERDICT_MARGIN);
        const double split_s = r->n_phases == 1 ? a->time_s - own->latency_s
                               : saves_nothing  ? own->transfer_s.mean
                                                : INFINITY;
        least_s = a->is_possible && a->max_collision_factor <= most ? fmin(least_s, split_s) : least_s;
    }
    return least_s;
}

/* Whether the taper costs nothing, whatever routing loses beside it. */
static bool is_held_by_hosts(const fab_phase_result *p, const fab_engine_result *e) {
    return verdict_is_of_hosts(p, e) || (p->max_cut_factor > VERDICT_FULL && needs_hosts_most(p));
}

const fab_phase_result *verdict_most_tapered(const fab_result *r, size_t engine) {
    const fab_phase_result *most = NULL;
    FAB_EACH(const fab_phase_result, p, r->phases, r->n_phases) {
        const int order = most == NULL ? 1
                                       : (int)is_held_by_hosts(most, &most->engines[engine]) -
                                             (int)is_held_by_hosts(p, &p->engines[engine]);
        bool is_more = order > 0 ||
                       (order == 0 &&
                        (p->max_cut_factor > most->max_cut_factor ||
                         (p->max_cut_factor == most->max_cut_factor && p->max_taper_factor > most->max_taper_factor)));
        most = p->fabric_flows > 0 && is_more && !p->engines[engine].is_absent ? p : most;
    }
    return most;
}

/* Whether it crosses the boundary alike wherever its ranks are: between all GPUs that there are. */
static bool is_same_anywhere(const fab_result *r, const fab_phase_result *p) {
    const uint64_t n = r->fabrics[0].counts.gpus;
    return strcmp(p->collective, "all-to-all") == 0 && p->flows == n * (n - 1);
}

/* Whether flows cross a boundary that has a taper: elsewhere nothing is to be said of one. */
static bool crosses_taper(const fab_result *r, size_t engine) {
    const fab_counts *n = &r->fabrics[0].counts;
    bool crosses = false;
    for (size_t i = 0; n->wiring == FAB_WIRING_TREE && i < r->n_phases; i++) {
        if (r->phases[i].engines[engine].is_absent) {
            continue;
        }
        for (size_t t = 0; t + 1 < n->tiers && t + 1 < FAB_MAX_TIERS; t++) {
            crosses = crosses || (n->built_taper[t] > VERDICT_FULL && r->phases[i].crossing_flows[t + 2] > 0);
        }
    }
    return crosses;
}

/* What tells of it without the taper, or "": nothing of what is installed, or where a pod or ports leave one. */
static const char *lifts_taper(const fab_fabric_result *f, char *out) {
    for (size_t t = 0; t + 1 < f->counts.tiers && t < FAB_MAX_TIERS; t++) {
        if (f->spec.tier[t].taper > 1) {
            return "--set taper=1 tells";
        }
    }
    if (f->spares.is_shared) {
        fab_append(out, 128,
                   "full-spares=yes has no taper, for %s more and with other leaves: fabriscope compare tells",
                   fab_money_format(FAB_ROOM, f->spares.full_usd));
    }
    return out;
}

/* What trunks that differ cost where switches share evenly among cables: what is told of weights that were tried is no
 * hint any more. */
static void add_unequal(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p, char *out) {
    static const char WEIGHTED[] = "--engine spray,weights=capacity";
    const bool splits_evenly = strncmp(p->engines[v->engine].label, "spray,weights=equal", 19) == 0;
    const bool is_installed = strcmp(r->fabrics[0].family, "installed") == 0;
    const size_t n_rows = r->advice != NULL ? r->advice->n_rows : 0;
    FAB_ANY(is_tried, i, v->n_alternatives, strcmp(v->alternatives[i].engine, WEIGHTED + 9) == 0);
    FAB_ANY(is_advice, i, n_rows, strcmp(r->advice->rows[i].change, WEIGHTED) == 0);
    const bool is_hint = !is_tried && !is_advice;
    if (splits_evenly && r->fabrics[0].trunks_differ && p->max_taper_factor > VERDICT_FULL &&
        p->max_taper_factor > p->max_cut_factor * (1 + VERDICT_MARGIN) && (is_hint || is_installed)) {
        verdict_say(out, "; trunks are unequal");
        if (is_hint) {
            verdict_say(out, ", to which %s shares in proportion", WEIGHTED);
        }
        verdict_say(out, "%s", is_installed ? " (missing cables: fabriscope audit)" : "");
    }
}

/* Of a phase that NICs hold as long as any routing must, which yet takes longer under this one. */
static void add_held(const fab_phase_result *p, const fab_engine_result *e, const char *setting, char *out) {
    if (e->has_time && e->lower_bound_ratio.mean > 0) {
        verdict_say(out, "; NICs alone take %s in %s: more uplinks save %.2g %% of it at most",
                    VERDICT_SECONDS(e->transfer_s.mean / e->lower_bound_ratio.mean), p->name,
                    100 * (1 - 1 / e->lower_bound_ratio.mean));
        if (setting[0] != '\0') {
            verdict_say(out, " (%s)", setting);
        }
    }
}

/* What may be put elsewhere, so that less crosses the taper; NULL: nothing. Where each server has a leaf of its own, no
 * exchange of servers keeps more below one. */
static const char *other_places(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *p) {
    const fab_fabric_result *f = &r->fabrics[0];
    const bool shares_leaf = f->counts.tiers > 2 || p->leaf_cables > f->spec.nics_per_server;
    return v->of_iteration                        ? "other places of ranks (fabriscope place, plan)"
           : !shares_leaf                         ? NULL
           : r->ranks > 0                         ? "another placement"
           : strcmp(p->collective, "matrix") == 0 ? "other hosts for its rows and columns"
                                                  : NULL;
}

void verdict_add_taper(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_phase_result *p = verdict_most_tapered(r, v->engine);
    char lifted[128] = "";
    const char *setting = lifts_taper(&r->fabrics[0], lifted);
    if (p == NULL) {
        return;
    }
    const fab_engine_result *e = &p->engines[v->engine];
    add_unequal(r, v, p, out);
    if (p->max_taper_factor > VERDICT_FULL && verdict_is_of_hosts(p, e)) {
        verdict_say(out, "; more uplinks win nothing: NICs take as long, in %s", p->name);
    } else if (p->max_taper_factor > VERDICT_FULL && is_held_by_hosts(p, e)) {
        add_held(p, e, setting, out);
    } else if (p->max_cut_factor > VERDICT_FULL) {
        verdict_say(out, "; %smore uplinks win the taper, load x%.2f in %s", is_same_anywhere(r, p) ? "only " : "",
                    p->max_cut_factor, p->name);
        if (v->uplinks_s > 0 && v->compared_s > 0) {
            verdict_say(out, ": %s%s at least, %.2g %% less at most", r->plans != NULL ? "under this plan " : "",
                        VERDICT_SECONDS(v->uplinks_s), 100 * fmax(1 - v->uplinks_s / v->compared_s, 0));
        }
        if (setting[0] != '\0') {
            verdict_say(out, " (%s%s)", setting, r->plans != NULL ? ", by its own plan" : "");
        }
        const char *places = is_same_anywhere(r, p) ? NULL : other_places(r, v, p);
        verdict_say(out, "%s%s", places != NULL ? ", as may " : "", places != NULL ? places : "");
    } else if (p->max_taper_factor > VERDICT_FULL) {
        verdict_say(out, "; equal shares give x%.2f in %s, where other routes may do better", p->max_taper_factor,
                    p->name);
    } else if (crosses_taper(r, v->engine)) {
        const bool is_told = r->plans != NULL && setting[0] != '\0';
        verdict_say(out, "; sprayed, the taper costs %snothing (factor %.2f)%s%s%s",
                    r->plans != NULL ? "this plan " : "", p->max_taper_factor,
                    is_told ? "; without it another may be faster (" : "", is_told ? setting : "", is_told ? ")" : "");
    }
}
