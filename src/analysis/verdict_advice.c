/* What to do about it: of what was computed only. */
#include "fab/advice.h"
#include "fab/degradation.h"
#include "fab/failures.h"
#include "fab/sweep.h"
#include "verdict_lines.h"

#define NOTHING 1e-6 /* of a time: less of it is not worth a word */

/* --- failures, slower parts, other jobs --------------------------------------------------------------------------- */

/* The fastest policy that places all ranks, or the slowest; NULL: none does. */
static const fab_failed_policy *outermost_policy(const fab_failed_engine *e, size_t n, bool is_slowest) {
    const fab_failed_policy *found = NULL;
    FAB_EACH(const fab_failed_policy, p, e->policies, n) {
        const bool is_known = p->is_possible && !isnan(p->state.time_s);
        const bool is_beyond = found == NULL || (is_slowest ? p->state.time_s > found->state.time_s
                                                            : p->state.time_s < found->state.time_s);
        found = is_known && is_beyond ? p : found;
    }
    return found;
}

/* Of the policy that leaves most replicas. */
static void changes_of_serving(const fab_failed_engine *e, size_t n, char *out) {
    const fab_failed_serving *most = &e->policies[0].serving;
    for (size_t i = 1; i < n; i++) {
        most = e->policies[i].serving.n_left > most->n_left ? &e->policies[i].serving : most;
    }
    verdict_say(out, "%" PRIu64 " of %" PRIu64 " replicas are left", most->n_left, most->n);
    if (most->most_requests_per_s == 0) {
        verdict_say(out, ": none is left%s, the job stops", most->n_left > 0 ? " of a pool" : "");
    } else if (isfinite(most->most_requests_per_s)) {
        verdict_say(out, ", %.4g requests/s at most", most->most_requests_per_s);
    }
}

static void changes_of_failures(const fab_failures *f, size_t engine, char *out) {
    const fab_failed_engine *e = &f->engines[engine];
    const fab_failed_policy *best = outermost_policy(e, f->n_policies, false);
    const fab_failed_policy *slowest = outermost_policy(e, f->n_policies, true);
    verdict_say(out, ". With %s%s failed: ", f->n_failed > 0 ? f->failed[0] : "nothing",
                f->n_failed > 1 ? " and others" : "");
    if (e->note[0] != '\0') {
        verdict_say(out, "not known, %s", e->note);
    } else if (f->n_lost > 0 && f->n_policies > 0 && e->policies[0].serving.n > 0) {
        changes_of_serving(e, f->n_policies, out);
    } else if (best == NULL && f->n_lost > 0) {
        verdict_say(out, "no policy places the ranks of %zu lost server%s", f->n_lost, f->n_lost == 1 ? "" : "s");
    } else if (best == NULL) {
        verdict_say(out, "its time is not known");
    } else {
        double before_s = e->healthy.time_s;
        verdict_say(out, "%s%s", VERDICT_SECONDS(best->state.time_s), f->iterates ? "" : " for all phases");
        if (before_s > 0) {
            verdict_say(out, ", x%.3f", best->state.time_s / before_s);
        }
        if (before_s > 0 && slowest->state.time_s > best->state.time_s * (1 + VERDICT_MARGIN)) {
            verdict_say(out, " under %s, x%.3f under %s", best->policy, slowest->state.time_s / before_s,
                        slowest->policy);
        }
        if (f->n_seeds > 1) {
            const bool is_told = fabs(best->state.time_s - before_s) > best->added_ci95_s;
            verdict_say(out, " (mean of %" PRIu64 " seeds%s)", f->n_seeds, is_told ? "" : ", not told apart");
        }
    }
}

void verdict_add_changes(const fab_result *r, const fab_run_verdict *v, char *out) {
    const size_t engine = fab_result_index(r, v->engine);
    if (r->failures != NULL && engine < r->failures->n_engines) {
        changes_of_failures(r->failures, engine, out);
    }
    if (r->degradation != NULL && engine < r->degradation->n_iterations) {
        const fab_degraded_iteration *it = &r->degradation->iterations[engine];
        verdict_say(out, ". With the slower parts: %s, x%.3f", VERDICT_SECONDS(it->after_s),
                    it->before_s > 0 ? it->after_s / it->before_s : 1);
    } else if (r->degradation != NULL && engine < r->degradation->n_engines) {
        const fab_degradation *d = r->degradation;
        const size_t worst = d->worst[engine];
        const fab_degraded_phase *p = &d->phases[worst * d->n_engines + engine];
        if (p->has_time) {
            verdict_say(out, ". With the slower parts: x%.3f in %s", p->factor, d->names[worst]);
        }
    }
}

