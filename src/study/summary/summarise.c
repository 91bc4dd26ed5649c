/* Rows to a summary: sums and figures of every variant, policies against each other. Components: summarise_rank.c. */
#include "summarise_internal.h"

static const double QUANTILES[] = {0.5, 0.9, 0.99};
static const char BASELINE[] = "first-spare";

/* --- figures ------------------------------------------------------------------------------------------------------ */

static fab_status tally_add(tally *t, double value, bool less_is_worse, uint64_t scenario, uint64_t n_sets,
                            fab_error *err) {
    if (isnan(value)) {
        return FAB_OK;
    }
    FAB_PASS(FAB_GROW(t->value, t->capacity, t->n_values + 1, err));
    if (n_sets != 1 || t->weight != NULL) { /* from the first that stands for several */
        FAB_PASS(FAB_GROW(t->weight, t->weight_capacity, t->n_values + 1, err));
        for (size_t i = t->n == t->n_values ? 0 : t->n_values; i < t->n_values; i++) {
            t->weight[i] = 1;
        }
        t->weight[t->n_values] = n_sets;
    }
    if (t->n == 0 || (less_is_worse ? value < t->worst : value > t->worst)) {
        t->worst = value;
        t->worst_scenario = scenario;
    }
    t->least = t->n == 0 || value < t->least ? value : t->least;
    t->most = t->n == 0 || value > t->most ? value : t->most;
    t->sum += (double)n_sets * value;
    t->value[t->n_values++] = value;
    t->n += n_sets;
    return FAB_OK;
}

/* No rounding where there is nothing to average. */
static double mean_of(double sum, uint64_t n, double least, double most) {
    return n == 0 ? NAN : least == most ? least : sum / (double)n;
}

typedef struct weighted {
    double value;
    uint64_t n;
} weighted;

/* As fab_quantiles(), of values that stand for several: the smallest that so many do not exceed, from either end. */
static fab_status weighted_quantiles(const tally *t, bool falling, const double *q, size_t n_q, double *out,
                                     fab_error *err) {
    FAB_OWNED_NEW(weighted, list, t->n_values, err);
    FAB_FILL(list, t->n_values, (weighted){t->value[fab_at], t->weight[fab_at]});
    qsort(list, t->n_values, sizeof *list, fab_order_double);
    for (size_t k = 0; k < n_q; k++) {
        const double rank = fmax(ceil(q[k] * (double)t->n - 1e-9), 1);
        double seen = 0;
        for (size_t i = 0; i < t->n_values && seen < rank; i++) {
            const weighted *at = &list[falling ? t->n_values - 1 - i : i];
            seen += (double)at->n;
            out[k] = at->value;
        }
    }
    return FAB_OK;
}

static fab_status find_spread(tally *t, bool less_is_worse, fab_spread *out, fab_error *err) {
    enum { N = FAB_N_OF(QUANTILES) };
    double at[N] = {t->least, t->least, t->least};
    if (t->n == 0) {
        *out = (fab_spread){.n = 0};
        return FAB_OK;
    }
    if (t->least != t->most && t->weight == NULL) {
        fab_quantiles(t->value, t->n_values, less_is_worse, QUANTILES, N, at);
    } else if (t->least != t->most) {
        FAB_PASS(weighted_quantiles(t, less_is_worse, QUANTILES, N, at, err));
    }
    *out = (fab_spread){.n = t->n,
                        .mean = mean_of(t->sum, t->n, t->least, t->most),
                        .p50 = at[0],
                        .p90 = at[1],
                        .p99 = at[2],
                        .worst = t->worst,
                        .worst_scenario = t->worst_scenario};
    return FAB_OK;
}

/* Whether seeds tell a row from the healthy fabric: else it has its time. */
static bool is_told(const fab_summariser *s, const fab_outcome *row) {
    return s->request.span_s > 0 || row->state != FAB_OUTCOME_RUNS || isnan(row->time_s) ||
           row->time_s != s->request.healthy[row->variant].time_s;
}

