/* What other engines would make of the phases that collide: the base of what a report says is to be done. */
#include "advise_internal.h"
#include "fab/design.h"
#include "fab/iterate.h"
#include "fab/replay_memory.h"

typedef struct alternatives {
    const fab_replay *replay;
    const fab_context_request *what; /* of its context */
    const fab_traffic *traffic;
    const fab_result *result;
    fab_run_verdict *verdict;
    size_t *lossy; /* [n_lossy]: phases of the result */
    size_t *like;  /* [n_lossy]: index in the subset of one with the same flows, of bytes in proportion */
    size_t n_lossy;
    fab_traffic subset; /* phases that differ, borrowed from `traffic` but for the list */
    size_t *of_subset;  /* [subset.n_phases]: phases of the result */
    double *transfer_s; /* [phase] */
    const double *
        *bytes;       /* [phase]: of links, under the engine that is compared with, then under that of an alternative */
    double **scaled;  /* [phase]: loads of an alternative, in proportion to those of a phase like it */
    fab_paces *paces; /* [engine]: of them */
} alternatives;

static void take_means(alternatives *t) {
    FAB_FILL(t->transfer_s, t->result->n_phases, t->result->phases[fab_at].engines[t->verdict->engine].transfer_s.mean);
}

/* Of an iteration with these transfers, of a batch that is served, or of the phases one after the other. `paces`: NULL,
 * nothing travels beside anything else. */
static fab_status total_time(const alternatives *t, fab_paces *paces, double *out, fab_error *err) {
    const size_t engine = t->verdict->engine;
    if (t->verdict->of_iteration) {
        fab_result like = *t->result;
        fab_iteration it = {.time_s = 0};
        like.paces = paces;
        FAB_PASS(
            fab_iterate_with(t->traffic, &like, engine, t->transfer_s, NULL, &t->result->iterations[engine], &it, err));
        *out = it.time_s;
        return FAB_OK;
    }
    *out = 0;
    if (t->result->n_serving > engine) {
        fab_serving served;
        fab_serve_with(t->traffic, t->result, engine, t->transfer_s, &served);
        *out = served.batch_s;
        return FAB_OK;
    }
    for (size_t p = 0; p < t->result->n_phases; p++) {
        *out += t->transfer_s[p] + t->result->phases[p].engines[engine].latency_s;
    }
    return FAB_OK;
}

/* Where a phase is in the subset, in which it is put if there is none like it. */
static fab_status place_phase(alternatives *t, size_t phase, size_t *out, fab_error *err) {
    size_t first = phase;
    FAB_PASS(fab_context_duplicate(t->replay->context, phase, &first, err));
    for (size_t i = 0; i < t->subset.n_phases; i++) {
        size_t other = 0;
        FAB_PASS(fab_context_duplicate(t->replay->context, t->of_subset[i], &other, err));
        if (other == first) {
            *out = i;
            return FAB_OK;
        }
    }
    t->verdict->n_untried += t->result->phases[phase].flows * t->replay->n_seeds;
    t->subset.phases[t->subset.n_phases] = t->traffic->phases[phase];
    t->of_subset[t->subset.n_phases] = phase;
    *out = t->subset.n_phases++;
    return FAB_OK;
}

static fab_status find_lossy(alternatives *t, fab_error *err) {
    const size_t n = t->result->n_phases;
    FAB_PASS(FAB_NEW_ALL(n + 1, err, t->lossy, t->like, t->of_subset, t->transfer_s));
    FAB_PASS(fab_allocate(n + 1, sizeof *t->bytes, &t->bytes, err));
    FAB_PASS(FAB_NEW_ALL(n + 1, err, t->scaled, t->subset.phases));
    FAB_PASS(FAB_NEW(t->paces, t->what->n_engines, err));
    for (size_t p = 0; p < n; p++) {
        if (fab_verdict_is_lossy(&t->result->phases[p], t->verdict->engine)) {
            FAB_PASS(place_phase(t, p, &t->like[t->n_lossy], err));
            t->lossy[t->n_lossy++] = p;
        }
    }
    return FAB_OK;
}

/* Where more uplinks carry what crosses a cut, equal flows take its factor less at most: NICs hold them then, which
 * have their bytes to carry, too. */
static fab_status find_uplinks(alternatives *t, fab_error *err) {
    const fab_result *r = t->result;
    bool is_tapered = false;
    for (size_t p = 0; p < r->n_phases; p++) {
        const fab_phase_result *phase = &r->phases[p];
        bool is_even = true;
        if (phase->fabric_flows > 0 && phase->max_cut_factor > 1) {
            (void)fab_phase_largest(&t->traffic->phases[p], &is_even);
            is_tapered = true;
            const fab_engine_result *e = &phase->engines[t->verdict->engine];
            const double hosts = phase->least_s > 0 ? phase->hosts_s / phase->least_s : 0;
            t->transfer_s[p] = e->transfer_s.mean / e->lower_bound_ratio.mean * fmax(1 / phase->max_cut_factor, hosts);
            if (!is_even) {
                return FAB_OK;
            }
        }
    }
    return is_tapered ? total_time(t, NULL, &t->verdict->uplinks_s, err) : FAB_OK;
}