/* --- what to do --------------------------------------------------------------------------------------------------- */

static double gain_of(const fab_run_verdict *v, const fab_alternative *t) {
    return t != NULL ? v->compared_s - t->time_s : 0;
}

static const fab_alternative *best_alternative(const fab_run_verdict *v, bool needs_switch_support) {
    const fab_alternative *best = NULL;
    FAB_EACH(const fab_alternative, t, v->alternatives, v->n_alternatives) {
        if (t->is_possible && (!t->is_checked || t->is_confirmed) && t->needs_switch_support == needs_switch_support &&
            (best == NULL || t->time_s < best->time_s)) {
            best = t;
        }
    }
    return best;
}

/* "--engine ecmp,qp=16 saves 146 ms, 2.2 %" */
static void advice_add_alternative(const fab_result *r, const fab_run_verdict *v, const fab_alternative *t, char *out) {
    const fab_serving *now = v->engine < r->n_serving ? &r->serving[v->engine] : NULL;
    const double gain_s = v->compared_s - t->time_s;
    verdict_say(out, "--engine %s saves %s, %.1f %%", t->engine, VERDICT_SECONDS(gain_s), 100 * gain_s / v->compared_s);
    if (t->is_checked && t->seeds_ci95_ratio > t->seeds_ratio / 2) { /* few draws have most of it */
        const double wide = 100 * t->seeds_ci95_ratio;
        if (r->n_seeds >= FAB_VERDICT_SEEDS) {
            verdict_say(out, " +- %.1f %%", wide);
        } else {
            verdict_say(out, " (%.1f %% +- %.1f %% over %d seeds)", 100 * t->seeds_ratio, wide, FAB_VERDICT_SEEDS);
        }
    }
    if (now != NULL) {
        verdict_say(out, " of a batch (first token %s instead of %s, per token %s instead of %s)",
                    VERDICT_SECONDS(t->first_token_s), VERDICT_SECONDS(now->first_token_s), VERDICT_SECONDS(t->token_s),
                    VERDICT_SECONDS(now->token_s));
    }
}

/* What became of engines that were tried. */
typedef enum trial_end { TRIAL_LUCK, TRIAL_LITTLE, TRIAL_SLOWER } trial_end;

static trial_end end_of(const fab_run_verdict *v, const fab_alternative *a) {
    const bool is_slower = a->time_s > v->compared_s * (1 + FAB_VERDICT_LITTLE);
    return a->is_checked && !a->is_confirmed ? TRIAL_LUCK : is_slower ? TRIAL_SLOWER : TRIAL_LITTLE;
}

/* Names of those that ended so. */
static bool add_engines(const fab_run_verdict *v, trial_end end, const char *before, char *out) {
    const char *comma = before;
    FAB_EACH(const fab_alternative, a, v->alternatives, v->n_alternatives) {
        if (a->is_possible && end_of(v, a) == end) {
            verdict_say(out, "%s%s", comma, a->engine);
            comma = ", ";
        }
    }
    return comma != before;
}

/* What those save over several seeds that these do not tell from none, where that is worth asking for more; else 0. */
static double unclear_ratio(const fab_run_verdict *v) {
    double most = 0;
    FAB_EACH(const fab_alternative, a, v->alternatives, v->n_alternatives) {
        most = a->is_checked && !a->is_confirmed ? fmax(most, a->seeds_ratio) : most;
    }
    return most > VERDICT_UNCLEAR ? most : 0;
}

static bool has_luck(const fab_run_verdict *v) {
    FAB_ANY(any, i, v->n_alternatives, v->alternatives[i].is_checked && !v->alternatives[i].is_confirmed);
    return any;
}

/* Whether another routing might win more than what is named. */
static bool leaves_something(const fab_run_verdict *v, const fab_alternative *set, const fab_alternative *built) {
    double won_s = fmax(fmax(gain_of(v, set), gain_of(v, built)), 0);
    return v->n_alternatives > 0 && v->compared_s - won_s - v->least_s > FAB_VERDICT_LITTLE * v->compared_s;
}

