/* A design at many values of one or two parameters: every point is a run of its own, of which the figures stay. */
#include "fab/best_run.h"
#include "fab/design.h"
#include "fab/plan_run.h"
#include "fab/prices.h"
#include "fab/topologies.h"
#include "fab/traffic.h"

#include "sweep_internal.h"

#define SAME  1e-9 /* figures this close are equal */
#define TRIES 0.3  /* of the time of a sweep with failures: plans that other points run, and of that */
#define TIPS  0.1  /* the job on fewer servers */

void fab_sweep_point_release(fab_sweep_point *point) {
    for (size_t i = 0; i < FAB_SWEEP_PATHS; i++) {
        free(point->value[i]);
    }
    for (size_t p = 0; point->phases != NULL && p < point->n_phases; p++) {
        free(point->phases[p].times);
    }
    for (size_t a = 0; point->algorithms != NULL && a < point->n_algorithms; a++) {
        free(point->algorithms[a].times);
    }
    FAB_FREE_ALL(point->phases, point->algorithms, point->engines, point->settings, point->idle);
    *point = (fab_sweep_point){.n_phases = 0};
}

void fab_sweep_free(fab_sweep *sweep) {
    if (sweep == NULL) {
        return;
    }
    for (size_t i = 0; i < FAB_SWEEP_PATHS; i++) {
        free(sweep->path[i]);
    }
    for (size_t i = 0; sweep->points != NULL && i < sweep->n_points; i++) {
        fab_sweep_point_release(&sweep->points[i]);
    }
    for (size_t i = 0; i < sweep->n_searches; i++) {
        FAB_FREE_ALL(sweep->searches[i].listed.servers, sweep->searches[i].best.servers,
                     sweep->searches[i].worst.servers);
    }
    FAB_FREE_ALL(sweep->model, sweep->points, sweep->searches, sweep);
}

#define MOST_SPRAYED_GPUS 16384 /* of all points: of more nobody waits for what he did not ask for */

/* Behind the one engine of a compared design: what spraying makes of it, with the plan that is best then. The choice of
 * the engine may decide more than that of the design. With failures a verdict is of what they leave: no engine without
 * them stands beside it. */
static fab_status evaluate_sprayed(const fab_sweep_request *request, const fab_design *design, const char *const *value,
                                   point_progress *progress, fab_sweep_point *point, fab_error *err) {
    FAB_OWNS(fab_sweep_point_release) fab_sweep_point found = {.n_phases = 0};
    fab_error why = {.code = FAB_OK};
    size_t capacity = 1;
    fab_sweep_request alone = *request;
    if (!request->compares_designs || request->scenarios != NULL || design->n_engines != 1 ||
        design->fabric.transport.kind != FAB_TRANSPORT_FLUID ||
        strncmp(design->engines[0].text, "spray", strlen("spray")) == 0 ||
        point->counts.gpus * request->n_values[0] > MOST_SPRAYED_GPUS) {
        return FAB_OK;
    }
    FAB_OWNED_COPY(fab_design, sprayed, design, err);
    sprayed->engines[0] = (fab_engine_spec){.text = "spray", .where = "--engine"};
    alone.looks_for_plan = false;
    alone.progress = NULL; /* the point was told as a whole */
    const fab_status status = sweep_evaluate(&alone, sprayed, value, progress, &found, &why);
    if (fab_is_refusal(status)) {
        return FAB_OK;
    }
    FAB_PASS(fab_fail_as(err, status, &why));
    FAB_PASS(FAB_GROW(point->engines, capacity, 2, err));
    point->engines[point->n_engines] = found.engines[0];
    point->is_sprayed = true;
    return FAB_OK;
}

/* Values of point i: the first path varies slowest. */
static void values_of(const fab_sweep_request *r, size_t i, const char **out) {
    size_t per_first = r->n_paths > 1 ? r->n_values[1] : 1;
    out[0] = r->values[0][i / per_first];
    out[1] = r->n_paths > 1 ? r->values[1][i % per_first] : NULL;
}

