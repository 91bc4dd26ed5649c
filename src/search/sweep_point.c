/* One point of a sweep. With failures its plan is the one of which they leave most: the fastest plans without them are
 * tried, and those that other points run, which are tried without failures too where a search was short. No history is
 * faster than the fabric without failures, so that a plan which takes as long without them as the best does with them
 * is not judged with them. */
#include "fab/best_run.h"
#include "fab/design.h"
#include "fab/plan_run.h"
#include "fab/topologies.h"
#include "fab/verdict.h"

#include "sweep_internal.h"

static void tell_part(const point_progress *p, double part) {
    const double of_point = ((double)p->engine + part) / (double)p->n_engines;
    p->request->progress(p->request->progress_context, ((double)p->before + of_point) * (1 - p->tries), p->n_points);
}

static void tell_point(void *context, double done, size_t total) {
    const point_progress *p = context;
    tell_part(p, p->begin + (1 - p->begin) * (total > 0 ? done / (double)total : 0));
}

#define MOST_LONGER_GPUS 4096 /* of more the second half of a search costs most, and proves no plan */

#define PLAN_PART 0.5 /* of the time of a point, as progress has it */

static void tell_plan(void *context, double done, size_t total) {
    tell_part(context, PLAN_PART * (total > 0 ? done / (double)total : 0));
}

static bool is_open(const fab_design *design, const char *traffic) {
    return fab_plan_is_wanted(design, traffic) || fab_best_is_wanted(design, traffic);
}

/* What the job leaves open of its plan is chosen for this fabric, and what collectives leave to replays. NULL: nothing
 * is open. */
static fab_status choose_for_point(const fab_sweep_request *request, const fab_design *design, const fab_fabric *fabric,
                                   const char *text, char **traffic, fab_design **out, point_progress *progress,
                                   fab_plans **plans, fab_error *err) {
    const fab_plan_request what = {.design = design,
                                   .fabric = fabric,
                                   .seed = request->seed,
                                   .n_threads = request->n_threads,
                                   .is_of_first = strcmp(text, "job") != 0, /* else all are replayed */
                                   .n_best = request->scenarios != NULL ? FAB_PLANS_FAILING : 0,
                                   .most_routed = request->most_routed > 0                 ? request->most_routed
                                                  : fab_n_gpus(fabric) <= MOST_LONGER_GPUS ? 2 * FAB_PLAN_SHORT
                                                                                           : 0,
                                   .progress = request->progress != NULL ? tell_plan : NULL,
                                   .progress_context = progress};
    if (!is_open(design, text)) {
        return FAB_OK;
    }
    FAB_OWNED_COPY(fab_design, chosen, design, err);
    chosen->collective_note[0] = '\0';
    progress->begin = PLAN_PART;
    FAB_PASS(fab_choose_open(&what, text, chosen, plans, traffic, err));
    return FAB_GIVE(*out, chosen);
}

/* Of the only engine. */
static void keep_choice(const fab_plans *plans, const fab_design *chosen, fab_sweep_point *kept) {
    fab_sweep_engine *engine = &kept->engines[0];
    if (plans != NULL) {
        engine->has_plan = true;
        engine->plan = plans->plans[0].plan;
        engine->plan_bound_s = plans->lower_bound_s;
        engine->plan_is_proven = plans->is_proven;
        kept->fewer = plans->fewer;
    }
    FAB_FORMAT(engine->collective_note, "%s", chosen->collective_note);
}

/* Seeds that nobody asked for may take no memory that one does not. */
static fab_status replay_point(fab_replay *replay, bool is_asked, fab_result *result, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    fab_status status = fab_replay_run(replay, result, &why);
    if (status == FAB_ELIMIT && !is_asked && replay->n_seeds > 1) {
        why = (fab_error){.code = FAB_OK};
        result->n_seeds = replay->n_seeds = 1;
        status = fab_replay_run(replay, result, &why);
    }
    return fab_fail_as(err, status, &why);
}

/* Whether given sizes are slower than a plan. */
static fab_status look_for_better(const fab_sweep_request *request, const fab_design *design, const fab_fabric *fabric,
                                  const fab_job_spec *job, fab_sweep_point *point, fab_error *err) {
    const fab_sweep_engine *engine = &point->engines[0];
    const fab_plan_request what = {
        .design = design, .fabric = fabric, .seed = request->seed, .n_threads = request->n_threads};
    return point->n_engines == 0 || !engine->has_iteration
               ? FAB_OK
               : fab_plan_beat(&what, job, 0, engine->least_s > 0 ? engine->least_s : engine->time_s, &point->better,
                               err);
}