/* InfiniBand has no hash, so that queue pairs move nothing; nor are fewer advised than there are. */
static bool takes_pairs(const fab_result *r) {
    FAB_ANY(has_most, e, r->phases[0].n_engines,
            fab_label_pairs(r->phases[0].engines[e].label) >= FAB_VERDICT_MOST_PAIRS);
    return !has_most && (r->n_fabrics == 0 || r->fabrics[0].spec.subnet == FAB_SUBNET_NONE);
}

/* Where none is named before. */
static const char *keep_routing(const fab_result *r, const fab_run_verdict *v) {
    return verdict_is_bound(r, v->engine) ? "no switch routes by this split: " : "keep the routing: ";
}

/* Whether what is bounded here holds of a plan that is chosen, and nothing that was tried is said to be so too. */
static bool is_of_plan(const fab_result *r, const fab_run_verdict *v) {
    return r->plans != NULL && v->n_alternatives == 0;
}

/* Those that won nothing, or by luck, and what no routing can win. `phase`: any, for the engines that there are. */
static void advice_of_trials(const fab_result *r, const fab_run_verdict *v, const fab_phase_result *tapered,
                             const fab_phase_result *phase, bool wins, bool leaves, char *out) {
    const char *between = wins ? "; " : "";
    const double unclear = unclear_ratio(v);
    if (!wins && v->n_alternatives > 0) {
        verdict_say(out, "%s", out[0] != '\0' ? "beside it " : unclear > 0 ? "" : keep_routing(r, v));
        between = add_engines(v, TRIAL_LITTLE, "less than 0.1 % is saved by ", out) ? "; " : between;
        verdict_say(out, "%s", between);
        between = add_engines(v, TRIAL_SLOWER, "it takes longer under ", out) ? "; " : "";
    }
    if (has_luck(v)) {
        verdict_say(out, "%s", between);
        (void)add_engines(v, TRIAL_LUCK, unclear > 0 ? "whether there is a gain of " : "the gain of ", out);
        const uint64_t n = fab_verdict_seeds(r->n_seeds);
        if (unclear > 0) {
            verdict_say(out, ", %.1f %% in the mean, %" PRIu64 " seeds do not tell (--seeds %" PRIu64 " tells more)",
                        100 * unclear, n, VERDICT_MORE_SEEDS * n);
        } else {
            verdict_say(out, " is luck of %s: nothing clear over %" PRIu64 " seeds",
                        r->n_seeds > 1 ? "these draws" : "this draw", n);
        }
        between = "; ";
    }
    if (tapered == NULL || !(tapered->max_cut_factor > VERDICT_FULL) || v->n_alternatives == 0) {
        verdict_say(out, "%sno routing saves more than %s%s", between, VERDICT_SECONDS(v->compared_s - v->least_s),
                    is_of_plan(r, v) ? " under this plan" : "");
        between = "; ";
    }
    if (v->n_untried > 0) {
        FAB_ANY(sprays, e, phase->n_engines, strncmp(phase->engines[e].label, "spray", 5) == 0);
        verdict_say(out, "; none was tried for %s flows: try %s%s%s, or route --advise", FAB_SAY_COUNT(v->n_untried),
                    sprays ? "another --engine" : "--engine spray where switches can",
                    sprays || !takes_pairs(r) ? "" : ", or --engine ecmp,qp=16",
                    is_of_plan(r, v) ? ", with a plan of its own" : "");
    } else if (leaves) {
        verdict_say(out, "%sroute --advise tries more", between);
    }
}

/* What helps where a few NICs bind. */
static void add_nics(const fab_run_verdict *v, char *out) {
    if (strncmp(v->bound, "NICs", 4) == 0 && strstr(v->bound, " alone take ") != NULL) {
        verdict_say(out, "; NICs bind: only other traffic, or more or faster NICs, take less time");
    }
}