/* The design of point i. `inner` says why there is none, `err` what ends the sweep. */
static fab_status read_point(const fab_sweep_request *r, size_t i, fab_design *design, fab_error *inner,
                             fab_error *err) {
    FAB_OWNS(fab_str_release) fab_str text = FAB_STR_INIT;
    const char *value[FAB_SWEEP_PATHS] = {NULL};
    const char *override[FAB_SWEEP_PATHS] = {NULL};
    size_t n = 0;
    values_of(r, i, value);
    for (size_t k = 0; k < r->n_paths; k++) {
        if (!fab_sweep_is_of_traffic(r->path[k])) {
            fab_str_printf(&text, "%s=%s%c", r->path[k], value[k], '\0');
            n++;
        }
    }
    FAB_PASS(fab_str_status(&text, err));
    FAB_FILL(override, n, fab_at == 0 ? text.data : override[fab_at - 1] + strlen(override[fab_at - 1]) + 1);
    *inner = (fab_error){.code = FAB_OK};
    return r->read(r->read_context, override, n, design, inner);
}

static bool trains(const fab_design *design) {
    return design->n_jobs == 0 || design->jobs[0].kind == FAB_JOB_TRAINING;
}

static bool names_model(const fab_design *design) {
    return design->n_jobs > 0 && design->jobs[0].model[0] != '\0';
}

/* What points that name none are given: the job of the first compared design that has one; a model; a price book.
 * NULL: their own. */
typedef struct shared_job {
    const fab_design *from;
    const char *model, *prices;
} shared_job;

/* The design of point i, with what all share. */
static fab_status open_point(const fab_sweep_request *r, size_t i, const shared_job *shared, fab_design *design,
                             fab_error *inner, fab_error *err) {
    fab_status status = read_point(r, i, design, inner, err);
    if (status == FAB_OK && shared->from != NULL && design->n_jobs == 0) {
        status = fab_design_take_job(shared->from, design, inner);
    }
    if (status == FAB_OK && shared->prices[0] != '\0') {
        FAB_FORMAT(design->prices, "%.191s", shared->prices);
    }
    if (status == FAB_OK && shared->model != NULL && trains(design) && !names_model(design)) {
        status = fab_design_set_job(design, 0, "model", shared->model, "job", inner);
    }
    return status;
}

/* The same of a point that has been evaluated, and its values. */
static fab_status open_again(const fab_sweep_request *r, size_t i, const shared_job *shared, fab_design *design,
                             const char **value, fab_error *err) {
    fab_error inner = {.code = FAB_OK};
    values_of(r, i, value);
    return fab_fail_as(err, open_point(r, i, shared, design, &inner, err), &inner);
}

/* Reads and evaluates point i; a fabric that is refused is no failure of the sweep. `inner` tells it. */
static fab_status run_point(const fab_sweep_request *r, size_t i, const shared_job *shared, point_progress *progress,
                            fab_design *design, sweep_parts *out, fab_error *inner, fab_error *err) {
    const char *value[FAB_SWEEP_PATHS] = {NULL};
    FAB_OWNS(sweep_parts_release) sweep_parts parts = {.n = 0};
    FAB_OWNS(fab_str_release) fab_str settings = FAB_STR_INIT;
    values_of(r, i, value);
    fab_status status = open_point(r, i, shared, design, inner, err);
    status = status == FAB_OK && r->start != NULL ? r->start(r->start_context, i, inner) : status;
    status = status == FAB_OK ? sweep_evaluate_parts(r, design, value, progress, &parts, inner) : status;
    FAB_PASS(status == FAB_OK ? evaluate_sprayed(r, design, value, progress, &parts.part[0].point, err) : FAB_OK);
    if (parts.n == 0) { /* one that tells why */
        FAB_PASS(FAB_NEW(parts.part, 1, err));
        parts.n = 1;
    }
    fab_sweep_point *found = &parts.part[0].point;
    FAB_PASS(fab_sweep_keep_error(status, inner, found, err));
    if (r->compares_designs && found->is_built) {
        fab_design_describe(design, &settings);
        FAB_PASS(fab_str_status(&settings, err));
        FAB_PASS(FAB_STRDUP(found->settings, settings.data, err));
    }
    return FAB_GIVE(*out, parts);
}

/* What is judged with failures runs the plan of which they leave most, and what a short search planned none that is
 * slower than another's: also those that other points, and other engines, run are tried. */