/* The times that alternatives are compared with. */
static fab_status find_limits(alternatives *t, fab_error *err) {
    take_means(t);
    FAB_PASS(total_time(t, t->result->paces, &t->verdict->compared_s, err));
    for (size_t p = 0; p < t->result->n_phases; p++) { /* also those that lose too little to be tried */
        const fab_engine_result *e = &t->result->phases[p].engines[t->verdict->engine];
        t->transfer_s[p] /= e->has_time && !e->is_absent ? e->lower_bound_ratio.mean : 1;
    }
    FAB_PASS(total_time(t, NULL, &t->verdict->least_s, err));
    return find_uplinks(t, err);
}

/* Loads of a phase that is like one that was routed: the same flows with bytes in proportion. */
static fab_status take_loads(alternatives *t, const fab_engine_result *e, size_t phase, size_t like, fab_error *err) {
    const size_t n = t->what->fabric->n_links;
    const double ratio = (double)t->traffic->phases[phase].total_bytes / (double)t->traffic->phases[like].total_bytes;
    FAB_PASS(t->scaled[phase] == NULL ? FAB_NEW(t->scaled[phase], n, err) : FAB_OK);
    FAB_FILL(t->scaled[phase], n, e->load_bytes[fab_at] * ratio);
    t->bytes[phase] = t->scaled[phase];
    return FAB_OK;
}

/* What phases beside each other do to each other, where that is asked at all: with the loads of the first seed. */
static fab_status find_paces(alternatives *t, fab_error *err) {
    if (t->result->paces == NULL) {
        return FAB_OK;
    }
    for (size_t p = 0; p < t->result->n_phases; p++) {
        if (t->bytes[p] == NULL) {
            t->bytes[p] = t->result->phases[p].engines[t->verdict->engine].load_bytes;
        }
        t->bytes[p] = fab_iterate_is_shared(t->traffic->phases[p].name) ? t->bytes[p] : NULL;
    }
    return fab_iterate_paces(t->what->fabric, t->traffic, t->bytes, t->transfer_s, &t->paces[t->verdict->engine], err);
}

static fab_status take_alternative(alternatives *t, const fab_result *found, fab_alternative *out, fab_error *err) {
    take_means(t);
    out->max_collision_factor = 0;
    FAB_FILL(t->bytes, t->result->n_phases, NULL);
    for (size_t i = 0; i < t->n_lossy; i++) {
        const size_t phase = t->lossy[i];
        const size_t like = t->of_subset[t->like[i]];
        const fab_engine_result *e = &found->phases[t->like[i]].engines[0];
        const double like_s = t->result->phases[like].engines[t->verdict->engine].transfer_s.mean;
        FAB_REFUSE_IF(!e->has_time, err, FAB_EUNSUPPORTED, NULL, "its times are not known");
        t->transfer_s[phase] *= e->transfer_s.mean / like_s;
        out->max_collision_factor = fmax(out->max_collision_factor, e->max_collision_factor.mean);
        FAB_PASS(t->result->paces != NULL ? take_loads(t, e, phase, like, err) : FAB_OK);
    }
    FAB_PASS(find_paces(t, err));
    if (t->result->n_serving > t->verdict->engine) {
        fab_serving served;
        fab_serve_with(t->traffic, t->result, t->verdict->engine, t->transfer_s, &served);
        out->first_token_s = served.first_token_s;
        out->token_s = served.token_s;
    }
    return total_time(t, t->result->paces != NULL ? t->paces : NULL, &out->time_s, err);
}

/* Whether the engine that was tried is one that was given, in other words. */
static bool is_given(const alternatives *t, const char *label) {
    FAB_ANY(given, e, t->what->n_engines, strcmp(t->result->phases[0].engines[e].label, label) == 0);
    return given;
}