/* Under one plan. `value` is that of each path; NULL: none is varied. Of a point that takes `to_beat_s` with failures,
 * or longer, no goodput is found. */
static fab_status evaluate_once(const fab_sweep_request *request, double to_beat_s, const fab_design *design,
                                const char *const *value, point_progress *progress, fab_plans **out_plans,
                                fab_sweep_point *out, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *graph = NULL;
    FAB_OWNED fab_design *chunked = NULL;
    FAB_OWNED fab_design *open = NULL;
    FAB_OWNED char *settled = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    FAB_OWNS(fab_context_free_owned) fab_context *context = NULL;
    FAB_OWNS(fab_context_free_owned) fab_context *chosen = NULL;
    FAB_OWNS(fab_result_release) fab_result result = {.seed = request->seed, .n_fabrics = 1};
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point kept = {.n_phases = 0};
    FAB_OWNS(fab_str_release) fab_str traffic = FAB_STR_INIT;
    progress->begin = 0;
    FAB_PASS(fab_sweep_traffic(request, design, value, &traffic, err));
    FAB_PASS(FAB_NEW(result.fabrics, 1, err));
    FAB_PASS(fab_fabric_measure(design, &result.fabrics[0], &graph, err));
    FAB_PASS(choose_for_point(request, design, graph, traffic.data, &settled, &open, progress, &plans, err));
    const char *replayed = settled != NULL ? settled : traffic.data;
    const fab_context_request what = {.design = open != NULL ? open : design,
                                      .fabric = graph,
                                      .traffic = replayed,
                                      .engines = design->engines,
                                      .n_engines = design->n_engines,
                                      .seed = request->seed};
    FAB_PASS(fab_context_new(&what, &context, err));
    FAB_PASS(fab_sweep_keep_job(context, design, &result.fabrics[0], &kept, err));
    FAB_PASS(fab_sweep_seeds(request, context, &result.n_seeds, err));
    fab_replay replay = {.context = context,
                         .n_seeds = result.n_seeds,
                         .n_threads = request->n_threads,
                         .rates = true,
                         .times_only = true,
                         .progress = request->progress != NULL ? tell_point : NULL,
                         .progress_context = progress};
    fab_status status = fab_replay_choose_chunks(&replay, &result, &chunked, &chosen, err);
    if (status == FAB_OK) {
        replay.context = chosen != NULL ? chosen : context;
        status = replay_point(&replay, request->n_seeds > 0, &result, err);
    }
    fab_blame_design(design, status, err);
    FAB_PASS(status);
    FAB_PASS(fab_sweep_keep(&result, request->n_seeds > 0, design->n_engines, &kept, err));
    if (open != NULL) {
        keep_choice(plans, open, &kept);
    }
    if (request->looks_for_plan && progress->before == 0) {
        FAB_PASS(look_for_better(request, what.design, graph, &result.job, &kept, err));
    }
    FAB_PASS(fab_sweep_keep_jobs(&replay, &result, &kept, err));
    FAB_PASS(fab_sweep_keep_goodput(request, fab_context_what(context)->design, replayed, to_beat_s, &kept, err));
    *out_plans = plans;
    plans = NULL;
    return FAB_GIVE(*out, kept);
}

/* --- plans that others run ---------------------------------------------------------------------------------------- */

/* What a plan has to be faster than, without failures. */
static double to_beat(const fab_sweep_request *request, const fab_sweep_engine *best) {
    return best->has_goodput || request->scenarios == NULL ? fab_with_failures(best, best->time_s) : INFINITY;
}

/* The design under a plan. It takes the place of what the part has where it is faster, with failures where they are
 * asked for. What is refused has no time. */