static fab_status share_plans(const fab_sweep_request *r, const shared_job *shared, fab_design *design,
                              sweep_parts *points, fab_sweep *sweep, fab_error *err) {
    FAB_OWNS(fab_plan_list_release) fab_plan_list plans = {.n = 0};
    const size_t n = sweep->n_points;
    for (size_t i = 0; i < n; i++) {
        FAB_EACH(const sweep_part, part, points[i].part, points[i].n) {
            FAB_PASS(part->tried.n > 0 ? fab_plan_list_add(&plans, &part->point.engines[0].plan, NULL, err) : FAB_OK);
        }
    }
    for (size_t i = 0; plans.n > 1 && i < n; i++) {
        const char *value[FAB_SWEEP_PATHS];
        if (points[i].part[0].tried.n > 0) {
            FAB_PASS(open_again(r, i, shared, design, value, err));
            FAB_PASS(sweep_try_others(r, design, value, &plans, &points[i], &sweep->n_untried, err));
        }
        if (r->progress != NULL && r->scenarios != NULL) {
            r->progress(r->progress_context, (double)n * (1 - TRIES) + (double)(i + 1) * (TRIES - TIPS), n);
        }
    }
    return FAB_OK;
}

/* Of those of other points, with as many GPUs, what gains most there and is not the point's own. NULL: none. */
static const fab_fewer *find_tip(const sweep_parts *points, size_t n, const fab_sweep_point *point) {
    const fab_fewer *tip = NULL;
    for (size_t i = 0; i < n; i++) {
        const fab_sweep_point *p = &points[i].part[0].point;
        if (p->fewer.servers > 0 && p->job_gpus == point->job_gpus && strcmp(p->fewer.job, point->fewer.job) != 0 &&
            (tip == NULL || p->fewer.gain > tip->gain)) {
            tip = &p->fewer;
        }
    }
    return tip;
}

/* A job that gains on fewer servers does so with failures too, in which those are spares; and what gains on one point
 * may on others, whose search was short. */
static fab_status try_fewer(const fab_sweep_request *r, const shared_job *shared, fab_design *design,
                            sweep_parts *points, size_t n, fab_error *err) {
    for (size_t i = 0; i < n; i++) {
        sweep_part *part = &points[i].part[0];
        const bool has_own = part->point.fewer.servers > 0 && r->scenarios != NULL;
        const fab_fewer *const tips[] = {find_tip(points, n, &part->point), has_own ? &part->point.fewer : NULL};
        const char *value[FAB_SWEEP_PATHS];
        for (size_t k = 0; k < 2 && part->tried.n > 0 && part->point.idle == NULL; k++) {
            if (tips[k] != NULL && (r->start == NULL || r->start(r->start_context, SIZE_MAX, NULL) == FAB_OK)) {
                FAB_PASS(open_again(r, i, shared, design, value, err));
                FAB_PASS(sweep_try_fewer(r, design, value, tips[k], part, err));
            }
        }
        if (r->progress != NULL && r->scenarios != NULL) {
            r->progress(r->progress_context, (double)n * (1 - TIPS) + (double)(i + 1) * TIPS, n);
        }
    }
    return FAB_OK;
}

/* Tapers rest on ranks in order: where points differ in theirs, each is run with ranks at random too. */
static fab_status place_at_random(const fab_sweep_request *r, const shared_job *shared, fab_design *design,
                                  sweep_parts *points, size_t n, fab_error *err) {
    double least = INFINITY;
    double most = 0;
    uint64_t gpus = 0;
    for (size_t i = 0; i < n; i++) {
        const fab_sweep_point *p = &points[i].part[0].point;
        if (p->is_built && p->n_engines > 0 && p->engines[0].has_iteration) {
            least = fmin(least, p->bisection_ratio);
            most = fmax(most, p->bisection_ratio);
            gpus += p->counts.gpus;
        }
    }
    for (size_t i = 0; i < n && gpus <= MOST_SPRAYED_GPUS && most > least * (1 + FAB_EVEN_RATIO); i++) {
        const fab_sweep_point *p = &points[i].part[0].point;
        const char *value[FAB_SWEEP_PATHS];
        if (p->is_built && p->n_engines > 0 && p->engines[0].has_iteration) {
            FAB_PASS(open_again(r, i, shared, design, value, err));
            FAB_PASS(sweep_evaluate_random(r, design, value, &points[i], err));
        }
    }
    return FAB_OK;
}