/* The phases under the engine of an alternative; *out_known: it needs none, as its figures are there. */
static fab_status run_alternative(alternatives *t, fab_alternative *alternative, bool *out_known, fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_result_release) fab_result found = {0};
    const fab_router *router = NULL;
    fab_engine_spec engine = {.where = "--engine"};
    const fab_context_request what = {.base = t->replay->context,
                                      .given = &t->subset,
                                      .traffic = "phases that collide",
                                      .engines = &engine,
                                      .n_engines = 1,
                                      .seed = t->what->seed};
    FAB_FORMAT(engine.text, "%s", alternative->engine);
    FAB_PASS(fab_context_new(&what, &context, err));
    FAB_PASS(fab_context_router(context, 0, &router, err));
    *out_known = is_given(t, fab_router_facts_of(router)->label);
    if (!*out_known) {
        const fab_replay replay = {.context = context,
                                   .n_seeds = t->replay->n_seeds,
                                   .n_threads = t->replay->n_threads,
                                   .rates = true,
                                   .keep_loads = t->result->paces != NULL};
        FAB_PASS(fab_replay_run(&replay, &found, err));
        FAB_PASS(take_alternative(t, &found, alternative, err));
        alternative->is_possible = true;
    }
    return FAB_OK;
}

/* What the fabric refuses is no error. */
static fab_status try_engine(alternatives *t, const char *engine, bool needs_switch_support, fab_error *err) {
    fab_error why = {0};
    fab_alternative *alternative = &t->verdict->alternatives[t->verdict->n_alternatives];
    *alternative = (fab_alternative){.needs_switch_support = needs_switch_support};
    FAB_FORMAT(alternative->engine, "%s", engine);
    bool is_known = false;
    fab_status status = run_alternative(t, alternative, &is_known, &why);
    t->verdict->n_alternatives += !is_known && (status == FAB_OK || fab_is_refusal(status));
    if (fab_is_refusal(status)) {
        FAB_FORMAT(alternative->reason, "%.250s", why.text);
        return FAB_OK;
    }
    return fab_fail_as(err, status, &why);
}

/* --- luck --------------------------------------------------------------------------------------------------------- */

_Static_assert(FAB_VERDICT_SEEDS == FAB_ADVISE_MIN_SEEDS, "advice looks at the same draws");

static uint64_t n_checked(const alternatives *t) {
    return fab_verdict_seeds(t->replay->n_seeds);
}

/* What all phases take under an engine, seed by seed, as advice counts it without packets. NAN: of one it is not known.
 */
static fab_status draw_times(const alternatives *t, const char *engine, fab_seed_figures *out, bool *out_draws,
                             fab_error *err) {
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_result_release) fab_result found = {0};
    fab_engine_spec spec = {.where = "--engine"};
    const bool by_links = advise_counts_links(t->traffic);
    const fab_context_request what = {
        .base = t->replay->context, .engines = &spec, .n_engines = 1, .seed = t->what->seed};
    FAB_FORMAT(spec.text, "%s", engine);
    FAB_PASS(fab_context_new(&what, &context, err));
    const fab_replay replay = {.context = context,
                               .n_seeds = n_checked(t),
                               .n_threads = t->replay->n_threads,
                               .rates = !by_links,
                               .fluid = true,
                               .times_only = true,
                               .last_alone = true,
                               .keep_draws = true};
    FAB_PASS(fab_replay_run(&replay, &found, err));
    for (size_t p = 0; p < found.n_phases; p++) {
        const fab_engine_result *e = &found.phases[p].engines[0];
        for (size_t s = 0; s < replay.n_seeds; s++) {
            advise_add_phase(e, s, by_links, &out[s]);
        }
        *out_draws = *out_draws || e->n_seeds > 1;
    }
    return FAB_OK;
}

/* What a gain over the seeds is of the time that the verdict is of, in its seconds: of an iteration, which phases hide
 * from each other in part, in proportion to what the seeds of this report save. */
static void take_seeds(const alternatives *t, const fab_seed_figures *base, const fab_seed_figures *times,
                       const fab_advice_gain *gain, fab_alternative *a) {
    const uint64_t n = n_checked(t);
    const uint64_t n_here = t->replay->n_seeds;
    FAB_SUM(double, all_s, i, n, base[i].transfer_s / (double)n);
    FAB_SUM(double, here_s, i, n_here, base[i].transfer_s / (double)n_here);
    FAB_SUM(double, after_s, i, n_here, times[i].transfer_s / (double)n_here);
    const bool is_part = (t->verdict->of_iteration || t->result->n_serving > t->verdict->engine) && here_s > after_s;
    const double part = is_part ? (t->verdict->compared_s - a->time_s) / (here_s - after_s) : 1;
    const double time_s = is_part ? t->verdict->compared_s - part * (here_s - all_s) : all_s;
    a->seeds_ratio = time_s > 0 ? part * gain->gain_s / time_s : 0;
    a->seeds_ci95_ratio = time_s > 0 ? part * gain->ci95_s / time_s : 0;
}