static fab_status evaluate_plan(const fab_sweep_request *request, const fab_design *planned, const char *const *value,
                                const fab_job_plan *plan, sweep_part *part, fab_error *err) {
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point found = {.n_phases = 0};
    fab_error why = {.code = FAB_OK};
    fab_plans *none = NULL;
    fab_sweep_request quiet = *request;
    fab_sweep_engine *best = &part->point.engines[0];
    point_progress progress = {.request = &quiet};
    quiet.progress = NULL;
    quiet.looks_for_plan = false;
    const fab_status status =
        evaluate_once(&quiet, to_beat(request, best), planned, value, &progress, &none, &found, &why);
    FAB_PASS(fab_unless_refused(err, status, &why));
    fab_sweep_engine *engine = found.engines;
    if (!found.is_built || !engine->has_time || (request->scenarios != NULL && !engine->has_goodput)) {
        return FAB_OK;
    }
    best->n_plans_tried += request->scenarios != NULL;
    if (to_beat(request, engine) < to_beat(request, best)) {
        engine->has_plan = true;
        engine->plan = *plan;
        engine->plan_bound_s = best->plan_bound_s;
        engine->n_plans_tried = best->n_plans_tried;
        found.fewer = part->point.fewer;
        memcpy(found.digest, part->point.digest, sizeof found.digest); /* of the design as it was given */
        found.settings = part->point.settings;
        part->point.settings = NULL;
        const fab_sweep_point was = part->point;
        part->point = found;
        found = was;
    }
    return FAB_OK;
}

/* A plan that was not looked at is evaluated where bounds, and the first seed of drawn paths, leave it a chance.
 * `untried`: of one that another runs. */
static fab_status try_plan(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                           const fab_job_plan *plan, sweep_part *part, size_t *untried, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *timed = NULL;
    const fab_sweep_engine *best = &part->point.engines[0];
    const double limit_s = to_beat(request, best) / (best->is_drawn ? 1 - FAB_VERDICT_PLAN : 1);
    bool is_tried = false;
    FAB_PASS(fab_plan_list_add(&part->tried, plan, &is_tried, err));
    if (is_tried && untried != NULL && request->start != NULL) {
        is_tried = request->start(request->start_context, SIZE_MAX, &(fab_error){.code = FAB_OK}) == FAB_OK;
        *untried += !is_tried;
    }
    if (!is_tried) {
        return FAB_OK;
    }
    FAB_OWNED_COPY(fab_design, planned, design, err);
    FAB_PASS(fab_topology_build(&planned->fabric, &fabric, NULL, err));
    const fab_plan_request what = {.design = design,
                                   .fabric = fabric,
                                   .seed = request->seed,
                                   .n_threads = request->n_threads,
                                   .below_s = isfinite(limit_s) ? limit_s : 0};
    if (design->n_jobs > 1) {
        FAB_PASS(fab_plan_set(design, fabric, plan, part->model, planned, &is_tried, err));
    } else {
        FAB_PASS(fab_plan_time(&what, plan, part->model, planned, &timed, err));
        is_tried = timed != NULL;
    }
    return is_tried ? evaluate_plan(request, planned, value, plan, part, err) : FAB_OK;
}

fab_status sweep_try_others(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                            const fab_plan_list *plans, sweep_parts *parts, size_t *out_untried, fab_error *err) {
    FAB_OWNED_COPY(fab_design, alone, design, err);
    for (size_t e = 0; e < parts->n; e++) {
        sweep_part *part = &parts->part[e];
        const fab_sweep_engine *engine = part->point.engines;
        const bool is_open =
            part->tried.n > 0 &&
            (request->scenarios != NULL || (design->n_jobs <= 1 && !engine->plan_is_proven && engine->has_time));
        alone->n_engines = parts->n > 1 ? 1 : design->n_engines;
        alone->engines[0] = design->engines[e];
        for (size_t i = 0; is_open && i < plans->n; i++) {
            FAB_PASS(try_plan(request, alone, value, &plans->plan[i], part, out_untried, err));
        }
    }
    return FAB_OK;
}

/* --- fewer servers ------------------------------------------------------------------------------------------------ */

/* Of what a point does on the servers of a tip, its own or another's, or with its batch. */
static fab_status keep_fewer(const fab_fewer *tip, const fab_sweep_engine *few, fab_sweep_point *point,
                             fab_error *err) {
    const fab_sweep_engine *all = &point->engines[0];
    const bool has_failures = few->has_goodput && all->has_goodput;
    const bool is_first = point->fewer.servers == 0;
    const double gain = few->iteration.tokens_per_s / all->iteration.tokens_per_s;
    const double whole_gain = has_failures ? gain * few->goodput.mean / all->goodput.mean : gain;
    const bool is_better = is_first ? whole_gain > 1 + fmax(FAB_EVEN_RATIO, fab_sweep_chance(few, all))
                                    : gain > point->fewer.gain * (1 + FAB_EVEN_RATIO);
    if (tip != &point->fewer && !is_better) {
        point->tried_gain = is_first ? fmax(point->tried_gain, whole_gain) : point->tried_gain;
        return FAB_OK;
    }
    if (tip != &point->fewer) {
        point->fewer = *tip;
        point->fewer.gain = gain;
        point->fewer.draws = few->is_drawn && few->n_seeds > 1 ? few->n_seeds : 0;
        fab_fewer_advise(&point->fewer, point->job_gpus, point->batch, all->is_drawn);
    }
    if (has_failures) {
        FAB_PASS(FAB_NEW(point->idle, 1, err));
        *point->idle = *few;
        point->idle_gain = whole_gain;
    }
    return FAB_OK;
}