/* Points that report their values. */
static fab_status join_points(const fab_sweep_request *r, sweep_parts *parts, fab_sweep *sweep, fab_error *err) {
    for (size_t i = 0; i < sweep->n_points; i++) {
        fab_sweep_point *point = &sweep->points[i];
        const char *value[FAB_SWEEP_PATHS] = {NULL};
        values_of(r, i, value);
        FAB_PASS(sweep_join_parts(&parts[i], point, err));
        for (size_t k = 0; k < r->n_paths; k++) {
            FAB_PASS(FAB_STRDUP(point->value[k], value[k], err));
        }
        sweep->n_built += point->is_built;
        sweep->n_over_limit += point->over_limit;
    }
    return FAB_OK;
}

/* --- one model for all points ------------------------------------------------------------------------------------- */

/* What the points train. */
typedef struct sweep_models {
    char *named;     /* the first model that a design names; owned */
    fab_model least; /* of the defaults; its name is borrowed for ever */
    bool has_defaults, defaults_differ, named_differ;
} sweep_models;

static fab_status note_named(const char *name, sweep_models *models, fab_error *err) {
    models->named_differ = models->named_differ || (models->named != NULL && strcmp(models->named, name) != 0);
    if (models->named == NULL) {
        models->named = fab_strdup(name, err);
    }
    return models->named != NULL ? FAB_OK : FAB_ENOMEM;
}

static fab_status note_default(fab_design *design, sweep_models *models, fab_error *err) {
    FAB_OWNS(fab_fabric_free_owned) fab_fabric *fabric = NULL;
    fab_model model = {.name = NULL};
    FAB_PASS(fab_topology_build(&design->fabric, &fabric, NULL, err));
    FAB_PASS(fab_traffic_default_model(design, fabric, &model, err));
    if (model.name != NULL) {
        bool first = !models->has_defaults;
        models->has_defaults = true;
        models->defaults_differ = models->defaults_differ || (!first && strcmp(models->least.name, model.name) != 0);
        bool less = first || fab_model_parameters(&model) < fab_model_parameters(&models->least);
        models->least = less ? model : models->least;
    }
    return FAB_OK;
}

/* The model of points that name none: what others name, or where their defaults differ the smallest of these, since
 * times of different models say nothing about fabrics. NULL: every point has its own. Of compared designs also the job
 * of the first that has one: it is that of all that have none. A point that is refused here is refused again when it is
 * run. Both are the caller's, after a failure too. */
static fab_status choose_model(const fab_sweep_request *r, size_t n, fab_design *design, char **out,
                               fab_design **out_job, fab_error *err) {
    sweep_models models = {.named = NULL};
    FAB_OWNS_MEMBERS(models.named);
    FAB_OWNED fab_design *first = NULL;
    for (size_t i = 0; i < n && strncmp(r->traffic, "job", 3) == 0; i++) {
        fab_error inner = {.code = FAB_OK};
        fab_status status = read_point(r, i, design, &inner, err);
        if (status == FAB_OK && r->compares_designs && design->n_jobs > 0 && *out_job == NULL) {
            FAB_PASS(FAB_NEW(*out_job, 1, err));
            FAB_PASS(FAB_NEW(first, 1, err));
            fab_design_copy_alone(design, 0, *out_job);
            fab_design_copy(design, first);
        } else if (status == FAB_OK && r->compares_designs && first != NULL) {
            FAB_PASS(sweep_check_alike(r->values[0][i], design, first, err));
        }
        if (status == FAB_OK && trains(design)) {
            status = names_model(design) ? note_named(design->jobs[0].model, &models, &inner)
                                         : note_default(design, &models, &inner);
        }
        if (status != FAB_OK && !fab_is_refusal(status)) {
            return inner.code == FAB_OK ? status : fab_fail(err, status, inner.where, "%s", inner.text);
        }
    }
    FAB_REFUSE_IF(r->compares_designs && models.named_differ, err, FAB_EINPUT, NULL,
                  "the designs train different models, %s among them; give all the same: --job model=NAME",
                  models.named);
    if (models.named != NULL && !models.named_differ && models.has_defaults) {
        *out = models.named;
        models.named = NULL;
    } else if (models.named == NULL && models.defaults_differ) {
        FAB_PASS(FAB_STRDUP(*out, models.least.name, err));
    }
    return FAB_OK;
}