/* What routing may win, and what alternatives won of it. */
static void advice_of_routing(const fab_result *r, const fab_run_verdict *v, char *out) {
    const fab_alternative *set = best_alternative(v, false);
    const fab_alternative *built = best_alternative(v, true);
    const fab_phase_result *worst = verdict_worst_phase(r, v->engine);
    const fab_phase_result *tapered = verdict_most_tapered(r, v->engine);
    bool sets = gain_of(v, set) > FAB_VERDICT_LITTLE * v->compared_s;
    bool builds = gain_of(v, built) > fmax(gain_of(v, set), 0) + FAB_VERDICT_LITTLE * v->compared_s;
    double most_s = v->compared_s - v->least_s; /* that any routing can save */
    if (sets) {
        advice_add_alternative(r, v, set, out);
    }
    if (builds) {
        verdict_say(out, "%s", sets ? "; where switches can, " : "where switches can, ");
        advice_add_alternative(r, v, built, out);
    }
    if (worst == NULL) {
        verdict_say(out, "nothing between switches: no routing and no uplink changes these times");
    } else if (v->compared_s > 0 && most_s <= NOTHING * v->compared_s) {
        verdict_say(out, "%severy phase takes the least that any routing needs",
                    out[0] != '\0' ? "" : keep_routing(r, v));
        verdict_add_draw(r, v, out);
        add_nics(v, out);
    } else if (v->compared_s > 0 && most_s <= FAB_VERDICT_LITTLE * v->compared_s) {
        verdict_say(out, "%sno other routing saves more than %s%s", out[0] != '\0' ? "" : keep_routing(r, v),
                    VERDICT_SECONDS(most_s), is_of_plan(r, v) ? " under this plan" : "");
        verdict_add_draw(r, v, out);
        add_nics(v, out);
    } else if (v->compared_s > 0) {
        advice_of_trials(r, v, tapered, worst, sets || builds, leaves_something(v, set, built), out);
    } else if (worst != NULL && worst->engines[v->engine].max_collision_factor.mean > VERDICT_FULL) {
        const fab_engine_result *e = &worst->engines[v->engine];
        verdict_say(out, "%s at most x%.2f in %s",
                    takes_pairs(r) ? "more queue pairs or spraying win" : "spraying wins",
                    fmax(e->has_time ? e->lower_bound_ratio.mean : e->max_hash_factor.mean, 1), worst->name);
    } else {
        verdict_say(out, "%snothing collides", out[0] != '\0' ? "" : keep_routing(r, v));
        verdict_add_draw(r, v, out);
    }
}

/* What runs where nobody chose: the first spare, or else the first policy that was given and places all ranks. */
static const fab_failed_policy *usual_policy(const fab_failed_engine *e, size_t n) {
    const fab_failed_policy *found = NULL;
    FAB_EACH(const fab_failed_policy, p, e->policies, n) {
        const bool is_usual = strcmp(p->policy, "first-spare") == 0;
        found = p->is_possible && !isnan(p->state.time_s) && (found == NULL || is_usual) ? p : found;
    }
    return found;
}

static void advice_of_failures(const fab_failures *f, size_t engine, char *out) {
    const fab_failed_engine *e = &f->engines[engine];
    const fab_failed_policy *best = outermost_policy(e, f->n_policies, false);
    const fab_failed_policy *worst = outermost_policy(e, f->n_policies, true);
    const fab_failed_policy *usual = usual_policy(e, f->n_policies);
    if (f->n_lost == 0 || best == NULL || worst == best) {
        return;
    }
    const double least_s = best->state.time_s;
    if (usual->state.time_s - least_s > FAB_VERDICT_LITTLE * usual->state.time_s) {
        verdict_say(out, "policy %s saves %s over %s; ", best->policy, VERDICT_SECONDS(usual->state.time_s - least_s),
                    usual->policy);
    } else if (worst->state.time_s - least_s > FAB_VERDICT_LITTLE * worst->state.time_s) {
        verdict_say(out, "keep policy %s: %s takes %s longer; ", usual->policy, worst->policy,
                    VERDICT_SECONDS(worst->state.time_s - least_s));
    } else {
        verdict_say(out, "policy %s or any other that was tried; ", best->policy);
    }
}

/* "--engine ecmp,qp=16 saves 0.94 % of the jobs' GPU time where phases meet by chance, 20 of 20 are faster" */
static void add_remedy(const fab_result *r, const fab_job_remedy *m, bool has_basis, char *out) {
    const fab_contention *c = r->contention;
    const char *basis = m->by_chance ? " where phases meet by chance" : " while the longest fall together";
    verdict_say(out, "%s%s%s saves %.2g %% of the jobs' GPU time%s, %" PRIu32 " of %zu are faster",
                m->needs_switch_support ? "where switches can, " : "", m->is_engine ? "--engine " : "servers ", m->what,
                100 * m->saved_ratio, has_basis ? "" : basis, m->n_faster, c->n_jobs);
    if (m->n_slower > 0) {
        verdict_say(out, ", %" PRIu32 " slower", m->n_slower);
    }
    if (!m->is_engine) {
        verdict_say(out, ", without any setting, but jobs that run must move (%s)",
                    r->job.placement == FAB_PLACEMENT_RANDOM ? "placement=order" : "n-servers in place of servers");
    }
}