/* NAN where nothing is known of it. */
static double summary_impact(const fab_summariser *s, const fab_outcome *row) {
    if (s->request.span_s > 0) {
        return 1 - row->goodput;
    }
    if (row->state != FAB_OUTCOME_RUNS) {
        return 1;
    }
    if (s->has_times) {
        return 1 - 1 / row->slowdown;
    }
    double healthy = s->request.healthy[row->variant].worst_ratio;
    return 1 - (healthy > 1 ? healthy : 1) / (row->worst_ratio < 1 ? 1 : row->worst_ratio);
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static fab_status start_variants(fab_summariser *s, fab_error *err) {
    const fab_summary_request *r = &s->request;
    FAB_PASS(FAB_NEW(s->variants, s->n_variants, err));
    s->has_times = true;
    for (size_t i = 0; i < s->n_variants; i++) {
        variant_sums *v = &s->variants[i];
        const fab_outcome *healthy = &r->healthy[i];
        FAB_FORMAT(v->out.engine, "%s", r->engines[i / r->n_policies]);
        FAB_FORMAT(v->out.policy, "%s", r->policies[i % r->n_policies]);
        v->out.healthy_time_s = healthy->time_s;
        v->out.healthy_ratio = healthy->worst_ratio;
        v->out.healthy_collisions = healthy->n_collisions;
        v->out.access = (fab_access_loss){.worst_slowdown = NAN, .mean_slowdown = NAN};
        s->has_times = s->has_times && !isnan(healthy->time_s);
        FAB_PASS(FAB_NEW_ALL(r->top, err, v->worst, v->stopped));
        FAB_PASS(r->span_s > 0 ? FAB_NEW(v->causes, r->n_draws, err) : FAB_OK);
    }
    FAB_PASS(FAB_NEW(s->choices, r->n_engines, err));
    FAB_PASS(FAB_NEW(s->differ, s->n_variants * r->n_policies, err));
    for (size_t e = 0; e < r->n_engines; e++) {
        size_t policy = 0;
        for (size_t p = 0; p < r->n_policies; p++) {
            policy = strcmp(r->policies[p], BASELINE) == 0 ? p : policy;
        }
        s->choices[e] = (fab_study_choice){.first = e * r->n_policies,
                                           .baseline = e * r->n_policies + policy,
                                           .most_saved_scenario = UINT64_MAX,
                                           .most_saved_variant = e * r->n_policies + policy};
    }
    return FAB_OK;
}

fab_status fab_summariser_new(const fab_summary_request *request, fab_summariser **out, fab_error *err) {
    FAB_OWNS_NEW(fab_summariser_free_owned, fab_summariser, s, 1, err);
    s->request = *request;
    s->request.n_draws = request->n_draws > 0 ? request->n_draws : 1;
    s->n_variants = request->n_engines * request->n_policies;
    s->is_single = true;
    FAB_PASS(FAB_NEW(s->impact, s->n_variants, err));
    FAB_PASS(start_variants(s, err));
    FAB_PASS(summary_take_components(s, err));
    if (request->equal != NULL) {
        FAB_PASS(FAB_NEW(s->alike, request->n_components, err));
        for (size_t i = 0; i < request->n_components; i++) {
            s->alike[request->equal[i]]++;
        }
    }
    return FAB_GIVE(*out, s);
}

FAB_FREES_AFTER(fab_summariser_free, fab_summariser, s) {
    for (size_t i = 0; s->variants != NULL && i < s->n_variants; i++) {
        for (size_t t = 0; t < N_TALLIES; t++) {
            FAB_FREE_ALL(s->variants[i].tallies[t].value, s->variants[i].tallies[t].weight);
        }
        FAB_FREE_ALL(s->variants[i].worst, s->variants[i].stopped, s->variants[i].causes);
    }
    FAB_FREE_ALL(s->variants, s->choices, s->differ, s->impact, s->failed, s->alike);
    fab_scenario_release(&s->history);
    FAB_FREE_ALL(s->sets.first, s->sets.component, s->sets.impact, s->sets.part, s->sets.class, s->sets.interaction,
                 s->sets.ranked, s->sets.scenario);
    FAB_FREE_ALL(s->table.slot, s->table.component, s->table.n_scenarios, s->table.record, s->table.class_of,
                 s->table.class_record);
}

/* --- a scenario --------------------------------------------------------------------------------------------------- */

/* A row that cannot be: written by another program, or spoilt. */
static fab_status check_row(const fab_summariser *s, const fab_outcome *row, size_t variant, fab_error *err) {
    const struct {
        const char *name;
        double value, least, most;
    } FIGURES[] = {{"lost_ratio", row->lost_ratio, 0, 1 + 1e-9},
                   {"worst_ratio", row->worst_ratio, 0, 1e300},
                   {"time_s", row->time_s, 0, 1e300},
                   {"slowdown", row->slowdown, 1e-9, 1e300},
                   {"goodput", row->goodput, 0, 1e300},
                   {"restart_ratio", row->restart_ratio, 0, 1 + 1e-9},
                   {"redo_ratio", row->redo_ratio, 0, 1 + 1e-9},
                   {"slow_ratio", row->slow_ratio, -1e300, 1 + 1e-9},
                   {"wait_ratio", row->wait_ratio, 0, 1 + 1e-9}};
    FAB_REFUSE_IF(row->variant != variant || row->scenario < s->next || row->scenario >= s->request.n_scenarios, err,
                  FAB_EINPUT, NULL, "scenario %" PRIu64 ", variant %" PRIu32 ": not the row that is due", row->scenario,
                  row->variant);
    FAB_REFUSE_IF(row->state >= FAB_OUTCOME_N_STATES, err, FAB_EINPUT, NULL,
                  "scenario %" PRIu64 ", variant %" PRIu32 ": state %" PRIu32, row->scenario, row->variant, row->state);
    for (size_t i = 0; i < FAB_N_OF(FIGURES); i++) {
        FAB_REFUSE_IF(FIGURES[i].value < FIGURES[i].least || FIGURES[i].value > FIGURES[i].most, err, FAB_EINPUT, NULL,
                      "scenario %" PRIu64 ", variant %" PRIu32 ": %s is %g, which cannot be", row->scenario,
                      row->variant, FIGURES[i].name, FIGURES[i].value);
    }
    return FAB_OK;
}

static fab_status add_figures(const fab_summariser *s, variant_sums *v, const fab_outcome *row, fab_error *err) {
    const uint64_t i = row->scenario;
    const uint64_t n = summary_weight(s, i);
    FAB_PASS(tally_add(&v->tallies[TALLY_LOST], row->lost_ratio, false, i, n, err));
    FAB_PASS(tally_add(&v->tallies[TALLY_MOVED], row->n_moved, false, i, n, err));
    FAB_PASS(s->request.span_s > 0 ? tally_add(&v->tallies[TALLY_GOODPUT], row->goodput, true, i, n, err) : FAB_OK);
    if (row->state == FAB_OUTCOME_RUNS) {
        FAB_PASS(tally_add(&v->tallies[TALLY_SLOWDOWN], row->slowdown, false, i, n, err));
        FAB_PASS(tally_add(&v->tallies[TALLY_TIME], row->time_s, false, i, n, err));
        FAB_PASS(tally_add(&v->tallies[TALLY_RATIO], row->worst_ratio, false, i, n, err));
        FAB_PASS(tally_add(&v->tallies[TALLY_COLLISIONS], row->n_collisions, false, i, n, err));
    }
    return FAB_OK;
}

static void count_bin(fab_study_variant *out, double impact, uint64_t n_sets) {
    double factor = 1 / (1 - impact);
    size_t bin = 0;
    while (bin + 1 < FAB_STUDY_BINS && factor >= fab_study_edges[bin]) {
        bin++;
    }
    out->bin[bin] += n_sets;
}

/* Keeps the `top` worst in their order, of equal ones the lower numbers: those come first. */
static void offer(candidate *worst, size_t *n, size_t top, const candidate *new) {
    size_t at = *n;
    while (at > 0 && worst[at - 1].impact < new->impact) {
        at--;
    }
    if (at < top) {
        *n += *n < top;
        memmove(&worst[at + 1], &worst[at], (*n - at - 1) * sizeof *worst);
        worst[at] = *new;
    }
}

static void count_access(fab_summariser *s, variant_sums *v, const fab_outcome *row, double impact) {
    fab_access_loss *a = &v->out.access;
    const uint64_t n = summary_weight(s, row->scenario);
    a->n += n;
    a->n_stopped += row->state != FAB_OUTCOME_RUNS ? n : 0;
    if (row->state == FAB_OUTCOME_RUNS) {
        a->n_slower += impact > FAB_SAME_FACTOR ? n : 0;
        if (s->has_times && !isnan(row->slowdown)) {
            v->access_slowdown += (double)n * row->slowdown;
            v->n_access_times += n;
            a->worst_slowdown = a->worst_slowdown >= row->slowdown ? a->worst_slowdown : row->slowdown;
        }
    }
}

/* What the other parts of a span leave, but for rounding. */
static double part_written(const fab_outcome *row) {
    double part = 1 - row->goodput - row->restart_ratio - row->redo_ratio - row->slow_ratio - row->wait_ratio;
    return part > 1e-12 ? part : 0;
}

static fab_status summarise_add_row(fab_summariser *s, const fab_outcome *row, bool is_access, fab_error *err) {
    variant_sums *v = &s->variants[row->variant];
    double impact = s->impact[row->variant];
    bool stands = s->request.span_s <= 0 && row->state != FAB_OUTCOME_RUNS;
    const uint64_t n = summary_weight(s, row->scenario);
    FAB_PASS(add_figures(s, v, row, err));
    v->out.n_done += n;
    v->out.n_stopped += row->state != FAB_OUTCOME_RUNS ? n : 0;
    v->out.n_disconnected += row->n_disconnected > 0 ? n : 0;
    v->out.n_moved += row->n_moved > 0 ? n : 0;
    if (s->request.span_s > 0) {
        v->out.restart_ratio += row->restart_ratio;
        v->out.redo_ratio += row->redo_ratio;
        v->out.slow_ratio += row->slow_ratio;
        v->out.wait_ratio += row->wait_ratio;
        v->out.write_ratio += part_written(row);
        v->out.failures += row->n_failures;
        v->out.stops += row->n_stops;
    }
    if (!isnan(impact)) {
        candidate new = {impact, *row};
        v->out.impact += (double)n * impact;
        v->squares += (double)n * (impact * impact);
        v->n_impacts += n;
        if (s->request.span_s > 0) {
            summary_add_causes(s, impact - part_written(row), &v->causes[row->scenario % s->request.n_draws]);
        }
        if (!stands) {
            count_bin(&v->out, impact, n);
            offer(v->worst, &v->n_worst, s->request.top, &new);
        } else if (v->n_stopped < s->request.top) {
            v->stopped[v->n_stopped++] = new;
        }
    }
    if (is_access) {
        count_access(s, v, row, is_told(s, row) ? impact : 0);
    }
    return FAB_OK;
}

/* The policies of an engine on a scenario. */
static void compare_policies(fab_summariser *s, fab_study_choice *c, const fab_outcome *rows) {
    const double *impact = s->impact;
    size_t end = c->first + s->request.n_policies;
    size_t best = c->first;
    double most = impact[best];
    bool is_known = true;
    for (size_t v = c->first; v < end; v++) {
        is_known = is_known && !isnan(impact[v]);
        for (size_t w = c->first; w < v; w++) {
            bool *differs = &s->differ[v * s->request.n_policies + w - c->first];
            *differs =
                *differs || isnan(impact[v]) != isnan(impact[w]) || fabs(impact[v] - impact[w]) > FAB_SAME_FACTOR;
        }
    }
    for (size_t v = c->first; v < end; v++) {
        if (!is_known) {
            return;
        }
        best = impact[v] < impact[best] ? v : best;
        most = impact[v] > most ? impact[v] : most;
    }
    size_t n_best = 0;
    size_t last_best = best;
    for (size_t v = c->first; v < end; v++) {
        if (impact[v] <= impact[best] + FAB_SAME_FACTOR) {
            s->variants[v].out.n_best++;
            last_best = v;
            n_best++;
        }
    }
    s->variants[last_best].out.n_alone += n_best == 1;
    c->n_compared++;
    c->n_differ += most > impact[best] + FAB_SAME_FACTOR;
    c->impact += impact[best];
    c->baseline_impact += impact[c->baseline];
    bool stops = rows[c->baseline].state != FAB_OUTCOME_RUNS;
    c->n_rescued += stops && rows[best].state == FAB_OUTCOME_RUNS;
    if (!stops && rows[best].state == FAB_OUTCOME_RUNS && !isnan(rows[best].slowdown + rows[c->baseline].slowdown)) {
        c->n_both++;
        c->best_slowdown += rows[best].slowdown;
        c->baseline_slowdown += rows[c->baseline].slowdown;
    }
    double saved = impact[c->baseline] - impact[best];
    if (saved > FAB_SAME_FACTOR && (c->most_saved_scenario == UINT64_MAX || saved > c->most_saved)) {
        c->most_saved = saved;
        c->most_saved_scenario = rows->scenario;
        c->most_saved_variant = best;
    }
}

static fab_status check_scenario(fab_summariser *s, const fab_outcome *rows, const uint32_t *component, size_t n,
                                 fab_error *err) {
    for (size_t v = 0; v < s->n_variants; v++) {
        FAB_PASS(check_row(s, &rows[v], v, err));
        FAB_REFUSE_IF(rows[v].scenario != rows[0].scenario, err, FAB_EINPUT, NULL,
                      "scenario %" PRIu64 " has no row of variant %zu", rows[0].scenario, v);
    }
    for (size_t i = 0; i < n; i++) {
        FAB_REFUSE_IF(component[i] >= s->request.n_components || (i > 0 && component[i] <= component[i - 1]), err,
                      FAB_EINPUT, NULL, "scenario %" PRIu64 " fails component %" PRIu32 ", which cannot be",
                      rows[0].scenario, component[i]);
    }
    return FAB_OK;
}

fab_status fab_summariser_add(fab_summariser *s, const fab_outcome *rows, const uint32_t *component, size_t n,
                              fab_error *err) {
    bool is_history = s->request.span_s > 0;
    FAB_PASS(check_scenario(s, rows, component, n, err));
    if (is_history) {
        FAB_PASS(summary_find_components(s, rows[0].scenario, &n, err));
        summary_count_failures(s);
        component = s->failed;
    }
    bool is_access =
        !is_history && n == 1 && summary_is_access_loss(s->request.fabric, &s->table.component[component[0]]);
    const uint64_t n_sets = summary_weight(s, rows[0].scenario);
    s->is_single = s->is_single && n == 1;
    s->n_access += is_access;
    uint64_t classes = summary_count_scenario(s, component, n, n_sets);
    for (size_t v = 0; v < s->n_variants; v++) {
        s->impact[v] = summary_impact(s, &rows[v]);
        FAB_PASS(summarise_add_row(s, &rows[v], is_access, err));
    }
    for (size_t e = 0; e < s->request.n_engines && s->request.n_policies > 1; e++) {
        compare_policies(s, &s->choices[e], rows);
    }
    for (size_t v = 0; v < s->n_variants; v++) { /* parts are blamed for what is no chance */
        s->impact[v] = is_told(s, &rows[v]) ? s->impact[v] : 0;
        summary_count_components(s, &rows[v], s->impact[v], component, n, classes, n_sets);
    }
    FAB_PASS(is_history ? FAB_OK : summary_keep_set(s, rows[0].scenario, component, n, err));
    s->next = rows[0].scenario + 1;
    s->n_done += n_sets;
    s->n_looked_at++;
    return FAB_OK;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static double summarise_share(double sum, uint64_t n) {
    return n > 0 ? sum / (double)n : NAN;
}

static fab_status finish_figures(const fab_summariser *s, variant_sums *v, fab_error *err) {
    fab_study_variant *out = &v->out;
    out->impact = summarise_share(out->impact, v->n_impacts);
    FAB_PASS(find_spread(&v->tallies[TALLY_SLOWDOWN], false, &out->slowdown, err));
    FAB_PASS(find_spread(&v->tallies[TALLY_TIME], false, &out->time_s, err));
    FAB_PASS(find_spread(&v->tallies[TALLY_RATIO], false, &out->worst_ratio, err));
    FAB_PASS(find_spread(&v->tallies[TALLY_COLLISIONS], false, &out->collisions, err));
    FAB_PASS(find_spread(&v->tallies[TALLY_LOST], false, &out->lost_ratio, err));
    FAB_PASS(find_spread(&v->tallies[TALLY_MOVED], false, &out->moved, err));
    const tally *goodput = &v->tallies[TALLY_GOODPUT];
    if (goodput->n_values > 0 && goodput->sum > 0) { /* by history: quantiles lose that order */
        fab_parts_of(goodput->value, goodput->n_values, &out->kept);
    }
    FAB_PASS(find_spread(&v->tallies[TALLY_GOODPUT], true, &out->goodput, err));
    if (s->request.span_s > 0) {
        out->restart_ratio = summarise_share(out->restart_ratio, out->n_done);
        out->redo_ratio = summarise_share(out->redo_ratio, out->n_done);
        out->slow_ratio = summarise_share(out->slow_ratio, out->n_done);
        out->wait_ratio = summarise_share(out->wait_ratio, out->n_done);
        out->write_ratio = summarise_share(out->write_ratio, out->n_done);
        out->failures = summarise_share(out->failures, out->n_done);
        out->stops = summarise_share(out->stops, out->n_done);
    }
    out->access.mean_slowdown = summarise_share(v->access_slowdown, v->n_access_times);
    return FAB_OK;
}

/* Which policies do the same, and which variant is fastest. */
static void compare_variants(const fab_summariser *s, fab_study_summary *out) {
    const size_t n_policies = s->request.n_policies;
    for (size_t i = 0; i < s->n_variants; i++) {
        fab_study_variant *v = &out->variants[i];
        const double healthy = s->has_times ? v->healthy_time_s : fmax(1, v->healthy_ratio);
        const size_t first = i - i % n_policies;
        const uint64_t n_compared = n_policies > 1 ? s->choices[i / n_policies].n_compared : 0;
        v->speed = (1 - v->impact) / healthy;
        v->same_as = first;
        while (v->same_as < i && (n_compared == 0 || out->variants[v->same_as].same_as != v->same_as ||
                                  s->differ[i * n_policies + v->same_as - first])) {
            v->same_as++;
        }
        const fab_study_variant *best = &out->variants[out->shown];
        if (v->speed > best->speed * (1 + FAB_SAME_FACTOR) || (isnan(best->speed) && !isnan(v->speed))) {
            out->shown = i;
        }
    }
}

static void write_criterion(const fab_summariser *s, fab_study_summary *out) {
    static const char *const MEASURES[] = {
        "part of the job's speed that is lost: 1 - 1 / slowdown, 1 where the job stops",
        ("1 - fullest link before / after (loads below 1 count as 1): what the fullest link costs; 1 where the job "
         "stops"),
        "part of the span that is lost: 1 - goodput",
        "1 - p99 of requests before / after: by how much longer 99 % of them wait; 1 where the job stops"};
    const char *measure = MEASURES[s->request.is_p99 ? 3 : s->request.span_s > 0 ? 2 : s->has_times ? 0 : 1];
    FAB_FORMAT(out->criterion, "%s", measure);
}

/* --- updates that are rolled through a tier: what each way loses, all its steps together -------------------------- */

static int by_lost(const void *a, const void *b) {
    const fab_rollout *x = a;
    const fab_rollout *y = b;
    FAB_ORDER_BY(isnan(x->lost), isnan(y->lost));
    FAB_ORDER_BY(x->n_stopped, y->n_stopped); /* a job that stops loses more than the step: it restarts */
    if (!isnan(x->lost) && fabs(x->lost - y->lost) > FAB_SAME_FACTOR) {
        return FAB_ORDER(x->lost, y->lost);
    }
    FAB_ORDER_BY(x->n_steps, y->n_steps);
    return FAB_ORDER(x->is_spread, y->is_spread);
}

static fab_status summary_rollouts(const fab_summariser *s, size_t variant, fab_study_variant *out, fab_error *err) {
    const fab_summary_request *r = &s->request;
    const set_list *l = &s->sets;
    FAB_OWNED uint32_t *n_seen = NULL;
    if (r->n_ways == 0) {
        return FAB_OK;
    }
    FAB_PASS(FAB_NEW_ALL(r->n_ways, err, n_seen, out->rollouts));
    out->n_rollouts = r->n_ways;
    for (size_t w = 0; w < r->n_ways; w++) {
        const fab_rollout_way *way = &r->ways[w];
        out->rollouts[w] =
            (fab_rollout){.at_a_time = way->at_a_time, .n_steps = way->n_steps, .is_spread = way->is_spread};
    }
    for (size_t k = 0; k < l->n; k++) {
        const uint32_t w = r->way_of[l->scenario[k]];
        const double impact = l->impact[k * s->n_variants + variant];
        fab_rollout *to = &out->rollouts[w];
        to->worst = n_seen[w] == 0 || impact > to->worst ? impact : to->worst;
        to->n_stopped += impact >= 1;
        to->lost += impact;
        n_seen[w]++;
    }
    for (size_t w = 0; w < r->n_ways; w++) {
        out->rollouts[w].lost = n_seen[w] == r->ways[w].n_steps ? out->rollouts[w].lost : NAN;
    }
    qsort(out->rollouts, r->n_ways, sizeof *out->rollouts, by_lost);
    return FAB_OK;
}

fab_status fab_summariser_finish(fab_summariser *s, fab_study_summary **out, fab_error *err) {
    FAB_OWNS_NEW(fab_study_summary_free_owned, fab_study_summary, summary, 1, err);
    FAB_PASS(FAB_NEW(summary->variants, s->n_variants, err));
    summary->n_variants = s->n_variants;
    summary->n_policies = s->request.n_policies;
    for (uint64_t i = 0; i < s->request.n_scenarios && s->request.n_equal != NULL; i++) {
        summary->n_scenarios += s->request.n_equal[i];
    }
    summary->n_scenarios += s->request.n_equal == NULL ? s->request.n_scenarios : 0;
    summary->n_done = s->n_done;
    summary->n_looked_at = s->request.n_equal != NULL ? s->n_looked_at : 0;
    summary_spread_components(s);
    summary->span_s = s->request.span_s;
    summary->has_times = s->has_times;
    summary->is_p99 = s->request.is_p99;
    summary->is_single = s->is_single && s->n_done > 0;
    for (size_t i = 0; i < s->table.n; i++) {
        summary->n_components += s->table.n_scenarios[i] > 0;
    }
    summary->has_homing = s->n_access > 0 && summary_homing(s->request.fabric, &summary->homing);
    write_criterion(s, summary);
    for (size_t i = 0; i < s->n_variants; i++) {
        FAB_PASS(finish_figures(s, &s->variants[i], err));
        summary->variants[i] = s->variants[i].out;
        summary_find_causes(s->variants[i].causes, s->request.n_draws, &summary->variants[i]);
        FAB_PASS(summary_credit(s, i, err));
        summary->variants[i].n_interactions = s->sets.n_interactions;
        summary->variants[i].worst_interaction = s->sets.worst_interaction;
        summary->variants[i].n_undecided = s->sets.n_undecided;
        summary->variants[i].is_whole = s->sets.is_whole;
        FAB_PASS(summary_rank(s, i, &summary->variants[i], err));
        FAB_PASS(summary_cases(s, i, &summary->variants[i], err));
        FAB_PASS(summary_rollouts(s, i, &summary->variants[i], err));
    }
    compare_variants(s, summary);
    for (size_t k = 0; k < summary->variants[0].n_classes; k++) { /* every variant has the same */
        summary->n_parts += summary->variants[0].classes[k].n_parts;
    }
    if (s->request.n_policies > 1) {
        FAB_EACH(fab_study_choice, c, s->choices, s->request.n_engines) {
            c->impact = summarise_share(c->impact, c->n_compared);
            c->baseline_impact = summarise_share(c->baseline_impact, c->n_compared);
            c->best_slowdown = summarise_share(c->best_slowdown, c->n_both);
            c->baseline_slowdown = summarise_share(c->baseline_slowdown, c->n_both);
        }
        summary->choices = s->choices;
        s->choices = NULL;
    }
    return FAB_GIVE(*out, summary);
}