static fab_status evaluate_fewer(const fab_sweep_request *request, const fab_design *few, const fab_fabric *fabric,
                                 const char *const *value, const fab_fewer *tip, sweep_part *part, fab_error *err) {
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point found = {.n_phases = 0};
    point_progress progress = {.request = request};
    fab_plans *none = NULL;
    bool fits = false;
    FAB_OWNED_NEW(fab_design, planned, 1, err);
    FAB_PASS(fab_plan_set(few, fabric, &tip->plan, part->model, planned, &fits, err));
    FAB_PASS(fits ? evaluate_once(request, INFINITY, planned, value, &progress, &none, &found, err) : FAB_OK);
    return found.is_built && found.engines[0].has_iteration ? keep_fewer(tip, &found.engines[0], &part->point, err)
                                                            : FAB_OK;
}

/* By the plan of the tip; where that gains nothing here, by the best that a short search finds. */
static fab_status plan_fewer(const fab_sweep_request *request, fab_design *few, const char *const *value,
                             const fab_fewer *tip, sweep_part *part, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    fab_fewer other = *tip;
    FAB_PASS(fab_topology_build(&few->fabric, &fabric, NULL, err));
    FAB_PASS(evaluate_fewer(request, few, fabric, value, tip, part, err));
    if (part->point.fewer.servers > 0) {
        return FAB_OK;
    }
    const fab_plan_request what = {.design = few,
                                   .fabric = fabric,
                                   .seed = request->seed,
                                   .n_threads = request->n_threads,
                                   .n_orders = 2,
                                   .draws_leaders = true,
                                   .most_routed = FAB_PLAN_SHORT,
                                   .below_s = part->point.engines[0].time_s};
    FAB_FORMAT(few->jobs[0].model, "%s", part->model);
    FAB_PASS(fab_plan_try(&what, &plans, err));
    if (plans == NULL || plans->n_plans_listed == 0) {
        return FAB_OK;
    }
    other.plan = plans->plans[0].plan;
    return evaluate_fewer(request, few, fabric, value, &other, part, err);
}

fab_status sweep_try_fewer(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                           const fab_fewer *tip, sweep_part *part, fab_error *err) {
    fab_error why = {.code = FAB_OK};
    fab_sweep_request quiet = *request;
    quiet.progress = NULL;
    quiet.looks_for_plan = false;
    FAB_OWNED_COPY(fab_design, few, design, err);
    FAB_PASS(design->n_jobs == 0 ? fab_design_default_job(&few->jobs[0], err) : FAB_OK);
    fab_job_spec *job = &few->jobs[0];
    if (design->n_jobs > 1 || job->gpus > 0 || job->n_servers > 0 || job->servers.length > 0 || job->dp > 0 ||
        part->tried.n == 0 || !part->point.engines[0].has_iteration) {
        return FAB_OK;
    }
    few->n_jobs = few->n_engines = 1;
    const bool is_fewer = tip->gpus < part->point.job_gpus;
    job->n_servers = is_fewer ? tip->servers : 0;
    job->batch = is_fewer && !tip->names_batch ? job->batch : tip->batch;
    return fab_unless_refused(err, plan_fewer(&quiet, few, value, tip, part, &why), &why);
}

/* Under the fastest plan; with failures under that of the list of which they leave most. */
static fab_status evaluate_part(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                point_progress *progress, sweep_part *out, fab_error *err) {
    FAB_OWNS(fab_plans_free_owned) fab_plans *plans = NULL;
    FAB_PASS(evaluate_once(request, INFINITY, design, value, progress, &plans, &out->point, err));
    if (plans == NULL) {
        return FAB_OK;
    }
    out->point.engines[0].n_plans_tried = request->scenarios != NULL;
    FAB_FORMAT(out->model, "%s", plans->model);
    FAB_PASS(fab_plan_list_add(&out->tried, &plans->plans[0].plan, NULL, err));
    for (size_t i = 1; request->scenarios != NULL && i < plans->n_plans_listed; i++) {
        FAB_PASS(try_plan(request, design, value, &plans->plans[i].plan, out, NULL, err));
    }
    return FAB_OK;
}

