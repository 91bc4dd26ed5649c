/* What a sweep keeps of the run of a point. */
#include "sweep_internal.h"

#include "fab/assess.h"
#include "fab/contend.h"
#include "fab/design.h"
#include "fab/goodput_run.h"

static const char OF_TRAFFIC[] = "traffic.";

bool fab_sweep_is_of_traffic(const char *path) {
    return strncmp(path, OF_TRAFFIC, sizeof OF_TRAFFIC - 1) == 0;
}

/* Whether `word`, n characters of "key=value", is replaced by some path. */
static bool is_varied(const fab_sweep_request *r, const char *word, size_t n) {
    for (size_t k = 0; k < r->n_paths; k++) {
        const char *key = r->path[k] + sizeof OF_TRAFFIC - 1;
        if (fab_sweep_is_of_traffic(r->path[k]) && strcspn(word, "=,") == strlen(key) && strlen(key) < n &&
            strncmp(word, key, strlen(key)) == 0) {
            return true;
        }
    }
    return false;
}

fab_status fab_sweep_traffic(const fab_sweep_request *r, const fab_design *design, const char *const *value,
                             fab_str *out, fab_error *err) {
    bool is_pattern = strncmp(r->traffic, "pattern:", 8) == 0;
    for (const char *word = r->traffic; *word != '\0';) {
        size_t n = strcspn(word, ",");
        if (value == NULL || !is_pattern || !is_varied(r, word, n)) {
            fab_str_printf(out, "%s%.*s", word > r->traffic ? "," : "", (int)n, word);
        }
        word += n + (word[n] == ',');
    }
    for (size_t k = 0; value != NULL && k < r->n_paths; k++) {
        if (fab_sweep_is_of_traffic(r->path[k])) {
            fab_str_printf(out, ",%s=%s", r->path[k] + sizeof OF_TRAFFIC - 1, value[k]);
        }
    }
    if (r->places_pattern && design->n_jobs > 0) { /* a pattern whose placement is varied takes it from the job */
        fab_str_printf(out, ",placement=%s", fab_placements[design->jobs[0].placement]);
    }
    return fab_str_status(out, err);
}

fab_status fab_sweep_keep_error(fab_status status, const fab_error *error, fab_sweep_point *point, fab_error *err) {
    if (!fab_is_refusal(status)) {
        if (error->code != FAB_OK && err != NULL) {
            *err = *error;
        }
        return status;
    }
    point->over_limit = status == FAB_ELIMIT;
    FAB_FORMAT(point->error, "%s%s%s", error->where, error->where[0] != '\0' ? ": " : "", error->text);
    return FAB_OK;
}

static void keep_fabric(const fab_fabric_result *f, fab_sweep_point *out) {
    (void)fab_imported_gaps(&f->spec, out->assumed, sizeof out->assumed);
    FAB_FORMAT(out->digest, "%s", f->digest);
    FAB_FORMAT(out->family, "%s", f->family);
    out->counts = f->counts;
    out->domain = f->spec.domain;
    FAB_FILL(out->taper, FAB_MAX_TIERS, f->spec.tier[fab_at].taper);
    out->bisection_bps = f->bisection_bps;
    out->bisection_ratio = f->bisection_ratio;
    out->total_usd = f->cost.total_usd;
    out->per_gpu_usd = f->cost.per_gpu_usd;
    out->power_w = f->cost.power_w;
    out->capital_usd_per_year = f->cost.capital_usd_per_year;
    out->energy_usd_per_year = f->cost.energy_usd_per_year;
}

fab_status fab_sweep_seeds(const fab_sweep_request *request, const fab_context *context, uint64_t *out,
                           fab_error *err) {
    uint64_t n_points = 1;
    for (size_t k = 0; k < request->n_paths; k++) {
        n_points *= request->n_values[k];
    }
    *out = request->n_seeds > 0 ? request->n_seeds : 1;
    return request->n_seeds > 0 ? FAB_OK : fab_unasked_seeds(context, n_points, out, err);
}

static fab_status keep_phase(const fab_phase_result *phase, bool is_asked, fab_sweep_phase *out, fab_error *err) {
    FAB_PASS(FAB_NEW(out->times, phase->n_engines, err));
    FAB_FORMAT(out->name, "%s", phase->name);
    FAB_FORMAT(out->collective, "%s", phase->collective);
    out->flows = phase->flows;
    out->fabric_flows = phase->fabric_flows;
    out->bytes = phase->bytes;
    out->max_taper_factor = phase->max_taper_factor;
    out->leaf_cables = phase->leaf_cables;
    out->leaf_excess_ratio = phase->leaf_excess_ratio;
    memcpy(out->crossing_flows, phase->crossing_flows, sizeof out->crossing_flows);
    for (size_t e = 0; e < phase->n_engines; e++) {
        const fab_engine_result *r = &phase->engines[e];
        out->times[e] = (fab_sweep_time){.n_seeds = is_asked ? r->n_seeds : 1,
                                         .has_time = r->has_time,
                                         .time_s = r->time_s,
                                         .max_collision_factor = r->max_collision_factor,
                                         .heat = fab_heat_of(r)};
    }
    return FAB_OK;
}

