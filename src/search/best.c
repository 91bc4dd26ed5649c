/* Which algorithm of a collective is fastest on this fabric: all of them are replayed. */
#include "fab/best_run.h"

#include "fab/algorithms.h"
#include "fab/analysis.h"
#include "fab/replay.h"
#include "fab/units.h"

#define KEY  ",algorithm="
#define BEST "best"

/* The two that took least so far. */
typedef struct race {
    char name[2][FAB_NAME_SIZE];
    double time_s[2];
} race;

static void race_enter(race *r, const char *name, double time_s) {
    const bool wins = r->name[0][0] == '\0' || time_s < r->time_s[0];
    if (wins) {
        memcpy(r->name[1], r->name[0], sizeof r->name[0]);
        r->time_s[1] = r->time_s[0];
    }
    if (wins || r->name[1][0] == '\0' || time_s < r->time_s[1]) {
        (void)snprintf(r->name[!wins], sizeof r->name[0], "%s", name);
        r->time_s[!wins] = time_s;
    }
}

static void race_tell(const race *r, const char *of, fab_design *design) {
    char *out = design->collective_note;
    fab_append(out, sizeof design->collective_note, "%s%sbest is %s, %s by replay under %.40s",
               out[0] != '\0' ? "; " : "", of, r->name[0], FAB_SAY(r->time_s[0], FAB_UNIT_TIME),
               design->engines[0].text);
    if (r->name[1][0] != '\0') {
        fab_append(out, sizeof design->collective_note, "; next %s, %s", r->name[1],
                   FAB_SAY(r->time_s[1], FAB_UNIT_TIME));
    }
}

/* --- a replay ----------------------------------------------------------------------------------------------------- */

typedef struct trial {
    fab_result result;
    fab_context *context;
} trial;

static void trial_free(trial *t) {
    if (t != NULL) {
        fab_result_release(&t->result);
        fab_context_free(t->context);
        free(t);
    }
}
FAB_OWNER(trial, trial_free)

static fab_status trial_run(const fab_plan_request *r, const fab_design *design, const char *traffic, trial **out,
                            fab_error *err) {
    FAB_OWNS_NEW(trial_free_owned, trial, t, 1, err); /* too large for a stack */
    t->result.n_seeds = 1;
    fab_context_request what = fab_context_of(design, r->fabric, traffic, r->seed);
    what.n_engines = 1;
    FAB_PASS(fab_context_new(&what, &t->context, err));
    const fab_replay replay = {
        .context = t->context, .n_seeds = 1, .n_threads = r->n_threads, .rates = true, .times_only = true};
    FAB_PASS(fab_replay_run(&replay, &t->result, err));
    return FAB_GIVE(*out, t);
}

static fab_status check_race(const race *r, const char *where, fab_error *err) {
    return r->name[0][0] != '\0' ? FAB_OK
                                 : fab_fail(err, FAB_EUNSUPPORTED, where,
                                            "best: no algorithm has a time here (too many flows); choose auto or nccl");
}

/* --- a pattern ---------------------------------------------------------------------------------------------------- */

/* Where the value of algorithm= begins, if it is `best`. */
static const char *best_in(const char *text) {
    const char *at = strncmp(text, "pattern:", 8) == 0 ? strstr(text, KEY BEST) : NULL;
    const char *value = at != NULL ? at + strlen(KEY) : NULL;
    return value != NULL && (value[strlen(BEST)] == '\0' || value[strlen(BEST)] == ',') ? value : NULL;
}

/* `text` with another name there; the caller's. */
static fab_status with_algorithm(const char *text, const char *name, char **out, fab_error *err) {
    const char *value = best_in(text);
    const size_t size = strlen(text) + strlen(name) + 1;
    FAB_PASS(FAB_NEW(*out, size, err));
    (void)snprintf(*out, size, "%.*s%s%s", (int)(value - text), text, name, value + strlen(BEST));
    return FAB_OK;
}