void sweep_parts_release(sweep_parts *parts) {
    for (size_t e = 0; parts->part != NULL && e < parts->n; e++) {
        fab_sweep_point_release(&parts->part[e].point);
        fab_plan_list_release(&parts->part[e].tried);
    }
    free(parts->part);
    *parts = (sweep_parts){.n = 0};
}

/* What is open is chosen for each engine, which is evaluated alone then: under the plan of another it would be judged
 * by what nobody would run. */
fab_status sweep_evaluate_parts(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                point_progress *progress, sweep_parts *out, fab_error *err) {
    FAB_OWNS(sweep_parts_release) sweep_parts parts = {.n = 0};
    FAB_OWNS(fab_str_release) fab_str traffic = FAB_STR_INIT;
    fab_sweep_request what = *request;
    FAB_PASS(fab_sweep_traffic(request, design, value, &traffic, err));
    progress->n_engines = is_open(design, traffic.data) ? design->n_engines : 1;
    FAB_PASS(FAB_NEW(parts.part, progress->n_engines, err));
    parts.n = progress->n_engines;
    FAB_OWNED_COPY(fab_design, alone, design, err);
    alone->n_engines = parts.n > 1 ? 1 : design->n_engines;
    for (size_t e = 0; e < parts.n; e++) {
        progress->engine = e;
        alone->engines[0] = design->engines[e];
        FAB_PASS(evaluate_part(&what, alone, value, progress, &parts.part[e], err));
        what.looks_for_plan = false;
    }
    return FAB_GIVE(*out, parts);
}

/* The healthy fabric; what is refused has no time. */
fab_status sweep_evaluate_random(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                 sweep_parts *parts, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    fab_sweep_request quiet = *request;
    quiet.progress = NULL;
    quiet.looks_for_plan = false;
    quiet.scenarios = NULL;
    FAB_OWNED_COPY(fab_design, planned, design, err);
    FAB_PASS(fab_topology_build(&planned->fabric, &fabric, NULL, err));
    for (size_t e = 0; e < parts->n; e++) {
        FAB_OWNS(fab_sweep_point_release) fab_sweep_point found = {.n_phases = 0};
        sweep_part *part = &parts->part[e];
        point_progress progress = {.request = &quiet};
        fab_error why = {.code = FAB_OK};
        bool fits = true;
        *planned = *design;
        if (part->tried.n > 0) {
            FAB_PASS(fab_plan_set(design, fabric, &part->point.engines[0].plan, part->model, planned, &fits, err));
        }
        if (!fits || planned->n_jobs != 1 || planned->jobs[0].placement != FAB_PLACEMENT_ORDER) {
            continue;
        }
        planned->jobs[0].placement = FAB_PLACEMENT_RANDOM;
        planned->n_engines = parts->n > 1 ? 1 : design->n_engines;
        planned->engines[0] = design->engines[e];
        FAB_PASS(fab_unless_refused(err, sweep_evaluate(&quiet, planned, value, &progress, &found, &why), &why));
        for (size_t k = 0; k < found.n_engines && k < part->point.n_engines; k++) {
            part->point.engines[k].random_s = found.engines[k].has_iteration ? found.engines[k].time_s : 0;
        }
    }
    return FAB_OK;
}

fab_status sweep_join_parts(sweep_parts *parts, fab_sweep_point *out, fab_error *err) {
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point joined = {.n_phases = 0};
    if (parts->n > 0) {
        joined = parts->part[0].point;
        parts->part[0].point = (fab_sweep_point){.n_phases = 0};
    }
    for (size_t e = 1; e < parts->n; e++) {
        FAB_PASS(fab_sweep_add_engine(&parts->part[e].point, &joined, err));
    }
    return FAB_GIVE(*out, joined);
}

fab_status sweep_evaluate(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                          point_progress *progress, fab_sweep_point *out, fab_error *err) {
    FAB_OWNS(sweep_parts_release) sweep_parts parts = {.n = 0};
    FAB_PASS(sweep_evaluate_parts(request, design, value, progress, &parts, err));
    return sweep_join_parts(&parts, out, err);
}

fab_status fab_sweep_evaluate(const fab_sweep_request *request, const fab_design *design, fab_sweep_point *out,
                              fab_error *err) {
    point_progress progress = {
        .request = request, .before = request->n_before, .n_points = request->n_all > 0 ? request->n_all : 1};
    return sweep_evaluate(request, design, NULL, &progress, out, err);
}