static fab_status keep_algorithms(const fab_result *result, size_t n_engines, fab_sweep_point *out, fab_error *err) {
    fab_algorithm_run runs[FAB_MAX_ALGORITHMS];
    size_t n = fab_algorithm_runs(result, runs);
    FAB_PASS(n < 2 ? FAB_OK : FAB_NEW(out->algorithms, n, err));
    for (size_t a = 0; n > 1 && a < n; a++) {
        fab_sweep_algorithm *kept = &out->algorithms[out->n_algorithms++];
        FAB_FORMAT(kept->name, "%s", runs[a].name);
        FAB_PASS(FAB_NEW(kept->times, n_engines, err));
        FAB_FILL(kept->times, n_engines, fab_algorithm_time_of(result, &runs[a], fab_at));
    }
    return FAB_OK;
}

void fab_sweep_keep_engine(const fab_result *result, size_t e, fab_sweep_engine *out) {
    double ci95_s = 0;
    out->has_phases = result->n_phases > 0;
    FAB_EACH(const fab_phase_result, phase, result->phases, result->n_phases) {
        const fab_engine_result *r = &phase->engines[e];
        bool follows = !phase->alternative || phase->run == result->phases[0].run;
        FAB_FORMAT(out->label, "%s", r->label);
        out->has_phases = out->has_phases && r->has_time && follows;
        out->is_drawn = out->is_drawn || (r->seeded && phase->fabric_flows > 0);
        out->n_seeds = r->n_seeds > out->n_seeds ? r->n_seeds : out->n_seeds;
        out->phases_s += r->has_time ? r->time_s.mean : 0;
        ci95_s += r->has_time && r->n_seeds > 1 ? r->time_s.ci95 : 0; /* at most, whatever phases have in common */
    }
    out->estimated_ratio = fab_estimated_ratio(result, e);
    if (ci95_s > 0 && out->has_phases) {
        const fab_stat *only = &result->phases[0].engines[e].time_s;
        out->seeds.ci95_ratio = ci95_s / out->phases_s;
        out->least_s = result->n_phases == 1 ? only->min : 0;
        out->most_s = result->n_phases == 1 ? only->max : 0;
    }
    out->has_iteration = e < result->n_iterations;
    if (out->has_iteration) {
        out->iteration = result->iterations[e];
        const fab_stat *time = &out->iteration.seeds.time_s;
        out->seeds = out->iteration.seeds.parts;
        out->least_s = time->min;
        out->most_s = time->max;
    }
    out->has_serving = e < result->n_serving;
    if (out->has_serving) {
        out->serving = result->serving[e];
    }
    out->has_time = out->has_iteration || out->has_phases || out->has_serving;
    out->time_s = out->has_iteration      ? out->iteration.time_s
                  : out->has_serving      ? out->serving.batch_s
                  : e < result->n_ranking ? result->ranking[e].batch_s
                                          : out->phases_s;
}

fab_status fab_sweep_keep(const fab_result *result, bool is_asked, size_t n_engines, fab_sweep_point *out,
                          fab_error *err) {
    keep_fabric(&result->fabrics[0], out);
    FAB_FORMAT(out->traffic, "%s", result->traffic);
    FAB_PASS(FAB_NEW(out->phases, result->n_phases, err));
    out->n_phases = result->n_phases;
    for (size_t p = 0; p < result->n_phases; p++) {
        FAB_PASS(keep_phase(&result->phases[p], is_asked, &out->phases[p], err));
    }
    FAB_PASS(keep_algorithms(result, n_engines, out, err));
    FAB_PASS(FAB_NEW(out->engines, n_engines, err));
    out->n_engines = n_engines;
    for (size_t e = 0; e < n_engines; e++) {
        fab_sweep_keep_engine(result, e, &out->engines[e]);
        fab_ownership_price(&out->ownership, &out->engines[e].iteration);
    }
    out->is_built = true;
    return FAB_OK;
}

static bool same_phase(const fab_sweep_phase *p, const fab_sweep_phase *q) {
    return strcmp(p->name, q->name) == 0 && strcmp(p->collective, q->collective) == 0 && p->flows == q->flows &&
           p->fabric_flows == q->fabric_flows && p->bytes == q->bytes &&
           memcmp(p->crossing_flows, q->crossing_flows, sizeof p->crossing_flows) == 0;
}