static fab_status settle_pattern(const fab_plan_request *r, const char *traffic, fab_design *design, char **out_traffic,
                                 fab_error *err) {
    FAB_OWNED char *all = NULL;
    FAB_OWNS(trial_free_owned) trial *t = NULL;
    race found = {.time_s = {0}};
    fab_algorithm_run runs[FAB_MAX_ALGORITHMS];
    FAB_PASS(with_algorithm(traffic, "all", &all, err));
    FAB_PASS(trial_run(r, design, all, &t, err));
    size_t n = fab_algorithm_runs(&t->result, runs);
    for (size_t i = 0; i < n; i++) {
        const fab_algorithm_time time = fab_algorithm_time_of(&t->result, &runs[i], 0);
        if (time.has_time) {
            race_enter(&found, runs[i].name, time.time_s);
        }
    }
    FAB_PASS(check_race(&found, traffic, err));
    FAB_PASS(with_algorithm(traffic, found.name[0], out_traffic, err));
    race_tell(&found, "", design);
    return FAB_OK;
}

/* --- a job -------------------------------------------------------------------------------------------------------- */

static bool is_best(fab_job_collective c) {
    return strcmp(fab_job_collectives[c], BEST) == 0;
}

static bool is_of_job(const fab_design *design, const char *traffic) {
    return design->n_jobs > 0 && (strcmp(traffic, "job") == 0 || strncmp(traffic, "job:", 4) == 0);
}

/* One of the algorithms that a job may name, and no rule to choose one. */
static bool is_algorithm(const char *name) {
    return strcmp(name, "auto") != 0 && strcmp(name, "nccl") != 0 && strcmp(name, BEST) != 0 &&
           strcmp(name, "default") != 0;
}

static double time_of_phases(const fab_result *result, bool of_tensor) {
    double sum = 0;
    FAB_EACH(const fab_phase_result, p, result->phases, result->n_phases) {
        const bool is_tensor = strncmp(p->name, "tp", 2) == 0;
        if (p->algorithm[0] != '\0' && is_tensor == of_tensor) {
            sum += p->engines[0].has_time ? p->engines[0].time_s.mean : NAN;
        }
    }
    return sum;
}

static fab_status settle_key(const fab_plan_request *r, const char *traffic, fab_design *design, bool of_tensor,
                             fab_error *err) {
    fab_job_spec *job = &design->jobs[0];
    fab_job_collective *key = of_tensor ? &job->tp_collective : &job->dp_collective;
    fab_job_collective winner = *key;
    race found = {.time_s = {0}};
    fab_error first = {.code = FAB_OK};
    for (int i = 0; fab_job_collectives[i] != NULL; i++) {
        FAB_OWNS(trial_free_owned) trial *t = NULL;
        fab_error why = {.code = FAB_OK};
        if (!is_algorithm(fab_job_collectives[i])) {
            continue;
        }
        *key = (fab_job_collective)i;
        fab_status status = trial_run(r, design, traffic, &t, &why);
        FAB_REFUSE_IF(status != FAB_OK && status != FAB_EINPUT && status != FAB_EUNSUPPORTED, err, status, why.where,
                      "%s", why.text);
        first = first.code == FAB_OK ? why : first;
        double time_s = status == FAB_OK ? time_of_phases(&t->result, of_tensor) : NAN;
        if (!isnan(time_s)) {
            race_enter(&found, fab_job_collectives[i], time_s);
            winner = strcmp(found.name[0], fab_job_collectives[i]) == 0 ? (fab_job_collective)i : winner;
        }
    }
    *key = winner;
    FAB_REFUSE_IF(found.name[0][0] == '\0' && first.code != FAB_OK, err, first.code, first.where, "%s", first.text);
    FAB_PASS(check_race(&found, job->where, err));
    if (found.time_s[0] > 0) { /* else the job has no such collective */
        race_tell(&found, of_tensor ? "tp-collective " : "dp-collective ", design);
    }
    return FAB_OK;
}

bool fab_best_is_wanted(const fab_design *design, const char *traffic) {
    return traffic != NULL &&
           (best_in(traffic) != NULL || (is_of_job(design, traffic) && (is_best(design->jobs[0].tp_collective) ||
                                                                        is_best(design->jobs[0].dp_collective))));
}

/* Algorithms are replayed under the first engine and one seed; of a job its tp-collective, then its dp-collective, by
 * the phases that are theirs: a replay for every algorithm. collective_note says what was chosen and what comes next.
 */