/* Servers in order, where engines save hardly more: that costs nothing. Else NULL. */
static const fab_job_remedy *free_remedy(const fab_contention *c) {
    FAB_FIRST(order, c->n_remedies, !c->remedies[order].is_engine);
    FAB_ALL(is_best, i, c->n_remedies,
            order < c->n_remedies && c->remedies[i].saved_ratio <= c->remedies[order].saved_ratio + VERDICT_PAIRS);
    return order < c->n_remedies && is_best && c->remedies[order].saved_ratio > FAB_VERDICT_LITTLE ? &c->remedies[order]
                                                                                                   : NULL;
}

/* What all jobs gain: what costs nothing, of other changes that save as much the easiest, then those that save more.
 * What switches must be able to do hides nothing that they need not. */
static void advice_of_jobs(const fab_result *r, bool is_one_draw, bool collides, char *out) {
    const fab_contention *c = r->contention;
    const fab_job_remedy *last = free_remedy(c);
    double most = last != NULL ? last->saved_ratio : 0;
    double anywhere = most; /* whatever switches can */
    if (last != NULL) {
        add_remedy(r, last, false, out);
    }
    FAB_EACH(const fab_job_remedy, m, c->remedies, c->n_remedies) {
        if (m->saved_ratio > anywhere + FAB_VERDICT_LITTLE) {
            verdict_say(out, "%s", last != NULL ? "; " : "");
            add_remedy(r, m, last != NULL && last->by_chance == m->by_chance, out);
            last = m;
            most = m->saved_ratio;
            anywhere = m->needs_switch_support ? anywhere : most;
        } else if (last != NULL && m != last && m->saved_ratio > most - FAB_VERDICT_LITTLE) {
            verdict_say(out, ", as much by %s%s%s", m->is_engine ? "--engine " : "servers ", m->what,
                        m->needs_switch_support ? " where switches can" : "");
        }
    }
    FAB_ANY(is_planned, j, c->n_jobs, c->jobs[j].plan_keys[0] != '\0');
    if (most > 0 && is_planned) {
        verdict_say(out, "; all under these plans");
    }
    if (most > 0 && is_one_draw) {
        verdict_say(out, "; all of one draw, which --seeds %d tells from luck", FAB_VERDICT_SEEDS);
    }
    if (c->n_untried > 0) {
        verdict_say(out,
                    "changes were not tried: %s flows are too many; give --engine %sspray to compare them, move jobs "
                    "that share links apart (servers), or add uplinks",
                    FAB_SAY_COUNT(c->n_untried), takes_pairs(r) ? "ecmp,qp=16 or " : "");
    } else if (!(fab_contention_lost_ratio(&c->engines[c->remedied]) > FAB_VERDICT_LITTLE)) {
        verdict_say(out, "%snothing to move: the jobs hardly cost each other time", most > 0 ? "; " : "");
        if (collides && c->n_remedies == 0) {
            verdict_say(out, "; flows of each collide with its own: --engine %sspray where switches can",
                        takes_pairs(r) ? "ecmp,qp=16, or " : "");
        }
    } else if (!(most > 0)) {
        verdict_say(out, "%smove jobs that share links apart (servers), or add uplinks",
                    c->has_tried ? "nothing that was tried helps all jobs together: " : "");
    }
}

/* Of those that are given. */
static void advice_of_engines(const fab_result *r, const fab_run_verdict *v, char *out) {
    char name[2][VERDICT_NAME];
    const size_t e = verdict_thrifty(r, v);
    if (verdict_margin(r, v) < FAB_EVEN_RATIO) {
        verdict_say(out, "the engines are even, %.1f %% apart, less than the model is exact; ",
                    100 * verdict_margin(r, v));
        return;
    }
    verdict_say(out, "take %s", verdict_engine(r, e, name[0]));
    if (e == v->engine) {
        verdict_add_equals(r, e, out);
    }
    verdict_say(out, "; ");
    if (e != v->engine) {
        verdict_say(out, "more queue pairs save %.2g %% at most%s (%s); beside that one: ",
                    100 * (1 - verdict_time(r, v->engine) / verdict_time(r, e)), verdict_of_draw(r),
                    verdict_engine(r, v->engine, name[1]));
    }
}