/* Under the last engine of `out`; a phase that its plans have not yet is one more. */
static fab_status add_phase(const fab_sweep_phase *found, fab_sweep_point *out, fab_error *err) {
    FAB_FIRST(i, out->n_phases, same_phase(found, &out->phases[i]));
    if (i == out->n_phases) {
        size_t capacity = out->n_phases;
        fab_sweep_phase added = *found;
        FAB_PASS(FAB_GROW(out->phases, capacity, i + 1, err));
        FAB_PASS(FAB_NEW(added.times, out->n_engines, err));
        out->phases[out->n_phases++] = added;
        out->plans_differ = true;
    }
    out->phases[i].times[out->n_engines - 1] = found->times[0];
    return FAB_OK;
}

fab_status fab_sweep_add_engine(const fab_sweep_point *found, fab_sweep_point *out, fab_error *err) {
    char plan[2][192];
    const size_t n = out->n_engines + 1;
    size_t capacity = out->n_engines;
    FAB_PASS(FAB_GROW(out->engines, capacity, n, err));
    for (size_t p = 0; p < out->n_phases; p++) {
        capacity = out->n_engines;
        FAB_PASS(FAB_GROW(out->phases[p].times, capacity, n, err));
        out->phases[p].times[n - 1] = (fab_sweep_time){.n_seeds = 0};
    }
    out->engines[n - 1] = found->engines[0];
    out->n_engines = n;
    for (size_t p = 0; p < found->n_phases; p++) {
        FAB_PASS(add_phase(&found->phases[p], out, err));
    }
    out->plans_differ = out->plans_differ || strcmp(fab_job_plan_text(&out->engines[0].plan, plan[0]),
                                                    fab_job_plan_text(&found->engines[0].plan, plan[1])) != 0;
    out->relays = out->relays || found->relays;
    out->keeps_rails = out->keeps_rails || found->keeps_rails;
    out->sends_copies = out->sends_copies || found->sends_copies;
    out->tp = found->tp > out->tp ? found->tp : out->tp;
    out->keeps_by_plan = found->n_kept_experts > 0 ? found->keeps_by_plan : out->keeps_by_plan;
    out->n_kept_experts = found->n_kept_experts > 0 ? found->n_kept_experts : out->n_kept_experts;
    return FAB_OK;
}

/* What a job gets done in the time that it is judged by. */
static double work_of(const fab_job_spec *job) {
    const double each =
        job->kind == FAB_JOB_RANKING ? 1 : (double)(job->kind == FAB_JOB_SERVING ? job->tokens : job->seq);
    return (double)job->batch * each;
}

/* Whether a flow of the phase is passed on inside a scale-up domain, on its way between others. */
static bool has_relay(const fab_fabric *f, const fab_ports *ports, const fab_phase *phase) {
    for (uint64_t i = 0; i < phase->n_flows; i++) {
        const fab_flow flow = fab_phase_flow(phase, i);
        fab_link_id link[FAB_FLOW_SEGMENT_LINKS];
        const bool leaves = fab_domain_of(f, flow.src) != fab_domain_of(f, flow.dst);
        const uint32_t n = leaves ? fab_flow_segments(f, ports, flow.src, flow.dst, 0, link) : 0;
        FAB_ANY(relays, k, n, fab_class_of(f, link[k])->kind == FAB_LINK_SCALEUP);
        if (relays) {
            return true;
        }
    }
    return false;
}

static fab_status keep_relays(const fab_context *context, const fab_traffic *traffic, fab_sweep_point *out,
                              fab_error *err) {
    const fab_fabric *f = fab_context_what(context)->fabric;
    const fab_ports *ports = NULL;
    if (!f->forwards_in_domain || f->stores_and_forwards) {
        return FAB_OK;
    }
    FAB_PASS(fab_context_ports(context, &ports, err));
    for (size_t p = 0; p < traffic->n_phases && !out->relays; p++) {
        out->relays = has_relay(f, ports, &traffic->phases[p]);
    }
    return FAB_OK;
}