/* Whether what an alternative saves is more than the luck of these seeds: by the measure and the seeds of advice. */
static fab_status check_alternative(const alternatives *t, fab_alternative *a, const fab_seed_figures *base, bool draws,
                                    fab_error *err) {
    fab_advice_gain gain;
    FAB_OWNED_NEW(fab_seed_figures, times, n_checked(t), err);
    FAB_PASS(draw_times(t, a->engine, times, &draws, err));
    FAB_PASS(advise_judge(base, times, n_checked(t), &gain, err));
    a->is_checked = draws;
    take_seeds(t, base, times, &gain, a);
    a->is_confirmed = gain.verdict == FAB_ADVICE_FASTER;
    return FAB_OK;
}

/* Those that would be named. */
static fab_status check_luck(alternatives *t, fab_error *err) {
    FAB_OWNED_NEW(fab_seed_figures, base, n_checked(t), err);
    bool draws = false;
    bool is_known = false;
    FAB_EACH(fab_alternative, a, t->verdict->alternatives, t->verdict->n_alternatives) {
        if (!a->is_possible || a->time_s >= t->verdict->compared_s * (1 - FAB_VERDICT_LITTLE)) {
            continue;
        }
        if (!is_known) {
            FAB_PASS(draw_times(t, t->what->engines[t->verdict->engine].text, base, &draws, err));
            is_known = true;
        }
        FAB_PASS(check_alternative(t, a, base, draws, err));
    }
    return FAB_OK;
}

static fab_status try_all(alternatives *t, fab_error *err) {
    static const advise_change CHANGES[FAB_VERDICT_ALTERNATIVES] = {
        {.sets_engine = true, .engine = "qp=4"},
        {.sets_engine = true, .engine = "qp=16"},
        {.sets_engine = true, .engine = "weights=capacity", .needs_switch_support = true},
        {.sets_engine = true, .engine = "spray", .replaces = true, .needs_switch_support = true},
        {.sets_engine = true, .engine = "spray,weights=capacity", .replaces = true, .needs_switch_support = true}};
    advise_config base = {.order = ""};
    fab_trunks trunks;
    FAB_PASS(fab_compare_trunks(t->what->fabric, &trunks, err));
    FAB_FORMAT(base.engine, "%s", t->what->engines[t->verdict->engine].text);
    for (size_t i = 0; i < FAB_VERDICT_ALTERNATIVES; i++) {
        char given[24] = "0";
        advise_config config;
        const bool is_pairs = strncmp(CHANGES[i].engine, "qp=", 3) == 0;
        (void)advise_engine_option(base.engine, "qp", given, sizeof given);
        const bool is_more = !is_pairs || atoi(CHANGES[i].engine + 3) > atoi(given);
        if (is_more && advise_is_offered(&CHANGES[i], &t->what->design->fabric, &trunks) &&
            advise_apply(&CHANGES[i], &base, false, false, &config)) {
            FAB_PASS(try_engine(t, config.engine, CHANGES[i].needs_switch_support, err));
        }
    }
    return check_luck(t, err);
}

fab_status fab_verdict_plan(fab_replay *replay, fab_error *err) {
    const fab_context_request *what = fab_context_what(replay->context);
    bool has_packets = what->design->fabric.transport.kind != FAB_TRANSPORT_FLUID;
    uint64_t n = 0;
    FAB_PASS(fab_replay_trial_flows(replay, &n, err));
    replay->trial_flows =
        what->gpus == NULL && n <= (has_packets ? FAB_ALTERNATIVE_PACKETS : FAB_ALTERNATIVE_FLOWS) ? n : 0;
    return FAB_OK;
}

fab_status fab_verdict_try(const fab_replay *replay, const fab_result *result, fab_run_verdict *verdict,
                           fab_error *err) {
    fab_status status = FAB_OK;
    const fab_context_request *what = fab_context_what(replay->context);
    alternatives *t = NULL;
    if (!verdict->has_time || what->gpus != NULL) {
        return FAB_OK;
    }
    FAB_TRY(FAB_NEW(t, 1, err));
    t->replay = replay;
    t->what = what;
    t->result = result;
    t->verdict = verdict;
    FAB_TRY(fab_context_traffic(replay->context, &t->traffic, err));
    t->subset = *t->traffic;
    t->subset.phases = NULL;
    t->subset.n_phases = 0;
    FAB_TRY(find_lossy(t, err));
    FAB_TRY(find_limits(t, err));
    if (t->n_lossy > 0 && replay->trial_flows > 0) {
        verdict->n_untried = 0;
        FAB_TRY(try_all(t, err));
    }
    FAB_TRY(fab_verdict_try_batches(replay, result, verdict, err));
done:
    for (size_t p = 0; t != NULL && t->scaled != NULL && p < result->n_phases; p++) {
        free(t->scaled[p]);
    }
    if (t != NULL) {
        FAB_FREE_ALL(t->bytes, t->scaled, t->paces);
        FAB_FREE_ALL(t->lossy, t->like, t->of_subset, t->transfer_s, t->subset.phases);
    }
    free(t);
    return status;
}