/* Ranks in order, which ask for nothing: before all that does. */
static void advice_of_order(const fab_result *r, const fab_run_verdict *v, char *out) {
    char name[VERDICT_NAME];
    const bool has_engines = v->slowest != v->engine;
    verdict_say(out, "--job placement=order costs nothing and takes %s, %.0f %% less", VERDICT_SECONDS(v->in_order_s),
                100 * (1 - v->in_order_s / v->time_s));
    verdict_say(out, "%s%s%s; as it is placed: ", has_engines ? ", under " : "",
                has_engines ? verdict_engine(r, v->engine, name) : "", r->plans != NULL ? ", by its own plan" : "");
}

static void advice_of_plan(const fab_result *r, const fab_run_verdict *v, char *out) {
    char draws[48] = ""; /* of which the report may have one */
    if (v->better.draws > 1 && v->better.draws != r->n_seeds) {
        FAB_FORMAT(draws, " (mean of --seeds %" PRIu64 ")", v->better.draws);
    }
    verdict_say(out, "; a better plan takes %s%s, %.0f %% less: --job %s", VERDICT_SECONDS(v->better.time_s), draws,
                100 * (1 - v->better.time_s / v->time_s), v->better.keys);
}

void verdict_put_advice(const fab_result *r, fab_run_verdict *v) {
    const size_t engine = fab_result_index(r, v->engine);
    if (v->in_order_s > 0) {
        advice_of_order(r, v, v->advice);
    }
    if (r->failures != NULL && engine < r->failures->n_engines) {
        advice_of_failures(r->failures, engine, v->advice);
    }
    if (r->n_serving > v->engine && r->serving[v->engine].arrivals_per_s <= 0) {
        verdict_add_batch(r, v, v->advice);
    }
    if (r->plans != NULL && r->plans->fewer.servers > 0) {
        verdict_say(v->advice, "%s; ", r->plans->fewer.advice);
    }
    if (verdict_margin(r, v) >= VERDICT_MARGIN) {
        advice_of_engines(r, v, v->advice);
    } else if (verdict_of_draw(r)[0] != '\0' && !verdict_is_drawn(r, v->engine)) {
        char name[VERDICT_NAME];
        verdict_say(v->advice, "take %s, whose time no seed changes; ", verdict_engine(r, v->engine, name));
    }
    if (r->contention != NULL) {
        const fab_phase_result *worst = verdict_worst_phase(r, v->engine);
        advice_of_jobs(r, r->n_seeds == 1 && r->phases[0].engines[v->engine].seeded,
                       worst != NULL && worst->engines[v->engine].max_hash_factor.mean > VERDICT_FULL, v->advice);
    } else if (r->advice != NULL) {
        verdict_add_search(r->advice, r->plans != NULL, v->advice);
    } else {
        advice_of_routing(r, v, v->advice);
        if (r->plans != NULL && v->n_alternatives > 0) { /* a command with another engine searches again */
            verdict_say(v->advice, "; all under this plan, and with another --engine a faster one may be found");
        }
    }
    if (r->contention == NULL && r->other_jobs == 0) { /* else it costs all of them together something */
        verdict_add_taper(r, v, v->advice);
    }
    if (r->plans != NULL && fab_plan_has_all_orders(r->plans) && r->other_jobs == 0 && !(v->better.time_s > 0) &&
        !r->job.order_given && r->job.pp > 1 && r->job.dp > 1) {
        verdict_say(v->advice, "; fabriscope plan tries all orders of the ranks, this plan is the best of two");
    }
    if (v->better.time_s > 0) {
        advice_of_plan(r, v, v->advice);
    } else if (r->command == FAB_COMMAND_RUN && v->of_iteration &&
               r->fabrics[0].spec.transport.kind != FAB_TRANSPORT_FLUID) {
        verdict_say(v->advice,
                    "; a better plan was not looked for with packets (fabriscope plan, or run with --transport fluid)");
    }
}