fab_status fab_sweep_keep_job(const fab_context *context, const fab_design *design, const fab_fabric_result *fabric,
                              fab_sweep_point *out, fab_error *err) {
    const fab_traffic *traffic = NULL;
    FAB_PASS(fab_context_traffic(context, &traffic, err));
    FAB_PASS(keep_relays(context, traffic, out, err));
    if (traffic->has_job) {
        FAB_PASS(fab_ownership_of(design, fabric, &traffic->job.accelerator, &out->ownership, err));
        out->has_ownership = true;
        out->kind = traffic->job.kind;
        fab_gpu_sold_unlike(&traffic->job.accelerator, &fabric->spec, out->sold_unlike);
        out->work = work_of(&traffic->job);
        out->gpu_ratio = fmin((double)traffic->n_ranks /
                                  (double)(fabric->counts.gpus - fabric->spec.spares * fabric->spec.gpus_per_server),
                              1);
        out->tp = traffic->job.kind == FAB_JOB_TRAINING ? traffic->job.tp : 0;
        out->gpu_hour_usd = traffic->job.gpu_hour_usd;
        bool is_listed = fabs(traffic->job.gpu_hour_usd - traffic->job.accelerator.hour_usd) < 1e-9;
        FAB_FORMAT(out->gpu_hour_source, "%s", is_listed ? traffic->job.accelerator.price_source : "job.gpu-hour-usd");
    }
    if (traffic->has_job && traffic->job.kind == FAB_JOB_TRAINING) {
        out->batch = traffic->job.batch;
        out->batch_unrounded = traffic->job.batch_unrounded;
        out->job_gpus = traffic->n_ranks;
        out->keeps_rails = fab_experts_keep_rails(&traffic->job, fabric->spec.domain);
        out->sends_copies = traffic->job.ep > 1 && traffic->job.expert_exchange == FAB_EXPERTS_DIRECT;
        out->keeps_by_plan = traffic->job.ep_chosen;
        out->n_kept_experts = traffic->job.experts > 1 && traffic->job.ep == 1 ? traffic->job.experts : 0;
        out->tokens = (double)traffic->job.batch * (double)traffic->job.seq;
    }
    return FAB_OK;
}

/* All jobs of the design together, where they can be replayed so. */
fab_status fab_sweep_keep_jobs(const fab_replay *replay, const fab_result *result, fab_sweep_point *out,
                               fab_error *err) {
    const fab_context_request *what = fab_context_what(replay->context);
    fab_error why = {.code = FAB_OK};
    FAB_OWNS(fab_contention_free_owned) fab_contention *all = NULL;
    out->other_jobs = fab_design_other_jobs(what->design, what->traffic);
    if (out->other_jobs == 0) {
        return FAB_OK;
    }
    FAB_FORMAT(out->job, "%s", what->design->jobs[0].id);
    fab_status status = strcmp(what->traffic, "job") == 0 ? fab_contend(replay, result, 0, &all, &why) : FAB_OK;
    for (size_t e = 0; all != NULL && e < all->n_engines && e < out->n_engines; e++) {
        out->engines[e].all_jobs_s = all->engines[e].all_jobs_s;
    }
    return fab_unless_refused(err, status, &why);
}

/* What becomes of it where the replicas that are left do the other part of the batch, in the same histories. */
static fab_status keep_other_batch(const fab_goodput_request *taken, fab_sweep_point *out, fab_error *err) {
    fab_goodput found;
    fab_goodput_request what = *taken;
    FAB_OWNED_COPY(fab_design, other, taken->design, err);
    out->keeps_batch = other->failures.keep_batch;
    other->failures.keep_batch = !out->keeps_batch;
    what.design = other;
    what.least = 0;
    FAB_PASS(fab_goodput_find(&what, &found, err));
    for (size_t e = 0; e < out->n_engines; e++) {
        out->engines[e].other_batch = found.taken[e].mean > 0 ? found.taken[e] : (fab_stat){.mean = 0};
        out->engines[e].other_kept = found.taken_parts[e];
    }
    return FAB_OK;
}

/* What failures leave, where they are asked for. */
fab_status fab_sweep_keep_goodput(const fab_sweep_request *request, const fab_design *design, const char *traffic,
                                  double to_beat_s, fab_sweep_point *out, fab_error *err) {
    fab_goodput found;
    uint64_t n_draws = 1;
    for (size_t e = 0; e < out->n_engines; e++) {
        n_draws = out->engines[e].is_drawn && out->engines[e].n_seeds > n_draws ? out->engines[e].n_seeds : n_draws;
    }
    const fab_goodput_request what = {.design = design,
                                      .traffic = traffic,
                                      .scenarios = request->scenarios,
                                      .policy = request->policy,
                                      .seed = request->seed,
                                      .n_draws = n_draws,
                                      .n_threads = request->n_threads,
                                      .least = out->engines[0].time_s / to_beat_s};
    if (request->scenarios == NULL || what.least >= 1) {
        return FAB_OK;
    }
    FAB_PASS(fab_goodput_find(&what, &found, err));
    if (found.is_short) {
        return FAB_OK;
    }
    FAB_FORMAT(out->policy, "%s", fab_policies[found.policy]);
    for (size_t e = 0; e < out->n_engines; e++) {
        out->engines[e].has_goodput = found.taken[e].mean > 0;
        out->engines[e].goodput = found.taken[e];
        out->engines[e].kept = found.taken_parts[e];
        out->engines[e].waiting = found.waiting[e].mean > 0 ? found.waiting[e] : (fab_stat){.mean = 0};
        out->engines[e].waiting_kept = found.waiting_parts[e];
    }
    return found.policy == FAB_POLICY_SHRINK ? keep_other_batch(&what, out, err) : FAB_OK;
}