/* Compared designs are priced by one book: that which some name, where others have the default. Files of two vendors,
 * one for each design, are what somebody compares. */
static fab_status choose_prices(const fab_sweep_request *r, size_t n, fab_design *design, char out[FAB_FILE_SIZE],
                                fab_error *err) {
    size_t n_files = 0;
    size_t n_read = 0;
    size_t differs = n; /* the first that has another one */
    for (size_t i = 0; r->compares_designs && i < n; i++) {
        fab_error inner = {.code = FAB_OK};
        if (read_point(r, i, design, &inner, err) != FAB_OK) {
            continue; /* what is refused is refused again when it is run */
        }
        n_read++;
        if (strcmp(design->prices, FAB_DEFAULT_PRICES) == 0) {
            continue;
        }
        n_files += fab_prices_are_file(design->prices);
        differs = differs == n && out[0] != '\0' && strcmp(out, design->prices) != 0 ? i : differs;
        (void)snprintf(out, FAB_FILE_SIZE, "%s", design->prices);
    }
    if (differs == n) {
        return FAB_OK;
    }
    FAB_REFUSE_IF(n_files < n_read, err, FAB_EINPUT, r->values[0][differs],
                  "another design has other prices: costs by two books do not compare, unless each design names "
                  "a file of its own; --prices NAME holds for all");
    out[0] = '\0';
    return FAB_OK;
}

/* --- all points --------------------------------------------------------------------------------------------------- */

/* With failures where they were asked for: what histories do not tell apart is as fast. */
static bool dominates(const fab_sweep_point *p, const fab_sweep_point *q, size_t e) {
    const fab_sweep_engine *mine = &p->engines[e];
    const fab_sweep_engine *its = &q->engines[e];
    double p_s = fab_with_failures(mine, mine->compared_s);
    double q_s = fab_with_failures(its, its->compared_s);
    double same = mine->has_goodput ? fmax(SAME, fab_sweep_chance(mine, its)) : SAME;
    bool no_worse = p->total_usd <= q->total_usd * (1 + SAME) && p_s <= q_s * (1 + same);
    return mine->has_goodput == its->has_goodput && no_worse &&
           (p->total_usd < q->total_usd * (1 - SAME) || p_s < q_s * (1 - same));
}

/* Iterations and served batches of different numbers of tokens are compared by the time for as many as the first point
 * has; of designs, also on as many GPUs. A service that is overloaded is as fast as nobody knows. */
static void set_compared(fab_sweep *sweep, size_t e) {
    const bool is_per_gpu = fab_sweep_is_per_gpu(sweep);
    const fab_sweep_point *first = NULL;
    FAB_EACH(fab_sweep_point, p, sweep->points, sweep->n_points) {
        if (fab_sweep_has_time(p, e) && fab_sweep_is_overloaded(&p->engines[e])) {
            p->engines[e].has_time = false;
        } else if (fab_sweep_has_time(p, e)) {
            const bool scales = (p->engines[e].has_iteration || p->engines[e].has_serving) && p->work > 0;
            first = first == NULL && scales ? p : first;
            const bool per_gpu = scales && is_per_gpu && p->job_gpus > 0 && first->job_gpus > 0;
            const double gpus_ratio = per_gpu ? (double)p->job_gpus / (double)first->job_gpus : 1;
            p->engines[e].compared_s = p->engines[e].time_s * (scales ? first->work / p->work * gpus_ratio : 1);
        }
    }
}

static void rank_engine(fab_sweep *sweep, size_t e) {
    double least_s = INFINITY;
    set_compared(sweep, e);
    for (size_t i = 0; i < sweep->n_points; i++) {
        least_s =
            fab_sweep_has_time(&sweep->points[i], e) ? fmin(least_s, sweep->points[i].engines[e].compared_s) : least_s;
    }
    FAB_EACH(fab_sweep_point, q, sweep->points, sweep->n_points) {
        if (!fab_sweep_has_time(q, e)) {
            continue;
        }
        q->engines[e].slowdown = least_s > 0 ? q->engines[e].compared_s / least_s : 1;
        q->engines[e].is_on_front = true;
        for (size_t k = 0; k < sweep->n_points && q->engines[e].is_on_front; k++) {
            const fab_sweep_point *p = &sweep->points[k];
            q->engines[e].is_on_front = !(fab_sweep_has_time(p, e) && dominates(p, q, e));
        }
    }
}