fab_status fab_choose_open(const fab_plan_request *plan, const char *traffic, fab_design *design, fab_plans **out_plans,
                           char **out_traffic, fab_error *err) {
    fab_job_spec *job = &design->jobs[0];
    const bool is_job = is_of_job(design, traffic);
    const bool of_tensor = is_job && is_best(job->tp_collective);
    const bool of_data = is_job && is_best(job->dp_collective);
    fab_plan_request of_this = *plan;
    of_this.design = design;
    *out_plans = NULL;
    *out_traffic = NULL;
    job->tp_collective = of_tensor ? FAB_COLLECTIVE_RING : job->tp_collective; /* until it is found */
    job->dp_collective = of_data ? FAB_COLLECTIVE_RING : job->dp_collective;
    FAB_PASS(fab_plan_is_wanted(design, traffic) ? fab_plan_choose(&of_this, design, out_plans, err) : FAB_OK);
    FAB_PASS(best_in(traffic) != NULL ? settle_pattern(plan, traffic, design, out_traffic, err) : FAB_OK);
    FAB_PASS(of_tensor ? settle_key(plan, traffic, design, true, err) : FAB_OK);
    return of_data ? settle_key(plan, traffic, design, false, err) : FAB_OK;
}

/* --- each engine by itself ---------------------------------------------------------------------------------------- */

void fab_choice_release(fab_choice *choice) {
    for (size_t i = 0; i < choice->n_engines; i++) {
        fab_plans_free(choice->plans[i]);
    }
    FAB_FREE_ALL(choice->design, choice->traffic);
    *choice = (fab_choice){.n_engines = 0};
}

void fab_choice_list_release(fab_choice_list *choices) {
    FAB_RELEASE_EACH(fab_choice_release, choices->at, choices->n);
    free(choices->at);
    *choices = (fab_choice_list){.n = 0};
}

static fab_status describe_job(const fab_choice *choice, fab_str *out, fab_error *err) {
    const size_t n = choice->design->n_engines;
    choice->design->n_engines = 0;
    fab_design_describe(choice->design, out);
    choice->design->n_engines = n;
    return fab_str_status(out, err);
}

/* Whether both leave the same job on the same traffic: engines apart, in all that their designs say. */
static fab_status runs_alike(const fab_choice *a, const fab_choice *b, bool *out, fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text_a = FAB_STR_INIT;
    FAB_OWNS(fab_str_release) fab_str text_b = FAB_STR_INIT;
    FAB_PASS(describe_job(a, &text_a, err));
    FAB_PASS(describe_job(b, &text_b, err));
    *out = strcmp(text_a.data, text_b.data) == 0 &&
           (a->traffic == NULL || b->traffic == NULL ? a->traffic == b->traffic : strcmp(a->traffic, b->traffic) == 0);
    return FAB_OK;
}

/* Into the first that runs alike, or behind all. `choice` is emptied. */
static fab_status add_choice(fab_choice *choice, fab_choice_list *all, fab_error *err) {
    FAB_EACH(fab_choice, same, all->at, all->n) {
        bool is_alike = false;
        FAB_PASS(runs_alike(same, choice, &is_alike, err));
        if (is_alike) {
            same->design->engines[same->design->n_engines++] = choice->design->engines[0];
            same->engine[same->n_engines] = choice->engine[0];
            same->plans[same->n_engines++] = choice->plans[0];
            choice->plans[0] = NULL;
            return FAB_OK;
        }
    }
    return FAB_GIVE(all->at[all->n++], *choice);
}

fab_status fab_choose_each(const fab_plan_request *plan, const char *traffic, size_t n, fab_choice_list *out,
                           fab_error *err) {
    const fab_design *design = plan->design;
    const bool is_open = fab_plan_is_wanted(design, traffic) || fab_best_is_wanted(design, traffic);
    const size_t n_alone = is_open ? n : 1;
    FAB_OWNS(fab_choice_list_release) fab_choice_list all = {.n = 0};
    FAB_PASS(FAB_NEW(all.at, design->n_engines, err));
    for (size_t e = 0; e < n_alone; e++) {
        FAB_OWNS(fab_choice_release) fab_choice choice = {.n_engines = 1, .engine = {e}};
        FAB_PASS(FAB_NEW(choice.design, 1, err));
        *choice.design = *design;
        choice.design->engines[0] = design->engines[e];
        choice.design->n_engines = 1;
        FAB_PASS(fab_choose_open(plan, traffic, choice.design, &choice.plans[0], &choice.traffic, err));
        FAB_PASS(add_choice(&choice, &all, err));
    }
    for (size_t e = n_alone; e < design->n_engines; e++) {
        all.at[0].design->engines[all.at[0].design->n_engines++] = design->engines[e];
        all.at[0].engine[all.at[0].n_engines++] = e;
    }
    return FAB_GIVE(*out, all);
}