void fab_sweep_rank(fab_sweep *sweep) {
    for (size_t e = 0; e < FAB_MAX_ENGINES; e++) {
        rank_engine(sweep, e);
    }
}

static fab_status sweep_check_request(const fab_sweep_request *r, size_t *out_n, fab_error *err) {
    size_t n = 1;
    for (size_t k = 0; k < r->n_paths; k++) {
        FAB_REFUSE_IF(r->n_values[k] == 0 || r->n_values[k] > FAB_SWEEP_POINTS / n, err, FAB_EUSAGE, NULL,
                      "a sweep has 1 to %d points; these are %s", FAB_SWEEP_POINTS,
                      r->n_values[k] == 0 ? "none" : "more");
        n *= r->n_values[k];
    }
    *out_n = n;
    return FAB_OK;
}

/* `first`: what is wrong with the first point; parts [n_points]. */
static fab_status run_points(const fab_sweep_request *request, const shared_job *shared, fab_design *design,
                             sweep_parts *parts, fab_sweep *sweep, fab_error *first, fab_error *err) {
    for (size_t i = 0; i < sweep->n_points; i++) {
        point_progress progress = {.request = request,
                                   .before = i,
                                   .n_points = sweep->n_points,
                                   .tries = request->scenarios != NULL ? TRIES : 0};
        fab_error inner = {.code = FAB_OK};
        FAB_PASS(run_point(request, i, shared, &progress, design, &parts[i], &inner, err));
        *first = i == 0 ? inner : *first;
    }
    FAB_PASS(share_plans(request, shared, design, parts, sweep, err));
    FAB_PASS(try_fewer(request, shared, design, parts, sweep->n_points, err));
    FAB_PASS(place_at_random(request, shared, design, parts, sweep->n_points, err));
    return join_points(request, parts, sweep, err);
}

fab_status fab_sweep_run(const fab_sweep_request *request, fab_sweep **out, fab_error *err) {
    FAB_OWNS(fab_sweep_free_owned) fab_sweep *sweep = NULL;
    FAB_OWNED fab_design *design = NULL;
    FAB_OWNED fab_design *named = NULL;
    shared_job shared = {.from = NULL};
    fab_error first = {.code = FAB_OK};
    sweep_parts *parts = NULL;
    size_t n = 0;
    FAB_PASS(sweep_check_request(request, &n, err));
    FAB_PASS(FAB_NEW_ALL(1, err, sweep, design));
    FAB_PASS(FAB_NEW(sweep->points, n, err));
    sweep->n_points = n;
    sweep->compares_designs = request->compares_designs;
    sweep->n_paths = request->n_paths;
    for (size_t k = 0; k < request->n_paths; k++) {
        FAB_PASS(FAB_STRDUP(sweep->path[k], request->path[k], err));
    }
    FAB_PASS(choose_model(request, n, design, &sweep->model, &named, err));
    shared.from = named;
    shared.model = sweep->model;
    FAB_PASS(choose_prices(request, n, design, sweep->prices, err));
    shared.prices = sweep->prices;
    FAB_PASS(FAB_NEW(parts, n, err));
    const fab_status status = run_points(request, &shared, design, parts, sweep, &first, err);
    FAB_RELEASE_EACH(sweep_parts_release, parts, n);
    free(parts);
    FAB_PASS(status);
    /* nothing to compare: what is wrong with the first is wrong with the request */
    FAB_REFUSE_IF(sweep->n_built == 0, err, first.code, first.where, "%s", first.text);
    fab_sweep_rank(sweep);
    if (request->scenarios != NULL) {
        FAB_FORMAT(sweep->scenarios, "%s", request->scenarios);
        for (size_t i = 0; i < n; i++) {
            const char *policy = sweep->points[i].policy;
            if (policy[0] != '\0' && strstr(sweep->policy, policy) == NULL) {
                fab_append(sweep->policy, sizeof sweep->policy, "%s%s", sweep->policy[0] != '\0' ? ", " : "", policy);
            }
        }
    }
    FAB_PASS(request->compares_designs ? fab_sweep_compare(sweep, err) : FAB_OK);
    sweep_judge_tips(sweep);
    return FAB_GIVE(*out, sweep);
}
